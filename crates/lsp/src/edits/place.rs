//! Where an edit goes: lines and columns, or a definition with its indentation, its comment and the blank lines around it.

use std::ops::Range;

use super::{EditError, TextEdit};

/// Lines and columns, counted from one; columns count characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    pub start_line: u32,
    pub start_column: Option<u32>,
    /// The last line that is replaced; none if text is only inserted.
    pub end_line: Option<u32>,
    /// The first column that stays.
    pub end_column: Option<u32>,
}

impl Place {
    /// The edit that puts `new` here. Without columns whole lines are meant: `new` gets the line end that it lacks. A column past the
    /// end of its line means the end, as in the protocol that language servers speak; a line past the end is a mistake.
    pub fn edit(self, path: &str, text: &str, new: &str) -> Result<TextEdit, EditError> {
        let at = |line: u32, column: u32| {
            let range = line_range(text, line).ok_or_else(|| no_line(path, text, line))?;
            offset(text, range, column).ok_or(EditError::OutOfRange { number: 1 })
        };
        let start = at(self.start_line, self.start_column.unwrap_or(1))?;
        let end = match (self.end_line, self.end_column) {
            (None, None) => start,
            (None, Some(column)) => at(self.start_line, column)?,
            (Some(line), Some(column)) => at(line, column)?,
            (Some(line), None) => line_range(text, line).ok_or_else(|| no_line(path, text, line))?.end,
        };
        if end < start {
            return Err(EditError::OutOfRange { number: 1 });
        }
        let whole_lines = self.start_column.is_none() && self.end_column.is_none();
        let is_last = end == text.len() && !text.ends_with('\n');
        let mut new = new.to_owned();
        if whole_lines && !new.is_empty() && !new.ends_with('\n') && !is_last {
            new.push('\n');
        }
        Ok(TextEdit {
            range: start..end,
            text: new,
        })
    }
}

/// A definition in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// All of it, with its decorators.
    pub span: Range<usize>,
    /// Its documentation, if that stands before it.
    pub doc: Option<Range<usize>>,
}

impl Definition {
    /// Replaces the whole definition; its comment stays unless `new` begins with one of its own.
    pub fn replace(&self, text: &str, new: &str) -> TextEdit {
        let indentation = self.indentation(text);
        TextEdit {
            range: self.span.clone(),
            text: indented(new.trim_matches(['\r', '\n']), indentation)
                .trim_start_matches([' ', '\t'])
                .to_owned(),
        }
    }

    /// Puts `new` before the definition and its comment.
    pub fn before(&self, text: &str, new: &str) -> TextEdit {
        let start = self.start_of_line(text);
        let mut inserted = indented(new.trim_matches(['\r', '\n']), self.indentation(text));
        inserted.push('\n');
        if is_blank_before(text, start) {
            inserted.push('\n');
        }
        TextEdit {
            range: start..start,
            text: inserted,
        }
    }

    /// Puts `new` after the definition.
    pub fn after(&self, text: &str, new: &str) -> TextEdit {
        let rest = &text[self.span.end..];
        let line_end = rest.find('\n').map_or(text.len(), |end| self.span.end + end + 1);
        let mut inserted = String::new();
        if !text[..line_end].ends_with('\n') {
            inserted.push('\n');
        }
        if is_blank_before(text, self.start_of_line(text)) || text[line_end..].starts_with(['\n', '\r']) {
            inserted.push('\n');
        }
        inserted.push_str(&indented(new.trim_matches(['\r', '\n']), self.indentation(text)));
        inserted.push('\n');
        TextEdit {
            range: line_end..line_end,
            text: inserted,
        }
    }

    /// Takes the definition away, with its comment, its line ends and one of the gaps around it.
    pub fn delete(&self, text: &str) -> TextEdit {
        let start = self.start_of_line(text);
        let rest = &text[self.span.end..];
        let trailing = rest.find('\n').map_or(rest.len(), |end| end + 1);
        // Something else on the last line stays, whatever it is.
        let mut end = match rest[..trailing].trim().trim_matches([';', ',']) {
            "" => self.span.end + trailing,
            _ => self.span.end,
        };
        if is_blank_before(text, start) || start == 0 {
            while let Some(length) = blank_line(&text[end..]) {
                end += length;
            }
        }
        TextEdit {
            range: start..end,
            text: String::new(),
        }
    }

    /// Where the line begins on which it, or its comment, begins.
    fn start_of_line(&self, text: &str) -> usize {
        let first = match &self.doc {
            Some(doc) if doc.start < self.span.start => doc.start,
            _ => self.span.start,
        };
        let line = text[..first].rfind('\n').map_or(0, |end| end + 1);
        // What stands before it on its line is not its own.
        if text[line..first].trim().is_empty() {
            line
        } else {
            first
        }
    }

    fn indentation<'a>(&self, text: &'a str) -> &'a str {
        let line = text[..self.span.start].rfind('\n').map_or(0, |end| end + 1);
        let before = &text[line..self.span.start];
        &before[..before.len() - before.trim_start_matches([' ', '\t']).len()]
    }
}

/// `new` with every line as deep as `indentation` asks, if it was written without it. The first line is often given bare
/// while the others have their depth, as it is when a definition is copied from its name on.
fn indented(new: &str, indentation: &str) -> String {
    let lines: Vec<&str> = new.split('\n').collect();
    let (first, others) = lines
        .split_first()
        .map_or(("", &[][..]), |(first, others)| (*first, others));
    let is_deep = |line: &str| line.trim().is_empty() || line.starts_with(indentation);
    let shift = |line: &str| match line.trim().is_empty() {
        true => line.to_owned(),
        false => format!("{indentation}{line}"),
    };
    if !indentation.is_empty() && is_deep(first) {
        return new.to_owned();
    }
    let keeps = others.iter().all(|line| is_deep(line)) && others_have_depth(first, others, indentation);
    let others = others
        .iter()
        .map(|line| if keeps { (*line).to_owned() } else { shift(line) });
    std::iter::once(shift(first))
        .chain(others)
        .collect::<Vec<_>>()
        .join("\n")
}

/// Whether the lines after a bare first one already stand at the depth of the definition. Deeper lines do; lines exactly that
/// deep do if they close or continue what the first line began, and are a body at no depth otherwise.
fn others_have_depth(first: &str, others: &[&str], indentation: &str) -> bool {
    let depth = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
    let written = || others.iter().filter(|line| !line.trim().is_empty());
    match written().map(|line| depth(line)).min() {
        Some(least) if least == indentation.len() => {
            let closes = |line: &&&str| line.trim_start().starts_with(['}', ')', ']']) || line.trim() == "end";
            written().next_back().is_some_and(|line| closes(&line)) || first.starts_with(['@', '#', '/', '['])
        }
        Some(least) => least > indentation.len(),
        None => false,
    }
}

fn is_blank_before(text: &str, start: usize) -> bool {
    let before = &text[..start];
    let previous = before.trim_end_matches('\n').len();
    before.len() - previous > 1 || before[..previous].ends_with("\n\r") || before.ends_with("\r\n\r\n")
}

/// The length of the blank line that `text` begins with.
fn blank_line(text: &str) -> Option<usize> {
    let end = text.find('\n')? + 1;
    text[..end].trim().is_empty().then_some(end)
}

/// Bytes of a line, its end included.
fn line_range(text: &str, line: u32) -> Option<Range<usize>> {
    let mut start = 0;
    for _ in 1..line.max(1) {
        start += text[start..].find('\n')? + 1;
    }
    let end = text[start..].find('\n').map_or(text.len(), |end| start + end + 1);
    (line > 0).then_some(start..end)
}

/// Where a column of a line is; its end for one past it.
fn offset(text: &str, line: Range<usize>, column: u32) -> Option<usize> {
    let content = text[line.clone()].trim_end_matches(['\n', '\r']);
    let skipped = (column as usize).checked_sub(1)?;
    let at = content.char_indices().map(|(at, _)| at).nth(skipped);
    Some(line.start + at.unwrap_or(content.len()))
}

fn no_line(path: &str, text: &str, line: u32) -> EditError {
    EditError::NoLine {
        path: path.to_owned(),
        line,
        last: text.lines().count() as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::super::apply;
    use super::*;

    fn definition(text: &str, whole: &str, doc: &str) -> Definition {
        let at = |part: &str| text.find(part).map(|start| start..start + part.len()).unwrap();
        Definition {
            span: at(whole),
            doc: (!doc.is_empty()).then(|| at(doc)),
        }
    }

    fn lines(start_line: u32, end_line: Option<u32>) -> Place {
        Place {
            start_line,
            start_column: None,
            end_line,
            end_column: None,
        }
    }

    #[test]
    fn whole_lines_and_columns() {
        let text = "one\ntwö three\nfour";
        let edited = |place: Place, new: &str| apply(text, &[place.edit("f", text, new).unwrap()]).unwrap();
        assert_eq!(edited(lines(2, Some(2)), "2"), "one\n2\nfour");
        assert_eq!(edited(lines(2, None), "new"), "one\nnew\ntwö three\nfour");
        assert_eq!(edited(lines(3, Some(3)), "4"), "one\ntwö three\n4");
        let columns = Place {
            start_line: 2,
            start_column: Some(5),
            end_line: Some(2),
            end_column: Some(10),
        };
        assert_eq!(edited(columns, "3"), "one\ntwö 3\nfour");
        let past = |place: Place| place.edit("f", text, "x").unwrap_err().to_string();
        assert_eq!(past(lines(9, None)), "line 9 is past the end of `f`, which has 3 lines");
        assert_eq!(
            past(lines(1, Some(9))),
            "line 9 is past the end of `f`, which has 3 lines"
        );
        assert!(lines(0, None).edit("f", text, "x").is_err());
        assert!(lines(3, Some(1)).edit("f", text, "x").is_err());
        let columns = |start_column, end_column| Place {
            start_line: 1,
            start_column: Some(start_column),
            end_line: Some(1),
            end_column: Some(end_column),
        };
        assert_eq!(
            edited(columns(2, 99), "x"),
            "ox\ntwö three\nfour",
            "the end of the line is meant"
        );
        assert_eq!(edited(columns(99, 99), "!"), "one!\ntwö three\nfour");
        assert!(columns(0, 1).edit("f", text, "x").is_err());
    }

    const CLASS: &str =
        "class A:\n    # Says hello.\n    def a(self):\n        return 1\n\n    def b(self):\n        return 2\n";

    #[test]
    fn a_method_is_replaced_at_its_own_depth() {
        let method = definition(CLASS, "def a(self):\n        return 1", "# Says hello.");
        let expected = CLASS.replace("return 1", "return 3");
        for new in [
            "def a(self):\n    return 3",
            "    def a(self):\n        return 3\n",
            "def a(self):\n        return 3",
            "\n    def a(self):\n        return 3",
        ] {
            assert_eq!(
                apply(CLASS, &[method.replace(CLASS, new)]).unwrap(),
                expected,
                "{new:?}"
            );
        }
    }

    #[test]
    fn neighbours_keep_their_distance() {
        let second = definition(CLASS, "def b(self):\n        return 2", "");
        let before = apply(CLASS, &[second.before(CLASS, "def x(self):\n    pass")]).unwrap();
        assert!(
            before.contains("return 1\n\n    def x(self):\n        pass\n\n    def b"),
            "{before}"
        );
        let after = apply(CLASS, &[second.after(CLASS, "def x(self):\n    pass")]).unwrap();
        assert!(
            after.ends_with("return 2\n\n    def x(self):\n        pass\n"),
            "{after}"
        );
        let first = definition(CLASS, "def a(self):\n        return 1", "# Says hello.");
        let above = apply(CLASS, &[first.before(CLASS, "x = 1")]).unwrap();
        assert!(above.starts_with("class A:\n    x = 1\n    # Says hello."), "{above}");
    }

    #[test]
    fn deleting_takes_the_comment_along() {
        let first = definition(CLASS, "def a(self):\n        return 1", "# Says hello.");
        let after = apply(CLASS, &[first.delete(CLASS)]).unwrap();
        assert_eq!(after, "class A:\n\n    def b(self):\n        return 2\n");
        let second = definition(CLASS, "def b(self):\n        return 2", "");
        let after = apply(CLASS, &[second.delete(CLASS)]).unwrap();
        assert_eq!(
            after,
            "class A:\n    # Says hello.\n    def a(self):\n        return 1\n\n"
        );
    }
}
