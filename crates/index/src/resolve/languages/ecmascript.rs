//! JavaScript and TypeScript: modules are files named by relative paths, packages or path aliases; functions can be
//! classes; `this` is whatever the call says.

use super::{Builtin, Callbacks, Generic, Operation, Policy};
use crate::resolve::links::ModuleTarget;
use crate::resolve::modules::{ImportSite, Modules, join};

pub(super) const ECMASCRIPT: Policy = Policy {
    languages: &["javascript", "typescript", "tsx", "jsx", "vue", "svelte"],
    prefix: "npm",
    module,
    bare_members: false,
    calls_construct: false,
    constructors: &["constructor"],
    hoists: true,
    overloads: false,
    builtin_names: BUILTIN_NAMES,
    builtin_module: "globals",
    builtins: &[
        ("setTimeout", Builtin::Calls(2)),
        ("setInterval", Builtin::Calls(2)),
        ("setImmediate", Builtin::Calls(1)),
        ("process.nextTick", Builtin::Calls(1)),
        ("JSON.parse", Builtin::Invokes),
        ("queueMicrotask", Builtin::Invokes),
        ("requestAnimationFrame", Builtin::Invokes),
        ("Promise", Builtin::Settles),
        ("Promise.resolve", Builtin::Same(0)),
        ("Promise.all", Builtin::Same(0)),
        ("Promise.race", Builtin::Element(0)),
        ("Promise.any", Builtin::Element(0)),
        ("Map", Builtin::FromPairs),
        ("WeakMap", Builtin::FromPairs),
        ("Set", Builtin::Container),
        ("WeakSet", Builtin::Container),
        ("Array", Builtin::Container),
        ("Array.of", Builtin::Container),
        ("Array.from", Builtin::Copies),
        ("Object.values", Builtin::Same(0)),
        ("Object.entries", Builtin::Enumerate),
        ("Object.fromEntries", Builtin::FromPairs),
        ("Object.freeze", Builtin::Same(0)),
        ("Object.seal", Builtin::Same(0)),
        ("Reflect.apply", Builtin::Applies),
        ("Reflect.construct", Builtin::Applies),
        ("structuredClone", Builtin::Same(0)),
    ],
    methods: &[
        ("push", Operation::Append(0)),
        ("unshift", Operation::Insert(0)),
        ("add", Operation::Append(0)),
        ("concat", Operation::Concat),
        ("slice", Operation::Same),
        ("reverse", Operation::Same),
        ("values", Operation::Same),
        ("entries", Operation::Pairs),
        ("set", Operation::Put),
        ("get", Operation::Get),
        ("at", Operation::Element),
        ("pop", Operation::Element),
        ("shift", Operation::Element),
        ("next", Operation::Step),
        ("replace", Operation::ForEach),
        ("replaceAll", Operation::ForEach),
        ("forEach", Operation::ForEach),
        ("map", Operation::Map),
        ("flatMap", Operation::Map),
        ("filter", Operation::Filter),
        ("sort", Operation::Filter),
        ("some", Operation::ForEach),
        ("every", Operation::ForEach),
        ("find", Operation::Find),
        ("findLast", Operation::Find),
        ("findIndex", Operation::ForEach),
        ("reduce", Operation::Fold),
        ("reduceRight", Operation::Fold),
        ("then", Operation::Then),
        ("catch", Operation::Then),
        ("finally", Operation::Then),
        ("call", Operation::Call),
        ("apply", Operation::Apply),
        ("bind", Operation::Bind),
    ],
    generics: &[
        ("Promise", Generic::Holds),
        ("Readonly", Generic::First),
        ("Partial", Generic::First),
        ("Required", Generic::First),
        ("NonNullable", Generic::First),
        ("Awaited", Generic::First),
        ("InstanceType", Generic::First),
    ],
    iterate_members: ("Symbol.iterator", "next"),
    class_member: "constructor",
    transparent_elements: true,
    runs_decorators: true,
    own_exports: "exports",
    types_lambdas: true,
    libraries_call: Callbacks::Lambdas,
    calls_variables: &["typescript", "tsx"],
    ..Policy::PLAIN
};

/// What a module's name can lack, in the order that bundlers and TypeScript try.
const ENDINGS: &[&str] = &[
    ".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte",
];

/// The same for a module that only runs: what is called is the code, not its declaration beside it.
const RUNNING_ENDINGS: &[&str] = &[
    ".js", ".jsx", ".mjs", ".cjs", ".ts", ".tsx", ".mts", ".cts", ".vue", ".svelte", ".d.ts",
];

fn module(modules: &Modules<'_>, site: &ImportSite<'_>) -> ModuleTarget {
    // What a bundler is told follows the name; a `#` at the beginning belongs to it.
    let end = site.module.char_indices().skip(1).find(|(_, c)| matches!(c, '?' | '#'));
    let name = &site.module[..end.map_or(site.module.len(), |(at, _)| at)];
    let runs = [".js", ".jsx", ".mjs", ".cjs"]
        .iter()
        .any(|end| site.path.ends_with(end));
    let endings = if runs { RUNNING_ENDINGS } else { ENDINGS };
    let packages = modules.packages.npm_packages();
    if name.starts_with('.') {
        let directory = site.path.rsplit_once('/').map_or("", |(directory, _)| directory);
        let found = join(directory, name).and_then(|path| {
            let entries = || {
                let package = packages.iter().find(|package| package.directory == path)?;
                first(modules, package.entries(), endings)
            };
            file_at(modules, &path, endings)
                .or_else(entries)
                .or_else(|| index_at(modules, &path, endings))
        });
        return found.map_or(ModuleTarget::Nothing, ModuleTarget::File);
    }
    let aliased = modules
        .packages
        .path_aliases(site.path)
        .flat_map(|aliases| aliases.places(name));
    let packaged = packages.iter().filter_map(|package| package.places(name)).flatten();
    match first(modules, aliased.chain(packaged), endings) {
        Some(file) => ModuleTarget::File(file),
        None => ModuleTarget::External(modules.external(site, name.strip_prefix("node:").unwrap_or(name))),
    }
}

/// The first of some places at which there is a module. For code that only runs, a declaration comes after all the others.
fn first(modules: &Modules<'_>, places: impl Iterator<Item = String>, endings: &[&str]) -> Option<u32> {
    let runs = endings == RUNNING_ENDINGS;
    let (declarations, places): (Vec<String>, Vec<String>) = places.partition(|place| runs && place.ends_with(".d.ts"));
    let mut places = places.iter().chain(&declarations);
    places.find_map(|place| file_at(modules, place, endings).or_else(|| index_at(modules, place, endings)))
}

/// What importing a directory gives when no manifest says it.
fn index_at(modules: &Modules<'_>, directory: &str, endings: &[&str]) -> Option<u32> {
    let index = join(directory, "index")?;
    endings
        .iter()
        .find_map(|ending| modules.file(&format!("{index}{ending}")))
}

/// The file that `path`, perhaps without extension, stands for.
fn file_at(modules: &Modules<'_>, path: &str, endings: &[&str]) -> Option<u32> {
    let named = || {
        endings
            .iter()
            .find_map(|ending| modules.file(&format!("{path}{ending}")))
    };
    // TypeScript sources import the name of the file that they will become.
    let compiled = || {
        let sources = [
            (".js", ".ts"),
            (".js", ".tsx"),
            (".jsx", ".tsx"),
            (".mjs", ".mts"),
            (".cjs", ".cts"),
        ];
        let mut sources = sources.into_iter();
        sources.find_map(|(compiled, source)| modules.file(&format!("{}{source}", path.strip_suffix(compiled)?)))
    };
    modules.file(path).or_else(named).or_else(compiled)
}

const BUILTIN_NAMES: &[&str] = &[
    "Array",
    "ArrayBuffer",
    "Boolean",
    "Buffer",
    "Date",
    "Error",
    "EvalError",
    "Function",
    "Infinity",
    "Intl",
    "JSON",
    "Map",
    "Math",
    "NaN",
    "Number",
    "Object",
    "Promise",
    "Proxy",
    "RangeError",
    "ReferenceError",
    "Reflect",
    "RegExp",
    "Set",
    "String",
    "Symbol",
    "SyntaxError",
    "TypeError",
    "URIError",
    "WeakMap",
    "WeakSet",
    "WeakRef",
    "URL",
    "URLSearchParams",
    "alert",
    "atob",
    "btoa",
    "clearInterval",
    "clearTimeout",
    "confirm",
    "console",
    "decodeURI",
    "decodeURIComponent",
    "document",
    "encodeURI",
    "encodeURIComponent",
    "escape",
    "eval",
    "fetch",
    "global",
    "globalThis",
    "isFinite",
    "isNaN",
    "localStorage",
    "location",
    "navigator",
    "parseFloat",
    "parseInt",
    "process",
    "prompt",
    "queueMicrotask",
    "require",
    "requestAnimationFrame",
    "sessionStorage",
    "setImmediate",
    "setInterval",
    "setTimeout",
    "structuredClone",
    "undefined",
    "unescape",
    "window",
    "XMLHttpRequest",
    "AbortController",
    "Event",
    "EventTarget",
    "FormData",
    "Headers",
    "Request",
    "Response",
    "TextDecoder",
    "TextEncoder",
    "Uint8Array",
    "BigInt",
    "DataView",
    "Float32Array",
    "Float64Array",
];
