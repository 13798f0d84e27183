//! Reading configurations: every mistake is reported with its place, and none of them repeats a secret.

#![expect(clippy::unwrap_used, reason = "a failed setup is a failed test")]

use expect_test::expect_file;
use gateway::config::{GatewayConfig, Mode, Transport, parse_json, parse_toml, reference_page};

fn environment(name: &str) -> Option<String> {
    match name {
        "TOKEN" => Some("s3cret-value".to_owned()),
        "HOST" => Some("example.org".to_owned()),
        _ => None,
    }
}

fn toml_problems(text: &str) -> Vec<String> {
    parse_toml(text, &environment)
        .unwrap_err()
        .problems
        .iter()
        .map(ToString::to_string)
        .collect()
}

#[test]
fn an_empty_file_is_a_gateway_without_upstreams() {
    assert_eq!(parse_toml("", &environment).unwrap().config, GatewayConfig::default());
    assert_eq!(parse_json("{}", &environment).unwrap().config, GatewayConfig::default());
}

#[test]
fn toml_with_both_kinds_of_upstream() {
    let config = parse_toml(
        r#"
        mode = "proxy"
        [upstreams.files]
        command = "server-filesystem"
        args = ["/data"]
        exclude = ["write_*"]
        [upstreams.remote]
        url = "https://${env:HOST}/mcp"
        headers = { Authorization = "Bearer ${env:TOKEN}" }
        timeout_seconds = 5
        [browse]
        top_k = 12
        [[policy.rules]]
        action = "deny"
        tags = ["destructive"]
        [rate_limits.tool_execute]
        max_calls_per_minute = 10
        "#,
        &environment,
    )
    .unwrap()
    .config;
    assert_eq!(config.mode, Mode::Proxy);
    assert_eq!(
        config.upstreams["files"].transport(),
        Some(Transport::Stdio {
            command: "server-filesystem"
        })
    );
    assert_eq!(
        config.upstreams["remote"].transport(),
        Some(Transport::Http {
            url: "https://example.org/mcp"
        })
    );
    assert_eq!(
        config.upstreams["remote"].headers["Authorization"],
        "Bearer s3cret-value"
    );
    assert!((config.upstreams["remote"].timeout_seconds - 5.0).abs() < f64::EPSILON);
    assert_eq!(config.browse.top_k, 12);
    assert_eq!(config.policy.rules.len(), 1);
}

#[test]
fn unknown_keys_name_the_nearest_known_one() {
    let problems = toml_problems(
        r#"
        mod = "proxy"
        [upstreams.a]
        comand = "x"
        [upstreams.a.restart]
        circuit_failure = 1
        [[policy.rules]]
        action = "deny"
        namespce = "x"
        [rate_limits]
        bogus = {}
        "#,
    );
    for expected in [
        "mod: unknown key; did you mean `mode`?",
        "upstreams.a.comand: unknown key; did you mean `command`?",
        "upstreams.a.restart.circuit_failure: unknown key; did you mean `circuit_failures`?",
        "policy.rules[0].namespce: unknown key; did you mean `namespace`?",
    ] {
        assert!(
            problems.iter().any(|problem| problem == expected),
            "{expected} in {problems:#?}"
        );
    }
    assert_eq!(problems.len(), 5, "{problems:#?}");
}

#[test]
fn wrong_values_are_placed_and_not_repeated() {
    let problems =
        toml_problems("[browse]\ntop_k = 500\n[upstreams.a]\ncommand = \"x\"\ntimeout_seconds = \"${env:TOKEN}\"");
    assert!(
        problems.iter().any(|problem| problem.starts_with("browse.top_k: ")),
        "{problems:#?}"
    );
    assert!(
        problems
            .iter()
            .any(|problem| problem.starts_with("upstreams.a.timeout_seconds: ")),
        "{problems:#?}"
    );
    assert!(!problems.join("\n").contains("s3cret"), "{problems:#?}");
}

#[test]
fn broken_toml_says_where() {
    let problems = toml_problems("mode = \n");
    assert!(problems[0].contains("line 1"), "{problems:?}");
}

#[test]
fn an_unset_variable_is_an_error_unless_it_has_a_default() {
    let problems = toml_problems("[upstreams.a]\ncommand = \"x\"\nargs = [\"${env:NOPE}\"]");
    assert_eq!(
        problems,
        ["upstreams.a.args[0]: the environment variable `NOPE` is not set"]
    );
    let loaded = parse_toml(
        "[upstreams.a]\ncommand = \"${env:NOPE:-cat}\"\nargs = [\"${HOME}\"]",
        &environment,
    )
    .unwrap();
    let upstream = &loaded.config.upstreams["a"];
    assert_eq!(upstream.command.as_deref(), Some("cat"));
    assert_eq!(
        upstream.args,
        ["${HOME}"],
        "another program's placeholder is left alone"
    );
}

#[test]
fn what_types_cannot_say_is_checked() {
    assert_eq!(
        toml_problems("[upstreams.a]"),
        ["upstreams.a: needs exactly one of `command` and `url`"]
    );
    assert_eq!(
        toml_problems("[upstreams.a]\ncommand = \"x\"\nurl = \"http://y\""),
        ["upstreams.a: needs exactly one of `command` and `url`"]
    );
    assert_eq!(
        toml_problems("[upstreams.a]\nurl = \"ftp://y\""),
        ["upstreams.a.url: must start with http:// or https://"]
    );
    assert!(
        toml_problems("[upstreams.a]\ncommand = \"x\"\ninclude = [\"a[\"]")[0].starts_with("upstreams.a.include: ")
    );
    assert!(
        toml_problems("[[policy.rules]]\naction = \"deny\"\ntool = \"a[\"")[0].starts_with("policy.rules[0].tool: ")
    );
    let clash = toml_problems("[upstreams.\"My Server\"]\ncommand = \"x\"\n[upstreams.\"my-server\"]\ncommand = \"x\"");
    assert!(
        clash[0].contains("has the namespace `my-server` of `My Server`"),
        "{clash:?}"
    );
}

#[test]
fn a_clients_server_list_is_read() {
    let loaded = parse_json(
        r#"{
          "mcpServers": {
            "git": {"type": "stdio", "command": "uvx", "args": ["mcp-server-git"], "env": {"T": "${TOKEN}"},
                    "autoApprove": ["git_log"], "disabled": true, "timeout": 45000},
            "web": {"type": "http", "url": "https://${HOST}/mcp", "headers": {"A": "${NONE:-b}"}}
          },
          "theme": "dark"
        }"#,
        &environment,
    )
    .unwrap();
    let git = &loaded.config.upstreams["git"];
    assert_eq!(
        (git.enabled, git.env["T"].as_str(), git.timeout_seconds),
        (false, "s3cret-value", 45.0)
    );
    let web = &loaded.config.upstreams["web"];
    assert_eq!(
        (web.url.as_deref(), web.headers["A"].as_str()),
        (Some("https://example.org/mcp"), "b")
    );
    let warned: Vec<&str> = loaded.warnings.iter().map(|warning| warning.place.as_str()).collect();
    assert_eq!(warned, ["theme", "mcpServers.git.autoApprove"]);
}

#[test]
fn a_clients_list_is_checked_like_our_own() {
    let problems = |text: &str| parse_json(text, &environment).unwrap_err().to_string();
    assert!(problems(r#"{"mcpServers": {"a": {"comand": "x"}}}"#).contains("did you mean `command`?"));
    assert!(
        problems(r#"{"mcpServers": {"a": {"type": "sse", "url": "http://x"}}}"#).contains("`sse` is not supported")
    );
    assert!(problems(r#"{"mcpServers": []}"#).contains("expected an object"));
}

#[test]
fn the_reference_page_is_current() {
    expect_file!["../../../docs/reference/gateway-config.md"].assert_eq(&reference_page());
}

#[test]
fn every_key_is_explained() {
    let page = reference_page();
    let silent: Vec<&str> = page
        .lines()
        .filter(|line| line.starts_with("| `") && line.ends_with("|  |"))
        .collect();
    assert!(silent.is_empty(), "{silent:#?}");
    assert!(
        page.contains("`allow`, `deny`, `require_approval`"),
        "every choice is listed"
    );
}
