//! The graph out to other tools, and what they know back in.

use index::export::{Filter, Format, export};
use index::model::{EdgeKind, Origin};
use index::snapshot::{EdgeKinds, Snapshot};

use crate::support::{Project, assert_same};

fn sample() -> Project {
    Project::new(&[
        (
            "a.py",
            "import os\nfrom b import Base, helper\n\n\nclass Child(Base):\n    def run(self):\n        return helper()\n",
        ),
        (
            "b.py",
            "class Base:\n    def run(self): ...\n\n\ndef helper():\n    return 1\n",
        ),
    ])
}

fn exported(project: &Project, snapshot: &Snapshot, format: Format, filter: &Filter) -> Vec<u8> {
    let mut out = Vec::new();
    export(snapshot, &project.root(), format, filter, &mut out).unwrap();
    out
}

#[test]
fn jsonl_has_every_symbol_and_every_edge() {
    let project = sample();
    let snapshot = project.build().snapshot;
    let text = String::from_utf8(exported(&project, &snapshot, Format::Jsonl, &Filter::default())).unwrap();
    let lines: Vec<serde_json::Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let of = |kind: &str| lines.iter().filter(|line| line["type"] == kind).count();
    assert_eq!(of("symbol"), snapshot.symbol_count());
    assert_eq!(of("edge"), snapshot.edge_count());
    assert_eq!(of("external"), snapshot.external_count());
    for line in lines.iter().filter(|line| line["type"] == "edge") {
        for key in ["from", "to", "kind", "origin", "path"] {
            assert!(line[key].as_str().is_some_and(|value| !value.is_empty()), "{line}");
        }
        assert!(snapshot.find(line["from"].as_str().unwrap()).is_some(), "{line}");
    }

    let mut filter = Filter::default().paths(["b.*"]).unwrap();
    filter.kinds = EdgeKind::Contains.into();
    let text = String::from_utf8(exported(&project, &snapshot, Format::Jsonl, &filter)).unwrap();
    assert!(
        text.lines()
            .filter(|line| line.contains("\"type\":\"edge\""))
            .all(|line| line.contains("contains"))
    );
    assert!(!text.contains("a.py"));
}

#[test]
fn drawings_name_what_they_connect() {
    let project = sample();
    let snapshot = project.build().snapshot;
    let dot = String::from_utf8(exported(&project, &snapshot, Format::Dot, &Filter::default())).unwrap();
    assert!(dot.starts_with("digraph") && dot.ends_with("}\n") && dot.contains("label=\"Child.run\""));
    let mermaid = String::from_utf8(exported(&project, &snapshot, Format::Mermaid, &Filter::default())).unwrap();
    assert!(mermaid.starts_with("graph LR\n") && mermaid.contains("a.py::Child.run"));
}

/// What is exported as SCIP and imported again confirms every edge between symbols of the tree at its place.
#[test]
fn scip_comes_back_as_resolved_edges() {
    let project = sample();
    let before = project.build().snapshot;
    project.write(
        "index.scip",
        exported(&project, &before, Format::Scip, &Filter::default()),
    );
    project.write(
        "lacon.toml",
        "[index]\nscip = [\"index.scip\"]\nexclude = [\"*.toml\"]\n",
    );
    let after = project.build().snapshot;
    let call = |snapshot: &Snapshot| {
        let run = snapshot.find("a.py::Child.run").unwrap().id();
        let call = snapshot
            .outgoing(run, EdgeKind::Calls)
            .find(|edge| edge.to.symbol().is_some());
        call.map(|edge| {
            (
                snapshot.symbol(edge.to.symbol().unwrap()).unwrap().id_string(),
                edge.origin,
                edge.at.line,
            )
        })
    };
    assert_eq!(
        call(&before),
        Some(("b.py::helper".to_string(), Origin::AstResolved, 7))
    );
    assert_eq!(call(&after), Some(("b.py::helper".to_string(), Origin::LspResolved, 7)));
    assert_same(&after, &project.cold(1));

    // The files move on, the index of the other tool does not: what no longer fits is not believed.
    project.write("b.py", "def other():\n    return 2\n\n\ndef helper():\n    return 1\n");
    let mut indexer = project.indexer();
    indexer.prepare().unwrap();
    project.write("a.py", "from b import helper\n\n\ndef go():\n    return helper()\n");
    let moved = indexer.update(&[project.path("a.py")]).unwrap().snapshot;
    assert!(
        moved
            .edges(EdgeKinds::ALL)
            .all(|edge| edge.origin != Origin::LspResolved)
    );
    assert_same(&moved, &project.cold(1));
}

#[test]
fn damaged_scip_adds_nothing() {
    let project = sample();
    let before = project.build().snapshot;
    let scip = exported(&project, &before, Format::Scip, &Filter::default());
    project.write("lacon.toml", "[index]\nscip = [\"index.scip\"]\n");
    for length in (0..scip.len()).step_by(97) {
        project.write("index.scip", &scip[..length]);
        project.build().snapshot.verify().unwrap();
    }
    project.write("index.scip", [0xff; 64]);
    project.build();
}
