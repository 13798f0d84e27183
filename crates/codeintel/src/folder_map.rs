//! A folder of a repository at a glance: what is in it by size and language, and which of its parts use which.

use std::collections::BTreeMap;

use index::model::{EdgeKind, FileId};
use index::snapshot::EdgeKinds;
use serde::{Deserialize, Serialize};

use crate::error::QuestionError;
use crate::workspace::Workspace;

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskFolder {
    /// Name of the repository, where there are several.
    pub repo: Option<String>,
    /// Path of the folder inside the repository (default: all of it).
    #[serde(default)]
    pub path: String,
}

/// The parts of a folder.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FolderMap {
    /// The repository.
    pub repo: String,
    /// The folder.
    pub path: String,
    /// Folders and files, largest first.
    pub parts: Vec<Part>,
    /// Which parts use which, most first.
    pub uses: Vec<Use>,
}

/// A folder or a file.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Part {
    /// Its name in the folder.
    pub name: String,
    /// Its path.
    pub path: String,
    /// Whether it is a folder.
    pub folder: bool,
    /// Files in it.
    pub files: u64,
    /// Lines in them.
    pub lines: u64,
    /// Symbols in them.
    pub symbols: u64,
    /// Calls in them of which nothing is known.
    pub unresolved_calls: u64,
    /// The language with most lines.
    pub language: String,
    /// Edges that end in it and start in another part of the repository.
    pub used: u64,
    /// Edges that start in it and end in another part of the repository.
    pub using: u64,
    /// What is directly in a folder, largest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inside: Vec<Inside>,
}

/// A folder or a file inside of a part.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Inside {
    /// Its name.
    pub name: String,
    /// Whether it is a folder.
    pub folder: bool,
    /// Lines in it.
    pub lines: u64,
    /// Calls in it of which nothing is known.
    pub unresolved_calls: u64,
    /// The language of its first file.
    pub language: String,
}

/// How often a part uses another.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Use {
    /// Number of the part that uses.
    pub from: usize,
    /// Number of the part that is used.
    pub to: usize,
    /// Edges.
    pub count: u64,
}

/// Most parts of one answer, so that nothing grows with a folder of a hundred thousand files.
const MOST_PARTS: usize = 2_000;
/// Most of what is directly in one part.
const MOST_INSIDE: usize = 60;

/// The map of a folder.
pub fn folder_map(workspace: &Workspace, ask: &AskFolder) -> Result<FolderMap, QuestionError> {
    let no_folder = |path: &str| QuestionError::NoSuchFile {
        path: path.to_string(),
        why: None,
        nearest: Vec::new(),
    };
    let repositories = workspace.repositories();
    let repository = match &ask.repo {
        Some(name) => repositories.iter().find(|repository| repository.name == *name),
        None => repositories.first(),
    };
    let repository = repository.ok_or_else(|| no_folder(ask.repo.as_deref().unwrap_or_default()))?;
    let number = repositories
        .iter()
        .position(|one| one.name == repository.name)
        .unwrap_or_default();
    let snapshot = &repository.snapshot;
    let folder = ask.path.trim_matches('/');
    let prefix = match folder {
        "" => String::new(),
        folder => format!("{folder}/"),
    };
    let mut parts: Vec<Part> = Vec::new();
    let mut languages: Vec<BTreeMap<&str, u64>> = Vec::new();
    let mut known: BTreeMap<&str, usize> = BTreeMap::new();
    let mut inside: BTreeMap<(usize, &str), Inside> = BTreeMap::new();
    let mut part_of: BTreeMap<FileId, usize> = BTreeMap::new();
    for file in snapshot.files() {
        let Some(rest) = file.path().strip_prefix(&prefix) else {
            continue;
        };
        let (name, below) = match rest.split_once('/') {
            Some((name, below)) => (name, Some(below)),
            None => (rest, None),
        };
        let at = *known.entry(name).or_insert_with(|| {
            parts.push(Part {
                name: name.to_string(),
                path: workspace.path(number, &format!("{prefix}{name}")),
                folder: below.is_some(),
                ..Part::default()
            });
            languages.push(BTreeMap::new());
            parts.len() - 1
        });
        let part = &mut parts[at];
        part.files += 1;
        part.lines += u64::from(file.lines());
        part.symbols += file.symbols().count().saturating_sub(1) as u64;
        part.unresolved_calls += u64::from(file.unresolved_calls());
        *languages[at].entry(file.language()).or_default() += u64::from(file.lines());
        part_of.insert(file.id(), at);
        if let Some(below) = below {
            let (name, is_folder) = below.split_once('/').map_or((below, false), |(name, _)| (name, true));
            let one = inside.entry((at, name)).or_insert_with(|| Inside {
                name: name.to_string(),
                folder: is_folder,
                language: file.language().to_string(),
                ..Inside::default()
            });
            one.lines += u64::from(file.lines());
            one.unresolved_calls += u64::from(file.unresolved_calls());
        }
    }
    if parts.is_empty() && !folder.is_empty() {
        return Err(no_folder(folder));
    }
    for (part, languages) in parts.iter_mut().zip(&languages) {
        let most = languages
            .iter()
            .max_by_key(|(name, lines)| (**lines, std::cmp::Reverse(**name)));
        part.language = most.map_or(String::new(), |(name, _)| (*name).to_string());
    }
    for ((at, _), one) in inside {
        parts[at].inside.push(one);
    }
    for part in &mut parts {
        part.inside.sort_by(|one, other| {
            (std::cmp::Reverse(one.lines), &one.name).cmp(&(std::cmp::Reverse(other.lines), &other.name))
        });
        part.inside.truncate(MOST_INSIDE);
    }
    let mut uses: BTreeMap<(usize, usize), u64> = BTreeMap::new();
    for edge in snapshot.edges(EdgeKinds::ALL.without(EdgeKind::Contains)) {
        let file_of = |symbol| snapshot.symbol(symbol).map(|symbol| symbol.file_id());
        let from = file_of(edge.from).and_then(|file| part_of.get(&file).copied());
        let to = edge.to.symbol();
        let is_inside = to.is_some();
        let to = to.and_then(file_of).and_then(|file| part_of.get(&file).copied());
        if from == to || !is_inside {
            continue;
        }
        if let Some(from) = from {
            parts[from].using += 1;
        }
        if let Some(to) = to {
            parts[to].used += 1;
        }
        if let (Some(from), Some(to)) = (from, to) {
            *uses.entry((from, to)).or_default() += 1;
        }
    }
    // Numbers of parts are places in the sorted list.
    let mut order: Vec<usize> = (0..parts.len()).collect();
    order.sort_by(|one, other| {
        let key = |at: usize| (std::cmp::Reverse(parts[at].lines), parts[at].name.as_str());
        key(*one).cmp(&key(*other))
    });
    order.truncate(MOST_PARTS);
    let place: BTreeMap<usize, usize> = order.iter().enumerate().map(|(place, at)| (*at, place)).collect();
    let mut uses: Vec<Use> = uses
        .into_iter()
        .filter_map(|((from, to), count)| {
            let (from, to) = (*place.get(&from)?, *place.get(&to)?);
            Some(Use { from, to, count })
        })
        .collect();
    uses.sort_by_key(|one| (std::cmp::Reverse(one.count), one.from, one.to));
    Ok(FolderMap {
        repo: repository.name.clone(),
        path: folder.to_string(),
        parts: order.into_iter().map(|at| parts[at].clone()).collect(),
        uses,
    })
}
