//! Changes that only a compiler can make: renames and formatting. Its steps become a draft; the model never retypes them.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use codeintel::Repository;
use codeintel::compiler::point;
use lsp::edits::{Draft, OnDisk, TextEdit};
use lsp::{Range, Server, Servers, State, Step, Text};
use wire::protocol::Refusal;

use super::left::{self, Renamed};
use super::parameters::{Format, Rename};
use super::{Edited, Editor, edit_refused, find};
use crate::tools::{refusal, refused};

/// Renames a symbol in every file that the language server knows.
pub(crate) fn rename_symbol(
    editor: &Editor,
    servers: &Servers,
    ask: &Rename,
    patience: Duration,
) -> Result<Edited, Refusal> {
    let deadline = Instant::now() + patience;
    let gone = || refusal("no_such_symbol", "nothing is indexed yet");
    let pointed = point(editor.workspace, ask.which.pointer()).map_err(refused)?;
    let repository = editor.workspace.repository(pointed.repository).ok_or_else(gone)?;
    let (path, place) = (pointed.path, pointed.place);
    let named = pointed.symbol.and_then(|key| editor.workspace.symbol(key));
    if let Some(symbol) = named.filter(|symbol| symbol.path() == path && symbol.name_at().line == place.line) {
        // The index may be behind: the name must stand where it says.
        let on_disk = OnDisk::read(&repository.root, &path).map_err(edit_refused)?;
        let mut lines = on_disk.text.lines();
        let line = lines.nth((place.line as usize).saturating_sub(1)).unwrap_or_default();
        let rest = line.get(symbol.name_at().column as usize..).unwrap_or_default();
        if !rest.starts_with(symbol.name()) {
            return Err(refusal(
                "stale_file",
                format!("`{path}` changed since it was indexed: ask again in a moment"),
            ));
        }
    }
    let (server, file) = ready(repository, servers, &path, deadline)?;
    let ask_server = |deadline| {
        let steps = server.rename(&file, place, &ask.new_name, deadline);
        steps.map_err(|error| refusal("lsp_failed", format!("{}: {error}", server.name())))
    };
    let renamed = Renamed {
        repository,
        symbol: pointed.symbol.filter(|key| key.repository == pointed.repository),
        server: &server,
        file: &file,
        place,
    };
    let mut steps = ask_server(deadline)?;
    let mut left = renamed.left_by(&steps, deadline)?;
    if !left.is_empty() && !steps.is_empty() {
        // A server that has lost track of its project (of a file that an edit was tried on, say) finds it again from the beginning.
        tracing::warn!(
            server = server.name(),
            "a rename left places out: the server is started again"
        );
        server.stop();
        let deadline = deadline.max(Instant::now() + patience);
        ready(repository, servers, &path, deadline)?;
        steps = ask_server(deadline)?;
        left = renamed.left_by(&steps, deadline)?;
    }
    if steps.is_empty() {
        return Err(refusal(
            "lsp_refused",
            format!(
                "{} gives no way to rename `{}` to `{}`",
                server.name(),
                pointed.shown,
                ask.new_name
            ),
        ));
    }
    if !left.is_empty() && !ask.force {
        return Err(Refusal {
            code: "rename_incomplete".to_owned(),
            message: format!(
                "{} would leave the old name at {}: nothing was written; edit those by hand afterwards and give `force`, or rename with apply_edit",
                server.name(),
                left::listed(&left)
            ),
            detail: left.len().to_string(),
        });
    }
    let change = |draft: &mut Draft| steps.iter().try_for_each(|step| take(draft, &repository.root, step));
    let about = format!("rename_symbol {} to {}", pointed.shown, ask.new_name);
    let mut edited = editor.make(repository, &ask.aim, &about, &change)?;
    if !left.is_empty() {
        edited.note = Some(format!("the old name stays at {}", left::listed(&left)));
    }
    Ok(edited)
}

/// Formats one file.
pub(crate) fn format_document(
    editor: &Editor,
    servers: &Servers,
    ask: &Format,
    patience: Duration,
) -> Result<Edited, Refusal> {
    let deadline = Instant::now() + patience;
    let (repository, path) = find::file(editor.workspace, &ask.path)?;
    let (server, file) = ready(repository, servers, &path, deadline)?;
    let edits = server.format(&file, ask.tab_size.unwrap_or(4).clamp(1, 16), !ask.tabs, deadline);
    let edits = edits.map_err(|error| refusal("lsp_failed", format!("{}: {error}", server.name())))?;
    let change = |draft: &mut Draft| put_edits(draft, &path, &edits);
    let about = format!("format_document {path}");
    editor.make(repository, &ask.aim, &about, &change)
}

/// A server that has read the project, and the file opened in it.
fn ready(
    repository: &Repository,
    servers: &Servers,
    path: &str,
    deadline: Instant,
) -> Result<(Server, PathBuf), Refusal> {
    let file = repository.root.join(path);
    let no_server = |why: String| refusal("lsp_unavailable", format!("{why}; `lacon doctor` says what to install"));
    let language = syntax::languages::detect(path, b"")
        .ok_or_else(|| no_server(format!("no language server is known for `{path}`")))?
        .name();
    let server = match servers.server(&repository.root, language, Some(&file)) {
        Ok(server) => server,
        Err(State::Absent { why }) => return Err(no_server(why)),
        Err(state @ State::Untrusted { .. }) => return Err(refusal("untrusted", state.to_string())),
        Err(_) => return Err(no_server(format!("no language server for {language}"))),
    };
    server
        .prepare(&file, language)
        .map_err(|error| refusal("io_error", format!("`{path}`: {error}")))?;
    match server.wait_ready(deadline) {
        State::Ready { .. } => Ok((server, file)),
        State::Failed { why, .. } => Err(refusal("lsp_failed", format!("{}: {why}", server.name()))),
        State::Absent { why } | State::Starting { why } => Err(refusal(
            "lsp_not_ready",
            format!("{} has not read the project yet ({why}): ask again", server.name()),
        )),
        state @ State::Untrusted { .. } => Err(refusal("untrusted", state.to_string())),
        State::Idle => Err(refusal(
            "lsp_not_ready",
            format!("{} has not started: ask again", server.name()),
        )),
    }
}

/// One step of a server's change, in a draft. A step outside of the repository refuses the whole change.
fn take(draft: &mut Draft, root: &Path, step: &Step) -> Result<(), Refusal> {
    let inside = |path: &Path| {
        let canonical = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let relative = path.strip_prefix(root).or_else(|_| path.strip_prefix(&canonical));
        relative
            .ok()
            .and_then(|relative| relative.to_str())
            .map(str::to_owned)
            .ok_or_else(|| {
                refusal(
                    "path_outside_roots",
                    format!(
                        "the change reaches `{}`, outside of the repository; nothing was written",
                        path.display()
                    ),
                )
            })
    };
    match step {
        Step::Edit { path, edits } => put_edits(draft, &inside(path)?, edits),
        Step::Create(path) => draft.write(&inside(path)?, "").map_err(edit_refused),
        Step::Rename { from, to } => draft.rename(&inside(from)?, &inside(to)?).map_err(edit_refused),
        Step::Delete(path) => draft.delete(&inside(path)?).map_err(edit_refused),
    }
}

fn put_edits(draft: &mut Draft, path: &str, edits: &[(Range, String)]) -> Result<(), Refusal> {
    let text = draft.text(path).map_err(edit_refused)?;
    let places = Text::new(text.as_str());
    let edits: Vec<TextEdit> = edits
        .iter()
        .map(|(range, new)| TextEdit {
            range: places.offset(range.start)..places.offset(range.end),
            text: new.clone(),
        })
        .collect();
    draft.edit(path, &edits).map_err(edit_refused)
}
