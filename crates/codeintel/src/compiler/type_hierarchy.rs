//! `type_hierarchy`: what a type extends and what extends it, several steps in both directions.

use std::convert::Infallible;

use index::model::{EdgeKind, Origin};
use lsp::Hierarchy;
use serde::Serialize;

use super::levels::walk;
use super::pages::Pages;
use super::place::{self, located};
use super::{Compiler, Compilers, Standing, absolute, shown};
use crate::error::QuestionError;
use crate::kinds;
use crate::traverse::Direction;
use crate::workspace::{SymbolKey, Workspace};

located! {
    /// What is asked.
    TypeHierarchy {
        /// super, sub or both (default).
        direction: Option<String>,
        /// Steps at most (default 3).
        depth: Option<u32>,
        /// Rows per page (default 50).
        limit: Option<u32>,
        /// next_cursor of the page before.
        cursor: Option<String>,
    }
}

/// The types around a type.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Types {
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
    pub types: Vec<TypeRow>,
}

/// One type.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TypeRow {
    /// `super` or `sub`.
    pub direction: &'static str,
    /// Steps away.
    pub depth: u32,
    /// Name.
    pub name: String,
    /// type, interface, …
    pub kind: &'static str,
    /// Its file.
    pub path: String,
    /// Its first line.
    pub line: u32,
}

const MAX_DEPTH: u32 = 10;

/// The types around a type.
pub fn type_hierarchy(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    ask: &TypeHierarchy,
) -> Result<Types, QuestionError> {
    let spot = place::find(workspace, ask.pointer())?;
    let directions: &[&'static str] = match ask.direction.as_deref() {
        None | Some("both") => &["super", "sub"],
        Some("super") => &["super"],
        Some("sub") => &["sub"],
        Some(other) => {
            return Err(QuestionError::Argument {
                name: "direction",
                problem: format!("expected super, sub or both, not `{other}`"),
            });
        }
    };
    let pages = Pages::of(workspace, ask.limit, ask.cursor.as_deref(), 50)?;
    let depth = ask.depth.unwrap_or(3).clamp(1, MAX_DEPTH);
    let repository = &workspace.repositories()[spot.repository];
    let asked = compilers.for_file(repository, &spot.path, &spot.language, ask.patience()?);
    let path = absolute(repository, &spot.path);
    let answered = asked.and_then(|compiler| {
        let start = compiler
            .server
            .typed(&path, spot.place, compiler.deadline)
            .map_err(|error| error.to_string())?;
        if start.is_empty() {
            return Err(format!("{} knows no type at this place", compiler.server.name()));
        }
        let mut found = Vec::new();
        for direction in directions {
            found.extend(by_compiler(workspace, &compiler, &start, direction, depth)?);
        }
        Ok((found, Standing::compiler(&compiler, workspace)))
    });
    let (found, standing) = match answered {
        Ok(answered) => answered,
        Err(why) => {
            let key = spot.symbol(workspace)?;
            let found = directions
                .iter()
                .flat_map(|direction| by_graph(workspace, key, direction, depth));
            (found.collect(), Standing::graph(workspace, why))
        }
    };
    let cut = pages.cut(&standing, found)?;
    Ok(Types {
        of: spot.shown(workspace),
        standing,
        total: cut.total,
        truncated: cut.truncated,
        next_cursor: cut.next_cursor,
        types: cut.rows,
    })
}

fn by_compiler(
    workspace: &Workspace,
    compiler: &Compiler,
    start: &[Hierarchy],
    direction: &'static str,
    depth: u32,
) -> Result<Vec<TypeRow>, String> {
    let key = |item: &Hierarchy| (item.path.clone(), item.name_range.start);
    let reached = walk(start, depth, key, |item, _| {
        let related = match direction {
            "super" => compiler.server.supertypes(item, compiler.deadline),
            _ => compiler.server.subtypes(item, compiler.deadline),
        };
        related.map_err(|error| error.to_string())
    })?;
    let row = |(depth, other): (u32, Hierarchy)| TypeRow {
        direction,
        depth,
        kind: other.kind.word(),
        path: shown(workspace, &other.path).0,
        line: other.range.start.line,
        name: other.name,
    };
    Ok(reached.into_iter().map(row).collect())
}

fn by_graph(workspace: &Workspace, start: SymbolKey, direction: &'static str, depth: u32) -> Vec<TypeRow> {
    let kinds = EdgeKind::Extends | EdgeKind::Implements;
    let repository = &workspace.repositories()[start.repository];
    let way = match direction {
        "super" => Direction::Outgoing,
        _ => Direction::Incoming,
    };
    let reached = walk(
        &[start.symbol],
        depth,
        |symbol| *symbol,
        |&symbol, _| {
            let edges = repository.edges(symbol, way, kinds);
            let sure = edges.filter(|edge| edge.origin <= Origin::AstInferred);
            let others = sure.filter_map(|edge| match way {
                Direction::Outgoing => edge.to.symbol(),
                Direction::Incoming => Some(edge.from),
            });
            Ok::<_, Infallible>(others.collect())
        },
    );
    let row = |(depth, symbol)| {
        let view = repository.snapshot.symbol(symbol)?;
        Some(TypeRow {
            direction,
            depth,
            name: view.qualified_name(),
            kind: kinds::kind(view),
            path: workspace.path(start.repository, view.path()),
            line: view.span().start_line,
        })
    };
    reached.into_iter().flatten().filter_map(row).collect()
}
