//! What Lacon knows about each language server, as data: `adapters.toml` is the table, and a user's configuration has the same
//! words, so that any other server is one entry away.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use guardian::trust::Trust;
use serde::Deserialize;
use serde_json::Value;

use crate::data;
use crate::launch;

/// One language server.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Adapter {
    /// What it is called in answers and in the configuration.
    pub name: String,
    /// Lacon's key of each language it reads, and the identifier it wants to hear.
    pub languages: BTreeMap<String, String>,
    /// Commands with arguments, tried in order.
    pub commands: Vec<Vec<String>>,
    /// Its own signal that it has read the project.
    #[serde(default)]
    pub ready: Signal,
    /// Whether a project is read only when a document of it is opened.
    #[serde(default)]
    pub opens: bool,
    /// Whether a first answer about places may lack some, so that it is asked until it says the same twice.
    #[serde(default)]
    pub settles: bool,
    /// Files one of which makes a folder its project.
    #[serde(default)]
    pub project: Vec<String>,
    /// Files without which it knows only open documents.
    #[serde(default)]
    pub needs: Vec<String>,
    /// `initializationOptions`.
    #[serde(default)]
    pub initialization: Value,
    /// The member of `initializationOptions` that lists the documents that are open at the start.
    #[serde(default)]
    pub documents: Option<String>,
    /// Answers to `workspace/configuration`, by section.
    #[serde(default)]
    pub settings: Value,
    /// Added to the environment.
    #[serde(default)]
    pub environment: BTreeMap<String, String>,
    /// Commands that ask `tsserver` itself what is wrong with a file; what it pushes comes in parts without an end.
    #[serde(default)]
    pub tsserver_diagnostics: Vec<String>,
    /// Parts of paths whose places are left out of answers (a library's own sources).
    #[serde(default)]
    pub skipped_folders: Vec<String>,
    /// Resident memory at most, in megabytes.
    #[serde(default)]
    pub memory_mb: Option<u64>,
    /// What makes it run no code of the project. Without it, it is not asked about a repository that nobody trusts.
    #[serde(default)]
    pub untrusted: Option<Changes>,
    /// What keeps it from writing outside of its own folder, where it would be refused.
    #[serde(default)]
    pub sandboxed: Changes,
    /// Folders that it needs to read besides the tree, its own toolchain and the system's, where the tree is not trusted; `~/` is the
    /// user's home.
    #[serde(default)]
    pub reads: Vec<String>,
    /// Whether it needs the network, which the sandbox does not give by itself.
    #[serde(default)]
    pub network: bool,
}

/// What is different about a server's settings in some circumstance: members replace those of the same name, at any depth.
///
/// In texts, `{scratch}` is a folder of the server's own, `{typescript}` the TypeScript that is installed beside the server, and
/// `{python}` the first Python on `PATH` that is a program, not a script.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Changes {
    #[serde(default)]
    pub(crate) initialization: Value,
    #[serde(default)]
    pub(crate) settings: Value,
    #[serde(default)]
    pub(crate) environment: BTreeMap<String, String>,
}

/// How a server says that it has read the project. What is given must all have been seen.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signal {
    /// This notification, with this member equal to that.
    #[serde(default)]
    pub notification: Option<String>,
    #[serde(default)]
    pub(crate) member: Option<String>,
    #[serde(default)]
    pub(crate) equals: Option<Value>,
    /// A work-done progress whose token or title begins like one of these has begun and ended, and none is left.
    #[serde(default)]
    pub(crate) progress: Vec<String>,
    /// A logged message that contains one of these; `*` stands for anything.
    #[serde(default)]
    pub(crate) log: Vec<String>,
    /// Diagnostics of an open document are also a sign, where no progress is under way.
    #[serde(default)]
    pub(crate) diagnostics: bool,
    /// The same notification with `member` equal to this says that the project could not be read; its `message` says why.
    #[serde(default)]
    pub(crate) trouble: Option<String>,
}

impl Signal {
    /// Nothing is said: the first answer about an open document, with no progress under way, has to do.
    pub(crate) fn is_silent(&self) -> bool {
        self.notification.is_none() && self.progress.is_empty() && self.log.is_empty() && !self.diagnostics
    }
}

/// How servers are found and how much they may use.
#[derive(Clone, Debug)]
pub struct Config {
    /// Servers of the user's; one with the name of a known server replaces it, others are asked first.
    pub servers: Vec<Adapter>,
    /// Whether servers in the own folders (`node_modules/.bin`, `.venv/bin`) of a project that is trusted are used.
    pub project_folders: bool,
    /// Whose code may be run. Nobody's, unless something else is said.
    pub trust: Trust,
    /// Whether servers run in the sandbox where the system has one. Without it none runs on a tree that nobody trusts.
    pub sandbox: bool,
    /// No servers at all.
    pub off: bool,
    /// Resident memory of one server's processes at most, in bytes.
    pub memory: u64,
    /// A server that was not asked anything for this long is ended.
    pub idle: Duration,
    /// How long `initialize` may take.
    pub start: Duration,
    /// A server that says nothing at all for this long after a request was cancelled is taken for hung.
    pub hung: Duration,
    /// The first wait before a restart; doubled with each failure soon after.
    pub back_off: Duration,
    /// Documents kept open in one server.
    pub documents: usize,
    /// `PATH` to search; the process's own where `None`.
    pub path: Option<std::ffi::OsString>,
    /// Whether servers that run are asked about every symbol while nobody else asks.
    pub enrich: bool,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            servers: Vec::new(),
            project_folders: true,
            trust: Trust::default(),
            sandbox: true,
            off: false,
            memory: 6 << 30,
            idle: Duration::from_secs(15 * 60),
            start: Duration::from_secs(120),
            hung: Duration::from_secs(10),
            back_off: Duration::from_millis(500),
            documents: 32,
            path: None,
            enrich: false,
        }
    }
}

/// What a configuration file may say.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    server: Vec<Adapter>,
    #[serde(default)]
    off: bool,
    #[serde(default)]
    project_folders: Option<bool>,
    #[serde(default)]
    sandbox: Option<bool>,
    #[serde(default)]
    memory_mb: Option<u64>,
    #[serde(default)]
    idle_seconds: Option<u64>,
    #[serde(default)]
    hung_seconds: Option<u64>,
    #[serde(default)]
    enrich: bool,
}

impl Config {
    /// Reads a configuration: `off`, `project_folders`, `sandbox`, `memory_mb`, `idle_seconds`, `hung_seconds`, `enrich` and `[[server]]` entries.
    pub fn parse(text: &str) -> Result<Config, String> {
        let table: Table = toml::from_str(text).map_err(|error| error.to_string())?;
        let usual = Config::default();
        Ok(Config {
            servers: table.server,
            project_folders: table.project_folders.unwrap_or(usual.project_folders),
            sandbox: table.sandbox.unwrap_or(usual.sandbox),
            off: table.off,
            enrich: table.enrich,
            memory: table.memory_mb.map_or(usual.memory, |megabytes| megabytes << 20),
            idle: table.idle_seconds.map_or(usual.idle, Duration::from_secs),
            hung: table.hung_seconds.map_or(usual.hung, Duration::from_secs),
            ..usual
        })
    }

    /// The servers for a language, the user's first.
    pub fn adapters(&self, language: &str) -> Vec<Adapter> {
        let known = known();
        let own = self.servers.iter();
        let others = known
            .iter()
            .filter(|adapter| !self.servers.iter().any(|own| own.name == adapter.name));
        own.chain(others)
            .filter(|adapter| adapter.languages.contains_key(language))
            .cloned()
            .collect()
    }

    /// The command of a server for a tree, as far as the tree is trusted: in its own folders, then on `PATH`.
    pub fn find(&self, adapter: &Adapter, tree: &Path) -> Option<(PathBuf, Vec<String>)> {
        let launch = launch::plan(self, adapter, tree, tree).ok()?;
        Some((launch.program, launch.arguments))
    }
}

/// The built-in table.
pub(crate) fn known() -> &'static [Adapter] {
    static KNOWN: std::sync::OnceLock<Vec<Adapter>> = std::sync::OnceLock::new();
    KNOWN.get_or_init(|| {
        let table: Result<Table, _> = toml::from_str(include_str!("adapters.toml"));
        // A test reads the table, so a build that is shipped has all of it.
        table.map(|table| table.server).unwrap_or_default()
    })
}

impl Adapter {
    /// The folder to open for a file of a tree, see `project` in the table.
    pub fn root(&self, tree: &Path, file: Option<&Path>) -> PathBuf {
        let is_project = |folder: &Path| self.project.iter().any(|marker| folder.join(marker).exists());
        if self.project.is_empty() || is_project(tree) {
            return tree.to_path_buf();
        }
        let below = file.and_then(|file| file.parent()?.strip_prefix(tree).ok());
        let mut folder = tree.to_path_buf();
        for part in below.into_iter().flatten() {
            folder.push(part);
            if is_project(&folder) {
                return folder;
            }
        }
        tree.to_path_buf()
    }

    /// The arguments of its command for a project: `{data}` is a folder of that project's own in the user's cache.
    pub fn arguments(&self, arguments: &[String], root: &Path) -> Vec<String> {
        let data = || data::folder(&self.name, root).to_string_lossy().into_owned();
        let fill = |argument: &String| match argument.contains("{data}") {
            true => argument.replace("{data}", &data()),
            false => argument.clone(),
        };
        arguments.iter().map(fill).collect()
    }

    /// Why its answers about more than the open documents are partial, in words.
    pub(crate) fn lacks(&self, root: &Path) -> Option<String> {
        let missing = !self.needs.is_empty() && !self.needs.iter().any(|file| root.join(file).exists());
        missing.then(|| {
            format!(
                "{} found no {} and knows open files only",
                self.name,
                self.needs.join(" or ")
            )
        })
    }

    /// What `workspace/configuration` asks for, by dotted section.
    pub fn setting(&self, section: &str) -> Value {
        let mut value = &self.settings;
        for part in section.split('.').filter(|part| !part.is_empty()) {
            match value.get(part) {
                Some(inner) => value = inner,
                None => return Value::Null,
            }
        }
        value.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::{Config, known};

    #[test]
    fn the_table_reads() {
        let names: Vec<&str> = known().iter().map(|adapter| adapter.name.as_str()).collect();
        assert_eq!(
            names,
            [
                "rust-analyzer",
                "gopls",
                "basedpyright",
                "pyright",
                "typescript",
                "clangd",
                "intelephense",
                "jdtls"
            ]
        );
    }

    #[test]
    fn a_users_server_comes_first_or_replaces() {
        let text = r#"
            memory_mb = 100
            [[server]]
            name = "ty"
            languages = { python = "python" }
            commands = [["ty", "server"]]
            [[server]]
            name = "pyright"
            languages = { python = "python" }
            commands = [["my-pyright"]]
        "#;
        let config = Config::parse(text).unwrap();
        let names: Vec<String> = config
            .adapters("python")
            .into_iter()
            .map(|adapter| adapter.name)
            .collect();
        assert_eq!(names, ["ty", "pyright", "basedpyright"]);
        assert_eq!(config.memory, 100 << 20);
        assert!(Config::parse("[[server]]\nname = 1").is_err());
    }
}
