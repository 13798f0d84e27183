//! This process's standard input and output as a client's connection.
//!
//! The one trick: the first line is read before the protocol begins. A client may name its output format there as a bare string
//! (`"experimental": {"output_format": "gcf"}`), which the SDK, whose experimental capabilities are objects, would refuse
//! together with the whole session.

use std::io::Cursor;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, BufReader, Stdout};
use tokio_util::sync::CancellationToken;

/// Longest first line that is looked into; a longer one is passed on as it is.
const MAX_FIRST_LINE: u64 = 1 << 20;

/// Waits for the client's first line. `None` when it left, or `shutdown` came, before it said anything.
pub async fn connection(shutdown: &CancellationToken) -> Option<(impl AsyncRead + Send + Unpin + 'static, Stdout)> {
    let mut input = BufReader::new(tokio::io::stdin());
    let mut first = Vec::new();
    let read = async { (&mut input).take(MAX_FIRST_LINE).read_until(b'\n', &mut first).await };
    let count = tokio::select! {
        count = read => count.ok()?,
        () = shutdown.cancelled() => return None,
    };
    if count == 0 {
        return None;
    }
    if let Some(spelled) = with_format_as_object(&first) {
        first = spelled;
    }
    Some((Cursor::new(first).chain(input), tokio::io::stdout()))
}

/// The message with `"output_format": "gcf"` written as `"output_format": {"format": "gcf"}`; `None` when there is nothing to change.
fn with_format_as_object(line: &[u8]) -> Option<Vec<u8>> {
    let mut message: Value = serde_json::from_slice(line).ok()?;
    let format = message.pointer_mut("/params/capabilities/experimental/output_format")?;
    let name = format.as_str()?.to_owned();
    *format = json!({ "format": name });
    let mut text = serde_json::to_vec(&message).ok()?;
    text.push(b'\n');
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_bare_format_is_rewritten() {
        let bare = br#"{"id":1,"params":{"capabilities":{"experimental":{"output_format":"gcf"}}}}"#;
        let text = with_format_as_object(bare).expect("it is rewritten");
        let message: Value = serde_json::from_slice(&text).expect("it is JSON");
        let format = &message["params"]["capabilities"]["experimental"]["output_format"];
        assert_eq!(format, &json!({"format": "gcf"}));
        assert_eq!(with_format_as_object(&text), None);
        assert_eq!(with_format_as_object(b"{}"), None);
        assert_eq!(with_format_as_object(b"not JSON"), None);
    }
}
