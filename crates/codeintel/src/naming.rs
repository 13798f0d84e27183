//! Finds the symbol that a caller means: by id, by name, by `Owner.name`, by `path:line`, by a path's end.
//!
//! The one rule: a similar name never stands in for the one asked; no fit is an error that lists the nearest names. Of several fits a
//! question that only reads is answered for the likeliest and names the others, and what would write is refused with the list. `Owner.name` also finds what `Owner`
//! inherits, since whoever asks for `ModelAdmin.get_queryset` seldom knows which base defines it; the answer names the base.

mod spellings;

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};
use std::path::Path;

use index::model::EdgeKind;
use index::snapshot::{FileView, SymbolId, SymbolView};
use syntax::facts::{Flags, Kind};

use crate::descriptors::words;
use crate::error::{Candidate, MAX_CANDIDATES, QuestionError};
use crate::kinds;
use crate::traverse;
use crate::workspace::{SymbolKey, Workspace};

/// Longest text that is looked up as a name.
const MAX_ASKED: usize = 1024;
/// How many near names an error lists.
const NEAREST: usize = 5;
/// Most types that are gone through for an inherited member.
const MAX_BASES: usize = 1_000;

/// The symbol that a name means, and the others that it may mean.
#[derive(Clone, PartialEq, Debug)]
pub struct Meant {
    /// The symbol.
    pub key: SymbolKey,
    /// Ids of a few others of that name.
    pub others: Vec<String>,
}

/// Others of a name that are listed.
const MOST_OTHERS: usize = 5;

/// The one symbol that `asked` names.
pub fn find(workspace: &Workspace, asked: &str) -> Result<SymbolKey, QuestionError> {
    let fits = fits(workspace, asked)?;
    match fits.as_slice() {
        [one] => Ok(*one),
        several => Err(QuestionError::Ambiguous {
            asked: asked.trim().trim_matches('`').to_string(),
            candidates: several
                .iter()
                .take(MAX_CANDIDATES)
                .filter_map(|key| candidate(workspace, *key))
                .collect(),
            total: several.len(),
        }),
    }
}

/// Every symbol that `asked` may name, likeliest first.
pub(crate) fn by_likelihood(workspace: &Workspace, asked: &str) -> Result<Vec<SymbolKey>, QuestionError> {
    let mut fits = fits(workspace, asked)?;
    // What is used most is what is asked about most; tests and what is kept inside of functions least.
    fits.sort_by_cached_key(|key| {
        let symbol = workspace.symbol(*key);
        let is_test = symbol.is_none_or(traverse::is_test);
        let repository = workspace.repository(key.repository);
        let used = repository.map_or(0, |repository| repository.snapshot.incoming_count(key.symbol));
        (is_test, is_local(workspace, *key), Reverse(used), *key)
    });
    Ok(fits)
}

/// The only symbol with the last part of a dotted name, outside of tests: it is told beside the answer that its owner is another one.
pub(crate) fn only_of_last_part(workspace: &Workspace, asked: &str) -> Option<SymbolKey> {
    let (_, parts) = parts(asked.trim().trim_matches('`'));
    let [_, .., last] = parts.as_slice() else {
        return None;
    };
    let mut found = owned(workspace, None, &[], last);
    found.retain(|key| workspace.symbol(*key).is_some_and(|symbol| !traverse::is_test(symbol)));
    match found.as_slice() {
        [only] => Some(*only),
        _ => None,
    }
}

/// The symbol that `asked` most likely names, with the others that it may mean: for questions that only read.
pub fn best(workspace: &Workspace, asked: &str) -> Result<Meant, QuestionError> {
    let fits = by_likelihood(workspace, asked)?;
    let key = fits.first().copied().ok_or_else(|| QuestionError::NoSuchSymbol {
        asked: asked.to_owned(),
        nearest: Vec::new(),
    })?;
    let others = fits.iter().skip(1).take(MOST_OTHERS);
    let mut others: Vec<String> = others
        .filter_map(|key| Some(workspace.id(key.repository, workspace.symbol(*key)?)))
        .collect();
    if fits.len() > MOST_OTHERS + 1 {
        others.push(format!("{} more", fits.len() - 1 - MOST_OTHERS));
    }
    Ok(Meant { key, others })
}

/// The same for answers that have no place for the others: they are remarked beside it.
pub(crate) fn likeliest(workspace: &Workspace, asked: &str) -> Result<SymbolKey, QuestionError> {
    let Meant { key, others } = best(workspace, asked)?;
    if let (false, Some(symbol)) = (others.is_empty(), workspace.symbol(key)) {
        let asked = asked.trim().trim_matches('`');
        let id = workspace.id(key.repository, symbol);
        workspace.remark(format!(
            "`{asked}` was taken for {id}; also named so: {}",
            others.join(", ")
        ));
    }
    Ok(key)
}

/// Every symbol that `asked` may name, at least one.
fn fits(workspace: &Workspace, asked: &str) -> Result<Vec<SymbolKey>, QuestionError> {
    let asked = asked.trim().trim_matches('`');
    if asked.is_empty() || asked.len() > MAX_ASKED {
        return Err(QuestionError::Argument {
            name: "id",
            problem: format!("expected a symbol id, a name, `Owner.name` or `path:line` of at most {MAX_ASKED} bytes"),
        });
    }
    let exact = workspace.split(asked).find_map(|(repository, rest)| {
        let symbol = workspace.repositories()[repository].snapshot.find(rest)?;
        Some(SymbolKey {
            repository,
            symbol: symbol.id(),
        })
    });
    if let Some(key) = exact {
        return Ok(vec![key]);
    }
    if let Some(key) = at_place(workspace, asked)? {
        return Ok(vec![key]);
    }
    let mut fits = named(workspace, asked);
    if fits.iter().all(|key| is_local(workspace, *key)) {
        fits.extend(inherited(workspace, asked));
    }
    let plain = spellings::plain(asked);
    if fits.is_empty() && plain != asked {
        fits = named(workspace, &plain);
        if fits.is_empty() {
            fits = inherited(workspace, &plain);
        }
    }
    let is_external = fits.is_empty() && !outside(workspace, asked).is_empty();
    if fits.is_empty() && !is_external {
        fits = spellings::along(workspace, asked);
    }
    if fits.is_empty() && !is_external && plain != asked {
        fits = spellings::along(workspace, &plain);
    }
    // What a function keeps to itself is not meant where something of that name can be reached from outside.
    prefer(&mut fits, |key| !is_local(workspace, key));
    // A prototype and its body are one thing to whoever asks: the body is meant.
    prefer(&mut fits, |key| !is_declaration(workspace, key));
    // A heading that has the name of a type is about it.
    prefer(&mut fits, |key| !is_heading(workspace, key));
    if !fits.is_empty() {
        return Ok(fits);
    }
    Err(match outside(workspace, asked) {
        external if !external.is_empty() => QuestionError::Outside {
            asked: asked.to_string(),
            external,
        },
        _ => QuestionError::NoSuchSymbol {
            asked: asked.to_string(),
            nearest: nearest(workspace, asked),
        },
    })
}

/// The file that `asked` names: its path, from the root or of the whole machine, or the end of exactly one path.
pub fn find_file<'a>(workspace: &'a Workspace, asked: &str) -> Result<(usize, FileView<'a>), QuestionError> {
    let asked = asked.trim().trim_start_matches("./");
    if let Some(found) = workspace.find_file(asked) {
        return Ok(found);
    }
    if Path::new(asked).is_absolute() || asked.split(['/', '\\']).any(|part| part == "..") {
        return find_outside(workspace, asked);
    }
    let mut fits = files_ending(workspace, asked);
    if fits.len() == 1 {
        return Ok(fits.remove(0));
    }
    let why = workspace.split(asked).find_map(|(repository, rest)| {
        let skipped = workspace.repositories()[repository]
            .snapshot
            .skipped()
            .find(|skipped| skipped.path == rest)?;
        Some(format!("skipped: {}", skipped.reason.as_str()))
    });
    let is_there = |(repository, rest): (usize, &str)| workspace.repositories()[repository].root.join(rest).exists();
    let unread = || {
        let is_folder =
            |(repository, rest): (usize, &str)| workspace.repositories()[repository].root.join(rest).is_dir();
        if workspace.split(asked).any(is_folder) {
            return Some("it is a folder: name a file in it".to_string());
        }
        let is_new = workspace.split(asked).any(is_there);
        is_new.then(|| "it is on disk: run `lacon index`, or wait for the watcher".to_string())
    };
    let why = why.or_else(unread);
    if fits.is_empty() {
        fits = files_below(workspace, asked);
    }
    if let (true, Some((_, name))) = (fits.is_empty(), asked.rsplit_once('/')) {
        fits = files_ending(workspace, name);
    }
    let nearest = fits
        .iter()
        .take(NEAREST)
        .map(|(repository, file)| workspace.path(*repository, file.path()))
        .collect();
    Err(QuestionError::NoSuchFile {
        path: asked.to_string(),
        why,
        nearest,
    })
}

/// Symbols of other packages that go by this name.
fn outside(workspace: &Workspace, asked: &str) -> Vec<String> {
    let is_meant = |external: &str| {
        let rest = external.strip_suffix(asked);
        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with(['.', ':']))
    };
    let repositories = workspace.repositories().iter();
    let externals = repositories.flat_map(|repository| repository.snapshot.externals());
    let meant = externals.map(|(_, name)| name).filter(|name| is_meant(name));
    meant.take(NEAREST).map(str::to_string).collect()
}

/// The first files of a folder.
fn files_below<'a>(workspace: &'a Workspace, folder: &str) -> Vec<(usize, FileView<'a>)> {
    let folder = folder.trim_end_matches('/');
    let is_below = |path: &str| path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    let mut found = Vec::new();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        let files = repository
            .snapshot
            .files()
            .filter(|file| is_below(&workspace.path(number, file.path())));
        found.extend(files.take(NEAREST).map(|file| (number, file)));
    }
    found.truncate(NEAREST);
    found
}

/// A path that does not begin at a root: it may still lead into one. Nothing is read from disk.
fn find_outside<'a>(workspace: &'a Workspace, asked: &str) -> Result<(usize, FileView<'a>), QuestionError> {
    let inside = workspace
        .repositories()
        .iter()
        .enumerate()
        .find_map(|(number, repository)| {
            let rest = Path::new(asked).strip_prefix(&repository.root).ok()?.to_str()?;
            Some((number, repository.snapshot.find_file(rest)?))
        });
    inside.ok_or_else(|| {
        let roots: Vec<String> = workspace
            .repositories()
            .iter()
            .map(|repository| repository.root.display().to_string())
            .collect();
        let is_inside = roots.iter().any(|root| Path::new(asked).starts_with(root)) && !asked.contains("..");
        QuestionError::NoSuchFile {
            path: asked.to_string(),
            why: (!is_inside).then(|| format!("it is outside the roots: give a path below {}", roots.join(" or "))),
            nearest: Vec::new(),
        }
    })
}

/// `path:line` and `path:line:column`.
fn at_place(workspace: &Workspace, asked: &str) -> Result<Option<SymbolKey>, QuestionError> {
    let mut parts = asked.rsplitn(3, ':');
    let (Some(last), Some(middle)) = (parts.next(), parts.next()) else {
        return Ok(None);
    };
    let (path, line) = match (parts.next(), middle.parse::<u32>(), last.parse::<u32>()) {
        (Some(path), Ok(line), Ok(_)) => (path.to_string(), line),
        (Some(path), Err(_), Ok(line)) => (format!("{path}:{middle}"), line),
        (None, _, Ok(line)) => (middle.to_string(), line),
        _ => return Ok(None),
    };
    if path.is_empty() || path.ends_with(':') {
        return Ok(None);
    }
    let (repository, file) = find_file(workspace, &path)?;
    if line == 0 || line > file.lines().max(1) {
        return Err(QuestionError::Argument {
            name: "id",
            problem: format!("`{path}` has lines 1 to {}, not {line}", file.lines()),
        });
    }
    let symbol = workspace.repositories()[repository].snapshot.symbol_at(file.id(), line);
    Ok(symbol.map(|symbol| SymbolKey {
        repository,
        symbol: symbol.id(),
    }))
}

/// Every symbol whose qualified name ends with the parts asked for, in the files that the path (if any) ends.
pub(crate) fn named(workspace: &Workspace, asked: &str) -> Vec<SymbolKey> {
    let (path, parts) = parts(asked);
    match parts.split_last() {
        Some((name, owners)) => owned(workspace, path, owners, name),
        None => Vec::new(),
    }
}

/// The path and the parts of the qualified name that `asked` consists of.
fn parts(asked: &str) -> (Option<&str>, Vec<&str>) {
    let (path, qualified) = match asked.rsplit_once("::") {
        // `models.py::User` names a file's end; `User::save` names an owner.
        Some((path, name)) if path.contains(['/', '.']) => (Some(path), name),
        _ => (None, asked),
    };
    let parts = qualified
        .split(['.', '#', '\\'])
        .flat_map(|part| part.split("::"))
        .filter(|part| !part.is_empty());
    (path, parts.collect())
}

/// The symbols called `name` in these owners, in the files that the path ends.
fn owned(workspace: &Workspace, path: Option<&str>, owners: &[&str], name: &str) -> Vec<SymbolKey> {
    let mut found = Vec::new();
    for (repository, of) in workspace.repositories().iter().enumerate() {
        for symbol in of.snapshot.named(name) {
            let fits_path =
                path.is_none_or(|path| ends_path(symbol.path(), path.trim_start_matches(&format!("{}/", of.name))));
            if fits_path && has_owners(symbol, owners) {
                found.push(SymbolKey {
                    repository,
                    symbol: symbol.id(),
                });
            }
        }
    }
    found
}

fn has_owners(symbol: SymbolView<'_>, owners: &[&str]) -> bool {
    if owners.is_empty() {
        return true;
    }
    let qualified = symbol.qualified_name();
    // A struct that a function gives back has no name of its own: its members go by the function's.
    let mut have = qualified
        .split('.')
        .rev()
        .skip(1)
        .filter(|owner| !owner.starts_with('<'));
    owners.iter().rev().all(|owner| have.next() == Some(owner))
}

/// The members that types inherit, where `asked` is `Type.member` and the type outside of functions has none of its own.
fn inherited(workspace: &Workspace, asked: &str) -> Vec<SymbolKey> {
    let (path, parts) = parts(asked);
    let Some((name, [owners @ .., owner])) = parts.split_last() else {
        return Vec::new();
    };
    let members = owned(workspace, None, &[], name);
    let mut found: Vec<SymbolKey> = owned(workspace, path, owners, owner)
        .into_iter()
        .filter(|key| !is_local(workspace, *key))
        .flat_map(|key| nearest_above(workspace, &members, key.repository, vec![key.symbol]))
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

/// Those of `members` that belong to the types `level` of a repository, or else to the nearest ones they inherit from.
pub(crate) fn nearest_above(
    workspace: &Workspace,
    members: &[SymbolKey],
    repository: usize,
    mut level: Vec<SymbolId>,
) -> Vec<SymbolKey> {
    let snapshot = &workspace.repositories()[repository].snapshot;
    level.retain(|id| snapshot.symbol(*id).is_some_and(|symbol| words::is_type(symbol.kind())));
    let mut seen: BTreeSet<SymbolId> = level.iter().copied().collect();
    while !level.is_empty() && seen.len() < MAX_BASES {
        let is_of_level = |key: &&SymbolKey| {
            let owner = workspace.symbol(**key).and_then(|symbol| symbol.parent());
            key.repository == repository && owner.is_some_and(|owner| level.contains(&owner.id()))
        };
        let found: Vec<SymbolKey> = members.iter().filter(is_of_level).copied().collect();
        if !found.is_empty() {
            return found;
        }
        let bases = EdgeKind::Extends | EdgeKind::Implements;
        let above = level.iter().flat_map(|id| snapshot.outgoing(*id, bases));
        let above: Vec<SymbolId> = above.filter_map(|edge| edge.to.symbol()).collect();
        level = above.into_iter().filter(|id| seen.insert(*id)).collect();
    }
    Vec::new()
}

/// Whether a function holds the symbol.
fn is_local(workspace: &Workspace, key: SymbolKey) -> bool {
    let holder = workspace.symbol(key).and_then(|symbol| symbol.parent());
    std::iter::successors(holder, |holder| holder.parent()).any(|holder| words::is_function(holder.kind()))
}

/// Whether `path` ends with the whole components of `end`.
fn ends_path(path: &str, end: &str) -> bool {
    path.strip_suffix(end)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

fn files_ending<'a>(workspace: &'a Workspace, end: &str) -> Vec<(usize, FileView<'a>)> {
    workspace
        .repositories()
        .iter()
        .enumerate()
        .flat_map(|(number, repository)| repository.snapshot.files().map(move |file| (number, file)))
        .filter(|(_, file)| ends_path(file.path(), end))
        .collect()
}

/// Keeps those that are better, where there are any.
fn prefer(fits: &mut Vec<SymbolKey>, is_better: impl Fn(SymbolKey) -> bool) {
    if fits.len() > 1 && fits.iter().any(|key| is_better(*key)) {
        fits.retain(|key| is_better(*key));
    }
}

fn is_heading(workspace: &Workspace, key: SymbolKey) -> bool {
    workspace
        .symbol(key)
        .is_some_and(|symbol| symbol.kind() == Kind::Section)
}

fn is_declaration(workspace: &Workspace, key: SymbolKey) -> bool {
    workspace
        .symbol(key)
        .is_some_and(|symbol| symbol.flags().contains(Flags::DECLARATION))
}

fn candidate(workspace: &Workspace, key: SymbolKey) -> Option<Candidate> {
    let symbol = workspace.symbol(key)?;
    Some(Candidate {
        id: workspace.id(key.repository, symbol),
        kind: kinds::kind(symbol),
        line: symbol.span().start_line,
    })
}

/// Ids of symbols whose names are few edits away from the last part of what was asked, nearest first.
fn nearest(workspace: &Workspace, asked: &str) -> Vec<String> {
    let name = asked.rsplit(['.', ':', '#', '\\', '/']).next().unwrap_or(asked);
    if name.is_empty() {
        return Vec::new();
    }
    let limit = (name.chars().count() / 3).clamp(1, 4);
    // Ordered by distance, then by how many symbols bear the name, then by the name itself.
    let mut best: BinaryHeap<(usize, Reverse<usize>, &str, usize)> = BinaryHeap::new();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        for (other, count) in repository.snapshot.names() {
            if other.len().abs_diff(name.len()) > limit * 2 {
                continue;
            }
            let distance = if other.eq_ignore_ascii_case(name) {
                0
            } else {
                distance(name, other, limit)
            };
            if distance <= limit {
                best.push((distance, Reverse(count), other, number));
                if best.len() > NEAREST {
                    best.pop();
                }
            }
        }
    }
    let mut ids = Vec::new();
    for (_, _, name, number) in best.into_sorted_vec() {
        let repository = &workspace.repositories()[number];
        ids.extend(
            repository
                .snapshot
                .named(name)
                .take(2)
                .map(|symbol| workspace.id(number, symbol)),
        );
    }
    ids.truncate(NEAREST);
    ids
}

/// Edits between two names, letters of either case being equal; anything above `limit` is `limit + 1`.
fn distance(a: &str, b: &str, limit: usize) -> usize {
    let a: Vec<u8> = a.bytes().map(|byte| byte.to_ascii_lowercase()).collect();
    let b: Vec<u8> = b.bytes().map(|byte| byte.to_ascii_lowercase()).collect();
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, left) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        let mut least = row[0];
        for (j, right) in b.iter().enumerate() {
            let substituted = diagonal + usize::from(left != right);
            diagonal = row[j + 1];
            row[j + 1] = substituted.min(diagonal + 1).min(row[j] + 1);
            least = least.min(row[j + 1]);
        }
        if least > limit {
            return limit + 1;
        }
    }
    row[b.len()]
}
