//! Input that nobody writes by hand: extraction finishes, says what it skipped, and gives the same answer twice.

use proptest::prelude::*;
use syntax::{FileFacts, Language, extract, languages};

fn python() -> &'static Language {
    languages::by_name("python").expect("python")
}

fn javascript() -> &'static Language {
    languages::by_name("javascript").expect("javascript")
}

fn sound(language: &'static Language, text: &str) -> FileFacts {
    let facts = extract(language, text);
    // Decoding checks every id.
    assert_eq!(FileFacts::decode(&facts.encode()).expect("sound facts"), facts);
    for reference in &facts.references {
        assert!(reference.at.line >= 1 && reference.at.line <= facts.lines.max(1) + 1);
    }
    for definition in &facts.definitions {
        assert!(definition.span.start <= definition.span.end && definition.span.end as usize <= text.len());
    }
    facts
}

#[test]
fn nothing_at_all() {
    for language in languages::all() {
        for text in ["", "\n", "\0", "\u{feff}", "\r\n\r\n"] {
            sound(language, text);
        }
    }
}

#[test]
fn nesting_a_hundred_thousand_deep() {
    let depth = 100_000;
    let text = format!("x = {}1{}\ndef after(): pass\n", "(".repeat(depth), ")".repeat(depth));
    let facts = sound(python(), &text);
    assert!(!facts.problems.is_empty());
    let text = format!("f({}", "[".repeat(depth));
    sound(javascript(), &text);
    let text = "a.b(".repeat(depth / 10);
    sound(javascript(), &text);
    let text = format!("x = {}", "not ".repeat(depth));
    sound(python(), &text);
}

/// What a grammar's own scanner keeps (levels of indentation, heredocs, strings in strings) has 1,024 bytes in the parser, and some do
/// not look where those end.
#[test]
fn scanners_stay_within_their_bounds() {
    let yaml = languages::by_name("yaml").expect("yaml");
    for depth in [253, 254, 255, 300, 2000] {
        let levels: String = (0..depth).map(|depth| format!("{}a:\n", " ".repeat(depth))).collect();
        sound(yaml, &levels);
        sound(yaml, &format!("{levels}\nafter: 1\n"));
        sound(yaml, &"- ".repeat(depth));
        sound(yaml, &"? ".repeat(depth));
    }
    for depth in 505..515 {
        let levels: String = (0..depth)
            .map(|depth| format!("{}if x:\n", " ".repeat(depth)))
            .collect();
        for string in ["f\"{x}\"", "f\"\"\"{f'{x}'}\"\"\"", "\"\"", "1"] {
            sound(python(), &format!("{levels}{}y = {string}\n", " ".repeat(depth)));
        }
    }
    let repeated = [
        "<a>",
        "<<A\n",
        "<<~A\n",
        "`${",
        "$\"{",
        "%w(",
        "{a|",
        "f\"{",
        "R\"x(",
        "r#\"",
        "do\n ",
        "begin\n ",
        "(",
        "[",
        "{",
        "> ",
        "* ",
        "$a$",
        "#{\"",
        "case x of\n ",
        "#if A\n",
        "\"\"\"",
        "'''",
        "[==[",
        "--[[",
        "/*",
    ];
    for language in languages::all() {
        let levels: String = (0..300).map(|depth| format!("{}a: b\n", " ".repeat(depth))).collect();
        sound(language, &levels);
        for text in repeated {
            sound(language, &text.repeat(300));
        }
    }
}

#[test]
fn deep_subtrees_are_skipped_and_the_rest_is_read() {
    let text = format!("x = {}1{}\ndef after(): pass\n", "(".repeat(3000), ")".repeat(3000));
    let facts = sound(python(), &text);
    assert!(
        facts
            .problems
            .iter()
            .any(|problem| problem.message.contains("nested too deeply"))
    );
    assert!(
        facts
            .definitions
            .iter()
            .any(|definition| facts.text(definition.name) == "after")
    );
}

#[test]
fn one_line_of_ten_megabytes() {
    let mut text = String::with_capacity(10 << 20);
    let filler = "x".repeat(4000);
    while text.len() < (10 << 20) - 8000 {
        text.push_str("f(a.b,\"");
        text.push_str(&filler);
        text.push_str("\");");
    }
    text.push_str("function after(){}");
    let facts = sound(javascript(), &text);
    assert!(
        facts
            .definitions
            .iter()
            .any(|definition| facts.text(definition.name) == "after")
    );
}

/// Lowering something twice at each level would take longer than the universe has been around.
#[test]
fn nested_targets_cost_linear_work() {
    let depth = 400;
    sound(
        javascript(),
        &format!("{}0{}", "a[".repeat(depth), "] += 1".repeat(depth)),
    );
    sound(
        javascript(),
        &format!("{}x{}", "(".repeat(depth), ".y = function () {})".repeat(depth)),
    );
    sound(
        javascript(),
        &format!(
            "{}x{}",
            "Object.assign(".repeat(depth),
            ".prototype, { a() {} })".repeat(depth)
        ),
    );
    sound(
        javascript(),
        &format!(
            "{}x{}",
            "Object.create((y.prototype = ".repeat(depth),
            "))".repeat(depth)
        ),
    );
    sound(
        python(),
        &format!("{}0{} += 1", "a[b(".repeat(depth), ")]".repeat(depth)),
    );
    sound(
        python(),
        &format!("x: {}int{} = 1", "Optional[".repeat(depth), "]".repeat(depth)),
    );
}

#[test]
fn too_large_is_said() {
    let text = "#".repeat(syntax::MAX_SOURCE + 1);
    let facts = sound(python(), &text);
    assert!(facts.problems[0].message.contains("not parsed"));
}

#[test]
fn nul_bytes_and_odd_characters() {
    let facts = sound(python(), "def f():\0\n    é = 'ü'\0\n    g(é)\n\u{2028}def ñ(): pass\n");
    assert!(
        facts
            .definitions
            .iter()
            .any(|definition| facts.text(definition.name) == "f")
    );
}

#[test]
fn broken_code_keeps_what_is_whole() {
    let facts = sound(python(), "def good(): return 1\n\nx = = 3\n\ndef also_good(): good()\n");
    let names: Vec<&str> = facts
        .definitions
        .iter()
        .map(|definition| facts.text(definition.name))
        .collect();
    assert!(names.contains(&"good") && names.contains(&"also_good"), "{names:?}");
    assert!(!facts.problems.is_empty());
}

#[test]
fn columns_are_bytes_and_line_breaks_of_both_kinds_count_once() {
    let facts = sound(python(), "é = 1\r\nü = f('ö'); g()\r\n");
    let calls: Vec<(u32, u32)> = facts
        .references
        .iter()
        .map(|reference| (reference.at.line, reference.at.column))
        .collect();
    assert_eq!(calls, [(2, 5), (2, 14)]);
    assert_eq!(facts.lines, 2);
}

#[test]
fn damaged_bytes_do_not_decode_to_something_unsound() {
    let facts = extract(python(), include_str!("samples/sample.py"));
    let bytes = facts.encode();
    for at in 0..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[at] ^= 0xff;
        if let Ok(facts) = FileFacts::decode(&damaged) {
            facts.dump();
        }
        assert!(FileFacts::decode(&bytes[..at]).is_err());
    }
}

#[test]
fn huge_claims_in_few_bytes_are_refused() {
    let mut bytes = vec![0u8; 16];
    bytes.extend([0xff; 12]);
    assert!(FileFacts::decode(&bytes).is_err());
}

#[test]
fn detection() {
    let name = |path: &str, head: &str| languages::detect(path, head.as_bytes()).map(Language::name);
    assert_eq!(name("a/b/x.py", ""), Some("python"));
    assert_eq!(name("x.PY", ""), Some("python"));
    assert_eq!(name("bin/run", "#!/usr/bin/env -S python3.12 -u\n"), Some("python"));
    assert_eq!(name("bin/run", "#!/usr/bin/node\n"), Some("javascript"));
    assert_eq!(name("x.tsx", ""), Some("tsx"));
    assert_eq!(name("x.d.ts", ""), Some("typescript"));
    assert_eq!(name("x.ts", "<string>make();\n"), Some("typescript"));
    assert_eq!(
        name(
            "app_de.ts",
            "<?xml version=\"1.0\"?>\n<!DOCTYPE TS>\n<TS version=\"2.1\">\n"
        ),
        None
    );
    assert_eq!(
        name("app_de.ts", "\u{feff}<TS version=\"2.1\" language=\"de\">\n"),
        None
    );
    assert_eq!(name("x.unheard-of", ""), None);
    assert_eq!(name("", ""), None);
}

const SAMPLES: &[(&str, &str)] = &[
    ("python", include_str!("samples/sample.py")),
    ("javascript", include_str!("samples/sample.js")),
    ("tsx", include_str!("samples/sample.tsx")),
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    /// Cut, doubled, swapped and overwritten sources never panic and always give the same facts.
    #[test]
    fn mutated_sources(which in 0..SAMPLES.len(), edits in prop::collection::vec((any::<u32>(), any::<u32>(), 0u8..5, any::<char>()), 1..12)) {
        let (name, text) = SAMPLES[which];
        let language = languages::by_name(name).expect("language");
        let mut characters: Vec<char> = text.chars().collect();
        for (at, length, edit, character) in edits {
            if characters.is_empty() {
                break;
            }
            let at = at as usize % characters.len();
            let end = (at + length as usize % 40).min(characters.len());
            match edit {
                0 => { characters.drain(at..end); }
                1 => { let copy: Vec<char> = characters[at..end].to_vec(); characters.splice(at..at, copy); }
                2 => { characters[at] = character; }
                3 => { characters.insert(at, "(){}[]\"'`:;,.\n\\*"[..].chars().nth(length as usize % 16).unwrap_or('(')); }
                _ => { characters.truncate(end.max(1)); }
            }
        }
        let text: String = characters.into_iter().collect();
        let once = sound(language, &text);
        prop_assert_eq!(once, extract(language, &text));
    }

    /// Any text at all, in every language.
    #[test]
    fn arbitrary_text(text in "\\PC{0,200}", which in any::<u32>()) {
        let all = languages::all();
        sound(&all[which as usize % all.len()], &text);
    }
}
