//! Tests to run, by file, and the commands that run them.
//!
//! ```text
//! LCX1 tool=get_test_targets fields=distance+tests etag=cd5f9ac6 total=1
//! tests/shop/test_cart.py
//! 1 CartTests.test_add,.test_remove
//! pytest:
//! pytest tests/shop/test_cart.py::CartTests
//! ```
//!
//! Tests shorten those after them as symbols do ([`names`]). A file without named tests is run whole: a dot stands for
//! them. A runner's name and a colon open its commands, which stand as
//! they are, to the end of the text.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::Known;
use super::cells::{ELIDED, escaped, unescaped};
use super::names::{self, Above, row_of};
use super::place::{Paths, Place, is_plain_path};
use super::whole::{self, Said, number, text};
use crate::gcx::Header;
use crate::lcx::{TAG, lines};

pub(super) const TOOL: &str = "get_test_targets";

/// Stands for all tests of a file.
const WHOLE: &str = ".";
/// What no test reaches, a line each.
const UNCOVERED: &str = "uncovered";
/// What was asked for by another name than its id, a line each with both.
const RESOLVED: &str = "resolved";
const SAID: &[Said] = &[number("total"), text("next_cursor"), text("etag"), text("incomplete")];

pub(super) fn to_string(value: &Value) -> Option<String> {
    let members = value.as_object()?;
    let targets = members.get("targets")?.as_array()?;
    let mut paths = Paths::of(targets.iter().filter_map(|target| target.get("file")?.as_str()));
    let mut out = format!("{TAG} tool={TOOL} fields=distance+tests{}", paths.entry());
    whole::put(&mut out, SAID, members, &["targets", "commands", UNCOVERED, RESOLVED])?;
    if let Some(resolved) = members.get(RESOLVED) {
        let resolved = resolved.as_object().filter(|resolved| !resolved.is_empty())?;
        for (asked, id) in resolved {
            writeln!(out, "\t{RESOLVED}\t{}\t{}", escaped(asked)?, escaped(id.as_str()?)?).ok()?;
        }
    }
    let unknown = Known::default();
    let mut above = Above::default();
    for target in targets {
        let target = target.as_object()?;
        let path = target.get("file")?.as_str()?;
        if target.len() != 3 || !is_plain_path(path) {
            return None;
        }
        writeln!(out, "{}", paths.say(path)?).ok()?;
        let tests: Vec<Place<'_>> = target
            .get("tests")?
            .as_array()?
            .iter()
            .map(|test| {
                test.as_str()
                    .filter(|test| is_plain_name(test))
                    .map(|symbol| Place { path, symbol })
            })
            .collect::<Option<_>>()?;
        // A row has one stem, the first that is worth it.
        let stems = names::stems(&tests, &unknown).into_iter().zip(&tests);
        if let Some(stem) = stems.filter_map(|(length, test)| test.symbol.get(..length?)).next() {
            writeln!(out, "{stem}{ELIDED}").ok()?;
            above.set_stem(stem);
        }
        write!(out, "{}", target.get("distance")?.as_u64()?).ok()?;
        if tests.is_empty() {
            out.push_str(WHOLE);
        }
        above.clear();
        for (at, test) in tests.iter().enumerate() {
            let said = above.say(*test, &unknown);
            match at {
                0 => out.push_str(&said),
                _ => write!(out, ",{}", said.trim_start_matches(' ')).ok()?,
            }
        }
        out.push('\n');
    }
    for id in members.get(UNCOVERED).and_then(Value::as_array).into_iter().flatten() {
        writeln!(out, "\t{UNCOVERED}\t{}", escaped(id.as_str()?)?).ok()?;
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
            writeln!(out, "{by}:").ok()?;
            runner = by;
        }
        writeln!(out, "{command_text}").ok()?;
    }
    Some(out)
}

pub(super) fn from_str(header: &Header, body: &str) -> Option<Value> {
    let mut answer = Map::new();
    let (mut targets, mut commands): (Vec<Value>, Vec<Value>) = (Vec::new(), Vec::new());
    let mut uncovered: Vec<Value> = Vec::new();
    let mut resolved = Map::new();
    let mut paths = Paths::read(header);
    let mut runner = None;
    let unknown = Known::default();
    let mut above = Above::default();
    for line in lines(body) {
        if let Some(name) = line.strip_suffix(':').filter(|name| !name.contains('\t')) {
            runner = Some(name);
        } else if let Some(runner) = runner {
            let mut command = Map::new();
            command.insert("runner".into(), runner.into());
            command.insert("command".into(), line.into());
            commands.push(command.into());
        } else if let Some(id) = line.strip_prefix('\t').and_then(|line| line.strip_prefix(UNCOVERED)) {
            uncovered.push(unescaped(id.strip_prefix('\t')?)?.into());
        } else if let Some(pair) = line.strip_prefix('\t').and_then(|line| line.strip_prefix(RESOLVED)) {
            let (asked, id) = pair.strip_prefix('\t')?.split_once('\t')?;
            resolved.insert(unescaped(asked)?, unescaped(id)?.into());
        } else if whole::sentence(line, SAID, &mut answer)? {
        } else if let Some(stem) = names::stem_of(line) {
            above.set_stem(stem);
        } else if let Some((distance, rest)) = row_of(line) {
            let mut tests: Vec<Value> = Vec::new();
            above.clear();
            for said in rest.strip_prefix(' ').into_iter().flat_map(|names| names.split(',')) {
                let said = match said.starts_with('.') {
                    true => said.to_string(),
                    false => format!(" {said}"),
                };
                tests.push(above.hear(&said, &unknown)?.0.into());
            }
            let mut target = Map::new();
            target.insert("file".into(), paths.path().into());
            target.insert("tests".into(), tests.into());
            target.insert("distance".into(), distance.parse::<u64>().ok()?.into());
            targets.push(target.into());
        } else {
            paths.hear(line);
        }
    }
    whole::read(header, SAID, &mut answer)?;
    answer.insert("targets".into(), targets.into());
    answer.insert("commands".into(), commands.into());
    if !resolved.is_empty() {
        answer.insert(RESOLVED.into(), resolved.into());
    }
    if !uncovered.is_empty() {
        answer.insert(UNCOVERED.into(), uncovered.into());
    }
    Some(Value::Object(answer))
}

/// Whether a name can stand in a list of names.
pub(super) fn is_plain_name(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(['#', '.', ELIDED, '*', ' '])
        && !name.starts_with("GCX1")
        && !name.ends_with(':')
        && !name.contains(|c: char| c.is_control() || c == '\\' || c == ',')
}
