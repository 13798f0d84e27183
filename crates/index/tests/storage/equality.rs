//! Incremental equals cold, byte for byte, whatever happened before; one thread equals many.

use std::path::PathBuf;

use index::build::Indexer;
use proptest::prelude::*;

use crate::support::{Project, assert_same, cases};

const PATHS: &[&str] = &[
    "a.py",
    "b.py",
    "pkg/__init__.py",
    "pkg/m.py",
    "main.go",
    "util/util.go",
    "web/app.js",
    "web/lib.js",
    "README.md",
];

/// Something that happens to a tree.
#[derive(Clone, Debug)]
enum Step {
    Write {
        path: usize,
        variant: u8,
    },
    Delete {
        path: usize,
    },
    Rename {
        from: usize,
        to: usize,
    },
    /// Every file back to its first content.
    Revert,
    /// The writer goes away and another one takes over.
    Restart,
    /// The writer lets go of what it holds for updates.
    Rest,
    /// A file that says what is ignored.
    Ignore {
        path: usize,
    },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let path = 0..PATHS.len();
    prop::collection::vec(
        prop_oneof![
            6 => (path.clone(), any::<u8>()).prop_map(|(path, variant)| Step::Write { path, variant }),
            2 => path.clone().prop_map(|path| Step::Delete { path }),
            2 => (path.clone(), path.clone()).prop_map(|(from, to)| Step::Rename { from, to }),
            1 => Just(Step::Revert),
            1 => Just(Step::Restart),
            1 => Just(Step::Rest),
            1 => path.prop_map(|path| Step::Ignore { path }),
        ],
        1..10,
    )
}

/// Text of a file: definitions, imports, calls, classes and inheritance that come and go with the variant.
fn text(path: &str, variant: u8) -> String {
    let bit = |at: u8| variant >> at & 1 == 1;
    let mut text = String::new();
    if path.ends_with(".py") {
        if bit(0) {
            text.push_str("from b import helper, Base\nimport pkg.m\nimport os.path\n\n");
        }
        if bit(1) {
            text.push_str("class Base:\n    def run(self):\n        return helper()\n\n    def stop(self): ...\n\n");
        }
        if bit(2) {
            text.push_str("class Child(Base):\n    def run(self):\n        super().run()\n        self.stop()\n        os.path.join('a')\n\n");
        }
        if bit(3) {
            text.push_str("def helper():\n    return pkg.m.helper()\n\n");
        }
        if bit(4) {
            text.push_str("def helper():\n    c = Child()\n    c.run()\n    f = helper\n    f()\n\n");
        }
        if bit(5) {
            text.push_str("value = helper\nvalue()\n");
        }
    } else if path.ends_with(".go") {
        text.push_str(if path.starts_with("util") {
            "package util\n\n"
        } else {
            "package main\n\n"
        });
        if bit(0) {
            text.push_str("import (\n\t\"fmt\"\n\t\"example.com/x/util\"\n)\n\n");
        }
        if bit(1) {
            text.push_str(
                "type Server struct{ name string }\n\nfunc (s *Server) Run() { s.Stop(); fmt.Println(s.name) }\n\n",
            );
        }
        if bit(2) {
            text.push_str("func (s *Server) Stop() { util.Help() }\n\n");
        }
        if bit(3) {
            text.push_str("func Help() { (&Server{}).Run() }\n\n");
        }
        if bit(4) {
            text.push_str("type Runner interface{ Run() }\n\nfunc Use(r Runner) { r.Run() }\n");
        }
    } else if path.ends_with(".js") {
        if bit(0) {
            text.push_str("import { greet, Widget } from './lib.js';\nimport react from 'react';\n\n");
        }
        if bit(1) {
            text.push_str("export function greet() { return react.useState(); }\n\n");
        }
        if bit(2) {
            text.push_str("export class Widget { draw() { greet(); this.draw(); } }\n\n");
        }
        if bit(3) {
            text.push_str("const w = new Widget(); w.draw(); greet();\n");
        }
        if bit(4) {
            text.push_str("broken( {\n");
        }
    } else {
        text.push_str(if bit(0) { "# Title\n\n## Part\n" } else { "# Other\n" });
    }
    text
}

fn start() -> Project {
    let project = Project::new(&[("go.mod", "module example.com/x\n\ngo 1.22\n")]);
    for path in PATHS {
        project.write(path, text(path, 0b0010_1111));
    }
    project
}

/// Carries out a step and returns the paths a watcher would report.
fn perform(project: &Project, step: &Step) -> Vec<PathBuf> {
    match *step {
        Step::Write { path, variant } => {
            project.write(PATHS[path], text(PATHS[path], variant));
            vec![project.path(PATHS[path])]
        }
        Step::Delete { path } => {
            let _ = std::fs::remove_file(project.path(PATHS[path]));
            vec![project.path(PATHS[path])]
        }
        Step::Rename { from, to } => {
            let (from, to) = (project.path(PATHS[from]), project.path(PATHS[to]));
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            let _ = std::fs::rename(&from, &to);
            vec![from, to]
        }
        Step::Revert => {
            for path in PATHS {
                project.write(path, text(path, 0b0010_1111));
            }
            PATHS.iter().map(|path| project.path(path)).collect()
        }
        Step::Restart | Step::Rest => Vec::new(),
        Step::Ignore { path } => {
            project.write(".gitignore", format!("/{}\n", PATHS[path]));
            vec![project.path(".gitignore")]
        }
    }
}

fn check(steps: &[Step]) {
    let project = start();
    let mut indexer: Option<Indexer> = None;
    for (number, step) in steps.iter().enumerate() {
        let writer = indexer.get_or_insert_with(|| {
            let mut writer = project.indexer();
            writer.prepare().unwrap();
            writer
        });
        let paths = perform(&project, step);
        let report = match step {
            Step::Restart => {
                indexer = None;
                continue;
            }
            Step::Rest => {
                writer.rest();
                continue;
            }
            _ if number % 4 == 3 => writer.build().unwrap(),
            _ => writer.update(&paths).unwrap(),
        };
        let cold = project.cold(1 + number % 3);
        assert_same(&report.snapshot, &cold);
        report.snapshot.verify().unwrap();
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 200, ..cases(32) })]

    #[test]
    fn incremental_equals_cold(steps in steps()) {
        check(&steps);
    }
}

#[test]
fn one_thread_equals_many() {
    let project = start();
    for number in 0..60 {
        let path = PATHS[number % PATHS.len()];
        project.write(
            &format!("copy{number}/{path}"),
            text(path, (number as u8).wrapping_mul(7)),
        );
    }
    let one = project.cold(1);
    for threads in [2, 3, 8] {
        assert_same(&one, &project.cold(threads));
    }
}

#[test]
fn moved_definitions_keep_the_edges_of_others() {
    let project = Project::new(&[
        ("lib.py", "def first(): pass\n\ndef second(): pass\n"),
        ("use.py", "from lib import second\n\ndef go():\n    second()\n"),
    ]);
    let mut indexer = project.indexer();
    indexer.prepare().unwrap();
    project.write("lib.py", "def second(): pass\n\ndef new(): pass\n\ndef first(): pass\n");
    let report = indexer.update(&[project.path("lib.py")]).unwrap();
    assert_same(&report.snapshot, &project.cold(1));
}
