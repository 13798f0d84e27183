//! What does this one file declare and mention? Lowers the syntax tree of any supported language to the same facts.
//!
//! [`extract`] is a pure function of (language, text): no I/O, no panics, no unbounded time or stack. Broken code gives
//! fewer facts and a list of problems. [`languages`] tells which language a file is in; [`facts`] is the vocabulary.

#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod arena;
pub mod codec;
mod conditionals;
pub mod dump;
mod engine;
mod export_macros;
pub mod facts;
mod fragments;
mod grammars;
mod guards;
pub mod languages;
mod parse;
mod relative;
pub mod visible;
mod word_kind;

pub use codec::DecodeError;
pub use facts::FileFacts;
pub use guards::{Surroundings, surroundings};
pub use languages::{Depth, Language};
pub use parse::{MAX_SOURCE, parse_only};
pub use word_kind::WordKind;

/// All facts of `text`, read as `language`. The same input always gives the same output.
pub fn extract(language: &'static Language, text: &str) -> FileFacts {
    parse::extract(language, text)
}

/// The same, and for each of `places` (bytes where words start) what the word there is part of.
pub fn extract_with_word_kinds(
    language: &'static Language,
    text: &str,
    places: &[usize],
) -> (FileFacts, Vec<WordKind>) {
    parse::extract_with(language, text, places)
}
