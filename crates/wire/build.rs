//! Writes the vocabularies as tables that are used where they lie in the program, so that the first count of a process has nothing
//! to read or to build; and the classes of characters that the first step of both tells apart.

#[path = "src/tokens/slots.rs"]
mod slots;

use std::fmt::Write;
use std::path::PathBuf;

use regex_syntax::hir::{Class, HirKind};

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/tokens/slots.rs");
    println!("cargo::rerun-if-changed=data");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where to write"));
    for name in ["cl100k", "o200k"] {
        let listed = std::fs::read(format!("data/{name}_base.tokens"))?;
        let (slots, starts, tokens) = vocabulary(&listed);
        std::fs::write(folder.join(format!("{name}.slots")), bytes(&slots))?;
        std::fs::write(folder.join(format!("{name}.starts")), bytes(&starts))?;
        std::fs::write(folder.join(format!("{name}.tokens")), tokens)?;
    }
    std::fs::write(folder.join("classes.rs"), classes())
}

/// The slots, where each token begins (and the last one ends), and all tokens; from a list of lengths, each with its bytes.
fn vocabulary(mut listed: &[u8]) -> (Vec<u32>, Vec<u32>, Vec<u8>) {
    let (mut starts, mut tokens) = (vec![0], Vec::new());
    while let Some((length, rest)) = listed.split_first() {
        let (token, rest) = rest.split_at(usize::from(*length));
        tokens.extend_from_slice(token);
        starts.push(u32::try_from(tokens.len()).expect("tokens take less than 4 GB"));
        listed = rest;
    }
    let count = starts.len() - 1;
    assert!(
        count < slots::NUMBERS as usize,
        "more tokens than a slot can tell apart"
    );
    // More than twice the tokens there are, so that few slots are looked at in vain.
    let mut table = vec![0; (2 * count).next_power_of_two()];
    for token in 0..count {
        let bytes = &tokens[starts[token] as usize..starts[token + 1] as usize];
        let (mut at, mark) = slots::place(bytes, table.len());
        while table[at] != 0 {
            at = slots::next(at, table.len());
        }
        table[at] = mark | (token as u32 + 1);
    }
    (table, starts, tokens)
}

/// Numbers as the program reads them: in 4 bytes, the smallest first.
fn bytes(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

/// Ranges of characters beyond ASCII, sorted, with the class of each.
fn classes() -> String {
    let mut ranges = Vec::new();
    for (class, pattern) in [
        ("Upper", r"[\p{Lu}\p{Lt}]"),
        ("Lower", r"\p{Ll}"),
        ("Letter", r"[\p{Lm}\p{Lo}]"),
        ("Mark", r"\p{M}"),
        ("Number", r"\p{N}"),
        ("Space", r"\s"),
    ] {
        let parsed = regex_syntax::parse(pattern).expect("the pattern is one class");
        let HirKind::Class(Class::Unicode(found)) = parsed.kind() else {
            panic!("{pattern} is no class of characters");
        };
        let beyond = found.iter().filter(|range| !range.end().is_ascii());
        ranges.extend(beyond.map(|range| (range.start().max('\u{80}'), range.end(), class)));
    }
    ranges.sort_unstable();
    let mut source = String::from("[\n");
    for (first, last, class) in ranges {
        writeln!(source, "({first:?}, {last:?}, Class::{class}),").expect("a string can be written to");
    }
    source.push(']');
    source
}
