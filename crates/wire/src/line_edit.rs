//! A text as the lines that changed in another: hunks as in a unified diff without context, and without the lines that go, which
//! whoever has the old text has already.
//!
//! ```text
//! @@ -5,1 +5,2 @@
//! +    if item is None:
//! +        return
//! ```

/// Lines on both sides whose longest common part is looked for; longer ones are told as one change.
const MOST_CELLS: usize = 400_000;

/// The hunks that turn `old` into `new`; empty where they are the same.
pub(crate) fn edit(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.split('\n').collect(), new.split('\n').collect());
    let mut out = String::new();
    for (from, gone, to, came) in hunks(&old, &new) {
        // As diff counts: a place between lines is named by the line before it.
        let first = |start: usize, count: usize| if count == 0 { start } else { start + 1 };
        out.push_str(&format!(
            "@@ -{},{gone} +{},{came} @@\n",
            first(from, gone),
            first(to, came)
        ));
        for line in &new[to..to + came] {
            out.push('+');
            out.push_str(line);
            out.push('\n');
        }
    }
    out.pop();
    out
}

/// `old` with the hunks of [`edit`] applied; `None` where they do not fit it.
pub(crate) fn apply(old: &str, edit: &str) -> Option<String> {
    let old: Vec<&str> = old.split('\n').collect();
    let mut lines: Vec<&str> = Vec::new();
    let mut done = 0usize;
    let mut hunks = edit.split('\n').filter(|_| !edit.is_empty()).peekable();
    while let Some(head) = hunks.next() {
        let spans = head.strip_prefix("@@ -")?.strip_suffix(" @@")?;
        let (from, to) = spans.split_once(" +")?;
        let (from, gone) = span(from)?;
        let (_, came) = span(to)?;
        let start = if gone == 0 { from } else { from.checked_sub(1)? };
        if start < done || start.checked_add(gone)? > old.len() {
            return None;
        }
        lines.extend(&old[done..start]);
        done = start + gone;
        for _ in 0..came {
            lines.push(hunks.next()?.strip_prefix('+')?);
        }
    }
    lines.extend(&old[done..]);
    Some(lines.join("\n"))
}

fn span(text: &str) -> Option<(usize, usize)> {
    let (start, count) = text.split_once(',')?;
    Some((start.parse().ok()?, count.parse().ok()?))
}

/// What differs: where in the old lines and how many, where in the new ones and how many.
fn hunks(old: &[&str], new: &[&str]) -> Vec<(usize, usize, usize, usize)> {
    let same_start = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old_rest, new_rest) = (&old[same_start..], &new[same_start..]);
    let ends = old_rest.iter().rev().zip(new_rest.iter().rev());
    let same_end = ends.take_while(|(a, b)| a == b).count();
    let (old_middle, new_middle) = (
        &old_rest[..old_rest.len() - same_end],
        &new_rest[..new_rest.len() - same_end],
    );
    if old_middle.is_empty() && new_middle.is_empty() {
        return Vec::new();
    }
    let (rows, columns) = (old_middle.len(), new_middle.len());
    if rows == 0 || columns == 0 || rows.saturating_mul(columns) > MOST_CELLS {
        return vec![(same_start, rows, same_start, columns)];
    }
    // common[i][j]: lines that the rests from i and from j share in order.
    let width = columns + 1;
    let mut common = vec![0u32; (rows + 1) * width];
    for i in (0..rows).rev() {
        for j in (0..columns).rev() {
            common[i * width + j] = match old_middle[i] == new_middle[j] {
                true => common[(i + 1) * width + j + 1] + 1,
                false => common[(i + 1) * width + j].max(common[i * width + j + 1]),
            };
        }
    }
    let mut found = Vec::new();
    let (mut i, mut j) = (0, 0);
    while i < rows || j < columns {
        let (from, to) = (i, j);
        while i < rows || j < columns {
            if i < rows && j < columns && old_middle[i] == new_middle[j] {
                break;
            }
            let by_old = i < rows && (j == columns || common[(i + 1) * width + j] >= common[i * width + j + 1]);
            if by_old {
                i += 1;
            } else {
                j += 1;
            }
        }
        if i > from || j > to {
            found.push((same_start + from, i - from, same_start + to, j - to));
        }
        while i < rows && j < columns && old_middle[i] == new_middle[j] {
            i += 1;
            j += 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{apply, edit};

    #[test]
    fn an_edit_names_lines_as_diff_does() {
        assert_eq!(edit("a\nb\nc", "a\nx\ny\nc"), "@@ -2,1 +2,2 @@\n+x\n+y");
        assert_eq!(edit("a\nb\nc", "a\nc"), "@@ -2,1 +1,0 @@");
        assert_eq!(edit("a\nc", "a\nb\nc"), "@@ -1,0 +2,1 @@\n+b");
        assert_eq!(edit("a", "a"), "");
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        for wrong in [
            "x",
            "@@ -9,1 +9,0 @@",
            "@@ -1,1 +1,1 @@",
            "@@ -0,1 +1,0 @@",
            "@@ -1,99999999999999999999 +1,0 @@",
        ] {
            assert_eq!(apply("a\nb", wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn an_edit_gives_the_new_text(old in "[ab+@\n-]{0,40}", new in "[ab+@\n-]{0,40}") {
            let changed = edit(&old, &new);
            let applied = apply(&old, &changed);
            prop_assert_eq!(applied.as_deref(), Some(new.as_str()));
        }
    }
}
