//! Changes that a server proposes: renames and formatting, as steps over files in the order they must be taken.

use std::path::{Path, PathBuf};
use std::time::Instant;

use serde_json::{Value, json};

use super::{Reader, text};
use crate::connection::RequestError;
use crate::position::{Place, Range};
use crate::server::Server;
use crate::uri;

/// One step of a change.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Replaces text of a file. Places are of the text before the step.
    Edit {
        /// Which file.
        path: PathBuf,
        /// What is replaced by what.
        edits: Vec<(Range, String)>,
    },
    /// Makes an empty file.
    Create(PathBuf),
    /// Gives a file another name.
    Rename {
        /// Its name so far.
        from: PathBuf,
        /// Its name from now on.
        to: PathBuf,
    },
    /// Takes a file away.
    Delete(PathBuf),
}

impl Server {
    /// Everything that giving another name to what stands at a place changes.
    pub fn rename(
        &self,
        path: &Path,
        place: Place,
        new_name: &str,
        deadline: Instant,
    ) -> Result<Vec<Step>, RequestError> {
        let document = text(self, path);
        let answer = self.ask(
            "textDocument/rename",
            |spelling| {
                let mut parameters = spelling.at(path, &document, place);
                parameters["newName"] = new_name.into();
                parameters
            },
            deadline,
        )?;
        Ok(self.read_steps(&answer))
    }

    /// The file as its formatter would have it.
    pub fn format(
        &self,
        path: &Path,
        tab_size: u32,
        insert_spaces: bool,
        deadline: Instant,
    ) -> Result<Vec<(Range, String)>, RequestError> {
        let parameters = json!({
            "textDocument": {"uri": uri::of_path(path)},
            "options": {"tabSize": tab_size, "insertSpaces": insert_spaces},
        });
        let answer = self.ask("textDocument/formatting", |_| parameters.clone(), deadline)?;
        Ok(read_edits(&mut Reader::new(self), path, &answer))
    }

    /// A workspace edit in either of the protocol's spellings.
    pub fn read_steps(&self, edit: &Value) -> Vec<Step> {
        let mut reader = Reader::new(self);
        let mut steps = Vec::new();
        let path_of = |value: &Value| value.as_str().and_then(uri::to_path);
        if let Some(changes) = edit["documentChanges"].as_array() {
            for change in changes {
                let step = match change["kind"].as_str() {
                    Some("create") => path_of(&change["uri"]).map(Step::Create),
                    Some("delete") => path_of(&change["uri"]).map(Step::Delete),
                    Some("rename") => path_of(&change["oldUri"])
                        .zip(path_of(&change["newUri"]))
                        .map(|(from, to)| Step::Rename { from, to }),
                    _ => path_of(&change["textDocument"]["uri"]).map(|path| Step::Edit {
                        edits: read_edits(&mut reader, &path, &change["edits"]),
                        path,
                    }),
                };
                steps.extend(step);
            }
            return steps;
        }
        for (uri, edits) in edit["changes"].as_object().into_iter().flatten() {
            if let Some(path) = uri::to_path(uri) {
                let edits = read_edits(&mut reader, &path, edits);
                steps.push(Step::Edit { path, edits });
            }
        }
        steps
    }
}

fn read_edits(reader: &mut Reader, path: &Path, edits: &Value) -> Vec<(Range, String)> {
    let edits = edits.as_array().into_iter().flatten();
    edits
        .filter_map(|edit| {
            Some((
                reader.range(path, &edit["range"])?,
                edit["newText"].as_str()?.to_string(),
            ))
        })
        .collect()
}
