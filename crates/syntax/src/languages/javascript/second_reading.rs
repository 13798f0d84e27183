//! TypeScript that the grammar does not know, written so that it does: what a file with errors is read again as.
//!
//! Modifiers of type parameters (`<in out T>`, `<const T>`) and the `type` of `export type *` become blanks. A member of an
//! object type that begins its line with `<` or is called `in` gets the semicolon that its neighbour above went without, in the
//! place of a blank before it. An escaped backquote, which the grammar does not know in a type, becomes blanks. Everything keeps its place, and whoever asks keeps the reading with fewer errors: a guess that is
//! wrong here costs nothing.

use crate::languages::tokens::{Token, Tokens};

/// `text` for a second reading; `None` where there is nothing to write differently.
pub(super) fn second_reading(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut tokens = Tokens {
        bytes,
        at: 0,
        nested_comments: false,
    };
    let mut edits: Vec<(usize, usize, u8)> = Vec::new();
    let (mut before, mut before_that) = (Token::NONE, Token::NONE);
    while let Some(token) = tokens.next() {
        let word = token.word(bytes);
        let is_edited = edits.last().is_some_and(|&(start, ..)| start == before.start);
        let begins_parameter = matches!(before.mark(bytes), Some(b'<' | b',')) || is_edited;
        let modifies = is_modifier(word) && begins_parameter && names_parameter(tokens);
        let exports_types = word == b"type" && before.word(bytes) == b"export" && tokens.peek_mark() == Some(b'*');
        if modifies || exports_types {
            edits.push((token.start, token.end, b' '));
        } else if needs_separator(bytes, tokens, token, before, before_that) {
            edits.push((token.start - 1, token.start, b';'));
        }
        if token.mark(bytes) == Some(b'`') {
            let quotes = memchr::memmem::find_iter(&bytes[token.start..token.end], b"\\`");
            edits.extend(quotes.map(|at| (token.start + at, token.start + at + 2, b' ')));
        }
        (before_that, before) = (before, token);
    }
    if edits.is_empty() {
        return None;
    }
    let mut written = bytes.to_vec();
    for (start, end, byte) in edits {
        written[start..end].fill(byte);
    }
    // Only ASCII was written over.
    String::from_utf8(written).ok()
}

fn is_modifier(word: &[u8]) -> bool {
    matches!(word, b"in" | b"out" | b"const")
}

/// Whether the name of a type parameter follows, after more modifiers perhaps.
fn names_parameter(mut rest: Tokens<'_>) -> bool {
    let bytes = rest.bytes;
    let mut name = rest.next();
    while name.is_some_and(|name| is_modifier(name.word(bytes))) {
        name = rest.next();
    }
    let (Some(name), Some(after)) = (name, rest.next()) else {
        return false;
    };
    let ends_name = matches!(after.mark(bytes), Some(b',' | b'>' | b'=')) || after.word(bytes) == b"extends";
    !name.word(bytes).is_empty() && ends_name
}

/// Whether a member of an object type begins at `token`, below one that goes without a semicolon.
fn needs_separator(bytes: &[u8], rest: Tokens<'_>, token: Token, before: Token, before_that: Token) -> bool {
    let begins_member = match token.word(bytes) {
        b"in" => matches!(rest.peek_mark(), Some(b':' | b'?')),
        _ => token.mark(bytes) == Some(b'<') && rest.peek_mark().is_none(),
    };
    if !begins_member || !is_indented(bytes, token.start) {
        return false;
    }
    match before.mark(bytes) {
        Some(b'>') => before_that.mark(bytes) != Some(b'=') || before_that.end != before.start,
        Some(mark) => matches!(mark, b']' | b')' | b'}' | b'"' | b'\'' | b'`'),
        None => !before.word(bytes).is_empty() && !matches!(before.word(bytes), b"return" | b"extends" | b"yield"),
    }
}

/// Whether only blanks stand before `at` in its line, and one at least.
fn is_indented(bytes: &[u8], at: usize) -> bool {
    let line = memchr::memrchr(b'\n', &bytes[..at]).map_or(0, |before| before + 1);
    line < at && bytes[line..at].iter().all(|byte| matches!(byte, b' ' | b'\t'))
}

#[cfg(test)]
mod tests {
    use super::second_reading;

    fn read(text: &str) -> String {
        second_reading(text).unwrap_or_else(|| text.to_owned())
    }

    #[test]
    fn modifiers_of_type_parameters_go() {
        assert_eq!(
            read("interface Cache<in out Key, out A = never, /* on */ const B extends C> {}"),
            "interface Cache<       Key,     A = never, /* on */       B extends C> {}"
        );
        assert_eq!(read("export type * from './a'"), "export      * from './a'");
        for text in [
            "f(a, out, b)",
            "for (const x of y) {}",
            "type A = { out: B, in: C }",
            "let [a, out = 3] = b",
        ] {
            assert_eq!(read(text), text);
        }
    }

    #[test]
    fn members_without_semicolons_get_them() {
        assert_eq!(
            read(
                "const f: {\n  <A>(n: number): Array<A>\n  /** Or. */\n  <A>(a: A): A\n  <B>(b: B): 'b'\n  <C>(c: C): void\n}"
            ),
            "const f: {\n  <A>(n: number): Array<A>\n  /** Or. */\n ;<A>(a: A): A\n ;<B>(b: B): 'b'\n ;<C>(c: C): void\n}"
        );
        assert_eq!(
            read("interface P {\n  name: string\n  in: 'query'\n}"),
            "interface P {\n  name: string\n ;in: 'query'\n}"
        );
        assert_eq!(read("type A = `use \\`B\\` ${C}`"), "type A = `use   B   ${C}`");
        for text in [
            "const f = () =>\n  <A />",
            "return (\n  <A>\n  </A>)",
            "if (a\n  in b) {}",
            "a\n<b",
        ] {
            assert_eq!(read(text), text);
        }
    }
}
