//! What stands before a type or a name and is part of neither: modifiers, annotations, attributes, type parameters.

use super::is_word;
use super::scan::matching;

/// The type that stands before a name, without modifiers, annotations and type parameters. `None` for a constructor.
pub(super) fn type_before(language: &str, before: &str) -> Option<String> {
    let text = modifiers_cut(language, unannotated(language, before.trim()));
    // `void Cart::go`: the owner is no part of the type.
    let text = match text.strip_suffix("::") {
        Some(owner) => owner.rfind(char::is_whitespace).map_or("", |at| owner[..at].trim_end()),
        None => text,
    };
    (!text.is_empty() && !text.ends_with(['~', '.'])).then(|| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// `text` without the modifiers that it starts with.
pub(super) fn modifiers_cut<'a>(language: &str, text: &'a str) -> &'a str {
    const MODIFIERS: &[&str] = &[
        "public",
        "protected",
        "private",
        "internal",
        "static",
        "final",
        "abstract",
        "virtual",
        "override",
        "sealed",
        "async",
        "synchronized",
        "native",
        "default",
        "strictfp",
        "transient",
        "volatile",
        "readonly",
        "extern",
        "inline",
        "constexpr",
        "consteval",
        "explicit",
        "friend",
        "new",
        "partial",
        "unsafe",
        "required",
        "event",
        "const",
        "mutable",
        "file",
        "__inline",
        "__inline__",
        "typedef",
    ];
    let mut text = text.trim();
    loop {
        text = unannotated(language, text);
        if let Some(rest) = text
            .strip_prefix("template")
            .map(str::trim_start)
            .filter(|rest| rest.starts_with('<'))
        {
            let Some(close) = matching(language, rest, 0) else {
                return text;
            };
            text = rest[close + 1..].trim_start();
            continue;
        }
        if text.starts_with('<') && language == "java" {
            let Some(close) = matching(language, text, 0) else {
                return text;
            };
            text = text[close + 1..].trim_start();
            continue;
        }
        let end = text.find(|letter: char| !is_word(letter)).unwrap_or(text.len());
        let word = &text[..end];
        // In C and C++ `const` belongs to the type.
        let is_modifier = MODIFIERS.contains(&word) && !(word == "const" && matches!(language, "c" | "cpp"));
        if !is_modifier || (word == "public" && text[end..].starts_with(':')) {
            return text;
        }
        text = text[end..].trim_start();
    }
}

/// `text` without the annotations, attributes and decorators that it starts with.
pub(in crate::descriptors) fn unannotated<'a>(language: &str, text: &'a str) -> &'a str {
    let mut text = text.trim_start();
    loop {
        let rest = match language {
            "java" | "kotlin" | "typescript" | "tsx" | "scala" if text.starts_with('@') => {
                let end = text[1..]
                    .find(|letter: char| !is_word(letter) && letter != '.' && letter != ':')
                    .map_or(text.len(), |at| at + 1);
                let rest = &text[end..];
                match rest.starts_with('(').then(|| matching(language, rest, 0)).flatten() {
                    Some(close) => &rest[close + 1..],
                    None => rest,
                }
            }
            "rust" | "php" if text.starts_with("#[") => match matching(language, text, 1) {
                Some(close) => &text[close + 1..],
                None => return text,
            },
            "csharp" | "cpp" | "c" if text.starts_with('[') => match matching(language, text, 0) {
                Some(close) => &text[close + 1..],
                None => return text,
            },
            _ => return text,
        };
        if rest.len() == text.len() {
            return text;
        }
        text = rest.trim_start();
    }
}
