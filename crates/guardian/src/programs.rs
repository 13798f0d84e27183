//! Which program a name stands for, without ever taking one that a repository ships.
//!
//! A `PATH` may hold `.`, nothing at all, or folders of a repository (`node_modules/.bin`, put there by a script runner or by
//! direnv). What is started in a repository would find its programs there, and so would every `#!/usr/bin/env node`.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::files;

/// The folders of a `PATH` that may be searched: absolute ones, none of which lies in what is kept out.
pub fn folders(path: &OsStr, kept_out: &[PathBuf]) -> Vec<PathBuf> {
    std::env::split_paths(path)
        .filter(|folder| folder.is_absolute() && !is_within(folder, kept_out))
        .collect()
}

/// The same as a value of `PATH`.
pub fn search_path(path: &OsStr, kept_out: &[PathBuf]) -> OsString {
    // What was split at colons holds none.
    std::env::join_paths(folders(path, kept_out)).unwrap_or_default()
}

/// The first program of this name in the folders. A link that leads into what is kept out is passed over.
pub fn find(name: &str, folders: &[PathBuf], kept_out: &[PathBuf]) -> Option<PathBuf> {
    folders
        .iter()
        .filter_map(|folder| files::program_at(&folder.join(name)))
        .find(|path| !is_within(path, kept_out))
}

/// Whether a path, or what it leads to, lies in one of the folders. What cannot be resolved counts as inside.
pub fn is_within(path: &Path, folders: &[PathBuf]) -> bool {
    if folders.is_empty() {
        return false;
    }
    let inside = |path: &Path| folders.iter().any(|folder| path.starts_with(folder));
    match path.canonicalize() {
        Ok(leads_to) => inside(path) || inside(&leads_to),
        // A folder of `PATH` that does not exist holds no program.
        Err(_) => true,
    }
}

/// The program at a path, if there is one that can be started. On Windows its name may be given without the ending.
pub fn at(path: &Path) -> Option<PathBuf> {
    files::program_at(path)
}

/// What a tree is part of, for the question where its own programs may lie: the tree, and the repository around it.
pub fn kept_out_for(tree: &Path) -> Vec<PathBuf> {
    let tree = tree.canonicalize().unwrap_or_else(|_| tree.to_path_buf());
    let around = crate::trust::repository_around(&tree);
    match around {
        Some(around) if around != tree => vec![tree, around],
        _ => vec![tree],
    }
}

#[cfg(all(test, unix))]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    fn program(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    #[test]
    fn nothing_of_the_tree_is_found() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (tree, good, linked) = (base.join("tree"), base.join("good"), base.join("linked"));
        program(&tree.join("bin/tool"));
        program(&good.join("other"));
        symlink(tree.join("bin"), &linked).unwrap();
        // A link of one program, in a folder that is kept.
        symlink(tree.join("bin/tool"), good.join("tool")).unwrap();
        let path = std::env::join_paths([
            Path::new("."),
            Path::new(""),
            Path::new("bin"),
            &tree.join("bin"),
            &linked,
            &good,
        ])
        .unwrap();
        let kept_out = super::kept_out_for(&tree);
        let folders = super::folders(&path, &kept_out);
        assert_eq!(folders, std::slice::from_ref(&good));
        assert_eq!(super::search_path(&path, &kept_out), good.as_os_str());
        assert_eq!(super::find("tool", &folders, &kept_out), None);
        assert_eq!(super::find("other", &folders, &kept_out), Some(good.join("other")));
        // Of a tree that is trusted only what is relative is left out.
        let folders = super::folders(&path, &[]);
        assert_eq!(folders, [tree.join("bin"), linked, good]);
        assert_eq!(super::find("tool", &folders, &[]), Some(tree.join("bin/tool")));
    }

    #[test]
    fn a_part_of_a_repository_finds_nothing_in_the_rest_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        std::fs::create_dir_all(base.join(".git")).unwrap();
        program(&base.join("node_modules/.bin/tool"));
        std::fs::create_dir_all(base.join("packages/one")).unwrap();
        let kept_out = super::kept_out_for(&base.join("packages/one"));
        let path = base.join("node_modules/.bin");
        assert!(super::folders(path.as_os_str(), &kept_out).is_empty());
    }
}
