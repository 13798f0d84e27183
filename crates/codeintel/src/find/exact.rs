//! What a question names exactly comes first: lines of stack traces, `path:line`, paths, ids of symbols.

use index::scan::read_source;

use super::query::Query;
use super::rank::{Parts, Place, Ranking};
use super::regions::{Region, regions};
use crate::naming;
use crate::traverse;
use crate::workspace::{SymbolKey, Workspace};

/// Most places that come first.
const MOST: usize = 12;
/// Files of the tree that one written path may mean.
const MOST_FILES: usize = 3;

/// Puts the places that are named before all others; whether there are any.
pub(super) fn put_first(workspace: &Workspace, query: &Query, ranking: &mut Ranking) -> bool {
    let mut named: Vec<Place> = Vec::new();
    let mut add = |place: Option<Place>| {
        if let Some(place) = place.filter(|_| named.len() < MOST)
            && !named.iter().any(|known: &Place| is_same(known, &place))
        {
            named.push(place);
        }
    };
    for frame in &query.frames {
        let mut files = files(workspace, &frame.path);
        // Of several files of that name, the one with the function.
        let has_function = |&(repository, file): &(usize, index::model::FileId)| {
            let snapshot = &workspace.repositories()[repository].snapshot;
            let symbols = snapshot.file(file).into_iter().flat_map(|file| file.symbols());
            !frame.function.is_empty() && symbols.into_iter().any(|symbol| symbol.name() == frame.function)
        };
        if files.iter().any(has_function) {
            files.retain(has_function);
        }
        for (repository, file) in files.into_iter().take(MOST_FILES) {
            add(at_line(workspace, repository, file, frame.line, &frame.function));
        }
    }
    if query.is_name
        && let Ok(meant) = naming::best(workspace, query.text.trim())
    {
        let others = meant.others.iter().filter_map(|id| workspace.find(id));
        for key in std::iter::once(meant.key).chain(others) {
            add(of_symbol(workspace, key));
        }
    }
    if query.is_name {
        for path in &query.paths {
            for (repository, file) in files(workspace, path).into_iter().take(MOST_FILES) {
                add(at_line(workspace, repository, file, 1, ""));
            }
        }
    }
    let is_any = !named.is_empty();
    for place in &mut named {
        // What ranking found of the same place is kept: its lines are the same.
        place.holds_name = true;
    }
    ranking
        .places
        .retain(|place| !named.iter().any(|known| is_same(known, place)));
    named.append(&mut ranking.places);
    ranking.places = named;
    is_any
}

fn is_same(one: &Place, other: &Place) -> bool {
    (one.repository, one.file, one.region.first) == (other.repository, other.file, other.region.first)
}

/// The files that a written path means: those whose paths end with most of it.
fn files(workspace: &Workspace, path: &str) -> Vec<(usize, index::model::FileId)> {
    let path = path.replace('\\', "/");
    let parts: Vec<&str> = path
        .split('/')
        .filter(|part| !part.is_empty() && *part != "." && *part != "..")
        .collect();
    let Some((name, folders)) = parts.split_last() else {
        return Vec::new();
    };
    let mut best: Vec<(usize, (usize, index::model::FileId))> = Vec::new();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        for file in repository.snapshot.files() {
            let Some(rest) = file
                .path()
                .strip_suffix(name)
                .filter(|rest| rest.is_empty() || rest.ends_with('/'))
            else {
                continue;
            };
            let shared = rest
                .trim_end_matches('/')
                .rsplit('/')
                .zip(folders.iter().rev())
                .take_while(|(own, asked)| own == *asked)
                .count();
            best.push((shared, (number, file.id())));
        }
    }
    let most = best.iter().map(|(shared, _)| *shared).max().unwrap_or(0);
    // `/usr/lib/x/util.py` means no `util.py` of this tree where not even the folder is the same, unless there is but one.
    let is_vague = most == 0 && folders.len() > 1 && best.len() > 1;
    best.retain(|(shared, _)| *shared == most && !is_vague);
    best.into_iter().map(|(_, file)| file).collect()
}

/// The region around a line, or of the function where the line is elsewhere by now.
fn at_line(
    workspace: &Workspace,
    repository: usize,
    file: index::model::FileId,
    line: u32,
    function: &str,
) -> Option<Place> {
    let of = workspace.repository(repository)?;
    let view = of.snapshot.file(file)?;
    let (text, hash) = read_source(&of.root, view.path()).ok()?;
    let lines: Vec<&str> = text.lines().collect();
    let all = regions(view, &lines, &hash == view.hash());
    let name = |region: &Region| {
        region
            .symbol
            .and_then(|symbol| of.snapshot.symbol(symbol))
            .map_or("", |symbol| symbol.name())
    };
    let around = all
        .iter()
        .position(|region| region.first <= line && line <= region.last);
    // A function inside another is part of its region: it has not moved.
    let is_inside = || {
        let mut symbols = view.symbols().filter(|symbol| symbol.name() == function);
        symbols.any(|symbol| symbol.span().start_line <= line && line <= symbol.span().end_line)
    };
    let is_moved = !function.is_empty() && around.is_none_or(|at| name(&all[at]) != function) && !is_inside();
    let by_name = all
        .iter()
        .position(|region| is_moved && region.is_function && name(region) == function);
    let (at, pointed) = match (by_name, around) {
        (Some(at), _) => (at, None),
        (None, Some(at)) => (at, Some(line)),
        (None, None) => (
            all.iter()
                .position(|region| region.first > line)
                .or(all.len().checked_sub(1))?,
            None,
        ),
    };
    Some(place(
        workspace,
        repository,
        file,
        all[at].clone(),
        pointed.filter(|line| *line > 1),
    ))
}

fn of_symbol(workspace: &Workspace, key: SymbolKey) -> Option<Place> {
    let symbol = workspace.symbol(key)?;
    let mut found = at_line(workspace, key.repository, symbol.file_id(), symbol.name_at().line, "")?;
    if symbol.is_file() {
        found.line = None;
    }
    Some(found)
}

fn place(
    workspace: &Workspace,
    repository: usize,
    file: index::model::FileId,
    region: Region,
    line: Option<u32>,
) -> Place {
    let snapshot = &workspace.repositories()[repository].snapshot;
    let is_test = snapshot
        .file(file)
        .is_some_and(|file| traverse::is_test_path(file.path()));
    Place {
        repository,
        file,
        region,
        score: f32::MAX,
        order: f32::MAX,
        is_test,
        is_exact: true,
        holds_name: true,
        line,
        parts: Parts::default(),
    }
}
