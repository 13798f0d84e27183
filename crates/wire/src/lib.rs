//! How is a value said in few tokens, and read back?
//!
//! One typed value has five projections: JSON, GCX1 ([`gcx`]), GCF ([`gcf`]), LCX1 (`lcx`, for the tools that have it) and Markdown
//! ([`markdown`]). [`encode`] says it in the one asked for, or in the shortest; [`decode`] reads any of the lossless four.
//!
//! API boundary: nothing here reads files, opens sockets or starts processes, and nothing depends on another crate of the
//! workspace. Answers come in as plain serde values with a [`layout::Layout`] beside them.

#![cfg_attr(not(test), deny(clippy::unwrap_used))]

// Lets the macros of this crate name it as other crates do.
extern crate self as wire;

#[macro_use]
pub mod layout;
pub mod answers;
pub mod apply;
mod counted;
mod dense;
pub mod exact;
pub mod excerpt;
mod format;
pub mod gcf;
pub mod gcx;
mod lcx;
mod line_edit;
pub mod markdown;
mod places;
pub mod protocol;
pub mod session;
pub mod tokens;

pub use counted::{counted, counted_parts};
pub use format::{Encoded, Error, Format, check_gcx, decode, decode_from, detect, encode, encode_answer, same};
pub use lcx::joined;
