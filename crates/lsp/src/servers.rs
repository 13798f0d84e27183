//! All servers of this process: one per project and kind, shared by everyone who asks, started by the first who needs it.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::adapters::Config;
use crate::server::{Server, State};

/// Every language server that may be asked.
pub struct Servers {
    config: Config,
    known: Mutex<BTreeMap<(PathBuf, String), Server>>,
}

impl Servers {
    /// None runs yet.
    pub fn new(config: Config) -> Servers {
        Servers {
            config,
            known: Mutex::default(),
        }
    }

    /// The server for files of a language in a tree, running or not. The reason where there is none.
    pub fn server(&self, tree: &Path, language: &str, file: Option<&Path>) -> Result<Server, State> {
        let absent = |why: String| Err(State::Absent { why });
        if self.config.off {
            return absent("language servers are switched off".to_string());
        }
        let adapters = self.config.adapters(language);
        if adapters.is_empty() {
            return absent(format!("no language server is known for {language}"));
        }
        for adapter in &adapters {
            let root = adapter.root(tree, file);
            let key = (root.clone(), adapter.name.clone());
            if let Some(server) = self.lock().get(&key) {
                return Ok(server.clone());
            }
            let Some(command) = self.config.find(adapter, tree) else {
                continue;
            };
            let mut known = self.lock();
            let make = || Server::new(adapter.clone(), root, command, self.config.clone());
            return Ok(known.entry(key).or_insert_with(make).clone());
        }
        let commands: Vec<&str> = adapters
            .iter()
            .flat_map(|adapter| &adapter.commands)
            .filter_map(|command| command.first().map(String::as_str))
            .collect();
        absent(format!(
            "no language server for {language}: none of {} is on PATH",
            commands.join(", ")
        ))
    }

    /// How it is with the server for a language in a tree. Starts nothing.
    pub fn at(&self, tree: &Path, language: &str) -> State {
        match self.server(tree, language, None) {
            Ok(server) => server.state(),
            Err(absent) => absent,
        }
    }

    /// Whether those that run may be asked about every symbol while nobody else asks.
    pub fn enriches(&self) -> bool {
        self.config.enrich && !self.config.off
    }

    /// The servers that were asked for so far.
    pub fn all(&self) -> Vec<Server> {
        self.lock().values().cloned().collect()
    }

    /// Ends all of them in order. They also end when this is dropped, and when the process does.
    pub fn stop(&self) {
        let servers = self.all();
        std::thread::scope(|scope| {
            for server in &servers {
                scope.spawn(|| server.stop());
            }
        });
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<(PathBuf, String), Server>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.stop();
    }
}
