//! The rows of each kind of answer, both ways. A file's line has no place in it where its rows follow below; a folder's ends
//! with a slash, and a file without one in its name lies in the folder named last, at first in that of what was asked about. An
//! empty name is the file asked about itself.

use serde_json::{Map, Value, json};

use super::Body;
use super::folder::Folder;
use crate::gcx::Header;

/// Rows as they are sent.
pub(super) struct Written {
    pub(super) fields: String,
    /// For the header; their names have a dot.
    pub(super) entries: Vec<(String, String)>,
    pub(super) lines: Vec<String>,
    /// The members that the rows say.
    pub(super) rows: Map<String, Value>,
}

/// Takes the members that become rows out of an answer and writes them.
pub(super) fn write(body: Body, here: &str, members: &mut Map<String, Value>) -> Option<Written> {
    let mut rows = Map::new();
    for name in body.members() {
        rows.insert((*name).to_string(), members.remove(*name).filter(Value::is_array)?);
    }
    let mut entries = Vec::new();
    let (fields, lines) = match body {
        Body::Mentions => mentions(&rows, here, &mut entries)?,
        Body::Declared => ("name,lines,kind,sig", declared(&rows)?),
        Body::Findings => ("severity,code,message,lines:column", findings(&rows, &mut entries)?),
        Body::Callers => {
            let lines = callers(&rows, here)?;
            let is_called = rows
                .get("callers")?
                .as_array()
                .is_some_and(|callers| !callers.is_empty());
            (
                if is_called {
                    "caller,line,lines:column"
                } else {
                    "file,count"
                },
                lines,
            )
        }
    };
    // Where no column is shared, nothing needs to be explained.
    let shares = |line: &String| {
        line.rsplit('\t')
            .any(|cell| cell.contains(',') && read_numbers(cell).is_some())
    };
    let fields = match lines.iter().any(shares) {
        true => fields.to_string(),
        false => fields.replace("lines:column", "at"),
    };
    Some(Written {
        fields,
        entries,
        lines,
        rows,
    })
}

/// The members that rows say.
pub(super) fn read(body: Body, header: &Header, here: &str, lines: &[&str]) -> Option<Map<String, Value>> {
    let mut rows = Map::new();
    for name in body.members() {
        rows.insert((*name).to_string(), json!([]));
    }
    match body {
        Body::Mentions => read_mentions(header, here, lines, list(&mut rows, "references")?)?,
        Body::Declared => read_declared(lines, list(&mut rows, "symbols")?)?,
        Body::Findings => read_findings(header, lines, list(&mut rows, "diagnostics")?)?,
        Body::Callers => read_callers(here, lines, &mut rows)?,
    }
    Some(rows)
}

impl Body {
    fn members(self) -> &'static [&'static str] {
        match self {
            Body::Mentions => &["references"],
            Body::Declared => &["symbols"],
            Body::Findings => &["diagnostics"],
            Body::Callers => &["files", "callers"],
        }
    }
}

fn list<'a>(rows: &'a mut Map<String, Value>, name: &str) -> Option<&'a mut Vec<Value>> {
    rows.get_mut(name)?.as_array_mut()
}

/// A row whose members are all among the known ones.
fn known<'a>(row: &'a Value, names: &[&str]) -> Option<&'a Map<String, Value>> {
    let row = row.as_object()?;
    row.keys().all(|name| names.contains(&name.as_str())).then_some(row)
}

fn text<'a>(row: &'a Map<String, Value>, name: &str) -> Option<&'a str> {
    row.get(name)?.as_str()
}

fn mentions(
    rows: &Map<String, Value>,
    here: &str,
    entries: &mut Vec<(String, String)>,
) -> Option<(&'static str, Vec<String>)> {
    let all = rows.get("references")?.as_array()?;
    let first = all.first().and_then(|row| row.get("origin"));
    let one_origin = all.iter().all(|row| row.get("origin") == first);
    if let Some(origin) = first.filter(|_| one_origin) {
        entries.push(("all.origin".to_string(), plain(origin.as_str()?)?.to_string()));
    }
    let mut lines = Vec::new();
    let paths: Vec<&str> = all.iter().filter_map(|row| row.get("path")?.as_str()).collect();
    let mut folder = Folder::of(here, &paths);
    for (at, row) in all.iter().enumerate() {
        let row = known(row, &["path", "at", "origin"])?;
        let next = all.get(at + 1).and_then(|row| row.get("path")?.as_str());
        let name = folder.enter(plain(text(row, "path")?)?, next, &mut lines)?;
        let mut line = format!("{name}\t{}", places(row.get("at")?)?);
        if let Some(origin) = row.get("origin").filter(|_| !one_origin) {
            line = format!("{line}\t{}", plain(origin.as_str()?)?);
        }
        lines.push(line);
    }
    let fields = if one_origin {
        "lines:column"
    } else {
        "lines:column,origin"
    };
    Some((fields, lines))
}

fn read_mentions(header: &Header, here: &str, lines: &[&str], rows: &mut Vec<Value>) -> Option<()> {
    let mut folder = Folder::at(here);
    for line in lines {
        let mut cells = line.split('\t');
        let Some(path) = folder.read(cells.next()?) else {
            continue;
        };
        let mut row = Map::new();
        row.insert("path".into(), path.into());
        row.insert("at".into(), read_places(cells.next()?)?.into());
        let origin = header.entry("all.origin").or_else(|| cells.next());
        row.extend(origin.map(|origin| ("origin".to_string(), origin.into())));
        rows.push(Value::Object(row));
    }
    Some(())
}

/// The kind that goes without saying.
fn usual_kind(name: &str) -> &'static str {
    if name.contains('.') { "method" } else { "function" }
}

fn owner(name: &str) -> Option<&str> {
    let owner = name.rsplit_once('.').map(|(owner, _)| owner);
    owner.filter(|owner| !owner.is_empty())
}

fn declared(rows: &Map<String, Value>) -> Option<Vec<String>> {
    let mut lines = Vec::new();
    let mut above = None;
    for row in rows.get("symbols")?.as_array()? {
        let row = known(row, &["name", "kind", "lines", "sig"])?;
        let name = text(row, "name").filter(|name| !name.starts_with('.') && !name.is_empty())?;
        let (start, end) = text(row, "lines")?.split_once(':')?;
        let span = match number(start)? == number(end)? {
            true => start.to_string(),
            false => format!("{start}:{end}"),
        };
        let shown = match owner(name) {
            Some(owner) if above == Some(owner) => &name[owner.len()..],
            _ => name,
        };
        above = owner(name);
        let kind = Some(text(row, "kind")?)
            .filter(|kind| *kind != usual_kind(name))
            .unwrap_or_default();
        let sig = match row.get("sig") {
            None => String::new(),
            Some(sig) => escaped(sig.as_str()?).filter(|sig| !sig.is_empty())?,
        };
        let line = format!("{}\t{span}\t{}\t{sig}", plain(shown)?, escaped(kind)?);
        lines.push(line.trim_end_matches('\t').to_string());
    }
    Some(lines)
}

fn read_declared(lines: &[&str], rows: &mut Vec<Value>) -> Option<()> {
    let mut above = String::new();
    for line in lines {
        let mut cells = line.split('\t');
        let (shown, span) = (cells.next()?, cells.next()?);
        let (kind, sig) = (cells.next().unwrap_or_default(), cells.next().unwrap_or_default());
        let name = match shown.starts_with('.') {
            true if above.is_empty() => return None,
            true => format!("{above}{shown}"),
            false => shown.to_string(),
        };
        above = owner(&name).unwrap_or_default().to_string();
        let kind = match kind {
            "" => usual_kind(&name).to_string(),
            kind => unescaped(kind)?,
        };
        let span = if span.contains(':') {
            span.to_string()
        } else {
            format!("{span}:{span}")
        };
        let mut row = Map::new();
        row.insert("name".into(), name.into());
        row.insert("kind".into(), kind.into());
        row.insert("lines".into(), span.into());
        if !sig.is_empty() {
            row.insert("sig".into(), unescaped(sig)?.into());
        }
        rows.push(Value::Object(row));
    }
    Some(())
}

/// Findings as they came, where their places are not in order.
const AS_LISTED: (&str, &str) = ("rows.order", "listed");

/// What is found somewhere, and where.
struct Finding<'a> {
    path: &'a str,
    said: String,
    at: Vec<(u64, u64)>,
}

fn findings(rows: &Map<String, Value>, entries: &mut Vec<(String, String)>) -> Option<Vec<String>> {
    let mut found: Vec<Finding> = Vec::new();
    for row in rows.get("diagnostics")?.as_array()? {
        let row = known(row, &["path", "at", "severity", "code", "message"])?;
        let code = match row.get("code") {
            None => String::new(),
            Some(code) => escaped(code.as_str()?).filter(|code| !code.is_empty())?,
        };
        let message = escaped(text(row, "message")?)?;
        found.push(Finding {
            path: plain(text(row, "path")?)?,
            said: format!("{}\t{code}\t{message}", plain(text(row, "severity")?)?),
            at: vec![place(text(row, "at")?)?],
        });
    }
    // Two findings at one place have an order that the place does not give.
    let in_order = found
        .windows(2)
        .all(|pair| (pair[0].path, &pair[0].at) < (pair[1].path, &pair[1].at));
    if in_order {
        let mut joined: Vec<Finding> = Vec::new();
        for finding in found {
            let same = joined.iter_mut().rev().take_while(|other| other.path == finding.path);
            match { same }.find(|other| other.said == finding.said) {
                Some(other) => other.at.extend(finding.at),
                None => joined.push(finding),
            }
        }
        found = joined;
    } else {
        entries.push((AS_LISTED.0.to_string(), AS_LISTED.1.to_string()));
    }
    let mut lines = Vec::new();
    let mut folder = Folder::at("");
    let mut under = "";
    for (at, finding) in found.iter().enumerate() {
        if finding.path != under {
            let next = found[at..]
                .iter()
                .map(|other| other.path)
                .find(|path| *path != finding.path);
            let name = folder.enter(finding.path, next, &mut lines)?;
            lines.push(name.to_string());
            under = finding.path;
        }
        lines.push(format!("{}\t{}", finding.said, spelled(&finding.at)));
    }
    Some(lines)
}

/// File, place and row of a finding.
type Placed = (String, (u64, u64), Map<String, Value>);

fn read_findings(header: &Header, lines: &[&str], rows: &mut Vec<Value>) -> Option<()> {
    let mut found: Vec<Placed> = Vec::new();
    let mut folder = Folder::at("");
    let mut under = String::new();
    for line in lines {
        let Some((said, at)) = line.rsplit_once('\t') else {
            if let Some(path) = folder.read(line) {
                under = path;
            }
            continue;
        };
        let mut cells = said.split('\t');
        let (severity, code, message) = (cells.next()?, cells.next()?, cells.next()?);
        for (line, column) in read_numbers(at)? {
            let mut row = Map::new();
            row.insert("path".into(), under.clone().into());
            row.insert("at".into(), format!("{line}:{column}").into());
            row.insert("severity".into(), severity.into());
            if !code.is_empty() {
                row.insert("code".into(), unescaped(code)?.into());
            }
            row.insert("message".into(), unescaped(message)?.into());
            found.push((under.clone(), (line, column), row));
        }
    }
    if header.entry(AS_LISTED.0) != Some(AS_LISTED.1) {
        found.sort_by(|one, other| (&one.0, one.1).cmp(&(&other.0, other.1)));
    }
    rows.extend(found.into_iter().map(|(_, _, row)| Value::Object(row)));
    Some(())
}

fn callers(rows: &Map<String, Value>, here: &str) -> Option<Vec<String>> {
    let mut files: Vec<(&str, Option<u64>, Vec<String>)> = Vec::new();
    let mut last = None;
    for row in rows.get("files")?.as_array()? {
        let row = known(row, &["path", "count"])?;
        let (path, count) = (plain(text(row, "path")?)?, row.get("count")?.as_u64()?);
        // The reader finds the order by count and path.
        let order = (std::cmp::Reverse(count), path);
        if last.is_some_and(|last| last >= order) {
            return None;
        }
        last = Some(order);
        files.push((path, Some(count), Vec::new()));
    }
    let mut last = None;
    for row in rows.get("callers")?.as_array()? {
        let row = known(row, &["name", "path", "line", "calls"])?;
        let (path, line) = (plain(text(row, "path")?)?, row.get("line")?.as_u64()?);
        if last.is_some_and(|last| last > (path, line)) {
            return None;
        }
        last = Some((path, line));
        let written = format!(
            "{}\t{line}\t{}",
            escaped(text(row, "name")?)?,
            places(row.get("calls")?)?
        );
        match files.iter_mut().find(|(known, ..)| *known == path) {
            Some((_, _, callers)) => callers.push(written),
            None => files.push((path, None, vec![written])),
        }
    }
    files.sort();
    let mut lines = Vec::new();
    let paths: Vec<&str> = files.iter().map(|(path, ..)| *path).collect();
    let mut folder = Folder::of(here, &paths);
    for (at, (path, count, callers)) in files.iter().enumerate() {
        let next = files.get(at + 1).map(|(path, ..)| *path);
        let name = folder.enter(path, next, &mut lines)?;
        lines.push(match count {
            Some(count) => format!("{name}\t{count}"),
            // A blank line is no row.
            None if name.is_empty() => "\t".to_string(),
            None => name.to_string(),
        });
        lines.extend(callers.iter().cloned());
    }
    Some(lines)
}

fn read_callers(here: &str, lines: &[&str], rows: &mut Map<String, Value>) -> Option<()> {
    let mut folder = Folder::at(here);
    let mut path = String::new();
    let mut files: Vec<(std::cmp::Reverse<u64>, String)> = Vec::new();
    for line in lines {
        let cells: Vec<&str> = line.split('\t').collect();
        match cells.as_slice() {
            [name, line, calls] => {
                let calls = read_places(calls)?;
                let line: u64 = line.parse().ok()?;
                let caller = json!({"name": unescaped(name)?, "path": path, "line": line, "calls": calls});
                list(rows, "callers")?.push(caller);
            }
            ["", ""] => path = folder.read("")?,
            [name, count] => {
                path = folder.read(name)?;
                files.push((std::cmp::Reverse(count.parse().ok()?), path.clone()));
            }
            [name] => {
                if let Some(named) = folder.read(name) {
                    path = named;
                }
            }
            _ => return None,
        }
    }
    files.sort();
    let files = files
        .into_iter()
        .map(|(count, path)| json!({"path": path, "count": count.0}));
    list(rows, "files")?.extend(files);
    Some(())
}

/// A list of `line:column` in few words.
fn places(list: &Value) -> Option<String> {
    let list: Vec<(u64, u64)> = list
        .as_array()?
        .iter()
        .map(|at| place(at.as_str()?))
        .collect::<Option<_>>()?;
    list.is_sorted_by(|one, other| one < other).then(|| spelled(&list))
}

/// `lines:column` for each column, in the order of the first lines.
fn spelled(places: &[(u64, u64)]) -> String {
    let mut columns: Vec<(u64, String)> = Vec::new();
    for (line, column) in places {
        match columns.iter_mut().find(|(known, _)| known == column) {
            Some((_, lines)) => lines.push_str(&format!(",{line}")),
            None => columns.push((*column, line.to_string())),
        }
    }
    let parts: Vec<String> = columns
        .into_iter()
        .map(|(column, lines)| format!("{lines}:{column}"))
        .collect();
    parts.join(" ")
}

fn read_places(cell: &str) -> Option<Vec<Value>> {
    let places = read_numbers(cell)?.into_iter();
    Some(places.map(|(line, column)| format!("{line}:{column}").into()).collect())
}

fn read_numbers(cell: &str) -> Option<Vec<(u64, u64)>> {
    let mut places = Vec::new();
    for part in cell.split(' ').filter(|part| !part.is_empty()) {
        let (lines, column) = part.split_once(':')?;
        let column = number(column)?;
        for line in lines.split(',') {
            places.push((number(line)?, column));
        }
    }
    places.sort_unstable();
    Some(places)
}

fn place(at: &str) -> Option<(u64, u64)> {
    let (line, column) = at.split_once(':')?;
    Some((number(line)?, number(column)?))
}

/// A number as we spell it.
fn number(text: &str) -> Option<u64> {
    let number: u64 = text.parse().ok()?;
    (number.to_string() == text).then_some(number)
}

/// A text that can stand in a line as it is, at its beginning too.
fn plain(text: &str) -> Option<&str> {
    let is_plain = !text.is_empty()
        && !text.starts_with('#')
        && !text.starts_with("GCX1")
        && !text.contains(|c: char| c.is_control() || c == '\\');
    is_plain.then_some(text)
}

fn escaped(text: &str) -> Option<String> {
    crate::dense::escaped(text)
}

fn unescaped(text: &str) -> Option<String> {
    crate::dense::unescaped(text)
}
