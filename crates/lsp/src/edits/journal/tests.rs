//! Changes that are made, undone, cut short, made to fail, and attacked.

use std::os::unix::fs::PermissionsExt;

use super::*;
use crate::edits::TextEdit;
use crate::edits::faults::{Fault, Killed, plan, steps};

struct Scene {
    root: tempfile::TempDir,
    kept: tempfile::TempDir,
}

impl Scene {
    fn new() -> Scene {
        Scene {
            root: tempfile::tempdir().unwrap(),
            kept: tempfile::tempdir().unwrap(),
        }
    }

    fn journal(&self) -> Journal {
        Journal::open(self.root.path(), &self.kept.path().join("undo")).unwrap()
    }

    fn write(&self, path: &str, text: &str) {
        std::fs::write(self.root.path().join(path), text).unwrap();
    }

    fn read(&self, path: &str) -> Option<String> {
        std::fs::read_to_string(self.root.path().join(path)).ok()
    }

    /// Changes `a`, creates `new/b`, deletes `c`.
    fn plan(&self) -> Plan {
        let mut plan = Plan::new(self.root.path());
        let range = 0..3;
        plan.edit(
            "a",
            &[TextEdit {
                range,
                text: "ONE".into(),
            }],
        )
        .unwrap();
        plan.write("new/b", "made\n").unwrap();
        plan.delete("c").unwrap();
        plan
    }

    fn fill(&self) {
        self.write("a", "one\r\n");
        self.write("c", "gone soon");
        std::fs::set_permissions(self.root.path().join("a"), std::fs::Permissions::from_mode(0o750)).unwrap();
    }

    /// No temporary file anywhere, and nothing half made in the journal.
    fn assert_tidy(&self) {
        let mut folders = vec![self.root.path().to_owned(), self.kept.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for place in std::fs::read_dir(folder).unwrap().flatten().map(|file| file.path()) {
                let name = place.file_name().unwrap().to_string_lossy().into_owned();
                assert!(
                    !name.starts_with(".lacon-") && !name.ends_with(".partial"),
                    "{name} was left"
                );
                if place.is_dir() {
                    folders.push(place);
                }
            }
        }
        assert!(self.journal().interrupted().unwrap().is_empty());
    }

    fn assert_new(&self) {
        assert_eq!(self.read("a").as_deref(), Some("ONE\r\n"));
        assert_eq!(self.read("new/b").as_deref(), Some("made\n"));
        assert_eq!(self.read("c"), None);
    }

    fn assert_old(&self) {
        assert_eq!(self.read("a").as_deref(), Some("one\r\n"));
        assert_eq!(self.read("new/b"), None);
        assert_eq!(self.read("c").as_deref(), Some("gone soon"));
        let mode = std::fs::metadata(self.root.path().join("a"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o750);
    }
}

#[test]
fn a_change_is_made_and_undone_whole() {
    let scene = Scene::new();
    scene.fill();
    let journal = scene.journal();
    let id = journal.commit(&scene.plan(), "try").unwrap().id;
    assert_eq!(scene.read("a").as_deref(), Some("ONE\r\n"));
    assert_eq!(scene.read("new/b").as_deref(), Some("made\n"));
    assert_eq!(scene.read("c"), None);
    let mode = std::fs::metadata(scene.root.path().join("a"))
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o750);
    assert_eq!(journal.undo(None).unwrap().id, id);
    scene.assert_old();
    assert!(matches!(journal.undo(None), Err(EditError::NothingToUndo(_))));
}

#[test]
fn a_file_that_changed_meanwhile_is_neither_overwritten_nor_undone() {
    let scene = Scene::new();
    scene.fill();
    let journal = scene.journal();
    let plan = scene.plan();
    scene.write("c", "someone was here");
    assert!(matches!(journal.commit(&plan, "try"), Err(EditError::Changed { path }) if path == "c"));
    assert_eq!(scene.read("a").as_deref(), Some("one\r\n"), "nothing was written");

    journal.commit(&scene.plan(), "try").unwrap();
    scene.write("a", "and here");
    assert!(matches!(journal.undo(None), Err(EditError::Changed { path }) if path == "a"));
    assert_eq!(scene.read("new/b").as_deref(), Some("made\n"), "nothing was taken back");
}

/// A change that was cut short after so many files, as if the power had gone.
fn cut_short(scene: &Scene, done: usize) -> Journal {
    let journal = scene.journal();
    let plan = scene.plan();
    let id = journal.commit(&plan, "try").unwrap().id;
    std::fs::remove_file(journal.place(&id).join(DONE)).unwrap();
    for (path, change) in plan.files().skip(done) {
        match &change.before {
            Some(bytes) => std::fs::write(scene.root.path().join(path), bytes).unwrap(),
            None => std::fs::remove_file(scene.root.path().join(path)).unwrap(),
        }
    }
    journal
}

#[test]
fn a_change_that_was_written_in_part_is_taken_back_and_one_written_whole_stays() {
    for done in 0..=3 {
        let scene = Scene::new();
        scene.fill();
        let journal = cut_short(&scene, done);
        let listed = journal.entries().unwrap();
        assert!(listed.is_empty(), "what was not finished cannot be undone");
        assert_eq!(journal.interrupted().unwrap().len(), 1, "looking changes nothing");
        let recovered = journal.recover().unwrap();
        let outcome = if done == 3 { Outcome::Kept } else { Outcome::TakenBack };
        assert_eq!((recovered.len(), recovered[0].outcome), (1, outcome), "{done}");
        assert_eq!(recovered[0].left, Vec::<String>::new());
        match outcome {
            Outcome::Kept => {
                scene.assert_new();
                let said = recovered[0].to_string();
                assert!(said.contains("`lacon undo 00000001`"), "{said}");
                journal.undo(None).unwrap();
            }
            _ => assert!(journal.entries().unwrap().is_empty()),
        }
        scene.assert_old();
        assert_eq!(journal.recover().unwrap(), [], "once is enough");
    }
}

#[test]
fn what_somebody_changed_after_the_crash_is_left_alone_and_named() {
    let scene = Scene::new();
    scene.fill();
    let journal = cut_short(&scene, 2);
    scene.write("c", "mine now");
    let recovered = journal.recover().unwrap();
    assert_eq!(recovered[0].left, ["c"]);
    assert!(recovered[0].to_string().ends_with("left alone: c"), "{}", recovered[0]);
    assert_eq!(scene.read("a").as_deref(), Some("one\r\n"));
    assert_eq!(scene.read("c").as_deref(), Some("mine now"));
}

#[test]
fn looking_at_a_journal_makes_nothing() {
    let scene = Scene::new();
    let journal = scene.journal();
    assert!(journal.entries().unwrap().is_empty() && journal.recover().unwrap().is_empty());
    assert!(matches!(journal.undo(None), Err(EditError::NothingToUndo(_))));
    assert_eq!(std::fs::read_dir(scene.kept.path()).unwrap().count(), 0);
}

#[test]
fn ids_are_never_given_twice() {
    let scene = Scene::new();
    let journal = scene.journal();
    let mut given = BTreeSet::new();
    for round in 0..4 {
        scene.fill();
        let id = journal.commit(&scene.plan(), "try").unwrap().id;
        assert!(given.insert(id.clone()), "{id} again in round {round}");
        journal.undo(Some(&id)).unwrap();
    }
}

/// A death before each call that changes the disk, of a change and of an undo, and again of the recovery after it: the next look
/// finds all old contents or all new ones, says which, and leaves nothing behind.
#[test]
fn a_death_at_any_step_leaves_all_old_or_all_new() {
    let is_dead = |run: &mut dyn FnMut()| {
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        ended.is_err_and(|cause| cause.is::<Killed>())
    };
    let mut outcomes = Vec::new();
    for undoes in [false, true] {
        for at in 0.. {
            let scene = Scene::new();
            scene.fill();
            let journal = scene.journal();
            let change = scene.plan();
            if undoes {
                journal.commit(&change, "try").unwrap();
            }
            plan(Some((at, Fault::Dies)));
            let died = is_dead(&mut || match undoes {
                true => drop(journal.undo(None).unwrap()),
                false => drop(journal.commit(&change, "try").unwrap()),
            });
            // Some of the recoveries die as well, at another place every time.
            plan(Some((at % 11, Fault::Dies)));
            let mut recover = || outcomes.extend(journal.recover().unwrap().iter().map(|recovered| recovered.outcome));
            is_dead(&mut recover);
            plan(None);
            recover();
            match (scene.read("a").as_deref(), undoes, died) {
                (Some("ONE\r\n"), ..) => scene.assert_new(),
                (_, false, false) => panic!("the change was lost"),
                _ => {
                    scene.assert_old();
                    assert!(
                        !scene.root.path().join("new").exists(),
                        "the folder that was made is gone"
                    );
                }
            }
            scene.assert_tidy();
            for entry in journal.entries().unwrap() {
                journal.undo(Some(&entry.id)).unwrap();
            }
            scene.assert_old();
            if !died {
                assert!(at > 10, "{at} steps");
                break;
            }
        }
    }
    for outcome in [Outcome::Kept, Outcome::TakenBack, Outcome::Undone] {
        assert!(outcomes.contains(&outcome), "{outcome:?} never happened");
    }
}

/// Each call that changes the disk fails once, as on a full disk: the change happens or it does not, at once.
#[test]
fn a_failure_at_any_step_leaves_all_old_or_all_new() {
    for undoes in [false, true] {
        for at in 0.. {
            let scene = Scene::new();
            scene.fill();
            let journal = scene.journal();
            let change = scene.plan();
            if undoes {
                journal.commit(&change, "try").unwrap();
            }
            plan(Some((at, Fault::Fails)));
            let result = match undoes {
                true => journal.undo(None).map(drop),
                false => journal.commit(&change, "try").map(drop),
            };
            let is_over = steps() <= at;
            plan(None);
            // An undo that was interrupted half way is finished by whoever comes next.
            journal.recover().unwrap();
            match (undoes, scene.read("a").as_deref() == Some("ONE\r\n")) {
                (_, true) => scene.assert_new(),
                (_, false) => scene.assert_old(),
            }
            if !undoes {
                let is_new = scene.read("a").as_deref() == Some("ONE\r\n");
                assert_eq!(
                    result.is_ok(),
                    is_new,
                    "step {at}: what is said is what happened: {result:?}"
                );
            }
            scene.assert_tidy();
            if is_over {
                result.unwrap();
                break;
            }
        }
    }
}

/// The attack: a link at the name that a temporary file will have, or in place of a folder, or of the journal.
#[test]
fn nothing_is_written_through_a_planted_link() {
    let scene = Scene::new();
    scene.fill();
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("bashrc");
    std::fs::write(&secret, "mine").unwrap();
    let link = |name: &str| std::os::unix::fs::symlink(&secret, scene.root.path().join(name)).unwrap();
    // The names that were used once, and the beginning of those that are used now.
    for number in 0..5 {
        link(&format!(".a.lacon-{number:08}"));
        link(&format!(".lacon-{number}"));
    }
    let journal = scene.journal();
    journal.commit(&scene.plan(), "try").unwrap();
    assert!(!scene.root.path().join("a").is_symlink());
    journal.undo(None).unwrap();

    // A folder that becomes a link after the plan was made.
    let change = scene.plan();
    let mut beside = Plan::new(scene.root.path());
    std::fs::create_dir(scene.root.path().join("folder")).unwrap();
    beside.write("folder/x", "y").unwrap();
    std::fs::remove_dir(scene.root.path().join("folder")).unwrap();
    std::os::unix::fs::symlink(outside.path(), scene.root.path().join("folder")).unwrap();
    assert!(journal.commit(&beside, "try").is_err());

    // A journal that leads elsewhere.
    let planted = Scene::new();
    std::os::unix::fs::symlink(outside.path(), planted.kept.path().join("undo")).unwrap();
    assert!(planted.journal().commit(&change, "try").is_err());
    assert!(planted.journal().recover().is_err());
    std::fs::remove_file(planted.kept.path().join("undo")).unwrap();
    std::fs::create_dir(planted.kept.path().join("undo")).unwrap();
    for name in [".gitignore", "lock"] {
        let place = planted.kept.path().join("undo").join(name);
        std::os::unix::fs::symlink(outside.path().join("new"), place).unwrap();
    }
    planted.fill();
    assert!(planted.journal().commit(&planted.plan(), "try").is_err());
    let left: Vec<_> = std::fs::read_dir(outside.path()).unwrap().flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
    assert_eq!(std::fs::read_to_string(&secret).unwrap(), "mine");
}

#[test]
fn a_link_inside_the_root_is_followed_and_kept() {
    let scene = Scene::new();
    scene.fill();
    std::os::unix::fs::symlink("a", scene.root.path().join("b")).unwrap();
    let journal = scene.journal();
    let mut change = Plan::new(scene.root.path());
    change.write("b", "through").unwrap();
    journal.commit(&change, "try").unwrap();
    assert!(scene.root.path().join("b").is_symlink());
    assert_eq!(scene.read("a").as_deref(), Some("through"));
    journal.undo(None).unwrap();
    scene.assert_old();
}

#[test]
fn a_read_only_file_is_refused_with_the_remedy() {
    let scene = Scene::new();
    scene.fill();
    std::fs::set_permissions(scene.root.path().join("a"), std::fs::Permissions::from_mode(0o444)).unwrap();
    let error = scene.journal().commit(&scene.plan(), "try").unwrap_err();
    assert!(matches!(&error, EditError::ReadOnly { path } if path == "a"), "{error}");
    assert!(error.to_string().contains("chmod u+w"), "{error}");
    assert_eq!(scene.read("c").as_deref(), Some("gone soon"), "nothing was written");
}

/// What somebody else wrote into the journal is not written over files.
#[test]
fn contents_that_are_not_what_they_were_are_not_put_back() {
    let scene = Scene::new();
    scene.fill();
    let journal = scene.journal();
    let id = journal.commit(&scene.plan(), "try").unwrap().id;
    std::fs::write(journal.place(&id).join("0"), "something else").unwrap();
    assert!(matches!(journal.undo(None), Err(EditError::Lost { path, .. }) if path == "a"));
    scene.assert_new();
    assert_eq!(journal.entries().unwrap().len(), 1, "it is still there to be looked at");
}

#[test]
fn old_entries_are_forgotten() {
    let scene = Scene::new();
    let journal = scene.journal();
    for round in 0..ENTRIES_LIMIT + 5 {
        let mut plan = Plan::new(scene.root.path());
        plan.write("f", &round.to_string()).unwrap();
        journal.commit(&plan, "count").unwrap();
    }
    assert_eq!(journal.entries().unwrap().len(), ENTRIES_LIMIT);
    journal.undo(None).unwrap();
    assert_eq!(scene.read("f").unwrap(), (ENTRIES_LIMIT + 3).to_string());
}

#[test]
fn one_failure_leaves_everything_as_it_was() {
    let scene = Scene::new();
    scene.fill();
    let journal = scene.journal();
    let mut plan = scene.plan();
    // `c` becomes a directory's name: its new content cannot be put there.
    plan.write("z/file", "x").unwrap();
    scene.write("z", "a file where a directory is needed");
    assert!(journal.commit(&plan, "try").is_err());
    scene.assert_old();
    assert!(journal.entries().unwrap().is_empty());
}

/// A journal may lie in a tree that somebody packed: its names of temporary files and of folders lead nowhere else.
#[test]
fn an_entry_that_came_with_the_tree_removes_nothing_outside() {
    let scene = Scene::new();
    let outside = tempfile::tempdir().unwrap();
    let bait = outside.path().join("bait");
    std::fs::create_dir_all(bait.join("empty")).unwrap();
    std::fs::write(bait.join("x-0"), "precious").unwrap();
    scene.write("a", "one\n");
    // `.lacon-..` is a folder like any other, and from it two dots lead back and further.
    std::fs::create_dir(scene.root.path().join(".lacon-..")).unwrap();
    let up = format!(
        "{}{}",
        "../".repeat(40),
        bait.display().to_string().trim_start_matches('/')
    );
    let undo = scene.kept.path().join("undo");
    let entries = [
        ("00000001", up.as_str(), "a", bait.join("empty").display().to_string()),
        ("00000002", "a", "", bait.join("empty").display().to_string()),
        ("00000003", "a", "", format!("{up}/empty")),
    ];
    for (id, token, path, folder) in &entries {
        let files: Vec<serde_json::Value> = (!path.is_empty())
            .then(|| serde_json::json!({"path": path, "before": null, "after": hash(b"one\n"), "mode": null}))
            .into_iter()
            .collect();
        let token = match *id {
            "00000001" => format!("../{token}/x"),
            _ => (*token).to_owned(),
        };
        let entry =
            serde_json::json!({"id": id, "about": "", "time": 1, "files": files, "token": token, "folders": [folder]});
        std::fs::create_dir_all(undo.join(id)).unwrap();
        std::fs::write(undo.join(id).join(ENTRY), entry.to_string()).unwrap();
    }
    drop(scene.journal().recover());
    assert_eq!(std::fs::read_to_string(bait.join("x-0")).unwrap(), "precious");
    assert!(bait.join("empty").is_dir());
    assert_eq!(scene.read("a").as_deref(), Some("one\n"));
}
