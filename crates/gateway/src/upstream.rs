//! The servers behind the gateway: one [`Upstream`] each, supervised, with its own limits and its own breaker.
//!
//! Invariant: a request leaves only through [`Upstream::start`], which counts it, bounds it in time and number, and
//! feeds what became of it back to the breaker.

mod authorized;
mod breaker;
mod call;
mod client;
mod connect;
pub(crate) mod faults;
mod http_client;
mod listing;
mod process;
mod stdio;
mod supervisor;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::Duration;

use rmcp::model::{ClientRequest, ServerResult};
use serde_json::{Map, Value};
use tokio::sync::{Notify, Semaphore, watch};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::config::{RefreshConfig, Transport, UpstreamConfig};
use crate::oauth::Authorizer;
use breaker::{Breaker, Permit};
pub(crate) use call::{CallEvent, CallFailure, RunningCall};
pub(crate) use client::Happening;
pub use connect::Mount;
use connect::{Connector, HttpPlace, Place};
pub(crate) use listing::Listing;
use process::Program;
use supervisor::Live;

/// One upstream server.
pub(crate) struct Upstream {
    name: Arc<str>,
    connector: Connector,
    settings: Settings,
    state: watch::Sender<State>,
    breaker: Mutex<Breaker>,
    permits: Arc<Semaphore>,
    listing: RwLock<Arc<Listing>>,
    /// Whether the listing came from the upstream itself since start, not from a file.
    listed: AtomicBool,
    remembered: bool,
    /// Counts new listings of any upstream; the catalog follows it.
    on_listing: Arc<watch::Sender<u64>>,
    restart: Notify,
    stop: CancellationToken,
    calls: AtomicU64,
    failures: AtomicU64,
}

#[derive(Clone, Debug)]
struct Settings {
    call_timeout: Duration,
    connect_timeout: Duration,
    debounce: Duration,
    first_pause: Duration,
    longest_pause: Duration,
}

/// Where the connection stands.
#[derive(Clone, Debug)]
enum State {
    Connecting,
    Live(Arc<Live>),
    /// The last attempt failed; the next one comes by itself.
    Waiting {
        until: Instant,
        reason: String,
    },
    Stopped,
}

/// How an upstream is doing, for people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Health {
    pub status: Status,
    /// The protocol version agreed on, while connected.
    pub protocol: Option<String>,
    pub calls: u64,
    pub failures: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    Connecting,
    Ready,
    /// Connected, but it failed too often in a row: calls are refused for a while.
    Refusing,
    Down {
        reason: String,
    },
    Stopped,
}

impl Upstream {
    /// Makes an upstream from its configuration; [`Upstream::run`] starts it.
    pub(crate) fn new(
        name: &str,
        config: &UpstreamConfig,
        refresh: &RefreshConfig,
        known: Option<Listing>,
        authorizer: Option<Arc<Authorizer>>,
        on_listing: Arc<watch::Sender<u64>>,
    ) -> Option<Arc<Upstream>> {
        let place = match config.transport()? {
            Transport::Stdio { command } => Place::Child(Program {
                command: command.to_owned(),
                arguments: config.args.clone(),
                environment: config.env.clone(),
                directory: config.cwd.clone().map(Into::into),
            }),
            Transport::Http { url } => Place::Http(HttpPlace {
                url: url.to_owned(),
                headers: config
                    .headers
                    .iter()
                    .map(|(name, value)| (name.clone(), value.clone()))
                    .collect(),
                authorizer,
            }),
        };
        Some(Upstream::at(name, place, config, refresh, known, on_listing))
    }

    /// An upstream that is a server inside this process.
    pub(crate) fn mounted(
        name: &str,
        mount: Mount,
        config: &UpstreamConfig,
        refresh: &RefreshConfig,
        on_listing: Arc<watch::Sender<u64>>,
    ) -> Arc<Upstream> {
        Upstream::at(name, Place::Mounted(mount), config, refresh, None, on_listing)
    }

    fn at(
        name: &str,
        place: Place,
        config: &UpstreamConfig,
        refresh: &RefreshConfig,
        known: Option<Listing>,
        on_listing: Arc<watch::Sender<u64>>,
    ) -> Arc<Upstream> {
        let restart = &config.restart;
        Arc::new(Upstream {
            name: name.into(),
            connector: Connector::new(place, config.protocol, config.max_message_bytes),
            settings: Settings {
                call_timeout: seconds(config.timeout_seconds),
                connect_timeout: seconds(config.connect_timeout_seconds),
                debounce: seconds(refresh.debounce_seconds),
                first_pause: seconds(restart.base_delay_seconds),
                longest_pause: seconds(restart.max_delay_seconds),
            },
            state: watch::Sender::new(State::Connecting),
            breaker: Mutex::new(Breaker::new(
                restart.circuit_failures,
                seconds(restart.circuit_open_seconds),
            )),
            permits: Arc::new(Semaphore::new(config.max_concurrency.clamp(1, Semaphore::MAX_PERMITS))),
            remembered: known.is_some(),
            listing: RwLock::new(Arc::new(known.unwrap_or_default())),
            listed: AtomicBool::new(false),
            on_listing,
            restart: Notify::new(),
            stop: CancellationToken::new(),
            calls: AtomicU64::new(0),
            failures: AtomicU64::new(0),
        })
    }

    /// Starts to connect, in the background.
    pub(crate) fn run(self: &Arc<Self>) {
        tokio::spawn(supervisor::supervise(self.clone()));
    }

    /// Ends it for good, and its process with it.
    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    /// Waits until it has ended.
    pub(crate) async fn stopped(&self) {
        let mut state = self.state.subscribe();
        // An upstream that never ran has no task to report the end.
        drop(
            tokio::time::timeout(
                Duration::from_secs(8),
                state.wait_for(|state| matches!(state, State::Stopped)),
            )
            .await,
        );
    }

    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Rewrites the arguments of a call to the words of the tool's listed schema, where the server takes others too.
    pub(crate) fn spell(&self, tool: &str, arguments: &mut Map<String, Value>) {
        self.connector.spell(tool, arguments);
    }

    /// What it offers, as last listed.
    pub(crate) fn listing(&self) -> Arc<Listing> {
        self.listing.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Whether it has been listed since start.
    pub(crate) fn is_listed(&self) -> bool {
        self.listed.load(Ordering::Acquire)
    }

    /// Whether anything is known about what it offers: from itself, or from an earlier run.
    pub(crate) fn is_known(&self) -> bool {
        self.remembered || self.is_listed() || matches!(*self.state.borrow(), State::Waiting { .. } | State::Stopped)
    }

    /// Waits until it was listed or failed once.
    pub(crate) async fn settled(&self) {
        let mut state = self.state.subscribe();
        let mut listings = self.on_listing.subscribe();
        loop {
            if self.is_listed() || matches!(*state.borrow_and_update(), State::Waiting { .. } | State::Stopped) {
                return;
            }
            tokio::select! {
                changed = state.changed() => if changed.is_err() { return },
                changed = listings.changed() => if changed.is_err() { return },
            }
        }
    }

    pub(crate) fn health(&self) -> Health {
        let open = self.breaker.lock().unwrap_or_else(PoisonError::into_inner).is_open();
        let mut protocol = None;
        let status = match &*self.state.borrow() {
            State::Connecting => Status::Connecting,
            State::Live(live) => {
                protocol = live.peer.peer_info().map(|info| info.protocol_version.to_string());
                if open { Status::Refusing } else { Status::Ready }
            }
            State::Waiting { reason, .. } => Status::Down { reason: reason.clone() },
            State::Stopped => Status::Stopped,
        };
        Health {
            status,
            protocol,
            calls: self.calls.load(Ordering::Relaxed),
            failures: self.failures.load(Ordering::Relaxed),
        }
    }

    /// Sends a request on behalf of `session`.
    pub(crate) fn start(self: &Arc<Self>, session: u64, request: ClientRequest) -> RunningCall {
        let upstream = self.clone();
        RunningCall::start(move |listener, cancel| async move {
            upstream.calls.fetch_add(1, Ordering::Relaxed);
            // A call that never left says nothing about how the upstream answers: the breaker does not hear of it.
            let (live, _permit) = tokio::select! {
                prepared = upstream.prepare() => prepared?,
                () = cancel.cancelled() => return Err(CallFailure::Cancelled),
            };
            let allowed = upstream.settings.call_timeout;
            let outcome = call::perform(&live, session, request, allowed, listener, cancel).await;
            upstream.learn(&outcome);
            outcome
        })
    }

    /// A connection and the right to use it.
    async fn prepare(&self) -> Result<(Arc<Live>, tokio::sync::OwnedSemaphorePermit), CallFailure> {
        let admitted = self
            .breaker
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .admit(std::time::Instant::now());
        if let Permit::Refused { retry_after } = admitted {
            let reason = format!("`{}` failed several times in a row and is given a pause", self.name);
            return Err(CallFailure::Unavailable {
                reason,
                retry_after: Some(retry_after),
            });
        }
        let wait = self.settings.connect_timeout;
        let acquired = tokio::time::timeout(wait, self.permits.clone().acquire_owned()).await;
        let Ok(Ok(permit)) = acquired else {
            let reason = format!("`{}` has too many calls under way", self.name);
            return Err(CallFailure::Unavailable {
                reason,
                retry_after: Some(wait),
            });
        };
        Ok((self.live().await?, permit))
    }

    /// The connection, waiting for one that is being made.
    async fn live(&self) -> Result<Arc<Live>, CallFailure> {
        let mut state = self.state.subscribe();
        let limit = Instant::now() + self.settings.connect_timeout;
        loop {
            match &*state.borrow_and_update() {
                State::Live(live) => return Ok(live.clone()),
                State::Waiting { until, reason } => {
                    let retry_after = Some(until.saturating_duration_since(Instant::now()));
                    let reason = format!("`{}` is down: {reason}", self.name);
                    return Err(CallFailure::Unavailable { reason, retry_after });
                }
                State::Stopped => {
                    let reason = format!("`{}` was stopped", self.name);
                    return Err(CallFailure::Unavailable {
                        reason,
                        retry_after: None,
                    });
                }
                State::Connecting => {}
            }
            if !matches!(tokio::time::timeout_at(limit, state.changed()).await, Ok(Ok(()))) {
                let reason = format!("`{}` is still starting", self.name);
                return Err(CallFailure::Unavailable {
                    reason,
                    retry_after: Some(Duration::from_secs(1)),
                });
            }
        }
    }

    /// Feeds an outcome to the breaker. An error the upstream answered with is an answer: only silence counts against it.
    fn learn(&self, outcome: &Result<ServerResult, CallFailure>) {
        let mut breaker = self.breaker.lock().unwrap_or_else(PoisonError::into_inner);
        match outcome {
            Ok(_) | Err(CallFailure::Rpc(_)) => breaker.succeeded(),
            Err(CallFailure::Cancelled | CallFailure::Unauthorized(_) | CallFailure::Forbidden(_)) => {}
            Err(CallFailure::Http { status, .. }) if *status < 500 => {}
            Err(failure) => {
                self.failures.fetch_add(1, Ordering::Relaxed);
                let connected = matches!(*self.state.borrow(), State::Live(_));
                // A connection that hangs is worth less than none: make a new one.
                if breaker.failed(std::time::Instant::now()) && connected && matches!(failure, CallFailure::Timeout(_))
                {
                    self.restart.notify_one();
                }
            }
        }
    }

    /// A failure as text for logs and health; never for a model.
    fn explain(&self, failure: CallFailure) -> String {
        match failure {
            CallFailure::Timeout(after) => format!("no answer within {after:?}"),
            CallFailure::Unavailable { reason, .. } | CallFailure::Transport(reason) => reason,
            CallFailure::Cancelled => "cancelled".to_owned(),
            CallFailure::Rpc(error) => error.message.to_string(),
            CallFailure::Http { status, .. } => format!("HTTP {status}"),
            CallFailure::Unauthorized(reason) | CallFailure::Forbidden(reason) => reason,
        }
    }
}

/// Configured seconds as a duration; nonsense becomes zero, absurdity a day.
pub(crate) fn seconds(seconds: f64) -> Duration {
    Duration::try_from_secs_f64(seconds)
        .unwrap_or_default()
        .min(Duration::from_secs(24 * 3600))
}
