//! Hops that calls do not show: one fixture for each family, seen from both ends, with a homonym beside it that must not be joined.

use codeintel::Workspace;
use codeintel::trace::{Trace, trace};

use crate::surface::tree;

/// How `from` leads to `to` in one hop: the words for it, or nothing.
fn hop(workspace: &Workspace, from: &str, to: &str) -> Option<String> {
    let ask = Trace {
        from: Some(from.to_owned()),
        to: Some(to.to_owned()),
        ..Trace::default()
    };
    let found = trace(workspace, &ask).unwrap();
    let chain = found.chains.first()?;
    Some(
        chain
            .steps
            .iter()
            .skip(1)
            .map(|step| step.hop.as_str())
            .collect::<Vec<_>>()
            .join(" > "),
    )
}

/// Who leads to `to`, by name.
fn callers(workspace: &Workspace, to: &str) -> Vec<String> {
    let ask = Trace {
        to: Some(to.to_owned()),
        ..Trace::default()
    };
    let found = trace(workspace, &ask).unwrap();
    found.steps.iter().skip(1).map(|step| step.name.clone()).collect()
}

const GO_MOD: (&str, &str) = ("go.mod", "module example.com/app\n\ngo 1.22\n");

#[test]
fn a_method_named_in_a_string() {
    let (_folder, workspace) = tree(&[
        GO_MOD,
        (
            "app.go",
            r#"package app

type Node struct{}
type Args struct{}

func (n *Node) Update(args *Args, reply *Args) error { apply(); return nil }

// Not of the shape that is called by name.
func (n *Node) Title() string { return "" }

func apply() {}

type Client struct{}

func (c *Client) RPC(method string, args, reply any) error { return nil }

type Printer struct{}

func (p *Printer) Print(text string, args, reply any) {}

func beat(c *Client) { c.RPC("Node.Update", nil, nil) }

func title(c *Client) { c.RPC("Node.Title", nil, nil) }

func show(p *Printer) { p.Print("Node.Update", nil, nil) }
"#,
        ),
    ]);
    assert_eq!(
        hop(&workspace, "beat", "Node.Update").as_deref(),
        Some("by name \"Node.Update\"")
    );
    assert!(hop(&workspace, "beat", "apply").is_some());
    assert_eq!(hop(&workspace, "show", "Node.Update"), None);
    assert_eq!(hop(&workspace, "title", "Node.Title"), None);
    assert_eq!(callers(&workspace, "Node.Update"), ["beat"]);
}

#[test]
fn events_of_one_emitter() {
    let (_folder, workspace) = tree(&[
        (
            "bus.ts",
            "import { EventEmitter } from 'events';\nexport const orders = new EventEmitter();\nexport const users = new EventEmitter();\n",
        ),
        (
            "send.ts",
            "import { orders, users } from './bus';\nexport function placed() { orders.emit('created', 1); }\nexport function joined() { users.emit('created', 1); }\n",
        ),
        (
            "hear.ts",
            "import { orders } from './bus';\nexport function bill(id: number) { return id; }\nexport function listen() {\n  orders.on('created', bill);\n}\n",
        ),
        (
            "own.ts",
            "import { EventEmitter } from 'events';\nexport class Job extends EventEmitter {\n  start() { this.emit('done'); }\n  watch() { this.on('done', () => this.close()); }\n  close() {}\n}\nexport class Other extends EventEmitter {\n  start() { this.emit('done'); }\n}\n",
        ),
    ]);
    assert_eq!(
        hop(&workspace, "placed", "bill").as_deref(),
        Some("event \"created\", heard at 4")
    );
    assert_eq!(hop(&workspace, "joined", "bill"), None);
    assert!(callers(&workspace, "bill").contains(&"placed".to_owned()));
    assert!(hop(&workspace, "Job.start", "Job.close").is_some());
    assert_eq!(hop(&workspace, "Other.start", "Job.close"), None);
}

#[test]
fn a_channel_of_one_field() {
    let (_folder, workspace) = tree(&[
        GO_MOD,
        (
            "app.go",
            r#"package app

type Pool struct{ jobs chan int }
type Other struct{ jobs chan int }

func (p *Pool) submit(job int) { p.jobs <- job }

func (p *Pool) loop() {
	for job := range p.jobs {
		work(job)
	}
}

func (o *Other) submit(job int) { o.jobs <- job }

func (o *Other) loop() {
	job := <-o.jobs
	rest(job)
}

func work(job int) {}
func rest(job int) {}
"#,
        ),
    ]);
    assert_eq!(
        hop(&workspace, "Pool.submit", "Pool.loop").as_deref(),
        Some("via Pool.jobs, taken at 9")
    );
    assert!(hop(&workspace, "Pool.submit", "work").is_some());
    assert!(hop(&workspace, "Other.submit", "rest").is_some());
    assert_eq!(hop(&workspace, "Other.submit", "work"), None);
    assert_eq!(hop(&workspace, "Pool.submit", "rest"), None);
    assert_eq!(callers(&workspace, "Pool.loop"), ["Pool.submit"]);
}

#[test]
fn what_is_taken_from_a_queue_goes_back_to_the_caller() {
    let (_folder, workspace) = tree(&[(
        "broker.py",
        r#"
class Broker:
    def __init__(self):
        self.queue = []
        self.other_queue = []

    def put(self, job):
        self.queue.append(job)

    def take(self):
        return self.queue.pop()

    def skip(self):
        return self.other_queue.pop()

class Worker:
    def __init__(self):
        self.broker = Broker()

    def loop(self):
        job = self.broker.take()
        self.work(job)

    def idle(self):
        self.broker.skip()
        self.rest()

    def work(self, job): pass
    def rest(self): pass
"#,
    )]);
    assert_eq!(
        hop(&workspace, "Broker.put", "Worker.work").as_deref(),
        Some("via Broker.queue, taken at 11 > gives it back > ")
    );
    assert_eq!(hop(&workspace, "Broker.put", "Worker.rest"), None);
}

#[test]
fn a_command_log() {
    let (_folder, workspace) = tree(&[
        GO_MOD,
        (
            "log.go",
            r#"package app

type Kind int

const (
	AddKind Kind = iota
	DropKind
	ShowKind
)

type Log struct{}

func (l *Log) apply(kind Kind, data any) {}

type Machine struct{}

func (m *Machine) Apply(kind Kind) {
	switch kind {
	case AddKind:
		m.add()
	case DropKind:
		m.drop()
	}
}

func (m *Machine) label(kind Kind) {
	switch kind {
	case AddKind:
		m.paint()
	}
}

func (m *Machine) add()   {}
func (m *Machine) drop()  {}
func (m *Machine) paint() {}

func create(l *Log) { l.apply(AddKind, nil) }

func remove(l *Log) { l.apply(DropKind, nil) }

func compare(kind Kind) bool { return kind == AddKind }
"#,
        ),
    ]);
    assert_eq!(
        hop(&workspace, "create", "Machine.add").as_deref(),
        Some("via AddKind, chosen at 19")
    );
    assert!(hop(&workspace, "remove", "Machine.drop").is_some());
    assert_eq!(hop(&workspace, "create", "Machine.drop"), None);
    assert_eq!(
        hop(&workspace, "create", "Machine.paint"),
        None,
        "what only names a constant applies nothing"
    );
    assert_eq!(hop(&workspace, "compare", "Machine.add"), None);
    assert!(callers(&workspace, "Machine.add").contains(&"create".to_owned()));
}

#[test]
fn a_table_of_handlers() {
    let (_folder, workspace) = tree(&[
        GO_MOD,
        (
            "log.go",
            r#"package app

type Kind int

const (
	AddKind Kind = iota
	DropKind
)

func dispatch(kind Kind, data any) {}

func add()  {}
func drop() {}

var handlers = map[Kind]func(){
	AddKind:  add,
	DropKind: drop,
}

func create() { dispatch(AddKind, nil) }
"#,
        ),
    ]);
    assert_eq!(
        hop(&workspace, "create", "add").as_deref(),
        Some("via AddKind, chosen at 16")
    );
    assert_eq!(hop(&workspace, "create", "drop"), None);
}

#[test]
fn a_container_makes_what_its_argument_names() {
    let (_folder, workspace) = tree(&[
        (
            "runner.ts",
            "export class Base { stop() {} }\nexport class Runner extends Base { run(id: string) { return id; } }\nexport class Other { run(id: string) { return id; } }\n",
        ),
        (
            "app.ts",
            r#"import { Container } from '@acme/di';
import { Runner } from './runner';

export function direct() { return Container.get(Runner).run('a'); }

export function held() {
  const runner = Container.get(Runner);
  runner.run('b');
  runner.stop();
}

export function lookup(map: Map<string, any>) { return map.get('Runner'); }
"#,
        ),
    ]);
    assert_eq!(
        hop(&workspace, "direct", "Runner.run").as_deref(),
        Some("Runner from a container")
    );
    assert_eq!(
        hop(&workspace, "held", "Runner.run").as_deref(),
        Some("Runner from a container")
    );
    assert_eq!(
        hop(&workspace, "held", "Base.stop").as_deref(),
        Some("Runner from a container")
    );
    assert_eq!(hop(&workspace, "direct", "Other.run"), None);
    assert_eq!(hop(&workspace, "lookup", "Runner.run"), None);
}

#[test]
fn hostile_lines_join_nothing() {
    let long = format!("package app\n\nfunc f() {{ x.RPC(\"{}\") }}\n", "A.B".repeat(5_000));
    let (_folder, workspace) = tree(&[
        GO_MOD,
        ("long.go", &long),
        (
            "odd.go",
            "package app\n\nfunc g(c chan int) {\n\tc <- 1\n\t<-c\n\tx.RPC(\"Node.\")\n\tx.RPC(\".Update\")\n\t// c.RPC(\"Node.Update\")\n}\n",
        ),
    ]);
    let ask = Trace {
        from: Some("g".to_owned()),
        ..Trace::default()
    };
    let found = trace(&workspace, &ask).unwrap();
    assert_eq!(found.steps.len(), 1);
}
