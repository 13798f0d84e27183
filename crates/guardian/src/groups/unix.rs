//! Process groups, and a guardian for when Lacon is killed.
//!
//! The trick is a pipe: a tiny shell holds its reading end and a list of groups. However Lacon dies, the kernel closes the
//! writing end, the shell sees the end of its input and kills what is still on the list.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process};

/// `+ group` adds to the list and `- group` removes from it; the end of the input kills the rest.
const SCRIPT: &str = r#"
groups=' '
while read -r operation group; do
    case $operation in
        +) groups="$groups$group " ;;
        -) case $groups in *" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;; esac ;;
    esac
done
for group in $groups; do kill -s KILL -- "-$group" 2>/dev/null; done
"#;

static GUARDIAN: OnceLock<Option<Mutex<Child>>> = OnceLock::new();

pub(super) fn of_its_own(command: &mut Command) {
    command.process_group(0);
}

pub(super) fn watch(group: u32) {
    tell("+", group);
}

pub(super) fn forget(group: u32) {
    tell("-", group);
}

fn tell(operation: &str, group: u32) {
    let Some(guardian) = GUARDIAN.get_or_init(start) else {
        return;
    };
    let mut guardian = guardian.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(input) = guardian.stdin.as_mut()
        && let Err(error) = writeln!(input, "{operation} {group}")
    {
        tracing::debug!(%error, "the guardian of child processes is gone");
    }
}

fn start() -> Option<Mutex<Child>> {
    // By its full name: `PATH` may begin with the folder that Lacon was started in.
    let spawned = Command::new("/bin/sh")
        .args(["-c", SCRIPT])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // Its own group: a Ctrl-C at the terminal must not end the guardian before Lacon.
        .process_group(0)
        .spawn();
    match spawned {
        Ok(child) => Some(Mutex::new(child)),
        Err(error) => {
            tracing::debug!(%error, "no shell: child processes end with Lacon only when it ends in order");
            None
        }
    }
}

pub(super) fn terminate(group: u32) {
    signal(group, Signal::TERM);
}

pub(super) fn kill(group: u32) {
    signal(group, Signal::KILL);
}

fn signal(group: u32, signal: Signal) {
    if let Some(group) = Pid::from_raw(group.cast_signed()) {
        // Who has left already needs no signal.
        let _ = kill_process_group(group, signal);
    }
}

pub(super) fn is_running(process: u32) -> bool {
    Pid::from_raw(process.cast_signed()).is_some_and(|process| test_kill_process(process).is_ok())
}

/// Sums the resident pages of every process whose group this is, from `/proc/<pid>/stat`.
#[cfg(target_os = "linux")]
pub(super) fn memory(group: u32) -> u64 {
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return 0;
    };
    let page = rustix::param::page_size() as u64;
    processes
        .flatten()
        .filter(|entry| {
            entry
                .file_name()
                .to_string_lossy()
                .bytes()
                .all(|byte| byte.is_ascii_digit())
        })
        .filter_map(|entry| {
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            // The name in parentheses may hold anything, spaces and parentheses included.
            let (_, fields) = stat.rsplit_once(')')?;
            let fields: Vec<&str> = fields.split_ascii_whitespace().collect();
            let its_group: u32 = fields.get(2)?.parse().ok()?;
            let pages: u64 = fields.get(21)?.parse().ok()?;
            (its_group == group).then_some(pages * page)
        })
        .sum()
}

/// What `ps` says: macOS and the BSDs have no `/proc`.
#[cfg(not(target_os = "linux"))]
pub(super) fn memory(group: u32) -> u64 {
    let listed = Command::new("/bin/ps")
        .args(["-axo", "pgid=,rss="])
        .stdin(Stdio::null())
        .stderr(Stdio::null())
        .output();
    let Ok(listed) = listed else { return 0 };
    let kilobytes = String::from_utf8_lossy(&listed.stdout)
        .lines()
        .filter_map(|line| {
            let mut fields = line.split_ascii_whitespace();
            let its_group: u32 = fields.next()?.parse().ok()?;
            let kilobytes: u64 = fields.next()?.parse().ok()?;
            (its_group == group).then_some(kilobytes)
        })
        .sum::<u64>();
    kilobytes * 1024
}
