//! What does it all mean together? Facts of single files in, one immutable snapshot of the whole tree out.
//!
//! `scan` finds the files, `store` keeps facts by content, `resolve` turns names into edges, `snapshot` is what every
//! question reads, `search` finds in it by words and meaning; `build` makes it, cold or after a change, `watch` keeps it up to date, `fresh` says whether it is, `export` writes it for others, `import` reads what other
//! tools know.
//! `model` has the nouns that all of them share; `tree` is the seam between storage and resolution.

#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod build;
pub mod export;
pub mod fresh;
#[cfg(test)]
mod fuzz;
pub mod git;
mod import;
pub mod model;
pub mod packages;
pub mod resolve;
pub mod scan;
pub mod search;
pub mod snapshot;
pub mod store;
pub mod tree;
pub mod watch;

/// Version of what extraction says of a text; part of every key of facts. Made from the sources of `syntax` and the grammars.
pub(crate) const EXTRACTION_VERSION: u32 = number(env!("EXTRACTION_FINGERPRINT"));

/// Version of what resolution makes of facts; part of a snapshot's digest. Made from this crate's sources.
pub(crate) const RESOLUTION_VERSION: u32 = number(env!("RESOLUTION_FINGERPRINT"));

const fn number(fingerprint: &str) -> u32 {
    match u32::from_str_radix(fingerprint, 10) {
        Ok(number) => number,
        Err(_) => panic!("the build script writes decimal numbers"),
    }
}
