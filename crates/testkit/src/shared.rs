//! Larger test data kept outside the repository, which `LACON_SHARED` names. A test that uses it says so when it is
//! not there, so that a run never looks more complete than it was.

use std::env;
use std::ffi::OsString;
use std::fs::{self, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// The folder with the larger test data. A relative path starts at the root of the workspace.
const FOLDER: &str = "LACON_SHARED";

/// The file that a runner of tests reads the skips from: libtest shows nothing of what a passing test prints.
const SKIPPED: &str = "LACON_SKIPPED";

/// The file or folder `name` (such as `conformance/gcf`) of the larger test data, or `None` and a line saying that the
/// test was skipped when no such data is named.
///
/// # Panics
///
/// When `LACON_SHARED` names a folder that lacks `name`, or has it empty: a run that was asked for must not pass for
/// want of data.
#[must_use]
pub fn shared(name: &str) -> Option<PathBuf> {
    let Some(path) = find(name, env::var_os(FOLDER)) else {
        skipped(name, &format!("{FOLDER} is not set"));
        return None;
    };
    if let Err(reason) = check(&path) {
        panic!(
            "`{}` {reason}: {FOLDER} has to name a folder with the larger test data, or be unset",
            path.display()
        );
    }
    Some(path)
}

/// Where `name` should be; `None` when the folder is not named.
fn find(name: &str, folder: Option<OsString>) -> Option<PathBuf> {
    let folder = folder.filter(|folder| !folder.is_empty())?;
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Some(workspace.join(folder).join(name))
}

fn check(path: &Path) -> Result<(), &'static str> {
    let Ok(metadata) = fs::metadata(path) else {
        return Err("does not exist or is not readable");
    };
    if metadata.is_file() {
        return if metadata.len() == 0 { Err("is empty") } else { Ok(()) };
    }
    match fs::read_dir(path).map(|mut entries| entries.next().is_some()) {
        Ok(true) => Ok(()),
        Ok(false) => Err("is empty"),
        Err(_) => Err("is not readable"),
    }
}

/// Says that a test, or a part of one, was skipped, and why.
///
/// # Panics
///
/// When the file for it cannot be written: a skip that nobody counts makes a run look complete.
pub fn skipped(what: &str, why: &str) {
    let line = format!("skipped: {what}: {why}\n");
    // Not through `eprintln!`, which libtest keeps back for tests that pass. One write, so that lines of tests that
    // run at the same time do not mix.
    let _ = std::io::stderr().write_all(line.as_bytes());
    let Some(file) = env::var_os(SKIPPED).filter(|file| !file.is_empty()) else {
        return;
    };
    OpenOptions::new()
        .create(true)
        .append(true)
        .open(&file)
        .and_then(|mut file| file.write_all(line.as_bytes()))
        .unwrap_or_else(|error| panic!("{SKIPPED} names `{}`: {error}", file.display()));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_not_named_is_no_folder() {
        assert_eq!(find("conformance", None), None);
        assert_eq!(find("conformance", Some(OsString::new())), None);
    }

    #[test]
    fn a_relative_folder_starts_at_the_workspace() {
        let sources = find("src", Some("crates/testkit".into())).unwrap();
        assert_eq!(check(&sources), Ok(()));
    }

    #[test]
    fn data_that_is_named_and_missing_is_noticed() {
        let missing = find("no such data", Some("crates".into())).unwrap();
        assert!(missing.ends_with("crates/no such data"), "{}", missing.display());
        assert!(check(&missing).is_err());
    }
}
