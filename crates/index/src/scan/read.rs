//! Reads one candidate and decides whether it is source. Every file is opened beneath the root without following links,
//! so a link swapped in after the walk leads nowhere.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use syntax::Language;

use super::config::{Config, Generated};
use super::text::decode;
use super::{Candidate, SkipReason, unescape_path};

/// A source file as read.
pub(crate) struct Source {
    /// As on disk.
    pub(crate) bytes: Vec<u8>,
    pub(crate) language: &'static Language,
}

/// What stands in the place of a file that Git LFS keeps elsewhere.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/v1\n";

/// Bytes looked at to tell language and encoding.
const HEAD: usize = 8192;

/// Reads a candidate; the reason where it is not source.
pub(crate) fn read(root: &Path, candidate: &Candidate, config: &Config) -> Result<Source, SkipReason> {
    let path = &*candidate.path;
    let file_name = path.rsplit('/').next().unwrap_or(path);
    if candidate.stamp.size > config.max_file_size {
        return Err(SkipReason::TooLarge);
    }
    if is_product(file_name) {
        return Err(SkipReason::Generated);
    }
    if is_named_minified(file_name) {
        return Err(SkipReason::Minified);
    }
    // A name with an extension that no grammar claims is not worth opening.
    if syntax::languages::detect(path, &[]).is_none() && has_extension(file_name) {
        return Err(SkipReason::Unsupported);
    }
    let bytes = read_bytes(root, path, config.max_file_size)?;
    let head = &bytes[..bytes.len().min(HEAD)];
    let Some(language) = syntax::languages::detect(path, head) else {
        return Err(match memchr::memchr(0, head) {
            Some(_) => SkipReason::Binary,
            None => SkipReason::Unsupported,
        });
    };
    if bytes.starts_with(LFS_POINTER) {
        return Err(SkipReason::LfsPointer);
    }
    if is_minified(&bytes) {
        return Err(SkipReason::Minified);
    }
    if config.generated == Generated::Skip && says_generated(head) {
        return Err(SkipReason::Generated);
    }
    if memchr::memchr(0, head).is_some() && decode(head).is_none() {
        return Err(SkipReason::Binary);
    }
    Ok(Source { bytes, language })
}

/// The text of an indexed file as it is on disk now, decoded as the index decodes it, so that offsets of symbols fit.
/// Compare the hash with [`crate::snapshot::FileView::hash`] to know whether it is still the indexed text.
pub fn read_source(root: &Path, path: &str) -> io::Result<(String, [u8; 32])> {
    let mut bytes = Vec::new();
    open_beneath(root, path)?.read_to_end(&mut bytes)?;
    let hash = *blake3::hash(&bytes).as_bytes();
    match decode(&bytes) {
        Some(decoded) => Ok((decoded.text.into_owned(), hash)),
        None => Err(io::Error::new(io::ErrorKind::InvalidData, "not a text file")),
    }
}

/// Reads a regular file beneath a folder, reached through no link; the reason where it is none or longer than `limit` bytes.
pub fn read_regular(folder: &Path, path: &str, limit: u64) -> Result<Vec<u8>, SkipReason> {
    read_bytes(folder, path, limit)
}

/// Reads at most `limit` bytes of a regular file.
pub(crate) fn read_bytes(root: &Path, path: &str, limit: u64) -> Result<Vec<u8>, SkipReason> {
    let reason = |error: io::Error| match error.kind() {
        io::ErrorKind::NotFound => SkipReason::Vanished,
        _ => SkipReason::Unreadable,
    };
    let file = open_beneath(root, path).map_err(reason)?;
    let metadata = file.metadata().map_err(reason)?;
    if !metadata.is_file() {
        return Err(SkipReason::NotRegular);
    }
    let mut bytes = Vec::with_capacity(metadata.len().min(limit) as usize + 1);
    file.take(limit + 1).read_to_end(&mut bytes).map_err(reason)?;
    if bytes.len() as u64 > limit {
        return Err(SkipReason::TooLarge);
    }
    Ok(bytes)
}

/// Opens a file that lies beneath the root on a path without links. Does not wait for the other end of a pipe.
#[cfg(target_os = "linux")]
fn open_beneath(root: &Path, path: &str) -> io::Result<File> {
    use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, open, openat2};
    let relative = unescape_path(path);
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let directory = open(root, OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())?;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match openat2(&directory, &relative, flags, Mode::empty(), resolve) {
        Ok(file) => Ok(file.into()),
        // Kernels before 5.6, and sandboxes that forbid the call.
        Err(rustix::io::Errno::NOSYS | rustix::io::Errno::PERM) => {
            let file = rustix::fs::openat(CWD, root.join(relative), flags | OFlags::NOFOLLOW, Mode::empty())?;
            Ok(file.into())
        }
        Err(error) => Err(error.into()),
    }
}

#[cfg(not(target_os = "linux"))]
fn open_beneath(root: &Path, path: &str) -> io::Result<File> {
    let absolute = root.join(unescape_path(path));
    if !std::fs::symlink_metadata(&absolute)?.is_file() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "not a regular file"));
    }
    File::open(absolute)
}

/// Names of what tools make and nobody reads.
pub(super) fn is_product(file_name: &str) -> bool {
    const NAMES: &[&str] = &[
        "package-lock.json",
        "npm-shrinkwrap.json",
        "yarn.lock",
        "pnpm-lock.yaml",
        "Cargo.lock",
        "poetry.lock",
        "uv.lock",
        "Pipfile.lock",
        "composer.lock",
        "Gemfile.lock",
        "go.sum",
        "flake.lock",
    ];
    NAMES.contains(&file_name)
        || [".js.map", ".css.map", ".mjs.map", ".cjs.map"]
            .iter()
            .any(|suffix| file_name.ends_with(suffix))
}

pub(super) fn is_named_minified(file_name: &str) -> bool {
    file_name.contains(".min.") || file_name.contains("-min.")
}

fn has_extension(file_name: &str) -> bool {
    file_name.trim_start_matches('.').contains('.')
}

/// A file of some size whose text hardly has lines. Data files may have a long line; code that a person wrote does not
/// average hundreds of bytes per line.
fn is_minified(bytes: &[u8]) -> bool {
    const SMALL: usize = 4096;
    const LONG_LINE: usize = 5000;
    const AVERAGE: usize = 400;
    if bytes.len() < SMALL {
        return false;
    }
    let (mut lines, mut longest, mut start) = (0, 0, 0);
    for end in memchr::memchr_iter(b'\n', bytes).chain([bytes.len()]) {
        lines += 1;
        longest = longest.max(end - start);
        start = end + 1;
    }
    longest > LONG_LINE && bytes.len() / lines > AVERAGE
}

/// Whether a comment among the first lines says that a tool made the file. Code and strings that hold such words do not.
fn says_generated(head: &[u8]) -> bool {
    generated_line(head).is_some()
}

/// The line that says so.
pub(super) fn generated_line(head: &[u8]) -> Option<&[u8]> {
    let head = &head[..head.len().min(2048)];
    // Every marker below holds one of these, and hardly any file does.
    if ["enerated", "ENERATED"]
        .iter()
        .all(|word| memchr::memmem::find(head, word.as_bytes()).is_none())
    {
        return None;
    }
    let is_comment = |line: &&[u8]| {
        let line = line.trim_ascii_start();
        [
            &b"//"[..],
            b"#",
            b"/*",
            b"*",
            b"--",
            b";",
            b"%",
            b"<!--",
            b"\"\"\"",
            b"'",
        ]
        .iter()
        .any(|start| line.starts_with(start))
    };
    head.split(|&byte| byte == b'\n').filter(is_comment).find(|line| {
        let has = |marker: &str| memchr::memmem::find(line, marker.as_bytes()).is_some();
        let generated = has("enerated") || has("ENERATED");
        has("@generated")
            || has("<auto-generated")
            || has("Autogenerated by")
            || (generated && (has("DO NOT EDIT") || has("do not edit") || has("Do not edit") || has("DO NOT MODIFY")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn minified_text_is_told_from_long_data() {
        assert!(is_minified("a=1;".repeat(5000).as_bytes()));
        assert!(!is_minified("let value = 1;\n".repeat(5000).as_bytes()));
        assert!(!is_minified(b"short"));
    }

    #[test]
    fn a_comment_says_what_was_generated() {
        assert!(says_generated(
            b"// Code generated by protoc-gen-go. DO NOT EDIT.\n\npackage pb\n"
        ));
        assert!(says_generated(b"#!/bin/sh\n# @generated by make\n"));
        assert!(says_generated(
            b"//------\n// <auto-generated>\n//   This code was generated by a tool.\n"
        ));
        assert!(!says_generated(b"# Do not edit below this line\nx = 1\n"));
        assert!(!says_generated(b"let marker = \"@generated\";\n"));
    }

    #[test]
    fn products_are_known_by_name() {
        assert!(is_product("package-lock.json") && is_product("app.js.map"));
        assert!(!is_product("lock.rs") && !is_product("map.js"));
    }
}
