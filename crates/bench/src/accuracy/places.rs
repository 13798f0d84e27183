//! `lacon bench accuracy --calls N` and `--mentions N`: random places where something is called or else mentioned, and what a server
//! says that they mean.
//!
//! Call hierarchies of servers leave calls out; where a name is defined is what servers know best. So each call of the sample is one
//! question ("definition of this name"), and its answer judges both what we miss at that place and every edge that we have there.

mod judge;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::Context;
use index::model::{EdgeKind, FileId, ResolvedFile};
use index::tree::Tree;
use serde::{Deserialize, Serialize};
use syntax::facts::{Position, Role};
use terminal::failure::Failure;
use terminal::output::Output;

use self::judge::Judge;
use super::server::{CallSite, Server, column_in_units};
use super::tree::MemoryTree;
use super::{Overridden, Score, rank};

/// What is sampled, and how the server is asked.
pub(super) struct Plan<'a> {
    pub(super) count: usize,
    pub(super) what: What,
    pub(super) seed: u64,
    pub(super) below: &'a str,
    pub(super) command: &'a [String],
    pub(super) settle: Duration,
    pub(super) patience: Duration,
    /// Where answers are kept from one run to the next.
    pub(super) answers: Option<&'a PathBuf>,
    pub(super) misses: bool,
    pub(super) json: bool,
}

/// Which places are taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum What {
    /// Calls, of functions, types and macros.
    Calls,
    /// What is read, written, named as a type, inherited from or decorated with.
    Mentions,
}

impl What {
    fn takes(self, role: Role) -> bool {
        match role {
            Role::Call | Role::Instantiate | Role::Macro => self == What::Calls,
            Role::Read | Role::Write | Role::Type | Role::Inherit | Role::Decorate => self == What::Mentions,
            Role::Implicit => false,
        }
    }

    fn judges(self, kind: EdgeKind) -> bool {
        match kind {
            EdgeKind::Calls | EdgeKind::Instantiates => self == What::Calls,
            EdgeKind::References | EdgeKind::Reads | EdgeKind::Writes | EdgeKind::Decorated => self == What::Mentions,
            _ => false,
        }
    }

    fn name(self) -> &'static str {
        match self {
            What::Calls => "calls",
            What::Mentions => "mentions",
        }
    }
}

/// A place where something is called or mentioned.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
struct Place {
    file: FileId,
    at: Position,
}

/// An answer as it is kept: one JSON object a line.
#[derive(Serialize, Deserialize)]
struct Kept {
    path: String,
    line: u32,
    column: u32,
    /// Missing if the server failed.
    targets: Option<Vec<CallSite>>,
}

/// By path, line and column.
type Answers = BTreeMap<(String, u32, u32), Option<Vec<CallSite>>>;

#[derive(Serialize, Default)]
struct Report {
    files: usize,
    /// How many places there are.
    calls: usize,
    /// Those of which the server names something in the tree.
    inside: usize,
    outside: usize,
    silent: usize,
    unknown: usize,
    agreed: usize,
    /// Misses at which we name another symbol; of these, at how many it overrides what is meant.
    other: usize,
    other_overrides: usize,
    /// Misses at which we name nothing of the tree.
    nothing: usize,
    recall: f64,
    by_origin: BTreeMap<&'static str, Score>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    misses: Vec<Miss>,
}

/// One difference.
#[derive(Serialize)]
struct Miss {
    /// `nothing`, `other`, how an edge of ours is known that is not what the server says, or `unjudged` where it names no function.
    what: &'static str,
    path: String,
    line: u32,
    column: u32,
    ours: Vec<String>,
    theirs: Vec<String>,
    /// The line.
    source: String,
}

/// Samples, asks, compares and prints.
pub(super) fn compare(
    plan: &Plan<'_>,
    root: &Path,
    tree: &MemoryTree,
    resolved: &[ResolvedFile],
    overridden: &Overridden,
    output: &mut Output,
) -> Result<(), Failure> {
    let places = sample(tree, plan);
    let answers = ask(plan, root, tree, &places)?;
    let judge = Judge::new(plan.what, root, tree, resolved, overridden);
    let mut report = judge.judge(&places, &answers);
    if plan.misses && !plan.json {
        output.text(listed(&report.misses));
    }
    if !plan.misses {
        report.misses.clear();
    }
    if plan.json {
        return output.json(&report);
    }
    output.line(format!(
        "{} files, {} {}: the server names something of the project at {}, something outside at {}, no symbol at {}, nothing at {}",
        report.files, report.calls, plan.what.name(), report.inside, report.outside, report.silent, report.unknown
    ));
    output.line(format!(
        "recall         {:.3} ({}/{}); missed: {} have another edge ({} of them to what overrides it), {} have none",
        report.recall, report.agreed, report.inside, report.other, report.other_overrides, report.nothing
    ));
    for (name, score) in &report.by_origin {
        output.line(format!("{name:<14} {}", score.precision()));
    }
    Ok(())
}

/// The first `plan.count` places in an order that depends on seed, paths and positions alone.
fn sample(tree: &MemoryTree, plan: &Plan<'_>) -> Vec<Place> {
    let mut ranked = BTreeSet::new();
    for file in (0..tree.file_count() as u32).map(FileId) {
        let path = tree.path(file);
        if !path.starts_with(plan.below) {
            continue;
        }
        for reference in &tree.facts(file).references {
            if plan.what.takes(reference.role) {
                let at = reference.at;
                let name = format!("{} {path} {} {}", plan.seed, at.line, at.column);
                ranked.insert((rank(name.as_bytes()), Place { file, at }));
            }
        }
    }
    let mut places: Vec<Place> = ranked.into_iter().take(plan.count).map(|(_, place)| place).collect();
    places.sort_unstable();
    places
}

/// What the server says of every place; what is kept from earlier is not asked again.
fn ask(plan: &Plan<'_>, root: &Path, tree: &MemoryTree, places: &[Place]) -> anyhow::Result<Answers> {
    let mut answers = Answers::new();
    if let Some(file) = plan.answers.filter(|file| file.exists()) {
        let text = std::fs::read_to_string(file).with_context(|| format!("cannot read `{}`", file.display()))?;
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let kept: Kept =
                serde_json::from_str(line).with_context(|| format!("`{}` holds no answers", file.display()))?;
            answers.insert((kept.path, kept.line, kept.column), kept.targets);
        }
    }
    let unasked: Vec<&Place> = places
        .iter()
        .filter(|place| !answers.contains_key(&key(tree, place)))
        .collect();
    if unasked.is_empty() {
        return Ok(answers);
    }
    let mut server = Server::start(plan.command, root)?;
    // Some read a project when the first of its files is opened.
    let first = unasked[0].file;
    let path = root.join(tree.path(first));
    server.open(&path, tree.language(first), tree.text(first))?;
    server.settle(plan.settle)?;
    server.close(&path)?;
    for places in unasked.chunk_by(|left, right| left.file == right.file) {
        let file = places[0].file;
        let (path, text) = (root.join(tree.path(file)), tree.text(file));
        server.open(&path, tree.language(file), text)?;
        for place in places {
            let (line, column) = (place.at.line - 1, place.at.column);
            let units = column_in_units(text, line, column);
            let found = server.definitions(&path, line, units, plan.patience);
            answers.insert(key(tree, place), found.ok());
        }
        server.close(&path)?;
    }
    drop(server);
    if let Some(file) = plan.answers {
        let mut text = String::new();
        for ((path, line, column), targets) in answers.clone() {
            let kept = Kept {
                path,
                line,
                column,
                targets,
            };
            writeln!(text, "{}", serde_json::to_string(&kept)?)?;
        }
        std::fs::write(file, text).with_context(|| format!("cannot write `{}`", file.display()))?;
    }
    Ok(answers)
}

fn key(tree: &MemoryTree, place: &Place) -> (String, u32, u32) {
    (tree.path(place.file).to_string(), place.at.line, place.at.column)
}

fn listed(misses: &[Miss]) -> String {
    let mut text = String::new();
    for miss in misses {
        let ours = match miss.ours.as_slice() {
            [] => String::new(),
            ours => format!(", ours {}", ours.join(" ")),
        };
        // Writing to a string cannot fail.
        _ = writeln!(
            text,
            "{:<12} {}:{}:{} is {}{ours}\n             | {}",
            miss.what,
            miss.path,
            miss.line,
            miss.column,
            miss.theirs.join(" "),
            miss.source
        );
    }
    text
}

#[cfg(test)]
mod tests;
