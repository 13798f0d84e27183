//! Edges as bytes: blocks of sixteen, in which each edge is told by its difference from the one before.
//!
//! Neighbours start in one symbol, end near each other and stand on near lines, so an edge takes five bytes instead of
//! twelve. A block starts from nothing, so any edge is found by its number after reading at most fifteen others. What an edge
//! is besides its ends and its place (kind, origin, confidence) is a row of a small table.
//!
//! Incoming edges are rising numbers of edges, told by their steps, after how many there are.
//!
//! Damaged bytes give wrong or missing edges, never a panic: arithmetic wraps and every access is checked.

use zerocopy::little_endian::{U16, U32};

use super::format::{EdgeBits, MAX_COLUMN};

/// Edges of a block.
const BLOCK: u32 = 16;
/// Where the column ends and the form starts in [`EdgeBits`].
const FORM_SHIFT: u32 = MAX_COLUMN.count_ones();
/// Most bytes of one number.
const MAX_BYTES: usize = 5;
/// Forms there can be.
const FORMS: usize = 1 << (u32::BITS - FORM_SHIFT);

/// One edge. Its source is the symbol whose run it lies in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Edge {
    /// A symbol, or past the last symbol the rank of an external one.
    pub(crate) target: u32,
    pub(crate) line: u32,
    pub(crate) bits: EdgeBits,
}

/// The forms that occur in a snapshot. The most frequent come first, so that nearly all have a number of one byte.
pub(crate) struct Forms {
    forms: Vec<U16>,
    /// How many edges have each of `forms`.
    counts: Vec<u32>,
    /// Number of each form.
    numbers: Vec<u32>,
}

impl Forms {
    pub(crate) fn of(edges: impl Iterator<Item = EdgeBits>) -> Forms {
        let mut counts = vec![0u32; FORMS];
        edges.for_each(|bits| counts[(bits.0 >> FORM_SHIFT) as usize] += 1);
        let mut forms: Vec<u16> = (0..FORMS as u32)
            .filter(|&form| counts[form as usize] > 0)
            .map(|form| form as u16)
            .collect();
        forms.sort_by_key(|&form| std::cmp::Reverse(counts[usize::from(form)]));
        let sorted = forms.iter().map(|&form| counts[usize::from(form)]).collect();
        let mut numbers = counts;
        for (number, &form) in (0..).zip(&forms) {
            numbers[usize::from(form)] = number;
        }
        Forms {
            forms: forms.into_iter().map(U16::new).collect(),
            counts: sorted,
            numbers,
        }
    }

    pub(crate) fn table(&self) -> &[U16] {
        &self.forms
    }

    /// Each form, as an edge at column 0 has it, and how many edges do.
    pub(crate) fn counted(&self) -> impl Iterator<Item = (EdgeBits, u32)> {
        let forms = self
            .forms
            .iter()
            .map(|form| EdgeBits(u32::from(form.get()) << FORM_SHIFT));
        forms.zip(self.counts.iter().copied())
    }
}

/// Appends edges in order.
pub(crate) struct EdgeWriter {
    forms: Forms,
    /// Where each block starts, counted over all that was appended.
    pub(crate) blocks: Vec<U32>,
    count: u32,
    length: u64,
    target: u32,
    line: u32,
}

impl EdgeWriter {
    pub(crate) fn new(forms: Forms) -> EdgeWriter {
        EdgeWriter {
            forms,
            blocks: Vec::new(),
            count: 0,
            length: 0,
            target: 0,
            line: 0,
        }
    }

    /// How many were appended.
    pub(crate) fn count(&self) -> u32 {
        self.count
    }

    /// How many bytes they took.
    pub(crate) fn length(&self) -> u64 {
        self.length
    }

    pub(crate) fn append(&mut self, edge: Edge, bytes: &mut Vec<u8>) {
        if self.count.is_multiple_of(BLOCK) {
            self.blocks.push(U32::new(self.length as u32));
            (self.target, self.line) = (0, 0);
        }
        let numbers = [
            self.forms.numbers[(edge.bits.0 >> FORM_SHIFT) as usize],
            folded(edge.target.wrapping_sub(self.target)),
            folded(edge.line.wrapping_sub(self.line)),
            edge.bits.column(),
        ];
        // Bytes are gathered apart, so that there is one look at the room that is left instead of one for each.
        let (mut told, mut length) = ([0; 4 * MAX_BYTES], 0);
        for number in numbers {
            length = put_at(&mut told, length, number);
        }
        bytes.extend_from_slice(&told[..length]);
        (self.target, self.line) = (edge.target, edge.line);
        self.count += 1;
        self.length += length as u64;
    }
}

/// Where edges are stored.
pub(crate) trait Stored<'a>: Copy {
    /// How many blocks there are.
    fn block_count(&self) -> usize;
    /// Where a block starts among the bytes of all edges.
    fn block(&self, number: usize) -> Option<usize>;
    /// The bytes of edges from a place on: at least so many where there are so many, nothing where they cannot be had.
    fn bytes(&self, at: usize, at_least: usize) -> &'a [u8];
}

/// Reads edges by number; fastest in rising order.
#[derive(Clone)]
pub(crate) struct EdgeReader<'a, S> {
    stored: S,
    forms: &'a [U16],
    position: Position,
    /// Bytes that were asked for last, and where they stand among all.
    bytes: &'a [u8],
    bytes_at: usize,
}

/// How far a reader is: the edge that comes next, where it lies, and what it is told from.
#[derive(Clone, Copy, Default)]
struct Position {
    next: u32,
    at: usize,
    target: u32,
    line: u32,
}

impl<'a, S: Stored<'a>> EdgeReader<'a, S> {
    pub(crate) fn new(stored: S, forms: &'a [U16]) -> EdgeReader<'a, S> {
        EdgeReader {
            stored,
            forms,
            position: Position::default(),
            bytes: &[],
            bytes_at: 0,
        }
    }

    /// Most edges there can be.
    pub(crate) fn capacity(&self) -> usize {
        self.stored.block_count().saturating_mul(BLOCK as usize)
    }

    /// The edge of a number; `None` where the bytes do not hold it.
    pub(crate) fn get(&mut self, number: u32) -> Option<Edge> {
        let block = number - number % BLOCK;
        if self.position.next < block || self.position.next > number {
            self.position.next = block;
        }
        loop {
            let edge = self.read();
            if edge.is_none() {
                self.position = Position::default();
            }
            let edge = edge?;
            if self.position.next > number {
                return Some(edge);
            }
        }
    }

    fn read(&mut self) -> Option<Edge> {
        let position = &mut self.position;
        if position.next.is_multiple_of(BLOCK) {
            position.at = self.stored.block((position.next / BLOCK) as usize)?;
            (position.target, position.line) = (0, 0);
        }
        let known = position.at.checked_sub(self.bytes_at);
        let known = known.and_then(|from| self.bytes.get(from..));
        let mut rest = match known {
            Some(rest) if rest.len() >= 4 * MAX_BYTES => rest,
            _ => {
                self.bytes = self.stored.bytes(position.at, 4 * MAX_BYTES);
                self.bytes_at = position.at;
                self.bytes
            }
        };
        let all = rest.len();
        let form = self.forms.get(take_number(&mut rest)? as usize)?.get();
        position.target = position.target.wrapping_add(unfolded(take_number(&mut rest)?));
        position.line = position.line.wrapping_add(unfolded(take_number(&mut rest)?));
        let column = take_number(&mut rest)?.min(MAX_COLUMN);
        position.at += all - rest.len();
        position.next = position.next.checked_add(1)?;
        Some(Edge {
            target: position.target,
            line: position.line,
            bits: EdgeBits(u32::from(form) << FORM_SHIFT | column),
        })
    }
}

/// Appends rising numbers and how many there are; nothing for none.
pub(crate) fn put_rising(bytes: &mut Vec<u8>, numbers: &[u32]) {
    if numbers.is_empty() {
        return;
    }
    put_number(bytes, numbers.len() as u32);
    let mut before = 0;
    for &number in numbers {
        put_number(bytes, number.wrapping_sub(before));
        before = number;
    }
}

/// How many numbers [`put_rising`] wrote.
pub(crate) fn rising_count(mut bytes: &[u8]) -> usize {
    take_number(&mut bytes).map_or(0, |count| count as usize)
}

/// The numbers that [`put_rising`] wrote.
#[derive(Clone)]
pub(crate) struct Rising<'a> {
    bytes: &'a [u8],
    before: u32,
}

impl<'a> Rising<'a> {
    pub(crate) fn new(mut bytes: &'a [u8]) -> Rising<'a> {
        take_number(&mut bytes);
        Rising { bytes, before: 0 }
    }
}

impl Iterator for Rising<'_> {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        self.before = self.before.wrapping_add(take_number(&mut self.bytes)?);
        Some(self.before)
    }
}

/// Seven bits a byte, the lowest first; the highest bit says that more follow.
fn put_number(bytes: &mut Vec<u8>, number: u32) {
    if number < 128 {
        return bytes.push(number as u8);
    }
    let mut told = [0; MAX_BYTES];
    let length = put_at(&mut told, 0, number);
    bytes.extend_from_slice(&told[..length]);
}

/// Puts a number at a place where there is room for it, and returns where it ends.
#[inline]
fn put_at(told: &mut [u8], mut at: usize, mut number: u32) -> usize {
    while number >= 128 {
        told[at] = number as u8 | 128;
        number >>= 7;
        at += 1;
    }
    told[at] = number as u8;
    at + 1
}

#[inline]
fn take_number(bytes: &mut &[u8]) -> Option<u32> {
    let (&first, rest) = bytes.split_first()?;
    *bytes = rest;
    if first < 128 {
        return Some(u32::from(first));
    }
    let mut number = u32::from(first & 127);
    for shift in [7, 14, 21, 28] {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= u32::from(byte & 127) << shift;
        if byte < 128 {
            return Some(number);
        }
    }
    None
}

/// A difference of either sign as a number that is small where the difference is.
fn folded(difference: u32) -> u32 {
    let difference = difference as i32;
    ((difference << 1) ^ (difference >> 31)) as u32
}

fn unfolded(number: u32) -> u32 {
    (number >> 1) ^ (number & 1).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Copy)]
    struct InMemory<'a> {
        bytes: &'a [u8],
        blocks: &'a [U32],
    }

    impl<'a> Stored<'a> for InMemory<'a> {
        fn block_count(&self) -> usize {
            self.blocks.len()
        }

        fn block(&self, number: usize) -> Option<usize> {
            Some(self.blocks.get(number)?.get() as usize)
        }

        /// No more than was asked for, so that readers go on asking.
        fn bytes(&self, at: usize, at_least: usize) -> &'a [u8] {
            let rest = self.bytes.get(at..).unwrap_or_default();
            &rest[..rest.len().min(at_least + at % 7)]
        }
    }

    fn reader<'a>(bytes: &'a [u8], writer: &'a EdgeWriter) -> EdgeReader<'a, InMemory<'a>> {
        let blocks = &writer.blocks;
        EdgeReader::new(InMemory { bytes, blocks }, writer.forms.table())
    }

    fn edges() -> impl Strategy<Value = Vec<Edge>> {
        let bits = (0u32..14, 0u32..5, 0u32..=100, 0u32..=MAX_COLUMN).prop_map(|(kind, origin, confidence, column)| {
            EdgeBits(kind << 27 | origin << 24 | confidence << 17 | column)
        });
        let edge = (any::<u32>(), any::<u32>(), bits).prop_map(|(target, line, bits)| Edge { target, line, bits });
        prop::collection::vec(edge, 1..100)
    }

    proptest! {
        #[test]
        fn edges_are_read_back_in_any_order(edges in edges(), order in prop::collection::vec(any::<prop::sample::Index>(), 0..50)) {
            let mut writer = EdgeWriter::new(Forms::of(edges.iter().map(|edge| edge.bits)));
            let mut bytes = Vec::new();
            edges.iter().for_each(|&edge| writer.append(edge, &mut bytes));
            prop_assert_eq!(writer.length(), bytes.len() as u64);
            let mut reader = reader(&bytes, &writer);
            for (number, edge) in edges.iter().enumerate() {
                prop_assert_eq!(reader.get(number as u32), Some(*edge));
            }
            for index in order {
                let number = index.index(edges.len());
                prop_assert_eq!(reader.get(number as u32), Some(edges[number]));
            }
            prop_assert_eq!(reader.get(edges.len() as u32 + BLOCK), None);
            prop_assert_eq!(reader.get(0), Some(edges[0]));
        }

        #[test]
        fn rising_numbers_are_read_back(mut numbers in prop::collection::vec(any::<u32>(), 0..60)) {
            numbers.sort_unstable();
            let mut bytes = Vec::new();
            put_rising(&mut bytes, &numbers);
            prop_assert_eq!(rising_count(&bytes), numbers.len());
            prop_assert_eq!(Rising::new(&bytes).collect::<Vec<_>>(), numbers);
        }

        #[test]
        fn damaged_bytes_end(bytes in prop::collection::vec(any::<u8>(), 0..200), blocks in prop::collection::vec(any::<u32>(), 0..4), number in any::<u32>()) {
            let blocks: Vec<U32> = blocks.into_iter().map(U32::new).collect();
            let forms = [U16::new(3), U16::new(u16::MAX)];
            let mut reader = EdgeReader::new(InMemory { bytes: &bytes, blocks: &blocks }, &forms);
            reader.get(number);
            for number in 0..64 {
                reader.get(number);
            }
            prop_assert!(Rising::new(&bytes).count() <= bytes.len());
        }
    }
}
