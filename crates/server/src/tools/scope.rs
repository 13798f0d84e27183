//! The one place that decides which repositories a call is about, from the tool's scope and the call's `repo`.
//!
//! In a workspace of several repositories the rules are those of the wire protocol, with its five codes. With one
//! repository nothing need be said, and naming it is allowed everywhere.

use codeintel::Workspace;
use serde_json::Value;
use wire::protocol::{
    EVERY_REPO, EVERY_REPO_ALONE, MISSING_REPO, MISSING_REPO_LIST, REPO_NOT_ALLOWED, Refusal, Scope, UNKNOWN_REPO,
    WRONG_REPO_SHAPE, is_mixed,
};

use super::Tool;

/// The part of the workspace that a call is about.
pub(super) fn narrow(tool: &Tool, workspace: &Workspace, repo: Option<&Value>) -> Result<Workspace, Refusal> {
    let refuse = |code: &str, message: String, detail: &str| {
        Err(Refusal {
            code: code.to_string(),
            message,
            detail: detail.to_string(),
        })
    };
    let known: Vec<&str> = workspace
        .repositories()
        .iter()
        .map(|repository| repository.name.as_str())
        .collect();
    // As in a `tool_request`, where an empty cell is no repository.
    let repo = repo.filter(|repo| repo.as_str() != Some(""));
    let names: Vec<&str> = match (tool.scope, repo) {
        (_, None | Some(Value::Null)) if !workspace.is_prefixed() => return Ok(workspace.clone()),
        (Scope::Workspace, None | Some(Value::Null)) => return Ok(workspace.clone()),
        (Scope::Repo, None | Some(Value::Null)) => {
            let message = format!(
                "`{}` is about one repository: give `repo`, one of {}",
                tool.name,
                known.join(", ")
            );
            return refuse(MISSING_REPO, message, tool.name);
        }
        (Scope::FanOut, None | Some(Value::Null)) => {
            let message = format!(
                "give `repo` as a list of names, or [\"*\"] for all of {}",
                known.join(", ")
            );
            return refuse(MISSING_REPO_LIST, message, tool.name);
        }
        (Scope::Workspace, Some(_)) if workspace.is_prefixed() => {
            let message = format!("`{}` is about the whole workspace: leave `repo` out", tool.name);
            return refuse(REPO_NOT_ALLOWED, message, tool.name);
        }
        (Scope::Repo | Scope::Workspace, Some(Value::String(name))) => vec![name],
        (Scope::FanOut, Some(Value::Array(names))) if !names.is_empty() => {
            let words: Option<Vec<&str>> = names.iter().map(Value::as_str).collect();
            match words {
                Some(words) if words == [EVERY_REPO] => known.clone(),
                Some(words) if is_mixed(&words) => {
                    return refuse(WRONG_REPO_SHAPE, EVERY_REPO_ALONE.to_string(), tool.name);
                }
                Some(words) if words.contains(&"") => {
                    return refuse(WRONG_REPO_SHAPE, "a name of `repo` is empty".to_string(), tool.name);
                }
                Some(words) => words,
                None => {
                    return refuse(
                        WRONG_REPO_SHAPE,
                        "`repo` must be a list of names".to_string(),
                        tool.name,
                    );
                }
            }
        }
        (Scope::FanOut, Some(Value::Array(_))) => {
            return refuse(
                MISSING_REPO_LIST,
                "the list of repositories is empty".to_string(),
                tool.name,
            );
        }
        (scope, Some(_)) => {
            let shape = if scope == Scope::FanOut {
                "a list of names"
            } else {
                "one name"
            };
            return refuse(WRONG_REPO_SHAPE, format!("`repo` must be {shape}"), tool.name);
        }
    };
    match names.iter().find(|name| !known.contains(name)) {
        Some(unknown) => refuse(
            UNKNOWN_REPO,
            format!("no repository `{unknown}`: there are {}", known.join(", ")),
            unknown,
        ),
        None => Ok(workspace.only(&names)),
    }
}
