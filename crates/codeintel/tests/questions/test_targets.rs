//! Test targets: what is found, and whether the commands really run, in the runners that this machine has.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use codeintel::test_targets::{Targets, TestTargets, test_targets};
use codeintel::{Derived, Repository, Workspace};
use index::build::{Indexer, Options, open_snapshot};

fn workspace(root: &Path, files: &[(&str, &str)]) -> Workspace {
    for (path, text) in files {
        let file = root.join(path);
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(file, text).unwrap();
    }
    Indexer::open(root, Options::default()).unwrap().build().unwrap();
    Workspace::new(vec![Repository {
        name: "tree".to_string(),
        root: root.to_path_buf(),
        snapshot: Arc::new(open_snapshot(root, None).unwrap()),
        incomplete: None,
        derived: Derived::default(),
    }])
}

fn targets(workspace: &Workspace, ids: &[&str]) -> TestTargets {
    let ask = Targets {
        ids: ids.iter().map(ToString::to_string).collect(),
        ..Targets::default()
    };
    test_targets(workspace, &ask).unwrap()
}

fn commands(answer: &TestTargets) -> Vec<&str> {
    answer.commands.iter().map(|command| command.command.as_str()).collect()
}

/// Whether a program can be started here at all.
fn is_there(program: &str, argument: &str) -> bool {
    Command::new(program)
        .arg(argument)
        .output()
        .is_ok_and(|output| output.status.success())
}

/// Runs a command as a user would and gives what it printed; it must succeed.
fn run(root: &Path, command: &str) -> String {
    let output = Command::new("sh")
        .args(["-c", command])
        .current_dir(root)
        .output()
        .unwrap();
    let said = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{command}\n{said}");
    said
}

#[test]
fn pytest_runs_only_what_reaches_the_change() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("shop/__init__.py", ""),
        (
            "shop/price.py",
            "def price(n):\n    return n * 2\n\ndef other(n):\n    return n\n",
        ),
        (
            "tests/test it's.py",
            "from shop.price import price, other\n\ndef test_price():\n    assert price(2) == 4\n\ndef test_other():\n    assert other(1) == 2\n",
        ),
        ("conftest.py", ""),
    ];
    let workspace = workspace(folder.path(), &files);
    let answer = targets(&workspace, &["price"]);
    assert_eq!(answer.targets.len(), 1);
    assert_eq!(
        (answer.targets[0].tests.as_slice(), answer.targets[0].distance),
        (&["test_price".to_string()][..], 1)
    );
    assert_eq!(answer.resolved["price"], "shop/price.py::price");
    assert_eq!(
        commands(&answer),
        [r"python -m pytest 'tests/test it'\''s.py::test_price'"]
    );
    // The other test fails, so success shows that only the right one ran.
    if is_there("python", "--version")
        && Command::new("python")
            .args(["-m", "pytest", "--version"])
            .output()
            .is_ok_and(|output| output.status.success())
    {
        let said = run(folder.path(), commands(&answer)[0]);
        assert!(said.contains("1 passed"), "{said}");
    }
}

#[test]
fn unittest_where_nothing_speaks_of_pytest() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("price.py", "def price(n):\n    return n * 2\n"),
        (
            "test_price.py",
            "import unittest\nfrom price import price\n\nclass PriceTest(unittest.TestCase):\n    def test_price(self):\n        self.assertEqual(price(2), 4)\n",
        ),
    ];
    let workspace = workspace(folder.path(), &files);
    let answer = targets(&workspace, &["price.py"]);
    assert_eq!(
        commands(&answer),
        ["python -m unittest test_price.PriceTest.test_price"]
    );
    if is_there("python", "--version") {
        let said = run(folder.path(), commands(&answer)[0]);
        assert!(said.contains("Ran 1 test"), "{said}");
    }
}

#[test]
fn go_runs_the_tests_of_a_package() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("svc/go.mod", "module example.com/svc\n\ngo 1.21\n"),
        (
            "svc/price/price.go",
            "package price\n\nfunc Price(n int) int { return n * 2 }\n",
        ),
        (
            "svc/price/price_test.go",
            "package price\n\nimport \"testing\"\n\nfunc TestPrice(t *testing.T) {\n\tif Price(2) != 4 {\n\t\tt.Fatal()\n\t}\n}\n\nfunc TestOther(t *testing.T) { t.Fatal() }\n",
        ),
    ];
    let workspace = workspace(folder.path(), &files);
    let answer = targets(&workspace, &["Price"]);
    assert_eq!(commands(&answer), ["cd svc && go test ./price -run '^(TestPrice)$'"]);
    if is_there("go", "version") {
        let said = run(folder.path(), commands(&answer)[0]);
        assert!(said.contains("ok"), "{said}");
    }
}

#[test]
fn cargo_runs_unit_and_integration_tests_by_their_paths() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        (
            "Cargo.toml",
            "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        ("src/lib.rs", "pub mod price;\n"),
        (
            "src/price.rs",
            "pub fn price(n: u32) -> u32 {\n    n * 2\n}\n\n#[cfg(test)]\nmod tests {\n    use super::price;\n\n    #[test]\n    fn doubles() {\n        assert_eq!(price(2), 4);\n    }\n\n    #[test]\n    fn fails() {\n        panic!();\n    }\n}\n",
        ),
        (
            "tests/whole.rs",
            "use shop::price::price;\n\n#[test]\nfn whole() {\n    assert_eq!(price(1), 2);\n}\n",
        ),
    ];
    let workspace = workspace(folder.path(), &files);
    let answer = targets(&workspace, &["src/price.rs::price"]);
    assert_eq!(
        commands(&answer),
        [
            "cargo test -p shop --lib --bins -- --exact price::tests::doubles",
            "cargo test -p shop --test whole -- --exact whole",
        ]
    );
    for command in commands(&answer) {
        let said = run(
            folder.path(),
            &format!("CARGO_TARGET_DIR=target {command} --quiet --offline")
                .replace(" -- --exact", " --offline -- --exact")
                .replace(" --quiet --offline", ""),
        );
        assert!(said.contains("1 passed"), "{said}");
    }
}

#[test]
fn what_no_test_reaches_is_said() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("a.py", "def lonely():\n    pass\n\ndef known():\n    pass\n"),
        ("test_a.py", "import a\n\ndef test_known():\n    a.known()\n"),
    ];
    let workspace = workspace(folder.path(), &files);
    let lonely = targets(&workspace, &["lonely", "known"]);
    assert_eq!(lonely.total, 1);
    // A file that imports what changed is better than nothing, and says that it is all there is.
    let alone = targets(&workspace, &["lonely"]);
    assert_eq!(
        (alone.targets[0].file.as_str(), alone.targets[0].distance),
        ("test_a.py", 0)
    );
    assert!(alone.targets[0].tests.is_empty());
}

#[test]
fn other_runners_by_their_manifests() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        (
            "web/package.json",
            r#"{"name": "web", "devDependencies": {"vitest": "^1"}}"#,
        ),
        (
            "web/src/sum.ts",
            "export function sum(a: number, b: number) { return a + b }\n",
        ),
        (
            "web/src/sum.test.ts",
            "import { sum } from './sum'\nit('adds', () => { sum(1, 2) })\n",
        ),
        ("php/composer.json", r#"{"require-dev": {"phpunit/phpunit": "^10"}}"#),
        (
            "php/src/Price.php",
            "<?php\nnamespace App;\nclass Price { public static function of(int $n): int { return $n; } }\n",
        ),
        (
            "php/tests/PriceTest.php",
            "<?php\nuse App\\Price;\nuse PHPUnit\\Framework\\TestCase;\nclass PriceTest extends TestCase { public function testOf() { Price::of(1); } }\n",
        ),
        ("java/pom.xml", "<project/>"),
        (
            "java/src/main/java/app/Price.java",
            "package app;\npublic class Price { public static int of(int n) { return n; } }\n",
        ),
        (
            "java/src/test/java/app/PriceTest.java",
            "package app;\nimport org.junit.jupiter.api.Test;\nclass PriceTest { @Test void of() { Price.of(1); } @Test void testMore() { Price.of(2); } }\n",
        ),
    ];
    let workspace = workspace(folder.path(), &files);
    let said = |id: &str| commands(&targets(&workspace, &[id])).join("\n");
    assert_eq!(said("sum"), "cd web && npx vitest run src/sum.test.ts");
    assert_eq!(
        said("php/src/Price.php"),
        "cd php && vendor/bin/phpunit --filter '/::(testOf)( .*)?$/' tests/PriceTest.php"
    );
    assert!(
        said("java/src/main/java/app/Price.java").starts_with("mvn -q test -pl java -am"),
        "{}",
        said("java/src/main/java/app/Price.java")
    );
}

#[test]
fn fixtures_helpers_and_nested_functions_are_no_tests() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("shop.py", "def price(n):\n    return n * 2\n"),
        ("conftest.py", ""),
        (
            "tests/test_shop.py",
            "import pytest\nfrom shop import price\n\n@pytest.fixture\ndef test_goods():\n    return price(1)\n\n\
             class Helper:\n    def test_like(self):\n        return price(3)\n\n\
             class TestShop:\n    def test_far(self):\n        return through()\n\n    \
             def test_near(self):\n        def run():\n            return price(2)\n        assert run() == 4\n\n\
             def through():\n    return price(5)\n",
        ),
        (
            "tests/helpers.py",
            "from shop import price\n\ndef test_goods_of(n):\n    return price(n)\n",
        ),
    ];
    let workspace = workspace(folder.path(), &files);
    let answer = targets(&workspace, &["price"]);
    let named: Vec<(&str, Vec<&str>)> = answer
        .targets
        .iter()
        .map(|target| (target.file.as_str(), target.tests.iter().map(String::as_str).collect()))
        .collect();
    // The nearest first, though it stands behind.
    assert_eq!(
        named,
        [("tests/test_shop.py", vec!["TestShop.test_near", "TestShop.test_far"])]
    );
}

#[test]
fn tests_that_name_what_no_call_leads_to() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("Gemfile", ""),
        ("lib/cart.rb", "class Cart\n  def checkout_total\n    1\n  end\nend\n"),
        ("test/helper.rb", "require 'cart'\n"),
        (
            "test/cart_test.rb",
            "require 'helper'\nclass CartTest < Minitest::Test\n  def test_total\n    \
             app { Cart }.send(:checkout_total)\n  end\n\n  def test_other\n  end\nend\n",
        ),
    ];
    let workspace = workspace(folder.path(), &files);
    let answer = targets(&workspace, &["Cart.checkout_total"]);
    assert_eq!(answer.targets.len(), 1, "{answer:?}");
    assert_eq!(answer.targets[0].file, "test/cart_test.rb");
    assert_eq!(answer.targets[0].tests, ["CartTest.test_total"]);
    assert!(answer.uncovered.is_empty());
}
