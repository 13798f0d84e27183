//! Places that a pasted text names by line: frames of stack traces in the forms of a dozen languages, compilers' messages, `path:line`.
//!
//! All of these forms have a file's name, and its line a few characters on: `File "a.py", line 3, in f`, `at f (a.js:3:7)`, `A.f(A.java:3)`,
//! `a.go:3 +0x1d`, `in a.cs:line 3`, `#0 a.php(3): f()`, `--> a.rs:3:5`. So one scan finds them all.

/// A place in a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Frame {
    /// As written.
    pub(super) path: String,
    pub(super) line: u32,
    /// The function that it names; empty where it names none.
    pub(super) function: String,
}

/// Longest line that is looked at, and longest path.
const LONGEST: usize = 2_000;
const LONGEST_PATH: usize = 400;
/// What may stand between a path and its line.
const BETWEEN: &[&str] = &[":line ", "\", line ", "', line ", ", line ", ":", "("];

/// The place that a line names, where naming it is what the line is for.
pub(super) fn of_line(line: &str) -> Option<Frame> {
    if line.len() > LONGEST {
        return None;
    }
    let (start, end, number) = place(line)?;
    let path = &line[start..end];
    let before = line[..start].trim();
    let rest = line[end..].trim();
    let is_frame = before.is_empty()
        || before.ends_with(['(', '[', '"', '@'])
        || before.ends_with("-->")
        || ["at", "in", "from", "File"].contains(&before.rsplit(' ').next().unwrap_or(""))
        || before.ends_with("file:")
        || before.starts_with('#');
    if !is_frame {
        return None;
    }
    Some(Frame {
        path: path.to_owned(),
        line: number,
        function: function(before, rest),
    })
}

/// The place that a sentence mentions.
pub(super) fn in_prose(line: &str) -> Option<Frame> {
    if line.len() > LONGEST {
        return None;
    }
    let (start, end, number) = place(line)?;
    Some(Frame {
        path: line[start..end].to_owned(),
        line: number,
        function: String::new(),
    })
}

/// A path with an extension, and the number that follows it.
fn place(line: &str) -> Option<(usize, usize, u32)> {
    for between in BETWEEN {
        for (at, _) in line.match_indices(between) {
            let digits = &line[at + between.len()..];
            let length = digits.bytes().take_while(u8::is_ascii_digit).count();
            let Some(number) = digits[..length].parse().ok().filter(|number| *number > 0) else {
                continue;
            };
            let is_part =
                |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '\\' | '@' | '+' | '~' | '$');
            let start = line[..at].rfind(|c: char| !is_part(c)).map_or(0, |before| {
                before + line[before..].chars().next().map_or(1, char::len_utf8)
            });
            let path = &line[start..at];
            let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
            let has_extension = name
                .rsplit_once('.')
                .is_some_and(|(stem, extension)| !stem.is_empty() && is_extension(extension));
            if has_extension && path.len() <= LONGEST_PATH {
                return Some((start, at, number));
            }
        }
    }
    None
}

fn is_extension(text: &str) -> bool {
    (1..=6).contains(&text.len())
        && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
        && text.starts_with(|c: char| c.is_ascii_alphabetic())
}

/// The function that stands before a place (`at Object.f (`, `A.f(`) or after it (`, in f`, ":in `f'", `: f()`).
fn function(before: &str, rest: &str) -> String {
    let after = ["in `", "in '", "in ", "): "]
        .iter()
        .find_map(|mark| rest.split_once(mark).map(|(_, after)| after));
    let text = match after {
        Some(after) => after,
        None => {
            let before = before.trim_end_matches([' ', '(', '"', '[', '@']);
            let last = before.rsplit([' ', '\t']).next().unwrap_or("");
            if matches!(last, "at" | "in" | "File" | "from" | "-->") {
                ""
            } else {
                last
            }
        }
    };
    let name: String = text
        .chars()
        .take_while(|&c| c.is_alphanumeric() || matches!(c, '_' | '.' | ':' | '$' | '#' | '<' | '>' | '!' | '?'))
        .collect();
    let last = name.rsplit(['.', ':', '$', '#']).next().unwrap_or("");
    if last.starts_with('<') {
        String::new()
    } else {
        last.to_owned()
    }
}

/// Whether a line only announces a trace.
pub(super) fn is_heading(line: &str) -> bool {
    let line = line.trim();
    [
        "Traceback (most recent call last)",
        "goroutine ",
        "stack backtrace:",
        "Stack trace:",
        "Call Stack",
        "Caused by: at",
    ]
    .iter()
    .any(|heading| line.starts_with(heading))
}

/// Python writes the innermost frame last, everyone else first.
pub(super) fn innermost_first(frames: &mut Vec<Frame>, text: &str) {
    if text.contains("most recent call last") {
        frames.reverse();
    }
    let mut seen: Vec<Frame> = Vec::new();
    frames.retain(|frame| {
        let is_new = seen.len() < MOST && !seen.contains(frame);
        if is_new {
            seen.push(frame.clone());
        }
        is_new
    });
}

/// Most frames that are places.
const MOST: usize = 32;

#[cfg(test)]
mod tests {
    use super::of_line;

    #[test]
    fn frames_of_many_languages_are_places() {
        for (line, path, number, function) in [
            (
                r#"  File "/app/shop/cart.py", line 12, in total"#,
                "/app/shop/cart.py",
                12,
                "total",
            ),
            ("    at Cart.total (src/cart.js:12:7)", "src/cart.js", 12, "total"),
            (
                "    at async file:///srv/src/cart.mjs:12:7",
                "///srv/src/cart.mjs",
                12,
                "async",
            ),
            ("\tat com.shop.Cart.total(Cart.java:12)", "Cart.java", 12, "total"),
            ("\t/go/src/shop/cart.go:12 +0x1d", "/go/src/shop/cart.go", 12, ""),
            (
                "   at Shop.Cart.Total() in /src/Shop/Cart.cs:line 12",
                "/src/Shop/Cart.cs",
                12,
                "",
            ),
            (
                "#0 /srv/src/Cart.php(12): Shop\\Cart->total()",
                "/srv/src/Cart.php",
                12,
                "Shop",
            ),
            ("lib/cart.rb:12:in `total'", "lib/cart.rb", 12, "total"),
            ("lib/cart.rb:12:in `pay!'", "lib/cart.rb", 12, "pay!"),
            ("  --> src/cart.rs:12:5", "src/cart.rs", 12, ""),
            ("             at ./src/cart.rs:12:5", "./src/cart.rs", 12, ""),
            ("src/cart.c:12: error: expected ';'", "src/cart.c", 12, ""),
            ("src/cart.rs:12", "src/cart.rs", 12, ""),
        ] {
            let frame = of_line(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!((frame.path.as_str(), frame.line), (path, number), "{line}");
            if !matches!(function, "async" | "Shop" | "") {
                assert_eq!(frame.function, function, "{line}");
            }
        }
        for line in [
            "",
            "ratio 3:4",
            "see e.g.:12",
            "listen on 127.0.0.1:8080",
            "the host example.com:443 refused",
            "the file src/cart.rs:12 is wrong here",
        ] {
            assert_eq!(of_line(line), None, "{line}");
        }
    }
}
