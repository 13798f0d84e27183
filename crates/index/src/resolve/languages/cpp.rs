//! C++: C's linkage, with namespaces that any file may add to, overloads, and members defined outside of their class.

use super::c;
use super::{Dispatch, Generic, Operation, Policy};
use crate::resolve::links::ModuleTarget;
use crate::resolve::modules::{ImportSite, Modules};
use crate::resolve::words::Word;

pub(super) const CPP: Policy = Policy {
    languages: &["cpp"],
    prefix: "cpp",
    register: c::register,
    module,
    bare_members: true,
    calls_construct: true,
    overloads: true,
    exact_arguments: false,
    converts_arguments: true,
    dispatch: Dispatch::Overrides,
    links_by_name: true,
    has_alternatives: true,
    packages_visible: true,
    walking_types: &[
        "iterator",
        "const_iterator",
        "reverse_iterator",
        "const_reverse_iterator",
    ],
    call_member: "operator()",
    index_member: "operator[]",
    methods: &[
        ("get", Operation::Same),
        ("lock", Operation::Same),
        ("value", Operation::Same),
        ("begin", Operation::Same),
        ("end", Operation::Same),
        ("find", Operation::Same),
        ("data", Operation::Same),
        ("at", Operation::Get),
        ("front", Operation::Element),
        ("back", Operation::Element),
        ("top", Operation::Element),
        ("push_back", Operation::Append(0)),
        ("emplace_back", Operation::Append(0)),
        ("push", Operation::Append(0)),
        ("insert", Operation::Insert(0)),
    ],
    generics: &[
        ("()", Generic::Tuple),
        ("tuple", Generic::Tuple),
        ("pair", Generic::Tuple),
        ("unique_ptr", Generic::First),
        ("shared_ptr", Generic::First),
        ("weak_ptr", Generic::First),
        ("optional", Generic::First),
        ("atomic", Generic::First),
        ("reference_wrapper", Generic::First),
        ("vector", Generic::HoldsFirst),
        ("deque", Generic::HoldsFirst),
        ("list", Generic::HoldsFirst),
        ("set", Generic::HoldsFirst),
        ("unordered_set", Generic::HoldsFirst),
        ("array", Generic::HoldsFirst),
        ("span", Generic::HoldsFirst),
        ("stack", Generic::HoldsFirst),
        ("queue", Generic::HoldsFirst),
    ],
    ..Policy::PLAIN
};

fn module(modules: &Modules<'_>, site: &ImportSite<'_>) -> ModuleTarget {
    // Extraction marks what names a namespace and not a file.
    let names_namespace = site.level == 2 || !site.module.contains(['.', '/']);
    if !names_namespace || (site.level < 2 && site.module.contains('/')) {
        return c::module(modules, site);
    }
    let first = site.module.split("::").next().unwrap_or("");
    if first == "std" || site.level == 0 {
        let name = site.module;
        return ModuleTarget::External(modules.external(site, name));
    }
    if site.level == 1 {
        return c::module(modules, site);
    }
    ModuleTarget::Package(
        site.module
            .split("::")
            .fold(c::program(), |word, part| word.then(Word::of(part))),
    )
}
