//! What answers cost, against the same facts as compact JSON and against reading the files they speak of, from real counts.
//!
//! Counting happens on a thread of its own, after the answer was sent. Each call is one line of a file in the index directory;
//! a full file becomes the older half and another is begun, so the size is bounded and several processes can write.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{SystemTime, UNIX_EPOCH};

use codeintel::Workspace;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use wire::tokens::Tokenizer;

/// Where savings are kept, inside the index directory.
const SAVINGS_FILE: &str = "savings.jsonl";
const OLDER_FILE: &str = "savings.older.jsonl";
/// Bytes of one of the two files.
const MOST_BYTES: u64 = 1 << 20;
/// Answers that wait to be counted; more are not counted.
const MOST_WAITING: usize = 64;
/// Files at most that one answer is compared with.
const MOST_FILES: usize = 40;

/// Seconds of a day.
const DAY: u64 = 24 * 3600;

/// One call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct Saved {
    /// Seconds since 1970.
    at: u64,
    /// The conversation: a short hash, which names nobody.
    session: String,
    tool: String,
    /// Tokens that were sent.
    sent: u64,
    /// Tokens of the same facts in compact JSON.
    json: u64,
    /// Tokens of the files that the answer speaks of.
    files: u64,
}

/// An answer to be counted.
pub(crate) struct Account {
    pub(crate) session: String,
    pub(crate) tool: &'static str,
    pub(crate) texts: Vec<String>,
    /// What it says, as compact JSON.
    pub(crate) json: Arc<str>,
    pub(crate) workspace: Workspace,
}

/// Counts what was saved.
#[derive(Default)]
pub struct Ledger {
    running: Mutex<Option<Running>>,
}

struct Running {
    accounts: SyncSender<Account>,
    thread: JoinHandle<()>,
}

impl Ledger {
    /// Keeps the books of all further answers. Does nothing without a directory to keep them in.
    pub fn open(&self, directory: &Path) {
        let directory = directory.to_path_buf();
        let (accounts, waiting) = sync_channel(MOST_WAITING);
        let thread = std::thread::spawn(move || count_all(&waiting, &directory));
        *self.running.lock().unwrap_or_else(PoisonError::into_inner) = Some(Running { accounts, thread });
    }

    /// Notes an answer; where too many wait, it is left out rather than anyone held up.
    pub(crate) fn note(&self, account: impl FnOnce() -> Account) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = running.as_ref()
            && let Err(TrySendError::Full(_)) = running.accounts.try_send(account())
        {
            tracing::debug!("an answer was not counted");
        }
    }

    /// Counts what still waits.
    pub fn close(&self) {
        let running = self.running.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Running { accounts, thread }) = running {
            drop(accounts);
            // A thread that panicked has nothing left to write.
            drop(thread.join());
        }
    }
}

fn count_all(waiting: &Receiver<Account>, directory: &Path) {
    let mut known: HashMap<[u8; 32], u64> = HashMap::new();
    while let Ok(account) = waiting.recv() {
        let saved = counted(&account, &mut known);
        if let Err(error) = write(directory, &saved) {
            tracing::debug!(%error, "savings cannot be kept");
        }
    }
}

fn counted(account: &Account, known: &mut HashMap<[u8; 32], u64>) -> Saved {
    let count = |text: &str| Tokenizer::O200k.count(text) as u64;
    let value: Value = serde_json::from_str(&account.json).unwrap_or_default();
    let mut paths: Vec<&str> = Vec::new();
    collect_paths(&value, &mut paths);
    paths.sort_unstable();
    paths.dedup();
    let mut files = 0;
    for path in paths.into_iter().take(MOST_FILES) {
        let Some((repository, file)) = account.workspace.find_file(path) else {
            continue;
        };
        files += match known.get(file.hash()) {
            Some(tokens) => *tokens,
            None => {
                let root = account
                    .workspace
                    .repositories()
                    .get(repository)
                    .map(|found| found.root.as_path());
                let text = root.and_then(|root| index::scan::read_source(root, file.path()).ok());
                let tokens = text.map_or(0, |(text, _)| count(&text));
                if known.len() > 10_000 {
                    known.clear();
                }
                known.insert(*file.hash(), tokens);
                tokens
            }
        };
    }
    Saved {
        at: SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .map_or(0, |since| since.as_secs()),
        session: account.session.clone(),
        tool: account.tool.to_string(),
        sent: account.texts.iter().map(|text| count(text)).sum(),
        json: count(&account.json),
        files,
    }
}

/// The files that an answer speaks of: the part of an id before `::`, and what stands under `path`.
fn collect_paths<'a>(value: &'a Value, paths: &mut Vec<&'a str>) {
    match value {
        Value::Array(items) => items.iter().for_each(|item| collect_paths(item, paths)),
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(text) if name == "path" || name.ends_with("_path") => paths.push(text),
                    Value::String(text) if matches!(name.as_str(), "id" | "from" | "to") => {
                        paths.push(text.split_once("::").map_or(text.as_str(), |(path, _)| path));
                    }
                    other => collect_paths(other, paths),
                }
            }
        }
        _ => {}
    }
}

fn write(directory: &Path, saved: &Saved) -> std::io::Result<()> {
    let path = directory.join(SAVINGS_FILE);
    if fs::metadata(&path).is_ok_and(|found| found.len() > MOST_BYTES) {
        fs::rename(&path, directory.join(OLDER_FILE))?;
    }
    let mut line = serde_json::to_vec(saved)?;
    line.push(b'\n');
    // One write of a short line at the end: lines of several processes do not mix.
    index::store::no_follow(fs::OpenOptions::new().create(true).append(true))
        .open(&path)?
        .write_all(&line)
}

/// Every call that is still on the books of an index directory, oldest first. Lines that cannot be read are left out.
fn read_savings(directory: &Path) -> Vec<Saved> {
    let files: [PathBuf; 2] = [directory.join(OLDER_FILE), directory.join(SAVINGS_FILE)];
    let lines = files
        .iter()
        .filter_map(|path| fs::File::open(path).ok())
        .flat_map(|file| BufReader::new(file).lines());
    lines
        .map_while(Result::ok)
        .filter_map(|line| serde_json::from_str(&line).ok())
        .collect()
}

/// Sums by some key.
fn by<'a>(saved: &'a [Saved], key: impl Fn(&'a Saved) -> &'a str) -> BTreeMap<&'a str, (u64, Saved)> {
    let mut sums: BTreeMap<&str, (u64, Saved)> = BTreeMap::new();
    for one in saved {
        add(sums.entry(key(one)), one);
    }
    sums
}

fn add<K: Ord>(entry: Entry<'_, K, (u64, Saved)>, one: &Saved) {
    let none = || Saved {
        sent: 0,
        json: 0,
        files: 0,
        ..one.clone()
    };
    let sum = entry.or_insert_with(|| (0, none()));
    sum.0 += 1;
    sum.1.sent += one.sent;
    sum.1.json += one.json;
    sum.1.files += one.files;
    sum.1.at = sum.1.at.max(one.at);
}

/// What was saved, by tool, by conversation (the newest) and by day: what `lacon savings` prints and the page shows. A day is named by
/// its first second since 1970.
pub fn savings(directory: &Path, most_sessions: usize) -> Value {
    let saved = read_savings(directory);
    let tools = by(&saved, |one| &one.tool);
    let sessions = by(&saved, |one| &one.session);
    let mut newest: Vec<(&str, &(u64, Saved))> = sessions.iter().map(|(name, sum)| (*name, sum)).collect();
    newest.sort_by_key(|(name, (_, sum))| (std::cmp::Reverse(sum.at), *name));
    newest.truncate(most_sessions);
    let rows = |sums: Vec<(&str, &(u64, Saved))>, name: &str| -> Vec<Value> {
        sums.into_iter()
            .map(|(key, (calls, sum))| row(name, key, *calls, sum))
            .collect()
    };
    let all = by(&saved, |_| "");
    let mut days: BTreeMap<u64, (u64, Saved)> = BTreeMap::new();
    for one in &saved {
        add(days.entry(one.at / DAY), one);
    }
    let day = |(day, (calls, sum)): (u64, (u64, Saved))| row("day", &(day * DAY).to_string(), calls, &sum);
    json!({
        "tools": rows(tools.iter().map(|(name, sum)| (*name, sum)).collect(), "tool"),
        "sessions": rows(newest, "session"),
        "days": days.into_iter().map(day).collect::<Vec<Value>>(),
        "all": all.get("").map(|(calls, sum)| row("since", &sum.at.to_string(), *calls, sum)),
    })
}

fn row(name: &str, key: &str, calls: u64, sum: &Saved) -> Value {
    let share = |against: u64| (against > 0).then(|| percent(sum.sent, against));
    json!({
        name: key, "calls": calls, "sent": sum.sent, "json": sum.json, "saved_against_json": share(sum.json),
        "files": sum.files, "saved_against_files": share(sum.files),
    })
}

fn percent(sent: u64, against: u64) -> f64 {
    ((1.0 - sent as f64 / against as f64) * 1000.0).round() / 10.0
}

#[cfg(test)]
mod tests {
    use super::{MOST_BYTES, Saved, by, read_savings, write};

    fn saved(tool: &str, sent: u64) -> Saved {
        Saved {
            at: 1,
            session: "s".to_string(),
            tool: tool.to_string(),
            sent,
            json: sent * 2,
            files: sent * 10,
        }
    }

    #[test]
    fn lines_come_back_and_add_up() {
        let folder = tempfile::tempdir().unwrap();
        for sent in [10, 20] {
            write(folder.path(), &saved("get_callers", sent)).unwrap();
        }
        write(folder.path(), &saved("find_usages", 5)).unwrap();
        let read = read_savings(folder.path());
        let sums = by(&read, |saved| &saved.tool);
        assert_eq!(
            (
                sums["get_callers"].0,
                sums["get_callers"].1.sent,
                sums["get_callers"].1.json
            ),
            (2, 30, 60)
        );
        assert_eq!(sums["find_usages"].1.files, 50);
    }

    #[test]
    fn the_books_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let long = saved(&"t".repeat(20_000), 1);
        for _ in 0..200 {
            write(folder.path(), &long).unwrap();
        }
        let size: u64 = std::fs::read_dir(folder.path())
            .unwrap()
            .map(|file| file.unwrap().metadata().unwrap().len())
            .sum();
        assert!(size < 2 * MOST_BYTES + 50_000 && size > MOST_BYTES, "{size}");
    }
}
