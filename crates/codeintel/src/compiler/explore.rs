//! `explore_symbol`: what a symbol is, its source, who calls it, where it is mentioned and which tests reach it, in one answer.

use serde::Serialize;

use super::call_hierarchy::{Found, calls};
use super::code::described;
use super::place::{self, located};
use super::references::{count, mentions};
use super::{Compilers, Standing, Writer, shown};
use crate::error::QuestionError;
use crate::source::Source;
use crate::traverse::is_test_path;
use crate::workspace::Workspace;

located! {
    /// What is asked.
    Explore {
        /// Callers at most (default 10).
        limit: Option<u32>,
        /// Lines of source at most (default 60).
        max_lines: Option<u32>,
    }
}

/// A symbol at a glance.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explored {
    /// What was understood: path, line and column.
    pub of: String,
    /// Its id, where the graph knows it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Where the answer comes from.
    #[serde(flatten)]
    pub standing: Standing,
    /// Signature and documentation, as far as the source does not say them.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub about: String,
    /// `start:end` of its definition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub lines: Option<String>,
    /// Its source, cut to `max_lines`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Mentions in all, and in tests.
    pub references: u64,
    /// Mentions in test files.
    pub test_references: u64,
    /// Files that mention it most.
    pub files: Vec<FileCount>,
    /// Callers in all.
    pub callers_total: u64,
    /// Callers, by file and line.
    pub callers: Vec<Caller>,
}

/// How often a file mentions it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FileCount {
    /// The file.
    pub path: String,
    /// Mentions in it.
    pub count: u64,
}

/// One caller.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Caller {
    /// Name.
    pub name: String,
    /// Its file.
    pub path: String,
    /// Its first line.
    pub line: u32,
    /// `line:column` of the calls.
    pub calls: Vec<String>,
}

/// Files that are listed.
const TOP_FILES: usize = 5;

/// A symbol at a glance.
pub fn explore_symbol(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    ask: &Explore,
) -> Result<Explored, QuestionError> {
    let spot = place::find(workspace, ask.pointer())?;
    let wait = ask.patience()?;
    let (about, _) = described(workspace, compilers, &spot, wait);
    let (mentions, mut standing) = mentions(workspace, compilers, &spot, false, wait)?;
    let key = spot.symbols.first().copied();
    let symbol = key.and_then(|key| workspace.symbol(key));
    let (lines, source) = match (symbol, key) {
        (Some(symbol), Some(key)) => {
            let (start, end) = (symbol.span().start_line, symbol.span().end_line);
            let most = ask.max_lines.unwrap_or(60).max(1);
            let shown_end = end.min(start.saturating_add(most) - 1);
            let source = Source::of(workspace, key.repository, symbol).ok();
            let source = source.map(|source| source.lines(start, shown_end).to_string());
            (Some(format!("{start}:{end}")), source)
        }
        _ => (None, None),
    };
    // Not everything that is mentioned can be called.
    let (called, called_standing) = match calls(workspace, compilers, &spot, &["incoming"], 1, wait) {
        Ok((called, standing)) => (called, Some(standing)),
        Err(_) => (Vec::new(), None),
    };
    if let Some(called_standing) = called_standing
        && called_standing.tier != standing.tier
    {
        standing.remark(format!("callers by the {}", called_standing.tier));
    }
    let mut files: Vec<FileCount> = Vec::new();
    let mut test_references = 0;
    for ((path, _), places) in &mentions {
        let path = shown(workspace, path).0;
        if is_test_path(&path) {
            test_references += places.len() as u64;
        }
        match files.iter_mut().find(|file| file.path == path) {
            Some(file) => file.count += places.len() as u64,
            None => files.push(FileCount {
                path,
                count: places.len() as u64,
            }),
        }
    }
    files.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.path.cmp(&b.path)));
    files.truncate(TOP_FILES);
    let mut writer = Writer::new(workspace);
    let callers_total = called.len() as u64;
    let mut called: Vec<(String, Found)> = called
        .into_iter()
        .map(|row| (shown(workspace, &row.path).0, row))
        .collect();
    called.sort_by(|(path, row), (other_path, other)| (path, row.line).cmp(&(other_path, other.line)));
    let callers = called
        .into_iter()
        .take(ask.limit.unwrap_or(10).max(1) as usize)
        .map(|(path, row)| {
            let (file, mut places) = row.calls;
            places.sort_unstable();
            places.dedup();
            Caller {
                calls: places.iter().map(|place| writer.place(&file, *place)).collect(),
                name: row.name,
                path,
                line: row.line,
            }
        })
        .collect();
    Ok(Explored {
        of: spot.shown(workspace),
        id: key
            .zip(symbol)
            .map(|(key, symbol)| workspace.id(key.repository, symbol)),
        standing,
        about: unsaid(&about, source.as_deref().unwrap_or_default()),
        lines,
        source,
        references: count(&mentions) as u64,
        test_references,
        files,
        callers_total,
        callers,
    })
}

/// What a description says that the source does not: signatures where they are spelled otherwise (inferred types, the type
/// around), and the first paragraph of documentation that stands elsewhere. The whole of it is what `hover` is for.
fn unsaid(about: &str, source: &str) -> String {
    let letters = |text: &str| {
        text.chars()
            .filter(|letter| letter.is_alphanumeric())
            .collect::<String>()
    };
    let written = letters(source);
    let is_new = |text: &str| !written.contains(&letters(text));
    // Markdown: code first, each piece of it in a fence that names the language; then texts with lines of dashes between them, the
    // documentation last.
    let mut rest = about.trim_start();
    let mut parts: Vec<String> = Vec::new();
    while let Some((code, after)) = rest.strip_prefix("```").and_then(|code| code.split_once("```")) {
        rest = after.trim_start_matches(['-', '\n', '\r', ' ']);
        let code = code.split_once('\n').map_or("", |(_, code)| code).trim();
        // The module that it stands in, before its signature: the id says it.
        if rest.starts_with("```") && code.chars().all(|c| c.is_alphanumeric() || c == '_' || c == ':') {
            continue;
        }
        // A signature over several lines is said whole or not at all.
        match code.lines().any(|line| line.ends_with(['(', ','])) {
            true => parts.extend(is_new(code).then(|| code.to_string())),
            false => parts.extend(code.lines().filter(|line| is_new(line)).map(str::to_string)),
        }
    }
    let is_rule = |line: &str| line.len() >= 3 && line.chars().all(|letter| letter == '-');
    let documentation = rest.lines().rev().take_while(|line| !is_rule(line.trim_end()));
    let lines: Vec<&str> = documentation.collect();
    let first = lines.iter().rev().map(|line| line.trim_end());
    let first: Vec<&str> = first
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty())
        .collect();
    if first.first().is_some_and(|line| is_new(line)) {
        parts.push(first.join("\n"));
    }
    parts.retain(|part| !part.trim().is_empty());
    parts.join("\n")
}

#[cfg(test)]
mod tests {
    use super::unsaid;

    #[test]
    fn a_description_does_not_repeat_the_source() {
        let source = "    def f(self, a: int) -> str:\n        \"\"\"Says :class:`a`.\n        More.\"\"\"\n";
        let hover = "```python\n(method) def f(self: Self@C, a: int) -> str\n```\n---\nSays :class:`a`.\nMore.";
        assert_eq!(unsaid(hover, source), "(method) def f(self: Self@C, a: int) -> str");
        let go = "```go\nfunc F(a int) string\n```\n\n---\n\nF says a.";
        assert_eq!(unsaid(go, "func F(a int) string {\n\treturn \"\"\n}"), "F says a.");
        assert_eq!(unsaid(go, ""), "func F(a int) string\nF says a.");
        let rust = "```rust\nshop::cart\n```\n\n```rust\nimpl<T> Cart<T>\npub fn add(&mut self, item: T)\n```\n\n---\n\nsize = 0\n\n---\n\n\
                    Adds an\nitem.\n\n# Examples\n\n```\nx\n```";
        let source = "pub fn add(&mut self, item: T) {\n}";
        assert_eq!(unsaid(rust, source), "impl<T> Cart<T>\nAdds an\nitem.");
        assert_eq!(unsaid("", "x"), "");
        assert_eq!(unsaid("def f()\nSays.", "def g()"), "def f()\nSays.");
    }
}
