//! Policy: the first matching rule decides, and a denied tool cannot be told from one that does not exist.

#![expect(clippy::unwrap_used, reason = "a failed setup is a failed test")]

use gateway::browse::BrowseRequest;
use gateway::catalog::{Catalog, CatalogOptions, Source};
use gateway::controls::MetaTool;
use gateway::errors::GatewayError;
use gateway::policy::{Decision, Policy, PolicyAction, PolicyConfig, PolicyRule, PolicySubject};
use serde_json::{Value, json};

fn rule(action: PolicyAction) -> PolicyRule {
    PolicyRule {
        action,
        ..PolicyRule::default()
    }
}

fn build(rules: Vec<PolicyRule>, default: PolicyAction) -> Catalog {
    let tools: Vec<Value> = vec![
        json!({"name": "delete_repo", "annotations": {"destructiveHint": true}}),
        json!({"name": "read_repo", "annotations": {"readOnlyHint": true}}),
        json!({"name": "write_repo"}),
    ];
    let source = |server: &str| Source {
        server: server.into(),
        tools: tools.clone(),
        ..Source::default()
    };
    let options = CatalogOptions {
        policy: PolicyConfig { default, rules },
        ..CatalogOptions::default()
    };
    Catalog::build(vec![source("work"), source("home")], &options, None).unwrap()
}

fn shown(catalog: &Catalog) -> Vec<String> {
    let entries = catalog.tools().entries().iter();
    entries
        .map(|entry| format!("{}:{}", entry.server, entry.name))
        .collect()
}

#[test]
fn a_denied_tool_reads_as_unknown_everywhere() {
    let everything = build(Vec::new(), PolicyAction::Allow);
    let denied_id = everything.tools().entries()[0].id.clone();
    let catalog = build(
        vec![PolicyRule {
            tool: Some(denied_id.clone()),
            ..rule(PolicyAction::Deny)
        }],
        PolicyAction::Allow,
    );
    assert_eq!(catalog.tools().len(), 5);
    assert_eq!(
        catalog.tool(&denied_id).unwrap_err(),
        GatewayError::unknown_tool(&denied_id)
    );
    let denied = catalog
        .tool(&denied_id)
        .unwrap_err()
        .to_json()
        .to_string()
        .replace(&denied_id, "ID");
    let missing = catalog.tool("work:nothing#00000000").unwrap_err().to_json().to_string();
    assert_eq!(
        denied,
        missing.replace("work:nothing#00000000", "ID"),
        "only the name asked for differs"
    );
    let name = everything.tool(&denied_id).unwrap().entry.label.clone();
    let namespace = everything.tool(&denied_id).unwrap().entry.namespace.clone();
    let path = BrowseRequest::Path {
        path: format!("/{namespace}/{name}"),
    };
    assert!(catalog.tools().browse(&path).is_err());
    assert!(
        catalog
            .tools()
            .query(&name, 50)
            .cards
            .iter()
            .all(|card| card.id != denied_id)
    );
}

#[test]
fn the_first_match_decides() {
    let rules = vec![
        PolicyRule {
            server: Some("home".into()),
            read_only: Some(true),
            ..rule(PolicyAction::Allow)
        },
        PolicyRule {
            server: Some("home".into()),
            ..rule(PolicyAction::Deny)
        },
        PolicyRule {
            tags: vec!["destructive".into()],
            ..rule(PolicyAction::Deny)
        },
    ];
    assert_eq!(
        shown(&build(rules, PolicyAction::Allow)),
        ["home:read_repo", "work:read_repo", "work:write_repo"]
    );
}

#[test]
fn everything_may_be_denied_by_default() {
    let rules = vec![PolicyRule {
        tool: Some("read_*".into()),
        namespace: Some("work".into()),
        ..rule(PolicyAction::Allow)
    }];
    assert_eq!(shown(&build(rules, PolicyAction::Deny)), ["work:read_repo"]);
}

#[test]
fn approval_is_visible_and_carries_its_reason() {
    let ask = PolicyRule {
        tags: vec!["destructive".into()],
        reason: Some("it cannot be undone".into()),
        ..rule(PolicyAction::RequireApproval)
    };
    let catalog = build(vec![ask], PolicyAction::Allow);
    assert_eq!(catalog.tools().len(), 6);
    let decisions: Vec<&Decision> = catalog
        .tools()
        .entries()
        .iter()
        .map(|entry| &catalog.tool(&entry.id).unwrap().decision)
        .collect();
    let asked = Decision::RequireApproval {
        reason: Some("it cannot be undone".into()),
    };
    assert_eq!(decisions.iter().filter(|decision| ***decision == asked).count(), 2);
    assert_eq!(
        decisions
            .iter()
            .filter(|decision| ***decision == Decision::Allow)
            .count(),
        4
    );
}

#[test]
fn a_tool_that_may_not_be_called_is_not_shown() {
    let rules = vec![PolicyRule {
        meta_tool: Some(MetaTool::ToolExecute),
        ..rule(PolicyAction::Deny)
    }];
    assert_eq!(shown(&build(rules, PolicyAction::Allow)), Vec::<String>::new());
}

#[test]
fn a_glob_that_cannot_be_read_closes_the_policy() {
    let subject = PolicySubject {
        tool_id: "a:b@1",
        server: "s",
        namespace: "a",
        name: "b",
        tags: &[],
        read_only: false,
    };
    let decide = |action| {
        let rules = vec![PolicyRule {
            tool: Some("a[".into()),
            ..rule(action)
        }];
        Policy::new(&PolicyConfig {
            default: PolicyAction::Deny,
            rules,
        })
        .decide(MetaTool::ToolExecute, subject)
    };
    assert_eq!(decide(PolicyAction::Deny), Decision::Deny);
    assert_eq!(decide(PolicyAction::Allow), Decision::Deny);
}

#[test]
fn a_denied_server_shows_no_resources_or_prompts_either() {
    let source = Source {
        server: "work".into(),
        resources: vec![json!({"uri": "file:///a"})],
        prompts: vec![json!({"name": "p"})],
        ..Source::default()
    };
    let deny = PolicyRule {
        server: Some("work".into()),
        ..rule(PolicyAction::Deny)
    };
    let options = |rules| CatalogOptions {
        policy: PolicyConfig {
            default: PolicyAction::Allow,
            rules,
        },
        ..CatalogOptions::default()
    };
    let open = Catalog::build(vec![source.clone()], &options(Vec::new()), None).unwrap();
    assert_eq!((open.resources().len(), open.prompts().len()), (1, 1));
    let closed = Catalog::build(vec![source], &options(vec![deny]), None).unwrap();
    assert!(!closed.has_primitives());
}
