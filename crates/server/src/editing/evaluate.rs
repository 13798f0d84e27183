//! What a draft would do to the compiler's findings, in the edited files and in those that depend on them.
//!
//! The one trick: the server is taken alone, asked about the files as they are, given the draft's texts, and asked again; every
//! dependent file is opened anew in between, so that what it says is of the draft and not remembered. Then the server gets the
//! disk's texts back. Nothing is written, and two evaluations cannot see each other.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::time::{Duration, Instant};

use codeintel::{Repository, Workspace};
use index::model::EdgeKind;
use index::snapshot::EdgeKinds;
use lsp::edits::{Comparison, Draft, Found, LineMap, compare};
use lsp::{Diagnostic, Overlay, Server, Servers, Severity, State};
use serde::Serialize;
use wire::protocol::Refusal;

use super::edit_refused;
use super::removed::left_behind;
use crate::tools::refusal;

/// Dependent files that are checked at most.
const MAX_DEPENDENTS: usize = 200;

/// What clang says of a file where it found more errors than it tells.
const TOO_MANY: &str = "fatal_too_many_errors";

/// What an edit would do.
#[derive(Debug, Serialize)]
pub(crate) struct Evaluation {
    /// `lsp` where a compiler was asked about every file, `partial` where about some, `none` where about none.
    pub(crate) tier: &'static str,
    /// Why it is not `lsp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) incomplete: Option<String>,
    /// Errors that only the edited code has.
    pub(crate) errors_introduced: usize,
    /// Errors that only the code as it is has. They do not make up for introduced ones.
    pub(crate) errors_resolved: usize,
    /// Files that were checked, the edited ones included.
    pub(crate) files_checked: usize,
    /// Files that depend on the edited ones.
    pub(crate) dependents: usize,
    pub(crate) introduced: Vec<Finding>,
    pub(crate) resolved: Vec<Finding>,
}

/// One finding, with lines of the text it is in: the draft for introduced ones, the file for resolved ones.
#[derive(Debug, Serialize)]
pub(crate) struct Finding {
    pub(crate) path: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) severity: &'static str,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) code: String,
    pub(crate) message: String,
}

/// The files that one server is asked about.
#[derive(Default)]
struct Share {
    /// Path, language, text before, text after.
    edited: Vec<(String, &'static str, String, String)>,
    /// Path, language.
    dependent: Vec<(String, &'static str)>,
}

/// A file to ask about: whose share it is, path, language, and its texts before and after where it is edited.
type Asked = (String, String, &'static str, Option<(String, String)>);

/// Asks the compilers what `draft` would introduce and resolve.
pub(crate) fn evaluate(
    workspace: &Workspace,
    servers: &Servers,
    draft: &Draft,
    patience: Duration,
) -> Result<Evaluation, Refusal> {
    let deadline = Instant::now() + patience;
    let repositories = workspace.repositories();
    let Some(number) = repositories
        .iter()
        .position(|repository| repository.root == draft.root())
    else {
        return Err(refusal(
            "unknown_repo",
            format!("{} is no longer served", draft.root().display()),
        ));
    };
    let repository = &repositories[number];
    let changed = draft.changed().map_err(edit_refused)?;
    if changed.is_empty() {
        return Err(refusal(
            "nothing_to_evaluate",
            "the session holds no edit yet: make one with simulate_edit",
        ));
    }
    let paths: BTreeSet<&str> = changed.keys().map(String::as_str).collect();
    let dependents = dependents(repository, &paths);

    let mut missing: Vec<String> = Vec::new();
    if let Some(what) = workspace.incomplete() {
        missing.push(format!("the index lacks files that may depend on it ({what})"));
    }
    if dependents.len() > MAX_DEPENDENTS {
        missing.push(format!(
            "{} of {} dependent files were checked",
            MAX_DEPENDENTS,
            dependents.len()
        ));
    }
    let mut shares: BTreeMap<String, (Server, Share)> = BTreeMap::new();
    let mut share_of = |path: &str, text: &str| -> Result<(String, &'static str), String> {
        let language = syntax::languages::detect(path, text.as_bytes())
            .ok_or_else(|| format!("no compiler is known for `{path}`"))?
            .name();
        let place = repository.root.join(path);
        match servers.server(&repository.root, language, Some(&place)) {
            Ok(server) => {
                let key = format!("{} {}", server.name(), server.root().display());
                shares.entry(key.clone()).or_insert_with(|| (server, Share::default()));
                Ok((key, language))
            }
            Err(state) => Err(why_not(&state)),
        }
    };
    let mut places: Vec<Asked> = Vec::new();
    for (path, after) in &changed {
        let before = draft.original(path).map_err(edit_refused)?;
        let after = after.clone().unwrap_or_default();
        match share_of(path, &after) {
            Ok((key, language)) => places.push((key, path.clone(), language, Some((before, after)))),
            Err(why) => missing.push(why),
        }
    }
    for path in dependents.iter().take(MAX_DEPENDENTS) {
        match share_of(path, "") {
            Ok((key, language)) => places.push((key, path.clone(), language, None)),
            Err(why) => missing.push(why),
        }
    }
    for (key, path, language, texts) in places {
        let Some((_, share)) = shares.get_mut(&key) else {
            continue;
        };
        match texts {
            Some((before, after)) => share.edited.push((path, language, before, after)),
            None => share.dependent.push((path, language)),
        }
    }

    let mut total = Comparison::default();
    let mut files_checked = 0;
    for (server, share) in shares.values().map(|(server, share)| (server, share)) {
        // A server none of whose files are edited sees no difference.
        if share.edited.is_empty() {
            missing.push(format!("{} cannot see edits in other languages", server.name()));
            continue;
        }
        match ask(server, &repository.root, share, deadline) {
            Ok((found, partial)) => {
                missing.extend(partial.map(|why| format!("{}: {why}", server.name())));
                files_checked += share.edited.len() + share.dependent.len();
                total.introduced.extend(found.introduced);
                total.resolved.extend(found.resolved);
                total.unchanged += found.unchanged;
            }
            Err(why) => missing.push(why),
        }
    }
    missing.sort();
    missing.dedup();
    let behind = left_behind(repository, &changed, &total.introduced);
    total.introduced.extend(behind);
    total.introduced.sort();
    total.resolved.sort();
    let finding = |found: &Found| Finding {
        path: workspace.path(number, &found.path),
        line: found.line,
        column: found.column,
        severity: severity_word(found.severity),
        code: found.code.clone(),
        message: found.message.clone(),
    };
    let errors = |found: &[Found]| {
        found
            .iter()
            .filter(|found| found.severity == Severity::Error as u8)
            .count()
    };
    Ok(Evaluation {
        tier: match (files_checked, missing.is_empty()) {
            (0, _) => "none",
            (_, true) => "lsp",
            (_, false) => "partial",
        },
        incomplete: (!missing.is_empty()).then(|| missing.join("; ")),
        errors_introduced: errors(&total.introduced),
        errors_resolved: errors(&total.resolved),
        files_checked,
        dependents: dependents.len(),
        introduced: total.introduced.iter().map(finding).collect(),
        resolved: total.resolved.iter().map(finding).collect(),
    })
}

/// Before and after, from one server.
fn ask(server: &Server, root: &Path, share: &Share, deadline: Instant) -> Result<(Comparison, Option<String>), String> {
    let failed = |error: lsp::RequestError| format!("{}: {error}", server.name());
    // The first document makes it start.
    if let Some((path, language, ..)) = share.edited.iter().find(|(path, ..)| root.join(path).exists()) {
        server
            .prepare(&root.join(path), language)
            .map_err(|error| format!("`{path}`: {error}"))?;
    }
    let partial = match server.wait_ready(deadline) {
        State::Ready { partial } => partial,
        state => return Err(format!("{}: {}", server.name(), why_not(&state))),
    };
    let mut overlay = server.overlay(deadline).map_err(failed)?;
    for (path, language, before, _) in &share.edited {
        overlay.set(&root.join(path), language, before);
    }
    let before = findings(&mut overlay, root, share, deadline)?;
    let mut maps = HashMap::new();
    for (path, language, text, after) in &share.edited {
        overlay.set(&root.join(path), language, after);
        maps.insert(path.clone(), LineMap::new(text, after));
    }
    let after = findings(&mut overlay, root, share, deadline)?;
    let stopped = after.iter().find(|found| found.code == TOO_MANY);
    let stopped = stopped.map(|found| format!("it stopped in `{}` at its limit of errors", found.path));
    Ok((compare(&before, &after, &maps), partial.or(stopped)))
}

/// What is wrong now. The dependent files are opened anew only after the server has spoken of the edited ones: some look at an
/// edit a second late, and would judge the others by what was there before.
fn findings(overlay: &mut Overlay<'_>, root: &Path, share: &Share, deadline: Instant) -> Result<Vec<Found>, String> {
    let mut all = Vec::new();
    for (path, ..) in &share.edited {
        all.extend(of_file(overlay, root, path, deadline)?);
    }
    for (path, language) in &share.dependent {
        overlay
            .refresh(&root.join(path), language)
            .map_err(|error| format!("`{path}`: {error}"))?;
    }
    for (path, _) in &share.dependent {
        all.extend(of_file(overlay, root, path, deadline)?);
    }
    Ok(all)
}

fn of_file(overlay: &Overlay<'_>, root: &Path, path: &str, deadline: Instant) -> Result<Vec<Found>, String> {
    let place = root.join(path);
    let text = overlay.document(&place).map(|(text, _)| text);
    let diagnostics = overlay
        .diagnostics(&place, deadline)
        .map_err(|error| format!("{}: {error}", overlay.name()))?;
    // Hints are about style: they say nothing about what an edit breaks.
    let wrong = diagnostics
        .iter()
        .filter(|diagnostic| diagnostic.severity <= Severity::Warning);
    Ok(wrong.map(|diagnostic| found(path, diagnostic, text.as_ref())).collect())
}

fn found(path: &str, diagnostic: &Diagnostic, text: Option<&lsp::Text>) -> Found {
    let start = diagnostic.range.start;
    Found {
        path: path.to_owned(),
        line: start.line,
        column: text.map_or(start.column + 1, |text| text.character(start)),
        severity: diagnostic.severity as u8,
        code: diagnostic.code.clone().unwrap_or_default(),
        message: diagnostic.message.clone(),
    }
}

/// Files with an edge into one of `paths`, those with most of them first, the paths themselves left out.
fn dependents(repository: &Repository, paths: &BTreeSet<&str>) -> Vec<String> {
    let snapshot = &repository.snapshot;
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for file in paths.iter().filter_map(|path| snapshot.find_file(path)) {
        for symbol in file.symbol().into_iter().chain(file.symbols()) {
            for edge in snapshot.incoming(symbol.id(), EdgeKinds::ALL.without(EdgeKind::Contains)) {
                if let Some(from) = snapshot.symbol(edge.from)
                    && !paths.contains(from.path())
                {
                    *counts.entry(from.path()).or_default() += 1;
                }
            }
        }
    }
    let mut ranked: Vec<(&str, usize)> = counts.into_iter().collect();
    ranked.sort_by(|left, right| right.1.cmp(&left.1).then(left.0.cmp(right.0)));
    ranked.into_iter().map(|(path, _)| path.to_owned()).collect()
}

/// Why a server cannot judge now.
fn why_not(state: &State) -> String {
    match state {
        State::Ready { partial: None } => "it is ready".to_owned(),
        State::Ready { partial: Some(why) } | State::Absent { why } => why.clone(),
        State::Untrusted { .. } => state.to_string(),
        State::Idle => "it has not started".to_owned(),
        State::Starting { why } => format!("not ready: {why}; ask again in a moment"),
        State::Failed { why, retry_in } => format!("failed: {why}; tried again in {} s", retry_in.as_secs()),
    }
}

fn severity_word(severity: u8) -> &'static str {
    match severity {
        1 => Severity::Error.word(),
        2 => Severity::Warning.word(),
        3 => Severity::Information.word(),
        _ => Severity::Hint.word(),
    }
}
