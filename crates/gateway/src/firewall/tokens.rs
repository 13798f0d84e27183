//! Token counts for shaping, and the longest prefix that fits a budget.

pub(crate) use crate::tokens::{count, fits};

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
