//! `trace`: chains between two ends, what runs from one on, who leads to one.

use codeintel::Workspace;
use codeintel::trace::{LAYOUT, Step, Trace, TraceFound, trace};

use crate::surface::{text, tree};

fn asked(workspace: &Workspace, from: &str, to: &str) -> TraceFound {
    let given = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    let ask = Trace {
        from: given(from),
        to: given(to),
        ..Trace::default()
    };
    trace(workspace, &ask).unwrap()
}

fn names(steps: &[Step]) -> Vec<&str> {
    steps.iter().map(|step| step.name.as_str()).collect()
}

const SERVER: &str = r#"package app

import "time"

type Server struct {
	leader bool
	store  Store
	logger *Logger
}

type Store interface {
	Save(id string) error
}

type Disk struct{}

func (d *Disk) Save(id string) error {
	flush(id)
	return nil
}

type Logger struct{}

func (l *Logger) Info(text string) {
	write(text)
}

func write(text string) {}

func flush(id string) {
	write(id)
	write(id)
	write(id)
}

func main() {
	s := &Server{store: &Disk{}}
	s.start()
}

func (s *Server) start() {
	s.logger.Info("start")
	if !s.leader {
		return
	}
	time.AfterFunc(time.Second, func() {
		s.expire("a")
	})
	s.each(s.expire)
}

func (s *Server) each(f func(string)) {
	f("a")
	s.legacyExpire("b")
}

func (s *Server) legacyExpire(id string) {
	s.expire(id)
}

func (s *Server) expire(id string) {
	if id == "" {
		s.logger.Info("none")
	} else {
		s.store.Save(id)
	}
	s.expire(id)
}
"#;

fn server() -> (tempfile::TempDir, Workspace) {
    tree(&[
        ("go.mod", "module example.com/app\n\ngo 1.22\n"),
        ("app.go", SERVER),
        (
            "app_test.go",
            "package app\n\nimport \"testing\"\n\nfunc TestExpire(t *testing.T) {\n\ts := &Server{}\n\ts.expire(\"a\")\n}\n",
        ),
    ])
}

#[test]
fn a_chain_is_told_with_its_lines_and_conditions() {
    let (_folder, workspace) = server();
    let found = asked(&workspace, "main", "flush");
    let chain = &found.chains[0];
    assert_eq!(
        names(&chain.steps),
        ["main", "Server.start", "Server.expire", "Disk.Save", "flush"]
    );
    let expire = &chain.steps[2];
    assert_eq!(
        (expire.path.as_str(), expire.line, expire.when.as_str()),
        ("app.go", 61, "unless !s.leader")
    );
    let save = &chain.steps[3];
    assert_eq!(
        (save.text.as_str(), save.when.as_str()),
        ("s.store.Save(id)", "else of if id == \"\"")
    );
    assert!(save.likely, "a call through an interface is inferred");
    assert!(found.account.inferred >= 1);
}

#[test]
fn what_runs_stands_in_the_order_of_the_source_with_the_rest_folded() {
    let (_folder, workspace) = server();
    let found = asked(&workspace, "Server.start", "");
    let shown = names(&found.steps);
    assert_eq!(shown[0], "Server.start");
    let at = |name: &str| shown.iter().position(|shown| *shown == name).unwrap();
    assert!(at("Server.expire") < at("Server.each"), "{shown:?}");
    assert!(!shown.contains(&"Logger.Info"), "logging is folded: {shown:?}");
    let folded: Vec<&str> = found.steps[0]
        .folded
        .iter()
        .map(|folded| folded.what.as_str())
        .collect();
    assert!(
        folded.contains(&"log and metrics") && folded.contains(&"external"),
        "{folded:?}"
    );
    assert!(
        found
            .steps
            .iter()
            .any(|step| step.name == "Server.expire" && step.again),
        "recursion is marked"
    );
    assert!(!shown.iter().any(|name| name.contains("Test")));
}

#[test]
fn who_leads_there_starts_at_entry_points_and_counts_tests() {
    let (_folder, workspace) = server();
    let found = asked(&workspace, "", "Server.expire");
    assert_eq!(found.steps[0].name, "Server.expire");
    let callers = names(&found.steps[1..]);
    assert!(
        callers.contains(&"Server.start") && callers.contains(&"Server.legacyExpire"),
        "{callers:?}"
    );
    let tests = found.steps[0]
        .folded
        .iter()
        .find(|folded| folded.what == "tests")
        .unwrap();
    assert_eq!(tests.count, 1);
    assert_eq!(found.chains[0].steps[0].hop, "main");
    assert_eq!(names(&found.chains[0].steps), ["main", "Server.start", "Server.expire"]);
}

#[test]
fn a_call_of_a_parameter_leads_to_what_was_passed_there() {
    let (_folder, workspace) = tree(&[(
        "run.py",
        r#"
def apply(task):
    return task()

def one():
    first()

def two():
    second()

def start_one():
    apply(one)

def start_two():
    apply(two)

def first(): pass
def second(): pass
"#,
    )]);
    let found = asked(&workspace, "start_one", "first");
    assert_eq!(names(&found.chains[0].steps), ["start_one", "one", "first"]);
    assert_eq!(found.chains[0].steps[1].hop, "handed to apply");
    let found = asked(&workspace, "start_one", "second");
    assert!(found.chains.is_empty(), "{:?}", found.chains);
    assert!(found.notes[0].starts_with("no chain"), "{:?}", found.notes);
    assert_eq!(names(&found.steps), ["second", "two"], "who leads to the end");
}

#[test]
fn ends_are_said_first_where_they_may_be_several() {
    let (_folder, workspace) = tree(&[
        ("a.py", "def run():\n    stop()\n\ndef stop(): pass\n"),
        ("b.py", "def run():\n    pass\n"),
    ]);
    let found = asked(&workspace, "run", "");
    assert!(found.notes[0].contains("also named so"), "{:?}", found.notes);
    let written = text(&found, &LAYOUT);
    assert!(written.starts_with("note: `run` was taken for a.py::run"), "{written}");
    // Of two ends, one tells what the other means.
    let found = asked(&workspace, "run", "stop");
    assert!(
        found.notes[0].starts_with("`run` names 2 functions"),
        "{:?}",
        found.notes
    );
    assert_eq!(found.chains[0].steps[0].path, "a.py");
    assert!(trace(&workspace, &Trace::default()).is_err());
    for bad in ["nowhere.at_all", "", "a.py:999"] {
        let ask = Trace {
            from: Some(bad.to_owned()),
            ..Trace::default()
        };
        assert!(trace(&workspace, &ask).is_err(), "{bad}");
    }
}

#[test]
fn through_and_depth_bound_a_chain() {
    let (_folder, workspace) = server();
    let ask = Trace {
        from: Some("Server.start".to_owned()),
        to: Some("flush".to_owned()),
        through: Some("Server.legacyExpire".to_owned()),
        ..Trace::default()
    };
    let found = trace(&workspace, &ask).unwrap();
    assert!(names(&found.chains[0].steps).contains(&"Server.legacyExpire"));
    let short = Trace {
        depth: Some(1),
        through: None,
        ..ask
    };
    assert!(trace(&workspace, &short).unwrap().chains.is_empty());
    let deep = Trace {
        depth: Some(1_000),
        ..short
    };
    assert!(trace(&workspace, &deep).is_err());
}

#[test]
fn a_route_is_an_end() {
    let (_folder, workspace) = tree(&[(
        "app.py",
        "from flask import Flask\napp = Flask(__name__)\n\n@app.route(\"/users/<id>\", methods=[\"GET\"])\ndef user(id):\n    return load(id)\n\ndef load(id):\n    return id\n",
    )]);
    let found = asked(&workspace, "GET /users/{id}", "load");
    assert_eq!(names(&found.chains[0].steps), ["user", "load"]);
}

#[test]
fn the_same_question_has_the_same_answer() {
    let (_folder, workspace) = server();
    for (from, to) in [("main", "flush"), ("main", ""), ("", "write")] {
        let once = asked(&workspace, from, to);
        assert_eq!(once, asked(&workspace, from, to));
        let value = serde_json::to_value(&once).unwrap();
        assert_eq!(
            serde_json::from_value::<TraceFound>(value).unwrap(),
            once,
            "JSON loses nothing"
        );
    }
}

#[test]
fn who_writes_a_value_under_which_condition() {
    let (_folder, workspace) = server();
    let (_other, counted) = tree(&[(
        "count.py",
        "class Counter:\n    def __init__(self):\n        self.state = 'new'\n\n    def close(self, force):\n        if force:\n            self.state = 'lost'\n\n    def show(self):\n        return self.state\n",
    )]);
    let found = asked(&counted, "", "Counter.state");
    assert_eq!(names(&found.steps[1..]), ["Counter.__init__", "Counter.close"]);
    assert_eq!(found.steps[2].text, "self.state = 'lost'");
    assert_eq!(found.steps[2].when, "if force");
    let found = asked(&workspace, "", "Server.leader");
    assert!(found.steps[0].hop.starts_with("never written"), "{:?}", found.steps[0]);
    assert_eq!(names(&found.steps[1..]), ["Server.start"]);
}

#[test]
fn every_call_of_a_step_is_told_and_what_passes_on_is_no_getter() {
    let go = r#"package app

type Handler struct{ pool *Pool }

type Pool struct{}

func (p *Pool) Serve() {}

func (h *Handler) Serve(n int) {
	if n == 0 {
		h.again()
	}
	n++
	h.again()
}

func (h *Handler) again() {
	h.pass()
}

func (h *Handler) pass() {
	h.dial()
}

func (h *Handler) dial() {
	one()
	two()
	one()
	two()
}

func one() {
	two()
	two()
	two()
	two()
}

func two() {
}
"#;
    let (_folder, workspace) = tree(&[("app.go", go), ("go.mod", "module app\n")]);
    let found = asked(&workspace, "Serve", "Handler.dial");
    assert!(
        found.notes[0].contains("`Serve` names 2 functions"),
        "{:?}",
        found.notes
    );
    assert_eq!(
        names(&found.chains[0].steps),
        ["Handler.Serve", "Handler.again", "Handler.pass", "Handler.dial"]
    );
    let again = &found.chains[0].steps[1];
    assert_eq!((again.call, again.when.as_str()), (11, "if n == 0"));
    assert_eq!(again.also.iter().map(|site| site.line).collect::<Vec<_>>(), [14]);
    assert!(text(&found, &LAYOUT).contains("; also at 14"));

    let found = asked(&workspace, "Handler.Serve", "");
    assert!(
        names(&found.steps).contains(&"Handler.pass"),
        "{:?}",
        names(&found.steps)
    );

    // The only function of that name, under another owner: taken, and said.
    let found = asked(&workspace, "Handler.Serve", "Pool.dial");
    assert!(
        found.notes.iter().any(|note| note.contains("the only `dial`")),
        "{:?}",
        found.notes
    );
    assert_eq!(found.chains.len(), 1);
}

#[test]
fn what_is_compared_is_not_handed_over() {
    let c = r#"
typedef int (*command)(int);

int store(int a) { return a; }

int debug_command(int a) {
    return store(a);
}

int process(command proc, int a) {
    if (proc == debug_command)
        return 0;
    return a;
}
"#;
    let (_folder, workspace) = tree(&[("server.c", c)]);
    let found = asked(&workspace, "process", "store");
    assert!(found.chains.is_empty(), "{:?}", found.chains);
    assert!(found.notes[0].starts_with("no chain"), "{:?}", found.notes);
    let found = asked(&workspace, "process", "");
    assert!(
        !names(&found.steps).contains(&"debug_command"),
        "{:?}",
        names(&found.steps)
    );
}
