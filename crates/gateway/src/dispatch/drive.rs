//! Brings one upstream request to its end: progress is passed on, questions reach the user in whichever way the client's
//! era allows, and a client that gives up takes the call with it.

use std::collections::BTreeMap;
use std::sync::Arc;

use rmcp::model::{
    ClientRequest, ElicitRequest, ElicitRequestParams, ElicitResult, ElicitationAction, InputRequest,
    InputRequiredResult, InputResponses, ServerResult,
};
use tokio::sync::oneshot;

use super::caller::{Asking, Caller};
use crate::session::Session;
use crate::upstream::{CallEvent, CallFailure, Happening, RunningCall, Upstream};

/// Rounds of questions one call may take.
const MOST_ROUNDS: usize = 10;
/// The key under which a question of an older upstream travels to a stateless client.
const QUESTION: &str = "question";

/// A call that waits for the user while its client is away.
pub(crate) struct Parked {
    call: RunningCall,
    answer: oneshot::Sender<ElicitResult>,
}

/// How a request ended.
#[expect(
    clippy::large_enum_variant,
    reason = "moved once a call; a box would cost every result an allocation"
)]
#[derive(Debug)]
pub(crate) enum Driven {
    Done(Result<ServerResult, CallFailure>),
    /// The client must come back with answers and this state.
    InputRequired(InputRequiredResult),
}

/// A request to an upstream that can be sent again with answers.
pub(crate) struct Errand<'a> {
    pub(crate) upstream: &'a Arc<Upstream>,
    pub(crate) session: &'a Session,
    pub(crate) caller: &'a Caller,
    /// Makes the request, with what the user answered and the upstream's own state.
    pub(crate) request: &'a (dyn Fn(Option<InputResponses>, Option<String>) -> ClientRequest + Send + Sync),
}

impl Errand<'_> {
    /// Runs from the beginning, or from where the client left off.
    pub(crate) async fn run(&self, resume: Resume) -> Driven {
        let mut call = match resume {
            Resume::Fresh => self.start(None, None),
            Resume::Upstream(state) => {
                let responses = self.caller.responses.clone();
                self.start(Some(responses), state)
            }
            Resume::Parked(token) => match self.session.unpark(&token) {
                Some(parked) => {
                    let declined = || ElicitResult::new(ElicitationAction::Decline);
                    // The upstream may have gone meanwhile; the call itself will say so.
                    drop(
                        parked
                            .answer
                            .send(self.caller.response(QUESTION).unwrap_or_else(declined)),
                    );
                    parked.call
                }
                None => {
                    let reason = "the call this answer belongs to is gone; call again".to_owned();
                    return Driven::Done(Err(CallFailure::Unavailable {
                        reason,
                        retry_after: None,
                    }));
                }
            },
        };
        for _ in 0..MOST_ROUNDS {
            let event = tokio::select! {
                event = self.finish(&mut call) => event,
                () = self.caller.gave_up() => return Driven::Done(Err(CallFailure::Cancelled)),
            };
            match event {
                Step::Done(Ok(ServerResult::InputRequiredResult(required))) => match self.satisfy(required).await {
                    Ok((responses, state)) => call = self.start(Some(responses), state),
                    Err(required) => return Driven::InputRequired(required),
                },
                Step::Done(outcome) => return Driven::Done(outcome),
                Step::Question(params, answer) => {
                    let token = self.session.park(Parked { call, answer });
                    let request = InputRequest::Elicitation(ElicitRequest::new(*params));
                    let requests = BTreeMap::from([(QUESTION.to_owned(), request)]);
                    let state = format!("{PARKED}{token}");
                    return Driven::InputRequired(InputRequiredResult::new(Some(requests), Some(state)));
                }
            }
        }
        Driven::Done(Err(CallFailure::Transport(format!(
            "the upstream asked more than {MOST_ROUNDS} times"
        ))))
    }

    fn start(&self, responses: Option<InputResponses>, state: Option<String>) -> RunningCall {
        self.upstream.start(self.session.id, (self.request)(responses, state))
    }

    /// Follows a call to its end or to a question that only a stateless client's return can answer.
    async fn finish(&self, call: &mut RunningCall) -> Step {
        loop {
            match call.next().await {
                CallEvent::Done(outcome) => return Step::Done(outcome),
                CallEvent::Happening(Happening::Progress(progress)) => self.caller.report(progress).await,
                CallEvent::Happening(Happening::Question { params, answer }) => match self.caller.asking() {
                    Asking::ByReturn => return Step::Question(params, answer),
                    Asking::Now | Asking::Never => drop(answer.send(self.caller.ask(*params).await)),
                },
            }
        }
    }

    /// Answers what a stateless upstream requires: at once where the client can be asked, else by handing it on.
    async fn satisfy(
        &self,
        required: InputRequiredResult,
    ) -> Result<(InputResponses, Option<String>), InputRequiredResult> {
        if self.caller.asking() == Asking::ByReturn {
            let state = format!(
                "{UPSTREAM}{}",
                required
                    .request_state
                    .as_deref()
                    .map_or("-".into(), |state| format!("+{state}"))
            );
            return Err(InputRequiredResult::new(required.input_requests, Some(state)));
        }
        let mut responses = InputResponses::new();
        for (key, request) in required.input_requests.unwrap_or_default() {
            let answer = match request {
                InputRequest::Elicitation(request) => self.caller.ask(request.params).await,
                // Lacon announces neither sampling nor roots, so an upstream has no business asking for them.
                _ => ElicitResult::new(ElicitationAction::Decline),
            };
            responses.insert(key, serde_json::to_value(answer).unwrap_or_default());
        }
        Ok((responses, required.request_state))
    }
}

#[expect(
    clippy::large_enum_variant,
    reason = "moved once a call; a box would cost every result an allocation"
)]
enum Step {
    Done(Result<ServerResult, CallFailure>),
    Question(Box<ElicitRequestParams>, oneshot::Sender<ElicitResult>),
}

const PARKED: &str = "lacon/parked:";
const UPSTREAM: &str = "lacon/upstream:";

/// Where a request begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Resume {
    Fresh,
    /// A stateless upstream asked; its own state, unaltered, if it gave one.
    Upstream(Option<String>),
    /// A call waits here under this token.
    Parked(String),
}

impl Resume {
    /// Reads the state a client brought back. Anything else is a fresh start.
    pub(crate) fn from_state(state: Option<&str>) -> Resume {
        let Some(state) = state else { return Resume::Fresh };
        if let Some(token) = state.strip_prefix(PARKED) {
            return Resume::Parked(token.to_owned());
        }
        match state.strip_prefix(UPSTREAM) {
            Some("-") => Resume::Upstream(None),
            Some(rest) => Resume::Upstream(rest.strip_prefix('+').map(str::to_owned)),
            None => Resume::Fresh,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upstream_gets_its_own_state_back_unaltered() {
        assert_eq!(
            Resume::from_state(Some("lacon/upstream:+opaque:+")),
            Resume::Upstream(Some("opaque:+".into()))
        );
        assert_eq!(Resume::from_state(Some("lacon/upstream:-")), Resume::Upstream(None));
        assert_eq!(Resume::from_state(Some("lacon/parked:ab")), Resume::Parked("ab".into()));
        assert_eq!(Resume::from_state(Some("forged")), Resume::Fresh);
        assert_eq!(Resume::from_state(None), Resume::Fresh);
    }
}
