//! Passthrough: upstream tools keep their names and schemas, and are called directly. Only their results change: the same
//! facts in fewer tokens, without credentials.

use rmcp::model::{CallToolResponse, Tool};
use serde_json::Value;
use wire::Format;

use super::{Call, Refusal};
use crate::dispatch::Execution;
use crate::firewall::{Structured, Volume};
use crate::runtime::View;

pub(crate) fn list(view: &View) -> Vec<Tool> {
    let listed = view.names.listed().iter().filter_map(|(name, id)| {
        let tool = view.catalog.tool(id).ok()?;
        let mut definition = tool.spec.to_definition();
        if let Value::Object(fields) = &mut definition {
            fields.insert("name".into(), name.clone().into());
        }
        super::tool(definition)
    });
    listed.collect()
}

pub(crate) async fn call(call: &Call<'_>) -> Result<CallToolResponse, Refusal> {
    let id = call.view.names.id(call.name).ok_or(Refusal::NoSuchTool)?;
    let tool = call.view.catalog.tool(id)?;
    // A client that was shown an output schema is owed the value; one that asked for no format may be reading it.
    let structured = match (&tool.spec.output_schema, call.format) {
        (None, Format::Gcf | Format::Gcx | Format::Lcx | Format::Markdown | Format::Text) => Structured::Fold,
        _ => Structured::Keep,
    };
    let execution = Execution {
        view: &call.view,
        session: call.session,
        caller: call.caller,
    };
    let executed = execution.tool(id, Value::Object(call.arguments.clone()), false).await?;
    Ok(call.finish(executed, Volume::Whole, structured))
}
