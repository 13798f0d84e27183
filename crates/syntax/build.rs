//! Compiles `children.c` with the headers of the tree-sitter that is linked, which are kept beside those that it shows.

use std::path::PathBuf;

fn main() {
    let source = "src/engine/children.c";
    println!("cargo::rerun-if-changed={source}");
    let include =
        PathBuf::from(std::env::var_os("DEP_TREE_SITTER_INCLUDE").expect("tree-sitter says where its headers are"));
    cc::Build::new()
        .std("c11")
        .include(include.with_file_name("src"))
        .include(include)
        .flag_if_supported("-fvisibility=hidden")
        .warnings(false)
        .file(source)
        .compile("lacon-syntax-children");
}
