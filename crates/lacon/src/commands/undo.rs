//! `lacon undo`: takes back a change that an edit tool made, whole, unless one of its files has changed since.

use std::path::PathBuf;

use anyhow::{Context, anyhow};
use lsp::edits::{EditError, Journal, Outcome};
use serde_json::json;
use server::editing::journal_directory;
use server::project;
use terminal::failure::{Exit, Explain, Failure};
use terminal::output::Output;

/// Take back what an edit tool wrote
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon undo              # the latest change
  lacon undo --list
  lacon undo 00000007")]
pub(crate) struct Args {
    /// Which change; the latest if not given
    #[arg(value_name = "ID")]
    id: Option<String>,

    /// List the changes that can be taken back, latest first
    #[arg(long, conflicts_with = "id")]
    list: bool,

    /// A folder of the tree, instead of the current one
    #[arg(long, value_name = "DIR")]
    root: Option<PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let named = project::one_indexed(args.root.as_deref())?;
    let root = named
        .canonicalize()
        .with_context(|| format!("no directory `{}`", named.display()))
        .bad_input()?;
    let directory = journal_directory(&root).map_err(|refusal| anyhow!("{}", refusal.message))?;
    let journal = Journal::open(&root, &directory)?;
    if args.list {
        let entries = journal.entries()?;
        if args.json {
            return output.json(&entries);
        }
        for entry in &entries {
            let files: Vec<&str> = entry.files.iter().map(|file| file.path.as_str()).collect();
            output.line(format!("{}  {}  {}", entry.id, entry.about, files.join(", ")));
        }
        if entries.is_empty() {
            output.line("nothing to undo");
        }
        for entry in journal.interrupted()? {
            let about = &entry.about;
            output.line(format!(
                "under way or interrupted: {about}; the next verb or server puts it right"
            ));
        }
        return Ok(());
    }
    let recovered = journal.recover()?;
    let taken_back = recovered.iter().find(|recovered| recovered.outcome != Outcome::Kept);
    // Whoever takes back the latest change means the one that was interrupted, and no other after it.
    if let (Some(recovered), None) = (taken_back, &args.id) {
        return match args.json {
            true => {
                output.json(&json!({"id": recovered.id, "about": recovered.about, "recovered": recovered.to_string()}))
            }
            false => {
                output.line(recovered.to_string());
                Ok(())
            }
        };
    }
    let undone = journal.undo(args.id.as_deref()).map_err(failure)?;
    match args.json {
        true => output.json(&json!({"id": undone.id, "about": undone.about, "files": undone.files})),
        false => {
            output.line(format!("undone: {} ({})", undone.about, undone.files.join(", ")));
            Ok(())
        }
    }
}

/// What was asked is at fault where there is nothing to take back.
fn failure(error: EditError) -> Failure {
    let exit = match &error {
        EditError::NothingToUndo(_) | EditError::Changed { .. } | EditError::ReadOnly { .. } => Exit::BadInput,
        _ => Exit::Failed,
    };
    let hints = match &error {
        EditError::Changed { .. } => vec!["it was edited after the change: take that edit back first".to_owned()],
        EditError::NothingToUndo(_) => vec!["`lacon undo --list` shows what can be undone".to_owned()],
        _ => Vec::new(),
    };
    Failure {
        exit,
        error: error.into(),
        hints,
    }
}
