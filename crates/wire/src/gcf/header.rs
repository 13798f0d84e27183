//! The first line, `GCF profile=… name=value …`: which profile, and what else the producer says about the payload.

use super::error::{Category, Error, Result, shown};
use super::scalar::is_bare_key;

/// The two encodings that share the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Profile {
    /// Any JSON value.
    Generic,
    /// Code symbols and edges.
    Graph,
}

/// A parsed header.
#[derive(Debug, Clone)]
pub(crate) struct Header<'a> {
    pub(crate) profile: Profile,
    /// Fields after the profile, in order, names unique.
    fields: Vec<(&'a str, &'a str)>,
    /// Where the next line begins.
    pub(crate) body: usize,
}

impl<'a> Header<'a> {
    pub(crate) fn parse(text: &'a str) -> Result<Self> {
        let bytes = text.as_bytes();
        let end = memchr::memchr(b'\n', bytes).unwrap_or(text.len());
        let line = text[..end].trim_end_matches(['\r', ' ', '\t']);
        let fail =
            |offset, category, found: String, expected: &str| Err(Error::at(bytes, offset, category, found, expected));
        let Some(rest) = line.strip_prefix("GCF") else {
            return fail(0, Category::MissingHeader, shown(line), "`GCF profile=…`");
        };
        if rest.starts_with(|character: char| character.is_ascii_alphanumeric()) {
            return fail(0, Category::UnknownVersion, shown(line), "`GCF profile=…`");
        }
        if !rest.is_empty() && !rest.starts_with(' ') {
            return fail(0, Category::MissingHeader, shown(line), "`GCF profile=…`");
        }
        let mut profile = None;
        let mut fields: Vec<(&str, &str)> = Vec::new();
        for field in rest.split(' ').filter(|field| !field.is_empty()) {
            let offset = field.as_ptr().addr() - text.as_ptr().addr();
            let Some((name, value)) = field.split_once('=').filter(|(name, _)| is_bare_key(name)) else {
                return fail(offset, Category::MalformedHeaderField, shown(field), "`name=value`");
            };
            match (profile, name) {
                (None, "profile") => {
                    profile = match value {
                        "generic" => Some(Profile::Generic),
                        "graph" => Some(Profile::Graph),
                        _ => return fail(offset, Category::UnknownProfile, shown(value), "`generic` or `graph`"),
                    };
                }
                (None, _) => return fail(offset, Category::MissingProfile, shown(field), "`profile=…` first"),
                (Some(_), _) => {
                    // Headers have a dozen fields; a hostile one is refused before the search gets slow.
                    if name == "profile" || fields.iter().any(|(other, _)| *other == name) {
                        return fail(offset, Category::DuplicateHeaderField, shown(field), "each field once");
                    }
                    if fields.len() == 64 {
                        return fail(
                            offset,
                            Category::TooManyFields,
                            "more than 64 header fields".into(),
                            "fewer",
                        );
                    }
                    fields.push((name, value));
                }
            }
        }
        let Some(profile) = profile else {
            return fail(
                line.len(),
                Category::MissingProfile,
                shown(line),
                "`profile=generic` or `profile=graph`",
            );
        };
        Ok(Self {
            profile,
            fields,
            body: (end + 1).min(text.len()),
        })
    }

    pub(crate) fn get(&self, name: &str) -> Option<&'a str> {
        self.fields
            .iter()
            .find(|(other, _)| *other == name)
            .map(|(_, value)| *value)
    }

    /// A field that must be a plain count when it is there.
    pub(crate) fn count(&self, text: &str, name: &str) -> Result<Option<u64>> {
        let Some(value) = self.get(name) else { return Ok(None) };
        match value.parse() {
            Ok(count) if value.bytes().all(|byte| byte.is_ascii_digit()) => Ok(Some(count)),
            _ => {
                let offset = value.as_ptr().addr() - text.as_ptr().addr();
                Err(Error::at(
                    text.as_bytes(),
                    offset,
                    Category::MalformedHeaderField,
                    shown(value),
                    "a whole number",
                ))
            }
        }
    }

    pub(crate) fn is_true(&self, name: &str) -> bool {
        self.get(name) == Some("true")
    }
}

/// The profile of a payload, from its first line alone.
pub fn profile(text: &str) -> Result<Profile> {
    Header::parse(text).map(|header| header.profile)
}
