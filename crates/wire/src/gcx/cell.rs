//! One cell: scalars in the spelling of their column, everything nested as compact JSON.

use serde::ser::{self, Serialize};

use super::error::{Error, ErrorKind};
use super::json_cell::{self, JsonCell, List, Object, Written};
use super::stop::Stop;
use super::table::{Eol, Tape};
use super::{key, text};
use crate::layout::{Column, Kind};

/// Writes one value to the end of the tape. Without a column the reader will infer the type, so text that looks like
/// something else is marked.
pub(crate) struct CellWriter<'a> {
    pub(crate) tape: &'a mut Tape,
    pub(crate) column: Option<&'static Column>,
    pub(crate) line_ends: &'a mut bool,
}

impl<'a> CellWriter<'a> {
    /// Refuses a scalar that its column cannot give back.
    fn expect(&self, found: &str, allowed: &[Kind]) -> Result<(), Stop> {
        match self.column {
            Some(column) if column.kind != Kind::Json && !allowed.contains(&column.kind) => Err(Error::value(
                ErrorKind::Schema,
                format!("{found} in the column `{}`", column.name),
                column.kind.name(),
                "correct the layout or the type",
            )
            .into()),
            _ => Ok(()),
        }
    }

    fn integer(self, number: impl itoa::Integer) -> Result<Written, Stop> {
        self.expect("an integer", &[Kind::Integer, Kind::Float])?;
        self.tape
            .bytes
            .extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
        Ok(Written::Bytes)
    }

    fn text(self, value: &str) -> Result<Written, Stop> {
        let typed = self.column.is_some();
        self.expect("text", &[Kind::Text, Kind::Names])?;
        if value.is_empty() {
            return Ok(Written::Blank);
        }
        let tape = self.tape;
        // Most text needs no escape, which one look tells.
        if text::first_special(value.as_bytes()).is_none() {
            if !typed && text::looks_typed(value) {
                text::mark_into(&mut tape.bytes, value);
            } else {
                tape.bytes.extend_from_slice(value.as_bytes());
            }
            return Ok(Written::Bytes);
        }
        if memchr::memchr2(b'\r', b'\n', value.as_bytes()).is_some() {
            *self.line_ends = true;
            let lf = value.matches('\n').count();
            let cr = value.matches('\r').count();
            let crlf = value.matches("\r\n").count();
            tape.carriage_return |= cr > 0;
            tape.mixed |= lf != crlf || cr != crlf;
            if cr > 0 && tape.eol == Eol::Literal {
                tape.bytes.push(b'\\');
                json_cell::write_string(&mut tape.bytes, value);
                return Ok(Written::Bytes);
            }
        }
        if !typed && text::looks_typed(value) {
            text::mark_into(&mut tape.bytes, value);
        } else {
            text::escape_into(&mut tape.bytes, value);
        }
        Ok(Written::Bytes)
    }

    fn nested(self, found: &str) -> Result<JsonCell<'a>, Stop> {
        self.expect(found, &[Kind::Names])?;
        Ok(JsonCell::new(&mut self.tape.bytes))
    }

    fn sequence(self) -> Result<CellList<'a>, Stop> {
        match self.column {
            Some(Column {
                kind: Kind::List,
                optional,
                ..
            }) => Ok(CellList::Joined {
                tape: self.tape,
                texts: Vec::new(),
                optional: *optional,
            }),
            _ => Ok(CellList::Json(ser::Serializer::serialize_seq(
                self.nested("a list")?,
                None,
            )?)),
        }
    }
}

macro_rules! integers {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, number: $type) -> Result<Written, Stop> { self.integer(number) })*
    };
}

impl<'a> ser::Serializer for CellWriter<'a> {
    type Ok = Written;
    type Error = Stop;
    type SerializeSeq = CellList<'a>;
    type SerializeTuple = CellList<'a>;
    type SerializeTupleStruct = CellList<'a>;
    type SerializeTupleVariant = List<'a>;
    type SerializeMap = Object<'a>;
    type SerializeStruct = Object<'a>;
    type SerializeStructVariant = Object<'a>;

    integers!(serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128);
    integers!(serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128);

    fn serialize_bool(self, value: bool) -> Result<Written, Stop> {
        self.expect("a boolean", &[Kind::Flag])?;
        self.tape
            .bytes
            .extend_from_slice(if value { b"true" } else { b"false" });
        Ok(Written::Bytes)
    }
    fn serialize_f32(self, number: f32) -> Result<Written, Stop> {
        match self.column {
            Some(_) => self.serialize_f64(f64::from(number)),
            // JSON spells an f32 with its own few digits, so the wider value would not compare equal.
            None if number.is_finite() => json_cell::write_number(&mut self.tape.bytes, number),
            None => Ok(Written::Null),
        }
    }
    fn serialize_f64(self, number: f64) -> Result<Written, Stop> {
        self.expect("a float", &[Kind::Float])?;
        if !number.is_finite() {
            return Ok(Written::Null);
        }
        match self.column {
            Some(Column { kind: Kind::Float, .. }) => {
                text::go_float_into(&mut self.tape.bytes, number);
                Ok(Written::Bytes)
            }
            _ => json_cell::write_number(&mut self.tape.bytes, number),
        }
    }
    fn serialize_char(self, value: char) -> Result<Written, Stop> {
        self.text(value.encode_utf8(&mut [0; 4]))
    }
    fn serialize_str(self, value: &str) -> Result<Written, Stop> {
        match self.column {
            Some(Column { kind: Kind::Json, .. }) => json_cell::write(&mut self.tape.bytes, value),
            _ => self.text(value),
        }
    }
    fn serialize_bytes(self, bytes: &[u8]) -> Result<Written, Stop> {
        json_cell::write(&mut self.tape.bytes, bytes)
    }
    fn serialize_none(self) -> Result<Written, Stop> {
        Ok(Written::Null)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Written, Stop> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<Written, Stop> {
        Ok(Written::Null)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<Written, Stop> {
        Ok(Written::Null)
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Written, Stop> {
        self.serialize_str(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<Written, Stop> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Written, Stop> {
        self.nested("an object")?
            .serialize_newtype_variant(name, index, variant, value)
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<CellList<'a>, Stop> {
        self.sequence()
    }
    fn serialize_tuple(self, _: usize) -> Result<CellList<'a>, Stop> {
        self.sequence()
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<CellList<'a>, Stop> {
        self.sequence()
    }
    fn serialize_tuple_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<List<'a>, Stop> {
        self.nested("an object")?
            .serialize_tuple_variant(name, index, variant, len)
    }
    fn serialize_map(self, len: Option<usize>) -> Result<Object<'a>, Stop> {
        self.nested("an object")?.serialize_map(len)
    }
    fn serialize_struct(self, name: &'static str, len: usize) -> Result<Object<'a>, Stop> {
        self.nested("an object")?.serialize_struct(name, len)
    }
    fn serialize_struct_variant(
        self,
        name: &'static str,
        index: u32,
        variant: &'static str,
        len: usize,
    ) -> Result<Object<'a>, Stop> {
        self.nested("an object")?
            .serialize_struct_variant(name, index, variant, len)
    }
}

/// A list in a cell: compact JSON, or the layout's comma-separated texts.
pub(crate) enum CellList<'a> {
    Json(List<'a>),
    Joined {
        tape: &'a mut Tape,
        texts: Vec<String>,
        optional: bool,
    },
}

impl CellList<'_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
        match self {
            Self::Json(list) => ser::SerializeSeq::serialize_element(list, value),
            Self::Joined { texts, .. } => {
                texts.push(key::key_text(value)?.into_owned());
                Ok(())
            }
        }
    }

    fn close(self) -> Result<Written, Stop> {
        match self {
            Self::Json(list) => ser::SerializeSeq::end(list),
            Self::Joined {
                texts, optional: false, ..
            } if texts.is_empty() => Ok(Written::Blank),
            Self::Joined { tape, texts, .. } => {
                // `a,b` as one text, an empty text, or one that reads as JSON could not be told from a list.
                let misleading = |text: &String| text.is_empty() || text.contains([',', '\r']) || text.starts_with('[');
                if texts.is_empty() || texts.iter().any(misleading) {
                    return json_cell::write(&mut tape.bytes, &texts);
                }
                for (at, text) in texts.iter().enumerate() {
                    if at > 0 {
                        tape.bytes.push(b',');
                    }
                    text::escape_into(&mut tape.bytes, text);
                }
                Ok(Written::Bytes)
            }
        }
    }
}

macro_rules! lists {
    ($($name:ident :: $method:ident),*) => {
        $(impl ser::$name for CellList<'_> {
            type Ok = Written;
            type Error = Stop;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
                self.element(value)
            }
            fn end(self) -> Result<Written, Stop> {
                self.close()
            }
        })*
    };
}
lists!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field
);
