//! A client that holds a pack and asks again: after any edits what it makes of the delta is the pack that was meant, and asked once
//! more nothing has changed. The edits are drawn at random from a seed, one after the other, so that bases grow old.

use std::fs;
use std::path::Path;

use codeintel::Workspace;
use codeintel::context::{ContextPack, ForTask, Room, context_for_task, renames};
use tempfile::TempDir;
use wire::Format;
use wire::answers::{PackDelta, PackSymbol};
use wire::layout::Layout;
use wire::tokens::Tokenizer;

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

/// A tree of shops, and a client that asks about it.
struct Shops {
    root: TempDir,
    index: TempDir,
    ask: ForTask,
    budget: usize,
}

impl Shops {
    fn asked(task: &str, budget: usize) -> Shops {
        let (root, index) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
        write_tree(root.path());
        let task = task.to_string();
        let ask = ForTask {
            task,
            ..ForTask::default()
        };
        Shops {
            root,
            index,
            ask,
            budget,
        }
    }

    fn first(&self) -> ContextPack {
        first(&indexed(self.root.path(), self.index.path()), &self.ask, self.budget)
    }

    /// The answer to a client that holds `base`, and what it is told.
    fn again(&self, base: &ContextPack) -> (ContextPack, PackDelta) {
        let workspace = indexed(self.root.path(), self.index.path());
        let pack = again(&workspace, &self.ask, self.budget, base);
        let delta = PackDelta::between(base, &pack);
        check_in_every_format(base, &pack, &delta, "");
        (pack, delta)
    }

    fn replace(&self, file: &str, old: &str, new: &str) {
        let path = self.root.path().join(file);
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(old), "{old}");
        replace(&path, &text, old, new);
    }
}

fn first(workspace: &Workspace, ask: &ForTask, budget: usize) -> ContextPack {
    let room = Room {
        budget,
        measure: &in_gcf,
        base: None,
    };
    context_for_task(workspace, ask, &room).unwrap()
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

/// What the client makes of the delta: read back in every format that is read back, and by places too, it is the pack.
fn check_in_every_format(base: &ContextPack, pack: &ContextPack, delta: &PackDelta, told: &str) -> ContextPack {
    let mut held = base.clone();
    for delta in [delta, &delta.by_places(base, pack)] {
        let [graph, sources] = delta.to_gcf("context_for_task", 0, str::len).unwrap();
        let mut read = vec![PackDelta::from_gcf(&wire::gcf::graph::decode_delta(&graph).unwrap(), &sources).unwrap()];
        for format in [Format::Json, Format::Gcx] {
            let layout = Layout::generic("context_for_task");
            let text = wire::encode(delta, &layout, format, Tokenizer::O200k).unwrap().text;
            let value = wire::decode(&text).unwrap_or_else(|error| panic!("{told}: {error}\n{text}"));
            read.push(serde_json::from_value(value).unwrap_or_else(|error| panic!("{told}: {error}\n{text}")));
        }
        for read in read {
            assert_eq!(read, *delta, "{told}");
            held = read.apply(base).unwrap_or_else(|error| panic!("{told}: {error}"));
            assert_eq!(held.pack_root, pack.pack_root, "{told}");
            assert_eq!(sorted(&held), sorted(pack), "{told}");
        }
    }
    held
}

fn sorted(pack: &ContextPack) -> Vec<wire::answers::PackSource> {
    let mut sources = pack.sources.clone();
    sources.sort_by(|a, b| a.id.cmp(&b.id));
    sources
}

fn names(delta: &PackDelta) -> Vec<(&str, &str)> {
    let rows = delta.renamed.iter();
    rows.map(|row| (row.from.as_str(), row.to.as_str())).collect()
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
        let mut held: Vec<ContextPack> = (0..tasks.len())
            .map(|number| first(&workspace, &ask(number), budgets[number]))
            .collect();
        for turn in 0..8 {
            let edits: Vec<String> = (0..1 + dice.below(2)).map(|_| edit(root.path(), &mut dice)).collect();
            workspace = indexed(root.path(), index.path());
            for (number, base) in held.iter_mut().enumerate() {
                let told = format!("seed {seed}, turn {turn}, task {number}: {edits:?}");
                let pack = again(&workspace, &ask(number), budgets[number], base);
                assert!(in_gcf(&pack) <= budgets[number], "{told}");
                let delta = PackDelta::between(base, &pack);
                let held = check_in_every_format(base, &pack, &delta, &told);
                let once_more = again(&workspace, &ask(number), budgets[number], &held);
                assert_eq!(once_more.pack_root, pack.pack_root, "{told}");
                assert_eq!(sorted(&once_more), sorted(&pack), "{told}");
                let nothing = PackDelta::between(&pack, &once_more);
                assert!(
                    nothing.moved.is_empty() && nothing.sources.is_empty() && nothing.gone.is_empty(),
                    "{told}: {nothing:?}"
                );
                *base = held;
            }
        }
    }
}

#[test]
fn a_type_that_is_called_otherwise_is_said_once() {
    let shops = Shops::asked("`Part3.order2` loses the drawer", 3_000);
    let base = shops.first();
    let inside = |symbols: &[PackSymbol], of: &str| symbols.iter().filter(|symbol| symbol.id.starts_with(of)).count();
    let members = inside(&base.symbols, "part3.py::Part3.");
    assert!(members >= 4, "{base:?}");
    shops.replace("part3.py", "class Part3", "class Drawer");
    let (_, delta) = shops.again(&base);
    assert_eq!(names(&delta), [("part3.py::Part3", "part3.py::Drawer")]);
    let said = inside(&delta.added, "part3.py::Drawer.");
    assert!(said * 3 <= members, "{said} of {members}: {delta:#?}");
}

/// The target of the task is what is renamed, so the task no longer points to it; and it was the best, so all scores are shares of
/// another one.
#[test]
fn a_target_that_is_called_otherwise_stays_one() {
    let shops = Shops::asked("`open4` loses orders of a customer", 1_200);
    let base = shops.first();
    let targets = |pack: &ContextPack| -> Vec<String> {
        let near = pack.symbols.iter().filter(|symbol| symbol.distance == 0);
        near.map(|symbol| symbol.id.clone()).collect()
    };
    assert_eq!(targets(&base), ["part4.py::open4"]);
    shops.replace("part4.py", "open4", "begin");
    let (pack, delta) = shops.again(&base);
    assert_eq!(targets(&pack), ["part4.py::begin"]);
    assert!(delta.added.len() * 2 <= pack.symbols.len(), "{delta:#?}");
}

#[test]
fn a_file_that_moved_is_said_once() {
    let shops = Shops::asked("`Part3.order2` loses the drawer", 3_000);
    let base = shops.first();
    let root = shops.root.path();
    fs::rename(root.join("part3.py"), root.join("drawers.py")).unwrap();
    let (_, delta) = shops.again(&base);
    assert_eq!(names(&delta), [("part3.py", "drawers.py")]);
}

/// What is deleted is the target that all distances are counted from: nothing else of the pack is other.
#[test]
fn what_only_moved_away_is_said_by_its_place() {
    let shops = Shops::asked("`Part3.order2` loses the drawer", 3_000);
    let base = shops.first();
    shops.replace("part3.py", "def order2(self, customer)", "def elsewhere(self)");
    let workspace = indexed(shops.root.path(), shops.index.path());
    let pack = again(&workspace, &shops.ask, shops.budget, &base);
    let delta = PackDelta::between(&base, &pack);
    let by_places = delta.by_places(&base, &pack);
    assert_eq!(by_places.apply(&base).unwrap().pack_root, pack.pack_root);
    assert!(!by_places.restated.distances.is_empty(), "{by_places:#?}");
    let length = |delta: &PackDelta| delta.to_gcf("context_for_task", 0, str::len).unwrap().concat().len();
    assert!(length(&by_places) < length(&delta), "{by_places:#?}");
}

/// A method is gone and its class is not: another class with a method of that name is no new name of it.
#[test]
fn what_is_gone_is_not_taken_for_a_namesake_elsewhere() {
    let shops = Shops::asked("`Part3.order2` loses the drawer", 3_000);
    let path = shops.root.path().join("part3.py");
    let text = fs::read_to_string(&path).unwrap();
    let second = "\n\nclass Other:\n    def order2(self):\n        return 2\n";
    fs::write(&path, format!("{text}{second}")).unwrap();
    let base = shops.first();
    let start = text.find("    def order2").unwrap();
    let end = start + text[start..].find("    def total2").unwrap();
    fs::write(&path, format!("{}{}{second}", &text[..start], &text[end..])).unwrap();
    let (_, delta) = shops.again(&base);
    assert_eq!(names(&delta), []);
}
