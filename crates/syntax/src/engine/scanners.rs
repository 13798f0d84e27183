//! Grammars as they are used: with a guard around what their own scanners write (`scanners.c`).

#![expect(unsafe_code, reason = "grammars and their scanners are C")]

use std::sync::atomic::{AtomicU32, Ordering};

use tree_sitter::Language;
use tree_sitter::ffi::TSLanguage;
use tree_sitter_language::LanguageFn;

unsafe extern "C" {
    fn lacon_syntax_guarded(language: *const TSLanguage, number: u32) -> *const TSLanguage;
}

/// A grammar with a guard of its own. To be called once for each language, and its result kept.
pub(crate) fn guarded(grammar: LanguageFn) -> Language {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let number = NEXT.fetch_add(1, Ordering::Relaxed);
    // Safe because grammars are static, a number is given out once, and the copy lives as long as the process.
    unsafe { Language::from_raw(lacon_syntax_guarded(grammar.into_raw()().cast(), number)) }
}
