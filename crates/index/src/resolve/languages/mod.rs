//! What differs between languages, as one table each. See [`Policy`] for every column and [`super`] for the recipe.

mod c;
mod cpp;
mod csharp;
mod ecmascript;
mod go;
mod go_interfaces;
mod html;
mod java;
mod kotlin;
mod lua;
mod nested_packages;
mod php;
mod python;
mod ruby;
mod rust;
mod scala;

use super::links::ModuleTarget;
use super::modules::{ImportSite, Modules, Registry, Site};
use super::words::{Externals, Word, WordMap, WordSet};

/// All policies. A language without one resolves inside its files and by explicit imports only.
pub const ALL: &[Policy] = &[
    Policy::PLAIN,
    python::PYTHON,
    ecmascript::ECMASCRIPT,
    go::GO,
    java::JAVA,
    php::PHP,
    csharp::CSHARP,
    ruby::RUBY,
    kotlin::KOTLIN,
    rust::RUST,
    c::C,
    cpp::CPP,
    html::HTML,
    lua::LUA,
    scala::SCALA,
];

/// How one language (or several that import each other) resolves names and members.
#[derive(Clone, Copy)]
pub struct Policy {
    /// Keys of the languages in `syntax::languages`.
    pub languages: &'static [&'static str],
    /// What the names of external symbols start with: `py` gives `py:os.path::join`.
    pub prefix: &'static str,
    /// Tells where a file stands among modules and packages. Runs once per file, in order of path.
    pub register: fn(&mut Registry<'_>, &Site<'_>),
    /// Finds the module that an import names.
    pub module: fn(&Modules<'_>, &ImportSite<'_>) -> ModuleTarget,
    /// Members of the type around a function are visible without a receiver.
    pub bare_members: bool,
    /// A property is a method: to name it is to call it, and what it gives is not called.
    pub calls_properties: bool,
    /// Calling a class makes an instance.
    pub calls_construct: bool,
    /// Members that run when an instance is made, the first found first. Definitions of kind `Constructor` count always.
    pub constructors: &'static [&'static str],
    /// In which order bases are searched.
    pub order: BaseOrder,
    /// Function definitions count from the start of their scope, not from where they stand.
    pub hoists: bool,
    /// One name can have several definitions told apart by their number of parameters.
    pub overloads: bool,
    /// A call that passes more or less than a function declares means another function.
    pub exact_arguments: bool,
    /// A function written after a call is its last argument, whatever is left out before it.
    pub blocks_come_last: bool,
    /// A class without constructors of its own is made by those of its bases.
    pub inherits_constructors: bool,
    /// Arguments are converted to what a parameter asks for, so no type rules a function out.
    pub converts_arguments: bool,
    /// Arrays are the only types that leave a wrapper.
    pub wrapped_arrays: bool,
    /// A variable is of the type of what it is first given.
    pub fixed_types: bool,
    /// Type parameters stand for primitive types as well.
    pub generic_primitives: bool,
    /// Members of the language's library by what they give.
    pub library_types: &'static [LibraryType],
    /// Members of generic types of outside that are of one of the types which those are made of: `pair.Key`.
    pub held_types: &'static [(&'static str, Argument)],
    /// One function may have several definitions of which a program is built with one: conditional compilation, generated sources.
    pub has_alternatives: bool,
    /// A function stands for an object of one method: calling any member of it calls the function.
    pub functions_as_objects: bool,
    /// What a call of a member may run besides the member found.
    pub dispatch: Dispatch,
    /// A type implements every interface whose methods it has.
    pub structural: bool,
    /// A name means what a linker would join it to: the nearest definition, whatever is included.
    pub links_by_name: bool,
    /// Top-level packages can be named anywhere without an import: `com.acme.Util.run()`.
    pub packages_visible: bool,
    /// A member may have the name of a type (`public Color Color`), and the bare name then means both.
    pub members_named_as_types: bool,
    /// A function or constant that a package lacks is the one outside of all packages.
    pub global_functions: bool,
    /// Names that the language itself defines everywhere.
    pub builtin_names: &'static [&'static str],
    /// The external module they live in.
    pub builtin_module: &'static str,
    /// External functions whose calls move values: `map`, `functools::partial`.
    pub builtins: &'static [(&'static str, Builtin)],
    /// Classes of outside whose heirs stand for everything that has their members, which says so nowhere.
    pub protocols: &'static [&'static str],
    /// Classes of outside with a method that runs another one, which heirs are meant to write: `Thread`, `start`, `run`. Without
    /// the first method: who is given an heir runs the other one (`Runnable`, `run`).
    pub runs: &'static [(&'static str, &'static str, &'static str)],
    /// Methods of the language's own containers, promises and functions.
    pub methods: &'static [(&'static str, Operation)],
    /// Generic types of outside that wrap others, by their last name: `Optional`, `Promise`.
    pub generics: &'static [(&'static str, Generic)],
    /// Types inside of a container that stand for what it holds, as pointers to it do: `vector<T>::iterator`.
    pub walking_types: &'static [&'static str],
    /// Member that a call of an instance runs.
    pub call_member: &'static str,
    /// Member that gives what entering a context gives.
    pub enter_member: &'static str,
    /// Members that give what iterating gives, by their result's elements (first) or their result (second).
    pub iterate_members: (&'static str, &'static str),
    /// Member that indexing runs.
    pub index_member: &'static str,
    /// Member that gives what stands in for an instance wherever it lacks a member itself.
    pub deref_member: &'static str,
    /// Member that gives the class of an instance.
    pub class_member: &'static str,
    /// Decorators and accessors are functions that run: applying one is a call, and so is using a property that has them.
    pub runs_decorators: bool,
    /// Parameters without a type of a function get theirs from the function type that it is given for.
    pub types_lambdas: bool,
    /// A function written in place may have a receiver of its own, whose members it sees bare: the type of the parameter that it is
    /// given for says so.
    pub lambda_receivers: bool,
    /// Functions of the language that run a function with what they are called on, or else their first argument, as its receiver.
    pub scope_functions: &'static [&'static str],
    /// Which functions among its arguments a function of outside calls.
    pub libraries_call: Callbacks,
    /// The name of a type without fields is its value as well: `let unit = Unit;`.
    pub unit_values: bool,
    /// Interfaces of the language's library that a type implements by having their methods.
    pub library_interfaces: &'static [LibraryInterface],
    /// Languages in which calling a variable counts as a call of the variable, besides what it is known to hold.
    pub calls_variables: &'static [&'static str],
    /// A variable of another file that something made (a closure, an instance that can be called) is what a call of it calls;
    /// what made it is told there, not by every caller.
    pub calls_made_variables: bool,
    /// Up to how many members of a name a call with an unknown receiver may mean; it is told as matched by text. Members
    /// that all override one of them count once.
    pub guesses_members: usize,
    /// Members of a type and members of its instances are told apart, also where they share a name.
    pub singletons_apart: bool,
    /// Functions can be called as if they were members of a type that they extend.
    pub extensions: bool,
    /// Members that the language's own types have, separated by white space: an unknown receiver may be one of those.
    pub builtin_members: &'static str,
    /// Members that everything has, separated by white space: being asked for them says nothing of a receiver.
    pub universal_members: &'static str,
    /// Name by which a file sees what it exports itself.
    pub own_exports: &'static str,
    /// Iterating over (or unwrapping) a plain instance gives the same instance: for types that are wrapped in arrays,
    /// pointers and the like without trace.
    pub transparent_elements: bool,
}

/// An interface of a language's library.
#[derive(Clone, Copy)]
pub struct LibraryInterface {
    /// The module it is in; empty for what needs no import.
    pub module: &'static str,
    /// Its name.
    pub name: &'static str,
    /// Its methods: name, types of the parameters without packages, number of results.
    pub methods: &'static [(&'static str, &'static [&'static str], u32)],
}

/// A member of a language's library whose type tells overloads apart.
#[derive(Clone, Copy)]
pub struct LibraryType {
    /// Its name.
    pub name: &'static str,
    /// The type that it is a member of; empty when whatever has it gives the same.
    pub of: &'static str,
    /// It is a function, and this is about what that gives.
    pub is_called: bool,
    /// The type, with `[]` after it for arrays.
    pub gives: &'static str,
}

/// One of the types that a generic type is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Argument {
    /// The first.
    First,
    /// The last.
    Last,
}

/// In which order the bases of a class are searched.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum BaseOrder {
    /// Python's C3 linearisation.
    C3,
    /// Mixed-in first, then each base and all of its own bases, as written.
    DepthFirst,
}

/// What a call of a member may run besides the member found.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Dispatch {
    /// Implementations, when the member found has no body of its own.
    Abstract,
    /// Every override below the receiver's type as well.
    Overrides,
}

/// Which of its arguments a function of outside, of which nothing else is known, calls.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Callbacks {
    /// Nobody knows.
    None,
    /// Functions written in place: whoever passes one wants it to run.
    Lambdas,
    /// Those, and functions that are named as values.
    Functions,
}

/// What a call of a known external function does with its arguments.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Builtin {
    /// The bases of the class around it.
    Super,
    /// Gives argument `n` back.
    Same(usize),
    /// Makes a container with the contents of its argument.
    Container,
    /// Gives an element of argument `n`.
    Element(usize),
    /// Calls argument `n` with elements of the next one; gives a container of the results.
    Map(usize),
    /// Calls argument `n` with elements of the next one; gives that one back.
    Filter(usize),
    /// Calls the argument of that name with elements of the first; gives the first back.
    Keyed(&'static str),
    /// Calls every function that it is given.
    Invokes,
    /// Calls its argument with functions; gives what the first of them is called with.
    Settles,
    /// Calls its first argument with the arguments from number `n` on.
    Calls(usize),
    /// Gives its first argument with the others already bound.
    Partial,
    /// Gives a container with the elements of the first argument, each passed through the second where there is one.
    Copies,
    /// Calls its first argument with the elements of the last.
    Applies,
    /// Gives the class of its argument.
    TypeOf,
    /// Gives the member named by its second argument.
    GetMember,
    /// Sets the member named by its second argument to the third.
    SetMember,
    /// Gives pairs whose second part is an element of the first argument.
    Enumerate,
    /// Gives tuples of elements of its arguments.
    Zip,
    /// Gives a container with the named arguments.
    Mapping,
    /// Gives a container of what its first argument gives.
    Defaults,
    /// Gives a container with the second parts of its argument's elements, which are pairs.
    FromPairs,
    /// Gives the first argument, with the members of the others added.
    Assign,
}

/// What a method of a container, promise or function does.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    /// Gives an instance of the type that it is called on, where that has no such member: `#[derive(Default)]`.
    Instance,
    /// Adds argument `n` behind all else.
    Append(usize),
    /// Adds argument `n` somewhere.
    Insert(usize),
    /// Adds the elements of its argument.
    Extend,
    /// Sets the key (first argument) to the second.
    Put,
    /// Gives what the key holds, else the second argument.
    Get,
    /// Gives the key's value and sets it to the second argument if there is none.
    GetOrPut,
    /// Gives any element.
    Element,
    /// Gives the container itself.
    Same,
    /// Gives any element, or what its argument gives when it is called.
    Else,
    /// Gives the container, and calls its argument.
    Or,
    /// Gives tuples of an element and one of the argument's.
    Zip,
    /// Gives the class of the instance.
    ClassOf,
    /// Gives an object whose `value` is any element.
    Step,
    /// Calls the argument called `key` with each element.
    Sort,
    /// Gives the container with the elements of its arguments.
    Concat,
    /// Gives pairs of keys and values.
    Pairs,
    /// Calls its argument with each element; gives nothing.
    ForEach,
    /// Calls its argument with each element; gives a container of the results.
    Map,
    /// Calls its argument with each element; gives the container.
    Filter,
    /// Calls its argument with each element; gives an element.
    Find,
    /// Calls its first argument with (its second argument or earlier results, an element); gives the result.
    Fold,
    /// Calls its arguments with the receiver's payload; gives what they give.
    Then,
    /// Calls the receiver, a function, with the arguments.
    Run,
    /// Calls the receiver, a function, with the arguments after the first.
    Call,
    /// Calls the receiver, a function, with the elements of the second argument.
    Apply,
    /// Gives the receiver, a function, with its first arguments bound.
    Bind,
}

impl Operation {
    /// Whether it puts an argument into a container.
    pub fn puts(self) -> bool {
        matches!(
            self,
            Operation::Append(_) | Operation::Insert(_) | Operation::Put | Operation::GetOrPut
        )
    }

    /// Whether it calls functions among its arguments whatever the receiver is.
    pub fn invokes(self) -> bool {
        matches!(
            self,
            Operation::ForEach
                | Operation::Map
                | Operation::Filter
                | Operation::Find
                | Operation::Fold
                | Operation::Then
                | Operation::Else
                | Operation::Or
        )
    }
}

/// What a generic type of outside stands for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Generic {
    /// Any of its arguments.
    Any,
    /// Its first argument.
    First,
    /// The type of its argument.
    TypeOf,
    /// Holds its last argument (the default for what is not listed).
    Holds,
    /// Holds its first argument.
    HoldsFirst,
    /// A function that gives its last argument.
    Callable,
    /// A tuple: positions are told apart.
    Tuple,
}

impl Policy {
    /// Resolution without knowledge of the language.
    pub const PLAIN: Policy = Policy {
        languages: &[],
        prefix: "ext",
        register: |_, _| {},
        module: |modules, site| ModuleTarget::External(modules.external(site, site.module)),
        bare_members: true,
        calls_properties: false,
        calls_construct: true,
        constructors: &[],
        order: BaseOrder::DepthFirst,
        hoists: true,
        overloads: true,
        exact_arguments: false,
        blocks_come_last: false,
        inherits_constructors: true,
        converts_arguments: false,
        functions_as_objects: false,
        wrapped_arrays: false,
        fixed_types: false,
        generic_primitives: false,
        has_alternatives: false,
        library_types: &[],
        held_types: &[],
        dispatch: Dispatch::Abstract,
        structural: false,
        links_by_name: false,
        packages_visible: false,
        members_named_as_types: false,
        global_functions: false,
        builtin_names: &[],
        builtin_module: "",
        builtins: &[],
        protocols: &[],
        runs: &[],
        methods: &[],
        generics: &[],
        walking_types: &[],
        call_member: "",
        enter_member: "",
        iterate_members: ("", ""),
        index_member: "",
        deref_member: "",
        class_member: "",
        runs_decorators: false,
        types_lambdas: false,
        lambda_receivers: false,
        scope_functions: &[],
        libraries_call: Callbacks::None,
        unit_values: false,
        library_interfaces: &[],
        calls_variables: &[],
        calls_made_variables: false,
        guesses_members: 0,
        singletons_apart: false,
        extensions: false,
        builtin_members: "",
        universal_members: "",
        own_exports: "",
        transparent_elements: true,
    };
}

/// The position in [`ALL`] of the policy for a language.
pub fn policy_of(language: &str) -> u8 {
    let found = ALL.iter().position(|policy| policy.languages.contains(&language));
    found.unwrap_or(0) as u8
}

/// A policy with its texts hashed.
pub struct Compiled {
    /// The table.
    pub policy: &'static Policy,
    /// `builtin_names`, to the word of the external symbol.
    pub builtin_names: WordMap<Word, Word>,
    /// `builtins` by the word of the external symbol.
    pub builtins: WordMap<Word, Builtin>,
    /// [`Policy::protocols`] by the word of the external symbol.
    pub protocols: Vec<Word>,
    /// [`Policy::runs`] by the method that is called: the class of outside, and the method that runs.
    pub runs: WordMap<Word, Vec<(Word, Word)>>,
    /// `methods` by name.
    pub methods: WordMap<Word, Operation>,
    /// `generics` by name.
    pub generics: WordMap<Word, Generic>,
    /// `builtin_members`.
    pub builtin_members: WordSet,
    /// `universal_members`.
    pub universal_members: WordSet,
    /// `constructors`.
    pub constructors: Vec<Word>,
    /// `call_member`.
    pub call_member: Word,
    /// `enter_member`.
    pub enter_member: Word,
    /// `iterate_members`.
    pub iterate_members: (Word, Word),
    /// `index_member`.
    pub index_member: Word,
    /// `deref_member`; none where the policy names none.
    pub deref_member: Option<Word>,
    /// `class_member`.
    pub class_member: Word,
}

impl Compiled {
    /// Hashes the texts of `policy`.
    pub fn new(policy: &'static Policy, externals: &Externals) -> Compiled {
        let in_module = |path: &str| {
            let (module, names) = path.split_once("::").unwrap_or((policy.builtin_module, path));
            let module = externals.intern(&format!("{}:{module}", policy.prefix));
            let member = |of: Word, name: &str| externals.member(of, Word::of(name), name);
            names.split('.').fold(module, member)
        };
        let mut runs: WordMap<Word, Vec<(Word, Word)>> = WordMap::default();
        for (class, called, run) in policy.runs {
            runs.entry(Word::of(called))
                .or_default()
                .push((in_module(class), Word::of(run)));
        }
        Compiled {
            policy,
            protocols: policy.protocols.iter().map(|name| in_module(name)).collect(),
            runs,
            builtin_names: policy
                .builtin_names
                .iter()
                .map(|name| (Word::of(name), in_module(name)))
                .collect(),
            builtins: policy
                .builtins
                .iter()
                .map(|(name, builtin)| (in_module(name), *builtin))
                .collect(),
            methods: policy
                .methods
                .iter()
                .map(|(name, operation)| (Word::of(name), *operation))
                .collect(),
            generics: policy
                .generics
                .iter()
                .map(|(name, generic)| (Word::of(name), *generic))
                .collect(),
            builtin_members: policy.builtin_members.split_whitespace().map(Word::of).collect(),
            universal_members: policy.universal_members.split_whitespace().map(Word::of).collect(),
            constructors: policy.constructors.iter().map(|name| Word::of(name)).collect(),
            call_member: Word::of(policy.call_member),
            enter_member: Word::of(policy.enter_member),
            iterate_members: (Word::of(policy.iterate_members.0), Word::of(policy.iterate_members.1)),
            index_member: Word::of(policy.index_member),
            deref_member: (!policy.deref_member.is_empty()).then(|| Word::of(policy.deref_member)),
            class_member: Word::of(policy.class_member),
        }
    }
}
