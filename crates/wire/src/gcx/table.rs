//! The tape: cells already in wire spelling, in the order they came, and where each row ends.
//!
//! The one trick: rows are written once into one buffer while their columns are still being discovered; the final text is
//! made by copying spans, so neither a `Value` nor a `String` per cell ever exists.

use std::borrow::Cow;

use hashbrown::HashMap;

use super::document::most_names;
use super::error::{Error, ErrorKind};
use super::json_cell::Written;
use super::reader::MAX_FIELDS;
use super::stop::Stop;
use super::text;
use crate::layout;

/// From this many columns on, names are looked up in a hash map.
const LINEAR: usize = 12;

/// What the cells of one payload share.
pub(crate) struct Tape {
    pub(crate) bytes: Vec<u8>,
    pub(crate) eol: Eol,
    /// Some text cell holds a CR.
    pub(crate) carriage_return: bool,
    /// Some text cell holds a line end other than CRLF, so that `eol=crlf` would not be true.
    pub(crate) mixed: bool,
}

/// How text with CR is written. Old decoders know no CR, so it is either implied by the header or spelled in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Eol {
    /// A text with CR becomes a JSON string literal.
    Literal,
    /// Every line end of the payload is CRLF: written as LF, and the header says `eol=crlf`.
    Crlf,
}

impl Tape {
    pub(crate) fn new(eol: Eol) -> Self {
        Self {
            bytes: Vec::new(),
            eol,
            carriage_return: false,
            mixed: false,
        }
    }

    /// Whether a second pass with [`Eol::Crlf`] would say the same in plain cells.
    pub(crate) fn is_uniform_crlf(&self) -> bool {
        self.eol == Eol::Literal && self.carriage_return && !self.mixed
    }
}

/// The rows of one section.
pub(crate) struct Table {
    pub(crate) columns: Vec<TableColumn>,
    /// The layout's columns, when there is one; otherwise columns are discovered.
    pub(crate) kinds: Option<&'static [layout::Column]>,
    lookup: HashMap<Cow<'static, str>, u32, foldhash::fast::RandomState>,
    cells: Vec<Cell>,
    /// For each row, the number of cells up to its end.
    row_ends: Vec<u32>,
    /// A text cell of this table holds a line end.
    pub(crate) line_ends: bool,
}

pub(crate) struct TableColumn {
    pub(crate) name: Cow<'static, str>,
    pub(crate) nulls: usize,
    pub(crate) blanks: usize,
    filled: usize,
}

#[derive(Clone, Copy)]
struct Cell {
    column: u32,
    start: u32,
    end: u32,
}

/// `start` of a cell that is null, and of one that is the empty string; both have no bytes.
const NULL: u32 = u32::MAX;
const BLANK: u32 = u32::MAX - 1;

impl Table {
    pub(crate) fn discovered() -> Self {
        Self {
            columns: Vec::new(),
            kinds: None,
            lookup: HashMap::default(),
            cells: Vec::new(),
            row_ends: Vec::new(),
            line_ends: false,
        }
    }

    /// A table with one column `value`, whatever the rows are.
    pub(crate) fn values() -> Self {
        let mut table = Self::discovered();
        table.columns.push(TableColumn::new(Cow::Borrowed("value")));
        table
    }

    pub(crate) fn laid_out(columns: &'static [layout::Column]) -> Self {
        let mut table = Self::discovered();
        table.kinds = Some(columns);
        table.columns = columns
            .iter()
            .map(|column| TableColumn::new(Cow::Borrowed(column.name)))
            .collect();
        table
    }

    pub(crate) fn rows(&self) -> usize {
        self.row_ends.len()
    }

    /// The column named `key`. `hint` is where it is expected: the one after the last.
    #[inline]
    pub(crate) fn column(&mut self, key: &str, hint: usize) -> Result<usize, Stop> {
        match self.columns.get(hint) {
            Some(column) if column.name == key => Ok(hint),
            _ => self.find_column(key),
        }
    }

    fn find_column(&mut self, key: &str) -> Result<usize, Stop> {
        let found = if self.columns.len() < LINEAR {
            self.columns.iter().position(|column| column.name == key)
        } else {
            if self.lookup.is_empty() {
                self.lookup = (0..)
                    .zip(&self.columns)
                    .map(|(at, column)| (column.name.clone(), at))
                    .collect();
            }
            self.lookup.get(key).map(|&at| at as usize)
        };
        if let Some(at) = found {
            return Ok(at);
        }
        if self.kinds.is_some() {
            let expected = self
                .columns
                .iter()
                .map(|column| &*column.name)
                .collect::<Vec<_>>()
                .join(", ");
            return Err(Error::value(
                ErrorKind::Schema,
                format!("a member `{key}`"),
                format!("one of {expected}"),
                "add a column to the layout",
            )
            .into());
        }
        if !text::is_name(key) {
            return Err(Stop::NotColumns);
        }
        let at = self.columns.len();
        let name: Cow<'static, str> = Cow::Owned(key.to_owned());
        if at >= LINEAR {
            self.lookup.insert(name.clone(), at as u32);
        }
        self.columns.push(TableColumn::new(name));
        Ok(at)
    }

    /// Notes a cell whose bytes begin at `start` of the tape and end where the tape ends.
    #[inline]
    pub(crate) fn push(&mut self, tape: &Tape, column: usize, start: usize, written: Written) -> Result<(), Stop> {
        let (start, end) = match written {
            Written::Bytes => {
                self.columns[column].filled += 1;
                (start, tape.bytes.len())
            }
            Written::Null => {
                self.columns[column].nulls += 1;
                (NULL as usize, 0)
            }
            Written::Blank => {
                self.columns[column].blanks += 1;
                (BLANK as usize, 0)
            }
        };
        if end >= BLANK as usize {
            return Err(Error::value(
                ErrorKind::TooLarge,
                "more than 4 GiB of cells",
                "less",
                "send it in pages",
            )
            .into());
        }
        self.cells.push(Cell {
            column: column as u32,
            start: start as u32,
            end: end as u32,
        });
        Ok(())
    }

    pub(crate) fn end_row(&mut self) {
        self.row_ends.push(self.cells.len() as u32);
    }

    /// What an empty cell would have to mean, column by column, when types are inferred.
    pub(crate) fn check_columns(&self, tape: &Tape) -> Result<(), Stop> {
        let rows = self.rows();
        if self.columns.is_empty() || (self.columns.len() == 1 && matches!(&*self.columns[0].name, "value" | "_")) {
            // Reads back as a list of scalars, or as the column beside it that keeps empty rows, so an object with only that key is JSON.
            return Err(Stop::NotColumns);
        }
        // A repeated key would need two cells of one column.
        let repeated = self
            .columns
            .iter()
            .any(|column| column.nulls + column.blanks + column.filled > rows);
        // An empty cell cannot be both `null` and absent.
        let torn = |column: &TableColumn| column.nulls > 0 && column.nulls + column.blanks + column.filled < rows;
        // A union of unlike rows is mostly tabs, and grows as rows × columns.
        let sparse = rows * self.columns.len() > 4 * (self.cells.len() + tape.bytes.len()) + 1024
            || self.columns.len() > MAX_FIELDS;
        let named = |column: &TableColumn| column.name.len().saturating_mul(rows);
        let is_large = self.columns.iter().map(named).fold(0, usize::saturating_add) > most_names(tape.bytes.len());
        if repeated || sparse || is_large || self.columns.iter().any(torn) {
            Err(Stop::NotColumns)
        } else {
            Ok(())
        }
    }

    /// The columns in bytewise order of their names.
    pub(crate) fn sorted(&self) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.columns.len()).collect();
        order.sort_by(|&a, &b| self.columns[a].name.as_bytes().cmp(self.columns[b].name.as_bytes()));
        order
    }

    /// Whether a blank line would stand for a row, which every decoder skips.
    pub(crate) fn needs_padding(&self) -> bool {
        let [column] = &self.columns[..] else { return false };
        column.filled < self.rows()
    }

    /// Appends all rows, with `order` telling which column comes first.
    pub(crate) fn write_rows(&self, tape: &Tape, order: &[usize], out: &mut Vec<u8>) {
        let padded = self.needs_padding();
        let mut rank = vec![0; self.columns.len()];
        for (place, &column) in order.iter().enumerate() {
            rank[column] = place;
        }
        let total: usize = tape.bytes.len() + self.cells.len() + self.rows();
        out.reserve(total);
        let mut slots: Vec<Option<Cell>> = vec![None; self.columns.len()];
        let mut start = 0;
        for &end in &self.row_ends {
            for cell in &self.cells[start..end as usize] {
                slots[rank[cell.column as usize]] = Some(*cell);
            }
            start = end as usize;
            for (place, slot) in slots.iter_mut().enumerate() {
                if place > 0 {
                    out.push(b'\t');
                }
                let Some(cell) = slot.take() else { continue };
                if cell.start == NULL {
                    continue;
                }
                if cell.start == BLANK {
                    if self.must_spell_blank(cell.column as usize) {
                        out.extend_from_slice(b"\\\"\"");
                    }
                    continue;
                }
                let bytes = &tape.bytes[cell.start as usize..cell.end as usize];
                // Old decoders take a line that begins so for a comment or a header, and read `\#` as `#`.
                if place == 0 && (bytes.starts_with(b"#") || bytes.starts_with(b"GCX1")) {
                    out.push(b'\\');
                }
                out.extend_from_slice(bytes);
            }
            if padded {
                out.push(b'\t');
            }
            out.push(b'\n');
        }
    }

    /// Whether the empty string must be a literal `""` because an empty cell means something else in this column.
    fn must_spell_blank(&self, column: usize) -> bool {
        match self.kinds {
            Some(kinds) => kinds[column].optional,
            None => {
                let column = &self.columns[column];
                column.nulls > 0 || column.nulls + column.blanks + column.filled < self.rows()
            }
        }
    }

    /// The columns whose empty cells are all null, and those whose empty cells are all empty strings.
    pub(crate) fn empty_meanings(&self, order: &[usize]) -> (Vec<&str>, Vec<&str>) {
        let mut nulls = Vec::new();
        let mut blanks = Vec::new();
        for &at in order {
            let column = &self.columns[at];
            if column.nulls > 0 {
                nulls.push(&*column.name);
            } else if column.blanks > 0 && !self.must_spell_blank(at) {
                blanks.push(&*column.name);
            }
        }
        (nulls, blanks)
    }
}

impl TableColumn {
    fn new(name: Cow<'static, str>) -> Self {
        Self {
            name,
            nulls: 0,
            blanks: 0,
            filled: 0,
        }
    }
}
