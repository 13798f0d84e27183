//! What is said of a whole answer that is no list of symbols: entries of the header, and sentences above the rows.

use std::fmt::Write;

use serde_json::{Map, Number, Value};

use super::cells::{entry, escaped, unescaped};
use crate::gcx::Header;

/// A member that says something of the whole answer.
pub(super) struct Said {
    pub(super) name: &'static str,
    pub(super) is_number: bool,
}

pub(super) const fn number(name: &'static str) -> Said {
    Said { name, is_number: true }
}

pub(super) const fn text(name: &'static str) -> Said {
    Said { name, is_number: false }
}

/// Ends the header with these members and puts sentences below it; what is in `elsewhere` is said in other places.
pub(super) fn put(out: &mut String, all: &[Said], members: &Map<String, Value>, elsewhere: &[&str]) -> Option<()> {
    let mut sentences = String::new();
    for (name, value) in members {
        if name == "truncated" || elsewhere.contains(&name.as_str()) {
            continue;
        }
        all.iter().find(|said| said.name == name)?;
        match (entry(value), value) {
            (Some(text), _) => write!(out, " {name}={text}").ok()?,
            (None, Value::String(text)) => writeln!(sentences, "\t{name}\t{}", escaped(text)?).ok()?,
            (None, _) => return None,
        }
    }
    if members.get("truncated")?.as_bool()? {
        out.push_str(" truncated=true");
    }
    out.push('\n');
    out.push_str(&sentences);
    Some(())
}

/// Reads the members of a header.
pub(super) fn read(header: &Header, all: &[Said], answer: &mut Map<String, Value>) -> Option<()> {
    for said in all {
        if let Some(text) = header.entry(said.name) {
            let value = match said.is_number {
                true => serde_json::from_str::<Number>(text).ok()?.into(),
                false => text.into(),
            };
            answer.insert(said.name.into(), value);
        }
    }
    answer.insert("truncated".into(), header.entry("truncated").is_some().into());
    Some(())
}

/// Reads a sentence, if the line is one; none where it is a broken one.
pub(super) fn sentence(line: &str, all: &[Said], answer: &mut Map<String, Value>) -> Option<bool> {
    let Some(line) = line.strip_prefix('\t') else {
        return Some(false);
    };
    let (name, text) = line.split_once('\t')?;
    all.iter().find(|said| said.name == name && !said.is_number)?;
    answer.insert(name.into(), unescaped(text)?.into());
    Some(true)
}
