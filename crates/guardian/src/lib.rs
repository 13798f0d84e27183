//! How do child processes end with Lacon, and what may they touch?
//!
//! `groups` ends what Lacon started, by whatever means Lacon ends. `trust` keeps which repositories may have their own code
//! run. `programs` finds programs without ever taking one that a repository ships. `sandbox` bounds what a child may touch. What systems
//! do in different ways is in `groups` and `files`, one module per system.
//!
//! API boundary: paths and numbers of process groups. Nothing here reads the environment: whoever calls says where the user's
//! folders are and what `PATH` is.

#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod files;
pub mod groups;
pub mod programs;
pub mod sandbox;
pub mod trust;
