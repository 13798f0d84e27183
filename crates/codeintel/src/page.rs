//! Pages of an answer: a cursor says where the next one starts and which snapshot it is of, so a page is never silently taken
//! from another state of the code.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::error::QuestionError;
use crate::workspace::Workspace;

/// Where a page starts and how much it holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Page {
    /// Items before it.
    pub offset: usize,
    /// Items at most.
    pub limit: usize,
}

/// Most items of one page.
pub const MAX_LIMIT: usize = 1000;

impl Page {
    /// The page that `limit` and `cursor` ask for; `default` is the tool's own limit.
    pub fn of(
        workspace: &Workspace,
        limit: Option<u32>,
        cursor: Option<&str>,
        default: usize,
    ) -> Result<Page, QuestionError> {
        let limit = self::limit(limit, default)?;
        let offset = cursor.map_or(Ok(0), |cursor| read(workspace, cursor))?;
        Ok(Page { offset, limit })
    }

    /// The part of `items` that is on this page.
    pub fn take<T>(self, items: Vec<T>) -> Vec<T> {
        items.into_iter().skip(self.offset).take(self.limit).collect()
    }
}

/// How many items a page may hold.
pub(crate) fn limit(asked: Option<u32>, default: usize) -> Result<usize, QuestionError> {
    match asked {
        None => Ok(default),
        Some(0) => Err(QuestionError::Argument {
            name: "limit",
            problem: format!("expected 1 to {MAX_LIMIT}, not 0"),
        }),
        Some(limit) => Ok((limit as usize).min(MAX_LIMIT)),
    }
}

/// The cursor for the items after the first `offset`.
pub fn cursor(workspace: &Workspace, offset: usize) -> String {
    pack(stamp(workspace), offset)
}

fn read(workspace: &Workspace, cursor: &str) -> Result<usize, QuestionError> {
    let (mark, offset) = unpack(cursor)?;
    match mark == stamp(workspace) {
        true => Ok(offset),
        false => Err(wrong("the code changed since that page: ask again without a cursor")),
    }
}

/// A cursor: what it is of, and how many items are before it.
pub(crate) fn pack(mark: [u8; 4], offset: usize) -> String {
    let mut bytes = mark.to_vec();
    bytes.extend((offset as u32).to_le_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// What [`pack`] wrote.
pub(crate) fn unpack(cursor: &str) -> Result<([u8; 4], usize), QuestionError> {
    let bytes = URL_SAFE_NO_PAD.decode(cursor).unwrap_or_default();
    match bytes[..] {
        [a, b, c, d, e, f, g, h] => Ok(([a, b, c, d], u32::from_le_bytes([e, f, g, h]) as usize)),
        _ => Err(wrong("not a cursor: pass `next_cursor` of the page before, unchanged")),
    }
}

fn wrong(problem: &str) -> QuestionError {
    QuestionError::Argument {
        name: "cursor",
        problem: problem.to_string(),
    }
}

/// Four bytes that change with any snapshot of the workspace.
pub(crate) fn stamp(workspace: &Workspace) -> [u8; 4] {
    let mut hasher = blake3::Hasher::new();
    for repository in workspace.repositories() {
        hasher.update(repository.snapshot.tree_digest());
    }
    let hash = hasher.finalize();
    let bytes = hash.as_bytes();
    [bytes[0], bytes[1], bytes[2], bytes[3]]
}
