//! A small path into JSON: `$.items[0].name`, `items[*].id`, `rows[10:20]`, `['odd key'][-1]`, or a pointer such as `/items/0`.

use serde_json::Value;

/// A parsed path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JsonPath {
    steps: Vec<Step>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Key(String),
    Index(i64),
    Slice { start: Option<i64>, end: Option<i64> },
    All,
}

/// What a path leads to: one value, or the values a wildcard or slice selected.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Found<'a> {
    One(&'a Value),
    Many(Vec<&'a Value>),
    Nothing,
}

/// Most values one path may select.
const MOST_VALUES: usize = 100_000;

impl JsonPath {
    pub(crate) fn parse(text: &str) -> Result<JsonPath, String> {
        let text = text.trim();
        if let Some(pointer) = text.strip_prefix('/') {
            let steps = pointer
                .split('/')
                .map(|token| Step::Key(token.replace("~1", "/").replace("~0", "~")))
                .collect();
            return Ok(JsonPath { steps });
        }
        let mut rest = text.strip_prefix('$').unwrap_or(text);
        let mut steps = Vec::new();
        while !rest.is_empty() {
            if let Some(inside) = rest.strip_prefix('[') {
                let (step, after) = bracket(inside)?;
                steps.push(step);
                rest = after;
                continue;
            }
            rest = rest.strip_prefix('.').unwrap_or(rest);
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            match &rest[..end] {
                "" if end == 0 && rest.starts_with('[') => {}
                "" => return Err(format!("empty step in the path `{text}`")),
                "*" => steps.push(Step::All),
                key => steps.push(Step::Key(key.to_owned())),
            }
            rest = &rest[end..];
        }
        Ok(JsonPath { steps })
    }

    pub(crate) fn find<'a>(&self, root: &'a Value) -> Found<'a> {
        let mut current = vec![root];
        let mut many = false;
        for step in &self.steps {
            let mut next = Vec::new();
            for value in current {
                step.apply(value, &mut next);
                next.truncate(MOST_VALUES);
            }
            many |= matches!(step, Step::All | Step::Slice { .. });
            current = next;
        }
        match (many, current.as_slice()) {
            (false, [one]) => Found::One(one),
            (false, _) => Found::Nothing,
            (true, _) => Found::Many(current),
        }
    }
}

impl Step {
    fn apply<'a>(&self, value: &'a Value, found: &mut Vec<&'a Value>) {
        match (self, value) {
            (Step::Key(key), Value::Object(fields)) => found.extend(fields.get(key)),
            // A pointer writes an index as a key.
            (Step::Key(key), Value::Array(items)) => found.extend(key.parse().ok().and_then(|at: usize| items.get(at))),
            (Step::Index(index), Value::Array(items)) => {
                found.extend(position(*index, items.len()).map(|at| &items[at]))
            }
            (Step::Slice { start, end }, Value::Array(items)) => {
                let bound = |bound: i64| {
                    let length = items.len() as i64;
                    if bound < 0 {
                        (length + bound).max(0)
                    } else {
                        bound.min(length)
                    }
                };
                let start = bound(start.unwrap_or(0)) as usize;
                let end = end.map_or(items.len(), |end| bound(end) as usize);
                found.extend(items.get(start..end.max(start)).unwrap_or_default());
            }
            (Step::All, Value::Array(items)) => found.extend(items),
            (Step::All, Value::Object(fields)) => found.extend(fields.values()),
            _ => {}
        }
    }
}

fn position(index: i64, length: usize) -> Option<usize> {
    let index = if index < 0 { index + length as i64 } else { index };
    usize::try_from(index).ok().filter(|index| *index < length)
}

fn bracket(inside: &str) -> Result<(Step, &str), String> {
    if let Some(quote) = inside.chars().next().filter(|first| matches!(first, '\'' | '"')) {
        let body = &inside[1..];
        let end = body.find(quote).ok_or("a quoted key without its closing quote")?;
        let after = body[end + 1..]
            .strip_prefix(']')
            .ok_or("a quoted key must be followed by `]`")?;
        return Ok((Step::Key(body[..end].to_owned()), after));
    }
    let end = inside.find(']').ok_or("`[` without `]`")?;
    let (body, after) = (inside[..end].trim(), &inside[end + 1..]);
    let number = |text: &str| {
        text.trim()
            .parse::<i64>()
            .map_err(|_| format!("`[{body}]` is not an index"))
    };
    let step = if body == "*" {
        Step::All
    } else if let Some((start, end)) = body.split_once(':') {
        let bound = |text: &str| {
            if text.trim().is_empty() {
                Ok(None)
            } else {
                number(text).map(Some)
            }
        };
        Step::Slice {
            start: bound(start)?,
            end: bound(end)?,
        }
    } else {
        Step::Index(number(body)?)
    };
    Ok((step, after))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn found(path: &str) -> Value {
        let root = json!({"items": [{"id": 1, "a b": "x"}, {"id": 2}, {"id": 3}], "n": null});
        match JsonPath::parse(path).unwrap().find(&root) {
            Found::One(value) => value.clone(),
            Found::Many(values) => Value::Array(values.into_iter().cloned().collect()),
            Found::Nothing => json!("nothing"),
        }
    }

    #[test]
    fn paths_lead_where_they_say() {
        assert_eq!(found("$.items[0].id"), json!(1));
        assert_eq!(found("items[-1].id"), json!(3));
        assert_eq!(found("$.items[*].id"), json!([1, 2, 3]));
        assert_eq!(found("items[1:].id"), json!([2, 3]));
        assert_eq!(found("items[-2:-1].id"), json!([2]));
        assert_eq!(found("items[0]['a b']"), json!("x"));
        assert_eq!(found("/items/1/id"), json!(2));
        assert_eq!(found("n"), Value::Null);
        assert_eq!(found("items[9]"), json!("nothing"));
        assert_eq!(found("items[9:]"), json!([]));
        assert_eq!(found("$")["n"], Value::Null);
    }

    #[test]
    fn nonsense_is_refused_with_a_reason() {
        for path in ["a[", "a[x]", "a..b", "a['b", "['b'x"] {
            assert!(JsonPath::parse(path).is_err(), "{path}");
        }
    }
}
