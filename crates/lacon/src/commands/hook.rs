//! `lacon hook`: what a coding agent is told after its own search or reading, where the index knows something that this has not shown.
//!
//! Silence is the rule. It speaks after a search that found nothing although the name is there in another spelling, after one that
//! found too much although it is one symbol's name, and after a part of a file was read whose symbol is used elsewhere. Whatever
//! goes wrong is silence, too: a hook that fails is in the way of every call.

use std::io::Read;
use std::path::{Path, PathBuf};

use index::model::EdgeKind;
use index::search::FoldedNames;
use index::snapshot::{EdgeEnd, EdgeKinds, Snapshot, SymbolView};
use index::store::Location;
use serde_json::{Value, json};
use server::project;
use terminal::failure::Failure;
use terminal::output::Output;

/// Say what the index knows after an agent's own search or reading
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon init --hooks --client claude-code   # has Claude Code call it after Grep, Glob and Read
  LACON_HOOKS=off claude                    # silence for one session

Reads the agent's description of a call on standard input, and answers in a line or not at all. Never fails.")]
pub(crate) struct Args {}

/// Longest description of a call that is read.
const MOST_INPUT: u64 = 8 << 20;
/// Lines of a search from which on it has found too much to be read.
const TOO_MANY: usize = 60;
/// Files in which a symbol is used, besides its own, from which on that is worth a word.
const WORTH_SAYING: usize = 3;
/// Lines of a stretch that is read, beyond which no single symbol is meant.
const STRETCH: u64 = 120;
/// Symbols of one name that are looked at.
const MOST_NAMESAKES: usize = 200;
/// Symbols that are named.
const NAMED: usize = 3;

pub(crate) fn run(_: Args, output: &mut Output) -> Result<(), Failure> {
    if std::env::var("LACON_HOOKS").is_ok_and(|word| word == "off") {
        return Ok(());
    }
    let mut text = String::new();
    if std::io::stdin().take(MOST_INPUT).read_to_string(&mut text).is_err() {
        return Ok(());
    }
    let call: Value = serde_json::from_str(&text).unwrap_or_default();
    if let Some(said) = said(&call) {
        let event = call["hook_event_name"].as_str().unwrap_or("PostToolUse");
        output.line(json!({"hookSpecificOutput": {"hookEventName": event, "additionalContext": said}}).to_string());
    }
    Ok(())
}

/// What is said about a call.
fn said(call: &Value) -> Option<String> {
    let at = call["cwd"].as_str().map_or_else(|| PathBuf::from("."), PathBuf::from);
    let root = project::around(&at).ok()?;
    let location = Location::of(&root, None).ok()?;
    let snapshot = Snapshot::open(&location.snapshot()).ok()?;
    let input = &call["tool_input"];
    let said = match call["tool_name"].as_str()? {
        "Grep" => after_search(&snapshot, input, &call["tool_response"]),
        "Glob" => after_glob(&snapshot, input, &call["tool_response"]),
        "Read" => after_reading(&snapshot, &root, input),
        _ => None,
    };
    // What is damaged reads as if it were not there.
    said.filter(|_| snapshot.damage().is_none())
}

fn after_search(snapshot: &Snapshot, input: &Value, response: &Value) -> Option<String> {
    let pattern = input["pattern"].as_str()?;
    let name = name_in(pattern)?;
    let found = lines_of(response)?;
    let exact = symbols_named(snapshot, name);
    if found == 0 {
        // It may be there in a part of the tree that was not searched; that is known from the answer.
        if !exact.is_empty() {
            let is_narrowed = ["path", "glob", "type"]
                .iter()
                .any(|key| input[*key].as_str().is_some_and(|value| !value.is_empty()));
            return is_narrowed.then(|| format!("lacon: outside of what was searched, {}.", places(&exact)));
        }
        let near = spelled_otherwise(snapshot, name);
        return (!near.is_empty()).then(|| format!("lacon: `{name}` is spelled otherwise here: {}.", places(&near)));
    }
    if found < TOO_MANY || exact.is_empty() || exact.len() > NAMED {
        return None;
    }
    let best = exact.iter().max_by_key(|symbol| snapshot.incoming_count(symbol.id()))?;
    Some(format!(
        "lacon: {}. The `lacon` tool `uses` lists every use of `{}` by kind, and says when none is missing.",
        places(&exact),
        best.qualified_name()
    ))
}

fn after_glob(snapshot: &Snapshot, input: &Value, response: &Value) -> Option<String> {
    if lines_of(response)? > 0 {
        return None;
    }
    let pattern = input["pattern"].as_str()?;
    // A pattern of names alone finds what there is.
    let name = pattern
        .rsplit('/')
        .next()
        .filter(|name| !name.contains(['*', '?', '[', '{']) && name.len() > 3)?;
    let wanted = name.to_lowercase();
    let like = |path: &str| {
        path.rsplit('/')
            .next()
            .is_some_and(|file| file.to_lowercase() == wanted)
    };
    let paths: Vec<&str> = snapshot
        .files()
        .map(|file| file.path())
        .filter(|path| like(path))
        .take(NAMED)
        .collect();
    (!paths.is_empty()).then(|| format!("lacon: there is {}.", paths.join(", ")))
}

fn after_reading(snapshot: &Snapshot, root: &Path, input: &Value) -> Option<String> {
    let first = input["offset"].as_u64().filter(|first| *first > 0)?;
    let lines = input["limit"].as_u64().filter(|lines| *lines <= STRETCH)?;
    let path = Path::new(input["file_path"].as_str()?);
    let relative = path.strip_prefix(root).ok()?;
    let path = index::scan::escape_path(relative);
    let file = snapshot.find_file(&path)?;
    let (first, last) = (u32::try_from(first).ok()?, u32::try_from(first + lines).ok()?);
    // What begins in the stretch is what is read there.
    let symbols = file.symbols().filter(|symbol| !symbol.is_file());
    let begun = symbols.filter(|symbol| (first..last).contains(&symbol.span().start_line));
    let (symbol, files, uses) = begun
        .map(|symbol| {
            let (files, uses) = used_elsewhere(snapshot, symbol);
            (symbol, files, uses)
        })
        .max_by_key(|(symbol, files, _)| (*files, std::cmp::Reverse(symbol.id())))?;
    if files < WORTH_SAYING {
        return None;
    }
    // Of a file that was edited since, nothing is said: the lines are not those of the index.
    let (_, hash) = index::scan::read_source(root, &path).ok()?;
    (hash == *file.hash()).then(|| {
        format!(
            "lacon: `{}` is used {uses} times in {files} other files; the `lacon` tool `uses` lists them.",
            symbol.qualified_name()
        )
    })
}

/// The name that a pattern searches for, if it is that of one thing and nothing else.
fn name_in(pattern: &str) -> Option<&str> {
    let mut name = pattern.trim();
    for mark in ["\\b", "^", "def ", "class ", "func ", "fn ", "function "] {
        name = name.strip_prefix(mark).unwrap_or(name);
    }
    for mark in ["\\b", "$", "\\(", "("] {
        name = name.strip_suffix(mark).unwrap_or(name);
    }
    let is_name = |letter: char| letter.is_alphanumeric() || letter == '_';
    let is_one = name.len() > 3 && name.chars().all(is_name) && !name.chars().all(|letter| letter.is_ascii_digit());
    is_one.then_some(name)
}

/// How many lines or files the agent's tool has found; nothing where its answer does not say.
fn lines_of(response: &Value) -> Option<usize> {
    let number = |name: &str| {
        response[name]
            .as_u64()
            .map(|count| usize::try_from(count).unwrap_or(usize::MAX))
    };
    let text = |text: &str| match text.trim() {
        "" => 0,
        text if text.starts_with("No matches found") || text.starts_with("No files found") => 0,
        text => text.lines().count(),
    };
    match response {
        Value::String(words) => Some(text(words)),
        Value::Object(_) => number("numLines")
            .or_else(|| response["content"].as_str().filter(|words| !words.is_empty()).map(text))
            .or_else(|| number("numFiles"))
            .or_else(|| response["filenames"].as_array().map(Vec::len)),
        Value::Array(parts) => Some(parts.iter().filter_map(|part| part["text"].as_str()).map(text).sum()),
        _ => None,
    }
}

/// The symbols with exactly this name, tests and what is declared only left out where there are others.
fn symbols_named<'a>(snapshot: &'a Snapshot, name: &str) -> Vec<SymbolView<'a>> {
    let folded = name.to_lowercase();
    let names = FoldedNames::of(snapshot);
    let numbers = names.containing(&folded).filter(|number| names.get(*number) == folded);
    let symbols = numbers
        .flat_map(|number| snapshot.symbols_of_name(number))
        .take(MOST_NAMESAKES);
    symbols
        .filter(|symbol| symbol.name() == name && !symbol.is_file())
        .collect()
}

/// The symbols whose names are the same words in another spelling, or one letter away.
fn spelled_otherwise<'a>(snapshot: &'a Snapshot, name: &str) -> Vec<SymbolView<'a>> {
    let names = FoldedNames::of(snapshot);
    let words = index::search::words(name);
    let Some(longest) = words.iter().max_by_key(|word| word.len()) else {
        return Vec::new();
    };
    let same_words = |number: &usize| {
        let candidate = snapshot.name_text(*number);
        candidate.len() < 2 * name.len() + words.len() && index::search::words(candidate) == words
    };
    let mut numbers: Vec<usize> = names.containing(longest).filter(same_words).take(NAMED).collect();
    if numbers.is_empty() && name.len() > 6 {
        numbers.extend(names.near(name, 1).into_iter().map(|(_, number)| number).take(NAMED));
    }
    let symbols = numbers
        .into_iter()
        .flat_map(|number| snapshot.symbols_of_name(number).take(1));
    symbols.filter(|symbol| !symbol.is_file()).take(NAMED).collect()
}

fn places(symbols: &[SymbolView<'_>]) -> String {
    let shown: Vec<String> = symbols
        .iter()
        .take(NAMED)
        .map(|symbol| {
            let span = symbol.span();
            format!(
                "`{}` is at {}:{}-{}",
                symbol.qualified_name(),
                symbol.path(),
                span.start_line,
                span.end_line
            )
        })
        .collect();
    match symbols.len().saturating_sub(NAMED) {
        0 => shown.join(", "),
        more => format!("{} and {more} more", shown.join(", ")),
    }
}

/// In how many other files a symbol is used, and how often.
fn used_elsewhere(snapshot: &Snapshot, symbol: SymbolView<'_>) -> (usize, usize) {
    const MOST_EDGES: usize = 2_000;
    let kinds = EdgeKinds::ALL.without(EdgeKind::Contains);
    let edges = snapshot.incoming(EdgeEnd::Symbol(symbol.id()), kinds).take(MOST_EDGES);
    let mut files: Vec<String> = edges
        .filter_map(|edge| snapshot.symbol(edge.from))
        .map(|from| from.path().to_owned())
        .filter(|path| path != symbol.path())
        .collect();
    let uses = files.len();
    files.sort_unstable();
    files.dedup();
    (files.len(), uses)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{lines_of, name_in};

    #[test]
    fn a_name_is_told_from_an_expression() {
        assert_eq!(name_in("\\bparse_url\\b"), Some("parse_url"));
        assert_eq!(name_in("def send\\("), Some("send"));
        assert_eq!(name_in("class Client"), Some("Client"));
        for other in ["a|b", "foo.*bar", "if", "x = 3", "", "12345", "TODO: fix"] {
            assert_eq!(name_in(other), None, "{other}");
        }
    }

    #[test]
    fn what_was_found_is_counted_in_every_form() {
        assert_eq!(lines_of(&json!("No matches found")), Some(0));
        assert_eq!(lines_of(&json!("a.py:1: x\nb.py:2: y")), Some(2));
        assert_eq!(
            lines_of(&json!({"mode": "files_with_matches", "filenames": [], "numFiles": 0})),
            Some(0)
        );
        assert_eq!(
            lines_of(&json!({"mode": "content", "numFiles": 0, "content": "a\nb\nc", "numLines": 3})),
            Some(3)
        );
        assert_eq!(lines_of(&json!([{"type": "text", "text": "a\nb"}])), Some(2));
        assert_eq!(lines_of(&json!(null)), None);
    }
}
