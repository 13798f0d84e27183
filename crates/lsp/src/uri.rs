//! `file://` addresses and paths. Only plain files are known here: an address of any other scheme has no path.

use std::path::{Path, PathBuf};

/// The address of an absolute path.
pub fn of_path(path: &Path) -> String {
    let mut uri = String::from("file://");
    for &byte in path.as_os_str().as_encoded_bytes() {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

/// The path of an address; `None` for other schemes and for bytes that are no text.
pub fn to_path(uri: &str) -> Option<PathBuf> {
    let rest = uri.strip_prefix("file://")?;
    // An authority is `localhost` or nothing for files of this machine.
    let rest = rest.strip_prefix("localhost").unwrap_or(rest);
    let mut bytes = Vec::with_capacity(rest.len());
    let mut left = rest.bytes();
    while let Some(byte) = left.next() {
        if byte == b'%' {
            let (high, low) = (digit(left.next()?)?, digit(left.next()?)?);
            bytes.push(high << 4 | low);
        } else {
            bytes.push(byte);
        }
    }
    let text = String::from_utf8(bytes).ok()?;
    text.starts_with('/').then(|| PathBuf::from(text))
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{of_path, to_path};

    #[test]
    fn odd_names_survive() {
        for path in ["/a/b.rs", "/a b/ü%20#?.py", "/日本/x"] {
            assert_eq!(to_path(&of_path(Path::new(path))).unwrap(), Path::new(path));
        }
        assert_eq!(of_path(Path::new("/a b")), "file:///a%20b");
    }

    #[test]
    fn what_is_no_file_has_no_path() {
        for uri in [
            "untitled:1",
            "jdt://x",
            "file://%",
            "file://%zz",
            "file://relative",
            "file:///%FF",
        ] {
            assert_eq!(to_path(uri), None, "{uri}");
        }
    }
}
