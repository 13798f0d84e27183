//! Damage never lies: whatever happens to a file of the index, a question is answered as if nothing had, or the index says that it cannot
//! be believed; and the next build is the one made from nothing.
//!
//! `LACON_FAULTS=5000 cargo test -p index --test storage damage::` tries so many damages instead of a few; `LACON_SEED` repeats a run.

use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use index::build::{Follower, Indexer, Options};
use index::search::{FoldedNames, Mode, Question};
use index::snapshot::{EdgeEnd, EdgeKinds, Snapshot};
use index::store::Location;

use crate::support::{Project, assert_same, describe};

/// How many damages are tried.
fn many(few: usize) -> usize {
    let asked = std::env::var("LACON_FAULTS").ok();
    asked.map_or(few, |number| number.parse().unwrap())
}

/// Numbers that look random and are the same for the same seed.
struct Random(u64);

impl Random {
    fn new(run: u64) -> Random {
        let seed: u64 = std::env::var("LACON_SEED").map_or(1, |seed| seed.parse().unwrap());
        Random((seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ run.wrapping_mul(0xbf58_476d_1ce4_e5b9)) | 1)
    }

    fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % limit.max(1)
    }
}

/// A tree of several languages whose index has files of many blocks.
fn tree() -> Project {
    let project = Project::new(&[]);
    for number in 0..24 {
        let mut text = format!("import os\nfrom p{}.m{} import *\n\n", number % 4, (number + 7) % 24);
        for class in 0..12 {
            text.push_str(&format!(
                "class Cart{number}x{class}:\n    '''Keeps the items of order {class}.'''\n\n    def total_{number}_{class}(self, items, rate):\n        \
                 '''Adds up what the items cost.'''\n        return os.path.join(items, rate) + self.total_{number}_{class}(items)\n\n    def \
                 send(self):\n        return Cart{}x{class}().send()\n\n",
                (number + 1) % 24
            ));
        }
        project.write(&format!("p{}/m{number}.py", number % 4), text);
    }
    project.write(
        "web/shop.js",
        "export function pay(cart) { return cart.total() }\npay({})\n",
    );
    project.write("go.mod", "module example.com/shop\n");
    project.write(
        "cmd/main.go",
        "package main\n\ntype Box struct{}\n\nfunc (b Box) Open() {}\n\nfunc main() { Box{}.Open() }\n",
    );
    project
}

/// The kinds of questions, each by what it reads.
const QUESTIONS: usize = 6;

fn ask(snapshot: &Snapshot, question: usize) -> Vec<String> {
    let search = |text, mode| {
        let question = Question {
            text,
            limit: 20,
            mode,
            accept: None,
        };
        let hits = snapshot.search_index().search(snapshot, &question);
        let mut lines: Vec<String> = hits
            .iter()
            .map(|hit| {
                let id = snapshot
                    .symbol(hit.symbol)
                    .map_or(String::new(), |symbol| symbol.id_string());
                format!("{id} {}", hit.score)
            })
            .collect();
        lines.push(format!("missing {}", snapshot.search_index().missing_files()));
        lines
    };
    let end = |end: EdgeEnd| match end {
        EdgeEnd::Symbol(symbol) => snapshot
            .symbol(symbol)
            .map_or(String::new(), |symbol| symbol.id_string()),
        EdgeEnd::External(external) => snapshot.external(external).to_owned(),
    };
    match question {
        0 => describe(snapshot),
        1 => {
            let mut lines = Vec::new();
            for symbol in snapshot.named("send").chain(snapshot.with_prefix("total_1")) {
                for edge in snapshot.incoming(symbol.id(), EdgeKinds::ALL) {
                    let from = snapshot
                        .symbol(edge.from)
                        .map_or(String::new(), |symbol| symbol.id_string());
                    lines.push(format!("{from} {:?} {} {:?}", edge.kind, end(edge.to), edge.at));
                }
            }
            lines
        }
        2 => {
            let names = FoldedNames::of(snapshot);
            let found = names.containing("cart1").map(|name| names.get(name).to_owned());
            found
                .chain(names.near("tota_1_3", 2).iter().map(|near| format!("{near:?}")))
                .collect()
        }
        3 => search("what do the items of an order cost", Mode::Hybrid),
        4 => search("send total_3_4", Mode::Lexical),
        _ => {
            let file = snapshot.find_file("p1/m5.py");
            let totals = snapshot.totals();
            let mut lines = vec![format!("{:?} {:?} {}", totals.symbols, totals.edges, totals.lines)];
            lines.extend(
                file.iter()
                    .flat_map(|file| file.symbols())
                    .map(|symbol| symbol.signature().to_owned()),
            );
            lines.extend(snapshot.find("cmd/main.go::main").map(|symbol| symbol.id_string()));
            lines.extend(snapshot.externals().map(|(_, name)| name.to_owned()));
            lines
        }
    }
}

/// Every file of the index, with what it holds.
fn files_of(location: &Location) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut files = BTreeMap::new();
    for directory in [&location.directory, &location.facts] {
        for entry in fs::read_dir(directory).unwrap() {
            let path = entry.unwrap().path();
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if path.is_file() && name != "lock" && name != ".gitignore" {
                files.insert(path.clone(), fs::read(&path).unwrap());
            }
        }
    }
    files
}

fn restore(files: &BTreeMap<PathBuf, Vec<u8>>) {
    for (path, bytes) in files {
        drop(fs::remove_file(path));
        fs::write(path, bytes).unwrap();
    }
}

/// Does something to a file, in place, as other programs and failing disks do.
fn damage(path: &Path, whole: &[u8], other: &[u8], random: &mut Random) -> String {
    let mut bytes = whole.to_vec();
    let at = random.below(bytes.len());
    let what = match random.below(9) {
        0 => {
            bytes[at] ^= 1 << random.below(8);
            format!("a bit at {at}")
        }
        1 | 2 => {
            let length = (1 + random.below(64 << 10)).min(bytes.len() - at);
            bytes[at..at + length].fill(0);
            format!("{length} zeros at {at}")
        }
        3 => {
            let length = (1 + random.below(5000)).min(bytes.len() - at);
            bytes[at..at + length]
                .iter_mut()
                .for_each(|byte| *byte = random.below(256) as u8);
            format!("{length} random bytes at {at}")
        }
        4 => {
            bytes.truncate(at);
            format!("cut at {at}")
        }
        5 => {
            bytes.extend(std::iter::repeat_n(7, 1 + random.below(9000)));
            "longer".to_owned()
        }
        6 => {
            // A page of it is lost, and another stands in its place.
            let from = random.below(bytes.len()) & !4095;
            let page: Vec<u8> = bytes[from..(from + 4096).min(bytes.len())].to_vec();
            let at = at & !4095;
            let length = page.len().min(bytes.len() - at);
            bytes[at..at + length].copy_from_slice(&page[..length]);
            format!("the page at {from} at {at}")
        }
        7 => {
            // Half of it is of another version, as a copy that was interrupted leaves it.
            let length = at.min(other.len());
            bytes[..length].copy_from_slice(&other[..length]);
            format!("{length} bytes of another version")
        }
        _ => {
            fs::remove_file(path).unwrap();
            return "removed".to_owned();
        }
    };
    fs::write(path, &bytes).unwrap();
    if bytes == whole { "nothing".to_owned() } else { what }
}

/// What became of one question.
enum Outcome {
    AsBefore,
    Said,
}

/// Asks and compares. A part of the search index that is not there is said by how many files cannot be found.
fn outcome(snapshot: &Snapshot, question: usize, truth: &[Vec<String>], context: &str) -> Outcome {
    let answer = catch_unwind(AssertUnwindSafe(|| ask(snapshot, question)));
    if snapshot.damage().is_some() {
        return Outcome::Said;
    }
    let answer = answer.unwrap_or_else(|_| panic!("{context}: question {question} panicked"));
    if answer == truth[question] {
        return Outcome::AsBefore;
    }
    let is_search = question == 3 || question == 4;
    assert!(
        is_search && snapshot.search_index().missing_files() > 0,
        "{context}: question {question} is answered differently, and nobody says so"
    );
    Outcome::Said
}

#[test]
fn no_damage_changes_an_answer_silently() {
    let project = tree();
    let mut indexer = project.indexer();
    indexer.build().unwrap();
    let location = indexer.directory().location().clone();
    let others = files_of(&location);
    // A small change, so that there is a recent part beside the large one.
    project.write(
        "web/shop.js",
        "export function pay(cart) { return cart.sum() }\npay({})\nfunction more() {}\n",
    );
    let truth_snapshot = indexer.build().unwrap().snapshot;
    drop(indexer);
    let truth: Vec<Vec<String>> = (0..QUESTIONS).map(|question| ask(&truth_snapshot, question)).collect();
    assert!(truth.iter().all(|answer| answer.len() > 2), "{truth:#?}");
    let whole = files_of(&location);
    let names: Vec<&PathBuf> = whole.keys().collect();
    assert!(names.len() >= 5, "{names:?}");
    let (mut said, mut as_before) = (0, 0);
    let damages = many(300);
    for run in 0..damages {
        let mut random = Random::new(run as u64);
        let path = names[random.below(names.len())];
        let other = others.get(path).unwrap_or(&whole[path]);
        let is_open_before = random.below(3) == 0;
        let before = is_open_before.then(|| Snapshot::open(&location.snapshot()).unwrap());
        if let Some(snapshot) = &before {
            outcome(snapshot, random.below(QUESTIONS), &truth, "before the damage");
        }
        let what = damage(path, &whole[path], other, &mut random);
        let context = format!("damage {run}: {what} in {}", path.display());
        let snapshot = match before {
            Some(snapshot) => Ok(snapshot),
            None => Snapshot::open(&location.snapshot()),
        };
        match snapshot {
            Ok(snapshot) => {
                for question in 0..QUESTIONS {
                    match outcome(&snapshot, question, &truth, &context) {
                        Outcome::AsBefore => as_before += 1,
                        Outcome::Said => said += 1,
                    }
                }
            }
            Err(error) => {
                assert!(!error.to_string().is_empty());
                said += QUESTIONS;
            }
        }
        // Repair takes longer than asking.
        if run % 6 == 0 {
            let report = project
                .indexer()
                .build()
                .unwrap_or_else(|error| panic!("{context}: {error}"));
            if let Some(difference) = crate::support::difference(&report.snapshot, &truth_snapshot) {
                panic!("{context}: {difference}");
            }
            let repaired = Snapshot::open(&location.snapshot()).unwrap();
            for (question, truth) in truth.iter().enumerate() {
                assert!(
                    ask(&repaired, question) == *truth,
                    "{context}: question {question} after repair"
                );
            }
            assert!(repaired.damage().is_none() && repaired.verify().is_ok(), "{context}");
            for path in files_of(&location).keys().filter(|path| !whole.contains_key(*path)) {
                fs::remove_file(path).unwrap();
            }
        }
        restore(&whole);
    }
    println!(
        "{damages} damages, {} questions: {as_before} as before, {said} said",
        as_before + said
    );
    assert!(said > damages && as_before > damages / 10);
}

/// What other programs do to files that are in use: twenty readers, and none of them dies or is told something wrong.
#[test]
fn files_change_under_twenty_readers() {
    let project = tree();
    let mut indexer = project.indexer();
    let location = indexer.directory().location().clone();
    let mut truths = Vec::new();
    let mut versions = Vec::new();
    for version in 0..2 {
        project.write(
            "web/shop.js",
            format!("export function pay{version}(cart) {{ return cart.total() }}\n"),
        );
        let snapshot = indexer.build().unwrap().snapshot;
        let answers: Vec<Vec<String>> = (0..QUESTIONS).map(|question| ask(&snapshot, question)).collect();
        truths.push((*snapshot.tree_digest(), answers));
        let mut files = files_of(&location);
        files.retain(|path, _| path.parent() == Some(&location.directory) && !path.ends_with("stats"));
        versions.push(files);
    }
    drop(indexer);
    let is_over = AtomicBool::new(false);
    let (right, said) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let steps = many(60);
    std::thread::scope(|scope| {
        for reader in 0..20 {
            let (truths, is_over, right, said, root) = (&truths, &is_over, &right, &said, project.root());
            scope.spawn(move || {
                let mut random = Random::new(1000 + reader);
                let mut follower: Option<Follower> = None;
                while !is_over.load(Ordering::Relaxed) {
                    match &mut follower {
                        Some(follower) => drop(follower.refresh()),
                        None => follower = Follower::open(&root, None).ok(),
                    }
                    let Some(open) = &follower else {
                        std::thread::yield_now();
                        continue;
                    };
                    let snapshot = open.snapshot().clone();
                    let truth = truths.iter().find(|(digest, _)| digest == snapshot.tree_digest());
                    let (_, truth) = truth.expect("no other version was written");
                    match outcome(&snapshot, 1 + random.below(QUESTIONS - 1), truth, "a reader") {
                        Outcome::AsBefore => right.fetch_add(1, Ordering::Relaxed),
                        Outcome::Said => {
                            follower = None;
                            said.fetch_add(1, Ordering::Relaxed)
                        }
                    };
                }
            });
        }
        let mut random = Random::new(99);
        for _ in 0..steps {
            let version = &versions[random.below(2)];
            let names: Vec<&PathBuf> = version.keys().collect();
            let path = names[random.below(names.len())];
            match random.below(5) {
                0 => fs::write(path, "").unwrap(),
                1 => drop(fs::remove_file(path)),
                // Over it, as `cp` does.
                2 => version.iter().for_each(|(path, bytes)| fs::write(path, bytes).unwrap()),
                3 => {
                    let half = &version[path][..version[path].len() / 2];
                    fs::write(path, half).unwrap();
                }
                // In its place, as the index itself does.
                _ => {
                    for (path, bytes) in version {
                        let partial = path.with_extension("new");
                        fs::write(&partial, bytes).unwrap();
                        fs::rename(&partial, path).unwrap();
                    }
                }
            }
            std::thread::sleep(std::time::Duration::from_millis(3));
            if random.below(2) == 0 {
                restore(&versions[random.below(2)]);
            }
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
        is_over.store(true, Ordering::Relaxed);
    });
    let (right, said) = (right.into_inner(), said.into_inner());
    println!(
        "{steps} steps, {} answers: {right} right, {said} said to be damaged",
        right + said
    );
    assert!(right > steps);
    let report = project.indexer().build().unwrap();
    assert_same(&report.snapshot, &project.cold(2));
}

/// A writer that keeps the index makes again what another program changed, and what a reader found.
#[test]
fn a_keeper_mends() {
    let project = tree();
    let mut indexer = Indexer::open(&project.root(), Options::default()).unwrap();
    // A copy in memory: the files below are cut off before the rest of them is read.
    let truth = Snapshot::from_bytes(indexer.build().unwrap().snapshot.as_bytes().to_vec()).unwrap();
    let location = indexer.directory().location().clone();
    assert!(indexer.mend().unwrap().is_none());
    for name in ["snapshot", "search"] {
        let path = location.directory.join(name);
        let whole = fs::read(&path).unwrap();
        let attempts: [&dyn Fn(); 3] = [
            &|| fs::write(&path, &whole[..whole.len() / 3]).unwrap(),
            &|| fs::remove_file(&path).unwrap(),
            &|| index::store::ask_for_repair(&location),
        ];
        for attempt in attempts {
            attempt();
            let report = indexer.mend().unwrap().expect("there is something to mend");
            assert_same(&report.snapshot, &truth);
            let opened = Snapshot::open(&location.snapshot()).unwrap();
            assert!(opened.verify().is_ok());
            assert_eq!(opened.search_index().missing_files(), 0);
            assert!(indexer.mend().unwrap().is_none());
        }
    }
    // A directory that is being removed is not made again.
    fs::remove_dir_all(&location.directory).unwrap();
    assert!(indexer.mend().unwrap().is_none());
    assert!(!location.directory.exists());
}
