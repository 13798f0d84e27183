//! What a runner collects, by its own rules: which functions are tests and not fixtures or helpers, and which files it looks into.

use index::model::EdgeKind;
use index::snapshot::SymbolView;
use syntax::facts::{Flags, Kind};

use crate::workspace::{Repository, text_in};

/// Functions in functions that are looked through for the test around them.
const MOST_AROUND: usize = 16;

/// The test that a symbol is, or that it is written in: a function inside a test runs with it.
pub(super) fn test_of<'r>(repository: &'r Repository, symbol: SymbolView<'r>) -> Option<SymbolView<'r>> {
    let around = std::iter::successors(Some(symbol), |inner| inner.parent()).take(MOST_AROUND);
    let functions = around.filter(|symbol| is_function(*symbol));
    functions
        .last()
        .filter(|outermost| is_collected(repository, *outermost))
}

fn is_function(symbol: SymbolView<'_>) -> bool {
    !symbol.is_file() && matches!(symbol.kind(), Kind::Function | Kind::Method)
}

/// Whether a runner runs a function of no other function by its name.
fn is_collected(repository: &Repository, symbol: SymbolView<'_>) -> bool {
    let is_marked = symbol.flags().contains(Flags::TEST);
    let name = symbol.name();
    match symbol.file().map_or("", |file| file.language()) {
        // These say it themselves, in an attribute, a parameter or a macro.
        "rust" | "csharp" | "elixir" | "zig" => is_marked,
        // A method of a suite runs through the function that starts the suite.
        "go" => is_marked && symbol.kind() == Kind::Function,
        "python" => {
            let in_class = symbol.parent().filter(|owner| !owner.is_file());
            let is_class_collected =
                in_class.is_none_or(|class| class.name().contains("Test") || is_derived(repository, class));
            (is_marked || name.starts_with("test"))
                && is_class_collected
                && is_collected_file(symbol.path())
                && !is_fixture(repository, symbol)
        }
        "ruby" => (is_marked || name.starts_with("test_")) && is_collected_file(symbol.path()),
        _ => is_marked || name.starts_with("test"),
    }
}

fn is_derived(repository: &Repository, class: SymbolView<'_>) -> bool {
    let mut bases = repository.snapshot.outgoing(class.id(), EdgeKind::Extends);
    bases.next().is_some()
}

/// Whether a decorator above a function makes it a fixture of pytest, whatever its name.
fn is_fixture(repository: &Repository, symbol: SymbolView<'_>) -> bool {
    let text = text_in(&repository.root, symbol.path()).unwrap_or_default();
    let above: Vec<&str> = text
        .lines()
        .take((symbol.name_at().line as usize).saturating_sub(1))
        .collect();
    let is_other = |line: &str| line.is_empty() || line.starts_with("def ") || line.starts_with("class ");
    let decorators = above.iter().rev().map(|line| line.trim_start()).take(MOST_AROUND);
    decorators
        .take_while(|line| !is_other(line))
        .any(|line| line.starts_with('@') && line.contains("fixture"))
}

/// Whether a runner looks into a file for tests: no helper, no configuration of fixtures.
pub(super) fn is_collected_file(path: &str) -> bool {
    let (folders, name) = path.rsplit_once('/').unwrap_or(("", path));
    let (stem, extension) = name.rsplit_once('.').unwrap_or((name, ""));
    match extension {
        // A file that is given by its path need not match the pattern of those that are looked for.
        "py" => stem.starts_with("test") || stem.ends_with("_test") || stem.ends_with("_tests"),
        "go" => stem.ends_with("_test"),
        "rb" => stem.starts_with("test_") || stem.ends_with("_test") || stem.ends_with("_spec"),
        "php" => stem.ends_with("Test") || path.contains("/Feature/") || path.contains("/Unit/"),
        "exs" => stem.ends_with("_test"),
        "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "mts" | "cts" => {
            let is_aside =
                |part: &str| matches!(part, "fixtures" | "__fixtures__" | "helpers" | "support" | "__mocks__");
            !folders.split('/').any(is_aside) && !matches!(stem, "helper" | "helpers" | "setup")
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use super::is_collected_file;

    #[test]
    fn helpers_are_no_files_with_tests() {
        for path in [
            "tests/test_a.py",
            "a_test.go",
            "test/a_test.rb",
            "spec/a_spec.rb",
            "tests/ATest.php",
            "test/router.js",
            "src/test/java/ATest.java",
        ] {
            assert!(is_collected_file(path), "{path}");
        }
        for path in [
            "tests/conftest.py",
            "tests/util.py",
            "test/helper.rb",
            "test/support/utils.js",
            "tests/Server.php",
            "test/test_helper.exs",
        ] {
            assert!(!is_collected_file(path), "{path}");
        }
    }
}
