//! What was written where, so that it can be taken back: each file as it was before and as it was left.
//!
//! A file is written beside itself and moved into place, through links and with its own permissions, so that a reader sees the
//! old text or the new one.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::{Deserialize, Serialize};

/// Every file that was changed and not taken back, oldest first.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Ledger {
    pub(super) files: Vec<Changed>,
}

/// One changed file.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Changed {
    pub(super) path: PathBuf,
    /// Whose setting it is, as `--client` names it, or what else it is.
    pub(super) what: String,
    /// `None` where there was no file.
    pub(super) before: Option<String>,
    pub(super) after: String,
    /// Directories that were made for it, outermost first.
    pub(super) directories: Vec<PathBuf>,
}

impl Ledger {
    /// Reads a ledger; an empty one where there is none.
    pub(super) fn read(path: &Path) -> Result<Ledger> {
        match fs::read(path) {
            Ok(bytes) => serde_json::from_slice(&bytes).with_context(|| format!("`{}` cannot be read", path.display())),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Ledger::default()),
            Err(error) => Err(error).with_context(|| format!("cannot read `{}`", path.display())),
        }
    }

    /// Writes it, or removes it when nothing is left to take back.
    pub(super) fn write(&self, path: &Path) -> Result<()> {
        if self.files.is_empty() {
            return match fs::remove_file(path) {
                Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                    Err(error).with_context(|| format!("cannot remove `{}`", path.display()))
                }
                _ => Ok(()),
            };
        }
        if let Some(parent) = path.parent() {
            fs::create_dir_all(parent).with_context(|| format!("cannot create `{}`", parent.display()))?;
        }
        // Settings may hold secrets, so their copies are the user's alone.
        replace(path, &serde_json::to_string_pretty(self)?, Mode::Private)
    }
}

/// Longest file that settings are put into.
const MOST_TEXT: u64 = 16 << 20;

/// The text of a file; `None` where there is none. What is not UTF-8 is an error, and so left alone; so are pipes and devices, which a
/// repository may bring along, and for which one would wait for ever.
pub(crate) fn text_of(path: &Path) -> Result<Option<String>> {
    let metadata = match fs::metadata(path) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error).context("it cannot be read"),
    };
    ensure!(metadata.is_file(), "it is no regular file");
    ensure!(metadata.len() <= MOST_TEXT, "it is longer than {} MB", MOST_TEXT >> 20);
    let text = fs::read_to_string(path).context("it cannot be read")?;
    Ok(Some(text))
}

/// Writes a file that may not be there yet; says which directories it made.
pub(super) fn put(path: &Path, text: &str) -> Result<Vec<PathBuf>> {
    let mut missing: Vec<PathBuf> = path
        .ancestors()
        .skip(1)
        .take_while(|directory| !directory.as_os_str().is_empty() && !directory.exists())
        .map(Path::to_path_buf)
        .collect();
    missing.reverse();
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent).with_context(|| format!("cannot create `{}`", parent.display()))?;
    }
    replace(path, text, Mode::AsItWas)?;
    Ok(missing)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mode {
    AsItWas,
    Private,
}

fn replace(path: &Path, text: &str, mode: Mode) -> Result<()> {
    // A link stays a link: what it points to is replaced.
    let target = path.canonicalize().unwrap_or_else(|_| path.to_path_buf());
    let mut name = target.file_name().context("no file name")?.to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    let partial = target.with_file_name(name);
    let written = (|| -> std::io::Result<()> {
        let mut options = fs::OpenOptions::new();
        // A new file is nobody's link.
        match fs::remove_file(&partial) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        options.write(true).create_new(true);
        #[cfg(unix)]
        if mode == Mode::Private {
            use std::os::unix::fs::OpenOptionsExt;
            options.mode(0o600);
        }
        let mut file = options.open(&partial)?;
        file.write_all(text.as_bytes())?;
        if mode == Mode::AsItWas
            && let Ok(metadata) = fs::metadata(&target)
        {
            file.set_permissions(metadata.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&partial, &target)
    })();
    written.map_err(|error| {
        // Best effort: the error that matters is the one being reported.
        drop(fs::remove_file(&partial));
        anyhow::Error::new(error).context(format!("cannot write `{}`", path.display()))
    })
}

/// Removes a file and the directories that were made for it, as far as they are empty.
pub(super) fn take_away(path: &Path, directories: &[PathBuf]) -> Result<()> {
    fs::remove_file(path).with_context(|| format!("cannot remove `{}`", path.display()))?;
    for directory in directories.iter().rev() {
        // One that is not empty holds something of the user's.
        if fs::remove_dir(directory).is_err() {
            break;
        }
    }
    Ok(())
}
