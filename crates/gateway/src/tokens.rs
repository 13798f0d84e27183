//! Exact token counts with `cl100k_base`, the encoder the budgets are defined in. Nothing here estimates.

use wire::tokens::Tokenizer;

/// Bytes of the longest token of the encoder.
pub(crate) use wire::tokens::LONGEST_TOKEN;

pub fn count(text: &str) -> usize {
    Tokenizer::Cl100k.count(text)
}

/// Whether `text` costs at most `limit` tokens. Stops counting as soon as the answer is known.
pub fn fits(text: &str, limit: usize) -> bool {
    // No token is empty, so most answers need no counting.
    text.len() <= limit || Tokenizer::Cl100k.count_up_to(text, limit).is_some()
}
