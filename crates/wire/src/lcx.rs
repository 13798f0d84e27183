//! LCX1: answers of the code tools by file and by place, in Lacon's own form. It leaves out what the reader can derive, so only a
//! reader that knows the tool gets the answer back: that is why it has a tag of its own, which no decoder of GCX1 takes for a table.
//!
//! ```text
//! LCX1 tool=get_callers fields=line+symbol,to calls=ast_resolved/0.98 total_nodes=3 rows=4
//! shop/cart.py
//! 12 Cart.add
//! views.py
//! 88,91 checkout
//! ```
//!
//! The one trick is in the header: `rows=` counts the lines below it, and every line ends, so a text that was cut anywhere is refused.
//! The forms are [`dense`] (by file) and [`places`] (what compilers answer); `docs/formats/lcx.md` describes both.

use serde_json::{Value, json};

use crate::answers::PackDelta;
use crate::dense::Known;
use crate::gcx::{self, Error, ErrorKind, Header};
use crate::layout::Layout;
use crate::{dense, places};

/// The first word of a text.
pub(crate) const TAG: &str = "LCX1";
/// The entry of the header that counts the lines below it.
const ROWS: &str = "rows";
/// The entry of the first header that counts the texts, where they are several.
const TEXTS: &str = "texts";

/// The answer in this form, if its tool has one and the answer fits.
pub(crate) fn to_string(layout: &Layout, value: &Value) -> Option<String> {
    dense::to_string(layout, value)
        .or_else(|| places::to_string(layout, value))
        .map(counted)
}

/// The same for a reader that holds the symbols of earlier answers.
pub(crate) fn to_string_knowing(layout: &Layout, value: &Value, known: &Known) -> Option<String> {
    dense::to_string_knowing(layout, value, known).map(counted)
}

/// The answer that a text says.
pub(crate) fn from_str(text: &str) -> gcx::Result<Value> {
    from_str_knowing(text, &Known::default())
}

/// The answer that a text says to a reader who holds the symbols of earlier answers; of several texts, a list with the tool of each.
pub(crate) fn from_str_knowing(text: &str, known: &Known) -> gcx::Result<Value> {
    let (header, body, mut rest) = open(text.strip_prefix('\u{feff}').unwrap_or(text))?;
    let texts = header.entry(TEXTS).and_then(|texts| texts.parse::<usize>().ok());
    let mut said = vec![(header.tool.clone(), read(&header, body, known)?)];
    while !rest.is_empty() {
        let (header, body, after) = open(rest)?;
        said.push((header.tool.clone(), read(&header, body, known)?));
        rest = after;
    }
    if said.len() != texts.unwrap_or(1) {
        let expected = format!("{TEXTS}={}", texts.unwrap_or(1));
        return Err(cut(format!("{} texts", said.len()), expected));
    }
    Ok(match texts {
        None => said.swap_remove(0).1,
        Some(_) => said
            .into_iter()
            .map(|(tool, answer)| json!({"tool": tool, "answer": answer}))
            .collect(),
    })
}

/// Several texts as one: the first header says how many they are.
pub fn joined(texts: &[String]) -> String {
    let mut joined = texts.join("\n");
    if let Some(end) = joined.find('\n').filter(|_| texts.len() > 1) {
        joined.insert_str(end, &format!(" {TEXTS}={}", texts.len()));
    }
    joined
}

/// What one text says.
fn read(header: &Header, body: &str, known: &Known) -> gcx::Result<Value> {
    if header.entry("delta") == Some("true") {
        return delta(header, body);
    }
    let read = if places::has(&header.tool) {
        places::from_str(header, body)
    } else {
        dense::from_str_knowing(header, body, known)
    };
    read.ok_or_else(|| {
        Error::at(
            ErrorKind::Schema,
            1,
            1,
            format!("lines that say no answer of `{}`", header.tool),
            "the lines that Lacon wrote, unchanged",
            REMEDY,
        )
    })
}

/// What changed in a pack, as [`PackDelta::texts`] says it.
fn delta(header: &Header, body: &str) -> gcx::Result<Value> {
    let root = |name: &str| header.entry(name).unwrap_or_default();
    let read = PackDelta::from_own(root("base_root"), root("new_root"), body);
    let value = read.map(serde_json::to_value);
    let problem = |found: String| Error::at(ErrorKind::Schema, 1, 1, found, "what changed in a pack", REMEDY);
    match value {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => Err(problem(error.to_string())),
        Err(error) => Err(problem(error.to_string())),
    }
}

const REMEDY: &str = "ask again, with format json where it fails again";

/// The lines of a body, each without its end.
pub(crate) fn lines(body: &str) -> impl Iterator<Item = &str> {
    body.strip_suffix('\n').into_iter().flat_map(|body| body.split('\n'))
}

/// Ends the last line and puts the number of lines into the header.
pub(crate) fn counted(mut text: String) -> String {
    if !text.ends_with('\n') {
        text.push('\n');
    }
    let header = memchr::memchr(b'\n', text.as_bytes()).unwrap_or(text.len());
    let rows = memchr::memchr_iter(b'\n', &text.as_bytes()[header..]).count() - 1;
    text.insert_str(header, &format!(" {ROWS}={rows}"));
    text
}

/// The header of a text, the lines that it counts, and the texts behind it. Nothing else may stand below.
fn open(text: &str) -> gcx::Result<(Header, &str, &str)> {
    let Some((line, body)) = text.split_once('\n') else {
        return Err(cut(format!("`{text}`"), "a header line, with its end"));
    };
    let tag = line.split(' ').next().unwrap_or_default();
    if tag != TAG {
        return Err(Error::at(
            ErrorKind::UnknownVersion,
            1,
            1,
            format!("the unknown version `{tag}`"),
            format!("`{TAG}`"),
            "ask again with format json",
        ));
    }
    let header = gcx::parse_header(line, 1)?;
    let declared = header.entry(ROWS).and_then(|rows| rows.parse::<usize>().ok());
    let Some(declared) = declared else {
        return Err(cut(
            "a header without a count".to_owned(),
            "rows=<lines below the header>",
        ));
    };
    let mut ends = memchr::memchr_iter(b'\n', body.as_bytes());
    let end = match declared.checked_sub(1) {
        None => Some(0),
        Some(last) => ends.nth(last).map(|end| end + 1),
    };
    let Some((body, rest)) = end.map(|end| body.split_at(end)) else {
        let found = memchr::memchr_iter(b'\n', body.as_bytes()).count();
        return Err(cut(format!("{found} whole lines"), format!("rows={declared}")));
    };
    // Texts behind each other have a blank line between them.
    let rest = match rest.strip_prefix('\n') {
        Some(next) if next.starts_with(TAG) => next,
        _ => rest,
    };
    if !rest.is_empty() && !rest.starts_with(TAG) {
        return Err(cut("more lines".to_owned(), format!("rows={declared}")));
    }
    Ok((header, body, rest))
}

fn cut(found: String, expected: impl Into<String>) -> Error {
    Error::at(
        ErrorKind::RowCount,
        1,
        1,
        found,
        expected,
        "the text was cut: ask again",
    )
}
