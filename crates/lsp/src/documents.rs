//! The documents a server has open, with the text it was given: as on disk, or as an edit would make it.
//!
//! Versions only grow, also over restarts of the server, so that diagnostics of an older text are known as such.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use serde_json::{Value, json};

use crate::position::Text;
use crate::uri;

/// One open document.
#[derive(Clone, Debug)]
pub(crate) struct Document {
    pub(crate) text: Text,
    pub(crate) version: i64,
    language: String,
    used: Instant,
    /// When the server was last told its text.
    pub(crate) told: Instant,
    /// Not as on disk.
    pub(crate) edited: bool,
    /// The server was given more than one text for it since it was opened.
    changed: bool,
    /// What the file was like when its text was read.
    stamp: Option<(SystemTime, u64)>,
}

/// Diagnostics as a server pushed them.
#[derive(Clone, Debug)]
pub(crate) struct Published {
    pub(crate) version: Option<i64>,
    /// JSON, as text: a server may push thousands of files that nobody asks about.
    items: Box<str>,
    pub(crate) at: Instant,
    /// Whether it may be no more than the end of what was shown of a document that was closed.
    pub(crate) clears: bool,
}

impl Published {
    /// The list.
    pub(crate) fn items(&self) -> Value {
        serde_json::from_str(&self.items).unwrap_or_default()
    }

    /// Whether it says nothing.
    pub(crate) fn is_empty(&self) -> bool {
        matches!(&*self.items, "[]" | "null")
    }
}

/// All of a server's.
#[derive(Default)]
pub(crate) struct Documents {
    open: HashMap<PathBuf, Document>,
    published: HashMap<PathBuf, Published>,
    /// Bytes of all that was pushed.
    published_bytes: usize,
    last_version: i64,
    /// Whether the server says which version a list is of.
    gives_versions: bool,
    /// How often each file was closed without an empty list after it.
    closed: HashMap<PathBuf, u32>,
    /// Documents that must be judged anew before the server's knowledge is of the disk again, and since when.
    restored: Vec<(PathBuf, Instant)>,
}

/// A message that the server must get, in order.
pub(crate) type Notice = (&'static str, Value);

/// Most files whose pushed diagnostics are kept, and most bytes of those that are not open.
const MAX_PUBLISHED: usize = 20_000;
const MAX_PUBLISHED_BYTES: usize = 16 << 20;

impl Documents {
    /// Opens a document or brings its text up to date. Says what the server must be told.
    pub(crate) fn put(&mut self, path: &Path, language: &str, text: Text, edited: bool) -> Vec<Notice> {
        let now = Instant::now();
        let uri = uri::of_path(path);
        if let Some(document) = self.open.get_mut(path) {
            document.used = now;
            document.edited = edited;
            document.stamp = stamp(path);
            if document.text.as_str() == text.as_str() {
                return Vec::new();
            }
            self.last_version += 1;
            document.version = self.last_version;
            (document.told, document.changed) = (now, true);
            let change = json!({
                "textDocument": {"uri": uri, "version": document.version},
                "contentChanges": [{"text": text.as_str()}],
            });
            document.text = text;
            return vec![("textDocument/didChange", change)];
        }
        self.last_version += 1;
        let document = Document {
            text,
            version: self.last_version,
            language: language.to_string(),
            used: now,
            told: now,
            edited,
            changed: false,
            stamp: stamp(path),
        };
        let notice = document.opening(&uri);
        self.open.insert(path.to_path_buf(), document);
        vec![notice]
    }

    /// Brings the documents whose files changed since they were read up to date: an open document is what the server believes,
    /// whatever the disk says. `read` gives a file's text, or nothing where it is gone.
    pub(crate) fn refresh(&mut self, read: impl Fn(&Path) -> Option<Text>) -> Vec<Notice> {
        let stale = self
            .open
            .iter()
            .filter(|(path, document)| !document.edited && stamp(path) != document.stamp);
        let mut stale: Vec<(PathBuf, String)> = stale
            .map(|(path, document)| (path.clone(), document.language.clone()))
            .collect();
        stale.sort();
        let mut notices = Vec::new();
        for (path, language) in stale {
            notices.extend(match read(&path) {
                Some(text) => self.put(&path, &language, text, false),
                None => self.close(&path),
            });
        }
        notices
    }

    /// Closes documents that were not used for longest, down to `most`. Edited ones stay.
    ///
    /// So do those that changed while they were open, until there are several times as many: basedpyright no longer counts a file
    /// among its project's once it was changed, closed and opened again, and then renames in that file alone.
    pub(crate) fn close_surplus(&mut self, most: usize) -> Vec<Notice> {
        const CHANGED: usize = 4;
        let mut notices = Vec::new();
        while self.open.len() > most {
            let is_over = self.open.len() > most.saturating_mul(CHANGED);
            let closes = |document: &Document| !document.edited && (!document.changed || is_over);
            let closable = self.open.iter().filter(|(_, document)| closes(document));
            let Some(path) = closable
                .min_by_key(|(_, document)| (document.changed, document.used))
                .map(|(path, _)| path.clone())
            else {
                break;
            };
            notices.extend(self.close(&path));
        }
        notices
    }

    /// Closes one document.
    pub(crate) fn close(&mut self, path: &Path) -> Vec<Notice> {
        match self.open.remove(path) {
            Some(_) => {
                // A server that never clears what it showed must not make this grow.
                if self.closed.len() < MAX_PUBLISHED {
                    *self.closed.entry(path.to_path_buf()).or_default() += 1;
                }
                vec![(
                    "textDocument/didClose",
                    json!({"textDocument": {"uri": uri::of_path(path)}}),
                )]
            }
            None => Vec::new(),
        }
    }

    /// Ends what an edit made of a document: it gets the text of the disk, and stays open (see [`Documents::close_surplus`]). A server
    /// that `pushes` what it finds, with versions, keeps what it knows of a file until it judges it again, so it is given the text
    /// as new even where it has it.
    pub(crate) fn restore(&mut self, path: &Path, text: Option<Text>, pushes: bool) -> Vec<Notice> {
        let Some(text) = text else { return self.close(path) };
        let language = self.language(path).unwrap_or_default();
        if !(pushes && self.gives_versions) {
            let notices = self.put(path, &language, text, false);
            // Nothing tells a server that pushes to judge again what only depended on the edit: it is opened anew when it is asked about.
            return match pushes && notices.is_empty() {
                true => self.close(path),
                false => notices,
            };
        }
        let Some(document) = self.open.get_mut(path) else {
            return Vec::new();
        };
        self.last_version += 1;
        let now = Instant::now();
        (document.version, document.told, document.used) = (self.last_version, now, now);
        (document.edited, document.changed, document.stamp) = (false, true, stamp(path));
        let change = json!({
            "textDocument": {"uri": uri::of_path(path), "version": document.version},
            "contentChanges": [{"text": text.as_str()}],
        });
        document.text = text;
        self.restored.push((path.to_path_buf(), now));
        vec![("textDocument/didChange", change)]
    }

    /// Whether the server has judged all that was restored, or has had long enough for it.
    pub(crate) fn is_settled(&mut self) -> bool {
        const LONG_ENOUGH: Duration = Duration::from_secs(10);
        let mut restored = std::mem::take(&mut self.restored);
        restored.retain(|(path, since)| {
            since.elapsed() < LONG_ENOUGH && self.open.contains_key(path) && self.diagnostics(path).is_none()
        });
        self.restored = restored;
        self.restored.is_empty()
    }

    /// What a server that has just started must be told, in order of paths. Nothing that an earlier one said holds.
    pub(crate) fn reopen(&mut self) -> Vec<Notice> {
        self.published.clear();
        self.published_bytes = 0;
        self.closed.clear();
        self.restored.clear();
        let now = Instant::now();
        let mut notices: Vec<(&PathBuf, Notice)> = self
            .open
            .iter_mut()
            .map(|(path, document)| {
                (document.told, document.changed) = (now, false);
                (path, document.opening(&uri::of_path(path)))
            })
            .collect();
        notices.sort_by_key(|(path, _)| *path);
        notices.into_iter().map(|(_, notice)| notice).collect()
    }

    /// The document, if it is open.
    pub(crate) fn get(&self, path: &Path) -> Option<&Document> {
        self.open.get(path)
    }

    /// All that are open, in order.
    pub(crate) fn uris(&self) -> Vec<String> {
        let mut uris: Vec<String> = self.open.keys().map(|path| uri::of_path(path)).collect();
        uris.sort();
        uris
    }

    /// The language that the server was told of a document.
    pub(crate) fn language(&self, path: &Path) -> Option<String> {
        self.open.get(path).map(|document| document.language.clone())
    }

    /// Whether any is open.
    pub(crate) fn is_empty(&self) -> bool {
        self.open.is_empty()
    }

    /// The texts that the server has instead of those on disk.
    pub(crate) fn texts(&self) -> HashMap<PathBuf, Text> {
        let texts = self
            .open
            .iter()
            .map(|(path, document)| (path.clone(), document.text.clone()));
        texts.collect()
    }

    /// Keeps what the server says of a document, unless it is of an older text.
    pub(crate) fn published(&mut self, parameters: &Value) {
        let Some(path) = parameters["uri"].as_str().and_then(uri::to_path) else {
            return;
        };
        let version = parameters["version"].as_i64();
        self.gives_versions |= version.is_some();
        let is_empty = parameters["diagnostics"].as_array().is_some_and(Vec::is_empty);
        let clears = match self.closed.get_mut(&path) {
            Some(times) if is_empty && version.is_none() => {
                *times -= 1;
                true
            }
            _ => false,
        };
        self.closed.retain(|_, times| *times > 0);
        if version.is_none() && self.gives_versions && self.open.contains_key(&path) {
            // Of an open document such a server says the version: this is about an earlier opening of it.
            return;
        }
        let is_old = match (version, self.open.get(&path)) {
            (Some(version), Some(document)) => version < document.version,
            _ => false,
        };
        let items = parameters["diagnostics"].to_string();
        let is_much = self.published.len() >= MAX_PUBLISHED || self.published_bytes + items.len() > MAX_PUBLISHED_BYTES;
        if is_old || is_much && !self.published.contains_key(&path) && !self.open.contains_key(&path) {
            return;
        }
        self.published_bytes += items.len();
        let published = Published {
            version,
            items: items.into(),
            at: Instant::now(),
            clears,
        };
        if let Some(before) = self.published.insert(path, published) {
            self.published_bytes -= before.items.len();
        }
    }

    /// What the server said of the document's present text: of its very version, or, where it gives none, after it was told.
    pub(crate) fn diagnostics(&self, path: &Path) -> Option<&Published> {
        let (document, published) = (self.open.get(path)?, self.published.get(path)?);
        let is_current = match published.version {
            Some(version) => version == document.version,
            None => published.at >= document.told,
        };
        is_current.then_some(published)
    }

    /// What it said of all files, open or not, whose text it has seen since.
    pub(crate) fn all_diagnostics(&self) -> impl Iterator<Item = (&Path, &Published)> {
        let current = |(path, published): (&'_ PathBuf, &'_ Published)| match self.open.get(path) {
            Some(_) => self.diagnostics(path).is_some(),
            None => &*published.items != "null",
        };
        self.published
            .iter()
            .filter(move |&(path, published)| current((path, published)))
            .map(|(path, published)| (path.as_path(), published))
    }
}

/// When a file was last changed, and its size.
fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let meta = std::fs::metadata(path).ok()?;
    Some((meta.modified().ok()?, meta.len()))
}

impl Document {
    fn opening(&self, uri: &str) -> Notice {
        let document =
            json!({"uri": uri, "languageId": self.language, "version": self.version, "text": self.text.as_str()});
        ("textDocument/didOpen", json!({"textDocument": document}))
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use serde_json::json;

    use super::Documents;
    use crate::position::Text;

    #[test]
    fn diagnostics_of_an_older_text_are_not_kept() {
        let mut documents = Documents::default();
        let path = Path::new("/a.py");
        documents.put(path, "python", Text::new("x"), false);
        documents.published(&json!({"uri": "file:///a.py", "version": 1, "diagnostics": [1]}));
        assert_eq!(documents.diagnostics(path).unwrap().items(), json!([1]));
        let told = documents.put(path, "python", Text::new("y"), false);
        assert_eq!(
            (told[0].0, &told[0].1["textDocument"]["version"]),
            ("textDocument/didChange", &json!(2))
        );
        assert!(documents.diagnostics(path).is_none(), "those are of version 1");
        documents.published(&json!({"uri": "file:///a.py", "version": 1, "diagnostics": [1]}));
        assert!(documents.diagnostics(path).is_none());
        documents.published(&json!({"uri": "file:///a.py", "version": 2, "diagnostics": []}));
        assert!(documents.diagnostics(path).is_some());
    }

    #[test]
    fn the_least_used_is_closed_and_the_edited_stays() {
        let mut documents = Documents::default();
        for (name, edited) in [("/a", true), ("/b", false), ("/c", false)] {
            documents.put(Path::new(name), "x", Text::new(""), edited);
        }
        let closed = documents.close_surplus(1);
        assert_eq!(closed.len(), 2);
        assert!(documents.get(Path::new("/a")).is_some());
        assert_eq!(documents.reopen().len(), 1);
    }

    /// What an edit leaves behind: the text of the disk, in a document that is not closed.
    #[test]
    fn what_changed_while_it_was_open_stays_open() {
        let mut documents = Documents::default();
        let path = Path::new("/a.py");
        documents.put(path, "python", Text::new("x"), false);
        documents.put(path, "python", Text::new("edited"), true);
        let told = documents.restore(path, Some(Text::new("x")), false);
        let methods: Vec<&str> = told.iter().map(|(method, _)| *method).collect();
        assert_eq!(methods, ["textDocument/didChange"]);
        documents.put(Path::new("/b.py"), "python", Text::new("y"), false);
        assert_eq!(documents.close_surplus(1).len(), 1, "the other one goes");
        assert!(documents.get(path).is_some());
        for number in 0..5 {
            documents.put(Path::new(&format!("/{number}.py")), "python", Text::new("z"), false);
        }
        documents.close_surplus(1);
        assert!(documents.get(path).is_some(), "there are others to close");
        assert_eq!(
            documents.restore(path, None, false)[0].0,
            "textDocument/didClose",
            "it is gone"
        );
    }
}
