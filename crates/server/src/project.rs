//! Which project is meant where nobody names one: the nearest index or repository above the place that Lacon was started in, as git
//! and cargo find theirs.
//!
//! Some folders are never meant unless they are named: a home folder, a folder of the system, and one that holds many
//! repositories and is none. Whoever indexes these by accident waits long, finds every name several times, and has an index
//! written where nobody looks for it.

use std::path::{Path, PathBuf};

use anyhow::Context;
use index::git::Repository;
use index::store::Location;
use terminal::failure::{Exit, Failure};

/// Why no project is meant.
#[derive(thiserror::Error, Debug, Clone, PartialEq, Eq)]
pub enum NoProject {
    /// Everything of a user lies below it.
    #[error("`{}` is a home folder, which is not indexed unless it is named", folder.display())]
    Home {
        /// The folder.
        folder: PathBuf,
    },
    /// Everything of the machine, or of all its users, lies below it.
    #[error("`{}` is a folder of the system, which is not indexed unless it is named", folder.display())]
    System {
        /// The folder.
        folder: PathBuf,
    },
    /// It is none, and holds several.
    #[error(
        "`{}` holds several repositories ({}) and is none itself, so it is not indexed unless it is named",
        folder.display(),
        some.join(", ")
    )]
    Several {
        /// The folder.
        folder: PathBuf,
        /// Some of what it holds.
        some: Vec<String>,
    },
    /// It cannot be read.
    #[error("`{}` is no folder that can be read", folder.display())]
    Unreadable {
        /// The folder.
        folder: PathBuf,
    },
}

impl NoProject {
    /// What to do about it, where a command was started.
    pub fn remedy(&self) -> String {
        match self {
            NoProject::Several { folder, some } => {
                let example = some.first().map_or_else(|| folder.clone(), |name| folder.join(name));
                format!(
                    "change to one of them, name one (`{}`), or list several in a `workspace.toml`",
                    example.display()
                )
            }
            _ => "change to a project, or name its folder".to_string(),
        }
    }
}

/// Repositories that make a folder one of many.
const SEVERAL: usize = 2;
/// Those that are named where there are many.
const NAMED: usize = 3;
/// Entries of a folder that are looked at to find repositories in it.
const MOST_ENTRIES: usize = 2_000;

/// The project around a folder.
pub fn around(start: &Path) -> Result<PathBuf, NoProject> {
    let unreadable = || NoProject::Unreadable {
        folder: start.to_path_buf(),
    };
    let start = start.canonicalize().map_err(|_| unreadable())?;
    if !start.is_dir() {
        return Err(unreadable());
    }
    let mut repository: Option<&Path> = None;
    for folder in start.ancestors().take_while(|folder| refused(folder).is_none()) {
        let is_repository = folder.join(".git").exists();
        if has_index(folder) || lists_repositories(folder) {
            // A clone inside of another repository is not part of that one's index.
            return Ok(match repository {
                Some(inner) if is_repository && !is_part_of(inner, folder) => inner.to_path_buf(),
                _ => folder.to_path_buf(),
            });
        }
        if is_repository && repository.is_none() {
            repository = Some(folder);
        }
    }
    match (repository, refused(&start)) {
        (Some(folder), _) => Ok(folder.to_path_buf()),
        (None, Some(why)) => Err(why),
        (None, None) => match repositories_in(&start) {
            some if some.len() >= SEVERAL => Err(NoProject::Several {
                folder: start,
                some: some.into_iter().take(NAMED).collect(),
            }),
            _ => Ok(start),
        },
    }
}

/// The folders that a verb is about: those that are named, as they are, else the project around the current folder.
pub fn named(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    match paths {
        [] => Ok(vec![around(Path::new(".")).map_err(failure)?]),
        named => Ok(named.to_vec()),
    }
}

/// As [`named`], for who reads an index: it may be that of a folder above the one that is named.
pub fn indexed(paths: &[PathBuf]) -> Result<Vec<PathBuf>, Failure> {
    let above = |path: &PathBuf| {
        let canonical = path.canonicalize().ok()?;
        let is_list = !canonical.is_dir() || has_index(&canonical) || lists_repositories(&canonical);
        if is_list {
            return None;
        }
        let found = around(&canonical).ok()?;
        has_index(&found).then_some(found)
    };
    let found = named(paths)?;
    Ok(match paths {
        [] => found,
        _ => found.into_iter().map(|path| above(&path).unwrap_or(path)).collect(),
    })
}

/// As [`named`], of one folder.
pub fn one(path: Option<&Path>) -> Result<PathBuf, Failure> {
    first(named(&path.map(Path::to_path_buf).into_iter().collect::<Vec<_>>())?)
}

/// As [`indexed`], of one folder.
pub fn one_indexed(path: Option<&Path>) -> Result<PathBuf, Failure> {
    first(indexed(&path.map(Path::to_path_buf).into_iter().collect::<Vec<_>>())?)
}

fn first(folders: Vec<PathBuf>) -> Result<PathBuf, Failure> {
    Ok(folders.into_iter().next().context("no folder is named")?)
}

/// A verb's failure where no project is meant.
pub fn failure(why: NoProject) -> Failure {
    let remedy = why.remedy();
    let failure: Failure = anyhow::Error::from(why).into();
    Failure {
        exit: Exit::BadInput,
        hints: vec![remedy],
        ..failure
    }
}

fn has_index(folder: &Path) -> bool {
    Location::of(folder, None).is_ok_and(|location| location.snapshot().exists())
}

fn lists_repositories(folder: &Path) -> bool {
    folder.join("workspace.toml").is_file()
}

/// Whether a repository is a submodule of another.
fn is_part_of(inner: &Path, outer: &Path) -> bool {
    let (Ok(inner), Ok(outer)) = (Repository::at(inner), Repository::at(outer)) else {
        return false;
    };
    inner.directory == inner.common && inner.directory.starts_with(&outer.common)
}

/// Why a folder is never meant unless it is named.
fn refused(folder: &Path) -> Option<NoProject> {
    const SYSTEM: &[&str] = &[
        "/tmp",
        "/var",
        "/var/tmp",
        "/usr",
        "/usr/local",
        "/etc",
        "/opt",
        "/bin",
        "/sbin",
        "/lib",
        "/dev",
        "/proc",
        "/sys",
        "/run",
        "/mnt",
        "/media",
        "/boot",
        "/snap",
        "/System",
        "/Library",
        "/Applications",
        "/Volumes",
        "/private",
        "/private/tmp",
        "/private/var",
    ];
    const OF_HOMES: &[&str] = &["/home", "/Users", "/var/home"];
    let homes = std::env::home_dir().and_then(|home| home.canonicalize().ok());
    let is_home = homes.as_deref() == Some(folder)
        || folder == Path::new("/root")
        || folder
            .parent()
            .is_some_and(|above| OF_HOMES.iter().any(|homes| above == Path::new(homes)));
    if is_home {
        return Some(NoProject::Home {
            folder: folder.to_path_buf(),
        });
    }
    let is_system = folder.parent().is_none()
        || SYSTEM.iter().chain(OF_HOMES).any(|system| folder == Path::new(system))
        || std::env::temp_dir()
            .canonicalize()
            .is_ok_and(|temporary| temporary == folder)
        || homes.is_some_and(|home| home.starts_with(folder));
    is_system.then(|| NoProject::System {
        folder: folder.to_path_buf(),
    })
}

/// The names of the folders in a folder that are repositories, or of the folders in these.
fn repositories_in(folder: &Path) -> Vec<String> {
    let folders = |folder: &Path| -> Vec<String> {
        let entries = std::fs::read_dir(folder)
            .into_iter()
            .flatten()
            .flatten()
            .take(MOST_ENTRIES);
        let folders = entries.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
        let names = folders.filter_map(|entry| entry.file_name().into_string().ok());
        let mut names: Vec<String> = names
            .filter(|name| !name.starts_with('.') && name != "node_modules")
            .collect();
        names.sort_unstable();
        names
    };
    let mut found = Vec::new();
    for name in folders(folder) {
        let inside = folder.join(&name);
        match inside.join(".git").exists() {
            true => found.push(name),
            // As in `src/github.com/NAME` and `work/CLIENT/NAME`; where one lies in the folder itself, that is the level.
            false if found.iter().all(|name| name.contains('/')) => {
                let below = folders(&inside).into_iter();
                found.extend(
                    below
                        .filter(|below| inside.join(below).join(".git").exists())
                        .take(SEVERAL)
                        .map(|below| format!("{name}/{below}")),
                );
            }
            false => {}
        }
        if found.len() >= NAMED {
            break;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folders(names: &[&str]) -> (tempfile::TempDir, PathBuf) {
        let base = tempfile::tempdir().unwrap();
        for name in names {
            std::fs::create_dir_all(base.path().join(name)).unwrap();
        }
        let at = base.path().canonicalize().unwrap();
        (base, at)
    }

    fn index(folder: &Path) {
        std::fs::create_dir_all(folder.join(".lacon")).unwrap();
        std::fs::write(folder.join(".lacon/snapshot"), "").unwrap();
    }

    #[test]
    fn the_nearest_repository_or_index_above_is_meant() {
        let (_base, at) = folders(&["shop/.git", "shop/src/deep", "plain/src"]);
        assert_eq!(around(&at.join("shop/src/deep")), Ok(at.join("shop")));
        assert_eq!(around(&at.join("shop")), Ok(at.join("shop")));
        assert_eq!(around(&at.join("plain/src")), Ok(at.join("plain/src")));
        index(&at.join("plain"));
        assert_eq!(around(&at.join("plain/src")), Ok(at.join("plain")));
        index(&at.join("shop/src"));
        assert_eq!(around(&at.join("shop/src/deep")), Ok(at.join("shop/src")));
    }

    #[test]
    fn a_clone_inside_of_another_is_a_project_of_its_own() {
        let (_base, at) = folders(&[
            "outer/.git",
            "outer/third/.git",
            "outer/third/src",
            "many/one/.git",
            "many/two/.git",
        ]);
        index(&at.join("outer"));
        assert_eq!(around(&at.join("outer/third/src")), Ok(at.join("outer/third")));
        // A folder that was named although it holds many has them all in its index.
        assert_eq!(around(&at.join("many/one")), Ok(at.join("many/one")));
        index(&at.join("many"));
        assert_eq!(around(&at.join("many/one")), Ok(at.join("many")));
    }

    #[test]
    fn what_is_no_project_is_refused_with_a_remedy() {
        let (_base, at) = folders(&[
            "one/.git",
            "two/.git",
            "three",
            "clients/ada/shop/.git",
            "clients/bob/web/.git",
        ]);
        let several = around(&at).unwrap_err();
        assert!(
            matches!(&several, NoProject::Several { some, .. } if *some == ["one", "two"]),
            "{several:?}"
        );
        assert!(several.remedy().contains("workspace.toml"));
        assert!(matches!(around(&at.join("clients")), Err(NoProject::Several { .. })));
        assert_eq!(around(&at.join("three")), Ok(at.join("three")));
        assert!(matches!(around(Path::new("/")), Err(NoProject::System { .. })));
        assert!(matches!(around(&std::env::temp_dir()), Err(NoProject::System { .. })));
        if let Some(home) = std::env::home_dir().filter(|home| home.is_dir()) {
            assert!(around(&home).is_err(), "{}", home.display());
        }
        assert!(matches!(around(&at.join("nowhere")), Err(NoProject::Unreadable { .. })));
    }

    #[test]
    fn a_list_of_repositories_is_a_project() {
        let (_base, at) = folders(&["one/.git", "two/.git", "docs"]);
        std::fs::write(at.join("workspace.toml"), "[[repository]]\npath = \"one\"\n").unwrap();
        assert_eq!(around(&at), Ok(at.clone()));
        assert_eq!(around(&at.join("docs")), Ok(at.clone()));
    }

    #[test]
    fn a_folder_that_is_named_is_meant_as_it_is() {
        let (_base, at) = folders(&["shop/.git", "shop/src"]);
        let source = [at.join("shop/src")];
        assert_eq!(named(&source).unwrap(), source);
        assert_eq!(indexed(&source).unwrap(), source);
        index(&at.join("shop"));
        assert_eq!(named(&source).unwrap(), source);
        assert_eq!(indexed(&source).unwrap(), [at.join("shop")]);
    }
}
