//! Context packs as texts.

use serde_json::to_value;
use wire::answers::{ContextPack, PackDelta, PackEdge, PackSource, PackSymbol};

#[test]
fn packs_and_what_changed_in_them_are_read_like_any_text() {
    let symbol = |id: &str, score: f64| PackSymbol {
        id: id.into(),
        kind: "function".into(),
        score,
        provenance: "words~abcd".into(),
        distance: 0,
    };
    let mut pack = ContextPack {
        symbols: vec![symbol("shop/cart.py::add", 0.9), symbol("shop/cart.py::remove", 0.8)],
        edges: vec![PackEdge {
            from: "shop/cart.py::add".into(),
            to: "shop/cart.py::remove".into(),
            kind: "calls".into(),
        }],
        sources: vec![PackSource {
            id: "shop/cart.py::add".into(),
            form: "body".into(),
            line: 3,
            text: "def add():\nsources total=9".into(),
        }],
        budget: 500,
        tokens: 90,
        total: 2,
        ..ContextPack::default()
    };
    pack.pack_root = pack.root().unwrap();
    let told = |texts: [String; 2]| wire::decode(&texts.concat()).unwrap();
    assert_eq!(told(pack.to_gcf("context_for_task").unwrap()), to_value(&pack).unwrap());

    let mut other = pack.clone();
    other.symbols.truncate(1);
    other.edges.clear();
    other.total = 1;
    other.pack_root = other.root().unwrap();
    let delta = PackDelta::between(&pack, &other);
    let texts = delta.to_gcf("context_for_task", 90, str::len).unwrap();
    assert_eq!(told(texts), to_value(&delta).unwrap());

    let [graph, sources] = pack.to_gcf("context_for_task").unwrap();
    assert_eq!(
        wire::gcf::graph::decode(&graph).unwrap().symbols[1].qualified_name,
        "shop/cart.py::remove"
    );
    // A client may put a line between the two, and see where either was cut.
    assert_eq!(
        wire::decode(&format!("{graph}\n{sources}")).unwrap(),
        to_value(&pack).unwrap()
    );
    for text in [
        graph.clone() + &sources,
        delta.to_gcf("context_for_task", 90, str::len).unwrap().concat(),
    ] {
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            assert!(wire::decode(&text[..end]).is_err(), "{}", &text[..end]);
        }
    }
}

/// The graph is the same, but lines have moved: that is a delta, not nothing.
#[test]
fn sources_that_moved_are_not_unchanged() {
    let pack = |line: u64| {
        let mut pack = ContextPack {
            symbols: vec![PackSymbol {
                id: "shop/cart.py::add".into(),
                kind: "function".into(),
                score: 0.9,
                provenance: "words~abcd".into(),
                distance: 0,
            }],
            sources: vec![PackSource {
                id: "shop/cart.py::add".into(),
                form: "body".into(),
                line,
                text: "def add():\n    pass".into(),
            }],
            total: 1,
            ..ContextPack::default()
        };
        pack.pack_root = pack.root().unwrap();
        pack
    };
    let (base, now) = (pack(3), pack(9));
    assert_eq!(base.pack_root, now.pack_root);
    let delta = PackDelta::between(&base, &now);
    let unchanged =
        wire::gcf::graph::reply(Some(&now.pack_root), None, &now.graph("context_for_task"), str::len).unwrap();
    let said = wire::counted_parts(unchanged.text().to_owned(), delta.sources_text()).concat();
    assert!(said.contains("unchanged=true"), "{said}");
    assert_eq!(wire::decode(&said).unwrap(), to_value(&delta).unwrap());
    let base_text = base.to_gcf("context_for_task").unwrap().concat();
    assert_eq!(
        wire::apply::apply(&base_text, &said).unwrap()["sources"],
        to_value(&now).unwrap()["sources"]
    );
}

/// A delta that says more than the graph profile does has a tag that no reader of GCF takes for one that does not verify.
#[test]
fn a_delta_is_called_gcf_where_it_verifies_as_gcf() {
    use wire::answers::Renamed;
    use wire::gcf::graph;
    let pack = |name: &str, text: &str| {
        let mut pack = ContextPack {
            symbols: vec![PackSymbol {
                id: format!("shop/cart.py::{name}"),
                kind: "function".into(),
                score: 0.9,
                provenance: "words~abcd".into(),
                distance: 0,
            }],
            sources: vec![PackSource {
                id: format!("shop/cart.py::{name}"),
                form: "body".into(),
                line: 3,
                text: text.into(),
            }],
            total: 1,
            ..ContextPack::default()
        };
        pack.pack_root = pack.root().unwrap();
        pack
    };
    let (base, now) = (pack("add", "def add():\n    pass"), pack("put", "def put():\n    pass"));
    let plain = PackDelta::between(&base, &now);
    let texts = plain.texts("context_for_task", 900, str::len).unwrap();
    let verified = graph::apply(&base.graph(""), &graph::decode_delta(&texts[0]).unwrap()).unwrap();
    assert_eq!(verified.pack_root, now.pack_root);
    let renamed = ContextPack {
        renamed: vec![Renamed {
            from: "shop/cart.py::add".into(),
            to: "shop/cart.py::put".into(),
        }],
        ..now.clone()
    };
    let delta = PackDelta::between(&base, &renamed);
    assert!(!delta.is_plain());
    let [text] = &delta.texts("context_for_task", 900, str::len).unwrap()[..] else {
        panic!("one text")
    };
    assert!(
        text.starts_with("LCX1 tool=context_for_task fields=delta delta=true"),
        "{text}"
    );
    assert_eq!(wire::decode(text).unwrap(), to_value(&delta).unwrap());
    for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
        assert!(wire::decode(&text[..end]).is_err(), "{}", &text[..end]);
    }
    // A client without our types applies either to the texts that it has.
    let base_text = base.to_gcf("context_for_task").unwrap().concat();
    for text in [text.clone(), texts.concat(), to_value(&plain).unwrap().to_string()] {
        let applied = wire::apply::apply(&base_text, &text).unwrap();
        assert_eq!(applied["pack_root"], to_value(&now).unwrap()["pack_root"]);
        assert_eq!(applied["sources"], to_value(&now).unwrap()["sources"], "{text}");
    }
    assert!(wire::apply::apply(&texts.concat(), &texts.concat()).is_err());
}

#[test]
fn deltas_of_rows_and_graphs_are_applied_to_texts() {
    use serde_json::json;
    use wire::gcf::graph::{self, Graph, Symbol};
    use wire::gcf::keyed_set;
    let rows = |names: &[&str]| {
        let rows: Vec<_> = names
            .iter()
            .map(|name| json!({"id": name, "line": name.len()}))
            .collect();
        json!({"results": rows, "total": names.len(), "etag": names.concat()})
    };
    let (base, now) = (rows(&["a", "b", "ccc"]), rows(&["a", "ccc", "dd"]));
    let set = |value: &serde_json::Value| wire::apply::rows_of(value.as_object().unwrap()).unwrap();
    let mut delta = keyed_set::diff(&set(&base), &set(&now)).unwrap();
    delta.tool = "search_symbols".into();
    let text = keyed_set::encode_delta(&delta).unwrap();
    let note = "rows of results since etag abccc; now {\"total\":3,\"etag\":\"acccdd\"}";
    assert_eq!(
        wire::apply::apply(&base.to_string(), &format!("{text}{note}\n")).unwrap(),
        now
    );
    let whole = keyed_set::encode(&set(&base), "search_symbols").unwrap();
    assert_eq!(wire::apply::apply(&whole, &text).unwrap(), now["results"]);
    assert!(wire::apply::apply(&now.to_string(), &text).is_err(), "another base");

    let graph = |names: &[&str]| Graph {
        symbols: names
            .iter()
            .map(|name| Symbol {
                qualified_name: (*name).into(),
                kind: "function".into(),
                score: 0.5,
                provenance: "x".into(),
                distance: 0,
            })
            .collect(),
        ..Graph::default()
    };
    let (base, now) = (graph(&["a", "b"]), graph(&["a", "c"]));
    let delta = graph::encode_delta(&graph::diff(&base, &now).unwrap()).unwrap();
    let applied = wire::apply::apply(&graph::encode(&base).unwrap(), &delta).unwrap();
    assert_eq!(applied["symbols"][1]["qualifiedName"], "c");
    assert_eq!(applied["packRoot"], graph::pack_root(&now).unwrap());
}
