//! Real language servers on real code: what Lacon passes on is what the server itself says, and it is asked only once the server
//! has read the project.

use std::path::Path;
use std::time::{Duration, Instant};

use guardian::trust::Trust;
use lsp::{Config, Encoding, FileChange, Location, Servers, State, Text};
use testkit::plain_client::{PlainClient, Spot};
use testkit::tools::{is_there, path_with_tools};

/// One language: a project of several files, and what is asked about in it.
struct Case {
    language: &'static str,
    /// As the plain client starts it.
    command: &'static [&'static str],
    files: &'static [(&'static str, &'static str)],
    /// Where the definition stands: a file and the text that it is the last word of.
    asked: (&'static str, &'static str),
    /// How many mentions there are, the definition included.
    mentions: usize,
    /// A new file that mentions it once more.
    addition: (&'static str, &'static str),
}

const PYTHON: Case = Case {
    language: "python",
    command: &["basedpyright-langserver", "--stdio"],
    files: &[
        (
            "lib.py",
            "# é😀\nclass Greeter:\n    def greet(self, name: str) -> str:\n        return name\n",
        ),
        (
            "app.py",
            "from lib import Greeter\n\n\ndef main() -> None:\n    g = Greeter()\n    x = 'é😀'; g.greet(x)\n",
        ),
        ("other/__init__.py", ""),
        ("other/more.py", "import lib\n\nlib.Greeter().greet('a')\ngreet = 1\n"),
    ],
    asked: ("lib.py", "def greet"),
    mentions: 3,
    addition: ("new.py", "from lib import Greeter\nGreeter().greet('new')\n"),
};

const TYPESCRIPT: Case = Case {
    language: "typescript",
    command: &["typescript-language-server", "--stdio"],
    files: &[
        (
            "tsconfig.json",
            "{\"compilerOptions\": {\"strict\": true, \"module\": \"commonjs\"}, \"include\": [\"src\"]}",
        ),
        (
            "src/lib.ts",
            "// é😀\nexport class Greeter {\n  greet(name: string): string { return name; }\n}\n",
        ),
        (
            "src/app.ts",
            "import { Greeter } from './lib';\nconst g = new Greeter();\nconst x = 'é😀'; g.greet(x);\n",
        ),
        (
            "src/view.tsx",
            "import { Greeter } from './lib';\nexport const v = new Greeter().greet('v');\nconst greet = 1;\n",
        ),
    ],
    asked: ("src/lib.ts", "greet"),
    mentions: 3,
    addition: (
        "src/new.ts",
        "import { Greeter } from './lib';\nnew Greeter().greet('new');\n",
    ),
};

const C: Case = Case {
    language: "c",
    command: &["clangd", "--background-index"],
    files: &[
        ("lib.h", "int greet(int name);\n"),
        ("lib.c", "#include \"lib.h\"\nint greet(int name) { return name; }\n"),
        (
            "app.c",
            "#include \"lib.h\"\nint main(void) { /* é😀 */ return greet(1); }\n",
        ),
        (
            "more.c",
            "#include \"lib.h\"\nint more(void) { return greet(2) + greet(3); }\n",
        ),
    ],
    asked: ("lib.c", "int greet"),
    mentions: 5,
    addition: (
        "app.c",
        "#include \"lib.h\"\nint main(void) { return greet(1) + greet(9); }\n",
    ),
};

const GO: Case = Case {
    language: "go",
    command: &["gopls"],
    files: &[
        ("go.mod", "module example.com/app\n\ngo 1.20\n"),
        (
            "lib/lib.go",
            "package lib\n\n// é😀\ntype Greeter struct{}\n\nfunc (g Greeter) Greet(name string) string { return name }\n",
        ),
        (
            "main.go",
            "package main\n\nimport \"example.com/app/lib\"\n\nfunc main() { /* é😀 */ lib.Greeter{}.Greet(\"x\") }\n",
        ),
        (
            "more.go",
            "package main\n\nimport \"example.com/app/lib\"\n\nfunc more() string { return lib.Greeter{}.Greet(\"y\") }\n",
        ),
    ],
    asked: ("lib/lib.go", "(g Greeter) Greet"),
    mentions: 3,
    addition: (
        "new.go",
        "package main\n\nimport \"example.com/app/lib\"\n\nvar _ = lib.Greeter{}.Greet(\"new\")\n",
    ),
};

const PHP: Case = Case {
    language: "php",
    command: &["intelephense", "--stdio"],
    files: &[
        (
            "lib.php",
            "<?php\n// é😀\nclass Greeter {\n    public function greet(string $name): string { return $name; }\n}\n",
        ),
        (
            "app.php",
            "<?php\nrequire 'lib.php';\n$g = new Greeter();\n$x = 'é😀'; $g->greet($x);\n",
        ),
        (
            "more.php",
            "<?php\nfunction more(Greeter $g): string { return $g->greet('more'); }\nfunction greet() {}\n",
        ),
    ],
    asked: ("lib.php", "function greet"),
    mentions: 3,
    addition: (
        "new.php",
        "<?php\nfunction fresh(Greeter $g): string { return $g->greet('new'); }\n",
    ),
};

const JAVA: Case = Case {
    language: "java",
    command: &["jdtls"],
    files: &[
        (
            "src/shop/Lib.java",
            "package shop;\n\npublic class Lib {\n    public static String greet(String name) { return name; }\n}\n",
        ),
        (
            "src/shop/One.java",
            "package shop;\n\nclass One {\n    String one() { return Lib.greet(\"é😀\"); }\n}\n",
        ),
        (
            "src/other/Two.java",
            "package other;\n\nimport shop.Lib;\n\nclass Two {\n    String two() { return Lib.greet(\"b\"); }\n}\n",
        ),
    ],
    asked: ("src/shop/Lib.java", "String greet"),
    mentions: 3,
    addition: (
        "src/shop/New.java",
        "package shop;\n\nclass New {\n    String fresh() { return Lib.greet(\"new\"); }\n}\n",
    ),
};

const RUST: Case = Case {
    language: "rust",
    command: &["rust-analyzer"],
    files: &[
        (
            "Cargo.toml",
            "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
        ),
        (
            "src/lib.rs",
            "// é😀\npub struct Greeter;\nimpl Greeter {\n    pub fn greet(&self, name: &str) -> usize { name.len() }\n}\n",
        ),
        (
            "src/main.rs",
            "use app::Greeter;\nfn main() { let x = \"é😀\"; Greeter.greet(x); }\n",
        ),
        ("src/bin/more.rs", "fn main() { app::Greeter.greet(\"y\"); }\n"),
    ],
    asked: ("src/lib.rs", "pub fn greet"),
    mentions: 3,
    addition: ("src/bin/new.rs", "fn main() { app::Greeter.greet(\"new\"); }\n"),
};

/// How a server is run: answers are the same each time.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    /// As for a repository that its owner trusts.
    Sandboxed,
    /// The same with the sandbox switched off.
    Open,
    /// As for a repository that nobody trusts.
    Untrusted,
}

#[test]
fn basedpyright() {
    check(&PYTHON);
}

#[test]
fn typescript() {
    check(&TYPESCRIPT);
}

#[test]
fn clangd() {
    check(&C);
}

#[test]
fn intelephense() {
    check(&PHP);
}

/// Nothing describes the project: where its sources begin is found from the open documents.
#[test]
fn jdtls() {
    check(&JAVA);
}

#[test]
fn gopls() {
    if !is_there("go") {
        testkit::skipped("lsp real_servers gopls", "there is no Go here");
        return;
    }
    check(&GO);
}

#[test]
fn rust_analyzer() {
    let answers = std::process::Command::new("rust-analyzer").arg("--version").output();
    if !answers.is_ok_and(|output| output.status.success()) {
        testkit::skipped("lsp real_servers rust_analyzer", "it is not installed");
        return;
    }
    check(&RUST);
}

/// Those with a mode that runs no code of the project answer the same without trust.
#[test]
fn untrusted_servers_answer_the_same() {
    if !guardian::sandbox::support().holds() {
        testkit::skipped("lsp real_servers untrusted", "this system has no sandbox");
        return;
    }
    for case in [&PYTHON, &TYPESCRIPT, &C, &PHP, &GO] {
        if case.language != "go" || is_there("go") {
            check_in(case, Mode::Untrusted);
        }
    }
}

#[test]
fn servers_answer_the_same_without_a_sandbox() {
    for case in [&PYTHON, &C] {
        check_in(case, Mode::Open);
    }
}

#[test]
fn those_that_run_code_of_the_project_are_not_asked_without_trust() {
    let servers = Servers::new(Config {
        path: Some(path_with_tools()),
        ..Config::default()
    });
    let folder = tempfile::tempdir().unwrap();
    for (language, name) in [("rust", "rust-analyzer"), ("java", "jdtls")] {
        match servers.server(folder.path(), language, None).err() {
            Some(State::Untrusted { server, lacks_sandbox }) => {
                assert_eq!((server.as_str(), lacks_sandbox), (name, false))
            }
            Some(State::Absent { .. }) => {
                testkit::skipped("lsp real_servers without trust", &format!("there is no {name} here"));
            }
            other => panic!("{name}: {other:?}"),
        }
    }
    assert_eq!(servers.withheld(), [folder.path()]);
}

fn check(case: &Case) {
    check_in(case, Mode::Sandboxed);
}

fn check_in(case: &Case, mode: Mode) {
    let command = case.command[0];
    let path = path_with_tools();
    let found = std::env::split_paths(&path)
        .map(|folder| folder.join(command))
        .find(|program| program.is_file());
    let program = found.unwrap_or_else(|| panic!("no `{command}`: run `cargo xtask prepare`"));
    // Go leaves out folders whose names begin with a dot.
    let folder = tempfile::Builder::new().prefix("lacon-").tempdir().unwrap();
    let root = folder.path().canonicalize().unwrap();
    write(&root, case.files);
    let file = root.join(case.asked.0);
    let text = Text::new(std::fs::read_to_string(&file).unwrap());
    let at = text.as_str().find(case.asked.1).unwrap() + case.asked.1.len() - 1;
    let place = text.place(at);

    let servers = Servers::new(Config {
        path: Some(path),
        trust: if mode == Mode::Untrusted {
            Trust::default()
        } else {
            Trust::everything()
        },
        sandbox: mode != Mode::Open,
        ..Config::default()
    });
    let began = Instant::now();
    let server = servers.server(&root, case.language, Some(&file)).unwrap();
    server.prepare(&file, case.language).unwrap();
    assert!(
        !matches!(server.state(), State::Ready { .. }),
        "nothing can be ready yet"
    );
    let deadline = Instant::now() + Duration::from_secs(90);
    let state = server.wait_ready(deadline);
    assert_eq!(state, State::Ready { partial: None }, "{} {mode:?}", server.name());
    eprintln!("{} {mode:?}: ready after {:?}", server.name(), began.elapsed());
    // The first answer after the signal is the whole one.
    let references = server.references(&file, place, true, deadline).unwrap();
    assert_eq!(references.len(), case.mentions, "{references:#?}");
    let user = references
        .iter()
        .find(|reference| reference.path != file)
        .unwrap()
        .clone();
    server.prepare(&user.path, case.language).unwrap();
    let definition = server.definition(&user.path, user.range.start, deadline).unwrap();
    assert_eq!(definition.len(), 1, "{definition:#?}");

    let mut plain_command = vec![program.to_str().unwrap()];
    plain_command.extend(&case.command[1..]);
    let mut plain = PlainClient::start(&plain_command, &root);
    plain.open(&file, case.language);
    plain.open(&user.path, case.language);
    let spot = |location: &Location| as_spot(location);
    let asked = spot(&Location {
        path: file.clone(),
        range: lsp::Range {
            start: place,
            end: place,
        },
    });
    let own = plain.places("textDocument/references", &file, asked.1, asked.2, case.mentions);
    assert_eq!(
        references.iter().map(spot).collect::<Vec<_>>(),
        own,
        "references as the server says"
    );
    let from = spot(&user);
    let own = plain.places("textDocument/definition", &user.path, from.1, from.2, 1);
    assert_eq!(
        definition.iter().map(spot).collect::<Vec<_>>(),
        own,
        "definition as the server says"
    );
    drop(plain);

    // A file that changes on disk is known as soon as the server is told.
    let (name, added) = case.addition;
    let change = if root.join(name).exists() {
        FileChange::Changed
    } else {
        FileChange::Created
    };
    write(&root, &[(name, added)]);
    server.files_changed(&[(root.join(name), change)]);
    if change == FileChange::Changed || case.language == "typescript" {
        server.prepare(&root.join(name), case.language).unwrap();
    }
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        server.wait_ready(deadline);
        let now = server.references(&file, place, true, deadline).unwrap();
        if now.len() == case.mentions + 1 {
            break;
        }
        assert!(
            Instant::now() < deadline,
            "{} of {}: {now:#?}",
            now.len(),
            case.mentions + 1
        );
        std::thread::sleep(Duration::from_millis(100));
    }
}

fn write(root: &Path, files: &[(&str, &str)]) {
    for (name, text) in files {
        let path = root.join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    if files.iter().any(|(name, _)| name.ends_with(".c")) {
        let entries: Vec<String> = ["lib.c", "app.c", "more.c"]
            .iter()
            .map(|name| format!("{{\"directory\": {root:?}, \"file\": \"{name}\", \"command\": \"cc -c {name}\"}}"))
            .collect();
        std::fs::write(root.join("compile_commands.json"), format!("[{}]", entries.join(","))).unwrap();
    }
}

fn as_spot(location: &Location) -> Spot {
    let text = Text::new(std::fs::read_to_string(&location.path).unwrap());
    let start = location.range.start;
    let column = Encoding::Utf16.from_bytes(text.line(start.line), start.column);
    (location.path.clone(), u64::from(start.line) - 1, u64::from(column))
}
