//! The questions as an MCP server: one handler for both protocol eras and both transports.

mod consent;
mod prompts;
mod reach;
mod resources;
mod server;

pub use reach::{Follows, Reach};
pub use server::QuestionServer;
