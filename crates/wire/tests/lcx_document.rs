//! Runs every example of `docs/formats/lcx.md`: it is read, written again as it stands, and refused wherever it is cut.

use wire::Format;
use wire::layout::Layout;
use wire::tokens::Tokenizer;

#[test]
fn the_examples_are_true_and_a_cut_one_is_refused() {
    let page = include_str!("../../../docs/formats/lcx.md");
    let mut tools = Vec::new();
    for block in page.split("\n```").skip(1).step_by(2) {
        let (language, body) = block.split_once('\n').expect("a block names its language");
        assert_eq!(language, "lcx");
        let text = format!("{body}\n");
        let tool = text["LCX1 tool=".len()..].split(' ').next().expect("a tool");
        let value = wire::decode(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        let generic = Layout::generic(tool);
        let layout = wire::answers::layout_of(tool).unwrap_or(&generic);
        let again = wire::encode(&value, layout, Format::Lcx, Tokenizer::O200k).unwrap();
        // The order of the header's entries means nothing.
        let words = |text: &str| {
            let (header, body) = text.split_once('\n').unwrap();
            let mut words: Vec<String> = header.split(' ').map(str::to_owned).collect();
            words.sort();
            (words, body.to_owned())
        };
        assert_eq!(words(&again.text), words(&text), "{value}");
        for end in (0..text.len()).filter(|end| text.is_char_boundary(*end)) {
            // A text that is cut before its tag ends is no LCX1 at all.
            let cut = &text[..end];
            assert!(wire::decode(cut).is_err(), "{cut}");
        }
        // Nor do lines in the middle go unnoticed.
        let lines: Vec<&str> = text.lines().collect();
        if lines.len() > 2 {
            let without: String = [&lines[..1], &lines[2..]]
                .concat()
                .iter()
                .map(|line| format!("{line}\n"))
                .collect();
            assert!(wire::decode(&without).is_err(), "{without}");
        }
        assert!(
            wire::gcx::from_str(&text).is_err(),
            "a decoder of GCX1 takes it for a table"
        );
        tools.push(tool.to_owned());
    }
    assert!(tools.len() >= 13, "{tools:?}");
}
