//! A symbol in 32 bytes on disk instead of the 56 of [`SymbolRecord`].
//!
//! Nearly every number of a symbol is small: how long its name is, how many lines it has. The few symbols with a larger one
//! say so in their row and are kept whole in a section of their own.

use zerocopy::little_endian::{U16, U32};
use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout, Unaligned};

use super::format::SymbolRecord;

/// One symbol. The fields are those of [`SymbolRecord`], narrower, and some told by their distance from others.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned, Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct SymbolRow {
    text_start: [u8; 3],
    span_start: U32,
    start_line: [u8; 3],
    /// From `span_start`.
    span_length: U16,
    /// From `start_line`.
    lines: U16,
    parent: U16,
    flags: [u8; 3],
    /// From `span_start`, in either direction; 0 without a comment.
    doc_distance: U16,
    doc_bytes: U16,
    signature_length: u8,
    doc_length: u8,
    owner_length: u8,
    name_start: u8,
    name_length: u8,
    name_line: u8,
    name_column: u8,
    repeat: u8,
    /// Five bits of kind, two of visibility, and [`WIDE`].
    kind: u8,
}

/// A symbol that does not fit its row.
#[derive(FromBytes, IntoBytes, Immutable, KnownLayout, Unaligned, Clone, Copy, Debug)]
#[repr(C)]
pub(crate) struct WideSymbol {
    pub(crate) number: U32,
    pub(crate) record: SymbolRecord,
}

const WIDE: u8 = 1 << 7;

impl SymbolRow {
    /// The row of a symbol; a wide one where a number of it does not fit.
    pub(crate) fn new(record: &SymbolRecord) -> SymbolRow {
        let kind = record.kind & 31 | (record.visibility & 3) << 5;
        SymbolRow::narrow(record, kind).unwrap_or_else(|| SymbolRow {
            kind: kind | WIDE,
            ..zerocopy::FromZeros::new_zeroed()
        })
    }

    fn narrow(record: &SymbolRecord, kind: u8) -> Option<SymbolRow> {
        let short = |number: u32| u16::try_from(number).ok().map(U16::new);
        let byte = |number: U16| u8::try_from(number.get()).ok();
        let three = |number: U32| match number.get().to_le_bytes() {
            [low, middle, high, 0] => Some([low, middle, high]),
            _ => None,
        };
        let distance = match record.doc_bytes.get() {
            0 => 0,
            _ => i64::from(record.doc_start.get()) - i64::from(record.span_start.get()),
        };
        let has_stray_doc = record.doc_bytes.get() == 0 && record.doc_start.get() != 0;
        if has_stray_doc || record.kind > 31 || record.visibility > 3 {
            return None;
        }
        Some(SymbolRow {
            text_start: three(record.text_start)?,
            span_start: record.span_start,
            start_line: three(record.start_line)?,
            span_length: short(record.span_end.get().checked_sub(record.span_start.get())?)?,
            lines: short(record.end_line.get().checked_sub(record.start_line.get())?)?,
            parent: short(record.parent.get())?,
            flags: three(record.flags)?,
            doc_distance: U16::new(i16::try_from(distance).ok()? as u16),
            doc_bytes: short(record.doc_bytes.get())?,
            signature_length: byte(record.signature_length)?,
            doc_length: byte(record.doc_length)?,
            owner_length: byte(record.owner_length)?,
            name_start: byte(record.name_start)?,
            name_length: byte(record.name_length)?,
            name_line: byte(record.name_line)?,
            name_column: byte(record.name_column)?,
            repeat: u8::try_from(record.repeat.get()).ok()?,
            kind,
        })
    }

    pub(crate) fn is_wide(&self) -> bool {
        self.kind & WIDE != 0
    }

    /// The code of its kind, which every row has.
    pub(crate) fn kind(&self) -> u8 {
        self.kind & 31
    }

    /// The code of its visibility, which every row has.
    pub(crate) fn visibility(&self) -> u8 {
        self.kind >> 5 & 3
    }

    /// The symbol of a row that is not wide. Whoever reads one field pays for one: the rest is optimised away.
    #[inline(always)]
    pub(crate) fn record(&self) -> SymbolRecord {
        let start = self.span_start.get();
        let three = |[low, middle, high]: [u8; 3]| u32::from_le_bytes([low, middle, high, 0]);
        let start_line = three(self.start_line);
        let wide = |byte: u8| U16::new(u16::from(byte));
        let doc_start = match self.doc_bytes.get() {
            0 => 0,
            _ => start.wrapping_add_signed(i32::from(self.doc_distance.get() as i16)),
        };
        SymbolRecord {
            text_start: U32::new(three(self.text_start)),
            signature_length: wide(self.signature_length),
            doc_length: wide(self.doc_length),
            owner_length: wide(self.owner_length),
            name_start: wide(self.name_start),
            name_length: wide(self.name_length),
            kind: self.kind(),
            visibility: self.visibility(),
            flags: U32::new(three(self.flags)),
            parent: U32::new(u32::from(self.parent.get())),
            span_start: self.span_start,
            span_end: U32::new(start.saturating_add(u32::from(self.span_length.get()))),
            start_line: U32::new(start_line),
            end_line: U32::new(start_line + u32::from(self.lines.get())),
            name_line: wide(self.name_line),
            name_column: wide(self.name_column),
            repeat: U32::new(u32::from(self.repeat)),
            doc_start: U32::new(doc_start),
            doc_bytes: U32::new(u32::from(self.doc_bytes.get())),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Mostly small, now and then any.
    fn number() -> impl Strategy<Value = u32> {
        prop_oneof![8 => 0u32..200, 2 => 0u32..70_000, 1 => any::<u32>()]
    }

    proptest! {
        #[test]
        fn a_row_is_the_symbol_or_wide(numbers in prop::collection::vec(number(), 17), kind in 0u8..32, visibility in 0u8..4) {
            let short = |at: usize| U16::new(numbers[at] as u16);
            let long = |at: usize| U32::new(numbers[at]);
            let record = SymbolRecord {
                text_start: long(0),
                signature_length: short(1),
                doc_length: short(2),
                owner_length: short(3),
                name_start: short(4),
                name_length: short(5),
                kind,
                visibility,
                flags: long(6),
                parent: long(7),
                span_start: long(8),
                span_end: U32::new(numbers[8].wrapping_add(numbers[9])),
                start_line: long(10),
                end_line: U32::new(numbers[10].wrapping_add(numbers[11])),
                name_line: short(12),
                name_column: short(13),
                repeat: long(14),
                doc_start: U32::new(numbers[8].wrapping_add(numbers[15]).wrapping_sub(50)),
                doc_bytes: long(16),
            };
            let row = SymbolRow::new(&record);
            prop_assert_eq!((row.kind(), row.visibility()), (kind, visibility));
            if !row.is_wide() {
                let read = row.record();
                prop_assert_eq!(read.as_bytes(), record.as_bytes());
            }
        }
    }

    #[test]
    fn a_usual_symbol_fits() {
        let record = SymbolRecord {
            span_start: U32::new(70_000),
            span_end: U32::new(71_000),
            start_line: U32::new(2_000),
            end_line: U32::new(2_040),
            signature_length: U16::new(60),
            doc_start: U32::new(69_900),
            doc_bytes: U32::new(90),
            ..zerocopy::FromZeros::new_zeroed()
        };
        assert!(!SymbolRow::new(&record).is_wide());
        assert_eq!(size_of::<SymbolRow>(), 32);
    }
}
