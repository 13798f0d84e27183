//! The one command that says whether the tree is sound, and the fast one for the way there.
//!
//! A crate whose tests passed is not tested again while nothing that they read has changed (`inputs`); what passed is kept in the
//! target directory, so that a clean clone runs everything.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use crate::inputs::Inputs;
use crate::skips::Skips;
use crate::{needs, prepare, root, run, skips};

/// Lints of what ships and of the tests. `unwrap` is refused by the root of each crate: in a test it is a failing test, in its helpers too.
const LINTS: &[&str] = &["--all-targets", "--", "-D", "warnings"];

/// Checks the format and the lints, and runs every test whose inputs are not known to pass; with `all`, every test.
pub(crate) fn test(mut skips: Skips, all: bool) -> Result<()> {
    let inputs = Inputs::read()?;
    format(&mut skips)?;
    lint(&mut skips, &["--workspace"])?;
    let mut passed = if all { Passed::default() } else { Passed::read() };
    let (known, open): (Vec<&str>, Vec<&str>) = inputs
        .crates()
        .into_iter()
        .partition(|name| passed.has(name, inputs.of(name)));
    if !known.is_empty() {
        eprintln!(
            "passed before, and nothing that they read has changed: {}",
            known.join(" ")
        );
    }
    // The number is taken before the run: what changes while it runs is tested next time.
    let numbers: Vec<u64> = open.iter().map(|name| inputs.of(name)).collect();
    // Skips of crates that are not run again are those of last time. Whatever could end one is part of the numbers.
    if !known.is_empty() {
        skips.read(&own_directory().join("skipped-before"));
    }
    let failed = run_tests(&mut skips, &open)?;
    // What passed is not run again because something else failed.
    for (name, number) in open.iter().zip(numbers) {
        if !failed.is_of(name) {
            passed.add(name, number);
        }
    }
    passed.write()?;
    skips.write(&own_directory().join("skipped-before"))?;
    skips.print();
    failed.said()
}

/// The format, and lints and tests of the crates that a change reaches.
pub(crate) fn affected() -> Result<()> {
    let mut skips = Skips::default();
    let changed = changed_crates()?;
    let inputs = Inputs::read()?;
    let reached = inputs.reached_from(&changed);
    format(&mut skips)?;
    if reached.is_empty() {
        eprintln!("no file of a crate has changed since HEAD");
        return Ok(());
    }
    let packages: Vec<&str> = reached.iter().flat_map(|name| ["--package", name]).collect();
    lint(&mut skips, &packages)?;
    let failed = run_tests(&mut skips, &reached)?;
    skips.print();
    failed.said()
}

/// Tries other cases at each run, and more of them, of what edits must never break.
pub(crate) fn fuzz(cases: &str) -> Result<()> {
    run(cargo()
        .args(["test", "--package", "index", "--test", "storage", "--", "cold"])
        .env("PROPTEST_CASES", cases))?;
    // Two hundred damaged texts for each history: a million where 5000 are asked for.
    let mutations = cases.parse::<u64>().unwrap_or(5000).saturating_mul(200).to_string();
    let seed = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(1, |since| since.as_secs());
    run(cargo()
        .args(["test", "--package", "wire", "--test", "hostile", "--", "mutations"])
        .env("LACON_MUTATIONS", mutations)
        .env("LACON_MUTATIONS_SEED", seed.to_string()))
}

/// Damages an index so many times, mutates what is read so many times, lets every call of the disk fail in every way, and
/// pauses a process for longer than any clock that was ever looked at.
pub(crate) fn faults(damages: &str) -> Result<()> {
    let test = |arguments: &[&str]| {
        let mut command = cargo();
        command
            .args(["test", "--package"])
            .args(arguments)
            .args(["--nocapture"])
            .env("LACON_FAULTS", damages)
            .env("PROPTEST_CASES", damages)
            .env("LACON_TEST_PAUSE", "35");
        command
    };
    run(&mut test(&["index", "--lib", "--", "sweep", "fuzz", "blocks"]))?;
    run(&mut test(&[
        "index", "--test", "storage", "--", "damage", "pause", "killed",
    ]))?;
    run(&mut test(&["lacon", "--test", "damage", "--"]))
}

fn format(skips: &mut Skips) -> Result<()> {
    if !prepare::has_component("rustfmt") {
        skips.add("format", "the toolchain has no rustfmt (rustup component add rustfmt)");
        return Ok(());
    }
    run(cargo().args(["fmt", "--all", "--check"]))
}

fn lint(skips: &mut Skips, packages: &[&str]) -> Result<()> {
    if !prepare::has_component("clippy") {
        skips.add("lints", "the toolchain has no clippy (rustup component add clippy)");
        return Ok(());
    }
    run(cargo().arg("clippy").args(packages).args(LINTS))
}

/// Runs the tests of some crates. All of the workspace's are built, whichever run: asked for a single crate, cargo would build
/// what it depends on once more, with the features that this crate alone asks for.
fn run_tests(skips: &mut Skips, crates: &[&str]) -> Result<Failed> {
    let mut failed = Failed::default();
    if crates.is_empty() {
        return Ok(failed);
    }
    let programs = test_programs()?;
    let file = Skips::file(&own_directory())?;
    let path = prepare::path_with_tools()?;
    let with_environment = |mut command: Command| {
        // The same cases for everybody: a run that fails can be run again. New ones are found by `fuzz`.
        command
            .env("PROPTEST_RNG_SEED", "1")
            .env(skips::VARIABLE, &file)
            .env("PATH", &path);
        command
    };
    for name in crates {
        let directory = root().join("crates").join(name);
        for program in programs.iter().filter(|program| program.of == *name) {
            let mut command = with_environment(Command::new(&program.path));
            let mut runs = true;
            for missing in needs::missing(name, program.name()) {
                let tests = [name, program.name(), missing.tests].join(" ");
                skips.add(tests.trim_end(), &format!("there is no `{}` here", missing.command));
                command.args(["--skip", missing.tests]);
                runs &= !missing.tests.is_empty();
            }
            if !runs {
                continue;
            }
            eprintln!("$ {name}: {}", program.name());
            let status = command
                .current_dir(&directory)
                .env("CARGO_MANIFEST_DIR", &directory)
                .status()
                .with_context(|| format!("cannot start `{}`", program.path))?;
            if !status.success() {
                failed.programs.push((name.to_string(), program.name().to_owned()));
            }
        }
    }
    let mut examples = with_environment(cargo());
    if run(examples.args(["test", "--workspace", "--doc", "--quiet"])).is_err() {
        failed.examples = true;
    }
    skips.read(&file);
    Ok(failed)
}

/// What failed of a run.
#[derive(Default)]
struct Failed {
    /// Crates and their programs of tests.
    programs: Vec<(String, String)>,
    /// Whether examples in the documentation did, of whichever crate.
    examples: bool,
}

impl Failed {
    fn is_of(&self, name: &str) -> bool {
        self.examples || self.programs.iter().any(|(of, _)| of == name)
    }

    fn said(&self) -> Result<()> {
        let mut what: Vec<String> = self
            .programs
            .iter()
            .map(|(of, program)| format!("{of}: {program}"))
            .collect();
        what.extend(self.examples.then(|| "examples in the documentation".to_owned()));
        match what.is_empty() {
            true => Ok(()),
            false => bail!("these tests failed: {}", what.join(", ")),
        }
    }
}

/// A program that runs tests.
struct TestProgram {
    /// The crate whose tests they are.
    of: String,
    path: String,
}

impl TestProgram {
    /// Its name without the hash that cargo appends.
    fn name(&self) -> &str {
        let file = self.path.rsplit('/').next().unwrap_or(&self.path);
        file.rsplit_once('-').map_or(file, |(name, _)| name)
    }
}

/// Builds every test of the workspace and returns the programs, in the order of their paths.
fn test_programs() -> Result<Vec<TestProgram>> {
    let mut command = cargo();
    command
        .args([
            "test",
            "--workspace",
            "--no-run",
            "--message-format=json-render-diagnostics",
        ])
        .current_dir(root())
        .stderr(Stdio::inherit());
    eprintln!("$ cargo test --workspace --no-run");
    let output = command.output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("the tests do not build");
    }
    let text = String::from_utf8(output.stdout).context("cargo's messages are no text")?;
    let mut programs: Vec<TestProgram> = text.lines().filter_map(test_program).collect();
    programs.sort_by(|left, right| left.path.cmp(&right.path));
    if programs.is_empty() {
        bail!("cargo named no test program");
    }
    Ok(programs)
}

/// The program that one message of cargo's names. Only a few fields of a flat message are wanted, and a JSON library would have
/// to be built before anything else can start.
fn test_program(message: &str) -> Option<TestProgram> {
    let field = |name: &str| {
        let (_, rest) = message.split_once(&format!("\"{name}\":\""))?;
        rest.split('"').next()
    };
    let (_, profile) = message.split_once("\"profile\":{")?;
    let (profile, _) = profile.split_once('}')?;
    if !profile.ends_with("\"test\":true") {
        return None;
    }
    let (_, folder) = field("package_id")?.rsplit_once("/crates/")?;
    Some(TestProgram {
        of: folder.split('#').next()?.to_owned(),
        path: field("executable")?.to_owned(),
    })
}

/// The crates with files that differ from HEAD, new ones included. A change of what all crates share changes all of them.
fn changed_crates() -> Result<BTreeSet<String>> {
    let status = Command::new("git")
        .args(["status", "--porcelain", "-z", "--untracked-files=all", "--no-renames"])
        .current_dir(root())
        .output()
        .context("cannot run git")?;
    if !status.status.success() {
        bail!("git does not tell what changed in `{}`", root().display());
    }
    let text = String::from_utf8_lossy(&status.stdout);
    let paths = text.split('\0').filter_map(|line| line.get(3..));
    let mut changed = BTreeSet::new();
    for path in paths {
        match path.strip_prefix("crates/").and_then(|below| below.split_once('/')) {
            Some((name, _)) => changed.insert(name.to_owned()),
            // Pages are compared with the command line; all else is part of every build.
            None if path.ends_with(".md") => changed.insert("lacon".to_owned()),
            None => {
                changed.extend(Inputs::read()?.crates().into_iter().map(str::to_owned));
                false
            }
        };
    }
    Ok(changed)
}

fn cargo() -> Command {
    Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()))
}

/// Where this chore keeps what it remembers.
fn own_directory() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from);
    target.join("xtask")
}

/// Which crates passed, with the number of what their tests read.
#[derive(Default)]
struct Passed(BTreeMap<String, u64>);

impl Passed {
    fn read() -> Passed {
        let text = std::fs::read_to_string(own_directory().join("passed")).unwrap_or_default();
        let of_line = |line: &str| {
            let (name, number) = line.split_once(' ')?;
            Some((name.to_owned(), u64::from_str_radix(number, 16).ok()?))
        };
        Passed(text.lines().filter_map(of_line).collect())
    }

    fn has(&self, name: &str, number: u64) -> bool {
        self.0.get(name) == Some(&number)
    }

    fn add(&mut self, name: &str, number: u64) {
        self.0.insert(name.to_owned(), number);
    }

    fn write(&self) -> Result<()> {
        let lines = self.0.iter().map(|(name, number)| format!("{name} {number:016x}\n"));
        let directory = own_directory();
        std::fs::create_dir_all(&directory)?;
        Ok(std::fs::write(directory.join("passed"), lines.collect::<String>())?)
    }
}
