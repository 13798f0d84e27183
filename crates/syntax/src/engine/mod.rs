//! The engine: one walk over the tree, driven by a table, that lowers any grammar to the same facts.
//!
//! # Adding a language
//!
//! 1. Add the grammar crate to `Cargo.toml` and an entry to `languages!` in `languages.rs`.
//! 2. Write `languages/<name>/rules.toml`: one line per node kind of the grammar that means something, for example
//!
//!    ```toml
//!    function_definition = { do = "define", kind = "function", name = "name", parameters = "parameters", result = "return_type", body = "body" }
//!    attribute = { do = "member", object = "object", name = "attribute" }
//!    call = { do = "call", callee = "function", arguments = "arguments" }
//!    if_statement = { do = "walk", branch = true }
//!    ```
//!
//!    A node kind without a line is walked: its named children are lowered, its own value is unknown. So a table can
//!    start with definitions and calls and grow. [`rules`] documents every action and key; a *selector* names a child by
//!    field (`"name"`), by kind (`"<identifier>"`), by position among the named children (`"#0"`, `"#-1"` is the last),
//!    `"a > b"` goes further down, `"."` is the node itself (for bodies), and `"name | <identifier>"` takes the first that is there.
//! 3. Where the table cannot say it, set `hook = true` on the node and implement [`Hooks`] in `languages/<name>/mod.rs`. A
//!    hook gets the [`Lowering`] and the node and uses the same verbs as the engine: `lower`, `define`, `assign`,
//!    `declare`, `reference`, `push_*`. Returning `None` lets the rule's own action run.
//! 4. Test with a facts dump: `crates/syntax/tests/languages/<name>.rs`, see `tests/languages/python.rs`.
//!
//! # How it stays fast
//!
//! Children are listed by one loop over the tree ([`children`]), node kinds index the table directly, texts are
//! interned as slices of the source, and names are resolved once at the end ([`finish`]), which also drops every
//! expression and text that nothing mentions.

mod children;
mod definitions;
mod documentation;
mod finish;
mod lowering;
mod names;
mod patterns;
mod reading;
mod rules;
mod scanners;
mod scopes;
mod values;

pub(crate) use definitions::NewDefinition;
pub(crate) use lowering::{Lowering, UNKNOWN};
pub(crate) use patterns::{Declare, Hoist, Parts};
#[cfg(test)]
pub(crate) use rules::unknown_kinds;
pub(crate) use rules::{Action, Rules};
pub(crate) use scanners::guarded;

use crate::facts::{DefinitionId, ExpressionId, FileFacts, Name, Role, Scope, ScopeKind};
use crate::fragments::Fragments;
use crate::languages::Language;
use tree_sitter::{Node, Tree};

/// Deepest nesting that is lowered; what lies deeper is skipped with a problem.
pub(crate) const MAX_NESTING: u32 = 1000;

/// What a language does that its table cannot say. Every method has a default that does nothing.
pub(crate) trait Hooks: Sync {
    /// What a text that the grammar finds errors in may be written as, byte for byte in the same places. The reading with fewer
    /// errors counts.
    fn second_reading(&self, _text: &str) -> Option<String> {
        None
    }

    /// Lowers a node whose rule says `hook = true`. `None` leaves it to the rule's action.
    fn node<'t>(&self, _lowering: &mut Lowering<'t>, _node: Node<'t>, _role: Role) -> Option<ExpressionId> {
        None
    }

    /// Has the last word on a definition: parameters, modifiers, bases and decorators are known, its body is not yet
    /// lowered, and its scope is the current one.
    fn definition<'t>(&self, _lowering: &mut Lowering<'t>, _id: DefinitionId, _node: Node<'t>) {}

    /// A value went to `object.name`.
    fn member_assigned<'t>(&self, _lowering: &mut Lowering<'t>, _assignment: MemberAssignment<'t>) {}

    /// The whole file is lowered, names are not resolved yet.
    fn finish(&self, _lowering: &mut Lowering<'_>) {}
}

/// The arguments of [`Hooks::member_assigned`].
#[derive(Clone, Copy)]
pub(crate) struct MemberAssignment<'t> {
    /// The node `object`.
    pub(crate) object: Node<'t>,
    /// The member.
    pub(crate) name: Name,
    /// The node of the name.
    pub(crate) name_node: Node<'t>,
    /// The whole statement.
    pub(crate) statement: Node<'t>,
    /// The declared type, where the statement gives one.
    pub(crate) type_: Option<(ExpressionId, Name)>,
}

/// For languages that need no code.
#[cfg_attr(
    not(feature = "broad"),
    expect(dead_code, reason = "only broad languages do without code")
)]
pub(crate) struct NoHooks;

impl Hooks for NoHooks {}

/// Lowers a parsed file into `facts`, which already holds what is known without a tree.
pub(crate) fn lower_file(
    language: &'static Language,
    text: &str,
    tree: &Tree,
    fragments: &Fragments,
    facts: FileFacts,
) -> FileFacts {
    let mut lowering = Lowering::new(text, language, tree, fragments);
    lowering.lower_root(tree.root_node());
    finish::finish(lowering, language.depth(), facts)
}

/// Facts of a file that was not parsed: still with its scope 0.
pub(crate) fn empty(mut facts: FileFacts) -> FileFacts {
    facts.scopes.push(Scope {
        parent: None,
        definition: None,
        kind: ScopeKind::File,
    });
    facts
}
