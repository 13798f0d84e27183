//! A GCX1 text, checked and ready to be said again: as JSON, as a value, in another format.
//!
//! The one trick: nothing is built. Reading notes where each section begins and ends; serializing goes through the text once more.
//! So whatever a text costs to read, it is a small multiple of its length, and rows are as many as they are.

use std::borrow::Cow;
use std::collections::HashSet;

use serde::ser::{Error as _, Serialize, SerializeMap, SerializeSeq, Serializer};

use super::encode::{NOTES, NOTES_COLUMNS, RESERVED};
use super::error::{Error, ErrorKind, Result};
use super::reader::{Header, Line, Reader};
use super::section::{Inferred, Section, Typed, cell_text, check_cell, serialize_typed};
use super::text::{self, Mark};
use crate::answers;
use crate::counted;
use crate::layout::{self, Column, Layout, Rows};

/// A text that was checked: what it says can be serialized.
///
/// A text holds one answer or several: sections of one tool with different names are one answer; another tool, or a section that the
/// answer has already, begins the next. Several are the list `[{"tool": …, "answer": …}]`.
#[derive(Debug)]
pub struct Document<'a> {
    text: &'a str,
    sections: Vec<Span>,
    answers: Vec<Answer<'a>>,
}

/// Where a section is.
#[derive(Debug, Clone, Copy)]
struct Span {
    /// The byte at which its header begins, and the line.
    start: usize,
    line: usize,
    end: usize,
    rows: usize,
    /// How many of its blank lines are rows, from the first.
    blank_rows: usize,
}

/// How many bytes of names a text of this length may stand for. What is past that is not written as columns.
pub(crate) fn most_names(bytes: usize) -> usize {
    (64 << 20) + bytes.saturating_mul(32)
}

/// The sections of one answer.
#[derive(Debug, Clone, Copy)]
struct Answer<'a> {
    /// The first of its sections.
    first: usize,
    layout: Option<&'a Layout<'a>>,
}

/// How the answers of a text are taken apart.
#[derive(Clone, Copy)]
enum Layouts<'a> {
    /// Types are inferred.
    Unknown,
    /// An answer that begins as a known layout does has its types.
    Known,
    /// There is one answer, of this layout.
    Only(&'a Layout<'a>),
}

impl<'a> Document<'a> {
    /// Checks a text. Answers of tools with a layout have the layout's types; those of others are inferred.
    pub fn parse(text: &'a str) -> Result<Self> {
        Self::read(text, Layouts::Known)
    }

    /// Checks a text whose types are all to be inferred.
    pub(crate) fn inferred(text: &'a str) -> Result<Self> {
        Self::read(text, Layouts::Unknown)
    }

    /// Checks a text that must be one answer of this layout.
    pub(crate) fn of(layout: &'a Layout<'a>, text: &'a str) -> Result<Self> {
        Self::read(text, Layouts::Only(layout))
    }

    fn read(text: &'a str, layouts: Layouts<'a>) -> Result<Self> {
        let mut reader = Reader::new(text);
        let mut document = Self {
            text,
            sections: Vec::new(),
            answers: Vec::new(),
        };
        let mut open: Option<Open<'a>> = None;
        let mut names: usize = 0;
        let mut current: Option<SectionCheck> = None;
        while let Some(line) = reader.next_line()? {
            match (line, &mut current) {
                (Line::Header(header), _) => {
                    let start = reader.line_start();
                    if let Some(done) = current.take() {
                        names = names.saturating_add(done.names());
                        document.sections.push(done.finish(start, text)?);
                    }
                    if open.as_ref().is_none_or(|open| !open.takes(&header)) {
                        if let Some(done) = open.take() {
                            done.finish()?;
                            if let Layouts::Only(layout) = layouts {
                                return Err(unknown_section(layout, &header));
                            }
                        }
                        let layout = match layouts {
                            Layouts::Unknown => None,
                            Layouts::Known => answers::layout_for(&header),
                            Layouts::Only(layout) => Some(layout),
                        };
                        document.answers.push(Answer {
                            first: document.sections.len(),
                            layout,
                        });
                        open = Some(Open::new(layout));
                    }
                    let Some(open) = &mut open else { continue };
                    let (typed, needs_row) = open.add(&header)?;
                    let section = Section::new(header, typed)?;
                    current = Some(SectionCheck::new(section, start, needs_row));
                }
                (Line::Row(row, number), Some(check)) => {
                    check.section.check(row, number)?;
                    check.rows += 1;
                    check.cells += memchr::memchr_iter(b'\t', row.as_bytes()).count() + 1;
                }
                (Line::Blank(_), Some(check)) => check.blanks += usize::from(check.section.counts_blanks()),
                (_, None) => {}
            }
        }
        if let Some(done) = current {
            names = names.saturating_add(done.names());
            document.sections.push(done.finish(text.len(), text)?);
        }
        if let Some(missing) = document.missing() {
            return Err(missing);
        }
        if names > most_names(text.len()) {
            let (found, expected) = (format!("rows that stand for {names} bytes of names"), "shorter names");
            return Err(Error::at(
                ErrorKind::TooLarge,
                1,
                1,
                found,
                expected,
                "send fewer rows per payload",
            ));
        }
        if let Some(open) = open {
            open.finish()?;
        }
        for (at, answer) in document.answers.iter().enumerate() {
            document.check_members(answer, document.end_of(at))?;
        }
        Ok(document)
    }

    /// Each answer with its tool, as it stands in the text.
    pub(crate) fn parts(&self) -> impl Iterator<Item = (String, &'a str)> {
        self.answers.iter().enumerate().map(|(at, answer)| {
            let tool = self.section(answer.first, None).map(|section| section.header.tool);
            let start = self.sections.get(answer.first).map_or(0, |span| span.start);
            let last = self.end_of(at).checked_sub(1).and_then(|last| self.sections.get(last));
            let end = last.map_or(start, |span| span.end);
            (tool.unwrap_or_default(), &self.text[start..end])
        })
    }

    /// What is not there of a text whose header says how many lines stand below it.
    fn missing(&self) -> Option<Error> {
        let mut parts = self.parts().zip(&self.answers);
        parts.find_map(|((_, part), answer)| {
            let counted::Missing { found, expected } = counted::missing(part, None)?;
            let line = self.sections.get(answer.first).map_or(1, |span| span.line);
            let remedy = "the payload was cut: ask again";
            Some(Error::at(ErrorKind::RowCount, line, 1, found, expected, remedy))
        })
    }

    fn end_of(&self, answer: usize) -> usize {
        self.answers
            .get(answer + 1)
            .map_or(self.sections.len(), |next| next.first)
    }

    /// A section's header and rules again. They were read before, so this cannot fail.
    fn section(&self, at: usize, layout: Option<&Layout<'_>>) -> Option<Section> {
        let span = self.sections.get(at)?;
        let mut reader = Reader::at(self.text, span.start, span.line);
        let Ok(Some(Line::Header(header))) = reader.next_line() else {
            return None;
        };
        let typed = layout.and_then(|layout| typed(layout, &header));
        Section::new(header, typed).ok()
    }

    /// Goes through the rows of a section.
    fn rows(&self, at: usize) -> impl Iterator<Item = &'a str> {
        let span = self.sections[at];
        let mut reader = Reader::at(&self.text[..span.end], span.start, span.line);
        let mut blanks = span.blank_rows;
        std::iter::from_fn(move || {
            loop {
                match reader.next_line() {
                    Ok(Some(Line::Row(row, _))) => return Some(row),
                    Ok(Some(Line::Blank(_))) if blanks > 0 => {
                        blanks -= 1;
                        return Some("");
                    }
                    Ok(Some(_)) => {}
                    Ok(None) | Err(_) => return None,
                }
            }
        })
    }

    fn count(&self, at: usize) -> usize {
        let span = self.sections[at];
        span.rows + span.blank_rows
    }

    /// Whether the first section of several is what the answer says besides its lists.
    fn is_leading(&self, first: &Section, second: Option<&Section>) -> bool {
        second.is_some_and(|second| parent(&second.header.tool) == Some(first.header.tool.as_str()))
    }

    /// Makes sure that no member of an answer is said twice: a serializer would keep only one.
    fn check_members(&self, answer: &Answer<'_>, end: usize) -> Result<()> {
        let Some(first) = self.section(answer.first, answer.layout) else {
            return Ok(());
        };
        let mut names: Vec<String> = Vec::new();
        match answer.layout {
            Some(layout) => {
                for at in answer.first..end {
                    let Some(section) = self.section(at, Some(layout)) else {
                        continue;
                    };
                    let entries = section.header.entries.iter().map(|(name, _)| name);
                    names.extend(
                        entries
                            .filter(|name| layout.meta.iter().any(|column| column.name == *name))
                            .cloned(),
                    );
                    if is_notes(layout, &section.header) {
                        names.extend(
                            self.rows(at)
                                .filter_map(|row| note_of(row, layout, false).map(|(name, ..)| name.to_owned())),
                        );
                    }
                }
            }
            None if end - answer.first > 1 => {
                let second = self.section(answer.first + 1, None);
                let is_leading = self.is_leading(&first, second.as_ref()) && self.count(answer.first) == 1;
                names.extend(entries_of(&first).map(|(name, _)| name.to_owned()));
                if is_leading && !first.holds_values() {
                    names.extend(first.names().iter().cloned());
                }
                for at in answer.first + usize::from(is_leading)..end {
                    let Some(section) = self.section(at, None) else {
                        continue;
                    };
                    names.push(member_of(&section.header.tool).to_owned());
                }
            }
            None => {
                names.extend(entries_of(&first).map(|(name, _)| name.to_owned()));
                if !names.is_empty() {
                    names.push(member_of(&first.header.tool).to_owned());
                }
            }
        }
        names.sort_unstable();
        match names.windows(2).find(|pair| pair[0] == pair[1]) {
            None => Ok(()),
            Some(pair) => Err(Error::at(
                ErrorKind::Schema,
                first.header.line,
                1,
                format!("the member `{}` twice", pair[0]),
                "each member once",
                "rename one of them",
            )),
        }
    }
}

fn find_section(layout: &Layout<'_>, header: &Header) -> Option<usize> {
    let suffix = header.tool.strip_prefix(layout.tool)?;
    layout.sections.iter().position(|section| section.suffix == suffix)
}

fn is_notes(layout: &Layout<'_>, header: &Header) -> bool {
    header.tool.strip_prefix(layout.tool) == Some(NOTES) && find_section(layout, header).is_none()
}

/// Whether a text that begins with `header` follows `layout`.
pub(crate) fn opens(layout: &Layout<'_>, header: &Header) -> bool {
    let first = layout.sections.first();
    first.is_some_and(|first| header.tool.strip_prefix(layout.tool) == Some(first.suffix) && has_columns(first, header))
}

/// Whether the header's columns are those of the layout (a `_` at the end is padding).
fn has_columns(section: &layout::Section, header: &Header) -> bool {
    let fields = match &header.fields[..] {
        [fields @ .., padding] if padding == "_" && fields.len() == section.columns.len() => fields,
        fields => fields,
    };
    fields.len() == section.columns.len()
        && fields
            .iter()
            .zip(section.columns)
            .all(|(field, column)| field == column.name)
}

fn check_columns(section: &layout::Section, header: &Header) -> Result<()> {
    if has_columns(section, header) {
        return Ok(());
    }
    let expected = section
        .columns
        .iter()
        .map(|column| column.name)
        .collect::<Vec<_>>()
        .join(",");
    let found = format!("the fields {}", header.fields.join(","));
    Err(Error::at(
        ErrorKind::Schema,
        header.line,
        1,
        found,
        expected,
        "decode it without a layout",
    ))
}

fn unknown_section(layout: &Layout<'_>, header: &Header) -> Error {
    let expected: Vec<String> = layout
        .sections
        .iter()
        .map(|section| format!("{}{}", layout.tool, section.suffix))
        .collect();
    let (found, expected) = (format!("the section `{}`", header.tool), expected.join(", "));
    Error::at(
        ErrorKind::Schema,
        header.line,
        1,
        found,
        expected,
        "decode it without a layout",
    )
}

/// The columns of a section of a layout.
fn typed(layout: &Layout<'_>, header: &Header) -> Typed {
    match find_section(layout, header) {
        Some(at) => Some((layout.sections[at].columns, layout.sections[at].rows)),
        None => is_notes(layout, header).then_some((NOTES_COLUMNS, Rows::Many)),
    }
}

/// A row of notes that is an entry of the layout: its name, its text and its column.
fn note_of<'r>(row: &'r str, layout: &Layout<'_>, crlf: bool) -> Option<(&'static str, Cow<'r, str>, &'static Column)> {
    let mut cells = row.split('\t');
    let (name, raw) = (text::unescape(cells.next()?).0, cells.next().unwrap_or_default());
    let column = layout.meta.iter().find(|column| column.name == name)?;
    Some((column.name, cell_text(raw, crlf), column))
}

/// Entries of an inferred section that mean nothing to the format.
fn entries_of(section: &Section) -> impl Iterator<Item = (&str, &str)> {
    let entries = section
        .header
        .entries
        .iter()
        .map(|(name, raw)| (name.as_str(), raw.as_str()));
    entries.filter(|(name, _)| !RESERVED.contains(name))
}

/// The tool that a section with a dotted name is of.
fn parent(tool: &str) -> Option<&str> {
    tool.rsplit_once('.').map(|(parent, _)| parent)
}

/// The member that holds the rows of a section.
fn member_of(tool: &str) -> &str {
    tool.rsplit_once('.').map_or("rows", |(_, member)| member)
}

/// What is known of the answer whose sections are being read.
struct Open<'a> {
    layout: Option<&'a Layout<'a>>,
    /// Sections of the layout that were there.
    seen: Vec<bool>,
    /// The names of the first two sections, which say what tool it is.
    first: Option<String>,
    second: Option<String>,
    /// The names of all sections so far.
    names: HashSet<String>,
}

impl<'a> Open<'a> {
    fn new(layout: Option<&'a Layout<'a>>) -> Self {
        Self {
            layout,
            seen: vec![false; layout.map_or(0, |layout| layout.sections.len())],
            first: None,
            second: None,
            names: HashSet::new(),
        }
    }

    /// Whether a section belongs to this answer: one of the layout, or one of the same tool, that was not there yet.
    fn takes(&self, header: &Header) -> bool {
        if self.names.contains(&header.tool) {
            return false;
        }
        let Some(first) = self.first.as_deref() else {
            return true;
        };
        let of_layout = |layout: &Layout<'_>| find_section(layout, header).is_some() || is_notes(layout, header);
        let is_beside = match self.second.as_deref() {
            // The second says whether the first leads.
            None => {
                parent(&header.tool) == Some(first) || parent(&header.tool).is_some_and(|it| parent(first) == Some(it))
            }
            Some(second) => parent(&header.tool).is_some() && parent(&header.tool) == parent(second),
        };
        is_beside || self.layout.is_some_and(of_layout)
    }

    /// Takes a section: its types, and whether it must have a row.
    fn add(&mut self, header: &Header) -> Result<(Typed, bool)> {
        self.names.insert(header.tool.clone());
        let place = if self.first.is_none() {
            &mut self.first
        } else {
            &mut self.second
        };
        place.get_or_insert_with(|| header.tool.clone());
        let Some(layout) = self.layout else {
            return Ok((None, false));
        };
        let mut needs_row = false;
        if let Some(at) = find_section(layout, header) {
            let described = &layout.sections[at];
            check_columns(described, header)?;
            self.seen[at] = true;
            needs_row = described.rows == Rows::Value || (described.rows == Rows::One && described.member.is_empty());
        } else if !is_notes(layout, header) {
            return Err(unknown_section(layout, header));
        }
        for (key, raw) in &header.entries {
            if let Some(column) = layout.meta.iter().find(|column| column.name == key) {
                check_cell(raw, column, header.line, 0)?;
            }
        }
        Ok((typed(layout, header), needs_row))
    }

    /// All sections of the layout must be there.
    fn finish(&self) -> Result<()> {
        let Some(layout) = self.layout else { return Ok(()) };
        match self.seen.iter().position(|seen| !seen) {
            None => Ok(()),
            Some(at) => {
                let expected = format!("a section `{}{}`", layout.tool, layout.sections[at].suffix);
                Err(Error::at(
                    ErrorKind::Schema,
                    1,
                    1,
                    "the end of the text",
                    expected,
                    "the payload was cut: ask again",
                ))
            }
        }
    }
}

/// A section whose rows are being counted.
struct SectionCheck {
    section: Section,
    start: usize,
    needs_row: bool,
    rows: usize,
    cells: usize,
    blanks: usize,
}

impl SectionCheck {
    fn new(section: Section, start: usize, needs_row: bool) -> Self {
        Self {
            section,
            start,
            needs_row,
            rows: 0,
            cells: 0,
            blanks: 0,
        }
    }

    /// How many bytes of names its rows stand for, at most: a value repeats a column's name in each.
    fn names(&self) -> usize {
        let lengths = self.section.header.fields.iter().map(String::len);
        let (all, longest) = (lengths.clone().sum::<usize>(), lengths.max().unwrap_or_default());
        self.rows.saturating_mul(all).min(self.cells.saturating_mul(longest))
    }

    /// Ends the section at the byte `end`: blank lines become rows where the count needs them, and the count is checked.
    fn finish(self, end: usize, text: &str) -> Result<Span> {
        let header = &self.section.header;
        let declared = self.section.declared.unwrap_or(self.rows);
        let blank_rows = declared.saturating_sub(self.rows).min(self.blanks);
        let problem = |found: String, expected: String| {
            let remedy = "the payload was cut: ask again";
            Err(Error::at(ErrorKind::RowCount, header.line, 1, found, expected, remedy))
        };
        if self.rows + blank_rows != declared {
            return problem(format!("{} rows", self.rows), format!("rows={declared}"));
        }
        // A header, or a row of a counted section, that ends with the text may have been cut.
        let is_whole = self.section.declared.is_none() && self.rows > 0;
        if end == text.len() && !is_whole && !text.ends_with('\n') {
            return problem("a last line without its end".to_owned(), "a line end".to_owned());
        }
        if self.needs_row && declared == 0 {
            return problem("no row".to_owned(), "one row".to_owned());
        }
        if matches!(self.section.typed, Some((_, Rows::One))) && declared > 1 {
            let (found, remedy) = (format!("{declared} rows"), "send one answer per payload");
            return Err(Error::at(ErrorKind::RowCount, header.line, 1, found, "one row", remedy));
        }
        Ok(Span {
            start: self.start,
            line: header.line,
            end,
            rows: self.rows,
            blank_rows,
        })
    }
}

impl Serialize for Document<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let said = |at: usize| SaidAnswer {
            document: self,
            answer: self.answers[at],
            end: self.end_of(at),
        };
        if self.answers.len() == 1 {
            return said(0).serialize(serializer);
        }
        let mut list = serializer.serialize_seq(Some(self.answers.len()))?;
        for at in 0..self.answers.len() {
            list.serialize_element(&Titled(said(at)))?;
        }
        list.end()
    }
}

/// One of several answers, with the tool that gave it.
struct Titled<'d, 'a>(SaidAnswer<'d, 'a>);

impl Serialize for Titled<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let SaidAnswer { document, answer, end } = &self.0;
        let name = |at: usize| {
            document
                .section(at, None)
                .map(|section| section.header.tool)
                .unwrap_or_default()
        };
        let first = name(answer.first);
        let tool = match (answer.layout, end - answer.first) {
            (Some(layout), _) => layout.tool.to_owned(),
            (None, 1) => first,
            // Of several sections the tool is what they have in common.
            (None, _) => parent(&name(answer.first + 1)).unwrap_or(&first).to_owned(),
        };
        let mut map = serializer.serialize_map(Some(2))?;
        map.serialize_entry("tool", &tool)?;
        map.serialize_entry("answer", &self.0)?;
        map.end()
    }
}

/// One answer, to be serialized.
struct SaidAnswer<'d, 'a> {
    document: &'d Document<'a>,
    answer: Answer<'a>,
    end: usize,
}

impl Serialize for SaidAnswer<'_, '_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.answer.layout {
            Some(layout) => self.laid_out(layout, serializer),
            None => self.inferred(serializer),
        }
    }
}

impl SaidAnswer<'_, '_> {
    fn section<E: serde::ser::Error>(&self, at: usize) -> std::result::Result<Section, E> {
        let section = self.document.section(at, self.answer.layout);
        section.ok_or_else(|| E::custom("a section that was checked is gone"))
    }

    fn list<'s>(&'s self, section: &'s Section, at: usize) -> List<'s> {
        List {
            document: self.document,
            section,
            at,
        }
    }

    /// The only row of a section, as a value.
    fn only<'s>(&'s self, section: &'s Section, at: usize) -> Only<'s> {
        Only(self.list(section, at))
    }

    fn laid_out<S: Serializer>(&self, layout: &Layout<'_>, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        if let [described] = layout.sections
            && described.member.is_empty()
            && described.rows != Rows::One
        {
            let section = self.section::<S::Error>(self.answer.first)?;
            return self.list(&section, self.answer.first).serialize(serializer);
        }
        let mut map = serializer.serialize_map(None)?;
        for at in self.answer.first..self.end {
            let section = self.section::<S::Error>(at)?;
            let header = &section.header;
            if is_notes(layout, header) {
                for row in self.document.rows(at) {
                    if let Some((name, text, column)) = note_of(row, layout, section.crlf) {
                        map.serialize_entry(name, &Entry(text, Mark::Plain, false, column))?;
                    }
                }
                continue;
            }
            for (name, raw) in &header.entries {
                if let Some(column) = layout.meta.iter().find(|column| column.name == name) {
                    let (text, mark) = text::unescape(raw);
                    map.serialize_entry(name, &Entry(text, mark, false, column))?;
                }
            }
            let described = find_section(layout, header).map(|at| &layout.sections[at]);
            let described = described.ok_or_else(|| S::Error::custom("a section that was checked is another"))?;
            match (described.member, described.rows) {
                ("", _) => {
                    for row in self.document.rows(at) {
                        section.row(row).members_into(&mut map)?;
                    }
                }
                (member, Rows::Many | Rows::Values) => map.serialize_entry(member, &self.list(&section, at))?,
                (member, Rows::One | Rows::Value) => map.serialize_entry(member, &self.only(&section, at))?,
            }
        }
        map.end()
    }

    /// Puts inferred sections together again; the rules are the encoder's, read backwards.
    fn inferred<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let (document, start) = (self.document, self.answer.first);
        let first = self.section::<S::Error>(start)?;
        let has_entries = entries_of(&first).next().is_some();
        if self.end - start == 1 && !has_entries && first.header.entry("sections").is_none() {
            if first.declared.is_some() {
                return self.list(&first, start).serialize(serializer);
            }
            if document.count(start) == 1 {
                return self.only(&first, start).serialize(serializer);
            }
        }
        let second = match self.end - start {
            1 => None,
            _ => Some(self.section::<S::Error>(start + 1)?),
        };
        let is_leading = document.is_leading(&first, second.as_ref()) && document.count(start) == 1;
        let mut map = serializer.serialize_map(None)?;
        for at in start..self.end {
            let section = self.section::<S::Error>(at)?;
            for (name, raw) in entries_of(&section) {
                let (text, mark) = text::unescape(raw);
                let inferred = if mark == Mark::Plain { Inferred::of(&text) } else { None };
                // Only the first header carries the answer's own entries; another's belong to its section.
                let name = match at == start {
                    true => name.to_owned(),
                    false => format!("{}.{name}", section.header.tool),
                };
                match inferred {
                    Some(inferred) => map.serialize_entry(&name, &inferred)?,
                    None => map.serialize_entry(&name, &*text)?,
                }
            }
            if at == start && is_leading {
                if section.holds_values() {
                    map.serialize_entry("value", &self.only(&section, at))?;
                } else {
                    for row in document.rows(at) {
                        section.row(row).members_into(&mut map)?;
                    }
                }
                continue;
            }
            map.serialize_entry(member_of(&section.header.tool), &self.list(&section, at))?;
        }
        map.end()
    }
}

/// The rows of a section.
struct List<'s> {
    document: &'s Document<'s>,
    section: &'s Section,
    at: usize,
}

impl Serialize for List<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(Some(self.document.count(self.at)))?;
        for row in self.document.rows(self.at) {
            list.serialize_element(&self.section.row(row))?;
        }
        list.end()
    }
}

/// The only row of a section; null where there is none.
struct Only<'s>(List<'s>);

impl Serialize for Only<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self.0.document.rows(self.0.at).next() {
            Some(row) => self.0.section.row(row).serialize(serializer),
            None => serializer.serialize_unit(),
        }
    }
}

/// An entry of a layout's header.
struct Entry<'t>(Cow<'t, str>, Mark, bool, &'static Column);

impl Serialize for Entry<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serialize_typed(serializer, self.0.clone(), self.1, self.3, self.2)
    }
}
