//! A file as it is spelled on disk: its encoding, its mark, its line ends and its permissions, so that an edit changes nothing
//! but the text it is about.

use std::path::{Component, Path, PathBuf};

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE, WINDOWS_1252};

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
        OnDisk::decode(path, &std::fs::read(&place).map_err(io(&place))?)
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

    /// `inserted` with the line ends that most lines of this file have.
    pub fn with_line_ends(&self, inserted: &str) -> String {
        let all = self.text.matches('\n').count();
        let windows = self.text.matches("\r\n").count();
        let plain = inserted.replace("\r\n", "\n");
        if windows * 2 > all {
            plain.replace('\n', "\r\n")
        } else {
            plain
        }
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
    if relative
        .components()
        .any(|part| matches!(part.as_os_str().to_str(), Some(".git" | ".lacon")))
    {
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
    if resolved.strip_prefix(&root).is_ok_and(|inside| {
        inside
            .components()
            .any(|part| matches!(part.as_os_str().to_str(), Some(".git" | ".lacon")))
    }) {
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
        let windows = OnDisk::decode("f", b"a\r\nb\r\nc\n").unwrap();
        assert_eq!(windows.with_line_ends("x\ny\r\n"), "x\r\ny\r\n");
        let unix = OnDisk::decode("f", b"a\n").unwrap();
        assert_eq!(unix.with_line_ends("x\r\ny\n"), "x\ny\n");
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
