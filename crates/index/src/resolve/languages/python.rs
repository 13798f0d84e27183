//! Python: modules are files below any directory on the path, classes are called, bases linearise by C3.
//!
//! The trick is the path: an absolute import is looked up from every directory above the importing file that is not
//! itself inside a package, nearest first, which is what running or testing from there puts on `sys.path`.

use super::{BaseOrder, Builtin, Dispatch, Generic, Operation, Policy};
use crate::resolve::links::ModuleTarget;
use crate::resolve::modules::{ImportSite, Modules, Registry, Site};
use crate::resolve::words::Word;

pub(super) const PYTHON: Policy = Policy {
    languages: &["python"],
    prefix: "py",
    register,
    module,
    bare_members: false,
    calls_construct: true,
    constructors: &["__init__", "__new__"],
    order: BaseOrder::C3,
    hoists: false,
    overloads: false,
    dispatch: Dispatch::Abstract,
    builtin_names: BUILTIN_NAMES,
    builtin_module: "builtins",
    builtins: &[
        ("super", Builtin::Super),
        ("map", Builtin::Map(0)),
        ("filter", Builtin::Filter(0)),
        ("sorted", Builtin::Keyed("key")),
        ("min", Builtin::Keyed("key")),
        ("max", Builtin::Keyed("key")),
        ("list", Builtin::Container),
        ("tuple", Builtin::Container),
        ("set", Builtin::Container),
        ("frozenset", Builtin::Container),
        ("iter", Builtin::Same(0)),
        ("reversed", Builtin::Same(0)),
        ("next", Builtin::Element(0)),
        ("enumerate", Builtin::Enumerate),
        ("zip", Builtin::Zip),
        ("dict", Builtin::Mapping),
        ("collections::OrderedDict", Builtin::Mapping),
        ("collections::defaultdict", Builtin::Defaults),
        ("collections::deque", Builtin::Container),
        ("type", Builtin::TypeOf),
        ("getattr", Builtin::GetMember),
        ("setattr", Builtin::SetMember),
        ("classmethod", Builtin::Same(0)),
        ("staticmethod", Builtin::Same(0)),
        ("functools::partial", Builtin::Partial),
        ("functools::reduce", Builtin::Filter(0)),
        ("functools::lru_cache", Builtin::Same(0)),
        ("functools::cache", Builtin::Same(0)),
        ("functools::wraps", Builtin::Same(1)),
        ("functools::update_wrapper", Builtin::Same(0)),
        ("copy::copy", Builtin::Same(0)),
        ("copy::deepcopy", Builtin::Same(0)),
        ("typing::cast", Builtin::Same(1)),
        ("itertools::chain", Builtin::Same(0)),
        ("threading::Thread", Builtin::Invokes),
        ("asyncio::run", Builtin::Same(0)),
        ("asyncio::create_task", Builtin::Same(0)),
        ("atexit::register", Builtin::Same(0)),
    ],
    protocols: &["typing::Protocol", "typing_extensions::Protocol"],
    runs: &[
        ("threading::Thread", "start", "run"),
        ("multiprocessing::Process", "start", "run"),
    ],
    methods: &[
        ("append", Operation::Append(0)),
        ("add", Operation::Append(0)),
        ("appendleft", Operation::Insert(0)),
        ("insert", Operation::Insert(1)),
        ("extend", Operation::Extend),
        ("update", Operation::Extend),
        ("get", Operation::Get),
        ("setdefault", Operation::GetOrPut),
        ("pop", Operation::Get),
        ("popleft", Operation::Element),
        ("popitem", Operation::Pairs),
        ("__getitem__", Operation::Get),
        ("__setitem__", Operation::Put),
        ("__next__", Operation::Element),
        ("items", Operation::Pairs),
        ("values", Operation::Same),
        ("copy", Operation::Same),
        ("__iter__", Operation::Same),
        ("union", Operation::Same),
        ("send", Operation::Element),
        ("sort", Operation::Sort),
    ],
    generics: &[
        ("Optional", Generic::Any),
        ("Union", Generic::Any),
        ("Annotated", Generic::First),
        ("ClassVar", Generic::First),
        ("Final", Generic::First),
        ("Required", Generic::First),
        ("NotRequired", Generic::First),
        ("Awaitable", Generic::First),
        ("Type", Generic::TypeOf),
        ("type", Generic::TypeOf),
        ("Callable", Generic::Callable),
        ("Tuple", Generic::Tuple),
        ("tuple", Generic::Tuple),
        ("Coroutine", Generic::Any),
        ("Generator", Generic::First),
        ("Iterator", Generic::Holds),
        ("Literal", Generic::First),
    ],
    call_member: "__call__",
    enter_member: "__enter__",
    iterate_members: ("__iter__", "__next__"),
    index_member: "__getitem__",
    class_member: "__class__",
    transparent_elements: false,
    runs_decorators: true,
    calls_made_variables: true,
    ..Policy::PLAIN
};

fn register(registry: &mut Registry<'_>, site: &Site<'_>) {
    let Some(stem) = site.path.strip_suffix(".py").or_else(|| site.path.strip_suffix(".pyi")) else {
        return;
    };
    let (directory, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    let holder = registry.directory(directory);
    if name == "__init__" {
        registry.container(site.file, holder);
        registry.submodule(holder, Word(0), ModuleTarget::File(site.file));
    } else {
        registry.submodule(holder, Word::of(name), ModuleTarget::File(site.file));
    }
    let mut inner = directory;
    while !inner.is_empty() {
        let (outer, last) = inner.rsplit_once('/').unwrap_or(("", inner));
        let target = if name == "__init__" && inner == directory {
            ModuleTarget::File(site.file)
        } else {
            ModuleTarget::Package(registry.directory(inner))
        };
        registry.submodule(registry.directory(outer), Word::of(last), target);
        inner = outer;
    }
}

fn module(modules: &Modules<'_>, site: &ImportSite<'_>) -> ModuleTarget {
    let mut directory = site.path.rsplit_once('/').map_or("", |(directory, _)| directory);
    if site.level > 0 {
        for _ in 1..site.level {
            directory = directory.rsplit_once('/').map_or("", |(outer, _)| outer);
        }
        let holder = modules.directory(site, directory);
        if site.module.is_empty() {
            let package = modules.child(holder, Word(0));
            return package.unwrap_or(ModuleTarget::Package(holder));
        }
        return descend(modules, holder, site.module).unwrap_or(ModuleTarget::Nothing);
    }
    loop {
        let holder = modules.directory(site, directory);
        let in_package = modules.child(holder, Word(0)).is_some();
        if !in_package && let Some(found) = descend(modules, holder, site.module) {
            return found;
        }
        if directory.is_empty() {
            break;
        }
        directory = directory.rsplit_once('/').map_or("", |(outer, _)| outer);
    }
    for root in modules.packages.python_roots() {
        if let Some(found) = descend(modules, modules.directory(site, root), site.module) {
            return found;
        }
    }
    ModuleTarget::External(modules.external(site, site.module))
}

fn descend(modules: &Modules<'_>, holder: Word, dotted: &str) -> Option<ModuleTarget> {
    let mut holder = holder;
    let mut found = None;
    for component in dotted.split('.') {
        let target = modules.child(holder, Word::of(component))?;
        holder = match target {
            ModuleTarget::File(file) => modules.container_of(file).unwrap_or(Word(u64::MAX)),
            ModuleTarget::Package(package) => package,
            _ => return None,
        };
        found = Some(target);
    }
    // A directory without files of its own on the way is a namespace package; ending in one is not worth a match.
    match found {
        Some(ModuleTarget::Package(_)) if !dotted.contains('.') && !modules.has_children(holder) => None,
        found => found,
    }
}

const BUILTIN_NAMES: &[&str] = &[
    "abs",
    "aiter",
    "all",
    "anext",
    "any",
    "ascii",
    "bin",
    "bool",
    "breakpoint",
    "bytearray",
    "bytes",
    "callable",
    "chr",
    "classmethod",
    "compile",
    "complex",
    "delattr",
    "dict",
    "dir",
    "divmod",
    "enumerate",
    "eval",
    "exec",
    "filter",
    "float",
    "format",
    "frozenset",
    "getattr",
    "globals",
    "hasattr",
    "hash",
    "help",
    "hex",
    "id",
    "input",
    "int",
    "isinstance",
    "issubclass",
    "iter",
    "len",
    "list",
    "locals",
    "map",
    "max",
    "memoryview",
    "min",
    "next",
    "object",
    "oct",
    "open",
    "ord",
    "pow",
    "print",
    "property",
    "range",
    "repr",
    "reversed",
    "round",
    "set",
    "setattr",
    "slice",
    "sorted",
    "staticmethod",
    "str",
    "sum",
    "super",
    "tuple",
    "type",
    "vars",
    "zip",
    "__import__",
    "Exception",
    "BaseException",
    "ValueError",
    "TypeError",
    "KeyError",
    "IndexError",
    "AttributeError",
    "RuntimeError",
    "NotImplementedError",
    "NotImplemented",
    "StopIteration",
    "StopAsyncIteration",
    "OSError",
    "IOError",
    "ImportError",
    "ModuleNotFoundError",
    "AssertionError",
    "ArithmeticError",
    "ZeroDivisionError",
    "OverflowError",
    "LookupError",
    "NameError",
    "UnicodeError",
    "UnicodeDecodeError",
    "UnicodeEncodeError",
    "FileNotFoundError",
    "FileExistsError",
    "PermissionError",
    "TimeoutError",
    "ConnectionError",
    "BrokenPipeError",
    "EOFError",
    "MemoryError",
    "RecursionError",
    "SystemError",
    "SystemExit",
    "KeyboardInterrupt",
    "GeneratorExit",
    "Warning",
    "DeprecationWarning",
    "PendingDeprecationWarning",
    "RuntimeWarning",
    "UserWarning",
    "FutureWarning",
    "ResourceWarning",
    "SyntaxWarning",
    "ImportWarning",
    "UnicodeWarning",
    "BytesWarning",
    "SyntaxError",
    "IndentationError",
    "TabError",
    "FloatingPointError",
    "NotADirectoryError",
    "IsADirectoryError",
    "InterruptedError",
    "ProcessLookupError",
    "ChildProcessError",
    "BlockingIOError",
    "ConnectionAbortedError",
    "ConnectionRefusedError",
    "ConnectionResetError",
    "UnboundLocalError",
    "ReferenceError",
    "BufferError",
    "EnvironmentError",
    "ExceptionGroup",
    "BaseExceptionGroup",
    "Ellipsis",
];
