//! `lacon grep`: ripgrep's usual flags, order of arguments and exit codes, answered with the definitions that the lines stand in.

use std::ffi::OsString;
use std::path::PathBuf;

use codeintel::grep::NOTHING;
use serde_json::{Map, Value, json};
use terminal::failure::{Exit, Failure};
use terminal::output::Output;

use super::questions::{Asking, ask};

/// Find lines by a regular expression, as ripgrep does, below the definitions they stand in
#[derive(clap::Args)]
#[command(after_help = "\
Exit codes, as ripgrep's: 0 with a match, 1 without, 2 on an error.

Examples:
  lacon grep 'fn \\w+_mut' crates/
  lacon grep -w -i redirect -t py -C2
  lacon grep -F 'a.b(c)' -g '!*_test.go'")]
pub(crate) struct Args {
    /// A regular expression
    #[arg(value_name = "PATTERN", required_unless_present = "patterns")]
    pattern: Option<String>,

    /// Folders or files to search, below the root
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,

    /// A pattern; several may be given, and all arguments are then paths
    #[arg(short = 'e', long = "regexp", value_name = "PATTERN", allow_hyphen_values = true)]
    patterns: Vec<String>,

    /// The patterns are plain text
    #[arg(short = 'F', long = "fixed-strings")]
    fixed: bool,

    /// Letters of either case are equal
    #[arg(short = 'i', long)]
    ignore_case: bool,

    /// Equal unless a pattern has a capital letter
    #[arg(short = 'S', long)]
    smart_case: bool,

    /// Only whole words
    #[arg(short = 'w', long = "word-regexp", alias = "whole-word")]
    word: bool,

    /// Lines that do not match (-v, as ripgrep has it)
    #[arg(long = "invert-match")]
    invert: bool,

    /// Only files that match a glob, with `!` in front none that do
    #[arg(short = 'g', long = "glob", value_name = "GLOB", allow_hyphen_values = true)]
    globs: Vec<String>,

    /// Only files of a language or with an extension
    #[arg(short = 't', long = "type", value_name = "TYPE")]
    types: Vec<String>,

    /// Lines to show around each match
    #[arg(short = 'C', long, value_name = "N")]
    context: Option<u32>,

    /// Lines to show after each match
    #[arg(short = 'A', long, value_name = "N")]
    after_context: Option<u32>,

    /// Lines to show before each match
    #[arg(short = 'B', long, value_name = "N")]
    before_context: Option<u32>,

    /// Only the files with a match
    #[arg(short = 'l', long = "files-with-matches")]
    files: bool,

    /// Only how many lines of each file match
    #[arg(short = 'c', long)]
    count: bool,

    /// Matching lines of each file at most
    #[arg(short = 'm', long, value_name = "N")]
    max_count: Option<u32>,

    /// Line numbers, which are always shown
    #[arg(short = 'n', long)]
    line_number: bool,

    /// Also hidden files
    #[arg(long)]
    hidden: bool,

    /// List the matches in tests too
    #[arg(long)]
    tests: bool,

    /// Matches per page
    #[arg(long, value_name = "N")]
    limit: Option<u32>,

    /// Go on where the page before ended
    #[arg(long, value_name = "CURSOR")]
    cursor: Option<String>,

    #[command(flatten)]
    asking: Asking,
}

/// The words of a command line, with ripgrep's `-v` by its long name where `grep` is meant: everywhere else it says more on stderr.
pub(crate) fn with_invert(words: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let words: Vec<OsString> = words.collect();
    if words.get(1).is_none_or(|verb| verb != "grep") {
        return words;
    }
    let mut is_over = false;
    let mut meant = Vec::with_capacity(words.len() + 1);
    for word in words {
        let flags = word.to_str().and_then(|word| word.strip_prefix('-'));
        is_over |= word == "--";
        match flags {
            // Together with others that take no value, as in `-iv`.
            Some(flags) if !is_over && flags.contains('v') && flags.chars().all(|flag| SWITCHES.contains(flag)) => {
                meant.push("--invert-match".into());
                let others = flags.replace('v', "");
                if !others.is_empty() {
                    meant.push(format!("-{others}").into());
                }
            }
            _ => meant.push(word),
        }
    }
    meant
}

/// Flags of one letter that take no value.
const SWITCHES: &str = "FiSwvlcn";

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let mut patterns = args.patterns;
    let mut paths = args.paths;
    if let Some(pattern) = args.pattern {
        match patterns.is_empty() {
            true => patterns.push(pattern),
            false => paths.insert(0, pattern.into()),
        }
    }
    // As every other program, from where it is started, wherever the root of the tree is.
    let paths: Vec<String> = paths
        .iter()
        .map(|path| std::fs::canonicalize(path).unwrap_or_else(|_| path.clone()))
        .map(|path| path.to_string_lossy().into_owned())
        .collect();
    let arguments = json!({
        "patterns": patterns,
        "fixed": args.fixed,
        "ignore_case": args.ignore_case,
        "smart_case": args.smart_case,
        "word": args.word,
        "invert": args.invert,
        "paths": paths,
        "globs": args.globs,
        "types": args.types,
        "before": args.before_context.or(args.context),
        "after": args.after_context.or(args.context),
        "max_count": args.max_count,
        "files": args.files,
        "count": args.count,
        "tests": args.tests,
        "hidden": args.hidden,
        "limit": args.limit,
        "cursor": args.cursor,
    });
    let parameters: Map<String, Value> = match arguments {
        Value::Object(members) => members.into_iter().filter(|(_, value)| !value.is_null()).collect(),
        _ => Map::new(),
    };
    let text = ask("grep", &parameters, &args.asking, output).map_err(|failure| Failure {
        exit: Exit::Trouble,
        ..failure
    })?;
    if is_nothing(&text) {
        output.exit_with(1);
    }
    Ok(())
}

/// Whether an answer holds no match, as text or as JSON. Every line of source in it begins with its number.
fn is_nothing(text: &str) -> bool {
    let json: Option<Value> = serde_json::from_str(text).ok();
    match json {
        Some(found) => found["total"] == 0,
        None => text.lines().any(|line| line == NOTHING),
    }
}

#[cfg(test)]
mod tests {
    use super::{is_nothing, with_invert};

    #[test]
    fn invert_is_meant_by_its_letter() {
        let meant = |line: &str| -> Vec<String> {
            let words = with_invert(line.split(' ').map(Into::into));
            words.iter().map(|word| word.to_string_lossy().into_owned()).collect()
        };
        assert_eq!(
            meant("lacon grep -iv x"),
            ["lacon", "grep", "--invert-match", "-i", "x"]
        );
        assert_eq!(meant("lacon grep -v x"), ["lacon", "grep", "--invert-match", "x"]);
        assert_eq!(
            meant("lacon grep -g -vendor -- -v"),
            ["lacon", "grep", "-g", "-vendor", "--", "-v"]
        );
        assert_eq!(meant("lacon status -v"), ["lacon", "status", "-v"]);
    }

    #[test]
    fn no_match_is_known_by_its_line() {
        assert!(is_nothing("no match\n") && is_nothing(r#"{"matches":[],"total":0}"#));
        assert!(!is_nothing("a.py\n1\tno match\n"));
    }
}
