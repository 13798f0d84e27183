//! `list_package_exports`: what a package, namespace, module or folder offers, by the visibility rule of its language.
//!
//! What a package offers is not only what it defines: re-exports (`pub use`, `export … from`, the imports of a package's
//! `__init__`) are followed to their definitions. Python and ECMAScript say what a module offers name by name, which is in
//! [`names`]; everything else goes by visibility.

mod names;

use std::collections::BTreeSet;

use index::model::EdgeKind;
use index::snapshot::{EdgeEnd, FileView, SymbolId, SymbolView};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use syntax::facts::{Flags, Kind, Visibility};

use crate::descriptors::home::{Homes, folder};
use crate::descriptors::reading::Reading;
use crate::descriptors::{SymbolDescriptor, symbol, words};
use crate::error::QuestionError;
use crate::page::{self, Page};
use crate::type_definition::OutputFormat;
use crate::workspace::Workspace;

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PackageExports {
    /// Package, namespace, module, folder or file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The same as package.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<String>,
    /// Only this kind: function, type, class, interface, constant, method, …
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub symbol_type: Option<String>,
    /// Symbols per page (default 200).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
    /// markdown (default) or json.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub output_format: Option<OutputFormat>,
}

/// What is offered, by kind and name.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Exports {
    /// As it was asked.
    pub package: String,
    /// The symbols, types first.
    pub symbols: Vec<SymbolDescriptor>,
    /// How many there are in all.
    pub total: usize,
    /// Whether there are more.
    pub truncated: bool,
    /// Where to go on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// What the index still lacks, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub incomplete: Option<String>,
}

/// Symbols per page where the call does not say.
const LIMIT: usize = 200;
/// How many similar packages an error names.
const NEAREST: usize = 5;

/// Longest name of a package.
const MAX_ASKED: usize = 1024;

/// What the package offers.
pub fn package_exports(workspace: &Workspace, ask: &PackageExports) -> Result<Exports, QuestionError> {
    let asked = ask.package.as_deref().or(ask.namespace.as_deref()).unwrap_or("").trim();
    let asked = asked
        .trim_start_matches("./")
        .trim_matches(['/', '\\'])
        .trim_end_matches(['.', ':']);
    if (asked.is_empty() && ask.package.as_deref() != Some(".")) || asked.len() > MAX_ASKED {
        return Err(QuestionError::Argument {
            name: "package",
            problem: format!("expected a package, namespace, module or folder, at most {MAX_ASKED} bytes"),
        });
    }
    let kinds = match ask.symbol_type.as_deref() {
        None => None,
        Some(word) => Some(words::kinds_of(word).ok_or_else(|| QuestionError::Argument {
            name: "symbol_type",
            problem: format!("no kind `{word}`: there are function, method, type, class, interface, struct, enum, constant, variable, …"),
        })?),
    };
    let mut homes = Homes::new(workspace);
    let mut offered = offered(workspace, asked, &mut homes)?;
    offered.retain(|offer| match &kinds {
        Some(kinds) => kinds.contains(&offer.symbol.kind()),
        None => !is_member(offer.symbol),
    });
    offered.sort_by_cached_key(|offer| {
        let symbol = offer.symbol;
        let name = offer.name().to_string();
        (
            rank(symbol.kind()),
            words::kind(symbol),
            name,
            symbol.id(),
            offer.repository,
        )
    });
    let total = offered.len();
    let page = Page::of(workspace, ask.limit, ask.cursor.as_deref(), LIMIT)?;
    let end = page.offset.saturating_add(page.limit);
    let symbols = page.take(offered);
    Ok(Exports {
        package: asked.to_string(),
        symbols: symbols
            .into_iter()
            .map(|offer| offer.descriptor(workspace, &mut homes))
            .collect(),
        total,
        truncated: end < total,
        next_cursor: (end < total).then(|| page::cursor(workspace, end)),
        incomplete: workspace.incomplete(),
    })
}

/// A symbol that a package offers, under the name that it has there.
#[derive(Clone)]
struct Offer<'a> {
    repository: usize,
    symbol: SymbolView<'a>,
    /// Where the name is not the definition's own.
    renamed: Option<String>,
    /// Whether it is the default export, which is not taken with everything.
    is_default: bool,
}

impl<'a> Offer<'a> {
    fn plain(repository: usize, symbol: SymbolView<'a>) -> Self {
        Self {
            repository,
            symbol,
            renamed: None,
            is_default: false,
        }
    }

    fn name(&self) -> &str {
        self.renamed.as_deref().unwrap_or_else(|| self.symbol.name())
    }

    fn descriptor(&self, workspace: &Workspace, homes: &mut Homes<'_>) -> SymbolDescriptor {
        let mut descriptor = symbol(workspace, self.repository, self.symbol, homes);
        if let Some(name) = &self.renamed {
            let defined = std::mem::replace(&mut descriptor.name, name.clone());
            descriptor.metadata.insert("defined_as".to_string(), defined.into());
        }
        descriptor
    }
}

/// The visible symbols of what `asked` names.
fn offered<'a>(workspace: &'a Workspace, asked: &str, homes: &mut Homes<'_>) -> Result<Vec<Offer<'a>>, QuestionError> {
    let files = files_of(workspace, asked, homes);
    let mut found: Vec<Offer<'a>> = Vec::new();
    for (repository, file) in &files {
        if names::says(file.language()) {
            found.extend(names::offered(workspace, *repository, *file)?);
            continue;
        }
        found.extend(
            file.symbols()
                .skip(1)
                .filter(|symbol| is_offered(*symbol))
                .map(|symbol| Offer::plain(*repository, symbol)),
        );
        found.extend(
            reexported(workspace, *repository, *file)?
                .into_iter()
                .map(|symbol| Offer::plain(*repository, symbol)),
        );
    }
    // Languages whose namespaces are symbols themselves: what stands inside them.
    if found.is_empty() {
        found = in_modules(workspace, asked, homes);
    }
    if found.is_empty() && files.is_empty() {
        return Err(QuestionError::Argument {
            name: "package",
            problem: format!(
                "no package, namespace, module or folder `{asked}`{}",
                nearest(workspace, asked, homes)
            ),
        });
    }
    let mut seen: BTreeSet<(usize, SymbolId, String)> = BTreeSet::new();
    found.retain(|offer| seen.insert((offer.repository, offer.symbol.id(), offer.name().to_string())));
    Ok(found)
}

/// The files of a package: by folder or path, else by the name that the language gives it, else by the end of that name.
fn files_of<'a>(workspace: &'a Workspace, asked: &str, homes: &mut Homes<'_>) -> Vec<(usize, FileView<'a>)> {
    let mut by_place = Vec::new();
    for (repository, path) in workspace.split(asked) {
        let snapshot = &workspace.repositories()[repository].snapshot;
        if let Some(file) = snapshot.find_file(path) {
            return vec![(repository, file)];
        }
        let prefix = if path.is_empty() || path == "." {
            String::new()
        } else {
            format!("{path}/")
        };
        let inside: Vec<FileView<'a>> = match prefix.is_empty() && asked != "." {
            true => Vec::new(),
            false => files_in(workspace, repository, &prefix),
        };
        by_place.extend(inside.into_iter().map(|file| (repository, file)));
    }
    if !by_place.is_empty() {
        return entry_files(by_place);
    }
    let last = asked
        .rsplit(['/', '\\', '.', ':'])
        .next()
        .unwrap_or(asked)
        .to_lowercase()
        .replace('-', "_");
    let mut exact = Vec::new();
    let mut ending = Vec::new();
    // Most languages put a package where its name says; only if nothing is there all files are asked.
    for everywhere in [false, true] {
        for (repository, of) in workspace.repositories().iter().enumerate() {
            for file in of.snapshot.files() {
                if workspace.is_stopped() {
                    return Vec::new();
                }
                if !has_packages(file.language())
                    || !everywhere && !file.path().to_lowercase().replace('-', "_").contains(&last)
                {
                    continue;
                }
                let home = homes.of_file(repository, file);
                let names = [home.package.as_str(), home.namespace.as_str()];
                let is_ending = |name: &&str| {
                    name.strip_suffix(asked)
                        .is_some_and(|rest| rest.ends_with(['/', '\\', '.', ':']))
                };
                if home.namespace == asked || (home.package == asked && is_package_wide(file.language())) {
                    exact.push((repository, file));
                } else if names.iter().any(is_ending) {
                    ending.push((repository, file));
                }
            }
        }
        if !exact.is_empty() || !ending.is_empty() {
            break;
        }
    }
    entry_files(if exact.is_empty() { ending } else { exact })
}

fn files_in<'a>(workspace: &'a Workspace, repository: usize, prefix: &str) -> Vec<FileView<'a>> {
    let snapshot = &workspace.repositories()[repository].snapshot;
    let folder_of = prefix.trim_end_matches('/');
    snapshot
        .files()
        .filter(|file| file.path().starts_with(prefix) && folder(file.path()) == folder_of)
        .collect()
}

/// Of a folder with an entry (`__init__.py`, `index.ts`, `mod.rs`, `lib.rs`) that offers something, the entry alone.
fn entry_files(files: Vec<(usize, FileView<'_>)>) -> Vec<(usize, FileView<'_>)> {
    let is_entry = |file: &FileView<'_>| {
        let name = file.path().rsplit('/').next().unwrap_or("");
        let stem = name.split('.').next().unwrap_or("");
        match file.language() {
            "python" => stem == "__init__",
            "javascript" | "typescript" | "tsx" => stem == "index",
            "rust" => matches!(name, "lib.rs" | "mod.rs"),
            _ => false,
        }
    };
    let entries: Vec<(usize, FileView<'_>)> = files
        .iter()
        .filter(|(_, file)| is_entry(file) && offers(*file))
        .copied()
        .collect();
    if entries.is_empty() { files } else { entries }
}

/// Whether a file defines or imports anything.
fn offers(file: FileView<'_>) -> bool {
    file.lines() > 0
        && (file.symbols().skip(1).any(is_offered) || file.symbols().next().is_some_and(|_| file.size() > 64))
}

fn has_packages(language: &str) -> bool {
    matches!(
        language,
        "go" | "java"
            | "kotlin"
            | "scala"
            | "csharp"
            | "php"
            | "python"
            | "rust"
            | "javascript"
            | "typescript"
            | "tsx"
            | "vue"
            | "svelte"
    )
}

/// Whether all files of a package offer under the package's name.
fn is_package_wide(language: &str) -> bool {
    matches!(
        language,
        "go" | "java" | "kotlin" | "scala" | "csharp" | "php" | "rust" | "javascript" | "typescript" | "tsx"
    )
}

/// Whether a symbol is offered to other packages.
fn is_offered(symbol: SymbolView<'_>) -> bool {
    if matches!(symbol.kind(), Kind::Lambda | Kind::Extension | Kind::Section) || symbol.flags().contains(Flags::TEST) {
        return false;
    }
    let language = symbol.file().map_or("", |file| file.language());
    let is_visible = |symbol: SymbolView<'_>| match language {
        // What is not exported is local to its file.
        "javascript" | "typescript" | "tsx" | "vue" | "svelte"
            if !is_member(symbol) && symbol.kind() != Kind::Module =>
        {
            symbol.flags().contains(Flags::EXPORTED)
        }
        _ => symbol.visibility() == Visibility::Public,
    };
    if !is_visible(symbol) {
        return false;
    }
    let mut around = symbol.parent();
    for _ in 0..64 {
        let Some(owner) = around.filter(|owner| !owner.is_file()) else {
            return true;
        };
        // What stands in a function is its own affair.
        if words::is_function(owner.kind()) || !is_visible(owner) {
            return false;
        }
        around = owner.parent();
    }
    false
}

/// Whether a symbol belongs to a type.
fn is_member(symbol: SymbolView<'_>) -> bool {
    let of_type = symbol
        .parent()
        .is_some_and(|owner| !owner.is_file() && words::is_type(owner.kind()));
    // A type inside of a type is offered like any other; its members and a type's own are reached through it.
    !symbol.named_owner().is_empty() || (of_type && !words::is_type(symbol.kind()))
}

/// What a file passes on from others.
fn reexported<'a>(
    workspace: &'a Workspace,
    repository: usize,
    file: FileView<'a>,
) -> Result<Vec<SymbolView<'a>>, QuestionError> {
    if file.language() != "rust" {
        return Ok(Vec::new());
    }
    let Some(whole) = file.symbol() else {
        return Ok(Vec::new());
    };
    let snapshot = &workspace.repositories()[repository].snapshot;
    let imports: Vec<_> = snapshot.outgoing(whole.id(), EdgeKind::Imports).collect();
    if imports.is_empty() {
        return Ok(Vec::new());
    }
    let reading = Reading::of(workspace, repository, file)?;
    let passed: BTreeSet<u32> = reading
        .facts
        .imports
        .iter()
        .filter(|import| {
            let name = import
                .alias
                .or(import.member)
                .map_or("", |name| reading.facts.text(name));
            import.reexported && !name.starts_with('_')
        })
        .map(|import| import.at.line)
        .collect();
    let found = imports
        .iter()
        .filter(|edge| passed.contains(&edge.at.line))
        .filter_map(|edge| match edge.to {
            EdgeEnd::Symbol(target) => snapshot.symbol(target),
            EdgeEnd::External(_) => None,
        });
    Ok(found
        .filter(|symbol| !symbol.is_file() && !symbol.name().starts_with('_'))
        .collect())
}

/// What stands in the modules of this name: Ruby's modules, C++'s namespaces, Rust's inline modules.
fn in_modules<'a>(workspace: &'a Workspace, asked: &str, homes: &mut Homes<'_>) -> Vec<Offer<'a>> {
    let last = asked.rsplit(['.', ':', '/', '\\']).next().unwrap_or(asked);
    let wanted: Vec<&str> = asked
        .split(['.', ':', '/', '\\'])
        .filter(|part| !part.is_empty())
        .collect();
    let mut found = Vec::new();
    for (repository, of) in workspace.repositories().iter().enumerate() {
        let mut modules: BTreeSet<SymbolId> = BTreeSet::new();
        for module in of
            .snapshot
            .symbols()
            .filter(|symbol| symbol.kind() == Kind::Module && symbol.name() == last && !symbol.is_file())
        {
            let full_name = homes.full_name(repository, module);
            let parts: Vec<&str> = full_name
                .split(['.', ':', '/', '\\'])
                .filter(|part| !part.is_empty())
                .collect();
            if parts.ends_with(&wanted) {
                modules.insert(module.id());
            }
        }
        for module in modules.into_iter().filter_map(|module| of.snapshot.symbol(module)) {
            let Some(file) = module.file() else { continue };
            let inside = file
                .symbols()
                .skip(1)
                .filter(|symbol| symbol.parent().is_some_and(|parent| parent.id() == module.id()));
            found.extend(
                inside
                    .filter(|symbol| is_offered(*symbol))
                    .map(|symbol| Offer::plain(repository, symbol)),
            );
        }
    }
    found
}

/// Folders and packages with a similar name, for an error.
fn nearest(workspace: &Workspace, asked: &str, homes: &mut Homes<'_>) -> String {
    let last = asked
        .rsplit(['/', '\\', '.', ':'])
        .next()
        .unwrap_or(asked)
        .to_lowercase();
    let mut similar: BTreeSet<String> = BTreeSet::new();
    for (repository, of) in workspace.repositories().iter().enumerate() {
        for file in of.snapshot.files() {
            if similar.len() >= NEAREST || last.is_empty() {
                break;
            }
            let inside = folder(file.path());
            if inside
                .rsplit('/')
                .next()
                .is_some_and(|name| name.to_lowercase().contains(&last))
                && has_packages(file.language())
            {
                let home = homes.of_file(repository, file);
                similar.insert(match home.namespace.is_empty() {
                    true => workspace.path(repository, inside),
                    false => home.namespace,
                });
            }
        }
    }
    match similar.is_empty() {
        true => String::new(),
        false => format!(" — nearest: {}", similar.into_iter().collect::<Vec<_>>().join(", ")),
    }
}

/// Types first, then what is called, then values.
fn rank(kind: Kind) -> u8 {
    match kind {
        Kind::Module => 0,
        kind if words::is_type(kind) => 1,
        kind if words::is_function(kind) => 2,
        _ => 3,
    }
}
