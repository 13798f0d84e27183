//! A truth of one's own: calls that a compiler or a run of the program knows, compared with our edges.
//!
//! One JSON object a line. `{"path": "a.cs", "line": 10, "end_line": 12, "to_path": "b.cs", "to_line": 30, "to_name": "Find"}` says that
//! something between the lines 10 and 12 of `a.cs` calls `Find`, to which line 30 of `b.cs` belongs. Debug information knows statements, not
//! expressions, and bodies rather than names: hence ranges and lines inside. What is left out is not compared; without any `to_…` something
//! outside of the tree is called. Only lines that the file names are judged, so a part of the truth is enough.
//!
//! A trace of a run knows more: `"column"` is where the called name begins. Then only edges from that very name are judged, and only those that
//! end in a function: a trace has no word for the class or the variable that was named on the way. `docs/guide/accuracy.md` records one.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::io::BufRead;
use std::path::Path;

use anyhow::Context;
use index::model::{EdgeKind, FileId, Origin, ResolvedFile, SymbolRef, Target};
use index::tree::Tree;
use serde::{Deserialize, Serialize};
use syntax::facts::{Flags, Kind};
use terminal::failure::Failure;
use terminal::output::Output;

use super::tree::MemoryTree;
use super::{Overridden, Score, above, origin_name, ratio, shown};

/// A call that is known.
#[derive(Deserialize, PartialEq, Eq, PartialOrd, Ord, Clone)]
struct Known {
    path: String,
    line: u32,
    /// Where the called name begins, in bytes.
    #[serde(default)]
    column: Option<u32>,
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
    /// The calls whose lines show the name of what they call: the others run something that is not named there.
    named_calls: usize,
    named_found: usize,
    named_recall: f64,
    /// Calls from files that are not in the tree.
    elsewhere: usize,
    by_origin: BTreeMap<&'static str, Score>,
    by_confidence: BTreeMap<String, Score>,
    /// By origin, how many places have edges and at how many one of them is right.
    places: BTreeMap<&'static str, Places>,
}

#[derive(Serialize, Default)]
struct Places {
    found: usize,
    agreed: usize,
}

/// A call edge as it leaves its line.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ours {
    column: u32,
    symbol: SymbolRef,
    origin: Origin,
    confidence: u8,
}

/// Our calls by file and line.
type Lines = BTreeMap<(FileId, u32), Vec<Ours>>;

/// The calls among the edges; of several from one name to one symbol, the surest.
fn lines(resolved: &[ResolvedFile]) -> Lines {
    let mut lines = Lines::new();
    for (file, resolved) in (0..).zip(resolved) {
        for edge in &resolved.edges {
            if let (EdgeKind::Calls | EdgeKind::Instantiates, &Target::Symbol(symbol)) = (edge.kind, &edge.to) {
                let line = lines.entry((FileId(file), edge.at.line)).or_default();
                line.push(Ours {
                    column: edge.at.column,
                    symbol,
                    origin: edge.origin,
                    confidence: edge.confidence,
                });
            }
        }
    }
    for line in lines.values_mut() {
        line.sort_unstable();
        line.dedup_by_key(|ours| (ours.column, ours.symbol));
    }
    lines
}

/// What is shown, and from which files calls count.
pub(super) struct Shown<'a> {
    pub(super) misses: bool,
    pub(super) json: bool,
    pub(super) below: &'a str,
}

/// Reads the truth, compares and prints.
pub(super) fn compare(
    file: &Path,
    tree: &MemoryTree,
    resolved: &[ResolvedFile],
    overridden: &Overridden,
    shown: &Shown<'_>,
    output: &mut Output,
) -> Result<(), Failure> {
    let text = std::fs::File::open(file).with_context(|| format!("no truth `{}`", file.display()))?;
    let mut known = BTreeSet::new();
    for (number, line) in std::io::BufReader::new(text).lines().enumerate() {
        let line = line.with_context(|| format!("cannot read `{}`", file.display()))?;
        if !line.trim().is_empty() {
            let call: Known = serde_json::from_str(&line)
                .with_context(|| format!("line {} of `{}` is no call", number + 1, file.display()))?;
            if call.path.starts_with(shown.below) {
                known.insert(call);
            }
        }
    }
    let mut listed = String::new();
    let report = judge(&known, tree, resolved, overridden, &mut listed)?;
    if shown.misses {
        output.text(&listed);
    }
    if shown.json {
        return output.json(&report);
    }
    output.line(format!(
        "{} files; recall {:.3} ({}/{} calls), of what is named there {:.3} ({}/{}); {} calls from files that are not in the tree",
        report.files,
        report.recall,
        report.found,
        report.calls,
        report.named_recall,
        report.named_found,
        report.named_calls,
        report.elsewhere
    ));
    for (name, score) in &report.by_origin {
        let Places { found, agreed } = report.places[name];
        let places = format!("one of a place's right {:.3} ({agreed}/{found})", ratio(agreed, found));
        output.line(format!("{name:<14} {}, {places}", plain(score)));
    }
    for (name, score) in &report.by_confidence {
        output.line(format!("{name:<18} {}", plain(score)));
    }
    Ok(())
}

fn plain(score: &Score) -> String {
    format!(
        "precision {:.3} ({}/{}), with overrides {:.3}",
        ratio(score.agreed, score.found),
        score.agreed,
        score.found,
        ratio(score.agreed + score.overrides, score.found),
    )
}

fn judge(
    known: &BTreeSet<Known>,
    tree: &MemoryTree,
    resolved: &[ResolvedFile],
    overridden: &Overridden,
    misses: &mut String,
) -> anyhow::Result<Report> {
    let mut report = Report::default();
    let ours = lines(resolved);
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
        let named = call.to_name.as_deref().is_some_and(|name| {
            let before = call.line.saturating_sub(1) as usize;
            let mut lines = tree.text(file).lines().skip(before).take(call.lines().count());
            lines.any(|line| is_written(line, name))
        });
        report.calls += 1;
        report.named_calls += usize::from(named);
        let mut here = call.lines().filter_map(|line| ours.get(&(file, line))).flatten();
        if here.any(|ours| is_meant(call, ours.symbol, tree)) {
            report.found += 1;
            report.named_found += usize::from(named);
        } else {
            let (path, name) = (call.to_path.as_deref(), call.to_name.as_deref());
            let to = format!("{}::{}", path.unwrap_or("?"), name.unwrap_or("?"));
            let note = if named { "" } else { " (not named there)" };
            writeln!(misses, "only theirs {to} <- {}:{}{note}", call.path, call.line)?;
        }
    }
    for (place, calls) in &judged {
        let mut right: BTreeMap<(Origin, u32), bool> = BTreeMap::new();
        for ours in ours.get(place).into_iter().flatten() {
            let Some(verdict) = verdict(*ours, calls, tree, overridden) else {
                continue;
            };
            let agreed = verdict == Verdict::Right;
            let origin = origin_name(ours.origin);
            let confidence = format!("{origin} {:.2}", f64::from(ours.confidence) / 100.0);
            let by_origin = report.by_origin.entry(origin).or_default();
            let by_confidence = report.by_confidence.entry(confidence.clone()).or_default();
            for score in [by_origin, by_confidence] {
                score.found += 1;
                score.agreed += usize::from(agreed);
                score.overrides += usize::from(verdict == Verdict::Overrides);
            }
            *right.entry((ours.origin, ours.column)).or_default() |= agreed;
            if !agreed {
                let (to, from) = (shown(ours.symbol, tree), tree.path(place.0));
                let note = if verdict == Verdict::Overrides {
                    ", overrides"
                } else {
                    ""
                };
                writeln!(misses, "only ours   {to} <- {from}:{} ({confidence}{note})", place.1)?;
            }
        }
        for ((origin, _), agreed) in right {
            let places = report.places.entry(origin_name(origin)).or_default();
            places.found += 1;
            places.agreed += usize::from(agreed);
        }
    }
    report.files = files.len();
    report.recall = ratio(report.found, report.calls);
    report.named_recall = ratio(report.named_found, report.named_calls);
    Ok(report)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Right,
    /// What it overrides is called.
    Overrides,
    Wrong,
}

/// What the calls that are known of its line say of an edge; `None` if they are about other names of the line.
fn verdict(ours: Ours, calls: &[&Known], tree: &MemoryTree, overridden: &Overridden) -> Option<Verdict> {
    let about = |call: &&&Known| call.column.is_none_or(|column| column == ours.column);
    let calls: Vec<&&Known> = calls.iter().filter(about).collect();
    let by_statement = calls.iter().any(|call| call.column.is_none());
    if calls.is_empty() || !(by_statement || is_called(ours, &calls[0].path, calls[0].line, tree)) {
        return None;
    }
    let meant = |symbol: SymbolRef| {
        let mut inside = calls.iter().filter(|call| call.is_inside());
        inside.any(|call| is_meant(call, symbol, tree))
    };
    Some(if meant(ours.symbol) {
        Verdict::Right
    } else if above(overridden, ours.symbol).into_iter().any(meant) {
        Verdict::Overrides
    } else {
        Verdict::Wrong
    })
}

/// Whether an edge says what a call runs: not the type or variable that it names, nor what runs beside it without being written, such as
/// a getter that is read before or what enters a context.
fn is_called(ours: Ours, path: &str, line: u32, tree: &MemoryTree) -> bool {
    let facts = tree.facts(ours.symbol.file);
    let Some(definition) = ours.symbol.definition.map(|id| facts.definition(id)) else {
        return false;
    };
    let name = facts.text(definition.name);
    let function = matches!(
        definition.kind,
        Kind::Function | Kind::Method | Kind::Constructor | Kind::Lambda
    );
    let called = !name.starts_with("__") || ["__init__", "__new__", "__call__"].contains(&name);
    let text = tree.find(path).map_or("", |file| tree.text(file));
    let written = super::word_at(text, line.saturating_sub(1), ours.column) == name;
    function && (called || written) && !definition.flags.contains(Flags::GETTER)
}

/// Whether `name` is a word of the line.
fn is_written(line: &str, name: &str) -> bool {
    line.split(|c: char| !c.is_alphanumeric() && c != '_')
        .any(|word| word == name)
}

/// Whether a definition is what a known call calls. A constructor goes by the name of its type.
fn is_meant(call: &Known, symbol: SymbolRef, tree: &MemoryTree) -> bool {
    let facts = tree.facts(symbol.file);
    let Some(definition) = symbol.definition.map(|id| facts.definition(id)) else {
        return false;
    };
    let named = |wanted: &str| {
        // What has no name may be called anything.
        if definition.kind == Kind::Lambda {
            return true;
        }
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
        let resolved = tree.resolve();
        let (_, overridden) = super::super::gather(&tree, &resolved);
        let known = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut misses = String::new();
        let report = judge(&known, &tree, &resolved, &overridden, &mut misses).unwrap();
        assert_eq!((report.calls, report.found, report.elsewhere), (2, 1, 1), "{misses}");
        let resolved = &report.by_origin["ast_resolved"];
        assert_eq!((resolved.agreed, resolved.overrides), (1, 1), "{misses}");
        assert!(
            misses.contains("only ours   a.py:5::go <- a.py:10 (ast_resolved 0.98, overrides)"),
            "{misses}"
        );
    }
    #[test]
    fn a_trace_judges_only_functions_at_the_names_that_it_saw() {
        let directory = tempfile::tempdir().unwrap();
        let source = "class Cat:\n    def __init__(self): pass\n    def eat(self): pass\nclass Dog:\n    def eat(self): pass\n\n\
            def feed(animal): animal.eat()\nfeed(Cat()); feed(Dog())\nfeed(Cat()); feed(\"\")\n";
        std::fs::write(directory.path().join("a.py"), source).unwrap();
        let lines = [
            // Only a cat was fed, though the text says that dogs are as well.
            r#"{"path":"a.py","line":7,"column":25,"to_path":"a.py","to_line":3,"to_name":"eat"}"#,
            r#"{"path":"a.py","line":8,"column":0,"to_path":"a.py","to_line":7,"to_name":"feed"}"#,
            r#"{"path":"a.py","line":8,"column":5,"to_path":"a.py","to_line":2,"to_name":"__init__"}"#,
            // Something outside of the tree ran.
            r#"{"path":"a.py","line":9,"column":13}"#,
        ];
        let tree = MemoryTree::read(directory.path(), &["python"]).unwrap();
        let resolved = tree.resolve();
        let known = lines.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
        let mut misses = String::new();
        let report = judge(&known, &tree, &resolved, &Overridden::new(), &mut misses).unwrap();
        assert_eq!((report.calls, report.found), (3, 3), "{misses}");
        assert_eq!((report.named_calls, report.named_found), (2, 2), "{misses}");
        let resolved = &report.by_confidence["ast_resolved 0.98"];
        assert_eq!((resolved.agreed, resolved.found), (2, 3), "{misses}");
        let inferred = &report.by_confidence["ast_inferred 0.60"];
        assert_eq!((inferred.agreed, inferred.found), (1, 2), "{misses}");
        let places = &report.places["ast_inferred"];
        assert_eq!((places.agreed, places.found), (1, 1), "{misses}");
        assert_eq!(misses.lines().count(), 2, "{misses}");
    }
}
