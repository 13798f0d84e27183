//! Every place where a name stands as a whole word, each put into one class.
//!
//! What the graph says of a place counts first: an edge that starts there, a definition whose name stands there. What is left is read
//! again: the syntax tree tells comments and strings from code, and the facts tell local names. Code that is none of that is
//! unresolved, and said to be.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

use index::model::{EdgeKind, FileId, Origin};
use index::scan::read_source;
use index::search::text::{Bounds, Case, FileMatches, Pattern, Tree, search_text};
use index::snapshot::{EdgeEnd, EdgeKinds, FileView, SymbolView};
use rayon::prelude::*;
use syntax::facts::{Bound, Expression, ExpressionId, FileFacts, Kind, Position, ScopeId};
use syntax::{Depth, WordKind};

use super::sites::{self, Place, Site};
use crate::workspace::{Repository, SymbolKey, Workspace};

/// One place where the name stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mention {
    /// Which repository.
    pub repository: usize,
    /// Which file.
    pub file: FileId,
    /// 1-based.
    pub line: u32,
    /// 0-based, in bytes.
    pub column: u32,
    /// The line, without the blanks around it, cut where it is long.
    pub text: String,
    /// What it is.
    pub class: Class,
}

/// What a mention is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Class {
    /// A use that the answer lists.
    Use,
    /// The definition itself.
    Definition,
    /// Something of another definition, a local name, another package or another language.
    Other(String),
    /// In a comment or a document.
    Comment,
    /// In a string: what is called by its name at run time stands in one.
    String,
    /// Nobody knows.
    Unresolved {
        /// Why not.
        why: &'static str,
    },
}

/// All mentions, and what was not searched.
#[derive(Default)]
pub(super) struct Found {
    pub(super) mentions: Vec<Mention>,
    pub(super) not_searched: Option<String>,
}

/// When the search gives up.
const TIME: Duration = Duration::from_secs(10);
/// Bytes that are kept of a line.
const LINE_LENGTH: usize = 160;

/// Every mention of `name`, told apart by what `key` is.
pub(super) fn of(workspace: &Workspace, key: SymbolKey, name: &str, sites: &[Site]) -> Found {
    let mut found = Found::default();
    let Ok(pattern) = Pattern::literal(name, Case::Sensitive, true) else {
        found.not_searched = Some("the name cannot be searched for".to_owned());
        return found;
    };
    let used: BTreeSet<Place> = sites
        .iter()
        .map(|site| (site.repository, site.file, site.line, site.column))
        .collect();
    let own: BTreeSet<SymbolKey> = sites::twins(workspace, key).into_iter().collect();
    let language = workspace
        .symbol(key)
        .and_then(|symbol| symbol.file())
        .map_or("", |file| file.language());
    let mut notes: Vec<String> = workspace.incomplete().into_iter().collect();
    for (number, repository) in workspace.repositories().iter().enumerate() {
        let tree = Tree {
            root: &repository.root,
            snapshot: &repository.snapshot,
            filter: repository.text_filter(),
        };
        let bounds = Bounds {
            lines: usize::MAX,
            line_length: LINE_LENGTH,
            time: TIME,
        };
        let matches = search_text(tree, &pattern, &|_| true, bounds, &|| workspace.is_stopped());
        if matches.timed_out {
            notes.push(format!("searched {} of {} files", matches.searched, matches.of));
        }
        if matches.unreadable > 0 {
            notes.push(format!("{} files are gone or no longer text", matches.unreadable));
        }
        let reader = Reader {
            repository,
            number,
            name,
            used: &used,
            own: &own,
            family: family(language),
            definitions: definitions(repository, name),
        };
        let of_files: Vec<Vec<Mention>> = matches.files.par_iter().map(|file| reader.file(file)).collect();
        found.mentions.extend(of_files.into_iter().flatten());
    }
    found.not_searched = (!notes.is_empty()).then(|| notes.join("; "));
    found
}

/// Where definitions of the name have it, by file.
type Definitions<'r> = HashMap<FileId, BTreeMap<Position, SymbolView<'r>>>;

fn definitions<'r>(repository: &'r Repository, name: &'r str) -> Definitions<'r> {
    let mut found: Definitions<'r> = HashMap::new();
    for symbol in repository.snapshot.named(name) {
        found
            .entry(symbol.file_id())
            .or_default()
            .insert(symbol.name_at(), symbol);
    }
    found
}

/// Where mentions of a file lead, by their place.
type Ends = HashMap<Position, (Origin, EdgeEnd)>;

/// Classes the mentions of one repository.
struct Reader<'r> {
    repository: &'r Repository,
    number: usize,
    name: &'r str,
    used: &'r BTreeSet<Place>,
    own: &'r BTreeSet<SymbolKey>,
    /// Languages that call each other, of the symbol.
    family: &'static str,
    definitions: Definitions<'r>,
}

impl Reader<'_> {
    fn file(&self, matches: &FileMatches) -> Vec<Mention> {
        let Some(file) = self.repository.snapshot.file(matches.file) else {
            return Vec::new();
        };
        let mut places: Vec<(Position, &str)> = Vec::new();
        for line in &matches.lines {
            places.extend(line.at.iter().map(|&column| {
                let at = Position {
                    line: line.line,
                    column,
                };
                (at, line.text.as_str())
            }));
        }
        let ends = self.ends(file);
        let mut classes: Vec<Option<Class>> = match matches.changed {
            true => vec![
                Some(Class::Unresolved {
                    why: "the file changed since it was indexed"
                });
                places.len()
            ],
            false => self.by_graph(file, &places, &ends),
        };
        if classes.iter().any(Option::is_none) {
            self.by_reading(file, &places, &ends, &mut classes);
        }
        places
            .into_iter()
            .zip(classes)
            .map(|((at, text), class)| Mention {
                repository: self.number,
                file: file.id(),
                line: at.line,
                column: at.column,
                text: text.trim().to_owned(),
                class: class.unwrap_or(Class::Unresolved { why: "not read" }),
            })
            .collect()
    }

    /// Where the edges of a file lead. Of several at one place, the most trusted says what it is, a symbol of the tree before one of
    /// another package.
    fn ends(&self, file: FileView<'_>) -> Ends {
        let mut ends = Ends::new();
        let kinds = EdgeKinds::ALL.without(EdgeKind::Contains | EdgeKind::Tests | EdgeKind::Overrides);
        let edges = self.repository.snapshot.edges_of_file_with_lambdas(file.id(), kinds);
        // A block that is run by a call stands at the call's name, which means something else.
        let is_lambda = |end: EdgeEnd| {
            let symbol = end.symbol().and_then(|symbol| self.repository.snapshot.symbol(symbol));
            symbol.is_some_and(|symbol| symbol.kind() == Kind::Lambda)
        };
        for edge in edges.filter(|edge| edge.origin <= Origin::AstInferred && !is_lambda(edge.to)) {
            let end = (edge.origin, edge.to);
            ends.entry(edge.at)
                .and_modify(|known| *known = (*known).min(end))
                .or_insert(end);
        }
        ends
    }

    /// What edges and definitions say.
    fn by_graph(&self, file: FileView<'_>, places: &[(Position, &str)], ends: &Ends) -> Vec<Option<Class>> {
        let definitions = self.definitions.get(&file.id());
        places
            .iter()
            .map(|&(at, line)| {
                if self.used.contains(&(self.number, file.id(), at.line, at.column)) {
                    return Some(Class::Use);
                }
                if let Some(symbol) = definitions.and_then(|definitions| definitions.get(&at)) {
                    let key = SymbolKey {
                        repository: self.number,
                        symbol: symbol.id(),
                    };
                    return Some(match self.own.contains(&key) {
                        true => Class::Definition,
                        false if symbol.kind() == Kind::Section => Class::Comment,
                        false => Class::Other(self.named(*symbol)),
                    });
                }
                if let Some((_, end)) = ends.get(&at) {
                    return Some(Class::Other(self.end(*end)));
                }
                self.by_language(file, line)
            })
            .collect()
    }

    /// What the language or the beginning of the line says, without reading the file.
    fn by_language(&self, file: FileView<'_>, line: &str) -> Option<Class> {
        let language = file.language();
        if is_document(language) {
            return Some(match language {
                "markdown" => Class::Comment,
                _ => Class::String,
            });
        }
        let mark = syntax::languages::by_name(language)?.comments().line?;
        line.trim_start().starts_with(mark).then_some(Class::Comment)
    }

    /// What the file itself says of the places that are still open.
    fn by_reading(&self, file: FileView<'_>, places: &[(Position, &str)], ends: &Ends, classes: &mut [Option<Class>]) {
        let Some(language) = syntax::languages::by_name(file.language()) else {
            return;
        };
        let Ok((text, _)) = read_source(&self.repository.root, file.path()) else {
            return;
        };
        let starts = line_starts(&text);
        let open: Vec<usize> = (0..places.len()).filter(|&at| classes[at].is_none()).collect();
        let offset = |at: Position| {
            let line = starts.get(at.line.saturating_sub(1) as usize).copied();
            line.unwrap_or(text.len()) + at.column as usize
        };
        let offsets: Vec<usize> = open.iter().map(|&at| offset(places[at].0)).collect();
        let (facts, word_kinds) = syntax::extract_with_word_kinds(language, &text, &offsets);
        let is_foreign = family(file.language()) != self.family && language.depth() == Depth::Deep;
        let local = Locals::of(&facts, self.name);
        for ((&place, &offset), &word_kind) in open.iter().zip(&offsets).zip(&word_kinds) {
            let at = places[place].0;
            classes[place] = Some(match word_kind {
                WordKind::Comment => Class::Comment,
                WordKind::Text => Class::String,
                WordKind::Unread => Class::Unresolved {
                    why: "markup is not linked",
                },
                WordKind::Keyword => Class::Other("as a keyword".to_owned()),
                WordKind::Code | WordKind::Key => match self.by_facts(&facts, at, ends) {
                    Some(class) => class,
                    None if is_foreign => Class::Other(format!("in {}", file.language())),
                    None if word_kind == WordKind::Key => Class::Other("as a key or argument name".to_owned()),
                    None if local.reach(offset as u32) => Class::Other("local name".to_owned()),
                    None => Class::Unresolved {
                        why: "code that is not linked",
                    },
                },
            });
        }
    }

    /// What the facts of the file say of a mention that the graph says nothing of.
    fn by_facts(&self, facts: &FileFacts, at: Position, ends: &Ends) -> Option<Class> {
        if let Some(import) = facts.imports.iter().find(|import| import.at == at) {
            let module = facts.text(import.module);
            return Some(match module.is_empty() {
                true => Class::Unresolved { why: "an import" },
                false => Class::Other(format!("imported from {module}")),
            });
        }
        let mut mentioned = facts.references.iter().filter(|reference| reference.at == at);
        let reference = mentioned.next()?;
        let binding = match *facts.expression(reference.expression) {
            Expression::Bound { binding, .. } => binding,
            // A member of an imported module or type: it is where that is.
            Expression::Member { object, .. } => return self.of_import(facts, object, ends),
            _ => return None,
        };
        let bound = facts.bindings.get(binding.index())?;
        match bound.to {
            Bound::Local | Bound::Parameter(_) | Bound::Receiver(_) | Bound::TypeParameter => {
                Some(Class::Other("local name".to_owned()))
            }
            Bound::Import(import) => {
                let import = facts.imports.get(import.index())?;
                Some(Class::Other(format!("imported from {}", facts.text(import.module))))
            }
            Bound::Definition(id) => {
                let definition = facts.definitions.get(id.index())?;
                let is_own = self.own.iter().any(|key| {
                    self.repository
                        .snapshot
                        .symbol(key.symbol)
                        .is_some_and(|symbol| symbol.name_at() == definition.name_at)
                });
                (!is_own).then(|| Class::Other(facts.text(definition.name).to_owned()))
            }
        }
    }

    /// A member of something that was imported from another package.
    fn of_import(&self, facts: &FileFacts, object: ExpressionId, ends: &Ends) -> Option<Class> {
        let Expression::Bound { binding, .. } = *facts.expression(object) else {
            return None;
        };
        let Bound::Import(import) = facts.bindings.get(binding.index())?.to else {
            return None;
        };
        let import = facts.imports.get(import.index())?;
        match ends.get(&import.at)? {
            (_, EdgeEnd::External(external)) => {
                let external = self.repository.snapshot.external(*external);
                Some(Class::Other(format!("{external}.{}", self.name)))
            }
            (_, EdgeEnd::Symbol(_)) => None,
        }
    }

    /// Another definition, as the account names it.
    fn named(&self, symbol: SymbolView<'_>) -> String {
        if symbol.is_file() {
            return symbol.path().to_owned();
        }
        let full = symbol.qualified_name();
        match full == symbol.name() {
            true => symbol.path().to_owned(),
            false => full,
        }
    }

    fn end(&self, end: EdgeEnd) -> String {
        match end {
            EdgeEnd::Symbol(symbol) => self
                .repository
                .snapshot
                .symbol(symbol)
                .map_or_else(String::new, |symbol| self.named(symbol)),
            EdgeEnd::External(external) => self.repository.snapshot.external(external).to_owned(),
        }
    }
}

/// Where local names of one spelling reach: the bytes of the functions that bind it.
struct Locals {
    reach: Vec<(u32, u32)>,
}

impl Locals {
    fn of(facts: &FileFacts, name: &str) -> Locals {
        let mut reach = Vec::new();
        for binding in &facts.bindings {
            let is_local = matches!(
                binding.to,
                Bound::Local | Bound::Parameter(_) | Bound::Receiver(_) | Bound::TypeParameter
            );
            if is_local && facts.text(binding.name) == name {
                reach.push(extent(facts, binding.scope));
            }
        }
        Locals { reach }
    }

    fn reach(&self, at: u32) -> bool {
        self.reach.iter().any(|&(start, end)| (start..end).contains(&at))
    }
}

/// The bytes of the innermost definition that a scope is in; all of the file where there is none.
fn extent(facts: &FileFacts, scope: ScopeId) -> (u32, u32) {
    let mut current = Some(scope);
    for _ in 0..=facts.scopes.len() {
        let Some(scope) = current.and_then(|scope| facts.scopes.get(scope.index())) else {
            break;
        };
        if let Some(definition) = scope.definition.and_then(|id| facts.definitions.get(id.index())) {
            return (definition.span.start, definition.span.end);
        }
        current = scope.parent;
    }
    (0, u32::MAX)
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0)
        .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1))
        .collect()
}

/// Whether a language is prose or data: a name in it is text, whatever stands around it.
fn is_document(language: &str) -> bool {
    matches!(language, "markdown" | "json" | "yaml" | "toml")
}

/// Whether names of a language are linked across files.
pub(super) fn is_linked(language: &str) -> bool {
    syntax::languages::by_name(language).is_some_and(|language| language.depth() == Depth::Deep)
}

/// Languages whose programs call each other by name.
fn family(language: &str) -> &'static str {
    match language {
        "javascript" | "typescript" | "tsx" | "vue" | "svelte" => "javascript",
        "java" | "kotlin" | "scala" => "jvm",
        "c" | "cpp" => "c",
        other => syntax::languages::by_name(other).map_or("", |language| language.name()),
    }
}
