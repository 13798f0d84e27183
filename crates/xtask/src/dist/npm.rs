//! npm: one package per platform that holds the binary, and a launcher that names them all as optional. npm installs the one that
//! fits; nothing is loaded after that.

use std::path::Path;

use anyhow::Result;
use serde_json::json;

use super::payload::{Entry, Payload};
use super::platform::Platform;
use super::{LICENCE, Release, SUMMARY, archive, put, template};

/// The package of one platform.
pub(crate) fn write_platform(release: &Release, payload: &Payload, out: &Path) -> Result<()> {
    let platform = payload.platform;
    let name = platform.npm_package();
    let mut manifest = json!({
        "name": name,
        "version": release.version,
        "description": format!("Lacon for {} on {}", platform.npm_os, platform.npm_cpu),
        "license": LICENCE,
        "os": [platform.npm_os],
        "cpu": [platform.npm_cpu],
        "preferUnplugged": true,
        "files": ["bin"],
    });
    if let Some(libc) = platform.npm_libc {
        manifest["libc"] = json!([libc]);
    }
    with_repository(&mut manifest, release);
    let readme =
        format!("# {name}\n\nThe binary of Lacon for one platform. Install `lacon` instead; it brings this.\n");
    let mut entries = vec![
        payload.program("bin/"),
        Entry::text("package.json", pretty(&manifest)?),
        Entry::text("README.md", readme),
    ];
    entries.extend(payload.terms.iter().cloned());
    put(out, &file(&name, release), &packed(&entries, release.time)?)
}

/// The launcher, for these platforms.
pub(crate) fn write_launcher(release: &Release, platforms: &[&'static Platform], out: &Path) -> Result<()> {
    let mut names: Vec<String> = platforms.iter().map(|platform| platform.npm_package()).collect();
    names.sort();
    names.dedup();
    let needed: serde_json::Map<String, serde_json::Value> =
        names.into_iter().map(|name| (name, json!(release.version))).collect();
    let mut manifest = json!({
        "name": "lacon",
        "version": release.version,
        "description": SUMMARY,
        "keywords": ["mcp", "code-graph", "code-search", "coding-agent", "tokens"],
        "license": LICENCE,
        "bin": {"lacon": "bin/lacon.js"},
        "files": ["bin"],
        "engines": {"node": ">=16"},
        "optionalDependencies": needed,
    });
    with_repository(&mut manifest, release);
    if let Some(name) = release.registry_name() {
        manifest["mcpName"] = json!(name);
    }
    let read = |name: &str| std::fs::read(crate::root().join(name));
    let entries = [
        Entry::text("package.json", pretty(&manifest)?),
        Entry::program("bin/lacon.js", template("npm/lacon.js", &[])?),
        Entry::text("README.md", read("README.md")?),
        Entry::text("LICENSE-APACHE", read("LICENSE-APACHE")?),
        Entry::text("LICENSE-MIT", read("LICENSE-MIT")?),
    ];
    put(out, &file("lacon", release), &packed(&entries, release.time)?)
}

pub(crate) fn file(name: &str, release: &Release) -> String {
    format!("npm/{name}-{}.tgz", release.version)
}

/// As `npm pack` does: everything below `package/`.
fn packed(entries: &[Entry], time: u64) -> Result<Vec<u8>> {
    archive::gzip(&archive::tar(entries, time, "package/")?)
}

fn with_repository(manifest: &mut serde_json::Value, release: &Release) {
    if let Some(repository) = &release.repository {
        manifest["repository"] = json!({"type": "git", "url": format!("git+{repository}.git")});
    }
}

fn pretty(value: &serde_json::Value) -> Result<String> {
    Ok(format!("{}\n", serde_json::to_string_pretty(value)?))
}
