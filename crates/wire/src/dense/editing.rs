//! What to know before an edit, by file: the symbol, then its callers and what it needs under the paths of their files, then the
//! files of its tests by folder.
//!
//! ```text
//! LCX1 tool=get_editing_context fields=line+symbol,kind etag=4243c844
//! shop/cart.py
//! Cart.add<TAB>12:30<TAB><TAB>680676417064731c<TAB>def add(self, item)
//! callers:
//! views.py
//! 88 checkout
//! tests:
//! tests/shop/<TAB>test_cart.py<TAB>test_views.py
//! ```

use std::fmt::Write;

use serde_json::{Map, Value};

use super::Known;
use super::cells::{entry, escaped, read, unescaped};
use super::names::{Above, row_of};
use super::place::{Paths, Place, usual_kind};
use crate::answers;
use crate::gcx::Header;
use crate::layout::Layout;
use crate::lcx::{TAG, lines};

pub(super) const TOOL: &str = "get_editing_context";

/// Lists of symbols; the line that opens one is its name and a colon.
const LISTS: [&str; 2] = ["callers", "dependencies"];
const TESTS: &str = "tests";
/// Of `truncated`, which goes without saying.
const USUAL: Value = Value::Bool(false);

pub(super) fn to_string(layout: &Layout, value: &Value, known: &Known) -> Option<String> {
    let members = value.as_object()?;
    let mut out = format!("{TAG} tool={TOOL} fields=line+symbol,kind");
    for column in layout.meta {
        if let Some(value) = members
            .get(column.name)
            .filter(|value| **value != USUAL || column.name != "truncated")
        {
            write!(out, " {}={}", column.name, entry(value)?).ok()?;
        }
    }
    let told = |name: &str| name == "target" || name == TESTS || LISTS.contains(&name);
    if !members
        .keys()
        .all(|name| told(name) || layout.meta.iter().any(|column| column.name == name))
    {
        return None;
    }
    out.push('\n');
    let target = members.get("target")?.as_object()?;
    let place = plain(target)?;
    let number = |name: &str| target.get(name)?.as_u64();
    let kind = kind_cell(target.get("kind")?.as_str()?, place)?;
    let expected = 7 + usize::from(target.contains_key("sig"));
    if target.len() != expected {
        return None;
    }
    // Few files: a folder in the header would not pay.
    let mut paths = Paths::of(std::iter::empty());
    write!(
        out,
        "{}\n{}\t{}:{}\t{kind}\t{}",
        paths.say(place.path)?,
        place.symbol,
        number("start_line")?,
        number("end_line")?,
        escaped(target.get("etag")?.as_str()?)?
    )
    .ok()?;
    if let Some(signature) = target.get("sig") {
        write!(out, "\t{}", escaped(signature.as_str()?)?).ok()?;
    }
    out.push('\n');
    for list in LISTS {
        let rows = members.get(list)?.as_array()?;
        if rows.is_empty() {
            continue;
        }
        writeln!(out, "{list}:").ok()?;
        let mut above = Above::default();
        for row in rows {
            let row = row.as_object()?;
            let place = plain(row)?;
            if let Some(path) = Some(place)
                .filter(|place| !known.holds(*place))
                .and_then(|place| paths.say(place.path))
            {
                writeln!(out, "{path}").ok()?;
            }
            let line = row.get("line")?.as_u64()?;
            write!(out, "{line}{}", above.say(place, known)).ok()?;
            let kind = kind_cell(row.get("kind")?.as_str()?, place)?;
            if !kind.is_empty() {
                write!(out, "\t{kind}").ok()?;
            }
            if row.len() != 5 {
                return None;
            }
            out.push('\n');
        }
    }
    put_tests(&mut out, members.get(TESTS)?.as_array()?)?;
    Some(out)
}

/// Files by folder, each folder once; only a list that a reader puts together again in the same order has this form, which the
/// caller checks.
fn put_tests(out: &mut String, tests: &[Value]) -> Option<()> {
    if !tests.is_empty() {
        writeln!(out, "{TESTS}:").ok()?;
    }
    let mut under: Option<&str> = None;
    for path in tests {
        let path = path.as_str()?;
        let (folder, name) = path.rsplit_once('/')?;
        Place::of_id(path)?;
        match under == Some(folder) {
            true => write!(out, "\t{name}").ok()?,
            false => {
                let end = if under.is_some() { "\n" } else { "" };
                write!(out, "{end}{folder}/\t{name}").ok()?;
            }
        }
        under = Some(folder);
    }
    if under.is_some() {
        out.push('\n');
    }
    Some(())
}

pub(super) fn from_str(header: &Header, body: &str, known: &Known) -> Option<Value> {
    let layout = answers::layout_of(TOOL)?;
    let mut target: Option<Map<String, Value>> = None;
    let mut lists: [Vec<Value>; 2] = [Vec::new(), Vec::new()];
    let mut tests: Vec<Value> = Vec::new();
    // Which list is read; none before the first, two for the tests.
    let mut list: Option<usize> = None;
    let (mut paths, mut above) = (Paths::read(header), Above::default());
    for line in lines(body) {
        // Rows of symbols begin with their line, but for the one asked about and those of tests.
        let (number, rest) = row_of(line).unwrap_or(("", line));
        if number.is_empty() && !line.contains('\t') {
            let opened = line.strip_suffix(':').and_then(|name| {
                let at = LISTS.iter().position(|list| *list == name);
                at.or((name == TESTS).then_some(LISTS.len()))
            });
            match opened {
                Some(opened) => {
                    list = Some(opened);
                    above.clear();
                }
                None => paths.hear(line),
            }
            continue;
        }
        let mut cells = rest.split('\t');
        let said = cells.next()?;
        let cells: Vec<&str> = cells.collect();
        let cell = |at: usize| cells.get(at).copied().unwrap_or_default();
        if list == Some(LISTS.len()) {
            tests.extend(cells.iter().map(|name| Value::from(format!("{said}{name}"))));
            continue;
        }
        let (symbol, elsewhere) = match list {
            None => (said.to_string(), None),
            Some(_) => above.hear(said, known)?,
        };
        let place = Place {
            path: elsewhere.unwrap_or(paths.path()),
            symbol: &symbol,
        };
        let kind = match cell(usize::from(list.is_none())) {
            "" => usual_kind(place.symbol).to_string(),
            kind => unescaped(kind)?,
        };
        let mut row = Map::new();
        row.insert("id".into(), place.id().into());
        row.insert("kind".into(), kind.into());
        row.insert("name".into(), place.name().into());
        row.insert("path".into(), place.path.into());
        match list {
            None => {
                let (start, end) = cell(0).split_once(':')?;
                row.insert("start_line".into(), start.parse::<u64>().ok()?.into());
                row.insert("end_line".into(), end.parse::<u64>().ok()?.into());
                if cells.len() > 3 {
                    row.insert("sig".into(), unescaped(cell(3))?.into());
                }
                row.insert("etag".into(), unescaped(cell(2))?.into());
                target = Some(row);
            }
            Some(list) => {
                row.insert("line".into(), number.parse::<u64>().ok()?.into());
                lists.get_mut(list)?.push(row.into());
            }
        }
    }
    let mut answer = Map::new();
    answer.insert("target".into(), target?.into());
    for (name, rows) in LISTS.into_iter().zip(lists) {
        answer.insert(name.into(), rows.into());
    }
    answer.insert(TESTS.into(), tests.into());
    for column in layout.meta {
        if let Some(text) = header.entry(column.name) {
            answer.insert(column.name.into(), read(column.kind, text)?);
        } else if column.name == "truncated" {
            answer.insert(column.name.into(), USUAL);
        }
    }
    Some(answer.into())
}

/// The place of a row that repeats its path and its name.
fn plain(row: &Map<String, Value>) -> Option<Place<'_>> {
    let place = Place::of_id(row.get("id")?.as_str()?)?;
    let repeats = row.get("path")?.as_str()? == place.path && row.get("name")?.as_str()? == place.name();
    repeats.then_some(place)
}

/// The kind, unless it goes without saying.
fn kind_cell(kind: &str, place: Place<'_>) -> Option<String> {
    match kind == usual_kind(place.symbol) {
        true => Some(String::new()),
        false => escaped(kind).filter(|kind| !kind.is_empty()),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect;
    use serde_json::{Value, json};

    use super::super::Known;
    use crate::answers::{Answer, EditingContext};
    use crate::lcx::{from_str_knowing, to_string_knowing};

    fn row(id: &str, kind: &str, line: u64) -> Value {
        let (path, symbol) = id.split_once("::").unwrap();
        let name = symbol.rsplit('.').next().unwrap();
        json!({"id": id, "kind": kind, "name": name, "path": path, "line": line})
    }

    #[test]
    fn by_file_and_with_names_of_earlier_answers() {
        let answer = json!({
            "target": {"id": "shop/cart.py::Cart.add", "kind": "method", "name": "add", "path": "shop/cart.py",
                       "start_line": 12, "end_line": 30, "sig": "def add(self)", "etag": "68067641"},
            "callers": [row("shop/views.py::checkout", "function", 88), row("web/api.py::Api.post", "method", 7)],
            "dependencies": [row("shop/cart.py::Cart.items", "field", 3), row("shop/cart.py::Cart.save", "method", 40)],
            "tests": ["tests/shop/test_cart.py", "tests/shop/test_views.py", "tests/test_api.py"],
            "truncated": false,
        });
        let text = to_string_knowing(&EditingContext::LAYOUT, &answer, &Known::default()).unwrap();
        expect![[r#"
            LCX1 tool=get_editing_context fields=line+symbol,kind rows=14
            shop/cart.py
            Cart.add	12:30		68067641	def add(self)
            callers:
            views.py
            88 checkout
            web/api.py
            7 Api.post
            dependencies:
            shop/cart.py
            3 Cart.items	field
            40.save
            tests:
            tests/shop/	test_cart.py	test_views.py
            tests/	test_api.py
        "#]]
        .assert_eq(&text);
        assert_eq!(from_str_knowing(&text, &Known::default()).unwrap(), answer);

        let mut known = Known::default();
        known.note(&json!([
            row("web/api.py::Api.post", "method", 7),
            row("old/views.py::checkout", "function", 1)
        ]));
        let text = to_string_knowing(&EditingContext::LAYOUT, &answer, &known).unwrap();
        assert!(text.contains("\nviews.py\n88 checkout\n7 *Api.post\n"), "{text}");
        assert_eq!(from_str_knowing(&text, &known).unwrap(), answer);
        assert_eq!(
            from_str_knowing(&text, &Known::default()).ok(),
            None,
            "what was never told is not guessed"
        );
    }
}
