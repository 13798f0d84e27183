//! Graph text read back, strictly: five words a node, two decimals a score, numbers in order, edges between known numbers.

use std::collections::HashMap;

use super::super::decode::check_size;
use super::super::decode_scalar::parse_count;
use super::super::error::{Category, Error, Result, shown};
use super::super::header::{Header, Profile};
use super::super::lines::{Line, Lines};
use super::super::options::Limits;
use super::{Edge, Graph, Names, Symbol, expand, group_distance};

/// Decodes a full graph payload without a session. Deltas and session references are errors here.
pub fn decode(text: &str) -> Result<Graph> {
    let payload = read(text, &HashMap::default())?;
    Ok(payload.graph)
}

/// Symbols a session already holds, by number.
pub(super) type Known = HashMap<u64, Symbol, foldhash::fast::RandomState>;

/// A decoded payload with its numbers, which sessions need.
pub(super) struct Payload {
    pub(super) graph: Graph,
    /// Per symbol.
    pub(super) numbers: Vec<u64>,
    pub(super) session: bool,
}

pub(super) fn open<'a>(text: &'a str) -> Result<(Header<'a>, Lines<'a>)> {
    check_size(text, &Limits::default())?;
    let header = Header::parse(text)?;
    if header.profile != Profile::Graph {
        return Err(Error::at(
            text.as_bytes(),
            4,
            Category::UnknownProfile,
            "`profile=generic`",
            "`profile=graph`",
        ));
    }
    let lines = Lines::new(text, header.body);
    Ok((header, lines))
}

pub(super) fn read(text: &str, known: &Known) -> Result<Payload> {
    let (header, lines) = open(text)?;
    if header.is_true("delta") {
        return Err(Error::at(
            text.as_bytes(),
            4,
            Category::MalformedDelta,
            "a delta",
            "a full payload",
        ));
    }
    let graph = Graph {
        tool: header.get("tool").unwrap_or_default().to_owned(),
        token_budget: header.count(text, "budget")?.unwrap_or(0),
        tokens_used: header.count(text, "tokens")?.unwrap_or(0),
        pack_root: header.get("pack_root").unwrap_or_default().to_owned(),
        symbols: Vec::new(),
        edges: Vec::new(),
    };
    let mut reader = Reader {
        text,
        lines,
        graph,
        numbers: Vec::new(),
        places: HashMap::default(),
        known,
        session: header.is_true("session"),
        raw_edges: Vec::new(),
    };
    reader.body()?;
    if header.is_true("unchanged") && reader.numbers.is_empty() {
        return Ok(Payload {
            graph: reader.graph,
            numbers: Vec::new(),
            session: reader.session,
        });
    }
    reader.check_total(&header, "symbols", reader.numbers.len())?;
    reader.check_total(&header, "edges", reader.raw_edges.len())?;
    reader.resolve_edges()?;
    Ok(Payload {
        graph: reader.graph,
        numbers: reader.numbers,
        session: reader.session,
    })
}

struct Reader<'a> {
    text: &'a str,
    lines: Lines<'a>,
    graph: Graph,
    numbers: Vec<u64>,
    /// Number to place among the symbols.
    places: HashMap<u64, u32, foldhash::fast::RandomState>,
    known: &'a Known,
    session: bool,
    raw_edges: Vec<(u32, u32, &'a str, &'a str)>,
}

enum Section {
    None,
    Group(u32),
    Edges {
        declared: Option<u64>,
        at: usize,
    },
    /// Source positions of specification 3.6, which are not part of the graph.
    Locations,
}

impl<'a> Reader<'a> {
    fn error(&self, offset: usize, category: Category, found: impl Into<String>, expected: &str) -> Error {
        Error::at(self.text.as_bytes(), offset, category, found, expected)
    }

    fn line_error(&self, line: Line, category: Category, expected: &str) -> Error {
        self.error(line.start, category, shown(self.lines.content(line)), expected)
    }

    fn check_total(&self, header: &Header<'_>, name: &str, actual: usize) -> Result<()> {
        match header.count(self.text, name)? {
            Some(declared) if declared != actual as u64 => {
                let found = format!("{actual} {name}");
                Err(self.error(
                    0,
                    Category::CountMismatch,
                    found,
                    &format!("{declared}, as the header says"),
                ))
            }
            _ => Ok(()),
        }
    }

    fn body(&mut self) -> Result<()> {
        let mut section = Section::None;
        let mut had_edges = false;
        while let Some(line) = self.lines.peek()? {
            self.lines.advance();
            if line.level > 0 {
                return Err(self.line_error(line, Category::InvalidIndent, "no indentation"));
            }
            let content = self.lines.content(line);
            if let Some(fields) = content.strip_prefix("##! summary") {
                self.trailer(line, fields)?;
                self.end_section(&section)?;
                return match self.lines.peek()? {
                    Some(line) => Err(self.line_error(line, Category::UnexpectedContent, "the end of the payload")),
                    None => Ok(()),
                };
            }
            if let Some(name) = content.strip_prefix("## ") {
                self.end_section(&section)?;
                section = self.section(line, name)?;
                if let Section::Edges { .. } = section {
                    if had_edges {
                        return Err(self.line_error(line, Category::UnexpectedContent, "one section of edges"));
                    }
                    had_edges = true;
                }
                continue;
            }
            match section {
                Section::Group(distance) => self.node(line, content, distance)?,
                Section::Edges { .. } => self.edge(line, content)?,
                Section::Locations => {}
                Section::None => {
                    return Err(self.line_error(line, Category::UnexpectedContent, "a group such as `## targets`"));
                }
            }
        }
        self.end_section(&section)
    }

    fn section(&self, line: Line, header: &str) -> Result<Section> {
        let (name, bracket) = match header.split_once(' ') {
            Some((name, bracket)) => (name, Some(bracket)),
            None => (header, None),
        };
        let declared = match bracket.map(|bracket| bracket.strip_prefix('[').and_then(|count| count.strip_suffix(']')))
        {
            None | Some(Some("?")) => None,
            Some(count) => match count.and_then(parse_count) {
                Some(count) => Some(count),
                None => return Err(self.line_error(line, Category::InvalidCount, "`[count]`")),
            },
        };
        match (name, group_distance(name)) {
            ("edges", _) => Ok(Section::Edges {
                declared,
                at: line.start,
            }),
            ("loc", _) => Ok(Section::Locations),
            (_, Some(distance)) if bracket.is_none() => Ok(Section::Group(distance)),
            _ => Err(self.line_error(
                line,
                Category::UnexpectedContent,
                "targets, related, extended, distance_N or edges",
            )),
        }
    }

    fn end_section(&self, section: &Section) -> Result<()> {
        if let Section::Edges {
            declared: Some(declared),
            at,
        } = section
            && *declared != self.raw_edges.len() as u64
        {
            let found = format!("{} edges", self.raw_edges.len());
            return Err(self.error(*at, Category::CountMismatch, found, &declared.to_string()));
        }
        Ok(())
    }

    /// The totals of a stream. Counts per group are for the reader's eyes only.
    fn trailer(&self, line: Line, fields: &str) -> Result<()> {
        for field in fields.split(' ').filter(|field| !field.is_empty()) {
            let (name, value) = field.split_once('=').unwrap_or((field, ""));
            let actual = match name {
                "symbols" => self.numbers.len(),
                "edges" => self.raw_edges.len(),
                _ => continue,
            };
            if parse_count(value) != Some(actual as u64) {
                let found = format!("`{field}` after {actual}");
                return Err(self.error(line.start, Category::CountMismatch, found, "the totals of the payload"));
            }
        }
        Ok(())
    }

    fn node(&mut self, line: Line, content: &'a str, distance: u32) -> Result<()> {
        let mut words = content.split([' ', '\t']).filter(|word| !word.is_empty());
        let id = words.next().unwrap_or_default();
        let rest: Vec<&str> = words.by_ref().take(5).collect();
        let is_reference = rest.first() == Some(&"#");
        if !id.starts_with('@') || (rest.len() != 4 && !is_reference) {
            return Err(self.line_error(line, Category::InvalidNodeLine, "`@id kind name score provenance`"));
        }
        let Some(number) = id.strip_prefix('@').and_then(parse_count) else {
            return Err(self.line_error(line, Category::InvalidSymbolId, "`@` and a number"));
        };
        if !self.session && number != self.numbers.len() as u64 {
            return Err(self.line_error(line, Category::InvalidSymbolId, &format!("`@{}`", self.numbers.len())));
        }
        let symbol = if is_reference {
            match self.known.get(&number) {
                Some(symbol) if self.session => restated(symbol, &rest[1..], distance),
                _ => return Err(self.line_error(line, Category::UnknownReference, "a symbol this session holds")),
            }
        } else {
            Symbol {
                kind: expand(rest[0]).to_owned(),
                qualified_name: rest[1].to_owned(),
                score: match parse_score(rest[2]) {
                    Some(score) => score,
                    None => return Err(self.line_error(line, Category::InvalidScore, "a score such as `0.78`")),
                },
                provenance: rest[3].to_owned(),
                distance,
            }
        };
        if let Some(held) = self.known.get(&number)
            && (held.kind != symbol.kind || held.qualified_name != symbol.qualified_name)
        {
            return Err(self.line_error(line, Category::InvalidSymbolId, "a number that is not another symbol's"));
        }
        if self.places.insert(number, self.numbers.len() as u32).is_some() {
            return Err(self.line_error(line, Category::InvalidSymbolId, "each number once"));
        }
        self.numbers.push(number);
        self.graph.symbols.push(symbol);
        Ok(())
    }

    fn edge(&mut self, line: Line, content: &'a str) -> Result<()> {
        let mut words = content.split([' ', '\t']).filter(|word| !word.is_empty());
        let ends = words.next().and_then(|ends| ends.split_once('<'));
        let (edge_type, status) = (words.next(), words.next());
        let ends = ends.and_then(|(target, source)| {
            let number = |end: &str| end.strip_prefix('@').and_then(parse_count);
            Some((number(target)?, number(source)?))
        });
        let (Some((target, source)), Some(edge_type), None) = (ends, edge_type, words.next()) else {
            return Err(self.line_error(line, Category::InvalidEdgeSyntax, "`@target<@source type`"));
        };
        let (Some(target), Some(source)) = (self.places.get(&target), self.places.get(&source)) else {
            return Err(self.line_error(line, Category::UnknownEdgeReference, "numbers of declared symbols"));
        };
        self.raw_edges
            .push((*source, *target, edge_type, status.unwrap_or_default()));
        Ok(())
    }

    fn resolve_edges(&mut self) -> Result<()> {
        let names = Names::new(&self.graph.symbols).map_err(|error| {
            Error::at(
                self.text.as_bytes(),
                0,
                error.category(),
                error.found(),
                error.expected(),
            )
        })?;
        let edges = self.raw_edges.iter().map(|(source, target, edge_type, status)| Edge {
            source: self.graph.symbols[*source as usize].qualified_name.clone(),
            target: self.graph.symbols[*target as usize].qualified_name.clone(),
            edge_type: (*edge_type).to_owned(),
            status: (*status).to_owned(),
            source_kind: names.kind_if_needed(*source),
            target_kind: names.kind_if_needed(*target),
        });
        self.graph.edges = edges.collect();
        Ok(())
    }
}

/// A symbol that the session holds, with the score and the provenance that stand beside its reference now.
fn restated(held: &Symbol, words: &[&str], distance: u32) -> Symbol {
    let score = words.first().and_then(|word| parse_score(word));
    let provenance = score.and_then(|_| words.get(1)).map(|word| (*word).to_owned());
    Symbol {
        distance,
        score: score.unwrap_or(held.score),
        provenance: provenance.unwrap_or_else(|| held.provenance.clone()),
        ..held.clone()
    }
}

/// `[-]digits.dd`, nothing else: not `NaN`, not `0.5`.
pub(super) fn parse_score(text: &str) -> Option<f64> {
    let (whole, decimals) = text.split_once('.')?;
    let whole = whole.strip_prefix('-').unwrap_or(whole);
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    (digits(whole) && digits(decimals) && decimals.len() == 2)
        .then(|| text.parse().ok().filter(|score: &f64| score.is_finite()))?
}
