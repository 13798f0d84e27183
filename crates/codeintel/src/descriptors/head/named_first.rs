//! Parameters whose name stands first: `name`, `name: Type`, `name = default`, in Rust, Python, TypeScript, JavaScript, Kotlin and Ruby.

use super::assigned;
use super::modifiers::unannotated;
use super::scan::find_top;
use crate::descriptors::schema::ParamDescriptor;

/// `name`, `name: Type`, `name = default`, `name: Type = default`, with the marks of each language.
pub(super) fn named_first(language: &str, part: &str, keyword: &mut bool) -> Option<ParamDescriptor> {
    let mut part = unannotated(language, part);
    let mut found = ParamDescriptor::default();
    let modifiers: &[&str] = match language {
        "kotlin" => &[
            "vararg",
            "noinline",
            "crossinline",
            "val",
            "var",
            "private",
            "protected",
            "public",
            "internal",
            "override",
            "open",
        ],
        "rust" => &["mut"],
        "typescript" | "tsx" => &["public", "private", "protected", "readonly", "override"],
        _ => &[],
    };
    while let Some((word, rest)) = part.split_once(char::is_whitespace)
        && modifiers.contains(&word)
    {
        if word == "vararg" {
            found.passing = "rest".to_string();
        }
        part = rest.trim_start();
    }
    match language {
        "python" if part == "*" => {
            *keyword = true;
            return None;
        }
        "python" if part == "/" => return None,
        "ruby" if part.ends_with(':') || (part.contains(": ") && !part.contains('=')) => {
            let (name, default) = part.split_once(':').unwrap_or((part, ""));
            found.name = name.trim().to_string();
            found.default = default.trim().to_string();
            found.passing = "keyword".to_string();
            return Some(found);
        }
        _ => {}
    }
    let marks: &[(&str, &str)] = match language {
        "python" => &[("**", "keyword_rest"), ("*", "rest")],
        "ruby" => &[("**", "keyword_rest"), ("*", "rest"), ("&", "block")],
        "javascript" | "typescript" | "tsx" | "vue" | "svelte" => &[("...", "rest")],
        _ => &[],
    };
    let marked = marks
        .iter()
        .find_map(|(mark, passing)| Some((part.strip_prefix(mark)?, *passing)));
    if let Some((rest, passing)) = marked {
        part = rest;
        found.passing = passing.to_string();
    } else if *keyword {
        found.passing = "keyword".to_string();
    }
    if language == "python" && found.passing == "rest" {
        *keyword = true;
    }
    let (left, default) = assigned(language, part);
    found.default = default.to_string();
    match find_top(language, left, ':') {
        Some(at) => {
            found.name = left[..at].trim().trim_end_matches('?').to_string();
            found.type_ = left[at + 1..].trim().to_string();
        }
        None => found.name = left.trim().trim_end_matches('?').to_string(),
    }
    let bare = found.name.trim_start_matches(['&', '\'']).trim();
    let is_receiver = match language {
        "rust" => bare == "self" || bare == "mut self" || bare.ends_with(" self") || bare.ends_with(" mut self"),
        "typescript" | "tsx" => bare == "this",
        _ => false,
    };
    (!is_receiver).then_some(found)
}
