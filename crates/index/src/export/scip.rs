//! SCIP, the code intelligence protocol: documents with occurrences of symbols. Edges become reference occurrences at the
//! place where they are said; inheritance becomes relationships.

use std::io::{self, Write};
use std::path::Path;

use syntax::facts::Kind;

use super::Filter;
use super::protobuf::Message;
use crate::model::EdgeKind;
use crate::snapshot::{EdgeEnd, FileView, Snapshot, SymbolView};

const DEFINITION: u64 = 1;
const IMPORT: u64 = 2;
const WRITE: u64 = 4;
const READ: u64 = 8;
const UTF8_OFFSETS: u64 = 1;

pub(super) fn write(snapshot: &Snapshot, root: &Path, filter: &Filter, out: &mut dyn Write) -> io::Result<()> {
    let mut tool = Message::default();
    tool.text(1, "lacon");
    tool.text(2, env!("CARGO_PKG_VERSION"));
    let mut metadata = Message::default();
    metadata.message(2, &tool);
    metadata.text(3, &format!("file://{}", root.display()));
    metadata.number(4, 1);
    let mut index = Message::default();
    index.message(1, &metadata);
    out.write_all(&index.bytes)?;
    for file in filter.files(snapshot) {
        // The fields of a message may be written apart, so each document goes out as it is made.
        let mut index = Message::default();
        index.message(2, &document(snapshot, filter, file));
        out.write_all(&index.bytes)?;
    }
    Ok(())
}

fn document(snapshot: &Snapshot, filter: &Filter, file: FileView<'_>) -> Message {
    let mut document = Message::default();
    document.text(1, file.path());
    for symbol in file.symbols() {
        let at = symbol.name_at();
        let name = if symbol.is_file() { "" } else { symbol.name() };
        let span = symbol.span();
        let mut occurrence = occurrence(at.line, at.column, name, &symbol_of(symbol), DEFINITION);
        // The end column is not known: the range ends where the line after the definition starts.
        occurrence.packed(7, &[span.start_line.saturating_sub(1), 0, span.end_line, 0]);
        document.message(2, &occurrence);
    }
    for edge in filter.edges(snapshot, file) {
        let roles = match edge.kind {
            EdgeKind::Contains | EdgeKind::Overrides => continue,
            EdgeKind::Imports => IMPORT,
            EdgeKind::Writes => WRITE,
            EdgeKind::Reads => READ,
            _ => 0,
        };
        let (symbol, name) = match edge.to {
            EdgeEnd::Symbol(target) => match snapshot.symbol(target) {
                Some(target) if target.is_file() => (symbol_of(target), ""),
                Some(target) => (symbol_of(target), target.name()),
                None => continue,
            },
            EdgeEnd::External(external) => {
                let name = snapshot.external(external);
                (external_symbol(name), name.rsplit([':', '.']).next().unwrap_or(name))
            }
        };
        document.message(2, &occurrence(edge.at.line, edge.at.column, name, &symbol, roles));
    }
    for symbol in file.symbols() {
        document.message(3, &information(snapshot, symbol));
    }
    document.text(4, file.language());
    document.number(6, UTF8_OFFSETS);
    document
}

fn occurrence(line: u32, column: u32, name: &str, symbol: &str, roles: u64) -> Message {
    let mut occurrence = Message::default();
    let line = line.saturating_sub(1);
    occurrence.packed(1, &[line, column, column.saturating_add(name.len() as u32)]);
    occurrence.text(2, symbol);
    occurrence.number(3, roles);
    occurrence
}

fn information(snapshot: &Snapshot, symbol: SymbolView<'_>) -> Message {
    let mut information = Message::default();
    information.text(1, &symbol_of(symbol));
    information.text(3, symbol.doc());
    let above = EdgeKind::Extends | EdgeKind::Implements | EdgeKind::Overrides;
    for edge in snapshot.outgoing(symbol.id(), above) {
        if let Some(target) = edge.to.symbol().and_then(|target| snapshot.symbol(target)) {
            let mut relationship = Message::default();
            relationship.text(1, &symbol_of(target));
            relationship.number(2, u64::from(edge.kind == EdgeKind::Overrides));
            relationship.number(3, 1);
            information.message(4, &relationship);
        }
    }
    information.number(5, kind_number(symbol));
    information.text(6, symbol.name());
    if let Some(parent) = symbol.parent() {
        information.text(8, &symbol_of(parent));
    }
    information
}

/// The SCIP spelling of a symbol: path as a namespace, owners as types, then the symbol by its kind.
pub fn symbol_of(symbol: SymbolView<'_>) -> String {
    let mut text = format!("lacon . . . {}/", identifier(symbol.path()));
    if symbol.is_file() {
        return text;
    }
    let mut owners = Vec::new();
    let mut current = symbol;
    loop {
        if !current.named_owner().is_empty() {
            owners.extend(current.named_owner().rsplit('.').map(str::to_string));
        }
        match current.parent() {
            Some(parent) if !parent.is_file() && owners.len() < 256 => {
                owners.push(parent.name().to_string());
                current = parent;
            }
            _ => break,
        }
    }
    for owner in owners.iter().rev() {
        text.push_str(&format!("{}#", identifier(owner)));
    }
    let name = identifier(symbol.name());
    let repeat = match symbol.repeat() {
        1 => String::new(),
        repeat => format!("+{repeat}"),
    };
    text.push_str(&match symbol.kind() {
        Kind::Function | Kind::Method | Kind::Constructor => format!("{name}({repeat})."),
        Kind::Macro => format!("{name}{repeat}!"),
        Kind::Module => format!("{name}{repeat}/"),
        kind if is_type(kind) => match repeat.is_empty() {
            true => format!("{name}#"),
            false => format!("{}#", identifier(&format!("{}{repeat}", symbol.name()))),
        },
        _ => match repeat.is_empty() {
            true => format!("{name}."),
            false => format!("{}.", identifier(&format!("{}{repeat}", symbol.name()))),
        },
    });
    text
}

fn external_symbol(name: &str) -> String {
    let (package, rest) = name.split_once("::").unwrap_or((name, ""));
    let (manager, package) = package.split_once(':').unwrap_or((".", package));
    let package = if package.is_empty() { "." } else { package };
    let mut text = format!("lacon {manager} {} . ", package.replace(' ', "  "));
    match rest.rsplit_once('.') {
        Some((owner, last)) => text.push_str(&format!("{}#{}.", identifier(owner), identifier(last))),
        None if rest.is_empty() => text.push_str(&format!("{}/", identifier(package))),
        None => text.push_str(&format!("{}.", identifier(rest))),
    }
    text
}

fn is_type(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Class | Kind::Struct | Kind::Union | Kind::Interface | Kind::Trait | Kind::Enum | Kind::TypeAlias
    )
}

/// A name as SCIP spells it: plain, or in backticks where it holds anything else.
fn identifier(name: &str) -> String {
    let plain = !name.is_empty()
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_+-$".contains(&byte));
    match plain {
        true => name.to_string(),
        false => format!("`{}`", name.replace('`', "``")),
    }
}

/// SCIP's number of a kind.
fn kind_number(symbol: SymbolView<'_>) -> u64 {
    if symbol.is_file() {
        return 16;
    }
    match symbol.kind() {
        Kind::Class => 7,
        Kind::Constant => 8,
        Kind::Constructor => 9,
        Kind::Enum => 11,
        Kind::EnumMember => 12,
        Kind::Field => 15,
        Kind::Function => 17,
        Kind::Interface => 21,
        Kind::Macro => 25,
        Kind::Method => 26,
        Kind::Module => 29,
        Kind::Property => 41,
        Kind::Struct => 49,
        Kind::Trait => 53,
        Kind::TypeAlias => 55,
        Kind::Union => 59,
        Kind::Variable => 61,
        Kind::Section | Kind::Extension | Kind::Lambda => 0,
    }
}
