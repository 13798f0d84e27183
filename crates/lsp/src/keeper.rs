//! The thread that keeps one server: starts it, shakes hands, watches its memory and its silence, and starts it again after a
//! failure, each time a little later. It lives only while the server is wanted.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::capabilities::{self, Capabilities};
use crate::connection::{Connection, RequestError, seconds};
use crate::data;
use crate::process;
use crate::readiness::Readiness;
use crate::server::{Hearing, Inner, Life, Phase};
use crate::uri;

/// How often memory and silence are looked at.
const TICK: Duration = Duration::from_millis(500);
/// How often memory is looked at.
const MEMORY_TICK: Duration = Duration::from_secs(2);
/// Longest wait before a restart.
const MAX_BACK_OFF: Duration = Duration::from_secs(120);
/// A server that worked for this long starts with a clean record.
const WORKED: Duration = Duration::from_secs(60);
/// How long a server may take to leave when it is told to.
const LEAVING: Duration = Duration::from_millis(1500);

/// Someone needs the server: it is started unless it runs already.
pub(crate) fn demand(inner: &Arc<Inner>, life: &mut Life) {
    life.asked = Instant::now();
    if life.phase == Phase::Idle && !life.stopping {
        life.phase = Phase::Beginning;
        let inner = inner.clone();
        std::thread::spawn(move || keep(&inner));
    }
}

/// Ends the server in order and waits for it.
pub(crate) fn stop(inner: &Arc<Inner>) {
    let mut life = inner.lock();
    life.stopping = true;
    inner.changed.notify_all();
    let deadline = Instant::now() + LEAVING * 3;
    while life.phase != Phase::Idle && Instant::now() < deadline {
        life = inner.wait(life, Duration::from_millis(100));
    }
    life.stopping = false;
}

/// How one life of the process ended.
enum End {
    /// Nobody needs it any more.
    Unwanted,
    /// In words.
    Failed(String),
}

fn keep(inner: &Arc<Inner>) {
    loop {
        let began = Instant::now();
        let end = live(inner);
        let mut life = inner.lock();
        life.connection = None;
        life.readiness = Readiness::new(inner.adapter.ready.clone());
        let End::Failed(why) = end else {
            life.phase = Phase::Idle;
            drop(life);
            inner.changed.notify_all();
            return;
        };
        tracing::info!(server = %inner.adapter.name, %why, "a language server failed");
        life.failures = if began.elapsed() > WORKED { 1 } else { life.failures + 1 };
        let doubled = inner
            .config
            .back_off
            .saturating_mul(1 << life.failures.saturating_sub(1).min(10));
        let until = Instant::now() + doubled.min(MAX_BACK_OFF);
        life.phase = Phase::Waiting { until, why };
        inner.changed.notify_all();
        while Instant::now() < until && !life.stopping {
            let left = until.saturating_duration_since(Instant::now());
            life = inner.wait(life, left.min(TICK));
        }
        if life.stopping || life.asked.elapsed() > inner.config.idle {
            life.phase = Phase::Idle;
            drop(life);
            inner.changed.notify_all();
            return;
        }
        life.phase = Phase::Beginning;
    }
}

/// One process, from its start to its end.
fn live(inner: &Arc<Inner>) -> End {
    let connection = match begin(inner) {
        Ok(connection) => connection,
        Err(why) => return End::Failed(why),
    };
    let mut life = inner.lock();
    let mut looked = Instant::now();
    loop {
        if let Some(why) = life.closed.take() {
            return End::Failed(why);
        }
        if life.stopping || life.asked.elapsed() > inner.config.idle {
            // Whoever asks from here on starts the next one.
            life.connection = None;
            drop(life);
            connection.shut_down(LEAVING);
            return End::Unwanted;
        }
        if let Some(given_up) = life.given_up
            && given_up.elapsed() > inner.config.hung
            && connection.last_heard() < given_up
        {
            life.given_up = None;
            drop(life);
            connection.kill(&format!(
                "it hung: no word for {}",
                seconds(connection.last_heard().elapsed())
            ));
            life = inner.lock();
        }
        if looked.elapsed() > MEMORY_TICK.min(inner.config.idle) {
            looked = Instant::now();
            drop(life);
            let (used, most) = (connection.memory(), memory_limit(inner));
            if used > most {
                connection.kill(&format!(
                    "it used {} MB, more than its limit of {} MB",
                    used >> 20,
                    most >> 20
                ));
            }
            life = inner.lock();
        }
        if life.closed.is_none() {
            life = inner.wait(life, TICK);
        }
    }
}

fn memory_limit(inner: &Inner) -> u64 {
    inner
        .adapter
        .memory_mb
        .map_or(inner.config.memory, |megabytes| megabytes << 20)
}

/// Starts the process, shakes hands, and opens the documents again.
fn begin(inner: &Arc<Inner>) -> Result<Arc<Connection>, String> {
    let start = {
        let mut life = inner.lock();
        life.starts += 1;
        life.closed = None;
        life.given_up = None;
        life.readiness = Readiness::new(inner.adapter.ready.clone());
        life.starts
    };
    if let Some(data) = &inner.data {
        data::renew(data);
    }
    let command = process::Start {
        program: &inner.program,
        arguments: &inner.arguments,
        environment: &inner.environment,
        directory: &inner.directory,
        bounds: inner.sandbox.as_ref().map(|rules| (rules, inner.scratch.as_path())),
    };
    let (process, input, output) = process::start(&command)
        .map_err(|error| format!("`{}` cannot be started: {error}", inner.program.display()))?;
    let hearing = Arc::new(Hearing {
        inner: inner.clone(),
        start,
    });
    let connection = Connection::begin(process, input, output, hearing);
    let shaken = shake_hands(inner, &connection);
    let capabilities = match shaken {
        Ok(result) => Capabilities::of(&result),
        Err(error) => {
            let why = format!("it did not begin: {error}");
            connection.kill(&why);
            return Err(why);
        }
    };
    let mut life = inner.lock();
    life.capabilities = capabilities;
    life.connection = Some(connection.clone());
    life.phase = Phase::Running;
    let notices = life.documents.reopen();
    Inner::tell(&life, notices);
    drop(life);
    inner.changed.notify_all();
    Ok(connection)
}

fn shake_hands(inner: &Inner, connection: &Connection) -> Result<Value, RequestError> {
    let uri = uri::of_path(&inner.root);
    let name = inner
        .root
        .file_name()
        .map_or("root".into(), |name| name.to_string_lossy());
    let mut initialization = inner.adapter.initialization.clone();
    if let (Some(member), Value::Object(members)) = (&inner.adapter.documents, &mut initialization) {
        members.insert(member.clone(), inner.lock().documents.uris().into());
    }
    let parameters = json!({
        // A server that looks whether its parent lives may not see it from the sandbox; the guardian ends it.
        "processId": inner.sandbox.is_none().then(std::process::id),
        "clientInfo": {"name": "lacon", "version": env!("CARGO_PKG_VERSION")},
        "rootUri": uri,
        "rootPath": inner.root,
        "workspaceFolders": [{"uri": uri, "name": name}],
        "initializationOptions": initialization,
        "capabilities": capabilities::client(),
    });
    let result = connection.request("initialize", parameters, Instant::now() + inner.config.start)?;
    connection.notify("initialized", json!({}))?;
    if !inner.adapter.settings.is_null() {
        let settings = json!({"settings": inner.adapter.settings});
        connection.notify("workspace/didChangeConfiguration", settings)?;
    }
    Ok(result)
}
