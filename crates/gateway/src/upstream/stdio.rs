//! The stdio transport: one JSON-RPC message a line, each line bounded.
//!
//! The trick: an answer that is too long or not JSON still names the request it answers, at its beginning or at its end.
//! Reading just that turns a message we must drop into an error for the one caller who waits for it, at once.

use std::io;
use std::sync::{Arc, LazyLock};

use regex::bytes::Regex;
use rmcp::RoleClient;
use rmcp::model::{ErrorData, RequestId, ServerJsonRpcMessage};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader};
use tokio::sync::Mutex;

use super::faults;
use super::process::Process;

/// How much of the beginning and of the end of a dropped message is searched for its id.
const KEPT_END: usize = 1024;

/// Lines over a pair of byte streams, with the process behind them where there is one.
pub(super) struct LineTransport<R, W> {
    lines: Lines<R>,
    writer: Arc<Mutex<Option<W>>>,
    process: Option<Process>,
}

impl<R: AsyncRead + Unpin + Send, W: AsyncWrite + Unpin + Send + 'static> LineTransport<R, W> {
    pub(super) fn new(reader: R, writer: W, longest_line: usize, process: Option<Process>) -> Self {
        LineTransport {
            lines: Lines::new(reader, longest_line),
            writer: Arc::new(Mutex::new(Some(writer))),
            process,
        }
    }
}

impl<R, W> Transport<RoleClient> for LineTransport<R, W>
where
    R: AsyncRead + Unpin + Send + 'static,
    W: AsyncWrite + Unpin + Send + 'static,
{
    type Error = io::Error;

    fn send(&mut self, message: TxJsonRpcMessage<RoleClient>) -> impl Future<Output = io::Result<()>> + Send + 'static {
        let writer = self.writer.clone();
        async move {
            let mut line = serde_json::to_vec(&message)?;
            line.push(b'\n');
            let mut writer = writer.lock().await;
            let writer = writer.as_mut().ok_or(io::ErrorKind::NotConnected)?;
            writer.write_all(&line).await?;
            writer.flush().await
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            match self.lines.next().await {
                Ok(Some(Line::Whole(line))) => {
                    if let Some(message) = message(line) {
                        return Some(message);
                    }
                }
                Ok(Some(Line::TooLong { start, end })) => match answered_request(start, end) {
                    Some(id) => return Some(faulty_answer(id, faults::too_long(self.lines.longest))),
                    None => {
                        // Someone waits for this and nobody knows who: breaking the connection tells them all.
                        tracing::warn!("an upstream sent an overlong message that names no request");
                        return None;
                    }
                },
                Ok(None) => return None,
                Err(error) => {
                    tracing::debug!(%error, "cannot read from the upstream");
                    return None;
                }
            }
        }
    }

    async fn close(&mut self) -> io::Result<()> {
        drop(self.writer.lock().await.take());
        if let Some(process) = self.process.take() {
            process.end().await;
        }
        Ok(())
    }
}

/// Reads one line as a message. Noise (a banner, a log line) is skipped; a broken answer becomes an error answer.
fn message(line: &[u8]) -> Option<ServerJsonRpcMessage> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return None;
    }
    match serde_json::from_slice(line) {
        Ok(message) => Some(message),
        Err(error) => {
            tracing::debug!(%error, length = line.len(), "an upstream wrote a line that is no message");
            if line[0] != b'{' {
                return None;
            }
            let id = answered_request(
                &line[..line.len().min(KEPT_END)],
                &line[line.len().saturating_sub(KEPT_END)..],
            )?;
            Some(faulty_answer(id, faults::not_json()))
        }
    }
}

fn faulty_answer(id: RequestId, error: ErrorData) -> ServerJsonRpcMessage {
    ServerJsonRpcMessage::error(error, Some(id))
}

/// The request a damaged answer belongs to. Our own ids are numbers, and servers write `id` first or last.
fn answered_request(start: &[u8], end: &[u8]) -> Option<RequestId> {
    static FIRST: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#"^\s*\{\s*(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,10})\s*,"#).expect("a valid pattern")
    });
    static LAST: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r#""id"\s*:\s*(\d{1,10})\s*(?:,\s*"jsonrpc"\s*:\s*"2\.0"\s*)?\}?\s*$"#).expect("a valid pattern")
    });
    let digits = FIRST.captures(start).or_else(|| LAST.captures(end))?.get(1)?.as_bytes();
    std::str::from_utf8(digits).ok()?.parse().ok().map(RequestId::Number)
}

/// One line as read.
enum Line<'a> {
    Whole(&'a [u8]),
    TooLong { start: &'a [u8], end: &'a [u8] },
}

/// Splits a byte stream into lines of at most `longest` bytes. The rest of a longer one is read and thrown away, keeping
/// its two ends. Safe to cancel: everything read so far is kept in the struct.
struct Lines<R> {
    reader: BufReader<R>,
    longest: usize,
    line: Vec<u8>,
    /// The last bytes of a line whose middle is being thrown away.
    end: Option<Vec<u8>>,
    /// The previous call handed out `line`: start over.
    handed_out: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    fn new(reader: R, longest: usize) -> Self {
        Lines {
            reader: BufReader::with_capacity(64 * 1024, reader),
            longest: longest.max(KEPT_END),
            line: Vec::new(),
            end: None,
            handed_out: false,
        }
    }

    async fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        if std::mem::take(&mut self.handed_out) {
            self.line.clear();
            // One huge answer must not keep its memory for the life of the connection.
            self.line.shrink_to(1 << 20);
            self.end = None;
        }
        loop {
            let available = self.reader.fill_buf().await?;
            if available.is_empty() {
                return Ok(None);
            }
            let newline = memchr::memchr(b'\n', available);
            let taken = newline.map_or(available.len(), |position| position + 1);
            let chunk = &available[..newline.unwrap_or(taken)];
            match &mut self.end {
                Some(end) => keep_end(end, chunk),
                None if self.line.len() + chunk.len() > self.longest => {
                    let mut end = std::mem::take(&mut self.line);
                    self.line = end.iter().chain(chunk).take(KEPT_END).copied().collect();
                    let surplus = end.len().saturating_sub(KEPT_END);
                    end.drain(..surplus);
                    end.shrink_to(4 * KEPT_END);
                    keep_end(&mut end, chunk);
                    self.end = Some(end);
                }
                None => self.line.extend_from_slice(chunk),
            }
            self.reader.consume(taken);
            if newline.is_some() {
                self.handed_out = true;
                return Ok(Some(match &self.end {
                    None => Line::Whole(&self.line),
                    Some(end) => Line::TooLong { start: &self.line, end },
                }));
            }
        }
    }
}

fn keep_end(end: &mut Vec<u8>, chunk: &[u8]) {
    end.extend_from_slice(&chunk[chunk.len().saturating_sub(KEPT_END)..]);
    let surplus = end.len().saturating_sub(KEPT_END);
    end.drain(..surplus);
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn read_all(input: &[u8], longest: usize) -> Vec<String> {
        let mut lines = Lines::new(input, longest);
        let mut read = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            read.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::TooLong { start, end } => format!("{:?}…{:?}", answered_request(start, end), end.len()),
            });
        }
        read
    }

    #[tokio::test]
    async fn a_long_line_is_dropped_and_its_request_is_still_found() {
        let filler = "x".repeat(200_000);
        let node = format!(r#"{{"result":{{"id":5,"text":"{filler}"}},"jsonrpc":"2.0","id":7}}"#);
        let python = format!(r#"{{"jsonrpc":"2.0","id":8,"result":"{filler}"}}"#);
        let input = format!("short\n{node}\n{python}\n{filler}\nafter\nunfinished");
        assert_eq!(
            read_all(input.as_bytes(), 4096).await,
            [
                "short",
                "Some(Number(7))…1024",
                "Some(Number(8))…1024",
                "None…1024",
                "after"
            ]
        );
    }

    #[test]
    fn a_broken_answer_reaches_its_caller_and_noise_does_not() {
        let broken = message(br#"{"jsonrpc":"2.0","id":3,"result":{"content":[}}"#).unwrap();
        assert!(matches!(broken, ServerJsonRpcMessage::Error(error) if error.id == Some(RequestId::Number(3))));
        assert!(message(b"Server listening on stdio").is_none());
        assert!(message(b"{ \"level\": info }").is_none());
    }
}
