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

/// Keeps the answer as a base for later, and says what changed since the one that `earlier` names, where that is shorter than
/// `whole`.
pub(super) fn since(desk: &Desk, tool: &str, value: &Value, earlier: Option<&str>, whole: &Said) -> Option<Said> {
    let members = value.as_object()?;
    let etag = members.get("etag").and_then(Value::as_str)?;
    let set = rows(members)?;
    let base = earlier.and_then(|earlier| desk.services.memory.bases.find(desk.caller, &name(tool, earlier)));
    let said = base.and_then(|base| {
        let Base::Set(base) = base else { return None };
        let count = |text: &str| Tokenizer::O200k.count(text);
        let root = base.pack_root().ok()?;
        let Ok(Choice::Delta(text)) = keyed_set::reply(Some(&root), Some(&base), &set, tool, count) else {
            return None;
        };
        let verified = keyed_set::decode_delta(&text, &wire::gcf::DecodeOptions::default())
            .and_then(|delta| keyed_set::apply(&base, &delta));
        verified.ok()?;
        let rest: Map<String, Value> = members
            .iter()
            .filter(|(_, member)| !member.is_array())
            .map(|(name, member)| (name.clone(), member.clone()))
            .collect();
        let note = format!(
            "rows of {} since etag {}; now {}",
            set.name,
            earlier.unwrap_or_default(),
            Value::Object(rest)
        );
        (count(&text) + count(&note) < count(&whole.text)).then_some(Said {
            text,
            format: Format::Gcf,
            note: Some(note),
        })
    });
    desk.services
        .memory
        .bases
        .keep(desk.caller, &name(tool, etag), Base::Set(Arc::new(set)));
    said
}

fn name(tool: &str, etag: &str) -> String {
    format!("{tool} {etag}")
}

/// The only list of an answer, as rows with ids.
fn rows(members: &Map<String, Value>) -> Option<KeyedSet> {
    let mut lists = members
        .iter()
        .filter_map(|(name, member)| Some((name, member.as_array()?)));
    let (name, list) = lists.next()?;
    if lists.next().is_some() || list.len() < FEWEST_ROWS {
        return None;
    }
    let mut fields: Vec<&String> = Vec::new();
    for row in list {
        for field in row.as_object()?.keys() {
            if !fields.contains(&field) {
                fields.push(field);
            }
        }
    }
    let full: Vec<Map<String, Value>> = list
        .iter()
        .filter_map(Value::as_object)
        .map(|row| {
            fields
                .iter()
                .map(|field| ((*field).clone(), row.get(*field).cloned().unwrap_or_default()))
                .collect()
        })
        .collect();
    KeyedSet::from_rows(name, "id", &full).ok()
}
