//! A conversation's memory: a symbol that the client was sent is a number the second time, in the answer of any tool.
//!
//! The one trick: references are made in the *value*, before any format sees it. Rows about symbols become numbers, what the
//! client does not hold yet is defined once under `new` (paths under `files`), and `session` says which columns were numbers'.
//! The result is an ordinary value, so every format carries it, and [`SessionReader`] gives back the answer exactly.
//!
//! A symbol is a reference only where everything the row says of it is what was sent before; a changed line or text is
//! defined again. What was written counts as held only once the caller commits the draft, that is, once it was delivered.
//!
//! Answers that are said by file need no numbers: a symbol that an earlier answer put in its file is said by its name alone
//! ([`Session::by_name`]), which costs nothing beforehand.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use serde_json::{Map, Value, json};

use crate::dense::Known;
use crate::gcf::graph::{Session as GraphSession, SessionLimits};
use crate::layout::Layout;
use crate::{Format, lcx};

/// What a row may say of a symbol besides its id; the rest of a row belongs to the answer.
const ATTRIBUTES: &[&str] = &[
    "kind",
    "name",
    "path",
    "line",
    "start_line",
    "end_line",
    "sig",
    "form",
    "text",
    "source",
];

/// The sender's side. One per conversation and principal: never share it.
#[derive(Debug)]
pub struct Session {
    limits: SessionLimits,
    symbols: HashMap<String, Held, foldhash::fast::RandomState>,
    files: HashMap<String, u64, foldhash::fast::RandomState>,
    graph: GraphSession,
    known: Known,
    next: u64,
    started: Instant,
    used: Instant,
}

/// What the client holds of one symbol: hashes of what was said, `None` where it was said that there is none.
#[derive(Debug, Clone, Default)]
struct Held {
    number: u64,
    attributes: Vec<(usize, Option<u64>)>,
}

impl Held {
    fn get(&self, attribute: usize) -> Option<Option<u64>> {
        let found = self.attributes.iter().find(|(name, _)| *name == attribute);
        found.map(|(_, said)| *said)
    }
}

/// An answer with references, which counts as delivered only when committed.
#[derive(Debug, Clone)]
#[must_use = "commit the draft once it was delivered, or later answers repeat it"]
pub struct Draft {
    value: Value,
    symbols: Vec<(String, Held)>,
    files: Vec<(String, u64)>,
    next: u64,
    references: usize,
}

impl Draft {
    /// The answer to send, in any format.
    pub fn value(&self) -> &Value {
        &self.value
    }

    /// How many symbols are only named by their number.
    pub fn references(&self) -> usize {
        self.references
    }
}

impl Session {
    /// A session that knows nothing yet.
    pub fn new(limits: SessionLimits, now: Instant) -> Session {
        Session {
            symbols: HashMap::default(),
            files: HashMap::default(),
            graph: GraphSession::new(limits.clone(), now),
            known: Known::default(),
            next: 1,
            started: now,
            used: now,
            limits,
        }
    }

    /// How many symbols the client holds.
    pub fn len(&self) -> usize {
        self.symbols.len() + self.graph.len()
    }

    /// Whether the client holds nothing.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Forgets everything, as when the client lost its context. Numbers are not used again.
    pub fn reset(&mut self, now: Instant) {
        let next = self.next;
        *self = Session::new(self.limits.clone(), now);
        self.next = next;
    }

    /// How long ago it was last used.
    pub fn idle(&self, now: Instant) -> Duration {
        now.duration_since(self.used)
    }

    /// The id of the symbol that has this number, in a table or a graph.
    pub fn id_of(&self, number: u64) -> Option<String> {
        // Few calls carry a number; a second table would cost more than looking through the first.
        let held = self.symbols.iter().find(|(_, held)| held.number == number);
        let in_graph = || self.graph.name_of(number).map(crate::answers::from_word);
        held.map(|(id, _)| id.clone()).or_else(in_graph)
    }

    /// The sender's side for graph payloads, counting on where the tables stopped: a number means one symbol in both.
    pub fn graph(&mut self) -> &mut GraphSession {
        self.graph.count_from(self.next);
        &mut self.graph
    }

    /// Notes what [`Session::graph`] numbered.
    pub fn graph_was_sent(&mut self, now: Instant) {
        self.next = self.next.max(self.graph.next_number());
        self.used = now;
    }

    /// The answer by file, with the symbols of earlier answers by their names alone; none where it has no such form.
    pub fn by_name(&self, layout: &Layout, value: &Value) -> Option<String> {
        let text = lcx::to_string_knowing(layout, value, &self.known)?;
        let read = lcx::from_str_knowing(&text, &self.known).ok()?;
        crate::same(&read, value).then_some(text)
    }

    /// Notes the symbols of an answer that was delivered, in whatever form.
    pub fn told(&mut self, value: &Value, now: Instant) {
        self.known.note(value);
        self.used = now;
    }

    /// Says an answer with references to what the client holds. `None` where it has no rows about symbols, or where the
    /// session is full.
    pub fn prepare(&mut self, value: &Value, now: Instant) -> Option<Draft> {
        let expired = self.idle(now) > self.limits.idle || now.duration_since(self.started) > self.limits.lifetime;
        if expired {
            self.reset(now);
        }
        let members = value.as_object()?;
        // These three names are the session's own: an answer that uses one itself is said in full.
        if ["new", "files", "session"]
            .iter()
            .any(|name| members.contains_key(*name))
        {
            return None;
        }
        let tables: Vec<(&str, Table<'_>)> = members
            .iter()
            .filter_map(|(name, member)| Some((name.as_str(), Table::of(member)?)))
            .collect();
        if tables.is_empty() {
            return None;
        }
        let claims = Claims::of(&tables)?;
        let news = self.define(&claims);
        if self.symbols.len() + news.symbols.len() > self.limits.symbols {
            return None;
        }
        let mut whole = Map::new();
        if !news.files.is_empty() {
            let file = |(path, number): &(String, u64)| json!({"f": number, "path": path});
            whole.insert("files".into(), news.files.iter().map(file).collect());
        }
        if !news.definitions.is_empty() {
            whole.insert("new".into(), news.definitions.into());
        }
        let mut described = Map::new();
        for (name, member) in members {
            let table = tables.iter().find(|(table, _)| table == name);
            let said = table.map_or_else(|| member.clone(), |(_, table)| table.with_numbers(&news.numbers));
            if let Some((_, table)) = table {
                described.insert(name.clone(), table.columns().into());
            }
            whole.insert(name.clone(), said);
        }
        whole.insert("session".into(), described.into());
        Some(Draft {
            value: whole.into(),
            symbols: news.symbols,
            files: news.files,
            next: news.next,
            references: news.references,
        })
    }

    /// Numbers for all symbols of an answer, and definitions for those that the client does not hold as they are claimed.
    fn define(&self, claims: &Claims<'_>) -> News {
        let mut news = News {
            next: self.next,
            ..News::default()
        };
        let mut file_numbers: HashMap<&str, u64, foldhash::fast::RandomState> = HashMap::default();
        for (id, claimed) in &claims.symbols {
            let derived = Derived::of(id);
            let held = self.symbols.get(*id);
            let is_held = |held: &Held, attribute: usize, value: Option<&Value>| match held.get(attribute) {
                Some(said) => said == value.map(hash_of),
                // Never said, and need not be.
                None => value.is_some() && value.and_then(Value::as_str) == derived.get(ATTRIBUTES[attribute]),
            };
            if let Some(held) = held
                && claimed
                    .iter()
                    .all(|(attribute, value)| is_held(held, *attribute, *value))
            {
                news.references += 1;
                news.numbers.insert((*id).to_string(), held.number);
                continue;
            }
            let number = held.map_or(news.next, |held| held.number);
            news.next += u64::from(held.is_none());
            let (path, qualified) = split(id);
            let file = match self.files.get(path).or_else(|| file_numbers.get(path)) {
                Some(number) => *number,
                None => {
                    let number = (self.files.len() + news.files.len()) as u64 + 1;
                    news.files.push((path.to_string(), number));
                    file_numbers.insert(path, number);
                    number
                }
            };
            let mut definition = Map::new();
            definition.insert("n".into(), number.into());
            definition.insert("f".into(), file.into());
            definition.insert("q".into(), qualified.into());
            // A definition replaces the one before it: only hashes of that are kept, so its words cannot be repeated.
            let mut holds = Held {
                number,
                attributes: Vec::with_capacity(claimed.len()),
            };
            for (attribute, value) in claimed {
                holds.attributes.push((*attribute, value.map(hash_of)));
                match (value, derived.get(ATTRIBUTES[*attribute])) {
                    (Some(value), derived) if derived.is_none() || value.as_str() != derived => {
                        definition.insert(ATTRIBUTES[*attribute].into(), (*value).clone());
                    }
                    // Said to be missing, or the reader would put in what follows from the id.
                    (None, Some(_)) => {
                        definition.insert(ATTRIBUTES[*attribute].into(), Value::Null);
                    }
                    _ => {}
                }
            }
            news.definitions.push(definition.into());
            news.symbols.push(((*id).to_string(), holds));
            news.numbers.insert((*id).to_string(), number);
        }
        news
    }

    /// Records that a draft was delivered.
    pub fn commit(&mut self, draft: Draft, now: Instant) {
        self.used = now;
        self.next = draft.next;
        self.symbols.extend(draft.symbols);
        self.files.extend(draft.files);
    }
}

/// What one answer adds to what the client holds.
#[derive(Default)]
struct News {
    /// The number of every symbol of the answer.
    numbers: HashMap<String, u64, foldhash::fast::RandomState>,
    symbols: Vec<(String, Held)>,
    files: Vec<(String, u64)>,
    definitions: Vec<Value>,
    next: u64,
    references: usize,
}

/// Attributes with what is said of each; `None` is that there is none.
type Claimed<'a> = Vec<(usize, Option<&'a Value>)>;

/// What an answer says of each of its symbols, in the order they come up.
struct Claims<'a> {
    symbols: Vec<(&'a str, Claimed<'a>)>,
}

impl<'a> Claims<'a> {
    /// `None` where two rows say different things of one symbol: such an answer has no form with references.
    fn of(tables: &[(&str, Table<'a>)]) -> Option<Claims<'a>> {
        let mut symbols: Vec<(&str, Claimed<'a>)> = Vec::new();
        let mut places: HashMap<&str, usize, foldhash::fast::RandomState> = HashMap::default();
        for (_, table) in tables {
            for row in &table.rows {
                for reference in &table.references {
                    let id = row.get(&reference.column).and_then(Value::as_str)?;
                    let place = *places.entry(id).or_insert_with(|| {
                        symbols.push((id, Vec::new()));
                        symbols.len() - 1
                    });
                    let claimed = &mut symbols[place].1;
                    for (name, attribute) in &reference.attributes {
                        let value = row.get(name);
                        match claimed.iter().find(|(known, _)| known == attribute) {
                            Some((_, said)) if *said != value => return None,
                            Some(_) => {}
                            None => claimed.push((*attribute, value)),
                        }
                    }
                }
            }
        }
        Some(Claims { symbols })
    }
}

/// A list of rows about symbols.
struct Table<'a> {
    rows: Vec<&'a Map<String, Value>>,
    references: Vec<Reference>,
}

/// A column that names symbols, and the columns beside it that belong to the symbol.
struct Reference {
    column: String,
    /// Their names in the row, each with its place among [`ATTRIBUTES`].
    attributes: Vec<(String, usize)>,
}

impl<'a> Table<'a> {
    fn of(member: &'a Value) -> Option<Table<'a>> {
        let rows: Vec<&Map<String, Value>> = member.as_array()?.iter().map(Value::as_object).collect::<Option<_>>()?;
        let references = references(&rows);
        (!references.is_empty()).then_some(Table { rows, references })
    }

    /// The columns that numbers stand for, as the answer describes them.
    fn columns(&self) -> String {
        let describe = |reference: &Reference| {
            let names = reference.attributes.iter().map(|(name, _)| name.as_str());
            std::iter::once(reference.column.as_str())
                .chain(names)
                .collect::<Vec<_>>()
                .join(" ")
        };
        self.references.iter().map(describe).collect::<Vec<_>>().join("; ")
    }

    fn with_numbers(&self, numbers: &HashMap<String, u64, foldhash::fast::RandomState>) -> Value {
        let number = |value: &Value| value.as_str().and_then(|id| numbers.get(id)).copied();
        let rows = self.rows.iter().map(|row| {
            let mut left = Map::new();
            for (name, value) in *row {
                if self.references.iter().any(|reference| reference.column == *name) {
                    left.insert(name.clone(), number(value).into());
                } else if !self.references.iter().any(|reference| reference.owns(name)) {
                    left.insert(name.clone(), value.clone());
                }
            }
            match left.len() {
                // A row that says nothing but its symbol.
                1 => left.into_iter().next().map_or(Value::Null, |(_, number)| number),
                _ => left.into(),
            }
        });
        rows.collect()
    }
}

impl Reference {
    fn owns(&self, name: &str) -> bool {
        self.attributes.iter().any(|(own, _)| own == name)
    }
}

/// The columns that name symbols in every row: `id` with its attributes, any other with those that bear its name
/// (`from`, `from_name`, `from_path`).
fn references(rows: &[&Map<String, Value>]) -> Vec<Reference> {
    let Some(first) = rows.first() else { return Vec::new() };
    let mut found: Vec<Reference> = Vec::new();
    for name in first.keys() {
        let is_symbol = |row: &&Map<String, Value>| {
            row.get(name).and_then(Value::as_str).is_some_and(|text| {
                text.contains("::") || (name == "id" && row.get("path").and_then(Value::as_str) == Some(text))
            })
        };
        // One row without a symbol (a batch's unknown name) and the column stays as it is.
        if ATTRIBUTES.contains(&name.as_str()) || !rows.iter().all(is_symbol) {
            continue;
        }
        let mut attributes: Vec<(String, usize)> = Vec::new();
        for row in rows {
            for (other, value) in *row {
                let bare = match name.as_str() {
                    "id" => Some(other.as_str()),
                    _ => other
                        .strip_prefix(name.as_str())
                        .and_then(|rest| rest.strip_prefix('_')),
                };
                let place = bare.and_then(|bare| ATTRIBUTES.iter().position(|attribute| *attribute == bare));
                let is_scalar = !value.is_object() && !value.is_array() && !value.is_null();
                if let (Some(place), true) = (place, is_scalar)
                    && !attributes.iter().any(|(known, _)| known == other)
                {
                    attributes.push((other.clone(), place));
                }
            }
        }
        // A null or a list where an attribute is expected: the column is the answer's own.
        attributes.retain(|(attribute, _)| {
            rows.iter()
                .filter_map(|row| row.get(attribute))
                .all(|value| !value.is_object() && !value.is_array() && !value.is_null())
        });
        found.push(Reference {
            column: name.clone(),
            attributes,
        });
    }
    found
}

/// What follows from an id.
struct Derived<'a> {
    path: &'a str,
    name: &'a str,
}

impl<'a> Derived<'a> {
    fn of(id: &'a str) -> Derived<'a> {
        let (path, qualified) = split(id);
        let name = match qualified {
            "" => path.rsplit('/').next().unwrap_or(path),
            qualified => {
                let last = qualified.rsplit('.').next().unwrap_or(qualified);
                last.split_once('~').map_or(last, |(name, _)| name)
            }
        };
        Derived { path, name }
    }

    fn get(&self, attribute: &str) -> Option<&'a str> {
        match attribute {
            "path" => Some(self.path),
            "name" => Some(self.name),
            _ => None,
        }
    }
}

fn split(id: &str) -> (&str, &str) {
    id.split_once("::").unwrap_or((id, ""))
}

fn joined(path: &str, qualified: &str) -> String {
    match qualified {
        "" => path.to_string(),
        qualified => format!("{path}::{qualified}"),
    }
}

/// Enough to tell one text from another that the same server sends under the same name.
fn hash_of(value: &Value) -> u64 {
    use sha2::{Digest, Sha256};
    let digest = Sha256::digest(value.to_string().as_bytes());
    digest.iter().take(8).fold(0, |hash, byte| hash << 8 | u64::from(*byte))
}

/// The receiver's side: puts answers together again.
#[derive(Debug, Default)]
pub struct SessionReader {
    known: Known,
    files: HashMap<u64, String, foldhash::fast::RandomState>,
    symbols: HashMap<u64, (String, Map<String, Value>), foldhash::fast::RandomState>,
}

/// A reference that the reader cannot follow: ask for the answer again after a reset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownReference {
    /// The number, or what stood in its place.
    pub found: String,
}

impl std::fmt::Display for UnknownReference {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(formatter, "`{}` refers to nothing that was sent", self.found)
    }
}

impl std::error::Error for UnknownReference {}

impl SessionReader {
    /// A reader that holds nothing.
    pub fn new() -> SessionReader {
        SessionReader::default()
    }

    /// Reads the text of an answer, in the order they were sent: later ones refer to earlier ones.
    pub fn read(&mut self, text: &str) -> Result<Value, UnknownReference> {
        let unreadable = |error: crate::Error| UnknownReference {
            found: error.to_string(),
        };
        let value = match crate::detect(text) {
            Format::Lcx => {
                lcx::from_str_knowing(text, &self.known).map_err(|error| unreadable(crate::Error::Lcx(error)))?
            }
            _ => self.expand(&crate::decode(text).map_err(unreadable)?)?,
        };
        self.known.note(&value);
        Ok(value)
    }

    /// The answer as it was before references were made; an answer without any is given back as it is.
    pub fn expand(&mut self, value: &Value) -> Result<Value, UnknownReference> {
        let unknown = |found: &Value| UnknownReference {
            found: found.to_string(),
        };
        let Some(members) = value.as_object().filter(|members| members.contains_key("session")) else {
            return Ok(value.clone());
        };
        for file in rows_of(members, "files") {
            if let (Some(number), Some(path)) = (file["f"].as_u64(), file["path"].as_str()) {
                self.files.insert(number, path.to_string());
            }
        }
        for row in rows_of(members, "new") {
            let (Some(number), Some(file), Some(row)) = (row["n"].as_u64(), row["f"].as_u64(), row.as_object()) else {
                return Err(unknown(row));
            };
            let path = self.files.get(&file).ok_or_else(|| unknown(&row["f"]))?;
            let id = joined(path, row["q"].as_str().unwrap_or_default());
            let (_, known) = self.symbols.entry(number).or_insert_with(|| (id, Map::new()));
            for name in ATTRIBUTES {
                match row.get(*name) {
                    Some(value) => known.insert((*name).to_string(), value.clone()),
                    None => known.remove(*name),
                };
            }
        }
        let mut whole = Map::new();
        for (name, member) in members {
            if ["files", "new", "session"].contains(&name.as_str()) {
                continue;
            }
            let expanded = match members["session"].get(name).and_then(Value::as_str) {
                None => member.clone(),
                Some(columns) => {
                    let rows = member.as_array().ok_or_else(|| unknown(member))?;
                    rows.iter()
                        .map(|row| self.row(row, columns))
                        .collect::<Result<Value, _>>()?
                }
            };
            whole.insert(name.clone(), expanded);
        }
        Ok(whole.into())
    }

    fn row(&self, row: &Value, columns: &str) -> Result<Value, UnknownReference> {
        let unknown = |found: &Value| UnknownReference {
            found: found.to_string(),
        };
        let references: Vec<Vec<&str>> = columns.split("; ").map(|part| part.split(' ').collect()).collect();
        let mut whole = match row {
            Value::Object(members) => members.clone(),
            number => {
                let column = references
                    .first()
                    .and_then(|reference| reference.first())
                    .ok_or_else(|| unknown(row))?;
                Map::from_iter([((*column).to_string(), number.clone())])
            }
        };
        for reference in references {
            let Some((column, attributes)) = reference.split_first() else {
                continue;
            };
            let number = whole.get(*column).cloned().unwrap_or_default();
            let symbol = number.as_u64().and_then(|number| self.symbols.get(&number));
            let (id, known) = symbol.ok_or_else(|| unknown(&number))?;
            whole.insert((*column).to_string(), id.clone().into());
            let derived = Derived::of(id);
            for name in attributes {
                let bare = match *column {
                    "id" => *name,
                    column => name
                        .strip_prefix(column)
                        .and_then(|rest| rest.strip_prefix('_'))
                        .unwrap_or(name),
                };
                match known.get(bare) {
                    Some(Value::Null) => {}
                    Some(value) => {
                        whole.insert((*name).to_string(), value.clone());
                    }
                    None => {
                        if let Some(text) = derived.get(bare) {
                            whole.insert((*name).to_string(), text.into());
                        }
                    }
                }
            }
        }
        Ok(whole.into())
    }
}

fn rows_of<'a>(members: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    members.get(name).and_then(Value::as_array).map_or(&[], Vec::as_slice)
}
