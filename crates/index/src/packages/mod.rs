//! What manifests say about where packages lie: names, source roots, path aliases.

mod go_mod;

pub use go_mod::GoModule;

use crate::tree::Manifest;

/// All manifests of a tree, read.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Packages {
    python_roots: Vec<String>,
    go_modules: Vec<GoModule>,
}

impl Packages {
    /// Reads every manifest; one that cannot be read says nothing.
    pub fn read(manifests: &[Manifest]) -> Packages {
        let mut packages = Packages::default();
        for manifest in manifests {
            let (directory, name) = manifest.path.rsplit_once('/').unwrap_or(("", &manifest.path));
            if name == "go.mod" {
                packages.go_modules.extend(go_mod::read(directory, &manifest.text));
            }
        }
        packages.python_roots.sort();
        // The longest path that fits is the module that an import belongs to.
        packages.go_modules.sort_by(|left, right| right.path.len().cmp(&left.path.len()).then(left.cmp(right)));
        packages.go_modules.dedup();
        packages
    }

    /// Directories that Python projects put on the path.
    pub fn python_roots(&self) -> impl Iterator<Item = &str> {
        self.python_roots.iter().map(String::as_str)
    }

    /// Import paths of Go modules and the directories where they begin, the longest path first.
    pub fn go_modules(&self) -> &[GoModule] {
        &self.go_modules
    }
}
