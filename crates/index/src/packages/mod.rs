//! What manifests say about where packages lie: names, source roots, path aliases.

mod cargo;
mod go_mod;
mod npm;
pub mod projects;
mod python;

pub use cargo::RustCrate;
pub use go_mod::GoModule;
pub use npm::{NpmPackage, PathAliases};
pub use projects::Projects;

use crate::tree::Manifest;

/// All manifests of a tree, read.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Packages {
    python_roots: Vec<String>,
    npm_packages: Vec<NpmPackage>,
    path_aliases: Vec<PathAliases>,
    go_modules: Vec<GoModule>,
    rust_crates: Vec<RustCrate>,
    projects: Projects,
}

/// Longest chain of configurations that extend each other.
const MAX_EXTENDS: u8 = 8;

/// The aliases of a configuration: its own, else those of what it extends, which hold for the files below itself.
fn aliases_of(manifest: &Manifest, manifests: &[Manifest], depth: u8) -> Option<PathAliases> {
    let directory = manifest.path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let own = npm::aliases(directory, &manifest.text);
    if own.as_ref().is_some_and(|own| !own.paths.is_empty()) || depth == 0 {
        return own;
    }
    let extended = npm::extended(directory, &manifest.text).into_iter().rev();
    let inherited = extended
        .filter_map(|path| manifests.iter().find(|manifest| *manifest.path == *path))
        .find_map(|base| aliases_of(base, manifests, depth - 1));
    match (own, inherited) {
        (own, None) => own,
        (own, Some(inherited)) => Some(PathAliases {
            directory: directory.to_string(),
            base: own.and_then(|own| own.base).or(inherited.base),
            paths: inherited.paths,
        }),
    }
}

impl Packages {
    /// Reads every manifest; one that cannot be read says nothing.
    pub fn read(manifests: &[Manifest]) -> Packages {
        let mut packages = Packages::default();
        for manifest in manifests {
            let (directory, name) = manifest.path.rsplit_once('/').unwrap_or(("", &manifest.path));
            match name {
                "Cargo.toml" => packages.rust_crates.extend(cargo::read(directory, &manifest.text)),
                "go.mod" => packages.go_modules.extend(go_mod::read(directory, &manifest.text)),
                "pyproject.toml" | "setup.py" | "setup.cfg" => {
                    packages
                        .python_roots
                        .extend(python::roots(directory, name, &manifest.text));
                }
                "package.json" => {
                    packages.npm_packages.extend(npm::package(directory, &manifest.text));
                    packages
                        .path_aliases
                        .extend(npm::own_imports(directory, &manifest.text));
                }
                name if name.starts_with("tsconfig") || name.starts_with("jsconfig") => {
                    packages
                        .path_aliases
                        .extend(aliases_of(manifest, manifests, MAX_EXTENDS));
                }
                _ => {}
            }
        }
        packages.python_roots.sort();
        packages.python_roots.dedup();
        packages.npm_packages.sort();
        // The nearest configuration above a file is asked first.
        packages
            .path_aliases
            .sort_by(|left, right| right.directory.len().cmp(&left.directory.len()).then(left.cmp(right)));
        // The longest path that fits is the module that an import belongs to.
        packages
            .go_modules
            .sort_by(|left, right| right.path.len().cmp(&left.path.len()).then(left.cmp(right)));
        packages.go_modules.dedup();
        packages.rust_crates.sort();
        let projects = manifests
            .iter()
            .filter_map(|manifest| projects::read(manifest, manifests));
        let solutions: Vec<Vec<String>> = manifests.iter().filter_map(projects::solution).collect();
        packages.projects = Projects::new(projects.collect(), &solutions);
        packages
    }

    /// Directories that Python projects put on the path.
    pub fn python_roots(&self) -> impl Iterator<Item = &str> {
        self.python_roots.iter().map(String::as_str)
    }

    /// Packages of the tree that files import by name.
    pub fn npm_packages(&self) -> &[NpmPackage] {
        &self.npm_packages
    }

    /// Path aliases that hold for the file at `path`, the nearest first.
    pub fn path_aliases<'a>(&'a self, path: &'a str) -> impl Iterator<Item = &'a PathAliases> {
        self.path_aliases.iter().filter(move |aliases| {
            let rest = path.strip_prefix(aliases.directory.as_str());
            rest.is_some_and(|rest| aliases.directory.is_empty() || rest.starts_with('/'))
        })
    }

    /// Library crates of the tree.
    pub fn rust_crates(&self) -> &[RustCrate] {
        &self.rust_crates
    }

    /// Projects whose code is found by qualified names.
    pub fn projects(&self) -> &Projects {
        &self.projects
    }

    /// Import paths of Go modules and the directories where they begin, the longest path first.
    pub fn go_modules(&self) -> &[GoModule] {
        &self.go_modules
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_configuration_inherits_the_aliases_of_what_it_extends() {
        let manifest = |path: &str, text: &str| Manifest {
            path: path.into(),
            text: text.into(),
        };
        let packages = Packages::read(&[
            manifest("config/base.json", "{}"),
            manifest(
                "config/tsconfig.base.json",
                r#"{"compilerOptions": {"paths": {"@lib/*": ["../lib/*"]}}}"#,
            ),
            manifest(
                "web/tsconfig.json",
                r#"{"extends": "../config/tsconfig.base", "compilerOptions": {"strict": true}}"#,
            ),
        ]);
        let places: Vec<String> = packages
            .path_aliases("web/src/a.ts")
            .flat_map(|aliases| aliases.places("@lib/x"))
            .collect();
        assert_eq!(places, ["lib/x"]);
    }
}
