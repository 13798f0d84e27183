//! The search index from the outside: what is found, and that an index that followed edits answers like one made from nothing.

use std::fs;
use std::path::{Path, PathBuf};

use index::build::{Indexer, Options};
use index::search::{Mode, Question, SearchIndex};
use index::snapshot::Snapshot;

struct Tree {
    directory: tempfile::TempDir,
}

impl Tree {
    fn new(files: &[(&str, &str)]) -> Tree {
        let tree = Tree {
            directory: tempfile::tempdir().unwrap(),
        };
        files.iter().for_each(|(path, text)| tree.write(path, text));
        tree
    }

    fn root(&self) -> PathBuf {
        self.directory.path().join("tree")
    }

    fn write(&self, path: &str, text: &str) {
        let path = self.root().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn build(&self) -> Snapshot {
        Indexer::open(&self.root(), Options::default())
            .unwrap()
            .build()
            .unwrap()
            .snapshot
    }

    fn cold(&self) -> (tempfile::TempDir, Snapshot) {
        let directory = tempfile::tempdir().unwrap();
        let options = Options {
            directory: Some(directory.path().join("index")),
            threads: Some(1),
            ..Options::default()
        };
        let snapshot = Indexer::open(&self.root(), options).unwrap().build().unwrap().snapshot;
        (directory, snapshot)
    }
}

fn ask(snapshot: &Snapshot, text: &str, mode: Mode) -> Vec<(String, f32)> {
    let index = SearchIndex::beside(snapshot);
    assert_eq!(index.missing_files(), 0);
    let question = Question {
        text,
        limit: 50,
        mode,
        accept: None,
    };
    let hits = index.search(snapshot, &question);
    hits.iter()
        .map(|hit| (snapshot.symbol(hit.symbol).unwrap().id_string(), hit.score))
        .collect()
}

fn first(snapshot: &Snapshot, text: &str) -> String {
    let hits = ask(snapshot, text, Mode::Hybrid);
    hits.first().map_or(String::new(), |(id, _)| id.clone())
}

const SAMPLE: &[(&str, &str)] = &[
    (
        "app/passwords.py",
        "import hashlib\n\nITERATIONS = 3\n\ndef hash_password(text, salt):\n    \"\"\"Derives a digest from a secret.\"\"\"\n    \
         return hashlib.sha256(salt + text).hexdigest()\n\nclass Session:\n    \"\"\"A signed-in user.\"\"\"\n\n    def expire(self):\n        \
         self.until = None\n",
    ),
    (
        "net/retry.go",
        "package net\n\n// Backoff waits longer after each failed attempt.\nfunc Backoff(attempt int) int {\n\treturn 1 << attempt\n}\n\n\
         type Client struct {\n\thost string\n}\n\nfunc (c *Client) FetchJSON(url string) error {\n\treturn nil\n}\n",
    ),
    (
        "src/Cart.java",
        "package shop;\n\n/** What a customer is about to buy. */\npublic class Cart {\n  int total() { return 0; }\n}\n",
    ),
    (
        "docs/guide.md",
        "# Guide\n\n## Rotating credentials\n\nChange the secret key every month.\n\n## Deploying\n\nPush the tag.\n",
    ),
    (
        "page.html",
        "<html><body><h1>Billing</h1><p>Invoices are sent weekly.</p></body></html>\n",
    ),
];

#[test]
fn things_are_found_by_name_by_words_and_by_meaning() {
    let tree = Tree::new(SAMPLE);
    let snapshot = tree.build();
    for (question, id) in [
        ("hash_password", "app/passwords.py::hash_password"),
        ("HASH_PASSWORD", "app/passwords.py::hash_password"),
        ("fetchJson", "net/retry.go::Client.FetchJSON"),
        ("derive digest from secret", "app/passwords.py::hash_password"),
        ("wait longer after failing attempts", "net/retry.go::Backoff"),
        ("exponential backoff", "net/retry.go::Backoff"),
        ("what a customer is about to buy", "src/Cart.java::Cart"),
        ("shopping cart", "src/Cart.java::Cart"),
        ("ITERATIONS", "app/passwords.py::ITERATIONS"),
        ("rotate the credentials", "docs/guide.md::Guide.Rotating credentials"),
    ] {
        assert_eq!(
            first(&snapshot, question),
            id,
            "{question}: {:?}",
            ask(&snapshot, question, Mode::Hybrid)
        );
    }
    assert!(ask(&snapshot, "", Mode::Hybrid).is_empty());
    assert!(ask(&snapshot, "   \n", Mode::Hybrid).is_empty());
    assert!(ask(&snapshot, "zzyzx", Mode::Lexical).is_empty());
    assert!(ask(&snapshot, &"lengthy ".repeat(100_000), Mode::Hybrid).len() <= 50);
}

#[test]
fn an_index_that_followed_edits_answers_like_a_new_one() {
    let tree = Tree::new(SAMPLE);
    let mut indexer = Indexer::open(&tree.root(), Options::default()).unwrap();
    indexer.build().unwrap();
    let questions = [
        "secret",
        "hash_password",
        "retry a failed request",
        "customer total",
        "guide to deploying",
    ];
    let edits: [&dyn Fn(&Path); 6] = [
        &|_| {
            tree.write(
                "net/retry.go",
                "package net\n\nfunc Retry(times int) bool {\n\treturn times > 0\n}\n",
            )
        },
        &|_| tree.write("app/new.py", "def total_of_customer(secret):\n    return secret\n"),
        &|root| fs::remove_file(root.join("src/Cart.java")).unwrap(),
        &|root| fs::rename(root.join("app/new.py"), root.join("app/zzz.py")).unwrap(),
        // More than the small part may hold: both are merged.
        &|_| {
            for number in 0..60 {
                let body: String = (0..30)
                    .map(|n| format!("def secret_{number}_{n}():\n    return {n}\n\n"))
                    .collect();
                tree.write(&format!("many/file{number}.py"), &body);
            }
        },
        &|_| tree.write("many/file7.py", "def customer():\n    return 'secret'\n"),
    ];
    for (step, edit) in edits.iter().enumerate() {
        edit(&tree.root());
        let followed = indexer.build().unwrap().snapshot;
        let (_directory, cold) = tree.cold();
        for question in questions {
            for mode in [Mode::Hybrid, Mode::Lexical, Mode::Semantic] {
                let (left, right) = (ask(&followed, question, mode), ask(&cold, question, mode));
                assert_eq!(left, right, "after edit {step}: {question}");
            }
        }
    }
    // What was merged is what would have been made from nothing.
    drop(indexer);
    let (directory, _) = tree.cold();
    let index = tree.root().join(".lacon");
    assert!(index.join("search.recent").exists());
    fs::write(
        tree.root().join("many/file7.py"),
        (0..30)
            .map(|n| format!("def secret_7_{n}():\n    return {n}\n\n"))
            .collect::<String>(),
    )
    .unwrap();
    tree.build();
    assert!(!index.join("search.recent").exists());
    drop(directory);
    let (directory, _) = tree.cold();
    let cold = fs::read(directory.path().join("index/search")).unwrap();
    assert!(fs::read(index.join("search")).unwrap() == cold);
}

#[test]
fn a_damaged_search_index_is_made_again() {
    let tree = Tree::new(SAMPLE);
    tree.build();
    let path = tree.root().join(".lacon/search");
    let whole = fs::read(&path).unwrap();
    for damage in [0, 9, 40, whole.len() / 3, whole.len() / 2, whole.len() - 3] {
        let mut bytes = whole.clone();
        bytes[damage] ^= 0x55;
        fs::write(&path, &bytes).unwrap();
        // A reader in between gets fewer answers or none, never a panic.
        let snapshot = index::build::open_snapshot(&tree.root(), None).unwrap();
        let index = SearchIndex::beside(&snapshot);
        for text in ["secret", "hash_password"] {
            index.search(
                &snapshot,
                &Question {
                    text,
                    limit: 10,
                    mode: Mode::Hybrid,
                    accept: None,
                },
            );
        }
        drop((snapshot, index));
        let snapshot = tree.build();
        assert_eq!(first(&snapshot, "hash_password"), "app/passwords.py::hash_password");
        assert!(fs::read(&path).unwrap() == whole);
    }
    fs::write(&path, &whole[..whole.len() / 2]).unwrap();
    tree.build();
    assert!(fs::read(&path).unwrap() == whole);
}

#[test]
fn a_word_that_the_tree_writes_as_two_is_read_as_those() {
    let tree = Tree::new(&[
        (
            "mocks.py",
            "from library import EasyMock\n\ndef replayed(request):\n    return EasyMock.replay(request)\n",
        ),
        ("there.py", "def is_there(place):\n    return place\n"),
        (
            "fore.py",
            "def fore_ground(color):\n    return color\n\ndef fore_cast(days):\n    return days\n",
        ),
    ]);
    let snapshot = tree.build();
    let index = SearchIndex::beside(&snapshot);
    assert_eq!(index.spelled("the Easymock of Debian"), "the Easy mock of Debian");
    // Both are words of the tree, and nothing has them together.
    assert_eq!(index.spelled("therefore replayed"), "therefore replayed");
    assert_eq!(index.spelled("easymöck EasyMock mock é"), "easymöck EasyMock mock é");
    assert_eq!(index.spelled(""), "");
}

#[test]
fn sources_come_before_what_was_built_from_them() {
    let code = "export function debounceCalls(wait) {\n  return wait;\n}\n";
    let tree = Tree::new(&[
        ("packages/timing/build/modern/debounce.js", code),
        ("packages/timing/dist/debounce.cjs", code),
        ("packages/timing/src/debounce.ts", code),
        (
            "packages/timing/lib/other.js",
            "export function otherCalls(wait) {\n  return wait;\n}\n",
        ),
    ]);
    let snapshot = tree.build();
    let source = |path: &str| {
        let source = snapshot.find_file(path).unwrap().source();
        source.map(|source| source.path().to_string())
    };
    for built in ["build/modern/debounce.js", "dist/debounce.cjs"] {
        let made_from = source(&format!("packages/timing/{built}"));
        assert_eq!(made_from.as_deref(), Some("packages/timing/src/debounce.ts"), "{built}");
    }
    for other in ["lib/other.js", "src/debounce.ts"] {
        assert_eq!(source(&format!("packages/timing/{other}")), None, "{other}");
    }
    assert_eq!(
        first(&snapshot, "debounce calls"),
        "packages/timing/src/debounce.ts::debounceCalls"
    );
}
