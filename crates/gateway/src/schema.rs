//! JSON Schemas from upstreams are untrusted: their size is bounded at ingest.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How complex an upstream's schema may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SchemaLimits {
    /// Bytes of its compact JSON.
    pub max_bytes: usize,
    /// Levels of nesting.
    pub max_depth: usize,
    /// Properties in all, at every level.
    pub max_properties: usize,
}

impl Default for SchemaLimits {
    fn default() -> SchemaLimits {
        SchemaLimits { max_bytes: 65_536, max_depth: 32, max_properties: 512 }
    }
}

/// What becomes of a tool whose schema is invalid or over a limit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OnInvalidSchema {
    /// It is listed; calling it gives `SCHEMA_INVALID`.
    #[default]
    Flag,
    /// It is left out of the catalog.
    Skip,
    /// The whole catalog is refused.
    Raise,
}
