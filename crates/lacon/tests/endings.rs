//! How servers end: by SIGTERM and Ctrl-C, over stdio and HTTP, idle and with calls under way, while the client keeps its end open.
//! Within two seconds the process is gone, nothing that it started is left, and every call has been answered.
//!
//! `LACON_ROUNDS` says how often each is tried.

#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot go on must fail, in its helpers too"
)]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const LONGEST_END: Duration = Duration::from_secs(2);
const PATIENCE: Duration = Duration::from_secs(60);
const TOKEN: &str = "a-token-for-tests";

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Program {
    Questions,
    Gateway,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Transport {
    Stdio,
    Http,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Moment {
    Idle,
    /// A call is under way that will not end by itself.
    InACall,
    /// Many quick calls were sent a moment before, of which most are not read yet.
    Crowded,
}

/// Calls of a crowd.
const CROWD: std::ops::Range<u64> = 100..200;

#[test]
fn questions_over_stdio() {
    every_ending(Program::Questions, Transport::Stdio);
}

#[test]
fn questions_over_http() {
    every_ending(Program::Questions, Transport::Http);
}

#[test]
fn gateway_over_stdio() {
    every_ending(Program::Gateway, Transport::Stdio);
}

#[test]
fn gateway_over_http() {
    every_ending(Program::Gateway, Transport::Http);
}

fn every_ending(program: Program, transport: Transport) {
    let rounds = std::env::var("LACON_ROUNDS")
        .ok()
        .and_then(|rounds| rounds.parse().ok());
    let world = World::new();
    for moment in [Moment::Idle, Moment::InACall, Moment::Crowded] {
        // Over HTTP each call has a connection of its own: what is not read yet has not come.
        if moment == Moment::Crowded && transport == Transport::Http {
            continue;
        }
        for signal in ["TERM", "INT"] {
            let ends: Vec<Duration> = (0..rounds.unwrap_or(2))
                .map(|_| world.one_ending(program, transport, moment, signal))
                .collect();
            let slowest = ends.iter().max().unwrap();
            eprintln!(
                "{program:?} {transport:?} {moment:?} {signal}: {} ends, slowest {slowest:?}",
                ends.len()
            );
        }
    }
}

/// A tree with a language server that never answers, and a gateway's configuration.
struct World {
    directory: tempfile::TempDir,
}

impl World {
    fn new() -> World {
        let directory = tempfile::tempdir().unwrap();
        let world = World { directory };
        let tree = world.path("tree");
        std::fs::create_dir(&tree).unwrap();
        std::fs::write(tree.join("a.py"), "def f():\n    pass\n\n\ndef g():\n    f()\n").unwrap();
        let silent = format!("echo $$ >> '{}'; exec sleep 1000", world.path("pids").display());
        let servers = format!(
            "[[server]]\nname = \"silent\"\nlanguages = {{ python = \"python\" }}\ncommands = [[\"sh\", \"-c\", {silent:?}]]\n"
        );
        std::fs::write(world.path("servers.toml"), servers).unwrap();
        let scripted = Path::new(env!("CARGO_MANIFEST_DIR")).join("../gateway/tests/servers/scripted.py");
        let gateway = format!(
            "[upstreams.scripted]\ncommand = \"python3\"\nargs = [{:?}, \"--ignore-eof\"]\n",
            scripted.canonicalize().unwrap().display().to_string()
        );
        std::fs::write(world.path("gateway.toml"), gateway).unwrap();
        let indexed = world.lacon().arg("index").current_dir(&tree).output().unwrap();
        assert!(indexed.status.success(), "{}", String::from_utf8_lossy(&indexed.stderr));
        world
    }

    fn path(&self, name: &str) -> PathBuf {
        self.directory.path().canonicalize().unwrap().join(name)
    }

    fn lacon(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lacon"));
        command
            .env("XDG_STATE_HOME", self.path("state"))
            .env("LACON_LSP_CONFIG", self.path("servers.toml"))
            // The language server is the user's own, and is to be waited for.
            .env("LACON_TRUST", "1")
            .env("LACON_HTTP_TOKEN", TOKEN)
            .env("NO_COLOR", "1")
            .env_remove("LACON_OUTPUT_FORMAT")
            .env_remove("LACON_DIR");
        command
    }

    /// From the signal to the end of one server.
    fn one_ending(&self, program: Program, transport: Transport, moment: Moment, signal: &str) -> Duration {
        drop(std::fs::remove_file(self.path("pids")));
        let mut command = self.lacon();
        match program {
            Program::Questions => command.arg("mcp").arg(self.path("tree")),
            Program::Gateway => command
                .args(["gateway", "--mode", "passthrough", "--config"])
                .arg(self.path("gateway.toml")),
        };
        match (program, transport) {
            (_, Transport::Stdio) => &mut command,
            (Program::Questions, Transport::Http) => command.args(["--http", "127.0.0.1:0"]),
            (Program::Gateway, Transport::Http) => command.arg("--http=127.0.0.1:0"),
        };
        let mut process = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut client = Client::of(&mut process, transport);
        let initialize = json!({"protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "test", "version": "1"}});
        client.ask(1, "initialize", initialize);
        client.send(&json!({"jsonrpc": "2.0", "method": "notifications/initialized"}));
        let mut left = Vec::new();
        if program == Program::Gateway {
            for (id, tool) in [(2, "pid"), (3, "spawn")] {
                let answer = client.ask(id, "tools/call", json!({"name": tool, "arguments": {}}));
                left.push(answer["result"]["content"][0]["text"].as_str().unwrap().to_string());
            }
        }
        if moment == Moment::InACall {
            let call = match program {
                Program::Questions => json!({"name": "find_references", "arguments": {"symbol": "f", "wait": "lsp"}}),
                Program::Gateway => json!({"name": "hang", "arguments": {}}),
            };
            client.send(&json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": call}));
            std::thread::sleep(Duration::from_millis(300));
            let pids = std::fs::read_to_string(self.path("pids")).unwrap_or_default();
            left.extend(pids.lines().map(str::to_string));
        }
        if moment == Moment::Crowded {
            for id in CROWD {
                let call = match program {
                    Program::Questions => json!({"name": "get_callers", "arguments": {"id": "f"}}),
                    Program::Gateway => json!({"name": "pid", "arguments": {}}),
                };
                client.send(&json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": call}));
            }
        }
        let began = Instant::now();
        let killed = Command::new("kill")
            .args(["-s", signal, &process.id().to_string()])
            .status();
        assert!(killed.unwrap().success());
        let what = format!("{program:?} {transport:?} {moment:?} {signal}");
        let status = loop {
            if let Some(status) = process.try_wait().unwrap() {
                break status;
            }
            if began.elapsed() > LONGEST_END {
                drop(process.kill());
                drop(process.wait());
                panic!("{what}: it does not end");
            }
            std::thread::sleep(Duration::from_millis(2));
        };
        let took = began.elapsed();
        assert!(status.success(), "{what}: {status}");
        let mut waiting: Vec<u64> = match moment {
            Moment::Idle => Vec::new(),
            Moment::InACall => vec![7],
            Moment::Crowded => CROWD.collect(),
        };
        while !waiting.is_empty() {
            let answer = client.any_answer(&what);
            assert!(
                answer.get("result").or(answer.get("error")).is_some(),
                "{what}: {answer}"
            );
            waiting.retain(|id| answer["id"] != *id);
        }
        // The guardian of what was started sees the end a moment later.
        let limit = Instant::now() + Duration::from_secs(1);
        while left.iter().any(|pid| is_alive(pid)) {
            assert!(Instant::now() < limit, "{what}: still running: {left:?}");
            std::thread::sleep(Duration::from_millis(10));
        }
        took
    }
}

/// Whether a process exists and is not just waiting to be reaped.
fn is_alive(pid: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(format!("/proc/{pid}/stat")) else {
        return false;
    };
    !stat
        .rsplit_once(')')
        .is_some_and(|(_, rest)| rest.trim_start().starts_with('Z'))
}

/// A client that keeps its end open.
struct Client {
    input: std::process::ChildStdin,
    messages: Receiver<Value>,
    sender: std::sync::mpsc::Sender<Value>,
    /// Over HTTP: where, and the session.
    address: Option<String>,
    session: Option<String>,
}

impl Client {
    fn of(process: &mut Child, transport: Transport) -> Client {
        let (sender, messages) = channel();
        let mut errors = BufReader::new(process.stderr.take().unwrap()).lines();
        let address = match transport {
            Transport::Stdio => None,
            Transport::Http => loop {
                let line = errors.next().unwrap().unwrap();
                if let Some((_, rest)) = line.split_once("listening on http://") {
                    break Some(rest.trim_end_matches("/mcp").to_string());
                }
            },
        };
        std::thread::spawn(move || errors.for_each(drop));
        let (output, forward) = (process.stdout.take().unwrap(), sender.clone());
        std::thread::spawn(move || {
            for line in BufReader::new(output).lines().map_while(Result::ok) {
                if forward.send(serde_json::from_str(&line).unwrap()).is_err() {
                    return;
                }
            }
        });
        Client {
            input: process.stdin.take().unwrap(),
            messages,
            sender,
            address,
            session: None,
        }
    }

    fn send(&mut self, message: &Value) {
        let Some(address) = self.address.clone() else {
            writeln!(self.input, "{message}").unwrap();
            return;
        };
        let body = message.to_string();
        let session = match &self.session {
            Some(session) => format!("Mcp-Session-Id: {session}\r\n"),
            None => String::new(),
        };
        let mut stream = TcpStream::connect(&address).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        write!(
            stream,
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\nContent-Type: application/json\r\nAccept: \
             application/json, text/event-stream\r\nAuthorization: Bearer {TOKEN}\r\n{session}Content-Length: {}\r\n\r\n{body}",
            body.len()
        )
        .unwrap();
        let sender = self.sender.clone();
        let answered = std::thread::spawn(move || {
            let mut text = String::new();
            drop(stream.read_to_string(&mut text));
            for data in text.lines().filter_map(|line| line.strip_prefix("data:")) {
                if let Ok(message) = serde_json::from_str(data.trim()) {
                    drop(sender.send(message));
                }
            }
            text
        });
        if message["method"] == "initialize" {
            let text = answered.join().unwrap();
            let session = text.lines().find_map(|line| line.strip_prefix("mcp-session-id: "));
            self.session = Some(session.unwrap_or_else(|| panic!("{text}")).to_string());
        }
    }

    fn ask(&mut self, id: u64, method: &str, params: Value) -> Value {
        self.send(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        self.answer(id)
    }

    fn any_answer(&self, what: &str) -> Value {
        loop {
            let message = self.messages.recv_timeout(PATIENCE);
            let message = message.unwrap_or_else(|error| panic!("{what}: {error}"));
            if message.get("id").is_some() {
                return message;
            }
        }
    }

    fn answer(&self, id: u64) -> Value {
        loop {
            let message = self.messages.recv_timeout(PATIENCE).unwrap();
            if message["id"] == id {
                return message;
            }
        }
    }
}
