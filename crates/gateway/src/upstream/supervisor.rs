//! Keeps one upstream alive: connects, lists, listens for changes, probes, and when the connection ends waits and begins
//! again. Everything that can happen to a connection happens in the one loop below.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{ClientRequest, ErrorCode, PingRequest, SubscriptionFilter};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient};
use tokio::sync::watch;
use tokio::time::Instant;

use super::breaker::backoff;
use super::call::{CallFailure, failure, is_open};
use super::client::{InFlight, UpstreamClient};
use super::listing::{self, Listing};
use super::{State, Upstream};

/// A connection that lived this long is forgiven its earlier failures.
const STABLE: Duration = Duration::from_secs(10);
/// How often a quiet connection is asked whether it is still there, and how long it may take to say so.
const PROBE_EVERY: Duration = Duration::from_secs(60);
const PROBE_TIMEOUT: Duration = Duration::from_secs(10);
/// Changes are gathered at most this many debounce times before the listing is read anyway.
const MOST_DEBOUNCES: u32 = 4;

/// A connection that can take requests.
#[derive(Debug)]
pub(super) struct Live {
    pub(super) upstream: Arc<str>,
    pub(super) peer: Peer<RoleClient>,
    pub(super) in_flight: Arc<InFlight>,
}

impl Live {
    pub(super) fn gone(&self) -> CallFailure {
        CallFailure::Unavailable {
            reason: format!("`{}` ended while the call was under way", self.upstream),
            retry_after: None,
        }
    }
}

/// Runs until the upstream is stopped.
pub(super) async fn supervise(upstream: Arc<Upstream>) {
    let mut attempt = 0;
    loop {
        upstream.state.send_replace(State::Connecting);
        let began = Instant::now();
        // It hears by itself that it is to stop, and then gives the process its time to leave.
        let ended = one_connection(&upstream).await;
        if upstream.stop.is_cancelled() {
            return upstream.report_stopped();
        }
        attempt = if began.elapsed() > STABLE { 1 } else { attempt + 1 };
        let pause = backoff(attempt, upstream.settings.first_pause, upstream.settings.longest_pause);
        tracing::info!(upstream = %upstream.name(), reason = %ended, ?pause, "upstream is down");
        upstream.state.send_replace(State::Waiting {
            until: Instant::now() + pause,
            reason: ended,
        });
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = upstream.stop.cancelled() => return upstream.report_stopped(),
        }
    }
}

/// Connects and serves until the connection ends; says why it did.
async fn one_connection(upstream: &Arc<Upstream>) -> String {
    let changes = Arc::new(watch::Sender::new(0));
    let in_flight = Arc::new(InFlight::default());
    let client = UpstreamClient {
        upstream: upstream.name.clone(),
        in_flight: in_flight.clone(),
        changes: changes.clone(),
    };
    let limit = upstream.settings.connect_timeout;
    let connected = tokio::select! {
        connected = tokio::time::timeout(limit, upstream.connector.connect(client)) => connected,
        () = upstream.stop.cancelled() => return "it was stopped".to_owned(),
    };
    let service = match connected {
        Ok(Ok(service)) => service,
        Ok(Err(error)) => return upstream.explain(error),
        Err(_) => return format!("it did not start within {limit:?}"),
    };
    let live = Arc::new(Live {
        upstream: upstream.name.clone(),
        peer: service.peer().clone(),
        in_flight,
    });
    upstream.state.send_replace(State::Live(live.clone()));
    let stopper = service.cancellation_token();
    let mut ended = Box::pin(service.waiting());
    let reason = tokio::select! {
        biased;
        _ = &mut ended => return "the connection was closed".to_owned(),
        reason = keep_current(upstream, &live.peer, &changes) => reason,
        reason = subscribe(&live.peer, &changes) => reason,
        () = upstream.restart.notified() => "it stopped answering and is being restarted".to_owned(),
        () = upstream.stop.cancelled() => "it was stopped".to_owned(),
    };
    // Callers that ask for the connection from now on wait for the next one.
    upstream.state.send_replace(State::Connecting);
    stopper.cancel();
    // The SDK drains answers and then ends the process; both are bounded, and so is waiting for them.
    drop(tokio::time::timeout(Duration::from_secs(6), ended).await);
    reason
}

/// Reads the listing now and after each burst of changes, probing in between. Returns only when the upstream must be
/// given up.
async fn keep_current(upstream: &Arc<Upstream>, peer: &Peer<RoleClient>, changes: &watch::Sender<u64>) -> String {
    let mut seen = changes.subscribe();
    let mut failures = 0;
    loop {
        // Marked before listing: a change that comes while we list is seen afterwards.
        seen.mark_unchanged();
        let fresh_for = match listing::list(peer, upstream.settings.connect_timeout).await {
            Ok(listing) => {
                failures = 0;
                let fresh_for = listing.fresh_for;
                upstream.publish(listing);
                fresh_for
            }
            Err(error) => {
                failures += 1;
                let reason = upstream.explain(error);
                if failures >= 3 || !is_open(peer) {
                    return format!("its tools could not be listed: {reason}");
                }
                // Try again by ourselves: the change that brought us here must not be lost.
                Some(Duration::from_millis(500))
            }
        };
        if let Some(reason) = wait_for_change(upstream, peer, &mut seen, fresh_for).await {
            return reason;
        }
    }
}

/// Waits for a change and for the burst it belongs to. `Some` when a probe failed instead.
async fn wait_for_change(
    upstream: &Upstream,
    peer: &Peer<RoleClient>,
    seen: &mut watch::Receiver<u64>,
    fresh_for: Option<Duration>,
) -> Option<String> {
    let stale = fresh_for.map(|fresh_for| Instant::now() + fresh_for.max(Duration::from_millis(500)));
    loop {
        let stale_at = stale.unwrap_or_else(|| Instant::now() + Duration::from_secs(24 * 3600));
        tokio::select! {
            changed = seen.changed() => {
                if changed.is_err() {
                    std::future::pending::<()>().await;
                }
                break;
            }
            () = tokio::time::sleep_until(stale_at) => return None,
            () = tokio::time::sleep(PROBE_EVERY) => {
                if let Err(error) = probe(peer).await {
                    return Some(format!("it does not answer: {}", upstream.explain(error)));
                }
            }
        }
    }
    let debounce = upstream.settings.debounce;
    let latest = Instant::now() + debounce * MOST_DEBOUNCES;
    loop {
        let quiet = (Instant::now() + debounce).min(latest);
        match tokio::time::timeout_at(quiet, seen.changed()).await {
            Ok(Ok(())) if Instant::now() < latest => {}
            _ => return None,
        }
    }
}

/// Asks for the smallest possible answer. An error is an answer: only silence counts.
async fn probe(peer: &Peer<RoleClient>) -> Result<(), CallFailure> {
    let modern = peer
        .peer_info()
        .is_some_and(|info| !info.protocol_version.has_initialize());
    if modern {
        // The stateless era has no ping, and its transports notice a dead peer with the next request.
        return Ok(());
    }
    let request = ClientRequest::PingRequest(PingRequest {
        method: Default::default(),
        extensions: Default::default(),
    });
    let options = PeerRequestOptions::with_timeout(PROBE_TIMEOUT);
    let handle = peer.send_request_with_option(request, options).await.map_err(failure)?;
    match handle.await_response().await.map_err(failure) {
        Ok(_) | Err(CallFailure::Rpc(_)) => Ok(()),
        Err(error) => Err(error),
    }
}

/// In the stateless era changes come only to those who subscribe. A subscription that ends is made anew.
async fn subscribe(peer: &Peer<RoleClient>, changes: &watch::Sender<u64>) -> String {
    let info = peer.peer_info();
    let modern = info
        .as_ref()
        .is_some_and(|info| !info.protocol_version.has_initialize());
    let wanted = SubscriptionFilter::builder()
        .tools_list_changed()
        .prompts_list_changed()
        .resources_list_changed()
        .build();
    let offered = info
        .map(|info| wanted.supported_by(&info.capabilities))
        .unwrap_or_default();
    if !modern || offered == SubscriptionFilter::default() {
        return std::future::pending().await;
    }
    let mut failures = 0;
    loop {
        match peer.listen(offered.clone()).await {
            Ok(mut subscription) => {
                failures = 0;
                // What changed before the subscription stood went unheard.
                changes.send_modify(|count| *count += 1);
                while let Ok(Some(_)) = subscription.next().await {
                    changes.send_modify(|count| *count += 1);
                }
            }
            Err(rmcp::ServiceError::McpError(error)) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                return std::future::pending().await;
            }
            Err(error) => {
                failures += 1;
                tracing::debug!(%error, failures, "cannot subscribe to changes");
            }
        }
        tokio::time::sleep(backoff(
            failures + 1,
            Duration::from_millis(500),
            Duration::from_secs(60),
        ))
        .await;
    }
}

impl Upstream {
    fn report_stopped(&self) {
        self.state.send_replace(State::Stopped);
    }

    fn publish(&self, listing: Listing) {
        let mut current = self.listing.write().unwrap_or_else(std::sync::PoisonError::into_inner);
        let first = !self.listed.swap(true, std::sync::atomic::Ordering::AcqRel);
        if **current == listing && !first {
            return;
        }
        *current = Arc::new(listing);
        drop(current);
        self.on_listing.send_modify(|count| *count += 1);
    }
}
