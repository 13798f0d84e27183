//! Who may come in over HTTP, as the command line says it: a token by default, printed with the address and with what a client needs.

use anyhow::{Context, anyhow};
use gateway::config::HttpConfig;
use serde_json::json;
use terminal::failure::{Explain, Failure};
use terminal::output;

/// Flags of every verb that serves HTTP.
#[derive(clap::Args, Debug, Default)]
pub(crate) struct HttpAccess {
    /// Over HTTP: ask for no token. On loopback only, and nothing that writes is offered then
    #[arg(long, requires = "http", conflicts_with = "allow_writes")]
    no_token: bool,

    /// Over HTTP: offer tools that write, too
    #[arg(long, requires = "http")]
    allow_writes: bool,

    /// Over HTTP: a page of this origin may call, besides the server's own; scheme, host and port exactly (repeatable)
    #[arg(long, value_name = "ORIGIN", requires = "http")]
    allow_origin: Vec<String>,
}

/// Where a token comes from.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// The configuration, or LACON_HTTP_TOKEN: whoever set it knows it.
    Named,
    /// Made now, and to be printed.
    New(String),
    /// None is asked for.
    None,
}

impl HttpAccess {
    /// Whether tools that write are offered over HTTP.
    pub(crate) fn allows_writes(&self) -> bool {
        self.allow_writes
    }

    pub(crate) fn asks_for_no_token(&self) -> bool {
        self.no_token
    }

    /// Puts tokens and origins into `config`, and says where the token comes from.
    pub(crate) async fn settle(&self, config: &mut HttpConfig) -> Result<Token, Failure> {
        config.allowed_origins.extend(self.allow_origin.iter().cloned());
        let named = std::env::var("LACON_HTTP_TOKEN").ok().filter(|token| !token.is_empty());
        if self.no_token {
            if !config.tokens.is_empty() || named.is_some() {
                return Err(anyhow!("--no-token, but a token is set"))
                    .bad_input()
                    .hint("leave out --no-token, or unset LACON_HTTP_TOKEN and http.tokens");
            }
            return Ok(Token::None);
        }
        if config.tokens.is_empty() {
            if let Some(token) = named {
                config.tokens.insert("user".to_string(), token);
                return Ok(Token::Named);
            }
            // Beyond this machine a token must outlive a restart, so it has to be named.
            if !gateway::http::is_loopback(config).await? {
                return Ok(Token::None);
            }
            let token = gateway::http::new_token().context("no random numbers for a token")?;
            config.tokens.insert("user".to_string(), token.clone());
            if config.allowed_hosts.is_empty() {
                config.allowed_hosts = gateway::http::loopback_hosts();
            }
            return Ok(Token::New(token));
        }
        Ok(Token::Named)
    }
}

/// Says on stderr where the server is, and what a client's configuration needs.
pub(crate) fn announce(address: std::net::SocketAddr, token: &Token, name: &str, writes: bool) {
    let url = format!("http://{address}/mcp");
    let mut text = format!("listening on {url}\n");
    let header = match token {
        Token::New(token) => Some(format!("Bearer {token}")),
        Token::Named => Some("Bearer ${LACON_HTTP_TOKEN}".to_string()),
        Token::None => None,
    };
    let mut entry = json!({"type": "http", "url": url});
    if let Some(header) = header {
        if let Token::New(token) = token {
            text.push_str(&format!(
                "token: {token} (new at each start; LACON_HTTP_TOKEN names one that stays)\n"
            ));
        }
        entry["headers"] = json!({"Authorization": header});
    } else {
        text.push_str("no token is asked for: every user of this machine may ask\n");
    }
    let configuration = json!({"mcpServers": {name: entry}});
    text.push_str(&format!("client configuration: {configuration}\n"));
    if !writes {
        text.push_str("nothing that writes is offered\n");
    }
    output::notice(&text);
}
