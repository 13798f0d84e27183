//! Archives, byte by byte: `tar`, `zip` and `ar` hold the same files in the same order with the same time, whoever packs them.

use std::io::Write;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anyhow::{Result, ensure};
use flate2::write::{DeflateEncoder, GzEncoder};
use flate2::{Compression, Crc, GzBuilder};

use super::payload::{Entry, Payload};
use super::{Release, put, sha256};

/// The archive that installers, formulas and containers unpack.
pub(crate) fn write(release: &Release, payload: &Payload, out: &Path) -> Result<()> {
    let stem = payload.platform.stem(&release.version);
    let mut entries = vec![
        payload.program(""),
        Entry::text("README.md", payload.readme.clone()),
        Entry::text("CHANGELOG.md", payload.changelog.clone()),
        Entry::text("sbom.cdx.json", payload.bill_of_materials.clone()),
    ];
    entries.extend(payload.terms.iter().cloned());
    entries.extend(
        payload
            .completions
            .iter()
            .map(|completion| Entry::text(format!("completions/{}", completion.file), completion.script.clone())),
    );
    entries.extend(
        payload
            .manual
            .iter()
            .map(|page| Entry::text(format!("man/man1/{}", page.path), page.bytes.clone())),
    );
    for entry in &mut entries {
        entry.path = format!("{stem}/{}", entry.path);
    }
    let bytes = match payload.platform.is_windows() {
        true => zip(&entries)?,
        false => tar_gz(&entries, release.time)?,
    };
    put(out, &payload.platform.archive(&release.version), &bytes)
}

pub(crate) fn tar_gz(entries: &[Entry], time: u64) -> Result<Vec<u8>> {
    gzip(&tar(entries, time, "")?)
}

/// Without a name and a time of its own.
pub(crate) fn gzip(bytes: &[u8]) -> Result<Vec<u8>> {
    let mut encoder: GzEncoder<Vec<u8>> = GzBuilder::new()
        .mtime(0)
        .operating_system(255)
        .write(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(encoder.finish()?)
}

/// POSIX ustar. Every path gets `prefix` in front of it.
pub(crate) fn tar(entries: &[Entry], time: u64, prefix: &str) -> Result<Vec<u8>> {
    let mut tar = Vec::new();
    let mut sorted: Vec<&Entry> = entries.iter().collect();
    sorted.sort_by(|one, other| one.path.cmp(&other.path));
    for entry in sorted {
        let path = format!("{prefix}{}", entry.path);
        let mut header = [0; 512];
        // What does not fit into the name goes in front of it, cut at a slash.
        let (folder, name) = match path.len() {
            0..=100 => ("", path.as_str()),
            _ => path.split_at(path.find('/').unwrap_or_default()),
        };
        let name = if folder.is_empty() { name } else { &name[1..] };
        ensure!(name.len() <= 100 && folder.len() <= 155, "the path is too long: {path}");
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[345..345 + folder.len()].copy_from_slice(folder.as_bytes());
        let mode = if entry.is_program { 0o755 } else { 0o644 };
        let mut number = |at: usize, length: usize, value: u64| {
            let text = format!("{value:0width$o}\0", width = length - 1);
            header[at..at + length].copy_from_slice(text.as_bytes());
        };
        number(100, 8, mode);
        number(108, 8, 0);
        number(116, 8, 0);
        number(124, 12, entry.bytes.len() as u64);
        number(136, 12, time);
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        // The sum is taken with blanks in its own place.
        header[148..156].copy_from_slice(b"        ");
        let sum: u64 = header.iter().map(|byte| u64::from(*byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        tar.extend_from_slice(&header);
        tar.extend_from_slice(&entry.bytes);
        tar.resize(tar.len().next_multiple_of(512), 0);
    }
    tar.resize(tar.len() + 1024, 0);
    Ok(tar)
}

/// 1980-01-01, the first day that zip knows.
const ZIP_DATE: u16 = 0x21;

/// Zip, in the order of the entries: a wheel's record comes last.
pub(crate) fn zip(entries: &[Entry]) -> Result<Vec<u8>> {
    let (mut zip, mut directory) = (Vec::new(), Vec::new());
    for entry in entries {
        let packed = deflated(&entry.bytes)?;
        let mut crc = Crc::new();
        crc.update(&entry.bytes);
        let size = |bytes: &[u8]| u32::try_from(bytes.len());
        let mut common = Vec::new();
        // Version 2.0, names in UTF-8, deflated.
        for field in [20u16, 0x0800, 8, 0, ZIP_DATE] {
            common.extend(field.to_le_bytes());
        }
        for field in [crc.sum(), size(&packed)?, size(&entry.bytes)?] {
            common.extend(field.to_le_bytes());
        }
        common.extend(u16::try_from(entry.path.len())?.to_le_bytes());
        common.extend(0u16.to_le_bytes());
        let offset = u32::try_from(zip.len())?;
        zip.extend(b"PK\x03\x04");
        zip.extend(&common);
        zip.extend(entry.path.as_bytes());
        zip.extend(&packed);
        directory.extend(b"PK\x01\x02");
        // Made on Unix, so that the mode counts.
        directory.extend(0x0314u16.to_le_bytes());
        directory.extend(&common);
        directory.extend([0; 6]);
        let mode: u32 = if entry.is_program { 0o100_755 } else { 0o100_644 };
        directory.extend((mode << 16).to_le_bytes());
        directory.extend(offset.to_le_bytes());
        directory.extend(entry.path.as_bytes());
    }
    let (start, length) = (u32::try_from(zip.len())?, u32::try_from(directory.len())?);
    let count = u16::try_from(entries.len())?;
    zip.extend(directory);
    zip.extend(b"PK\x05\x06");
    zip.extend([0; 4]);
    zip.extend(count.to_le_bytes());
    zip.extend(count.to_le_bytes());
    zip.extend(length.to_le_bytes());
    zip.extend(start.to_le_bytes());
    zip.extend([0; 2]);
    Ok(zip)
}

/// The wheel and the bundle hold the same program, which takes most of the time: the last large file is remembered.
fn deflated(bytes: &[u8]) -> Result<Vec<u8>> {
    const LARGE: usize = 1 << 20;
    static LAST: Mutex<Option<(String, Vec<u8>)>> = Mutex::new(None);
    let name = (bytes.len() >= LARGE).then(|| sha256(bytes));
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    if let (Some(name), Some((known, packed))) = (&name, &*last)
        && name == known
    {
        return Ok(packed.clone());
    }
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    let packed = encoder.finish()?;
    if let Some(name) = name {
        *last = Some((name, packed.clone()));
    }
    Ok(packed)
}

/// The archive of `ar` that a Debian package is.
pub(crate) fn ar(members: &[(&str, Vec<u8>)], time: u64) -> Vec<u8> {
    let mut ar = b"!<arch>\n".to_vec();
    for (name, bytes) in members {
        let header = format!(
            "{name:<16}{time:<12}{:<6}{:<6}{:<8}{:<10}`\n",
            0,
            0,
            100644,
            bytes.len()
        );
        ar.extend(header.as_bytes());
        ar.extend(bytes);
        if bytes.len() % 2 == 1 {
            ar.push(b'\n');
        }
    }
    ar
}
