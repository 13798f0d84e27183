//! Prints the facts of the given files: the quickest way to see what a language's rules do.
#![expect(clippy::print_stdout, reason = "an example's output is for a terminal")]

fn main() {
    for path in std::env::args().skip(1) {
        let bytes = std::fs::read(&path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        match syntax::languages::detect(&path, &bytes[..bytes.len().min(4096)]) {
            Some(language) => print!("{}", syntax::extract(language, &text).dump()),
            None => println!("{path}: no language"),
        }
    }
}
