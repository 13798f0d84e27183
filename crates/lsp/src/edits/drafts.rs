//! Edits that are only tried: texts that stand in for files, kept by id, bounded, and written only by committing them.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, Instant};

use super::{Allowed, EditError, OnDisk, Plan, TextEdit, confined};

/// Sessions of one owner at most.
const PER_OWNER: usize = 16;
/// Sessions of all owners at most.
const IN_ALL: usize = 256;
/// Bytes of text in one session at most.
const BYTES_LIMIT: usize = 64 << 20;
/// A session that nobody has used for this long is dropped.
const IDLE_LIMIT: Duration = Duration::from_secs(30 * 60);

/// The edits of one session.
#[derive(Clone, Debug)]
pub struct Draft {
    plan: Plan,
}

impl Draft {
    /// A draft that changes nothing under `root` yet.
    pub fn new(root: &Path) -> Draft {
        Draft { plan: Plan::new(root) }
    }

    /// The same, and these files may be changed although other programs run them.
    pub fn allowing(self, allowed: Allowed) -> Draft {
        Draft {
            plan: self.plan.allowing(allowed),
        }
    }

    /// The root of its paths.
    pub fn root(&self) -> &Path {
        self.plan.root()
    }

    /// A file as the session sees it.
    pub fn text(&self, path: &str) -> Result<String, EditError> {
        Ok(self.plan.read(path)?.text)
    }

    /// A file as it was when the session first changed it, or as it is on disk; empty if there is none.
    pub fn original(&self, path: &str) -> Result<String, EditError> {
        match self.plan.files.get(path) {
            Some(change) => match &change.before {
                Some(bytes) => Ok(OnDisk::decode(path, bytes)?.text),
                None => Ok(String::new()),
            },
            None => match confined(self.plan.root(), path)?.exists() {
                true => Ok(OnDisk::read(self.plan.root(), path)?.text),
                false => Ok(String::new()),
            },
        }
    }

    /// Edits a file of the session.
    pub fn edit(&mut self, path: &str, edits: &[TextEdit]) -> Result<(), EditError> {
        self.change(|plan| plan.edit(path, edits))
    }

    /// Makes a file say `text`.
    pub fn write(&mut self, path: &str, text: &str) -> Result<(), EditError> {
        self.change(|plan| plan.write(path, text))
    }

    /// Takes a file away.
    pub fn delete(&mut self, path: &str) -> Result<(), EditError> {
        self.change(|plan| plan.delete(path))
    }

    /// Gives a file another name.
    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), EditError> {
        self.change(|plan| plan.rename(from, to))
    }

    /// The files that differ from what is on disk, with their text now; `None` for one that goes.
    pub fn changed(&self) -> Result<BTreeMap<String, Option<String>>, EditError> {
        self.plan
            .files()
            .map(|(path, change)| {
                let text = match &change.after {
                    Some(bytes) => Some(OnDisk::decode(path, bytes)?.text),
                    None => None,
                };
                Ok((path.to_owned(), text))
            })
            .collect()
    }

    /// What committing it would do.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    fn change(&mut self, change: impl FnOnce(&mut Plan) -> Result<(), EditError>) -> Result<(), EditError> {
        let mut plan = self.plan.clone();
        change(&mut plan)?;
        let bytes: usize = plan
            .files
            .values()
            .filter_map(|change| change.after.as_ref())
            .map(Vec::len)
            .sum();
        if bytes > BYTES_LIMIT {
            return Err(EditError::TooMuch(format!(
                "the session would hold {bytes} bytes, more than {BYTES_LIMIT}; commit or discard it"
            )));
        }
        self.plan = plan;
        Ok(())
    }
}

/// The sessions now open. An owner is whoever may use a session: no other can name it.
#[derive(Default)]
pub struct Drafts {
    open: BTreeMap<String, Held>,
    made: u64,
}

struct Held {
    owner: String,
    draft: Draft,
    used: Instant,
}

impl Drafts {
    /// Opens a session and gives its id.
    pub fn open(&mut self, owner: &str, draft: Draft) -> Result<String, EditError> {
        self.expire(Instant::now());
        let own = self.open.values().filter(|held| held.owner == owner).count();
        if own >= PER_OWNER || self.open.len() >= IN_ALL {
            return Err(EditError::TooMuch(format!(
                "{own} edit sessions are open; commit or discard one first"
            )));
        }
        self.made += 1;
        // The owner is part of the name, so that ids of different clients never meet and cannot be guessed from a counter.
        let digest = blake3::hash(format!("{owner}\n{}\n{:?}", self.made, Instant::now()).as_bytes()).to_hex();
        let id = format!("edit-{}", &digest[..10]);
        let held = Held {
            owner: owner.to_owned(),
            draft,
            used: Instant::now(),
        };
        self.open.insert(id.clone(), held);
        Ok(id)
    }

    /// The session with this id, if it is this owner's.
    pub fn get(&mut self, owner: &str, id: &str) -> Option<&mut Draft> {
        self.expire(Instant::now());
        let held = self.open.get_mut(id).filter(|held| held.owner == owner)?;
        held.used = Instant::now();
        Some(&mut held.draft)
    }

    /// Ends a session. What it held is gone.
    pub fn close(&mut self, owner: &str, id: &str) -> Option<Draft> {
        match self.open.get(id) {
            Some(held) if held.owner == owner => self.open.remove(id).map(|held| held.draft),
            _ => None,
        }
    }

    fn expire(&mut self, now: Instant) {
        self.open
            .retain(|_, held| now.saturating_duration_since(held.used) < IDLE_LIMIT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sessions_do_not_see_each_other_and_nothing_is_written() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a"), "one").unwrap();
        let mut sessions = Drafts::default();
        let first = sessions.open("me", Draft::new(root.path())).unwrap();
        let second = sessions.open("me", Draft::new(root.path())).unwrap();
        sessions.get("me", &first).unwrap().write("a", "two").unwrap();
        assert_eq!(sessions.get("me", &first).unwrap().text("a").unwrap(), "two");
        assert_eq!(sessions.get("me", &first).unwrap().original("a").unwrap(), "one");
        assert_eq!(sessions.get("me", &second).unwrap().text("a").unwrap(), "one");
        assert!(sessions.get("you", &first).is_none());
        assert_eq!(std::fs::read_to_string(root.path().join("a")).unwrap(), "one");
        assert!(sessions.close("you", &first).is_none());
        assert!(sessions.close("me", &first).is_some());
        assert!(sessions.get("me", &first).is_none());
    }

    #[test]
    fn sessions_are_bounded_and_expire() {
        let root = tempfile::tempdir().unwrap();
        let mut sessions = Drafts::default();
        for _ in 0..PER_OWNER {
            sessions.open("me", Draft::new(root.path())).unwrap();
        }
        assert!(sessions.open("me", Draft::new(root.path())).is_err());
        assert!(sessions.open("you", Draft::new(root.path())).is_ok());
        sessions.expire(Instant::now() + IDLE_LIMIT);
        assert!(sessions.open("me", Draft::new(root.path())).is_ok());
    }

    #[test]
    fn a_failed_edit_changes_nothing() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("a"), "one").unwrap();
        let mut draft = Draft::new(root.path());
        let outside = TextEdit {
            range: 0..99,
            text: String::new(),
        };
        assert!(draft.edit("a", &[outside]).is_err());
        assert!(draft.edit("../a", &[]).is_err());
        assert!(draft.plan().is_empty());
    }
}
