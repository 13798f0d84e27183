//! Ends the process groups that Lacon started when Lacon ends, even when Lacon itself is killed outright.
//!
//! The trick is a pipe: a tiny shell holds its reading end and a list of groups. However Lacon dies, the kernel closes the
//! writing end, the shell sees the end of its input and kills what is still on the list.
//!
//! Language servers and upstreams are under the same guard.

use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, OnceLock, PoisonError};

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

/// Puts a process group under guard.
pub fn watch(group: u32) {
    tell("+", group);
}

/// Takes a group that has ended off the list: its number may be given to a stranger.
pub fn forget(group: u32) {
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
