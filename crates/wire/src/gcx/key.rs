//! Map keys as text: strings as they are, and what JSON also accepts as a key (numbers, booleans, unit variants) spelled out.

use std::borrow::Cow;

use serde::ser::{self, Impossible, Serialize};

use super::error::{Error, ErrorKind};
use super::stop::Stop;

/// The text of a map key.
pub(crate) fn key_text<T: Serialize + ?Sized>(key: &T) -> Result<Cow<'static, str>, Stop> {
    key.serialize(KeyText)
}

struct KeyText;

fn not_a_key(found: &str) -> Stop {
    Error::value(ErrorKind::Value, format!("{found} as a map key"), "a string", "").into()
}

macro_rules! spelled {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, key: $type) -> Result<Self::Ok, Stop> { Ok(Cow::Owned(key.to_string())) })*
    };
}

impl ser::Serializer for KeyText {
    type Ok = Cow<'static, str>;
    type Error = Stop;
    type SerializeSeq = Impossible<Self::Ok, Stop>;
    type SerializeTuple = Impossible<Self::Ok, Stop>;
    type SerializeTupleStruct = Impossible<Self::Ok, Stop>;
    type SerializeTupleVariant = Impossible<Self::Ok, Stop>;
    type SerializeMap = Impossible<Self::Ok, Stop>;
    type SerializeStruct = Impossible<Self::Ok, Stop>;
    type SerializeStructVariant = Impossible<Self::Ok, Stop>;

    spelled!(serialize_bool: bool, serialize_char: char, serialize_str: &str);
    spelled!(serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128);
    spelled!(serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128);

    fn serialize_unit_variant(self, _: &'static str, _: u32, variant: &'static str) -> Result<Self::Ok, Stop> {
        Ok(Cow::Borrowed(variant))
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, key: &T) -> Result<Self::Ok, Stop> {
        key.serialize(self)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, key: &T) -> Result<Self::Ok, Stop> {
        key.serialize(self)
    }
    fn serialize_f32(self, _: f32) -> Result<Self::Ok, Stop> {
        Err(not_a_key("a float"))
    }
    fn serialize_f64(self, _: f64) -> Result<Self::Ok, Stop> {
        Err(not_a_key("a float"))
    }
    fn serialize_bytes(self, _: &[u8]) -> Result<Self::Ok, Stop> {
        Err(not_a_key("bytes"))
    }
    fn serialize_none(self) -> Result<Self::Ok, Stop> {
        Err(not_a_key("nothing"))
    }
    fn serialize_unit(self) -> Result<Self::Ok, Stop> {
        Err(not_a_key("nothing"))
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<Self::Ok, Stop> {
        Err(not_a_key("nothing"))
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Self::Ok, Stop> {
        Err(not_a_key("an enum with content"))
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq, Stop> {
        Err(not_a_key("a list"))
    }
    fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple, Stop> {
        Err(not_a_key("a list"))
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct, Stop> {
        Err(not_a_key("a list"))
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Stop> {
        Err(not_a_key("an enum with content"))
    }
    fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap, Stop> {
        Err(not_a_key("a map"))
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct, Stop> {
        Err(not_a_key("a map"))
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Stop> {
        Err(not_a_key("an enum with content"))
    }
}
