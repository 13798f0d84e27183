//! Call graphs of many small programs, one text file of cases per language, each with the calls that the language's
//! semantics allow.
//!
//! A case starts with `## name`; the program follows (`//- path` starts another file; the first is `main.<extension>`), then a
//! line `==`, then the expected edges as `caller > callee, callee`. `^` is the main file itself; a symbol of the main file is
//! its qualified name, one of another file is `path:name`, one of outside is `prefix:module::name`. All calls inside the tree
//! must be listed; calls to outside are compared only where the case lists one from the same caller. `- caller > callee`
//! is an edge known to be missing, `+ caller > callee` one known to be wrong: both fail once that is no longer so.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use crate::common::MemoryTree;
use index::model::{EdgeKind, FileId, SymbolRef, Target};
use syntax::facts::{Expression, Kind};

type Edge = (String, String);

#[derive(Default)]
struct Case<'t> {
    name: &'t str,
    files: Vec<(String, String)>,
    expected: BTreeSet<Edge>,
    missing: BTreeSet<Edge>,
    wrong: BTreeSet<Edge>,
}

fn parse<'t>(text: &'t str, extension: &str) -> Vec<Case<'t>> {
    let mut cases: Vec<Case> = Vec::new();
    let mut in_edges = false;
    for line in text.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            cases.push(Case {
                name,
                files: vec![(format!("main.{extension}"), String::new())],
                ..Case::default()
            });
            in_edges = false;
            continue;
        }
        let Some(case) = cases.last_mut() else { continue };
        if line == "==" {
            in_edges = true;
        } else if in_edges {
            if line.trim().is_empty() {
                continue;
            }
            let (set, line) = match line.split_at(2) {
                ("- ", rest) => (&mut case.missing, rest),
                ("+ ", rest) => (&mut case.wrong, rest),
                _ => (&mut case.expected, line),
            };
            let (from, targets) = line.split_once(" > ").unwrap_or_else(|| panic!("not an edge: {line}"));
            for to in targets.split(", ") {
                set.insert((from.trim().to_string(), to.trim().to_string()));
            }
        } else if let Some(path) = line.strip_prefix("//- ") {
            case.files.push((path.to_string(), String::new()));
        } else if let Some((_, text)) = case.files.last_mut() {
            text.push_str(line);
            text.push('\n');
        }
    }
    cases
}

fn found(case: &Case, main: &str) -> BTreeSet<Edge> {
    let tree = MemoryTree::new(case.files.iter().cloned());
    let resolved = tree.resolve();
    let name = |symbol: SymbolRef| {
        let name = qualified(&tree, symbol);
        match name.strip_prefix(main) {
            Some("") => "^".to_string(),
            Some(rest) => rest.trim_start_matches(':').to_string(),
            None => name,
        }
    };
    let mut found = BTreeSet::new();
    for (number, file) in resolved.iter().enumerate() {
        for edge in file.edges.iter().filter(|edge| edge.kind == EdgeKind::Calls) {
            let from = name(SymbolRef {
                file: FileId(number as u32),
                definition: edge.from,
            });
            let to = match &edge.to {
                Target::Symbol(symbol) => name(*symbol),
                Target::External(external) => {
                    let outside = |(known, target): &Edge| *known == from && target.contains("::");
                    if !case.expected.iter().chain(&case.missing).any(outside) {
                        continue;
                    }
                    external.to_string()
                }
            };
            found.insert((from, to));
        }
    }
    found
}

/// As the snapshot names symbols: owners that a definition names itself count, lambdas and classes without
/// a name around it do not.
fn qualified(tree: &MemoryTree, symbol: SymbolRef) -> String {
    let (path, _, facts) = &tree.files[symbol.file.0 as usize];
    let mut parts = Vec::new();
    let mut at = symbol.definition;
    while let Some(id) = at {
        let definition = facts.definition(id);
        if parts.is_empty() || definition.kind != Kind::Lambda {
            parts.push(facts.text(definition.name).to_string());
            let mut owner = definition.owner;
            while let Some(expression) = owner {
                owner = match *facts.expression(expression) {
                    Expression::Member { object, name } => {
                        let name = facts.text(name);
                        parts.extend((name != "prototype").then(|| name.to_string()));
                        Some(object)
                    }
                    Expression::Bound { binding, .. } => {
                        parts.push(facts.text(facts.bindings[binding.index()].name).to_string());
                        None
                    }
                    Expression::Free { name, .. } => {
                        parts.push(facts.text(name).to_string());
                        None
                    }
                    Expression::Generic { base: inner, .. } | Expression::Wrapped(inner) => Some(inner),
                    _ => None,
                };
            }
        }
        at = definition.parent;
    }
    if parts.is_empty() {
        return path.clone();
    }
    parts.retain(|part| !part.is_empty() && !part.starts_with("<class"));
    parts.reverse();
    format!("{path}:{}", parts.join("."))
}

fn check(text: &str, extension: &str, precision: f64, recall: f64) {
    let main = format!("main.{extension}");
    let mut problems = String::new();
    let (mut right, mut wrong, mut missing) = (0, 0, 0);
    for case in parse(text, extension) {
        let found = found(&case, &main);
        let should: BTreeSet<Edge> = case.expected.union(&case.missing).cloned().collect();
        right += found.intersection(&should).count();
        wrong += found.difference(&should).count();
        missing += should.difference(&found).count();
        let stated: BTreeSet<Edge> = case.expected.union(&case.wrong).cloned().collect();
        for (from, to) in stated.difference(&found) {
            writeln!(problems, "{}: missing {from} > {to}", case.name).unwrap();
        }
        for (from, to) in found.difference(&stated) {
            writeln!(problems, "{}: extra   {from} > {to}", case.name).unwrap();
        }
    }
    let share = |of: usize, others: usize| of as f64 / (of + others).max(1) as f64;
    let (p, r) = (share(right, wrong), share(right, missing));
    let summary =
        format!("{extension}: {right} right, {wrong} wrong, {missing} missing: precision {p:.3}, recall {r:.3}");
    eprintln!("{summary}");
    assert!(problems.is_empty(), "\n{problems}{summary}");
    assert!(p >= precision && r >= recall, "{summary}");
}

#[test]
fn python() {
    check(include_str!("call_graphs/python.txt"), "py", 0.95, 0.9);
}

#[test]
fn javascript() {
    check(include_str!("call_graphs/javascript.txt"), "js", 0.95, 0.9);
}

#[test]
fn java() {
    check(include_str!("call_graphs/java.txt"), "java", 0.95, 0.9);
}

#[test]
fn rust() {
    check(include_str!("call_graphs/rust.txt"), "rs", 0.95, 0.9);
}

/// From here on: programs that were written, with their edges, before any of them was run.
#[test]
fn python_second() {
    check(include_str!("call_graphs/second/python.txt"), "py", 0.95, 0.9);
}

#[test]
fn javascript_second() {
    check(include_str!("call_graphs/second/javascript.txt"), "js", 0.95, 0.9);
}

#[test]
fn java_second() {
    check(include_str!("call_graphs/second/java.txt"), "java", 0.95, 0.9);
}

#[test]
fn rust_second() {
    check(include_str!("call_graphs/second/rust.txt"), "rs", 0.95, 0.9);
}

/// The third set, written in the same way: more of what one program does with the values of another.
#[test]
fn python_third() {
    check(include_str!("call_graphs/third/python.txt"), "py", 0.95, 0.9);
}

#[test]
fn javascript_third() {
    check(include_str!("call_graphs/third/javascript.txt"), "js", 0.95, 0.9);
}

#[test]
fn java_third() {
    check(include_str!("call_graphs/third/java.txt"), "java", 0.95, 0.9);
}

#[test]
fn rust_third() {
    check(include_str!("call_graphs/third/rust.txt"), "rs", 0.95, 0.9);
}

/// The fourth set: one program for each way a value or a name may take, written before its first run as well.
#[test]
fn python_fourth() {
    check(include_str!("call_graphs/fourth/python.txt"), "py", 0.95, 0.9);
}

#[test]
fn javascript_fourth() {
    check(include_str!("call_graphs/fourth/javascript.txt"), "js", 0.95, 0.9);
}

#[test]
fn java_fourth() {
    check(include_str!("call_graphs/fourth/java.txt"), "java", 0.95, 0.9);
}

#[test]
fn rust_fourth() {
    check(include_str!("call_graphs/fourth/rust.txt"), "rs", 0.95, 0.9);
}

#[test]
fn python_fifth() {
    check(include_str!("call_graphs/fifth/python.txt"), "py", 0.95, 0.9);
}

#[test]
fn javascript_fifth() {
    check(include_str!("call_graphs/fifth/javascript.txt"), "js", 0.95, 0.9);
}

#[test]
fn java_fifth() {
    check(include_str!("call_graphs/fifth/java.txt"), "java", 0.95, 0.9);
}

#[test]
fn rust_fifth() {
    check(include_str!("call_graphs/fifth/rust.txt"), "rs", 0.95, 0.9);
}
