//! Counts in `cl100k_base`, with bounds first: most texts are decided by their length alone.

use bpe_openai::cl100k_base;

/// Tokens of `text`.
pub(crate) fn count(text: &str) -> usize {
    cl100k_base().count(text)
}

/// Whether `text` is at most `limit` tokens. Text far over the limit is never tokenised whole.
pub(crate) fn fits(text: &str, limit: usize) -> bool {
    // A token is at least one byte.
    let tokenizer = cl100k_base();
    text.len() <= limit || tokenizer.count_till_limit(&tokenizer.normalize(text), limit).is_some()
}

/// The longest prefix of at most `limit` tokens, found by halving on character boundaries.
pub(crate) fn prefix(text: &str, limit: usize) -> &str {
    if fits(text, limit) {
        return text;
    }
    let (mut low, mut high) = (0, floor(text, text.len().min(limit.saturating_mul(16))));
    while low < high {
        let middle = floor(text, low + (high - low).div_ceil(2));
        if middle <= low {
            break;
        }
        if fits(&text[..middle], limit) {
            low = middle;
        } else {
            high = floor(text, middle - 1);
        }
    }
    &text[..low]
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prefix_fits_and_is_nearly_as_long_as_it_can_be() {
        let text = "héllo wörld, ".repeat(1000);
        let short = prefix(&text, 100);
        assert!(count(short) <= 100 && count(short) >= 95, "{}", count(short));
        assert_eq!(prefix("short", 100), "short");
        assert_eq!(prefix(&text, 0), "");
    }
}
