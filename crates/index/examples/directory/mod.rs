//! A directory as a tree to resolve: every file that a language or a manifest reader knows, read and extracted at once.

use std::path::Path;
use std::sync::Arc;

use index::model::FileId;
use index::tree::{Manifest, Tree, is_manifest};
use rayon::prelude::*;
use syntax::facts::FileFacts;

/// Files by path, language and facts, and manifests; both in order of path.
#[derive(Default)]
pub(crate) struct Directory {
    pub(crate) files: Vec<(String, String, Arc<FileFacts>)>,
    pub(crate) manifests: Vec<Manifest>,
}

impl Directory {
    /// Reads everything below `root`, ignored files included.
    pub(crate) fn read(root: &Path) -> Directory {
        let mut paths = Vec::new();
        for entry in ignore::WalkBuilder::new(root).standard_filters(false).build().flatten() {
            if entry.file_type().is_some_and(|kind| kind.is_file()) {
                paths.push(entry.into_path());
            }
        }
        let read = |path: &std::path::PathBuf| {
            let name = path.strip_prefix(root).ok()?.to_string_lossy().into_owned();
            let text = String::from_utf8(std::fs::read(path).ok()?).ok()?;
            let language = syntax::languages::detect(&name, text.as_bytes());
            let facts =
                language.map(|language| (language.name().to_string(), Arc::new(syntax::extract(language, &text))));
            let manifest = is_manifest(name.rsplit('/').next().unwrap_or(&name)).then_some(text);
            Some((name, facts, manifest))
        };
        let mut directory = Directory::default();
        for (name, facts, manifest) in paths.par_iter().filter_map(read).collect::<Vec<_>>() {
            if let Some(text) = manifest {
                directory.manifests.push(Manifest {
                    path: name.as_str().into(),
                    text: text.as_str().into(),
                });
            }
            if let Some((language, facts)) = facts {
                directory.files.push((name, language, facts));
            }
        }
        directory.files.sort_by(|left, right| left.0.cmp(&right.0));
        directory.manifests.sort_by(|left, right| left.path.cmp(&right.path));
        directory
    }
}

impl Tree for Directory {
    fn file_count(&self) -> usize {
        self.files.len()
    }
    fn path(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].0
    }
    fn language(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].1
    }
    fn facts(&self, file: FileId) -> Arc<FileFacts> {
        self.files[file.0 as usize].2.clone()
    }
    fn manifests(&self) -> &[Manifest] {
        &self.manifests
    }
}
