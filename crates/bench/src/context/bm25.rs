//! Plain BM25 over whole files, as the yardstick: words of the text, lower case, nothing known of code.

use std::collections::HashMap;

use codeintel::Workspace;

/// Files by their words.
pub(super) struct Bm25 {
    paths: Vec<String>,
    lengths: Vec<f64>,
    mean: f64,
    postings: HashMap<String, Vec<(u32, u32)>>,
}

impl Bm25 {
    pub(super) fn of(workspace: &Workspace) -> Bm25 {
        let mut found = Bm25 {
            paths: Vec::new(),
            lengths: Vec::new(),
            mean: 1.0,
            postings: HashMap::new(),
        };
        let repository = &workspace.repositories()[0];
        for file in repository.snapshot.files() {
            let Ok((text, _)) = index::scan::read_source(&repository.root, file.path()) else {
                continue;
            };
            let number = found.paths.len() as u32;
            let mut length = 0u32;
            let mut counts: HashMap<String, u32> = HashMap::new();
            for word in words(&text).chain(words(file.path())) {
                length += 1;
                *counts.entry(word).or_default() += 1;
            }
            let mut counts: Vec<(String, u32)> = counts.into_iter().collect();
            counts.sort();
            for (word, count) in counts {
                found.postings.entry(word).or_default().push((number, count));
            }
            found.paths.push(file.path().to_string());
            found.lengths.push(f64::from(length));
        }
        found.mean = (found.lengths.iter().sum::<f64>() / found.lengths.len().max(1) as f64).max(1.0);
        found
    }

    pub(super) fn search(&self, question: &str, limit: usize) -> Vec<String> {
        let mut scores = vec![0.0f64; self.paths.len()];
        let mut asked: Vec<String> = words(question).collect();
        asked.sort();
        asked.dedup();
        for word in asked {
            let Some(postings) = self.postings.get(&word) else {
                continue;
            };
            let (all, with) = (self.paths.len() as f64, postings.len() as f64);
            let rarity = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
            for &(file, count) in postings {
                let count = f64::from(count);
                let length = self.lengths[file as usize] / self.mean;
                scores[file as usize] += rarity * count * 2.2 / (count + 1.2 * (0.25 + 0.75 * length));
            }
        }
        let mut order: Vec<usize> = (0..scores.len()).filter(|file| scores[*file] > 0.0).collect();
        order.sort_by(|a, b| scores[*b].total_cmp(&scores[*a]).then(a.cmp(b)));
        order
            .into_iter()
            .take(limit)
            .map(|file| self.paths[file].clone())
            .collect()
    }
}

fn words(text: &str) -> impl Iterator<Item = String> + '_ {
    let parts = text.split(|c: char| !c.is_alphanumeric() && c != '_');
    parts.filter(|word| word.len() > 1).map(str::to_lowercase)
}
