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

/// Meets each way, and collects what should not have happened.
fn meet(ways: &[Way], met: &Met, is_wrong: fn(&Way, &[String]) -> bool) {
    let mut failed = Vec::new();
    for way in ways {
        let Some(stage) = Stage::of(way) else {
            eprintln!("skipped: {} needs {:?}", way.name, way.needs);
            continue;
        };
        let before = stage.outside();
        stage.meet(met);
        let ran = stage.ran();
        if is_wrong(way, &ran) {
            failed.push(format!("{}: ran {ran:?}", way.name));
        }
        let changes = stage.changes_outside(&before).into_iter();
        failed.extend(changes.map(|what| format!("{}: {what}", way.name)));
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// Nothing runs, and nothing outside is changed.
fn untrusted(ways: &[Way]) {
    meet(ways, &Met::Untrusted, |_, ran| !ran.is_empty());
}

/// After `lacon trust`: only what trust names.
fn trusted(ways: &[Way]) {
    meet(ways, &Met::TrustedInTheOpen, |way, ran| match way.when_trusted {
        WhenTrusted::Runs => ran.is_empty(),
        WhenTrusted::Never => !ran.is_empty(),
        WhenTrusted::Maybe => false,
    });
}

/// What language servers run of a trusted repository cannot write outside.
fn bounded(ways: &[Way]) {
    if !guardian::sandbox::support().holds() {
        eprintln!("skipped: there is no sandbox here");
        return;
    }
    meet(ways, &Met::Trusted, |_, ran| !ran.is_empty());
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
fn servers_of_a_trusted_repository_are_bounded() {
    bounded(ways::servers::WAYS);
}

#[test]
fn programs_of_a_trusted_repository_are_bounded() {
    bounded(ways::programs::WAYS);
}

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
