//! What this process has written and the index has not seen yet: the next question waits for it, so that Lacon answers from the
//! text it has just made. And what a crash had left, said once to whoever asks first.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use codeintel::Workspace;
use lsp::edits::{EditError, Journal, Plan, Recovered};
use wire::protocol::Refusal;

use super::{Workbench, journal_directory};
use crate::tools::trees::{Trees, Unattended};

/// The index has so long to follow a write; after that questions are answered from what there is.
const PATIENCE: Duration = Duration::from_secs(2);
/// How often it is looked at meanwhile.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// A file that was written.
pub(super) struct Written {
    root: PathBuf,
    path: String,
    before: Option<[u8; 32]>,
    is_there: bool,
    at: Instant,
}

impl Workbench {
    /// Notes what a plan has just written.
    pub(super) fn note_written(&self, plan: &Plan) {
        let at = Instant::now();
        let written = plan.files().filter_map(|(path, change)| {
            let text = change.after.as_deref().or(change.before.as_deref()).unwrap_or_default();
            // What no grammar claims never comes into the index.
            syntax::languages::detect(path, &text[..text.len().min(8192)])?;
            Some(Written {
                root: plan.root().to_owned(),
                path: path.to_owned(),
                before: change.hash_before(),
                is_there: change.after.is_some(),
                at,
            })
        });
        lock(&self.written).extend(written);
    }

    /// The newest snapshots, once they have what changed, and what this process wrote in any case.
    pub(crate) fn workspace(&self, trees: &Trees, patience: Duration) -> Result<Arc<Workspace>, Refusal> {
        trees.fresh_workspace(patience, Unattended::Told)?;
        loop {
            let workspace = trees.workspace()?;
            let mut written = lock(&self.written);
            written.retain(|written| written.at.elapsed() < PATIENCE && !written.is_in(&workspace));
            if written.is_empty() || !trees.are_kept() {
                written.clear();
                return Ok(workspace);
            }
            drop(written);
            std::thread::sleep(LOOK_AGAIN);
        }
    }
}

impl Written {
    /// Whether the index has moved on from the text before it: somebody may have written the file again since.
    fn is_in(&self, workspace: &Workspace) -> bool {
        let mut repositories = workspace.repositories().iter();
        let Some(repository) = repositories.find(|repository| repository.root == self.root) else {
            return true;
        };
        match repository.snapshot.find_file(&self.path) {
            Some(file) => self.is_there && Some(*file.hash()) != self.before,
            // What was there and is not known is left out of the index: it will not come.
            None => !self.is_there || self.before.is_some(),
        }
    }
}

/// What was put right and nobody was told yet. Of the process, as the recovery is: trees are opened before there is anything that
/// belongs to one server.
static NOTICES: Mutex<Vec<String>> = Mutex::new(Vec::new());

/// Puts right what a crash left in a tree. Costs a look at one folder where there is nothing.
pub(crate) fn recover(root: &Path) {
    let recovered = journal_directory(root)
        .map_err(|refusal| EditError::NothingToUndo(refusal.message))
        .and_then(|directory| Journal::open(root, &directory)?.recover());
    match recovered {
        Ok(recovered) => lock(&NOTICES).extend(recovered.iter().map(Recovered::to_string)),
        Err(error) => {
            let said = format!("an interrupted change may be left in `{}`: {error}", root.display());
            tracing::warn!("{said}");
            lock(&NOTICES).push(said);
        }
    }
}

/// What was put right since this was last asked.
pub(crate) fn take_notices() -> Vec<String> {
    std::mem::take(&mut *lock(&NOTICES))
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing here can leave half a value behind.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
