//! Prints the facts of a file, for whoever writes a language: `cargo run -p syntax --example dump -- path`.

use std::io::Write;

fn main() -> std::io::Result<()> {
    let Some(path) = std::env::args().nth(1) else {
        return Err(std::io::Error::other("usage: dump <file>"));
    };
    let text = std::fs::read_to_string(&path)?;
    let Some(language) = syntax::languages::detect(&path, text.as_bytes()) else {
        return Err(std::io::Error::other("no language for this file"));
    };
    let facts = syntax::extract(language, &text);
    std::io::stdout().write_all(facts.dump().as_bytes())
}
