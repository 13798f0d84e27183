//! JSON-RPC with one running server: many requests at a time, each with a deadline; a thread reads and a thread writes.
//!
//! Nothing here waits for ever. A request that is late is cancelled at the server, a server that does not read its input fills a
//! bounded queue and is given up, and the end of the stream ends every request that still waits.

use std::collections::HashMap;
use std::io::BufReader;
use std::process::{ChildStdin, ChildStdout};
use std::sync::atomic::{AtomicI64, AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::process::Process;
use crate::transport;

/// Most bytes that wait to be written.
const MAX_QUEUED: usize = 64 << 20;

/// How often it is looked whether the process is still there.
const WATCH: Duration = Duration::from_millis(100);

/// Why a request has no result.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RequestError {
    /// The server cannot do this at all.
    #[error("{server} does not support {method}")]
    Unsupported {
        /// Which server.
        server: String,
        /// What was asked.
        method: String,
    },
    /// It took too long; the server was told to stop.
    #[error("{method} took longer than {}", seconds(*.patience))]
    Timeout {
        /// What was asked.
        method: String,
        /// How long was waited.
        patience: Duration,
    },
    /// The server ended or never was.
    #[error("{why}")]
    Gone {
        /// In words.
        why: String,
    },
    /// The server answered with an error.
    #[error("{method} failed: {message} ({code})")]
    Refused {
        /// What was asked.
        method: String,
        /// The protocol's number.
        code: i64,
        /// The server's words.
        message: String,
    },
}

/// A duration as people say it.
pub(crate) fn seconds(duration: Duration) -> String {
    match duration.as_millis() {
        millis @ 0..1000 => format!("{millis} ms"),
        millis => format!("{:.1} s", millis as f64 / 1000.0),
    }
}

/// Who hears what the server says without being asked.
pub(crate) trait Listener: Send + Sync {
    /// Something happened.
    fn notified(&self, method: &str, parameters: &Value);
    /// The server asks something of its client.
    fn asked(&self, method: &str, parameters: &Value) -> Value;
    /// The connection is over.
    fn closed(&self, why: String);
}

/// A result, or the server's code and words.
type Outcome = Result<Value, (i64, String)>;

/// One running server.
pub(crate) struct Connection {
    process: Process,
    waiting: Mutex<HashMap<i64, Sender<Outcome>>>,
    queue: Mutex<Option<Sender<Vec<u8>>>>,
    queued: AtomicUsize,
    next: AtomicI64,
    began: Instant,
    /// When the last message came, in milliseconds since `began`.
    heard: AtomicI64,
    /// Why it ended.
    end: Mutex<Option<String>>,
}

impl Connection {
    /// Takes over a process that was just started.
    pub(crate) fn begin(
        process: Process,
        input: ChildStdin,
        output: ChildStdout,
        listener: Arc<dyn Listener>,
    ) -> Arc<Connection> {
        let (queue, messages) = channel::<Vec<u8>>();
        let connection = Arc::new(Connection {
            process,
            waiting: Mutex::default(),
            queue: Mutex::new(Some(queue)),
            queued: AtomicUsize::new(0),
            next: AtomicI64::new(1),
            began: Instant::now(),
            heard: AtomicI64::new(0),
            end: Mutex::new(None),
        });
        let writer = connection.clone();
        std::thread::spawn(move || writer.write_all(input, &messages));
        let reader = connection.clone();
        std::thread::spawn(move || reader.read_all(output, &listener));
        let watcher = connection.clone();
        std::thread::spawn(move || watcher.watch_process());
        connection
    }

    /// Asks, and waits until the deadline at most.
    pub(crate) fn request(&self, method: &str, parameters: Value, deadline: Instant) -> Result<Value, RequestError> {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = channel();
        lock(&self.waiting).insert(id, sender);
        let began = Instant::now();
        let sent = self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": parameters}));
        // The end of the stream is told to those who waited then; whoever comes later must look.
        if sent.is_err() || lock(&self.end).is_some() {
            lock(&self.waiting).remove(&id);
            return Err(self.gone());
        }
        match receiver.recv_timeout(deadline.saturating_duration_since(began)) {
            Ok(Ok(result)) => Ok(result),
            Ok(Err((code, message))) => Err(RequestError::Refused {
                method: method.to_string(),
                code,
                message,
            }),
            Err(RecvTimeoutError::Disconnected) => Err(self.gone()),
            Err(RecvTimeoutError::Timeout) => {
                lock(&self.waiting).remove(&id);
                // Best effort: a server that is gone needs no telling.
                let _ = self.notify("$/cancelRequest", json!({"id": id}));
                Err(RequestError::Timeout {
                    method: method.to_string(),
                    patience: began.elapsed(),
                })
            }
        }
    }

    /// Tells.
    pub(crate) fn notify(&self, method: &str, parameters: Value) -> Result<(), RequestError> {
        self.send(&json!({"jsonrpc": "2.0", "method": method, "params": parameters}))
    }

    /// When the server last said anything.
    pub(crate) fn last_heard(&self) -> Instant {
        self.began + Duration::from_millis(self.heard.load(Ordering::Relaxed).max(0) as u64)
    }

    /// Ends it now; `why` is what its users are told.
    pub(crate) fn kill(&self, why: &str) {
        lock(&self.end).get_or_insert_with(|| why.to_string());
        self.process.kill();
    }

    /// Ends it in order: it may write its caches.
    pub(crate) fn shut_down(&self, patience: Duration) {
        lock(&self.end).get_or_insert_with(|| "it was shut down".to_string());
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let (sender, receiver) = channel();
        lock(&self.waiting).insert(id, sender);
        let _ = self.send(&json!({"jsonrpc": "2.0", "id": id, "method": "shutdown"}));
        let _ = receiver.recv_timeout(patience);
        let _ = self.notify("exit", Value::Null);
        *lock(&self.queue) = None;
        self.process.wait(patience);
        // The group, too: what the server started may not have left with it.
        self.process.kill();
    }

    /// Resident memory of its processes in bytes.
    pub(crate) fn memory(&self) -> u64 {
        self.process.memory()
    }

    /// The number of its process group.
    pub(crate) fn group(&self) -> u32 {
        self.process.group()
    }

    fn gone(&self) -> RequestError {
        let why = lock(&self.end).clone().unwrap_or_else(|| "it ended".to_string());
        RequestError::Gone { why }
    }

    fn send(&self, message: &Value) -> Result<(), RequestError> {
        let framed = transport::frame(message);
        let length = framed.len();
        if self.queued.fetch_add(length, Ordering::Relaxed) > MAX_QUEUED {
            self.kill("it does not read its input");
            return Err(self.gone());
        }
        let sent = lock(&self.queue)
            .as_ref()
            .is_some_and(|queue| queue.send(framed).is_ok());
        if sent { Ok(()) } else { Err(self.gone()) }
    }

    fn write_all(&self, mut input: ChildStdin, messages: &Receiver<Vec<u8>>) {
        while let Ok(message) = messages.recv() {
            self.queued.fetch_sub(message.len(), Ordering::Relaxed);
            if transport::write(&mut input, &message).is_err() {
                break;
            }
        }
        *lock(&self.queue) = None;
    }

    /// Ends the group when its first process ends: what that one started may hold the output open for ever.
    fn watch_process(&self) {
        while lock(&self.queue).is_some() {
            if let Some(status) = self.process.wait(Duration::ZERO) {
                let why = self.obituary(&status);
                lock(&self.end).get_or_insert(why);
                self.process.kill();
                return;
            }
            std::thread::sleep(WATCH);
        }
    }

    fn obituary(&self, status: &str) -> String {
        match self.process.last_words().as_str() {
            "" => format!("it ended ({status})"),
            words => format!("it ended ({status}): {words}"),
        }
    }

    fn read_all(&self, output: ChildStdout, listener: &Arc<dyn Listener>) {
        let mut reader = BufReader::with_capacity(64 << 10, output);
        let error = loop {
            match transport::read(&mut reader) {
                Ok(message) => self.hear(message, listener),
                Err(error) => break error,
            }
        };
        let left = self.process.wait(Duration::from_millis(200));
        let why = match (&error, left) {
            (transport::TransportError::End, Some(status)) => self.obituary(&status),
            _ => error.to_string(),
        };
        let why = lock(&self.end).get_or_insert(why).clone();
        // Whatever of the group is left must not outlive the connection.
        self.process.kill();
        *lock(&self.queue) = None;
        lock(&self.waiting).clear();
        listener.closed(why);
    }

    fn hear(&self, mut message: Value, listener: &Arc<dyn Listener>) {
        self.heard
            .store(self.began.elapsed().as_millis() as i64, Ordering::Relaxed);
        let id = message.get("id").cloned();
        let method = message.get("method").and_then(Value::as_str).map(str::to_string);
        match (id, method) {
            (None, Some(method)) => listener.notified(&method, &message["params"]),
            (Some(id), Some(method)) => {
                let result = listener.asked(&method, &message["params"]);
                // Best effort, as above.
                let _ = self.send(&json!({"jsonrpc": "2.0", "id": id, "result": result}));
            }
            (Some(id), None) => {
                let waiting = id.as_i64().and_then(|id| lock(&self.waiting).remove(&id));
                let Some(waiting) = waiting else { return };
                let result = match message.get("error") {
                    Some(error) if !error.is_null() => Err((
                        error["code"].as_i64().unwrap_or(0),
                        error["message"]
                            .as_str()
                            .unwrap_or("no message")
                            .chars()
                            .take(300)
                            .collect(),
                    )),
                    _ => Ok(message["result"].take()),
                };
                // Whoever asked may have left.
                let _ = waiting.send(result);
            }
            (None, None) => {}
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // Nothing here can leave half a value behind.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
