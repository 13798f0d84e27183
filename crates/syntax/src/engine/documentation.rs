//! Texts for people: the first sentence of a comment, a signature on one line.

use super::lowering::Lowering;
use crate::facts::{MAX_DOC, MAX_SIGNATURE, Name};
use tree_sitter::Node;

impl Lowering<'_> {
    /// First sentence of the documentation at `start..end`, cleaned; `None` when nothing is left.
    pub(crate) fn clean_doc(&mut self, start: usize, end: usize) -> Option<Name> {
        let sentence = first_sentence(self.source.get(start..end)?);
        if sentence.is_empty() {
            None
        } else {
            Some(self.names.intern(&sentence))
        }
    }

    /// `start..` on one line, up to `body` or `end`, without what opens the body.
    pub(crate) fn signature(&mut self, start: usize, body: Option<Node<'_>>, end: usize) -> Name {
        let end = body.map_or(end, |body| body.start_byte()).max(start);
        // A statement without a body is cut at the line's end if it is long: the rest is its value.
        let text = self.source.get(start..end).unwrap_or("");
        let text = text.trim_end_matches([' ', '\t', '\r', '\n', '{', ':', ';', ',']);
        let text = text.strip_suffix("=>").unwrap_or(text).trim_end();
        self.normalised(text)
    }

    /// `text` with each run of white space as one blank, at most [`MAX_SIGNATURE`] bytes.
    pub(crate) fn normalised(&mut self, text: &str) -> Name {
        let cut = floor_boundary(text, MAX_SIGNATURE);
        let plain = text.len() <= MAX_SIGNATURE && !text.bytes().any(|byte| byte.is_ascii_control());
        if plain {
            return self.names.intern(text);
        }
        let mut line = String::with_capacity(cut);
        for word in text[..floor_boundary(text, MAX_SIGNATURE * 4)].split_whitespace() {
            if !line.is_empty() && !line.ends_with(['(', '[']) && !word.starts_with([')', ']']) {
                line.push(' ');
            }
            line.push_str(word);
            if line.len() > MAX_SIGNATURE {
                line.truncate(floor_boundary(&line, MAX_SIGNATURE));
                break;
            }
        }
        self.names.intern(&line)
    }
}

/// The first sentence of a comment or docstring, without markers.
pub(crate) fn first_sentence(comment: &str) -> String {
    let mut sentence = String::new();
    for line in comment[..floor_boundary(comment, 4096)].lines() {
        let line = line
            .trim()
            .trim_start_matches(['/', '*', '#', '!', ';', '%', '"', '\'', '-', '<', '{', '|', '(']);
        let line = line.trim_end_matches(['/', '*', '"', '\'', '-', '>', '}']).trim();
        // A tag (`@param`) or an empty line ends the summary.
        if line.is_empty() || line.starts_with('@') {
            if sentence.is_empty() {
                continue;
            }
            break;
        }
        if !sentence.is_empty() {
            sentence.push(' ');
        }
        let from = sentence.len();
        sentence.push_str(line);
        if let Some(end) = sentence_end(&sentence[from..]) {
            sentence.truncate(from + end);
            break;
        }
        if sentence.len() > MAX_DOC {
            break;
        }
    }
    sentence.truncate(floor_boundary(&sentence, MAX_DOC));
    sentence
}

fn sentence_end(text: &str) -> Option<usize> {
    [". ", "! ", "? "]
        .iter()
        .filter_map(|end| text.find(end))
        .min()
        .map(|end| end + 1)
}

/// The last character boundary at or before `at`.
pub(crate) fn floor_boundary(text: &str, at: usize) -> usize {
    if at >= text.len() {
        text.len()
    } else {
        (0..=at).rev().find(|&at| text.is_char_boundary(at)).unwrap_or(0)
    }
}
