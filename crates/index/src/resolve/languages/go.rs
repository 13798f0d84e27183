//! Go: a package is the files of a directory, import paths begin where a `go.mod` says, interfaces are satisfied by shape.

use super::{Dispatch, Generic, Policy};
use crate::resolve::links::ModuleTarget;
use crate::resolve::modules::{ImportSite, Modules, Registry, Site};
use crate::resolve::words::Word;

pub(super) const GO: Policy = Policy {
    languages: &["go"],
    prefix: "go",
    register,
    module,
    bare_members: false,
    calls_construct: true,
    // Files for other systems define the same names; which one runs is not told by the syntax.
    overloads: true,
    dispatch: Dispatch::Abstract,
    structural: true,
    builtin_names: &[
        "append",
        "cap",
        "clear",
        "close",
        "complex",
        "copy",
        "delete",
        "imag",
        "len",
        "make",
        "max",
        "min",
        "new",
        "panic",
        "print",
        "println",
        "real",
        "recover",
        "error",
        "any",
        "bool",
        "byte",
        "complex64",
        "complex128",
        "float32",
        "float64",
        "int",
        "int8",
        "int16",
        "int32",
        "int64",
        "rune",
        "string",
        "uint",
        "uint8",
        "uint16",
        "uint32",
        "uint64",
        "uintptr",
    ],
    builtin_module: "builtin",
    library_interfaces: super::go_interfaces::LIBRARY,
    generics: &[("()", Generic::Tuple), ("map", Generic::Holds)],
    ..Policy::PLAIN
};

/// Name under which a directory files the package that others import from it.
const IMPORTED: Word = Word(0);

fn register(registry: &mut Registry<'_>, site: &Site<'_>) {
    let Some(name) = site.package else {
        return;
    };
    let directory = site.path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let holder = registry.directory(directory);
    let package = holder.then(Word::of(name));
    registry.package(site.file, package);
    // Neither programs nor test packages can be imported.
    if name != "main" && !name.ends_with("_test") {
        registry.submodule(holder, IMPORTED, ModuleTarget::Package(package));
    }
}

fn module(modules: &Modules<'_>, site: &ImportSite<'_>) -> ModuleTarget {
    let at = |directory: &str| modules.child(modules.directory(site, directory), IMPORTED);
    let vendored = vendor_directories(site.path).find_map(|vendor| at(&under(&vendor, site.module)));
    if let Some(found) = vendored {
        return found;
    }
    for module in modules.packages.go_modules() {
        let rest = match site.module.strip_prefix(module.path.as_str()) {
            Some("") => "",
            Some(rest) if rest.starts_with('/') => &rest[1..],
            _ if module.path == "std" => site.module,
            _ => continue,
        };
        if let Some(found) = at(&under(&module.directory, rest)) {
            return found;
        }
    }
    // Before modules, import paths were directories below `src`.
    let found = ["", "src"].iter().find_map(|root| at(&under(root, site.module)));
    found
        .filter(|_| modules.packages.go_modules().is_empty())
        .unwrap_or_else(|| {
            let name = site.module;
            ModuleTarget::External(modules.external(site, name))
        })
}

fn under(directory: &str, rest: &str) -> String {
    match (directory, rest) {
        ("", rest) => rest.to_string(),
        (directory, "") => directory.to_string(),
        (directory, rest) => format!("{directory}/{rest}"),
    }
}

/// `vendor` beside the file and in every directory above, nearest first.
fn vendor_directories(path: &str) -> impl Iterator<Item = String> + '_ {
    path.char_indices()
        .rev()
        .filter(|&(_, letter)| letter == '/')
        .map(|(at, _)| format!("{}/vendor", &path[..at]))
        .chain(std::iter::once("vendor".to_string()))
}
