//! Where is it used, defined, declared, implemented?

use std::path::Path;
use std::time::Instant;

use serde_json::Value;

use super::{Reader, text};
use crate::connection::RequestError;
use crate::position::{Location, Place};
use crate::server::{Server, Spelling};

/// Most times that one question is put to a server whose first answers may lack something.
const MOST_ASKED: usize = 5;

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
        let parameters = |spelling: &Spelling| {
            let mut parameters = spelling.at(path, &text, place);
            parameters["context"] = serde_json::json!({"includeDeclaration": with_declaration});
            parameters
        };
        let mut locations = self.settled("textDocument/references", parameters, deadline)?;
        let skipped = &self.inner.adapter.skipped_folders;
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
        self.settled(method, |spelling| spelling.at(path, &text, place), deadline)
    }

    /// The answer; of a server whose first one may lack something, the one that it gives twice.
    fn settled(
        &self,
        method: &str,
        parameters: impl Fn(&Spelling) -> Value,
        deadline: Instant,
    ) -> Result<Vec<Location>, RequestError> {
        let ask = || {
            let found = self.ask(method, &parameters, deadline)?;
            Ok(Reader::new(self).locations(&found))
        };
        let mut answer = ask()?;
        if self.inner.adapter.settles {
            for _ in 1..MOST_ASKED {
                let again = ask()?;
                if again == answer {
                    break;
                }
                answer = again;
            }
        }
        Ok(answer)
    }
}
