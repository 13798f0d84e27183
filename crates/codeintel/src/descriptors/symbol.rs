//! A symbol as a row of a listing or a search result, from the snapshot alone.

use index::snapshot::SymbolView;
use syntax::facts::{Flags, Visibility};

use super::docs;
use super::home::{Homes, owners};
use super::schema::{SymbolDescriptor, SymbolLocation};
use super::words;
use crate::workspace::Workspace;

/// Describes `symbol`. `homes` remembers packages of files over many symbols.
pub fn symbol(
    workspace: &Workspace,
    repository: usize,
    symbol: SymbolView<'_>,
    homes: &mut Homes<'_>,
) -> SymbolDescriptor {
    let language = symbol.file().map_or("", |file| file.language());
    let home = homes.namespace(repository, symbol);
    let mut tags = words::tags(symbol.flags());
    if symbol.flags().contains(Flags::STATIC) {
        tags.push("static".to_string());
    }
    if symbol.flags().contains(Flags::ABSTRACT) {
        tags.push("abstract".to_string());
    }
    if symbol.visibility() != Visibility::Public {
        tags.push(words::visibility(language, symbol.visibility(), symbol.name()).to_string());
    }
    let mut metadata = serde_json::Map::new();
    let owner = owner_name(symbol);
    if !owner.is_empty() {
        metadata.insert("owner".into(), owner.into());
    }
    SymbolDescriptor {
        language: language.to_string(),
        kind: words::kind(symbol).to_string(),
        name: symbol.name().to_string(),
        package: if home.package == home.namespace {
            String::new()
        } else {
            home.package
        },
        namespace: home.namespace,
        signature: words::signature(symbol).to_string(),
        description: docs::plain(symbol.doc()),
        location: location(workspace, repository, symbol),
        tags,
        metadata,
    }
}

/// Where a symbol stands, without its address.
pub fn location(workspace: &Workspace, repository: usize, symbol: SymbolView<'_>) -> SymbolLocation {
    let span = symbol.span();
    SymbolLocation {
        file_path: workspace.path(repository, symbol.path()),
        uri: String::new(),
        start_line: span.start_line,
        end_line: span.end_line,
    }
}

/// The type that a symbol is a member of, outer types first; empty for what stands in no type.
pub fn owner_name(symbol: SymbolView<'_>) -> String {
    let mut names: Vec<&str> = owners(symbol)
        .into_iter()
        .filter(|owner| words::is_type(owner.kind()))
        .map(|owner| owner.name())
        .collect();
    if !symbol.named_owner().is_empty() {
        names.push(symbol.named_owner());
    }
    names.join(".")
}
