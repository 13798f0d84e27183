//! `use`, `mod x;` and `extern crate`.
//!
//! Every path is relative to the file's own module: `super` inside of `mod tests { … }` is the file itself, so resolution
//! need not know about inline modules.

use crate::engine::{Lowering, UNKNOWN};
use crate::facts::{Bound, ExpressionId, Import, ImportForm, Kind, Name, ScopeId};
use tree_sitter::Node;

pub(super) fn declaration<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let reexported = (0..node.child_count().min(2))
        .filter_map(|at| node.child(at))
        .any(|child| child.kind() == "visibility_modifier");
    if let Some(argument) = lowering.field(node, "argument") {
        tree(lowering, argument, "", reexported);
    }
    UNKNOWN
}

/// One branch of a `use` tree below `prefix`.
fn tree<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, prefix: &str, reexported: bool) {
    let join = |path: &str| {
        if prefix.is_empty() {
            path.to_owned()
        } else {
            format!("{prefix}::{path}")
        }
    };
    match node.kind() {
        "use_list" => {
            let children = lowering.children(node);
            for child in children.named() {
                tree(lowering, child.node, prefix, reexported);
            }
        }
        "scoped_use_list" => {
            let path = lowering
                .field(node, "path")
                .map_or(String::new(), |path| lowering.text(path).to_owned());
            let inner = if path.is_empty() {
                prefix.to_owned()
            } else {
                join(&path)
            };
            if let Some(list) = lowering.field(node, "list") {
                tree(lowering, list, &inner, reexported);
            }
        }
        "use_wildcard" => {
            let path = node
                .named_child(0)
                .map_or(prefix.to_owned(), |path| join(lowering.text(path)));
            add(lowering, node, &path, None, None, ImportForm::Wildcard, reexported);
        }
        "use_as_clause" => {
            let (Some(path), Some(alias)) = (lowering.field(node, "path"), lowering.field(node, "alias")) else {
                return;
            };
            let full = join(lowering.text(path));
            leaf(lowering, path, &full, Some(alias), reexported);
        }
        _ => {
            let text = lowering.text(node);
            // `a::{self}` is `a`.
            let full = if text == "self" && !prefix.is_empty() {
                prefix.to_owned()
            } else {
                join(text)
            };
            leaf(lowering, node, &full, None, reexported);
        }
    }
}

fn leaf<'t>(lowering: &mut Lowering<'t>, node: Node<'t>, path: &str, alias: Option<Node<'t>>, reexported: bool) {
    let at = lowering.field(node, "name").unwrap_or(node);
    let path = path.trim_start_matches("::");
    let (module, member) = match path.rsplit_once("::") {
        Some((module, member)) if !matches!(member, "self" | "super" | "crate") => (module, Some(member)),
        _ => (path, None),
    };
    let bound = match alias {
        Some(alias) => lowering.text(alias),
        None => member.unwrap_or(path),
    };
    let form = if member.is_some() {
        ImportForm::Member
    } else {
        ImportForm::Module
    };
    let member = member.map(|member| lowering.names.intern(member));
    let bound = (bound != "_").then(|| lowering.names.intern(bound));
    add(lowering, at, module, member, bound, form, reexported);
}

fn add<'t>(
    lowering: &mut Lowering<'t>,
    at: Node<'t>,
    module: &str,
    member: Option<Name>,
    alias: Option<Name>,
    form: ImportForm,
    reexported: bool,
) {
    let module: String = module.chars().filter(|letter| !letter.is_whitespace()).collect();
    let module = from_file(lowering, module.trim_start_matches("::"));
    let import = Import {
        module: lowering.names.intern(&module),
        member,
        alias,
        form,
        level: 0,
        reexported,
        type_only: false,
        at: Lowering::position(at),
        within: lowering.definition,
    };
    let id = lowering.push_import(import);
    if let Some(alias) = alias {
        lowering.bind_import(lowering.scope, alias, Bound::Import(id), at);
    }
}

pub(super) fn extern_crate<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> ExpressionId {
    let Some(name) = lowering.field(node, "name") else {
        return UNKNOWN;
    };
    let bound = lowering.field(node, "alias").unwrap_or(name);
    let (module, alias) = (lowering.text(name), lowering.name_of(bound));
    add(lowering, name, module, None, Some(alias), ImportForm::Module, false);
    UNKNOWN
}

/// `mod x;` declares a file of the tree. A module with a body is left to the table.
pub(super) fn module_file<'t>(lowering: &mut Lowering<'t>, node: Node<'t>) -> Option<ExpressionId> {
    if lowering.field(node, "body").is_some() {
        return None;
    }
    let name_node = lowering.field(node, "name")?;
    let path = match path_attribute(lowering, node) {
        Some(path) => path,
        None => from_file(lowering, &format!("self::{}", lowering.text(name_node))),
    };
    let name = lowering.name_of(name_node);
    let import = Import {
        module: lowering.names.intern(&path),
        member: None,
        alias: Some(name),
        form: ImportForm::Declare,
        level: 0,
        reexported: true,
        type_only: false,
        at: Lowering::position(name_node),
        within: lowering.definition,
    };
    let id = lowering.push_import(import);
    lowering.bind_import(lowering.scope, name, Bound::Import(id), node);
    Some(UNKNOWN)
}

/// `#[path = "other.rs"]` before a module.
fn path_attribute<'t>(lowering: &Lowering<'t>, node: Node<'t>) -> Option<String> {
    let attribute = node
        .prev_named_sibling()
        .filter(|before| before.kind() == "attribute_item")?;
    let text = lowering.text(attribute).strip_prefix("#[path")?;
    let path = text.split('"').nth(1)?;
    path.ends_with(".rs").then(|| path.to_owned())
}

/// A path that starts with `self` or `super`, relative to the file's module instead of the enclosing one.
pub(super) fn from_file(lowering: &Lowering<'_>, path: &str) -> String {
    let mut parts = path.split("::").peekable();
    if !matches!(parts.peek(), Some(&"self" | &"super")) {
        return path.to_owned();
    }
    let mut inside = modules_around(lowering);
    let mut above = 0;
    while let Some(part) = parts.peek() {
        match *part {
            "self" => {}
            "super" => {
                if inside.pop().is_none() {
                    above += 1;
                }
            }
            _ => break,
        }
        parts.next();
    }
    let mut path: Vec<&str> = if above == 0 { vec!["self"] } else { vec!["super"; above] };
    path.extend(inside);
    path.extend(parts);
    path.join("::")
}

/// Names of the inline modules around the current one, outermost first.
fn modules_around<'a>(lowering: &'a Lowering<'_>) -> Vec<&'a str> {
    let mut names = Vec::new();
    let mut at = lowering.definition;
    while let Some(id) = at {
        let definition = &lowering.definitions[id.index()];
        if definition.kind == Kind::Module {
            names.push(lowering.names.get(definition.name));
        }
        at = definition.parent;
    }
    names.reverse();
    names
}

/// `use name::…` where the file itself declares or imports `name`: the path starts there.
pub(super) fn settle(lowering: &mut Lowering<'_>) {
    for at in 0..lowering.imports.len() {
        let module = lowering.names.get(lowering.imports[at].module).to_owned();
        let (first, rest) = module.split_once("::").unwrap_or((&module, ""));
        if matches!(first, "self" | "super" | "crate") || lowering.imports[at].form == ImportForm::Declare {
            continue;
        }
        let name = lowering.names.intern(first);
        let start = match lowering
            .binding_in(ScopeId(0), name)
            .map(|binding| lowering.bindings[binding.index()].to)
        {
            Some(Bound::Definition(_)) => format!("self::{first}"),
            Some(Bound::Import(other)) if other.index() != at => {
                let other = &lowering.imports[other.index()];
                let outer = lowering.names.get(other.module);
                match (other.form, other.member) {
                    (ImportForm::Declare, _) => outer.to_owned(),
                    (_, Some(member)) => format!("{outer}::{}", lowering.names.get(member)),
                    (_, None) => outer.to_owned(),
                }
            }
            _ => continue,
        };
        let path = if rest.is_empty() {
            start
        } else {
            format!("{start}::{rest}")
        };
        if path.len() < 1000 {
            lowering.imports[at].module = lowering.names.intern(&path);
        }
    }
}
