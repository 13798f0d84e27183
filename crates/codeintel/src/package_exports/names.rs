//! What a module of Python or ECMAScript offers, name by name: its own definitions, what it imports and passes on, and all that the
//! modules offer from which it takes everything (`from x import *`, `export * from "./x"`), each under the name that it has here.

use std::collections::BTreeSet;

use index::model::EdgeKind;
use index::snapshot::{EdgeEnd, FileView, SymbolId, SymbolView};
use syntax::facts::{Bound, DefinitionId, Export, Expression, FileFacts, Import, ImportForm, ImportId, Position};

use super::{Offer, is_offered};
use crate::descriptors::reading::Reading;
use crate::error::QuestionError;
use crate::workspace::Workspace;

/// Modules at most that one answer goes through.
const MOST_MODULES: usize = 1_000;

/// Whether modules of a language say by name what they offer.
pub(super) fn says(language: &str) -> bool {
    matches!(language, "python" | "javascript" | "typescript" | "tsx")
}

/// What a module offers to others.
pub(super) fn offered<'a>(
    workspace: &'a Workspace,
    repository: usize,
    file: FileView<'a>,
) -> Result<Vec<Offer<'a>>, QuestionError> {
    // A plain module of Python offers what it defines: its imports are there for itself.
    let is_package = file.path().ends_with("__init__.py") || file.path().ends_with("__init__.pyi");
    let mut visited = BTreeSet::new();
    of_module(workspace, repository, file, is_package, &mut visited)
}

/// The same; `with_imports` says whether names that a module of Python imports count where it lists none.
fn of_module<'a>(
    workspace: &'a Workspace,
    repository: usize,
    file: FileView<'a>,
    with_imports: bool,
    visited: &mut BTreeSet<String>,
) -> Result<Vec<Offer<'a>>, QuestionError> {
    // Modules may take everything from each other in a circle.
    if visited.len() >= MOST_MODULES || !visited.insert(file.path().to_string()) {
        return Ok(Vec::new());
    }
    let reading = Reading::of(workspace, repository, file)?;
    let module = Module {
        repository,
        file,
        edges: Targets::of(workspace, repository, file),
        facts: &reading.facts,
    };
    let mut whole_of = |from: Option<SymbolView<'a>>| match from.and_then(|target| target.file()) {
        Some(other) if says(other.language()) => of_module(workspace, repository, other, true, visited),
        _ => Ok(Vec::new()),
    };
    match file.language() {
        "python" => module.python(with_imports, &reading.text, &mut whole_of),
        _ => module.ecmascript(&mut whole_of),
    }
}

/// Where the imports of a file lead.
struct Targets<'a> {
    found: Vec<(Position, SymbolView<'a>)>,
}

impl<'a> Targets<'a> {
    fn of(workspace: &'a Workspace, repository: usize, file: FileView<'a>) -> Self {
        let snapshot = &workspace.repositories()[repository].snapshot;
        let edges = file
            .symbol()
            .into_iter()
            .flat_map(|whole| snapshot.outgoing(whole.id(), EdgeKind::Imports));
        let found = edges.filter_map(|edge| match edge.to {
            EdgeEnd::Symbol(target) => Some((edge.at, snapshot.symbol(target)?)),
            EdgeEnd::External(_) => None,
        });
        Self { found: found.collect() }
    }

    /// What an import leads to: the symbol, or the file of a module.
    fn get(&self, facts: &FileFacts, import: &Import) -> Option<SymbolView<'a>> {
        // A member's import leads to its module as well.
        let at_it = || self.found.iter().filter(|(at, _)| *at == import.at);
        let member = at_it().find(|(_, target)| import.member.is_some() && !target.is_file());
        let exact = member.or_else(|| at_it().next());
        let on_line = || {
            let name = import.member.map_or("", |member| facts.text(member));
            let mut same = self.found.iter().filter(|(at, _)| at.line == import.at.line);
            match import.member {
                Some(_) => same.find(|(_, target)| target.name() == name),
                None => same.next(),
            }
        };
        exact.or_else(on_line).map(|(_, target)| *target)
    }
}

struct Module<'a, 'f> {
    repository: usize,
    file: FileView<'a>,
    edges: Targets<'a>,
    facts: &'f FileFacts,
}

/// Gives all that the module offers that an import leads to.
type WholeOf<'w, 'a> = dyn FnMut(Option<SymbolView<'a>>) -> Result<Vec<Offer<'a>>, QuestionError> + 'w;

impl<'a> Module<'a, '_> {
    fn offer(&self, name: &str, symbol: SymbolView<'a>) -> Offer<'a> {
        Offer {
            repository: self.repository,
            symbol,
            renamed: (symbol.name() != name).then(|| name.to_string()),
            is_default: false,
        }
    }

    /// Names that begin with an underscore are private, unless `__all__` lists them.
    fn python(
        &self,
        with_imports: bool,
        text: &str,
        whole_of: &mut WholeOf<'_, 'a>,
    ) -> Result<Vec<Offer<'a>>, QuestionError> {
        let listed: BTreeSet<&str> = self
            .facts
            .exports
            .iter()
            .map(|export| self.facts.text(export.name))
            .collect();
        // `__all__ += other.__all__` lists names that stand in another file.
        let is_closed = !listed.is_empty() && !text.contains(".__all__");
        let is_named = |name: &str| match is_closed {
            true => listed.contains(name),
            false => listed.contains(name) || !name.starts_with('_'),
        };
        let mut found: Vec<Offer<'a>> = Vec::new();
        for symbol in self.file.symbols().skip(1) {
            let outermost = outermost(symbol);
            let is_listed = listed.contains(outermost.name()) && outermost.id() == symbol.id();
            if is_listed || (is_offered(symbol) && is_named(outermost.name())) {
                found.push(Offer::plain(self.repository, symbol));
            }
        }
        let at_top = self.facts.imports.iter().filter(|import| import.within.is_none());
        for import in at_top {
            if import.form == ImportForm::Wildcard {
                let all = whole_of(self.edges.get(self.facts, import))?;
                found.extend(all.into_iter().filter(|offer| is_named(offer.name())));
                continue;
            }
            let Some(name) = import.alias.or(import.member).map(|name| self.facts.text(name)) else {
                continue;
            };
            let passes = with_imports && !import.type_only && !name.starts_with('_');
            if !(listed.contains(name) || (!is_closed && passes)) {
                continue;
            }
            match self.edges.get(self.facts, import) {
                // A module of the package is offered where it is listed; without a list it is only at hand.
                Some(target) if target.is_file() && !listed.contains(name) => {}
                Some(target) => found.push(self.offer(name, target)),
                None => {}
            }
        }
        Ok(found)
    }

    fn ecmascript(&self, whole_of: &mut WholeOf<'_, 'a>) -> Result<Vec<Offer<'a>>, QuestionError> {
        let mut found: Vec<Offer<'a>> = Vec::new();
        let mut named: BTreeSet<SymbolId> = BTreeSet::new();
        for export in &self.facts.exports {
            let name = self.facts.text(export.name);
            let import = export.from.and_then(|from| self.facts.imports.get(from.index()));
            if let Some(import) = import.filter(|import| import.form == ImportForm::Wildcard) {
                let all = whole_of(self.edges.get(self.facts, import))?;
                // A default export is the module's own.
                found.extend(all.into_iter().filter(|offer| !offer.is_default));
                continue;
            }
            let Some(symbol) = self.exported(export) else { continue };
            named.insert(symbol.id());
            // The default export of a module is known by the name of its definition.
            match name {
                DEFAULT => found.push(Offer {
                    is_default: true,
                    ..Offer::plain(self.repository, symbol)
                }),
                "=" => found.push(Offer::plain(self.repository, symbol)),
                name => found.push(self.offer(name, symbol)),
            }
        }
        let others = self
            .file
            .symbols()
            .skip(1)
            .filter(|symbol| is_offered(*symbol) && !named.contains(&symbol.id()));
        found.extend(others.map(|symbol| Offer::plain(self.repository, symbol)));
        Ok(found)
    }

    /// The definition that an export of one name leads to.
    fn exported(&self, export: &Export) -> Option<SymbolView<'a>> {
        if let Some(from) = export.from {
            return self.imported(from);
        }
        match self.facts.expressions.get(export.value?.index())? {
            Expression::Definition(definition) => self.defined(*definition),
            Expression::Bound { binding, .. } => match self.facts.bindings.get(binding.index())?.to {
                Bound::Definition(definition) => self.defined(definition),
                Bound::Import(import) => self.imported(import),
                _ => None,
            },
            _ => None,
        }
    }

    fn imported(&self, import: ImportId) -> Option<SymbolView<'a>> {
        self.edges.get(self.facts, self.facts.imports.get(import.index())?)
    }

    fn defined(&self, definition: DefinitionId) -> Option<SymbolView<'a>> {
        let definition = self.facts.definitions.get(definition.index())?;
        let is_it = |symbol: &SymbolView<'_>| symbol.name_at() == definition.name_at;
        self.file.symbols().skip(1).find(is_it)
    }
}

const DEFAULT: &str = "default";

/// The definition at the top of the file that a symbol is part of.
fn outermost(symbol: SymbolView<'_>) -> SymbolView<'_> {
    let mut at = symbol;
    while let Some(parent) = at.parent().filter(|parent| !parent.is_file()) {
        at = parent;
    }
    at
}
