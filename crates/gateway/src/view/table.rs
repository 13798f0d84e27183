//! Tables hidden in text: CSV, TSV and Markdown, told apart by the first lines, and rows of JSON objects.

use serde_json::{Map, Value};

/// Column names and rows of cells, all of them text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Table {
    pub(crate) columns: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    /// Reads a table when `text` is one: a header and at least two rows, all equally wide.
    pub(crate) fn detect(text: &str) -> Option<Table> {
        markdown(text)
            .or_else(|| delimited(text, '\t'))
            .or_else(|| delimited(text, ','))
    }

    /// Rows as objects, which is how a table leaves: the wire format makes it a table again.
    pub(crate) fn to_value(&self, rows: &[Vec<String>], columns: &[usize]) -> Value {
        let row = |cells: &Vec<String>| {
            let cell = |column: &usize| (self.columns[*column].clone(), Value::from(cells[*column].clone()));
            Value::Object(columns.iter().map(cell).collect::<Map<_, _>>())
        };
        Value::Array(rows.iter().map(row).collect())
    }
}

/// The rows of a JSON value: itself when it is an array, else its only array of objects.
pub(crate) fn json_rows(value: &Value) -> Option<&Vec<Value>> {
    match value {
        Value::Array(items) => Some(items),
        Value::Object(fields) => {
            let mut arrays = fields.values().filter_map(|field| {
                field
                    .as_array()
                    .filter(|items| items.first().is_some_and(Value::is_object))
            });
            let only = arrays.next()?;
            arrays.next().is_none().then_some(only)
        }
        _ => None,
    }
}

fn markdown(text: &str) -> Option<Table> {
    let mut lines = text.lines().map(str::trim).skip_while(|line| line.is_empty());
    let header = cells(lines.next()?)?;
    let rule = cells(lines.next()?)?;
    let is_rule = |cell: &String| cell.contains('-') && cell.chars().all(|c| matches!(c, '-' | ':' | ' '));
    if header.len() < 2 || rule.len() != header.len() || !rule.iter().all(is_rule) {
        return None;
    }
    let mut rows = Vec::new();
    for line in lines {
        if line.is_empty() {
            continue;
        }
        rows.push(cells(line).filter(|row| row.len() == header.len())?);
    }
    (rows.len() >= 2).then_some(Table { columns: header, rows })
}

fn cells(line: &str) -> Option<Vec<String>> {
    let inner = line.strip_prefix('|')?.strip_suffix('|')?;
    Some(inner.split('|').map(|cell| cell.trim().to_owned()).collect())
}

fn delimited(text: &str, delimiter: char) -> Option<Table> {
    let first = text.lines().next()?;
    // Prose has commas too: a header is at least two short cells.
    if !first.contains(delimiter) || first.len() > 2000 {
        return None;
    }
    let mut records = Records { rest: text, delimiter };
    let columns = records.next()?;
    let is_name =
        |cell: &String| !cell.trim().is_empty() && cell.len() <= 64 && !cell.trim().ends_with(['.', '!', '?']);
    if columns.len() < 2 || !columns.iter().all(is_name) {
        return None;
    }
    let mut rows = Vec::new();
    for row in records {
        if row.len() == 1 && row[0].trim().is_empty() {
            continue;
        }
        if row.len() != columns.len() {
            return None;
        }
        rows.push(row);
    }
    (rows.len() >= 2).then_some(Table { columns, rows })
}

/// Splits delimited text into records, with RFC 4180 quotes.
struct Records<'a> {
    rest: &'a str,
    delimiter: char,
}

impl Iterator for Records<'_> {
    type Item = Vec<String>;

    fn next(&mut self) -> Option<Vec<String>> {
        if self.rest.is_empty() {
            return None;
        }
        let mut record = Vec::new();
        let mut cell = String::new();
        let mut quoted = false;
        let mut characters = self.rest.char_indices().peekable();
        while let Some((_, character)) = characters.next() {
            match character {
                '"' if quoted => {
                    if characters.next_if(|(_, next)| *next == '"').is_some() {
                        cell.push('"');
                    } else {
                        quoted = false;
                    }
                }
                '"' if cell.is_empty() => quoted = true,
                '\r' if !quoted => {}
                '\n' if !quoted => break,
                _ if character == self.delimiter && !quoted => record.push(std::mem::take(&mut cell)),
                _ => cell.push(character),
            }
        }
        record.push(cell);
        self.rest = characters.peek().map_or("", |(offset, _)| &self.rest[*offset..]);
        Some(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_three_kinds_are_read() {
        let csv = Table::detect("id,name\n1,\"a, b\"\n2,\"say \"\"hi\"\"\"\n").unwrap();
        assert_eq!(csv.columns, ["id", "name"]);
        assert_eq!(csv.rows, [["1", "a, b"], ["2", "say \"hi\""]]);
        assert_eq!(
            Table::detect("a\tb\n1\t2\n3\t4").unwrap().rows,
            [["1", "2"], ["3", "4"]]
        );
        let markdown = Table::detect("| a | b |\n|---|:-:|\n| 1 | 2 |\n| 3 | 4 |\n").unwrap();
        assert_eq!(markdown.rows, [["1", "2"], ["3", "4"]]);
        assert_eq!(
            markdown.to_value(&markdown.rows[..1], &[1]).to_string(),
            r#"[{"b":"2"}]"#
        );
    }

    #[test]
    fn prose_is_no_table() {
        for text in [
            "Hello, world.\nThis is text, too.\nAnd more, yes.",
            "a,b\n1,2,3\n4,5",
            "a,b\n1,2",
            "",
            "x",
        ] {
            assert!(Table::detect(text).is_none(), "{text}");
        }
    }
}
