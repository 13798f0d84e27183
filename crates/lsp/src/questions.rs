//! What can be asked, one file per family of questions: each builds its request and reads the answer into plain data. Whatever
//! a server leaves out or spells oddly is skipped, never an error.

mod changes;
mod code;
mod diagnostics;
mod hierarchy;
mod places;
mod symbols;

use std::path::{Path, PathBuf};

use serde_json::Value;

pub use changes::Step;
pub use code::{CodeAction, Completion, Signature, Token};
pub use diagnostics::{Diagnostic, Severity};
pub use hierarchy::{Call, Hierarchy};
pub use symbols::{Outline, SymbolKind};

use crate::position::{Encoding, Location, Text, Texts};
use crate::server::Server;
use crate::uri;

/// Reads places out of answers.
pub(crate) struct Reader {
    texts: Texts,
    encoding: Encoding,
    root: PathBuf,
}

impl Reader {
    pub(crate) fn new(server: &Server) -> Reader {
        let encoding = server.inner.lock().capabilities.encoding;
        Reader {
            texts: server.texts(),
            encoding,
            root: server.root().to_path_buf(),
        }
    }

    pub(crate) fn range(&mut self, path: &Path, range: &Value) -> Option<crate::Range> {
        // Nothing outside of the project is read; there, columns stay as the server counts them.
        let encoding = if path.starts_with(&self.root) {
            self.encoding
        } else {
            Encoding::Utf8
        };
        self.texts.range(path, range, encoding)
    }

    /// `Location` and `LocationLink`.
    pub(crate) fn location(&mut self, value: &Value) -> Option<Location> {
        let (uri, range) = match value.get("targetUri") {
            Some(uri) => (uri, value.get("targetSelectionRange").or(value.get("targetRange"))?),
            None => (value.get("uri")?, value.get("range")?),
        };
        let path = uri::to_path(uri.as_str()?)?;
        let range = self.range(&path, range)?;
        Some(Location { path, range })
    }

    /// One or many of them, in order, each once.
    pub(crate) fn locations(&mut self, value: &Value) -> Vec<Location> {
        let mut found: Vec<Location> = match value {
            Value::Array(values) => values.iter().filter_map(|value| self.location(value)).collect(),
            Value::Null => Vec::new(),
            value => self.location(value).into_iter().collect(),
        };
        found.sort();
        found.dedup();
        found
    }
}

/// The text that a place in a document is spelled with.
fn text(server: &Server, path: &Path) -> Text {
    match server.document(path) {
        Some((text, _)) => text,
        None => Texts::default().of(path),
    }
}

/// Markup in any of the protocol's spellings, as text.
fn markup(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let parts: Vec<String> = parts.iter().map(markup).filter(|part| !part.is_empty()).collect();
            parts.join("\n\n")
        }
        Value::Object(members) => match (members.get("language"), members.get("value")) {
            (Some(Value::String(language)), Some(Value::String(code))) => format!("```{language}\n{code}\n```"),
            (_, Some(Value::String(text))) => text.clone(),
            _ => String::new(),
        },
        _ => String::new(),
    }
}
