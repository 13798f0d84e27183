//! The questions as verbs of the real binary: what a person reads, what a script reads, and exit codes.

use std::process::Output;

use assert_cmd::Command;
use expect_test::expect;
use serde_json::Value;

fn tree() -> tempfile::TempDir {
    let directory = tempfile::tempdir().unwrap();
    let files = [
        (
            "shop.py",
            "def price(item):\n    return item.cost * 2\n\n\ndef total(items):\n    return sum(price(item) for item in items)\n",
        ),
        (
            "pay.py",
            "from shop import price, total\n\n\ndef pay(item):\n    price(item)\n    return total([item])\n",
        ),
    ];
    for (name, text) in files {
        std::fs::write(directory.path().join(name), text).unwrap();
    }
    directory
}

fn lacon(tree: &tempfile::TempDir, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_lacon"))
        .args(arguments)
        .current_dir(tree.path())
        .env_remove("LACON_DIR")
        .output()
        .unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_person_reads_callers_by_file_and_a_script_reads_json() {
    let tree = tree();
    text(&lacon(&tree, &["index"]));
    expect![[r#"
        pay.py
          pay:5
            calls price
        shop.py
          price:1
          total:6
            calls price
        3 of 3
        account: `price` stands 4× in 2 files = 3 listed + 1 definition; complete
    "#]]
    .assert_eq(&text(&lacon(&tree, &["callers", "price", "--depth", "1"])));
    let value: Value =
        serde_json::from_str(&text(&lacon(&tree, &["callers", "price", "--depth", "1", "--json"]))).unwrap();
    for format in ["auto", "gcx", "gcf"] {
        let said = text(&lacon(&tree, &["callers", "price", "--depth", "1", "--format", format]));
        assert!(wire::same(&wire::decode(&said).unwrap(), &value), "{format}: {said}");
    }
}

#[test]
fn every_verb_answers() {
    let tree = tree();
    text(&lacon(&tree, &["index"]));
    for (arguments, expected) in [
        (&["calls", "pay"][..], "price:1"),
        (&["usages", "price"], "pay:5  calls"),
        (&["dependencies", "pay"], "total:5"),
        (&["dependents", "price"], "pay:4"),
        (&["implementations", "price"], "no implementations known"),
        (&["source", "shop.py:2"], "2      return item.cost * 2"),
        (&["symbols", "price"], "price:1"),
        (&["summary", "shop.py"], "total:5"),
        (&["editing-context", "price"], "callers:"),
        (&["outline"], "python"),
        (&["stats"], "files"),
        (&["analyze", "dead_code", "--include-exported"], "pay:4"),
        (&["analyze", "help"], "hotspots"),
    ] {
        let said = text(&lacon(&tree, arguments));
        assert!(said.contains(expected), "{arguments:?}: {said}");
    }
}

#[test]
fn exit_codes_say_whose_fault_it_is() {
    let tree = tree();
    let missing = lacon(&tree, &["callers", "price"]);
    assert_eq!(missing.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&missing.stderr).contains("run `lacon index` there"));
    text(&lacon(&tree, &["index"]));
    let unknown = lacon(&tree, &["callers", "prise"]);
    assert_eq!(unknown.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("nearest: shop.py::price"));
    assert!(unknown.stdout.is_empty());
    assert_eq!(lacon(&tree, &["callers"]).status.code(), Some(2));
}
