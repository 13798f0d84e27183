//! Excerpts of source as plain text, the one form of every answer that is read and not decoded: the place as
//! `path:first-last  Owner.name`, then its lines as the `Read` of most clients prints them, `number<TAB>text`.
//!
//! ```text
//! src/client.py:40-58  Client.send
//! 40<TAB>    def send(self, request):
//! …
//! 52<TAB>        raise TooManyRedirects(request)
//! ```
//!
//! A lone `…` says that lines between two others were left out.

use std::fmt::Write;

use serde::{Deserialize, Serialize};

/// A stretch of one file, and those of its lines that are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Excerpt {
    /// The file, as a full path below the root.
    pub path: String,
    /// The first line of the stretch.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// The symbol that the stretch is, as `Owner.name`; empty where it is none.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// The lines shown, in the order of the file.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Line>,
}

/// One line of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// Its number, from 1.
    pub line: u32,
    /// What it says, without its end.
    pub text: String,
}

/// What a heading is made of: `path:first-last  name`.
pub fn write_heading(out: &mut String, path: &str, first: u32, last: u32, name: &str) {
    // Writing to a string cannot fail.
    let _ = match first == last {
        true => write!(out, "{path}:{first}"),
        false => write!(out, "{path}:{first}-{last}"),
    };
    if !name.is_empty() {
        let _ = write!(out, "  {name}");
    }
    out.push('\n');
}

/// Numbered lines; where numbers are left out, a lone `…`.
pub fn write_lines(out: &mut String, lines: &[Line]) {
    let mut expected = None;
    for line in lines {
        if expected.is_some_and(|expected| expected != line.line) {
            out.push_str("…\n");
        }
        let _ = writeln!(out, "{}\t{}", line.line, line.text.trim_end());
        expected = Some(line.line + 1);
    }
}

impl Excerpt {
    /// The heading and the lines below it.
    pub fn write(&self, out: &mut String) {
        write_heading(out, &self.path, self.first, self.last, &self.name);
        write_lines(out, &self.lines);
    }
}

#[cfg(test)]
mod tests {
    use super::{Excerpt, Line};

    fn written(first: u32, last: u32, name: &str, lines: &[(u32, &str)]) -> String {
        let excerpt = Excerpt {
            path: "src/client.py".to_owned(),
            first,
            last,
            name: name.to_owned(),
            lines: lines
                .iter()
                .map(|&(line, text)| Line {
                    line,
                    text: text.to_owned(),
                })
                .collect(),
        };
        let mut out = String::new();
        excerpt.write(&mut out);
        out
    }

    #[test]
    fn lines_that_were_left_out_between_others_are_marked() {
        let text = written(
            40,
            58,
            "Client.send",
            &[(40, "def send(self):"), (41, "    x = 1  "), (52, "    raise X")],
        );
        assert_eq!(
            text,
            "src/client.py:40-58  Client.send\n40\tdef send(self):\n41\t    x = 1\n…\n52\t    raise X\n"
        );
    }

    #[test]
    fn a_place_of_one_line_has_one_number() {
        assert_eq!(written(7, 7, "", &[]), "src/client.py:7\n");
    }
}
