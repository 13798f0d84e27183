//! Reads JSON only when nothing is lost by it: no key twice in one object, and every number exact. Anything else stays
//! the text it was.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Value};

/// The object or array that `text` is, if it can be said again without loss.
pub(crate) fn parse(text: &str) -> Option<Value> {
    let trimmed = text.trim();
    if !trimmed.starts_with(['{', '[']) || !numbers_are_exact(trimmed.as_bytes()) {
        return None;
    }
    let mut deserializer = serde_json::Deserializer::from_str(trimmed);
    let value = Strict.deserialize(&mut deserializer).ok()?;
    deserializer.end().ok()?;
    Some(value)
}

/// Whether each number of a JSON text survives as a 64-bit integer or a double. More digits than a double holds are taken
/// as a loss, without looking closer.
fn numbers_are_exact(text: &[u8]) -> bool {
    const DOUBLE_DIGITS: usize = 15;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'"' => {
                at += 1;
                while at < text.len() && text[at] != b'"' {
                    at += if text[at] == b'\\' { 2 } else { 1 };
                }
                at += 1;
            }
            b'-' | b'0'..=b'9' => {
                let start = at;
                while at < text.len() && matches!(text[at], b'0'..=b'9' | b'.' | b'-' | b'+' | b'e' | b'E') {
                    at += 1;
                }
                let number = &text[start..at];
                if number.iter().filter(|byte| byte.is_ascii_digit()).count() > DOUBLE_DIGITS {
                    let integer = std::str::from_utf8(number).ok();
                    if !integer.is_some_and(|text| text.parse::<i64>().is_ok() || text.parse::<u64>().is_ok()) {
                        return false;
                    }
                }
            }
            _ => at += 1,
        }
    }
    true
}

struct Strict;

impl<'de> DeserializeSeed<'de> for Strict {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Strict {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element_seed(Strict)? {
            list.push(item);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Value, A::Error> {
        let mut fields = Map::new();
        while let Some(key) = entries.next_key::<String>()? {
            let value = entries.next_value_seed(Strict)?;
            if fields.insert(key, value).is_some() {
                return Err(A::Error::custom("a key occurs twice"));
            }
        }
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_survives_is_read() {
        assert!(parse(r#" {"a":[1,2.5,-0,18446744073709551615,"12345678901234567890.5"]} "#).is_some());
        for lossy in [
            r#"{"a":1,"a":2}"#,
            r#"[123456789012345678901234]"#,
            r#"[0.12345678901234567]"#,
            r#"{"a":1} x"#,
            "7",
            "\"text\"",
            "{a:1}",
            "",
        ] {
            assert!(parse(lossy).is_none(), "{lossy}");
        }
    }
}
