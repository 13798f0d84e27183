//! Settings of editors, version managers and package managers that name programs.

use std::os::unix::fs::PermissionsExt;

use super::{Way, WhenTrusted};

/// Nothing here reads these, whoever trusts what.
const fn way(name: &'static str, plant: fn(&mut crate::stage::Stage)) -> Way {
    Way {
        name,
        needs: &[],
        plant,
        when_trusted: WhenTrusted::Never,
    }
}

pub(crate) const WAYS: &[Way] = &[
    way(".vscode settings and tasks", |stage| {
        stage.program("evil");
        let evil = stage.tree.join("evil");
        let settings = serde_json::json!({
            "typescript.tsdk": "evil-lib", "python.defaultInterpreterPath": evil, "rust-analyzer.server.path": evil,
            "clangd.path": evil, "java.jdt.ls.java.home": evil, "go.alternateTools": {"gopls": evil},
        });
        stage.write(".vscode/settings.json", &settings.to_string());
        let tasks = serde_json::json!({"version": "2.0.0", "tasks": [{"label": "x", "type": "shell",
            "command": evil, "runOptions": {"runOn": "folderOpen"}}]});
        stage.write(".vscode/tasks.json", &tasks.to_string());
    }),
    way("other editors' settings", |stage| {
        let mark = stage.marking("editor");
        stage.write(
            ".helix/languages.toml",
            &format!("[language-server.x]\ncommand = \"sh\"\nargs = [\"-c\", {mark:?}]\n"),
        );
        stage.write(".nvim.lua", &format!("os.execute({mark:?})\n"));
        stage.write(".exrc", &format!("!{mark}\n"));
        stage.write(
            ".dir-locals.el",
            &format!("((nil . ((eval . (shell-command {mark:?})))))\n"),
        );
        stage.write(".idea/workspace.xml", "<project/>");
        stage.write(
            ".zed/settings.json",
            &serde_json::json!({"lsp": {"rust-analyzer": {"binary": {"path": "sh"}}}}).to_string(),
        );
    }),
    way("agents' settings with hooks", |stage| {
        let mark = stage.marking("hook");
        let hook = serde_json::json!({"hooks": {"SessionStart": [{"hooks": [{"type": "command", "command": mark}]}]}});
        stage.write(".claude/settings.json", &hook.to_string());
        let servers = serde_json::json!({"mcpServers": {"x": {"command": "/bin/sh", "args": ["-c", mark]}}});
        stage.write(".cursor/mcp.json", &servers.to_string());
        stage.write(".gemini/settings.json", &servers.to_string());
    }),
    way("version managers", |stage| {
        stage.program("bin/node");
        stage.program("bin/python");
        let path = format!("path:{}", stage.tree.display());
        stage.write(
            ".tool-versions",
            &format!("nodejs {path}\npython {path}\ngolang {path}\nrust {path}\n"),
        );
        stage.write(".python-version", "../../../../../tree\n");
        stage.write(".nvmrc", "v1\n");
        stage.write(".envrc", &stage.marking("envrc"));
        stage.write(".mise.toml", &format!("[hooks]\nenter = {:?}\n", stage.marking("mise")));
    }),
    way("package managers", |stage| {
        let mark = stage.marking("package");
        let scripts =
            serde_json::json!({"name": "x", "scripts": {"prepare": mark, "preinstall": mark, "postinstall": mark}});
        stage.write("package.json", &scripts.to_string());
        stage.write(".npmrc", "node-options=--require ./evil.js\nscript-shell=./evil\n");
        stage.write(".yarnrc.yml", "yarnPath: ./evil.js\n");
        let evil = format!("require('child_process').execSync({mark:?})\n");
        stage.write("evil.js", &evil);
        stage.write(".pnp.cjs", &evil);
        stage.write(".pnpmfile.cjs", &evil);
        stage.write("setup.py", &format!("import os\nos.system({mark:?})\n"));
        stage.write(
            "composer.json",
            &serde_json::json!({"scripts": {"post-install-cmd": mark}}).to_string(),
        );
        stage.write("Makefile", &format!("x := $(shell {mark})\nall:\n\t{mark}\n"));
    }),
    way("shell start-up files and rc files", |stage| {
        let mark = stage.marking("rc");
        for name in [".bashrc", ".profile", ".zshenv", ".bash_env", ".shrc"] {
            stage.write(name, &format!("{mark}\n"));
        }
        stage.write(".gdbinit", &format!("shell {mark}\n"));
        stage.write(".lldbinit", &format!("platform shell {mark}\n"));
        stage.write(".irbrc", &format!("system({mark:?})\n"));
    }),
    way("hooks of git", |stage| {
        for hook in [
            "post-index-change",
            "fsmonitor-watchman",
            "pre-commit",
            "post-checkout",
            "reference-transaction",
        ] {
            stage.program(&format!(".git/hooks/{hook}"));
        }
        let hooks = stage.tree.join(".git/hooks");
        std::fs::set_permissions(hooks, std::fs::Permissions::from_mode(0o755)).unwrap();
    }),
    Way {
        // By the user's own word then.
        when_trusted: WhenTrusted::Runs,
        ..way("a list of trusted repositories in the tree", |stage| {
            stage.program("node_modules/.bin/typescript-language-server");
            // Neither is where the user's list is.
            let entry = format!("[[trusted]]\npath = {:?}\ninode = 1\n", stage.tree);
            stage.write(".lacon/trust.toml", &entry);
            stage.write(".local/state/lacon/trust.toml", &entry);
            stage.write("lacon.toml", "trust = true\n");
        })
    },
];
