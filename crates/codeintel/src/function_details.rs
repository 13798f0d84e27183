//! `get_function_details`: one function as a [`FunctionDescriptor`], with its code.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::descriptors::FunctionDescriptor;
use crate::descriptors::class::Readings;
use crate::descriptors::function::{Detail, function};
use crate::descriptors::home::Homes;
use crate::descriptors::lookup::{Narrowing, Wanted, find};
use crate::descriptors::reading::Reading;
use crate::error::QuestionError;
use crate::laravel;
use crate::type_definition::OutputFormat;
use crate::workspace::Workspace;

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FunctionDetails {
    /// Name, Owner.name, full name or path:line of the function.
    pub function_name: String,
    /// The class it is a method of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub class_name: Option<String>,
    /// Package, namespace or folder it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The same as package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Path of its file, or the end of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub file_path: Option<String>,
    /// Lines of code at most (default all; 0 for none).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_lines: Option<u32>,
    /// markdown (default) or json.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_format: Option<OutputFormat>,
}

/// The function.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FunctionFound {
    /// What is known of it.
    #[serde(flatten)]
    pub function: FunctionDescriptor,
    /// How many lines its code has, when some were left out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub total_lines: Option<usize>,
    /// Whether lines were left out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub truncated: bool,
    /// What the index still lacks, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// The function that is asked for.
pub fn function_details(workspace: &Workspace, ask: &FunctionDetails) -> Result<FunctionFound, QuestionError> {
    let mut homes = Homes::new(workspace);
    let narrowing = Narrowing {
        package: ask.package.as_deref().or(ask.namespace.as_deref()),
        class_name: ask.class_name.as_deref(),
        file_path: ask.file_path.as_deref(),
    };
    let fit = find(
        workspace,
        Wanted::Function,
        "function_name",
        &ask.function_name,
        narrowing,
        &mut homes,
    )?;
    let missing = || QuestionError::NoSuchSymbol {
        asked: ask.function_name.clone(),
        nearest: Vec::new(),
    };
    let symbol = workspace.symbol(fit.key).ok_or_else(missing)?;
    let file = symbol.file().ok_or_else(missing)?;
    let reading = Reading::of(workspace, fit.key.repository, file)?;
    let mut found = function(
        workspace,
        fit.key.repository,
        symbol,
        &reading,
        &mut homes,
        Detail::Whole,
    );
    let mut readings = Readings::from([(file.id(), reading)]);
    laravel::enrich_function(workspace, fit.key, &mut homes, &mut readings, &mut found)?;
    if !fit.overloads.is_empty() {
        let others: Vec<Value> = fit
            .overloads
            .iter()
            .filter_map(|key| {
                let symbol = workspace.symbol(*key)?;
                Some(json!({
                    "signature": symbol.signature(),
                    "at": format!("{}:{}", workspace.path(key.repository, symbol.path()), symbol.span().start_line),
                }))
            })
            .collect();
        found.metadata.insert("overloads".into(), others.into());
    }
    let total = found.code.lines().count();
    let most = ask.max_lines.map_or(total, |most| most as usize);
    let truncated = most < total;
    if truncated {
        let kept: Vec<&str> = found.code.lines().take(most).collect();
        found.code = kept.join("\n");
    }
    Ok(FunctionFound {
        function: found,
        total_lines: truncated.then_some(total),
        truncated,
        incomplete: workspace.incomplete(),
    })
}
