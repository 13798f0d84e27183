//! Rows grouped by file: the same facts as a layout's own sections, without what the reader can derive.
//!
//! ```text
//! LCX1 tool=get_callers fields=line+symbol,to calls=ast_resolved/0.98 calls2=ast_inferred/0.6 etag=75faf369
//! shop/cart.py
//! 12 Cart.add
//! shop/views.py
//! 88,91 checkout
//! 120 Wishlist.move<TAB>calls2
//! 131.copy<TAB>move
//! orders.py
//! 17.
//! ```
//!
//! A symbol id is `path::Owner.name`, so the columns for path and name only repeat it, and rows next to each other often
//! share the path. Here a path stands on a line of its own, and the rows below it begin with the line and the symbol; a row
//! without a symbol is the file itself. A path without a slash is in the folder of the path above, and `./` leads below that
//! folder; `under=` of the header stands before the others, but for one that begins with a slash, which begins at the root. How
//! symbols shorten those below them is told in [`names`], how kinds, origins and confidences of relations move into the header in
//! [`styles`], and how edges stand on the rows of their far ends in [`edges`]. A column that never varies moves into the header, one
//! that would be empty throughout is left out, and in a signature an ellipsis stands for the symbol's name.
//!
//! Of the whole answer, what goes without saying is left out: that nothing was cut, and that there is as much as is listed. A
//! sentence, which a header cannot hold, stands above the rows behind an empty cell and its name.
//!
//! The text is LCX1 ([`crate::lcx`]), whose tag and count of lines are put there. Whatever does not fit the shape is no error:
//! [`to_string`] gives nothing and the answer is said otherwise.

mod cells;
mod communities;
mod contracts;
mod edges;
mod editing;
mod hits;
mod known;
mod lines;
mod names;
mod place;
mod source;
mod steps;
mod styles;
mod targets;
mod whole;

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value};

use crate::answers;
use crate::gcx::Header;
use crate::layout::{Column, Layout, Rows};
use crate::lcx::{TAG, lines as lines_of};

use cells::{cell, entry, read, read_cell};
pub(crate) use cells::{escaped, unescaped};
use edges::{Edges, Heard};
pub(crate) use known::Known;
use names::Above;
use place::{Paths, Place};
use styles::Styles;

/// What a layout's rows are called.
struct Shape {
    tool: &'static str,
    /// The member that holds the rows.
    member: &'static str,
    /// Columns of the row: id, name, path (empty where only the id has it), line.
    id: &'static str,
    name: &'static str,
    path: &'static str,
    line: &'static str,
    relations: Relations,
}

/// Where kinds, origins and confidences of relations are said.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Relations {
    /// Nowhere.
    None,
    /// In the member `edges`, which relates the rows.
    Edges,
    /// In every row, with the kind in the column of this name.
    Rows(&'static str),
}

/// The cell that every row begins with.
const FIRST: &str = "line+symbol";

const fn graph(tool: &'static str) -> Shape {
    Shape {
        relations: Relations::Edges,
        ..rows(tool, "nodes")
    }
}

const fn rows(tool: &'static str, member: &'static str) -> Shape {
    Shape {
        tool,
        member,
        id: "id",
        name: "name",
        path: "path",
        line: "line",
        relations: Relations::None,
    }
}

const SHAPES: &[Shape] = &[
    graph("get_callers"),
    graph("get_call_chain"),
    graph("get_dependencies"),
    graph("get_dependents"),
    graph("find_implementations"),
    rows("search_symbols", "results"),
    Shape {
        path: "",
        ..rows("get_file_summary", "symbols")
    },
    Shape {
        line: "start_line",
        ..rows("batch_symbols", "symbols")
    },
    rows("smart_context", "symbols"),
    rows("analyze.dead_code", "symbols"),
    rows("analyze.hotspots", "symbols"),
    Shape {
        id: "from",
        name: "from_name",
        path: "from_path",
        line: "from_line",
        relations: Relations::Rows("edge_kind"),
        ..rows("find_usages", "usages")
    },
];

/// The dense form, if the answer has one.
pub(crate) fn to_string(layout: &Layout, value: &Value) -> Option<String> {
    to_string_knowing(layout, value, &Known::default())
}

/// The dense form for a reader that holds the symbols of earlier answers.
pub(crate) fn to_string_knowing(layout: &Layout, value: &Value, known: &Known) -> Option<String> {
    match layout.tool {
        editing::TOOL => return editing::to_string(layout, value, known),
        communities::TOOL => return communities::to_string(value),
        contracts::TOOL => return contracts::to_string(value),
        lines::TOOL => return lines::to_string(value),
        source::TOOL => return source::to_string(value),
        steps::TOOL => return steps::to_string(value),
        targets::TOOL => return targets::to_string(value),
        tool if hits::TOOLS.contains(&tool) => return hits::to_string(tool, value),
        _ => {}
    }
    let shape = SHAPES.iter().find(|shape| shape.tool == layout.tool)?;
    let members = value.as_object()?;
    let items = objects(members.get(shape.member)?)?;
    let places: Vec<Place<'_>> = items
        .iter()
        .map(|row| Place::of(shape.id, shape.path, row))
        .collect::<Option<_>>()?;
    let mut entries: BTreeMap<String, String> = BTreeMap::new();
    let mut sentences = String::new();
    for (name, value) in members.iter().filter(|(name, _)| !shape.holds_rows(name)) {
        let column = whole_columns(layout).find(|column| column.name == name)?;
        if shape.default(column.name, members).as_ref() == Some(value) {
            continue;
        }
        match (entry(value), value) {
            (Some(text), _) => drop(entries.insert(name.clone(), text)),
            (None, Value::String(text)) => writeln!(sentences, "\t{name}\t{}", escaped(text)?).ok()?,
            (None, _) => return None,
        }
    }
    let related = Related::of(shape, members, &items)?;
    if let Some(related) = &related {
        related.styles.put(&mut entries)?;
    }
    let mut columns: Vec<&Column> = Vec::new();
    for column in shape.other_columns(layout)? {
        let first = items.first().and_then(|row| row.get(column.name));
        let is_constant = items.len() > 1 && items.iter().all(|row| row.get(column.name) == first);
        match first.and_then(entry).filter(|_| is_constant && column.name != "kind") {
            Some(text) => drop(entries.insert(format!("all.{}", column.name), text)),
            None => columns.push(column),
        }
    }
    let mut fields = vec![FIRST];
    fields.extend(related.as_ref().map(Related::field));
    fields.extend(columns.iter().map(|column| column.name));
    fields.push("name");
    let usual = related.as_ref().map(|related| styles::usual_at(&related.first));
    let called = related.as_ref().map(|related| edges::names(&places, &related.styles));
    let stems = names::stems(&places, known);
    // What stands above each row, its first cell, and the others.
    let mut table: Vec<(String, Vec<String>)> = Vec::with_capacity(items.len());
    let mut above = Above::default();
    let mut style = 0;
    let mut paths = Paths::of(
        places
            .iter()
            .filter(|place| !known.holds(**place))
            .map(|place| place.path),
    );
    let under = paths.entry();
    for (at, (row, place)) in items.iter().zip(&places).enumerate() {
        let mut out = String::new();
        if let Some(path) = Some(place)
            .filter(|place| !known.holds(**place))
            .and_then(|place| paths.say(place.path))
        {
            // A line that is a sort's name is taken for the sort.
            if related
                .as_ref()
                .is_some_and(|related| related.styles.number(&path).is_some())
            {
                return None;
            }
            out.push_str(&path);
            out.push('\n');
        }
        if let Some(stem) = stems[at] {
            let stem = &place.symbol[..stem];
            above.set_stem(stem);
            out.push_str(&format!("{stem}{}\n", cells::ELIDED));
        }
        let mut line = Vec::with_capacity(fields.len());
        let mut number = row.get(shape.line)?.as_u64()?.to_string();
        if let (Some(related), Some(usual), Some(called)) = (&related, &usual, &called) {
            if usual[at] != style {
                style = usual[at];
                out.push_str(&format!("{}\n", related.styles.name(style)));
            }
            let (lines, cell) = related.cells(at, number, style, called)?;
            number = lines;
            line.push(cell);
        }
        let name = row.get(shape.name)?.as_str()?;
        for column in &columns {
            line.push(cell(column, row.get(column.name), place.symbol, name)?);
        }
        line.push(match name == place.name() {
            true => String::new(),
            false => escaped(name).filter(|name| !name.is_empty())?,
        });
        out.push_str(&number);
        out.push_str(&above.say(*place, known));
        table.push((out, line));
    }
    let is_word = |path: &str| {
        related
            .as_ref()
            .is_some_and(|related| related.styles.number(path).is_some())
    };
    if places.iter().any(|place| is_word(place.path)) {
        return None;
    }
    for at in (1..fields.len()).rev() {
        if table.iter().all(|(_, line)| line[at - 1].is_empty()) && fields[at] != INCOMING {
            fields.remove(at);
            for (_, line) in &mut table {
                line.remove(at - 1);
            }
        }
    }
    let mut out = format!("{TAG} tool={} fields={}", shape.tool, fields.join(","));
    for (name, value) in &entries {
        write!(out, " {name}={value}").ok()?;
    }
    out.push_str(&under);
    out.push('\n');
    out.push_str(&sentences);
    for (first, cells) in table {
        out.push_str(&first);
        let told = cells
            .iter()
            .rposition(|cell| !cell.is_empty())
            .map_or(0, |last| last + 1);
        for cell in &cells[..told] {
            out.push('\t');
            out.push_str(cell);
        }
        out.push('\n');
    }
    Some(out)
}

/// The field of edges that lead from the near end to the row; in the header even where all its cells are empty.
const INCOMING: &str = "from";
const OUTGOING: &str = "to";
/// The field of the sort that a row's own relation is of.
const OWN: &str = "edge";

/// The relations of an answer, while it is written.
struct Related {
    styles: Styles,
    /// The edges; none where each row is a relation itself.
    edges: Option<Edges>,
    /// The sort of each row's first relation.
    first: Vec<Option<usize>>,
}

impl Related {
    /// The relations, or `Some(None)` where the answer has none.
    #[expect(
        clippy::option_option,
        reason = "outside: whether the answer fits; inside: whether it has relations"
    )]
    fn of(shape: &Shape, members: &Map<String, Value>, items: &[&Map<String, Value>]) -> Option<Option<Related>> {
        Some(match shape.relations {
            Relations::None => None,
            Relations::Edges => {
                let edges = objects(members.get("edges")?)?;
                let (styles, of_edges) = Styles::of(edges.iter().copied(), "kind")?;
                let edges = Edges::of(&edges, &of_edges, items)?;
                let first = edges.first_styles();
                Some(Related {
                    styles,
                    edges: Some(edges),
                    first,
                })
            }
            Relations::Rows(kind) => {
                let (styles, of_rows) = Styles::of(items.iter().copied(), kind)?;
                Some(Related {
                    styles,
                    edges: None,
                    first: of_rows.into_iter().map(Some).collect(),
                })
            }
        })
    }

    fn field(&self) -> &'static str {
        match &self.edges {
            None => OWN,
            Some(edges) if edges.outgoing => OUTGOING,
            Some(_) => INCOMING,
        }
    }

    /// The lines of a row and the cell of its relations, where one sort is the usual one.
    fn cells(&self, row: usize, line: String, usual: usize, called: &[String]) -> Option<(String, String)> {
        Some(match (&self.edges, self.first.get(row)?) {
            (Some(edges), _) => edges.cells(row, line, usual, called, &self.styles),
            (None, Some(style)) if *style != usual => (line, self.styles.name(*style).to_string()),
            (None, _) => (line, String::new()),
        })
    }
}

/// The answer that a header and what stands below it say to a reader who holds the symbols of earlier answers.
pub(crate) fn from_str_knowing(header: &Header, body: &str, known: &Known) -> Option<Value> {
    match header.tool.as_str() {
        editing::TOOL => return editing::from_str(header, body, known),
        communities::TOOL => return communities::from_str(header, body),
        contracts::TOOL => return contracts::from_str(header, body),
        lines::TOOL => return lines::from_str(header, body),
        source::TOOL => return source::from_str(header, body),
        steps::TOOL => return steps::from_str(header, body),
        targets::TOOL => return targets::from_str(header, body),
        tool if hits::TOOLS.contains(&tool) => return hits::from_str(header, body),
        _ => {}
    }
    let shape = shape_of(&header.tool)?;
    let layout = answers::layout_of(shape.tool)?;
    let others = shape.other_columns(layout)?;
    let styles = Styles::read(header, |name| whole_columns(layout).all(|column| column.name != name));
    let mut items: Vec<Value> = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    let mut edges: Vec<Heard> = Vec::new();
    let mut paths = Paths::read(header);
    let mut above = Above::default();
    let mut style = 0;
    let mut answer = Map::new();
    for line in lines_of(body) {
        if let Some((name, text)) = line.strip_prefix('\t').and_then(|line| line.split_once('\t')) {
            let column = whole_columns(layout).find(|column| column.name == name)?;
            answer.insert(column.name.into(), unescaped(text)?.into());
            continue;
        }
        let Some((lines, rest)) = names::row_of(line) else {
            match (names::stem_of(line), styles.number(line)) {
                (Some(stem), _) => above.set_stem(stem),
                (None, Some(number)) => style = number,
                (None, None) => paths.hear(line),
            }
            continue;
        };
        let mut cells = rest.split('\t');
        let (symbol, elsewhere) = above.hear(cells.next()?, known)?;
        let cells: Vec<&str> = cells.collect();
        // A column that is not there is empty throughout.
        let cell_of = |name: &str| {
            let at = header.fields.iter().skip(1).position(|field| field == name);
            at.and_then(|at| cells.get(at).copied()).unwrap_or_default()
        };
        let place = Place {
            path: elsewhere.unwrap_or(paths.path()),
            symbol: &symbol,
        };
        let mut row = Map::new();
        row.insert(shape.id.into(), place.id().into());
        let name = match cell_of("name") {
            "" => place.name().to_string(),
            name => unescaped(name)?,
        };
        if !shape.path.is_empty() {
            row.insert(shape.path.into(), place.path.into());
        }
        let line = lines.split(',').next().unwrap_or_default();
        row.insert(shape.line.into(), line.parse::<u64>().ok()?.into());
        for column in &others {
            let value = match header.entry(&format!("all.{}", column.name)) {
                Some(text) => Some(read(column.kind, text)?),
                None => read_cell(column, cell_of(column.name), &symbol, &name)?,
            };
            row.extend(value.map(|value| (column.name.to_string(), value)));
        }
        row.insert(shape.name.into(), name.into());
        match shape.relations {
            Relations::None => {}
            Relations::Edges => {
                let cell = [OUTGOING, INCOMING].map(cell_of).concat();
                edges::heard(&cell, items.len(), lines, style, &styles, &mut edges)?;
            }
            Relations::Rows(kind) => {
                let style = match cell_of(OWN) {
                    "" => style,
                    name => styles.number(name)?,
                };
                styles.fill(style, kind, &mut row)?;
            }
        }
        ids.push(place.id());
        items.push(Value::Object(row));
    }
    if shape.relations == Relations::Edges {
        let places: Vec<Place<'_>> = ids.iter().map(|id| Place::of_id(id)).collect::<Option<_>>()?;
        let called = edges::names(&places, &styles);
        let outgoing = !header.fields.iter().any(|field| field == INCOMING);
        let edges = edges::members(edges, &items, &called, &styles, outgoing)?;
        answer.insert("edges".into(), edges.into());
    }
    answer.insert(shape.member.into(), items.into());
    for column in whole_columns(layout) {
        if let Some(text) = header.entry(column.name) {
            answer.insert(column.name.into(), read(column.kind, text)?);
        } else if !answer.contains_key(column.name) {
            let default = shape.default(column.name, &answer);
            answer.extend(default.map(|value| (column.name.to_string(), value)));
        }
    }
    Some(Value::Object(answer))
}

/// The members of a list of objects.
fn objects(list: &Value) -> Option<Vec<&Map<String, Value>>> {
    list.as_array()?.iter().map(Value::as_object).collect()
}

/// The columns of what is said of the whole answer: its header's, and members that are one value.
fn whole_columns<'a>(layout: &'a Layout) -> impl Iterator<Item = &'a Column> {
    let values = layout.sections.iter().filter(|section| section.rows == Rows::Value);
    let named = values.flat_map(|section| section.columns.iter().filter(|column| column.name == section.member));
    layout.meta.iter().chain(named)
}

fn shape_of(tool: &str) -> Option<&'static Shape> {
    SHAPES.iter().find(|shape| shape.tool == tool)
}

impl Shape {
    fn holds_rows(&self, member: &str) -> bool {
        member == self.member || (self.relations == Relations::Edges && member == "edges")
    }

    /// What goes without saying of the whole: nothing was left out, and there are as many edges as are listed. How many rows
    /// there are in all is always said: whoever reads the answer must not have to count.
    fn default(&self, name: &str, members: &Map<String, Value>) -> Option<Value> {
        let count = |member: &str| Some(members.get(member)?.as_array()?.len().into());
        match name {
            "truncated" => Some(false.into()),
            "total_edges" if self.relations == Relations::Edges => count("edges"),
            _ => None,
        }
    }

    /// The columns that cannot be derived.
    fn other_columns<'a>(&self, layout: &'a Layout) -> Option<Vec<&'a Column>> {
        let section = layout.sections.iter().find(|section| section.member == self.member)?;
        let in_style = match self.relations {
            Relations::Rows(kind) => [kind, "origin", "confidence"],
            Relations::None | Relations::Edges => [""; 3],
        };
        let derived = [self.id, self.name, self.path, self.line];
        let is_other = |column: &&Column| !derived.contains(&column.name) && !in_style.contains(&column.name);
        Some(section.columns.iter().filter(is_other).collect())
    }
}
