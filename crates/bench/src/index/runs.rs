//! What is measured in a process of its own: bare parsing, indexing, universal-ctags.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use anyhow::{Context, bail};
use index::build::{Indexer, Options, Progress};
use index::scan::{Config, each_source};
use serde::{Deserialize, Serialize};
use server::summary::Summary;
use terminal::failure::Failure;
use terminal::output::Output;
use terminal::usage;

#[derive(Serialize, Deserialize, Clone, Copy, Default)]
pub(crate) struct Cost {
    pub(crate) wall_seconds: f64,
    pub(crate) cpu_seconds: f64,
    pub(crate) peak_memory_bytes: u64,
}

/// What a cold index cost, and in which phase.
#[derive(Serialize, Deserialize, Clone, Copy, Default)]
pub(crate) struct Indexed {
    pub(crate) cost: Cost,
    pub(crate) cpu: Phases,
}

/// CPU seconds of all threads, phase by phase.
#[derive(Serialize, Deserialize, Clone, Copy, Default)]
pub(crate) struct Phases {
    /// Walking, reading, parsing, lowering, storing; with search, making its chunks, terms and vectors as well.
    pub(crate) extract: f64,
    /// Linking and resolving; with search, writing its index before.
    pub(crate) resolve: f64,
    /// Writing the snapshot.
    pub(crate) write: f64,
}

/// Parses every source file, in this process.
pub(super) fn only_parse(root: &Path, threads: Option<usize>, output: &mut Output) -> Result<(), Failure> {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(threads.unwrap_or(0))
        .stack_size(16 << 20)
        .build()?;
    let (files, failed) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let nanoseconds = AtomicU64::new(0);
    let began = Instant::now();
    pool.install(|| {
        each_source(root, &Config::load(root)?, &|_, language, text| {
            let before = usage::thread_cpu();
            files.fetch_add(1, Ordering::Relaxed);
            if !syntax::parse_only(language, text) {
                failed.fetch_add(1, Ordering::Relaxed);
            }
            let after = usage::thread_cpu();
            nanoseconds.fetch_add((after - before).as_nanos() as u64, Ordering::Relaxed);
        })
    })?;
    output.json(&Cost {
        wall_seconds: began.elapsed().as_secs_f64(),
        cpu_seconds: nanoseconds.into_inner() as f64 / 1e9,
        peak_memory_bytes: usage::peak_memory(),
    })
}

/// Indexes a tree, in this process, and says how much CPU each phase took.
pub(super) fn only_index(
    root: &Path,
    directory: &Path,
    threads: Option<usize>,
    without_search: bool,
    output: &mut Output,
) -> Result<(), Failure> {
    // Extraction has ended when its last file is told, resolution when writing begins.
    let marks: Arc<Mutex<(f64, f64)>> = Arc::default();
    let hear = {
        let marks = marks.clone();
        move |progress: Progress| {
            let now = usage::cpu().as_secs_f64();
            if let Ok(mut marks) = marks.lock() {
                match progress {
                    Progress::Extracted { done, total } if done == total => marks.0 = now,
                    Progress::Writing => marks.1 = now,
                    _ => {}
                }
            }
        }
    };
    let options = Options {
        directory: Some(directory.to_path_buf()),
        threads,
        without_search,
        progress: Some(Arc::new(hear)),
        ..Options::default()
    };
    let mut indexer = Indexer::open(root, options)?;
    let report = indexer.build()?;
    let total = usage::cpu().as_secs_f64();
    let (extracted, resolved) = marks.lock().map_or((0.0, 0.0), |marks| *marks);
    let indexed = Indexed {
        cost: Cost {
            wall_seconds: report.time.total.as_secs_f64(),
            cpu_seconds: total,
            peak_memory_bytes: usage::peak_memory(),
        },
        cpu: Phases {
            extract: extracted,
            resolve: resolved - extracted,
            write: total - resolved,
        },
    };
    output.json(&(indexed, Summary::new(&report, &indexer)))
}

/// What universal-ctags takes for the same files; `None` where it is not installed.
pub(super) fn run_ctags(tree: &Path, paths: &[String]) -> Result<Option<Cost>, Failure> {
    // Never one that lies in the tree, nor with options that the tree has for it.
    let kept_out = guardian::programs::kept_out_for(tree);
    let folders = guardian::programs::folders(&std::env::var_os("PATH").unwrap_or_default(), &kept_out);
    let Some(ctags) = guardian::programs::find("ctags", &folders, &kept_out) else {
        return Ok(None);
    };
    let version = Command::new(&ctags)
        .args(["--options=NONE", "--version"])
        .stderr(Stdio::null())
        .output();
    // Emacs and BSD have programs of that name as well.
    if !version.is_ok_and(|version| version.stdout.starts_with(b"Universal Ctags")) {
        return Ok(None);
    }
    let list = tree.with_file_name("files");
    fs::write(&list, paths.join("\n"))?;
    let before = children_cpu();
    let began = Instant::now();
    let status = Command::new(&ctags)
        .current_dir(tree)
        .args(["--options=NONE", "-f", "/dev/null", "-L"])
        .arg(&list)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    let cost = Cost {
        wall_seconds: began.elapsed().as_secs_f64(),
        cpu_seconds: children_cpu() - before,
        peak_memory_bytes: 0,
    };
    Ok(status.success().then_some(cost))
}

/// CPU of the children that ended so far.
fn children_cpu() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").unwrap_or_default();
    let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or("").split_whitespace().collect();
    let ticks = |at: usize| {
        fields
            .get(at)
            .and_then(|field| field.parse::<f64>().ok())
            .unwrap_or(0.0)
    };
    (ticks(13) + ticks(14)) / 100.0
}

/// Runs this program and reads the JSON that it prints.
pub(super) fn run_self(arguments: &[&str]) -> Result<serde_json::Value, Failure> {
    let program = std::env::current_exe().context("cannot find this program")?;
    let result = Command::new(program).args(arguments).stdin(Stdio::null()).output()?;
    if !result.status.success() {
        bail_child(arguments, &result.stderr)?;
    }
    Ok(serde_json::from_slice(&result.stdout)?)
}

fn bail_child(arguments: &[&str], stderr: &[u8]) -> anyhow::Result<()> {
    bail!(
        "`lacon {}` failed: {}",
        arguments.join(" "),
        String::from_utf8_lossy(stderr).trim()
    )
}
