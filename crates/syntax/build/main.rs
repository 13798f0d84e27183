//! Compiles what is C here, and packs the largest grammars where that is asked for.

#![expect(clippy::print_stdout, reason = "cargo reads what a build script prints")]

#[cfg(feature = "packed")]
mod packed;

use std::path::PathBuf;

fn main() {
    children();
    #[cfg(feature = "packed")]
    packed::build();
}

/// Compiles `children.c` and `scanners.c` with the headers of the tree-sitter that is linked, which are kept beside those that it shows.
fn children() {
    let sources = ["src/engine/children.c", "src/engine/scanners.c"];
    for source in sources {
        println!("cargo::rerun-if-changed={source}");
    }
    println!("cargo::rerun-if-changed=build");
    let include =
        PathBuf::from(std::env::var_os("DEP_TREE_SITTER_INCLUDE").expect("tree-sitter says where its headers are"));
    cc::Build::new()
        .std("c11")
        .include(include.with_file_name("src"))
        .include(include)
        .flag_if_supported("-fvisibility=hidden")
        .warnings(false)
        .files(sources)
        .compile("lacon-syntax-children");
}
