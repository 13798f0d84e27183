//! What is read of git without running it: where the repository of a work tree lies, and which files its index lists.
//!
//! The tree is not trusted. A `.git` file may point anywhere, so a repository outside of the tree counts only when it points
//! back at it, and nothing is read through a link.

mod index_file;

use std::fs;
use std::path::{Path, PathBuf};

pub use index_file::{Tracked, TrackedKind};

/// A repository and its work tree.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Repository {
    /// The top of the work tree.
    pub work_tree: PathBuf,
    /// What belongs to this work tree alone: `HEAD` and the index.
    pub directory: PathBuf,
    /// What all work trees share: objects, references, configuration.
    pub common: PathBuf,
}

/// Why there is no repository to read.
#[derive(thiserror::Error, Clone, Debug, PartialEq, Eq)]
pub enum NoRepository {
    /// There is none.
    #[error("`{}` is not in a git repository", path.display())]
    Missing {
        /// Where one was looked for.
        path: PathBuf,
    },
    /// It is not believed.
    #[error("`{}` {reason}", path.display())]
    Refused {
        /// The `.git` of a work tree.
        path: PathBuf,
        /// Why, and what to do.
        reason: &'static str,
    },
}

const POINTS_ELSEWHERE: &str =
    "names a repository that does not point back at this tree: `git worktree repair` or a fresh clone mends it";
const IS_LINK: &str =
    "is a symbolic link, which is not followed: make it a directory, or a file that `git worktree` writes";

impl Repository {
    /// The repository whose work tree has its top at this folder.
    pub fn at(folder: &Path) -> Result<Repository, NoRepository> {
        let git = folder.join(".git");
        let missing = || NoRepository::Missing {
            path: folder.to_path_buf(),
        };
        let metadata = fs::symlink_metadata(&git).map_err(|_| missing())?;
        if metadata.is_symlink() {
            return Err(NoRepository::Refused {
                path: git,
                reason: IS_LINK,
            });
        }
        if metadata.is_dir() {
            return match is_file(&git.join("HEAD")) {
                true => Ok(Repository {
                    work_tree: folder.to_path_buf(),
                    directory: git.clone(),
                    common: git,
                }),
                false => Err(missing()),
            };
        }
        elsewhere(folder, &git).ok_or(NoRepository::Refused {
            path: git,
            reason: POINTS_ELSEWHERE,
        })
    }

    /// The repository that a folder is in, as git finds it: that of the nearest folder above which has one. As for git, one above that
    /// belongs to somebody else is none: in `/tmp` everybody may make one around everybody's folders.
    pub fn around(folder: &Path) -> Result<Repository, NoRepository> {
        for above in folder.ancestors() {
            match Repository::at(above) {
                Err(NoRepository::Missing { .. }) => {}
                found if above == folder || !is_of_another(&above.join(".git"), folder) => return found,
                _ => break,
            }
        }
        Err(NoRepository::Missing {
            path: folder.to_path_buf(),
        })
    }

    /// The file that lists what is tracked.
    pub fn index(&self) -> PathBuf {
        self.directory.join("index")
    }

    /// Whether anything below a folder of the work tree is tracked. Most often this is told without taking the index apart.
    pub fn tracks_below(&self, folder: &Path) -> bool {
        let Ok(inside) = folder.strip_prefix(&self.work_tree) else {
            return false;
        };
        Tracked::lists_below(&self.directory, inside)
    }

    /// What is tracked; nothing where that cannot be read.
    pub fn tracked(&self) -> Tracked {
        Tracked::read(&self.directory)
    }
}

/// Whether a file or folder belongs neither to this process's user, nor to the system's, nor to whoever owns `folder`.
#[cfg(target_os = "linux")]
fn is_of_another(path: &Path, folder: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let owner = |path: &Path| fs::symlink_metadata(path).map(|metadata| metadata.uid());
    let Ok(owner_of_path) = owner(path) else { return true };
    let own = rustix::process::geteuid().as_raw();
    ![own, 0].contains(&owner_of_path) && owner(folder).is_ok_and(|owner| owner != owner_of_path)
}

#[cfg(not(target_os = "linux"))]
fn is_of_another(_path: &Path, _folder: &Path) -> bool {
    false
}

/// The repository that a `.git` file names: that of a linked work tree or of a submodule.
fn elsewhere(folder: &Path, git: &Path) -> Option<Repository> {
    let text = read_line(git)?;
    let named = folder.join(text.strip_prefix("gitdir:")?.trim());
    let directory = named.canonicalize().ok()?;
    let work_tree = folder.to_path_buf();
    if let Some(back) = read_line(&directory.join("gitdir")) {
        if directory.join(back).canonicalize().ok()? != git.canonicalize().ok()? {
            return None;
        }
        let common = directory
            .join(read_line(&directory.join("commondir"))?)
            .canonicalize()
            .ok()?;
        // Where git keeps them, so that a folder around the tree that happens to have a `HEAD` is nobody's repository.
        let is_whole = is_file(&common.join("HEAD")) && directory.parent() == Some(&*common.join("worktrees"));
        return is_whole.then_some(Repository {
            work_tree,
            directory,
            common,
        });
    }
    // A submodule's repository lies among those of the repository around it, and its configuration names its work tree.
    let back = submodule_work_tree(&directory.join("config"))?;
    let points_back = directory.join(back).canonicalize().ok()? == folder.canonicalize().ok()?;
    (points_back && is_file(&directory.join("HEAD"))).then_some(Repository {
        work_tree,
        common: directory.clone(),
        directory,
    })
}

/// `core.worktree` as git writes it for a submodule.
fn submodule_work_tree(config: &Path) -> Option<String> {
    setting(&read_small(config)?, "core", "worktree")
}

/// The last value of a setting in a configuration of git, as git itself writes them: a line each, in a section without a
/// subsection. Whatever is written otherwise is as if it were not there.
pub fn setting(configuration: &str, section: &str, key: &str) -> Option<String> {
    let mut is_inside = false;
    let mut found = None;
    for line in configuration.lines().map(str::trim) {
        if let Some(head) = line.strip_prefix('[') {
            is_inside = head.trim_end_matches(']').trim().eq_ignore_ascii_case(section);
        } else if let (true, Some((name, value))) = (is_inside, line.split_once('='))
            && name.trim().eq_ignore_ascii_case(key)
        {
            found = Some(value.trim().trim_matches('"').to_string());
        }
    }
    found
}

fn is_file(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|metadata| metadata.is_file())
}

fn read_line(path: &Path) -> Option<String> {
    Some(read_small(path)?.trim().to_string())
}

/// The text of a small regular file.
fn read_small(path: &Path) -> Option<String> {
    let metadata = fs::symlink_metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > 64 << 10 {
        return None;
    }
    fs::read_to_string(path).ok()
}
