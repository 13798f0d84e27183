//! How a server ends: it takes no more calls, lets those under way finish for a moment, then answers the rest with an error, and
//! only then lets go of its clients. Two seconds from the signal to the end of the process, at most.
//!
//! The one trick: a call is raced against the moment at which it must be answered, where the SDK still knows whom it answers.
//! Ending the connection instead would send an empty answer, which reads as a success.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// How long calls under way may take to finish by themselves.
const GRACE: Duration = Duration::from_millis(800);
/// How often in a row no call must be seen under way before there is none: what a client sent before the end may not have been read yet.
const QUIET_LOOKS: u32 = 8;
/// How often a server that ends looks whether calls are still under way.
const LOOK_AGAIN: Duration = Duration::from_millis(5);

/// What a call is told that did not finish in time.
pub const SHUTTING_DOWN: &str = "the server is shutting down: ask again when it is back";

/// The end of a server, as everybody in it sees it. Clones are the same end.
#[derive(Clone, Debug, Default)]
pub struct Shutdown {
    requested: CancellationToken,
    overdue: CancellationToken,
    calls: Arc<AtomicUsize>,
}

/// A call under way.
struct UnderWay(Arc<AtomicUsize>);

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}

impl Shutdown {
    /// Asks the server to end.
    pub fn request(&self) {
        self.requested.cancel();
    }

    pub fn is_requested(&self) -> bool {
        self.requested.is_cancelled()
    }

    /// Waits until the server is asked to end.
    pub async fn requested(&self) {
        self.requested.cancelled().await;
    }

    /// Waits until calls under way must be answered as they are.
    pub async fn overdue(&self) {
        self.overdue.cancelled().await;
    }

    /// Runs a call; `None` where the server ends before it does.
    pub async fn answer<T>(&self, call: impl Future<Output = T>) -> Option<T> {
        self.calls.fetch_add(1, Ordering::AcqRel);
        let _under_way = UnderWay(self.calls.clone());
        tokio::select! {
            biased;
            answered = call => Some(answered),
            () = self.overdue.cancelled() => None,
        }
    }

    /// Waits until no call is under way, a moment at most, and has the others answered as they are.
    pub async fn drain(&self) {
        let began = tokio::time::Instant::now();
        let mut quiet = 0;
        while quiet < QUIET_LOOKS && began.elapsed() < GRACE {
            tokio::time::sleep(LOOK_AGAIN).await;
            quiet = match self.calls.load(Ordering::Acquire) {
                0 => quiet + 1,
                _ => 0,
            };
        }
        self.overdue.cancel();
    }

    /// A token that is cancelled once the server was asked to end and its calls are answered: what ends the connections.
    pub fn connections(&self) -> CancellationToken {
        let token = CancellationToken::new();
        let (shutdown, ended) = (self.clone(), token.clone());
        tokio::spawn(async move {
            shutdown.requested().await;
            shutdown.drain().await;
            ended.cancel();
        });
        token
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_quick_call_finishes_and_a_slow_one_is_answered_in_time() {
        let shutdown = Shutdown::default();
        let run = |milliseconds: u64| {
            let shutdown = shutdown.clone();
            tokio::spawn(async move {
                shutdown
                    .answer(tokio::time::sleep(Duration::from_millis(milliseconds)))
                    .await
            })
        };
        let (quick, slow) = (run(100), run(60_000));
        while shutdown.calls.load(Ordering::Acquire) < 2 {
            tokio::task::yield_now().await;
        }
        let ended = shutdown.connections();
        shutdown.request();
        let began = std::time::Instant::now();
        ended.cancelled().await;
        assert!(began.elapsed() >= GRACE && began.elapsed() < 2 * GRACE);
        assert_eq!(quick.await.unwrap(), Some(()));
        assert_eq!(slow.await.unwrap(), None);
    }

    #[tokio::test]
    async fn a_call_that_is_read_a_moment_later_is_answered() {
        let shutdown = Shutdown::default();
        let ended = shutdown.connections();
        shutdown.request();
        let mut answered = 0;
        for _ in 0..10 {
            tokio::time::sleep(2 * LOOK_AGAIN).await;
            let call = shutdown.answer(tokio::time::sleep(4 * LOOK_AGAIN));
            answered += usize::from(call.await.is_some());
        }
        assert_eq!(answered, 10);
        ended.cancelled().await;
    }

    #[tokio::test]
    async fn without_calls_nothing_is_waited_for() {
        let shutdown = Shutdown::default();
        let ended = shutdown.connections();
        shutdown.request();
        let began = std::time::Instant::now();
        ended.cancelled().await;
        assert!(began.elapsed() < GRACE / 2);
    }
}
