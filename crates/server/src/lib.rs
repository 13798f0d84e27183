//! The doors: every question as a tool, asked over MCP, through the gateway or by a verb. An answer is the same through each of them,
//! because all take a call from the same table ([`tools`]) and its text from the same function ([`tools::answer`]).

#![cfg_attr(not(test), deny(clippy::unwrap_used))]

mod asking;
pub mod editing;
pub mod embedding;
pub mod mcp;
pub mod memory;
pub mod project;
pub mod sessions;
pub mod status;
pub mod summary;
pub mod tools;
pub mod trust;
pub mod web;
pub mod workspace;
