//! `find_callers` and `call_hierarchy`: who calls a symbol and whom it calls, with the place of every call.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::path::PathBuf;

use index::model::{EdgeKind, Origin};
use index::snapshot::SymbolView;
use lsp::{Call, Hierarchy, Place};
use serde::Serialize;

use super::levels::walk;
use super::pages::Pages;
use super::place::{self, Spot, located};
use super::{Compiler, Compilers, Standing, Wait, Writer, absolute, shown};
use crate::error::QuestionError;
use crate::kinds;
use crate::traverse::Direction;
use crate::workspace::{SymbolKey, Workspace};

located! {
    /// What `find_callers` is asked.
    FindCallers {
        /// Calls away at most (default 1).
        depth: Option<u32>,
        /// Rows per page (default 50).
        limit: Option<u32>,
        /// next_cursor of the page before.
        cursor: Option<String>,
    }
}

located! {
    /// What `call_hierarchy` is asked.
    CallHierarchy {
        /// incoming, outgoing or both (default).
        direction: Option<String>,
        /// Calls away at most (default 1).
        depth: Option<u32>,
        /// Rows per page (default 50).
        limit: Option<u32>,
        /// next_cursor of the page before.
        cursor: Option<String>,
    }
}

/// Who calls whom.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Calls {
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
    /// Nearest first.
    pub calls: Vec<CallRow>,
}

/// One caller or callee.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallRow {
    /// `incoming` or `outgoing`.
    pub direction: &'static str,
    /// Calls away.
    pub depth: u32,
    /// Name.
    pub name: String,
    /// function, method, …
    pub kind: &'static str,
    /// Its file.
    pub path: String,
    /// Its first line.
    pub line: u32,
    /// `line:column` of the calls, in the caller's file.
    pub calls: Vec<String>,
}

/// Deepest hierarchy, and most symbols that a server is asked about.
const MAX_DEPTH: u32 = 5;
const MAX_ASKED: usize = 200;

/// A row before its places are written.
pub(crate) struct Found {
    pub(crate) direction: &'static str,
    pub(crate) depth: u32,
    pub(crate) name: String,
    pub(crate) kind: &'static str,
    pub(crate) path: PathBuf,
    pub(crate) line: u32,
    /// File and places of the calls.
    pub(crate) calls: (PathBuf, Vec<Place>),
}

/// Who calls a symbol.
pub fn find_callers(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    ask: &FindCallers,
) -> Result<Calls, QuestionError> {
    let spot = place::find(workspace, ask.pointer())?;
    let pages = Pages::of(workspace, ask.limit, ask.cursor.as_deref(), 50)?;
    let how = (&["incoming"][..], ask.depth, ask.patience()?);
    answer(workspace, compilers, &spot, &pages, how)
}

/// Who calls a symbol, and whom it calls.
pub fn call_hierarchy(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    ask: &CallHierarchy,
) -> Result<Calls, QuestionError> {
    let spot = place::find(workspace, ask.pointer())?;
    let directions: &[&'static str] = match ask.direction.as_deref() {
        None | Some("both") => &["incoming", "outgoing"],
        Some("incoming") => &["incoming"],
        Some("outgoing") => &["outgoing"],
        Some(other) => {
            return Err(QuestionError::Argument {
                name: "direction",
                problem: format!("expected incoming, outgoing or both, not `{other}`"),
            });
        }
    };
    let pages = Pages::of(workspace, ask.limit, ask.cursor.as_deref(), 50)?;
    let how = (directions, ask.depth, ask.patience()?);
    answer(workspace, compilers, &spot, &pages, how)
}

fn answer(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    spot: &Spot,
    pages: &Pages<'_>,
    (directions, depth, wait): (&[&'static str], Option<u32>, Wait),
) -> Result<Calls, QuestionError> {
    let depth = depth.unwrap_or(1).clamp(1, MAX_DEPTH);
    let (found, standing) = calls(workspace, compilers, spot, directions, depth, wait)?;
    let cut = pages.cut(&standing, found)?;
    let mut writer = Writer::new(workspace);
    let rows = cut
        .rows
        .into_iter()
        .map(|row| CallRow {
            direction: row.direction,
            depth: row.depth,
            calls: row
                .calls
                .1
                .iter()
                .map(|place| writer.place(&row.calls.0, *place))
                .collect(),
            name: row.name,
            kind: row.kind,
            path: shown(workspace, &row.path).0,
            line: row.line,
        })
        .collect();
    Ok(Calls {
        of: spot.shown(workspace),
        standing,
        total: cut.total,
        truncated: cut.truncated,
        next_cursor: cut.next_cursor,
        calls: rows,
    })
}

/// The rows, from the best tier at hand.
pub(crate) fn calls(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    spot: &Spot,
    directions: &[&'static str],
    depth: u32,
    wait: Wait,
) -> Result<(Vec<Found>, Standing), QuestionError> {
    let repository = &workspace.repositories()[spot.repository];
    let asked = compilers.for_file(repository, &spot.path, &spot.language, wait);
    let answered = asked.and_then(|compiler| {
        // What a server without the whole project knows of callers is less than the graph does.
        if let Some(partial) = &compiler.partial {
            return Err(partial.clone());
        }
        by_compiler(workspace, &compiler, spot, directions, depth)
    });
    match answered {
        Ok(answered) => Ok(answered),
        Err(why) => {
            let key = spot.symbol(workspace)?;
            let mut found = Vec::new();
            for direction in directions {
                found.extend(by_graph(workspace, key, direction, depth));
            }
            Ok((found, Standing::graph(workspace, why)))
        }
    }
}

fn by_compiler(
    workspace: &Workspace,
    compiler: &Compiler,
    spot: &Spot,
    directions: &[&'static str],
    depth: u32,
) -> Result<(Vec<Found>, Standing), String> {
    let repository = &workspace.repositories()[spot.repository];
    let path = absolute(repository, &spot.path);
    let server = &compiler.server;
    let start = server
        .callable(&path, spot.place, compiler.deadline)
        .map_err(|error| error.to_string())?;
    if start.is_empty() {
        return Err(format!("{} knows nothing to call at this place", server.name()));
    }
    let mut standing = Standing::compiler(compiler, workspace);
    let mut found = Vec::new();
    let mut asked = 0;
    for direction in directions {
        let key = |item: &Hierarchy| (item.path.clone(), item.name_range.start);
        walk(&start, depth, key, |item, away| {
            if asked == MAX_ASKED {
                if standing.complete {
                    standing.complete = false;
                    standing.remark(format!("stopped after {MAX_ASKED} symbols"));
                }
                return Ok(Vec::new());
            }
            asked += 1;
            let related = match *direction {
                "incoming" => server.incoming(item, compiler.deadline),
                _ => server.outgoing(item, compiler.deadline),
            };
            let related = related.map_err(|error| error.to_string())?;
            let others = related.iter().map(|call| call.other.clone()).collect();
            found.extend(
                related
                    .into_iter()
                    .map(|call| row(workspace, direction, away, call, item)),
            );
            Ok::<_, String>(others)
        })?;
    }
    Ok((found, standing))
}

/// The name with its owner and the kind that the graph has for what a server names: servers often leave the owner out.
fn known(workspace: &Workspace, item: &Hierarchy) -> Option<(String, &'static str)> {
    let (number, path) = shown(workspace, &item.path).1?;
    let file = workspace.repositories()[number].snapshot.find_file(&path)?;
    let at = item.name_range.start;
    let is_it = |symbol: &SymbolView<'_>| (symbol.name_at().line, symbol.name_at().column) == (at.line, at.column);
    let symbol = file.symbols().find(is_it)?;
    Some((symbol.qualified_name(), kinds::kind(symbol)))
}

fn row(workspace: &Workspace, direction: &'static str, depth: u32, call: Call, item: &Hierarchy) -> Found {
    let file = if direction == "incoming" {
        &call.other.path
    } else {
        &item.path
    };
    let (name, kind) = known(workspace, &call.other).unwrap_or((call.other.name, call.other.kind.word()));
    Found {
        direction,
        depth,
        calls: (file.clone(), call.at.iter().map(|range| range.start).collect()),
        name,
        kind,
        line: call.other.range.start.line,
        path: call.other.path,
    }
}

fn by_graph(workspace: &Workspace, start: SymbolKey, direction: &'static str, depth: u32) -> Vec<Found> {
    let kinds = EdgeKind::Calls | EdgeKind::Instantiates;
    let repository = &workspace.repositories()[start.repository];
    let snapshot = &repository.snapshot;
    let incoming = direction == "incoming";
    let way = match direction {
        "incoming" => Direction::Incoming,
        _ => Direction::Outgoing,
    };
    let mut found = Vec::new();
    let reached = walk(
        &[start.symbol],
        depth,
        |symbol| *symbol,
        |&symbol, away| {
            let mut others: BTreeMap<_, Vec<Place>> = BTreeMap::new();
            let edges = repository.edges(symbol, way, kinds);
            for edge in edges.filter(|edge| edge.origin <= Origin::AstInferred) {
                let other = if incoming { Some(edge.from) } else { edge.to.symbol() };
                let Some(other) = other else { continue };
                others.entry(other).or_default().push(Place {
                    line: edge.at.line,
                    column: edge.at.column,
                });
            }
            for (&other, places) in &mut others {
                let Some(view) = snapshot.symbol(other) else { continue };
                places.sort_unstable();
                places.dedup();
                let caller = if incoming { Some(view) } else { snapshot.symbol(symbol) };
                found.push(Found {
                    direction,
                    depth: away,
                    name: view.qualified_name(),
                    kind: kinds::kind(view),
                    path: absolute(repository, view.path()),
                    line: view.span().start_line,
                    calls: (
                        absolute(repository, caller.map_or("", |caller| caller.path())),
                        places.clone(),
                    ),
                });
            }
            Ok::<_, Infallible>(others.into_keys().collect())
        },
    );
    // Only the rows on the way are wanted, and a walk through the graph cannot fail.
    drop(reached);
    found
}
