//! Documents as an edit would make them, seen by the server and by nobody else.
//!
//! An overlay has the server alone: no question about the files as they are can be answered from its texts, and two overlays
//! cannot disturb each other. When it ends, however it ends, the server is told the texts on disk again, and is asked nothing before it
//! has taken note of them.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::Value;

use crate::connection::RequestError;
use crate::position::Text;
use crate::questions::Diagnostic;
use crate::server::{Inner, Server, Spelling};
use crate::turns::Turn;

/// A server whose documents may differ from the files.
pub struct Overlay<'a> {
    server: &'a Server,
    edited: Vec<PathBuf>,
    _turn: Turn<'a>,
}

impl Server {
    /// Waits until nobody else asks, and takes the server alone.
    pub fn overlay(&self, deadline: Instant) -> Result<Overlay<'_>, RequestError> {
        Ok(Overlay {
            server: self,
            edited: Vec::new(),
            _turn: self.turn_alone("overlay", deadline)?,
        })
    }
}

impl Overlay<'_> {
    /// The server's name, as in answers.
    pub fn name(&self) -> &str {
        self.server.name()
    }

    /// Gives a document another text. Its version grows, and diagnostics of the text before no longer count.
    pub fn set(&mut self, path: &Path, language: &str, text: &str) {
        let inner = &self.server.inner;
        let mut life = inner.lock();
        let identifier = inner.adapter.languages.get(language).map_or(language, String::as_str);
        let notices = life.documents.put(path, identifier, Text::new(text), true);
        Inner::tell(&life, notices);
        if !self.edited.iter().any(|edited| edited == path) {
            self.edited.push(path.to_path_buf());
        }
    }

    /// Opens a document as it is on disk, to see what the edits do to it.
    pub fn open(&self, path: &Path, language: &str) -> std::io::Result<()> {
        self.server.prepare(path, language)
    }

    /// Opens a document as it is on disk anew: what the server says of it from now on is of the edits in force, not
    /// remembered from before them.
    pub fn refresh(&mut self, path: &Path, language: &str) -> std::io::Result<()> {
        let text = crate::server::read(path)?;
        {
            let mut life = self.server.inner.lock();
            let notices = life.documents.close(path);
            Inner::tell(&life, notices);
        }
        self.set(path, language, text.as_str());
        Ok(())
    }

    /// What is wrong with a document, with all edits in force.
    pub fn diagnostics(&self, path: &Path, deadline: Instant) -> Result<Vec<Diagnostic>, RequestError> {
        self.server.diagnostics_in_turn(path, deadline)
    }

    /// Asks anything, with all edits in force.
    pub fn ask(
        &self,
        method: &str,
        parameters: impl Fn(&Spelling) -> Value,
        deadline: Instant,
    ) -> Result<Value, RequestError> {
        self.server.ask_in_turn(method, parameters, deadline)
    }

    /// The text of a document as the server has it, and its version.
    pub fn document(&self, path: &Path) -> Option<(Text, i64)> {
        self.server.document(path)
    }
}

impl Drop for Overlay<'_> {
    fn drop(&mut self) {
        let inner = &self.server.inner;
        let mut life = inner.lock();
        let pushes = !life.capabilities.supports("textDocument/diagnostic");
        // The edited ones first: what depends on them is judged by them.
        let (edited, dependent): (Vec<&PathBuf>, Vec<&PathBuf>) = self.edited.iter().partition(|path| {
            let on_disk = crate::server::read(path).ok();
            let given = life.documents.get(path).map(|document| document.text.as_str());
            on_disk.as_ref().map(Text::as_str) != given
        });
        for path in edited.into_iter().chain(dependent) {
            let notices = life.documents.restore(path, crate::server::read(path).ok(), pushes);
            Inner::tell(&life, notices);
        }
        let notices = life.documents.close_surplus(inner.config.documents.max(1));
        Inner::tell(&life, notices);
    }
}
