//! `contracts`: what the repositories of a workspace offer each other (HTTP routes, gRPC methods, GraphQL fields, topics, environment
//! variables) and who uses it.
//!
//! Each file is read by itself, with the rules of its language; each repository's reading is kept beside its snapshot. Both
//! sides are brought together when the question is asked, over all repositories. What is computed at run time cannot
//! be read: the answer says how much of it there is.

mod arguments;
mod environment;
mod graphql;
mod grpc;
mod methods;
mod mounting;
mod openapi;
mod pair;
mod prefixes;
mod reader;
mod registrations;
mod route;
mod rules;
mod scopes;
mod sites;

use std::collections::{BTreeMap, BTreeSet};

use index::model::FileId;
use index::scan::read_source;
use index::snapshot::{FileView, Snapshot, SymbolId, SymbolView};
use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use syntax::facts::{Flags, Kind as DefinitionKind};
use wire::answers::{ContractsList, ContractsOrphans};

use crate::error::QuestionError;
use crate::page::{self, Page};
use crate::traverse::is_test_path;
use crate::workspace::{Repository, Stop, SymbolKey, Workspace};
use rules::Kind;
use sites::Source;

pub(crate) use pair::links;

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Contracts {
    /// list (default): every contract with both sides; check: those with one side only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// Only http, grpc, graphql, topic or env.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// Only routes, topics and names that start with this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Rows per page (default 200).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// The answer, by action.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Found {
    /// For `list`.
    List(ContractsList),
    /// For `check`.
    Orphans(ContractsOrphans),
}

/// The contracts of a workspace.
pub fn contracts(workspace: &Workspace, ask: &Contracts) -> Result<Found, QuestionError> {
    let page = Page::of(workspace, ask.limit, ask.cursor.as_deref(), 200)?;
    let kind = match ask.kind.as_deref() {
        None => None,
        Some(word) => Some(Kind::of(word).ok_or_else(|| QuestionError::Argument {
            name: "type",
            problem: format!("no type `{word}`: expected http, grpc, graphql, topic or env"),
        })?),
    };
    let asked = |contract: &pair::Pair| {
        kind.is_none_or(|kind| contract.kind == kind)
            && ask.path.as_deref().is_none_or(|path| contract.path.starts_with(path))
    };
    let mut pairs = pair::pairs(workspace);
    pairs.retain(asked);
    let incomplete = missing(workspace, kind);
    let end = page.offset.saturating_add(page.limit);
    match ask.action.as_deref().unwrap_or("list") {
        "list" => {
            let total = pairs.len();
            let more = end < total;
            Ok(Found::List(ContractsList {
                contracts: page.take(pairs).iter().map(|pair| pair.row(workspace)).collect(),
                total: total as u64,
                truncated: more,
                next_cursor: more.then(|| page::cursor(workspace, end)),
                etag: None,
                inferred: inferred(workspace, kind),
                incomplete,
            }))
        }
        "check" => {
            let orphans: Vec<_> = pairs.iter().flat_map(|pair| pair.orphans(workspace)).collect();
            let total = orphans.len();
            let more = end < total;
            Ok(Found::Orphans(ContractsOrphans {
                orphans: page.take(orphans),
                total: total as u64,
                truncated: more,
                next_cursor: more.then(|| page::cursor(workspace, end)),
                etag: None,
                inferred: inferred(workspace, kind),
                incomplete,
            }))
        }
        other => Err(QuestionError::Argument {
            name: "action",
            problem: format!("no action `{other}`: expected list or check"),
        }),
    }
}

/// Most functions that are named.
const MOST_NAMED: usize = 5;

/// The functions that answer an HTTP route, however its parameters are spelled.
pub(crate) fn handlers(workspace: &Workspace, method: Option<&str>, path: &str) -> Vec<SymbolKey> {
    let wanted = route::key(&route::canonical(path));
    let mut found = Vec::new();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        for endpoint in &repository.offers().endpoints {
            let is_method = method.is_none_or(|method| {
                endpoint.method.eq_ignore_ascii_case(method) || matches!(endpoint.method.as_str(), "" | "ANY" | "*")
            });
            if endpoint.kind == Kind::Http
                && endpoint.role == Role::Provider
                && is_method
                && route::key(&endpoint.path) == wanted
            {
                found.extend(endpoint.symbol.map(|symbol| SymbolKey {
                    repository: number,
                    symbol,
                }));
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Where routes and requests are inferred rather than known from a framework, in words.
fn inferred(workspace: &Workspace, kind: Option<Kind>) -> Option<String> {
    let mut by: BTreeMap<&str, u32> = BTreeMap::new();
    for repository in workspace.repositories() {
        for (name, count) in &repository.offers().inferred {
            *by.entry(name).or_default() += count;
        }
    }
    let mut by: Vec<(&str, u32)> = by.into_iter().collect();
    if by.is_empty() || kind.is_some_and(|kind| kind != Kind::Http) {
        return None;
    }
    by.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let count: u32 = by.iter().map(|(_, count)| count).sum();
    let names: Vec<&str> = by.iter().take(MOST_NAMED).map(|(name, _)| *name).collect();
    let more = match by.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Some(format!(
        "{count} calls of the project's own {}{more} are taken for routes and requests, by what they are given",
        names.join(", ")
    ))
}

/// What could not be read, in words.
fn missing(workspace: &Workspace, kind: Option<Kind>) -> Option<String> {
    let mut parts: Vec<String> = workspace.incomplete().into_iter().collect();
    let sum = |count: fn(&Offers) -> u32| {
        workspace
            .repositories()
            .iter()
            .map(|of| count(of.offers()))
            .sum::<u32>()
    };
    let (computed, stale) = (sum(|offers| offers.computed), sum(|offers| offers.stale));
    let variables = sum(|offers| offers.computed_variables);
    if computed > 0 && kind != Some(Kind::Env) {
        parts.push(format!(
            "{computed} routes, requests or topics have computed names and are not listed"
        ));
    }
    if variables > 0 && kind.is_none_or(|kind| kind == Kind::Env) {
        parts.push(format!("{variables} environment variables are read by computed names"));
    }
    if stale > 0 {
        parts.push(format!(
            "{stale} files changed since they were indexed and were not read"
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// Which side of a contract something is on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Role {
    Provider,
    Consumer,
}

/// One side of a contract, as a file says it.
#[derive(Debug, Clone)]
struct Endpoint {
    kind: Kind,
    role: Role,
    method: String,
    /// In the one spelling for routes; a topic's, variable's or field's name otherwise.
    path: String,
    /// The host or service it names.
    service: String,
    /// The real path may be longer at the front.
    open: bool,
    symbol: Option<SymbolId>,
    line: u32,
    /// The router that it is said to, for mounts.
    spoken_to: String,
    /// The function that it stands in, for mounts.
    within: String,
    file: FileId,
}

/// A prefix that one file puts before the routes of another (or of a router of its own).
#[derive(Debug, Clone)]
struct Mount {
    prefix: String,
    from: FileId,
    spoken_to: String,
    within: String,
    target: Target,
    /// The handlers it is put before, as written, where they are listed one by one; nothing else is mounted then.
    handlers: Vec<String>,
}

#[derive(Debug, Clone, Default)]
struct Target {
    file: Option<FileId>,
    /// The module as written, where the file is not known.
    module: String,
    /// The router or function in it; empty for all of it.
    name: String,
}

/// What one file says.
#[derive(Debug, Default)]
struct Reading {
    endpoints: Vec<Endpoint>,
    /// The project's own functions that were taken for registrations and requests, with how often each was.
    inferred: BTreeMap<String, u32>,
    mounts: Vec<Mount>,
    computed: u32,
    computed_variables: u32,
    stale: u32,
    services: Vec<grpc::Service>,
    implementers: Vec<grpc::Implementer>,
    callers: Vec<grpc::Caller>,
}

/// What one repository offers and uses.
#[derive(Debug, Default)]
pub(crate) struct Offers {
    endpoints: Vec<Endpoint>,
    /// The project's own functions that were taken for registrations and requests, with how often each was.
    inferred: BTreeMap<String, u32>,
    /// Variables set by files that are not indexed: name, path, line.
    set: Vec<(String, String, u32)>,
    services: Vec<grpc::Service>,
    implementers: Vec<grpc::Implementer>,
    callers: Vec<grpc::Caller>,
    computed: u32,
    computed_variables: u32,
    stale: u32,
}

impl Offers {
    /// Of nothing.
    pub(crate) const NOTHING: Offers = Offers {
        endpoints: Vec::new(),
        inferred: BTreeMap::new(),
        set: Vec::new(),
        services: Vec::new(),
        implementers: Vec::new(),
        callers: Vec::new(),
        computed: 0,
        computed_variables: 0,
        stale: 0,
    };

    /// Reads the files of a repository that may say something; tests are left out.
    pub(crate) fn of(repository: &Repository, stop: &Stop) -> Offers {
        let snapshot = &repository.snapshot;
        let files: Vec<FileView<'_>> = snapshot.files().filter(|file| !is_test_path(file.path())).collect();
        let readings: Vec<Reading> = files
            .par_iter()
            .map(|file| match stop.is_stopped() {
                true => Reading::default(),
                false => read_file(repository, *file),
            })
            .collect();
        let mut offers = Offers::default();
        let mut mounts = Vec::new();
        for reading in readings {
            offers.endpoints.extend(reading.endpoints);
            mounts.extend(reading.mounts);
            for (name, count) in reading.inferred {
                *offers.inferred.entry(name).or_default() += count;
            }
            offers.services.extend(reading.services);
            offers.implementers.extend(reading.implementers);
            offers.callers.extend(reading.callers);
            offers.computed += reading.computed;
            offers.computed_variables += reading.computed_variables;
            offers.stale += reading.stale;
        }
        offers.endpoints.retain(|endpoint| !is_in_tests(snapshot, endpoint));
        offers.endpoints = prefixes::mounted(snapshot, offers.endpoints, &mounts);
        offers.set = dotenv_files(repository);
        offers
    }
}

/// Whether an endpoint is said by tests that live in the file they test.
fn is_in_tests(snapshot: &Snapshot, endpoint: &Endpoint) -> bool {
    let mut around = std::iter::successors(snapshot.symbol_at(endpoint.file, endpoint.line), SymbolView::parent);
    around.any(|symbol| {
        let is_module = symbol.kind() == DefinitionKind::Module && matches!(symbol.name(), "test" | "tests");
        symbol.flags().contains(Flags::TEST) || is_module
    })
}

/// Files of these languages are read for more than their calls.
const DOCUMENTS: &[&str] = &["yaml", "json", "graphql", "proto", "dockerfile"];

fn read_file(repository: &Repository, file: FileView<'_>) -> Reading {
    let language = file.language();
    let table = rules::table(language);
    if table.is_none() && !DOCUMENTS.contains(&language) && !matches!(language, "c" | "cpp" | "scala") {
        return Reading::default();
    }
    let mut reading = Reading::default();
    let Ok((text, hash)) = read_source(&repository.root, file.path()) else {
        reading.stale = 1;
        return reading;
    };
    if &hash != file.hash() {
        reading.stale = 1;
        return reading;
    }
    let snapshot = &repository.snapshot;
    let has = |word: &str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    if let Some(table) = table {
        let by_rules = table.rule.iter().flat_map(|rule| &rule.needs).any(|word| has(word));
        let by_stubs = grpc::NEEDS.iter().any(|word| has(word));
        let by_what_is_passed = registrations::may_hold(&text);
        if (by_rules || by_stubs || by_what_is_passed)
            && let Some(grammar) = syntax::languages::by_name(language)
        {
            let facts = syntax::extract(grammar, &text);
            let source = Source::new(&facts, &text);
            reading = reader::read(table, &source, snapshot, file);
            if by_stubs {
                reading.implementers = grpc::implementers(&source, snapshot, file);
                reading.callers.extend(grpc::caller(&source, snapshot, file));
            }
            if by_what_is_passed {
                let inferred = registrations::read(&source, snapshot, file, &reader::active(table, &text));
                reading.endpoints.extend(inferred.endpoints);
                reading.inferred = inferred.by;
            }
        }
        reading.endpoints.extend(file_routes(snapshot, file));
        if has("gql") || has("graphql") || has("GraphQL") || has("GRAPHQL") {
            for (document, line) in graphql::documents(&text) {
                reading.endpoints.extend(graph_fields(snapshot, file, document, line));
            }
        }
    }
    let plain = |kind, role, method: String, path: String, line| plain(snapshot, file, kind, role, method, path, line);
    let (variables, computed) = environment::reads(language, &text);
    reading.computed_variables = computed;
    for (name, line) in variables {
        reading
            .endpoints
            .push(plain(Kind::Env, Role::Consumer, String::new(), name, line));
    }
    if DOCUMENTS.contains(&language) {
        match language {
            "graphql" => reading.endpoints.extend(graph_fields(snapshot, file, &text, 1)),
            "proto" => {
                if let Some(grammar) = syntax::languages::by_name(language) {
                    reading.services = grpc::services(&syntax::extract(grammar, &text), file);
                }
            }
            _ => {
                if openapi::is_document(file.path(), &text) {
                    for (method, path, line) in openapi::routes(&text) {
                        reading
                            .endpoints
                            .push(plain(Kind::Http, Role::Provider, method, path, line));
                    }
                } else if let Some(how) = environment::setter(file.path()) {
                    for (name, line) in environment::sets(how, &text) {
                        reading
                            .endpoints
                            .push(plain(Kind::Env, Role::Provider, String::new(), name, line));
                    }
                }
            }
        }
    }
    reading
}

fn plain(
    snapshot: &Snapshot,
    file: FileView<'_>,
    kind: Kind,
    role: Role,
    method: String,
    path: String,
    line: u32,
) -> Endpoint {
    Endpoint {
        kind,
        role,
        method,
        path,
        service: String::new(),
        open: false,
        // Keys of documents are no symbols worth naming: the place is.
        symbol: match DOCUMENTS.contains(&file.language()) {
            true => file.symbol().map(|symbol| symbol.id()),
            false => snapshot.symbol_at(file.id(), line).map(|symbol| symbol.id()),
        },
        line,
        spoken_to: String::new(),
        within: String::new(),
        file: file.id(),
    }
}

fn graph_fields(snapshot: &Snapshot, file: FileView<'_>, document: &str, first_line: u32) -> Vec<Endpoint> {
    let fields = graphql::fields(document, first_line);
    let endpoint = |field: graphql::Field| {
        let role = if field.is_offered {
            Role::Provider
        } else {
            Role::Consumer
        };
        plain(
            snapshot,
            file,
            Kind::Graphql,
            role,
            field.root.to_string(),
            field.name,
            field.line,
        )
    };
    fields.into_iter().map(endpoint).collect()
}

/// Routes that a file's own place makes: Next.js and SvelteKit.
fn file_routes(snapshot: &Snapshot, file: FileView<'_>) -> Vec<Endpoint> {
    let path = file.path();
    let Some((stem, extension)) = path.rsplit_once('.') else {
        return Vec::new();
    };
    if !matches!(extension, "ts" | "tsx" | "js" | "jsx" | "mjs") {
        return Vec::new();
    }
    let under = |folder: &str| {
        let inside = stem
            .strip_prefix(folder)
            .or_else(|| stem.split_once(&format!("/{folder}")).map(|(_, rest)| rest));
        inside.map(str::to_string)
    };
    let visible = |route: &str| {
        let parts = route
            .split('/')
            .filter(|part| !(part.is_empty() || part.starts_with('(') && part.ends_with(')')));
        route::canonical(&parts.collect::<Vec<_>>().join("/"))
    };
    if let Some(route) = under("pages/api/") {
        let route = route.strip_suffix("index").unwrap_or(&route);
        let line = file
            .symbols()
            .find(|symbol| symbol.flags().contains(syntax::facts::Flags::DEFAULT));
        let line = line.map_or(1, |symbol| symbol.span().start_line);
        let path = visible(&format!("api/{route}"));
        return vec![plain(
            snapshot,
            file,
            Kind::Http,
            Role::Provider,
            "ANY".into(),
            path,
            line,
        )];
    }
    let handlers = under("app/")
        .and_then(|route| route.strip_suffix("/route").map(str::to_string))
        .or_else(|| under("routes/").and_then(|route| route.strip_suffix("/+server").map(str::to_string)));
    let Some(route) = handlers else { return Vec::new() };
    let verbs = file.symbols().filter(|symbol| rules::VERBS.contains(&symbol.name()));
    verbs
        .map(|symbol| {
            let line = symbol.span().start_line;
            plain(
                snapshot,
                file,
                Kind::Http,
                Role::Provider,
                symbol.name().into(),
                visible(&route),
                line,
            )
        })
        .collect()
}

/// Variables set by the dotenv files beside indexed files; they have no grammar, so the index has none of them.
fn dotenv_files(repository: &Repository) -> Vec<(String, String, u32)> {
    const NAMES: &[&str] = &[
        ".env",
        ".env.example",
        ".env.sample",
        ".env.template",
        ".env.defaults",
        ".env.development",
        ".env.test",
        ".env.production",
    ];
    const MAX_FOLDERS: usize = 500;
    let mut folders: BTreeSet<&str> = BTreeSet::from([""]);
    for file in repository.snapshot.files() {
        let folder = file.path().rsplit_once('/').map_or("", |(folder, _)| folder);
        if folder.matches('/').count() < 2 && folders.len() < MAX_FOLDERS {
            folders.insert(folder);
        }
    }
    let mut found = Vec::new();
    for folder in folders {
        for name in NAMES {
            let path = if folder.is_empty() {
                (*name).to_string()
            } else {
                format!("{folder}/{name}")
            };
            let is_file = std::fs::symlink_metadata(repository.root.join(&path)).is_ok_and(|data| data.is_file());
            if !is_file || repository.snapshot.find_file(&path).is_some() {
                continue;
            }
            if let Ok((text, _)) = read_source(&repository.root, &path) {
                let named = environment::sets(environment::Setter::Dotenv, &text);
                found.extend(named.into_iter().map(|(name, line)| (name, path.clone(), line)));
            }
        }
    }
    found
}
