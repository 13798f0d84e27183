//! `get_diagnostics`: what the compiler finds wrong, of the text as it is now and never of an older one.

use lsp::{Diagnostic, Severity};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Compilers, Standing, Wait, Writer, absolute, shown};
use crate::error::QuestionError;
use crate::naming;
use crate::workspace::Workspace;

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GetDiagnostics {
    /// File; without it, what the servers have reported of all files so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Least severity: error, warning (default), information or hint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub severity: Option<String>,
    /// Findings at most (default 100).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
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
    let mut writer = Writer::new(workspace);
    let mut found: Vec<(std::path::PathBuf, Diagnostic)> = Vec::new();
    let standing = match &ask.path {
        Some(path) => {
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
                    let unread = match file.problems() {
                        0 => "the grammar reads all of the file".to_string(),
                        problems => format!("the grammar cannot read {problems} places of the file"),
                    };
                    Standing::graph(workspace, format!("{why}; {unread}"))
                }
            }
        }
        None => {
            let mut names = Vec::new();
            for server in compilers.servers.all() {
                let mut said = server.known_diagnostics();
                said.retain(|(path, _)| shown(workspace, path).1.is_some());
                names.push(server.name().to_string());
                for (path, list) in said {
                    found.extend(list.into_iter().map(|finding| (path.clone(), finding)));
                }
            }
            let why = "only what was reported so far of files that were asked about; give `path` for one file";
            let mut standing = Standing::graph(workspace, why.to_string());
            if !names.is_empty() {
                standing.tier = "lsp";
                standing.server = Some(names.join(", "));
            }
            standing
        }
    };
    let count = |severity: Severity| found.iter().filter(|(_, finding)| finding.severity == severity).count() as u64;
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    found.retain(|(_, finding)| finding.severity <= least);
    let (total, limit) = (found.len(), ask.limit.unwrap_or(100).max(1) as usize);
    let diagnostics = found
        .into_iter()
        .take(limit)
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
        total: total as u64,
        truncated: total > limit,
        diagnostics,
    })
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
