//! `find_references`: every mention of a symbol, file by file. The compiler's list where it is ready, else the graph's edges.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use index::model::{EdgeKind, Origin};
use index::snapshot::EdgeKinds;
use lsp::Place;
use serde::Serialize;

use super::pages::Pages;
use super::place::{self, Spot, located};
use super::{Compiler, Compilers, Standing, Writer, absolute, shown};
use crate::error::QuestionError;
use crate::kinds;
use crate::traverse::Direction;
use crate::workspace::{SymbolKey, Workspace};

located! {
    /// What is asked.
    FindReferences {
        /// Also where it is declared.
        include_declaration: Option<bool>,
        /// Rows per page, one per file (default 50).
        limit: Option<u32>,
        /// next_cursor of the page before.
        cursor: Option<String>,
    }
}

/// Every mention of a symbol.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct References {
    /// What was understood: path, line and column.
    pub of: String,
    /// Where the answer comes from.
    #[serde(flatten)]
    pub standing: Standing,
    /// Mentions in all.
    pub total: u64,
    /// Whether rows were left out.
    pub truncated: bool,
    /// For the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// One row per file.
    pub references: Vec<InFile>,
    /// How the mentions of the name add up to a plain word search, by the graph.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub account: Option<String>,
}

/// The mentions in one file.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct InFile {
    /// The file.
    pub path: String,
    /// `line:column` of each, in order.
    pub at: Vec<String>,
    /// How they are known, where the answer mixes tiers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub origin: Option<&'static str>,
}

/// Most places of one row; a file with more has several.
const MAX_PLACES: usize = 100;

/// Places by file, each file with the origin of what it says.
pub(crate) type Mentions = BTreeMap<(PathBuf, Option<Origin>), Vec<Place>>;

/// Where a symbol is mentioned.
pub fn find_references(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    ask: &FindReferences,
) -> Result<References, QuestionError> {
    let spot = place::find(workspace, ask.pointer())?;
    let pages = Pages::of(workspace, ask.limit, ask.cursor.as_deref(), 50)?;
    let with_declaration = ask.include_declaration.unwrap_or(false);
    let (mentions, standing) = mentions(workspace, compilers, &spot, with_declaration, ask.patience()?)?;
    answer(workspace, &spot, mentions, standing, &pages)
}

/// Every mention, from the best tier at hand.
pub(crate) fn mentions(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    spot: &Spot,
    with_declaration: bool,
    wait: super::Wait,
) -> Result<(Mentions, Standing), QuestionError> {
    let repository = &workspace.repositories()[spot.repository];
    let asked = compilers.for_file(repository, &spot.path, &spot.language, wait);
    let failed = match asked {
        Ok(compiler) => match by_compiler(workspace, compilers, &compiler, spot, with_declaration) {
            Ok(found) => return Ok(found),
            Err(why) => why,
        },
        Err(why) => why,
    };
    let key = spot.symbol(workspace)?;
    Ok((
        by_graph(workspace, key, with_declaration),
        Standing::graph(workspace, failed),
    ))
}

/// What the server says; kept, where it knows the whole project.
pub(crate) fn by_compiler(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    compiler: &Compiler,
    spot: &Spot,
    with_declaration: bool,
) -> Result<(Mentions, Standing), String> {
    let repository = &workspace.repositories()[spot.repository];
    let path = absolute(repository, &spot.path);
    // Servers differ in what they leave out when asked from a mention, so they are asked from the definition.
    let (path, place) = match spot.is_definition(workspace) {
        true => (path, spot.place),
        false => at_definition(workspace, compiler, &path, spot),
    };
    let found = compiler
        .server
        .references(&path, place, with_declaration, compiler.deadline)
        .map_err(|error| error.to_string())?;
    let mut mentions = Mentions::new();
    for location in found {
        mentions
            .entry((location.path, None))
            .or_default()
            .push(location.range.start);
    }
    let mut standing = Standing::compiler(compiler, workspace);
    let by_graph = match spot.symbols.first() {
        Some(key) => by_graph(workspace, *key, with_declaration),
        None => Mentions::new(),
    };
    if compiler.partial.is_some() {
        // Of the files that the server has not read, the graph knows more than nothing.
        let known: Vec<PathBuf> = mentions.keys().map(|(path, _)| path.clone()).collect();
        let mut marked: Mentions = mentions
            .into_iter()
            .map(|((path, _), places)| ((path, Some(Origin::LspResolved)), places))
            .collect();
        marked.extend(by_graph.into_iter().filter(|((path, _), _)| !known.contains(path)));
        return Ok((marked, standing));
    }
    // The declaration is no mention.
    let declared = usize::from(with_declaration);
    if count(&mentions) <= declared && count(&by_graph) > declared {
        // An empty list does not hide what the graph knows: values of unknown type are mentions to it and to no compiler.
        let said: Vec<(PathBuf, Place)> = flat(&mentions);
        let mut joined: Mentions = mentions
            .into_iter()
            .map(|((path, _), places)| ((path, Some(Origin::LspResolved)), places))
            .collect();
        let mut more = 0;
        for ((path, origin), mut places) in by_graph {
            places.retain(|place| !said.contains(&(path.clone(), *place)));
            more += places.len();
            if !places.is_empty() {
                joined.entry((path, origin)).or_default().extend(places);
            }
        }
        standing.complete = false;
        standing.remark(format!(
            "{} lists no mention; {more} are the graph's, on values whose type it does not know or in files that it does not read",
            compiler.server.name()
        ));
        return Ok((joined, standing));
    }
    let places = mentions
        .iter()
        .map(|((path, _), places)| (path.as_path(), places.as_slice()));
    compilers.memory.learn_mentions(repository, (&path, place), places);
    let listed: Vec<&PathBuf> = mentions.keys().map(|(path, _)| path).collect();
    let unlisted: Vec<&(PathBuf, Option<Origin>)> = by_graph
        .keys()
        .filter(|(path, origin)| *origin <= Some(Origin::AstResolved) && !listed.contains(&path))
        .collect();
    if let Some((first, _)) = unlisted.first() {
        standing.remark(format!(
            "the graph has mentions in {} more files, {} among them, possibly ones that the server does not read",
            unlisted.len(),
            shown(workspace, first).0
        ));
    }
    Ok((mentions, standing))
}

/// Where the one definition of what is mentioned at a place stands, opened; the place itself where there is no such.
fn at_definition(workspace: &Workspace, compiler: &Compiler, path: &Path, spot: &Spot) -> (PathBuf, Place) {
    let here = (path.to_path_buf(), spot.place);
    let Ok(found) = compiler.server.definition(path, spot.place, compiler.deadline) else {
        return here;
    };
    match found.as_slice() {
        [one] if shown(workspace, &one.path).1.is_some() => match compiler.server.prepare(&one.path, &spot.language) {
            Ok(()) => (one.path.clone(), one.range.start),
            Err(_) => here,
        },
        _ => here,
    }
}

/// What the graph knows, by edge.
pub(crate) fn by_graph(workspace: &Workspace, key: SymbolKey, with_declaration: bool) -> Mentions {
    let mut mentions = Mentions::new();
    let repository = &workspace.repositories()[key.repository];
    let snapshot = &repository.snapshot;
    // An override or a test is a relation, not a mention.
    let relations = EdgeKind::Contains | EdgeKind::Overrides | EdgeKind::Tests | EdgeKind::Provides;
    let kinds = EdgeKinds::ALL.without(relations | EdgeKind::Consumes);
    for edge in repository
        .edges(key.symbol, Direction::Incoming, kinds)
        .filter(|edge| edge.origin <= Origin::AstInferred)
    {
        let Some(from) = snapshot.symbol(edge.from) else {
            continue;
        };
        let file = (absolute(repository, from.path()), Some(edge.origin));
        mentions.entry(file).or_default().push(Place {
            line: edge.at.line,
            column: edge.at.column,
        });
    }
    if with_declaration && let Some(symbol) = workspace.symbol(key) {
        let at = symbol.name_at();
        let file = (absolute(repository, symbol.path()), Some(Origin::AstResolved));
        mentions.entry(file).or_default().push(Place {
            line: at.line,
            column: at.column,
        });
    }
    for places in mentions.values_mut() {
        places.sort_unstable();
        places.dedup();
    }
    mentions
}

fn flat(mentions: &Mentions) -> Vec<(PathBuf, Place)> {
    mentions
        .iter()
        .flat_map(|((path, _), places)| places.iter().map(|place| (path.clone(), *place)))
        .collect()
}

/// How many there are.
pub(crate) fn count(mentions: &Mentions) -> usize {
    mentions.values().map(Vec::len).sum()
}

fn answer(
    workspace: &Workspace,
    spot: &Spot,
    mentions: Mentions,
    standing: Standing,
    pages: &Pages<'_>,
) -> Result<References, QuestionError> {
    let total = count(&mentions);
    let mut chunks: Vec<(PathBuf, Option<Origin>, Vec<Place>)> = Vec::new();
    for ((path, origin), places) in mentions {
        chunks.extend(
            places
                .chunks(MAX_PLACES)
                .map(|places| (path.clone(), origin, places.to_vec())),
        );
    }
    let cut = pages.cut(&standing, chunks)?;
    let mut writer = Writer::new(workspace);
    let references = cut
        .rows
        .into_iter()
        .map(|(path, origin, places)| InFile {
            at: places.iter().map(|place| writer.place(&path, *place)).collect(),
            path: shown(workspace, &path).0,
            origin: origin.map(kinds::origin_name),
        })
        .collect();
    Ok(References {
        of: spot.shown(workspace),
        standing,
        total: total as u64,
        truncated: cut.truncated,
        next_cursor: cut.next_cursor,
        references,
        account: match spot.symbols.as_slice() {
            [one] => crate::account::line(workspace, *one),
            _ => None,
        },
    })
}
