//! `analyze`: dead code, hotspots and cycles. Each kind is a tool of its own in the header.

use crate::layout::Section;

row! {
    /// A symbol nothing uses.
    DeadSymbol {
        id: String = "symbol id",
        kind: String = "kind of symbol",
        name: String = "short name",
        path: String = "file path",
        line: u64 = "start line",
        reason: String = "why it counts as dead",
    }
}

answer! {
    /// Symbols that nothing uses.
    DeadCode = "analyze.dead_code" {
        sections { symbols: Vec<DeadSymbol> => Section::many("", "symbols", DeadSymbol::COLUMNS) }
        meta {
            total: u64 = "dead symbols in all, returned or not",
            truncated: bool = "whether symbols were left out",
            next_cursor: Option<String> = "pass it to get the next page",
            etag: Option<String> = "pass it as if_none_match to skip an unchanged answer",
            incomplete: Option<String> = "what the index still lacks",
        }
    }
}

row! {
    /// A symbol that much of the code goes through.
    Hotspot {
        id: String = "symbol id",
        name: String = "short name",
        path: String = "file path",
        line: u64 = "start line",
        fan_in: u64 = "symbols that use it",
        fan_out: u64 = "symbols it uses",
        cross_cut: u64 = "communities it connects",
        score: f64 = "0 to 100",
    }
}

answer! {
    /// Symbols that much of the code goes through, hottest first.
    Hotspots = "analyze.hotspots" {
        sections { symbols: Vec<Hotspot> => Section::many("", "symbols", Hotspot::COLUMNS) }
        meta {
            total: u64 = "hotspots in all, returned or not",
            truncated: bool = "whether symbols were left out",
            next_cursor: Option<String> = "pass it to get the next page",
            etag: Option<String> = "pass it as if_none_match to skip an unchanged answer",
            incomplete: Option<String> = "what the index still lacks",
            formula: Option<String> = "how the columns make the score",
        }
    }
}

row! {
    /// Symbols or files that need each other in a circle.
    Cycle {
        size: u64 = "members of the cycle",
        severity: String = "high, medium or low",
        nodes: Vec<String> = "their ids",
    }
}

row! {
    /// The edge to remove from a cycle.
    CycleCut {
        cycle: u64 = "which cycle, by its place in this answer, from 1",
        from: String = "id of what should no longer need",
        to: String = "id of what it needs",
        lines: String = "where it says so, separated by commas",
        why: String = "why this edge",
    }
}

answer! {
    /// Circles of symbols or files that need each other, and where to cut them.
    Cycles = "analyze.cycles" {
        sections {
            cycles: Vec<Cycle> => Section::many("", "cycles", Cycle::COLUMNS),
            cuts: Vec<CycleCut> => Section::many(".cuts", "cuts", CycleCut::COLUMNS),
        }
        meta {
            total: u64 = "cycles in all, returned or not",
            truncated: bool = "whether cycles were left out",
            next_cursor: Option<String> = "pass it to get the next page",
            etag: Option<String> = "pass it as if_none_match to skip an unchanged answer",
            incomplete: Option<String> = "what the index still lacks",
        }
    }
}
