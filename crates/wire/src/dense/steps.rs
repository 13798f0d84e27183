//! Calls worth making next: a line for each, with its argument and why.
//!
//! ```text
//! LCX1 tool=plan_turn fields=tool+argument,why etag=e245681835
//! explain_symbol id=shop/cart.py::Cart.add<TAB>the symbol and what surrounds it: shares words with the task: cart
//! explain_symbol id=shop/views.py::checkout<TAB>…: shares words with the task: check
//! blast_radius symbols=@1,@2<TAB>what a change of these may break
//! ```
//!
//! In a list of symbols a number is the step that has the symbol as its argument. An ellipsis stands for what the reason above begins
//! with, up to its first colon.

use std::fmt::Write;

use serde_json::{Map, Value};

use super::cells::{ELIDED, entry, escaped, unescaped};
use crate::gcx::Header;
use crate::lcx::{TAG, lines};

pub(super) const TOOL: &str = "plan_turn";

/// Before the number of a step.
const STEP: char = '@';

pub(super) fn to_string(value: &Value) -> Option<String> {
    let members = value.as_object()?;
    let steps = super::objects(members.get("steps")?)?;
    let mut out = format!("{TAG} tool={TOOL} fields=tool+argument,why");
    let mut sentences = String::new();
    for (name, value) in members.iter().filter(|(name, _)| *name != "steps") {
        match (name.as_str(), value) {
            ("etag", etag) => write!(out, " etag={}", entry(etag)?).ok()?,
            ("incomplete", Value::String(text)) => writeln!(sentences, "\t{name}\t{}", escaped(text)?).ok()?,
            _ => return None,
        }
    }
    out.push('\n');
    out.push_str(&sentences);
    let mut arguments: Vec<&str> = Vec::new();
    let mut above = "";
    for step in steps {
        if step.len() != 3 {
            return None;
        }
        let tool = step.get("tool")?.as_str()?;
        let is_word = !tool.is_empty() && tool.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_');
        out.push_str(Some(tool).filter(|_| is_word)?);
        let given = step.get("arguments")?.as_object()?;
        let mut given = given.iter();
        arguments.push("");
        if let Some((name, value)) = given.next() {
            write!(
                out,
                " {}=",
                Some(name).filter(|name| !name.contains(['=', ' ', '\t', '\n']))?
            )
            .ok()?;
            match value {
                Value::String(text) if !text.starts_with(STEP) => {
                    out.push_str(&escaped(text)?);
                    *arguments.last_mut()? = text;
                }
                Value::Array(list) if !list.is_empty() => {
                    let number = |item: &Value| {
                        let at = arguments.iter().position(|argument| Some(*argument) == item.as_str())?;
                        Some(format!("{STEP}{}", at + 1))
                    };
                    let numbers: Vec<String> = list.iter().map(number).collect::<Option<_>>()?;
                    out.push_str(&numbers.join(","));
                }
                _ => return None,
            }
        }
        if given.next().is_some() {
            return None;
        }
        let why = step.get("why")?.as_str().filter(|why| !why.starts_with(ELIDED))?;
        let head = head_of(why);
        match head == above && !head.is_empty() {
            true => writeln!(out, "\t{ELIDED}{}", escaped(&why[head.len()..])?).ok()?,
            false => writeln!(out, "\t{}", escaped(why)?).ok()?,
        }
        above = head;
    }
    Some(out)
}

/// What a reason begins with.
fn head_of(why: &str) -> &str {
    why.split_once(": ").map_or("", |(head, _)| head)
}

pub(super) fn from_str(header: &Header, body: &str) -> Option<Value> {
    let mut answer = Map::new();
    let mut steps: Vec<Value> = Vec::new();
    let mut given: Vec<Option<String>> = Vec::new();
    let mut above = String::new();
    for line in lines(body) {
        if let Some(sentence) = line.strip_prefix("\tincomplete\t") {
            answer.insert("incomplete".into(), unescaped(sentence)?.into());
            continue;
        }
        let (call, why) = line.split_once('\t')?;
        let (tool, argument) = call.split_once(' ').unwrap_or((call, ""));
        let mut arguments = Map::new();
        given.push(None);
        if let Some((name, value)) = argument.split_once('=') {
            let value = match value.starts_with(STEP) {
                true => value
                    .split(',')
                    .map(|number| {
                        let number: usize = number.strip_prefix(STEP)?.parse().ok()?;
                        given.get(number.checked_sub(1)?)?.clone().map(Value::String)
                    })
                    .collect::<Option<_>>()?,
                false => {
                    let text = unescaped(value)?;
                    *given.last_mut()? = Some(text.clone());
                    Value::String(text)
                }
            };
            arguments.insert(name.into(), value);
        }
        let why = match why.strip_prefix(ELIDED) {
            Some(rest) => format!("{above}{}", unescaped(rest)?),
            None => unescaped(why)?,
        };
        above = head_of(&why).to_string();
        let mut step = Map::new();
        step.insert("tool".into(), tool.into());
        step.insert("arguments".into(), arguments.into());
        step.insert("why".into(), why.into());
        steps.push(step.into());
    }
    if let Some(etag) = header.entry("etag") {
        answer.insert("etag".into(), etag.into());
    }
    answer.insert("steps".into(), steps.into());
    Some(answer.into())
}
