//! Go's lists: several names share the type behind the last of them, and results are a list like parameters.

use super::scan::{matching, split_top};
use super::{is_word, returned, until_body};
use crate::descriptors::schema::{ParamDescriptor, ReturnDescriptor};

/// Go gives a type to all names before it; without names every part is a type.
pub(super) fn parameters(parts: &[&str]) -> Vec<ParamDescriptor> {
    let split = |part: &&str| -> Option<(String, String)> {
        let (name, type_) = part.split_once(char::is_whitespace)?;
        let is_name = name.chars().all(is_word) && !matches!(name, "chan" | "func" | "map" | "struct" | "interface");
        is_name.then(|| (name.to_string(), type_.trim().to_string()))
    };
    let is_named = parts.iter().any(|part| split(part).is_some());
    let mut type_after = String::new();
    let mut found: Vec<ParamDescriptor> = parts
        .iter()
        .rev()
        .map(|part| {
            let (name, type_) = match split(part) {
                Some(both) => both,
                None if is_named => ((*part).to_string(), type_after.clone()),
                None => (String::new(), (*part).to_string()),
            };
            type_after.clone_from(&type_);
            let rest = type_.strip_prefix("...").map(str::to_string);
            ParamDescriptor {
                name,
                passing: if rest.is_some() {
                    "rest".to_string()
                } else {
                    String::new()
                },
                type_: rest.unwrap_or(type_),
                ..ParamDescriptor::default()
            }
        })
        .collect();
    found.reverse();
    found
}

/// One type, or a list of them with or without names.
pub(super) fn results(rest: &str) -> Vec<ReturnDescriptor> {
    let rest = rest.trim_start();
    if !rest.starts_with('(') {
        let type_ = until_body("go", rest);
        return if type_.is_empty() {
            Vec::new()
        } else {
            vec![returned(&type_)]
        };
    }
    let Some(close) = matching("go", rest, 0) else {
        return Vec::new();
    };
    let parts: Vec<&str> = split_top("go", &rest[1..close], ',');
    let parts: Vec<&str> = parts
        .into_iter()
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    let results = parameters(&parts).into_iter();
    results
        .map(|result| ReturnDescriptor {
            name: result.name,
            ..returned(&result.type_)
        })
        .collect()
}
