//! A ChoiceCard: what an agent sees of a tool before it picks one. Never a schema, an example or free-form metadata;
//! budgets are counted on the line that is really sent, and only the description is ever cut to meet them.

use serde::{Deserialize, Serialize};

use crate::tokens::{self, LONGEST_TOKEN};

/// Tokens no single card may exceed, whatever the configuration.
pub const HARD_CAP_TOKENS: usize = 80;
/// Tokens of a browse answer besides its cards.
pub const PREAMBLE_TOKENS: usize = 32;
const NAME_LIMIT: usize = 64;
const TAG_LIMIT: usize = 24;
const TAGS_LIMIT: usize = 5;
/// Tags that are never evicted by the limit on tags.
const SAFETY_TAGS: [&str; 2] = ["destructive", "read-only"];

/// The permitted fields, in the order they are written. Its serde form is the JSON form.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChoiceCard {
    pub id: String,
    pub name: String,
    pub description: String,
    pub tags: Vec<String>,
    pub kind: CardKind,
    pub namespace: String,
    pub has_schema: bool,
    /// Carried in the JSON form alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    #[serde(default, skip_serializing_if = "is_zero")]
    pub cost_hint: f64,
    #[serde(default, skip_serializing_if = "is_false")]
    pub side_effects: bool,
    #[serde(default, skip_serializing_if = "Safety::is_unknown")]
    pub safety: Safety,
}

/// What a card stands for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CardKind {
    #[default]
    Tool,
    Agent,
    Skill,
    /// A namespace, a cluster or the cache breakpoint: not callable.
    Internal,
    Resource,
    Prompt,
}

/// What the upstream claims about the harm a call can do. Informational: nothing may be authorised by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Safety {
    #[default]
    #[serde(rename = "")]
    Unknown,
    ReadOnly,
    Destructive,
}

impl Safety {
    pub fn is_unknown(&self) -> bool {
        *self == Safety::Unknown
    }

    /// From a card's tags; a destructive tool that also claims to be read-only is destructive.
    pub fn from_tags(tags: &[String]) -> Safety {
        if tags.iter().any(|tag| tag == "destructive") {
            Safety::Destructive
        } else if tags.iter().any(|tag| tag == "read-only") {
            Safety::ReadOnly
        } else {
            Safety::Unknown
        }
    }
}

/// A card that cannot be made to fit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the card of `{id}` needs {tokens} tokens, more than {HARD_CAP_TOKENS}")]
pub struct CardTooLarge {
    pub id: String,
    pub tokens: usize,
}

/// What of a card goes on the wire in every format but JSON: one row.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CardRow<'a> {
    pub id: &'a str,
    pub description: &'a str,
    /// Safety class, else empty; then the cost, when there is one.
    pub note: String,
}

impl ChoiceCard {
    pub fn row(&self) -> CardRow<'_> {
        let mut note = String::from(match self.safety {
            Safety::Unknown => "",
            Safety::ReadOnly => "read-only",
            Safety::Destructive => "destructive",
        });
        if self.cost_hint > 0.0 {
            let gap = if note.is_empty() { "" } else { " " };
            note = format!("{note}{gap}cost={}", self.cost_hint);
        }
        CardRow {
            id: &self.id,
            description: &self.description,
            note,
        }
    }

    /// The row as one line of text: what token budgets are counted on.
    pub fn line(&self) -> String {
        let row = self.row();
        [row.id, row.description, &row.note].join("\t")
    }

    pub fn tokens(&self) -> usize {
        tokens::count(&self.line())
    }

    /// Cuts the description until the line costs at most `target` tokens, where the rest of the card leaves room for it.
    pub fn fit(mut self, target: usize) -> Result<ChoiceCard, CardTooLarge> {
        self.description = one_line(&self.description);
        let target = target.min(HARD_CAP_TOKENS);
        if tokens::fits(&self.line(), target) {
            return Ok(self);
        }
        let whole = std::mem::take(&mut self.description);
        let bare = self.tokens();
        let mut budget = target.saturating_sub(bare).max(MIN_DESCRIPTION_TOKENS);
        loop {
            self.description = truncate_description(&whole, budget as i64);
            let total = self.tokens();
            if total <= target || budget <= MIN_DESCRIPTION_TOKENS {
                break;
            }
            // Neighbouring cells can merge or split a token at the seam, so the sum may be off by one or two.
            budget = budget.saturating_sub(total - target).max(MIN_DESCRIPTION_TOKENS);
        }
        let total = self.tokens();
        if total <= HARD_CAP_TOKENS {
            return Ok(self);
        }
        self.description = String::new();
        let tokens = self.tokens();
        if tokens <= HARD_CAP_TOKENS {
            Ok(self)
        } else {
            Err(CardTooLarge { id: self.id, tokens })
        }
    }
}

/// A card with a long id still says something.
const MIN_DESCRIPTION_TOKENS: usize = 6;

/// Cards as they are sent when no format is asked for: a line each, and how many there are in all when some are missing.
pub fn lines(cards: &[ChoiceCard], total: usize) -> String {
    if cards.is_empty() {
        return "nothing found".to_owned();
    }
    let mut text = String::new();
    for card in cards {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(card.line().trim_end_matches('\t'));
    }
    if total > cards.len() {
        text.push_str(&format!("\n({} of {total})", cards.len()));
    }
    text
}

/// At most 64 characters of a display name.
pub fn card_name(name: &str) -> String {
    name.chars().take(NAME_LIMIT).collect()
}

/// At most five tags of at most 24 characters, sorted, the safety tags always among them.
pub fn card_tags(tags: &[String]) -> Vec<String> {
    let mut cut: Vec<String> = tags
        .iter()
        .map(|tag| tag.chars().take(TAG_LIMIT).collect::<String>())
        .collect();
    cut.retain(|tag| !tag.is_empty());
    cut.sort_unstable();
    cut.dedup();
    let (mut kept, others): (Vec<String>, Vec<String>) =
        cut.into_iter().partition(|tag| SAFETY_TAGS.contains(&tag.as_str()));
    kept.extend(others.into_iter().take(TAGS_LIMIT - kept.len()));
    kept.sort_unstable();
    kept
}

/// Orders cards by descending score, then by id.
pub fn order(cards: &mut [ChoiceCard]) {
    cards.sort_by(|left, right| {
        let score = |card: &ChoiceCard| card.score.unwrap_or(0.0);
        score(right)
            .total_cmp(&score(left))
            .then_with(|| left.id.cmp(&right.id))
    });
}

/// Cuts a description to a number of tokens: whole when it fits, else at the last sentence end that fits, else at the
/// last character that fits, with `…`.
pub fn truncate_description(text: &str, max_tokens: i64) -> String {
    let Some(budget) = usize::try_from(max_tokens).ok().filter(|budget| *budget > 0) else {
        return String::new();
    };
    if tokens::fits(text, budget) {
        return text.to_owned();
    }
    if let Some(prefix) = longest_sentence(text, budget) {
        return prefix.to_owned();
    }
    format!("{}…", longest_prefix(text, budget - 1).trim_end())
}

/// The longest prefix that ends with a sentence and fits.
fn longest_sentence(text: &str, budget: usize) -> Option<&str> {
    let mut longest = None;
    let mut characters = text.char_indices().peekable();
    while let Some((offset, c)) = characters.next() {
        let ends_here = characters.peek().is_none_or(|(_, next)| next.is_whitespace());
        if matches!(c, '.' | '!' | '?') && ends_here {
            let prefix = &text[..=offset];
            if !tokens::fits(prefix, budget) {
                break;
            }
            longest = Some(prefix);
        }
    }
    longest
}

/// The longest prefix, in characters, that fits, by halving. Counting stops at the budget, so a long text costs no more.
fn longest_prefix(text: &str, budget: usize) -> &str {
    let reach = (budget * LONGEST_TOKEN).max(4096);
    let ends: Vec<usize> = text
        .char_indices()
        .map(|(offset, c)| offset + c.len_utf8())
        .take(reach)
        .collect();
    // A longer prefix may cost less ("Crea" is two tokens, "Create" one), so where the halving probes decides where a text is
    // cut. These are the probes every implementation makes, so that all of them cut at the same place.
    let prefix = |characters: usize| &text[..characters.checked_sub(1).map_or(0, |last| ends[last])];
    let (mut longest, mut low, mut high) = (0, 0, ends.len());
    while low <= high {
        let middle = (low + high) / 2;
        if tokens::fits(prefix(middle), budget) {
            longest = middle;
            low = middle + 1;
        } else {
            // The empty prefix fits, so `middle` is not zero here.
            high = middle - 1;
        }
    }
    prefix(longest)
}

/// Control characters and line breaks become single spaces: a card is one line, whatever the upstream wrote.
fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
    {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    line
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(value: &f64) -> bool {
    *value <= 0.0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_false(value: &bool) -> bool {
    !*value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn card(description: &str) -> ChoiceCard {
        let description = description.to_owned();
        ChoiceCard {
            id: "github:create_issue#6daf10e7".into(),
            description,
            ..ChoiceCard::default()
        }
    }

    #[test]
    fn a_card_meets_its_target_on_the_line_that_is_sent() {
        let long = "Create a new issue in a GitHub repository. Requires write access. ".repeat(40);
        for target in [20, 25, 30, 45, 80] {
            let fitted = card(&long).fit(target).unwrap();
            assert!(
                fitted.tokens() <= target.max(22),
                "{target}: {} {}",
                fitted.tokens(),
                fitted.line()
            );
            assert!(!fitted.description.is_empty());
        }
    }

    #[test]
    fn a_description_becomes_one_line() {
        assert_eq!(card("a\n\tb\u{1b}[0m  c").fit(60).unwrap().description, "a b [0m c");
    }

    #[test]
    fn safety_tags_survive_the_limit() {
        let tags: Vec<String> = ["a", "b", "c", "d", "e", "read-only", "destructive"]
            .map(String::from)
            .to_vec();
        assert_eq!(card_tags(&tags), ["a", "b", "c", "destructive", "read-only"]);
        assert_eq!(Safety::from_tags(&tags), Safety::Destructive);
    }

    #[test]
    fn an_id_that_cannot_fit_is_an_error() {
        let id = format!("mcp:{}#00000000", "aZ9_".repeat(31));
        let error = ChoiceCard {
            id: id.clone(),
            ..ChoiceCard::default()
        }
        .fit(25)
        .unwrap_err();
        assert_eq!(error.id, id);
        assert!(error.tokens > HARD_CAP_TOKENS);
    }

    #[test]
    fn the_json_form_has_permitted_fields_only() {
        let json = serde_json::to_value(card("x")).unwrap();
        let keys: Vec<&str> = json.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(
            keys,
            ["id", "name", "description", "tags", "kind", "namespace", "has_schema"]
        );
    }

    #[test]
    fn cutting_a_huge_text_is_quick_and_stable() {
        let text = "x".repeat(4 << 20);
        let started = std::time::Instant::now();
        let cut = truncate_description(&text, 20);
        assert!(cut.ends_with('…') && tokens::count(&cut) <= 20);
        assert_eq!(cut, truncate_description(&text, 20));
        assert!(started.elapsed().as_secs() < 2, "{:?}", started.elapsed());
    }
}
