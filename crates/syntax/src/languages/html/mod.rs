//! HTML: ids and headings are sections, scripts and links are imports. What tags mean is in their attributes, which a table
//! cannot compare.

use crate::engine::{Hooks, Lowering, NewDefinition};
use crate::facts::{ExpressionId, Import, ImportForm, Kind, Role};
use tree_sitter::Node;

pub(super) struct Html;

/// Longest heading that is kept whole.
const MAX_HEADING: usize = 120;

impl Hooks for Html {
    fn node<'t>(&self, lowering: &mut Lowering<'t>, node: Node<'t>, _role: Role) -> Option<ExpressionId> {
        if matches!(node.kind(), "element" | "script_element" | "style_element") {
            element(lowering, node);
        }
        // What is inside is walked all the same.
        None
    }
}

fn element<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<()> {
    let tag = node
        .named_child(0)
        .filter(|tag| matches!(tag.kind(), "start_tag" | "self_closing_tag"))?;
    let name = tag.named_child(0).filter(|name| name.kind() == "tag_name")?;
    let tag_name = lowering.text(name).to_ascii_lowercase();
    if let Some(id) = attribute(lowering, tag, "id") {
        section(lowering, node, tag, id, lowering.text(id));
    } else if matches!(tag_name.as_bytes(), [b'h', b'1'..=b'6']) {
        let text = node.named_child(1).filter(|text| text.kind() == "text")?;
        let words = lowering.text(text).split_whitespace().collect::<Vec<_>>().join(" ");
        if words.len() <= MAX_HEADING {
            section(lowering, node, tag, text, &words);
        }
    }
    let imported = match tag_name.as_str() {
        "script" | "iframe" | "img" | "embed" => attribute(lowering, tag, "src"),
        "link" => attribute(lowering, tag, "href"),
        _ => None,
    };
    if let Some(place) = imported.filter(|place| !lowering.text(*place).starts_with("data:")) {
        let module = lowering.name_of(place);
        let within = lowering.definition;
        lowering.push_import(Import {
            module,
            member: None,
            alias: None,
            form: ImportForm::Effect,
            level: 0,
            reexported: false,
            type_only: false,
            at: Lowering::position(place),
            within,
        });
    }
    Some(())
}

fn section<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, tag: Node<'t>, at: Node<'t>, name: &str) {
    let name = lowering.names.intern(name);
    let id = lowering.new_definition(NewDefinition {
        kind: Kind::Section,
        name,
        name_at: Lowering::position(at),
        span: Lowering::span(node),
    });
    lowering.definitions[id.index()].signature = lowering.first_line(tag);
}

/// The value of an attribute of a tag, without quotes.
fn attribute<'t>(lowering: &Lowering<'t>, tag: Node<'t>, wanted: &str) -> Option<Node<'t>> {
    let mut cursor = tag.walk();
    let found = tag.named_children(&mut cursor).find(|child| {
        child.kind() == "attribute"
            && child
                .named_child(0)
                .is_some_and(|name| lowering.text(name).eq_ignore_ascii_case(wanted))
    })?;
    let value = found.named_child(1)?;
    match value.kind() {
        "quoted_attribute_value" => value.named_child(0),
        _ => Some(value),
    }
}
