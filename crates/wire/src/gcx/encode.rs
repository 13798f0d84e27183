//! Writing GCX1: a value and a layout in, sections out; without a layout the value's own shape decides.

use serde::ser::{self, Impossible, Serialize};

use super::error::{Error, ErrorKind, Result};
use super::json_cell::Written;
use super::key;
use super::rows::{self, Expect, RowWriter};
use super::shape::{self, Elements, Member, Shape};
use super::stop::Stop;
use super::table::{Eol, Table, Tape};
use super::text;
use crate::counted;
use crate::layout::{Column, Layout, Rows, Section};

/// What the serializers here return.
type Outcome<T = ()> = std::result::Result<T, Stop>;

/// Header keys with a meaning of their own, which no member may take.
pub(crate) const RESERVED: [&str; 8] = [
    "tool",
    "fields",
    "rows",
    "null",
    "empty",
    "eol",
    "sections",
    counted::ENTRY,
];

/// The section that carries header entries which a header cannot hold, such as prose.
pub(crate) const NOTES: &str = ".notes";

/// The columns of [`NOTES`].
pub(crate) const NOTES_COLUMNS: &[Column] = &[
    Column::text("key", "the entry's name"),
    Column::text("value", "its value"),
];

/// Writes `value` in the shape that says it best: rows for a list, a section per list for an object that holds lists of
/// objects, one row for any other object. Decoding gives back the same JSON value.
pub fn to_string<T: Serialize + ?Sized>(tool: &str, value: &T) -> Result<String> {
    encode(tool, |tape| {
        let shape = shape::of(value)?;
        match &shape {
            Shape::Object(members) if wants_sections(members) => match write_sections(tool, value, members, tape) {
                Err(Stop::NotColumns) => write_one_section(tool, value, &shape, tape),
                done => done,
            },
            _ => write_one_section(tool, value, &shape, tape),
        }
    })
}

/// Writes `value` as the reference's generic fallback does: always one section, lists inside an object as JSON cells.
pub fn to_string_in_one_section<T: Serialize + ?Sized>(tool: &str, value: &T) -> Result<String> {
    encode(tool, |tape| write_one_section(tool, value, &shape::of(value)?, tape))
}

/// Writes `value` by its layout: the sections, columns and header entries of the table, in its order.
pub fn to_string_with<T: Serialize + ?Sized>(layout: &Layout, value: &T) -> Result<String> {
    if layout.is_generic() {
        return to_string(layout.tool, value);
    }
    encode(layout.tool, |tape| {
        let mut writer = LayoutWriter::new(layout);
        match layout.sections {
            // The answer is the list.
            [section] if section.member.is_empty() && section.rows != Rows::One => {
                writer.fill(0, section, value, tape)?;
            }
            _ => value.serialize(Root {
                writer: &mut writer,
                tape,
                key: String::new(),
            })?,
        }
        writer.finish(tape)
    })
}

/// Runs `write` once, and again when every line end turned out to be CRLF, which the header can say.
fn encode(tool: &str, write: impl Fn(&mut Tape) -> Outcome<Vec<u8>>) -> Result<String> {
    if !text::is_name(tool) {
        let expected = "a name without spaces, commas, backslashes and control characters";
        return Err(Error::value(
            ErrorKind::Schema,
            format!("the tool name `{tool}`"),
            expected,
            "rename the tool",
        ));
    }
    let mut tape = Tape::new(Eol::Literal);
    let mut bytes = write(&mut tape)?;
    if tape.is_uniform_crlf() {
        bytes = write(&mut Tape::new(Eol::Crlf))?;
    }
    String::from_utf8(bytes).map_err(|_| {
        Error::value(
            ErrorKind::Utf8,
            "a text split inside a character",
            "whole characters",
            "",
        )
    })
}

/// Appends one header line. `entries` are sorted here.
fn write_header<'a>(
    out: &mut Vec<u8>,
    tool: &[&str],
    fields: impl Iterator<Item = &'a str>,
    entries: &mut [(String, Vec<u8>)],
) {
    out.extend_from_slice(b"GCX1 tool=");
    for part in tool {
        out.extend_from_slice(part.as_bytes());
    }
    out.extend_from_slice(b" fields=");
    for (at, field) in fields.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        out.extend_from_slice(field.as_bytes());
    }
    entries.sort();
    for (name, value) in entries {
        out.push(b' ');
        out.extend_from_slice(name.as_bytes());
        out.push(b'=');
        out.extend_from_slice(value);
    }
    out.push(b'\n');
}

/// Appends the header and the rows of `table`.
fn write_table(
    out: &mut Vec<u8>,
    tool: &[&str],
    table: &Table,
    tape: &Tape,
    order: &[usize],
    mut entries: Vec<(String, Vec<u8>)>,
) {
    if table.kinds.is_none() {
        let (nulls, blanks) = table.empty_meanings(order);
        for (name, columns) in [("null", nulls), ("empty", blanks)] {
            if !columns.is_empty() {
                entries.push((name.to_owned(), columns.join(",").into_bytes()));
            }
        }
    }
    if tape.eol == Eol::Crlf && table.line_ends {
        entries.push(("eol".to_owned(), b"crlf".to_vec()));
    }
    let padding = table.needs_padding().then_some("_");
    let fields = order.iter().map(|&column| &*table.columns[column].name).chain(padding);
    write_header(out, tool, fields, &mut entries);
    table.write_rows(tape, order, out);
}

fn row_count(table: &Table) -> (String, Vec<u8>) {
    ("rows".to_owned(), table.rows().to_string().into_bytes())
}

/// The generic fallback: one section whatever the value is.
fn write_one_section<T: Serialize + ?Sized>(tool: &str, value: &T, shape: &Shape, tape: &mut Tape) -> Outcome<Vec<u8>> {
    let mut out = Vec::new();
    match shape {
        Shape::List(elements) => {
            let table = list_table(value, *elements, tape)?;
            let entries = vec![row_count(&table)];
            write_table(&mut out, &[tool], &table, tape, &table.sorted(), entries);
        }
        Shape::Object(_) => {
            let mut table = Table::discovered();
            let attempt = value
                .serialize(RowWriter {
                    table: &mut table,
                    tape,
                    expect: Expect::Object,
                })
                .and_then(|()| table.check_columns(tape));
            match attempt {
                Err(Stop::NotColumns) => return write_one_cell(tool, value, tape),
                other => other?,
            }
            write_table(&mut out, &[tool], &table, tape, &table.sorted(), Vec::new());
        }
        Shape::Scalar | Shape::Other => return write_one_cell(tool, value, tape),
    }
    Ok(out)
}

/// The last resort, which carries anything: one column `value`, one row.
fn write_one_cell<T: Serialize + ?Sized>(tool: &str, value: &T, tape: &mut Tape) -> Outcome<Vec<u8>> {
    let mut out = Vec::new();
    tape.bytes.clear();
    let mut table = Table::values();
    rows::write_cell(&mut table, tape, 0, value)?;
    table.end_row();
    write_table(&mut out, &[tool], &table, tape, &[0], Vec::new());
    Ok(out)
}

/// The rows of a list: columns when its elements are objects that columns can hold, otherwise one value per row.
fn list_table<T: Serialize + ?Sized>(value: &T, elements: Elements, tape: &mut Tape) -> Outcome<Table> {
    let start = tape.bytes.len();
    if elements == Elements::Objects {
        let mut table = Table::discovered();
        let attempt = value
            .serialize(RowWriter {
                table: &mut table,
                tape,
                expect: Expect::Objects,
            })
            .and_then(|()| table.check_columns(tape));
        match attempt {
            Ok(()) => return Ok(table),
            Err(Stop::NotColumns) => tape.bytes.truncate(start),
            Err(stop) => return Err(stop),
        }
    }
    let mut table = Table::values();
    value.serialize(RowWriter {
        table: &mut table,
        tape,
        expect: Expect::Values,
    })?;
    Ok(table)
}

/// An object is worth sections when it holds a list of objects, and when each list's name can follow a dot.
fn wants_sections(members: &[(String, Member)]) -> bool {
    let is_list = |member: &Member| matches!(member, Member::List(_));
    members
        .iter()
        .any(|(_, member)| *member == Member::List(Elements::Objects))
        && members
            .iter()
            .all(|(name, member)| !is_list(member) || (text::is_name(name) && !name.contains('.')))
}

/// A section per list. Short scalars travel in the first header; what cannot becomes a leading row of its own.
fn write_sections<T: Serialize + ?Sized>(
    tool: &str,
    value: &T,
    members: &[(String, Member)],
    tape: &mut Tape,
) -> Outcome<Vec<u8>> {
    let mut writer = SectionsWriter {
        shapes: members,
        at: 0,
        lists: Vec::new(),
        entries: Vec::new(),
        rest: Table::discovered(),
    };
    value.serialize(Root {
        writer: &mut writer,
        tape,
        key: String::new(),
    })?;
    let SectionsWriter {
        lists,
        mut entries,
        mut rest,
        ..
    } = writer;
    let mut out = Vec::new();
    if !rest.columns.is_empty() {
        rest.end_row();
        rest.check_columns(tape)?;
        write_table(
            &mut out,
            &[tool],
            &rest,
            tape,
            &rest.sorted(),
            std::mem::take(&mut entries),
        );
    } else if let [(_, table)] = &lists[..]
        && table.rows() == 1
        && entries.is_empty()
    {
        // Alone, one row without entries would read as an object.
        entries.push(("sections".to_owned(), b"1".to_vec()));
    }
    for (name, table) in &lists {
        let entries = std::mem::take(&mut entries);
        write_table(&mut out, &[tool, ".", name], table, tape, &table.sorted(), entries);
    }
    Ok(out)
}

/// Receives the members of the value at the root.
trait MemberWriter {
    fn member<T: Serialize + ?Sized>(&mut self, key: &str, value: &T, tape: &mut Tape) -> Outcome;
}

struct SectionsWriter<'a> {
    shapes: &'a [(String, Member)],
    at: usize,
    lists: Vec<(String, Table)>,
    entries: Vec<(String, Vec<u8>)>,
    rest: Table,
}

impl MemberWriter for SectionsWriter<'_> {
    fn member<T: Serialize + ?Sized>(&mut self, key: &str, value: &T, tape: &mut Tape) -> Outcome {
        let shape = self.shapes.get(self.at).map_or(Member::Object, |(_, shape)| *shape);
        self.at += 1;
        match shape {
            Member::List(elements) => {
                self.lists.push((key.to_owned(), list_table(value, elements, tape)?));
                return Ok(());
            }
            Member::Scalar if text::is_name(key) && !key.contains('=') && !RESERVED.contains(&key) => {
                let start = tape.bytes.len();
                let (carriage_return, mixed) = (tape.carriage_return, tape.mixed);
                let written = rows::scalar_cell(tape, None, value)?;
                let spelled = &tape.bytes[start..];
                if written == Written::Bytes && is_header_value(spelled) {
                    self.entries.push((key.to_owned(), spelled.to_vec()));
                    tape.bytes.truncate(start);
                    return Ok(());
                }
                tape.bytes.truncate(start);
                (tape.carriage_return, tape.mixed) = (carriage_return, mixed);
            }
            Member::Scalar | Member::Object => {}
        }
        let column = self.rest.column(key, self.rest.columns.len())?;
        rows::write_cell(&mut self.rest, tape, column, value)
    }
}

/// Headers are split at spaces, and a line end in them has no `eol` to restore it.
fn is_header_value(spelled: &[u8]) -> bool {
    !spelled.contains(&b' ') && !spelled.windows(2).any(|pair| pair == b"\\n" || pair == b"\\\"")
}

/// Collects the sections and header entries of a layout.
struct LayoutWriter<'a> {
    layout: &'a Layout<'a>,
    tables: Vec<Table>,
    entries: Vec<(String, Vec<u8>)>,
    notes: Table,
}

impl<'a> LayoutWriter<'a> {
    fn new(layout: &'a Layout<'a>) -> Self {
        let tables = layout
            .sections
            .iter()
            .map(|section| Table::laid_out(section.columns))
            .collect();
        Self {
            layout,
            tables,
            entries: Vec::new(),
            notes: Table::laid_out(NOTES_COLUMNS),
        }
    }

    fn finish(mut self, tape: &Tape) -> Outcome<Vec<u8>> {
        let mut out = Vec::new();
        for (section, table) in self.layout.sections.iter().zip(&mut self.tables) {
            if section.member.is_empty() && section.rows == Rows::One {
                table.end_row();
            }
            let mut entries = std::mem::take(&mut self.entries);
            if section.counted {
                entries.push(row_count(table));
            }
            let order: Vec<usize> = (0..table.columns.len()).collect();
            write_table(
                &mut out,
                &[self.layout.tool, section.suffix],
                table,
                tape,
                &order,
                entries,
            );
        }
        if self.notes.rows() > 0 {
            write_table(
                &mut out,
                &[self.layout.tool, NOTES],
                &self.notes,
                tape,
                &[0, 1],
                Vec::new(),
            );
        }
        Ok(out)
    }

    fn entry<T: Serialize + ?Sized>(&mut self, column: &'static Column, value: &T, tape: &mut Tape) -> Outcome {
        let start = tape.bytes.len();
        let mut line_ends = false;
        let written = value.serialize(super::cell::CellWriter {
            tape,
            column: Some(column),
            line_ends: &mut line_ends,
        })?;
        match written {
            Written::Null => {}
            Written::Bytes if line_ends || !is_header_value(&tape.bytes[start..]) => {
                let text_start = tape.bytes.len();
                tape.bytes.extend_from_slice(column.name.as_bytes());
                self.notes.push(tape, 0, text_start, Written::Bytes)?;
                let value: Vec<u8> = tape.bytes[start..text_start].to_vec();
                let value_start = tape.bytes.len();
                tape.bytes.extend_from_slice(&value);
                self.notes.push(tape, 1, value_start, Written::Bytes)?;
                self.notes.line_ends |= line_ends;
                self.notes.end_row();
            }
            Written::Bytes | Written::Blank => {
                self.entries
                    .push((column.name.to_owned(), tape.bytes[start..].to_vec()));
                tape.bytes.truncate(start);
            }
        }
        Ok(())
    }

    fn fill<T: Serialize + ?Sized>(&mut self, at: usize, section: &Section, value: &T, tape: &mut Tape) -> Outcome {
        let expect = match section.rows {
            Rows::Many => Expect::Objects,
            Rows::One => Expect::Object,
            Rows::Values => Expect::Values,
            Rows::Value => Expect::Value,
        };
        value.serialize(RowWriter {
            table: &mut self.tables[at],
            tape,
            expect,
        })
    }
}

impl MemberWriter for LayoutWriter<'_> {
    fn member<T: Serialize + ?Sized>(&mut self, key: &str, value: &T, tape: &mut Tape) -> Outcome {
        let layout = self.layout;
        if let Some(at) = layout.sections.iter().position(|section| section.member == key) {
            return self.fill(at, &layout.sections[at], value, tape);
        }
        if let Some(column) = layout.meta.iter().find(|column| column.name == key) {
            return self.entry(column, value, tape);
        }
        // The answer itself may be the row.
        if let Some(at) = layout.sections.iter().position(|section| section.member.is_empty()) {
            let table = &mut self.tables[at];
            let column = table.column(key, 0)?;
            return rows::write_cell(table, tape, column, value);
        }
        let found = format!("a member `{key}` in an answer of `{}`", layout.tool);
        Err(Error::value(
            ErrorKind::Schema,
            found,
            "a section or a header entry",
            "add it to the layout",
        )
        .into())
    }
}

/// Hands the members of the value at the root to a [`MemberWriter`].
struct Root<'a, W> {
    writer: &'a mut W,
    tape: &'a mut Tape,
    key: String,
}

impl<W: MemberWriter> ser::SerializeStruct for Root<'_, W> {
    type Ok = ();
    type Error = Stop;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Outcome {
        self.writer.member(key, value, self.tape)
    }
    fn end(self) -> Outcome {
        Ok(())
    }
}

impl<W: MemberWriter> ser::SerializeMap for Root<'_, W> {
    type Ok = ();
    type Error = Stop;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Outcome {
        self.key = key::key_text(key)?.into_owned();
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Outcome {
        self.writer.member(&self.key, value, self.tape)
    }
    fn end(self) -> Outcome {
        Ok(())
    }
}

fn not_an_object<T>() -> Outcome<T> {
    Err(Error::value(
        ErrorKind::Schema,
        "something else",
        "an object as the answer",
        "correct the layout or the type",
    )
    .into())
}

macro_rules! refused {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, _: $type) -> Outcome { not_an_object() })*
    };
}

impl<W: MemberWriter> ser::Serializer for Root<'_, W> {
    type Ok = ();
    type Error = Stop;
    type SerializeSeq = Impossible<(), Stop>;
    type SerializeTuple = Impossible<(), Stop>;
    type SerializeTupleStruct = Impossible<(), Stop>;
    type SerializeTupleVariant = Impossible<(), Stop>;
    type SerializeMap = Self;
    type SerializeStruct = Self;
    type SerializeStructVariant = Impossible<(), Stop>;

    refused!(serialize_bool: bool, serialize_char: char, serialize_str: &str, serialize_f32: f32, serialize_f64: f64);
    refused!(serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_bytes: &[u8]);
    refused!(serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64);

    fn serialize_map(self, _: Option<usize>) -> Outcome<Self> {
        Ok(self)
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Outcome<Self> {
        Ok(self)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Outcome {
        value.serialize(self)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Outcome {
        value.serialize(self)
    }
    fn serialize_none(self) -> Outcome {
        not_an_object()
    }
    fn serialize_unit(self) -> Outcome {
        not_an_object()
    }
    fn serialize_unit_struct(self, _: &'static str) -> Outcome {
        not_an_object()
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Outcome {
        not_an_object()
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Outcome {
        not_an_object()
    }
    fn serialize_seq(self, _: Option<usize>) -> Outcome<Self::SerializeSeq> {
        not_an_object()
    }
    fn serialize_tuple(self, _: usize) -> Outcome<Self::SerializeTuple> {
        not_an_object()
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Outcome<Self::SerializeTupleStruct> {
        not_an_object()
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Outcome<Self::SerializeTupleVariant> {
        not_an_object()
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Outcome<Self::SerializeStructVariant> {
        not_an_object()
    }
}
