//! What a session keeps aside for `tool_view`: addressed by content, bounded in number and size, and gone after a while.
//!
//! A handle is the content's hash keyed with a secret of the session: the same content gives the same handle, new content
//! never hides behind an old one, and a handle of one session means nothing in another.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::config::ArtifactConfig;

/// Characters of a handle: enough that nobody guesses one, few enough to cost little.
const HANDLE_LENGTH: usize = 10;

/// Something kept aside.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Artifact {
    pub(crate) media_type: String,
    /// Where it came from: `text`, `structured`, a file name.
    pub(crate) label: String,
    pub(crate) body: Vec<u8>,
    /// Bytes there were before the limit cut them.
    pub(crate) original_length: usize,
}

impl Artifact {
    pub(crate) fn text(&self) -> Option<&str> {
        std::str::from_utf8(&self.body).ok()
    }

    pub(crate) fn is_cut(&self) -> bool {
        self.original_length > self.body.len()
    }
}

/// What people see of an artifact: its handle and its content are its session's alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HeldArtifact {
    pub media_type: String,
    pub bytes: usize,
    pub seconds_left: u64,
}

/// The artifacts of one session.
pub(crate) struct Artifacts {
    limits: ArtifactConfig,
    secret: [u8; 32],
    kept: HashMap<String, Kept>,
    /// Handles from the oldest to the newest.
    order: VecDeque<String>,
    bytes: usize,
}

struct Kept {
    artifact: Arc<Artifact>,
    until: Instant,
}

impl Artifacts {
    pub(crate) fn new(limits: ArtifactConfig, secret: [u8; 32]) -> Artifacts {
        Artifacts {
            limits,
            secret,
            kept: HashMap::new(),
            order: VecDeque::new(),
            bytes: 0,
        }
    }

    /// Keeps `body` and returns its handle. The oldest artifacts make room.
    pub(crate) fn keep(&mut self, now: Instant, media_type: &str, label: &str, mut body: Vec<u8>) -> String {
        self.expire(now);
        let original_length = body.len();
        let most = self.limits.max_artifact_bytes.min(self.limits.max_bytes);
        if body.len() > most {
            body.truncate(cut_point(&body, most));
        }
        let mut hasher = blake3::Hasher::new_keyed(&self.secret);
        hasher.update(media_type.as_bytes()).update(&[0]).update(&body);
        let handle = hasher.finalize().to_hex()[..HANDLE_LENGTH].to_owned();
        self.remove(&handle);
        while !self.order.is_empty()
            && (self.kept.len() >= self.limits.max_artifacts.max(1) || self.bytes + body.len() > self.limits.max_bytes)
        {
            if let Some(oldest) = self.order.front().cloned() {
                self.remove(&oldest);
            }
        }
        self.bytes += body.len();
        let artifact = Artifact {
            media_type: media_type.to_owned(),
            label: label.to_owned(),
            body,
            original_length,
        };
        let until = now + Duration::try_from_secs_f64(self.limits.ttl_seconds).unwrap_or(Duration::from_secs(3600));
        self.kept.insert(
            handle.clone(),
            Kept {
                artifact: Arc::new(artifact),
                until,
            },
        );
        self.order.push_back(handle.clone());
        handle
    }

    pub(crate) fn get(&mut self, now: Instant, handle: &str) -> Option<Arc<Artifact>> {
        self.expire(now);
        self.kept.get(handle).map(|kept| kept.artifact.clone())
    }

    /// What is kept, oldest first.
    pub(crate) fn held(&mut self, now: Instant) -> Vec<HeldArtifact> {
        self.expire(now);
        let kept = self.order.iter().filter_map(|handle| self.kept.get(handle));
        kept.map(|kept| HeldArtifact {
            media_type: kept.artifact.media_type.clone(),
            bytes: kept.artifact.body.len(),
            seconds_left: kept.until.saturating_duration_since(now).as_secs(),
        })
        .collect()
    }

    fn expire(&mut self, now: Instant) {
        // All live equally long, so the oldest go first.
        while let Some(oldest) = self.order.front() {
            if self.kept.get(oldest).is_some_and(|kept| kept.until > now) {
                return;
            }
            let oldest = oldest.clone();
            self.remove(&oldest);
        }
    }

    fn remove(&mut self, handle: &str) {
        if let Some(kept) = self.kept.remove(handle) {
            self.bytes -= kept.artifact.body.len();
            self.order.retain(|other| other != handle);
        }
    }
}

/// The longest prefix of at most `most` bytes that does not cut a character, where the bytes are text.
fn cut_point(body: &[u8], most: usize) -> usize {
    let mut end = most.min(body.len());
    // A continuation byte at the cut belongs to a character that began before it.
    while end > 0 && end < body.len() && body[end] & 0b1100_0000 == 0b1000_0000 && most - end < 4 {
        end -= 1;
    }
    end
}

#[cfg(test)]
mod tests {
    use super::*;

    fn store(max_bytes: usize, max_artifacts: usize) -> Artifacts {
        let limits = ArtifactConfig {
            ttl_seconds: 10.0,
            max_bytes,
            max_artifact_bytes: 100,
            max_artifacts,
        };
        Artifacts::new(limits, [7; 32])
    }

    #[test]
    fn a_second_result_never_hides_behind_the_first() {
        let now = Instant::now();
        let mut artifacts = store(1000, 10);
        let first = artifacts.keep(now, "application/json", "structured", b"{\"result\":3}".to_vec());
        let second = artifacts.keep(now, "application/json", "structured", b"{\"result\":42}".to_vec());
        assert_ne!(first, second);
        assert_eq!(artifacts.get(now, &second).unwrap().text(), Some("{\"result\":42}"));
        let again = artifacts.keep(now, "application/json", "structured", b"{\"result\":3}".to_vec());
        assert_eq!(first, again);
    }

    #[test]
    fn handles_of_two_sessions_differ() {
        let now = Instant::now();
        let one = store(1000, 10).keep(now, "text/plain", "text", b"same".to_vec());
        let mut other = Artifacts::new(ArtifactConfig::default(), [8; 32]);
        assert_ne!(one, other.keep(now, "text/plain", "text", b"same".to_vec()));
        assert!(other.get(now, &one).is_none());
    }

    #[test]
    fn the_oldest_make_room_and_all_expire() {
        let now = Instant::now();
        let mut artifacts = store(10, 2);
        let a = artifacts.keep(now, "text/plain", "text", b"aaaa".to_vec());
        let b = artifacts.keep(now, "text/plain", "text", b"bbbb".to_vec());
        let c = artifacts.keep(now, "text/plain", "text", b"cccc".to_vec());
        assert!(artifacts.get(now, &a).is_none());
        let big = artifacts.keep(now, "text/plain", "text", b"dddddddd".to_vec());
        assert!(artifacts.get(now, &b).is_none() && artifacts.get(now, &c).is_none());
        assert!(artifacts.get(now, &big).is_some());
        assert!(artifacts.get(now + Duration::from_secs(10), &big).is_none());
        assert_eq!(artifacts.bytes, 0);
    }

    #[test]
    fn an_overlong_body_is_cut_between_characters() {
        let mut artifacts = store(1000, 10);
        let now = Instant::now();
        let handle = artifacts.keep(now, "text/plain", "text", "é".repeat(60).into_bytes());
        let kept = artifacts.get(now, &handle).unwrap();
        assert!(kept.is_cut());
        assert_eq!(kept.text().map(str::len), Some(100));
        let handle = artifacts.keep(now, "text/plain", "text", format!("x{}", "é".repeat(60)).into_bytes());
        assert_eq!(artifacts.get(now, &handle).unwrap().text().map(str::len), Some(99));
    }
}
