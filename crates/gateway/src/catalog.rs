//! Everything the upstreams offer, as one immutable value. A change builds a new catalog from the old one and swaps it in
//! whole; whoever holds the old one finishes with it, and a failed build changes nothing.

use std::collections::BTreeMap;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};

use foldhash::{HashMap, HashMapExt};
use globset::{Glob, GlobSet, GlobSetBuilder};
use jsonschema::Validator;
use serde_json::{Map, Value};

use crate::browse::{Embedder, Entry, Shelf, ShelfOptions};
use crate::card::{CardKind, HARD_CAP_TOKENS};
use crate::config::{GatewayConfig, UpstreamConfig};
use crate::controls::MetaTool;
use crate::errors::{ErrorCode, GatewayError};
use crate::identity::{parse_tool_id, sanitise_namespace, shortened_tool_id, tool_id};
use crate::policy::{Decision, Policy, PolicyConfig, PolicySubject};
use crate::primitives::{PromptItem, ResourceItem, prompt_items, resource_items};
use crate::schema::{self, OnInvalidSchema, SchemaLimits};
use crate::spec::ToolSpec;
use crate::tokens;

/// What one upstream lists, as it lists it.
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The configured name of the upstream; empty for a catalog file.
    pub server: String,
    pub tools: Vec<Value>,
    pub resources: Vec<Value>,
    pub prompts: Vec<Value>,
    pub settings: SourceSettings,
}

/// What the operator changes about an upstream's listing.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SourceSettings {
    pub namespace: Option<String>,
    pub include: Vec<String>,
    pub exclude: Vec<String>,
    pub rename: BTreeMap<String, String>,
    pub describe: BTreeMap<String, String>,
    pub tags: Vec<String>,
}

impl From<&UpstreamConfig> for SourceSettings {
    fn from(config: &UpstreamConfig) -> SourceSettings {
        SourceSettings {
            namespace: config.namespace.clone(),
            include: config.include.clone(),
            exclude: config.exclude.clone(),
            rename: config.rename.clone(),
            describe: config.describe.clone(),
            tags: config.tags.clone(),
        }
    }
}

/// How a catalog is built.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CatalogOptions {
    pub shelf: ShelfOptions,
    pub limits: SchemaLimits,
    pub on_invalid_schema: OnInvalidSchema,
    pub policy: PolicyConfig,
}

impl From<&GatewayConfig> for CatalogOptions {
    fn from(config: &GatewayConfig) -> CatalogOptions {
        CatalogOptions {
            shelf: ShelfOptions {
                card_tokens: config.browse.card_tokens,
                cluster_size: config.browse.cluster_size,
            },
            limits: config.schema_limits,
            on_invalid_schema: config.execute.on_invalid_schema,
            policy: config.policy.clone(),
        }
    }
}

/// One tool, ready to be shown, checked and called.
#[derive(Debug)]
pub struct Tool {
    pub spec: ToolSpec,
    pub entry: Arc<Entry>,
    /// What the policy says about calling it; never `Deny`, for a denied tool is not in the catalog.
    pub decision: Decision,
    /// Why its schema cannot be used, when that is known without compiling it.
    schema_problem: Option<String>,
    /// What was reported when it was added; a catalog that takes it over reports it again.
    noted: Vec<Problem>,
    validator: OnceLock<Result<Validator, String>>,
}

/// Something that was set right or left out while a catalog was built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub server: String,
    /// The definition's name, as far as it is known.
    pub name: String,
    pub kind: ProblemKind,
    pub message: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ProblemKind {
    /// The definition cannot be read at all.
    Unusable,
    /// The same tool twice: the first stays.
    Duplicate,
    /// Two different tools with one id: the later one is reached by a `~N` key.
    Collision,
    /// The grammar refuses its name, so its id is a sanitised one.
    Renamed,
    /// Its schema is invalid or over a limit.
    Schema,
    /// A glob or another setting has no effect.
    Setting,
}

/// A catalog that must not be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the schema of `{server}` tool `{name}` is not usable: {message}")]
pub struct CatalogError {
    pub server: String,
    pub name: String,
    pub message: String,
}

/// All tools, resources and prompts, and what was found wrong with them.
#[derive(Debug, Default)]
pub struct Catalog {
    tools: HashMap<String, Arc<Tool>>,
    shelf: Shelf,
    resources: HashMap<String, Arc<ResourceItem>>,
    resource_shelf: Shelf,
    prompts: HashMap<String, Arc<PromptItem>>,
    prompt_shelf: Shelf,
    problems: Vec<Problem>,
    options: CatalogOptions,
}

impl Catalog {
    /// Builds a catalog. Definitions that `previous` already holds unchanged are taken from it, with their compiled
    /// validators and their cards.
    pub fn build(
        sources: Vec<Source>,
        options: &CatalogOptions,
        previous: Option<&Catalog>,
    ) -> Result<Catalog, CatalogError> {
        let previous = previous.filter(|previous| previous.options == *options);
        let mut building = Building::new(options, previous);
        let mut resources = Vec::new();
        let mut prompts = Vec::new();
        for source in sources {
            let Source {
                server,
                tools,
                resources: listed_resources,
                prompts: listed_prompts,
                settings,
            } = source;
            building.add_tools(&server, tools, &settings)?;
            resources.push((server.clone(), listed_resources));
            prompts.push((server, listed_prompts));
        }
        let Building {
            tools,
            mut problems,
            policy,
            ..
        } = building;
        let parameters = |id: &str| {
            tools
                .get(id)?
                .spec
                .input_schema
                .as_ref()?
                .get("properties")?
                .as_object()
        };
        let entries = sorted_entries(tools.values().map(|tool| &tool.entry));
        let shelf = Shelf::build(entries, options.shelf, parameters);
        let (mut resource_list, resource_problems) = resource_items(resources);
        let (mut prompt_list, prompt_problems) = prompt_items(prompts);
        resource_list.retain(|item| shows(&policy, &item.entry, &item.spec.uri));
        prompt_list.retain(|item| shows(&policy, &item.entry, &item.spec.name));
        problems.extend(resource_problems);
        problems.extend(prompt_problems);
        let resource_entries = sorted_entries(resource_list.iter().map(|item| &item.entry));
        let prompt_entries = sorted_entries(prompt_list.iter().map(|item| &item.entry));
        Ok(Catalog {
            shelf,
            resource_shelf: Shelf::build(resource_entries, options.shelf, |_| None),
            prompt_shelf: Shelf::build(prompt_entries, options.shelf, |_| None),
            resources: resource_list
                .into_iter()
                .map(|item| (item.entry.id.clone(), Arc::new(item)))
                .collect(),
            prompts: prompt_list
                .into_iter()
                .map(|item| (item.entry.id.clone(), Arc::new(item)))
                .collect(),
            tools,
            problems,
            options: options.clone(),
        })
    }

    /// Adds ranking by meaning to all shelves, embedding only what `previous` does not hold.
    pub fn with_vectors(mut self, embedder: Arc<dyn Embedder>, previous: Option<&Catalog>) -> Catalog {
        let add = |shelf: &mut Shelf, old: Option<&Shelf>| {
            *shelf = std::mem::take(shelf).with_vectors(Arc::clone(&embedder), old);
        };
        add(&mut self.shelf, previous.map(|catalog| &catalog.shelf));
        add(
            &mut self.resource_shelf,
            previous.map(|catalog| &catalog.resource_shelf),
        );
        add(&mut self.prompt_shelf, previous.map(|catalog| &catalog.prompt_shelf));
        self
    }

    /// Compiles every schema and says which cannot be used. For `check`: serving does this at the first call.
    pub fn unusable_schemas(&self) -> Vec<Problem> {
        let tools = self
            .shelf
            .entries()
            .iter()
            .filter_map(|entry| self.tools.get(&entry.id));
        tools
            .filter_map(|tool| {
                let error = tool.validator().err()?;
                Some(Problem {
                    server: tool.spec.server.clone(),
                    name: tool.spec.name.clone(),
                    kind: ProblemKind::Schema,
                    message: error.message().to_owned(),
                })
            })
            .collect()
    }

    /// The tool behind an id, or the error an agent gets for an unknown one.
    pub fn tool(&self, id: &str) -> Result<&Arc<Tool>, GatewayError> {
        self.tools.get(id).ok_or_else(|| GatewayError::unknown_tool(id))
    }

    pub fn resource(&self, id: &str) -> Result<&Arc<ResourceItem>, GatewayError> {
        self.resources.get(id).ok_or_else(|| {
            GatewayError::new(
                ErrorCode::ResourceNotFound,
                format!("no resource `{id}`; use resource_browse to find one"),
            )
        })
    }

    pub fn prompt(&self, id: &str) -> Result<&Arc<PromptItem>, GatewayError> {
        self.prompts.get(id).ok_or_else(|| {
            GatewayError::new(
                ErrorCode::PromptNotFound,
                format!("no prompt `{id}`; use prompt_browse to find one"),
            )
        })
    }

    /// The tools, to be browsed or walked in id order.
    pub fn tools(&self) -> &Shelf {
        &self.shelf
    }

    pub fn resources(&self) -> &Shelf {
        &self.resource_shelf
    }

    pub fn prompts(&self) -> &Shelf {
        &self.prompt_shelf
    }

    /// Whether the resource and prompt verbs are worth their tokens.
    pub fn has_primitives(&self) -> bool {
        !self.resource_shelf.is_empty() || !self.prompt_shelf.is_empty()
    }

    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    pub fn options(&self) -> &CatalogOptions {
        &self.options
    }
}

impl Tool {
    pub fn id(&self) -> &str {
        &self.entry.id
    }

    /// What its upstream calls it.
    pub fn upstream_name(&self) -> &str {
        &self.spec.name
    }

    /// The full definition under its id: what hydration returns.
    pub fn hydrate(&self) -> Value {
        let mut definition = self.spec.to_definition();
        if let Value::Object(fields) = &mut definition {
            fields.insert("name".into(), self.entry.id.clone().into());
        }
        definition
    }

    /// Checks arguments before anything leaves. The schema is compiled at the first call and kept.
    pub fn check_arguments(&self, arguments: &Value) -> Result<(), GatewayError> {
        let Some(schema) = &self.spec.input_schema else {
            return match arguments {
                Value::Object(_) => Ok(()),
                _ => Err(GatewayError::new(
                    ErrorCode::ArgsInvalid,
                    "the arguments must be an object",
                )),
            };
        };
        schema::check_arguments(self.validator()?, schema, arguments)
    }

    /// `SCHEMA_INVALID` when the upstream's schema cannot be used.
    pub fn validator(&self) -> Result<&Validator, GatewayError> {
        let invalid = |problem: &str| {
            GatewayError::new(
                ErrorCode::SchemaInvalid,
                format!("the upstream's schema is not usable: {problem}"),
            )
        };
        if let Some(problem) = &self.schema_problem {
            return Err(invalid(problem));
        }
        let empty = Value::Bool(true);
        let schema = self.spec.input_schema.as_ref().unwrap_or(&empty);
        self.validator
            .get_or_init(|| schema::compile(schema))
            .as_ref()
            .map_err(|problem| invalid(problem))
    }
}

/// The catalog in use. Readers take an `Arc` and are never blocked by a build.
#[derive(Debug, Default)]
pub struct CatalogCell(RwLock<Arc<Catalog>>);

impl CatalogCell {
    pub fn new(catalog: Catalog) -> CatalogCell {
        CatalogCell(RwLock::new(Arc::new(catalog)))
    }

    pub fn load(&self) -> Arc<Catalog> {
        Arc::clone(&self.0.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the catalog and returns the one it replaces.
    pub fn swap(&self, catalog: Arc<Catalog>) -> Arc<Catalog> {
        std::mem::replace(&mut *self.0.write().unwrap_or_else(PoisonError::into_inner), catalog)
    }
}

struct Building<'a> {
    options: &'a CatalogOptions,
    policy: Policy,
    /// What the previous catalog holds, by server and upstream name.
    known: HashMap<(&'a str, &'a str), &'a Arc<Tool>>,
    tools: HashMap<String, Arc<Tool>>,
    problems: Vec<Problem>,
}

impl<'a> Building<'a> {
    fn new(options: &'a CatalogOptions, previous: Option<&'a Catalog>) -> Building<'a> {
        let mut known = HashMap::new();
        for entry in previous.into_iter().flat_map(|previous| previous.shelf.entries()) {
            if let Some(tool) = previous.and_then(|previous| previous.tools.get(&entry.id)) {
                known.insert((tool.spec.server.as_str(), tool.spec.name.as_str()), tool);
            }
        }
        Building {
            options,
            policy: Policy::new(&options.policy),
            known,
            tools: HashMap::new(),
            problems: Vec::new(),
        }
    }

    fn add_tools(&mut self, server: &str, tools: Vec<Value>, settings: &SourceSettings) -> Result<(), CatalogError> {
        let include = self.globs(server, &settings.include);
        let exclude = self.globs(server, &settings.exclude);
        for definition in tools {
            let spec = match ToolSpec::from_definition(server, definition) {
                Ok(spec) => spec,
                Err(error) => {
                    self.report(server, "", ProblemKind::Unusable, error.to_string());
                    continue;
                }
            };
            let wanted = settings.include.is_empty() || include.is_match(&spec.name);
            if !wanted || exclude.is_match(&spec.name) {
                continue;
            }
            self.add_tool(adjusted(spec, settings))?;
        }
        Ok(())
    }

    fn add_tool(&mut self, spec: ToolSpec) -> Result<(), CatalogError> {
        if let Some(known) = self.known.get(&(spec.server.as_str(), spec.name.as_str()))
            && known.spec == spec
            && !self.tools.contains_key(&known.entry.id)
            // A `~N` key depends on what else is there, so it is always worked out anew.
            && !known.entry.id.contains('~')
        {
            self.problems.extend(known.noted.iter().cloned());
            self.tools.insert(known.entry.id.clone(), Arc::clone(known));
            return Ok(());
        }
        let before = self.problems.len();
        let validator = OnceLock::new();
        let schema_problem = self.schema_problem(&spec, &validator);
        if let Some(message) = &schema_problem {
            self.report(&spec.server, &spec.name, ProblemKind::Schema, message.clone());
            match self.options.on_invalid_schema {
                OnInvalidSchema::Flag => {}
                OnInvalidSchema::Skip => return Ok(()),
                OnInvalidSchema::Raise => {
                    let (server, name) = (spec.server.clone(), spec.name.clone());
                    return Err(CatalogError {
                        server,
                        name,
                        message: message.clone(),
                    });
                }
            }
        }
        let Some(id) = self.free_id(&spec) else { return Ok(()) };
        let entry = entry_of(&spec, id);
        let subject = PolicySubject {
            tool_id: &entry.id,
            server: &spec.server,
            namespace: &entry.namespace,
            name: &spec.name,
            tags: &entry.tags,
            read_only: !entry.side_effects,
        };
        if !self.policy.shows(subject) {
            return Ok(());
        }
        let decision = self.policy.decide(MetaTool::ToolExecute, subject);
        let tool = Tool {
            entry: Arc::new(entry),
            decision,
            schema_problem,
            noted: self.problems[before..].to_vec(),
            validator,
            spec,
        };
        self.tools.insert(tool.entry.id.clone(), Arc::new(tool));
        Ok(())
    }

    /// Why a schema cannot be used. Compiling one is dear, so it happens here only when the answer decides whether the tool is
    /// listed; otherwise the first call finds out.
    fn schema_problem(&self, spec: &ToolSpec, validator: &OnceLock<Result<Validator, String>>) -> Option<String> {
        let schemas = [spec.input_schema.as_ref(), spec.output_schema.as_ref()];
        let over = schemas
            .into_iter()
            .flatten()
            .find_map(|schema| schema::over_limit(schema, &self.options.limits));
        if over.is_some() || self.options.on_invalid_schema == OnInvalidSchema::Flag {
            return over;
        }
        let input = spec.input_schema.as_ref()?;
        let compiled = validator.get_or_init(|| schema::compile(input));
        compiled.as_ref().err().cloned()
    }

    /// An id nobody has yet, or `None` for a tool that is already there.
    fn free_id(&mut self, spec: &ToolSpec) -> Option<String> {
        let mut id = tool_id(spec);
        // Only a long id can be too dear; counting every one would cost more than it finds.
        if id.len() > ID_BYTES_ALWAYS_FIT && tokens::count(&id) > HARD_CAP_TOKENS - CARD_RESERVE {
            id = shortened_tool_id(spec, SHORT_NAME);
            self.report(
                &spec.server,
                &spec.name,
                ProblemKind::Renamed,
                format!("its id is cut to `{id}` to fit a card"),
            );
        }
        let Some(holder) = self.tools.get(&id) else {
            return Some(id);
        };
        if holder.spec.name == spec.name {
            let message = match holder.spec.server.as_str() {
                server if server == spec.server => "it is listed twice; the first stays".to_owned(),
                other => format!("`{other}` has a tool with the same id, which stays; give one of them a `namespace`"),
            };
            self.report(&spec.server, &spec.name, ProblemKind::Duplicate, message);
            return None;
        }
        let key = (2..)
            .map(|number| format!("{id}~{number}"))
            .find(|key| !self.tools.contains_key(key))?;
        let message = format!(
            "its id is also that of `{}`; it is reached as `{key}`",
            holder.spec.name
        );
        self.report(&spec.server, &spec.name, ProblemKind::Collision, message);
        Some(key)
    }

    fn globs(&mut self, server: &str, patterns: &[String]) -> GlobSet {
        let mut builder = GlobSetBuilder::new();
        for pattern in patterns {
            match Glob::new(pattern) {
                Ok(glob) => {
                    builder.add(glob);
                }
                Err(error) => self.report(server, pattern, ProblemKind::Setting, error.to_string()),
            }
        }
        builder.build().unwrap_or_else(|_| GlobSet::empty())
    }

    fn report(&mut self, server: &str, name: &str, kind: ProblemKind, message: String) {
        let name = crate::errors::redact_detail(name, 128);
        self.problems.push(Problem {
            server: server.to_owned(),
            name,
            kind,
            message,
        });
    }
}

/// An id of this many bytes costs at most this many tokens, and fits.
const ID_BYTES_ALWAYS_FIT: usize = 60;
/// Tokens of a card that are not its id: separators, a note, a few words of description.
const CARD_RESERVE: usize = 16;
/// Characters of a name that stay when an id is cut.
const SHORT_NAME: usize = 32;

/// Whether a resource or a prompt may be known. Reading never changes anything, so it counts as read-only.
fn shows(policy: &Policy, entry: &Entry, name: &str) -> bool {
    policy.shows(PolicySubject {
        tool_id: &entry.id,
        server: &entry.server,
        namespace: &entry.namespace,
        name,
        tags: &entry.tags,
        read_only: true,
    })
}

fn adjusted(mut spec: ToolSpec, settings: &SourceSettings) -> ToolSpec {
    if let Some(namespace) = &settings.namespace {
        spec.namespace = Some(sanitise_namespace(namespace));
    }
    if let Some(description) = settings.describe.get(&spec.name) {
        spec.description.clone_from(description);
    }
    spec.renamed = settings.rename.get(&spec.name).cloned();
    spec.tags.extend(settings.tags.iter().cloned());
    spec
}

fn entry_of(spec: &ToolSpec, id: String) -> Entry {
    let canonical = id.split_once('~').map_or(id.as_str(), |(canonical, _)| canonical);
    let (namespace, label) = match parse_tool_id(canonical) {
        Ok(parts) => (parts.namespace, parts.name),
        Err(_) => (sanitise_namespace(&spec.server), spec.shown_name().to_owned()),
    };
    Entry {
        namespace,
        label,
        name: spec.shown_name().to_owned(),
        title: spec.title.clone().unwrap_or_default(),
        description: spec.description.clone(),
        tags: spec.all_tags(),
        server: spec.server.clone(),
        kind: CardKind::Tool,
        has_schema: spec.input_schema.is_some(),
        cost_hint: spec.annotations.cost.unwrap_or(0.0),
        side_effects: spec.side_effects(),
        id,
        ..Entry::default()
    }
}

fn sorted_entries<'a>(entries: impl Iterator<Item = &'a Arc<Entry>>) -> Vec<Arc<Entry>> {
    let mut sorted: Vec<Arc<Entry>> = entries.map(Arc::clone).collect();
    sorted.sort_unstable_by(|left, right| left.id.cmp(&right.id));
    sorted
}

/// Reads a catalog file: a list of tools, or an object with `tools`, `resources` and `prompts`.
pub fn source_from_file(value: Value) -> Source {
    let mut source = Source::default();
    match value {
        Value::Array(tools) => source.tools = tools,
        Value::Object(mut fields) => {
            source.tools = take_list(&mut fields, "tools");
            source.resources = take_list(&mut fields, "resources");
            source.prompts = take_list(&mut fields, "prompts");
        }
        _ => {}
    }
    source
}

fn take_list(fields: &mut Map<String, Value>, key: &str) -> Vec<Value> {
    match fields.shift_remove(key) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    }
}
