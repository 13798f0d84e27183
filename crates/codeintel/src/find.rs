//! `find`: anything in words or names, answered with the few places that are meant and the lines of them that matter.
//!
//! The question may be an identifier in any spelling, a path, `path:line`, an error message, a stack trace, a symptom or a task. What it names
//! exactly comes first; the rest is ranked by evidence (`rank`) over regions (`regions`), and of each place the lines with the question's rare
//! words are shown (`lines`). The budget is a ceiling: a page ends after some places, then come names, then a cursor.

mod exact;
mod fill;
mod fold;
mod frames;
mod kinds;
mod lines;
mod messages;
mod query;
mod rank;
mod regions;
mod text;

use index::scan::read_source;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use wire::excerpt::Line;

use self::lines::{Asked, LineEvidence, chosen};
use self::query::Query;
use self::rank::{Place as Ranked, Ranking};
use crate::error::QuestionError;
use crate::page::Page;
use crate::uses::{Count, counted};
use crate::workspace::Workspace;

pub(crate) use kinds::FileKinds;
pub use text::LAYOUT;

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Find {
    /// A task, symptom, error message, stack trace, identifier or path.
    pub query: String,
    /// Only below this path.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// next_cursor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// The places that are meant, best first.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Found {
    /// What to know before trusting them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// With their lines.
    pub places: Vec<Place>,
    /// Those that follow, by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub more: Vec<Place>,
    /// Places that were ranked, without tests.
    pub total: u64,
    /// Places in tests that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub folded_tests: u64,
    /// Where the best of those are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub test_files: Vec<Count>,
    /// For the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// A place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Place {
    /// The file.
    pub path: String,
    /// Its first line.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// `Owner.name`; several where small functions of one file are one place.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Those of its lines that matter.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lines: Vec<Line>,
    /// Places that say nearly the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alike: Vec<String>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Names after the places of a page.
const NAMES: usize = 10;
/// Longest line that is shown, in characters.
const LONGEST: usize = 180;
/// Test files that are named.
const TEST_FILES: usize = 3;
/// A best place with less of the evidence is not sure, among so many of the first.
const UNSURE: f32 = 0.16;
const AMONG: usize = 10;

/// The places that are meant, as many as `max_tokens` hold.
pub fn find(workspace: &Workspace, ask: &Find, max_tokens: usize) -> Result<Found, QuestionError> {
    if ask.query.trim().is_empty() {
        return Err(QuestionError::Argument {
            name: "query",
            problem: "is empty: say a task, a symptom, an error message, a name or a path".to_owned(),
        });
    }
    let page = Page::of(workspace, None, ask.cursor.as_deref(), NAMES)?;
    let query = Query::of(&ask.query);
    let mut ranking = rank::ranking(workspace, &query);
    let is_exact = exact::put_first(workspace, &query, &mut ranking);
    if let Some(path) = ask.path.as_deref() {
        let path = path.trim_start_matches("./");
        ranking
            .places
            .retain(|place| place_path(workspace, place).starts_with(path));
    }
    // Whoever names one thing wants that and what speaks of it, and nothing that is only like it.
    if is_exact && query.is_name {
        ranking
            .places
            .retain(|place| place.is_exact || place.holds_name && !query.names.is_empty());
    }
    let mut found = Found {
        note: workspace.incomplete(),
        ..Found::default()
    };
    fold_tests(workspace, &mut ranking, &mut found);
    if page.offset == 0 && found.note.is_none() {
        found.note = doubt(&ranking, &query, is_exact);
    }
    let groups = fold::groups(workspace, &ranking);
    found.total = groups.iter().map(|group| group.places.len() as u64).sum();
    let all = fill::Groups {
        workspace,
        query: &query,
        ranking: &ranking,
        groups: &groups,
    };
    all.fill(page.offset, max_tokens, &mut found);
    Ok(found)
}

/// A place with what speaks for it, for measurements.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Weighed {
    /// The file.
    pub path: String,
    /// Its first line.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// Parts of the score by name.
    pub parts: Vec<(&'static str, f32)>,
}

/// The best places in the order of the ranking, tests included, with what speaks for each.
pub fn weighed(workspace: &Workspace, asked: &str, most: usize) -> Vec<Weighed> {
    let ranking = rank::ranking(workspace, &Query::of(asked));
    let places = ranking.places.iter().take(most);
    let weighed = places.map(|place| Weighed {
        path: place_path(workspace, place),
        first: place.region.first,
        last: place.region.last,
        parts: place.parts.named(place.region.is_function, place.is_test),
    });
    weighed.collect()
}

fn place_path(workspace: &Workspace, place: &Ranked) -> String {
    let file = workspace.repositories()[place.repository].snapshot.file(place.file);
    file.map_or_else(String::new, |file| workspace.path(place.repository, file.path()))
}

/// Counts tests instead of listing them, unless they are what is asked for or all there is.
fn fold_tests(workspace: &Workspace, ranking: &mut Ranking, found: &mut Found) {
    let others = ranking.places.iter().any(|place| !place.is_test);
    if ranking.wants_tests || !others {
        return;
    }
    let (tests, others): (Vec<Ranked>, Vec<Ranked>) = std::mem::take(&mut ranking.places)
        .into_iter()
        .partition(|place| place.is_test && !place.is_exact);
    ranking.places = others;
    found.folded_tests = tests.len() as u64;
    let best: Vec<String> = tests
        .iter()
        .take(NAMES)
        .map(|place| place_path(workspace, place))
        .collect();
    let mut files = counted(best.iter().map(String::as_str));
    files.truncate(TEST_FILES);
    found.test_files = files;
}

/// What a reader should know before trusting the first place.
fn doubt(ranking: &Ranking, query: &Query, is_exact: bool) -> Option<String> {
    let first = ranking.places.first()?;
    if is_exact {
        return None;
    }
    if first.parts.covered <= 0.0 {
        return Some("no word of this is in the code: these places are only near in meaning".to_owned());
    }
    if query.is_name && first.parts.defines == 0.0 && !query.names.is_empty() {
        let text = query.text.trim();
        let is_said = ranking.places.iter().take(NAMES).any(|place| place.holds_name);
        return (!is_said).then(|| format!("nothing is named `{text}`; the nearest by its words:"));
    }
    let best: Vec<f32> = ranking
        .places
        .iter()
        .take(AMONG)
        .map(|place| (place.order - first.order).exp())
        .collect();
    let share = 1.0 / best.iter().sum::<f32>();
    (best.len() == AMONG && share < UNSURE)
        .then(|| "not sure: many places fit about as well; a name, file or message would say which".to_owned())
}

/// A group without its lines.
fn heading(workspace: &Workspace, ranking: &Ranking, group: &fold::Group) -> Place {
    let mut members: Vec<&Ranked> = group.places.iter().map(|&at| &ranking.places[at]).collect();
    members.sort_by_key(|place| place.region.first);
    let places = || members.iter().copied();
    let first = places().map(|place| place.region.first).min().unwrap_or(1);
    let last = places().map(|place| place.region.last).max().unwrap_or(first);
    let mut names: Vec<String> = Vec::new();
    for place in places() {
        let snapshot = &workspace.repositories()[place.repository].snapshot;
        let symbol = place.region.symbol.and_then(|symbol| snapshot.symbol(symbol));
        if let Some(name) = symbol
            .map(|symbol| symbol.qualified_name())
            .filter(|name| !names.contains(name))
        {
            names.push(name);
        }
    }
    Place {
        path: places()
            .next()
            .map_or_else(String::new, |place| place_path(workspace, place)),
        first,
        last,
        name: names.join(", "),
        lines: Vec::new(),
        alike: group
            .alike
            .iter()
            .map(|&at| {
                let place = &ranking.places[at];
                format!(
                    "{}:{}-{}",
                    place_path(workspace, place),
                    place.region.first,
                    place.region.last
                )
            })
            .collect(),
    }
}

/// A group with the lines that matter; none where its file is gone.
fn shown(workspace: &Workspace, query: &Query, ranking: &Ranking, group: &fold::Group, cap: usize) -> Option<Place> {
    let mut place = heading(workspace, ranking, group);
    let first = &ranking.places[*group.places.first()?];
    let repository = workspace.repository(first.repository)?;
    let file = repository.snapshot.file(first.file)?;
    let (text, _) = read_source(&repository.root, file.path()).ok()?;
    let all: Vec<&str> = text.lines().collect();
    let number = first.repository;
    let asked = Asked::new(
        query,
        &ranking.terms[number],
        &ranking.rarity[number],
        &ranking.name_rarity[number],
    );
    let share = (cap / group.places.len()).max(4);
    for &at in &group.places {
        let region = &ranking.places[at].region;
        let lines = all.get(region.first as usize - 1..(region.last as usize).min(all.len()))?;
        let mut evidence: Vec<LineEvidence> = lines.iter().map(|line| asked.evidence(line)).collect();
        let pointed = ranking.places[at].line.and_then(|line| line.checked_sub(region.first));
        if let Some(pointed) = pointed {
            for (at, line) in evidence.iter_mut().enumerate() {
                line.row += POINTED_AT / (1.0 + (at as u32).abs_diff(pointed) as f32);
            }
        }
        let head = (region.head - region.first) as usize;
        for line in chosen(&asked, &evidence, lines, head, share) {
            place.lines.push(Line {
                line: region.first + line as u32,
                text: clipped(lines[line]),
            });
        }
    }
    place.lines.sort_by_key(|line| line.line);
    place.lines.dedup();
    Some(place)
}

/// What the line that a question points at counts beside its words; those around it less and less.
const POINTED_AT: f32 = 100.0;

fn clipped(line: &str) -> String {
    let line = line.trim_end();
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}
