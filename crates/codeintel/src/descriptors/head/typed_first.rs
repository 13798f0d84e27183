//! Parameters and variables whose type stands first: `Type name`, in Java, C, C++, C# and PHP.

use super::modifiers::unannotated;
use super::scan::find_top;
use super::{assigned, is_word};
use crate::descriptors::schema::ParamDescriptor;

/// Words that may stand before the type of a PHP property or promoted parameter.
pub(super) const PHP_MODIFIERS: &[&str] = &[
    "public",
    "protected",
    "private",
    "static",
    "readonly",
    "var",
    "final",
    "abstract",
    "const",
    "public(set)",
    "protected(set)",
    "private(set)",
];

/// `Type name`, `Type name = default`, `Type... name`, `Type $name`, `Type name[10]`, `Type (*name)(…)`, `Type`.
pub(super) fn typed_first(language: &str, part: &str) -> ParamDescriptor {
    let part = unannotated(language, part.trim());
    let mut found = ParamDescriptor::default();
    let (left, default) = assigned(language, part);
    found.default = default.to_string();
    let mut left = left.trim();
    if left == "..." {
        found.name = left.to_string();
        found.passing = "rest".to_string();
        return found;
    }
    for modifier in ["final ", "params ", "this ", "scoped "] {
        if let Some(rest) = left
            .strip_prefix(modifier)
            .filter(|_| matches!(language, "java" | "csharp"))
        {
            left = rest.trim_start();
            if modifier == "params " {
                found.passing = "rest".to_string();
            }
        }
    }
    if language == "php" {
        let Some(at) = left.find('$') else {
            found.name = left.to_string();
            return found;
        };
        let (type_, name) = left.split_at(at);
        let type_ = type_.trim_end();
        if type_.ends_with("...") {
            found.passing = "rest".to_string();
        }
        let type_ = type_.trim_end_matches("...").trim_end().trim_end_matches('&').trim();
        let type_ = type_.split_whitespace().filter(|word| !PHP_MODIFIERS.contains(word));
        found.type_ = type_.collect::<Vec<_>>().join(" ");
        found.name = name.trim_start_matches('$').trim().to_string();
        return found;
    }
    // A pointer to a function or an array has its name inside.
    if let Some(at) = left.find("(*").filter(|_| matches!(language, "c" | "cpp")) {
        let name_at = at + 2;
        let length = left[name_at..]
            .find(|letter: char| !is_word(letter))
            .unwrap_or(left.len() - name_at);
        found.name = left[name_at..name_at + length].to_string();
        found.type_ = format!("{}{}", &left[..name_at], &left[name_at + length..]);
        return found;
    }
    let suffix_at = left
        .find('[')
        .filter(|_| matches!(language, "c" | "cpp" | "java"))
        .filter(|at| left[..*at].trim_end().contains(' '));
    let (declared, suffix) = match suffix_at {
        // `int[] x` has its brackets before the name, `int x[3]` after.
        Some(at) if left.ends_with(']') => left.split_at(at),
        _ => (left, ""),
    };
    // A bit field's width is no part of the name.
    let declared = match find_top(language, declared, ':').filter(|at| {
        matches!(language, "c" | "cpp") && !declared[*at..].starts_with("::") && !declared[..*at].ends_with(':')
    }) {
        Some(at) => declared[..at].trim_end(),
        None => declared.trim_end(),
    };
    let start = declared
        .char_indices()
        .rev()
        .find(|(_, letter)| !is_word(*letter))
        .map_or(0, |(at, letter)| at + letter.len_utf8());
    let (type_, name) = declared.split_at(start);
    let type_ = type_.trim();
    // A prototype may leave the name out: then the last word is part of the type.
    let is_alone = type_.is_empty()
        || matches!(
            name,
            "int" | "char" | "long" | "short" | "double" | "float" | "unsigned" | "bool" | "const"
        );
    let after_tag = matches!(
        type_,
        "struct" | "union" | "enum" | "const" | "unsigned" | "signed" | "const struct"
    );
    if matches!(language, "c" | "cpp") && (is_alone || after_tag || name.is_empty()) {
        found.type_ = format!("{declared}{suffix}");
        return found;
    }
    found.name = name.to_string();
    found.type_ = format!("{type_}{suffix}");
    if let Some(element) = found.type_.strip_suffix("...").map(str::trim_end) {
        found.type_ = element.to_string();
        found.passing = "rest".to_string();
    }
    found
}
