//! Chores of the project that are not part of the product: `cargo xtask test` prepares a bare machine and runs every test.

fn main() {}
