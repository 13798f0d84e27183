//! The HTTP side of a streamable-HTTP upstream: every body is read through a limit, whatever its length claims.
//!
//! The SDK's own client bounds event streams but reads a JSON body whole; this one bounds both.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use futures::stream::BoxStream;
use futures::{Stream, StreamExt, TryStreamExt};
use reqwest::header::{ACCEPT, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue, RETRY_AFTER, WWW_AUTHENTICATE};
use reqwest::{RequestBuilder, Response, StatusCode};
use rmcp::model::{ClientJsonRpcMessage, ClientRequest, ErrorData, ServerJsonRpcMessage};
use rmcp::transport::streamable_http_client::{
    AuthRequiredError, HttpStatusError, InsufficientScopeError, SseError, StreamableHttpClient, StreamableHttpError,
    StreamableHttpPostResponse,
};
use sse_stream::{Sse, SseStream};

use super::faults;

const SESSION: &str = "mcp-session-id";
const LAST_EVENT: &str = "last-event-id";
const JSON: &str = "application/json";
const EVENTS: &str = "text/event-stream";
/// How much of the body of a refusal is read: it is only ever shown in part.
const REFUSAL_LIMIT: usize = 64 * 1024;

/// A client that reads at most `limit` bytes of any message.
#[derive(Clone, Debug)]
pub(super) struct BoundedClient {
    http: reqwest::Client,
    limit: usize,
}

type Failure = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;
type Events = BoxStream<'static, Result<Sse, SseError>>;

impl BoundedClient {
    pub(super) fn new(http: reqwest::Client, limit: usize) -> BoundedClient {
        BoundedClient { http, limit }
    }

    async fn post(
        &self,
        uri: &str,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        token: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        let in_session = session.is_some();
        let request = self.http.post(uri).header(ACCEPT, format!("{EVENTS}, {JSON}"));
        let response = dress(request, session, token, headers).json(&message).send().await?;
        let status = response.status();
        refuse_unauthorized(status, response.headers())?;
        if matches!(status, StatusCode::ACCEPTED | StatusCode::NO_CONTENT) {
            return Ok(StreamableHttpPostResponse::Accepted);
        }
        if status == StatusCode::NOT_FOUND && in_session {
            return Err(StreamableHttpError::SessionExpired);
        }
        if status == StatusCode::TOO_MANY_REQUESTS {
            return Err(status_error(status, response.headers()));
        }
        let session = response
            .headers()
            .get(SESSION)
            .and_then(|id| id.to_str().ok())
            .map(str::to_owned);
        if !status.is_success() {
            return refusal(response, &message, in_session, session).await;
        }
        let kind = content_type(response.headers());
        if kind.starts_with(EVENTS) {
            return Ok(StreamableHttpPostResponse::Sse(events(response, self.limit), session));
        }
        let expects_answer = matches!(message, ClientJsonRpcMessage::Request(_));
        if kind.starts_with(JSON) {
            let answer = match (read(response, self.limit).await?, &message) {
                (Some(body), _) => serde_json::from_slice(&body).map_err(|error| {
                    StreamableHttpError::UnexpectedServerResponse(Cow::Owned(format!(
                        "not a JSON-RPC message: {error}"
                    )))
                }),
                (None, ClientJsonRpcMessage::Request(request)) => Ok(ServerJsonRpcMessage::error(
                    faults::too_long(self.limit),
                    Some(request.id.clone()),
                )),
                (None, _) => Err(StreamableHttpError::UnexpectedServerResponse("overlong answer".into())),
            };
            return match answer {
                Ok(answer) => Ok(StreamableHttpPostResponse::Json(answer, session)),
                // Nobody waits for an answer to a notification: an odd body is not a failure.
                Err(_) if !expects_answer => Ok(StreamableHttpPostResponse::Accepted),
                Err(error) => Err(error),
            };
        }
        if expects_answer {
            return Err(StreamableHttpError::UnexpectedContentType(Some(kind)));
        }
        Ok(StreamableHttpPostResponse::Accepted)
    }
}

impl StreamableHttpClient for BoundedClient {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session_id: Option<Arc<str>>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<StreamableHttpPostResponse, Failure> {
        self.post(&uri, message, session_id, auth_header, custom_headers).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session_id: Arc<str>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<(), Failure> {
        let request = self.http.delete(uri.as_ref());
        let response = dress(request, Some(session_id), auth_header, custom_headers)
            .send()
            .await?;
        if response.status() != StatusCode::METHOD_NOT_ALLOWED {
            response.error_for_status()?;
        }
        Ok(())
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session_id: Option<Arc<str>>,
        last_event_id: Option<String>,
        auth_header: Option<String>,
        custom_headers: Headers,
    ) -> Result<Events, Failure> {
        let mut request = self.http.get(uri.as_ref()).header(ACCEPT, EVENTS);
        if let Some(last) = last_event_id {
            request = request.header(LAST_EVENT, last);
        }
        let response = dress(request, session_id, auth_header, custom_headers).send().await?;
        let status = response.status();
        if status == StatusCode::METHOD_NOT_ALLOWED {
            return Err(StreamableHttpError::ServerDoesNotSupportSse);
        }
        refuse_unauthorized(status, response.headers())?;
        if !status.is_success() {
            return Err(status_error(status, response.headers()));
        }
        let kind = content_type(response.headers());
        if !kind.starts_with(EVENTS) {
            return Err(StreamableHttpError::UnexpectedContentType(Some(kind)));
        }
        Ok(events(response, self.limit))
    }
}

fn dress(
    mut request: RequestBuilder,
    session: Option<Arc<str>>,
    token: Option<String>,
    headers: Headers,
) -> RequestBuilder {
    if let Some(session) = session {
        request = request.header(SESSION, session.as_ref());
    }
    if let Some(token) = token {
        request = request.bearer_auth(token);
    }
    request.headers(headers.into_iter().collect())
}

/// A 401 or 403 with a challenge is what authorization starts from; it must keep its header.
fn refuse_unauthorized(status: StatusCode, headers: &HeaderMap) -> Result<(), Failure> {
    let Some(challenge) = headers.get(WWW_AUTHENTICATE).and_then(|value| value.to_str().ok()) else {
        return Ok(());
    };
    match status {
        StatusCode::UNAUTHORIZED => Err(StreamableHttpError::AuthRequired(AuthRequiredError::new(
            challenge.to_owned(),
        ))),
        StatusCode::FORBIDDEN => {
            let scope = challenge
                .split_once("scope=\"")
                .and_then(|(_, rest)| rest.split_once('"'))
                .map(|(scope, _)| scope.to_owned());
            Err(StreamableHttpError::InsufficientScope(InsufficientScopeError::new(
                challenge.to_owned(),
                scope,
            )))
        }
        _ => Ok(()),
    }
}

/// A refusal may still carry a JSON-RPC error, which says more than the status.
async fn refusal(
    response: Response,
    message: &ClientJsonRpcMessage,
    in_session: bool,
    session: Option<String>,
) -> Result<StreamableHttpPostResponse, Failure> {
    let status = response.status();
    let failure = status_error(status, response.headers());
    if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
        return Err(failure);
    }
    let body = read(response, REFUSAL_LIMIT).await?.unwrap_or_default();
    let error = match serde_json::from_slice::<ServerJsonRpcMessage>(&body) {
        Ok(ServerJsonRpcMessage::Error(error)) => Some(error),
        _ => None,
    };
    if let ClientJsonRpcMessage::Request(request) = message
        && matches!(request.request, ClientRequest::DiscoverRequest(_))
        && !in_session
        && status.is_client_error()
    {
        // A server of the older era answers a discovery with any 4xx. The id is set anew: middleware cannot echo it.
        let error = error.map_or_else(
            || ErrorData::invalid_request(format!("server/discover was refused with HTTP {status}"), None),
            |error| error.error,
        );
        let answer = ServerJsonRpcMessage::error(error, Some(request.id.clone()));
        return Ok(StreamableHttpPostResponse::Json(answer, None));
    }
    match error {
        Some(error) => Ok(StreamableHttpPostResponse::Json(
            ServerJsonRpcMessage::Error(error),
            session,
        )),
        None => Err(failure),
    }
}

fn status_error(status: StatusCode, headers: &HeaderMap) -> Failure {
    let retry_after = headers
        .get(RETRY_AFTER)
        .and_then(|value| value.to_str().ok())
        .map(str::to_owned);
    HttpStatusError::new(status.as_u16(), retry_after).into()
}

fn content_type(headers: &HeaderMap) -> String {
    headers
        .get(CONTENT_TYPE)
        .map(|kind| String::from_utf8_lossy(kind.as_bytes()).into_owned())
        .unwrap_or_default()
}

/// The whole body, or `None` when it is over the limit.
async fn read(response: Response, limit: usize) -> Result<Option<Vec<u8>>, Failure> {
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.try_next().await? {
        if body.len() + chunk.len() > limit {
            return Ok(None);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Some(body))
}

fn events(response: Response, limit: usize) -> Events {
    SseStream::from_bytes_stream(bounded_events(response.bytes_stream(), limit)).boxed()
}

/// Ends the stream with an error once one event (the bytes since the last empty line) is over the limit.
fn bounded_events<B: AsRef<[u8]> + Send + 'static>(
    chunks: impl Stream<Item = reqwest::Result<B>> + Send + 'static,
    limit: usize,
) -> impl Stream<Item = std::io::Result<B>> + Send + 'static {
    let mut event = 0usize;
    let mut line_is_empty = true;
    let mut over = false;
    chunks
        .map(move |chunk| {
            let chunk = chunk.map_err(std::io::Error::other)?;
            for &byte in chunk.as_ref() {
                match byte {
                    b'\n' if line_is_empty => event = 0,
                    b'\n' => line_is_empty = true,
                    b'\r' => {}
                    _ => line_is_empty = false,
                }
                event += 1;
                if event > limit {
                    return Err(std::io::Error::other("an event of the upstream is over the limit"));
                }
            }
            Ok(chunk)
        })
        .take_while(move |item| {
            // The error itself still goes out; nothing after it does.
            let stop = over;
            over = item.is_err();
            futures::future::ready(!stop)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    async fn passes(chunks: &[&str], limit: usize) -> bool {
        let chunks: Vec<reqwest::Result<Vec<u8>>> = chunks.iter().map(|chunk| Ok(chunk.as_bytes().to_vec())).collect();
        bounded_events(futures::stream::iter(chunks), limit)
            .all(|item| futures::future::ready(item.is_ok()))
            .await
    }

    #[tokio::test]
    async fn the_limit_counts_one_event_not_the_stream() {
        assert!(passes(&["data: 12345678\n\n", "data: 12345678\r\n\r\n", "data: 1\n", "\n"], 24).await);
        assert!(!passes(&["data: 123456", "78901234567890\n\n"], 24).await);
    }
}
