//! By modes and numbers of files.

use std::fs::{self, DirBuilder, Metadata, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{Access, OFlags, access};

use super::Identity;

pub(super) fn identity(_: &Path, meta: &Metadata) -> io::Result<Identity> {
    Ok(Identity {
        number: meta.ino(),
        device: meta.dev(),
    })
}

pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(folder)
}

pub(super) fn private(options: &mut OpenOptions) {
    options.mode(0o600);
}

pub(super) fn no_follow(options: &mut OpenOptions) {
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    options.custom_flags(flags.bits().cast_signed());
}

pub(super) fn is_ours(meta: &Metadata) -> bool {
    let own = rustix::process::geteuid().as_raw();
    (meta.uid() == own || meta.uid() == 0) && meta.mode() & 0o022 == 0
}

pub(super) fn is_of_another(meta: &Metadata, beside: &Metadata) -> bool {
    let own = rustix::process::geteuid().as_raw();
    ![own, 0, beside.uid()].contains(&meta.uid())
}

pub(super) fn program_at(path: &Path) -> Option<PathBuf> {
    let is_program = fs::metadata(path).is_ok_and(|meta| meta.is_file() && meta.mode() & 0o111 != 0);
    is_program.then(|| path.to_path_buf())
}

pub(super) fn is_writable(folder: &Path) -> bool {
    access(folder, Access::WRITE_OK).is_ok()
}
