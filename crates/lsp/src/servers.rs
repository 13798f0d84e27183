//! All servers of this process: one per project and kind, shared by everyone who asks, started by the first who needs it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use guardian::trust::Trust;

use crate::adapters::Config;
use crate::launch::{self, Refused};
use crate::server::{Server, State};

/// A project, the name of a server, and whether it may run code of the project.
type Key = (PathBuf, String, bool);

/// Every language server that may be asked.
pub struct Servers {
    config: Config,
    known: Mutex<BTreeMap<Key, Server>>,
    /// Trees about which a server was not asked, since nobody trusts them.
    withheld: Mutex<BTreeSet<PathBuf>>,
}

impl Servers {
    /// None runs yet.
    pub fn new(config: Config) -> Servers {
        Servers {
            config,
            known: Mutex::default(),
            withheld: Mutex::default(),
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
        let trusted = self.config.trust.covers(tree);
        let mut withheld = None;
        for adapter in &adapters {
            let root = adapter.root(tree, file);
            let key = (root.clone(), adapter.name.clone(), trusted);
            if let Some(server) = self.lock().get(&key) {
                return Ok(server.clone());
            }
            self.end_other(&key);
            match launch::plan(&self.config, adapter, tree, &root) {
                Ok(launch) => {
                    let make = || Server::new(launch, root, self.config.clone());
                    return Ok(self.lock().entry(key).or_insert_with(make).clone());
                }
                Err(refused @ (Refused::Untrusted | Refused::NoSandbox)) => {
                    withheld.get_or_insert(State::Untrusted {
                        server: adapter.name.clone(),
                        lacks_sandbox: refused == Refused::NoSandbox,
                    });
                }
                Err(Refused::Absent) => {}
            }
        }
        if let Some(withheld) = withheld {
            lock(&self.withheld).insert(tree.to_path_buf());
            return Err(withheld);
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

    /// Trees about which a server would have been asked if they were trusted, since this was last called.
    pub fn withheld(&self) -> Vec<PathBuf> {
        std::mem::take(&mut *lock(&self.withheld)).into_iter().collect()
    }

    /// Whose code may be run.
    pub fn trust(&self) -> &Trust {
        &self.config.trust
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

    /// Ends the server that was started when the tree's trust was another one.
    fn end_other(&self, (root, name, trusted): &Key) {
        let other = self.lock().remove(&(root.clone(), name.clone(), !trusted));
        if let Some(other) = other {
            // Ending it in order takes a moment, which the question need not wait for.
            std::thread::spawn(move || other.stop());
        }
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Key, Server>> {
        lock(&self.known)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Drop for Servers {
    fn drop(&mut self) {
        self.stop();
    }
}
