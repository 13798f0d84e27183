//! The edges of a graph on the rows of their far ends.
//!
//! A cell names the near ends of the row's edges, each with the lines of its mentions where there are any (`checkout:88,91`). Lines
//! without a name belong to an edge to the first row. The name of a sort stands before the edges that are of it; where nothing
//! follows it, the edge goes to the first row. An empty cell is one edge of the usual sort to the first row, a hyphen is none.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::place::{Place, WHOLE_FILE};
use super::styles::Styles;

/// The cell of a row without edges, where an empty one would mean the usual edge.
const UNRELATED: &str = "-";
/// Before the number of a row whose name does not tell it from others.
const NUMBERED: char = '#';

/// The edges of a graph by the rows of their far ends.
pub(super) struct Edges {
    /// Whether they lead from the row to the near end.
    pub(super) outgoing: bool,
    by_row: Vec<Vec<Edge>>,
}

struct Edge {
    near: usize,
    style: usize,
    label: Option<String>,
}

impl Edges {
    /// The edges, where their order is that of a walk, which a reader finds again.
    pub(super) fn of(edges: &[&Map<String, Value>], styles: &[usize], items: &[&Map<String, Value>]) -> Option<Edges> {
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        let mut places: Vec<(&str, u64)> = Vec::new();
        for (at, row) in items.iter().enumerate() {
            numbers.insert(row.get("id")?.as_str()?, at);
            places.push((row.get("path")?.as_str()?, row.get("line")?.as_u64()?));
        }
        let mut read: Vec<(usize, usize, usize, Option<String>)> = Vec::new();
        for (edge, style) in edges.iter().zip(styles) {
            let end = |name: &str| numbers.get(edge.get(name)?.as_str()?).copied();
            let label = match edge.get("label") {
                None => None,
                Some(label) => Some(label.as_str().filter(|label| is_lines(label))?.to_string()),
            };
            read.push((end("from")?, end("to")?, *style, label));
        }
        [true, false].into_iter().find_map(|outgoing| {
            let ends = |from: usize, to: usize| if outgoing { (to, from) } else { (from, to) };
            let in_order = read.is_sorted_by_key(|(from, to, ..)| {
                let (near, far) = ends(*from, *to);
                order(near, far, &places)
            });
            in_order.then(|| {
                let mut by_row: Vec<Vec<Edge>> = Vec::new();
                by_row.resize_with(items.len(), Vec::new);
                for (from, to, style, label) in &read {
                    let (near, far) = ends(*from, *to);
                    by_row[far].push(Edge {
                        near,
                        style: *style,
                        label: label.clone(),
                    });
                }
                Edges { outgoing, by_row }
            })
        })
    }

    /// The sort of the first edge of each row.
    pub(super) fn first_styles(&self) -> Vec<Option<usize>> {
        self.by_row
            .iter()
            .map(|edges| edges.first().map(|edge| edge.style))
            .collect()
    }

    /// The cells of a row for its line and its edges. Where the lines of its only edge begin with its own, they stand in its place.
    pub(super) fn cells(
        &self,
        row: usize,
        line: String,
        usual: usize,
        names: &[String],
        styles: &Styles,
    ) -> (String, String) {
        let edges = self.by_row.get(row).map_or(&[][..], Vec::as_slice);
        if let [only] = edges
            && let Some(label) = only.label.as_deref().filter(|_| row > 0)
            && label
                .strip_prefix(line.as_str())
                .is_some_and(|rest| rest.starts_with(','))
        {
            return (
                label.to_string(),
                said(&[(only.near, only.style, None)], usual, names, styles),
            );
        }
        match edges {
            [] if row > 0 => (line, UNRELATED.to_string()),
            edges => {
                let edges: Vec<_> = edges
                    .iter()
                    .map(|edge| (edge.near, edge.style, edge.label.as_deref()))
                    .collect();
                (line, said(&edges, usual, names, styles))
            }
        }
    }
}

/// The edges of one row: near end, sort, lines.
fn said(edges: &[(usize, usize, Option<&str>)], usual: usize, names: &[String], styles: &Styles) -> String {
    if let [(0, style, None)] = edges
        && *style == usual
    {
        return String::new();
    }
    let mut words: Vec<String> = Vec::new();
    let mut style = usual;
    // Whether the last word is a sort that would take the next word for its edge.
    let mut is_open = false;
    for (near, its_style, label) in edges {
        if *its_style != style || is_open || (*near == 0 && label.is_none()) {
            words.push(styles.name(*its_style).to_string());
            style = *its_style;
        }
        is_open = *near == 0 && label.is_none();
        match (near, label) {
            (0, None) => {}
            (0, Some(lines)) => words.push((*lines).to_string()),
            (near, None) => words.push(names[*near].clone()),
            (near, Some(lines)) => words.push(format!("{}:{lines}", names[*near])),
        }
    }
    words.join(" ")
}

/// An edge that was read: the near end is a name until all rows are known.
pub(super) struct Heard {
    near: Option<String>,
    far: usize,
    style: usize,
    label: Option<String>,
}

/// Reads the cell of a row whose line cell is `lines`.
pub(super) fn heard(
    cell: &str,
    far: usize,
    lines: &str,
    usual: usize,
    styles: &Styles,
    edges: &mut Vec<Heard>,
) -> Option<()> {
    let before = edges.len();
    let mut add = |near: Option<&str>, style: usize, label: Option<&str>| {
        edges.push(Heard {
            near: near.map(str::to_string),
            far,
            style,
            label: label.map(str::to_string),
        });
    };
    match cell {
        UNRELATED => return (!lines.contains(',')).then_some(()),
        "" if far > 0 => add(None, usual, None),
        cell => {
            let mut style = usual;
            let mut is_open = false;
            for word in cell.split(' ').filter(|word| !word.is_empty()) {
                if let Some(named) = styles.number(word) {
                    if is_open {
                        add(None, style, None);
                    }
                    (style, is_open) = (named, true);
                    continue;
                }
                match word.split_once(':') {
                    Some((near, lines)) if is_lines(lines) => add(Some(near), style, Some(lines)),
                    _ if is_lines(word) => add(None, style, Some(word)),
                    _ => add(Some(word), style, None),
                }
                is_open = false;
            }
            if is_open {
                add(None, style, None);
            }
        }
    }
    if lines.contains(',') {
        let [only] = &mut edges[before..] else { return None };
        only.label = Some(lines.to_string()).filter(|lines| only.label.is_none() && is_lines(lines));
        only.label.as_ref()?;
    }
    Some(())
}

/// The members of all edges, in the order of a walk.
pub(super) fn members(
    heard: Vec<Heard>,
    items: &[Value],
    names: &[String],
    styles: &Styles,
    outgoing: bool,
) -> Option<Vec<Value>> {
    let places: Vec<(&str, u64)> = items
        .iter()
        .map(|row| Some((row["path"].as_str()?, row["line"].as_u64()?)))
        .collect::<Option<_>>()?;
    let numbers: HashMap<&str, usize> = names.iter().enumerate().map(|(at, name)| (name.as_str(), at)).collect();
    let near = |edge: &Heard| match &edge.near {
        None => Some(0),
        Some(name) => numbers.get(name.as_str()).copied(),
    };
    let mut edges: Vec<(usize, Heard)> = heard
        .into_iter()
        .map(|edge| Some((near(&edge)?, edge)))
        .collect::<Option<_>>()?;
    edges.sort_by_key(|(near, edge)| order(*near, edge.far, &places));
    let id = |at: usize| items.get(at).map(|row| row["id"].clone());
    let mut all = Vec::with_capacity(edges.len());
    for (near, edge) in edges {
        let (from, to) = if outgoing { (edge.far, near) } else { (near, edge.far) };
        let mut members = Map::new();
        members.insert("from".into(), id(from)?);
        members.insert("to".into(), id(to)?);
        styles.fill(edge.style, "kind", &mut members)?;
        members.extend(edge.label.map(|label| ("label".to_string(), label.into())));
        all.push(Value::Object(members));
    }
    Some(all)
}

/// What each row is called by the edges of others: its name where no other row has it, else its symbol, else its number.
pub(super) fn names(places: &[Place<'_>], styles: &Styles) -> Vec<String> {
    let mut taken: HashMap<&str, usize> = HashMap::new();
    for place in places {
        *taken.entry(place.name()).or_default() += 1;
        if place.symbol != place.name() && place.symbol != WHOLE_FILE {
            *taken.entry(place.symbol).or_default() += 1;
        }
    }
    let is_clear = |name: &&str| {
        taken.get(name) == Some(&1)
            && !name.is_empty()
            && *name != UNRELATED
            && !name.starts_with(NUMBERED)
            && !name.contains(|c: char| c.is_whitespace() || c == ':')
            && !is_lines(name)
            && styles.number(name).is_none()
    };
    let name = |(at, place): (usize, &Place<'_>)| {
        let clear = [place.name(), place.symbol].into_iter().find(is_clear);
        clear.map_or_else(|| format!("{NUMBERED}{at}"), str::to_string)
    };
    places.iter().enumerate().map(name).collect()
}

/// Edges by near end, then by the place of the far end: how a walk finds them.
fn order<'a>(near: usize, far: usize, places: &[(&'a str, u64)]) -> (usize, &'a str, u64, usize) {
    let (path, line) = places.get(far).copied().unwrap_or_default();
    (near, path, line, far)
}

/// Numbers of lines, of which the last may say how many more there are: `3,9,+120`.
fn is_lines(label: &str) -> bool {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit() || byte == b',');
    match label.split_once(",+") {
        Some((lines, more)) => is_number(lines) && !more.contains(',') && is_number(more),
        None => is_number(label),
    }
}
