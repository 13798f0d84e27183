//! What a child process may touch: it reads what its user reads but for credentials, writes into folders of its own, and has no
//! network. Landlock and seccomp of Linux hold it, for the child and all that it starts; other systems have no sandbox here.
//!
//! The one trick: both belong to a thread and are inherited, so a thread that lives for one moment takes the restrictions on
//! itself and starts the child. Nothing runs between `fork` and `exec`, and Lacon itself stays as it was.
//!
//! What is left open: names and sizes of files can be seen everywhere, and modes and times of the user's files can be changed
//! where [`Rules::forbids_modes`] is not set, since neither mechanism tells such calls apart by path.

use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command};

/// What a child may do.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Rules {
    /// Files and folders that may be read, listed and executed, where nothing below takes that back; everything where it is not said.
    pub reads: Option<Vec<PathBuf>>,
    /// Folders that may be written; they must exist.
    pub writes: Vec<PathBuf>,
    /// Folders of which nothing may be executed.
    pub never_executes: Vec<PathBuf>,
    /// Files and folders that may not be read, whatever lies around them.
    pub hidden: Vec<PathBuf>,
    /// Whether it may use the network.
    pub network: bool,
    /// Whether owners, modes and attributes of files are left as they are. Builds need to change them.
    pub forbids_modes: bool,
}

/// What holds on this system.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Support {
    /// The version of Landlock's interface; 0 for none.
    pub landlock: u8,
    pub seccomp: bool,
}

impl Support {
    /// Whether files are protected, without which nothing here is called a sandbox.
    pub fn holds(self) -> bool {
        self.landlock > 0 && (self.seccomp || self.landlock >= 4)
    }

    /// What is missing of it, in words.
    pub fn lacks(self) -> Option<&'static str> {
        match (self.landlock, self.seccomp) {
            (0, _) => Some("this system has no Landlock (Linux 5.13, and `landlock` among its security modules)"),
            (1..4, false) => Some("this system has no seccomp, and a Landlock that knows no network"),
            (4.., false) => Some("this system has no seccomp: sockets other than TCP are open"),
            (1..6, true) => Some("signals to the user's other processes are open before Linux 6.12"),
            (6.., true) => None,
        }
    }
}

/// What holds here. Tried once, on a thread that ends.
pub fn support() -> Support {
    static SUPPORT: std::sync::OnceLock<Support> = std::sync::OnceLock::new();
    *SUPPORT.get_or_init(|| std::thread::spawn(system::probe).join().unwrap_or_default())
}

/// Starts a child under these rules. Fails rather than starting it with less than what [`support`] says.
pub fn spawn(command: &mut Command, rules: &Rules) -> io::Result<Child> {
    let support = support();
    if !support.holds() {
        return Err(io::Error::new(
            io::ErrorKind::Unsupported,
            support.lacks().unwrap_or_default(),
        ));
    }
    let started = std::thread::scope(|scope| {
        let restricted = scope.spawn(|| {
            system::restrict(rules, support)?;
            command.spawn()
        });
        restricted.join()
    });
    started.unwrap_or_else(|_| Err(io::Error::other("the sandbox could not be set up")))
}

/// Bounds what a child, and what it starts from here on, may write to one file, and take of memory of its own: what is mapped of
/// files does not count. Not for programs that reserve much more than they use.
#[cfg(target_os = "linux")]
pub fn bound(child: &Child, most_written: u64, most_memory: Option<u64>) {
    use rustix::process::{Pid, Resource, Rlimit, prlimit};
    let limits = [(Resource::Core, 0), (Resource::Fsize, most_written)];
    let memory = most_memory.map(|most| (Resource::Data, most));
    for (resource, most) in limits.into_iter().chain(memory) {
        let limit = Rlimit {
            current: Some(most),
            maximum: Some(most),
        };
        if let Err(error) = prlimit(Some(Pid::from_child(child)), resource, limit) {
            tracing::debug!(%error, "a limit of a child process cannot be set");
        }
    }
}

/// Other systems do not let a process bound its child.
#[cfg(not(target_os = "linux"))]
pub fn bound(_child: &Child, _most_written: u64, _most_memory: Option<u64>) {}

/// Where a system keeps its programs and what they need, and people keep nothing.
pub const SYSTEM: [&str; 14] = [
    "/bin",
    "/dev",
    "/etc",
    "/gnu",
    "/lib",
    "/lib32",
    "/lib64",
    "/nix",
    "/opt",
    "/proc",
    "/run/current-system",
    "/sbin",
    "/sys",
    "/usr",
];

/// Where people and their system keep what opens other doors. Those of the system matter where Lacon runs as root.
pub fn credentials(home: &Path) -> Vec<PathBuf> {
    let own = [
        ".aws",
        ".azure",
        ".bash_history",
        ".cargo/credentials",
        ".cargo/credentials.toml",
        ".config/gcloud",
        ".config/gh",
        ".config/glab-cli",
        ".config/hub",
        ".config/rclone",
        ".config/git/credentials",
        ".config/google-chrome",
        ".config/op",
        ".docker/config.json",
        ".git-credentials",
        ".gnupg",
        ".kube",
        ".local/share/keyrings",
        ".m2/settings-security.xml",
        ".mozilla",
        ".netrc",
        ".npmrc",
        ".password-store",
        ".pgpass",
        ".pypirc",
        ".ssh",
        ".terraform.d",
        ".vault-token",
        ".zsh_history",
        "Library/Keychains",
    ];
    let of_the_system = ["/etc/gshadow", "/etc/shadow", "/etc/ssh", "/etc/ssl/private"];
    own.into_iter()
        .map(|name| home.join(name))
        .chain(of_the_system.map(PathBuf::from))
        .collect()
}

/// Whether a variable of the environment is likely to hold a credential, by its name.
pub fn is_secret_variable(name: &str) -> bool {
    let name = name.to_ascii_uppercase();
    let parts = [
        "TOKEN",
        "SECRET",
        "PASSWORD",
        "PASSWD",
        "CREDENTIAL",
        "API_KEY",
        "APIKEY",
        "PRIVATE_KEY",
        "ACCESS_KEY",
    ];
    parts.iter().any(|part| name.contains(part))
        || ["SSH_AUTH_SOCK", "DBUS_SESSION_BUS_ADDRESS"].contains(&name.as_str())
}

/// The fewest files and folders that hold everything below `folder` but the exceptions. Links are left out: what they lead to is
/// in the list by its own path, or must not be.
#[cfg(target_os = "linux")]
fn all_but(folder: &Path, except: &[PathBuf]) -> Vec<PathBuf> {
    if except.iter().any(|path| folder.starts_with(path)) {
        return Vec::new();
    }
    if !except.iter().any(|path| path.starts_with(folder)) {
        return vec![folder.to_path_buf()];
    }
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| !kind.is_symlink()))
        .map(|entry| entry.path())
        .collect();
    entries.sort();
    entries.iter().flat_map(|entry| all_but(entry, except)).collect()
}

#[cfg(target_os = "linux")]
mod system {
    use std::collections::BTreeMap;
    use std::io;
    use std::path::{Path, PathBuf};

    use landlock::{
        ABI, Access, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible, LandlockStatus, PathBeneath, PathFd,
        Ruleset, RulesetAttr, RulesetCreatedAttr, Scope,
    };
    use seccompiler::{
        BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
        TargetArch,
    };

    use super::{Rules, Support, all_but};

    /// The newest interface whose rights were thought about here.
    const NEWEST: ABI = ABI::V6;
    /// Devices that everyone may write.
    const DEVICES: [&str; 5] = ["/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"];

    /// Runs on a thread of its own, which is restricted by it.
    pub(super) fn probe() -> Support {
        let restricted = Ruleset::default()
            .handle_access(AccessFs::from_all(ABI::V1))
            .and_then(Ruleset::create)
            .and_then(|ruleset| ruleset.restrict_self());
        let landlock = match restricted.map(|status| status.landlock) {
            Ok(LandlockStatus::Available { effective_abi, .. }) => effective_abi as u8,
            _ => 0,
        };
        let seccomp = filter(&Rules::default(), landlock)
            .and_then(|filter| install(&filter))
            .is_ok();
        Support { landlock, seccomp }
    }

    pub(super) fn restrict(rules: &Rules, support: Support) -> io::Result<()> {
        let denied = |error: &dyn std::fmt::Display| io::Error::other(format!("the sandbox cannot be set up: {error}"));
        let ruleset = ruleset(rules).map_err(|error| denied(&error))?;
        ruleset.restrict_self().map_err(|error| denied(&error))?;
        if support.seccomp {
            filter(rules, support.landlock).and_then(|filter| install(&filter))?;
        }
        Ok(())
    }

    fn ruleset(rules: &Rules) -> Result<landlock::RulesetCreated, landlock::RulesetError> {
        let mut ruleset = Ruleset::default()
            .set_compatibility(CompatLevel::BestEffort)
            .handle_access(AccessFs::from_all(NEWEST))?
            .scope(Scope::from_all(NEWEST))?;
        if !rules.network {
            ruleset = ruleset.handle_access(AccessNet::from_all(NEWEST))?;
        }
        let mut ruleset = ruleset.create()?;
        let root = Path::new("/");
        let read = AccessFs::ReadFile | AccessFs::ReadDir;
        let mut allowed: Vec<(PathBuf, BitFlags<AccessFs>)> = Vec::new();
        let grant = |paths: Vec<PathBuf>, access: BitFlags<AccessFs>| paths.into_iter().map(move |path| (path, access));
        let hidden = resolved(&rules.hidden);
        let never_executes = resolved(&rules.never_executes);
        match &rules.reads {
            // Names may be listed everywhere: a folder with a file in it that is hidden is still a folder.
            None => {
                allowed.push((root.to_path_buf(), AccessFs::ReadDir.into()));
                allowed.extend(grant(all_but(root, &hidden), read));
                allowed.extend(grant(all_but(root, &never_executes), AccessFs::Execute.into()));
            }
            Some(folders) => {
                for folder in resolved(folders) {
                    allowed.extend(grant(all_but(&folder, &hidden), read));
                    allowed.extend(grant(all_but(&folder, &never_executes), AccessFs::Execute.into()));
                }
            }
        }
        allowed.extend(grant(resolved(&rules.writes), AccessFs::from_write(NEWEST) | read));
        allowed.extend(grant(DEVICES.map(PathBuf::from).to_vec(), AccessFs::WriteFile.into()));
        for (path, access) in allowed {
            // What is gone since it was listed, or cannot be opened, is not granted.
            let (Ok(meta), Ok(opened)) = (path.symlink_metadata(), PathFd::new(&path)) else {
                continue;
            };
            let access = if meta.is_dir() {
                access
            } else {
                access & AccessFs::from_file(NEWEST)
            };
            if !access.is_empty() {
                ruleset = ruleset.add_rule(PathBeneath::new(opened, access))?;
            }
        }
        Ok(ruleset)
    }

    /// The real paths of those that are there.
    fn resolved(paths: &[PathBuf]) -> Vec<PathBuf> {
        paths.iter().filter_map(|path| path.canonicalize().ok()).collect()
    }

    /// What Landlock cannot hold: sockets of every kind, and calls by which a process leaves its bounds.
    fn filter(rules: &Rules, landlock: u8) -> io::Result<BpfProgram> {
        let mut denied: Vec<i64> = vec![
            libc::SYS_bpf,
            libc::SYS_perf_event_open,
            libc::SYS_userfaultfd,
            libc::SYS_keyctl,
            libc::SYS_add_key,
            libc::SYS_request_key,
            libc::SYS_mount,
            libc::SYS_umount2,
            libc::SYS_pivot_root,
            libc::SYS_setns,
            libc::SYS_unshare,
            libc::SYS_open_by_handle_at,
            libc::SYS_kexec_load,
            libc::SYS_init_module,
            libc::SYS_finit_module,
        ];
        if !rules.network {
            // Rings open sockets without the call.
            denied.extend([libc::SYS_socket, libc::SYS_io_uring_setup, libc::SYS_io_uring_enter]);
        }
        if rules.forbids_modes {
            denied.extend([
                libc::SYS_fchmod,
                libc::SYS_fchmodat,
                libc::SYS_fchown,
                libc::SYS_fchownat,
                libc::SYS_setxattr,
                libc::SYS_lsetxattr,
                libc::SYS_fsetxattr,
            ]);
            #[cfg(target_arch = "x86_64")]
            denied.extend([libc::SYS_chmod, libc::SYS_chown, libc::SYS_lchown]);
        }
        // Before its third version Landlock lets a file be cut short by its path.
        if landlock < 3 {
            denied.push(libc::SYS_truncate);
        }
        let mut calls: BTreeMap<i64, Vec<SeccompRule>> = denied.into_iter().map(|call| (call, Vec::new())).collect();
        // Typing into the terminal that Lacon was started from.
        calls.insert(libc::SYS_ioctl, vec![ioctl(TIOCSTI)?, ioctl(TIOCLINUX)?]);
        // The other numbers of the same calls.
        #[cfg(target_arch = "x86_64")]
        for call in calls.keys().copied().collect::<Vec<i64>>() {
            let same = calls.get(&call).cloned().unwrap_or_default();
            calls.insert(call | X32, same);
        }
        let arch = TargetArch::try_from(std::env::consts::ARCH).map_err(io::Error::other)?;
        let refused = SeccompAction::Errno(libc::EACCES.unsigned_abs());
        let filter = SeccompFilter::new(calls, SeccompAction::Allow, refused, arch).map_err(io::Error::other)?;
        filter.try_into().map_err(io::Error::other)
    }

    #[cfg(target_arch = "x86_64")]
    const X32: i64 = 0x4000_0000;
    /// The same on every architecture that the filter knows.
    const TIOCSTI: u64 = 0x5412;
    const TIOCLINUX: u64 = 0x541c;

    fn ioctl(command: u64) -> io::Result<SeccompRule> {
        let is_command = SeccompCondition::new(1, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, command);
        is_command
            .and_then(|condition| SeccompRule::new(vec![condition]))
            .map_err(io::Error::other)
    }

    fn install(filter: &BpfProgram) -> io::Result<()> {
        seccompiler::apply_filter(filter).map_err(io::Error::other)
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use super::{Rules, Support};

    pub(super) fn probe() -> Support {
        Support::default()
    }

    pub(super) fn restrict(_: &Rules, _: Support) -> std::io::Result<()> {
        Err(std::io::ErrorKind::Unsupported.into())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};

    use super::{Rules, all_but, spawn, support};

    fn is_here() -> bool {
        let holds = support().holds();
        if !holds {
            testkit::skipped("guardian sandbox", support().lacks().unwrap_or_default());
        }
        holds
    }

    /// Whether a shell command succeeds under the rules.
    fn succeeds(rules: &Rules, script: &str) -> bool {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]).stdout(Stdio::null()).stderr(Stdio::null());
        spawn(&mut command, rules).unwrap().wait().unwrap().success()
    }

    struct Place {
        _folder: tempfile::TempDir,
        base: PathBuf,
        rules: Rules,
    }

    fn place() -> Place {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        for name in ["tree", "scratch", "home/.ssh"] {
            std::fs::create_dir_all(base.join(name)).unwrap();
        }
        std::fs::write(base.join("tree/file"), "text").unwrap();
        std::fs::write(base.join("home/.ssh/id"), "key").unwrap();
        std::fs::copy("/bin/true", base.join("tree/program")).unwrap();
        let rules = Rules {
            writes: vec![base.join("scratch")],
            hidden: super::credentials(&base.join("home")),
            ..Rules::default()
        };
        Place {
            _folder: folder,
            base,
            rules,
        }
    }

    fn script(base: &Path, text: &str) -> String {
        format!("cd {} && {text}", base.display())
    }

    #[test]
    fn it_reads_and_writes_what_it_may() {
        if !is_here() {
            return;
        }
        let Place { base, rules, _folder } = place();
        let may = |text: &str| succeeds(&rules, &script(&base, text));
        assert!(may(
            "cat tree/file && ls home && echo a > scratch/new && mv scratch/new scratch/old && rm scratch/old"
        ));
        assert!(may("echo a > /dev/null && tree/program"));
        for text in [
            "echo a > tree/file",
            "echo a > tree/new",
            "rm tree/file",
            "mv tree/file scratch/file",
            "ln -s /etc scratch/link && echo a > scratch/link/new",
            "ln tree/file scratch/file",
            ": > tree/file",
            "truncate -s 0 tree/file",
            "cat home/.ssh/id",
            "cat scratch/../home/.ssh/id",
            "mkdir tree/folder",
        ] {
            assert!(!may(text), "{text}");
        }
        assert_eq!(std::fs::read_to_string(base.join("tree/file")).unwrap(), "text");
    }

    #[test]
    fn it_reads_nothing_but_what_is_named() {
        if !is_here() {
            return;
        }
        let Place { base, rules, _folder } = place();
        std::fs::write(base.join("home/file"), "text").unwrap();
        let system = super::SYSTEM.map(PathBuf::from);
        let named = |folders: &[&str]| Rules {
            reads: Some(
                system
                    .iter()
                    .cloned()
                    .chain(folders.iter().map(|name| base.join(name)))
                    .collect(),
            ),
            ..rules.clone()
        };
        let may = |rules: &Rules, text: &str| succeeds(rules, &script(&base, text));
        let tree = named(&["tree"]);
        assert!(may(
            &tree,
            "cat tree/file && ls tree && echo a > scratch/new && cat scratch/new"
        ));
        for text in ["cat home/file", "ls home", "ls .", "cat tree/../home/file"] {
            assert!(!may(&tree, text), "{text}");
        }
        std::os::unix::fs::symlink("../home/file", base.join("tree/link")).unwrap();
        assert!(!may(&tree, "cat tree/link"));
        // What is hidden stays so, also where what lies around it is named, or what lies in it.
        let home = named(&["home"]);
        assert!(may(&home, "cat home/file") && !may(&home, "cat home/.ssh/id"));
        assert!(!may(&named(&["home/.ssh"]), "cat home/.ssh/id"));
    }

    #[test]
    fn it_executes_nothing_of_the_tree() {
        if !is_here() {
            return;
        }
        let Place { base, rules, _folder } = place();
        let rules = Rules {
            never_executes: vec![base.join("tree"), base.join("scratch")],
            forbids_modes: true,
            ..rules
        };
        let may = |text: &str| succeeds(&rules, &script(&base, text));
        assert!(!may("tree/program"));
        assert!(!may("cp tree/program scratch/program && scratch/program"));
        assert!(!may("chmod 777 tree/file"));
        assert!(may("/bin/true"));
    }

    #[test]
    fn it_has_no_network() {
        if !is_here() {
            return;
        }
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let script = format!("exec 3<>/dev/tcp/127.0.0.1/{port}");
        let connects = |rules: &Rules| {
            let mut command = Command::new("/bin/bash");
            command.args(["-c", &script]).stderr(Stdio::null());
            spawn(&mut command, rules).unwrap().wait().unwrap().success()
        };
        if !Path::new("/bin/bash").exists() {
            testkit::skipped("guardian sandbox: the network", "there is no bash here");
            return;
        }
        assert!(!connects(&Rules::default()));
        let network = Rules {
            network: true,
            ..Rules::default()
        };
        assert!(connects(&network));
        // This process stays as it was.
        std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    }

    #[test]
    fn exceptions_leave_their_neighbours() {
        let Place { base, _folder, .. } = place();
        std::os::unix::fs::symlink("/", base.join("link")).unwrap();
        let found = all_but(&base, &[base.join("home/.ssh"), base.join("tree/file")]);
        assert_eq!(found, [base.join("scratch"), base.join("tree/program")]);
        assert_eq!(all_but(&base, &[]), std::slice::from_ref(&base));
        assert!(all_but(&base, std::slice::from_ref(&base)).is_empty());
    }
}
