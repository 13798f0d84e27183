//! Bytes to text, whatever the encoding: byte order marks, declared encodings, UTF-8, and a guess where nothing else helps.

use std::borrow::Cow;

use encoding_rs::{Encoding, UTF_8, UTF_16BE, UTF_16LE};

/// Part of every cache key: raise it when [`decode`] changes what it gives.
pub(crate) const DECODE_VERSION: u32 = 1;

/// The text of a file.
pub struct Decoded<'a> {
    /// Without byte order mark. Offsets of symbols count in this text.
    pub text: Cow<'a, str>,
    /// Whether it is not simply the bytes of the file.
    pub converted: bool,
}

/// The text of `bytes`; `None` where they are not text at all.
pub fn decode(bytes: &[u8]) -> Option<Decoded<'_>> {
    let marked = Encoding::for_bom(bytes);
    let is_wide = matches!(marked, Some((encoding, _)) if encoding == UTF_16LE || encoding == UTF_16BE);
    if !is_wide && memchr::memchr(0, &bytes[..bytes.len().min(8192)]).is_some() {
        return None;
    }
    if let Some((encoding, length)) = marked {
        let (text, _) = encoding.decode_without_bom_handling(&bytes[length..]);
        return Some(Decoded { text, converted: true });
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some(Decoded {
            text: Cow::Borrowed(text),
            converted: false,
        });
    }
    let encoding = declared(bytes).unwrap_or_else(|| guessed(bytes));
    let (text, _) = encoding.decode_without_bom_handling(bytes);
    Some(Decoded { text, converted: true })
}

/// The encoding that one of the first two lines names: `# -*- coding: latin-1 -*-`.
fn declared(bytes: &[u8]) -> Option<&'static Encoding> {
    let head = &bytes[..bytes.len().min(512)];
    let line = head
        .split(|&byte| byte == b'\n')
        .take(2)
        .find(|line| memchr::memmem::find(line, b"coding").is_some())?;
    let after = &line[memchr::memmem::find(line, b"coding")? + b"coding".len()..];
    let label = after.strip_prefix(b":").or_else(|| after.strip_prefix(b"="))?;
    let label = label.trim_ascii_start();
    let end = label
        .iter()
        .position(|byte| !byte.is_ascii_alphanumeric() && !b"-_.".contains(byte))
        .unwrap_or(label.len());
    // A file that says UTF-8 and is not gets the guess.
    Encoding::for_label(&label[..end]).filter(|encoding| *encoding != UTF_8)
}

fn guessed(bytes: &[u8]) -> &'static Encoding {
    let mut detector = chardetng::EncodingDetector::new(chardetng::Iso2022JpDetection::Deny);
    detector.feed(&bytes[..bytes.len().min(1 << 16)], true);
    detector.guess(None, chardetng::Utf8Detection::Deny)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(bytes: &[u8]) -> Option<String> {
        decode(bytes).map(|decoded| decoded.text.into_owned())
    }

    #[test]
    fn any_encoding_becomes_text() {
        assert_eq!(text(b"plain").as_deref(), Some("plain"));
        assert_eq!(text(b"\xef\xbb\xbfmarked").as_deref(), Some("marked"));
        assert_eq!(text(b"\xff\xfeh\0i\0").as_deref(), Some("hi"));
        assert_eq!(text(b"\xfe\xff\0h\0i").as_deref(), Some("hi"));
        assert_eq!(
            text(b"# coding: latin-1\nx = '\xe9'").as_deref(),
            Some("# coding: latin-1\nx = 'é'")
        );
        let (japanese, _, _) =
            encoding_rs::SHIFT_JIS.encode("// これは日本語のコメントです。文字コードの判定に使います。\n");
        assert!(text(&japanese).is_some_and(|text| text.contains("日本語")));
    }

    #[test]
    fn binary_is_no_text() {
        assert_eq!(text(b"\x7fELF\0\0\0"), None);
    }

    #[test]
    fn broken_utf8_never_fails() {
        let decoded = decode(b"def f(): pass\xff\xfe\xfd").map(|decoded| decoded.text.into_owned());
        assert!(decoded.is_some_and(|text| text.starts_with("def f(): pass")));
    }
}
