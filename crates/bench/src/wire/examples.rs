//! The built-in cases: answers of each tool about a made-up shop, from one row to some hundred. They are generated, so that
//! the benchmark needs no file, and are the same in every run.

mod lsp;
mod shop;

use serde::Serialize;
use terminal::failure::Failure;
use wire::answers::{
    Answer, BatchSymbol, BatchSymbols, Community, ContextPack, Contract, ContractsList, ContractsOrphans, Cycle,
    CycleCut, Cycles, DeadCode, DeadSymbol, Edge, EditingContext, EditingTarget, FileSummary, FindUsages, FoundSymbol,
    Hotspot, Hotspots, LanguageShare, Orphan, OutlineHotspot, PackEdge, PackSource, PackSymbol, RelevantSymbol,
    RepoOutline, SearchSymbols, SmartContext, SubGraph, SummarySymbol, SymbolSource, Usage,
};
use wire::layout::Layout;

use super::cases::Case;
use shop::Symbol;

/// Every built-in case, tool by tool, small before large.
pub(crate) fn cases() -> Result<Vec<Case>, Failure> {
    let mut cases = Vec::new();
    for rows in [0, 4, 20, 100] {
        cases.push(answer(&format!("search_symbols {rows}"), &search_symbols(rows))?);
    }
    cases.push(answer(
        "get_symbol_source short",
        &symbol_source(31, shop::SHORT_SOURCE),
    )?);
    cases.push(answer("get_symbol_source long", &symbol_source(2, shop::LONG_SOURCE))?);
    cases.push(answer("batch_symbols 6", &batch_symbols(6))?);
    for rows in [3, 40, 300] {
        cases.push(answer(&format!("find_usages {rows}"), &find_usages(rows))?);
    }
    cases.push(answer("get_file_summary 24", &file_summary(24))?);
    for (rows, tool, layout) in [
        (5, "get_callers", &SubGraph::GET_CALLERS),
        (30, "get_callers", &SubGraph::GET_CALLERS),
        (15, "get_call_chain", &SubGraph::GET_CALL_CHAIN),
        (12, "get_dependencies", &SubGraph::GET_DEPENDENCIES),
        (60, "get_dependents", &SubGraph::GET_DEPENDENTS),
        (6, "find_implementations", &SubGraph::FIND_IMPLEMENTATIONS),
    ] {
        cases.push(case(&format!("{tool} {rows}"), layout, &subgraph(rows))?);
    }
    cases.push(answer("get_editing_context", &editing_context())?);
    cases.push(answer("smart_context 12", &smart_context(12))?);
    for (name, layout, rows) in [
        ("context_for_task 18", &ContextPack::CONTEXT_FOR_TASK, 18),
        ("blast_radius 40", &ContextPack::BLAST_RADIUS, 40),
    ] {
        cases.push(case(name, layout, &context_pack(rows))?);
    }
    cases.push(answer("analyze.dead_code 16", &dead_code(16))?);
    cases.push(answer("analyze.hotspots 20", &hotspots(20))?);
    cases.push(answer("analyze.cycles 4", &cycles())?);
    cases.push(answer("contracts.list 14", &contracts(14))?);
    cases.push(answer("contracts.orphans 5", &orphans(5))?);
    cases.push(answer("get_repo_outline", &repo_outline())?);
    cases.extend(lsp::cases());
    Ok(cases)
}

fn answer<T: Answer>(name: &str, answer: &T) -> Result<Case, Failure> {
    case(name, const { &T::LAYOUT }, answer)
}

fn case<T: Serialize>(name: &str, layout: &'static Layout<'static>, answer: &T) -> Result<Case, Failure> {
    Ok(Case {
        name: name.to_owned(),
        tool: layout.tool.to_owned(),
        layout: Some(layout),
        value: serde_json::to_value(answer)?,
    })
}

fn search_symbols(rows: u64) -> SearchSymbols {
    let found = |symbol: Symbol| FoundSymbol {
        sig: symbol.has_signature().then(|| symbol.signature()),
        kind: symbol.kind().into(),
        line: symbol.line(),
        id: symbol.id(),
        name: symbol.name(),
        path: symbol.path().into(),
    };
    SearchSymbols {
        results: shop::symbols(0, rows).map(found).collect(),
        total: rows * 3,
        truncated: rows > 0,
        next_cursor: (rows > 0).then(|| format!("o{rows}")),
        ..SearchSymbols::default()
    }
}

fn symbol_source(number: u64, source: &str) -> SymbolSource {
    let symbol = Symbol(number);
    SymbolSource {
        kind: symbol.kind().into(),
        name: symbol.name(),
        path: symbol.path().into(),
        start_line: symbol.line(),
        end_line: symbol.line() + source.lines().count() as u64 - 1,
        from_line: symbol.line(),
        sig: Some(symbol.signature()),
        etag: symbol.etag(),
        id: symbol.id(),
        source: source.into(),
    }
}

fn batch_symbols(rows: u64) -> BatchSymbols {
    let found = |symbol: Symbol| match symbol.0 % 5 {
        4 => BatchSymbol {
            id: symbol.id(),
            error: Some(format!("no symbol `{}`: it may have been renamed", symbol.id())),
            ..BatchSymbol::default()
        },
        _ => BatchSymbol {
            kind: Some(symbol.kind().into()),
            name: Some(symbol.name()),
            path: Some(symbol.path().into()),
            start_line: Some(symbol.line()),
            end_line: Some(symbol.line() + 14),
            sig: Some(symbol.signature()),
            id: symbol.id(),
            ..BatchSymbol::default()
        },
    };
    BatchSymbols {
        symbols: shop::symbols(40, rows).map(found).collect(),
        total: rows,
        etag: Some("5d0c77e1".into()),
    }
}

fn find_usages(rows: u64) -> FindUsages {
    let used = Symbol(7).id();
    let usage = |symbol: Symbol| Usage {
        to: used.clone(),
        edge_kind: ["calls", "calls", "references"][(symbol.0 % 3) as usize].into(),
        origin: symbol.origin().into(),
        confidence: symbol.confidence(),
        from_name: symbol.name(),
        from_path: symbol.path().into(),
        from_line: symbol.line(),
        from: symbol.id(),
    };
    FindUsages {
        usages: shop::symbols(60, rows).map(usage).collect(),
        total: rows,
        ..FindUsages::default()
    }
}

fn file_summary(rows: u64) -> FileSummary {
    // All of one file: every symbol of a file comes back after as many as there are files.
    let symbols = (0..rows).map(|row| Symbol(3 + row * shop::PER_ROUND));
    let summary = symbols.enumerate().map(|(row, symbol)| SummarySymbol {
        kind: symbol.kind().into(),
        line: row as u64 * 17 + 9,
        sig: symbol.has_signature().then(|| symbol.signature()),
        id: symbol.id(),
        name: symbol.name(),
    });
    FileSummary {
        symbols: summary.collect(),
        total_nodes: rows,
        total_edges: rows * 6,
        etag: Some("a91b04cc".into()),
        ..FileSummary::default()
    }
}

fn subgraph(rows: u64) -> SubGraph {
    let nodes: Vec<Symbol> = shop::symbols(100, rows).collect();
    // Each but the first is reached from one nearer to it, as in any walk.
    let edge = |(place, symbol): (usize, &Symbol)| Edge {
        from: symbol.id(),
        to: nodes[place / 3].id(),
        kind: ["calls", "references", "calls", "instantiates"][place % 4].into(),
        origin: symbol.origin().into(),
        confidence: symbol.confidence(),
        label: (place % 2 == 0).then(|| symbol.line().to_string()),
    };
    let edges: Vec<Edge> = nodes.iter().enumerate().skip(1).map(edge).collect();
    SubGraph {
        total_nodes: rows,
        total_edges: edges.len() as u64,
        edges,
        nodes: nodes.iter().map(Symbol::node).collect(),
        ..SubGraph::default()
    }
}

fn editing_context() -> EditingContext {
    let symbol = Symbol(22);
    EditingContext {
        target: Some(EditingTarget {
            id: symbol.id(),
            kind: symbol.kind().into(),
            name: symbol.name(),
            path: symbol.path().into(),
            start_line: symbol.line(),
            end_line: symbol.line() + 27,
            sig: Some(symbol.signature()),
            etag: symbol.etag(),
        }),
        callers: shop::symbols(23, 6).map(|symbol| symbol.node()).collect(),
        dependencies: shop::symbols(70, 4).map(|symbol| symbol.node()).collect(),
        tests: vec![
            "tests/payment/gateway_test.go".into(),
            "tests/payment/refund_test.go".into(),
        ],
        ..EditingContext::default()
    }
}

fn smart_context(rows: u64) -> SmartContext {
    const REASONS: [&str; 4] = [
        "named in the task",
        "calls what is named in the task",
        "same file, and changed together in 4 of 9 commits",
        "similar words: refund, partial, amount",
    ];
    let relevant = |(place, symbol): (usize, Symbol)| RelevantSymbol {
        kind: symbol.kind().into(),
        name: symbol.name(),
        path: symbol.path().into(),
        line: symbol.line(),
        score: (95 - place as u64 * 5) as f64 / 100.0,
        reason: REASONS[place % REASONS.len()].into(),
        id: symbol.id(),
    };
    SmartContext {
        task: "allow partial refunds: the amount may be less than what was paid, and the mail says what is left".into(),
        symbols: shop::symbols(18, rows).enumerate().map(relevant).collect(),
        ..SmartContext::default()
    }
}

fn context_pack(rows: u64) -> ContextPack {
    let symbols: Vec<Symbol> = shop::symbols(9, rows).collect();
    let distance = |place: usize| (place as u64 * 3 / rows).min(2);
    let pack = |(place, symbol): (usize, &Symbol)| PackSymbol {
        id: symbol.id(),
        kind: symbol.kind().into(),
        score: (97 - place as u64 * 2) as f64 / 100.0,
        provenance: format!("{}~{}", symbol.origin(), symbol.etag()),
        distance: distance(place),
    };
    let edge = |(place, symbol): (usize, &Symbol)| PackEdge {
        from: symbol.id(),
        to: symbols[place / 2].id(),
        kind: ["calls", "references"][place % 2].into(),
    };
    let source = |symbol: &Symbol| PackSource {
        id: symbol.id(),
        form: "signature".into(),
        line: symbol.line(),
        text: symbol.signature(),
    };
    ContextPack {
        edges: symbols.iter().enumerate().skip(1).map(edge).collect(),
        sources: symbols.iter().take(8).map(source).collect(),
        symbols: symbols.iter().enumerate().map(pack).collect(),
        budget: 4000,
        tokens: 1200 + rows * 20,
        pack_root: "sha256:5feceb66ffc86f38d952786c6d696c79c2dbc239dd4e91b46729d73a27fb57e9".into(),
        total: rows * 2,
        truncated: true,
        ..ContextPack::default()
    }
}

fn dead_code(rows: u64) -> DeadCode {
    const REASONS: [&str; 3] = [
        "nothing refers to it",
        "only tests refer to it",
        "only dead code refers to it",
    ];
    let dead = |symbol: Symbol| DeadSymbol {
        kind: symbol.kind().into(),
        name: symbol.name(),
        path: symbol.path().into(),
        line: symbol.line(),
        reason: REASONS[(symbol.0 / 2 % 3) as usize].into(),
        id: symbol.id(),
    };
    DeadCode {
        symbols: shop::symbols(200, rows).map(dead).collect(),
        total: rows,
        ..DeadCode::default()
    }
}

fn hotspots(rows: u64) -> Hotspots {
    let hot = |(place, symbol): (usize, Symbol)| Hotspot {
        name: symbol.name(),
        path: symbol.path().into(),
        line: symbol.line(),
        fan_in: 214 - place as u64 * 9,
        fan_out: 3 + symbol.0 % 19,
        cross_cut: 1 + symbol.0 % 7,
        score: (992 - place as u64 * 31) as f64 / 10.0,
        id: symbol.id(),
    };
    Hotspots {
        symbols: shop::symbols(300, rows).enumerate().map(hot).collect(),
        total: 1204,
        truncated: true,
        next_cursor: Some(format!("o{rows}")),
        ..Hotspots::default()
    }
}

fn cycles() -> Cycles {
    let cycle = |start: u64, size: u64, severity: &str| Cycle {
        size,
        severity: severity.into(),
        nodes: shop::symbols(start, size).map(|symbol| symbol.id()).collect(),
    };
    let cut = |cycle: u64, start: u64| CycleCut {
        cycle,
        from: Symbol(start).id(),
        to: Symbol(start + 1).id(),
        lines: format!("{},{}", Symbol(start).line() + 4, Symbol(start).line() + 11),
        why: "fewest mentions in the cycle".into(),
    };
    Cycles {
        cycles: vec![
            cycle(410, 7, "high"),
            cycle(420, 4, "medium"),
            cycle(430, 2, "low"),
            cycle(440, 2, "low"),
        ],
        cuts: vec![cut(1, 412), cut(2, 421), cut(3, 430), cut(4, 440)],
        total: 4,
        ..Cycles::default()
    }
}

fn contracts(rows: u64) -> ContractsList {
    const SERVICES: [&str; 4] = ["billing", "cart", "payment", "search"];
    let contract = |symbol: Symbol| {
        let (noun, service) = (symbol.noun().to_lowercase(), SERVICES[(symbol.0 % 4) as usize]);
        let method = ["GET", "POST", "DELETE"].get((symbol.0 % 4) as usize);
        let (kind, path) = match method {
            Some(_) => ("http", format!("/api/v2/{noun}s/{{id}}")),
            None => ("topic", format!("shop.{service}.{noun}-changed")),
        };
        Contract {
            id: format!(
                "{kind}::{}{path}",
                method.map(|method| format!("{method} ")).unwrap_or_default()
            ),
            contract_type: kind.into(),
            method: method.map(ToString::to_string),
            path,
            service: service.into(),
            providers: vec![symbol.id()],
            consumers: shop::symbols(symbol.0 + 30, symbol.0 % 3)
                .map(|symbol| symbol.id())
                .collect(),
        }
    };
    ContractsList {
        contracts: shop::symbols(500, rows).map(contract).collect(),
        total: rows,
        ..ContractsList::default()
    }
}

fn orphans(rows: u64) -> ContractsOrphans {
    let orphan = |symbol: Symbol| Orphan {
        contract_id: format!("http::GET /api/v1/{}s", symbol.noun().to_lowercase()),
        side: ["provider", "consumer"][(symbol.0 % 2) as usize].into(),
        repo: ["shop", "web", "mail"][(symbol.0 % 3) as usize].into(),
        symbol: symbol.id(),
    };
    ContractsOrphans {
        orphans: shop::symbols(600, rows).map(orphan).collect(),
        total: rows,
        ..ContractsOrphans::default()
    }
}

fn repo_outline() -> RepoOutline {
    let languages = [
        ("go", 8204),
        ("typescript", 6110),
        ("python", 3977),
        ("rust", 1502),
        ("sql", 88),
    ];
    let communities = [
        ("payment, refund", 640),
        ("cart, checkout", 512),
        ("search, ranking", 301),
        ("mail", 77),
    ];
    RepoOutline {
        languages: languages
            .map(|(name, nodes)| LanguageShare {
                name: name.into(),
                nodes,
            })
            .into(),
        communities: (0..)
            .zip(communities)
            .map(|(id, (name, size))| Community {
                id,
                name: name.into(),
                size,
                modularity: (68 - id * 7) as f64 / 100.0,
            })
            .collect(),
        hotspots: shop::symbols(300, 6)
            .enumerate()
            .map(|(place, symbol)| OutlineHotspot {
                id: symbol.id(),
                score: (992 - place as u64 * 31) as f64 / 10.0,
            })
            .collect(),
        most_imported: (0..6).map(|file| Symbol(file * 3).path().to_owned()).collect(),
        entry_points: vec!["cmd/shop/main.go::main".into(), "web/src/index.ts::start".into()],
        total_nodes: Some(19_881),
        total_edges: Some(74_302),
        ..RepoOutline::default()
    }
}
