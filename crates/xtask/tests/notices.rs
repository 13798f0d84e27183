//! What Lacon is built of, for those who ship it: the notices that licences ask for, a bill of materials, and the rule which licences
//! and sources may come in. `cargo metadata` says it all; the committed files are compared with it.
//!
//! `UPDATE_EXPECT=1 cargo test --workspace --test notices` writes both files after a dependency has changed.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use cargo_metadata::{DependencyKind, Metadata, MetadataCommand, Package, PackageId};
use serde_json::{Value, json};

/// What is released and tested. Other systems need a few crates more or less.
const PLATFORM: &str = "x86_64-unknown-linux-gnu";
const CRATES_IO: &str = "registry+https://github.com/rust-lang/crates.io-index";
/// The licence that is chosen where a crate offers it: one text for all of them.
const SHARED: &str = "Apache-2.0";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn metadata() -> Metadata {
    MetadataCommand::new()
        .manifest_path(root().join("Cargo.toml"))
        .other_options(["--locked", "--filter-platform", PLATFORM].map(str::to_owned))
        .exec()
        .expect("cargo metadata runs")
}

/// What is in the binary or makes it: the crates that `lacon` reaches without those for tests, in the order of their names.
struct Parts<'m> {
    metadata: &'m Metadata,
    reached: BTreeSet<&'m PackageId>,
}

impl<'m> Parts<'m> {
    fn of(metadata: &'m Metadata) -> Parts<'m> {
        let start = metadata.packages.iter().find(|package| package.name == "lacon");
        let mut waiting = vec![&start.expect("the binary's crate").id];
        let mut parts = Parts {
            metadata,
            reached: BTreeSet::new(),
        };
        while let Some(id) = waiting.pop() {
            if parts.reached.insert(id) {
                waiting.extend(parts.needs(id));
            }
        }
        parts
    }

    fn needs(&self, id: &PackageId) -> Vec<&'m PackageId> {
        let nodes = &self.metadata.resolve.as_ref().expect("it is resolved").nodes;
        let node = nodes
            .iter()
            .find(|node| node.id == *id)
            .expect("a node of each package");
        let ships = |kind: DependencyKind| kind != DependencyKind::Development;
        let needed = node
            .deps
            .iter()
            .filter(|needed| needed.dep_kinds.iter().any(|kind| ships(kind.kind)));
        needed.map(|needed| &needed.pkg).collect()
    }

    /// Those of others.
    fn foreign(&self) -> Vec<&'m Package> {
        let mut packages: Vec<&Package> = self.metadata.packages.iter().collect();
        packages.retain(|package| self.reached.contains(&package.id) && package.source.is_some());
        packages.sort_by_key(|package| (package.name.to_string(), package.version.clone()));
        packages
    }
}

/// The licence of a crate in today's spelling.
fn licence(package: &Package) -> String {
    package
        .license
        .clone()
        .unwrap_or_default()
        .replace(" / ", " OR ")
        .replace('/', " OR ")
}

/// Whether an expression lets one choose the shared licence alone.
fn offers_shared(expression: &str) -> bool {
    !expression.contains("AND") && expression.split(" OR ").any(|choice| choice.trim() == SHARED)
}

/// The files in which a crate says under which terms it comes.
fn texts(package: &Package) -> Vec<(String, String)> {
    let folder = package.manifest_path.parent().expect("a manifest lies in a folder");
    let is_terms = |name: &str| {
        let name = name.to_ascii_lowercase();
        ["license", "licence", "copying", "copyright", "notice", "unlicense"]
            .iter()
            .any(|start| name.starts_with(start))
    };
    let mut found: Vec<(String, String)> = std::fs::read_dir(folder)
        .expect("the sources of a dependency are there")
        .flatten()
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_file()))
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let bytes = is_terms(&name).then(|| std::fs::read(entry.path()).ok())??;
            Some((name, String::from_utf8_lossy(&bytes).into_owned()))
        })
        .collect();
    found.sort();
    found
}

/// A text without what differs from crate to crate and means nothing.
fn trimmed(text: &str) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    lines.join("\n").trim_matches(['\n', '\u{feff}']).replace("```", "'''")
}

fn words(text: &str) -> String {
    text.split_whitespace().collect::<Vec<&str>>().join(" ")
}

const MIT: &str = "\
Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files
(the \"Software\"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge,
publish, distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do
so, subject to the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED \"AS IS\", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE
FOR ANY CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN
CONNECTION WITH THE SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.";

/// What a crate's terms ask to be shown beside the shared text.
fn own_terms(package: &Package) -> Vec<String> {
    let files = texts(package);
    if offers_shared(&licence(package)) {
        let notices = files
            .iter()
            .filter(|(name, _)| name.to_ascii_lowercase().starts_with("notice"));
        return notices.map(|(_, text)| trimmed(text)).collect();
    }
    if files.is_empty() && licence(package) == "MIT" {
        let authors = match package.authors.is_empty() {
            true => format!("the authors of {}", package.name),
            false => package.authors.join(", "),
        };
        return vec![format!("Copyright (c) {authors}\n\n{MIT}")];
    }
    files.iter().map(|(_, text)| trimmed(text)).collect()
}

/// The terms of the vocabularies, which come with no crate.
fn vocabulary_terms() -> String {
    let page =
        std::fs::read_to_string(root().join("crates/wire/data/README.md")).expect("the page beside the vocabularies");
    let (_, rest) = page.split_once("```text\n").expect("the page shows the terms");
    let (terms, _) = rest.split_once("\n```").expect("the terms end");
    trimmed(terms)
}

fn notices(parts: &Parts<'_>) -> String {
    let foreign = parts.foreign();
    let mut page = String::from(
        "# Third-party notices\n\nLacon's binary holds these crates, the data that they bring, the vocabularies of tiktoken, and a table of vectors \
         whose making is told in `models/code-embedding/README.md`. Where a crate offers Apache-2.0, that is what it is used under; its text is that of \
         `LICENSE-APACHE`. The terms of the others follow the list. `lacon licenses` prints this page.\n\n\
         Written by `UPDATE_EXPECT=1 cargo test --workspace --test notices`.\n\n",
    );
    let mut own: BTreeMap<String, (String, Vec<String>)> = BTreeMap::new();
    for package in &foreign {
        let name = format!("{} {}", package.name, package.version);
        let place = package.repository.as_deref().unwrap_or("https://crates.io");
        let _ = writeln!(page, "- {name}: {} ({place})", licence(package));
        for text in own_terms(package) {
            let entry = own.entry(words(&text)).or_insert_with(|| (text, Vec::new()));
            entry.1.push(name.clone());
        }
    }
    let vocabularies = "vocabularies of tiktoken".to_owned();
    let _ = writeln!(page, "- {vocabularies}: MIT (https://github.com/openai/tiktoken)");
    let text = vocabulary_terms();
    own.entry(words(&text))
        .or_insert_with(|| (text, Vec::new()))
        .1
        .push(vocabularies);
    let mut own: Vec<(String, Vec<String>)> = own.into_values().collect();
    own.sort_by(|one, other| one.1.cmp(&other.1).then_with(|| one.0.cmp(&other.0)));
    for (text, names) in own {
        let _ = write!(page, "\n## {}\n\n```text\n{text}\n```\n", names.join(", "));
    }
    page
}

/// The checksums by which cargo knows what it downloads.
fn checksums() -> BTreeMap<(String, String), String> {
    let lock = std::fs::read_to_string(root().join("Cargo.lock")).expect("Cargo.lock is there");
    let of_entry = |entry: &str| {
        let value = |key: &str| {
            let line = entry
                .lines()
                .find_map(|line| line.strip_prefix(&format!("{key} = \"")))?;
            Some(line.trim_end_matches('"').to_owned())
        };
        Some(((value("name")?, value("version")?), value("checksum")?))
    };
    lock.split("[[package]]").filter_map(of_entry).collect()
}

/// CycloneDX, without a time and a number of its own: the same tree gives the same file.
fn bill_of_materials(parts: &Parts<'_>) -> String {
    let checksums = checksums();
    let reference = |package: &Package| format!("pkg:cargo/{}@{}", package.name, package.version);
    let by_id: BTreeMap<&PackageId, &Package> = parts
        .metadata
        .packages
        .iter()
        .map(|package| (&package.id, package))
        .collect();
    let component = |package: &&Package| -> Value {
        let checksum = checksums.get(&(package.name.to_string(), package.version.to_string()));
        json!({
            "type": "library", "bom-ref": reference(package), "purl": reference(package), "name": package.name,
            "version": package.version.to_string(), "licenses": [{"expression": licence(package)}],
            "hashes": checksum.map(|content| json!({"alg": "SHA-256", "content": content})).into_iter().collect::<Vec<Value>>(),
        })
    };
    let needed = |package: &Package| -> BTreeSet<String> {
        let needed = parts.needs(&package.id).into_iter().map(|id| by_id[id]);
        needed
            .filter(|package| package.source.is_some())
            .map(reference)
            .collect()
    };
    // The workspace's own crates are one application: how it is cut says nothing of what comes from outside.
    let own: Vec<&Package> = parts
        .reached
        .iter()
        .map(|id| by_id[*id])
        .filter(|package| package.source.is_none())
        .collect();
    let lacon = own
        .iter()
        .find(|package| package.name == "lacon")
        .expect("the binary's crate");
    let direct: BTreeSet<String> = own.iter().flat_map(|package| needed(package)).collect();
    let mut needs = vec![json!({"ref": reference(lacon), "dependsOn": direct})];
    let mut foreign = parts.foreign();
    foreign.sort_by_key(|package| reference(package));
    needs.extend(
        foreign
            .iter()
            .map(|package| json!({"ref": reference(package), "dependsOn": needed(package)})),
    );
    let bill = json!({
        "bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1,
        "metadata": {"component": {"type": "application", "bom-ref": reference(lacon), "name": "lacon",
            "version": lacon.version.to_string(), "licenses": [{"expression": licence(lacon)}]},
            "properties": [{"name": "target", "value": PLATFORM}]},
        "components": foreign.iter().map(component).collect::<Vec<Value>>(),
        "dependencies": needs,
    });
    format!(
        "{}\n",
        serde_json::to_string_pretty(&bill).expect("JSON can be written")
    )
}

/// Compares a committed file, or writes it.
fn compare(name: &str, fresh: &str) {
    let path = root().join(name);
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        std::fs::write(path, fresh).expect("the file can be written");
        return;
    }
    let committed = std::fs::read_to_string(&path).unwrap_or_default();
    let line = committed.lines().zip(fresh.lines()).position(|(old, new)| old != new);
    assert!(
        committed == fresh,
        "`{name}` is not what the dependencies say (first difference at line {:?}): \
         UPDATE_EXPECT=1 cargo test --workspace --test notices",
        line.map(|line| line + 1)
    );
}

#[test]
fn the_notices_are_those_of_the_dependencies() {
    let metadata = metadata();
    let parts = Parts::of(&metadata);
    // What asks to be shown is there for every crate that is not under the shared licence.
    for package in parts.foreign() {
        let is_free = ["CC0-1.0", "MIT-0"].contains(&licence(package).as_str());
        assert!(
            offers_shared(&licence(package)) || is_free || !own_terms(package).is_empty(),
            "`{}` ({}) comes without its terms: add them by hand",
            package.name,
            licence(package)
        );
    }
    compare("THIRD-PARTY.md", &notices(&parts));
}

#[test]
fn the_bill_of_materials_is_that_of_the_dependencies() {
    let metadata = metadata();
    compare("sbom.cdx.json", &bill_of_materials(&Parts::of(&metadata)));
}

/// What `deny.toml` allows, read from there: the test holds it where `cargo deny` is not installed.
fn listed(table: &str, key: &str) -> Vec<String> {
    let text = std::fs::read_to_string(root().join("deny.toml")).expect("deny.toml is there");
    let table = text.split(&format!("[{table}]\n")).nth(1).expect("the table is there");
    let list = table.split(&format!("\n{key} = [")).nth(1).expect("the list is there");
    let list = list.split("\n]").next().unwrap_or_default();
    let quoted = list.split('"').skip(1).step_by(2);
    quoted.map(str::to_owned).collect()
}

/// Whether an SPDX expression can be met by what is allowed: `AND` binds closer than `OR`.
fn is_met(expression: &str, allowed: &[String]) -> bool {
    let mut words = expression.replace('(', " ( ").replace(')', " ) ");
    words.push_str(" ;");
    let words: Vec<&str> = words.split_whitespace().collect();
    let mut at = 0;
    let met = either(&words, &mut at, allowed);
    assert_eq!(words[at], ";", "an expression that is not understood: {expression}");
    met
}

fn either(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut met = both(words, at, allowed);
    while words[*at] == "OR" {
        *at += 1;
        met |= both(words, at, allowed);
    }
    met
}

fn both(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    let mut met = one(words, at, allowed);
    while words[*at] == "AND" {
        *at += 1;
        met &= one(words, at, allowed);
    }
    met
}

fn one(words: &[&str], at: &mut usize, allowed: &[String]) -> bool {
    if words[*at] == "(" {
        *at += 1;
        let met = either(words, at, allowed);
        *at += 1;
        return met;
    }
    let mut name = words[*at].to_owned();
    *at += 1;
    if words[*at] == "WITH" {
        let _ = write!(name, " WITH {}", words[*at + 1]);
        *at += 2;
    }
    allowed.contains(&name)
}

#[test]
fn licences_and_sources_are_those_that_may_come_in() {
    let allowed = listed("licenses", "allow");
    let denied = listed("bans", "deny");
    assert!(allowed.contains(&"MIT".to_owned()) && denied.contains(&"openssl-sys".to_owned()));
    let mut broken = Vec::new();
    for package in Parts::of(&metadata()).foreign() {
        let expression = licence(package);
        if expression.is_empty() || !is_met(&expression, &allowed) {
            broken.push(format!(
                "`{}`: the licence `{expression}` is not among those in deny.toml",
                package.name
            ));
        }
        if package.source.as_ref().is_none_or(|source| source.repr != CRATES_IO) {
            broken.push(format!("`{}` does not come from crates.io", package.name));
        }
        if denied.iter().any(|name| *name == *package.name) {
            broken.push(format!("`{}` is kept out by deny.toml", package.name));
        }
    }
    assert!(broken.is_empty(), "{broken:#?}");
}

#[test]
fn expressions_are_read_as_they_are_meant() {
    let allowed = ["MIT", "ISC", "Apache-2.0 WITH LLVM-exception"].map(str::to_owned);
    for (expression, met) in [
        ("MIT", true),
        ("GPL-3.0-only", false),
        ("GPL-3.0-only OR MIT", true),
        ("GPL-3.0-only AND MIT", false),
        ("(GPL-3.0-only OR MIT) AND ISC", true),
        ("GPL-3.0-only OR MIT AND ISC", true),
        ("MIT AND (GPL-3.0-only OR BSD-3-Clause)", false),
        ("Apache-2.0 WITH LLVM-exception", true),
        ("Apache-2.0", false),
    ] {
        assert_eq!(is_met(expression, &allowed), met, "{expression}");
    }
}
