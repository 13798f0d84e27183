//! `get_diagnostics`: what the compiler finds wrong, of the text as it is now and never of an older one.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use index::snapshot::FileView;
use lsp::{Diagnostic, Severity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pages::Pages;
use super::{Compilers, Standing, Wait, Writer, absolute, shown};
use crate::error::QuestionError;
use crate::workspace::Workspace;
use crate::{naming, syntax_errors};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetDiagnostics {
    /// File or folder; without it the whole workspace. Of more than a file, only with wait: lsp is every file asked about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Least severity: error, warning (default), information or hint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// Findings per page (default 100). Files of a folder are asked about until the time is over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// lsp: wait until the language server is ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
    /// How long at most (default 180000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_wait_ms: Option<u64>,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Diagnostics {
    /// Where the answer comes from.
    #[serde(flatten)]
    pub standing: Standing,
    /// Errors in all.
    pub errors: u64,
    /// Warnings in all.
    pub warnings: u64,
    /// Findings of the severity asked for, in all.
    pub total: u64,
    /// Whether findings were left out.
    pub truncated: bool,
    /// For the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The findings.
    pub diagnostics: Vec<Finding>,
}

/// One finding.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Finding {
    /// The file.
    pub path: String,
    /// `line:column`.
    pub at: String,
    /// error, warning, information or hint.
    pub severity: &'static str,
    /// The compiler's code for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub code: Option<String>,
    /// What is wrong.
    pub message: String,
}

/// What the compiler finds wrong.
pub fn get_diagnostics(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    ask: &GetDiagnostics,
) -> Result<Diagnostics, QuestionError> {
    let wait = Wait::of(ask.wait.as_deref(), ask.max_wait_ms)?;
    let least = severity(ask.severity.as_deref())?;
    let pages = Pages::of(workspace, ask.limit, ask.cursor.as_deref(), 100)?;
    let mut writer = Writer::new(workspace);
    let mut found: Vec<(PathBuf, Diagnostic)> = Vec::new();
    let standing = match &ask.path {
        Some(path) if !is_folder(workspace, path) => {
            let (number, file) = naming::find_file(workspace, path)?;
            let repository = &workspace.repositories()[number];
            let absolute = absolute(repository, file.path());
            let asked = compilers.for_file(repository, file.path(), file.language(), wait);
            let answered = asked.and_then(|compiler| {
                let found = compiler.server.diagnostics(&absolute, compiler.deadline);
                let found = found.map_err(|error| error.to_string())?;
                // A file's own findings need no other file to be open.
                let mut standing = Standing::compiler(&compiler, workspace);
                standing.complete = true;
                Ok((found, standing))
            });
            match answered {
                Ok((list, standing)) => {
                    found.extend(list.into_iter().map(|finding| (absolute.clone(), finding)));
                    standing
                }
                Err(why) => {
                    let unread = syntax_errors::of_file(workspace, number, file)
                        .unwrap_or_else(|| "the grammar reads all of the file".to_string());
                    Standing::graph(workspace, format!("{why}; {unread}"))
                }
            }
        }
        folder => {
            let folder = folder.as_deref().map(|folder| folder.trim_end_matches('/'));
            match wait {
                Wait::Warm(_) => so_far(workspace, compilers, folder, &mut found),
                Wait::Ready(patience) => every_file(workspace, compilers, folder, patience, &mut found),
            }
        }
    };
    found.sort_by(|(path, finding), (other_path, other)| {
        (path, finding.range, finding.severity).cmp(&(other_path, other.range, other.severity))
    });
    let count = |severity: Severity| found.iter().filter(|(_, finding)| finding.severity == severity).count() as u64;
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    found.retain(|(_, finding)| finding.severity <= least);
    let cut = pages.cut(&standing, found)?;
    let diagnostics = cut
        .rows
        .into_iter()
        .map(|(path, finding)| Finding {
            at: writer.place(&path, finding.range.start),
            path: shown(workspace, &path).0,
            severity: finding.severity.word(),
            code: finding.code,
            message: finding.message,
        })
        .collect();
    Ok(Diagnostics {
        standing,
        errors,
        warnings,
        total: cut.total,
        truncated: cut.truncated,
        next_cursor: cut.next_cursor,
        diagnostics,
    })
}

/// Whether a path is a folder of files rather than a file.
fn is_folder(workspace: &Workspace, path: &str) -> bool {
    let folder = path.trim_end_matches('/');
    workspace.find_file(folder).is_none() && files(workspace, Some(folder)).next().is_some()
}

/// The files in a folder, or all; each with the number of its repository.
fn files<'a>(workspace: &'a Workspace, folder: Option<&str>) -> impl Iterator<Item = (usize, FileView<'a>)> {
    let repositories = workspace.repositories().iter().enumerate();
    let all = repositories.flat_map(|(number, repository)| repository.snapshot.files().map(move |file| (number, file)));
    all.filter(move |(number, file)| {
        folder.is_none_or(|folder| {
            let path = workspace.path(*number, file.path());
            path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
        })
    })
}

/// What the servers that run have reported by themselves.
fn so_far(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    folder: Option<&str>,
    found: &mut Vec<(PathBuf, Diagnostic)>,
) -> Standing {
    let inside = |path: &Path| {
        let (path, known) = shown(workspace, path);
        let in_folder = |folder: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
        known.is_some() && folder.is_none_or(in_folder)
    };
    let (mut names, mut reported) = (Vec::new(), 0);
    for server in compilers.servers.all() {
        names.push(server.name().to_string());
        for (path, list) in server.known_diagnostics() {
            if inside(&path) {
                reported += 1;
                found.extend(list.into_iter().map(|finding| (path.clone(), finding)));
            }
        }
    }
    let why = format!(
        "only what servers reported so far, of {reported} of {} files; wait: lsp asks about every file",
        files(workspace, folder).count()
    );
    let mut standing = Standing::graph(workspace, why);
    if !names.is_empty() {
        standing.tier = "lsp";
        standing.server = Some(names.join(", "));
    }
    standing
}

/// Asks about every file whose language has a server, one after the other, until the time is over.
fn every_file(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    folder: Option<&str>,
    patience: Duration,
    found: &mut Vec<(PathBuf, Diagnostic)>,
) -> Standing {
    let deadline = Instant::now() + patience;
    let (mut names, mut asked, mut late) = (BTreeSet::new(), 0, 0);
    // A language whose server does not answer is not tried for each of its files.
    let mut missing: BTreeMap<String, (String, u64)> = BTreeMap::new();
    for (number, file) in files(workspace, folder) {
        let repository = &workspace.repositories()[number];
        let left = deadline.saturating_duration_since(Instant::now());
        if let Some((_, files)) = missing.get_mut(file.language()) {
            *files += 1;
            continue;
        }
        if left.is_zero() || workspace.is_stopped() {
            late += 1;
            continue;
        }
        let absolute = absolute(repository, file.path());
        let answered = compilers
            .for_file(repository, file.path(), file.language(), Wait::Ready(left))
            .and_then(|compiler| {
                let found = compiler.server.diagnostics(&absolute, compiler.deadline.min(deadline));
                Ok((
                    compiler.server.name().to_string(),
                    found.map_err(|error| error.to_string())?,
                ))
            });
        match answered {
            Ok((name, list)) => {
                asked += 1;
                names.insert(name);
                found.extend(list.into_iter().map(|finding| (absolute.clone(), finding)));
            }
            Err(_) if Instant::now() >= deadline => late += 1,
            Err(why) => drop(missing.insert(file.language().to_string(), (why, 1))),
        }
    }
    let mut notes = vec![format!("asked about {asked} files")];
    if late > 0 {
        notes.push(format!(
            "the time was over before {late} more: give a folder, or max_wait_ms"
        ));
    }
    // Prose and data have no compiler, and nobody expects one.
    notes.extend(
        missing
            .iter()
            .filter(|(_, (why, _))| !why.starts_with("no language server is known"))
            .map(|(language, (why, files))| format!("not about {files} of {language}: {why}")),
    );
    let complete = late == 0 && notes.len() == 1;
    let mut standing = Standing::graph(workspace, notes.join("; "));
    if !names.is_empty() {
        standing.tier = "lsp";
        standing.server = Some(names.into_iter().collect::<Vec<_>>().join(", "));
        standing.complete = complete;
    }
    standing
}

fn severity(word: Option<&str>) -> Result<Severity, QuestionError> {
    match word.unwrap_or("warning") {
        "error" => Ok(Severity::Error),
        "warning" => Ok(Severity::Warning),
        "information" => Ok(Severity::Information),
        "hint" => Ok(Severity::Hint),
        other => Err(QuestionError::Argument {
            name: "severity",
            problem: format!("expected error, warning, information or hint, not `{other}`"),
        }),
    }
}
