//! How a server of this process is told to end, and that it then does, whatever it is waiting for.

use std::time::Duration;

use gateway::shutdown::Shutdown;

/// From the signal to the end of the process. A runtime that waits for a read of standard input, which cannot be interrupted, would
/// wait until the client leaves; so would its timers. A thread of its own does not.
const LONGEST_END: Duration = Duration::from_millis(1900);

/// What may end this process besides the usual signals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HangUp {
    /// The client's terminal is gone, and so is the client.
    Ends,
    /// Left to the system: a server that was started with `nohup` outlives its terminal.
    Untouched,
}

/// An end that comes with SIGTERM or Ctrl-C, heard even where whoever started this process ignores them. A second signal ends at once.
/// Needs a Tokio runtime.
pub(crate) fn on_signal(hang_up: HangUp) -> Shutdown {
    let shutdown = Shutdown::default();
    let asked = shutdown.clone();
    tokio::spawn(async move {
        // Without signals the process can still be ended from outside.
        let Ok(mut signals) = Signals::listen(hang_up) else {
            return;
        };
        signals.next().await;
        asked.request();
        // Where there can be no thread, the ordinary end must do.
        drop(std::thread::Builder::new().name("end".to_string()).spawn(|| {
            std::thread::sleep(LONGEST_END);
            std::process::exit(0);
        }));
        signals.next().await;
        std::process::exit(1);
    });
    shutdown
}

#[cfg(unix)]
struct Signals {
    terminate: tokio::signal::unix::Signal,
    interrupt: tokio::signal::unix::Signal,
    hang_up: Option<tokio::signal::unix::Signal>,
}

#[cfg(unix)]
impl Signals {
    fn listen(hang_up: HangUp) -> std::io::Result<Signals> {
        use tokio::signal::unix::{SignalKind, signal};
        Ok(Signals {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: match hang_up {
                HangUp::Ends => Some(signal(SignalKind::hangup())?),
                HangUp::Untouched => None,
            },
        })
    }

    async fn next(&mut self) {
        let hang_up = async {
            match &mut self.hang_up {
                Some(signal) => signal.recv().await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
            _ = hang_up => {}
        }
    }
}

#[cfg(not(unix))]
struct Signals;

#[cfg(not(unix))]
impl Signals {
    fn listen(_: HangUp) -> std::io::Result<Signals> {
        Ok(Signals)
    }

    async fn next(&mut self) {
        // Without signals nothing ever comes.
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}
