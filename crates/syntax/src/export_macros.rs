//! Macros that decorate C and C++ declarations: `class API Name {`, `LIB_EXPORT int run();`, and those that stand around many:
//! `LIB_BEGIN_NAMESPACE`, `G_END_DECLS`.
//!
//! A grammar cannot know that such a word expands to an attribute, a namespace or nothing, and takes it for a type. Each is
//! replaced by blanks before parsing, so everything else keeps its place. A pair that names its namespace
//! (`LIB_BEGIN_DETAIL_NAMESPACE`, `LIB_END_DETAIL_NAMESPACE`) becomes that namespace.

use std::borrow::Cow;

/// `text` without decorating macros.
pub(crate) fn blanked(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut found: Vec<(usize, usize)> = Vec::new();
    // Where namespaces begin that no macro has ended yet, and those that one has: begin, end and name.
    let mut opened: Vec<(usize, &[u8])> = Vec::new();
    let mut namespaces: Vec<(usize, usize, &[u8])> = Vec::new();
    let mut at = 0;
    let mut class_before = false;
    // The last byte of code.
    let mut last = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        if !is_word(byte) {
            // Comments and literals hold words that are none.
            match byte {
                b'"' => at = skip_literal(bytes, at),
                b'/' if bytes.get(at + 1) == Some(&b'/') => at = end_of_line(bytes, at),
                b'/' if bytes.get(at + 1) == Some(&b'*') => {
                    let end = memchr::memmem::find(&bytes[at + 2..], b"*/");
                    at = end.map_or(bytes.len(), |end| at + end + 4);
                }
                b'#' => at = end_of_line(bytes, at),
                _ => {
                    if !byte.is_ascii_whitespace() {
                        class_before = false;
                        last = byte;
                    }
                    at += 1;
                }
            }
            continue;
        }
        let start = at;
        while at < bytes.len() && is_word(bytes[at]) {
            at += 1;
        }
        let word = &bytes[start..at];
        if let Some(end) = around_declarations(bytes, start, at, last) {
            found.push((start, end));
            at = end;
            if let Some(name) = namespace_of(word, b"BEGIN_") {
                opened.push((start, name));
            } else if let Some(name) = namespace_of(word, b"END_")
                && let Some((begin, _)) = opened.pop_if(|(_, begun)| *begun == name)
            {
                namespaces.push((begin, start, name));
            }
            continue;
        }
        last = bytes[start];
        let decorates = if class_before {
            is_capital(word) && names_class(bytes, at)
        } else {
            word.len() > 3 && word[0].is_ascii_uppercase() && is_export(word) && declares(bytes, at)
        };
        if decorates {
            found.push((start, at));
        } else {
            class_before = matches!(word, b"class" | b"struct" | b"union");
        }
    }
    if found.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut blanked = bytes.to_vec();
    for (start, end) in found {
        blanked[start..end].fill(b' ');
    }
    for (begin, end, name) in namespaces {
        // The macro is longer than what it stands for: its name holds the name and the words for both.
        let written = [b"namespace ", &name.to_ascii_lowercase()[..], b"{"].concat();
        blanked[begin..begin + written.len()].copy_from_slice(&written);
        blanked[end] = b'}';
    }
    // Words are ASCII and arguments are blanked whole, so what is left is whole characters.
    String::from_utf8(blanked).map_or(Cow::Borrowed(text), Cow::Owned)
}

fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

fn is_capital(word: &[u8]) -> bool {
    word.len() > 1
        && word
            .iter()
            .all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || *byte == b'_')
}

/// Whether a word is one of those that libraries put before what they export or inline.
fn is_export(word: &[u8]) -> bool {
    const ENDS: &[&[u8]] = &[
        b"EXPORT",
        b"EXPORTS",
        b"_API",
        b"_PUBLIC",
        b"_EXTERN",
        b"EXTERN",
        b"_DLL",
        b"_INLINE",
        b"FORCEINLINE",
        b"_NODISCARD",
        b"_NORETURN",
        b"_DEPRECATED",
        b"_VISIBLE",
        b"WINAPI",
        b"APIENTRY",
        b"_DECL",
        b"_PURE",
        b"_COLD",
        b"_HOT",
    ];
    is_capital(word) && ENDS.iter().any(|end| word.ends_with(end))
}

/// Where the macro that begins or ends a stretch of declarations is over: alone in its line after `last`, and with arguments
/// where it is about a namespace. What other capitals stand there alone may be the type of a function whose name is on the next
/// line.
fn around_declarations(bytes: &[u8], start: usize, end: usize, last: u8) -> Option<usize> {
    const EDGES: &[&[u8]] = &[b"BEGIN", b"END", b"OPEN", b"CLOSE", b"PUSH", b"POP"];
    let word = &bytes[start..end];
    let mut parts = word.split(|byte| *byte == b'_');
    if !is_capital(word) || !matches!(last, 0 | b';' | b'{' | b'}') || !parts.any(|part| EDGES.contains(&part)) {
        return None;
    }
    let line = memchr::memrchr(b'\n', &bytes[..start]).map_or(0, |before| before + 1);
    let length = memchr::memchr(b'\n', &bytes[end..]).unwrap_or(bytes.len() - end);
    let rest = &bytes[end..end + length];
    let arguments = match rest.first() {
        Some(b'(') if memchr::memmem::find(word, b"NAMESPACE").is_some() => memchr::memchr(b')', rest)? + 1,
        Some(b'(') => return None,
        _ => 0,
    };
    let after = rest[arguments..].trim_ascii();
    let is_alone = bytes[line..start].trim_ascii().is_empty() && (after.is_empty() || after.starts_with(b"//"));
    // What goes on in the next line is an expression or a function; all that is between braces is a member of a list.
    let next = bytes.get(skip_blanks(bytes, end + length));
    let goes_on = |byte: &u8| match byte {
        b'}' => last == b'{',
        byte => !(is_word(*byte) || matches!(byte, b'#' | b'/' | b'[' | b'~')),
    };
    (is_alone && !next.is_some_and(goes_on)).then_some(end + arguments)
}

/// The namespace that a macro names after `edge`: `LIB_BEGIN_DETAIL_NAMESPACE`.
fn namespace_of<'w>(word: &'w [u8], edge: &[u8]) -> Option<&'w [u8]> {
    let at = memchr::memmem::find(word, edge).filter(|&at| at == 0 || word[at - 1] == b'_')?;
    let name = word[at + edge.len()..].strip_suffix(b"_NAMESPACE")?;
    name.first().is_some_and(u8::is_ascii_uppercase).then_some(name)
}

/// Whether a declaration goes on at `at`: a type or a name follows on the same line or the next.
fn declares(bytes: &[u8], at: usize) -> bool {
    let rest = skip_blanks(bytes, at);
    rest > at
        && bytes
            .get(rest)
            .is_some_and(|byte| byte.is_ascii_alphabetic() || *byte == b'_' || *byte == b':')
}

/// Whether the name of a class with a body or bases stands at `at`.
fn names_class(bytes: &[u8], at: usize) -> bool {
    let name = skip_blanks(bytes, at);
    let mut end = name;
    while bytes.get(end).is_some_and(|&byte| is_word(byte)) {
        end += 1;
    }
    if end == name || bytes[name].is_ascii_digit() {
        return false;
    }
    let after = skip_blanks(bytes, end);
    match bytes.get(after) {
        Some(b'{') => true,
        Some(b':') => bytes.get(after + 1) != Some(&b':'),
        Some(b'<') => true,
        _ => bytes[after.min(bytes.len())..].starts_with(b"final"),
    }
}

fn skip_blanks(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count()
}

fn end_of_line(bytes: &[u8], at: usize) -> usize {
    let mut from = at;
    loop {
        let Some(end) = memchr::memchr(b'\n', &bytes[from..]) else {
            return bytes.len();
        };
        let end = from + end;
        // A backslash joins the next line to a directive.
        if end == 0 || bytes[end - 1] != b'\\' {
            return end;
        }
        from = end + 1;
    }
}

fn skip_literal(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    while at < bytes.len() && bytes[at] != b'"' && bytes[at] != b'\n' {
        at += if bytes[at] == b'\\' { 2 } else { 1 };
    }
    at + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decorations_become_blanks() {
        assert_eq!(
            blanked("class LIB_EXPORT Name : Base {};"),
            "class            Name : Base {};"
        );
        assert_eq!(blanked("struct API Name {"), "struct     Name {");
        assert_eq!(blanked("LIB_EXPORT int run();"), "           int run();");
        assert_eq!(
            blanked("static FORCE_INLINE int run();"),
            "static              int run();"
        );
    }

    #[test]
    fn a_pair_that_names_its_namespace_becomes_it() {
        assert_eq!(
            blanked("A_BEGIN_DETAIL_NAMESPACE\nint f();\nA_END_DETAIL_NAMESPACE\n"),
            "namespace detail{       \nint f();\n}                     \n"
        );
        // Without its other half, or with another one, it is not known where the namespace ends.
        for text in [
            "A_BEGIN_DETAIL_NAMESPACE\nint f();\n",
            "A_BEGIN_X_NAMESPACE\nint f();\nA_END_Y_NAMESPACE\n",
        ] {
            assert!(!blanked(text).contains(['{', '}']), "{text}");
        }
    }

    #[test]
    fn what_stands_around_declarations_becomes_blanks() {
        assert_eq!(
            blanked("LIB_BEGIN_NAMESPACE\nnamespace detail {\n}\nLIB_END_NAMESPACE // lib\n"),
            "                   \nnamespace detail {\n}\n                  // lib\n"
        );
        assert_eq!(blanked("__BEGIN_DECLS\nint f();\n"), "             \nint f();\n");
        assert_eq!(
            blanked("LIB_NAMESPACE_BEGIN(lib)\nclass A {};\n"),
            "                        \nclass A {};\n"
        );
    }

    #[test]
    fn what_is_code_stays() {
        for code in [
            "HANDLE\nopen(DWORD x) {}",
            "TEST_BEGIN(name) {\n}\n",
            "LIST_END\n{\n}\n",
            "x = A |\nB_END\n;",
            "enum { LIST_BEGIN,\nLIST_END\n};",
            "enum {\nLIST_END\n};",
            "void f() {\nLOCK_PUSH(lock)\nrun();\n}",
            "struct FOO foo;",
            "struct FILE *file;",
            "class FOO { int BAR_API; };",
            "HANDLE open(DWORD x);",
            "// LIB_EXPORT int x",
            "\"LIB_EXPORT int x\"",
            "#define LIB_EXPORT __attribute__((x))",
            "LIB_EXPORT(x);",
        ] {
            assert_eq!(blanked(code), code);
        }
    }
}
