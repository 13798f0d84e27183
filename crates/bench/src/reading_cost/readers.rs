//! Who reads: each takes in its answer from the top until it has seen a line of the gold.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::anyhow;
use codeintel::Workspace;
use index::scan::read_source;
use serde::Serialize;
use serde_json::{Map, Value};
use server::tools::answer::answer;
use server::tools::{self, Desk, Services, Wish, failure};
use terminal::failure::Failure;
use wire::Format;
use wire::tokens::Tokenizer;

/// The lines that a change needs, with two lines of slack on both sides.
pub(super) struct Gold {
    lines: BTreeMap<String, BTreeSet<u32>>,
}

const SLACK: u32 = 2;

impl Gold {
    pub(super) fn of(changed: &BTreeMap<String, Vec<(u32, u32)>>) -> Gold {
        let around = |&(first, last): &(u32, u32)| {
            first.saturating_sub(SLACK).max(1)..=last.min(first.saturating_add(100_000)).saturating_add(SLACK)
        };
        let lines = |ranges: &Vec<(u32, u32)>| ranges.iter().flat_map(around).collect();
        Gold {
            lines: changed
                .iter()
                .map(|(path, ranges)| (path.clone(), lines(ranges)))
                .collect(),
        }
    }

    pub(super) fn holds(&self, path: &str, line: u32) -> bool {
        self.lines.get(path).is_some_and(|lines| lines.contains(&line))
    }
}

/// What a reader took in.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Shown {
    /// Tokens up to the line that was looked for; none where it was never shown.
    pub(super) tokens: Option<usize>,
    /// Tokens of all that was read.
    pub(super) read: usize,
}

/// A way to look for something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(super) enum Reader {
    /// `find`, page by page
    Find,
    /// `search_code`, its hits opened in order
    Search,
    /// `context_for_task` with its default budget
    Context,
    /// A script that greps for the rarest words, with three lines of context, tests left out
    Ripgrep,
}

/// Pages of `find` that are read.
const PAGES: usize = 8;
/// Longest task that is asked about, in bytes.
const LONGEST: usize = 800;

impl Reader {
    pub(super) fn name(self) -> &'static str {
        match self {
            Reader::Find => "find",
            Reader::Search => "search",
            Reader::Context => "context",
            Reader::Ripgrep => "ripgrep",
        }
    }

    pub(super) fn read(self, workspace: &Workspace, text: &str, gold: &Gold, page: u64) -> Result<Shown, Failure> {
        let end = (0..=text.len().min(LONGEST))
            .rev()
            .find(|&end| text.is_char_boundary(end))
            .unwrap_or(0);
        let text = &text[..end];
        match self {
            Reader::Find => find(workspace, text, gold, page),
            Reader::Search => search(workspace, text, gold),
            Reader::Context => context(workspace, text, gold),
            Reader::Ripgrep => Ok(ripgrep(workspace, text, gold)),
        }
    }
}

/// Somebody who reads.
struct Eyes<'g> {
    gold: &'g Gold,
    read: usize,
    shown: Option<usize>,
}

impl<'g> Eyes<'g> {
    fn new(gold: &'g Gold) -> Eyes<'g> {
        Eyes {
            gold,
            read: 0,
            shown: None,
        }
    }

    /// Reads something that is no line of a file.
    fn aside(&mut self, text: &str) {
        self.read += Tokenizer::O200k.count(text);
    }

    fn line(&mut self, path: &str, line: u32, text: &str) {
        self.read += Tokenizer::O200k.count(text);
        if self.shown.is_none() && self.gold.holds(path, line) {
            self.shown = Some(self.read);
        }
    }

    fn done(self) -> Shown {
        Shown {
            tokens: self.shown,
            read: self.read,
        }
    }
}

fn call(
    workspace: &Workspace,
    tool: &str,
    arguments: Map<String, Value>,
    format: Format,
) -> Result<Vec<String>, Failure> {
    let tool = tools::find(tool).ok_or_else(|| anyhow!("no tool `{tool}`"))?;
    let services = Services::default();
    let desk = Desk {
        workspace,
        services: &services,
        caller: "bench",
        wish: Wish::default(),
    };
    let said = answer(tool, &desk, arguments, format).map_err(failure)?;
    Ok(std::iter::once(said.text).chain(said.note).collect())
}

fn page_of(workspace: &Workspace, text: &str, page: u64, cursor: Option<&str>) -> Result<String, Failure> {
    let mut arguments = Map::from_iter([
        ("query".to_owned(), text.into()),
        ("max_tokens".to_owned(), page.into()),
    ]);
    arguments.extend(cursor.map(|cursor| ("cursor".to_owned(), cursor.into())));
    Ok(call(workspace, "find", arguments, Format::Text)?.concat())
}

pub(super) fn first_page(workspace: &Workspace, text: &str, page: u64) -> Result<String, Failure> {
    page_of(workspace, text, page, None)
}

fn find(workspace: &Workspace, text: &str, gold: &Gold, page: u64) -> Result<Shown, Failure> {
    let mut eyes = Eyes::new(gold);
    let mut cursor: Option<String> = None;
    for _ in 0..PAGES {
        let answer = page_of(workspace, text, page, cursor.as_deref())?;
        let mut path = String::new();
        for line in answer.split_inclusive('\n') {
            match line.split_once('\t').and_then(|(number, _)| number.parse().ok()) {
                Some(number) => eyes.line(&path, number, line),
                None => {
                    eyes.aside(line);
                    if let Some((start, _)) = line.split_once(':') {
                        path = start.to_owned();
                    }
                }
            }
        }
        cursor = answer
            .lines()
            .find_map(|line| line.strip_prefix("next page: cursor "))
            .map(str::to_owned);
        if cursor.is_none() || eyes.shown.is_some() {
            break;
        }
    }
    Ok(eyes.done())
}

/// The list, then each hit from its first line to its last.
fn search(workspace: &Workspace, text: &str, gold: &Gold) -> Result<Shown, Failure> {
    let mut eyes = Eyes::new(gold);
    let arguments = || Map::from_iter([("query".to_owned(), text.into())]);
    eyes.aside(&call(workspace, "search_code", arguments(), Format::Auto)?.concat());
    let json = call(workspace, "search_code", arguments(), Format::Json)?;
    let found: Value = serde_json::from_str(json.first().map_or("", String::as_str))?;
    let repository = &workspace.repositories()[0];
    for hit in found["results"].as_array().into_iter().flatten() {
        let place = &hit["location"];
        let path = place["file_path"].as_str().unwrap_or_default();
        let number = |key: &str| place[key].as_u64().unwrap_or(1) as usize;
        let Ok((text, _)) = read_source(&repository.root, path) else {
            continue;
        };
        let (first, last) = (number("start_line"), number("end_line"));
        for (at, line) in text.lines().enumerate().take(last).skip(first.saturating_sub(1)) {
            eyes.line(path, at as u32 + 1, &format!("{line}\n"));
        }
    }
    Ok(eyes.done())
}

/// What is no source, then the sources in their order.
fn context(workspace: &Workspace, text: &str, gold: &Gold) -> Result<Shown, Failure> {
    let mut eyes = Eyes::new(gold);
    let arguments = Map::from_iter([("task".to_owned(), text.into())]);
    let said = call(workspace, "context_for_task", arguments, Format::Gcf)?;
    let pack = super::super::context::read_pack(&said)?;
    let of_sources: usize = pack
        .sources
        .iter()
        .map(|source| Tokenizer::O200k.count(&source.text))
        .sum();
    eyes.read += Tokenizer::O200k.count(&said.concat()).saturating_sub(of_sources);
    for source in &pack.sources {
        let path = source.id.split("::").next().unwrap_or_default();
        for (at, line) in source.text.lines().enumerate() {
            match source.form.as_str() {
                "body" => eyes.line(path, source.line as u32 + at as u32, &format!("{line}\n")),
                _ => eyes.aside(line),
            }
        }
    }
    Ok(eyes.done())
}

/// Words that are looked for, and matches of each in one file.
const WORDS: usize = 6;
const MATCHES: usize = 20;
/// Lines around a match.
const AROUND: usize = 3;
/// Bytes that are read for one word.
const MOST_OUTPUT: usize = 24_000;
/// What nobody greps for.
const COMMON: &[&str] = &[
    "the", "and", "for", "are", "with", "when", "not", "from", "this", "that", "fix", "fixes", "fixed", "bug", "add",
    "adds", "added", "support", "allow", "use", "using", "now", "also", "should", "would", "can", "will", "into",
    "was", "were", "has", "have", "had", "but", "only", "all", "any", "more", "than", "then", "does",
];

fn ripgrep(workspace: &Workspace, text: &str, gold: &Gold) -> Shown {
    let repository = &workspace.repositories()[0];
    let is_left_out = |path: &str| path.contains("test") || path.contains("spec") || path.ends_with(".md");
    let mut files: Vec<(&str, String)> = Vec::new();
    for file in repository.snapshot.files() {
        if let Ok((text, _)) = read_source(&repository.root, file.path()) {
            files.push((file.path(), text));
        }
    }
    let mut words: Vec<String> = Vec::new();
    for word in text.split(|c: char| !c.is_alphanumeric() && c != '_') {
        let lower = word.to_lowercase();
        if word.len() > 2 && !COMMON.contains(&lower.as_str()) && !words.contains(&lower) {
            words.push(lower);
        }
    }
    let lowered: Vec<String> = files.iter().map(|(_, text)| text.to_lowercase()).collect();
    let count = |word: &String| {
        lowered
            .iter()
            .map(|text| text.lines().filter(|line| line.contains(word.as_str())).count())
            .sum::<usize>()
    };
    let mut counted: Vec<(usize, String)> = words
        .into_iter()
        .take(25)
        .map(|word| (count(&word), word))
        .filter(|(count, _)| *count > 0)
        .collect();
    counted.sort();
    let mut eyes = Eyes::new(gold);
    for (_, word) in counted.iter().take(WORDS) {
        let mut bytes = 0;
        for ((path, text), lowered) in files.iter().zip(&lowered).filter(|((path, _), _)| !is_left_out(path)) {
            let lines: Vec<&str> = text.lines().collect();
            let matches = lowered
                .lines()
                .enumerate()
                .filter(|(_, line)| line.contains(word.as_str()))
                .take(MATCHES);
            let near: BTreeSet<usize> = matches
                .flat_map(|(at, _)| at.saturating_sub(AROUND)..(at + AROUND + 1).min(lines.len()))
                .collect();
            if near.is_empty() || bytes > MOST_OUTPUT {
                continue;
            }
            eyes.aside(&format!("{path}\n"));
            for at in near {
                let line = format!("{}-{}\n", at + 1, lines.get(at).unwrap_or(&""));
                bytes += line.len();
                eyes.line(path, at as u32 + 1, &line);
            }
        }
        if eyes.shown.is_some() {
            break;
        }
    }
    eyes.done()
}
