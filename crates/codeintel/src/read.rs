//! `read`: source as clients' own Read prints it, by symbol, by path, by ranges of lines, several at once.
//!
//! Read from the tree as it is now: where a file changed since it was indexed, its definitions are found again in the text that is there.
//! What is large comes as a skeleton, one line for each member with its range, and opens by a second call; what does not fit under the
//! ceiling is named with the call that goes on.

mod excerpt;
mod goal;
mod target;
mod text;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};
use wire::tokens::Tokenizer;

pub use text::LAYOUT;

use self::excerpt::Opened;
use crate::error::QuestionError;
use crate::workspace::Workspace;

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Read {
    /// Symbols (name, Owner.name, id), path, path:10-50 or path:10-30,80-95; one or several.
    #[serde(deserialize_with = "one_or_several")]
    pub what: Vec<String>,
    /// Words: keep only the lines that serve them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub goal: Option<String>,
    /// All lines of what is large, instead of its skeleton.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub whole: bool,
}

/// A list, or one text that stands for a list of itself.
fn one_or_several<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<String>, D::Error> {
    struct Several;
    impl<'de> serde::de::Visitor<'de> for Several {
        type Value = Vec<String>;
        fn expecting(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            formatter.write_str("a text or a list of texts")
        }
        fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<Vec<String>, E> {
            Ok(vec![text.to_owned()])
        }
        fn visit_seq<A: serde::de::SeqAccess<'de>>(self, mut items: A) -> Result<Vec<String>, A::Error> {
            let mut texts = Vec::new();
            while let Some(text) = items.next_element()? {
                texts.push(text);
            }
            Ok(texts)
        }
    }
    deserializer.deserialize_any(Several)
}

/// What was read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct ReadFound {
    /// In the order they were asked for.
    pub excerpts: Vec<Shown>,
    /// What could not be read, and why.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// What the ceiling left out, as it is asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
}

/// A stretch of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Shown {
    /// The file.
    pub path: String,
    /// First line of the stretch.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// The symbol that it is, as `Owner.name`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Numbered lines, `number<TAB>text`; a lone `…` where lines between were left out; members of a skeleton as `first-last  text`.
    pub source: String,
    /// What else must be known: that it is a skeleton, that others have the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// Most things of one call.
const MOST: usize = 50;
/// Kept for headings, problems and what is left out.
const ASIDE: usize = 120;

/// Source, at most `max_tokens` of it.
pub fn read(workspace: &Workspace, ask: &Read, max_tokens: usize) -> Result<ReadFound, QuestionError> {
    if ask.what.is_empty() || ask.what.len() > MOST {
        return Err(QuestionError::Argument {
            name: "what",
            problem: format!("expected 1 to {MOST} symbols or paths, not {}", ask.what.len()),
        });
    }
    let mut found = ReadFound::default();
    let mut opened: Vec<Opened> = Vec::new();
    let mut first_error = None;
    for asked in &ask.what {
        match target::open(workspace, asked) {
            Ok(several) => opened.extend(several),
            Err(error) => {
                found.problems.push(error.to_string());
                first_error.get_or_insert(error);
            }
        }
    }
    // One thing that cannot be read is an error; of several the others are worth having.
    if let (true, Some(error)) = (opened.is_empty(), first_error) {
        return Err(error);
    }
    excerpt::join(&mut opened);
    let mut room = max_tokens.saturating_sub(ASIDE);
    for stretch in &opened {
        let shown = stretch.show(ask, room);
        match shown {
            Some((shown, rest)) => {
                room = room.saturating_sub(cost(&shown));
                found.left_out.extend(rest);
                found.excerpts.push(shown);
            }
            None => found.left_out.push(stretch.place(stretch.first)),
        }
    }
    Ok(found)
}

fn cost(shown: &Shown) -> usize {
    Tokenizer::O200k.count(&shown.source) + Tokenizer::O200k.count(&shown.path) + 12
}
