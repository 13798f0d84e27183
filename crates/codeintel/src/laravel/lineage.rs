//! What a PHP class is made of: itself, its traits, its parent, the parent's traits and so on, as far as the index goes.

use std::collections::BTreeSet;

use index::snapshot::SymbolView;
use syntax::facts::{BaseKind, DefinitionId};

use crate::descriptors::class::Readings;
use crate::descriptors::home::Homes;
use crate::descriptors::php;
use crate::descriptors::reading::Reading;
use crate::descriptors::words;
use crate::error::QuestionError;
use crate::workspace::{SymbolKey, Workspace};

/// The classes and traits of a class, nearest first.
pub(super) struct Lineage {
    /// Those of the index, the class itself first.
    pub(super) inside: Vec<SymbolKey>,
    /// Full names of those that the index does not hold, and of the framework's own that it does.
    pub(super) names: Vec<String>,
}

/// Most classes of one lineage.
const MAX_CLASSES: usize = 64;

/// The lineage of `key`. Classes whose full name `stops` accepts are named and not looked into.
pub(super) fn lineage(
    workspace: &Workspace,
    key: SymbolKey,
    homes: &mut Homes<'_>,
    readings: &mut Readings,
    stops: fn(&str) -> bool,
) -> Result<Lineage, QuestionError> {
    let mut found = Lineage {
        inside: Vec::new(),
        names: Vec::new(),
    };
    let mut seen: BTreeSet<SymbolKey> = BTreeSet::new();
    let mut waiting = vec![key];
    while let Some(next) = waiting.pop() {
        if !seen.insert(next) || found.inside.len() >= MAX_CLASSES {
            continue;
        }
        found.inside.push(next);
        let Some(symbol) = workspace.symbol(next) else { continue };
        let Some((reading, id)) = read(workspace, next.repository, symbol, readings)? else {
            continue;
        };
        let mut traits = Vec::new();
        let mut parents = Vec::new();
        for base in &reading.facts.definition(id).bases {
            let name = php::class_name(reading, base.type_);
            match base.kind {
                BaseKind::Mixes => traits.push(name),
                BaseKind::Extends => parents.push(name),
                BaseKind::Implements | BaseKind::Embeds => found.names.push(name),
            }
        }
        // The last pushed is the next looked at: traits before the parent.
        for name in traits.into_iter().chain(parents).rev() {
            match class_named(workspace, next.repository, &name, homes) {
                Some(key) if !stops(&name) => {
                    found.names.push(name);
                    waiting.push(key);
                }
                _ => found.names.push(name),
            }
        }
    }
    Ok(found)
}

/// The PHP class with this full name.
pub(super) fn class_named(
    workspace: &Workspace,
    repository: usize,
    name: &str,
    homes: &mut Homes<'_>,
) -> Option<SymbolKey> {
    let of = workspace.repository(repository)?;
    let found = of.snapshot.named(php::basename(name)).find(|symbol| {
        words::is_type(symbol.kind())
            && symbol.file().is_some_and(|file| file.language() == "php")
            && homes.full_name(repository, *symbol) == name
    })?;
    Some(SymbolKey {
        repository,
        symbol: found.id(),
    })
}

/// The reading of a symbol's file, and its definition in it.
pub(super) fn read<'r>(
    workspace: &Workspace,
    repository: usize,
    symbol: SymbolView<'_>,
    readings: &'r mut Readings,
) -> Result<Option<(&'r Reading, DefinitionId)>, QuestionError> {
    let Some(file) = symbol.file() else { return Ok(None) };
    if let std::collections::btree_map::Entry::Vacant(free) = readings.entry(file.id()) {
        free.insert(Reading::of(workspace, repository, file)?);
    }
    let Some(reading) = readings.get(&file.id()) else {
        return Ok(None);
    };
    let Some(definition) = reading.definition(symbol) else {
        return Ok(None);
    };
    let id = reading
        .facts
        .definitions
        .iter()
        .position(|other| std::ptr::eq(other, definition));
    Ok(id.map(|id| (reading, DefinitionId(id as u32))))
}
