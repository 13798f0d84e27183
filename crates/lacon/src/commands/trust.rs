//! `lacon trust`: says that a repository's own code may be run, shows which may, takes it back.

use std::path::PathBuf;

use anyhow::Context;
use serde_json::json;
use server::trust::trust;
use terminal::failure::Failure;
use terminal::output::Output;

/// Allow a repository's own tools and code to be run
///
/// Nothing that a repository ships is run until its owner says so: no program in `node_modules/.bin` or `.venv/bin`, no build
/// script or plugin through a language server, no `.mcp.json` behind the gateway. Parsing, search and the graph need no trust.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon trust                     # the repository around the current folder
  lacon trust ~/src/shop
  lacon trust --show              # what is trusted, and whether this folder is
  lacon trust --revoke ~/src/shop

The list is kept in LACON_STATE_DIR, else in `lacon` in the user's state folder (~/.local/state). An entry holds for one folder on
one disk: another clone in its place has to be trusted again. `--trust` and LACON_TRUST=1 trust what one run opens.")]
pub(crate) struct Args {
    /// A folder of the repository
    #[arg(default_value = ".", value_name = "DIR")]
    root: PathBuf,

    /// Say what is trusted and change nothing
    #[arg(long)]
    show: bool,

    /// Take it back
    #[arg(long, conflicts_with = "show")]
    revoke: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let trust = trust();
    // The list, also where this run trusts everything.
    let listed = match trust.list() {
        Ok(list) => list.clone(),
        Err(_) => guardian::trust::List::in_folder(
            &server::trust::state_folder().context(guardian::trust::TrustError::NoPlace)?,
        ),
    };
    if args.show {
        let entry = listed.entry_for(&args.root)?;
        let all: Vec<String> = listed.entries()?.into_iter().map(|entry| entry.path).collect();
        let here = entry.is_some() || trust.is_everything();
        if args.json {
            output.json(&json!({"root": args.root, "trusted": here, "list": listed.file(), "all": all}))?;
            return Ok(());
        }
        output.line(match (entry, here) {
            (Some(entry), _) => format!("trusted: {}", entry.path),
            (None, true) => "trusted for this run".to_string(),
            (None, false) => format!("not trusted: {}", args.root.display()),
        });
        for path in all {
            output.line(format!("  {path}"));
        }
        return Ok(());
    }
    if args.revoke {
        let gone = listed.revoke(&args.root)?;
        if args.json {
            output.json(&json!({"revoked": gone}))?;
            return Ok(());
        }
        for path in &gone {
            output.line(format!("no longer trusted: {}", path.display()));
        }
        if gone.is_empty() {
            output.line("it was not trusted");
        }
        return Ok(());
    }
    let folder = listed.grant(&args.root)?;
    match args.json {
        true => output.json(&json!({"trusted": folder}))?,
        false => output.line(format!(
            "trusted: {}\nits own tools and build scripts may now be run by language servers; `lacon trust --revoke` takes it back",
            folder.display()
        )),
    }
    Ok(())
}
