//! Finds the directory that all work trees of one git repository share, without running git.
//!
//! The tree is not trusted: a `.git` file may point anywhere, so a linked work tree counts only when the repository points
//! back at it.

use std::fs;
use std::path::{Path, PathBuf};

/// The common directory of the repository whose work tree has its top at `root`.
pub(super) fn common_directory(root: &Path) -> Option<PathBuf> {
    let git = root.join(".git");
    let metadata = fs::symlink_metadata(&git).ok()?;
    if metadata.is_dir() {
        return git.join("HEAD").is_file().then_some(git);
    }
    if !metadata.is_file() || metadata.len() > 4096 {
        return None;
    }
    let text = fs::read_to_string(&git).ok()?;
    let private = root.join(text.strip_prefix("gitdir:")?.trim()).canonicalize().ok()?;
    let back = read_line(&private.join("gitdir"))?;
    if Path::new(&back).canonicalize().ok()? != git.canonicalize().ok()? {
        return None;
    }
    let common = private
        .join(read_line(&private.join("commondir"))?)
        .canonicalize()
        .ok()?;
    (common.join("HEAD").is_file() && private.starts_with(&common)).then_some(common)
}

fn read_line(path: &Path) -> Option<String> {
    let metadata = fs::symlink_metadata(path).ok()?;
    if !metadata.is_file() || metadata.len() > 4096 {
        return None;
    }
    Some(fs::read_to_string(path).ok()?.trim().to_string())
}
