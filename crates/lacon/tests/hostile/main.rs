//! Hostile repositories under every verb and every tool: nothing of them is run, and nothing outside of them is read or written,
//! unless they are trusted, and then only what trust names.
//!
//! A marker says what ran, answers what was read, a list of files what was written. With `LACON_TEST_TRACE` set, strace says the same
//! of every call (`trace`), which takes several times as long.
//!
//! A way to attack is one entry of a table in `ways/`: how the repository is planted, which `PATH` it is met with, and whether
//! trust lets it run. The harness does the rest.

mod client;
mod stage;
mod trace;
mod verbs;
mod ways;

use stage::{Met, Stage};
use ways::{Way, WhenTrusted};

/// Meets each way, and collects what should not have happened.
fn meet(ways: &[Way], met: &Met, is_wrong: fn(&Way, &[String]) -> bool) {
    let mut failed = Vec::new();
    for way in ways {
        let Some(stage) = staged(way) else { continue };
        let before = stage.outside();
        stage.meet(met);
        let ran = stage.ran();
        if is_wrong(way, &ran) {
            failed.push(format!("{}: ran {ran:?}", way.name));
        }
        let seen = match met {
            Met::Untrusted => stage.seen(),
            // What trust names may run and read.
            Met::Trusted | Met::TrustedInTheOpen => Vec::new(),
        };
        let changes = match met {
            // Servers keep what they know in the user's cache then.
            Met::TrustedInTheOpen => stage.changes_of(&before),
            Met::Untrusted | Met::Trusted => stage.changes_outside(&before),
        };
        let changes = changes.into_iter().chain(stage.told()).chain(seen);
        failed.extend(changes.map(|what| format!("{}: {what}", way.name)));
    }
    assert!(failed.is_empty(), "{failed:#?}");
}

/// The repository of a way, where it can be tried here.
fn staged(way: &Way) -> Option<Stage> {
    let stage = Stage::of(way);
    if stage.is_none() {
        let what = format!("lacon hostile {}", way.name);
        testkit::skipped(&what, &format!("not all of {:?} are here", way.needs));
    }
    stage
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
        testkit::skipped("lacon hostile: servers are bounded", "this system has no sandbox");
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

families!(programs, search_path, servers, settings, gateway, git, links, shapes);

#[test]
fn servers_of_an_untrusted_repository_read_nothing_outside() {
    untrusted(ways::leaks::WAYS);
}

/// The measure of the test above: with trust, one of the same repositories has a server tell what lies outside.
#[test]
fn servers_of_a_trusted_repository_may_read() {
    let mut tried = 0;
    for way in ways::leaks::WAYS {
        let Some(stage) = staged(way) else { continue };
        tried += 1;
        stage.meet(&Met::Trusted);
        if !stage.told().is_empty() {
            return;
        }
    }
    assert_eq!(
        tried, 0,
        "no answer told anything: the ways do not try what they are for"
    );
}

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
