//! The nouns that scanning, resolution and the snapshot share: files by number, symbols by file and definition, edges with
//! their origin and confidence.
//!
//! Numbers live inside one build of the snapshot. A [`FileId`] is the rank of the file's path in byte order, so the same
//! tree gives the same numbers whatever the thread count and the history of edits.

use syntax::facts::{DefinitionId, Position};

/// A file of the tree: its rank among all paths, in byte order.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct FileId(pub u32);

/// A definition of a file, or the file itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct SymbolRef {
    /// The file.
    pub file: FileId,
    /// The definition; `None` is the file (or module) as a symbol.
    pub definition: Option<DefinitionId>,
}

/// What an edge ends in.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Target {
    /// A symbol of the tree.
    Symbol(SymbolRef),
    /// Something of an external package, named as `package::path.name` (`npm:react::useState`, `py:os.path::join`, `go:net/http::Get`).
    External(Box<str>),
}

/// The relation an edge states, from the first symbol to the second.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum EdgeKind {
    /// Calls it.
    Calls,
    /// Makes an instance of it.
    Instantiates,
    /// Mentions it as a value or a type.
    References,
    /// Reads the variable or field.
    Reads,
    /// Writes the variable or field.
    Writes,
    /// Extends the class.
    Extends,
    /// Implements the interface or trait.
    Implements,
    /// Overrides the member.
    Overrides,
    /// Imports the file, module or symbol.
    Imports,
    /// Contains the definition.
    Contains,
    /// Is decorated or annotated by it.
    Decorated,
    /// Is a test that exercises it.
    Tests,
    /// Offers the contract.
    Provides,
    /// Uses the contract.
    Consumes,
}

/// How an edge is known, in falling trust.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum Origin {
    /// A language server or compiler named the target.
    LspResolved,
    /// A language server named it as one of the possible receivers.
    LspDispatch,
    /// The syntax and the import graph leave one target.
    AstResolved,
    /// Inferred: dispatch to implementers, followed values, a name unique in its package.
    AstInferred,
    /// Only the text agrees.
    TextMatched,
}

/// Why resolution believes an edge. The one table of origins and confidences.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Evidence {
    /// Structure of the syntax tree itself: containment, an inheritance clause whose name resolved.
    Structure,
    /// A name bound in the same file.
    Lexical,
    /// A name imported, and found where the import says.
    Import,
    /// A sibling of the package or namespace, by the language's own rule.
    Package,
    /// A member of a receiver whose type is declared, constructed or `this`.
    DeclaredReceiver,
    /// A member found through inheritance of such a receiver.
    Inherited,
    /// A value followed through assignments, containers, returns or parameters.
    FollowedValue,
    /// A receiver whose type was inferred through calls of undeclared functions.
    InferredReceiver,
    /// An override or implementation that dispatch may reach.
    Dispatch,
    /// The only member of that name among types that the file can reach.
    UniqueName,
    /// One of several candidates by name.
    Candidate,
}

impl Evidence {
    /// Origin and confidence, in hundredths. `candidates` is the number of targets that the same mention got this way.
    pub fn weigh(self, candidates: usize) -> (Origin, u8) {
        let (origin, alone) = match self {
            Evidence::Structure | Evidence::Lexical => (Origin::AstResolved, 100),
            Evidence::Import => (Origin::AstResolved, 98),
            Evidence::Package => (Origin::AstResolved, 95),
            Evidence::DeclaredReceiver => (Origin::AstResolved, 95),
            Evidence::Inherited => (Origin::AstResolved, 93),
            Evidence::FollowedValue => (Origin::AstInferred, 85),
            Evidence::InferredReceiver => (Origin::AstInferred, 80),
            Evidence::Dispatch => (Origin::AstInferred, 70),
            Evidence::UniqueName => (Origin::AstInferred, 60),
            Evidence::Candidate => (Origin::TextMatched, 40),
        };
        let shared = match candidates {
            0 | 1 => alone,
            several => (u32::from(alone) * 2 / (several as u32 + 1)).max(5) as u8,
        };
        let origin = if candidates > 1 && origin == Origin::AstResolved {
            Origin::AstInferred
        } else {
            origin
        };
        (origin, shared)
    }
}

/// One edge as resolution finds it.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Edge {
    /// Where it starts, in the file being resolved; `None` is the file itself. Never an extension.
    pub from: Option<DefinitionId>,
    /// Where it ends.
    pub to: Target,
    /// What it says.
    pub kind: EdgeKind,
    /// Where in the file of `from` it is said.
    pub at: Position,
    /// How it is known.
    pub origin: Origin,
    /// In hundredths, from [`Evidence::weigh`].
    pub confidence: u8,
}

/// What resolution says of one file: its edges in order of (from, kind, to, at), without duplicates.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ResolvedFile {
    /// All edges that start in this file.
    pub edges: Vec<Edge>,
    /// How many calls of the file found no target at all, so that answers can say how complete they are.
    pub unresolved_calls: u32,
}
