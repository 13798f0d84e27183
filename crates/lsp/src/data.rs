//! The folder in the user's cache where a server keeps what it knows of a project between its lives.
//!
//! The one trick: a server that could not read the project may keep just that, and at its next start is ready at once, says nothing of
//! it and finds nothing. So its folder is noted as doubtful when it tells of trouble, and the next start begins without it.

use std::path::{Path, PathBuf};

/// The folder of a server and a project.
pub(crate) fn folder(server: &str, root: &Path) -> PathBuf {
    servers().join(format!("{server}-{}", name_of(root)))
}

/// The folder where a server may write what it needs only for itself. What it wrote without being trusted is not read when it is.
pub(crate) fn scratch(server: &str, root: &Path, trusted: bool) -> PathBuf {
    let kind = if trusted { "scratch" } else { "untrusted" };
    servers().join(format!("{kind}/{server}-{}", name_of(root)))
}

fn servers() -> PathBuf {
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".cache"));
    let cache = std::env::var_os("XDG_CACHE_HOME").map(PathBuf::from).or_else(home);
    // A relative one would lie in the tree that this process was started in.
    let cache = cache.filter(|cache| cache.is_absolute());
    cache.unwrap_or_else(std::env::temp_dir).join("lacon/servers")
}

fn name_of(root: &Path) -> String {
    blake3::hash(root.as_os_str().as_encoded_bytes()).to_hex()[..16].to_string()
}

/// Notes that what a folder holds is of a project that could not be read.
pub(crate) fn doubt(folder: &Path) {
    let noted = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(note(folder), ""));
    if let Err(error) = noted {
        tracing::warn!(folder = %folder.display(), %error, "what a language server keeps cannot be noted as doubtful");
    }
}

/// Empties a folder that was noted as doubtful.
pub(crate) fn renew(folder: &Path) {
    if !note(folder).exists() {
        return;
    }
    // The note goes last, so that a removal that is cut short is taken up again.
    let gone = std::fs::remove_dir_all(folder).and_then(|()| std::fs::remove_file(note(folder)));
    if let Err(error) = gone {
        tracing::warn!(folder = %folder.display(), %error, "what a language server kept cannot be removed");
    }
}

fn note(folder: &Path) -> PathBuf {
    folder.with_extension("doubtful")
}

#[cfg(test)]
mod tests {
    #[test]
    fn only_a_doubtful_folder_is_emptied() {
        let cache = tempfile::tempdir().unwrap();
        let folder = cache.path().join("jdtls-0123456789abcdef");
        std::fs::create_dir(&folder).unwrap();
        std::fs::write(folder.join("kept"), "").unwrap();
        super::renew(&folder);
        assert!(folder.join("kept").exists());
        super::doubt(&folder);
        assert!(folder.join("kept").exists(), "a server that runs still uses it");
        super::renew(&folder);
        assert!(!folder.exists());
        super::renew(&folder);
        super::doubt(&folder);
        super::renew(&folder);
        assert_eq!(std::fs::read_dir(cache.path()).unwrap().count(), 0);
    }
}
