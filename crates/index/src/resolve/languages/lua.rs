//! Lua: `require("a.b")` is the value that `a/b.lua` or `a/b/init.lua` returns, beneath one of the places where Lua looks.

use super::Policy;
use crate::resolve::links::ModuleTarget;
use crate::resolve::modules::{ImportSite, Modules};

pub(super) const LUA: Policy = Policy {
    languages: &["lua"],
    prefix: "lua",
    module,
    bare_members: false,
    calls_construct: false,
    overloads: false,
    ..Policy::PLAIN
};

/// Folders of a project that its runtime looks into: plain Lua and LuaRocks, Neovim.
const SOURCES: &[&str] = &["", "lua", "src", "lib"];

/// The path that `require` is told is set where the program starts, which no file says: the root and its usual folders come first,
/// then the folders around the file, nearest first.
fn module(modules: &Modules<'_>, site: &ImportSite<'_>) -> ModuleTarget {
    let name = site.module.trim_matches(['.', '/']).replace('.', "/");
    let around = std::iter::successors(site.path.rsplit_once('/'), |(folder, _)| folder.rsplit_once('/'));
    let folders = std::iter::once("").chain(around.map(|(folder, _)| folder));
    let mut found = folders
        .flat_map(|folder| SOURCES.iter().map(move |source| (folder, source)))
        .filter_map(|(folder, source)| {
            let parts: Vec<&str> = [folder, source, name.as_str()]
                .into_iter()
                .filter(|part| !part.is_empty())
                .collect();
            let place = parts.join("/");
            modules
                .file(&format!("{place}.lua"))
                .or_else(|| modules.file(&format!("{place}/init.lua")))
        });
    match found.next() {
        Some(file) => ModuleTarget::File(file),
        None => ModuleTarget::External(modules.external(site, site.module)),
    }
}
