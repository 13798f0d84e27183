//! Rows: turns a list, an object or a scalar into the rows of one table.

use serde::ser::{self, Impossible, Serialize};

use super::cell::CellWriter;
use super::error::{Error, ErrorKind};
use super::json_cell::Written;
use super::key;
use super::stop::Stop;
use super::table::{Table, Tape};

/// What the value handed to a [`RowWriter`] stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Expect {
    /// A list of objects.
    Objects,
    /// One object, or null for no row.
    Object,
    /// A list of values, each one cell of the first column.
    Values,
    /// One value, one cell of the first column.
    Value,
}

/// Adds a value to `table` as rows.
pub(crate) struct RowWriter<'a> {
    pub(crate) table: &'a mut Table,
    pub(crate) tape: &'a mut Tape,
    pub(crate) expect: Expect,
}

/// Writes `value` as the cell of `column` in the row under way.
pub(crate) fn write_cell<T: Serialize + ?Sized>(
    table: &mut Table,
    tape: &mut Tape,
    column: usize,
    value: &T,
) -> Result<(), Stop> {
    let start = tape.bytes.len();
    let kind = table.kinds.map(|kinds| &kinds[column]);
    let written = value.serialize(CellWriter {
        tape,
        column: kind,
        line_ends: &mut table.line_ends,
    })?;
    if let (Some(column), Written::Null) = (kind, written)
        && !column.optional
    {
        let found = format!("nothing (null, NaN or infinity) in the column `{}`", column.name);
        return Err(Error::value(ErrorKind::Schema, found, column.kind.name(), "make the column optional").into());
    }
    table.push(tape, column, start, written)
}

impl<'a> RowWriter<'a> {
    fn refuse<T>(&self, found: &str) -> Result<T, Stop> {
        if self.table.kinds.is_none() {
            return Err(Stop::NotColumns);
        }
        let expected = match self.expect {
            Expect::Objects => "a list of objects",
            Expect::Object => "an object",
            Expect::Values => "a list",
            Expect::Value => "a scalar",
        };
        Err(Error::value(ErrorKind::Schema, found, expected, "correct the layout or the type").into())
    }

    fn scalar<T: Serialize>(self, value: T, found: &str) -> Result<(), Stop> {
        if self.expect != Expect::Value {
            return self.refuse(found);
        }
        write_cell(self.table, self.tape, 0, &value)?;
        self.table.end_row();
        Ok(())
    }

    fn list(self) -> Result<RowList<'a>, Stop> {
        let element = match self.expect {
            Expect::Objects => Expect::Object,
            Expect::Values => Expect::Value,
            Expect::Object | Expect::Value => return self.refuse("a list"),
        };
        Ok(RowList {
            table: self.table,
            tape: self.tape,
            element,
        })
    }

    fn object(self) -> Result<Row<'a>, Stop> {
        if self.expect != Expect::Object {
            return self.refuse("an object");
        }
        Ok(Row {
            table: self.table,
            tape: self.tape,
            column: usize::MAX,
        })
    }
}

macro_rules! scalars {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, value: $type) -> Result<(), Stop> { self.scalar(value, "a scalar") })*
    };
}

impl<'a> ser::Serializer for RowWriter<'a> {
    type Ok = ();
    type Error = Stop;
    type SerializeSeq = RowList<'a>;
    type SerializeTuple = RowList<'a>;
    type SerializeTupleStruct = RowList<'a>;
    type SerializeTupleVariant = Impossible<(), Stop>;
    type SerializeMap = Row<'a>;
    type SerializeStruct = Row<'a>;
    type SerializeStructVariant = Impossible<(), Stop>;

    scalars!(serialize_bool: bool, serialize_char: char, serialize_str: &str, serialize_f32: f32, serialize_f64: f64);
    scalars!(serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128);
    scalars!(serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128);

    fn serialize_bytes(self, bytes: &[u8]) -> Result<(), Stop> {
        self.scalar(bytes, "bytes")
    }
    fn serialize_none(self) -> Result<(), Stop> {
        self.serialize_unit()
    }
    fn serialize_unit(self) -> Result<(), Stop> {
        match (self.expect, self.table.kinds) {
            (Expect::Value, _) => self.scalar((), "null"),
            // An absent member is a section without rows.
            (_, Some(_)) => Ok(()),
            (_, None) => self.refuse("null"),
        }
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<(), Stop> {
        value.serialize(self)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Stop> {
        self.serialize_unit()
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<(), Stop> {
        self.serialize_str(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<(), Stop> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<(), Stop> {
        self.refuse("an enum with content")
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<RowList<'a>, Stop> {
        self.list()
    }
    fn serialize_tuple(self, _: usize) -> Result<RowList<'a>, Stop> {
        self.list()
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<RowList<'a>, Stop> {
        self.list()
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Stop> {
        self.refuse("an enum with content")
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Row<'a>, Stop> {
        self.object()
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Row<'a>, Stop> {
        self.object()
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Stop> {
        self.refuse("an enum with content")
    }
}

pub(crate) struct RowList<'a> {
    table: &'a mut Table,
    tape: &'a mut Tape,
    element: Expect,
}

impl RowList<'_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
        if self.element == Expect::Value {
            // Any value fits one cell, so nothing needs to be looked at first.
            write_cell(self.table, self.tape, 0, value)?;
            self.table.end_row();
            return Ok(());
        }
        value.serialize(RowWriter {
            table: self.table,
            tape: self.tape,
            expect: self.element,
        })
    }
}

macro_rules! lists {
    ($($name:ident :: $method:ident),*) => {
        $(impl ser::$name for RowList<'_> {
            type Ok = ();
            type Error = Stop;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
                self.element(value)
            }
            fn end(self) -> Result<(), Stop> {
                Ok(())
            }
        })*
    };
}
lists!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field
);

/// One row under way. `column` is the one last written, so that the next is looked for right after it.
pub(crate) struct Row<'a> {
    table: &'a mut Table,
    tape: &'a mut Tape,
    column: usize,
}

impl Row<'_> {
    #[inline]
    fn member<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), Stop> {
        self.column = self.table.column(key, self.column.wrapping_add(1))?;
        write_cell(self.table, self.tape, self.column, value)
    }
}

impl ser::SerializeStruct for Row<'_> {
    type Ok = ();
    type Error = Stop;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Stop> {
        self.member(key, value)
    }
    fn end(self) -> Result<(), Stop> {
        self.table.end_row();
        Ok(())
    }
}

impl ser::SerializeMap for Row<'_> {
    type Ok = ();
    type Error = Stop;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Stop> {
        let key = key::key_text(key)?;
        self.column = self.table.column(&key, self.column.wrapping_add(1))?;
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
        write_cell(self.table, self.tape, self.column, value)
    }
    fn end(self) -> Result<(), Stop> {
        self.table.end_row();
        Ok(())
    }
}

/// The value alone in a cell, for header entries.
pub(crate) fn scalar_cell<T: Serialize + ?Sized>(
    tape: &mut Tape,
    column: Option<&'static crate::layout::Column>,
    value: &T,
) -> Result<Written, Stop> {
    value.serialize(CellWriter {
        tape,
        column,
        line_ends: &mut false,
    })
}
