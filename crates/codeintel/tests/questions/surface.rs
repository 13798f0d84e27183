//! `read`, `uses`, `change`, `grep`: answers that are read as text, and the accounts that end them.

use std::fs;
use std::path::Path;

use codeintel::account::account;
use codeintel::change::{Change, change};
use codeintel::grep::{Grep, grep};
use codeintel::read::{Read, read};
use codeintel::uses::{Uses, UsesFound, uses};
use codeintel::{SymbolKey, Workspace};
use wire::Format;
use wire::layout::Layout;
use wire::tokens::Tokenizer;

use crate::common::{indexed, indexed_copy};

/// A tree of these files, indexed.
pub(crate) fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let workspace = indexed(folder.path());
    (folder, workspace)
}

pub(crate) fn text(value: &impl serde::Serialize, layout: &Layout) -> String {
    let value = serde_json::to_value(value).unwrap();
    wire::encode(&value, layout, Format::Auto, Tokenizer::O200k)
        .unwrap()
        .text
}

const STORE: &str = r#"package state

// Tokens gives the tokens.
type Store struct{ name string }

func (s *Store) Tokens(sort bool) int { return 1 }

type Reader interface {
	Tokens(sort bool) int
}

type Other struct{}

func (o *Other) Tokens(sort bool) int { return 2 }
"#;

const ENDPOINT: &str = r#"package endpoint

import "example.com/m/state"

func direct(s *state.Store) int {
	a := s.Tokens(true)
	b := s.Tokens(false)
	return a + b
}

func through(r state.Reader) int { return r.Tokens(true) }

func value(s *state.Store) func(bool) int {
	get := s.Tokens
	return get
}

func other(o *state.Other) int { return o.Tokens(true) }

func shadowed(Tokens int) int { return Tokens + 1 } // Tokens of another kind

func closure(make func(func(state *state.Store) int)) {
	make(func(state *state.Store) int { return state.Tokens(true) })
}
"#;

const ENDPOINT_TEST: &str = r#"package endpoint

import (
	"testing"

	"example.com/m/state"
)

func TestDirect(t *testing.T) {
	s := &state.Store{}
	s.Tokens(true)
}
"#;

fn go() -> (tempfile::TempDir, Workspace) {
    tree(&[
        ("go.mod", "module example.com/m\n\ngo 1.22\n"),
        ("state/store.go", STORE),
        ("endpoint/endpoint.go", ENDPOINT),
        ("endpoint/endpoint_test.go", ENDPOINT_TEST),
    ])
}

fn asked(workspace: &Workspace, symbol: &str, kind: Option<&str>) -> UsesFound {
    let ask = Uses {
        symbol: symbol.to_owned(),
        kind: kind.map(str::to_owned),
        ..Uses::default()
    };
    uses(workspace, &ask).unwrap()
}

#[test]
fn every_call_is_listed_and_those_through_an_interface_stand_apart() {
    let (_folder, workspace) = go();
    let found = asked(&workspace, "Store.Tokens", None);
    let lines = |kind: &str| -> Vec<u32> {
        let rows = found.uses.iter().filter(|row| row.kind == kind);
        rows.map(|row| row.line).collect()
    };
    // Two calls in one function are two places.
    assert_eq!(lines("calls"), [6, 7]);
    assert_eq!(lines("calls through Reader.Tokens"), [11]);
    assert_eq!(lines("references"), [14]);
    assert_eq!((found.folded_tests, found.total), (1, 5));
    let account = found.account.unwrap();
    assert_eq!(account.listed + account.unnamed, found.total);
    assert_eq!(account.definitions, 1);
    // FIXME: the parameter of the closure has the name of the package that its type is in, which hides the type. It is not lost.
    assert_eq!((account.unresolved, account.complete), (1, false));
    let open = asked(&workspace, "Store.Tokens", Some("unresolved"));
    assert_eq!((open.uses[0].line, open.uses[0].within.as_str()), (23, "closure"));
}

#[test]
fn an_account_is_written_in_one_line() {
    let (_folder, workspace) = go();
    let found = asked(&workspace, "Store.Tokens", None);
    let written = text(&found, &codeintel::uses::LAYOUT);
    let account = written.lines().find(|line| line.starts_with("account: ")).unwrap();
    expect_test::expect!["account: `Tokens` stands 14× in 3 files = 5 listed + 1 definition + 5 of others (2 Other.Tokens, 2 local name, 1 Reader.Tokens) + 2 in comments, docs + 1 unresolved"]
    .assert_eq(account);
}

/// Every place where a word stands, found the plain way.
fn word_count(workspace: &Workspace, root: &Path, name: &str) -> u64 {
    let is_word = |character: Option<char>| character.is_some_and(|c| c.is_alphanumeric() || c == '_');
    let files = workspace.repositories()[0].snapshot.files();
    let mut count = 0;
    for file in files {
        let text = fs::read_to_string(root.join(file.path())).unwrap();
        let mut from = 0;
        while let Some(at) = text[from..].find(name) {
            let start = from + at;
            let end = start + name.len();
            let is_whole = !is_word(text[..start].chars().next_back()) && !is_word(text[end..].chars().next());
            count += u64::from(is_whole);
            from = if is_whole {
                end
            } else {
                start + text[start..].chars().next().unwrap().len_utf8()
            };
        }
    }
    count
}

fn accounts_close(root: &Path, workspace: &Workspace) {
    let snapshot = &workspace.repositories()[0].snapshot;
    let mut seen = 0;
    for symbol in snapshot.symbols() {
        let key = SymbolKey {
            repository: 0,
            symbol: symbol.id(),
        };
        let accounted = account(workspace, key);
        let Some(account) = accounted.account else {
            continue;
        };
        let sum = account.listed
            + account.definitions
            + account.others
            + account.comments
            + account.strings
            + account.unresolved;
        assert_eq!(account.mentions, sum, "{}", symbol.id_string());
        assert_eq!(
            account.mentions,
            word_count(workspace, root, symbol.name()),
            "{}",
            symbol.id_string()
        );
        assert_eq!(
            account.listed + account.unnamed,
            accounted.sites.len() as u64,
            "{}",
            symbol.id_string()
        );
        assert_eq!(account.complete, account.unresolved == 0, "{}", symbol.id_string());
        seen += 1;
    }
    assert!(seen > 10, "{seen}");
}

#[test]
fn accounts_sum_to_a_plain_word_search() {
    let (folder, workspace) = go();
    accounts_close(folder.path(), &workspace);
    for fixture in ["descriptors", "laravel"] {
        let (folder, workspace) = indexed_copy(fixture);
        accounts_close(folder.path(), &workspace);
    }
}

#[test]
fn members_that_only_subtypes_define_are_found_in_one_call() {
    let (_folder, workspace) = tree(&[(
        "shapes.py",
        "class Base:\n    pass\n\n\nclass Round(Base):\n    def area(self):\n        return 1\n\n\nclass Flat(Base):\n    pass\n\n\n\
         class Ring(Round):\n    def area(self):\n        return 2\n",
    )]);
    let names = |found: &UsesFound| -> Vec<String> { found.uses.iter().map(|row| row.within.clone()).collect() };
    let found = asked(&workspace, "Base.area", None);
    assert_eq!(names(&found), ["Round.area", "Ring.area"]);
    assert!(found.note.unwrap().contains("2 of its 3 subtypes"));
    let ask = Uses {
        symbol: "Base".to_owned(),
        kind: Some("implements".to_owned()),
        defines: Some("area".to_owned()),
        ..Uses::default()
    };
    assert_eq!(names(&uses(&workspace, &ask).unwrap()), ["Round.area", "Ring.area"]);
    let found = asked(&workspace, "Base", Some("extends"));
    assert_eq!(
        (names(&found), found.total),
        (vec!["Round".to_owned(), "Flat".to_owned(), "Ring".to_owned()], 3)
    );
}

fn source(workspace: &Workspace, what: &[&str]) -> String {
    let ask = Read {
        what: what.iter().map(|&what| what.to_owned()).collect(),
        ..Read::default()
    };
    text(&read(workspace, &ask, 4_000).unwrap(), &codeintel::read::LAYOUT)
}

#[test]
fn source_is_numbered_below_its_place() {
    let (_folder, workspace) = go();
    assert_eq!(
        source(&workspace, &["direct"]),
        "endpoint/endpoint.go:5-9  direct\n5\tfunc direct(s *state.Store) int {\n6\t\ta := s.Tokens(true)\n7\t\tb := s.Tokens(false)\n\
         8\t\treturn a + b\n9\t}\n"
    );
    assert_eq!(
        source(&workspace, &["state/store.go:3-4,6", "Other"]),
        "state/store.go:3-4\n3\t// Tokens gives the tokens.\n4\ttype Store struct{ name string }\n\n\
         state/store.go:6  Store.Tokens\n6\tfunc (s *Store) Tokens(sort bool) int { return 1 }\n\n\
         state/store.go:12  Other\n12\ttype Other struct{}\n"
    );
}

#[test]
fn what_is_read_is_the_text_of_now_and_nothing_outside() {
    let (folder, workspace) = go();
    let path = folder.path().join("endpoint/endpoint.go");
    fs::write(&path, format!("// new\n// lines\n{ENDPOINT}")).unwrap();
    assert!(source(&workspace, &["direct"]).starts_with("endpoint/endpoint.go:7-11  direct\n7\tfunc direct"));
    fs::write(&path, ENDPOINT.replace("direct", "renamed")).unwrap();
    let ask = |what: &str| Read {
        what: vec![what.to_owned()],
        ..Read::default()
    };
    let gone = read(&workspace, &ask("direct"), 4_000).unwrap_err().to_string();
    assert!(gone.contains("no longer in endpoint/endpoint.go"), "{gone}");
    for outside in ["../x.py", "/etc/passwd", "state/../../x", "/etc/passwd:1-2"] {
        assert!(read(&workspace, &ask(outside), 4_000).is_err(), "{outside}");
    }
}

#[test]
fn what_is_large_is_a_skeleton_and_stays_under_the_ceiling() {
    let mut class = String::from("class Large:\n    \"\"\"Much.\"\"\"\n");
    for number in 0..60 {
        class.push_str(&format!(
            "\n    def method_{number}(self, value):\n        first = value\n        return first\n"
        ));
    }
    let (_folder, workspace) = tree(&[("large.py", class.as_str())]);
    let skeleton = source(&workspace, &["Large"]);
    assert!(skeleton.contains("skeleton"), "{skeleton}");
    assert!(skeleton.contains("\n4-6  def method_0(self, value)\n"), "{skeleton}");
    let open = source(&workspace, &["Large", "Large.method_1"]);
    assert!(
        open.contains("\n8\t    def method_1(self, value):\n9\t        first = value\n"),
        "{open}"
    );
    let ask = Read {
        what: vec!["large.py".to_owned()],
        whole: true,
        ..Read::default()
    };
    let cut = text(&read(&workspace, &ask, 400).unwrap(), &codeintel::read::LAYOUT);
    assert!(Tokenizer::O200k.count(&cut) <= 400, "{cut}");
    assert!(cut.contains("next: over the ceiling, read large.py:"), "{cut}");
}

#[test]
fn grep_finds_the_lines_of_a_word_search_below_their_functions() {
    let (_folder, workspace) = go();
    let ask = Grep {
        patterns: vec!["Tokens".to_owned()],
        word: true,
        tests: true,
        ..Grep::default()
    };
    let found = grep(&workspace, &ask).unwrap();
    assert_eq!((found.total, found.files), (12, 3));
    let written = text(&found, &codeintel::grep::LAYOUT);
    // The file that defines it comes first.
    assert!(written.starts_with("state/store.go"), "{written}");
    assert!(
        written.contains("endpoint/endpoint.go:5-9  direct\n6\ta := s.Tokens(true)\n"),
        "{written}"
    );
    let fixed = Grep {
        patterns: vec!["s.*Tokens".to_owned()],
        fixed: true,
        ..Grep::default()
    };
    let found = grep(&workspace, &fixed).unwrap();
    assert!(found.total == 0 && found.notes.iter().any(|note| note.contains("literally")));
}

#[test]
fn a_change_names_who_must_follow_and_the_tests() {
    let (_folder, workspace) = go();
    let ask = Change {
        symbols: vec!["Store.Tokens".to_owned()],
        ..Change::default()
    };
    let found = change(&workspace, &ask).unwrap();
    let names: Vec<&str> = found
        .followers
        .iter()
        .map(|follower| follower.place.name.as_str())
        .collect();
    assert_eq!(names, ["direct", "through", "value"]);
    assert_eq!(found.followers[0].lines, [6, 7]);
    assert_eq!(found.tests, ["endpoint/endpoint_test.go"]);
    assert!(found.commands[0].command.contains("go test"), "{:?}", found.commands);
}

#[test]
fn names_are_found_as_people_write_them() {
    let (_folder, workspace) = tree(&[
        ("Cargo.toml", "[package]\nname = \"my-crate\"\nversion = \"0.1.0\"\n"),
        ("src/lib.rs", "pub mod search;\n"),
        ("src/search/mod.rs", "pub mod rank;\n"),
        (
            "src/search/rank.rs",
            "pub struct Ranker;\nimpl Ranker { pub fn score(&self) {} }\npub fn weigh() {}\n",
        ),
        (
            "app/models/user.py",
            "class User:\n    def save_all(self):\n        pass\n",
        ),
    ]);
    for (asked, meant) in [
        ("rank::weigh", "src/search/rank.rs::weigh"),
        ("crate::search::rank::weigh", "src/search/rank.rs::weigh"),
        (
            "my_crate::search::rank::Ranker::score",
            "src/search/rank.rs::Ranker.score",
        ),
        ("search::Ranker::score()", "src/search/rank.rs::Ranker.score"),
        ("app.models.user.User.save_all", "app/models/user.py::User.save_all"),
        ("app.models.User", "app/models/user.py::User"),
        ("User#save_all", "app/models/user.py::User.save_all"),
        ("user.SAVE_ALL", "app/models/user.py::User.save_all"),
        ("app/models/user.py:2:5", "app/models/user.py::User.save_all"),
    ] {
        let key = codeintel::naming::find(&workspace, asked).unwrap_or_else(|error| panic!("{asked}: {error}"));
        assert_eq!(workspace.id(0, workspace.symbol(key).unwrap()), meant, "{asked}");
    }
    assert!(codeintel::naming::find(&workspace, "elsewhere.User.save_all_of_it").is_err());
}

#[test]
fn bases_are_used_where_they_are_named() {
    let csharp = "interface ITask { void Run(); }\n\nclass First : ITask\n{\n    public void Run() {}\n}\n\nclass Second<T>\n    : Base<T>, ITask\n{\n    public void Run() {}\n}\n";
    let kotlin = "interface Interceptor {\n    interface Chain\n}\n\nclass Upper : Interceptor {\n    fun run(chain: Interceptor.Chain) {}\n}\n";
    let (_folder, workspace) = tree(&[("Tasks.cs", csharp), ("Upper.kt", kotlin)]);
    for (name, lines) in [("ITask", vec![3, 9]), ("Interceptor", vec![5, 6])] {
        let found = asked(&workspace, name, None);
        let account = found.account.unwrap();
        assert!(account.complete && account.unnamed == 0, "{}", account.to_line());
        assert_eq!(
            found.uses.iter().map(|row| row.line).collect::<Vec<_>>(),
            lines,
            "{name}"
        );
    }
}

#[test]
fn a_field_is_read_and_not_the_method_of_its_name() {
    let rust = "pub struct Reading;\n\npub struct Meter {\n    reading: Reading,\n}\n\nimpl Meter {\n    pub fn reading(&self) -> &Reading {\n        &self.reading\n    }\n\n    pub fn both(&self) {\n        self.reading();\n    }\n}\n";
    let (_folder, workspace) = tree(&[("src/lib.rs", rust)]);
    let found = asked(&workspace, "src/lib.rs:8", None);
    let lines: Vec<(&str, u32)> = found.uses.iter().map(|row| (row.kind.as_str(), row.line)).collect();
    assert_eq!(lines, [("calls", 13)]);
}

#[test]
fn words_of_the_language_are_not_in_doubt_and_a_few_doubts_are_listed() {
    let php = "<?php\nclass Response {\n    function throw() { return $this; }\n}\nfunction a(Response $r) { $r->throw(); throw new Exception('x'); }\nfunction b($r) { throw $r; }\n";
    let php_call = "<?php\nfunction c($r, $s) { $s->run($r)->throw(); }\n";
    let (_folder, workspace) = tree(&[("Response.php", php), ("other.php", php_call)]);
    let found = asked(&workspace, "Response.throw", None);
    let rows: Vec<(&str, &str)> = found
        .uses
        .iter()
        .map(|row| (row.kind.as_str(), row.within.as_str()))
        .collect();
    assert_eq!(rows, [("calls", "a"), ("in doubt", "c")]);
    assert_eq!(found.total, 1);
    let line = found.account.as_ref().unwrap().to_line();
    assert!(
        line.contains("2 as a keyword") && line.ends_with("1 unresolved"),
        "{line}"
    );
    assert!(found.next.starts_with("judge the 1 in doubt"), "{}", found.next);
    let ask = Change {
        symbols: vec!["Response.throw".to_owned()],
        ..Change::default()
    };
    let found = change(&workspace, &ask).unwrap();
    let text = text(&found, &codeintel::change::LAYOUT);
    assert!(text.contains("unresolved (other.php:2)"), "{text}");
    assert!(
        text.contains("next: edit who must follow, judge the 1 unresolved"),
        "{text}"
    );
}

#[test]
fn of_many_in_doubt_the_likeliest_stand_beside_the_uses_in_tests() {
    let mut others = String::from("def other(a):\n");
    for number in 0..12 {
        others += &format!("    a.part{number}().execute({number})\n");
    }
    let (_folder, workspace) = tree(&[
        (
            "lib/cache.py",
            "class Cache:\n    def execute(self, rows, lenient=False):\n        pass\n",
        ),
        (
            "lib/find.py",
            "def find(make):\n    make('a').cache.execute([1], lenient=True)\n",
        ),
        ("app/other.py", &others),
        (
            "tests/test_cache.py",
            "from lib.cache import Cache\n\ndef test_it():\n    Cache().execute([])\n",
        ),
    ]);
    let found = asked(&workspace, "Cache.execute", None);
    let doubtful: Vec<&str> = found
        .uses
        .iter()
        .filter(|row| row.kind == "in doubt, the likeliest of 13")
        .map(|row| row.within.as_str())
        .collect();
    assert_eq!((doubtful.first(), doubtful.len()), (Some(&"find"), 8), "{doubtful:?}");
    assert_eq!(found.total, 1);
    assert!(found.next.starts_with("judge those in doubt"), "{}", found.next);
}
