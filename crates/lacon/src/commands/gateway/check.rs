//! `lacon gateway check`: is the configuration valid, do the servers answer, what will an agent see and what does it cost?

use std::time::Duration;

use anyhow::anyhow;
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};
use gateway::Status;
use gateway::preview::{Preview, preview};
use gateway::runtime::{Gateway, UpstreamStatus};
use serde_json::json;
use server::tools::permissions::{ToolChoice, Writes};
use terminal::failure::Failure;
use terminal::output::Output;

use super::setup::{ConfigArgs, mount_code_tools, options, runtime};

/// Check the configuration, connect to every server, and print what an agent will see
#[derive(clap::Args)]
pub(crate) struct Args {
    #[command(flatten)]
    config: ConfigArgs,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let (path, config) = args.config.load()?;
    let mut options = options(&path)?;
    mount_code_tools(&config, &mut options, &ToolChoice::default(), Writes::Offered)?;
    let mode = config.mode;
    let (upstreams, preview) = runtime()?.block_on(async {
        let gateway = Gateway::start(config, options);
        // Each upstream has its own limit; this only guards against one that finds a way around it.
        let _ = tokio::time::timeout(Duration::from_secs(120), gateway.settled()).await;
        let seen = (gateway.status(), preview(&gateway));
        gateway.stop().await;
        seen
    });
    if args.json {
        let upstreams: Vec<_> = upstreams.iter().map(as_json).collect();
        output.json(&json!({"config": path, "mode": mode, "upstreams": upstreams, "preview": preview}))?;
    } else {
        output.line(format!(
            "{} is valid, mode {}\n",
            path.display(),
            json!(mode).as_str().unwrap_or_default()
        ));
        output.line(upstream_table(&upstreams));
        output.line(describe(&preview));
    }
    let down: Vec<&str> = upstreams
        .iter()
        .filter(|upstream| matches!(upstream.health.status, Status::Down { .. }))
        .map(|upstream| upstream.name.as_str())
        .collect();
    if down.is_empty() {
        return Ok(());
    }
    // The table is the answer even when it is bad news.
    output.finish()?;
    Err(anyhow!("down: {}", down.join(", ")).into())
}

fn upstream_table(upstreams: &[UpstreamStatus]) -> String {
    let mut table = Table::new();
    table
        .load_style(NOTHING)
        .set_header(["upstream", "state", "protocol", "tools", "resources", "prompts"]);
    for upstream in upstreams {
        table.add_row([
            upstream.name.clone(),
            state(&upstream.health.status),
            upstream.health.protocol.clone().unwrap_or_default(),
            upstream.tools.to_string(),
            upstream.resources.to_string(),
            upstream.prompts.to_string(),
        ]);
    }
    for column in 3..6 {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table.to_string()
}

fn state(status: &Status) -> String {
    match status {
        Status::Connecting => "still starting".into(),
        Status::Ready => "ready".into(),
        Status::Refusing => "failing".into(),
        Status::Down { reason } => format!("down: {reason}"),
        Status::Stopped => "stopped".into(),
    }
}

fn describe(preview: &Preview) -> String {
    let mut lines = vec![
        String::new(),
        format!(
            "an agent sees   {} tools in tools/list, {} tokens",
            preview.listed, preview.listed_tokens
        ),
        format!(
            "and reaches     {} tools, {} tokens with their schemas",
            preview.reachable, preview.direct_tokens
        ),
        format!(
            "                {} resources, {} prompts",
            preview.resources, preview.prompts
        ),
        format!("a browsed card  {:.1} tokens on average", preview.card_tokens),
    ];
    if !preview.problems.is_empty() {
        lines.push(String::new());
        lines.extend(preview.problems.iter().map(|problem| format!("note: {problem}")));
    }
    lines.join("\n")
}

fn as_json(upstream: &UpstreamStatus) -> serde_json::Value {
    json!({
        "name": upstream.name,
        "state": state(&upstream.health.status),
        "ready": upstream.health.status == Status::Ready,
        "protocol": upstream.health.protocol,
        "tools": upstream.tools,
        "resources": upstream.resources,
        "prompts": upstream.prompts,
        "required": upstream.required,
    })
}
