//! Resolves a caret fixture and compares its edges with its marks, both ways.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use index::model::{EdgeKind, FileId, Origin, ResolvedFile, SymbolRef, Target};
use index::resolve::Resolver;
use index::tree::{Keep, Manifest, Resolve, Tree, is_manifest};
use syntax::facts::{FileFacts, Kind};
use testkit::code_fixture::Fixture;

/// A tree held in memory.
pub(crate) struct MemoryTree {
    pub(crate) files: Vec<(String, &'static str, Arc<FileFacts>)>,
    pub(crate) manifests: Vec<Manifest>,
}

impl MemoryTree {
    pub(crate) fn new(files: impl IntoIterator<Item = (String, String)>) -> MemoryTree {
        let mut tree = MemoryTree {
            files: Vec::new(),
            manifests: Vec::new(),
        };
        for (path, text) in files {
            let name = path.rsplit('/').next().unwrap_or(&path);
            if is_manifest(name) {
                tree.manifests.push(Manifest {
                    path: path.as_str().into(),
                    text: text.as_str().into(),
                });
            }
            if let Some(language) = syntax::languages::detect(&path, text.as_bytes()) {
                let facts = syntax::extract(language, &text);
                tree.files.push((path, language.name(), Arc::new(facts)));
            }
        }
        tree.files.sort_by(|left, right| left.0.cmp(&right.0));
        tree
    }

    pub(crate) fn resolve(&self) -> Vec<ResolvedFile> {
        let resolved = Mutex::new(vec![ResolvedFile::default(); self.files.len()]);
        Resolver::new().resolve(self, Keep::Nothing, &|file, edges| {
            resolved.lock().unwrap()[file.0 as usize] = edges
        });
        resolved.into_inner().unwrap()
    }

    /// `path:Owner.name`, or `path` for the file.
    pub(crate) fn name(&self, symbol: SymbolRef) -> String {
        let (path, _, facts) = &self.files[symbol.file.0 as usize];
        let mut parts = Vec::new();
        let mut at = symbol.definition;
        while let Some(id) = at {
            let definition = facts.definition(id);
            let text = facts.text(definition.name);
            // What stands in a lambda counts for the definition around it; a lambda itself has its number there.
            if !text.is_empty() && (parts.is_empty() || definition.kind != Kind::Lambda) {
                parts.push(text);
            }
            at = definition.parent;
        }
        parts.reverse();
        if parts.is_empty() {
            path.clone()
        } else {
            format!("{path}:{}", parts.join("."))
        }
    }
}

impl Tree for MemoryTree {
    fn file_count(&self) -> usize {
        self.files.len()
    }
    fn path(&self, file: FileId) -> &str {
        &self.files[file.0 as usize].0
    }
    fn language(&self, file: FileId) -> &str {
        self.files[file.0 as usize].1
    }
    fn facts(&self, file: FileId) -> Arc<FileFacts> {
        self.files[file.0 as usize].2.clone()
    }
    fn manifests(&self) -> &[Manifest] {
        &self.manifests
    }
}

/// Compares the call edges inside the tree, and those to outside that a mark names.
pub(crate) fn check_calls(fixture: &str) {
    check(fixture, &[EdgeKind::Calls]);
}

/// Compares all edges of the given kinds. A mark reads `kind target`; `~` before the kind says that it is inferred, `=` that
/// it is resolved, `?` that only the text agrees.
pub(crate) fn check(fixture: &str, kinds: &[EdgeKind]) {
    let fixture = Fixture::parse(fixture);
    let tree = MemoryTree::new(fixture.files.iter().map(|file| (file.path.clone(), file.text.clone())));
    let resolved = tree.resolve();
    let mut expected = BTreeSet::new();
    let mut tiers = Vec::new();
    for file in &fixture.files {
        for mark in &file.marks {
            let (kind, target) = mark.text.split_once(' ').unwrap_or((&mark.text, ""));
            if kind == "def" || kind == "none" {
                continue;
            }
            let (tier, kind) = match kind.split_at(1) {
                ("~", kind) => (Some(Origin::AstInferred), kind),
                ("=", kind) => (Some(Origin::AstResolved), kind),
                ("?", kind) => (Some(Origin::TextMatched), kind),
                _ => (None, kind),
            };
            for target in target.split(',') {
                let entry = (
                    file.path.clone(),
                    mark.line,
                    mark.column,
                    kind.to_string(),
                    target.trim().to_string(),
                );
                if let Some(tier) = tier {
                    tiers.push((entry.clone(), tier));
                }
                expected.insert(entry);
            }
        }
    }
    let mut found = BTreeSet::new();
    let mut problems = String::new();
    for (number, file) in resolved.iter().enumerate() {
        for edge in &file.edges {
            if !kinds.contains(&edge.kind) {
                continue;
            }
            let kind = format!("{:?}", edge.kind).to_lowercase();
            let (target, outside) = match &edge.to {
                Target::Symbol(symbol) => (tree.name(*symbol), false),
                Target::External(name) => (name.to_string(), true),
            };
            let entry = (tree.files[number].0.clone(), edge.at.line, edge.at.column, kind, target);
            // Calls to outside and of lambdas count only where a mark names them.
            if (outside || entry.4.contains("<lambda")) && !expected.contains(&entry) {
                continue;
            }
            for (known, tier) in &tiers {
                if *known == entry && *tier != edge.origin {
                    writeln!(problems, "{entry:?} is {:?}, expected {tier:?}", edge.origin).unwrap();
                }
            }
            found.insert(entry);
        }
    }
    for (path, line, column, kind, target) in expected.difference(&found) {
        writeln!(problems, "missing {path}:{line}:{column} {kind} {target}").unwrap();
    }
    for (path, line, column, kind, target) in found.difference(&expected) {
        writeln!(problems, "extra   {path}:{line}:{column} {kind} {target}").unwrap();
    }
    if !problems.is_empty() {
        if std::env::var_os("SHOW_FACTS").is_some() {
            for (path, _, facts) in &tree.files {
                writeln!(problems, "--- {path}\n{}", facts.dump()).unwrap();
            }
        }
        panic!("\n{problems}");
    }
}
