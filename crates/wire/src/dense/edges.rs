//! The edges of a graph on the rows of their far ends: each names the near end by its row, its sort by a letter, and its lines.

use std::collections::{BTreeMap, HashMap};

use serde_json::{Map, Value};

use super::{Shape, entry, read};
use crate::gcx::Header;
use crate::layout::Kind;

/// An edge on the row of its far end.
pub(super) struct Related {
    near: usize,
    far: usize,
    /// Number of its kind, origin and confidence among those of the header.
    style: usize,
    label: Option<String>,
}

/// More styles than this and they have no letter.
const MOST_STYLES: usize = 27;

/// The cell of a row without edges, where an empty one would mean the usual edge.
pub(super) const UNRELATED: &str = "~";

impl Related {
    /// The edge that goes without saying.
    pub(super) fn usual(far: usize) -> Related {
        Related {
            near: 0,
            far,
            style: 0,
            label: None,
        }
    }

    /// The edge that goes without saying, but for its lines.
    pub(super) fn at_lines(far: usize, lines: &str) -> Option<Related> {
        is_lines(lines).then(|| Related {
            label: Some(lines.to_string()),
            ..Related::usual(far)
        })
    }

    fn is_usual(&self) -> bool {
        self.near == 0 && self.style == 0 && self.label.is_none()
    }

    /// Whether all that it says is its lines, and the first is this one.
    fn follows(&self, line: &str) -> bool {
        let rest = self.label.as_deref().and_then(|label| label.strip_prefix(line));
        self.near == 0 && self.style == 0 && rest.is_some_and(|rest| rest.starts_with(','))
    }

    /// `[style letter][near>]label`: near is the first row where it is not said, a missing label is `-`.
    fn write(&self) -> String {
        let mut text = String::new();
        if self.style > 0 {
            text.push(char::from(b'a' + self.style as u8 - 1));
        }
        if self.near > 0 {
            text.push_str(&format!("{}>", self.near));
        }
        text.push_str(self.label.as_deref().unwrap_or("-"));
        text
    }

    pub(super) fn read(token: &str, far: usize) -> Option<Related> {
        let (style, rest) = match token.as_bytes().first()? {
            letter @ b'a'..=b'z' => (usize::from(letter - b'a') + 1, &token[1..]),
            _ => (0, token),
        };
        let (near, label) = match rest.split_once('>') {
            Some((near, label)) => (near.parse().ok()?, label),
            None => (0, rest),
        };
        let label = (label != "-").then(|| label.to_string());
        Some(Related {
            near,
            far,
            style,
            label,
        })
    }
}

/// The cells of each row for its line and its edges, and the header's entries that explain them. Where the first line of the usual
/// edge is the row's own, the lines stand in its place.
pub(super) fn edge_cells(
    shape: &Shape,
    members: &Map<String, Value>,
    items: &[&Map<String, Value>],
    entries: &mut BTreeMap<String, String>,
) -> Option<Vec<(String, String)>> {
    let edges = members.get("edges")?.as_array()?;
    let mut numbers: HashMap<&str, usize> = HashMap::new();
    let mut places: Vec<(&str, u64)> = Vec::new();
    for (at, row) in items.iter().enumerate() {
        numbers.insert(row.get(shape.id)?.as_str()?, at);
        places.push((row.get(shape.path)?.as_str()?, row.get(shape.line)?.as_u64()?));
    }
    let mut counts: Vec<(String, usize)> = Vec::new();
    let mut read: Vec<(usize, usize, String, Option<String>)> = Vec::new();
    for edge in edges {
        let text = |name: &str| edge.get(name)?.as_str();
        let (from, to) = (*numbers.get(text("from")?)?, *numbers.get(text("to")?)?);
        let style = format!("{}/{}/{}", text("kind")?, text("origin")?, edge.get("confidence")?);
        let label = match edge.get("label") {
            None => None,
            Some(label) => Some(label.as_str().filter(|label| is_lines(label))?.to_string()),
        };
        match counts.iter_mut().find(|(known, _)| *known == style) {
            Some((_, count)) => *count += 1,
            None => counts.push((style.clone(), 1)),
        }
        read.push((from, to, style, label));
    }
    // The commonest needs no letter.
    counts.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    if counts.len() > MOST_STYLES {
        return None;
    }
    for (at, (style, _)) in counts.iter().enumerate() {
        entries.insert(style_entry(at), entry(&Value::String(style.clone()))?);
    }
    for direction in ["out", "in"] {
        let mut related: Vec<Related> = Vec::with_capacity(read.len());
        for (from, to, style, label) in &read {
            let (near, far) = if direction == "out" { (*to, *from) } else { (*from, *to) };
            related.push(Related {
                near,
                far,
                style: counts.iter().position(|(known, _)| known == style)?,
                label: label.clone(),
            });
        }
        // The reader finds the order by place: only an answer in that order has a dense form.
        if related.is_sorted_by_key(|edge| order(edge, &places)) {
            // What most walks say goes without saying.
            if direction == "in" {
                entries.insert("edges".into(), direction.into());
            }
            let mut by_row: Vec<Vec<&Related>> = vec![Vec::new(); items.len()];
            for edge in &related {
                by_row[edge.far].push(edge);
            }
            let cell = |(row, edges): (usize, Vec<&Related>)| {
                let line = places[row].1.to_string();
                match edges.as_slice() {
                    [] if row > 0 => (line, UNRELATED.to_string()),
                    [only] if row > 0 && only.is_usual() => (line, String::new()),
                    [only] if row > 0 && only.follows(&line) => (only.label.clone().unwrap_or_default(), String::new()),
                    several => {
                        let written: Vec<String> = several.iter().map(|edge| edge.write()).collect();
                        (line, written.join(" "))
                    }
                }
            };
            return Some(by_row.into_iter().enumerate().map(cell).collect());
        }
    }
    None
}

/// Edges by near end, then by the place of the far end: how a walk finds them.
fn order<'a>(edge: &Related, places: &[(&'a str, u64)]) -> (usize, &'a str, u64, usize) {
    let (path, line) = places.get(edge.far).copied().unwrap_or_default();
    (edge.near, path, line, edge.far)
}

pub(super) fn edges(header: &Header, items: &[Value], mut related: Vec<Related>) -> Option<Vec<Value>> {
    let places: Vec<(&str, u64)> = items
        .iter()
        .map(|row| Some((row["path"].as_str()?, row["line"].as_u64()?)))
        .collect::<Option<_>>()?;
    related.sort_by_key(|edge| order(edge, &places));
    let is_out = header.entry("edges") != Some("in");
    let id = |at: usize| items.get(at).map(|row| row["id"].clone());
    let mut edges = Vec::with_capacity(related.len());
    for edge in related {
        let (from, to) = if is_out {
            (edge.far, edge.near)
        } else {
            (edge.near, edge.far)
        };
        let mut style = header.entry(&style_entry(edge.style))?.splitn(3, '/');
        let mut members = Map::new();
        members.insert("from".into(), id(from)?);
        members.insert("to".into(), id(to)?);
        members.insert("kind".into(), style.next()?.into());
        members.insert("origin".into(), style.next()?.into());
        members.insert("confidence".into(), read(Kind::Float, style.next()?)?);
        members.extend(edge.label.map(|label| ("label".to_string(), label.into())));
        edges.push(Value::Object(members));
    }
    Some(edges)
}

fn style_entry(at: usize) -> String {
    match at {
        0 => "edge".to_string(),
        at => format!("edge.{}", char::from(b'a' + (at as u8 - 1).min(25))),
    }
}

fn is_lines(label: &str) -> bool {
    !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
}
