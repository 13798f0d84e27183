//! A `PATH` that leads into the tree: put there by a script runner, by direnv, or by habit.

use std::path::Path;

use super::{Way, WhenTrusted};

const SERVERS: &[&str] = &[
    "typescript-language-server",
    "basedpyright-langserver",
    "pyright-langserver",
    "intelephense",
    "gopls",
    "clangd",
    "rust-analyzer",
    "jdtls",
];
/// What servers, Lacon and scripts start by name.
const HELPERS: &[&str] = &[
    "node", "python3", "python", "sh", "env", "go", "cargo", "rustc", "cc", "java", "npm",
];

const fn way(name: &'static str, when_trusted: WhenTrusted, plant: fn(&mut crate::stage::Stage)) -> Way {
    Way {
        name,
        needs: &[],
        plant,
        when_trusted,
    }
}

fn plant_in(stage: &crate::stage::Stage, folder: &str) {
    for name in SERVERS.iter().chain(HELPERS) {
        stage.program(&format!("{folder}/{name}"));
    }
}

pub(crate) const WAYS: &[Way] = &[
    Way {
        needs: &["typescript-language-server", "node"],
        ..way(
            "helpers of a real server where PATH begins with a dot",
            WhenTrusted::Never,
            |stage| {
                for name in HELPERS {
                    stage.program(name);
                }
                stage.path_begins_with(&[Path::new("."), Path::new("")]);
            },
        )
    },
    Way {
        needs: &["basedpyright-langserver", "node"],
        ..way(
            "helpers of a real server in a folder of the tree",
            WhenTrusted::Runs,
            |stage| {
                for name in HELPERS {
                    stage.program(&format!("tools/{name}"));
                }
                let folder = stage.tree.join("tools");
                stage.path_begins_with(&[&folder]);
            },
        )
    },
    way("PATH begins with a dot", WhenTrusted::Never, |stage| {
        plant_in(stage, ".");
        stage.path_begins_with(&[Path::new(".")]);
    }),
    way("PATH begins with nothing", WhenTrusted::Never, |stage| {
        plant_in(stage, ".");
        stage.path_begins_with(&[Path::new("")]);
    }),
    way("PATH begins with a relative folder", WhenTrusted::Never, |stage| {
        plant_in(stage, "bin");
        stage.path_begins_with(&[Path::new("bin")]);
    }),
    way("PATH begins with dots that lead back", WhenTrusted::Never, |stage| {
        plant_in(stage, "bin");
        stage.path_begins_with(&[Path::new("../tree/bin")]);
    }),
    way("PATH begins with a folder of the tree", WhenTrusted::Runs, |stage| {
        plant_in(stage, "tools");
        let folder = stage.tree.join("tools");
        stage.path_begins_with(&[&folder]);
    }),
    way("PATH goes through the tree by dots", WhenTrusted::Runs, |stage| {
        plant_in(stage, "tools");
        let folder = stage.bait.join("../tree/tools");
        stage.path_begins_with(&[&folder]);
    }),
    way("a folder on PATH is a link into the tree", WhenTrusted::Runs, |stage| {
        plant_in(stage, "tools");
        let link = stage.beside("linked");
        std::os::unix::fs::symlink(stage.tree.join("tools"), &link).unwrap();
        stage.path_begins_with(&[&link]);
    }),
    way(
        "a program on PATH is a link into the tree",
        WhenTrusted::Runs,
        |stage| {
            let folder = stage.beside("linked");
            std::fs::create_dir(&folder).unwrap();
            for name in SERVERS {
                stage.program(&format!("tools/{name}"));
                std::os::unix::fs::symlink(stage.tree.join("tools").join(name), folder.join(name)).unwrap();
            }
            stage.path_begins_with(&[&folder]);
        },
    ),
    way(
        "a part of the repository is opened with the rest on PATH",
        WhenTrusted::Runs,
        |stage| {
            plant_in(stage, "node_modules/.bin");
            let part = stage.tree.join("packages/one");
            std::fs::create_dir_all(&part).unwrap();
            for file in ["lib.py", "app.py", "lib.ts", "app.ts", "lib.php", "lib.c"] {
                std::fs::copy(stage.tree.join(file), part.join(file)).unwrap();
            }
            stage.opened = part;
            let folder = stage.tree.join("node_modules/.bin");
            stage.path_begins_with(&[&folder]);
        },
    ),
];
