//! A `.git` that somebody else made names programs wherever git has a place for one: none is run, and the change is still told.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use codeintel::context::{BlastRadius, ForPr, Room, blast_radius, context_for_pr};
use codeintel::git::Git;

use crate::context::{in_gcf, indexed};

struct Hostile {
    folder: tempfile::TempDir,
}

impl Hostile {
    /// A repository with a change that is not committed, and a program that leaves a mark when it is run.
    fn new() -> Hostile {
        let hostile = Hostile {
            folder: tempfile::tempdir().unwrap(),
        };
        let root = hostile.root();
        fs::create_dir(&root).unwrap();
        fs::write(
            root.join("a.py"),
            "def first():\n    return 1\n\n\ndef second():\n    return 1\n",
        )
        .unwrap();
        fs::write(root.join("b.py"), "def other():\n    return 1\n").unwrap();
        hostile.git(&root, &["init", "-q", "-b", "main"]);
        hostile.git(&root, &["add", "."]);
        hostile.git(&root, &["commit", "-q", "-m", "start"]);
        fs::write(
            root.join("a.py"),
            "def first():\n    return 2\n\n\ndef second():\n    return 1\n",
        )
        .unwrap();
        let script = format!("#!/bin/sh\necho run >> '{}'\ncat\n", hostile.marker().display());
        fs::write(hostile.program(), script).unwrap();
        fs::set_permissions(hostile.program(), fs::Permissions::from_mode(0o755)).unwrap();
        hostile
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("tree")
    }

    fn marker(&self) -> PathBuf {
        self.folder.path().join("marker")
    }

    fn program(&self) -> PathBuf {
        self.folder.path().join("program")
    }

    fn git(&self, folder: &Path, arguments: &[&str]) {
        let done = Command::new("git")
            .current_dir(folder)
            .args([
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@example.org",
                "-c",
                "commit.gpgsign=false",
            ])
            .args(["-c", "protocol.file.allow=always"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    }

    /// Appends to a file below the tree; `CMD` stands for the program.
    fn append(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = fs::read_to_string(&path).unwrap_or_default();
        let text = text.replace("CMD", &self.program().display().to_string());
        fs::write(&path, before + &text).unwrap();
    }

    /// What every question that asks git says, and whether the program was run by any.
    fn asked(&self) -> Result<Vec<String>, String> {
        let index = tempfile::tempdir().unwrap();
        let workspace = indexed(&self.root(), index.path());
        let room = Room {
            budget: 2_000,
            measure: &in_gcf,
            base: None,
        };
        let pack = context_for_pr(&workspace, &ForPr::default(), &room);
        let ask = BlastRadius {
            diff: Some(String::new()),
            ..BlastRadius::default()
        };
        drop(blast_radius(&workspace, &ask, &room));
        assert!(!self.marker().exists(), "a program was run");
        let mut ids: Vec<String> = pack
            .map_err(|error| error.to_string())?
            .symbols
            .iter()
            .filter(|symbol| symbol.distance == 0)
            .map(|symbol| symbol.id.clone())
            .collect();
        ids.sort();
        Ok(ids)
    }
}

#[test]
fn nothing_that_a_repository_names_is_run() {
    let ways: &[(&str, &[(&str, &str)])] = &[
        ("nothing", &[]),
        (
            "a filter by attributes of the tree",
            &[
                (".gitattributes", "*.py filter=x\n"),
                (".git/config", "[filter \"x\"]\n\tclean = CMD\n\tsmudge = CMD\n"),
            ],
        ),
        (
            "a filter by attributes of the repository",
            &[
                (".git/info/attributes", "*.py filter=x\n"),
                (".git/config", "[filter \"x\"]\n\tclean = CMD\n\trequired = true\n"),
            ],
        ),
        (
            "a filter process",
            &[
                (".git/info/attributes", "*.py filter=x\n"),
                (".git/config", "[filter \"x\"]\n\tprocess = CMD\n"),
            ],
        ),
        (
            "textconv and a diff driver",
            &[
                (".gitattributes", "*.py diff=x\n"),
                (".git/config", "[diff \"x\"]\n\ttextconv = CMD\n\tcommand = CMD\n"),
            ],
        ),
        ("an external diff", &[(".git/config", "[diff]\n\texternal = CMD\n")]),
        (
            "a merge driver",
            &[
                (".gitattributes", "*.py merge=x\n"),
                (".git/config", "[merge \"x\"]\n\tdriver = CMD\n"),
            ],
        ),
        (
            "fsmonitor",
            &[(".git/config", "[core]\n\tfsmonitor = CMD\n\tfsmonitorHookVersion = 2\n")],
        ),
        (
            "a pager",
            &[(
                ".git/config",
                "[core]\n\tpager = CMD\n[pager]\n\tdiff = CMD\n\tlog = CMD\n",
            )],
        ),
        (
            "an editor, a proxy and the like",
            &[(
                ".git/config",
                "[core]\n\teditor = CMD\n\tgitProxy = CMD\n\taskPass = CMD\n[credential]\n\thelper = CMD\n",
            )],
        ),
        (
            "signatures",
            &[(
                ".git/config",
                "[log]\n\tshowSignature = true\n[gpg]\n\tprogram = CMD\n[gpg \"ssh\"]\n\tprogram = CMD\n",
            )],
        ),
        (
            "an alias",
            &[(
                ".git/config",
                "[alias]\n\tdiff = !CMD\n\tlog = !CMD\n\trev-parse = !CMD\n",
            )],
        ),
        ("another work tree", &[(".git/config", "[core]\n\tworktree = /\n")]),
        (
            "attributes and ignore files elsewhere",
            &[(
                ".git/config",
                "[core]\n\tattributesFile = /etc/passwd\n\texcludesFile = /etc/passwd\n",
            )],
        ),
        (
            "an include",
            &[
                (".git/config", "[include]\n\tpath = more\n"),
                (".git/more", "[core]\n\tfsmonitor = CMD\n[diff]\n\texternal = CMD\n"),
            ],
        ),
        (
            "a configuration of the work tree",
            &[
                (".git/config", "[extensions]\n\tworktreeConfig = true\n"),
                (
                    ".git/config.worktree",
                    "[core]\n\tfsmonitor = CMD\n[diff]\n\texternal = CMD\n",
                ),
            ],
        ),
        (
            "a configuration that does not parse",
            &[(".git/config", "[[[ this is none\n")],
        ),
        (
            "a large number of the format",
            &[(
                ".git/config",
                "[core]\n\trepositoryformatversion = 99\n[extensions]\n\tunknown = true\n",
            )],
        ),
        (
            "alternate references",
            &[(
                ".git/config",
                "[core]\n\talternateRefsCommand = CMD\n[uploadpack]\n\tpackObjectsHook = CMD\n",
            )],
        ),
    ];
    for (what, files) in ways {
        let hostile = Hostile::new();
        for hook in [
            "fsmonitor-watchman",
            "post-index-change",
            "reference-transaction",
            "post-checkout",
            "pre-auto-gc",
        ] {
            let path = hostile.root().join(".git/hooks").join(hook);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::copy(hostile.program(), path).unwrap();
        }
        for (path, text) in *files {
            hostile.append(path, text);
        }
        let ids = hostile.asked().unwrap_or_else(|error| panic!("{what}: {error}"));
        assert!(ids.contains(&"a.py::first".to_string()), "{what}: {ids:?}");
        assert!(
            !ids.iter().any(|id| id == "a.py::second" || id == "b.py::other"),
            "{what}: {ids:?}"
        );
    }
}

#[test]
fn a_missing_object_is_not_fetched() {
    let hostile = Hostile::new();
    hostile.append(
        ".git/config",
        "[remote \"origin\"]\n\turl = ssh://nobody@127.0.0.1/x\n\tpromisor = true\n\tuploadpack = CMD\n[core]\n\tsshCommand = CMD\n\
         [extensions]\n\tpartialClone = origin\n",
    );
    let blob = Command::new("git")
        .current_dir(hostile.root())
        .args(["hash-object", "--no-filters", "--stdin"])
        .stdin(fs::File::open(hostile.root().join("b.py")).unwrap())
        .output()
        .unwrap();
    let hash = String::from_utf8(blob.stdout).unwrap();
    let hash = hash.trim();
    fs::remove_file(hostile.root().join(".git/objects").join(&hash[..2]).join(&hash[2..])).unwrap();
    fs::write(hostile.root().join("b.py"), "def other():\n    return 3\n").unwrap();
    let error = hostile.asked().unwrap_err();
    assert!(error.contains("nothing is fetched for a question"), "{error}");
}

#[test]
fn a_repository_that_reaches_outside_is_refused_with_the_remedy() {
    let other = Hostile::new();
    let outside = other.root().join(".git");
    let said = |make: &dyn Fn(&Hostile), remedy: &str| {
        let hostile = Hostile::new();
        make(&hostile);
        let error = hostile.asked().unwrap_err();
        assert!(error.contains(remedy), "{error}");
    };
    let link = |from: PathBuf, to: &Path| {
        if from.is_dir() {
            fs::remove_dir_all(&from).unwrap();
        }
        std::os::unix::fs::symlink(to, from).unwrap();
    };
    said(
        &|hostile| {
            hostile.append(
                ".git/objects/info/alternates",
                &format!("{}\n", outside.join("objects").display()),
            )
        },
        "git repack -a -d",
    );
    said(
        &|hostile| link(hostile.root().join(".git/objects"), &outside.join("objects")),
        "replace it by what it leads to",
    );
    said(
        &|hostile| link(hostile.root().join(".git/objects/pack"), &outside),
        "replace it by what it leads to",
    );
    said(
        &|hostile| link(hostile.root().join(".git"), &outside),
        "is a symbolic link, which is not followed",
    );
    said(
        &|hostile| {
            fs::remove_dir_all(hostile.root().join(".git")).unwrap();
            fs::write(hostile.root().join(".git"), format!("gitdir: {}\n", outside.display())).unwrap();
        },
        "does not point back",
    );
    // References are read beneath the repository alone.
    let hostile = Hostile::new();
    link(hostile.root().join(".git/refs"), &outside.join("refs"));
    assert!(hostile.asked().unwrap_err().contains("no commit yet"));
}

#[test]
fn a_program_that_lies_in_the_tree_is_not_git() {
    let hostile = Hostile::new();
    fs::copy(hostile.program(), hostile.root().join("git")).unwrap();
    // The script is a new file, and nothing else.
    assert_eq!(hostile.asked().unwrap(), ["a.py::first", "git"]);
}

#[test]
fn references_of_every_kind_are_found() {
    let hostile = Hostile::new();
    let root = hostile.root();
    hostile.git(&root, &["tag", "-a", "v1", "-m", "one"]);
    hostile.git(&root, &["update-ref", "refs/remotes/origin/main", "HEAD"]);
    hostile.git(
        &root,
        &["symbolic-ref", "refs/remotes/origin/HEAD", "refs/remotes/origin/main"],
    );
    hostile.git(&root, &["pack-refs", "--all"]);
    hostile.git(&root, &["checkout", "-q", "-b", "feature/x"]);
    hostile.git(&root, &["commit", "-q", "-am", "two"]);
    hostile.git(&root, &["update-index", "--split-index"]);
    let git = Git::open(&root).unwrap();
    let hash = |name: &str| git.run(&["rev-parse", "--verify", name]).unwrap();
    assert_eq!(hash("main"), hash("HEAD~1"));
    assert_eq!(hash("v1^{commit}"), hash("origin/HEAD"));
    assert_eq!(hash("feature/x"), hash("HEAD"));
    assert_eq!(git.run(&["diff", "--name-only", "main", "--"]).unwrap(), "a.py\n");
    // A linked work tree and its common directory.
    let tree = hostile.folder.path().join("linked");
    hostile.git(
        &root,
        &["worktree", "add", "-q", "-b", "linked", tree.to_str().unwrap(), "main"],
    );
    fs::write(tree.join("b.py"), "def other():\n    return 9\n").unwrap();
    let git = Git::open(&tree).unwrap();
    assert_eq!(git.run(&["diff", "--name-only", "HEAD", "--"]).unwrap(), "b.py\n");
    assert_eq!(git.run(&["rev-parse", "--abbrev-ref", "HEAD"]).unwrap(), "linked\n");
}

#[test]
fn a_submodule_is_looked_into_without_running_what_it_names() {
    let (hostile, library) = (Hostile::new(), Hostile::new());
    library.git(&library.root(), &["commit", "-q", "-am", "two"]);
    let root = hostile.root();
    hostile.git(
        &root,
        &["submodule", "--quiet", "add", library.root().to_str().unwrap(), "lib"],
    );
    hostile.git(&root, &["commit", "-q", "-am", "with a submodule"]);
    hostile.append(
        ".git/modules/lib/config",
        "[core]\n\tfsmonitor = CMD\n[diff]\n\texternal = CMD\n[filter \"x\"]\n\tclean = CMD\n",
    );
    hostile.append(".git/modules/lib/info/attributes", "*.py filter=x\n");
    fs::write(root.join("lib/b.py"), "def other():\n    return 7\n").unwrap();
    let ids = hostile.asked().unwrap();
    assert_eq!(ids, ["lib/b.py::other"]);
}
