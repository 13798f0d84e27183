//! `lacon bench accuracy` with a real language server.

use std::process::Command;

use serde_json::Value;
use testkit::tools::path_with_tools;

#[test]
fn random_calls_are_compared_with_what_the_server_says() {
    let directory = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).unwrap();
    file(
        "prices.py",
        "class Price:\n    def total(self): ...\n\ndef net(): ...\n",
    );
    // The dot before `net` is past a character of two units and four bytes.
    file(
        "shop.py",
        "import prices\nfrom prices import Price\n\nprint('𝄞', prices.net())\nPrice().total()\nmissing()\n",
    );
    let answers = directory.path().join("answers.jsonl");
    let run = |server: &str| -> Value {
        let command = Command::new(env!("CARGO_BIN_EXE_lacon"))
            .args(["bench", "accuracy"])
            .arg(directory.path())
            .args(["--language", "python", "--calls", "100", "--settle", "2", "--misses"])
            .args(["--json", "--server", server, "--answers"])
            .arg(&answers)
            .env("PATH", path_with_tools())
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&command.stderr).into_owned();
        serde_json::from_slice(&command.stdout).unwrap_or_else(|_| panic!("{said}"))
    };
    let report = run("basedpyright-langserver --stdio");
    assert_eq!(report["calls"], 5, "{report:#}");
    assert_eq!(report["inside"], 3, "{report:#}");
    assert_eq!(report["agreed"], 3, "{report:#}");
    // `print` is outside, and nobody knows `missing`.
    assert_eq!(report["outside"], 1, "{report:#}");
    assert_eq!(report["unknown"], 1, "{report:#}");
    // What was said is kept.
    assert_eq!(run("no-such-server"), report);
}
