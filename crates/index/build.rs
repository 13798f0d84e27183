//! Fingerprints of the sources, so that facts and snapshots that other rules made are never used, and nobody has to remember to
//! raise a version when a rule changes.

use std::fs;
use std::path::{Path, PathBuf};

fn main() -> std::io::Result<()> {
    let root = PathBuf::from(std::env::var_os("CARGO_MANIFEST_DIR").expect("cargo says where the crate is"));
    let (own, syntax, lock) = (
        root.join("src"),
        root.join("../syntax/src"),
        root.join("../../Cargo.lock"),
    );
    for path in [&own, &syntax, &lock] {
        println!("cargo::rerun-if-changed={}", path.display());
    }

    let mut extraction = Fnv::new();
    sources(&syntax, &mut extraction)?;
    let lock = fs::read_to_string(lock).unwrap_or_default();
    let packages = lock.split("[[package]]").map(str::trim);
    for grammar in packages.filter(|package| package.starts_with("name = \"tree-sitter")) {
        extraction.add(grammar.as_bytes());
    }
    println!("cargo::rustc-env=EXTRACTION_FINGERPRINT={}", extraction.0);

    let mut resolution = Fnv::new();
    sources(&own, &mut resolution)?;
    println!("cargo::rustc-env=RESOLUTION_FINGERPRINT={}", resolution.0);
    Ok(())
}

/// Names and contents of the files below a directory, in one order everywhere.
fn sources(directory: &Path, hash: &mut Fnv) -> std::io::Result<()> {
    let mut paths: Vec<PathBuf> = fs::read_dir(directory)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    for path in paths {
        if path.is_dir() {
            sources(&path, hash)?;
        } else {
            hash.add(path.file_name().unwrap_or_default().as_encoded_bytes());
            hash.add(&fs::read(&path)?);
        }
    }
    Ok(())
}

/// FNV-1a: a build script needs no better, and no dependency.
struct Fnv(u32);

impl Fnv {
    fn new() -> Fnv {
        Fnv(0x811c_9dc5)
    }

    fn add(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = (self.0 ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
    }
}
