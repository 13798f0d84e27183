//! What a word of a text is part of: code, a comment, a string, or prose.
//!
//! The one trick: the smallest node at the word and those around it, from the inside out; the first whose kind says anything decides.
//! Grammars agree enough in how they name nodes (`line_comment`, `string_content`, `template_substitution`) for one table to serve all.

use tree_sitter::{Node, Tree};

/// What a word is part of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum WordKind {
    /// Code: a name, or what the grammar does not tell apart from one.
    Code,
    /// The name of an argument (`f(word=1)`), a label, or a key of a literal: a name that is looked up in something else.
    Key,
    /// A word of the language itself: `throw`, `new`.
    Keyword,
    /// A comment, documentation comments included.
    Comment,
    /// A string, a regular expression, or the text of a document.
    Text,
    /// A part of the file that no grammar reads: the markup of a component, a file that is too large.
    Unread,
}

/// Most nodes that are gone up from a word.
const MAX_UP: usize = 64;

/// What the words at these bytes are part of.
pub(crate) fn word_kinds_in(tree: &Tree, text: &str, places: &[usize]) -> Vec<WordKind> {
    let root = tree.root_node();
    places
        .iter()
        .map(|&at| match text.as_bytes().get(at) {
            // What was blanked before parsing is in no tree.
            None | Some(b' ' | b'\n' | b'\r') => WordKind::Unread,
            Some(_) => word_kind(root, at),
        })
        .collect()
}

fn word_kind(root: Node<'_>, at: usize) -> WordKind {
    let Some(leaf) = root.descendant_for_byte_range(at, at + 1) else {
        return WordKind::Unread;
    };
    let mut node = Some(leaf);
    for up in 0..MAX_UP {
        let Some(current) = node else {
            break;
        };
        if let Some(found) = told_by(current, up == 0) {
            return match found {
                WordKind::Code => code(leaf),
                found => found,
            };
        }
        node = current.parent();
    }
    code(leaf)
}

/// What a word of code is.
fn code(leaf: Node<'_>) -> WordKind {
    // Names are named nodes; where the grammar lost its way, a word may be taken for anything.
    let is_keyword = !leaf.is_named() && !leaf.parent().is_some_and(|parent| parent.is_error());
    match (is_keyword, is_key(leaf)) {
        (true, _) => WordKind::Keyword,
        (false, true) => WordKind::Key,
        (false, false) => WordKind::Code,
    }
}

/// What the kind of a node says of what is in it; `None` where those around it decide.
fn told_by(node: Node<'_>, is_leaf: bool) -> Option<WordKind> {
    let kind = node.kind();
    let has = |part: &str| kind.contains(part);
    if has("comment") || kind == "doc_comment" {
        return Some(WordKind::Comment);
    }
    // Code inside of a string; a name as the innermost node is one wherever it stands.
    let is_name = is_leaf && (has("identifier") || kind.ends_with("_name") || kind == "name" || kind == "constant");
    let is_inserted = has("interpolation")
        || has("substitution")
        || has("expansion")
        || kind.starts_with("interpolated_") && !has("string");
    if is_name || is_inserted {
        return Some(WordKind::Code);
    }
    let is_text = kind == "string"
        || has("string_")
        || has("_string")
        || has("heredoc")
        || has("char_literal")
        || has("character_literal")
        || has("rune_literal")
        || has("regex")
        || has("scalar")
        || matches!(
            kind,
            "jsx_text" | "text" | "inline" | "paragraph" | "attribute_value" | "simple_symbol" | "raw_text"
        );
    is_text.then_some(WordKind::Text)
}

/// Whether a name is looked up in what is called or made, not where it stands.
fn is_key(leaf: Node<'_>) -> bool {
    let Some(parent) = leaf.parent() else {
        return false;
    };
    let is_first = parent.named_child(0) == Some(leaf);
    match parent.kind() {
        // Python, PHP, C#, Ruby, Swift, Kotlin, Scala, R, Elixir.
        "keyword_argument"
        | "named_argument"
        | "argument"
        | "value_argument"
        | "value_argument_label"
        | "name_colon" => is_first && parent.named_child_count() > 1,
        "pair" | "dictionary_splat" => is_first,
        kind => kind.contains("label"),
    }
}

#[cfg(test)]
mod tests {
    use super::WordKind::{self, Code, Comment, Key, Keyword, Text, Unread};

    /// What `word` is part of, each time it stands in the text.
    fn of(language: &str, text: &str) -> Vec<WordKind> {
        let language = crate::languages::by_name(language).unwrap();
        let places: Vec<usize> = text.match_indices("word").map(|(at, _)| at).collect();
        crate::extract_with_word_kinds(language, text, &places).1
    }

    #[test]
    fn comments_and_strings_are_told_from_code() {
        assert_eq!(
            of(
                "python",
                "def word():  # word\n    'word'\n    f(word=1)\n    f\"{word} word\"\n"
            ),
            [Code, Comment, Text, Key, Code, Text]
        );
        assert_eq!(
            of("go", "package p\n// word\nfunc word() { x(\"word\", `word`, word) }\n"),
            [Comment, Code, Text, Text, Code]
        );
        assert_eq!(
            of(
                "rust",
                "/// word\nfn word() { print!(\"word\", word); let a = 'w'; /* word */ }\n"
            ),
            [Comment, Code, Text, Code, Comment]
        );
        assert_eq!(
            of(
                "typescript",
                "// word\nlet word = `word ${word}`; f(\"word\", /word/);\n"
            ),
            [Comment, Code, Text, Code, Text, Text]
        );
        assert_eq!(
            of("java", "/** word */ class word { String a = \"word\"; }\n"),
            [Comment, Code, Text]
        );
        assert_eq!(
            of("c", "/* word */ int word(void) { return f(\"word\"); }\n"),
            [Comment, Code, Text]
        );
        assert_eq!(
            of("csharp", "class word { string a = $\"word {word}\"; } // word\n"),
            [Code, Text, Code, Comment]
        );
        assert_eq!(
            of("php", "<?php # word\n$word = \"word $word\"; word('word');\n"),
            [Comment, Code, Text, Code, Code, Text]
        );
        assert_eq!(
            of("ruby", "# word\ndef word; \"word #{word}\"; end\n"),
            [Comment, Code, Text, Code]
        );
        // FIXME: the grammar has `$word` as text of the string.
        assert_eq!(
            of("kotlin", "// word\nfun word() = \"word $word ${word}\"\n"),
            [Comment, Code, Text, Text, Code]
        );
    }

    #[test]
    fn words_of_the_language_are_no_names() {
        let of = |language: &str, text: &str, word: &str| {
            let language = crate::languages::by_name(language).unwrap();
            let places: Vec<usize> = text.match_indices(word).map(|(at, _)| at).collect();
            crate::extract_with_word_kinds(language, text, &places).1
        };
        let php = "<?php\nfunction f($a) { $a->throw(); throw new E('throw'); }\n";
        assert_eq!(of("php", php, "throw"), [Code, Keyword, Text]);
        let javascript = "class A { get() { return this.get() } get size() { return 0 } }\n";
        assert_eq!(of("javascript", javascript, "get"), [Code, Code, Keyword]);
        assert_eq!(
            of("rust", "fn f() { s.r#match(); match x {} }\n", "match"),
            [Code, Keyword]
        );
        assert_eq!(of("python", "import a\na.print(1)\nprint(2)\n", "print"), [Code, Code]);
    }

    #[test]
    fn markup_of_components_is_unread() {
        let text = "<template><p @click=\"word\"/></template>\n<script>\nfunction word() {}\n</script>\n";
        assert_eq!(of("vue", text), [Unread, Code]);
    }
}
