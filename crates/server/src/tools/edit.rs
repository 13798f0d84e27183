//! The tools that try edits and make them. Without a session an edit is written at once and can be undone with `lacon undo`.

use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use wire::layout::{Column, Layout, Section};
use wire::protocol::{Refusal, Scope};

use super::{Cut, Desk, Reply, Tool, Toolset, read, schema, value};
use crate::editing::{
    ApplyEdit, Chain, Delete, Editor, Format, InsertAtSymbol, Open, Preview, Rename, ReplaceSymbol, Session,
    SimulateEdit, evaluate, format_document, rename_symbol,
};

/// How long compilers may take to judge an edit, or to make one.
const PATIENCE: Duration = Duration::from_secs(60);

/// One row: what differs between the tools is who is asked and whether files may change.
const fn tool(
    name: &'static str,
    about: &'static str,
    writes: bool,
    parameters: fn() -> Value,
    ask: fn(&Desk, Map<String, Value>) -> Result<Reply, Refusal>,
) -> Tool {
    Tool {
        name,
        about,
        toolset: Toolset::Edit,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Told,
        writes,
        parameters,
        ask,
    }
}

/// What changes code.
pub(super) const TOOLS: &[Tool] = &[
    tool(
        "apply_edit",
        "Replace text or lines of a file, or make a new one.",
        true,
        schema::of::<ApplyEdit>,
        |desk, arguments| put("apply_edit", desk, arguments, |editor, ask| editor.apply_edit(ask)),
    ),
    tool(
        "replace_symbol_body",
        "Replace a whole definition, wherever it stands now.",
        true,
        schema::of::<ReplaceSymbol>,
        |desk, arguments| {
            put("replace_symbol_body", desk, arguments, |editor, ask| {
                editor.replace_symbol_body(ask)
            })
        },
    ),
    tool(
        "insert_before_symbol",
        "Insert code before a definition and its comment.",
        true,
        schema::of::<InsertAtSymbol>,
        |desk, arguments| {
            put("insert_before_symbol", desk, arguments, |editor, ask| {
                editor.insert_before_symbol(ask)
            })
        },
    ),
    tool(
        "insert_after_symbol",
        "Insert code after a definition.",
        true,
        schema::of::<InsertAtSymbol>,
        |desk, arguments| {
            put("insert_after_symbol", desk, arguments, |editor, ask| {
                editor.insert_after_symbol(ask)
            })
        },
    ),
    tool(
        "safe_delete_symbol",
        "Delete a definition that nothing uses; what uses it is named otherwise.",
        true,
        schema::of::<Delete>,
        |desk, arguments| {
            put("safe_delete_symbol", desk, arguments, |editor, ask| {
                editor.safe_delete_symbol(ask, PATIENCE)
            })
        },
    ),
    tool(
        "rename_symbol",
        "Rename a symbol everywhere, as its language server does it.",
        true,
        schema::of::<Rename>,
        |desk, arguments| {
            put("rename_symbol", desk, arguments, |editor, ask| {
                rename_symbol(editor, &desk.services.compilers, ask, PATIENCE)
            })
        },
    ),
    tool(
        "format_document",
        "Format a file as its language server does it.",
        true,
        schema::of::<Format>,
        |desk, arguments| {
            put("format_document", desk, arguments, |editor, ask| {
                format_document(editor, &desk.services.compilers, ask, PATIENCE)
            })
        },
    ),
    tool(
        "create_session",
        "Open a session in which edits are only tried.",
        false,
        schema::of::<Open>,
        |desk, arguments| {
            put("create_session", desk, arguments, |editor, ask| {
                editor.create_session(ask)
            })
        },
    ),
    tool(
        "simulate_edit",
        "Try an edit in a session; shows the diff, writes nothing.",
        false,
        schema::of::<SimulateEdit>,
        |desk, arguments| {
            put("simulate_edit", desk, arguments, |editor, ask| {
                editor.simulate_edit(ask)
            })
        },
    ),
    tool(
        "simulate_chain",
        "Try several edits in a session, all or none.",
        false,
        schema::of::<Chain>,
        |desk, arguments| {
            put("simulate_chain", desk, arguments, |editor, ask| {
                editor.simulate_chain(ask)
            })
        },
    ),
    tool(
        "evaluate_session",
        "What a session's edits break or cure, in the edited files and their dependents.",
        false,
        schema::of::<Session>,
        |desk, arguments| {
            put("evaluate_session", desk, arguments, |editor, ask: &Session| {
                let draft = editor.draft(&ask.session)?;
                evaluate(desk.workspace, &desk.services.compilers, &draft, PATIENCE)
            })
        },
    ),
    tool(
        "preview_edit",
        "What one edit would break or cure, without a session; writes nothing.",
        false,
        schema::of::<Preview>,
        |desk, arguments| {
            put("preview_edit", desk, arguments, |editor, ask: &Preview| {
                let draft = editor.preview(ask)?;
                evaluate(desk.workspace, &desk.services.compilers, &draft, PATIENCE)
            })
        },
    ),
    tool(
        "commit_session",
        "Write a session's edits, all or none; refused if a file changed meanwhile.",
        true,
        schema::of::<Session>,
        |desk, arguments| {
            put("commit_session", desk, arguments, |editor, ask| {
                editor.commit_session(ask)
            })
        },
    ),
    tool(
        "discard_session",
        "Forget a session's edits.",
        false,
        schema::of::<Session>,
        |desk, arguments| {
            put("discard_session", desk, arguments, |editor, ask| {
                editor.discard_session(ask)
            })
        },
    ),
];

/// Reads the parameters, edits, and lays out what was done.
fn put<P: DeserializeOwned, A: Serialize>(
    name: &'static str,
    desk: &Desk,
    arguments: Map<String, Value>,
    edit: impl Fn(&Editor, &P) -> Result<A, Refusal>,
) -> Result<Reply, Refusal> {
    let editor = Editor {
        bench: &desk.services.workbench,
        workspace: desk.workspace,
        servers: &desk.services.compilers,
        owner: desk.caller,
    };
    let done = edit(&editor, &read(arguments)?)?;
    Ok(Reply {
        value: value(&done)?,
        layout: match name {
            "evaluate_session" | "preview_edit" => Layout { tool: name, ..JUDGED },
            _ => Layout::generic(name),
        },
    })
}

const FINDING: &[Column] = &[
    Column::text("path", "the file"),
    Column::integer("line", "1-based"),
    Column::integer("column", "1-based, in characters"),
    Column::text("severity", "error or warning"),
    Column::text("code", "the compiler's code").optional(),
    Column::text("message", "what is wrong"),
];

/// What edits would do: where, then what.
const JUDGED: Layout<'static> = Layout {
    tool: "evaluate_session",
    about: "What edits break or cure.",
    sections: &[
        Section::many("", "introduced", FINDING),
        Section::many(".resolved", "resolved", FINDING),
    ],
    meta: &[
        Column::text("tier", "lsp, partial or none"),
        Column::text("incomplete", "why it is not lsp").optional(),
        Column::integer("errors_introduced", "errors that only the edited code has"),
        Column::integer("errors_resolved", "errors that only the code as it is has"),
        Column::integer("files_checked", "files that were checked"),
        Column::integer("dependents", "files that depend on the edited ones"),
        Column::text("etag", "pass it as if_none_match to skip an unchanged answer").optional(),
    ],
    text: None,
};
