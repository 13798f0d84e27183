//! The language servers and other tools that the test command installs into the project's own folder.

use std::ffi::OsString;
use std::path::Path;

/// `PATH` with the project's own tools first, so that tests run outside of the test command too.
pub fn path_with_tools() -> OsString {
    let tools = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../.tools")
        .canonicalize()
        .unwrap_or_default();
    let own = ["bin", "python/bin", "node_modules/.bin"].map(|folder| tools.join(folder));
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(own.into_iter().chain(std::env::split_paths(&inherited)))
        .expect("folders of PATH have no colon")
}

/// Whether a program is on it.
pub fn is_there(program: &str) -> bool {
    let path = path_with_tools();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}
