//! Rows known by one column, and what changed among them: full payloads, deltas, hashes, and when to send which.
//!
//! A set, not a list: order is neither sent nor compared. Cells are scalars, because the hash is defined for nothing else.

mod session;

use std::collections::{HashMap, HashSet};

use serde::Serialize;
use serde_json::Value;

use super::decode::{Parser, TableKind, check_size};
use super::document::{FieldContent, Node};
use super::error::{Category, Error, Result, shown};
use super::graph::Reply;
use super::header::{Header, Profile};
use super::options::DecodeOptions;
use super::scalar::{write_float, write_integer, write_key, write_quoted, write_text};

pub use session::{DeltaSession, Reanchor};

/// One row: a scalar for every field, in the order of the fields.
pub type Row = Vec<Value>;

/// Rows with an identity column.
#[derive(Debug, Clone, PartialEq)]
pub struct KeyedSet {
    /// The name of the table; empty when the set is the whole payload.
    pub name: String,
    /// The field that tells rows apart.
    pub key: String,
    pub fields: Vec<String>,
    pub rows: Vec<Row>,
}

/// The difference between two keyed sets with the same fields.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SetDelta {
    pub tool: String,
    pub key: String,
    pub fields: Vec<String>,
    pub base_root: String,
    pub new_root: String,
    pub added: Vec<Row>,
    /// Rows that replace the one with the same key.
    pub changed: Vec<Row>,
    /// Keys of rows that are gone.
    pub removed: Vec<Value>,
    /// Tokens of the delta; used only to work out the savings in the header.
    pub delta_tokens: u64,
    /// Tokens the full payload would have taken; 0 leaves the savings out.
    pub full_tokens: u64,
}

impl KeyedSet {
    /// A set from values that serialize to flat objects, all with the fields of the first.
    pub fn from_rows<T: Serialize>(name: &str, key: &str, rows: &[T]) -> Result<Self> {
        let mut fields: Vec<String> = Vec::new();
        let mut table = Vec::with_capacity(rows.len());
        for row in rows {
            let value = serde_json::to_value(row)
                .map_err(|error| Error::new(Category::InvalidValue, error.to_string(), "a flat object"))?;
            let Value::Object(mut object) = value else {
                return Err(Error::new(
                    Category::InvalidValue,
                    "a row that is not an object",
                    "a flat object",
                ));
            };
            if fields.is_empty() {
                fields = object.keys().cloned().collect();
            }
            let cells: Option<Row> = fields.iter().map(|field| object.remove(field)).collect();
            match cells {
                Some(cells) if object.is_empty() => table.push(cells),
                _ => {
                    let found = "a row with other fields than the first";
                    return Err(Error::new(
                        Category::DeltaInvalid,
                        found,
                        "the same fields in every row",
                    ));
                }
            }
        }
        let set = Self {
            name: name.to_owned(),
            key: key.to_owned(),
            fields,
            rows: table,
        };
        set.index()?;
        Ok(set)
    }

    /// `gcf-pack-root-v1` of the rows, whatever their order.
    pub fn pack_root(&self) -> Result<String> {
        let mut order: Vec<usize> = (0..self.fields.len()).collect();
        order.sort_by(|left, right| self.fields[*left].as_bytes().cmp(self.fields[*right].as_bytes()));
        let mut records = Vec::with_capacity(self.rows.len());
        for row in &self.rows {
            self.check_width(row)?;
            let mut record = String::from("R");
            for field in &order {
                record.push('\t');
                record.push_str(&self.fields[*field]);
                record.push('\t');
                record.push_str(&canonical(&row[*field])?);
            }
            record.push('\n');
            records.push(record);
        }
        records.sort_unstable();
        Ok(super::graph::hash_records(&records.concat()))
    }

    /// Where the key is among the fields.
    fn key_place(&self) -> Result<usize> {
        self.fields.iter().position(|field| *field == self.key).ok_or_else(|| {
            Error::new(
                Category::DeltaInvalid,
                format!("no field {}", shown(&self.key)),
                "a field that tells rows apart",
            )
        })
    }

    fn check_width(&self, row: &Row) -> Result<()> {
        if row.len() == self.fields.len() {
            return Ok(());
        }
        let found = format!("a row of {} cells", row.len());
        Err(Error::new(
            Category::RowWidthMismatch,
            found,
            format!("{}", self.fields.len()),
        ))
    }

    /// Rows by key. Fails if a key is missing or given twice.
    fn index(&self) -> Result<HashMap<String, usize>> {
        let place = self.key_place()?;
        let mut index = HashMap::with_capacity(self.rows.len());
        for (number, row) in self.rows.iter().enumerate() {
            self.check_width(row)?;
            if index.insert(canonical(&row[place])?, number).is_some() {
                return Err(Error::new(
                    Category::DeltaInvalid,
                    format!("the key {} twice", row[place]),
                    "each key once",
                ));
            }
        }
        Ok(index)
    }
}

/// A scalar as it is hashed: strings always in quotes, so that none looks like another type.
fn canonical(value: &Value) -> Result<String> {
    let mut out = String::new();
    match value {
        Value::String(text) => write_quoted(&mut out, text),
        other => write_cell(&mut out, other)?,
    }
    Ok(out)
}

fn write_cell(out: &mut String, value: &Value) -> Result<()> {
    match value {
        Value::Null => out.push('-'),
        Value::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
        Value::String(text) => write_text(out, text),
        Value::Number(number) => match (number.as_i64(), number.is_u64(), number.as_f64()) {
            (Some(integer), _, _) => write_integer(out, integer),
            (None, false, Some(float)) if float.is_finite() => write_float(out, float),
            _ => {
                return Err(Error::new(
                    Category::OutOfRange,
                    number.to_string(),
                    "a 64-bit signed integer or a double",
                ));
            }
        },
        Value::Array(_) | Value::Object(_) => {
            return Err(Error::new(
                Category::DeltaInvalid,
                "a nested value in a keyed set",
                "scalars",
            ));
        }
    }
    Ok(())
}

/// Writes the full payload that later deltas refer to.
pub fn encode(set: &KeyedSet, tool: &str) -> Result<String> {
    set.index()?;
    let mut out = String::from("GCF profile=generic");
    super::graph::write_header_text(&mut out, "tool", tool)?;
    super::graph::write_header_text(&mut out, "pack_root", &set.pack_root()?)?;
    super::graph::write_header_text(&mut out, "key", &set.key)?;
    out.push_str("\n## ");
    if !set.name.is_empty() {
        write_key(&mut out, &set.name);
        out.push(' ');
    }
    write_rows(&mut out, &set.key, &set.fields, &set.rows)?;
    Ok(out)
}

fn write_rows(out: &mut String, key: &str, fields: &[String], rows: &[Row]) -> Result<()> {
    out.push('[');
    write_integer(out, rows.len());
    out.push_str("]{");
    for (place, field) in fields.iter().enumerate() {
        if field.contains('>') {
            // A reader would take it for a path.
            return Err(Error::new(
                Category::InvalidName,
                format!("the field {}", shown(field)),
                "no `>`",
            ));
        }
        out.push_str(if place > 0 { "," } else { "" });
        out.push_str(if field == key { "@" } else { "" });
        write_key(out, field);
    }
    out.push_str("}\n");
    for row in rows {
        for (place, cell) in row.iter().enumerate() {
            out.push_str(if place > 0 { "|" } else { "" });
            write_cell(out, cell)?;
        }
        out.push('\n');
    }
    Ok(())
}

/// Works out the delta between two sets. Fails where only a full payload will do: other fields, other key, keys not unique.
pub fn diff(base: &KeyedSet, new: &KeyedSet) -> Result<SetDelta> {
    if base.key != new.key || base.fields != new.fields {
        return Err(Error::new(
            Category::DeltaInvalid,
            "other fields than the base has",
            "the same fields",
        ));
    }
    let place = new.key_place()?;
    let old = base.index()?;
    let current = new.index()?;
    let mut delta = SetDelta {
        key: new.key.clone(),
        fields: new.fields.clone(),
        base_root: base.pack_root()?,
        new_root: new.pack_root()?,
        ..SetDelta::default()
    };
    for row in &new.rows {
        match old.get(&canonical(&row[place])?) {
            None => delta.added.push(row.clone()),
            Some(number) if !same_row(&base.rows[*number], row)? => delta.changed.push(row.clone()),
            Some(_) => {}
        }
    }
    for row in &base.rows {
        if !current.contains_key(&canonical(&row[place])?) {
            delta.removed.push(row[place].clone());
        }
    }
    Ok(delta)
}

fn same_row(left: &Row, right: &Row) -> Result<bool> {
    for (left, right) in left.iter().zip(right) {
        if canonical(left)? != canonical(right)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Writes a delta. One without changes is its header alone.
pub fn encode_delta(delta: &SetDelta) -> Result<String> {
    let mut out = String::from("GCF profile=generic");
    super::graph::write_header_text(&mut out, "tool", &delta.tool)?;
    out.push_str(" delta=true");
    super::graph::write_header_text(&mut out, "base_root", &delta.base_root)?;
    super::graph::write_header_text(&mut out, "new_root", &delta.new_root)?;
    super::graph::write_header_text(&mut out, "key", &delta.key)?;
    super::graph::write_savings(&mut out, delta.delta_tokens, delta.full_tokens);
    out.push('\n');
    for (name, rows) in [("## added ", &delta.added), ("## changed ", &delta.changed)] {
        if !rows.is_empty() {
            out.push_str(name);
            write_rows(&mut out, &delta.key, &delta.fields, rows)?;
        }
    }
    if !delta.removed.is_empty() {
        out.push_str("## removed ");
        let keys: Vec<Row> = delta.removed.iter().map(|key| vec![key.clone()]).collect();
        write_rows(&mut out, &delta.key, std::slice::from_ref(&delta.key), &keys)?;
    }
    Ok(out)
}

fn open<'a>(text: &'a str, options: &DecodeOptions) -> Result<Header<'a>> {
    check_size(text, &options.limits)?;
    let header = Header::parse(text)?;
    if header.profile != Profile::Generic {
        return Err(Error::at(
            text.as_bytes(),
            4,
            Category::UnknownProfile,
            "`profile=graph`",
            "`profile=generic`",
        ));
    }
    Ok(header)
}

/// A table's name, fields and rows.
type Section = (String, Vec<String>, Vec<Row>);

/// One `## name [N]{@id,…}` table: its name, fields and rows.
fn read_table(parser: &mut Parser<'_, '_>) -> Result<Option<Section>> {
    let Some(line) = parser.lines.peek()? else {
        return Ok(None);
    };
    parser.lines.advance();
    let content = parser.lines.content(line);
    let Some(rest) = content.strip_prefix("## ").filter(|_| line.level == 0) else {
        return Err(parser.surplus(line));
    };
    let mut name = String::new();
    let mut start = line.start + 3;
    if !rest.starts_with('[') {
        let (key, after) = parser.key(start, line.end)?;
        name = parser.document.string(key).unwrap_or_default().to_owned();
        start = after + 1;
        if !parser.text[after..line.end].starts_with(" [") {
            return Err(parser.unexpected(line, "`## name [N]{@key,…}`"));
        }
    }
    let bracket = parser.bracket(start, line.end)?;
    if bracket.keyed {
        return Err(parser.unexpected(line, "`## name [N]{@key,…}`"));
    }
    let table = parser.table_header(bracket.end, line.end, TableKind::Array)?;
    let array = parser.rows(table, &bracket, 0, line)?;
    let document = &parser.document;
    let table = &document.tables[table as usize];
    let invalid = |what: &str| {
        Error::at(
            parser.text.as_bytes(),
            line.start,
            Category::MalformedDelta,
            what,
            "plain columns and scalars",
        )
    };
    let mut fields = Vec::with_capacity(table.width);
    for field in &table.groups[0] {
        match field.content {
            FieldContent::Cell(_) => fields.push(field.name.to_string()),
            _ => return Err(invalid("a path or constant column")),
        }
    }
    let mut rows = Vec::new();
    for row in (0..document.count(array)).filter_map(|index| document.item(array, index)) {
        let Node::Row { first, .. } = row else {
            return Err(invalid("an attachment"));
        };
        let mut cells = Row::with_capacity(table.width);
        for cell in document.children(first, table.width) {
            cells.push(match *cell {
                Node::Null => Value::Null,
                Node::Bool(value) => Value::Bool(value),
                Node::Integer(value) => Value::from(value),
                Node::Float(value) => Value::from(value),
                Node::Text { .. } | Node::Owned { .. } => Value::from(document.string(*cell).unwrap_or_default()),
                _ => return Err(invalid("a cell without a scalar")),
            });
        }
        rows.push(cells);
    }
    Ok(Some((name, fields, rows)))
}

/// Reads a full payload and checks that its hash is the one in its header.
pub fn decode(text: &str, options: &DecodeOptions) -> Result<KeyedSet> {
    let header = open(text, options)?;
    let (Some(key), Some(root), false) = (header.get("key"), header.get("pack_root"), header.is_true("delta")) else {
        return Err(Error::at(
            text.as_bytes(),
            0,
            Category::MalformedDelta,
            "a payload without `key` or `pack_root`",
            "both",
        ));
    };
    let mut parser = Parser::new(text, header.body, Some(key), options);
    let Some((name, fields, rows)) = read_table(&mut parser)? else {
        return Err(Error::at(
            text.as_bytes(),
            text.len(),
            Category::UnexpectedContent,
            "no table",
            "`## name [N]{@key,…}`",
        ));
    };
    if let Some(line) = parser.lines.peek()? {
        return Err(parser.surplus(line));
    }
    let set = KeyedSet {
        name,
        key: key.to_owned(),
        fields,
        rows,
    };
    set.index()?;
    let actual = set.pack_root()?;
    if actual != root {
        return Err(Error::at(text.as_bytes(), 0, Category::RootMismatch, actual, root));
    }
    Ok(set)
}

/// Reads a delta.
pub fn decode_delta(text: &str, options: &DecodeOptions) -> Result<SetDelta> {
    let header = open(text, options)?;
    let (Some(key), true) = (header.get("key"), header.is_true("delta")) else {
        return Err(Error::at(
            text.as_bytes(),
            0,
            Category::MalformedDelta,
            "a header without `delta=true` and `key`",
            "both",
        ));
    };
    let field = |name| header.get(name).unwrap_or_default().to_owned();
    let mut delta = SetDelta {
        tool: field("tool"),
        key: key.to_owned(),
        base_root: field("base_root"),
        new_root: field("new_root"),
        ..SetDelta::default()
    };
    let mut parser = Parser::new(text, header.body, Some(key), options);
    let mut seen = HashSet::new();
    while let Some((name, fields, rows)) = read_table(&mut parser)? {
        let malformed =
            |found: &str, expected: &str| Error::at(text.as_bytes(), 0, Category::MalformedDelta, found, expected);
        if !seen.insert(name.clone()) || !fields.iter().any(|field| field == key) {
            return Err(malformed(
                "a section twice, or one without the key",
                "added, changed, removed, each once",
            ));
        }
        match name.as_str() {
            "removed" if fields.len() == 1 => delta.removed = rows.into_iter().flatten().collect(),
            "added" | "changed" => {
                if !delta.fields.is_empty() && delta.fields != fields {
                    return Err(malformed("sections with different columns", "the same columns"));
                }
                delta.fields = fields;
                if name == "added" {
                    delta.added = rows
                } else {
                    delta.changed = rows
                }
            }
            _ => {
                return Err(malformed(
                    &format!("the section {}", shown(&name)),
                    "added, changed or removed",
                ));
            }
        }
    }
    Ok(delta)
}

/// Applies a delta to a set, all or nothing: the result's hash must be the one the delta names.
pub fn apply(base: &KeyedSet, delta: &SetDelta) -> Result<KeyedSet> {
    let invalid = |found: String, expected: &str| Err(Error::new(Category::DeltaInvalid, found, expected));
    let base_root = base.pack_root()?;
    if base_root != delta.base_root {
        return Err(Error::new(
            Category::BaseMismatch,
            format!("a delta for {}", shown(&delta.base_root)),
            base_root,
        ));
    }
    let has_rows = !delta.added.is_empty() || !delta.changed.is_empty();
    if delta.key != base.key || (has_rows && delta.fields != base.fields) {
        return invalid("other fields than the base has".into(), "the fields of the base");
    }
    let place = base.key_place()?;
    let index = base.index()?;
    let mut rows: Vec<Option<Row>> = base.rows.iter().cloned().map(Some).collect();
    let mut touched = HashSet::new();
    let mut find = |key: &Value| -> Result<Option<usize>> {
        let key = canonical(key)?;
        if !touched.insert(key.clone()) {
            return Err(Error::new(
                Category::DeltaInvalid,
                format!("the key {key} twice"),
                "one operation per key",
            ));
        }
        Ok(index.get(&key).copied())
    };
    for row in &delta.changed {
        base.check_width(row)?;
        match find(&row[place])? {
            Some(number) => rows[number] = Some(row.clone()),
            None => {
                return invalid(
                    format!("a change of {}, which the base lacks", row[place]),
                    "a key of the base",
                );
            }
        }
    }
    for key in &delta.removed {
        match find(key)? {
            Some(number) => rows[number] = None,
            None => return invalid(format!("a removal of {key}, which the base lacks"), "a key of the base"),
        }
    }
    for row in &delta.added {
        base.check_width(row)?;
        if find(&row[place])?.is_some() {
            return invalid(format!("the key {} already exists", row[place]), "a new key");
        }
        rows.push(Some(row.clone()));
    }
    let set = KeyedSet {
        rows: rows.into_iter().flatten().collect(),
        ..base.clone()
    };
    let root = set.pack_root()?;
    if root != delta.new_root {
        return Err(Error::new(
            Category::RootMismatch,
            format!("{root} after the delta"),
            delta.new_root.clone(),
        ));
    }
    Ok(set)
}

/// Chooses the answer to a client that says which set it holds, as [`super::graph::reply`] does for graphs.
pub fn reply(
    echoed: Option<&str>,
    base: Option<&KeyedSet>,
    current: &KeyedSet,
    tool: &str,
    measure: impl Fn(&str) -> usize,
) -> Result<Reply> {
    let root = current.pack_root()?;
    if echoed == Some(root.as_str()) {
        let mut out = String::from("GCF profile=generic");
        super::graph::write_header_text(&mut out, "tool", tool)?;
        out.push_str(&format!(
            " unchanged=true pack_root={root} count={}\n",
            current.rows.len()
        ));
        return Ok(Reply::Unchanged(out));
    }
    let full = encode(current, tool)?;
    let (Some(echoed), Some(base)) = (echoed, base) else {
        return Ok(Reply::Full(full));
    };
    let Ok(mut delta) = diff(base, current) else {
        return Ok(Reply::Full(full));
    };
    if delta.base_root != echoed {
        return Ok(Reply::Full(full));
    }
    delta.tool = tool.to_owned();
    delta.full_tokens = measure(&full) as u64;
    delta.delta_tokens = measure(&encode_delta(&delta)?) as u64;
    if delta.delta_tokens * 10 >= delta.full_tokens * 6 {
        return Ok(Reply::Full(full));
    }
    Ok(Reply::Delta(encode_delta(&delta)?))
}
