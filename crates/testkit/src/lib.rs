//! Fixtures shared by the tests of the other crates.

#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod code_fixture;
pub mod fake_language_server;
pub mod plain_client;
pub mod shared;
pub mod tools;

pub use shared::{shared, skipped};
