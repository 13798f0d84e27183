//! Which repositories there are. A path is a tree, or a TOML file that lists trees; a tree with such a file at its root stands
//! for what the file lists.
//!
//! ```toml
//! [[repository]]
//! name = "shop"            # in ids and `repo` arguments; the last part of the path where it is not given
//! path = "services/shop"   # relative to this file
//! index_dir = "/var/lacon" # where its index is kept, if not in `.lacon` inside it
//! ```
//!
//! A file that is named on the command line is the user's, and may name folders anywhere. One that is found in a tree came with the
//! tree: it may name what lies inside of it.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};
use gateway::config::nearest;
use index::scan::SkipReason;
use serde::Deserialize;
use syntax::visible::is_deceptive;
use terminal::failure::{Explain, Failure};

/// One repository, whose root exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Declared {
    pub name: String,
    pub root: PathBuf,
    pub index_dir: Option<PathBuf>,
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
pub fn repositories(paths: &[PathBuf], index_dir: Option<&Path>) -> Result<Vec<Declared>, Failure> {
    let mut found: Vec<Declared> = Vec::new();
    for path in paths {
        match list_at(path).bad_input()? {
            Some(list) => {
                let listed = read(&list)
                    .with_context(|| format!("`{}` does not list repositories", list.file.display()))
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

/// A file that lists repositories.
struct List {
    file: PathBuf,
    text: String,
    /// The tree it was found in, unless the user named the file itself.
    found_in: Option<PathBuf>,
}

/// The file that lists repositories, if the path is one or has one.
fn list_at(path: &Path) -> anyhow::Result<Option<List>> {
    if path.is_file() && path.extension().is_some_and(|extension| extension == "toml") {
        let text = std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
        return Ok(Some(List {
            file: path.to_path_buf(),
            text,
            found_in: None,
        }));
    }
    let Ok(tree) = path.canonicalize() else { return Ok(None) };
    let list = |name: &str, text: String| List {
        file: path.join(name),
        text,
        found_in: Some(tree.clone()),
    };
    if let Some(text) = found(&tree, LIST)? {
        return Ok(Some(list(LIST, text)));
    }
    // A file that cannot be read, or does not parse, is reported by whoever needs its settings.
    let Ok(Some(text)) = found(&tree, SETTINGS) else {
        return Ok(None);
    };
    let Ok(table) = text.parse::<toml::Table>() else {
        return Ok(None);
    };
    let lists = |key: &String| key == "repository" || is_misspelled(key);
    Ok(table.keys().any(lists).then(|| list(SETTINGS, text)))
}

/// The text of a file that may lie in a tree. What is no regular file there is not opened: a pipe would be waited for.
fn found(tree: &Path, name: &str) -> anyhow::Result<Option<String>> {
    const MOST: u64 = 1 << 20;
    match index::scan::read_regular(tree, name, MOST) {
        Ok(bytes) => Ok(Some(
            String::from_utf8(bytes).with_context(|| format!("`{name}` is not UTF-8"))?,
        )),
        Err(SkipReason::Vanished) => Ok(None),
        // A tree that cannot be read at all is reported by whoever opens it.
        Err(_) if !tree.join(name).exists() => Ok(None),
        Err(reason) => bail!(
            "`{}` is not read ({}): it must be a regular file of at most 1 MB, not a link, a pipe or a device",
            tree.join(name).display(),
            reason.as_str()
        ),
    }
}

/// Refuses a folder outside of the tree that the list was found in.
fn confined(list: &List, folder: &Path, key: &str) -> anyhow::Result<()> {
    let Some(tree) = &list.found_in else { return Ok(()) };
    // What is not there yet lies where the nearest folder leads that is.
    let mut above = folder.ancestors();
    let nearest = above.find_map(|above| above.canonicalize().ok());
    let is_inside = nearest.is_some_and(|nearest| nearest.starts_with(tree));
    let parts = folder
        .components()
        .map(|part| part.as_os_str().to_string_lossy().to_ascii_lowercase());
    let leads_back = folder.components().any(|part| part == std::path::Component::ParentDir);
    let in_git = key == "index_dir" && parts.into_iter().any(|part| part == ".git");
    if is_inside && !in_git && (!leads_back || folder.canonicalize().is_ok()) {
        return Ok(());
    }
    bail!(
        "`{key}` leads to `{}`, and a file that comes with a tree may only name folders inside of it (`{}`); \
         to use it all the same, name the file itself: `{}`",
        folder.display(),
        tree.display(),
        list.file.display()
    )
}

/// Whether a key of the settings was meant to be `repository`: the other tables belong to others, who check them.
fn is_misspelled(key: &str) -> bool {
    key.starts_with("repo") || key == "workspace"
}

fn read(list: &List) -> anyhow::Result<Vec<Declared>> {
    let (file, text) = (&list.file, &list.text);
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
    let listed: File = toml::from_str(text)?;
    if listed.repository.is_empty() {
        bail!("there is no [[repository]] in it");
    }
    let base = file.parent().unwrap_or(Path::new("."));
    let mut found = Vec::new();
    for (number, entry) in listed.repository.into_iter().enumerate() {
        let which = || format!("repository {}", number + 1);
        let root = directory(&base.join(&entry.path)).with_context(which)?;
        confined(list, &root, "path").with_context(which)?;
        let index_dir = entry.index_dir.map(|directory| base.join(directory));
        if let Some(index_dir) = &index_dir {
            confined(list, index_dir, "index_dir").with_context(which)?;
        }
        if let Some(name) = &entry.name
            && (name.is_empty()
                || name == "*"
                || name.contains(|letter: char| {
                    matches!(letter, '/' | ':') || letter.is_control() || is_deceptive(letter)
                }))
        {
            bail!(
                "repository {}: `{name}` cannot be a name: ids begin with it",
                number + 1
            );
        }
        found.push(Declared {
            name: entry.name.unwrap_or_default(),
            root,
            index_dir,
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
    let base = root
        .file_name()
        .map_or("root".into(), |name| index::scan::escape_path(Path::new(name)));
    let mut name = base.clone();
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
    fn a_list_that_comes_with_a_tree_stays_inside_of_it() {
        let base = trees();
        let tree = base.path().join("one");
        std::fs::create_dir(tree.join(".git")).unwrap();
        let three = base.path().join("three");
        let outside = three.display();
        let texts = [
            "[[repository]]\npath = \"../three\"\n".to_string(),
            format!("[[repository]]\npath = \"{outside}\"\n"),
            format!("[[repository]]\npath = \"app\"\nindex_dir = \"{outside}/kept\"\n"),
            "[[repository]]\npath = \"app\"\nindex_dir = \"../three/kept\"\n".to_string(),
            "[[repository]]\npath = \"app\"\nindex_dir = \"new/../../three\"\n".to_string(),
        ];
        for text in &texts {
            for name in [LIST, SETTINGS] {
                let file = tree.join(name);
                std::fs::write(&file, text).unwrap();
                let refused = repositories(std::slice::from_ref(&tree), None).unwrap_err();
                let message = format!("{:#}", refused.error);
                assert!(message.contains("a file that comes with a tree"), "{text}: {message}");
                // Named by the user, it may.
                assert_eq!(
                    repositories(std::slice::from_ref(&file), None).unwrap().len(),
                    1,
                    "{text}"
                );
                std::fs::remove_file(file).unwrap();
            }
        }
        let list = |text: &str| {
            std::fs::write(tree.join(LIST), text).unwrap();
            repositories(std::slice::from_ref(&tree), None)
        };
        assert!(list("[[repository]]\npath = \"app\"\nindex_dir = \".git/hooks\"\n").is_err());
        assert!(list("[[repository]]\npath = \"app\"\nindex_dir = \"kept\"\n").is_ok());
        #[cfg(unix)]
        {
            std::os::unix::fs::symlink(base.path().join("three"), tree.join("link")).unwrap();
            assert!(list("[[repository]]\npath = \"link\"\n").is_err());
            assert!(list("[[repository]]\npath = \"app\"\nindex_dir = \"link/kept\"\n").is_err());
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_pipe_is_not_waited_for() {
        for name in [LIST, SETTINGS] {
            let base = trees();
            let made = std::process::Command::new("mkfifo")
                .arg(base.path().join(name))
                .status();
            assert!(made.unwrap().success());
            let listed = repositories(&[base.path().to_path_buf()], None);
            assert_eq!(
                listed.is_err(),
                name == LIST,
                "settings are reported by whoever needs them"
            );
        }
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
                "[[repository]]\npath = \"three\"\nname = \"a\\u001b[8m\"\n",
                "cannot be a name",
            ),
            (
                "[[repository]]\npath = \"three\"\nname = \"a\\u202e\"\n",
                "cannot be a name",
            ),
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
