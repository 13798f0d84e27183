//! The one place where a model's output re-enters the deterministic pipeline: constrain its choice before, check it after.
//! Repair is tried in a fixed order and never guesses between two candidates.

use serde::Serialize;
use serde_json::{Value, json};

/// Whose constrained-output API the schema is for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Provider {
    /// The bare JSON Schema.
    #[default]
    JsonSchema,
    /// `response_format` of an OpenAI-style API.
    OpenAi,
    /// A tool definition of an Anthropic-style API.
    Anthropic,
}

/// The property that holds the choice.
pub const SELECTION_PROPERTY: &str = "tool_id";

/// Nothing to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a selection schema needs at least one candidate id")]
pub struct NoCandidates;

/// A schema that allows exactly the offered ids.
pub fn selection_schema<S: AsRef<str>>(candidates: &[S], provider: Provider) -> Result<Value, NoCandidates> {
    let mut offered: Vec<&str> = Vec::with_capacity(candidates.len());
    for candidate in candidates.iter().map(AsRef::as_ref) {
        if !offered.contains(&candidate) {
            offered.push(candidate);
        }
    }
    if offered.is_empty() {
        return Err(NoCandidates);
    }
    let schema = json!({
        "type": "object",
        "properties": {SELECTION_PROPERTY: {"type": "string", "enum": offered}},
        "required": [SELECTION_PROPERTY],
        "additionalProperties": false,
    });
    Ok(match provider {
        Provider::JsonSchema => schema,
        Provider::OpenAi => json!({
            "type": "json_schema",
            "json_schema": {"name": "tool_selection", "strict": true, "schema": schema},
        }),
        Provider::Anthropic => json!({
            "name": "tool_selection",
            "description": "Select exactly one tool_id from the routed candidates.",
            "input_schema": schema,
        }),
    })
}

/// What became of a returned id.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SelectionValidation {
    pub status: SelectionStatus,
    /// The offered id it stands for.
    pub selected_id: Option<String>,
    pub raw_id: String,
    pub repair: Option<SelectionRepair>,
    pub reason: Option<RejectionReason>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SelectionStatus {
    Accepted,
    Repaired,
    Rejected,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SelectionRepair {
    Strip,
    CaseFold,
    Prefix,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RejectionReason {
    EmptySelection,
    NotACandidate,
    AmbiguousCaseFold,
    AmbiguousPrefix,
}

/// How far a wrong id may be corrected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repair {
    /// Surrounding white space only.
    StripOnly,
    /// Then a unique match without regard to case, then a unique prefix.
    Full,
}

/// Checks a returned id against the offered ones.
pub fn validate_selection<S: AsRef<str>>(selected: &str, candidates: &[S], repair: Repair) -> SelectionValidation {
    let accepted = |id: &str, how: Option<SelectionRepair>| SelectionValidation {
        status: if how.is_some() {
            SelectionStatus::Repaired
        } else {
            SelectionStatus::Accepted
        },
        selected_id: Some(id.to_owned()),
        raw_id: selected.to_owned(),
        repair: how,
        reason: None,
    };
    let rejected = |reason| SelectionValidation {
        status: SelectionStatus::Rejected,
        selected_id: None,
        raw_id: selected.to_owned(),
        repair: None,
        reason: Some(reason),
    };
    let stripped = selected.trim();
    if stripped.is_empty() {
        return rejected(RejectionReason::EmptySelection);
    }
    if let Some(exact) = candidates
        .iter()
        .map(AsRef::as_ref)
        .find(|candidate| *candidate == stripped)
    {
        return accepted(
            exact,
            (stripped.len() != selected.len()).then_some(SelectionRepair::Strip),
        );
    }
    if repair == Repair::StripOnly {
        return rejected(RejectionReason::NotACandidate);
    }
    let folded = stripped.to_lowercase();
    let same = unique(candidates, |candidate| candidate == folded);
    let prefixed = unique(candidates, |candidate| candidate.starts_with(&folded));
    match (same, prefixed) {
        (Found::One(id), _) => accepted(id, Some(SelectionRepair::CaseFold)),
        (Found::Several, _) => rejected(RejectionReason::AmbiguousCaseFold),
        (Found::None, Found::One(id)) => accepted(id, Some(SelectionRepair::Prefix)),
        (Found::None, Found::Several) => rejected(RejectionReason::AmbiguousPrefix),
        (Found::None, Found::None) => rejected(RejectionReason::NotACandidate),
    }
}

enum Found<'a> {
    None,
    One(&'a str),
    Several,
}

fn unique<'a, S: AsRef<str>>(candidates: &'a [S], wanted: impl Fn(&str) -> bool) -> Found<'a> {
    let mut found = Found::None;
    for candidate in candidates
        .iter()
        .map(AsRef::as_ref)
        .filter(|candidate| wanted(&candidate.to_lowercase()))
    {
        found = match found {
            Found::None => Found::One(candidate),
            // The same id offered twice is still one choice.
            Found::One(first) if first == candidate => Found::One(first),
            Found::One(_) | Found::Several => return Found::Several,
        };
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_openai_envelope_holds_the_same_schema() {
        let bare = selection_schema(&["a"], Provider::JsonSchema).unwrap();
        let wrapped = selection_schema(&["a"], Provider::OpenAi).unwrap();
        assert_eq!(wrapped["json_schema"]["schema"], bare);
        assert_eq!(wrapped["type"], "json_schema");
    }
}
