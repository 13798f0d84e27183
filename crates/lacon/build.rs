//! Tells the program which commit it was built of, where whoever builds it says so, and what it was built for.

use std::env::var;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-env-changed=LACON_COMMIT");
    let version = var("CARGO_PKG_VERSION").expect("cargo says the version");
    let target = var("TARGET").expect("cargo says the target");
    let commit = var("LACON_COMMIT").unwrap_or_else(|_| "from source".to_owned());
    println!("cargo::rustc-env=PROGRAM_VERSION={version} ({commit}, {target})");
}
