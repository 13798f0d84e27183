//! PHP: namespaces are qualified names whatever the directory; classes are found by their namespace, members by their class.
//!
//! As in Java, one word per qualified name; the separator is `\` and a file without a namespace is in the root.

use super::nested_packages::Notation;
use super::{BaseOrder, Dispatch, Generic, Operation, Policy};
use crate::resolve::links::ModuleTarget;
use crate::resolve::modules::{ImportSite, Modules, Registry, Site, join};

pub(super) const PHP: Policy = Policy {
    languages: &["php"],
    prefix: "php",
    register,
    module,
    bare_members: false,
    calls_construct: false,
    constructors: &["__construct"],
    order: BaseOrder::DepthFirst,
    overloads: false,
    dispatch: Dispatch::Abstract,
    packages_visible: true,
    global_functions: true,
    call_member: "__invoke",
    builtin_module: "",
    methods: &[
        ("map", Operation::Map),
        ("each", Operation::ForEach),
        ("filter", Operation::Filter),
        ("reject", Operation::Filter),
        ("first", Operation::Element),
        ("last", Operation::Element),
        ("values", Operation::Same),
        ("push", Operation::Append(0)),
        ("reduce", Operation::Fold),
    ],
    generics: &[
        ("Collection", Generic::Holds),
        ("array", Generic::Holds),
        ("iterable", Generic::Holds),
    ],
    ..Policy::PLAIN
};

const NAMESPACES: Notation = Notation {
    prefix: "php",
    separator: '\\',
};

fn register(registry: &mut Registry<'_>, site: &Site<'_>) {
    NAMESPACES.register(registry, site);
}

fn module(modules: &Modules<'_>, site: &ImportSite<'_>) -> ModuleTarget {
    if site.module.ends_with(".php") || site.module.ends_with(".inc") {
        let directory = site.path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let near = join(directory, site.module).and_then(|path| modules.file(&path));
        return match near.or_else(|| modules.file(site.module)) {
            Some(file) => ModuleTarget::File(file),
            None => ModuleTarget::External(modules.external(site, site.module)),
        };
    }
    NAMESPACES.module(modules, site, |_, _| false)
}
