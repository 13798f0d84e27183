//! What goes over all platforms: written from whatever packages are in the folder, so that one job of a release can build each
//! platform and another one this.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::platform::{PLATFORMS, Platform};
use super::{LICENCE, Release, SUMMARY, npm, put, sha256, template};

impl Release {
    /// The name in the MCP registry, which belongs to whoever owns the repository.
    pub(crate) fn registry_name(&self) -> Option<String> {
        let (owner, _) = self
            .repository
            .as_ref()?
            .strip_prefix("https://github.com/")?
            .split_once('/')?;
        Some(format!("io.github.{owner}/lacon"))
    }

    /// Where a file of this release is loaded from.
    fn address(&self, file: &str) -> Option<String> {
        let repository = self.repository.as_ref()?;
        Some(format!("{repository}/releases/download/v{}/{file}", self.version))
    }
}

/// A platform whose packages are there, with the sums of its archive and its bundle.
struct Built {
    platform: &'static Platform,
    archive: String,
    bundle: String,
}

pub(crate) fn finish(release: &Release, out: &Path) -> Result<()> {
    let built = built(release, out)?;
    let platforms: Vec<&'static Platform> = built.iter().map(|built| built.platform).collect();
    npm::write_launcher(release, &platforms, out)?;
    put(
        out,
        "lacon.cdx.json",
        &std::fs::read(crate::root().join("sbom.cdx.json"))?,
    )?;
    put(
        out,
        "install.sh",
        installer("install.sh", release, &platforms)?.as_bytes(),
    )?;
    put(
        out,
        "install.ps1",
        installer("install.ps1", release, &platforms)?.as_bytes(),
    )?;
    if let Some(musl) = platforms.iter().find(|platform| platform.npm_libc == Some("musl")) {
        let words = [("version", release.version.as_str()), ("target", musl.triple)];
        put(out, "Dockerfile", template("Dockerfile", &words)?.as_bytes())?;
    }
    match release.repository {
        Some(_) => {
            put(out, "lacon.rb", formula(release, &built)?.as_bytes())?;
            put(out, "lacon.json", pretty(&scoop(release, &built)?)?.as_bytes())?;
            put(out, "server.json", pretty(&server(release, &built)?)?.as_bytes())?;
        }
        None => eprintln!("no --repository: the Homebrew formula, the scoop manifest and server.json are left out"),
    }
    put(out, "SHA256SUMS", sums(out)?.as_bytes())
}

fn built(release: &Release, out: &Path) -> Result<Vec<Built>> {
    let mut built = Vec::new();
    for platform in PLATFORMS {
        let read = |name: String| std::fs::read(out.join(&name)).with_context(|| format!("there is no `{name}`"));
        if let Ok(archive) = read(platform.archive(&release.version)) {
            built.push(Built {
                platform,
                archive: sha256(&archive),
                bundle: sha256(&read(platform.bundle(&release.version))?),
            });
        }
    }
    if built.is_empty() {
        bail!("no archive of version {} is in `{}`", release.version, out.display());
    }
    Ok(built)
}

/// The script of one family of shells.
fn installer(name: &str, release: &Release, platforms: &[&Platform]) -> Result<String> {
    let targets: Vec<&str> = platforms.iter().map(|platform| platform.triple).collect();
    let base = release.address("").unwrap_or_default();
    template(
        name,
        &[
            ("version", release.version.as_str()),
            ("targets", &targets.join(" ")),
            ("base", base.trim_end_matches('/')),
        ],
    )
}

fn formula(release: &Release, built: &[Built]) -> Result<String> {
    // Homebrew on Linux has a glibc of its own; the static binary needs none, so it comes first.
    let wanted = [
        ("on_macos", "on_arm", ["aarch64-apple-darwin"].as_slice()),
        ("on_macos", "on_intel", &["x86_64-apple-darwin"]),
        (
            "on_linux",
            "on_arm",
            &["aarch64-unknown-linux-musl", "aarch64-unknown-linux-gnu"],
        ),
        (
            "on_linux",
            "on_intel",
            &["x86_64-unknown-linux-musl", "x86_64-unknown-linux-gnu"],
        ),
    ];
    let mut stanzas = String::new();
    for system in ["on_macos", "on_linux"] {
        let of_system: String = wanted
            .iter()
            .filter(|(of, _, _)| *of == system)
            .filter_map(|(_, processor, triples)| {
                let of = |triple: &&str| built.iter().find(|built| built.platform.triple == *triple);
                let built = triples.iter().find_map(of)?;
                let address = release.address(&built.platform.archive(&release.version))?;
                Some(format!(
                    "    {processor} do\n      url \"{address}\"\n      sha256 \"{}\"\n    end\n",
                    built.archive
                ))
            })
            .collect();
        if !of_system.is_empty() {
            stanzas.push_str(&format!("\n  {system} do\n{of_system}  end\n"));
        }
    }
    let repository = release.repository.clone().unwrap_or_default();
    template(
        "lacon.rb",
        &[
            ("summary", SUMMARY),
            ("repository", repository.as_str()),
            ("version", release.version.as_str()),
            ("stanzas", stanzas.trim_start_matches('\n')),
        ],
    )
}

fn scoop(release: &Release, built: &[Built]) -> Result<Value> {
    let mut architectures = serde_json::Map::new();
    for built in built.iter().filter(|built| built.platform.is_windows()) {
        let platform = built.platform;
        let entry = json!({
            "url": release.address(&platform.archive(&release.version)),
            "hash": built.archive,
            "extract_dir": platform.stem(&release.version),
        });
        // Where both are there, that of Microsoft's linker comes first.
        architectures.entry("64bit").or_insert(entry);
    }
    Ok(json!({
        "version": release.version,
        "description": SUMMARY,
        "homepage": release.repository,
        "license": "Apache-2.0|MIT",
        "architecture": architectures,
        "bin": "lacon.exe",
        "checkver": "github",
    }))
}

/// The entry for the registry of MCP servers.
fn server(release: &Release, built: &[Built]) -> Result<Value> {
    let stdio = json!({"type": "stdio"});
    let mcp = json!([{"type": "positional", "value": "mcp"}]);
    let package = |registry: &str, hint: &str| {
        json!({
            "registryType": registry, "identifier": "lacon", "version": release.version, "runtimeHint": hint,
            "transport": stdio, "packageArguments": mcp,
        })
    };
    let mut packages = vec![package("npm", "npx"), package("pypi", "uvx")];
    packages.extend(built.iter().map(|built| {
        json!({
            "registryType": "mcpb", "identifier": release.address(&built.platform.bundle(&release.version)),
            "version": release.version, "fileSha256": built.bundle, "transport": stdio,
        })
    }));
    Ok(json!({
        "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
        "name": release.registry_name().context("the registry of MCP servers knows owners by GitHub alone")?,
        "title": "Lacon",
        "description": SUMMARY,
        "version": release.version,
        "repository": {"url": release.repository, "source": "github"},
        "packages": packages,
        "_meta": {"io.modelcontextprotocol.registry/publisher-provided": {"license": LICENCE}},
    }))
}

/// Every file of the release, in the form that `sha256sum -c` reads.
fn sums(out: &Path) -> Result<String> {
    let mut lines = Vec::new();
    for folder in ["", "npm"] {
        for entry in std::fs::read_dir(out.join(folder))? {
            let entry = entry?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if entry.file_type()?.is_file() && name != "SHA256SUMS" {
                let path = if folder.is_empty() {
                    name
                } else {
                    format!("{folder}/{name}")
                };
                lines.push((path, sha256(&std::fs::read(entry.path())?)));
            }
        }
    }
    lines.sort();
    Ok(lines.iter().map(|(path, sum)| format!("{sum}  {path}\n")).collect())
}

fn pretty(value: &Value) -> Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(value)?))
}
