//! Serves a page in the browser: who may open it, and what is said of it on stderr.

use std::net::SocketAddr;

use anyhow::Context;
use gateway::config::HttpConfig;
use gateway::http::PageRoutes;
use gateway::shutdown::Shutdown;
use terminal::failure::{Explain, Failure};
use terminal::output;
use tokio::net::TcpListener;

use super::http_access::{HttpAccess, Token};

/// A page that has its address and is not served yet.
pub(crate) struct Page {
    config: HttpConfig,
    listener: TcpListener,
    code: String,
}

impl Page {
    /// Listens, and says where.
    pub(crate) async fn listen(address: String) -> Result<Page, Failure> {
        let mut config = HttpConfig {
            listen: address,
            ..HttpConfig::default()
        };
        let token = HttpAccess::default().settle(&mut config).await?;
        // A token that somebody named is no reason to be called by names of elsewhere.
        if gateway::http::is_loopback(&config).await? && config.allowed_hosts.is_empty() {
            config.allowed_hosts = gateway::http::loopback_hosts();
        }
        let listener = gateway::http::listen(&config)
            .await
            .hint("port 0 takes a free one; beyond loopback set LACON_HTTP_TOKEN")?;
        let code = gateway::http::new_token().context("no random numbers for a code")?;
        announce(listener.local_addr().context("no local address")?, &code, &token);
        Ok(Page { config, listener, code })
    }

    /// Until the process is told to stop.
    pub(crate) async fn serve(
        self,
        routes: impl FnOnce(String) -> PageRoutes,
        shutdown: Shutdown,
    ) -> Result<(), Failure> {
        let routes = routes(self.code);
        let served = gateway::http::serve_pages(&self.config, self.listener, shutdown, routes).await;
        Ok(served.context("HTTP stopped")?)
    }
}

fn announce(address: SocketAddr, code: &str, token: &Token) {
    let mut text = format!("open      http://{address}/#enter={code}\n          (once; it lets one browser in)\n");
    match token {
        Token::New(token) => text.push_str(&format!(
            "token     {token}\n          (for `curl`, and for further browsers; new at each start, LACON_HTTP_TOKEN names one that stays)\n"
        )),
        Token::Named | Token::None => text.push_str("token     LACON_HTTP_TOKEN\n"),
    }
    output::notice(&text);
}
