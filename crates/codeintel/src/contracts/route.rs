//! The path of a route or a request, in one spelling: parameters as `{name}`, no host, no query, no trailing slash.
//!
//! Two spellings of one path differ in the names of their parameters, so paths are compared by [`key`], where
//! every parameter is `{}`.

use super::arguments::{Part, Template};

/// A path in the one spelling.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Default)]
pub(super) struct Route {
    /// `/users/{id}`.
    pub(super) path: String,
    /// The host it names, for requests.
    pub(super) host: Option<String>,
    /// What comes before the path is computed, so that the real path may be longer.
    pub(super) open: bool,
}

impl Route {
    /// Reads what a framework or a client was given; `None` when nothing of the path is known.
    pub(super) fn of(template: &Template) -> Option<Route> {
        let mut text = String::new();
        let mut open = false;
        for part in &template.parts {
            match part {
                Part::Text(piece) => text.push_str(piece),
                // Where a base address is put before a path, only the path is of interest.
                Part::Hole(_) if text.is_empty() => open = true,
                Part::Hole(name) => {
                    text.push('{');
                    text.push_str(if name.is_empty() { "p" } else { name });
                    text.push('}');
                }
            }
        }
        let mut host = None;
        if let Some(at) = text.find("://") {
            let rest = &text[at + 3..];
            let end = rest.find(['/', '?']).unwrap_or(rest.len());
            host = Some(rest[..end].to_string()).filter(|host| !host.is_empty() && !host.contains('{'));
            open = false;
            text = rest[end..].to_string();
        }
        let nothing_known = text.trim_matches('/').is_empty() && open;
        (!nothing_known).then(|| Route {
            path: canonical(&text),
            host,
            open,
        })
    }
}

/// A path with its parameters' names taken out, letters in lower case.
pub(super) fn key(path: &str) -> String {
    let mut found = String::with_capacity(path.len());
    let mut depth = 0usize;
    for character in path.chars() {
        match character {
            '{' => {
                depth += 1;
                if depth == 1 {
                    found.push('{');
                }
            }
            '}' => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    found.push('}');
                }
            }
            other if depth == 0 => found.extend(other.to_lowercase()),
            _ => {}
        }
    }
    found
}

/// Puts a prefix before a path.
pub(super) fn join(prefix: &str, path: &str) -> String {
    canonical(&format!(
        "{}/{}",
        prefix.trim_end_matches('/'),
        path.trim_start_matches('/')
    ))
}

/// One spelling for all frameworks'.
pub(super) fn canonical(text: &str) -> String {
    let text = groups(text);
    let text = text.split(['?', '#']).next().unwrap_or("");
    let mut path = String::new();
    for segment in segments(text) {
        path.push('/');
        path.push_str(&parameter(segment));
    }
    if path.is_empty() { "/".to_string() } else { path }
}

/// Regular expressions as routes: named groups become parameters, anchors go.
fn groups(text: &str) -> String {
    let is_regex = text.starts_with('^') || text.contains("(?P<") || text.ends_with('$');
    let mut found = String::new();
    let mut rest = text.trim_start_matches('^').trim_end_matches('$');
    rest = rest.strip_suffix("(.:format)").unwrap_or(rest);
    while let Some(at) = rest.find('(') {
        // `:id(\d+)` says what a parameter looks like; a group of its own is a parameter.
        let end = super::arguments::closing(rest, at).unwrap_or(rest.len());
        let inside = &rest[at + 1..end.saturating_sub(1).max(at + 1)];
        found.push_str(&rest[..at]);
        let name = inside
            .strip_prefix("?P<")
            .or_else(|| inside.strip_prefix("?<"))
            .and_then(|name| name.split('>').next());
        match name {
            Some(name) => found.push_str(&format!("{{{name}}}")),
            None if found.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_') => {}
            None if is_regex || rest[at..].starts_with("(.*") => found.push_str("{p}"),
            None => {}
        }
        rest = rest.get(end..).unwrap_or("").trim_start_matches(['?', '+', '*']);
    }
    found.push_str(rest);
    match is_regex {
        true => found
            .replace("\\.", ".")
            .replace(['\\', '$', '^'], "")
            .replace("/?", "/"),
        false => found,
    }
}

/// Segments at slashes outside of braces.
fn segments(text: &str) -> Vec<&str> {
    let (mut found, mut start, mut depth) = (Vec::new(), 0, 0usize);
    for (at, character) in text.char_indices() {
        match character {
            '{' | '<' => depth += 1,
            '}' | '>' => depth = depth.saturating_sub(1),
            '/' if depth == 0 => {
                found.push(&text[start..at]);
                start = at + 1;
            }
            _ => {}
        }
    }
    found.push(&text[start..]);
    found.retain(|segment| !segment.is_empty());
    found
}

fn parameter(segment: &str) -> String {
    let named = |name: &str| {
        let name: String = name
            .chars()
            .take_while(|letter| letter.is_alphanumeric() || *letter == '_')
            .collect();
        format!("{{{}}}", if name.is_empty() { "p" } else { &name })
    };
    if segment.starts_with(':') {
        // `:from-:to` is two; what is said of how one looks, as in `:id?`, is not of interest.
        let names = segment.split(':').skip(1).map(|name| {
            let is_joined = name.ends_with(['-', '.', '_']) && name.len() > 1;
            let joint = name.chars().last().filter(|_| is_joined);
            format!(
                "{}{}",
                named(name.trim_end_matches('_')),
                joint.map_or(String::new(), String::from)
            )
        });
        return names.collect();
    }
    if let Some(name) = segment.strip_prefix('*') {
        return named(if name.is_empty() { "rest" } else { name });
    }
    if let Some(name) = segment.strip_prefix('[').and_then(|inner| inner.strip_suffix(']')) {
        let name = name.trim_matches(['[', ']']).trim_start_matches("...");
        // `[controller]` and `[action]` are tokens of ASP.NET, filled in before.
        return named(name);
    }
    let mut found = String::new();
    let mut rest = segment;
    while let Some(at) = rest.find(['{', '<']) {
        found.push_str(&rest[..at]);
        let close = if rest[at..].starts_with('{') { '}' } else { '>' };
        let end = rest[at..].find(close).map_or(rest.len(), |length| at + length);
        let inside = rest[at + 1..end].trim_start_matches('*');
        // Flask and Django put the type first, the others behind the name.
        let name = match (close, inside.split_once(':')) {
            ('>', Some((_, name))) => name,
            (_, Some((name, _))) => name,
            (_, None) => inside,
        };
        found.push_str(&named(name.trim_end_matches("...")));
        rest = rest.get(end + 1..).unwrap_or("");
    }
    found.push_str(rest);
    found
}

#[cfg(test)]
mod tests {
    use super::{canonical, join, key};

    #[test]
    fn one_spelling() {
        for (written, expected) in [
            ("/users/:id", "/users/{id}"),
            ("/users/:id(\\d+)/", "/users/{id}"),
            ("/flights/:from-:to", "/flights/{from}-{to}"),
            ("/users/:id?", "/users/{id}"),
            ("/users/<int:user_id>", "/users/{user_id}"),
            ("users/<id>/", "/users/{id}"),
            ("/users/{id:int}", "/users/{id}"),
            ("/users/{id:[0-9]+}/x", "/users/{id}/x"),
            ("/files/{*rest}", "/files/{rest}"),
            ("/files/{path...}", "/files/{path}"),
            ("/files/*path", "/files/{path}"),
            ("^users/(?P<pk>[0-9]+)/$", "/users/{pk}"),
            ("/users/[id]", "/users/{id}"),
            ("/docs/[[...slug]]", "/docs/{slug}"),
            ("/users(.:format)", "/users"),
            ("/users?limit=5", "/users"),
            ("/user-{id}/x", "/user-{id}/x"),
            ("", "/"),
        ] {
            assert_eq!(canonical(written), expected, "{written}");
        }
        assert_eq!(join("/api/", "/users"), "/api/users");
        assert_eq!(join("", ""), "/");
        assert_eq!(key("/Users/{id}/x"), "/users/{}/x");
    }
}
