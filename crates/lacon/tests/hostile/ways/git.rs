//! A repository that git has made, and what its `.git` and its attributes may name: programs, other folders, other repositories.

use std::path::Path;
use std::process::Command;

use super::{Way, WhenTrusted};
use crate::stage::Stage;

/// Nobody wants any of this, whoever trusts what.
const fn way(name: &'static str, plant: fn(&mut Stage)) -> Way {
    Way {
        name,
        needs: &["git"],
        plant,
        when_trusted: WhenTrusted::Never,
    }
}

/// Git as the attacker runs it who packs the repository.
fn git(folder: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .args([
            "-c",
            "user.name=t",
            "-c",
            "user.email=t@example.org",
            "-c",
            "protocol.file.allow=always",
        ])
        .args(arguments)
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{arguments:?}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
    String::from_utf8(done.stdout).unwrap()
}

/// A commit of all there is, and a change that is not committed.
fn repository(stage: &Stage) {
    std::fs::remove_dir(stage.tree.join(".git")).unwrap();
    git(&stage.tree, &["init", "-q", "-b", "main"]);
    git(&stage.tree, &["add", "--all"]);
    git(&stage.tree, &["commit", "-q", "-m", "start"]);
    stage.write("lib.py", "def greet(name):\n    return name + name\n");
}

/// Another repository, of the user's, outside of the tree.
fn other_repository(stage: &Stage) -> std::path::PathBuf {
    let other = stage.beside("other");
    std::fs::create_dir(&other).unwrap();
    git(&other, &["init", "-q", "-b", "main"]);
    std::fs::write(other.join("lib.py"), format!("# {}\n", crate::stage::SECRET)).unwrap();
    git(&other, &["add", "--all"]);
    git(&other, &["commit", "-q", "-m", crate::stage::SECRET]);
    other
}

/// Appends to the configuration of the repository; `CMD` stands for a command that leaves a marker.
fn configure(stage: &Stage, text: &str) {
    append(stage, ".git/config", text);
}

fn append(stage: &Stage, name: &str, text: &str) {
    stage.program("evil");
    let text = text.replace("CMD", &stage.tree.join("evil").display().to_string());
    let before = std::fs::read_to_string(stage.tree.join(name)).unwrap_or_default();
    stage.write(name, &(before + &text));
}

pub(crate) const WAYS: &[Way] = &[
    way("filters by attributes of the tree", |stage| {
        stage.write(".gitattributes", "* filter=x diff=x merge=x\n");
        repository(stage);
        configure(
            stage,
            "[filter \"x\"]\n\tclean = CMD\n\tsmudge = CMD\n\tprocess = CMD\n\trequired = true\n[diff \"x\"]\n\ttextconv = CMD\n\
             \tcommand = CMD\n[merge \"x\"]\n\tdriver = CMD\n",
        );
    }),
    way("filters by attributes of the repository", |stage| {
        repository(stage);
        append(stage, ".git/info/attributes", "* filter=x diff=x\n");
        configure(stage, "[filter \"x\"]\n\tclean = CMD\n[diff \"x\"]\n\ttextconv = CMD\n");
    }),
    way(
        "the filter of large files, with hooks and a transfer of its own",
        |stage| {
            stage.write(".gitattributes", "*.bin filter=lfs diff=lfs merge=lfs -text\n");
            stage.write(
            "big.bin",
            "version https://git-lfs.github.com/spec/v1\noid sha256:4d7a214614ab2935c943f9e0ff69d22eadbb8f32b1258daaa5e2ca24d17e2393\nsize 12345\n",
        );
            stage.write(
                ".lfsconfig",
                "[lfs]\n\turl = https://127.0.0.1:9/lfs\n[lfs \"customtransfer.x\"]\n\tpath = ./evil\n",
            );
            repository(stage);
            configure(
                stage,
                "[filter \"lfs\"]\n\tprocess = CMD\n\tclean = CMD\n\tsmudge = CMD\n[lfs]\n\tstandalonetransferagent = x\n\
             [lfs \"customtransfer.x\"]\n\tpath = CMD\n",
            );
        },
    ),
    way("programs of the configuration", |stage| {
        repository(stage);
        configure(
            stage,
            "[core]\n\tfsmonitor = CMD\n\tpager = CMD\n\teditor = CMD\n\tsshCommand = CMD\n\taskPass = CMD\n\tgitProxy = CMD\n\
             \talternateRefsCommand = CMD\n\thooksPath = .\n[diff]\n\texternal = CMD\n[gpg]\n\tprogram = CMD\n[log]\n\tshowSignature = true\n\
             [credential]\n\thelper = CMD\n[pager]\n\tlog = CMD\n\tdiff = CMD\n[alias]\n\tlog = !CMD\n\tdiff = !CMD\n[interactive]\n\
             \tdiffFilter = CMD\n[uploadpack]\n\tpackObjectsHook = CMD\n[sequence]\n\teditor = CMD\n[trailer \"x\"]\n\tcommand = CMD\n",
        );
        for hook in [
            "post-index-change",
            "fsmonitor-watchman",
            "reference-transaction",
            "post-checkout",
        ] {
            stage.program(hook);
            stage.program(&format!(".git/hooks/{hook}"));
        }
    }),
    way("an include, and one with a condition", |stage| {
        repository(stage);
        configure(
            stage,
            "[include]\n\tpath = ../more\n[includeIf \"gitdir:**\"]\n\tpath = more\n[includeIf \"onbranch:main\"]\n\tpath = more\n",
        );
        append(stage, "more", "[core]\n\tfsmonitor = CMD\n[diff]\n\texternal = CMD\n");
        append(
            stage,
            ".git/more",
            "[core]\n\tfsmonitor = CMD\n[diff]\n\texternal = CMD\n",
        );
    }),
    way("a configuration of the work tree", |stage| {
        repository(stage);
        configure(stage, "[extensions]\n\tworktreeConfig = true\n");
        append(
            stage,
            ".git/config.worktree",
            "[core]\n\tfsmonitor = CMD\n[diff]\n\texternal = CMD\n",
        );
    }),
    way("a work tree elsewhere", |stage| {
        repository(stage);
        let bait = stage.bait.display().to_string();
        configure(
            stage,
            &format!(
                "[core]\n\tworktree = {bait}\n\texcludesFile = {bait}/secret.txt\n\tattributesFile = {bait}/secret.txt\n"
            ),
        );
    }),
    way("a remote that promises what is missing", |stage| {
        repository(stage);
        let blob = git(&stage.tree, &["rev-parse", "HEAD:lib.py"]);
        let blob = blob.trim();
        std::fs::remove_file(stage.tree.join(".git/objects").join(&blob[..2]).join(&blob[2..])).unwrap();
        configure(
            stage,
            "[extensions]\n\tpartialClone = origin\n[core]\n\tsshCommand = CMD\n[protocol]\n\tallow = always\n[remote \"origin\"]\n\
             \turl = ext::CMD\n\tpromisor = true\n\tuploadpack = CMD\n\tproxy = http://127.0.0.1:9\n[remote \"other\"]\n\
             \turl = ssh://nobody@127.0.0.1/x\n\tpromisor = true\n\tvcs = evil\n",
        );
        stage.program("git-remote-evil");
    }),
    way("objects of another repository", |stage| {
        let other = other_repository(stage);
        repository(stage);
        let objects = other.join(".git/objects").display().to_string();
        append(stage, ".git/objects/info/alternates", &format!("{objects}\n"));
        append(
            stage,
            ".git/objects/info/http-alternates",
            "http://127.0.0.1:9/objects\n",
        );
        let commit = git(&other, &["rev-parse", "HEAD"]);
        stage.write(".git/refs/heads/theirs", &commit);
        stage.write(".git/HEAD", "ref: refs/heads/theirs\n");
    }),
    way("objects through a link", |stage| {
        let other = other_repository(stage);
        repository(stage);
        std::fs::remove_dir_all(stage.tree.join(".git/objects")).unwrap();
        std::os::unix::fs::symlink(other.join(".git/objects"), stage.tree.join(".git/objects")).unwrap();
        let commit = git(&other, &["rev-parse", "HEAD"]);
        stage.write(".git/refs/heads/main", &commit);
    }),
    way(".git is a file that names another repository", |stage| {
        let other = other_repository(stage);
        std::fs::remove_dir(stage.tree.join(".git")).unwrap();
        stage.write(".git", &format!("gitdir: {}\n", other.join(".git").display()));
    }),
    way(".git is a link to another repository", |stage| {
        let other = other_repository(stage);
        std::fs::remove_dir(stage.tree.join(".git")).unwrap();
        std::os::unix::fs::symlink(other.join(".git"), stage.tree.join(".git")).unwrap();
    }),
    way(
        ".git is a file whose repository has its common folder elsewhere",
        |stage| {
            let other = other_repository(stage);
            std::fs::remove_dir(stage.tree.join(".git")).unwrap();
            stage.write(".git", "gitdir: own/worktrees/x\n");
            stage.write("own/worktrees/x/gitdir", "../../../.git\n");
            stage.write(
                "own/worktrees/x/commondir",
                &format!("{}\n", other.join(".git").display()),
            );
            stage.write("own/worktrees/x/HEAD", "ref: refs/heads/main\n");
        },
    ),
    way("a commondir file and links in .git", |stage| {
        let other = other_repository(stage);
        repository(stage);
        append(stage, ".git/commondir", &format!("{}\n", other.join(".git").display()));
        for name in ["index", "packed-refs", "shallow"] {
            let path = stage.tree.join(".git").join(name);
            drop(std::fs::remove_file(&path));
            std::os::unix::fs::symlink(stage.bait.join("secret.txt"), path).unwrap();
        }
        std::fs::remove_dir_all(stage.tree.join(".git/refs")).unwrap();
        std::os::unix::fs::symlink(other.join(".git/refs"), stage.tree.join(".git/refs")).unwrap();
    }),
    way("facts that lead out of .git", |stage| {
        repository(stage);
        std::os::unix::fs::symlink(&stage.bait, stage.tree.join(".git/lacon")).unwrap();
    }),
    way("facts that lead out of .git further down", |stage| {
        repository(stage);
        std::fs::create_dir(stage.tree.join(".git/lacon")).unwrap();
        std::os::unix::fs::symlink(&stage.bait, stage.tree.join(".git/lacon/facts")).unwrap();
    }),
    way("a submodule with programs in its configuration", |stage| {
        let other = other_repository(stage);
        std::fs::write(other.join("lib.py"), "def greet():\n    pass\n").unwrap();
        git(&other, &["commit", "-q", "-a", "--amend", "-m", "plain"]);
        repository(stage);
        git(
            &stage.tree,
            &["submodule", "--quiet", "add", other.to_str().unwrap(), "sub"],
        );
        git(&stage.tree, &["commit", "-q", "-m", "sub"]);
        let text =
            "[core]\n\tfsmonitor = CMD\n\tsshCommand = CMD\n[diff]\n\texternal = CMD\n[filter \"x\"]\n\tclean = CMD\n";
        append(stage, ".git/modules/sub/config", text);
        append(stage, ".git/modules/sub/info/attributes", "* filter=x\n");
        append(stage, ".gitmodules", "\tupdate = !CMD\n\turl = ext::CMD\n");
        stage.write("sub/lib.py", "def greet():\n    return 1\n");
    }),
    way("a submodule that is somewhere else", |stage| {
        let other = other_repository(stage);
        repository(stage);
        git(
            &stage.tree,
            &["submodule", "--quiet", "add", other.to_str().unwrap(), "parts/other"],
        );
        git(&stage.tree, &["commit", "-q", "-m", "sub"]);
        std::fs::remove_dir_all(stage.tree.join("parts")).unwrap();
        std::os::unix::fs::symlink(other.parent().unwrap(), stage.tree.join("parts")).unwrap();
        std::fs::write(other.join("lib.py"), format!("# {0} {0}\n", crate::stage::SECRET)).unwrap();
    }),
    way("git, and what it starts, in the tree and on PATH", |stage| {
        repository(stage);
        for name in ["git", "git-diff", "git-remote-https", "ssh", "less", "sh"] {
            stage.program(&format!("tools/{name}"));
            stage.program(name);
        }
        let folder = stage.tree.join("tools");
        stage.path_begins_with(&[Path::new("."), &folder]);
    }),
    way("pipes where git keeps files", |stage| {
        repository(stage);
        for name in ["packed-refs", "shallow", "index", "info/exclude", "refs/heads/pipe"] {
            let path = stage.tree.join(".git").join(name);
            drop(std::fs::remove_file(&path));
            stage.pipe(&path);
        }
    }),
];
