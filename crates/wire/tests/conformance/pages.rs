//! Fixtures as pages: a `##` heading is a case, a sentence says why, and the fenced blocks below are what is compared.
//!
//! In a block whose kind ends in `visible`, marks stand for what an editor would hide or mend: `␍` is CR, `␉` TAB, `␠` a
//! space, and `⟨c2 85⟩` those bytes.

use std::path::Path;

pub(crate) struct Page {
    /// The file's name without its ending.
    pub(crate) name: String,
    pub(crate) cases: Vec<Case>,
}

pub(crate) struct Case {
    pub(crate) name: String,
    /// Where the heading is, from 1.
    pub(crate) line: usize,
    pub(crate) blocks: Vec<Block>,
}

pub(crate) struct Block {
    /// What follows the fence, without `visible`.
    pub(crate) kind: String,
    pub(crate) content: Vec<u8>,
}

impl Case {
    pub(crate) fn kinds(&self) -> Vec<&str> {
        self.blocks.iter().map(|block| block.kind.as_str()).collect()
    }

    /// The text of a block, which must be UTF-8.
    pub(crate) fn text(&self, block: usize) -> &str {
        std::str::from_utf8(&self.blocks[block].content).expect("UTF-8")
    }
}

/// Every page of a folder beside the tests, in the order of their names.
pub(crate) fn read(folder: &str) -> Vec<Page> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures")
        .join(folder);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut files: Vec<_> = entries.map(|entry| entry.unwrap().path()).collect();
    files.sort();
    let pages = files.iter().map(|file| Page {
        name: file.file_stem().unwrap().to_string_lossy().into_owned(),
        cases: cases(&std::fs::read_to_string(file).unwrap()),
    });
    pages.collect()
}

fn cases(page: &str) -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    let mut open: Option<(String, String)> = None;
    for (number, line) in page.lines().enumerate() {
        if let Some((info, mut content)) = open.take() {
            if line == "```" {
                let (kind, content) = match info.strip_suffix(" visible") {
                    Some(kind) => (kind.to_owned(), marked(&content)),
                    None => (info, content.into_bytes()),
                };
                let case = cases.last_mut().expect("a heading before the first block");
                case.blocks.push(Block { kind, content });
            } else {
                content.push_str(line);
                content.push('\n');
                open = Some((info, content));
            }
        } else if let Some(info) = line.strip_prefix("```") {
            open = Some((info.to_owned(), String::new()));
        } else if let Some(name) = line.strip_prefix("## ") {
            cases.push(Case {
                name: name.to_owned(),
                line: number + 1,
                blocks: Vec::new(),
            });
        }
    }
    assert!(open.is_none(), "a block that is not closed");
    cases
}

/// The bytes that marks stand for.
fn marked(text: &str) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut rest = text;
    while let Some(character) = rest.chars().next() {
        rest = &rest[character.len_utf8()..];
        match character {
            '␍' => bytes.push(b'\r'),
            '␉' => bytes.push(b'\t'),
            '␠' => bytes.push(b' '),
            '⟨' => {
                let (hex, after) = rest.split_once('⟩').expect("`⟨` has its `⟩`");
                bytes.extend(
                    hex.split(' ')
                        .map(|byte| u8::from_str_radix(byte, 16).expect("a byte in hex")),
                );
                rest = after;
            }
            other => bytes.extend(other.encode_utf8(&mut [0; 4]).bytes()),
        }
    }
    bytes
}

/// Runs every case of every page, and checks that no page has fewer cases than `floor` says.
pub(crate) fn check(folder: &str, floor: &[(&str, usize)], run: impl Fn(&Case) + std::panic::RefUnwindSafe) {
    let pages = read(folder);
    let mut failures = Vec::new();
    for page in &pages {
        for case in &page.cases {
            if let Err(panic) = std::panic::catch_unwind(|| run(case)) {
                let message = panic.downcast_ref::<String>().cloned();
                let message = message.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                let place = format!("{folder}/{}.md:{}", page.name, case.line);
                failures.push(format!("{place}: {}\n{}", case.name, message.unwrap_or_default()));
            }
        }
    }
    let total: usize = pages.iter().map(|page| page.cases.len()).sum();
    assert!(
        failures.is_empty(),
        "{} of {total} cases fail:\n{}",
        failures.len(),
        failures.join("\n")
    );
    let counts: Vec<(&str, usize)> = pages
        .iter()
        .map(|page| (page.name.as_str(), page.cases.len()))
        .collect();
    for (name, least) in floor {
        let count = counts
            .iter()
            .find(|(page, _)| page == name)
            .map_or(0, |(_, count)| *count);
        assert!(
            count >= *least,
            "{folder}/{name}.md has {count} cases, fewer than {least}"
        );
    }
    assert_eq!(counts.len(), floor.len(), "a page without a floor: {counts:?}");
}
