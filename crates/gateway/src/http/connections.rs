//! Accepts connections and keeps them few: half-open and idle ones are closed in time, and when there are as many as may be, a
//! connection without a request under way makes room, so that whoever comes next is answered.
//!
//! The one trick: `axum::serve` knows neither time limits nor a bound, so connections are served by hyper itself (headers and
//! pauses between requests are bounded by its own timer), and each is entered in a table that says since when it has been idle.

use std::collections::BTreeMap;
use std::convert::Infallible;
use std::io;
use std::net::IpAddr;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Method, Request, Response};
use hyper::body::{Body as HttpBody, Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tower::Service;

use crate::session::lock;

/// How long to wait after a failed `accept` that closing a connection could not cure.
const PAUSE: Duration = Duration::from_millis(50);
/// How often an ending server looks whether the last connections are done.
const LOOK_AGAIN: Duration = Duration::from_millis(5);
/// What a client gets where every connection has a request under way.
const FULL: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nConnection: close\r\nContent-Length: 21\r\n\r\n\
                      too many connections\n";

/// How many connections there may be, and how long one may say nothing.
#[derive(Clone, Copy, Debug)]
pub(super) struct Limits {
    pub(super) most: usize,
    /// For a request's headers, and between two requests.
    pub(super) silence: Duration,
}

impl Limits {
    /// Half of the files that this process may open at most are connections: the rest is needed to answer them.
    pub(super) fn new(most: usize, silence: Duration) -> Limits {
        Limits {
            most: most.min(most_files() / 2).max(1),
            silence,
        }
    }
}

#[cfg(unix)]
fn most_files() -> usize {
    let limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit
        .current
        .map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX))
}

#[cfg(not(unix))]
fn most_files() -> usize {
    usize::MAX
}

/// The open connections.
#[derive(Default)]
pub(super) struct Connections {
    open: Mutex<BTreeMap<u64, Open>>,
}

struct Open {
    peer: IpAddr,
    /// Since when no request has been under way.
    idle_since: Option<Instant>,
    /// Answers to POST requests that are not sent yet. (An answer to GET is a stream that never ends by itself.)
    posts: usize,
    requests: usize,
    close: CancellationToken,
}

impl Connections {
    /// Whether an answer to a call is still on its way.
    fn is_answering(&self) -> bool {
        lock(&self.open).values().any(|open| open.posts > 0)
    }

    /// Waits until the answers to calls are sent, no longer than `patience`.
    pub(super) async fn answered(&self, patience: Duration) {
        let limit = Instant::now() + patience;
        while self.is_answering() && Instant::now() < limit {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    /// Waits until no connection is left, no longer than `patience`.
    pub(super) async fn closed(&self, patience: Duration) {
        let limit = Instant::now() + patience;
        while self.count() > 0 && Instant::now() < limit {
            tokio::time::sleep(LOOK_AGAIN).await;
        }
    }

    fn enter(&self, number: u64, peer: IpAddr) -> CancellationToken {
        let close = CancellationToken::new();
        let open = Open {
            peer,
            idle_since: Some(Instant::now()),
            posts: 0,
            requests: 0,
            close: close.clone(),
        };
        lock(&self.open).insert(number, open);
        close
    }

    fn leave(&self, number: u64) {
        lock(&self.open).remove(&number);
    }

    fn count(&self) -> usize {
        lock(&self.open).len()
    }

    /// Closes the connection that has been idle longest, of the peer that has most of the idle ones: one peer's crowd does not
    /// cost another its connection. Whether there was one.
    fn make_room(&self) -> bool {
        let mut open = lock(&self.open);
        let mut idle_of: BTreeMap<IpAddr, usize> = BTreeMap::new();
        let idle = open.values().filter(|open| open.idle_since.is_some());
        for connection in idle {
            *idle_of.entry(connection.peer).or_default() += 1;
        }
        let Some(crowd) = idle_of.values().max().copied() else {
            return false;
        };
        let longest_idle = open
            .iter()
            .filter(|(_, open)| idle_of.get(&open.peer) == Some(&crowd))
            .filter_map(|(number, open)| Some((open.idle_since?, *number)))
            .min();
        let Some(closed) = longest_idle.and_then(|(_, number)| open.remove(&number)) else {
            return false;
        };
        closed.close.cancel();
        true
    }

    fn begin(self: &Arc<Self>, number: u64, method: &Method) -> UnderWay {
        let is_post = method == Method::POST;
        if let Some(open) = lock(&self.open).get_mut(&number) {
            open.idle_since = None;
            open.requests += 1;
            open.posts += usize::from(is_post);
        }
        UnderWay {
            connections: self.clone(),
            number,
            is_post,
        }
    }
}

/// A request from its headers to the end of its answer.
struct UnderWay {
    connections: Arc<Connections>,
    number: u64,
    is_post: bool,
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        if let Some(open) = lock(&self.connections.open).get_mut(&self.number) {
            open.requests = open.requests.saturating_sub(1);
            open.posts = open.posts.saturating_sub(usize::from(self.is_post));
            if open.requests == 0 {
                open.idle_since = Some(Instant::now());
            }
        }
    }
}

/// An answer's body, which ends the request when it has been sent or given up.
struct Answer {
    body: Body,
    _under_way: UnderWay,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// Accepts for ever. Connections end by themselves, by their limits, or by `end`.
pub(super) async fn accept(
    listener: TcpListener,
    router: Router,
    limits: Limits,
    connections: Arc<Connections>,
    end: CancellationToken,
) {
    let mut number = 0;
    loop {
        let (stream, peer) = match listener.accept().await {
            Ok((stream, peer)) => (stream, peer.ip()),
            // That client is gone; the listener is not.
            Err(error) if is_of_the_client(&error) => continue,
            Err(error) => {
                // Out of files, as a rule: one connection less is one file more.
                tracing::warn!(%error, "cannot accept a connection");
                connections.make_room();
                tokio::time::sleep(PAUSE).await;
                continue;
            }
        };
        if connections.count() >= limits.most && !connections.make_room() {
            tokio::spawn(refuse(stream));
            continue;
        }
        number += 1;
        let close = connections.enter(number, peer);
        tokio::spawn(serve(
            stream,
            number,
            router.clone(),
            limits.silence,
            connections.clone(),
            close,
            end.clone(),
        ));
    }
}

fn is_of_the_client(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::ConnectionAborted | io::ErrorKind::ConnectionReset | io::ErrorKind::ConnectionRefused
    )
}

/// Says that there is no room. Whoever does not read it is not waited for.
async fn refuse(mut stream: TcpStream) {
    drop(tokio::time::timeout(Duration::from_secs(1), stream.write_all(FULL)).await);
}

async fn serve(
    stream: TcpStream,
    number: u64,
    router: Router,
    silence: Duration,
    connections: Arc<Connections>,
    close: CancellationToken,
    end: CancellationToken,
) {
    // Answers are small and awaited: they are not held back to fill a packet.
    let _ = stream.set_nodelay(true);
    let service = service_fn(|request: Request<Incoming>| {
        let under_way = connections.begin(number, request.method());
        let mut router = router.clone();
        async move {
            let response: Response<Body> = router.call(request).await?;
            Ok::<_, Infallible>(response.map(|body| Answer {
                body,
                _under_way: under_way,
            }))
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(silence)
        .serve_connection(TokioIo::new(stream), service);
    let mut connection = pin!(connection);
    tokio::select! {
        served = connection.as_mut() => {
            if let Err(error) = served {
                tracing::debug!(%error, "a connection ended early");
            }
        }
        () = close.cancelled() => {}
        () = end.cancelled() => {
            // What is being sent is sent to its end; whoever is slow to read it is cut off with the process.
            connection.as_mut().graceful_shutdown();
            drop(connection.await);
        }
    }
    connections.leave(number);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_idle_connection_of_the_largest_crowd_makes_room() {
        let connections = Arc::new(Connections::default());
        let (one, many) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let first = connections.enter(1, one);
        let second = connections.enter(2, many);
        let third = connections.enter(3, many);
        let busy = connections.begin(2, &Method::POST);
        let fourth = connections.enter(4, many);
        assert!(connections.is_answering());
        assert!(connections.make_room());
        assert!(
            third.is_cancelled(),
            "the longest idle one of the peer with two idle ones"
        );
        assert!(!first.is_cancelled() && !second.is_cancelled() && !fourth.is_cancelled());
        assert!(connections.make_room() && connections.make_room());
        assert!(first.is_cancelled() && fourth.is_cancelled());
        assert!(!connections.make_room(), "a request under way is not cut off");
        drop(busy);
        assert!(!connections.is_answering());
        assert!(connections.make_room() && second.is_cancelled());
    }
}
