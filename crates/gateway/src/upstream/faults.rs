//! Errors Lacon makes up on behalf of an upstream whose answer could not be used, and how to tell them from its own.

use rmcp::model::{ErrorCode, ErrorData};
use serde_json::{Value, json};

const MARK: &str = "lacon/fault";

/// What was wrong with an answer that had to be dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    TooLong,
    NotJson,
}

pub(super) fn too_long(limit: usize) -> ErrorData {
    let limit = limit / (1024 * 1024);
    fault(
        Fault::TooLong,
        format!("the upstream's answer is over the limit of {limit} MiB and was dropped"),
    )
}

pub(super) fn not_json() -> ErrorData {
    fault(Fault::NotJson, "the upstream's answer is not valid JSON".to_owned())
}

/// The fault behind an error, when Lacon made it.
pub(crate) fn of(error: &ErrorData) -> Option<Fault> {
    match error.data.as_ref()?.get(MARK)?.as_str()? {
        "too_long" => Some(Fault::TooLong),
        "not_json" => Some(Fault::NotJson),
        _ => None,
    }
}

fn fault(fault: Fault, message: String) -> ErrorData {
    let name = match fault {
        Fault::TooLong => "too_long",
        Fault::NotJson => "not_json",
    };
    let data: Value = json!({ MARK: name });
    ErrorData::new(ErrorCode::INTERNAL_ERROR, message, Some(data))
}
