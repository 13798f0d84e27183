//! Contexts over real trees: budgets that are filled and never exceeded, distances that are the graph's, reasons, changes that
//! git knows of, roots that change with content.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

use codeintel::context::{
    BlastRadius, CommunitiesAnswer, ContextPack, Explain, ForFiles, ForPr, ForTask, GetCommunities, PlanTurn, Room,
    blast_radius, communities, context_for_files, context_for_pr, context_for_task, explain_symbol, plan_turn,
};
use codeintel::{Derived, QuestionError, Repository, Workspace};
use index::build::{Indexer, Options, open_snapshot};
use wire::answers::PackDelta;
use wire::tokens::Tokenizer;

pub(super) fn indexed(root: &Path, directory: &Path) -> Workspace {
    let options = Options {
        directory: Some(directory.to_path_buf()),
        ..Options::default()
    };
    let mut indexer = Indexer::open(root, options).unwrap();
    indexer.build().unwrap();
    drop(indexer);
    Workspace::new(vec![Repository {
        name: "tree".to_string(),
        root: root.to_path_buf(),
        snapshot: Arc::new(open_snapshot(root, Some(directory)).unwrap()),
        incomplete: None,
        derived: Derived::default(),
    }])
}

/// Tokens of a pack in GCF, as two texts.
pub(super) fn in_gcf(pack: &ContextPack) -> usize {
    let texts = pack.to_gcf("context_for_task").unwrap();
    texts.iter().map(|text| Tokenizer::O200k.count(text)).sum()
}

fn in_json(pack: &ContextPack) -> usize {
    Tokenizer::O200k.count(&serde_json::to_string(pack).unwrap())
}

fn room(budget: usize, measure: &dyn Fn(&ContextPack) -> usize) -> Room<'_> {
    Room {
        budget,
        measure,
        base: None,
    }
}

fn task(text: &str) -> ForTask {
    ForTask {
        task: text.to_string(),
        ..ForTask::default()
    }
}

/// Sources of this project: enough material for any budget here.
fn own_sources() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../wire/src")
        .canonicalize()
        .unwrap()
}

const TASKS: &[&str] = &[
    "make the GCF decoder reject duplicate keys",
    "count tokens faster for long texts",
    "session references must survive a reset",
    "`Layout::generic` should accept nested arrays",
    "write markdown tables with escaped pipes",
];

#[test]
fn budgets_are_filled_and_never_exceeded() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(&own_sources(), folder.path());
    for text in TASKS {
        for budget in [600, 2_000, 6_000, 20_000] {
            for measure in [&in_gcf as &dyn Fn(&ContextPack) -> usize, &in_json] {
                let pack = context_for_task(&workspace, &task(text), &room(budget, measure)).unwrap();
                let used = measure(&pack);
                assert!(used <= budget, "{text}: {used} of {budget}");
                assert!(used * 10 >= budget * 9, "{text}: {used} of {budget}");
                assert_eq!(pack.root().unwrap(), pack.pack_root);
                assert!(pack.symbols.iter().all(|symbol| (0.0..=1.0).contains(&symbol.score)));
            }
        }
    }
}

#[test]
fn a_pack_reads_back_from_gcf() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = indexed(&own_sources(), folder.path());
    let ask = ForTask {
        explain: true,
        ..task(TASKS[0])
    };
    let pack = context_for_task(&workspace, &ask, &room(4_000, &in_gcf)).unwrap();
    let [graph, sources] = pack.to_gcf("context_for_task").unwrap();
    let graph = wire::gcf::graph::decode(&graph).unwrap();
    let numbers: Vec<u64> = (0..graph.symbols.len() as u64).collect();
    let read = ContextPack::from_gcf(graph, &numbers, &sources, |_, _| None).unwrap();
    let sorted = |mut pack: ContextPack| {
        pack.edges
            .sort_by(|a, b| (&a.from, &a.to, &a.kind).cmp(&(&b.from, &b.to, &b.kind)));
        pack
    };
    assert_eq!(sorted(read), sorted(pack));
}

const QUEUE: &str = "
class Queue:
    def push(self, item):
        return self.store(item)

    def store(self, item):
        return item


def unrelated():
    return 1
";

const WORKER: &str = "
from queue_store import Queue


def work(item):
    queue = Queue()
    return queue.push(item)


def main():
    work(1)
";

fn git(root: &Path, arguments: &[&str]) {
    let done = Command::new("git")
        .current_dir(root)
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "-c",
            "commit.gpgsign=false",
        ])
        .args(arguments)
        .output()
        .unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

fn shop() -> (tempfile::TempDir, tempfile::TempDir) {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(root.path().join("queue_store.py"), QUEUE).unwrap();
    fs::write(root.path().join("worker.py"), WORKER).unwrap();
    git(root.path(), &["init", "-q", "-b", "main"]);
    git(root.path(), &["add", "."]);
    git(root.path(), &["commit", "-q", "-m", "start"]);
    (root, index)
}

fn distance(pack: &ContextPack, id: &str) -> u64 {
    pack.symbols
        .iter()
        .find(|symbol| symbol.id == id)
        .unwrap_or_else(|| panic!("{id} in {pack:?}"))
        .distance
}

#[test]
fn a_named_symbol_is_the_target_and_the_rest_lies_as_far_as_the_graph_says() {
    let (root, index) = shop();
    let workspace = indexed(root.path(), index.path());
    let ask = ForTask {
        explain: true,
        ..task("speed up `Queue.push`")
    };
    let pack = context_for_task(&workspace, &ask, &room(3_000, &in_gcf)).unwrap();
    assert_eq!(distance(&pack, "queue_store.py::Queue.push"), 0);
    assert_eq!(distance(&pack, "queue_store.py::Queue.store"), 1);
    assert_eq!(distance(&pack, "worker.py::work"), 1);
    assert_eq!(distance(&pack, "worker.py::main"), 2);
    assert!(
        pack.edges.iter().any(|edge| edge.from == "worker.py::work"
            && edge.to == "queue_store.py::Queue.push"
            && edge.kind == "calls")
    );
    let why = pack
        .reasons
        .iter()
        .find(|reason| reason.id == "queue_store.py::Queue.push")
        .unwrap();
    assert!(why.reason.contains("names `Queue.push`"), "{}", why.reason);
    assert!(
        pack.sources
            .iter()
            .any(|source| source.text.contains("return self.store(item)"))
    );
}

#[test]
fn the_root_changes_with_a_body_and_not_without() {
    let (root, index) = shop();
    let ask = task("speed up `Queue.push`");
    let workspace = indexed(root.path(), index.path());
    let before = context_for_task(&workspace, &ask, &room(3_000, &in_gcf)).unwrap();
    let again = context_for_task(&workspace, &ask, &room(3_000, &in_gcf)).unwrap();
    assert_eq!(before, again);
    // Same names, same lines, other content.
    fs::write(
        root.path().join("queue_store.py"),
        QUEUE.replace("return item", "return None"),
    )
    .unwrap();
    let workspace = indexed(root.path(), index.path());
    let with_base = Room {
        base: Some(&before),
        ..room(3_000, &in_gcf)
    };
    let after = context_for_task(&workspace, &ask, &with_base).unwrap();
    assert_ne!(before.pack_root, after.pack_root);
    let changed: Vec<&str> = after
        .symbols
        .iter()
        .filter(|symbol| !before.symbols.contains(symbol))
        .map(|symbol| symbol.id.as_str())
        .collect();
    assert_eq!(changed, ["queue_store.py::Queue.store"]);
}

#[test]
fn changes_are_what_git_says() {
    let (root, index) = shop();
    git(root.path(), &["checkout", "-q", "-b", "feature"]);
    fs::write(root.path().join("worker.py"), WORKER.replace("work(1)", "work(2)")).unwrap();
    git(root.path(), &["commit", "-q", "-am", "two"]);
    fs::write(
        root.path().join("queue_store.py"),
        QUEUE.replace("return 1", "return 2"),
    )
    .unwrap();
    let workspace = indexed(root.path(), index.path());
    let targets = |pack: &ContextPack| -> Vec<String> {
        let near = pack.symbols.iter().filter(|symbol| symbol.distance == 0);
        let mut ids: Vec<String> = near.map(|symbol| symbol.id.clone()).collect();
        ids.sort();
        ids
    };
    let pack = context_for_pr(&workspace, &ForPr::default(), &room(2_000, &in_gcf)).unwrap();
    assert_eq!(targets(&pack), ["queue_store.py::unrelated", "worker.py::main"]);
    let ask = ForPr {
        base: Some("HEAD".to_string()),
        ..ForPr::default()
    };
    let pack = context_for_pr(&workspace, &ask, &room(2_000, &in_gcf)).unwrap();
    assert_eq!(targets(&pack), ["queue_store.py::unrelated"]);
    let ask = ForPr {
        base: Some("--output=/tmp/x".to_string()),
        ..ForPr::default()
    };
    let refused = context_for_pr(&workspace, &ask, &room(2_000, &in_gcf)).unwrap_err();
    assert!(
        matches!(refused, QuestionError::Argument { name: "base", .. }),
        "{refused}"
    );
    let ask = BlastRadius {
        diff: Some(String::new()),
        ..BlastRadius::default()
    };
    let pack = blast_radius(&workspace, &ask, &room(2_000, &in_gcf)).unwrap();
    assert_eq!(targets(&pack), ["queue_store.py::unrelated", "worker.py::main"]);
}

#[test]
fn a_renamed_file_is_changed_only_where_it_is_other() {
    let (root, index) = shop();
    git(root.path(), &["mv", "queue_store.py", "queues.py"]);
    fs::write(root.path().join("queues.py"), QUEUE.replace("return 1", "return 2")).unwrap();
    fs::write(root.path().join("new.py"), "def fresh():\n    return 3\n").unwrap();
    let workspace = indexed(root.path(), index.path());
    let pack = context_for_pr(&workspace, &ForPr::default(), &room(2_000, &in_gcf)).unwrap();
    let mut targets: Vec<&str> = pack
        .symbols
        .iter()
        .filter(|symbol| symbol.distance == 0)
        .map(|symbol| symbol.id.as_str())
        .collect();
    targets.sort_unstable();
    assert_eq!(targets, ["new.py::fresh", "queues.py::unrelated"]);
    let note = pack.note.unwrap();
    assert!(note.contains("renamed: queue_store.py → queues.py"), "{note}");
}

#[test]
fn without_git_the_reason_is_said() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(root.path().join("worker.py"), WORKER).unwrap();
    let workspace = indexed(root.path(), index.path());
    let refused = context_for_pr(&workspace, &ForPr::default(), &room(2_000, &in_gcf)).unwrap_err();
    assert!(refused.to_string().contains("is not in a git repository"), "{refused}");
}

#[test]
fn reasons_have_words_of_the_task_and_not_their_stems() {
    let (root, index) = shop();
    let workspace = indexed(root.path(), index.path());
    let ask = ForTask {
        explain: true,
        ..task("storing things in queues loses some")
    };
    let pack = context_for_task(&workspace, &ask, &room(3_000, &in_gcf)).unwrap();
    let shared = pack
        .reasons
        .iter()
        .filter_map(|reason| reason.reason.strip_prefix("shares words with the task: "));
    let mut words: Vec<&str> = shared.flat_map(|words| words.split(", ")).collect();
    words.sort_unstable();
    words.dedup();
    assert_eq!(words, ["queues", "storing"], "{:?}", pack.reasons);
}

/// What a client that holds `base` has after the answer to its second question, through the text of GCF.
fn after_delta(base: &ContextPack, pack: &ContextPack) -> ContextPack {
    let delta = PackDelta::between(base, pack);
    let [graph, sources] = delta.to_gcf("context_for_task", 0, str::len).unwrap();
    let graph = wire::gcf::graph::decode_delta(&graph).unwrap();
    let read = PackDelta::from_gcf(&graph, &sources).unwrap();
    assert_eq!(read, delta);
    let json: PackDelta = serde_json::from_value(serde_json::to_value(&delta).unwrap()).unwrap();
    assert_eq!(json, delta);
    read.apply(base).unwrap()
}

#[test]
fn every_kind_of_edit_is_said_as_what_changed() {
    let edits: [(&str, String); 6] = [
        (
            "a line more",
            QUEUE.replace("return self.store(item)", "\n        return self.store(item)"),
        ),
        ("a line other", QUEUE.replace("return item", "return None")),
        ("a new symbol", format!("def first():\n    return 0\n\n{QUEUE}")),
        ("a rename", QUEUE.replace("store", "keep")),
        (
            "a deletion",
            QUEUE.replace("    def store(self, item):\n        return item\n", ""),
        ),
        ("nothing left", String::new()),
    ];
    let sorted = |pack: &ContextPack| {
        let mut sources = pack.sources.clone();
        sources.sort_by(|a, b| a.id.cmp(&b.id));
        sources
    };
    for (name, after) in edits {
        let (root, index) = shop();
        let ask = task("speed up `Queue.push`");
        let workspace = indexed(root.path(), index.path());
        let base = context_for_task(&workspace, &ask, &room(3_000, &in_gcf)).unwrap();
        fs::write(root.path().join("queue_store.py"), after).unwrap();
        let workspace = indexed(root.path(), index.path());
        let with_base = Room {
            base: Some(&base),
            ..room(3_000, &in_gcf)
        };
        let pack = context_for_task(&workspace, &ask, &with_base).unwrap();
        let held = after_delta(&base, &pack);
        assert_eq!(held.pack_root, pack.pack_root, "{name}");
        assert_eq!(sorted(&held), sorted(&pack), "{name}");
        // What did not change is not said again.
        let delta = PackDelta::between(&base, &pack);
        let is_other = |id: &str| id.starts_with("worker.py");
        if name.starts_with("a line") {
            assert!(
                !delta.added.iter().any(|symbol| is_other(&symbol.id)),
                "{name}: {delta:?}"
            );
            assert!(
                !delta.sources.iter().any(|source| is_other(&source.id)),
                "{name}: {delta:?}"
            );
        }
    }
}

#[test]
fn the_blast_radius_counts_uses_away() {
    let (root, index) = shop();
    let workspace = indexed(root.path(), index.path());
    let ask = BlastRadius {
        symbols: vec!["Queue.store".to_string()],
        ..BlastRadius::default()
    };
    let pack = blast_radius(&workspace, &ask, &room(2_000, &in_gcf)).unwrap();
    assert_eq!(distance(&pack, "queue_store.py::Queue.push"), 1);
    assert_eq!(distance(&pack, "worker.py::work"), 2);
    assert_eq!(distance(&pack, "worker.py::main"), 3);
    assert!(!pack.symbols.iter().any(|symbol| symbol.id.ends_with("unrelated")));
    let both = BlastRadius {
        files: vec!["worker.py".to_string()],
        ..ask
    };
    assert!(blast_radius(&workspace, &both, &room(2_000, &in_gcf)).is_err());
}

#[test]
fn the_blast_radius_of_a_method_reaches_who_calls_it_through_an_interface_or_calls_what_implements_it() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    fs::write(root.path().join("go.mod"), "module shop\n\ngo 1.22\n").unwrap();
    fs::write(
        root.path().join("store.go"),
        "package shop\n\ntype Store interface {\n\tKeep(item string) error\n}\n\nfunc through(store Store) error {\n\treturn store.Keep(\"a\")\n}\n",
    )
    .unwrap();
    fs::write(
        root.path().join("disk.go"),
        "package shop\n\ntype Disk struct{}\n\nfunc (disk *Disk) Keep(item string) error {\n\treturn nil\n}\n\ntype Other struct{}\n\nfunc (other *Other) Keep(number int) {}\n\ntype Memory struct{}\n\nfunc (memory *Memory) Keep(item string) error {\n\treturn nil\n}\n\nfunc direct() error {\n\tdisk := &Disk{}\n\treturn disk.Keep(\"b\")\n}\n\nfunc aside() {\n\tother := &Other{}\n\tother.Keep(1)\n}\n",
    )
    .unwrap();
    let workspace = indexed(root.path(), index.path());
    let ask = |id: &str, min_tier: Option<&str>| {
        let ask = BlastRadius {
            symbols: vec![id.to_string()],
            min_tier: min_tier.map(str::to_string),
            ..BlastRadius::default()
        };
        blast_radius(&workspace, &ask, &room(2_000, &in_gcf)).unwrap()
    };
    let has = |pack: &ContextPack, id: &str| pack.symbols.iter().any(|symbol| symbol.id == id);
    let interface = ask("store.go::Store.Keep", None);
    assert_eq!(distance(&interface, "store.go::through"), 1);
    assert_eq!(distance(&interface, "disk.go::Disk.Keep"), 1);
    assert_eq!(distance(&interface, "disk.go::direct"), 1);
    assert!(!has(&interface, "disk.go::aside"), "another method of that name");
    let overrides = |pack: &ContextPack| {
        pack.edges.iter().any(|edge| {
            (edge.from.as_str(), edge.to.as_str(), edge.kind.as_str())
                == ("disk.go::Disk.Keep", "store.go::Store.Keep", "overrides")
        })
    };
    assert!(overrides(&interface), "{interface:?}");
    let concrete = ask("disk.go::Disk.Keep", None);
    assert_eq!(distance(&concrete, "disk.go::direct"), 1);
    assert_eq!(distance(&concrete, "store.go::through"), 1);
    assert!(overrides(&concrete), "{concrete:?}");
    assert_eq!(distance(&interface, "disk.go::Memory.Keep"), 1);
    assert!(
        !has(&concrete, "disk.go::Memory.Keep"),
        "it stands beside the changed one"
    );
    // What is only inferred is left out where it is not wanted.
    assert!(!has(
        &ask("store.go::Store.Keep", Some("ast_resolved")),
        "disk.go::direct"
    ));
}

#[test]
fn files_symbols_communities_and_plans_answer() {
    let (root, index) = shop();
    let workspace = indexed(root.path(), index.path());
    let ask = ForFiles {
        files: vec!["worker.py".to_string()],
        ..ForFiles::default()
    };
    let pack = context_for_files(&workspace, &ask, &room(3_000, &in_gcf)).unwrap();
    assert_eq!(distance(&pack, "worker.py::work"), 0);
    assert_eq!(distance(&pack, "queue_store.py::Queue.push"), 1);
    let ask = Explain {
        id: "Queue".to_string(),
        ..Explain::default()
    };
    let pack = explain_symbol(&workspace, &ask, &room(3_000, &in_gcf)).unwrap();
    assert!(
        pack.note.unwrap().starts_with("called by 1 symbol, "),
        "instantiated once"
    );
    let ask = GetCommunities {
        action: Some("for_symbol".to_string()),
        id: Some("Queue.push".to_string()),
        ..GetCommunities::default()
    };
    let CommunitiesAnswer::Pack(pack) = communities(&workspace, &ask, &room(3_000, &in_gcf)).unwrap() else {
        panic!("a pack");
    };
    assert_eq!(distance(&pack, "queue_store.py::Queue.push"), 0);
    let CommunitiesAnswer::Table(table) =
        communities(&workspace, &GetCommunities::default(), &room(3_000, &in_gcf)).unwrap()
    else {
        panic!("a table");
    };
    assert_eq!(table.total as usize, table.communities.len());
    let ask = PlanTurn {
        task: "rename `Queue.store`".to_string(),
    };
    let plan = plan_turn(&workspace, &ask).unwrap();
    assert_eq!(plan.steps[0].tool, "get_editing_context");
    assert_eq!(plan.steps[0].arguments["id"], "queue_store.py::Queue.store");
}

#[test]
fn hopeless_questions_are_refused_with_the_reason() {
    let (root, index) = shop();
    let workspace = indexed(root.path(), index.path());
    assert!(context_for_task(&workspace, &task("  "), &room(3_000, &in_gcf)).is_err());
    assert!(context_for_task(&workspace, &task("x"), &room(10, &in_gcf)).is_err());
    let pack = context_for_task(&workspace, &task("zebra stripes"), &room(3_000, &in_gcf)).unwrap();
    assert!(pack.note.unwrap().contains("shares a word"));
}
