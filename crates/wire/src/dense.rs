//! Rows grouped by file: the same facts as a layout's own sections, without what the reader can derive.
//!
//! A symbol id is `path::Owner.name`, so the columns for path and name only repeat it, and rows next to each other often
//! share the path. Here a path stands on a line of its own, the rows below it begin with `Owner.name` and the line, a column
//! that never varies moves into the header, and an edge stands on the row of its far end, naming the near end by its number.
//! A symbol that begins with a dot has the owner of the row above. Columns that would be empty throughout are left out, and
//! so is an edge that says nothing new: the commonest sort, to the first row, without a label.
//!
//! A path whose folder is that of the path above begins with `./`. In a conversation, a symbol that an earlier answer put in its
//! file is said by its name alone, after a star.
//!
//! Of the whole answer, what goes without saying is left out: that nothing was cut, and that there are as many edges as are listed.
//! A sentence, which a header cannot hold, stands above the rows behind an empty cell and its name. Where the lines of a row's usual
//! edge begin with its own, they stand in its place (`41,47`).
//!
//! The text is a GCX1 section named `<tool>.by_file`, so any GCX1 reader takes it for a table; [`from_str`] gives back the
//! answer itself. Whatever does not fit the shape is no error: [`to_string`] gives nothing and the answer is said otherwise.

mod edges;
mod editing;
mod known;
mod lines;
mod source;
mod targets;

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Number, Value};

use crate::answers;
use crate::gcx::{Header, Line, Reader};
use crate::layout::{Column, Kind, Layout, Rows};

use edges::{Related, UNRELATED, edge_cells, edges};
pub(crate) use known::Known;

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
    /// Whether the member `edges` relates the rows.
    related: bool,
}

const SUFFIX: &str = ".by_file";

const fn graph(tool: &'static str) -> Shape {
    Shape {
        related: true,
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
        related: false,
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
        ..rows("find_usages", "usages")
    },
];

/// Answers that are no list of symbols, each with a form of its own.
const SPECIAL: [&str; 4] = [editing::TOOL, lines::TOOL, source::TOOL, targets::TOOL];

/// Whether an answer of this layout may have a dense form.
pub(crate) fn has_shape(layout: &Layout) -> bool {
    SHAPES.iter().any(|shape| shape.tool == layout.tool) || SPECIAL.contains(&layout.tool)
}

/// Whether the header opens a dense section.
pub(crate) fn opens(header: &Header) -> bool {
    let Some(tool) = header.tool.strip_suffix(SUFFIX) else {
        return false;
    };
    shape_of(&header.tool).is_some() || SPECIAL.contains(&tool)
}

/// The dense form, if the answer has one.
pub(crate) fn to_string(layout: &Layout, value: &Value) -> Option<String> {
    to_string_knowing(layout, value, &Known::default())
}

/// The dense form for a reader that holds the symbols of earlier answers.
pub(crate) fn to_string_knowing(layout: &Layout, value: &Value, known: &Known) -> Option<String> {
    match layout.tool {
        editing::TOOL => return editing::to_string(layout, value, known),
        lines::TOOL => return lines::to_string(value),
        source::TOOL => return source::to_string(value),
        targets::TOOL => return targets::to_string(value),
        _ => {}
    }
    let shape = SHAPES.iter().find(|shape| shape.tool == layout.tool)?;
    let members = value.as_object()?;
    let items: Vec<&Map<String, Value>> = members
        .get(shape.member)?
        .as_array()?
        .iter()
        .map(Value::as_object)
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
    let cells = match shape.related {
        true => Some(edge_cells(shape, members, &items, &mut entries)?),
        false => None,
    };
    let mut columns: Vec<&Column> = Vec::new();
    for column in shape.other_columns(layout)? {
        let first = items.first().and_then(|row| row.get(column.name));
        let is_constant = items.len() > 1 && items.iter().all(|row| row.get(column.name) == first);
        match first.and_then(entry).filter(|_| is_constant && column.name != "kind") {
            Some(text) => drop(entries.insert(format!("all.{}", column.name), text)),
            None => columns.push(column),
        }
    }
    let mut fields = vec!["symbol", "line"];
    fields.extend(shape.related.then_some("at"));
    fields.extend(columns.iter().map(|column| column.name));
    fields.push("name");
    let mut table: Vec<Vec<String>> = Vec::with_capacity(items.len());
    let mut places: Vec<Place<'_>> = Vec::with_capacity(items.len());
    for (at, row) in items.iter().enumerate() {
        let place = Place::of(shape, row)?;
        let number = row.get(shape.line)?.as_u64()?.to_string();
        let mut line = vec![place.said(places.last(), known)];
        match cells.as_ref().map(|cells| cells[at].clone()) {
            Some((number, related)) => line.extend([number, related]),
            None => line.push(number),
        }
        for column in &columns {
            line.push(cell(column, row.get(column.name), place.symbol)?);
        }
        let name = row.get(shape.name)?.as_str()?;
        line.push(match name == place.name() {
            true => String::new(),
            false => escaped(name).filter(|name| !name.is_empty())?,
        });
        places.push(place);
        table.push(line);
    }
    // Two columns at least: a line without a tab is a path.
    for at in (2..fields.len()).rev() {
        if table.iter().all(|line| line[at].is_empty()) {
            fields.remove(at);
            for line in &mut table {
                line.remove(at);
            }
        }
    }
    let mut out = format!("GCX1 tool={}{SUFFIX} fields={}", shape.tool, fields.join(","));
    for (name, value) in &entries {
        write!(out, " {name}={value}").ok()?;
    }
    out.push('\n');
    out.push_str(&sentences);
    let mut under = "";
    for (place, mut line) in places.iter().zip(table) {
        if place.path != under && !known.holds(*place) {
            out.push_str(&below_path(place.path, under));
            out.push('\n');
            under = place.path;
        }
        while line.len() > 2 && line.last().is_some_and(String::is_empty) {
            line.pop();
        }
        out.push_str(&line.join("\t"));
        out.push('\n');
    }
    Some(out)
}

/// The answer that a dense text says, if it is one.
pub(crate) fn from_str(text: &str) -> Option<Value> {
    from_str_knowing(text, &Known::default())
}

/// The answer that a dense text says to a reader who holds the symbols of earlier answers.
pub(crate) fn from_str_knowing(text: &str, known: &Known) -> Option<Value> {
    let mut reader = Reader::new(text);
    let Some(Line::Header(header)) = reader.next_line().ok()? else {
        return None;
    };
    match header.tool.strip_suffix(SUFFIX)? {
        editing::TOOL => return editing::from_lines(&header, reader, known),
        lines::TOOL => return lines::from_lines(&header, reader),
        source::TOOL => return source::from_str(&header, text),
        targets::TOOL => return targets::from_str(&header, text),
        _ => {}
    }
    let shape = shape_of(&header.tool)?;
    let layout = answers::layout_of(shape.tool)?;
    let others = shape.other_columns(layout)?;
    let mut items: Vec<Value> = Vec::new();
    let mut related: Vec<Related> = Vec::new();
    let mut path = String::new();
    let mut owner = String::new();
    let mut answer = Map::new();
    while let Some(line) = reader.next_line().ok()? {
        let Line::Row(line, _) = line else { return None };
        if let Some((name, text)) = line.strip_prefix('\t').and_then(|line| line.split_once('\t')) {
            let column = whole_columns(layout).find(|column| column.name == name)?;
            answer.insert(column.name.into(), unescaped(text)?.into());
            continue;
        }
        let Some((symbol, rest)) = line.split_once('\t') else {
            path = whole_path(line, &path);
            continue;
        };
        let cells: Vec<&str> = std::iter::once(symbol).chain(rest.split('\t')).collect();
        // A column that is not there is empty throughout.
        let cell_of = |name: &str| {
            let at = header.fields.iter().position(|field| field == name);
            at.and_then(|at| cells.get(at).copied()).unwrap_or_default()
        };
        let (whole, elsewhere) = whole_symbol(symbol, &owner, known)?;
        let symbol = whole.as_str();
        let path = elsewhere.unwrap_or(&path);
        let place = Place { path, symbol };
        let mut row = Map::new();
        row.insert(shape.id.into(), place.id().into());
        let name = match cell_of("name") {
            "" => place.name().to_string(),
            name => unescaped(name)?,
        };
        row.insert(shape.name.into(), name.into());
        if !shape.path.is_empty() {
            row.insert(shape.path.into(), path.into());
        }
        let lines = cell_of("line");
        let line = lines.split(',').next().unwrap_or_default();
        row.insert(shape.line.into(), line.parse::<u64>().ok()?.into());
        for column in &others {
            let value = match header.entry(&format!("all.{}", column.name)) {
                Some(text) => Some(read(column.kind, text)?),
                None => read_cell(column, cell_of(column.name), symbol)?,
            };
            row.extend(value.map(|value| (column.name.to_string(), value)));
        }
        if shape.related {
            let far = items.len();
            match cell_of("at") {
                "" if far > 0 && lines.contains(',') => related.push(Related::at_lines(far, lines)?),
                "" if far > 0 => related.push(Related::usual(far)),
                UNRELATED => {}
                cell => {
                    for token in cell.split(' ').filter(|token| !token.is_empty()) {
                        related.push(Related::read(token, far)?);
                    }
                }
            }
        }
        owner = place.owner().unwrap_or_default().to_string();
        items.push(Value::Object(row));
    }
    if shape.related {
        let edges = edges(&header, &items, related)?;
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

/// The columns of what is said of the whole answer: its header's, and members that are one value.
fn whole_columns<'a>(layout: &'a Layout) -> impl Iterator<Item = &'a Column> {
    let values = layout.sections.iter().filter(|section| section.rows == Rows::Value);
    let named = values.flat_map(|section| section.columns.iter().filter(|column| column.name == section.member));
    layout.meta.iter().chain(named)
}

fn shape_of(tool: &str) -> Option<&'static Shape> {
    let tool = tool.strip_suffix(SUFFIX)?;
    SHAPES.iter().find(|shape| shape.tool == tool)
}

impl Shape {
    fn holds_rows(&self, member: &str) -> bool {
        member == self.member || (self.related && member == "edges")
    }

    /// What goes without saying of the whole: nothing was left out, and there are as many edges as are listed.
    fn default(&self, name: &str, members: &Map<String, Value>) -> Option<Value> {
        match name {
            "truncated" => Some(false.into()),
            "total_edges" if self.related => Some(members.get("edges")?.as_array()?.len().into()),
            // Each is answered, if only with why it is not.
            "total" if self.tool == "batch_symbols" => Some(members.get(self.member)?.as_array()?.len().into()),
            _ => None,
        }
    }

    /// The columns that cannot be derived.
    fn other_columns<'a>(&self, layout: &'a Layout) -> Option<Vec<&'a Column>> {
        let section = layout.sections.iter().find(|section| section.member == self.member)?;
        let derived = [self.id, self.name, self.path, self.line];
        Some(
            section
                .columns
                .iter()
                .filter(|column| !derived.contains(&column.name))
                .collect(),
        )
    }
}

/// Where a symbol is: the two halves of its id.
#[derive(Clone, Copy)]
struct Place<'a> {
    path: &'a str,
    /// `Owner.name`, or [`WHOLE_FILE`].
    symbol: &'a str,
}

/// Stands for a file itself, whose id is its path.
const WHOLE_FILE: &str = ".";

/// Before a symbol that an earlier answer put in its file.
const EARLIER: char = '*';

/// Before a path that has the folder of the one above.
const SAME_FOLDER: &str = "./";

/// A path, below another.
fn below_path<'a>(path: &'a str, above: &str) -> std::borrow::Cow<'a, str> {
    match (path.rsplit_once('/'), above.rsplit_once('/')) {
        (Some((folder, name)), Some((other, _))) if folder == other => format!("{SAME_FOLDER}{name}").into(),
        _ => path.into(),
    }
}

fn whole_path(said: &str, above: &str) -> String {
    match (said.strip_prefix(SAME_FOLDER), above.rsplit_once('/')) {
        (Some(name), Some((folder, _))) => format!("{folder}/{name}"),
        _ => said.to_string(),
    }
}

/// The symbol that a cell says below a row with this owner, and the path where it is not the one above.
fn whole_symbol<'k>(cell: &str, owner: &str, known: &'k Known) -> Option<(String, Option<&'k str>)> {
    if let Some(symbol) = cell.strip_prefix(EARLIER) {
        return Some((symbol.to_string(), Some(known.path_of(symbol)?)));
    }
    match cell.strip_prefix(WHOLE_FILE).filter(|rest| !rest.is_empty()) {
        Some(_) if owner.is_empty() => None,
        Some(_) => Some((format!("{owner}{cell}"), None)),
        None => Some((cell.to_string(), None)),
    }
}

impl<'a> Place<'a> {
    fn of(shape: &Shape, row: &'a Map<String, Value>) -> Option<Place<'a>> {
        let id = row.get(shape.id)?.as_str()?;
        let place = Place::of_id(id)?;
        let repeats = shape.path.is_empty() || row.get(shape.path)?.as_str()? == place.path;
        repeats.then_some(place)
    }

    /// The place that an id names, where both halves fit into lines of their own.
    fn of_id(id: &'a str) -> Option<Place<'a>> {
        let (path, symbol) = id.split_once("::").unwrap_or((id, WHOLE_FILE));
        let is_plain = |text: &str| {
            !text.is_empty()
                && !text.starts_with('#')
                && !text.starts_with("GCX1")
                && !text.contains(|c: char| c.is_control() || c == '\\')
        };
        let is_whole = symbol == WHOLE_FILE || !symbol.starts_with(WHOLE_FILE);
        let is_told = !path.starts_with(SAME_FOLDER) && !symbol.starts_with(EARLIER);
        (is_told && is_whole && is_plain(path) && is_plain(symbol)).then_some(Place { path, symbol })
    }

    /// The symbol as its cell has it, below another.
    fn said(self, above: Option<&Place<'_>>, known: &Known) -> String {
        match above {
            _ if known.holds(self) => format!("{EARLIER}{}", self.symbol),
            Some(above) => self.below(above).to_string(),
            None => self.symbol.to_string(),
        }
    }

    /// What comes before the last dot.
    fn owner(self) -> Option<&'a str> {
        let owner = self.symbol.rsplit_once('.').map(|(owner, _)| owner);
        owner.filter(|owner| !owner.is_empty())
    }

    /// The symbol as it is said below another: without an owner that is the same.
    fn below(self, above: &Place<'_>) -> &'a str {
        match (self.owner(), above.owner()) {
            (Some(owner), Some(other)) if owner == other => &self.symbol[owner.len()..],
            _ => self.symbol,
        }
    }

    fn id(self) -> String {
        match self.symbol {
            WHOLE_FILE => self.path.to_string(),
            symbol => format!("{}::{symbol}", self.path),
        }
    }

    /// The last part of the symbol, without the number of a second definition.
    fn name(self) -> &'a str {
        if self.symbol == WHOLE_FILE {
            return self.path.rsplit('/').next().unwrap_or(self.path);
        }
        let last = self.symbol.rsplit('.').next().unwrap_or(self.symbol);
        match last.rsplit_once('~') {
            Some((name, number)) if number.bytes().all(|byte| byte.is_ascii_digit()) => name,
            _ => last,
        }
    }
}

/// The kind that goes without saying.
fn usual_kind(symbol: &str) -> &'static str {
    match symbol {
        WHOLE_FILE => "file",
        symbol if symbol.contains('.') => "method",
        _ => "function",
    }
}

/// A value as an entry of the header, which holds no spaces.
fn entry(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => {
            let is_plain =
                !text.is_empty() && !text.contains(|c: char| c.is_whitespace() || c.is_control() || c == '\\');
            is_plain.then(|| text.clone())
        }
        Value::Bool(_) | Value::Number(_) => Some(value.to_string()),
        _ => None,
    }
}

/// A value as a cell; empty where it is absent, or a kind that goes without saying.
fn cell(column: &Column, value: Option<&Value>, symbol: &str) -> Option<String> {
    match value {
        None if column.optional => Some(String::new()),
        Some(Value::String(kind)) if column.name == "kind" && kind == usual_kind(symbol) => Some(String::new()),
        Some(Value::String(text)) => escaped(text).filter(|text| !text.is_empty()),
        Some(value @ (Value::Bool(_) | Value::Number(_))) => Some(value.to_string()),
        _ => None,
    }
}

fn read_cell(column: &Column, cell: &str, symbol: &str) -> Option<Option<Value>> {
    match cell {
        "" if column.name == "kind" => Some(Some(usual_kind(symbol).into())),
        "" => column.optional.then_some(None),
        cell => read(column.kind, &unescaped(cell)?).map(Some),
    }
}

fn read(kind: Kind, text: &str) -> Option<Value> {
    match kind {
        Kind::Text => Some(text.into()),
        Kind::Flag => text.parse::<bool>().ok().map(Value::Bool),
        Kind::Integer | Kind::Float => serde_json::from_str::<Number>(text).ok().map(Value::Number),
        Kind::List | Kind::Json => None,
    }
}

/// A text in one cell of one line; nothing where it has characters that such a cell cannot hold.
pub(crate) fn escaped(text: &str) -> Option<String> {
    let is_told = |c: char| !c.is_control() || c == '\t' || c == '\n';
    text.chars()
        .all(is_told)
        .then(|| text.replace('\\', "\\\\").replace('\t', "\\t").replace('\n', "\\n"))
}

/// The text that a cell holds.
pub(crate) fn unescaped(text: &str) -> Option<String> {
    let mut out = String::with_capacity(text.len());
    let mut characters = text.chars();
    while let Some(c) = characters.next() {
        out.push(match c {
            '\\' => match characters.next()? {
                't' => '\t',
                'n' => '\n',
                '\\' => '\\',
                _ => return None,
            },
            c => c,
        });
    }
    Some(out)
}
