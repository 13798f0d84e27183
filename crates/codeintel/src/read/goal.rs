//! The lines of a stretch that serve a goal: those with its words, rare ones first, a line around each, and the heads of what they are in.

use std::collections::{BTreeMap, BTreeSet};

use index::search::words;

/// Share of the lines that is kept at most, and never fewer than this.
const SHARE: usize = 3;
const LEAST: usize = 24;

/// The numbers of the lines to keep, in order; all of them where no word of the goal is there.
pub(super) fn lines(text: &[String], first: u32, last: u32, heads: &[u32], goal: &str) -> Vec<u32> {
    let all = first..=last;
    let wanted: BTreeSet<String> = words(goal)
        .iter()
        .map(|word| stem(word))
        .filter(|word| word.len() > 2)
        .collect();
    let line = |number: u32| text.get(number as usize - 1).map_or("", String::as_str);
    let hits: BTreeMap<u32, BTreeSet<String>> = all
        .clone()
        .map(|number| {
            let has = words(line(number))
                .iter()
                .map(|word| stem(word))
                .filter(|word| wanted.contains(word))
                .collect();
            (number, has)
        })
        .filter(|(_, has): &(u32, BTreeSet<String>)| !has.is_empty())
        .collect();
    if hits.is_empty() {
        return all.collect();
    }
    let mut frequency: BTreeMap<&str, usize> = BTreeMap::new();
    for word in hits.values().flatten() {
        *frequency.entry(word).or_default() += 1;
    }
    // A word counts as much as it is rare in the stretch.
    let weight = |has: &BTreeSet<String>| -> f64 {
        has.iter()
            .map(|word| 1.0 / frequency.get(word.as_str()).copied().unwrap_or(1) as f64)
            .sum()
    };
    let mut ranked: Vec<(u32, f64)> = hits.iter().map(|(&number, has)| (number, weight(has))).collect();
    ranked.sort_by(|left, right| right.1.total_cmp(&left.1).then(left.0.cmp(&right.0)));
    let room = ((last - first + 1) as usize / SHARE).max(LEAST);
    let mut kept: BTreeSet<u32> = BTreeSet::from([first]);
    for (number, _) in ranked {
        if kept.len() >= room {
            break;
        }
        kept.extend((number.saturating_sub(1)..=number + 1).filter(|near| all.contains(near)));
        kept.extend(
            heads
                .iter()
                .rev()
                .find(|&&head| head <= number)
                .filter(|head| all.contains(head)),
        );
    }
    kept.into_iter().collect()
}

/// Plurals and verbs lose their ends, so that `redirects` and `redirected` are `redirect`.
fn stem(word: &str) -> String {
    let ends = ["ing", "ed", "es", "s"];
    let cut = ends
        .iter()
        .find_map(|end| word.strip_suffix(end).filter(|rest| rest.len() > 3));
    cut.unwrap_or(word).to_owned()
}

#[cfg(test)]
mod tests {
    use super::lines;

    #[test]
    fn lines_with_rare_words_of_the_goal_are_kept_with_their_heads() {
        let text: Vec<String> = (1..=300)
            .map(|number| match number {
                1 => "class Client:".to_owned(),
                100 => "def send(self):".to_owned(),
                150 => "raise TooManyRedirects()".to_owned(),
                _ => "self.client = client".to_owned(),
            })
            .collect();
        let kept = lines(&text, 1, 300, &[100], "where redirects of the client end");
        assert!(
            [1, 100, 149, 150, 151].iter().all(|line| kept.contains(line)),
            "{kept:?}"
        );
        assert!(kept.len() <= 110);
        assert_eq!(lines(&text, 1, 300, &[], "zebra").len(), 300);
    }
}
