//! The client on whose behalf a call runs: it hears of progress, can be asked, and can change its mind.
//!
//! Asking differs between the protocol eras: a session is sent a request; a stateless client is answered "input required"
//! and comes back. [`Asking`] says which.

use std::sync::atomic::{AtomicU64, Ordering};

use rmcp::model::{
    ClientResult, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, InputResponses,
    ProgressNotificationParam, ProgressToken, ServerNotification, ServerRequest,
};
use rmcp::service::{RequestContext, RoleServer};

/// One request of a client, as far as the calls made for it care.
pub(crate) struct Caller {
    context: RequestContext<RoleServer>,
    progress: Option<ProgressToken>,
    /// The last progress passed on, as bits: reports may overtake each other, and progress must not go back.
    reached: AtomicU64,
    /// What a stateless client brought back.
    pub(crate) responses: InputResponses,
    pub(crate) state: Option<String>,
}

/// How this client can be asked something.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Asking {
    /// Send it a request and wait.
    Now,
    /// Answer that input is required; it will come back.
    ByReturn,
    /// It cannot be asked.
    Never,
}

impl Caller {
    pub(crate) fn new(
        context: RequestContext<RoleServer>,
        responses: Option<InputResponses>,
        state: Option<String>,
    ) -> Caller {
        Caller {
            progress: context.meta.get_progress_token(),
            context,
            reached: AtomicU64::new(f64::NEG_INFINITY.to_bits()),
            responses: responses.unwrap_or_default(),
            state,
        }
    }

    pub(crate) fn asking(&self) -> Asking {
        let capable = self
            .context
            .client_capabilities()
            .is_some_and(|capabilities| capabilities.elicitation.is_some());
        let stateless = self
            .context
            .protocol_version()
            .is_some_and(|version| !version.has_initialize());
        match (capable, stateless) {
            (false, _) => Asking::Never,
            (true, true) => Asking::ByReturn,
            (true, false) => Asking::Now,
        }
    }

    /// Resolves when the client cancels its request or goes away.
    pub(crate) async fn gave_up(&self) {
        self.context.ct.cancelled().await;
    }

    /// Passes progress on under the client's own token.
    pub(crate) async fn report(&self, mut progress: ProgressNotificationParam) {
        let Some(token) = &self.progress else { return };
        let reached = f64::from_bits(self.reached.load(Ordering::Relaxed));
        if progress.progress <= reached || !progress.progress.is_finite() {
            return;
        }
        self.reached.store(progress.progress.to_bits(), Ordering::Relaxed);
        progress.progress_token = token.clone();
        progress.meta = None;
        progress.message = progress
            .message
            .map(|message| secrets::redact(&message, secrets::Doubt::Mask).into_owned());
        let notification = rmcp::model::ProgressNotification::new(progress);
        // A client that is gone needs no progress.
        let _ = self
            .context
            .peer
            .send_notification(ServerNotification::ProgressNotification(notification))
            .await;
    }

    /// Asks a client that can be asked at once. Whatever goes wrong counts as "no".
    pub(crate) async fn ask(&self, params: ElicitRequestParams) -> ElicitResult {
        let declined = ElicitResult::new(ElicitationAction::Decline);
        if self.asking() != Asking::Now {
            return declined;
        }
        let request = ServerRequest::ElicitRequest(ElicitRequest::new(params));
        match self.context.peer.send_request(request).await {
            Ok(ClientResult::ElicitResult(answer)) => answer,
            Ok(_) => declined,
            Err(error) => {
                tracing::debug!(%error, "the client could not be asked");
                declined
            }
        }
    }

    /// The answer a stateless client brought back to one question.
    pub(crate) fn response(&self, key: &str) -> Option<ElicitResult> {
        serde_json::from_value(self.responses.get(key)?.clone()).ok()
    }
}
