//! This process's standard input and output as a client's connection.
//!
//! The one trick: lines are read before the protocol reads them, since a client may spell its output format in a way that the
//! SDK refuses. With a session only the first line can; without one every line is looked at, on its way through a pipe.

use std::io::Cursor;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader, Stdin, Stdout};
use tokio_util::sync::CancellationToken;

use crate::negotiation::with_format_as_object;

/// Longest line that is looked into; a longer one is passed on as it is, in parts.
const MAX_LINE: u64 = 1 << 20;

/// Waits for the client's first line. `None` when it left, or `shutdown` came, before it said anything.
pub async fn connection(shutdown: &CancellationToken) -> Option<(Box<dyn AsyncRead + Send + Unpin>, Stdout)> {
    let mut input = BufReader::new(tokio::io::stdin());
    let first = tokio::select! {
        first = line(&mut input) => first?,
        () = shutdown.cancelled() => return None,
    };
    let begins_session = serde_json::from_slice(&first)
        .is_ok_and(|message: Value| message.get("method").and_then(Value::as_str) == Some("initialize"));
    let reader: Box<dyn AsyncRead + Send + Unpin> = match begins_session {
        true => Box::new(Cursor::new(first).chain(input)),
        false => {
            let (mut writer, reader) = tokio::io::duplex(64 << 10);
            tokio::spawn(async move {
                let mut next = Some(first);
                while let Some(line_of_input) = next {
                    if writer.write_all(&line_of_input).await.is_err() {
                        return;
                    }
                    next = line(&mut input).await;
                }
            });
            Box::new(reader)
        }
    };
    Some((reader, tokio::io::stdout()))
}

/// The next line, respelled where need be; `None` at the end of the input.
async fn line(input: &mut BufReader<Stdin>) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    let count = input.take(MAX_LINE).read_until(b'\n', &mut line).await.ok()?;
    if count == 0 {
        return None;
    }
    if let Some(mut spelled) = with_format_as_object(&line) {
        spelled.push(b'\n');
        return Some(spelled);
    }
    Some(line)
}
