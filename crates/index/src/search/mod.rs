//! Search by words, by meaning and by name, over the whole tree, kept up to date with the snapshot.
//!
//! ```text
//! file ─chunk→ CodeChunks ─unit→ terms and vectors ─part_writer→ `search` (all files) + `search.recent` (those changed since)
//! question ─words, embed→ SearchIndex over both parts ─rank→ hits
//! ```
//!
//! The index lies in two parts beside the snapshot: a large one, and a small one for what changed since it was written. A chunk
//! counts while its file is in the snapshot with the same content; documents are counted among those alone, so an answer is
//! the same whatever the history. When the small part has grown, both are merged.

mod chunk;
mod embed;
mod keeper;
mod names;
mod part;
mod part_writer;
mod rank;
mod searcher;
pub mod text;
mod unit;
mod vector;
mod words;

pub use chunk::{CodeChunk, is_document, uri};
pub use embed::{Embedder, Table, built_in};
pub(crate) use keeper::{Keeper, TreeFile};
pub use names::FoldedNames;
pub use rank::{Why, is_test};
pub use searcher::{Hit, Mode, Question, SearchIndex};
pub(crate) use unit::Unit;
pub use vector::DIMENSIONS;
pub use words::{for_each_word, words};

use syntax::FileFacts;

use crate::snapshot::segment::Segment;

/// The searchable part of a file.
pub(crate) fn unit(path: &str, text: &str, facts: &FileFacts, segment: &Segment) -> Unit {
    Unit::new(&chunk::chunks(path, text, facts, segment), built_in())
}
