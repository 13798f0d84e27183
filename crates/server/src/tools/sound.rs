//! Gives an answer only if the index that it was made from can be believed.
//!
//! Reading an index never fails: what is damaged reads as if it were not there, and the index says so afterwards. So the question is
//! asked, and then the answer is kept or thrown away. What writes files must know before.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use index::snapshot::SnapshotError;
use serde_json::{Map, Value};
use wire::Format;
use wire::protocol::Refusal;

use super::answer::{Said, answer};
use super::{Desk, Tool, refusal};

/// The code of a refusal because of damage.
pub const DAMAGED: &str = "index_damaged";

/// As [`answer`], for an index that may be damaged.
pub fn sound_answer(tool: &Tool, desk: &Desk, arguments: Map<String, Value>, format: Format) -> Result<Said, Refusal> {
    if tool.writes {
        for repository in desk.workspace.repositories() {
            if let Err(SnapshotError::Damaged(damage)) = repository.snapshot.verify() {
                return Err(refusal(DAMAGED, damage.to_string()));
            }
        }
    }
    // Half an index may contradict itself, which is no bug of whoever trips over it.
    let said = catch_unwind(AssertUnwindSafe(|| answer(tool, desk, arguments, format)));
    if let Some(damage) = desk.workspace.damage() {
        // What the conversation noted down as sent is not.
        if let Some(conversation) = desk.wish.conversation {
            conversation.reset();
        }
        return Err(refusal(DAMAGED, damage.to_string()));
    }
    said.unwrap_or_else(|panic| resume_unwind(panic))
}
