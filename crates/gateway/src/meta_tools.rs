//! The gateway's own tools as `tools/list` shows them. Every session pays for these words, so a test counts them.

use serde_json::{Value, json};

/// What to advertise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Surface {
    /// `tool_browse`, `tool_execute`, `tool_view`.
    Gateway,
    /// Beside the stripped upstream tools: `tool_hydrate`, `tool_execute`, `tool_view`.
    Proxy,
}

/// Definitions of the meta-tools, in the order they are listed.
pub fn meta_tools(surface: Surface, has_resources: bool, has_prompts: bool) -> Vec<Value> {
    let mut tools = match surface {
        Surface::Gateway => vec![tool_browse(), tool_execute(), tool_view()],
        Surface::Proxy => vec![tool_hydrate(), tool_execute(), tool_view()],
    };
    if has_resources {
        tools.push(browse("resource_browse", "Find resources by `query` or `path`."));
        tools.push(by_id("resource_read", "Read a resource.", "resource_id"));
    }
    if has_prompts {
        tools.push(browse("prompt_browse", "Find prompts by `query` or `path`."));
        tools.push(json!({
            "name": "prompt_get",
            "description": "Render a prompt.",
            "inputSchema": {
                "type": "object",
                "properties": {"prompt_id": {"type": "string"}, "args": {"type": "object"}},
                "required": ["prompt_id"],
            },
        }));
    }
    tools
}

fn tool_browse() -> Value {
    browse(
        "tool_browse",
        "Find tools by `query`, or list a `path`: / then /namespace.",
    )
}

fn tool_execute() -> Value {
    json!({
        "name": "tool_execute",
        "description": "Run a tool by the id tool_browse gave. Wrong args return the expected ones.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "tool_id": {"type": "string"},
                "args": {"type": "object"},
                "dry_run": {"type": "boolean"},
            },
            "required": ["tool_id"],
        },
    })
}

fn tool_view() -> Value {
    json!({
        "name": "tool_view",
        "description": "Read part of a stored result: head, tail, lines, grep, json_path, keys, rows or bytes.",
        "inputSchema": {
            "type": "object",
            "properties": {"handle": {"type": "string"}, "selector": {"type": "object"}},
            "required": ["handle"],
        },
    })
}

fn tool_hydrate() -> Value {
    by_id("tool_hydrate", "Get a tool's full schema.", "tool_id")
}

fn browse(name: &str, description: &str) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": {
            "type": "object",
            "properties": {"query": {"type": "string"}, "path": {"type": "string"}, "top_k": {"type": "integer"}},
        },
    })
}

fn by_id(name: &str, description: &str, id: &str) -> Value {
    json!({
        "name": name,
        "description": description,
        "inputSchema": {"type": "object", "properties": {id: {"type": "string"}}, "required": [id]},
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tokens;

    #[test]
    fn the_three_meta_tools_cost_at_most_two_hundred_tokens() {
        let listed = serde_json::to_string(&meta_tools(Surface::Gateway, false, false)).unwrap();
        let cost = tokens::count(&listed);
        assert!(cost <= 200, "{cost} tokens");
    }

    #[test]
    fn primitive_verbs_appear_only_when_there_are_any() {
        let names = |tools: Vec<Value>| {
            tools
                .iter()
                .map(|tool| tool["name"].as_str().unwrap().to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(
            names(meta_tools(Surface::Gateway, false, false)),
            ["tool_browse", "tool_execute", "tool_view"]
        );
        assert_eq!(names(meta_tools(Surface::Gateway, true, true)).len(), 7);
    }
}
