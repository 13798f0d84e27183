//! `file://` addresses and paths. Only plain files are known here: an address of any other scheme has no path.

use std::path::{Path, PathBuf};

/// The address of an absolute path.
pub fn of_path(path: &Path) -> String {
    match path.to_str().filter(|_| cfg!(windows)) {
        Some(path) => of_windows(path),
        None => format!("file://{}", escaped(path.as_os_str().as_encoded_bytes())),
    }
}

/// The path of an address; `None` for other schemes and for bytes that are no text.
pub fn to_path(uri: &str) -> Option<PathBuf> {
    let rest = unescaped(uri.strip_prefix("file://")?)?;
    // An authority is `localhost` or nothing for files of this machine.
    let rest = rest.strip_prefix("localhost").unwrap_or(&rest);
    if cfg!(windows) {
        return to_windows(rest).map(PathBuf::from);
    }
    rest.starts_with('/').then(|| PathBuf::from(rest))
}

/// `C:\a b` is `file:///C:/a%20b`, and `\\host\share` is `file://host/share`, with or without the prefix of long paths.
fn of_windows(path: &str) -> String {
    let path = match path.strip_prefix(r"\\?\UNC\") {
        Some(share) => format!("//{share}"),
        None => path.strip_prefix(r"\\?\").unwrap_or(path).to_string(),
    };
    let path = path.replace('\\', "/");
    match (path.strip_prefix("//"), path.split_once(':')) {
        (Some(share), _) => format!("file://{}", escaped(share.as_bytes())),
        (None, Some((drive, rest))) => format!("file:///{drive}:{}", escaped(rest.as_bytes())),
        (None, None) => format!("file://{}", escaped(path.as_bytes())),
    }
}

/// Servers write drives in either case, and their colon as `%3A` too; the system writes them large.
fn to_windows(path: &str) -> Option<String> {
    let path = path.replace('/', "\\");
    let Some(local) = path.strip_prefix('\\') else {
        return (!path.is_empty()).then(|| format!(r"\\{path}"));
    };
    let (drive, rest) = local.split_once(':')?;
    let is_drive = drive.len() == 1 && drive.bytes().all(|byte| byte.is_ascii_alphabetic());
    is_drive.then(|| format!("{}:{rest}", drive.to_ascii_uppercase()))
}

fn escaped(path: &[u8]) -> String {
    let mut text = String::with_capacity(path.len());
    for &byte in path {
        if byte.is_ascii_alphanumeric() || b"/-_.~".contains(&byte) {
            text.push(char::from(byte));
        } else {
            text.push_str(&format!("%{byte:02X}"));
        }
    }
    text
}

fn unescaped(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut left = text.bytes();
    while let Some(byte) = left.next() {
        if byte == b'%' {
            let (high, low) = (digit(left.next()?)?, digit(left.next()?)?);
            bytes.push(high << 4 | low);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok()
}

fn digit(byte: u8) -> Option<u8> {
    char::from(byte).to_digit(16).map(|digit| digit as u8)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{of_path, of_windows, to_path, to_windows, unescaped};

    #[test]
    fn drives_and_shares_survive() {
        for (path, uri) in [
            (r"C:\a b\ü.rs", "file:///C:/a%20b/%C3%BC.rs"),
            (r"\\host\share\x", "file://host/share/x"),
        ] {
            assert_eq!(of_windows(path), uri);
            let rest = unescaped(uri.strip_prefix("file://").unwrap()).unwrap();
            assert_eq!(to_windows(&rest).unwrap(), path);
        }
        assert_eq!(of_windows(r"\\?\C:\a"), "file:///C:/a");
        assert_eq!(of_windows(r"\\?\UNC\host\share"), "file://host/share");
        assert_eq!(to_windows("/c:/a").unwrap(), r"C:\a");
        for path in ["/a", "", "/cd:/a"] {
            assert_eq!(to_windows(path), None, "{path}");
        }
    }

    #[cfg(unix)]
    #[test]
    fn odd_names_survive() {
        for path in ["/a/b.rs", "/a b/ü%20#?.py", "/日本/x"] {
            assert_eq!(to_path(&of_path(Path::new(path))).unwrap(), Path::new(path));
        }
        assert_eq!(of_path(Path::new("/a b")), "file:///a%20b");
    }

    #[cfg(unix)]
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
