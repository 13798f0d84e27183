//! What files that come and go cost: `cargo run --release -p index --example edit_speed -- <directory> <index> [count]`.
//!
//! Copies of files spread over the directory are added beside them and removed again, so give it a copy of a tree. Prints for
//! each where the time went, in milliseconds, then percentiles.

use std::io::Write;
use std::path::{Path, PathBuf};

use index::build::{BuildError, Indexer, Options};
use index::scan::unescape_path;

/// Milliseconds of extraction, search, resolution, writing, all of it and CPU, with the number of files resolved.
type Row = ([f64; 6], usize);

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [root, directory, rest @ ..] = &arguments[..] else {
        return Err("usage: edit_speed <directory> <index> [count]".into());
    };
    let count: usize = rest.first().and_then(|count| count.parse().ok()).unwrap_or(40);
    let options = Options {
        directory: Some(PathBuf::from(directory)),
        ..Options::default()
    };
    let mut indexer = Indexer::open(Path::new(root), options)?;
    let report = indexer.build()?;
    indexer.prepare()?;
    let is_source = |path: &String| {
        [".py", ".go", ".js", ".ts", ".rs"]
            .iter()
            .any(|end| path.ends_with(end))
    };
    let files = report.snapshot.files();
    let paths: Vec<String> = files.map(|file| file.path().to_string()).filter(is_source).collect();
    let mut out = std::io::stdout().lock();
    let (mut added, mut removed) = (Vec::new(), Vec::new());
    for path in paths.iter().step_by((paths.len() / count.max(1)).max(1)).take(count) {
        let original = indexer.root().join(unescape_path(path));
        let extension = path.rsplit('.').next().unwrap_or("");
        let copy = original.with_extension(format!("copy.{extension}"));
        std::fs::copy(&original, &copy)?;
        let came = timed(&mut indexer, &copy)?;
        std::fs::remove_file(&copy)?;
        let went = timed(&mut indexer, &copy)?;
        for (what, row, rows) in [("added", came, &mut added), ("removed", went, &mut removed)] {
            let [extract, search, resolve, write, total, cpu] = row.0;
            writeln!(
                out,
                "{what:8}{total:7.1}, CPU {cpu:7.1} = extract {extract:5.1}, search {search:5.1}, resolve {resolve:6.1}, write {write:5.1}; {:5} resolved, {path}",
                row.1
            )?;
            rows.push(row);
        }
    }
    for (what, rows) in [("added", added), ("removed", removed)] {
        for (of, column) in [("wall", 4), ("CPU", 5)] {
            let mut times: Vec<f64> = rows.iter().map(|row| row.0[column]).collect();
            times.sort_by(f64::total_cmp);
            let at = |part: f64| {
                let place = (times.len().saturating_sub(1) as f64 * part).round();
                times.get(place as usize).copied().unwrap_or(0.0)
            };
            writeln!(
                out,
                "{what}, {of}: p50 {:.1}, p95 {:.1}, max {:.1}",
                at(0.5),
                at(0.95),
                at(1.0)
            )?;
        }
    }
    Ok(())
}

fn timed(indexer: &mut Indexer, path: &Path) -> Result<Row, BuildError> {
    let before = cpu();
    let report = indexer.update(&[path.to_path_buf()])?;
    let cpu = cpu() - before;
    let time = report.time;
    let [extract, search, resolve, write, total] =
        [time.extract, time.search, time.resolve, time.write, time.total].map(|time| time.as_secs_f64() * 1e3);
    Ok(([extract, search, resolve, write, total, cpu], report.resolved))
}

/// Milliseconds that the threads of this process have run.
fn cpu() -> f64 {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let spent = tasks.filter_map(|task| {
        let stat = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        stat.split_whitespace().next()?.parse::<f64>().ok()
    });
    spent.sum::<f64>() / 1e6
}
