//! Writes the vocabulary `o200k_base` as a table that is used where it lies in the program, so that the first count of a process
//! has nothing to read or to build; and the classes of characters that the vocabulary's first step tells apart.

#[path = "src/tokens/slots.rs"]
mod slots;

use std::fmt::Write;
use std::path::PathBuf;

use regex_syntax::hir::{Class, HirKind};

fn main() -> std::io::Result<()> {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=src/tokens/slots.rs");
    let folder = PathBuf::from(std::env::var_os("OUT_DIR").expect("cargo says where to write"));
    let (slots, starts, tokens) = vocabulary();
    std::fs::write(folder.join("o200k.slots"), bytes(&slots))?;
    std::fs::write(folder.join("o200k.starts"), bytes(&starts))?;
    std::fs::write(folder.join("o200k.tokens"), tokens)?;
    std::fs::write(folder.join("classes.rs"), classes())
}

/// The slots, where each token begins (and the last one ends), and all tokens.
fn vocabulary() -> (Vec<u32>, Vec<u32>, Vec<u8>) {
    let vocabulary = &bpe_openai::o200k_base().bpe;
    let count = u32::try_from(vocabulary.num_tokens()).expect("token numbers have 32 bits");
    assert!(count <= slots::NUMBERS, "more tokens than a slot can tell apart");
    let mut table = vec![0; slots::SLOTS];
    let (mut starts, mut tokens) = (Vec::new(), Vec::new());
    for token in 0..count {
        let bytes = vocabulary.token_bytes(token);
        starts.push(u32::try_from(tokens.len()).expect("tokens take less than 4 GB"));
        tokens.extend_from_slice(bytes);
        let (mut at, mark) = slots::place(bytes);
        while table[at] != 0 {
            at = slots::next(at);
        }
        table[at] = mark | (token + 1);
    }
    starts.push(u32::try_from(tokens.len()).expect("tokens take less than 4 GB"));
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
