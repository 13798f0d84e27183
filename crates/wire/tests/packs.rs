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

    let [graph, _] = pack.to_gcf("context_for_task").unwrap();
    assert_eq!(
        wire::decode(&graph).unwrap()["symbols"][1]["qualifiedName"],
        "shop/cart.py::remove"
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
}
