//! Drives the whole gateway: real clients on one side, real servers (and one that misbehaves on request) on the other.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on must fail, in its helpers too"
)]

mod faults;
mod harness;
mod http;
mod isolation;
mod modes;
mod mount;
mod relay;
mod servers;
