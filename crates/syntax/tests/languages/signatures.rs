//! Signatures: one line, as written, without the body and without comments.

use syntax::{extract, languages};

#[track_caller]
fn check(language: &str, text: &str, name: &str, signature: &str) {
    let facts = extract(languages::by_name(language).expect(language), text);
    let definition = facts.definitions.iter().find(|it| facts.text(it.name) == name);
    let definition = definition.unwrap_or_else(|| panic!("no definition of {name}"));
    assert_eq!(facts.text(definition.signature), signature, "{language}");
}

#[test]
fn comments_between_parameters_are_left_out() {
    let python = "def add(\n    left,  # the first\n    right=1,  # the second\n):\n    return left\n";
    check("python", python, "add", "def add(left, right=1,)");
    let rust = "fn add(\n    left: u32, // the first\n    /* the second */ right: u32,\n) -> u32 { left }\n";
    check("rust", rust, "add", "fn add(left: u32, right: u32,) -> u32");
    let go = "package a\n\nfunc add(left int, // the first\n\tright int) int {\n\treturn left\n}\n";
    check("go", go, "add", "func add(left int, right int) int");
    let java = "class A {\n  int add(int left /* the first */, int right) // why\n  { return left; }\n}\n";
    check("java", java, "add", "int add(int left, int right)");
    let c = "int add(int left, /* the first */\n        int right)\n/* adds */\n{ return left; }\n";
    check("c", c, "add", "int add(int left, int right)");
    let typescript =
        "function add(\n  left: number, // the first\n  right = '//', // the second\n): number { return left }\n";
    check(
        "typescript",
        typescript,
        "add",
        "function add(left: number, right = '//',): number",
    );
}

#[test]
fn text_that_looks_like_a_comment_stays() {
    let python = "def fetch(url='http://host/#top', sign='--'):\n    pass\n";
    check(
        "python",
        python,
        "fetch",
        "def fetch(url='http://host/#top', sign='--')",
    );
    let javascript = "function fetch(url = 'a//b', glob = '/*') {}\n";
    check(
        "javascript",
        javascript,
        "fetch",
        "function fetch(url = 'a//b', glob = '/*')",
    );
}

#[test]
fn a_comment_alone_hides_nothing_else() {
    let rust = "struct Point /* in the plane */ {\n    x: f64, // across\n}\n";
    check("rust", rust, "Point", "struct Point");
    let ruby = "def add(left, # the first\n        right)\n  left\nend\n";
    check("ruby", ruby, "add", "def add(left, right)");
}
