//! What an upstream returned becomes what a model may see. Small results pass nearly as they came, JSON in fewer tokens;
//! large ones are kept aside and stand as a digest with a handle; credentials are masked in either.
//!
//! Invariant: no text of an upstream reaches a client except through [`Firewall`].

pub(crate) mod digest;
pub(crate) mod lossless;
pub(crate) mod tokens;

use std::borrow::Cow;
use std::time::Instant;

use base64::Engine;
use rmcp::model::{ContentBlock, EmbeddedResource, ResourceContents};
use secrets::{Doubt, redact, redact_value};
use serde_json::{Value, json};

use crate::artifacts::Artifacts;
use crate::config::FirewallConfig;

/// Images, sounds and files up to this many base64 characters pass as they are.
const INLINE_BINARY: usize = 2 << 20;

/// How results are shaped for one session.
pub(crate) struct Firewall<'a> {
    pub(crate) config: &'a FirewallConfig,
    /// Says a value in the format the session reads.
    pub(crate) encode: &'a dyn Fn(&Value) -> String,
    pub(crate) volume: Volume,
    pub(crate) structured: Structured,
    /// The id under which the gateway offers a resource, for links to it.
    pub(crate) resource_id: &'a dyn Fn(&str) -> Option<String>,
}

/// What becomes of a result that is too large.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Volume {
    /// It is kept aside and digested.
    Digest,
    /// It passes: the mode has no way to look at what was kept.
    Whole,
}

/// What becomes of `structuredContent`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Structured {
    /// It is said once, in the text: the tool the client called declares no output schema, so nobody is promised more.
    Fold,
    /// It goes out unchanged beside the text: the client was shown an output schema, or asked for no other format.
    Keep,
}

/// An upstream's result before it is shaped.
#[derive(Clone, Debug, Default)]
pub(crate) struct Raw {
    pub(crate) content: Vec<ContentBlock>,
    pub(crate) structured: Option<Value>,
    pub(crate) is_error: bool,
}

impl Raw {
    /// About how much memory it takes.
    pub(crate) fn bytes(&self) -> usize {
        let block = |block: &ContentBlock| match block {
            ContentBlock::Text(text) => text.text.len(),
            ContentBlock::Image(image) => image.data.len(),
            ContentBlock::Audio(audio) => audio.data.len(),
            ContentBlock::Resource(embedded) => match &embedded.resource {
                ResourceContents::TextResourceContents { text, .. } => text.len(),
                ResourceContents::BlobResourceContents { blob, .. } => blob.len(),
                _ => 0,
            },
            _ => 256,
        };
        let structured = self.structured.as_ref().map_or(0, |value| value.to_string().len());
        self.content.iter().map(block).sum::<usize>() + structured
    }
}

/// A result that may leave.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Shaped {
    pub(crate) content: Vec<ContentBlock>,
    pub(crate) structured: Option<Value>,
    pub(crate) is_error: bool,
    /// Everything of this result that was kept aside.
    pub(crate) artifacts: Vec<Kept>,
}

/// Something kept aside, as the client is told of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Kept {
    pub(crate) handle: String,
    pub(crate) media_type: String,
    pub(crate) bytes: usize,
    pub(crate) label: String,
}

impl Kept {
    pub(crate) fn to_json(&self) -> Value {
        json!({
            "handle": self.handle,
            "media_type": self.media_type,
            "size_bytes": self.bytes,
            "label": self.label,
        })
    }
}

/// One part of a result on its way through.
enum Part {
    Text {
        text: String,
        value: Option<Value>,
        label: String,
        media_type: String,
    },
    Block(ContentBlock),
}

impl Firewall<'_> {
    /// Shapes a result. What is too large goes into `artifacts`.
    pub(crate) fn shape(&self, raw: Raw, artifacts: &mut Artifacts) -> Shaped {
        let mut shaped = Shaped {
            is_error: raw.is_error,
            ..Shaped::default()
        };
        let mut structured = raw.structured;
        if let Some(value) = &mut structured
            && self.config.redact_secrets
        {
            redact_value(value, Doubt::Mask);
        }
        let mut parts: Vec<Part> = raw
            .content
            .into_iter()
            .map(|block| self.part(block, raw.is_error, &mut shaped, artifacts))
            .collect();
        match (structured, self.structured) {
            (Some(value), Structured::Keep) => shaped.structured = Some(value),
            (Some(value), Structured::Fold) if !carried(&value, &parts) => {
                // A text that says less than the value next to it (a preview, say) stays: it may be prose.
                let text = value.to_string();
                let media_type = "application/json".to_owned();
                parts.push(Part::Text {
                    text,
                    value: Some(value),
                    label: "structured".into(),
                    media_type,
                });
            }
            _ => {}
        }
        self.emit(parts, &mut shaped, artifacts);
        shaped
    }

    /// Sends the parts out, digesting the largest first until the rest fits.
    fn emit(&self, parts: Vec<Part>, shaped: &mut Shaped, artifacts: &mut Artifacts) {
        let limit = self.config.inline_tokens;
        let said: Vec<Option<String>> = parts
            .iter()
            .map(|part| match part {
                Part::Text { value: Some(value), .. } if !shaped.is_error && !obviously_over(value, limit) => {
                    Some((self.encode)(value))
                }
                Part::Text { text, .. } => Some(text.clone()),
                Part::Block(_) => None,
            })
            .collect();
        let keep_aside = match self.volume {
            Volume::Whole => vec![false; parts.len()],
            Volume::Digest => over_limit(&said, limit),
        };
        for ((part, said), keep_aside) in parts.into_iter().zip(said).zip(keep_aside) {
            match (part, said) {
                (Part::Block(block), _) => shaped.content.push(block),
                (
                    Part::Text {
                        text,
                        value,
                        label,
                        media_type,
                    },
                    _,
                ) if keep_aside => {
                    let digest = match &value {
                        Some(value) => digest::of_value(value, self.config.digest_tokens, self.encode),
                        None => digest::of_text(&text, self.config.digest_tokens, self.encode),
                    };
                    let kept = keep(artifacts, &media_type, &label, text.into_bytes());
                    let line = format!(
                        "[kept as {}: {}, {}; read parts of it with tool_view]\n{}",
                        kept.handle,
                        digest.what,
                        size(kept.bytes),
                        digest.text
                    );
                    shaped.content.push(ContentBlock::text(line));
                    shaped.artifacts.push(kept);
                }
                (Part::Text { .. }, Some(said)) => shaped.content.push(ContentBlock::text(said)),
                (Part::Text { text, .. }, None) => shaped.content.push(ContentBlock::text(text)),
            }
        }
    }

    fn part(&self, block: ContentBlock, is_error: bool, shaped: &mut Shaped, artifacts: &mut Artifacts) -> Part {
        match block {
            ContentBlock::Text(content) => self.text_part(content.text, "text", "text/plain", is_error),
            ContentBlock::Image(image) if self.volume == Volume::Digest && image.data.len() > INLINE_BINARY => {
                self.binary(&image.data, &image.mime_type, "image", shaped, artifacts)
            }
            ContentBlock::Audio(audio) if self.volume == Volume::Digest && audio.data.len() > INLINE_BINARY => {
                self.binary(&audio.data, &audio.mime_type, "audio", shaped, artifacts)
            }
            ContentBlock::Resource(embedded) => self.resource(embedded, is_error, shaped, artifacts),
            ContentBlock::ResourceLink(link) => match (self.resource_id)(&link.uri) {
                Some(id) => {
                    let name = link.title.as_deref().unwrap_or(&link.name);
                    Part::Block(ContentBlock::text(format!("{name}: resource_read {id}")))
                }
                None => Part::Block(ContentBlock::ResourceLink(link)),
            },
            other => Part::Block(other),
        }
    }

    fn text_part(&self, text: String, label: &str, media_type: &str, is_error: bool) -> Part {
        let text = match self.config.redact_secrets {
            true => match redact(&text, Doubt::Mask) {
                Cow::Owned(masked) => masked,
                Cow::Borrowed(_) => text,
            },
            false => text,
        };
        let value = if is_error { None } else { lossless::parse(&text) };
        let media_type = if value.is_some() {
            "application/json"
        } else {
            media_type
        }
        .to_owned();
        Part::Text {
            text,
            value,
            label: label.to_owned(),
            media_type,
        }
    }

    fn resource(
        &self,
        mut embedded: EmbeddedResource,
        is_error: bool,
        shaped: &mut Shaped,
        artifacts: &mut Artifacts,
    ) -> Part {
        match &mut embedded.resource {
            ResourceContents::TextResourceContents {
                uri, mime_type, text, ..
            } => {
                let media_type = mime_type.clone().unwrap_or_else(|| "text/plain".into());
                if self.volume == Volume::Digest && !tokens::fits(text, self.config.inline_tokens) {
                    return self.text_part(std::mem::take(text), uri, &media_type, is_error);
                }
                if self.config.redact_secrets
                    && let Cow::Owned(masked) = redact(text, Doubt::Mask)
                {
                    *text = masked;
                }
            }
            ResourceContents::BlobResourceContents {
                uri, mime_type, blob, ..
            } if self.volume == Volume::Digest && blob.len() > INLINE_BINARY => {
                let media_type = mime_type.clone().unwrap_or_else(|| "application/octet-stream".into());
                let (blob, uri) = (std::mem::take(blob), uri.clone());
                return self.binary(&blob, &media_type, &uri, shaped, artifacts);
            }
            _ => {}
        }
        Part::Block(ContentBlock::Resource(embedded))
    }

    fn binary(
        &self,
        data: &str,
        media_type: &str,
        label: &str,
        shaped: &mut Shaped,
        artifacts: &mut Artifacts,
    ) -> Part {
        // Data that is no base64 is kept as it came: it is what the upstream sent.
        let body = base64::engine::general_purpose::STANDARD
            .decode(data)
            .unwrap_or_else(|_| data.as_bytes().to_vec());
        let kept = keep(artifacts, media_type, label, body);
        let line = format!("[kept as {}: {media_type}, {}]", kept.handle, size(kept.bytes));
        shaped.artifacts.push(kept);
        Part::Block(ContentBlock::text(line))
    }
}

fn keep(artifacts: &mut Artifacts, media_type: &str, label: &str, body: Vec<u8>) -> Kept {
    let bytes = body.len();
    let handle = artifacts.keep(Instant::now(), media_type, label, body);
    Kept {
        handle,
        media_type: media_type.to_owned(),
        bytes,
        label: label.to_owned(),
    }
}

/// Whether a text part already says the value: as JSON, or bare under the `result` key that some servers wrap around it.
fn carried(value: &Value, parts: &[Part]) -> bool {
    let wrapped = match value {
        Value::Object(fields) if fields.len() == 1 => fields.get("result"),
        _ => None,
    };
    let texts: Vec<(&String, &Option<Value>)> = parts
        .iter()
        .filter_map(|part| match part {
            Part::Text { text, value, .. } => Some((text, value)),
            Part::Block(_) => None,
        })
        .collect();
    let says = |wanted: &Value| {
        texts.iter().any(|(text, parsed)| match parsed {
            Some(parsed) => parsed == wanted,
            None => match wanted {
                Value::String(wanted) => *text == wanted,
                Value::Array(_) | Value::Object(_) => false,
                scalar => {
                    let said = scalar.to_string();
                    text.trim() == said
                }
            },
        })
    };
    if says(value) || wrapped.is_some_and(says) {
        return true;
    }
    // A list is also sent as one text block an element.
    match wrapped {
        Some(Value::Array(items)) if !items.is_empty() && items.len() == texts.len() => {
            items
                .iter()
                .zip(&texts)
                .all(|(item, (text, parsed))| match (parsed, item) {
                    (Some(parsed), item) => parsed == item,
                    (None, Value::String(item)) => *text == item,
                    (None, item) => {
                        let said = item.to_string();
                        text.trim() == said
                    }
                })
        }
        _ => false,
    }
}

/// Which texts to keep aside: the largest, until the others together fit.
fn over_limit(said: &[Option<String>], limit: usize) -> Vec<bool> {
    let mut keep_aside = vec![false; said.len()];
    let bytes: usize = said.iter().flatten().map(String::len).sum();
    if bytes <= limit {
        return keep_aside;
    }
    // Only what is close to the limit is counted; beyond it a text counts as its length allows.
    let cost = |text: &String| {
        if tokens::fits(text, limit) {
            tokens::count(text)
        } else {
            text.len().max(limit + 1)
        }
    };
    let costs: Vec<usize> = said.iter().map(|text| text.as_ref().map_or(0, cost)).collect();
    let mut total: usize = costs.iter().sum();
    let mut order: Vec<usize> = (0..costs.len()).collect();
    order.sort_by_key(|position| std::cmp::Reverse(costs[*position]));
    for position in order {
        if total <= limit {
            break;
        }
        total -= costs[position];
        keep_aside[position] = true;
    }
    keep_aside
}

/// Whether a value cannot possibly fit, so that encoding it would be wasted work: every leaf costs at least a token.
fn obviously_over(value: &Value, limit: usize) -> bool {
    fn leaves(value: &Value, left: usize) -> usize {
        match value {
            Value::Array(items) => walk(items.iter(), left),
            Value::Object(fields) => walk(fields.values(), left),
            Value::String(text) => text.len() / 64 + 1,
            _ => 1,
        }
    }
    fn walk<'a>(values: impl Iterator<Item = &'a Value>, left: usize) -> usize {
        let mut found = 0;
        for value in values {
            if found > left {
                break;
            }
            found += leaves(value, left - found);
        }
        found
    }
    leaves(value, limit) > limit
}

/// A size as people write it.
fn size(bytes: usize) -> String {
    match bytes {
        0..1000 => format!("{bytes} B"),
        1000..1_000_000 => format!("{} kB", bytes / 1000),
        _ => format!("{:.1} MB", bytes as f64 / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::ArtifactConfig;

    fn shape_with(raw: Raw, volume: Volume, structured: Structured) -> (Shaped, Artifacts) {
        let mut artifacts = Artifacts::new(ArtifactConfig::default(), [1; 32]);
        let config = FirewallConfig {
            inline_tokens: 100,
            digest_tokens: 60,
            ..FirewallConfig::default()
        };
        let firewall = Firewall {
            config: &config,
            encode: &|value| value.to_string(),
            volume,
            structured,
            resource_id: &|uri| (uri == "file:///known").then(|| "resource::file:known#0".to_owned()),
        };
        let shaped = firewall.shape(raw, &mut artifacts);
        (shaped, artifacts)
    }

    fn shape(content: Vec<ContentBlock>, structured: Option<Value>) -> (Shaped, Artifacts) {
        shape_with(
            Raw {
                content,
                structured,
                is_error: false,
            },
            Volume::Digest,
            Structured::Fold,
        )
    }

    fn texts(shaped: &Shaped) -> Vec<&str> {
        shaped
            .content
            .iter()
            .filter_map(|block| block.as_text().map(|text| text.text.as_str()))
            .collect()
    }

    #[test]
    fn a_small_result_passes_without_a_token_more() {
        let (shaped, _) = shape(vec![ContentBlock::text("ok")], None);
        assert_eq!(texts(&shaped), ["ok"]);
        assert!(shaped.artifacts.is_empty() && shaped.structured.is_none() && !shaped.is_error);
    }

    #[test]
    fn structured_content_is_said_once() {
        let (shaped, _) = shape(vec![ContentBlock::text("{\n  \"a\": 1\n}")], Some(json!({"a": 1})));
        assert_eq!(texts(&shaped), ["{\"a\":1}"]);
        let (shaped, _) = shape(vec![ContentBlock::text("3")], Some(json!({"result": 3})));
        assert_eq!(texts(&shaped), ["3"]);
        let (shaped, _) = shape(
            vec![ContentBlock::text("a"), ContentBlock::text("b")],
            Some(json!({"result": ["a", "b"]})),
        );
        assert_eq!(texts(&shaped), ["a", "b"]);
        let (shaped, _) = shape(vec![ContentBlock::text("2 found")], Some(json!({"n": 2})));
        assert_eq!(texts(&shaped), ["2 found", "{\"n\":2}"]);
        let (shaped, _) = shape(Vec::new(), Some(json!({"n": 2})));
        assert_eq!(texts(&shaped), ["{\"n\":2}"]);
    }

    #[test]
    fn structured_content_is_kept_where_it_was_promised() {
        let raw = Raw {
            content: vec![ContentBlock::text("{\"a\":1}")],
            structured: Some(json!({"a": 1})),
            is_error: false,
        };
        let (shaped, _) = shape_with(raw, Volume::Whole, Structured::Keep);
        assert_eq!(shaped.structured, Some(json!({"a": 1})));
        assert_eq!(texts(&shaped).len(), 1);
    }

    #[test]
    fn a_large_result_is_kept_and_digested_and_listed() {
        let rows: Vec<Value> = (0..300).map(|id| json!({"id": id, "name": "row"})).collect();
        let text = Value::Array(rows).to_string();
        let (shaped, mut artifacts) = shape(vec![ContentBlock::text(text.clone()), ContentBlock::text("done")], None);
        assert_eq!(shaped.artifacts.len(), 1);
        let kept = &shaped.artifacts[0];
        assert_eq!((kept.media_type.as_str(), kept.bytes), ("application/json", text.len()));
        assert!(texts(&shaped)[0].starts_with(&format!("[kept as {}: array of 300, ", kept.handle)));
        assert_eq!(texts(&shaped)[1], "done");
        assert_eq!(
            artifacts.get(Instant::now(), &kept.handle).unwrap().text(),
            Some(text.as_str())
        );
        assert!(tokens::count(texts(&shaped)[0]) < 110);
    }

    #[test]
    fn secrets_are_masked_in_the_answer_and_in_what_is_kept() {
        let secret = format!("ghp_{}", "a1B2".repeat(9));
        let (shaped, _) = shape(vec![ContentBlock::text(secret.clone())], Some(json!({"token": secret})));
        assert!(!format!("{:?}", shaped.content).contains(&secret));
        let long = format!("{secret}\n{}", "line\n".repeat(500));
        let (shaped, mut artifacts) = shape(vec![ContentBlock::text(long)], None);
        let kept = artifacts.get(Instant::now(), &shaped.artifacts[0].handle).unwrap();
        assert!(
            kept.text()
                .is_some_and(|text| !text.contains(&secret) && text.contains("[redacted: github token]"))
        );
    }

    #[test]
    fn pictures_pass_and_enormous_ones_are_kept() {
        let (shaped, _) = shape(vec![ContentBlock::image("aGk=", "image/png")], None);
        assert!(shaped.content[0].as_image().is_some());
        let (shaped, mut artifacts) = shape(vec![ContentBlock::image("A".repeat(3 << 20), "image/png")], None);
        let kept = &shaped.artifacts[0];
        assert_eq!(
            artifacts.get(Instant::now(), &kept.handle).unwrap().media_type,
            "image/png"
        );
        assert_eq!(
            texts(&shaped),
            [format!("[kept as {}: image/png, 2.4 MB]", kept.handle)]
        );
    }

    #[test]
    fn a_link_to_a_known_resource_says_how_to_read_it() {
        let known = rmcp::model::Resource::new("file:///known", "known");
        let other = rmcp::model::Resource::new("file:///other", "other");
        let (shaped, _) = shape(
            vec![ContentBlock::resource_link(known), ContentBlock::resource_link(other)],
            None,
        );
        assert_eq!(texts(&shaped), ["known: resource_read resource::file:known#0"]);
        assert!(matches!(shaped.content[1], ContentBlock::ResourceLink(_)));
    }

    #[test]
    fn embedded_files_are_text_when_large_and_blobs_keep_their_bytes() {
        let text = ResourceContents::text("line\n".repeat(500), "file:///log");
        let (shaped, mut artifacts) = shape(vec![ContentBlock::resource(text)], None);
        let kept = artifacts.get(Instant::now(), &shaped.artifacts[0].handle).unwrap();
        assert_eq!((kept.label.as_str(), kept.body.len()), ("file:///log", 2500));
        let encoded = base64::engine::general_purpose::STANDARD.encode(vec![7; 3 << 20]);
        let blob = ResourceContents::blob(encoded, "file:///blob");
        let (shaped, mut artifacts) = shape(vec![ContentBlock::resource(blob)], None);
        assert_eq!(
            artifacts.get(Instant::now(), &shaped.artifacts[0].handle).unwrap().body,
            vec![7; 3 << 20]
        );
    }

    #[test]
    fn errors_stay_readable_json_is_not_re_encoded() {
        let raw = Raw {
            content: vec![ContentBlock::text("{\n \"code\": 7 }")],
            structured: None,
            is_error: true,
        };
        let (shaped, _) = shape_with(raw, Volume::Digest, Structured::Fold);
        assert!(shaped.is_error);
        assert_eq!(texts(&shaped), ["{\n \"code\": 7 }"]);
    }
}
