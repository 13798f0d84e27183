//! The `lacon` binary.

fn main() {}
