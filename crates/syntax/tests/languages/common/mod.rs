//! What tests of all languages share.

use expect_test::Expect;

/// Compares the dump of the facts of `text` with `expect`, and sees that they survive encoding.
pub(crate) fn check(language: &str, text: &str, expect: Expect) {
    let language = syntax::languages::by_name(language).expect("a language of the registry");
    let facts = syntax::extract(language, text);
    let decoded = syntax::FileFacts::decode(&facts.encode()).expect("encoded facts decode");
    assert_eq!(facts, decoded);
    expect.assert_eq(&facts.dump());
}
