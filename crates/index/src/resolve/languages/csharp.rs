//! C#: namespaces are dotted names whatever the directory; `using` takes all of one; calls dispatch to overrides.

use super::{BaseOrder, Dispatch, Generic, Operation, Policy};
use crate::resolve::links::ModuleTarget;
use crate::resolve::modules::{ImportSite, Modules, Registry, Site};
use crate::resolve::words::Word;

pub(super) const CSHARP: Policy = Policy {
    languages: &["csharp"],
    calls_variables: &["csharp"],
    prefix: "cs",
    register,
    module,
    bare_members: true,
    calls_construct: false,
    order: BaseOrder::DepthFirst,
    overloads: true,
    dispatch: Dispatch::Overrides,
    packages_visible: true,
    methods: &[
        ("Invoke", Operation::Call),
        ("Add", Operation::Append(0)),
        ("Insert", Operation::Append(1)),
        ("Push", Operation::Append(0)),
        ("Enqueue", Operation::Append(0)),
        ("AddRange", Operation::Extend),
        ("TryGetValue", Operation::Get),
        ("First", Operation::Element),
        ("FirstOrDefault", Operation::Element),
        ("Single", Operation::Element),
        ("SingleOrDefault", Operation::Element),
        ("Last", Operation::Element),
        ("LastOrDefault", Operation::Element),
        ("Pop", Operation::Element),
        ("Peek", Operation::Element),
        ("Dequeue", Operation::Element),
        ("Where", Operation::Filter),
        ("OrderBy", Operation::Filter),
        ("OrderByDescending", Operation::Filter),
        ("ThenBy", Operation::Filter),
        ("TakeWhile", Operation::Filter),
        ("SkipWhile", Operation::Filter),
        ("Any", Operation::ForEach),
        ("All", Operation::ForEach),
        ("Count", Operation::ForEach),
        ("Sum", Operation::ForEach),
        ("ForEach", Operation::ForEach),
        ("Select", Operation::Map),
        ("SelectMany", Operation::Map),
        ("ConvertAll", Operation::Map),
        ("Find", Operation::Find),
        ("Aggregate", Operation::Fold),
        ("ContinueWith", Operation::Then),
        ("ToList", Operation::Same),
        ("ToArray", Operation::Same),
        ("AsEnumerable", Operation::Same),
        ("AsQueryable", Operation::Same),
        ("Distinct", Operation::Same),
        ("Take", Operation::Same),
        ("Skip", Operation::Same),
        ("Reverse", Operation::Same),
        ("ConfigureAwait", Operation::Same),
        ("Values", Operation::Same),
    ],
    generics: &[
        ("Task", Generic::Holds),
        ("ValueTask", Generic::Holds),
        ("Lazy", Generic::Holds),
        ("Func", Generic::Callable),
    ],
    ..Policy::PLAIN
};

fn root() -> Word {
    Word::of("cs").then(Word::of(""))
}

fn qualified(dotted: &str) -> Word {
    dotted
        .split('.')
        .filter(|part| !part.is_empty())
        .fold(root(), |word, part| word.then(Word::of(part)))
}

fn register(registry: &mut Registry<'_>, site: &Site<'_>) {
    let dotted = site.package.unwrap_or("");
    registry.package(site.file, qualified(dotted));
    let mut container = root();
    for part in dotted.split('.').filter(|part| !part.is_empty()) {
        let name = Word::of(part);
        let inner = container.then(name);
        registry.submodule(container, name, ModuleTarget::Package(inner));
        container = inner;
    }
}

fn module(modules: &Modules<'_>, site: &ImportSite<'_>) -> ModuleTarget {
    let mut container = root();
    for (depth, part) in site.module.split('.').filter(|part| !part.is_empty()).enumerate() {
        let name = Word::of(part);
        let is_package = matches!(modules.child(container, name), Some(ModuleTarget::Package(_)));
        // `using static` names a type after the namespaces of the tree; anything else outside of them is external.
        if !is_package && depth == 0 {
            return ModuleTarget::External(modules.external(site, site.module));
        }
        container = container.then(name);
    }
    ModuleTarget::Package(container)
}
