//! Where verbs get their input: a file, or stdin when none is named.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};

use crate::failure::{Explain, Failure};

/// The optional `FILE` argument of a verb that reads one text.
#[derive(clap::Args)]
pub struct Input {
    /// The file to read; stdin when left out or `-`
    #[arg(value_name = "FILE")]
    file: Option<PathBuf>,
}

impl Input {
    /// The whole text, which must be UTF-8.
    pub fn read(&self) -> Result<String, Failure> {
        match &self.file {
            Some(path) if path.as_os_str() != "-" => read_file(path),
            _ => {
                let mut bytes = Vec::new();
                std::io::stdin()
                    .lock()
                    .read_to_end(&mut bytes)
                    .context("cannot read stdin")?;
                as_text(bytes, "stdin")
            }
        }
    }

    /// The name of the file without directory and extension, when there is one.
    pub fn stem(&self) -> Option<String> {
        let stem = self.file.as_ref()?.file_stem()?.to_string_lossy().into_owned();
        Some(stem).filter(|stem| stem != "-")
    }
}

/// The text of a file, which must be UTF-8.
pub fn read_file(path: &Path) -> Result<String, Failure> {
    let bytes = std::fs::read(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    as_text(bytes, &path.display().to_string())
}

fn as_text(bytes: Vec<u8>, name: &str) -> Result<String, Failure> {
    String::from_utf8(bytes).or_else(|error| {
        let at = error.utf8_error().valid_up_to();
        let before = &error.as_bytes()[..at];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() + 1;
        let column = at
            - before
                .iter()
                .rposition(|&byte| byte == b'\n')
                .map_or(0, |newline| newline + 1)
            + 1;
        let found = error.as_bytes()[at];
        Err(anyhow!(
            "{name}: line {line}, column {column}: found the byte 0x{found:02x}, expected UTF-8"
        ))
        .bad_input()
        .hint("convert the text to UTF-8 first")
    })
}
