//! Servers that die, hang, babble and grow: every call returns in time with an answer or a reason, the server comes back, and no
//! process is left behind.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use guardian::trust::Trust;
use lsp::{Config, Place, RequestError, Server, Servers, State};
use testkit::fake_language_server::{log, program};

/// A project of two files and a server of this kind.
struct Project {
    folder: tempfile::TempDir,
    servers: Servers,
}

impl Project {
    fn new(script: &str) -> Project {
        Project::with(script, |config| config)
    }

    fn with(script: &str, change: impl Fn(Config) -> Config) -> Project {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("fake-server.json"), script).unwrap();
        std::fs::write(folder.path().join("a.toy"), "é😀 greet = 1\nWRONG\n").unwrap();
        std::fs::write(folder.path().join("b.toy"), "use greet\n").unwrap();
        let table = format!(
            "[[server]]\nname = \"fake\"\nlanguages = {{ toy = \"toy\" }}\ncommands = [[{:?}]]\n\
             ready = {{ notification = \"experimental/serverStatus\", member = \"quiescent\", equals = true }}\n",
            program("fake_language_server")
        );
        let config = Config {
            back_off: Duration::from_millis(50),
            hung: Duration::from_millis(300),
            start: Duration::from_secs(10),
            trust: Trust::everything(),
            // It keeps its log in the tree.
            sandbox: false,
            ..Config::parse(&table).unwrap()
        };
        Project {
            folder,
            servers: Servers::new(change(config)),
        }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().canonicalize().unwrap()
    }

    fn file(&self) -> PathBuf {
        self.root().join("a.toy")
    }

    fn server(&self) -> Server {
        let server = self.servers.server(&self.root(), "toy", None).unwrap();
        server.prepare(&self.file(), "toy").unwrap();
        server
    }

    fn references(&self, patience: Duration) -> Result<usize, RequestError> {
        let place = Place { line: 1, column: 7 };
        let found = self
            .server()
            .references(&self.file(), place, true, Instant::now() + patience)?;
        Ok(found.len())
    }

    fn ready(&self) -> State {
        self.server().wait_ready(Instant::now() + Duration::from_secs(10))
    }
}

const LONG: Duration = Duration::from_secs(10);

fn is_alive(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    // A zombie is dead, only not collected.
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

fn wait_dead(process: u32) {
    let deadline = Instant::now() + LONG;
    while is_alive(process) {
        assert!(Instant::now() < deadline, "process {process} is still there");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn numbers(root: &Path, word: &str) -> Vec<u32> {
    let log = log(root);
    log.lines()
        .filter_map(|line| line.strip_prefix(word)?.trim().parse().ok())
        .collect()
}

#[test]
fn a_server_that_settles_is_asked_until_it_says_the_same_twice() {
    let short = r#"{"faults": {"textDocument/references": "short"}}"#;
    let settles = |mut config: Config| {
        config.servers[0].settles = true;
        config
    };
    let project = Project::with(short, settles);
    project.ready();
    assert_eq!(project.references(LONG).unwrap(), 2);
    let project = Project::new(short);
    project.ready();
    assert_eq!(project.references(LONG).unwrap(), 1, "others are asked once");
}

#[test]
fn nothing_runs_before_the_first_question() {
    let project = Project::new("{}");
    assert_eq!(project.servers.at(&project.root(), "toy"), State::Idle);
    assert!(log(&project.root()).is_empty());
    assert!(matches!(
        project.servers.at(&project.root(), "latin"),
        State::Absent { .. }
    ));
    assert_eq!(project.ready(), State::Ready { partial: None });
    assert_eq!(project.references(LONG).unwrap(), 2);
    let found = project
        .server()
        .definition(&project.file(), Place { line: 1, column: 8 }, Instant::now() + LONG)
        .unwrap();
    assert_eq!(
        found[0].range.start,
        Place { line: 1, column: 7 },
        "UTF-16 columns become bytes"
    );
    assert_eq!(project.server().starts(), 1, "one server for all");
}

#[test]
fn not_ready_is_said_until_the_server_says_otherwise() {
    let project = Project::new(r#"{"ready": "never"}"#);
    project.server();
    let state = project.server().wait_ready(Instant::now() + Duration::from_millis(700));
    assert!(matches!(state, State::Starting { .. }), "{state:?}");
}

#[test]
fn a_server_that_dies_during_a_request_is_back_and_asked_again() {
    let project = Project::new(r#"{"faults": {"textDocument/references": "die"}, "once": true}"#);
    assert_eq!(project.references(LONG).unwrap(), 2, "replayed");
    assert_eq!(project.server().starts(), 2);
    let log = log(&project.root());
    assert_eq!(log.matches("textDocument/references").count(), 2);
    assert_eq!(
        log.matches("textDocument/didOpen").count(),
        2,
        "documents are opened again: {log}"
    );
}

#[test]
fn one_that_came_back_is_not_asked_before_it_has_read_the_project() {
    let dies = r#""faults": {"textDocument/references": "die"}, "once": true"#;
    let project = Project::new(&format!("{{{dies}}}"));
    assert!(matches!(project.ready(), State::Ready { .. }));
    std::fs::write(
        project.root().join("fake-server.json"),
        format!("{{{dies}, \"ready\": \"never\"}}"),
    )
    .unwrap();
    let error = project.references(Duration::from_secs(1)).unwrap_err();
    assert!(error.to_string().contains("reading the project"), "{error}");
    assert_eq!(project.server().starts(), 2);
    assert_eq!(log(&project.root()).matches("textDocument/references").count(), 1);
}

#[test]
fn one_that_failed_is_waited_for_until_its_next_start() {
    let project = Project::with(r#"{"faults": {"initialize": "die"}, "once": true}"#, |config| Config {
        back_off: Duration::from_millis(600),
        ..config
    });
    assert!(
        matches!(project.ready(), State::Failed { .. }),
        "a first failure is said at once"
    );
    let state = project.server().wait_ready(Instant::now() + Duration::from_millis(100));
    assert!(
        matches!(state, State::Failed { .. }),
        "there is no time for another start: {state:?}"
    );
    assert!(matches!(project.ready(), State::Ready { .. }));
    assert_eq!(project.server().starts(), 2);
}

#[test]
fn one_that_always_dies_is_a_reason_and_tried_later_each_time() {
    let project = Project::new(r#"{"faults": {"textDocument/references": "die"}}"#);
    let error = project.references(LONG).unwrap_err();
    assert!(error.to_string().contains("exit status: 3"), "{error}");
    assert_eq!(
        log(&project.root()).matches("textDocument/references").count(),
        2,
        "replayed once, not for ever"
    );
}

#[test]
fn one_that_cannot_begin_is_a_reason() {
    let project = Project::new(r#"{"faults": {"initialize": "die"}}"#);
    project.server();
    let state = project.ready();
    assert!(
        matches!(&state, State::Failed { why, .. } if why.contains("did not begin")),
        "{state:?}"
    );
    assert!(project.references(Duration::from_millis(300)).is_err());
}

#[test]
fn a_late_request_is_cancelled_and_the_server_stays() {
    let project = Project::with(r#"{"faults": {"textDocument/references": "ignore"}}"#, |config| {
        Config { hung: LONG, ..config }
    });
    project.ready();
    let began = Instant::now();
    let error = project.references(Duration::from_millis(200)).unwrap_err();
    assert!(matches!(error, RequestError::Timeout { .. }), "{error}");
    assert!(began.elapsed() < Duration::from_secs(2));
    let hover = project
        .server()
        .hover(&project.file(), Place { line: 1, column: 8 }, Instant::now() + LONG);
    assert_eq!(hover.unwrap().as_deref(), Some("greet"));
    assert!(log(&project.root()).contains("$/cancelRequest"));
    assert_eq!(project.server().starts(), 1);
}

#[test]
fn a_hung_server_is_given_up_and_replaced() {
    let project = Project::new(r#"{"faults": {"textDocument/references": "hang"}, "once": true}"#);
    project.ready();
    let first = project.server().process_group().unwrap();
    assert!(project.references(Duration::from_millis(300)).is_err());
    wait_dead(first);
    assert_eq!(project.references(LONG).unwrap(), 2, "the next one answers");
    assert_eq!(project.server().starts(), 2);
}

#[test]
fn a_server_edits_nothing_by_itself() {
    let project = Project::new(r#"{"faults": {"textDocument/references": "edit"}}"#);
    project.ready();
    let before = std::fs::read_to_string(project.file()).unwrap();
    assert_eq!(project.references(LONG).unwrap(), 2);
    let deadline = Instant::now() + LONG;
    while !log(&project.root()).contains("answered {\"applied\":false") {
        assert!(Instant::now() < deadline, "{}", log(&project.root()));
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(std::fs::read_to_string(project.file()).unwrap(), before);
}

#[test]
fn a_babbling_server_is_replaced() {
    let project = Project::new(r#"{"faults": {"textDocument/references": "garbage"}, "once": true}"#);
    assert_eq!(project.references(LONG).unwrap(), 2);
    assert_eq!(project.server().starts(), 2);
}

#[test]
fn a_server_over_its_memory_is_ended_with_the_reason() {
    let project = Project::with(
        r#"{"faults": {"textDocument/hover": "grow"}, "once": true}"#,
        |config| Config {
            memory: 150 << 20,
            ..config
        },
    );
    project.ready();
    let first = project.server().process_group().unwrap();
    let place = Place { line: 1, column: 8 };
    let hover = project.server().hover(&project.file(), place, Instant::now() + LONG);
    assert_eq!(hover.unwrap().as_deref(), Some("greet"), "asked again of the next one");
    wait_dead(first);
    assert!(project.server().memory() < 150 << 20);
}

#[test]
fn an_idle_server_leaves_and_comes_back_when_asked() {
    let project = Project::with("{}", |config| Config {
        idle: Duration::from_millis(300),
        ..config
    });
    project.ready();
    let first = project.server().process_group().unwrap();
    wait_dead(first);
    let deadline = Instant::now() + LONG;
    while project.servers.at(&project.root(), "toy") != State::Idle {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(log(&project.root()).contains("shutdown"), "told in order");
    assert_eq!(project.references(LONG).unwrap(), 2);
}

#[test]
fn what_a_server_starts_ends_with_it() {
    let project = Project::new(r#"{"child": true}"#);
    project.ready();
    let root = project.root();
    let child = numbers(&root, "child")[0];
    assert!(is_alive(child));
    project.servers.stop();
    wait_dead(child);
}

#[test]
fn diagnostics_are_of_the_text_asked_about() {
    let project = Project::new("{}");
    let server = project.server();
    let soon = || Instant::now() + LONG;
    assert_eq!(server.diagnostics(&project.file(), soon()).unwrap().len(), 1);
    std::fs::write(project.file(), "greet = 1\n\nWRONG\nWRONG\n").unwrap();
    server.prepare(&project.file(), "toy").unwrap();
    let found = server.diagnostics(&project.file(), soon()).unwrap();
    assert_eq!(
        found.iter().map(|finding| finding.range.start.line).collect::<Vec<_>>(),
        [3, 4]
    );
}

#[test]
fn an_overlay_is_seen_by_nobody_else_and_ends() {
    let project = Project::new("{}");
    project.ready();
    let server = project.server();
    let soon = || Instant::now() + LONG;
    let mut overlay = server.overlay(soon()).unwrap();
    overlay.set(&project.file(), "toy", "fine\n");
    assert_eq!(overlay.diagnostics(&project.file(), soon()).unwrap().len(), 0);
    assert!(project.references(Duration::from_millis(100)).is_err(), "others wait");
    assert!(server.overlay(Instant::now() + Duration::from_millis(50)).is_err());
    drop(overlay);
    server.prepare(&project.file(), "toy").unwrap();
    assert_eq!(
        server.diagnostics(&project.file(), soon()).unwrap().len(),
        1,
        "the file is as it was"
    );
    assert_eq!(
        std::fs::read_to_string(project.file()).unwrap(),
        "é😀 greet = 1\nWRONG\n"
    );
}

/// The process that holds the servers is killed outright: nothing of them may be left. This test starts itself as that process.
#[test]
fn no_server_outlives_a_killed_process() {
    const ROOT: &str = "LACON_TEST_KILLED_ROOT";
    if let Some(root) = std::env::var_os(ROOT) {
        let project = Project::new(r#"{"child": true}"#);
        project.ready();
        std::fs::write(PathBuf::from(root).join("log"), log(&project.root())).unwrap();
        std::thread::sleep(Duration::from_secs(60));
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let mut holder = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "no_server_outlives_a_killed_process"])
        .env(ROOT, folder.path())
        .stdout(std::process::Stdio::null())
        .stderr(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let deadline = Instant::now() + LONG;
    let log = loop {
        match std::fs::read_to_string(folder.path().join("log")) {
            Ok(log) if log.contains("started") => break log,
            _ => assert!(Instant::now() < deadline),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let processes: Vec<u32> = log
        .lines()
        .filter_map(|line| {
            line.strip_prefix("started ")
                .or(line.strip_prefix("child "))?
                .parse()
                .ok()
        })
        .collect();
    assert_eq!(processes.len(), 2, "{log}");
    assert!(processes.iter().all(|process| is_alive(*process)));
    holder.kill().unwrap();
    holder.wait().unwrap();
    for process in processes {
        wait_dead(process);
    }
}
