//! Words of code and prose: identifiers split where their parts meet, in lower case, and the terms they count as.
//!
//! `parseHTTPRequest2` is parse, http, request, 2. The split is the one that the embedding was trained with
//! (`models/code-embedding/tokenize_text.py`), so both halves of the search see the same words.

/// Calls `hear` with every word of a text, in lower case. `buffer` is working space, so that many texts share one.
pub fn for_each_word(text: &str, buffer: &mut String, mut hear: impl FnMut(&str)) {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        let start = at;
        match bytes[at] {
            b'a'..=b'z' => {
                at = past(bytes, at, |byte| byte.is_ascii_lowercase());
                hear(&text[start..at]);
            }
            b'A'..=b'Z' => {
                at = past(bytes, at, |byte| byte.is_ascii_uppercase());
                let before_lower = bytes.get(at).is_some_and(u8::is_ascii_lowercase);
                match (before_lower, at - start) {
                    (true, 1) => at = past(bytes, at, |byte| byte.is_ascii_lowercase()),
                    // The last capital starts the next word.
                    (true, _) => at -= 1,
                    (false, _) => {}
                }
                buffer.clear();
                buffer.push_str(&text[start..at]);
                buffer.make_ascii_lowercase();
                hear(buffer);
            }
            b'0'..=b'9' => {
                at = past(bytes, at, |byte| byte.is_ascii_digit());
                hear(&text[start..at]);
            }
            0..0x80 => at += 1,
            _ => {
                let letters = text[start..]
                    .chars()
                    .take_while(|&c| !c.is_ascii() && c.is_alphanumeric() && !is_other_digit(c));
                let length: usize = letters.map(char::len_utf8).sum();
                if length == 0 {
                    at += text[start..].chars().next().map_or(1, char::len_utf8);
                    continue;
                }
                at += length;
                buffer.clear();
                buffer.extend(text[start..at].chars().flat_map(char::to_lowercase));
                hear(buffer);
            }
        }
    }
}

/// The words of a text.
pub fn words(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for_each_word(text, &mut String::new(), |word| found.push(word.to_string()));
    found
}

fn past(bytes: &[u8], from: usize, is_part: impl Fn(u8) -> bool) -> usize {
    bytes[from..]
        .iter()
        .position(|&byte| !is_part(byte))
        .map_or(bytes.len(), |length| from + length)
}

/// Decimal digits of other scripts are no words: the trained tokenizer leaves them out.
fn is_other_digit(c: char) -> bool {
    c.is_numeric() && !c.is_alphabetic() && unicode_decimal(c)
}

/// Decimal digits come in runs of ten that start at a multiple of the run's first code point; these are the scripts in use.
fn unicode_decimal(c: char) -> bool {
    const ZEROS: &[u32] = &[
        0x660, 0x6f0, 0x7c0, 0x966, 0x9e6, 0xa66, 0xae6, 0xb66, 0xbe6, 0xc66, 0xce6, 0xd66, 0xe50, 0xed0, 0xf20,
        0x1040, 0x17e0, 0x1810, 0xff10,
    ];
    ZEROS.iter().any(|&zero| (zero..zero + 10).contains(&(c as u32)))
}

/// Longest word that becomes a term; a longer one is data.
pub(crate) const MAX_TERM: usize = 64;

/// What a word counts as in the lexical index: plurals, `-ing`, `-ed` and a final `e` or `y` go, so that `converted`, `converts` and
/// `converting` meet. Measured on CoSQA's development questions: MRR .342 without, .357 with.
pub(crate) fn stem(word: &str) -> &str {
    if !word.is_ascii() {
        return word;
    }
    let word = without_ending(singular(word));
    match word.as_bytes() {
        [.., b'e'] if word.len() > 4 => &word[..word.len() - 1],
        [.., b'y' | b'i'] if word.len() > 3 => &word[..word.len() - 1],
        _ => word,
    }
}

fn singular(word: &str) -> &str {
    if word.len() <= 3 || !word.ends_with('s') || word.ends_with("ss") {
        return word;
    }
    if ["ies", "xes", "ches", "shes", "sses", "zes"]
        .iter()
        .any(|ending| word.ends_with(ending))
    {
        return &word[..word.len() - 2];
    }
    &word[..word.len() - 1]
}

fn without_ending(word: &str) -> &str {
    let stem = match word {
        _ if word.len() > 5 && word.ends_with("ing") => &word[..word.len() - 3],
        _ if word.len() > 4 && word.ends_with("ed") => &word[..word.len() - 2],
        _ => return word,
    };
    let bytes = stem.as_bytes();
    match bytes {
        // `stopped` is stop, `passing` is pass, `calling` is call.
        [.., a, b] if bytes.len() > 3 && a == b && !matches!(b, b'l' | b's') => &stem[..stem.len() - 1],
        _ => stem,
    }
}

/// Words that say nothing about code and are not asked for.
pub(crate) fn is_stop_word(word: &str) -> bool {
    const STOP: &[&str] = &[
        "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "how", "i", "if", "in",
        "is", "it", "my", "of", "on", "or", "that", "the", "this", "to", "what", "when", "with",
    ];
    STOP.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_split_where_their_parts_meet() {
        let split = |text: &str| words(text).join(" ");
        assert_eq!(split("parseHTTPRequest2"), "parse http request 2");
        assert_eq!(split("snake_case_v2 __init__"), "snake case v 2 init");
        assert_eq!(
            split("ABc A Bc XMLHttp utf8Decoder"),
            "a bc a bc xml http utf 8 decoder"
        );
        assert_eq!(split("größe Ünder 日本語x ٣"), "gr öß e ü nder 日本語 x");
        assert_eq!(split(""), "");
    }

    #[test]
    fn forms_of_a_word_meet() {
        for (form, term) in [
            ("converted", "convert"),
            ("converting", "convert"),
            ("converts", "convert"),
            ("stopped", "stop"),
            ("passing", "pass"),
            ("boxes", "box"),
            ("matches", "match"),
            ("class", "class"),
            ("create", "creat"),
            ("created", "creat"),
            ("entries", "entr"),
            ("entry", "entr"),
            ("bus", "bus"),
            ("is", "is"),
            ("größen", "größen"),
        ] {
            assert_eq!(stem(form), term, "{form}");
        }
    }
}
