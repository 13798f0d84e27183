//! `cross_repo`: who in the other repositories of the workspace uses a symbol.
//!
//! A repository's graph knows what it takes from outside by package and name (`go:example.com/app/lib::Greeter.Greet`). Those
//! names are compared with the symbol's; the package decides whether the same thing is meant or only a namesake.

use index::snapshot::{EdgeEnd, EdgeKinds};
use lsp::Place;
use serde::Serialize;

use super::place::{self, located};
use super::{Compilers, Standing, Writer, absolute};
use crate::error::QuestionError;
use crate::page::{self, Page};
use crate::workspace::{Repository, Workspace};

located! {
    /// What is asked.
    CrossRepo {
        /// Also namesakes of other packages.
        include_namesakes: Option<bool>,
        /// Rows per page (default 50).
        limit: Option<u32>,
        /// next_cursor of the page before.
        cursor: Option<String>,
    }
}

/// Uses in other repositories.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Uses {
    /// What was understood: path, line and column.
    pub of: String,
    /// Where the answer comes from.
    #[serde(flatten)]
    pub standing: Standing,
    /// Rows in all.
    pub total: u64,
    /// Whether rows were left out.
    pub truncated: bool,
    /// For the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// By repository and file.
    pub uses: Vec<Use>,
}

/// The uses in one file.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Use {
    /// The repository.
    pub repo: String,
    /// The file.
    pub path: String,
    /// `line:column` of each.
    pub at: Vec<String>,
    /// The package that it was taken from.
    pub package: String,
    /// `ast_resolved` where the package is this repository's, `text_matched` where only the name agrees.
    pub origin: &'static str,
}

/// Who in other repositories uses a symbol.
pub fn cross_repo(workspace: &Workspace, _: Compilers<'_>, ask: &CrossRepo) -> Result<Uses, QuestionError> {
    let spot = place::find(workspace, ask.pointer())?;
    // Nothing is waited for, but a wrong word is still wrong.
    ask.patience()?;
    let page = Page::of(workspace, ask.limit, ask.cursor.as_deref(), 50)?;
    let key = spot.symbol(workspace)?;
    let symbol = workspace.symbol(key).ok_or_else(|| QuestionError::NoSuchSymbol {
        asked: spot.word().to_string(),
        nearest: Vec::new(),
    })?;
    let (qualified, path) = (symbol.qualified_name(), symbol.path().to_string());
    let home = &workspace.repositories()[key.repository];
    let namesakes = ask.include_namesakes.unwrap_or(false);
    let mut writer = Writer::new(workspace);
    let mut uses = Vec::new();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        if number == key.repository {
            continue;
        }
        let snapshot = &repository.snapshot;
        for (external, name) in snapshot.externals() {
            let Some((package, of_package)) = name.rsplit_once("::") else {
                continue;
            };
            if of_package != qualified && of_package != symbol.name() {
                continue;
            }
            let own = is_own(home, &path, package);
            if !own && !namesakes {
                continue;
            }
            let mut by_file: std::collections::BTreeMap<String, Vec<Place>> = std::collections::BTreeMap::new();
            for edge in snapshot.incoming(EdgeEnd::External(external), EdgeKinds::ALL) {
                let Some(from) = snapshot.symbol(edge.from) else {
                    continue;
                };
                by_file.entry(from.path().to_string()).or_default().push(Place {
                    line: edge.at.line,
                    column: edge.at.column,
                });
            }
            for (file, mut places) in by_file {
                places.sort_unstable();
                places.dedup();
                let on_disk = absolute(repository, &file);
                uses.push(Use {
                    repo: repository.name.clone(),
                    path: workspace.path(number, &file),
                    at: places.iter().map(|place| writer.place(&on_disk, *place)).collect(),
                    package: package.to_string(),
                    origin: if own { "ast_resolved" } else { "text_matched" },
                });
            }
        }
    }
    uses.sort();
    let why = match workspace.repositories().len() {
        0 | 1 => "there is no other repository in this workspace".to_string(),
        _ => "by package and name; language servers know one repository each".to_string(),
    };
    let (total, end) = (uses.len(), page.offset.saturating_add(page.limit));
    let more = end < total;
    Ok(Uses {
        of: spot.shown(workspace),
        standing: Standing::graph(workspace, why),
        total: total as u64,
        truncated: more,
        next_cursor: more.then(|| page::cursor(workspace, end)),
        uses: page.take(uses),
    })
}

/// Whether a package is one of this repository: its path ends with the symbol's folder, or it is named like the repository or
/// like its topmost folder of the symbol's path.
fn is_own(home: &Repository, path: &str, package: &str) -> bool {
    let package = package.split_once(':').map_or(package, |(_, name)| name);
    let parts: Vec<&str> = package
        .split(['/', '.', ':', '@'])
        .filter(|part| !part.is_empty())
        .collect();
    let same =
        |a: &str, b: &str| a.eq_ignore_ascii_case(b) || a.replace('-', "_").eq_ignore_ascii_case(&b.replace('-', "_"));
    let folders: Vec<&str> = path.split('/').collect();
    let stem = folders
        .last()
        .and_then(|name| name.split('.').next())
        .unwrap_or_default();
    let Some(last) = parts.last() else { return false };
    let named = parts.iter().any(|part| same(part, &home.name));
    let folder = folders.iter().rev().nth(1).is_some_and(|folder| same(folder, last));
    let module = same(stem, last) && folders.len() <= parts.len() + 1;
    named || folder && parts.len() > 1 || module
}
