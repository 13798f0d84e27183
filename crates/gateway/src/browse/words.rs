//! Splits text into the words that are searched for: at every separator and at every change of case, lower-cased and lightly
//! stemmed. Scripts without spaces give pairs of characters.

/// Words that carry no meaning in a request.
const STOP_WORDS: [&str; 44] = [
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "could", "do", "does", "for", "from", "how", "i", "in",
    "into", "is", "it", "its", "me", "my", "need", "of", "on", "or", "our", "please", "that", "the", "their", "this",
    "to", "us", "want", "we", "what", "which", "who", "will", "with", "would", "you",
];

pub(crate) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// Calls `each` with every lower-cased word of `text`, in order. `buffer` only saves allocations.
pub(crate) fn for_each_word(text: &str, buffer: &mut String, mut each: impl FnMut(&str)) {
    buffer.clear();
    let mut previous = Class::Other;
    let mut pair: Option<char> = None;
    let mut characters = text.chars().peekable();
    while let Some(c) = characters.next() {
        let class = Class::of(c);
        let next_is_lower = characters.peek().is_some_and(|next| Class::of(*next) == Class::Lower);
        // `createIssue` splits before `I`; `HTTPServer` before `S`, the last capital of a run.
        let boundary = class == Class::Other
            || class == Class::Wide
            || previous == Class::Wide
            || (class == Class::Upper && (previous == Class::Lower || (previous == Class::Upper && next_is_lower)));
        if boundary && !buffer.is_empty() {
            each(buffer);
            buffer.clear();
        }
        if class == Class::Wide {
            if let Some(first) = pair {
                buffer.push(first);
                buffer.push(c);
                each(buffer);
                buffer.clear();
            } else if characters.peek().is_none_or(|next| Class::of(*next) != Class::Wide) {
                buffer.push(c);
                each(buffer);
                buffer.clear();
            }
            pair = Some(c);
        } else {
            pair = None;
            if class != Class::Other {
                if c.is_ascii() {
                    buffer.push(c.to_ascii_lowercase());
                } else {
                    buffer.extend(c.to_lowercase());
                }
            }
        }
        previous = class;
    }
    if !buffer.is_empty() {
        each(buffer);
        buffer.clear();
    }
}

/// The stems of a text's words, without those that carry no meaning.
#[cfg(test)]
pub(crate) fn words_that_count(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for_each_word(text, &mut String::new(), |word| {
        if !is_stop_word(word) {
            found.push(stem(word).to_owned());
        }
    });
    found
}

/// The words of a text, unstemmed.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for_each_word(text, &mut String::new(), |word| found.push(word.to_owned()));
    found
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Lower,
    Upper,
    Digit,
    /// A character of a script written without spaces.
    Wide,
    Other,
}

impl Class {
    fn of(c: char) -> Class {
        match c {
            'a'..='z' => Class::Lower,
            'A'..='Z' => Class::Upper,
            '0'..='9' => Class::Digit,
            _ if c.is_ascii() => Class::Other,
            '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{20000}'..='\u{3ffff}' => {
                Class::Wide
            }
            _ if c.is_uppercase() => Class::Upper,
            _ if c.is_alphabetic() => Class::Lower,
            _ if c.is_numeric() => Class::Digit,
            _ => Class::Other,
        }
    }
}

/// Removes English endings so that `creates`, `creating` and `created` meet. Anything else is left as it is.
pub(crate) fn stem(word: &str) -> &str {
    if word.len() < 4 || !word.bytes().all(|b| b.is_ascii_lowercase()) {
        return word;
    }
    let word = plural(word);
    let word = match word.strip_suffix("ing").or_else(|| word.strip_suffix("ed")) {
        Some(rest) if rest.len() >= 3 && rest.bytes().any(is_vowel) => undouble(rest),
        _ => word,
    };
    match word.strip_suffix(['e', 'y', 'i']) {
        Some(rest) if rest.len() >= 3 => rest,
        _ => word,
    }
}

fn plural(word: &str) -> &str {
    if let Some(rest) = word.strip_suffix("ies") {
        return if rest.len() >= 2 { &word[..word.len() - 2] } else { word };
    }
    for ending in ["sses", "xes", "ches", "shes", "zes"] {
        if word.ends_with(ending) {
            return &word[..word.len() - 2];
        }
    }
    match word.strip_suffix('s') {
        Some(rest) if !rest.ends_with(['s', 'u', 'i']) => rest,
        _ => word,
    }
}

fn undouble(word: &str) -> &str {
    let bytes = word.as_bytes();
    match bytes {
        [.., a, b] if a == b && !is_vowel(*b) && !matches!(b, b'l' | b's' | b'z') => &word[..word.len() - 1],
        _ => word,
    }
}

fn is_vowel(byte: u8) -> bool {
    matches!(byte, b'a' | b'e' | b'i' | b'o' | b'u' | b'y')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_split_at_separators_and_case() {
        assert_eq!(
            words("github.createIssue_v2/HTTPServer-s3"),
            ["github", "create", "issue", "v2", "http", "server", "s3"]
        );
        assert_eq!(words("ÉcouterMusique"), ["écouter", "musique"]);
        assert_eq!(words("日本語 x 東"), ["日本", "本語", "x", "東"]);
        assert_eq!(words("--__"), Vec::<String>::new());
    }

    #[test]
    fn inflections_meet() {
        for family in [
            ["create", "creates", "creating", "created"],
            ["query", "queries", "querying", "queried"],
            ["plan", "plans", "planning", "planned"],
            ["search", "searches", "searching", "searched"],
        ] {
            let stems: Vec<&str> = family.iter().map(|word| stem(word)).collect();
            assert!(stems.iter().all(|found| *found == stems[0]), "{stems:?}");
        }
        assert_eq!(stem("status"), "status");
        assert_eq!(stem("access"), "access");
    }

    #[test]
    fn stop_words_are_sorted() {
        assert!(STOP_WORDS.is_sorted());
    }
}
