//! A case of the benchmark, and cases read from a directory.

use std::path::Path;

use anyhow::{Context, anyhow};
use serde_json::Value;
use terminal::failure::{Explain, Failure};
use terminal::input;
use wire::layout::Layout;

/// One payload.
pub(crate) struct Case {
    pub(crate) name: String,
    pub(crate) tool: String,
    /// The layout that the tool has; without one the value decides.
    pub(crate) layout: Option<&'static Layout<'static>>,
    pub(crate) value: Value,
}

/// Every case of `directory`, in name order.
pub(crate) fn load(directory: &Path) -> Result<Vec<Case>, Failure> {
    let entries = std::fs::read_dir(directory)
        .with_context(|| format!("cannot read the cases in `{}`", directory.display()))
        .hint("name a directory with *.json or *.yaml files, or leave --cases out to measure the built-in cases")?;
    let mut paths = entries
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<Vec<_>, _>>()?;
    paths.sort();
    let mut cases = Vec::new();
    for path in paths {
        let extension = path
            .extension()
            .map(|extension| extension.to_string_lossy().into_owned());
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let (tool, input) = match extension.as_deref() {
            Some("json") => (name.clone(), input::read_file(&path)?),
            Some("yaml") => from_yaml(&input::read_file(&path)?)
                .ok_or_else(|| anyhow!("`{}`: expected `tool: NAME` and `input: |` with JSON", path.display()))
                .bad_input()?,
            _ => continue,
        };
        let value = serde_json::from_str(&input)
            .with_context(|| format!("`{}`", path.display()))
            .bad_input()?;
        cases.push(Case {
            name,
            tool,
            layout: None,
            value,
        });
    }
    if cases.is_empty() {
        return Err(anyhow!("no case in `{}`", directory.display()))
            .hint("cases are *.json files, or *.yaml files with `tool:` and `input: |`");
    }
    Ok(cases)
}

/// The fixtures' own subset of YAML: a `tool` line and a literal block of JSON.
fn from_yaml(text: &str) -> Option<(String, String)> {
    let (head, input) = text.split_once("\ninput: |\n")?;
    let tool = head.lines().find_map(|line| line.strip_prefix("tool: "))?;
    Some((tool.trim().to_owned(), input.to_owned()))
}
