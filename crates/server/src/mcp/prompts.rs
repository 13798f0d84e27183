//! A few ways to begin, with the facts already in them: the answer to a question, and what to do with it.

use rmcp::model::{ErrorData, GetPromptResult, JsonObject, Prompt, PromptArgument, PromptMessage, Role};
use serde_json::{Map, Value, json};

use super::resources::whole;
use super::server::Asker;

/// A question and what to do with its answer.
struct Beginning {
    name: &'static str,
    about: &'static str,
    /// The argument it takes: its name, what it is, and the parameter of the question that it fills.
    argument: Option<(&'static str, &'static str, &'static str)>,
    tool: &'static str,
    /// What follows the answer.
    task: &'static str,
}

const BEGINNINGS: &[Beginning] = &[
    Beginning {
        name: "orient",
        about: "Get to know the repository",
        argument: None,
        tool: "get_repo_outline",
        task: "This is the repository at a glance. Say in a few sentences what it does, how it is divided and where a reader \
               should begin. Look at the entry points and hotspots with get_file_summary and get_symbol_source where the outline \
               is not enough.",
    },
    Beginning {
        name: "before_change",
        about: "What to know before changing a symbol",
        argument: Some(("symbol", "Symbol: id, name, Owner.name or path:line", "id")),
        tool: "get_editing_context",
        task: "This is what surrounds the symbol. Say what callers rely on, which of them a change would touch, and which tests to \
               run. Read the source with get_symbol_source before you change it.",
    },
    Beginning {
        name: "impact",
        about: "What a change of a symbol may break",
        argument: Some(("symbol", "Symbol: id, name, Owner.name or path:line", "id")),
        tool: "get_dependents",
        task: "This is everything that needs the symbol, nearest first. Group it by what it would take to keep it working, and \
               name what is least covered by tests.",
    },
];

/// What is listed.
pub(super) fn list(several_repositories: bool) -> Vec<Prompt> {
    let listed = BEGINNINGS.iter().map(|beginning| {
        let arguments = arguments(beginning, several_repositories)
            .into_iter()
            .map(|(name, about, _)| PromptArgument::new(name).with_description(about).with_required(true))
            .collect::<Vec<_>>();
        let arguments = (!arguments.is_empty()).then_some(arguments);
        Prompt::new(beginning.name, Some(beginning.about), arguments)
    });
    listed.collect()
}

/// A question about one repository must name it where there are several.
fn arguments(beginning: &Beginning, several_repositories: bool) -> Vec<(&'static str, &'static str, &'static str)> {
    let repository =
        (several_repositories && beginning.argument.is_none()).then_some(("repo", "Repository name", "repo"));
    beginning.argument.into_iter().chain(repository).collect()
}

/// One of them, with its facts.
pub(super) async fn get(
    name: &str,
    given: &JsonObject,
    several_repositories: bool,
    asker: Asker,
) -> Result<GetPromptResult, ErrorData> {
    let Some(beginning) = BEGINNINGS.iter().find(|beginning| beginning.name == name) else {
        let known: Vec<&str> = BEGINNINGS.iter().map(|beginning| beginning.name).collect();
        let message = format!("no prompt `{name}`: there are {}", known.join(", "));
        return Err(ErrorData::invalid_params(message, None));
    };
    let mut question = Map::new();
    for (name, about, parameter) in arguments(beginning, several_repositories) {
        match given.get(name).and_then(Value::as_str) {
            Some(value) if !value.is_empty() => question.insert(parameter.to_string(), value.into()),
            _ => {
                let message = format!("prompt `{}` needs the argument `{name}` ({about})", beginning.name);
                return Err(ErrorData::invalid_params(message, None));
            }
        };
    }
    let said = asker.ask(beginning.tool, question).await.map_err(|refusal| {
        let data = Some(json!({"code": refusal.code}));
        match refusal.code.as_str() {
            "internal_error" => ErrorData::internal_error(refusal.message, data),
            _ => ErrorData::invalid_params(refusal.message, data),
        }
    })?;
    let text = format!("{}\n{}", whole(said).trim_end(), beginning.task);
    let messages = vec![PromptMessage::new_text(Role::User, text)];
    Ok(GetPromptResult::new(messages).with_description(beginning.about))
}
