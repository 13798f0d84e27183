//! `cargo xtask dist`: from one binary to every package that people install it by.
//!
//! The one trick: packages are written byte by byte (`tar`, `zip`, `ar`), in a fixed order and with the time of the commit, so that the
//! same binary gives the same packages on any machine, and no packaging tool is needed. `check` installs each of them the way people do.

mod archive;
mod check;
mod debian;
mod finish;
mod mcpb;
mod npm;
mod payload;
mod platform;
mod registry;
mod wheel;

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

use crate::{root, run};
use payload::Payload;
use platform::Platform;

pub(crate) const HELP: &str = "\
Usage: cargo xtask dist [--target TRIPLE] [--binary FILE] [--runner PROGRAM] [--out DIR] [--repository URL]
       cargo xtask dist --finish [--out DIR] [--repository URL]
       cargo xtask dist --check [the options of the first]

Builds Lacon for one target (or takes --binary) and writes its packages into DIR (target/dist): an archive, the npm package of the
platform, a wheel, a Debian package, an MCP bundle; then what goes over all platforms that are in DIR, which --finish writes alone:
the npm launcher, checksums, installers, the Homebrew formula, the scoop manifest, the container's Dockerfile, and server.json.

  --runner      what starts a binary of another platform (wine, qemu-aarch64): its manual pages and completions are its own words
  --repository  where releases will be (https://github.com/OWNER/NAME); without it nothing is written that needs an address
  --check       writes everything twice, compares, then installs each package in a clean place and asks one question over MCP
";

/// What was asked for.
pub(crate) struct Options {
    platform: &'static Platform,
    binary: Option<PathBuf>,
    runner: Option<String>,
    out: PathBuf,
    repository: Option<String>,
}

/// What all packages say of themselves.
pub(crate) struct Release {
    pub(crate) version: String,
    /// Seconds since 1970 that every file in a package has.
    pub(crate) time: u64,
    /// Without a slash at the end.
    pub(crate) repository: Option<String>,
}

pub(crate) const SUMMARY: &str = "The code and the tools a coding agent needs, in as few tokens as the facts allow";
pub(crate) const LICENCE: &str = "Apache-2.0 OR MIT";

pub(crate) fn dist(arguments: &[&str]) -> Result<()> {
    let (mut check, mut finish_only) = (false, false);
    let mut target = None;
    let mut options = Options {
        platform: Platform::host()?,
        binary: None,
        runner: None,
        out: target_directory().join("dist"),
        repository: repository_of_ci(),
    };
    let mut arguments = arguments.iter();
    while let Some(argument) = arguments.next() {
        let mut value = || {
            let value = arguments.next().map(|value| (*value).to_owned());
            value.with_context(|| format!("`{argument}` needs a value"))
        };
        match *argument {
            "--check" => check = true,
            "--finish" => finish_only = true,
            "--target" => target = Some(value()?),
            "--binary" => options.binary = Some(value()?.into()),
            "--runner" => options.runner = Some(value()?),
            "--out" => options.out = value()?.into(),
            "--repository" => options.repository = Some(value()?.trim_end_matches('/').to_owned()),
            _ => bail!("`{argument}` is no option\n\n{HELP}"),
        }
    }
    if let Some(target) = target {
        options.platform = Platform::of(&target)?;
    }
    let release = Release {
        version: env!("CARGO_PKG_VERSION").to_owned(),
        time: commit_time()?,
        repository: options.repository.clone(),
    };
    std::fs::create_dir_all(&options.out)?;
    options.out = options.out.canonicalize()?;
    if finish_only {
        return finish::finish(&release, &options.out);
    }
    let binary = match &options.binary {
        Some(binary) => binary.clone(),
        None => build(options.platform)?,
    };
    let payload = Payload::collect(options.platform, &binary, options.runner.as_deref())?;
    write(&release, &payload, &options.out)?;
    if check {
        check::check(&release, &payload, &options.out)?;
    }
    Ok(())
}

/// All packages of one platform, and what goes over all of them.
fn write(release: &Release, payload: &Payload, out: &Path) -> Result<()> {
    archive::write(release, payload, out)?;
    npm::write_platform(release, payload, out)?;
    wheel::write(release, payload, out)?;
    debian::write(release, payload, out)?;
    mcpb::write(release, payload, out)?;
    finish::finish(release, out)
}

/// The binary as it is shipped.
fn build(platform: &Platform) -> Result<PathBuf> {
    // Zig knows how to link for a glibc that is older than the one here, and for musl.
    let zigbuild = Command::new("cargo-zigbuild").arg("--version").output().is_ok();
    let (verb, target) = match (platform.npm_libc, platform.oldest_glibc) {
        (Some(_), Some(glibc)) if zigbuild => ("zigbuild", format!("{}.{glibc}", platform.triple)),
        (Some(_), None) if zigbuild => ("zigbuild", platform.triple.to_owned()),
        _ => ("build", platform.triple.to_owned()),
    };
    run(Command::new("cargo")
        .args([
            verb,
            "--locked",
            "--profile",
            "dist",
            "--package",
            "lacon",
            "--bin",
            "lacon",
        ])
        .args([
            "--package",
            "syntax",
            "--features",
            "syntax/packed",
            "--target",
            &target,
        ])
        .env("LACON_COMMIT", commit()?))?;
    let folder = target_directory().join(platform.triple).join("dist");
    Ok(folder.join(platform.program()))
}

fn target_directory() -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(folder) => folder.into(),
        None => root().join("target"),
    }
}

/// The repository whose workflow this is, if it is one.
fn repository_of_ci() -> Option<String> {
    let server = std::env::var("GITHUB_SERVER_URL").ok()?;
    Some(format!("{server}/{}", std::env::var("GITHUB_REPOSITORY").ok()?))
}

fn commit() -> Result<String> {
    git(&["rev-parse", "--short=12", "HEAD"])
}

fn commit_time() -> Result<u64> {
    let said = match std::env::var("SOURCE_DATE_EPOCH") {
        Ok(time) => time,
        Err(_) => git(&["log", "-1", "--format=%ct"])?,
    };
    said.parse().with_context(|| format!("`{said}` is no time"))
}

fn git(arguments: &[&str]) -> Result<String> {
    let asked = Command::new("git").args(arguments).current_dir(root()).output();
    let asked = asked.context("cannot run git")?;
    if !asked.status.success() {
        bail!("`git {}` failed", arguments.join(" "));
    }
    Ok(String::from_utf8_lossy(&asked.stdout).trim().to_owned())
}

/// Writes a package and says how large it is.
fn put(out: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = out.join(name);
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(&path, bytes).with_context(|| format!("cannot write `{}`", path.display()))?;
    eprintln!("{:>9.2} MB  {name}", bytes.len() as f64 / 1e6);
    Ok(())
}

fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A file of `packaging/` with its `{words}` filled in.
fn template(name: &str, words: &[(&str, &str)]) -> Result<String> {
    let path = root().join("packaging").join(name);
    let mut text = std::fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))?;
    for (word, meaning) in words {
        text = text.replace(&format!("{{{{{word}}}}}"), meaning);
    }
    Ok(text)
}
