//! Our own cases of GCX1, in `tests/fixtures/gcx`: the kinds of a case's blocks say what is done with them.

use serde::Deserialize;
use serde_json::Value;
use wire::answers::layout_of;
use wire::gcx::{self, Error};
use wire::protocol::{
    Refusal, RequestError, Target, ToolRequest, decode_error, decode_tool_definitions, decode_tool_request,
    encode_error, encode_tool_definitions, encode_tool_request,
};

use super::pages::{self, Case};

/// At least as many cases a page.
const FLOOR: &[(&str, usize)] = &[
    ("escapes", 11),
    ("generic", 17),
    ("layouts", 16),
    ("nothing", 8),
    ("protocol", 12),
    ("reading", 10),
    ("refusals", 16),
    ("sections", 7),
];

#[test]
fn every_case_of_gcx_holds() {
    pages::check("gcx", FLOOR, run);
}

fn run(case: &Case) {
    let kinds = case.kinds();
    let word = |at: usize, start: &str| kinds[at].strip_prefix(start).map(str::to_owned);
    match kinds.as_slice() {
        ["json", "gcx"] => {
            let value: Value = serde_json::from_str(case.text(0)).unwrap();
            assert_eq!(gcx::to_string("example", &value).unwrap(), case.text(1));
            assert_eq!(gcx::from_str(case.text(1)).unwrap(), value);
            let one = gcx::to_string_in_one_section("example", &value).unwrap();
            assert_eq!(gcx::from_str(&one).unwrap(), value, "in one section: {one}");
        }
        ["gcx", "json"] => {
            let value: Value = serde_json::from_str(case.text(1)).unwrap();
            assert_eq!(gcx::from_str(case.text(0)).unwrap(), value);
        }
        ["gcx", "error"] => refused(gcx::from_slice(&case.blocks[0].content), case.text(1)),
        ["tool definitions", "gcx"] => {
            let given: Vec<(String, String)> = serde_json::from_str(case.text(0)).unwrap();
            let pairs = given.iter().map(|(name, scope)| (name.as_str(), scope.as_str()));
            assert_eq!(encode_tool_definitions(pairs).unwrap(), case.text(1));
            assert_eq!(decode_tool_definitions(case.text(1)).unwrap().len(), given.len());
        }
        ["tool request", "gcx"] => {
            let request = request(case.text(0));
            assert_eq!(encode_tool_request(&request).unwrap(), case.text(1));
            assert_eq!(decode_tool_request(case.text(1)).unwrap(), request);
        }
        ["refusal", "gcx"] => {
            let refusal: Value = serde_json::from_str(case.text(0)).unwrap();
            let text = |name: &str| refusal[name].as_str().unwrap().to_owned();
            let refusal = Refusal {
                code: text("code"),
                message: text("message"),
                detail: text("detail"),
            };
            assert_eq!(encode_error(&refusal).unwrap(), case.text(1));
            assert_eq!(decode_error(case.text(1)).unwrap(), refusal);
        }
        ["gcx", "definitions error"] => refused(decode_tool_definitions(case.text(0)), case.text(1)),
        ["gcx", "request error"] => match decode_tool_request(case.text(0)).unwrap_err() {
            RequestError::Refused(refusal) => assert_eq!(refusal.code, case.text(1).trim_end()),
            other => panic!("{other}"),
        },
        [answer, "gcx"] if answer.starts_with("answer ") => {
            let tool = word(0, "answer ").unwrap();
            let layout = layout_of(&tool).expect("a layout");
            let value: Value = serde_json::from_str(case.text(0)).unwrap();
            assert_eq!(gcx::to_string_with(layout, &value).unwrap(), case.text(1));
            assert_eq!(gcx::value_with(layout, case.text(1)).unwrap(), value);
            // The layout is found from the text alone.
            assert_eq!(wire::decode(case.text(1)).unwrap(), value);
        }
        ["gcx", error] if error.starts_with("answer error ") => {
            let layout = layout_of(&word(1, "answer error ").unwrap()).expect("a layout");
            refused(gcx::value_with(layout, case.text(0)), case.text(1));
        }
        other => panic!("no test has the blocks {other:?}"),
    }
}

/// That something failed: the class of the error, and the place if one is given.
#[track_caller]
fn refused<T>(result: Result<T, Error>, expected: &str) {
    let Err(error) = result else { panic!("accepted") };
    let expected = expected.trim_end();
    let place = format!("{:?} {}:{}", error.kind, error.line, error.column);
    let kind = format!("{:?}", error.kind);
    assert!(
        expected == place || expected == kind,
        "{place}, not {expected}: {error}"
    );
}

fn request(json: &str) -> ToolRequest {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Request {
        tool: String,
        repo: Option<String>,
        repos: Option<Vec<String>>,
    }
    let Request { tool, repo, repos } = serde_json::from_str(json).unwrap();
    let target = match (repo, repos) {
        (Some(repo), None) => Target::Repo(repo),
        (None, Some(repos)) => Target::FanOut(repos),
        (None, None) => Target::Workspace,
        _ => panic!("either one repository or a list"),
    };
    ToolRequest { tool, target }
}
