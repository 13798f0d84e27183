//! Types by their names alone, as far as they tell overloads apart: numbers by rank, text, arrays by what they hold.

use syntax::facts::{Bound, Expression, ExpressionId, FileFacts, LiteralKind};

use super::words::Word;

/// What is known of the type of a parameter or an argument.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TypeName {
    /// Nothing.
    #[default]
    Unknown,
    /// A type parameter: any type but a primitive one.
    Any,
    /// The root of all types: takes everything, and is nothing else.
    Root,
    /// A number, boxed or not, by its rank among those that widen into each other; 0 is any.
    Number(u8),
    /// A truth value.
    Boolean,
    /// Text.
    Text,
    /// Nothing there.
    Null,
    /// A function written in place.
    Function,
    /// Several of what has this name; word 0 is anything.
    Array(Word),
    /// A type of this name.
    Named(Word),
}

impl TypeName {
    /// The type that `expression` says, read as a type.
    pub fn of_type(facts: &FileFacts, expression: ExpressionId, wrapped_arrays: bool) -> TypeName {
        let mut at = expression;
        for _ in 0..8 {
            match *facts.expression(at) {
                Expression::Literal(kind) => return TypeName::of_literal(kind),
                Expression::Free { name, .. } | Expression::Member { name, .. } => {
                    return TypeName::of_name(facts.text(name));
                }
                Expression::Bound { binding, .. } => {
                    return match facts.bindings.get(binding.index()) {
                        Some(binding) if binding.to != Bound::TypeParameter => {
                            TypeName::of_name(facts.text(binding.name))
                        }
                        _ => TypeName::Any,
                    };
                }
                Expression::Definition(id) => return TypeName::of_name(facts.text(facts.definition(id).name)),
                Expression::Generic { base, .. } => at = base,
                Expression::Wrapped(inner) if wrapped_arrays => return TypeName::Array(element_name(facts, inner)),
                Expression::Wrapped(inner) => at = inner,
                Expression::FunctionType(_) => return TypeName::Function,
                _ => return TypeName::Unknown,
            }
        }
        TypeName::Unknown
    }

    pub fn of_literal(kind: LiteralKind) -> TypeName {
        match kind {
            LiteralKind::Text => TypeName::Text,
            LiteralKind::Number | LiteralKind::Other => TypeName::Number(0),
            LiteralKind::Boolean => TypeName::Boolean,
            LiteralKind::Null => TypeName::Null,
        }
    }

    /// The type of an element of an array, by its name.
    pub fn of_element(name: Word) -> TypeName {
        let primitive = PRIMITIVES.iter().find(|primitive| Word::of(primitive) == name);
        match primitive {
            Some(primitive) => TypeName::of_name(primitive),
            None if name == Word(0) => TypeName::Unknown,
            None if name == PARAMETER => TypeName::Any,
            None if name == Word::of("String") || name == Word::of("string") => TypeName::Text,
            None => TypeName::Named(name),
        }
    }

    /// The type that is called `name`.
    pub fn of_name(name: &str) -> TypeName {
        match name {
            "Object" | "Any" | "any" | "object" => TypeName::Root,
            "auto" => TypeName::Any,
            "String" | "CharSequence" | "string" | "string_view" | "str" => TypeName::Text,
            "byte" | "Byte" => TypeName::Number(1),
            "short" | "Short" | "Int16" => TypeName::Number(2),
            "char" | "Character" | "Char" => TypeName::Number(CHARACTER),
            "int" | "Int" | "Integer" | "unsigned" | "Int32" => TypeName::Number(3),
            "long" | "Long" | "size_t" | "Int64" => TypeName::Number(4),
            "float" | "Float" | "Single" => TypeName::Number(5),
            "sbyte" | "SByte" => TypeName::Number(SIGNED_BYTE),
            "ushort" | "UInt16" => TypeName::Number(UNSIGNED_SHORT),
            "uint" | "UInt32" => TypeName::Number(UNSIGNED),
            "ulong" | "UInt64" => TypeName::Number(UNSIGNED_LONG),
            "decimal" | "Decimal" => TypeName::Number(DECIMAL),
            "double" | "Double" => TypeName::Number(6),
            // These do not widen, so their ranks only tell them apart.
            "u8" => TypeName::Number(11),
            "u16" => TypeName::Number(12),
            "u32" => TypeName::Number(13),
            "u64" => TypeName::Number(14),
            "usize" => TypeName::Number(15),
            "i8" => TypeName::Number(16),
            "i16" => TypeName::Number(17),
            "i32" => TypeName::Number(18),
            "i64" => TypeName::Number(19),
            "isize" => TypeName::Number(20),
            "f32" => TypeName::Number(21),
            "f64" => TypeName::Number(22),
            "Number" => TypeName::Number(0),
            "Boolean" | "bool" | "boolean" => TypeName::Boolean,
            name => TypeName::Named(Word::of(name)),
        }
    }
}

/// The rank of characters: they widen into `int` and what follows it, and nothing widens into them.
const CHARACTER: u8 = 10;
const INTEGER: u8 = 3;

/// Ranks of numbers that widen in ways of their own.
const SIGNED_BYTE: u8 = 31;
const UNSIGNED_SHORT: u8 = 32;
const UNSIGNED: u8 = 33;
const UNSIGNED_LONG: u8 = 34;
const DECIMAL: u8 = 35;

/// Whether a number of rank `one` is passed where one of the higher rank `other` is asked for; 0 is any.
pub(super) fn widens(one: u8, other: u8) -> bool {
    match (one, other) {
        (0, _) | (_, 0) => true,
        (DECIMAL, _) => false,
        (_, DECIMAL) => !matches!(one, 5 | 6),
        (SIGNED_BYTE, _) => (2..=6).contains(&other),
        (UNSIGNED_SHORT, _) => matches!(other, INTEGER..=6 | UNSIGNED | UNSIGNED_LONG),
        (UNSIGNED, _) => matches!(other, 4..=6 | UNSIGNED_LONG),
        (UNSIGNED_LONG, _) => matches!(other, 5 | 6),
        (1 | CHARACTER, UNSIGNED_SHORT..=UNSIGNED_LONG) => true,
        (_, SIGNED_BYTE..=UNSIGNED_LONG) => false,
        (CHARACTER, _) => (INTEGER..CHARACTER).contains(&other),
        (_, CHARACTER) => false,
        _ => one < other,
    }
}

/// Types whose arrays are like no other's.
const PRIMITIVES: &[&str] = &[
    "byte", "short", "char", "int", "long", "float", "double", "boolean", "bool", "sbyte", "ushort", "uint", "ulong",
    "decimal",
];

/// What stands for the name of a type parameter in arrays of it.
pub(super) const PARAMETER: Word = Word(9);

/// Whether arrays of what has this name are like no other's.
pub(super) fn is_primitive(name: Word) -> bool {
    PRIMITIVES.iter().any(|primitive| Word::of(primitive) == name)
}

/// The name of what an array holds; arrays of arrays count their depth in.
pub(super) fn element_name(facts: &FileFacts, inner: ExpressionId) -> Word {
    match *facts.expression(inner) {
        Expression::Free { name, .. } | Expression::Member { name, .. } => Word::of(facts.text(name)),
        Expression::Bound { binding, .. } => match facts.bindings.get(binding.index()) {
            Some(binding) if binding.to != Bound::TypeParameter => Word::of(facts.text(binding.name)),
            _ => PARAMETER,
        },
        Expression::Generic { base, .. } => element_name(facts, base),
        Expression::Wrapped(inner) => element_name(facts, inner).then(Word(7)),
        _ => Word(0),
    }
}
