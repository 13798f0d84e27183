//! What does this one file declare and mention? Lowers the syntax tree of any supported language to the same facts.

pub mod facts;
