//! Many sessions at once over HTTP, each with the official client: whether every call is answered, and whether memory grows
//! once the server is warm.

use std::path::Path;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow};
use rmcp::model::CallToolRequestParams;
use rmcp::service::ServiceExt;
use rmcp::transport::StreamableHttpClientTransport;
use serde::Serialize;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, BufReader};
use tokio::process::{Child, Command};

use super::{Times, stdio};

/// What the load did.
#[derive(Serialize)]
pub(super) struct Load {
    pub(super) sessions: usize,
    pub(super) calls: usize,
    /// Calls that came back as an error of the protocol or not at all.
    pub(super) errors: usize,
    pub(super) first_error: Option<String>,
    pub(super) seconds: f64,
    pub(super) calls_per_second: f64,
    pub(super) milliseconds: Times,
    /// Resident memory after the warm-up, and after each tenth of the calls.
    pub(super) resident_bytes: Vec<u64>,
    /// The part of each that no file backs.
    pub(super) heap_bytes: Vec<u64>,
    /// What is resident at the end over what was after the warm-up, less one.
    pub(super) growth: f64,
    /// The same from half-way to the end: what still grows once every session has asked everything.
    pub(super) late_growth: f64,
}

/// Parts of the load, after each of which memory is looked at.
const PARTS: usize = 10;

/// How long a server is warmed up at least: longer than it keeps answers for clients that lost their connection.
const WARM_UP: Duration = Duration::from_secs(10);

/// One call.
pub(super) type Call = (&'static str, Value);

/// Asks `calls` questions from `sessions` sessions at once, after a warm-up in which every question is
/// asked at least once.
pub(super) fn load(root: &Path, questions: Vec<Call>, sessions: usize, calls: usize) -> Result<Load> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        .build()
        .context("cannot start the asynchronous runtime")?;
    runtime.block_on(async {
        let (mut server, url) = start(root, sessions).await?;
        let measured = run(&server, &url, Arc::new(questions), sessions, calls).await;
        // It may be gone already.
        drop(server.kill().await);
        measured
    })
}

async fn start(root: &Path, sessions: usize) -> Result<(Child, String)> {
    let mut command = Command::new(std::env::current_exe().context("cannot find this program")?);
    command
        .args([
            "mcp",
            "--no-watch",
            "--no-token",
            "--http",
            "127.0.0.1:0",
            "--max-sessions",
        ])
        .arg((sessions + 1).to_string())
        .arg(root);
    let mut server = command
        .env_remove("LACON_OUTPUT_FORMAT")
        .env_remove("LACON_HTTP_TOKEN")
        .env("NO_COLOR", "1")
        .stderr(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .context("cannot start the server")?;
    let mut lines = BufReader::new(server.stderr.take().context("no pipe from the server")?).lines();
    while let Some(line) = lines.next_line().await? {
        if let Some(at) = line.find("http://") {
            let url = line[at..].trim().to_string();
            // What it says later must not stop it.
            tokio::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return Ok((server, url));
        }
    }
    Err(anyhow!("the server did not begin to listen"))
}

async fn run(server: &Child, url: &str, questions: Arc<Vec<Call>>, sessions: usize, calls: usize) -> Result<Load> {
    let process = server.id().context("the server is gone")?;
    let mut clients = Vec::with_capacity(sessions);
    for _ in 0..sessions {
        let transport = StreamableHttpClientTransport::from_uri(url);
        let client = ().serve(transport).await.map_err(|error| anyhow!("a session was refused: {error}"))?;
        clients.push(Arc::new(client));
    }
    let mut round = Round::default();
    let each = (calls / sessions).max(1);
    let began = Instant::now();
    while began.elapsed() < WARM_UP {
        round
            .ask(&clients, &questions, questions.len().div_ceil(sessions))
            .await;
    }
    let mut memory = vec![settled(process).await];
    let mut round = Round {
        errors: round.errors,
        first_error: round.first_error,
        ..Round::default()
    };
    let mut seconds = 0.0;
    for part in 0..PARTS {
        let began = Instant::now();
        let asked = each * (part + 1) / PARTS - each * part / PARTS;
        round.ask(&clients, &questions, asked).await;
        seconds += began.elapsed().as_secs_f64();
        memory.push(settled(process).await);
    }
    let (resident_bytes, heap_bytes): (Vec<u64>, Vec<u64>) = memory.into_iter().unzip();
    let growth = |from: usize| resident_bytes[PARTS] as f64 / resident_bytes[from].max(1) as f64 - 1.0;
    let (growth, late_growth) = (growth(0), growth(PARTS / 2));
    for client in clients {
        // The server is ended next, and would be missed by whoever still says goodbye.
        if let Ok(client) = Arc::try_unwrap(client) {
            drop(client.cancel().await);
        }
    }
    let calls = round.times.len() + round.errors;
    Ok(Load {
        sessions,
        calls,
        errors: round.errors,
        first_error: round.first_error,
        seconds,
        calls_per_second: round.times.len() as f64 / seconds,
        milliseconds: Times::of(&mut round.times),
        resident_bytes,
        heap_bytes,
        growth,
        late_growth,
    })
}

/// Resident memory a moment after the last answer, when what is free was given back, and the part of it that no file backs.
async fn settled(process: u32) -> (u64, u64) {
    tokio::time::sleep(Duration::from_secs(1)).await;
    (stdio::resident(process), stdio::heap(process))
}

type Session = rmcp::service::RunningService<rmcp::service::RoleClient, ()>;

/// What some calls did.
#[derive(Default)]
struct Round {
    times: Vec<Duration>,
    errors: usize,
    first_error: Option<String>,
}

impl Round {
    /// Every session asks `each` questions, one after the other; all sessions at once.
    async fn ask(&mut self, clients: &[Arc<Session>], questions: &Arc<Vec<Call>>, each: usize) {
        let next = Arc::new(AtomicUsize::new(0));
        let mut tasks = tokio::task::JoinSet::new();
        for client in clients {
            let (client, questions, next) = (client.clone(), questions.clone(), next.clone());
            tasks.spawn(async move {
                let mut round = Round::default();
                for _ in 0..each {
                    let (tool, arguments) = &questions[next.fetch_add(1, Ordering::Relaxed) % questions.len()];
                    let arguments = arguments.as_object().cloned().unwrap_or_default();
                    let request = CallToolRequestParams::new(*tool).with_arguments(arguments);
                    let began = Instant::now();
                    match client.call_tool(request).await {
                        Ok(_) => round.times.push(began.elapsed()),
                        Err(error) => {
                            round.errors += 1;
                            round.first_error.get_or_insert(format!("{tool}: {error}"));
                        }
                    }
                }
                round
            });
        }
        while let Some(done) = tasks.join_next().await {
            match done {
                Ok(round) => {
                    self.times.extend(round.times);
                    self.errors += round.errors;
                    self.first_error = self.first_error.take().or(round.first_error);
                }
                Err(error) => {
                    self.errors += each;
                    self.first_error.get_or_insert(error.to_string());
                }
            }
        }
    }
}
