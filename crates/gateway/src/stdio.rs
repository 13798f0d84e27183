//! This process's standard input and output as a client's connection.
//!
//! The one trick: lines are read before the protocol reads them, since a client may spell its output format in a way that the
//! SDK refuses. With a session only the first line can; without one every line is looked at, on its way through a pipe.

use std::io::Cursor;
use std::time::Duration;

use rmcp::ServerHandler;
use rmcp::service::{ServerInitializeError, ServiceExt};
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader, Stdin, Stdout};

use crate::negotiation::with_format_as_object;
use crate::shutdown::Shutdown;

/// How long the last answers may take to be written when the server ends.
const LAST_ANSWERS: Duration = Duration::from_millis(300);
/// Longest line that is looked into; a longer one is passed on as it is, in parts.
const MAX_LINE: u64 = 1 << 20;

/// Serves one client on this process's standard input and output, until the input ends or `shutdown`. The server itself must
/// answer its calls when they are overdue.
///
/// A read of standard input cannot be interrupted: the runtime must be left without waiting for it.
pub async fn serve(server: impl ServerHandler, shutdown: Shutdown) -> Result<(), ServerInitializeError> {
    let Some(connection) = connection(&shutdown).await else {
        return Ok(());
    };
    let end = shutdown.connections();
    let service = match server.serve_with_ct(connection, end.clone()).await {
        Ok(service) => service,
        // A client that leaves before it says anything is no failure.
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => return Ok(()),
        Err(error) => return Err(error),
    };
    let last_answers = async {
        end.cancelled().await;
        tokio::time::sleep(LAST_ANSWERS).await;
    };
    tokio::select! {
        // However it ends, it has ended.
        _ = service.waiting() => {}
        // A client that does not read its answers is not waited for.
        () = last_answers => {}
    }
    Ok(())
}

/// Waits for the client's first line. `None` when it left, or `shutdown` came, before it said anything.
async fn connection(shutdown: &Shutdown) -> Option<(Box<dyn AsyncRead + Send + Unpin>, Stdout)> {
    let mut input = BufReader::new(tokio::io::stdin());
    let first = tokio::select! {
        first = line(&mut input) => first?,
        () = shutdown.requested() => return None,
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
