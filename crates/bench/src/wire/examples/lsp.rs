//! Answers without a layout of their own, as language servers and small tools give them: nested ranges, lists of places, a few facts.

use serde_json::{Value, json};

use super::super::cases::Case;
use super::shop::{self, Symbol};

pub(super) fn cases() -> Vec<Case> {
    vec![
        case("find_references 6", references(6)),
        case("find_references 80", references(80)),
        case("get_diagnostics 1", diagnostics(1)),
        case("get_diagnostics 30", diagnostics(30)),
        case("list_symbols 40", list_symbols(40)),
        case("symbol_hierarchy 5", hierarchy(5)),
        case("index_status", status()),
        case("error", error()),
        case("hover", hover()),
    ]
}

/// The tool is the name's first word.
fn case(name: &str, value: Value) -> Case {
    Case {
        name: name.to_owned(),
        tool: name.split(' ').next().unwrap_or(name).to_owned(),
        layout: None,
        value,
    }
}

fn references(rows: u64) -> Value {
    let places = shop::symbols(700, rows).map(|symbol| {
        json!({
            "file": symbol.path(), "line": symbol.line(), "character": 4 + symbol.0 % 40,
            "text": format!("    {}({}, retry=True)", symbol.name(), symbol.noun().to_lowercase()),
        })
    });
    places.collect()
}

fn diagnostics(rows: u64) -> Value {
    const MESSAGES: [(&str, &str, u64); 4] = [
        ("unused variable `previous`", "unused_variables", 2),
        (
            "type `None` is not assignable to declared type \"str\"",
            "reportAssignmentType",
            1,
        ),
        ("expected `;`, found `}`", "E0765", 1),
        ("'retry' is deprecated: use retryWith", "6385", 3),
    ];
    let findings = shop::symbols(800, rows).map(|symbol| {
        let (message, code, severity) = MESSAGES[(symbol.0 / 3 % 4) as usize];
        let (line, start) = (symbol.line(), symbol.0 % 24);
        json!({
            "file": symbol.path(),
            "range": {"start": {"line": line, "character": start}, "end": {"line": line, "character": start + 8}},
            "severity": severity, "code": code, "source": "compiler", "message": message,
        })
    });
    json!({"diagnostics": findings.collect::<Vec<_>>(), "total": rows, "complete": true})
}

fn list_symbols(rows: u64) -> Value {
    let symbols = (0..rows).map(|row| {
        let symbol = Symbol(6 + row * shop::PER_ROUND);
        json!({"name": symbol.name(), "kind": symbol.kind(), "range": {"start": row * 21 + 8, "end": row * 21 + 24}, "detail": symbol.signature()})
    });
    symbols.collect()
}

/// Objects in objects, which no table holds.
fn hierarchy(depth: u64) -> Value {
    (0..depth).rev().fold(json!([]), |below, level| {
        let (first, second) = (Symbol(900 + level), Symbol(930 + level));
        json!([
            {"name": first.name(), "path": first.path(), "line": first.line(), "subtypes": below},
            {"name": second.name(), "path": second.path(), "line": second.line(), "subtypes": []},
        ])
    })
}

fn status() -> Value {
    json!({
        "ready": true, "files": 4211, "symbols": 19881, "edges": 74302, "languages": ["go", "typescript", "python", "rust"],
        "index": {"bytes": 18_350_080, "format": 31, "built_ms": 5120}, "watching": true, "last_change": null,
    })
}

fn error() -> Value {
    json!({
        "error": "no symbol `payment.Gateway.Chargee`",
        "hint": "did you mean `internal/payment/gateway.go::Gateway.ChargePayment`? Search with search_symbols.",
    })
}

fn hover() -> Value {
    let contents = "```go\nfunc (r *Gateway) PublishCart(ctx context.Context, in Cart) error\n```\n\nPublishCart sends the cart to whoever subscribed.\nIt returns [ErrClosed] after Close.";
    json!({"contents": contents, "range": {"start": {"line": 41, "character": 6}, "end": {"line": 41, "character": 17}}})
}
