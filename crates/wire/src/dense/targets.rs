//! Tests to run, by file, and the commands that run them.
//!
//! ```text
//! GCX1 tool=get_test_targets.by_file fields=tests,distance etag=cd5f9ac6 total=1
//! tests/shop/test_cart.py
//! CartTests.test_add,CartTests.test_remove<TAB>1
//! pytest:
//! pytest tests/shop/test_cart.py::CartTests
//! ```
//!
//! A file without named tests is run whole: its row begins with a dot. A runner's name and a colon open its commands, which stand as
//! they are, to the end of the text.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::{SUFFIX, below_path, entry, escaped, unescaped, whole_path};
use crate::gcx::Header;

pub(super) const TOOL: &str = "get_test_targets";

/// Stands for all tests of a file.
const WHOLE: &str = ".";
/// What is said of the whole answer, and whether it is a number.
const SAID: [(&str, bool); 4] = [
    ("total", true),
    ("next_cursor", false),
    ("etag", false),
    ("incomplete", false),
];

pub(super) fn to_string(value: &Value) -> Option<String> {
    let members = value.as_object()?;
    let truncated = members.get("truncated")?.as_bool()?;
    let mut out = format!("GCX1 tool={TOOL}{SUFFIX} fields=tests,distance");
    let mut body = String::new();
    for (name, value) in members {
        if ["targets", "commands", "truncated"].contains(&name.as_str()) {
            continue;
        }
        let told = SAID.iter().any(|(said, _)| said == name);
        match (entry(value), value) {
            (Some(text), _) if told => write!(out, " {name}={text}").ok()?,
            (None, Value::String(text)) if told => writeln!(body, "\t{name}\t{}", escaped(text)?).ok()?,
            _ => return None,
        }
    }
    if truncated {
        out.push_str(" truncated=true");
    }
    out.push('\n');
    let mut under = "";
    for target in members.get("targets")?.as_array()? {
        let target = target.as_object()?;
        let path = target.get("file")?.as_str()?;
        let is_plain = |text: &str| {
            !text.is_empty()
                && !text.starts_with(['#', '.', '\t', '$'])
                && !text.starts_with("GCX1")
                && !text.ends_with(':')
                && !text.contains(|c: char| c.is_control() || c == '\\')
        };
        if target.len() != 3 || !is_plain(path) || path == under {
            return None;
        }
        writeln!(body, "{}", below_path(path, under)).ok()?;
        under = path;
        let names: Vec<&str> = target
            .get("tests")?
            .as_array()?
            .iter()
            .map(|test| test.as_str().filter(|test| is_plain(test) && !test.contains(',')))
            .collect::<Option<_>>()?;
        let names = match names.as_slice() {
            [] => WHOLE.to_string(),
            names => names.join(","),
        };
        writeln!(body, "{names}\t{}", target.get("distance")?.as_u64()?).ok()?;
    }
    let mut runner = "";
    for command in members.get("commands")?.as_array()? {
        let command = command.as_object()?;
        let text = |name: &str| {
            let text = command.get(name)?.as_str()?;
            let is_plain = !text.is_empty() && !text.ends_with(':') && !text.contains(['\t', '\n', '\r']);
            is_plain.then_some(text)
        };
        let (by, command_text) = (text("runner")?, text("command")?);
        if command.len() != 2 {
            return None;
        }
        if by != runner {
            writeln!(body, "{by}:").ok()?;
            runner = by;
        }
        writeln!(body, "{command_text}").ok()?;
    }
    out.push_str(&body);
    Some(out)
}

pub(super) fn from_str(header: &Header, text: &str) -> Option<Value> {
    let mut answer = Map::new();
    let (mut targets, mut commands): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    let (mut path, mut runner) = (String::new(), None);
    for line in text.trim_end_matches('\n').split('\n').skip(1) {
        if let Some(name) = line.strip_suffix(':').filter(|name| !name.contains('\t')) {
            runner = Some(name);
        } else if let Some(runner) = runner {
            let mut command = Map::new();
            command.insert("runner".into(), runner.into());
            command.insert("command".into(), line.into());
            commands.push(command.into());
        } else if let Some((first, rest)) = line.split_once('\t') {
            if first.is_empty() {
                let (name, text) = rest.split_once('\t')?;
                SAID.iter().find(|(said, is_number)| *said == name && !is_number)?;
                answer.insert(name.into(), unescaped(text)?.into());
                continue;
            }
            let tests: Vec<Value> = match first {
                WHOLE => Vec::new(),
                names => names.split(',').map(Value::from).collect(),
            };
            let mut target = Map::new();
            target.insert("file".into(), path.as_str().into());
            target.insert("tests".into(), tests.into());
            target.insert("distance".into(), rest.parse::<u64>().ok()?.into());
            targets.push(target.into());
        } else {
            path = whole_path(line, &path);
        }
    }
    for (name, is_number) in SAID {
        if let Some(text) = header.entry(name) {
            let value = match is_number {
                true => text.parse::<u64>().ok()?.into(),
                false => text.into(),
            };
            answer.insert(name.into(), value);
        }
    }
    answer.insert("truncated".into(), header.entry("truncated").is_some().into());
    answer.insert("targets".into(), targets.into());
    answer.insert("commands".into(), commands.into());
    Some(Value::Object(answer))
}
