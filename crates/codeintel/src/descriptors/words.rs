//! The words that descriptors use for kinds, visibility and tags, each by the rule of the symbol's own language.

use index::snapshot::SymbolView;
use syntax::facts::{Flags, Kind, Visibility};

/// The descriptors' word for a symbol.
pub fn kind(symbol: SymbolView<'_>) -> &'static str {
    match symbol.is_file() {
        true => "file",
        false => kind_name(symbol.kind()),
    }
}

/// How a symbol is declared, without attributes of C# before it and comments of Ruby and Python behind it.
pub fn signature(symbol: SymbolView<'_>) -> &str {
    let signature = symbol.signature();
    let before = |mark: &str| signature.find(mark).map_or(signature, |at| signature[..at].trim_end());
    match symbol.file().map_or("", |file| file.language()) {
        "csharp" => super::head::unannotated("csharp", signature),
        "python" => before(": # "),
        "ruby" if !is_function(symbol.kind()) => before(" # "),
        _ => signature,
    }
}

/// The descriptors' word for a kind.
pub fn kind_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Function | Kind::Lambda => "function",
        Kind::Method => "method",
        Kind::Constructor => "constructor",
        Kind::Class => "class",
        Kind::Struct => "struct",
        Kind::Union => "union",
        Kind::Interface => "interface",
        Kind::Trait => "trait",
        Kind::Enum => "enum",
        Kind::EnumMember => "enum_member",
        Kind::TypeAlias => "type",
        Kind::Field => "field",
        Kind::Property => "property",
        Kind::Variable => "variable",
        Kind::Constant => "constant",
        Kind::Module | Kind::Extension => "module",
        Kind::Macro => "macro",
        Kind::Section => "section",
    }
}

/// The kinds that `symbol_type` may name, in the descriptors' words and each language's own.
pub fn kinds_of(word: &str) -> Option<Vec<Kind>> {
    let word = word.trim().to_ascii_lowercase();
    let singular = match word.as_str() {
        "classes" => "class",
        "properties" => "property",
        "alias" => "type_alias",
        other => other.strip_suffix('s').filter(|stem| *stem != "clas").unwrap_or(other),
    };
    match singular {
        "model" => Some(vec![Kind::Class]),
        "type_alias" => Some(vec![Kind::TypeAlias]),
        "accessor" | "mutator" | "scope" => Some(vec![Kind::Method, Kind::Property]),
        known => crate::kinds::kinds_of(known).map(<[Kind]>::to_vec),
    }
}

/// Whether a symbol of this kind is a type.
pub fn is_type(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Class | Kind::Struct | Kind::Union | Kind::Interface | Kind::Trait | Kind::Enum | Kind::TypeAlias
    )
}

/// Whether a symbol of this kind is called.
pub fn is_function(kind: Kind) -> bool {
    matches!(kind, Kind::Function | Kind::Method | Kind::Constructor | Kind::Macro)
}

/// Who may use a symbol, in the words of its language.
pub fn visibility(language: &str, visibility: Visibility, name: &str) -> &'static str {
    match (language, visibility) {
        ("go", Visibility::Public) => "exported",
        ("go", _) => "unexported",
        // Python has no private members: one underscore asks to be left alone, two mangle the name.
        ("python", Visibility::Private) if name.starts_with('_') && !name.starts_with("__") => "protected",
        ("rust", Visibility::Internal) => "pub(crate)",
        ("java", Visibility::Internal) => "package",
        ("c", Visibility::Private) => "static",
        (_, Visibility::Public) => "public",
        (_, Visibility::Internal) => "internal",
        (_, Visibility::Protected) => "protected",
        (_, Visibility::Private) => "private",
    }
}

/// The flags that have no field of their own, as tags.
pub fn tags(flags: Flags) -> Vec<String> {
    const WORDS: &[(Flags, &str)] = &[
        (Flags::ASYNC, "async"),
        (Flags::GENERATOR, "generator"),
        (Flags::OVERRIDE, "override"),
        (Flags::CLASS_METHOD, "classmethod"),
        (Flags::TEST, "test"),
        (Flags::DEPRECATED, "deprecated"),
        (Flags::ENTRY_POINT, "entry_point"),
        (Flags::DECLARATION, "declaration"),
        (Flags::DEFAULT, "default_export"),
    ];
    let set = WORDS.iter().filter(|(flag, _)| flags.contains(*flag));
    set.map(|(_, word)| (*word).to_string()).collect()
}
