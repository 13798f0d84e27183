//! A page of places within its budget: places with their lines, then names, then what else there is. Costs are summed on the way and the
//! text is counted whole at the end; what is too much is taken away, the least important first.

use wire::excerpt::Line;
use wire::tokens::Tokenizer;

use super::fold::Group;
use super::query::Query;
use super::rank::Ranking;
use super::{Found, NAMES, Place, heading, shown, text};
use crate::page;
use crate::workspace::Workspace;

/// Lines of the first three places, of those up to the fifth, and of the others. Chosen with [`super::lines`]' shares on every third of 385
/// changes: 20, 12 and 8 lines show .62 of them within 600 tokens, these .66, 12, 8 and 6 lines .64, 10, 8 and 5 lines .63.
const CAPS: [(usize, usize); 2] = [(3, 14), (5, 10)];
const CAP: usize = 8;
/// Lines of a first place for which a page has no room, tried in turn.
const TIGHT: [usize; 5] = [10, 7, 5, 3, 1];
/// Kept for notes, tests and the cursor: at most so much, and at most this share of a page.
const ASIDE: usize = 60;
const SHARE_ASIDE: usize = 3;
/// Share of a page for places, the rest being names'.
const SHARE: (usize, usize) = (4, 5);
/// Characters that half of a line must have to be shown.
const SHORTEST: usize = 20;

/// What pages are filled from.
pub(super) struct Groups<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) query: &'a Query,
    pub(super) ranking: &'a Ranking,
    pub(super) groups: &'a [Group],
}

impl Groups<'_> {
    /// Fills a page from a group on.
    pub(super) fn fill(&self, offset: usize, max_tokens: usize, found: &mut Found) {
        let room = max_tokens - ASIDE.min(max_tokens / SHARE_ASIDE);
        // Where each place of the page stands among the groups, and where the next page starts.
        let mut starts: Vec<usize> = Vec::new();
        let (mut spent, mut next) = (0, offset);
        while next < self.groups.len() {
            let Some(place) = self.fitting(next, starts.is_empty().then_some(room)) else {
                next += 1;
                continue;
            };
            let cost = cost(&place);
            if spent + cost > room * SHARE.0 / SHARE.1 && !starts.is_empty() {
                break;
            }
            spent += cost;
            starts.push(next);
            found.places.push(place);
            next += 1;
        }
        for group in self.groups.iter().skip(next).take(NAMES) {
            let place = heading(self.workspace, self.ranking, group);
            spent += cost(&place);
            if spent > room {
                break;
            }
            found.more.push(place);
        }
        self.go_on(next, found);
        while tokens(found) > max_tokens {
            if !shorten(found) {
                break;
            }
            if let Some(&start) = starts.get(found.places.len()) {
                self.go_on(start, found);
            }
        }
    }

    /// A group with its lines, fewer of them where it is to fit into some tokens; none where its file is gone.
    fn fitting(&self, at: usize, room: Option<usize>) -> Option<Place> {
        let shown = |cap| shown(self.workspace, self.query, self.ranking, &self.groups[at], cap);
        let cap = CAPS.iter().find(|(places, _)| at < *places);
        let mut place = shown(cap.map_or(CAP, |(_, lines)| *lines))?;
        for cap in TIGHT {
            if room.is_none_or(|room| cost(&place) <= room) {
                break;
            }
            place = shown(cap)?;
        }
        Some(place)
    }

    fn go_on(&self, next: usize, found: &mut Found) {
        found.next_cursor = (next < self.groups.len()).then(|| page::cursor(self.workspace, next));
    }
}

fn cost(place: &Place) -> usize {
    let mut text = String::new();
    text::write_place(&mut text, place);
    Tokenizer::O200k.count(&text) + 1
}

fn tokens(found: &Found) -> usize {
    Tokenizer::O200k.count(&text::written(found))
}

/// Takes away what a reader misses least; whether there was anything.
fn shorten(found: &mut Found) -> bool {
    if found.more.pop().is_some() {
        return true;
    }
    if found.folded_tests > 0 {
        found.folded_tests = 0;
        found.test_files.clear();
        return true;
    }
    if found.places.len() > 1 {
        found.places.pop();
        return true;
    }
    let Some(place) = found.places.first_mut() else {
        return found.note.take().is_some();
    };
    if !place.alike.is_empty() {
        place.alike.clear();
    } else if place.lines.len() > 1 {
        place.lines.pop();
    } else if found.note.is_some() {
        found.note = None;
    } else if place.name.contains(", ") || place.lines.is_empty() && !place.name.is_empty() {
        let names = place.name.rsplit_once(", ");
        place.name = names.map_or_else(String::new, |(names, _)| names.to_owned());
    } else if let Some(line) = place.lines.pop() {
        // Half of a long line still tells more than none.
        let half = line.text.chars().count() / 2;
        if half >= SHORTEST {
            let text = line.text.chars().take(half).chain(['…']).collect();
            place.lines.push(Line { text, ..line });
        }
    } else {
        // Not even its path fits.
        found.places.clear();
        found.note = Some(TOO_FEW.to_owned());
    }
    true
}

const TOO_FEW: &str = "max_tokens is too small to name a place";
