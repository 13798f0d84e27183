//! Finds what is to be edited: files by path, symbols by name, and a symbol's place in a text that may be newer than the index.

use codeintel::compiler::point;
use codeintel::{Repository, SymbolKey, Workspace, naming};
use lsp::edits::{Definition, Draft, TextEdit};
use syntax::facts::Kind;
use wire::protocol::Refusal;

use super::edit_refused;
use super::parameters::Which;
use crate::tools::{refusal, refused};

/// The repository that a path belongs to, and the path inside it. The file need not exist.
pub(super) fn file<'a>(workspace: &'a Workspace, path: &str) -> Result<(&'a Repository, String), Refusal> {
    let asked = path.trim_start_matches("./");
    let mut places = workspace.split(asked);
    match (places.next(), places.next()) {
        (Some((number, inside)), None) => Ok((&workspace.repositories()[number], inside.to_owned())),
        (None, _) => Err(refusal("no_such_file", "nothing is indexed yet")),
        _ => {
            let names: Vec<&str> = workspace
                .repositories()
                .iter()
                .map(|repository| repository.name.as_str())
                .collect();
            Err(refusal(
                "invalid_argument",
                format!(
                    "`{path}` could be in any repository: begin it with one of {}",
                    names.join(", ")
                ),
            ))
        }
    }
}

/// A symbol as it can be found again in another version of its file.
pub(super) struct Target<'a> {
    pub(super) repository: &'a Repository,
    pub(super) key: SymbolKey,
    pub(super) path: String,
    /// As it was asked for.
    pub(super) asked: String,
    pub(super) kind: Kind,
    pub(super) name: String,
    /// Which of the definitions in its file that have its kind and name, and how many those are.
    pub(super) number: usize,
    pub(super) of: usize,
}

/// The symbol that is pointed at.
pub(super) fn symbol<'a>(workspace: &'a Workspace, which: &Which) -> Result<Target<'a>, Refusal> {
    let pointer = which.pointer();
    let (key, asked) = match (pointer.path, pointer.symbol) {
        // By name alone, files that cannot be read as text are edited too.
        (None, Some(asked)) => (naming::find(workspace, asked).map_err(refused)?, asked.to_owned()),
        _ => {
            let pointed = point(workspace, pointer).map_err(refused)?;
            let unknown = || refusal("no_such_symbol", format!("no symbol is known at {}", pointed.shown));
            (pointed.symbol.ok_or_else(unknown)?, pointed.shown.clone())
        }
    };
    let gone = || refusal("no_such_symbol", format!("no symbol `{asked}`"));
    let found = workspace.symbol(key).ok_or_else(gone)?;
    let file = found.file().ok_or_else(gone)?;
    if found.is_file() {
        return Err(refusal(
            "invalid_argument",
            format!("`{asked}` is a file: use apply_edit for it"),
        ));
    }
    let mut same: Vec<(u32, SymbolKey)> = file
        .symbols()
        .filter(|symbol| symbol.kind() == found.kind() && symbol.name() == found.name())
        .map(|symbol| {
            let symbol_key = SymbolKey {
                repository: key.repository,
                symbol: symbol.id(),
            };
            (symbol.span().start, symbol_key)
        })
        .collect();
    same.sort_unstable();
    Ok(Target {
        repository: workspace.repository(key.repository).ok_or_else(gone)?,
        key,
        path: found.path().to_owned(),
        kind: found.kind(),
        name: found.name().to_owned(),
        number: same.iter().position(|(_, other)| *other == key).ok_or_else(gone)?,
        of: same.len(),
        asked,
    })
}

impl Target<'_> {
    /// Edits the symbol where it stands in the draft.
    pub(super) fn change(
        &self,
        draft: &mut Draft,
        edit: impl Fn(&Definition, &str) -> TextEdit,
    ) -> Result<(), Refusal> {
        let text = draft.text(&self.path).map_err(edit_refused)?;
        let definition = self.locate(&text)?;
        draft
            .edit(&self.path, &[edit(&definition, &text)])
            .map_err(edit_refused)
    }

    /// Extracts the text again: an index that is behind must not decide where an edit goes.
    fn locate(&self, text: &str) -> Result<Definition, Refusal> {
        let changed = || {
            refusal(
                "file_changed",
                format!(
                    "`{}` cannot be told apart in `{}` as it is now: wait for the index, or use apply_edit with `old_text`",
                    self.asked, self.path
                ),
            )
        };
        let language = syntax::languages::detect(&self.path, text.as_bytes()).ok_or_else(changed)?;
        let facts = syntax::extract(language, text);
        let mut same: Vec<_> = facts
            .definitions
            .iter()
            .filter(|definition| definition.kind == self.kind && facts.text(definition.name) == self.name)
            .collect();
        same.sort_unstable_by_key(|definition| definition.span.start);
        if same.len() != self.of {
            return Err(changed());
        }
        let found = same.get(self.number).ok_or_else(changed)?;
        let span = found.span.start as usize..found.span.end as usize;
        let doc = found.doc_span.map(|(start, end)| start as usize..end as usize);
        let fits = |range: &std::ops::Range<usize>| text.get(range.clone()).is_some();
        match fits(&span) && doc.as_ref().is_none_or(fits) {
            true => Ok(Definition { span, doc }),
            false => Err(changed()),
        }
    }
}
