use super::*;
use crate::accuracy::server::column_in_bytes;

/// Judges a file by answers of the form "this mention is that line and column" (counted in UTF-16 from 0).
fn judged(files: &[(&str, &str)], languages: &[&str], answers: &[Said<'_>]) -> Report {
    judged_as(What::Calls, files, languages, answers)
}

/// A path, line and column, and what the server says of them.
type Said<'a> = (&'a str, u32, u32, Option<Vec<CallSite>>);

fn judged_as(what: What, files: &[(&str, &str)], languages: &[&str], answers: &[Said<'_>]) -> Report {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        std::fs::write(directory.path().join(path), text).unwrap();
    }
    let tree = MemoryTree::read(directory.path(), languages).unwrap();
    let resolved = tree.resolve();
    let (_, overridden) = super::super::gather(&tree, &resolved);
    let judge = Judge::new(what, directory.path(), &tree, &resolved, &overridden);
    let mut places = Vec::new();
    let mut known = Answers::new();
    for (path, line, column, targets) in answers {
        let at = Position {
            line: *line,
            column: *column,
        };
        let file = tree.find(path).unwrap();
        places.push(Place { file, at });
        let absolute = |target: &CallSite| CallSite {
            path: directory.path().join(&target.path).to_string_lossy().into_owned(),
            ..target.clone()
        };
        let targets = targets.as_ref().map(|targets| targets.iter().map(absolute).collect());
        known.insert(((*path).to_string(), *line, *column), targets);
    }
    judge.judge(&places, &known)
}

fn to(path: &str, line: u32, column: u32) -> Option<Vec<CallSite>> {
    let path = path.to_string();
    let end_line = line;
    Some(vec![CallSite {
        path,
        line,
        column,
        end_line,
    }])
}

#[test]
fn calls_are_judged_by_what_the_server_names() {
    let source = "\
class Base:
    def go(self): pass
class Heir(Base):
    def __init__(self): pass
    def go(self): pass
def near(): pass
def run(callback, thing):
    near()
    Heir().go()
    thing.go()
    print(near())
    callback()
";
    let answers = [
        ("a.py", 8, 4, to("a.py", 5, 4)),
        // The class is named for its constructor.
        ("a.py", 9, 4, to("a.py", 2, 6)),
        // What it overrides is named.
        ("a.py", 9, 11, to("a.py", 1, 8)),
        // We name nothing.
        ("a.py", 10, 10, to("a.py", 1, 8)),
        // A parameter is no function.
        ("a.py", 12, 4, to("a.py", 6, 8)),
        // Nobody knows.
        ("a.py", 11, 4, None),
        // It is said to be a function of another project.
        ("a.py", 11, 10, to("b.txt", 0, 0)),
    ];
    let report = judged(&[("a.py", source), ("b.txt", "near")], &["python"], &answers);
    let misses = listed(&report.misses);
    assert_eq!((report.inside, report.outside), (4, 1), "{misses}");
    assert_eq!((report.silent, report.unknown), (1, 1), "{misses}");
    assert_eq!(report.agreed, 2, "{misses}");
    assert_eq!(
        (report.other, report.other_overrides, report.nothing),
        (1, 1, 1),
        "{misses}"
    );
    let score = &report.by_origin["ast_resolved"];
    // `near`, `Heir` with its constructor, and the heir's `go`; `near` that is said to be outside is wrong.
    assert_eq!((score.agreed, score.overrides, score.silent), (3, 1, 0), "{misses}");
    assert_eq!(score.found, 5, "{misses}");
    assert!(misses.contains("ast_resolved a.py:11:10 is outside"), "{misses}");
    assert!(misses.contains("| thing.go()"), "{misses}");
}

#[test]
fn a_prototype_and_its_definition_are_the_same() {
    let files = [
        ("a.h", "int near(int);\nint other(int);\n"),
        ("a.c", "#include \"a.h\"\nint near(int x) { return x; }\n"),
        ("b.c", "#include \"a.h\"\nint run(void) { return near(1); }\n"),
    ];
    let report = judged(&files, &["c"], &[("b.c", 2, 23, to("a.h", 0, 4))]);
    assert_eq!((report.inside, report.agreed), (1, 1), "{}", listed(&report.misses));
    let report = judged(&files, &["c"], &[("b.c", 2, 23, to("a.h", 1, 4))]);
    assert_eq!((report.inside, report.agreed), (1, 0), "{}", listed(&report.misses));
}

#[test]
fn columns_are_counted_in_the_units_of_servers() {
    let text = "x\né𝄞 = f()\n";
    assert_eq!(column_in_units(text, 1, 9), 6);
    assert_eq!(column_in_bytes(text, 1, 6), 9);
    assert_eq!(column_in_bytes(text, 1, 99), 12);
    assert_eq!(column_in_bytes(text, 9, 3), 0);
}

#[test]
fn mentions_are_judged_by_what_the_server_names() {
    let source = "\
LIMIT = 3
class Base: pass
class Other: pass
class Heir(
    Base
):
    size = LIMIT
def run(heir: Heir):
    return heir.size
";
    let answers = [
        // The base has a line of its own.
        ("a.py", 5, 4, to("a.py", 1, 6)),
        ("a.py", 7, 11, to("a.py", 0, 0)),
        ("a.py", 8, 14, to("a.py", 3, 6)),
        // The server is said to mean another.
        ("a.py", 9, 16, to("a.py", 2, 6)),
    ];
    let report = judged_as(What::Mentions, &[("a.py", source)], &["python"], &answers);
    let misses = listed(&report.misses);
    assert_eq!((report.inside, report.agreed, report.other), (4, 3, 1), "{misses}");
    let score = &report.by_origin["ast_resolved"];
    assert_eq!((score.found, score.agreed), (4, 3), "{misses}");
}
