//! PHP: namespaces are qualified names whatever the directory; classes are found by their namespace, members by their class.
//!
//! As in Java, one word per qualified name; the separator is `\` and a file without a namespace is in the root.

use super::{BaseOrder, Dispatch, Generic, Operation, Policy};
use crate::resolve::links::ModuleTarget;
use crate::resolve::modules::{ImportSite, Modules, Registry, Site, join};
use crate::resolve::words::Word;

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

fn root() -> Word {
    Word::of("php").then(Word::of(""))
}

fn qualified(name: &str) -> Word {
    name.split('\\')
        .filter(|part| !part.is_empty())
        .fold(root(), |word, part| word.then(Word::of(part)))
}

fn register(registry: &mut Registry<'_>, site: &Site<'_>) {
    let namespace = site.package.unwrap_or("");
    registry.package(site.file, qualified(namespace));
    let mut container = root();
    for part in namespace.split('\\').filter(|part| !part.is_empty()) {
        let name = Word::of(part);
        let inner = container.then(name);
        registry.submodule(container, name, ModuleTarget::Package(inner));
        container = inner;
    }
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
    let mut container = root();
    for part in site.module.split('\\').filter(|part| !part.is_empty()) {
        let name = Word::of(part);
        if !matches!(modules.child(container, name), Some(ModuleTarget::Package(_))) {
            return ModuleTarget::External(modules.external(site, site.module));
        }
        container = container.then(name);
    }
    ModuleTarget::Package(container)
}
