//! Credentials in the code that answers show: masked in the answer's value, before any format is made of it, so that every format says
//! the same. What is written must not hold a mask in the place of what it stands for.

use std::borrow::Cow;

use secrets::{Doubt, mask_in, redact, redact_value};
use serde_json::{Map, Value};
use wire::answers::ContextPack;
use wire::protocol::Refusal;

use super::{Credentials, Desk, Tool, Toolset, refusal};

/// Masks what an answer shows. Whether there was anything to mask; `json` is the answer as JSON, which tells at once that there is not.
pub(super) fn mask_value(desk: &Desk, value: &mut Value, json: &str) -> bool {
    desk.services.credentials == Credentials::Masked && secrets::may_hold(json) && redact_value(value, Doubt::Show)
}

/// The same for a pack, which is made into texts before it is a value.
pub(super) fn masked_pack<'a>(desk: &Desk, pack: &'a ContextPack) -> Cow<'a, ContextPack> {
    let mut masked = Cow::Borrowed(pack);
    if desk.services.credentials == Credentials::Shown {
        return masked;
    }
    for (at, source) in pack.sources.iter().enumerate() {
        if let Cow::Owned(text) = redact(&source.text, Doubt::Show) {
            masked.to_mut().sources[at].text = text;
        }
    }
    for (at, reason) in pack.reasons.iter().enumerate() {
        if let Cow::Owned(text) = redact(&reason.reason, Doubt::Show) {
            masked.to_mut().reasons[at].reason = text;
        }
    }
    masked
}

/// Refuses an edit that would write a mask: whoever sends it has seen the mask and not the text.
pub(super) fn refuse_masks(tool: &Tool, desk: &Desk, arguments: &Map<String, Value>) -> Result<(), Refusal> {
    if tool.toolset != Toolset::Edit || desk.services.credentials == Credentials::Shown {
        return Ok(());
    }
    match arguments.values().find_map(mask_in_value) {
        None => Ok(()),
        Some(mask) => Err(refusal(
            "masked_text",
            format!(
                "`{mask}` stands for a credential that was not shown, and would be written in its place: edit the text around it, or \
                 start the server with --show-secrets"
            ),
        )),
    }
}

fn mask_in_value(value: &Value) -> Option<&str> {
    match value {
        Value::String(text) => mask_in(text),
        Value::Array(items) => items.iter().find_map(mask_in_value),
        Value::Object(fields) => fields.values().find_map(mask_in_value),
        _ => None,
    }
}
