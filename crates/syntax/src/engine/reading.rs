//! Reading the tree: the children of a node, its text, its place in the file, and what went wrong there.

use super::children::Children;
use super::lowering::Lowering;
use super::rules::Rule;
use crate::facts::{Name, Position, Problem, Span};
use tree_sitter::Node;

const MAX_PROBLEMS: usize = 16;

impl<'t> Lowering<'t> {
    /// Lists the children of `node`, tokens included.
    pub(crate) fn children(&mut self, node: Node<'t>) -> Children<'t> {
        Children::of(node, self.rules, &mut self.cursor)
    }

    /// The child of `node` in the field called `field`. For hooks; rules use selectors.
    pub(crate) fn field(&self, node: Node<'t>, field: &str) -> Option<Node<'t>> {
        node.child_by_field_id(self.rules.field(field)?)
    }

    pub(crate) fn rule(&self, node: Node<'t>) -> &'static Rule {
        self.rules.rule(node.kind_id())
    }

    /// The name of the kind of `node`: the grammar itself measures and checks the text each time.
    pub(crate) fn kind(&self, node: Node<'t>) -> &'static str {
        self.rules.name(node.kind_id())
    }

    pub(crate) fn text(&self, node: Node<'t>) -> &'t str {
        self.source.get(node.start_byte()..node.end_byte()).unwrap_or("")
    }

    /// The text of `node`, interned.
    pub(crate) fn name_of(&mut self, node: Node<'t>) -> Name {
        self.names.slice(node.start_byte(), node.end_byte())
    }

    pub(crate) fn position(node: Node<'t>) -> Position {
        let point = node.start_position();
        Position {
            line: point.row as u32 + 1,
            column: point.column as u32,
        }
    }

    pub(crate) fn span(node: Node<'t>) -> Span {
        let start = node.start_position();
        let end = node.end_position();
        // A node that ends with a line break ends on the line before.
        let end_line = if end.column == 0 && end.row > start.row {
            end.row
        } else {
            end.row + 1
        };
        Span {
            start: node.start_byte() as u32,
            end: node.end_byte() as u32,
            start_line: start.row as u32 + 1,
            end_line: end_line as u32,
        }
    }

    pub(crate) fn problem(&mut self, node: Node<'t>, message: &str) {
        if self.problems.len() < MAX_PROBLEMS {
            self.problems.push(Problem {
                line: node.start_position().row as u32 + 1,
                message: message.to_owned(),
            });
        }
    }
}
