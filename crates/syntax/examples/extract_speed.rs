//! Times extraction against bare parsing of the same files on one thread: `extract_speed DIRECTORY [LANGUAGE]`.
#![expect(clippy::print_stdout, reason = "an example's output is for a terminal")]

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use syntax::{Language, languages};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let directory = arguments.next().unwrap_or_else(|| ".".to_owned());
    let only = arguments.next();
    let mut paths = Vec::new();
    collect(Path::new(&directory), &mut paths);
    paths.sort();
    let mut files: Vec<(&'static Language, String)> = Vec::new();
    for path in paths {
        let Some(language) = languages::detect(&path.to_string_lossy(), b"") else {
            continue;
        };
        if only.as_deref().is_some_and(|only| only != language.name()) {
            continue;
        }
        if let Ok(text) = std::fs::read_to_string(&path) {
            files.push((language, text));
        }
    }
    let bytes: usize = files.iter().map(|(_, text)| text.len()).sum();
    let (mut parse, mut extract, mut encode) = (Duration::MAX, Duration::MAX, Duration::ZERO);
    let (mut encoded, mut references, mut definitions, mut expressions, mut strings) = (0, 0, 0, 0, 0);
    let mut parts = [0; 7];
    // Three rounds by turns, the fastest of each counts: other programs share the machine.
    for round in 0..3 {
        let started = Instant::now();
        for (language, text) in &files {
            syntax::parse_only(language, text);
        }
        parse = parse.min(started.elapsed());
        let started = Instant::now();
        let mut encoding = Duration::ZERO;
        for (language, text) in &files {
            let facts = syntax::extract(language, text);
            let before = Instant::now();
            let bytes = facts.encode();
            encoding += before.elapsed();
            if round == 0 {
                encoded += bytes.len();
                references += facts.references.len();
                definitions += facts.definitions.len();
                expressions += facts.expressions.len();
                strings += facts.strings.blob.len();
                let size = |bytes: Result<Vec<u8>, postcard::Error>| bytes.map_or(0, |bytes| bytes.len());
                parts[0] += size(postcard::to_allocvec(&facts.definitions));
                parts[1] += size(postcard::to_allocvec(&facts.bindings)) + size(postcard::to_allocvec(&facts.scopes));
                parts[2] += size(postcard::to_allocvec(&facts.expressions));
                parts[3] += size(postcard::to_allocvec(&facts.lists));
                parts[4] += size(postcard::to_allocvec(&facts.flows));
                parts[5] += size(postcard::to_allocvec(&facts.references));
                parts[6] += size(postcard::to_allocvec(&facts.strings));
            }
        }
        if started.elapsed() < extract {
            (extract, encode) = (started.elapsed(), encoding);
        }
    }
    let megabytes = bytes as f64 / 1e6;
    println!("files {}  source {megabytes:.1} MB", files.len());
    println!(
        "parse {:.2} s = {:.1} MB/s",
        parse.as_secs_f64(),
        megabytes / parse.as_secs_f64()
    );
    let beyond = extract.saturating_sub(parse);
    println!(
        "parse + extract + encode {:.2} s; beyond parsing {:.2} s = {:.2} × parsing (of which encoding {:.2} s)",
        extract.as_secs_f64(),
        beyond.as_secs_f64(),
        beyond.as_secs_f64() / parse.as_secs_f64(),
        encode.as_secs_f64()
    );
    println!(
        "encoded {:.1} MB = {:.2} × source (texts {:.1} MB)",
        encoded as f64 / 1e6,
        encoded as f64 / bytes as f64,
        strings as f64 / 1e6
    );
    let names = [
        "definitions",
        "bindings and scopes",
        "expressions",
        "lists",
        "flows",
        "references",
        "texts",
    ];
    for (name, size) in names.iter().zip(parts) {
        println!("  {name} {:.2} MB", size as f64 / 1e6);
    }
    println!("definitions {definitions}  references {references}  expressions {expressions}");
}

fn collect(directory: &Path, into: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else {
        return;
    };
    for entry in entries.flatten() {
        let path = entry.path();
        match entry.file_type() {
            Ok(kind) if kind.is_dir() => collect(&path, into),
            Ok(kind) if kind.is_file() => into.push(path),
            _ => {}
        }
    }
}
