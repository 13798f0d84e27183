//! Edits of one text, by byte ranges of the text before any of them.

use std::ops::Range;

use super::EditError;

/// One replacement. Ranges count bytes of the text as it was before all edits that are applied together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TextEdit {
    /// What is replaced; empty where text is only inserted.
    pub range: Range<usize>,
    /// What takes its place.
    pub text: String,
}

/// The text after all edits. They may come in any order but must not overlap; insertions at one place keep their order.
pub fn apply(text: &str, edits: &[TextEdit]) -> Result<String, EditError> {
    let mut order: Vec<usize> = (0..edits.len()).collect();
    order.sort_by_key(|number| (edits[*number].range.start, edits[*number].range.end));
    let mut after = String::with_capacity(text.len());
    let (mut copied, mut previous) = (0, None);
    for number in order {
        let Range { start, end } = edits[number].range;
        if start > end || !text.is_char_boundary(start) || !text.is_char_boundary(end) {
            return Err(EditError::OutOfRange { number: number + 1 });
        }
        if start < copied {
            let first = previous.map_or(0, |previous: usize| previous + 1);
            return Err(EditError::Overlap {
                first,
                second: number + 1,
            });
        }
        after.push_str(&text[copied..start]);
        after.push_str(&edits[number].text);
        copied = end;
        previous = Some(number);
    }
    after.push_str(&text[copied..]);
    Ok(after)
}

/// The edit that replaces `old`, which must occur exactly once, by `new`. Where `old` is not found as it is, lines that differ
/// only in indentation and trailing blanks count, and `new` is shifted by the same indentation.
pub fn replace_once(path: &str, text: &str, old: &str, new: &str) -> Result<TextEdit, EditError> {
    let not_once = |count| EditError::NotOnce {
        path: path.to_owned(),
        count,
    };
    if old.is_empty() {
        return Err(not_once(0));
    }
    let mut exact = text.match_indices(old);
    if let Some((start, _)) = exact.next() {
        return match exact.count() {
            0 => Ok(TextEdit {
                range: start..start + old.len(),
                text: new.to_owned(),
            }),
            more => Err(not_once(more + 1)),
        };
    }
    let (mut found, mut count) = (None, 0);
    let wanted: Vec<&str> = old.lines().map(str::trim).collect();
    let lines: Vec<(usize, &str)> = lines_with_starts(text);
    if wanted.iter().all(|line| line.is_empty()) {
        return Err(not_once(0));
    }
    for window in lines.windows(wanted.len()) {
        if window.iter().map(|(_, line)| line.trim()).eq(wanted.iter().copied()) {
            count += 1;
            found = found.or(Some((window[0].0, window)));
        }
    }
    match (found, count) {
        (Some((start, window)), 1) => {
            let (last_start, last) = window[window.len() - 1];
            let end = last_start + last.trim_end_matches(['\r', '\n']).len();
            Ok(TextEdit {
                range: start..end,
                text: shifted(new, old, window[0].1),
            })
        }
        _ => Err(not_once(count)),
    }
}

/// `new` with the indentation that `actual` has and the first line of `old` has not.
fn shifted(new: &str, old: &str, actual: &str) -> String {
    let indentation = |line: &str| -> String {
        line.chars()
            .take_while(|character| matches!(character, ' ' | '\t'))
            .collect()
    };
    let (had, has) = (indentation(old.lines().next().unwrap_or_default()), indentation(actual));
    let new = new.trim_end_matches(['\r', '\n']);
    let lines = new.split('\n').map(|line| match line.strip_prefix(had.as_str()) {
        _ if line.trim().is_empty() => line.to_owned(),
        Some(rest) => format!("{has}{rest}"),
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

fn lines_with_starts(text: &str) -> Vec<(usize, &str)> {
    let mut start = 0;
    text.split_inclusive('\n')
        .map(|line| {
            let here = start;
            start += line.len();
            (here, line)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn edit(range: Range<usize>, text: &str) -> TextEdit {
        TextEdit {
            range,
            text: text.to_owned(),
        }
    }

    #[test]
    fn edits_apply_in_any_order_and_never_overlap() {
        let edits = [edit(6..11, "moon"), edit(0..0, "oh, "), edit(0..0, "well: ")];
        assert_eq!(apply("hello world", &edits).unwrap(), "oh, well: hello moon");
        assert!(matches!(
            apply("hello", &[edit(1..3, ""), edit(2..4, "")]),
            Err(EditError::Overlap { first: 1, second: 2 })
        ));
        assert!(matches!(
            apply("é", &[edit(1..1, "")]),
            Err(EditError::OutOfRange { number: 1 })
        ));
        assert!(apply("a", &[edit(0..9, "")]).is_err());
    }

    #[test]
    fn text_is_replaced_only_where_it_is_unique() {
        assert_eq!(replace_once("f", "a b a", "b", "c").unwrap(), edit(2..3, "c"));
        assert!(matches!(
            replace_once("f", "a b a", "a", "c"),
            Err(EditError::NotOnce { count: 2, .. })
        ));
        assert!(matches!(
            replace_once("f", "a", "x", "c"),
            Err(EditError::NotOnce { count: 0, .. })
        ));
    }

    #[test]
    fn indentation_that_was_not_copied_is_put_back() {
        let text = "def f():\r\n    if x:\r\n        return 1\r\n";
        let found = replace_once(
            "f",
            text,
            "if x:\n    return 1",
            "if x:\n    return 2\nelse:\n    return 3",
        )
        .unwrap();
        assert_eq!(found.text, "    if x:\n        return 2\n    else:\n        return 3");
        assert_eq!(&text[found.range], "    if x:\r\n        return 1");
    }

    proptest! {
        /// Cutting a text anywhere and replacing the pieces by themselves changes nothing.
        #[test]
        fn replacing_by_the_same_text_changes_nothing(text in "\\PC{0,40}", cuts in proptest::collection::vec(0usize..60, 0..6)) {
            let mut cuts: Vec<usize> = cuts.into_iter().filter(|cut| text.is_char_boundary(*cut)).collect();
            cuts.sort_unstable();
            let edits: Vec<TextEdit> = cuts.windows(2).map(|pair| edit(pair[0]..pair[1], &text[pair[0]..pair[1]])).collect();
            prop_assert_eq!(apply(&text, &edits).unwrap(), text);
        }
    }
}
