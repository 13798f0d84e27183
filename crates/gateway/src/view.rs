//! `tool_view`: one slice of something kept aside. Every selector is cheap to write, and no answer is over the cap.

pub(crate) mod json_path;
pub(crate) mod table;

use std::fmt::Write as _;

use regex::{Regex, RegexBuilder};
use serde_json::{Value, json};

use crate::artifacts::Artifact;
use crate::errors::{ErrorCode, GatewayError};
use json_path::{Found, JsonPath};
use table::Table;

/// Lines that `head`, `tail` and no selector at all give.
const DEFAULT_LINES: usize = 40;
/// Rows that `rows` gives without numbers.
const DEFAULT_ROWS: usize = 20;
const MOST_KEYS: usize = 1000;

/// Which slice.
#[derive(Clone, Debug)]
pub(crate) enum Selector {
    /// The first lines.
    Head(usize),
    /// The last lines.
    Tail(usize),
    /// Lines `start` to `end`, from 1, both included.
    Lines {
        start: usize,
        end: usize,
    },
    /// The first or some characters, for clients that count them.
    Characters(usize),
    /// Lines that match, with some around them.
    Grep {
        pattern: Regex,
        context: usize,
    },
    Path(JsonPath),
    /// The keys at a path, with what each holds.
    Keys(JsonPath),
    /// Only these keys of the object.
    Pick(Vec<String>),
    /// Rows `start` to `end` (from 0, end excluded) of a table, some of its columns.
    Rows {
        start: usize,
        end: usize,
        columns: Vec<String>,
    },
    /// Bytes `start` to `end` (end excluded).
    Bytes {
        start: usize,
        end: usize,
    },
}

/// What a view gives.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Slice {
    Text(String),
    /// A value to be encoded by whoever sends it.
    Value(Value),
}

impl Selector {
    /// Reads a selector: an object with one of the selector keys, the older `{"type": …}` spelling, a bare path, or nothing.
    pub(crate) fn parse(selector: Option<&Value>) -> Result<Selector, GatewayError> {
        match selector {
            None | Some(Value::Null) => Ok(Selector::Head(DEFAULT_LINES)),
            Some(Value::String(text)) => match text.trim() {
                "" | "head" => Ok(Selector::Head(DEFAULT_LINES)),
                "tail" => Ok(Selector::Tail(DEFAULT_LINES)),
                "keys" => Ok(Selector::Keys(JsonPath::default())),
                "rows" => Ok(Selector::Rows {
                    start: 0,
                    end: DEFAULT_ROWS,
                    columns: Vec::new(),
                }),
                // Some clients send the object as a string.
                text if text.starts_with('{') => match serde_json::from_str(text) {
                    Ok(value @ Value::Object(_)) => Selector::parse(Some(&value)),
                    _ => Err(invalid("the selector is not valid JSON")),
                },
                text => Ok(Selector::Path(path(text)?)),
            },
            Some(Value::Object(fields)) => match fields.get("type").and_then(Value::as_str) {
                Some(kind) => typed(kind, selector.unwrap_or(&Value::Null)),
                None => keyed(selector.unwrap_or(&Value::Null)),
            },
            Some(_) => Err(invalid("the selector must be an object")),
        }
    }
}

fn keyed(selector: &Value) -> Result<Selector, GatewayError> {
    let Some(fields) = selector.as_object() else {
        return Err(invalid("the selector must be an object"));
    };
    let mut chosen = None;
    for (key, value) in fields {
        let parsed = match key.as_str() {
            "head" => Selector::Head(count(key, value, DEFAULT_LINES)?),
            "tail" => Selector::Tail(count(key, value, DEFAULT_LINES)?),
            "lines" => {
                let (start, end) = range(key, value)?;
                Selector::Lines {
                    start: start.max(1),
                    end: end.unwrap_or(start + DEFAULT_LINES - 1),
                }
            }
            "grep" => Selector::Grep {
                pattern: pattern(value, fields)?,
                context: context(fields)?,
            },
            "path" | "json_path" => Selector::Path(path(text(key, value)?)?),
            "keys" => match value {
                Value::String(at) => Selector::Keys(path(at)?),
                Value::Array(_) => Selector::Pick(texts(key, value)?),
                _ => Selector::Keys(JsonPath::default()),
            },
            "rows" => {
                let (start, end) = range(key, value)?;
                let columns = fields
                    .get("columns")
                    .map_or(Ok(Vec::new()), |columns| texts("columns", columns))?;
                Selector::Rows {
                    start,
                    end: end.unwrap_or(start + DEFAULT_ROWS),
                    columns,
                }
            }
            "columns" if !fields.contains_key("rows") => Selector::Rows {
                start: 0,
                end: DEFAULT_ROWS,
                columns: texts(key, value)?,
            },
            "bytes" => {
                let (start, end) = range(key, value)?;
                Selector::Bytes {
                    start,
                    end: end.unwrap_or(start.saturating_add(4096)),
                }
            }
            "context" | "ignore_case" | "columns" => continue,
            _ => return Err(invalid(&format!("unknown selector `{key}`; {KNOWN}"))),
        };
        if chosen.replace(parsed).is_some() {
            return Err(invalid("give one selector at a time"));
        }
    }
    chosen.ok_or_else(|| invalid(&format!("the selector names nothing; {KNOWN}")))
}

const KNOWN: &str = "use one of head, tail, lines, grep, path, keys, rows, bytes";

/// The spelling other gateways use.
fn typed(kind: &str, selector: &Value) -> Result<Selector, GatewayError> {
    let number = |key: &str, default: usize| match selector.get(key) {
        None | Some(Value::Null) => Ok(default),
        Some(value) => count(key, value, default),
    };
    match kind {
        "head" if selector.get("lines").is_none() => Ok(Selector::Characters(number("chars", 500)?)),
        "head" => Ok(Selector::Head(number("lines", DEFAULT_LINES)?)),
        "tail" => Ok(Selector::Tail(number("lines", DEFAULT_LINES)?)),
        "lines" => {
            let start = number("start", 0)?;
            Ok(Selector::Lines {
                start: start + 1,
                end: number("end", start + DEFAULT_LINES)?,
            })
        }
        "rows" => {
            let start = number("start", 0)?;
            Ok(Selector::Rows {
                start,
                end: number("end", start + DEFAULT_ROWS)?,
                columns: Vec::new(),
            })
        }
        "json_keys" => Ok(Selector::Pick(texts(
            "keys",
            selector.get("keys").unwrap_or(&Value::Null),
        )?)),
        _ => Err(invalid(&format!("unknown selector type `{kind}`; {KNOWN}"))),
    }
}

/// Cuts the slice out of `artifact`. Values come back as values; the caller encodes and caps them.
pub(crate) fn select(artifact: &Artifact, selector: &Selector) -> Result<Slice, GatewayError> {
    if let Selector::Bytes { start, end } = selector {
        return Ok(Slice::Text(bytes(&artifact.body, *start, *end)));
    }
    let Some(text) = artifact.text() else {
        return Err(failed(&format!("this is {}, not text; use bytes", artifact.media_type)));
    };
    match selector {
        Selector::Head(lines) => Ok(Slice::Text(lines_of(text, 1, *lines))),
        Selector::Tail(lines) => {
            let total = text.lines().count();
            Ok(Slice::Text(lines_of(text, total.saturating_sub(*lines) + 1, total)))
        }
        Selector::Lines { start, end } => Ok(Slice::Text(lines_of(text, *start, *end))),
        Selector::Characters(most) => Ok(Slice::Text(text.chars().take(*most).collect())),
        Selector::Grep { pattern, context } => Ok(Slice::Text(grep(text, pattern, *context))),
        Selector::Path(path) => match path.find(&parse_json(text)?) {
            Found::One(value) => Ok(Slice::Value(value.clone())),
            Found::Many(values) => Ok(Slice::Value(Value::Array(values.into_iter().cloned().collect()))),
            Found::Nothing => Err(failed("the path leads nowhere; look at its keys first")),
        },
        Selector::Keys(path) => match path.find(&parse_json(text)?) {
            Found::One(Value::Object(fields)) => {
                let described = fields
                    .iter()
                    .take(MOST_KEYS)
                    .map(|(key, value)| (key.clone(), kind(value).into()));
                Ok(Slice::Value(Value::Object(described.collect())))
            }
            Found::One(Value::Array(items)) => Ok(Slice::Text(format!("array of {}", items.len()))),
            Found::One(other) => Ok(Slice::Text(kind(other))),
            Found::Many(values) => Ok(Slice::Text(format!(
                "{} values; keys needs a path to one",
                values.len()
            ))),
            Found::Nothing => Err(failed("the path leads nowhere")),
        },
        Selector::Pick(keys) => {
            let root = parse_json(text)?;
            let Value::Object(fields) = &root else {
                return Err(failed("this is not an object; use path"));
            };
            let picked = keys
                .iter()
                .filter_map(|key| Some((key.clone(), fields.get(key)?.clone())));
            Ok(Slice::Value(Value::Object(picked.collect())))
        }
        Selector::Rows { start, end, columns } => rows(text, *start, *end, columns),
        Selector::Bytes { .. } => Err(failed("bytes need no text")),
    }
}

/// What a value is, in a word or two.
pub(crate) fn kind(value: &Value) -> String {
    match value {
        Value::Null => "null".into(),
        Value::Bool(_) => "bool".into(),
        Value::Number(_) => "number".into(),
        Value::String(text) => format!("string[{}]", text.len()),
        Value::Array(items) => format!("array[{}]", items.len()),
        Value::Object(fields) => format!("object[{}]", fields.len()),
    }
}

fn rows(text: &str, start: usize, end: usize, columns: &[String]) -> Result<Slice, GatewayError> {
    if let Ok(root) = serde_json::from_str::<Value>(text) {
        let items = table::json_rows(&root).ok_or_else(|| failed("there are no rows here; use path"))?;
        let chosen = items
            .get(start.min(items.len())..end.clamp(start.min(items.len()), items.len()))
            .unwrap_or_default();
        let project = |row: &Value| match row {
            Value::Object(fields) if !columns.is_empty() => {
                let kept = columns
                    .iter()
                    .filter_map(|name| Some((name.clone(), fields.get(name)?.clone())));
                Value::Object(kept.collect())
            }
            other => other.clone(),
        };
        return Ok(Slice::Value(Value::Array(chosen.iter().map(project).collect())));
    }
    let table = Table::detect(text).ok_or_else(|| failed("this is not a table; use lines or grep"))?;
    let wanted: Vec<usize> = if columns.is_empty() {
        (0..table.columns.len()).collect()
    } else {
        let find = |name: &String| {
            let unknown = || failed(&format!("no column `{name}`; there are {}", table.columns.join(", ")));
            table
                .columns
                .iter()
                .position(|column| column == name)
                .ok_or_else(unknown)
        };
        columns.iter().map(find).collect::<Result<_, _>>()?
    };
    let start = start.min(table.rows.len());
    Ok(Slice::Value(table.to_value(
        &table.rows[start..end.clamp(start, table.rows.len())],
        &wanted,
    )))
}

fn lines_of(text: &str, start: usize, end: usize) -> String {
    let wanted = (end + 1).saturating_sub(start.max(1));
    let mut out = String::new();
    for line in text.lines().skip(start.max(1) - 1).take(wanted) {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(line);
    }
    out
}

/// Matching lines as `number:line`, lines around them as `number-line`, `--` between groups that do not touch.
fn grep(text: &str, pattern: &Regex, context: usize) -> String {
    const MOST_MATCHES: usize = 1000;
    let lines: Vec<&str> = text.lines().collect();
    let matches: Vec<usize> = (0..lines.len())
        .filter(|line| pattern.is_match(lines[*line]))
        .take(MOST_MATCHES)
        .collect();
    if matches.is_empty() {
        return format!("no line of {} matches", lines.len());
    }
    let mut out = String::new();
    let mut next = 0;
    for (position, line) in matches.iter().enumerate() {
        let first = line.saturating_sub(context).max(next);
        if context > 0 && first > next && position > 0 {
            out.push_str("--\n");
        }
        let until = (line + context + 1).min(lines.len());
        for (shown, content) in lines.iter().enumerate().take(until).skip(first) {
            let mark = if matches.binary_search(&shown).is_ok() {
                ':'
            } else {
                '-'
            };
            let _ = writeln!(out, "{}{mark}{content}", shown + 1);
        }
        next = until.max(next);
    }
    out.truncate(out.trim_end_matches('\n').len());
    out
}

fn bytes(body: &[u8], start: usize, end: usize) -> String {
    use base64::Engine;
    let start = start.min(body.len());
    let slice = &body[start..end.clamp(start, body.len())];
    match std::str::from_utf8(slice) {
        Ok(text) => text.to_owned(),
        Err(_) => format!("base64:{}", base64::engine::general_purpose::STANDARD.encode(slice)),
    }
}

fn parse_json(text: &str) -> Result<Value, GatewayError> {
    serde_json::from_str(text).map_err(|_| failed("this is not JSON; use lines, grep or rows"))
}

fn path(text: &str) -> Result<JsonPath, GatewayError> {
    JsonPath::parse(text).map_err(|reason| invalid(&reason))
}

fn pattern(value: &Value, fields: &serde_json::Map<String, Value>) -> Result<Regex, GatewayError> {
    let text = text("grep", value)?;
    if text.len() > 1000 {
        return Err(invalid("the pattern is too long"));
    }
    let ignore_case = fields.get("ignore_case").and_then(Value::as_bool).unwrap_or(false);
    RegexBuilder::new(text)
        .case_insensitive(ignore_case)
        .size_limit(1 << 20)
        .build()
        // A model that searches for `foo(` means the text, not a group.
        .or_else(|_| {
            RegexBuilder::new(&regex::escape(text))
                .case_insensitive(ignore_case)
                .build()
        })
        .map_err(|_| invalid("the pattern is not a regular expression"))
}

fn context(fields: &serde_json::Map<String, Value>) -> Result<usize, GatewayError> {
    fields
        .get("context")
        .map_or(Ok(0), |value| count("context", value, 0))
        .map(|context| context.min(100))
}

fn count(key: &str, value: &Value, default: usize) -> Result<usize, GatewayError> {
    match value {
        Value::Bool(true) | Value::Null => Ok(default),
        Value::Object(fields) if fields.is_empty() => Ok(default),
        Value::String(text) => text.trim().parse().map_err(|_| not_a_number(key)),
        _ => value
            .as_u64()
            .and_then(|number| usize::try_from(number).ok())
            .ok_or_else(|| not_a_number(key)),
    }
}

/// `[start, end]`, `start`, or `"start:end"` (also with `-`).
fn range(key: &str, value: &Value) -> Result<(usize, Option<usize>), GatewayError> {
    match value {
        Value::Array(items) if !items.is_empty() && items.len() <= 2 => Ok((
            count(key, &items[0], 0)?,
            items.get(1).map(|end| count(key, end, 0)).transpose()?,
        )),
        Value::Number(_) => Ok((count(key, value, 0)?, None)),
        Value::String(text) => {
            let (start, end) = text.split_once([':', '-']).unwrap_or((text, ""));
            let number = |part: &str| part.trim().parse::<usize>().map_err(|_| not_a_number(key));
            let end = if end.trim().is_empty() {
                None
            } else {
                Some(number(end)?)
            };
            Ok((if start.trim().is_empty() { 0 } else { number(start)? }, end))
        }
        Value::Bool(true) | Value::Null => Ok((0, None)),
        Value::Object(fields) => {
            let number = |name: &str| fields.get(name).map(|value| count(key, value, 0)).transpose();
            Ok((number("start")?.unwrap_or(0), number("end")?))
        }
        _ => Err(invalid(&format!("`{key}` takes [start, end]"))),
    }
}

fn text<'a>(key: &str, value: &'a Value) -> Result<&'a str, GatewayError> {
    value
        .as_str()
        .ok_or_else(|| invalid(&format!("`{key}` takes a string")))
}

fn texts(key: &str, value: &Value) -> Result<Vec<String>, GatewayError> {
    let list = |items: &Vec<Value>| {
        items
            .iter()
            .map(|item| item.as_str().map(str::to_owned))
            .collect::<Option<Vec<_>>>()
    };
    match value {
        Value::Array(items) => list(items).ok_or_else(|| invalid(&format!("`{key}` takes a list of strings"))),
        Value::String(text) => Ok(text.split(',').map(|part| part.trim().to_owned()).collect()),
        _ => Err(invalid(&format!("`{key}` takes a list of strings"))),
    }
}

fn not_a_number(key: &str) -> GatewayError {
    invalid(&format!("`{key}` takes a number that is not negative"))
}

fn invalid(message: &str) -> GatewayError {
    GatewayError::new(ErrorCode::ArgsInvalid, message)
}

fn failed(message: &str) -> GatewayError {
    GatewayError::new(ErrorCode::ViewFailed, message)
}

/// An unknown or expired handle. Another session's handle reads the same, so that nobody can probe for it.
pub(crate) fn unknown_handle(handle: &str) -> GatewayError {
    failed("no such handle in this session; it may have expired").with_detail("handle", json!(handle))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn artifact(text: &str) -> Artifact {
        Artifact {
            media_type: "text/plain".into(),
            label: "text".into(),
            body: text.as_bytes().to_vec(),
            original_length: text.len(),
        }
    }

    fn view(text: &str, selector: Value) -> String {
        let selector = match Selector::parse(Some(&selector)) {
            Ok(selector) => selector,
            Err(error) => return format!("{} {}", error.code, error.message()),
        };
        match select(&artifact(text), &selector) {
            Ok(Slice::Text(text)) => text,
            Ok(Slice::Value(value)) => value.to_string(),
            Err(error) => format!("{} {}", error.code, error.message()),
        }
    }

    #[test]
    fn lines_from_both_ends_and_the_middle() {
        let text = "one\ntwo\nthree\nfour\n";
        assert_eq!(view(text, json!({"head": 2})), "one\ntwo");
        assert_eq!(view(text, json!({"tail": 2})), "three\nfour");
        assert_eq!(view(text, json!({"lines": [2, 3]})), "two\nthree");
        assert_eq!(view(text, json!({"lines": "2-3"})), "two\nthree");
        assert_eq!(view(text, json!({"lines": [9, 12]})), "");
        assert_eq!(view(text, json!({"bytes": [0, 5]})), "one\nt");
        assert_eq!(view(text, json!({"type": "lines", "start": 1, "end": 2})), "two");
        assert_eq!(view(text, json!({"type": "head", "chars": 3})), "one");
    }

    #[test]
    fn grep_numbers_its_lines() {
        let text = "a\nb error\nc\nd\ne\nf error\n";
        assert_eq!(
            view(text, json!({"grep": "ERROR", "ignore_case": true})),
            "2:b error\n6:f error"
        );
        assert_eq!(
            view(text, json!({"grep": "error", "context": 1})),
            "1-a\n2:b error\n3-c\n--\n5-e\n6:f error"
        );
        assert_eq!(view("f(x", json!({"grep": "f("})), "1:f(x");
        assert_eq!(view(text, json!({"grep": "zzz"})), "no line of 6 matches");
    }

    #[test]
    fn json_by_path_key_and_row() {
        let text = r#"{"total":2,"items":[{"id":1,"name":"a","x":0},{"id":2,"name":"b","x":0}]}"#;
        assert_eq!(view(text, json!({"path": "$.items[*].id"})), "[1,2]");
        assert_eq!(view(text, json!("items[1].name")), "\"b\"");
        assert_eq!(
            view(text, json!({"keys": "$"})),
            r#"{"total":"number","items":"array[2]"}"#
        );
        assert_eq!(view(text, json!({"keys": ["total"]})), r#"{"total":2}"#);
        assert_eq!(
            view(text, json!({"rows": [0, 1], "columns": ["id", "name"]})),
            r#"[{"id":1,"name":"a"}]"#
        );
        assert_eq!(
            view("a,b\n1,2\n3,4\n", json!({"rows": [1, 2], "columns": ["b"]})),
            r#"[{"b":"4"}]"#
        );
        assert!(view("a,b\n1,2\n3,4\n", json!({"columns": ["z"]})).contains("there are a, b"));
    }

    #[test]
    fn mistakes_say_what_to_do() {
        assert!(view("x", json!({"heads": 1})).starts_with("ARGS_INVALID unknown selector `heads`"));
        assert!(view("x", json!({"head": -1})).starts_with("ARGS_INVALID"));
        assert!(view("x", json!({"head": 1, "tail": 1})).contains("one selector"));
        assert!(view("x", json!({"path": "$.a"})).starts_with("VIEW_FAILED this is not JSON"));
        assert!(view("x", json!(7)).starts_with("ARGS_INVALID"));
    }

    #[test]
    fn bytes_that_are_no_text_come_as_base64() {
        let binary = Artifact {
            media_type: "image/png".into(),
            label: "image".into(),
            body: vec![0xff; 4],
            original_length: 4,
        };
        let selector = Selector::parse(Some(&json!({"bytes": [0, 3]}))).unwrap();
        assert_eq!(select(&binary, &selector).unwrap(), Slice::Text("base64:////".into()));
        assert!(select(&binary, &Selector::parse(None).unwrap()).is_err());
    }
}
