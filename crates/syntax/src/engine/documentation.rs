//! Texts for people: the first sentence of a comment, a signature on one line.

use super::lowering::Lowering;
use super::rules::Action;
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

    /// `node` on one line, up to `body`, without what opens the body and without comments.
    pub(crate) fn signature(&mut self, node: Node<'_>, body: Option<Node<'_>>) -> Name {
        let start = node.start_byte();
        let end = body.map_or(node.end_byte(), |body| body.start_byte()).max(start);
        // A statement without a body is cut at the line's end if it is long: the rest is its value.
        let text = self.source.get(start..end).unwrap_or("");
        match self.without_comments(node, text) {
            Some(text) => self.normalised(trim_opening(&text)),
            None => self.normalised(trim_opening(text)),
        }
    }

    /// `text`, which `node` starts with, with a blank for each comment; `None` when there are no comments in it.
    fn without_comments(&self, node: Node<'_>, text: &str) -> Option<String> {
        if !may_hold_comment(text) {
            return None;
        }
        // What is cut off later need not be looked at.
        let start = node.start_byte();
        let end = start + text.len().min(MAX_SIGNATURE * 8);
        let mut cursor = node.walk();
        let mut left = String::new();
        let mut copied = start;
        'nodes: loop {
            let node = cursor.node();
            if node.start_byte() >= end {
                break;
            }
            let is_comment = self.rules.rule(node.kind_id()).action == Action::Comment;
            if is_comment {
                left.push_str(self.source.get(copied..node.start_byte()).unwrap_or(""));
                left.truncate(left.trim_end().len());
                let rest = self.source.get(node.end_byte()..).unwrap_or("");
                let next = rest.trim_start();
                if !next.starts_with([',', ')', ']']) {
                    left.push(' ');
                }
                copied = node.end_byte() + rest.len() - next.len();
            }
            if !is_comment && cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    break 'nodes;
                }
            }
        }
        if copied == start {
            return None;
        }
        // After a last comment the blanks that were passed over may have led beyond the text.
        left.push_str(self.source.get(copied..start + text.len()).unwrap_or(""));
        Some(left)
    }

    /// The first line of `node`, as a signature.
    pub(crate) fn first_line(&mut self, node: Node<'_>) -> Name {
        let text = self.source.get(node.byte_range()).unwrap_or("");
        let line = text.lines().next().unwrap_or("").trim_end_matches([' ', ';', ',']);
        self.normalised(line)
    }

    /// `text` with each run of white space as one blank, at most [`MAX_SIGNATURE`] bytes.
    pub(crate) fn normalised(&mut self, text: &str) -> Name {
        let cut = floor_boundary(text, MAX_SIGNATURE);
        let is_plain = |pair: &[u8]| !pair[1].is_ascii_control() && pair != b"  ";
        let starts_plain = text.bytes().next().is_none_or(|byte| !byte.is_ascii_control());
        if text.len() <= MAX_SIGNATURE && starts_plain && text.as_bytes().windows(2).all(is_plain) {
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

/// A signature without what opens the body.
fn trim_opening(text: &str) -> &str {
    let text = text.trim_end_matches([' ', '\t', '\r', '\n', '{', ':', ';', ',']);
    text.strip_suffix("=>").unwrap_or(text).trim_end()
}

/// Whether something in `text` could begin a comment in some language. Few signatures have any of it, and only those are worth
/// a look at the tree.
fn may_hold_comment(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| match pair[0] {
        b'#' | b'%' | b';' => true,
        b'/' => pair[1] == b'/' || pair[1] == b'*',
        b'-' => pair[1] == b'-',
        b'(' => pair[1] == b'*',
        _ => false,
    })
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
