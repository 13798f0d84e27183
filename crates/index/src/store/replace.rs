//! Replaces a file of the index directory in one step.

use std::io::{self, Write};
use std::path::PathBuf;

use super::directory::{Directory, StoreError};
use super::disk::{self, Output};

impl Directory {
    /// `write` fills a new file, which takes the name only when it is whole: whoever reads meanwhile has the old one.
    pub(crate) fn replace(
        &self,
        name: &str,
        write: impl FnOnce(&mut Output) -> io::Result<()>,
    ) -> Result<PathBuf, StoreError> {
        let directory = &self.location().directory;
        let path = directory.join(name);
        let partial = directory.join(format!("{name}.partial"));
        let attempt = || {
            let mut file = Output::replacing(&partial)?;
            write(&mut file)?;
            file.flush()?;
            drop(file);
            disk::rename(&partial, &path)
        };
        match attempt() {
            Ok(()) => Ok(path),
            Err(error) => {
                // Best effort: the error that matters is the one being reported.
                drop(disk::remove(&partial));
                Err(StoreError::io("write", &path)(error))
            }
        }
    }
}
