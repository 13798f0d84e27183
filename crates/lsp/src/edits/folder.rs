//! Folders held open, so that what is written lands where it was looked for: no link is followed on the way or at the end, and
//! nothing that stands at a name already is written through.
//!
//! The one trick: a path is walked component by component, each opened relative to the handle before it and refused if it is a
//! link. Links that an edit may follow were resolved before (`on_disk::confined`); one that is swapped in later leads nowhere.

use std::io;
use std::path::Path;

#[cfg(not(unix))]
pub(crate) use paths::Folder;
#[cfg(unix)]
pub(crate) use unix::Folder;

impl Folder {
    /// The folder of `path` below this one; with `Missing::Make`, folders that are not there are made.
    pub(crate) fn parent_of<'p>(&self, path: &'p Path, missing: Missing) -> io::Result<(Folder, &'p str)> {
        let name = path.file_name().and_then(|name| name.to_str());
        let name = name.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "it has no file name"))?;
        let mut folder = self.again()?;
        for part in path.parent().into_iter().flat_map(Path::components) {
            let part = part.as_os_str().to_str().unwrap_or_default();
            folder = match folder.inside(part) {
                Err(error) if error.kind() == io::ErrorKind::NotFound && missing == Missing::Make => {
                    folder.make(part)?;
                    folder.inside(part)?
                }
                found => found?,
            };
        }
        Ok((folder, name))
    }
}

/// The bytes of a regular file whose links were resolved before: `place` is below `root`, and no link is followed any more.
pub(crate) fn read(root: &Path, place: &Path) -> io::Result<Option<Vec<u8>>> {
    let root = root.canonicalize()?;
    let inside = place.strip_prefix(&root).map_err(io::Error::other)?;
    match Folder::open(&root)?.parent_of(inside, Missing::Refuse) {
        Ok((parent, name)) => parent.read(name),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// What becomes of folders that are not there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Missing {
    Refuse,
    Make,
}

#[cfg(unix)]
mod unix {
    use std::fs::File;
    use std::io::{self, Read, Write};
    use std::os::fd::OwnedFd;
    use std::path::Path;

    use rustix::fs::{
        Access, AtFlags, CWD, FileType, Mode, OFlags, accessat, fchmod, fstat, fsync, mkdirat, openat, renameat,
        statat, unlinkat,
    };

    use super::super::faults::step;

    /// Permissions that a file keeps when it is replaced. Those that run a program as somebody else go, as in any write.
    const KEPT_MODE: u32 = 0o777;

    /// A folder, held open.
    #[derive(Debug)]
    pub(crate) struct Folder {
        handle: OwnedFd,
    }

    const FOLDER: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

    /// A name of something in a folder. What leads elsewhere is none: names come from journals, too, which a tree may bring along.
    fn plain(name: &str) -> io::Result<&str> {
        match name.is_empty() || name == ".." || name.contains(['/', '\0']) {
            true => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a file name")),
            false => Ok(name),
        }
    }

    impl Folder {
        /// The folder at a path that the user gave: its own links are followed.
        pub(crate) fn open(path: &Path) -> io::Result<Folder> {
            let handle = openat(CWD, path, FOLDER, Mode::empty())?;
            Ok(Folder { handle })
        }

        /// Another handle on the same folder.
        pub(super) fn again(&self) -> io::Result<Folder> {
            let handle = self.handle.try_clone()?;
            Ok(Folder { handle })
        }

        /// A folder in this one. A link is none.
        pub(crate) fn inside(&self, name: &str) -> io::Result<Folder> {
            let handle = openat(&self.handle, plain(name)?, FOLDER | OFlags::NOFOLLOW, Mode::empty())?;
            Ok(Folder { handle })
        }

        /// Makes a folder in this one.
        pub(crate) fn make(&self, name: &str) -> io::Result<()> {
            step()?;
            Ok(mkdirat(&self.handle, plain(name)?, Mode::from_raw_mode(0o777))?)
        }

        /// The bytes of a regular file; nothing where there is none. A link is an error.
        pub(crate) fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
            // A pipe must not be waited for.
            let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let mut file = match openat(&self.handle, plain(name)?, flags, Mode::empty()) {
                Ok(handle) => File::from(handle),
                Err(rustix::io::Errno::NOENT) => return Ok(None),
                Err(error) => return Err(error.into()),
            };
            if !file.metadata()?.is_file() {
                return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
            }
            let mut bytes = Vec::new();
            file.read_to_end(&mut bytes)?;
            Ok(Some(bytes))
        }

        /// The permissions of what stands at a name, links not followed.
        pub(crate) fn mode(&self, name: &str) -> Option<u32> {
            let stat = statat(&self.handle, plain(name).ok()?, AtFlags::SYMLINK_NOFOLLOW).ok()?;
            Some(Mode::from_raw_mode(stat.st_mode).as_raw_mode())
        }

        /// Whether something stands at a name, be it a link to nowhere.
        pub(crate) fn has(&self, name: &str) -> bool {
            plain(name).is_ok_and(|name| statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW).is_ok())
        }

        /// Whether a file may be written by whoever runs this, by its own permissions: what may replace it is not asked.
        pub(crate) fn is_writable(&self, name: &str) -> bool {
            let says = self.mode(name).is_some_and(|mode| mode & 0o222 != 0);
            says && accessat(&self.handle, name, Access::WRITE_OK, AtFlags::EACCESS).is_ok()
        }

        /// Makes a file that was not there, with all its bytes on disk. Where the mode is given nobody else sees it before it has it.
        pub(crate) fn create(&self, name: &str, bytes: &[u8], mode: Option<u32>) -> io::Result<()> {
            step()?;
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let first = if mode.is_some() { 0o600 } else { 0o666 };
            let mut file = File::from(openat(&self.handle, plain(name)?, flags, Mode::from_raw_mode(first))?);
            step()?;
            file.write_all(bytes)?;
            if let Some(mode) = mode {
                fchmod(&file, Mode::from_raw_mode((mode & KEPT_MODE) as _))?;
            }
            step()?;
            file.sync_all()
        }

        /// The file that several processes lock, made if it is not there.
        pub(crate) fn lock_file(&self, name: &str) -> io::Result<File> {
            let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
            let handle = openat(&self.handle, plain(name)?, flags, Mode::from_raw_mode(0o666))?;
            match FileType::from_raw_mode(fstat(&handle)?.st_mode) {
                FileType::RegularFile => Ok(handle.into()),
                _ => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
            }
        }

        /// Gives what stands at `from` the name `to`, in place of what had it.
        pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
            step()?;
            Ok(renameat(&self.handle, plain(from)?, &self.handle, plain(to)?)?)
        }

        /// Takes a file away.
        pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
            step()?;
            Ok(unlinkat(&self.handle, plain(name)?, AtFlags::empty())?)
        }

        /// Takes a folder away, if it is empty.
        pub(crate) fn remove_folder(&self, name: &str) -> io::Result<()> {
            step()?;
            Ok(unlinkat(&self.handle, plain(name)?, AtFlags::REMOVEDIR)?)
        }

        /// Makes a rename or a removal last. Not every file system can; then there is nothing better to do.
        pub(crate) fn sync(&self) {
            let _ = fsync(&self.handle);
        }
    }
}

/// Where the system has no handles on folders: the same by paths, with the checks that paths allow.
#[cfg(not(unix))]
mod paths {
    use std::fs::{self, File, OpenOptions};
    use std::io::{self, Write};
    use std::path::{Path, PathBuf};

    use super::super::faults::step;

    /// A folder, by its path.
    #[derive(Debug)]
    pub(crate) struct Folder {
        path: PathBuf,
    }

    impl Folder {
        pub(crate) fn open(path: &Path) -> io::Result<Folder> {
            match fs::metadata(path)?.is_dir() {
                true => Ok(Folder {
                    path: path.to_path_buf(),
                }),
                false => Err(io::ErrorKind::NotADirectory.into()),
            }
        }

        pub(super) fn again(&self) -> io::Result<Folder> {
            Ok(Folder {
                path: self.path.clone(),
            })
        }

        pub(crate) fn inside(&self, name: &str) -> io::Result<Folder> {
            let path = self.path.join(name);
            match fs::symlink_metadata(&path)?.is_dir() {
                true => Ok(Folder { path }),
                false => Err(io::ErrorKind::NotADirectory.into()),
            }
        }

        pub(crate) fn make(&self, name: &str) -> io::Result<()> {
            step()?;
            fs::create_dir(self.path.join(name))
        }

        pub(crate) fn read(&self, name: &str) -> io::Result<Option<Vec<u8>>> {
            let path = self.path.join(name);
            match fs::symlink_metadata(&path) {
                Ok(metadata) if metadata.is_file() => fs::read(&path).map(Some),
                Ok(_) => Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file")),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error),
            }
        }

        pub(crate) fn mode(&self, _: &str) -> Option<u32> {
            None
        }

        pub(crate) fn has(&self, name: &str) -> bool {
            fs::symlink_metadata(self.path.join(name)).is_ok()
        }

        pub(crate) fn is_writable(&self, name: &str) -> bool {
            fs::symlink_metadata(self.path.join(name)).is_ok_and(|metadata| !metadata.permissions().readonly())
        }

        pub(crate) fn create(&self, name: &str, bytes: &[u8], _: Option<u32>) -> io::Result<()> {
            step()?;
            let mut file = OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(self.path.join(name))?;
            step()?;
            file.write_all(bytes)?;
            step()?;
            file.sync_all()
        }

        pub(crate) fn lock_file(&self, name: &str) -> io::Result<File> {
            let path = self.path.join(name);
            match fs::symlink_metadata(&path) {
                Ok(metadata) if !metadata.is_file() => Err(io::ErrorKind::InvalidInput.into()),
                _ => OpenOptions::new().create(true).truncate(false).write(true).open(path),
            }
        }

        pub(crate) fn rename(&self, from: &str, to: &str) -> io::Result<()> {
            step()?;
            fs::rename(self.path.join(from), self.path.join(to))
        }

        pub(crate) fn remove(&self, name: &str) -> io::Result<()> {
            step()?;
            fs::remove_file(self.path.join(name))
        }

        pub(crate) fn remove_folder(&self, name: &str) -> io::Result<()> {
            step()?;
            fs::remove_dir(self.path.join(name))
        }

        pub(crate) fn sync(&self) {}
    }
}
