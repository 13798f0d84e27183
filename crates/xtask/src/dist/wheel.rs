//! A wheel that holds the binary as a script, so that `pip install`, `uvx` and `pipx` put it on the path.

use std::path::Path;

use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::payload::{Entry, Payload};
use super::{LICENCE, Release, SUMMARY, archive, debian, put};

pub(crate) fn write(release: &Release, payload: &Payload, out: &Path) -> Result<()> {
    let version = &release.version;
    let tag = tag(payload);
    let info = format!("lacon-{version}.dist-info");
    let readme = String::from_utf8_lossy(&payload.readme).into_owned();
    let project = release.repository.as_ref().map_or(String::new(), |repository| {
        format!("Project-URL: Repository, {repository}\n")
    });
    // The MCP registry looks for its name in what PyPI shows.
    let registered = release
        .registry_name()
        .map_or(String::new(), |name| format!("\n<!-- mcp-name: {name} -->\n"));
    let files: String = payload
        .terms
        .iter()
        .map(|terms| format!("License-File: {}\n", terms.path))
        .collect();
    let metadata = format!(
        "Metadata-Version: 2.4\nName: lacon\nVersion: {version}\nSummary: {SUMMARY}\n\
         Keywords: mcp,code-graph,code-search,coding-agent,tokens\nLicense-Expression: {LICENCE}\n{files}{project}\
         Requires-Python: >=3.7\nDescription-Content-Type: text/markdown\n\n{readme}{registered}"
    );
    let wheel =
        format!("Wheel-Version: 1.0\nGenerator: cargo xtask dist\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n");
    let mut entries = vec![payload.program(&format!("lacon-{version}.data/scripts/"))];
    if !payload.platform.is_windows() {
        entries.extend(payload.shared(&format!("lacon-{version}.data/data/")));
    }
    entries.push(Entry::text(format!("{info}/METADATA"), metadata));
    entries.push(Entry::text(format!("{info}/WHEEL"), wheel));
    entries.extend(
        payload
            .terms
            .iter()
            .map(|terms| Entry::text(format!("{info}/licenses/{}", terms.path), terms.bytes.clone())),
    );
    entries.push(Entry::text(
        format!("{info}/sboms/lacon.cdx.json"),
        payload.bill_of_materials.clone(),
    ));
    let record = format!("{info}/RECORD");
    let mut listed: String = entries
        .iter()
        .map(|entry| {
            let hash = URL_SAFE_NO_PAD.encode(Sha256::digest(&entry.bytes));
            format!("{},sha256={hash},{}\n", entry.path, entry.bytes.len())
        })
        .collect();
    listed.push_str(&format!("{record},,\n"));
    entries.push(Entry::text(record, listed));
    put(
        out,
        &format!("lacon-{version}-py3-none-{tag}.whl"),
        &archive::zip(&entries)?,
    )
}

/// What the wheel runs on. With glibc that is what the binary asks for, never what was meant.
fn tag(payload: &Payload) -> String {
    let platform = payload.platform;
    match debian::glibc(&payload.binary) {
        Some((major, minor)) if platform.npm_libc == Some("glibc") => {
            // Wheels know no older one.
            format!("manylinux_{major}_{}_{}", minor.max(17), platform.wheel)
        }
        _ => platform.wheel.to_owned(),
    }
}
