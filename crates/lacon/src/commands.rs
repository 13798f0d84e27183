//! One file per verb: its `Args` (parsed by clap, whose doc comment is the help) and its `run`. `ending` and `http_access` are what the
//! verbs that serve have in common.

pub(crate) mod apply;
pub(crate) mod code;
pub(crate) mod compilers;
pub(crate) mod completions;
pub(crate) mod convert;
pub(crate) mod decode;
pub(crate) mod descriptors;
pub(crate) mod doctor;
pub(crate) mod encode;
pub(crate) mod ending;
pub(crate) mod export;
pub(crate) mod find;
pub(crate) mod gateway;
pub(crate) mod grep;
pub(crate) mod hook;
pub(crate) mod http_access;
pub(crate) mod index;
pub(crate) mod init;
pub(crate) mod licenses;
pub(crate) mod man;
pub(crate) mod mcp;
pub(crate) mod page;
pub(crate) mod questions;
pub(crate) mod savings;
pub(crate) mod search;
pub(crate) mod status;
pub(crate) mod tokens;
pub(crate) mod trust;
pub(crate) mod undo;
pub(crate) mod watch;
pub(crate) mod web;
