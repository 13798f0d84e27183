//! Near-duplicates: definitions that differ by a version or a number only. One of each family is enough in an answer.

use foldhash::{HashMap, HashMapExt};

use super::words::{for_each_word, stem};

/// How alike two descriptions must be, as the share of their words in common.
const ALIKE: f32 = 0.5;

/// The family of each definition, as a number below the count of families. `definitions` are `(namespace, name,
/// description)`.
pub(crate) fn families<'a>(definitions: impl Iterator<Item = (&'a str, &'a str, &'a str)>) -> Vec<u32> {
    let mut first_of: HashMap<String, Vec<(u32, &'a str)>> = HashMap::new();
    let mut families = Vec::new();
    let mut next = 0;
    let mut signature = String::new();
    let mut buffer = String::new();
    for (namespace, name, description) in definitions {
        sign(namespace, name, &mut signature, &mut buffer);
        let same_name = match first_of.get_mut(signature.as_str()) {
            Some(known) => known,
            None => first_of.entry(signature.clone()).or_default(),
        };
        let alike = same_name
            .iter()
            .find(|(_, other)| similarity(other, description) >= ALIKE);
        families.push(match alike {
            Some((family, _)) => *family,
            None => {
                let family = next;
                next += 1;
                // Comparing with every different member would be quadratic in a hostile catalog.
                if same_name.len() < 8 {
                    same_name.push((family, description));
                }
                family
            }
        });
    }
    families
}

/// Namespace and name, without words that only count: `v2`, `10`.
fn sign(namespace: &str, name: &str, signature: &mut String, buffer: &mut String) {
    signature.clear();
    signature.push_str(namespace);
    let bare = signature.len();
    for_each_word(name, buffer, |word| {
        if !is_counter(word) {
            signature.push(' ');
            signature.push_str(word);
        }
    });
    if signature.len() == bare {
        signature.push(' ');
        signature.push_str(name);
    }
}

fn is_counter(word: &str) -> bool {
    let digits = word.strip_prefix('v').unwrap_or(word);
    !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit())
}

/// Share of words in common, counters aside; 1 for two empty texts.
fn similarity(left: &str, right: &str) -> f32 {
    if left == right {
        return 1.0;
    }
    let (left, right) = (word_set(left), word_set(right));
    let shared = left.iter().filter(|word| right.binary_search(word).is_ok()).count();
    let all = left.len() + right.len() - shared;
    if all == 0 { 1.0 } else { shared as f32 / all as f32 }
}

fn word_set(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let end = text.char_indices().nth(400).map_or(text.len(), |(offset, _)| offset);
    for_each_word(&text[..end], &mut String::new(), |word| {
        if !is_counter(word) {
            words.push(stem(word).to_owned());
        }
    });
    words.sort_unstable();
    words.dedup();
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_makes_a_duplicate_and_a_different_tool_does_not() {
        let found = families(
            [
                ("aws", "audit.export", "Export audit log entries"),
                ("aws", "audit.export.v10", "Export audit log entries (variant 10)"),
                ("aws", "audit.query", "Query the audit log"),
                ("gcp", "audit.export", "Export audit log entries"),
                ("aws", "s3_get", "Get an object"),
                ("aws", "ec2_get", "Get an object"),
                ("aws", "audit.export.v3", "Turn the lights on"),
            ]
            .into_iter(),
        );
        assert_eq!(found, [0, 0, 1, 2, 3, 4, 5]);
    }
}
