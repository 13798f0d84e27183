//! Chores of the project that are not part of the product: `cargo xtask test` prepares a bare machine and runs every test.

mod prepare;
mod test;

use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

const HELP: &str = "\
Usage: cargo xtask <chore>

  test      install what the tests need, then check the format, the lints and run every test
  prepare   only install what the tests need
  fuzz [N]  try N (5000) random histories of edits, new ones at each run: the index that followed is the one built anew
";

fn main() -> ExitCode {
    let chore = std::env::args().nth(1).unwrap_or_default();
    let done = match chore.as_str() {
        "test" => prepare::prepare().and_then(|()| test::test()),
        "prepare" => prepare::prepare(),
        "fuzz" => test::fuzz(&std::env::args().nth(2).unwrap_or_else(|| "5000".to_owned())),
        _ => {
            eprint!("{HELP}");
            return ExitCode::from(2);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Runs a command in the workspace's root, showing it first; a failure names it.
fn run(command: &mut Command) -> Result<()> {
    let shown = format!("{command:?}").replace('"', "");
    eprintln!("$ {shown}");
    let status = command
        .current_dir(root())
        .status()
        .with_context(|| format!("cannot start `{shown}`"))?;
    if !status.success() {
        bail!("`{shown}` failed: {status}");
    }
    Ok(())
}

/// The workspace's root.
fn root() -> &'static std::path::Path {
    std::path::Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."))
}
