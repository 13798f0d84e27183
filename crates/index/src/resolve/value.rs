//! What an expression can be worth: a small bounded set of values, each with the evidence for it.
//!
//! Sets are kept sorted, and past a bound they keep what is known directly beside one [`Value::Many`], so a result never depends
//! on the order of insertion and never grows without bound.

use smallvec::SmallVec;

use super::words::Word;
use crate::model::Evidence;

/// A definition (or an object's origin) of a file.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Place {
    /// The file's number.
    pub file: u32,
    /// The definition, or for objects the expression (see the constants).
    pub id: u32,
}

impl Place {
    /// The object that collects a function's remaining positional arguments.
    pub const REST: u32 = 0x8000_0000;
    /// The object that collects a function's remaining named arguments.
    pub const KEYWORD_REST: u32 = 0xa000_0000;
    /// The object that a generator function gives back.
    pub const GENERATOR: u32 = 0xc000_0000;
    /// The object that holds the declared types of a function's parameters that are functions themselves.
    pub const DECLARED: u32 = 0xe000_0000;
    /// The mask of the definition in such an object's id.
    const OWNER: u32 = 0x1fff_ffff;

    /// The object of kind `base` that belongs to the definition.
    pub fn object(self, base: u32) -> Place {
        Place {
            file: self.file,
            id: base | (self.id & Place::OWNER),
        }
    }
}

/// Parameter number of a receiver that is not declared as parameter.
pub const RECEIVER: u32 = 0xffff;

/// One thing an expression can be worth.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Value {
    /// A function as such.
    Function(Place),
    /// A class, interface, enum, namespace as such.
    Class(Place),
    /// An instance of a class.
    Instance(Place),
    /// A function with the instance of a class (the second) as receiver.
    Method(Place, Place),
    /// A function with an object (the second) as receiver.
    MethodOf(Place, Place),
    /// A function with a class itself (the second) as receiver.
    ClassMethod(Place, Place),
    /// The type of a class, as in `Type[C]`: its instance is the class.
    TypeOf(Place),
    /// A file as module.
    Module(u32),
    /// A package or directory without a file of its own.
    Package(Word),
    /// Something of an external package.
    External(Word),
    /// Made by something external: certainly nothing of this tree answers for its members.
    Foreign,
    /// A container, object literal or function type, by where it is written.
    Object(Place),
    /// Key-value pairs of a container.
    Pairs(Place),
    /// The bases of a class, seen from its instance.
    Super(Place),
    /// Whatever callers pass for a parameter; replaced by the argument where a call's result is known.
    Parameter(Place, u32),
    /// More than can be told apart.
    Many,
}

impl Value {
    /// The file that defines what is called when this is called.
    pub fn file(self) -> Option<u32> {
        match self {
            Value::Function(place)
            | Value::Class(place)
            | Value::Instance(place)
            | Value::Method(place, _)
            | Value::MethodOf(place, _)
            | Value::ClassMethod(place, _) => Some(place.file),
            _ => None,
        }
    }
}

/// A value and why it is believed.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Fact {
    /// What.
    pub value: Value,
    /// Why.
    pub evidence: Evidence,
}

impl Fact {
    /// A fact with its evidence.
    pub fn new(value: Value, evidence: Evidence) -> Fact {
        Fact { value, evidence }
    }

    /// All of it in two numbers, for hashing: different facts nearly always have different ones.
    pub(super) fn bits(self) -> [u64; 2] {
        let bits = |place: Place| u64::from(place.file) << 32 | u64::from(place.id);
        let (tag, one, other) = match self.value {
            Value::Function(place) => (1, bits(place), 0),
            Value::Class(place) => (2, bits(place), 0),
            Value::Instance(place) => (3, bits(place), 0),
            Value::Method(place, on) => (4, bits(place), bits(on)),
            Value::MethodOf(place, on) => (5, bits(place), bits(on)),
            Value::ClassMethod(place, on) => (6, bits(place), bits(on)),
            Value::TypeOf(place) => (7, bits(place), 0),
            Value::Module(file) => (8, u64::from(file), 0),
            Value::Package(word) => (9, word.0, 0),
            Value::External(word) => (10, word.0, 0),
            Value::Foreign => (11, 0, 0),
            Value::Object(place) => (12, bits(place), 0),
            Value::Pairs(place) => (13, bits(place), 0),
            Value::Super(place) => (14, bits(place), 0),
            Value::Parameter(place, index) => (15, bits(place), u64::from(index)),
            Value::Many => (16, 0, 0),
        };
        [one, other ^ (tag << 56) ^ ((self.evidence as u64) << 48)]
    }

    /// The same value, believed for no better reason than `evidence`.
    pub fn at_best(self, evidence: Evidence) -> Fact {
        Fact {
            value: self.value,
            evidence: self.evidence.max(evidence),
        }
    }
}

/// Largest number of values a set tells apart.
pub const MAX_SET: usize = 16;

/// The evidence of [`Value::Many`] beside which everything that is known directly is kept.
const OVERFLOWN: Evidence = Evidence::Candidate;

/// The evidence of [`Value::Many`] that stands alone: even what is known directly is too much.
const FULL: Evidence = Evidence::UniqueName;

/// Whether it is known without following values.
fn is_direct(fact: Fact) -> bool {
    fact.evidence <= Evidence::Inherited
}

/// A bounded sorted set of facts.
#[derive(PartialEq, Eq, Debug, Default)]
pub struct Set(SmallVec<[Fact; 2]>);

impl Clone for Set {
    // Copies the facts at once.
    fn clone(&self) -> Set {
        Set(SmallVec::from_slice(&self.0))
    }
}

impl Set {
    /// The set of one.
    pub fn of(value: Value, evidence: Evidence) -> Set {
        let mut set = Set::default();
        set.insert(Fact::new(value, evidence));
        set
    }

    /// The set of facts that are one already: sorted, and as few as a set holds.
    pub fn copied(facts: &[Fact]) -> Set {
        debug_assert!(facts.is_sorted_by(|one, next| one.value < next.value) && facts.len() <= MAX_SET);
        if facts.len() <= 2 {
            return Set(SmallVec::from_slice(facts));
        }
        let mut set = Set(SmallVec::with_capacity(MAX_SET + 1));
        set.0.extend_from_slice(facts);
        set
    }

    /// Makes room for `more` facts. A set that outgrows its own place gets all the room that it can ever need: to grow step by
    /// step takes an allocation for each, and what is freed is of one size and used again at once.
    fn make_room(&mut self, more: usize) {
        if self.0.len() + more > self.0.capacity() {
            self.0.reserve_exact((MAX_SET + 1 - self.0.len()).max(more));
        }
    }

    /// The facts in order of value.
    pub fn facts(&self) -> &[Fact] {
        &self.0
    }

    /// Keeps the facts for which `keep` is true.
    pub fn retain(&mut self, mut keep: impl FnMut(&Fact) -> bool) {
        self.0.retain(|fact| keep(fact));
    }

    /// Whether nothing is known.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether more is possible than the set can say.
    pub fn is_many(&self) -> bool {
        self.many().is_some()
    }

    /// Whether nothing that is added could change it.
    pub fn is_full(&self) -> bool {
        self.many() == Some(FULL)
    }

    /// The evidence of [`Value::Many`], which is the last of all values: [`FULL`] when not even what is known directly fits.
    fn many(&self) -> Option<Evidence> {
        match self.0.last() {
            Some(&Fact {
                value: Value::Many,
                evidence,
            }) => Some(evidence),
            _ => None,
        }
    }

    /// Adds a fact; of two for the same value the better evidence stays.
    pub fn insert(&mut self, fact: Fact) {
        self.grow(fact);
    }

    /// As [`Set::insert`]; says whether the set is another one now.
    pub fn grow(&mut self, fact: Fact) -> bool {
        if self.0.is_empty() {
            self.0.push(fact);
            return true;
        }
        let many = self.many();
        if many.is_some_and(|many| many != OVERFLOWN || (fact.value != Value::Many && !is_direct(fact))) {
            return false;
        }
        if fact.value == Value::Many {
            return self.overflow(fact.evidence);
        }
        match self.0.binary_search_by(|known| known.value.cmp(&fact.value)) {
            Ok(found) => {
                let better = fact.evidence < self.0[found].evidence;
                if better {
                    self.0[found].evidence = fact.evidence;
                }
                better
            }
            Err(_) if many.is_some() && self.0.len() == MAX_SET => self.overflow(FULL),
            Err(place) if self.0.len() == MAX_SET => {
                if is_direct(fact) {
                    self.make_room(1);
                    self.0.insert(place, fact);
                }
                self.overflow(OVERFLOWN)
            }
            Err(place) => {
                self.make_room(1);
                self.0.insert(place, fact);
                true
            }
        }
    }

    /// Says that there are more; whether that is news.
    fn overflow(&mut self, how: Evidence) -> bool {
        let before = (self.0.len(), self.many());
        self.0.retain(|fact| fact.value != Value::Many && is_direct(*fact));
        if how != OVERFLOWN || self.0.len() >= MAX_SET {
            self.0.clear();
            self.0.push(Fact::new(Value::Many, FULL));
        } else {
            self.0.push(Fact::new(Value::Many, OVERFLOWN));
        }
        before != (self.0.len(), self.many())
    }

    /// Adds all of `facts`.
    pub fn extend(&mut self, facts: &[Fact]) {
        let is_set = |facts: &[Fact]| facts.len() <= MAX_SET && facts.is_sorted_by(|one, next| one.value < next.value);
        if self.0.is_empty() && is_set(facts) {
            self.make_room(facts.len());
            self.0.extend_from_slice(facts);
            return;
        }
        for &fact in facts {
            self.insert(fact);
        }
    }

    /// Adds all of `facts`, believed for no better reason than `evidence`.
    pub fn extend_at_best(&mut self, facts: &[Fact], evidence: Evidence) {
        for &fact in facts {
            self.insert(fact.at_best(evidence));
        }
    }
}
