//! The questions as an MCP server: one handler for both protocol eras and both transports.

mod server;

pub(crate) use server::{QuestionServer, serve_stdio};
