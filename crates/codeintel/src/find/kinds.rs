//! What sort of file each one is, by its path and by what it says of itself: tests, documents, copies and examples are seldom what is meant.

use index::model::FileId;
use index::search::is_document;
use index::snapshot::{FileFlags, FileView, Snapshot};

use crate::traverse::is_test_path;

/// What sort of file one is.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct FileKind {
    pub(crate) is_test: bool,
    /// Prose.
    pub(crate) is_document: bool,
    /// Generated, built, or of another project.
    pub(crate) is_copy: bool,
    /// An example, a demonstration, a benchmark.
    pub(crate) is_example: bool,
    /// What configures builds, checks and machines.
    pub(crate) is_configuration: bool,
}

/// The kinds of all files of a tree.
pub(crate) struct FileKinds(Vec<FileKind>);

impl FileKinds {
    pub(crate) fn of_tree(snapshot: &Snapshot) -> FileKinds {
        FileKinds(snapshot.files().map(kind).collect())
    }

    pub(crate) fn of(&self, file: FileId) -> FileKind {
        self.0.get(file.0 as usize).copied().unwrap_or_default()
    }
}

fn kind(file: FileView<'_>) -> FileKind {
    let path = file.path();
    let name = path.rsplit('/').next().unwrap_or(path);
    let extension = path.rsplit_once('.').map_or("", |(_, extension)| extension);
    let folders = || path.split('/').rev().skip(1);
    FileKind {
        is_test: is_test_path(path),
        is_document: is_document(file.language())
            || matches!(extension, "md" | "rst" | "txt" | "adoc" | "html" | "mdx")
            || folders().any(|part| matches!(part, "docs" | "doc")),
        is_copy: file.flags().contains(FileFlags::GENERATED)
            || file.source().is_some()
            || folders().any(|part| COPIES.contains(&part)),
        is_example: folders().any(|part| EXAMPLES.contains(&part)),
        is_configuration: CONFIGURATIONS.contains(&extension) || CONFIGURATION_NAMES.contains(&name),
    }
}

/// Extensions of what is no code but tells programs what to do.
const CONFIGURATIONS: &[&str] = &[
    "ac", "am", "bat", "cfg", "cmake", "csproj", "gemspec", "gradle", "ini", "json", "lock", "mod", "neon", "nix",
    "props", "sln", "sum", "targets", "toml", "xml", "yaml", "yml",
];
const CONFIGURATION_NAMES: &[&str] = &[
    "CMakeLists.txt",
    "Dockerfile",
    "Gemfile",
    "Makefile",
    "Rakefile",
    "mix.exs",
    "noxfile.py",
    "setup.py",
];

/// Folders of what is generated, built, or of another project.
const COPIES: &[&str] = &[
    "_vendor",
    "dist",
    "extern",
    "external",
    "generated",
    "node_modules",
    "single_include",
    "third_party",
    "thirdparty",
    "vendor",
    "vendored",
];

/// Folders of what shows how code is used.
const EXAMPLES: &[&str] = &[
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "demo",
    "demos",
    "example",
    "examples",
    "playground",
    "sample",
    "samples",
    "tutorial",
];
