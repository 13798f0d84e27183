//! A registry of npm and an index of wheels on this machine, with nothing in them but what was just built.

use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use flate2::read::GzDecoder;
use serde_json::{Value, json};
use sha2::{Digest, Sha512};

/// Serves until this program ends. Says at which address.
pub(crate) fn serve(out: &Path) -> Result<String> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let address = format!("http://{}", listener.local_addr()?);
    let (out, own) = (out.to_path_buf(), address.clone());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (out, own) = (out.clone(), own.clone());
            std::thread::spawn(move || {
                if let Err(error) = answer(&stream, &out, &own) {
                    eprintln!("the local registry: {error:#}");
                }
            });
        }
    });
    Ok(address)
}

fn answer(mut stream: &TcpStream, out: &Path, own: &str) -> Result<()> {
    let mut request = String::new();
    let mut reader = BufReader::new(stream);
    reader.read_line(&mut request)?;
    loop {
        let mut header = String::new();
        if reader.read_line(&mut header)? == 0 || header.trim().is_empty() {
            break;
        }
    }
    let path = request.split(' ').nth(1).unwrap_or_default().to_owned();
    let found = respond(&path, out, own)?;
    let (status, kind, body) = match found {
        Some((kind, body)) => ("200 OK", kind, body),
        None => ("404 Not Found", "text/plain", b"it is not here".to_vec()),
    };
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    )?;
    Ok(stream.write_all(&body)?)
}

fn respond(path: &str, out: &Path, own: &str) -> Result<Option<(&'static str, Vec<u8>)>> {
    let file = |name: &str| -> Option<PathBuf> {
        // Names of packages, and nothing that leads elsewhere.
        let is_name = !name.contains("..") && !name.contains('/');
        is_name.then(|| out.join(name)).filter(|path| path.is_file())
    };
    if let Some(name) = path.strip_prefix("/npm/-/") {
        let packed = file(name)
            .or_else(|| Some(out.join("npm").join(name)).filter(|path| path.is_file() && !name.contains("..")));
        return packed
            .map(|path| Ok(("application/octet-stream", std::fs::read(path)?)))
            .transpose();
    }
    if let Some(name) = path.strip_prefix("/npm/") {
        let description = describe(name, out, own)?;
        return Ok(description.map(|description| ("application/json", description.to_string().into_bytes())));
    }
    if path.trim_end_matches('/') == "/simple/lacon" {
        let mut page = String::from("<!DOCTYPE html><html><body>\n");
        for name in names(out, ".whl")? {
            page.push_str(&format!("<a href=\"{own}/wheels/{name}\">{name}</a>\n"));
        }
        page.push_str("</body></html>\n");
        return Ok(Some(("text/html", page.into_bytes())));
    }
    let wheel = path
        .strip_prefix("/wheels/")
        .or_else(|| path.strip_prefix("/files/"))
        .and_then(file);
    wheel
        .map(|path| Ok(("application/octet-stream", std::fs::read(path)?)))
        .transpose()
}

/// What npm asks of a package: its versions, each with where it is.
fn describe(name: &str, out: &Path, own: &str) -> Result<Option<Value>> {
    for file in names(&out.join("npm"), ".tgz")? {
        let bytes = std::fs::read(out.join("npm").join(&file))?;
        let mut manifest = manifest(&bytes).with_context(|| format!("`{file}` has no manifest"))?;
        if manifest["name"] != name {
            continue;
        }
        let version = manifest["version"].as_str().unwrap_or_default().to_owned();
        manifest["dist"] = json!({
            "tarball": format!("{own}/npm/-/{file}"),
            "integrity": format!("sha512-{}", STANDARD.encode(Sha512::digest(&bytes))),
        });
        return Ok(Some(json!({
            "name": name, "dist-tags": {"latest": version.clone()}, "versions": {version: manifest},
        })));
    }
    Ok(None)
}

/// `package/package.json` of an npm package.
fn manifest(packed: &[u8]) -> Result<Value> {
    let mut tar = Vec::new();
    std::io::Read::read_to_end(&mut GzDecoder::new(packed), &mut tar)?;
    let mut at = 0;
    while let Some(header) = tar.get(at..at + 512) {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches(['\0', ' ']).to_owned();
        let size = usize::from_str_radix(&text(&header[124..135]), 8).unwrap_or_default();
        if text(&header[..100]) == "package/package.json" {
            return Ok(serde_json::from_slice(&tar[at + 512..at + 512 + size])?);
        }
        at += 512 + size.next_multiple_of(512);
    }
    anyhow::bail!("there is no package.json")
}

fn names(folder: &Path, ending: &str) -> Result<Vec<String>> {
    let mut names: Vec<String> = std::fs::read_dir(folder)?
        .flatten()
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .filter(|name| name.ends_with(ending))
        .collect();
    names.sort();
    Ok(names)
}
