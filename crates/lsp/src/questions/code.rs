//! What is this, what could stand here, and how could it be fixed?

use std::path::Path;
use std::time::Instant;

use serde_json::{Value, json};

use super::{Diagnostic, markup, text};
use crate::connection::RequestError;
use crate::position::{Place, Range};
use crate::server::Server;
use crate::uri;

/// One way to call something.
#[derive(Clone, Debug, PartialEq)]
pub struct Signature {
    /// As written.
    pub label: String,
    /// What it does.
    pub documentation: String,
    /// Its parameters as written.
    pub parameters: Vec<String>,
    /// Which parameter the place is in, counted from 0, if this is the signature that fits.
    pub active: Option<usize>,
}

/// What could be written at a place.
#[derive(Clone, Debug, PartialEq)]
pub struct Completion {
    /// What is shown.
    pub label: String,
    /// The protocol's number for its kind.
    pub kind: u64,
    /// Its type or origin.
    pub detail: String,
    /// What is inserted.
    pub insert: String,
}

impl Completion {
    /// Its kind in a word.
    pub fn word(&self) -> &'static str {
        const WORDS: [&str; 26] = [
            "text",
            "text",
            "method",
            "function",
            "method",
            "field",
            "variable",
            "type",
            "interface",
            "module",
            "field",
            "unit",
            "value",
            "type",
            "keyword",
            "snippet",
            "color",
            "file",
            "reference",
            "folder",
            "enum_member",
            "constant",
            "type",
            "event",
            "operator",
            "type_parameter",
        ];
        WORDS.get(self.kind as usize).copied().unwrap_or("text")
    }
}

/// A classified stretch of text.
#[derive(Clone, Debug, PartialEq)]
pub struct Token {
    /// Where it begins.
    pub start: Place,
    /// Its length in bytes.
    pub length: u32,
    /// What it is.
    pub kind: String,
    /// More about it.
    pub modifiers: Vec<String>,
}

/// A fix or a refactoring that the server offers.
#[derive(Clone, Debug, PartialEq)]
pub struct CodeAction {
    /// What it does.
    pub title: String,
    /// `quickfix`, `refactor.extract`, …
    pub kind: String,
    /// The server thinks it is the one.
    pub preferred: bool,
    /// Messages of the findings it fixes.
    pub fixes: Vec<String>,
    /// As the server spelled it: its `edit`, or what it takes to resolve it.
    pub raw: Value,
}

impl Server {
    /// What the server says of what stands at a place, as Markdown.
    pub fn hover(&self, path: &Path, place: Place, deadline: Instant) -> Result<Option<String>, RequestError> {
        let text = text(self, path);
        let found = self.ask(
            "textDocument/hover",
            |spelling| spelling.at(path, &text, place),
            deadline,
        )?;
        let words = markup(&found["contents"]);
        Ok((!words.trim().is_empty()).then(|| words.trim().to_string()))
    }

    /// The ways to call what is being called at a place.
    pub fn signatures(&self, path: &Path, place: Place, deadline: Instant) -> Result<Vec<Signature>, RequestError> {
        let text = text(self, path);
        let found = self.ask(
            "textDocument/signatureHelp",
            |spelling| spelling.at(path, &text, place),
            deadline,
        )?;
        let active = found["activeSignature"].as_u64().unwrap_or(0);
        let signatures = found["signatures"].as_array().into_iter().flatten().enumerate();
        let read = |(number, signature): (usize, &Value)| {
            let label = signature["label"].as_str()?.to_string();
            let parameters = signature["parameters"].as_array().into_iter().flatten();
            let parameters = parameters
                .filter_map(|parameter| parameter_label(&label, &parameter["label"]))
                .collect();
            let parameter = signature["activeParameter"]
                .as_u64()
                .or(found["activeParameter"].as_u64());
            Some(Signature {
                documentation: markup(&signature["documentation"]),
                parameters,
                active: (number as u64 == active).then_some(parameter.unwrap_or(0) as usize),
                label,
            })
        };
        Ok(signatures.filter_map(read).collect())
    }

    /// What could be written at a place, best first; and whether the server has more.
    pub fn completions(
        &self,
        path: &Path,
        place: Place,
        deadline: Instant,
    ) -> Result<(Vec<Completion>, bool), RequestError> {
        let text = text(self, path);
        let found = self.ask(
            "textDocument/completion",
            |spelling| spelling.at(path, &text, place),
            deadline,
        )?;
        let items = match &found {
            Value::Array(items) => items.as_slice(),
            other => other["items"].as_array().map_or(&[][..], Vec::as_slice),
        };
        let mut completions: Vec<(String, Completion)> = items
            .iter()
            .filter_map(|item| {
                let label = item["label"].as_str()?.to_string();
                let order = item["sortText"].as_str().unwrap_or(&label).to_string();
                let insert = item["textEdit"]["newText"].as_str().or(item["insertText"].as_str());
                Some((
                    order,
                    Completion {
                        kind: item["kind"].as_u64().unwrap_or(1),
                        detail: item["detail"].as_str().unwrap_or_default().to_string(),
                        insert: insert.unwrap_or(&label).to_string(),
                        label,
                    },
                ))
            })
            .collect();
        completions.sort_by(|a, b| (&a.0, &a.1.label).cmp(&(&b.0, &b.1.label)));
        let more = found["isIncomplete"].as_bool().unwrap_or(false);
        Ok((
            completions.into_iter().map(|(_, completion)| completion).collect(),
            more,
        ))
    }

    /// Every classified word of a file.
    pub fn tokens(&self, path: &Path, deadline: Instant) -> Result<Vec<Token>, RequestError> {
        let text = text(self, path);
        let parameters = json!({"textDocument": {"uri": uri::of_path(path)}});
        let found = self.ask("textDocument/semanticTokens/full", |_| parameters.clone(), deadline)?;
        let (legend, encoding) = {
            let life = self.inner.lock();
            (
                life.capabilities.get("semanticTokensProvider")["legend"].clone(),
                life.capabilities.encoding,
            )
        };
        let word = |list: &str, index: u64| legend[list][index as usize].as_str().unwrap_or_default().to_string();
        let numbers: Vec<u64> = found["data"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_u64)
            .collect();
        let (mut line, mut column) = (1u32, 0u32);
        let mut tokens = Vec::with_capacity(numbers.len() / 5);
        for chunk in numbers.chunks_exact(5) {
            let [down, along, length, kind, modifiers] = [chunk[0], chunk[1], chunk[2], chunk[3], chunk[4]];
            if down > 0 {
                line = line.saturating_add(down as u32);
                column = 0;
            }
            column = column.saturating_add(along as u32);
            let written = text.line(line);
            let start = encoding.to_bytes(written, column);
            let end = encoding.to_bytes(written, column.saturating_add(length as u32));
            let set = (0..32).filter(|bit| modifiers >> bit & 1 == 1);
            tokens.push(Token {
                start: Place { line, column: start },
                length: end - start,
                kind: word("tokenTypes", kind),
                modifiers: set
                    .map(|bit| word("tokenModifiers", bit))
                    .filter(|word| !word.is_empty())
                    .collect(),
            });
        }
        Ok(tokens)
    }

    /// Fixes and refactorings for a range, given the findings there.
    pub fn code_actions(
        &self,
        path: &Path,
        range: Range,
        findings: &[Diagnostic],
        deadline: Instant,
    ) -> Result<Vec<CodeAction>, RequestError> {
        let text = text(self, path);
        let raw: Vec<&Value> = findings.iter().map(|finding| &finding.raw).collect();
        let found = self.ask(
            "textDocument/codeAction",
            |spelling| {
                json!({
                    "textDocument": {"uri": uri::of_path(path)},
                    "range": {
                        "start": text.spell(range.start, spelling.encoding),
                        "end": text.spell(range.end, spelling.encoding),
                    },
                    "context": {"diagnostics": raw, "triggerKind": 1},
                })
            },
            deadline,
        )?;
        let actions = found.as_array().into_iter().flatten();
        let read = |action: &Value| {
            let fixes = action["diagnostics"].as_array().into_iter().flatten();
            Some(CodeAction {
                title: action["title"].as_str()?.to_string(),
                kind: action["kind"].as_str().unwrap_or("command").to_string(),
                preferred: action["isPreferred"].as_bool().unwrap_or(false),
                fixes: fixes
                    .filter_map(|fixed| fixed["message"].as_str().map(str::to_string))
                    .collect(),
                raw: action.clone(),
            })
        };
        Ok(actions.filter_map(read).collect())
    }

    /// Reads diagnostics that stand in a range.
    pub fn findings_in(&self, path: &Path, range: Range, deadline: Instant) -> Result<Vec<Diagnostic>, RequestError> {
        let mut findings = self.diagnostics(path, deadline)?;
        findings.retain(|finding| finding.range.start <= range.end && range.start <= finding.range.end);
        Ok(findings)
    }

    /// The workspace edit of an action, asked for where the server did not send it along.
    pub fn resolve(&self, action: &CodeAction, deadline: Instant) -> Result<Value, RequestError> {
        if let Some(edit) = action.raw.get("edit") {
            return Ok(edit.clone());
        }
        let resolved = self.ask("codeAction/resolve", |_| action.raw.clone(), deadline)?;
        Ok(resolved["edit"].clone())
    }
}

/// A parameter is a text, or a stretch of the signature in UTF-16 units.
fn parameter_label(signature: &str, label: &Value) -> Option<String> {
    if let Some(text) = label.as_str() {
        return Some(text.to_string());
    }
    let units: Vec<u16> = signature.encode_utf16().collect();
    let (start, end) = (label[0].as_u64()? as usize, label[1].as_u64()? as usize);
    units.get(start..end).map(String::from_utf16_lossy)
}
