//! What resolution alone costs: `cargo run --release -p index --example resolve_speed -- <directory> [facts] [times] [follow]`.
//!
//! The facts of the directory are extracted once and kept in the file `facts`, so that a profile shows resolution and nothing
//! else. Prints the CPU time of each resolution and a digest of all edges, which tells whether a change of the engine changed
//! what it says. With `follow`, what edits need is kept as well.

mod directory;

use std::io::Write;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use index::resolve::Resolver;
use index::tree::{Keep, Manifest, Resolve};
use serde::{Deserialize, Serialize};
use syntax::facts::FileFacts;

use directory::Directory;

#[derive(Default, Serialize, Deserialize)]
struct Prepared {
    files: Vec<(String, String, Vec<u8>)>,
    manifests: Vec<(String, String)>,
}

fn main() -> std::io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [root, facts, rest @ ..] = &arguments[..] else {
        return Err(std::io::Error::other(
            "usage: resolve_speed <directory> <facts> [times] [follow]",
        ));
    };
    let times: usize = rest.first().and_then(|times| times.parse().ok()).unwrap_or(1);
    let keep = match rest.get(1) {
        Some(_) => Keep::ForUpdates,
        None => Keep::Nothing,
    };
    let prepared: Prepared = match std::fs::read(facts) {
        Ok(bytes) => postcard::from_bytes(&bytes).map_err(std::io::Error::other)?,
        Err(_) => {
            let prepared = prepare(Path::new(root));
            std::fs::write(facts, postcard::to_allocvec(&prepared).map_err(std::io::Error::other)?)?;
            prepared
        }
    };
    let mut tree = Directory {
        files: Vec::new(),
        manifests: Vec::new(),
    };
    for (path, language, bytes) in prepared.files {
        let facts = FileFacts::decode(&bytes).map_err(std::io::Error::other)?;
        tree.files.push((path, language, Arc::new(facts)));
    }
    for (path, text) in prepared.manifests {
        tree.manifests.push(Manifest {
            path: path.as_str().into(),
            text: text.as_str().into(),
        });
    }
    let mut out = std::io::stdout().lock();
    for _ in 0..times {
        let resolved = Mutex::new(Vec::new());
        let before = cpu();
        let mut resolver = Resolver::new();
        resolver.resolve(&tree, keep, &|file, found| {
            let mut resolved = resolved.lock().unwrap_or_else(PoisonError::into_inner);
            resolved.push((file, found));
        });
        let spent = cpu() - before;
        let mut resolved = resolved.into_inner().unwrap_or_else(PoisonError::into_inner);
        resolved.sort_by_key(|(file, _)| *file);
        let mut digest = blake3::Hasher::new();
        for (_, found) in &resolved {
            digest.update(blake3::hash(format!("{found:?}").as_bytes()).as_bytes());
        }
        let edges: usize = resolved.iter().map(|(_, found)| found.edges.len()).sum();
        writeln!(
            out,
            "{} files, {edges} edges, {spent:.2} s of CPU: {}",
            tree.files.len(),
            digest.finalize().to_hex(),
        )?;
    }
    Ok(())
}

/// CPU seconds of this process so far.
fn cpu() -> f64 {
    let stat = std::fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |at: usize| {
        fields
            .get(at)
            .and_then(|field| field.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    (ticks(11) + ticks(12)) / 100.0
}

fn prepare(root: &Path) -> Prepared {
    let directory = Directory::read(root);
    let files = directory.files.into_iter();
    let manifests = directory.manifests.into_iter();
    Prepared {
        files: files
            .map(|(path, language, facts)| (path, language, facts.encode()))
            .collect(),
        manifests: manifests
            .map(|manifest| (manifest.path.to_string(), manifest.text.to_string()))
            .collect(),
    }
}
