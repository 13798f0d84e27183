//! JSON inside a cell, said to a serializer as it is read: no value is built in between, so a cell costs no more memory than its text.

use std::collections::HashSet;
use std::fmt;

use serde::de::{self, Deserialize, DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::ser::{self, Serialize, SerializeMap, SerializeSeq, Serializer};

use crate::exact;

/// Valid JSON, to be serialized as the value that it is. Check it first: an error in the middle cannot be taken back.
pub(crate) struct Transcoded<'t>(pub(crate) &'t str);

impl Serialize for Transcoded<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::Deserializer::from_str(self.0)
            .deserialize_any(Forward(serializer))
            .map_err(ser::Error::custom)
    }
}

/// Whether `text` is a JSON list.
pub(crate) fn is_list(text: &str) -> bool {
    serde_json::from_str::<Vec<IgnoredAny>>(text).is_ok()
}

/// Whether `text` is JSON that loses nothing when it is taken for a value: no number is rounded, no key is there twice.
pub(crate) fn is_exact(text: &str) -> bool {
    exact::inexact_numbers(text).next().is_none() && serde_json::from_str::<Exact>(text).is_ok()
}

/// Hands what is read to a serializer.
struct Forward<S>(S);

macro_rules! scalars {
    ($($visit:ident => $serialize:ident: $type:ty),*) => {
        $(fn $visit<E: de::Error>(self, value: $type) -> Result<S::Ok, E> {
            self.0.$serialize(value).map_err(E::custom)
        })*
    };
}

impl<'de, S: Serializer> Visitor<'de> for Forward<S> {
    type Value = S::Ok;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    scalars!(visit_bool => serialize_bool: bool, visit_i64 => serialize_i64: i64, visit_u64 => serialize_u64: u64);
    scalars!(visit_f64 => serialize_f64: f64, visit_str => serialize_str: &str);

    fn visit_unit<E: de::Error>(self) -> Result<S::Ok, E> {
        self.0.serialize_unit().map_err(E::custom)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<S::Ok, A::Error> {
        let mut list = self.0.serialize_seq(None).map_err(de::Error::custom)?;
        while access.next_element_seed(Element(&mut list))?.is_some() {}
        list.end().map_err(de::Error::custom)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<S::Ok, A::Error> {
        let mut map = self.0.serialize_map(None).map_err(de::Error::custom)?;
        while access.next_key_seed(Key(&mut map))?.is_some() {
            access.next_value_seed(Member(&mut map))?;
        }
        map.end().map_err(de::Error::custom)
    }
}

/// Serializes what is read next through a function of the serializer.
struct Nested<'a, A>(std::cell::RefCell<Option<A>>, std::marker::PhantomData<&'a ()>);

impl<'de, D: Deserializer<'de>> Serialize for Nested<'de, D> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let deserializer = self.0.borrow_mut().take();
        let deserializer = deserializer.ok_or_else(|| ser::Error::custom("a value is serialized once"))?;
        deserializer
            .deserialize_any(Forward(serializer))
            .map_err(ser::Error::custom)
    }
}

fn nested<'de, D: Deserializer<'de>>(deserializer: D) -> Nested<'de, D> {
    Nested(std::cell::RefCell::new(Some(deserializer)), std::marker::PhantomData)
}

macro_rules! seeds {
    ($($name:ident: $trait:ident :: $method:ident),*) => {
        $(struct $name<'s, S>(&'s mut S);

        impl<'de, S: $trait> DeserializeSeed<'de> for $name<'_, S> {
            type Value = ();
            fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
                self.0.$method(&nested(deserializer)).map_err(de::Error::custom)
            }
        })*
    };
}
seeds!(Element: SerializeSeq::serialize_element, Key: SerializeMap::serialize_key, Member: SerializeMap::serialize_value);

/// JSON that is read and forgotten, and refused where an object has a key twice.
struct Exact;

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExactVisitor)
    }
}

struct ExactVisitor;

/// Up to so many keys of an object are compared one by one, without a table.
const FEW: usize = 8;

impl<'de> Visitor<'de> for ExactVisitor {
    type Value = Exact;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Exact, E> {
        Ok(Exact)
    }
    fn visit_i64<E>(self, _: i64) -> Result<Exact, E> {
        Ok(Exact)
    }
    fn visit_u64<E>(self, _: u64) -> Result<Exact, E> {
        Ok(Exact)
    }
    fn visit_f64<E>(self, _: f64) -> Result<Exact, E> {
        Ok(Exact)
    }
    fn visit_str<E>(self, _: &str) -> Result<Exact, E> {
        Ok(Exact)
    }
    fn visit_unit<E>(self) -> Result<Exact, E> {
        Ok(Exact)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Exact, A::Error> {
        while access.next_element::<Exact>()?.is_some() {}
        Ok(Exact)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Exact, A::Error> {
        let mut few: smallvec::SmallVec<[u64; FEW]> = smallvec::SmallVec::new();
        let mut many: HashSet<u64, foldhash::fast::RandomState> = HashSet::default();
        let hasher = foldhash::fast::RandomState::default();
        while let Some(HashedKey(key)) = access.next_key_seed(Hash(&hasher))? {
            // Two keys of one hash would be taken for one key twice; of a billion keys that happens to none.
            let is_new = match few.len() < FEW {
                true => {
                    let is_new = !few.contains(&key);
                    few.push(key);
                    is_new
                }
                false => !few.contains(&key) && many.insert(key),
            };
            if !is_new {
                return Err(de::Error::custom("a key twice"));
            }
            access.next_value::<Exact>()?;
        }
        Ok(Exact)
    }
}

struct HashedKey(u64);

struct Hash<'h>(&'h foldhash::fast::RandomState);

impl<'de> DeserializeSeed<'de> for Hash<'_> {
    type Value = HashedKey;
    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<HashedKey, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Hash<'_> {
    type Value = HashedKey;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("a key")
    }

    fn visit_str<E>(self, key: &str) -> Result<HashedKey, E> {
        use std::hash::BuildHasher;
        Ok(HashedKey(self.0.hash_one(key)))
    }
}
