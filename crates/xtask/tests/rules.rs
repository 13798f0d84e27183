//! The architecture's rules, as tables checked against `cargo metadata` and the sources.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand};

/// Which crates of the workspace a crate may depend on.
const MAY_DEPEND_ON: &[(&str, &[&str])] = &[
    ("syntax", &[]),
    ("index", &["syntax"]),
    ("guardian", &[]),
    ("lsp", &["guardian"]),
    ("codeintel", &["guardian", "index", "lsp", "syntax", "wire"]),
    ("wire", &[]),
    ("secrets", &[]),
    ("gateway", &["guardian", "secrets", "wire"]),
    ("terminal", &[]),
    (
        "server",
        &[
            "syntax",
            "index",
            "guardian",
            "lsp",
            "codeintel",
            "wire",
            "gateway",
            "secrets",
            "terminal",
        ],
    ),
    (
        "bench",
        &[
            "syntax",
            "index",
            "guardian",
            "lsp",
            "codeintel",
            "wire",
            "gateway",
            "server",
            "terminal",
        ],
    ),
    (
        "lacon",
        &[
            "index",
            "guardian",
            "lsp",
            "codeintel",
            "wire",
            "gateway",
            "server",
            "bench",
            "terminal",
        ],
    ),
    ("testkit", &[]),
    ("xtask", &[]),
];

/// Which crates may use a library, and everything whose name begins like it.
const ONLY_IN: &[(&str, &[&str])] = &[
    ("tree-sitter", &["syntax"]),
    ("rmcp", &["gateway", "server", "bench"]),
    ("tokio", &["gateway", "server", "bench", "lacon"]),
];

/// Crates whose sources touch neither files nor network nor processes.
const NO_IO: &[&str] = &["syntax", "wire", "secrets"];
const IO: &[&str] = &[
    "std::fs",
    "std::net",
    "std::process",
    "fs::File",
    "File::open",
    "TcpStream",
];

/// Crates that read variables of the environment that users may set.
const READ_THE_ENVIRONMENT: &[&str] = &["terminal", "server", "bench", "lacon"];

/// Crates that are for tests only: normal dependencies on them are refused.
const DEV_ONLY: &[&str] = &["testkit", "xtask"];

fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .no_deps()
        .exec()
        .expect("cargo metadata runs")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Each crate with its dependencies of one kind.
fn dependencies(metadata: &Metadata, kinds: &[DependencyKind]) -> BTreeMap<String, Vec<String>> {
    let of = |package: &cargo_metadata::Package| {
        package
            .dependencies
            .iter()
            .filter(|dependency| kinds.contains(&dependency.kind))
            .map(|d| d.name.clone())
            .collect()
    };
    metadata
        .packages
        .iter()
        .map(|package| (package.name.to_string(), of(package)))
        .collect()
}

#[test]
fn crates_depend_only_on_those_below_them() {
    let metadata = metadata();
    let crates = dependencies(&metadata, &[DependencyKind::Normal, DependencyKind::Build]);
    let mut broken = Vec::new();
    for (name, dependencies) in &crates {
        let Some((_, allowed)) = MAY_DEPEND_ON.iter().find(|(listed, _)| listed == name) else {
            broken.push(format!("`{name}` is not in the table: say what it may depend on"));
            continue;
        };
        for dependency in dependencies
            .iter()
            .filter(|dependency| crates.contains_key(*dependency))
        {
            if !allowed.contains(&dependency.as_str()) {
                broken.push(format!("`{name}` depends on `{dependency}`"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
    for (listed, _) in MAY_DEPEND_ON {
        assert!(
            crates.contains_key(*listed),
            "the table lists `{listed}`, which does not exist"
        );
    }
}

#[test]
fn libraries_stay_where_they_belong() {
    let metadata = metadata();
    let crates = dependencies(&metadata, &[DependencyKind::Normal, DependencyKind::Build]);
    let mut broken = Vec::new();
    for (name, dependencies) in &crates {
        for dependency in dependencies {
            let ruled = ONLY_IN.iter().find(|(library, _)| {
                dependency == library
                    || dependency
                        .strip_prefix(library)
                        .is_some_and(|rest| rest.starts_with('-'))
            });
            if let Some((_, allowed)) = ruled
                && !allowed.contains(&name.as_str())
            {
                broken.push(format!("`{name}` uses `{dependency}`"));
            }
            if DEV_ONLY.contains(&dependency.as_str()) {
                broken.push(format!("`{name}` uses `{dependency}` outside of tests"));
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn syntax_and_wire_do_no_io() {
    let mut broken = Vec::new();
    for name in NO_IO {
        let sources = rust_files(&root().join("crates").join(name).join("src"));
        assert!(!sources.is_empty(), "no sources of `{name}`");
        for path in sources {
            let text = std::fs::read_to_string(&path).expect("a source is readable");
            // What follows the test module is allowed to read test data.
            let product = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
            for (number, line) in product.lines().enumerate() {
                let code = line.split("//").next().unwrap_or_default();
                if let Some(word) = IO.iter().find(|word| code.contains(**word)) {
                    broken.push(format!("{}:{}: {word}", path.display(), number + 1));
                }
            }
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn only_the_output_module_writes_to_stdout() {
    let metadata = metadata();
    let mut broken = Vec::new();
    for package in &metadata.packages {
        let directory = package
            .manifest_path
            .parent()
            .expect("a manifest is in a directory")
            .join("src");
        for path in rust_files(directory.as_std_path()) {
            let text = std::fs::read_to_string(&path).expect("a source is readable");
            // The MCP server owns stdout while it runs, through tokio.
            let writes = text.contains("std::io::stdout") || text.contains(" io::stdout()");
            if writes && !path.ends_with("terminal/src/output.rs") {
                broken.push(path.display().to_string());
            }
        }
    }
    assert!(broken.is_empty(), "these write to stdout: {broken:#?}");
}

/// A repository may name programs that git runs. One module knows how none is, so only that one starts git.
#[test]
fn git_is_started_in_one_place() {
    let metadata = metadata();
    let mut broken = Vec::new();
    // The chores are run by developers on this repository alone.
    let products = metadata.packages.iter().filter(|package| package.name != "xtask");
    for package in products {
        let folder = package.manifest_path.parent().expect("a manifest is in a directory");
        for path in rust_files(folder.join("src").as_std_path()) {
            if path.ends_with("codeintel/src/git.rs") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("a source is readable");
            // What follows the test module may make repositories.
            let product = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
            let starts = ["Command::new(\"git", "find(\"git\"", "on_path(\"git\"", "arg(\"git"];
            for (number, line) in product.lines().enumerate() {
                if starts.iter().any(|start| line.contains(start)) {
                    broken.push(format!("{}:{}", path.display(), number + 1));
                }
            }
        }
    }
    assert!(
        broken.is_empty(),
        "git is started outside of `codeintel::git`: {broken:#?}"
    );
}

#[test]
fn every_variable_and_key_is_documented() {
    let page = std::fs::read_to_string(root().join("docs/reference/configuration.md")).expect("the page is there");
    let documented: BTreeSet<&str> = variables(&page).collect();
    let sources: Vec<String> = READ_THE_ENVIRONMENT
        .iter()
        .flat_map(|name| rust_files(&root().join("crates").join(name).join("src")))
        .map(|path| std::fs::read_to_string(path).expect("a source is readable"))
        .collect();
    let read: BTreeSet<&str> = sources.iter().flat_map(|text| variables(text)).collect();
    assert!(read.len() > 5, "the sources name no variables: {read:?}");
    assert_eq!(read, documented, "variables of the sources, and those of the page");

    let config = std::fs::read_to_string(root().join("crates/index/src/scan/config.rs")).expect("a source is readable");
    let (_, config) = config.split_once("pub struct Config {").expect("the table's type");
    let (config, _) = config.split_once("\n}").expect("the type ends");
    let keys: Vec<&str> = config
        .lines()
        .filter_map(|line| line.trim().strip_prefix("pub ")?.split(':').next())
        .collect();
    assert!(!keys.is_empty(), "the table has keys");
    for key in keys {
        assert!(
            page.contains(&format!("\n{key} = ")),
            "`{key}` of [index] is not documented"
        );
    }
}

#[test]
fn every_crate_refuses_to_unwrap() {
    for package in &metadata().packages {
        let sources = package
            .manifest_path
            .parent()
            .expect("a manifest is in a directory")
            .join("src");
        for path in ["lib.rs", "main.rs"].map(|name| sources.join(name)) {
            let Ok(text) = std::fs::read_to_string(&path) else {
                continue;
            };
            assert!(
                text.contains("\n#![cfg_attr(not(test), deny(clippy::unwrap_used))]\n"),
                "{path} allows `unwrap`"
            );
        }
    }
}

/// Names of environment variables of Lacon's in a text.
fn variables(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices("LACON_").map(|(at, _)| {
        let name = &text[at..];
        let end = name.find(|c: char| !(c.is_ascii_uppercase() || c == '_'));
        &name[..end.unwrap_or(name.len())]
    })
}

fn rust_files(directory: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let Ok(entries) = std::fs::read_dir(directory) else {
        return files;
    };
    for entry in entries {
        let path = entry.expect("a directory is readable").path();
        if path.is_dir() {
            files.extend(rust_files(&path));
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    files.sort();
    files
}
