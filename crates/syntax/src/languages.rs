//! The registry: every language with its grammar, its rules and the file names it goes by.
//!
//! One entry per language, one folder per language: `languages/<name>/rules.toml` says what each node of the grammar
//! means, `languages/<name>/mod.rs` exists only where the table cannot say it. Detection needs no grammar and compiles no
//! rules; both happen on first use.

mod c;
mod cpp;
mod csharp;
#[cfg(feature = "broad")]
mod elixir;
mod go;
#[cfg(feature = "broad")]
mod hcl;
mod html;
mod java;
mod javascript;
#[cfg(feature = "broad")]
mod julia;
mod kotlin;
#[cfg(feature = "broad")]
mod lua;
mod php;
mod python;
mod ruby;
mod rust;
#[cfg(feature = "broad")]
mod scala;
#[cfg(test)]
mod tables;
mod tokens;

use crate::engine::{Hooks, Rules, guarded};
use crate::grammars;
use std::sync::OnceLock;
use tree_sitter_language::LanguageFn;

/// How much is known of a language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Depth {
    /// Imports, scopes, receiver types, inheritance, values, tests.
    Deep,
    /// Definitions, references, imports, documentation.
    Broad,
}

/// How comments are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Comments {
    /// Starts a comment that ends with the line.
    pub line: Option<&'static str>,
    /// Starts and ends a comment that may span lines.
    pub block: Option<(&'static str, &'static str)>,
}

/// Where the parsed text stands in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Embedding {
    /// The whole file is in this language.
    Whole,
    /// Only what stands inside `<script>` elements is.
    Scripts,
    /// All but the conditionals that cut through statements.
    Settled,
    /// All but those and the macros that decorate its declarations.
    Undecorated,
    /// The whole file, and what macros hold is parsed again.
    Macros,
}

/// One language.
pub struct Language {
    name: &'static str,
    depth: Depth,
    comments: Comments,
    extensions: &'static [&'static str],
    file_names: &'static [&'static str],
    shebangs: &'static [&'static str],
    pub(crate) embedding: Embedding,
    grammar: LanguageFn,
    guarded: OnceLock<tree_sitter::Language>,
    rules_text: &'static str,
    pub(crate) hooks: &'static dyn Hooks,
    rules: OnceLock<Rules>,
}

impl Language {
    /// Its key: `python`, `typescript`, `tsx`, …
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// How much is known of it.
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// How its comments are written.
    pub fn comments(&self) -> Comments {
        self.comments
    }

    /// The file extensions it goes by, lowercase, without the dot.
    pub fn extensions(&self) -> &'static [&'static str] {
        self.extensions
    }

    pub(crate) fn grammar(&self) -> tree_sitter::Language {
        self.guarded.get_or_init(|| guarded(self.grammar)).clone()
    }

    pub(crate) fn rules(&self) -> &Rules {
        self.rules
            .get_or_init(|| Rules::compile(self.name, self.rules_text, &self.grammar()))
    }
}

impl std::fmt::Debug for Language {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_tuple("Language").field(&self.name).finish()
    }
}

impl PartialEq for Language {
    fn eq(&self, other: &Language) -> bool {
        self.name == other.name
    }
}

impl Eq for Language {}

/// Every language.
pub fn all() -> &'static [Language] {
    &LANGUAGES
}

/// The language called `name`.
pub fn by_name(name: &str) -> Option<&'static Language> {
    LANGUAGES.iter().find(|language| language.name == name)
}

/// The language of the file at `path`, from its name, its extension or, failing both, the `#!` line in `head` (its first
/// bytes). `None` for files that no grammar reads.
pub fn detect(path: &str, head: &[u8]) -> Option<&'static Language> {
    let file_name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    if let Some(language) = LANGUAGES
        .iter()
        .find(|language| language.file_names.contains(&file_name))
    {
        return Some(language);
    }
    if let Some((stem, extension)) = file_name.rsplit_once('.') {
        let extension = extension.to_ascii_lowercase();
        let by_extension = LANGUAGES
            .iter()
            .find(|language| language.extensions.contains(&extension.as_str()));
        match by_extension {
            // Headers are C unless they say otherwise in words that C does not have.
            Some(language) if extension == "h" && language.name == "c" && looks_like_cpp(head) => {
                return by_name("cpp");
            }
            // Translations of Qt have the extension of TypeScript.
            Some(language) if extension == "ts" && language.name == "typescript" && is_translation(head) => {
                return None;
            }
            Some(language) => return Some(language),
            None => {}
        }
        // `Dockerfile.dev`, `Makefile.am`.
        if let Some(language) = LANGUAGES.iter().find(|language| language.file_names.contains(&stem)) {
            return Some(language);
        }
    }
    by_shebang(head)
}

fn by_shebang(head: &[u8]) -> Option<&'static Language> {
    let line = head.strip_prefix(b"#!")?;
    let line = &line[..memchr::memchr(b'\n', line).unwrap_or(line.len()).min(200)];
    let line = std::str::from_utf8(line).ok()?;
    let mut words = line
        .split_whitespace()
        .filter(|word| !word.starts_with('-') && !word.contains('='));
    let mut program = words.next()?.rsplit('/').next()?;
    if program == "env" {
        program = words.next()?.rsplit('/').next()?;
    }
    let program = program.trim_end_matches(|letter: char| letter.is_ascii_digit() || letter == '.');
    LANGUAGES.iter().find(|language| language.shebangs.contains(&program))
}

/// Whether a text is one of the XML files that Qt's `lupdate` writes.
fn is_translation(head: &[u8]) -> bool {
    let text = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head).trim_ascii_start();
    [&b"<?xml"[..], b"<!DOCTYPE TS", b"<TS "]
        .iter()
        .any(|start| text.starts_with(start))
}

fn looks_like_cpp(head: &[u8]) -> bool {
    [
        "\nclass ",
        "\nnamespace ",
        "\ntemplate",
        "public:",
        "private:",
        "std::",
        "#include <string>",
        "#include <vector>",
    ]
    .iter()
    .any(|word| memchr::memmem::find(head, word.as_bytes()).is_some())
}

macro_rules! languages {
    ($($(#[$attribute:meta])* $name:literal {
        depth: $depth:ident, extensions: [$($extension:literal),*]
        $(, file_names: [$($file_name:literal),*])? $(, shebangs: [$($shebang:literal),*])?
        $(, line: $line:literal)? $(, block: $block:expr)? $(, embedding: $embedding:ident)?,
        grammar: $grammar:expr, rules: $rules:literal $(, hooks: $hooks:expr)? $(,)?
    })*) => {
        const COUNT: usize = [$($(#[$attribute])* $name),*].len();

        static LANGUAGES: [Language; COUNT] = [$($(#[$attribute])* Language {
            name: $name,
            depth: Depth::$depth,
            comments: Comments { line: first!([$($line)?]), block: first!([$($block)?]) },
            extensions: &[$($extension),*],
            file_names: &[$($($file_name),*)?],
            shebangs: &[$($($shebang),*)?],
            embedding: embedding!($($embedding)?),
            grammar: $grammar,
            guarded: OnceLock::new(),
            rules_text: include_str!(concat!("languages/", $rules, "/rules.toml")),
            hooks: hooks!($($hooks)?),
            rules: OnceLock::new(),
        }),*];
    };
}

macro_rules! first {
    ([]) => {
        None
    };
    ([$value:expr]) => {
        Some($value)
    };
}

macro_rules! embedding {
    () => {
        Embedding::Whole
    };
    ($embedding:ident) => {
        Embedding::$embedding
    };
}

macro_rules! hooks {
    () => {
        &crate::engine::NoHooks
    };
    ($hooks:expr) => {
        &$hooks
    };
}

const C_BLOCK: (&str, &str) = ("/*", "*/");

/// As many grammars as have a guard around their scanner (`scanners.c`).
const _: () = assert!(COUNT <= 64, "SCANNERS in scanners.c is too small");

languages! {
    "c" {
        depth: Deep, extensions: ["c", "h"], line: "//", block: C_BLOCK, embedding: Undecorated,
        grammar: tree_sitter_c::LANGUAGE, rules: "c", hooks: c::C,
    }
    "cpp" {
        depth: Deep, extensions: ["cpp", "cc", "cxx", "c++", "hpp", "hh", "hxx", "h++", "ipp", "tpp", "inl", "cu", "cuh", "ixx", "cppm"],
        line: "//", block: C_BLOCK, embedding: Undecorated,
        grammar: grammars::CPP, rules: "cpp", hooks: cpp::Cpp,
    }
    "csharp" {
        depth: Deep, extensions: ["cs", "csx"], line: "//", block: C_BLOCK, embedding: Settled,
        grammar: grammars::C_SHARP, rules: "csharp", hooks: csharp::CSharp,
    }
    "go" {
        depth: Deep, extensions: ["go"], line: "//", block: C_BLOCK,
        grammar: tree_sitter_go::LANGUAGE, rules: "go", hooks: go::Go,
    }
    "java" {
        depth: Deep, extensions: ["java"], line: "//", block: C_BLOCK,
        grammar: tree_sitter_java::LANGUAGE, rules: "java", hooks: java::Java,
    }
    "javascript" {
        depth: Deep, extensions: ["js", "mjs", "cjs", "jsx"], shebangs: ["node", "nodejs", "bun"], line: "//", block: C_BLOCK,
        grammar: tree_sitter_javascript::LANGUAGE, rules: "javascript", hooks: javascript::JavaScript,
    }
    "kotlin" {
        depth: Deep, extensions: ["kt", "kts"], line: "//", block: C_BLOCK,
        grammar: grammars::KOTLIN, rules: "kotlin", hooks: kotlin::Kotlin,
    }
    "php" {
        depth: Deep, extensions: ["php", "phtml", "inc"], shebangs: ["php"], line: "//", block: C_BLOCK,
        grammar: tree_sitter_php::LANGUAGE_PHP, rules: "php", hooks: php::Php,
    }
    "python" {
        depth: Deep, extensions: ["py", "pyi", "pyw"], shebangs: ["python", "pypy"], line: "#",
        grammar: tree_sitter_python::LANGUAGE, rules: "python", hooks: python::Python,
    }
    "ruby" {
        depth: Deep, extensions: ["rb", "rake", "gemspec", "ru"], file_names: ["Rakefile", "Gemfile"], shebangs: ["ruby"], line: "#",
        block: ("=begin", "=end"),
        grammar: grammars::RUBY, rules: "ruby", hooks: ruby::Ruby,
    }
    "rust" {
        depth: Deep, extensions: ["rs"], line: "//", block: C_BLOCK, embedding: Macros,
        grammar: tree_sitter_rust::LANGUAGE, rules: "rust", hooks: rust::Rust,
    }
    "svelte" {
        depth: Deep, extensions: ["svelte"], block: ("<!--", "-->"), embedding: Scripts,
        grammar: tree_sitter_typescript::LANGUAGE_TYPESCRIPT, rules: "javascript", hooks: javascript::JavaScript,
    }
    "tsx" {
        depth: Deep, extensions: ["tsx"], line: "//", block: C_BLOCK,
        grammar: tree_sitter_typescript::LANGUAGE_TSX, rules: "javascript", hooks: javascript::JavaScript,
    }
    "typescript" {
        depth: Deep, extensions: ["ts", "mts", "cts"], shebangs: ["deno", "ts-node", "tsx"], line: "//", block: C_BLOCK,
        grammar: tree_sitter_typescript::LANGUAGE_TYPESCRIPT, rules: "javascript", hooks: javascript::JavaScript,
    }
    "vue" {
        depth: Deep, extensions: ["vue"], block: ("<!--", "-->"), embedding: Scripts,
        grammar: tree_sitter_typescript::LANGUAGE_TYPESCRIPT, rules: "javascript", hooks: javascript::JavaScript,
    }
    #[cfg(feature = "broad")]
    "bash" {
        depth: Broad, extensions: ["sh", "bash", "zsh", "ksh"], file_names: [".bashrc", ".zshrc", ".profile", "PKGBUILD"], shebangs: ["sh", "bash", "zsh", "dash", "ksh"], line: "#",
        grammar: tree_sitter_bash::LANGUAGE, rules: "bash",
    }
    #[cfg(feature = "broad")]
    "cmake" {
        depth: Broad, extensions: ["cmake"], file_names: ["CMakeLists.txt"], line: "#", block: ("#[[", "]]"),
        grammar: tree_sitter_cmake::LANGUAGE, rules: "cmake",
    }
    #[cfg(feature = "broad")]
    "css" {
        depth: Broad, extensions: ["css", "scss"], block: C_BLOCK,
        grammar: tree_sitter_css::LANGUAGE, rules: "css",
    }
    #[cfg(feature = "broad")]
    "dart" {
        depth: Broad, extensions: ["dart"], line: "//", block: C_BLOCK,
        grammar: tree_sitter_dart::LANGUAGE, rules: "dart",
    }
    #[cfg(feature = "broad")]
    "dockerfile" {
        depth: Broad, extensions: ["dockerfile", "containerfile"], file_names: ["Dockerfile", "Containerfile"], line: "#",
        grammar: tree_sitter_containerfile::LANGUAGE, rules: "dockerfile",
    }
    #[cfg(feature = "broad")]
    "elixir" {
        depth: Broad, extensions: ["ex", "exs"], shebangs: ["elixir"], line: "#",
        grammar: tree_sitter_elixir::LANGUAGE, rules: "elixir", hooks: elixir::Elixir,
    }
    #[cfg(feature = "broad")]
    "graphql" {
        depth: Broad, extensions: ["graphql", "gql", "graphqls"], line: "#",
        grammar: tree_sitter_graphql::LANGUAGE, rules: "graphql",
    }
    #[cfg(feature = "broad")]
    "haskell" {
        depth: Broad, extensions: ["hs"], shebangs: ["runhaskell"], line: "--", block: ("{-", "-}"),
        grammar: grammars::HASKELL, rules: "haskell",
    }
    #[cfg(feature = "broad")]
    "hcl" {
        depth: Broad, extensions: ["hcl", "tf", "tfvars"], line: "#", block: C_BLOCK,
        grammar: tree_sitter_hcl::LANGUAGE, rules: "hcl", hooks: hcl::Hcl,
    }
    #[cfg(feature = "broad")]
    "html" {
        depth: Broad, extensions: ["html", "htm", "xhtml"], block: ("<!--", "-->"),
        grammar: tree_sitter_html::LANGUAGE, rules: "html", hooks: html::Html,
    }
    #[cfg(feature = "broad")]
    "json" {
        depth: Broad, extensions: ["json", "jsonc", "json5"], file_names: [".eslintrc", ".babelrc", ".prettierrc"],
        grammar: tree_sitter_json::LANGUAGE, rules: "json",
    }
    #[cfg(feature = "broad")]
    "julia" {
        depth: Broad, extensions: ["jl"], shebangs: ["julia"], line: "#", block: ("#=", "=#"),
        grammar: grammars::JULIA, rules: "julia", hooks: julia::Julia,
    }
    #[cfg(feature = "broad")]
    "lua" {
        depth: Broad, extensions: ["lua"], shebangs: ["lua", "luajit"], line: "--", block: ("--[[", "]]"),
        grammar: tree_sitter_lua::LANGUAGE, rules: "lua", hooks: lua::Lua,
    }
    #[cfg(feature = "broad")]
    "make" {
        depth: Broad, extensions: ["mk", "mak"], file_names: ["Makefile", "makefile", "GNUmakefile"], line: "#",
        grammar: tree_sitter_make::LANGUAGE, rules: "make",
    }
    #[cfg(feature = "broad")]
    "markdown" {
        depth: Broad, extensions: ["md", "markdown"], block: ("<!--", "-->"),
        grammar: tree_sitter_md::LANGUAGE, rules: "markdown",
    }
    #[cfg(feature = "broad")]
    "ocaml" {
        depth: Broad, extensions: ["ml"], block: ("(*", "*)"),
        grammar: grammars::OCAML, rules: "ocaml",
    }
    #[cfg(feature = "broad")]
    "proto" {
        depth: Broad, extensions: ["proto"], line: "//", block: C_BLOCK,
        grammar: tree_sitter_proto::LANGUAGE, rules: "proto",
    }
    #[cfg(feature = "broad")]
    "r" {
        depth: Broad, extensions: ["r"], shebangs: ["Rscript"], line: "#",
        grammar: tree_sitter_r::LANGUAGE, rules: "r",
    }
    #[cfg(feature = "broad")]
    "scala" {
        depth: Broad, extensions: ["scala", "sc", "sbt"], line: "//", block: C_BLOCK,
        grammar: grammars::SCALA, rules: "scala", hooks: scala::Scala,
    }
    #[cfg(feature = "broad")]
    "sql" {
        depth: Broad, extensions: ["sql", "ddl", "psql"], line: "--", block: C_BLOCK,
        grammar: tree_sitter_sequel::LANGUAGE, rules: "sql",
    }
    #[cfg(feature = "broad")]
    "swift" {
        depth: Broad, extensions: ["swift"], shebangs: ["swift"], line: "//", block: C_BLOCK,
        grammar: grammars::SWIFT, rules: "swift",
    }
    #[cfg(feature = "broad")]
    "toml" {
        depth: Broad, extensions: ["toml"], file_names: ["Cargo.lock", "Pipfile", "poetry.lock", "uv.lock"], line: "#",
        grammar: tree_sitter_toml_ng::LANGUAGE, rules: "toml",
    }
    #[cfg(feature = "broad")]
    "yaml" {
        depth: Broad, extensions: ["yaml", "yml"], file_names: [".clang-format"], line: "#",
        grammar: tree_sitter_yaml::LANGUAGE, rules: "yaml",
    }
    #[cfg(feature = "broad")]
    "zig" {
        depth: Broad, extensions: ["zig", "zon"], line: "//",
        grammar: tree_sitter_zig::LANGUAGE, rules: "zig",
    }
}
