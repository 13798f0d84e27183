//! What a pasted line says beside its message: when and where it was logged, and as what it was thrown.

/// Tokens of a line that may stand before its message.
const MOST_BEFORE: usize = 9;
/// Words that a message has at least.
const FEWEST_WORDS: usize = 3;

/// A line without the time, level, host and thread of a log; as it is where it has none.
pub(super) fn logged(line: &str) -> &str {
    for key in ["\"msg\":", "\"message\":"] {
        let value = line.split_once(key).map(|(_, value)| value.trim_start());
        if let Some(value) = value.and_then(|value| value.strip_prefix('"')) {
            return value
                .split_once("\",")
                .map_or(value.trim_end_matches(['"', '}']), |(message, _)| message);
        }
    }
    let mut rest = line.trim_start();
    let (mut is_log, mut is_after_month) = (false, false);
    for _ in 0..MOST_BEFORE {
        let token = rest.split_whitespace().next().unwrap_or("");
        let is_part =
            is_time(token) || is_level(token) || is_month(token) || (is_log || is_after_month) && is_place(token);
        is_after_month = is_month(token);
        if !is_part {
            break;
        }
        is_log |= is_time(token);
        rest = rest[token.len()..].trim_start();
    }
    if !is_log {
        return line;
    }
    // The host, the program or the logger: up to `app[12]:`, or to a dash that stands alone.
    let mut after = rest;
    for _ in 0..3 {
        let token = after.split_whitespace().next().unwrap_or("");
        after = after[token.len()..].trim_start();
        if token.ends_with("]:") || token == "-" || token == "|" {
            return after;
        }
    }
    rest
}

/// What stands before a message that was thrown, and the message: `java.lang.IllegalStateException`, `no such cart`.
pub(super) fn thrown(line: &str) -> Option<(&str, &str)> {
    let mut found = None;
    for mark in [": ", ") "] {
        for (at, _) in line.match_indices(mark) {
            let before = line[..at].trim_end_matches(')');
            let kind = before.rsplit([' ', '.', '(', '\\', ':']).next().unwrap_or("");
            let is_kind = ["Exception", "Error", "Warning", "panic", "error", "Exit", "Fault"]
                .iter()
                .any(|end| kind.ends_with(end))
                || before.ends_with("panicked at");
            let message = &line[at + mark.len()..];
            if is_kind && message.split_whitespace().nth(FEWEST_WORDS - 1).is_some() {
                found = found.max(Some(at + mark.len()));
            }
        }
    }
    found.map(|at| line.split_at(at))
}

/// `2026-03-04T11:22:33.123Z`, `[11:22:33,123]`, `1709551353.1`, `E0304`.
fn is_time(token: &str) -> bool {
    let token = token.trim_matches(['[', ']', '(', ')', ',', ':']);
    let digits = token.bytes().filter(u8::is_ascii_digit).count();
    let is_all = token
        .bytes()
        .all(|byte| byte.is_ascii_digit() || b"-:/.,TZ+".contains(&byte));
    let parts = token.split([':', '-', '/']).filter(|part| !part.is_empty()).count();
    let is_short = token.len() == 5 && token.starts_with(['I', 'W', 'E', 'F']) && digits == 4;
    is_all && (parts >= 3 && digits >= 5 || digits >= 10) || is_short
}

fn is_level(token: &str) -> bool {
    let token = token.trim_matches(|c: char| !c.is_ascii_alphanumeric());
    [
        "TRACE", "DEBUG", "INFO", "NOTICE", "WARN", "WARNING", "ERROR", "ERR", "FATAL", "CRITICAL", "PANIC",
    ]
    .iter()
    .any(|level| token.eq_ignore_ascii_case(level))
}

fn is_month(token: &str) -> bool {
    [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    .contains(&token)
}

/// A thread, a process, a day: `(worker-3):`, `[main]`, `4711`.
fn is_place(token: &str) -> bool {
    let is_bracketed = token.starts_with(['[', '(']) && token.trim_end_matches(':').ends_with([']', ')']);
    is_bracketed || !token.is_empty() && token.bytes().all(|byte| byte.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::{logged, thrown};

    #[test]
    fn a_line_of_a_log_is_its_message() {
        for line in [
            "2026-03-04 11:22:33,123 WARNING shop.cart - no such cart",
            "[2026-03-04T11:22:33.123Z] ERROR (worker-3): no such cart",
            "Mar  4 11:22:33 host-1 shop[4711]: no such cart",
            r#"{"level":"warn","ts":1709551353.1,"msg":"no such cart"}"#,
            r#"{"msg":"no such cart","level":"warn"}"#,
            "W0304 11:22:33.123456 1 no such cart",
            "11:22:33.123 [main] INFO no such cart",
            "no such cart",
        ] {
            assert_eq!(logged(line), "no such cart", "{line}");
        }
        for line in ["2 carts at 11:22:33", "ERROR no such cart", "[router] no such cart", ""] {
            assert_eq!(logged(line), line);
        }
    }

    #[test]
    fn what_was_thrown_is_no_part_of_the_message() {
        for line in [
            "java.lang.IllegalStateException: no such cart",
            "panic: no such cart",
            "** (ArgumentError) no such cart",
            "PHP Fatal error:  Uncaught Exception: no such cart",
            "thread 'main' panicked at: no such cart",
        ] {
            assert_eq!(thrown(line).map(|parts| parts.1.trim()), Some("no such cart"), "{line}");
        }
        assert_eq!(thrown("sessions: fix hooks type"), None);
        assert_eq!(thrown("ValueError: cart"), None);
    }
}
