//! The three GCX1 shapes that travel beside answers: which tools exist and how far each reaches, one call, one refusal.
//! Both directions check the same rules, so neither side can send what the other would refuse.

use std::fmt;

use serde_json::Value;

use crate::gcx::{self, Error, ErrorKind, Line, Reader, Writer, row_values};
use crate::layout::Layout;

/// A fan-out request names a repository that the workspace does not have.
pub const UNKNOWN_REPO: &str = "unknown_repo";
/// A fan-out request leaves out the list of repositories.
pub const MISSING_REPO_LIST: &str = "missing_repo_list";
/// A request to one repository does not say which.
pub const MISSING_REPO: &str = "missing_repo";
/// A request to the whole workspace names a repository.
pub const REPO_NOT_ALLOWED: &str = "repo_not_allowed";
/// The repository parameter is not of the type that the tool's scope asks for.
pub const WRONG_REPO_SHAPE: &str = "wrong_repo_shape";

/// The only way to say "every repository of this workspace" in a fan-out.
pub const EVERY_REPO: &str = "*";

/// How far a tool reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Scope {
    /// One repository.
    Repo,
    /// The workspace as a whole.
    Workspace,
    /// Several repositories, each asked by itself.
    FanOut,
}

impl Scope {
    /// The word on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Repo => "repo",
            Self::Workspace => "workspace",
            Self::FanOut => "fan-out",
        }
    }

    /// The scope that `word` names.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Repo, Self::Workspace, Self::FanOut]
            .into_iter()
            .find(|scope| scope.as_str() == word)
    }
}

/// A tool and its scope.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolDefinition {
    /// The tool's name.
    pub name: String,
    /// How far it reaches.
    pub scope: Scope,
}

/// One call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ToolRequest {
    /// The tool called.
    pub tool: String,
    /// What it is called on, which also says its scope.
    pub target: Target,
}

/// What a call is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Target {
    /// One repository by name.
    Repo(String),
    /// The workspace.
    Workspace,
    /// These repositories, or [`EVERY_REPO`] alone.
    FanOut(Vec<String>),
}

impl Target {
    /// The scope of a call with this target.
    pub const fn scope(&self) -> Scope {
        match self {
            Self::Repo(_) => Scope::Repo,
            Self::Workspace => Scope::Workspace,
            Self::FanOut(_) => Scope::FanOut,
        }
    }
}

/// A refusal: the `error` section, sent in place of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// One of the codes above, or another non-empty word.
    pub code: String,
    /// What went wrong, for a person.
    pub message: String,
    /// More about it, such as the offending name.
    pub detail: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.code, self.message, self.detail)
    }
}

impl std::error::Error for Refusal {}

/// Why a request could not be read: the text is broken, or the request breaks the rules and should be refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RequestError {
    /// The text is not a `tool_request` section.
    Text(Error),
    /// The request must be answered with this `error` section.
    Refused(Refusal),
}

impl fmt::Display for RequestError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(error) => error.fmt(f),
            Self::Refused(refusal) => refusal.fmt(f),
        }
    }
}

impl std::error::Error for RequestError {}

impl From<Error> for RequestError {
    fn from(error: Error) -> Self {
        Self::Text(error)
    }
}

/// Writes the registry, in name order. A name without a known scope is refused.
pub fn encode_tool_definitions<'a>(definitions: impl IntoIterator<Item = (&'a str, &'a str)>) -> gcx::Result<String> {
    let mut definitions: Vec<(&str, &str)> = definitions.into_iter().collect();
    definitions.sort_unstable();
    let mut writer = Writer::new();
    writer.section("tool_definitions", &["name", "scope"], &[])?;
    for (name, scope) in definitions {
        check_definition(name, scope, 0)?;
        writer.row(&[name, scope])?;
    }
    Ok(writer.finish())
}

/// Reads the registry.
pub fn decode_tool_definitions(text: &str) -> gcx::Result<Vec<ToolDefinition>> {
    let rows = read_section(text, "tool_definitions", &["name", "scope"])?;
    rows.into_iter()
        .map(|(line, mut row)| {
            let scope = check_definition(&row[0], &row[1], line)?;
            Ok(ToolDefinition {
                name: row.swap_remove(0),
                scope,
            })
        })
        .collect()
}

fn check_definition(name: &str, scope: &str, line: usize) -> gcx::Result<Scope> {
    const REMEDY: &str = "give every tool a scope";
    let column = if line > 0 { name.len() + 2 } else { 0 };
    if name.is_empty() {
        return Err(Error::at(
            ErrorKind::Schema,
            line,
            column.min(1),
            "a tool without a name",
            "a name",
            REMEDY,
        ));
    }
    Scope::parse(scope).ok_or_else(|| {
        let found = match scope {
            "" => format!("no scope for `{name}`"),
            _ => format!("the scope `{scope}` for `{name}`"),
        };
        Error::at(
            ErrorKind::Schema,
            line,
            column,
            found,
            "repo, workspace or fan-out",
            REMEDY,
        )
    })
}

/// Writes one call.
pub fn encode_tool_request(request: &ToolRequest) -> Result<String, RequestError> {
    let cell = match &request.target {
        Target::Repo(repo) => repo.clone(),
        Target::Workspace => String::new(),
        Target::FanOut(repos) => serde_json::Value::from(repos.clone()).to_string(),
    };
    let scope = request.target.scope();
    target(&request.tool, scope, &cell)?;
    let mut writer = Writer::new();
    writer.section("tool_request", &["tool", "scope", "repo"], &[])?;
    writer.row(&[&request.tool, scope.as_str(), &cell])?;
    Ok(writer.finish())
}

/// Reads one call, and refuses what its scope does not allow.
pub fn decode_tool_request(text: &str) -> Result<ToolRequest, RequestError> {
    let mut rows = read_section(text, "tool_request", &["tool", "scope", "repo"])?;
    if rows.len() != 1 {
        let found = format!("{} rows", rows.len());
        return Err(Error::at(
            ErrorKind::RowCount,
            1,
            1,
            found,
            "exactly one row",
            "send one request per payload",
        )
        .into());
    }
    let (line, mut row) = rows.remove(0);
    let scope = Scope::parse(&row[1]).ok_or_else(|| {
        let column = row[0].len() + 2;
        Error::at(
            ErrorKind::Schema,
            line,
            column,
            format!("the scope `{}`", row[1]),
            "repo, workspace or fan-out",
            "",
        )
    })?;
    let tool = row.swap_remove(0);
    if tool.is_empty() {
        return Err(Error::at(ErrorKind::Schema, line, 1, "no tool", "a tool's name", "name the tool").into());
    }
    // `swap_remove` put the repository where the tool was.
    let target = target(&tool, scope, &row[0])?;
    Ok(ToolRequest { tool, target })
}

/// Whether a list names every repository and single ones beside: which of both is meant cannot be known.
pub fn is_mixed<T: AsRef<str>>(repos: &[T]) -> bool {
    repos.len() > 1 && repos.iter().any(|repo| repo.as_ref() == EVERY_REPO)
}

/// What to do about such a list.
pub const EVERY_REPO_ALONE: &str = "`*` is every repository: give it alone, or give names";

/// Refuses a request for repositories that are not in the workspace.
pub fn check_repos(request: &ToolRequest, workspace: &[&str]) -> Result<(), Refusal> {
    if let Target::FanOut(repos) = &request.target
        && is_mixed(repos)
    {
        return Err(refusal(WRONG_REPO_SHAPE, EVERY_REPO_ALONE, &request.tool));
    }
    let unknown = |repo: &&str| *repo != EVERY_REPO && !workspace.contains(repo);
    let repos: Vec<&str> = match &request.target {
        Target::Repo(repo) => vec![repo],
        Target::Workspace => return Ok(()),
        Target::FanOut(repos) => repos.iter().map(String::as_str).collect(),
    };
    match repos.into_iter().find(unknown) {
        Some(repo) => Err(refusal(UNKNOWN_REPO, "no such repository in this workspace", repo)),
        None => Ok(()),
    }
}

/// The rule table: what the repository cell must hold, by scope.
fn target(tool: &str, scope: Scope, cell: &str) -> Result<Target, RequestError> {
    let list = || {
        serde_json::from_str::<serde_json::Value>(cell)
            .ok()
            .filter(serde_json::Value::is_array)
    };
    let refuse = |code, message: &str| Err(RequestError::Refused(refusal(code, message, tool)));
    match scope {
        Scope::Repo if cell.is_empty() => refuse(MISSING_REPO, "the tool works on one repository: name it"),
        Scope::Repo if cell.starts_with('[') && list().is_some() => refuse(
            WRONG_REPO_SHAPE,
            "the tool works on one repository: give a name, not a list",
        ),
        Scope::Repo => Ok(Target::Repo(cell.to_owned())),
        Scope::Workspace if cell.is_empty() => Ok(Target::Workspace),
        Scope::Workspace => refuse(
            REPO_NOT_ALLOWED,
            "the tool works on the whole workspace: leave repo out",
        ),
        Scope::FanOut if cell.is_empty() => refuse(MISSING_REPO_LIST, "give a list of repositories, or [\"*\"]"),
        Scope::FanOut => {
            let repos = list().and_then(|list| serde_json::from_value::<Vec<String>>(list).ok());
            match repos {
                Some(repos) if repos.is_empty() => refuse(MISSING_REPO_LIST, "the list of repositories is empty"),
                Some(repos) if is_mixed(&repos) => refuse(WRONG_REPO_SHAPE, EVERY_REPO_ALONE),
                Some(repos) if !repos.iter().any(String::is_empty) => Ok(Target::FanOut(repos)),
                _ => refuse(WRONG_REPO_SHAPE, "give a JSON list of repository names"),
            }
        }
    }
}

/// Checks a section that is one of the three shapes by its name; any other is left to its own rules.
pub(crate) fn check(tool: &str, text: &str) -> Result<(), RequestError> {
    match tool {
        DEFINITIONS => decode_tool_definitions(text).map(drop).map_err(RequestError::Text),
        REQUEST => decode_tool_request(text).map(drop),
        ERROR => decode_error(text).map(drop).map_err(RequestError::Text),
        _ => Ok(()),
    }
}

/// The layout of one of the three shapes, by its name.
pub(crate) fn layout(tool: &str) -> Option<&'static Layout<'static>> {
    let is_shape = [DEFINITIONS, REQUEST, ERROR].contains(&tool);
    is_shape.then(|| crate::answers::layout_of(tool)).flatten()
}

/// Writes a value as one of the three shapes demands.
pub(crate) fn encode(layout: &Layout<'static>, mut value: Value) -> Result<String, RequestError> {
    if let (DEFINITIONS, Value::Array(rows)) = (layout.tool, &mut value) {
        rows.sort_by(|one, other| one["name"].as_str().cmp(&other["name"].as_str()));
    }
    let text = gcx::to_string_with(layout, &value)?;
    check(layout.tool, &text)?;
    Ok(text)
}

const DEFINITIONS: &str = "tool_definitions";
const REQUEST: &str = "tool_request";
const ERROR: &str = "error";

fn refusal(code: &str, message: &str, detail: &str) -> Refusal {
    Refusal {
        code: code.to_owned(),
        message: message.to_owned(),
        detail: detail.to_owned(),
    }
}

/// Writes a refusal. A code is required.
pub fn encode_error(refusal: &Refusal) -> gcx::Result<String> {
    check_code(&refusal.code, 0)?;
    let mut writer = Writer::new();
    writer.section("error", &["code", "message", "detail"], &[])?;
    writer.row(&[&refusal.code, &refusal.message, &refusal.detail])?;
    Ok(writer.finish())
}

/// Reads a refusal.
pub fn decode_error(text: &str) -> gcx::Result<Refusal> {
    let mut rows = read_section(text, "error", &["code", "message", "detail"])?;
    if rows.len() != 1 {
        let found = format!("{} rows", rows.len());
        return Err(Error::at(
            ErrorKind::RowCount,
            1,
            1,
            found,
            "exactly one row",
            "send one error per payload",
        ));
    }
    let (line, mut row) = rows.remove(0);
    check_code(&row[0], line)?;
    let detail = row.swap_remove(2);
    let message = row.swap_remove(1);
    Ok(Refusal {
        code: row.swap_remove(0),
        message,
        detail,
    })
}

fn check_code(code: &str, line: usize) -> gcx::Result<()> {
    if code.is_empty() {
        return Err(Error::at(
            ErrorKind::Schema,
            line,
            line.min(1),
            "no code",
            "an error code",
            "name what went wrong",
        ));
    }
    Ok(())
}

/// Reads the only section of `text`, whose name and fields must be these.
fn read_section(text: &str, tool: &str, fields: &[&str]) -> gcx::Result<Vec<(usize, Vec<String>)>> {
    let mut reader = Reader::new(text);
    let mut rows = Vec::new();
    let mut sections = 0;
    while let Some(line) = reader.next_line()? {
        match line {
            Line::Header(header) => {
                sections += 1;
                if sections > 1 || header.tool != tool || header.fields != fields {
                    let found = format!("tool={} fields={}", header.tool, header.fields.join(","));
                    let expected = format!("one section tool={tool} fields={}", fields.join(","));
                    return Err(Error::at(ErrorKind::Schema, header.line, 1, found, expected, ""));
                }
            }
            Line::Row(row, number) => {
                let values = row_values(row, number, fields.len())?;
                rows.push((number, values.into_iter().map(std::borrow::Cow::into_owned).collect()));
            }
            Line::Blank(_) => {}
        }
    }
    Ok(rows)
}
