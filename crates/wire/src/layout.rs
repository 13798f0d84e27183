//! Layouts: how an answer type becomes GCX1 sections, as one table beside the type.
//!
//! The one trick: an answer's JSON form is its serde form, and a layout only says which member becomes which section and
//! in what order its fields become columns. Encoding, typed decoding and the reference page all read the same table.

/// The layout of one tool's answer.
#[derive(Debug, Clone, Copy)]
pub struct Layout<'a> {
    /// The tool's name as it stands in the header.
    pub tool: &'a str,
    /// What the answer says, for the reference page.
    pub about: &'static str,
    /// The sections in the order they are written.
    pub sections: &'static [Section],
    /// The members that travel in the first section's header.
    pub meta: &'static [Column],
    /// Writes the answer as plain text, for tools whose answer is read and not decoded: what [`crate::Format::Auto`] uses then.
    /// It says the same facts as the JSON.
    pub text: Option<fn(&serde_json::Value) -> String>,
}

/// One section: a member of the answer as rows of columns.
#[derive(Debug, Clone, Copy)]
pub struct Section {
    /// What follows the tool's name in the header: empty or `.nodes`.
    pub suffix: &'static str,
    /// The member that holds the rows; empty when the answer itself is the row (or the list of rows).
    pub member: &'static str,
    /// What the member is.
    pub rows: Rows,
    /// The columns, in order.
    pub columns: &'static [Column],
    /// Whether the header counts the rows (`rows=3`).
    pub counted: bool,
}

/// What a section's member is in JSON.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rows {
    /// A list of objects, one row each.
    Many,
    /// One object, one row; no row when it is null.
    One,
    /// A list of scalars, one row each, in the only column.
    Values,
    /// One scalar, one row, in the only column.
    Value,
}

/// One column, or one header entry.
#[derive(Debug, Clone, Copy)]
pub struct Column {
    /// Its name in the header, which is also the name of the JSON member.
    pub name: &'static str,
    /// Its type.
    pub kind: Kind,
    /// Whether the value may be absent, so that an empty cell means "none" and not "empty".
    pub optional: bool,
    /// What it says, for the reference page.
    pub about: &'static str,
}

/// The types of cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number.
    Integer,
    /// A number with a fraction.
    Float,
    /// `true` or `false`.
    Flag,
    /// A list of texts, separated by commas; compact JSON when a comma would mislead.
    List,
    /// Any nested value, as compact JSON.
    Json,
    /// A text, or a list of texts as compact JSON.
    Names,
}

impl<'a> Layout<'a> {
    /// A layout without sections: the shape is found from the value (the generic fallback).
    pub const fn generic(tool: &'a str) -> Self {
        Self {
            tool,
            about: "",
            sections: &[],
            meta: &[],
            text: None,
        }
    }

    /// A layout of an answer that is read as plain text.
    pub const fn read_as(tool: &'a str, text: fn(&serde_json::Value) -> String) -> Self {
        Self {
            text: Some(text),
            ..Self::generic(tool)
        }
    }

    /// Whether the shape is found from the value.
    pub const fn is_generic(&self) -> bool {
        self.sections.is_empty()
    }
}

impl Section {
    /// A section of many rows; the other constructors are made from it.
    pub const fn many(suffix: &'static str, member: &'static str, columns: &'static [Column]) -> Self {
        Self {
            suffix,
            member,
            rows: Rows::Many,
            columns,
            counted: false,
        }
    }

    /// A section of at most one row.
    pub const fn one(suffix: &'static str, member: &'static str, columns: &'static [Column]) -> Self {
        Self {
            rows: Rows::One,
            ..Self::many(suffix, member, columns)
        }
    }

    /// A section of scalars in one column.
    pub const fn values(suffix: &'static str, member: &'static str, columns: &'static [Column]) -> Self {
        Self {
            rows: Rows::Values,
            ..Self::many(suffix, member, columns)
        }
    }

    /// A section of one scalar in one column.
    pub const fn value(suffix: &'static str, member: &'static str, columns: &'static [Column]) -> Self {
        Self {
            rows: Rows::Value,
            ..Self::many(suffix, member, columns)
        }
    }

    /// Writes `rows=N` into the header.
    pub const fn counted(self) -> Self {
        Self { counted: true, ..self }
    }
}

impl Column {
    const fn new(name: &'static str, kind: Kind, about: &'static str) -> Self {
        Self {
            name,
            kind,
            optional: false,
            about,
        }
    }

    /// A text column.
    pub const fn text(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Text, about)
    }

    /// A column of whole numbers.
    pub const fn integer(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Integer, about)
    }

    /// A column of numbers with a fraction.
    pub const fn float(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Float, about)
    }

    /// A column of `true` and `false`.
    pub const fn flag(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Flag, about)
    }

    /// A column of lists of texts.
    pub const fn list(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::List, about)
    }

    /// A column of nested values.
    pub const fn json(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Json, about)
    }

    /// A column of texts or lists of texts.
    pub const fn names(name: &'static str, about: &'static str) -> Self {
        Self::new(name, Kind::Names, about)
    }

    /// The value may be absent.
    pub const fn optional(self) -> Self {
        Self { optional: true, ..self }
    }
}

impl Kind {
    /// The name used in the reference page.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "string",
            Self::Integer => "int",
            Self::Float => "float",
            Self::Flag => "bool",
            Self::List => "list",
            Self::Json => "json",
            Self::Names => "string or list",
        }
    }
}

/// A type that can stand in a cell: from it a column's kind follows.
pub trait CellType {
    /// The column's kind.
    const KIND: Kind;
    /// Whether the value may be absent.
    const OPTIONAL: bool = false;

    /// Whether this value is absent, so that JSON leaves its member out.
    fn is_absent(&self) -> bool {
        false
    }
}

impl CellType for String {
    const KIND: Kind = Kind::Text;
}
impl CellType for u64 {
    const KIND: Kind = Kind::Integer;
}
impl CellType for i64 {
    const KIND: Kind = Kind::Integer;
}
impl CellType for u32 {
    const KIND: Kind = Kind::Integer;
}
impl CellType for f64 {
    const KIND: Kind = Kind::Float;
}
impl CellType for bool {
    const KIND: Kind = Kind::Flag;
}
impl CellType for Vec<String> {
    const KIND: Kind = Kind::List;
}
impl CellType for serde_json::Value {
    const KIND: Kind = Kind::Json;
}
impl<T: CellType> CellType for Option<T> {
    const KIND: Kind = T::KIND;
    const OPTIONAL: bool = true;

    fn is_absent(&self) -> bool {
        self.is_none()
    }
}

impl Column {
    /// The column of a member of type `T`.
    pub const fn of<T: CellType>(name: &'static str, about: &'static str) -> Self {
        Self {
            name,
            kind: T::KIND,
            optional: T::OPTIONAL,
            about,
        }
    }
}

/// The wire name of a member: its own, unless another is given.
#[doc(hidden)]
#[macro_export]
macro_rules! wire_name {
    ($field:ident) => {
        stringify!($field)
    };
    ($field:ident $wire:literal) => {
        $wire
    };
}

/// Declares a row type and its columns in one table: `name: Type = "what it says"`, in column order.
/// `name as "wire": Type` gives another name on the wire.
#[macro_export]
macro_rules! row {
    ($(#[$meta:meta])* $name:ident { $($field:ident $(as $wire:literal)? : $type:ty = $about:literal),* $(,)? }) => {
        $(#[$meta])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $name {
            $(
                #[doc = $about]
                $(#[serde(rename = $wire)])?
                #[serde(skip_serializing_if = "wire::layout::CellType::is_absent")]
                pub $field: $type,
            )*
        }

        impl $name {
            /// The columns, in order.
            pub const COLUMNS: &'static [$crate::layout::Column] =
                &[$($crate::layout::Column::of::<$type>($crate::wire_name!($field $($wire)?), $about)),*];
        }
    };
}

/// Declares an answer type with its layout: the members that become sections, then the members that travel in the header.
#[macro_export]
macro_rules! answer {
    (
        $(#[doc = $about:literal])* $name:ident = $tool:literal {
            sections { $($member:ident: $rows:ty => $section:expr),* $(,)? }
            meta { $($field:ident: $type:ty = $says:literal),* $(,)? }
        }
    ) => {
        $(#[doc = $about])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        pub struct $name {
            $(
                #[doc = concat!("The rows of the section declared as `", stringify!($section), "`.")]
                #[serde(default)]
                pub $member: $rows,
            )*
            $(
                #[doc = $says]
                #[serde(skip_serializing_if = "wire::layout::CellType::is_absent")]
                pub $field: $type,
            )*
        }

        impl $name {
            /// The header entries.
            pub const META: &'static [$crate::layout::Column] =
                &[$($crate::layout::Column::of::<$type>(stringify!($field), $says)),*];
        }

        impl $crate::answers::Answer for $name {
            const LAYOUT: $crate::layout::Layout<'static> = $crate::layout::Layout {
                tool: $tool,
                about: concat!($($about),*),
                sections: &[$($section),*],
                meta: Self::META,
                text: None,
            };
        }
    };
}
