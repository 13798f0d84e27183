//! What other files need to know of one file: its names, members, parameters, imports and exports, without its bodies.
//!
//! Links are kept for every file at once, so they hold words and numbers only; facts are decoded when a file's turn comes.
//! Definitions go by their [`Numbers`], never by position, so that links of what did not change are equal in the links of a
//! newer version of the file.

mod gather;

use syntax::facts::{Definition, Flags, ImportForm, Kind, Passing};

use super::numbers::Numbers;
use super::type_names::TypeName;
use super::value::Place;
use super::words::{Key, Word};

pub use gather::{is_of_tests, path_of, shape_of, shapes};

/// No definition.
pub const NONE: u32 = u32::MAX;

/// The links of one file.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Links {
    /// Position of the language's policy in [`super::languages::ALL`].
    pub language: u8,
    /// The namespace that the file's top-level names belong to by its own declaration, as written.
    pub package: Option<Box<str>>,
    /// Names bound at the top of the file, sorted by word, then in source order.
    pub names: Vec<(Word, NameLink)>,
    /// Explicit exports, sorted by word.
    pub exports: Vec<(Word, ExportLink)>,
    /// Numbers of the definitions.
    pub numbers: Numbers,
    /// Numbers of the expressions.
    pub expressions: Numbers,
    /// What each expression looks like, to find it again in a newer version; empty when no edits are followed.
    pub shapes: Box<[u16]>,
    /// One per definition.
    pub definitions: Vec<DefinitionLink>,
    /// Members written inside their owner: (owner, name, member), sorted.
    pub members: Vec<(u32, Word, u32)>,
    /// Imports bound inside of a module that is written in place: (module, name, import), sorted.
    pub held: Vec<(u32, Word, u32)>,
    /// Payload of [`DefinitionLink::parameters`].
    pub parameters: Vec<ParameterLink>,
    /// One per import.
    pub imports: Vec<ImportLink>,
    /// Functions that are called as if they were members of the type that is told of each; sorted.
    pub extensions: Vec<(u32, TypeName)>,
    /// Imports that bring every public name of their module, and re-exported includes.
    pub wildcards: Vec<u32>,
    /// Top-level variables that are another name of something: name, then the path `a.b.c` as words.
    pub aliases: Vec<(Word, Box<[Word]>)>,
    /// Types that are written with a path before their name, `class A::B`, and the path as words; sorted.
    pub paths: Vec<(u32, Box<[Word]>)>,
    /// Some definition is a test, or the file lies among tests.
    pub has_tests: bool,
    /// Names of the members that the file assigns or declares with a value, sorted.
    pub fields: Vec<Word>,
    /// Modules named by text in expressions.
    pub text_modules: Vec<(Word, ModuleTarget)>,
    /// Names listed in an explicit list of public names, when there is one (`__all__`).
    pub listed: Option<Vec<Word>>,
}

/// What a top-level name is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum NameLink {
    /// A definition.
    Definition(u32),
    /// An import.
    Import(u32),
    /// A variable whose values are contributed by the file.
    Variable,
}

/// What an exported name is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExportLink {
    /// A definition.
    Definition(u32),
    /// Something imported here, or taken from another module without being bound here.
    Import(u32),
    /// A value that the file contributes under [`exported`].
    Value,
}

/// Facts of a definition that others need.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct DefinitionLink {
    /// What it is.
    pub kind: Kind,
    /// Yes-or-no facts.
    pub flags: Flags,
    /// Its name.
    pub name: Word,
    /// The definition around it, or [`NONE`].
    pub parent: u32,
    /// The type it belongs to; filled by the linker.
    pub owner: Option<Place>,
    /// Run of [`Links::parameters`].
    pub parameters: (u32, u32),
    /// It has decorators, so its name may stand for something else.
    pub decorated: bool,
    /// Only its file or its owner may use it.
    pub private: bool,
    /// What it is declared to give or hold.
    pub result: TypeName,
    /// Types of the parameters and number of results, for languages where these decide what implements what.
    pub shape: Word,
}

/// Facts of a parameter that callers need.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ParameterLink {
    /// Its name.
    pub name: Word,
    /// How arguments reach it.
    pub passing: Passing,
    /// Callers may leave it out.
    pub optional: bool,
    /// What it is then worth is a literal: nothing that could be followed.
    pub literal: bool,
    /// What it is declared to take.
    pub type_: TypeName,
}

/// An import, with its target once the linker found it.
#[derive(Clone, PartialEq, Debug)]
pub struct ImportLink {
    /// The member taken, if one is.
    pub member: Option<Word>,
    /// The same as text, for the names of external symbols.
    pub member_text: Box<str>,
    /// How it is taken.
    pub form: ImportForm,
    /// Importers of this file see it too.
    pub reexported: bool,
    /// Where the module is.
    pub target: ModuleTarget,
    /// What is left of the module's path inside of the target: re-exports, modules written in place, types.
    pub rest: Box<[Word]>,
    /// Where the first component of a dotted module is, when that is what the import binds.
    pub binds_first: Option<ModuleTarget>,
}

/// What a module's name stands for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum ModuleTarget {
    /// A file of the tree.
    File(u32),
    /// A package of several files, or a directory without a file of its own.
    Package(Word),
    /// A definition: the class of a static import, an inline module.
    Definition(Place),
    /// Something outside of the tree.
    External(Word),
    /// Inside of a file: it holds all but the first `consumed` components of the path. `word` is the qualified name.
    Within {
        /// The file.
        file: u32,
        /// Components of the path that lead to the file.
        consumed: u16,
        /// For types and modules that are written there.
        word: Word,
    },
    /// Nothing that can be named.
    #[default]
    Nothing,
}

/// The key under which a file contributes the value of an export.
pub fn exported(file: u32, name: Word) -> Key {
    Key::variable(file, name.then(Word(3)))
}

/// What constructors called like their type are filed under: a member of that name would hide the type itself.
const CONSTRUCTOR: Word = Word(8);

/// The word that a member is filed under in its owner.
pub fn member_name(kind: Kind, name: Word, owner: Word) -> Word {
    if kind == Kind::Constructor && name == owner {
        CONSTRUCTOR
    } else {
        name
    }
}

/// Whether what the definition has may be written in several places: a namespace, a partial type.
pub fn has_parts(link: &DefinitionLink) -> bool {
    link.kind == Kind::Module || (is_type(link.kind) && link.flags.contains(Flags::EXTENSION))
}

/// Whether members can be looked up in definitions of this kind.
pub fn is_type(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Class | Kind::Struct | Kind::Union | Kind::Interface | Kind::Trait | Kind::Enum | Kind::Module
    )
}

/// Whether definitions of this kind can be called.
pub fn is_function(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Function | Kind::Method | Kind::Constructor | Kind::Lambda | Kind::Macro
    )
}

/// Whether the definition has code that runs: a function, or a property with accessors.
pub fn runs(definition: &Definition) -> bool {
    is_function(definition.kind) || (definition.kind == Kind::Property && definition.body.is_some())
}

/// Whether definitions of this kind hold a value.
pub fn is_variable(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Field | Kind::Property | Kind::Variable | Kind::Constant | Kind::EnumMember | Kind::TypeAlias
    )
}

impl Links {
    /// The definition of this number.
    pub fn definition(&self, number: u32) -> Option<&DefinitionLink> {
        self.definitions.get(self.numbers.position(number))
    }

    /// The entries of `names` for `word`, in source order.
    pub fn named(&self, word: Word) -> &[(Word, NameLink)] {
        let start = self.names.partition_point(|&(name, _)| name < word);
        let end = start + self.names[start..].partition_point(|&(name, _)| name == word);
        &self.names[start..end]
    }

    /// The members called `word` that are written inside `owner`.
    pub fn members_of(&self, owner: u32, word: Word) -> &[(u32, Word, u32)] {
        let start = self
            .members
            .partition_point(|&(known, name, _)| (known, name) < (owner, word));
        let end = start + self.members[start..].partition_point(|&(known, name, _)| (known, name) == (owner, word));
        &self.members[start..end]
    }

    /// The members that are written inside `owner`.
    pub fn all_members_of(&self, owner: u32) -> &[(u32, Word, u32)] {
        let start = self.members.partition_point(|&(known, _, _)| known < owner);
        let end = start + self.members[start..].partition_point(|&(known, _, _)| known == owner);
        &self.members[start..end]
    }

    /// The imports that the module `owner`, written in place, binds as `word`.
    pub fn held_by(&self, owner: u32, word: Word) -> &[(u32, Word, u32)] {
        let start = self
            .held
            .partition_point(|&(known, name, _)| (known, name) < (owner, word));
        let end = start + self.held[start..].partition_point(|&(known, name, _)| (known, name) == (owner, word));
        &self.held[start..end]
    }

    /// The explicit export called `word`.
    pub fn export(&self, word: Word) -> Option<ExportLink> {
        let found = self.exports.binary_search_by_key(&word, |&(name, _)| name).ok()?;
        Some(self.exports[found].1)
    }

    /// The parameters of a definition.
    pub fn parameters_of(&self, definition: u32) -> &[ParameterLink] {
        match self.definition(definition) {
            Some(definition) => &self.parameters[definition.parameters.0 as usize..definition.parameters.1 as usize],
            None => &[],
        }
    }

    /// What the extension `number` extends; `None` when it is no extension.
    pub fn extended(&self, number: u32) -> Option<TypeName> {
        let found = self
            .extensions
            .binary_search_by_key(&number, |&(known, _)| known)
            .ok()?;
        Some(self.extensions[found].1)
    }
}
