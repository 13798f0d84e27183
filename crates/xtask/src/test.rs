//! The one command that says whether the tree is sound.

use std::process::Command;

use anyhow::Result;

use crate::{prepare, run};

/// Each step, in the order that fails fastest.
const STEPS: &[&[&str]] = &[
    &["fmt", "--all", "--check"],
    &["clippy", "--workspace", "--", "-D", "warnings"],
    // In a test an `unwrap` that fails is a failing test, in its helper functions too.
    &[
        "clippy",
        "--workspace",
        "--all-targets",
        "--",
        "-D",
        "warnings",
        "-A",
        "clippy::unwrap_used",
    ],
    &["test", "--workspace"],
];

/// Checks the format, the lints, and runs every test.
pub(crate) fn test() -> Result<()> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    for step in STEPS {
        run(Command::new(&cargo)
            .args(*step)
            .env("PATH", prepare::path_with_tools()?))?;
    }
    Ok(())
}
