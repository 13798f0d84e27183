//! Every question as a tool: one row of a family's table says what it is called, what it is for, how far it reaches and how many
//! tokens it may cost. The server, the command line and the reference page all read these tables.

pub mod answer;
mod code;
mod context;
mod deltas;
pub mod descriptors;
mod edit;
#[cfg(test)]
mod formats;
mod graph;
pub mod lsp;
mod masks;
pub mod permissions;
pub mod readable;
pub mod readable_packs;
mod readable_values;
mod schema;
mod scope;
pub mod search;
pub mod sound;
pub mod trees;

use std::cell::RefCell;

use anyhow::anyhow;
use codeintel::{QuestionError, Workspace};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use terminal::failure::{Exit, Failure};
use wire::layout::Layout;
use wire::protocol::{Refusal, Scope};

use crate::editing::Workbench;
use crate::sessions::{Conversation, Memory};

/// One question as a tool.
pub struct Tool {
    /// As in the wire formats.
    pub name: &'static str,
    /// What it is for, in one line.
    pub(crate) about: &'static str,
    /// The set that lists it: `core` is part of every set, `all` lists everything.
    pub toolset: Toolset,
    /// Which repositories of a workspace it is about.
    pub(crate) scope: Scope,
    /// Tokens at most where a call does not say.
    pub(crate) max_tokens: usize,
    /// What makes its answer smaller.
    pub(crate) cut: Cut,
    /// Whether it may change files.
    pub writes: bool,
    parameters: fn() -> Value,
    ask: fn(&Desk, Map<String, Value>) -> Result<Reply, Refusal>,
}

/// A set of tools that a client may list.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Toolset {
    /// What most tasks need
    Core,
    /// Core, and every walk and analysis of the graph
    Graph,
    /// Core, and what changes code or goes with it
    Edit,
    /// Core, and what language servers answer
    Lsp,
    /// Core, and every search
    Search,
    /// All tools
    All,
}

/// How an answer that costs too much is made smaller. Rows, lines and symbols ask the same question again with less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// Fewer rows on the page: the argument `limit`.
    Rows,
    /// Fewer lines of source: the argument `max_lines`.
    Lines,
    /// Fewer of the symbols asked for: the argument `ids`.
    Symbols,
    /// A shorter list in the answer as it is: what was done is not done again to say it shorter.
    Told,
    /// It cannot be cut.
    Never,
}

/// An answer and the table that lays it out.
pub struct Reply {
    pub(crate) value: Value,
    pub(crate) layout: Layout<'static>,
}

/// What a question is asked with. Grows when a family of tools needs more than the snapshots.
#[derive(Clone, Copy)]
pub struct Desk<'a> {
    /// The repositories that the call is about.
    pub workspace: &'a Workspace,
    /// What this process keeps between calls.
    pub services: &'a Services,
    /// Who asks: nothing that is kept for one caller reaches another.
    pub caller: &'a str,
    /// How the answer is wanted.
    pub wish: Wish<'a>,
}

/// How a call wants its answer. A tool that fills a budget must know; the others need not look.
#[derive(Clone, Copy, Default)]
pub struct Wish<'a> {
    pub format: wire::Format,
    pub max_tokens: usize,
    /// The conversation, where the client takes references to what it was sent.
    pub conversation: Option<&'a Conversation>,
    finished: Option<&'a RefCell<Option<Finished>>>,
}

/// An answer whose tool has said it itself.
pub(crate) struct Finished {
    pub(crate) texts: Vec<String>,
    pub(crate) format: wire::Format,
}

impl<'a> Desk<'a> {
    /// Leaves the texts to send, for a tool whose answer is more than one value in one format.
    fn finish(&self, finished: Finished) {
        if let Some(place) = self.wish.finished {
            place.replace(Some(finished));
        }
    }
}

impl<'a> Wish<'a> {
    /// A client that takes references.
    pub fn in_conversation(conversation: Option<&'a Conversation>) -> Wish<'a> {
        Wish {
            conversation,
            ..Wish::default()
        }
    }
}

/// What this process keeps between calls, for all clients.
pub struct Services {
    /// The language servers.
    pub compilers: ::lsp::Servers,
    /// What the language servers were told.
    pub told: codeintel::compiler::Memory,
    /// The process ends after one answer: a language server is started only if it is waited for.
    pub one_shot: bool,
    /// Edits that are only tried so far.
    pub workbench: Workbench,
    /// What clients were sent.
    pub memory: Memory,
    /// Whether credentials in code are shown.
    pub credentials: Credentials,
    /// Whether clients speak for the user whose programs would run, who may be asked whether a repository is trusted.
    pub asks_user: bool,
}

/// What becomes of credentials in the code that an answer shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Credentials {
    /// A mask that names the kind stands for each.
    #[default]
    Masked,
    /// They are shown as they are.
    Shown,
}

/// The flag of every verb that shows code.
#[derive(clap::Args, Clone, Copy, Debug, Default)]
pub struct ShowSecrets {
    /// Show credentials in code (keys, tokens, passwords in addresses), for which a mask like `[redacted: aws key]` stands otherwise
    #[arg(long, env = "LACON_SHOW_SECRETS", value_parser = clap::builder::FalseyValueParser::new(), action = clap::ArgAction::SetTrue)]
    show_secrets: bool,
}

impl From<ShowSecrets> for Credentials {
    fn from(flag: ShowSecrets) -> Credentials {
        match flag.show_secrets {
            true => Credentials::Shown,
            false => Credentials::Masked,
        }
    }
}

impl Default for Services {
    fn default() -> Services {
        Services {
            compilers: ::lsp::Servers::new(lsp::config()),
            told: codeintel::compiler::Memory::default(),
            one_shot: false,
            workbench: Workbench::default(),
            memory: Memory::default(),
            credentials: Credentials::default(),
            asks_user: false,
        }
    }
}

/// The families of tools, in the order they are listed; each has a file of its own.
const FAMILIES: &[&[Tool]] = &[
    code::TOOLS,
    graph::TOOLS,
    context::TOOLS,
    lsp::TOOLS,
    edit::TOOLS,
    descriptors::TOOLS,
    search::TOOLS,
];

/// Every tool, in the order they are listed.
pub fn all() -> impl Iterator<Item = &'static Tool> {
    FAMILIES.iter().copied().flatten()
}

impl Toolset {
    /// Whether a tool is one of those it lists.
    pub(crate) fn lists(self, tool: &Tool) -> bool {
        self == Toolset::All || tool.toolset == Toolset::Core || tool.toolset == self
    }
}

/// The tools whose answers are read as plain text, by models and people alike ([`wire::layout::Layout::text`]).
const READ_AS_TEXT: &[&str] = &["find", "read", "uses", "trace", "change", "grep"];

/// The tool with this name.
pub fn find(name: &str) -> Option<&'static Tool> {
    all().find(|tool| tool.name == name)
}

impl Tool {
    /// The JSON Schema of its arguments, those that every tool takes included.
    pub fn input_schema(&self, several_repositories: bool) -> Map<String, Value> {
        schema::input(self, several_repositories)
    }

    /// Rewrites arguments as models and the seeds' clients write them to the words of [`Tool::input_schema`].
    pub fn spell_as_listed(&self, arguments: &mut Map<String, Value>) {
        schema::as_listed(self, arguments);
    }

    /// Its name for people.
    pub(crate) fn title(&self) -> String {
        let words = self.name.replace('_', " ");
        let mut letters = words.chars();
        letters
            .next()
            .map(|first| first.to_uppercase().chain(letters).collect())
            .unwrap_or_default()
    }

    /// Whether a person at a terminal reads the same text as a model.
    pub fn is_read_as_text(&self) -> bool {
        READ_AS_TEXT.contains(&self.name)
    }

    /// The JSON Schema of its answers as JSON.
    pub(crate) fn output_schema(&self) -> Map<String, Value> {
        schema::output(self.name)
    }
}

/// Which tool is about which repositories, as the wire protocol publishes it.
pub(crate) fn definitions(tools: impl Iterator<Item = &'static Tool>) -> Result<String, Refusal> {
    let rows = tools.map(|tool| (tool.name, tool.scope.as_str()));
    wire::protocol::encode_tool_definitions(rows).map_err(|error| refusal("internal_error", error.to_string()))
}

/// Reads the parameters, asks, and keeps the answer with its layout.
fn put<P: DeserializeOwned, A: Serialize>(
    desk: &Desk,
    arguments: Map<String, Value>,
    question: fn(&Workspace, &P) -> Result<A, QuestionError>,
    layout: Layout<'static>,
) -> Result<Reply, Refusal> {
    let parameters = read(arguments)?;
    let found = question(desk.workspace, &parameters).map_err(refused)?;
    Ok(Reply {
        value: value(&found)?,
        layout,
    })
}

fn read<P: DeserializeOwned>(arguments: Map<String, Value>) -> Result<P, Refusal> {
    let arguments = Value::Object(arguments);
    P::deserialize(&arguments)
        .map_err(|error| refusal("invalid_argument", misread::<P>(&arguments, &error.to_string())))
}

/// Which argument is wrong, and why: the one without which something else is, since the reader does not tell.
fn misread<P: DeserializeOwned>(arguments: &Value, problem: &str) -> String {
    if let Some((name, _)) = problem
        .strip_prefix("missing field `")
        .and_then(|rest| rest.split_once('`'))
    {
        return format!("argument `{name}` is missing");
    }
    let is_wrong = |name: &String| {
        let mut without = arguments.clone();
        without.as_object_mut().map(|members| members.remove(name));
        P::deserialize(&without).map_or_else(|other| other.to_string() != problem, |_| true)
    };
    let problem = in_words(problem);
    match arguments
        .as_object()
        .and_then(|members| members.keys().find(|name| is_wrong(name)))
    {
        Some(name) => format!("argument `{name}`: {problem}"),
        None => problem,
    }
}

/// What is expected, as people call it.
fn in_words(problem: &str) -> String {
    let Some((found, expected)) = problem.rsplit_once("expected ") else {
        return problem.to_string();
    };
    let expected = match expected {
        "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number",
        "f32" | "f64" => "a number",
        "a boolean" => "true or false",
        "a sequence" => "a list",
        other => other,
    };
    format!("{found}expected {expected}")
}

fn value(found: &impl Serialize) -> Result<Value, Refusal> {
    serde_json::to_value(found).map_err(|error| refusal("internal_error", error.to_string()))
}

pub fn refused(error: QuestionError) -> Refusal {
    let detail = match &error {
        QuestionError::Scope { detail, .. } => detail.clone(),
        _ => String::new(),
    };
    Refusal {
        code: error.code().to_string(),
        message: error.to_string(),
        detail,
    }
}

/// A refusal as a verb's failure: what was asked is at fault, unless there is nothing to ask.
pub fn failure(refusal: Refusal) -> Failure {
    let exit = match refusal.code.as_str() {
        "no_index" | "index_building" | sound::DAMAGED | "internal_error" => Exit::Failed,
        _ => Exit::BadInput,
    };
    Failure {
        exit,
        error: anyhow!("{}", in_verbs(&refusal.message)),
        hints: Vec::new(),
    }
}

/// A message with the verbs of the command line for the tools that it names.
fn in_verbs(message: &str) -> String {
    const VERBS: [(&str, &str); 9] = [
        ("find", "find"),
        ("search_symbols", "symbols"),
        ("search_code", "search"),
        ("search_text", "grep"),
        ("search_docs", "docs"),
        ("find_references", "references"),
        ("find_usages", "usages"),
        ("get_file_summary", "summary"),
        ("get_symbol_source", "source"),
    ];
    VERBS.iter().fold(message.to_owned(), |message, (tool, verb)| {
        message.replace(&format!("`{tool}`"), &format!("`lacon {verb}`"))
    })
}

pub(crate) fn refusal(code: &str, message: impl Into<String>) -> Refusal {
    Refusal {
        code: code.to_string(),
        message: message.into(),
        detail: String::new(),
    }
}

#[cfg(test)]
mod tests {
    use expect_test::expect_file;
    use serde_json::Value;

    use super::{Cut, Tool, Toolset, all, in_verbs};

    #[test]
    fn the_command_line_is_told_of_its_verbs() {
        let said = in_verbs("no symbol `x`: `search_symbols` finds names by their parts");
        assert_eq!(said, "no symbol `x`: `lacon symbols` finds names by their parts");
    }

    #[test]
    fn names_differ_and_every_set_holds_the_core() {
        let mut names: Vec<&str> = all().map(|tool| tool.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), all().count());
        let count = |set: Toolset| all().filter(|tool| set.lists(tool)).count();
        for set in [Toolset::Graph, Toolset::Edit, Toolset::Search] {
            assert!(count(Toolset::Core) <= count(set) && count(set) <= count(Toolset::All));
        }
        assert_eq!(count(Toolset::All), all().count());
    }

    /// What can be cut must have the argument that cuts it.
    #[test]
    fn every_cut_has_its_argument() {
        for tool in all() {
            let argument = match tool.cut {
                Cut::Rows => "limit",
                Cut::Lines => "max_lines",
                Cut::Symbols => "ids",
                Cut::Told | Cut::Never => continue,
            };
            assert!(properties(tool).contains_key(argument), "{}", tool.name);
        }
    }

    /// Run with `UPDATE_EXPECT=1` after changing a tool.
    #[test]
    fn the_reference_page_is_up_to_date() {
        let mut page = String::from(
            "# The tools\n\nGenerated from the tables in `crates/server/src/tools/`. Every tool also takes `format` (auto, json, gcx, \
             gcf, markdown), `max_tokens` (o200k tokens of the text sent, never exceeded) and `if_none_match` (the etag of an \
             earlier answer). In a workspace of several repositories a tool of scope `repo` needs `repo` as a name and one of \
             scope `fan-out` as a list of names or `[\"*\"]`; one of scope `workspace` refuses it.\n\n\
             | tool | toolset | scope | max_tokens | says |\n|---|---|---|---|---|\n",
        );
        for tool in all() {
            page.push_str(&format!(
                "| [{0}](#{0}) | {1} | {2} | {3} | {4} |\n",
                tool.name,
                format!("{:?}", tool.toolset).to_lowercase(),
                tool.scope.as_str(),
                tool.max_tokens,
                tool.about
            ));
        }
        for tool in all() {
            page.push_str(&format!("\n## {}\n\n{}\n", tool.name, tool.about));
            let (properties, required) = (properties(tool), required(tool));
            if properties.is_empty() {
                continue;
            }
            page.push_str("\n| argument | type | says |\n|---|---|---|\n");
            for (name, schema) in &properties {
                let needed = if required.contains(name) { ", required" } else { "" };
                let text = |key: &str| {
                    schema
                        .get(key)
                        .and_then(Value::as_str)
                        .unwrap_or_default()
                        .replace('|', "\\|")
                };
                page.push_str(&format!(
                    "| {name} | {}{needed} | {} |\n",
                    text("type"),
                    text("description")
                ));
            }
        }
        expect_file!["../../../docs/reference/tools.md"].assert_eq(&page);
    }

    fn properties(tool: &Tool) -> serde_json::Map<String, Value> {
        let schema = (tool.parameters)();
        schema
            .get("properties")
            .and_then(Value::as_object)
            .cloned()
            .unwrap_or_default()
    }

    fn required(tool: &Tool) -> Vec<String> {
        let schema = (tool.parameters)();
        let required = schema.get("required").cloned().unwrap_or_default();
        serde_json::from_value(required).unwrap_or_default()
    }
}
