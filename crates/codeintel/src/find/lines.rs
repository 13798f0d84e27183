//! What the lines of a region hold of a question, and which of them are shown: by the rarity of their words, with the conditions that they
//! stand under; the head of what they are in always.

use std::collections::HashMap;

use index::search::{each_word, term_of};

use super::query::{Query, folded};

/// How much a line beside a matching one counts, as a share of it.
const NEAR: f32 = 0.4;
/// How much the condition counts that a matching line stands under.
const AROUND: f32 = 0.5;
/// Conditions above a line that are looked for, and lines that are gone up for them.
const MOST_CONDITIONS: usize = 2;
const MOST_UP: usize = 80;
/// A line is shown that weighs more than this share of the best one; others fill this part of the room.
const TELLING: f32 = 0.12;
const FILLING: usize = 5;
/// How much a word counts in a comment, and in an import.
const COMMENT: f32 = 0.6;
const IMPORT: f32 = 0.4;
/// Words in a row that say that a line is meant.
const ROW: usize = 3;
/// Words that a message has in the place of one of the line's, and words of the line that stand for it.
const FILLED_IN: usize = 4;
const STANDS_FOR: usize = 3;
/// Words of a message that say that a quoted text is it.
const QUOTED: usize = 3;
/// Most words of a line that are looked at, and places of one word in the question.
const MOST_WORDS: usize = 400;
const MOST_PLACES: usize = 8;

/// The terms and identifiers of a question as lines are compared with them.
pub(super) struct Asked<'q> {
    query: &'q Query,
    /// Stems with their bits.
    bits: HashMap<&'q str, u8>,
    /// Where each word of the question is among its words.
    places: HashMap<&'q str, Vec<usize>>,
    /// Per term how much a line counts by having it.
    pub(super) rarity: &'q [f32],
    pub(super) name_rarity: &'q [f32],
}

/// What a line holds.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(super) struct LineEvidence {
    /// Terms, by bit.
    pub(super) terms: u64,
    /// Identifiers, by bit.
    pub(super) names: u32,
    /// Rarity of what it says in the question's own order.
    pub(super) row: f32,
    /// The same of a text that it quotes, values being filled in for what stands between its words.
    pub(super) quoted: f32,
    pub(super) is_blank: bool,
    pub(super) is_comment: bool,
    pub(super) is_import: bool,
}

impl<'q> Asked<'q> {
    pub(super) fn new(query: &'q Query, terms: &'q [String], rarity: &'q [f32], name_rarity: &'q [f32]) -> Asked<'q> {
        let bits = terms.iter().enumerate().map(|(bit, term)| (term.as_str(), bit as u8));
        let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
        for (at, word) in query.in_row.iter().enumerate() {
            places.entry(word).or_default().push(at);
        }
        Asked {
            query,
            bits: bits.collect(),
            places,
            rarity,
            name_rarity,
        }
    }

    /// What a line holds.
    pub(super) fn evidence(&self, line: &str) -> LineEvidence {
        let trimmed = line.trim_start();
        let mut found = LineEvidence {
            is_blank: trimmed.is_empty(),
            is_comment: is_comment(trimmed),
            is_import: is_import(trimmed),
            ..LineEvidence::default()
        };
        if found.is_blank {
            return found;
        }
        let mut runs = Runs::default();
        let mut message = Message::default();
        let is_quoting = line.contains(['"', '\'', '`']);
        let mut count = 0;
        each_word(line, |word| {
            count += 1;
            if count > MOST_WORDS {
                return;
            }
            let bit = term_of(word).and_then(|term| self.bits.get(term)).copied();
            if let Some(bit) = bit {
                found.terms |= 1 << bit;
            }
            let rarity = bit.map_or(COMMON_WORD, |bit| self.rarity[usize::from(bit)]);
            let places = self.places.get(word).map_or(&[][..], Vec::as_slice);
            let places = &places[..places.len().min(MOST_PLACES)];
            found.row = found.row.max(runs.add(places, rarity));
            if is_quoting {
                found.quoted = found.quoted.max(message.add(count, places, rarity));
            }
        });
        if !self.query.names.is_empty() {
            for whole in line.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-') {
                if whole.len() < 3 || whole.len() > 200 {
                    continue;
                }
                for (bit, name) in self.query.names.iter().enumerate() {
                    if whole.len() >= name.folded.len() && is_named(whole, &name.folded) {
                        found.names |= 1 << bit;
                    }
                }
            }
        }
        found
    }

    /// How much a line counts.
    pub(super) fn weight(&self, line: &LineEvidence) -> f32 {
        let sum = bits(line.terms).map(|bit| self.rarity[bit]).sum::<f32>();
        let names = bits(u64::from(line.names))
            .map(|bit| self.name_rarity[bit])
            .sum::<f32>();
        let share = match (line.is_import, line.is_comment) {
            (true, _) => IMPORT,
            (_, true) => COMMENT,
            _ => 1.0,
        };
        (sum + names + line.row.max(line.quoted)) * share
    }
}

/// Words of a line that follow each other in the question as well.
#[derive(Default)]
struct Runs {
    /// Where those end in the question that end with the last word, with their length and their rarity.
    ends: Vec<(usize, usize, f32)>,
    next: Vec<(usize, usize, f32)>,
}

impl Runs {
    /// Adds a word by its places in the question: the rarity of the best run that is long enough.
    fn add(&mut self, places: &[usize], rarity: f32) -> f32 {
        let mut best = 0f32;
        self.next.clear();
        for &at in places {
            let run = at
                .checked_sub(1)
                .and_then(|end| self.ends.iter().find(|run| run.0 == end));
            let (length, sum) = run.map_or((1, rarity), |run| (run.1 + 1, run.2 + rarity));
            self.next.push((at, length, sum));
            if length >= ROW {
                best = best.max(sum);
            }
        }
        std::mem::swap(&mut self.ends, &mut self.next);
        best
    }
}

/// Words of a line that follow each other in the question with gaps: `cannot open {path} of {count}` in `cannot open /etc/x of 3`.
#[derive(Default)]
struct Message {
    /// Where each run ends in the line and in the question, with its length and its rarity.
    ends: Vec<(usize, usize, usize, f32)>,
}

impl Message {
    /// Adds the word at a place of the line by its places in the question: the rarity of the best run that is long enough.
    fn add(&mut self, here: usize, places: &[usize], rarity: f32) -> f32 {
        self.ends.retain(|run| here - run.0 <= 1 + STANDS_FOR);
        let mut best = 0f32;
        let known = self.ends.len();
        for &at in places {
            let before = self.ends[..known]
                .iter()
                .filter(|run| run.1 < at && at - run.1 <= 1 + FILLED_IN)
                .max_by(|left, right| left.3.total_cmp(&right.3));
            let (length, sum) = before.map_or((1, rarity), |run| (run.2 + 1, run.3 + rarity));
            self.ends.push((here, at, length, sum));
            if length >= QUOTED {
                best = best.max(sum);
            }
        }
        best
    }
}

/// What a word adds to a run that says nothing by itself.
const COMMON_WORD: f32 = 0.1;

/// Whether a word of a line is an identifier that is asked for, however its parts are joined; `a-b` may be a difference of two.
fn is_named(whole: &str, asked: &str) -> bool {
    folded(whole) == asked || whole.contains('-') && whole.split('-').any(|part| folded(part) == asked)
}

/// The numbers of the bits that are set.
pub(super) fn bits(mut mask: u64) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        (mask != 0).then(|| {
            let bit = mask.trailing_zeros() as usize;
            mask &= mask - 1;
            bit
        })
    })
}

fn is_comment(line: &str) -> bool {
    line.starts_with("//")
        || line.starts_with("/*")
        || line.starts_with("* ")
        || line == "*"
        || line.starts_with('#') && !line.starts_with("#[") && !is_directive(line)
        || line.starts_with("--")
        || line.starts_with("\"\"\"")
        || line.starts_with("<!--")
}

fn is_directive(line: &str) -> bool {
    [
        "#define", "#if", "#else", "#elif", "#endif", "#include", "#pragma", "#undef", "#error", "#!",
    ]
    .iter()
    .any(|directive| line.starts_with(directive))
}

fn is_import(line: &str) -> bool {
    [
        "import ",
        "from ",
        "use ",
        "using ",
        "require",
        "#include",
        "export * from",
        "extern crate ",
        "alias ",
        "package ",
    ]
    .iter()
    .any(|start| line.starts_with(start))
        || line.starts_with("const ") && line.contains("require(")
}

/// Which lines of a region are shown, at most `cap`, as places among `lines`; `head` is the line with the name.
pub(super) fn chosen(
    asked: &Asked<'_>,
    evidence: &[LineEvidence],
    lines: &[&str],
    head: usize,
    cap: usize,
) -> Vec<usize> {
    if lines.len() <= cap {
        return (0..lines.len()).filter(|&at| !evidence[at].is_blank).collect();
    }
    let own: Vec<f32> = evidence.iter().map(|line| asked.weight(line)).collect();
    let mut weights = own.clone();
    for (at, &weight) in own.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        for near in [at.checked_sub(1), Some(at + 1)].into_iter().flatten() {
            if let Some(other) = weights.get_mut(near).filter(|_| !evidence[near].is_blank) {
                *other = other.max(weight * NEAR);
            }
        }
        for condition in conditions(lines, at) {
            weights[condition] = weights[condition].max(weight * AROUND);
        }
    }
    let mut order: Vec<usize> = (0..lines.len())
        .filter(|&at| !evidence[at].is_blank && at != head)
        .collect();
    // Equals from the top, so that a region without a match shows how it begins.
    order.sort_by(|&left, &right| weights[right].total_cmp(&weights[left]).then(left.cmp(&right)));
    // What tells little beside the best line only fills a small part of the room; where nothing tells, the beginning fills half of it.
    let best = order.first().map_or(0.0, |&at| weights[at]);
    let telling = order.iter().filter(|&&at| weights[at] > best * TELLING).count();
    let filling = if best > 0.0 { cap / FILLING } else { cap / 2 };
    order.truncate(telling.max(filling).min(cap.saturating_sub(1)));
    order.push(head.min(lines.len() - 1));
    order.sort_unstable();
    order.dedup();
    order
}

/// The conditions and loops that a line stands under, the nearest first, by indentation.
fn conditions(lines: &[&str], at: usize) -> Vec<usize> {
    let mut found = Vec::new();
    let mut depth = indentation(lines[at]);
    for above in (at.saturating_sub(MOST_UP)..at).rev() {
        let line = lines[above];
        if line.trim().is_empty() || indentation(line) >= depth {
            continue;
        }
        depth = indentation(line);
        if is_condition(line.trim_start()) {
            found.push(above);
        }
        if found.len() == MOST_CONDITIONS || depth == 0 {
            break;
        }
    }
    found
}

fn indentation(line: &str) -> usize {
    let blank = &line[..line.len() - line.trim_start().len()];
    blank.chars().map(|c| if c == '\t' { 4 } else { 1 }).sum()
}

fn is_condition(line: &str) -> bool {
    let line = line.trim_start_matches(['}', ' ']);
    let word: &str = line.split(|c: char| !c.is_alphanumeric()).next().unwrap_or("");
    matches!(
        word,
        "if" | "elif"
            | "else"
            | "elsif"
            | "elseif"
            | "unless"
            | "for"
            | "foreach"
            | "while"
            | "until"
            | "loop"
            | "switch"
            | "case"
            | "match"
            | "when"
            | "default"
            | "try"
            | "catch"
            | "except"
            | "rescue"
            | "ensure"
            | "finally"
            | "with"
            | "guard"
            | "select"
            | "do"
            | "cond"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_with_rare_words_come_with_their_conditions_and_the_head() {
        let text: Vec<String> = (0..100)
            .map(|number| match number {
                0 => "def send(self, request):".to_owned(),
                50 => "    if request.limit:".to_owned(),
                60 => "        raise TooManyRedirects()".to_owned(),
                _ if number > 50 && number < 70 => "        step()".to_owned(),
                _ => "    other()".to_owned(),
            })
            .collect();
        let lines: Vec<&str> = text.iter().map(String::as_str).collect();
        let query = Query::of("too many redirects");
        let terms = ["many".to_owned(), "redirect".to_owned(), "too".to_owned()];
        let asked = Asked::new(&query, &terms, &[1.0, 3.0, 1.0], &[]);
        let evidence: Vec<LineEvidence> = lines.iter().map(|line| asked.evidence(line)).collect();
        assert!(evidence[60].row > 0.0 && evidence[0].terms == 0);
        assert_eq!(chosen(&asked, &evidence, &lines, 0, 5), [0, 50, 59, 60, 61]);
    }

    #[test]
    fn identifiers_are_met_in_any_spelling() {
        let query = Query::of("`max_body`");
        let asked = Asked::new(&query, &[], &[], &[2.0]);
        for line in ["let maxBody = 1", "max-body: 3", "x.MAX_BODY()"] {
            assert_eq!(asked.evidence(line).names, 1, "{line}");
        }
        assert_eq!(asked.evidence("max body").names, 0);
    }
}
