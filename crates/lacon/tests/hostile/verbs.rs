//! Every verb of the command line, as somebody calls it who stands in a hostile repository.

use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::stage::Stage;

/// Verbs with arguments; words in capitals are filled in. `index` comes first, since the others answer from what it makes.
const VERBS: &[&[&str]] = &[
    &["index"],
    &["read", "greet"],
    &[
        "read",
        "lib.py",
        "lib.ts:1-3",
        "../bait/secret.txt",
        "secret.py",
        "keys.ts",
    ],
    &["find", "greet a name"],
    &["find", "../bait/secret.txt:1"],
    &["uses", "greet"],
    &["trace", "greet"],
    &["trace", "hello", "greet"],
    &["uses", "hello"],
    &["change", "greet"],
    &["change", "hello"],
    &["change"],
    &["tests", "hello"],
    &["status"],
    &["export"],
    &["callers", "greet"],
    &["calls", "greet"],
    &["usages", "greet"],
    &["dependencies", "greet"],
    &["dependents", "greet"],
    &["implementations", "greet"],
    &["references", "SYMBOL", "--wait", "--max-wait-ms", "MS"],
    &["definition", "SYMBOL", "--wait", "--max-wait-ms", "MS"],
    &["hover", "greet"],
    &["diagnostics", "FILE", "--wait", "--max-wait-ms", "MS"],
    &["explore", "greet"],
    &["fixes", "greet"],
    &["changes", "HEAD"],
    &["enrich", "--seconds", "1"],
    &["source", "greet"],
    &["symbols", "greet"],
    &["search", "greet"],
    &["docs", "greet"],
    &["grep", "greet"],
    &["summary", "lib.py"],
    &["type", "Lib"],
    &["function", "greet"],
    &["exports", "."],
    &["lines", "lib.py", "1", "2"],
    &["laravel-routes"],
    &["editing-context", "greet"],
    &["outline"],
    &["stats"],
    &["analyze", "hotspots"],
    &["start"],
    &["tests", "greet"],
    &["contracts"],
    &["context", "greet a name"],
    &["context-files", "lib.py"],
    &["context-pr", "HEAD"],
    &["blast-radius", "greet"],
    &["explain", "greet"],
    &["communities"],
    &["plan", "greet"],
    &["savings"],
    &["undo", "--list"],
    &["init", "--dry-run"],
    &["init", "--client", "claude-code", "--instructions", "--hooks"],
    &["init", "--undo"],
    &["hook"],
    &["trust", "--show"],
    &["doctor"],
    &["gateway"],
    &["gateway", "check"],
    &["gateway", "login", "x"],
    &["tokens", "lib.py"],
    // Without this flag it asks servers outside of the sandbox as well, which is what it measures.
    &[
        "bench",
        "compilers",
        ".",
        "--tokens-only",
        "--seconds",
        "2",
        "--symbols",
        "2",
    ],
];

/// Verbs that serve until they are stopped, or that read no repository.
const LEFT_OUT: &[&str] = &[
    "watch",
    "mcp",
    "web",
    "encode",
    "decode",
    "convert",
    "apply",
    "completions",
    "man",
    "licenses",
    "help",
];

/// How long one may take.
const LIMIT: Duration = Duration::from_secs(300);

/// Runs each once. Whether it succeeds is not asked.
pub(crate) fn run(stage: &Stage, variables: &[(&str, &str)]) {
    let patience = stage.patience_ms.to_string();
    let fill = |word: &&'static str| match *word {
        "SYMBOL" => stage.asked.symbol.to_string(),
        "FILE" => stage.asked.path.to_string(),
        "MS" => patience.clone(),
        word => word.to_string(),
    };
    for arguments in VERBS {
        let mut child = stage
            .lacon()
            .envs(variables.iter().copied())
            .args(arguments.iter().map(fill))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut output = child.stdout.take().unwrap();
        let reader = std::thread::spawn(move || {
            let mut bytes = Vec::new();
            drop(std::io::Read::read_to_end(&mut output, &mut bytes));
            String::from_utf8_lossy(&bytes).into_owned()
        });
        let deadline = Instant::now() + LIMIT;
        while child.try_wait().unwrap().is_none() {
            if Instant::now() > deadline {
                drop(child.kill());
                drop(child.wait());
                panic!("{arguments:?} does not end");
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        let said = reader.join().unwrap();
        stage.heard(&arguments.join(" "), &said);
    }
}

/// A verb that is new has to be put into one of the lists.
pub(crate) fn assert_complete() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_lacon"))
        .arg("--help")
        .output()
        .unwrap();
    let help = String::from_utf8_lossy(&output.stdout).into_owned();
    let (_, groups) = help.split_once("Usage:").unwrap();
    let (groups, _) = groups.split_once("Options:").unwrap();
    let mut met = 0;
    for line in groups.lines().skip(1) {
        let Some(verb) = line.strip_prefix("  ").filter(|rest| !rest.starts_with(' ')) else {
            continue;
        };
        let verb = verb.split_whitespace().next().unwrap();
        let is_met = VERBS.iter().any(|arguments| arguments[0] == verb) || LEFT_OUT.contains(&verb);
        assert!(is_met, "`lacon {verb}` is not met by hostile repositories");
        met += 1;
    }
    assert!(met > 50, "the verbs stand in groups below the usage: {met}");
}
