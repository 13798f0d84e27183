//! What comes from the disk, mutated at random: a reader ends, without a panic, whatever it is given. Damage is caught by checksums before
//! anyone looks; here the checksums are made right again, as somebody would who forges an index, so that what lies behind them is read.
//!
//! Each target tries some dozens of cases; `PROPTEST_CASES=20000 cargo test -p index --lib fuzz` goes on for minutes.

use std::path::PathBuf;
use std::sync::OnceLock;

use proptest::prelude::*;
use proptest::sample::Index;
use zerocopy::{FromBytes, IntoBytes};

use crate::build::{Indexer, Options};
use crate::scan::Config;
use crate::search::{FoldedNames, Mode, Question, SearchIndex};
use crate::snapshot::format::{Header, head_length};
use crate::snapshot::{EdgeKinds, Snapshot, header_checksum};
use crate::store::{FactsKey, FactsStore, Summing};

/// Something that is done to bytes.
#[derive(Clone, Debug)]
enum Mutation {
    Byte(Index, u8),
    /// A small number in little-endian, where lengths and offsets are.
    Number(Index, u32),
    Zeros(Index, u8),
    Copy(Index, Index, u8),
    Cut(Index),
    Grow(Vec<u8>),
}

fn mutation() -> impl Strategy<Value = Mutation> {
    let number = prop_oneof![0u32..40, any::<u32>(), Just(u32::MAX), Just(1 << 31)];
    prop_oneof![
        4 => (any::<Index>(), any::<u8>()).prop_map(|(at, byte)| Mutation::Byte(at, byte)),
        4 => (any::<Index>(), number).prop_map(|(at, number)| Mutation::Number(at, number)),
        1 => (any::<Index>(), any::<u8>()).prop_map(|(at, length)| Mutation::Zeros(at, length)),
        1 => (any::<Index>(), any::<Index>(), any::<u8>()).prop_map(|(from, to, length)| Mutation::Copy(from, to, length)),
        1 => any::<Index>().prop_map(Mutation::Cut),
        1 => prop::collection::vec(any::<u8>(), 1..40).prop_map(Mutation::Grow),
    ]
}

fn mutations() -> impl Strategy<Value = Vec<Mutation>> {
    prop::collection::vec(mutation(), 1..12)
}

/// Mutates what stands from `start` on; the length stays where it must.
fn mutated(whole: &[u8], start: usize, may_change_length: bool, mutations: &[Mutation]) -> Vec<u8> {
    let mut bytes = whole.to_vec();
    for mutation in mutations {
        let length = bytes.len() - start;
        if length == 0 {
            break;
        }
        let part = |at: usize, length: u8, bytes: &[u8]| at..(at + usize::from(length)).min(bytes.len());
        match mutation {
            Mutation::Byte(at, byte) => bytes[start + at.index(length)] = *byte,
            Mutation::Number(at, number) => {
                // Where numbers are: at multiples of four, mostly.
                let at = start + (at.index(length) & !3);
                let range = part(at, 4, &bytes);
                let length = range.len();
                bytes[range].copy_from_slice(&number.to_le_bytes()[..length]);
            }
            Mutation::Zeros(at, length_of) => {
                let range = part(start + at.index(length), *length_of, &bytes);
                bytes[range].fill(0);
            }
            Mutation::Copy(from, to, length_of) => {
                let from = part(start + from.index(length), *length_of, &bytes);
                let to = part(start + to.index(length), from.len() as u8, &bytes).start;
                let count = from.len().min(bytes.len() - to);
                bytes.copy_within(from.start..from.start + count, to);
            }
            Mutation::Cut(at) if may_change_length => bytes.truncate(start + at.index(length)),
            Mutation::Grow(more) if may_change_length => bytes.extend_from_slice(more),
            Mutation::Cut(_) | Mutation::Grow(_) => {}
        }
    }
    bytes
}

fn cases(few: u32) -> ProptestConfig {
    let asked = ProptestConfig::default();
    match std::env::var_os("PROPTEST_CASES") {
        Some(_) => asked,
        None => ProptestConfig { cases: few, ..asked },
    }
}

/// The files of an index that was made from a small tree.
struct Sample {
    snapshot: Vec<u8>,
    search: Vec<u8>,
    pack: Vec<u8>,
    stats: Vec<u8>,
    key: FactsKey,
}

fn sample() -> &'static Sample {
    static SAMPLE: OnceLock<Sample> = OnceLock::new();
    SAMPLE.get_or_init(|| {
        let directory = tempfile::tempdir().unwrap();
        let tree = directory.path().join("tree");
        std::fs::create_dir(&tree).unwrap();
        let mut shop = String::from("import os\n\nclass Cart:\n    \"\"\"Keeps items.\"\"\"\n");
        for number in 0..30 {
            shop.push_str(&format!(
                "\n    def total_{number}(self, rate):\n        return os.path.join(self.total_{}(rate))\n",
                number / 2
            ));
        }
        let files = [
            ("shop.py", shop.as_str()),
            (
                "pay.py",
                "from shop import Cart\n\ndef pay():\n    return [Cart().total_3(x) for x in map(lambda y: y, [])]\n",
            ),
            (
                "web.js",
                "export function show(cart) { return cart.total_1(() => 2) }\n",
            ),
        ];
        for (name, text) in files {
            std::fs::write(tree.join(name), text).unwrap();
        }
        let mut indexer = Indexer::open(&tree, Options::default()).unwrap();
        indexer.build().unwrap();
        let location = indexer.directory().location().clone();
        drop(indexer);
        let read = |name: &str| std::fs::read(location.directory.join(name)).unwrap();
        let pack = std::fs::read_dir(&location.facts)
            .unwrap()
            .next()
            .unwrap()
            .unwrap()
            .path();
        Sample {
            snapshot: read("snapshot"),
            search: read("search"),
            pack: std::fs::read(pack).unwrap(),
            stats: read("stats"),
            key: FactsKey::new(blake3::hash(shop.as_bytes()).as_bytes(), "python"),
        }
    })
}

/// Where the sections of a snapshot start and end.
fn body(snapshot: &[u8]) -> std::ops::Range<usize> {
    let (header, _) = Header::read_from_prefix(snapshot).unwrap();
    let start = head_length(header.section_count.get() as usize);
    start..start + header.body_length.get() as usize
}

/// Makes the checksums of a snapshot of the same length right again.
fn forged(mut bytes: Vec<u8>) -> Vec<u8> {
    let body = body(&sample().snapshot);
    let mut summing = Summing::new();
    summing.put(&bytes[body.clone()]);
    let sums = summing.finish();
    bytes[body.end..].copy_from_slice(&sums);
    let (mut header, _) = Header::read_from_prefix(&bytes).unwrap();
    header.checksum = header_checksum(&header, &bytes[size_of::<Header>()..body.start], &sums);
    bytes[..size_of::<Header>()].copy_from_slice(header.as_bytes());
    bytes
}

/// Asks everything that can be asked; the numbers keep it from being optimised away.
fn ask_all(snapshot: &Snapshot) -> usize {
    const MANY: usize = 3000;
    let mut read = snapshot.file_count() + snapshot.edge_count().min(MANY);
    for file in snapshot.files().take(MANY) {
        read += file.path().len() + file.doc().len() + file.language().len() + file.lines() as usize;
        read += file.source().map_or(0, |source| source.path().len());
        read += snapshot.edges_of_file(file.id(), EdgeKinds::ALL).take(MANY).count();
        read += snapshot
            .edges_of_file_with_lambdas(file.id(), EdgeKinds::ALL)
            .take(MANY)
            .count();
        read += snapshot.symbol_at(file.id(), 7).map_or(0, |symbol| symbol.name().len());
    }
    for symbol in snapshot.symbols().take(MANY) {
        let id = symbol.id_string();
        read += snapshot.find(&id).map_or(0, |found| found.signature().len()) + symbol.doc().len();
        read += symbol.span().end as usize & 1;
        read += symbol.parent().map_or(0, |parent| parent.qualified_name().len());
        read += snapshot.outgoing(symbol.id(), EdgeKinds::ALL).take(MANY).count();
        read += snapshot.incoming(symbol.id(), EdgeKinds::ALL).take(MANY).count()
            + snapshot.incoming_count(symbol.id()) % 2;
    }
    let names = FoldedNames::of(snapshot);
    read += names
        .containing("total")
        .take(MANY)
        .map(|name| names.get(name).len())
        .sum::<usize>();
    read += names.near("totl_3", 2).len() + snapshot.named("Cart").count() + snapshot.with_prefix("to").count();
    read += snapshot.named_ignoring_case("CART").count() + snapshot.names().take(MANY).count();
    read += snapshot
        .externals()
        .take(MANY)
        .map(|(_, name)| name.len())
        .sum::<usize>();
    read += usize::from(snapshot.find_external("pypi:os").is_some()) + snapshot.skipped().take(MANY).count();
    read + snapshot.totals().edges.len()
        + snapshot
            .languages()
            .take(MANY)
            .map(|language| language.name().len())
            .sum::<usize>()
}

fn search(snapshot: &Snapshot, index: &SearchIndex) -> usize {
    let mut found = 0;
    for (text, mode) in [("what keeps items", Mode::Hybrid), ("total_3 pay", Mode::Lexical)] {
        let question = Question {
            text,
            limit: 10,
            mode,
            accept: None,
        };
        found += index.search(snapshot, &question).len();
    }
    found + index.files(snapshot, "cart total").len()
}

/// A directory that holds one file.
fn holding(name: &str, bytes: &[u8]) -> (tempfile::TempDir, PathBuf) {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join(name);
    std::fs::write(&path, bytes).unwrap();
    (directory, path)
}

#[test]
fn what_is_forged_like_this_is_read() {
    let sample = sample();
    assert_eq!(forged(sample.snapshot.clone()), sample.snapshot);
    let snapshot = Snapshot::from_bytes(sample.snapshot.clone()).unwrap();
    assert!(ask_all(&snapshot) > 1000);
    let (directory, _) = holding("search", &sample.search);
    let index = SearchIndex::open(directory.path(), &snapshot);
    assert!(index.missing_files() == 0 && search(&snapshot, &index) > 5);
}

proptest! {
    #![proptest_config(cases(48))]

    #[test]
    fn a_damaged_snapshot_is_said_to_be(mutations in mutations()) {
        let bytes = mutated(&sample().snapshot, 0, true, &mutations);
        let is_same = bytes == sample().snapshot;
        if let Ok(snapshot) = Snapshot::from_bytes(bytes) {
            ask_all(&snapshot);
            prop_assert_eq!(snapshot.verify().is_ok(), is_same);
        } else {
            prop_assert!(!is_same);
        }
    }

    #[test]
    fn a_forged_snapshot_is_read_to_its_end(mutations in mutations()) {
        let whole = &sample().snapshot;
        let body = body(whole);
        let mut bytes = mutated(&whole[..body.end], body.start, false, &mutations);
        bytes.extend_from_slice(&whole[body.end..]);
        let snapshot = Snapshot::from_bytes(forged(bytes)).unwrap();
        ask_all(&snapshot);
        prop_assert!(snapshot.damage().is_none());
        let (directory, _) = holding("search", &sample().search);
        let index = SearchIndex::open(directory.path(), &snapshot);
        search(&snapshot, &index);
    }

    #[test]
    fn a_forged_search_part_is_read_to_its_end(mutations in mutations()) {
        let bytes = crate::search::forged(&sample().search, |body| mutated(body, 0, false, &mutations));
        let (directory, _) = holding("search", &bytes);
        let snapshot = Snapshot::from_bytes(sample().snapshot.clone()).unwrap();
        let index = SearchIndex::open(directory.path(), &snapshot);
        search(&snapshot, &index);
        prop_assert!(index.damage().is_none());
    }

    #[test]
    fn a_damaged_search_part_is_said_to_be(mutations in mutations()) {
        let whole = &sample().search;
        let bytes = mutated(whole, 0, true, &mutations);
        let (directory, _) = holding("search", &bytes);
        let snapshot = Snapshot::from_bytes(sample().snapshot.clone()).unwrap();
        let right = {
            let (directory, _) = holding("search", whole);
            search(&snapshot, &SearchIndex::open(directory.path(), &snapshot))
        };
        let index = SearchIndex::open(directory.path(), &snapshot);
        let found = search(&snapshot, &index);
        prop_assert!(index.damage().is_some() || index.missing_files() > 0 || found == right);
    }

    #[test]
    fn a_damaged_pack_gives_the_facts_or_none(mutations in mutations(), finished in any::<bool>()) {
        let whole = &sample().pack;
        let (directory, path) = holding(if finished { "1.pack" } else { "1.open" }, &mutated(whole, 0, true, &mutations));
        if let Ok((store, _)) = FactsStore::open(directory.path()) {
            if let Some(facts) = store.get(&sample().key) {
                let (whole_directory, _) = holding("1.pack", whole);
                let (whole_store, _) = FactsStore::open(whole_directory.path()).unwrap();
                prop_assert_eq!(Some(facts), whole_store.get(&sample().key));
            }
            // Merging reads all of it.
            store.collect(&[sample().key]).unwrap();
        }
        drop(path);
    }

    #[test]
    fn damaged_facts_are_an_error_or_consistent(bytes in prop::collection::vec(any::<u8>(), 0..400), mutations in mutations()) {
        let decode = |bytes: &[u8]| drop(syntax::FileFacts::decode(bytes));
        decode(&bytes);
        let facts = syntax::extract(syntax::languages::by_name("python").unwrap(), "class A:\n    def f(self): return self.f()\n");
        decode(&mutated(&facts.encode(), 0, true, &mutations));
    }

    #[test]
    fn a_damaged_stat_cache_is_no_cache(mutations in mutations()) {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("a.py"), "def a(): pass\n").unwrap();
        let mut indexer = Indexer::open(directory.path(), Options { threads: Some(1), ..Options::default() }).unwrap();
        let index = indexer.directory().location().directory.clone();
        let built = indexer.build().unwrap().snapshot.as_bytes().to_vec();
        drop(indexer);
        std::fs::write(index.join("stats"), mutated(&sample().stats, 0, true, &mutations)).unwrap();
        let mut indexer = Indexer::open(directory.path(), Options { threads: Some(1), ..Options::default() }).unwrap();
        prop_assert!(indexer.build().unwrap().snapshot.as_bytes() == built);
    }

    #[test]
    fn any_configuration_is_taken_or_refused(text in configuration(), mutations in mutations()) {
        let bytes = mutated(text.as_bytes(), 0, true, &mutations);
        for bytes in [text.as_bytes(), &bytes] {
            let (directory, _) = holding("lacon.toml", bytes);
            match Config::load(directory.path()) {
                Ok(config) => prop_assert_eq!(config.digest(), config.digest()),
                Err(error) => prop_assert!(!error.to_string().is_empty()),
            }
        }
    }
}

/// Text that is nearly a configuration.
fn configuration() -> impl Strategy<Value = String> {
    let key = prop::sample::select(vec![
        "exclude",
        "include",
        "max_file_size",
        "generated",
        "ignore_files",
        "scip",
        "hidden",
        "other",
    ]);
    let value = prop::sample::select(vec![
        "true",
        "false",
        "-1",
        "0",
        "2097152",
        "9223372036854775807",
        "1e400",
        "\"flag\"",
        "\"[\"",
        "[\"**/*\"]",
        "[\"[a\", \"{x,\"]",
        "[[1]]",
        "{a = 1}",
        "\"\\u0000\"",
        "1979-05-27",
    ]);
    let line = (key, value).prop_map(|(key, value)| format!("{key} = {value}\n"));
    prop::collection::vec(line, 0..6).prop_map(|lines| format!("[index]\n{}", lines.concat()))
}
