//! Reads JSON only when nothing is lost by it: no key twice in one object, and every number exact. Anything else stays
//! the text it was.

use serde_json::Value;

/// The object or array that `text` is, if it can be said again without loss.
pub(crate) fn parse(text: &str) -> Option<Value> {
    let trimmed = text.trim();
    let is_container = trimmed.starts_with(['{', '[']);
    is_container.then(|| wire::exact::from_json(trimmed).ok()).flatten()
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
