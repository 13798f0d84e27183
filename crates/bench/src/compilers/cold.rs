//! Questions that come before any language server runs: of a process that was just started, and of one that has answered others.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;
use serde::Serialize;
use serde_json::{Value, json};

use super::super::server::Times;
use super::super::server::stdio::{Client, Follows, text};

/// What such questions took. Processes follow changes, as they do for users.
#[derive(Serialize)]
pub(super) struct Cold {
    /// From the start of the process to its first answer, the greeting included.
    pub(super) from_start_milliseconds: Times,
    /// The first question of a process.
    pub(super) first_milliseconds: Times,
    /// The same question after others, none of which needed the server.
    pub(super) later_milliseconds: Times,
    /// Who answered, in all of them.
    pub(super) tiers: Vec<String>,
}

/// Processes that are started for each figure.
const SAMPLES: usize = 7;
/// Until what a process left behind is gone: a server that was starting still takes time to end.
const PAUSE: Duration = Duration::from_millis(300);

/// Asks in processes of their own, so that the server is cold each time.
pub(super) fn measure(root: &Path, question: &Value) -> Result<Cold> {
    let (mut from_start, mut first, mut later, mut tiers) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let mut ask = |client: &mut Client| -> Result<Duration> {
        let answered = client.call("find_references", question)?;
        let value: Value = serde_json::from_str(&text(&answered.result).0).unwrap_or_default();
        tiers.push(super::tier(&value));
        Ok(answered.time)
    };
    for _ in 0..SAMPLES {
        let began = Instant::now();
        let mut client = Client::start(root, Follows::Changes)?;
        first.push(ask(&mut client)?);
        from_start.push(began.elapsed());
        drop(client);
        std::thread::sleep(PAUSE);

        let mut client = Client::start(root, Follows::Changes)?;
        client.call("graph_stats", &json!({}))?;
        std::thread::sleep(PAUSE);
        later.push(ask(&mut client)?);
        drop(client);
        std::thread::sleep(PAUSE);
    }
    tiers.sort();
    tiers.dedup();
    Ok(Cold {
        from_start_milliseconds: Times::of(&mut from_start),
        first_milliseconds: Times::of(&mut first),
        later_milliseconds: Times::of(&mut later),
        tiers,
    })
}
