//! Who calls it, whom does it call, what is above and below it?

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};

use super::{Reader, SymbolKind, text};
use crate::connection::RequestError;
use crate::position::{Place, Range};
use crate::server::Server;
use crate::uri;

/// An item of a hierarchy; asked about again by giving it back.
#[derive(Clone, Debug, PartialEq)]
pub struct Hierarchy {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// The server's remark: a package or a signature.
    pub detail: String,
    /// Its file.
    pub path: PathBuf,
    /// All of it.
    pub range: Range,
    /// Its name.
    pub name_range: Range,
    /// As the server spelled it.
    item: Value,
}

/// One relation of a call hierarchy.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The other end.
    pub other: Hierarchy,
    /// Where the calls are: in the caller's file, whichever end that is.
    pub at: Vec<Range>,
}

impl Server {
    /// What stands at a place, as items of the call hierarchy.
    pub fn callable(&self, path: &Path, place: Place, deadline: Instant) -> Result<Vec<Hierarchy>, RequestError> {
        self.items("textDocument/prepareCallHierarchy", path, place, deadline)
    }

    /// Who calls an item.
    pub fn incoming(&self, of: &Hierarchy, deadline: Instant) -> Result<Vec<Call>, RequestError> {
        self.calls("callHierarchy/incomingCalls", "from", of, deadline)
    }

    /// Whom an item calls.
    pub fn outgoing(&self, of: &Hierarchy, deadline: Instant) -> Result<Vec<Call>, RequestError> {
        self.calls("callHierarchy/outgoingCalls", "to", of, deadline)
    }

    /// What stands at a place, as items of the type hierarchy.
    pub fn typed(&self, path: &Path, place: Place, deadline: Instant) -> Result<Vec<Hierarchy>, RequestError> {
        self.items("textDocument/prepareTypeHierarchy", path, place, deadline)
    }

    /// What a type extends or implements.
    pub fn supertypes(&self, of: &Hierarchy, deadline: Instant) -> Result<Vec<Hierarchy>, RequestError> {
        self.related("typeHierarchy/supertypes", of, deadline)
    }

    /// What extends or implements a type.
    pub fn subtypes(&self, of: &Hierarchy, deadline: Instant) -> Result<Vec<Hierarchy>, RequestError> {
        self.related("typeHierarchy/subtypes", of, deadline)
    }

    fn items(
        &self,
        method: &str,
        path: &Path,
        place: Place,
        deadline: Instant,
    ) -> Result<Vec<Hierarchy>, RequestError> {
        let text = text(self, path);
        let found = self.ask(method, |spelling| spelling.at(path, &text, place), deadline)?;
        Ok(read_items(&mut Reader::new(self), &found))
    }

    fn related(&self, method: &str, of: &Hierarchy, deadline: Instant) -> Result<Vec<Hierarchy>, RequestError> {
        let found = self.ask(method, |_| json!({"item": of.item}), deadline)?;
        Ok(read_items(&mut Reader::new(self), &found))
    }

    fn calls(&self, method: &str, end: &str, of: &Hierarchy, deadline: Instant) -> Result<Vec<Call>, RequestError> {
        let found = self.ask(method, |_| json!({"item": of.item}), deadline)?;
        let mut reader = Reader::new(self);
        let mut calls = Vec::new();
        for call in found.as_array().into_iter().flatten() {
            let Some(other) = read_item(&mut reader, &call[end]) else {
                continue;
            };
            let file = if end == "from" {
                other.path.clone()
            } else {
                of.path.clone()
            };
            let ranges = call["fromRanges"].as_array().into_iter().flatten();
            let mut at: Vec<Range> = ranges.filter_map(|range| reader.range(&file, range)).collect();
            at.sort();
            at.dedup();
            calls.push(Call { other, at });
        }
        calls.sort_by(|a, b| (&a.other.path, a.other.range).cmp(&(&b.other.path, b.other.range)));
        Ok(calls)
    }
}

fn read_items(reader: &mut Reader, found: &Value) -> Vec<Hierarchy> {
    let items = found.as_array().into_iter().flatten();
    let mut items: Vec<Hierarchy> = items.filter_map(|item| read_item(reader, item)).collect();
    items.sort_by(|a, b| (&a.path, a.range).cmp(&(&b.path, b.range)));
    items
}

fn read_item(reader: &mut Reader, item: &Value) -> Option<Hierarchy> {
    let path = uri::to_path(item["uri"].as_str()?)?;
    let range = reader.range(&path, &item["range"])?;
    Some(Hierarchy {
        name: item["name"].as_str()?.to_string(),
        kind: SymbolKind(item["kind"].as_u64().unwrap_or(0)),
        detail: item["detail"].as_str().unwrap_or_default().to_string(),
        range,
        name_range: reader.range(&path, &item["selectionRange"]).unwrap_or(range),
        path,
        item: item.clone(),
    })
}
