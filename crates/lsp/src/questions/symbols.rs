//! What does a file declare, and what in the project has this name?

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};

use super::Reader;
use crate::connection::RequestError;
use crate::position::Range;
use crate::server::Server;
use crate::uri;

/// A declared symbol.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// The server's remark: a signature or a type.
    pub detail: String,
    /// The symbols around it, dotted, if any.
    pub container: Option<String>,
    /// Whether it is a variable of a function's own.
    pub local: bool,
    /// How deep it is nested.
    pub depth: u32,
    /// Its file.
    pub path: PathBuf,
    /// All of it.
    pub range: Range,
    /// Its name.
    pub name_range: Range,
}

/// The protocol's kinds of symbols.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SymbolKind(pub u64);

impl SymbolKind {
    /// The kind in Lacon's words.
    pub fn word(self) -> &'static str {
        match self.0 {
            1 => "file",
            2..=4 => "module",
            5 | 10 | 23 => "type",
            6 | 9 => "method",
            7 | 8 => "field",
            11 => "interface",
            12 => "function",
            13 => "variable",
            14 => "constant",
            22 => "enum_member",
            26 => "type_parameter",
            _ => "symbol",
        }
    }
}

/// Deepest nesting that is followed.
const MAX_DEPTH: u32 = 64;

impl Server {
    /// What a file declares, in source order.
    pub fn outline(&self, path: &Path, deadline: Instant) -> Result<Vec<Outline>, RequestError> {
        let parameters = json!({"textDocument": {"uri": uri::of_path(path)}});
        let found = self.ask("textDocument/documentSymbol", |_| parameters.clone(), deadline)?;
        let mut reader = Reader::new(self);
        let mut outline = Vec::new();
        for symbol in found.as_array().into_iter().flatten() {
            collect(&mut reader, path, symbol, None, &mut outline);
        }
        outline.sort_by_key(|symbol: &Outline| (symbol.range.start, std::cmp::Reverse(symbol.range.end)));
        Ok(outline)
    }

    /// What in the project has a name like this.
    pub fn symbols(&self, query: &str, deadline: Instant) -> Result<Vec<Outline>, RequestError> {
        let found = self.ask("workspace/symbol", |_| json!({"query": query}), deadline)?;
        let mut reader = Reader::new(self);
        let mut symbols: Vec<Outline> = Vec::new();
        for symbol in found.as_array().into_iter().flatten() {
            let Some(path) = symbol["location"]["uri"].as_str().and_then(uri::to_path) else {
                continue;
            };
            collect(&mut reader, &path, symbol, None, &mut symbols);
        }
        symbols.sort_by(|a, b| (&a.path, a.range.start).cmp(&(&b.path, b.range.start)));
        Ok(symbols)
    }
}

/// `DocumentSymbol` with its children, or a flat `SymbolInformation`. `around` is the place of the parent among those collected.
fn collect(reader: &mut Reader, path: &Path, symbol: &Value, around: Option<usize>, into: &mut Vec<Outline>) {
    let range = symbol.get("range").or_else(|| symbol["location"].get("range"));
    let (Some(name), Some(range)) = (symbol["name"].as_str(), range) else {
        return;
    };
    let Some(range_read) = reader.range(path, range) else {
        return;
    };
    let name_range = symbol.get("selectionRange").and_then(|range| reader.range(path, range));
    let kind = SymbolKind(symbol["kind"].as_u64().unwrap_or(0));
    let parent = around.and_then(|parent| into.get(parent));
    let container = match parent {
        Some(parent) => Some(match &parent.container {
            Some(outer) => format!("{outer}.{}", parent.name),
            None => parent.name.clone(),
        }),
        None => symbol["containerName"]
            .as_str()
            .filter(|name| !name.is_empty())
            .map(str::to_string),
    };
    let in_function = parent.is_some_and(|parent| parent.local || matches!(parent.kind.word(), "function" | "method"));
    let depth = parent.map_or(0, |parent| parent.depth + 1);
    into.push(Outline {
        name: name.to_string(),
        kind,
        detail: symbol["detail"].as_str().unwrap_or_default().to_string(),
        container,
        local: in_function && matches!(kind.word(), "variable" | "constant"),
        depth,
        path: path.to_path_buf(),
        range: range_read,
        name_range: name_range.unwrap_or(range_read),
    });
    let own = into.len() - 1;
    if depth < MAX_DEPTH {
        for child in symbol["children"].as_array().into_iter().flatten() {
            collect(reader, path, child, Some(own), into);
        }
    }
}
