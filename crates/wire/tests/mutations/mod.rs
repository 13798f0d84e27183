//! Valid texts, damaged where it hurts: every text of the fixtures and of `docs/formats`, changed a few times over, goes through
//! every door that reads a text.
//!
//! Random bytes are refused by the first line of a decoder. A mutation here keeps the text nearly right: one delimiter becomes
//! another or a character of several bytes, a line is doubled, dropped, moved or taken from another text, a number grows.

use std::path::Path;

use serde_json::Value;
use wire::gcf::graph::{self, SessionReader as GraphSessionReader};
use wire::gcf::keyed_set;
use wire::gcf::{ConstantColumns, DecodeOptions, Rows};
use wire::session::SessionReader;

use super::counting::bounded;

/// How many mutations a plain run tries; `cargo xtask fuzz` asks for a million.
const CASES: u64 = 15_000;
/// A mutated text is no longer than this, so that a case stays short.
const MOST_BYTES: usize = 20_000;

/// What delimits something in one of the formats, and what is easily taken for such.
const MARKS: &[&str] = &[
    "{",
    "}",
    "[",
    "]",
    "(",
    ")",
    "|",
    ",",
    ":",
    "=",
    "@",
    "<",
    ">",
    "^",
    "~",
    "-",
    "%",
    "#",
    "##",
    "\"",
    "\\",
    "\t",
    " ",
    "  ",
    "\n",
    "\r\n",
    "/",
    "./",
    "::",
    "…",
    "é",
    "\u{feff}",
    "\u{2028}",
    "😀",
    "*",
    "+",
    ".",
    "0",
    "1",
    "9",
    "18446744073709551615",
    "-9223372036854775808",
    "1e999",
    "\\u12",
    "\\ud800",
    "^{a,b}",
    "[?]",
    "[2:]",
    "## a [2]{x,y}",
    "## [1]{@id}",
    "@0 ",
    "@1<@0 calls",
    "{a=1,b}",
    "rows=2",
    "rows=9",
    "tool=",
    "fields=",
    "fields=a,a",
    "null=a",
    "empty=a",
    "eol=crlf",
    "truncated=true",
    "text=a:2",
    "under=x/",
    "GCX1 tool=t fields=a,b",
    "GCX1 tool=error fields=code,message,detail",
    "LCX1 tool=get_callers",
    "##! summary counts=1",
];

/// Pseudo-random numbers that are the same everywhere (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut word = self.0;
        word = (word ^ (word >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        word = (word ^ (word >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        word ^ (word >> 31)
    }

    /// A number below `bound`, which is not 0.
    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % bound as u64).unwrap()
    }

    fn of<'a>(&mut self, texts: &[&'a str]) -> &'a str {
        texts[self.below(texts.len())]
    }

    /// A place in `text` between two characters.
    fn place(&mut self, text: &str) -> usize {
        let mut at = self.below(text.len() + 1);
        while !text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

/// Every fenced block of the fixtures and format pages that is a text of a format.
fn seeds() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folders = ["tests/fixtures/gcf", "tests/fixtures/gcx", "../../docs/formats"];
    let mut seeds = Vec::new();
    for folder in folders {
        let mut files: Vec<_> = std::fs::read_dir(root.join(folder))
            .unwrap()
            .map(|file| file.unwrap().path())
            .collect();
        files.sort();
        for file in files {
            let page = std::fs::read_to_string(file).unwrap();
            let blocks = page.split("\n```").filter_map(|block| block.split_once('\n'));
            let texts = blocks.map(|(_, text)| text.replace('␉', "\t").replace('␍', "\r").replace('␠', " "));
            seeds.extend(texts.filter(|text| ["GCF ", "GCX1 ", "LCX1 "].iter().any(|tag| text.starts_with(tag))));
        }
    }
    assert!(seeds.len() > 300, "{}", seeds.len());
    // A pack and its delta are two texts, one behind the other.
    seeds.push(PACK.to_owned());
    seeds.push(PACK_DELTA.to_owned());
    seeds
}

const PACK: &str = "GCF profile=graph tool=context_for_task budget=500 tokens=90 symbols=2 edges=1\n## targets\n@0 fn a.py::f 0.90 \
                    words~abcd\n@1 fn a.py::g 0.80 name\n## edges [1]\n@1<@0 calls\nsources total=2\n@0 body 3 2\ndef f():\n    g()\n";
const PACK_DELTA: &str = "GCF profile=graph tool=context_for_task delta=true base_root=sha256:aa new_root=sha256:bb\n## removed\nfn \
                          a.py::g\n## added\n@0 fn a.py::h 0.50 name 1\n## edges_removed\na.py::f -> a.py::g calls\nsources total=2\n% \
                          renamed a.py b.py\n% moved a.py 3 +2\n% dropped 1\n% score 0 0.50\n@0 body 3 1\ndef h(): pass\n";

fn mutated(random: &mut Random, seeds: &[String]) -> String {
    let mut text = seeds[random.below(seeds.len())].clone();
    for _ in 0..=random.below(4) {
        let other = &seeds[random.below(seeds.len())];
        text = mutate(random, &text, other);
        if text.len() > MOST_BYTES {
            break;
        }
    }
    text
}

fn mutate(random: &mut Random, text: &str, other: &str) -> String {
    let mut lines: Vec<&str> = text.split('\n').collect();
    let line = random.below(lines.len());
    match random.below(9) {
        // A delimiter becomes another: the mutation that found most.
        0..=2 => {
            let delimiters: Vec<(usize, &str)> = text.match_indices(|c: char| !c.is_alphanumeric()).collect();
            let Some((at, found)) = (!delimiters.is_empty()).then(|| delimiters[random.below(delimiters.len())]) else {
                return String::new();
            };
            [&text[..at], random.of(MARKS), &text[at + found.len()..]].concat()
        }
        3 => {
            let at = random.place(text);
            [&text[..at], random.of(MARKS), &text[at..]].concat()
        }
        4 => text[..random.place(text)].to_owned(),
        5 => {
            lines.remove(line);
            lines.join("\n")
        }
        6 => {
            let to = random.below(lines.len());
            lines.insert(to, lines[line]);
            lines.join("\n")
        }
        7 => {
            let from: Vec<&str> = other.split('\n').collect();
            lines[line] = from[random.below(from.len())];
            lines.join("\n")
        }
        _ => {
            let numbers: Vec<(usize, &str)> = text.match_indices(|c: char| c.is_ascii_digit()).collect();
            let Some((at, found)) = (!numbers.is_empty()).then(|| numbers[random.below(numbers.len())]) else {
                return text.to_owned();
            };
            let number = ["0", "1", "2", "99", "-1", "4294967296", "1e400", "00"];
            [&text[..at], random.of(&number), &text[at + found.len()..]].concat()
        }
    }
}

/// Every function that reads a text. What it gives does not matter here, only that it ends, soon and small.
fn doors(text: &str, pack: &keyed_set::KeyedSet) {
    let strict = DecodeOptions::default();
    let accepting = DecodeOptions {
        constant_columns: ConstantColumns::Accept,
        ..DecodeOptions::default()
    };
    let open: [(&str, &dyn Fn()); 14] = [
        ("any", &|| drop(wire::decode(text))),
        ("gcx", &|| drop(wire::gcx::from_str(text))),
        ("gcx layouts", &|| {
            for layout in wire::answers::LAYOUTS {
                drop(wire::gcx::value_with(layout, text));
            }
        }),
        ("gcf", &|| drop(wire::gcf::from_str::<Value>(text))),
        ("gcf constants", &|| {
            drop(wire::gcf::from_str_with::<Value>(text, &accepting));
        }),
        ("gcf payload", &|| drop(wire::gcf::decode(text, &strict))),
        ("gcf rows", &|| {
            if let Ok(mut rows) = Rows::root(text, &strict) {
                let _ = rows.iter::<Value>().take(100_000).count();
            }
        }),
        ("graph", &|| drop(graph::decode(text))),
        ("graph delta", &|| drop(graph::decode_delta(text))),
        ("graph session", &|| {
            let mut reader = GraphSessionReader::default();
            drop(reader.decode(text));
            drop(reader.decode(text));
        }),
        ("keyed set", &|| drop(keyed_set::decode(text, &strict))),
        ("keyed set delta", &|| {
            if let Ok(delta) = keyed_set::decode_delta(text, &strict) {
                drop(keyed_set::apply(pack, &delta));
            }
        }),
        ("session", &|| {
            let mut reader = SessionReader::new();
            drop(reader.read(text));
            drop(reader.read(text));
        }),
        ("protocol", &|| {
            drop(wire::protocol::decode_tool_definitions(text));
            drop(wire::protocol::decode_tool_request(text));
            drop(wire::protocol::decode_error(text));
        }),
    ];
    for (name, door) in open {
        bounded(name, text.len(), door);
    }
}

#[test]
fn mutations_of_good_texts_make_no_decoder_panic_or_grow() {
    let number = |name: &str| std::env::var(name).ok().and_then(|value| value.parse().ok());
    let cases: u64 = number("LACON_MUTATIONS").unwrap_or(CASES);
    let start: u64 = number("LACON_MUTATIONS_SEED").unwrap_or(1);
    let seeds = seeds();
    let rows = [
        serde_json::json!({"id": 1, "a": "x"}),
        serde_json::json!({"id": 2, "a": null}),
    ];
    let set = keyed_set::KeyedSet::from_rows("", "id", &rows).unwrap();
    for seed in &seeds {
        doors(seed, &set);
    }
    for case in 0..cases {
        let mut random = Random(start.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(case));
        let text = mutated(&mut random, &seeds);
        let outcome = std::panic::catch_unwind(|| doors(&text, &set));
        assert!(
            outcome.is_ok(),
            "case {case} of LACON_MUTATIONS_SEED={start}:\n{text:?}"
        );
    }
}

/// The two holes that only such mutations found: a boundary inside a character, and `(` taken for `{`.
#[test]
fn a_table_begins_with_a_brace() {
    let options = DecodeOptions::default();
    for columns in ["é@id}", "(@id}", "@id}", "é}", "{é", "{}", "}"] {
        let set = format!("GCF profile=generic tool=t pack_root=sha256:0 key=id\n## [1]{columns}\n1\n");
        let delta =
            format!("GCF profile=generic delta=true base_root=a new_root=b key=id\n## changed [1]{columns}\n1\n");
        assert!(keyed_set::decode(&set, &options).is_err(), "{set}");
        assert!(keyed_set::decode_delta(&delta, &options).is_err(), "{delta}");
        assert!(wire::gcf::decode(&delta, &options).is_err(), "{delta}");
    }
}
