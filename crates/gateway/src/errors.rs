//! Errors in the one shape an agent sees: a code to branch on, one clean line, and whether trying again can help.
//!
//! An upstream's failure is classified by what happened (a timeout, a status, a JSON-RPC code); its text is
//! looked at only when nothing better exists.

use std::fmt;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Longest `message` that reaches a model, in characters.
pub const MESSAGE_LIMIT: usize = 256;

/// What went wrong, as a client reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorCode {
    PathInvalid,
    PathNotFound,
    ArgsInvalid,
    SchemaInvalid,
    UpstreamError,
    UpstreamTimeout,
    UpstreamUnavailable,
    AuthFailed,
    PermissionDenied,
    RateLimited,
    HydrateFailed,
    ViewFailed,
    ResourceNotFound,
    PromptNotFound,
}

impl ErrorCode {
    pub const ALL: [ErrorCode; 14] = [
        ErrorCode::PathInvalid,
        ErrorCode::PathNotFound,
        ErrorCode::ArgsInvalid,
        ErrorCode::SchemaInvalid,
        ErrorCode::UpstreamError,
        ErrorCode::UpstreamTimeout,
        ErrorCode::UpstreamUnavailable,
        ErrorCode::AuthFailed,
        ErrorCode::PermissionDenied,
        ErrorCode::RateLimited,
        ErrorCode::HydrateFailed,
        ErrorCode::ViewFailed,
        ErrorCode::ResourceNotFound,
        ErrorCode::PromptNotFound,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            ErrorCode::PathInvalid => "PATH_INVALID",
            ErrorCode::PathNotFound => "PATH_NOT_FOUND",
            ErrorCode::ArgsInvalid => "ARGS_INVALID",
            ErrorCode::SchemaInvalid => "SCHEMA_INVALID",
            ErrorCode::UpstreamError => "UPSTREAM_ERROR",
            ErrorCode::UpstreamTimeout => "UPSTREAM_TIMEOUT",
            ErrorCode::UpstreamUnavailable => "UPSTREAM_UNAVAILABLE",
            ErrorCode::AuthFailed => "AUTH_FAILED",
            ErrorCode::PermissionDenied => "PERMISSION_DENIED",
            ErrorCode::RateLimited => "RATE_LIMITED",
            ErrorCode::HydrateFailed => "HYDRATE_FAILED",
            ErrorCode::ViewFailed => "VIEW_FAILED",
            ErrorCode::ResourceNotFound => "RESOURCE_NOT_FOUND",
            ErrorCode::PromptNotFound => "PROMPT_NOT_FOUND",
        }
    }

    /// Whether the same call may succeed when tried again.
    pub fn retryable(self) -> bool {
        matches!(
            self,
            ErrorCode::UpstreamTimeout | ErrorCode::UpstreamUnavailable | ErrorCode::RateLimited
        )
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// An error as it leaves the gateway. `message` is always one redacted line: the constructors see to it.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[error("{code}: {message}")]
pub struct GatewayError {
    pub code: ErrorCode,
    message: String,
    /// The offending path, or empty.
    pub path: Box<str>,
    pub retryable: bool,
    /// Left out of the answer when empty.
    pub details: Map<String, Value>,
}

impl GatewayError {
    pub fn new(code: ErrorCode, message: impl AsRef<str>) -> GatewayError {
        GatewayError {
            code,
            message: redact_detail(message.as_ref(), MESSAGE_LIMIT),
            path: Box::default(),
            retryable: code.retryable(),
            details: Map::new(),
        }
    }

    /// The error for a failed upstream call.
    pub fn upstream(failure: Failure, message: impl AsRef<str>) -> GatewayError {
        let message = message.as_ref();
        GatewayError::new(classify(failure, message), message)
    }

    /// An unknown tool id. A denied tool uses this too, so that a caller cannot probe for hidden ones.
    pub fn unknown_tool(tool_id: &str) -> GatewayError {
        GatewayError::new(
            ErrorCode::HydrateFailed,
            format!("no tool `{tool_id}`; use tool_browse to find one"),
        )
    }

    pub fn with_path(mut self, path: impl Into<String>) -> GatewayError {
        self.path = path.into().into_boxed_str();
        self
    }

    pub fn with_detail(mut self, key: &str, value: impl Into<Value>) -> GatewayError {
        self.details.insert(key.to_owned(), value.into());
        self
    }

    pub fn message(&self) -> &str {
        &self.message
    }

    /// The §3.4 object.
    pub fn to_json(&self) -> Value {
        let mut fields = Map::new();
        fields.insert("error".into(), self.code.as_str().into());
        fields.insert("message".into(), self.message.clone().into());
        fields.insert("path".into(), self.path.as_ref().into());
        fields.insert("retryable".into(), self.retryable.into());
        if !self.details.is_empty() {
            fields.insert("details".into(), Value::Object(self.details.clone()));
        }
        Value::Object(fields)
    }
}

/// What is known about an upstream's failure besides its text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Failure {
    /// No answer within the time allowed.
    Timeout,
    /// The connection could not be made, or broke; the child process ended.
    Connection,
    /// An HTTP status other than success.
    Http(u16),
    /// A JSON-RPC error code.
    JsonRpc(i64),
    /// Only the text is known.
    Text,
}

/// Chooses the code for a failed upstream call.
pub fn classify(failure: Failure, message: &str) -> ErrorCode {
    match failure {
        Failure::Timeout | Failure::Http(408 | 504) => ErrorCode::UpstreamTimeout,
        Failure::Connection | Failure::Http(502 | 503) => ErrorCode::UpstreamUnavailable,
        Failure::Http(401) => ErrorCode::AuthFailed,
        Failure::Http(403) => ErrorCode::PermissionDenied,
        Failure::Http(429) => ErrorCode::RateLimited,
        Failure::Http(_) => ErrorCode::UpstreamError,
        Failure::JsonRpc(_) | Failure::Text => classify_text(message),
    }
}

/// The last resort: words, in a fixed order. Numbers must stand alone, so that "error 4012" is not a 401.
fn classify_text(message: &str) -> ErrorCode {
    const RULES: [(ErrorCode, &[&str], &[&str]); 4] = [
        (
            ErrorCode::AuthFailed,
            &["unauthorized", "authentication", "invalid api key"],
            &["401"],
        ),
        (
            ErrorCode::PermissionDenied,
            &["forbidden", "permission denied", "access denied"],
            &["403"],
        ),
        (ErrorCode::RateLimited, &["rate limit", "too many requests"], &["429"]),
        (ErrorCode::UpstreamTimeout, &["timed out", "timeout"], &[]),
    ];
    let text = message.to_lowercase();
    RULES
        .iter()
        .find(|(_, phrases, numbers)| {
            phrases.iter().any(|phrase| text.contains(phrase))
                || numbers
                    .iter()
                    .any(|number| text.split(|c: char| !c.is_alphanumeric()).any(|word| word == *number))
        })
        .map_or(ErrorCode::UpstreamError, |(code, ..)| *code)
}

/// One line without control characters, at most `limit` characters: what of an upstream's text may reach a model.
pub fn redact_detail(text: &str, limit: usize) -> String {
    let mut line = String::with_capacity(text.len().min(limit * 4));
    for word in text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
    {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
        // Long enough to know that it must be cut: a flood is not copied whole.
        if line.len() > limit * 4 {
            break;
        }
    }
    if line.chars().count() > limit {
        let keep = limit.saturating_sub(1);
        let end = line.char_indices().nth(keep).map_or(line.len(), |(offset, _)| offset);
        line.truncate(end);
        line.truncate(line.trim_end().len());
        line.push('…');
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_spelled_the_same_by_serde_and_by_hand() {
        for code in ErrorCode::ALL {
            assert_eq!(serde_json::to_value(code).unwrap(), Value::from(code.as_str()));
        }
    }

    #[test]
    fn a_status_decides_before_any_word() {
        assert_eq!(
            classify(Failure::Http(503), "authentication service is down"),
            ErrorCode::UpstreamUnavailable
        );
        assert_eq!(classify(Failure::Timeout, "401"), ErrorCode::UpstreamTimeout);
        assert_eq!(
            classify(Failure::Http(500), "rate limit table missing"),
            ErrorCode::UpstreamError
        );
    }

    #[test]
    fn a_number_inside_a_longer_one_is_not_a_status() {
        assert_eq!(classify(Failure::Text, "error 4012 rows"), ErrorCode::UpstreamError);
        assert_eq!(classify(Failure::Text, "status 401: no"), ErrorCode::AuthFailed);
    }

    #[test]
    fn details_are_left_out_when_empty() {
        let error = GatewayError::new(ErrorCode::PathInvalid, "bad\npath").with_path("//x");
        assert_eq!(
            error.to_json().to_string(),
            r#"{"error":"PATH_INVALID","message":"bad path","path":"//x","retryable":false}"#
        );
    }
}
