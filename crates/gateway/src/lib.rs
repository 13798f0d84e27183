//! How do other people's tools become safe and cheap to use?
//!
//! The pure half turns upstream definitions into an immutable catalog and answers questions about it:
//! `spec` (a definition as ingested) → `identity` (its stable id) → `card` (what an agent sees) → `catalog` (all of
//! them, swappable at once) → `browse` (by query or by path). Nothing in it does I/O or holds a lock.

#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod bench;
pub mod browse;
pub mod card;
pub mod catalog;
pub mod config;
pub mod controls;
pub mod errors;
pub mod identity;
pub mod meta_tools;
pub mod policy;
pub mod primitives;
pub mod schema;
pub mod selection;
pub mod spec;
pub mod stable;
pub mod tokens;

mod artifacts;
mod dispatch;
mod firewall;
pub mod http;
mod listings;
mod modes;
mod native;
pub mod negotiation;
pub mod oauth;
pub mod observe;
pub mod outside;
pub mod preview;
pub mod reload;
pub mod runtime;
pub mod server;
pub mod session;
pub mod shutdown;
pub mod stdio;
mod upstream;
mod view;

pub use upstream::{Health, Mount, Status};
