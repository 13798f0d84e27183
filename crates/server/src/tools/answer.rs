//! One call, from its arguments to the text that is sent: which repositories, the question, the etag, the format, the size.
//!
//! The one trick of the size: an answer that costs too much is asked for again with less, so that totals and
//! cursors come from the question itself and are right by construction. Tokens are counted in the text as it is sent.

use std::cell::RefCell;
use std::sync::Arc;

use codeintel::Workspace;
use codeintel::source::etag;
use serde_json::{Map, Value, json};
use wire::layout::Layout;
use wire::protocol::{Refusal, RequestError, Target, UNKNOWN_REPO, decode_tool_request, encode_error};
use wire::tokens::Tokenizer;
use wire::{Encoded, Format};

use super::{Cut, Desk, Finished, Reply, Tool, Wish, deltas, descriptors, masks, refusal, schema, scope};
use crate::sessions::Account;

/// What is sent.
#[derive(Debug, Clone, PartialEq)]
pub struct Said {
    /// The answer, in `format`.
    pub text: String,
    /// Never [`Format::Auto`].
    pub format: Format,
    /// How to go on, where the answer was cut and has no place to say so.
    pub note: Option<String>,
}

/// Arguments that every tool takes, taken out of a call's.
#[derive(Clone)]
struct Common {
    format: Format,
    max_tokens: usize,
    if_none_match: Option<String>,
    repo: Option<Value>,
}

/// Fewest tokens that can be asked for: below, not even an empty answer fits.
const FEWEST_TOKENS: usize = 50;

/// What separates a row from the next, and its parts.
const LEAST_TOKENS_OF_ROW: usize = 2;

/// An answer that is about so many times too large is not written down in every format only to see it, which would take longest of
/// all. Where that was wrong it is found out: the whole is tried as well then.
const SURELY: usize = 2;

/// An answer within this part of what was allowed is large enough: the last few rows are not worth asking again.
const NEARLY: usize = 25;

/// Answers one call. `format` is what holds where the call does not say.
pub fn answer(tool: &Tool, desk: &Desk, mut arguments: Map<String, Value>, format: Format) -> Result<Said, Refusal> {
    let common = Common::take(tool, &mut arguments, format)?;
    masks::refuse_masks(tool, desk, &arguments)?;
    if let Some(conversation) = desk.wish.conversation {
        let unknown = |reference| {
            conversation.reset();
            let message =
                format!("`{reference}` refers to nothing that was sent here: answers come in full again; give the id");
            refusal("unknown_reference", message)
        };
        conversation.resolve(&mut arguments).map_err(unknown)?;
        if common.if_none_match.is_none() && !arguments.contains_key("pack_root") {
            conversation.called(tool.name, &arguments);
        }
    }
    let workspace = desk.workspace.with_own_remarks();
    let desk = &Desk {
        workspace: &workspace,
        ..*desk
    };
    let said = match schema::several(tool, &arguments) {
        Some((word, symbols)) if !tool.writes => each(tool, desk, &arguments, &common, word, symbols)?,
        _ => asked(tool, desk, &arguments, &common).map_err(|refusal| not_yet(refusal, desk.workspace))?,
    };
    Ok(noticed(with_remarks(said, &workspace), desk))
}

/// One answer for each of several symbols, one below the other; a list of values in JSON.
fn each(
    tool: &Tool,
    desk: &Desk,
    arguments: &Map<String, Value>,
    common: &Common,
    word: &str,
    symbols: Vec<Value>,
) -> Result<Said, Refusal> {
    const MOST: usize = 10;
    if symbols.len() > MOST {
        let message = format!("argument `{word}`: at most {MOST} symbols in one call");
        return Err(refusal("invalid_argument", message));
    }
    let share = Common {
        max_tokens: (common.max_tokens / symbols.len()).max(FEWEST_TOKENS),
        if_none_match: None,
        ..common.clone()
    };
    let mut texts = Vec::new();
    let mut formats = Vec::new();
    let mut notes = Vec::new();
    for symbol in symbols {
        let mut arguments = arguments.clone();
        arguments.insert(word.to_owned(), symbol);
        match asked(tool, desk, &arguments, &share).map_err(|refusal| not_yet(refusal, desk.workspace)) {
            Ok(said) => {
                texts.push(said.text);
                formats.push(said.format);
                notes.extend(said.note);
            }
            // The others are answered all the same.
            Err(refusal) => texts.push(refused(&refusal, common.format)),
        }
    }
    let note = (!notes.is_empty()).then(|| notes.join("\n"));
    let Encoded { text, format } = together(tool, texts, &formats, common.format)?;
    Ok(Said { text, format, note })
}

/// Several answers as one text, which is read like any other where each of them is.
fn together(tool: &Tool, texts: Vec<String>, formats: &[Format], asked: Format) -> Result<Encoded, Refusal> {
    if asked == Format::Json {
        return Ok(Encoded {
            text: format!("{{\"answers\":[{}]}}", texts.join(",")),
            format: asked,
        });
    }
    if formats.len() == texts.len() && formats.iter().all(|format| *format == Format::Lcx) {
        return Ok(Encoded {
            text: wire::joined(&texts),
            format: Format::Lcx,
        });
    }
    let is_for_people = |format: &Format| matches!(format, Format::Text | Format::Markdown);
    // A text that refers to what was sent before says nothing by itself.
    let values: Option<Vec<Value>> = texts.iter().map(|text| wire::decode(text).ok()).collect();
    match values.filter(|_| !formats.is_empty() && !formats.iter().any(is_for_people)) {
        Some(values) => {
            let value = json!({"answers": values});
            encode(&value, &value.to_string(), &Layout::generic(tool.name), asked)
        }
        None => Ok(Encoded {
            text: texts
                .iter()
                .map(|text| text.trim_end())
                .collect::<Vec<_>>()
                .join("\n\n"),
            format: match asked {
                Format::Auto => Format::Text,
                format => format,
            },
        }),
    }
}

/// How the question was understood stands beside the answer, and what the index lacks where the answer has no place for it.
fn with_remarks(said: Said, workspace: &Workspace) -> Said {
    let lacks = workspace
        .incomplete()
        .filter(|lacks| !said.text.contains(lacks.as_str()));
    let lacks = lacks.map(|lacks| format!("incomplete: {lacks}"));
    let notes = said.note.into_iter().chain(workspace.remarks()).chain(lacks);
    let notes: Vec<String> = notes.chain(nearly_empty(workspace, 0)).collect();
    Said {
        note: (!notes.is_empty()).then(|| notes.join("\n")),
        ..said
    }
}

/// The first answer of a server says what a crash had left to be put right. On the command line the log has said it.
fn noticed(said: Said, desk: &Desk) -> Said {
    if desk.services.one_shot {
        return said;
    }
    let notes: Vec<String> = said.note.into_iter().chain(crate::editing::take_notices()).collect();
    Said {
        note: (!notes.is_empty()).then(|| notes.join("\n")),
        ..said
    }
}

/// A server that was started in the wrong place answers from next to nothing, which must not pass for knowledge.
fn nearly_empty(workspace: &Workspace, few: usize) -> Option<String> {
    let repositories = workspace.repositories();
    let files: usize = repositories
        .iter()
        .map(|repository| repository.snapshot.file_count())
        .sum();
    if files > few || repositories.is_empty() {
        return None;
    }
    let roots: Vec<String> = repositories
        .iter()
        .map(|repository| format!("`{}`", repository.root.display()))
        .collect();
    let count = match files {
        0 => "no file".to_string(),
        1 => "one file".to_string(),
        files => format!("{files} files"),
    };
    Some(format!(
        "{} has {count} in a language that Lacon reads; if another project is meant, name its folder (`root`)",
        roots.join(", ")
    ))
}

/// Files of a tree in which a name is most likely looked for in vain.
const FEW: usize = 2;

/// "There is none" is said only of a complete index; of another, what it lacks is said as well.
fn not_yet(refusal: Refusal, workspace: &Workspace) -> Refusal {
    match workspace.incomplete() {
        Some(missing) if matches!(refusal.code.as_str(), "no_such_symbol" | "no_such_file" | UNKNOWN_REPO) => Refusal {
            message: format!("{} (incomplete: {missing}; ask again in a moment)", refusal.message),
            ..refusal
        },
        _ => match nearly_empty(workspace, FEW) {
            Some(remark) if matches!(refusal.code.as_str(), "no_such_symbol" | "no_such_file") => Refusal {
                message: format!("{} ({remark})", refusal.message),
                ..refusal
            },
            _ => refusal,
        },
    }
}

fn asked(tool: &Tool, desk: &Desk, arguments: &Map<String, Value>, common: &Common) -> Result<Said, Refusal> {
    let workspace = scope::narrow(tool, desk.workspace, common.repo.as_ref())?;
    let workspace = &desk.services.told.enrich(workspace);
    let finished = RefCell::new(None);
    let wish = Wish {
        format: common.format,
        max_tokens: common.max_tokens,
        finished: Some(&finished),
        ..desk.wish
    };
    let desk = &Desk {
        workspace,
        wish,
        ..*desk
    };
    let reply = reply(tool, desk, arguments.clone())?;
    if let Some(Finished { texts, format }) = finished.take() {
        note_down(tool, desk, &texts, || reply.value.to_string().into());
        let mut texts = texts.into_iter();
        return Ok(Said {
            text: texts.next().unwrap_or_default(),
            format,
            note: texts.next(),
        });
    }
    let kept = (tool.cut == Cut::Told).then(|| (reply.value.clone(), reply.layout));
    let rows = match tool.cut {
        Cut::Rows => longest(&reply.value),
        _ => None,
    };
    let sums = rows.map(|rows| sums(rows));
    let whole = match sums {
        Some(sums) if sums.last().is_some_and(|about| about / SURELY > common.max_tokens) => Whole {
            size: sums.len() - 1,
            tokens: None,
            sums,
        },
        sums => {
            let whole = said(tool, desk, reply, common, None)?;
            let tokens = whole.tokens();
            if tokens <= common.max_tokens || whole.is_not_modified {
                return Ok(delivered(tool, desk, whole, common));
            }
            Whole {
                size: whole.size,
                tokens: Some(tokens),
                sums: sums.unwrap_or_else(|| (0..=whole.size).collect()),
            }
        }
    };
    match kept {
        Some((value, layout)) => told(tool, desk, Reply { value, layout }, common),
        None => fit(tool, desk, arguments, common, &whole).map(|candidate| delivered(tool, desk, candidate, common)),
    }
}

/// About the tokens of the first rows, for every number of rows: what a table says of them that they do not share.
fn sums(rows: &[Value]) -> Vec<usize> {
    let cost = |(name, value): (&String, &Value)| match value {
        // Of an id only the part below its file, and what repeats it not at all.
        Value::String(id) if matches!(name.as_str(), "id" | "from") => {
            Tokenizer::O200k.estimate(id.rsplit_once("::").map_or(id, |(_, symbol)| symbol))
        }
        _ if name == "name" || name == "path" || name.ends_with("_name") || name.ends_with("_path") => 0,
        Value::String(text) => Tokenizer::O200k.estimate(text),
        Value::Null | Value::Bool(_) => 0,
        Value::Number(_) => 1,
        Value::Array(_) | Value::Object(_) => Tokenizer::O200k.estimate(&value.to_string()),
    };
    let mut sum = 0;
    let mut sums = vec![0];
    sums.extend(rows.iter().map(|row| {
        sum += LEAST_TOKENS_OF_ROW + row.as_object().into_iter().flatten().map(cost).sum::<usize>();
        sum
    }));
    sums
}

/// The last step: what the client holds already is not said again, and what was saved is noted down.
fn delivered(tool: &Tool, desk: &Desk, candidate: Candidate, common: &Common) -> Said {
    let mut said = candidate.said;
    if candidate.is_not_modified {
        return said;
    }
    let json: Arc<str> = candidate.json.into();
    let whole = deltas::Whole {
        value: &candidate.value,
        json: &json,
        said: &said,
    };
    let changes = deltas::since(desk, tool.name, &whole, common.if_none_match.as_deref());
    let referred = desk
        .wish
        .conversation
        .filter(|_| changes.is_none() && !matches!(said.format, Format::Markdown | Format::Text))
        .and_then(|conversation| conversation.refer(&candidate.value, &candidate.layout, &said.text, common.format));
    if let Some(changes) = changes {
        said = changes;
    } else if let Some(referred) = referred {
        let notes: Vec<String> = said.note.into_iter().chain(referred.note).collect();
        said = Said {
            text: referred.text,
            format: referred.format,
            note: (!notes.is_empty()).then(|| notes.join("\n")),
        };
    }
    let texts: Vec<String> = std::iter::once(said.text.clone()).chain(said.note.clone()).collect();
    note_down(tool, desk, &texts, || json);
    said
}

fn note_down(tool: &Tool, desk: &Desk, texts: &[String], json: impl FnOnce() -> Arc<str>) {
    desk.services.memory.ledger.note(|| Account {
        session: etag(&[desk.caller.as_bytes()])[..8].to_string(),
        tool: tool.name,
        texts: texts.to_vec(),
        json: json(),
        workspace: desk.workspace.clone(),
    });
}

/// A refusal as it is sent: the `error` section, or its JSON.
pub(crate) fn refused(refusal: &Refusal, format: Format) -> String {
    let value = json!({"error": {"code": refusal.code, "message": refusal.message, "detail": refusal.detail}});
    let text = match format {
        Format::Auto | Format::Gcx | Format::Lcx => encode_error(refusal).ok(),
        Format::Markdown | Format::Text => Some(format!("**{}**: {}\n", refusal.code, refusal.message)),
        Format::Json | Format::Gcf => wire::encode(&value, &Layout::generic("error"), format, Tokenizer::O200k)
            .ok()
            .map(|encoded| encoded.text),
    };
    text.map_or_else(|| value.to_string(), wire::counted)
}

/// An argument that says what a call is about as the wire protocol does: a `tool_request` section.
const REQUEST: &str = "tool_request";

/// The `repo` that a `tool_request` gives, which must be about this tool.
fn requested(tool: &Tool, request: &Value, repo: Option<Value>) -> Result<Option<Value>, Refusal> {
    let wrong = |problem: String| refusal("invalid_argument", format!("argument `{REQUEST}`: {problem}"));
    let text = request
        .as_str()
        .ok_or_else(|| wrong(format!("expected a text, not {request}")))?;
    let request = decode_tool_request(text).map_err(|error| match error {
        RequestError::Refused(refusal) => refusal,
        RequestError::Text(error) => wrong(error.to_string()),
    })?;
    if request.tool != tool.name {
        return Err(wrong(format!("it calls `{}`, not `{}`", request.tool, tool.name)));
    }
    let scope = request.target.scope();
    if scope != tool.scope {
        let (said, own) = (scope.as_str(), tool.scope.as_str());
        return Err(wrong(format!("`{}` has the scope `{own}`, not `{said}`", tool.name)));
    }
    let target = match request.target {
        Target::Workspace => None,
        Target::Repo(name) => Some(name.into()),
        Target::FanOut(names) => Some(names.into()),
    };
    match repo {
        Some(repo) if Some(&repo) != target.as_ref() => Err(wrong("`repo` says something else".to_string())),
        _ => Ok(target),
    }
}

impl Common {
    fn take(tool: &Tool, arguments: &mut Map<String, Value>, format: Format) -> Result<Common, Refusal> {
        let wrong = |name: &str, problem: String| refusal("invalid_argument", format!("argument `{name}`: {problem}"));
        let format = match arguments.remove("format") {
            None | Some(Value::Null) => match arguments.get("output_format").and_then(Value::as_str) {
                Some("markdown") => Format::Markdown,
                Some("json") => Format::Json,
                _ if format == Format::Auto => descriptors::default_format(tool.name).unwrap_or(format),
                _ => format,
            },
            Some(Value::String(name)) => name.parse().map_err(|error| wrong("format", error))?,
            Some(other) => return Err(wrong("format", format!("expected a name, not {other}"))),
        };
        let max_tokens = match arguments.remove("max_tokens") {
            // A tool that fills a budget may be given more than it takes by itself.
            None | Some(Value::Null) => match arguments.get("budget").and_then(Value::as_u64) {
                Some(budget) => usize::try_from(budget).unwrap_or(usize::MAX),
                None => tool.max_tokens,
            },
            Some(value) => match value.as_u64().or_else(|| value.as_str()?.trim().parse().ok()) {
                Some(tokens) if tokens >= FEWEST_TOKENS as u64 => usize::try_from(tokens).unwrap_or(usize::MAX),
                _ => {
                    return Err(wrong(
                        "max_tokens",
                        format!("expected {FEWEST_TOKENS} or more, not {value}"),
                    ));
                }
            },
        };
        let if_none_match = match arguments.remove("if_none_match") {
            None | Some(Value::Null) => None,
            Some(Value::String(etag)) => Some(etag),
            Some(other) => {
                return Err(wrong(
                    "if_none_match",
                    format!("expected the etag of an earlier answer, not {other}"),
                ));
            }
        };
        // A null is an argument that was left out: clients that fill in every property send it.
        arguments.retain(|_, value| !value.is_null());
        let repo = match arguments.remove(REQUEST) {
            None => arguments.remove("repo"),
            Some(request) => requested(tool, &request, arguments.remove("repo"))?,
        };
        schema::as_meant(tool, arguments);
        if let Some((name, nearest)) = schema::unknown(tool, arguments) {
            let meant = nearest
                .map(|nearest| format!(", did you mean `{nearest}`?"))
                .unwrap_or_default();
            return Err(wrong(&name, format!("`{}` takes no such argument{meant}", tool.name)));
        }
        Ok(Common {
            format,
            max_tokens,
            if_none_match,
            repo,
        })
    }
}

/// What may be sent, and what must be known of it to decide.
struct Candidate {
    said: Said,
    is_not_modified: bool,
    /// Rows, lines or symbols in it.
    size: usize,
    /// What it says.
    value: Value,
    /// The same as compact JSON.
    json: String,
    layout: Layout<'static>,
}

impl Candidate {
    fn tokens(&self) -> usize {
        let note = self.said.note.as_deref().map_or(0, |note| Tokenizer::O200k.count(note));
        Tokenizer::O200k.count(&self.said.text) + note
    }
}

fn reply(tool: &Tool, desk: &Desk, arguments: Map<String, Value>) -> Result<Reply, Refusal> {
    let found = (tool.ask)(desk, arguments);
    // What a question found before it was stopped is no answer; what a tool has done is done all the same.
    match desk.workspace.is_stopped() && !tool.writes {
        true => Err(refusal("cancelled", "the call was cancelled")),
        false => found,
    }
}

fn said(
    tool: &Tool,
    desk: &Desk,
    mut reply: Reply,
    common: &Common,
    note: Option<String>,
) -> Result<Candidate, Refusal> {
    let size = match tool.cut {
        Cut::Lines => ["source", "code"]
            .iter()
            .find_map(|member| reply.value[*member].as_str())
            .map_or(0, |source| source.lines().count()),
        _ => longest(&reply.value).map_or(0, Vec::len),
    };
    let (mut etag, mut json) = stamp(tool, &mut reply);
    if masks::mask_value(desk, &mut reply.value, &json) {
        (etag, json) = stamp(tool, &mut reply);
    }
    let is_not_modified = common.if_none_match.as_deref() == Some(etag.as_str());
    let encoded = match is_not_modified {
        true => {
            let value = json!({"not_modified": true, "etag": etag});
            encode(&value, &value.to_string(), &Layout::generic(tool.name), common.format)?
        }
        false => match own_markdown(tool, &reply.value, common.format) {
            Some(text) => Encoded {
                text,
                format: Format::Markdown,
            },
            None => encode(&reply.value, &json, &reply.layout, common.format)?,
        },
    };
    Ok(Candidate {
        said: Said {
            text: encoded.text,
            format: encoded.format,
            note,
        },
        is_not_modified,
        size,
        value: reply.value,
        json,
        layout: reply.layout,
    })
}

/// The Markdown of a tool that has its own.
fn own_markdown(tool: &Tool, value: &Value, format: Format) -> Option<String> {
    match format {
        Format::Markdown => descriptors::markdown(tool.name, value),
        _ => None,
    }
}

/// Hashes everything in the answer and writes the hash into it, where its layout has a place for it. Gives the hash, and the answer
/// as compact JSON.
fn stamp(tool: &Tool, reply: &mut Reply) -> (String, String) {
    let Some(members) = reply.value.as_object_mut() else {
        return (String::new(), reply.value.to_string());
    };
    members.remove("etag");
    let has_place = reply.layout.is_generic()
        || reply.layout.meta.iter().any(|column| column.name == "etag")
        || reply
            .layout
            .sections
            .iter()
            .any(|section| section.member.is_empty() && section.columns.iter().any(|column| column.name == "etag"));
    let mut json = serde_json::to_string(members).unwrap_or_default();
    let etag = short_etag(&etag(&[tool.name.as_bytes(), json.as_bytes()]));
    if has_place {
        // A new member stands last, so the text need not be written again.
        let comma = if members.is_empty() { "" } else { "," };
        json.truncate(json.len().saturating_sub(1));
        json.push_str(&format!(r#"{comma}"etag":"{etag}"}}"#));
        members.insert("etag".into(), etag.clone().into());
    }
    (etag, json)
}

/// Nine digits, of which tokenizers take three at once: a model reads it and pays for it. It guards against change, not against
/// forgery. The letter keeps formats that tell numbers from texts from quoting it.
fn short_etag(hash: &str) -> String {
    let number = hash.get(..15).and_then(|digits| u64::from_str_radix(digits, 16).ok());
    format!("e{:09}", number.unwrap_or_default() % 1_000_000_000)
}

fn encode(value: &Value, json: &str, layout: &Layout, format: Format) -> Result<Encoded, Refusal> {
    wire::encode_answer(value, json, layout, format, Tokenizer::O200k)
        .map_err(|error| refusal("internal_error", format!("the answer cannot be written: {error}")))
}

/// The longest list in an answer.
fn longest(value: &Value) -> Option<&Vec<Value>> {
    let members = value.as_object().into_iter().flat_map(Map::values);
    members.filter_map(Value::as_array).max_by_key(|list| list.len())
}

/// An answer that does not fit.
struct Whole {
    /// Rows, lines or symbols in it.
    size: usize,
    /// Where they were counted.
    tokens: Option<usize>,
    /// About what the first of them cost in relation to each other, for every number of them.
    sums: Vec<usize>,
}

/// The largest answer that costs at most what was asked.
fn fit(
    tool: &Tool,
    desk: &Desk,
    arguments: &Map<String, Value>,
    common: &Common,
    whole: &Whole,
) -> Result<Candidate, Refusal> {
    let too_large = |tokens: usize| {
        refusal(
            "over_budget",
            format!(
                "the answer takes {tokens} tokens and cannot be cut to max_tokens={}: give at least {tokens}",
                common.max_tokens
            ),
        )
    };
    let sum = |size: usize| whole.sums.get(size).or(whole.sums.last()).copied().unwrap_or_default();
    // Sizes with their tokens: one that fits, one that does not. Of the second they may be guessed: by those of the first, once
    // there is one; then the whole may fit after all.
    let mut fits = (0, 0);
    let mut is_counted = whole.tokens.is_some();
    let mut over = (
        whole.size + usize::from(!is_counted),
        whole.tokens.unwrap_or_else(|| sum(whole.size)),
    );
    if tool.cut == Cut::Never {
        return Err(too_large(over.1));
    }
    let enough = common.max_tokens - common.max_tokens / NEARLY;
    // What is aimed at lies between enough and too much.
    let aim = (enough + common.max_tokens) / 2;
    let mut best: Option<Candidate> = None;
    let mut tries = 0;
    while over.0 - fits.0 > 1 && fits.1 < enough {
        // Tokens grow with the sums almost evenly, so the size that should just fit is tried; where they do not, halving ends it.
        let share = match tries % 3 {
            2 => 0.5,
            _ => (aim - fits.1) as f64 / over.1.saturating_sub(fits.1).max(1) as f64,
        };
        tries += 1;
        let wanted = sum(fits.0) + ((sum(over.0) - sum(fits.0)) as f64 * share) as usize;
        let guess = whole.sums.partition_point(|sum| *sum <= wanted).saturating_sub(1);
        let size = guess.clamp(fits.0 + 1, over.0 - 1);
        let candidate = smaller(tool, desk, arguments, common, size)?;
        let tokens = candidate.tokens();
        if tokens > common.max_tokens {
            over = (size, tokens);
            is_counted = true;
            continue;
        }
        fits = (size, tokens);
        best = Some(candidate);
        if !is_counted {
            over.1 = tokens * sum(over.0) / sum(size).max(1);
        }
    }
    best.ok_or_else(|| too_large(over.1))
}

/// What a tool did, said within the limit: without the difference it made, then with a shorter list. It is said even where the
/// limit is too small for the rest, since it has happened.
fn told(tool: &Tool, desk: &Desk, mut reply: Reply, common: &Common) -> Result<Said, Refusal> {
    let mut left_out = Vec::new();
    let longest = reply.value.as_object().and_then(|members| {
        let lists = members
            .iter()
            .filter_map(|(name, member)| Some((name.clone(), member.as_array()?.len())));
        lists.max_by_key(|(_, length)| *length)
    });
    if reply
        .value
        .as_object_mut()
        .is_some_and(|members| members.remove("diff").is_some())
    {
        left_out.push("the diff".to_owned());
    }
    loop {
        let note = format!("left out: {}; give more max_tokens to see it", left_out.join(" and "));
        let copy = Reply {
            value: reply.value.clone(),
            layout: reply.layout,
        };
        let candidate = said(tool, desk, copy, common, Some(note))?;
        let list = longest.as_ref().and_then(|(name, _)| reply.value[name].as_array_mut());
        match (list, &longest) {
            (Some(list), Some((name, length))) if candidate.tokens() > common.max_tokens && !list.is_empty() => {
                list.truncate(list.len() / 2);
                let rest = format!("{} of {length} {name}", length - list.len());
                left_out.retain(|what| what == "the diff");
                left_out.push(rest);
            }
            _ => return Ok(candidate.said),
        }
    }
}

/// The same question with less.
fn smaller(
    tool: &Tool,
    desk: &Desk,
    arguments: &Map<String, Value>,
    common: &Common,
    size: usize,
) -> Result<Candidate, Refusal> {
    let mut arguments = arguments.clone();
    // An answer that was cut is another answer: it does not count as the one that the client has.
    let common = Common {
        if_none_match: None,
        repo: None,
        ..*common
    };
    match tool.cut {
        Cut::Rows | Cut::Told | Cut::Never => {
            arguments.insert("limit".into(), size.into());
            said(tool, desk, reply(tool, desk, arguments)?, &common, None)
        }
        Cut::Lines => {
            arguments.insert("max_lines".into(), size.into());
            let reply = reply(tool, desk, arguments)?;
            let first = [&reply.value["from_line"], &reply.value["location"]["start_line"]];
            let last = first.iter().find_map(|line| line.as_u64()).unwrap_or(1) + size as u64 - 1;
            let note = format!("cut after line {last}: give more max_tokens, or ask for a smaller symbol inside it");
            said(tool, desk, reply, &common, Some(note))
        }
        Cut::Symbols => {
            let asked = arguments
                .get_mut("ids")
                .and_then(Value::as_array_mut)
                .map(|ids| (ids.len(), ids.truncate(size)))
                .map_or(size, |(asked, ())| asked);
            let mut reply = reply(tool, desk, arguments)?;
            reply.value["total"] = asked.into();
            let note = format!("the first {size} of {asked}: ask for the others in another call");
            said(tool, desk, reply, &common, Some(note))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::{Services, Wish, find};

    #[test]
    fn a_question_that_was_stopped_has_no_answer() {
        let stop = codeintel::Stop::default();
        let workspace = Workspace::default().with_stop(stop.clone());
        let desk = Desk {
            workspace: &workspace,
            services: &Services::default(),
            caller: "test",
            wish: Wish::in_conversation(None),
        };
        let ask = || {
            let arguments = Map::from_iter([("query".to_string(), json!("f"))]);
            let tool = find("search_symbols").expect("it is there");
            answer(tool, &desk, arguments, Format::Json).map_err(|refusal| refusal.code)
        };
        assert!(ask().is_ok());
        stop.stop();
        assert_eq!(ask(), Err("cancelled".to_string()));
    }
}
