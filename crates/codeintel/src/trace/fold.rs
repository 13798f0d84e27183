//! What a reader of a flow does not look for: logging, metrics, getters, the making of errors, and variants beside the main line.
//!
//! Tables of words, nothing else: a wrong word folds a step, which stays counted and named.

use index::snapshot::SymbolView;

/// Words of a name, a receiver or a path that make a call one of logging or measuring.
const LOGGING: &[&str] = &[
    "log",
    "logs",
    "logger",
    "logging",
    "logf",
    "logln",
    "debug",
    "debugf",
    "warn",
    "warnf",
    "warning",
    "trace",
    "tracing",
    "metric",
    "metrics",
    "telemetry",
    "measure",
    "span",
    "counter",
    "gauge",
    "histogram",
    "print",
    "println",
    "printf",
    "eprintln",
    "console",
    "stats",
    "audit",
    "profiler",
    "instrument",
];

/// Last words of the names of what makes or wraps errors.
const ERRORS: &[&str] = &[
    "error",
    "errorf",
    "err",
    "errors",
    "exception",
    "panic",
    "bail",
    "anyhow",
    "wrap",
    "wrapf",
    "fatal",
    "assert",
    "invariant",
    "abort",
];

/// Words of a name or a path that set a variant aside from the main line.
const ASIDE: &[&str] = &[
    "legacy",
    "deprecated",
    "stdin",
    "mock",
    "mocks",
    "fake",
    "noop",
    "nop",
    "dummy",
    "stub",
    "example",
    "examples",
    "bench",
    "benchmark",
    "benchmarks",
    "debug",
    "sample",
    "samples",
    "fixture",
    "fixtures",
    "playground",
    "vendor",
    "testutil",
    "testutils",
    "testing",
    "dev",
    "drop",
    "dispose",
    "shutdown",
    "teardown",
    "e2e",
    "scripts",
];

/// Words that begin the names of what only says something.
const ASKING: &[&str] = &[
    "get", "is", "has", "can", "len", "name", "id", "string", "to", "as", "copy", "clone", "contains", "equals", "eq",
    "hash", "format", "default", "size", "count", "lock", "unlock", "type", "key", "value",
];

/// Longest function that a name alone makes a getter, in lines.
const SHORT: u32 = 6;

/// Words that begin the names of what does something about an error.
const HANDLING: &[&str] = &["handle", "on", "process", "recover", "report", "raise"];

/// What a call is folded as.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Side {
    Logging,
    Errors,
    Getters,
}

impl Side {
    pub(super) fn word(self) -> &'static str {
        match self {
            Side::Logging => "log and metrics",
            Side::Errors => "errors",
            Side::Getters => "getters",
        }
    }
}

/// What side matter a function is, if any.
pub(super) fn side(symbol: SymbolView<'_>) -> Option<Side> {
    let name = symbol.name();
    let qualified = symbol.qualified_name();
    if words_of(name).any(|word| is_one(LOGGING, word)) || owner_words(&qualified).any(|word| is_one(LOGGING, word)) {
        return Some(Side::Logging);
    }
    let handles = words_of(name).next().is_some_and(|word| is_one(HANDLING, word));
    let is_error = words_of(name).last().is_some_and(|word| is_one(ERRORS, word))
        || owner_words(&qualified).last().is_some_and(|word| is_one(ERRORS, word));
    if is_error && !handles {
        return Some(Side::Errors);
    }
    let span = symbol.span();
    let lines = span.end_line.saturating_sub(span.start_line) + 1;
    let asks = words_of(name).next().is_some_and(|word| is_one(ASKING, word));
    (lines <= 3 || lines <= SHORT && asks).then_some(Side::Getters)
}

/// Whether an external name is one of logging or measuring.
pub(super) fn is_logging(external: &str) -> bool {
    words_of(external).any(|word| is_one(LOGGING, word))
}

/// Whether a function is a variant beside the main line.
pub(super) fn is_aside(symbol: SymbolView<'_>) -> bool {
    words_of(symbol.name()).any(|word| is_one(ASIDE, word))
        || symbol
            .path()
            .split(['/', '.'])
            .any(|part| words_of(part).any(|word| is_one(ASIDE, word)))
        || symbol.doc().starts_with("Deprecated")
}

fn owner_words(qualified: &str) -> impl Iterator<Item = &str> {
    let owner = qualified.rsplit_once('.').map_or("", |(owner, _)| owner);
    words_of(owner)
}

fn is_one(words: &[&str], word: &str) -> bool {
    words.iter().any(|known| known.eq_ignore_ascii_case(word))
}

/// The words of a name: `resetTimer`, `reset_timer`, `HTTPServer`.
pub(super) fn words_of(name: &str) -> impl Iterator<Item = &str> {
    let bytes = name.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && !is_letter(bytes[at]) {
            at += 1;
        }
        let start = at;
        while at < bytes.len() && is_letter(bytes[at]) {
            at += 1;
            let Some(&next) = bytes.get(at) else { break };
            let before = bytes[at - 1];
            let is_start = next.is_ascii_uppercase()
                && (!before.is_ascii_uppercase() || bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase));
            if is_start {
                break;
            }
        }
        name.get(start..at).filter(|word| !word.is_empty())
    })
}

fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte >= 0x80
}

#[cfg(test)]
mod tests {
    use super::words_of;

    #[test]
    fn names_fall_into_words() {
        let words = |name| words_of(name).collect::<Vec<_>>();
        assert_eq!(words("resetHeartbeatTimer"), ["reset", "Heartbeat", "Timer"]);
        assert_eq!(words("HTTPServer_start"), ["HTTP", "Server", "start"]);
        assert_eq!(words("go:log/slog::Info"), ["go", "log", "slog", "Info"]);
        assert_eq!(words("été_ΩX"), ["été", "Ω", "X"]);
        assert_eq!(words("__"), Vec::<&str>::new());
    }
}
