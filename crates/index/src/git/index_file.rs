//! Git's index file: which paths are tracked. Versions 2 to 4, SHA-1 and SHA-256, sparse and split.
//!
//! A small reader and not `gix-index`: only names and modes are wanted, of a file whose layout has been fixed for fifteen years,
//! and the crate brings some thirty others along.

use std::path::Path;

use crate::scan::read_bytes;

/// Largest index that is read: Chromium's has some 60 MB.
const MAX_INDEX: u64 = 512 << 20;
/// Most bytes of names: version 4 writes only how a name differs from the one before.
const MAX_NAMES: usize = 1 << 30;

/// The paths that a repository tracks, in byte order, relative to the top of its work tree.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tracked {
    names: Vec<u8>,
    entries: Vec<Entry>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    start: u32,
    end: u32,
    kind: TrackedKind,
}

/// What is tracked at a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrackedKind {
    /// A regular file.
    File,
    /// A symbolic link.
    Link,
    /// The commit of another repository.
    Submodule,
    /// Something that a sparse checkout leaves out of the work tree: a file, or a folder whose name ends with `/`.
    NotCheckedOut,
}

impl Tracked {
    /// Reads the index in the git directory of a work tree. What cannot be read tracks nothing.
    pub fn read(directory: &Path) -> Tracked {
        match read_bytes(directory, "index", MAX_INDEX) {
            Ok(bytes) => Tracked::parse(directory, &bytes),
            Err(_) => Tracked::default(),
        }
    }

    fn parse(directory: &Path, bytes: &[u8]) -> Tracked {
        // The file does not say which hash its repository uses. Read with the wrong one, it has no second entry that makes sense.
        let shared = |name: &str| read_bytes(directory, name, MAX_INDEX).ok();
        [20, 32]
            .into_iter()
            .find_map(|hash| read_index(bytes, hash, &shared))
            .unwrap_or_default()
    }

    /// Whether the index lists anything below a folder, given relative to the top of the work tree; in whatever letters, since
    /// some file systems hold them for the same.
    pub(super) fn lists_below(directory: &Path, folder: &Path) -> bool {
        let Ok(bytes) = read_bytes(directory, "index", MAX_INDEX) else {
            return false;
        };
        let below = format!("{}/", folder.to_string_lossy().replace('\\', "/"));
        // Version 4 shortens names and a split index has them elsewhere; otherwise a folder that is not written out is not there.
        let is_whole =
            bytes.get(7).is_some_and(|&version| version < 4) && memchr::memmem::find(&bytes, b"link").is_none();
        if cfg!(target_os = "linux") && is_whole && memchr::memmem::find(&bytes, below.as_bytes()).is_none() {
            return false;
        }
        let tracked = Tracked::parse(directory, &bytes);
        tracked.below(b"").any(|(name, _)| {
            name.get(..below.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(below.as_bytes()))
        })
    }

    /// Whether exactly this path is tracked and ought to be in the work tree.
    pub fn contains(&self, path: &[u8]) -> bool {
        let at = self.entries.partition_point(|entry| self.name(entry) < path);
        self.entries
            .get(at)
            .is_some_and(|entry| self.name(entry) == path && entry.kind != TrackedKind::NotCheckedOut)
    }

    /// What is tracked below a folder; everything below the empty path.
    pub fn below(&self, folder: &[u8]) -> impl Iterator<Item = (&[u8], TrackedKind)> {
        let mut prefix = folder.to_vec();
        if !prefix.is_empty() {
            prefix.push(b'/');
        }
        let at = self.entries.partition_point(|entry| self.name(entry) < &prefix[..]);
        self.entries[at..]
            .iter()
            .map(|entry| (self.name(entry), entry.kind))
            .take_while(move |(name, _)| name.starts_with(&prefix))
    }

    /// Tells sets of tracked paths apart. Staging another content of the same files does not change it.
    pub fn digest(&self) -> [u8; 32] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.names);
        let rest: Vec<u8> = self
            .entries
            .iter()
            .flat_map(|entry| {
                let [a, b, c, d] = entry.end.to_le_bytes();
                [a, b, c, d, entry.kind as u8]
            })
            .collect();
        hasher.update(&rest);
        *hasher.finalize().as_bytes()
    }

    fn name(&self, entry: &Entry) -> &[u8] {
        &self.names[entry.start as usize..entry.end as usize]
    }

    /// In byte order and each once. Paths that git would never write are left out.
    fn of(mut found: Vec<(Vec<u8>, TrackedKind)>) -> Tracked {
        found.retain(|(name, _)| is_plain(name));
        // Almost always sorted already; an unmerged path is there up to three times.
        found.sort_by(|left, right| left.0.cmp(&right.0));
        found.dedup_by(|left, right| left.0 == right.0);
        let mut tracked = Tracked::default();
        for (name, kind) in found {
            let start = tracked.names.len() as u32;
            tracked.names.extend(name);
            let end = tracked.names.len() as u32;
            tracked.entries.push(Entry { start, end, kind });
        }
        tracked
    }
}

/// No part of it leaves the work tree or reaches into a repository.
fn is_plain(name: &[u8]) -> bool {
    let name = name.strip_suffix(b"/").unwrap_or(name);
    name.split(|&byte| byte == b'/')
        .all(|part| !part.is_empty() && part != b"." && part != b".." && !part.eq_ignore_ascii_case(b".git"))
}

fn read_index(bytes: &[u8], hash: usize, shared: &dyn Fn(&str) -> Option<Vec<u8>>) -> Option<Tracked> {
    let (mut found, link) = entries(bytes, hash)?;
    let Some(link) = link else {
        return Some(Tracked::of(found));
    };
    // A split index: the entries of another file, but for those that were deleted, and what is named here.
    found.retain(|(name, _)| !name.is_empty());
    let (base, bitmaps) = link.split_at_checked(hash)?;
    if base.iter().all(|&byte| byte == 0) {
        return Some(Tracked::of(found));
    }
    let hex: String = base.iter().map(|byte| format!("{byte:02x}")).collect();
    let shared = shared(&format!("sharedindex.{hex}"))?;
    let (mut all, _) = entries(&shared, hash)?;
    for position in bits(bitmaps)? {
        if let Some((name, _)) = all.get_mut(position) {
            name.clear();
        }
    }
    found.extend(all.into_iter().filter(|(name, _)| !name.is_empty()));
    Some(Tracked::of(found))
}

type Entries<'b> = (Vec<(Vec<u8>, TrackedKind)>, Option<&'b [u8]>);

/// Names and kinds in the order of the file, and the extension that names a shared index.
fn entries(bytes: &[u8], hash: usize) -> Option<Entries<'_>> {
    let mut input = Input { bytes, at: 0 };
    if input.take(4)? != b"DIRC" {
        return None;
    }
    let version = input.number()?;
    if !(2..=4).contains(&version) {
        return None;
    }
    let count = input.number()? as usize;
    // Each takes more than its hash.
    let mut found = Vec::with_capacity(count.min(bytes.len() / (40 + hash)));
    let mut previous: Vec<u8> = Vec::new();
    let mut total = 0;
    for _ in 0..count {
        let start = input.at;
        input.take(24)?;
        let mode = input.number()?;
        input.take(12 + hash)?;
        let flags = input.short()?;
        let more = match flags & 0x4000 {
            0 => 0,
            _ if version == 2 => return None,
            _ => input.short()?,
        };
        let is_absent = more & 0x4000 != 0;
        let kind = match mode >> 12 {
            _ if is_absent => TrackedKind::NotCheckedOut,
            0o4 => TrackedKind::NotCheckedOut,
            0o10 => TrackedKind::File,
            0o12 => TrackedKind::Link,
            0o16 => TrackedKind::Submodule,
            _ => return None,
        };
        if version == 4 {
            let kept = previous.len().checked_sub(input.varint()?)?;
            previous.truncate(kept);
            previous.extend_from_slice(input.until_nul()?);
        } else {
            previous.clear();
            previous.extend_from_slice(input.until_nul()?);
            // One to eight zeros up to a multiple of eight; the first was taken.
            let length = (input.at - 1 - start + 8) & !7;
            input.at = start + length;
        }
        total += previous.len();
        if total > MAX_NAMES {
            return None;
        }
        found.push((previous.clone(), kind));
    }
    let end = bytes.len().checked_sub(hash)?;
    let mut link = None;
    while input.at.checked_add(8)? <= end {
        let name = input.take(4)?;
        let length = input.number()? as usize;
        let content = input.take(length)?;
        if name == b"link" {
            link = Some(content);
        }
    }
    Some((found, link))
}

/// The positions of the first of two EWAH bitmaps: how many bits, how many words, then runs of equal words and literal ones.
fn bits(bytes: &[u8]) -> Option<Vec<usize>> {
    if bytes.is_empty() {
        return Some(Vec::new());
    }
    let mut input = Input { bytes, at: 0 };
    let most = input.number()? as usize;
    let mut words = input.number()? as usize;
    let mut found = Vec::new();
    let mut position = 0usize;
    while words > 0 {
        let run = input.long()?;
        words -= 1;
        let (is_set, length, literals) = (run & 1 == 1, (run >> 1) as u32 as usize, (run >> 33) as usize);
        let end = position.checked_add(length.checked_mul(64)?)?;
        if is_set {
            found.extend(position..end.min(most));
        }
        position = end;
        for _ in 0..literals {
            let word = input.long()?;
            words = words.checked_sub(1)?;
            found.extend((0..64).filter(|bit| word >> bit & 1 == 1).map(|bit| position + bit));
            position += 64;
        }
    }
    Some(found)
}

struct Input<'b> {
    bytes: &'b [u8],
    at: usize,
}

impl<'b> Input<'b> {
    fn take(&mut self, count: usize) -> Option<&'b [u8]> {
        let end = self.at.checked_add(count)?;
        let taken = self.bytes.get(self.at..end)?;
        self.at = end;
        Some(taken)
    }

    fn number(&mut self) -> Option<u32> {
        Some(u32::from_be_bytes(self.take(4)?.try_into().ok()?))
    }

    fn long(&mut self) -> Option<u64> {
        Some(u64::from_be_bytes(self.take(8)?.try_into().ok()?))
    }

    fn short(&mut self) -> Option<u16> {
        Some(u16::from_be_bytes(self.take(2)?.try_into().ok()?))
    }

    /// Git's offset encoding: seven bits at a time, one added for each that follows.
    fn varint(&mut self) -> Option<usize> {
        let mut byte = *self.take(1)?.first()?;
        let mut value = usize::from(byte & 127);
        while byte & 128 != 0 {
            byte = *self.take(1)?.first()?;
            value = value.checked_add(1)?.checked_mul(128)? + usize::from(byte & 127);
        }
        Some(value)
    }

    fn until_nul(&mut self) -> Option<&'b [u8]> {
        let rest = self.bytes.get(self.at..)?;
        let length = memchr::memchr(0, rest)?;
        self.at += length + 1;
        Some(&rest[..length])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An index as git writes it, without the numbers that nobody here reads.
    fn written(version: u32, hash: usize, names: &[(&str, u32, bool)]) -> Vec<u8> {
        let mut bytes = b"DIRC".to_vec();
        bytes.extend(version.to_be_bytes());
        bytes.extend((names.len() as u32).to_be_bytes());
        let mut previous = "";
        for (name, mode, absent) in names {
            let start = bytes.len();
            bytes.extend([7; 24]);
            bytes.extend(mode.to_be_bytes());
            bytes.extend(vec![7; 12 + hash]);
            let extended = version > 2 && *absent;
            bytes.extend(((name.len() as u16) | if extended { 0x4000 } else { 0 }).to_be_bytes());
            if extended {
                bytes.extend(0x4000u16.to_be_bytes());
            }
            if version == 4 {
                let kept = previous.bytes().zip(name.bytes()).take_while(|(a, b)| a == b).count();
                let stripped = previous.len() - kept;
                assert!(stripped < 128, "one byte is enough here");
                bytes.push(stripped as u8);
                bytes.extend(name[kept..].bytes());
                bytes.push(0);
            } else {
                bytes.extend(name.bytes());
                let length = (bytes.len() - start + 8) & !7;
                bytes.resize(start + length, 0);
            }
            previous = name;
        }
        bytes.extend(vec![0; hash]);
        bytes
    }

    const NAMES: &[(&str, u32, bool)] = &[
        (".gitignore", 0o100644, false),
        ("a/b.py", 0o100755, false),
        ("a/link", 0o120000, false),
        ("a.py", 0o100644, true),
        ("sub", 0o160000, false),
    ];

    fn kinds(tracked: &Tracked) -> Vec<(String, TrackedKind)> {
        tracked
            .below(b"")
            .map(|(name, kind)| (String::from_utf8_lossy(name).into_owned(), kind))
            .collect()
    }

    #[test]
    fn every_version_and_hash_is_read() {
        for version in [2, 3, 4] {
            for hash in [20, 32] {
                let folder = tempfile::tempdir().unwrap();
                std::fs::write(folder.path().join("index"), written(version, hash, NAMES)).unwrap();
                let tracked = Tracked::read(folder.path());
                let absent = match version {
                    2 => TrackedKind::File,
                    _ => TrackedKind::NotCheckedOut,
                };
                let wanted = [
                    (".gitignore", TrackedKind::File),
                    ("a.py", absent),
                    ("a/b.py", TrackedKind::File),
                    ("a/link", TrackedKind::Link),
                    ("sub", TrackedKind::Submodule),
                ];
                let wanted: Vec<_> = wanted.map(|(name, kind)| (name.to_string(), kind)).into();
                assert_eq!(kinds(&tracked), wanted, "{version} {hash}");
                assert!(tracked.contains(b"a/b.py") && !tracked.contains(b"a/b") && !tracked.contains(b"a"));
                assert_eq!(tracked.below(b"a").count(), 2);
            }
        }
    }

    #[test]
    fn damage_is_no_panic_and_leads_nowhere() {
        let whole = written(4, 20, NAMES);
        for end in 0..whole.len() {
            assert!(read_index(&whole[..end], 20, &|_| None).is_none_or(|tracked| tracked.entries.len() <= 5));
        }
        let mut seed = 1u64;
        for _ in 0..20_000 {
            let mut bytes = whole.clone();
            for _ in 0..3 {
                seed = seed
                    .wrapping_mul(6_364_136_223_846_793_005)
                    .wrapping_add(1_442_695_040_888_963_407);
                let at = (seed >> 33) as usize % bytes.len();
                bytes[at] = (seed >> 25) as u8;
            }
            let tracked = read_index(&bytes, 20, &|_| None).unwrap_or_default();
            assert!(tracked.below(b"").all(|(name, _)| is_plain(name)));
        }
        for name in [
            "../out.py",
            "/etc/passwd",
            "a/../../b",
            "a//b",
            ".git/hooks/x",
            "a/.GIT/x",
        ] {
            let tracked = read_index(&written(2, 20, &[(name, 0o100644, false)]), 20, &|_| None).unwrap();
            assert_eq!(tracked, Tracked::default(), "{name}");
        }
    }

    #[test]
    fn a_split_index_is_its_base_without_what_was_deleted() {
        let base = written(
            2,
            20,
            &[("a", 0o100644, false), ("b", 0o100644, false), ("c", 0o100644, false)],
        );
        let mut own = written(2, 20, &[("", 0o100644, false), ("d", 0o100644, false)]);
        own.truncate(own.len() - 20);
        let mut link = vec![0xab; 20];
        // Three bits in two words: a marker of one literal, and bit 1.
        link.extend(3u32.to_be_bytes());
        link.extend(2u32.to_be_bytes());
        link.extend((1u64 << 33).to_be_bytes());
        link.extend(2u64.to_be_bytes());
        link.extend(0u32.to_be_bytes());
        own.extend(b"link");
        own.extend((link.len() as u32).to_be_bytes());
        own.extend(link);
        own.extend([0; 20]);
        let named = format!("sharedindex.{}", "ab".repeat(20));
        let tracked = read_index(&own, 20, &|name| (name == named).then(|| base.clone())).unwrap();
        let names: Vec<_> = kinds(&tracked).into_iter().map(|(name, _)| name).collect();
        assert_eq!(names, ["a", "c", "d"]);
    }
}
