//! Writing sections by hand: a header, rows of plain text, comments. What the typed encoders do not need, tools that
//! forward or edit payloads do.

use super::error::{Error, ErrorKind, Result};
use super::text;

/// Writes sections one after the other.
#[derive(Debug, Default)]
pub struct Writer {
    out: String,
    fields: usize,
}

impl Writer {
    /// A writer with no section yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens a section. Entries are sorted; names and values that a header cannot hold are refused.
    pub fn section(&mut self, tool: &str, fields: &[&str], entries: &[(&str, &str)]) -> Result<()> {
        let name = |what: &str, name: &str| {
            if text::is_name(name) {
                return Ok(());
            }
            let expected = "a name without spaces, commas, backslashes and control characters";
            Err(Error::value(
                ErrorKind::Schema,
                format!("the {what} `{name}`"),
                expected,
                "rename it",
            ))
        };
        name("tool", tool)?;
        for field in fields {
            name("field", field)?;
        }
        if fields.is_empty() {
            return Err(Error::value(
                ErrorKind::Schema,
                "no field",
                "at least one",
                "name a column",
            ));
        }
        let mut entries = entries.to_vec();
        entries.sort_unstable();
        let mut header = format!("GCX1 tool={tool} fields={}", fields.join(","));
        for (key, value) in entries {
            name("entry", key)?;
            if matches!(key, "tool" | "fields") || key.contains('=') {
                return Err(Error::value(
                    ErrorKind::Schema,
                    format!("an entry `{key}`"),
                    "another name",
                    "it would replace the header's own",
                ));
            }
            if value.contains([' ', '\r']) {
                let found = format!("a space or CR in the entry `{key}`");
                return Err(Error::value(
                    ErrorKind::Schema,
                    found,
                    "a value without",
                    "put prose into a row",
                ));
            }
            header.push(' ');
            header.push_str(key);
            header.push('=');
            header.push_str(&escaped(value));
        }
        header.push('\n');
        self.out.push_str(&header);
        self.fields = fields.len();
        Ok(())
    }

    /// Writes a row; missing values at the end are empty, too many are refused. CR is left out, as the format has it.
    pub fn row(&mut self, values: &[&str]) -> Result<()> {
        if values.len() > self.fields {
            let (found, expected) = (format!("{} values", values.len()), format!("at most {}", self.fields));
            return Err(Error::value(
                ErrorKind::RowTooLong,
                found,
                expected,
                "open a section with more fields",
            ));
        }
        if self.fields == 1 && values.first().is_none_or(|value| value.is_empty()) {
            return Err(Error::value(
                ErrorKind::Schema,
                "an empty value alone in its row",
                "a second column",
                "decoders skip blank lines",
            ));
        }
        for at in 0..self.fields {
            if at > 0 {
                self.out.push('\t');
            }
            let value = escaped(values.get(at).copied().unwrap_or_default());
            if at == 0 && (value.starts_with('#') || value.starts_with("GCX1")) {
                self.out.push('\\');
            }
            self.out.push_str(&value);
        }
        self.out.push('\n');
        Ok(())
    }

    /// Writes a comment, which any reader may drop: never put data in one.
    pub fn comment(&mut self, comment: &str) {
        self.out.push_str("# ");
        self.out.push_str(&comment.replace('\r', "").replace('\n', " "));
        self.out.push('\n');
    }

    /// The text so far.
    pub fn finish(self) -> String {
        self.out
    }
}

fn escaped(value: &str) -> String {
    if text::first_special(value.as_bytes()).is_none() {
        return value.to_owned();
    }
    value
        .replace('\\', "\\\\")
        .replace('\t', "\\t")
        .replace('\n', "\\n")
        .replace('\r', "")
}
