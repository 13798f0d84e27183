//! What the reader tells of a small tree, and what it does with damaged bytes.

use index::model::EdgeKind;
use index::snapshot::{EdgeEnd, EdgeKinds, Snapshot, SnapshotError};
use syntax::facts::Kind;

use crate::support::Project;

fn sample() -> Project {
    Project::new(&[
        (
            "shop/cart.py",
            "\"\"\"Carts.\"\"\"\n\n\nclass Cart:\n    \"\"\"Holds items.\"\"\"\n\n    def add(self, item):\n        self.items.append(item)\n\n    def total(self):\n        return price(self)\n\n\ndef price(cart):\n    return 0\n\n\ndef price(cart, discount):\n    return 1\n",
        ),
        ("shop/__init__.py", ""),
        (
            "server/main.go",
            "package main\n\n// Server serves.\ntype Server struct{}\n\n// Run runs it.\nfunc (s *Server) Run() int { return help() }\n\nfunc help() int { return 1 }\n",
        ),
        ("server/more.go", "package main\n\nfunc (s *Server) Stop() {}\n"),
    ])
}

#[test]
fn symbols_are_found_by_their_ids() {
    let snapshot = sample().build().snapshot;
    for id in [
        "shop/cart.py",
        "shop/cart.py::Cart",
        "shop/cart.py::Cart.add",
        "shop/cart.py::price",
        "shop/cart.py::price~2",
        "server/main.go::Server.Run",
        "server/more.go::Server.Stop",
    ] {
        let symbol = snapshot.find(id).unwrap_or_else(|| panic!("no `{id}`"));
        assert_eq!(symbol.id_string(), id);
    }
    for id in [
        "shop/cart.py::Cart~2",
        "shop/cart.py::add",
        "shop/none.py::Cart",
        "",
        "::",
        "price~2",
    ] {
        assert!(snapshot.find(id).is_none(), "`{id}` should not be found");
    }
    for symbol in snapshot.symbols() {
        let found = snapshot.find(&symbol.id_string()).map(|found| found.id());
        assert_eq!(found, Some(symbol.id()), "{}", symbol.id_string());
    }
}

#[test]
fn a_symbol_tells_what_it_is() {
    let snapshot = sample().build().snapshot;
    let class = snapshot.find("shop/cart.py::Cart").unwrap();
    assert_eq!(
        (class.kind(), class.name(), class.doc()),
        (Kind::Class, "Cart", "Holds items.")
    );
    assert_eq!(
        (class.span().start_line, class.name_at().line, class.name_at().column),
        (4, 4, 6)
    );
    let method = snapshot.find("shop/cart.py::Cart.total").unwrap();
    assert_eq!((method.kind(), method.signature()), (Kind::Method, "def total(self)"));
    assert_eq!(method.parent().unwrap().id(), class.id());
    assert_eq!(method.file().unwrap().language(), "python");
    let file = snapshot.find("shop/cart.py").unwrap();
    assert!(file.is_file());
    assert_eq!((file.name(), file.doc()), ("cart.py", "Carts."));
    // The receiver's type is in the same file, so it is the parent; in the other file it is only named.
    let run = snapshot.find("server/main.go::Server.Run").unwrap();
    assert_eq!(run.parent().unwrap().id_string(), "server/main.go::Server");
    assert_eq!(run.named_owner(), "");
    let stop = snapshot.find("server/more.go::Server.Stop").unwrap();
    assert_eq!(
        (stop.named_owner(), stop.parent().unwrap().id_string().as_str()),
        ("Server", "server/more.go")
    );
}

#[test]
fn names_are_found_whole_folded_and_by_prefix() {
    let snapshot = sample().build().snapshot;
    let ids = |symbols: &mut dyn Iterator<Item = index::snapshot::SymbolView<'_>>| {
        symbols.map(|symbol| symbol.id_string()).collect::<Vec<_>>()
    };
    assert_eq!(
        ids(&mut snapshot.named("price")),
        ["shop/cart.py::price", "shop/cart.py::price~2"]
    );
    assert_eq!(ids(&mut snapshot.named("PRICE")), [] as [&str; 0]);
    assert_eq!(
        ids(&mut snapshot.named_ignoring_case("SERVER")),
        ["server/main.go::Server"]
    );
    assert_eq!(ids(&mut snapshot.with_prefix("st")), ["server/more.go::Server.Stop"]);
    let all = snapshot.names().map(|(_, count)| count).sum::<usize>();
    assert_eq!(all + snapshot.file_count(), snapshot.symbol_count());
    assert_eq!(snapshot.with_prefix("").count(), all);
}

#[test]
fn places_and_paths_are_found() {
    let snapshot = sample().build().snapshot;
    let file = snapshot.find_file("shop/cart.py").unwrap();
    assert_eq!(
        snapshot.symbol_at(file.id(), 8).unwrap().id_string(),
        "shop/cart.py::Cart.add"
    );
    assert_eq!(
        snapshot.symbol_at(file.id(), 5).unwrap().id_string(),
        "shop/cart.py::Cart"
    );
    assert_eq!(snapshot.symbol_at(file.id(), 2).unwrap().id_string(), "shop/cart.py");
    let under: Vec<_> = snapshot.files_under("server/").map(|file| file.path()).collect();
    assert_eq!(under, ["server/main.go", "server/more.go"]);
    assert!(snapshot.find_file("shop").is_none());
}

#[test]
fn both_directions_hold_the_same_edges() {
    let snapshot = sample().build().snapshot;
    let mut outgoing = Vec::new();
    let mut incoming = Vec::new();
    for symbol in snapshot.symbols() {
        outgoing.extend(snapshot.outgoing(symbol.id(), EdgeKinds::ALL));
        incoming.extend(snapshot.incoming(symbol.id(), EdgeKinds::ALL));
    }
    for (external, _) in snapshot.externals() {
        incoming.extend(snapshot.incoming(external, EdgeKinds::ALL));
    }
    assert!(outgoing.len() >= snapshot.symbol_count() - snapshot.file_count());
    assert_eq!(outgoing, snapshot.edges(EdgeKinds::ALL).collect::<Vec<_>>());
    let key = |edge: &index::snapshot::EdgeView| (edge.from, edge.kind, edge.to, edge.at, edge.origin, edge.confidence);
    outgoing.sort_by_key(key);
    incoming.sort_by_key(key);
    assert_eq!(outgoing, incoming);

    let class = snapshot.find("shop/cart.py::Cart").unwrap();
    let members: Vec<_> = snapshot
        .outgoing(class.id(), EdgeKind::Contains)
        .filter_map(|edge| edge.to.symbol())
        .map(|symbol| snapshot.symbol(symbol).unwrap().name())
        .collect();
    assert_eq!(members, ["add", "total"]);
    let parents: Vec<_> = snapshot
        .incoming(class.id(), EdgeKind::Contains)
        .map(|edge| edge.from)
        .collect();
    assert_eq!(parents, [snapshot.find("shop/cart.py").unwrap().id()]);
}

#[test]
fn totals_count_what_is_there() {
    let snapshot = sample().build().snapshot;
    let totals = snapshot.totals();
    let symbols: u64 = totals.symbols.iter().map(|(_, count)| count).sum();
    assert_eq!(symbols as usize + snapshot.file_count(), snapshot.symbol_count());
    let edges: u64 = totals.edges.iter().map(|(_, _, count)| count).sum();
    assert_eq!(edges as usize, snapshot.edge_count());
    let languages: Vec<_> = snapshot
        .languages()
        .map(|language| (language.name(), language.files()))
        .collect();
    assert_eq!(languages, [("go", 2), ("python", 2)]);
}

/// Reads everything that can be read.
fn read_all(snapshot: &Snapshot) -> usize {
    let mut read = 0;
    for file in snapshot.files() {
        read += file.path().len() + file.language().len() + file.doc().len() + file.symbols().count();
    }
    for symbol in snapshot.symbols() {
        read += symbol.id_string().len() + symbol.signature().len() + symbol.doc().len() + symbol.named_owner().len();
        read += snapshot.outgoing(symbol.id(), EdgeKinds::ALL).count();
        for edge in snapshot.incoming(symbol.id(), EdgeKinds::ALL) {
            read += match edge.to {
                EdgeEnd::Symbol(symbol) => symbol.0 as usize,
                EdgeEnd::External(external) => snapshot.external(external).len(),
            } & 1;
        }
    }
    read += snapshot.names().count() + snapshot.skipped().count() + snapshot.totals().edges.len();
    read += snapshot
        .find("shop/cart.py::Cart.add")
        .map_or(0, |symbol| symbol.name().len());
    read + snapshot.with_prefix("s").count() + snapshot.named("price").count()
}

#[test]
fn damage_is_detected_and_never_panics() {
    let whole = sample().build().snapshot.as_bytes().to_vec();
    assert!(Snapshot::from_bytes(whole.clone()).unwrap().verify().is_ok());
    for length in [0, 1, 50, 100, whole.len() / 2, whole.len() - 1] {
        let result = Snapshot::from_bytes(whole[..length].to_vec());
        assert!(matches!(result, Err(SnapshotError::Damaged { .. })), "length {length}");
    }
    let mut silent = 0;
    for at in (0..whole.len()).step_by(5) {
        let mut bytes = whole.clone();
        bytes[at] ^= [0xff, 0x01, 0x80][at % 3];
        if let Ok(snapshot) = Snapshot::from_bytes(bytes) {
            if snapshot.verify().is_ok() {
                silent += 1;
            }
            if at % 7 == 0 {
                read_all(&snapshot);
            }
        }
    }
    // Only the padding between sections is covered by no checksum: at most 63 bytes for each of them.
    assert!(silent <= 64 * 16 / 5, "{silent} flips went unnoticed");
}

#[test]
fn another_version_is_told_from_damage() {
    let mut bytes = sample().build().snapshot.as_bytes().to_vec();
    bytes[8] = 99;
    assert!(matches!(
        Snapshot::from_bytes(bytes),
        Err(SnapshotError::Version { found: 99 })
    ));
}
