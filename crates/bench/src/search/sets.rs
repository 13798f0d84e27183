//! What is searched and asked: the code and the questions that ship with the program, CoSQA, and pairs of documentation and code.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use anyhow::{Context, anyhow};
use index::snapshot::{Snapshot, SymbolView};
use serde_json::Value;
use syntax::facts::Kind;
use terminal::failure::{Explain, Failure};
use terminal::input::read_file;

/// Files with questions about them.
pub(super) struct Set {
    pub(super) name: String,
    pub(super) answered_by: AnsweredBy,
    /// Path and text.
    pub(super) files: Vec<(String, String)>,
    pub(super) questions: Vec<Asked>,
}

/// A question with what answers it: symbol ids or paths.
pub(super) struct Asked {
    pub(super) text: String,
    pub(super) answers: Vec<String>,
}

/// What of a hit is the answer.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AnsweredBy {
    /// A file: it holds one function.
    File,
    Symbol,
}

impl AnsweredBy {
    pub(super) fn place(self, symbol: SymbolView<'_>) -> String {
        match self {
            AnsweredBy::File => symbol.path().to_string(),
            AnsweredBy::Symbol => symbol.id_string(),
        }
    }
}

/// Questions of a set of pairs that are asked.
const ASKED: usize = 1000;

/// The corpus of `crates/index/tests/data`, on whose questions the tests keep a floor.
const CORPUS: [&str; 12] = [
    include_str!("../../../index/tests/data/corpus/c.txt"),
    include_str!("../../../index/tests/data/corpus/cpp.txt"),
    include_str!("../../../index/tests/data/corpus/csharp.txt"),
    include_str!("../../../index/tests/data/corpus/go.txt"),
    include_str!("../../../index/tests/data/corpus/java.txt"),
    include_str!("../../../index/tests/data/corpus/javascript.txt"),
    include_str!("../../../index/tests/data/corpus/kotlin.txt"),
    include_str!("../../../index/tests/data/corpus/php.txt"),
    include_str!("../../../index/tests/data/corpus/python.txt"),
    include_str!("../../../index/tests/data/corpus/ruby.txt"),
    include_str!("../../../index/tests/data/corpus/rust.txt"),
    include_str!("../../../index/tests/data/corpus/typescript.txt"),
];
const QUESTIONS: &str = include_str!("../../../index/tests/data/questions.toml");

/// The built-in code, asked the half of the questions that ranking is tuned on and the half that is only measured.
pub(super) fn built_in() -> Result<Vec<Set>, Failure> {
    let mut files: Vec<(String, String)> = Vec::new();
    for line in CORPUS.into_iter().flat_map(str::lines) {
        match (line.strip_prefix("//- "), files.last_mut()) {
            (Some(path), _) => files.push((path.to_string(), String::new())),
            (None, Some((_, text))) => {
                text.push_str(line);
                text.push('\n');
            }
            (None, None) => return Err(anyhow!("the built-in code has text before its first file").into()),
        }
    }
    let halves: BTreeMap<String, BTreeMap<String, Vec<String>>> =
        toml::from_str(QUESTIONS).context("the built-in questions")?;
    let set = |(name, questions): (String, BTreeMap<String, Vec<String>>)| Set {
        name: format!("built-in, {}", name.replace('_', " ")),
        answered_by: AnsweredBy::Symbol,
        files: files.clone(),
        questions: questions
            .into_iter()
            .map(|(text, answers)| Asked { text, answers })
            .collect(),
    };
    // By name, the held-out half would come first.
    Ok(halves.into_iter().rev().map(set).collect())
}

/// CoSQA's functions, each in a file of its own.
pub(super) fn cosqa(functions: &Path, questions: &Path) -> Result<Set, Failure> {
    let hint = "`--functions` and `--questions` name CoSQA's `code_idx_map.txt` and `cosqa-dev.json`";
    let read = |path: &Path| read_file(path).hint(hint);
    let numbers: HashMap<String, u64> = serde_json::from_str(&read(functions)?)
        .with_context(|| format!("cannot read the functions in `{}`", functions.display()))
        .bad_input()?;
    let asked: Vec<Value> = serde_json::from_str(&read(questions)?)
        .with_context(|| format!("cannot read the questions in `{}`", questions.display()))
        .bad_input()?;
    let mut set = Set {
        name: "CoSQA development".to_string(),
        answered_by: AnsweredBy::File,
        files: Vec::new(),
        questions: Vec::new(),
    };
    let mut by_number: Vec<(u64, String)> = numbers.into_iter().map(|(code, number)| (number, code)).collect();
    by_number.sort_unstable();
    for question in &asked {
        let answer = question["retrieval_idx"].as_u64().unwrap_or(u64::MAX);
        if by_number.binary_search_by_key(&answer, |(number, _)| *number).is_err() {
            return Err(anyhow!("no function has the number {answer}")).bad_input();
        }
        set.questions.push(Asked {
            text: question["doc"].as_str().unwrap_or_default().to_string(),
            answers: vec![path_of(answer, "py")],
        });
    }
    set.files = by_number
        .into_iter()
        .map(|(number, code)| (path_of(number, "py"), code))
        .collect();
    Ok(set)
}

/// Documentation as the question, the code it documents as the answer.
pub(super) fn pairs(path: &Path) -> Result<Set, Failure> {
    let name = path.file_stem().map_or("pairs".into(), |name| name.to_string_lossy());
    let extension = match &*name {
        "python" => "py",
        "javascript" => "js",
        "typescript" => "ts",
        "rust" => "rs",
        "ruby" => "rb",
        other => other,
    };
    let mut set = Set {
        name: name.to_string(),
        answered_by: AnsweredBy::File,
        files: Vec::new(),
        questions: Vec::new(),
    };
    let text = read_file(path).hint("`--pairs` names a file of lines `{\"doc\": …, \"code\": …}`")?;
    for (number, line) in text.lines().enumerate() {
        let pair: Value = serde_json::from_str(line)
            .with_context(|| format!("cannot read line {} of `{}`", number + 1, path.display()))
            .bad_input()?;
        let text = |name: &str| pair[name].as_str().unwrap_or_default().to_string();
        let place = path_of(number as u64, extension);
        if set.questions.len() < ASKED {
            set.questions.push(Asked {
                text: text("doc"),
                answers: vec![place.clone()],
            });
        }
        // PHP is told from text by its tag.
        let code = match extension {
            "php" => format!("<?php\n{}", text("code")),
            _ => text("code"),
        };
        set.files.push((place, code));
    }
    Ok(set)
}

/// Where a function of a set of functions is written.
fn path_of(number: u64, extension: &str) -> String {
    format!("{:02}/{number}.{extension}", number % 100)
}

/// What standard BM25 ranks: the files, or the functions in them with their documentation.
pub(super) fn documents(set: &Set, snapshot: &Snapshot) -> Vec<(String, String)> {
    if set.answered_by == AnsweredBy::File {
        return set.files.clone();
    }
    let texts: HashMap<&str, &str> = set.files.iter().map(|(path, text)| (&**path, &**text)).collect();
    let functions = snapshot
        .symbols()
        .filter(|symbol| matches!(symbol.kind(), Kind::Function | Kind::Method | Kind::Constructor));
    functions
        .filter_map(|symbol| {
            let (text, span) = (texts.get(symbol.path())?, symbol.span());
            let part = |range: std::ops::Range<u32>| text.get(range.start as usize..range.end as usize);
            let documentation = symbol.doc_span().and_then(part).unwrap_or_default();
            let code = part(span.start..span.end)?;
            Some((symbol.id_string(), format!("{documentation}\n{code}")))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::built_in;

    /// The binary holds what the tests of `index` measure.
    #[test]
    fn the_built_in_set_is_whole() {
        let corpus = concat!(env!("CARGO_MANIFEST_DIR"), "/../index/tests/data/corpus");
        let mut files = 0;
        for entry in std::fs::read_dir(corpus).unwrap() {
            let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
            files += text.lines().filter(|line| line.starts_with("//- ")).count();
        }
        let sets = built_in().unwrap();
        assert_eq!(sets.len(), 2);
        assert_eq!(sets[0].name, "built-in, tuning");
        for set in sets {
            assert_eq!(set.files.len(), files);
            assert!(set.questions.len() >= 60, "{}", set.questions.len());
        }
    }
}
