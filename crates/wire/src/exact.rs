//! JSON text read without losing anything: a number that no 64-bit integer and no double is, and a key given twice, are errors.
//!
//! `serde_json` rounds the one and drops the other without a word. Numbers are looked at where they are spelled, before anything
//! is parsed; keys when the value is built.

use std::fmt;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value};

use crate::gcf::number_end;

/// Why a JSON text has no value here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Error {
    /// From 1.
    pub line: usize,
    /// In bytes, from 1.
    pub column: usize,
    /// What is there, and why it cannot be kept.
    pub message: String,
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at line {} column {}", self.message, self.line, self.column)
    }
}

impl std::error::Error for Error {}

/// Reads a JSON text into the value that it says.
pub fn from_json(text: &str) -> Result<Value, Error> {
    if let Some((at, number)) = inexact_numbers(text).next() {
        let before = &text.as_bytes()[..at];
        let line = memchr::memchr_iter(b'\n', before).count() + 1;
        let column = at - memchr::memrchr(b'\n', before).map_or(0, |newline| newline + 1) + 1;
        let shown: String = number.chars().take(60).collect();
        return Err(Error {
            line,
            column,
            message: format!(
                "the number {shown} is neither a 64-bit integer nor a double and would be rounded (as a text it is kept)"
            ),
        });
    }
    let read: Result<Exact, _> = serde_json::from_str(text);
    read.map(|Exact(value)| value).map_err(|error| {
        let message = error.to_string();
        let (place, line, column) = (message.rfind(" at line "), error.line(), error.column());
        Error {
            line,
            column,
            message: message[..place.unwrap_or(message.len())].to_owned(),
        }
    })
}

/// The numbers of a JSON text that would be rounded, with their places.
pub(crate) fn inexact_numbers(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'"' => at = string_end(bytes, at),
                b'-' | b'0'..=b'9' => {
                    let start = at;
                    at += number_end(&bytes[at..]).unwrap_or(1);
                    // A valid number only: what follows is for the parser to refuse.
                    let token = &text[start..at];
                    if (token.len() > LONG || token.contains(['e', 'E'])) && !is_exact(token) {
                        return Some((start, token));
                    }
                }
                _ => at += 1,
            }
        }
        None
    })
}

/// Just past the string that begins at `start`.
fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while let Some(length) = memchr::memchr2(b'"', b'\\', bytes.get(at..).unwrap_or_default()) {
        at += length;
        if bytes[at] == b'"' {
            return at + 1;
        }
        at += 2;
    }
    bytes.len()
}

/// A decimal of so few characters is always held: a double has fifteen digits to spare.
const LONG: usize = 15;

/// Whether a valid JSON number can be held without rounding: as a 64-bit integer, or as the double whose shortest spelling says the
/// same number.
pub(crate) fn is_exact(number: &str) -> bool {
    if !number.bytes().any(|byte| matches!(byte, b'.' | b'e' | b'E')) {
        return number.parse::<i64>().is_ok() || number.parse::<u64>().is_ok();
    }
    match number.parse::<f64>() {
        Ok(double) if double.is_finite() => {
            let mut buffer = ryu::Buffer::new();
            decimal(number) == decimal(buffer.format_finite(double))
        }
        _ => false,
    }
}

/// Sign, digits without zeros around them, and the power of ten of the last: equal for equal numbers.
fn decimal(number: &str) -> Option<(bool, String, i64)> {
    let (mantissa, exponent) = number.split_once(['e', 'E']).unwrap_or((number, "0"));
    let unsigned = mantissa.trim_start_matches('-');
    let (whole, fraction) = unsigned.split_once('.').unwrap_or((unsigned, ""));
    let all = [whole, fraction].concat();
    let without_end = all.trim_end_matches('0');
    let digits = without_end.trim_start_matches('0');
    if digits.is_empty() {
        // Zero is zero whatever its exponent, and minus zero is told by its sign.
        return Some((mantissa.starts_with('-'), String::new(), 0));
    }
    let zeros = (all.len() - without_end.len()) as i64;
    // An exponent that no number of 64 bits holds is out of any double's range.
    let exponent: i64 = exponent.parse().ok()?;
    let power = exponent.checked_add(zeros)?.checked_sub(fraction.len() as i64)?;
    Some((mantissa.starts_with('-'), digits.to_owned(), power))
}

/// A value in which no key was given twice.
struct Exact(Value);

impl<'de> Deserialize<'de> for Exact {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(ExactVisitor).map(Exact)
    }
}

struct ExactVisitor;

impl<'de> Visitor<'de> for ExactVisitor {
    type Value = Value;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("any JSON value")
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
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }
    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::String(value.to_owned()))
    }
    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(Value::String(value))
    }
    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut list = Vec::new();
        while let Some(Exact(value)) = access.next_element()? {
            list.push(value);
        }
        Ok(Value::Array(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut access: A) -> Result<Value, A::Error> {
        let mut members = Map::new();
        while let Some(key) = access.next_key::<String>()? {
            if members.contains_key(&key) {
                let shown: String = key.chars().take(60).collect();
                return Err(de::Error::custom(format!(
                    "the key {shown:?} twice in one object: one value would be lost"
                )));
            }
            let Exact(value) = access.next_value()?;
            members.insert(key, value);
        }
        Ok(Value::Object(members))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{from_json, is_exact};

    #[test]
    fn what_a_number_is_decides_not_how_it_is_spelled() {
        for number in [
            "0",
            "-0",
            "-0.0",
            "0e999",
            "1.10",
            "100e-2",
            "9223372036854775807",
            "18446744073709551615",
            "-9223372036854775808",
            "0.30000000000000004",
            "5e-324",
            "1.7976931348623157e308",
            "12345678901234567000.0",
            "1e22",
            "1E+2",
        ] {
            assert!(is_exact(number), "{number}");
        }
        for number in [
            "18446744073709551616",
            "-9223372036854775809",
            "12345678901234567890123",
            "0.1234567890123456789",
            "3.14159265358979323846",
            "1e400",
            "1e-400",
            "1e99999999999999999999",
            "4.9e-324",
        ] {
            assert!(!is_exact(number), "{number}");
        }
    }

    #[test]
    fn what_would_be_lost_is_refused_with_its_place() {
        let refused = |text: &str| from_json(text).unwrap_err().to_string();
        assert_eq!(
            refused("{\"id\": 1,\n \"n\": [12345678901234567890123]}"),
            "the number 12345678901234567890123 is neither a 64-bit integer nor a double and would be rounded (as a text it is kept) \
             at line 2 column 8"
        );
        let twice = refused("{\"a\": {\"b\": 1, \"b\": 1}}");
        assert!(twice.contains("the key \"b\" twice"), "{twice}");
        assert!(refused("{\"a\": 0.1234567890123456789}").contains("rounded"));
        assert_eq!(
            refused("[1, 2"),
            serde_json::from_str::<Value>("[1, 2").unwrap_err().to_string()
        );
        // Digits inside a text are no number.
        let text = r#"{"a": "12345678901234567890123 \" 1e999", "b": [1.50, true, null, "é"]}"#;
        assert_eq!(
            from_json(text).unwrap(),
            json!({"a": "12345678901234567890123 \" 1e999", "b": [1.5, true, null, "é"]})
        );
    }
}
