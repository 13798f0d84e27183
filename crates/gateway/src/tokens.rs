//! Exact token counts with `cl100k_base`, the encoder the budgets are defined in. Nothing here estimates.

use bpe_openai::{Tokenizer, cl100k_base};

/// Bytes of the longest token of the encoder.
pub(crate) const LONGEST_TOKEN: usize = 128;

pub fn count(text: &str) -> usize {
    tokenizer().count(text)
}

/// Whether `text` costs at most `limit` tokens. Stops counting as soon as the answer is known.
pub fn fits(text: &str, limit: usize) -> bool {
    // No token is empty and none is longer than 128 bytes, so most answers need no counting; a flood never does.
    if text.len() <= limit {
        return true;
    }
    if text.len() > limit.saturating_mul(LONGEST_TOKEN) {
        return false;
    }
    tokenizer()
        .count_till_limit(&tokenizer().normalize(text), limit)
        .is_some()
}

fn tokenizer() -> &'static Tokenizer {
    cl100k_base()
}
