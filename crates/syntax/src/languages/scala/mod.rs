//! Scala, where one import names several paths, and the end of each may list, rename or hide what is taken.

use crate::engine::{Hooks, Lowering, UNKNOWN};
use crate::facts::{Bound, ExpressionId, Import, ImportForm, Role};
use tree_sitter::Node;

pub(super) struct Scala;

impl Hooks for Scala {
    fn node<'t>(&self, lowering: &mut Lowering<'t>, node: Node<'t>, _role: Role) -> Option<ExpressionId> {
        match node.kind() {
            "import_declaration" => Some(import(lowering, node)),
            _ => None,
        }
    }
}

/// `import a.b.C, d._, e.{F, G => H, I => _}`: read from the text, since the grammar lays paths and lists side by side.
fn import<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let text = lowering.text(node);
    let text = text.strip_prefix("import").unwrap_or(text);
    for clause in clauses(text) {
        match clause.split_once(['{', '}']) {
            Some((path, listed)) => {
                let path = path.trim().trim_end_matches('.');
                for selector in listed.trim_end().trim_end_matches('}').split(',') {
                    take(lowering, node, path, selector.trim());
                }
            }
            None => {
                let (path, selector) = clause.rsplit_once('.').unwrap_or(("", clause));
                take(lowering, node, path.trim(), selector.trim());
            }
        }
    }
    UNKNOWN
}

/// The paths of an import: what commas outside of braces part.
fn clauses(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0usize;
    text.split(move |letter| {
        match letter {
            '{' => depth += 1,
            '}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        letter == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|clause| !clause.is_empty())
}

/// One name of a path, all of them, or one under another name.
fn take<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, path: &str, selector: &str) {
    let renamed = selector.split_once("=>").or_else(|| selector.split_once(" as "));
    let (name, alias) = renamed.map_or((selector, selector), |(name, alias)| (name.trim(), alias.trim()));
    let is_word = |text: &str| !text.is_empty() && !text.contains(char::is_whitespace);
    // `I => _` hides a name from the wildcard beside it; `given` takes what has no name.
    if !is_word(name) || !is_word(alias) || name == "given" || (alias == "_" && name != "_") {
        return;
    }
    let wildcard = matches!(name, "_" | "*");
    let (module, member) = match path {
        "" => (name, None),
        path => (path, (!wildcard).then_some(name)),
    };
    let module: String = module.chars().filter(|letter| !letter.is_whitespace()).collect();
    let bound = (!wildcard).then(|| lowering.names.intern(alias));
    let import = Import {
        module: lowering.names.intern(module.trim_start_matches("_root_.")),
        member: member.map(|member| lowering.names.intern(member)),
        alias: bound,
        form: match (wildcard, member) {
            (true, _) => ImportForm::Wildcard,
            (false, Some(_)) => ImportForm::Member,
            (false, None) => ImportForm::Module,
        },
        level: 0,
        reexported: false,
        type_only: false,
        at: Lowering::position(node),
        within: lowering.definition,
    };
    let id = lowering.push_import(import);
    if let Some(name) = bound {
        lowering.bind_import(lowering.scope, name, Bound::Import(id), node);
    }
}
