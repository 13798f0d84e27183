//! What a caller may choose: the form of the output, and how much hostile input may cost.

/// The deepest nesting ever accepted, whatever [`Limits::depth`] says: the codec recurses once per level.
pub const MAX_DEPTH: usize = 128;

/// Bounds on work and memory. Exceeding one is an error, never a truncation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Limits {
    /// Nested containers; values above [`MAX_DEPTH`] mean [`MAX_DEPTH`].
    pub depth: usize,
    /// Columns of one table.
    pub fields: usize,
    /// Bytes of a text to decode. Never more than 4 GiB.
    pub input_bytes: usize,
    /// Bytes of encoded text.
    pub output_bytes: usize,
    /// Encoded bytes per byte of equivalent JSON, past the first 64 KiB: bounds indentation and empty cells.
    pub growth: usize,
    /// Cells of one table per value present in it, past the first 4,096 cells.
    pub sparsity: usize,
    /// Decoded values per byte of input, past the first 65,536: bounds what path columns expand to.
    pub expansion: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            depth: MAX_DEPTH,
            fields: 65_536,
            input_bytes: 1 << 30,
            output_bytes: 1 << 30,
            growth: 16,
            sparsity: 16,
            expansion: 8,
        }
    }
}

impl Limits {
    pub(crate) fn effective_depth(&self) -> usize {
        self.depth.min(MAX_DEPTH)
    }
}

/// How nested objects with the same keys in every row are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Nesting {
    /// As path columns, `"customer>name"`: fewest tokens, the canonical form.
    #[default]
    Flatten,
    /// As attachments under the row: some open-weight models read it better.
    Attach,
}

/// Options of the generic encoder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct EncodeOptions {
    pub nesting: Nesting,
    /// Writes columns that are the same in every row into the header, as specification 3.6 has it.
    pub constant_columns: bool,
    pub limits: Limits,
}

impl EncodeOptions {
    /// Writes nested objects as attachments instead of path columns.
    pub fn no_flatten() -> Self {
        Self {
            nesting: Nesting::Attach,
            ..Self::default()
        }
    }

    /// Writes what specification 3.6 writes: constant columns in the headers of tables.
    pub fn constant_columns() -> Self {
        Self {
            constant_columns: true,
            ..Self::default()
        }
    }
}

/// Whether `{name=value}` columns of specification 3.6 are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ConstantColumns {
    /// As specification 3.5.3 demands.
    #[default]
    Reject,
    /// Every row gets the value the header gives.
    Accept,
}

/// Options of the generic decoder.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DecodeOptions {
    pub constant_columns: ConstantColumns,
    pub limits: Limits,
}

impl DecodeOptions {
    /// Reads what writers of specification 3.6 write, which other texts never hold.
    pub fn accepting() -> Self {
        Self {
            constant_columns: ConstantColumns::Accept,
            ..Self::default()
        }
    }
}
