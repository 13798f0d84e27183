//! Which texts are credentials, and what stands in their place. Only shapes that are unmistakable: a mask on innocent text costs the
//! agent facts, so guessing by entropy is out.
//!
//! One pass over a few literal prefixes decides whether any pattern is worth running, so clean text costs almost nothing. What comes
//! from other servers is masked on doubt; code is not: it speaks of keys and passwords all the time, and must stay readable.

#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod private_key;

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;
use serde_json::Value;

const PRIVATE_KEY: &str = "private key";
const PASSWORD: &str = "password";

/// What happens to text that has the shape of a credential and may still be none: a placeholder, or code that builds a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Doubt {
    Mask,
    Show,
}

/// A kind of secret: what it is called in the mask, literals one of which every match contains, and its shape.
/// A pattern with a group `secret` masks only that group.
const KINDS: &[(&str, &[&str], &str)] = &[
    (
        PRIVATE_KEY,
        &["PRIVATE KEY-----"],
        r"-----BEGIN (?:[A-Z]+ )*PRIVATE KEY-----(?s:.*?)(?:-----END (?:[A-Z]+ )*PRIVATE KEY-----|\z)",
    ),
    (
        "github token",
        &["ghp_", "gho_", "ghu_", "ghs_", "ghr_"],
        r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b",
    ),
    ("github token", &["github_pat_"], r"\bgithub_pat_[A-Za-z0-9_]{22,255}\b"),
    ("gitlab token", &["glpat-"], r"\bglpat-[A-Za-z0-9_-]{20,}"),
    ("slack token", &["xox"], r"\bxox[abeoprs]-[A-Za-z0-9-]{10,}"),
    (
        "slack webhook",
        &["hooks.slack.com/"],
        r"https://hooks\.slack\.com/services/[A-Za-z0-9/]{20,}",
    ),
    ("aws key", &["AKIA", "ASIA"], r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"),
    (
        "aws secret",
        &["aws_secret", "AWS_SECRET", "SecretAccessKey"],
        r#"(?i)(?:aws_secret_access_key|secretaccesskey)["']?\s*[:=]\s*["']?(?P<secret>[A-Za-z0-9/+=]{40})"#,
    ),
    ("google key", &["AIza"], r"\bAIza[0-9A-Za-z_-]{35}\b"),
    ("google token", &["ya29."], r"\bya29\.[0-9A-Za-z_-]{20,}"),
    ("anthropic key", &["sk-ant-"], r"\bsk-ant-[A-Za-z0-9_-]{20,}"),
    (
        "api key",
        &["sk-proj-", "sk-svcacct-"],
        r"\bsk-(?:proj|svcacct)-[A-Za-z0-9_-]{20,}",
    ),
    ("api key", &["sk-"], r"\bsk-[A-Za-z0-9]{32,}\b"),
    (
        "stripe key",
        &["sk_live_", "rk_live_", "whsec_"],
        r"\b(?:sk_live|rk_live|whsec)_[A-Za-z0-9]{16,}",
    ),
    ("npm token", &["npm_"], r"\bnpm_[A-Za-z0-9]{36}\b"),
    ("pypi token", &["pypi-AgE"], r"\bpypi-AgE[A-Za-z0-9_-]{50,}"),
    ("hugging face token", &["hf_"], r"\bhf_[A-Za-z0-9]{30,}\b"),
    (
        "sendgrid key",
        &["SG."],
        r"\bSG\.[A-Za-z0-9_-]{16,}\.[A-Za-z0-9_-]{16,}",
    ),
    (
        "web token",
        &["eyJ"],
        r"\beyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}",
    ),
    (
        "bearer token",
        &["earer "],
        r#"(?i)\bauthorization["']?\s*[:=]\s*["']?bearer\s+(?P<secret>[A-Za-z0-9._~+/=-]{16,})"#,
    ),
    (
        "digitalocean token",
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        r"\bdo[opr]_v1_[a-f0-9]{64}\b",
    ),
    (
        "shopify token",
        &["shpat_", "shpss_", "shpca_", "shppa_"],
        r"\bshp(?:at|ss|ca|pa)_[a-fA-F0-9]{32}\b",
    ),
    ("docker token", &["dckr_pat_"], r"\bdckr_pat_[A-Za-z0-9_-]{20,}"),
    (
        "azure key",
        &["AccountKey="],
        r"\bAccountKey=(?P<secret>[A-Za-z0-9+/]{86}==)",
    ),
    ("age key", &["AGE-SECRET-KEY-1"], r"\bAGE-SECRET-KEY-1[0-9A-Z]{58}\b"),
    (
        PASSWORD,
        &["://"],
        r"\b[a-z][a-z0-9+.-]*://[^\s:/@]{1,64}:(?P<secret>[^\s:/@]{3,128})@",
    ),
];

struct Redactor {
    literals: AhoCorasick,
    /// The kind each literal belongs to.
    owners: Vec<usize>,
    patterns: Vec<Regex>,
}

static REDACTOR: LazyLock<Redactor> = LazyLock::new(|| {
    let mut literals = Vec::new();
    let mut owners = Vec::new();
    for (kind, (_, needles, _)) in KINDS.iter().enumerate() {
        for needle in *needles {
            literals.push(*needle);
            owners.push(kind);
        }
    }
    Redactor {
        literals: AhoCorasick::new(literals).expect("literals that build"),
        owners,
        patterns: KINDS
            .iter()
            .map(|(_, _, pattern)| Regex::new(pattern).expect("a valid pattern"))
            .collect(),
    }
});

/// Whether anything in `text` is worth a closer look. Almost free.
pub fn may_hold(text: &str) -> bool {
    REDACTOR.literals.is_match(text)
}

/// `text` with every secret replaced by `[redacted: kind]`.
pub fn redact(text: &str, doubt: Doubt) -> Cow<'_, str> {
    let redactor = &*REDACTOR;
    let mut present = [false; KINDS.len()];
    for found in redactor.literals.find_overlapping_iter(text) {
        present[redactor.owners[found.pattern().as_usize()]] = true;
    }
    let mut text = Cow::Borrowed(text);
    for (kind, _) in present.iter().enumerate().filter(|(_, present)| **present) {
        let name = KINDS[kind].0;
        let masked = match (name, doubt) {
            (PRIVATE_KEY, Doubt::Show) => private_key::masked(&text, &mask(name)),
            _ => replaced(&text, &redactor.patterns[kind], name, doubt),
        };
        if let Cow::Owned(masked) = masked {
            text = Cow::Owned(masked);
        }
    }
    text
}

fn replaced<'a>(text: &'a str, pattern: &Regex, name: &str, doubt: Doubt) -> Cow<'a, str> {
    pattern.replace_all(text, |captures: &regex::Captures<'_>| {
        let whole = captures.get_match();
        let secret = captures.name("secret");
        let stands_for_one = match name {
            PASSWORD => secret.is_some_and(|secret| is_placeholder(secret.as_str(), whole.as_str())),
            _ => is_made_up(secret.unwrap_or(whole).as_str()),
        };
        if doubt == Doubt::Show && stands_for_one {
            return whole.as_str().to_owned();
        }
        let Some(secret) = secret else {
            return mask(name);
        };
        let before = &whole.as_str()[..secret.start() - whole.start()];
        let after = &whole.as_str()[secret.end() - whole.start()..];
        format!("{before}{}{after}", mask(name))
    })
}

fn mask(kind: &str) -> String {
    format!("{MASK}{kind}]")
}

const MASK: &str = "[redacted: ";

/// The first mask in `text`: what must never be written in the place of what it stands for.
pub fn mask_in(text: &str) -> Option<&str> {
    masks_in(text).next()
}

/// Every mask in `text`.
pub fn masks_in(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices(MASK).filter_map(|(at, _)| {
        let kind = text[at + MASK.len()..].split(']').next()?;
        let is_known = KINDS.iter().any(|(known, _, _)| *known == kind);
        is_known.then(|| &text[at..at + MASK.len() + kind.len() + 1])
    })
}

/// Whether the password of an address stands for another: a variable, a format's hole, or the word itself.
fn is_placeholder(password: &str, address: &str) -> bool {
    const WORDS: [&str; 11] = [
        "password",
        "passwd",
        "pass",
        "pwd",
        "secret",
        "pw",
        "token",
        "key",
        "user",
        "example",
        "x-oauth-basic",
    ];
    let holds_hole = password.contains(['{', '}', '<', '>', '$', '*', '(', ')', '[', '"', '\'', '`']);
    let is_word = WORDS.iter().any(|word| password.eq_ignore_ascii_case(word));
    let is_marked = password.starts_with('%') || password.chars().all(|letter| matches!(letter, 'x' | 'X' | '.' | '-'));
    // `guest:guest` is what everybody knows.
    let user = address.split_once("://").and_then(|(_, rest)| rest.split(':').next());
    holds_hole || is_word || is_marked || user == Some(password)
}

/// Whether a token was made up to be read: words (`test-access-token`), one letter over and over, or one that says it is an example.
fn is_made_up(token: &str) -> bool {
    let says_so = ["example", "redacted", "placeholder", "your-", "your_"]
        .iter()
        .any(|word| token.to_ascii_lowercase().contains(word));
    let is_words = token
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || b"-_.".contains(&byte))
        && token.contains(['-', '_']);
    let end = token.rsplit(['-', '_']).next().unwrap_or(token);
    let is_one_letter = end.len() >= 8 && end.bytes().all(|byte| Some(byte) == end.bytes().next());
    says_so || is_words || is_one_letter
}

/// Redacts every string of a value, keys included. Whether there was anything to redact.
pub fn redact_value(value: &mut Value, doubt: Doubt) -> bool {
    match value {
        Value::String(text) => match redact(text, doubt) {
            Cow::Owned(masked) => {
                *text = masked;
                true
            }
            Cow::Borrowed(_) => false,
        },
        Value::Array(items) => items
            .iter_mut()
            .fold(false, |masked, item| redact_value(item, doubt) | masked),
        Value::Object(fields) => {
            let has_secret_keys = fields.keys().any(|key| matches!(redact(key, doubt), Cow::Owned(_)));
            if has_secret_keys {
                let old = std::mem::take(fields);
                fields.extend(
                    old.into_iter()
                        .map(|(key, value)| (redact(&key, doubt).into_owned(), value)),
                );
            }
            fields
                .values_mut()
                .fold(has_secret_keys, |masked, value| redact_value(value, doubt) | masked)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_shapes_are_masked() {
        let letters = "aB3".repeat(20);
        let cases = [
            (
                format!("token ghp_{} here", &letters[..36]),
                "token [redacted: github token] here".to_owned(),
            ),
            ("key=AKIAIOSFODNN7EXAMPLE.".into(), "key=[redacted: aws key].".into()),
            (
                format!("Authorization: Bearer {}", &letters[..32]),
                "Authorization: Bearer [redacted: bearer token]".into(),
            ),
            (
                "postgres://lacon:hunter22@db/x".into(),
                "postgres://lacon:[redacted: password]@db/x".into(),
            ),
            (
                "a\n-----BEGIN RSA PRIVATE KEY-----\nMIIE\n-----END RSA PRIVATE KEY-----\nb".into(),
                "a\n[redacted: private key]\nb".into(),
            ),
            (
                "-----BEGIN PRIVATE KEY-----\nMIIE and the rest was cut".into(),
                "[redacted: private key]".into(),
            ),
            (format!("sk-ant-api03-{letters}"), "[redacted: anthropic key]".into()),
            (
                format!("eyJ{0}.eyJ{0}.{0}", &letters[..12]),
                "[redacted: web token]".into(),
            ),
        ];
        for (text, expected) in cases {
            assert_eq!(redact(&text, Doubt::Mask), expected);
        }
    }

    #[test]
    fn innocent_text_is_untouched_and_not_copied() {
        for text in [
            "sk-learn, risk-free, task-12",
            "https://example.com:8080/a@b",
            "ghp_short",
            "the Bearer of news",
            "eyJust a word",
            "SG.1 and npm_config_cache=/x",
        ] {
            assert!(
                matches!(redact(text, Doubt::Mask), Cow::Borrowed(same) if same == text),
                "{text}"
            );
        }
    }

    #[test]
    fn values_are_redacted_inside_and_in_keys() {
        let secret = format!("ghp_{}", "a1B2".repeat(9));
        let mut value = serde_json::json!({"list": [{"token": secret}], secret.as_str(): 1});
        assert!(redact_value(&mut value, Doubt::Mask));
        assert_eq!(
            value,
            serde_json::json!({"list": [{"token": "[redacted: github token]"}], "[redacted: github token]": 1})
        );
    }

    /// In code these are innocent, or at least no more than anybody knows.
    #[test]
    fn code_that_speaks_of_credentials_stays_readable() {
        for text in [
            "dsn = f\"postgres://{user}:{password}@{host}/db\"",
            "url: postgres://app:${DB_PASSWORD}@db/x",
            "requests.get('http://user:pass@example.com')",
            "amqp://guest:guest@localhost",
            "mysql://root:%s@tcp",
            "https://abc:x-oauth-basic@github.com",
            "aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
            "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
            "headers = {\"Authorization\": \"Bearer mock-jwt-bearer-access-token\"}",
            "SLACK = 'xoxb-fake-token-for-testing'",
            "sk-ant-test-key-for-mocked-tests",
            "sk-ant-api03-xxxxxxxxxxxxxxxxxxxxxxxxxxxx",
            "sk-00000000000000000000000000000000",
            "if pem.startswith(\"-----BEGIN PRIVATE KEY-----\"):\n    return load_the_key_from_a_very_long_function_name()",
            "\"-----BEGIN RSA PRIVATE KEY-----\\n\" + body + \"\\n-----END RSA PRIVATE KEY-----\"",
        ] {
            assert_eq!(redact(text, Doubt::Show), text);
        }
        let real = redact("postgres://app:h8fKq2xP@db/x", Doubt::Show);
        assert_eq!(real, "postgres://app:[redacted: password]@db/x");
        // What has no word in it is one.
        for (text, masked) in [
            ("AKIA46X5W6CZN24CBO55", "[redacted: aws key]"),
            ("xoxb-1234567890-abcdefghij", "[redacted: slack token]"),
            (
                "Authorization: Bearer abcdef1234567890",
                "Authorization: Bearer [redacted: bearer token]",
            ),
            ("sk-ant-api03-Zm9vYmFyYmF6cXV4", "[redacted: anthropic key]"),
        ] {
            assert_eq!(redact(text, Doubt::Show), masked);
        }
    }

    #[test]
    fn a_mask_is_recognised() {
        let secret = format!("key = ghp_{}", "a1B2".repeat(9));
        let masked = redact(&secret, Doubt::Show);
        assert_eq!(mask_in(&masked), Some("[redacted: github token]"));
        assert_eq!(mask_in(&secret), None);
        assert_eq!(
            mask_in("[redacted: by the court] [redacted: password]"),
            Some("[redacted: password]")
        );
    }

    /// What decides that a text is clean is a literal of each kind: every kind must be found by it.
    #[test]
    fn clean_text_is_known_at_once() {
        assert!(!may_hold(
            "def total(items):\n    return sum(price(item) for item in items)\n"
        ));
        assert!(may_hold("AKIAIOSFODNN7EXAMPLE") && may_hold("x = 'glpat-abc'"));
    }
}
