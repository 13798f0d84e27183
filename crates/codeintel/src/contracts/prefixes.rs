//! Every route under all the paths that other files mount it at: mounts are followed from the route outwards, file by file.

use std::collections::{BTreeMap, BTreeSet};

use index::model::FileId;
use index::snapshot::{Snapshot, SymbolId};

use super::rules::Kind;
use super::{Endpoint, Mount, Role, route};

/// Deepest nesting of files mounted in files.
const MAX_MOUNTS: usize = 6;
/// Most prefixes under which one route is said.
const MAX_PREFIXES: usize = 16;

/// Puts before each route what the files that mount it say.
pub(super) fn mounted(snapshot: &Snapshot, endpoints: Vec<Endpoint>, mounts: &[Mount]) -> Vec<Endpoint> {
    let mut by_file: BTreeMap<FileId, Vec<&Mount>> = BTreeMap::new();
    for mount in mounts {
        if let Some(file) = mount.target.file.or_else(|| file_of_module(snapshot, mount)) {
            by_file.entry(file).or_default().push(mount);
        }
    }
    let handled = handled(snapshot, mounts);
    let mut found = Vec::with_capacity(endpoints.len());
    for endpoint in endpoints {
        if let Some(prefixes) = endpoint.symbol.and_then(|symbol| handled.get(&symbol)) {
            found.extend(prefixes.iter().take(MAX_PREFIXES).map(|prefix| Endpoint {
                path: route::join(prefix, &endpoint.path),
                ..endpoint.clone()
            }));
            continue;
        }
        if endpoint.kind != Kind::Http || endpoint.role != Role::Provider || by_file.is_empty() {
            found.push(endpoint);
            continue;
        }
        for prefix in prefixes(&by_file, endpoint.file, &endpoint.spoken_to, &endpoint.within, 0) {
            found.push(Endpoint {
                path: route::join(&prefix, &endpoint.path),
                ..endpoint.clone()
            });
        }
    }
    found
}

/// What is put before handlers that are listed by name. A name is looked for in the file that lists it, then in the module it is
/// written with, then wherever only one function has it.
fn handled(snapshot: &Snapshot, mounts: &[Mount]) -> BTreeMap<SymbolId, BTreeSet<String>> {
    let mut found: BTreeMap<SymbolId, BTreeSet<String>> = BTreeMap::new();
    for mount in mounts {
        for handler in &mount.handlers {
            let (module, name) = handler.rsplit_once("::").unwrap_or(("", handler));
            let module = module.rsplit("::").next().unwrap_or_default();
            let named: Vec<_> = snapshot.named(name).filter(|symbol| !symbol.is_file()).collect();
            let is_in_module = |path: &str| {
                let mut parts = path.trim_end_matches(".rs").rsplit('/').filter(|part| *part != "mod");
                !module.is_empty() && parts.next() == Some(module)
            };
            let found_here = named
                .iter()
                .find(|symbol| module.is_empty() && symbol.file_id() == mount.from);
            let symbol = found_here
                .or_else(|| named.iter().find(|symbol| is_in_module(symbol.path())))
                .or(named.first().filter(|_| named.len() == 1));
            if let Some(symbol) = symbol {
                found.entry(symbol.id()).or_default().insert(mount.prefix.clone());
            }
        }
    }
    found
}

/// Everything that is put before what `file` says to `spoken_to`.
fn prefixes(
    by_file: &BTreeMap<FileId, Vec<&Mount>>,
    file: FileId,
    spoken_to: &str,
    around: &str,
    depth: usize,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for mount in by_file.get(&file).into_iter().flatten() {
        let name = mount.target.name.as_str();
        let within = mount.from == file;
        // A router mounted in its own file must be the one spoken to; another file's may be called anything there.
        let fits = match within {
            true => {
                !name.is_empty()
                    && (name == spoken_to || name == around)
                    && mount.within != name
                    && mount.spoken_to != name
            }
            false => {
                name.is_empty()
                    || spoken_to.is_empty()
                    || name == spoken_to
                    || name == around
                    || !is_router(by_file, file, name, spoken_to)
            }
        };
        if !fits || found.len() >= MAX_PREFIXES {
            continue;
        }
        let outer = match depth < MAX_MOUNTS {
            true => prefixes(by_file, mount.from, &mount.spoken_to, &mount.within, depth + 1),
            false => BTreeSet::from([String::new()]),
        };
        found.extend(
            outer
                .iter()
                .map(|outer| route::join(outer, &mount.prefix))
                .take(MAX_PREFIXES),
        );
    }
    if found.is_empty() {
        found.insert(String::new());
    }
    found
}

/// Whether a file has several routers that are mounted apart, so that their names decide.
fn is_router(by_file: &BTreeMap<FileId, Vec<&Mount>>, file: FileId, name: &str, spoken_to: &str) -> bool {
    let mut mounts = by_file.get(&file).into_iter().flatten();
    mounts.any(|mount| mount.from != file && mount.target.name != name && mount.target.name == spoken_to)
}

/// The file that a module named by text is: `app.urls`, `./routes/users`.
fn file_of_module(snapshot: &Snapshot, mount: &Mount) -> Option<FileId> {
    let module = mount.target.module.trim_start_matches(['.', '/']);
    if module.is_empty() {
        return None;
    }
    let as_path = module.replace(['.', '\\'], "/").replace("::", "/");
    let ends = [
        format!("{as_path}.py"),
        format!("{as_path}/__init__.py"),
        format!("{module}.js"),
        format!("{module}.ts"),
        format!("{module}/index.js"),
        format!("{module}/index.ts"),
        format!("{as_path}.rs"),
        format!("{as_path}/mod.rs"),
    ];
    let fits = |path: &str| {
        ends.iter().any(|end| {
            path.strip_suffix(end.as_str())
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
        })
    };
    snapshot.files().find(|file| fits(file.path())).map(|file| file.id())
}
