//! `Cargo.toml`: what a crate of the tree is called and where its library begins.

use crate::resolve::modules::join;

/// A library crate of the tree.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct RustCrate {
    /// As code names it: hyphens are underscores.
    pub name: String,
    /// Its root file, relative to the tree.
    pub root: String,
    /// Root files of the programs that the manifest places: tests, examples, binaries.
    pub programs: Vec<String>,
}

/// The library that the manifest in `directory` declares, if it is one of a package.
pub(super) fn read(directory: &str, text: &str) -> Option<RustCrate> {
    let manifest: toml::Table = text.parse().ok()?;
    let package = manifest.get("package")?.get("name")?.as_str()?;
    let library = manifest.get("lib");
    let of_library = |key: &str| {
        library
            .and_then(|library| library.get(key))
            .and_then(toml::Value::as_str)
    };
    let name = of_library("name").unwrap_or(package).replace('-', "_");
    let root = join(directory, of_library("path").unwrap_or("src/lib.rs"))?;
    let targets = ["bin", "test", "bench", "example"]
        .iter()
        .filter_map(|kind| manifest.get(*kind)?.as_array());
    let paths = targets.flatten().filter_map(|target| target.get("path")?.as_str());
    let programs = paths.filter_map(|path| join(directory, path)).collect();
    Some(RustCrate { name, root, programs })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_roots() {
        let plain = read("crates/my-lib", "[package]\nname = \"my-lib\"\n").expect("a crate");
        assert_eq!(
            (plain.name.as_str(), plain.root.as_str()),
            ("my_lib", "crates/my-lib/src/lib.rs")
        );
        let other = read("", "[package]\nname = \"x\"\n[lib]\nname = \"y\"\npath = \"lib.rs\"\n").expect("a crate");
        assert_eq!((other.name.as_str(), other.root.as_str()), ("y", "lib.rs"));
        let tests = read(
            "a",
            "[package]\nname = \"x\"\n[[test]]\nname = \"all\"\npath = \"tests/lib.rs\"\n",
        )
        .expect("a crate");
        assert_eq!(tests.programs, ["a/tests/lib.rs"]);
        assert_eq!(read("", "[workspace]\nmembers = []\n"), None);
    }
}
