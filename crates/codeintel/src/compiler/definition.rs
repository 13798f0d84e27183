//! `go_to_definition`, `type_definition` and `implementation`: where what stands somewhere comes from, or goes to.

use std::path::Path;

use index::model::EdgeKind;
use index::snapshot::EdgeKinds;
use lsp::{Location, Place, Range, RequestError, Server};
use serde::Serialize;

use super::pages::Pages;
use super::place::{self, Spot, located};
use super::{Compilers, Standing, Writer, absolute, shown};
use crate::error::QuestionError;
use crate::workspace::{SymbolKey, Workspace};

located! {
    /// What is asked.
    GoTo {
        /// Places per page (default 50).
        limit: Option<u32>,
        /// next_cursor of the page before.
        cursor: Option<String>,
    }
}

/// The places that were found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Targets {
    /// What was understood: path, line and column.
    pub of: String,
    /// Where the answer comes from.
    #[serde(flatten)]
    pub standing: Standing,
    /// Places in all.
    pub total: u64,
    /// Whether places were left out.
    pub truncated: bool,
    /// For the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// The places.
    pub places: Vec<Target>,
}

/// One place.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Target {
    /// The file; absolute where it is outside of the workspace.
    pub path: String,
    /// 1-based.
    pub line: u32,
    /// 1-based, in characters.
    pub column: u32,
    /// The line as written.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub text: String,
}

type AskServer = fn(&Server, &Path, Place, std::time::Instant) -> Result<Vec<Location>, RequestError>;
type AskGraph = fn(&Workspace, SymbolKey) -> Vec<SymbolKey>;

/// Where it is defined.
pub fn go_to_definition(workspace: &Workspace, compilers: Compilers<'_>, ask: &GoTo) -> Result<Targets, QuestionError> {
    go(
        workspace,
        compilers,
        ask,
        (Server::definition, |_, key| vec![key]),
        false,
    )
}

/// Where its type is defined.
pub fn type_definition(workspace: &Workspace, compilers: Compilers<'_>, ask: &GoTo) -> Result<Targets, QuestionError> {
    // Of a value's type the graph knows what its declaration mentions.
    let by_graph: AskGraph = |workspace, key| {
        let is_type = |key: &SymbolKey| {
            let kind = workspace.symbol(*key).map(|symbol| symbol.kind());
            kind.is_some_and(|kind| matches!(crate::kinds::kind_name(kind), "type" | "interface"))
        };
        if is_type(&key) {
            return vec![key];
        }
        related(workspace, key, EdgeKind::References.into(), false)
            .into_iter()
            .filter(is_type)
            .collect()
    };
    go(workspace, compilers, ask, (Server::type_definition, by_graph), false)
}

/// What implements or overrides it.
pub fn implementation(workspace: &Workspace, compilers: Compilers<'_>, ask: &GoTo) -> Result<Targets, QuestionError> {
    let by_graph: AskGraph = |workspace, key| {
        let kinds = EdgeKind::Implements | EdgeKind::Extends | EdgeKind::Overrides;
        related(workspace, key, kinds, true)
    };
    go(workspace, compilers, ask, (Server::implementation, by_graph), true)
}

fn go(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    ask: &GoTo,
    (ask_server, ask_graph): (AskServer, AskGraph),
    learns: bool,
) -> Result<Targets, QuestionError> {
    let spot = place::find(workspace, ask.pointer())?;
    let pages = Pages::of(workspace, ask.limit, ask.cursor.as_deref(), 50)?;
    let repository = &workspace.repositories()[spot.repository];
    let path = absolute(repository, &spot.path);
    let asked = compilers.for_file(repository, &spot.path, &spot.language, ask.patience()?);
    let answered = asked.and_then(|compiler| {
        let found = ask_server(&compiler.server, &path, spot.place, compiler.deadline);
        let found = found.map_err(|error| error.to_string())?;
        if learns && compiler.partial.is_none() && spot.is_definition(workspace) {
            let places = found
                .iter()
                .map(|location| (location.path.as_path(), location.range.start));
            compilers
                .memory
                .learn_implementers(repository, (&spot.path, spot.place), places);
        }
        Ok((found, Standing::compiler(&compiler, workspace)))
    });
    let (found, standing) = match answered {
        // A server that finds nothing where the graph knows something may not read that file.
        Ok((found, mut standing)) => {
            if found.is_empty() && !spot.symbols.is_empty() {
                standing.remark("the server knows nothing at this place".to_string());
            }
            (found, standing)
        }
        Err(why) => (by_graph(workspace, &spot, ask_graph), Standing::graph(workspace, why)),
    };
    let mut writer = Writer::new(workspace);
    let cut = pages.cut(&standing, found)?;
    let places = cut
        .rows
        .iter()
        .map(|location| Target {
            path: shown(workspace, &location.path).0,
            line: location.range.start.line,
            column: writer.column(&location.path, location.range.start),
            text: writer.line(&location.path, location.range.start.line),
        })
        .collect();
    Ok(Targets {
        of: spot.shown(workspace),
        standing,
        total: cut.total,
        truncated: cut.truncated,
        next_cursor: cut.next_cursor,
        places,
    })
}

fn by_graph(workspace: &Workspace, spot: &Spot, ask_graph: AskGraph) -> Vec<Location> {
    let mut keys: Vec<SymbolKey> = spot.symbols.iter().flat_map(|key| ask_graph(workspace, *key)).collect();
    keys.sort_unstable();
    keys.dedup();
    let location = |key: SymbolKey| {
        let symbol = workspace.symbol(key)?;
        let at = symbol.name_at();
        let start = Place {
            line: at.line,
            column: at.column,
        };
        Some(Location {
            path: absolute(workspace.repository(key.repository)?, symbol.path()),
            range: Range { start, end: start },
        })
    };
    keys.into_iter().filter_map(location).collect()
}

fn related(workspace: &Workspace, key: SymbolKey, kinds: EdgeKinds, incoming: bool) -> Vec<SymbolKey> {
    let Some(repository) = workspace.repository(key.repository) else {
        return Vec::new();
    };
    let snapshot = &repository.snapshot;
    let of = |symbol| SymbolKey {
        repository: key.repository,
        symbol,
    };
    if incoming {
        snapshot.incoming(key.symbol, kinds).map(|edge| of(edge.from)).collect()
    } else {
        let edges = snapshot.outgoing(key.symbol, kinds);
        edges.filter_map(|edge| Some(of(edge.to.symbol()?))).collect()
    }
}
