//! What belongs to one session of one principal and to nobody else: artifacts, quotas, cached results, cards already seen,
//! and calls that wait for the user. Nothing in here is ever shared.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use crate::artifacts::Artifacts;
use crate::config::GatewayConfig;
use crate::controls::RateLimiter;
use crate::dispatch::cache::ResultCache;
use crate::dispatch::{Delivery, Parked};
use crate::observe::SeenSession;
use crate::stable::SeenCards;

/// Calls of one session that may wait for the user at once.
const MOST_PARKED: usize = 16;
/// How long one may wait.
const PARKED_LIMIT: Duration = Duration::from_secs(600);

/// Who calls: the name of a configured token, or nobody in particular.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Principal(Arc<str>);

impl Principal {
    pub fn named(name: &str) -> Principal {
        Principal(name.into())
    }

    /// Whoever can reach a server that asks for no token.
    pub fn anonymous() -> Principal {
        Principal("".into())
    }

    pub fn name(&self) -> &str {
        &self.0
    }
}

/// One session.
pub struct Session {
    /// Told apart from every other session of this process.
    pub(crate) id: u64,
    principal: Principal,
    started: Instant,
    last_used: Mutex<Instant>,
    pub(crate) artifacts: Mutex<Artifacts>,
    pub(crate) quota: Mutex<RateLimiter>,
    pub(crate) cache: Mutex<ResultCache<Delivery>>,
    pub(crate) seen: Mutex<SeenCards>,
    parked: Mutex<HashMap<String, (Instant, Parked)>>,
}

impl Session {
    pub(crate) fn new(principal: Principal, config: &GatewayConfig) -> Session {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let now = Instant::now();
        Session {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            principal,
            started: now,
            last_used: Mutex::new(now),
            artifacts: Mutex::new(Artifacts::new(config.artifacts.clone(), secret())),
            quota: Mutex::new(RateLimiter::new(config.rate_limits.clone())),
            cache: Mutex::new(ResultCache::new(&config.cache)),
            seen: Mutex::new(SeenCards::default()),
            parked: Mutex::new(HashMap::new()),
        }
    }

    /// Whose it is.
    pub fn principal(&self) -> &Principal {
        &self.principal
    }

    /// Seconds since the session began: the clock of its quotas.
    pub(crate) fn clock(&self) -> f64 {
        self.started.elapsed().as_secs_f64()
    }

    pub(crate) fn touch(&self) {
        *lock(&self.last_used) = Instant::now();
    }

    /// What people see of it.
    pub(crate) fn seen(&self) -> SeenSession {
        SeenSession {
            id: self.id,
            principal: self.principal.name().to_owned(),
            age_seconds: self.started.elapsed().as_secs(),
            idle_seconds: self.idle().as_secs(),
            artifacts: lock(&self.artifacts).held(Instant::now()),
            limits: lock(&self.quota).used(self.clock()),
        }
    }

    pub(crate) fn idle(&self) -> Duration {
        lock(&self.last_used).elapsed()
    }

    /// Puts a call aside until the client comes back with answers; the token finds it again.
    pub(crate) fn park(&self, parked: Parked) -> String {
        let token = crate::identity::hex(&secret()[..16]);
        let now = Instant::now();
        let mut waiting = lock(&self.parked);
        waiting.retain(|_, (since, _)| now.duration_since(*since) < PARKED_LIMIT);
        while waiting.len() >= MOST_PARKED {
            let Some(oldest) = waiting
                .iter()
                .min_by_key(|(_, (since, _))| *since)
                .map(|(token, _)| token.clone())
            else {
                break;
            };
            // Dropping it cancels the call at the upstream.
            waiting.remove(&oldest);
        }
        waiting.insert(token.clone(), (now, parked));
        token
    }

    pub(crate) fn unpark(&self, token: &str) -> Option<Parked> {
        lock(&self.parked).remove(token).map(|(_, parked)| parked)
    }
}

/// The sessions of clients that speak the stateless protocol: one for each principal, found again at the next request.
pub(crate) struct SessionTable {
    sessions: Mutex<HashMap<Principal, Arc<Session>>>,
}

impl SessionTable {
    pub(crate) fn new() -> SessionTable {
        SessionTable {
            sessions: Mutex::new(HashMap::new()),
        }
    }

    pub(crate) fn all(&self) -> Vec<Arc<Session>> {
        lock(&self.sessions).values().cloned().collect()
    }

    pub(crate) fn of(&self, principal: &Principal, config: &GatewayConfig) -> Arc<Session> {
        let idle = crate::upstream::seconds(config.http.session_idle_seconds);
        let mut sessions = lock(&self.sessions);
        sessions.retain(|_, session| session.idle() < idle || Arc::strong_count(session) > 1);
        let session = sessions
            .entry(principal.clone())
            .or_insert_with(|| Arc::new(Session::new(principal.clone(), config)))
            .clone();
        session.touch();
        session
    }
}

/// Locks are held for moments and never across an await; a panic elsewhere leaves their content usable.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn secret() -> [u8; 32] {
    let mut secret = [0; 32];
    // Without randomness there are no secrets, and without secrets no sessions.
    getrandom::fill(&mut secret).expect("the system gives random bytes");
    secret
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_principal_finds_its_own_session_again() {
        let config = GatewayConfig::default();
        let table = SessionTable::new();
        let ada = table.of(&Principal::named("ada"), &config);
        let bob = table.of(&Principal::named("bob"), &config);
        assert_ne!(ada.id, bob.id);
        assert_eq!(table.of(&Principal::named("ada"), &config).id, ada.id);

        let now = Instant::now();
        let handle = lock(&ada.artifacts).keep(now, "text/plain", "text", b"for ada".to_vec());
        assert!(lock(&ada.artifacts).get(now, &handle).is_some());
        assert!(lock(&bob.artifacts).get(now, &handle).is_none());
    }

    #[test]
    fn an_idle_session_is_forgotten() {
        let mut config = GatewayConfig::default();
        config.http.session_idle_seconds = 0.0;
        let table = SessionTable::new();
        let first = table.of(&Principal::anonymous(), &config).id;
        assert_ne!(table.of(&Principal::anonymous(), &config).id, first);
    }
}
