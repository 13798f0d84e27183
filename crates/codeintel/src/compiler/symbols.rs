//! `list_symbols` and `find_symbol`: what a file declares, and what has a name. The graph knows both at once; a warm server adds
//! what only a compiler sees (generated members, types of values).

use lsp::State;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::pages::Pages;
use super::{Compilers, Standing, Wait, Writer, absolute, shown};
use crate::error::QuestionError;
use crate::page;
use crate::search_symbols::{Search, search_symbols};
use crate::workspace::Workspace;
use crate::{kinds, naming, syntax_errors};

/// What `list_symbols` is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListSymbols {
    /// File: its path, or the end of it.
    pub path: String,
    /// Symbols per page (default 200).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// lsp: wait until the language server is ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
    /// How long at most (default 180000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_wait_ms: Option<u64>,
}

/// What `find_symbol` is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FindSymbol {
    /// Name or part of it.
    pub query: String,
    /// Symbols per page (default 20).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// lsp: wait until the language servers of the workspace's main languages are ready.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wait: Option<String>,
    /// How long at most (default 180000).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_wait_ms: Option<u64>,
}

/// What a file declares.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Symbols {
    /// The file.
    pub path: String,
    /// Where the answer comes from.
    #[serde(flatten)]
    pub standing: Standing,
    /// Symbols in all.
    pub total: u64,
    /// Whether symbols were left out.
    pub truncated: bool,
    /// For the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// In source order.
    pub symbols: Vec<Declared>,
}

/// One declared symbol.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Declared {
    /// `Owner.name`.
    pub name: String,
    /// function, method, type, …
    pub kind: &'static str,
    /// `start:end`.
    pub lines: String,
    /// Signature or type.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub sig: String,
}

/// What has a name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Named {
    /// Where the answer comes from.
    #[serde(flatten)]
    pub standing: Standing,
    /// Symbols in all.
    pub total: u64,
    /// Whether symbols were left out.
    pub truncated: bool,
    /// For the next page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// Best first.
    pub symbols: Vec<NamedSymbol>,
}

/// One symbol with a name.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NamedSymbol {
    /// `Owner.name`.
    pub name: String,
    /// function, method, type, …
    pub kind: String,
    /// The file.
    pub path: String,
    /// `line:column`, or the line alone where the graph answers.
    pub at: String,
}

/// What a file declares.
pub fn list_symbols(
    workspace: &Workspace,
    compilers: Compilers<'_>,
    ask: &ListSymbols,
) -> Result<Symbols, QuestionError> {
    let (number, file) = naming::find_file(workspace, &ask.path)?;
    let pages = Pages::of(workspace, ask.limit, ask.cursor.as_deref(), 200)?;
    let repository = &workspace.repositories()[number];
    let wait = Wait::of(ask.wait.as_deref(), ask.max_wait_ms)?;
    let asked = compilers.for_file(repository, file.path(), file.language(), wait);
    let answered = asked.and_then(|compiler| {
        let outline = compiler
            .server
            .outline(&absolute(repository, file.path()), compiler.deadline);
        let outline = outline.map_err(|error| error.to_string())?;
        let mut standing = Standing::compiler(&compiler, workspace);
        standing.complete = true;
        Ok((outline, standing))
    });
    let (symbols, standing) = match answered {
        Ok((outline, standing)) => {
            // A parameter is said by the signature.
            let declared = outline.into_iter().filter(|symbol| !symbol.local);
            let symbols = declared.map(|symbol| Declared {
                kind: symbol.kind.word(),
                lines: format!("{}:{}", symbol.range.start.line, symbol.range.end.line),
                sig: symbol.detail,
                name: match symbol.container {
                    Some(container) => format!("{container}.{}", symbol.name),
                    None => symbol.name,
                },
            });
            (symbols.collect(), standing)
        }
        Err(why) => {
            let declared = file
                .symbols()
                .filter(|symbol| !symbol.is_file())
                .map(|symbol| Declared {
                    name: symbol.qualified_name(),
                    kind: kinds::kind(symbol),
                    lines: format!("{}:{}", symbol.span().start_line, symbol.span().end_line),
                    sig: symbol.signature().to_string(),
                });
            let mut standing = Standing::graph(workspace, why);
            // What a file declares stands in the file: the grammar sees all of it.
            let unread = syntax_errors::of_file(workspace, number, file);
            standing.complete = unread.is_none();
            if let Some(unread) = unread {
                standing.remark(unread);
            }
            (declared.collect::<Vec<_>>(), standing)
        }
    };
    let cut = pages.cut(&standing, symbols)?;
    Ok(Symbols {
        path: workspace.path(number, file.path()),
        standing,
        total: cut.total,
        truncated: cut.truncated,
        next_cursor: cut.next_cursor,
        symbols: cut.rows,
    })
}

/// What has a name.
pub fn find_symbol(workspace: &Workspace, compilers: Compilers<'_>, ask: &FindSymbol) -> Result<Named, QuestionError> {
    let wait = Wait::of(ask.wait.as_deref(), ask.max_wait_ms)?;
    let pages = Pages::of(workspace, ask.limit, ask.cursor.as_deref(), 20)?;
    let (mut found, mut servers, mut missing) = (Vec::new(), Vec::new(), Vec::new());
    for (repository, language, path) in main_languages(workspace, compilers, wait) {
        match compilers.for_file(repository, &path, &language, wait) {
            Ok(compiler) => match compiler.server.symbols(&ask.query, compiler.deadline) {
                Ok(symbols) => {
                    servers.push(compiler.server.name().to_string());
                    let mut writer = Writer::of(workspace, &compiler.server);
                    for symbol in symbols
                        .into_iter()
                        .filter(|symbol| shown(workspace, &symbol.path).1.is_some())
                    {
                        found.push(NamedSymbol {
                            at: writer.place(&symbol.path, symbol.name_range.start),
                            path: shown(workspace, &symbol.path).0,
                            kind: symbol.kind.word().to_string(),
                            name: match symbol.container {
                                Some(container) => format!("{container}.{}", symbol.name),
                                None => symbol.name,
                            },
                        });
                    }
                }
                Err(error) => missing.push(error.to_string()),
            },
            Err(why) => missing.push(why),
        }
    }
    if found.is_empty() {
        let search = Search {
            query: ask.query.clone(),
            limit: Some(pages.page().limit as u32),
            cursor: Some(page::cursor(workspace, pages.page().offset)),
            ..Search::default()
        };
        let by_graph = search_symbols(workspace, &search)?;
        let why = if missing.is_empty() {
            "by the index".to_string()
        } else {
            missing.join("; ")
        };
        let mut standing = Standing::graph(workspace, why);
        // The index holds every name of the tree; only what it does not hold yet is missing.
        standing.complete = workspace.incomplete().is_none();
        let symbols = by_graph.results.into_iter().map(|hit| NamedSymbol {
            name: hit
                .id
                .rsplit_once("::")
                .map_or(hit.name.clone(), |(_, name)| name.to_string()),
            kind: hit.kind,
            path: hit.path,
            at: hit.line.to_string(),
        });
        let next_cursor = pages.next(&standing, by_graph.total as usize)?;
        return Ok(Named {
            standing,
            total: by_graph.total,
            truncated: next_cursor.is_some(),
            next_cursor,
            symbols: symbols.collect(),
        });
    }
    // Exact names first, then shorter ones.
    let rank = |symbol: &NamedSymbol| {
        let own = symbol.name.rsplit('.').next().unwrap_or_default();
        (own != ask.query, !own.eq_ignore_ascii_case(&ask.query), own.len())
    };
    found.sort_by(|a, b| {
        rank(a)
            .cmp(&rank(b))
            .then_with(|| (&a.path, &a.at).cmp(&(&b.path, &b.at)))
    });
    found.dedup();
    servers.dedup();
    let standing = Standing {
        tier: "lsp",
        server: Some(servers.join(", ")),
        complete: missing.is_empty(),
        note: (!missing.is_empty()).then(|| missing.join("; ")),
    };
    let cut = pages.cut(&standing, found)?;
    Ok(Named {
        standing,
        total: cut.total,
        truncated: cut.truncated,
        next_cursor: cut.next_cursor,
        symbols: cut.rows,
    })
}

/// A file of each language whose server may be asked: all that run, or the main ones where they are waited for.
fn main_languages<'a>(
    workspace: &'a Workspace,
    compilers: Compilers<'_>,
    wait: Wait,
) -> Vec<(&'a crate::Repository, String, String)> {
    const MAIN: usize = 2;
    let mut chosen = Vec::new();
    for repository in workspace.repositories() {
        let mut languages: Vec<(u64, String)> = repository
            .snapshot
            .languages()
            .map(|language| (language.lines(), language.name().to_string()))
            .collect();
        languages.sort_by(|a, b| b.cmp(a));
        let runs = |language: &str| {
            !matches!(
                compilers.servers.at(&repository.root, language),
                State::Absent { .. } | State::Untrusted { .. } | State::Idle
            )
        };
        let known = |language: &str| !matches!(compilers.servers.at(&repository.root, language), State::Absent { .. });
        let mut asked: Vec<String> = match wait {
            Wait::Warm(_) => languages
                .iter()
                .map(|(_, name)| name.clone())
                .filter(|name| runs(name))
                .collect(),
            Wait::Ready(_) => languages
                .iter()
                .map(|(_, name)| name.clone())
                .filter(|name| known(name))
                .take(MAIN)
                .collect(),
        };
        asked.dedup();
        for language in asked {
            if let Some(file) = repository.snapshot.files().find(|file| file.language() == language) {
                chosen.push((repository, language, file.path().to_string()));
            }
        }
    }
    chosen
}
