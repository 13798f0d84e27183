//! Every layout: a full answer, its text, and the answer back, equal. The reference page is derived from the same tables.

use expect_test::{expect, expect_file};
use wire::answers::{
    Answer, BatchSymbol, BatchSymbols, Community, Contract, ContractsList, ContractsOrphans, Cycle, Cycles, DeadCode,
    DeadSymbol, Edge, EditingContext, EditingTarget, FileSummary, FindUsages, FoundSymbol, Hotspot, Hotspots, LAYOUTS,
    LanguageShare, Node, Orphan, OutlineHotspot, RelevantSymbol, RepoOutline, SearchSymbols, SmartContext, SubGraph,
    SummarySymbol, SymbolSource, Usage,
};
use wire::gcx;
use wire::layout::Layout;

fn check<T>(layout: &Layout, answer: &T, expected: expect_test::Expect)
where
    T: serde::Serialize + serde::de::DeserializeOwned + PartialEq + std::fmt::Debug,
{
    let text = gcx::to_string_with(layout, answer).unwrap();
    expected.assert_eq(&text);
    assert_eq!(&gcx::from_str_with::<T>(layout, &text).unwrap(), answer);
    // The layout is found from the text alone, and gives the same facts as JSON.
    assert_eq!(wire::decode(&text).unwrap(), serde_json::to_value(answer).unwrap());
}

fn node(id: &str) -> Node {
    Node {
        id: id.into(),
        kind: "function".into(),
        name: "F".into(),
        path: "a.go".into(),
        line: 3,
    }
}

#[test]
fn search_symbols() {
    let symbol = |name: &str, sig: Option<&str>| FoundSymbol {
        id: format!("a.go::{name}"),
        kind: "function".into(),
        name: name.into(),
        path: "a.go".into(),
        line: 3,
        sig: sig.map(Into::into),
    };
    let answer = SearchSymbols {
        results: vec![symbol("F", Some("func F()")), symbol("G", None), symbol("H", Some(""))],
        total: 7,
        ..SearchSymbols::default()
    };
    check(
        &SearchSymbols::LAYOUT,
        &answer,
        expect![[r#"
        GCX1 tool=search_symbols fields=id,kind,name,path,line,sig rows=3 total=7 truncated=false
        a.go::F	function	F	a.go	3	func F()
        a.go::G	function	G	a.go	3	
        a.go::H	function	H	a.go	3	\""
    "#]],
    );
}

#[test]
fn prose_in_the_header_becomes_notes() {
    let answer = SearchSymbols {
        truncated: true,
        next_cursor: Some("eyJvIjoyMH0=".into()),
        incomplete: Some("3 files are still\r\nbeing read".into()),
        ..SearchSymbols::default()
    };
    check(
        &SearchSymbols::LAYOUT,
        &answer,
        expect![[r#"
        GCX1 tool=search_symbols fields=id,kind,name,path,line,sig next_cursor=eyJvIjoyMH0= rows=0 total=0 truncated=true
        GCX1 tool=search_symbols.notes fields=key,value eol=crlf
        incomplete	3 files are still\nbeing read
    "#]],
    );
}

#[test]
fn get_symbol_source() {
    let answer = SymbolSource {
        id: "a.go::F".into(),
        kind: "function".into(),
        name: "F".into(),
        path: "a.go".into(),
        start_line: 3,
        end_line: 5,
        from_line: 1,
        sig: Some("func F()".into()),
        etag: "7c3e1a9f8b2d4e6a".into(),
        source: "func F() {\n\treturn \"\\n\"\n}".into(),
    };
    check(
        &SymbolSource::LAYOUT,
        &answer,
        expect![[r#"
        GCX1 tool=get_symbol_source fields=id,kind,name,path,start_line,end_line,from_line,sig,etag,source
        a.go::F	function	F	a.go	3	5	1	func F()	7c3e1a9f8b2d4e6a	func F() {\n\treturn "\\n"\n}
    "#]],
    );
    let windows = SymbolSource {
        source: "func F() {\r\n}\r\n".into(),
        ..answer.clone()
    };
    let text = gcx::to_string_with(&SymbolSource::LAYOUT, &windows).unwrap();
    assert!(text.contains(" eol=crlf\n"), "{text}");
    assert_eq!(
        gcx::from_str_with::<SymbolSource>(&SymbolSource::LAYOUT, &text).unwrap(),
        windows
    );
    let mixed = SymbolSource {
        source: "one\r\ntwo\nthree\r".into(),
        ..answer
    };
    let text = gcx::to_string_with(&SymbolSource::LAYOUT, &mixed).unwrap();
    assert!(!text.contains('\r') && !text.contains("eol="), "{text}");
    assert_eq!(
        gcx::from_str_with::<SymbolSource>(&SymbolSource::LAYOUT, &text).unwrap(),
        mixed
    );
}

#[test]
fn batch_symbols() {
    let found = BatchSymbol {
        id: "a.go::F".into(),
        kind: Some("function".into()),
        start_line: Some(3),
        ..BatchSymbol::default()
    };
    let missing = BatchSymbol {
        id: "b.go::G".into(),
        error: Some("symbol not found".into()),
        ..BatchSymbol::default()
    };
    let answer = BatchSymbols {
        symbols: vec![found, missing],
        total: 2,
        etag: Some("ffff".into()),
    };
    check(
        &BatchSymbols::LAYOUT,
        &answer,
        expect![[r#"
        GCX1 tool=batch_symbols fields=id,kind,name,path,start_line,end_line,sig,source,error etag=ffff total=2
        a.go::F	function			3				
        b.go::G								symbol not found
    "#]],
    );
}

#[test]
fn find_usages() {
    let usage = |confidence| Usage {
        from: "a.go::F".into(),
        to: "u.go::Get".into(),
        edge_kind: "calls".into(),
        origin: "ast_resolved".into(),
        confidence,
        from_name: "F".into(),
        from_path: "a.go".into(),
        from_line: 3,
    };
    let answer = FindUsages {
        usages: vec![usage(1.0), usage(0.95)],
        total: 2,
        ..FindUsages::default()
    };
    check(
        &FindUsages::LAYOUT,
        &answer,
        expect![[r#"
        GCX1 tool=find_usages fields=from,to,edge_kind,origin,confidence,from_name,from_path,from_line total=2 truncated=false
        a.go::F	u.go::Get	calls	ast_resolved	1	F	a.go	3
        a.go::F	u.go::Get	calls	ast_resolved	0.95	F	a.go	3
    "#]],
    );
}

#[test]
fn get_file_summary() {
    let symbol = SummarySymbol {
        id: "a.go::#x".into(),
        kind: "macro".into(),
        name: "#x".into(),
        line: 1,
        sig: None,
    };
    let answer = FileSummary {
        symbols: vec![
            SummarySymbol {
                id: "#x".into(),
                ..symbol.clone()
            },
            symbol,
        ],
        total_nodes: 2,
        ..FileSummary::default()
    };
    check(
        &FileSummary::LAYOUT,
        &answer,
        expect![[r#"
        GCX1 tool=get_file_summary fields=id,kind,name,line,sig total_edges=0 total_nodes=2 truncated=false
        \#x	macro	#x	1	
        a.go::#x	macro	#x	1	
    "#]],
    );
}

#[test]
fn subgraphs() {
    let edge = Edge {
        from: "a.go::F".into(),
        to: "a.go::G".into(),
        kind: "calls".into(),
        origin: "lsp_resolved".into(),
        confidence: 0.5,
        label: None,
    };
    let answer = SubGraph {
        nodes: vec![node("a.go::F"), node("a.go::G")],
        edges: vec![edge],
        total_nodes: 2,
        total_edges: 1,
        ..SubGraph::default()
    };
    check(
        &SubGraph::GET_CALLERS,
        &answer,
        expect![[r#"
        GCX1 tool=get_callers.nodes fields=id,kind,name,path,line total_edges=1 total_nodes=2 truncated=false
        a.go::F	function	F	a.go	3
        a.go::G	function	F	a.go	3
        GCX1 tool=get_callers.edges fields=from,to,kind,origin,confidence,label
        a.go::F	a.go::G	calls	lsp_resolved	0.5	
    "#]],
    );
    for layout in [
        SubGraph::GET_CALL_CHAIN,
        SubGraph::GET_DEPENDENCIES,
        SubGraph::GET_DEPENDENTS,
        SubGraph::FIND_IMPLEMENTATIONS,
    ] {
        let text = gcx::to_string_with(&layout, &answer).unwrap();
        assert!(text.starts_with(&format!("GCX1 tool={}.nodes ", layout.tool)));
        assert_eq!(gcx::from_str_with::<SubGraph>(&layout, &text).unwrap(), answer);
    }
}

#[test]
fn get_editing_context() {
    let target = EditingTarget {
        id: "a.go::F".into(),
        kind: "function".into(),
        name: "F".into(),
        path: "a.go".into(),
        start_line: 3,
        end_line: 5,
        sig: None,
        etag: "e".into(),
    };
    let answer = EditingContext {
        target: Some(target),
        callers: vec![node("b.go::G")],
        dependencies: vec![],
        tests: vec!["a_test.go".into(), String::new()],
        ..EditingContext::default()
    };
    check(
        &EditingContext::LAYOUT,
        &answer,
        expect![[r#"
        GCX1 tool=get_editing_context.target fields=id,kind,name,path,start_line,end_line,sig,etag truncated=false
        a.go::F	function	F	a.go	3	5		e
        GCX1 tool=get_editing_context.callers fields=id,kind,name,path,line
        b.go::G	function	F	a.go	3
        GCX1 tool=get_editing_context.dependencies fields=id,kind,name,path,line
        GCX1 tool=get_editing_context.tests fields=path,_
        a_test.go	
        	
    "#]],
    );
}

#[test]
fn smart_context() {
    let symbol = RelevantSymbol {
        id: "a.go::F".into(),
        kind: "function".into(),
        name: "F".into(),
        path: "a.go".into(),
        line: 3,
        score: 0.94,
        reason: "similar, and near".into(),
    };
    let answer = SmartContext {
        task: "# add a tool".into(),
        symbols: vec![symbol],
        ..SmartContext::default()
    };
    check(
        &SmartContext::LAYOUT,
        &answer,
        expect![[r#"
        GCX1 tool=smart_context.task fields=task truncated=false
        \# add a tool
        GCX1 tool=smart_context.symbols fields=id,kind,name,path,line,score,reason
        a.go::F	function	F	a.go	3	0.94	similar, and near
    "#]],
    );
}

#[test]
fn analyze() {
    let dead = DeadSymbol {
        id: "a.go::F".into(),
        kind: "function".into(),
        name: "F".into(),
        path: "a.go".into(),
        line: 3,
        reason: "no incoming edges".into(),
    };
    check(
        &DeadCode::LAYOUT,
        &DeadCode {
            symbols: vec![dead],
            total: 1,
            ..DeadCode::default()
        },
        expect![[r#"
        GCX1 tool=analyze.dead_code fields=id,kind,name,path,line,reason total=1 truncated=false
        a.go::F	function	F	a.go	3	no incoming edges
    "#]],
    );
    let hot = Hotspot {
        id: "a.go::F".into(),
        name: "F".into(),
        path: "a.go".into(),
        line: 3,
        fan_in: 4,
        fan_out: 38,
        cross_cut: 12,
        score: 1234567.0,
    };
    check(
        &Hotspots::LAYOUT,
        &Hotspots {
            symbols: vec![hot],
            total: 1,
            ..Hotspots::default()
        },
        expect![[r#"
        GCX1 tool=analyze.hotspots fields=id,name,path,line,fan_in,fan_out,cross_cut,score total=1 truncated=false
        a.go::F	F	a.go	3	4	38	12	1.234567e+06
    "#]],
    );
    let cycle = |nodes: &[&str]| Cycle {
        size: nodes.len() as u64,
        severity: "low".into(),
        nodes: nodes.iter().map(ToString::to_string).collect(),
    };
    let cycles = Cycles {
        cycles: vec![
            cycle(&["a", "b"]),
            cycle(&["f(int, string)", "g"]),
            cycle(&[]),
            cycle(&[""]),
        ],
        total: 4,
        ..Cycles::default()
    };
    check(
        &Cycles::LAYOUT,
        &cycles,
        expect![[r#"
            GCX1 tool=analyze.cycles fields=size,severity,nodes total=4 truncated=false
            2	low	a,b
            2	low	["f(int, string)","g"]
            0	low	
            1	low	[""]
            GCX1 tool=analyze.cycles.cuts fields=cycle,from,to,lines,why
        "#]],
    );
}

#[test]
fn contracts() {
    let contract = Contract {
        id: "topic::orders".into(),
        contract_type: "topic".into(),
        method: None,
        path: "orders".into(),
        service: "orders".into(),
        providers: vec!["p.go::P".into()],
        consumers: vec!["c.ts::a".into(), "d.ts::b".into()],
    };
    check(
        &ContractsList::LAYOUT,
        &ContractsList {
            contracts: vec![contract],
            total: 1,
            ..ContractsList::default()
        },
        expect![[r#"
        GCX1 tool=contracts.list fields=id,type,method,path,service,providers,consumers total=1 truncated=false
        topic::orders	topic		orders	orders	p.go::P	c.ts::a,d.ts::b
    "#]],
    );
    let orphan = Orphan {
        contract_id: "topic::x".into(),
        side: "provider".into(),
        repo: "core".into(),
        symbol: "p.go::P".into(),
    };
    check(
        &ContractsOrphans::LAYOUT,
        &ContractsOrphans {
            orphans: vec![orphan],
            total: 1,
            ..ContractsOrphans::default()
        },
        expect![[r#"
        GCX1 tool=contracts.orphans fields=contract_id,side,repo,symbol total=1 truncated=false
        topic::x	provider	core	p.go::P
    "#]],
    );
}

#[test]
fn get_repo_outline() {
    let answer = RepoOutline {
        languages: vec![LanguageShare {
            name: "go".into(),
            nodes: 35473,
        }],
        communities: vec![Community {
            id: 0,
            name: "core".into(),
            size: 1205,
            modularity: 0.42,
        }],
        hotspots: vec![OutlineHotspot {
            id: "g.go::Add".into(),
            score: 70.6,
        }],
        most_imported: vec!["g.go".into()],
        entry_points: vec![],
        ..RepoOutline::default()
    };
    check(
        &RepoOutline::LAYOUT,
        &answer,
        expect![[r#"
        GCX1 tool=get_repo_outline.languages fields=name,nodes
        go	35473
        GCX1 tool=get_repo_outline.communities fields=id,name,size,modularity
        0	core	1205	0.42
        GCX1 tool=get_repo_outline.hotspots fields=id,score
        g.go::Add	70.6
        GCX1 tool=get_repo_outline.most_imported fields=value
        g.go
        GCX1 tool=get_repo_outline.entry_points fields=value
    "#]],
    );
}

#[test]
fn a_value_that_does_not_fit_its_layout_is_refused() {
    let error = gcx::to_string_with(&Cycles::LAYOUT, &serde_json::json!({"cycles": [{"size": "3"}]})).unwrap_err();
    assert_eq!(
        error.to_string(),
        "found text in the column `size`, expected int (correct the layout or the type)"
    );
    let error = gcx::to_string_with(&Cycles::LAYOUT, &serde_json::json!({"cycles": [], "extra": 1})).unwrap_err();
    assert_eq!(error.kind, gcx::ErrorKind::Schema);
    let text = "GCX1 tool=analyze.cycles fields=size,severity,nodes total=1 truncated=false\nthree\tlow\ta\n";
    let error = gcx::from_str_with::<Cycles>(&Cycles::LAYOUT, text).unwrap_err();
    assert_eq!((error.kind, error.line, error.column), (gcx::ErrorKind::Cell, 2, 1));
}

#[test]
fn every_layout_reads_its_own_header() {
    for layout in LAYOUTS {
        for section in layout.sections {
            assert!(!section.columns.is_empty(), "{}{}", layout.tool, section.suffix);
        }
    }
}

#[test]
fn the_reference_page_is_up_to_date() {
    expect_file!["../../../docs/reference/gcx-layouts.md"].assert_eq(&wire::answers::reference());
}
