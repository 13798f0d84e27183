//! Where is it used, defined, declared, implemented?

use std::path::Path;
use std::time::Instant;

use super::{Reader, text};
use crate::connection::RequestError;
use crate::position::{Location, Place};
use crate::server::Server;

impl Server {
    /// Every mention of what stands at a place, in order.
    pub fn references(
        &self,
        path: &Path,
        place: Place,
        with_declaration: bool,
        deadline: Instant,
    ) -> Result<Vec<Location>, RequestError> {
        let text = text(self, path);
        let found = self.ask(
            "textDocument/references",
            |spelling| {
                let mut parameters = spelling.at(path, &text, place);
                parameters["context"] = serde_json::json!({"includeDeclaration": with_declaration});
                parameters
            },
            deadline,
        )?;
        let skipped = &self.inner.adapter.skipped_folders;
        let mut locations = Reader::new(self).locations(&found);
        locations.retain(|location| {
            let path = location.path.to_string_lossy();
            !skipped.iter().any(|part| path.contains(part.as_str()))
        });
        Ok(locations)
    }

    /// Where what stands at a place is defined.
    pub fn definition(&self, path: &Path, place: Place, deadline: Instant) -> Result<Vec<Location>, RequestError> {
        self.targets("textDocument/definition", path, place, deadline)
    }

    /// Where the type of what stands at a place is defined.
    pub fn type_definition(&self, path: &Path, place: Place, deadline: Instant) -> Result<Vec<Location>, RequestError> {
        self.targets("textDocument/typeDefinition", path, place, deadline)
    }

    /// What implements or overrides what stands at a place.
    pub fn implementation(&self, path: &Path, place: Place, deadline: Instant) -> Result<Vec<Location>, RequestError> {
        self.targets("textDocument/implementation", path, place, deadline)
    }

    fn targets(
        &self,
        method: &str,
        path: &Path,
        place: Place,
        deadline: Instant,
    ) -> Result<Vec<Location>, RequestError> {
        let text = text(self, path);
        let found = self.ask(method, |spelling| spelling.at(path, &text, place), deadline)?;
        Ok(Reader::new(self).locations(&found))
    }
}
