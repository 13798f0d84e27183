//! The tools that most sessions need: `find`, `read`, `uses`, `trace` and `change`; `grep` beside them. Their answers are read as plain
//! text.

use codeintel::change::{self, Change};
use codeintel::find::{self, Find};
use codeintel::grep::{self, Grep};
use codeintel::read::{self, Read};
use codeintel::trace::{self, Trace};
use codeintel::uses::{self, Uses};
use serde_json::{Map, Value};
use wire::Format;
use wire::protocol::{Refusal, Scope};
use wire::tokens::Tokenizer;

use super::{Cut, Desk, Reply, Tool, Toolset, put, read as arguments_of, refused, schema, value};

/// What most sessions need.
pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "find",
        about: "Where something is: a task, symptom, error, stack trace, identifier in any spelling or path. The best places first, with the \
                lines that matter. Start here.",
        toolset: Toolset::Core,
        scope: Scope::Workspace,
        max_tokens: 1_000,
        cut: Cut::Never,
        writes: false,
        parameters: schema::of::<Find>,
        ask: finding,
    },
    Tool {
        name: "read",
        about: "Source by symbol or path:10-50, several at once, as numbered lines of the file as it is now; large ones as a skeleton. \
                Use it instead of reading whole files; not to search.",
        toolset: Toolset::Core,
        scope: Scope::Workspace,
        max_tokens: 4_000,
        cut: Cut::Never,
        writes: false,
        parameters: schema::of::<Read>,
        ask: reading,
    },
    Tool {
        name: "uses",
        about: "Who calls, reads, writes, implements, extends, overrides, imports or tests a symbol: every place with its line, and an account \
                that sums to a word search. `complete` needs no second search. Not for free text.",
        toolset: Toolset::Core,
        scope: Scope::Workspace,
        max_tokens: 3_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<Uses>,
        ask: |desk, arguments| put(desk, arguments, uses::uses, uses::LAYOUT),
    },
    Tool {
        name: "trace",
        about: "What happens when …: the chain of calls between two functions (`from`, `to`), what runs from one on (`from`), or which entry \
                points lead to one (`to`). One line a step, with its condition. Not for source.",
        toolset: Toolset::Core,
        scope: Scope::Workspace,
        max_tokens: 2_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<Trace>,
        ask: |desk, arguments| put(desk, arguments, trace::trace, trace::LAYOUT),
    },
    Tool {
        name: "change",
        about: "What a change of symbols, or of the working tree, reaches: who must follow, nearest first, and the command that runs its \
                tests. Use it before and after an edit.",
        toolset: Toolset::Core,
        scope: Scope::Workspace,
        max_tokens: 2_000,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<Change>,
        ask: |desk, arguments| put(desk, arguments, change::change, change::LAYOUT),
    },
    Tool {
        name: "grep",
        about: "The lines that ripgrep finds, below the definitions they stand in; tests folded.",
        toolset: Toolset::Search,
        scope: Scope::Workspace,
        max_tokens: 2_500,
        cut: Cut::Rows,
        writes: false,
        parameters: schema::of::<Grep>,
        ask: |desk, arguments| put(desk, arguments, grep::grep, grep::LAYOUT),
    },
];

/// JSON says each line of source with its escapes: of what is asked for, so much is source.
const SHARE_OF_JSON: (usize, usize) = (3, 4);

/// Tokens that an etag may add.
const ETAG: usize = 20;

fn finding(desk: &Desk, arguments: Map<String, Value>) -> Result<Reply, Refusal> {
    let ask: Find = arguments_of(arguments)?;
    let mut room = room(desk);
    loop {
        let value = value(&find::find(desk.workspace, &ask, room).map_err(refused)?)?;
        // A page of text was counted as it is; what another format adds is known only when it is written.
        let cost = match is_text(desk.wish.format) {
            true => 0,
            false => wire::encode(&value, &find::LAYOUT, desk.wish.format, Tokenizer::O200k)
                .map_or(0, |encoded| Tokenizer::O200k.count(&encoded.text) + ETAG),
        };
        if cost <= desk.wish.max_tokens || room == 0 {
            return Ok(Reply {
                value,
                layout: find::LAYOUT,
            });
        }
        room = (room * desk.wish.max_tokens / cost).min(room - 1);
    }
}

/// Tokens that source may take.
fn room(desk: &Desk) -> usize {
    match is_text(desk.wish.format) {
        true => desk.wish.max_tokens,
        false => desk.wish.max_tokens / SHARE_OF_JSON.1 * SHARE_OF_JSON.0,
    }
}

fn is_text(format: Format) -> bool {
    matches!(format, Format::Auto | Format::Text | Format::Markdown)
}

fn reading(desk: &Desk, arguments: Map<String, Value>) -> Result<Reply, Refusal> {
    let ask: Read = arguments_of(arguments)?;
    let found = read::read(desk.workspace, &ask, room(desk)).map_err(refused)?;
    Ok(Reply {
        value: value(&found)?,
        layout: read::LAYOUT,
    })
}
