//! By endings, and by the numbers that the file system keeps.

#![expect(unsafe_code, reason = "the standard library does not tell by what a file is known")]

use std::fs::{self, Metadata, OpenOptions};
use std::io;
use std::os::windows::fs::OpenOptionsExt;
use std::os::windows::io::AsRawHandle;
use std::path::{Path, PathBuf};

use windows_sys::Win32::Foundation::HANDLE;
use windows_sys::Win32::Storage::FileSystem::{
    BY_HANDLE_FILE_INFORMATION, FILE_FLAG_BACKUP_SEMANTICS, FILE_FLAG_OPEN_REPARSE_POINT, GetFileInformationByHandle,
};

use super::Identity;

/// What the system starts, in the order in which it looks. A `.cmd` is how npm and its kin put programs on the path.
const ENDINGS: [&str; 4] = ["com", "exe", "bat", "cmd"];

pub(super) fn identity(path: &Path, _: &Metadata) -> io::Result<Identity> {
    // Folders are opened only with this flag; nothing is read of them.
    let file = OpenOptions::new()
        .access_mode(0)
        .custom_flags(FILE_FLAG_BACKUP_SEMANTICS)
        .open(path)?;
    let mut known = BY_HANDLE_FILE_INFORMATION::default();
    // SAFETY: the handle is open, and the structure outlives the call.
    if unsafe { GetFileInformationByHandle(file.as_raw_handle() as HANDLE, &mut known) } == 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(Identity {
        number: u64::from(known.nFileIndexHigh) << 32 | u64::from(known.nFileIndexLow),
        device: u64::from(known.dwVolumeSerialNumber),
    })
}

pub(super) fn make_private(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

pub(super) fn private(_: &mut OpenOptions) {}

pub(super) fn no_follow(options: &mut OpenOptions) {
    options.custom_flags(FILE_FLAG_OPEN_REPARSE_POINT);
}

pub(super) fn is_ours(meta: &Metadata) -> bool {
    !meta.file_type().is_symlink()
}

pub(super) fn is_of_another(_: &Metadata, _: &Metadata) -> bool {
    false
}

pub(super) fn program_at(path: &Path) -> Option<PathBuf> {
    let has_ending = path
        .extension()
        .is_some_and(|ending| ENDINGS.iter().any(|known| ending.eq_ignore_ascii_case(known)));
    if has_ending && path.is_file() {
        return Some(path.to_path_buf());
    }
    ENDINGS
        .iter()
        .map(|ending| {
            let mut name = path.as_os_str().to_owned();
            name.push(".");
            name.push(ending);
            PathBuf::from(name)
        })
        .find(|path| path.is_file())
}

pub(super) fn is_writable(folder: &Path) -> bool {
    // Rights are lists here; the flag is all that can be read of them without asking for each.
    fs::metadata(folder).is_ok_and(|meta| !meta.permissions().readonly())
}
