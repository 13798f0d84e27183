//! An answer of rows as what changed since the one that the client still has: to a call whose `if_none_match` names an earlier
//! answer, the rows that are new, other or gone are said where that is shorter.
//!
//! Only answers with a single list of flat rows that have ids; a member that a row lacks counts as null.

use std::sync::Arc;

use serde_json::{Map, Value};
use wire::Format;
use wire::gcf::graph::Reply as Choice;
use wire::gcf::keyed_set::{self, KeyedSet};
use wire::tokens::Tokenizer;

use super::Desk;
use super::answer::Said;
use crate::sessions::Base;

/// Fewer rows are sent whole.
const FEWEST_ROWS: usize = 5;

/// An answer as it is about to be sent whole.
pub(super) struct Whole<'a> {
    pub(super) value: &'a Value,
    /// The same as compact JSON.
    pub(super) json: &'a Arc<str>,
    pub(super) said: &'a Said,
}

/// Keeps the answer as a base for later, and says what changed since the one that `earlier` names, where that is shorter than
/// the whole.
pub(super) fn since(desk: &Desk, tool: &str, whole: &Whole, earlier: Option<&str>) -> Option<Said> {
    let members = whole.value.as_object()?;
    let etag = members.get("etag").and_then(Value::as_str)?;
    only_list(members)?;
    let bases = &desk.services.memory.bases;
    let said = earlier.and_then(|earlier| {
        let Some(Base::Rows(base)) = bases.find(desk.caller, &name(tool, earlier)) else {
            return None;
        };
        let base: Value = serde_json::from_str(&base).ok()?;
        changes(tool, &rows(base.as_object()?)?, members, earlier, whole.said)
    });
    bases.keep(desk.caller, &name(tool, etag), Base::Rows(whole.json.clone()));
    said
}

/// What changed since the base, where that is shorter than the whole.
fn changes(tool: &str, base: &KeyedSet, members: &Map<String, Value>, earlier: &str, whole: &Said) -> Option<Said> {
    let set = rows(members)?;
    let count = |text: &str| Tokenizer::O200k.count(text);
    let root = base.pack_root().ok()?;
    let Ok(Choice::Delta(text)) = keyed_set::reply(Some(&root), Some(base), &set, tool, count) else {
        return None;
    };
    let verified = keyed_set::decode_delta(&text, &wire::gcf::DecodeOptions::default())
        .and_then(|delta| keyed_set::apply(base, &delta));
    verified.ok()?;
    let rest: Map<String, Value> = members
        .iter()
        .filter(|(_, member)| !member.is_array())
        .map(|(name, member)| (name.clone(), member.clone()))
        .collect();
    let note = format!("rows of {} since etag {earlier}; now {}", set.name, Value::Object(rest));
    (count(&text) + count(&note) < count(&whole.text)).then_some(Said {
        text,
        format: Format::Gcf,
        note: Some(note),
    })
}

fn name(tool: &str, etag: &str) -> String {
    format!("{tool} {etag}")
}

/// The only list of an answer, where there is one and it is long enough.
fn only_list(members: &Map<String, Value>) -> Option<&Vec<Value>> {
    let (_, list) = wire::apply::only_list(members)?;
    (list.len() >= FEWEST_ROWS).then_some(list)
}

/// The only list of an answer, as rows with ids.
fn rows(members: &Map<String, Value>) -> Option<KeyedSet> {
    only_list(members)?;
    wire::apply::rows_of(members)
}
