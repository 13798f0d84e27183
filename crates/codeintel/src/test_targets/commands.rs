//! What each runner is told: one row of a table says how it starts and how it is told what to run.
//!
//! Most take paths, some with a test or a line behind them; the others have a function of their own below the table. Tests are named
//! where there are not too many of them, else their files or packages are.

use std::collections::BTreeSet;

use index::snapshot::SymbolView;

use super::quoting::{path, word};
use super::runner::{File, folder, stem, strip};

/// Above this many tests a command names their files or packages instead.
const MAX_NAMED: usize = 40;

/// How one runner is used.
struct Runner {
    name: &'static str,
    /// The program with what it is always told.
    start: &'static str,
    told: Told,
}

/// How a runner is told what to run.
enum Told {
    /// Paths.
    Paths,
    /// Paths, with the test behind this.
    TestsBehind(&'static str),
    /// Paths, with the line of the test.
    Lines,
    /// In words of its own, behind the start.
    Own(fn(&Job<'_>) -> String),
}

const fn runner(name: &'static str, start: &'static str, told: Told) -> Runner {
    Runner { name, start, told }
}

const RUNNERS: &[Runner] = &[
    runner("cargo", "cargo test", Told::Own(cargo)),
    runner("go", "go test", Told::Own(go)),
    runner("pytest", "python -m pytest", Told::TestsBehind("::")),
    runner("unittest", "python -m unittest", Told::Own(unittest)),
    runner("django", "python", Told::Own(django)),
    runner("vitest", "npx vitest run", Told::Paths),
    runner("jest", "npx jest --runTestsByPath", Told::Paths),
    runner("mocha", "npx mocha", Told::Paths),
    runner("ava", "npx ava", Told::Paths),
    runner("tap", "npx tap", Told::Paths),
    runner("node", "node --test", Told::Paths),
    runner("npm", "npm test --", Told::Paths),
    runner("pest", "vendor/bin/pest", Told::Paths),
    runner("phpunit", "vendor/bin/phpunit", Told::Own(phpunit)),
    runner("maven", "mvn -q test", Told::Own(maven)),
    runner("gradle", "", Told::Own(gradle)),
    runner("rspec", "bundle exec rspec", Told::Lines),
    runner("rails", "bin/rails test", Told::Lines),
    runner("minitest", "", Told::Own(minitest)),
    runner("dotnet", "dotnet test", Told::Own(dotnet)),
];

/// The command that runs these files with a runner, in `directory`; `unit` is the runner's own grouping.
pub(super) fn command(runner: &str, directory: &str, unit: &str, files: &[File<'_>]) -> String {
    let Some(runner) = RUNNERS.iter().find(|known| known.name == runner) else {
        return String::new();
    };
    let named: usize = files.iter().map(|file| file.tests.len()).sum();
    let job = Job {
        directory,
        unit,
        files,
        by_name: named <= MAX_NAMED && files.iter().all(|file| !file.tests.is_empty()),
    };
    let told = match runner.told {
        Told::Paths => job.all(|file| vec![path(job.relative(file))]),
        Told::TestsBehind(mark) => job.each(|file, test| {
            let names = test.qualified_name().replace('.', mark);
            path(&format!("{}{mark}{names}", job.relative(file)))
        }),
        Told::Lines => job.each(|file, test| path(&format!("{}:{}", job.relative(file), test.span().start_line))),
        Told::Own(told) => told(&job),
    };
    format!("{} {told}", runner.start).trim().to_string()
}

/// What one command is to run.
struct Job<'a> {
    directory: &'a str,
    unit: &'a str,
    files: &'a [File<'a>],
    /// Whether tests are named; else files or packages are.
    by_name: bool,
}

impl<'a> Job<'a> {
    fn relative(&self, file: &File<'a>) -> &'a str {
        strip(self.directory, file.path)
    }

    /// What is said of each file, side by side.
    fn all(&self, say: impl Fn(&File<'a>) -> Vec<String>) -> String {
        self.files.iter().flat_map(say).collect::<Vec<_>>().join(" ")
    }

    /// What is said of each test, or the paths of the files.
    fn each(&self, say: impl Fn(&File<'a>, &SymbolView<'a>) -> String) -> String {
        self.all(|file| match self.by_name {
            true => file.tests.iter().map(|test| say(file, test)).collect(),
            false => vec![path(self.relative(file))],
        })
    }

    /// The names of all tests as alternatives of a regular expression.
    fn alternatives(&self) -> String {
        let tests: BTreeSet<&str> = self
            .files
            .iter()
            .flat_map(|file| &file.tests)
            .map(SymbolView::name)
            .collect();
        tests.into_iter().collect::<Vec<_>>().join("|")
    }
}

fn cargo(job: &Job<'_>) -> String {
    let mut parts = job.unit.splitn(3, '\n').chain(std::iter::repeat(""));
    let mut next = || parts.next().unwrap_or_default();
    let (package, directory, target) = (next(), next(), next());
    let mut told = format!("-p {} {target}", word(package));
    if job.by_name {
        let tests = job.all(|file| {
            let module = rust_module(directory, file.path);
            let names = file.tests.iter().map(|test| test.qualified_name().replace('.', "::"));
            names
                .map(|name| match module.as_str() {
                    "" => word(&name),
                    module => word(&format!("{module}::{name}")),
                })
                .collect()
        });
        told.push_str(&format!(" -- --exact {tests}"));
    }
    told
}

fn go(job: &Job<'_>) -> String {
    let package = match job.unit {
        "" => ".".to_string(),
        unit => path(&format!("./{unit}")),
    };
    match job.by_name {
        // Methods of suites run through the function that starts the suite, which is not known here.
        true => format!("{package} -run {}", word(&format!("^({})$", job.alternatives()))),
        false => package,
    }
}

fn unittest(job: &Job<'_>) -> String {
    labels(job, "")
}

fn django(job: &Job<'_>) -> String {
    let script = job.unit;
    let base = match script.ends_with("runtests.py") {
        true => folder(script),
        false => "",
    };
    let verb = match script.ends_with("manage.py") {
        true => " test",
        false => "",
    };
    format!("{script}{verb} {}", labels(job, base))
}

/// Modules with dots, and tests in them; modules begin at `base`.
fn labels(job: &Job<'_>, base: &str) -> String {
    job.all(|file| {
        let module = strip(base, job.relative(file))
            .trim_end_matches(".py")
            .trim_end_matches("/__init__")
            .replace('/', ".");
        match job.by_name {
            true => file
                .tests
                .iter()
                .map(|test| word(&format!("{module}.{}", test.qualified_name())))
                .collect(),
            false => vec![word(&module)],
        }
    })
}

fn phpunit(job: &Job<'_>) -> String {
    // PHPUnit takes one path; the names say the rest.
    let target = match job.files {
        [file] => format!(" {}", path(job.relative(file))),
        _ => String::new(),
    };
    match job.by_name {
        true => {
            let filter = format!("/::({})( .*)?$/", job.alternatives());
            format!("--filter {}{target}", word(&filter))
        }
        false => target.trim_start().to_string(),
    }
}

fn maven(job: &Job<'_>) -> String {
    let module = match job.unit {
        "" => String::new(),
        unit => format!("-pl {} -am -Dsurefire.failIfNoSpecifiedTests=false ", path(unit)),
    };
    format!(
        "{module}-Dtest={}",
        word(&classes(job.files, job.by_name, "#", "+", ","))
    )
}

fn gradle(job: &Job<'_>) -> String {
    let task = match job.unit {
        "" => "test".to_string(),
        module => format!(":{}:test", module.replace('/', ":")),
    };
    let program = match job.files.first().is_some_and(|file| file.exists("", "gradlew")) {
        true => "./gradlew",
        false => "gradle",
    };
    let filters = classes(job.files, job.by_name, ".", "\n", "\n");
    let filters: Vec<String> = filters
        .lines()
        .map(|filter| format!("--tests {}", word(filter)))
        .collect();
    format!("{program} {} {}", word(&task), filters.join(" "))
}

fn minitest(job: &Job<'_>) -> String {
    let each = job
        .files
        .iter()
        .map(|file| format!("ruby -Ilib -Itest {}", path(job.relative(file))));
    each.collect::<Vec<_>>().join(" && ")
}

fn dotnet(job: &Job<'_>) -> String {
    let names = job.files.iter().flat_map(|file| match job.by_name {
        true => file.tests.iter().map(SymbolView::qualified_name).collect(),
        false => vec![stem(file.path).to_string()],
    });
    let filters: Vec<String> = names.map(|name| format!("FullyQualifiedName~{name}")).collect();
    format!("{} --filter {}", path(job.unit), word(&filters.join("|")))
}

/// Test classes with their methods, as Maven and Gradle name them.
fn classes(files: &[File<'_>], by_name: bool, inside: &str, between: &str, apart: &str) -> String {
    let each = files.iter().map(|file| {
        let class = stem(file.path);
        let methods: Vec<&str> = file.tests.iter().map(SymbolView::name).collect();
        match (by_name && !methods.is_empty(), inside) {
            (true, "#") => format!("{class}#{}", methods.join(between)),
            (true, _) => methods
                .iter()
                .map(|method| format!("*{class}.{method}"))
                .collect::<Vec<_>>()
                .join(between),
            (false, "#") => class.to_string(),
            (false, _) => format!("*{class}"),
        }
    });
    each.collect::<Vec<_>>().join(apart)
}

/// The path of the module that a Rust file is, inside its target.
fn rust_module(directory: &str, file: &str) -> String {
    let inner = strip(directory, file);
    let inner = match inner.strip_prefix("tests/") {
        // `tests/a.rs` is a target of its own; `tests/a/b.rs` is a module of one.
        Some(rest) => rest.split_once('/').map_or("", |(_, rest)| rest),
        None => inner
            .strip_prefix("src/bin/")
            .map_or_else(|| inner.strip_prefix("src/").unwrap_or(inner), |_| ""),
    };
    let inner = inner.trim_end_matches(".rs");
    let inner = inner.strip_suffix("/mod").unwrap_or(inner);
    match inner {
        "lib" | "main" | "mod" => String::new(),
        inner => inner.replace('/', "::"),
    }
}
