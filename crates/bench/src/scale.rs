//! `lacon bench scale`: whether the cost of indexing grows as the work grows, for every construct that joins files.
//!
//! A construct is a few lines of text with numbers in it. It is written out for n, 2n and 4n files, each tree is indexed from nothing in a
//! process of its own, and the exponent between the last two says how the cost grows: 1 is linear, 2 asks every file about every other.

use std::fs;
use std::path::Path;

use anyhow::Context;
use comfy_table::Table;
use serde::Serialize;
use terminal::failure::Failure;
use terminal::output::Output;
use terminal::usage::size;

use crate::index::{Scratch, cold_index};

/// Measure how the cost of indexing grows with each construct that joins files
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  lacon bench scale
  lacon bench scale cpp-namespace rust-globs --files 1000
  lacon bench scale --json")]
pub(crate) struct Args {
    /// Constructs to measure; all of them where none is named
    #[arg(value_name = "CONSTRUCT")]
    constructs: Vec<String>,

    /// Files of the smallest tree; the others have twice and four times as many
    #[arg(long, value_name = "N", default_value_t = 500)]
    files: usize,

    /// Where the trees go, instead of the system's temporary directory
    #[arg(long, value_name = "DIR")]
    scratch: Option<std::path::PathBuf>,

    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The exponent above which a construct counts as a cliff.
const MOST: f64 = 1.15;

/// A way to join files. `<i>` is the number of a file, `<next>` that of the next one, and what stands in `[…]` of a file that there is once
/// is repeated for each number.
struct Construct {
    name: &'static str,
    once: &'static [(&'static str, &'static str)],
    each: &'static [(&'static str, &'static str)],
}

const CONSTRUCTS: &[Construct] = &[
    Construct {
        name: "rust-globs",
        once: &[
            ("Cargo.toml", "{package}\nname = \"x\"\nedition = \"2021\"\n"),
            ("src/lib.rs", "pub mod all;\n[pub mod part<i>;\n]"),
            ("src/all.rs", "[pub use crate::part<i>::*;\n]"),
        ],
        each: &[(
            "src/part<i>.rs",
            "use crate::all::*;\n\npub struct Part<i> {\n    next: Option<Box<Part<next>>>,\n}\n\npub fn open<i>() -> Vec<Part<next>> {\n    missing<i>();\n    open<next>();\n    Vec::new()\n}\n",
        )],
    },
    Construct {
        name: "rust-parents",
        once: &[
            ("Cargo.toml", "{package}\nname = \"x\"\nedition = \"2021\"\n"),
            ("src/lib.rs", "[pub mod part<i>;\npub use part<i>::*;\n]"),
        ],
        each: &[(
            "src/part<i>.rs",
            "use super::*;\n\npub enum Kind<i> { Left<i>, Right<i> }\npub use Kind<i>::*;\n\npub fn same(a: Kind<next>) -> Option<String> {\n    let b = Left<next>;\n    missing<i>(a, b);\n    None\n}\n",
        )],
    },
    Construct {
        name: "typescript-barrel",
        once: &[
            ("src/all.ts", "[export * from './part<i>';\n]"),
            ("package.json", "{\"name\": \"x\"}\n"),
        ],
        each: &[(
            "src/part<i>.ts",
            "import { open<next>, missing<i>, Part<next> } from './all';\n\nexport class Part<i> {\n  next?: Part<next>;\n}\n\nexport function open<i>() {\n  missing<i>();\n  return open<next>();\n}\n",
        )],
    },
    Construct {
        name: "python-star",
        once: &[("x/__init__.py", "[from .part<i> import *\n]")],
        each: &[(
            "x/part<i>.py",
            "from x import *\n\n\nclass Part<i>:\n    def next(self):\n        return Part<next>()\n\n\ndef open<i>():\n    missing<i>(len([]))\n    return open<next>().next()\n",
        )],
    },
    Construct {
        name: "cpp-namespace",
        once: &[(
            "x/base.h",
            "namespace x {\nclass Base {\n public:\n  virtual void run();\n  int size;\n};\n}\n",
        )],
        each: &[(
            "x/part<i>.cc",
            "#include \"base.h\"\n\nnamespace x {\nclass Part<i> : public x::Base {\n public:\n  void run() override { close(); size = missing; }\n  void close() {}\n};\n\nvoid open<i>(Base* base) {\n  Part<i> part;\n  part.run();\n  base->size = limit;\n  open<next>(base);\n}\n}\n",
        )],
    },
    Construct {
        name: "cpp-nested-namespaces",
        once: &[(
            "x/base.h",
            "namespace x { namespace detail { class Base { public: void run(); }; } }\n",
        )],
        each: &[(
            "x/part<i>.cc",
            "#include \"base.h\"\n\nnamespace x { namespace detail {\nclass Part<i> : public x::detail::Base {\n public:\n  void close() { run(); x::detail::open<next>(); }\n};\nvoid open<i>() { x::detail::Part<next> part; part.close(); missing<i>(); }\n} }\n",
        )],
    },
    Construct {
        name: "cpp-using",
        once: &[("x/base.h", "namespace x { class Base { public: void run(); }; }\n")],
        each: &[(
            "x/part<i>.cc",
            "#include \"base.h\"\nusing namespace x;\n\nnamespace x { void open<i>(); }\n\nvoid use<i>(Base* base) { base->run(); open<next>(); missing<i>(); }\n",
        )],
    },
    Construct {
        name: "csharp-namespace",
        once: &[(
            "x/Base.cs",
            "namespace X.Parts { public class Base { public void Run() { } } }\n",
        )],
        each: &[(
            "x/Part<i>.cs",
            "using System;\n\nnamespace X.Parts\n{\n    public class Part<i> : Base\n    {\n        public Part<next> Next { get; set; }\n        public void Close() { Run(); Next.Close(); Console.WriteLine(Missing<i>.Value); }\n    }\n}\n",
        )],
    },
    Construct {
        name: "csharp-partial",
        once: &[(
            "x/Base.cs",
            "namespace X { public class Base { protected void Run() { } } }\n",
        )],
        each: &[(
            "x/Whole<i>.cs",
            "namespace X\n{\n    public partial class Whole : Base\n    {\n        private Whole part<i>;\n        public void Open<i>() { part<next>.Open<next>(); Run(); Missing<i>(); }\n    }\n}\n",
        )],
    },
    Construct {
        name: "ruby-module",
        once: &[("lib/x.rb", "module X\n  class Base\n    def run; end\n  end\nend\n")],
        each: &[(
            "lib/x/part<i>.rb",
            "require \"x\"\n\nmodule X\n  class Part<i> < Base\n    def open\n      run\n      missing(Known<i>.thing, X::Part<next>)\n      Part<next>.new.open\n    end\n  end\nend\n",
        )],
    },
    Construct {
        name: "ruby-reopened",
        once: &[("lib/x.rb", "class X\n  def initialize; end\nend\n")],
        each: &[(
            "lib/x/part<i>.rb",
            "class X\n  def open<i>\n    @part<i> = X.new\n    @part<next>.open<next>\n    missing<i>(self)\n  end\nend\n",
        )],
    },
    Construct {
        name: "kotlin-extensions",
        once: &[],
        each: &[(
            "src/Part<i>.kt",
            "package x\n\nclass Part<i> { fun close() = 1 }\n\nfun Part<i>.open(): Int = close()\n\nfun use<i>(part: Part<i>, other: Any) {\n    part.open()\n    part.missing()\n    unknown(part).open()\n    listOf(part).map { it.open() }\n}\n",
        )],
    },
    Construct {
        name: "swift-extensions",
        once: &[(
            "Sources/X/Whole.swift",
            "class Whole {\n  var size = 0\n  func run() {}\n}\n",
        )],
        each: &[(
            "Sources/X/Part<i>.swift",
            "extension Whole {\n  func open<i>() { run(); size = <i>; open<next>(); missing<i>() }\n}\n",
        )],
    },
    Construct {
        name: "go-interfaces",
        once: &[("go.mod", "module example.com/x\n\ngo 1.22\n")],
        each: &[(
            "part<i>.go",
            "package x\n\ntype Part<i> struct{ next *Part<next> }\n\nfunc (p *Part<i>) Open<i>() { p.next.Open<next>() }\n\nfunc (p *Part<i>) Close() {}\n\ntype Opener<i> interface {\n\tOpen<i>()\n\tClose()\n}\n\nfunc Use<i>(o Opener<i>) { o.Open<i>(); o.Close(); missing<i>() }\n",
        )],
    },
    Construct {
        name: "java-hierarchy",
        once: &[(
            "src/x/Base.java",
            "package x;\n\npublic interface Base { int run(); }\n",
        )],
        each: &[(
            "src/x/Part<i>.java",
            "package x;\n\npublic class Part<i> implements Base {\n    Part<next> next;\n    public int run() { return next.run(); }\n    int open(Base base) { return base.run() + missing<i>(); }\n}\n",
        )],
    },
    Construct {
        name: "php-namespace",
        once: &[(
            "src/Base.php",
            "<?php\nnamespace X;\n\ntrait Runs { public function run() {} }\nclass Base { use Runs; }\n",
        )],
        each: &[(
            "src/Part<i>.php",
            "<?php\nnamespace X;\n\nclass Part<i> extends Base {\n    public function open() { $this->run(); (new Part<next>)->open(); missing<i>(strlen('a')); }\n}\n",
        )],
    },
    Construct {
        name: "scala-package",
        once: &[("src/Base.scala", "package x\n\ntrait Base { def run = 1 }\n")],
        each: &[(
            "src/Part<i>.scala",
            "package x\n\nclass Part<i> extends Base { def open = run }\n\nobject Part<i> {\n  def make(part: Part<next>) = { part.open; part.missing; Part<next>.make(null) }\n}\n",
        )],
    },
    Construct {
        name: "c-headers",
        once: &[("all.h", "[#include \"part<i>.h\"\n]")],
        each: &[
            (
                "part<i>.h",
                "struct part<i> { int size; };\nvoid open<i>(struct part<i> *part);\n",
            ),
            (
                "part<i>.c",
                "#include \"all.h\"\n\nvoid open<i>(struct part<i> *part) { struct part<next> next; open<next>(&next); missing<i>(part->size); }\n",
            ),
        ],
    },
    Construct {
        name: "javascript-globals",
        once: &[],
        each: &[(
            "src/part<i>.js",
            "window.x = window.x || {};\nx.open<i> = function () { x.open<next>(); missing(<i>); };\nx.open<i>();\n",
        )],
    },
];

impl Construct {
    /// Writes the construct out for so many files.
    fn write(&self, count: usize, directory: &Path) -> std::io::Result<()> {
        for (path, text) in self.once {
            put(directory, path, &repeated(text, count))?;
        }
        for number in 0..count {
            for (path, text) in self.each {
                put(
                    directory,
                    &numbered(path, number, count),
                    &numbered(text, number, count),
                )?;
            }
        }
        Ok(())
    }
}

fn numbered(text: &str, number: usize, count: usize) -> String {
    let next = (number + 1) % count;
    text.replace("<i>", &number.to_string())
        .replace("<next>", &next.to_string())
}

/// What stands in brackets once for each number. Braces around one word stand for brackets.
fn repeated(text: &str, count: usize) -> String {
    let mut all = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('[') {
        let (inside, behind) = after.split_once(']').unwrap_or((after, ""));
        all.push_str(before);
        (0..count).for_each(|number| all.push_str(&numbered(inside, number, count)));
        rest = behind;
    }
    (all + rest).replace("{package}", "[package]")
}

fn put(directory: &Path, path: &str, text: &str) -> std::io::Result<()> {
    let path = directory.join(path);
    fs::create_dir_all(path.parent().unwrap_or(directory))?;
    fs::write(path, text)
}

/// What one construct costs.
#[derive(Serialize)]
struct Growth {
    construct: &'static str,
    sizes: Vec<Size>,
    /// Between the last two sizes.
    cpu_exponent: f64,
    memory_exponent: f64,
}

#[derive(Serialize)]
struct Size {
    files: usize,
    cpu_seconds: f64,
    resolve_cpu_seconds: f64,
    peak_memory_bytes: u64,
}

pub(crate) fn run(args: Args, output: &mut Output) -> Result<(), Failure> {
    let mut wanted: Vec<&Construct> = CONSTRUCTS.iter().collect();
    if !args.constructs.is_empty() {
        if let Some(unknown) = (args.constructs.iter()).find(|name| wanted.iter().all(|known| known.name != **name)) {
            let names: Vec<&str> = wanted.iter().map(|known| known.name).collect();
            return Err(anyhow::anyhow!("no construct `{unknown}`; there are {}", names.join(", ")).into());
        }
        wanted.retain(|known| args.constructs.iter().any(|name| name == known.name));
    }
    let scratch = Scratch::new(args.scratch.as_deref())?;
    let mut all = Vec::new();
    for construct in wanted {
        all.push(measure(construct, args.files.max(1), &scratch.path)?);
    }
    match args.json {
        true => output.json(&all)?,
        false => output.line(table(&all)),
    }
    Ok(())
}

fn measure(construct: &'static Construct, files: usize, scratch: &Path) -> Result<Growth, Failure> {
    let mut sizes: Vec<Size> = Vec::new();
    for files in [files, 2 * files, 4 * files] {
        let (tree, index) = (scratch.join("tree"), scratch.join("index"));
        construct
            .write(files, &tree)
            .with_context(|| format!("cannot write `{}`", tree.display()))?;
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let measured = cold_index(&tree, &index, threads, true);
        drop(fs::remove_dir_all(&tree));
        drop(fs::remove_dir_all(&index));
        let (indexed, _) = measured?;
        sizes.push(Size {
            files,
            cpu_seconds: indexed.cost.cpu_seconds,
            resolve_cpu_seconds: indexed.cpu.resolve,
            peak_memory_bytes: indexed.cost.peak_memory_bytes,
        });
    }
    let exponent = |of: fn(&Size) -> f64| match &sizes[..] {
        [.., before, last] => (of(last) / of(before).max(f64::MIN_POSITIVE)).log2(),
        _ => 0.0,
    };
    Ok(Growth {
        construct: construct.name,
        cpu_exponent: exponent(|size| size.cpu_seconds),
        memory_exponent: exponent(|size| size.peak_memory_bytes as f64),
        sizes,
    })
}

fn table(all: &[Growth]) -> String {
    let mut table = Table::new();
    table.load_style(comfy_table::presets::NOTHING);
    table.set_header([
        "construct",
        "files",
        "CPU s",
        "of it resolving",
        "memory",
        "CPU n^",
        "memory n^",
        "",
    ]);
    for growth in all {
        for (at, size_of) in growth.sizes.iter().enumerate() {
            let is_last = at + 1 == growth.sizes.len();
            let last = |text: String| if is_last { text } else { String::new() };
            let is_cliff = growth.cpu_exponent > MOST || growth.memory_exponent > MOST;
            table.add_row([
                if at == 0 {
                    growth.construct.to_string()
                } else {
                    String::new()
                },
                size_of.files.to_string(),
                format!("{:.2}", size_of.cpu_seconds),
                format!("{:.2}", size_of.resolve_cpu_seconds),
                size(size_of.peak_memory_bytes),
                last(format!("{:.2}", growth.cpu_exponent)),
                last(format!("{:.2}", growth.memory_exponent)),
                last(if is_cliff {
                    format!("above {MOST}")
                } else {
                    String::new()
                }),
            ]);
        }
    }
    table.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use index::build::{Indexer, Options};

    /// Steps of the resolver for one construct of so many files.
    fn steps(construct: &Construct, count: usize) -> f64 {
        let directory = tempfile::tempdir().unwrap();
        let tree = directory.path().join("tree");
        construct.write(count, &tree).unwrap();
        let options = Options {
            directory: Some(directory.path().join("index")),
            without_search: true,
            ..Options::default()
        };
        let report = Indexer::open(&tree, options).unwrap().build().unwrap();
        report.steps as f64
    }

    #[test]
    fn no_construct_makes_resolving_a_cliff() {
        let mut cliffs = Vec::new();
        for construct in CONSTRUCTS {
            let (half, whole) = (steps(construct, 120), steps(construct, 240));
            let exponent = (whole / half).log2();
            if exponent > MOST {
                cliffs.push(format!("{}: {half} to {whole} steps, n^{exponent:.2}", construct.name));
            }
        }
        assert!(cliffs.is_empty(), "{cliffs:#?}");
    }

    #[test]
    fn what_stands_in_brackets_is_there_for_each_file() {
        assert_eq!(repeated("a\n[use <i> <next>;\n]b", 2), "a\nuse 0 1;\nuse 1 0;\nb");
        assert_eq!(repeated("{package}\n", 3), "[package]\n");
    }
}
