//! serde into a tape: any `Serialize` value becomes a [`Builder`]'s nodes, with no `serde_json::Value` in between.

use serde::Serialize;
use serde::ser::{self, Impossible};

use super::error::{Category, Error, Result};
use super::json;
use super::tape::{Builder, Node, Open};

/// How `serde_json` marks JSON text that is to be copied as it is.
const RAW_VALUE: &str = "$serde_json::private::RawValue";

/// A map, struct or struct variant being written.
pub struct ObjectSerializer<'a> {
    builder: &'a mut Builder,
    open: Open,
    /// The one-member object that names an enum variant, when there is one.
    outer: Option<Open>,
    raw: bool,
}

/// A sequence, tuple or tuple variant being written.
pub struct ArraySerializer<'a> {
    builder: &'a mut Builder,
    open: Open,
    outer: Option<Open>,
}

impl Builder {
    fn integer<T: TryInto<i64> + std::fmt::Display + Copy>(&mut self, value: T) -> Result<()> {
        let Ok(value) = value.try_into() else {
            return Err(Error::new(
                Category::OutOfRange,
                format!("the integer {value}"),
                "an integer between -9223372036854775808 and 9223372036854775807",
            ));
        };
        self.scalar(Node::Integer(value));
        Ok(())
    }

    fn float(&mut self, value: f64) -> Result<()> {
        if !value.is_finite() {
            return Err(Error::new(
                Category::InvalidValue,
                format!("the number {value}"),
                "a finite number",
            ));
        }
        self.scalar(Node::Float(value));
        Ok(())
    }

    fn variant(&mut self, variant: &'static str) -> Result<Open> {
        let mut outer = self.open()?;
        self.static_key(&mut outer, variant)?;
        Ok(outer)
    }
}

impl<'a> ser::Serializer for &'a mut Builder {
    type Ok = ();
    type Error = Error;
    type SerializeSeq = ArraySerializer<'a>;
    type SerializeTuple = ArraySerializer<'a>;
    type SerializeTupleStruct = ArraySerializer<'a>;
    type SerializeTupleVariant = ArraySerializer<'a>;
    type SerializeMap = ObjectSerializer<'a>;
    type SerializeStruct = ObjectSerializer<'a>;
    type SerializeStructVariant = ObjectSerializer<'a>;

    fn serialize_bool(self, value: bool) -> Result<()> {
        self.scalar(Node::Bool(value));
        Ok(())
    }

    fn serialize_i8(self, value: i8) -> Result<()> {
        self.serialize_i64(value.into())
    }

    fn serialize_i16(self, value: i16) -> Result<()> {
        self.serialize_i64(value.into())
    }

    fn serialize_i32(self, value: i32) -> Result<()> {
        self.serialize_i64(value.into())
    }

    fn serialize_i64(self, value: i64) -> Result<()> {
        self.scalar(Node::Integer(value));
        Ok(())
    }

    fn serialize_i128(self, value: i128) -> Result<()> {
        self.integer(value)
    }

    fn serialize_u8(self, value: u8) -> Result<()> {
        self.serialize_i64(value.into())
    }

    fn serialize_u16(self, value: u16) -> Result<()> {
        self.serialize_i64(value.into())
    }

    fn serialize_u32(self, value: u32) -> Result<()> {
        self.serialize_i64(value.into())
    }

    fn serialize_u64(self, value: u64) -> Result<()> {
        self.integer(value)
    }

    fn serialize_u128(self, value: u128) -> Result<()> {
        self.integer(value)
    }

    fn serialize_f32(self, value: f32) -> Result<()> {
        // The double nearest to the shortest spelling, so that 0.1 stays 0.1.
        let shortest = if value.is_finite() {
            ryu::Buffer::new().format_finite(value).parse().ok()
        } else {
            None
        };
        self.float(shortest.unwrap_or(f64::from(value)))
    }

    fn serialize_f64(self, value: f64) -> Result<()> {
        self.float(value)
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.text(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<()> {
        self.text(value)
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<()> {
        let open = self.open()?;
        for byte in value {
            self.scalar(Node::Integer((*byte).into()));
        }
        self.close_array(&open)
    }

    fn serialize_none(self) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<()> {
        self.scalar(Node::Null);
        Ok(())
    }

    fn serialize_unit_struct(self, _name: &'static str) -> Result<()> {
        self.serialize_unit()
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<()> {
        self.text(variant)
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _name: &'static str, value: &T) -> Result<()> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        value: &T,
    ) -> Result<()> {
        let outer = self.variant(variant)?;
        value.serialize(&mut *self)?;
        self.close_object(&outer)
    }

    fn serialize_seq(self, _len: Option<usize>) -> Result<ArraySerializer<'a>> {
        let open = self.open()?;
        Ok(ArraySerializer {
            builder: self,
            open,
            outer: None,
        })
    }

    fn serialize_tuple(self, len: usize) -> Result<ArraySerializer<'a>> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_struct(self, _name: &'static str, len: usize) -> Result<ArraySerializer<'a>> {
        self.serialize_seq(Some(len))
    }

    fn serialize_tuple_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<ArraySerializer<'a>> {
        let outer = self.variant(variant)?;
        let open = self.open()?;
        Ok(ArraySerializer {
            builder: self,
            open,
            outer: Some(outer),
        })
    }

    fn serialize_map(self, _len: Option<usize>) -> Result<ObjectSerializer<'a>> {
        let open = self.open()?;
        Ok(ObjectSerializer {
            builder: self,
            open,
            outer: None,
            raw: false,
        })
    }

    fn serialize_struct(self, name: &'static str, _len: usize) -> Result<ObjectSerializer<'a>> {
        let open = self.open()?;
        Ok(ObjectSerializer {
            builder: self,
            open,
            outer: None,
            raw: name == RAW_VALUE,
        })
    }

    fn serialize_struct_variant(
        self,
        _name: &'static str,
        _index: u32,
        variant: &'static str,
        _len: usize,
    ) -> Result<ObjectSerializer<'a>> {
        let outer = self.variant(variant)?;
        let open = self.open()?;
        Ok(ObjectSerializer {
            builder: self,
            open,
            outer: Some(outer),
            raw: false,
        })
    }
}

impl ArraySerializer<'_> {
    fn element<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
        value.serialize(&mut *self.builder)
    }

    fn close(self) -> Result<()> {
        self.builder.close_array(&self.open)?;
        match self.outer {
            Some(outer) => self.builder.close_object(&outer),
            None => Ok(()),
        }
    }
}

impl ser::SerializeSeq for ArraySerializer<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
        self.element(value)
    }

    fn end(self) -> Result<()> {
        self.close()
    }
}

impl ser::SerializeTuple for ArraySerializer<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_element<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
        self.element(value)
    }

    fn end(self) -> Result<()> {
        self.close()
    }
}

impl ser::SerializeTupleStruct for ArraySerializer<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
        self.element(value)
    }

    fn end(self) -> Result<()> {
        self.close()
    }
}

impl ser::SerializeTupleVariant for ArraySerializer<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
        self.element(value)
    }

    fn end(self) -> Result<()> {
        self.close()
    }
}

impl ObjectSerializer<'_> {
    #[inline]
    fn field<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<()> {
        if self.raw {
            return value.serialize(RawJson(self.builder));
        }
        self.builder.static_key(&mut self.open, key)?;
        value.serialize(&mut *self.builder)
    }

    fn close(self) -> Result<()> {
        if self.raw {
            self.builder.abandon(&self.open);
            return Ok(());
        }
        self.builder.close_object(&self.open)?;
        match self.outer {
            Some(outer) => self.builder.close_object(&outer),
            None => Ok(()),
        }
    }
}

impl ser::SerializeMap for ObjectSerializer<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<()> {
        key.serialize(KeySerializer {
            builder: self.builder,
            open: &mut self.open,
        })
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<()> {
        value.serialize(&mut *self.builder)
    }

    fn end(self) -> Result<()> {
        self.close()
    }
}

impl ser::SerializeStruct for ObjectSerializer<'_> {
    type Ok = ();
    type Error = Error;

    #[inline]
    fn serialize_field<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<()> {
        self.field(key, value)
    }

    fn end(self) -> Result<()> {
        self.close()
    }
}

impl ser::SerializeStructVariant for ObjectSerializer<'_> {
    type Ok = ();
    type Error = Error;

    fn serialize_field<T: ?Sized + Serialize>(&mut self, key: &'static str, value: &T) -> Result<()> {
        self.field(key, value)
    }

    fn end(self) -> Result<()> {
        self.close()
    }
}

/// Takes the one string a raw JSON value serializes as, and reads it as JSON.
struct RawJson<'a>(&'a mut Builder);

/// Turns a map key into text, as JSON would.
struct KeySerializer<'a> {
    builder: &'a mut Builder,
    open: &'a mut Open,
}

impl KeySerializer<'_> {
    fn displayed(self, key: impl std::fmt::Display) -> Result<()> {
        self.builder.key(self.open, &key.to_string())
    }
}

fn not_a_key<T>() -> Result<T> {
    Err(Error::new(
        Category::InvalidValue,
        "a map key that is not a string, number or bool",
        "a string key",
    ))
}

fn not_raw<T>() -> Result<T> {
    Err(Error::new(
        Category::InvalidValue,
        "raw JSON that is not text",
        "JSON text",
    ))
}

/// The serde methods that a string-only serializer refuses.
macro_rules! refuse {
    ($refusal:ident: $($method:ident($($type:ty),*);)*) => {
        $(fn $method(self, $(_: $type),*) -> Result<()> { $refusal() })*
    };
}

/// The containers that a string-only serializer refuses.
macro_rules! refuse_containers {
    ($refusal:ident) => {
        type Ok = ();
        type Error = Error;
        type SerializeSeq = Impossible<(), Error>;
        type SerializeTuple = Impossible<(), Error>;
        type SerializeTupleStruct = Impossible<(), Error>;
        type SerializeTupleVariant = Impossible<(), Error>;
        type SerializeMap = Impossible<(), Error>;
        type SerializeStruct = Impossible<(), Error>;
        type SerializeStructVariant = Impossible<(), Error>;

        fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _: &'static str, value: &T) -> Result<()> {
            value.serialize(self)
        }
        fn serialize_newtype_variant<T: ?Sized + Serialize>(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: &T,
        ) -> Result<()> {
            $refusal()
        }
        fn serialize_seq(self, _: Option<usize>) -> Result<Self::SerializeSeq> {
            $refusal()
        }
        fn serialize_tuple(self, _: usize) -> Result<Self::SerializeTuple> {
            $refusal()
        }
        fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeTupleStruct> {
            $refusal()
        }
        fn serialize_tuple_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeTupleVariant> {
            $refusal()
        }
        fn serialize_map(self, _: Option<usize>) -> Result<Self::SerializeMap> {
            $refusal()
        }
        fn serialize_struct(self, _: &'static str, _: usize) -> Result<Self::SerializeStruct> {
            $refusal()
        }
        fn serialize_struct_variant(
            self,
            _: &'static str,
            _: u32,
            _: &'static str,
            _: usize,
        ) -> Result<Self::SerializeStructVariant> {
            $refusal()
        }
        fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<()> {
            value.serialize(self)
        }
    };
}

impl ser::Serializer for KeySerializer<'_> {
    refuse_containers!(not_a_key);
    refuse! { not_a_key:
        serialize_bytes(&[u8]); serialize_none(); serialize_unit(); serialize_unit_struct(&'static str);
    }

    fn serialize_str(self, value: &str) -> Result<()> {
        self.builder.key(self.open, value)
    }

    fn serialize_unit_variant(self, _name: &'static str, _index: u32, variant: &'static str) -> Result<()> {
        self.builder.key(self.open, variant)
    }

    fn serialize_bool(self, value: bool) -> Result<()> {
        self.displayed(value)
    }

    fn serialize_i8(self, value: i8) -> Result<()> {
        self.displayed(value)
    }

    fn serialize_i16(self, value: i16) -> Result<()> {
        self.displayed(value)
    }

    fn serialize_i32(self, value: i32) -> Result<()> {
        self.displayed(value)
    }

    fn serialize_i64(self, value: i64) -> Result<()> {
        self.displayed(value)
    }

    fn serialize_i128(self, value: i128) -> Result<()> {
        self.displayed(value)
    }

    fn serialize_u8(self, value: u8) -> Result<()> {
        self.displayed(value)
    }

    fn serialize_u16(self, value: u16) -> Result<()> {
        self.displayed(value)
    }

    fn serialize_u32(self, value: u32) -> Result<()> {
        self.displayed(value)
    }

    fn serialize_u64(self, value: u64) -> Result<()> {
        self.displayed(value)
    }

    fn serialize_u128(self, value: u128) -> Result<()> {
        self.displayed(value)
    }

    fn serialize_f32(self, value: f32) -> Result<()> {
        if value.is_finite() {
            self.displayed(value)
        } else {
            not_a_key()
        }
    }

    fn serialize_f64(self, value: f64) -> Result<()> {
        if value.is_finite() {
            self.displayed(value)
        } else {
            not_a_key()
        }
    }

    fn serialize_char(self, value: char) -> Result<()> {
        self.displayed(value)
    }
}

impl ser::Serializer for RawJson<'_> {
    refuse_containers!(not_raw);
    refuse! { not_raw:
        serialize_bytes(&[u8]); serialize_none(); serialize_unit(); serialize_unit_struct(&'static str);
        serialize_unit_variant(&'static str, u32, &'static str); serialize_bool(bool); serialize_i8(i8); serialize_i16(i16);
        serialize_i32(i32); serialize_i64(i64); serialize_u8(u8); serialize_u16(u16); serialize_u32(u32); serialize_u64(u64);
        serialize_f32(f32); serialize_f64(f64); serialize_char(char);
    }

    fn serialize_str(self, value: &str) -> Result<()> {
        json::read(value, self.0)
    }
}
