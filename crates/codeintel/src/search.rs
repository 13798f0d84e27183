//! Search as other questions use it: the symbols that answer words, best first.

use index::search::{Hit, Mode, Question, SearchIndex, Why};
use index::snapshot::SymbolId;

use crate::workspace::Repository;

impl Repository {
    /// The symbols that answer a question in words or identifiers, best first: by meaning, by words, by name and by what the
    /// graph knows, with the parts of each score. Code comes first, documents and tests behind it.
    pub fn search(&self, query: &str, limit: usize) -> Vec<(SymbolId, f32, Why)> {
        let hits = self.ask_search(&Question {
            text: query,
            limit,
            mode: Mode::Hybrid,
            accept: None,
        });
        hits.into_iter().map(|hit| (hit.symbol, hit.score, hit.why)).collect()
    }

    /// The same with a filter and a choice of evidence.
    pub fn ask_search(&self, question: &Question<'_>) -> Vec<Hit> {
        self.search_index().search(&self.snapshot, question)
    }

    /// What is searched.
    pub fn search_index(&self) -> &SearchIndex {
        self.snapshot.search_index()
    }
}
