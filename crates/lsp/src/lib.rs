//! What does the compiler say?

pub mod edits;
