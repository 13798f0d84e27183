//! Whose code this process may run: what the command line and the environment say, else the list in the user's state folder.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use guardian::trust::{List, Trust};
use terminal::failure::{Explain, Failure};

static TRUST: OnceLock<Trust> = OnceLock::new();

/// Sets it for this process, from `--trust` and `LACON_TRUST`.
pub fn settle(everything: bool) {
    let trust = match everything || is_set("LACON_TRUST") {
        true => Trust::everything(),
        false => Trust::listed(state_folder().map(|folder| List::in_folder(&folder))),
    };
    // The first word counts: `main` says it before any verb runs.
    let _ = TRUST.set(trust);
    if sandbox_is_off() {
        codeintel::git::without_sandbox();
    }
}

/// Whom this process trusts.
pub fn trust() -> Trust {
    TRUST.get().cloned().unwrap_or_default()
}

/// Where what the user has decided is kept, out of reach of any tree: `LACON_STATE_DIR`, else `lacon` in the user's state folder.
pub fn state_folder() -> Option<PathBuf> {
    let absolute = |name: &str| {
        let folder = PathBuf::from(std::env::var_os(name)?);
        folder.is_absolute().then_some(folder)
    };
    absolute("LACON_STATE_DIR")
        .or_else(|| Some(absolute("XDG_STATE_HOME")?.join("lacon")))
        .or_else(|| Some(absolute("HOME")?.join(".local/state/lacon")))
}

/// Whether what Lacon starts on a repository runs without the sandbox, because the user said so.
pub(crate) fn sandbox_is_off() -> bool {
    std::env::var("LACON_SANDBOX").is_ok_and(|word| word == "off")
}

fn is_set(name: &str) -> bool {
    std::env::var(name).is_ok_and(|value| !matches!(value.as_str(), "" | "0" | "false" | "no" | "off"))
}

/// Fails unless the repository around a folder is trusted; `what` is what would have been done.
pub fn demand(folder: &Path, what: &str) -> Result<(), Failure> {
    if trust().covers(folder) {
        return Ok(());
    }
    Err(anyhow::anyhow!("untrusted: {what}"))
        .hint("`lacon trust` allows it for this repository, `--trust` or LACON_TRUST=1 for one run")
}
