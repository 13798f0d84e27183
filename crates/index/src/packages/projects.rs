//! Projects of a tree and which of them each other's code sees: Composer packages, Maven and Gradle modules, .NET projects and
//! solutions.
//!
//! Languages whose namespaces say nothing of directories find a type by its qualified name wherever it lies. Where several
//! projects define the same one, the file's own project comes first, then those that it depends on, then those that are built
//! with it. That is all that these
//! manifests decide here, so reading them is a matter of a few tags and keys; nothing is run.

use crate::resolve::modules::join;
use crate::tree::Manifest;

/// Most projects told apart; more are no better than none.
const MAX_PROJECTS: usize = 4096;

/// One project.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub struct Project {
    /// The directory of its manifest.
    pub directory: String,
    /// What other projects may call it.
    pub name: String,
    /// Names, or directories as `/path`, of what it depends on.
    pub references: Vec<String>,
    /// Directories whose files the language loads by itself; empty when all are.
    pub sources: Vec<String>,
}

/// The project that the manifest describes, if it describes one.
pub(super) fn read(manifest: &Manifest, manifests: &[Manifest]) -> Option<Project> {
    let (directory, name) = manifest.path.rsplit_once('/').unwrap_or(("", &manifest.path));
    match name {
        "composer.json" => composer(directory, &manifest.text),
        "pom.xml" => Some(maven(directory, &manifest.text)),
        "build.gradle" | "build.gradle.kts" => Some(gradle(directory, &manifest.text, manifests)),
        name if name.ends_with("proj") => Some(dotnet(directory, &manifest.text)),
        _ => None,
    }
}

fn composer(directory: &str, text: &str) -> Option<Project> {
    let manifest: serde_json::Value = serde_json::from_str(text).ok()?;
    let keys = |section: &str| {
        let section = manifest.get(section).and_then(serde_json::Value::as_object);
        let names = section.map(|section| section.keys().cloned().collect::<Vec<_>>());
        names.unwrap_or_default()
    };
    let mut references = keys("require");
    references.extend(keys("require-dev"));
    let mut sources = Vec::new();
    for section in ["autoload", "autoload-dev"] {
        for loader in ["psr-4", "psr-0", "classmap", "files"] {
            let Some(places) = manifest.get(section).and_then(|section| section.get(loader)) else {
                continue;
            };
            collect_texts(places, 4, &mut |place| sources.extend(join(directory, place)));
        }
    }
    sources.sort();
    sources.dedup();
    Some(Project {
        directory: directory.to_string(),
        name: manifest.get("name")?.as_str()?.to_string(),
        references,
        sources,
    })
}

/// Calls `each` with every text in a value of lists and objects.
fn collect_texts(value: &serde_json::Value, depth: u8, each: &mut impl FnMut(&str)) {
    let Some(depth) = depth.checked_sub(1) else { return };
    match value {
        serde_json::Value::String(text) => each(text),
        serde_json::Value::Array(values) => values.iter().for_each(|value| collect_texts(value, depth, each)),
        serde_json::Value::Object(values) => values.values().for_each(|value| collect_texts(value, depth, each)),
        _ => {}
    }
}

fn maven(directory: &str, text: &str) -> Project {
    let mut project = Project {
        directory: directory.to_string(),
        ..Project::default()
    };
    each_element(text, |path, content| match path {
        ["project", "artifactId"] => project.name = content.to_string(),
        ["project", "dependencies", "dependency", "artifactId"]
        | [
            "project",
            "profiles",
            "profile",
            "dependencies",
            "dependency",
            "artifactId",
        ] => {
            project.references.push(content.to_string());
        }
        _ => {}
    });
    project
}

/// Calls `each` with the path and the text of every element that holds nothing but text. A damaged file says less.
fn each_element(text: &str, mut each: impl FnMut(&[&str], &str)) {
    let mut path: Vec<&str> = Vec::new();
    let mut rest = text;
    let mut opened_last = false;
    while let Some(start) = rest.find('<') {
        let before = &rest[..start];
        rest = &rest[start..];
        if let Some(comment) = rest.strip_prefix("<!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let Some(end) = rest.find('>') else { return };
        let tag = &rest[1..end];
        rest = &rest[end + 1..];
        if tag.starts_with(['?', '!']) {
            continue;
        }
        if tag.starts_with('/') {
            if opened_last {
                each(&path, before.trim());
            }
            path.pop();
            opened_last = false;
        } else if !tag.ends_with('/') {
            path.push(tag.split_whitespace().next().unwrap_or(""));
            opened_last = true;
            if path.len() > 64 {
                return;
            }
        }
    }
}

/// `project(':a:b')` is the directory `a/b` below the settings.
fn gradle(directory: &str, text: &str, manifests: &[Manifest]) -> Project {
    let settings = manifests
        .iter()
        .filter_map(|manifest| {
            let (root, name) = manifest.path.rsplit_once('/').unwrap_or(("", &manifest.path));
            let above = root.is_empty() || directory == root || directory.starts_with(&format!("{root}/"));
            (name.starts_with("settings.gradle") && above).then_some(root)
        })
        .max_by_key(|root| root.len());
    let root = settings.unwrap_or(directory);
    let mut references = Vec::new();
    for part in text.split("project(").skip(1) {
        let quoted = part
            .trim_start_matches("path:")
            .trim_start()
            .trim_start_matches("path =")
            .trim_start();
        let Some(quote) = quoted.chars().next().filter(|quote| matches!(quote, '\'' | '"')) else {
            continue;
        };
        if let Some(path) = quoted[1..].split(quote).next()
            && let Some(place) = join(root, &path.trim_matches(':').replace(':', "/"))
        {
            references.push(format!("/{place}"));
        }
    }
    named_by_place(directory, references)
}

fn dotnet(directory: &str, text: &str) -> Project {
    let mut references = Vec::new();
    for part in text.split("<ProjectReference").skip(1) {
        let element = part.split('>').next().unwrap_or("");
        let Some(include) = element.split("Include=").nth(1) else {
            continue;
        };
        let path = include.trim_matches(|at: char| at == '/' || at.is_whitespace());
        let path = path.trim_matches(['"', '\'']).replace('\\', "/");
        let folder = path.rsplit_once('/').map_or("", |(folder, _)| folder);
        references.extend(join(directory, folder).map(|place| format!("/{place}")));
    }
    named_by_place(directory, references)
}

/// A project that is called what its directory is called.
fn named_by_place(directory: &str, references: Vec<String>) -> Project {
    Project {
        directory: directory.to_string(),
        name: directory.rsplit('/').next().unwrap_or(directory).to_string(),
        references,
        sources: Vec::new(),
    }
}

/// The directories of the projects that a solution builds together:
/// `Project("{kind}") = "Name", "path\\Name.csproj", "{id}"`.
pub(super) fn solution(manifest: &Manifest) -> Option<Vec<String>> {
    let (directory, name) = manifest.path.rsplit_once('/').unwrap_or(("", &manifest.path));
    if !name.ends_with(".sln") {
        return None;
    }
    let projects = manifest.text.lines().filter_map(|line| {
        let quoted = line.trim().strip_prefix("Project(")?;
        let path = quoted.split('"').nth(5).filter(|path| path.ends_with("proj"))?;
        let path = path.replace('\\', "/");
        join(directory, path.rsplit_once('/').map_or("", |(folder, _)| folder))
    });
    Some(projects.take(MAX_PROJECTS).collect())
}

/// All projects of a tree.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Projects {
    /// Sorted by directory.
    all: Vec<Project>,
    /// By project: those that it depends on, however indirectly, sorted.
    reached: Vec<Vec<u32>>,
    /// By project: the solutions that build it, sorted.
    solutions: Vec<Vec<u32>>,
}

impl Projects {
    pub(super) fn new(mut all: Vec<Project>, solutions: &[Vec<String>]) -> Projects {
        all.sort();
        all.dedup_by(|later, first| later.directory == first.directory);
        if all.len() < 2 || all.len() > MAX_PROJECTS {
            return Projects::default();
        }
        let find = |reference: &String| {
            let is_meant = |project: &Project| match reference.strip_prefix('/') {
                Some(directory) => project.directory == directory,
                None => project.name == *reference,
            };
            all.iter().position(is_meant).map(|at| at as u32)
        };
        let direct: Vec<Vec<u32>> = all
            .iter()
            .map(|project| project.references.iter().filter_map(find).collect())
            .collect();
        let reached = (0..all.len() as u32).map(|project| closure(&direct, project)).collect();
        let builds = |solution: &&Vec<String>, project: &Project| solution.contains(&project.directory);
        let solutions = all.iter().map(|project| {
            let building = (0..).zip(solutions).filter(|(_, solution)| builds(solution, project));
            building.map(|(number, _)| number).collect()
        });
        Projects {
            solutions: solutions.collect(),
            all,
            reached,
        }
    }

    /// Whether there is nothing to choose between.
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The project of the file at `path`, and whether the language loads it by itself.
    pub fn of(&self, path: &str) -> (u32, bool) {
        let mut directory = path;
        loop {
            directory = directory.rsplit_once('/').map_or("", |(outer, _)| outer);
            if let Ok(at) = self
                .all
                .binary_search_by(|project| project.directory.as_str().cmp(directory))
            {
                let sources = &self.all[at].sources;
                let holds = |source: &String| {
                    let rest = path.strip_prefix(source.as_str());
                    rest.is_some_and(|rest| rest.is_empty() || source.is_empty() || rest.starts_with('/'))
                };
                return (at as u32, sources.is_empty() || sources.iter().any(holds));
            }
            if directory.is_empty() {
                return (NONE, true);
            }
        }
    }

    /// How far from `from` code of `to` is: its own project, one that it depends on, one that is built with it, any other.
    pub fn distance(&self, from: u32, to: u32) -> u8 {
        if from == to {
            return 0;
        }
        let reached = self.reached.get(from as usize);
        if reached.is_some_and(|reached| reached.binary_search(&to).is_ok()) {
            return 1;
        }
        let of = |project: u32| self.solutions.get(project as usize).map_or(&[][..], Vec::as_slice);
        let together = of(from).iter().any(|solution| of(to).binary_search(solution).is_ok());
        3 - u8::from(together)
    }
}

/// No project.
pub const NONE: u32 = u32::MAX;

fn closure(direct: &[Vec<u32>], start: u32) -> Vec<u32> {
    let mut reached = vec![start];
    let mut next = 0;
    while let Some(&project) = reached.get(next) {
        next += 1;
        for &other in &direct[project as usize] {
            if !reached.contains(&other) {
                reached.push(other);
            }
        }
    }
    reached.sort_unstable();
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn manifest(path: &str, text: &str) -> Manifest {
        Manifest {
            path: path.into(),
            text: text.into(),
        }
    }

    fn projects(manifests: &[Manifest]) -> Projects {
        let solutions: Vec<Vec<String>> = manifests.iter().filter_map(solution).collect();
        Projects::new(
            manifests.iter().filter_map(|one| read(one, manifests)).collect(),
            &solutions,
        )
    }

    /// The distance between two files.
    fn between(projects: &Projects, from: &str, to: &str) -> u8 {
        projects.distance(projects.of(from).0, projects.of(to).0)
    }

    #[test]
    fn maven_modules_see_what_they_depend_on() {
        let pom = |name: &str, on: &str| {
            format!(
                "<?xml version=\"1.0\"?><project><!-- <artifactId>no</artifactId> --><parent><artifactId>top</artifactId></parent>\
                 <artifactId>{name}</artifactId><build><plugins><plugin><artifactId>p</artifactId></plugin></plugins></build>\
                 <dependencies><dependency><groupId>g</groupId><artifactId>{on}</artifactId></dependency></dependencies></project>"
            )
        };
        let projects = projects(&[
            manifest("pom.xml", &pom("top", "junit")),
            manifest("core/pom.xml", &pom("the-core", "junit")),
            manifest("web/pom.xml", &pom("web", "service")),
            manifest("service/pom.xml", &pom("service", "the-core")),
        ]);
        assert_eq!(
            between(&projects, "web/src/main/java/A.java", "web/src/test/java/B.java"),
            0
        );
        assert_eq!(between(&projects, "web/A.java", "core/B.java"), 1);
        assert_eq!(between(&projects, "core/A.java", "web/B.java"), 3);
    }

    #[test]
    fn gradle_projects_are_named_by_their_place() {
        let projects = projects(&[
            manifest("app/settings.gradle", "include ':lib:core', ':ui'"),
            manifest(
                "app/ui/build.gradle.kts",
                "dependencies { implementation(project(\":lib:core\")) }",
            ),
            manifest("app/lib/core/build.gradle", "apply plugin: 'java'"),
            manifest("app/other/build.gradle", "dependencies { api project(path: ':ui') }"),
        ]);
        assert_eq!(between(&projects, "app/ui/A.java", "app/lib/core/B.java"), 1);
        assert_eq!(between(&projects, "app/other/A.java", "app/lib/core/B.java"), 1);
        assert_eq!(between(&projects, "app/lib/core/A.java", "app/ui/B.java"), 3);
    }

    #[test]
    fn dotnet_projects_reference_files() {
        let projects = projects(&[
            manifest(
                "src/Web/Web.csproj",
                "<Project Sdk=\"x\"><ItemGroup><ProjectReference Include=\"..\\Core\\Core.csproj\" /></ItemGroup></Project>",
            ),
            manifest("src/Core/Core.csproj", "<Project Sdk=\"x\"></Project>"),
        ]);
        assert_eq!(between(&projects, "src/Web/A.cs", "src/Core/B.cs"), 1);
        assert_eq!(between(&projects, "src/Core/A.cs", "src/Web/B.cs"), 3);
    }

    #[test]
    fn projects_of_one_solution_are_nearer_than_others() {
        let plain = "<Project Sdk=\"x\"></Project>";
        let line = |path: &str| format!("Project(\"{{FAE0}}\") = \"Name\", \"{path}\", \"{{12}}\"\r\nEndProject\r\n");
        let text = format!(
            "Microsoft Visual Studio Solution File\r\n{}{}{}",
            line("Web\\Web.csproj"),
            line("Core\\Core.csproj"),
            line("docs")
        );
        let projects = projects(&[
            manifest("new/All.sln", &text),
            manifest("new/Web/Web.csproj", plain),
            manifest("new/Core/Core.csproj", plain),
            manifest("old/Core/Core.csproj", plain),
        ]);
        assert_eq!(between(&projects, "new/Web/A.cs", "new/Core/B.cs"), 2);
        assert_eq!(between(&projects, "new/Web/A.cs", "old/Core/B.cs"), 3);
    }

    #[test]
    fn composer_packages_name_what_they_load() {
        let projects = projects(&[
            manifest(
                "composer.json",
                r#"{"name": "a/app", "require": {"a/lib": "*"}, "autoload": {"psr-4": {"App\\": "src/"}, "files": ["helpers.php"]}}"#,
            ),
            manifest(
                "packages/lib/composer.json",
                r#"{"name": "a/lib", "autoload": {"classmap": ["lib"]}}"#,
            ),
        ]);
        assert_eq!(between(&projects, "src/A.php", "packages/lib/lib/B.php"), 1);
        assert!(projects.of("src/A.php").1 && projects.of("helpers.php").1);
        assert!(!projects.of("tests/stubs/A.php").1);
        assert!(!projects.of("packages/lib/fixtures/B.php").1);
    }

    #[test]
    fn damaged_manifests_say_nothing() {
        for text in [
            "",
            "<",
            "<a",
            "<project><artifactId>",
            "{",
            "project(",
            "<ProjectReference Include=",
        ] {
            for path in ["pom.xml", "composer.json", "x/build.gradle", "x/X.csproj"] {
                read(&manifest(path, text), &[]);
            }
            solution(&manifest("x/X.sln", &format!("Project({text}")));
        }
    }
}
