//! The difference of two texts, for reading.

use similar::TextDiff;

/// A unified diff with `context` lines around each change; empty if nothing changed.
pub fn unified_diff(path: &str, before: &str, after: &str, context: usize) -> String {
    TextDiff::configure()
        .timeout(std::time::Duration::from_millis(500))
        .diff_lines(before, after)
        .unified_diff()
        .context_radius(context)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string()
}

/// Lines that came and lines that went.
pub fn line_counts(before: &str, after: &str) -> (usize, usize) {
    let (mut added, mut removed) = (0, 0);
    let diff = TextDiff::configure()
        .timeout(std::time::Duration::from_millis(500))
        .diff_lines(before, after);
    for change in diff.iter_all_changes() {
        match change.tag() {
            similar::ChangeTag::Insert => added += 1,
            similar::ChangeTag::Delete => removed += 1,
            similar::ChangeTag::Equal => {}
        }
    }
    (added, removed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_shown_with_its_surroundings() {
        let (before, after) = ("a\nb\nc\nd\n", "a\nb\nC\nd\n");
        assert_eq!(
            unified_diff("f", before, after, 1),
            "--- a/f\n+++ b/f\n@@ -2,3 +2,3 @@\n b\n-c\n+C\n d\n"
        );
        assert_eq!(unified_diff("f", before, before, 1), "");
        assert_eq!(line_counts(before, after), (1, 1));
    }
}
