//! Which files of a tree are source, and what their text is.
//!
//! The walk honours `.gitignore`, `.ignore` and `lacon.toml`, never follows a symbolic link and never opens anything but a
//! regular file beneath the root. What git tracks is found although a rule names it. A file that is left out is recorded with
//! the reason, so that "not found" can be told from "not looked at".

mod config;
mod escape;
mod folders;
mod left_out;
mod read;
mod rules;
mod text;
mod walk;

pub use config::{Config, ConfigError, Generated};
pub use escape::{escape_path, unescape_path};
pub use left_out::{LeftOut, LeftOutBy, count_files, is_never_shown, left_out, rule_of};
pub use read::{read_regular, read_source};
pub use text::{Decoded, decode};

pub(crate) use config::MOST_MAX_FILE_SIZE;
pub(crate) use folders::Folders;
pub(crate) use read::{read, read_bytes};
pub(crate) use text::DECODE_VERSION;
pub(crate) use walk::{Candidate, GitIndex, Stamp, Walk, walk, walk_to};

/// Calls `visit` with the path, language and text of every source file, on the threads of the current pool and in no order.
pub fn each_source(
    root: &std::path::Path,
    config: &Config,
    visit: &(dyn Fn(&str, &'static syntax::Language, &str) + Sync),
) -> Result<(), ConfigError> {
    use rayon::prelude::*;
    let walk = walk(root, config)?;
    walk.candidates.par_iter().with_max_len(1).for_each(|candidate| {
        if let Ok(source) = read(root, candidate, config)
            && let Some(decoded) = decode(&source.bytes)
        {
            visit(&candidate.path, source.language, &decoded.text);
        }
    });
    Ok(())
}

/// The paths of all regular files that a walk finds, source or not, escaped and in order.
pub fn list_files(root: &std::path::Path, config: &Config) -> Result<Vec<Box<str>>, ConfigError> {
    let walk = walk(root, config)?;
    Ok(walk.candidates.into_iter().map(|candidate| candidate.path).collect())
}

/// A file that was seen and left out.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Skipped {
    /// Its path, escaped.
    pub path: Box<str>,
    /// Why.
    pub reason: SkipReason,
    /// Its size in bytes, 0 where it is unknown.
    pub size: u64,
}

/// Why a file or directory was left out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
#[repr(u8)]
pub enum SkipReason {
    /// No grammar reads it.
    Unsupported,
    /// Its bytes are not text.
    Binary,
    /// Made small by a tool: lines without end.
    Minified,
    /// Made by a tool, and it says so or its name does.
    Generated,
    /// Larger than `max_file_size`.
    TooLarge,
    /// It could not be opened or read.
    Unreadable,
    /// A symbolic link. What it points to is indexed where it lies, if it lies beneath the root.
    Symlink,
    /// A pipe, socket or device.
    NotRegular,
    /// It went away while it was being read.
    Vanished,
    /// Its name says that it holds credentials.
    Secret,
    /// Git LFS keeps the file elsewhere, and what is here only names it.
    LfsPointer,
}

impl SkipReason {
    /// Every reason, by its code.
    pub const ALL: [SkipReason; 11] = [
        SkipReason::Unsupported,
        SkipReason::Binary,
        SkipReason::Minified,
        SkipReason::Generated,
        SkipReason::TooLarge,
        SkipReason::Unreadable,
        SkipReason::Symlink,
        SkipReason::NotRegular,
        SkipReason::Vanished,
        SkipReason::Secret,
        SkipReason::LfsPointer,
    ];

    /// The reason in words.
    pub fn as_str(self) -> &'static str {
        match self {
            SkipReason::Unsupported => "unsupported",
            SkipReason::Binary => "binary",
            SkipReason::Minified => "minified",
            SkipReason::Generated => "generated",
            SkipReason::TooLarge => "too_large",
            SkipReason::Unreadable => "unreadable",
            SkipReason::Symlink => "symlink",
            SkipReason::NotRegular => "not_regular",
            SkipReason::Vanished => "vanished",
            SkipReason::Secret => "secret",
            SkipReason::LfsPointer => "lfs_pointer",
        }
    }

    pub(crate) fn code(self) -> u32 {
        self as u32
    }

    pub(crate) fn from_code(code: u32) -> SkipReason {
        SkipReason::ALL
            .get(code as usize)
            .copied()
            .unwrap_or(SkipReason::Unreadable)
    }
}

#[cfg(test)]
mod tests {
    use super::SkipReason;

    #[test]
    fn codes_are_positions() {
        for (code, reason) in SkipReason::ALL.iter().enumerate() {
            assert_eq!(reason.code() as usize, code);
        }
    }
}
