//! Looks at many files of a tree in path order: each folder is found once, beneath the root and without following links, and
//! its files from there.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use super::{SkipReason, Stamp, unescape_path};

/// A place in a tree, from which the next file is near.
pub(crate) struct Folders<'r> {
    root: &'r Path,
    /// The root, and the folder that was last read from.
    #[cfg(target_os = "linux")]
    top: Option<std::os::fd::OwnedFd>,
    #[cfg(target_os = "linux")]
    at: Option<(String, std::os::fd::OwnedFd)>,
}

impl<'r> Folders<'r> {
    pub(crate) fn new(root: &'r Path) -> Folders<'r> {
        Folders {
            root,
            #[cfg(target_os = "linux")]
            top: None,
            #[cfg(target_os = "linux")]
            at: None,
        }
    }

    /// Size, times and inode of a regular file; nothing where it is none, or not to be reached. For comparing with what was read:
    /// a link on the way may lead it elsewhere, but not to the same inode and times.
    pub(crate) fn stamp(&mut self, path: &str) -> Option<Stamp> {
        self.look(path).ok().flatten()
    }

    /// Puts the content of a regular file, at most `limit` bytes, into `bytes`, whose room is used again; gives its stamp.
    pub(crate) fn read(&mut self, path: &str, limit: u64, bytes: &mut Vec<u8>) -> Result<Stamp, SkipReason> {
        let reason = |error: io::Error| match error.kind() {
            io::ErrorKind::NotFound => SkipReason::Vanished,
            _ => SkipReason::Unreadable,
        };
        let mut file = self.open(path).map_err(reason)?;
        let metadata = file.metadata().map_err(reason)?;
        if !metadata.is_file() {
            return Err(SkipReason::NotRegular);
        }
        // One byte more than there should be, so that the end is seen without asking for it.
        let wanted = metadata.len().min(limit) as usize + 1;
        bytes.resize(wanted, 0);
        let mut end = 0;
        while end < wanted {
            match file.read(&mut bytes[end..]) {
                Ok(0) => break,
                Ok(count) => end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(reason(error)),
            }
            if end as u64 == metadata.len() {
                break;
            }
        }
        bytes.truncate(end);
        if end == wanted {
            // It has grown meanwhile.
            file.take((limit + 1).saturating_sub(end as u64))
                .read_to_end(bytes)
                .map_err(reason)?;
        }
        match bytes.len() as u64 > limit {
            true => Err(SkipReason::TooLarge),
            false => Ok(Stamp::of(&metadata)),
        }
    }
}

#[cfg(target_os = "linux")]
impl Folders<'_> {
    fn look(&mut self, path: &str) -> io::Result<Option<Stamp>> {
        use rustix::fs::{AtFlags, FileType, statat};
        // Thousands are looked at for one question: most need no copy of their own.
        let found = match path.contains('\\') {
            true => statat(self.top()?, unescape_path(path), AtFlags::SYMLINK_NOFOLLOW)?,
            false => statat(self.top()?, path, AtFlags::SYMLINK_NOFOLLOW)?,
        };
        let nanoseconds = |seconds: i64, rest: u64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        let is_file = FileType::from_raw_mode(found.st_mode) == FileType::RegularFile;
        Ok(is_file.then(|| Stamp {
            size: found.st_size as u64,
            modified: nanoseconds(found.st_mtime, found.st_mtime_nsec),
            changed: nanoseconds(found.st_ctime, found.st_ctime_nsec),
            inode: found.st_ino,
        }))
    }

    fn open(&mut self, path: &str) -> io::Result<File> {
        use rustix::fs::{Mode, OFlags, openat};
        let (folder, name) = self.go_to(path)?;
        // Does not wait for the other end of a pipe.
        let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOFOLLOW;
        Ok(openat(folder, unescape_path(name), flags, Mode::empty())?.into())
    }

    fn top(&mut self) -> io::Result<&std::os::fd::OwnedFd> {
        use rustix::fs::{Mode, OFlags, open};
        if self.top.is_none() {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            self.top = Some(open(self.root, flags, Mode::empty())?);
        }
        self.top.as_ref().ok_or_else(|| io::ErrorKind::NotFound.into())
    }

    /// The folder of a file, and the file's name in it.
    fn go_to<'p>(&mut self, path: &'p str) -> io::Result<(&std::os::fd::OwnedFd, &'p str)> {
        use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, openat, openat2};
        let (folder, name) = path.rsplit_once('/').unwrap_or((".", path));
        if name.is_empty() || name == "." || name == ".." {
            return Err(io::ErrorKind::InvalidInput.into());
        }
        if self.at.as_ref().is_none_or(|(at, _)| at != folder) {
            let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let relative = unescape_path(folder);
            let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
            let found = match openat2(self.top()?, &relative, flags, Mode::empty(), resolve) {
                // Kernels before 5.6, and sandboxes that forbid the call.
                Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {
                    openat(CWD, self.root.join(relative), flags | OFlags::NOFOLLOW, Mode::empty())?
                }
                found => found?,
            };
            self.at = Some((folder.to_string(), found));
        }
        match &self.at {
            Some((_, found)) => Ok((found, name)),
            None => Err(io::ErrorKind::NotFound.into()),
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Folders<'_> {
    fn look(&mut self, path: &str) -> io::Result<Option<Stamp>> {
        let metadata = std::fs::symlink_metadata(self.root.join(unescape_path(path)))?;
        Ok(metadata.is_file().then(|| Stamp::of(&metadata)))
    }

    fn open(&mut self, path: &str) -> io::Result<File> {
        let absolute = self.root.join(unescape_path(path));
        if !std::fs::symlink_metadata(&absolute)?.is_file() {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
        }
        File::open(absolute)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_read_beneath_the_root_alone() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir_all(root.join("a/b")).unwrap();
        std::fs::write(root.join("a/b/file"), "text").unwrap();
        std::fs::write(root.join("top"), "top").unwrap();
        std::fs::write(folder.path().join("secret"), "secret").unwrap();
        let mut folders = Folders::new(&root);
        let mut bytes = vec![b'x'; 99];
        let stamp = folders.read("a/b/file", 10, &mut bytes).unwrap();
        assert_eq!(bytes, b"text");
        assert_eq!(folders.stamp("a/b/file"), Some(stamp));
        folders.read("top", 10, &mut bytes).unwrap();
        assert_eq!(bytes, b"top");
        assert_eq!(folders.read("top", 2, &mut bytes).unwrap_err(), SkipReason::TooLarge);
        assert_eq!(
            folders.read("a/none", 10, &mut bytes).unwrap_err(),
            SkipReason::Vanished
        );
        assert!(folders.read("a/b", 10, &mut bytes).is_err() && folders.stamp("a/b").is_none());
        #[cfg(target_os = "linux")]
        {
            std::os::unix::fs::symlink(folder.path(), root.join("out")).unwrap();
            std::os::unix::fs::symlink(folder.path().join("secret"), root.join("link")).unwrap();
            for path in ["../secret", "out/secret", "link", "a/../../secret"] {
                assert!(folders.read(path, 10, &mut bytes).is_err(), "{path}");
            }
            assert_eq!(folders.stamp("link"), None);
        }
    }
}
