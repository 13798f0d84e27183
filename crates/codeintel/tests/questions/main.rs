//! Every question asked of real trees: lookups, search, contracts, descriptors, context packs.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the way tests do")]

mod asked_again;
mod common;
mod context;
mod contracts;
mod contracts_fixture;
mod contracts_frameworks;
mod cross_repository;
mod descriptors;
mod find;
#[cfg(unix)]
mod hostile_git;
mod laravel;
mod lookups;
mod search;
mod surface;
mod test_targets;
mod trace;
mod trace_links;
