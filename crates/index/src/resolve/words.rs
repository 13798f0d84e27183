//! Names and keys as 64-bit hashes, so that no interner is shared between threads, files or runs.
//!
//! A [`Word`] stands for a text, a [`Key`] for an abstract place that holds values. Both are pure functions of what they
//! stand for; two different texts meet once in 10^13 pairs, and the price would be one wrong edge.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::sync::{PoisonError, RwLock};

use super::value::Place;

/// A text, by its hash. Aligned to four bytes, which makes every value that holds a word or two places a fifth smaller.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
#[repr(C, packed(4))]
pub struct Word(pub u64);

impl Word {
    /// The word of `text`.
    pub fn of(text: &str) -> Word {
        Word(foldhash::quality::FixedState::default().hash_one(text.as_bytes()))
    }

    /// A word made of two, order mattering.
    pub fn then(self, next: Word) -> Word {
        Word(mix(self.0, next.0))
    }
}

/// An abstract place that holds values, by its hash.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Key(pub u64);

/// Word under which all contents of a container are filed.
pub const ALL: Word = Word(1);
/// Word under which contents with an unknown key are filed.
pub const UNKEYED: Word = Word(2);
/// Word under which is filed what was put behind the contents of a container.
pub const APPENDED: Word = Word(3);

impl Key {
    /// A variable of a file, or one of its exports.
    pub fn variable(file: u32, name: Word) -> Key {
        Key::new(1, Place { file, id: 0 }, name.0)
    }

    /// What a function gives back.
    pub fn returned(function: Place) -> Key {
        Key::new(2, function, 0)
    }

    /// What flows into a parameter.
    pub fn parameter(function: Place, index: u32) -> Key {
        Key::new(3, function, u64::from(index))
    }

    /// A member variable of a type.
    pub fn field(type_: Place, name: Word) -> Key {
        Key::new(4, type_, name.0)
    }

    /// A part of a container.
    pub fn content(object: Place, part: Word) -> Key {
        Key::new(5, object, part.0)
    }

    /// What calling an object of a function type gives.
    pub fn result_of_object(object: Place) -> Key {
        Key::new(6, object, 0)
    }

    /// What a file binds, exports or aliases under a name.
    pub fn named(file: u32, name: Word) -> Key {
        Key::new(16, Place { file, id: 0 }, name.0)
    }

    /// The modules of which a file takes every name.
    pub fn wildcards(file: u32) -> Key {
        Key::new(17, Place { file, id: 0 }, 0)
    }

    /// Whether a file has tests.
    pub fn tests(file: u32) -> Key {
        Key::new(18, Place { file, id: 0 }, 0)
    }

    /// What links know of a definition.
    pub fn definition(place: Place) -> Key {
        Key::new(19, place, 0)
    }

    /// The members of a type that are called `name`.
    pub fn member(class: Place, name: Word) -> Key {
        Key::new(20, class, name.0)
    }

    /// All members of a type.
    pub fn members(class: Place) -> Key {
        Key::new(21, class, 0)
    }

    /// Bases and ancestors of a type.
    pub fn ancestry(class: Place) -> Key {
        Key::new(22, class, 0)
    }

    /// The types below a type.
    pub fn heirs(class: Place) -> Key {
        Key::new(23, class, 0)
    }

    /// The interfaces that a type implements without saying so.
    pub fn satisfied(class: Place) -> Key {
        Key::new(24, class, 0)
    }

    /// What the files of a package define under a name.
    pub fn package(package: Word, name: Word) -> Key {
        Key(mix(mix(package.0, 25), name.0))
    }

    /// The types of a qualified name.
    pub fn qualified(name: Word) -> Key {
        Key(mix(name.0, 26))
    }

    /// Whether any file assigns a member of this name.
    pub fn field_name(name: Word) -> Key {
        Key(mix(name.0, 27))
    }

    /// The module that a container has under a name.
    pub fn child(container: Word, name: Word) -> Key {
        Key(mix(mix(container.0, 28), name.0))
    }

    /// Whether a container has any modules.
    pub fn children(container: Word) -> Key {
        Key(mix(container.0, 29))
    }

    /// The file at a path.
    pub fn path(path: Word) -> Key {
        Key(mix(path.0, 30))
    }

    /// What the parts of a container have under a name, or under a word for something else.
    pub fn merged(container: Word, name: Word) -> Key {
        Key(mix(mix(container.0, 31), name.0))
    }

    /// Which parts stand for others of their container.
    pub fn shape(container: Word) -> Key {
        Key(mix(container.0, 32))
    }

    /// A member variable of a type that is written in several places.
    pub fn merged_field(container: Word, name: Word) -> Key {
        Key(mix(mix(container.0, 33), name.0))
    }

    /// What any file has under a name that others take everything of.
    pub fn star(name: Word) -> Key {
        Key(mix(name.0, 34))
    }

    /// Which files are reached from one by imports of everything.
    pub fn stars(file: u32) -> Key {
        Key::new(35, Place { file, id: 0 }, 0)
    }

    fn new(kind: u64, place: Place, extra: u64) -> Key {
        let place = (u64::from(place.file) << 32) | u64::from(place.id);
        Key(mix(mix(place, kind), extra))
    }
}

/// Two numbers hashed into one, order mattering.
pub fn mix(left: u64, right: u64) -> u64 {
    let product = u128::from(left ^ 0x243f_6a88_85a3_08d3) * u128::from(right ^ 0x1319_8a2e_0370_7344);
    let folded = (product as u64) ^ ((product >> 64) as u64);
    folded.rotate_left(23).wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ left.rotate_left(41)
}

/// Hasher for what is a hash already.
#[derive(Default, Clone, Copy)]
pub struct Identity(u64);

impl Hasher for Identity {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = mix(self.0, u64::from(byte));
        }
    }

    fn write_u32(&mut self, value: u32) {
        self.0 = mix(self.0, u64::from(value));
    }

    fn write_u64(&mut self, value: u64) {
        self.0 = if self.0 == 0 { value } else { mix(self.0, value) };
    }
}

/// Map whose keys are hashes already.
pub type WordMap<K, V> = HashMap<K, V, BuildHasherDefault<Identity>>;

/// A set of words, which are hashes already.
pub type WordSet = HashSet<Word, BuildHasherDefault<Identity>>;

/// Texts of the external names met so far. Filled by whoever meets one first; a word's text is always the same, so the
/// order does not matter.
#[derive(Default)]
pub struct Externals {
    texts: RwLock<WordMap<Word, Box<str>>>,
}

impl Externals {
    /// The word of an external path written out.
    pub fn intern(&self, text: &str) -> Word {
        let word = Word::of(text);
        self.insert(word, || text.into());
        word
    }

    /// The word of member `name` of the external `of`.
    pub fn member(&self, of: Word, name: Word, text: &str) -> Word {
        let word = of.then(name);
        self.insert(word, || {
            let parent = self.text(of);
            let separator = if parent.contains("::") { "." } else { "::" };
            format!("{parent}{separator}{text}").into()
        });
        word
    }

    /// The text of `word`.
    pub fn text(&self, word: Word) -> Box<str> {
        let texts = self.texts.read().unwrap_or_else(PoisonError::into_inner);
        texts.get(&word).cloned().unwrap_or_default()
    }

    fn insert(&self, word: Word, text: impl FnOnce() -> Box<str>) {
        let known = self
            .texts
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .contains_key(&word);
        if !known {
            let text = text();
            let mut texts = self.texts.write().unwrap_or_else(PoisonError::into_inner);
            texts.entry(word).or_insert(text);
        }
    }
}
