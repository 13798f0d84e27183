//! GCF and GCX1 against their specifications: our own cases, written from them, and the formats' own fixtures beside.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should panic")]

mod gcf;
mod gcf_shared;
mod gcx;
mod pages;
