//! `find`: the places that are meant, with their lines, within a budget.

use std::fs;

use codeintel::Workspace;
use codeintel::find::{Find, Found, LAYOUT, find};
use wire::Format;
use wire::tokens::Tokenizer;

use crate::common::indexed;

/// A shop in two languages, with tests, documents and copies.
fn shop() -> (tempfile::TempDir, Workspace) {
    let folder = tempfile::tempdir().unwrap();
    let mut long = String::from("def checkout(cart, customer):\n    \"\"\"Sells what is in a cart.\"\"\"\n");
    for number in 0..60 {
        long.push_str(&format!("    step_{number}(cart)\n"));
        if number == 40 {
            long.push_str("    if customer.voucher is not None:\n        for item in cart.items:\n");
            long.push_str("            item.price = apply_discount(item.price, customer.voucher)\n");
        }
    }
    long.push_str("    raise PaymentRefused(f\"payment of {cart.total} refused by the bank\")\n");
    let copy = "    total = 0\n    for item in items:\n        total += item.weight\n    total = round(total)\n    return total\n";
    let files = [
        ("shop/checkout.py", long),
        (
            "shop/parcels.py",
            format!("def parcel_weight(items):\n{copy}\n\ndef pallet_weight(items):\n{copy}"),
        ),
        (
            "shop/settings.py",
            "class Settings:\n    def max_body_size(self):\n        return self.body\n\n    def max_header_size(self):\n        return self.header\n"
                .to_owned(),
        ),
        (
            "web/cart.js",
            "export function renderCart(cart) {\n  const limit = maxBodySize(cart)\n  return draw(cart, limit)\n}\n".to_owned(),
        ),
        (
            "tests/test_checkout.py",
            "def test_voucher_discount_is_applied():\n    cart = voucher_cart()\n    assert apply_discount(cart)\n".to_owned(),
        ),
        ("docs/vouchers.md", "# Vouchers\n\nA voucher gives a discount on the price of each item.\n".to_owned()),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let workspace = indexed(folder.path());
    (folder, workspace)
}

fn ask(workspace: &Workspace, query: &str) -> Found {
    asked(workspace, query, None, 1_000)
}

fn asked(workspace: &Workspace, query: &str, cursor: Option<String>, max_tokens: usize) -> Found {
    let ask = Find {
        query: query.to_owned(),
        cursor,
        ..Find::default()
    };
    find(workspace, &ask, max_tokens).unwrap_or_else(|error| panic!("{query}: {error}"))
}

fn text(found: &Found) -> String {
    let value = serde_json::to_value(found).unwrap();
    wire::encode(&value, &LAYOUT, Format::Text, Tokenizer::O200k)
        .unwrap()
        .text
}

fn first(found: &Found) -> (&str, &str) {
    let place = found.places.first().unwrap();
    (&place.path, &place.name)
}

#[test]
fn a_task_finds_the_function_and_in_it_the_lines_with_their_conditions() {
    let (_folder, workspace) = shop();
    let found = ask(&workspace, "the discount of a voucher is applied to the wrong price");
    assert_eq!(first(&found), ("shop/checkout.py", "checkout"));
    let lines: Vec<&str> = found.places[0].lines.iter().map(|line| line.text.trim()).collect();
    for line in [
        "def checkout(cart, customer):",
        "if customer.voucher is not None:",
        "for item in cart.items:",
        "item.price = apply_discount(item.price, customer.voucher)",
    ] {
        assert!(lines.contains(&line), "{line}: {lines:?}");
    }
    assert!(lines.len() <= 20);
    // Tests are counted, documents stand behind.
    assert!(found.folded_tests >= 1 && found.places.iter().all(|place| !place.path.starts_with("tests/")));
    let written = text(&found);
    assert!(
        written.starts_with("shop/checkout.py:1-66  checkout\n1\tdef checkout"),
        "{written}"
    );
    assert!(
        written.contains("tests, folded: ") && written.contains("tests/test_checkout.py"),
        "{written}"
    );
}

#[test]
fn identifiers_are_found_in_any_spelling() {
    let (_folder, workspace) = shop();
    for spelling in [
        "max_body_size",
        "maxBodySize",
        "MAX_BODY_SIZE",
        "max-body-size",
        "Settings.max_body_size",
    ] {
        let found = ask(&workspace, spelling);
        let place = &found.places[0];
        assert_eq!(place.path, "shop/settings.py", "{spelling}");
        assert!(
            place.name.starts_with("Settings.max_body_size"),
            "{spelling}: {}",
            place.name
        );
        // Where it is used comes as well.
        assert!(
            found.places.iter().any(|place| place.path == "web/cart.js"),
            "{spelling}"
        );
    }
    let found = ask(&workspace, "no_such_identifier_here");
    assert!(found.note.is_some() || found.places.is_empty(), "{found:?}");
}

#[test]
fn messages_traces_and_paths_lead_to_their_places() {
    let (_folder, workspace) = shop();
    let found = ask(&workspace, "payment of 12.50 refused by the bank");
    assert_eq!(first(&found), ("shop/checkout.py", "checkout"));
    assert!(
        found.places[0]
            .lines
            .iter()
            .any(|line| line.text.contains("raise PaymentRefused"))
    );
    // As a log has it, and as it was thrown.
    for message in [
        "2026-03-04 11:22:33,123 ERROR shop.bank - payment of 12.50 refused by the bank",
        r#"{"level":"error","ts":1709551353.1,"msg":"payment of 12.50 refused by the bank"}"#,
        "shop.errors.PaymentRefused: payment of 12.50 refused by the bank",
    ] {
        let found = ask(&workspace, message);
        assert_eq!(first(&found), ("shop/checkout.py", "checkout"), "{message}");
    }
    let trace = "Traceback (most recent call last):\n  File \"/srv/app/main.py\", line 3, in main\n    run()\n  \
                 File \"/srv/app/shop/settings.py\", line 6, in max_header_size\n    return self.header\n\
                 AttributeError: 'Settings' object has no attribute 'header'\n";
    let found = ask(&workspace, trace);
    assert_eq!(found.places[0].path, "shop/settings.py");
    assert!(found.places[0].lines.iter().any(|line| line.line == 6));
    for (query, path, line) in [
        ("shop/checkout.py:44", "shop/checkout.py", 44),
        ("checkout.py:44", "shop/checkout.py", 44),
        ("web/cart.js", "web/cart.js", 1),
    ] {
        let found = ask(&workspace, query);
        assert_eq!(found.places[0].path, path, "{query}");
        assert!(
            found.places[0].lines.iter().any(|shown| shown.line == line),
            "{query}: {found:?}"
        );
        assert!(found.note.is_none(), "{query}: {found:?}");
    }
}

#[test]
fn near_copies_and_small_functions_are_one_place() {
    let (_folder, workspace) = shop();
    let found = ask(&workspace, "the weight of items is rounded");
    let all = || found.places.iter().chain(&found.more);
    let weights: Vec<_> = all().filter(|place| place.path == "shop/parcels.py").collect();
    assert_eq!(weights.len(), 1, "{found:?}");
    assert_eq!(weights[0].alike.len(), 1, "{found:?}");
    let found = ask(&workspace, "sizes of body and header in the settings");
    assert_eq!(
        first(&found),
        ("shop/settings.py", "Settings.max_body_size, Settings.max_header_size")
    );
}

#[test]
fn a_page_keeps_to_its_budget_and_the_next_goes_on() {
    let (_folder, workspace) = shop();
    for budget in [60, 120, 300, 1_000] {
        let mut cursor = None;
        let mut seen: Vec<String> = Vec::new();
        for _ in 0..20 {
            let found = asked(&workspace, "cart items voucher weight settings", cursor.take(), budget);
            let cost = Tokenizer::O200k.count(&text(&found));
            assert!(cost <= budget, "{cost} of {budget}:\n{}", text(&found));
            for place in &found.places {
                let name = format!("{}:{}", place.path, place.first);
                assert!(!seen.contains(&name), "{name} twice");
                seen.push(name);
            }
            cursor = found.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert!(cursor.is_none() && seen.len() >= 4, "{budget}: {seen:?}");
    }
    let again = || text(&ask(&workspace, "cart items voucher"));
    assert_eq!(again(), again());
}

#[test]
fn no_budget_is_exceeded_by_a_token() {
    let (_folder, workspace) = shop();
    for query in [
        "cart items voucher weight settings",
        "maxBodySize",
        "nothing of this is there: qwertz",
        "the weight of items is rounded",
        "payment of 12.50 refused by the bank",
        "shop/checkout.py:44",
    ] {
        for budget in (50..400).chain((400..2_000).step_by(61)) {
            let found = asked(&workspace, query, None, budget);
            let cost = Tokenizer::O200k.count(&text(&found));
            assert!(cost <= budget, "{query}: {cost} of {budget}:\n{}", text(&found));
            assert!(!found.places.is_empty(), "{query}: {budget}");
        }
    }
}

#[test]
fn a_question_for_tests_lists_them() {
    let (_folder, workspace) = shop();
    let found = ask(&workspace, "test of the voucher discount");
    assert_eq!(found.places[0].path, "tests/test_checkout.py");
    assert_eq!(found.folded_tests, 0);
}

#[test]
fn hostile_questions_are_answered_or_refused() {
    let (_folder, workspace) = shop();
    for empty in ["", "  \n\t "] {
        let ask = Find {
            query: empty.to_owned(),
            ..Find::default()
        };
        assert!(find(&workspace, &ask, 1_000).is_err());
    }
    let huge = "voucher discount of a cart ".repeat(200_000);
    for query in [
        huge.as_str(),
        "\u{0}\u{1b}[31mvoucher\u{7}\u{202e}",
        "../../../../etc/passwd",
        "/etc/passwd:1",
        "..\\..\\windows\\system.ini:4",
        "((((((((((((",
        "%s%n{}${jndi}",
        "🦀🦀🦀",
        "price'; DROP TABLE carts; --",
        "a.py:99999999999999999999",
        "shop/checkout.py:0",
        "shop/checkout.py:4000000000",
        "是什么 折扣 价格",
    ] {
        let found = asked(&workspace, query, None, 600);
        for place in found.places.iter().chain(&found.more) {
            assert!(!place.path.starts_with(['/', '.']), "{query:.40}: {place:?}");
        }
        assert!(Tokenizer::O200k.count(&text(&found)) <= 600);
    }
    let wrong = Find {
        query: "voucher".to_owned(),
        cursor: Some("nonsense".to_owned()),
        ..Find::default()
    };
    assert!(find(&workspace, &wrong, 1_000).is_err());
}
