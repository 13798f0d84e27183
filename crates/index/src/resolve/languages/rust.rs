//! Rust: modules are files and blocks below a crate's root, members come from `impl` blocks and traits, calls of a trait's
//! methods reach its implementations.
//!
//! A module is named by the directory its children would be in: `src/a.rs` and `src/a/mod.rs` are both `src/a`. Extraction
//! tells every path from the file's own module, so `self` and `super` are directories here.

use super::{Builtin, Callbacks, Dispatch, Generic, Operation, Policy};
use crate::resolve::links::ModuleTarget;
use crate::resolve::modules::{ImportSite, Modules, Registry, Site, join};
use crate::resolve::words::Word;

pub(super) const RUST: Policy = Policy {
    languages: &["rust"],
    prefix: "rust",
    register,
    module,
    bare_members: false,
    calls_construct: true,
    overloads: true,
    dispatch: Dispatch::Overrides,
    packages_visible: true,
    builtin_names: PRELUDE,
    builtin_module: "std",
    builtins: &[
        ("Some", Builtin::Same(0)),
        ("Ok", Builtin::Same(0)),
        ("Box.new", Builtin::Same(0)),
        ("Box.pin", Builtin::Same(0)),
        ("std::boxed.Box.new", Builtin::Same(0)),
        ("Vec.new", Builtin::Container),
        ("Vec.with_capacity", Builtin::Container),
        ("std::collections.HashMap.new", Builtin::Container),
        ("std::collections.BTreeMap.new", Builtin::Container),
        ("std::collections.VecDeque.new", Builtin::Container),
        ("std::rc.Rc.new", Builtin::Same(0)),
        ("std::rc.Rc.clone", Builtin::Same(0)),
        ("std::sync.Arc.new", Builtin::Same(0)),
        ("std::sync.Arc.clone", Builtin::Same(0)),
        ("std::sync.Mutex.new", Builtin::Same(0)),
        ("std::sync.RwLock.new", Builtin::Same(0)),
        ("std::cell.RefCell.new", Builtin::Same(0)),
        ("std::cell.Cell.new", Builtin::Same(0)),
        ("std::pin.Pin.new", Builtin::Same(0)),
        ("std::mem.take", Builtin::Same(0)),
        ("std::mem.replace", Builtin::Same(0)),
        ("std::thread.spawn", Builtin::Invokes),
    ],
    methods: &[
        ("default", Operation::Instance),
        ("unwrap", Operation::Element),
        ("expect", Operation::Element),
        ("unwrap_or", Operation::Element),
        ("unwrap_or_else", Operation::Else),
        ("unwrap_or_default", Operation::Element),
        ("borrow", Operation::Element),
        ("borrow_mut", Operation::Element),
        ("get_or_insert_with", Operation::Else),
        ("or_insert_with", Operation::Else),
        ("map_or", Operation::Then),
        ("map_or_else", Operation::Then),
        ("is_some_and", Operation::ForEach),
        ("is_ok_and", Operation::ForEach),
        ("sort_by", Operation::Or),
        ("sort_by_key", Operation::Or),
        ("max_by_key", Operation::Or),
        ("min_by_key", Operation::Or),
        ("zip", Operation::Zip),
        ("remove", Operation::Element),
        ("clone", Operation::Same),
        ("cloned", Operation::Same),
        ("copied", Operation::Same),
        ("to_owned", Operation::Same),
        ("as_ref", Operation::Same),
        ("as_mut", Operation::Same),
        ("as_deref", Operation::Same),
        ("as_deref_mut", Operation::Same),
        ("by_ref", Operation::Same),
        ("lock", Operation::Same),
        ("read", Operation::Same),
        ("write", Operation::Same),
        ("load", Operation::Same),
        ("iter", Operation::Same),
        ("iter_mut", Operation::Same),
        ("into_iter", Operation::Same),
        ("drain", Operation::Same),
        ("values", Operation::Same),
        ("values_mut", Operation::Same),
        ("into_values", Operation::Same),
        ("next", Operation::Same),
        ("next_back", Operation::Same),
        ("peek", Operation::Same),
        ("first", Operation::Same),
        ("last", Operation::Same),
        ("first_mut", Operation::Same),
        ("last_mut", Operation::Same),
        ("get", Operation::Same),
        ("get_mut", Operation::Same),
        ("pop", Operation::Same),
        ("pop_front", Operation::Same),
        ("pop_back", Operation::Same),
        ("take", Operation::Same),
        ("skip", Operation::Same),
        ("rev", Operation::Same),
        ("chain", Operation::Same),
        ("collect", Operation::Same),
        ("ok", Operation::Same),
        ("ok_or", Operation::Same),
        ("ok_or_else", Operation::Or),
        ("map_err", Operation::Or),
        ("or_else", Operation::Or),
        ("as_slice", Operation::Same),
        ("filter", Operation::Filter),
        ("find", Operation::Filter),
        ("skip_while", Operation::Filter),
        ("take_while", Operation::Filter),
        ("retain", Operation::Filter),
        ("map", Operation::Map),
        ("for_each", Operation::ForEach),
        ("any", Operation::ForEach),
        ("all", Operation::ForEach),
        ("position", Operation::ForEach),
        ("and_then", Operation::Then),
        ("flat_map", Operation::Then),
        ("filter_map", Operation::Then),
        ("enumerate", Operation::Pairs),
        ("push", Operation::Append(0)),
        ("push_back", Operation::Append(0)),
        ("push_front", Operation::Insert(0)),
        ("insert", Operation::Insert(1)),
        ("extend", Operation::Extend),
    ],
    generics: &[
        ("()", Generic::Tuple),
        ("Box", Generic::First),
        ("Rc", Generic::First),
        ("Arc", Generic::First),
        ("Cow", Generic::First),
        ("Pin", Generic::First),
        ("Ref", Generic::First),
        ("RefMut", Generic::First),
        ("MutexGuard", Generic::First),
        ("RwLockReadGuard", Generic::First),
        ("RwLockWriteGuard", Generic::First),
        ("ManuallyDrop", Generic::First),
        ("LazyLock", Generic::First),
        ("LazyCell", Generic::First),
        ("Lazy", Generic::First),
        ("PhantomData", Generic::First),
        ("Result", Generic::HoldsFirst),
        ("IoResult", Generic::HoldsFirst),
    ],
    index_member: "index",
    deref_member: "deref",
    libraries_call: Callbacks::Lambdas,
    unit_values: true,
    ..Policy::PLAIN
};

/// Directories whose files are programs of their own beside a crate.
const PROGRAMS: &[&str] = &["tests", "benches", "examples", "bin"];

/// How many modules written in place may stand between two files of a path.
const MAX_INLINE: usize = 3;

/// The word of a module, by the directory of its children.
fn word(directory: &str) -> Word {
    let root = Word::of("rust").then(Word::of(""));
    directory
        .split('/')
        .filter(|part| !part.is_empty())
        .fold(root, |word, part| word.then(Word::of(part)))
}

/// The directory that a path's last component stands in, and that component.
fn split(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}

/// Where the children of the module at `path` would be.
fn children_of(path: &str) -> String {
    let (directory, file) = split(path);
    let stem = file.strip_suffix(".rs").unwrap_or(file);
    let is_program = PROGRAMS.contains(&split(directory).1);
    if matches!(stem, "lib" | "main" | "mod" | "build") || is_program {
        directory.to_string()
    } else {
        under(directory, stem)
    }
}

/// The word that the macros seen in a module are filed under.
fn macros_in(directory: &str) -> Word {
    word(directory).then(Word::of("!"))
}

/// A module and those around it, by their directories, innermost first.
fn modules_around(directory: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(Some(directory), |inner| (!inner.is_empty()).then(|| split(inner).0))
}

fn under(directory: &str, name: &str) -> String {
    if directory.is_empty() {
        name.to_string()
    } else {
        format!("{directory}/{name}")
    }
}

fn register(registry: &mut Registry<'_>, site: &Site<'_>) {
    let (directory, file) = split(site.path);
    let Some(stem) = file.strip_suffix(".rs") else {
        return;
    };
    let own = children_of(site.path);
    registry.container(site.file, word(&own));
    // A macro is seen below its module, and below the module around that if it says `#[macro_use]`, which few leave out.
    let is_root = matches!(stem, "lib" | "main" | "build") || own == directory && stem != "mod";
    let home = if is_root { &own } else { split(&own).0 };
    registry.macros(
        site.file,
        macros_in(home),
        modules_around(&own).map(macros_in).collect(),
    );
    let (parent, name) = match stem {
        "lib" | "main" => return,
        "mod" => split(directory),
        stem => (directory, stem),
    };
    registry.submodule(word(parent), Word::of(name), ModuleTarget::File(site.file));
}

fn module(modules: &Modules<'_>, site: &ImportSite<'_>) -> ModuleTarget {
    let directory = split(site.path).0;
    if site.module.ends_with(".rs") {
        let path = join(directory, site.module);
        return path
            .and_then(|path| modules.file(&path))
            .map_or(ModuleTarget::Nothing, ModuleTarget::File);
    }
    let mut parts = site.module.split("::").peekable();
    let mut at = children_of(site.path);
    let mut file = Some(site.file);
    match parts.next() {
        Some("self") => {}
        Some("super") => {
            let mut above = 1;
            while parts.next_if_eq(&"super").is_some() {
                above += 1;
            }
            for _ in 0..above {
                let parent = split(&at).0.to_string();
                file = module_file(modules, &parent);
                at = parent;
            }
        }
        Some("crate") => {
            let Some(root) = crate_root(modules, site.path) else {
                return ModuleTarget::Nothing;
            };
            (at, file) = (children_of(&root), modules.file(&root));
        }
        Some(name) => {
            let Some(found) = modules.packages.rust_crates().iter().find(|known| known.name == name) else {
                // One step for each part, as expressions that name the same would take.
                let outside = parts.fold(modules.external(site, name), |word, part| {
                    modules.externals.member(word, Word::of(part), part)
                });
                return ModuleTarget::External(outside);
            };
            (at, file) = (children_of(&found.root), modules.file(&found.root));
        }
        None => return ModuleTarget::Nothing,
    }
    while parts.peek().is_some() {
        // Modules written in place come before the next file: `mod support { pub mod panic; }` is `support/panic.rs`.
        let mut directory = at.clone();
        let child = parts
            .clone()
            .take(1 + MAX_INLINE)
            .enumerate()
            .find_map(|(inline, name)| {
                let child = modules.child(word(&directory), Word::of(name));
                directory = under(&directory, name);
                match child {
                    Some(ModuleTarget::File(child)) => Some((inline, child)),
                    _ => None,
                }
            });
        let Some((inline, child)) = child else { break };
        (at, file) = (directory, Some(child));
        parts.by_ref().nth(inline);
    }
    let Some(file) = file else {
        return ModuleTarget::Nothing;
    };
    if parts.peek().is_none() {
        return ModuleTarget::File(file);
    }
    // What is left is inside of the file: re-exports, modules written in place, types.
    let inside: Vec<&str> = parts.collect();
    let consumed = site.module.split("::").count() - inside.len();
    let word = inside.iter().fold(word(&at), |word, part| word.then(Word::of(part)));
    ModuleTarget::Within {
        file,
        consumed: consumed as u16,
        word,
    }
}

/// The file of the module whose children are in `directory`.
fn module_file(modules: &Modules<'_>, directory: &str) -> Option<u32> {
    let (parent, name) = split(directory);
    if let Some(ModuleTarget::File(file)) = modules.child(word(parent), Word::of(name)) {
        return Some(file);
    }
    ["lib.rs", "main.rs"]
        .iter()
        .find_map(|root| modules.file(&under(directory, root)))
}

/// The root file of the crate that the file at `path` belongs to.
fn crate_root(modules: &Modules<'_>, path: &str) -> Option<String> {
    let (mut directory, file) = split(path);
    if matches!(file, "lib.rs" | "main.rs" | "build.rs") {
        return Some(path.to_string());
    }
    let mut below = file;
    loop {
        if PROGRAMS.contains(&split(directory).1) {
            // Its own program, that of its folder, the one that the manifest places here, or one of a usual name.
            let own = [below.to_string(), format!("{below}/main.rs")];
            let crates = modules.packages.rust_crates().iter();
            let declared = crates.flat_map(|known| known.programs.iter().cloned());
            let usual = ["main.rs", "lib.rs", "mod.rs"].map(str::to_string);
            let here = |name: String| format!("{directory}/{name}");
            let mut roots = (own.into_iter().map(here))
                .chain(declared.filter(|root| split(root).0 == directory))
                .chain(usual.into_iter().map(here));
            return roots.find(|root| modules.file(root).is_some());
        }
        let root = ["lib.rs", "main.rs"]
            .iter()
            .map(|root| under(directory, root))
            .find(|root| modules.file(root).is_some());
        let declared = || {
            modules
                .packages
                .rust_crates()
                .iter()
                .find(|known| split(&known.root).0 == directory)
        };
        if let Some(root) = root.or_else(|| declared().map(|known| known.root.clone())) {
            return Some(root);
        }
        if directory.is_empty() {
            return None;
        }
        (directory, below) = split(directory);
    }
}

const PRELUDE: &[&str] = &[
    "bool",
    "char",
    "u8",
    "u16",
    "u32",
    "u64",
    "u128",
    "usize",
    "i8",
    "i16",
    "i32",
    "i64",
    "i128",
    "isize",
    "f32",
    "f64",
    "Option",
    "Some",
    "None",
    "Result",
    "Ok",
    "Err",
    "Vec",
    "String",
    "Box",
    "ToString",
    "ToOwned",
    "Clone",
    "Copy",
    "Send",
    "Sync",
    "Sized",
    "Drop",
    "Fn",
    "FnMut",
    "FnOnce",
    "Iterator",
    "IntoIterator",
    "Extend",
    "DoubleEndedIterator",
    "ExactSizeIterator",
    "Default",
    "PartialEq",
    "Eq",
    "PartialOrd",
    "Ord",
    "AsRef",
    "AsMut",
    "Into",
    "From",
    "TryFrom",
    "TryInto",
    "FromIterator",
    "drop",
    "Unpin",
    "str",
    "println",
    "print",
    "eprintln",
    "eprint",
    "format",
    "write",
    "writeln",
    "vec",
    "panic",
    "assert",
    "assert_eq",
    "assert_ne",
    "debug_assert",
    "debug_assert_eq",
    "debug_assert_ne",
    "todo",
    "unimplemented",
    "unreachable",
    "matches",
    "dbg",
    "include_str",
    "include_bytes",
    "include",
    "env",
    "option_env",
    "concat",
    "stringify",
    "cfg",
    "line",
    "column",
    "file",
    "module_path",
    "thread_local",
    "compile_error",
    "format_args",
];
