//! What systems say of files in different ways: who may write them, whether they can be started, by which number they are known.

#[cfg(unix)]
mod unix;
#[cfg(windows)]
mod windows;

#[cfg(unix)]
use unix as system;
#[cfg(windows)]
use windows as system;

use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// By what a file system knows a file or folder, whatever its path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    pub(crate) number: u64,
    /// The file system, as long as it is mounted.
    pub(crate) device: u64,
}

/// By what the file system knows what is at a path.
pub(crate) fn identity(path: &Path, meta: &Metadata) -> io::Result<Identity> {
    system::identity(path, meta)
}

/// Makes a folder and those above it that are not there, for the user alone. On Windows a folder has the rights of the one above
/// it, which in a user's profile are the user's.
pub(crate) fn make_private(folder: &Path) -> io::Result<()> {
    system::make_private(folder)
}

/// Opens a file to write, for the user alone where it is made. A link is not followed.
pub(crate) fn open_private(path: &Path, how: impl FnOnce(&mut OpenOptions) -> &mut OpenOptions) -> io::Result<File> {
    let mut options = OpenOptions::new();
    how(options.write(true));
    system::private(&mut options);
    system::no_follow(&mut options);
    options.open(path)
}

/// Opens a file to read. Neither a link nor a pipe is followed or waited for.
pub(crate) fn open_itself(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    system::no_follow(&mut options);
    options.open(path)
}

/// Whether it is a regular file that nobody but the user and the system may write, as far as modes say: Windows has none.
pub(crate) fn is_ours(meta: &Metadata) -> bool {
    meta.is_file() && system::is_ours(meta)
}

/// Whether something belongs neither to this user, nor to the system's, nor to whoever owns `beside`. Windows is not asked who owns what.
pub(crate) fn is_of_another(meta: &Metadata, beside: &Metadata) -> bool {
    system::is_of_another(meta, beside)
}

/// The program at a path, if there is one. On Windows its name may be given without the ending.
pub(crate) fn program_at(path: &Path) -> Option<PathBuf> {
    system::program_at(path)
}

/// Whether something can be made in a folder.
pub fn is_writable(folder: &Path) -> bool {
    system::is_writable(folder)
}
