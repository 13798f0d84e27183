//! Ruby: constants are global whatever the file, classes and modules are reopened anywhere, a bare word may be a member.

use super::{BaseOrder, Callbacks, Dispatch, Operation, Policy};
use crate::resolve::links::ModuleTarget;
use crate::resolve::modules::{ImportSite, Modules, Registry, Site, join};
use crate::resolve::words::Word;

pub(super) const RUBY: Policy = Policy {
    languages: &["ruby"],
    prefix: "rb",
    register,
    module,
    bare_members: true,
    calls_properties: true,
    calls_construct: false,
    index_member: "[]",
    constructors: &["initialize"],
    order: BaseOrder::DepthFirst,
    overloads: false,
    dispatch: Dispatch::Overrides,
    packages_visible: true,
    methods: &[
        ("call", Operation::Run),
        ("class", Operation::ClassOf),
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
        ("<<", Operation::Append(0)),
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
    libraries_call: Callbacks::Lambdas,
    guesses_members: 5,
    singletons_apart: true,
    builtin_members: CORE,
    universal_members: OBJECT,
    ..Policy::PLAIN
};

/// Members of Ruby's own objects (instance methods of Ruby 3.1's core classes), and names that every other program gives to members.
const CORE: &str = include_str!("ruby_members.txt");

/// Members of `Object`, and of what nearly every program adds to it.
const OBJECT: &str = "\
    __id__ __send__ as_json blank? class clone define_singleton_method display dup eql? equal? extend freeze \
    frozen? hash in? inspect instance_eval instance_exec instance_of? instance_variable_defined? \
    instance_variable_get instance_variable_set instance_variables is_a? itself kind_of? method methods nil? \
    object_id presence present? private_methods public_method public_methods public_send respond_to? send \
    singleton_class singleton_method singleton_methods tap then to_enum to_json to_s try yield_self";

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
