//! Kotlin that the grammar does not know, written so that it does: what a file with errors is read again as.
//!
//! Many words are keywords in some places and names in others (`open`, `suspend`, `set`), and the grammar loses whole classes over
//! them. Where what follows tells that one is a name, its last letter becomes a capital one: facts take names from the text as it
//! was. Annotations that begin a line before a primary `constructor` or an accessor become blanks. The last member of a type whose body
//! ends on the same line gets the semicolon that the grammar waits for, in place of the blank after it. Everything keeps its
//! place, and whoever asks keeps the reading with fewer errors: a guess that is wrong here costs nothing.

use crate::languages::tokens::{Token, Tokens};

/// `text` for a second reading; `None` where there is nothing to write differently.
pub(super) fn second_reading(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let mut tokens = Tokens {
        bytes,
        at: 0,
        nested_comments: true,
    };
    let mut written = bytes.to_vec();
    let mut before = Token::NONE;
    let mut braces = Braces::default();
    while let Some(token) = tokens.next() {
        if braces.closes_type(token, before, bytes)
            && matches!(bytes[token.start - 1], b' ' | b'\t')
            && !bytes[before.end..token.start].contains(&b'\n')
        {
            written[token.start - 1] = b';';
        }
        if is_name(token, before, tokens) {
            written[token.end - 1].make_ascii_uppercase();
        } else if let Some(end) = annotations_before_part(token, before, tokens) {
            let blanks = written[token.start..end].iter_mut();
            blanks.filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
            tokens.at = end;
        }
        before = token;
    }
    // Only ASCII was written over.
    String::from_utf8(written).ok().filter(|written| written != text)
}

/// Which braces are around a token.
#[derive(Default)]
struct Braces {
    /// Whether each of them holds the members of a type.
    open: Vec<bool>,
    /// Whether a type has been named whose members may follow.
    in_head: bool,
    parentheses: usize,
}

impl Braces {
    /// Whether `token` ends the members of a type, right after one of them.
    fn closes_type(&mut self, token: Token, before: Token, bytes: &[u8]) -> bool {
        match token.mark(bytes) {
            Some(b'(') => self.parentheses += 1,
            Some(b')') => self.parentheses = self.parentheses.saturating_sub(1),
            Some(b'{') => self.open.push(std::mem::take(&mut self.in_head)),
            Some(b'}') => {
                let is_empty = matches!(before.mark(bytes), Some(b'{' | b';' | b','));
                return self.open.pop() == Some(true) && !is_empty;
            }
            Some(_) => {}
            None => match token.word(bytes) {
                b"class" | b"interface" | b"object" => {
                    self.in_head = !matches!(before.mark(bytes), Some(b':' | b'.'));
                    self.parentheses = 0;
                }
                b"fun" | b"val" | b"var" | b"init" if self.parentheses == 0 => self.in_head = false,
                _ => {}
            },
        }
        false
    }
}

/// Whether a word that may be a keyword is a name, by what stands around it.
fn is_name(token: Token, before: Token, mut rest: Tokens<'_>) -> bool {
    let bytes = rest.bytes;
    let word = token.word(bytes);
    let is_accessor = matches!(word, b"get" | b"set");
    // `@get:Name` says what an annotation is for.
    if (!is_accessor && !is_modifier(word)) || before.mark(bytes) == Some(b'@') {
        return false;
    }
    let after = rest.next().unwrap_or(Token::NONE);
    let between = bytes.get(token.end..after.start).unwrap_or_default();
    if between.contains(&b'\n') {
        return matches!(
            before.mark(bytes),
            Some(b'=' | b'(' | b',' | b'!' | b'&' | b'|' | b'+' | b'-')
        );
    }
    match after.mark(bytes) {
        // A modifier stands before a word; an accessor does not: `set or bit`.
        None => is_accessor && !after.word(bytes).is_empty(),
        // `suspend (Int) -> Unit` is a type, `get()` an accessor.
        Some(b'(') => !is_accessor && between.is_empty() && !matches!(before.mark(bytes), Some(b':' | b'<' | b'>')),
        Some(b';' | b'}') => !is_accessor,
        Some(mark) => !matches!(mark, b'{' | b'@' | b'<' | b'"'),
    }
}

/// Words that change a declaration, or begin a part of it, where they are not names.
fn is_modifier(word: &[u8]) -> bool {
    const MODIFIERS: [&[u8]; 20] = [
        b"abstract",
        b"by",
        b"crossinline",
        b"external",
        b"final",
        b"infix",
        b"inline",
        b"internal",
        b"lateinit",
        b"noinline",
        b"open",
        b"override",
        b"private",
        b"protected",
        b"public",
        b"sealed",
        b"suspend",
        b"tailrec",
        b"vararg",
        b"where",
    ];
    MODIFIERS.contains(&word)
}

/// Where the annotations end that begin with `token`, when a part of what is declared before them follows: a primary constructor, or
/// an accessor.
fn annotations_before_part(token: Token, before: Token, mut rest: Tokens<'_>) -> Option<usize> {
    let bytes = rest.bytes;
    // What comes before a primary constructor is the name of its class, or the end of its type parameters.
    let of_class = before.mark(bytes) == Some(b'>') || !before.word(bytes).is_empty();
    let between = bytes.get(before.end..token.start).unwrap_or_default();
    if token.mark(bytes) != Some(b'@') || !between.contains(&b'\n') {
        return None;
    }
    let mut end = rest.next()?.end;
    loop {
        let next = rest.next()?;
        match next.mark(bytes) {
            Some(b'@' | b'.') => end = rest.next()?.end,
            Some(b'(') => end = rest.skip_to_close()?,
            Some(_) => return None,
            None if next.word(bytes) == b"constructor" => return of_class.then_some(end),
            None if matches!(next.word(bytes), b"get" | b"set") => return Some(end),
            None if is_modifier(next.word(bytes)) => {}
            None => return None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::second_reading;

    #[test]
    fn keywords_that_are_names_are_written_as_names() {
        for (text, expected) in [
            ("if (!open) f(open)", "if (!opeN) f(opeN)"),
            ("val open: Boolean", "val opeN: Boolean"),
            ("f(suspend = { it }) || suspend(x)", "f(suspenD = { it }) || suspenD(x)"),
            (
                "return if (bit and set != 0) set and 1 else 0",
                "return if (bit and seT != 0) seT and 1 else 0",
            ),
            (
                "class A<T>\n@Api(\"a)\") @B internal constructor()",
                "class A<T>\n              internal constructor()",
            ),
            (
                "val a: A?\n  @Synced @Name(\"b\") get() = c",
                "val a: A?\n                     get() = c",
            ),
        ] {
            assert_eq!(second_reading(text).as_deref(), Some(expected));
        }
    }

    #[test]
    fn members_before_a_brace_on_their_line_end() {
        for (text, expected) in [
            ("class A { fun f() { g() } }", "class A { fun f() { g() };}"),
            (
                "interface A<T>(val b: B) : C by d { val e: E }",
                "interface A<T>(val b: B) : C by d { val e: E;}",
            ),
            (
                "object A { class B { val c = { it } } }",
                "object A { class B { val c = { it };};}",
            ),
        ] {
            assert_eq!(second_reading(text).as_deref(), Some(expected));
        }
        for text in [
            "class A { }\nclass B {}\nfun f() { g() }",
            "class A\nfun f() { A::class; g { it } }",
            "class A {\n  fun f() { g() }\n}",
            "class A {\n  class B {\n    fun f() { g() }\n  }\n}",
        ] {
            assert_eq!(second_reading(text), None, "{text}");
        }
    }

    #[test]
    fn keywords_stay_keywords() {
        for text in [
            "open class A { private set\n get() = 1\n set(value) { }\n}",
            "fun f(g: suspend (Int) -> Unit, h: suspend() -> Unit) = suspend { }",
            "class A : B by c where T : B // open)",
            "@get:Name @set:Name val a: A = b",
            "/* a /* isn't */ open) */ class A",
            "val a = \"open)\" + 'o' + \"\"\"set = \"\"\"",
            "class A {\n  val b: B = c()\n  @Api constructor(a: Int)\n}",
            "a\n@",
        ] {
            assert_eq!(second_reading(text), None, "{text}");
        }
    }
}
