//! C: names are joined by linkage, headers are found beside the file, above it, or by the end of their path.

use super::{Dispatch, Generic, Policy};
use crate::resolve::links::ModuleTarget;
use crate::resolve::modules::{ImportSite, Modules, Registry, Site, join};
use crate::resolve::words::Word;

pub(super) const C: Policy = Policy {
    languages: &["c"],
    prefix: "c",
    register,
    module,
    bare_members: false,
    calls_construct: false,
    overloads: false,
    dispatch: Dispatch::Abstract,
    links_by_name: true,
    has_alternatives: true,
    generics: &[("()", Generic::Tuple)],
    ..Policy::PLAIN
};

/// The package that all names with external linkage share.
pub(super) fn program() -> Word {
    Word::of("c").then(Word::of(""))
}

fn suffixes() -> Word {
    Word::of("c").then(Word::of("headers by the end of their path"))
}

pub(super) fn register(registry: &mut Registry<'_>, site: &Site<'_>) {
    registry.package(site.file, program());
    registry.place(site.file, site.path);
    let extension = site.path.rsplit('.').next().unwrap_or("");
    if !matches!(
        extension,
        "h" | "hh" | "hpp" | "hxx" | "h++" | "inc" | "inl" | "ipp" | "tpp" | "def" | "cuh"
    ) {
        return;
    }
    registry.header(site.file);
    let mut rest = Some(site.path);
    while let Some(suffix) = rest {
        registry.submodule(suffixes(), Word::of(suffix), ModuleTarget::File(site.file));
        rest = suffix.split_once('/').map(|(_, rest)| rest);
    }
}

pub(super) fn module(modules: &Modules<'_>, site: &ImportSite<'_>) -> ModuleTarget {
    let directory = site.path.rsplit_once('/').map_or("", |(directory, _)| directory);
    if site.level > 0
        && let Some(file) = join(directory, site.module).and_then(|path| modules.file(&path))
    {
        return ModuleTarget::File(file);
    }
    // Each directory above the file may be on the include path, or have one in the usual places.
    let mut above = directory;
    loop {
        for place in ["include", "src", ""] {
            let found = join(above, place)
                .and_then(|base| join(&base, site.module))
                .and_then(|path| modules.file(&path));
            if let Some(file) = found {
                return ModuleTarget::File(file);
            }
        }
        if above.is_empty() {
            break;
        }
        above = above.rsplit_once('/').map_or("", |(outer, _)| outer);
    }
    let by_suffix = modules.child(
        suffixes(),
        Word::of(site.module.trim_start_matches("../").trim_start_matches("./")),
    );
    // A bare name of the standard library is not some header of the tree that happens to be called like it.
    match by_suffix {
        Some(found) if site.module.contains('/') || site.level > 0 => found,
        _ => ModuleTarget::External(modules.external(site, site.module)),
    }
}
