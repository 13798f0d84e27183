//! Messages on a byte stream: `Content-Length: n`, an empty line, n bytes of JSON.
//!
//! The reader survives what servers print by mistake: lines that are no header are skipped, a body that is no JSON costs that
//! message alone. What would never end (endless garbage, an absurd length) is an error.

use std::io::{self, BufRead, Read, Write};

use serde_json::Value;

/// Longest message that is read.
pub(crate) const MAX_MESSAGE: usize = 64 << 20;
/// Longest line that can be a header.
const MAX_LINE: u64 = 8 << 10;
/// Most bytes skipped between two messages.
const MAX_GARBAGE: usize = 1 << 20;
/// Most unreadable messages in a row.
const MAX_UNREADABLE: usize = 16;

/// Why no more messages can be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TransportError {
    #[error("it closed its output")]
    End,
    #[error("reading from it failed: {0}")]
    Io(#[from] io::Error),
    #[error("it announced a message of {0} bytes, more than {MAX_MESSAGE}")]
    TooLong(usize),
    #[error("it prints what is not the language server protocol{}", sample(.0))]
    Garbage(String),
}

fn sample(text: &str) -> String {
    match text.trim() {
        "" => String::new(),
        text => format!(
            ": `{}`",
            text.chars()
                .filter(|character| !character.is_control())
                .take(80)
                .collect::<String>()
        ),
    }
}

/// The next message that is JSON.
pub(crate) fn read(reader: &mut impl BufRead) -> Result<Value, TransportError> {
    let mut first_garbage = String::new();
    for _ in 0..MAX_UNREADABLE {
        let length = read_length(reader, &mut first_garbage)?;
        if length > MAX_MESSAGE {
            return Err(TransportError::TooLong(length));
        }
        // Grows with what arrives, never with what was announced.
        let mut body = Vec::new();
        let read = reader.by_ref().take(length as u64).read_to_end(&mut body)?;
        if read < length {
            return Err(TransportError::End);
        }
        match serde_json::from_slice(&body) {
            Ok(message) => return Ok(message),
            Err(error) => {
                tracing::debug!(%error, "a language server's message is no JSON");
                first_garbage = String::from_utf8_lossy(&body[..body.len().min(200)]).into_owned();
            }
        }
    }
    Err(TransportError::Garbage(first_garbage))
}

/// Reads headers; everything else on the way is skipped.
fn read_length(reader: &mut impl BufRead, first_garbage: &mut String) -> Result<usize, TransportError> {
    let mut length = None;
    let mut skipped = 0;
    let mut line = Vec::new();
    loop {
        line.clear();
        if reader.by_ref().take(MAX_LINE).read_until(b'\n', &mut line)? == 0 {
            return Err(match skipped {
                0 => TransportError::End,
                _ => TransportError::Garbage(first_garbage.clone()),
            });
        }
        let text = String::from_utf8_lossy(&line);
        let trimmed = text.trim();
        if trimmed.is_empty() && length.is_some() {
            return Ok(length.unwrap_or(0));
        }
        // What a server printed without ending the line stands before the header.
        match trimmed.to_ascii_lowercase().find("content-length:") {
            Some(at) => length = trimmed[at + "content-length:".len()..].trim().parse().ok(),
            None if length.is_some() && trimmed.contains(':') => {}
            None if trimmed.is_empty() => {}
            None => {
                if first_garbage.is_empty() {
                    trimmed.clone_into(first_garbage);
                }
                skipped += line.len();
                if skipped > MAX_GARBAGE {
                    return Err(TransportError::Garbage(first_garbage.clone()));
                }
            }
        }
    }
}

/// A message as bytes.
pub(crate) fn frame(message: &Value) -> Vec<u8> {
    let body = message.to_string();
    format!("Content-Length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

/// Writes one framed message.
pub(crate) fn write(writer: &mut impl Write, framed: &[u8]) -> io::Result<()> {
    writer.write_all(framed)?;
    writer.flush()
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use proptest::prelude::*;
    use serde_json::json;

    use super::{TransportError, frame, read};

    fn all(bytes: &[u8]) -> (Vec<serde_json::Value>, TransportError) {
        let mut reader = Cursor::new(bytes);
        let mut messages = Vec::new();
        loop {
            match read(&mut reader) {
                Ok(message) => messages.push(message),
                Err(error) => return (messages, error),
            }
        }
    }

    #[test]
    fn other_headers_and_printed_lines_are_skipped() {
        let mut bytes = b"starting up\n\nwarning: x\n".to_vec();
        bytes.extend(b"content-length: 7\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n{\"a\":1}");
        bytes.extend(b"no newlineContent-Length: 2\r\n\r\n{}");
        bytes.extend(b"Content-Length: 3\r\n\r\n{x}");
        bytes.extend(frame(&json!({"b": "ü"})));
        let (messages, end) = all(&bytes);
        assert_eq!(messages, [json!({"a": 1}), json!({}), json!({"b": "ü"})]);
        assert!(matches!(end, TransportError::End));
    }

    #[test]
    fn endless_garbage_and_absurd_lengths_are_errors() {
        assert!(matches!(
            all(&b"noise noise\n".repeat(100_000)).1,
            TransportError::Garbage(_)
        ));
        assert!(matches!(all(&vec![b'x'; 2 << 20]).1, TransportError::Garbage(_)));
        assert!(matches!(
            all(b"Content-Length: 99999999999\r\n\r\n{}").1,
            TransportError::TooLong(_)
        ));
        assert!(matches!(all(b"Content-Length: 50\r\n\r\n{}").1, TransportError::End));
    }

    proptest! {
        #[test]
        fn any_bytes_end(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            all(&bytes);
        }
    }
}
