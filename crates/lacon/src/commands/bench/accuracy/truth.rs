//! A truth of one's own: calls that a compiler or a run of the program knows, compared with our edges.
//!
//! One JSON object a line. `{"path": "a.cs", "line": 10, "end_line": 12, "to_path": "b.cs", "to_line": 30, "to_name": "Find"}` says that
//! something between the lines 10 and 12 of `a.cs` calls `Find`, to which line 30 of `b.cs` belongs. Debug information knows statements, not
//! expressions, and bodies rather than names: hence ranges and lines inside. What is left out is not compared; without any `to_…` something
//! outside of the tree is called. Only lines that the file names are judged, so a part of the truth is enough.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::BufRead;
use std::path::Path;

use anyhow::Context;
use index::model::{FileId, Origin, SymbolRef};
use index::tree::Tree;
use serde::{Deserialize, Serialize};
use syntax::facts::Kind;

use super::tree::MemoryTree;
use super::{Calls, Overridden, Score, above, origin_name, ratio};
use crate::failure::Failure;
use crate::output::Output;

/// A call that is known.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord, Clone)]
struct Known {
    path: String,
    line: u32,
    #[serde(default)]
    end_line: Option<u32>,
    #[serde(default)]
    to_path: Option<String>,
    #[serde(default)]
    to_line: Option<u32>,
    #[serde(default)]
    to_name: Option<String>,
}

impl Known {
    fn is_inside(&self) -> bool {
        self.to_path.is_some() || self.to_name.is_some()
    }

    fn lines(&self) -> std::ops::RangeInclusive<u32> {
        self.line..=self.end_line.unwrap_or(self.line).max(self.line)
    }
}

#[derive(Serialize, Default)]
struct Report {
    files: usize,
    calls: usize,
    found: usize,
    recall: f64,
    /// Calls from files that are not in the tree.
    elsewhere: usize,
    by_origin: BTreeMap<&'static str, Score>,
}

/// Reads the truth, compares and prints.
pub(super) fn compare(
    file: &Path,
    tree: &MemoryTree,
    calls: &Calls,
    overridden: &Overridden,
    (misses, json): (bool, bool),
    output: &mut Output,
) -> Result<(), Failure> {
    let text = std::fs::File::open(file).with_context(|| format!("no truth `{}`", file.display()))?;
    let mut known = BTreeSet::new();
    for (number, line) in std::io::BufReader::new(text).lines().enumerate() {
        let line = line.with_context(|| format!("cannot read `{}`", file.display()))?;
        if !line.trim().is_empty() {
            let call: Known = serde_json::from_str(&line)
                .with_context(|| format!("line {} of `{}` is no call", number + 1, file.display()))?;
            known.insert(call);
        }
    }
    let mut listed = String::new();
    let report = judge(&known, tree, calls, overridden, &mut listed)?;
    if misses {
        output.text(&listed);
    }
    if json {
        return output.json(&report);
    }
    output.line(format!(
        "{} files; recall {:.3} ({}/{} calls); {} calls from files that are not in the tree",
        report.files, report.recall, report.found, report.calls, report.elsewhere
    ));
    for (name, score) in &report.by_origin {
        output.line(format!("{name:<14} {}", score.precision()));
    }
    Ok(())
}

fn judge(
    known: &BTreeSet<Known>,
    tree: &MemoryTree,
    calls: &Calls,
    overridden: &Overridden,
    misses: &mut String,
) -> anyhow::Result<Report> {
    let mut report = Report::default();
    let mut ours: BTreeMap<(FileId, u32), BTreeMap<SymbolRef, Origin>> = BTreeMap::new();
    for (&symbol, sites) in calls {
        for ((path, line), (origin, _)) in sites {
            if let Some(file) = tree.find(path) {
                ours.entry((file, *line)).or_default().insert(symbol, *origin);
            }
        }
    }
    let mut judged: BTreeMap<(FileId, u32), Vec<&Known>> = BTreeMap::new();
    let mut files = BTreeSet::new();
    for call in known {
        let Some(file) = tree.find(&call.path) else {
            report.elsewhere += 1;
            continue;
        };
        files.insert(file);
        for line in call.lines() {
            judged.entry((file, line)).or_default().push(call);
        }
        if !call.is_inside() {
            continue;
        }
        report.calls += 1;
        let mut here = call.lines().filter_map(|line| ours.get(&(file, line))).flatten();
        if here.any(|(&symbol, _)| is_meant(call, symbol, tree)) {
            report.found += 1;
        } else {
            let (path, name) = (call.to_path.as_deref(), call.to_name.as_deref());
            let to = format!("{}::{}", path.unwrap_or("?"), name.unwrap_or("?"));
            writeln!(misses, "only theirs {to} <- {}:{}", call.path, call.line)?;
        }
    }
    for (place, calls) in &judged {
        for (&symbol, &origin) in ours.get(place).into_iter().flatten() {
            let meant = |symbol: SymbolRef| {
                calls
                    .iter()
                    .any(|call| call.is_inside() && is_meant(call, symbol, tree))
            };
            let agreed = meant(symbol);
            let overrides = !agreed && above(overridden, symbol).into_iter().any(meant);
            let score = report.by_origin.entry(origin_name(origin)).or_default();
            score.found += 1;
            score.agreed += usize::from(agreed);
            score.overrides += usize::from(overrides);
            if !agreed {
                let facts = tree.facts(symbol.file);
                let name = symbol.definition.map_or("", |id| facts.text(facts.definition(id).name));
                let (to, from) = (tree.path(symbol.file), tree.path(place.0));
                let note = if overrides { ", overrides" } else { "" };
                let origin = origin_name(origin);
                writeln!(
                    misses,
                    "only ours   {to}::{name} <- {from}:{} ({origin}{note})",
                    place.1
                )?;
            }
        }
    }
    report.files = files.len();
    report.recall = ratio(report.found, report.calls);
    Ok(report)
}

/// Whether a definition is what a known call calls. A constructor goes by the name of its type.
fn is_meant(call: &Known, symbol: SymbolRef, tree: &MemoryTree) -> bool {
    let facts = tree.facts(symbol.file);
    let Some(definition) = symbol.definition.map(|id| facts.definition(id)) else {
        return false;
    };
    let named = |wanted: &str| {
        let type_ = definition.parent.filter(|_| definition.kind == Kind::Constructor);
        let names = [Some(definition.name), type_.map(|type_| facts.definition(type_).name)];
        names.into_iter().flatten().any(|name| facts.text(name) == wanted)
    };
    let lines = definition.span.start_line..=definition.span.end_line;
    call.to_path
        .as_deref()
        .is_none_or(|path| path == tree.path(symbol.file))
        && call.to_line.is_none_or(|line| lines.contains(&line))
        && call.to_name.as_deref().is_none_or(named)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_are_judged_by_lines_names_and_overrides() {
        let directory = tempfile::tempdir().unwrap();
        let source = "class Base:\n    def go(self):\n        pass\nclass Heir(Base):\n    def go(self):\n        helper()\n\n\
            def helper():\n    Heir(\n    ).go()\n    print()\n";
        std::fs::write(directory.path().join("a.py"), source).unwrap();
        let truth = directory.path().join("truth.jsonl");
        let lines = [
            r#"{"path":"a.py","line":6,"to_path":"a.py","to_line":9,"to_name":"helper"}"#,
            // The statement has two lines, and the callee is known as what is overridden.
            r#"{"path":"a.py","line":9,"end_line":10,"to_path":"a.py","to_line":3}"#,
            r#"{"path":"a.py","line":11}"#,
            r#"{"path":"gone.py","line":1,"to_name":"x"}"#,
        ];
        std::fs::write(&truth, lines.join("\n")).unwrap();
        let tree = MemoryTree::read(directory.path(), &["python"]).unwrap();
        let (calls, overridden) = super::super::gather(&tree, &tree.resolve());
        let known = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut misses = String::new();
        let report = judge(&known, &tree, &calls, &overridden, &mut misses).unwrap();
        assert_eq!((report.calls, report.found, report.elsewhere), (2, 1, 1), "{misses}");
        let resolved = &report.by_origin["ast_resolved"];
        assert_eq!((resolved.agreed, resolved.overrides), (1, 1), "{misses}");
        assert!(
            misses.contains("only ours   a.py::go <- a.py:10 (ast_resolved, overrides)"),
            "{misses}"
        );
    }
}
