//! The matching lines, in path order: of indexed files through the filter that knows what they cannot hold, of the others by reading them.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use globset::{Glob, GlobMatcher};
use index::model::FileId;
use index::scan::{SkipReason, read_regular, read_source};
use index::search::text::{Bounds, Case, LineMatch, MAX_PATTERN, Pattern, PatternError, Tree, search_text};
use index::snapshot::FileView;

use super::{Grep, Match};
use crate::error::QuestionError;
use crate::workspace::Workspace;

/// A matching line.
pub(super) struct Hit {
    pub(super) path: String,
    pub(super) line: u32,
    pub(super) text: String,
    /// Its place among all, by path and line.
    pub(super) order: usize,
    /// Whether a definition has its name in it.
    pub(super) defines: bool,
    repository: usize,
    file: Option<FileId>,
    within: Option<(String, u32, u32)>,
}

/// All hits, and what the reader should know.
pub(super) struct Searched {
    pub(super) hits: Vec<Hit>,
    pub(super) notes: Vec<String>,
}

/// When a search gives up and says how far it came.
const TIME: Duration = Duration::from_secs(10);
/// Bytes that are kept of a line.
const LINE_LENGTH: usize = 200;
/// Largest file that no grammar reads that is searched, in bytes, and all of them together.
const LARGEST: u64 = 4 << 20;
const ALL_OTHERS: u64 = 512 << 20;

/// The matching lines.
pub(super) fn search(workspace: &Workspace, ask: &Grep) -> Result<Searched, QuestionError> {
    let pattern = pattern(ask)?;
    let which = Which::of(workspace, ask)?;
    let mut searched = Searched {
        hits: Vec::new(),
        notes: workspace.incomplete().into_iter().collect(),
    };
    if ask.fixed && ask.patterns.iter().any(|pattern| looks_like_expression(pattern)) {
        let note = "the pattern was taken literally (-F); without it, it is a regular expression";
        searched.notes.push(note.to_owned());
    }
    let bounds = Bounds {
        lines: usize::MAX,
        line_length: LINE_LENGTH,
        time: TIME,
    };
    let started = Instant::now();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        let snapshot = &repository.snapshot;
        let tree = Tree {
            root: &repository.root,
            snapshot,
            filter: repository.text_filter(),
        };
        let accept = |file: FileView<'_>| which.takes(number, file.path(), Some(file.language()));
        let mut of_files: Vec<(String, Option<FileId>, Vec<LineMatch>)> = Vec::new();
        match ask.invert {
            false => {
                let matches = search_text(tree, &pattern, &accept, bounds, &|| workspace.is_stopped());
                if matches.timed_out {
                    searched.notes.push(format!(
                        "stopped after {} seconds at {} of {} files: narrow it",
                        TIME.as_secs(),
                        matches.searched,
                        matches.of
                    ));
                }
                for file in matches.files {
                    if let Some(view) = snapshot.file(file.file) {
                        let id = (!file.changed).then_some(file.file);
                        of_files.push((view.path().to_owned(), id, file.lines));
                    }
                }
            }
            true => {
                for file in snapshot.files().filter(|file| accept(*file)) {
                    if let Ok((text, hash)) = read_source(&repository.root, file.path()) {
                        let lines = inverted(&pattern, &text, bounds);
                        of_files.push((file.path().to_owned(), (hash == *file.hash()).then(|| file.id()), lines));
                    }
                }
            }
        }
        let mut read = 0;
        for skipped in snapshot.skipped() {
            let is_text = matches!(
                skipped.reason,
                SkipReason::Unsupported | SkipReason::Generated | SkipReason::Minified | SkipReason::TooLarge
            );
            if !is_text || skipped.size > LARGEST || !which.takes(number, &skipped.path, None) {
                continue;
            }
            read += skipped.size;
            if read > ALL_OTHERS || started.elapsed() > TIME {
                searched
                    .notes
                    .push("not all files that no grammar reads were searched: narrow it".to_owned());
                break;
            }
            let Ok(bytes) = read_regular(&repository.root, &skipped.path, LARGEST) else {
                continue;
            };
            // As ripgrep: a file with a zero byte is no text.
            if memchr::memchr(0, &bytes).is_some() {
                continue;
            }
            let lines = match ask.invert {
                false => pattern.lines_of(&bytes, bounds),
                true => inverted(&pattern, &String::from_utf8_lossy(&bytes), bounds),
            };
            of_files.push((skipped.path.to_string(), None, lines));
        }
        of_files.sort_by(|left, right| left.0.cmp(&right.0));
        let is_meant = |name: &str| !pattern.lines_of(name.as_bytes(), bounds).is_empty();
        for (path, file, mut lines) in of_files {
            lines.truncate(ask.max_count.map_or(usize::MAX, |most| most as usize));
            let symbols = file.map(|file| Symbols::of(snapshot, file));
            for line in lines {
                let symbol = symbols.as_ref().and_then(|symbols| symbols.around(line.line));
                let order = searched.hits.len();
                searched.hits.push(Hit {
                    path: workspace.path(number, &path),
                    line: line.line,
                    text: line.text,
                    order,
                    defines: symbols
                        .as_ref()
                        .is_some_and(|symbols| symbols.defines(line.line, is_meant)),
                    repository: number,
                    file,
                    within: symbol,
                });
            }
        }
    }
    Ok(searched)
}

/// The definitions of a file.
struct Symbols {
    /// First and last line with the full name, in source order.
    spans: Vec<(u32, u32, String)>,
    /// Names of definitions with their lines.
    names: std::collections::BTreeSet<(u32, String)>,
}

impl Symbols {
    fn of(snapshot: &index::snapshot::Snapshot, file: FileId) -> Symbols {
        let file = snapshot.file(file);
        let symbols = || {
            file.into_iter()
                .flat_map(|file| file.symbols())
                .filter(|symbol| !symbol.is_file())
        };
        let is_code = |kind| {
            !matches!(
                kind,
                syntax::facts::Kind::Section
                    | syntax::facts::Kind::Field
                    | syntax::facts::Kind::Variable
                    | syntax::facts::Kind::EnumMember
                    | syntax::facts::Kind::Constant
            )
        };
        Symbols {
            spans: symbols()
                .filter(|symbol| is_code(symbol.kind()))
                .map(|symbol| {
                    (
                        symbol.span().start_line,
                        symbol.span().end_line,
                        symbol.qualified_name(),
                    )
                })
                .collect(),
            names: symbols()
                .filter(|symbol| symbol.kind() != syntax::facts::Kind::Section)
                .map(|symbol| (symbol.name_at().line, symbol.name().to_owned()))
                .collect(),
        }
    }

    /// Whether a definition on the line has a name that is meant: a line of a function may do nothing but call what is looked for.
    fn defines(&self, line: u32, is_meant: impl Fn(&str) -> bool) -> bool {
        self.names
            .range((line, String::new())..(line + 1, String::new()))
            .any(|(_, name)| is_meant(name))
    }

    fn around(&self, line: u32) -> Option<(String, u32, u32)> {
        let holding = self
            .spans
            .iter()
            .rev()
            .find(|(first, last, _)| *first <= line && line <= *last);
        holding.map(|(first, last, name)| (name.clone(), *first, *last))
    }
}

/// Lines that do not match.
fn inverted(pattern: &Pattern, text: &str, bounds: Bounds) -> Vec<LineMatch> {
    let matching: std::collections::BTreeSet<u32> = pattern
        .lines_of(text.as_bytes(), bounds)
        .into_iter()
        .map(|line| line.line)
        .collect();
    (1..)
        .zip(text.lines())
        .filter(|(line, _)| !matching.contains(line))
        .map(|(line, text)| LineMatch {
            line,
            column: 1,
            text: text.chars().take(LINE_LENGTH).collect(),
            count: 1,
            at: vec![0],
        })
        .collect()
}

fn pattern(ask: &Grep) -> Result<Pattern, QuestionError> {
    if ask.patterns.is_empty() {
        return Err(wrong(format!("is missing: give a text of 1 to {MAX_PATTERN} bytes")));
    }
    let case = match (ask.ignore_case, ask.smart_case) {
        (true, _) => Case::Ignored,
        (_, true) => Case::Smart,
        _ => Case::Sensitive,
    };
    let each: Vec<String> = ask
        .patterns
        .iter()
        .map(|pattern| match ask.fixed {
            true => regex_escape(pattern),
            false => pattern.clone(),
        })
        .collect();
    let joined = match each.as_slice() {
        [one] => one.clone(),
        several => format!("(?:{})", several.join(")|(?:")),
    };
    Pattern::regex(&joined, case, ask.word).map_err(|error| match error {
        PatternError::Wrong(_) => wrong(format!("{error}; -F looks for the text itself")),
        error => wrong(error.to_string()),
    })
}

fn wrong(problem: String) -> QuestionError {
    QuestionError::Argument {
        name: "pattern",
        problem,
    }
}

fn regex_escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        if r"\.+*?()|[]{}^$#&-~".contains(character) {
            escaped.push('\\');
        }
        escaped.push(character);
    }
    escaped
}

/// Whether a text has what only regular expressions need.
pub(crate) fn looks_like_expression(text: &str) -> bool {
    [
        ".*", ".+", "\\b", "\\w", "\\s", "\\d", "\\.", "\\(", "|", "[a-z", "[^", "(?",
    ]
    .iter()
    .any(|mark| text.contains(mark))
        || text.starts_with('^')
        || text.len() > 1 && text.ends_with('$')
}

/// Which files are searched.
struct Which {
    /// Paths below which they lie, by repository.
    below: Vec<(usize, String)>,
    globs: Vec<(bool, GlobMatcher)>,
    types: Vec<String>,
    hidden: bool,
}

impl Which {
    fn of(workspace: &Workspace, ask: &Grep) -> Result<Which, QuestionError> {
        let mut below = Vec::new();
        for path in &ask.paths {
            let path = path.trim_start_matches("./").trim_end_matches('/');
            let inside = |root: &std::path::Path| {
                let rest = std::path::Path::new(path).strip_prefix(root).ok()?;
                rest.to_str().map(str::to_owned)
            };
            for (number, repository) in workspace.repositories().iter().enumerate() {
                let rest = inside(&repository.root).or_else(|| {
                    workspace
                        .split(path)
                        .find(|(of, _)| *of == number)
                        .map(|(_, rest)| rest.to_owned())
                });
                let Some(rest) = rest else { continue };
                let rest = if rest == "." { String::new() } else { rest };
                if rest.is_empty() || Workspace::is_inside(&rest) && repository.root.join(&rest).exists() {
                    below.push((number, rest));
                }
            }
            if below.is_empty() {
                return Err(QuestionError::NoSuchFile {
                    path: path.to_owned(),
                    why: None,
                    nearest: Vec::new(),
                });
            }
        }
        let glob = |glob: &String| {
            let (wanted, text) = match glob.strip_prefix('!') {
                Some(rest) => (false, rest),
                None => (true, glob.as_str()),
            };
            // As in ignore files: without a slash it may lie anywhere, with a slash at its end it is a folder.
            let text = match text.strip_prefix('/') {
                Some(rooted) => rooted.to_owned(),
                None if text.trim_end_matches('/').contains('/') => text.to_owned(),
                None => format!("**/{text}"),
            };
            let text = if text.ends_with('/') { format!("{text}**") } else { text };
            let compiled = Glob::new(&text).map_err(|error| wrong(format!("glob `{glob}`: {error}")))?;
            Ok((wanted, compiled.compile_matcher()))
        };
        Ok(Which {
            below,
            globs: ask.globs.iter().map(glob).collect::<Result<_, QuestionError>>()?,
            types: ask.types.iter().map(|word| word.to_ascii_lowercase()).collect(),
            hidden: ask.hidden,
        })
    }

    fn takes(&self, repository: usize, path: &str, language: Option<&str>) -> bool {
        let is_below = |(of, below): &(usize, String)| {
            let rest = path.strip_prefix(below.as_str());
            *of == repository && (below.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/')))
        };
        if !self.below.is_empty() && !self.below.iter().any(is_below) {
            return false;
        }
        if !self.hidden && path.split('/').any(|part| part.starts_with('.')) {
            return false;
        }
        // The last glob that matches decides; where some are wanted, what none matches is not.
        let decided = self
            .globs
            .iter()
            .rev()
            .find(|(_, glob)| glob.is_match(path))
            .map(|(wanted, _)| *wanted);
        if !decided.unwrap_or_else(|| self.globs.iter().all(|(wanted, _)| !wanted)) {
            return false;
        }
        self.types.is_empty() || self.types.iter().any(|word| is_type(word, path, language))
    }
}

/// Whether a file is of a type, by ripgrep's words, our names of languages, or its extension.
fn is_type(word: &str, path: &str, language: Option<&str>) -> bool {
    let language_of = match word {
        "py" => "python",
        "js" => "javascript",
        "ts" => "typescript",
        "rb" => "ruby",
        "cs" => "csharp",
        "md" => "markdown",
        "sh" => "bash",
        "kt" => "kotlin",
        other => other,
    };
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    match (language_of, language) {
        ("typescript", Some(language)) => matches!(language, "typescript" | "tsx"),
        ("cpp" | "c", Some("c")) if extension == "h" => true,
        (wanted, Some(language)) if wanted == language => true,
        _ => extension.eq_ignore_ascii_case(word),
    }
}

/// Hits as rows, with lines before and after them.
pub(super) fn with_context(workspace: &Workspace, hits: &[Hit], before: u32, after: u32) -> Vec<Match> {
    let mut rows: Vec<Match> = Vec::new();
    let mut texts: HashMap<(usize, &str), Vec<String>> = HashMap::new();
    for (at, hit) in hits.iter().enumerate() {
        let row = |line: u32, text: String, is_context: bool| Match {
            path: hit.path.clone(),
            line,
            text,
            within: hit.within.as_ref().map_or_else(String::new, |within| within.0.clone()),
            first: hit.within.as_ref().map_or(0, |within| within.1),
            last: hit.within.as_ref().map_or(0, |within| within.2),
            is_context,
            count: 0,
        };
        if before == 0 && after == 0 {
            rows.push(row(hit.line, hit.text.clone(), false));
            continue;
        }
        let lines = texts.entry((hit.repository, &hit.path)).or_insert_with(|| {
            let repository = workspace.repository(hit.repository);
            let path = hit
                .file
                .and_then(|file| repository?.snapshot.file(file))
                .map(|file| file.path());
            let path = path.unwrap_or(&hit.path);
            let text = repository.and_then(|repository| read_source(&repository.root, path).ok());
            text.map_or_else(Vec::new, |(text, _)| text.lines().map(str::to_owned).collect())
        });
        let shown_to = rows
            .last()
            .filter(|last| last.path == hit.path)
            .map_or(0, |last| last.line);
        let next = hits
            .get(at + 1)
            .filter(|next| next.path == hit.path)
            .map_or(u32::MAX, |next| next.line);
        let from = hit.line.saturating_sub(before).max(shown_to + 1).max(1);
        let to = hit
            .line
            .saturating_add(after)
            .min(next.saturating_sub(1))
            .min(lines.len() as u32);
        for line in from..=to.max(hit.line) {
            match line == hit.line {
                true => rows.push(row(line, hit.text.clone(), false)),
                false => {
                    let text = lines.get(line as usize - 1).cloned().unwrap_or_default();
                    rows.push(row(line, text, true));
                }
            }
        }
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::{looks_like_expression, regex_escape};

    #[test]
    fn texts_that_look_like_expressions_are_noticed() {
        for text in ["foo.*bar", r"\bfoo", "a|b", "^use", "end$", "[a-z]+"] {
            assert!(looks_like_expression(text), "{text}");
        }
        for text in ["foo(bar)", "a.b", "$", "x + y", "Vec<T>"] {
            assert!(!looks_like_expression(text), "{text}");
        }
        assert_eq!(regex_escape("a.b(c)"), r"a\.b\(c\)");
    }
}
