//! The words for kinds of symbols and edges in answers. One internal vocabulary, one mapping for each that the formats use.

use index::model::{EdgeKind, Origin};
use index::snapshot::SymbolView;
use syntax::facts::Kind;

/// The kind as GCX1 answers say it.
pub fn kind(symbol: SymbolView<'_>) -> &'static str {
    if symbol.is_file() {
        "file"
    } else {
        kind_name(symbol.kind())
    }
}

/// GCX1's word: types of all sorts are `type`, except interfaces; the finer sort is in the signature.
pub fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Function | Kind::Lambda => "function",
        Kind::Method | Kind::Constructor => "method",
        Kind::Class | Kind::Struct | Kind::Union | Kind::Enum | Kind::TypeAlias => "type",
        Kind::Interface | Kind::Trait => "interface",
        Kind::EnumMember => "enum_member",
        Kind::Field | Kind::Property => "field",
        Kind::Variable => "variable",
        Kind::Constant => "constant",
        Kind::Module | Kind::Extension => "module",
        Kind::Macro => "macro",
        Kind::Section => "section",
    }
}

/// The kinds that a caller means by a word, for filters: GCX1's words and each language's own.
pub fn kinds_of(word: &str) -> Option<&'static [Kind]> {
    Some(match word.to_ascii_lowercase().as_str() {
        "function" | "func" | "fn" => &[Kind::Function],
        "method" => &[Kind::Method, Kind::Constructor],
        "constructor" => &[Kind::Constructor],
        "type" => &[
            Kind::Class,
            Kind::Struct,
            Kind::Union,
            Kind::Enum,
            Kind::TypeAlias,
            Kind::Interface,
            Kind::Trait,
        ],
        "class" => &[Kind::Class],
        "struct" => &[Kind::Struct],
        "enum" => &[Kind::Enum],
        "interface" | "protocol" => &[Kind::Interface, Kind::Trait],
        "trait" => &[Kind::Trait],
        "field" | "property" => &[Kind::Field, Kind::Property],
        "variable" | "var" => &[Kind::Variable, Kind::Constant],
        "constant" | "const" => &[Kind::Constant],
        "module" | "namespace" => &[Kind::Module],
        "macro" => &[Kind::Macro],
        "enum_member" => &[Kind::EnumMember],
        "section" => &[Kind::Section],
        _ => return None,
    })
}

/// The edge's word.
pub fn edge_name(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Calls => "calls",
        EdgeKind::Instantiates => "instantiates",
        EdgeKind::References => "references",
        EdgeKind::Reads => "reads",
        EdgeKind::Writes => "writes",
        EdgeKind::Extends => "extends",
        EdgeKind::Implements => "implements",
        EdgeKind::Overrides => "overrides",
        EdgeKind::Imports => "imports",
        EdgeKind::Contains => "contains",
        EdgeKind::Decorated => "decorated",
        EdgeKind::Tests => "tests",
        EdgeKind::Provides => "provides",
        EdgeKind::Consumes => "consumes",
    }
}

/// The origin's word.
pub fn origin_name(origin: Origin) -> &'static str {
    match origin {
        Origin::LspResolved => "lsp_resolved",
        Origin::LspDispatch => "lsp_dispatch",
        Origin::AstResolved => "ast_resolved",
        Origin::AstInferred => "ast_inferred",
        Origin::TextMatched => "text_matched",
    }
}

/// The origin that a word means.
pub fn origin_of(word: &str) -> Option<Origin> {
    [
        Origin::LspResolved,
        Origin::LspDispatch,
        Origin::AstResolved,
        Origin::AstInferred,
        Origin::TextMatched,
    ]
    .into_iter()
    .find(|&origin| origin_name(origin) == word)
}
