//! What is remembered of each conversation, and of nobody else's: which symbols the client was sent, which calls it made.
//!
//! An answer is referred to only where the client agreed to it (see [`Conversation`]), and everything is sent in full again
//! as soon as the client says that it lost its context, or shows it by asking again what it was just answered.

mod bases;
mod ledger;

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Map, Value};
use wire::answers::ContextPack;
use wire::gcf::graph::SessionLimits;
use wire::layout::Layout;
use wire::session::{Draft, Session};
use wire::tokens::Tokenizer;
use wire::{Encoded, Format};

pub(crate) use bases::{Base, Bases};
pub(crate) use ledger::Account;
pub use ledger::{Ledger, savings};

/// What this process remembers between calls.
#[derive(Default)]
pub struct Memory {
    conversations: Mutex<Kept>,
    /// What deltas are made from.
    pub(crate) bases: Bases,
    /// What was saved.
    pub ledger: Ledger,
}

#[derive(Default)]
struct Kept {
    by_name: HashMap<String, (Arc<Conversation>, Instant)>,
}

/// Conversations at most; the one that was silent longest goes first.
const MOST_CONVERSATIONS: usize = 256;
/// A conversation that was silent for so long is over.
const SILENCE: Duration = Duration::from_secs(30 * 60);
/// Symbols at most that one conversation remembers.
const MOST_SYMBOLS: usize = 50_000;
/// Calls at most that one conversation remembers.
const MOST_CALLS: usize = 512;

impl Memory {
    /// The conversation of this name. Names hold the principal, so no two clients ever have the same.
    pub fn conversation(&self, name: &str) -> Arc<Conversation> {
        let now = Instant::now();
        let mut kept = lock(&self.conversations);
        kept.by_name.retain(|_, (_, used)| now.duration_since(*used) < SILENCE);
        if !kept.by_name.contains_key(name) && kept.by_name.len() >= MOST_CONVERSATIONS {
            let oldest = kept
                .by_name
                .iter()
                .min_by_key(|(_, (_, used))| *used)
                .map(|(name, _)| name.clone());
            if let Some(oldest) = oldest {
                kept.by_name.remove(&oldest);
            }
        }
        let entry = kept
            .by_name
            .entry(name.to_string())
            .or_insert_with(|| (Arc::new(Conversation::new(now)), now));
        entry.1 = now;
        entry.0.clone()
    }
}

/// One conversation with one client that takes references: it negotiated GCF for its session, or asked for them with
/// `lacon/session`, or the server was started with `--session`.
pub struct Conversation {
    state: Mutex<State>,
}

struct State {
    session: Session,
    /// Calls that were answered since the last reset, newest last.
    answered: VecDeque<u64>,
    /// Texts that the client was sent with packs, by symbol and form.
    texts: HashMap<(String, String), u64>,
    /// Which of the [`NOTES`] it was sent.
    told: [bool; 2],
}

/// How references by number and by name are read, each said once in a conversation.
const NOTES: [&str; 2] = [
    "Numbers stand for symbols of earlier rows named `new` (n: number, f: file of `files`, q: name in it); pass @N as an id. If \
     you no longer have them, call session_reset.",
    "*name: in the file an earlier answer gave; lost it? call session_reset.",
];

impl Conversation {
    fn new(now: Instant) -> Conversation {
        let limits = SessionLimits {
            symbols: MOST_SYMBOLS,
            idle: SILENCE,
            ..SessionLimits::default()
        };
        Conversation {
            state: Mutex::new(State {
                session: Session::new(limits, now),
                answered: VecDeque::new(),
                texts: HashMap::new(),
                told: [false; 2],
            }),
        }
    }

    /// Forgets what the client was sent. Gives how many symbols that were.
    pub(crate) fn reset(&self) -> usize {
        lock(&self.state).forget()
    }

    /// Notes a call. A client that asks again what it was answered before no longer has the answer: all is forgotten.
    pub(crate) fn called(&self, tool: &str, arguments: &Map<String, Value>) {
        let call = hash(&[tool, &Value::Object(arguments.clone()).to_string()]);
        let mut state = lock(&self.state);
        if state.answered.contains(&call) {
            state.forget();
        }
        state.answered.push_back(call);
        if state.answered.len() > MOST_CALLS {
            state.answered.pop_front();
        }
    }

    /// Puts ids in the place of references (`@12`) that a call's arguments carry. The error is the one that is unknown.
    pub(crate) fn resolve(&self, arguments: &mut Map<String, Value>) -> Result<(), String> {
        let state = lock(&self.state);
        for value in arguments.values_mut() {
            match value {
                Value::Array(items) => {
                    for item in items {
                        resolve_one(&state.session, item)?;
                    }
                }
                value => resolve_one(&state.session, value)?,
            }
        }
        Ok(())
    }

    /// The answer with references, where that is shorter than `plain`, the note on how to read them included: no call costs more
    /// in a conversation than it does alone. Either way the client holds the answer afterwards.
    pub(crate) fn refer(&self, value: &Value, layout: &Layout, plain: &str, format: Format) -> Option<Referred> {
        let now = Instant::now();
        let mut state = lock(&self.state);
        let found = state.shortest(value, layout, plain, format, now);
        if let Some((_, Some(draft))) = &found {
            state.session.commit(draft.clone(), now);
        }
        state.session.told(value, now);
        let (text, draft) = found?;
        let kind = usize::from(draft.is_none());
        let note = (!std::mem::replace(&mut state.told[kind], true)).then(|| NOTES[kind].to_string());
        Some(Referred {
            text: text.text,
            format: text.format,
            note,
        })
    }

    /// The two texts of a pack in GCF, with references; what they tell counts as held when `deliver` is true.
    pub(crate) fn pack(&self, pack: &ContextPack, tool: &str, deliver: bool) -> Option<[String; 2]> {
        let now = Instant::now();
        let mut state = lock(&self.state);
        let draft = state.session.graph().prepare(&pack.graph(tool), now).ok()?;
        let graph = draft.text().to_string();
        let texts = &state.texts;
        let is_held = |source: &wire::answers::PackSource| {
            texts.get(&(source.id.clone(), source.form.clone())) == Some(&hash(&[&source.text]))
        };
        let sources = pack.sources_text(draft.numbers(), is_held);
        if deliver {
            state.session.graph().commit(draft, now);
            state.session.graph_was_sent(now);
            state.learn(pack);
        }
        Some(wire::counted_parts(graph, sources))
    }

    /// Notes that the client was told the texts of a pack as what changed in another: the older ones are no longer what it holds.
    pub(crate) fn learned(&self, pack: &ContextPack) {
        lock(&self.state).learn(pack);
    }
}

/// An answer with references.
pub(crate) struct Referred {
    pub(crate) text: String,
    pub(crate) format: Format,
    /// How to read it, the first time.
    pub(crate) note: Option<String>,
}

impl State {
    /// The shortest form with references that is shorter than `plain`; by name where there is no draft.
    fn shortest(
        &mut self,
        value: &Value,
        layout: &Layout,
        plain: &str,
        format: Format,
        now: Instant,
    ) -> Option<(Encoded, Option<Draft>)> {
        let count = |text: &str| Tokenizer::O200k.count(text);
        let mut least = count(plain);
        let mut found = None;
        let mut consider = |text: Encoded, draft: Option<Draft>, is_told: bool| {
            let kind = usize::from(draft.is_none());
            let tokens = count(&text.text) + if is_told { 0 } else { count(NOTES[kind]) };
            if tokens < least {
                least = tokens;
                found = Some((text, draft));
            }
        };
        if matches!(format, Format::Auto | Format::Lcx)
            && let Some(text) = self.session.by_name(layout, value)
        {
            let format = Format::Lcx;
            consider(Encoded { text, format }, None, self.told[1]);
        }
        if let Some(draft) = self.session.prepare(value, now)
            && let Ok(said) = wire::encode_answer(
                draft.value(),
                &draft.value().to_string(),
                &Layout::generic(""),
                format,
                Tokenizer::O200k,
            )
        {
            consider(said, Some(draft), self.told[0]);
        }
        found
    }

    fn learn(&mut self, pack: &ContextPack) {
        if self.texts.len() > MOST_SYMBOLS {
            self.texts.clear();
        }
        for source in &pack.sources {
            let key = (source.id.clone(), source.form.clone());
            self.texts.insert(key, hash(&[&source.text]));
        }
    }

    fn forget(&mut self) -> usize {
        let held = self.session.len();
        self.session.reset(Instant::now());
        self.answered.clear();
        self.texts.clear();
        self.told = [false; 2];
        held
    }
}

fn resolve_one(session: &Session, value: &mut Value) -> Result<(), String> {
    let Some(text) = value.as_str() else { return Ok(()) };
    let Some(number) = text.strip_prefix('@').and_then(|digits| digits.parse::<u64>().ok()) else {
        return Ok(());
    };
    match session.id_of(number) {
        Some(id) => {
            *value = id.into();
            Ok(())
        }
        None => Err(text.to_string()),
    }
}

/// Tells calls and texts apart within one conversation.
fn hash(parts: &[&str]) -> u64 {
    use std::hash::{DefaultHasher, Hash, Hasher};
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing here can leave half a value behind.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use wire::Format;
    use wire::layout::Layout;
    use wire::session::SessionReader;
    use wire::tokens::Tokenizer;

    use super::{Conversation, Memory};

    fn rows(numbers: &[u8]) -> Value {
        let row = |number: &u8| {
            json!({"id": format!("a/b/c/file{}.rs::Type.method{number}", number % 4), "kind": "method",
                   "name": format!("method{number}"), "path": format!("a/b/c/file{}.rs", number % 4), "line": u64::from(*number) * 10 + 1})
        };
        json!({"results": numbers.iter().map(row).collect::<Vec<_>>(), "total": numbers.len()})
    }

    /// By file, or only by number.
    fn layout(by_file: bool) -> Layout<'static> {
        match by_file {
            true => *wire::answers::layout_of("search_symbols").unwrap(),
            false => Layout::generic(""),
        }
    }

    /// Sends and reads as a client does that has only what it was sent itself.
    fn sent(conversation: &Conversation, reader: &mut SessionReader, value: &Value, by_file: bool) -> Value {
        let json = value.to_string();
        let said = conversation.refer(value, &layout(by_file), &json, Format::Auto);
        let note = said.as_ref().and_then(|said| said.note.as_deref()).unwrap_or_default();
        let text = said.as_ref().map_or(&json, |said| &said.text);
        let count = |text: &str| Tokenizer::O200k.count(text);
        assert!(count(text) + count(note) <= count(&json), "dearer than alone");
        reader.read(text).unwrap()
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

        /// Two clients, calls in any order: each can read everything from what it was sent itself.
        #[test]
        fn interleaved_clients_never_see_each_others_references(
            calls in proptest::collection::vec(
                (any::<bool>(), any::<bool>(), proptest::collection::vec(0u8..24, 1..12), 0u8..10),
                1..14
            )
        ) {
            let memory = Memory::default();
            let mut readers = [SessionReader::new(), SessionReader::new()];
            for (second, by_file, numbers, reset) in calls {
                let name = if second { "bob\n1" } else { "alice\n1" };
                let conversation = memory.conversation(name);
                let reader = &mut readers[usize::from(second)];
                if reset == 0 {
                    conversation.reset();
                    *reader = SessionReader::new();
                }
                let value = rows(&numbers);
                let read = sent(&conversation, reader, &value, by_file);
                prop_assert!(wire::same(&read, &value));
            }
        }
    }

    #[test]
    fn the_same_call_again_shows_that_the_context_was_lost() {
        let conversation = Memory::default().conversation("alice");
        let arguments = json!({"id": "x"}).as_object().cloned().unwrap();
        let value = rows(&[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]);
        let text = |conversation: &Conversation| {
            conversation
                .refer(&value, &layout(false), &value.to_string(), Format::Auto)
                .unwrap()
                .text
        };
        conversation.called("get_callers", &arguments);
        let first = text(&conversation);
        conversation.called("get_call_chain", &arguments);
        assert!(text(&conversation).len() * 3 < first.len());
        conversation.called("get_callers", &arguments);
        let again = SessionReader::new().read(&text(&conversation)).unwrap();
        assert!(wire::same(&again, &value));
    }

    #[test]
    fn references_are_taken_as_arguments_and_unknown_ones_are_named() {
        let conversation = Memory::default().conversation("alice");
        let value = rows(&[7, 8, 9, 10, 11, 12]);
        sent(&conversation, &mut SessionReader::new(), &value, false);
        let mut arguments = json!({"id": "@1", "ids": ["@1", "plain"]})
            .as_object()
            .cloned()
            .unwrap();
        conversation.resolve(&mut arguments).unwrap();
        assert_eq!(arguments["id"], "a/b/c/file3.rs::Type.method7");
        assert_eq!(arguments["ids"][0], "a/b/c/file3.rs::Type.method7");
        let mut arguments = json!({"id": "@99"}).as_object().cloned().unwrap();
        assert_eq!(conversation.resolve(&mut arguments), Err("@99".to_string()));
    }

    #[test]
    fn conversations_are_bounded() {
        let memory = Memory::default();
        for number in 0..super::MOST_CONVERSATIONS * 2 {
            memory.conversation(&number.to_string());
        }
        assert_eq!(
            super::lock(&memory.conversations).by_name.len(),
            super::MOST_CONVERSATIONS
        );
    }
}
