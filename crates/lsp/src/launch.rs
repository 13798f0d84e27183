//! How a server is run on a tree: which program, with which settings, in which folder. Whether the tree is trusted decides all of it.
//!
//! The one trick: a server of a tree that nobody trusts starts in a folder of its own, never in the tree, with a `PATH` that leads
//! nowhere into the tree. What finds its tools by the folder it stands in (version managers, `python -c`, `PATH=.`) finds none of
//! the repository's. Should it find one all the same, the sandbox executes nothing of the tree; and what a setting of the tree or an
//! `#include` leads to elsewhere cannot be read (`toolchain` says what can).

mod toolchain;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::Read;
use std::path::{Path, PathBuf};

use guardian::programs;
use guardian::sandbox::{self, Rules};
use serde_json::Value;

use crate::adapters::{Adapter, Changes, Config};
use crate::data;

/// What is started, and how.
pub(crate) struct Launch {
    /// With its settings as they are for this tree.
    pub(crate) adapter: Adapter,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    /// Added to the environment.
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Where it starts.
    pub(crate) directory: PathBuf,
    /// Where it may write, if it is in the sandbox.
    pub(crate) scratch: PathBuf,
    /// What it may touch; everything without it.
    pub(crate) sandbox: Option<Rules>,
}

/// Why it is not.
#[derive(Debug, PartialEq)]
pub(crate) enum Refused {
    /// No such program.
    Absent,
    /// There is one, which would run code of a tree that is not trusted.
    Untrusted,
    /// There is one, and nothing that would bound it.
    NoSandbox,
}

/// Plans how a server is run on a project of a tree.
pub(crate) fn plan(config: &Config, adapter: &Adapter, tree: &Path, root: &Path) -> Result<Launch, Refused> {
    let trusted = config.trust.covers(tree);
    let inherited = config
        .path
        .clone()
        .or_else(|| std::env::var_os("PATH"))
        .unwrap_or_default();
    let kept_out = if trusted {
        Vec::new()
    } else {
        programs::kept_out_for(tree)
    };
    let folders = programs::folders(&inherited, &kept_out);
    let found = adapter.commands.iter().find_map(|command| {
        let (name, arguments) = command.split_first()?;
        let program = match trusted {
            true => own(config, name, tree).or_else(|| on_path(name, tree, &folders, &kept_out)),
            false => on_path(name, tree, &folders, &kept_out),
        };
        Some((program?, arguments.to_vec()))
    });
    let Some((program, arguments)) = found else {
        let is_its_own = |command: &Vec<String>| command.first().is_some_and(|name| own(config, name, tree).is_some());
        return Err(match !trusted && adapter.commands.iter().any(is_its_own) {
            true => Refused::Untrusted,
            false => Refused::Absent,
        });
    };
    let scratch = data::scratch(&adapter.name, root, trusted);
    let words = Words {
        scratch: &scratch,
        program: &program,
        folders: &folders,
        kept_out: &kept_out,
    };
    let mut adapter = adapter.clone();
    let sandbox = match config.sandbox && sandbox::support().holds() {
        true => {
            let rules = rules(&adapter, &arguments, &scratch, root, &kept_out);
            Some(match trusted {
                true => rules,
                false => Rules {
                    reads: Some(toolchain::readable(
                        &adapter,
                        &program,
                        &folders,
                        &kept_out,
                        &rules.writes,
                    )),
                    ..rules
                },
            })
        }
        false => None,
    };
    if sandbox.is_some() {
        let changes = adapter.sandboxed.clone();
        change(&mut adapter, &changes, &words).ok_or(Refused::Absent)?;
    }
    if !trusted {
        let changes = adapter.untrusted.clone().ok_or(Refused::Untrusted)?;
        change(&mut adapter, &changes, &words).ok_or(Refused::Untrusted)?;
        // Settings are the word of others; only the sandbox keeps it.
        if sandbox.is_none() {
            return Err(Refused::NoSandbox);
        }
    }
    let mut environment: Vec<(OsString, OsString)> = adapter
        .environment
        .iter()
        .map(|(name, value)| (name.into(), value.into()))
        .collect();
    environment.push(("PATH".into(), std::env::join_paths(&folders).unwrap_or_default()));
    if sandbox.is_some() {
        environment.push(("XDG_CACHE_HOME".into(), scratch.join("cache").into()));
    }
    Ok(Launch {
        adapter,
        program,
        arguments,
        environment,
        directory: if trusted { root.to_path_buf() } else { scratch.clone() },
        scratch,
        sandbox,
    })
}

/// What a server may touch. Nothing of a tree that nobody trusts is executed, nor what it has written itself.
fn rules(adapter: &Adapter, arguments: &[String], scratch: &Path, root: &Path, kept_out: &[PathBuf]) -> Rules {
    let mut writes = vec![scratch.to_path_buf()];
    if arguments.iter().any(|argument| argument.contains("{data}")) {
        writes.push(data::folder(&adapter.name, root));
    }
    let never_executes = match kept_out.is_empty() {
        true => Vec::new(),
        false => kept_out.iter().chain(&writes).cloned().collect(),
    };
    let home = std::env::var_os("HOME").map(PathBuf::from);
    Rules {
        reads: None,
        writes,
        forbids_modes: !never_executes.is_empty(),
        never_executes,
        hidden: home.map(|home| sandbox::credentials(&home)).unwrap_or_default(),
        network: adapter.network,
    }
}

/// Where projects keep their own tools.
const PROJECT_FOLDERS: &[&str] = &[
    "node_modules/.bin",
    #[cfg(not(windows))]
    ".venv/bin",
    #[cfg(not(windows))]
    "venv/bin",
    #[cfg(windows)]
    ".venv/Scripts",
    #[cfg(windows)]
    "venv/Scripts",
    "vendor/bin",
    ".tools/bin",
    ".tools/node_modules/.bin",
    ".tools/python/bin",
];

/// A program that a tree ships.
fn own(config: &Config, name: &str, tree: &Path) -> Option<PathBuf> {
    if name.contains('/') || !config.project_folders {
        return None;
    }
    PROJECT_FOLDERS
        .iter()
        .find_map(|folder| programs::at(&tree.join(folder).join(name)))
}

/// A program by its path, or by its name.
fn on_path(name: &str, tree: &Path, folders: &[PathBuf], kept_out: &[PathBuf]) -> Option<PathBuf> {
    if name.contains('/') {
        return programs::at(&tree.join(name)).filter(|path| !programs::is_within(path, kept_out));
    }
    programs::find(name, folders, kept_out)
}

/// What the words in braces stand for.
struct Words<'a> {
    scratch: &'a Path,
    program: &'a Path,
    folders: &'a [PathBuf],
    kept_out: &'a [PathBuf],
}

impl Words<'_> {
    /// A text with its words replaced; nothing where one of them stands for nothing here.
    fn fill(&self, text: &str) -> Option<String> {
        let mut filled = text.to_string();
        for (word, meaning) in [
            (
                "{scratch}",
                &(|| Some(self.scratch.to_path_buf())) as &dyn Fn() -> Option<PathBuf>,
            ),
            ("{typescript}", &|| self.typescript()),
            ("{python}", &|| self.python()),
        ] {
            if filled.contains(word) {
                filled = filled.replace(word, meaning()?.to_str()?);
            }
        }
        Some(filled)
    }

    /// `tsserver.js` of the TypeScript that is installed where the server is.
    fn typescript(&self) -> Option<PathBuf> {
        let program = self.program.canonicalize().ok()?;
        program
            .ancestors()
            .filter(|folder| folder.file_name().is_some_and(|name| name == "node_modules"))
            .map(|folder| folder.join("typescript/lib/tsserver.js"))
            .find(|path| path.is_file() && !programs::is_within(path, self.kept_out))
    }

    /// The shims of version managers are scripts, or links to a program of another name: which Python they start is said by a
    /// file in the folder they are started in.
    fn python(&self) -> Option<PathBuf> {
        let is_python = |path: &PathBuf| {
            let leads_to = path.canonicalize().unwrap_or_default();
            let named = leads_to
                .file_name()
                .is_some_and(|name| name.to_string_lossy().starts_with("python"));
            named && programs::at(path).is_some() && !programs::is_within(path, self.kept_out) && !is_script(&leads_to)
        };
        self.folders
            .iter()
            .flat_map(|folder| ["python3", "python"].map(|name| folder.join(name)))
            .find(is_python)
    }
}

fn is_script(path: &Path) -> bool {
    let mut start = [0; 2];
    let read = std::fs::File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_err() || &start == b"#!"
}

fn change(adapter: &mut Adapter, changes: &Changes, words: &Words) -> Option<()> {
    merge(&mut adapter.initialization, filled(&changes.initialization, words)?);
    merge(&mut adapter.settings, filled(&changes.settings, words)?);
    let environment: Option<BTreeMap<String, String>> = changes
        .environment
        .iter()
        .map(|(name, value)| Some((name.clone(), words.fill(value)?)))
        .collect();
    adapter.environment.extend(environment?);
    Some(())
}

fn filled(value: &Value, words: &Words) -> Option<Value> {
    Some(match value {
        Value::String(text) => Value::String(words.fill(text)?),
        Value::Array(values) => values.iter().map(|value| filled(value, words)).collect::<Option<_>>()?,
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| Some((name.clone(), filled(value, words)?)))
            .collect::<Option<_>>()?,
        other => other.clone(),
    })
}

fn merge(into: &mut Value, changes: Value) {
    match (into, changes) {
        (_, Value::Null) => {}
        (Value::Object(members), Value::Object(changes)) => {
            for (name, change) in changes {
                merge(members.entry(name).or_insert(Value::Null), change);
            }
        }
        (into, change) => *into = change,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::PermissionsExt;
    use std::path::Path;

    use guardian::trust::Trust;

    use super::{Refused, plan};
    use crate::adapters::Config;

    fn program(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn a_tree_that_nobody_trusts_starts_none_of_its_programs() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let tree = base.join("tree");
        program(&tree.join("node_modules/.bin/safe-server"));
        program(&tree.join("bin/safe-server"));
        let text = "[[server]]\nname = \"safe\"\nlanguages = { a = \"a\" }\n\
                    commands = [[\"safe-server\"], [\"./bin/safe-server\"]]\nuntrusted = {}\n\
                    settings = { kept = 1, changed = { a = 1, b = 2 } }\n\
                    [[server]]\nname = \"other\"\nlanguages = { a = \"a\" }\ncommands = [[\"safe-server\"]]\n\
                    [[server]]\nname = \"missing\"\nlanguages = { a = \"a\" }\ncommands = [[\"no-server\"]]\n";
        let mut config = Config {
            path: Some(std::env::join_paths([Path::new("."), &tree.join("bin"), &base.join("bin")]).unwrap()),
            ..Config::parse(text).unwrap()
        };
        let servers = config.servers.clone();
        let untrusted = |config: &Config, number: usize| plan(config, &servers[number], &tree, &tree);
        assert_eq!(untrusted(&config, 0).err(), Some(Refused::Untrusted));
        assert_eq!(untrusted(&config, 2).err(), Some(Refused::Absent));
        program(&base.join("bin/safe-server"));
        if !guardian::sandbox::support().holds() {
            assert_eq!(untrusted(&config, 0).err(), Some(Refused::NoSandbox));
            return;
        }
        config.sandbox = false;
        assert_eq!(untrusted(&config, 0).err(), Some(Refused::NoSandbox));
        config.sandbox = true;
        let found = untrusted(&config, 0).unwrap();
        assert_eq!(found.sandbox.unwrap().never_executes[0], tree);
        assert_eq!(found.program, base.join("bin/safe-server"));
        assert!(!found.directory.starts_with(&tree));
        let path = found.environment.iter().find(|(name, _)| name == "PATH").unwrap();
        assert_eq!(path.1, base.join("bin").as_os_str());
        // Nothing is known that would keep it from running the project's code.
        assert_eq!(untrusted(&config, 1).err(), Some(Refused::Untrusted));
        config.trust = Trust::everything();
        let found = plan(&config, &servers[1], &tree, &tree).unwrap();
        assert_eq!(found.program, tree.join("node_modules/.bin/safe-server"));
        assert_eq!(found.directory, tree);
    }

    #[test]
    fn changes_reach_into_settings() {
        let mut into = serde_json::json!({"a": {"b": 1, "c": 2}});
        super::merge(&mut into, serde_json::json!({"a": {"b": {"x": true}}, "d": [1]}));
        assert_eq!(into, serde_json::json!({"a": {"b": {"x": true}, "c": 2}, "d": [1]}));
    }
}
