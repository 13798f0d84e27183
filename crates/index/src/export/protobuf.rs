//! The few rules of the protocol buffer wire format that SCIP needs, written and read by hand: a code generator and its
//! runtime would weigh more than this file.

/// Appends fields to a message.
#[derive(Default)]
pub(super) struct Message {
    pub(super) bytes: Vec<u8>,
}

impl Message {
    pub(super) fn number(&mut self, field: u32, value: u64) {
        if value != 0 {
            self.varint(u64::from(field) << 3);
            self.varint(value);
        }
    }

    pub(super) fn text(&mut self, field: u32, value: &str) {
        if !value.is_empty() {
            self.bytes_field(field, value.as_bytes());
        }
    }

    pub(super) fn message(&mut self, field: u32, value: &Message) {
        self.bytes_field(field, &value.bytes);
    }

    pub(super) fn packed(&mut self, field: u32, values: &[u32]) {
        let mut packed = Message::default();
        for &value in values {
            packed.varint(u64::from(value));
        }
        self.message(field, &packed);
    }

    fn bytes_field(&mut self, field: u32, value: &[u8]) {
        self.varint(u64::from(field) << 3 | 2);
        self.varint(value.len() as u64);
        self.bytes.extend_from_slice(value);
    }

    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }
}

/// A field of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Value<'a> {
    /// A number.
    Number(u64),
    /// A text, a message or packed numbers.
    Bytes(&'a [u8]),
}

/// The bytes are not a message.
#[derive(thiserror::Error, Debug, Clone, Copy, PartialEq, Eq)]
#[error("not a protocol buffer message")]
pub(crate) struct Malformed;

/// The fields of a message, in order.
pub(crate) fn fields(bytes: &[u8]) -> impl Iterator<Item = Result<(u32, Value<'_>), Malformed>> {
    let mut rest = bytes;
    let mut failed = false;
    std::iter::from_fn(move || {
        if rest.is_empty() || failed {
            return None;
        }
        let field = next_field(&mut rest);
        failed = field.is_none();
        Some(field.ok_or(Malformed))
    })
}

fn next_field<'a>(rest: &mut &'a [u8]) -> Option<(u32, Value<'a>)> {
    let tag = read_varint(rest)?;
    let field = u32::try_from(tag >> 3).ok()?;
    let value = match tag & 7 {
        0 => Value::Number(read_varint(rest)?),
        1 => Value::Bytes(take(rest, 8)?),
        2 => {
            let length = usize::try_from(read_varint(rest)?).ok()?;
            Value::Bytes(take(rest, length)?)
        }
        5 => Value::Bytes(take(rest, 4)?),
        _ => return None,
    };
    Some((field, value))
}

/// The numbers of a packed field.
pub(crate) fn packed(mut bytes: &[u8]) -> impl Iterator<Item = u64> {
    std::iter::from_fn(move || (!bytes.is_empty()).then(|| read_varint(&mut bytes)).flatten())
}

fn take<'a>(rest: &mut &'a [u8], length: usize) -> Option<&'a [u8]> {
    let (taken, after) = rest.split_at_checked(length)?;
    *rest = after;
    Some(taken)
}

fn read_varint(rest: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..64).step_by(7) {
        let (&byte, after) = rest.split_first()?;
        *rest = after;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_back() {
        let mut message = Message::default();
        message.number(1, 300);
        message.text(2, "größe");
        message.packed(3, &[0, 1, 70000]);
        let read: Vec<_> = fields(&message.bytes).collect::<Result<_, _>>().unwrap();
        assert_eq!(read[0], (1, Value::Number(300)));
        assert_eq!(read[1], (2, Value::Bytes("größe".as_bytes())));
        let Value::Bytes(numbers) = read[2].1 else { panic!() };
        assert_eq!(packed(numbers).collect::<Vec<_>>(), [0, 1, 70000]);
    }

    #[test]
    fn garbage_is_refused() {
        for bytes in [&[0xff; 12][..], &[0x0a, 0x7f, 1], &[0x0b]] {
            assert!(fields(bytes).any(|field| field.is_err()));
        }
    }
}
