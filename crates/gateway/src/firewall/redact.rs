//! Masks credentials in text on its way to a model. Only shapes that are unmistakable: a mask on innocent text costs the
//! agent facts, so guessing by entropy is out.
//!
//! One pass over a few literal prefixes decides whether any pattern is worth running, so clean text costs almost nothing.

use std::borrow::Cow;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use regex::Regex;
use serde_json::Value;

/// A kind of secret: what it is called in the mask, literals one of which every match contains, and its shape.
/// A pattern with a group `secret` masks only that group.
const KINDS: &[(&str, &[&str], &str)] = &[
    (
        "private key",
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
        "password",
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

/// `text` with every secret replaced by `[redacted: kind]`.
pub(crate) fn redact(text: &str) -> Cow<'_, str> {
    let redactor = &*REDACTOR;
    let mut present = [false; KINDS.len()];
    for found in redactor.literals.find_overlapping_iter(text) {
        present[redactor.owners[found.pattern().as_usize()]] = true;
    }
    let mut text = Cow::Borrowed(text);
    for (kind, _) in present.iter().enumerate().filter(|(_, present)| **present) {
        let name = KINDS[kind].0;
        let masked = redactor.patterns[kind].replace_all(&text, |captures: &regex::Captures<'_>| {
            let whole = captures.get_match();
            match captures.name("secret") {
                Some(secret) => {
                    let before = &whole.as_str()[..secret.start() - whole.start()];
                    let after = &whole.as_str()[secret.end() - whole.start()..];
                    format!("{before}[redacted: {name}]{after}")
                }
                None => format!("[redacted: {name}]"),
            }
        });
        if let Cow::Owned(masked) = masked {
            text = Cow::Owned(masked);
        }
    }
    text
}

/// Redacts every string of a value, keys included.
pub(crate) fn redact_value(value: &mut Value) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(masked) = redact(text) {
                *text = masked;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redact_value),
        Value::Object(fields) => {
            if fields.keys().any(|key| matches!(redact(key), Cow::Owned(_))) {
                let old = std::mem::take(fields);
                fields.extend(old.into_iter().map(|(key, value)| (redact(&key).into_owned(), value)));
            }
            fields.values_mut().for_each(redact_value);
        }
        _ => {}
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
            assert_eq!(redact(&text), expected);
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
            assert!(matches!(redact(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn values_are_redacted_inside_and_in_keys() {
        let secret = format!("ghp_{}", "a1B2".repeat(9));
        let mut value = serde_json::json!({"list": [{"token": secret}], secret.as_str(): 1});
        redact_value(&mut value);
        assert_eq!(
            value,
            serde_json::json!({"list": [{"token": "[redacted: github token]"}], "[redacted: github token]": 1})
        );
    }
}
