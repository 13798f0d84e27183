//! `lacon init`: tells the coding agents that are installed about Lacon, and takes it back.

pub(crate) mod change;
pub(crate) mod clients;
pub(crate) mod ledger;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow};
use serde::Serialize;
use serde_json::json;
use server::project;
use server::tools::Toolset;
use terminal::failure::{Exit, Explain, Failure};
use terminal::output::Output;

use self::change::{Change, Comments, Edit, Taken};
use self::clients::{Client, Places, Reach, Rules, Start, on_path};
use self::ledger::{Changed, Ledger, put, take_away, text_of};

/// Set up coding agents to use Lacon, or take it back
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon init --dry-run              # what would be written, and where
  lacon init                        # every agent that is found, for this repository
  lacon init --client codex --user  # one agent, for everything you work on
  lacon init --instructions --hooks # also tell the agent when asking pays
  lacon init --undo

Found are Claude Code, Cursor, VS Code, Codex, Gemini CLI, Zed, Windsurf, opencode, Continue, Cline, Roo Code, Kilo Code, Copilot CLI,
Claude Desktop, Kiro, Antigravity, Amp, goose, Warp and Junie. Files keep their comments, layout and permissions; a file that cannot be
read is left alone and named. What was written is remembered, and --undo takes back exactly that: a file that was edited since loses only
Lacon's entry.")]
pub(crate) struct Args {
    /// The repository [default: the one around the current folder]
    #[arg(value_name = "DIR")]
    root: Option<PathBuf>,

    /// Only this agent, found or not; may be given several times
    #[arg(long, value_enum)]
    client: Vec<Client>,

    /// For everything you work on instead of this repository
    #[arg(long)]
    user: bool,

    /// List these tools; several sets are separated by commas
    #[arg(long, value_enum, value_name = "SET", value_delimiter = ',')]
    toolset: Vec<Toolset>,

    /// Also say when asking Lacon pays, in the file in which each agent reads rules (AGENTS.md, CLAUDE.md, …)
    #[arg(long)]
    instructions: bool,

    /// Also remind Claude Code at the start of each session, and have it told after Grep, Glob and Read what these have not shown
    /// (mostly nothing; LACON_HOOKS=off silences it)
    #[arg(long)]
    hooks: bool,

    /// Replace entries for Lacon that say something else
    #[arg(long)]
    replace: bool,

    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,

    /// Take back what was written
    #[arg(long, conflicts_with_all = ["client", "toolset", "instructions", "hooks", "replace"])]
    undo: bool,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// One line for the rules that an agent reads: which of the tools to call when, and when to stop.
fn instructions() -> String {
    const TOOLS: [(&str, &str); 5] = [
        ("find", "where something is"),
        ("read", "source by symbol or lines"),
        ("uses", "who calls or uses it"),
        ("trace", "how one thing reaches another"),
        ("change", "what an edit breaks, and its tests"),
    ];
    let known: Vec<String> = TOOLS
        .iter()
        .filter(|(tool, _)| server::tools::find(tool).is_some())
        .map(|(tool, what)| format!("`{tool}` ({what})"))
        .collect();
    format!(
        "For questions about code ask the MCP server `lacon` before searching or reading files: {}. An answer that says `complete` needs no \
         second search.",
        known.join(", ")
    )
}

/// What happened, or would, to one file.
#[derive(Serialize)]
struct Step {
    what: String,
    path: String,
    outcome: Outcome,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    difference: Option<String>,
}

#[derive(Serialize, Clone, Copy, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
enum Outcome {
    Created,
    Changed,
    Unchanged,
    /// Something else of the user's stands there.
    Kept,
    Refused,
    Restored,
    Removed,
}

#[derive(Serialize)]
struct Report {
    dry_run: bool,
    files: Vec<Step>,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let named = match (&args.root, args.user) {
        (Some(root), _) => root.clone(),
        // What is set up for everything needs no project.
        (None, true) => PathBuf::from("."),
        (None, false) => project::one(None)?,
    };
    let root = named
        .canonicalize()
        .with_context(|| format!("no directory `{}`", named.display()))
        .bad_input()?;
    let places = Places::of(root).context("there is no home directory")?;
    let reach = if args.user { Reach::User } else { Reach::Project };
    let ledger_path = ledger_path(reach, &places)?;
    let mut ledger = Ledger::read(&ledger_path)?;
    let files = match args.undo {
        true => undo(&mut ledger, args.dry_run, reach, &places),
        false => set_up(&args, reach, &places, &mut ledger, output)?,
    };
    if !args.dry_run {
        ledger.write(&ledger_path)?;
    }
    let report = Report {
        dry_run: args.dry_run,
        files,
    };
    let refused = report
        .files
        .iter()
        .filter(|step| step.outcome == Outcome::Refused)
        .count();
    match args.json {
        true => output.json(&report)?,
        false => output.line(said(&report, args.undo)),
    }
    if refused > 0 {
        output.finish()?;
        return Err(Failure {
            exit: Exit::Failed,
            error: anyhow!("{refused} of {} files were left alone", report.files.len()),
            hints: vec!["the reasons are above; fix the files, or add the entry by hand".to_string()],
        });
    }
    Ok(())
}

/// Among the user's own state, also for a repository: what a tree brings along could have any file overwritten by an undo.
fn ledger_path(reach: Reach, places: &Places) -> Result<PathBuf, Failure> {
    let state = server::trust::state_folder()
        .context("there is no folder to remember what is written: set HOME, XDG_STATE_HOME or LACON_STATE_DIR")?;
    Ok(match reach {
        Reach::User => state.join("init.json"),
        Reach::Project => {
            let name = places
                .project
                .file_name()
                .map_or("root".into(), |name| name.to_string_lossy());
            let hash = blake3::hash(places.project.as_os_str().as_encoded_bytes()).to_hex();
            state.join("init").join(format!("{name}-{}.json", &hash[..16]))
        }
    })
}

/// Refuses a file that a repository leads outside by a link: what is set up for it is written inside of it.
fn stays_inside(path: &Path, reach: Reach, places: &Places) -> anyhow::Result<()> {
    if reach == Reach::User {
        return Ok(());
    }
    let nearest = path.ancestors().find(|above| std::fs::symlink_metadata(above).is_ok());
    let leads_to = nearest.and_then(|nearest| nearest.canonicalize().ok());
    // What git keeps is not set up by a link into it, either.
    let is_inside = |leads_to: PathBuf| {
        let inside = leads_to.strip_prefix(&places.project).map(Path::to_path_buf);
        inside.is_ok_and(|inside| {
            !inside
                .components()
                .any(|part| part.as_os_str().eq_ignore_ascii_case(".git"))
        })
    };
    match leads_to.is_some_and(is_inside) {
        true => Ok(()),
        false => Err(anyhow!(
            "it leads outside of the repository or into `.git`: replace the link by a file, or set it up with --user"
        )),
    }
}

fn set_up(
    args: &Args,
    reach: Reach,
    places: &Places,
    ledger: &mut Ledger,
    output: &mut Output,
) -> Result<Vec<Step>, Failure> {
    let wanted = wanted(args, reach, places, output)?;
    let mut planned: HashMap<PathBuf, String> = HashMap::new();
    let taken = if args.replace { Taken::Replace } else { Taken::Keep };
    let mut steps = Vec::new();
    for (what, path, change) in wanted {
        let shown = path.display().to_string();
        let step = |outcome, reason, difference| Step {
            what: what.clone(),
            path: shown.clone(),
            outcome,
            reason,
            difference,
        };
        let tried = stays_inside(&path, reach, places)
            // A dry run sees what an earlier change would have left.
            .and_then(|()| {
                planned
                    .get(&path)
                    .cloned()
                    .map_or_else(|| text_of(&path), |text| Ok(Some(text)))
            })
            .and_then(|before| Ok((change.apply(before.as_deref(), taken)?, before)));
        steps.push(match tried {
            Err(error) => step(Outcome::Refused, Some(format!("{error:#}")), None),
            Ok((Edit::Nothing, _)) => step(Outcome::Unchanged, None, None),
            Ok((Edit::Occupied, _)) => {
                let reason = "it has another entry for Lacon; --replace replaces it".to_string();
                step(Outcome::Kept, Some(reason), None)
            }
            Ok((Edit::Write(after), before)) => {
                let difference = args
                    .dry_run
                    .then(|| difference(before.as_deref().unwrap_or_default(), &after));
                let outcome = if before.is_some() {
                    Outcome::Changed
                } else {
                    Outcome::Created
                };
                let written = match args.dry_run {
                    true => {
                        planned.insert(path.clone(), after);
                        Ok(())
                    }
                    false => put(&path, &after).map(|directories| {
                        ledger.files.push(Changed {
                            path: path.clone(),
                            what: what.clone(),
                            before,
                            after,
                            directories,
                        });
                    }),
                };
                match written {
                    Ok(()) => step(outcome, None, difference),
                    Err(error) => step(Outcome::Refused, Some(format!("{error:#}")), None),
                }
            }
        });
    }
    Ok(steps)
}

/// Every change that was asked for: whose it is, where, and what.
fn wanted(
    args: &Args,
    reach: Reach,
    places: &Places,
    output: &mut Output,
) -> Result<Vec<(String, PathBuf, Change)>, Failure> {
    let clients: Vec<Client> = match args.client.as_slice() {
        [] => Client::ALL
            .into_iter()
            .filter(|client| client.is_found(places))
            .collect(),
        named => named.to_vec(),
    };
    if clients.is_empty() {
        let names: Vec<String> = Client::ALL.iter().map(|client| word(*client)).collect();
        return Err(anyhow!("no coding agent was found")).hint(format!("name one with --client: {}", names.join(", ")));
    }
    let (command, before) = command();
    let start = Start {
        command,
        before,
        more: match args.toolset.as_slice() {
            [] => Vec::new(),
            sets => {
                let names: Vec<String> = sets.iter().map(value_name).collect();
                vec!["--toolset".to_string(), names.join(",")]
            }
        },
    };
    let mut wanted = Vec::new();
    for client in &clients {
        match client.file(reach, places) {
            Some(path) => wanted.push((client.name().to_string(), path, client.entry(&start))),
            // Nothing is left out in silence.
            None if args.client.is_empty() => {
                if !args.json {
                    output.line(format!(
                        "{}: has no configuration for one repository; `lacon init --client {} --user` sets it up for all",
                        client.name(),
                        word(*client)
                    ));
                }
            }
            None => {
                return Err(anyhow!("{} has no configuration for one repository", client.name()))
                    .bad_input()
                    .hint("give --user");
            }
        }
    }
    if args.instructions {
        for (path, change) in rules(&clients, reach, places) {
            wanted.push(("instructions".to_string(), path, change));
        }
    }
    if args.hooks {
        let base = match reach {
            Reach::Project => &places.project,
            Reach::User => &places.home,
        };
        let program = in_hook(&start);
        let begin = json!({"hooks": [{"type": "command", "command": format!("{program} status --brief")}]});
        let after = json!({
            "matcher": "Grep|Glob|Read",
            "hooks": [{"type": "command", "command": format!("{program} hook"), "timeout": 5}],
        });
        for (what, event, value) in [
            ("hooks", "SessionStart", begin),
            ("hooks after tools", "PostToolUse", after),
        ] {
            wanted.push((
                what.to_string(),
                base.join(".claude/settings.json"),
                Change::Element {
                    path: vec!["hooks", event],
                    value,
                    comments: Comments::Refused,
                },
            ));
        }
    }
    Ok(wanted)
}

/// The line for each file of rules that one of these agents reads, each file once.
fn rules(clients: &[Client], reach: Reach, places: &Places) -> Vec<(PathBuf, Change)> {
    let mut found: Vec<(PathBuf, Change)> = Vec::new();
    for rules in clients.iter().filter_map(|client| client.rules(reach, places)) {
        let (path, change) = match rules {
            Rules::Part(path) => (path, Change::Block { text: instructions() }),
            Rules::Whole(path) => {
                let text = format!("# Lacon\n\n{}\n", instructions());
                (path, Change::Whole { text })
            }
        };
        if found.iter().all(|(known, _)| *known != path) {
            found.push((path, change));
        }
    }
    found
}

/// What a hook's shell starts Lacon by.
fn in_hook(start: &Start) -> String {
    let words = std::iter::once(&start.command).chain(&start.before);
    words.map(|word| in_shell(word)).collect::<Vec<_>>().join(" ")
}

/// A program's path as a shell reads one word.
fn in_shell(program: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-+:@".contains(letter);
    match program.chars().all(is_plain) {
        true => program.to_string(),
        false if cfg!(windows) => format!("\"{program}\""),
        false => format!("'{}'", program.replace('\'', "'\\''")),
    }
}

/// What starts Lacon tomorrow too, with the arguments before the verb: the package runner where that keeps this program in a cache,
/// `lacon` where that starts this program, else where this program is.
fn command() -> (String, Vec<String>) {
    let own = std::env::current_exe().and_then(|path| path.canonicalize()).ok();
    let found = on_path("lacon").and_then(|path| path.canonicalize().ok());
    if let Some((command, before)) = own.as_deref().and_then(package_runner) {
        return (command, before);
    }
    let command = match own {
        Some(own) if found.as_ref() != Some(&own) => own.display().to_string(),
        _ => "lacon".to_string(),
    };
    (command, Vec::new())
}

/// The caches of `npx` and `uvx` are emptied, and their folders have names of one run.
fn package_runner(own: &Path) -> Option<(String, Vec<String>)> {
    let package = concat!("lacon@", env!("CARGO_PKG_VERSION"));
    let has = |name: &str| own.components().any(|part| part.as_os_str() == name);
    let words: &[&str] = if has("_npx") && cfg!(windows) {
        // What is no program but a script is started by the shell there.
        &["cmd", "/c", "npx", "-y", package]
    } else if has("_npx") {
        &["npx", "-y", package]
    } else if has("uv") && has("archive-v0") {
        &["uvx", package]
    } else {
        return None;
    };
    let (command, before) = words.split_first()?;
    Some((
        (*command).to_string(),
        before.iter().map(|word| (*word).to_string()).collect(),
    ))
}

fn word(client: Client) -> String {
    value_name(&client)
}

fn value_name(value: &impl clap::ValueEnum) -> String {
    value
        .to_possible_value()
        .map(|value| value.get_name().to_string())
        .unwrap_or_default()
}

/// Newest first: two changes of one file come off in turn. What cannot be taken back stays in the ledger.
fn undo(ledger: &mut Ledger, dry_run: bool, reach: Reach, places: &Places) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut left = Vec::new();
    for changed in std::mem::take(&mut ledger.files).into_iter().rev() {
        let tried = stays_inside(&changed.path, reach, places).and_then(|()| undone(&changed, dry_run));
        let (outcome, reason) = match tried {
            Ok(outcome) => (outcome, None),
            Err(error) => (Outcome::Refused, Some(format!("{error:#}"))),
        };
        steps.push(Step {
            what: changed.what.clone(),
            path: changed.path.display().to_string(),
            outcome,
            reason,
            difference: None,
        });
        if dry_run || outcome == Outcome::Refused {
            left.push(changed);
        }
    }
    left.reverse();
    ledger.files = left;
    steps
}

fn undone(changed: &Changed, dry_run: bool) -> anyhow::Result<Outcome> {
    let Some(now) = text_of(&changed.path)? else {
        return Ok(Outcome::Unchanged);
    };
    let text = match now == changed.after {
        true => changed.before.clone(),
        // Edited since: only what is Lacon's comes out.
        false => change_of(changed)
            .context("it was edited since, and what to take out is not known")?
            .revert(&now)?,
    };
    match (dry_run, &text) {
        (true, _) => {}
        (false, Some(text)) => {
            put(&changed.path, text)?;
        }
        (false, None) => take_away(&changed.path, &changed.directories)?,
    }
    Ok(match text {
        Some(_) => Outcome::Restored,
        None => Outcome::Removed,
    })
}

/// The change that an entry of the ledger stands for. Where it goes in a file is all that taking it out needs.
fn change_of(changed: &Changed) -> Option<Change> {
    let (command, before) = command();
    let start = Start {
        command,
        before,
        more: Vec::new(),
    };
    match changed.what.as_str() {
        "instructions" if changed.after.contains(change::BLOCK_BEGIN) => Some(Change::Block { text: String::new() }),
        "instructions" => Some(Change::Whole {
            text: changed.after.clone(),
        }),
        what @ ("hooks" | "hooks after tools") => {
            let event = if what == "hooks" { "SessionStart" } else { "PostToolUse" };
            let after: serde_json::Value = serde_json::from_str(&changed.after).ok()?;
            let hooks = after["hooks"][event].as_array()?;
            Some(Change::Element {
                path: vec!["hooks", event],
                value: hooks.last()?.clone(),
                comments: Comments::Refused,
            })
        }
        name => {
            let client = Client::ALL.into_iter().find(|client| client.name() == name)?;
            Some(client.entry(&start))
        }
    }
}

fn said(report: &Report, undone: bool) -> String {
    if report.files.is_empty() {
        return match undone {
            true => "there is nothing to take back".to_string(),
            false => "there is nothing to do".to_string(),
        };
    }
    let mut text = String::new();
    for step in &report.files {
        let verb = match (step.outcome, report.dry_run) {
            (Outcome::Created, false) => "created",
            (Outcome::Created, true) => "would create",
            (Outcome::Changed, false) => "changed",
            (Outcome::Changed, true) => "would change",
            (Outcome::Unchanged, _) => "nothing to do",
            (Outcome::Kept, _) => "kept",
            (Outcome::Refused, _) => "left alone",
            (Outcome::Restored, false) => "restored",
            (Outcome::Restored, true) => "would restore",
            (Outcome::Removed, false) => "removed",
            (Outcome::Removed, true) => "would remove",
        };
        text.push_str(&format!("{:<13} {} ({})", verb, step.path, step.what));
        if let Some(reason) = &step.reason {
            text.push_str(&format!(": {reason}"));
        }
        text.push('\n');
        if let Some(difference) = &step.difference {
            text.push_str(difference);
        }
    }
    let is_new = |step: &Step| matches!(step.outcome, Outcome::Created | Outcome::Changed);
    if !undone && !report.dry_run && report.files.iter().any(is_new) {
        text.push_str(
            "next: `lacon index` here, which shows its progress (the server does the same when it first starts); then start the agent anew\n",
        );
    }
    text
}

/// The lines that differ, with one line around them.
fn difference(before: &str, after: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let same = |pair: &(&&str, &&str)| pair.0 == pair.1;
    let head = old.iter().zip(&new).take_while(same).count();
    let tail = old[head..]
        .iter()
        .rev()
        .zip(new[head..].iter().rev())
        .take_while(same)
        .count();
    let mut text = String::new();
    let mut line = |mark: char, line: &str| text.push_str(&format!("  {mark} {line}\n"));
    if let Some(before) = head.checked_sub(1) {
        line(' ', new[before]);
    }
    old[head..old.len() - tail].iter().for_each(|gone| line('-', gone));
    new[head..new.len() - tail].iter().for_each(|added| line('+', added));
    if tail > 0 {
        line(' ', new[new.len() - tail]);
    }
    text
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{Start, in_hook, package_runner};

    #[test]
    fn a_runner_starts_what_lies_in_its_cache() {
        let version = env!("CARGO_PKG_VERSION");
        let started = |path: &str| package_runner(Path::new(path)).map(|(command, before)| (command, before.join(" ")));
        if cfg!(unix) {
            let npx = started("/home/u/.npm/_npx/0a1b/node_modules/lacon-linux-x64/bin/lacon");
            assert_eq!(npx, Some(("npx".to_string(), format!("-y lacon@{version}"))));
        }
        let uvx = started("/home/u/.cache/uv/archive-v0/Xy_Z/bin/lacon");
        assert_eq!(uvx, Some(("uvx".to_string(), format!("lacon@{version}"))));
        for path in [
            "/usr/bin/lacon",
            "/home/u/uv/lacon",
            "/home/u/node_modules/lacon-linux-x64/bin/lacon",
        ] {
            assert_eq!(started(path), None, "{path}");
        }
    }

    #[test]
    fn a_hook_is_one_command_to_a_shell() {
        let start = |command: &str, before: &[&str]| Start {
            command: command.to_string(),
            before: before.iter().map(|word| (*word).to_string()).collect(),
            more: Vec::new(),
        };
        assert_eq!(in_hook(&start("lacon", &[])), "lacon");
        assert_eq!(in_hook(&start("npx", &["-y", "lacon@1.0.0"])), "npx -y lacon@1.0.0");
        if cfg!(unix) {
            assert_eq!(in_hook(&start("/my bin/it's", &[])), r"'/my bin/it'\''s'");
        }
    }
}
