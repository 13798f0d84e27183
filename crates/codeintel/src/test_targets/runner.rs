//! Which runner a test file belongs to: read from the manifests above it, never guessed from its language alone where a manifest can
//! tell. What the runners are told is in [`commands`](super::commands).

use std::collections::BTreeMap;
use std::path::Path;

use index::snapshot::SymbolView;

use super::commands::command;
use super::quoting::{inside, word};
use super::{Group, TestCommand};
use crate::workspace::{Workspace, text_in};

/// One test file with what is needed to run it.
pub(super) struct File<'a> {
    pub(super) path: &'a str,
    language: &'a str,
    /// None where all of it is run.
    pub(super) tests: Vec<SymbolView<'a>>,
    root: &'a Path,
}

/// Tests that one command can run together: the runner, the directory it runs in, and the runner's own grouping.
type Batch = (&'static str, String, String);

/// The commands that run these tests.
pub(super) fn commands(workspace: &Workspace, groups: &[((usize, String), Group)]) -> Vec<TestCommand> {
    let mut batches: BTreeMap<(usize, Batch), Vec<File<'_>>> = BTreeMap::new();
    for ((number, file), group) in groups {
        let Some(repository) = workspace.repository(*number) else {
            continue;
        };
        let Some(view) = repository.snapshot.find_file(file) else {
            continue;
        };
        let tests = match group.whole {
            true => Vec::new(),
            false => group
                .in_order()
                .into_iter()
                .filter_map(|key| workspace.symbol(key))
                .collect(),
        };
        let file = File {
            path: view.path(),
            language: view.language(),
            tests,
            root: &repository.root,
        };
        if let Some(batch) = batch(&file) {
            batches.entry((*number, batch)).or_default().push(file);
        }
    }
    batches
        .into_iter()
        .map(|((number, (runner, directory, unit)), files)| TestCommand {
            runner: runner.to_string(),
            command: inside(&directory, &command(runner, &directory, &unit, &files)),
            repo: workspace
                .repository(number)
                .filter(|_| workspace.is_prefixed())
                .map(|repository| repository.name.clone()),
        })
        .collect()
}

/// The runner of a file, the directory to run it in, and what must be run apart.
fn batch(file: &File<'_>) -> Option<Batch> {
    let here = String::new;
    Some(match file.language {
        "rust" => {
            let (directory, manifest) = file.nearest_where("Cargo.toml", |text| text.contains("[package]"))?;
            let package: toml::Table = manifest.parse().ok()?;
            let name = package.get("package")?.get("name")?.as_str()?.to_string();
            (
                "cargo",
                here(),
                format!("{name}\n{directory}\n{}", rust_target(&directory, file.path)),
            )
        }
        "go" => {
            let (directory, _) = file.nearest("go.mod")?;
            let folder = folder(file.path);
            let package = folder
                .strip_prefix(directory.as_str())
                .unwrap_or(folder)
                .trim_start_matches('/')
                .to_string();
            ("go", directory, package)
        }
        "python" => return Some(python(file)),
        "javascript" | "typescript" | "tsx" | "vue" | "svelte" => {
            let (directory, manifest) = file.nearest("package.json")?;
            let uses = |word: &str| manifest.contains(&format!("\"{word}")) || manifest.contains(&format!(" {word}"));
            let runner = ["vitest", "jest", "mocha", "ava", "tap"]
                .into_iter()
                .find(|runner| uses(runner));
            match runner {
                Some(runner) => (runner, directory, here()),
                None if file.text_contains("node:test") => ("node", directory, here()),
                None if manifest.contains("\"test\"") => ("npm", directory, here()),
                None => return None,
            }
        }
        "php" => {
            let (directory, manifest) = file.nearest("composer.json")?;
            match manifest.contains("pestphp/pest\"") {
                true => ("pest", directory, here()),
                false => ("phpunit", directory, here()),
            }
        }
        "java" | "kotlin" | "scala" => {
            let gradle = ["build.gradle", "build.gradle.kts"]
                .iter()
                .find_map(|name| file.nearest(name));
            match (file.nearest("pom.xml"), gradle) {
                (Some((module, _)), None) => ("maven", here(), module),
                (None, Some((module, _))) => ("gradle", here(), module),
                // The nearer of the two is the one in use.
                (Some((maven, _)), Some((module, _))) if maven.len() > module.len() => ("maven", here(), maven),
                (Some(_), Some((module, _))) => ("gradle", here(), module),
                (None, None) => return None,
            }
        }
        "ruby" => {
            let (directory, _) = file.nearest("Gemfile").unwrap_or_default();
            match (file.path.ends_with("_spec.rb"), file.exists(&directory, "bin/rails")) {
                (true, _) => ("rspec", directory, here()),
                (false, true) => ("rails", directory, here()),
                (false, false) => ("minitest", directory, here()),
            }
        }
        "csharp" => {
            let project = file.nearest_project(".csproj")?;
            ("dotnet", here(), project)
        }
        _ => return None,
    })
}

/// Which target of its package a Rust file belongs to.
fn rust_target(directory: &str, file: &str) -> String {
    let inner = strip(directory, file);
    if let Some(rest) = inner.strip_prefix("tests/") {
        let name = rest.split('/').next().unwrap_or(rest).trim_end_matches(".rs");
        return format!("--test {}", word(name));
    }
    if let Some(rest) = inner.strip_prefix("src/bin/") {
        return format!(
            "--bin {}",
            word(rest.split('/').next().unwrap_or(rest).trim_end_matches(".rs"))
        );
    }
    // A package with a library has its modules there; one without, in its program.
    match inner == "src/main.rs" {
        true => "--bins".to_string(),
        false => "--lib --bins".to_string(),
    }
}

fn python(file: &File<'_>) -> Batch {
    // Django's own suite, then a project's `manage.py`, then pytest, then what comes with Python.
    let above = file.ancestors();
    for directory in &above {
        if file.exists(directory, "runtests.py") && file.exists(directory, "test_sqlite.py") {
            return ("django", String::new(), joined(directory, "runtests.py"));
        }
        if file.exists(directory, "manage.py") && file.text_contains("django") {
            return ("django", directory.clone(), "manage.py".to_string());
        }
    }
    let configured = above.iter().any(|directory| {
        ["conftest.py", "pytest.ini"]
            .iter()
            .any(|name| file.exists(directory, name))
            || [
                "pyproject.toml",
                "setup.cfg",
                "tox.ini",
                "setup.py",
                "requirements-dev.txt",
                "requirements.txt",
                "noxfile.py",
            ]
            .iter()
            .any(|name| file.read(directory, name).is_some_and(|text| text.contains("pytest")))
    });
    let needs_pytest =
        file.text_contains("pytest") || file.tests.iter().any(|test| !test.qualified_name().contains('.'));
    match configured || needs_pytest || !file.text_contains("unittest") {
        true => ("pytest", String::new(), String::new()),
        false => ("unittest", String::new(), String::new()),
    }
}

impl File<'_> {
    /// The directories above the file, the nearest first, the root last.
    fn ancestors(&self) -> Vec<String> {
        let mut found = Vec::new();
        let mut current = folder(self.path);
        loop {
            found.push(current.to_string());
            if current.is_empty() {
                return found;
            }
            current = folder(current);
        }
    }

    /// The nearest directory above that has this file, and the file's text.
    fn nearest(&self, name: &str) -> Option<(String, String)> {
        self.nearest_where(name, |_| true)
    }

    fn nearest_where(&self, name: &str, fits: impl Fn(&str) -> bool) -> Option<(String, String)> {
        let mut above = self.ancestors().into_iter();
        above.find_map(|directory| {
            let text = self.read(&directory, name).filter(|text| fits(text))?;
            Some((directory, text))
        })
    }

    /// The nearest directory above with a project file of this ending.
    fn nearest_project(&self, ending: &str) -> Option<String> {
        let mut above = self.ancestors().into_iter();
        above.find(|directory| {
            let entries = std::fs::read_dir(self.root.join(directory))
                .into_iter()
                .flatten()
                .flatten();
            let mut names = entries.map(|entry| entry.file_name());
            names.any(|name| name.to_string_lossy().ends_with(ending))
        })
    }

    pub(super) fn exists(&self, directory: &str, name: &str) -> bool {
        self.root.join(directory).join(name).is_file()
    }

    fn read(&self, directory: &str, name: &str) -> Option<String> {
        match directory {
            "" => text_in(self.root, name),
            directory => text_in(self.root, &format!("{directory}/{name}")),
        }
    }

    fn text_contains(&self, word: &str) -> bool {
        self.read("", self.path).is_some_and(|text| text.contains(word))
    }
}

pub(super) fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

pub(super) fn stem(path: &str) -> &str {
    let name = path.rsplit('/').next().unwrap_or(path);
    name.split('.').next().unwrap_or(name)
}

fn joined(directory: &str, name: &str) -> String {
    match directory {
        "" => name.to_string(),
        directory => format!("{directory}/{name}"),
    }
}

pub(super) fn strip<'a>(directory: &str, path: &'a str) -> &'a str {
    match directory {
        "" => path,
        directory => path
            .strip_prefix(directory)
            .map_or(path, |rest| rest.trim_start_matches('/')),
    }
}
