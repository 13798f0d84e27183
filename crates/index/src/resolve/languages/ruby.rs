//! Ruby: constants are global whatever the file, classes and modules are reopened anywhere, a bare word may be a member.

use super::{BaseOrder, Dispatch, Operation, Policy};
use crate::resolve::links::ModuleTarget;
use crate::resolve::modules::{ImportSite, Modules, Registry, Site, join};
use crate::resolve::words::Word;

pub(super) const RUBY: Policy = Policy {
    languages: &["ruby"],
    prefix: "rb",
    register,
    module,
    bare_members: true,
    calls_construct: false,
    constructors: &["initialize"],
    order: BaseOrder::DepthFirst,
    overloads: false,
    dispatch: Dispatch::Abstract,
    packages_visible: true,
    methods: &[
        ("call", Operation::Call),
        ("each", Operation::ForEach),
        ("each_with_index", Operation::ForEach),
        ("map", Operation::Map),
        ("collect", Operation::Map),
        ("flat_map", Operation::Map),
        ("select", Operation::Filter),
        ("filter", Operation::Filter),
        ("reject", Operation::Filter),
        ("sort_by", Operation::Filter),
        ("find", Operation::Find),
        ("detect", Operation::Find),
        ("first", Operation::Element),
        ("last", Operation::Element),
        ("pop", Operation::Element),
        ("shift", Operation::Element),
        ("fetch", Operation::Get),
        ("push", Operation::Append(0)),
        ("append", Operation::Append(0)),
        ("concat", Operation::Extend),
        ("to_a", Operation::Same),
        ("compact", Operation::Same),
        ("values", Operation::Same),
        ("tap", Operation::Same),
        ("freeze", Operation::Same),
        ("dup", Operation::Same),
        ("inject", Operation::Fold),
        ("reduce", Operation::Fold),
    ],
    ..Policy::PLAIN
};

fn register(registry: &mut Registry<'_>, site: &Site<'_>) {
    registry.package(site.file, root());
}

fn root() -> Word {
    Word::of("rb").then(Word::of(""))
}

fn module(modules: &Modules<'_>, site: &ImportSite<'_>) -> ModuleTarget {
    if site.module.starts_with(char::is_uppercase) {
        return ModuleTarget::Package(
            site.module
                .split("::")
                .fold(root(), |word, part| word.then(Word::of(part))),
        );
    }
    let directory = site.path.rsplit_once('/').map_or("", |(directory, _)| directory);
    let file = if site.module.starts_with('.') {
        join(directory, site.module).and_then(|path| found(modules, &path))
    } else {
        // `require "shop/cart"` looks below the load path: `lib` by convention.
        let mut root = directory;
        loop {
            let candidate = if root.is_empty() {
                format!("lib/{}", site.module)
            } else {
                format!("{root}/lib/{}", site.module)
            };
            if let Some(file) = found(modules, &candidate) {
                break Some(file);
            }
            match root.rsplit_once('/') {
                Some((shorter, _)) => root = shorter,
                None if !root.is_empty() => root = "",
                None => break found(modules, site.module),
            }
        }
    };
    file.map_or_else(
        || ModuleTarget::External(modules.external(site, site.module)),
        ModuleTarget::File,
    )
}

fn found(modules: &Modules<'_>, path: &str) -> Option<u32> {
    modules.file(&format!("{path}.rb")).or_else(|| modules.file(path))
}
