//! Files by parts of their paths, as somebody types them: `serv/cli.r` finds `crates/server/src/client.rs`.

use serde::{Deserialize, Serialize};

use crate::error::QuestionError;
use crate::workspace::Workspace;

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AskFiles {
    /// Parts of the path, in order, separated by spaces or slashes.
    pub query: String,
    /// Files at most (default 20).
    pub limit: Option<usize>,
}

/// The files that fit, best first.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FilesFound {
    /// The best of them.
    pub files: Vec<FileFound>,
    /// How many fit.
    pub total: usize,
}

/// A file.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct FileFound {
    /// Its path.
    pub path: String,
    /// Key of its language.
    pub language: String,
    /// Lines in it.
    pub lines: u32,
}

/// Most files of one answer.
const MOST_FILES: usize = 500;

/// The files whose path has all parts, in order.
pub fn find_files(workspace: &Workspace, ask: &AskFiles) -> Result<FilesFound, QuestionError> {
    let query = ask.query.to_lowercase();
    let parts: Vec<&str> = query.split([' ', '/']).filter(|part| !part.is_empty()).collect();
    if parts.is_empty() {
        return Ok(FilesFound::default());
    }
    let mut fits = Vec::new();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        for file in repository.snapshot.files() {
            let path = workspace.path(number, file.path());
            if let Some(rank) = rank(&path.to_lowercase(), &parts) {
                fits.push((rank, path, file));
            }
        }
    }
    let total = fits.len();
    fits.sort_by(|one, other| (one.0, &one.1).cmp(&(other.0, &other.1)));
    fits.truncate(ask.limit.unwrap_or(20).min(MOST_FILES));
    let found = |(_, path, file): (_, String, index::snapshot::FileView<'_>)| FileFound {
        path,
        language: file.language().to_string(),
        lines: file.lines(),
    };
    Ok(FilesFound {
        files: fits.into_iter().map(found).collect(),
        total,
    })
}

/// How well a path fits, least first: the last part is the whole name, begins it, is in it, or is in a folder; then short paths.
fn rank(path: &str, parts: &[&str]) -> Option<(u8, usize)> {
    let mut rest = path;
    for part in parts {
        rest = &rest[rest.find(part)? + part.len()..];
    }
    let last = parts.last()?;
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let class = match name {
        _ if name == *last || stem == *last => 0,
        _ if name.starts_with(last) => 1,
        _ if name.contains(last) => 2,
        _ => 3,
    };
    Some((class, path.len()))
}

#[cfg(test)]
mod tests {
    use super::rank;

    #[test]
    fn the_name_counts_most() {
        let of = |path: &str| rank(path, &["views"]);
        assert!(of("src/views.py") < of("src/views_old.py"));
        assert!(of("src/views_old.py") < of("src/old_views.py"));
        assert!(of("src/old_views.py") < of("views/a.py"));
        assert_eq!(of("src/view.py"), None);
    }

    #[test]
    fn parts_stand_in_order() {
        assert!(rank("crates/server/src/client.rs", &["serv", "cli"]).is_some());
        assert!(rank("crates/client/src/server.rs", &["serv", "cli"]).is_none());
    }
}
