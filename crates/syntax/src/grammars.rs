//! The largest grammars, as they are or packed.
//!
//! Nine of the grammars take most of the program by their tables. Where the feature `packed` is on, those lie compressed in the
//! program and are unpacked on first use.

#[cfg(feature = "packed")]
mod packed;

#[cfg(feature = "packed")]
pub(crate) use packed::{C_SHARP, CPP, KOTLIN, RUBY};
#[cfg(all(feature = "packed", feature = "broad"))]
pub(crate) use packed::{HASKELL, JULIA, OCAML, SCALA, SWIFT};

#[cfg(not(feature = "packed"))]
pub(crate) use tree_sitter_c_sharp::LANGUAGE as C_SHARP;
#[cfg(not(feature = "packed"))]
pub(crate) use tree_sitter_cpp::LANGUAGE as CPP;
#[cfg(all(not(feature = "packed"), feature = "broad"))]
pub(crate) use tree_sitter_haskell::LANGUAGE as HASKELL;
#[cfg(all(not(feature = "packed"), feature = "broad"))]
pub(crate) use tree_sitter_julia::LANGUAGE as JULIA;
#[cfg(not(feature = "packed"))]
pub(crate) use tree_sitter_kotlin_ng::LANGUAGE as KOTLIN;
#[cfg(all(not(feature = "packed"), feature = "broad"))]
pub(crate) use tree_sitter_ocaml::LANGUAGE_OCAML as OCAML;
#[cfg(not(feature = "packed"))]
pub(crate) use tree_sitter_ruby::LANGUAGE as RUBY;
#[cfg(all(not(feature = "packed"), feature = "broad"))]
pub(crate) use tree_sitter_scala::LANGUAGE as SCALA;
#[cfg(all(not(feature = "packed"), feature = "broad"))]
pub(crate) use tree_sitter_swift::LANGUAGE as SWIFT;
