//! How an upstream is reached: a child process, a streamable-HTTP server, or a server inside this process. All three end in
//! the same SDK service, so nothing else needs to know which it is.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use futures::channel::mpsc;
use futures::future::BoxFuture;
use reqwest::header::{HeaderName, HeaderValue};
use rmcp::model::{ClientJsonRpcMessage, ProtocolVersion, ServerJsonRpcMessage};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, ClientServiceExt, RoleClient, RunningService, ServiceExt,
};
use rmcp::transport::StreamableHttpClientTransport;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::{RoleServer, ServerHandler};
use serde_json::{Map, Value};

use super::authorized::AuthorizedClient;
use super::call::{CallFailure, transport_failure};
use super::client::UpstreamClient;
use super::http_client::BoundedClient;
use super::process::{self, Program};
use super::stdio::LineTransport;
use crate::config::ProtocolChoice;
use crate::oauth::Authorizer;

/// Messages that may wait between two ends inside this process.
const MEMORY_CAPACITY: usize = 64;

/// Where an upstream is.
#[derive(Clone)]
pub(crate) enum Place {
    Child(Program),
    Http(HttpPlace),
    Mounted(Mount),
}

#[derive(Clone)]
pub(crate) struct HttpPlace {
    pub(crate) url: String,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) authorizer: Option<Arc<Authorizer>>,
}

/// A server inside this process, mounted as one more upstream. This is the seam for Lacon's own tools: anything that
/// implements the SDK's `ServerHandler` can be mounted, and messages pass as values, never as text.
#[derive(Clone)]
pub struct Mount {
    serve: Arc<dyn Fn(ServerEnd) -> BoxFuture<'static, ()> + Send + Sync>,
    spell: Option<Spelling>,
}

/// Rewrites the arguments of the tool with this name to the words of its listed schema.
type Spelling = Arc<dyn Fn(&str, &mut Map<String, Value>) + Send + Sync>;

type ServerEnd = (mpsc::Sender<ServerJsonRpcMessage>, mpsc::Receiver<ClientJsonRpcMessage>);

impl Mount {
    /// Mounts the server that `make` returns; it is called once for every connection.
    pub fn new<H: ServerHandler>(make: impl Fn() -> H + Send + Sync + 'static) -> Mount {
        Mount {
            serve: Arc::new(move |end| {
                let handler = make();
                Box::pin(async move {
                    match ServiceExt::<RoleServer>::serve(handler, end).await {
                        Ok(service) => drop(service.waiting().await),
                        Err(error) => tracing::warn!(%error, "a mounted server did not start"),
                    }
                })
            }),
            spell: None,
        }
    }

    /// The server takes more spellings of arguments than its tools list: `spell` rewrites them to the listed ones, which the
    /// gateway then checks as it checks every upstream's.
    #[must_use]
    pub fn spelling(self, spell: impl Fn(&str, &mut Map<String, Value>) + Send + Sync + 'static) -> Mount {
        Mount {
            spell: Some(Arc::new(spell)),
            ..self
        }
    }
}

impl fmt::Debug for Mount {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("Mount")
    }
}

/// Connects to one upstream, again and again.
pub(super) struct Connector {
    place: Place,
    protocol: ProtocolChoice,
    message_limit: usize,
    /// The upstream broke off during discovery once: from now on it is greeted in the older way.
    greet_as_legacy: AtomicBool,
}

pub(super) type Service = RunningService<RoleClient, UpstreamClient>;

impl Connector {
    pub(super) fn new(place: Place, protocol: ProtocolChoice, message_limit: usize) -> Connector {
        Connector {
            place,
            protocol,
            message_limit,
            greet_as_legacy: AtomicBool::new(false),
        }
    }

    /// See [`Mount::spelling`].
    pub(super) fn spell(&self, tool: &str, arguments: &mut Map<String, Value>) {
        if let Place::Mounted(Mount { spell: Some(spell), .. }) = &self.place {
            spell(tool, arguments);
        }
    }

    /// Makes a connection and agrees on a protocol version.
    pub(super) async fn connect(&self, client: UpstreamClient) -> Result<Service, CallFailure> {
        let lifecycle = self.lifecycle();
        let probing = matches!(lifecycle, ClientLifecycleMode::Auto { .. });
        let result = match &self.place {
            Place::Child(program) => {
                let (process, stdin, stdout) = process::start(program)
                    .map_err(|error| unavailable(format!("cannot start `{}`: {}", program.command, error.kind())))?;
                let stderr = process.stderr();
                let transport = LineTransport::new(stdout, stdin, self.message_limit, Some(process));
                let result = client.serve_with_lifecycle(transport, lifecycle).await;
                if let Err(error) = &result {
                    tracing::warn!(command = %program.command, %error, stderr = %stderr.last_line(), "upstream did not start");
                }
                result
            }
            Place::Http(place) => {
                let http = BoundedClient::new(http_client()?, self.message_limit);
                let config = place.transport_config(self.message_limit)?;
                match place.authorizer.clone() {
                    Some(authorizer) => {
                        let http = AuthorizedClient { http, authorizer };
                        let transport = StreamableHttpClientTransport::with_client(http, config);
                        client.serve_with_lifecycle(transport, lifecycle).await
                    }
                    None => {
                        let transport = StreamableHttpClientTransport::with_client(http, config);
                        client.serve_with_lifecycle(transport, lifecycle).await
                    }
                }
            }
            Place::Mounted(mount) => {
                let (to_server, from_client) = mpsc::channel(MEMORY_CAPACITY);
                let (to_client, from_server) = mpsc::channel(MEMORY_CAPACITY);
                tokio::spawn((mount.serve)((to_client, from_client)));
                client.serve_with_lifecycle((to_server, from_server), lifecycle).await
            }
        };
        result.map_err(|error| {
            if probing && !matches!(self.place, Place::Mounted(_)) {
                self.greet_as_legacy.store(true, Ordering::Relaxed);
            }
            connect_failure(&error)
        })
    }

    fn lifecycle(&self) -> ClientLifecycleMode {
        let newest = vec![ProtocolVersion::V_2026_07_28];
        match self.protocol {
            ProtocolChoice::Stateless => ClientLifecycleMode::Discover {
                preferred_versions: newest,
            },
            ProtocolChoice::Session => ClientLifecycleMode::Initialize,
            ProtocolChoice::Auto if self.greet_as_legacy.load(Ordering::Relaxed) => ClientLifecycleMode::Initialize,
            ProtocolChoice::Auto => ClientLifecycleMode::Auto {
                preferred_versions: newest,
                legacy_version: Some(ProtocolVersion::LATEST_WITH_INITIALIZE),
            },
        }
    }
}

impl HttpPlace {
    fn transport_config(&self, message_limit: usize) -> Result<StreamableHttpClientTransportConfig, CallFailure> {
        let mut headers = HashMap::new();
        for (name, value) in &self.headers {
            let name = HeaderName::try_from(name.as_str());
            let value = HeaderValue::try_from(value.as_str());
            let (Ok(name), Ok(value)) = (name, value) else {
                return Err(CallFailure::Transport("a configured header is not valid".into()));
            };
            headers.insert(name, value);
        }
        Ok(StreamableHttpClientTransportConfig::with_uri(self.url.as_str())
            .custom_headers(headers)
            .max_concurrent_requests(256)
            .max_sse_event_size(message_limit))
    }
}

/// Same-origin redirects only: a token must not follow a redirect to a stranger.
fn http_client() -> Result<reqwest::Client, CallFailure> {
    let policy = reqwest::redirect::Policy::custom(|attempt| {
        let same = attempt
            .previous()
            .last()
            .is_some_and(|previous| previous.origin() == attempt.url().origin());
        if same && attempt.previous().len() < 5 {
            attempt.follow()
        } else {
            attempt.stop()
        }
    });
    reqwest::Client::builder()
        .redirect(policy)
        .connect_timeout(std::time::Duration::from_secs(10))
        .build()
        .map_err(|error| CallFailure::Transport(error.to_string()))
}

fn connect_failure(error: &ClientInitializeError) -> CallFailure {
    if error.is_authorization_required() {
        return CallFailure::Unauthorized("the upstream asks for authorization".into());
    }
    match error {
        ClientInitializeError::TransportError { error, .. } => transport_failure(error.error.as_ref()),
        ClientInitializeError::JsonRpcError(error) => CallFailure::Rpc(error.clone()),
        ClientInitializeError::ConnectionClosed(_) => unavailable("it closed the connection while starting".into()),
        other => unavailable(other.to_string()),
    }
}

fn unavailable(reason: String) -> CallFailure {
    CallFailure::Unavailable {
        reason,
        retry_after: None,
    }
}
