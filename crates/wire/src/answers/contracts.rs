//! `contracts`: what services offer each other over HTTP, RPC, topics and the like, and what has only one side.

use crate::layout::Section;

row! {
    /// A contract with the symbols on both sides.
    Contract {
        id: String = "contract id",
        contract_type as "type": String = "http, grpc, topic, env, …",
        method: Option<String> = "HTTP verb or RPC method",
        path: String = "route, topic or name",
        service: String = "the providing service",
        providers: Vec<String> = "ids of the providing symbols",
        consumers: Vec<String> = "ids of the consuming symbols",
    }
}

answer! {
    /// The contracts between services, with the symbols on both sides.
    ContractsList = "contracts.list" {
        sections { contracts: Vec<Contract> => Section::many("", "contracts", Contract::COLUMNS) }
        meta {
            total: u64 = "contracts in all, returned or not",
            truncated: bool = "whether contracts were left out",
            next_cursor: Option<String> = "pass it to get the next page",
            etag: Option<String> = "pass it as if_none_match to skip an unchanged answer",
            inferred: Option<String> = "which of the project's own functions were taken for routes and requests",
            incomplete: Option<String> = "what could not be read",
        }
    }
}

row! {
    /// A contract with one side only.
    Orphan {
        contract_id: String = "contract id",
        side: String = "the side that exists: provider or consumer",
        repo: String = "its repository",
        symbol: String = "its symbol",
    }
}

answer! {
    /// Contracts that only one side knows.
    ContractsOrphans = "contracts.orphans" {
        sections { orphans: Vec<Orphan> => Section::many("", "orphans", Orphan::COLUMNS) }
        meta {
            total: u64 = "orphans in all, returned or not",
            truncated: bool = "whether orphans were left out",
            next_cursor: Option<String> = "pass it to get the next page",
            etag: Option<String> = "pass it as if_none_match to skip an unchanged answer",
            inferred: Option<String> = "which of the project's own functions were taken for routes and requests",
            incomplete: Option<String> = "what could not be read",
        }
    }
}
