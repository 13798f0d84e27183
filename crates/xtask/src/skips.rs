//! What was not run, and why: said by name at the end, so that a green run never hides it.
//!
//! Steps of the chore add theirs here; tests append a line to the file that `LACON_SKIPPED` names, since cargo swallows what a
//! test that passes prints.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The variable that tells tests where to write.
pub(crate) const VARIABLE: &str = "LACON_SKIPPED";

/// Reasons collected so far.
#[derive(Default)]
pub(crate) struct Skips(BTreeSet<String>);

impl Skips {
    /// Adds `skipped: what: why`; the reason says how to get it.
    pub(crate) fn add(&mut self, what: &str, why: &str) {
        eprintln!("skipped: {what}: {why}");
        self.0.insert(format!("skipped: {what}: {why}"));
    }

    /// A fresh file for tests to write to.
    pub(crate) fn file(directory: &Path) -> anyhow::Result<PathBuf> {
        let file = directory.join("skipped");
        std::fs::create_dir_all(directory)?;
        std::fs::write(&file, "")?;
        Ok(file)
    }

    /// Adds what is in a file, each line once.
    pub(crate) fn read(&mut self, file: &Path) {
        let text = std::fs::read_to_string(file).unwrap_or_default();
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        self.0.extend(lines.map(str::to_owned));
    }

    /// Keeps all of them for the next run.
    pub(crate) fn write(&self, file: &Path) -> anyhow::Result<()> {
        let lines = self.0.iter().map(|line| format!("{line}\n"));
        Ok(std::fs::write(file, lines.collect::<String>())?)
    }

    /// The summary.
    pub(crate) fn print(&self) {
        match self.0.len() {
            0 => eprintln!("nothing was skipped"),
            count => {
                eprintln!("\nskipped in all: {count}");
                for line in &self.0 {
                    eprintln!("  {}", line.trim_start_matches("skipped: "));
                }
            }
        }
    }
}
