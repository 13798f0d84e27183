//! The questions whose answer fills a budget: contexts, blast radius, communities, plans; and the reset of a conversation.
//!
//! A pack is measured in the very form it is sent in, references of the conversation included. To a client that sends the
//! root of an earlier pack back, whichever is shortest is said: that nothing changed, what changed, or everything.

use std::borrow::Cow;
use std::collections::BTreeMap;

use codeintel::context::{
    BlastRadius, CommunitiesAnswer, ContextPack, Explain, ForFiles, ForPr, ForTask, GetCommunities, PlanTurn, Room,
    blast_radius, communities, context_for_files, context_for_pr, context_for_task, explain_symbol, plan_turn, renames,
};
use codeintel::repo_outline::Nothing;
use codeintel::{QuestionError, Workspace};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use wire::Format;
use wire::answers::{PackDelta, PackSource, PackSymbol};
use wire::gcf::graph;
use wire::layout::Layout;
use wire::protocol::{Refusal, Scope};
use wire::tokens::{Counter, Tokenizer};

use super::masks::masked_pack;
use super::{Cut, Desk, Finished, Reply, Tool, Toolset, put, read, refusal, refused, schema, value};
use crate::sessions::Base;

/// What fills a budget.
pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "context_for_task",
        about: "What matters for a task: scored symbols by distance, edges, source, within a token budget.",
        toolset: Toolset::Graph,
        max_tokens: BUDGET,
        parameters: schema::of::<ForTask>,
        ask: |desk, arguments| pack(desk, arguments, context_for_task, ContextPack::CONTEXT_FOR_TASK),
        ..PACK
    },
    Tool {
        name: "context_for_files",
        about: "What to know before working on some files, within a token budget.",
        parameters: schema::of::<ForFiles>,
        ask: |desk, arguments| pack(desk, arguments, context_for_files, ContextPack::CONTEXT_FOR_FILES),
        ..PACK
    },
    Tool {
        name: "context_for_pr",
        about: "What to know about the changes of this branch, from its merge base to the files as they are.",
        parameters: schema::of::<ForPr>,
        ask: |desk, arguments| pack(desk, arguments, context_for_pr, ContextPack::CONTEXT_FOR_PR),
        ..PACK
    },
    Tool {
        name: "blast_radius",
        about: "What a change of symbols, files or this branch may break, by distance.",
        toolset: Toolset::Graph,
        parameters: schema::of::<BlastRadius>,
        ask: |desk, arguments| pack(desk, arguments, blast_radius, ContextPack::BLAST_RADIUS),
        ..PACK
    },
    Tool {
        name: "communities",
        about: "Which symbols belong together: all groups, or the one of a symbol.",
        parameters: schema::of::<GetCommunities>,
        ask: groups,
        ..PACK
    },
    Tool {
        name: "explain_symbol",
        about: "One symbol and what surrounds it, within a token budget.",
        parameters: schema::of::<Explain>,
        ask: |desk, arguments| pack(desk, arguments, explain_symbol, ContextPack::EXPLAIN_SYMBOL),
        ..PACK
    },
    Tool {
        name: "plan_turn",
        about: "Which questions to ask next for a task.",
        parameters: schema::of::<PlanTurn>,
        ask: |desk, arguments| put(desk, arguments, plan_turn, Layout::generic("plan_turn")),
        ..PACK
    },
    Tool {
        name: "session_reset",
        about: "Forget what was sent in this conversation: answers come in full again.",
        parameters: schema::of::<Nothing>,
        ask: |desk, _| {
            let forgotten = desk.wish.conversation.map_or(0, |conversation| conversation.reset());
            Ok(Reply {
                value: json!({"reset": true, "forgotten": forgotten}),
                layout: Layout::generic("session_reset"),
            })
        },
        ..PACK
    },
];

/// Tokens where a call does not say.
const BUDGET: usize = 5_000;

/// What they have in common.
const PACK: Tool = Tool {
    name: "",
    about: "",
    toolset: Toolset::Graph,
    scope: Scope::Workspace,
    max_tokens: BUDGET,
    cut: Cut::Never,
    writes: false,
    parameters: schema::of::<Nothing>,
    ask: |_, _| Err(refusal("internal_error", "no question")),
};

type Question<P> = fn(&Workspace, &P, &Room<'_>) -> Result<ContextPack, QuestionError>;

/// Asks for a pack and says it.
fn pack<P: DeserializeOwned>(
    desk: &Desk,
    arguments: Map<String, Value>,
    question: Question<P>,
    layout: Layout<'static>,
) -> Result<Reply, Refusal> {
    let root = text(&arguments, "pack_root");
    let budget = budget(desk, &arguments);
    let parameters: P = read(arguments)?;
    packed(desk, budget, root, layout, |room| {
        question(desk.workspace, &parameters, room)
    })
}

/// Each action has an answer of its own.
fn groups(desk: &Desk, arguments: Map<String, Value>) -> Result<Reply, Refusal> {
    let root = text(&arguments, "pack_root");
    let budget = budget(desk, &arguments);
    let ask: GetCommunities = read(arguments)?;
    let room = |measure| Room {
        budget,
        measure,
        base: None,
    };
    if ask.action.as_deref().unwrap_or("list") == "list" {
        let found = communities(desk.workspace, &ask, &room(&|_| 0)).map_err(refused)?;
        return Ok(Reply {
            value: value(&found)?,
            layout: Layout::generic("communities"),
        });
    }
    packed(
        desk,
        budget,
        root,
        ContextPack::COMMUNITIES,
        |room| match communities(desk.workspace, &ask, room)? {
            CommunitiesAnswer::Pack(pack) => Ok(*pack),
            CommunitiesAnswer::Table(_) => Ok(ContextPack::default()),
        },
    )
}

fn text(arguments: &Map<String, Value>, name: &str) -> Option<String> {
    arguments.get(name).and_then(Value::as_str).map(str::to_string)
}

/// What the call allows: its `budget`, never more than its `max_tokens` where it gives both.
fn budget(desk: &Desk, arguments: &Map<String, Value>) -> usize {
    let asked = arguments.get("budget").and_then(Value::as_u64);
    let asked = asked
        .and_then(|asked| usize::try_from(asked).ok())
        .unwrap_or(usize::MAX);
    asked.min(desk.wish.max_tokens)
}

/// Makes a pack that fits as it is sent, and finishes the call with it.
fn packed(
    desk: &Desk,
    budget: usize,
    root: Option<String>,
    layout: Layout<'static>,
    question: impl Fn(&Room<'_>) -> Result<ContextPack, QuestionError>,
) -> Result<Reply, Refusal> {
    let held = root
        .as_deref()
        .and_then(|root| match desk.services.memory.bases.find(desk.caller, root) {
            Some(Base::Pack(pack)) => Some(pack),
            _ => None,
        });
    // Packs are shortest in GCF, whose sources need no escapes; whether JSON is shorter after all is seen at the end.
    let format = match desk.wish.format {
        Format::Auto | Format::Lcx => Format::Gcf,
        format => format,
    };
    let again = match held.as_deref() {
        Some(base) => changed_pack(desk, budget, base, &layout, format, &question)?,
        None => None,
    };
    let Answered {
        found,
        held,
        texts,
        format,
    } = match again {
        Some(answered) => answered,
        // Whoever gets everything anew gets what is best now.
        None => whole_pack(desk, budget, &layout, format, &question)?,
    };
    let reply = Reply {
        value: value(&found)?,
        layout,
    };
    let root = found.pack_root.clone();
    desk.services
        .memory
        .bases
        .keep(desk.caller, &root, Base::Pack(held.into()));
    desk.finish(Finished { texts, format });
    Ok(reply)
}

/// A pack and how it was said.
struct Answered {
    found: ContextPack,
    /// The same in the order of the client, who appends what a delta adds: the places of the next delta are those.
    held: ContextPack,
    texts: Vec<String>,
    format: Format,
}

type Asking<'a> = dyn Fn(&Room<'_>) -> Result<ContextPack, QuestionError> + 'a;

/// The pack for a client that holds `base`, and the texts that say what changed; `None` where those are not well below the whole,
/// as the graph profile asks.
fn changed_pack(
    desk: &Desk,
    budget: usize,
    base: &ContextPack,
    layout: &Layout<'static>,
    format: Format,
    question: &Asking<'_>,
) -> Result<Option<Answered>, Refusal> {
    let counter = Counter::new(Tokenizer::O200k);
    let count = |texts: &[String]| texts.iter().map(|text| counter.count(text)).sum::<usize>();
    let renames = renames(desk.workspace, base);
    let carried = base.under(&renames);
    // What the client holds counts in full, or a conversation that refers to it would add to it with every question.
    let whole = |pack: &ContextPack| plain(pack, layout, format);
    let mut found = asked(desk, budget, Some(&carried), &|pack| Ok(count(&whole(pack)?)), question)?;
    found.renamed = renames;
    let delta = PackDelta::between(base, &found);
    let Some((mut held, mut texts)) = changed(base, &found, &delta, layout.tool, format)? else {
        return Ok(None);
    };
    let mut tokens = count(&texts);
    // A delta that any reader of the graph profile can apply is worth a little more.
    if tokens * 100 > found.tokens as usize * MOST_BY_NAME
        && let Some(other) = changed(base, &found, &delta.by_places(base, &found), layout.tool, format)?
        && count(&other.1) < tokens
    {
        (held, texts) = other;
        tokens = count(&texts);
    }
    if tokens * 10 >= found.tokens as usize * 6 || tokens > budget {
        return Ok(None);
    }
    if let Some(conversation) = desk.wish.conversation {
        conversation.learned(&found);
    }
    held.tokens = found.tokens;
    Ok(Some(Answered {
        found,
        held,
        texts,
        format,
    }))
}

/// In hundredths of the whole: a delta that takes more is said by places, where that takes less.
const MOST_BY_NAME: usize = 8;

/// The pack for a client that holds nothing of it, or asks for all of it, with its texts.
fn whole_pack(
    desk: &Desk,
    budget: usize,
    layout: &Layout<'static>,
    format: Format,
    question: &Asking<'_>,
) -> Result<Answered, Refusal> {
    let counter = Counter::new(Tokenizer::O200k);
    let measure = |pack: &ContextPack| {
        let texts = project(desk, pack, layout, format, Delivery::Measured)?;
        Ok(texts.iter().map(|text| counter.count(text)).sum::<usize>())
    };
    let found = asked(desk, budget, None, &measure, question)?;
    let (texts, format) = match shorter_json(desk, &found, layout)? {
        Some(json) => (vec![json], Format::Json),
        None => (project(desk, &found, layout, format, Delivery::Sent)?, format),
    };
    Ok(Answered {
        held: found.clone(),
        found,
        texts,
        format,
    })
}

/// Asks for a pack whose size `measure` tells.
fn asked(
    desk: &Desk,
    budget: usize,
    base: Option<&ContextPack>,
    measure: &dyn Fn(&ContextPack) -> Result<usize, Refusal>,
    question: &Asking<'_>,
) -> Result<ContextPack, Refusal> {
    let failed = std::cell::Cell::new(None);
    let measure = |pack: &ContextPack| {
        measure(&masked_pack(desk, pack)).unwrap_or_else(|refusal| {
            failed.set(Some(refusal));
            usize::MAX / 4
        })
    };
    let found = question(&Room {
        budget,
        measure: &measure,
        base,
    });
    match failed.take() {
        Some(refusal) => Err(refusal),
        None => {
            let found = found.map_err(refused)?;
            Ok(match masked_pack(desk, &found) {
                Cow::Owned(masked) => masked,
                Cow::Borrowed(_) => found,
            })
        }
    }
}

/// The pack as JSON, where the format is free and that is shorter.
fn shorter_json(desk: &Desk, pack: &ContextPack, layout: &Layout<'static>) -> Result<Option<String>, Refusal> {
    let is_plain = |symbol: &PackSymbol| symbol.id.bytes().all(|byte| byte.is_ascii_graphic() && byte != b'%');
    let is_longer = pack.symbols.len() > FEW_SYMBOLS && pack.symbols.iter().all(is_plain);
    if desk.wish.format != Format::Auto || is_longer {
        return Ok(None);
    }
    let json = wire::encode(pack, layout, Format::Json, Tokenizer::O200k)
        .map_err(unwritable)?
        .text;
    Ok(Some(json).filter(|json| Tokenizer::O200k.count(json) < pack.tokens as usize))
}

/// Packs of more symbols are never shorter in JSON, which names every member of every row, unless ids need escapes in GCF.
const FEW_SYMBOLS: usize = 12;

/// Whether a projection is only counted, or goes to the client.
#[derive(Clone, Copy, PartialEq)]
enum Delivery {
    Measured,
    Sent,
}

/// The texts of a pack in a format.
fn project(
    desk: &Desk,
    pack: &ContextPack,
    layout: &Layout<'static>,
    format: Format,
    delivery: Delivery,
) -> Result<Vec<String>, Refusal> {
    let Some(conversation) = desk.wish.conversation else {
        return plain(pack, layout, format);
    };
    if format == Format::Gcf {
        let referred = conversation.pack(pack, layout.tool, delivery == Delivery::Sent);
        return referred.map_or_else(|| plain(pack, layout, format), |texts| Ok(texts.into()));
    }
    let whole = plain(pack, layout, format)?;
    if delivery == Delivery::Measured || matches!(format, Format::Markdown | Format::Text) {
        return Ok(whole);
    }
    // What it costs was measured without references, which are used only where they are shorter.
    let referred = conversation.refer(&value(pack)?, layout, &whole.concat(), format);
    Ok(referred.map_or(whole, |referred| {
        std::iter::once(referred.text).chain(referred.note).collect()
    }))
}

/// The texts of a pack in a format, nothing referred to.
fn plain(pack: &ContextPack, layout: &Layout<'static>, format: Format) -> Result<Vec<String>, Refusal> {
    if format == Format::Gcf {
        let texts = pack.to_gcf(layout.tool).map_err(|error| unwritable(error.into()))?;
        return Ok(texts.into());
    }
    let encoded = wire::encode(pack, layout, format, Tokenizer::O200k).map_err(unwritable)?;
    Ok(vec![wire::counted(encoded.text)])
}

fn unwritable(error: wire::Error) -> Refusal {
    refusal("internal_error", format!("the answer cannot be written: {error}"))
}

/// What the client has after `delta`, and the texts that say it: nothing, or a delta that was applied and checked here first. `None`
/// where only the whole pack will do.
fn changed(
    base: &ContextPack,
    pack: &ContextPack,
    delta: &PackDelta,
    tool: &str,
    format: Format,
) -> Result<Option<(ContextPack, Vec<String>)>, Refusal> {
    let Some(held) = delta.apply(base).ok().filter(|applied| says_the_same(applied, pack)) else {
        return Ok(None);
    };
    Ok(Some((held, said(base, pack, delta, tool, format)?)))
}

/// The texts of a delta.
fn said(
    base: &ContextPack,
    pack: &ContextPack,
    delta: &PackDelta,
    tool: &str,
    format: Format,
) -> Result<Vec<String>, Refusal> {
    let same_root = base.pack_root == pack.pack_root;
    let unchanged = same_root && delta.sources.is_empty() && delta.moved.is_empty() && delta.gone.is_empty();
    if format != Format::Gcf {
        let said = match unchanged {
            true => json!({"unchanged": true, "pack_root": pack.pack_root, "symbols": pack.symbols.len()}),
            false => value(delta)?,
        };
        let encoded = wire::encode(&said, &Layout::generic(tool), format, Tokenizer::O200k).map_err(unwritable)?;
        return Ok(vec![wire::counted(encoded.text)]);
    }
    let cannot = |error: wire::gcf::Error| unwritable(error.into());
    if same_root {
        let graph = pack.graph(tool);
        let held = Some(pack.pack_root.as_str());
        let said = graph::reply(held, None, &graph, str::len)
            .map_err(cannot)?
            .text()
            .to_string();
        return Ok(match unchanged {
            true => vec![said],
            false => wire::counted_parts(said, delta.sources_text()).into(),
        });
    }
    delta
        .texts(tool, pack.tokens, |text| Tokenizer::O200k.count(text))
        .map_err(cannot)
}

/// Whether two packs say the same, in whatever order.
fn says_the_same(one: &ContextPack, other: &ContextPack) -> bool {
    let sources = |pack: &ContextPack| -> BTreeMap<String, PackSource> {
        pack.sources
            .iter()
            .map(|source| (source.id.clone(), source.clone()))
            .collect()
    };
    let reasons = |pack: &ContextPack| -> BTreeMap<String, String> {
        pack.reasons
            .iter()
            .map(|reason| (reason.id.clone(), reason.reason.clone()))
            .collect()
    };
    one.pack_root == other.pack_root && sources(one) == sources(other) && reasons(one) == reasons(other)
}
