//! The tokenizer of BERT and its kin: words and marks apart, in lower case without accents, then the longest pieces that the vocabulary has.
//!
//! Read from what lies beside a model: `tokenizer.json` as the Hugging Face library writes it, or `vocab.txt`.

use std::collections::HashMap;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

/// Longest word that is taken apart; a longer one is unknown.
const MAX_CHARACTERS: usize = 100;

/// A vocabulary of pieces.
pub(super) struct WordPiece {
    pieces: HashMap<String, i32>,
    unknown: i32,
    first: i32,
    last: i32,
    lower_case: bool,
}

impl WordPiece {
    /// Reads the tokenizer that lies in the directory of a model.
    pub(super) fn beside(directory: &Path) -> anyhow::Result<WordPiece> {
        let (json, list) = (directory.join("tokenizer.json"), directory.join("vocab.txt"));
        if json.is_file() {
            let text = std::fs::read_to_string(&json).with_context(|| format!("cannot read {}", json.display()))?;
            return WordPiece::from_json(&text).with_context(|| format!("{}", json.display()));
        }
        if list.is_file() {
            let text = std::fs::read_to_string(&list).with_context(|| format!("cannot read {}", list.display()))?;
            let pieces = text.lines().zip(0..).map(|(piece, number)| (piece.to_string(), number));
            return WordPiece::new(pieces.collect(), true).with_context(|| format!("{}", list.display()));
        }
        bail!(
            "no tokenizer: neither tokenizer.json nor vocab.txt lies in {}",
            directory.display()
        )
    }

    fn from_json(text: &str) -> anyhow::Result<WordPiece> {
        let tokenizer: Value = serde_json::from_str(text)?;
        let model = &tokenizer["model"];
        // Older files leave the type out; the mark of continuation tells WordPiece from the others.
        let is_word_piece = match model["type"].as_str() {
            Some(kind) => kind == "WordPiece",
            None => model["continuing_subword_prefix"] == "##",
        };
        if !is_word_piece {
            bail!("only tokenizers of the type WordPiece are understood");
        }
        let vocabulary = model["vocab"].as_object().context("the tokenizer has no vocabulary")?;
        let pieces = vocabulary
            .iter()
            .filter_map(|(piece, number)| Some((piece.clone(), i32::try_from(number.as_i64()?).ok()?)))
            .collect();
        WordPiece::new(pieces, tokenizer["normalizer"]["lowercase"].as_bool().unwrap_or(true))
    }

    fn new(pieces: HashMap<String, i32>, lower_case: bool) -> anyhow::Result<WordPiece> {
        let special = |name: &str| {
            let found = pieces.get(name).copied();
            found.with_context(|| format!("the vocabulary has no {name}"))
        };
        Ok(WordPiece {
            unknown: special("[UNK]")?,
            first: special("[CLS]")?,
            last: special("[SEP]")?,
            lower_case,
            pieces,
        })
    }

    /// The numbers of a text's pieces between the marks of start and end, at most `most` in all.
    pub(super) fn numbers(&self, text: &str, most: usize) -> Vec<i32> {
        let mut numbers = vec![self.first];
        let text: String = match self.lower_case {
            true => text
                .nfd()
                .filter(|c| !is_combining_mark(*c))
                .flat_map(char::to_lowercase)
                .collect(),
            false => text.to_string(),
        };
        let room = most.saturating_sub(1);
        let mut word = String::new();
        for c in text.chars() {
            if numbers.len() >= room {
                break;
            }
            let apart = is_mark(c) || is_ideograph(c);
            if apart || c.is_whitespace() || c.is_control() {
                // A control character that is no white space stands for nothing.
                if !apart && !c.is_whitespace() {
                    continue;
                }
                self.add(&word, &mut numbers);
                word.clear();
            }
            if apart {
                self.add(c.encode_utf8(&mut [0; 4]), &mut numbers);
            } else if !c.is_whitespace() {
                word.push(c);
            }
        }
        self.add(&word, &mut numbers);
        numbers.truncate(room);
        numbers.push(self.last);
        numbers
    }

    /// The longest pieces of a word from the left; the unknown piece where one is missing.
    fn add(&self, word: &str, numbers: &mut Vec<i32>) {
        if word.is_empty() {
            return;
        }
        let before = numbers.len();
        let mut rest = word;
        let mut marked = String::new();
        while !rest.is_empty() && word.chars().count() <= MAX_CHARACTERS {
            marked.clear();
            if rest.len() < word.len() {
                marked.push_str("##");
            }
            let mark = marked.len();
            marked.push_str(rest);
            let found = loop {
                match self.pieces.get(&marked) {
                    Some(&number) => break Some((number, marked.len() - mark)),
                    None if marked.len() > mark => {
                        marked.pop();
                    }
                    None => break None,
                }
            };
            let Some((number, length)) = found.filter(|(_, length)| *length > 0) else {
                break;
            };
            numbers.push(number);
            rest = &rest[length..];
        }
        if !rest.is_empty() {
            numbers.truncate(before);
            numbers.push(self.unknown);
        }
    }
}

/// What stands for itself: marks of ASCII, and those that Unicode calls punctuation.
fn is_mark(c: char) -> bool {
    match c {
        _ if c.is_ascii() => c.is_ascii_punctuation(),
        // Punctuation of Latin-1, the general block, that of Chinese and Japanese, and full-width forms.
        '\u{a1}' | '\u{a7}' | '\u{ab}' | '\u{b6}' | '\u{b7}' | '\u{bb}' | '\u{bf}' => true,
        '\u{2010}'..='\u{2027}' | '\u{2030}'..='\u{205e}' => !matches!(c, '\u{2044}' | '\u{2052}'),
        '\u{3001}'..='\u{3003}' | '\u{3008}'..='\u{3011}' | '\u{3014}'..='\u{301f}' | '\u{30fb}' => true,
        '\u{ff01}'..='\u{ff0f}' | '\u{ff1a}' | '\u{ff1b}' | '\u{ff1f}' | '\u{ff20}' => {
            !matches!(c, '\u{ff04}' | '\u{ff0b}')
        }
        _ => false,
    }
}

/// Ideographs are words of their own.
fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{4e00}'..='\u{9fff}' | '\u{3400}'..='\u{4dbf}' | '\u{20000}'..='\u{2a6df}' | '\u{f900}'..='\u{faff}')
}
