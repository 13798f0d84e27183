//! The children of a node, listed at once.
//!
//! The one trick: they are read from the tree by a loop in C (`children.c`), which knows the structures of the library, instead of
//! step by step with a cursor. A cursor is still what says them where hidden nodes lie too deep for that loop.

#![expect(unsafe_code, reason = "the loop that lists children is C")]

use super::rules::{Rules, Selector};
use smallvec::SmallVec;
use tree_sitter::{Node, TreeCursor};

/// A child of a node, with all that lookups need.
#[derive(Clone, Copy)]
#[repr(C)]
pub(crate) struct Child<'t> {
    pub(crate) node: Node<'t>,
    pub(crate) kind: u16,
    pub(crate) field: u16,
    pub(crate) named: bool,
}

/// The children of a node.
pub(crate) struct Children<'t>(SmallVec<[Child<'t>; 6]>);

/// What [`lacon_syntax_children`] says when children lie too deep.
const TOO_DEEP: u32 = u32::MAX;

unsafe extern "C" {
    fn lacon_syntax_children(
        node: Node<'_>,
        with_fields: bool,
        named: *const bool,
        kinds: u32,
        children: *mut Child<'_>,
        room: u32,
    ) -> u32;
}

impl<'t> Children<'t> {
    /// The children of `node`, tokens included. Field names are read where a rule or a hook asks for them; `cursor` is any of this tree.
    pub(super) fn of(node: Node<'t>, rules: &Rules, cursor: &mut TreeCursor<'t>) -> Children<'t> {
        // Asking for the field of each child takes time, so only rules that select by field do.
        let by_field = rules.rule(node.kind_id()).by_field;
        Children::listed(node, by_field, rules).unwrap_or_else(|| Children::by_cursor(node, by_field, rules, cursor))
    }

    /// Unless they lie too deep.
    fn listed(node: Node<'t>, by_field: bool, rules: &Rules) -> Option<Children<'t>> {
        let mut children: SmallVec<[Child<'t>; 6]> = SmallVec::new();
        let named = rules.named();
        loop {
            let room = children.capacity() as u32;
            // Safe because the tree of `node` is alive, there is room for as many children as it is given, and as many as it says
            // have been written.
            unsafe {
                let list = children.as_mut_ptr();
                let count = lacon_syntax_children(node, by_field, named.as_ptr(), named.len() as u32, list, room);
                if count <= room {
                    children.set_len(count as usize);
                    return Some(Children(children));
                }
                if count == TOO_DEEP {
                    return None;
                }
                children.reserve(count as usize);
            }
        }
    }

    #[cold]
    fn by_cursor(node: Node<'t>, by_field: bool, rules: &Rules, cursor: &mut TreeCursor<'t>) -> Children<'t> {
        let mut children = SmallVec::new();
        cursor.reset(node);
        let mut more = cursor.goto_first_child();
        while more {
            let node = cursor.node();
            let kind = node.kind_id();
            let field = if by_field {
                cursor.field_id().map_or(0, |field| field.get())
            } else {
                0
            };
            children.push(Child {
                node,
                kind,
                field,
                named: rules.is_named(kind),
            });
            more = cursor.goto_next_sibling();
        }
        Children(children)
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    /// Every node of `text` in every way of asking, by the loop and by a cursor.
    fn compare(language: &'static crate::languages::Language, text: &str) -> usize {
        // Other tests of this process settle it as well, and what one allocator gave the other must not take back.
        crate::arena::Memory::Arena.settle();
        let mut parser = tree_sitter::Parser::new();
        parser.set_language(&language.grammar()).expect("a grammar");
        let tree = parser.parse(text, None).expect("a tree");
        let mut cursor = tree.walk();
        let mut open = vec![tree.root_node()];
        let mut nodes = 0;
        while let Some(node) = open.pop() {
            for by_field in [true, false] {
                let listed = Children::listed(node, by_field, language.rules()).expect("not too deep");
                let walked = Children::by_cursor(node, by_field, language.rules(), &mut cursor);
                let names = |children: &Children<'_>| -> Vec<_> {
                    let tell = |child: &Child<'_>| {
                        let (node, place) = (child.node, (child.node.start_position(), child.node.end_position()));
                        (
                            node.id(),
                            node.kind_id(),
                            node.byte_range(),
                            place,
                            child.kind,
                            child.field,
                            child.named,
                        )
                    };
                    children.iter().map(tell).collect()
                };
                assert_eq!(names(&listed), names(&walked), "{} {node:?}", language.name());
            }
            nodes += 1;
            open.extend(
                Children::by_cursor(node, false, language.rules(), &mut cursor)
                    .iter()
                    .map(|child| child.node),
            );
        }
        nodes
    }

    #[test]
    fn the_loop_finds_what_a_cursor_finds() {
        let samples = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/languages/samples");
        let mut texts = vec![
            include_str!("children.rs").to_owned(),
            include_str!("children.c").to_owned(),
        ];
        for entry in std::fs::read_dir(samples).expect("samples") {
            texts.push(std::fs::read_to_string(entry.expect("an entry").path()).expect("a sample"));
        }
        // Each text in each language: most are full of errors there.
        let mut nodes = 0;
        for language in crate::languages::all() {
            for text in &texts {
                nodes += compare(language, text);
            }
        }
        assert!(nodes > 50_000, "{nodes}");
    }

    #[test]
    fn long_lists_and_deep_nesting() {
        let python = crate::languages::by_name("python").expect("a language");
        let list = format!("x = [{}]\n", "y, ".repeat(5000));
        assert!(compare(python, &list) > 10_000);
        let statements = "a = b # c\n".repeat(3000);
        assert!(compare(python, &statements) > 9_000);
        compare(python, &"(".repeat(3000));
    }
}
