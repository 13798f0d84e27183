//! Java: packages are dotted names whatever the directory, classes nest as packages do, calls dispatch to overrides.
//!
//! The trick is one word per qualified name: `com.acme.Outer.Inner` is the word of its components in turn, whether a
//! component is a package or a class. Packages are registered here; the linker adds the classes.

use super::{BaseOrder, Dispatch, Generic, Operation, Policy};
use crate::resolve::links::ModuleTarget;
use crate::resolve::modules::{ImportSite, Modules, Registry, Site};
use crate::resolve::words::Word;

pub(super) const JAVA: Policy = Policy {
    languages: &["java"],
    prefix: "java",
    register,
    module,
    bare_members: true,
    calls_construct: false,
    order: BaseOrder::DepthFirst,
    overloads: true,
    exact_arguments: true,
    functions_as_objects: true,
    wrapped_arrays: true,
    dispatch: Dispatch::Overrides,
    packages_visible: true,
    builtin_names: JAVA_LANG,
    builtin_module: "java.lang",
    methods: &[
        ("get", Operation::Get),
        ("getOrDefault", Operation::Get),
        ("getFirst", Operation::Element),
        ("getLast", Operation::Element),
        ("peek", Operation::Element),
        ("poll", Operation::Element),
        ("pop", Operation::Element),
        ("next", Operation::Element),
        ("remove", Operation::Element),
        ("iterator", Operation::Same),
        ("listIterator", Operation::Same),
        ("stream", Operation::Same),
        ("parallelStream", Operation::Same),
        ("values", Operation::Same),
        ("entrySet", Operation::Same),
        ("getValue", Operation::Element),
        ("filter", Operation::Filter),
        ("sorted", Operation::Same),
        ("distinct", Operation::Same),
        ("limit", Operation::Same),
        ("skip", Operation::Same),
        ("toList", Operation::Same),
        ("collect", Operation::Same),
        ("orElse", Operation::Element),
        ("orElseGet", Operation::Element),
        ("orElseThrow", Operation::Element),
        ("findFirst", Operation::Same),
        ("findAny", Operation::Same),
        ("forEach", Operation::ForEach),
        ("ifPresent", Operation::ForEach),
        ("removeIf", Operation::Filter),
        ("anyMatch", Operation::ForEach),
        ("allMatch", Operation::ForEach),
        ("noneMatch", Operation::ForEach),
        ("map", Operation::Map),
        ("flatMap", Operation::Map),
        ("add", Operation::Append(0)),
        ("addFirst", Operation::Append(0)),
        ("addLast", Operation::Append(0)),
        ("push", Operation::Append(0)),
        ("offer", Operation::Append(0)),
        ("put", Operation::Put),
        ("putIfAbsent", Operation::GetOrPut),
        ("set", Operation::Append(1)),
        ("addAll", Operation::Extend),
        ("of", Operation::Append(0)),
        ("asList", Operation::Append(0)),
    ],
    generics: &[
        ("Class", Generic::TypeOf),
        ("Map.Entry", Generic::Holds),
        ("Entry", Generic::Holds),
    ],
    ..Policy::PLAIN
};

fn root() -> Word {
    Word::of("java").then(Word::of(""))
}

/// The word of a dotted name.
fn qualified(dotted: &str) -> Word {
    dotted
        .split('.')
        .filter(|part| !part.is_empty())
        .fold(root(), |word, part| word.then(Word::of(part)))
}

pub(super) fn register(registry: &mut Registry<'_>, site: &Site<'_>) {
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

pub(super) fn module(modules: &Modules<'_>, site: &ImportSite<'_>) -> ModuleTarget {
    let mut container = root();
    for (depth, part) in site.module.split('.').enumerate() {
        let name = Word::of(part);
        let is_package = matches!(modules.child(container, name), Some(ModuleTarget::Package(_)));
        // Past the packages of the tree, only classes of one of them may follow.
        if !is_package && (depth == 0 || !part.starts_with(char::is_uppercase)) {
            return ModuleTarget::External(modules.external(site, site.module));
        }
        container = container.then(name);
    }
    ModuleTarget::Package(container)
}

const JAVA_LANG: &[&str] = &[
    "byte",
    "short",
    "char",
    "int",
    "long",
    "float",
    "double",
    "boolean",
    "Object",
    "String",
    "StringBuilder",
    "StringBuffer",
    "CharSequence",
    "Character",
    "Boolean",
    "Byte",
    "Short",
    "Integer",
    "Long",
    "Float",
    "Double",
    "Number",
    "Void",
    "Math",
    "StrictMath",
    "System",
    "Runtime",
    "Thread",
    "ThreadLocal",
    "ThreadGroup",
    "Runnable",
    "Process",
    "ProcessBuilder",
    "Class",
    "ClassLoader",
    "ClassValue",
    "Module",
    "Package",
    "Record",
    "Enum",
    "Iterable",
    "Comparable",
    "Cloneable",
    "AutoCloseable",
    "Appendable",
    "Readable",
    "Throwable",
    "Exception",
    "Error",
    "RuntimeException",
    "IllegalArgumentException",
    "IllegalStateException",
    "NullPointerException",
    "IndexOutOfBoundsException",
    "ArrayIndexOutOfBoundsException",
    "StringIndexOutOfBoundsException",
    "ClassCastException",
    "ClassNotFoundException",
    "NoClassDefFoundError",
    "UnsupportedOperationException",
    "ArithmeticException",
    "ArrayStoreException",
    "NegativeArraySizeException",
    "NumberFormatException",
    "CloneNotSupportedException",
    "InterruptedException",
    "ReflectiveOperationException",
    "InstantiationException",
    "IllegalAccessException",
    "NoSuchMethodException",
    "NoSuchFieldException",
    "SecurityException",
    "AssertionError",
    "OutOfMemoryError",
    "StackOverflowError",
    "LinkageError",
    "ExceptionInInitializerError",
    "VirtualMachineError",
    "InternalError",
    "StackTraceElement",
    "StackWalker",
    "Override",
    "Deprecated",
    "SuppressWarnings",
    "FunctionalInterface",
    "SafeVarargs",
    "InheritableThreadLocal",
    "IllegalMonitorStateException",
    "IllegalThreadStateException",
    "IncompatibleClassChangeError",
    "NoSuchMethodError",
    "NoSuchFieldError",
    "UnsatisfiedLinkError",
    "VerifyError",
    "EnumConstantNotPresentException",
    "TypeNotPresentException",
    "IllegalCallerException",
    "MatchException",
    "ScopedValue",
];
