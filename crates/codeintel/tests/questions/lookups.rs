//! Questions over a real index of a small tree, built from disk as a user's would be.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use codeintel::analyze::{Analysis, Analyze, analyze};
use codeintel::editing_context::{Editing, editing_context};
use codeintel::neighbours::{self, Neighbours};
use codeintel::search_symbols::{Search, search_symbols};
use codeintel::symbol_source::{Batch, GetSource, batch_symbols, symbol_source};
use codeintel::usages::{Usages, usages};
use codeintel::{Derived, QuestionError, Repository, Workspace};
use index::build::{Indexer, Options, open_snapshot};
use wire::Format;
use wire::answers::{Answer, FileSummary, SubGraph};
use wire::tokens::Tokenizer;

const SHOP: &str = r#"
def price(item):
    """The price of an item."""
    return item.cost * 2


def total(items):
    return sum(price(item) for item in items)


def _unused():
    return 1


class Cart:
    def add(self, item):
        self.items = [item]

    def total(self):
        return total(self.items)
"#;

const CHECKOUT: &str = r#"
from shop import Cart, price


def pay(item):
    cart = Cart()
    cart.add(item)
    price(item)
    return cart.total()
"#;

const TESTS: &str = r#"
from checkout import pay


def test_pay():
    assert pay(None)
"#;

fn indexed(root: &Path) -> Workspace {
    let mut indexer = Indexer::open(root, Options::default()).unwrap();
    indexer.build().unwrap();
    drop(indexer);
    workspace(root)
}

fn workspace(root: &Path) -> Workspace {
    Workspace::new(vec![Repository {
        name: "shop".to_string(),
        root: root.to_path_buf(),
        snapshot: Arc::new(open_snapshot(root, None).unwrap()),
        incomplete: None,
        derived: Derived::default(),
    }])
}

fn shop() -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("shop.py"), SHOP).unwrap();
    fs::write(folder.path().join("checkout.py"), CHECKOUT).unwrap();
    fs::write(folder.path().join("test_checkout.py"), TESTS).unwrap();
    let workspace = indexed(folder.path());
    (folder, workspace)
}

fn ask(id: &str) -> Neighbours {
    Neighbours {
        id: id.to_string(),
        ..Neighbours::default()
    }
}

fn ids(nodes: &[wire::answers::Node]) -> Vec<&str> {
    nodes.iter().map(|node| node.id.as_str()).collect()
}

#[test]
fn callers_come_level_by_level_with_the_lines_of_their_calls() {
    let (_folder, workspace) = shop();
    let answer = neighbours::callers(&workspace, &ask("price")).unwrap();
    assert_eq!(
        ids(&answer.nodes),
        [
            "shop.py::price",
            "checkout.py::pay",
            "shop.py::total",
            "shop.py::Cart.total",
            "test_checkout.py::test_pay"
        ]
    );
    assert_eq!((answer.total_nodes, answer.truncated), (5, false));
    let call = answer
        .edges
        .iter()
        .find(|edge| edge.from == "checkout.py::pay")
        .unwrap();
    assert_eq!(
        (call.kind.as_str(), call.origin.as_str(), call.label.as_deref()),
        ("calls", "ast_resolved", None)
    );
    // The line of a caller is that of its call, so the edge need not say it.
    let line = |id: &str| answer.nodes.iter().find(|node| node.id == id).unwrap().line;
    assert_eq!(
        (line("shop.py::price"), line("checkout.py::pay"), line("shop.py::total")),
        (2, 8, 8)
    );
}

#[test]
fn pages_add_up_to_the_whole() {
    let (_folder, workspace) = shop();
    let whole = neighbours::callers(&workspace, &ask("price")).unwrap();
    let mut seen = vec![whole.nodes[0].id.clone()];
    let mut cursor = None;
    loop {
        let page = neighbours::callers(
            &workspace,
            &Neighbours {
                limit: Some(2),
                cursor,
                ..ask("price")
            },
        )
        .unwrap();
        assert_eq!(page.total_nodes, whole.total_nodes);
        seen.extend(page.nodes.iter().skip(1).map(|node| node.id.clone()));
        assert_eq!(page.truncated, page.next_cursor.is_some());
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen.iter().map(String::as_str).collect::<Vec<_>>(), ids(&whole.nodes));
}

#[test]
fn a_cursor_of_another_state_is_refused() {
    let (folder, workspace) = shop();
    let page = neighbours::callers(
        &workspace,
        &Neighbours {
            limit: Some(1),
            ..ask("price")
        },
    )
    .unwrap();
    fs::write(folder.path().join("more.py"), "x = 1\n").unwrap();
    let changed = indexed(folder.path());
    let error = neighbours::callers(
        &changed,
        &Neighbours {
            cursor: page.next_cursor,
            ..ask("price")
        },
    )
    .unwrap_err();
    assert_eq!(error.code(), "invalid_argument");
    let error = neighbours::callers(
        &changed,
        &Neighbours {
            cursor: Some("??".into()),
            ..ask("price")
        },
    )
    .unwrap_err();
    assert!(error.to_string().contains("next_cursor"), "{error}");
}

#[test]
fn names_are_found_in_every_spelling_and_never_guessed() {
    let (_folder, workspace) = shop();
    for spelling in [
        "shop.py::Cart.total",
        "Cart.total",
        "Cart::total",
        "shop.py:19",
        "`Cart.total`",
    ] {
        let found = symbol_source(
            &workspace,
            &GetSource {
                id: spelling.into(),
                ..GetSource::default()
            },
        )
        .unwrap();
        assert_eq!(found.id, "shop.py::Cart.total", "{spelling}");
    }
    let answer = neighbours::callers(&workspace, &ask("total")).unwrap();
    assert_eq!(answer.nodes[0].id, "shop.py::total");
    assert_eq!(
        workspace.remarks(),
        ["`total` was taken for shop.py::total; also named so: shop.py::Cart.total"]
    );
    // What writes is not guessed.
    match codeintel::naming::find(&workspace, "total").unwrap_err() {
        QuestionError::Ambiguous { candidates, total, .. } => {
            assert_eq!(total, 2);
            assert_eq!(candidates[0].id, "shop.py::total");
            assert_eq!(candidates[1].id, "shop.py::Cart.total");
        }
        other => panic!("{other}"),
    }
    match neighbours::callers(&workspace, &ask("prise")).unwrap_err() {
        QuestionError::NoSuchSymbol { nearest, .. } => assert_eq!(nearest, ["shop.py::price"]),
        other => panic!("{other}"),
    }
}

#[test]
fn a_member_is_found_through_the_type_that_inherits_it() {
    let (_folder, workspace) = tree(&[
        (
            "admin.py",
            "class Base:\n    def rows(self): pass\n\n    def name(self): pass\n\n\nclass Middle(Base): pass\n\n\n\
             class Admin(Middle):\n    def name(self): pass\n",
        ),
        (
            "test_admin.py",
            "from admin import Base\n\n\ndef test_rows():\n    class Admin(Base):\n        def rows(self): pass\n\n    \
             Admin().rows()\n",
        ),
    ]);
    let id_of = |asked: &str| {
        let ask = GetSource {
            id: asked.into(),
            ..GetSource::default()
        };
        symbol_source(&workspace, &ask).map(|found| found.id)
    };
    assert_eq!(id_of("Admin.rows").unwrap(), "admin.py::Base.rows");
    assert_eq!(id_of("admin.py::Admin.rows").unwrap(), "admin.py::Base.rows");
    assert_eq!(id_of("Admin.name").unwrap(), "admin.py::Admin.name");
    assert_eq!(id_of("Middle.name").unwrap(), "admin.py::Base.name");
    assert!(matches!(id_of("Admin.row"), Err(QuestionError::NoSuchSymbol { .. })));
    assert!(matches!(id_of("rows.name"), Err(QuestionError::NoSuchSymbol { .. })));
}

#[test]
fn a_changed_file_gives_no_source() {
    let (folder, workspace) = shop();
    let source = symbol_source(
        &workspace,
        &GetSource {
            id: "price".into(),
            ..GetSource::default()
        },
    )
    .unwrap();
    assert!(source.source.starts_with("def price(item):") && source.source.ends_with("return item.cost * 2"));
    fs::write(folder.path().join("shop.py"), SHOP.replace("* 2", "* 3")).unwrap();
    let error = symbol_source(
        &workspace,
        &GetSource {
            id: "price".into(),
            ..GetSource::default()
        },
    )
    .unwrap_err();
    assert_eq!(error.code(), "stale_file");
}

#[test]
fn a_batch_says_of_each_symbol_what_became_of_it() {
    let (_folder, workspace) = shop();
    let ask = Batch {
        ids: vec!["Cart.add".into(), "nothing_like_it".into()],
        include_source: true,
    };
    let answer = batch_symbols(&workspace, &ask).unwrap();
    assert_eq!(answer.symbols[0].start_line, Some(16));
    assert!(answer.symbols[0].source.as_deref().unwrap().contains("self.items"));
    assert!(
        answer.symbols[1]
            .error
            .as_deref()
            .unwrap()
            .starts_with("no symbol `nothing_like_it`")
    );
}

#[test]
fn usages_point_at_the_mention() {
    let (_folder, workspace) = shop();
    let answer = usages(
        &workspace,
        &Usages {
            id: "Cart".into(),
            ..Usages::default()
        },
    )
    .unwrap();
    let made = answer
        .usages
        .iter()
        .find(|usage| usage.edge_kind == "instantiates")
        .unwrap();
    assert_eq!((made.from.as_str(), made.from_line), ("checkout.py::pay", 6));
    assert_eq!(answer.total, answer.usages.len() as u64);
}

#[test]
fn editing_context_names_callers_needs_and_tests() {
    let (_folder, workspace) = shop();
    let answer = editing_context(
        &workspace,
        &Editing {
            id: "shop.py::total".into(),
            limit: None,
        },
    )
    .unwrap();
    assert_eq!(ids(&answer.callers), ["shop.py::Cart.total"]);
    assert_eq!(ids(&answer.dependencies), ["shop.py::price"]);
    assert_eq!(answer.tests, ["test_checkout.py"]);
}

#[test]
fn search_ranks_exact_names_first_and_counts_all() {
    let (_folder, workspace) = shop();
    let search = |query: &str| {
        search_symbols(
            &workspace,
            &Search {
                query: query.into(),
                ..Search::default()
            },
        )
        .unwrap()
    };
    let found = search("total");
    assert_eq!(found.results[0].name, "total");
    assert_eq!(found.total, 2);
    assert_eq!(search("pay kind:function").results[0].id, "checkout.py::pay");
    assert_eq!(search("zzz").total, 0);
    assert!(
        search_symbols(
            &workspace,
            &Search {
                query: " ".into(),
                ..Search::default()
            }
        )
        .is_err()
    );
}

#[test]
fn dead_code_is_what_nothing_mentions() {
    let (_folder, workspace) = shop();
    let Analysis::DeadCode(answer) = analyze(
        &workspace,
        &Analyze {
            kind: "dead_code".into(),
            ..Analyze::default()
        },
    )
    .unwrap() else {
        panic!("dead_code answers with dead code");
    };
    let dead: Vec<&str> = answer.symbols.iter().map(|symbol| symbol.id.as_str()).collect();
    assert_eq!(dead, ["shop.py::_unused"]);
    assert_eq!(answer.symbols[0].reason, "private, and nothing mentions it");
}

#[test]
fn circles_of_imports_and_of_calls_are_found() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.py"), "import b\n\n\ndef ping():\n    b.pong()\n").unwrap();
    fs::write(folder.path().join("b.py"), "import a\n\n\ndef pong():\n    a.ping()\n").unwrap();
    fs::write(folder.path().join("c.py"), "import a\n").unwrap();
    let workspace = indexed(folder.path());
    let Analysis::Cycles(answer) = analyze(
        &workspace,
        &Analyze {
            kind: "cycles".into(),
            ..Analyze::default()
        },
    )
    .unwrap() else {
        panic!("cycles answers with cycles");
    };
    let found: Vec<(&str, Vec<&str>)> = answer
        .cycles
        .iter()
        .map(|cycle| {
            (
                cycle.severity.as_str(),
                cycle.nodes.iter().map(String::as_str).collect(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("high", vec!["a.py", "b.py"]),
            ("low", vec!["a.py::ping", "b.py::pong"])
        ]
    );
}

fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let file = folder.path().join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    let workspace = indexed(folder.path());
    (folder, workspace)
}

fn analysis(workspace: &Workspace, kind: &str) -> Analysis {
    let ask = Analyze {
        kind: kind.to_string(),
        ..Analyze::default()
    };
    analyze(workspace, &ask).unwrap()
}

#[test]
fn a_circle_comes_with_the_edge_to_cut() {
    let (_folder, workspace) = tree(&[
        ("a.py", "import b\n\ndef one():\n    b.two()\n    b.two()\n"),
        ("b.py", "import c\n\ndef two():\n    c.three()\n    c.three()\n"),
        ("c.py", "from a import one\n\ndef three():\n    one\n"),
    ]);
    let Analysis::Cycles(found) = analysis(&workspace, "cycles") else {
        panic!("cycles")
    };
    let imports = &found.cycles[0];
    assert_eq!((imports.size, imports.severity.as_str()), (3, "high"));
    let cut = &found.cuts[0];
    assert_eq!(
        (cut.cycle, cut.from.as_str(), cut.to.as_str(), cut.lines.as_str()),
        (1, "c.py", "a.py", "1")
    );
    assert_eq!(cut.why, "used once; without it the circle is gone");
}

#[test]
fn dead_code_needs_the_silence_of_the_text_too() {
    let (_folder, workspace) = tree(&[
        (
            "app.py",
            "import framework\n\ndef _dead():\n    pass\n\ndef _by_name():\n    pass\n\ndef run():\n    return getattr(framework, \"_by_name\")\n\nclass View(framework.Base):\n    def _hook(self):\n        pass\n\n@framework.register\ndef _handler():\n    pass\n\nif framework:\n    def _either():\n        pass\nelse:\n    def _either():\n        pass\n\n_either()\n",
        ),
        ("test_app.py", "import app\n\ndef test_run():\n    app.run()\n"),
    ]);
    let Analysis::DeadCode(found) = analysis(&workspace, "dead_code") else {
        panic!("dead code")
    };
    let dead: Vec<(&str, &str)> = found
        .symbols
        .iter()
        .map(|symbol| (symbol.name.as_str(), symbol.reason.as_str()))
        .collect();
    assert_eq!(
        dead,
        [
            ("_dead", "private, and nothing mentions it"),
            ("View", "nothing in this workspace mentions it")
        ]
    );
}

#[test]
fn hotspots_say_how_they_are_scored() {
    let (_folder, workspace) = shop();
    let Analysis::Hotspots(found) = analysis(&workspace, "hotspots") else {
        panic!("hotspots")
    };
    let formula = found.formula.unwrap();
    let scale: f64 = formula.rsplit('/').next().unwrap().parse().unwrap();
    for hot in &found.symbols {
        let score = (2.0 * hot.fan_in as f64 + 1.5 * hot.fan_out as f64 + 3.0 * hot.cross_cut as f64) * 100.0 / scale;
        assert!((score - hot.score).abs() < 0.1, "{formula} {hot:?}");
    }
}

#[test]
fn no_usage_still_names_what_was_asked() {
    let (_folder, workspace) = shop();
    let ask = Usages {
        id: "_unused".to_string(),
        ..Usages::default()
    };
    let found = usages(&workspace, &ask).unwrap();
    assert_eq!((found.total, found.symbol.as_deref()), (0, Some("shop.py::_unused")));
}

#[test]
fn a_task_gives_ranked_symbols_with_reasons_and_tests() {
    let (_folder, workspace) = shop();
    let ask = codeintel::smart_context::Start {
        task: "change how pay computes the price of an item".to_string(),
        limit: Some(10),
        ..Default::default()
    };
    let found = codeintel::smart_context::smart_context(&workspace, &ask).unwrap();
    let ids: Vec<&str> = found.symbols.iter().map(|symbol| symbol.id.as_str()).collect();
    assert!(
        ids.contains(&"checkout.py::pay") && ids.contains(&"shop.py::price"),
        "{ids:?}"
    );
    assert!(ids.contains(&"test_checkout.py::test_pay"), "{ids:?}");
    assert!(found.symbols.iter().all(|symbol| !symbol.reason.is_empty()));
    assert!(found.symbols.is_sorted_by(|a, b| a.score >= b.score));
}

#[test]
fn a_folder_is_not_taken_for_a_file_that_is_not_indexed_yet() {
    let (_directory, workspace) = tree(&[("app/one.py", "def one(): ...\n"), ("app/two.py", "def two(): ...\n")]);
    let ask = codeintel::file_summary::Summary {
        path: "app".to_string(),
        ..Default::default()
    };
    let said = codeintel::file_summary::file_summary(&workspace, &ask)
        .unwrap_err()
        .to_string();
    assert!(
        said.contains("it is a folder") && said.contains("app/one.py, app/two.py"),
        "{said}"
    );
}

/// What comes in from other files counts, what stays inside counts once.
#[test]
fn a_summary_counts_the_edges_that_touch_its_file() {
    let (_directory, workspace) = tree(&[
        ("one.py", "def one():\n    return two()\n\ndef two():\n    return 2\n"),
        (
            "other.py",
            "from one import one\n\ndef other():\n    return one() + one()\n",
        ),
    ]);
    let ask = codeintel::file_summary::Summary {
        path: "one.py".to_string(),
        ..Default::default()
    };
    let summary = codeintel::file_summary::file_summary(&workspace, &ask).unwrap();
    let snapshot = &workspace.repositories()[0].snapshot;
    let file = snapshot.find_file("one.py").unwrap();
    let kinds = index::snapshot::EdgeKinds::ALL.without(index::model::EdgeKind::Contains);
    let is_in = |symbol| {
        snapshot
            .symbol(symbol)
            .is_some_and(|symbol| symbol.file_id() == file.id())
    };
    let touching = snapshot
        .edges(kinds)
        .filter(|edge| is_in(edge.from) || edge.to.symbol().is_some_and(is_in));
    assert_eq!(summary.total_edges as usize, touching.count());
    assert!(summary.total_edges >= 4);
}

/// The graph of an answer says the same in every format.
fn is_said_alike(graph: &SubGraph) {
    for format in [Format::Gcx, Format::Gcf, Format::Auto] {
        let text = wire::encode(graph, &SubGraph::GET_CALLERS, format, Tokenizer::O200k)
            .unwrap()
            .text;
        let read: SubGraph = serde_json::from_value(wire::decode(&text).unwrap()).unwrap();
        assert_eq!(read, *graph, "{text}");
    }
}

fn callers_of(workspace: &Workspace, id: &str, min_tier: Option<&str>) -> SubGraph {
    let ask = Neighbours {
        id: id.to_string(),
        min_tier: min_tier.map(str::to_string),
        ..Neighbours::default()
    };
    neighbours::callers(workspace, &ask).unwrap()
}

fn edges_of(graph: &SubGraph) -> Vec<String> {
    let edges = graph.edges.iter();
    edges
        .map(|edge| format!("{} {} {}", edge.from, edge.kind, edge.to))
        .collect()
}

/// `self.step()` of the base runs the step of an heir: whoever asks for callers of that one is told through what.
#[test]
fn an_override_is_called_through_its_base() {
    let heir = |name: &str| {
        format!(
            "from base import Base\n\nclass {name}(Base):\n    def step(self):\n        super().step()\n        return '{name}'\n"
        )
    };
    let direct: String = (0..11)
        .map(|at| format!("def f{at}():\n    return Third().step()\n\n"))
        .collect();
    let (_directory, workspace) = tree(&[
        (
            "base.py",
            "class Base:\n    def run(self):\n        return self.step()\n\n    def step(self):\n        return None\n",
        ),
        ("first.py", &heir("First")),
        ("second.py", &heir("Second")),
        ("third.py", &heir("Third")),
        ("many.py", &format!("from third import Third\n\n{direct}")),
    ]);
    let graph = callers_of(&workspace, "First.step", None);
    assert_eq!(
        edges_of(&graph),
        [
            "base.py::Base.run calls base.py::Base.step",
            "first.py::First.step overrides base.py::Base.step"
        ]
    );
    let nodes: Vec<&str> = graph.nodes.iter().map(|node| node.id.as_str()).collect();
    assert_eq!(
        nodes,
        ["first.py::First.step", "base.py::Base.step", "base.py::Base.run"]
    );
    assert_eq!((graph.total_nodes, graph.total_edges, graph.truncated), (3, 2, false));
    assert_eq!(graph.incomplete, None);
    is_said_alike(&graph);
    // That the call runs this override is inferred.
    assert_eq!(
        callers_of(&workspace, "First.step", Some("ast_resolved")).nodes.len(),
        1
    );
    // The base's own callers are as they were, and where there are many the others are a number.
    let graph = callers_of(&workspace, "Third.step", None);
    assert!(graph.nodes.iter().all(|node| node.path != "base.py"), "{graph:?}");
    let said = "1 caller of base.py::Base.step may run it, as an override";
    assert_eq!(graph.incomplete.as_deref(), Some(said));
    is_said_alike(&graph);
    let used = |id: &str| {
        let ask = Usages {
            id: id.to_string(),
            ..Usages::default()
        };
        usages(&workspace, &ask).unwrap().incomplete
    };
    assert_eq!(used("Second.step").as_deref(), Some(said));
    assert_eq!(used("Third.step"), None);
    assert_eq!(used("Base.step"), None);
}

/// One that calls another a hundred times is told with the first lines and how many more there are.
#[test]
fn the_lines_of_an_edge_are_bounded() {
    let calls = "    one()\n".repeat(125);
    let source = format!("def one():\n    return 1\n\ndef often():\n{calls}\ndef twice():\n    one()\n    one()\n");
    let (_directory, workspace) = tree(&[("one.py", &source)]);
    let graph = callers_of(&workspace, "one", None);
    let labels: Vec<&str> = graph.edges.iter().filter_map(|edge| edge.label.as_deref()).collect();
    let [often, twice] = labels[..] else {
        panic!("{labels:?}")
    };
    assert!(often.starts_with("5,6,7,") && often.ends_with(",24,+105"), "{often}");
    assert_eq!(twice, "132,133");
    is_said_alike(&graph);
}

/// Where the grammar gave up is said with the answer, and nothing is said of a file that it reads.
#[test]
fn syntax_errors_are_said_with_their_lines() {
    let broken = "package one\n\nfunc whole() {}\n\nfunc broken( {\n\tx := := 2\n}\n\nfunc after() {}\n";
    let (_directory, workspace) = tree(&[("good.go", "package one\n\nfunc good() {}\n"), ("broken.go", broken)]);
    let summary = |path: &str| {
        let ask = codeintel::file_summary::Summary {
            path: path.to_string(),
            ..Default::default()
        };
        codeintel::file_summary::file_summary(&workspace, &ask).unwrap()
    };
    assert_eq!(summary("good.go").incomplete, None);
    let said = summary("broken.go");
    let unread = said.incomplete.clone().unwrap();
    assert!(unread.contains("syntax error") && unread.contains(" 5"), "{unread}");
    assert!(Tokenizer::O200k.count(&unread) <= 24, "{unread}");
    let value = serde_json::to_value(&said).unwrap();
    for format in [Format::Gcx, Format::Gcf, Format::Markdown, Format::Auto] {
        let text = wire::encode(&said, &FileSummary::LAYOUT, format, Tokenizer::O200k)
            .unwrap()
            .text;
        assert!(text.contains("syntax error"), "{format:?}: {text}");
        if format != Format::Markdown {
            assert_eq!(wire::decode(&text).unwrap(), value, "{text}");
        }
    }
    let ask = codeintel::editing_context::Editing {
        id: "whole".to_string(),
        ..Default::default()
    };
    let editing = codeintel::editing_context::editing_context(&workspace, &ask).unwrap();
    assert_eq!(editing.incomplete, said.incomplete);
}

#[test]
fn what_is_defined_outside_is_said_to_be() {
    let (_directory, workspace) = tree(&[("one.py", "from flask import Flask\n\napp = Flask()\n")]);
    let said = neighbours::callers(&workspace, &ask("Flask")).unwrap_err();
    assert_eq!(said.code(), "no_such_symbol");
    assert!(
        said.to_string().contains("outside of what is indexed (") && said.to_string().contains("flask"),
        "{said}"
    );
}
