//! What a client sees in each of the three modes.

use gateway::config::{GatewayConfig, Mode};
use rmcp::model::{GetPromptRequestParams, ReadResourceRequestParams, Tool};
use serde_json::{Value, json};

use crate::harness::*;

fn in_mode(mode: Mode) -> GatewayConfig {
    GatewayConfig {
        mode,
        ..one(scripted(&[]))
    }
}

async fn listed(setup: &Setup) -> Vec<Tool> {
    setup.client.list_all_tools().await.unwrap()
}

fn names(tools: &[Tool]) -> Vec<&str> {
    tools.iter().map(|tool| tool.name.as_ref()).collect()
}

#[tokio::test]
async fn the_gateway_lists_its_verbs_and_the_primitive_ones_when_there_are_any() {
    let setup = Setup::new(in_mode(Mode::Gateway)).await;
    let expected = [
        "tool_browse",
        "tool_execute",
        "tool_view",
        "resource_browse",
        "resource_read",
        "prompt_browse",
        "prompt_get",
    ];
    assert_eq!(names(&listed(&setup).await), expected);
    assert_eq!(
        setup.id("versioned.get").await,
        "scripted:versioned.get@2",
        "a live tool keeps its declared version"
    );
    let silent = setup.id("silent_tool_without_description").await;
    assert!(
        silent.starts_with("scripted:silent_tool_without_description#"),
        "{silent}"
    );
    let unknown = try_call(&setup.client, "no_such_tool", json!({})).await;
    assert!(unknown.is_err(), "an unknown tool is the client's mistake");
}

#[tokio::test]
async fn resources_and_prompts_are_live_firewalled_and_listed_when_kept() {
    let setup = Setup::new(in_mode(Mode::Gateway)).await;
    let find = async |verb: &str, query: &str| {
        let found = call(&setup.client, verb, json!({"query": query, "format": "json"})).await;
        let cards: Vec<Value> = serde_json::from_str(text(&found)).unwrap();
        cards[0]["id"].as_str().unwrap().to_owned()
    };
    let one = find("resource_browse", "first memo").await;
    assert_eq!(
        text(&call(&setup.client, "resource_read", json!({"resource_id": one})).await),
        "the memo"
    );
    let big = find("resource_browse", "long memo").await;
    let read = call(&setup.client, "resource_read", json!({"resource_id": big})).await;
    let part = view(&setup.client, &handle(&read), json!({"lines": [5000, 5000]})).await;
    assert_eq!(text(&part), "a line of the memo");
    let greet = find("prompt_browse", "greet").await;
    let rendered = call(
        &setup.client,
        "prompt_get",
        json!({"prompt_id": greet, "args": {"who": "Ada"}}),
    )
    .await;
    assert_eq!(text(&rendered), "Say hello to Ada.");
    let wrong = error(&call(&setup.client, "prompt_get", json!({"prompt_id": greet, "args": {}})).await);
    assert_eq!(wrong["error"], "ARGS_INVALID");
    let missing = error(
        &call(
            &setup.client,
            "resource_read",
            json!({"resource_id": "resource::a:b#00000000"}),
        )
        .await,
    );
    assert_eq!(missing["error"], "RESOURCE_NOT_FOUND");
}

#[tokio::test]
async fn the_proxy_lists_every_tool_without_its_schema_under_a_strict_name() {
    let mut config = in_mode(Mode::Proxy);
    let long = "Much longer than any card may be. ".repeat(80);
    config
        .upstreams
        .get_mut("scripted")
        .unwrap()
        .describe
        .insert("echo".into(), long);
    let setup = Setup::new(config).await;
    let tools = listed(&setup).await;
    assert_eq!(names(&tools)[..3], ["tool_hydrate", "tool_execute", "tool_view"]);
    let strict = |name: &str| {
        name.len() <= 64
            && name
                .chars()
                .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
    };
    assert!(tools.iter().all(|tool| strict(&tool.name)), "{:?}", names(&tools));
    let echo = tools
        .iter()
        .find(|tool| tool.name.starts_with("scripted-echo"))
        .unwrap();
    assert_eq!(
        serde_json::to_value(&*echo.input_schema).unwrap(),
        json!({"type": "object"})
    );
    assert!(echo.description.as_ref().unwrap().len() < 400, "descriptions are cut");

    let hydrated = call(&setup.client, "tool_hydrate", json!({"tool_id": echo.name})).await;
    let definition: Value = serde_json::from_str(text(&hydrated)).unwrap();
    assert_eq!(definition["inputSchema"]["required"], json!(["text"]));
    let by_name = json!({"tool_id": echo.name, "args": {"text": "by shown name"}});
    assert_eq!(
        text(&call(&setup.client, "tool_execute", by_name).await),
        "by shown name"
    );
    let by_id = json!({"tool_id": definition["name"], "args": {"text": "by id"}});
    assert_eq!(text(&call(&setup.client, "tool_execute", by_id).await), "by id");
    let direct = error(&call(&setup.client, &echo.name, json!({"text": "x"})).await);
    assert!(direct["message"].as_str().unwrap().contains("tool_execute"));
}

#[tokio::test]
async fn passthrough_changes_only_the_results() {
    let setup = Setup::new(in_mode(Mode::Passthrough)).await;
    let tools = listed(&setup).await;
    assert!(names(&tools).contains(&"echo") && names(&tools).contains(&"silent_tool_without_description"));
    let add = tools.iter().find(|tool| tool.name == "add").unwrap();
    assert!(add.input_schema.contains_key("properties"));
    assert_eq!(add.annotations.as_ref().unwrap().read_only_hint, Some(true));

    let rows = call(&setup.client, "rows", json!({"count": 60})).await;
    let original: Vec<Value> = (0..60)
        .map(|n| json!({"id": n, "name": format!("row {n}"), "ok": n % 2 == 0}))
        .collect();
    let decoded = wire::decode(text(&rows)).unwrap();
    assert!(wire::same(&decoded, &Value::Array(original.clone())), "the same facts");
    let pretty = serde_json::to_string_pretty(&original).unwrap();
    assert!(
        text(&rows).len() * 2 < pretty.len(),
        "in fewer bytes: {} of {}",
        text(&rows).len(),
        pretty.len()
    );

    let typed = call(&setup.client, "typed", json!({})).await;
    assert_eq!(
        typed.structured_content,
        Some(json!({"n": 7})),
        "promised by its output schema"
    );
    let untyped = call(&setup.client, "structured", json!({"n": 5})).await;
    assert_eq!(
        untyped.structured_content,
        Some(json!({"n": 5})),
        "nobody asked for another format"
    );
    assert_eq!(
        error(&call(&setup.client, "add", json!({"a": 1})).await)["error"],
        "ARGS_INVALID"
    );

    let resources = setup.client.list_all_resources().await.unwrap();
    assert_eq!(resources.len(), 2);
    let read = setup
        .client
        .read_resource(ReadResourceRequestParams::new("memo://one"))
        .await
        .unwrap();
    assert!(serde_json::to_string(&read).unwrap().contains("the memo"));
    let arguments = object(json!({"who": "Ada"}));
    let mut params = GetPromptRequestParams::new("greet");
    params.arguments = Some(arguments);
    let prompt = setup.client.get_prompt(params).await.unwrap();
    assert!(serde_json::to_string(&prompt).unwrap().contains("Say hello to Ada."));
}

#[tokio::test]
async fn one_name_on_two_servers_stays_reachable_on_both() {
    let config = config(vec![
        ("first", scripted(&["--name", "a"])),
        ("second", scripted(&["--name", "b"])),
    ]);
    let setup = Setup::new(GatewayConfig {
        mode: Mode::Passthrough,
        ..config
    })
    .await;
    let tools = listed(&setup).await;
    assert!(names(&tools).contains(&"pid") && names(&tools).contains(&"second_pid"));
    let pids = [
        call(&setup.client, "pid", json!({})).await,
        call(&setup.client, "second_pid", json!({})).await,
    ];
    assert_ne!(text(&pids[0]), text(&pids[1]));
}

#[tokio::test]
async fn filters_renames_and_descriptions_apply() {
    let mut upstream = scripted(&[]);
    upstream.include = vec!["e*".into(), "add".into()];
    upstream.exclude = vec!["extra*".into()];
    upstream.rename.insert("echo".into(), "repeat_after_me".into());
    upstream.describe.insert("add".into(), "Sums.".into());
    let setup = Setup::new(GatewayConfig {
        mode: Mode::Passthrough,
        ..one(upstream)
    })
    .await;
    let tools = listed(&setup).await;
    let mut shown = names(&tools);
    shown.sort_unstable();
    assert_eq!(shown, ["add", "repeat_after_me"]);
    let add = tools.iter().find(|tool| tool.name == "add").unwrap();
    assert_eq!(add.description.as_deref(), Some("Sums."));
    assert_eq!(
        text(&call(&setup.client, "repeat_after_me", json!({"text": "ok"})).await),
        "ok"
    );
}

#[tokio::test]
async fn clients_hear_of_changes_to_what_is_listed_and_of_nothing_else() {
    for era in [Era::Session, Era::Stateless] {
        let setup = Setup::with(in_mode(Mode::Passthrough), Default::default(), era).await;
        let subscription = match era {
            Era::Session => None,
            Era::Stateless => {
                let filter = rmcp::model::SubscriptionFilter::builder().tools_list_changed().build();
                Some(setup.client.listen(filter).await.unwrap())
            }
        };
        call(&setup.client, "change", json!({})).await;
        match subscription {
            Some(mut subscription) => {
                let heard = tokio::time::timeout(PATIENCE, subscription.next()).await.unwrap();
                assert!(matches!(heard, Ok(Some(_))), "{heard:?}");
            }
            None => eventually("it is told", async || *setup.ears.tool_changes.lock().unwrap() == 1).await,
        }
        assert!(names(&listed(&setup).await).contains(&"added_later"));
    }
    let setup = Setup::new(in_mode(Mode::Gateway)).await;
    setup.run("change", json!({})).await;
    eventually("the tool is there", async || {
        text(&call(&setup.client, "tool_browse", json!({"query": "added later"})).await).contains("added_later")
    })
    .await;
    assert_eq!(
        *setup.ears.tool_changes.lock().unwrap(),
        0,
        "the three meta-tools are the same as before"
    );
}
