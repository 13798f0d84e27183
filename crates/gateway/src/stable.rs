//! Cache-stable browsing: cards a session has seen come first, in id order and byte for byte as they were, so that a
//! prompt cache keeps its prefix. Which cards are in the answer is decided by rank, before this; nothing is dropped here.

use std::collections::BTreeMap;

use crate::card::{CardKind, ChoiceCard};

/// The id of the card that marks where new cards begin.
pub const BREAKPOINT_ID: &str = "__cache_breakpoint__";

/// What one session has been shown.
#[derive(Clone, Debug, Default)]
pub struct SeenCards {
    frozen: BTreeMap<String, ChoiceCard>,
}

impl SeenCards {
    /// Seen cards in their frozen form, a breakpoint when both parts exist, then the new ones; each part by id.
    pub fn arrange(&mut self, cards: Vec<ChoiceCard>) -> Vec<ChoiceCard> {
        let (mut seen, mut new) = (Vec::new(), Vec::new());
        for card in cards {
            match self.frozen.get(&card.id) {
                Some(frozen) => seen.push(frozen.clone()),
                None => new.push(card),
            }
        }
        seen.sort_by(|left, right| left.id.cmp(&right.id));
        new.sort_by(|left, right| left.id.cmp(&right.id));
        for card in &new {
            self.frozen.insert(card.id.clone(), card.clone());
        }
        let mut arranged = seen;
        if !arranged.is_empty() && !new.is_empty() {
            arranged.push(ChoiceCard {
                id: BREAKPOINT_ID.to_owned(),
                kind: CardKind::Internal,
                ..ChoiceCard::default()
            });
        }
        arranged.extend(new);
        arranged
    }

    /// Records a successful hydration. A failed one must not be recorded.
    pub fn record(&mut self, card: ChoiceCard) {
        self.frozen.entry(card.id.clone()).or_insert(card);
    }

    pub fn contains(&self, id: &str) -> bool {
        self.frozen.contains_key(id)
    }

    /// Forgets everything: the catalog has changed, and a frozen card may describe a tool that is gone.
    pub fn reset(&mut self) {
        self.frozen.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(id: &str, score: f64) -> ChoiceCard {
        ChoiceCard {
            id: id.into(),
            score: Some(score),
            ..ChoiceCard::default()
        }
    }

    fn ids(cards: &[ChoiceCard]) -> Vec<&str> {
        cards.iter().map(|card| card.id.as_str()).collect()
    }

    #[test]
    fn seen_cards_come_first_and_keep_their_bytes() {
        let mut seen = SeenCards::default();
        assert_eq!(ids(&seen.arrange(vec![card("b", 2.0), card("a", 1.0)])), ["a", "b"]);
        let second = seen.arrange(vec![card("z", 9.0), card("b", 7.0), card("c", 3.0)]);
        assert_eq!(ids(&second), ["b", BREAKPOINT_ID, "c", "z"]);
        assert_eq!(second[0].score, Some(2.0), "the score of the first sighting");
        assert_eq!(second[1].kind, CardKind::Internal);
        assert_eq!(second[3].score, Some(9.0), "rank is still there to be read");
    }

    #[test]
    fn no_marker_without_a_boundary() {
        let mut seen = SeenCards::default();
        seen.arrange(vec![card("a", 1.0)]);
        assert_eq!(ids(&seen.arrange(vec![card("a", 5.0)])), ["a"]);
        assert_eq!(ids(&seen.arrange(vec![card("q", 5.0)])), ["q"]);
    }

    #[test]
    fn every_ranked_card_survives() {
        let mut seen = SeenCards::default();
        seen.arrange((0..8).map(|i| card(&format!("a{i}"), 1.0)).collect());
        let best = vec![card("zz-best", 9.0), card("a1", 0.5)];
        assert!(ids(&seen.arrange(best)).contains(&"zz-best"));
    }

    #[test]
    fn a_hydrated_tool_counts_as_seen() {
        let mut seen = SeenCards::default();
        seen.record(card("h", 0.0));
        assert_eq!(
            ids(&seen.arrange(vec![card("a", 1.0), card("h", 2.0)])),
            ["h", BREAKPOINT_ID, "a"]
        );
        seen.reset();
        assert!(!seen.contains("h"));
    }
}
