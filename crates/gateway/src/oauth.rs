//! Tokens for HTTP upstreams: a person signs in once (authorization code with PKCE) or Lacon signs in by itself (client
//! credentials); from then on tokens are renewed before they run out and again when an upstream rejects one.
//!
//! The protocol itself is the SDK's. Here is where tokens are kept, and when a new one is asked for.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::time::Duration;

use async_trait::async_trait;
use rmcp::transport::auth::{AuthorizationMetadata, OAuthClientConfig};
use rmcp::transport::{
    AuthError, AuthorizationManager, AuthorizationRequest, AuthorizationSession, ClientCredentialsConfig,
    CredentialStore, StoredCredentials,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::sync::Mutex;

use crate::config::{OAuthConfig, OAuthGrant};

/// How long a person may take to sign in.
const SIGN_IN_LIMIT: Duration = Duration::from_secs(300);

/// Obtains and renews the tokens of one upstream.
pub struct Authorizer {
    url: String,
    config: OAuthConfig,
    store: FileStore,
    manager: Mutex<Option<AuthorizationManager>>,
}

impl Authorizer {
    /// Tokens are kept in `directory`, one file an upstream, readable by the user alone.
    pub fn new(upstream: &str, url: &str, config: &OAuthConfig, directory: PathBuf) -> Authorizer {
        // The name and the address together: tokens must never reach another server under an old name.
        let digest = blake3::hash(format!("{upstream}\n{url}").as_bytes()).to_hex();
        let store = FileStore {
            path: directory.join(format!("{}.json", &digest[..16])),
        };
        Authorizer {
            url: url.to_owned(),
            config: config.clone(),
            store,
            manager: Mutex::new(None),
        }
    }

    /// The token to send; `None` when nobody has signed in yet.
    pub(crate) async fn token(&self) -> Result<Option<String>, AuthError> {
        let mut slot = self.manager.lock().await;
        let manager = self.ready(&mut slot).await?;
        match manager.get_access_token().await {
            Ok(token) => Ok(Some(token)),
            Err(AuthError::AuthorizationRequired) if self.config.grant == OAuthGrant::ClientCredentials => {
                self.sign_in_alone(manager).await.map(Some)
            }
            Err(AuthError::AuthorizationRequired) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// A token other than the one the upstream just rejected, if one can be had.
    pub(crate) async fn renew(&self, rejected: &str) -> Result<Option<String>, AuthError> {
        let mut slot = self.manager.lock().await;
        let manager = self.ready(&mut slot).await?;
        // Another call may have renewed it while this one waited for the lock.
        if let Ok(token) = manager.get_access_token().await
            && token != rejected
        {
            return Ok(Some(token));
        }
        if self.config.grant == OAuthGrant::ClientCredentials {
            return self.sign_in_alone(manager).await.map(Some);
        }
        match manager.refresh_token().await {
            Ok(_) => manager.get_access_token().await.map(Some),
            Err(AuthError::AuthorizationRequired | AuthError::TokenRefreshRejected(_)) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Lets a person sign in: `show` gets the address to open, and the answer arrives on a loopback port.
    pub async fn sign_in(&self, show: impl FnOnce(&str)) -> Result<(), AuthError> {
        let listener = TcpListener::bind(("127.0.0.1", self.config.redirect_port))
            .await
            .map_err(network)?;
        let port = listener.local_addr().map_err(network)?.port();
        let redirect = format!("http://127.0.0.1:{port}/callback");
        let mut slot = self.manager.lock().await;
        let manager = self.discovered().await?;
        let mut request = AuthorizationRequest::new(redirect.clone())
            .with_scopes(self.config.scopes.clone())
            .with_client_name("Lacon");
        if let Some(id) = &self.config.client_id {
            request = request.with_preregistered_client(id.clone());
            if let Some(secret) = &self.config.client_secret {
                request = request.with_client_secret(secret.clone());
            }
        }
        let session = AuthorizationSession::new(manager, request)
            .await
            .map_err(|(_, error)| error)?;
        show(session.get_authorization_url());
        let callback = tokio::time::timeout(SIGN_IN_LIMIT, callback(&listener))
            .await
            .map_err(|_| AuthError::AuthorizationFailed("nobody signed in within five minutes".into()))??;
        session
            .handle_callback_url(&format!("http://127.0.0.1:{port}{callback}"))
            .await?;
        *slot = None;
        Ok(())
    }

    async fn ready<'a>(
        &self,
        slot: &'a mut Option<AuthorizationManager>,
    ) -> Result<&'a mut AuthorizationManager, AuthError> {
        match slot {
            Some(manager) => Ok(manager),
            None => {
                let mut manager = self.discovered().await?;
                manager.initialize_from_store().await?;
                self.configure(&mut manager)?;
                Ok(slot.insert(manager))
            }
        }
    }

    /// A manager that knows the authorization server's endpoints.
    async fn discovered(&self) -> Result<AuthorizationManager, AuthError> {
        let mut manager = AuthorizationManager::new(self.url.as_str()).await?;
        manager.set_credential_store(self.store.clone());
        let metadata = match &self.config.token_url {
            Some(token_url) => {
                let mut metadata = AuthorizationMetadata::default();
                metadata.token_endpoint = token_url.clone();
                metadata.authorization_endpoint = self
                    .config
                    .authorization_url
                    .clone()
                    .unwrap_or_else(|| token_url.clone());
                metadata.code_challenge_methods_supported = Some(vec!["S256".into()]);
                metadata
            }
            None => manager.resolve_metadata().await?.metadata,
        };
        manager.set_metadata(metadata);
        Ok(manager)
    }

    fn configure(&self, manager: &mut AuthorizationManager) -> Result<(), AuthError> {
        match self.config.grant {
            OAuthGrant::ClientCredentials => manager.configure_client_credentials(&self.client_credentials()?),
            OAuthGrant::AuthorizationCode => {
                let Some(id) = &self.config.client_id else {
                    return Ok(());
                };
                let mut client = OAuthClientConfig::new(id.clone(), "http://127.0.0.1/callback");
                if let Some(secret) = &self.config.client_secret {
                    client = client.with_client_secret(secret.clone());
                }
                manager.configure_client(client.with_scopes(self.config.scopes.clone()))
            }
        }
    }

    async fn sign_in_alone(&self, manager: &AuthorizationManager) -> Result<String, AuthError> {
        manager.exchange_client_credentials(&self.client_credentials()?).await?;
        manager.get_access_token().await
    }

    fn client_credentials(&self) -> Result<ClientCredentialsConfig, AuthError> {
        let (Some(client_id), Some(client_secret)) = (&self.config.client_id, &self.config.client_secret) else {
            return Err(AuthError::ClientCredentialsError(
                "client_id and client_secret are needed".into(),
            ));
        };
        Ok(ClientCredentialsConfig::ClientSecret {
            client_id: client_id.clone(),
            client_secret: client_secret.clone(),
            scopes: self.config.scopes.clone(),
            resource: Some(self.url.clone()),
        })
    }
}

/// Waits for the browser to come back and returns the path and query it asks for.
async fn callback(listener: &TcpListener) -> Result<String, AuthError> {
    loop {
        let (mut stream, _) = listener.accept().await.map_err(network)?;
        let mut request = vec![0; 8192];
        let length = stream.read(&mut request).await.map_err(network)?;
        let line = String::from_utf8_lossy(&request[..length]);
        let target = line.split_whitespace().nth(1).unwrap_or_default().to_owned();
        let matched = target.starts_with("/callback?");
        let (status, text) = if matched {
            ("200 OK", "Signed in. You can close this page.")
        } else {
            ("404 Not Found", "")
        };
        let answer = format!(
            "HTTP/1.1 {status}\r\ncontent-type: text/plain\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{text}",
            text.len()
        );
        // The browser may be gone already: what it brought is all that matters.
        drop(stream.write_all(answer.as_bytes()).await);
        if matched {
            return Ok(target);
        }
    }
}

/// Credentials in one file.
#[derive(Clone)]
struct FileStore {
    path: PathBuf,
}

#[async_trait]
impl CredentialStore for FileStore {
    async fn load(&self) -> Result<Option<StoredCredentials>, AuthError> {
        match tokio::fs::read(&self.path).await {
            // A file that does not read is as good as none: signing in again replaces it.
            Ok(text) => Ok(serde_json::from_slice(&text).ok()),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(store_error(&error)),
        }
    }

    async fn save(&self, credentials: StoredCredentials) -> Result<(), AuthError> {
        let text =
            serde_json::to_vec(&credentials).map_err(|error| AuthError::CredentialStoreError(error.to_string()))?;
        let path = self.path.clone();
        tokio::task::spawn_blocking(move || write_private(&path, &text))
            .await
            .map_err(|error| AuthError::CredentialStoreError(error.to_string()))?
            .map_err(|error| store_error(&error))
    }

    async fn clear(&self) -> Result<(), AuthError> {
        match tokio::fs::remove_file(&self.path).await {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(store_error(&error)),
            _ => Ok(()),
        }
    }
}

/// Replaces a file that only its owner may read, in one step.
fn write_private(path: &std::path::Path, text: &[u8]) -> std::io::Result<()> {
    use std::io::Write;
    if let Some(directory) = path.parent() {
        std::fs::create_dir_all(directory)?;
    }
    let partial = path.with_extension(format!("partial{}", std::process::id()));
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create(true).truncate(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(&partial)?.write_all(text)?;
    std::fs::rename(&partial, path)
}

fn store_error(error: &std::io::Error) -> AuthError {
    AuthError::CredentialStoreError(error.to_string())
}

fn network(error: std::io::Error) -> AuthError {
    AuthError::AuthorizationFailed(error.to_string())
}
