//! Installs every package the way people do, with nothing around it, and asks each installed Lacon one question over MCP.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::payload::Payload;
use super::{Release, npm, registry, sha256};

/// How long a question may take, the first index included.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) fn check(release: &Release, payload: &Payload, out: &Path) -> Result<()> {
    let place = Place::new(&super::target_directory().join("dist-check"))?;
    is_reproducible(release, payload, out, &place)?;
    if payload.platform.is_windows() {
        eprintln!("the packages of another system are written and not installed here");
        return Ok(());
    }
    let mut done = Vec::new();
    for (name, install) in [
        ("archive", archive as Install),
        ("installer", installer),
        ("npm install", npm_install),
        ("npx", npx),
        ("npm without the platform's package", npm_without_binary),
        ("npm on an unsupported platform", npm_elsewhere),
        ("pip install", pip_install),
        ("Debian package", debian),
        ("MCP bundle", bundle),
    ] {
        let began = Instant::now();
        let case = place.case(name)?;
        let outcome = install(release, payload, out, &case).with_context(|| format!("{name} does not work"))?;
        let said = match outcome {
            Outcome::Works => format!("works, {:.1} s", began.elapsed().as_secs_f64()),
            Outcome::Skipped(reason) => format!("not tried: {reason}"),
        };
        eprintln!("{name:<36} {said}");
        done.push(said);
    }
    ensure!(
        done.iter().any(|said| said.starts_with("works")),
        "nothing could be tried here"
    );
    Ok(())
}

type Install = fn(&Release, &Payload, &Path, &Case) -> Result<Outcome>;

enum Outcome {
    Works,
    /// What is not on this machine.
    Skipped(String),
}

/// The folder in which all of this happens.
struct Place {
    base: PathBuf,
}

/// A folder for one way to install, with a home and a repository in it.
struct Case {
    folder: PathBuf,
    home: PathBuf,
    tree: PathBuf,
}

impl Place {
    fn new(base: &Path) -> Result<Place> {
        drop(std::fs::remove_dir_all(base));
        std::fs::create_dir_all(base)?;
        let base = base.canonicalize()?;
        Ok(Place { base })
    }

    fn case(&self, name: &str) -> Result<Case> {
        let folder = self.base.join(name.replace([' ', '\''], "-"));
        let (home, tree) = (folder.join("home"), folder.join("tree"));
        std::fs::create_dir_all(&home)?;
        std::fs::create_dir_all(&tree)?;
        std::fs::write(
            tree.join("shop.py"),
            "def price(item):\n    return item.cost\n\n\ndef total(items):\n    return sum(price(item) for item in items)\n",
        )?;
        std::fs::write(
            tree.join("Shop.cs"),
            "class Shop {\n  int Price(int item) { return item; }\n  int Total(int item) { return Price(item); }\n}\n",
        )?;
        Ok(Case { folder, home, tree })
    }
}

impl Case {
    /// A command that knows nothing of this machine but where a few programs are.
    fn bare(&self, program: impl AsRef<std::ffi::OsStr>, tools: &[&str]) -> Result<Command> {
        let bin = self.folder.join("bin");
        std::fs::create_dir_all(&bin)?;
        for tool in tools {
            let link = bin.join(tool);
            if !link.exists() {
                let found = which(tool).with_context(|| format!("there is no `{tool}`"))?;
                link_to(&found, &link)?;
            }
        }
        let mut command = Command::new(program);
        command
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", &bin)
            .current_dir(&self.folder);
        Ok(command)
    }

    /// `lacon index`, then a client's question to `lacon mcp`.
    fn works(&self, lacon: &dyn Fn() -> Result<Command>) -> Result<Outcome> {
        let said = said(lacon()?.arg("--version"))?;
        ensure!(said.starts_with("lacon "), "it is not Lacon: {said}");
        said_in(&self.tree, lacon()?.args(["index", "."]))?;
        for (symbol, caller) in [("shop.py::price", "total"), ("Shop.Price", "Total")] {
            let answer = ask(lacon()?.arg("mcp").current_dir(&self.tree), symbol)?;
            ensure!(
                answer.contains(caller),
                "`{caller}` is not among the callers of `{symbol}`: {answer}"
            );
        }
        Ok(Outcome::Works)
    }
}

#[cfg(unix)]
fn link_to(found: &Path, link: &Path) -> Result<()> {
    Ok(std::os::unix::fs::symlink(found, link)?)
}

#[cfg(not(unix))]
fn link_to(found: &Path, link: &Path) -> Result<()> {
    std::fs::copy(found, link)?;
    Ok(())
}

/// Writes all of it once more and compares.
fn is_reproducible(release: &Release, payload: &Payload, out: &Path, place: &Place) -> Result<()> {
    let again = place.base.join("again");
    super::write(release, payload, &again)?;
    let mut compared = 0;
    for folder in ["", "npm"] {
        for entry in std::fs::read_dir(again.join(folder))?.flatten() {
            let name = entry.file_name();
            // The sums, and the launcher, count every platform that is there; the first folder may hold more of them.
            let is_of_all = !name.to_string_lossy().contains(payload.platform.triple);
            if entry.file_type()?.is_file() && !(is_of_all && folder.is_empty() && name == "SHA256SUMS") {
                let (one, other) = (
                    std::fs::read(entry.path())?,
                    std::fs::read(out.join(folder).join(&name))?,
                );
                let is_package = [".gz", ".whl", ".deb", ".mcpb", ".zip"]
                    .iter()
                    .any(|end| name.to_string_lossy().ends_with(end));
                if is_package {
                    ensure!(
                        sha256(&one) == sha256(&other),
                        "`{}` differs from run to run",
                        name.to_string_lossy()
                    );
                    compared += 1;
                }
            }
        }
    }
    std::fs::remove_dir_all(&again)?;
    eprintln!("{compared} packages are the same when they are written again");
    Ok(())
}

/// Nothing at all on the machine: an empty `PATH`.
fn archive(release: &Release, payload: &Payload, out: &Path, case: &Case) -> Result<Outcome> {
    let archive = out.join(payload.platform.archive(&release.version));
    said(Command::new("tar").arg("-xzf").arg(archive).arg("-C").arg(&case.folder))?;
    let unpacked = case.folder.join(payload.platform.stem(&release.version));
    for name in [
        "completions/lacon.bash",
        "completions/_lacon",
        "man/man1/lacon.1",
        "THIRD-PARTY.md",
        "sbom.cdx.json",
    ] {
        ensure!(unpacked.join(name).is_file(), "the archive has no `{name}`");
    }
    let program = unpacked.join(payload.platform.program());
    case.works(&|| case.bare(&program, &[]))
}

/// The script for shells, with the release in a folder.
fn installer(_: &Release, payload: &Payload, out: &Path, case: &Case) -> Result<Outcome> {
    let tools = [
        "sh",
        "uname",
        "cp",
        "mktemp",
        "rm",
        "grep",
        "cut",
        "sha256sum",
        "tar",
        "gzip",
        "mkdir",
        "chmod",
        "mv",
    ];
    let install = |base: &Path| -> Result<Command> {
        let mut command = case.bare("/bin/sh", &tools)?;
        command
            .arg(base.join("install.sh"))
            .env("LACON_BASE_URL", format!("file://{}", base.display()))
            .env("LACON_TARGET", payload.platform.triple);
        Ok(command)
    };
    said(&mut install(out)?)?;
    // What was changed on the way is not installed.
    let changed = case.folder.join("changed");
    std::fs::create_dir_all(&changed)?;
    for name in ["install.sh", "SHA256SUMS"] {
        std::fs::copy(out.join(name), changed.join(name))?;
    }
    let name = payload.platform.archive(env!("CARGO_PKG_VERSION"));
    let mut bytes = std::fs::read(out.join(&name))?;
    bytes.push(0);
    std::fs::write(changed.join(&name), bytes)?;
    complains(&mut install(&changed)?, "checksum")?;
    complains(
        install(out)?.env("LACON_TARGET", "sparc-sun-solaris"),
        "there is no binary for sparc-sun-solaris",
    )?;
    let program = case.home.join(".local/bin/lacon");
    case.works(&|| case.bare(&program, &[]))
}

/// Nothing but Node.
const NODE: &[&str] = &["node", "npm", "npx", "sh", "env"];

fn registered(case: &Case, out: &Path, program: &str) -> Result<Command> {
    let address = registry::serve(out)?;
    let mut command = case.bare(case.folder.join("bin").join(program), NODE)?;
    command
        .env("npm_config_registry", format!("{address}/npm/"))
        .env("npm_config_update_notifier", "false")
        .env("npm_config_audit", "false")
        .env("npm_config_fund", "false");
    Ok(command)
}

fn npm_install(_: &Release, _: &Payload, out: &Path, case: &Case) -> Result<Outcome> {
    if let Some(skipped) = missing(&["node", "npm"]) {
        return Ok(skipped);
    }
    said(
        registered(case, out, "npm")?
            .args(["install", "--silent", "--prefix"])
            .arg(&case.folder)
            .arg("lacon"),
    )?;
    let program = case.folder.join("node_modules/.bin/lacon");
    case.works(&|| case.bare(&program, NODE))
}

/// The one line of the README.
fn npx(_: &Release, _: &Payload, out: &Path, case: &Case) -> Result<Outcome> {
    if let Some(skipped) = missing(&["node", "npx"]) {
        return Ok(skipped);
    }
    case.works(&|| {
        let mut command = registered(case, out, "npx")?;
        command.args(["-y", "lacon"]);
        Ok(command)
    })
}

fn npm_without_binary(_: &Release, payload: &Payload, out: &Path, case: &Case) -> Result<Outcome> {
    if let Some(skipped) = missing(&["node", "npm"]) {
        return Ok(skipped);
    }
    let mut install = registered(case, out, "npm")?;
    said(
        install
            .args(["install", "--silent", "--omit=optional", "--prefix"])
            .arg(&case.folder)
            .arg("lacon"),
    )?;
    let program = case.folder.join("node_modules/.bin/lacon");
    let expected = format!("the package `{}` is missing", payload.platform.npm_package());
    complains(&mut case.bare(&program, NODE)?, &expected)?;
    Ok(Outcome::Works)
}

fn npm_elsewhere(release: &Release, _: &Payload, out: &Path, case: &Case) -> Result<Outcome> {
    if let Some(skipped) = missing(&["node"]) {
        return Ok(skipped);
    }
    let launcher = out.join(npm::file("lacon", release));
    said(
        Command::new("tar")
            .arg("-xzf")
            .arg(launcher)
            .arg("-C")
            .arg(&case.folder),
    )?;
    let script = "Object.defineProperty(process, 'platform', { value: 'sunos' }); require('./package/bin/lacon.js')";
    let mut node = case.bare(case.folder.join("bin/node"), NODE)?;
    complains(node.args(["-e", script]), "there is no binary for sunos")?;
    Ok(Outcome::Works)
}

/// Nothing but Python.
fn pip_install(release: &Release, _: &Payload, out: &Path, case: &Case) -> Result<Outcome> {
    if let Some(skipped) = missing(&["python3"]) {
        return Ok(skipped);
    }
    let environment = case.folder.join("environment");
    said(Command::new("python3").args(["-m", "venv"]).arg(&environment))?;
    let index = format!("{}/simple", registry::serve(out)?);
    let mut pip = case.bare(environment.join("bin/pip"), &[])?;
    said(pip.args([
        "install",
        "--quiet",
        "--no-cache-dir",
        "--disable-pip-version-check",
        "--index-url",
        &index,
        "lacon",
    ]))?;
    let shown = said(
        case.bare(environment.join("bin/pip"), &[])?
            .args(["show", "--files", "lacon"]),
    )?;
    ensure!(
        shown.contains(&release.version) && shown.contains("man1/lacon.1"),
        "pip shows: {shown}"
    );
    let program = environment.join("bin/lacon");
    let outcome = case.works(&|| case.bare(&program, &[]))?;
    said(
        case.bare(environment.join("bin/pip"), &[])?
            .args(["uninstall", "--yes", "--quiet", "lacon"]),
    )?;
    ensure!(!program.exists(), "pip leaves the program behind");
    Ok(outcome)
}

fn debian(release: &Release, payload: &Payload, out: &Path, case: &Case) -> Result<Outcome> {
    let Some(architecture) = payload.platform.debian else {
        return Ok(Outcome::Skipped("there is none for this platform".to_owned()));
    };
    if let Some(skipped) = missing(&["dpkg-deb"]) {
        return Ok(skipped);
    }
    let package = out.join(format!("lacon_{}-1_{architecture}.deb", release.version));
    said(Command::new("dpkg-deb").arg("--info").arg(&package))?;
    said(
        Command::new("dpkg-deb")
            .arg("--extract")
            .arg(&package)
            .arg(case.folder.join("root")),
    )?;
    let root = case.folder.join("root/usr");
    for name in [
        "share/man/man1/lacon.1.gz",
        "share/bash-completion/completions/lacon",
        "share/doc/lacon/copyright",
    ] {
        ensure!(root.join(name).is_file(), "the package has no `{name}`");
    }
    let program = root.join("bin/lacon");
    case.works(&|| case.bare(&program, &[]))
}

/// As a client does that has its form filled in.
fn bundle(release: &Release, payload: &Payload, out: &Path, case: &Case) -> Result<Outcome> {
    if let Some(skipped) = missing(&["unzip"]) {
        return Ok(skipped);
    }
    let bundle = out.join(payload.platform.bundle(&release.version));
    said(
        Command::new("unzip")
            .arg("-q")
            .arg(bundle)
            .arg("-d")
            .arg(case.folder.join("bundle")),
    )?;
    let manifest: Value = serde_json::from_slice(&std::fs::read(case.folder.join("bundle/manifest.json"))?)?;
    let filled = |text: &str| {
        text.replace("${__dirname}", &case.folder.join("bundle").to_string_lossy())
            .replace(
                "${user_config.toolset}",
                manifest["user_config"]["toolset"]["default"]
                    .as_str()
                    .unwrap_or_default(),
            )
            .replace("${user_config.folders}", &case.tree.to_string_lossy())
    };
    let start = &manifest["server"]["mcp_config"];
    let mut command = case.bare(filled(start["command"].as_str().unwrap_or_default()), &[])?;
    let arguments = start["args"].as_array().context("there are arguments")?;
    command.args(arguments.iter().filter_map(Value::as_str).map(filled));
    let answer = ask(&mut command, "shop.py::price")?;
    ensure!(answer.contains("total"), "the answer is another one: {answer}");
    Ok(Outcome::Works)
}

fn missing(tools: &[&str]) -> Option<Outcome> {
    let missing = tools.iter().find(|tool| which(tool).is_none())?;
    Some(Outcome::Skipped(format!("there is no `{missing}` here")))
}

fn which(tool: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    // Links and shims find what they stand for by their own place.
    std::env::split_paths(&path)
        .map(|folder| folder.join(tool))
        .find(|file| file.is_file())?
        .canonicalize()
        .ok()
}

/// What a command says that must succeed.
fn said(command: &mut Command) -> Result<String> {
    let ran = command.output().with_context(|| format!("cannot start {command:?}"))?;
    if !ran.status.success() {
        bail!(
            "{command:?} failed ({}): {}",
            ran.status,
            String::from_utf8_lossy(&ran.stderr).trim()
        );
    }
    Ok(String::from_utf8_lossy(&ran.stdout).into_owned())
}

fn said_in(folder: &Path, command: &mut Command) -> Result<String> {
    said(command.current_dir(folder))
}

/// A command must fail, and say this.
fn complains(command: &mut Command, expected: &str) -> Result<()> {
    let ran = command.output().with_context(|| format!("cannot start {command:?}"))?;
    let error = String::from_utf8_lossy(&ran.stderr);
    ensure!(!ran.status.success(), "{command:?} does not fail");
    ensure!(
        error.contains(expected),
        "{command:?} does not say `{expected}`: {error}"
    );
    Ok(())
}

/// Ends a server, whatever becomes of the question.
struct Server(Child);

impl Drop for Server {
    fn drop(&mut self) {
        drop(self.0.kill());
        drop(self.0.wait());
    }
}

/// Who calls a symbol, asked of a server over its standard streams as MCP clients do.
fn ask(command: &mut Command, symbol: &str) -> Result<String> {
    let child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .with_context(|| format!("cannot start {command:?}"))?;
    let mut server = Server(child);
    let mut input = server.0.stdin.take().context("the server has an input")?;
    let output = server.0.stdout.take().context("the server has an output")?;
    let (send, received) = mpsc::channel();
    std::thread::spawn(move || {
        for line in BufReader::new(output).lines().map_while(Result::ok) {
            if send.send(line).is_err() {
                break;
            }
        }
    });
    let client =
        json!({"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "dist", "version": "1"}});
    for message in [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": client}),
        json!({"jsonrpc": "2.0", "method": "notifications/initialized"}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "get_callers", "arguments": {"id": symbol, "format": "json"}}}),
    ] {
        writeln!(input, "{message}")?;
    }
    let deadline = Instant::now() + PATIENCE;
    loop {
        let line = received
            .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            .context("the server does not answer")?;
        let message: Value = serde_json::from_str(&line).with_context(|| format!("this is no message: {line}"))?;
        if message["id"] == 2 {
            ensure!(message["error"].is_null(), "the question fails: {line}");
            return Ok(message["result"].to_string());
        }
    }
}
