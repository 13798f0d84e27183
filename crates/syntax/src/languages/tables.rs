//! Every table is sound: it compiles without a mistake, and each node kind it names is one of some grammar that uses it.

use super::{LANGUAGES, Language};
use crate::engine::unknown_kinds;

#[test]
fn tables_have_no_mistakes() {
    for language in &LANGUAGES {
        assert_eq!(language.rules().mistakes, Vec::<String>::new(), "{}", language.name());
    }
}

#[test]
fn tables_name_node_kinds_that_exist() {
    let mut unknown = Vec::new();
    for language in &LANGUAGES {
        let shares = |other: &&Language| other.rules_text == language.rules_text;
        let grammars: Vec<tree_sitter::Language> = LANGUAGES.iter().filter(shares).map(Language::grammar).collect();
        unknown.extend(
            unknown_kinds(language.rules_text, &grammars)
                .into_iter()
                .map(|kind| (language.name(), kind)),
        );
    }
    assert_eq!(unknown, []);
}

#[test]
fn names_and_extensions_are_told_apart() {
    for (at, language) in LANGUAGES.iter().enumerate() {
        for other in &LANGUAGES[..at] {
            assert_ne!(language.name(), other.name());
            for extension in language.extensions() {
                assert!(
                    !other.extensions().contains(extension),
                    "{extension}: {} and {}",
                    language.name(),
                    other.name()
                );
            }
        }
    }
}
