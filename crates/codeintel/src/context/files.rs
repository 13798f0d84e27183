//! Which files a task is about, from their whole text, their best parts, their names and what the task writes out.
//!
//! A change touches few files, and its description seldom has all its words in one symbol: so files are judged first, and a
//! symbol can be no better than its file. The weights were chosen on the patch series of exim, OpenSSH, CUPS, GRUB and Ruby,
//! where leaving one of them out changed its own recall by less than two hundredths.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use index::model::FileId;
use index::search::{Hit, is_document};
use index::snapshot::{FileFlags, Snapshot};

use super::terms::Terms;
use crate::traverse::is_test_path;

/// Shared words of the whole text, long files not held against themselves: they are changed most.
const WHOLE: f32 = 1.0;
/// The same for the first line of the task alone, where it has others.
const TITLE: f32 = 0.5;
/// The best chunks by words.
const CHUNKS: f32 = 0.4;
/// The best chunk by meaning.
const MEANING: f32 = 0.4;
/// The part of the file's name that the task says.
const NAME: f32 = 0.5;
/// The folders that the task says.
const FOLDERS: f32 = 0.5;
/// A symbol that the task names is defined here.
const DEFINES: f32 = 0.8;
/// The task writes the path out.
const PATH: f32 = 1.2;

/// Tests, unless the task speaks of them (a change often comes with its test, so they are held back by little, and behind the
/// code that fits); documents; generated files.
const TEST: f32 = 0.95;
const DOCUMENT: f32 = 0.6;
const GENERATED: f32 = 0.5;

/// Files of other code that come before each file of tests …
const CODE_BEFORE_TEST: usize = 2;
/// … but for those that fit so much less, as a share of the test.
const FITS_LESS: f32 = 0.5;

/// Chunks of one file that count.
const CHUNKS_OF_ONE: usize = 5;

/// What the evidence is taken from.
pub(crate) struct FileEvidence<'a> {
    pub(crate) terms: &'a Terms,
    pub(crate) path_words: &'a PathWords,
    /// By file: words of the whole task, and of its first line.
    pub(crate) whole: Vec<f32>,
    pub(crate) title: Vec<f32>,
    /// Best first.
    pub(crate) lexical: &'a [Hit],
    pub(crate) semantic: &'a [Hit],
    /// Per name in the task how much it counts and the files that define it; per path the files that it means.
    pub(crate) defining: Vec<(f32, Vec<FileId>)>,
    pub(crate) meant: Vec<Vec<FileId>>,
}

/// How much each file matters, 1 for the best.
pub(crate) fn file_scores(snapshot: &Snapshot, evidence: &FileEvidence<'_>) -> Vec<f32> {
    let mut scores = vec![0f32; snapshot.file_count()];
    let mut add = |weight: f32, part: &[f32]| {
        for (score, part) in scores.iter_mut().zip(part) {
            *score += weight * part;
        }
    };
    add(WHOLE, &evidence.whole);
    add(TITLE, &evidence.title);
    add(
        CHUNKS,
        &by_file(snapshot, evidence.lexical, CHUNKS_OF_ONE, |hit| hit.why.lexical),
    );
    add(
        MEANING,
        &by_file(snapshot, evidence.semantic, 1, |hit| hit.why.semantic),
    );
    let (names, folders) = evidence.path_words.shares(&evidence.terms.path_words);
    add(NAME, &names);
    add(FOLDERS, &folders);
    let defining = evidence
        .defining
        .iter()
        .map(|(weight, files)| (*weight, files.as_slice()));
    add(DEFINES, &shared_out(snapshot, defining));
    add(
        PATH,
        &shared_out(snapshot, evidence.meant.iter().map(|files| (1.0, files.as_slice()))),
    );
    for (score, file) in scores.iter_mut().zip(snapshot.files()) {
        if *score <= 0.0 {
            continue;
        }
        if evidence.path_words.is_test(file.id()) && !evidence.terms.about_tests {
            *score *= TEST;
        }
        if is_document(file.language()) {
            *score *= DOCUMENT;
        }
        if file.flags().contains(FileFlags::GENERATED) || file.source().is_some() {
            *score *= GENERATED;
        }
    }
    if !evidence.terms.about_tests {
        let is_test = |file: usize| evidence.path_words.tests.get(file).copied().unwrap_or(false);
        put_behind_code(&mut scores, is_test);
    }
    normalized(scores)
}

/// Lets tests follow the code that fits: they say its words more often than it does itself, and a dozen of them would fill the pack
/// of someone who asks how it works.
fn put_behind_code(scores: &mut [f32], is_test: impl Fn(usize) -> bool) {
    let fits = (0..scores.len()).filter(|&file| scores[file] > 0.0);
    let (mut tests, code): (Vec<usize>, Vec<usize>) = fits.partition(|&file| is_test(file));
    let mut code: Vec<f32> = code.into_iter().map(|file| scores[file]).collect();
    code.sort_by(|a, b| b.total_cmp(a));
    tests.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
    for (number, file) in tests.into_iter().enumerate() {
        let last_before = code.get(CODE_BEFORE_TEST * (number + 1) - 1).copied().unwrap_or(0.0);
        scores[file] = scores[file].min(last_before.max(scores[file] * FITS_LESS));
    }
}

/// The sums of the best hits of each file, as shares of the most.
fn by_file(snapshot: &Snapshot, hits: &[Hit], most: usize, value: impl Fn(&Hit) -> f32) -> Vec<f32> {
    let mut sums = vec![0f32; snapshot.file_count()];
    let mut counts: HashMap<FileId, usize> = HashMap::new();
    for hit in hits {
        let Some(file) = snapshot.symbol(hit.symbol).map(|symbol| symbol.file_id()) else {
            continue;
        };
        let count = counts.entry(file).or_default();
        if *count < most
            && let Some(sum) = sums.get_mut(file.0 as usize)
        {
            *sum += value(hit).max(0.0);
            *count += 1;
        }
    }
    normalized(sums)
}

/// The weight of each list, shared among its files; no file has more than one.
fn shared_out<'a>(snapshot: &Snapshot, lists: impl Iterator<Item = (f32, &'a [FileId])>) -> Vec<f32> {
    let mut sums = vec![0f32; snapshot.file_count()];
    for (weight, list) in lists {
        for file in list {
            if let Some(sum) = sums.get_mut(file.0 as usize) {
                *sum = (*sum + weight / list.len() as f32).min(1.0);
            }
        }
    }
    sums
}

fn normalized(mut values: Vec<f32>) -> Vec<f32> {
    let most = values.iter().copied().fold(0f32, f32::max);
    if most > 0.0 {
        values.iter_mut().for_each(|value| *value /= most);
    }
    values
}

/// The words of the paths of a tree: those of each file's name, and those of the folders it is in.
#[derive(Default)]
pub(crate) struct PathWords {
    names: HashMap<String, Vec<u32>>,
    folders: HashMap<String, Vec<u32>>,
    /// Per file, how rare the words of its name are in all.
    totals: Vec<f32>,
    /// Per file, whether it is one of tests.
    tests: Vec<bool>,
    files: usize,
}

impl PathWords {
    pub(crate) fn of(snapshot: &Snapshot) -> PathWords {
        let mut found = PathWords {
            files: snapshot.file_count(),
            totals: vec![0.0; snapshot.file_count()],
            tests: snapshot.files().map(|file| is_test_path(file.path())).collect(),
            ..PathWords::default()
        };
        for file in snapshot.files() {
            let path = file.path();
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let name = name.split('.').next().unwrap_or(name);
            let whole = name.to_lowercase();
            let words: BTreeSet<String> = stems(name).chain([whole]).collect();
            for word in words {
                found.names.entry(word).or_default().push(file.id().0);
            }
            for word in stems(folder).collect::<BTreeSet<String>>() {
                found.folders.entry(word).or_default().push(file.id().0);
            }
        }
        let mut totals = std::mem::take(&mut found.totals);
        // Sums of floats depend on their order.
        let names: BTreeMap<&String, &Vec<u32>> = found.names.iter().collect();
        for files in names.values() {
            let rarity = found.rarity(files.len());
            for file in files.iter() {
                totals[*file as usize] += rarity;
            }
        }
        found.totals = totals;
        found
    }

    fn is_test(&self, file: FileId) -> bool {
        self.tests.get(file.0 as usize).copied().unwrap_or(false)
    }

    fn rarity(&self, files: usize) -> f32 {
        let (all, with) = (self.files as f32, files as f32);
        (1.0 + (all - with + 0.5) / (with + 0.5)).ln()
    }

    /// Per file the share of its name's words that are among these, and how rare the words of its folders that are, as a share of
    /// the most.
    pub(crate) fn shares(&self, words: &BTreeSet<String>) -> (Vec<f32>, Vec<f32>) {
        let sums = |of: &HashMap<String, Vec<u32>>| {
            let mut sums = vec![0f32; self.files];
            for word in words {
                let files = of.get(word).map_or(&[][..], Vec::as_slice);
                let rarity = self.rarity(files.len());
                for file in files {
                    sums[*file as usize] += rarity;
                }
            }
            sums
        };
        let mut names = sums(&self.names);
        for (sum, total) in names.iter_mut().zip(&self.totals) {
            *sum /= total.max(f32::MIN_POSITIVE);
        }
        (names, normalized(sums(&self.folders)))
    }
}

/// The words of a text as the search counts them, without the commonest.
pub(crate) fn stems(text: &str) -> impl Iterator<Item = String> {
    let mut seen: HashSet<String> = HashSet::new();
    let mut found = Vec::new();
    index::search::for_each_term(text, |term| {
        if seen.insert(term.to_string()) {
            found.push(term.to_string());
        }
    });
    found.into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tests_follow_the_code_that_fits() {
        // Code at 0 to 3, tests after it.
        let mut scores = [0.7, 0.6, 0.5, 0.1, 1.0, 0.9, 0.4];
        put_behind_code(&mut scores, |file| file >= 4);
        assert_eq!(scores, [0.7, 0.6, 0.5, 0.1, 0.6, 0.45, 0.2]);
        // Where no code fits nearly as well, the task is about the tests.
        let mut scores = [0.1, 0.1, 0.9];
        put_behind_code(&mut scores, |file| file == 2);
        assert_eq!(scores, [0.1, 0.1, 0.45]);
    }
}
