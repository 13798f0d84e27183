//! C#: namespaces are dotted names whatever the directory; `using` takes all of one; calls dispatch to overrides.

use super::nested_packages::Notation;
use super::{Argument, BaseOrder, Dispatch, Generic, LibraryType, Operation, Policy};
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
    exact_arguments: true,
    wrapped_arrays: true,
    fixed_types: true,
    generic_primitives: true,
    has_alternatives: true,
    library_types: LIBRARY,
    held_types: &[
        ("Key", Argument::First),
        ("Value", Argument::Last),
        ("Result", Argument::Last),
    ],
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

/// The members of the base library that most programs pass on.
const LIBRARY: &[LibraryType] = &[
    gives("ToString", "", "string"),
    gives("Substring", "", "string"),
    gives("ToLower", "string", "string"),
    gives("ToLower", "char", "char"),
    gives("ToLowerInvariant", "string", "string"),
    gives("ToLowerInvariant", "char", "char"),
    gives("ToUpper", "string", "string"),
    gives("ToUpper", "char", "char"),
    gives("ToUpperInvariant", "string", "string"),
    gives("ToUpperInvariant", "char", "char"),
    gives("ReadLine", "", "string"),
    gives("ReadToEnd", "", "string"),
    gives("ReadAllText", "", "string"),
    gives("GetString", "", "string"),
    gives("ToBase64String", "", "string"),
    gives("GetFileName", "", "string"),
    gives("GetFullPath", "", "string"),
    gives("Trim", "string", "string"),
    gives("TrimStart", "string", "string"),
    gives("TrimEnd", "string", "string"),
    gives("Insert", "string", "string"),
    gives("Remove", "string", "string"),
    gives("Replace", "string", "string"),
    gives("PadLeft", "string", "string"),
    gives("PadRight", "string", "string"),
    gives("Normalize", "string", "string"),
    gives("Format", "string", "string"),
    gives("Join", "string", "string"),
    gives("Concat", "string", "string"),
    gives("FromBase64String", "", "byte[]"),
    gives("ReadAllBytes", "", "byte[]"),
    gives("GetBytes", "", "byte[]"),
    gives("ToCharArray", "", "char[]"),
    gives("ReadAllLines", "", "string[]"),
    gives("Split", "string", "string[]"),
    gives("IsNullOrEmpty", "string", "bool"),
    gives("IsNullOrWhiteSpace", "string", "bool"),
    gives("StartsWith", "string", "bool"),
    gives("EndsWith", "string", "bool"),
    gives("Contains", "string", "bool"),
    gives("Equals", "", "bool"),
    gives("ContainsKey", "", "bool"),
    gives("TryGetValue", "", "bool"),
    gives("TryParse", "", "bool"),
    gives("IndexOf", "string", "int"),
    gives("LastIndexOf", "string", "int"),
    gives("Compare", "string", "int"),
    gives("CompareOrdinal", "string", "int"),
    gives("GetHashCode", "", "int"),
    gives("CompareTo", "", "int"),
    LibraryType {
        name: "Length",
        of: "",
        is_called: false,
        gives: "int",
    },
    LibraryType {
        name: "HasValue",
        of: "",
        is_called: false,
        gives: "bool",
    },
];

const fn gives(name: &'static str, of: &'static str, gives: &'static str) -> LibraryType {
    LibraryType {
        name,
        of,
        is_called: true,
        gives,
    }
}

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
