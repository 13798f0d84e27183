//! Paths as text: relative, `/` between components, and lossless, so that any name on disk has one spelling in the index.
//!
//! A backslash, a control character, a mark of direction (which would show a name in another order), a separator of lines and a byte
//! that is not UTF-8 are written `\xNN`; everything else stays as it is.

use std::path::{Path, PathBuf};

use syntax::visible::is_deceptive;

/// The text of a relative path.
pub fn escape_path(path: &Path) -> String {
    let mut text = String::new();
    for component in path.components() {
        if !text.is_empty() {
            text.push('/');
        }
        push_escaped(&mut text, component.as_os_str().as_encoded_bytes());
    }
    text
}

fn push_escaped(text: &mut String, name: &[u8]) {
    for chunk in name.utf8_chunks() {
        for letter in chunk.valid().chars() {
            if letter == '\\' || letter.is_control() || is_deceptive(letter) {
                let mut buffer = [0; 4];
                push_bytes(text, letter.encode_utf8(&mut buffer).as_bytes());
            } else {
                text.push(letter);
            }
        }
        push_bytes(text, chunk.invalid());
    }
}

fn push_bytes(text: &mut String, bytes: &[u8]) {
    for byte in bytes {
        text.push_str(&format!("\\x{byte:02x}"));
    }
}

/// The path that [`escape_path`] gave the text of. Text that it could not have given is taken literally.
pub fn unescape_path(text: &str) -> PathBuf {
    if !text.contains('\\') {
        return PathBuf::from(text);
    }
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let [first, after @ ..] = rest {
        let escaped = after
            .strip_prefix(b"x")
            .filter(|_| *first == b'\\')
            .and_then(|digits| std::str::from_utf8(digits.get(..2)?).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match escaped {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[3..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    from_bytes(bytes)
}

#[cfg(unix)]
pub(super) fn from_bytes(bytes: Vec<u8>) -> PathBuf {
    use std::os::unix::ffi::OsStringExt;
    PathBuf::from(std::ffi::OsString::from_vec(bytes))
}

#[cfg(not(unix))]
pub(super) fn from_bytes(bytes: Vec<u8>) -> PathBuf {
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn odd_names_come_back() {
        for name in [
            &b"plain/name.py"[..],
            b"new\nline.py",
            b"back\\slash.py",
            b"looks\\x41escaped.py",
            b"latin-\xe9.py",
            b"\xff\xfe",
            "größe/ü.rs".as_bytes(),
            "gpj.\u{202e}yp.x".as_bytes(),
            "two\u{2028}lines.py".as_bytes(),
        ] {
            let path = Path::new(OsStr::from_bytes(name));
            let text = escape_path(path);
            assert!(!text.contains(['\n', '\u{202e}', '\u{2028}']));
            assert_eq!(unescape_path(&text), path);
        }
    }
}
