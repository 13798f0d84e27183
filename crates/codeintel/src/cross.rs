//! Edges between the repositories of a workspace: what one takes for an external package is another's own code.
//!
//! Each index knows the externals of its tree by package and qualified name (`go:example.com/lib::Client.Get`). Manifests and folders
//! say which packages a repository is, so an external whose package is here is looked up there. Nothing is stored: links
//! are found once per workspace and walked like any other edge. Contracts add who uses a route, a topic or a method of another.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use index::snapshot::{ExternalId, SymbolId, SymbolView};
use syntax::facts::{Flags, Visibility};

use crate::contracts;
use crate::traverse::is_test_path;
use crate::workspace::{Repository, SymbolKey, Workspace, text_in};

/// Links between the repositories of a workspace.
#[derive(Default)]
pub(crate) struct CrossLinks {
    outgoing: HashMap<(usize, ExternalId), SymbolKey>,
    incoming: HashMap<SymbolKey, Vec<(usize, ExternalId)>>,
}

/// Who uses and who provides the contracts of a workspace.
#[derive(Default)]
pub(crate) struct ContractLinks {
    providers: HashMap<SymbolKey, Vec<SymbolKey>>,
    consumers: HashMap<SymbolKey, Vec<SymbolKey>>,
}

impl CrossLinks {
    /// Finds the links of a workspace.
    pub(crate) fn of(workspace: &Workspace) -> CrossLinks {
        let mut links = CrossLinks::default();
        let packages: Vec<Packages> = workspace.repositories().iter().map(Packages::of).collect();
        for (number, repository) in workspace.repositories().iter().enumerate() {
            for (external, name) in repository.snapshot.externals() {
                let Some((ecosystem, module, member)) = parts(name) else {
                    continue;
                };
                let found = packages
                    .iter()
                    .enumerate()
                    .filter(|(other, _)| *other != number)
                    .find_map(|(other, packages)| {
                        let symbol = packages.find(&workspace.repositories()[other], ecosystem, module, member)?;
                        Some(SymbolKey {
                            repository: other,
                            symbol: symbol.id(),
                        })
                    });
                if let Some(key) = found {
                    links.outgoing.insert((number, external), key);
                    links.incoming.entry(key).or_default().push((number, external));
                }
            }
        }
        links
    }

    /// The symbol that an external of a repository is.
    pub(crate) fn symbol(&self, repository: usize, external: ExternalId) -> Option<SymbolKey> {
        self.outgoing.get(&(repository, external)).copied()
    }

    /// The externals of other repositories that a symbol is.
    pub(crate) fn externals(&self, key: SymbolKey) -> &[(usize, ExternalId)] {
        self.incoming.get(&key).map_or(&[], Vec::as_slice)
    }
}

impl ContractLinks {
    /// Finds the links of a workspace.
    pub(crate) fn of(workspace: &Workspace) -> ContractLinks {
        let mut links = ContractLinks::default();
        for (consumer, provider) in contracts::links(workspace) {
            links.providers.entry(consumer).or_default().push(provider);
            links.consumers.entry(provider).or_default().push(consumer);
        }
        links
    }

    /// Who provides what a symbol uses.
    pub(crate) fn providers(&self, consumer: SymbolKey) -> &[SymbolKey] {
        self.providers.get(&consumer).map_or(&[], Vec::as_slice)
    }

    /// Who uses what a symbol provides.
    pub(crate) fn consumers(&self, provider: SymbolKey) -> &[SymbolKey] {
        self.consumers.get(&provider).map_or(&[], Vec::as_slice)
    }
}

/// `go:example.com/lib::Client.Get` in its three parts.
fn parts(external: &str) -> Option<(&str, &str, &str)> {
    let (ecosystem, rest) = external.split_once(':')?;
    let (module, member) = rest.split_once("::").unwrap_or((rest, ""));
    Some((ecosystem, module, member))
}

/// The packages that a repository is.
#[derive(Default, Debug)]
struct Packages {
    /// Top-level Python packages and modules, and the folder that holds them.
    python: BTreeMap<String, String>,
    /// Import path of each Go module and its folder.
    go: Vec<(String, String)>,
    /// npm packages and their folders.
    npm: BTreeMap<String, String>,
    /// Crates as code names them, and their folders.
    rust: BTreeMap<String, String>,
    /// Whether there is Java or Kotlin, whose packages are folders.
    has_java: bool,
}

/// Most folders that are looked into for manifests.
const MAX_FOLDERS: usize = 2_000;

impl Packages {
    fn of(repository: &Repository) -> Packages {
        let mut packages = Packages::default();
        let mut folders: BTreeSet<&str> = BTreeSet::from([""]);
        for file in repository.snapshot.files() {
            let path = file.path();
            if is_test_path(path) {
                continue;
            }
            let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
            if folder.matches('/').count() < 4 && folders.len() < MAX_FOLDERS {
                folders.insert(folder);
                if let Some((parent, _)) = folder.rsplit_once('/') {
                    folders.insert(parent);
                }
            }
            packages.has_java |= matches!(file.language(), "java" | "kotlin");
        }
        let snapshot = &repository.snapshot;
        let is_package = |folder: &str| snapshot.find_file(&format!("{folder}/__init__.py")).is_some();
        for folder in folders {
            let (parent, name) = folder.rsplit_once('/').unwrap_or(("", folder));
            if !folder.is_empty() && is_package(folder) && (parent.is_empty() || !is_package(parent)) {
                packages
                    .python
                    .entry(name.to_string())
                    .or_insert_with(|| parent.to_string());
            }
            let read = |name: &str| match folder {
                "" => text_in(&repository.root, name),
                folder => text_in(&repository.root, &format!("{folder}/{name}")),
            };
            if let Some(module) = read("go.mod").as_deref().and_then(go_module) {
                packages.go.push((module, folder.to_string()));
            }
            if let Some(name) = read("package.json").as_deref().and_then(npm_name) {
                packages.npm.entry(name).or_insert_with(|| folder.to_string());
            }
            if let Some(name) = read("Cargo.toml").as_deref().and_then(crate_name) {
                packages.rust.entry(name).or_insert_with(|| folder.to_string());
            }
        }
        // Modules of a single file, at the root or beneath `src`.
        for file in snapshot.files() {
            let (folder, name) = file.path().rsplit_once('/').unwrap_or(("", file.path()));
            if let Some(stem) = name
                .strip_suffix(".py")
                .filter(|_| folder.is_empty() || folder == "src")
            {
                packages
                    .python
                    .entry(stem.to_string())
                    .or_insert_with(|| folder.to_string());
            }
        }
        // The longest import path that fits is the module's.
        packages
            .go
            .sort_by(|a, b| b.0.len().cmp(&a.0.len()).then_with(|| a.cmp(b)));
        packages
    }

    /// The symbol of this repository that an external means.
    fn find<'a>(
        &self,
        repository: &'a Repository,
        ecosystem: &str,
        module: &str,
        member: &str,
    ) -> Option<SymbolView<'a>> {
        match ecosystem {
            "py" => {
                let top = module.split('.').next().unwrap_or(module);
                let folder = self.python.get(top)?;
                self.python(repository, folder, module, member)
            }
            "go" => {
                let (path, folder) = self.go.iter().find(|(path, _)| inside(module, path).is_some())?;
                let folder = joined(folder, inside(module, path)?);
                in_folder(repository, &folder, member, true)
            }
            "npm" => {
                let package = npm_package(module);
                let folder = self.npm.get(package)?;
                in_folder(repository, folder, member, false)
            }
            "rust" => {
                let folder = self.rust.get(module.split("::").next()?)?;
                let src = joined(folder, "src");
                in_folder(repository, &src, member, false)
            }
            "java" if self.has_java => {
                let class = member.split('.').next().filter(|class| !class.is_empty())?;
                let path = module.replace('.', "/");
                ["java", "kt"].iter().find_map(|extension| {
                    let end = format!("{path}/{class}.{extension}");
                    let file = repository.snapshot.named(class).find(|symbol| {
                        let rest = symbol.path().strip_suffix(end.as_str());
                        rest.is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
                    })?;
                    exactly(repository, file.path(), member)
                })
            }
            _ => None,
        }
    }

    fn python<'a>(
        &self,
        repository: &'a Repository,
        folder: &str,
        module: &str,
        member: &str,
    ) -> Option<SymbolView<'a>> {
        let path = joined(folder, &module.replace('.', "/"));
        for file in [format!("{path}.py"), format!("{path}/__init__.py")] {
            if member.is_empty()
                && let Some(file) = repository.snapshot.find_file(&file)
            {
                return file.symbol();
            }
            if let Some(symbol) = exactly(repository, &file, member) {
                return Some(symbol);
            }
        }
        // A package gives out what its modules define: one symbol of that name is the one.
        in_folder(repository, &path, member, false)
    }
}

/// The symbol with exactly this qualified name in a file.
fn exactly<'a>(repository: &'a Repository, path: &str, member: &str) -> Option<SymbolView<'a>> {
    repository.snapshot.find(&format!("{path}::{member}"))
}

/// The one public symbol of this qualified name beneath a folder (or directly in it).
fn in_folder<'a>(repository: &'a Repository, folder: &str, member: &str, directly: bool) -> Option<SymbolView<'a>> {
    let last = member.rsplit('.').next().filter(|last| !last.is_empty())?;
    let snapshot = &repository.snapshot;
    let owners: Vec<&str> = member.split('.').rev().skip(1).collect();
    let mut fits: Vec<SymbolView<'a>> = Vec::new();
    let named: Vec<SymbolId> = snapshot.named(last).map(|symbol| symbol.id()).collect();
    for symbol in named.into_iter().filter_map(|id| snapshot.symbol(id)) {
        let Some(rest) = inside(symbol.path(), folder) else {
            continue;
        };
        let is_offered = symbol.visibility() == Visibility::Public || symbol.flags().contains(Flags::EXPORTED);
        if (directly && rest.contains('/')) || !is_offered || is_test_path(rest) {
            continue;
        }
        let qualified = symbol.qualified_name();
        let mut have = qualified.split('.').rev().skip(1);
        // Modules of Rust are part of the path that an external gives but not of a symbol's name.
        let all = owners.iter().all(|owner| match have.next() {
            Some(have) => have == *owner,
            None => !directly,
        });
        if all && have.next().is_none() {
            fits.push(symbol);
        }
    }
    match fits.as_slice() {
        [one] => Some(*one),
        _ => None,
    }
}

/// The rest of a path inside another.
fn inside<'a>(path: &'a str, outer: &str) -> Option<&'a str> {
    match outer {
        "" => Some(path),
        outer => {
            let rest = path.strip_prefix(outer)?;
            (rest.is_empty() || rest.starts_with('/')).then(|| rest.trim_start_matches('/'))
        }
    }
}

fn joined(folder: &str, rest: &str) -> String {
    match (folder, rest) {
        ("", rest) => rest.to_string(),
        (folder, "") => folder.to_string(),
        (folder, rest) => format!("{folder}/{rest}"),
    }
}

fn go_module(manifest: &str) -> Option<String> {
    let line = manifest.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    let path = line.split("//").next().unwrap_or(line).trim().trim_matches('"');
    (!path.is_empty()).then(|| path.to_string())
}

fn npm_name(manifest: &str) -> Option<String> {
    let manifest: serde_json::Value = serde_json::from_str(manifest).ok()?;
    manifest.get("name")?.as_str().map(str::to_string)
}

/// `@scope/name/sub` is of the package `@scope/name`.
fn npm_package(module: &str) -> &str {
    let parts = if module.starts_with('@') { 2 } else { 1 };
    let end = module
        .match_indices('/')
        .nth(parts - 1)
        .map_or(module.len(), |(at, _)| at);
    &module[..end]
}

fn crate_name(manifest: &str) -> Option<String> {
    let manifest: toml::Table = manifest.parse().ok()?;
    let library = manifest.get("lib").and_then(|library| library.get("name"));
    let package = manifest.get("package").and_then(|package| package.get("name"));
    library.or(package)?.as_str().map(|name| name.replace('-', "_"))
}
