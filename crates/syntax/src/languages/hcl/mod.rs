//! HCL, where a block goes by all of its labels: `resource "aws_instance" "web"` is `aws_instance.web`.

use crate::engine::{Hooks, Lowering};
use crate::facts::DefinitionId;
use tree_sitter::Node;

pub(super) struct Hcl;

impl Hooks for Hcl {
    fn definition<'t>(&self, lowering: &mut Lowering<'t>, id: DefinitionId, node: Node<'t>) {
        let children = lowering.children(node);
        let labels: Vec<&str> = children
            .named()
            .filter(|child| child.node.kind() == "string_lit")
            .map(|label| lowering.text(label.node).trim_matches('"'))
            .collect();
        if labels.len() > 1 {
            lowering.definitions[id.index()].name = lowering.names.intern(&labels.join("."));
        }
    }
}
