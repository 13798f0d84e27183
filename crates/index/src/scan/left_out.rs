//! What a walk leaves out, and why: for whoever asks what the index does not have.
//!
//! It is looked for when somebody asks, and no part of a snapshot: what is built or downloaded into a tree comes and goes, and no
//! answer depends on it.

use std::path::Path;

use super::walk::walk_with_account;
use super::{Config, ConfigError, SkipReason, escape_path, read_bytes, unescape_path};
use crate::git::{Repository, TrackedKind};

/// Something that rules leave out.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct LeftOut {
    /// Its path, escaped.
    pub path: Box<str>,
    /// Whether it is a folder with all that is in it.
    pub is_folder: bool,
    /// What leaves it out.
    pub by: LeftOutBy,
    /// The rule, where one does.
    pub rule: Option<String>,
}

/// What leaves something out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum LeftOutBy {
    /// An ignore file, and git does not track it.
    Rule,
    /// Its name starts with a dot.
    Hidden,
    /// A folder of this name holds no source of the tree.
    Name,
    /// `include` or `exclude` of `lacon.toml`.
    Configuration,
    /// A sparse checkout.
    NotCheckedOut,
    /// A submodule whose files are not here.
    Submodule,
    /// Git tracks it and it was removed.
    Removed,
    /// A clone or a work tree inside of the tree, which is a project of its own.
    Repository,
}

impl LeftOutBy {
    /// The reason in a word.
    pub fn as_str(self) -> &'static str {
        match self {
            LeftOutBy::Rule => "ignored",
            LeftOutBy::Hidden => "hidden",
            LeftOutBy::Name => "never_source",
            LeftOutBy::Configuration => "excluded",
            LeftOutBy::NotCheckedOut => "not_checked_out",
            LeftOutBy::Submodule => "submodule",
            LeftOutBy::Removed => "removed",
            LeftOutBy::Repository => "other_repository",
        }
    }
}

/// Directories that hold no source of the tree even where no ignore file says so.
pub(super) const NEVER: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".lacon",
    "node_modules",
    "bower_components",
    "__pycache__",
    ".venv",
    ".tox",
];

/// Whether a file is made to hold credentials. A tree may ask for hidden and ignored files, and the user's own lie among them:
/// these are never indexed on its word.
pub(super) fn is_secret(path: &str) -> bool {
    const FOLDERS: &[&str] = &[".ssh", ".aws", ".gnupg", ".docker", ".kube", ".azure", ".gcloud"];
    const NAMES: &[&str] = &[
        ".netrc",
        "_netrc",
        ".pgpass",
        ".my.cnf",
        ".npmrc",
        ".yarnrc.yml",
        ".pypirc",
        ".git-credentials",
        ".htpasswd",
        ".dockercfg",
        "id_rsa",
        "id_dsa",
        "id_ecdsa",
        "id_ed25519",
    ];
    const EXTENSIONS: &[&str] = &["pem", "key", "p12", "pfx", "jks", "keystore", "kdbx"];
    const EXAMPLES: &[&str] = &["example", "sample", "template", "dist", "defaults"];
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let name = name.to_ascii_lowercase();
    let (stem, extension) = name.rsplit_once('.').unwrap_or((&name, ""));
    let is_environment =
        name == ".env" || (name.starts_with(".env.") && !EXAMPLES.contains(&extension)) || name == ".envrc";
    is_environment
        || NAMES.contains(&&*name)
        || (!stem.is_empty() && EXTENSIONS.contains(&extension))
        || folders.split('/').any(|folder| FOLDERS.contains(&folder))
}

/// Whether a file is not shown even to who asks for it by its path: one made to hold credentials, and those of git and of Lacon, in
/// whose configurations they are written as well.
pub fn is_never_shown(path: &str) -> bool {
    const TOOLS: &[&str] = &[".git", ".hg", ".svn", ".jj", ".lacon"];
    let is_tools = |part: &str| TOOLS.iter().any(|tool| part.eq_ignore_ascii_case(tool));
    is_secret(path) || path.split('/').any(is_tools)
}

/// What rules leave out of a tree, and what git tracks that is not in the work tree.
pub fn left_out(root: &Path, config: &Config) -> Result<Vec<LeftOut>, ConfigError> {
    let mut found = walk_with_account(root, config)?.left_out;
    if let Ok(repository) = Repository::around(root) {
        not_here(&repository, root, &mut found);
    }
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

fn not_here(repository: &Repository, root: &Path, found: &mut Vec<LeftOut>) {
    let Ok(inside) = root.strip_prefix(&repository.work_tree) else {
        return;
    };
    let tracked = repository.tracked();
    let folder = inside.as_os_str().as_encoded_bytes();
    let prefix = match folder.len() {
        0 => 0,
        length => length + 1,
    };
    for (name, kind) in tracked.below(folder) {
        let is_folder = name.ends_with(b"/");
        let name = name.strip_suffix(b"/").unwrap_or(name);
        let path = super::escape::from_bytes(name[prefix.min(name.len())..].to_vec());
        let exists = std::fs::symlink_metadata(root.join(&path)).is_ok();
        let by = match kind {
            TrackedKind::NotCheckedOut if !exists => LeftOutBy::NotCheckedOut,
            TrackedKind::Submodule if !root.join(&path).join(".git").exists() => LeftOutBy::Submodule,
            TrackedKind::File | TrackedKind::Link if !exists => LeftOutBy::Removed,
            _ => continue,
        };
        // One line for a whole folder that is not here.
        let gone = path
            .ancestors()
            .take_while(|above| !above.as_os_str().is_empty() && std::fs::symlink_metadata(root.join(above)).is_err())
            .last()
            .unwrap_or(&path);
        found.push(LeftOut {
            path: escape_path(gone).into(),
            is_folder: is_folder || gone != path || by == LeftOutBy::Submodule,
            by,
            rule: None,
        });
    }
}

/// Files below a folder of the tree, no further than `most`; links are not followed.
pub fn count_files(root: &Path, folder: &str, most: usize) -> usize {
    let mut waiting = vec![root.join(unescape_path(folder))];
    let mut count = 0;
    while let Some(folder) = waiting.pop() {
        for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => waiting.push(entry.path()),
                _ => count += 1,
            }
            if count >= most {
                return count;
            }
        }
    }
    count
}

/// The rule by which a file was skipped, in words; nothing where the reason says it all.
pub fn rule_of(root: &Path, path: &str, reason: SkipReason, config: &Config) -> Option<String> {
    let name = path.rsplit('/').next().unwrap_or(path);
    match reason {
        SkipReason::Generated if super::read::is_product(name) => Some(format!("`{name}` is written by a tool")),
        SkipReason::Generated => {
            let bytes = read_bytes(root, path, config.max_file_size).ok()?;
            let line = super::read::generated_line(&bytes[..bytes.len().min(8192)])?;
            let line: String = String::from_utf8_lossy(line).trim().chars().take(80).collect();
            Some(format!("it says `{line}`"))
        }
        SkipReason::Minified if super::read::is_named_minified(name) => Some("its name says so".to_string()),
        SkipReason::Minified => Some("its lines are too long for a person".to_string()),
        SkipReason::TooLarge => Some(format!("`max_file_size` is {} bytes", config.max_file_size)),
        SkipReason::Secret => Some("files of this name hold credentials".to_string()),
        SkipReason::LfsPointer => Some("`git lfs pull` brings the file itself".to_string()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::is_secret;

    #[test]
    fn what_tools_keep_is_never_shown() {
        for path in [
            ".git/config",
            "sub/.GIT/config",
            ".lacon/undo/1",
            ".env",
            "deep/.env.production",
        ] {
            assert!(super::is_never_shown(path), "{path}");
        }
        for path in [".gitignore", "src/git.rs", ".env.example", ".github/workflows/ci.yml"] {
            assert!(!super::is_never_shown(path), "{path}");
        }
    }

    #[test]
    fn credentials_are_known_by_name() {
        for path in [
            ".env",
            "a/.env.local",
            "deploy/server.PEM",
            ".aws/config.toml",
            "k/id_rsa",
            "x/.npmrc",
        ] {
            assert!(is_secret(path), "{path}");
        }
        for path in [
            ".env.example",
            "env.py",
            "a/key.rs",
            "pem/main.go",
            ".key",
            "environment.ts",
            "aws/config.toml",
        ] {
            assert!(!is_secret(path), "{path}");
        }
    }
}
