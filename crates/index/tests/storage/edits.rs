//! Random edits of what other files can see: definitions added, renamed, moved and removed, bases, owners and imports
//! exchanged, files that go and come back, in every family of languages. After each, the followed snapshot is the one built
//! from nothing.

use proptest::prelude::*;

use crate::support::{Project, assert_same, cases, difference};

/// Few names, so that edits meet.
const NAMES: &[&str] = &["run", "stop", "Base", "Child", "make", "Tool", "item", "Other"];

/// One piece of a file: what it is, and the names that it is made of.
#[derive(Clone, Debug)]
struct Item {
    shape: u8,
    names: [usize; 3],
}

#[derive(Clone, Debug)]
enum Edit {
    Insert {
        at: usize,
        item: Item,
    },
    Remove {
        at: usize,
    },
    Replace {
        at: usize,
        item: Item,
    },
    Swap {
        at: usize,
        with: usize,
    },
    Comment,
    /// The file goes; the next edit of it brings it back.
    Delete,
}

fn item() -> impl Strategy<Value = Item> {
    (any::<u8>(), prop::array::uniform3(0..NAMES.len())).prop_map(|(shape, names)| Item { shape, names })
}

fn edit() -> impl Strategy<Value = Edit> {
    prop_oneof![
        4 => (any::<usize>(), item()).prop_map(|(at, item)| Edit::Insert { at, item }),
        2 => any::<usize>().prop_map(|at| Edit::Remove { at }),
        3 => (any::<usize>(), item()).prop_map(|(at, item)| Edit::Replace { at, item }),
        1 => (any::<usize>(), any::<usize>()).prop_map(|(at, with)| Edit::Swap { at, with }),
        1 => Just(Edit::Comment),
        2 => Just(Edit::Delete),
    ]
}

/// A language: the files of its project, what the first lines say, and how items are written.
struct Family {
    files: &'static [(&'static str, &'static str)],
    items: &'static [&'static str],
    comment: &'static str,
}

const FAMILIES: &[Family] = &[
    Family {
        files: &[
            ("a.py", ""),
            ("b.py", "from a import *\n"),
            ("p/__init__.py", ""),
            ("p/c.py", "import a\n"),
        ],
        items: &[
            "from a import $0 as $1\n",
            "from b import $0\n",
            "from p.c import $0\n",
            "def $0($1, $2=None):\n    $1.$2()\n    return $2\n",
            "class $0($1):\n    def $2(self):\n        self.$1 = $0()\n        return self.$1.$2()\n",
            "class $0:\n    $1 = [$2]\n    def stop(self): ...\n",
            "$0 = $1\n",
            "$0($1).$2()\n",
            "@$0\ndef $1($2):\n    for x in [$2]:\n        x.$0()\n",
            "a.$0($1, lambda x: x.$2())\n",
        ],
        comment: "# comment\n",
    },
    Family {
        files: &[
            ("go.mod", "module example.com/x\n\ngo 1.22\n"),
            ("a.go", "package x\n\n"),
            ("b.go", "package x\n\nimport \"example.com/x/u\"\n\nvar _ = u.Use\n"),
            ("u/u.go", "package u\n\nfunc Use() {}\n"),
        ],
        items: &[
            "type $0 struct { $1 *$2 }\n\n",
            "type $0 struct { *$1 }\n\n",
            "func (s *$0) $1($2 int) { s.$2.$1(1) }\n\n",
            "type $0 interface { $1($2 int) }\n\n",
            "func $0($1 *$2) *$2 { $1.run(2); return $1 }\n\n",
            "func $0() { u.$1(); $2() }\n\n",
            "var $0 = []$1{{}}\n\n",
        ],
        comment: "// comment\n",
    },
    Family {
        files: &[
            ("A.java", "package x;\n\n"),
            ("B.java", "package x;\n\n"),
            ("y/C.java", "package y;\nimport x.*;\n\n"),
        ],
        items: &[
            "class $0 extends $1 { void $2() { $1(); this.$2(); } }\n",
            "interface $0 { void $1($2 a); }\n",
            "class $0 implements $1 { public void $1($2 a) { a.run(); } $0() {} }\n",
            "class $0 { $1 $2; static $1 make($1 a) { return a.$2; } }\n",
        ],
        comment: "// comment\n",
    },
    Family {
        files: &[
            ("a.h", "#pragma once\n"),
            ("a.cpp", "#include \"a.h\"\n"),
            ("b.cpp", "#include \"a.h\"\n"),
            ("a.in.cpp", "#include \"a.h\"\n"),
        ],
        items: &[
            "namespace $0 { class $1 { public: void $2(); }; }\n",
            "class $0 : public $1 { public: virtual void $2(int); int item; };\n",
            "void $0::$1(int a) { $2(); this->$2(); }\n",
            "int $0(struct $1 *a) { a->$2(1); return $0(a); }\n",
            "static int $0(void);\n",
            "using namespace $0;\n",
            "void $0::$1::$2() { run(); }\n",
        ],
        comment: "// comment\n",
    },
    Family {
        files: &[("a.ts", ""), ("b.ts", ""), ("c.js", "")],
        items: &[
            "import { $0 as $1 } from './a';\n",
            "export * from './b';\n",
            "export { $0 } from './b';\n",
            "import $0 from './c';\n",
            "export class $0 extends $1 { $2() { return this.$2(); } }\n",
            "export function $0($1) { $1.$2(); return [$1]; }\n",
            "export const $0 = { $1: $2 };\n",
            "export default $0;\n",
            "module.exports = { $0, $1 };\n",
            "$0.$1($2);\n",
        ],
        comment: "// comment\n",
    },
    Family {
        files: &[
            ("Cargo.toml", "[package]\nname = \"x\"\n"),
            ("src/lib.rs", "mod a;\npub mod b;\n"),
            ("src/a.rs", ""),
            ("src/b.rs", "use crate::a::*;\n"),
        ],
        items: &[
            "pub struct $0 { pub $1: $2 }\n",
            "impl $0 { pub fn $1(&self) -> $2 { self.$1() } }\n",
            "pub trait $0 { fn $1(&self); }\n",
            "impl $0 for $1 { fn $2(&self) { self.run() } }\n",
            "pub use crate::b::$0;\n",
            "pub fn $0($1: &$2) { $1.run(); crate::a::stop(); }\n",
            "pub mod $0 { pub fn $1() { super::$2() } }\n",
        ],
        comment: "// comment\n",
    },
    Family {
        files: &[
            ("A.cs", "namespace X;\n\n"),
            ("B.cs", "using X;\n\nnamespace Y;\n\n"),
            ("C.cs", "namespace X;\n\n"),
        ],
        items: &[
            "public partial class $0 : $1 { public void $2() { this.$2(); base.run(); } }\n",
            "public interface $0 { void $1($2 a); }\n",
            "public static class $0 { public static $1 $2(this $1 a) { a.run(); return a.$2(); } }\n",
            "public partial class $0 { $1 $2 { get; set; } void stop() { this.$2.run(); } }\n",
            "public class $0<T> where T : $1 { T item; void make() { item.$2(); } }\n",
            "public partial class $0 { void $1(params $2[] a) {} void $1(ref $2 a) { $1(ref a); $1(a, a); } }\n",
            "#if OLD\npublic partial class $0 { void $1($2 a) { a.run(); } }\n#else\npublic partial class $0 { void $1($2 a) { $1(a); } }\n#endif\n",
            "public class $0 : $1 { void $1.$2() { run(); } void stop($1 a) { a.$2(); } }\n",
        ],
        comment: "// comment\n",
    },
    Family {
        files: &[
            ("a.kt", "package x\n\n"),
            ("b.kt", "package x\n\n"),
            ("y/c.kt", "package y\n\nimport x.*\n\n"),
            ("z/d.kt", "package z\n\nimport x.run\nimport y.make\nimport x.Base\n\n"),
        ],
        items: &[
            "open class $0 : $1() { open fun $2() { this.$2() } }\n",
            "interface $0 { fun $1(a: $2) }\n",
            "fun $0.$1(): $2 { run(); return $2() }\n",
            "object $0 { val $1 = $2(); fun stop() { $1.run() } }\n",
            "fun $0(a: $1, b: () -> Unit) { a.$2(); b() }\n",
            "val $0 = $1 { $2() }\n",
            "typealias $0 = $1\n",
            "fun $0(a: $1? = null, b: $1.() -> Unit) { b() }\n",
            "fun $0.$1(a: $2) { $1(a = a); $2 { run(); this@$1.stop() } }\n",
            "class $0(a: $1) : $2(a) { init { a.run() } }\n",
        ],
        comment: "// comment\n",
    },
    Family {
        files: &[
            ("composer.json", "{\"autoload\": {\"psr-4\": {\"X\\\\\": \"src/\"}}}\n"),
            ("src/Base.php", "<?php\nnamespace X;\n\n"),
            ("src/Child.php", "<?php\nnamespace X;\n\n"),
            ("b.php", "<?php\nuse X\\Base;\nuse X\\Child as Tool;\n\n"),
        ],
        items: &[
            "class $0 extends $1 { use Other; function $2() { $this->$2(); parent::run(); } }\n",
            "trait $0 { public $1 $item; function $2() { $this->item->$2(); } }\n",
            "interface $0 { function $1($2 $a); }\n",
            "function $0($1 $a) { $a->$2(); return new $1(); }\n",
            "$x = new $0(); $x->$1(); $2::make();\n",
            "class $0 implements $1 { static function make($2 $a): $2 { return static::$2($a); } }\n",
        ],
        comment: "// comment\n",
    },
    Family {
        files: &[
            ("a.rb", ""),
            ("b.rb", "require_relative 'a'\n"),
            ("c.rb", "require_relative 'b'\n"),
            ("spec/d_spec.rb", "require_relative '../a'\n"),
        ],
        items: &[
            "class $0 < $1\n  include Tool\n  def $2\n    self.$2\n    super\n  end\nend\n",
            "module $0\n  def self.$1(a)\n    a.$2\n  end\n  def run; end\nend\n",
            "def $0($1)\n  $1.$2\n  $2()\nend\n",
            "class $0\n  attr_accessor :$1\n  def initialize(a) = @$1 = $2.new(a)\n  def stop = @$1.run\nend\n",
            "$0 = $1.new($2)\n",
            "module Other\n  class $0\n    def $1 = $2.make\n  end\nend\n",
            "class Other::$0 < $1\n  def $2 = run\n  alias stop $2\nend\n",
            "class $0\n  module $1\n    attr_reader :$2\n    def make = $2\n  end\n  include $1\n  class << self\n    def $2 = new\n  end\nend\n",
            "def $0(x)\n  x.$1\n  x.$2\n  @all << x\n  @all.first.$1\n  $2.new.$1\nend\n",
        ],
        comment: "# comment\n",
    },
    // Imports of everything that reach so much that their names are looked up in a table.
    Family {
        files: &[
            ("Cargo.toml", "[package]\nname = \"x\"\n"),
            (
                "src/lib.rs",
                "pub mod a;\npub mod b;\npub mod prelude;\nuse prelude::*;\n",
            ),
            (
                "src/prelude.rs",
                "pub use crate::a::*;\npub use crate::b::*;\n@600@pub fn f<number>() {}\n@",
            ),
            ("src/a.rs", "use crate::prelude::*;\n"),
            ("src/b.rs", "use crate::prelude::*;\n"),
        ],
        items: &[
            "pub fn $0() { $1(); crate::prelude::$2(); f7(); }\n",
            "pub enum $0 { $1, $2 }\nuse $0::*;\n",
            "impl $0 { pub fn $1() -> $2 { $1 } }\n",
            "pub mod $0 { pub fn $1() { super::$2() } }\npub use self::$0::*;\n",
            "pub use crate::a::$0::*;\n",
            "pub use crate::prelude::$0 as $1;\n",
            "pub struct $0 { pub $1: $2 }\n",
        ],
        comment: "// comment\n",
    },
    Family {
        files: &[
            ("a.py", "from p import *\n"),
            ("b.py", "from a import *\n"),
            ("p/__init__.py", "from b import *\nfrom p.c import *\n"),
            ("p/c.py", "from a import *\n@600@def f<number>(): ...\n@"),
        ],
        items: &[
            "def $0($1):\n    $1.$2()\n    return $2(f7)\n",
            "class $0($1):\n    def $2(self):\n        return $1()\n",
            "from p import $0 as $1\n",
            "from p.c import *\n",
            "$0 = $1\n",
            "__all__ = ['$0', '$1']\n",
        ],
        comment: "# comment\n",
    },
    // Namespaces and types of so many parts that one stands for all.
    Family {
        files: &[
            ("a.h", "#pragma once\n@17@namespace run { namespace Base { } }\n@"),
            ("a.cpp", "#include \"a.h\"\n"),
            ("b.cpp", "#include \"a.h\"\n"),
            ("c/c.cpp", ""),
        ],
        items: &[
            "namespace run { namespace Base { class $0 : public run::Base::$1 { public: void $2(); }; } }\n",
            "namespace run { $0 *$1; void make() { $1->$2(); Base::$2(); run::Base::$0 a; a.$1(); } }\n",
            "void run::Base::$0() { $1(); run::Base::$2(); }\n",
            "namespace $0 { namespace $1 { int $2; } }\n",
            "using namespace run::Base;\n",
            "namespace Base { class $0 { void run(); }; }\n",
        ],
        comment: "// comment\n",
    },
    Family {
        files: &[
            ("A.cs", "namespace X;\n\n@17@public partial class Base { }\n@"),
            ("B.cs", "using X;\n\nnamespace Y;\n\n"),
            ("C.cs", "namespace X;\n\n"),
        ],
        items: &[
            "public partial class Base : $0 { public void $1() { this.$2(); base.run(); } }\n",
            "public partial class Base { $0 $1; Base($2 a) { $1.run(); X.Base.make(); } }\n",
            "public class $0 : Base { public override void $1() { new Base(null).$2(); } }\n",
            "public class Base { public static $0 make() { return new $1(); } }\n",
            "public interface $0 { void $1($2 a); }\n",
        ],
        comment: "// comment\n",
    },
    Family {
        files: &[
            ("a.rb", "@17@module Base\nend\n@"),
            ("b.rb", "require_relative 'a'\n"),
            ("c.rb", "require_relative 'b'\nmodule Base\n  class Child\n  end\nend\n"),
        ],
        items: &[
            "module Base\n  class $0 < $1\n    def $2 = $1.new.run\n  end\nend\n",
            "module Base\n  include $0\n  def self.$1(a) = a.$2\n  $2 = $1.new\nend\n",
            "class $0\n  include Base\n  def $1 = Base.$2\nend\n",
            "module Base\n  module $0\n    def $1 = $2\n  end\nend\n",
            "Base::$0.new.$1($2)\n",
            "class Base::$0 < $1\n  def $2 = run\nend\n",
        ],
        comment: "# comment\n",
    },
];

/// The first lines of a file: what stands in `@17@…@` seventeen times, each with its number.
fn spelled(header: &str) -> String {
    let parts: Vec<&str> = header.split('@').collect();
    let [before, count, repeated, after] = parts[..] else {
        return header.to_string();
    };
    let lines = (0..count.parse().unwrap()).map(|number: u32| repeated.replace("<number>", &number.to_string()));
    before.to_string() + &lines.collect::<String>() + after
}

fn write(family: &Family, header: &str, items: &[Item], comments: usize) -> String {
    let mut text = spelled(header);
    text.push_str(&family.comment.repeat(comments));
    for item in items {
        let mut line = family.items[usize::from(item.shape) % family.items.len()].to_string();
        for (number, &name) in item.names.iter().enumerate() {
            line = line.replace(&format!("${number}"), NAMES[name]);
        }
        text.push_str(&line);
    }
    text
}

fn change(items: &mut Vec<Item>, edit: &Edit) {
    let length = items.len().max(1);
    match edit {
        Edit::Insert { at, item } => items.insert(at % (items.len() + 1), item.clone()),
        Edit::Remove { at } if !items.is_empty() => drop(items.remove(at % length)),
        Edit::Replace { at, item } if !items.is_empty() => items[at % length] = item.clone(),
        Edit::Swap { at, with } if !items.is_empty() => items.swap(at % length, with % length),
        _ => {}
    }
}

fn check(family: usize, first: &[Vec<Item>], edits: &[(usize, Edit)]) {
    let family = &FAMILIES[family];
    let project = Project::new(&[]);
    let mut files: Vec<(Vec<Item>, usize)> = first.iter().map(|items| (items.clone(), 0)).collect();
    files.resize(family.files.len(), Default::default());
    let is_source = |path: &str| ![".mod", ".toml", ".json"].iter().any(|end| path.ends_with(end));
    for ((path, header), (items, _)) in family.files.iter().zip(&files) {
        let items = if is_source(path) { &items[..] } else { &[] };
        project.write(path, write(family, header, items, 0));
    }
    let mut indexer = project.indexer();
    indexer.prepare().unwrap();
    let mut story = String::new();
    for ((path, header), (items, _)) in family.files.iter().zip(&files) {
        let items = if is_source(path) { &items[..] } else { &[] };
        story += &format!("=== {path}\n{}", write(family, header, items, 0));
    }
    for (file, edit) in edits {
        let file = file % family.files.len();
        let (path, header) = family.files[file];
        if !is_source(path) {
            continue;
        }
        let (items, comments) = &mut files[file];
        match edit {
            Edit::Comment => *comments += 1,
            edit => change(items, edit),
        }
        if let Edit::Delete = edit {
            // It may be gone already.
            drop(std::fs::remove_file(project.path(path)));
            story += &format!("=== delete {path}\n");
        } else {
            let text = write(family, header, items, *comments);
            story += &format!("=== write {path}\n{text}");
            project.write(path, text);
        }
        let report = indexer.update(&[project.path(path)]).unwrap();
        if let Some(difference) = difference(&report.snapshot, &project.cold(1)) {
            panic!("{difference}\nafter these edits:\n{story}");
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { max_shrink_iters: 1000, ..cases(48) })]

    #[test]
    fn edits_of_what_others_see_equal_a_cold_build(
        family in 0..FAMILIES.len(),
        first in prop::collection::vec(prop::collection::vec(item(), 0..7), 4),
        edits in prop::collection::vec((any::<usize>(), edit()), 1..8),
    ) {
        check(family, &first, &edits);
    }
}

#[test]
fn a_file_that_comes_or_goes_concerns_those_alone_who_look_for_it() {
    let project = Project::new(&[]);
    for number in 0..30 {
        let text = format!(
            "from pkg import m{}\n\ndef f{number}():\n    return m{}.f()\n",
            number % 7,
            number % 7
        );
        project.write(&format!("pkg/n{number}.py"), text);
    }
    project.write("pkg/__init__.py", "");
    project.write("pkg/late_user.py", "from pkg import late\n\nlate.come()\n");
    let mut indexer = project.indexer();
    indexer.prepare().unwrap();
    let came = "def come(): ...\n";
    for (path, concerned) in [("pkg/late.py", 2), ("pkg/m3.py", 5), ("pkg/unasked.py", 1)] {
        project.write(path, came);
        let report = indexer.update(&[project.path(path)]).unwrap();
        assert_eq!(report.resolved, concerned, "{path} came");
        assert_same(&report.snapshot, &project.cold(1));
        std::fs::remove_file(project.path(path)).unwrap();
        let report = indexer.update(&[project.path(path)]).unwrap();
        assert_eq!(report.resolved, concerned - 1, "{path} went");
        assert_same(&report.snapshot, &project.cold(1));
    }
}

#[test]
fn more_files_than_there_is_room_for_between_two() {
    let project = Project::new(&[("a.py", "from m7 import f\n\nf()\n"), ("z.py", "def z(): ...\n")]);
    let mut indexer = project.indexer();
    indexer.prepare().unwrap();
    for number in 0..40 {
        let path = format!("m{number}.py");
        project.write(&path, "def f(): ...\n");
        indexer.update(&[project.path(&path)]).unwrap();
    }
    assert_same(indexer.snapshot().unwrap(), &project.cold(1));
}
