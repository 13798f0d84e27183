//! Code that a grammar leaves as tokens: the items in a macro's braces, `cfg_rt! { pub mod runtime; }`.
//!
//! What a macro does with its tokens is not known, but a body that reads as items nearly always stands for them: under a
//! condition, with an attribute, or repeated. Each body that does is parsed in its place, so its nodes have the offsets and
//! lines of the file. One that does not is left to be read as tokens.

use tree_sitter::{Node, Range, Tree};

/// Most bodies that are parsed in one file.
const MAX_FRAGMENTS: usize = 2_000;

/// How often a file may be parsed again in parts: bodies nest.
const MAX_REPEATS: usize = 4;

/// The parsed bodies of a file, by where their braces open.
#[derive(Default)]
pub(crate) struct Fragments {
    trees: Vec<(usize, Tree)>,
}

impl Fragments {
    /// Finds and parses the bodies in `tree`, the tree of `text`, and those within them. `parse` reads one part of the text.
    pub(crate) fn find(text: &str, tree: &Tree, parse: impl Fn(Range) -> Option<Tree>) -> Fragments {
        let mut found = Fragments::default();
        if memchr::memmem::find(text.as_bytes(), b"! {").is_none() {
            return found;
        }
        let mut bytes_left = text.len() * MAX_REPEATS;
        let mut bodies = bodies_in(tree.root_node());
        let mut next = 0;
        loop {
            for body in bodies {
                let length = body.end_byte - body.start_byte;
                if length < 3 || length > bytes_left || found.trees.len() == MAX_FRAGMENTS {
                    continue;
                }
                bytes_left -= length;
                if let Some(tree) = parse(within(body)).filter(|tree| is_items(tree.root_node())) {
                    found.trees.push((body.start_byte, tree));
                }
            }
            let Some((_, tree)) = found.trees.get(next) else { break };
            bodies = bodies_in(tree.root_node());
            next += 1;
        }
        found.trees.sort_by_key(|(start, _)| *start);
        found
    }

    /// The items in the braces of `body`.
    pub(crate) fn of(&self, body: Node<'_>) -> Option<&Tree> {
        let start = body.start_byte();
        let at = self.trees.binary_search_by_key(&start, |(start, _)| *start).ok()?;
        self.trees.get(at).map(|(_, tree)| tree)
    }

    /// How many nodes there are in all.
    pub(crate) fn size(&self) -> usize {
        self.trees
            .iter()
            .map(|(_, tree)| tree.root_node().descendant_count())
            .sum()
    }
}

/// The bodies of macros that stand where items do, with their braces.
fn bodies_in(root: Node<'_>) -> Vec<Range> {
    let mut found = Vec::new();
    let mut cursor = root.walk();
    let mut holders = vec![root];
    while let Some(holder) = holders.pop() {
        for item in holder.named_children(&mut cursor) {
            match item.kind() {
                "mod_item" | "impl_item" | "trait_item" | "foreign_mod_item" => {
                    holders.extend(item.child_by_field_name("body"));
                }
                "expression_statement" => holders.push(item),
                "macro_invocation" => braces_of(item, &mut found),
                _ => {}
            }
        }
    }
    found
}

/// The braces of one macro; of `cfg_if!`, those of its branches.
fn braces_of(invocation: Node<'_>, found: &mut Vec<Range>) {
    let last = invocation.child_count().checked_sub(1);
    let Some(body) = last.and_then(|last| invocation.child(last)).filter(is_braces) else {
        return;
    };
    if body.child(1).is_some_and(|first| first.kind() == "if") {
        let mut cursor = body.walk();
        let branches = body.named_children(&mut cursor).filter(is_braces);
        found.extend(branches.map(|branch| branch.range()));
    } else {
        found.push(body.range());
    }
}

/// What stands between two braces.
fn within(mut braces: Range) -> Range {
    braces.start_byte += 1;
    braces.start_point.column += 1;
    braces.end_byte -= 1;
    braces.end_point.column = braces.end_point.column.saturating_sub(1);
    braces
}

fn is_braces(node: &Node<'_>) -> bool {
    node.kind() == "token_tree" && node.child(0).is_some_and(|open| open.kind() == "{")
}

/// Whether a parsed body is items and nothing else.
fn is_items(root: Node<'_>) -> bool {
    let mut cursor = root.walk();
    let is_item = |node: Node<'_>| {
        let kind = node.kind();
        kind.ends_with("_item")
            || kind.ends_with("_comment")
            || matches!(
                kind,
                "use_declaration"
                    | "extern_crate_declaration"
                    | "macro_invocation"
                    | "macro_definition"
                    | "expression_statement"
            )
    };
    !root.has_error() && root.named_child_count() > 0 && root.named_children(&mut cursor).all(is_item)
}
