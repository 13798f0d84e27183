//! Lacon as the client of one upstream: what the upstream says or asks while calls run is led to the call it belongs to.
//!
//! One connection serves many sessions, so a question that cannot be tied to one session is declined, never guessed.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rmcp::ClientHandler;
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationCapability,
    ErrorData, FormElicitationCapability, Implementation, ProgressNotificationParam, ProgressToken, RequestId,
    UrlElicitationCapability,
};
use rmcp::service::{InboundStreamOrigin, NotificationContext, RequestContext, RoleClient};
use tokio::sync::{mpsc, oneshot, watch};

/// Something that happens while a call runs.
#[derive(Debug)]
pub(crate) enum Happening {
    Progress(ProgressNotificationParam),
    /// The upstream asks the user something and waits for the answer.
    Question {
        params: Box<ElicitRequestParams>,
        answer: oneshot::Sender<ElicitResult>,
    },
}

/// Longest that something said early waits for the call it belongs to.
const LONGEST_ENTRY: Duration = Duration::from_secs(2);

/// The calls now out on one connection.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    calls: Mutex<HashMap<RequestId, Waiting>>,
    /// Calls that are being sent. Their ids are known only once they are queued, and a fast server speaks before that.
    entering: watch::Sender<usize>,
}

/// A call that is being sent and not yet on the list.
pub(super) struct Entering<'a>(&'a Arc<InFlight>);

impl Entering<'_> {
    /// Puts the call on the list, now that its id is known.
    pub(super) fn enter(self, request: RequestId, waiting: Waiting) -> InFlightGuard {
        self.0.lock().insert(request.clone(), waiting);
        InFlightGuard {
            calls: self.0.clone(),
            request,
        }
    }
}

impl Drop for Entering<'_> {
    fn drop(&mut self) {
        self.0.entering.send_modify(|count| *count -= 1);
    }
}

#[derive(Clone, Debug)]
pub(super) struct Waiting {
    pub(super) session: u64,
    pub(super) token: ProgressToken,
    pub(super) listener: mpsc::Sender<Happening>,
}

impl InFlight {
    /// Says that a call is about to be sent.
    pub(super) fn entering(self: &Arc<Self>) -> Entering<'_> {
        self.entering.send_modify(|count| *count += 1);
        Entering(self)
    }

    /// Waits until every call that was sent is on the list.
    async fn all_entered(&self) {
        let mut entering = self.entering.subscribe();
        let entered = entering.wait_for(|count| *count == 0);
        // With too much going on, what is known by now must do.
        drop(tokio::time::timeout(LONGEST_ENTRY, entered).await);
    }

    fn by_token(&self, token: &ProgressToken) -> Option<mpsc::Sender<Happening>> {
        self.lock()
            .values()
            .find(|waiting| waiting.token == *token)
            .map(|waiting| waiting.listener.clone())
    }

    /// The call a question belongs to: the one whose stream it came on, else the only session's latest call.
    fn asked(&self, origin: Option<&InboundStreamOrigin>) -> Option<mpsc::Sender<Happening>> {
        let calls = self.lock();
        if let Some(InboundStreamOrigin::OutboundRequest(request)) = origin {
            return calls.get(request).map(|waiting| waiting.listener.clone());
        }
        let session = calls.values().next()?.session;
        if calls.values().any(|waiting| waiting.session != session) {
            return None;
        }
        let latest = calls.iter().max_by_key(|(request, _)| match request {
            RequestId::Number(number) => *number,
            RequestId::String(_) => 0,
        })?;
        Some(latest.1.listener.clone())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<RequestId, Waiting>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Takes a call out of the list when it is over, however it ended.
pub(super) struct InFlightGuard {
    calls: Arc<InFlight>,
    request: RequestId,
}

impl Drop for InFlightGuard {
    fn drop(&mut self) {
        self.calls.lock().remove(&self.request);
    }
}

/// The client end of one connection.
#[derive(Clone, Debug)]
pub(super) struct UpstreamClient {
    pub(super) upstream: Arc<str>,
    pub(super) in_flight: Arc<InFlight>,
    /// Counts `list_changed` notifications; whoever lists compares counts, so none is lost.
    pub(super) changes: Arc<watch::Sender<u64>>,
}

impl UpstreamClient {
    fn changed(&self) {
        self.changes.send_modify(|count| *count += 1);
    }
}

/// What Lacon tells an upstream about itself. Only what can be honoured: questions are relayed, sampling and roots are not.
pub(super) fn client_config() -> ClientConfig {
    let mut elicitation = ElicitationCapability::default();
    elicitation.form = Some(FormElicitationCapability::default());
    elicitation.url = Some(UrlElicitationCapability::default());
    let mut capabilities = ClientCapabilities::default();
    capabilities.elicitation = Some(elicitation);
    ClientConfig::new(capabilities, Implementation::new("lacon", env!("CARGO_PKG_VERSION")))
}

impl ClientHandler for UpstreamClient {
    fn get_info(&self) -> ClientConfig {
        client_config()
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let declined = ElicitResult::new(ElicitationAction::Decline);
        self.in_flight.all_entered().await;
        let Some(listener) = self.in_flight.asked(context.extensions.get::<InboundStreamOrigin>()) else {
            tracing::debug!(upstream = %self.upstream, "declined a question that belongs to no single session");
            return Ok(declined);
        };
        let (answer, answered) = oneshot::channel();
        if listener
            .send(Happening::Question {
                params: Box::new(request),
                answer,
            })
            .await
            .is_err()
        {
            return Ok(declined);
        }
        tokio::select! {
            answer = answered => Ok(answer.unwrap_or(declined)),
            () = context.ct.cancelled() => Ok(declined),
        }
    }

    async fn on_progress(&self, params: ProgressNotificationParam, _: NotificationContext<RoleClient>) {
        let mut listener = self.in_flight.by_token(&params.progress_token);
        if listener.is_none() {
            self.in_flight.all_entered().await;
            listener = self.in_flight.by_token(&params.progress_token);
        }
        if let Some(listener) = listener {
            // Progress is advice: a listener that cannot keep up misses some of it, and blocks nobody.
            drop(listener.try_send(Happening::Progress(params)));
        }
    }

    #[expect(
        deprecated,
        reason = "deprecated in the newest protocol, and still what every older server sends"
    )]
    async fn on_logging_message(
        &self,
        params: rmcp::model::LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        tracing::debug!(upstream = %self.upstream, level = ?params.level, data = %params.data, "upstream log");
    }

    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed();
    }

    async fn on_resource_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed();
    }

    async fn on_prompt_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.changed();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn waiting(session: u64) -> (Waiting, mpsc::Receiver<Happening>) {
        let (listener, receiver) = mpsc::channel(1);
        let token = ProgressToken(RequestId::Number(0));
        (
            Waiting {
                session,
                token,
                listener,
            },
            receiver,
        )
    }

    #[test]
    fn a_question_goes_to_the_only_session_or_to_nobody() {
        let calls = Arc::new(InFlight::default());
        assert!(calls.asked(None).is_none());
        let (first, _first) = waiting(1);
        let (second, second_receiver) = waiting(1);
        let _one = calls.entering().enter(RequestId::Number(1), first);
        let _two = calls.entering().enter(RequestId::Number(2), second);
        let asked = calls.asked(None).unwrap();
        drop(second_receiver);
        assert!(asked.is_closed(), "the latest call of the session is asked");

        let (other, _other) = waiting(2);
        let three = calls.entering().enter(RequestId::Number(3), other);
        assert!(calls.asked(None).is_none(), "two sessions: nobody is asked");
        let origin = InboundStreamOrigin::OutboundRequest(RequestId::Number(3));
        assert!(calls.asked(Some(&origin)).is_some(), "its own stream decides");
        drop(three);
        assert!(calls.asked(None).is_some());
    }

    #[tokio::test]
    async fn what_is_said_early_waits_for_its_call() {
        let calls = Arc::new(InFlight::default());
        let entering = calls.entering();
        let waiting = calls.clone();
        let entered = tokio::spawn(async move { waiting.all_entered().await });
        tokio::task::yield_now().await;
        assert!(!entered.is_finished());
        drop(entering);
        entered.await.expect("the task ends by itself");
    }
}
