//! The `[index]` table of `lacon.toml`.

use std::path::{Path, PathBuf};

use globset::{Glob, GlobSet, GlobSetBuilder};
use serde::Deserialize;

use super::{SkipReason, read_bytes};

const NAME: &str = "lacon.toml";
/// Longest configuration that is read.
const MAX_FILE: u64 = 1 << 20;
/// The largest `max_file_size` that a tree may ask for: a syntax tree takes up to a hundred times as much memory.
pub(crate) const MOST_MAX_FILE_SIZE: u64 = 64 << 20;

/// What to index.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// Globs of paths to index; empty means all. `src/**`, `**/*.py`.
    pub include: Vec<String>,
    /// Globs of paths to leave out, besides what ignore files say.
    pub exclude: Vec<String>,
    /// Larger files are left out, in bytes.
    pub max_file_size: u64,
    /// Whether files that say of themselves that they were generated are indexed.
    pub generated: Generated,
    /// Whether names that start with a dot are indexed.
    pub hidden: bool,
    /// Whether `.gitignore` and `.ignore` files are honoured.
    pub ignore_files: bool,
    /// SCIP indexes of other tools, relative to the root: what they resolved replaces what was inferred.
    pub scip: Vec<String>,
}

/// What happens to source that a tool made.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Generated {
    /// It is left out, and counted as such.
    #[default]
    Skip,
    /// Source is indexed and flagged, because other code calls it; lock files, source maps and the like are left out.
    Flag,
}

impl Default for Config {
    fn default() -> Config {
        Config {
            include: Vec::new(),
            exclude: Vec::new(),
            max_file_size: 2 << 20,
            generated: Generated::default(),
            hidden: false,
            ignore_files: true,
            scip: Vec::new(),
        }
    }
}

/// Why `lacon.toml` cannot be used.
#[derive(thiserror::Error, Debug)]
pub enum ConfigError {
    /// It cannot be read.
    #[error("cannot read `{}`", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no file that may be read.
    #[error(
        "`{}` is not read ({}): it must be a regular file of at most 1 MB, not a link, a pipe or a device", path.display(), reason.as_str()
    )]
    Refused {
        /// The file.
        path: PathBuf,
        /// What it is.
        reason: SkipReason,
    },
    /// It is not what it should be.
    #[error("`{}` is not valid", path.display())]
    Syntax {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: Box<toml::de::Error>,
    },
    /// A glob does not parse.
    #[error("a glob of the index configuration is not valid")]
    Glob(#[from] globset::Error),
}

/// Only the table this crate owns; the others belong to whoever reads them.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    index: Config,
}

impl Config {
    /// Reads `lacon.toml` in `root`; the defaults where there is none.
    pub fn load(root: &Path) -> Result<Config, ConfigError> {
        let path = root.join(NAME);
        // Beneath the root, through no link, and never waiting for a pipe: configuration comes from the tree itself.
        let bytes = match read_bytes(root, NAME, MAX_FILE) {
            Ok(bytes) => bytes,
            Err(SkipReason::Vanished) => return Ok(Config::default()),
            Err(reason) => return Err(ConfigError::Refused { path, reason }),
        };
        let text = String::from_utf8(bytes).map_err(|error| ConfigError::Read {
            path: path.clone(),
            source: std::io::Error::new(std::io::ErrorKind::InvalidData, error),
        })?;
        let file: File = toml::from_str(&text).map_err(|source| ConfigError::Syntax {
            path,
            source: Box::new(source),
        })?;
        file.index.globs()?;
        Ok(Config {
            max_file_size: file.index.max_file_size.min(MOST_MAX_FILE_SIZE),
            ..file.index
        })
    }

    pub(crate) fn globs(&self) -> Result<Globs, ConfigError> {
        Ok(Globs {
            include: build(&self.include)?,
            exclude: build(&self.exclude)?,
        })
    }

    /// Tells configurations apart in caches.
    pub(crate) fn digest(&self) -> [u8; 32] {
        *blake3::hash(format!("{self:?}").as_bytes()).as_bytes()
    }
}

/// The globs of a configuration, ready to match.
pub(crate) struct Globs {
    include: Option<GlobSet>,
    exclude: Option<GlobSet>,
}

impl Globs {
    /// Whether a file may be indexed.
    pub(crate) fn admit_file(&self, path: &str) -> bool {
        self.include.as_ref().is_none_or(|include| include.is_match(path)) && self.admit_directory(path)
    }

    /// Whether a directory may be entered.
    pub(crate) fn admit_directory(&self, path: &str) -> bool {
        !self.exclude.as_ref().is_some_and(|exclude| exclude.is_match(path))
    }
}

fn build(globs: &[String]) -> Result<Option<GlobSet>, ConfigError> {
    if globs.is_empty() {
        return Ok(None);
    }
    let mut builder = GlobSetBuilder::new();
    for glob in globs {
        let trimmed = glob.trim_end_matches('/');
        builder.add(Glob::new(trimmed)?);
        // `vendor/` and `vendor` leave out all that lies inside, and at any depth where no slash anchors them.
        if !trimmed.contains('/') {
            builder.add(Glob::new(&format!("**/{trimmed}"))?);
        }
    }
    Ok(Some(builder.build()?))
}
