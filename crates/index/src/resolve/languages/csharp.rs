//! C#: namespaces are dotted names whatever the directory; `using` takes all of one; calls dispatch to overrides.

use super::nested_packages::Notation;
use super::{BaseOrder, Dispatch, Generic, Operation, Policy};
use crate::resolve::links::ModuleTarget;
use crate::resolve::modules::{ImportSite, Modules, Registry, Site};

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
    members_named_as_types: true,
    extensions: true,
    methods: &[
        ("Invoke", Operation::Run),
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

const NAMESPACES: Notation = Notation {
    prefix: "cs",
    separator: '.',
};

fn register(registry: &mut Registry<'_>, site: &Site<'_>) {
    NAMESPACES.register(registry, site);
}

fn module(modules: &Modules<'_>, site: &ImportSite<'_>) -> ModuleTarget {
    // `using static` names a type after the namespaces of the tree; anything else outside of them is external.
    NAMESPACES.module(modules, site, |_, depth| depth > 0)
}
