//! Computes one answer for whichever door: on a thread that may block, with a seat where it computes, stopped when nobody waits for
//! it any more.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use codeintel::{Stop, Workspace};
use tokio::sync::Semaphore;
use wire::protocol::Refusal;

use crate::mcp::QuestionServer;
use crate::memory;
use crate::tools::refusal;
use crate::tools::sound::DAMAGED;
use crate::tools::trees::Trees;

/// Seats for questions that compute: more at once would not be sooner done, and each takes memory. Some more than there are
/// processors, so that a long one does not keep short ones waiting.
static SEATS: LazyLock<Semaphore> = LazyLock::new(|| {
    let processors = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Semaphore::new(2 * processors + 2)
});

/// How long a question waits for the index to take up what has changed. What it lacks then is said.
const FRESH: Duration = Duration::from_secs(1);

/// The code of a refusal because of damage that is being repaired.
pub(crate) const REPAIRING: &str = "index_repairing";

/// What to do about damage: wait where this process makes the index anew, or say who can.
fn damaged(refusal: Refusal, trees: &Trees) -> Refusal {
    if refusal.code != DAMAGED {
        return refusal;
    }
    tracing::warn!(damage = %refusal.message, "the index is damaged");
    match trees.give_up_damaged() {
        true => Refusal {
            code: REPAIRING.to_string(),
            message: format!("{}; it is being made anew: ask again in a moment", refusal.message),
            ..refusal
        },
        false => Refusal {
            message: format!("{}: run `lacon index` there, which makes it anew", refusal.message),
            ..refusal
        },
    }
}

/// Ends a question when the request that asked it is over, whichever way.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.stop();
    }
}

/// What a question does while it is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// It computes, and needs a seat for it.
    Computes,
    /// It waits for others.
    Waits,
}

/// Asks a question of the newest snapshots. Dropping the future stops it.
pub(crate) async fn ask_blocking<T: Send + 'static>(
    server: &QuestionServer,
    work: Work,
    question: impl FnOnce(&Workspace) -> Result<T, Refusal> + Send + 'static,
) -> Result<T, Refusal> {
    let stop = Stop::default();
    let on_drop = StopOnDrop(stop.clone());
    let (trees, services) = (server.trees.clone(), server.services.clone());
    let seat = match work {
        Work::Computes => SEATS.acquire().await.ok(),
        Work::Waits => None,
    };
    let asked = tokio::task::spawn_blocking(move || {
        // Until the question ends, also where nobody waits for it any more.
        let _seat = seat;
        let began = Instant::now();
        let workspace = services.workbench.workspace(&trees, FRESH)?.with_stop(stop);
        let said = question(&workspace).map_err(|refusal| damaged(refusal, &trees));
        if began.elapsed() > memory::LONG {
            // After the answer: nobody should wait for it.
            drop(tokio::task::spawn_blocking(memory::tidy));
        }
        said
    });
    let said = asked.await;
    drop(on_drop);
    memory::rest_after_this();
    said.unwrap_or_else(|error| Err(refusal("internal_error", format!("the question failed: {error}"))))
}
