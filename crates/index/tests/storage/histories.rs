//! Edits that once were followed wrongly, each as small as it could be made.

use crate::support::{Project, assert_same};

/// Follows the edits one by one, `None` for a file that goes; after each, the snapshot is the one built from nothing.
fn follow(files: &[(&str, &str)], edits: &[(&str, Option<&str>)]) {
    let project = Project::new(files);
    let mut indexer = project.indexer();
    indexer.prepare().unwrap();
    for (path, text) in edits {
        match text {
            Some(text) => project.write(path, text),
            None => std::fs::remove_file(project.path(path)).unwrap(),
        }
        let report = indexer.update(&[project.path(path)]).unwrap();
        assert_same(&report.snapshot, &project.cold(1));
    }
}

#[test]
fn a_go_type_loses_the_methods_of_a_file_that_goes() {
    follow(
        &[
            ("go.mod", "module example.com/x\n\ngo 1.22\n"),
            ("a.go", "package x\n\ntype Child struct { run *run }\n"),
            (
                "b.go",
                "package x\n\nimport \"example.com/x/u\"\n\nvar _ = u.Use\n\
                 func (s *Child) Child(make int) { s.make.Child(1) }\n\n\
                 func (s *run) run(run int) { s.run.run(1) }\n\n\
                 type run struct { run *run }\n\n\
                 func (s *run) run(run int) { s.run.run(1) }\n",
            ),
            (
                "u/u.go",
                "package u\n\nfunc Use() {}\n\ntype run interface { Child(run int) }\n",
            ),
        ],
        &[("b.go", None)],
    );
}

#[test]
fn a_second_definition_of_a_decorated_name_comes_before_it() {
    let late = "from a import make as Tool\n@run\ndef make(run): ...\nrun = run\n";
    let run = "def run(run): ...\n";
    follow(
        &[
            ("a.py", &format!("{run}{late}")),
            ("b.py", "from a import *\nclass run(make): ...\n"),
        ],
        &[("a.py", Some(&format!("def make(run): ...\n{run}{late}")))],
    );
}

#[test]
fn one_part_of_a_class_becomes_an_interface() {
    let rest = "public class run { public void run() {} }\n\
                public partial class item : stop { public void run() { base.run(); } }\n";
    let before = format!("namespace X;\npublic partial class item : run {{ }}\n{rest}");
    let after = format!("namespace X;\npublic interface item {{ }}\n{rest}");
    follow(&[("C.cs", &before)], &[("C.cs", Some(&after)), ("C.cs", Some(&before))]);
}
