//! What an operator may set, as types. The JSON Schema derived from them finds unknown keys (and the nearest known one),
//! checks every value with its place, and writes the reference page, so the three cannot disagree.

mod load;
mod reference;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use crate::controls::{CallLimit, RateLimits, RetryPolicy};
pub use crate::policy::{PolicyAction, PolicyConfig, PolicyRule};
pub use crate::schema::{OnInvalidSchema, SchemaLimits};
pub use load::{ConfigError, ConfigProblem, Loaded, nearest, parse_json, parse_toml};
pub use reference::{config_schema, reference_page};

/// The whole configuration. Every part has a default, so an empty file is a gateway without upstreams.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct GatewayConfig {
    /// How upstream tools are shown to the agent.
    pub mode: Mode,
    /// The servers behind the gateway, by name. A name becomes the namespace of the server's tools.
    pub upstreams: BTreeMap<String, UpstreamConfig>,
    /// Whether Lacon's own code tools appear as one more upstream, named `lacon`.
    pub mount_code_tools: bool,
    pub browse: BrowseConfig,
    pub execute: ExecuteConfig,
    /// Limits on the JSON Schemas that upstreams declare.
    pub schema_limits: SchemaLimits,
    /// Another attempt after a transient upstream failure. Off by default.
    pub retry: RetryPolicy,
    pub cache: CacheConfig,
    /// Quotas per session. None by default.
    pub rate_limits: RateLimits,
    /// Which tools may be used. The first rule that matches decides.
    pub policy: PolicyConfig,
    pub firewall: FirewallConfig,
    pub artifacts: ArtifactConfig,
    pub refresh: RefreshConfig,
    pub http: HttpConfig,
}

/// How upstream tools are shown.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Three meta-tools: browse, execute, view.
    #[default]
    Gateway,
    /// Every tool in `tools/list` without its schema, plus `tool_hydrate` and `tool_execute`.
    Proxy,
    /// Upstream names and schemas unchanged; only results are re-encoded.
    Passthrough,
}

/// One upstream: a child process (`command`) or a streamable-HTTP server (`url`).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct UpstreamConfig {
    /// The program to start; it speaks MCP on its standard input and output.
    pub command: Option<String>,
    /// Arguments of `command`.
    pub args: Vec<String>,
    /// Environment variables added for `command`.
    pub env: BTreeMap<String, String>,
    /// Working directory of `command`.
    pub cwd: Option<String>,
    /// Address of a streamable-HTTP server.
    pub url: Option<String>,
    /// Headers sent with every request to `url`.
    pub headers: BTreeMap<String, String>,
    /// How to obtain tokens for `url`.
    pub oauth: Option<OAuthConfig>,
    /// Which protocol era to speak with it.
    pub protocol: ProtocolChoice,
    /// Whether it is used at all.
    pub enabled: bool,
    /// Whether the gateway refuses to start without it.
    pub required: bool,
    /// Namespace of its tools; its name when absent.
    pub namespace: Option<String>,
    /// Globs over its tool names; only matching tools are kept. All when empty.
    pub include: Vec<String>,
    /// Globs over its tool names; matching tools are dropped, after `include`.
    pub exclude: Vec<String>,
    /// New names for its tools: `"upstream name" = "shown name"`.
    pub rename: BTreeMap<String, String>,
    /// Descriptions to show instead of its own, by upstream tool name.
    pub describe: BTreeMap<String, String>,
    /// Tags given to all of its tools.
    pub tags: Vec<String>,
    /// Longest time one call may take.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub timeout_seconds: f64,
    /// Longest time to connect and list its tools.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub connect_timeout_seconds: f64,
    /// Calls under way at once.
    #[schemars(range(min = 1))]
    pub max_concurrency: usize,
    /// Largest message accepted from it.
    #[schemars(range(min = 1024))]
    pub max_message_bytes: usize,
    pub restart: RestartConfig,
}

impl Default for UpstreamConfig {
    fn default() -> UpstreamConfig {
        UpstreamConfig {
            command: None,
            args: Vec::new(),
            env: BTreeMap::new(),
            cwd: None,
            url: None,
            headers: BTreeMap::new(),
            oauth: None,
            protocol: ProtocolChoice::Auto,
            enabled: true,
            required: false,
            namespace: None,
            include: Vec::new(),
            exclude: Vec::new(),
            rename: BTreeMap::new(),
            describe: BTreeMap::new(),
            tags: Vec::new(),
            timeout_seconds: 30.0,
            connect_timeout_seconds: 10.0,
            max_concurrency: 16,
            max_message_bytes: 32 << 20,
            restart: RestartConfig::default(),
        }
    }
}

/// A protocol era.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub enum ProtocolChoice {
    /// Ask for the newest; fall back to the older one.
    #[default]
    #[serde(rename = "auto")]
    Auto,
    /// With sessions and a handshake.
    #[serde(rename = "2025-11-25")]
    Session,
    /// Stateless.
    #[serde(rename = "2026-07-28")]
    Stateless,
}

/// Where an upstream is reached; the checked form of `command` and `url`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Transport<'a> {
    Stdio { command: &'a str },
    Http { url: &'a str },
}

impl UpstreamConfig {
    /// `None` unless exactly one of `command` and `url` is set, which loading has checked.
    pub fn transport(&self) -> Option<Transport<'_>> {
        match (self.command.as_deref(), self.url.as_deref()) {
            (Some(command), None) => Some(Transport::Stdio { command }),
            (None, Some(url)) => Some(Transport::Http { url }),
            _ => None,
        }
    }
}

/// What happens when an upstream fails.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RestartConfig {
    /// Seconds before the first restart; each further delay doubles.
    #[schemars(range(min = 0))]
    pub base_delay_seconds: f64,
    /// Longest delay between restarts.
    #[schemars(range(min = 0))]
    pub max_delay_seconds: f64,
    /// Failures in a row after which calls are refused at once.
    #[schemars(range(min = 1))]
    pub circuit_failures: u32,
    /// Seconds until a refused upstream is tried again.
    #[schemars(range(min = 0))]
    pub circuit_open_seconds: f64,
}

impl Default for RestartConfig {
    fn default() -> RestartConfig {
        RestartConfig {
            base_delay_seconds: 0.5,
            max_delay_seconds: 30.0,
            circuit_failures: 5,
            circuit_open_seconds: 15.0,
        }
    }
}

/// OAuth for an HTTP upstream.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OAuthConfig {
    /// How tokens are obtained.
    pub grant: OAuthGrant,
    /// Registered client; registered dynamically when absent and the server allows it.
    pub client_id: Option<String>,
    /// Use `${env:NAME}` rather than the secret itself.
    pub client_secret: Option<String>,
    /// What is asked for; the server decides when empty.
    pub scopes: Vec<String>,
    /// Discovered from the server when absent.
    pub authorization_url: Option<String>,
    /// Discovered from the server when absent.
    pub token_url: Option<String>,
    /// Local port that receives the authorization code; any free one when 0.
    pub redirect_port: u16,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum OAuthGrant {
    /// A person signs in once; tokens are refreshed after that.
    #[default]
    AuthorizationCode,
    /// The gateway signs in by itself.
    ClientCredentials,
}

/// What `tool_browse` returns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BrowseConfig {
    /// Cards per query when the call does not say.
    #[schemars(range(min = 1, max = 50))]
    pub top_k: usize,
    /// Tokens one card aims at; its description is cut to fit.
    #[schemars(range(min = 12, max = 80))]
    pub card_tokens: usize,
    /// Tools in a namespace or cluster before it is listed as clusters.
    #[schemars(range(min = 2, max = 500))]
    pub cluster_size: usize,
    /// Whether cards already seen in a session come first and unchanged, so that a prompt cache keeps its prefix.
    pub cache_stable: bool,
}

impl Default for BrowseConfig {
    fn default() -> BrowseConfig {
        BrowseConfig {
            top_k: 8,
            card_tokens: 25,
            cluster_size: 100,
            cache_stable: false,
        }
    }
}

/// What `tool_execute` does before a call leaves.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ExecuteConfig {
    /// Whether `"42"` is accepted for an integer and the like, before strict validation.
    pub tolerant_args: bool,
    /// What to do with a tool whose schema is invalid or too complex.
    pub on_invalid_schema: OnInvalidSchema,
}

/// Results of read-only tools, kept for a while. Whether a tool is read-only is its upstream's unverified claim, so
/// nothing is cached unless asked for.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CacheConfig {
    /// Cache results of tools that declare themselves read-only.
    pub read_only: bool,
    /// Only these tool ids; every read-only tool when absent.
    pub allow: Option<Vec<String>>,
    /// How long a result is kept.
    #[schemars(range(min = 0))]
    pub ttl_seconds: f64,
    /// Results kept at once; the least recently used goes first.
    #[schemars(range(min = 1))]
    pub max_entries: usize,
}

impl Default for CacheConfig {
    fn default() -> CacheConfig {
        CacheConfig {
            read_only: false,
            allow: None,
            ttl_seconds: 60.0,
            max_entries: 256,
        }
    }
}

/// What happens to results on their way to the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct FirewallConfig {
    /// Results up to this many tokens pass whole.
    pub inline_tokens: usize,
    /// Tokens of the digest that stands for a larger result.
    #[schemars(range(min = 32))]
    pub digest_tokens: usize,
    /// Most tokens one `tool_view` returns.
    #[schemars(range(min = 32))]
    pub view_tokens: usize,
    /// Whether tokens, keys and passwords are masked in what leaves.
    pub redact_secrets: bool,
}

impl Default for FirewallConfig {
    fn default() -> FirewallConfig {
        FirewallConfig {
            inline_tokens: 2000,
            digest_tokens: 400,
            view_tokens: 4000,
            redact_secrets: true,
        }
    }
}

/// Limits on what one session keeps for `tool_view`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ArtifactConfig {
    /// How long an artifact is kept.
    #[schemars(range(min = 1))]
    pub ttl_seconds: f64,
    /// Bytes of all artifacts of a session together.
    pub max_bytes: usize,
    /// Bytes of one artifact; the rest is cut.
    pub max_artifact_bytes: usize,
    /// Artifacts of a session; the oldest goes first.
    pub max_artifacts: usize,
}

impl Default for ArtifactConfig {
    fn default() -> ArtifactConfig {
        ArtifactConfig {
            ttl_seconds: 3600.0,
            max_bytes: 256 << 20,
            max_artifact_bytes: 64 << 20,
            max_artifacts: 1000,
        }
    }
}

/// How changes upstream and in this file are picked up.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RefreshConfig {
    /// Whether this file is watched and reloaded.
    pub watch_config: bool,
    /// How long changes are gathered before the catalog is rebuilt. None is ever lost.
    #[schemars(range(min = 0))]
    pub debounce_seconds: f64,
}

impl Default for RefreshConfig {
    fn default() -> RefreshConfig {
        RefreshConfig {
            watch_config: true,
            debounce_seconds: 0.5,
        }
    }
}

/// Serving over streamable HTTP.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct HttpConfig {
    /// Address to listen on when HTTP is asked for.
    pub listen: String,
    /// Accepted bearer tokens, by the name of the principal that holds each. None: LACON_HTTP_TOKEN is accepted, else a new
    /// token is made at each start and printed with the address.
    pub tokens: BTreeMap<String, String>,
    /// Origins of web pages that may call, besides the server's own: scheme, host and port exactly.
    pub allowed_origins: Vec<String>,
    /// Names by which the server may be called (the `Host` header). Any when empty and tokens are set, loopback names without.
    pub allowed_hosts: Vec<String>,
    /// Largest request body.
    pub max_body_bytes: usize,
    /// Sessions at once; further ones are refused.
    pub max_sessions: usize,
    /// Seconds without a request after which a session ends.
    pub session_idle_seconds: f64,
    /// Connections at once, and at most half of the files that the process may open. One more closes the one that has been
    /// idle longest; where none is idle it is refused.
    #[schemars(range(min = 1))]
    pub max_connections: usize,
    /// Seconds that a connection may take for a request's headers, for its body, and between two requests.
    #[schemars(extend("exclusiveMinimum" = 0))]
    pub silence_seconds: f64,
}

impl Default for HttpConfig {
    fn default() -> HttpConfig {
        HttpConfig {
            listen: "127.0.0.1:8765".to_owned(),
            tokens: BTreeMap::new(),
            allowed_origins: Vec::new(),
            allowed_hosts: Vec::new(),
            max_body_bytes: 4 << 20,
            max_sessions: 1000,
            session_idle_seconds: 1800.0,
            max_connections: 1024,
            silence_seconds: 30.0,
        }
    }
}
