//! Texts that show when they were cut: the header of an answer says how many lines stand below it.
//!
//! GCX1 and GCF leave room for entries of a producer's own, which other decoders pass over. Tables of GCF count their rows, but nothing says how
//! many members an object has, and a table of GCX1 ends where the text does: both would read as complete. JSON closes what it
//! opened, and LCX1 counts by itself.
//!
//! ```text
//! GCX1 tool=get_callers.nodes fields=id,kind lines_below=3 total_nodes=1
//! GCF profile=graph tool=context_for_task symbols=2 lines_below=4+19
//! ```
//!
//! Blank lines and comments do not count, so a client may put a line between two parts. Behind `+` stand the lines of the sources, all of
//! them, in the second part of a pack.

/// The entry of the header.
pub(crate) const ENTRY: &str = "lines_below";

/// Puts the count into the header of a text in GCX1 or GCF, and ends its last line. Other texts stay as they are.
pub fn counted(mut text: String) -> String {
    let is_gcx = text.starts_with("GCX1 ");
    if !is_gcx && !text.starts_with("GCF ") {
        return text;
    }
    end(&mut text);
    let (header, body) = split(&text);
    let entry = format!(" {ENTRY}={}", lines(body));
    let at = if is_gcx { place(header) } else { header.len() };
    text.insert_str(at, &entry);
    text
}

/// Puts the counts of both parts of a pack in GCF into the header of the first.
pub fn counted_parts(mut graph: String, mut sources: String) -> [String; 2] {
    end(&mut graph);
    end(&mut sources);
    let (header, body) = split(&graph);
    let entry = format!(" {ENTRY}={}+{}", lines(body), ends(&sources));
    graph.insert_str(header.len(), &entry);
    [graph, sources]
}

/// How much of a counted text is missing, in words for an error; none where it is whole or was not counted. `sources` is where the second
/// part of a pack begins.
pub(crate) fn missing(text: &str, sources: Option<usize>) -> Option<Missing> {
    let (header, _) = split(text);
    if header.len() == text.len() {
        return Some(Missing::new("a header without its end", "a line end"));
    }
    let declared = header
        .split(' ')
        .find_map(|word| word.strip_prefix(ENTRY)?.strip_prefix('='))?;
    let own = &text[header.len() + 1..sources.unwrap_or(text.len())];
    let behind = sources.map_or("", |at| &text[at..]);
    let (first, second) = match declared.split_once('+') {
        Some((first, second)) => (first, Some(second)),
        None => (declared, None),
    };
    let found = lines(own).to_string();
    if found != first || !(own.is_empty() || own.ends_with('\n')) {
        return Some(Missing::new(format!("{found} lines"), format!("{ENTRY}={declared}")));
    }
    // What stands behind the sources is another part's.
    let is_whole = second.is_none_or(|count| count.parse().is_ok_and(|count: usize| ends(behind) >= count));
    (!is_whole).then(|| {
        Missing::new(
            format!("{} lines of sources", ends(behind)),
            format!("{ENTRY}={declared}"),
        )
    })
}

/// What a text lacks.
pub(crate) struct Missing {
    pub(crate) found: String,
    pub(crate) expected: String,
}

impl Missing {
    fn new(found: impl Into<String>, expected: impl Into<String>) -> Missing {
        Missing {
            found: found.into(),
            expected: expected.into(),
        }
    }
}

fn end(text: &mut String) {
    if !text.ends_with('\n') {
        text.push('\n');
    }
}

/// The header line, without its end, and what stands below.
fn split(text: &str) -> (&str, &str) {
    text.split_once('\n').unwrap_or((text, ""))
}

/// Whole lines that carry data.
fn lines(body: &str) -> usize {
    let whole = body.split_inclusive('\n').filter(|line| line.ends_with('\n'));
    whole
        .filter(|line| {
            !matches!(line.trim_end_matches(['\r', '\n']), "") && !line.starts_with('#') || line.starts_with("##")
        })
        .count()
}

/// Line ends, of whatever lines.
fn ends(text: &str) -> usize {
    memchr::memchr_iter(b'\n', text.as_bytes()).count()
}

/// Where the entry stands among those of a GCX1 header, which are in order.
fn place(header: &str) -> usize {
    let mut at = 0;
    for word in header.split(' ') {
        let is_own = at == 0 || word.starts_with("tool=") || word.starts_with("fields=");
        let name = word.split('=').next().unwrap_or_default();
        if !is_own && name > ENTRY {
            return at - 1;
        }
        at += word.len() + 1;
    }
    header.len()
}
