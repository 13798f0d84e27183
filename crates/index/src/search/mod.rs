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
mod grams;
mod keeper;
mod names;
mod part;
mod part_writer;
mod rank;
mod searcher;
mod signs;
mod spelling;
pub mod text;
mod unit;
mod vector;
mod weigh;
mod words;

pub use chunk::{CodeChunk, is_document, uri};
pub use embed::{EmbedError, Embedder, Table, built_in, choose_embedder};
pub use grams::TextFilter;
pub(crate) use keeper::{Keeper, TreeFile};
pub use names::FoldedNames;
#[cfg(test)]
pub(crate) use part::forged;
pub use rank::{Why, is_test};
pub use searcher::{Hit, Mode, Question, Scan, SearchIndex, for_each_term};
pub(crate) use unit::Unit;
pub use vector::DIMENSIONS;
pub use weigh::{ChunkEvidence, MOST_TERMS, Term, Weighed, WeighedChunk, each_word, rarity, term_of};
pub use words::{for_each_word, words};

use syntax::FileFacts;

use crate::snapshot::segment::Segment;

/// The searchable part of a file; none where the chosen model does not answer, so that it is asked again.
pub(crate) fn unit(path: &str, text: &str, facts: &FileFacts, segment: &Segment) -> Option<Unit> {
    let chunks = chunk::chunks(path, text, facts, segment);
    let mut unit = Unit::new(&chunks, built_in());
    if let Some(embedder) = embed::chosen() {
        let texts: Vec<String> = chunks.iter().map(CodeChunk::text).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
        let vectors = embedder
            .embed(&texts)
            .ok()
            .filter(|vectors| vectors.len() == texts.len())?;
        unit.vectors = vectors.iter().flat_map(vector::pack).collect();
    }
    Some(unit)
}
