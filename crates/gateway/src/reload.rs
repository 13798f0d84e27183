//! Follows the configuration file: what is saved takes effect, what is wrong is reported and changes nothing.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use notify::{RecursiveMode, Watcher};
use tokio::sync::mpsc;

use crate::config::{ConfigError, Loaded, parse_json, parse_toml};
use crate::runtime::Gateway;

/// Editors write a file in several steps; this long after the last one it is read.
const QUIET: Duration = Duration::from_millis(200);

/// Why a configuration file could not be used.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    #[error("cannot read `{0}`: {1}")]
    File(PathBuf, std::io::Error),
    #[error("`{0}` is not a valid configuration:\n{1}")]
    Config(PathBuf, ConfigError),
}

/// Answers `${env:NAME}`.
pub type Environment = Arc<dyn Fn(&str) -> Option<String> + Send + Sync>;

/// Reads a configuration file: JSON by its name, TOML otherwise.
pub fn read_config(path: &Path, environment: &Environment) -> Result<Loaded, ReadError> {
    let text = std::fs::read_to_string(path).map_err(|error| ReadError::File(path.to_owned(), error))?;
    let is_json = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("json"));
    let parse = if is_json { parse_json } else { parse_toml };
    parse(&text, &**environment).map_err(|error| ReadError::Config(path.to_owned(), error))
}

/// Watches `path` and applies each valid version of it. Ends when the gateway stops.
pub async fn follow(gateway: Arc<Gateway>, path: PathBuf, environment: Environment) -> notify::Result<()> {
    let (touched, mut touches) = mpsc::channel(8);
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        if event.is_ok_and(|event| !event.kind.is_access()) {
            // A full channel already means "look again".
            let _ = touched.try_send(());
        }
    })?;
    // The directory, not the file: editors replace the file, and a watch on the old one would follow it into the bin.
    let directory = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty())
        .unwrap_or(Path::new("."));
    watcher.watch(directory, RecursiveMode::NonRecursive)?;
    let mut seen = std::fs::read(&path).unwrap_or_default();
    let stopped = gateway.stopping();
    loop {
        tokio::select! {
            touch = touches.recv() => if touch.is_none() { return Ok(()) },
            () = stopped.cancelled() => return Ok(()),
        }
        while tokio::time::timeout(QUIET, touches.recv())
            .await
            .is_ok_and(|touch| touch.is_some())
        {}
        let Ok(text) = std::fs::read(&path) else { continue };
        if text == seen {
            continue;
        }
        seen = text;
        match read_config(&path, &environment) {
            Ok(loaded) => {
                for warning in &loaded.warnings {
                    tracing::warn!("{warning}");
                }
                gateway.apply(loaded.config).await;
                tracing::info!(path = %path.display(), "configuration reloaded");
            }
            Err(error) => tracing::warn!("the configuration stays as it was: {error}"),
        }
    }
}
