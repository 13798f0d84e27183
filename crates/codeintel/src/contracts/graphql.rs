//! GraphQL: the fields that a schema offers at its roots, and those that operations ask for.
//!
//! Documents are read wherever they stand: in their own files, or in tagged and marked strings of code.

/// One root field: `Query`, `Mutation` or `Subscription`, its name, its line.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Field {
    pub(super) root: &'static str,
    pub(super) name: String,
    pub(super) line: u32,
    /// Whether a schema offers it; an operation asks for it otherwise.
    pub(super) is_offered: bool,
}

/// The documents inside a file of code, each with its first line.
pub(super) fn documents(text: &str) -> Vec<(&str, u32)> {
    const OPENERS: &[(&str, &str)] = &[
        ("gql`", "`"),
        ("graphql`", "`"),
        ("gql(`", "`"),
        ("graphql(`", "`"),
        ("/* GraphQL */ `", "`"),
        ("gql(\"\"\"", "\"\"\""),
        ("gql('''", "'''"),
        ("buildSchema(`", "`"),
        ("<<~GRAPHQL", "GRAPHQL"),
        ("<<-GRAPHQL", "GRAPHQL"),
    ];
    let mut found = Vec::new();
    for (open, close) in OPENERS {
        for (at, _) in text.match_indices(open) {
            let start = at + open.len();
            let Some(length) = text[start..].find(close) else {
                continue;
            };
            let line = memchr::memchr_iter(b'\n', &text.as_bytes()[..start]).count() as u32 + 1;
            found.push((&text[start..start + length], line));
        }
    }
    found.sort_by_key(|(_, line)| *line);
    found
}

/// The root fields of a document that starts at `first_line`.
pub(super) fn fields(text: &str, first_line: u32) -> Vec<Field> {
    let tokens = tokens(text, first_line);
    let mut found = Vec::new();
    let mut at = 0;
    while at < tokens.len() {
        let word = tokens[at].0;
        let next = tokens.get(at + 1).map_or("", |(token, _)| *token);
        let extends = word == "extend" && next == "type";
        if word == "type" || extends {
            let name = tokens
                .get(at + if extends { 2 } else { 1 })
                .map_or("", |(token, _)| *token);
            let open = position(&tokens, at, "{");
            if let (Some(root), Some(open)) = (root(name), open) {
                found.extend(members(&tokens, open, root, true));
            }
            at = open.map_or(tokens.len(), |open| skip(&tokens, open));
            continue;
        }
        let operation = match word {
            "query" => Some("Query"),
            "mutation" => Some("Mutation"),
            "subscription" => Some("Subscription"),
            "{" => Some("Query"),
            _ => None,
        };
        if matches!(
            word,
            "fragment" | "interface" | "input" | "enum" | "schema" | "directive" | "union"
        ) {
            at = match word {
                "union" | "directive" => at + 1,
                _ => position(&tokens, at, "{").map_or(tokens.len(), |open| skip(&tokens, open)),
            };
            continue;
        }
        if let Some(root) = operation
            && let Some(open) = position(&tokens, at, "{")
        {
            found.extend(members(&tokens, open, root, false));
            at = skip(&tokens, open);
            continue;
        }
        at += 1;
    }
    found
}

type Token<'a> = (&'a str, u32);

fn root(name: &str) -> Option<&'static str> {
    ["Query", "Mutation", "Subscription"]
        .into_iter()
        .find(|root| *root == name)
}

/// The fields directly inside the brace at `open`.
fn members(tokens: &[Token<'_>], open: usize, root: &'static str, is_offered: bool) -> Vec<Field> {
    let end = skip(tokens, open);
    let (mut found, mut at) = (Vec::new(), open + 1);
    while at + 1 < end {
        let (word, line) = tokens[at];
        if word == "..." {
            at += if tokens.get(at + 1).is_some_and(|(next, _)| *next == "on") {
                3
            } else {
                2
            };
            continue;
        }
        if word == "@" {
            at += 2;
            continue;
        }
        if matches!(word, "(" | "{" | "[") {
            at = skip(tokens, at);
            continue;
        }
        let is_name = word.starts_with(|letter: char| letter.is_alphabetic() || letter == '_');
        if !is_name {
            at += 1;
            continue;
        }
        let next = tokens.get(at + 1).map_or("", |(token, _)| *token);
        // `alias: field` of an operation; `field: Type` of a schema.
        let (name, after) = match (is_offered, next) {
            (false, ":") => (tokens.get(at + 2).map_or(word, |(token, _)| *token), at + 3),
            _ => (word, at + 1),
        };
        found.push(Field {
            root,
            name: name.to_string(),
            line,
            is_offered,
        });
        at = after;
        if tokens.get(at).is_some_and(|(token, _)| *token == "(") {
            at = skip(tokens, at);
        }
        if is_offered && tokens.get(at).is_some_and(|(token, _)| *token == ":") {
            at += 1;
            // The type: brackets, a name, exclamation marks.
            while tokens
                .get(at)
                .is_some_and(|(token, _)| matches!(*token, "[" | "]" | "!"))
            {
                at += 1;
            }
            at += 1;
            while tokens.get(at).is_some_and(|(token, _)| matches!(*token, "]" | "!")) {
                at += 1;
            }
        }
    }
    found
}

/// The first `wanted` after `from`, before a new definition could begin.
fn position(tokens: &[Token<'_>], from: usize, wanted: &str) -> Option<usize> {
    let mut at = from;
    while at < tokens.len() {
        match tokens[at].0 {
            token if token == wanted => return Some(at),
            "(" => at = skip(tokens, at),
            _ => at += 1,
        }
    }
    None
}

/// One past the bracket that closes the one at `open`.
fn skip(tokens: &[Token<'_>], open: usize) -> usize {
    let mut depth = 0usize;
    for (at, (token, _)) in tokens.iter().enumerate().skip(open) {
        match *token {
            "(" | "{" | "[" => depth += 1,
            ")" | "}" | "]" => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return at + 1;
        }
    }
    tokens.len()
}

fn tokens(text: &str, first_line: u32) -> Vec<Token<'_>> {
    let bytes = text.as_bytes();
    let (mut found, mut at, mut line) = (Vec::new(), 0, first_line);
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'\n' => {
                line += 1;
                at += 1;
            }
            b'#' => at = text[at..].find('\n').map_or(text.len(), |length| at + length),
            b'"' => {
                let quote = if text[at..].starts_with("\"\"\"") {
                    "\"\"\""
                } else {
                    "\""
                };
                let end = text[at + quote.len()..]
                    .find(quote)
                    .map_or(text.len(), |length| at + length + 2 * quote.len());
                line += memchr::memchr_iter(b'\n', &bytes[at..end]).count() as u32;
                at = end;
            }
            byte if byte.is_ascii_alphabetic() || byte == b'_' => {
                while at < bytes.len() && (bytes[at].is_ascii_alphanumeric() || bytes[at] == b'_') {
                    at += 1;
                }
                found.push((&text[start..at], line));
            }
            b'.' if text[at..].starts_with("...") => {
                at += 3;
                found.push((&text[start..at], line));
            }
            byte if byte.is_ascii_punctuation() => {
                at += 1;
                found.push((&text[start..at], line));
            }
            _ => {
                at += 1;
                while !text.is_char_boundary(at) {
                    at += 1;
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{documents, fields};

    fn said(text: &str) -> Vec<String> {
        fields(text, 1)
            .into_iter()
            .map(|field| {
                format!(
                    "{}{}.{}:{}",
                    if field.is_offered { "" } else { "?" },
                    field.root,
                    field.name,
                    field.line
                )
            })
            .collect()
    }

    #[test]
    fn schemas_and_operations() {
        let schema = "type User { id: ID! }\n\"\"\"All\nof it\"\"\"\ntype Query {\n  user(id: ID!): User\n  users(first: Int = 10): [User!]! @auth\n}\nextend type Mutation { add(input: In!): User }\n";
        assert_eq!(said(schema), ["Query.user:5", "Query.users:6", "Mutation.add:8"]);
        let operation = "query Get($id: ID!) {\n  one: user(id: $id) { id name }\n  ...Rest\n}\nmutation { add(input: {a: 1}) { id } }\nfragment Rest on Query { users { id } }";
        assert_eq!(said(operation), ["?Query.user:2", "?Mutation.add:5"]);
        assert_eq!(said("{ users { id } }"), ["?Query.users:1"]);
    }

    #[test]
    fn documents_in_code() {
        let code = "const a = gql`\n  query { users { id } }\n`;\nconst b = 1;";
        let found = documents(code);
        assert_eq!(found.len(), 1);
        assert_eq!(fields(found[0].0, found[0].1)[0].line, 2);
    }

    proptest::proptest! {
        #[test]
        fn never_panics(text in "(query|type Query|extend|[{}():!\\[\\]\"# é\n.a]){0,40}") {
            let _ = fields(&text, 1);
            let _ = documents(&text);
        }
    }
}
