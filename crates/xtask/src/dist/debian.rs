//! A Debian package: two archives in one of `ar`.

use std::path::Path;

use anyhow::Result;

use super::payload::{Entry, Payload};
use super::{Release, SUMMARY, archive, put};

pub(crate) fn write(release: &Release, payload: &Payload, out: &Path) -> Result<()> {
    let Some(architecture) = payload.platform.debian else {
        return Ok(());
    };
    let version = &release.version;
    let mut files = vec![payload.program("usr/bin/")];
    for mut shared in payload.shared("usr/") {
        if shared.path.ends_with(".1") {
            shared = Entry::text(format!("{}.gz", shared.path), archive::gzip(&shared.bytes)?);
        }
        // Debian keeps what packages bring for zsh apart from what the administrator adds.
        shared.path = shared.path.replace("zsh/site-functions", "zsh/vendor-completions");
        files.push(shared);
    }
    files.push(Entry::text(
        "usr/share/doc/lacon/changelog.gz",
        archive::gzip(&payload.changelog)?,
    ));
    files.push(Entry::text("usr/share/doc/lacon/copyright", copyright(payload)));
    let kilobytes: usize = files.iter().map(|file| file.bytes.len().div_ceil(1024)).sum();
    let needs = glibc(&payload.binary).map_or(String::new(), |(major, minor)| {
        format!("Depends: libc6 (>= {major}.{minor})\n")
    });
    let homepage = release
        .repository
        .as_ref()
        .map_or(String::new(), |repository| format!("Homepage: {repository}\n"));
    let control = format!(
        "Package: lacon\nVersion: {version}-1\nArchitecture: {architecture}\nMaintainer: The Lacon authors <lacon@localhost>\n\
         Installed-Size: {kilobytes}\n{needs}Recommends: git\nSection: devel\nPriority: optional\n{homepage}\
         Description: {SUMMARY}\n A code graph, search and compact answers over MCP and on the command line,\n in one binary.\n"
    );
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", control_archive(control, release.time)?),
        ("data.tar.gz", archive::gzip(&with_folders(&files, release.time)?)?),
    ];
    put(
        out,
        &format!("lacon_{version}-1_{architecture}.deb"),
        &archive::ar(&members, release.time),
    )
}

fn control_archive(control: String, time: u64) -> Result<Vec<u8>> {
    archive::gzip(&archive::tar(&[Entry::text("control", control)], time, "./")?)
}

fn with_folders(files: &[Entry], time: u64) -> Result<Vec<u8>> {
    archive::tar(files, time, "./")
}

fn copyright(payload: &Payload) -> String {
    let mut text = String::from(
        "Lacon is licensed under Apache-2.0 or MIT, at your option. The terms of the crates it is made of follow; `lacon licenses` prints \
         them too.\n",
    );
    for terms in &payload.terms {
        text.push_str(&format!(
            "\n==== {}\n\n{}",
            terms.path,
            String::from_utf8_lossy(&terms.bytes)
        ));
    }
    text
}

/// The newest version of glibc that a binary names, if it names one.
pub(crate) fn glibc(binary: &[u8]) -> Option<(u32, u32)> {
    const NAME: &[u8] = b"GLIBC_";
    if !binary.starts_with(b"\x7fELF") {
        return None;
    }
    let named = binary
        .windows(NAME.len())
        .enumerate()
        .filter(|(_, bytes)| *bytes == NAME);
    named
        .filter_map(|(at, _)| {
            let rest = &binary[at + NAME.len()..];
            let length = rest.iter().position(|byte| *byte == 0).filter(|length| *length < 12)?;
            let (major, minor) = std::str::from_utf8(&rest[..length]).ok()?.split_once('.')?;
            let minor = minor.split('.').next()?;
            Some((major.parse().ok()?, minor.parse().ok()?))
        })
        .max()
}
