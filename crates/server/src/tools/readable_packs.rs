//! Context packs and communities for a person at a terminal: what was asked, then what lies around it by how far it is, then the
//! sources as they stand in their files. What serves only the next question, hashes and roots, is left out.

use std::collections::BTreeMap;
use std::fmt::Write;

use codeintel::context::{CommunityTable, ContextPack};
use serde_json::Value;
use terminal::output::Paint;

/// The answer of a tool that gives a pack, or of `communities`; `None` for all others.
pub fn readable(tool: &str, value: &Value, paint: Paint) -> Option<String> {
    let is_pack = matches!(
        tool,
        "context_for_task" | "context_for_files" | "context_for_pr" | "blast_radius" | "explain_symbol" | "communities"
    );
    if !is_pack {
        return None;
    }
    if let Ok(table) = serde_json::from_value::<CommunityTable>(value.clone()) {
        return Some(communities(&table, paint));
    }
    let pack: ContextPack = serde_json::from_value(value.clone()).ok()?;
    Some(self::pack(&pack, paint))
}

fn pack(pack: &ContextPack, paint: Paint) -> String {
    let mut out = String::new();
    // Writing to a string cannot fail.
    if let Some(note) = &pack.note {
        let _ = writeln!(out, "{note}\n");
    }
    let lines: BTreeMap<&str, u64> = pack
        .sources
        .iter()
        .map(|source| (source.id.as_str(), source.line))
        .collect();
    let reasons: BTreeMap<&str, &str> = pack
        .reasons
        .iter()
        .map(|reason| (reason.id.as_str(), reason.reason.as_str()))
        .collect();
    let mut group = None;
    for symbol in &pack.symbols {
        if group != Some(symbol.distance) {
            group = Some(symbol.distance);
            let _ = writeln!(out, "{}", paint.dim(away(symbol.distance)));
        }
        let (path, name) = symbol.id.split_once("::").unwrap_or((&symbol.id, ""));
        let place = match lines.get(symbol.id.as_str()) {
            Some(line) => format!("{}:{}", paint.file(path), paint.line(&line.to_string())),
            None => paint.file(path),
        };
        let word = symbol.provenance.split('~').next().unwrap_or_default();
        let why = reasons.get(symbol.id.as_str()).copied().unwrap_or(word);
        let what = format!("{}, {why}", symbol.kind);
        let name = match name {
            "" => String::new(),
            name => format!(" {}", paint.name(name)),
        };
        let _ = writeln!(out, "  {:.2} {place}{name}  {}", symbol.score, paint.dim(&what));
    }
    for source in &pack.sources {
        let (path, name) = source.id.split_once("::").unwrap_or((&source.id, ""));
        let place = format!("{}:{}", paint.file(path), paint.line(&source.line.to_string()));
        let _ = writeln!(out, "\n{place} {}  {}", paint.name(name), paint.dim(&source.form));
        for line in source.text.lines() {
            let _ = writeln!(out, "    {line}");
        }
    }
    let _ = write!(out, "\n{} of {} symbols", pack.symbols.len(), pack.total);
    if let Some(missing) = &pack.incomplete {
        let _ = write!(out, "\n{} {missing}", paint.warn("incomplete:"));
    }
    out
}

/// Edges from what was asked, in words.
fn away(distance: u64) -> &'static str {
    match distance {
        0 => "asked for",
        1 => "one step away",
        2 => "two steps away",
        3 => "three steps away",
        _ => "farther away",
    }
}

fn communities(table: &CommunityTable, paint: Paint) -> String {
    let mut out = String::new();
    for row in &table.communities {
        let size = format!(
            "{} symbols, {:.0} % of their uses inside",
            row.size,
            row.cohesion * 100.0
        );
        let number = format!("{:>6}", row.community);
        let _ = writeln!(
            out,
            "{} {}  {}",
            paint.line(&number),
            paint.file(&row.directory),
            paint.dim(&size)
        );
        // A member and its owner are one thing to know.
        let mut names: Vec<&str> = Vec::new();
        for id in &row.top {
            let name = id.split_once("::").map_or(id.as_str(), |(_, name)| name);
            let owner = name.strip_suffix(".__init__").unwrap_or(name);
            if !names.contains(&owner) {
                names.push(owner);
            }
        }
        let _ = writeln!(out, "       {}", paint.name(&names.join(", ")));
    }
    let _ = write!(out, "\n{} of {} communities", table.communities.len(), table.total);
    if let Some(cursor) = &table.next_cursor {
        let _ = write!(out, "; the next with --cursor {cursor}");
    }
    if let Some(missing) = &table.incomplete {
        let _ = write!(out, "\n{} {missing}", paint.warn("incomplete:"));
    }
    out
}
