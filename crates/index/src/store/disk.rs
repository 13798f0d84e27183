//! The calls that the disk may refuse, in one place, so that a test can let any one of them fail.
//!
//! Nothing is synced: whatever the store keeps can be made again from the tree, a file takes its name only when it is whole, and
//! whoever reads it notices what the disk did not keep. See `docs/guide/durability.md`.

use std::fs::{self, File};
use std::io::{self, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

#[cfg(test)]
pub(crate) mod faults;

/// What a call does, as the sweep over failing calls names it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Call {
    Open,
    Create,
    Read,
    Write,
    Rename,
    Remove,
    Memory,
}

/// Fails where a test wants this call to fail.
#[cfg(test)]
fn step(call: Call, path: &Path) -> io::Result<Option<usize>> {
    faults::step(call, path)
}

/// The same for calls that the standard library repeats when they are interrupted.
fn repeated_step(call: Call, path: &Path) -> io::Result<()> {
    loop {
        match step(call, path) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            other => return other.map(|_| ()),
        }
    }
}

#[cfg(not(test))]
#[inline(always)]
fn step(_: Call, _: &Path) -> io::Result<Option<usize>> {
    Ok(None)
}

/// Opens a regular file for reading. Anything else under its name is refused: a pipe would wait for ever, and a link may lead
/// anywhere.
pub(crate) fn open(path: &Path) -> io::Result<File> {
    repeated_step(Call::Open, path)?;
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is not a regular file"));
    }
    File::open(path)
}

/// The whole of a small regular file.
pub(crate) fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut file = open(path)?;
    repeated_step(Call::Read, path)?;
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut file, &mut bytes)?;
    Ok(bytes)
}

/// Fills `bytes` from a place in a file.
pub(crate) fn read_at(file: &File, path: &Path, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    repeated_step(Call::Read, path)?;
    read_exact_at(file, bytes, offset)
}

#[cfg(unix)]
fn read_exact_at(file: &File, bytes: &mut [u8], offset: u64) -> io::Result<()> {
    std::os::unix::fs::FileExt::read_exact_at(file, bytes, offset)
}

#[cfg(windows)]
fn read_exact_at(file: &File, mut bytes: &mut [u8], mut offset: u64) -> io::Result<()> {
    use std::os::windows::fs::FileExt;
    while !bytes.is_empty() {
        match file.seek_read(bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(read) => {
                bytes = &mut bytes[read..];
                offset += read as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

pub(crate) fn rename(from: &Path, to: &Path) -> io::Result<()> {
    step(Call::Rename, to)?;
    fs::rename(from, to)
}

pub(crate) fn remove(path: &Path) -> io::Result<()> {
    step(Call::Remove, path)?;
    fs::remove_file(path)
}

/// Memory for the bytes of a file, of which only what is read takes room.
pub(crate) fn memory(length: usize, path: &Path) -> io::Result<memmap2::MmapRaw> {
    step(Call::Memory, path)?;
    let memory = memmap2::MmapMut::map_anon(length.max(1))?;
    // A block that is read would otherwise take two megabytes where the system likes large pages. Advice may be refused.
    #[cfg(target_os = "linux")]
    let _refused = memory.advise(memmap2::Advice::NoHugePage);
    Ok(memory.into())
}

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct Output {
    file: File,
    path: PathBuf,
}

impl Output {
    /// Starts an empty file, in place of what a killed writer left under this name.
    pub(crate) fn replacing(path: &Path) -> io::Result<Output> {
        step(Call::Create, path)?;
        // Never through a link: whoever made one there would choose what is overwritten.
        match fs::remove_file(path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Output::open(path)
    }

    /// Starts a file that is not there.
    pub(crate) fn new(path: &Path) -> io::Result<Output> {
        step(Call::Create, path)?;
        Output::open(path)
    }

    fn open(path: &Path) -> io::Result<Output> {
        let file = File::options().create_new(true).read(true).write(true).open(path)?;
        Ok(Output {
            file,
            path: path.to_path_buf(),
        })
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let bytes = match step(Call::Write, &self.path)? {
            Some(most) => &bytes[..bytes.len().min(most.max(1))],
            None => bytes,
        };
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Seek for Output {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        self.file.seek(to)
    }
}
