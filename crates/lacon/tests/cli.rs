//! The built binary, driven as a user drives it.

use std::process::Output;

use assert_cmd::Command;

fn lacon(args: &[&str], input: &[u8]) -> Output {
    Command::cargo_bin("lacon")
        .expect("the binary is built")
        .args(args)
        .write_stdin(input)
        .output()
        .expect("it runs")
}

fn stdout(output: &Output) -> &str {
    std::str::from_utf8(&output.stdout).expect("the output is text")
}

fn stderr(output: &Output) -> &str {
    std::str::from_utf8(&output.stderr).expect("the errors are text")
}

const ROWS: &[u8] = br#"[{"id":"a.go::F","line":3},{"id":"b.go::G","line":14}]"#;

#[test]
fn encode_and_decode_are_inverse_through_pipes() {
    for format in ["auto", "json", "gcx", "gcf"] {
        let encoded = lacon(&["encode", "--to", format, "--tool", "search"], ROWS);
        assert!(encoded.status.success(), "{}", stderr(&encoded));
        let decoded = lacon(&["decode"], &encoded.stdout);
        assert_eq!(stdout(&decoded).trim_end().as_bytes(), ROWS, "{format}");
    }
    let gcx = lacon(&["encode", "--to", "gcx", "--tool", "search"], ROWS);
    assert_eq!(
        stdout(&gcx),
        "GCX1 tool=search fields=id,line rows=2\na.go::F\t3\nb.go::G\t14\n"
    );
}

#[test]
fn a_tool_with_a_layout_is_encoded_by_it() {
    let answer = br#"{"results":[{"id":"a.go::F","kind":"function","name":"F","path":"a.go","line":3,"sig":"func F()"}],"total":1,"truncated":false}"#;
    let encoded = lacon(&["encode", "--to", "gcx", "--tool", "search_symbols"], answer);
    let expected = "GCX1 tool=search_symbols fields=id,kind,name,path,line,sig rows=1 total=1 truncated=false\n\
                    a.go::F\tfunction\tF\ta.go\t3\tfunc F()\n";
    assert_eq!(stdout(&encoded), expected);
    let json = |text: &[u8]| serde_json::from_slice::<serde_json::Value>(text).expect("JSON");
    assert_eq!(json(&lacon(&["decode"], &encoded.stdout).stdout), json(answer));
}

#[test]
fn bad_input_exits_with_3_says_where_and_writes_nothing() {
    for (args, input, says) in [
        (
            &["decode", "--from", "gcx"][..],
            &b"GCX1 tool=t fields=a\n1\t2\n"[..],
            "line 2, column 3",
        ),
        (&["decode"], b"GCX2 tool=t fields=a\n1\n", "GCX2"),
        (&["decode", "--from", "gcf"], b"GCF profile=generic\na b=1\n", "line 2"),
        (&["encode"], b"{\"a\": }", "line 1 column 7"),
        (&["encode"], b"\"\xff\"", "0xff"),
        (&["convert", "--to", "gcx"], b"[1, 2", "line 1 column 5"),
        (&["encode"], b"{\"a\":12345678901234567890123}", "would be rounded"),
        (
            &["encode", "--to", "json"],
            b"[0.1234567890123456789]",
            "would be rounded",
        ),
        (&["encode", "--to", "gcx"], b"{\"a\":1,\"a\":2}", "\"a\" twice"),
        (&["convert", "--to", "gcf"], b"[1e400]", "would be rounded"),
        (
            &["encode", "--to", "gcx", "--tool", "error"],
            b"{\"code\":\"\"}",
            "code",
        ),
        (
            &["decode"],
            b"LCX1 tool=get_callers fields=line+symbol rows=2\na.py\n",
            "cut",
        ),
        (&["convert", "--from", "markdown"], b"# x", "cannot be decoded"),
        (&["tokens"], b"a\nb\xc3", "line 2, column 2"),
    ] {
        let output = lacon(args, input);
        assert_eq!(output.status.code(), Some(3), "{args:?}: {}", stderr(&output));
        assert!(
            stderr(&output).starts_with("error: ") && stderr(&output).contains(says),
            "{args:?}: {}",
            stderr(&output)
        );
        assert_eq!(stdout(&output), "", "{args:?}");
    }
}

/// What the GCF libraries write today has constant columns.
#[test]
fn constant_columns_are_read_and_written_when_asked() {
    let text = b"GCF profile=generic\n## [2]{a=1,b}\n2\n3\n";
    let rows = "[{\"a\":1,\"b\":2},{\"a\":1,\"b\":3}]";
    assert_eq!(stdout(&lacon(&["decode"], text)).trim_end(), rows);
    let args = ["encode", "--to", "gcf", "--constant-columns"];
    assert_eq!(lacon(&args, rows.as_bytes()).stdout, text);
}

#[test]
fn a_failed_conversion_leaves_the_output_file_as_it_was() {
    let directory = tempfile::tempdir().expect("a directory");
    let path = directory.path().join("out.gcx");
    std::fs::write(&path, "before").expect("written");
    let target = path.to_str().expect("a plain path");
    assert_eq!(lacon(&["encode", "-o", target], b"[1,").status.code(), Some(3));
    assert_eq!(std::fs::read_to_string(&path).expect("readable"), "before");
    assert!(lacon(&["encode", "--to", "gcx", "-o", target], b"[1]").status.success());
    assert_eq!(
        std::fs::read_to_string(&path).expect("readable"),
        "GCX1 tool=value fields=value rows=1\n1\n"
    );
    assert_eq!(
        std::fs::read_dir(directory.path()).expect("readable").count(),
        1,
        "no partial file is left"
    );
}

#[test]
fn missing_files_and_unknown_words_are_told_apart() {
    let missing = lacon(&["decode", "no/such/file"], b"");
    assert_eq!(missing.status.code(), Some(1));
    assert!(
        stderr(&missing).starts_with("error: cannot read `no/such/file`"),
        "{}",
        stderr(&missing)
    );
    let unknown = lacon(&["encode", "--to", "yaml"], b"1");
    assert_eq!(unknown.status.code(), Some(2));
    assert!(
        stderr(&unknown).contains("there are auto, text, json, gcx, gcf and markdown"),
        "{}",
        stderr(&unknown)
    );
}

#[test]
fn tokens_are_counted_exactly() {
    let output = lacon(&["tokens", "--json"], b"hello world");
    let counts: serde_json::Value = serde_json::from_str(stdout(&output)).expect("JSON");
    assert_eq!(
        (&counts["cl100k_base"], &counts["o200k_base"], &counts["bytes"]),
        (&2.into(), &2.into(), &11.into())
    );
}

#[test]
fn markdown_is_for_people() {
    let output = lacon(&["encode", "--to", "markdown"], ROWS);
    assert_eq!(
        stdout(&output),
        "| id | line |\n| --- | --- |\n| a.go::F | 3 |\n| b.go::G | 14 |\n"
    );
}

#[test]
fn completions_and_the_manual_come_from_the_same_definitions() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(
            stdout(&lacon(&["completions", shell], b"")).contains("convert"),
            "{shell}"
        );
    }
    assert!(stdout(&lacon(&["man"], b"")).contains(".TH lacon 1"));
    let directory = tempfile::tempdir().expect("a directory");
    lacon(
        &["man", "--directory", directory.path().to_str().expect("a plain path")],
        b"",
    );
    assert!(directory.path().join("lacon-encode.1").exists());
}

#[test]
fn every_verb_explains_itself_with_an_example() {
    for verb in [
        "encode",
        "decode",
        "convert",
        "tokens",
        "bench wire",
        "completions",
        "man",
    ] {
        let mut args: Vec<&str> = verb.split(' ').collect();
        args.push("--help");
        let output = lacon(&args, b"");
        assert!(stdout(&output).contains("Example"), "{verb}: {}", stdout(&output));
    }
}

#[test]
fn the_wire_benchmark_prints_three_ways_without_any_file() {
    let elsewhere = tempfile::tempdir().expect("a directory");
    for (style, says) in [("table", "auto"), ("markdown", "| GCX1"), ("json", "\"median_saving\"")] {
        let output = Command::cargo_bin("lacon")
            .expect("the binary is built")
            .args(["bench", "wire", "--no-speed", "--format", style])
            .current_dir(elsewhere.path())
            .output()
            .expect("it runs");
        assert!(stdout(&output).contains(says), "{style}: {}", stderr(&output));
        assert!(stdout(&output).contains("find_usages 300"), "{style}");
    }
}

#[test]
fn the_wire_benchmark_measures_a_directory_and_says_what_is_wrong_with_it() {
    let cases = tempfile::tempdir().expect("a directory");
    let directory = cases.path().to_str().expect("a plain path");
    let run = || {
        lacon(
            &[
                "bench",
                "wire",
                "--no-speed",
                "--format",
                "markdown",
                "--cases",
                directory,
            ],
            b"",
        )
    };

    let empty = run();
    assert_eq!((empty.status.code(), stdout(&empty)), (Some(1), ""));
    assert!(stderr(&empty).contains("no case in"), "{}", stderr(&empty));

    std::fs::write(cases.path().join("mine.json"), r#"[{"id": 1}, {"id": 2}]"#).expect("written");
    std::fs::write(
        cases.path().join("theirs.yaml"),
        "tool: t\ninput: |\n  {\"a\": [1, 2]}\n",
    )
    .expect("written");
    std::fs::write(cases.path().join("notes.txt"), "no case").expect("written");
    let measured = run();
    assert!(
        stdout(&measured).contains("| mine") && stdout(&measured).contains("| theirs"),
        "{}",
        stderr(&measured)
    );
    assert!(
        !stdout(&measured).contains("find_usages"),
        "the built-in cases are not measured too"
    );

    std::fs::write(cases.path().join("broken.yaml"), "tool: t\n").expect("written");
    let broken = run();
    assert_eq!((broken.status.code(), stdout(&broken)), (Some(3), ""));
    assert!(stderr(&broken).contains("broken.yaml"), "{}", stderr(&broken));

    let missing = lacon(&["bench", "wire", "--cases", "no/such"], b"");
    assert_eq!((missing.status.code(), stdout(&missing)), (Some(1), ""));
    let says = stderr(&missing);
    assert!(says.contains("no/such") && says.contains("built-in cases"), "{says}");
}

#[test]
fn a_workspace_file_is_indexed_whole_and_asked_as_one() {
    let base = tempfile::tempdir().expect("a directory");
    for (name, text) in [
        ("shop/a.py", "def price(): pass\n"),
        ("web/b.py", "def page(): pass\n"),
        (
            "workspace.toml",
            "[[repository]]\npath = \"shop\"\n[[repository]]\nname = \"site\"\npath = \"web\"\n",
        ),
    ] {
        let path = base.path().join(name);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a directory");
        std::fs::write(path, text).expect("written");
    }
    let file = base.path().join("workspace.toml");
    let file = file.to_str().expect("a plain path");
    let indexed = lacon(&["index", file, "--json"], b"");
    let summary: serde_json::Value = serde_json::from_str(stdout(&indexed)).expect("JSON");
    let repositories = summary["repositories"].as_array().expect("a list");
    assert_eq!(repositories.len(), 2, "{summary}");
    let found = lacon(&["symbols", "page", "--root", file, "--json"], b"");
    assert!(stdout(&found).contains("site/b.py::page"), "{}", stderr(&found));

    std::fs::write(base.path().join("workspace.toml"), "[[repository]]\npathh = \"shop\"\n").expect("written");
    let wrong = lacon(&["index", file], b"");
    assert_eq!(wrong.status.code(), Some(3));
    assert!(stderr(&wrong).contains("did you mean `path`?"), "{}", stderr(&wrong));
}

/// What scripts score must be there for every verb that answers.
#[test]
fn benchmarks_and_checks_print_json() {
    for verb in [
        "bench wire",
        "bench gateway",
        "bench server",
        "bench index",
        "bench accuracy",
        "doctor",
        "init",
        "status",
    ] {
        let mut args: Vec<&str> = verb.split(' ').collect();
        args.push("--help");
        assert!(stdout(&lacon(&args, b"")).contains("--json"), "{verb}");
    }
}

/// Benchmarks of a program that is installed alone: what they need is in it.
#[test]
fn quality_is_measured_without_any_file() {
    let empty = tempfile::tempdir().expect("a directory");
    let json = |args: &[&str]| -> serde_json::Value {
        let mut command = assert_cmd::Command::cargo_bin("lacon").expect("the program");
        let output = command.current_dir(empty.path()).args(args).output().expect("it runs");
        assert!(output.status.success(), "{args:?}: {}", stderr(&output));
        serde_json::from_str(stdout(&output)).expect("JSON")
    };
    let browsing = json(&[
        "bench", "gateway", "--calls", "0", "--rounds", "1", "--tools", "2000", "--json",
    ]);
    let sets = browsing["browsing"].as_array().expect("a list");
    let tools: Vec<_> = sets
        .iter()
        .map(|set| (set["queries_of"].as_str(), set["tools"].as_u64()))
        .collect();
    let own = tools[0].1.expect("a number");
    assert!(own >= 300, "{browsing}");
    assert_eq!(
        tools,
        [
            (Some("tuning"), Some(own)),
            (Some("held out"), Some(own)),
            (Some("held out"), Some(2000)),
        ]
    );
    let search = json(&["bench", "search", "--json"]);
    let quality = search["quality"].as_array().expect("a list");
    assert_eq!(quality.len(), 8, "{search}");
    assert!(quality[0]["functions"].as_u64() >= Some(150), "{search}");
    let questions = quality[0]["questions"].as_u64().zip(quality[4]["questions"].as_u64());
    assert!(
        questions.is_some_and(|(tuning, held_out)| tuning + held_out >= 120),
        "{search}"
    );
}

#[test]
fn larger_data_of_benchmarks_is_named_and_missed_by_name() {
    for (args, says) in [
        (
            &["bench", "gateway", "--queries", "no/such.json"][..],
            "without it the built-in queries are asked",
        ),
        (
            &[
                "bench",
                "gateway",
                "--catalog",
                "no/such.json",
                "--queries",
                "no/such.json",
            ],
            "`no/such.json`",
        ),
        (
            &[
                "bench",
                "search",
                "--functions",
                "no/such.txt",
                "--questions",
                "no/such.json",
            ],
            "`code_idx_map.txt`",
        ),
        (&["bench", "search", "--pairs", "no/such.jsonl"], "a file of lines"),
    ] {
        let output = lacon(args, b"");
        assert_eq!(output.status.code(), Some(1), "{args:?}");
        assert!(stderr(&output).contains(says), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains("no/such."), "{args:?}: {}", stderr(&output));
    }
    for args in [
        &["bench", "gateway", "--catalog", "no/such.json"][..],
        &["bench", "search", "--functions", "no/such.txt"],
    ] {
        assert_eq!(lacon(args, b"").status.code(), Some(2), "{args:?}");
    }
}

fn git(root: &std::path::Path, arguments: &[&str]) {
    let done = std::process::Command::new("git")
        .current_dir(root)
        .args(["-c", "user.name=t", "-c", "user.email=t@example.org"])
        .args(arguments)
        .status()
        .expect("git runs");
    assert!(done.success(), "{arguments:?}");
}

/// A rule ignores a folder, and git tracks some of its files: what is indexed is not among what is left out.
#[test]
fn a_file_that_is_indexed_is_not_counted_as_left_out() {
    let directory = tempfile::tempdir().expect("a folder");
    let root = directory.path();
    for folder in ["all", "some"] {
        std::fs::create_dir(root.join(folder)).expect("a folder");
        std::fs::write(root.join(folder).join("kept.py"), "x = 1\n").expect("a file");
    }
    std::fs::write(root.join("some/left.py"), "x = 1\n").expect("a file");
    std::fs::write(root.join(".gitignore"), "all/\nsome/\n").expect("a file");
    git(root, &["init", "-q"]);
    git(root, &["add", "-f", "all/kept.py", "some/kept.py"]);
    let root = root.to_str().expect("a path");
    assert!(lacon(&["index", root], b"").status.success());
    let status = lacon(&["status", root, "--skipped", "--json"], b"");
    let status: serde_json::Value = serde_json::from_slice(&status.stdout).expect("JSON");
    let ignored: Vec<_> = status["skipped_files"]
        .as_array()
        .expect("a list")
        .iter()
        .filter(|file| file["reason"] == "ignored")
        .map(|file| (file["path"].as_str().unwrap_or_default(), file["files"].as_u64()))
        .collect();
    assert_eq!(ignored, [("some", Some(1))], "{status}");
}

/// What a file calls itself and its symbols is shown as it is written, and obeyed by nobody: not by a terminal, and not by who reads
/// line by line.
#[test]
fn names_speak_for_nobody() {
    let directory = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(directory.path().join(name), text).expect("a file");
    write("a\nlib.py:1  Safe.verified\n\u{202e}.py", "def target(): pass\n");
    write("two\u{2028}lines.py", "def other(): pass\n");
    write("tables.sql", "CREATE TABLE \"t\nlib.py:3 forged\" (id int);\n");
    write(
        "doc.md",
        "# Heading \u{1b}]52;c;ZXZpbA==\u{7}\n\n## Next \u{202e} heading\n\nThe target.\n",
    );
    write(
        "keys.ts",
        "export const keys = { \"q\u{1b}[2J\": () => 1, \"x\u{202e}y\": () => 2 };\n",
    );
    let root = directory.path().to_str().expect("a path");
    assert!(lacon(&["index", root], b"").status.success());
    let is_obeyed = |letter: char| {
        !matches!(letter, '\n' | '\t') && letter.is_control()
            || matches!(letter, '\u{202a}'..='\u{202e}' | '\u{2028}' | '\u{2029}')
    };
    for arguments in [
        &["summary", "tables.sql"][..],
        &["summary", "doc.md"],
        &["summary", "keys.ts"],
        &["symbols", "target"],
        &["uses", "target"],
        &["outline"],
        &["export"],
    ] {
        let said = lacon(&[arguments, &["--root", root]].concat(), b"");
        let said = match arguments == ["export"] {
            true => lacon(&["export", root], b""),
            false => said,
        };
        let text = stdout(&said);
        assert!(!text.is_empty(), "{arguments:?}: {}", stderr(&said));
        assert!(!text.contains(is_obeyed), "{arguments:?}: {text:?}");
        assert!(
            !text.lines().any(|line| line.starts_with("lib.py:")),
            "{arguments:?}: {text}"
        );
    }
}
