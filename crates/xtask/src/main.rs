//! Chores of the project that are not part of the product: `cargo xtask test` prepares a bare machine and runs every test.

#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod dist;
mod inputs;
mod needs;
mod prepare;
mod skips;
mod test;

use std::process::{Command, ExitCode};

use anyhow::{Context, Result, bail};

const HELP: &str = "\
Usage: cargo xtask <chore>

  test [--all]    install what the tests need, then check the format, the lints and run every test; what passed
                  before and reads nothing that changed since is not run again, unless with --all
  affected        the fast run before a commit: the format, and lints and tests of the crates whose own files
                  changed since HEAD, and of those that depend on them; installs nothing
  prepare         only install what the tests need
  faults [N]      damage the index N (5000) times, mutate what is read N times, let every call of the disk fail, kill and
                  pause while it is built: no answer changes without a word
  dist [--check]  write every package that Lacon is installed by, and install each of them; `dist --help` says how
  fuzz [N]        try N (5000) random histories of edits, new ones at each run: the index that followed is the
                  one built anew; then 200 N damaged texts in every decoder of the formats
";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = match arguments[..] {
        ["test"] => prepare::prepare().and_then(|skips| test::test(skips, false)),
        ["test", "--all"] => prepare::prepare().and_then(|skips| test::test(skips, true)),
        ["affected"] => test::affected(),
        ["dist", "--help"] => {
            eprint!("{}", dist::HELP);
            return ExitCode::SUCCESS;
        }
        ["dist", ref options @ ..] => dist::dist(options),
        ["prepare"] => prepare::prepare().map(|skips| skips.print()),
        ["faults"] => test::faults("5000"),
        ["faults", damages] => test::faults(damages),
        ["fuzz"] => test::fuzz("5000"),
        ["fuzz", cases] => test::fuzz(cases),
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
    let program = command.get_program().to_string_lossy();
    let name = program.rsplit('/').next().unwrap_or(&program).to_owned();
    let shown = command.get_args().fold(name, |shown, argument| {
        format!("{shown} {}", argument.to_string_lossy())
    });
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
