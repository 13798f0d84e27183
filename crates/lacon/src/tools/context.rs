//! The questions whose answer fills a budget: contexts, blast radius, communities, plans; and the reset of a conversation.
//!
//! A pack is measured in the very form it is sent in, references of the conversation included. To a client that sends the
//! root of an earlier pack back, whichever is shortest is said: that nothing changed, what changed, or everything.

use codeintel::context::{
    BlastRadius, CommunitiesAnswer, ContextPack, Explain, ForFiles, ForPr, ForTask, GetCommunities, PlanTurn, Room,
    blast_radius, communities, context_for_files, context_for_pr, context_for_task, explain_symbol, plan_turn,
};
use codeintel::repo_outline::Nothing;
use codeintel::{QuestionError, Workspace};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use wire::Format;
use wire::answers::{PackEdge, PackSource};
use wire::gcf::graph;
use wire::layout::Layout;
use wire::protocol::{Refusal, Scope};
use wire::tokens::Tokenizer;

use super::{Cut, Desk, Finished, Reply, Tool, Toolset, put, read, refusal, refused, schema, value};
use crate::sessions::Base;

/// What fills a budget.
pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "context_for_task",
        about: "What matters for a task: scored symbols by distance, edges, source, within a token budget.",
        toolset: Toolset::Core,
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
        toolset: Toolset::Core,
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
        Format::Auto => Format::Gcf,
        format => format,
    };
    let count = |texts: &[String]| texts.iter().map(|text| Tokenizer::O200k.count(text)).sum::<usize>();
    let failed = std::cell::Cell::new(None);
    let measure = |pack: &ContextPack| match project(desk, pack, &layout, format, Delivery::Measured) {
        Ok(texts) => count(&texts),
        Err(refusal) => {
            failed.set(Some(refusal));
            usize::MAX / 4
        }
    };
    let room = Room {
        budget,
        measure: &measure,
        base: held.as_deref(),
    };
    let found = question(&room);
    if let Some(refusal) = failed.take() {
        return Err(refusal);
    }
    let found = found.map_err(refused)?;
    let (texts, format) = match held.as_deref() {
        Some(base) => match changed(base, &found, layout.tool, format)? {
            // The delta is said only where it is the shortest.
            Some(texts) if count(&texts) < found.tokens as usize => (texts, format),
            _ => (project(desk, &found, &layout, format, Delivery::Sent)?, format),
        },
        None => {
            let json = wire::encode(&found, &layout, Format::Json, Tokenizer::O200k)
                .map_err(unwritable)?
                .text;
            match desk.wish.format == Format::Auto && Tokenizer::O200k.count(&json) < found.tokens as usize {
                true => (vec![json], Format::Json),
                false => (project(desk, &found, &layout, format, Delivery::Sent)?, format),
            }
        }
    };
    let reply = Reply {
        value: value(&found)?,
        layout,
    };
    let root = found.pack_root.clone();
    desk.services
        .memory
        .bases
        .keep(desk.caller, &root, Base::Pack(found.into()));
    desk.finish(Finished { texts, format });
    Ok(reply)
}

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
    if format == Format::Gcf {
        let referred = desk
            .wish
            .conversation
            .and_then(|conversation| conversation.pack(pack, layout.tool, delivery == Delivery::Sent));
        return match referred {
            Some(texts) => Ok(texts.into()),
            None => Ok(pack
                .to_gcf(layout.tool)
                .map_err(|error| unwritable(error.into()))?
                .into()),
        };
    }
    let encoded = wire::encode(pack, layout, format, Tokenizer::O200k).map_err(unwritable)?;
    Ok(vec![encoded.text])
}

fn unwritable(error: wire::Error) -> Refusal {
    refusal("internal_error", format!("the answer cannot be written: {error}"))
}

/// What changed since `base`: nothing, or a delta that was applied and checked here first. `None` where only the whole pack
/// will do.
fn changed(base: &ContextPack, pack: &ContextPack, tool: &str, format: Format) -> Result<Option<Vec<String>>, Refusal> {
    let unchanged = base.pack_root == pack.pack_root && same_texts(base, pack);
    let news = ContextPack {
        sources: pack
            .sources
            .iter()
            .filter(|source| !base.sources.contains(source))
            .cloned()
            .collect(),
        reasons: pack
            .reasons
            .iter()
            .filter(|reason| !base.reasons.contains(reason))
            .cloned()
            .collect(),
        symbols: Vec::new(),
        ..pack.clone()
    };
    let has_text = |source: &PackSource| {
        let same =
            |other: &&PackSource| other.id == source.id && other.form == source.form && other.text == source.text;
        base.sources.iter().find(same).is_some()
    };
    if format != Format::Gcf {
        let said = match unchanged {
            true => json!({"unchanged": true, "pack_root": pack.pack_root, "symbols": pack.symbols.len()}),
            false => json_delta(base, pack, &news),
        };
        let encoded = wire::encode(&said, &Layout::generic(tool), format, Tokenizer::O200k).map_err(unwritable)?;
        return Ok(Some(vec![encoded.text]));
    }
    let (old, new) = (base.graph(tool), pack.graph(tool));
    let measure = |text: &str| Tokenizer::O200k.count(text);
    let reply = graph::reply(Some(&base.pack_root), Some(&old), &new, measure);
    match reply.map_err(|error| unwritable(error.into()))? {
        graph::Reply::Unchanged(text) if unchanged => Ok(Some(vec![text])),
        graph::Reply::Unchanged(text) => Ok(Some(vec![text, news.sources_text(&[], has_text)])),
        graph::Reply::Delta(text) => {
            let verified = graph::decode_delta(&text).and_then(|delta| graph::apply(&old, &delta));
            match verified {
                Ok(_) => Ok(Some(vec![text, news.sources_text(&[], has_text)])),
                Err(_) => Ok(None),
            }
        }
        graph::Reply::Full(_) => Ok(None),
    }
}

fn same_texts(base: &ContextPack, pack: &ContextPack) -> bool {
    base.sources == pack.sources && base.reasons == pack.reasons
}

fn json_delta(base: &ContextPack, pack: &ContextPack, news: &ContextPack) -> Value {
    let gone: Vec<Value> = base
        .symbols
        .iter()
        .filter(|symbol| !pack.symbols.contains(symbol))
        .map(|symbol| json!({"kind": symbol.kind, "id": symbol.id}))
        .collect();
    let added: Vec<_> = pack
        .symbols
        .iter()
        .filter(|symbol| !base.symbols.contains(symbol))
        .collect();
    let edges = |of: &ContextPack, not: &ContextPack| -> Vec<PackEdge> {
        of.edges
            .iter()
            .filter(|edge| !not.edges.contains(edge))
            .cloned()
            .collect()
    };
    json!({
        "delta": true, "base_root": base.pack_root, "new_root": pack.pack_root, "removed": gone, "added": added,
        "edges_removed": edges(base, pack), "edges_added": edges(pack, base), "sources": news.sources,
        "total": pack.total, "truncated": pack.truncated,
    })
}
