//! Code-graph fixtures: one text with several files and, under each line, caret comments that say what is expected there.
//!
//! `//- path` starts a file. A comment whose text is carets and words marks the columns above it on the nearest line that
//! is no such comment; `<-` marks column 0. Marks stay in the files as comments, so line numbers are those of the text.
//!
//! ```text
//! //- app.py
//! hi()
//! # <- calls lib.py:greet
//! //- lib.py
//! def greet(): ...
//! #   ^^^^^ def
//! ```

/// A parsed fixture.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Fixture {
    /// In order of path.
    pub files: Vec<FixtureFile>,
}

/// One file of a fixture.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct FixtureFile {
    /// As written after `//-`.
    pub path: String,
    /// Its lines, marks included.
    pub text: String,
    /// What is expected in it, in order.
    pub marks: Vec<Mark>,
}

/// One expectation.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Mark {
    /// 1-based.
    pub line: u32,
    /// 0-based, in bytes.
    pub column: u32,
    /// The words after the carets.
    pub text: String,
}

impl Fixture {
    /// Parses a fixture.
    ///
    /// # Panics
    ///
    /// When there is text before the first `//-` line, or a mark without a line above: a test that expects nothing must not
    /// pass.
    pub fn parse(text: &str) -> Fixture {
        let mut fixture = Fixture::default();
        let mut line = 0;
        let mut marked = 0;
        for source in text.lines() {
            if let Some(path) = source.trim_start().strip_prefix("//- ") {
                fixture.files.push(FixtureFile {
                    path: path.trim().to_string(),
                    ..FixtureFile::default()
                });
                (line, marked) = (0, 0);
                continue;
            }
            let Some(file) = fixture.files.last_mut() else {
                assert!(source.trim().is_empty(), "text before the first `//- path`: {source}");
                continue;
            };
            line += 1;
            file.text.push_str(source);
            file.text.push('\n');
            match mark(source) {
                Some((column, words)) => {
                    assert!(marked > 0, "a mark without a line above it in {}: {source}", file.path);
                    for text in words.split(';') {
                        file.marks.push(Mark {
                            line: marked,
                            column,
                            text: text.trim().to_string(),
                        });
                    }
                }
                None => marked = line,
            }
        }
        fixture.files.sort_by(|left, right| left.path.cmp(&right.path));
        fixture
    }
}

/// Column and words of a line that is a mark.
fn mark(line: &str) -> Option<(u32, &str)> {
    let trimmed = line.trim_start();
    let comment = ["//", "#", "--", ";", "%"]
        .into_iter()
        .find(|comment| trimmed.starts_with(comment))?;
    let rest = &trimmed[comment.len()..];
    let body = rest.trim_start();
    if let Some(words) = body.strip_prefix("<-") {
        return Some((0, words.trim()));
    }
    let carets = body.bytes().take_while(|&byte| byte == b'^').count();
    let words = body.get(carets..)?;
    (carets > 0 && words.starts_with(' ')).then(|| ((line.len() - body.len()) as u32, words.trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_point_at_the_line_above() {
        let fixture = Fixture::parse(
            "//- b.py\nx()\n# <- calls a.py:x; reads a.py:y\n//- a.py\ndef x(): ...\n#   ^ def\n#   ^ more\n",
        );
        let paths: Vec<&str> = fixture.files.iter().map(|file| file.path.as_str()).collect();
        assert_eq!(paths, ["a.py", "b.py"]);
        let mark = |line, column, text: &str| Mark {
            line,
            column,
            text: text.to_string(),
        };
        assert_eq!(fixture.files[0].marks, [mark(1, 4, "def"), mark(1, 4, "more")]);
        assert_eq!(
            fixture.files[1].marks,
            [mark(1, 0, "calls a.py:x"), mark(1, 0, "reads a.py:y")]
        );
    }

    #[test]
    fn a_plain_comment_is_no_mark() {
        assert_eq!(mark("# x ^ y"), None);
        assert_eq!(mark("x ^ y"), None);
        assert_eq!(mark("    //  ^^ calls x"), Some((8, "calls x")));
    }
}
