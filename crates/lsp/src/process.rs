//! A server's process in a group of its own, so that ending it ends whatever it started too.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use guardian::groups;
use guardian::sandbox::{self, Rules};

/// How much of the end of stderr is kept to explain a failure.
const STDERR_TAIL: usize = 2048;
/// Largest file that a server in the sandbox may write.
const MAX_FILE: u64 = 8 << 30;

/// A running child. Dropping it kills its whole group.
pub(crate) struct Process {
    child: Mutex<Child>,
    group: u32,
    stderr: Arc<Mutex<Vec<u8>>>,
    /// What it writes and nobody needs after it.
    temporary: Option<PathBuf>,
}

/// What is started, and how.
pub(crate) struct Start<'a> {
    pub(crate) program: &'a Path,
    pub(crate) arguments: &'a [String],
    /// Added to the environment.
    pub(crate) environment: &'a [(OsString, OsString)],
    pub(crate) directory: &'a Path,
    /// What it may touch, and the folder in which it may write.
    pub(crate) bounds: Option<(&'a Rules, &'a Path)>,
}

/// Starts a program with its three streams piped. Its stderr is drained for ever, so that a chatty server cannot block.
pub(crate) fn start(start: &Start<'_>) -> io::Result<(Process, ChildStdin, ChildStdout)> {
    let mut command = Command::new(start.program);
    command
        .args(start.arguments)
        .envs(start.environment.iter().cloned())
        .current_dir(start.directory)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    groups::of_its_own(&mut command);
    let mut temporary = None;
    let mut child = match start.bounds {
        None => command.spawn()?,
        Some((rules, scratch)) => {
            for folder in &rules.writes {
                std::fs::create_dir_all(folder)?;
            }
            let own = temporary_folder(scratch)?;
            for name in ["TMPDIR", "TMP", "TEMP"] {
                command.env(name, &own);
            }
            temporary = Some(own);
            let secrets = std::env::vars_os().filter(|(name, _)| sandbox::is_secret_variable(&name.to_string_lossy()));
            for (name, _) in secrets {
                command.env_remove(name);
            }
            let child = sandbox::spawn(&mut command, rules)?;
            // Its memory is watched instead: what it reserves says little.
            sandbox::bound(&child, MAX_FILE, None);
            child
        }
    };
    let group = child.id();
    groups::watch(group);
    let tail = Arc::new(Mutex::new(Vec::new()));
    if let Some(stderr) = child.stderr.take() {
        let tail = tail.clone();
        std::thread::spawn(move || drain(stderr, &tail));
    }
    let (stdin, stdout) = (child.stdin.take(), child.stdout.take());
    // Made before the streams are checked, so that a child without them is ended too.
    let process = Process {
        child: Mutex::new(child),
        group,
        stderr: tail,
        temporary,
    };
    match (stdin, stdout) {
        (Some(stdin), Some(stdout)) => Ok((process, stdin, stdout)),
        _ => Err(io::Error::other("the child has no streams")),
    }
}

impl Process {
    /// The last line of stderr, without control characters; empty when there is none.
    pub(crate) fn last_words(&self) -> String {
        let bytes = self.stderr.lock().unwrap_or_else(PoisonError::into_inner);
        let text = String::from_utf8_lossy(&bytes);
        let line = text
            .lines()
            .map(str::trim)
            .rfind(|line| !line.is_empty())
            .unwrap_or_default();
        line.chars()
            .filter(|character| !character.is_control())
            .take(200)
            .collect()
    }

    /// Waits a while for the child to leave by itself. Says whether and how it did.
    pub(crate) fn wait(&self, patience: Duration) -> Option<String> {
        let deadline = Instant::now() + patience;
        loop {
            let left = self.child.lock().unwrap_or_else(PoisonError::into_inner).try_wait();
            match left {
                Ok(Some(status)) => return Some(status.to_string()),
                Err(error) => return Some(error.to_string()),
                Ok(None) if Instant::now() >= deadline => return None,
                Ok(None) => std::thread::sleep(Duration::from_millis(10)),
            }
        }
    }

    /// Ends the whole group now.
    pub(crate) fn kill(&self) {
        groups::kill(self.group);
    }

    /// Resident memory of the whole group in bytes; 0 where the system does not say.
    pub(crate) fn memory(&self) -> u64 {
        groups::memory(self.group)
    }

    /// The number of its process group.
    pub(crate) fn group(&self) -> u32 {
        self.group
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        self.kill();
        // Collects the child, so that it does not stay as a zombie.
        let _ = self.child.lock().unwrap_or_else(PoisonError::into_inner).wait();
        groups::forget(self.group);
        if let Some(temporary) = &self.temporary {
            // What cannot be removed is swept by the next start.
            drop(std::fs::remove_dir_all(temporary));
        }
    }
}

/// A folder for one process's temporary files. Those of processes that are gone are swept.
fn temporary_folder(scratch: &Path) -> io::Result<PathBuf> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let base = scratch.join("tmp");
    std::fs::create_dir_all(&base)?;
    for entry in std::fs::read_dir(&base)?.flatten() {
        let name = entry.file_name();
        let owner = name.to_str().and_then(|name| name.split('-').next()?.parse().ok());
        if !owner.is_some_and(groups::is_running) {
            drop(std::fs::remove_dir_all(entry.path()));
        }
    }
    let own = base.join(format!(
        "{}-{}",
        std::process::id(),
        NEXT.fetch_add(1, Ordering::Relaxed)
    ));
    std::fs::create_dir_all(&own)?;
    Ok(own)
}

fn drain(mut stderr: impl Read, tail: &Mutex<Vec<u8>>) {
    let mut chunk = vec![0; 4096];
    while let Ok(length @ 1..) = stderr.read(&mut chunk) {
        tracing::trace!(text = %String::from_utf8_lossy(&chunk[..length]).trim_end(), "language server stderr");
        let mut bytes = tail.lock().unwrap_or_else(PoisonError::into_inner);
        bytes.extend_from_slice(&chunk[..length]);
        let surplus = bytes.len().saturating_sub(STDERR_TAIL);
        bytes.drain(..surplus);
    }
}
