//! A file as it is spelled on disk: its encoding, its mark, its line ends and its permissions, so that an edit changes nothing
//! but the text it is about.

use std::ops::Range;
use std::path::{Component, Path, PathBuf};

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

use super::guarded::belongs_to_a_tool;
use super::{EditError, io};

/// The largest file that is edited.
const SIZE_LIMIT: u64 = 64 << 20;

/// A file's text and how it is written.
#[derive(Clone, Debug)]
pub struct OnDisk {
    /// Exactly what the file says, line ends included, without the mark.
    pub text: String,
    /// Identifies the bytes that were read.
    pub hash: blake3::Hash,
    encoding: &'static Encoding,
    has_mark: bool,
}

impl OnDisk {
    /// Reads `path`, which must lie inside `root`.
    pub fn read(root: &Path, path: &str) -> Result<OnDisk, EditError> {
        let place = confined(root, path)?;
        let size = std::fs::metadata(&place).map_err(io(&place))?;
        if !size.is_file() {
            return Err(not_text(path, "it is not a regular file"));
        }
        if size.len() > SIZE_LIMIT {
            return Err(not_text(path, "it is larger than 64 MiB"));
        }
        let bytes = super::folder::read(root, &place).map_err(io(&place))?;
        let bytes = bytes.ok_or_else(|| io(&place)(std::io::ErrorKind::NotFound.into()))?;
        OnDisk::decode(path, &bytes)
    }

    /// Reads the bytes of a file.
    pub fn decode(path: &str, bytes: &[u8]) -> Result<OnDisk, EditError> {
        let (encoding, mark) = match Encoding::for_bom(bytes) {
            Some((encoding, length)) => (encoding, length),
            None if std::str::from_utf8(bytes).is_ok() => (UTF_8, 0),
            None if bytes.contains(&0) => return Err(not_text(path, "it has zero bytes")),
            // Every byte means something in it, so nothing is lost on the way back.
            None => (WINDOWS_1252, 0),
        };
        let Some(text) = encoding.decode_without_bom_handling_and_without_replacement(&bytes[mark..]) else {
            return Err(not_text(path, "its bytes are not valid in its encoding"));
        };
        let read = OnDisk {
            text: text.into_owned(),
            hash: blake3::hash(bytes),
            encoding,
            has_mark: mark > 0,
        };
        if read.encode(path, &read.text)? != bytes {
            return Err(not_text(path, "its bytes would not come back the same"));
        }
        Ok(read)
    }

    /// `text` as the bytes of this file.
    pub fn encode(&self, path: &str, text: &str) -> Result<Vec<u8>, EditError> {
        let mut bytes = Vec::with_capacity(text.len() + 3);
        let utf_16 = |bytes: &mut Vec<u8>, spell: fn(u16) -> [u8; 2]| {
            if self.has_mark {
                bytes.extend(spell(0xFEFF));
            }
            bytes.extend(text.encode_utf16().flat_map(spell));
        };
        if self.encoding == UTF_16LE {
            utf_16(&mut bytes, u16::to_le_bytes);
        } else if self.encoding == UTF_16BE {
            utf_16(&mut bytes, u16::to_be_bytes);
        } else if self.encoding == UTF_8 {
            if self.has_mark {
                bytes.extend([0xEF, 0xBB, 0xBF]);
            }
            bytes.extend(text.as_bytes());
        } else {
            let (encoded, _, lossy) = self.encoding.encode(text);
            if lossy {
                let mut buffer = [0; 4];
                let cannot = |character: &char| self.encoding.encode(character.encode_utf8(&mut buffer)).2;
                return Err(EditError::Unwritable {
                    path: path.to_owned(),
                    encoding: self.encoding.name(),
                    character: text.chars().find(cannot).unwrap_or('?'),
                });
            }
            bytes.extend_from_slice(&encoded);
        }
        Ok(bytes)
    }

    /// `inserted` with the line ends of this file, where it takes the place of `range`. Where the file mixes them, a line that stays
    /// keeps its own, and a new one gets that of the line before it.
    pub fn with_line_ends(&self, range: Range<usize>, inserted: &str) -> String {
        let all = self.text.matches('\n').count();
        let windows = self.text.matches("\r\n").count();
        let plain = inserted.replace("\r\n", "\n");
        let mostly_windows = windows * 2 > all;
        if windows == 0 || windows == all {
            return match mostly_windows {
                true => plain.replace('\n', "\r\n"),
                false => plain,
            };
        }
        let replaced = self.text.get(range.clone()).unwrap_or_default();
        let bare = |line: &str| line.trim_end_matches(['\r', '\n']).to_owned();
        let old: Vec<&str> = replaced.split_inclusive('\n').collect();
        let new: Vec<&str> = plain.split_inclusive('\n').collect();
        let (old_bare, new_bare): (Vec<String>, Vec<String>) = (
            old.iter().map(|line| bare(line)).collect(),
            new.iter().map(|line| bare(line)).collect(),
        );
        // For each new line the old one that it is, or that it stands in for.
        let mut stands_for: Vec<Option<usize>> = vec![None; new.len()];
        for operation in similar::capture_diff_slices(similar::Algorithm::Patience, &old_bare, &new_bare) {
            let (_, old, new) = operation.as_tag_tuple();
            for (old, new) in old.zip(new) {
                stands_for[new] = Some(old);
            }
        }
        let before = self.text.get(..range.start).unwrap_or_default();
        let mut is_windows = match before.rfind('\n') {
            Some(end) => before[..end].ends_with('\r'),
            None => mostly_windows,
        };
        let mut spelled = String::with_capacity(plain.len() + new.len());
        for (line, stands_for) in new.iter().zip(stands_for) {
            let known = stands_for.map(|number| old[number]).filter(|old| old.ends_with('\n'));
            is_windows = known.map_or(is_windows, |old| old.ends_with("\r\n"));
            match line.strip_suffix('\n') {
                Some(text) if is_windows => spelled.extend([text, "\r\n"]),
                _ => spelled.push_str(line),
            }
        }
        spelled
    }
}

/// Where `path` is, if it is inside `root` once all links are followed, and not among what tools keep for themselves.
/// The file itself need not exist; the last directory that exists decides.
pub fn confined(root: &Path, path: &str) -> Result<PathBuf, EditError> {
    let refuse = |reason| {
        Err(EditError::Confined {
            path: path.to_owned(),
            reason,
        })
    };
    let relative = Path::new(path);
    if path.is_empty() || path.contains('\0') {
        return refuse("it is not a file name");
    }
    if !relative
        .components()
        .all(|part| matches!(part, Component::Normal(_) | Component::CurDir))
    {
        return refuse("it leaves the repository");
    }
    if belongs_to_a_tool(path) {
        return refuse("it belongs to a tool");
    }
    let root = root.canonicalize().map_err(io(root))?;
    let place = root.join(relative);
    let mut existing = place.as_path();
    let resolved = loop {
        match existing.canonicalize() {
            Ok(resolved) => break resolved,
            // A link to nowhere would be followed by whoever creates the file.
            Err(_) if existing.is_symlink() => return refuse("it is a link to nowhere"),
            Err(error) => match existing.parent() {
                Some(parent) if parent.starts_with(&root) => existing = parent,
                _ => return Err(io(place.clone())(error)),
            },
        }
    };
    if !resolved.starts_with(&root) {
        return refuse("a link leads it out of the repository");
    }
    let rest = place.strip_prefix(existing).unwrap_or(Path::new(""));
    let resolved = if rest.as_os_str().is_empty() {
        resolved
    } else {
        resolved.join(rest)
    };
    let inside = resolved.strip_prefix(&root).unwrap_or(&resolved);
    if belongs_to_a_tool(&inside.to_string_lossy()) {
        return refuse("it belongs to a tool");
    }
    Ok(resolved)
}

fn not_text(path: &str, reason: &'static str) -> EditError {
    EditError::NotText {
        path: path.to_owned(),
        reason,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spelling_comes_back() {
        let spellings: [&[u8]; 6] = [
            b"plain\nlines\r\n",
            b"\xEF\xBB\xBFwith a mark",
            b"\xFF\xFEh\0i\0\n\0",
            b"\xFE\xFF\0h\0i",
            b"caf\xE9 \x80",
            b"",
        ];
        for bytes in spellings {
            let read = OnDisk::decode("f", bytes).unwrap();
            assert_eq!(read.encode("f", &read.text).unwrap(), bytes);
        }
        assert!(OnDisk::decode("f", b"\x80\0\xFF").is_err());
    }

    #[test]
    fn a_character_that_the_encoding_lacks_is_named() {
        let read = OnDisk::decode("f", b"caf\xE9").unwrap();
        let error = read.encode("f", "café →").unwrap_err();
        assert!(error.to_string().contains("has no `→`"), "{error}");
    }

    #[test]
    fn inserted_lines_end_like_the_others() {
        let windows = OnDisk::decode("f", b"a\r\nb\r\nc\r\n").unwrap();
        assert_eq!(windows.with_line_ends(0..0, "x\ny\r\n"), "x\r\ny\r\n");
        let unix = OnDisk::decode("f", b"a\n").unwrap();
        assert_eq!(unix.with_line_ends(0..0, "x\r\ny\n"), "x\ny\n");
    }

    #[test]
    fn lines_that_stay_keep_their_ends_in_a_mixed_file() {
        let mixed = OnDisk::decode("f", b"one\r\ntwo\nthree\r\nfour\nfive\nsix\n").unwrap();
        let spelled = |old: &str, new: &str| {
            let start = mixed.text.find(old).unwrap();
            mixed.with_line_ends(start..start + old.len(), new)
        };
        let old = "one\r\ntwo\nthree\r\nfour\n";
        assert_eq!(spelled(old, "one\ntwo\nthree\nfour\n"), old);
        assert_eq!(spelled(old, "one\nTWO\nthree\nfour\n"), "one\r\nTWO\nthree\r\nfour\n");
        assert_eq!(
            spelled(old, "one\nnew\ntwo\nthree\nmore\nfour\n"),
            "one\r\nnew\r\ntwo\nthree\r\nmore\r\nfour\n"
        );
        assert_eq!(spelled("four", "4\n4"), "4\r\n4", "as the line before it");
        assert_eq!(mixed.with_line_ends(0..0, "zero\n"), "zero\n", "as most of the file");
    }

    #[test]
    fn nothing_outside_the_root_is_reached() {
        let root = tempfile::tempdir().unwrap();
        let outside = tempfile::tempdir().unwrap();
        std::os::unix::fs::symlink(outside.path(), root.path().join("away")).unwrap();
        std::os::unix::fs::symlink("/nowhere/at/all", root.path().join("dangling")).unwrap();
        std::fs::create_dir_all(root.path().join("src")).unwrap();
        std::os::unix::fs::symlink("src", root.path().join("inside")).unwrap();
        for refused in [
            "../x",
            "/etc/passwd",
            "away/x",
            "dangling",
            ".git/config",
            "src/.lacon/x",
            ".GIT/hooks/pre-commit",
            ".git. /config",
            "git~1/config",
            "",
            "a\0b",
        ] {
            assert!(confined(root.path(), refused).is_err(), "{refused:?}");
        }
        let root_path = root.path().canonicalize().unwrap();
        assert_eq!(
            confined(root.path(), "inside/new/x.rs").unwrap(),
            root_path.join("src/new/x.rs")
        );
    }
}
