//! One language server of one project, whether it runs or not: started on the first demand, asked with deadlines, brought back
//! after a crash with its documents open again.
//!
//! The one trick: a request that loses its server waits for the next one and is asked once more; whoever asks never sees which
//! process answered, only an answer or a reason.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use guardian::sandbox::Rules;
use serde_json::{Value, json};

use crate::adapters::{Adapter, Config};
use crate::capabilities::Capabilities;
use crate::connection::{Connection, Listener, RequestError, seconds};
use crate::data;
use crate::documents::{Documents, Notice};
use crate::keeper;
use crate::launch::Launch;
use crate::position::{Encoding, Place, Text, Texts};
use crate::readiness::Readiness;
use crate::turns::{Turn, Turns};
use crate::uri;

/// How it is with a server.
#[derive(Clone, Debug, PartialEq)]
pub enum State {
    /// There is none for this language here.
    Absent {
        /// What was looked for.
        why: String,
    },
    /// There is one, which would run code of a repository that nobody trusts.
    Untrusted {
        /// What it is called.
        server: String,
        /// Whether it would run all the same if the sandbox were there.
        lacks_sandbox: bool,
    },
    /// There is one, and nobody needed it yet (or for a long time).
    Idle,
    /// It runs and has not read the project yet.
    Starting {
        /// What it is doing.
        why: String,
    },
    /// It has read the project.
    Ready {
        /// Why its answers about other files are incomplete all the same, if they are.
        partial: Option<String>,
    },
    /// It crashed, hung or grew too large, and is started again after a while.
    Failed {
        /// What happened.
        why: String,
        /// How long until it is tried again.
        retry_in: Duration,
    },
}

/// A server of a project. Cheap to clone.
#[derive(Clone)]
pub struct Server {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) adapter: Adapter,
    pub(crate) root: PathBuf,
    pub(crate) program: PathBuf,
    pub(crate) arguments: Vec<String>,
    pub(crate) environment: Vec<(OsString, OsString)>,
    /// Where it is started.
    pub(crate) directory: PathBuf,
    /// Where it may write, if it is in the sandbox.
    pub(crate) scratch: PathBuf,
    /// What it may touch; everything without it.
    pub(crate) sandbox: Option<Rules>,
    /// Where it keeps what it knows between its lives, if Lacon says where.
    pub(crate) data: Option<PathBuf>,
    pub(crate) config: Config,
    pub(crate) life: Mutex<Life>,
    pub(crate) changed: Condvar,
    turns: Turns,
}

/// What changes while a server lives.
pub(crate) struct Life {
    pub(crate) phase: Phase,
    pub(crate) connection: Option<Arc<Connection>>,
    pub(crate) capabilities: Capabilities,
    pub(crate) readiness: Readiness,
    pub(crate) documents: Documents,
    /// Failures since it last worked for a while.
    pub(crate) failures: u32,
    /// How often it was started.
    pub(crate) starts: u32,
    /// The last of these starts in which it was seen to have read the project; 0 for none.
    pub(crate) ready_start: u32,
    pub(crate) asked: Instant,
    /// The last request that was given up, and has not been followed by any word of the server.
    pub(crate) given_up: Option<Instant>,
    pub(crate) stopping: bool,
    /// Whether the connection of this life is over, and why.
    pub(crate) closed: Option<String>,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Phase {
    /// No process, no thread.
    Idle,
    /// `initialize` is under way.
    Beginning,
    /// Requests are taken.
    Running,
    /// Started again at that time.
    Waiting { until: Instant, why: String },
}

/// How often an answer "the content changed meanwhile" is asked again, and after what pause.
const CHANGED_PAUSE: Duration = Duration::from_millis(150);
/// Questions whose answers reach beyond one file: they wait until what an overlay left behind is settled.
const REACHING: &[&str] = &[
    "textDocument/references",
    "textDocument/implementation",
    "callHierarchy/incomingCalls",
    "callHierarchy/outgoingCalls",
    "typeHierarchy/subtypes",
    "workspace/symbol",
    "textDocument/rename",
];
/// The protocol's codes for "ask again".
const CONTENT_MODIFIED: i64 = -32801;
const SERVER_CANCELLED: i64 = -32802;

impl Server {
    pub(crate) fn new(launch: Launch, root: PathBuf, config: Config) -> Server {
        let Launch {
            adapter,
            program,
            arguments,
            environment,
            directory,
            scratch,
            sandbox,
        } = launch;
        let life = Life {
            phase: Phase::Idle,
            connection: None,
            capabilities: Capabilities::default(),
            readiness: Readiness::new(adapter.ready.clone()),
            documents: Documents::default(),
            failures: 0,
            starts: 0,
            ready_start: 0,
            asked: Instant::now(),
            given_up: None,
            stopping: false,
            closed: None,
        };
        let keeps = arguments.iter().any(|argument| argument.contains("{data}"));
        let data = keeps.then(|| data::folder(&adapter.name, &root));
        let arguments = adapter.arguments(&arguments, &root);
        Server {
            inner: Arc::new(Inner {
                adapter,
                root,
                program,
                arguments,
                environment,
                directory,
                scratch,
                sandbox,
                data,
                config,
                life: Mutex::new(life),
                changed: Condvar::new(),
                turns: Turns::default(),
            }),
        }
    }

    /// Its name, as in answers.
    pub fn name(&self) -> &str {
        &self.inner.adapter.name
    }

    /// The folder it was opened on.
    pub fn root(&self) -> &Path {
        &self.inner.root
    }

    /// How it is with it now. Starts nothing.
    pub fn state(&self) -> State {
        self.inner.look(&mut self.inner.lock())
    }

    /// How often its process was started so far.
    pub fn starts(&self) -> u32 {
        self.inner.lock().starts
    }

    /// Resident memory of its processes in bytes; 0 while it does not run.
    pub fn memory(&self) -> u64 {
        let connection = self.inner.lock().connection.clone();
        connection.map_or(0, |connection| connection.memory())
    }

    /// The process group that it runs in, for tests and diagnosis.
    pub fn process_group(&self) -> Option<u32> {
        self.inner
            .lock()
            .connection
            .as_ref()
            .map(|connection| connection.group())
    }

    /// Whether it can do what the method says. Known only while it runs; before that nothing is denied.
    pub fn supports(&self, method: &str) -> bool {
        let life = self.inner.lock();
        life.connection.is_none() || life.capabilities.supports(method)
    }

    /// Starts it if need be, and opens a document in it with the text on disk. Waits for nothing.
    pub fn prepare(&self, path: &Path, language: &str) -> std::io::Result<()> {
        let text = read(path)?;
        let mut life = self.inner.lock();
        let refreshed = life.documents.refresh(|path| read(path).ok());
        Inner::tell(&life, refreshed);
        // An overlay belongs to whoever made it, and ends when that one's turn does.
        if !life.documents.get(path).is_some_and(|document| document.edited) {
            let identifier = self
                .inner
                .adapter
                .languages
                .get(language)
                .map_or(language, String::as_str);
            let mut notices = life.documents.put(path, identifier, text, false);
            notices.extend(life.documents.close_surplus(self.inner.config.documents.max(1)));
            Inner::tell(&life, notices);
        }
        keeper::demand(&self.inner, &mut life);
        Ok(())
    }

    /// Waits until it is ready, has failed, or the deadline has come. One that had failed before gets another start.
    pub fn wait_ready(&self, deadline: Instant) -> State {
        let mut life = self.inner.lock();
        let failed_start = matches!(life.phase, Phase::Waiting { .. }).then_some(life.starts);
        loop {
            let state = self.inner.look(&mut life);
            let now = Instant::now();
            let is_final = match state {
                State::Starting { .. } | State::Idle => false,
                State::Failed { retry_in, .. } => failed_start != Some(life.starts) || now + retry_in >= deadline,
                State::Ready { .. } | State::Absent { .. } | State::Untrusted { .. } => true,
            };
            if is_final || now >= deadline {
                return state;
            }
            // Not only woken: one of the signals is that nothing else has come for a moment.
            let nap = (deadline - now).min(Duration::from_millis(50));
            life = self.inner.wait(life, nap);
        }
    }

    /// Asks something. `parameters` is called with what it takes to spell places; again, if the question is asked again.
    pub fn ask(
        &self,
        method: &str,
        parameters: impl Fn(&Spelling) -> Value,
        deadline: Instant,
    ) -> Result<Value, RequestError> {
        let _turn = self.turn(method, deadline)?;
        self.ask_in_turn(method, parameters, deadline)
    }

    /// Tells it which files changed on disk.
    pub fn files_changed(&self, changes: &[(PathBuf, FileChange)]) {
        if changes.is_empty() {
            return;
        }
        let events: Vec<Value> = changes
            .iter()
            .map(|(path, change)| json!({"uri": uri::of_path(path), "type": *change as u8}))
            .collect();
        let life = self.inner.lock();
        Inner::tell(
            &life,
            vec![("workspace/didChangeWatchedFiles", json!({"changes": events}))],
        );
    }

    /// The texts to read its answers with.
    pub fn texts(&self) -> Texts {
        Texts::with(self.inner.lock().documents.texts())
    }

    /// The text of an open document and its version.
    pub fn document(&self, path: &Path) -> Option<(Text, i64)> {
        let life = self.inner.lock();
        life.documents
            .get(path)
            .map(|document| (document.text.clone(), document.version))
    }

    /// Ends it in order; a later question starts it again.
    pub fn stop(&self) {
        keeper::stop(&self.inner);
    }

    pub(crate) fn turn(&self, method: &str, deadline: Instant) -> Result<Turn<'_>, RequestError> {
        self.inner.turns.share(deadline).ok_or_else(|| late(method))
    }

    pub(crate) fn turn_alone(&self, method: &str, deadline: Instant) -> Result<Turn<'_>, RequestError> {
        self.inner.turns.alone(deadline).ok_or_else(|| late(method))
    }

    pub(crate) fn ask_in_turn(
        &self,
        method: &str,
        parameters: impl Fn(&Spelling) -> Value,
        deadline: Instant,
    ) -> Result<Value, RequestError> {
        let mut replayed = false;
        loop {
            let (connection, spelling) = self.connected(method, deadline)?;
            let result = connection.request(method, parameters(&spelling), deadline);
            match &result {
                Ok(_) => {
                    let mut life = self.inner.lock();
                    life.given_up = None;
                    if method.starts_with("textDocument/") && !life.documents.is_empty() {
                        life.readiness.answered();
                        self.inner.changed.notify_all();
                    }
                    return result;
                }
                Err(RequestError::Gone { .. }) if !replayed => {
                    replayed = true;
                    self.forget(&connection);
                }
                Err(RequestError::Refused { code, .. })
                    if matches!(*code, CONTENT_MODIFIED | SERVER_CANCELLED)
                        && Instant::now() + CHANGED_PAUSE < deadline =>
                {
                    std::thread::sleep(CHANGED_PAUSE);
                }
                Err(RequestError::Timeout { .. }) => {
                    self.inner.lock().given_up = Some(Instant::now());
                    return result;
                }
                Err(_) => return result.map_err(|error| self.named(error)),
            }
        }
    }

    /// The running connection, waited for until the deadline; and at once an error where there will be none in time.
    fn connected(&self, method: &str, deadline: Instant) -> Result<(Arc<Connection>, Spelling), RequestError> {
        // What the server knows of other files than the one in question.
        let is_question = REACHING.contains(&method);
        let mut life = self.inner.lock();
        keeper::demand(&self.inner, &mut life);
        loop {
            // One that was started again has to read the project again before its word counts.
            let is_ready = matches!(self.inner.look(&mut life), State::Ready { .. });
            let reads_again = life.ready_start != 0
                && life.ready_start != life.starts
                && !is_ready
                && !self.inner.adapter.ready.is_silent();
            let settles = is_question && !life.documents.is_settled();
            if let (Phase::Running, Some(connection), false) = (&life.phase, &life.connection, reads_again || settles) {
                if !life.capabilities.supports(method) {
                    return Err(RequestError::Unsupported {
                        server: self.inner.adapter.name.clone(),
                        method: method.to_string(),
                    });
                }
                let spelling = Spelling {
                    encoding: life.capabilities.encoding,
                };
                return Ok((connection.clone(), spelling));
            }
            if let Phase::Waiting { until, why } = &life.phase
                && *until >= deadline
            {
                let why = format!("{}: {why}", self.inner.adapter.name);
                return Err(RequestError::Gone { why });
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                let why = match self.inner.state(&life) {
                    State::Failed { why, .. } | State::Starting { why } => why,
                    _ => "it is not running".to_string(),
                };
                return Err(RequestError::Gone { why });
            }
            life = self.inner.wait(life, left.min(Duration::from_millis(50)));
        }
    }

    /// A connection that was found gone is not used again, even before its end was told.
    fn forget(&self, gone: &Arc<Connection>) {
        let mut life = self.inner.lock();
        if life
            .connection
            .as_ref()
            .is_some_and(|connection| Arc::ptr_eq(connection, gone))
        {
            life.connection = None;
        }
    }

    fn named(&self, error: RequestError) -> RequestError {
        match error {
            RequestError::Gone { why } => RequestError::Gone {
                why: format!("{}: {why}", self.name()),
            },
            other => other,
        }
    }
}

/// What happened to a file, by the protocol's number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FileChange {
    /// It is new.
    Created = 1,
    /// It has other content.
    Changed = 2,
    /// It is gone.
    Deleted = 3,
}

/// How the running server spells places.
#[derive(Clone, Copy, Debug, Default)]
pub struct Spelling {
    /// The unit of its columns.
    pub encoding: Encoding,
}

impl Spelling {
    /// A document and a place in it, as most requests begin.
    pub fn at(&self, path: &Path, text: &Text, place: Place) -> Value {
        json!({"textDocument": {"uri": uri::of_path(path)}, "position": text.spell(place, self.encoding)})
    }
}

impl Inner {
    pub(crate) fn lock(&self) -> MutexGuard<'_, Life> {
        self.life.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn wait<'a>(&self, life: MutexGuard<'a, Life>, time: Duration) -> MutexGuard<'a, Life> {
        self.changed
            .wait_timeout(life, time)
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }

    /// Tells the server, if it runs; one that does not will be told all of it when it does.
    pub(crate) fn tell(life: &Life, notices: Vec<Notice>) {
        if let (Phase::Running, Some(connection)) = (&life.phase, &life.connection) {
            for (method, parameters) in notices {
                // A connection that is gone is found out by whoever asks next.
                let _ = connection.notify(method, parameters);
            }
        }
    }

    /// Its state, and a note where it is ready.
    fn look(&self, life: &mut Life) -> State {
        let state = self.state(life);
        if matches!(state, State::Ready { .. }) {
            life.ready_start = life.starts;
        }
        state
    }

    fn state(&self, life: &Life) -> State {
        let name = &self.adapter.name;
        match &life.phase {
            Phase::Idle => State::Idle,
            Phase::Beginning => State::Starting {
                why: format!("{name} is starting"),
            },
            Phase::Waiting { until, why } => State::Failed {
                why: format!("{name}: {why}"),
                retry_in: until.saturating_duration_since(Instant::now()),
            },
            Phase::Running if life.connection.is_none() => State::Starting {
                why: format!("{name} is starting again"),
            },
            Phase::Running if self.adapter.opens && life.documents.is_empty() => State::Starting {
                why: format!("{name} has no document yet"),
            },
            Phase::Running if !life.readiness.is_ready() => State::Starting {
                why: format!("{name} is {}", life.readiness.doing()),
            },
            Phase::Running => State::Ready {
                partial: match life.readiness.trouble() {
                    Some(trouble) => Some(format!("{name} did not read the whole project: {trouble}")),
                    None => self.adapter.lacks(&self.root),
                },
            },
        }
    }
}

/// Hears for one connection; what an older one says no longer matters.
pub(crate) struct Hearing {
    pub(crate) inner: Arc<Inner>,
    pub(crate) start: u32,
}

impl Listener for Hearing {
    fn notified(&self, method: &str, parameters: &Value) {
        let mut life = self.inner.lock();
        if life.starts != self.start {
            return;
        }
        if method == "textDocument/publishDiagnostics" {
            life.documents.published(parameters);
        }
        life.given_up = None;
        let could_read = life.readiness.trouble().is_none();
        life.readiness.notified(method, parameters);
        if let Some(data) = &self.inner.data
            && could_read
            && life.readiness.trouble().is_some()
        {
            data::doubt(data);
        }
        drop(life);
        self.inner.changed.notify_all();
    }

    fn asked(&self, method: &str, parameters: &Value) -> Value {
        match method {
            "workspace/configuration" => {
                let sections = parameters["items"].as_array().into_iter().flatten();
                let answer = |item: &Value| self.inner.adapter.setting(item["section"].as_str().unwrap_or_default());
                sections.map(answer).collect()
            }
            "workspace/workspaceFolders" => json!([{"uri": uri::of_path(&self.inner.root), "name": "root"}]),
            // Nothing is written because a server says so.
            "workspace/applyEdit" => json!({"applied": false, "failureReason": "edits are applied by the client only"}),
            "client/registerCapability" => {
                self.inner.lock().capabilities.register(parameters);
                Value::Null
            }
            _ => Value::Null,
        }
    }

    fn closed(&self, why: String) {
        let mut life = self.inner.lock();
        if life.starts == self.start {
            life.closed = Some(why);
            life.connection = None;
        }
        drop(life);
        self.inner.changed.notify_all();
    }
}

/// The text of a file as a server wants it: whatever is not UTF-8 cannot be asked about.
pub(crate) fn read(path: &Path) -> std::io::Result<Text> {
    const MAX_DOCUMENT: u64 = 16 << 20;
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(std::io::Error::other("it is no regular file"));
    }
    let length = metadata.len();
    if length > MAX_DOCUMENT {
        return Err(std::io::Error::other(format!(
            "{length} bytes are too many for a document"
        )));
    }
    let text = std::fs::read_to_string(path)?;
    Ok(Text::new(text))
}

fn late(method: &str) -> RequestError {
    RequestError::Timeout {
        method: format!("{method} (behind another question)"),
        patience: Duration::ZERO,
    }
}

impl std::fmt::Display for State {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            State::Absent { why } | State::Starting { why } => formatter.write_str(why),
            State::Untrusted { server, lacks_sandbox } => {
                let without = if *lacks_sandbox { " without a sandbox" } else { "" };
                write!(
                    formatter,
                    "untrusted: {server} was not asked{without}; `lacon trust` allows it"
                )
            }
            State::Idle => formatter.write_str("it was not started"),
            State::Ready { partial: None } => formatter.write_str("ready"),
            State::Ready { partial: Some(why) } => formatter.write_str(why),
            State::Failed { why, retry_in } => write!(formatter, "{why}; tried again in {}", seconds(*retry_in)),
        }
    }
}
