//! Pages of what a compiler or the graph lists.
//!
//! The one trick: a cursor also says which list it is of, by tier, server and length. A server that becomes ready between two pages
//! makes the second an error that says so, never the rest of another list.

use super::Standing;
use crate::error::QuestionError;
use crate::page::{self, Page};
use crate::workspace::Workspace;

/// Which part of a list is asked for.
pub(crate) struct Pages<'a> {
    workspace: &'a Workspace,
    page: Page,
    /// The mark of the list that the cursor is of.
    of: Option<[u8; 4]>,
}

/// One page of a list.
pub(crate) struct Cut<T> {
    pub(crate) rows: Vec<T>,
    /// Rows of the whole list.
    pub(crate) total: u64,
    pub(crate) truncated: bool,
    pub(crate) next_cursor: Option<String>,
}

impl<'a> Pages<'a> {
    /// The page that `limit` and `cursor` ask for; `default` is the tool's own limit.
    pub(crate) fn of(
        workspace: &'a Workspace,
        limit: Option<u32>,
        cursor: Option<&str>,
        default: usize,
    ) -> Result<Pages<'a>, QuestionError> {
        let limit = page::limit(limit, default)?;
        let (of, offset) = match cursor.map(page::unpack).transpose()? {
            Some((mark, offset)) => (Some(mark), offset),
            None => (None, 0),
        };
        Ok(Pages {
            workspace,
            page: Page { offset, limit },
            of,
        })
    }

    /// Where the page begins and how much it holds.
    pub(crate) fn page(&self) -> Page {
        self.page
    }

    /// The page of a whole list.
    pub(crate) fn cut<T>(&self, standing: &Standing, rows: Vec<T>) -> Result<Cut<T>, QuestionError> {
        let total = rows.len();
        let next_cursor = self.next(standing, total)?;
        Ok(Cut {
            rows: self.page.take(rows),
            total: total as u64,
            truncated: next_cursor.is_some(),
            next_cursor,
        })
    }

    /// The cursor of the next page of a list of so many rows, where there is one. Fails where the page before was of another list.
    pub(crate) fn next(&self, standing: &Standing, total: usize) -> Result<Option<String>, QuestionError> {
        let mark = self.mark(standing, total);
        if self.of.is_some_and(|of| of != mark) {
            return Err(QuestionError::Argument {
                name: "cursor",
                problem: "the list changed since that page, by an edit or since a language server became ready: ask again without a cursor"
                    .to_string(),
            });
        }
        let end = self.page.offset.saturating_add(self.page.limit);
        Ok((end < total).then(|| page::pack(mark, end)))
    }

    fn mark(&self, standing: &Standing, total: usize) -> [u8; 4] {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&page::stamp(self.workspace));
        hasher.update(standing.tier.as_bytes());
        hasher.update(standing.server.as_deref().unwrap_or_default().as_bytes());
        hasher.update(&(total as u64).to_le_bytes());
        let hash = hasher.finalize();
        let bytes = hash.as_bytes();
        [bytes[0], bytes[1], bytes[2], bytes[3]]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn standing(tier: &'static str) -> Standing {
        Standing {
            tier,
            server: None,
            complete: true,
            note: None,
        }
    }

    fn page(workspace: &Workspace, cursor: Option<&str>, tier: &'static str, rows: u32) -> Result<Cut<u32>, String> {
        Pages::of(workspace, Some(2), cursor, 50)
            .and_then(|pages| pages.cut(&standing(tier), (0..rows).collect()))
            .map_err(|error| error.to_string())
    }

    #[test]
    fn pages_follow_each_other_to_the_end() {
        let workspace = Workspace::default();
        let (mut seen, mut cursor) = (Vec::new(), None);
        loop {
            let cut = page(&workspace, cursor.as_deref(), "graph", 5).unwrap();
            assert_eq!((cut.total, cut.truncated), (5, cut.next_cursor.is_some()));
            seen.extend(cut.rows);
            cursor = cut.next_cursor;
            if cursor.is_none() {
                break;
            }
        }
        assert_eq!(seen, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn a_page_is_never_of_another_list() {
        let workspace = Workspace::default();
        let cursor = page(&workspace, None, "graph", 5).unwrap().next_cursor;
        for (tier, rows) in [("lsp", 5), ("graph", 6)] {
            let refused = page(&workspace, cursor.as_deref(), tier, rows).err().unwrap();
            assert!(refused.contains("the list changed since that page"), "{refused}");
        }
        assert!(
            page(&workspace, Some("nonsense"), "graph", 5)
                .err()
                .unwrap()
                .contains("not a cursor")
        );
        assert!(Pages::of(&workspace, Some(0), None, 50).is_err());
    }
}
