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
