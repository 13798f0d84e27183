//! Hops that calls alone do not show: a method named in a string, an event, a queue, a command log, a container that makes what its argument
//! names. Found once for each snapshot, when the first trace asks.
//!
//! The one trick: a table of patterns (`links.toml`) finds lines, and the graph says what their names are. Both ends must mean the same field,
//! constant or emitter, so the same word elsewhere is no hop; what the graph does not know is left out.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::sync::OnceLock;
use std::time::Duration;

use index::model::{EdgeKind, FileId};
use index::scan::read_source;
use index::search::text::{Bounds, Case, Pattern, Tree, search_text};
use index::snapshot::{EdgeView, FileView, Snapshot, SymbolId, SymbolView};
use regex::{Captures, Regex};
use serde::Deserialize;
use syntax::facts::{Kind, Position};

use crate::descriptors::words;
use crate::traverse::{self, Direction};
use crate::workspace::{Repository, Stop};

/// What joins two functions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) enum Family {
    /// A name in a string.
    ByName,
    /// An event that one emits and another listens for.
    Event,
    /// A queue or channel.
    Queue,
    /// A constant that one applies and another switches on.
    Log,
    /// A container.
    Container,
}

/// One hop.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Link {
    pub(crate) from: SymbolId,
    /// Where the sender says it, in its file.
    pub(crate) at: Position,
    pub(crate) to: SymbolId,
    pub(crate) family: Family,
    /// The name, event, field or constant that both share.
    pub(crate) shared: String,
    /// Where the receiver says it, where that is a line of its own.
    pub(crate) received: u32,
    /// In hundredths.
    pub(crate) confidence: u8,
}

/// The hops of one snapshot.
#[derive(Debug, Default)]
pub(crate) struct Links {
    /// By where they start.
    links: Vec<Link>,
    /// Their numbers, by where they end.
    back: Vec<u32>,
    /// Whether a search gave up, so that some are missing.
    pub(crate) incomplete: bool,
}

#[derive(Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    by_name: Vec<Rule>,
    emits: Vec<Rule>,
    listens: Vec<Rule>,
    sends: Vec<Rule>,
    receives: Vec<Rule>,
    applies: Vec<Rule>,
    switches: Vec<Rule>,
    containers: Vec<Rule>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Rule {
    languages: Vec<String>,
    pattern: String,
    #[serde(default)]
    accepts: String,
    #[serde(default)]
    within: String,
    #[serde(default)]
    table: bool,
    /// Looked for only where the graph says that a thing is mentioned: too many lines look like it.
    #[serde(default)]
    mentions: bool,
    #[serde(skip)]
    compiled: OnceLock<Option<Regex>>,
}

impl Rule {
    fn is_for(&self, language: &str) -> bool {
        self.languages.iter().any(|known| known == language)
    }

    fn find<'t>(&self, line: &'t str) -> Option<Captures<'t>> {
        self.compiled
            .get_or_init(|| Regex::new(&self.pattern).ok())
            .as_ref()?
            .captures(line)
    }
}

fn table() -> &'static Table {
    static TABLE: OnceLock<Table> = OnceLock::new();
    // That it can be read is a test below.
    TABLE.get_or_init(|| toml::from_str(include_str!("links.toml")).unwrap_or_default())
}

/// When the search for lines gives up.
const TIME: Duration = Duration::from_secs(5);
/// Lines that are kept.
const MOST_LINES: usize = 200_000;
/// Bytes that are kept of a line.
const LINE_LENGTH: usize = 300;
/// Functions that share one thing: what more share joins nobody.
const MOST_SHARED: usize = 12;
/// Methods of one name that a string may mean.
const MOST_NAMED: usize = 3;
/// Lines between a queue's local name and its use.
const LONGEST_ALIAS: u32 = 120;
/// Lines of one arm of a switch.
const LONGEST_ARM: u32 = 12;

impl Links {
    pub(crate) const NOTHING: Links = Links {
        links: Vec::new(),
        back: Vec::new(),
        incomplete: false,
    };

    /// The hops of a repository.
    pub(crate) fn of(repository: &Repository, stop: &Stop) -> Links {
        let mut finder = Finder {
            repository,
            snapshot: &repository.snapshot,
            lines: HashMap::new(),
            links: BTreeSet::new(),
        };
        let (places, incomplete) = finder.places(stop);
        finder.by_name(&places);
        finder.events(&places);
        finder.queues(&places);
        finder.logs(&places);
        finder.containers(&places);
        let links: Vec<Link> = finder.links.into_iter().collect();
        let mut back: Vec<u32> = (0..links.len() as u32).collect();
        back.sort_by_key(|&at| (links[at as usize].to, at));
        Links {
            links,
            back,
            incomplete,
        }
    }

    /// Those that start in a function, with their numbers.
    pub(crate) fn outgoing(&self, from: SymbolId) -> impl Iterator<Item = (u32, &Link)> {
        let first = self.links.partition_point(|link| link.from < from);
        let links = self.links[first..].iter().take_while(move |link| link.from == from);
        links.enumerate().map(move |(at, link)| ((first + at) as u32, link))
    }

    /// Those that end in a function, with their numbers.
    pub(crate) fn incoming(&self, to: SymbolId) -> impl Iterator<Item = (u32, &Link)> {
        let first = self.back.partition_point(|&at| self.links[at as usize].to < to);
        let numbers = self.back[first..].iter().map(|&at| (at, &self.links[at as usize]));
        numbers.take_while(move |(_, link)| link.to == to)
    }

    /// One of them.
    pub(crate) fn get(&self, number: u32) -> Option<&Link> {
        self.links.get(number as usize)
    }
}

/// A line that some pattern matches.
struct Line {
    file: FileId,
    line: u32,
    text: String,
    language: &'static str,
    within: SymbolId,
}

struct Finder<'r> {
    repository: &'r Repository,
    snapshot: &'r Snapshot,
    /// Lines of files that were read for what mentions a symbol.
    lines: HashMap<FileId, Option<Vec<String>>>,
    links: BTreeSet<Link>,
}

/// What both ends of an event are of.
#[derive(PartialEq, Eq, PartialOrd, Ord, Clone)]
enum Emitter {
    Symbol(SymbolId),
    Type(String),
    Own(SymbolId),
}

impl<'r> Finder<'r> {
    /// The lines that patterns match, but for those that follow from others.
    fn places(&self, stop: &Stop) -> (Vec<Line>, bool) {
        let table = table();
        let mut found = Vec::new();
        let mut incomplete = false;
        for language in self.snapshot.languages() {
            let rules = [
                &table.by_name,
                &table.emits,
                &table.listens,
                &table.sends,
                &table.receives,
                &table.applies,
                &table.containers,
            ];
            let patterns: Vec<String> = rules
                .into_iter()
                .flatten()
                .filter(|rule| rule.is_for(language.name()) && !rule.mentions)
                .map(|rule| format!("(?:{})", nameless(&rule.pattern)))
                .collect();
            if patterns.is_empty() {
                continue;
            }
            let Ok(pattern) = Pattern::regex(&patterns.join("|"), Case::Sensitive, false) else {
                continue;
            };
            let Some(name) = syntax::languages::by_name(language.name()).map(|known| known.name()) else {
                continue;
            };
            let bounds = Bounds {
                lines: MOST_LINES,
                line_length: LINE_LENGTH,
                time: TIME,
            };
            let tree = Tree {
                root: &self.repository.root,
                snapshot: self.snapshot,
                filter: self.repository.text_filter(),
            };
            let accept = |file: FileView<'_>| file.language() == name && !traverse::is_test_path(file.path());
            let matches = search_text(tree, &pattern, &accept, bounds, &|| stop.is_stopped());
            incomplete |= matches.timed_out;
            for file in matches.files.into_iter().filter(|file| !file.changed) {
                let functions = Functions::of(self.snapshot, file.file);
                for line in file.lines {
                    if let Some(within) = functions.around(line.line).filter(|_| !is_comment(&line.text)) {
                        found.push(Line {
                            file: file.file,
                            line: line.line,
                            text: line.text,
                            language: name,
                            within,
                        });
                    }
                }
            }
        }
        (found, incomplete)
    }

    fn by_name(&mut self, places: &[Line]) {
        for place in places {
            for rule in table().by_name.iter().filter(|rule| rule.is_for(place.language)) {
                let Some(groups) = rule.find(&place.text) else { continue };
                let (owner, method) = (&groups["owner"], &groups["method"]);
                let accepts = Regex::new(&rule.accepts).ok();
                let is_meant = |symbol: &SymbolView<'_>| {
                    let qualified = symbol.qualified_name();
                    let fits = accepts
                        .as_ref()
                        .is_none_or(|accepts| accepts.is_match(symbol.signature()));
                    let own = qualified.rsplit('.').nth(1) == Some(owner);
                    own && fits && symbol.kind() == Kind::Method && !traverse::is_test(*symbol)
                };
                let meant: Vec<SymbolView<'_>> = self.snapshot.named(method).filter(is_meant).collect();
                if meant.is_empty() || meant.len() > MOST_NAMED {
                    continue;
                }
                let confidence = if meant.len() == 1 { 85 } else { 60 };
                let at = column(&place.text, groups.get(0).map_or(0, |whole| whole.start()), place.line);
                for symbol in meant.iter().filter(|symbol| symbol.id() != place.within) {
                    self.links.insert(Link {
                        from: place.within,
                        at,
                        to: symbol.id(),
                        family: Family::ByName,
                        shared: format!("{owner}.{method}"),
                        received: 0,
                        confidence,
                    });
                }
            }
        }
    }

    fn events(&mut self, places: &[Line]) {
        type Heard = (SymbolId, u32);
        let mut listeners: BTreeMap<(Emitter, String), BTreeSet<Heard>> = BTreeMap::new();
        let mut emits: Vec<(Emitter, String, SymbolId, Position)> = Vec::new();
        for place in places {
            for rule in table().listens.iter().filter(|rule| rule.is_for(place.language)) {
                let Some(groups) = rule.find(&place.text) else { continue };
                let Some(emitter) = self.emitter(place, &groups["receiver"]) else {
                    continue;
                };
                let handler = groups.name("handler").map_or("", |handler| handler.as_str());
                let to = self.handler(place, handler);
                let heard = listeners.entry((emitter, groups["event"].to_owned())).or_default();
                heard.insert((to, place.line));
            }
            for rule in table().emits.iter().filter(|rule| rule.is_for(place.language)) {
                let Some(groups) = rule.find(&place.text) else { continue };
                if let Some(emitter) = self.emitter(place, &groups["receiver"]) {
                    let at = column(&place.text, groups.get(0).map_or(0, |whole| whole.start()), place.line);
                    emits.push((emitter, groups["event"].to_owned(), place.within, at));
                }
            }
        }
        for (emitter, event, from, at) in emits {
            let Some(heard) = listeners.get(&(emitter, event.clone())) else {
                continue;
            };
            if heard.len() > MOST_SHARED {
                continue;
            }
            for &(to, line) in heard {
                self.links.insert(Link {
                    from,
                    at,
                    to,
                    family: Family::Event,
                    shared: event.clone(),
                    received: line,
                    confidence: 80,
                });
            }
        }
    }

    /// Whose events a receiver has: a variable or field by the graph, a field's declared type, or the instance itself.
    fn emitter(&self, place: &Line, receiver: &str) -> Option<Emitter> {
        let last = receiver.rsplit(['.', '#']).next()?;
        if matches!(last, "this" | "self") {
            let class = self.class_around(place.within)?;
            return Some(Emitter::Own(class));
        }
        let symbol = self.snapshot.symbol(self.mentioned(place, last)?)?;
        let signature = symbol.signature();
        let type_ = signature
            .rsplit_once(':')
            .map(|(_, type_)| type_.trim().trim_end_matches([';', ',']));
        let is_field = matches!(symbol.kind(), Kind::Field | Kind::Property);
        // Fields of one project type hold what is shared: a bus that is injected. A library's emitter is each field's own.
        if let Some(type_) =
            type_.filter(|type_| is_field && !type_.is_empty() && type_.chars().all(char::is_alphanumeric))
            && self.snapshot.named(type_).any(|found| words::is_type(found.kind()))
        {
            return Some(Emitter::Type(type_.to_owned()));
        }
        Some(Emitter::Symbol(symbol.id()))
    }

    fn class_around(&self, symbol: SymbolId) -> Option<SymbolId> {
        let mut at = self.snapshot.symbol(symbol)?;
        loop {
            at = at.parent()?;
            if words::is_type(at.kind()) && !at.is_file() {
                return Some(at.id());
            }
        }
    }

    /// The function that listens: the one that is named, else the one that holds the closure.
    fn handler(&self, place: &Line, named: &str) -> SymbolId {
        let name = named.rsplit(['.', '#']).next().unwrap_or(named);
        let mentions = self.repository.edges(
            place.within,
            Direction::Outgoing,
            EdgeKind::References | EdgeKind::Calls,
        );
        let mut found = mentions
            .filter(|edge| edge.at.line == place.line)
            .filter_map(|edge| edge.to.symbol());
        let is_it = |symbol: &SymbolId| {
            let symbol = self.snapshot.symbol(*symbol);
            symbol.is_some_and(|symbol| symbol.name() == name && words::is_function(symbol.kind()))
        };
        found.find(is_it).unwrap_or(place.within)
    }

    /// The field, variable or constant of this name that a line mentions, by the graph.
    fn mentioned(&self, place: &Line, name: &str) -> Option<SymbolId> {
        let kinds = EdgeKind::Reads | EdgeKind::Writes | EdgeKind::References | EdgeKind::Calls;
        let edges = self.repository.edges(place.within, Direction::Outgoing, kinds);
        let mut found = edges
            .filter(|edge| edge.at.line == place.line)
            .filter_map(|edge| edge.to.symbol());
        found.find(|symbol| {
            self.snapshot.symbol(*symbol).is_some_and(|symbol| {
                let is_value = matches!(
                    symbol.kind(),
                    Kind::Field | Kind::Property | Kind::Variable | Kind::Constant | Kind::EnumMember
                );
                symbol.name() == name && is_value
            })
        })
    }

    /// The field or variable that a queue's name means at a line: itself, or what the same function put into a local of that name.
    fn queue(&mut self, place: &Line, written: &str) -> Option<SymbolId> {
        let name = written.rsplit(['.', '#']).next()?;
        if let Some(found) = self.mentioned(place, name) {
            return Some(found);
        }
        let span = self
            .snapshot
            .symbol(place.within)
            .filter(|symbol| !symbol.is_file())?
            .span();
        if written.contains('.') || place.line.saturating_sub(span.start_line) > LONGEST_ALIAS {
            return None;
        }
        let name = regex::escape(name);
        let alias = Regex::new(&format!(
            r"(?:^|\s){name}(?:,\s*\w+)?\s*:?=\s*&?(?:\w+\.)+(?P<field>\w+)\s*(?:\[|;|$)"
        ))
        .ok()?;
        for line in (span.start_line..place.line).rev() {
            let text = self.line(place.file, line)?.to_owned();
            if let Some(field) = alias
                .captures(&text)
                .and_then(|groups| Some(groups.name("field")?.as_str().to_owned()))
            {
                let there = Line { line, text, ..*place };
                return self.mentioned(&there, &field);
            }
        }
        None
    }

    fn queues(&mut self, places: &[Line]) {
        type Ends = BTreeSet<(SymbolId, Position)>;
        let mut sends: BTreeMap<SymbolId, Ends> = BTreeMap::new();
        let mut taken: BTreeMap<SymbolId, Ends> = BTreeMap::new();
        for place in places {
            for (rules, ends) in [(&table().sends, &mut sends), (&table().receives, &mut taken)] {
                for rule in rules
                    .iter()
                    .filter(|rule| rule.is_for(place.language) && !rule.mentions)
                {
                    let Some(queue) = rule.find(&place.text).and_then(|groups| groups.name("queue")) else {
                        continue;
                    };
                    if let Some(symbol) = self.queue(place, queue.as_str()) {
                        let at = column(&place.text, queue.start(), place.line);
                        ends.entry(symbol).or_default().insert((place.within, at));
                    }
                }
            }
        }
        for (queue, sends) in sends {
            let name = self
                .snapshot
                .symbol(queue)
                .map_or_else(String::new, |symbol| symbol.qualified_name());
            let last = name.rsplit('.').next().unwrap_or("").to_owned();
            let taken = taken.get(&queue).into_iter().flatten();
            let mut receivers: BTreeSet<(SymbolId, u32)> = taken.map(|(symbol, at)| (*symbol, at.line)).collect();
            for (edge, language, text) in self.mentions(queue) {
                for rule in table()
                    .receives
                    .iter()
                    .filter(|rule| rule.is_for(language) && rule.mentions)
                {
                    let Some(groups) = rule.find(&text) else { continue };
                    let taken = groups.name("queue");
                    if taken.is_some_and(|taken| taken.as_str().rsplit(['.', '#']).next() == Some(last.as_str())) {
                        receivers.insert((edge.from, edge.at.line));
                    }
                }
            }
            if receivers.len() > MOST_SHARED || sends.len() > MOST_SHARED * 2 {
                continue;
            }
            for &(from, at) in &sends {
                for &(to, line) in receivers.iter().filter(|(to, _)| *to != from) {
                    self.links.insert(Link {
                        from,
                        at,
                        to,
                        family: Family::Queue,
                        shared: name.clone(),
                        received: line,
                        confidence: 80,
                    });
                }
            }
        }
    }

    fn logs(&mut self, places: &[Line]) {
        let mut applied: BTreeMap<SymbolId, BTreeSet<(SymbolId, Position)>> = BTreeMap::new();
        for place in places {
            for rule in table().applies.iter().filter(|rule| rule.is_for(place.language)) {
                let Some(groups) = rule.find(&place.text) else { continue };
                let key = &groups["key"];
                let name = key.rsplit(['.', ':']).next().unwrap_or("");
                let symbol = self
                    .mentioned(place, name)
                    .and_then(|symbol| self.snapshot.symbol(symbol));
                // A variable holds any command: only what is constant names one.
                if let Some(symbol) = symbol.filter(|symbol| matches!(symbol.kind(), Kind::Constant | Kind::EnumMember))
                {
                    let at = column(&place.text, groups.name("key").map_or(0, |key| key.start()), place.line);
                    applied.entry(symbol.id()).or_default().insert((place.within, at));
                }
            }
        }
        for (key, senders) in applied {
            let name = self.snapshot.symbol(key).map_or("", |symbol| symbol.name()).to_owned();
            let mut handlers: BTreeSet<(SymbolId, u32)> = BTreeSet::new();
            for (edge, language, text) in self.mentions(key) {
                for rule in table().switches.iter().filter(|rule| rule.is_for(language)) {
                    let Some(groups) = rule.find(&text) else { continue };
                    if groups["key"].rsplit(['.', ':']).next() != Some(name.as_str()) {
                        continue;
                    }
                    match rule.table {
                        true => handlers
                            .extend(self.tabled(&edge, groups.name("handler").map_or("", |found| found.as_str()))),
                        false if self.is_switch(edge.from, rule) => handlers.extend(self.arm(&edge, language, rule)),
                        false => {}
                    }
                }
            }
            if handlers.len() > MOST_SHARED || senders.len() > MOST_SHARED * 3 {
                continue;
            }
            for &(from, at) in &senders {
                for &(to, line) in handlers.iter().filter(|(to, _)| *to != from) {
                    self.links.insert(Link {
                        from,
                        at,
                        to,
                        family: Family::Log,
                        shared: name.clone(),
                        received: line,
                        confidence: 80,
                    });
                }
            }
        }
    }

    fn is_switch(&self, function: SymbolId, rule: &Rule) -> bool {
        let name = self.snapshot.symbol(function).map_or("", |symbol| symbol.name());
        Regex::new(&rule.within).is_ok_and(|within| within.is_match(name))
    }

    /// What one arm of a switch calls; the function with the switch where it calls nothing.
    fn arm(&mut self, case: &EdgeView, language: &str, rule: &Rule) -> Vec<(SymbolId, u32)> {
        let Some(file) = self.snapshot.symbol(case.from).map(|symbol| symbol.file_id()) else {
            return Vec::new();
        };
        let line = case.at.line;
        let end = (line + 1..line + LONGEST_ARM)
            .find(|&next| {
                self.line(file, next)
                    .is_none_or(|text| rule.find(text).is_some() || text.trim_start().starts_with("default"))
            })
            .unwrap_or(line + LONGEST_ARM);
        let _ = language;
        let edges = self.repository.edges(case.from, Direction::Outgoing, EdgeKind::Calls);
        let called: Vec<(SymbolId, u32)> = edges
            .filter(|edge| (line..end).contains(&edge.at.line))
            .filter_map(|edge| Some((edge.to.symbol()?, line)))
            .collect();
        match called.is_empty() {
            true => vec![(case.from, line)],
            false => called,
        }
    }

    /// The function that a table maps a key to.
    fn tabled(&self, key: &EdgeView, handler: &str) -> Option<(SymbolId, u32)> {
        let name = handler.rsplit('.').next()?;
        let edges = self
            .repository
            .edges(key.from, Direction::Outgoing, EdgeKind::References);
        let mut named = edges
            .filter(|edge| edge.at.line == key.at.line)
            .filter_map(|edge| edge.to.symbol());
        let found = named.find(|symbol| {
            self.snapshot
                .symbol(*symbol)
                .is_some_and(|symbol| symbol.name() == name && words::is_function(symbol.kind()))
        })?;
        Some((found, key.at.line))
    }

    fn containers(&mut self, places: &[Line]) {
        for place in places {
            for rule in table().containers.iter().filter(|rule| rule.is_for(place.language)) {
                let Some(groups) = rule.find(&place.text) else { continue };
                let Some(class) = self.type_named(place, &groups["type"]) else {
                    continue;
                };
                match (groups.name("method"), groups.name("variable")) {
                    (Some(method), _) => {
                        let at = column(&place.text, method.start(), place.line);
                        self.contained(place.within, class, &groups["type"], method.as_str(), at);
                    }
                    (_, Some(variable)) => self.held(place, class, &groups["type"], variable.as_str()),
                    _ => {}
                }
            }
        }
    }

    /// The type of this name that a line mentions, by the graph, or the only one of the name.
    fn type_named(&self, place: &Line, name: &str) -> Option<SymbolId> {
        let is_it = |symbol: SymbolView<'_>| symbol.name() == name && words::is_type(symbol.kind());
        let edges = self.repository.edges(
            place.within,
            Direction::Outgoing,
            EdgeKind::References | EdgeKind::Reads,
        );
        let mut here = edges
            .filter(|edge| edge.at.line == place.line)
            .filter_map(|edge| edge.to.symbol());
        if let Some(found) = here.find(|symbol| self.snapshot.symbol(*symbol).is_some_and(is_it)) {
            return Some(found);
        }
        let mut named = self
            .snapshot
            .named(name)
            .filter(|symbol| is_it(*symbol) && !traverse::is_test(*symbol));
        let only = named.next()?;
        named.next().is_none().then(|| only.id())
    }

    /// A method of what a container makes, which the class has or inherits.
    fn contained(&mut self, from: SymbolId, class: SymbolId, type_: &str, method: &str, at: Position) {
        let snapshot = self.snapshot;
        let members: Vec<SymbolView<'_>> = snapshot
            .named(method)
            .filter(|symbol| words::is_function(symbol.kind()))
            .collect();
        let mut level = vec![class];
        let mut seen: HashSet<SymbolId> = HashSet::from([class]);
        while !level.is_empty() && seen.len() < 64 {
            let is_own = |symbol: &&SymbolView<'_>| symbol.parent().is_some_and(|parent| level.contains(&parent.id()));
            if let Some(found) = members.iter().find(is_own) {
                self.links.insert(Link {
                    from,
                    at,
                    to: found.id(),
                    family: Family::Container,
                    shared: type_.to_owned(),
                    received: 0,
                    confidence: 85,
                });
                return;
            }
            let bases = EdgeKind::Extends | EdgeKind::Implements;
            let above = level.iter().flat_map(|id| snapshot.outgoing(*id, bases));
            let above: Vec<SymbolId> = above.filter_map(|edge| edge.to.symbol()).collect();
            level = above.into_iter().filter(|id| seen.insert(*id)).collect();
        }
    }

    /// The calls of a variable that holds what a container made, in the same function.
    fn held(&mut self, place: &Line, class: SymbolId, type_: &str, variable: &str) {
        let Some(span) = self.snapshot.symbol(place.within).map(|symbol| symbol.span()) else {
            return;
        };
        let Ok(calls) = Regex::new(&format!(r"\b{variable}\s*\.\s*(?P<method>\w+)\s*\(")) else {
            return;
        };
        for line in place.line + 1..=span.end_line {
            let Some(text) = self.line(place.file, line).map(str::to_owned) else {
                return;
            };
            if let Some(method) = calls.captures(&text).and_then(|groups| groups.name("method")) {
                self.contained(
                    place.within,
                    class,
                    type_,
                    method.as_str(),
                    column(&text, method.start(), line),
                );
            }
        }
    }

    /// The lines that mention a symbol, with their language.
    fn mentions(&mut self, symbol: SymbolId) -> Vec<(EdgeView, &'static str, String)> {
        let kinds = EdgeKind::Reads | EdgeKind::Writes | EdgeKind::References;
        let edges: Vec<EdgeView> = self
            .repository
            .edges(symbol, Direction::Incoming, kinds)
            .take(2_000)
            .collect();
        let mut found = Vec::new();
        for edge in edges {
            let Some(from) = self.snapshot.symbol(edge.from).filter(|from| !traverse::is_test(*from)) else {
                continue;
            };
            let Some(language) = from.file().and_then(|file| syntax::languages::by_name(file.language())) else {
                continue;
            };
            if let Some(text) = self.line(from.file_id(), edge.at.line).map(str::to_owned) {
                found.push((edge, language.name(), text));
            }
        }
        found
    }

    fn line(&mut self, file: FileId, line: u32) -> Option<&str> {
        let (snapshot, root) = (self.snapshot, &self.repository.root);
        let lines = self.lines.entry(file).or_insert_with(|| {
            let file = snapshot.file(file)?;
            let (text, hash) = read_source(root, file.path()).ok()?;
            (&hash == file.hash()).then(|| text.lines().map(str::to_owned).collect())
        });
        lines.as_ref()?.get(line.checked_sub(1)? as usize).map(String::as_str)
    }
}

/// The functions of a file by their lines.
struct Functions {
    /// First line, last line, symbol; in source order.
    spans: Vec<(u32, u32, SymbolId)>,
    file: Option<SymbolId>,
}

impl Functions {
    fn of(snapshot: &Snapshot, file: FileId) -> Functions {
        let file = snapshot.file(file);
        let symbols = file.into_iter().flat_map(|file| file.symbols());
        let functions = symbols.filter(|symbol| {
            !symbol.is_file()
                && (words::is_function(symbol.kind()) || matches!(symbol.kind(), Kind::Variable | Kind::Constant))
        });
        Functions {
            spans: functions
                .map(|symbol| (symbol.span().start_line, symbol.span().end_line, symbol.id()))
                .collect(),
            file: file.and_then(|file| file.symbol()).map(|symbol| symbol.id()),
        }
    }

    /// The innermost around a line, else the file.
    fn around(&self, line: u32) -> Option<SymbolId> {
        let before = self.spans.partition_point(|(first, ..)| *first <= line);
        let holding = self.spans[..before]
            .iter()
            .rev()
            .take(400)
            .find(|(_, last, _)| line <= *last);
        holding.map(|(_, _, symbol)| *symbol).or(self.file)
    }
}

fn is_comment(line: &str) -> bool {
    let line = line.trim_start();
    line.starts_with("//") || line.starts_with('#') && !line.starts_with("#{") || line.starts_with('*')
}

/// A pattern without the names of its groups, so that several can stand beside each other.
fn nameless(pattern: &str) -> String {
    let mut out = String::new();
    let mut rest = pattern;
    while let Some(at) = rest.find("(?P<") {
        out.push_str(&rest[..at]);
        out.push_str("(?:");
        let name = &rest[at + 4..];
        rest = name.find('>').map_or("", |end| &name[end + 1..]);
    }
    out.push_str(rest);
    out
}

fn column(text: &str, byte: usize, line: u32) -> Position {
    // The name begins where the pattern's white space and dots end.
    let skipped = text.get(byte..).map_or(0, |rest| {
        rest.len() - rest.trim_start_matches([' ', '\t', '.', '(', '{', ':']).len()
    });
    Position {
        line,
        column: (byte + skipped) as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_is_one_and_names_what_its_family_needs() {
        let table: Table = toml::from_str(include_str!("links.toml")).unwrap();
        let families: [(&[Rule], &[&str]); 8] = [
            (&table.by_name, &["owner", "method"]),
            (&table.emits, &["receiver", "event"]),
            (&table.listens, &["receiver", "event", "handler"]),
            (&table.sends, &["queue"]),
            (&table.receives, &["queue"]),
            (&table.applies, &["key"]),
            (&table.switches, &["key"]),
            (&table.containers, &["type"]),
        ];
        for (rules, names) in families {
            for rule in rules {
                let regex = Regex::new(&rule.pattern).unwrap_or_else(|error| panic!("{}: {error}", rule.pattern));
                for name in names {
                    assert!(
                        regex.capture_names().flatten().any(|known| known == *name),
                        "{}: {name}",
                        rule.pattern
                    );
                }
                for language in &rule.languages {
                    assert!(syntax::languages::by_name(language).is_some(), "{language}");
                }
                assert!(
                    Pattern::regex(&nameless(&rule.pattern), Case::Sensitive, false).is_ok(),
                    "{}",
                    rule.pattern
                );
                assert!(Regex::new(&rule.within).is_ok() && Regex::new(&rule.accepts).is_ok());
            }
        }
    }
}
