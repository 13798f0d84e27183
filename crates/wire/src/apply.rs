//! What a client does with a delta: the answer that it holds and what changed in it give the answer as it is now.
//!
//! Every kind of delta names the hashes of what it applies to and of what it gives, and is applied to a copy: whoever gets an error
//! keeps what he had and asks for the whole.

use serde_json::{Map, Value};

use crate::answers::{ContextPack, PackDelta};
use crate::gcf::keyed_set::{self, KeyedSet, SetDelta};
use crate::gcf::{self, Category, DecodeOptions, graph};
use crate::{Error, decode};

/// The answer that a text and a later delta of it say, both in any format: a pack or a graph with what changed in it, or an answer of
/// rows with the rows that changed. A second text of either stands behind the first, as it was sent.
pub fn apply(base: &str, delta: &str) -> Result<Value, Error> {
    if gcf::unchanged(delta).is_some() && !delta.contains("\nsources ") {
        return decode(base);
    }
    if gcf::is_set_delta(delta) {
        let (rows, note) = match delta.find(NOTE) {
            Some(at) => (&delta[..=at], Some(delta[at..].trim())),
            None => (delta, None),
        };
        return apply_rows(base, &keyed_set::decode_delta(rows, &DecodeOptions::default())?, note);
    }
    if gcf::is_graph_delta(delta) && !delta.contains("\nsources ") {
        let applied = graph::apply(&graph::decode(base)?, &graph::decode_delta(delta)?)?;
        return Ok(serde_json::to_value(applied)?);
    }
    let changes = decode(delta)?;
    if changes.get("unchanged") == Some(&Value::Bool(true)) {
        return decode(base);
    }
    if changes.get("delta") != Some(&Value::Bool(true)) {
        return Err(no_delta());
    }
    let delta: PackDelta = serde_json::from_value(changes)?;
    let base: ContextPack = serde_json::from_value(decode(base)?)?;
    Ok(serde_json::to_value(delta.apply(&base)?)?)
}

/// Begins the line that follows the rows of a delta: what the answer says besides its rows.
const NOTE: &str = "\nrows of ";

fn no_delta() -> Error {
    gcf::Error::new(
        Category::MalformedDelta,
        "a text that is no delta",
        "a delta of the first",
    )
    .into()
}

/// The rows of an answer that a delta can be about: its only list, whose rows are flat and have ids. A member that a row lacks is null.
pub fn rows_of(answer: &Map<String, Value>) -> Option<KeyedSet> {
    let (name, list) = only_list(answer)?;
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

/// The only list of an answer, where its rows have ids.
pub fn only_list(answer: &Map<String, Value>) -> Option<(&String, &Vec<Value>)> {
    let mut lists = answer
        .iter()
        .filter_map(|(name, member)| Some((name, member.as_array()?)));
    let only = lists.next()?;
    let has_ids = only.1.first().is_some_and(|row| row.get("id").is_some());
    (has_ids && lists.next().is_none()).then_some(only)
}

fn apply_rows(base: &str, delta: &SetDelta, note: Option<&str>) -> Result<Value, Error> {
    // A set with its hash, as the generic profile sends it whole.
    if let Ok(set) = keyed_set::decode(base, &DecodeOptions::default()) {
        return Ok(rows_as_values(&keyed_set::apply(&set, delta)?));
    }
    let Value::Object(mut answer) = decode(base)? else {
        return Err(no_delta());
    };
    let set = rows_of(&answer).ok_or_else(no_delta)?;
    let applied = keyed_set::apply(&set, delta)?;
    answer.insert(applied.name.clone(), rows_as_values(&applied));
    // What the answer says besides its rows stands in the second text.
    let rest = note.and_then(|note| note.split_once("; now ")).map(|(_, rest)| rest);
    if let Some(rest) = rest {
        let rest: Map<String, Value> = serde_json::from_str(rest)?;
        answer.retain(|name, _| *name == applied.name || rest.contains_key(name));
        answer.extend(rest);
    }
    Ok(answer.into())
}

/// The rows as objects; what is null is left out, as a member that a row lacks counts as null.
fn rows_as_values(set: &KeyedSet) -> Value {
    let rows = set.rows.iter().map(|row| {
        let members = set.fields.iter().zip(row).filter(|(_, value)| !value.is_null());
        let members: Map<String, Value> = members.map(|(name, value)| (name.clone(), value.clone())).collect();
        Value::Object(members)
    });
    rows.collect()
}
