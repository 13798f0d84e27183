//! Reading the tree: the children of a node, its text, its place in the file, and what went wrong there.
//!
//! The one trick: children are listed with one cursor that is reused, because asking a node for its n-th child counts from the
//! first each time.

use super::lowering::Lowering;
use super::rules::{Rule, Selector};
use crate::facts::{Name, Position, Problem, Span};
use smallvec::SmallVec;
use tree_sitter::Node;

const MAX_PROBLEMS: usize = 16;

/// A child of a node, with all that lookups need.
#[derive(Clone, Copy)]
pub(crate) struct Child<'t> {
    pub(crate) node: Node<'t>,
    pub(crate) kind: u16,
    pub(crate) field: u16,
    pub(crate) named: bool,
}

/// The children of a node.
pub(crate) struct Children<'t>(SmallVec<[Child<'t>; 6]>);

impl<'t> Children<'t> {
    pub(crate) fn iter(&self) -> std::slice::Iter<'_, Child<'t>> {
        self.0.iter()
    }

    pub(crate) fn named(&self) -> impl DoubleEndedIterator<Item = &Child<'t>> {
        self.0.iter().filter(|child| child.named)
    }

    pub(crate) fn get(&self, selector: &Selector) -> Option<Node<'t>> {
        match selector {
            Selector::None | Selector::Itself => None,
            Selector::Field(field) => self
                .0
                .iter()
                .find(|child| child.field == *field)
                .map(|child| child.node),
            Selector::Kind(kind) => self.0.iter().find(|child| child.kind == *kind).map(|child| child.node),
            Selector::Nth(nth) if *nth >= 0 => self.named().nth(*nth as usize).map(|child| child.node),
            Selector::Nth(nth) => self.named().rev().nth((-1 - nth) as usize).map(|child| child.node),
            Selector::First(alternatives) => alternatives.iter().find_map(|one| self.get(one)),
            Selector::Path(steps) => {
                let (first, rest) = steps.split_first()?;
                rest.iter()
                    .try_fold(self.get(first)?, |node, step| step_into(node, step))
            }
        }
    }
}

/// One step of a path. Only the first children count: paths lead to names, which stand at the front.
fn step_into<'t>(node: Node<'t>, step: &Selector) -> Option<Node<'t>> {
    match step {
        Selector::Field(field) => node.child_by_field_id(*field),
        Selector::Kind(kind) => (0..16)
            .map_while(|at| node.named_child(at))
            .find(|child| child.kind_id() == *kind),
        Selector::Nth(nth) if *nth >= 0 => node.named_child(*nth as u32),
        Selector::First(alternatives) => alternatives.iter().find_map(|one| step_into(node, one)),
        Selector::None | Selector::Nth(_) | Selector::Itself | Selector::Path(_) => None,
    }
}

impl<'t> Lowering<'t> {
    /// Lists the children of `node`, tokens included.
    pub(crate) fn children(&mut self, node: Node<'t>) -> Children<'t> {
        let mut children = SmallVec::new();
        // Asking for the field of each child is a tenth of the walk, so only rules that select by field do.
        let by_field = self.rules.rule(node.kind_id()).by_field;
        self.cursor.reset(node);
        if self.cursor.goto_first_child() {
            loop {
                let node = self.cursor.node();
                let kind = node.kind_id();
                let field = if by_field {
                    self.cursor.field_id().map_or(0, |field| field.get())
                } else {
                    0
                };
                children.push(Child {
                    node,
                    kind,
                    field,
                    named: self.rules.is_named(kind),
                });
                if !self.cursor.goto_next_sibling() {
                    break;
                }
            }
        }
        Children(children)
    }

    /// The child of `node` in the field called `field`. For hooks; rules use selectors.
    pub(crate) fn field(&self, node: Node<'t>, field: &str) -> Option<Node<'t>> {
        node.child_by_field_id(self.rules.field(field)?)
    }

    pub(crate) fn rule(&self, node: Node<'t>) -> &'static Rule {
        self.rules.rule(node.kind_id())
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
