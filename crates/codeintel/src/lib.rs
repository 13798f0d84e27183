//! One file per question an agent asks, each returning one typed answer.
//!
//! A question is a function of a [`Workspace`] and its parameters, and a pure one but for reading source text: the same
//! snapshot and the same parameters give the same answer. Parameters are plain serde types from which the tool schemas are
//! made; answers are the types of `wire::answers` (or beside the question, where no format lays them out by hand).
//!
//! Architecture invariant: nothing here knows of MCP, HTTP or the terminal, and nothing here writes but what compilers said, beside the
//! index.

#![cfg_attr(not(test), deny(clippy::unwrap_used))]

pub mod account;
pub mod analyze;
pub mod change;
pub mod code_context;
pub mod compiler;
pub mod context;
pub mod contracts;
mod cross;
pub mod descriptors;
pub mod editing_context;
pub mod error;
pub mod file_summary;
pub mod find;
pub mod find_files;
pub mod folder_map;
pub mod function_details;
pub mod git;
pub mod grep;
pub mod kinds;
pub mod laravel;
pub mod line_history;
pub mod linked_source;
pub mod naming;
pub mod neighbours;
mod overridden;
pub mod package_exports;
pub mod page;
pub mod read;
pub mod repo_outline;
pub mod search;
pub mod search_code;
pub mod search_symbols;
pub mod search_text;
pub mod smart_context;
pub mod source;
pub mod symbol_source;
mod syntax_errors;
pub mod test_targets;
pub mod trace;
pub mod traverse;
pub mod type_definition;
pub mod usages;
pub mod uses;
pub mod workspace;

pub use error::QuestionError;
pub use workspace::{Derived, Repository, Stop, SymbolKey, Workspace};
