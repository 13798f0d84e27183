//! `cross_repo`: who in the other repositories of the workspace uses a symbol.
//!
//! The links between repositories say it: an external symbol of one whose package another is, and the two sides of a contract.
//! Namesakes from other packages are shown only if asked for. A language server knows one repository, but often follows an import into
//! the next one (`replace` in `go.mod`, a path dependency): each use that it leads from to the symbol is confirmed by it.

use std::collections::{BTreeMap, BTreeSet};

use index::model::Origin;
use index::snapshot::{EdgeEnd, EdgeKinds, ExternalId};
use lsp::{Location, Place};
use serde::Serialize;

use super::pages::Pages;
use super::place::{self, located};
use super::{Compilers, Standing, Wait, Writer, absolute};
use crate::error::QuestionError;
use crate::kinds;
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
    /// How it is known: `lsp_resolved` where a server leads from there to the symbol, `text_matched` where only the name agrees.
    pub origin: &'static str,
}

/// Who in other repositories uses a symbol.
pub fn cross_repo(workspace: &Workspace, compilers: Compilers<'_>, ask: &CrossRepo) -> Result<Uses, QuestionError> {
    let spot = place::find(workspace, ask.pointer())?;
    let wait = ask.patience()?;
    let pages = Pages::of(workspace, ask.limit, ask.cursor.as_deref(), 50)?;
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
    let standing = found.confirm(workspace, compilers, key, wait);
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
    let cut = pages.cut(&standing, uses)?;
    Ok(Uses {
        of: spot.shown(workspace),
        standing,
        total: cut.total,
        truncated: cut.truncated,
        next_cursor: cut.next_cursor,
        uses: cut.rows,
    })
}

/// Most uses that servers are asked about.
const MAX_CONFIRMED: usize = 100;

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

impl Found {
    /// Asks the server of each repository where its uses lead, and marks those that lead to the symbol.
    fn confirm(&mut self, workspace: &Workspace, compilers: Compilers<'_>, of: SymbolKey, wait: Wait) -> Standing {
        let by_graph = |why: &str| Standing::graph(workspace, why.to_string());
        if workspace.repositories().len() < 2 {
            return by_graph("there is no other repository in this workspace");
        }
        let (Some(symbol), Some(home)) = (workspace.symbol(of), workspace.repository(of.repository)) else {
            return by_graph("by package and contract");
        };
        let (home, span) = (absolute(home, symbol.path()), symbol.span());
        let lines = span.start_line..=span.end_line;
        let (mut asked, mut confirmed, mut servers, mut missing) = (0, 0, BTreeSet::new(), BTreeSet::new());
        let mut all: usize = 0;
        for ((number, file, package, origin), places) in std::mem::take(&mut self.places) {
            all += places.len();
            let repository = &workspace.repositories()[number];
            let path = absolute(repository, &file);
            let language = repository.snapshot.find_file(&file).map_or("", |file| file.language());
            let compiler = compilers.for_file(repository, &file, language, wait);
            for place in places {
                let leads_here = match &compiler {
                    Ok(compiler) if asked < MAX_CONFIRMED => {
                        asked += 1;
                        let leads = compiler.server.definition(&path, place, compiler.deadline);
                        let leads = leads.unwrap_or_default();
                        let here = |end: &Location| end.path == home && lines.contains(&end.range.start.line);
                        leads.iter().any(here).then(|| compiler.server.name().to_string())
                    }
                    Ok(_) => None,
                    Err(why) => {
                        missing.insert(why.clone());
                        None
                    }
                };
                let origin = match leads_here {
                    Some(server) => {
                        confirmed += 1;
                        servers.insert(server);
                        kinds::origin_name(Origin::LspResolved)
                    }
                    None => origin,
                };
                let row = (number, file.clone(), package.clone(), origin);
                self.places.entry(row).or_default().push(place);
            }
        }
        if confirmed == 0 {
            let why = missing.into_iter().next();
            let why = why.unwrap_or_else(|| "language servers know one repository each".to_string());
            return by_graph(&format!("by package and contract; {why}"));
        }
        // Found by the graph in any case: a use that it does not see is not here.
        let note = format!("by package and contract; {confirmed} of {all} confirmed");
        Standing {
            server: Some(servers.into_iter().collect::<Vec<_>>().join(", ")),
            tier: if confirmed == all { "lsp" } else { "graph" },
            ..by_graph(&note)
        }
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
