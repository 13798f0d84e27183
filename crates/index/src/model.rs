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

/// Up to how many targets of one mention are a few.
const A_FEW: usize = 4;

impl Evidence {
    /// Origin and confidence, in hundredths. `candidates` is the number of targets that the same mention got this way.
    ///
    /// There are few values on purpose: each is a sentence that a reader can be told (`docs/guide/code-tools.md`), and an answer
    /// names every sort of edge that it has.
    pub fn weigh(self, candidates: usize) -> (Origin, u8) {
        match self {
            Evidence::Structure if candidates < 2 => (Origin::AstResolved, 100),
            _ if self <= Evidence::Inherited && candidates < 2 => (Origin::AstResolved, 98),
            Evidence::Candidate => (Origin::TextMatched, 30),
            _ if candidates > A_FEW => (Origin::AstInferred, 40),
            Evidence::FollowedValue | Evidence::InferredReceiver if candidates < 2 => (Origin::AstInferred, 85),
            _ => (Origin::AstInferred, 60),
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Answers name each sort of edge in their header: few sorts are few tokens, and each is explained in the guide.
    #[test]
    fn an_origin_has_few_confidences() {
        let evidence = [
            Evidence::Structure,
            Evidence::Lexical,
            Evidence::Import,
            Evidence::Package,
            Evidence::DeclaredReceiver,
            Evidence::Inherited,
            Evidence::FollowedValue,
            Evidence::InferredReceiver,
            Evidence::Dispatch,
            Evidence::UniqueName,
            Evidence::Candidate,
        ];
        let mut sorts: Vec<(Origin, u8)> = evidence
            .into_iter()
            .flat_map(|evidence| (0..30).map(move |candidates| evidence.weigh(candidates)))
            .collect();
        sorts.sort_unstable();
        sorts.dedup();
        let expected = [
            (Origin::AstResolved, 98),
            (Origin::AstResolved, 100),
            (Origin::AstInferred, 40),
            (Origin::AstInferred, 60),
            (Origin::AstInferred, 85),
            (Origin::TextMatched, 30),
        ];
        assert_eq!(sorts, expected);
    }
}
