//! Edits of one file, as someone makes them who works on what a pack shows: a line more, a line that is other, a new function, a
//! rename, a deletion. What a second question costs after each is counted, and what the client makes of the answer is compared
//! with the pack that a new client gets told.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context as _, anyhow};
use codeintel::Workspace;
use serde_json::{Value, json};
use server::tools::Services;
use terminal::failure::Failure;
use wire::answers::{ContextPack, PackDelta, with_word};
use wire::gcf::graph;

use super::tasks::Task;
use super::{ask, desk, indexed, tokens};

/// What is done to a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Kind {
    Insert,
    Alter,
    Add,
    Rename,
    Delete,
}

impl Kind {
    const ALL: [Kind; 5] = [Kind::Insert, Kind::Alter, Kind::Add, Kind::Rename, Kind::Delete];

    fn name(self) -> &'static str {
        match self {
            Kind::Insert => "a line more",
            Kind::Alter => "a line other",
            Kind::Add => "a new symbol",
            Kind::Rename => "a rename",
            Kind::Delete => "a deletion",
        }
    }
}

/// Tokens of the packs.
const BUDGET: u64 = 5_000;
/// What costs a larger part of the whole pack is shown with what was said.
const MOST_SHARE: f64 = 0.15;

/// Asks, edits a file of the pack and asks again, with each kind of edit in turn.
pub(super) fn deltas(tree: &Path, index: &Path, tasks: &[Task], most: usize, seed: u64) -> Result<Value, Failure> {
    let mut rows: Vec<Value> = Vec::new();
    let mut shares: BTreeMap<Kind, Vec<f64>> = BTreeMap::new();
    for number in 0..most {
        let kind = Kind::ALL[number % Kind::ALL.len()];
        // Another task and another place of its pack each time.
        let (task, place) = match seed {
            0 => (number, number / Kind::ALL.len()),
            _ => (scattered(seed, number, 0), scattered(seed, number, 1)),
        };
        let task = &tasks[task % tasks.len()];
        let services = Services::default();
        let workspace = indexed(tree, index)?;
        let whole = ask(&desk(&workspace, &services), &task.text, BUDGET, None)?;
        let base = read_pack(&whole)?;
        let Some(edit) = Edit::of(tree, &workspace, &base, kind, place) else {
            continue;
        };
        std::fs::write(tree.join(&edit.path), &edit.after)?;
        let asked = again(tree, index, task, &base, &services);
        std::fs::write(tree.join(&edit.path), &edit.before)?;
        let (said, full) = asked?;
        let (length, whole) = (tokens(&said), tokens(&full));
        let share = length as f64 / whole as f64;
        shares.entry(kind).or_default().push(share);
        let mut row = json!({
            "task": task.name, "edit": kind.name(), "symbol": edit.symbol, "path": edit.path, "tokens": length, "whole": whole,
            "share": share,
        });
        if share > MOST_SHARE {
            row["said"] = said.into();
        }
        rows.push(row);
    }
    indexed(tree, index)?;
    let all: Vec<f64> = shares.values().flatten().copied().collect();
    let kinds: Vec<Value> = shares
        .iter()
        .map(|(kind, shares)| {
            let mut row = summary(shares);
            row["edit"] = kind.name().into();
            row
        })
        .collect();
    let mut answer = summary(&all);
    answer["kinds"] = kinds.into();
    answer["rows"] = rows.into();
    Ok(answer)
}

fn summary(shares: &[f64]) -> Value {
    let mut sorted = shares.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = |share: f64| sorted.get(((sorted.len() as f64 * share) as usize).min(sorted.len().saturating_sub(1)));
    json!({
        "edits": sorted.len(), "mean": sorted.iter().sum::<f64>() / sorted.len().max(1) as f64,
        "p50": at(0.5), "p95": at(0.95), "most": sorted.last(),
        "above_15_percent": sorted.iter().filter(|share| **share > MOST_SHARE).count(),
    })
}

/// The answer to a client that holds `base`, and the one to a client that holds nothing. What the first then has must be the
/// pack that the answer is about.
fn again(
    tree: &Path,
    index: &Path,
    task: &Task,
    base: &ContextPack,
    services: &Services,
) -> Result<(Vec<String>, Vec<String>), Failure> {
    let workspace = indexed(tree, index)?;
    let wrong = |problem: &str| anyhow!("{}: {problem}", task.name);
    let said = ask(&desk(&workspace, services), &task.text, BUDGET, Some(&base.pack_root))?;
    if said[0].contains(" delta=true") {
        let delta = wire::decode(&said.concat()).map_err(|error| wrong(&error.to_string()))?;
        let delta: PackDelta = serde_json::from_value(delta)?;
        let applied = delta.apply(base).map_err(|error| wrong(&error.to_string()))?;
        // Asked for once more, everything must be as the client has it now.
        let check = ask(
            &desk(&workspace, services),
            &task.text,
            BUDGET,
            Some(&applied.pack_root),
        )?;
        if !check[0].contains(" unchanged=true") || check.len() > 1 {
            return Err(wrong("the client's pack is not the one that was meant").into());
        }
    }
    let full = ask(&desk(&workspace, &Services::default()), &task.text, BUDGET, None)?;
    Ok((said, full))
}

/// The pack that an answer says: its graph, and its sources.
pub(crate) fn read_pack(texts: &[String]) -> anyhow::Result<ContextPack> {
    let [graph, sources] = texts else {
        return Err(anyhow!("a pack without sources"));
    };
    let graph = graph::decode(graph).map_err(|error| anyhow!("{error}"))?;
    let numbers: Vec<u64> = (0..graph.symbols.len() as u64).collect();
    ContextPack::from_gcf(graph, &numbers, sources, |_, _| None).map_err(|error| anyhow!("{error}"))
}

/// A number that the seed, the edit and what is chosen decide (splitmix64).
fn scattered(seed: u64, number: usize, choice: u64) -> usize {
    let step = 0x9e37_79b9_7f4a_7c15u64;
    let mut mixed = seed.wrapping_add((number as u64 * 2 + choice + 1).wrapping_mul(step));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    // Half of it fits any usize.
    ((mixed ^ (mixed >> 31)) >> 32) as usize
}

/// One file before and after.
struct Edit {
    path: String,
    symbol: String,
    before: Vec<u8>,
    after: Vec<u8>,
}

impl Edit {
    fn of(tree: &Path, workspace: &Workspace, pack: &ContextPack, kind: Kind, place: usize) -> Option<Edit> {
        let snapshot = &workspace.repositories()[0].snapshot;
        let shown = pack.symbols.iter().filter_map(|symbol| snapshot.find(&symbol.id));
        let fits: Vec<_> = shown
            .filter(|view| {
                let span = view.span();
                !view.is_file() && span.end_line > span.start_line + 2 && view.name().len() > 2
            })
            .collect();
        let view = fits.get(place % fits.len().clamp(1, 12))?;
        let path = view.path().to_string();
        let before = std::fs::read(tree.join(&path))
            .with_context(|| format!("cannot read `{path}`"))
            .ok()?;
        let text = String::from_utf8(before.clone()).ok()?;
        let lines: Vec<&str> = text.split_inclusive('\n').collect();
        let (first, last) = (
            view.span().start_line as usize - 1,
            (view.span().end_line as usize).min(lines.len()),
        );
        let middle = first + (last - first) / 2;
        let other_name = format!("{}2nd", view.name());
        let join = |parts: &[&[&str]]| parts.concat().concat();
        let after = match kind {
            Kind::Insert => join(&[&lines[..middle], &["\n"], &lines[middle..]]),
            Kind::Alter => {
                let line = lines[middle].trim_end_matches('\n');
                let other = format!("{line} \n");
                join(&[&lines[..middle], &[&other], &lines[middle + 1..]])
            }
            Kind::Add => {
                let copy = with_word(&join(&[&lines[first..last]]), view.name(), &other_name);
                join(&[&lines[..last], &["\n", &copy], &lines[last..]])
            }
            Kind::Rename => with_word(&text, view.name(), &other_name),
            Kind::Delete => join(&[&lines[..first], &lines[last..]]),
        };
        (after != text).then(|| Edit {
            path,
            symbol: view.name().to_string(),
            before,
            after: after.into_bytes(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::scattered;

    #[test]
    fn a_seed_gives_the_same_edits_again_and_another_gives_others() {
        let edits = |seed| -> Vec<usize> { (0..20).map(|number| scattered(seed, number, 0) % 200).collect() };
        assert_eq!(edits(1), edits(1));
        assert_ne!(edits(1), edits(2));
        let mut distinct = edits(3);
        distinct.sort_unstable();
        distinct.dedup();
        assert!(distinct.len() > 15, "{distinct:?}");
    }
}
