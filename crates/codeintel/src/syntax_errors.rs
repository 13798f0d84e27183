//! What the grammar could not read of a file, in one sentence: how many places there are, and the lines they begin on.
//!
//! The index keeps their number alone, since most files have none; a file that has some is read again for the lines.

use index::snapshot::{FileFlags, FileView};

use crate::descriptors::reading::Reading;
use crate::workspace::Workspace;

/// Lines that are named; of the others the number is said.
const LINES: usize = 5;
/// Places that are kept of one file: there may be more.
const MOST_KEPT: u32 = 16;
/// Largest file that is read again for the lines, in bytes: a question waits for it.
const MAX_SIZE: u64 = 1 << 20;

/// What is missing of a file that could not be read whole; `None` where all of it was.
pub(crate) fn of_file(workspace: &Workspace, repository: usize, file: FileView<'_>) -> Option<String> {
    let count = file.problems();
    if count == 0 {
        return None;
    }
    let is_unparsed = file.flags().contains(FileFlags::UNPARSED);
    if is_unparsed && file.size() > MAX_SIZE {
        return Some("not parsed: it is too large or takes too much work; its symbols are not known".to_owned());
    }
    let reading = (file.size() <= MAX_SIZE)
        .then(|| Reading::of(workspace, repository, file).ok())
        .flatten();
    let problems = reading.map(|reading| reading.facts.problems).unwrap_or_default();
    // A file that was given up as a whole has one problem, which says why.
    if let Some(whole) = problems
        .iter()
        .find(|problem| problem.message.starts_with("not parsed"))
    {
        return Some(whole.message.clone());
    }
    let mut lines: Vec<u32> = problems.iter().map(|problem| problem.line).collect();
    lines.sort_unstable();
    lines.dedup();
    let least = if count >= MOST_KEPT { "at least " } else { "" };
    let errors = if count == 1 { "error" } else { "errors" };
    let place = match lines.len() {
        0 => String::new(),
        1 => format!(" at line {}", lines[0]),
        known => {
            let named: Vec<String> = lines.iter().take(LINES).map(u32::to_string).collect();
            let more = if known > LINES { ", …" } else { "" };
            format!(" at lines {}{more}", named.join(", "))
        }
    };
    Some(format!(
        "{least}{count} syntax {errors}{place}: what stands there may be missing"
    ))
}

/// The same beside what else an answer lacks.
pub(crate) fn beside(incomplete: Option<String>, unread: Option<String>) -> Option<String> {
    let both: Vec<String> = incomplete.into_iter().chain(unread).collect();
    (!both.is_empty()).then(|| both.join("; "))
}
