//! Which format a client is answered in. The nearest wish wins: the call's argument, the request's metadata, the session's
//! capability, the default.
//!
//! The one trick: a client may name its format as a bare string (`"experimental": {"output_format": "gcf"}`), which the SDK,
//! whose experimental capabilities are objects, would refuse together with the whole request. So it is spelled as an object
//! before the protocol reads the message.

use rmcp::service::{RequestContext, RoleServer};
use serde_json::{Map, Value, json};
use wire::Format;

/// The member of the capabilities, and of a request's metadata, that names a format.
const MEMBER: &str = "output_format";

/// Where a message may carry capabilities: a session's first message, or any message of the protocol without sessions.
const CAPABILITIES: [&str; 2] = [
    "/params/capabilities/experimental/output_format",
    "/params/_meta/io.modelcontextprotocol~1clientCapabilities/experimental/output_format",
];

/// The format of the answer to a call with these arguments.
pub fn output_format(arguments: &Map<String, Value>, context: &RequestContext<RoleServer>, default: Format) -> Format {
    let capability = context
        .client_capabilities()
        .and_then(|capabilities| capabilities.experimental)
        .and_then(|mut experimental| experimental.remove(MEMBER))
        .map(Value::Object);
    nearest(arguments, &context.meta.0.0, capability.as_ref(), default)
}

fn nearest(
    arguments: &Map<String, Value>,
    meta: &Map<String, Value>,
    capability: Option<&Value>,
    default: Format,
) -> Format {
    let wishes = [
        arguments.get("format"),
        meta.get(MEMBER),
        meta.get("lacon/output_format"),
        capability,
    ];
    wishes.into_iter().flatten().find_map(named).unwrap_or(default)
}

/// A format by its name, bare or as the member `format` of an object.
fn named(value: &Value) -> Option<Format> {
    match value {
        Value::String(name) => name.parse().ok(),
        Value::Object(members) => members.get("format")?.as_str()?.parse().ok(),
        _ => None,
    }
}

/// The message with `"output_format": "gcf"` written as `"output_format": {"format": "gcf"}`; `None` when there is nothing to
/// change. A message that does not speak of formats is not even parsed.
pub(crate) fn with_format_as_object(message: &[u8]) -> Option<Vec<u8>> {
    let speaks = message.windows(MEMBER.len()).any(|word| word == MEMBER.as_bytes());
    if !speaks {
        return None;
    }
    let mut message: Value = serde_json::from_slice(message).ok()?;
    let mut changed = false;
    for place in CAPABILITIES {
        if let Some(format) = message.pointer_mut(place)
            && let Some(name) = format.as_str()
        {
            *format = json!({ "format": name });
            changed = true;
        }
    }
    changed.then(|| serde_json::to_vec(&message).ok())?
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_wish_for_a_format_wins() {
        let arguments = |format: &str| Map::from_iter([("format".to_owned(), json!(format))]);
        let none = Map::new();
        let capability = json!({"format": "gcf"});
        assert_eq!(nearest(&none, &none, None, Format::Auto), Format::Auto);
        assert_eq!(nearest(&none, &none, Some(&capability), Format::Auto), Format::Gcf);
        let meta = Map::from_iter([(MEMBER.to_owned(), json!("gcx"))]);
        assert_eq!(nearest(&none, &meta, Some(&capability), Format::Auto), Format::Gcx);
        let asked = nearest(&arguments("json"), &meta, Some(&capability), Format::Auto);
        assert_eq!(asked, Format::Json);
        let nonsense = nearest(&arguments("nonsense"), &none, None, Format::Json);
        assert_eq!(nonsense, Format::Json);
    }

    #[test]
    fn only_a_bare_format_is_rewritten() {
        let capabilities = r#"{"experimental":{"output_format":"gcf"}}"#;
        for (text, place) in [
            (
                format!(r#"{{"id":1,"params":{{"capabilities":{capabilities}}}}}"#),
                CAPABILITIES[0],
            ),
            (
                format!(
                    r#"{{"id":1,"params":{{"_meta":{{"io.modelcontextprotocol/clientCapabilities":{capabilities}}}}}}}"#
                ),
                CAPABILITIES[1],
            ),
        ] {
            let text = with_format_as_object(text.as_bytes()).expect("it is rewritten");
            let message: Value = serde_json::from_slice(&text).expect("it is JSON");
            assert_eq!(message.pointer(place), Some(&json!({"format": "gcf"})));
            assert_eq!(with_format_as_object(&text), None);
        }
        assert_eq!(with_format_as_object(b"{}"), None);
        assert_eq!(with_format_as_object(br#"{"output_format": not JSON"#), None);
    }
}
