//! `cross_repo`: who in the other repositories of the workspace uses a symbol.
//!
//! The links between repositories say it: an external symbol of one whose package another is, and the two sides of a contract.
//! Namesakes from other packages are shown only if asked for.

use std::collections::BTreeMap;

use index::snapshot::{EdgeEnd, EdgeKinds, ExternalId};
use lsp::Place;
use serde::Serialize;

use super::place::{self, located};
use super::{Compilers, Standing, Writer, absolute};
use crate::error::QuestionError;
use crate::kinds;
use crate::page::{self, Page};
use crate::workspace::{SymbolKey, Workspace};

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
    /// The package that it was taken from; `contract` where a route, a topic or a method is used by its name.
    pub package: String,
    /// How it is known: `text_matched` where only the name agrees.
    pub origin: &'static str,
}

/// Who in other repositories uses a symbol.
pub fn cross_repo(workspace: &Workspace, _: Compilers<'_>, ask: &CrossRepo) -> Result<Uses, QuestionError> {
    let spot = place::find(workspace, ask.pointer())?;
    // Nothing is waited for, but a wrong word is still wrong.
    ask.patience()?;
    let page = Page::of(workspace, ask.limit, ask.cursor.as_deref(), 50)?;
    let key = spot.symbol(workspace)?;
    let mut found = Found::default();
    let linked: &[(usize, ExternalId)] = workspace.cross_links().map_or(&[], |links| links.externals(key));
    for &(number, external) in linked {
        found.external(workspace, number, external, None);
    }
    for &consumer in workspace.contract_links().map_or(&[][..], |links| links.consumers(key)) {
        if consumer.repository != key.repository {
            found.contract(workspace, consumer);
        }
    }
    if ask.include_namesakes.unwrap_or(false) {
        for (number, external) in namesakes(workspace, key) {
            if !linked.contains(&(number, external)) {
                found.external(workspace, number, external, Some("text_matched"));
            }
        }
    }
    let mut writer = Writer::new(workspace);
    let mut uses = Vec::new();
    for ((number, file, package, origin), mut places) in found.places {
        let repository = &workspace.repositories()[number];
        places.sort_unstable();
        places.dedup();
        let on_disk = absolute(repository, &file);
        uses.push(Use {
            repo: repository.name.clone(),
            path: workspace.path(number, &file),
            at: places.iter().map(|place| writer.place(&on_disk, *place)).collect(),
            package,
            origin,
        });
    }
    uses.sort();
    let why = match workspace.repositories().len() {
        0 | 1 => "there is no other repository in this workspace".to_string(),
        _ => "by package and contract; language servers know one repository each".to_string(),
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

/// Uses by repository, file, package and origin.
#[derive(Default)]
struct Found {
    places: BTreeMap<(usize, String, String, &'static str), Vec<Place>>,
}

impl Found {
    /// Every mention of an external of a repository.
    fn external(&mut self, workspace: &Workspace, number: usize, external: ExternalId, origin: Option<&'static str>) {
        let snapshot = &workspace.repositories()[number].snapshot;
        let name = snapshot.external(external);
        let package = name.split_once("::").map_or(name, |(package, _)| package);
        for edge in snapshot.incoming(EdgeEnd::External(external), EdgeKinds::ALL) {
            let Some(from) = snapshot.symbol(edge.from) else {
                continue;
            };
            let origin = origin.unwrap_or_else(|| kinds::origin_name(edge.origin));
            let row = (number, from.path().to_string(), package.to_string(), origin);
            self.places.entry(row).or_default().push(Place {
                line: edge.at.line,
                column: edge.at.column,
            });
        }
    }

    /// A symbol that uses what is provided under a name.
    fn contract(&mut self, workspace: &Workspace, consumer: SymbolKey) {
        let Some(symbol) = workspace.symbol(consumer) else {
            return;
        };
        let at = symbol.name_at();
        let row = (
            consumer.repository,
            symbol.path().to_string(),
            "contract".to_string(),
            "ast_inferred",
        );
        self.places.entry(row).or_default().push(Place {
            line: at.line,
            column: at.column,
        });
    }
}

/// Externals of other repositories with the symbol's name, whatever their package.
fn namesakes(workspace: &Workspace, key: SymbolKey) -> Vec<(usize, ExternalId)> {
    let Some(symbol) = workspace.symbol(key) else {
        return Vec::new();
    };
    let qualified = symbol.qualified_name();
    let mut found = Vec::new();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        if number == key.repository {
            continue;
        }
        let of_package = |name: &str| name.rsplit_once("::").map(|(_, member)| member.to_string());
        let named = repository
            .snapshot
            .externals()
            .filter(|(_, name)| of_package(name).is_some_and(|member| member == qualified || member == symbol.name()));
        found.extend(named.map(|(external, _)| (number, external)));
    }
    found
}
