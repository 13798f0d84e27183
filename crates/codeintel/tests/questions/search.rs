//! The search questions over a real index: what they find, how they page, and what they say of input that makes no sense.

use std::fs;
use std::path::Path;
use std::sync::Arc;

use codeintel::search_code::{CodeFound, SearchCode, SearchDocs, hybrid_search, search_code, search_docs};
use codeintel::search_symbols::{Search, search_symbols};
use codeintel::search_text::{SearchText, search_text};
use codeintel::{Derived, QuestionError, Repository, Workspace};
use index::build::{Indexer, Options};
use wire::answers::TextFound;

const FILES: &[(&str, &str)] = &[
    (
        "app/limits.py",
        "import time\n\n\ndef rate_limit(user):\n    \"\"\"Refuses a user that asks too often.\"\"\"\n    now = time.time()\n    \
         return now - user.last_request < 1\n\n\nclass RateLimiter:\n    def allow(self, user):\n        return not rate_limit(user)\n",
    ),
    (
        "app/mail.py",
        "def send_welcome_mail(address):\n    return deliver(address, 'Welcome')\n",
    ),
    (
        "tests/test_limits.py",
        "from app.limits import rate_limit\n\ndef test_rate_limit():\n    assert rate_limit(None)\n",
    ),
    (
        "docs/operations.md",
        "# Operations\n\n## Throttling\n\nRequests are refused when a user asks too often.\n\n## Backups\n\nEvery night.\n",
    ),
    ("logo.png", "\u{89}PNG\0\0\0"),
];

fn tree(files: &[(&str, &str)]) -> (tempfile::TempDir, Workspace) {
    let directory = tempfile::tempdir().unwrap();
    for (path, text) in files {
        let path = directory.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    let workspace = indexed(directory.path());
    (directory, workspace)
}

fn indexed(root: &Path) -> Workspace {
    let snapshot = Indexer::open(root, Options::default())
        .unwrap()
        .build()
        .unwrap()
        .snapshot;
    Workspace::new(vec![Repository {
        name: "app".to_string(),
        root: root.to_path_buf(),
        snapshot: Arc::new(snapshot),
        incomplete: None,
        derived: Derived::default(),
    }])
}

fn code(workspace: &Workspace, query: &str) -> CodeFound {
    let ask = SearchCode {
        query: query.to_string(),
        ..SearchCode::default()
    };
    search_code(workspace, &ask).unwrap()
}

fn text(workspace: &Workspace, ask: SearchText) -> TextFound {
    search_text(workspace, &ask).unwrap()
}

fn problem(error: QuestionError) -> String {
    error.to_string()
}

#[test]
fn code_is_found_by_what_it_does() {
    let (_directory, workspace) = tree(FILES);
    let found = code(&workspace, "refuse users that send too many requests");
    // The guide says nearly the same words and stands behind the code all the same.
    let first = &found.results[0];
    assert_eq!(first.id, "app/limits.py::rate_limit");
    assert_eq!(
        (first.symbol.kind.as_str(), first.symbol.language.as_str()),
        ("function", "python")
    );
    assert_eq!(first.symbol.location.start_line, 4);
    assert!(
        first.snippet.contains("Refuses a user that asks too often"),
        "{}",
        first.snippet
    );
    assert!(first.why.is_none() && found.incomplete.is_none());
    assert!(found.searched.ends_with("of 4 files"), "{}", found.searched);

    let ask = SearchCode {
        query: "rate_limit".to_string(),
        ..SearchCode::default()
    };
    let hybrid = hybrid_search(&workspace, &ask).unwrap();
    let ids: Vec<&str> = hybrid.results.iter().map(|hit| hit.id.as_str()).collect();
    assert_eq!(ids[0], "app/limits.py::rate_limit");
    let test = hybrid.results.iter().find(|hit| hit.id.starts_with("tests/")).unwrap();
    let why = test.why.as_ref().unwrap();
    assert!(why.factor < 1.0, "tests stand behind what they test: {why:?}");
    assert!(hybrid.results[0].why.as_ref().unwrap().name > 0.5);
}

#[test]
fn filters_and_pages_hold() {
    let (_directory, workspace) = tree(FILES);
    let only = SearchCode {
        query: "rate limit of a user".to_string(),
        kind: Some("class".to_string()),
        path: Some("app/".to_string()),
        language: Some("python".to_string()),
        ..SearchCode::default()
    };
    let found = search_code(&workspace, &only).unwrap();
    assert_eq!(
        (found.total, found.results[0].id.as_str()),
        (1, "app/limits.py::RateLimiter")
    );

    let mut ids = Vec::new();
    let mut ask = SearchCode {
        query: "user".to_string(),
        limit: Some(2),
        snippet_lines: Some(0),
        ..SearchCode::default()
    };
    let all = code(&workspace, "user");
    loop {
        let page = search_code(&workspace, &ask).unwrap();
        assert_eq!(page.total, all.total);
        assert!(page.results.iter().all(|hit| hit.snippet.is_empty()));
        ids.extend(page.results.into_iter().map(|hit| hit.id));
        assert_eq!(page.truncated, page.next_cursor.is_some());
        match page.next_cursor {
            Some(cursor) => ask.cursor = Some(cursor),
            None => break,
        }
    }
    assert_eq!(ids.len(), all.total);
    assert_eq!(
        ids[..all.results.len()],
        all.results.iter().map(|hit| hit.id.clone()).collect::<Vec<_>>()
    );
}

#[test]
fn documents_are_searched_alone() {
    let (_directory, workspace) = tree(FILES);
    let ask = SearchDocs {
        query: "too many requests".to_string(),
        ..SearchDocs::default()
    };
    let found = search_docs(&workspace, &ask).unwrap();
    assert_eq!(found.results[0].id, "docs/operations.md::Operations.Throttling");
    assert!(found.results.iter().all(|hit| hit.symbol.language == "markdown"));
}

/// What earlier searches learned of a file rules it out only as long as it is the same: an edit before the question is seen, even one
/// that leaves size and name as they were.
#[test]
fn a_file_that_was_ruled_out_is_read_once_it_changes() {
    let (directory, workspace) = tree(FILES);
    let count = |query: &str| {
        let ask = SearchText {
            query: query.to_string(),
            ..SearchText::default()
        };
        text(&workspace, ask).total
    };
    // What was written a moment ago is not remembered.
    std::thread::sleep(std::time::Duration::from_millis(2100));
    assert_eq!((count("send_welcome_mail"), count("send_farewell_now")), (1, 0));
    let path = directory.path().join("app/mail.py");
    let before = fs::read_to_string(&path).unwrap();
    let after = before.replace("send_welcome_mail", "send_farewell_now");
    assert_eq!(before.len(), after.len());
    fs::write(&path, &after).unwrap();
    assert_eq!((count("send_welcome_mail"), count("send_farewell_now")), (0, 1));
    // Another file that takes its place, with a time as old as the first.
    let other = directory.path().join("app/new.py");
    fs::write(&other, &before).unwrap();
    let old = fs::metadata(directory.path().join("app/limits.py"))
        .unwrap()
        .modified()
        .unwrap();
    fs::File::options()
        .write(true)
        .open(&other)
        .unwrap()
        .set_modified(old)
        .unwrap();
    fs::rename(&other, &path).unwrap();
    assert_eq!((count("send_welcome_mail"), count("send_farewell_now")), (1, 0));
}

#[test]
fn lines_are_found_by_text_and_pattern() {
    let (directory, workspace) = tree(FILES);
    let ask = |query: &str| SearchText {
        query: query.to_string(),
        ..SearchText::default()
    };
    let found = text(&workspace, ask("rate_limit(user)"));
    let places: Vec<(&str, u64, Option<&str>)> = found
        .matches
        .iter()
        .map(|line| (line.path.as_str(), line.line, line.symbol.as_deref()))
        .collect();
    assert_eq!(
        places,
        [
            ("app/limits.py", 4, Some("rate_limit")),
            ("app/limits.py", 12, Some("RateLimiter.allow"))
        ]
    );
    assert_eq!(
        (found.total, found.files, found.searched, found.truncated),
        (2, 1, 4, false)
    );
    let found = text(
        &workspace,
        SearchText {
            regex: true,
            path: Some("app/".to_string()),
            limit: Some(1),
            ..ask(r"^\s*def \w+_mail")
        },
    );
    assert_eq!((found.total, found.matches[0].path.as_str()), (1, "app/mail.py"));
    let found = text(
        &workspace,
        SearchText {
            limit: Some(1),
            ..ask("return")
        },
    );
    assert!(found.truncated && found.total == 3 && found.matches.len() == 1);
    let next = SearchText {
        limit: Some(1),
        cursor: found.next_cursor,
        ..ask("return")
    };
    assert_ne!(text(&workspace, next).matches, found.matches);
    assert_eq!(text(&workspace, ask("nowhere at all")).total, 0);

    // A file that changed is searched as it is, and said to have changed.
    fs::write(
        directory.path().join("app/mail.py"),
        "# new first line\ndef send_welcome_mail(address):\n    pass\n",
    )
    .unwrap();
    fs::remove_file(directory.path().join("tests/test_limits.py")).unwrap();
    let found = text(&workspace, ask("send_welcome"));
    assert_eq!((found.matches[0].line, found.matches[0].symbol.as_deref()), (2, None));
    let note = found.incomplete.unwrap();
    assert!(
        note.contains("1 files changed") && note.contains("1 files are gone"),
        "{note}"
    );
    // Its code gives no snippet, because the lines would be wrong.
    let found = code(&workspace, "send_welcome_mail");
    assert!(found.results[0].snippet.is_empty());
}

#[test]
fn names_are_found_whatever_part_is_known() {
    let (_directory, workspace) = tree(FILES);
    let ids = |query: &str| {
        let ask = Search {
            query: query.to_string(),
            ..Search::default()
        };
        let found = search_symbols(&workspace, &ask).unwrap();
        found.results.into_iter().map(|symbol| symbol.id).collect::<Vec<_>>()
    };
    assert_eq!(ids("rate_limit")[0], "app/limits.py::rate_limit");
    assert_eq!(ids("RATELIMITER"), ["app/limits.py::RateLimiter"]);
    assert_eq!(ids("limiter rate"), ["app/limits.py::RateLimiter"]);
    assert_eq!(ids("welcome"), ["app/mail.py::send_welcome_mail"]);
    assert_eq!(ids("elcom"), ["app/mail.py::send_welcome_mail"]);
    assert_eq!(ids("send_welcom_mial"), ["app/mail.py::send_welcome_mail"]);
    assert!(ids("zzzzzzzzzzzz").is_empty());
    // Owners and the path may hold some of the words, in any order.
    assert_eq!(ids("allow limiter"), ["app/limits.py::RateLimiter.allow"]);
    assert_eq!(ids("mail app"), ["app/mail.py::send_welcome_mail"]);
    let several = Search {
        query: "refuse impatient people".to_string(),
        ..Search::default()
    };
    let error = search_symbols(&workspace, &several).unwrap_err().to_string();
    assert!(
        error.contains("`refuse impatient people`") && error.contains("search_code"),
        "{error}"
    );
}

#[test]
fn bad_input_is_refused_in_words() {
    let (_directory, workspace) = tree(FILES);
    let code_error = |ask: SearchCode| problem(search_code(&workspace, &ask).unwrap_err());
    let query = |query: &str| SearchCode {
        query: query.to_string(),
        ..SearchCode::default()
    };
    assert!(code_error(query("  ")).contains("is empty"));
    assert!(code_error(query(&"x ".repeat(500_000))).contains("1000000 bytes"));
    let unknown = SearchCode {
        kind: Some("gadget".to_string()),
        ..query("user")
    };
    assert!(code_error(unknown).contains("no kind `gadget`"));
    let unknown = SearchCode {
        language: Some("cobol".to_string()),
        ..query("user")
    };
    assert!(code_error(unknown).contains("there is markdown, python"));
    // What holds no word is searched and not found, and the answer says where it looked.
    let nothing = code(&workspace, "?!");
    assert_eq!((nothing.total, nothing.results.len()), (0, 0));
    assert!(nothing.searched.contains("chunks of 4 files"));

    let text_error = |ask: SearchText| problem(search_text(&workspace, &ask).unwrap_err());
    let pattern = |query: &str| SearchText {
        query: query.to_string(),
        regex: true,
        ..SearchText::default()
    };
    assert!(text_error(pattern("")).contains("is empty"));
    assert!(text_error(pattern("a(b")).contains("unclosed group"));
    assert!(text_error(pattern("(a{1000}){1000}")).contains("too large"));
    assert!(text_error(pattern(&"a".repeat(1 << 20))).contains("1048576 bytes"));
    let binary = SearchText {
        path: Some("logo.png".to_string()),
        ..pattern("PNG")
    };
    let said = text_error(binary);
    assert!(
        said.contains("no file `logo.png`") && said.contains("skipped"),
        "{said}"
    );
}

/// Meaning alone always finds something: that it is no answer is said.
#[test]
fn a_word_that_is_nowhere_is_said_to_be() {
    let (_directory, workspace) = tree(FILES);
    let found = code(&workspace, "zzqxnonsense");
    assert!(!found.results.is_empty());
    assert!(
        found
            .remark
            .is_some_and(|remark| remark.contains("no word of the query"))
    );
    assert_eq!(code(&workspace, "zzqxnonsense throttling").remark, None);
}
