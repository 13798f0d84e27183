//! One-file edits, timed: a statement added, a definition added before all others, a definition renamed, a file added, a file
//! removed.

use std::fs;
use std::path::Path;
use std::time::Instant;

use index::build::{Indexer, Options};
use index::scan::unescape_path;
use serde::Serialize;
use terminal::failure::Failure;

use super::milliseconds;

/// What edits took.
#[derive(Serialize)]
pub(super) struct Edits {
    /// A statement added to a function.
    pub(super) body: Percentiles,
    /// A function added before all others of a file.
    pub(super) definition: Percentiles,
    /// A function renamed, so that whoever used it no longer finds it.
    pub(super) rename: Percentiles,
    /// A copy of a file added beside it.
    pub(super) added: Percentiles,
    /// That copy removed.
    pub(super) removed: Percentiles,
}

#[derive(Serialize)]
pub(super) struct Percentiles {
    pub(super) p50_milliseconds: f64,
    pub(super) p95_milliseconds: f64,
    pub(super) max_milliseconds: f64,
    /// On average.
    pub(super) files_resolved: usize,
}

/// Makes `count` edits of each sort in files spread over the tree.
pub(super) fn measure(
    tree: &Path,
    index_directory: &Path,
    threads: usize,
    count: usize,
    paths: &[String],
) -> Result<Edits, Failure> {
    let options = Options {
        directory: Some(index_directory.to_path_buf()),
        threads: Some(threads),
        ..Options::default()
    };
    let mut indexer = Indexer::open(tree, options)?;
    indexer.prepare()?;
    let body = time_edits(&mut indexer, count, paths, add_statement)?;
    let rename = time_edits(&mut indexer, count, paths, rename_definition)?;
    let definition = time_edits(&mut indexer, count, paths, add_definition)?;
    let (added, removed) = time_files(&mut indexer, count, paths)?;
    Ok(Edits {
        body,
        definition,
        rename,
        added,
        removed,
    })
}

/// Adds a copy of a file and removes it again, for files spread over the tree.
fn time_files(indexer: &mut Indexer, count: usize, paths: &[String]) -> Result<(Percentiles, Percentiles), Failure> {
    let root = indexer.root().to_path_buf();
    let (mut added, mut removed) = (Timed::default(), Timed::default());
    let sources = |path: &&String| first_word(path).is_some();
    let sources: Vec<&String> = paths.iter().filter(sources).collect();
    for path in sources.iter().step_by((sources.len() / count).max(1)).take(count) {
        let absolute = root.join(unescape_path(path));
        let copy = absolute.with_extension(format!("copy.{}", path.rsplit('.').next().unwrap_or("")));
        fs::copy(&absolute, &copy)?;
        added.update(indexer, &copy)?;
        fs::remove_file(&copy)?;
        removed.update(indexer, &copy)?;
    }
    Ok((added.percentiles(), removed.percentiles()))
}

/// Updates that were timed.
#[derive(Default)]
struct Timed {
    milliseconds: Vec<f64>,
    resolved: usize,
}

impl Timed {
    /// Times the way from a changed file to the new snapshot.
    fn update(&mut self, indexer: &mut Indexer, path: &Path) -> Result<(), Failure> {
        let began = Instant::now();
        let report = indexer.update(&[path.to_path_buf()])?;
        self.milliseconds.push(milliseconds(began.elapsed()));
        self.resolved += report.resolved;
        if !report.changed {
            Err(anyhow::anyhow!(
                "the edit of `{}` did not change the snapshot",
                path.display()
            ))?;
        }
        Ok(())
    }

    fn percentiles(mut self) -> Percentiles {
        let times = &mut self.milliseconds;
        times.sort_by(f64::total_cmp);
        let at = |part: f64| {
            let last = times.len().saturating_sub(1);
            times.get((last as f64 * part).round() as usize).copied().unwrap_or(0.0)
        };
        Percentiles {
            p50_milliseconds: at(0.5),
            p95_milliseconds: at(0.95),
            max_milliseconds: at(1.0),
            files_resolved: self.resolved / times.len().max(1),
        }
    }
}

/// Edits files spread over the tree one at a time and times the way to the new snapshot.
fn time_edits(
    indexer: &mut Indexer,
    count: usize,
    paths: &[String],
    edit: fn(&str, &str, usize) -> Option<String>,
) -> Result<Percentiles, Failure> {
    let root = indexer.root().to_path_buf();
    let mut timed = Timed::default();
    let mut number = 0;
    let step = (paths.len() / (count * 2)).max(1);
    for path in paths.iter().step_by(step) {
        let absolute = root.join(unescape_path(path));
        let text = fs::read_to_string(&absolute).unwrap_or_default();
        let Some(edited) = edit(path, &text, number) else {
            continue;
        };
        fs::write(&absolute, edited)?;
        timed.update(indexer, &absolute)?;
        number += 1;
        if number == count {
            break;
        }
    }
    Ok(timed.percentiles())
}

/// Adds a function to the end of a file.
fn add_definition(path: &str, text: &str, number: usize) -> Option<String> {
    let function = match path.rsplit('.').next()? {
        "py" => "\n\ndef lacon_added_NUMBER(value):\n    return str(value)\n",
        "go" => "\nfunc laconAddedNUMBER(value int) int { return value + 1 }\n",
        "js" | "ts" | "tsx" | "jsx" => "\nfunction laconAddedNUMBER(value) { return String(value); }\n",
        "rs" => "\nfn lacon_added_NUMBER(value: u32) -> u32 { value + 1 }\n",
        "c" => "\nstatic int lacon_added_NUMBER(int value) { return value + 1; }\n",
        _ => return None,
    };
    // Before the others, so that all of them move.
    let at = first_function(path, text).map_or(text.len(), |(line, _)| line);
    let function = function.replace("NUMBER", &number.to_string());
    Some(format!("{}{function}{}", &text[..at], &text[at..]))
}

fn rename_definition(path: &str, text: &str, number: usize) -> Option<String> {
    let (_, name) = first_function(path, text)?;
    let rest = &text[name..];
    let end = name + rest.find(|letter: char| !letter.is_alphanumeric() && letter != '_')?;
    (end > name).then(|| format!("{}_renamed{number}{}", &text[..end], &text[end..]))
}

/// Where the line of the first function at the top of a file starts, and where its name does.
fn first_function(path: &str, text: &str) -> Option<(usize, usize)> {
    let word = first_word(path)?;
    let at = text.find(word)?;
    Some((at + 1, at + word.len()))
}

/// What a function at the top of a file begins with.
fn first_word(path: &str) -> Option<&'static str> {
    Some(match path.rsplit('.').next()? {
        "py" => "\ndef ",
        "go" => "\nfunc ",
        "js" | "ts" | "tsx" | "jsx" => "\nfunction ",
        "rs" => "\nfn ",
        _ => return None,
    })
}

fn add_statement(path: &str, text: &str, number: usize) -> Option<String> {
    let (starts, ends, statement) = match path.rsplit('.').next()? {
        "py" => (["def ", "    def "], "):", "print(len(\"NUMBER\"))"),
        "go" => (["func ", "func "], "{", "println(len(\"NUMBER\"))"),
        "js" | "ts" | "tsx" | "jsx" => (["function ", "export function "], "{", "console.log(\"NUMBER\");"),
        "rs" => (["fn ", "    pub fn "], "{", "drop(\"NUMBER\");"),
        "c" => (["{", "{"], "{", "printk(\"NUMBER\");"),
        _ => return None,
    };
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        at += line.len();
        let trimmed = line.trim_end();
        if starts.iter().any(|start| line.starts_with(start)) && trimmed.ends_with(ends) {
            let indent = " ".repeat(line.len() - line.trim_start().len() + 4);
            let statement = statement.replace("NUMBER", &number.to_string());
            return Some(format!("{}{indent}{statement}\n{}", &text[..at], &text[at..]));
        }
    }
    None
}
