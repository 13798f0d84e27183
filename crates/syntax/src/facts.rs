//! The facts of one file: what it declares, what it mentions, and how values move inside it, all names still unresolved.
//!
//! Facts are a pure function of (language, bytes), so they are cached by content hash and shared between branches,
//! worktrees and machines. Every language lowers its syntax tree to the same small vocabulary: definitions, scopes,
//! bindings, imports, exports, expressions and flows. `index` evaluates expressions over all files together; nothing
//! after this crate knows what a syntax tree is.
//!
//! Everything is a flat vector addressed by a `u32` id, and every text is an interned [`Name`], so a file's facts are
//! a handful of allocations and encode to somewhat less than the source.

use serde::{Deserialize, Serialize};

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
        pub struct $name(pub u32);
        impl $name {
            /// The id as an index into its vector.
            pub fn index(self) -> usize { self.0 as usize }
        }
    )*};
}

ids! {
    /// A text of this file, interned in [`FileFacts::strings`].
    Name;
    /// An entry of [`FileFacts::definitions`].
    DefinitionId;
    /// An entry of [`FileFacts::scopes`]. Scope 0 is the file.
    ScopeId;
    /// An entry of [`FileFacts::bindings`].
    BindingId;
    /// An entry of [`FileFacts::imports`].
    ImportId;
    /// An entry of [`FileFacts::expressions`].
    ExpressionId;
}

/// A run of entries in [`FileFacts::lists`], each the number of an expression (or what the owner says).
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct List {
    /// First entry.
    pub start: u32,
    /// How many.
    pub len: u32,
}

/// A place in the file: 1-based line, 0-based column in UTF-8 bytes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Position {
    /// 1-based.
    pub line: u32,
    /// 0-based, in bytes.
    pub column: u32,
}

/// A stretch of the file in bytes and in 1-based lines, both ends included for lines, end excluded for bytes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Span {
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
    /// Line of the first byte.
    pub start_line: u32,
    /// Line of the last byte.
    pub end_line: u32,
}

/// All that is known of one file.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct FileFacts {
    /// Key of the language in the registry (`python`, `typescript`, …).
    pub language: String,
    /// Every text below.
    pub strings: Strings,
    /// The package or namespace that the file itself declares (Go, Java, Kotlin, PHP, C#, Protobuf), as written with the
    /// language's own separator.
    pub package: Option<Name>,
    /// First sentence of the file's own documentation.
    pub doc: Option<Name>,
    /// In source order: a definition comes after the one that contains it.
    pub definitions: Vec<Definition>,
    /// Lexical scopes; a scope comes after its parent.
    pub scopes: Vec<Scope>,
    /// Names that a scope binds to something.
    pub bindings: Vec<Binding>,
    /// Names and wildcards that come from elsewhere.
    pub imports: Vec<Import>,
    /// What importers can see, where the language says so explicitly (ECMAScript exports, Python's `__all__`).
    pub exports: Vec<Export>,
    /// Values, callees and types, as a forest; children come before parents.
    pub expressions: Vec<Expression>,
    /// Payload of every [`List`].
    pub lists: Vec<u32>,
    /// How values move: assignments, declared types, returns. In source order.
    pub flows: Vec<Flow>,
    /// The mentions that may become edges of the graph, in source order.
    pub references: Vec<Reference>,
    /// What could not be read; the rest of the file is still here.
    pub problems: Vec<Problem>,
    /// Number of lines.
    pub lines: u32,
    /// The file says of itself that it was generated.
    pub generated: bool,
}

impl FileFacts {
    /// Whether the file was given up as a whole, because of its size or of the work it takes.
    pub fn is_unparsed(&self) -> bool {
        let mut problems = self.problems.iter();
        problems.any(|problem| problem.message.starts_with(crate::parse::NOT_PARSED))
    }
}

/// Interned texts of one file: one blob and the end of each entry.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct Strings {
    /// All texts, one after the other.
    pub blob: String,
    /// End of each text in `blob`.
    pub ends: Vec<u32>,
}

impl Strings {
    /// The text of `name`; empty for a name that is not of this file.
    pub fn get(&self, name: Name) -> &str {
        let Some(&end) = self.ends.get(name.index()) else {
            return "";
        };
        let start = if name.0 == 0 { 0 } else { self.ends[name.index() - 1] };
        self.blob.get(start as usize..end as usize).unwrap_or("")
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

impl FileFacts {
    /// The text of `name`.
    pub fn text(&self, name: Name) -> &str {
        self.strings.get(name)
    }

    /// The entries of `list`.
    pub fn list(&self, list: List) -> &[u32] {
        self.lists
            .get(list.start as usize..(list.start as usize).saturating_add(list.len as usize))
            .unwrap_or(&[])
    }

    /// The expression `id`.
    pub fn expression(&self, id: ExpressionId) -> &Expression {
        self.expressions.get(id.index()).unwrap_or(&Expression::Unknown)
    }

    /// The definition `id`.
    pub fn definition(&self, id: DefinitionId) -> &Definition {
        &self.definitions[id.index()]
    }
}

/// What a definition is. One vocabulary for all languages; each output format maps it to its own.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Free function, also nested and C-style.
    Function,
    /// Function with an owner.
    Method,
    /// What a constructor expression runs.
    Constructor,
    /// Class.
    Class,
    /// Struct, record or data class.
    Struct,
    /// Union of C and Rust.
    Union,
    /// Interface or protocol.
    Interface,
    /// Trait or mixin.
    Trait,
    /// Enumeration.
    Enum,
    /// Member of an enumeration.
    EnumMember,
    /// Alias of a type, associated type, typedef.
    TypeAlias,
    /// Member variable.
    Field,
    /// Member with accessors.
    Property,
    /// Module-level or static variable.
    Variable,
    /// Constant.
    Constant,
    /// Module, namespace or package declared inside a file.
    Module,
    /// Rust `impl` block, Swift extension and the like: a place that gives members to an owner, not a symbol itself.
    Extension,
    /// Macro.
    Macro,
    /// Anonymous function, named `<lambda1>`, `<lambda2>` … by its place in the nearest named definition around it. Questions
    /// count what it does for that definition; exports tell it apart.
    Lambda,
    /// Named element of a document, schema or configuration (heading, key, table, message, rule, target …).
    Section,
}

/// Who may use a definition, by the language's own rule.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Visibility {
    /// Anyone.
    #[default]
    Public,
    /// The module, package or assembly.
    Internal,
    /// The owner and its subtypes.
    Protected,
    /// The owner or the file.
    Private,
}

/// Yes-or-no facts of a definition, as a bit set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
pub struct Flags(pub u32);

impl Flags {
    /// Belongs to the type, not to its instances.
    pub const STATIC: Flags = Flags(1);
    /// Has no body and must be given one.
    pub const ABSTRACT: Flags = Flags(1 << 1);
    /// Asynchronous.
    pub const ASYNC: Flags = Flags(1 << 2);
    /// Yields values.
    pub const GENERATOR: Flags = Flags(1 << 3);
    /// A test case, by the language's own marker.
    pub const TEST: Flags = Flags(1 << 4);
    /// Declared without a body elsewhere given (prototype, forward declaration, `.d.ts`, stub).
    pub const DECLARATION: Flags = Flags(1 << 5);
    /// Reads like a field: `@property`, getter, accessor.
    pub const GETTER: Flags = Flags(1 << 6);
    /// Written like a field.
    pub const SETTER: Flags = Flags(1 << 7);
    /// Receives the class itself: Python's `@classmethod`.
    pub const CLASS_METHOD: Flags = Flags(1 << 8);
    /// Cannot be overridden or inherited.
    pub const FINAL: Flags = Flags(1 << 9);
    /// Marked as overriding.
    pub const OVERRIDE: Flags = Flags(1 << 10);
    /// Explicitly exported from its file or module (`export`, `pub`, listed in `__all__`, capital letter in Go).
    pub const EXPORTED: Flags = Flags(1 << 11);
    /// Marked as deprecated.
    pub const DEPRECATED: Flags = Flags(1 << 12);
    /// Where a program starts, by the language's own rule.
    pub const ENTRY_POINT: Flags = Flags(1 << 13);
    /// Adds to a type defined elsewhere (extension function or method, partial class, reopened class).
    pub const EXTENSION: Flags = Flags(1 << 14);
    /// Default member of a module (`export default`).
    pub const DEFAULT: Flags = Flags(1 << 15);
    /// Has no receiver of its own: `this` in it is that of the code around (arrow functions).
    pub const OUTER_RECEIVER: Flags = Flags(1 << 16);
    /// Kept for what was compiled against it: no source can name it.
    pub const HIDDEN: Flags = Flags(1 << 17);
    /// Stands in a branch of a conditional that is left out unless something is defined from outside of the file.
    pub const ALTERNATIVE: Flags = Flags(1 << 18);
    /// Is a member for those only who have the interface at hand that it names: `void IList.Clear()`.
    pub const FOR_INTERFACE: Flags = Flags(1 << 19);

    /// Whether all bits of `other` are set.
    pub fn contains(self, other: Flags) -> bool {
        self.0 & other.0 == other.0
    }

    /// Sets the bits of `other`.
    pub fn insert(&mut self, other: Flags) {
        self.0 |= other.0;
    }
}

/// One declared thing.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Definition {
    /// What it is.
    pub kind: Kind,
    /// Its own name; for [`Kind::Extension`] the owner's name or empty; a number (`<class1>`) for what has none.
    pub name: Name,
    /// The definition around it.
    pub parent: Option<DefinitionId>,
    /// The type it belongs to when that is not the definition around it: Go receivers, `Foo.prototype.bar`, `A::b` outside of
    /// `A`, Kotlin extensions, the target of an `impl`.
    pub owner: Option<ExpressionId>,
    /// The scope whose names it sees and that (mostly) binds it.
    pub scope: ScopeId,
    /// The scope that it opens.
    pub body: Option<ScopeId>,
    /// The whole definition with its decorators, without its comment.
    pub span: Span,
    /// Where its name stands.
    pub name_at: Position,
    /// One line as written, without body, white space normalised, at most [`MAX_SIGNATURE`] bytes.
    pub signature: Name,
    /// First sentence of its documentation, cleaned, at most [`MAX_DOC`] bytes.
    pub doc: Option<Name>,
    /// Bytes of the whole documentation comment (outside of or inside `span`).
    pub doc_span: Option<(u32, u32)>,
    /// By the language's own rule.
    pub visibility: Visibility,
    /// Yes-or-no facts.
    pub flags: Flags,
    /// As declared, receiver excluded where the syntax has one apart (Go) and included where it is a parameter (Python).
    pub parameters: Vec<Parameter>,
    /// Declared type of the result, or of the value of a variable or field.
    pub result: Option<ExpressionId>,
    /// The same as written.
    pub result_text: Option<Name>,
    /// What it extends, implements, embeds or includes.
    pub bases: Vec<Base>,
    /// Decorators, attributes and annotations: usually a name, a member or a call.
    pub decorators: Vec<ExpressionId>,
}

/// Longest [`Definition::signature`].
pub const MAX_SIGNATURE: usize = 400;
/// Longest [`Definition::doc`].
pub const MAX_DOC: usize = 240;
/// Longest string literal kept as [`Expression::Text`].
pub const MAX_TEXT: usize = 160;

/// One parameter.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Parameter {
    /// Its name (empty for a pure pattern).
    pub name: Name,
    /// What it is bound to inside the body.
    pub binding: Option<BindingId>,
    /// Its declared type.
    pub type_: Option<ExpressionId>,
    /// The same as written.
    pub type_text: Option<Name>,
    /// Its default as written.
    pub default: Option<Name>,
    /// How arguments reach it.
    pub passing: Passing,
}

impl Parameter {
    /// One that says neither a type nor a default.
    pub(crate) fn untyped(name: Name, binding: Option<BindingId>, passing: Passing) -> Parameter {
        Parameter {
            name,
            binding,
            type_: None,
            type_text: None,
            default: None,
            passing,
        }
    }
}

/// How arguments reach a parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Passing {
    /// In order, or by name where the language allows it.
    #[default]
    Normal,
    /// By name alone.
    Keyword,
    /// Collects the remaining positional arguments.
    Rest,
    /// Collects the remaining named arguments.
    KeywordRest,
    /// The receiver: `self`, `cls`, `this`.
    Receiver,
    /// By the block that is written after the arguments.
    Block,
}

/// One inheritance clause.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Base {
    /// The type named.
    pub type_: ExpressionId,
    /// In which way.
    pub kind: BaseKind,
}

/// In which way a base is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum BaseKind {
    /// Superclass (also the clause of languages that do not tell class from interface).
    Extends,
    /// Interface, trait or protocol.
    Implements,
    /// Mixin, `include`, PHP `use` of a trait: its members become the class's own, before the superclass's.
    Mixes,
    /// Embedded field: its members are promoted.
    Embeds,
}

/// A lexical scope.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Scope {
    /// The scope around it; `None` only for the file.
    pub parent: Option<ScopeId>,
    /// The definition that opened it, if one did.
    pub definition: Option<DefinitionId>,
    /// What opened it.
    pub kind: ScopeKind,
}

/// What opened a scope.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ScopeKind {
    /// The file.
    File,
    /// Module or namespace.
    Module,
    /// Body of a type: its names are members. Whether code inside sees them bare is the language's rule.
    Type,
    /// Function body, with its parameters.
    Function,
    /// Block, comprehension, arm.
    Block,
}

/// A name that a scope binds.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Binding {
    /// Where.
    pub scope: ScopeId,
    /// The name.
    pub name: Name,
    /// To what. The values a variable can hold are in [`FileFacts::flows`].
    pub to: Bound,
}

/// What a name is bound to.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Bound {
    /// A local variable or pattern.
    Local,
    /// A parameter of the function that owns the scope.
    Parameter(DefinitionId),
    /// The receiver of the method that owns the scope.
    Receiver(DefinitionId),
    /// A definition of this file. Further definitions of the same name in the same scope, except members of a type, are values
    /// that [`Flow::Assign`] gives to the name.
    Definition(DefinitionId),
    /// Something imported. A second import under the same name has a nameless binding of its own that flows into the first.
    Import(ImportId),
    /// A type parameter; its bound is a [`Flow::Typed`].
    TypeParameter,
}

/// Something from another file, module or package.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Import {
    /// The module as written, without quotes: `a.b`, `./lib/util`, `net/http`, `crate::graph`, `App\Models`, `linux/list.h`.
    pub module: Name,
    /// The member taken from the module; `None` when the module itself (or all of it) is.
    pub member: Option<Name>,
    /// The name it is bound to here, if any: the alias, else what the language derives.
    pub alias: Option<Name>,
    /// How it is taken.
    pub form: ImportForm,
    /// Leading dots of a relative Python import; 0 otherwise.
    pub level: u8,
    /// Importers of this file see it too (`pub use`, `export … from`, C `#include`, Python package `__init__`).
    pub reexported: bool,
    /// Needed for types alone (`import type`, `if TYPE_CHECKING`).
    pub type_only: bool,
    /// Where the imported name (or module) stands.
    pub at: Position,
    /// The definition it stands in, if not at the top.
    pub within: Option<DefinitionId>,
}

/// How an import is taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportForm {
    /// The module, bound to a name. In Python `import a.b` binds `a`: alias is `a`, module is `a.b`.
    Module,
    /// One member.
    Member,
    /// Every public member: `import *`, `use a::*`, `using Ns;`, Java `a.*`, Go's dot import.
    Wildcard,
    /// The text of the other file: `#include`, Ruby `require`, PHP `require`.
    Include,
    /// The default export.
    Default,
    /// For its effects alone: `import './x'`, Go's blank import.
    Effect,
    /// A file of this module tree is declared: Rust's `mod x;`.
    Declare,
}

/// An explicit export.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Export {
    /// The name importers use; `default` for the default export; `*` for all of `from`; `=` for `module.exports = …`.
    pub name: Name,
    /// The value, when it is one of this file.
    pub value: Option<ExpressionId>,
    /// `export … from 'module'`: the import that carries module and member.
    pub from: Option<ImportId>,
}

/// A value, a callee or a type. Types and values share one vocabulary because languages do: a class is both.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Expression {
    /// Something this file does not say (arithmetic, unsupported syntax).
    Unknown,
    /// A name bound in this file; `at` is the byte of the use, so that a later rebinding does not count.
    Bound {
        /// To what.
        binding: BindingId,
        /// Byte offset of the use.
        at: u32,
    },
    /// A name that no scope of this file binds: a sibling of the package, a wildcard import, a member of `this`, a built-in.
    Free {
        /// The name.
        name: Name,
        /// Where it stands.
        scope: ScopeId,
    },
    /// `object.name`, `Type::name`, `object->name`, `Namespace\name`.
    Member {
        /// What is looked into.
        object: ExpressionId,
        /// The member.
        name: Name,
    },
    /// The result of a call.
    Call {
        /// What is called.
        callee: ExpressionId,
        /// [`Expression::Argument`]s or plain expressions.
        arguments: List,
    },
    /// The instance that `new Type(…)` or a struct literal makes.
    New {
        /// The type.
        type_: ExpressionId,
        /// As in a call.
        arguments: List,
    },
    /// A named or spread argument.
    Argument {
        /// Its name; `*` for a spread sequence, `**` for a spread mapping.
        name: Name,
        /// Its value.
        value: ExpressionId,
    },
    /// `object[key]`.
    Index {
        /// What is looked into.
        object: ExpressionId,
        /// The key when it is a literal.
        key: Option<Name>,
    },
    /// List, array, tuple or set literal.
    Sequence {
        /// Its elements.
        elements: List,
    },
    /// Dictionary or object literal: pairs of entries (key expression, value expression).
    Mapping {
        /// Keys and values by turns.
        entries: List,
    },
    /// A string literal of at most [`MAX_TEXT`] bytes.
    Text(Name),
    /// Any other literal.
    Literal(LiteralKind),
    /// A lambda or an anonymous function or class.
    Definition(DefinitionId),
    /// `this` or `self` where it is a keyword.
    This(ScopeId),
    /// `super`, `parent`, `base`: the bases of the type around it.
    Super(ScopeId),
    /// One of several: conditional, `a or b`, match.
    Choice(List),
    /// What awaiting or `?`-ing gives: the payload of a promise, option or result.
    Unwrap(ExpressionId),
    /// What iterating gives.
    Element(ExpressionId),
    /// What destructuring position `n` gives.
    Item(ExpressionId, u32),
    /// What entering a context manager gives.
    Entered(ExpressionId),
    /// The value of a module named by text: `require('x')`, `import('x')`, `importlib.import_module("x")`.
    Module(Name),
    /// A value of the given type: casts, `as`, typed literals, caught exceptions.
    Typed(ExpressionId),
    /// `Base<A, B>`, as a type.
    Generic {
        /// What is applied.
        base: ExpressionId,
        /// To what.
        arguments: List,
    },
    /// Pointer, reference, optional, array-of: member access looks through it; `Element` and `Unwrap` give the same type.
    Wrapped(ExpressionId),
    /// Type of functions; the list holds the parameters' types and, last, the result's.
    FunctionType(List),
}

/// Kinds of literals whose type decides a call.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LiteralKind {
    /// Text too long for [`Expression::Text`], or interpolated.
    Text,
    /// Number.
    Number,
    /// Truth value.
    Boolean,
    /// Nothing.
    Null,
    /// Anything else (regular expression, character, bytes).
    Other,
}

/// How a value moves.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Flow {
    /// `target = value`; the target is a bound or free name, a member or an index.
    Assign {
        /// Where it goes.
        target: ExpressionId,
        /// What.
        value: ExpressionId,
        /// Byte offset.
        at: u32,
        /// Stands in a branch or loop of its function: earlier assignments stay possible.
        conditional: bool,
    },
    /// `target` is declared to hold instances of a type.
    Typed {
        /// A bound name or a member.
        target: ExpressionId,
        /// The type.
        type_: ExpressionId,
    },
    /// A function returns a value.
    Return {
        /// Which function.
        function: DefinitionId,
        /// What.
        value: ExpressionId,
    },
    /// A generator yields a value.
    Yield {
        /// Which function.
        function: DefinitionId,
        /// What.
        value: ExpressionId,
    },
}

/// A mention that may become an edge.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Reference {
    /// What is mentioned: a bound or free name, a member, `This` or `Super` (for their constructor calls); for [`Role::Call`] also
    /// any other callee (an index, the result of a call, a choice, a lambda).
    pub expression: ExpressionId,
    /// What happens to it.
    pub role: Role,
    /// Where the mentioned name itself stands (for `a.b.c()`, the `c`).
    pub at: Position,
    /// The definition around it, lambdas included; `None` at the top of the file.
    pub within: Option<DefinitionId>,
    /// Number of arguments when it is called, 255 at most and when spread.
    pub arguments: u8,
}

/// What happens to the thing mentioned.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// Called.
    Call,
    /// Constructed: `new T`, struct literal; in Python a call that turns out to name a class becomes this when resolved.
    Instantiate,
    /// Its value is used (also a function mentioned without being called).
    Read,
    /// Assigned.
    Write,
    /// Named as a type.
    Type,
    /// Named in an inheritance clause.
    Inherit,
    /// Applied as decorator, attribute or annotation.
    Decorate,
    /// Invoked as a macro.
    Macro,
    /// Called without being named: what iterating, entering a context or an operator runs, where the value has it.
    Implicit,
}

/// Something that could not be read.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct Problem {
    /// Where.
    pub line: u32,
    /// What.
    pub message: String,
}
