//! Answers grouped by file: chosen where shorter, and always read back to the same value.

use expect_test::expect;
use proptest::prelude::*;
use serde_json::{Value, json};
use wire::answers::{Answer, Edge, FindUsages, Node, SearchSymbols, SubGraph, Usage};
use wire::layout::Layout;
use wire::tokens::Tokenizer;
use wire::{Encoded, Format};

fn auto(layout: &Layout, value: &impl serde::Serialize) -> Encoded {
    wire::encode(value, layout, Format::Auto, Tokenizer::O200k).unwrap()
}

fn check(layout: &Layout, value: &impl serde::Serialize) -> String {
    let said = auto(layout, value);
    let original = serde_json::to_value(value).unwrap();
    let decoded = wire::decode(&said.text).unwrap();
    assert!(wire::same(&decoded, &original), "{}\n{original}\n{decoded}", said.text);
    let json = Tokenizer::O200k.count(&original.to_string());
    assert!(Tokenizer::O200k.count(&said.text) <= json, "{}", said.text);
    said.text
}

fn node(path: &str, symbol: &str, kind: &str, line: u64) -> Node {
    let (id, name) = match symbol {
        "" => (path.to_string(), path.rsplit('/').next().unwrap()),
        symbol => (format!("{path}::{symbol}"), symbol.rsplit('.').next().unwrap()),
    };
    Node {
        id,
        kind: kind.into(),
        name: name.split('~').next().unwrap().into(),
        path: path.into(),
        line,
    }
}

fn edge(from: &Node, to: &Node, origin: &str, label: Option<&str>) -> Edge {
    Edge {
        from: from.id.clone(),
        to: to.id.clone(),
        kind: "calls".into(),
        origin: origin.into(),
        confidence: if origin == "ast_resolved" { 0.95 } else { 0.6 },
        label: label.map(Into::into),
    }
}

#[test]
fn callers_stand_under_their_file_with_the_lines_of_their_calls() {
    let nodes = vec![
        node("lib/load.py", "load", "function", 3),
        node("app/main.py", "", "file", 1),
        node("app/main.py", "Main.run", "method", 7),
        node("app/main.py", "Main.run~2", "method", 20),
        node("app/other.py", "Other", "type", 2),
        node("app/last.py", "last", "function", 5),
    ];
    let edges = vec![
        edge(&nodes[1], &nodes[0], "ast_resolved", Some("4")),
        edge(&nodes[2], &nodes[0], "ast_resolved", Some("8,9")),
        edge(&nodes[3], &nodes[0], "ast_inferred", Some("21")),
        edge(&nodes[4], &nodes[0], "ast_resolved", None),
        edge(&nodes[5], &nodes[4], "ast_resolved", Some("6")),
    ];
    let answer = SubGraph {
        total_nodes: 6,
        total_edges: 5,
        nodes,
        edges,
        ..SubGraph::default()
    };
    expect![[r#"
        LCX1 tool=get_callers fields=line+symbol,to,kind calls=ast_resolved/0.95 calls2=ast_inferred/0.6 total_nodes=6 rows=10
        lib/load.py
        3 load
        app/main.py
        1.	4
        7 Main.run	8,9
        20.run~2	calls2 21
        other.py
        2 Other		type
        last.py
        5 last	Other:6
    "#]]
    .assert_eq(&check(&SubGraph::GET_CALLERS, &answer));
}

#[test]
fn what_is_the_same_in_every_row_is_said_once() {
    let usage = |path: &str, name: &str, line: u64| Usage {
        from: format!("{path}::{name}"),
        to: "lib/load.py::load".into(),
        edge_kind: "calls".into(),
        origin: "ast_resolved".into(),
        confidence: 0.95,
        from_name: name.into(),
        from_path: path.into(),
        from_line: line,
    };
    let answer = FindUsages {
        usages: vec![usage("a.py", "f", 3), usage("a.py", "g", 9), usage("b.py", "h", 4)],
        total: 3,
        ..FindUsages::default()
    };
    expect![[r#"
        LCX1 tool=find_usages fields=line+symbol all.to=lib/load.py::load calls=ast_resolved/0.95 total=3 rows=5
        a.py
        3 f
        9 g
        b.py
        4 h
    "#]]
    .assert_eq(&check(&FindUsages::LAYOUT, &answer));
}

/// The folder that most files are in stands in the header; where many names begin alike, so does their beginning.
#[test]
fn what_many_begin_with_is_said_once() {
    let names = [
        "TestVaultProvider_Configure",
        "TestVaultProvider_Renew",
        "TestVaultProvider_Sign",
        "Less",
    ];
    let mut nodes = vec![node("lib/load.py", "load", "function", 3)];
    for (at, folder) in ["7", "a", "b", "c"].into_iter().enumerate() {
        let path = format!("pkg/volume/plugins/{folder}.d/{at}.go");
        let line = 10 * at as u64 + 10;
        nodes.extend(names.iter().map(|name| node(&path, name, "function", line)));
    }
    let edges = nodes[1..]
        .iter()
        .map(|from| edge(from, &nodes[0], "ast_resolved", None))
        .collect();
    let answer = SubGraph {
        total_nodes: 17,
        total_edges: 16,
        nodes,
        edges,
        ..SubGraph::default()
    };
    let text = check(&SubGraph::GET_CALLERS, &answer);
    let lines: Vec<&str> = text.lines().take(10).collect();
    expect![[r#"
        LCX1 tool=get_callers fields=line+symbol calls=ast_resolved/0.95 total_nodes=17 under=pkg/volume/plugins/ rows=23
        /lib/load.py
        3 load
        /pkg/volume/plugins/7.d/0.go
        TestVaultProvider_…
        10 …Configure
        10 …Renew
        10 …Sign
        10 Less
        a.d/1.go"#]]
    .assert_eq(&lines.join("\n"));
    assert!(
        text.contains("\n/pkg/volume/plugins/7.d/0.go\n"),
        "a path is not taken for a row: {text}"
    );
}

/// Whatever does not fit is said another way.
#[test]
fn what_cannot_be_derived_is_not_dropped() {
    let row = |id: &str, name: &str, path: &str, sig: Value| json!({"id": id, "kind": "function", "name": name, "path": path, "line": 1, "sig": sig});
    for rows in [
        vec![
            row("a.py::f", "g", "a.py", json!("f()")),
            row("a.py::h", "h", "a.py", json!("h\t\n\\()")),
        ],
        vec![row("a.py::f", "f", "b.py", json!("f()"))],
        vec![row("no id at all", "f", "b.py", json!("f()"))],
        vec![
            row("#a.py::f", "f", "#a.py", json!("f()")),
            row("GCX1 x::f", "f", "GCX1 x", json!("")),
        ],
        vec![
            row("a.py::f\tg", "f\tg", "a.py", json!("\r")),
            row("", "", "", json!(" ")),
        ],
        vec![],
    ] {
        let answer = json!({"results": rows, "total": 2, "truncated": false, "etag": "a b", "incomplete": "not yet\n"});
        check(&SearchSymbols::LAYOUT, &answer);
    }
}

#[test]
fn a_broken_text_is_an_error_or_a_table_never_a_panic() {
    let header = "LCX1 tool=get_callers fields=symbol,line,at,kind,name edge=calls/ast_resolved/0.95 edges=out";
    for body in [
        "f\t1\t9>4",
        "p\nf\tx",
        "p\nf\t1\tz5",
        "p\nf\t1\t99999999999999999999>4",
        "p\nf\t1\t\t\t\\q",
        "p\nf\t1\té",
    ] {
        let _ = wire::decode(&format!("{header}\n{body}\n"));
    }
    let _ = wire::decode("LCX1 tool=get_callers fields=x\np\nf\t1\n");
    let _ = wire::decode("LCX1 tool=other fields=x,y\np\nf\t1\n");
}

fn graphs() -> impl Strategy<Value = SubGraph> {
    let symbol = (
        "[a-c]/[a-d]\\.py|[a#]\\.go",
        "[A-C]?\\.?[a-e~\\\\ ]{0,3}[0-9]?|TestThingsThatBeginAlike(_with_[ab])?[A-C]{0,2}|Long.test_that_begins_[a-c]_alike|calls|7|-|#1|…x",
        "function|method|type|file",
        1u64..40,
    );
    let edges = proptest::collection::vec((0usize..12, 0usize..12, any::<bool>(), "[0-9]{1,3}(,[0-9])?|x|"), 0..20);
    (proptest::collection::vec(symbol, 1..12), edges, any::<bool>()).prop_map(|(symbols, edges, truncated)| {
        let nodes: Vec<Node> = symbols
            .iter()
            .map(|(path, symbol, kind, line)| node(path, symbol, kind, *line))
            .collect();
        let edges = edges
            .iter()
            .filter(|(from, to, ..)| *from < nodes.len() && *to < nodes.len())
            .map(|(from, to, sure, label)| {
                let origin = if *sure { "ast_resolved" } else { "ast_inferred" };
                edge(&nodes[*from], &nodes[*to], origin, (!label.is_empty()).then_some(label))
            })
            .collect();
        SubGraph {
            total_nodes: nodes.len() as u64,
            nodes,
            edges,
            truncated,
            ..SubGraph::default()
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(256))]

    #[test]
    fn any_graph_is_read_back(graph in graphs()) {
        check(&SubGraph::GET_DEPENDENTS, &graph);
    }
}

#[test]
fn a_source_stands_as_it_is() {
    let source = |text: &str, signature: Option<&str>, from: u64| {
        let mut value = json!({
            "id": "shop/cart.py::Cart.add", "kind": "method", "name": "add", "path": "shop/cart.py",
            "start_line": 12, "end_line": 14, "from_line": from, "etag": "2da912f8", "source": text,
        });
        if let Some(signature) = signature {
            value["sig"] = signature.into();
        }
        value
    };
    let layout = &wire::answers::SymbolSource::LAYOUT;
    let text = "    def add(self, item):\n\t\t\"\"\"Adds.\"\"\"\n        self.items.append(item)\n";
    expect![[r#"
        LCX1 tool=get_symbol_source fields=symbol,lines,kind etag=2da912f8 sig=19 source=4 rows=6
        shop/cart.py
        Cart.add	12:14
            def add(self, item):
        		"""Adds."""
                self.items.append(item)

    "#]]
    .assert_eq(&check(layout, &source(text, Some("def add(self, item)"), 12)));
    check(layout, &source(text, Some("def add(self,\titem) -> None"), 10));
    // Whatever a source looks like, it is taken for nothing else.
    for hostile in [
        "",
        "\n",
        "GCX1 tool=x fields=y\n# z\n\n",
        "a\r\nb\r\n",
        "\\n\\t\t\\",
        "ä\u{2028}\n\n\n",
    ] {
        check(layout, &source(hostile, None, 12));
        check(layout, &source(hostile, Some(hostile), 1));
    }
}

#[test]
fn lines_that_match_stand_under_their_file() {
    let layout = &Layout::generic("search_text");
    let line = |path: &str, line: u64, text: &str, symbol: Option<&str>| {
        let mut row = json!({"path": path, "line": line, "text": text});
        if let Some(symbol) = symbol {
            row["symbol"] = symbol.into();
        }
        row
    };
    let rows = vec![
        line("shop/cart.py", 12, "def add(self, item):", Some("Cart.add")),
        line("shop/cart.py", 14, "self.add(\tparent)", Some("Cart.add")),
        line("shop/cart.py", 40, "cart.add(item)", None),
        line("shop/views.py", 88, "cart.add(item)", Some("checkout")),
    ];
    let all = json!({"matches": rows, "total": 4, "files": 2, "searched": 30, "truncated": false, "etag": "75faf369"});
    expect![[r#"
        LCX1 tool=search_text fields=line+text,symbol searched=30 etag=75faf369 rows=6
        shop/cart.py
        12 def add(self, item):	Cart.add
        14 self.add(\tparent)	"
        40 cart.add(item)
        views.py
        88 cart.add(item)	checkout
    "#]]
    .assert_eq(&check(layout, &all));
    let cut = json!({"matches": rows, "total": 90, "files": 7, "searched": 30, "truncated": true,
        "next_cursor": "ab3", "etag": "75faf369", "incomplete": "2 files are gone or no longer text"});
    let text = check(layout, &cut);
    assert!(
        text.contains("truncated=true") && text.contains("\n\tincomplete\t2 files"),
        "{text}"
    );
    let odd = json!({"matches": [line("#a", 1, "", None), line("./b", 2, "x\\", Some("\""))],
        "total": 2, "files": 2, "searched": 2, "truncated": false});
    check(layout, &odd);
    check(
        layout,
        &json!({"matches": [], "total": 0, "files": 0, "searched": 9, "truncated": false}),
    );
}

#[test]
fn tests_to_run_stand_under_their_file() {
    let layout = &Layout::generic("get_test_targets");
    let value = json!({
        "targets": [
            {"file": "tests/shop/test_cart.py", "tests": ["CartTests.test_add", "CartTests.test_drop"], "distance": 1},
            {"file": "tests/shop/test_views.py", "tests": [], "distance": 2},
        ],
        "commands": [{"runner": "pytest", "command": "pytest 'tests/shop/test_cart.py::CartTests' tests/shop/test_views.py"}],
        "total": 3, "truncated": false, "etag": "cd5f9ac6",
    });
    expect![[r#"
        LCX1 tool=get_test_targets fields=distance+tests total=3 etag=cd5f9ac6 rows=6
        tests/shop/test_cart.py
        1 CartTests.test_add,.test_drop
        test_views.py
        2.
        pytest:
        pytest 'tests/shop/test_cart.py::CartTests' tests/shop/test_views.py
    "#]]
    .assert_eq(&check(layout, &value));
    let mut odd = value.clone();
    odd["targets"][0]["tests"] = json!(["a,b", "c:"]);
    check(layout, &odd);
    odd["commands"][0]["command"] = json!("a\nb:");
    check(layout, &odd);
    let mut odd = value.clone();
    odd["uncovered"] = json!(["shop/cart.py::Cart", "a\tb"]);
    odd["targets"][1]["tests"] = json!([
        "TestViewsOfTheShop_One",
        "TestViewsOfTheShop_Two",
        "TestViewsOfTheShop_Three",
        "other"
    ]);
    let text = check(layout, &odd);
    assert!(
        text.contains("\nTestViewsOfTheShop_…\n2 …One,…Two,…Three,other\n\tuncovered\tshop/cart.py::Cart\n"),
        "{text}"
    );
}

#[test]
fn a_sentence_stands_above_the_rows() {
    let symbol = |name: &str, line: u64| {
        json!({"id": format!("shop/cart.py::{name}"), "kind": "method", "name": name.rsplit('.').next().unwrap(),
            "path": "shop/cart.py", "line": line, "score": 0.8, "reason": "shares words with the task: cart"})
    };
    let value = json!({"task": "make the cart\nfaster", "symbols": [symbol("Cart.add", 3), symbol("Cart.drop", 9)],
        "truncated": false, "etag": "85316f01"});
    let text = check(&wire::answers::SmartContext::LAYOUT, &value);
    assert!(text.contains("\n\ttask\tmake the cart\\nfaster\n"), "{text}");
}

#[test]
fn contracts_stand_under_their_type() {
    let layout = &wire::answers::ContractsList::LAYOUT;
    let contract = |kind: &str, method: &str, path: &str, providers: &[&str], consumers: &[&str], service: &str| {
        let id = match method {
            "" => format!("{kind}::{path}"),
            method => format!("{kind}::{method}::{path}"),
        };
        let mut row = json!({"id": id, "type": kind, "path": path, "service": service, "providers": providers,
            "consumers": consumers});
        if !method.is_empty() {
            row["method"] = method.into();
        }
        row
    };
    let (orders, client) = ("shop/api/orders.py", "web/api/client.ts");
    let rows = vec![
        contract(
            "http",
            "GET",
            "/orders/{id}",
            &[&format!("{orders}::show")],
            &[&format!("{client}::load")],
            "shop",
        ),
        contract(
            "http",
            "POST",
            "/orders",
            &[&format!("{orders}::create")],
            &[&format!("{client}::place"), "web/api/cart.ts::repeat"],
            "shop",
        ),
        contract("env", "", "TOKEN", &[], &[client], ""),
    ];
    let value = json!({"contracts": rows, "total": 3, "truncated": false, "etag": "75faf369",
        "inferred": "2 calls of the project's own route"});
    expect![[r#"
        LCX1 tool=contracts.list fields=contract,providers,consumers,service service=shop total=3 etag=75faf369 rows=6
        	inferred	2 calls of the project's own route
        http:
        GET /orders/{id}	shop/api/orders.py::show	web/api/client.ts::load
        POST /orders	::create	::place, cart.ts::repeat
        env:
        TOKEN		client.ts	-
    "#]]
    .assert_eq(&check(layout, &value));
    for odd in [
        contract("http", "GET", "/a b\t", &["x::y"], &[], "-"),
        contract("topic", "", "a b", &["a, b::c"], &[], "s p"),
        contract("topic", "", "x:", &[], &[], ""),
        contract("", "", "", &[""], &["::"], ""),
    ] {
        check(
            layout,
            &json!({"contracts": [odd], "total": 1, "truncated": true, "next_cursor": "a"}),
        );
    }
}

#[test]
fn groups_stand_above_the_symbols_that_stand_for_them() {
    let group = |community: u64, directory: &str, top: &[&str]| json!({"community": community, "size": 40, "cohesion": 1.0, "directory": directory, "top": top});
    let value = json!({
        "communities": [
            group(465, "pkg/volume/csi", &["pkg/volume/plugins.go::Spec", "pkg/volume/plugins.go::Spec.Name",
                "pkg/volume/plugins.go::Spec.Path", "pkg/volume/util/types.go::UniquePodName", "pkg/volume/plugins.go::Mgr"]),
            group(7, "", &["pkg/volume/plugins.go::Mgr.find", "main.go::main"]),
            group(8, "a folder", &[]),
        ],
        "modularity": -0.25, "total": 9, "truncated": true, "next_cursor": "Kh8", "incomplete": "4 of 5 files", "etag": "e1",
    });
    let text = check(&Layout::generic("communities"), &value);
    expect![[r#"
        LCX1 tool=communities fields=community+size+cohesion+directory,symbols modularity=-0.25 total=9 next_cursor=Kh8 etag=e1 truncated=true rows=9
        	incomplete	4 of 5 files
        465 40 1.0 pkg/volume/csi
        pkg/volume/plugins.go	Spec,Spec.Name,.Path
        ./util/types.go	UniquePodName
        pkg/volume/plugins.go	Mgr
        7 40 1.0 
        	Mgr.find
        /main.go	main
        8 40 1.0 a folder
    "#]]
    .assert_eq(&text);
    // What a list of names cannot hold is said otherwise.
    for id in ["a.py::f,g", "a.py", "a b\tc.py::f", "a.py::f::g"] {
        let value = json!({"communities": [group(1, "a", &[id]), group(2, "b", &["a.py::h"])], "modularity": 0.5, "total": 2,
            "truncated": false});
        check(&Layout::generic("communities"), &value);
    }
}

#[test]
fn steps_refer_to_the_symbols_of_those_above() {
    let step = |tool: &str, arguments: Value, why: &str| json!({"tool": tool, "arguments": arguments, "why": why});
    let ids = ["shop/cart.py::Cart.add", "shop/views.py::checkout"];
    let value = json!({
        "steps": [
            step("explain_symbol", json!({"id": ids[0]}), "what surrounds it: shares words: cart"),
            step("explain_symbol", json!({"id": ids[1]}), "what surrounds it: shares words: check"),
            step("context_for_task", json!({"task": "change\tthe cart"}), "sources"),
            step("blast_radius", json!({"symbols": ids}), "what may break"),
            step("get_repo_outline", json!({}), ""),
        ],
        "incomplete": "4 of 5 files", "etag": "e1",
    });
    let text = check(&Layout::generic("plan_turn"), &value);
    expect![[r#"
        LCX1 tool=plan_turn fields=tool+argument,why etag=e1 rows=6
        	incomplete	4 of 5 files
        explain_symbol id=shop/cart.py::Cart.add	what surrounds it: shares words: cart
        explain_symbol id=shop/views.py::checkout	…: shares words: check
        context_for_task task=change\tthe cart	sources
        blast_radius symbols=@1,@2	what may break
        get_repo_outline	
    "#]]
    .assert_eq(&text);
    for arguments in [
        json!({"id": "@1"}),
        json!({"symbols": ["unknown"]}),
        json!({"id": "a", "depth": 2}),
        json!({"symbols": [""]}),
        json!({"a=b": "c"}),
    ] {
        let steps = [step("x", json!({}), "…"), step("y", arguments, "a: b")];
        check(&Layout::generic("plan_turn"), &json!({"steps": steps}));
    }
}
