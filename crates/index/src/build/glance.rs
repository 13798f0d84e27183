//! A first look at a large tree: an index of the files nearest its root, ready long before the whole one, to answer from
//! meanwhile.

use std::collections::BTreeSet;
use std::path::Path;
use std::time::Instant;

use super::survey::survey_all;
use super::{BuildError, Indexer, Options, Progress, walk};
use crate::snapshot::Snapshot;

/// A part of a tree.
pub struct Glance {
    /// What is known of the part.
    pub snapshot: Snapshot,
    /// How many files were looked at …
    pub files: usize,
    /// … of how many.
    pub of: usize,
}

/// A tree that is not larger than this many glances is indexed whole before a glance would help.
const WORTH_IT: usize = 4;

/// Indexes at most `at_most` files of `root`, nearest the root first. `directory` is the glance's own, so that a part is never
/// taken for the whole; `hear` hears how far it is. `None` where the tree is too small for it to be worth it.
pub fn glance(
    root: &Path,
    directory: &Path,
    at_most: usize,
    hear: &(dyn Fn(Progress) + Sync),
) -> Result<Option<Glance>, BuildError> {
    let options = Options {
        directory: Some(directory.to_path_buf()),
        ..Options::default()
    };
    let start = Instant::now();
    let mut indexer = Indexer::open(root, options)?;
    let (top, config) = (indexer.directory.location().root.as_path(), &indexer.config);
    let mut walk = indexer.pool.install(|| walk(top, config))?;
    let of = walk.candidates.len();
    if of <= at_most.saturating_mul(WORTH_IT) {
        return Ok(None);
    }
    let mut by_depth: Vec<(usize, usize)> = walk
        .candidates
        .iter()
        .enumerate()
        .map(|(number, candidate)| (candidate.path.matches('/').count(), number))
        .collect();
    by_depth.sort_unstable();
    let kept: BTreeSet<usize> = by_depth.iter().take(at_most).map(|(_, number)| *number).collect();
    let mut number = 0;
    walk.candidates.retain(|_| {
        number += 1;
        kept.contains(&(number - 1))
    });
    let scan = start.elapsed();
    let location = indexer.directory.location().clone();
    let (pool, stats) = (&indexer.pool, &mut indexer.stats);
    let survey = pool.install(|| survey_all(walk, &location, &indexer.config, &indexer.facts, stats, true, hear))?;
    let report = indexer.finish(survey, crate::tree::Keep::Nothing, start, scan)?;
    Ok(Some(Glance {
        snapshot: report.snapshot,
        files: at_most,
        of,
    }))
}

#[cfg(test)]
mod tests {
    use super::glance;

    #[test]
    fn a_glance_is_a_part_and_stays_out_of_the_real_index() {
        let tree = tempfile::tempdir().unwrap();
        for (folder, count) in [(".", 2), ("deep/er", 20)] {
            std::fs::create_dir_all(tree.path().join(folder)).unwrap();
            for number in 0..count {
                let path = tree.path().join(folder).join(format!("f{number}.py"));
                std::fs::write(path, format!("def f{number}(): pass\n")).unwrap();
            }
        }
        let own = tempfile::tempdir().unwrap();
        let part = glance(tree.path(), own.path(), 3, &|_| ())
            .unwrap()
            .expect("it is worth it");
        assert_eq!((part.files, part.of, part.snapshot.file_count()), (3, 22, 3));
        assert!(part.snapshot.find_file("f1.py").is_some());
        assert!(!tree.path().join(".lacon").exists());
        assert!(glance(tree.path(), own.path(), 10, &|_| ()).unwrap().is_none());
    }
}
