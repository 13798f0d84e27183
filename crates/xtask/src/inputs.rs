//! What a crate's tests read, as one number: its own files, those of every crate it depends on, what the whole workspace shares,
//! the toolchain and the tools. Equal numbers mean that a run would repeat itself.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::{prepare, root};

/// Crates whose tests read the whole repository: the rules over all sources, the pages beside the code.
const READ_EVERYTHING: &[&str] = &["xtask", "server", "lacon"];
/// What every other crate reads beside the crates that it is made of: the build, and what tests compare with.
const READ_BY_ALL: &[&str] = &[
    "Cargo.toml",
    "Cargo.lock",
    "clippy.toml",
    "rustfmt.toml",
    ".cargo/",
    "docs/",
    "models/",
];

/// The workspace's crates, what each depends on, and what they read.
pub(crate) struct Inputs {
    depends_on: BTreeMap<String, BTreeSet<String>>,
    /// Each file with the hash of its content.
    files: BTreeMap<String, u64>,
    environment: u64,
}

impl Inputs {
    pub(crate) fn read() -> Result<Inputs> {
        let mut names = BTreeSet::new();
        for entry in std::fs::read_dir(root().join("crates"))? {
            let entry = entry?;
            if entry.path().join("Cargo.toml").is_file() {
                names.insert(entry.file_name().to_string_lossy().into_owned());
            }
        }
        let mut depends_on = BTreeMap::new();
        for name in &names {
            let manifest = std::fs::read_to_string(root().join("crates").join(name).join("Cargo.toml"))?;
            depends_on.insert(name.clone(), dependencies(&manifest, &names));
        }
        let files = files()?.into_iter().map(|path| {
            let mut hasher = DefaultHasher::new();
            std::fs::read(root().join(&path)).ok().hash(&mut hasher);
            (path, hasher.finish())
        });
        Ok(Inputs {
            depends_on,
            files: files.collect(),
            environment: environment()?,
        })
    }

    /// All crates, in order.
    pub(crate) fn crates(&self) -> Vec<&str> {
        self.depends_on.keys().map(String::as_str).collect()
    }

    /// What the tests and lints of a crate read, as a number.
    pub(crate) fn of(&self, name: &str) -> u64 {
        let mut folders: Vec<String> = READ_BY_ALL.iter().map(|&path| path.to_owned()).collect();
        folders.extend(self.reach(name).iter().map(|below| format!("crates/{below}/")));
        let is_read = |path: &str| {
            READ_EVERYTHING.contains(&name) || folders.iter().any(|folder| path.starts_with(folder.as_str()))
        };
        let mut hasher = DefaultHasher::new();
        self.environment.hash(&mut hasher);
        for (path, content) in self.files.iter().filter(|(path, _)| is_read(path)) {
            (path, content).hash(&mut hasher);
        }
        hasher.finish()
    }

    /// The crates among `changed`, and everything that depends on one of them.
    pub(crate) fn reached_from(&self, changed: &BTreeSet<String>) -> Vec<&str> {
        let reached = |name: &&str| {
            self.reach(name)
                .iter()
                .any(|below| changed.iter().any(|changed| changed == below))
        };
        self.crates().into_iter().filter(reached).collect()
    }

    /// A crate and all that it depends on.
    fn reach(&self, name: &str) -> BTreeSet<&str> {
        let mut reached = BTreeSet::new();
        let mut open = vec![name];
        while let Some(name) = open.pop() {
            if let Some((name, below)) = self.depends_on.get_key_value(name)
                && reached.insert(name.as_str())
            {
                open.extend(below.iter().map(String::as_str));
            }
        }
        reached
    }
}

/// The crates of the workspace that a manifest names, for tests included. Manifests here name them `name.workspace = true`.
fn dependencies(manifest: &str, names: &BTreeSet<String>) -> BTreeSet<String> {
    manifest
        .lines()
        .filter_map(|line| line.split(['.', ' ', '=']).next())
        .filter(|first| names.contains(*first))
        .map(str::to_owned)
        .collect()
}

/// The toolchain, the tools that are there, and the variables that change what a test does.
fn environment() -> Result<u64> {
    let mut hasher = DefaultHasher::new();
    let version = Command::new("rustc").arg("-vV").output().context("cannot run rustc")?;
    version.stdout.hash(&mut hasher);
    for variable in ["LACON_SHARED", "PROPTEST_CASES", "RUSTFLAGS"] {
        std::env::var_os(variable).hash(&mut hasher);
    }
    prepare::present().hash(&mut hasher);
    for folder in prepare::FOLDERS {
        let mut names: Vec<_> = std::fs::read_dir(prepare::tools_directory().join(folder))
            .map(|entries| entries.flatten().map(|entry| entry.file_name()).collect())
            .unwrap_or_default();
        names.sort();
        names.hash(&mut hasher);
    }
    Ok(hasher.finish())
}

/// Every file of the work tree that git tracks or would track.
fn files() -> Result<BTreeSet<String>> {
    let listed = Command::new("git")
        .args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"])
        .current_dir(root())
        .output()
        .context("cannot run git")?;
    if !listed.status.success() {
        bail!("git does not list the files of `{}`", root().display());
    }
    let text = String::from_utf8_lossy(&listed.stdout);
    Ok(text
        .split('\0')
        .filter(|path| !path.is_empty())
        .map(str::to_owned)
        .collect())
}
