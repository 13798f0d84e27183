//! Hits of a search, in order of rank: each one row below its file, its snippet as it is.
//!
//! ```text
//! LCX1 tool=search_code fields=lines+symbol,score,kind,signature,description language=python total=200 truncated=true
//! <TAB>searched<TAB>45236 chunks of 3399 files
//! shop/cart.py
//! 12:19 Cart.add<TAB>0.83
//!      def add(self, item):
//!          self.items.append(item)
//! 40:90@52 load_cart<TAB>0.61<TAB><TAB>def …(path: str)<TAB>Reads a cart.
//!      return Cart.parse(path.read_text())
//! ```
//!
//! Rows begin with a digit and lines of a snippet with a space, which costs nothing before the indentation. Left out is what the rest
//! says: name and path (in the id), the owner, a namespace that is the path with dots and a package that is its parent, the line of
//! a snippet that begins where the symbol does, a signature that such a snippet begins with, the language of most.

use std::fmt::Write;

use serde_json::{Map, Number, Value};

use super::cells::{ELIDED, escaped, unescaped};
use super::objects;
use super::place::{Place, WHOLE_FILE, short_path, usual_kind, whole_path};
use super::whole::{self, Said, number, text};
use crate::gcx::Header;
use crate::lcx::{TAG, lines};

pub(super) const TOOLS: [&str; 3] = ["search_code", "hybrid_search", "search_docs"];

const ROWS: &str = "results";
const WHOLE: &[Said] = &[
    number("total"),
    text("next_cursor"),
    text("etag"),
    text("searched"),
    text("remark"),
    text("incomplete"),
];
/// The cells of a row behind the first.
const FIELDS: [&str; 8] = [
    "score",
    "kind",
    "signature",
    "description",
    "why",
    "tags",
    "language",
    "metadata",
];
/// The parts of a score, in this order with slashes between them.
const WHY: [&str; 6] = ["semantic", "lexical", "name", "used", "coherence", "factor"];
/// Stands for a member that is not there, where an empty cell means that it is derived.
const ABSENT: &str = "-";

pub(super) fn to_string(tool: &str, value: &Value) -> Option<String> {
    let members = value.as_object()?;
    let rows = objects(members.get(ROWS)?)?;
    let language = usual_language(&rows)?;
    let mut lines = String::new();
    let mut under = ("", None, None);
    let mut told = [false; FIELDS.len()];
    for row in &rows {
        let hit = Hit::of(row)?;
        let here = (hit.place.path, hit.namespace, hit.package);
        if here != under {
            let mut cells = vec![short_path(here.0, under.0, "")];
            cells.extend(home_cells(hit.place.path, hit.namespace, hit.package)?);
            put_cells(&mut lines, &mut cells);
            under = here;
        }
        let mut cells = vec![hit.first_cell()?];
        cells.extend(hit.cells(language)?);
        for (told, cell) in told.iter_mut().zip(&cells[1..]) {
            *told |= !cell.is_empty();
        }
        put_cells(&mut lines, &mut cells);
        for line in hit.snippet.into_iter().flat_map(|snippet| snippet.split('\n')) {
            if line.contains(|c: char| c.is_control() && c != '\t') {
                return None;
            }
            writeln!(lines, " {line}").ok()?;
        }
    }
    let known = told.iter().rposition(|told| *told).map_or(0, |last| last + 1);
    let mut out = format!("{TAG} tool={tool} fields=lines+symbol");
    FIELDS[..known]
        .iter()
        .for_each(|field| out.push_str(&format!(",{field}")));
    if !language.is_empty() {
        write!(out, " language={language}").ok()?;
    }
    whole::put(&mut out, WHOLE, members, &[ROWS])?;
    Some(out + &lines)
}

pub(super) fn from_str(header: &Header, body: &str) -> Option<Value> {
    let language = header.entry("language").unwrap_or_default();
    let mut answer = Map::new();
    let mut rows: Vec<Line> = Vec::new();
    let (mut path, mut home): (String, Vec<String>) = (String::new(), Vec::new());
    for line in lines(body) {
        if let Some(line) = line.strip_prefix(' ') {
            rows.last_mut()?.snippet.push(line.to_string());
        } else if line.starts_with(|c: char| c.is_ascii_digit()) {
            rows.push(Line {
                path: path.clone(),
                home: home.clone(),
                row: line.to_string(),
                snippet: Vec::new(),
            });
        } else if !whole::sentence(line, WHOLE, &mut answer)? {
            let mut cells = line.split('\t');
            path = whole_path(cells.next()?, &path, "");
            home = cells.map(str::to_string).collect();
        }
    }
    let rows: Option<Vec<Value>> = rows.iter().map(|said| said.read(language)).collect();
    answer.insert(ROWS.into(), rows?.into());
    whole::read(header, WHOLE, &mut answer)?;
    Some(Value::Object(answer))
}

/// The language of most rows; empty where it cannot stand in a header.
fn usual_language<'a>(rows: &[&'a Map<String, Value>]) -> Option<&'a str> {
    let mut languages: Vec<&str> = Vec::new();
    for row in rows {
        languages.push(row.get("language")?.as_str()?);
    }
    languages.sort_unstable();
    let most = languages
        .chunk_by(|one, other| one == other)
        .max_by_key(|same| same.len());
    let most = most.and_then(|same| same.first().copied()).unwrap_or_default();
    Some(match most.chars().all(|c| c.is_ascii_alphanumeric()) {
        true => most,
        false => "",
    })
}

/// Writes cells, the empty ones at the end left out.
fn put_cells(out: &mut String, cells: &mut Vec<String>) {
    while cells.len() > 1 && cells.last().is_some_and(String::is_empty) {
        cells.pop();
    }
    out.push_str(&cells.join("\t"));
    out.push('\n');
}

/// A path as a namespace of Python: dots, without the ending.
fn dotted(path: &str) -> String {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    stem.trim_end_matches("/__init__").replace('/', ".")
}

/// What stands before the last dot.
fn parent(namespace: &str) -> Option<&str> {
    namespace.rsplit_once('.').map(|(parent, _)| parent)
}

/// Namespace and package as cells: empty where they follow from the path.
fn home_cells(path: &str, namespace: Option<&str>, package: Option<&str>) -> Option<[String; 2]> {
    let derived = dotted(path);
    Some([
        derivable(namespace, Some(&derived))?,
        derivable(package, namespace.and_then(parent))?,
    ])
}

/// A text as a cell that is empty where it is the derived one.
fn derivable(text: Option<&str>, derived: Option<&str>) -> Option<String> {
    match text {
        text if text == derived => Some(String::new()),
        None => Some(ABSENT.to_string()),
        Some(text) => said(text),
    }
}

/// The text of a cell that is empty where it is the derived one.
fn derived_from(cell: Option<&str>, derived: Option<&str>) -> Option<Option<String>> {
    match cell {
        None | Some("") => Some(derived.map(str::to_string)),
        Some(ABSENT) => Some(None),
        Some(text) => unescaped(text).map(Some),
    }
}

/// A text as a cell that is never empty.
fn said(text: &str) -> Option<String> {
    escaped(text).filter(|cell| !cell.is_empty() && cell != ABSENT)
}

/// The signature that a snippet begins with.
fn opening(snippet: &str) -> &str {
    let first = snippet.split('\n').next().unwrap_or_default().trim();
    first.trim_end_matches([':', '{']).trim_end()
}

/// One hit, its members taken apart.
struct Hit<'a> {
    place: Place<'a>,
    row: &'a Map<String, Value>,
    namespace: Option<&'a str>,
    package: Option<&'a str>,
    start: u64,
    end: u64,
    snippet: Option<&'a str>,
    snippet_line: u64,
}

impl<'a> Hit<'a> {
    fn of(row: &'a Map<String, Value>) -> Option<Hit<'a>> {
        let text = |name: &str| -> Option<&'a str> { row.get(name).and_then(Value::as_str) };
        let place = Place::of_id(text("id")?)?;
        let location = row.get("location")?.as_object()?;
        let start = location.get("start_line")?.as_u64()?;
        let end = location.get("end_line")?.as_u64()?;
        let is_plain = location.len() == 3
            && location.get("file_path")?.as_str()? == place.path
            && text("name")? == place.name()
            && row.contains_key("snippet") == row.contains_key("snippet_line");
        let snippet = text("snippet").filter(|snippet| !snippet.is_empty());
        let snippet_line = match snippet {
            Some(_) => row.get("snippet_line")?.as_u64()?,
            None if row.contains_key("snippet") => return None,
            None => start,
        };
        is_plain.then_some(Hit {
            place,
            row,
            namespace: text("namespace"),
            package: text("package"),
            start,
            end,
            snippet,
            snippet_line,
        })
    }

    fn first_cell(&self) -> Option<String> {
        let mut cell = format!("{}:{}", self.start, self.end);
        if self.snippet_line != self.start {
            write!(cell, "@{}", self.snippet_line).ok()?;
        }
        Some(format!("{cell} {}", self.place.symbol))
    }

    fn cells(&self, language: &str) -> Option<Vec<String>> {
        let text = |name: &str| self.row.get(name).and_then(Value::as_str);
        let named = [
            "id",
            "name",
            "namespace",
            "package",
            "location",
            "snippet",
            "snippet_line",
        ];
        let is_known = |name: &str| named.contains(&name) || FIELDS.contains(&name);
        if !self.row.keys().all(|name| is_known(name)) {
            return None;
        }
        let kind = text("kind")?;
        let opening = self.opening();
        let signature = match text("signature") {
            found if found == opening.as_deref() => String::new(),
            None => ABSENT.to_string(),
            Some(signature) if signature.contains(ELIDED) => return None,
            Some(signature) => said(&signature.replacen(self.place.name(), &ELIDED.to_string(), 1))?,
        };
        let metadata = self.row.get("metadata");
        Some(vec![
            self.row.get("score")?.as_number()?.to_string(),
            if kind == usual_kind(self.place.symbol) {
                String::new()
            } else {
                said(kind)?
            },
            signature,
            text("description").map_or(Some(String::new()), said)?,
            self.row.get("why").map_or(Some(String::new()), reasons)?,
            match self.row.get("tags") {
                None => String::new(),
                Some(tags) => said(&tags_of(tags)?)?,
            },
            match text("language")? {
                own if own == language => String::new(),
                own => said(own)?,
            },
            match (metadata, self.place.owner()) {
                (metadata, owner) if metadata == owner.map(owned).as_ref() => String::new(),
                (None, _) => ABSENT.to_string(),
                (Some(metadata), _) => said(&metadata.to_string())?,
            },
        ])
    }

    fn opening(&self) -> Option<String> {
        self.snippet
            .filter(|_| self.snippet_line == self.start && self.place.symbol != WHOLE_FILE)
            .map(|snippet| opening(snippet).to_string())
            .filter(|opening| !opening.is_empty())
    }
}

/// What is known of a member besides: its owner.
fn owned(owner: &str) -> Value {
    Value::Object(Map::from_iter([("owner".to_string(), owner.into())]))
}

fn tags_of(tags: &Value) -> Option<String> {
    let tags: Option<Vec<&str>> = tags.as_array()?.iter().map(Value::as_str).collect();
    let tags = tags.filter(|tags| !tags.is_empty() && tags.iter().all(|tag| !tag.is_empty() && !tag.contains(',')))?;
    Some(tags.join(","))
}

fn reasons(why: &Value) -> Option<String> {
    let why = why.as_object()?;
    if why.is_empty() || !why.keys().all(|name| WHY.contains(&name.as_str())) {
        return None;
    }
    let mut cells = Vec::new();
    for name in WHY {
        cells.push(match why.get(name) {
            None => String::new(),
            Some(value) => value.as_number()?.to_string(),
        });
    }
    Some(cells.join("/"))
}

/// A row as it was said, and what stood around it.
struct Line {
    path: String,
    home: Vec<String>,
    row: String,
    snippet: Vec<String>,
}

impl Line {
    fn read(&self, language: &str) -> Option<Value> {
        let mut cells = self.row.split('\t');
        let (lines, symbol) = cells.next()?.split_once(' ')?;
        let cells: Vec<&str> = cells.collect();
        let cell = |name: &str| {
            let at = FIELDS.iter().position(|field| *field == name)?;
            cells.get(at).copied().filter(|cell| !cell.is_empty())
        };
        let place = Place {
            path: &self.path,
            symbol,
        };
        let (span, at) = match lines.split_once('@') {
            Some((span, at)) => (span, Some(at.parse::<u64>().ok()?)),
            None => (lines, None),
        };
        let (start, end) = span.split_once(':')?;
        let (start, end): (u64, u64) = (start.parse().ok()?, end.parse().ok()?);
        let snippet = (!self.snippet.is_empty()).then(|| self.snippet.join("\n"));
        let hit = Hit {
            place,
            row: &Map::new(),
            namespace: None,
            package: None,
            start,
            end,
            snippet: snippet.as_deref(),
            snippet_line: at.unwrap_or(start),
        };
        let derived = dotted(&self.path);
        let namespace = derived_from(self.home.first().map(String::as_str), Some(&derived))?;
        let package = derived_from(
            self.home.get(1).map(String::as_str),
            namespace.as_deref().and_then(parent),
        )?;
        let signature = match cell("signature") {
            None => hit.opening(),
            Some(ABSENT) => None,
            Some(signature) => Some(unescaped(signature)?.replacen(ELIDED, place.name(), 1)),
        };
        let mut row = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                row.insert(name.to_string(), value);
            }
        };
        put("id", Some(place.id().into()));
        put(
            "language",
            Some(cell("language").map_or(Some(language.to_string()), unescaped)?.into()),
        );
        let kind = cell("kind").map_or(Some(usual_kind(symbol).to_string()), unescaped)?;
        put("kind", Some(kind.into()));
        put("name", Some(place.name().into()));
        put("namespace", namespace.map(Value::from));
        put("package", package.map(Value::from));
        put("signature", signature.map(Value::from));
        if let Some(description) = cell("description") {
            put("description", Some(unescaped(description)?.into()));
        }
        let location = [
            ("file_path".to_string(), Value::from(self.path.as_str())),
            ("start_line".to_string(), start.into()),
            ("end_line".to_string(), end.into()),
        ];
        put("location", Some(Value::Object(Map::from_iter(location))));
        if let Some(tags) = cell("tags") {
            let tags = unescaped(tags)?;
            put(
                "tags",
                Some(tags.split(',').map(Value::from).collect::<Vec<_>>().into()),
            );
        }
        put(
            "metadata",
            match cell("metadata") {
                None => place.owner().map(owned),
                Some(ABSENT) => None,
                Some(metadata) => Some(serde_json::from_str(&unescaped(metadata)?).ok()?),
            },
        );
        put("snippet", snippet.as_deref().map(Value::from));
        put("snippet_line", snippet.as_ref().map(|_| hit.snippet_line.into()));
        put(
            "score",
            Some(serde_json::from_str::<Number>(cell("score")?).ok()?.into()),
        );
        if let Some(why) = cell("why") {
            let mut parts = Map::new();
            for (name, part) in WHY.iter().zip(why.split('/')).filter(|(_, part)| !part.is_empty()) {
                parts.insert((*name).to_string(), serde_json::from_str::<Number>(part).ok()?.into());
            }
            put("why", Some(parts.into()));
        }
        Some(Value::Object(row))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use crate::layout::Layout;

    fn hit(id: &str, snippet: &str) -> Value {
        let (path, symbol) = id.split_once("::").unwrap();
        let name = symbol.rsplit('.').next().unwrap();
        json!({
            "id": id, "language": "python", "kind": "function", "name": name, "namespace": "shop.cart", "package": "shop",
            "signature": format!("def {name}(item)"),
            "location": {"file_path": path, "start_line": 12, "end_line": 19},
            "snippet": snippet, "snippet_line": 12, "score": 0.83,
        })
    }

    fn answer(results: Vec<Value>) -> Value {
        json!({"results": results, "total": 200, "truncated": true, "next_cursor": "abc", "searched": "9 chunks of 2 files"})
    }

    fn check(value: &Value) -> Option<String> {
        let text = crate::lcx::to_string(&Layout::generic("hybrid_search"), value)?;
        assert_eq!(&crate::lcx::from_str(&text).unwrap(), value, "{text}");
        Some(text)
    }

    #[test]
    fn what_the_rest_says_is_left_out() {
        let mut inner = hit(
            "shop/cart.py::Cart.add",
            "        # Twice is once.\n\n        return item",
        );
        inner["kind"] = "method".into();
        inner["metadata"] = json!({"owner": "Cart"});
        inner["snippet_line"] = 15.into();
        inner["description"] = "Adds an item.".into();
        inner["tags"] = json!(["async", "private"]);
        inner["why"] = json!({"semantic": 0.5, "lexical": 1.0, "used": 0.02, "factor": 0.7});
        let mut other = hit("web/cart.go::Total", "func Total() int {");
        other["language"] = "go".into();
        other["namespace"] = "web".into();
        other.as_object_mut().unwrap().remove("package");
        other["signature"] = "func Total() int".into();
        let text = check(&answer(vec![
            hit("shop/cart.py::load", "def load(item):\n\treturn item"),
            inner,
            other,
        ]));
        expect_test::expect![[r#"
            LCX1 tool=hybrid_search fields=lines+symbol,score,kind,signature,description,why,tags,language language=python total=200 next_cursor=abc truncated=true rows=12
            	searched	9 chunks of 2 files
            shop/cart.py
            12:19 load	0.83
             def load(item):
             	return item
            12:19@15 Cart.add	0.83		def …(item)	Adds an item.	0.5/1.0//0.02//0.7	async,private
                     # Twice is once.
            ·
                     return item
            web/cart.go	web
            12:19 Total	0.83						go
             func Total() int {
        "#]]
        .assert_eq(&text.unwrap().replace("\n \n", "\n·\n"));
    }

    #[test]
    fn what_does_not_fit_is_said_otherwise() {
        let mut unknown = hit("a.py::f", "def f(item):");
        unknown["more"] = 1.into();
        let mut elsewhere = hit("a.py::f", "def f(item):");
        elsewhere["location"]["file_path"] = "b.py".into();
        let mut control = hit("a.py::f", "def f(item):\r");
        control["snippet_line"] = 12.into();
        for row in [unknown, elsewhere, control] {
            assert_eq!(check(&answer(vec![row])), None);
        }
    }

    proptest! {
        /// Whatever is said is read back: odd words in every member, or members that are not there.
        #[test]
        fn rows_are_read_back(
            rows in prop::collection::vec((
                "[a-c]{1,2}(/[a-c]{1,2})?(\\.py)?", "([A-C]{1,2}\\.){0,2}[a-z~0-9…*]{1,4}",
                prop::collection::vec(prop::option::of("[-a: {}\\\\\t…@./\n]{0,6}"), 7), 0u64..4, 0u64..4,
            ), 0..5),
        ) {
            let rows = rows.into_iter().map(|(path, symbol, texts, start, at)| {
                let mut row = hit(&format!("{path}::{symbol}"), "x");
                let members = ["namespace", "package", "signature", "description", "snippet", "kind", "language"];
                for (name, text) in members.iter().zip(texts) {
                    match text {
                        None if !["kind", "language"].contains(name) => drop(row.as_object_mut().unwrap().remove(*name)),
                        None => {}
                        Some(text) => row[*name] = text.into(),
                    }
                }
                row["location"]["start_line"] = start.into();
                row["snippet_line"] = at.into();
                if row.get("snippet").is_none() {
                    row.as_object_mut().unwrap().remove("snippet_line");
                }
                row
            });
            check(&answer(rows.collect()));
        }
    }
}
