//! One request out to an upstream: it reports what happens, pauses its clock while the user is asked, and when nobody
//! waits for it any more it is cancelled at the upstream too.

use std::time::Duration;

use rmcp::model::{ClientRequest, ErrorData, ServerResult};
use rmcp::service::{Peer, PeerRequestOptions, RoleClient, ServiceError};
use rmcp::transport::AuthError;
use rmcp::transport::streamable_http_client::{AuthRequiredError, HttpStatusError, InsufficientScopeError};
use tokio::sync::mpsc;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::client::{Happening, Waiting};
use super::supervisor::Live;

/// Reports that may wait unread; progress beyond it is dropped.
const LISTENER_CAPACITY: usize = 32;

/// Why a request got no result.
#[derive(Debug)]
pub(crate) enum CallFailure {
    Timeout(Duration),
    /// Not connected, the connection broke, or too many calls wait already.
    Unavailable {
        reason: String,
        retry_after: Option<Duration>,
    },
    /// The caller gave up.
    Cancelled,
    /// The upstream answered with an error.
    Rpc(ErrorData),
    Http {
        status: u16,
        retry_after: Option<String>,
    },
    Unauthorized(String),
    Forbidden(String),
    /// Anything else the transport reports.
    Transport(String),
}

/// What [`RunningCall::next`] yields.
#[expect(
    clippy::large_enum_variant,
    reason = "moved once a call; a box would cost every result an allocation"
)]
#[derive(Debug)]
pub(crate) enum CallEvent {
    Happening(Happening),
    Done(Result<ServerResult, CallFailure>),
}

/// A call on its way. Dropping it cancels the call at the upstream.
pub(crate) struct RunningCall {
    happenings: mpsc::Receiver<Happening>,
    outcome: tokio::sync::oneshot::Receiver<Result<ServerResult, CallFailure>>,
    _cancel: DropGuard,
}

impl RunningCall {
    /// Runs `work` on its own task, so that a call can outlive the request that asked for it.
    pub(super) fn start<F>(work: impl FnOnce(mpsc::Sender<Happening>, CancellationToken) -> F) -> RunningCall
    where
        F: Future<Output = Result<ServerResult, CallFailure>> + Send + 'static,
    {
        let (listener, happenings) = mpsc::channel(LISTENER_CAPACITY);
        let (report, outcome) = tokio::sync::oneshot::channel();
        let token = CancellationToken::new();
        let future = work(listener, token.clone());
        tokio::spawn(async move {
            // Nobody listening any more is no error: the call was cancelled.
            drop(report.send(future.await));
        });
        RunningCall {
            happenings,
            outcome,
            _cancel: token.drop_guard(),
        }
    }

    /// The next thing that happens. `Done` is the last.
    pub(crate) async fn next(&mut self) -> CallEvent {
        tokio::select! {
            biased;
            Some(happening) = self.happenings.recv() => CallEvent::Happening(happening),
            outcome = &mut self.outcome => CallEvent::Done(outcome.unwrap_or(Err(CallFailure::Cancelled))),
        }
    }

    /// The outcome when nobody cares for progress; questions are declined.
    pub(crate) async fn outcome(mut self) -> Result<ServerResult, CallFailure> {
        loop {
            if let CallEvent::Done(outcome) = self.next().await {
                return outcome;
            }
        }
    }
}

/// Sends `request` on a live connection and waits. Progress renews the time allowed, up to ten times it in all.
pub(super) async fn perform(
    live: &Live,
    session: u64,
    request: ClientRequest,
    allowed: Duration,
    listener: mpsc::Sender<Happening>,
    cancel: CancellationToken,
) -> Result<ServerResult, CallFailure> {
    let started = Instant::now();
    let longest = started + allowed * 10;
    let entering = live.in_flight.entering();
    let mut handle = tokio::select! {
        handle = live.peer.send_request_with_option(request, PeerRequestOptions::no_options()) => handle.map_err(failure)?,
        () = cancel.cancelled() => return Err(CallFailure::Cancelled),
    };
    let (inner, mut happenings) = mpsc::channel(LISTENER_CAPACITY);
    let waiting = Waiting {
        session,
        token: handle.progress_token.clone(),
        listener: inner,
    };
    let _in_flight = entering.enter(handle.id.clone(), waiting);
    let deadline = tokio::time::sleep(allowed);
    tokio::pin!(deadline);
    let outcome = loop {
        tokio::select! {
            biased;
            response = &mut handle.rx => {
                // Reports that came before the answer go out before it.
                while let Ok(happening) = happenings.try_recv() {
                    drop(listener.try_send(happening));
                }
                return match response {
                    Ok(response) => response.map_err(failure),
                    Err(_) => Err(live.gone()),
                };
            }
            Some(happening) = happenings.recv() => {
                deadline.as_mut().reset((Instant::now() + allowed).min(longest));
                match happening {
                    Happening::Progress(_) => drop(listener.try_send(happening)),
                    Happening::Question { params, mut answer } => {
                        // The user may take as long as they like: the clock stands still until they answered.
                        let (relay, relayed) = tokio::sync::oneshot::channel();
                        if listener.send(Happening::Question { params, answer: relay }).await.is_ok() {
                            tokio::select! {
                                given = relayed => if let Ok(given) = given { drop(answer.send(given)) },
                                // The upstream no longer waits: it took the question back, or it is gone.
                                () = answer.closed() => {}
                                () = cancel.cancelled() => break CallFailure::Cancelled,
                            }
                        }
                        deadline.as_mut().reset(Instant::now() + allowed);
                    }
                }
            }
            () = cancel.cancelled() => break CallFailure::Cancelled,
            () = &mut deadline => break CallFailure::Timeout(started.elapsed()),
        }
    };
    let reason = match outcome {
        CallFailure::Timeout(_) => "request timeout",
        _ => "cancelled by the caller",
    };
    // The upstream may be the reason we stop waiting: telling it must not become another wait.
    drop(tokio::time::timeout(Duration::from_millis(250), handle.cancel(Some(reason.to_owned()))).await);
    Err(outcome)
}

/// What happened, read from the error's type; its text is the last resort.
pub(super) fn failure(error: ServiceError) -> CallFailure {
    match error {
        ServiceError::McpError(error) => CallFailure::Rpc(error),
        ServiceError::TransportClosed => CallFailure::Unavailable {
            reason: "the connection was closed".into(),
            retry_after: None,
        },
        ServiceError::Timeout { timeout } => CallFailure::Timeout(timeout),
        ServiceError::Cancelled { .. } => CallFailure::Cancelled,
        ServiceError::TransportSend(error) => transport_failure(error.error.as_ref()),
        other => CallFailure::Transport(other.to_string()),
    }
}

/// Walks the causes of a transport error to the one that says what happened.
pub(super) fn transport_failure(error: &(dyn std::error::Error + Send + Sync + 'static)) -> CallFailure {
    let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(error);
    while let Some(current) = cause {
        if let Some(status) = current.downcast_ref::<HttpStatusError>() {
            return CallFailure::Http {
                status: status.status,
                retry_after: status.retry_after.clone(),
            };
        }
        if current.is::<AuthRequiredError>() || current.is::<AuthError>() {
            return CallFailure::Unauthorized(current.to_string());
        }
        if current.is::<InsufficientScopeError>() {
            return CallFailure::Forbidden(current.to_string());
        }
        if let Some(request) = current.downcast_ref::<reqwest::Error>() {
            if request.is_timeout() {
                return CallFailure::Timeout(Duration::ZERO);
            }
            if request.is_connect() || request.is_request() || request.is_body() {
                let reason = "the HTTP connection failed".to_owned();
                return CallFailure::Unavailable {
                    reason,
                    retry_after: None,
                };
            }
        }
        if current.is::<std::io::Error>() {
            return CallFailure::Unavailable {
                reason: "the connection broke".into(),
                retry_after: None,
            };
        }
        // The SDK wraps these without naming them as its source.
        if let Some(wrapped) =
            current.downcast_ref::<rmcp::transport::streamable_http_client::StreamableHttpError<reqwest::Error>>()
        {
            use rmcp::transport::streamable_http_client::StreamableHttpError as Http;
            match wrapped {
                Http::Client(inner) => {
                    cause = Some(inner);
                    continue;
                }
                Http::HttpStatus(status) => {
                    return CallFailure::Http {
                        status: status.status,
                        retry_after: status.retry_after.clone(),
                    };
                }
                Http::AuthRequired(_) | Http::Auth(_) => return CallFailure::Unauthorized(wrapped.to_string()),
                Http::InsufficientScope(_) => return CallFailure::Forbidden(wrapped.to_string()),
                Http::TransportChannelClosed | Http::UnexpectedEndOfStream | Http::SessionExpired | Http::Sse(_) => {
                    return CallFailure::Unavailable {
                        reason: wrapped.to_string(),
                        retry_after: None,
                    };
                }
                _ => {}
            }
        }
        cause = current.source();
    }
    CallFailure::Transport(error.to_string())
}

/// Whether the peer's connection is still there.
pub(super) fn is_open(peer: &Peer<RoleClient>) -> bool {
    !peer.is_transport_closed()
}
