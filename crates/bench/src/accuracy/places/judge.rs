//! What a server's answers say of the edges at the places that it was asked about.

use std::collections::BTreeMap;
use std::path::Path;

use index::model::{EdgeKind, FileId, Origin, ResolvedFile, SymbolRef, Target};
use index::tree::Tree;
use syntax::facts::{Definition, DefinitionId, Flags, Kind, Position, Role};

use super::super::server::{CallSite, column_in_bytes};
use super::super::tree::MemoryTree;
use super::super::{Overridden, above, origin_name, ratio, shown, word_at};
use super::{Answers, Miss, Place, Report, What, key};

/// Up to how many lines of something outside its name is looked for.
const MAX_LINES: u32 = 1000;

/// What the server means by its answer.
#[derive(Debug, PartialEq, Eq)]
enum Meant {
    /// Functions, types or macros of the tree.
    Inside,
    /// Something that the tree does not have.
    Outside(String),
    /// A variable, or something that has no name here.
    Silent,
    /// No answer.
    Unknown,
}

/// An answer, read.
struct Answer {
    meant: Meant,
    /// What it names in the tree, variables included.
    named: Vec<SymbolRef>,
}

/// An edge that leaves a place.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ours {
    symbol: SymbolRef,
    origin: Origin,
}

pub(super) struct Judge<'a> {
    what: What,
    root: &'a Path,
    tree: &'a MemoryTree,
    overridden: &'a Overridden,
    ours: BTreeMap<Place, Vec<Ours>>,
    /// By type: what it extends or implements.
    bases: BTreeMap<SymbolRef, Vec<SymbolRef>>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(
        what: What,
        root: &'a Path,
        tree: &'a MemoryTree,
        resolved: &[ResolvedFile],
        overridden: &'a Overridden,
    ) -> Judge<'a> {
        let mut ours: BTreeMap<Place, Vec<Ours>> = BTreeMap::new();
        let mut bases: BTreeMap<SymbolRef, Vec<SymbolRef>> = BTreeMap::new();
        for (file, resolved) in (0..).map(FileId).zip(resolved) {
            for edge in &resolved.edges {
                let Target::Symbol(symbol) = edge.to else { continue };
                let (at, origin) = (edge.at, edge.origin);
                match edge.kind {
                    kind if what.judges(kind) => {
                        let known = ours.entry(Place { file, at }).or_default();
                        known.push(Ours { symbol, origin });
                    }
                    EdgeKind::Extends | EdgeKind::Implements => {
                        let definition = edge.from;
                        bases.entry(SymbolRef { file, definition }).or_default().push(symbol);
                    }
                    _ => {}
                }
            }
        }
        for known in ours.values_mut() {
            known.sort_unstable();
            known.dedup_by_key(|ours| ours.symbol);
        }
        if what == What::Mentions {
            add_bases(tree, resolved, &mut ours);
        }
        Judge {
            what,
            root,
            tree,
            overridden,
            ours,
            bases,
        }
    }

    pub(super) fn judge(&self, places: &[Place], answers: &Answers) -> Report {
        let mut report = Report {
            files: self.tree.file_count(),
            calls: places.len(),
            ..Report::default()
        };
        for place in places {
            let targets = answers.get(&key(self.tree, place)).and_then(Option::as_deref);
            let answer = self.read(place, targets);
            self.count(place, &answer, &mut report);
        }
        report.recall = ratio(report.agreed, report.inside);
        report
    }

    fn count(&self, place: &Place, answer: &Answer, report: &mut Report) {
        let ours = self.ours.get(place).map_or(&[][..], Vec::as_slice);
        let Answer { meant, named } = answer;
        match meant {
            Meant::Inside => report.inside += 1,
            Meant::Outside(_) => report.outside += 1,
            Meant::Silent => report.silent += 1,
            Meant::Unknown => {
                report.unknown += 1;
                return;
            }
        }
        let is_meant = |symbol: SymbolRef| named.iter().any(|&named| self.is_same(named, symbol));
        let overrides = |symbol: SymbolRef| above(self.overridden, symbol).into_iter().any(is_meant);
        if *meant == Meant::Inside {
            if ours.iter().any(|ours| is_meant(ours.symbol)) {
                report.agreed += 1;
            } else {
                let what = if ours.is_empty() { "nothing" } else { "other" };
                report.nothing += usize::from(ours.is_empty());
                report.other += usize::from(!ours.is_empty());
                report.other_overrides += usize::from(ours.iter().any(|ours| overrides(ours.symbol)));
                report.misses.push(self.miss(what, place, ours, answer));
            }
        }
        for ours in ours {
            let agreed = is_meant(ours.symbol);
            let overrides = !agreed && overrides(ours.symbol);
            let silent = !agreed && !overrides && (*meant == Meant::Silent || self.follows(place, ours.symbol, named));
            let score = report.by_origin.entry(origin_name(ours.origin)).or_default();
            score.found += 1;
            score.agreed += usize::from(agreed);
            score.overrides += usize::from(overrides);
            score.silent += usize::from(silent);
            if !agreed && !overrides {
                let what = if silent { "unjudged" } else { origin_name(ours.origin) };
                let ours = std::slice::from_ref(ours);
                report.misses.push(self.miss(what, place, ours, answer));
            }
        }
    }

    /// What the answer names. A server may name the call around a name that it cannot place, and of a variable where that is assigned.
    fn read(&self, place: &Place, targets: Option<&[CallSite]>) -> Answer {
        let targets = targets.unwrap_or_default();
        let written = self.written(place);
        let mut named = Vec::new();
        let mut outside = None;
        for target in targets {
            if target.path.contains("://") {
                outside.get_or_insert_with(|| target.path.clone());
                continue;
            }
            let relative = Path::new(&target.path).strip_prefix(self.root).ok();
            if let Some(file) = relative.and_then(|path| self.tree.find(path.to_str()?)) {
                named.extend(self.defined_at(file, target, written));
            } else if outside.is_none() {
                let text = std::fs::read_to_string(&target.path).unwrap_or_default();
                let column = column_in_bytes(&text, target.line, target.column);
                let lines = target.end_line.saturating_sub(target.line).min(MAX_LINES) + 1;
                let mut lines = text.lines().skip(target.line as usize).take(lines as usize);
                let first = lines.next().and_then(|line| line.get(column as usize..));
                if first.into_iter().chain(lines).any(|line| line.contains(written)) {
                    outside = Some(format!("{}:{}", target.path, target.line + 1));
                }
            }
        }
        let callable = |symbol: &SymbolRef| {
            let definition = self.definition(*symbol);
            definition.is_some_and(|definition| self.what == What::Mentions || is_callable(&definition))
        };
        let meant = if targets.is_empty() {
            Meant::Unknown
        } else if named.iter().any(callable) {
            Meant::Inside
        } else {
            outside.map_or(Meant::Silent, Meant::Outside)
        };
        Answer { meant, named }
    }

    /// The definition whose name stands where a server points, or that begins there under the name written.
    fn defined_at(&self, file: FileId, target: &CallSite, written: &str) -> Option<SymbolRef> {
        let facts = self.tree.facts(file);
        let text = self.tree.text(file);
        let line = target.line + 1;
        let column = column_in_bytes(text, target.line, target.column);
        let all = (0..).map(DefinitionId).zip(&facts.definitions);
        // A parameter may stand where a function without a name begins.
        let definitions = || {
            all.clone()
                .filter(|(_, definition)| definition.kind != Kind::Lambda)
                .filter(|(_, definition)| {
                    (line..=target.end_line.max(target.line) + 1).contains(&definition.name_at.line)
                })
        };
        let is_named =
            |definition: &Definition| facts.text(definition.name) == written || definition.kind == Kind::Constructor;
        let exact = definitions().find(|(_, definition)| definition.name_at == Position { line, column });
        let named = || definitions().find(|(_, definition)| is_named(definition));
        let first = || {
            definitions()
                .min_by_key(|(_, definition)| definition.name_at)
                .filter(|_| target.end_line > target.line)
        };
        let found = exact.or_else(named).or_else(first);
        Some(SymbolRef {
            file,
            definition: Some(found?.0),
        })
    }

    /// Whether both are the same to a caller: a type and its constructor (also one that it inherits), a declaration and what it declares,
    /// what a condition of the compiler chooses between.
    fn is_same(&self, theirs: SymbolRef, ours: SymbolRef) -> bool {
        theirs == ours
            || self.constructs(theirs, ours)
            || self.constructs(ours, theirs)
            || self.declares(theirs, ours)
            || self.declares(ours, theirs)
            || self.alternate(theirs, ours)
    }

    /// Whether they are one thing under two conditions (`#[cfg]`, `#ifdef`): there is nothing else that two definitions of one name in one
    /// place can be in languages without overloads.
    fn alternate(&self, left: SymbolRef, right: SymbolRef) -> bool {
        let (Some(one), Some(other)) = (self.definition(left), self.definition(right)) else {
            return false;
        };
        matches!(self.tree.language(left.file), "rust" | "c")
            && left.file == right.file
            && (one.kind, one.parent) == (other.kind, other.parent)
            && self.name(left) == self.name(right)
    }

    /// Whether `function` is a constructor of `type_`, or of the enum that `type_` is a member of.
    fn constructs(&self, type_: SymbolRef, function: SymbolRef) -> bool {
        let (Some(definition), Some(type_definition)) = (self.definition(function), self.definition(type_)) else {
            return false;
        };
        if let (Kind::EnumMember, Some(enum_)) = (type_definition.kind, type_definition.parent) {
            let definition = Some(enum_);
            return self.is_same(SymbolRef { definition, ..type_ }, function);
        }
        let facts = self.tree.facts(function.file);
        let names = ["__init__", "__new__", "__construct", "initialize", "constructor"];
        let constructor = definition.kind == Kind::Constructor || names.contains(&facts.text(definition.name));
        if !constructor || is_function(&type_definition) {
            return false;
        }
        let file = function.file;
        let owner = definition.parent.map(|parent| SymbolRef {
            file,
            definition: Some(parent),
        });
        let mut types = vec![type_];
        let mut next = 0;
        while let Some(&one) = types.get(next) {
            if owner == Some(one) {
                return true;
            }
            next += 1;
            let news = self.bases.get(&one).into_iter().flatten();
            let news: Vec<SymbolRef> = news.filter(|base| !types.contains(base)).copied().collect();
            types.extend(news);
        }
        // What is written outside of its type has its name alone.
        definition.owner.is_some() && self.name(type_) == self.name(function)
    }

    /// Whether `declaration` only says that there is `definition`: a prototype, a signature of an overloaded function.
    fn declares(&self, declaration: SymbolRef, definition: SymbolRef) -> bool {
        let (Some(left), Some(right)) = (self.definition(declaration), self.definition(definition)) else {
            return false;
        };
        if !left.flags.contains(Flags::DECLARATION) || self.name(declaration) != self.name(definition) {
            return false;
        }
        let both_functions = is_function(&left) && is_function(&right);
        let both_types = !is_function(&left) && left.kind != Kind::Macro && left.kind == right.kind;
        if !both_functions && !both_types {
            return false;
        }
        match self.tree.language(declaration.file) {
            "c" | "cpp" => both_types || left.parameters.len() == right.parameters.len(),
            _ => declaration.file == definition.file && left.parent == right.parent,
        }
    }

    /// Whether we name what is held by what is written, which servers have no word for.
    fn follows(&self, place: &Place, ours: SymbolRef, theirs: &[SymbolRef]) -> bool {
        let name = self.name(ours);
        let constructor = self
            .definition(ours)
            .is_none_or(|definition| definition.kind == Kind::Constructor);
        !constructor && name != self.written(place) && theirs.iter().all(|&theirs| self.name(theirs) != name)
    }

    fn definition(&self, symbol: SymbolRef) -> Option<Definition> {
        let id = symbol.definition?;
        Some(self.tree.facts(symbol.file).definition(id).clone())
    }

    fn name(&self, symbol: SymbolRef) -> String {
        let facts = self.tree.facts(symbol.file);
        let name = symbol.definition.map(|id| facts.text(facts.definition(id).name));
        name.unwrap_or_default().to_string()
    }

    fn written(&self, place: &Place) -> &'a str {
        word_at(self.tree.text(place.file), place.at.line - 1, place.at.column)
    }

    fn miss(&self, what: &'static str, place: &Place, ours: &[Ours], answer: &Answer) -> Miss {
        let line = self.tree.text(place.file).lines().nth(place.at.line as usize - 1);
        Miss {
            what,
            path: self.tree.path(place.file).to_string(),
            line: place.at.line,
            column: place.at.column,
            ours: ours.iter().map(|ours| shown(ours.symbol, self.tree)).collect(),
            theirs: match &answer.meant {
                Meant::Outside(named) => vec![format!("outside: {named}")],
                _ => answer.named.iter().map(|&symbol| shown(symbol, self.tree)).collect(),
            },
            source: line.unwrap_or_default().trim().chars().take(160).collect(),
        }
    }
}

/// Puts the edges of inheritance, which leave a type where its name stands, to where the base is named.
fn add_bases(tree: &MemoryTree, resolved: &[ResolvedFile], ours: &mut BTreeMap<Place, Vec<Ours>>) {
    for (file, resolved) in (0..).map(FileId).zip(resolved) {
        let facts = tree.facts(file);
        let named: Vec<(Position, &str)> = facts
            .references
            .iter()
            .filter(|reference| reference.role == Role::Inherit)
            .map(|reference| {
                (
                    reference.at,
                    word_at(tree.text(file), reference.at.line - 1, reference.at.column),
                )
            })
            .collect();
        for edge in &resolved.edges {
            let (EdgeKind::Extends | EdgeKind::Implements, Target::Symbol(symbol)) = (edge.kind, &edge.to) else {
                continue;
            };
            let (Some(from), Some(base)) = (edge.from, symbol.definition) else {
                continue;
            };
            let span = facts.definition(from).span;
            let base_facts = tree.facts(symbol.file);
            let base = base_facts.text(base_facts.definition(base).name);
            let mentioned = named
                .iter()
                .find(|(at, name)| (span.start_line..=span.end_line).contains(&at.line) && *name == base);
            if let Some(&(at, _)) = mentioned {
                let known = ours.entry(Place { file, at }).or_default();
                let (symbol, origin) = (*symbol, edge.origin);
                known.push(Ours { symbol, origin });
            }
        }
    }
}

fn is_function(definition: &Definition) -> bool {
    matches!(
        definition.kind,
        Kind::Function | Kind::Method | Kind::Constructor | Kind::Lambda
    )
}

fn is_callable(definition: &Definition) -> bool {
    let types = [
        Kind::Class,
        Kind::Struct,
        Kind::Union,
        Kind::Interface,
        Kind::Trait,
        Kind::Enum,
        Kind::EnumMember,
        Kind::TypeAlias,
        Kind::Macro,
    ];
    is_function(definition) || types.contains(&definition.kind)
}
