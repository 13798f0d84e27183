//! An MCP bundle: the binary with a form for what it needs to know, for clients that install servers by a click.

use std::path::Path;

use anyhow::Result;
use serde_json::json;

use super::payload::{Entry, Payload};
use super::{LICENCE, Release, SUMMARY, archive, put};

pub(crate) fn write(release: &Release, payload: &Payload, out: &Path) -> Result<()> {
    let program = format!("server/{}", payload.platform.program());
    let mut manifest = json!({
        "manifest_version": "0.3",
        "name": "lacon",
        "display_name": "Lacon",
        "version": release.version,
        "description": SUMMARY,
        "long_description": "Lacon indexes folders of source code and answers questions about them: who calls a function, what a change may \
            break, where a symbol is defined and used. It keeps its index up to date while files change, and connects to nothing.",
        "author": {"name": "The Lacon authors"},
        "license": LICENCE,
        "keywords": ["code-graph", "code-search", "coding-agent"],
        "server": {
            "type": "binary",
            "entry_point": program,
            "mcp_config": {
                "command": format!("${{__dirname}}/{program}"),
                "args": ["mcp", "--toolset", "${user_config.toolset}", "${user_config.folders}"],
                "env": {},
            },
        },
        "tools_generated": true,
        "compatibility": {"platforms": [payload.platform.npm_os]},
        "user_config": {
            "folders": {
                "type": "directory",
                "title": "Folders",
                "description": "The repositories to answer questions about. Their indexes are kept in .lacon inside each of them.",
                "multiple": true,
                "required": true,
            },
            "toolset": {
                "type": "string",
                "title": "Tools",
                "description": "Which tools to list: core, graph, edit, search, lsp or all, or several separated by commas.",
                "default": "core",
                "required": false,
            },
        },
    });
    if let Some(repository) = &release.repository {
        manifest["repository"] = json!({"type": "git", "url": repository});
    }
    let mut entries = vec![
        Entry::text(
            "manifest.json",
            format!("{}\n", serde_json::to_string_pretty(&manifest)?),
        ),
        payload.program("server/"),
    ];
    entries.extend(payload.terms.iter().cloned());
    put(
        out,
        &payload.platform.bundle(&release.version),
        &archive::zip(&entries)?,
    )
}
