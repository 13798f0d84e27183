//! `get_repo_outline`: a repository at a glance, a section per question.

use crate::layout::{Column, Section};

row! {
    /// How much of the code is in one language.
    LanguageShare {
        name: String = "language",
        nodes: u64 = "symbols in it",
    }
}

row! {
    /// Symbols that belong together.
    Community {
        id: u64 = "number of the community",
        name: String = "what it is about",
        size: u64 = "symbols in it",
        modularity: f64 = "how closed it is, 0 to 1",
    }
}

row! {
    /// A symbol that much of the code goes through.
    OutlineHotspot {
        id: String = "symbol id",
        score: f64 = "0 to 100",
    }
}

const FILES: &[Column] = &[Column::text("value", "file path")];
const SYMBOLS: &[Column] = &[Column::text("value", "symbol id")];

answer! {
    /// A repository at a glance.
    RepoOutline = "get_repo_outline" {
        sections {
            languages: Vec<LanguageShare> => Section::many(".languages", "languages", LanguageShare::COLUMNS),
            communities: Vec<Community> => Section::many(".communities", "communities", Community::COLUMNS),
            hotspots: Vec<OutlineHotspot> => Section::many(".hotspots", "hotspots", OutlineHotspot::COLUMNS),
            most_imported: Vec<String> => Section::values(".most_imported", "most_imported", FILES),
            entry_points: Vec<String> => Section::values(".entry_points", "entry_points", SYMBOLS),
        }
        meta {
            total_nodes: Option<u64> = "symbols in all",
            total_edges: Option<u64> = "edges in all",
            etag: Option<String> = "pass it as if_none_match to skip an unchanged answer",
            incomplete: Option<String> = "what the index still lacks",
        }
    }
}
