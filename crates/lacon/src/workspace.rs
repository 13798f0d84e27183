//! Which repositories there are. A path is a tree, or a TOML file that lists trees; a tree with such a file at its root stands
//! for what the file lists.
//!
//! ```toml
//! [[repository]]
//! name = "shop"            # in ids and `repo` arguments; the last part of the path where it is not given
//! path = "services/shop"   # relative to this file
//! index_dir = "/var/lacon" # where its index is kept, if not in `.lacon` inside it
//! ```

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use gateway::config::nearest;
use serde::Deserialize;

use crate::failure::{Explain, Failure};

/// One repository, whose root exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Declared {
    pub(crate) name: String,
    pub(crate) root: PathBuf,
    pub(crate) index_dir: Option<PathBuf>,
}

/// Lists repositories and nothing else.
const LIST: &str = "workspace.toml";
/// May list repositories beside the settings of one tree.
const SETTINGS: &str = "lacon.toml";

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    repository: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    name: Option<String>,
    path: PathBuf,
    index_dir: Option<PathBuf>,
}

const ENTRY_KEYS: [&str; 3] = ["name", "path", "index_dir"];

/// The repositories that these paths stand for, in order, each once.
pub(crate) fn repositories(paths: &[PathBuf], index_dir: Option<&Path>) -> Result<Vec<Declared>, Failure> {
    let mut found: Vec<Declared> = Vec::new();
    for path in paths {
        match list_at(path) {
            Some(file) => {
                let listed = read(&file)
                    .with_context(|| format!("`{}` does not list repositories", file.display()))
                    .bad_input()?;
                for repository in listed {
                    add(&mut found, repository).bad_input()?;
                }
            }
            None => {
                let repository = Declared {
                    name: String::new(),
                    root: directory(path).bad_input()?,
                    index_dir: index_dir.map(Path::to_path_buf),
                };
                add(&mut found, repository).bad_input()?;
            }
        }
    }
    if index_dir.is_some() && found.len() > 1 {
        return Err(anyhow!(
            "--index-dir holds the index of one tree, not of {}",
            found.len()
        ))
        .bad_input()
        .hint("give `index_dir` for each [[repository]] of a workspace file");
    }
    // Whoever names a tree is about to read it: it must not be half of one change and half of another.
    for repository in &found {
        crate::editing::recover(&repository.root);
    }
    Ok(found)
}

/// The file that lists repositories, if the path is one or has one.
fn list_at(path: &Path) -> Option<PathBuf> {
    if path.is_file() && path.extension().is_some_and(|extension| extension == "toml") {
        return Some(path.to_path_buf());
    }
    let list = path.join(LIST);
    if list.is_file() {
        return Some(list);
    }
    let settings = path.join(SETTINGS);
    let text = std::fs::read_to_string(&settings).ok()?;
    // A file that does not parse is reported by whoever needs its settings.
    let table: toml::Table = text.parse().ok()?;
    let lists = |key: &String| key == "repository" || is_misspelled(key);
    table.keys().any(lists).then_some(settings)
}

/// Whether a key of the settings was meant to be `repository`: the other tables belong to others, who check them.
fn is_misspelled(key: &str) -> bool {
    key.starts_with("repo") || key == "workspace"
}

fn read(file: &Path) -> anyhow::Result<Vec<Declared>> {
    let text = std::fs::read_to_string(file)?;
    let table: toml::Table = text.parse()?;
    let is_settings = file.file_name().is_some_and(|name| name == SETTINGS);
    for key in table.keys().filter(|key| *key != "repository") {
        if !is_settings || is_misspelled(key) {
            bail!("unknown key `{key}`; did you mean `repository`?");
        }
    }
    let entries = table.get("repository").and_then(toml::Value::as_array);
    for (number, entry) in entries.into_iter().flatten().enumerate() {
        let mut keys = entry.as_table().into_iter().flat_map(toml::Table::keys);
        if let Some(key) = keys.find(|key| !ENTRY_KEYS.contains(&key.as_str())) {
            let near = nearest(key, ENTRY_KEYS.into_iter()).unwrap_or_default();
            bail!("repository {}: unknown key `{key}`; did you mean `{near}`?", number + 1);
        }
    }
    let listed: File = toml::from_str(&text)?;
    if listed.repository.is_empty() {
        bail!("there is no [[repository]] in it");
    }
    let base = file.parent().unwrap_or(Path::new("."));
    let mut found = Vec::new();
    for (number, entry) in listed.repository.into_iter().enumerate() {
        let root = directory(&base.join(&entry.path)).with_context(|| format!("repository {}", number + 1))?;
        if let Some(name) = &entry.name
            && (name.is_empty() || name == "*" || name.contains(['/', ':', '\n', '\t']))
        {
            bail!(
                "repository {}: `{name}` cannot be a name: ids begin with it",
                number + 1
            );
        }
        found.push(Declared {
            name: entry.name.unwrap_or_default(),
            root,
            index_dir: entry.index_dir.map(|directory| base.join(directory)),
        });
    }
    Ok(found)
}

fn directory(path: &Path) -> anyhow::Result<PathBuf> {
    let root = path
        .canonicalize()
        .with_context(|| format!("no directory `{}`", path.display()))?;
    if !root.is_dir() {
        bail!("`{}` is not a directory", root.display());
    }
    Ok(root)
}

/// A tree that is already there is the same repository; a name that is already there is another's.
fn add(found: &mut Vec<Declared>, mut repository: Declared) -> anyhow::Result<()> {
    if found.iter().any(|other| other.root == repository.root) {
        return Ok(());
    }
    if repository.name.is_empty() {
        repository.name = free_name(&repository.root, found);
    } else if found.iter().any(|other| other.name == repository.name) {
        bail!("two repositories are named `{}`", repository.name);
    }
    found.push(repository);
    Ok(())
}

/// The last part of the path, with a number where another repository has the same.
fn free_name(root: &Path, found: &[Declared]) -> String {
    let base = root.file_name().map_or("root".into(), |name| name.to_string_lossy());
    let mut name = base.to_string();
    let mut number = 1;
    while found.iter().any(|other| other.name == name) {
        number += 1;
        name = format!("{base}-{number}");
    }
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trees() -> tempfile::TempDir {
        let directory = tempfile::tempdir().unwrap();
        for name in ["one/app", "two/app", "three"] {
            std::fs::create_dir_all(directory.path().join(name)).unwrap();
        }
        directory
    }

    fn listed(base: &Path, text: &str) -> Result<Vec<Declared>, Failure> {
        let file = base.join("workspace.toml");
        std::fs::write(&file, text).unwrap();
        repositories(&[file], None)
    }

    fn names(found: &[Declared]) -> Vec<&str> {
        found.iter().map(|repository| repository.name.as_str()).collect()
    }

    #[test]
    fn paths_get_names_that_differ() {
        let base = trees();
        let paths = ["one/app", "two/app", "one/../one/app"].map(|path| base.path().join(path));
        assert_eq!(names(&repositories(&paths, None).unwrap()), ["app", "app-2"]);
        let refused = repositories(&paths, Some(Path::new("index"))).unwrap_err();
        assert!(refused.error.to_string().contains("not of 2"), "{:?}", refused.error);
    }

    #[test]
    fn a_file_lists_repositories_and_a_tree_with_one_stands_for_them() {
        let base = trees();
        let text = "[[repository]]\nname = \"shop\"\npath = \"one/app\"\n\n[[repository]]\npath = \"three\"\nindex_dir = \"kept\"\n";
        let found = listed(base.path(), text).unwrap();
        assert_eq!(names(&found), ["shop", "three"]);
        assert_eq!(found[1].index_dir, Some(base.path().join("kept")));
        assert_eq!(repositories(&[base.path().to_path_buf()], None).unwrap(), found);

        let settings = tempfile::tempdir().unwrap();
        std::fs::create_dir(settings.path().join("web")).unwrap();
        let file = settings.path().join("lacon.toml");
        std::fs::write(&file, "[index]\nexclude = []\n").unwrap();
        assert_eq!(repositories(&[settings.path().to_path_buf()], None).unwrap().len(), 1);
        std::fs::write(&file, "[index]\nexclude = []\n[[repository]]\npath = \"web\"\n").unwrap();
        assert_eq!(
            names(&repositories(&[settings.path().to_path_buf()], None).unwrap()),
            ["web"]
        );
    }

    #[test]
    fn what_is_wrong_is_said_with_the_nearest_key() {
        let base = trees();
        for (text, said) in [
            (
                "[[repository]]\npth = \"three\"\n",
                "repository 1: unknown key `pth`; did you mean `path`?",
            ),
            (
                "[[repositories]]\npath = \"three\"\n",
                "unknown key `repositories`; did you mean `repository`?",
            ),
            ("", "no [[repository]]"),
            ("[[repository]]\nname = \"x\"\n", "missing field `path`"),
            ("[[repository]]\npath = \"nowhere\"\n", "no directory"),
            ("[[repository]]\npath = \"three\"\nname = \"a/b\"\n", "cannot be a name"),
            (
                "[[repository]]\npath = \"three\"\nname = \"a\"\n[[repository]]\npath = \"one/app\"\nname = \"a\"\n",
                "two repositories are named `a`",
            ),
            ("repository = 3\n", "invalid type: integer"),
            ("[[repository]\n", "TOML parse error at line 1"),
        ] {
            let failure = listed(base.path(), text).unwrap_err();
            let message = format!("{:#}", failure.error);
            assert!(message.contains(said), "{text}: {message}");
        }
    }
}
