//! HTML: scripts, styles and pictures are files, named from the page or from the root.

use super::Policy;
use crate::resolve::links::ModuleTarget;
use crate::resolve::modules::{ImportSite, Modules, join};

pub(super) const HTML: Policy = Policy {
    languages: &["html"],
    prefix: "web",
    module,
    ..Policy::PLAIN
};

fn module(modules: &Modules<'_>, site: &ImportSite<'_>) -> ModuleTarget {
    let name = site.module.split(['?', '#']).next().unwrap_or(site.module);
    let directory = site.path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let place = match name.strip_prefix('/') {
        Some(from_root) => join("", from_root),
        None => join(directory, name),
    };
    let file = place.and_then(|place| modules.file(&place));
    match file {
        Some(file) => ModuleTarget::File(file),
        None => ModuleTarget::External(modules.external(site, name)),
    }
}
