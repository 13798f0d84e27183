//! Prints the call edges of a directory, one JSON line each: `cargo run -p index --example edges -- <directory>`. With `all`
//! every edge is printed, with `calls` every place that calls something as well.
//!
//! For measuring a language against a truth of one's own before (or without) building an index.

mod directory;

use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::time::Instant;

use index::model::{EdgeKind, Target};
use index::resolve::Resolver;
use index::tree::Resolve;
use syntax::facts::Role;

use directory::Directory;

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let Some(root) = arguments.first() else {
        return Err(std::io::Error::other("usage: edges <directory> [all]"));
    };
    let all = arguments.get(1).is_some_and(|word| word == "all");
    let calls = arguments.get(1).is_some_and(|word| word == "calls");
    let started = Instant::now();
    let tree = Directory::read(Path::new(root));
    let extracted = started.elapsed();
    let resolved = Mutex::new(Vec::new());
    Resolver::new().resolve(&tree, index::tree::Keep::Nothing, &|file, edges| {
        resolved
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
            .push((file.0, edges));
    });
    let mut resolved = resolved.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    resolved.sort_by_key(|(file, _)| *file);
    writeln!(
        std::io::stderr(),
        "{} files, extracted in {extracted:?}, all in {:?}",
        tree.files.len(),
        started.elapsed()
    )?;
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    let mut unresolved = 0;
    for (file, edges) in &resolved {
        unresolved += edges.unresolved_calls;
        for edge in &edges.edges {
            let is_call = matches!(edge.kind, EdgeKind::Calls | EdgeKind::Instantiates);
            if !all && edge.kind != EdgeKind::Calls && !(calls && is_call) {
                continue;
            }
            let at = |file: u32, definition: Option<syntax::facts::DefinitionId>| {
                let (path, _, facts) = &tree.files[file as usize];
                match definition {
                    Some(id) => {
                        let definition = facts.definition(id);
                        (path.as_str(), definition.name_at.line, facts.text(definition.name))
                    }
                    None => (path.as_str(), 0, ""),
                }
            };
            let from = at(*file, edge.from);
            let to = match &edge.to {
                Target::Symbol(symbol) => {
                    let (path, line, name) = at(symbol.file.0, symbol.definition);
                    serde_json::json!([path, line, name])
                }
                Target::External(name) => serde_json::json!(name),
            };
            let line = serde_json::json!({
                "from": [from.0, from.1, from.2], "to": to, "kind": edge.kind, "at": [edge.at.line, edge.at.column],
                "origin": edge.origin, "confidence": edge.confidence,
            });
            writeln!(out, "{line}")?;
        }
    }
    for (path, language, facts) in tree.files.iter().filter(|_| calls) {
        for definition in &facts.definitions {
            let (name, line) = (facts.text(definition.name), definition.name_at.line);
            let span = [definition.span.start_line, definition.span.end_line];
            let line = serde_json::json!({"symbol": path, "name": name, "line": line, "span": span,
                "kind": definition.kind, "signature": facts.text(definition.signature)});
            writeln!(out, "{line}")?;
        }
        for reference in &facts.references {
            if matches!(reference.role, Role::Call | Role::Instantiate | Role::Macro) {
                let at = reference.at;
                let line = serde_json::json!({"call": path, "language": language, "at": [at.line, at.column]});
                writeln!(out, "{line}")?;
            }
        }
    }
    out.flush()?;
    writeln!(std::io::stderr(), "{unresolved} calls unresolved")
}
