//! A first look at a value, without descending: is it a list of objects, an object with lists, or something else?
//!
//! The one trick: the look at a row raises an error as soon as the row says that it is an object, so a list of ten
//! thousand structs costs ten thousand calls and no member is visited.

use serde::ser::{self, Impossible, Serialize};

use super::key;
use super::stop::Stop;

/// What a value is at the top.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Shape {
    Scalar,
    List(Elements),
    /// The members in order, with what each is.
    Object(Vec<(String, Member)>),
    /// Something JSON writes as an object but serde does not (an enum with content).
    Other,
}

/// What the elements of a list are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Elements {
    None,
    Objects,
    Mixed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Member {
    Scalar,
    List(Elements),
    Object,
}

/// Looks at `value`, and at its members or elements, but no deeper.
pub(crate) fn of<T: Serialize + ?Sized>(value: &T) -> Result<Shape, Stop> {
    value.serialize(Look { at: Level::Root })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Level {
    Root,
    /// A member or an element: an object ends the look at once.
    Inner,
}

struct Look {
    at: Level,
}

/// A member's shape, or an element's.
fn inner<T: Serialize + ?Sized>(value: &T) -> Result<Member, Stop> {
    match value.serialize(Look { at: Level::Inner }) {
        Ok(Shape::List(elements)) => Ok(Member::List(elements)),
        Ok(Shape::Scalar) => Ok(Member::Scalar),
        Ok(Shape::Object(_) | Shape::Other) | Err(Stop::Object) => Ok(Member::Object),
        Err(stop) => Err(stop),
    }
}

impl Look {
    fn list(self) -> Result<LookAtList, Stop> {
        Ok(LookAtList {
            elements: Elements::None,
        })
    }

    fn object(self) -> Result<LookAtObject, Stop> {
        match self.at {
            Level::Root => Ok(LookAtObject { members: Vec::new() }),
            Level::Inner => Err(Stop::Object),
        }
    }
}

macro_rules! scalars {
    ($($method:ident: $type:ty),*) => {
        $(fn $method(self, _: $type) -> Result<Shape, Stop> { Ok(Shape::Scalar) })*
    };
}

impl ser::Serializer for Look {
    type Ok = Shape;
    type Error = Stop;
    type SerializeSeq = LookAtList;
    type SerializeTuple = LookAtList;
    type SerializeTupleStruct = LookAtList;
    type SerializeTupleVariant = Impossible<Shape, Stop>;
    type SerializeMap = LookAtObject;
    type SerializeStruct = LookAtObject;
    type SerializeStructVariant = Impossible<Shape, Stop>;

    scalars!(serialize_bool: bool, serialize_char: char, serialize_str: &str, serialize_f32: f32, serialize_f64: f64);
    scalars!(serialize_i8: i8, serialize_i16: i16, serialize_i32: i32, serialize_i64: i64, serialize_i128: i128);
    scalars!(serialize_u8: u8, serialize_u16: u16, serialize_u32: u32, serialize_u64: u64, serialize_u128: u128);

    fn serialize_bytes(self, _: &[u8]) -> Result<Shape, Stop> {
        Ok(Shape::List(Elements::Mixed))
    }
    fn serialize_none(self) -> Result<Shape, Stop> {
        Ok(Shape::Scalar)
    }
    fn serialize_some<T: Serialize + ?Sized>(self, value: &T) -> Result<Shape, Stop> {
        value.serialize(self)
    }
    fn serialize_unit(self) -> Result<Shape, Stop> {
        Ok(Shape::Scalar)
    }
    fn serialize_unit_struct(self, _: &'static str) -> Result<Shape, Stop> {
        Ok(Shape::Scalar)
    }
    fn serialize_unit_variant(self, _: &'static str, _: u32, _: &'static str) -> Result<Shape, Stop> {
        Ok(Shape::Scalar)
    }
    fn serialize_newtype_struct<T: Serialize + ?Sized>(self, _: &'static str, value: &T) -> Result<Shape, Stop> {
        value.serialize(self)
    }
    fn serialize_newtype_variant<T: Serialize + ?Sized>(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: &T,
    ) -> Result<Shape, Stop> {
        Ok(Shape::Other)
    }
    fn serialize_seq(self, _: Option<usize>) -> Result<LookAtList, Stop> {
        self.list()
    }
    fn serialize_tuple(self, _: usize) -> Result<LookAtList, Stop> {
        self.list()
    }
    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<LookAtList, Stop> {
        self.list()
    }
    fn serialize_tuple_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeTupleVariant, Stop> {
        Err(Stop::Object)
    }
    fn serialize_map(self, _: Option<usize>) -> Result<LookAtObject, Stop> {
        self.object()
    }
    fn serialize_struct(self, _: &'static str, _: usize) -> Result<LookAtObject, Stop> {
        self.object()
    }
    fn serialize_struct_variant(
        self,
        _: &'static str,
        _: u32,
        _: &'static str,
        _: usize,
    ) -> Result<Self::SerializeStructVariant, Stop> {
        Err(Stop::Object)
    }
}

struct LookAtList {
    elements: Elements,
}

impl LookAtList {
    fn element<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
        if self.elements != Elements::Mixed {
            self.elements = match value.serialize(Look { at: Level::Inner }) {
                Err(Stop::Object) => Elements::Objects,
                Ok(_) => Elements::Mixed,
                Err(stop) => return Err(stop),
            };
        }
        Ok(())
    }
}

macro_rules! lists {
    ($($name:ident :: $method:ident),*) => {
        $(impl ser::$name for LookAtList {
            type Ok = Shape;
            type Error = Stop;
            fn $method<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
                self.element(value)
            }
            fn end(self) -> Result<Shape, Stop> {
                Ok(Shape::List(self.elements))
            }
        })*
    };
}
lists!(
    SerializeSeq::serialize_element,
    SerializeTuple::serialize_element,
    SerializeTupleStruct::serialize_field
);

struct LookAtObject {
    members: Vec<(String, Member)>,
}

impl ser::SerializeStruct for LookAtObject {
    type Ok = Shape;
    type Error = Stop;
    fn serialize_field<T: Serialize + ?Sized>(&mut self, key: &'static str, value: &T) -> Result<(), Stop> {
        self.members.push((key.to_owned(), inner(value)?));
        Ok(())
    }
    fn end(self) -> Result<Shape, Stop> {
        Ok(Shape::Object(self.members))
    }
}

impl ser::SerializeMap for LookAtObject {
    type Ok = Shape;
    type Error = Stop;
    fn serialize_key<T: Serialize + ?Sized>(&mut self, key: &T) -> Result<(), Stop> {
        self.members.push((key::key_text(key)?.into_owned(), Member::Scalar));
        Ok(())
    }
    fn serialize_value<T: Serialize + ?Sized>(&mut self, value: &T) -> Result<(), Stop> {
        let member = inner(value)?;
        if let Some(last) = self.members.last_mut() {
            last.1 = member;
        }
        Ok(())
    }
    fn end(self) -> Result<Shape, Stop> {
        Ok(Shape::Object(self.members))
    }
}
