//! When to stop asking an upstream that does not answer, and when to ask again. Pure: time is an argument.

use std::time::{Duration, Instant};

/// Opens after several failures in a row, lets one call through after a pause, and closes when that one succeeds.
#[derive(Debug)]
pub(crate) struct Breaker {
    threshold: u32,
    pause: Duration,
    failures: u32,
    state: State,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Closed,
    Open {
        until: Instant,
    },
    /// One call is out to see whether the upstream is back.
    Probing {
        since: Instant,
    },
}

/// Whether a call may go out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Permit {
    Granted,
    Refused { retry_after: Duration },
}

impl Breaker {
    pub(crate) fn new(threshold: u32, pause: Duration) -> Breaker {
        Breaker {
            threshold: threshold.max(1),
            pause,
            failures: 0,
            state: State::Closed,
        }
    }

    pub(crate) fn admit(&mut self, now: Instant) -> Permit {
        match self.state {
            State::Closed => Permit::Granted,
            State::Open { until } if now < until => Permit::Refused {
                retry_after: until - now,
            },
            // A probe that never reported back (its caller went away) must not keep the breaker shut for ever.
            State::Probing { since } if now < since + self.pause => Permit::Refused {
                retry_after: since + self.pause - now,
            },
            State::Open { .. } | State::Probing { .. } => {
                self.state = State::Probing { since: now };
                Permit::Granted
            }
        }
    }

    pub(crate) fn succeeded(&mut self) {
        self.failures = 0;
        self.state = State::Closed;
    }

    /// Counts a failure of the transport; true when it opened the breaker just now.
    pub(crate) fn failed(&mut self, now: Instant) -> bool {
        self.failures = self.failures.saturating_add(1);
        let probing = matches!(self.state, State::Probing { .. });
        if probing || (self.state == State::Closed && self.failures >= self.threshold) {
            self.state = State::Open {
                until: now + self.pause,
            };
            return !probing;
        }
        false
    }

    pub(crate) fn is_open(&self) -> bool {
        self.state != State::Closed
    }
}

/// The pause before connection attempt `attempt` (from 1) after a failure: doubling from `first`, never over `longest`.
pub(crate) fn backoff(attempt: u32, first: Duration, longest: Duration) -> Duration {
    first
        .saturating_mul(1 << attempt.saturating_sub(1).min(20))
        .min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAUSE: Duration = Duration::from_secs(10);

    #[test]
    fn it_opens_after_the_threshold_and_lets_one_probe_through() {
        let start = Instant::now();
        let mut breaker = Breaker::new(2, PAUSE);
        assert!(!breaker.failed(start));
        assert_eq!(breaker.admit(start), Permit::Granted);
        assert!(breaker.failed(start));
        assert_eq!(
            breaker.admit(start + PAUSE / 2),
            Permit::Refused { retry_after: PAUSE / 2 }
        );
        assert_eq!(breaker.admit(start + PAUSE), Permit::Granted);
        assert_eq!(breaker.admit(start + PAUSE), Permit::Refused { retry_after: PAUSE });
        breaker.succeeded();
        assert_eq!(breaker.admit(start + PAUSE), Permit::Granted);
        assert!(!breaker.is_open());
    }

    #[test]
    fn a_failed_probe_opens_it_again_and_a_lost_one_expires() {
        let start = Instant::now();
        let mut breaker = Breaker::new(1, PAUSE);
        assert!(breaker.failed(start));
        assert_eq!(breaker.admit(start + PAUSE), Permit::Granted);
        assert!(!breaker.failed(start + PAUSE));
        assert!(matches!(breaker.admit(start + PAUSE), Permit::Refused { .. }));
        assert_eq!(breaker.admit(start + PAUSE * 2), Permit::Granted);
        assert_eq!(breaker.admit(start + PAUSE * 3), Permit::Granted);
    }

    #[test]
    fn a_success_forgives_earlier_failures() {
        let start = Instant::now();
        let mut breaker = Breaker::new(2, PAUSE);
        breaker.failed(start);
        breaker.succeeded();
        assert!(!breaker.failed(start));
    }

    #[test]
    fn backoff_doubles_up_to_a_cap() {
        let pause = |attempt| backoff(attempt, Duration::from_millis(250), Duration::from_secs(30));
        assert_eq!(pause(1), Duration::from_millis(250));
        assert_eq!(pause(3), Duration::from_secs(1));
        assert_eq!(pause(u32::MAX), Duration::from_secs(30));
    }
}
