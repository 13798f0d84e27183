//! A pack as what changed since one that the client holds. The graph's part is that of the graph profile; of the sources, those
//! that only moved are told once per file, and those that changed as the lines that did; a name that changed is told once for all
//! that is in it.
//!
//! A client applies it to the pack it has, all or nothing: the result must have the root that the delta names.

use std::collections::{BTreeMap, HashMap, HashSet};

use serde::{Deserialize, Serialize};

use super::context_pack::{ContextPack, PackEdge, PackReason, PackSource, PackSymbol, from_word, to_word};
use super::pack_names::Renamed;
use super::pack_restated::{Restated, Reworded, reword};
use crate::counted::counted_parts;
use crate::gcf::{self, Category, graph};
use crate::{lcx, line_edit};

/// What changed between two packs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PackDelta {
    /// Always true: tells a delta from a whole pack.
    pub delta: bool,
    /// The root of the pack that it applies to, and the one of the pack that it gives.
    pub base_root: String,
    pub new_root: String,
    /// Names that changed: what the client holds is read under the new ones before anything else of the delta.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub renamed: Vec<Renamed>,
    /// What is other about the symbols that the client holds, after that.
    #[serde(default, skip_serializing_if = "is_nothing")]
    pub restated: Restated,
    /// Symbols that are gone; one that is other now is both gone and added.
    #[serde(default)]
    pub removed: Vec<PackName>,
    #[serde(default)]
    pub added: Vec<PackSymbol>,
    #[serde(default)]
    pub edges_removed: Vec<PackEdge>,
    #[serde(default)]
    pub edges_added: Vec<PackEdge>,
    /// Lines that moved, before anything else of the sources is read.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub moved: Vec<Moved>,
    /// Sources that are new or other.
    #[serde(default)]
    pub sources: Vec<SourceChange>,
    /// Symbols whose source is no longer part of the pack.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub gone: Vec<String>,
    /// Reasons that are new or other.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<PackReason>,
    pub total: u64,
    pub truncated: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// A symbol that is gone.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PackName {
    pub kind: String,
    pub id: String,
}

/// From line `from` on, up to the next such row of the file, what stood at a line stands `by` lines below it.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Moved {
    pub path: String,
    pub from: u64,
    pub by: i64,
}

/// A source that is new or other: its whole `text`, or the `edit` of the text that the client has of it (or `of` another
/// symbol); neither where only its line is other.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct SourceChange {
    pub id: String,
    pub form: String,
    pub line: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub edit: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub of: Option<String>,
}

/// Rows for one file at most: a file that was shuffled is told by its sources.
const MOST_MOVES: usize = 4;
/// Sources of removed symbols that a new one may be a copy of.
const MOST_ORIGINS: usize = 8;

impl PackDelta {
    /// What turns `base` into `pack`, with the names that the pack says changed.
    pub fn between(base: &ContextPack, pack: &ContextPack) -> PackDelta {
        let renamed: Vec<Renamed> = pack
            .renamed
            .iter()
            .filter(|row| base.symbols.iter().any(|symbol| row.of(&symbol.id).is_some()))
            .cloned()
            .collect();
        let delta = PackDelta::of_names(&base.under(&renamed), pack);
        PackDelta {
            base_root: base.pack_root.clone(),
            renamed,
            ..delta
        }
    }

    /// The same in fewer words, for a client that knows the places of its symbols: what is other about them is said by these.
    pub fn by_places(&self, base: &ContextPack, pack: &ContextPack) -> PackDelta {
        let base = base.under(&self.renamed);
        let mut restated = Restated::between(&base, pack);
        restated.words = reworded(&base, pack, &self.renamed);
        match base.restated(&restated) {
            Some(base) => PackDelta {
                base_root: self.base_root.clone(),
                renamed: self.renamed.clone(),
                restated,
                ..PackDelta::of_names(&base, pack)
            },
            None => self.clone(),
        }
    }

    /// What turns `base` into `pack`, every name as it is.
    fn of_names(base: &ContextPack, pack: &ContextPack) -> PackDelta {
        let moved = moves(base, pack);
        let held: HashMap<&str, PackSource> = base
            .sources
            .iter()
            .map(|source| (source.id.as_str(), shifted(source, &moved)))
            .collect();
        let kept: HashSet<&str> = pack.symbols.iter().map(|symbol| symbol.id.as_str()).collect();
        let shown: HashSet<&str> = pack.sources.iter().map(|source| source.id.as_str()).collect();
        let lost: Vec<&PackSource> = base
            .sources
            .iter()
            .filter(|source| !kept.contains(source.id.as_str()))
            .collect();
        let edges = |of: &ContextPack, not: &ContextPack| -> Vec<PackEdge> {
            let not: HashSet<(&str, &str, &str)> = not.edges.iter().map(ends).collect();
            of.edges
                .iter()
                .filter(|edge| !not.contains(&ends(edge)))
                .cloned()
                .collect()
        };
        let other = |symbols: &[PackSymbol], than: &[PackSymbol]| -> Vec<PackSymbol> {
            let than: HashMap<&str, &PackSymbol> = than.iter().map(|symbol| (symbol.id.as_str(), symbol)).collect();
            let is_other = |symbol: &&PackSymbol| than.get(symbol.id.as_str()) != Some(symbol);
            symbols.iter().filter(is_other).cloned().collect()
        };
        PackDelta {
            delta: true,
            base_root: base.pack_root.clone(),
            new_root: pack.pack_root.clone(),
            removed: other(&base.symbols, &pack.symbols)
                .into_iter()
                .map(|symbol| PackName {
                    kind: symbol.kind,
                    id: symbol.id,
                })
                .collect(),
            added: other(&pack.symbols, &base.symbols),
            edges_removed: edges(base, pack),
            edges_added: edges(pack, base),
            sources: pack
                .sources
                .iter()
                .filter_map(|source| source_change(source, &held, &lost))
                .collect(),
            gone: base
                .sources
                .iter()
                .filter(|source| kept.contains(source.id.as_str()) && !shown.contains(source.id.as_str()))
                .map(|source| source.id.clone())
                .collect(),
            reasons: pack
                .reasons
                .iter()
                .filter(|reason| !base.reasons.contains(reason))
                .cloned()
                .collect(),
            total: pack.total,
            truncated: pack.truncated,
            note: pack.note.clone(),
            incomplete: pack.incomplete.clone(),
            renamed: Vec::new(),
            restated: Restated::default(),
            moved,
        }
    }

    /// The pack that `base` becomes; its root is the one that the delta names, or there is none.
    pub fn apply(&self, base: &ContextPack) -> gcf::Result<ContextPack> {
        let root = base.root()?;
        if root != self.base_root {
            let found = format!("a delta for `{}`", self.base_root);
            return Err(gcf::Error::new(Category::BaseMismatch, found, root));
        }
        let base = base.under(&self.renamed).restated(&self.restated);
        let base = &base.ok_or_else(|| {
            gcf::Error::new(
                Category::DeltaInvalid,
                "a place that the pack has not".to_string(),
                "places of symbols of the base",
            )
        })?;
        let mut graph = self.graph("");
        graph.base_root = base.root()?;
        let graph = graph::apply(&base.graph(""), &graph)?;
        let broken = |id: &str| {
            gcf::Error::new(
                Category::DeltaInvalid,
                format!("a source of `{id}` that does not fit"),
                "an edit of a text of the base",
            )
        };
        let symbols: Vec<PackSymbol> = graph.symbols.iter().map(PackSymbol::from).collect();
        let kept: HashSet<&str> = symbols.iter().map(|symbol| symbol.id.as_str()).collect();
        let held: BTreeMap<&str, PackSource> = base
            .sources
            .iter()
            .map(|source| (source.id.as_str(), shifted(source, &self.moved)))
            .collect();
        let mut sources: BTreeMap<&str, PackSource> =
            held.clone().into_iter().filter(|(id, _)| kept.contains(id)).collect();
        for id in &self.gone {
            sources.remove(id.as_str());
        }
        for change in &self.sources {
            let text = match (&change.text, &change.edit) {
                (Some(text), _) => text.clone(),
                (None, edit) => {
                    let origin = match &change.of {
                        // Lines of what is gone did not move.
                        Some(of) => base
                            .sources
                            .iter()
                            .find(|source| source.id == *of)
                            .map(|source| &source.text),
                        None => held.get(change.id.as_str()).map(|source| &source.text),
                    };
                    let old = origin.ok_or_else(|| broken(&change.id))?;
                    let edited = edit
                        .as_deref()
                        .map_or(Some(old.clone()), |edit| line_edit::apply(old, edit));
                    edited.ok_or_else(|| broken(&change.id))?
                }
            };
            let source = PackSource {
                id: change.id.clone(),
                form: change.form.clone(),
                line: change.line,
                text,
            };
            sources.insert(&change.id, source);
        }
        let mut reasons: Vec<PackReason> = self.reasons.clone();
        let told: HashSet<&str> = self.reasons.iter().map(|reason| reason.id.as_str()).collect();
        let still = |reason: &&PackReason| kept.contains(reason.id.as_str()) && !told.contains(reason.id.as_str());
        reasons.extend(base.reasons.iter().filter(still).cloned());
        let order = |id: &str| symbols.iter().position(|symbol| symbol.id == id);
        let mut sources: Vec<PackSource> = sources.into_values().collect();
        sources.sort_by_key(|source| order(&source.id));
        reasons.sort_by_key(|reason| order(&reason.id));
        Ok(ContextPack {
            edges: graph.edges.iter().map(PackEdge::from).collect(),
            sources,
            reasons,
            budget: base.budget,
            tokens: 0,
            pack_root: graph.pack_root.clone(),
            total: self.total,
            truncated: self.truncated,
            note: self.note.clone(),
            incomplete: self.incomplete.clone(),
            renamed: Vec::new(),
            symbols,
        })
    }

    /// Its part in the graph profile.
    pub fn graph(&self, tool: &str) -> graph::GraphDelta {
        let name = |symbol: &PackName| graph::SymbolName {
            kind: symbol.kind.clone(),
            qualified_name: to_word(&symbol.id),
        };
        graph::GraphDelta {
            tool: tool.to_string(),
            base_root: self.base_root.clone(),
            new_root: self.new_root.clone(),
            removed: self.removed.iter().map(name).collect(),
            added: self.added.iter().map(PackSymbol::to_graph).collect(),
            removed_edges: self.edges_removed.iter().map(PackEdge::to_graph).collect(),
            added_edges: self.edges_added.iter().map(PackEdge::to_graph).collect(),
            delta_tokens: 0,
            full_tokens: 0,
        }
    }

    /// Whether its part in the graph profile alone gives the new graph, so that any reader of GCF can apply and verify it.
    pub fn is_plain(&self) -> bool {
        self.renamed.is_empty() && is_nothing(&self.restated)
    }

    /// The texts that say it: two in GCF where that is a delta of the graph profile, else one in Lacon's own form, which says names that
    /// changed and places besides, and so has a tag that no reader of GCF takes for a delta that does not verify.
    pub fn texts(&self, tool: &str, full_tokens: u64, count: impl Fn(&str) -> usize) -> gcf::Result<Vec<String>> {
        let [graph, sources] = self.to_gcf(tool, full_tokens, count)?;
        if self.is_plain() {
            return Ok(vec![graph, sources]);
        }
        let (_, sections) = graph.split_once('\n').unwrap_or_default();
        let text = format!(
            "{} tool={tool} fields=delta delta=true base_root={} new_root={}\n{sections}{sources}",
            lcx::TAG,
            self.base_root,
            self.new_root
        );
        Ok(vec![lcx::counted(text)])
    }

    /// Reads what [`PackDelta::texts`] writes in Lacon's own form: `body` is what stands below the header.
    pub(crate) fn from_own(base_root: &str, new_root: &str, body: &str) -> gcf::Result<PackDelta> {
        let sources = match body.starts_with("sources ") {
            true => 0,
            false => body.find("\nsources ").map_or(body.len(), |end| end + 1),
        };
        let header = format!("GCF profile=graph delta=true base_root={base_root} new_root={new_root}\n");
        let graph = graph::decode_delta(&[&header, &body[..sources]].concat())?;
        PackDelta::from_gcf(&graph, &body[sources..])
    }

    /// The two texts in GCF; `full_tokens` is what the whole pack would take.
    pub fn to_gcf(&self, tool: &str, full_tokens: u64, count: impl Fn(&str) -> usize) -> gcf::Result<[String; 2]> {
        let sources = self.sources_text();
        let mut graph = self.graph(tool);
        graph.full_tokens = full_tokens;
        let length = count(&graph::encode_delta(&graph)?) + count(&sources);
        graph.delta_tokens = length as u64;
        Ok(counted_parts(graph::encode_delta(&graph)?, sources))
    }

    /// What the graph profile has no place for. `%` is no symbol: it starts the rows that are about lines and what is gone.
    pub fn sources_text(&self) -> String {
        let places: HashMap<&str, usize> = self
            .added
            .iter()
            .enumerate()
            .map(|(place, symbol)| (symbol.id.as_str(), place))
            .collect();
        let label = |id: &str| places.get(id).map_or_else(|| to_word(id), |place| format!("@{place}"));
        let mut out = super::context_pack::sources_head(self.total, self.truncated, &self.note, &self.incomplete);
        for Renamed { from, to } in &self.renamed {
            out.push_str(&format!("% renamed {} {}\n", to_word(from), to_word(to)));
        }
        out.push_str(&self.restated.rows());
        for Moved { path, from, by } in &self.moved {
            out.push_str(&format!("% moved {} {from} {by:+}\n", to_word(path)));
        }
        for id in &self.gone {
            out.push_str(&format!("% gone {}\n", label(id)));
        }
        for change in &self.sources {
            let head = format!("{} {} {}", label(&change.id), change.form, change.line);
            let of = change
                .of
                .as_deref()
                .map_or_else(String::new, |of| format!(" of {}", to_word(of)));
            match (&change.text, &change.edit) {
                (Some(text), _) => out.push_str(&format!("{head} {}\n{text}\n", lines_of(text))),
                (None, Some(edit)) if !edit.is_empty() => {
                    out.push_str(&format!("{head} edit {}{of}\n{edit}\n", lines_of(edit)));
                }
                (None, Some(_)) => out.push_str(&format!("{head} edit 0{of}\n")),
                (None, None) => out.push_str(&format!("{head} sent\n")),
            }
        }
        for reason in &self.reasons {
            out.push_str(&format!(
                "{} why {}\n",
                label(&reason.id),
                reason.reason.replace('\n', " ")
            ));
        }
        out
    }

    /// Reads the two texts back.
    pub fn from_gcf(graph: &graph::GraphDelta, sources: &str) -> gcf::Result<PackDelta> {
        let broken = |found: &str| gcf::Error::new(Category::MalformedDelta, found.to_string(), "a part of a delta");
        let mut lines = sources.split('\n');
        let head = lines
            .next()
            .and_then(|line| line.strip_prefix("sources "))
            .ok_or_else(|| broken("no head"))?;
        let mut said = ContextPack::default();
        super::context_pack::read_head(head, &mut said).ok_or_else(|| broken(head))?;
        let mut delta = PackDelta {
            delta: true,
            base_root: graph.base_root.clone(),
            new_root: graph.new_root.clone(),
            removed: graph
                .removed
                .iter()
                .map(|symbol| PackName {
                    kind: symbol.kind.clone(),
                    id: from_word(&symbol.qualified_name),
                })
                .collect(),
            added: graph.added.iter().map(PackSymbol::from).collect(),
            edges_removed: graph.removed_edges.iter().map(PackEdge::from).collect(),
            edges_added: graph.added_edges.iter().map(PackEdge::from).collect(),
            total: said.total,
            truncated: said.truncated,
            note: said.note,
            incomplete: said.incomplete,
            ..PackDelta::default()
        };
        let names: Vec<String> = delta.added.iter().map(|symbol| symbol.id.clone()).collect();
        let symbol = |word: &str| match word.strip_prefix('@') {
            Some(digits) => names.get(digits.parse::<usize>().ok()?).cloned(),
            None => Some(from_word(word)),
        };
        while let Some(line) = lines.next() {
            let words: Vec<&str> = line.split(' ').collect();
            let mut take = |count: &str| -> Option<String> {
                let count: usize = count.parse().ok()?;
                let taken: Vec<&str> = lines.by_ref().take(count).collect();
                (taken.len() == count).then(|| taken.join("\n"))
            };
            let read = match words.as_slice() {
                [""] => Some(()),
                ["%", "renamed", from, to] => {
                    let (from, to) = (from_word(from), from_word(to));
                    delta.renamed.push(Renamed { from, to });
                    Some(())
                }
                ["%", "moved", path, from, by] => from.parse().ok().zip(by.parse().ok()).map(|(from, by)| {
                    let path = from_word(path);
                    delta.moved.push(Moved { path, from, by });
                }),
                ["%", "gone", label] => symbol(label).map(|id| delta.gone.push(id)),
                ["%", rest @ ..] => delta.restated.read(rest),
                [label, "why", ..] => symbol(label).map(|id| {
                    let reason = line.splitn(3, ' ').nth(2).unwrap_or_default().to_string();
                    delta.reasons.push(PackReason { id, reason });
                }),
                [label, form, at, rest @ ..] => symbol(label).zip(at.parse().ok()).and_then(|(id, line)| {
                    let mut change = SourceChange {
                        id,
                        form: (*form).to_string(),
                        line,
                        ..SourceChange::default()
                    };
                    match rest {
                        ["sent"] => {}
                        ["edit", count] => change.edit = Some(take(count)?),
                        ["edit", count, "of", other] => {
                            change.edit = Some(take(count)?);
                            change.of = Some(from_word(other));
                        }
                        [count] => change.text = Some(take(count)?),
                        _ => return None,
                    }
                    delta.sources.push(change);
                    Some(())
                }),
                _ => None,
            };
            read.ok_or_else(|| broken(line))?;
        }
        Ok(delta)
    }
}

fn is_nothing(restated: &Restated) -> bool {
    *restated == Restated::default()
}

/// Renamed words that make texts of the base those of the pack: a name is called otherwise wherever its file has it.
fn reworded(base: &ContextPack, pack: &ContextPack, renamed: &[Renamed]) -> Vec<Reworded> {
    let last = |id: &str| {
        let name = id.rsplit("::").next().unwrap_or(id);
        let name = name.rsplit('.').next().unwrap_or(name);
        name.split('~').next().unwrap_or(name).to_string()
    };
    let now: HashMap<&str, &PackSource> = pack.sources.iter().map(|source| (source.id.as_str(), source)).collect();
    let mut words = Vec::new();
    for Renamed { from, to } in renamed.iter().filter(|row| row.from.contains("::")) {
        let row = Reworded {
            path: path_of(to).to_string(),
            from: last(from),
            to: last(to),
        };
        // Texts that become right, and those that were and become wrong.
        let (mut better, mut worse) = (0, 0);
        for old in base.sources.iter().filter(|source| path_of(&source.id) == row.path) {
            let Some(new) = now.get(old.id.as_str()) else { continue };
            let mut other = old.clone();
            reword(&mut other, std::slice::from_ref(&row));
            let fits = |text: &str| line_edit::edit(text, &new.text).len();
            match fits(&other.text).cmp(&fits(&old.text)) {
                std::cmp::Ordering::Less => better += 1,
                std::cmp::Ordering::Greater => worse += 1,
                std::cmp::Ordering::Equal => {}
            }
        }
        // The row has no escapes.
        let is_plain = |word: &str| !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_graphic());
        if better > worse && is_plain(&row.from) && is_plain(&row.to) {
            words.push(row);
        }
    }
    words
}

fn ends(edge: &PackEdge) -> (&str, &str, &str) {
    (&edge.from, &edge.to, &edge.kind)
}

fn lines_of(text: &str) -> usize {
    text.split('\n').count()
}

fn path_of(id: &str) -> &str {
    id.split("::").next().unwrap_or(id)
}

/// What must be said of a source, if anything: `held` are the client's, moved already; `lost` those of symbols that are gone.
fn source_change(source: &PackSource, held: &HashMap<&str, PackSource>, lost: &[&PackSource]) -> Option<SourceChange> {
    let mut change = SourceChange {
        id: source.id.clone(),
        form: source.form.clone(),
        line: source.line,
        ..SourceChange::default()
    };
    // An edit is worth it where it leaves out a good part of the text.
    let is_short = |edit: &str| edit.len() * 4 < source.text.len() * 3;
    if let Some(old) = held.get(source.id.as_str()) {
        if old == source {
            return None;
        }
        if old.text == source.text {
            return Some(change);
        }
        let edit = line_edit::edit(&old.text, &source.text);
        if is_short(&edit) {
            change.edit = Some(edit);
            return Some(change);
        }
    }
    let origins = lost
        .iter()
        .filter(|lost| lost.form == source.form && path_of(&lost.id) == path_of(&source.id));
    let copies = origins
        .take(MOST_ORIGINS)
        .map(|lost| (line_edit::edit(&lost.text, &source.text), &lost.id));
    match copies
        .min_by_key(|(edit, _)| edit.len())
        .filter(|(edit, id)| is_short(edit) && id.len() < source.text.len())
    {
        Some((edit, of)) => {
            change.edit = Some(edit);
            change.of = Some(of.clone());
        }
        None => change.text = Some(source.text.clone()),
    }
    Some(change)
}

/// How the lines of each file moved, as far as sources and skeletons that both packs have can tell.
fn moves(base: &ContextPack, pack: &ContextPack) -> Vec<Moved> {
    let old: HashMap<&str, &PackSource> = base.sources.iter().map(|source| (source.id.as_str(), source)).collect();
    let mut pairs: BTreeMap<&str, BTreeMap<u64, u64>> = BTreeMap::new();
    for new in &pack.sources {
        let Some(old) = old.get(new.id.as_str()) else { continue };
        let file = pairs.entry(path_of(&new.id)).or_default();
        file.insert(old.line, new.line);
        if old.form == new.form && new.form == "skeleton" {
            let now = rows_once(&new.text);
            for (text, line) in rows_once(&old.text) {
                if let Some(new) = now.get(text) {
                    file.insert(line, *new);
                }
            }
        }
    }
    let mut moved = Vec::new();
    for (path, lines) in pairs {
        let mut rows: Vec<Moved> = Vec::new();
        let mut by = 0;
        for (old, new) in lines {
            let now = i64::try_from(new).unwrap_or(0) - i64::try_from(old).unwrap_or(0);
            if now != by {
                by = now;
                rows.push(Moved {
                    path: path.to_string(),
                    from: old,
                    by,
                });
            }
        }
        if rows.len() <= MOST_MOVES {
            moved.extend(rows);
        }
    }
    moved
}

/// The rows of a skeleton that stand in it once, with the line that each names: of two that are alike, nobody can tell which moved
/// where.
fn rows_once(skeleton: &str) -> BTreeMap<&str, u64> {
    let mut rows: BTreeMap<&str, Option<u64>> = BTreeMap::new();
    for (line, text) in skeleton.split('\n').filter_map(numbered) {
        rows.entry(text).and_modify(|known| *known = None).or_insert(Some(line));
    }
    rows.into_iter()
        .filter_map(|(text, line)| Some((text, line?)))
        .collect()
}

/// A row of a skeleton: the line it names and the rest.
fn numbered(row: &str) -> Option<(u64, &str)> {
    let (line, text) = row.split_once(':')?;
    Some((line.parse().ok()?, text))
}

/// A source with its lines moved.
fn shifted(source: &PackSource, moved: &[Moved]) -> PackSource {
    let path = path_of(&source.id);
    let rows: Vec<&Moved> = moved.iter().filter(|row| row.path == path).collect();
    if rows.is_empty() {
        return source.clone();
    }
    let shift = |line: u64| {
        let by = rows.iter().rev().find(|row| row.from <= line).map_or(0, |row| row.by);
        line.saturating_add_signed(by)
    };
    let text = match source.form == "skeleton" {
        true => {
            let row = |row: &str| {
                numbered(row).map_or_else(|| row.to_string(), |(line, text)| format!("{}:{text}", shift(line)))
            };
            source.text.split('\n').map(row).collect::<Vec<_>>().join("\n")
        }
        false => source.text.clone(),
    };
    PackSource {
        line: shift(source.line),
        text,
        ..source.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pack(text: &str) -> ContextPack {
        let mut pack = ContextPack {
            symbols: vec![PackSymbol {
                id: "a.yaml".into(),
                kind: "file".into(),
                ..PackSymbol::default()
            }],
            sources: vec![PackSource {
                id: "a.yaml".into(),
                form: "skeleton".into(),
                line: 1,
                text: text.into(),
            }],
            ..ContextPack::default()
        };
        pack.pack_root = pack.root().unwrap_or_default();
        pack
    }

    #[test]
    fn rows_that_are_alike_did_not_move() {
        let held = pack("3:name: x\n9:kind: y\n16:name: x");
        let delta = PackDelta::between(&held, &held);
        assert!(delta.moved.is_empty() && delta.sources.is_empty(), "{delta:?}");
        let later = pack("4:name: x\n10:kind: y\n17:name: x");
        let delta = PackDelta::between(&held, &later);
        assert_eq!(delta.apply(&held).map(|pack| pack.sources), Ok(later.sources));
    }
}
