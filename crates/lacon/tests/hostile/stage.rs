//! Where a hostile repository is met: a tree, a home of its own, bait outside of the tree, and a folder for markers.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use testkit::tools::is_there;

use crate::client::Client;
use crate::trace;
use crate::verbs;
use crate::ways::Way;

/// Whether somebody has trusted it.
pub(crate) enum Met {
    Untrusted,
    /// With servers in the sandbox, which keeps them from leaving a marker.
    Trusted,
    /// With the sandbox switched off, so that the marker tells what ran.
    TrustedInTheOpen,
}

pub(crate) struct Stage {
    _folder: tempfile::TempDir,
    way: &'static str,
    /// What is opened.
    pub(crate) opened: PathBuf,
    /// The repository.
    pub(crate) tree: PathBuf,
    /// Whatever is run writes here.
    markers: PathBuf,
    /// Files that nobody may change, with something that nobody may read.
    pub(crate) bait: PathBuf,
    pub(crate) home: PathBuf,
    pub(crate) path: OsString,
    /// What is asked about.
    pub(crate) asked: Asked,
    /// How long a language server is waited for that may not come.
    pub(crate) patience_ms: u64,
    /// Answers that told what lies outside.
    told: RefCell<Vec<String>>,
}

/// A symbol, its file, and the server of its language.
#[derive(Clone, Copy)]
pub(crate) struct Asked {
    pub(crate) server: &'static str,
    pub(crate) symbol: &'static str,
    pub(crate) path: &'static str,
}

const fn asked(server: &'static str, symbol: &'static str, path: &'static str) -> Asked {
    Asked { server, symbol, path }
}

/// One of each language.
pub(crate) const ASKED: &[Asked] = &[
    asked("basedpyright-langserver", "greet", "lib.py"),
    asked("typescript-language-server", "hello", "lib.ts"),
    asked("gopls", "Wave", "lib.go"),
    asked("rust-analyzer", "salute", "src/lib.rs"),
    asked("intelephense", "nod", "lib.php"),
    asked("clangd", "bow", "lib.c"),
    asked("jdtls", "wink", "Lib.java"),
];

/// What an answer must never hold.
pub(crate) const SECRET: &str = "bait-that-nobody-may-read";

impl Stage {
    /// The repository of a way; nothing where programs that it needs are not here.
    pub(crate) fn of(way: &Way) -> Option<Stage> {
        if way.needs.iter().any(|program| !is_there(program)) {
            return None;
        }
        // Go leaves out folders whose names begin with a dot.
        let folder = tempfile::Builder::new().prefix("hostile-").tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        // Real servers take their time: only where the way is about one.
        let server = way
            .needs
            .first()
            .and_then(|needed| ASKED.iter().find(|asked| asked.server == *needed));
        let stage = Stage {
            way: way.name,
            tree: base.join("tree"),
            opened: base.join("tree"),
            markers: base.join("markers"),
            bait: base.join("bait"),
            home: base.join("home"),
            asked: server.copied().unwrap_or(ASKED[0]),
            path: match server {
                None => "/usr/local/bin:/usr/bin:/bin".into(),
                Some(_) => testkit::tools::path_with_tools(),
            },
            patience_ms: if server.is_none() { 300 } else { 4000 },
            told: RefCell::default(),
            _folder: folder,
        };
        for folder in [&stage.tree, &stage.markers, &stage.bait, &stage.home] {
            std::fs::create_dir(folder).unwrap();
        }
        std::fs::create_dir(stage.tree.join(".git")).unwrap();
        std::fs::write(
            stage.bait.join("secret.py"),
            format!("def {}():\n    pass\n", SECRET.replace('-', "_")),
        )
        .unwrap();
        std::fs::write(stage.bait.join("secret.txt"), SECRET).unwrap();
        std::fs::write(stage.home.join(".bashrc"), "# the user's\n").unwrap();
        stage.code();
        let mut stage = stage;
        (way.plant)(&mut stage);
        Some(stage)
    }

    /// Something to ask about in each language.
    fn code(&self) {
        self.write("lib.py", "def greet(name):\n    return name\n");
        self.write("app.py", "from lib import greet\n\n\ndef main():\n    greet(1)\n");
        self.write(
            "lib.ts",
            "export function hello(name: string): string { return name; }\n",
        );
        self.write("app.ts", "import { hello } from './lib';\nhello('a');\n");
        // So that manifests are asked which runner it is for.
        self.write(
            "lib.test.ts",
            "import { hello } from './lib';\nit('greets', () => { hello('a'); });\n",
        );
        self.write(
            "test_lib.py",
            "from lib import greet\n\n\ndef test_greet():\n    greet(1)\n",
        );
        self.write(
            "lib.go",
            "package main\n\nfunc Wave(name string) string { return name }\n\nfunc main() { Wave(\"a\") }\n",
        );
        self.write("go.mod", "module example.com/app\n\ngo 1.20\n");
        self.write(
            "src/lib.rs",
            "pub fn salute(name: &str) -> usize { name.len() }\n\npub fn twice() -> usize { salute(\"a\") }\n",
        );
        self.write(
            "Cargo.toml",
            "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        );
        self.write(
            "lib.php",
            "<?php\nfunction nod(string $name): string { return $name; }\nnod('a');\n",
        );
        self.write(
            "lib.c",
            "int bow(int name) { return name; }\nint main(void) { return bow(1); }\n",
        );
        self.write(
            "compile_commands.json",
            &format!(
                "[{{\"directory\": {:?}, \"file\": \"lib.c\", \"command\": \"cc -c lib.c\"}}]",
                self.tree
            ),
        );
        self.write(
            "Lib.java",
            "class Lib { static int wink(int a) { return a; } int b() { return wink(1); } }\n",
        );
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.tree.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }

    /// A program that leaves a marker, anywhere.
    pub(crate) fn program_at(&self, path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("#!/bin/sh\n{}\n", self.marking("program"))).unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// A pipe that nobody writes into.
    pub(crate) fn pipe(&self, path: &Path) {
        drop(std::fs::remove_file(path));
        let made = Command::new("mkfifo").arg(path).status().unwrap();
        assert!(made.success());
    }

    /// Notes an answer that tells what it must not.
    pub(crate) fn heard(&self, who: &str, said: &str) {
        // Names in code have no dashes.
        let name = SECRET.replace('-', "_");
        if said.contains(SECRET) || said.contains(&name) {
            let shown: String = said.chars().take(2000).collect();
            self.told
                .borrow_mut()
                .push(format!("{who} told what is outside: {shown}"));
        }
    }

    /// The answers that told what lies outside.
    pub(crate) fn told(&self) -> Vec<String> {
        self.told.borrow().clone()
    }

    /// The same in the tree.
    pub(crate) fn program(&self, name: &str) {
        self.program_at(&self.tree.join(name));
    }

    /// The shell command that leaves a marker.
    pub(crate) fn marking(&self, how: &str) -> String {
        format!("echo ran > {}", self.marker(how).display())
    }

    /// The file whose being there says that something ran.
    pub(crate) fn marker(&self, how: &str) -> PathBuf {
        self.markers.join(format!("{}-{how}", self.way.replace(' ', "-")))
    }

    /// A folder outside of the tree and of everything else.
    pub(crate) fn beside(&self, name: &str) -> PathBuf {
        self.tree.parent().unwrap().join(name)
    }

    /// Puts folders before what is on `PATH`.
    pub(crate) fn path_begins_with(&mut self, folders: &[&Path]) {
        let before = folders.iter().map(|folder| folder.to_path_buf());
        let after: Vec<PathBuf> = std::env::split_paths(&self.path).collect();
        self.path = std::env::join_paths(before.chain(after)).unwrap();
    }

    /// The markers that are there.
    pub(crate) fn ran(&self) -> Vec<String> {
        let entries = std::fs::read_dir(&self.markers).unwrap().flatten();
        let mut names: Vec<String> = entries
            .map(|entry| entry.file_name().to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    /// Lacon as somebody calls it who stands in the repository.
    pub(crate) fn lacon(&self) -> Command {
        let mut command = match trace::is_wanted() {
            true => trace::traced(env!("CARGO_BIN_EXE_lacon"), &self.beside("traces")),
            false => Command::new(env!("CARGO_BIN_EXE_lacon")),
        };
        command
            .current_dir(&self.opened)
            .env_clear()
            .env("HOME", &self.home)
            .env("PATH", &self.path)
            .env("LACON_OUTPUT_FORMAT", "json");
        for kept in ["RUSTUP_HOME", "CARGO_HOME", "GOROOT", "JAVA_HOME"] {
            if let Some(value) = std::env::var_os(kept) {
                command.env(kept, value);
            }
        }
        // Toolchains of the machine, whose homes are not the one of this stage.
        let home = PathBuf::from(std::env::var_os("HOME").unwrap_or_default());
        for (name, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
            if std::env::var_os(name).is_none() && home.join(folder).is_dir() {
                command.env(name, home.join(folder));
            }
        }
        command
    }

    /// What strace saw that should not have been, where it was asked to look.
    pub(crate) fn seen(&self) -> Vec<String> {
        let own = [".cache/lacon", ".local/state/lacon"].map(|folder| self.home.join(folder));
        let base = self.tree.parent().unwrap();
        let places = trace::Places {
            tree: &self.tree,
            base,
            own: &own,
        };
        trace::judged(&self.beside("traces"), &places)
    }

    /// Asks everything there is to ask.
    pub(crate) fn meet(&self, met: &Met) {
        if !matches!(met, Met::Untrusted) {
            let trusted = self.lacon().arg("trust").output().unwrap();
            assert!(trusted.status.success(), "{}", String::from_utf8_lossy(&trusted.stderr));
        }
        let variables: &[(&str, &str)] = match met {
            Met::TrustedInTheOpen => &[("LACON_SANDBOX", "off")],
            _ => &[],
        };
        if let Some(mut client) = Client::start(self, variables) {
            client.ask_everything(self);
        }
        verbs::run(self, variables);
    }

    /// What lies outside of the tree, but for what Lacon may write there.
    pub(crate) fn outside(&self) -> BTreeMap<PathBuf, String> {
        let mut found = BTreeMap::new();
        let base = self.tree.parent().unwrap();
        let beside = std::fs::read_dir(base).unwrap().flatten().map(|entry| entry.path());
        let mut waiting: Vec<PathBuf> = beside
            .filter(|path| {
                ![&self.tree, &self.markers, &self.beside("traces")].contains(&path)
                    && path.symlink_metadata().unwrap().is_dir()
            })
            .collect();
        let own = [".cache/lacon", ".local/state/lacon"].map(|folder| self.home.join(folder));
        while let Some(folder) = waiting.pop() {
            for entry in std::fs::read_dir(&folder).unwrap().flatten() {
                let path = entry.path();
                let kind = entry.file_type().unwrap();
                if own.contains(&path) {
                    continue;
                }
                if kind.is_dir() {
                    if path.starts_with(&self.bait) {
                        found.insert(path.clone(), "a folder".to_owned());
                    }
                    waiting.push(path);
                    continue;
                }
                let text = match kind.is_symlink() {
                    true => std::fs::read_link(&path).map(|to| to.into_os_string().into_encoded_bytes()),
                    false => std::fs::read(&path),
                };
                found.insert(path, String::from_utf8_lossy(&text.unwrap_or_default()).into_owned());
            }
        }
        found
    }

    /// What is not as it was outside of the tree.
    pub(crate) fn changes_outside(&self, before: &BTreeMap<PathBuf, String>) -> Vec<String> {
        let after = self.outside();
        let is_new = |path: &&PathBuf| !before.contains_key(*path) && path.starts_with(&self.home);
        let new = after.keys().filter(is_new);
        let written = new.map(|path| format!("wrote {}", path.display()));
        self.changes_of(before).into_iter().chain(written).collect()
    }

    /// Which of the files that were there are not as they were, and what is new where nobody has a reason to write.
    pub(crate) fn changes_of(&self, before: &BTreeMap<PathBuf, String>) -> Vec<String> {
        let after = self.outside();
        let changed = before.iter().filter(|(path, text)| after.get(*path) != Some(*text));
        let new = after
            .keys()
            .filter(|path| !before.contains_key(*path) && !path.starts_with(&self.home));
        changed
            .map(|(path, _)| format!("changed {}", path.display()))
            .chain(new.map(|path| format!("wrote {}", path.display())))
            .collect()
    }
}
