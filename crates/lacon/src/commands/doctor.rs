//! `lacon doctor`: looks at everything that an answer depends on, and says what to do about what is wrong.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::anyhow;
use index::snapshot::{Snapshot, SnapshotError};
use index::store::{Directory, Location, StoreError};
use lsp::edits::Journal;
use serde::Serialize;
use server::editing::journal_directory;
use terminal::failure::{Exit, Explain, Failure};
use terminal::output::{Output, Paint};
use terminal::usage::size;

use super::index::Place;
use super::init::change::{Edit, Taken};
use super::init::clients::{Client, Places, Reach, Start};
use super::init::ledger::text_of;

/// Check the index, the system, language servers and coding agents
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon doctor
  lacon doctor ~/src/django --json

Exit code 1 when something is broken; what only could be better is said and does not count.")]
pub(crate) struct Args {
    #[command(flatten)]
    place: Place,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// How a thing is.
#[derive(Serialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Health {
    Good,
    /// It works, and could work better.
    Note,
    Broken,
}

/// One thing that was looked at.
#[derive(Serialize)]
struct Check {
    what: &'static str,
    health: Health,
    says: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    remedy: Option<String>,
}

#[derive(Serialize)]
struct Report {
    version: &'static str,
    root: String,
    healthy: bool,
    checks: Vec<Check>,
}

impl Check {
    fn good(what: &'static str, says: impl Into<String>) -> Check {
        Check {
            what,
            health: Health::Good,
            says: says.into(),
            remedy: None,
        }
    }

    fn note(what: &'static str, says: impl Into<String>, remedy: impl Into<String>) -> Check {
        Check {
            health: Health::Note,
            remedy: Some(remedy.into()),
            ..Check::good(what, says)
        }
    }

    fn broken(what: &'static str, says: impl Into<String>, remedy: impl Into<String>) -> Check {
        Check {
            health: Health::Broken,
            remedy: Some(remedy.into()),
            ..Check::good(what, says)
        }
    }
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let report = report(&Location::of(&args.place.to_read()?, args.place.index_dir.as_deref()).bad_input()?);
    let broken = report.broken();
    match args.json {
        true => output.json(&report)?,
        false => output.line(said(&report, output.paint())),
    }
    if broken > 0 {
        output.finish()?;
        return Err(Failure {
            exit: Exit::Failed,
            error: anyhow!("{broken} of {} checks failed", report.checks.len()),
            hints: Vec::new(),
        });
    }
    Ok(())
}

/// What `--json` prints of a tree, for a page.
pub(crate) fn examined(root: &Path, index_dir: Option<&Path>) -> serde_json::Value {
    match Location::of(root, index_dir) {
        Ok(location) => serde_json::json!(report(&location)),
        Err(error) => serde_json::json!({"checks": [], "error": error.to_string()}),
    }
}

impl Report {
    fn broken(&self) -> usize {
        self.checks
            .iter()
            .filter(|check| check.health == Health::Broken)
            .count()
    }
}

fn report(location: &Location) -> Report {
    let snapshot = Snapshot::open(&location.snapshot());
    let mut checks = vec![
        program(&location.root),
        index_of(&snapshot, location),
        writable(location),
    ];
    checks.extend(interrupted(&location.root));
    checks.push(configuration(&location.root));
    checks.push(trusted(&location.root));
    checks.push(sandbox());
    checks.extend(watches(&location.root));
    checks.extend(language_servers(&location.root, snapshot.as_ref().ok()));
    checks.extend(agents(&location.root));
    checks.extend(environment());
    let mut report = Report {
        version: env!("CARGO_PKG_VERSION"),
        root: location.root.display().to_string(),
        healthy: true,
        checks,
    };
    report.healthy = report.broken() == 0;
    report
}

fn said(report: &Report, paint: Paint) -> String {
    let mut text = String::new();
    for check in &report.checks {
        let mark = match check.health {
            Health::Good => paint.good("ok  "),
            Health::Note => paint.warn("note"),
            Health::Broken => paint.bad("bad "),
        };
        text.push_str(&format!("{mark}  {:<16} {}\n", check.what, check.says));
        if let Some(remedy) = &check.remedy {
            text.push_str(&format!("      {:<16} {} {remedy}\n", "", paint.dim("→")));
        }
    }
    text
}

/// This program, whether its name leads to it, and whether there are others of its name.
fn program(root: &Path) -> Check {
    let version = env!("PROGRAM_VERSION");
    let own = std::env::current_exe().and_then(|path| path.canonicalize()).ok();
    let at = own.as_deref().map_or("?".into(), Path::to_string_lossy);
    let says = format!("{version}, {at}");
    let installed = installed(root);
    // Launchers lead to a program elsewhere: what says the same is the same installation.
    let is_this = |path: &PathBuf| Some(path) == own.as_ref() || version_of(path).is_some_and(|said| said == version);
    let Some(first) = installed.first() else {
        return Check::note(
            "lacon",
            format!("{says}, not on PATH"),
            "put its directory on PATH, so that configurations can be shared",
        );
    };
    let others: Vec<String> = installed
        .iter()
        .filter(|path| !is_this(path))
        .map(|path| {
            let version = version_of(path).unwrap_or_else(|| "no version".to_string());
            format!("{} ({version})", path.display())
        })
        .collect();
    match (is_this(first), others.is_empty()) {
        (true, true) => Check::good("lacon", says),
        (true, false) => Check::note(
            "lacon",
            format!("{says}; there are others on PATH: {}", others.join(", ")),
            "remove them, so that every program starts the same one",
        ),
        (false, _) => Check::note(
            "lacon",
            format!("{says}; `lacon` on PATH is {}", others.join(", then ")),
            "remove that one or bring it up to date; or put the directory of this one first on PATH, and run `lacon init` again",
        ),
    }
}

/// Every program of this name on `PATH`, in its order. One that the tree brings along is not looked at.
fn installed(root: &Path) -> Vec<PathBuf> {
    let kept_out = guardian::programs::kept_out_for(root);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut found: Vec<PathBuf> = Vec::new();
    for folder in guardian::programs::folders(&path, &kept_out) {
        let program = guardian::programs::find("lacon", std::slice::from_ref(&folder), &kept_out);
        if let Some(program) = program.and_then(|program| program.canonicalize().ok())
            && !found.contains(&program)
        {
            found.push(program);
        }
    }
    found
}

/// What a program says after its name.
fn version_of(program: &Path) -> Option<String> {
    let asked = Command::new(program)
        .arg("--version")
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let said = String::from_utf8(asked.stdout).ok()?;
    Some(said.strip_prefix("lacon ")?.trim().to_string())
}

fn index_of(snapshot: &Result<Snapshot, SnapshotError>, location: &Location) -> Check {
    let snapshot = match snapshot {
        Err(SnapshotError::Missing { .. }) => {
            return Check::note(
                "index",
                format!("there is none in {}", location.directory.display()),
                "run `lacon index`; `lacon mcp` builds it when it starts",
            );
        }
        Err(error) => return Check::broken("index", format!("{error:#}"), "run `lacon index`: it rebuilds it"),
        Ok(snapshot) => snapshot,
    };
    if let Err(error) = snapshot.verify() {
        return Check::broken(
            "index",
            format!("{error:#}"),
            "run `lacon index`: it rebuilds what is damaged",
        );
    }
    let bytes = std::fs::metadata(location.snapshot()).map_or(0, |metadata| metadata.len());
    let says = format!(
        "{} files, {} symbols, {} edges, {}, every checksum right",
        snapshot.file_count(),
        // Files are symbols inside, and nobody else counts them so.
        snapshot.symbol_count() - snapshot.file_count(),
        snapshot.edge_count(),
        size(bytes)
    );
    let problems = snapshot.skipped().count();
    match snapshot.file_count() {
        0 => Check::note(
            "index",
            format!("{says}; {problems} files were left out"),
            "`lacon status --skipped` says why",
        ),
        _ => Check::good("index", says),
    }
}

/// Whether the index can be kept up to date. Looking leaves nothing behind.
fn writable(location: &Location) -> Check {
    let good = || {
        Check::good(
            "permissions",
            format!("{} can be written", location.directory.display()),
        )
    };
    let broken = |says: String| {
        let remedy = "give write access, or keep the index elsewhere with --index-dir or LACON_DIR";
        Check::broken("permissions", says, remedy)
    };
    if !location.directory.exists() {
        let parent = location.directory.ancestors().find(|directory| directory.exists());
        return match parent.is_some_and(guardian::files::is_writable) {
            true => good(),
            false => broken(format!("`{}` cannot be created", location.directory.display())),
        };
    }
    match Directory::create(location.clone()).and_then(|directory| directory.lock().map(drop)) {
        Ok(()) => good(),
        Err(StoreError::Locked { .. }) => Check::good("permissions", "another Lacon keeps the index up to date"),
        Err(error) => broken(format!("{:#}", anyhow::Error::new(error))),
    }
}

/// A change that a crash cut short, which is put right first, as by every verb.
fn interrupted(root: &Path) -> Option<Check> {
    let recovered = journal_directory(root)
        .map_err(|refusal| refusal.message)
        .and_then(|directory| Journal::open(root, &directory).map_err(|error| error.to_string()))
        .and_then(|journal| journal.recover().map_err(|error| error.to_string()));
    match recovered {
        Ok(recovered) if recovered.is_empty() => None,
        Ok(recovered) => {
            let said: Vec<String> = recovered.iter().map(ToString::to_string).collect();
            Some(Check::good("edits", said.join("; ")))
        }
        Err(error) => Some(Check::broken(
            "edits",
            format!("an interrupted change may be left: {error}"),
            "mend what it names, then run `lacon undo --list`",
        )),
    }
}

fn configuration(root: &Path) -> Check {
    let file = root.join("lacon.toml");
    match index::scan::Config::load(root) {
        Ok(_) if file.exists() => Check::good("configuration", "lacon.toml is valid"),
        Ok(_) => Check::good("configuration", "no lacon.toml: the defaults hold"),
        Err(error) => Check::broken(
            "configuration",
            format!("{:#}", anyhow::Error::new(error)),
            "`lacon index --help` lists what lacon.toml may say",
        ),
    }
}

/// Whether the repository's own code may be run. Neither is a fault.
fn trusted(root: &Path) -> Check {
    let trust = server::trust::trust();
    if trust.is_everything() {
        return Check::good("trust", "this run trusts everything (--trust or LACON_TRUST)");
    }
    match trust.list().and_then(|list| list.entry_for(root)) {
        Ok(Some(entry)) => Check::good("trust", format!("{} is trusted", entry.path)),
        Ok(None) => Check::good("trust", "not trusted: none of its own tools and code is run"),
        Err(error) => Check::broken(
            "trust",
            format!("{error}; nothing is trusted"),
            "repair or remove that file, and run `lacon trust` again",
        ),
    }
}

/// What bounds language servers here.
fn sandbox() -> Check {
    let support = guardian::sandbox::support();
    if !server::tools::lsp::config().sandbox {
        return Check::note(
            "sandbox",
            "switched off: language servers may write and connect anywhere, and run on trusted repositories only",
            "unset LACON_SANDBOX, and `sandbox = false` in lsp.toml",
        );
    }
    match (support.holds(), support.lacks()) {
        (true, None) => Check::good(
            "sandbox",
            format!(
                "language servers write to folders of their own and have no network (Landlock {}, seccomp)",
                support.landlock
            ),
        ),
        (true, Some(lacks)) => Check::good(
            "sandbox",
            format!("language servers write to folders of their own; {lacks}"),
        ),
        (false, lacks) => Check::note(
            "sandbox",
            lacks.unwrap_or_default(),
            "language servers run without bounds, on trusted repositories only",
        ),
    }
}

/// Linux counts every watched directory against a limit per user.
fn watches(root: &Path) -> Option<Check> {
    let limit: u64 = std::fs::read_to_string("/proc/sys/fs/inotify/max_user_watches")
        .ok()?
        .trim()
        .parse()
        .ok()?;
    let directories = count_directories(root, limit);
    Some(match directories < limit {
        true => Check::good("watching", format!("{directories} directories, the limit is {limit}")),
        false => Check::broken(
            "watching",
            format!("more than {limit} directories, which is the limit"),
            format!("raise it: sysctl fs.inotify.max_user_watches={}", limit * 4),
        ),
    })
}

/// Directories under `root`, no further than `limit`; links are not followed.
fn count_directories(root: &Path, limit: u64) -> u64 {
    let mut waiting = vec![root.to_path_buf()];
    let mut count = 0;
    while let Some(directory) = waiting.pop() {
        count += 1;
        if count >= limit {
            break;
        }
        let entries = std::fs::read_dir(&directory).into_iter().flatten().flatten();
        waiting.extend(
            entries
                .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|entry| entry.path()),
        );
    }
    count
}

/// A server for each language that the index holds. The index answers without them, so that none is no fault.
fn language_servers(root: &Path, snapshot: Option<&Snapshot>) -> Vec<Check> {
    let config = server::tools::lsp::config();
    let mut languages: Vec<(u64, String)> = snapshot
        .into_iter()
        .flat_map(|snapshot| {
            let of = snapshot
                .languages()
                .map(|language| (language.lines(), language.name().to_string()));
            of.collect::<Vec<_>>()
        })
        .collect();
    languages.sort_unstable_by(|one, other| other.cmp(one));
    let mut found: Vec<String> = Vec::new();
    let mut missing: Vec<String> = Vec::new();
    let mut withheld: Vec<String> = Vec::new();
    // Looks, and starts nothing.
    let servers = lsp::Servers::new(config.clone());
    for (_, language) in languages {
        let adapters = config.adapters(&language);
        let Some(first) = adapters.first() else { continue };
        match adapters
            .iter()
            .find_map(|adapter| Some((adapter, config.find(adapter, root)?)))
        {
            Some((adapter, (path, _))) => found.push(format!("{language}: {} ({})", adapter.name, path.display())),
            None => match servers.at(root, &language) {
                lsp::State::Untrusted { server, .. } => withheld.push(format!("{language} ({server})")),
                _ => missing.push(format!("{language} ({})", first.name)),
            },
        }
    }
    let mut checks = Vec::new();
    if !found.is_empty() {
        checks.push(Check::good("language servers", found.join(", ")));
    }
    if !withheld.is_empty() {
        checks.push(Check::note(
            "language servers",
            format!(
                "not asked, since the repository is not trusted: {}",
                withheld.join(", ")
            ),
            "`lacon trust` allows them to run the project's code; answers come without it too",
        ));
    }
    if !missing.is_empty() {
        checks.push(Check::note(
            "language servers",
            format!("none for {}", missing.join(", ")),
            "install one to confirm what the syntax tree inferred; answers come without it too",
        ));
    }
    checks
}

/// Which coding agents are here, and which of them know Lacon.
fn agents(root: &Path) -> Vec<Check> {
    let Some(places) = Places::of(root.to_path_buf()) else {
        return Vec::new();
    };
    let mut known: Vec<String> = Vec::new();
    let mut unaware: Vec<&str> = Vec::new();
    let mut checks = Vec::new();
    for client in Client::ALL.into_iter().filter(|client| client.is_found(&places)) {
        let files = [Reach::Project, Reach::User].map(|reach| client.file(reach, &places));
        let mut entries = Vec::new();
        for file in files.into_iter().flatten() {
            match knows(client, &file) {
                Ok(true) => entries.push(file.display().to_string()),
                Ok(false) => {}
                Err(error) => checks.push(Check::broken(
                    "agents",
                    format!("{}: `{}`: {error:#}", client.name(), file.display()),
                    "the agent cannot read it either: repair it",
                )),
            }
        }
        match entries.is_empty() {
            true => unaware.push(client.name()),
            false => known.push(format!("{} ({})", client.name(), entries.join(", "))),
        }
    }
    if !known.is_empty() {
        checks.push(Check::good("agents", known.join(", ")));
    }
    if !unaware.is_empty() {
        checks.push(Check::note(
            "agents",
            format!("found and not set up: {}", unaware.join(", ")),
            "run `lacon init`",
        ));
    }
    checks
}

/// Whether the file has an entry for Lacon: putting another one there would meet it.
fn knows(client: Client, file: &Path) -> anyhow::Result<bool> {
    let Some(text) = text_of(file)? else {
        return Ok(false);
    };
    let start = Start {
        command: "lacon".to_string(),
        before: Vec::new(),
        more: Vec::new(),
    };
    let edit = client.entry(&start).apply(Some(&text), Taken::Keep)?;
    Ok(matches!(edit, Edit::Nothing | Edit::Occupied))
}

/// Variables that change what Lacon does.
fn environment() -> Option<Check> {
    let set: Vec<String> = ["LACON_DIR", "LACON_OUTPUT_FORMAT", "LACON_LOG", "LACON_HTTP_TOKEN"]
        .into_iter()
        .filter_map(|name| {
            let value = std::env::var(name).ok()?;
            Some(match name {
                "LACON_HTTP_TOKEN" => format!("{name} is set"),
                _ => format!("{name}={value}"),
            })
        })
        .collect();
    if let Ok(format) = std::env::var("LACON_OUTPUT_FORMAT")
        && let Err(error) = format.parse::<wire::Format>()
    {
        return Some(Check::broken(
            "environment",
            format!("LACON_OUTPUT_FORMAT: {error}"),
            "unset it or give a format",
        ));
    }
    (!set.is_empty()).then(|| Check::good("environment", set.join(", ")))
}
