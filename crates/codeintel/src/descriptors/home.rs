//! Where a symbol belongs: package and namespace of a file by the rule of its language, and full names made from them.
//!
//! Languages that declare their package are read for the declaration; the others derive it from where the file lies, as
//! their importers do.

use std::collections::HashMap;

use index::model::FileId;
use index::scan::read_source;
use index::snapshot::{FileView, SymbolView};
use syntax::facts::Kind;

use crate::workspace::{Repository, Workspace};

/// Package and namespace of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Home {
    /// What is installed or imported as a whole: Go's and Java's package, a crate, an npm package, a Python package.
    pub package: String,
    /// What names of the file are qualified with, in the language's own spelling.
    pub namespace: String,
}

/// Homes of files, each found once.
pub struct Homes<'a> {
    workspace: &'a Workspace,
    known: HashMap<(usize, FileId), Home>,
    manifests: HashMap<(usize, String), Option<String>>,
}

impl<'a> Homes<'a> {
    /// Of the files of `workspace`.
    pub fn new(workspace: &'a Workspace) -> Homes<'a> {
        Homes {
            workspace,
            known: HashMap::new(),
            manifests: HashMap::new(),
        }
    }

    /// Package and namespace of a file.
    pub fn of_file(&mut self, repository: usize, file: FileView<'_>) -> Home {
        if let Some(known) = self.known.get(&(repository, file.id())) {
            return known.clone();
        }
        let home = self.find(repository, file);
        self.known.insert((repository, file.id()), home.clone());
        home
    }

    /// The namespace of a symbol: the file's, then the modules declared around it.
    pub fn namespace(&mut self, repository: usize, symbol: SymbolView<'_>) -> Home {
        let Some(file) = symbol.file() else {
            return Home::default();
        };
        let mut home = self.of_file(repository, file);
        let separator = separator(file.language());
        let modules: Vec<&str> = owners(symbol)
            .into_iter()
            .filter(|owner| owner.kind() == Kind::Module)
            .map(|owner| owner.name())
            .collect();
        for module in modules {
            home.namespace = joined(&home.namespace, module, separator);
        }
        home
    }

    /// The name of a symbol with everything around it.
    pub fn full_name(&mut self, repository: usize, symbol: SymbolView<'_>) -> String {
        let Some(file) = symbol.file() else {
            return symbol.name().to_string();
        };
        let separator = separator(file.language());
        let mut name = self.of_file(repository, file).namespace;
        // Go names an exported thing by its package alone.
        if file.language() == "go" {
            name = self.of_file(repository, file).package;
        }
        for owner in owners(symbol) {
            name = joined(&name, owner.name(), separator);
        }
        if !symbol.named_owner().is_empty() {
            name = joined(&name, symbol.named_owner(), separator);
        }
        joined(&name, symbol.name(), separator)
    }

    fn find(&mut self, repository: usize, file: FileView<'_>) -> Home {
        let Some(of) = self.workspace.repository(repository) else {
            return Home::default();
        };
        let path = file.path();
        let same = |name: String| Home {
            package: name.clone(),
            namespace: name,
        };
        match file.language() {
            "go" => Home {
                package: declared_in(of, path, "go").unwrap_or_default(),
                namespace: self.go_import_path(repository, path),
            },
            language @ ("java" | "kotlin" | "scala" | "csharp" | "php") => {
                same(declared_in(of, path, language).unwrap_or_default())
            }
            "python" => python_home(of, path),
            "rust" => self.rust_home(repository, path),
            "javascript" | "typescript" | "tsx" | "vue" | "svelte" => self.npm_home(repository, path),
            "ruby" | "cpp" => Home {
                package: folder(path).to_string(),
                namespace: String::new(),
            },
            _ => Home {
                package: folder(path).to_string(),
                namespace: String::new(),
            },
        }
    }

    fn go_import_path(&mut self, repository: usize, path: &str) -> String {
        for above in folders_above(path) {
            let manifest = format!("{above}go.mod");
            if let Some(module) = self.manifest(repository, &manifest, |text| {
                let line = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
                Some(line.trim().trim_matches('"').to_string())
            }) {
                let below = folder(path).strip_prefix(above.trim_end_matches('/')).unwrap_or("");
                return joined(&module, below.trim_start_matches('/'), "/");
            }
        }
        folder(path).to_string()
    }

    fn rust_home(&mut self, repository: usize, path: &str) -> Home {
        let (above, within) = match path.rfind("src/").filter(|at| *at == 0 || path[..*at].ends_with('/')) {
            Some(at) => (&path[..at], &path[at + 4..]),
            None => ("", path),
        };
        let declared = self.manifest(repository, &format!("{above}Cargo.toml"), |text| {
            let package = text.split("[package]").nth(1)?;
            let line = package.lines().find_map(|line| line.trim().strip_prefix("name"))?;
            Some(line.trim_start_matches([' ', '=']).trim().trim_matches('"').to_string())
        });
        let named = above.trim_end_matches('/').rsplit('/').next().unwrap_or("");
        let package = declared.unwrap_or_else(|| named.to_string());
        let module = within.strip_suffix(".rs").unwrap_or(within);
        let mut namespace = package.replace('-', "_");
        for part in module
            .split('/')
            .filter(|part| !matches!(*part, "lib" | "main" | "mod"))
        {
            namespace = joined(&namespace, part, "::");
        }
        Home { package, namespace }
    }

    fn npm_home(&mut self, repository: usize, path: &str) -> Home {
        let module = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
        for above in folders_above(path) {
            let named = self.manifest(repository, &format!("{above}package.json"), |text| {
                let manifest: serde_json::Value = serde_json::from_str(text).ok()?;
                Some(manifest.get("name")?.as_str()?.to_string())
            });
            if let Some(package) = named {
                let namespace = module.strip_prefix(&above).unwrap_or(module).to_string();
                return Home { package, namespace };
            }
        }
        Home {
            package: folder(path).to_string(),
            namespace: module.to_string(),
        }
    }

    /// What a manifest says, read once.
    fn manifest(&mut self, repository: usize, path: &str, read: impl Fn(&str) -> Option<String>) -> Option<String> {
        let key = (repository, path.to_string());
        if let Some(known) = self.manifests.get(&key) {
            return known.clone();
        }
        let root = &self.workspace.repository(repository)?.root;
        let said = read_source(root, path).ok().and_then(|(text, _)| read(&text));
        self.manifests.insert(key, said.clone());
        said
    }
}

/// What joins the parts of a name.
pub fn separator(language: &str) -> &'static str {
    match language {
        "php" => "\\",
        "rust" | "cpp" | "c" | "ruby" => "::",
        _ => ".",
    }
}

/// The definitions around a symbol, from the outermost in.
pub fn owners(symbol: SymbolView<'_>) -> Vec<SymbolView<'_>> {
    let mut all = Vec::new();
    let mut current = symbol.parent();
    while let Some(owner) = current.filter(|owner| !owner.is_file()) {
        all.push(owner);
        if all.len() > 64 {
            break;
        }
        current = owner.parent();
    }
    all.reverse();
    all
}

/// The package that a text declares, as written.
pub fn declared(language: &str, text: &str) -> Option<String> {
    let keyword = match language {
        "php" | "csharp" => "namespace ",
        _ => "package ",
    };
    let mut in_comment = false;
    for line in text.lines().take(MAX_HEADER_LINES) {
        let line = line.trim();
        if in_comment {
            in_comment = !line.contains("*/");
            continue;
        }
        if line.starts_with("/*") {
            in_comment = !line.contains("*/");
            continue;
        }
        let line = line.strip_prefix("<?php").map_or(line, str::trim_start);
        if let Some(rest) = line.strip_prefix(keyword) {
            let end = rest
                .find(|letter: char| !letter.is_alphanumeric() && !matches!(letter, '.' | '_' | '\\' | '`'))
                .unwrap_or(rest.len());
            let name = rest[..end].trim_matches('`');
            if !name.is_empty() {
                return Some(name.to_string());
            }
        }
    }
    None
}

/// A declaration further down than this is not looked for.
const MAX_HEADER_LINES: usize = 2_000;

/// The package that a file declares.
pub fn declared_in(repository: &Repository, path: &str, language: &str) -> Option<String> {
    let (text, _) = read_source(&repository.root, path).ok()?;
    declared(language, &text)
}

/// A module is named from the outermost folder that is a package.
fn python_home(repository: &Repository, path: &str) -> Home {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let parts: Vec<&str> = stem.split('/').collect();
    let mut first = parts.len() - 1;
    while first > 0 {
        let package = parts[..first].join("/");
        let initial = |extension: &str| {
            repository
                .snapshot
                .find_file(&format!("{package}/__init__.{extension}"))
        };
        if initial("py").or_else(|| initial("pyi")).is_none() {
            break;
        }
        first -= 1;
    }
    let module: Vec<&str> = parts[first..]
        .iter()
        .copied()
        .filter(|part| *part != "__init__")
        .collect();
    let package = match parts.last() {
        Some(&"__init__") => module.join("."),
        _ => module[..module.len().saturating_sub(1)].join("."),
    };
    Home {
        package,
        namespace: module.join("."),
    }
}

/// The folder of a path, empty at the root.
pub fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// The folders that hold a path, innermost first, each with its `/`; last the root, empty.
fn folders_above(path: &str) -> Vec<String> {
    let mut all: Vec<String> = path.match_indices('/').map(|(at, _)| path[..=at].to_string()).collect();
    all.reverse();
    all.push(String::new());
    all
}

fn joined(before: &str, after: &str, separator: &str) -> String {
    match (before.is_empty(), after.is_empty()) {
        (true, _) => after.to_string(),
        (_, true) => before.to_string(),
        _ => format!("{before}{separator}{after}"),
    }
}

#[cfg(test)]
mod tests {
    use super::declared;

    #[test]
    fn a_declared_package_is_read_past_comments() {
        assert_eq!(
            declared("java", "/* package no;\n package no; */\n// x\npackage a.b.c;\n").as_deref(),
            Some("a.b.c")
        );
        assert_eq!(
            declared("php", "<?php\n\nnamespace App\\Models;\n").as_deref(),
            Some("App\\Models")
        );
        assert_eq!(declared("php", "<?php namespace A { }").as_deref(), Some("A"));
        assert_eq!(
            declared("csharp", "using X;\nnamespace Shop.Core\n{").as_deref(),
            Some("Shop.Core")
        );
        assert_eq!(declared("go", "// Package x\npackage shop\n").as_deref(), Some("shop"));
        assert_eq!(declared("php", "<?php\nclass A {}"), None);
    }
}
