//! What an index holds and what making it took, in numbers: what `lacon index` and `lacon status` print.

use std::time::Duration;

use index::build::{Indexer, Report};
use index::snapshot::{EdgeKinds, FileFlags, ORIGINS, Snapshot};
use serde::Serialize;
use terminal::usage::{self, size};

/// What `--json` prints.
#[derive(Serialize)]
pub struct Summary {
    pub root: String,
    pub changed: bool,
    pub contents: Contents,
    /// Files that were read, parsed and resolved by this run.
    pub files_read: usize,
    pub files_parsed: usize,
    pub files_resolved: usize,
    pub notices: Vec<&'static str>,
    pub seconds: Seconds,
    pub cpu_seconds: f64,
    pub peak_memory_bytes: u64,
    pub disk_bytes: Disk,
}

#[derive(Serialize)]
pub struct Seconds {
    pub scan: f64,
    pub extract: f64,
    pub resolve: f64,
    pub write: f64,
    pub total: f64,
}

#[derive(Serialize, Clone, Copy)]
pub struct Disk {
    pub snapshot: u64,
    pub facts: u64,
}

/// What a snapshot holds, in numbers.
#[derive(Serialize)]
pub struct Contents {
    pub files: usize,
    pub lines: u64,
    pub bytes: u64,
    pub symbols: usize,
    pub external_symbols: usize,
    pub edges: usize,
    pub edges_by_origin: serde_json::Map<String, serde_json::Value>,
    pub edges_by_kind: serde_json::Map<String, serde_json::Value>,
    pub symbols_by_kind: serde_json::Map<String, serde_json::Value>,
    pub unresolved_calls: u64,
    pub languages: Vec<Language>,
    pub skipped: serde_json::Map<String, serde_json::Value>,
    /// Files that were given up as a whole: too large, or too much work.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub not_parsed: Vec<String>,
}

#[derive(Serialize)]
pub struct Language {
    pub name: String,
    pub files: u32,
    pub lines: u64,
    pub symbols: u64,
}

impl Summary {
    pub fn new(report: &Report, indexer: &Indexer) -> Summary {
        let time = report.time;
        let (snapshot, facts) = indexer.directory().disk_usage();
        let seconds = |time: Duration| time.as_secs_f64();
        Summary {
            root: indexer.root().display().to_string(),
            changed: report.changed,
            contents: Contents::new(&report.snapshot),
            files_read: report.read,
            files_parsed: report.extracted,
            files_resolved: report.resolved,
            notices: report.notices.iter().map(|notice| notice.message()).collect(),
            seconds: Seconds {
                scan: seconds(time.scan),
                extract: seconds(time.extract),
                resolve: seconds(time.resolve),
                write: seconds(time.write),
                total: seconds(time.total),
            },
            cpu_seconds: usage::cpu_seconds(),
            peak_memory_bytes: usage::peak_memory(),
            disk_bytes: Disk { snapshot, facts },
        }
    }

    pub fn text(&self) -> String {
        let mut text = String::new();
        for notice in &self.notices {
            text.push_str(&format!("note: {notice}\n"));
        }
        text.push_str(&self.contents.text());
        let state = match self.changed {
            true => format!(
                "read {}, parsed {}, resolved {} files",
                self.files_read, self.files_parsed, self.files_resolved
            ),
            false => "nothing changed".to_string(),
        };
        text.push_str(&format!(
            "\n{state} in {:.2} s (scan {:.2}, extract {:.2}, resolve {:.2}, write {:.2})\n",
            self.seconds.total, self.seconds.scan, self.seconds.extract, self.seconds.resolve, self.seconds.write
        ));
        text.push_str(&format!(
            "cpu {:.2} s, peak memory {}, on disk {} ({} snapshot, {} facts)",
            self.cpu_seconds,
            size(self.peak_memory_bytes),
            size(self.disk_bytes.snapshot + self.disk_bytes.facts),
            size(self.disk_bytes.snapshot),
            size(self.disk_bytes.facts)
        ));
        text
    }
}

impl Contents {
    pub fn new(snapshot: &Snapshot) -> Contents {
        let totals = snapshot.totals();
        let mut skipped = serde_json::Map::new();
        for file in snapshot.skipped() {
            let count = skipped.entry(file.reason.as_str()).or_insert(0.into());
            *count = (count.as_u64().unwrap_or(0) + 1).into();
        }
        let edges_by_origin = ORIGINS
            .iter()
            .map(|origin| {
                (
                    *origin,
                    totals
                        .edges
                        .iter()
                        .filter(|edge| edge.1 == *origin)
                        .map(|edge| edge.2)
                        .sum(),
                )
            })
            .filter(|(_, count): &(_, u64)| *count > 0)
            .map(|(origin, count)| (name_of(&origin), count.into()))
            .collect();
        let edges_by_kind = EdgeKinds::ALL
            .iter()
            .map(|kind| {
                (
                    kind,
                    totals
                        .edges
                        .iter()
                        .filter(|edge| edge.0 == kind)
                        .map(|edge| edge.2)
                        .sum(),
                )
            })
            .filter(|(_, count): &(_, u64)| *count > 0)
            .map(|(kind, count)| (name_of(&kind), count.into()))
            .collect();
        Contents {
            files: snapshot.file_count(),
            lines: totals.lines,
            bytes: totals.bytes,
            symbols: snapshot.symbol_count() - snapshot.file_count(),
            external_symbols: snapshot.external_count(),
            edges: snapshot.edge_count(),
            edges_by_origin,
            edges_by_kind,
            symbols_by_kind: totals
                .symbols
                .iter()
                .map(|(kind, count)| (name_of(kind), (*count).into()))
                .collect(),
            unresolved_calls: totals.unresolved_calls,
            languages: snapshot
                .languages()
                .map(|language| Language {
                    name: language.name().to_string(),
                    files: language.files(),
                    lines: language.lines(),
                    symbols: language.symbols(),
                })
                .collect(),
            skipped,
            not_parsed: snapshot
                .files()
                .filter(|file| file.flags().contains(FileFlags::UNPARSED))
                .map(|file| file.path().to_owned())
                .collect(),
        }
    }

    pub fn text(&self) -> String {
        if self.files == 0 {
            let skipped = match self.skipped.is_empty() {
                true => String::new(),
                false => format!(" (skipped: {})", listed(&self.skipped)),
            };
            return format!("files     0: nothing here is in a language that Lacon reads{skipped}");
        }
        let mut languages: Vec<&Language> = self.languages.iter().collect();
        languages.sort_by_key(|language| std::cmp::Reverse(language.lines));
        let mut shown: Vec<String> = languages
            .iter()
            .take(6)
            .map(|language| format!("{} {}", language.name, language.files))
            .collect();
        if languages.len() > 6 {
            shown.push(format!("{} more", languages.len() - 6));
        }
        let mut text = format!(
            "files     {} ({}), {} lines, {}\nsymbols   {}, and {} external\nedges     {} ({})",
            self.files,
            shown.join(", "),
            self.lines,
            size(self.bytes),
            self.symbols,
            self.external_symbols,
            self.edges,
            listed(&self.edges_by_origin)
        );
        text.push_str(&format!("\nunresolved calls  {}", self.unresolved_calls));
        if !self.skipped.is_empty() {
            text.push_str(&format!("\nskipped   {}", listed(&self.skipped)));
        }
        if !self.not_parsed.is_empty() {
            const NAMED: usize = 5;
            let named: Vec<&str> = self.not_parsed.iter().take(NAMED).map(String::as_str).collect();
            let more = match self.not_parsed.len().saturating_sub(NAMED) {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            text.push_str(&format!(
                "\nnot parsed  {}: too large or too much work, so none of their symbols are known ({}{more})",
                self.not_parsed.len(),
                named.join(", ")
            ));
        }
        text
    }
}

fn listed(counts: &serde_json::Map<String, serde_json::Value>) -> String {
    let parts: Vec<String> = counts.iter().map(|(name, count)| format!("{name} {count}")).collect();
    parts.join(", ")
}

/// The name that JSON gives a value.
pub fn name_of(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(name)) => name,
        _ => String::new(),
    }
}
