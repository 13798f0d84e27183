//! What became of an upstream call, in the shape an agent reads. The kind of failure decides the code; words are looked
//! at only when nothing else is known.

use rmcp::model::ErrorData;
use secrets::{Doubt, redact};

use crate::errors::{ErrorCode, Failure, GatewayError};
use crate::upstream::{CallFailure, faults};

/// The error for a failed call. Its text is masked like any other text of an upstream.
pub(crate) fn error(failure: CallFailure) -> GatewayError {
    match failure {
        CallFailure::Timeout(after) => {
            let seconds = after.as_secs_f64();
            GatewayError::upstream(
                Failure::Timeout,
                format!("no answer within {seconds:.1} s; the call was cancelled"),
            )
        }
        CallFailure::Unavailable { reason, retry_after } => {
            let error = GatewayError::upstream(Failure::Connection, redact(&reason, Doubt::Mask));
            match retry_after {
                Some(pause) => error.with_detail("retry_after", rounded(pause.as_secs_f64())),
                None => error,
            }
        }
        CallFailure::Cancelled => {
            let mut error = GatewayError::new(ErrorCode::UpstreamError, "the call was cancelled");
            error.retryable = false;
            error
        }
        CallFailure::Rpc(error) => rpc(&error),
        CallFailure::Http { status, retry_after } => {
            let error = GatewayError::upstream(Failure::Http(status), format!("the upstream answered HTTP {status}"));
            match retry_after.and_then(|value| value.trim().parse::<f64>().ok()) {
                Some(pause) => error.with_detail("retry_after", pause),
                None => error,
            }
        }
        CallFailure::Unauthorized(_) => GatewayError::upstream(
            Failure::Http(401),
            "the upstream asks for authorization; the operator must sign in with `lacon gateway login`",
        ),
        CallFailure::Forbidden(_) => {
            GatewayError::upstream(Failure::Http(403), "the upstream refuses: the token lacks a scope")
        }
        CallFailure::Transport(reason) => GatewayError::upstream(Failure::Text, redact(&reason, Doubt::Mask)),
    }
}

fn rpc(error: &ErrorData) -> GatewayError {
    if faults::of(error).is_some() {
        return GatewayError::new(ErrorCode::UpstreamError, &error.message);
    }
    let code = i64::from(error.code.0);
    GatewayError::upstream(Failure::JsonRpc(code), redact(&error.message, Doubt::Mask)).with_detail("code", code)
}

fn rounded(seconds: f64) -> f64 {
    (seconds * 100.0).round() / 100.0
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_kind_of_failure_decides_the_code() {
        let code = |failure| error(failure).code;
        assert_eq!(
            code(CallFailure::Timeout(Duration::from_secs(1))),
            ErrorCode::UpstreamTimeout
        );
        let gone = CallFailure::Unavailable {
            reason: "401 in its name".into(),
            retry_after: None,
        };
        assert_eq!(code(gone), ErrorCode::UpstreamUnavailable);
        assert_eq!(
            code(CallFailure::Http {
                status: 429,
                retry_after: None
            }),
            ErrorCode::RateLimited
        );
        assert_eq!(code(CallFailure::Unauthorized(String::new())), ErrorCode::AuthFailed);
        assert_eq!(code(CallFailure::Forbidden(String::new())), ErrorCode::PermissionDenied);
        let rpc = ErrorData::invalid_params("error 4012 rows", None);
        assert_eq!(code(CallFailure::Rpc(rpc)), ErrorCode::UpstreamError);
    }

    #[test]
    fn secrets_and_line_breaks_do_not_get_out() {
        let secret = format!("ghp_{}", "a1B2".repeat(9));
        let shown = error(CallFailure::Rpc(ErrorData::internal_error(
            format!("bad\ntoken {secret}"),
            None,
        )));
        assert_eq!(shown.message(), "bad token [redacted: github token]");
    }
}
