//! A client that holds a pack and asks again: after any edits what it makes of the delta is the pack that was meant, and asked once
//! more nothing has changed. The edits are drawn at random from a seed, one after the other, so that bases grow old.

use std::fs;
use std::path::Path;

use codeintel::Workspace;
use codeintel::context::{ContextPack, ForTask, Room, context_for_task, renames};
use wire::answers::PackDelta;

use super::context::{in_gcf, indexed};

/// Numbers that are the same in every run.
struct Dice(u64);

impl Dice {
    fn below(&mut self, most: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % most.max(1)
    }
}

const FILES: usize = 10;

/// A tree of shops whose parts call each other across files.
fn write_tree(root: &Path) {
    for file in 0..FILES {
        let next = (file + 1) % FILES;
        let mut text = format!(
            "from part{next} import Part{next}\n\n\nclass Part{file}:\n    \"\"\"Keeps orders of customers in drawer {file}.\"\"\"\n\n"
        );
        for method in 0..7 {
            text.push_str(&format!(
                "    def order{method}(self, customer):\n        \"\"\"Order {method} of a customer.\"\"\"\n        drawer = Part{next}()\n        if customer:\n            drawer.order{}(customer)\n        return self.total{method}(drawer)\n\n    def total{method}(self, drawer):\n        return [drawer, {file}, {method}]\n\n",
                (method + 1) % 7
            ));
        }
        text.push_str(&format!(
            "\ndef open{file}(customer):\n    return Part{file}().order0(customer)\n"
        ));
        fs::write(root.join(format!("part{file}.py")), text).unwrap();
    }
}

fn edit(root: &Path, dice: &mut Dice) -> String {
    let mut paths: Vec<_> = fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| path.extension().is_some_and(|end| end == "py"));
    paths.sort();
    let path = &paths[dice.below(paths.len())];
    let text = fs::read_to_string(path).unwrap();
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let heads: Vec<usize> = (0..lines.len())
        .filter(|&at| lines[at].trim_start().starts_with("def "))
        .collect();
    if heads.is_empty() {
        return "nothing".to_string();
    }
    let at = heads[dice.below(heads.len())];
    let name = |line: &str, word: &str| {
        line.trim_start()
            .strip_prefix(word)
            .and_then(|rest| rest.split(['(', ':']).next())
            .map(str::to_string)
    };
    let mut after: Vec<String> = lines.iter().map(|line| (*line).to_string()).collect();
    let kind = dice.below(8);
    match kind {
        0 => after.insert(at + 1, "        # a remark\n".to_string()),
        1 => after[at + 1].push_str("        later = 1\n"),
        2 => {
            let end = heads.iter().copied().find(|next| *next > at).unwrap_or(lines.len());
            after.drain(at..end);
        }
        3 => after.push(format!(
            "\n\ndef added{}(customer):\n    return customer\n",
            dice.below(1_000)
        )),
        4 => {
            let old = name(lines[at], "def ").unwrap();
            return replace(path, &text, &old, &format!("{old}x"));
        }
        5 => {
            let class = lines.iter().find_map(|line| name(line, "class ")).unwrap();
            return replace(path, &text, &class, &format!("{class}y"));
        }
        6 => {
            let moved = path.with_file_name(format!("moved{}.py", dice.below(1_000)));
            fs::rename(path, moved).unwrap();
            return "a moved file".to_string();
        }
        _ => {
            after.insert(0, "import os\n".to_string());
            after.push(format!(
                "\n\nclass Late{}:\n    def order(self):\n        return open0\n",
                dice.below(1_000)
            ));
        }
    }
    fs::write(path, after.concat()).unwrap();
    format!("edit {kind} of {}", path.display())
}

fn replace(path: &Path, text: &str, old: &str, new: &str) -> String {
    fs::write(path, text.replace(old, new)).unwrap();
    format!("{old} is {new} in {}", path.display())
}

/// The answer to a client that holds `base`.
fn again(workspace: &Workspace, ask: &ForTask, budget: usize, base: &ContextPack) -> ContextPack {
    let renamed = renames(workspace, base);
    let carried = base.under(&renamed);
    let room = Room {
        budget,
        measure: &in_gcf,
        base: Some(&carried),
    };
    let pack = context_for_task(workspace, ask, &room).unwrap();
    ContextPack { renamed, ..pack }
}

fn sorted(pack: &ContextPack) -> Vec<wire::answers::PackSource> {
    let mut sources = pack.sources.clone();
    sources.sort_by(|a, b| a.id.cmp(&b.id));
    sources
}

#[test]
fn after_any_edit_the_delta_gives_the_pack_and_asking_again_changes_nothing() {
    let tasks = [
        "`Part3.order2` loses the drawer",
        "orders of a customer are counted twice",
        "open4 fails",
    ];
    for seed in 0..4u64 {
        let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write_tree(root.path());
        let mut dice = Dice(seed);
        let mut workspace = indexed(root.path(), index.path());
        let ask = |number: usize| ForTask {
            task: tasks[number].to_string(),
            ..ForTask::default()
        };
        let budgets = [400, 1_200, 3_000];
        let first = |number: usize| {
            let room = Room {
                budget: budgets[number],
                measure: &in_gcf,
                base: None,
            };
            context_for_task(&workspace, &ask(number), &room).unwrap()
        };
        let mut held: Vec<ContextPack> = (0..tasks.len()).map(first).collect();
        for turn in 0..8 {
            let edits: Vec<String> = (0..1 + dice.below(2)).map(|_| edit(root.path(), &mut dice)).collect();
            workspace = indexed(root.path(), index.path());
            for (number, base) in held.iter_mut().enumerate() {
                let told = format!("seed {seed}, turn {turn}, task {number}: {edits:?}");
                let pack = again(&workspace, &ask(number), budgets[number], base);
                assert!(in_gcf(&pack) <= budgets[number], "{told}");
                let delta = PackDelta::between(base, &pack);
                let [graph, sources] = delta.to_gcf("context_for_task", 0, str::len).unwrap();
                let read = PackDelta::from_gcf(&wire::gcf::graph::decode_delta(&graph).unwrap(), &sources).unwrap();
                assert_eq!(read, delta, "{told}");
                let applied = read.apply(base).unwrap_or_else(|error| panic!("{told}: {error}"));
                assert_eq!(applied.pack_root, pack.pack_root, "{told}");
                assert_eq!(sorted(&applied), sorted(&pack), "{told}");
                let once_more = again(&workspace, &ask(number), budgets[number], &pack);
                assert_eq!(once_more.pack_root, pack.pack_root, "{told}");
                assert_eq!(sorted(&once_more), sorted(&pack), "{told}");
                let nothing = PackDelta::between(&pack, &once_more);
                assert!(
                    nothing.moved.is_empty() && nothing.sources.is_empty() && nothing.gone.is_empty(),
                    "{told}: {nothing:?}"
                );
                *base = pack;
            }
        }
    }
}

#[test]
fn a_type_that_is_called_otherwise_is_said_once() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_tree(root.path());
    let ask = ForTask {
        task: "`Part3.order2` loses the drawer".to_string(),
        ..ForTask::default()
    };
    let workspace = indexed(root.path(), index.path());
    let room = Room {
        budget: 3_000,
        measure: &in_gcf,
        base: None,
    };
    let base = context_for_task(&workspace, &ask, &room).unwrap();
    let members = base
        .symbols
        .iter()
        .filter(|symbol| symbol.id.starts_with("part3.py::Part3."))
        .count();
    assert!(members >= 4, "{base:?}");
    let path = root.path().join("part3.py");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("class Part3", "class Drawer")).unwrap();
    let workspace = indexed(root.path(), index.path());
    let pack = again(&workspace, &ask, 3_000, &base);
    let delta = PackDelta::between(&base, &pack);
    let rows: Vec<(&str, &str)> = delta
        .renamed
        .iter()
        .map(|row| (row.from.as_str(), row.to.as_str()))
        .collect();
    assert_eq!(rows, [("part3.py::Part3", "part3.py::Drawer")]);
    let said = delta
        .added
        .iter()
        .filter(|symbol| symbol.id.starts_with("part3.py::Drawer."))
        .count();
    assert!(said * 3 <= members, "{said} of {members}: {delta:#?}");
    assert_eq!(delta.apply(&base).unwrap().pack_root, pack.pack_root);
}

/// The target of the task is what is renamed, so the task no longer points to it; and it was the best, so all scores are shares of
/// another one.
#[test]
fn a_target_that_is_called_otherwise_stays_one() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_tree(root.path());
    let ask = ForTask {
        task: "`open4` loses orders of a customer".to_string(),
        ..ForTask::default()
    };
    let workspace = indexed(root.path(), index.path());
    let room = Room {
        budget: 1_200,
        measure: &in_gcf,
        base: None,
    };
    let base = context_for_task(&workspace, &ask, &room).unwrap();
    let targets = |pack: &ContextPack| -> Vec<String> {
        let near = pack.symbols.iter().filter(|symbol| symbol.distance == 0);
        near.map(|symbol| symbol.id.clone()).collect()
    };
    assert_eq!(targets(&base), ["part4.py::open4"]);
    let path = root.path().join("part4.py");
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, text.replace("open4", "begin")).unwrap();
    let workspace = indexed(root.path(), index.path());
    let pack = again(&workspace, &ask, 1_200, &base);
    assert_eq!(targets(&pack), ["part4.py::begin"]);
    let delta = PackDelta::between(&base, &pack);
    assert!(delta.added.len() * 2 <= pack.symbols.len(), "{delta:#?}");
    assert_eq!(delta.apply(&base).unwrap().pack_root, pack.pack_root);
}

#[test]
fn a_file_that_moved_is_said_once() {
    let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    write_tree(root.path());
    let ask = ForTask {
        task: "`Part3.order2` loses the drawer".to_string(),
        ..ForTask::default()
    };
    let workspace = indexed(root.path(), index.path());
    let room = Room {
        budget: 3_000,
        measure: &in_gcf,
        base: None,
    };
    let base = context_for_task(&workspace, &ask, &room).unwrap();
    fs::rename(root.path().join("part3.py"), root.path().join("drawers.py")).unwrap();
    let workspace = indexed(root.path(), index.path());
    let pack = again(&workspace, &ask, 3_000, &base);
    let delta = PackDelta::between(&base, &pack);
    let rows: Vec<(&str, &str)> = delta
        .renamed
        .iter()
        .map(|row| (row.from.as_str(), row.to.as_str()))
        .collect();
    assert_eq!(rows, [("part3.py", "drawers.py")]);
    assert_eq!(delta.apply(&base).unwrap().pack_root, pack.pack_root);
}
