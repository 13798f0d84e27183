//! serde out of a document. Path columns become nested objects here, as the visitor asks for them.

use serde::de::{
    self, DeserializeSeed, EnumAccess, IntoDeserializer, MapAccess, SeqAccess, Unexpected, VariantAccess, Visitor,
};
use serde::forward_to_deserialize_any;
use serde::ser::{SerializeMap, SerializeSeq};
use serde::{Deserialize, Serialize, Serializer};

use super::document::{Document, Field, FieldContent, Node, Table};
use super::error::{Error, Result};

impl<'de> Document<'de> {
    /// The value as a type. Strings without escapes are borrowed from the text.
    pub fn deserialize<T: Deserialize<'de>>(&self) -> Result<T> {
        T::deserialize(self.at(self.root))
    }

    pub(crate) fn at(&self, node: Node) -> Cursor<'_, 'de> {
        Cursor { document: self, node }
    }
}

/// One value of a document, as a deserializer.
#[derive(Clone, Copy)]
pub(crate) struct Cursor<'d, 'de> {
    document: &'d Document<'de>,
    node: Node,
}

/// A member of an object as it comes out of any of the object forms.
enum Member<'d, 'de> {
    Value(Cursor<'d, 'de>),
    Group(Group<'d, 'de>),
}

/// A nested object that path columns spell: the cells of its row, and its part of the table.
#[derive(Clone, Copy)]
struct Group<'d, 'de> {
    document: &'d Document<'de>,
    table: &'d Table,
    cells: &'d [Node],
    fields: &'d [Field],
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Content {
    Absent,
    Null,
    Something,
}

impl<'d, 'de> Group<'d, 'de> {
    /// What all the leaves together say: all `~`, all `-`, or neither.
    fn content(&self) -> Content {
        let mut all = None;
        for field in self.fields {
            let content = match &field.content {
                FieldContent::Cell(cell) => match self.cells[*cell as usize] {
                    Node::Absent => Content::Absent,
                    Node::Null => Content::Null,
                    _ => Content::Something,
                },
                FieldContent::Constant(Node::Null) => Content::Null,
                FieldContent::Constant(_) => Content::Something,
                FieldContent::Group(group) => self.inner(*group).content(),
            };
            if content == Content::Something || all.is_some_and(|all| all != content) {
                return Content::Something;
            }
            all = Some(content);
        }
        all.unwrap_or(Content::Absent)
    }

    fn inner(&self, group: u32) -> Self {
        Group {
            fields: &self.table.groups[group as usize],
            ..*self
        }
    }

    fn member(&self, field: &'d Field, top: bool) -> Option<(&'d str, Member<'d, 'de>)> {
        let member = match &field.content {
            FieldContent::Cell(cell) => match self.cells[*cell as usize] {
                Node::Absent => return None,
                node => Member::Value(self.document.at(node)),
            },
            FieldContent::Constant(node) => Member::Value(self.document.at(*node)),
            FieldContent::Group(group) => {
                let inner = self.inner(*group);
                match inner.content() {
                    Content::Absent => return None,
                    // Only a whole object can be null this way; deeper down nulls are members.
                    Content::Null if top => Member::Value(self.document.at(Node::Null)),
                    _ => Member::Group(inner),
                }
            }
        };
        Some((&field.name, member))
    }
}

/// The members of an object, whichever form it has.
struct Members<'d, 'de> {
    fields: std::slice::Iter<'d, Field>,
    group: Option<Group<'d, 'de>>,
    top: bool,
    /// Pairs of key and value: all of a map, or the loose members of a row.
    pairs: std::slice::Iter<'d, Node>,
    document: &'d Document<'de>,
    value: Option<Member<'d, 'de>>,
}

impl<'d, 'de> Members<'d, 'de> {
    fn of_pairs(document: &'d Document<'de>, pairs: &'d [Node]) -> Self {
        Members {
            fields: [].iter(),
            group: None,
            top: true,
            pairs: pairs.iter(),
            document,
            value: None,
        }
    }

    fn of_group(group: Group<'d, 'de>, top: bool, pairs: &'d [Node]) -> Self {
        Members {
            fields: group.fields.iter(),
            group: Some(group),
            top,
            pairs: pairs.iter(),
            document: group.document,
            value: None,
        }
    }

    #[inline]
    fn next(&mut self) -> Option<(Key<'d, 'de>, Member<'d, 'de>)> {
        if let Some(group) = self.group {
            for field in self.fields.by_ref() {
                if let Some((name, member)) = group.member(field, self.top) {
                    return Some((Key::Name(name), member));
                }
            }
        }
        let key = *self.pairs.next()?;
        let value = *self.pairs.next()?;
        Some((Key::Node(self.document.at(key)), Member::Value(self.document.at(value))))
    }
}

enum Key<'d, 'de> {
    Name(&'d str),
    Node(Cursor<'d, 'de>),
}

impl<'d, 'de> Cursor<'d, 'de> {
    /// The members, if this is an object.
    fn members(self) -> Option<Members<'d, 'de>> {
        let document = self.document;
        Some(match self.node {
            Node::Map { first, len } => Members::of_pairs(document, document.children(first, len as usize * 2)),
            Node::Row { first, table } => {
                let table = &*document.tables[table as usize];
                let cells = document.children(first, table.width);
                Members::of_group(
                    Group {
                        document,
                        table,
                        cells,
                        fields: &table.groups[0],
                    },
                    true,
                    &[],
                )
            }
            Node::LooseRow { first, table } => {
                let table = &*document.tables[table as usize];
                let cells = document.children(first, table.width);
                let count_at = first as usize + table.width;
                let Node::Integer(count) = document.nodes[count_at] else {
                    return None;
                };
                let pairs = &document.nodes[count_at + 1..count_at + 1 + count as usize * 2];
                Members::of_group(
                    Group {
                        document,
                        table,
                        cells,
                        fields: &table.groups[0],
                    },
                    true,
                    pairs,
                )
            }
            _ => return None,
        })
    }

    fn unexpected(self) -> Unexpected<'d> {
        match self.node {
            Node::Null | Node::Absent | Node::Attached => Unexpected::Unit,
            Node::Bool(value) => Unexpected::Bool(value),
            Node::Integer(value) => Unexpected::Signed(value),
            Node::Float(value) => Unexpected::Float(value),
            Node::Text { .. } | Node::Owned { .. } => {
                Unexpected::Str(self.document.string(self.node).unwrap_or_default())
            }
            Node::Array { .. } | Node::Grid { .. } => Unexpected::Seq,
            Node::Map { .. } | Node::Row { .. } | Node::LooseRow { .. } => Unexpected::Map,
        }
    }
}

impl<'d, 'de> de::Deserializer<'de> for Cursor<'d, 'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.node {
            Node::Null | Node::Absent | Node::Attached => visitor.visit_unit(),
            Node::Bool(value) => visitor.visit_bool(value),
            Node::Integer(value) => visitor.visit_i64(value),
            Node::Float(value) => visitor.visit_f64(value),
            Node::Text { start, len } => {
                let text: &'de str = self.document.text;
                visitor.visit_borrowed_str(&text[start as usize..start as usize + len as usize])
            }
            Node::Owned { .. } => visitor.visit_str(self.document.string(self.node).unwrap_or_default()),
            Node::Array { .. } | Node::Grid { .. } => {
                let len = self.document.count(self.node);
                let mut items = Items {
                    document: self.document,
                    array: self.node,
                    next: 0,
                    len,
                };
                let value = visitor.visit_seq(&mut items)?;
                if items.next < len {
                    return Err(de::Error::invalid_length(
                        len,
                        &format!("{} elements", items.next).as_str(),
                    ));
                }
                Ok(value)
            }
            Node::Map { .. } | Node::Row { .. } | Node::LooseRow { .. } => match self.members() {
                Some(mut members) => visit_members(&mut members, visitor),
                None => Err(de::Error::custom("a damaged row")),
            },
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self.node {
            Node::Null | Node::Absent => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        if let Some(variant) = self.document.string(self.node) {
            return visitor.visit_enum(variant.into_deserializer());
        }
        let variant = self.members().and_then(|mut members| {
            let only = members.next()?;
            members.next().is_none().then_some(only)
        });
        match variant {
            Some((key, value)) => visitor.visit_enum(Variant { key, value }),
            None => Err(de::Error::invalid_type(
                self.unexpected(),
                &"a variant: a string, or an object with one member",
            )),
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

fn visit_members<'de, V: Visitor<'de>>(members: &mut Members<'_, 'de>, visitor: V) -> Result<V::Value> {
    let value = visitor.visit_map(&mut *members)?;
    match members.next() {
        None => Ok(value),
        Some(_) => Err(de::Error::custom("an object with more members than the type takes")),
    }
}

impl<'de> de::Deserializer<'de> for Member<'_, 'de> {
    type Error = Error;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self {
            Member::Value(cursor) => cursor.deserialize_any(visitor),
            Member::Group(group) => visit_members(&mut Members::of_group(group, false, &[]), visitor),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self {
            Member::Value(cursor) => cursor.deserialize_option(visitor),
            group => visitor.visit_some(group),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        match self {
            Member::Value(cursor) => cursor.deserialize_enum(name, variants, visitor),
            Member::Group(group) => {
                let mut members = Members::of_group(group, false, &[]);
                match (members.next(), members.next()) {
                    (Some((key, value)), None) => visitor.visit_enum(Variant { key, value }),
                    _ => Err(de::Error::invalid_type(
                        Unexpected::Map,
                        &"a variant: an object with one member",
                    )),
                }
            }
        }
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_unit()
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier
    }
}

struct Items<'d, 'de> {
    document: &'d Document<'de>,
    array: Node,
    next: usize,
    len: usize,
}

impl<'de> SeqAccess<'de> for &mut Items<'_, 'de> {
    type Error = Error;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>> {
        let Some(item) = self.document.item(self.array, self.next) else {
            return Ok(None);
        };
        self.next += 1;
        seed.deserialize(self.document.at(item)).map(Some)
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.len - self.next)
    }
}

impl<'de> MapAccess<'de> for &mut Members<'_, 'de> {
    type Error = Error;

    #[inline]
    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>> {
        let Some((key, value)) = self.next() else {
            return Ok(None);
        };
        self.value = Some(value);
        seed.deserialize(key).map(Some)
    }

    #[inline]
    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value> {
        match self.value.take() {
            Some(value) => seed.deserialize(value),
            None => Err(de::Error::custom("a value was asked for before its key")),
        }
    }

    fn size_hint(&self) -> Option<usize> {
        Some(self.fields.len() + self.pairs.len() / 2)
    }
}

/// Reads a key as a number or bool when the map's type wants one, as JSON readers do.
macro_rules! parsed_key {
    ($($method:ident => $visit:ident: $type:ty,)*) => {
        $(fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
            match self.text().parse::<$type>() {
                Ok(value) => visitor.$visit(value),
                Err(_) => self.deserialize_any(visitor),
            }
        })*
    };
}

impl Key<'_, '_> {
    fn text(&self) -> &str {
        match self {
            Key::Name(name) => name,
            Key::Node(cursor) => cursor.document.string(cursor.node).unwrap_or_default(),
        }
    }
}

impl<'de> de::Deserializer<'de> for Key<'_, 'de> {
    type Error = Error;

    #[inline]
    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        match self {
            Key::Name(name) => visitor.visit_str(name),
            Key::Node(cursor) => cursor.deserialize_any(visitor),
        }
    }

    parsed_key! {
        deserialize_bool => visit_bool: bool,
        deserialize_i8 => visit_i8: i8,
        deserialize_i16 => visit_i16: i16,
        deserialize_i32 => visit_i32: i32,
        deserialize_i64 => visit_i64: i64,
        deserialize_i128 => visit_i128: i128,
        deserialize_u8 => visit_u8: u8,
        deserialize_u16 => visit_u16: u16,
        deserialize_u32 => visit_u32: u32,
        deserialize_u64 => visit_u64: u64,
        deserialize_u128 => visit_u128: u128,
        deserialize_f32 => visit_f32: f32,
        deserialize_f64 => visit_f64: f64,
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value> {
        visitor.visit_some(self)
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _name: &'static str, visitor: V) -> Result<V::Value> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        _variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value> {
        visitor.visit_enum(self.text().into_deserializer())
    }

    forward_to_deserialize_any! {
        char str string bytes byte_buf unit unit_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

/// An enum written as an object with one member.
struct Variant<'d, 'de> {
    key: Key<'d, 'de>,
    value: Member<'d, 'de>,
}

impl<'d, 'de> EnumAccess<'de> for Variant<'d, 'de> {
    type Error = Error;
    type Variant = Member<'d, 'de>;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self::Variant)> {
        Ok((seed.deserialize(self.key)?, self.value))
    }
}

impl<'de> VariantAccess<'de> for Member<'_, 'de> {
    type Error = Error;

    fn unit_variant(self) -> Result<()> {
        Deserialize::deserialize(self)
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'de>>(self, _len: usize, visitor: V) -> Result<V::Value> {
        de::Deserializer::deserialize_any(self, visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _fields: &'static [&'static str], visitor: V) -> Result<V::Value> {
        de::Deserializer::deserialize_any(self, visitor)
    }
}

/// The way to any other format, JSON first of all.
impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        self.at(self.root).serialize(serializer)
    }
}

impl Serialize for Cursor<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.node {
            Node::Null | Node::Absent | Node::Attached => serializer.serialize_unit(),
            Node::Bool(value) => serializer.serialize_bool(value),
            Node::Integer(value) => serializer.serialize_i64(value),
            Node::Float(value) => serializer.serialize_f64(value),
            Node::Text { .. } | Node::Owned { .. } => {
                serializer.serialize_str(self.document.string(self.node).unwrap_or_default())
            }
            Node::Array { .. } | Node::Grid { .. } => {
                let len = self.document.count(self.node);
                let mut sequence = serializer.serialize_seq(Some(len))?;
                for item in (0..len).filter_map(|index| self.document.item(self.node, index)) {
                    sequence.serialize_element(&self.document.at(item))?;
                }
                sequence.end()
            }
            Node::Map { .. } | Node::Row { .. } | Node::LooseRow { .. } => {
                serialize_members(self.members(), serializer)
            }
        }
    }
}

impl Serialize for Member<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Member::Value(cursor) => cursor.serialize(serializer),
            Member::Group(group) => serialize_members(Some(Members::of_group(*group, false, &[])), serializer),
        }
    }
}

fn serialize_members<S: Serializer>(
    members: Option<Members<'_, '_>>,
    serializer: S,
) -> std::result::Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(None)?;
    if let Some(mut members) = members {
        while let Some((key, value)) = members.next() {
            map.serialize_entry(key.text(), &value)?;
        }
    }
    map.end()
}
