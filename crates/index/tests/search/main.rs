//! The search index from the outside: what is found, how well, and that updates end where a cold run does.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the way tests do")]

mod approximate;
mod embedding;
mod lexical;
mod quality;
