//! Nested values inside a cell: compact JSON as Go's `encoding/json` spells it (sorted keys, `<`, `>`, `&` as `\u003c`…),
//! with every backslash doubled for the cell in the same pass.
//!
//! The one trick: members are written in the order they come, and only an object whose keys came unsorted is rearranged,
//! by moving its finished bytes.

use serde::ser::{self, Serialize};
use smallvec::SmallVec;

use super::error::{Error, ErrorKind};
use super::stop::Stop;

/// As deep as `serde_json` reads back.
const MAX_DEPTH: u32 = 127;

/// Appends `value` to `out` as nested JSON in cell spelling.
pub(crate) fn write<T: Serialize + ?Sized>(out: &mut Vec<u8>, value: &T) -> Result<Written, Stop> {
    value.serialize(JsonCell::new(out))
}

/// Appends a JSON string in cell spelling.
pub(crate) fn write_string(out: &mut Vec<u8>, text: &str) {
    out.push(b'"');
    let bytes = text.as_bytes();
    let mut written = 0;
    for (at, &byte) in bytes.iter().enumerate() {
        let escape: &[u8] = match ESCAPE[usize::from(byte)] {
            0 => continue,
            // U+2028 and U+2029, which Go escapes for JavaScript's sake: e2 80 a8 and e2 80 a9.
            b'E' => match &bytes[at..] {
                [0xe2, 0x80, 0xa8, ..] => b"\\\\u2028",
                [0xe2, 0x80, 0xa9, ..] => b"\\\\u2029",
                _ => continue,
            },
            b'u' => {
                out.extend_from_slice(&bytes[written..at]);
                out.extend_from_slice(b"\\\\u00");
                out.push(HEX[usize::from(byte >> 4)]);
                out.push(HEX[usize::from(byte & 15)]);
                written = at + 1;
                continue;
            }
            b'\\' => b"\\\\\\\\",
            b'"' => b"\\\\\"",
            b'n' => b"\\\\n",
            b't' => b"\\\\t",
            b'r' => b"\\\\r",
            b'b' => b"\\\\b",
            _ => b"\\\\f",
        };
        out.extend_from_slice(&bytes[written..at]);
        out.extend_from_slice(escape);
        written = at + if byte == 0xe2 { 3 } else { 1 };
    }
    out.extend_from_slice(&bytes[written..]);
    out.push(b'"');
}

const HEX: &[u8; 16] = b"0123456789abcdef";

/// The escape of each byte: 0 for none, `u` for `\u00xx`, `E` for a byte that may begin U+2028.
const ESCAPE: [u8; 256] = {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 0x20 {
        table[byte] = b'u';
        byte += 1;
    }
    table[b'\n' as usize] = b'n';
    table[b'\t' as usize] = b't';
    table[b'\r' as usize] = b'r';
    table[0x08] = b'b';
    table[0x0c] = b'f';
    table[b'"' as usize] = b'"';
    table[b'\\' as usize] = b'\\';
    table[b'<' as usize] = b'u';
    table[b'>' as usize] = b'u';
    table[b'&' as usize] = b'u';
    table[0xe2] = b'E';
    table
};

/// What a serializer put into a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Written {
    /// Some bytes.
    Bytes,
    /// Nothing: the value is null.
    Null,
    /// Nothing: the value is the empty string.
    Blank,
}

/// Writes a value as nested JSON.
pub(crate) struct JsonCell<'a> {
    out: &'a mut Vec<u8>,
    depth: u32,
}

impl<'a> JsonCell<'a> {
    pub(crate) fn new(out: &'a mut Vec<u8>) -> Self {
        Self { out, depth: MAX_DEPTH }
    }

    fn deeper(&self) -> Result<u32, Stop> {
        self.depth.checked_sub(1).ok_or_else(|| {
            let found = format!("a value nested more than {MAX_DEPTH} deep");
            Error::value(ErrorKind::TooDeep, found, "at most that", "flatten the value").into()
        })
    }

    fn list(self) -> Result<List<'a>, Stop> {
        let depth = self.deeper()?;
        self.out.push(b'[');
        Ok(List {
            out: self.out,
            depth,
            empty: true,
            close: b"]",
        })
    }

    fn object(self) -> Result<Object<'a>, Stop> {
        let depth = self.deeper()?;
        self.out.push(b'{');
        let start = self.out.len();
        Ok(Object {
            out: self.out,
            depth,
            start,
            members: SmallVec::new(),
            sorted: true,
            plain: true,
            close: b"}",
        })
    }

    /// `{"variant":…`: the one-member object that JSON makes of an enum variant with content.
    fn variant(self, variant: &str) -> Result<Self, Stop> {
        let depth = self.deeper()?;
        self.out.push(b'{');
        write_string(self.out, variant);
        self.out.push(b':');
        Ok(JsonCell { out: self.out, depth })
    }
}

/// Appends a number as JSON spells it; what JSON cannot hold becomes `null`, as `serde_json` has it.
pub(crate) fn write_number<T: Serialize>(out: &mut Vec<u8>, number: T) -> Result<Written, Stop> {
    serde_json::to_writer(out, &number)
        .map_err(|error| Error::value(ErrorKind::Value, error.to_string(), "a number", ""))?;
    Ok(Written::Bytes)
}

macro_rules! integers {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, number: $type) -> Result<Written, Stop> {
            self.out.extend_from_slice(itoa::Buffer::new().format(number).as_bytes());
            Ok(Written::Bytes)
        })*
    };
}

impl<'a> ser::Serializer for JsonCell<'a> {
    type Ok = Written;
    type Error = Stop;
    type SerializeSeq = List<'a>;
    type SerializeTuple = List<'a>;
    type SerializeTupleStruct = List<'a>;
    type SerializeTupleVariant = List<'a>;
    type SerializeMap = Object<'a>;
    type SerializeStruct = Object<'a>;
    type SerializeStructVariant = Object<'a>;

    integers!(serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64);
    integers!(serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64);
    integers!(serialize_i128: i128, serialize_u128: u128);

    fn serialize_bool(self, value: bool) -> Result<Written, Stop> {
        self.out.extend_from_slice(if value { b"true" } else { b"false" });
        Ok(Written::Bytes)
    }
    fn serialize_f32(self, number: f32) -> Result<Written, Stop> {
        write_number(self.out, number)
    }
    fn serialize_f64(self, number: f64) -> Result<Written, Stop> {
        write_number(self.out, number)
    }
    fn serialize_char(self, value: char) -> Result<Written, Stop> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }
    fn serialize_str(self, text: &str) -> Result<Written, Stop> {
        write_string(self.out, text);
        Ok(Written::Bytes)
    }
    fn serialize_bytes(self, bytes: &[u8]) -> Result<Written, Stop> {
        bytes.serialize(self)
    }
    fn serialize_none(self) -> Result<Written, Stop> {
        self.serialize_unit()
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Written, Stop> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<Written, Stop> {
        self.out.extend_from_slice(b"null");
        Ok(Written::Bytes)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<Written, Stop> {
        self.serialize_unit()
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Written, Stop> {
        self.serialize_str(variant)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<Written, Stop> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<Written, Stop> {
        let inner = self.variant(variant)?;
        value.serialize(JsonCell {
            out: &mut *inner.out,
            depth: inner.depth,
        })?;
        inner.out.push(b'}');
        Ok(Written::Bytes)
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<List<'a>, Stop> {
        self.list()
    }
    fn serialize_tuple(self, _: usize) -> Result<List<'a>, Stop> {
        self.list()
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<List<'a>, Stop> {
        self.list()
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<List<'a>, Stop> {
        Ok(List {
            close: b"]}",
            ..self.variant(variant)?.list()?
        })
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Object<'a>, Stop> {
        self.object()
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Object<'a>, Stop> {
        self.object()
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        variant: &'static str,
        _: usize,
    ) -> Result<Object<'a>, Stop> {
        Ok(Object {
            close: b"}}",
            ..self.variant(variant)?.object()?
        })
    }
}

pub(crate) struct List<'a> {
    out: &'a mut Vec<u8>,
    depth: u32,
    empty: bool,
    close: &'static [u8],
}

impl List<'_> {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
        if !self.empty {
            self.out.push(b',');
        }
        self.empty = false;
        value
            .serialize(JsonCell {
                out: self.out,
                depth: self.depth,
            })
            .map(drop)
    }
    fn close(self) -> Result<Written, Stop> {
        self.out.extend_from_slice(self.close);
        Ok(Written::Bytes)
    }
}

pub(crate) struct Object<'a> {
    out: &'a mut Vec<u8>,
    depth: u32,
    start: usize,
    /// Where each member's key ends and where the member ends; a member starts where the one before ended, plus a comma.
    members: SmallVec<[Member; 12]>,
    /// The keys came in order so far.
    sorted: bool,
    /// No key needed an escape, so that keys can be compared as they are spelled.
    plain: bool,
    close: &'static [u8],
}

#[derive(Clone, Copy)]
struct Member {
    start: usize,
    key_end: usize,
    end: usize,
}

impl Object<'_> {
    fn key(&mut self, key: &str) {
        if !self.members.is_empty() {
            self.out.push(b',');
        }
        let start = self.out.len();
        write_string(self.out, key);
        let member = Member {
            start,
            key_end: self.out.len(),
            end: 0,
        };
        self.plain = self.plain && member.key_end - start == key.len() + 2;
        if let Some(last) = self.members.last() {
            self.sorted = self.sorted && self.order(*last, member).is_lt();
        }
        self.out.push(b':');
        self.members.push(member);
    }

    fn value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
        value.serialize(JsonCell {
            out: self.out,
            depth: self.depth,
        })?;
        if let Some(last) = self.members.last_mut() {
            last.end = self.out.len();
        }
        Ok(())
    }

    fn close(mut self) -> Result<Written, Stop> {
        if !self.sorted {
            let mut members = std::mem::take(&mut self.members);
            members.sort_by(|a, b| self.order(*a, *b));
            // The members are copied in order behind themselves, then moved into place.
            let end = self.out.len();
            for (at, member) in members.iter().enumerate() {
                if at > 0 {
                    self.out.push(b',');
                }
                self.out.extend_from_within(member.start..member.end);
            }
            self.out.copy_within(end.., self.start);
            self.out.truncate(end);
        }
        self.out.extend_from_slice(self.close);
        Ok(Written::Bytes)
    }

    /// Orders two members by key, bytewise on the text (its escaped spelling sorts differently).
    fn order(&self, a: Member, b: Member) -> std::cmp::Ordering {
        let (a, b) = (
            &self.out[a.start + 1..a.key_end - 1],
            &self.out[b.start + 1..b.key_end - 1],
        );
        if self.plain {
            return a.cmp(b);
        }
        let text = |spelled: &[u8]| {
            let once = String::from_utf8_lossy(spelled).replace("\\\\", "\\");
            serde_json::from_str::<String>(&format!("\"{once}\"")).unwrap_or(once)
        };
        text(a).cmp(&text(b))
    }
}

macro_rules! lists {
    ($($name:ident :: $method:ident),*) => {
        $(impl ser::$name for List<'_> {
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
    SerializeTupleStruct::serialize_field,
    SerializeTupleVariant::serialize_field
);

macro_rules! objects {
    ($($name:ident),*) => {
        $(impl ser::$name for Object<'_> {
            type Ok = Written;
            type Error = Stop;
            fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Stop> {
                self.key(key);
                self.value(value)
            }
            fn end(self) -> Result<Written, Stop> {
                self.close()
            }
        })*
    };
}
objects!(SerializeStruct, SerializeStructVariant);

impl ser::SerializeMap for Object<'_> {
    type Ok = Written;
    type Error = Stop;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Stop> {
        let key = super::key::key_text(key)?;
        self.key(&key);
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
        self.value(value)
    }
    fn end(self) -> Result<Written, Stop> {
        self.close()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    #[test]
    fn nested_json_is_spelled_as_go_spells_it() {
        let mut out = Vec::new();
        super::write(
            &mut out,
            &json!({"b": [1, 2.5, null], "a": "x<y>&\u{2028}\"\\\n\u{1}", "a\"": true}),
        )
        .unwrap();
        // json.Marshal gives {"a":"x\u003cy\u003e\u0026\u2028\"\\\n\u0001","a\"":true,"b":[1,2.5,null]}; the cell doubles `\`.
        let expected = r#"{"a":"x\\u003cy\\u003e\\u0026\\u2028\\"\\\\\\n\\u0001","a\\"":true,"b":[1,2.5,null]}"#;
        assert_eq!(String::from_utf8(out).unwrap(), expected);
    }
}
