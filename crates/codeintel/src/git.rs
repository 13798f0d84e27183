//! Runs git on a repository that is not trusted. The one place that builds a git command.
//!
//! A shipped `.git` may name programs in dozens of ways: filters, textconv, `core.fsmonitor`, `core.sshCommand` of a promisor
//! remote, hooks, `include.path` … A list of keys to override is never complete: each version of git adds some, older ones do
//! not know the variables that switch others off, and processes that git starts in submodules drop what was overridden. So git
//! never sees that configuration. It gets a git directory of our own, made for one question: a configuration written here, the
//! references and the index as copies, and the objects where they lie. What is left of the repository is data. Attributes of
//! the tree may still name a filter, but nothing says what it would run; an object that is missing is an error, since there is
//! no remote to ask. The environment is ours as well, and the program is never one that lies in the tree. What is left is git's own
//! code, which reads what a stranger wrote: where the system has a sandbox it runs there, writes its own directory, and reads the
//! repository and its own files.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use guardian::sandbox::{self, Rules};
use index::git::{NoRepository, Repository};

/// Longest run of one command, where nothing else is asked for.
const PATIENCE: Duration = Duration::from_secs(5);
/// Most output that is read.
const MOST_OUTPUT: u64 = 32 << 20;
/// Most references that are read, and how long one is at most.
const MOST_REFERENCES: usize = 200_000;
const MOST_REFERENCE: u64 = 4096;
/// Longest file of the repository that is copied.
const MOST_COPIED: u64 = 512 << 20;
/// Largest file that git may write, and most memory that it may take for itself: packs are mapped, and not counted.
const MOST_WRITTEN: u64 = 8 << 30;
const MOST_MEMORY: u64 = 4 << 30;
/// What git reads of the system besides its programs and libraries.
const SYSTEM: [&str; 12] = [
    "/bin",
    "/dev",
    "/etc/ld.so.cache",
    "/etc/ld.so.preload",
    "/etc/localtime",
    "/gnu",
    "/lib",
    "/lib64",
    "/nix",
    "/opt",
    "/run/current-system",
    "/usr",
];

static SANDBOX_OFF: AtomicBool = AtomicBool::new(false);

/// Runs git without the sandbox from here on, because the user said so.
pub fn without_sandbox() {
    SANDBOX_OFF.store(true, Ordering::Relaxed);
}

/// Why git cannot be asked.
#[derive(thiserror::Error, Debug)]
pub enum GitError {
    /// There is no repository that is believed.
    #[error(transparent)]
    NoRepository(#[from] NoRepository),
    /// The repository reaches outside of itself.
    #[error("git: `{}` {reason}", path.display())]
    Refused {
        /// What does.
        path: PathBuf,
        /// How, and what to do.
        reason: &'static str,
    },
    /// There is no git.
    #[error("git cannot be run: there is none on PATH")]
    NoProgram,
    /// What it needs cannot be written.
    #[error("git cannot be run: {0}")]
    Io(#[from] std::io::Error),
    /// It failed, or took too long.
    #[error("git: {0}")]
    Failed(String),
}

/// A repository that git can be asked about.
pub struct Git {
    program: PathBuf,
    /// The git directory of our own.
    own: tempfile::TempDir,
    repository: Repository,
    /// Where commands run.
    folder: PathBuf,
    /// What they may touch.
    rules: Rules,
    patience: Duration,
}

impl Git {
    /// The repository that a folder is in.
    pub fn open(folder: &Path) -> Result<Git, GitError> {
        let folder = folder.canonicalize()?;
        let repository = Repository::around(&folder)?;
        check_objects(&repository, &repository.common.join("objects"), 0)?;
        let own = tempfile::Builder::new().prefix("lacon-git-").tempdir()?;
        prepare(&repository, own.path())?;
        let program = program(&folder)?;
        let reads = [&repository.work_tree, &repository.directory, &repository.common];
        Ok(Git {
            rules: rules(&program, &reads, &[own.path()], &folder),
            program,
            own,
            repository,
            folder,
            patience: PATIENCE,
        })
    }

    /// The same with commands that may take longer.
    pub fn with_patience(self, patience: Duration) -> Git {
        Git { patience, ..self }
    }

    /// The repository.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// What a command prints.
    pub fn run(&self, arguments: &[&str]) -> Result<String, GitError> {
        let mut command = clean(&self.program, self.own.path());
        command
            .current_dir(&self.folder)
            .env("GIT_DIR", self.own.path())
            .env("GIT_WORK_TREE", &self.repository.work_tree)
            .env("GIT_OBJECT_DIRECTORY", self.repository.common.join("objects"))
            .args(arguments);
        run(command, &self.rules, self.patience)
    }
}

/// A copy of a repository with its work tree at a commit, with the history up to it and nothing later. What git makes has a
/// configuration of its own, so nothing of the source's is run.
pub fn copy_at(source: &Path, commit: &str, target: &Path) -> Result<(), GitError> {
    const PATIENCE: Duration = Duration::from_secs(600);
    let git = Git::open(source)?;
    let hash = git.run(&[
        "rev-parse",
        "--verify",
        "--end-of-options",
        &format!("{commit}^{{commit}}"),
    ])?;
    let home = tempfile::tempdir()?;
    fs::create_dir_all(target)?;
    let rules = Rules {
        // It sets modes of what it makes.
        forbids_modes: false,
        ..rules(&git.program, &[], &[home.path(), target], target)
    };
    let in_target = |arguments: &[&str]| {
        let mut command = clean(&git.program, home.path());
        command.current_dir(target).args(arguments);
        run(command, &rules, PATIENCE)
    };
    in_target(&["init", "--quiet", "--template="])?;
    link_objects(&git.repository.common.join("objects"), &target.join(".git/objects"))?;
    copy(&git.repository.common, "shallow", &target.join(".git/shallow"))?;
    in_target(&[
        "-c",
        "advice.detachedHead=false",
        "checkout",
        "--quiet",
        "--detach",
        hash.trim(),
    ])?;
    Ok(())
}

/// Objects never change: one file serves both repositories where the file system lets it.
fn link_objects(from: &Path, to: &Path) -> Result<(), GitError> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)?.flatten() {
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            link_objects(&entry.path(), &target)?;
        } else if kind.is_file() && fs::hard_link(entry.path(), &target).is_err() {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}

/// The program, never one of the tree's.
fn program(folder: &Path) -> Result<PathBuf, GitError> {
    let kept_out = guardian::programs::kept_out_for(folder);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = guardian::programs::folders(&path, &kept_out);
    guardian::programs::find("git", &folders, &kept_out).ok_or(GitError::NoProgram)
}

/// What git may touch: nothing but what it is about, and itself.
fn rules(program: &Path, reads: &[&PathBuf], writes: &[&Path], folder: &Path) -> Rules {
    let mut readable: Vec<PathBuf> = SYSTEM.map(PathBuf::from).into();
    readable.extend(reads.iter().map(|path| path.to_path_buf()));
    // Its own programs lie beside or around it, wherever it was installed.
    for path in [Some(program.to_path_buf()), program.canonicalize().ok()]
        .into_iter()
        .flatten()
    {
        let around = path.parent().and_then(Path::parent);
        let around = around.filter(|around| around.parent().is_some() && !folder.starts_with(around));
        readable.extend(
            around
                .into_iter()
                .flat_map(|around| ["bin", "lib", "libexec", "share"].map(|name| around.join(name))),
        );
        readable.push(path);
    }
    let writes: Vec<PathBuf> = writes.iter().map(|path| path.to_path_buf()).collect();
    Rules {
        reads: Some(readable),
        never_executes: reads
            .iter()
            .map(|path| path.to_path_buf())
            .chain(writes.iter().cloned())
            .collect(),
        writes,
        hidden: Vec::new(),
        network: false,
        forbids_modes: true,
    }
}

/// Git with an environment and a home of our own.
fn clean(program: &Path, home: &Path) -> Command {
    let mut command = Command::new(program);
    command.env_clear();
    for kept in ["SystemRoot", "TMPDIR", "TEMP"] {
        if let Some(value) = std::env::var_os(kept) {
            command.env(kept, value);
        }
    }
    command
        // Where git's own programs are found; nothing else is looked for on it.
        .env("PATH", program.parent().unwrap_or(Path::new("/usr/bin")))
        .env("HOME", home)
        .env("XDG_CONFIG_HOME", home)
        .env("LC_ALL", "C")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_ATTR_NOSYSTEM", "1")
        .env("GIT_NO_LAZY_FETCH", "1")
        .env("GIT_NO_REPLACE_OBJECTS", "1")
        .env("GIT_OPTIONAL_LOCKS", "0")
        .env("GIT_TERMINAL_PROMPT", "0")
        .env("GIT_PROTOCOL_FROM_USER", "0")
        .args([
            "--no-pager",
            "-c",
            "core.hooksPath=/dev/null",
            "-c",
            "core.fsmonitor=false",
        ])
        .args([
            "-c",
            "core.quotePath=false",
            "-c",
            "protocol.allow=never",
            "-c",
            "core.sshCommand=false",
        ])
        .args([
            "-c",
            "diff.external=",
            "-c",
            "log.showSignature=false",
            "-c",
            "submodule.recurse=false",
        ])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(mut command: Command, rules: &Rules, patience: Duration) -> Result<String, GitError> {
    let is_bounded = !SANDBOX_OFF.load(Ordering::Relaxed) && sandbox::support().holds();
    let mut child = match is_bounded {
        true => sandbox::spawn(&mut command, rules)?,
        false => command.spawn()?,
    };
    sandbox::bound(&child, MOST_WRITTEN, Some(MOST_MEMORY));
    let (output, errors) = (child.stdout.take(), child.stderr.take());
    let reader = std::thread::spawn(move || read_all(output));
    let complaints = std::thread::spawn(move || read_all(errors));
    let started = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if started.elapsed() < patience => std::thread::sleep(Duration::from_millis(2)),
            _ => break None,
        }
    };
    if status.is_none() {
        // Already gone is as good.
        let _ = child.kill();
        let _ = child.wait();
    }
    let text = reader.join().unwrap_or_default();
    let complaint = complaints.join().unwrap_or_default();
    match status {
        Some(status) if status.success() => Ok(text),
        Some(_) => Err(GitError::Failed(explained(&complaint))),
        None => Err(GitError::Failed(format!(
            "it took longer than {} seconds",
            patience.as_secs()
        ))),
    }
}

/// What git says, with the remedy where it is known.
fn explained(complaint: &str) -> String {
    let first = complaint.lines().next().unwrap_or("it failed");
    match complaint.contains("unable to read") || complaint.contains("missing blob") || complaint.contains("bad object")
    {
        true => format!(
            "{first} (nothing is fetched for a question: in a partial clone, `git diff` once brings what is missing)"
        ),
        false => first.to_string(),
    }
}

fn read_all(stream: Option<impl Read>) -> String {
    let mut bytes = Vec::new();
    if let Some(stream) = stream {
        // What was read before an error is still what git said.
        let _ = stream.take(MOST_OUTPUT).read_to_end(&mut bytes);
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Refuses objects that lie outside of the repository: they are somebody else's.
fn check_objects(repository: &Repository, objects: &Path, depth: usize) -> Result<(), GitError> {
    let refused = |path: &Path, reason| {
        Err(GitError::Refused {
            path: path.to_path_buf(),
            reason,
        })
    };
    const LINK: &str = "is a symbolic link, and objects elsewhere are not read: replace it by what it leads to";
    const OUTSIDE: &str =
        "names objects outside of the repository: `git repack -a -d` copies them, and then the file can be removed";
    for folder in [objects.to_path_buf(), objects.join("pack"), objects.join("info")] {
        if fs::symlink_metadata(&folder).is_ok_and(|metadata| metadata.is_symlink()) {
            return refused(&folder, LINK);
        }
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_symlink()) {
                return refused(&entry.path(), LINK);
            }
        }
    }
    let file = objects.join("info/alternates");
    if fs::symlink_metadata(&file).is_err() {
        return Ok(());
    }
    let inside = [&repository.work_tree, &repository.common].map(|folder| folder.canonicalize());
    let text = read(&objects.join("info"), "alternates", 1 << 20).unwrap_or_default();
    for line in String::from_utf8_lossy(&text)
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
    {
        let named = objects.join(line).canonicalize();
        let Ok(named) = named else { continue };
        let is_inside = inside.iter().flatten().any(|folder| named.starts_with(folder));
        if !is_inside || depth > 4 {
            return refused(&file, OUTSIDE);
        }
        check_objects(repository, &named, depth + 1)?;
    }
    Ok(())
}

/// Fills the git directory of our own.
fn prepare(repository: &Repository, own: &Path) -> Result<(), GitError> {
    let (directory, common) = (&repository.directory, &repository.common);
    for folder in ["refs/heads", "objects", "info"] {
        fs::create_dir_all(own.join(folder))?;
    }
    fs::write(own.join("config"), configuration(repository)?)?;
    let head = read(directory, "HEAD", MOST_REFERENCE).unwrap_or_default();
    let head = String::from_utf8_lossy(&head).trim().to_string();
    let is_reference = head.strip_prefix("ref: ").is_some_and(is_reference_name);
    let head = match is_reference || is_hash(&head) {
        true => head,
        false => "ref: refs/heads/none".to_string(),
    };
    fs::write(own.join("HEAD"), format!("{head}\n"))?;
    let mut packed = String::new();
    for (name, hash) in references(common) {
        packed.push_str(&format!("{hash} {name}\n"));
    }
    fs::write(own.join("packed-refs"), packed)?;
    copy(directory, "index", &own.join("index"))?;
    copy(common, "shallow", &own.join("shallow"))?;
    copy(common, "info/exclude", &own.join("info/exclude"))?;
    for entry in fs::read_dir(directory)?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if name.starts_with("sharedindex.") {
            copy(directory, &name, &own.join(&name))?;
        }
    }
    Ok(())
}

/// What of the repository's configuration is data that git cannot do without: how files are written, and which hash is used.
fn configuration(repository: &Repository) -> Result<String, GitError> {
    let text = read(&repository.common, "config", 1 << 20).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let setting = |section, key, values: &[&str]| {
        let value = index::git::setting(&text, section, key)?.to_ascii_lowercase();
        values.contains(&value.as_str()).then_some(value)
    };
    if setting("extensions", "refstorage", &["reftable"]).is_some() {
        return Err(GitError::Refused {
            path: repository.common.clone(),
            reason: "keeps its references as a reftable, which is not read: `git refs migrate --ref-format=files` changes it",
        });
    }
    let mut written = String::from("[core]\n\tbare = false\n");
    const BOOLEAN: &[&str] = &["true", "false"];
    for (key, values) in [
        ("autocrlf", &["true", "false", "input"][..]),
        ("eol", &["lf", "crlf", "native"]),
        ("filemode", BOOLEAN),
        ("ignorecase", BOOLEAN),
        ("symlinks", BOOLEAN),
        ("precomposeunicode", BOOLEAN),
    ] {
        if let Some(value) = setting("core", key, values) {
            written.push_str(&format!("\t{key} = {value}\n"));
        }
    }
    match setting("extensions", "objectformat", &["sha256"]) {
        Some(format) => written.push_str(&format!(
            "\trepositoryformatversion = 1\n[extensions]\n\tobjectformat = {format}\n"
        )),
        None => written.push_str("\trepositoryformatversion = 0\n"),
    }
    Ok(written)
}

/// Every reference, packed or not, by its name.
fn references(common: &Path) -> BTreeMap<String, String> {
    let mut found: BTreeMap<String, String> = BTreeMap::new();
    let packed = read(common, "packed-refs", 64 << 20).unwrap_or_default();
    for line in String::from_utf8_lossy(&packed).lines().take(MOST_REFERENCES) {
        if let Some((hash, name)) = line.split_once(' ')
            && is_hash(hash)
            && is_reference_name(name)
        {
            found.insert(name.to_string(), hash.to_string());
        }
    }
    let mut symbolic: Vec<(String, String)> = Vec::new();
    let mut waiting = vec![("refs".to_string(), 0)];
    while let Some((folder, depth)) = waiting.pop() {
        // A folder that is a link is no folder: it is not listed as one.
        for entry in fs::read_dir(common.join(&folder)).into_iter().flatten().flatten() {
            let name = format!("{folder}/{}", entry.file_name().to_string_lossy());
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < 32 {
                waiting.push((name, depth + 1));
            } else if kind.is_file() && is_reference_name(&name) && found.len() < MOST_REFERENCES {
                let text = read(common, &name, MOST_REFERENCE).unwrap_or_default();
                let text = String::from_utf8_lossy(&text).trim().to_string();
                if is_hash(&text) {
                    found.insert(name, text);
                } else if let Some(target) = text.strip_prefix("ref: ") {
                    symbolic.push((name, target.to_string()));
                }
            }
        }
    }
    for (name, target) in symbolic {
        if let Some(hash) = found.get(&target).cloned() {
            found.insert(name, hash);
        }
    }
    found
}

fn is_hash(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_reference_name(name: &str) -> bool {
    name.starts_with("refs/")
        && !name.contains("..")
        && !name.contains(|letter: char| letter.is_control() || letter.is_whitespace() || "~^:?*[\\".contains(letter))
}

/// A regular file of the repository, reached through no link.
fn read(folder: &Path, name: &str, most: u64) -> Option<Vec<u8>> {
    index::scan::read_regular(folder, name, most).ok()
}

fn copy(folder: &Path, name: &str, to: &Path) -> Result<(), GitError> {
    // Taken before it is read: git trusts the times in an index only as far as they are older than the index itself.
    let modified = fs::symlink_metadata(folder.join(name)).and_then(|metadata| metadata.modified());
    if let (Some(bytes), Ok(modified)) = (read(folder, name, MOST_COPIED), modified) {
        fs::write(to, bytes)?;
        fs::File::options().write(true).open(to)?.set_modified(modified)?;
    }
    Ok(())
}
