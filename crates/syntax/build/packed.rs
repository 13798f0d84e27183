//! Takes the two largest tables out of the sources of the largest grammars and compresses them: 33 MB become 2.
//!
//! The one trick: what a parser is generated to is regular enough to be read line by line. The tables become numbers in a file of
//! their own, and the rest is compiled with a function that is given the tables when the language is first used
//! (`src/grammars/packed.rs`). A line that is not understood ends the build.

use std::collections::HashMap;
use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A grammar whose tables take more than a megabyte.
struct Grammar {
    package: &'static str,
    /// Where in the package its sources are.
    sources: &'static str,
    /// What the functions of its parser are named by.
    name: &'static str,
}

const fn grammar(package: &'static str, sources: &'static str, name: &'static str) -> Grammar {
    Grammar { package, sources, name }
}

const PACKED: &[Grammar] = &[
    grammar("tree-sitter-c-sharp", "src", "c_sharp"),
    grammar("tree-sitter-cpp", "src", "cpp"),
    grammar("tree-sitter-kotlin-ng", "src", "kotlin"),
    grammar("tree-sitter-ruby", "src", "ruby"),
];
const PACKED_BROAD: &[Grammar] = &[
    grammar("tree-sitter-haskell", "src", "haskell"),
    grammar("tree-sitter-julia", "src", "julia"),
    grammar("tree-sitter-ocaml", "grammars/ocaml/src", "ocaml"),
    grammar("tree-sitter-scala", "src", "scala"),
    grammar("tree-sitter-swift", "src", "swift"),
];

const LEVEL: i32 = 9;

pub(crate) fn build() {
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo says where to write"));
    let packages = packages();
    let broad = env::var_os("CARGO_FEATURE_BROAD").is_some();
    let grammars = PACKED.iter().chain(broad.then_some(PACKED_BROAD).into_iter().flatten());
    for grammar in grammars {
        let sources = packages[grammar.package].join(grammar.sources);
        let text = fs::read_to_string(sources.join("parser.c")).expect("a grammar has a parser");
        let split = Split::of(&text);
        let parser = out.join(format!("{}.c", grammar.name));
        fs::write(&parser, split.parser(grammar.name)).expect("the parser can be written");
        fs::write(out.join(format!("{}.tables", grammar.name)), split.packed()).expect("the tables can be written");
        compile(grammar, &sources, &parser);
    }
}

/// Where the sources of the dependencies are. Cargo has them, or it could not build.
fn packages() -> HashMap<String, PathBuf> {
    let listed = Command::new(env::var_os("CARGO").expect("cargo says what it is"))
        .args(["metadata", "--format-version=1", "--locked", "--filter-platform"])
        .arg(env::var_os("TARGET").expect("cargo says what is built for"))
        .output()
        .expect("cargo can be run");
    let text = String::from_utf8_lossy(&listed.stdout);
    assert!(
        listed.status.success(),
        "`cargo metadata` failed: {}",
        String::from_utf8_lossy(&listed.stderr)
    );
    const NAME: &str = "{\"name\":\"";
    // A package begins with its name and its version; what it depends on has no version of its own.
    let packages = text.match_indices(NAME).filter_map(|(at, _)| {
        let (name, rest) = text[at + NAME.len()..].split_once("\",\"")?;
        let (_, rest) = rest.strip_prefix("version\":\"")?.split_once("\"manifest_path\":\"")?;
        let (manifest, _) = rest.split_once('"')?;
        let folder = Path::new(&manifest.replace("\\\\", "\\")).parent()?.to_path_buf();
        Some((name.to_owned(), folder))
    });
    packages.collect()
}

/// Compiles a parser without its tables, with its scanner. All names get a prefix, so that the grammar's own crate may be linked too.
fn compile(grammar: &Grammar, sources: &Path, parser: &Path) {
    let name = grammar.name;
    let mut build = cc::Build::new();
    build
        .std("c11")
        .include(sources)
        .file(parser)
        .file(sources.join("scanner.c"))
        .flag_if_supported("-utf-8")
        .flag_if_supported("-fvisibility=hidden")
        .warnings(false);
    let functions = ["create", "destroy", "scan", "serialize", "deserialize"]
        .map(|function| format!("_external_scanner_{function}"));
    for function in functions.iter().map(String::as_str).chain([""]) {
        build.define(
            &format!("tree_sitter_{name}{function}"),
            format!("lacon_tree_sitter_{name}{function}").as_str(),
        );
    }
    build.compile(&format!("lacon-grammar-{name}"));
}

const LARGE: &str = "static const uint16_t ts_parse_table[LARGE_STATE_COUNT][SYMBOL_COUNT] = {\n";
const SMALL: &str = "static const uint16_t ts_small_parse_table[] = {\n";
const END: &str = "\n};\n";

/// The source of a parser, and the tables that are taken out of it.
struct Split<'t> {
    before: &'t str,
    between: &'t str,
    after: &'t str,
    /// A row for each of the large states, with an entry for each symbol.
    large: Vec<u16>,
    small: Vec<u16>,
}

impl<'t> Split<'t> {
    fn of(text: &'t str) -> Split<'t> {
        let cut = |text: &'t str, head: &str| {
            let (before, rest) = text.split_once(head).expect("the parser has both tables");
            let (table, after) = rest.split_once(END).expect("a table ends");
            (before, table, after)
        };
        let (before, large, rest) = cut(text, LARGE);
        let (between, small, after) = cut(rest, SMALL);
        let numbers = Numbers::of(before);
        Split {
            before,
            between,
            after,
            large: numbers.large(large),
            small: numbers.small(small),
        }
    }

    /// The source without the tables.
    fn parser(&self, name: &str) -> String {
        let Split {
            before, between, after, ..
        } = self;
        format!(
            "{before}static const uint16_t ts_parse_table[1][1];\n{between}static const uint16_t ts_small_parse_table[1];\n{after}
// The language with its tables, which are the caller's.
const TSLanguage *lacon_grammar_{name}(const uint16_t *parse_table, const uint16_t *small_parse_table) {{
  static TSLanguage language;
  language = *tree_sitter_{name}();
  language.parse_table = parse_table;
  language.small_parse_table = small_parse_table;
  return &language;
}}
"
        )
    }

    /// How many entries the first table has, in 4 bytes, and both together; then both, compressed.
    fn packed(&self) -> Vec<u8> {
        let count = |entries: usize| u32::try_from(entries).expect("tables are small").to_le_bytes();
        let tables: Vec<u8> = self
            .large
            .iter()
            .chain(&self.small)
            .flat_map(|entry| entry.to_le_bytes())
            .collect();
        let mut packed = count(self.large.len()).to_vec();
        packed.extend(count(self.large.len() + self.small.len()));
        packed.extend(zstd::bulk::compress(&tables, LEVEL).expect("tables can be compressed"));
        packed
    }
}

/// What the names in a parser stand for.
struct Numbers<'t> {
    /// `#define NAME 1` and `name = 1,` of an enumeration.
    names: HashMap<&'t str, u16>,
}

impl<'t> Numbers<'t> {
    fn of(head: &'t str) -> Numbers<'t> {
        let named = head.lines().filter_map(|line| {
            let (name, number) = match line.strip_prefix("#define ") {
                Some(definition) => definition.split_once(' ')?,
                None => line.strip_prefix("  ")?.strip_suffix(',')?.split_once(" = ")?,
            };
            Some((name, number.parse().ok()?))
        });
        let mut names: HashMap<&str, u16> = named.collect();
        names.insert("ts_builtin_sym_end", 0);
        Numbers { names }
    }

    fn named(&self, name: &str) -> u16 {
        *self
            .names
            .get(name)
            .unwrap_or_else(|| panic!("the parser defines no `{name}`"))
    }

    /// `12`, `ACTIONS(12)`, `STATE(12)` or the name of a symbol.
    fn value(&self, text: &str) -> u16 {
        let inner = ["ACTIONS(", "STATE("]
            .iter()
            .find_map(|name| text.strip_prefix(name)?.strip_suffix(')'));
        let text = inner.unwrap_or(text);
        text.parse().unwrap_or_else(|_| self.named(text))
    }

    /// `[STATE(1)] = {`, `[sym_a] = ACTIONS(2),`, `},`.
    fn large(&self, table: &str) -> Vec<u16> {
        let (states, symbols) = (self.named("LARGE_STATE_COUNT"), self.named("SYMBOL_COUNT"));
        let mut entries = vec![0; usize::from(states) * usize::from(symbols)];
        let mut row = None;
        for line in table.lines().map(str::trim).filter(|line| *line != "},") {
            let parts = line.strip_prefix('[').and_then(|line| line.split_once("] = "));
            let (place, value) = parts.unwrap_or_else(|| panic!("a line of the table is not understood: {line}"));
            let place = self.value(place);
            match (value, row) {
                ("{", _) => {
                    assert!(place < states, "there are {states} large states: {line}");
                    row = Some(usize::from(place) * usize::from(symbols));
                }
                (value, Some(row)) => {
                    assert!(place < symbols, "there are {symbols} symbols: {line}");
                    entries[row + usize::from(place)] = self.value(value.trim_end_matches(','));
                }
                (_, None) => panic!("an entry is in no row: {line}"),
            }
        }
        entries
    }

    /// `[0] = 30,` and `ACTIONS(3), 1,` and `sym_a,`: one after the other. A place in front says where that is.
    fn small(&self, table: &str) -> Vec<u16> {
        let mut entries = Vec::new();
        for line in table.lines().map(str::trim) {
            let values = match line.strip_prefix('[').and_then(|line| line.split_once("] = ")) {
                Some((place, values)) => {
                    assert_eq!(place.parse(), Ok(entries.len()), "the table has a gap: {line}");
                    values
                }
                None => line,
            };
            let values = values.split(',').map(str::trim).filter(|value| !value.is_empty());
            entries.extend(values.map(|value| self.value(value)));
        }
        entries
    }
}
