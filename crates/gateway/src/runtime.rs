//! The gateway itself: the upstreams, and the one catalog made of what they offer. Sessions come and go; this stays.
//!
//! Invariant: everything derived from the catalog lives in one immutable [`View`] that is swapped as a whole, so a request
//! sees the old world or the new one, never a mixture.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError, RwLock, Weak};
use std::time::Duration;

use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::browse::Embedder;
use crate::catalog::{Catalog, CatalogOptions, Source, SourceSettings, Tool};
use crate::config::{GatewayConfig, Mode, UpstreamConfig};
use crate::errors::{ErrorCode, GatewayError};
use crate::listings::Listings;
use crate::modes::ShownNames;
use crate::oauth::Authorizer;
use crate::observe::CallLog;
use crate::outside::Outside;
use crate::session::{Principal, Session, SessionTable, lock};
use crate::upstream::{Health, Listing, Mount, Upstream};
use wire::Format;

/// How long a first question waits for upstreams that nothing is known about yet.
pub(crate) const FIRST_LISTING: Duration = Duration::from_secs(15);

/// How long upstreams may take to leave when the gateway ends.
const LONGEST_STOP: Duration = Duration::from_millis(600);

/// What the library cannot know by itself.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Where listings and tokens are kept between runs. Nothing is written without it.
    pub state_directory: Option<PathBuf>,
    /// The format answers are written in when neither the call nor the session says.
    pub output_format: Format,
    /// Servers inside this process, by the name each is mounted under.
    pub mounts: BTreeMap<String, Mount>,
    /// Ranks what is browsed by meaning too.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// The repository that this process stands in, if nobody trusts it.
    pub outside: Option<Outside>,
}

/// A running gateway.
pub struct Gateway {
    options: Options,
    listings: Listings,
    members: Mutex<Members>,
    view: RwLock<Arc<View>>,
    /// Counts views; whoever must react to a new one follows it.
    views: watch::Sender<u64>,
    /// Counts listings; the catalog follows it.
    listed: Arc<watch::Sender<u64>>,
    pub(crate) stateless_sessions: SessionTable,
    /// The sessions that were begun, while they last.
    begun: Mutex<Vec<Weak<Session>>>,
    stop: CancellationToken,
    /// Whether the catalog has held all that was listed, once.
    was_current: AtomicBool,
}

/// The upstreams, by name, with the configuration each was made from.
#[derive(Default)]
struct Members {
    upstreams: BTreeMap<String, (UpstreamConfig, Arc<Upstream>)>,
    /// The listing last written to disk for each.
    saved: BTreeMap<String, Arc<Listing>>,
}

/// Everything a request needs to know about the outside, at one moment.
pub(crate) struct View {
    pub(crate) generation: u64,
    /// The count of listings it was made from.
    built_from: u64,
    pub(crate) config: Arc<GatewayConfig>,
    pub(crate) catalog: Arc<Catalog>,
    pub(crate) names: ShownNames,
    pub(crate) upstreams: BTreeMap<String, Arc<Upstream>>,
    /// What each upstream listed, as the catalog was built from it.
    pub(crate) listings: BTreeMap<String, Arc<Listing>>,
    /// What people see of the calls.
    pub(crate) calls: Arc<CallLog>,
    fingerprints: OnceLock<[u64; 3]>,
}

impl View {
    /// Changes when what `make` lists does. Computed once a view, however many sessions ask.
    pub(crate) fn fingerprints(&self, make: impl FnOnce(&View) -> [u64; 3]) -> [u64; 3] {
        *self.fingerprints.get_or_init(|| make(self))
    }

    /// The tool an agent means: by its id, or by the name `tools/list` shows for it.
    pub(crate) fn tool(&self, id: &str) -> Result<&Arc<Tool>, GatewayError> {
        let id = self.names.id(id).unwrap_or(id);
        self.catalog.tool(id)
    }

    /// The id under which a resource is offered.
    pub(crate) fn resource_id(&self, uri: &str) -> Option<String> {
        let entries = self.catalog.resources().entries().iter();
        let mut offered = entries.filter_map(|entry| self.catalog.resource(&entry.id).ok());
        offered
            .find(|item| item.spec.uri == uri)
            .map(|item| item.entry.id.clone())
    }

    pub(crate) fn upstream(&self, name: &str) -> Result<&Arc<Upstream>, GatewayError> {
        let gone = || GatewayError::new(ErrorCode::UpstreamUnavailable, format!("no upstream named `{name}`"));
        self.upstreams.get(name).ok_or_else(gone)
    }
}

/// One upstream, for people.
#[derive(Clone, Debug)]
pub struct UpstreamStatus {
    pub name: String,
    pub health: Health,
    pub tools: usize,
    pub resources: usize,
    pub prompts: usize,
    pub required: bool,
}

impl Gateway {
    /// Starts the upstreams in the background and answers from what was remembered of them. Needs a Tokio runtime.
    pub fn start(config: GatewayConfig, options: Options) -> Arc<Gateway> {
        let listings = Listings::new(options.state_directory.as_deref());
        let config = Arc::new(config);
        let empty = View {
            generation: 0,
            built_from: 0,
            config: config.clone(),
            catalog: Arc::default(),
            names: ShownNames::default(),
            upstreams: BTreeMap::new(),
            listings: BTreeMap::new(),
            calls: Arc::default(),
            fingerprints: OnceLock::new(),
        };
        let gateway = Arc::new(Gateway {
            options,
            listings,
            members: Mutex::default(),
            view: RwLock::new(Arc::new(empty)),
            views: watch::Sender::new(0),
            listed: Arc::new(watch::Sender::new(0)),
            stateless_sessions: SessionTable::new(),
            begun: Mutex::default(),
            stop: CancellationToken::new(),
            was_current: AtomicBool::new(false),
        });
        gateway.adopt(&config);
        gateway.rebuild(config);
        tokio::spawn(follow_listings(
            Arc::downgrade(&gateway),
            gateway.listed.subscribe(),
            gateway.stop.clone(),
        ));
        gateway
    }

    /// Takes a new configuration into use: upstreams that did not change keep their connection, sessions keep running.
    pub async fn apply(&self, config: GatewayConfig) {
        let config = Arc::new(config);
        let leaving = self.adopt(&config);
        self.rebuild(config);
        for upstream in leaving {
            // Calls under way on it may still finish; new ones no longer reach it.
            upstream.stop();
        }
    }

    /// Ends every upstream and waits until their processes are gone, a moment at most: what is still there then is killed by the
    /// guardian when this process ends.
    pub async fn stop(&self) {
        self.stop.cancel();
        let upstreams: Vec<Arc<Upstream>> = self.view().upstreams.values().cloned().collect();
        for upstream in &upstreams {
            upstream.stop();
        }
        let stopped = futures::future::join_all(upstreams.iter().map(|upstream| upstream.stopped()));
        // Whoever has not left by then does not mean to.
        let _ = tokio::time::timeout(LONGEST_STOP, stopped).await;
    }

    pub fn config(&self) -> Arc<GatewayConfig> {
        self.view().config.clone()
    }

    pub fn mode(&self) -> Mode {
        self.view().config.mode
    }

    /// A new session for `principal`.
    pub fn session(&self, principal: Principal) -> Arc<Session> {
        let session = Arc::new(Session::new(principal, &self.view().config));
        let mut begun = lock(&self.begun);
        begun.retain(|session| session.strong_count() > 0);
        begun.push(Arc::downgrade(&session));
        session
    }

    /// The sessions there are, oldest first.
    pub(crate) fn sessions(&self) -> Vec<Arc<Session>> {
        let begun: Vec<Arc<Session>> = lock(&self.begun).iter().filter_map(Weak::upgrade).collect();
        let mut sessions: Vec<Arc<Session>> = begun.into_iter().chain(self.stateless_sessions.all()).collect();
        sessions.sort_by_key(|session| session.id);
        sessions
    }

    /// Changes with whatever is derived from the catalog.
    pub fn generation(&self) -> u64 {
        self.view().generation
    }

    /// How each upstream is doing.
    pub fn status(&self) -> Vec<UpstreamStatus> {
        let view = self.view();
        let status = |(name, upstream): (&String, &Arc<Upstream>)| {
            let listing = upstream.listing();
            UpstreamStatus {
                name: name.clone(),
                health: upstream.health(),
                tools: listing.tools.len(),
                resources: listing.resources.len(),
                prompts: listing.prompts.len(),
                required: view.config.upstreams.get(name).is_some_and(|config| config.required),
            }
        };
        view.upstreams.iter().map(status).collect()
    }

    /// Waits until every upstream was listed or has failed once, and the catalog knows.
    pub async fn settled(&self) {
        let upstreams: Vec<Arc<Upstream>> = self.view().upstreams.values().cloned().collect();
        futures::future::join_all(upstreams.iter().map(|upstream| upstream.settled())).await;
        let wanted = *self.listed.borrow();
        let mut views = self.views();
        while self.view().built_from < wanted && views.changed().await.is_ok() {}
    }

    pub(crate) fn view(&self) -> Arc<View> {
        self.view.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The view, once something is known about every upstream that is not down. Only a first run ever waits here, and no
    /// longer than `patience`.
    pub(crate) async fn first_view(&self, patience: Duration) -> Arc<View> {
        let view = self.view();
        // A first listing is known before the catalog is made of it; later ones are not waited for.
        let is_current = || {
            let is_current = view.built_from >= *self.listed.borrow();
            self.was_current.fetch_or(is_current, Ordering::AcqRel) || is_current
        };
        if view.upstreams.values().all(|upstream| upstream.is_known()) && is_current() {
            return view;
        }
        // What came in time is used; the rest appears when it does.
        let _ = tokio::time::timeout(patience, self.settled()).await;
        self.view()
    }

    pub(crate) fn views(&self) -> watch::Receiver<u64> {
        self.views.subscribe()
    }

    pub(crate) fn stopping(&self) -> CancellationToken {
        self.stop.clone()
    }

    pub(crate) fn output_format(&self) -> Format {
        self.options.output_format
    }

    /// What signs in to an HTTP upstream; `None` for one that needs no token.
    pub fn authorizer(&self, name: &str) -> Option<Arc<Authorizer>> {
        self.authorizer_for(name, self.config().upstreams.get(name)?)
    }

    fn authorizer_for(&self, name: &str, config: &UpstreamConfig) -> Option<Arc<Authorizer>> {
        let (oauth, url) = (config.oauth.as_ref()?, config.url.as_deref()?);
        // Without a directory tokens live about as long as the process.
        let directory = match &self.options.state_directory {
            Some(directory) => directory.join("tokens"),
            None => std::env::temp_dir().join(format!("lacon-tokens-{}", std::process::id())),
        };
        Some(Arc::new(Authorizer::new(name, url, oauth, directory)))
    }

    /// Starts and keeps upstreams as the configuration says; returns those that are to go.
    fn adopt(&self, config: &GatewayConfig) -> Vec<Arc<Upstream>> {
        let mut members = lock(&self.members);
        let mut leaving = Vec::new();
        let mut next = BTreeMap::new();
        let mut old = std::mem::take(&mut members.upstreams);
        for (name, wanted) in config.upstreams.iter().filter(|(_, upstream)| upstream.enabled) {
            match old.remove(name) {
                Some((current, upstream)) if reached_alike(&current, wanted) => {
                    next.insert(name.clone(), (wanted.clone(), upstream));
                }
                replaced => {
                    leaving.extend(replaced.map(|(_, upstream)| upstream));
                    let known = self.listings.load(name, wanted);
                    let authorizer = self.authorizer_for(name, wanted);
                    let placed = self.options.outside.as_ref().map(|outside| outside.applied(wanted));
                    let placed = placed.as_ref().unwrap_or(wanted);
                    let made = Upstream::new(name, placed, &config.refresh, known, authorizer, self.listed.clone());
                    if let Some(upstream) = made {
                        upstream.run();
                        next.insert(name.clone(), (wanted.clone(), upstream));
                    }
                }
            }
        }
        for (name, mount) in &self.options.mounts {
            let upstream = match old.remove(name) {
                Some((_, upstream)) => upstream,
                None => {
                    let settings = UpstreamConfig::default();
                    let upstream =
                        Upstream::mounted(name, mount.clone(), &settings, &config.refresh, self.listed.clone());
                    upstream.run();
                    upstream
                }
            };
            next.insert(name.clone(), (UpstreamConfig::default(), upstream));
        }
        leaving.extend(old.into_values().map(|(_, upstream)| upstream));
        members.upstreams = next;
        leaving
    }

    /// Makes a new view of what is listed now and swaps it in. A catalog that must not be used changes nothing.
    fn rebuild(&self, config: Arc<GatewayConfig>) {
        let mut members = lock(&self.members);
        let built_from = *self.listed.borrow();
        let previous = self.view();
        let mut upstreams = BTreeMap::new();
        let mut listings = BTreeMap::new();
        let mut sources = Vec::new();
        let mut fresh = Vec::new();
        for (name, (settings, upstream)) in &members.upstreams {
            let listing = upstream.listing();
            if upstream.is_listed()
                && !members
                    .saved
                    .get(name)
                    .is_some_and(|saved| Arc::ptr_eq(saved, &listing))
            {
                self.listings.save(name, settings, &listing);
                fresh.push((name.clone(), listing.clone()));
            }
            sources.push(Source {
                server: name.clone(),
                tools: listing.tools.clone(),
                resources: listing.resources.clone(),
                prompts: listing.prompts.clone(),
                settings: SourceSettings::from(settings),
            });
            upstreams.insert(name.clone(), upstream.clone());
            listings.insert(name.clone(), listing);
        }
        members.saved.extend(fresh);
        let catalog = match Catalog::build(sources, &CatalogOptions::from(&*config), Some(&previous.catalog)) {
            Ok(catalog) => Arc::new(match &self.options.embedder {
                Some(embedder) => catalog.with_vectors(embedder.clone(), Some(&previous.catalog)),
                None => catalog,
            }),
            Err(error) => {
                tracing::warn!(%error, "the catalog stays as it was");
                previous.catalog.clone()
            }
        };
        let names = ShownNames::new(config.mode, &catalog);
        let generation = previous.generation + 1;
        let fingerprints = OnceLock::new();
        let view = View {
            generation,
            built_from,
            config,
            catalog,
            names,
            upstreams,
            listings,
            calls: previous.calls.clone(),
            fingerprints,
        };
        *self.view.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(view);
        drop(members);
        self.views.send_replace(generation);
    }
}

/// Rebuilds the catalog after each burst of listings, for as long as the gateway lives.
async fn follow_listings(gateway: Weak<Gateway>, mut listed: watch::Receiver<u64>, stop: CancellationToken) {
    loop {
        tokio::select! {
            changed = listed.changed() => if changed.is_err() { return },
            () = stop.cancelled() => return,
        }
        // Upstreams that start together are listed together.
        tokio::time::sleep(Duration::from_millis(5)).await;
        listed.mark_unchanged();
        let Some(gateway) = gateway.upgrade() else { return };
        let rebuilt = tokio::task::spawn_blocking(move || {
            let config = gateway.config();
            gateway.rebuild(config);
        });
        if let Err(error) = rebuilt.await {
            tracing::error!(%error, "the catalog could not be rebuilt");
        }
    }
}

/// Whether two configurations lead to the same running server: what is only about how its tools are shown may differ.
fn reached_alike(one: &UpstreamConfig, other: &UpstreamConfig) -> bool {
    let reached = |config: &UpstreamConfig| UpstreamConfig {
        required: false,
        namespace: None,
        include: Vec::new(),
        exclude: Vec::new(),
        rename: BTreeMap::new(),
        describe: BTreeMap::new(),
        tags: Vec::new(),
        ..config.clone()
    };
    reached(one) == reached(other)
}

impl Drop for Gateway {
    fn drop(&mut self) {
        self.stop.cancel();
        for upstream in self.view().upstreams.values() {
            upstream.stop();
        }
    }
}
