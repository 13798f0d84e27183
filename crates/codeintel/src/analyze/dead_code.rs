//! Symbols that nothing mentions.
//!
//! Silence is weak evidence, so two witnesses must agree: the graph has no use of the symbol, and no file has its name in a
//! place that the graph cannot explain (a call it could not resolve, a string, a template). What can be reached without a
//! visible mention is left out: entry points, tests, what a decorator hands to a framework, what dispatch reaches through a base of
//! this tree or of a package, and, unless asked for, what is exported.

use std::collections::{HashMap, HashSet};

use index::model::{EdgeKind, FileId};
use index::scan::read_source;
use index::snapshot::{EdgeEnd, EdgeKinds, Snapshot, SymbolId, SymbolView};
use rayon::prelude::*;
use syntax::facts::{Flags, Kind, Visibility};
use wire::answers::{DeadCode, DeadSymbol};

use super::expressions::Expressions;
use super::{Analyze, is_asked};
use crate::kinds;
use crate::page::{self, Page};
use crate::search_symbols::usage_kinds;
use crate::traverse::is_test;
use crate::workspace::{Repository, Stop, Workspace, text_in};

pub(super) fn dead_code(workspace: &Workspace, ask: &Analyze, page: Page) -> DeadCode {
    let mut found: Vec<DeadSymbol> = Vec::new();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        for dead in repository
            .dead()
            .iter()
            .filter(|dead| ask.include_exported || !dead.is_exported)
        {
            let Some(symbol) = repository.snapshot.symbol(dead.symbol) else {
                continue;
            };
            if !is_asked(ask, workspace, number, symbol.path()) {
                continue;
            }
            found.push(DeadSymbol {
                id: workspace.id(number, symbol),
                kind: kinds::kind(symbol).to_string(),
                name: symbol.name().to_string(),
                path: workspace.path(number, symbol.path()),
                line: u64::from(symbol.span().start_line),
                reason: dead.reason.to_string(),
            });
        }
    }
    let total = found.len();
    let end = page.offset.saturating_add(page.limit);
    let more = end < total;
    DeadCode {
        symbols: page.take(found),
        total: total as u64,
        truncated: more,
        next_cursor: more.then(|| page::cursor(workspace, end)),
        etag: None,
        incomplete: workspace.incomplete(),
    }
}

/// A symbol that nothing mentions.
pub(crate) struct Dead {
    pub(crate) symbol: SymbolId,
    is_exported: bool,
    reason: &'static str,
}

/// Every dead symbol of a repository, exported ones included.
pub(crate) fn dead(repository: &Repository, stop: &Stop) -> Vec<Dead> {
    let snapshot = &repository.snapshot;
    let libraries = Libraries::of(repository);
    let mut candidates: Vec<Dead> = Vec::new();
    for symbol in snapshot.symbols() {
        if stop.is_stopped() {
            return Vec::new();
        }
        if let Some((is_exported, reason)) = unmentioned(snapshot, symbol, &libraries) {
            candidates.push(Dead {
                symbol: symbol.id(),
                is_exported,
                reason,
            });
        }
    }
    let names: HashSet<&str> = candidates
        .iter()
        .filter_map(|dead| Some(snapshot.symbol(dead.symbol)?.name()))
        .collect();
    let words: HashSet<&str> = names.iter().map(|name| last_word(name)).collect();
    let spoken = occurrences(repository, &words, stop);
    let explained: HashMap<&str, usize> = names.iter().map(|&name| (name, explained(snapshot, name))).collect();
    candidates.retain(|dead| {
        snapshot.symbol(dead.symbol).is_some_and(|symbol| {
            let name = symbol.name();
            spoken.get(last_word(name)).copied().unwrap_or(0) <= explained.get(name).copied().unwrap_or(0)
        })
    });
    let mut expressions = Expressions::default();
    candidates.retain(|dead| !expressions.contains(repository, snapshot, dead.symbol));
    candidates
}

/// Whether it is exported and why it counts as dead, as far as the graph can tell; `None` when it does not.
fn unmentioned(snapshot: &Snapshot, symbol: SymbolView<'_>, libraries: &Libraries) -> Option<(bool, &'static str)> {
    let judged = matches!(
        symbol.kind(),
        Kind::Function
            | Kind::Method
            | Kind::Class
            | Kind::Struct
            | Kind::Interface
            | Kind::Trait
            | Kind::Enum
            | Kind::Constant
            | Kind::Macro
    );
    if symbol.is_file() || !judged || is_test(symbol) || is_vendored(symbol.path()) {
        return None;
    }
    let flags = symbol.flags();
    if [Flags::ENTRY_POINT, Flags::DECLARATION, Flags::ABSTRACT, Flags::OVERRIDE]
        .into_iter()
        .any(|flag| flags.contains(flag))
    {
        return None;
    }
    let name = symbol.name();
    let is_special = matches!(name, "main" | "init" | "_" | "setUp" | "tearDown")
        || (name.starts_with("__") && name.ends_with("__"))
        || is_sign(name);
    // An attribute or annotation hands it to someone; the signature shows those that have no edge.
    let is_marked = symbol.signature().starts_with(['@', '[', '#']);
    if is_special || is_marked || is_read_by_name(symbol) {
        return None;
    }
    // A recursive call does not keep a function alive.
    let mentioned = snapshot
        .incoming(symbol.id(), usage_kinds())
        .any(|edge| edge.from != symbol.id());
    if mentioned {
        return None;
    }
    if has_live_twin(snapshot, symbol) {
        return None;
    }
    let reachable = EdgeKind::Overrides | EdgeKind::Implements | EdgeKind::Decorated | EdgeKind::Provides;
    if snapshot.outgoing(symbol.id(), reachable).next().is_some() {
        return None;
    }
    if symbol.kind() == Kind::Method
        && let Some(owner) = symbol.parent().filter(|owner| !owner.is_file())
        && has_outside_base(snapshot, owner.id(), 0)
    {
        return None;
    }
    // A type whose members are used is used.
    if snapshot.outgoing(symbol.id(), EdgeKind::Contains).any(|edge| {
        edge.to.symbol().is_some_and(|member| {
            snapshot
                .incoming(member, usage_kinds())
                .any(|use_| use_.from != symbol.id())
        })
    }) {
        return None;
    }
    let language = symbol.file().map_or("", |file| file.language());
    let public = symbol.visibility() == Visibility::Public;
    let is_exported = flags.contains(Flags::EXPORTED) || (public && libraries.publish(language));
    let reason = match (is_exported, symbol.visibility()) {
        (true, _) => "exported, and nothing in this workspace mentions it",
        (false, Visibility::Private) => "private, and nothing mentions it",
        (false, Visibility::Internal) => "internal to its package, and nothing mentions it",
        (false, Visibility::Protected) => "protected, and neither its class nor an heir mentions it",
        (false, Visibility::Public) => "nothing in this workspace mentions it",
    };
    Some((is_exported, reason))
}

/// Whether other signs than the name reach it: an operator, indexer or destructor, or something without a name.
fn is_sign(name: &str) -> bool {
    let is_letter = |letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '$' | '@');
    !name.starts_with(is_letter)
        || name.ends_with(']')
        || name
            .strip_prefix("operator")
            .is_some_and(|sign| !sign.starts_with(is_letter))
}

/// Code of others, kept in the tree as it came.
fn is_vendored(path: &str) -> bool {
    path.split('/').any(|folder| {
        matches!(
            folder,
            "vendor" | "vendored" | "third_party" | "node_modules" | "external"
        )
    })
}

/// Whether a use of another may mean this one: a second definition of the same name in the same place (an `if` chooses between
/// them), or, where calls are bound at run time, a method of the same name.
fn has_live_twin(snapshot: &Snapshot, symbol: SymbolView<'_>) -> bool {
    let late = matches!(
        symbol.file().map_or("", |file| file.language()),
        "python" | "ruby" | "php" | "javascript" | "typescript" | "tsx" | "vue" | "svelte"
    );
    let parent = symbol.parent().map(|parent| parent.id());
    let ids: Vec<SymbolId> = snapshot.named(symbol.name()).map(|twin| twin.id()).collect();
    ids.into_iter()
        .filter(|&twin| twin != symbol.id())
        .filter_map(|twin| snapshot.symbol(twin))
        .filter(|twin| {
            let in_place = twin.parent().map(|parent| parent.id()) == parent;
            in_place || (late && twin.kind() == Kind::Method && symbol.kind() == Kind::Method)
        })
        .any(|twin| snapshot.incoming(twin.id(), usage_kinds()).next().is_some())
}

/// Deepest inheritance that is looked through.
const MAX_BASES: usize = 8;

/// Whether a type extends or implements something of a package: its methods may be hooks that the package calls.
fn has_outside_base(snapshot: &Snapshot, type_: SymbolId, depth: usize) -> bool {
    let bases = EdgeKind::Extends | EdgeKind::Implements;
    snapshot.outgoing(type_, bases).any(|edge| match edge.to {
        EdgeEnd::External(external) => !snapshot.external(external).ends_with("::object"),
        EdgeEnd::Symbol(base) => depth < MAX_BASES && base != type_ && has_outside_base(snapshot, base, depth + 1),
    })
}

/// Constants of files that are read as a whole, by the names in them: settings, formats, migrations.
fn is_read_by_name(symbol: SymbolView<'_>) -> bool {
    let path = symbol.path();
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    let is_settings =
        stem.contains("settings") || matches!(stem, "conf" | "config" | "formats" | "constants" | "gunicorn");
    (symbol.kind() == Kind::Constant && is_settings) || path.split('/').any(|folder| folder == "migrations")
}

/// Languages in which what is not private is public, and whether the tree publishes packages in them.
struct Libraries {
    python: bool,
    ruby: bool,
    php: bool,
}

impl Libraries {
    fn of(repository: &Repository) -> Libraries {
        let read = |name: &str| text_in(&repository.root, name).unwrap_or_default();
        let pyproject = read("pyproject.toml");
        let entries = std::fs::read_dir(&repository.root).into_iter().flatten().flatten();
        Libraries {
            python: pyproject.contains("[project]")
                || pyproject.contains("[tool.poetry]")
                || read("setup.py").contains("setup(")
                || read("setup.cfg").contains("[metadata]"),
            ruby: entries
                .map(|entry| entry.file_name())
                .any(|name| name.to_string_lossy().ends_with(".gemspec")),
            php: read("composer.json").contains("\"autoload\"") && !repository.root.join("artisan").is_file(),
        }
    }

    fn publish(&self, language: &str) -> bool {
        match language {
            "python" => self.python,
            "ruby" => self.ruby,
            "php" => self.php,
            _ => false,
        }
    }
}

/// How often each of these words stands in the files of a repository.
fn occurrences<'n>(repository: &Repository, names: &HashSet<&'n str>, stop: &Stop) -> HashMap<&'n str, usize> {
    let files: Vec<_> = repository.snapshot.files().collect();
    let counted = files.par_iter().map(|file| {
        let mut counts: HashMap<&'n str, usize> = HashMap::new();
        if stop.is_stopped() {
            return counts;
        }
        let Ok((text, _)) = read_source(&repository.root, file.path()) else {
            return counts;
        };
        for word in text.split(|letter: char| !is_part(letter)) {
            // Names of Ruby may end in a mark, and PHP's and JavaScript's may begin with one, which a symbol's name may leave out.
            for spelling in [word, word.trim_start_matches('$')] {
                if let Some(name) = names.get(spelling) {
                    *counts.entry(name).or_default() += 1;
                    break;
                }
            }
        }
        counts
    });
    counted.reduce(HashMap::new, |mut all, one| {
        #[expect(clippy::iter_over_hash_type, reason = "sums do not depend on the order")]
        for (name, count) in one {
            *all.entry(name).or_default() += count;
        }
        all
    })
}

fn is_part(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$'
}

/// The word of a name that is looked for in text: `kube::build::clean` of a shell is read as three.
fn last_word(name: &str) -> &str {
    let word = name
        .rsplit(|letter: char| !is_part(letter))
        .find(|word| !word.is_empty());
    word.unwrap_or(name)
}

/// How many mentions of a name are definitions or uses that the graph knows.
fn explained(snapshot: &Snapshot, name: &str) -> usize {
    let kinds: EdgeKinds = usage_kinds().without(EdgeKind::Overrides).without(EdgeKind::Tests);
    let mut places: HashSet<(FileId, u32, u32)> = HashSet::new();
    for symbol in snapshot.named(name) {
        let at = symbol.name_at();
        places.insert((symbol.file_id(), at.line, at.column));
        for edge in snapshot.incoming(symbol.id(), kinds) {
            if let Some(from) = snapshot.symbol(edge.from) {
                places.insert((from.file_id(), edge.at.line, edge.at.column));
            }
        }
    }
    places.len()
}
