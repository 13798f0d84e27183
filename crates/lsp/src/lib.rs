//! What does the compiler say? A client for language servers that never waits blindly.
//!
//! [`Servers`] holds one [`Server`] per project and kind. A server is started by the first question that needs it, says by its
//! own signals whether it has read the project ([`State`]), is asked with deadlines, and comes back after a crash with its
//! documents open again. Processes run in groups of their own and end with Lacon, by whatever means it ends.
//!
//! API boundary: blocking calls and plain data; places are 1-based lines and 0-based bytes, whatever the server counts in.
//! Architecture invariant: nothing here knows of the graph, of tools or of output.

#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod adapters;
mod capabilities;
mod connection;
mod data;
mod documents;
pub mod edits;
mod keeper;
mod launch;
mod overlay;
pub mod position;
mod process;
mod questions;
mod readiness;
mod server;
mod servers;
mod transport;
mod turns;
pub mod uri;

pub use adapters::{Adapter, Config};
pub use connection::RequestError;
pub use overlay::Overlay;
pub use position::{Encoding, Location, Place, Range, Text, Texts};
pub use questions::{
    Call, CodeAction, Completion, Diagnostic, Hierarchy, Outline, Severity, Signature, Step, SymbolKind, Token,
};
pub use server::{FileChange, Server, Spelling, State};
pub use servers::Servers;
