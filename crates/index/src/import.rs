//! SCIP indexes of other tools as a source of resolved edges: a compiler's word replaces what the syntax tree inferred.
//!
//! SCIP carries no hash of the files it speaks of, so nothing is believed on position alone: a reference counts only where
//! the file mentions something at that very place, and only if the target is defined at the place and by the name that the
//! index gives. What no longer fits is dropped, and the inferred edge stays.

use hashbrown::HashMap;
use syntax::FileFacts;
use syntax::facts::{Kind, Position, Role};

use crate::export::{Malformed, ProtobufValue as Value, protobuf_fields as fields, protobuf_packed as packed};
use crate::model::{Edge, EdgeKind, FileId, Origin, ResolvedFile, SymbolRef, Target};

/// References of all imported indexes, by file.
#[derive(Default, Debug)]
pub(crate) struct Imported {
    /// By path: where something is mentioned, and the symbol that it is.
    references: HashMap<Box<str>, Vec<(Position, u32)>>,
    /// Where each symbol is defined, and its own name.
    definitions: HashMap<u32, (Box<str>, Position, Box<str>)>,
    symbols: HashMap<Box<str>, u32>,
}

const DEFINITION_ROLE: u64 = 1;

impl Imported {
    /// Adds an index. Bytes that are not SCIP add nothing.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        for field in fields(bytes) {
            if let (2, Value::Bytes(document)) = field? {
                self.read_document(document)?;
            }
        }
        Ok(())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.references.is_empty()
    }

    fn read_document(&mut self, bytes: &[u8]) -> Result<(), Malformed> {
        let mut path: Box<str> = "".into();
        let mut references = Vec::new();
        let mut definitions = Vec::new();
        for field in fields(bytes) {
            match field? {
                (1, Value::Bytes(text)) => path = text_of(text)?.into(),
                (2, Value::Bytes(occurrence)) => {
                    let Some((at, symbol, roles)) = read_occurrence(occurrence)? else {
                        continue;
                    };
                    // Locals never leave their document, and are no symbols here.
                    if symbol.starts_with("local ") || symbol.is_empty() {
                        continue;
                    }
                    let next = self.symbols.len() as u32;
                    let number = *self.symbols.entry_ref(symbol).or_insert(next);
                    match roles & DEFINITION_ROLE {
                        0 => references.push((at, number)),
                        _ => definitions.push((number, at, own_name(symbol))),
                    }
                }
                _ => {}
            }
        }
        for (symbol, at, name) in definitions {
            self.definitions
                .entry(symbol)
                .or_insert_with(|| (path.clone(), at, name.into()));
        }
        references.sort_unstable();
        references.dedup();
        if !references.is_empty() {
            self.references.entry(path).or_default().extend(references);
        }
        Ok(())
    }

    /// Replaces the edges of a file that the index knows better. `definition_at` finds a definition by path, place and name.
    pub(crate) fn refine(
        &self,
        path: &str,
        facts: &FileFacts,
        resolved: &mut ResolvedFile,
        definition_at: impl Fn(&str, Position, &str) -> Option<(FileId, syntax::facts::DefinitionId, Kind)>,
    ) {
        let Some(references) = self.references.get(path) else {
            return;
        };
        for &(at, symbol) in references {
            let Some((target_path, target_at, target_name)) = self.definitions.get(&symbol) else {
                continue;
            };
            let Some((file, definition, kind)) = definition_at(target_path, *target_at, target_name) else {
                continue;
            };
            let mentions = facts.references.iter().filter(|reference| reference.at == at);
            for mention in mentions {
                let from = enclosing(facts, mention.within);
                let edge_kind = edge_kind(mention.role, kind);
                resolved
                    .edges
                    .retain(|edge| edge.at != at || edge.from != from || !same_question(edge.kind, edge_kind));
                resolved.edges.push(Edge {
                    from,
                    to: Target::Symbol(SymbolRef {
                        file,
                        definition: Some(definition),
                    }),
                    kind: edge_kind,
                    at,
                    origin: Origin::LspResolved,
                    confidence: 100,
                });
            }
        }
    }
}

/// Whether two kinds answer the same question about one mention.
fn same_question(left: EdgeKind, right: EdgeKind) -> bool {
    let is_use = |kind| {
        matches!(
            kind,
            EdgeKind::Calls | EdgeKind::Instantiates | EdgeKind::References | EdgeKind::Reads | EdgeKind::Writes
        )
    };
    left == right || (is_use(left) && is_use(right))
}

/// The nearest definition around a mention that is a symbol.
fn enclosing(
    facts: &FileFacts,
    mut within: Option<syntax::facts::DefinitionId>,
) -> Option<syntax::facts::DefinitionId> {
    while let Some(id) = within {
        let definition = facts.definitions.get(id.index())?;
        if definition.kind != Kind::Extension {
            return Some(id);
        }
        within = definition.parent;
    }
    None
}

fn edge_kind(role: Role, target: Kind) -> EdgeKind {
    let is_type = matches!(target, Kind::Class | Kind::Struct | Kind::Enum | Kind::Union);
    let is_value = matches!(
        target,
        Kind::Field | Kind::Variable | Kind::Constant | Kind::Property | Kind::EnumMember
    );
    match role {
        Role::Call if is_type => EdgeKind::Instantiates,
        Role::Call | Role::Macro | Role::Implicit => EdgeKind::Calls,
        Role::Instantiate => EdgeKind::Instantiates,
        Role::Read if is_value => EdgeKind::Reads,
        Role::Write => EdgeKind::Writes,
        Role::Inherit if matches!(target, Kind::Interface | Kind::Trait) => EdgeKind::Implements,
        Role::Inherit => EdgeKind::Extends,
        Role::Decorate => EdgeKind::Decorated,
        Role::Read | Role::Type => EdgeKind::References,
    }
}

/// The name in the last descriptor of a symbol: `add` of `… Cart#add().`, also in backticks.
fn own_name(symbol: &str) -> &str {
    let symbol = symbol.trim_end_matches(['.', '#', '/', '!', ':']);
    let symbol = match symbol.ends_with(')') {
        true => symbol.rfind('(').map_or(symbol, |at| &symbol[..at]),
        false => symbol,
    };
    match symbol.strip_suffix('`') {
        Some(quoted) => quoted.rsplit('`').next().unwrap_or(quoted),
        None => symbol
            .rsplit(['#', '/', '.', ' ', '!', ':', '`'])
            .next()
            .unwrap_or(symbol),
    }
}

/// Place, symbol and roles of an occurrence.
fn read_occurrence(bytes: &[u8]) -> Result<Option<(Position, &str, u64)>, Malformed> {
    let (mut at, mut symbol, mut roles) = (None, "", 0);
    for field in fields(bytes) {
        match field? {
            (1, Value::Bytes(range)) => {
                let mut numbers = packed(range).filter_map(|number| u32::try_from(number).ok());
                if let (Some(line), Some(column)) = (numbers.next(), numbers.next()) {
                    at = Some(Position {
                        line: line.saturating_add(1),
                        column,
                    });
                }
            }
            (2, Value::Bytes(text)) => symbol = text_of(text)?,
            (3, Value::Number(number)) => roles = number,
            _ => {}
        }
    }
    Ok(at.map(|at| (at, symbol, roles)))
}

fn text_of(bytes: &[u8]) -> Result<&str, Malformed> {
    std::str::from_utf8(bytes).map_err(|_| Malformed)
}

#[cfg(test)]
mod tests {
    use super::own_name;

    #[test]
    fn the_last_descriptor_names_a_symbol() {
        for (symbol, name) in [
            ("scip-python python pkg 1.0 `a.b`/Cart#add().", "add"),
            ("scip-go gomod m v1 `x/y`/Server#", "Server"),
            ("scip-go gomod m v1 `x/y`/Server#Run(+1).", "Run"),
            ("lacon . . . `a b.py`/`odd name`.", "odd name"),
            ("rust-analyzer cargo c 1 m/mac!", "mac"),
        ] {
            assert_eq!(own_name(symbol), name, "{symbol}");
        }
    }
}
