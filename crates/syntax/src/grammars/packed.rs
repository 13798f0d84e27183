//! Unpacks the tables of a grammar when its language is first asked for; `build/packed.rs` has packed them.

#![expect(unsafe_code, reason = "grammars are C, and are given their tables")]

use std::sync::OnceLock;

use tree_sitter_language::LanguageFn;
use zerocopy::IntoBytes;

/// A language in C. It is made once and then only read.
struct Unpacked(*const ());

// SAFETY: what it points to is not changed any more, and lives as long as the program.
unsafe impl Send for Unpacked {}
// SAFETY: as above.
unsafe impl Sync for Unpacked {}

/// The function of a parser that makes the language of two tables.
type Make = unsafe extern "C" fn(parse_table: *const u16, small_parse_table: *const u16) -> *const ();

fn unpacked(packed: &[u8], make: Make) -> Unpacked {
    let (head, compressed) = packed.split_at(8);
    let count = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize;
    let (large, all) = (count(0), count(4));
    let mut tables = vec![0u16; all];
    let written = zstd::bulk::decompress_to_buffer(compressed, tables.as_mut_bytes());
    assert_eq!(written.ok(), Some(2 * all), "the tables of a grammar are whole");
    for entry in &mut tables {
        *entry = u16::from_le(*entry);
    }
    // Languages are never given back.
    let tables: &'static [u16] = Box::leak(tables.into_boxed_slice());
    let (large, small) = tables.split_at(large);
    // SAFETY: both tables are those that were taken out of this parser, and they live as long as the program.
    Unpacked(unsafe { make(large.as_ptr(), small.as_ptr()) })
}

macro_rules! packed {
    ($constant:ident, $name:ident, $make:ident, $file:literal) => {
        unsafe extern "C" {
            fn $make(parse_table: *const u16, small_parse_table: *const u16) -> *const ();
        }

        unsafe extern "C" fn $name() -> *const () {
            static LANGUAGE: OnceLock<Unpacked> = OnceLock::new();
            static TABLES: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/", $file, ".tables"));
            LANGUAGE.get_or_init(|| unpacked(TABLES, $make)).0
        }

        // SAFETY: what it gives is the language of a parser that the grammar's generator made.
        pub(crate) const $constant: LanguageFn = unsafe { LanguageFn::from_raw($name) };
    };
}

packed!(C_SHARP, c_sharp, lacon_grammar_c_sharp, "c_sharp");
packed!(CPP, cpp, lacon_grammar_cpp, "cpp");
packed!(KOTLIN, kotlin, lacon_grammar_kotlin, "kotlin");
packed!(RUBY, ruby, lacon_grammar_ruby, "ruby");

#[cfg(feature = "broad")]
pub(crate) use broad::{HASKELL, JULIA, OCAML, SCALA, SWIFT};

#[cfg(feature = "broad")]
mod broad {
    use super::{LanguageFn, OnceLock, Unpacked, unpacked};

    packed!(HASKELL, haskell, lacon_grammar_haskell, "haskell");
    packed!(JULIA, julia, lacon_grammar_julia, "julia");
    packed!(OCAML, ocaml, lacon_grammar_ocaml, "ocaml");
    packed!(SCALA, scala, lacon_grammar_scala, "scala");
    packed!(SWIFT, swift, lacon_grammar_swift, "swift");
}

#[cfg(all(test, feature = "broad"))]
mod tests {
    use tree_sitter::Language;
    use tree_sitter_language::LanguageFn;

    /// Every state of both parsers leads to the same state by every symbol, and expects the same symbols.
    #[test]
    fn packed_grammars_are_those_of_their_crates() {
        let pairs: [(LanguageFn, LanguageFn); 9] = [
            (super::C_SHARP, tree_sitter_c_sharp::LANGUAGE),
            (super::CPP, tree_sitter_cpp::LANGUAGE),
            (super::HASKELL, tree_sitter_haskell::LANGUAGE),
            (super::JULIA, tree_sitter_julia::LANGUAGE),
            (super::KOTLIN, tree_sitter_kotlin_ng::LANGUAGE),
            (super::OCAML, tree_sitter_ocaml::LANGUAGE_OCAML),
            (super::RUBY, tree_sitter_ruby::LANGUAGE),
            (super::SCALA, tree_sitter_scala::LANGUAGE),
            (super::SWIFT, tree_sitter_swift::LANGUAGE),
        ];
        for (packed, own) in pairs {
            let (packed, own) = (Language::new(packed), Language::new(own));
            assert_eq!(packed.parse_state_count(), own.parse_state_count());
            for state in 0..own.parse_state_count() as u16 {
                let expected = |language: &Language| -> Vec<u16> {
                    language.lookahead_iterator(state).into_iter().flatten().collect()
                };
                assert_eq!(expected(&packed), expected(&own), "{:?} {state}", own.name());
                for symbol in expected(&own) {
                    assert_eq!(
                        packed.next_state(state, symbol),
                        own.next_state(state, symbol),
                        "{:?} {state} {symbol}",
                        own.name()
                    );
                }
            }
        }
    }
}
