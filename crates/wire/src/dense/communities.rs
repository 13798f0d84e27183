//! Groups of symbols: a line for each, and below it the symbols that stand for it, by file.
//!
//! ```text
//! LCX1 tool=communities fields=community+size+cohesion+directory,symbols etag=e806282983 modularity=0.919 total=1
//! 465 5419 0.98 pkg/volume/csi
//! pkg/volume/plugins.go<TAB>Spec,Spec.Name,.PersistentVolume
//! ./util/types/types.go<TAB>UniquePodName
//! plugins.go<TAB>VolumePluginMgr
//! ```
//!
//! Paths shorten those below them as everywhere, and so do symbols in a list. A line that begins with its tab goes on in the file
//! above.

use std::fmt::Write;

use serde_json::{Map, Number, Value};

use super::Known;
use super::cells::{escaped, unescaped};
use super::names::Above;
use super::place::{Paths, Place};
use super::targets::is_plain_name;
use super::whole::{self, Said, number, text};
use crate::gcx::Header;
use crate::lcx::{TAG, lines};

pub(super) const TOOL: &str = "communities";

const SAID: &[Said] = &[
    number("modularity"),
    number("total"),
    text("next_cursor"),
    text("etag"),
    text("incomplete"),
];
/// The members of a row that are numbers, in their order.
const NUMBERS: [&str; 3] = ["community", "size", "cohesion"];

pub(super) fn to_string(value: &Value) -> Option<String> {
    let members = value.as_object()?;
    let rows = super::objects(members.get(TOOL)?)?;
    let places: Vec<Vec<Place<'_>>> = rows.iter().map(|row| places(row)).collect::<Option<_>>()?;
    let mut paths = Paths::of(places.iter().flatten().map(|place| place.path));
    let mut out = format!(
        "{TAG} tool={TOOL} fields={}+directory,symbols{}",
        NUMBERS.join("+"),
        paths.entry()
    );
    whole::put(&mut out, SAID, members, &[TOOL])?;
    let unknown = Known::default();
    let mut above = Above::default();
    for (row, places) in rows.iter().zip(&places) {
        for name in NUMBERS {
            write!(out, "{} ", row.get(name)?.as_number()?).ok()?;
        }
        writeln!(out, "{}", escaped(row.get("directory")?.as_str()?)?).ok()?;
        for run in places.chunk_by(|one, next| one.path == next.path) {
            let path = run.first()?.path;
            out.push_str(&paths.say(path).unwrap_or_default());
            above.clear();
            for (at, place) in run.iter().enumerate() {
                let said = above.say(*place, &unknown);
                write!(
                    out,
                    "{}{}",
                    if at == 0 { '\t' } else { ',' },
                    said.trim_start_matches(' ')
                )
                .ok()?;
            }
            out.push('\n');
        }
    }
    Some(out)
}

/// The symbols of a row that has the usual members and no others.
fn places<'a>(row: &'a Map<String, Value>) -> Option<Vec<Place<'a>>> {
    let top = row.get("top").filter(|_| row.len() == NUMBERS.len() + 2)?;
    let place = |id: &'a Value| Place::of_id(id.as_str()?).filter(|place| is_plain_name(place.symbol));
    top.as_array()?.iter().map(place).collect()
}

pub(super) fn from_str(header: &Header, body: &str) -> Option<Value> {
    let mut answer = Map::new();
    let mut rows: Vec<Map<String, Value>> = Vec::new();
    let mut paths = Paths::read(header);
    let unknown = Known::default();
    let mut above = Above::default();
    for line in lines(body) {
        if line.starts_with(|c: char| c.is_ascii_digit()) {
            let mut cells = line.splitn(NUMBERS.len() + 1, ' ');
            let mut row = Map::new();
            for name in NUMBERS {
                row.insert(name.into(), serde_json::from_str::<Number>(cells.next()?).ok()?.into());
            }
            row.insert("directory".into(), unescaped(cells.next()?)?.into());
            row.insert("top".into(), Value::Array(Vec::new()));
            rows.push(row);
        } else if let Some(row) = rows.last_mut() {
            let (path, names) = line.split_once('\t')?;
            if !path.is_empty() {
                paths.hear(path);
            }
            above.clear();
            let top = row.get_mut("top")?.as_array_mut()?;
            for said in names.split(',') {
                let said = match said.starts_with('.') {
                    true => said.to_string(),
                    false => format!(" {said}"),
                };
                let symbol = above.hear(&said, &unknown)?.0;
                top.push(Value::String(format!("{}::{symbol}", paths.path())));
            }
        } else if !whole::sentence(line, SAID, &mut answer)? {
            return None;
        }
    }
    whole::read(header, SAID, &mut answer)?;
    answer.insert(TOOL.into(), rows.into_iter().map(Value::Object).collect());
    Some(answer.into())
}
