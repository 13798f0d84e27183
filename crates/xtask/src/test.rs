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
            // The same cases for everybody: a run that fails can be run again. New ones are found by `fuzz`.
            .env("PROPTEST_RNG_SEED", "1")
            .env("PATH", prepare::path_with_tools()?))?;
    }
    Ok(())
}

/// Tries other cases at each run, and more of them, of what edits must never break.
pub(crate) fn fuzz(cases: &str) -> Result<()> {
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    run(Command::new(cargo)
        .args(["test", "--package", "index", "--test", "storage", "--", "cold"])
        .env("PROPTEST_CASES", cases))
}
