//! What does it all mean together? Facts of single files in, one immutable snapshot of the whole tree out.
//!
//! `model` has the nouns that every part shares; `tree` is the seam between storage and resolution.

pub mod model;
pub mod tree;
