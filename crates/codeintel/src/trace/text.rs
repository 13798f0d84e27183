//! A trace as plain text: one step a line, `path:line Owner.name  at 12 the call  if the condition`; the path once where it stays the same.

use std::fmt::Write;

use serde_json::Value;
use wire::layout::Layout;

use super::{Chain, Folded, Step, TraceFound};
use crate::uses::Count;

/// How the answer is written.
pub const LAYOUT: Layout<'static> = Layout::read_as("trace", text);

/// Longest text of a call in a tree, where the name of what is called says most of it.
const SHORT: usize = 60;

fn text(value: &Value) -> String {
    match serde_json::from_value::<TraceFound>(value.clone()) {
        Ok(found) => written(&found),
        // An answer that is not modified says only that.
        Err(_) => value.to_string(),
    }
}

fn written(found: &TraceFound) -> String {
    let mut out = String::new();
    for note in &found.notes {
        let _ = writeln!(out, "note: {note}");
    }
    let is_of_calls = |count: &Count| !matches!(count.of.as_str(), "writes" | "mentions");
    tree(&mut out, &found.steps, found.account.hops.iter().all(is_of_calls));
    for (number, chain) in found.chains.iter().enumerate() {
        if number > 0 || !found.steps.is_empty() {
            out.push('\n');
        }
        write_chain(&mut out, chain, number, found);
    }
    if let Some(incomplete) = &found.incomplete {
        let _ = writeln!(out, "incomplete: {incomplete}");
    }
    let account = &found.account;
    let mut parts: Vec<String> = Vec::new();
    if !account.hops.is_empty() {
        parts.push(listed(&account.hops));
    }
    if account.inferred > 0 {
        parts.push(format!("{} likely", account.inferred));
    }
    if !account.stops.is_empty() {
        parts.push(format!("stops at {}", listed(&account.stops)));
    }
    if !parts.is_empty() {
        let _ = writeln!(out, "account: {}", parts.join("; "));
    }
    let _ = writeln!(out, "next: {}", found.next);
    out
}

fn tree(out: &mut String, steps: &[Step], found_by_calls: bool) {
    let mut path = "";
    for (number, step) in steps.iter().enumerate() {
        let indent = "  ".repeat(step.depth as usize);
        // A write says what is written; of a call the name says most.
        let is_plain = step.hop.is_empty() && found_by_calls;
        line(out, &indent, step, &mut path, is_plain);
        // What is folded comes after what is shown of it.
        let mut open: Vec<&Step> = Vec::new();
        let next = steps.get(number + 1).map_or(0, |next| next.depth);
        if step.depth >= next || number + 1 == steps.len() {
            open.push(step);
        }
        let mut depth = step.depth;
        for before in steps[..number].iter().rev() {
            if before.depth < depth {
                depth = before.depth;
                if depth >= next || number + 1 == steps.len() {
                    open.push(before);
                }
            }
        }
        for closed in open.into_iter().filter(|step| !step.folded.is_empty()) {
            let indent = "  ".repeat(closed.depth as usize + 1);
            let parts: Vec<String> = closed.folded.iter().map(folded).collect();
            let _ = writeln!(out, "{indent}… {}", parts.join("; "));
        }
    }
}

fn folded(folded: &Folded) -> String {
    let named = matches!(
        folded.what.as_str(),
        "more" | "more callers" | "implementations" | "external"
    );
    let names = match named && !folded.names.is_empty() {
        true => {
            let more = if (folded.names.len() as u64) < folded.count {
                ", …"
            } else {
                ""
            };
            format!(": {}{more}", folded.names.join(", "))
        }
        false => String::new(),
    };
    let what = match folded.count {
        1 if folded.what != "log and metrics" => folded.what.strip_suffix('s').unwrap_or(&folded.what),
        _ => &folded.what,
    };
    format!("{} {what}{names}", folded.count)
}

fn line<'s>(out: &mut String, indent: &str, step: &'s Step, path: &mut &'s str, short: bool) {
    out.push_str(indent);
    if *path != step.path {
        out.push_str(&step.path);
        *path = &step.path;
    }
    let _ = write!(out, ":{}", step.line);
    if !step.name.is_empty() {
        let _ = write!(out, " {}", step.name);
    }
    if step.call > 0 {
        let _ = write!(out, "  at {}", step.call);
        let own = step.name.rsplit('.').next().unwrap_or(&step.name);
        let says_little = short && (own.is_empty() || step.text.contains(own));
        if !step.text.is_empty() && !says_little {
            let _ = write!(out, " `{}`", cut(&step.text, short));
        }
    }
    if !step.hop.is_empty() {
        let _ = write!(out, "  [{}]", step.hop);
    }
    if !step.when.is_empty() {
        let _ = write!(out, "  {}", step.when);
    }
    for (number, site) in step.also.iter().enumerate() {
        let _ = match number {
            0 => write!(out, "; also at {}", site.line),
            _ => write!(out, ", {}", site.line),
        };
        if !site.when.is_empty() {
            let _ = write!(out, " {}", site.when);
        }
    }
    if step.again {
        out.push_str("  (again)");
    }
    if step.likely {
        out.push_str("  (likely)");
    }
    out.push('\n');
}

fn cut(text: &str, short: bool) -> String {
    match text.char_indices().nth(SHORT).filter(|_| short) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A chain; of a further one only what differs from the first.
fn write_chain(out: &mut String, chain: &Chain, number: usize, found: &TraceFound) {
    let count = chain.steps.len();
    let first = (chain.shared_before as usize).min(count);
    let last = count - (chain.shared_after as usize).min(count - first);
    if number > 0 {
        let name = |step: Option<&Step>| step.map_or("", |step| step.name.as_str()).to_owned();
        let parts = name(first.checked_sub(1).and_then(|at| chain.steps.get(at)));
        let joins = name(chain.steps.get(last));
        let _ = match (parts.is_empty(), joins.is_empty()) {
            (true, true) => writeln!(out, "another way:"),
            (false, true) => writeln!(out, "or, parting at {parts}:"),
            (true, false) => writeln!(out, "or, joining at {joins}:"),
            (false, false) => writeln!(out, "or, from {parts} to {joins}:"),
        };
    } else if !found.steps.is_empty() {
        out.push_str("from entry points:\n");
    }
    let mut path = "";
    // How the shared rest is reached from here is part of what differs.
    let end = if number > 0 && last < count { last + 1 } else { last };
    for step in &chain.steps[first..end] {
        line(out, if number > 0 { "  " } else { "" }, step, &mut path, false);
    }
}

fn listed(counts: &[Count]) -> String {
    let each: Vec<String> = counts
        .iter()
        .map(|count| format!("{} {}", count.count, count.of))
        .collect();
    each.join(", ")
}
