//! `find_type_definition`: one type as a [`ClassDescriptor`], with its members wherever they are defined.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::descriptors::ClassDescriptor;
use crate::descriptors::class::{Readings, class};
use crate::descriptors::home::Homes;
use crate::descriptors::lookup::{Narrowing, Wanted, find};
use crate::error::QuestionError;
use crate::laravel;
use crate::page::{self, Page};
use crate::workspace::Workspace;

/// How an answer is written, as the descriptor schema has it; `format` says the same and more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum OutputFormat {
    /// For reading.
    Markdown,
    /// The schema itself.
    Json,
}

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TypeDefinition {
    /// Name, full name or path:line of the type.
    pub type_name: String,
    /// Package, namespace or folder it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The same as package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Path of its file, or the end of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// Fields, methods and relations each at most (default all).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// markdown (default) or json.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_format: Option<OutputFormat>,
}

/// The type.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct TypeFound {
    /// What is known of it.
    #[serde(flatten)]
    pub class: ClassDescriptor,
    /// How many members there are, when some were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub totals: Option<Totals>,
    /// Whether members were left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// Where to go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// What the index still lacks, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// How many members a type has.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Totals {
    /// Fields.
    pub fields: usize,
    /// Methods.
    pub methods: usize,
    /// Relations.
    pub relations: usize,
}

/// The type that is asked for.
pub fn type_definition(workspace: &Workspace, ask: &TypeDefinition) -> Result<TypeFound, QuestionError> {
    let mut homes = Homes::new(workspace);
    let narrowing = Narrowing {
        package: ask.package.as_deref().or(ask.namespace.as_deref()),
        class_name: None,
        file_path: ask.file_path.as_deref(),
    };
    let fit = find(
        workspace,
        Wanted::Type,
        "type_name",
        &ask.type_name,
        narrowing,
        &mut homes,
    )?;
    let mut readings = Readings::new();
    let mut found = class(workspace, fit.key, &mut homes, &mut readings)?;
    laravel::enrich_class(workspace, fit.key, &mut homes, &mut readings, &mut found)?;
    let all = Totals {
        fields: found.fields.len(),
        methods: found.methods.len(),
        relations: found.relations.len(),
    };
    let longest = all.fields.max(all.methods).max(all.relations);
    let page = Page::of(workspace, ask.limit, ask.cursor.as_deref(), longest.max(1))?;
    let end = page.offset.saturating_add(page.limit);
    let truncated = end < longest || page.offset > 0;
    found.fields = page.take(found.fields);
    found.methods = page.take(found.methods);
    found.relations = page.take(found.relations);
    Ok(TypeFound {
        class: found,
        totals: truncated.then_some(all),
        truncated: end < longest,
        next_cursor: (end < longest).then(|| page::cursor(workspace, end)),
        incomplete: workspace.incomplete(),
    })
}
