//! What an edit did to the diagnostics: which are new, which are gone, although every line below the edit has another number.

use std::collections::HashMap;

/// One diagnostic, as it is compared: its place, its weight and its words.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Found {
    /// Relative to the root.
    pub path: String,
    /// Counted from one.
    pub line: u32,
    /// Counted from one, in characters.
    pub column: u32,
    /// 1 error, 2 warning, 3 information, 4 hint.
    pub severity: u8,
    /// The server's code for it, if it has one.
    pub code: String,
    /// What the server says.
    pub message: String,
}

/// The difference between two sets of diagnostics.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Comparison {
    /// Only after the edit, with the line numbers of the text after it.
    pub introduced: Vec<Found>,
    /// Only before the edit, with the line numbers of the text before it.
    pub resolved: Vec<Found>,
    /// In both.
    pub unchanged: usize,
}

/// Where the lines of a text are after an edit.
pub struct LineMap {
    /// For each line of the old text, its number in the new one; zero where it is gone. Both count from one.
    lines: Vec<u32>,
}

impl LineMap {
    /// Maps lines by the longest runs that both texts share.
    pub fn new(before: &str, after: &str) -> LineMap {
        let old: Vec<&str> = before.lines().collect();
        let new: Vec<&str> = after.lines().collect();
        let mut lines = vec![0; old.len()];
        for operation in similar::capture_diff_slices_deadline(
            similar::Algorithm::Patience,
            &old,
            &new,
            Some(std::time::Instant::now() + std::time::Duration::from_millis(200)),
        ) {
            if let similar::DiffOp::Equal {
                old_index,
                new_index,
                len,
            } = operation
            {
                for offset in 0..len {
                    lines[old_index + offset] = (new_index + offset + 1) as u32;
                }
            }
        }
        LineMap { lines }
    }

    /// The new number of an old line, if the line is still there.
    pub fn after(&self, line: u32) -> Option<u32> {
        match self.lines.get((line as usize).checked_sub(1)?) {
            Some(0) | None => None,
            Some(line) => Some(*line),
        }
    }
}

/// Compares diagnostics from before and after an edit. `maps` has the edited files; lines of others have not moved.
///
/// One that stands on a line that the edit rewrote counts as the same if its words and code are the same and it is matched by
/// no other: an error that was there before was not introduced by touching its line.
pub fn compare(before: &[Found], after: &[Found], maps: &HashMap<String, LineMap>) -> Comparison {
    type Words<'a> = (&'a str, u8, &'a str, &'a str);
    fn words(found: &Found) -> Words<'_> {
        (&found.path, found.severity, &found.code, &found.message)
    }
    let mut left: HashMap<Words<'_>, Vec<(Option<u32>, &Found)>> = HashMap::new();
    for found in before {
        let line = match maps.get(&found.path) {
            // What compilers say of a file as a whole they say of its beginning, whatever stands there.
            Some(_) if (found.line, found.column) == (1, 1) && is_of_the_whole(found, after) => Some(1),
            Some(map) => map.after(found.line),
            None => Some(found.line),
        };
        left.entry(words(found)).or_default().push((line, found));
    }
    let mut unmatched: Vec<&Found> = Vec::new();
    let mut unchanged = 0;
    for found in after {
        let same = left.get_mut(&words(found));
        let place = same
            .as_ref()
            .and_then(|same| same.iter().position(|(line, _)| *line == Some(found.line)));
        match (same, place) {
            (Some(same), Some(place)) => {
                same.swap_remove(place);
                unchanged += 1;
            }
            _ => unmatched.push(found),
        }
    }
    let mut introduced = Vec::new();
    for found in unmatched {
        let same = left.get_mut(&words(found));
        let place = same
            .as_ref()
            .and_then(|same| same.iter().position(|(line, _)| line.is_none()));
        match (same, place) {
            (Some(same), Some(place)) => {
                same.swap_remove(place);
                unchanged += 1;
            }
            _ => introduced.push(found.clone()),
        }
    }
    let mut resolved: Vec<Found> = left.into_values().flatten().map(|(_, found)| found.clone()).collect();
    introduced.sort();
    resolved.sort();
    Comparison {
        introduced,
        resolved,
        unchanged,
    }
}

/// Whether a finding at the beginning of a file is still there, word by word, and at no other place of it.
fn is_of_the_whole(found: &Found, after: &[Found]) -> bool {
    let same = |other: &&Found| {
        (&other.path, other.severity, &other.code, &other.message)
            == (&found.path, found.severity, &found.code, &found.message)
    };
    let mut places = after.iter().filter(same).map(|other| (other.line, other.column));
    places.next() == Some((1, 1)) && places.next().is_none()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(path: &str, line: u32, message: &str) -> Found {
        Found {
            path: path.into(),
            line,
            column: 1,
            severity: 1,
            code: String::new(),
            message: message.into(),
        }
    }

    fn maps(before: &str, after: &str) -> HashMap<String, LineMap> {
        HashMap::from([("a".to_owned(), LineMap::new(before, after))])
    }

    #[test]
    fn a_comment_above_an_error_changes_nothing() {
        let maps = maps("one\nbad\n", "one\n# new\nbad\n");
        let compared = compare(&[found("a", 2, "no")], &[found("a", 3, "no")], &maps);
        assert_eq!(
            (compared.introduced.len(), compared.resolved.len(), compared.unchanged),
            (0, 0, 1)
        );
    }

    #[test]
    fn what_is_said_of_the_whole_file_does_not_move() {
        let maps = maps("one\nbad\n", "# new\none\nbad\n");
        let compared = compare(&[found("a", 1, "too many")], &[found("a", 1, "too many")], &maps);
        assert_eq!((compared.introduced.len(), compared.resolved.len()), (0, 0));
        let compared = compare(
            &[found("a", 1, "no")],
            &[found("a", 1, "no"), found("a", 2, "no")],
            &maps,
        );
        assert_eq!(compared.introduced, [found("a", 1, "no")]);
    }

    /// Equal counts are not equal errors.
    #[test]
    fn a_swap_is_seen_as_one_made_and_one_cured() {
        let maps = maps("bad\nfine\n", "fine now\nworse\n");
        let compared = compare(&[found("a", 1, "no")], &[found("a", 2, "not that")], &maps);
        assert_eq!((compared.introduced.len(), compared.resolved.len()), (1, 1));
    }

    #[test]
    fn the_same_words_elsewhere_are_another_error() {
        let text = "bad\nfine\n";
        let compared = compare(
            &[found("a", 1, "no")],
            &[found("a", 1, "no"), found("a", 2, "no")],
            &maps(text, text),
        );
        assert_eq!(compared.introduced, [found("a", 2, "no")]);
        assert!(compared.resolved.is_empty());
    }

    #[test]
    fn an_error_on_a_rewritten_line_was_there_before() {
        let maps = maps("f(1, x)\n", "f(2, x)\n");
        let compared = compare(
            &[found("a", 1, "x is unknown")],
            &[found("a", 1, "x is unknown")],
            &maps,
        );
        assert_eq!(
            (compared.introduced.len(), compared.resolved.len(), compared.unchanged),
            (0, 0, 1)
        );
    }

    #[test]
    fn other_files_are_compared_by_their_own_lines() {
        let compared = compare(&[], &[found("b", 7, "wants two arguments")], &maps("x\n", "y\n"));
        assert_eq!(compared.introduced.len(), 1);
    }
}
