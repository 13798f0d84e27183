//! Hostile repositories under every verb and every tool: nothing of them is run, and nothing outside of them is read or written,
//! unless they are trusted, and then only what trust names.
//!
//! A way to attack is one entry of a table in `ways/`: how the repository is planted, which `PATH` it is met with, and whether
//! trust lets it run. The harness does the rest.

mod client;
mod stage;
mod verbs;
mod ways;

use stage::{Met, Stage};
use ways::{Way, WhenTrusted};

/// Everything is asked of an untrusted repository; the marker tells whether anything of it ran.
fn untrusted(ways: &[Way]) {
    let mut failed = Vec::new();
    for way in ways {
        let Some(stage) = Stage::of(way) else {
            eprintln!("skipped: {} needs {:?}", way.name, way.needs);
            continue;
        };
        let before = stage.outside();
        stage.meet(&Met::Untrusted);
        let ran = stage.ran();
        if !ran.is_empty() {
            failed.push(format!("{}: ran {ran:?}", way.name));
        }
        failed.extend(
            stage
                .changes_outside(&before)
                .into_iter()
                .map(|what| format!("{}: {what}", way.name)),
        );
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// The same after `lacon trust`: only what trust names.
fn trusted(ways: &[Way]) {
    let mut failed = Vec::new();
    for way in ways {
        let Some(stage) = Stage::of(way) else {
            eprintln!("skipped: {} needs {:?}", way.name, way.needs);
            continue;
        };
        let before = stage.outside();
        stage.meet(&Met::Trusted);
        match (way.when_trusted, stage.ran()) {
            (WhenTrusted::Runs, ran) if ran.is_empty() => failed.push(format!("{}: did not run", way.name)),
            (WhenTrusted::Never, ran) if !ran.is_empty() => failed.push(format!("{}: ran {ran:?}", way.name)),
            _ => {}
        }
        failed.extend(
            stage
                .changes_outside(&before)
                .into_iter()
                .map(|what| format!("{}: {what}", way.name)),
        );
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

macro_rules! families {
    ($($family:ident),* $(,)?) => {
        $(mod $family {
            #[test]
            fn untrusted() {
                super::untrusted(super::ways::$family::WAYS);
            }

            #[test]
            fn trusted() {
                super::trusted(super::ways::$family::WAYS);
            }
        })*
    };
}

families!(programs, search_path, servers, settings, gateway);

#[test]
fn ways_have_names_of_their_own() {
    let mut names: Vec<&str> = ways::all().map(|way| way.name).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn every_verb_is_met() {
    verbs::assert_complete();
}
