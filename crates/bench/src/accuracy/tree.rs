//! The files of one language below a directory, extracted and kept in memory: what resolution needs, without a store.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use index::model::{FileId, ResolvedFile};
use index::resolve::Resolver;
use index::tree::{Keep, Manifest, Resolve, Tree, is_manifest};
use syntax::facts::FileFacts;

/// Directories that hold other people's code or none.
const SKIPPED: &[&str] = &["node_modules", "target", "vendor", "__pycache__", "dist", "build"];

/// How many bytes of a file tell its language.
const HEAD: usize = 8192;

/// A tree in memory.
pub(super) struct MemoryTree {
    files: Vec<File>,
    manifests: Vec<Manifest>,
}

struct File {
    path: String,
    language: &'static str,
    text: String,
    facts: Arc<FileFacts>,
}

impl MemoryTree {
    /// Reads and extracts every file below `root` that is in one of `languages`.
    pub(super) fn read(root: &Path, languages: &[&str]) -> anyhow::Result<MemoryTree> {
        let mut tree = MemoryTree {
            files: Vec::new(),
            manifests: Vec::new(),
        };
        tree.walk(root, "", languages)?;
        tree.files.sort_by(|left, right| left.path.cmp(&right.path));
        tree.manifests.sort_by(|left, right| left.path.cmp(&right.path));
        Ok(tree)
    }

    /// Resolves all files.
    pub(super) fn resolve(&self) -> Vec<ResolvedFile> {
        let resolved = Mutex::new(vec![ResolvedFile::default(); self.files.len()]);
        Resolver::new().resolve(self, Keep::Nothing, &|file, edges| {
            resolved.lock().unwrap_or_else(PoisonError::into_inner)[file.0 as usize] = edges;
        });
        resolved.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn text(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].text
    }

    fn walk(&mut self, directory: &Path, prefix: &str, languages: &[&str]) -> anyhow::Result<()> {
        let mut entries: Vec<_> = std::fs::read_dir(directory)?.collect::<Result<_, _>>()?;
        entries.sort_by_key(std::fs::DirEntry::file_name);
        for entry in entries {
            let name = entry.file_name().to_string_lossy().into_owned();
            let path = format!("{prefix}{name}");
            let kind = entry.file_type()?;
            if kind.is_dir() && !name.starts_with('.') && !SKIPPED.contains(&name.as_str()) {
                self.walk(&entry.path(), &format!("{path}/"), languages)?;
            } else if kind.is_file() {
                self.add(&entry.path(), path, &name, languages);
            }
        }
        Ok(())
    }

    fn add(&mut self, file: &Path, path: String, name: &str, languages: &[&str]) {
        let wanted = |head: &[u8]| {
            let language = syntax::languages::detect(name, head);
            language.filter(|language| languages.contains(&language.name()))
        };
        if wanted(&[]).is_none() && !is_manifest(name) {
            return;
        }
        let Ok(text) = std::fs::read_to_string(file) else {
            return;
        };
        // What language a header is in is told by its text.
        let language = wanted(&text.as_bytes()[..text.len().min(HEAD)]);
        if is_manifest(name) {
            self.manifests.push(Manifest {
                path: path.as_str().into(),
                text: text.as_str().into(),
            });
        }
        if let Some(language) = language {
            let facts = Arc::new(syntax::extract(language, &text));
            self.files.push(File {
                path,
                language: language.name(),
                text,
                facts,
            });
        }
    }
}

impl Tree for MemoryTree {
    fn file_count(&self) -> usize {
        self.files.len()
    }

    fn path(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].path
    }

    fn language(&self, file: FileId) -> &str {
        self.files[file.0 as usize].language
    }

    fn facts(&self, file: FileId) -> Arc<FileFacts> {
        self.files[file.0 as usize].facts.clone()
    }

    fn manifests(&self) -> &[Manifest] {
        &self.manifests
    }
}
