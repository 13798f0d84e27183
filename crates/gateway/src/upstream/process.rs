//! A child process in a group of its own, so that ending it ends whatever it started too.

use std::collections::BTreeMap;
use std::io;
use std::path::PathBuf;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::process::{Child, ChildStdin, ChildStdout, Command};

/// How long a server may take to leave after its input was closed, and again after it was asked to.
const GRACE: Duration = Duration::from_millis(1500);
/// How much of the end of stderr is kept to explain a failed start.
const STDERR_TAIL: usize = 2048;

/// What to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Program {
    pub(crate) command: String,
    pub(crate) arguments: Vec<String>,
    /// Added to Lacon's own environment.
    pub(crate) environment: BTreeMap<String, String>,
    pub(crate) directory: Option<PathBuf>,
}

/// A running child. Dropping it kills its whole group at once; [`Process::end`] asks first.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    group: Option<u32>,
    stderr: StderrTail,
}

/// The last bytes a child wrote to stderr, readable while it runs and after.
#[derive(Clone, Debug, Default)]
pub(super) struct StderrTail(Arc<Mutex<Vec<u8>>>);

impl StderrTail {
    /// The last line, without control characters; empty when there is none.
    pub(super) fn last_line(&self) -> String {
        let bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&bytes);
        text.lines()
            .map(str::trim)
            .rfind(|line| !line.is_empty())
            .unwrap_or_default()
            .to_owned()
    }

    fn push(&self, chunk: &[u8]) {
        let mut bytes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.extend_from_slice(chunk);
        let surplus = bytes.len().saturating_sub(STDERR_TAIL);
        bytes.drain(..surplus);
    }
}

/// Starts `program` with its three streams piped. Its stderr is drained for ever, so that a chatty server cannot block.
pub(super) fn start(program: &Program) -> io::Result<(Process, ChildStdin, ChildStdout)> {
    let mut command = Command::new(&program.command);
    command
        .args(&program.arguments)
        .envs(&program.environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(directory) = &program.directory {
        command.current_dir(directory);
    }
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn()?;
    let group = child.id();
    if let Some(group) = group {
        guardian::groups::watch(group);
    }
    let taken = |stream: &str| io::Error::other(format!("the child has no {stream}"));
    let stdin = child.stdin.take().ok_or_else(|| taken("stdin"))?;
    let stdout = child.stdout.take().ok_or_else(|| taken("stdout"))?;
    let tail = StderrTail::default();
    if let Some(stderr) = child.stderr.take() {
        tokio::spawn(drain(stderr, tail.clone(), program.command.clone()));
    }
    Ok((
        Process {
            child,
            group,
            stderr: tail,
        },
        stdin,
        stdout,
    ))
}

impl Process {
    pub(super) fn stderr(&self) -> StderrTail {
        self.stderr.clone()
    }

    /// Waits for the child to leave (its stdin must be closed by now), then asks, then kills. Nothing of its group is left.
    pub(super) async fn end(mut self) {
        if tokio::time::timeout(GRACE, self.child.wait()).await.is_err() {
            self.signal(Signal::Terminate);
            if tokio::time::timeout(GRACE, self.child.wait()).await.is_err() {
                tracing::debug!(group = self.group, "an upstream process had to be killed");
            }
        }
        // Dropping kills the group: a server that left may have children that did not.
    }

    fn signal(&self, signal: Signal) {
        match (self.group, signal) {
            (Some(group), Signal::Terminate) => guardian::groups::terminate(group),
            (Some(group), Signal::Kill) => guardian::groups::kill(group),
            (None, _) => {}
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.signal(Signal::Kill);
        if let Some(group) = self.group {
            guardian::groups::forget(group);
        }
    }
}

#[derive(Clone, Copy)]
enum Signal {
    Terminate,
    Kill,
}

async fn drain(mut stderr: impl AsyncRead + Unpin, tail: StderrTail, command: String) {
    let mut chunk = vec![0; 4096];
    while let Ok(length) = stderr.read(&mut chunk).await {
        if length == 0 {
            break;
        }
        tracing::debug!(%command, text = %String::from_utf8_lossy(&chunk[..length]).trim_end(), "upstream stderr");
        tail.push(&chunk[..length]);
    }
}
