//! A value to encode, as flat arrays: nodes, one text, interned keys, and shapes.
//!
//! The trick is the shape: an object is a shape number and its values side by side. Objects with the same keys in the same
//! order have the same number, so "do all rows look alike?" compares integers, and a column is an offset.

use std::cell::RefCell;
use std::hash::BuildHasher;

use hashbrown::HashTable;

use super::error::{Category, Error, Result};
use super::options::Limits;

const NONE: u32 = u32::MAX;

/// One value. Containers point at their values, which lie side by side in [`Tape::nodes`].
#[derive(Debug, Clone, Copy)]
pub(crate) enum Node {
    Null,
    Bool(bool),
    Integer(i64),
    Float(f64),
    Text { start: u32, len: u32 },
    Array { first: u32, len: u32 },
    Object { first: u32, shape: u32 },
}

impl Node {
    pub(crate) fn is_container(self) -> bool {
        matches!(self, Node::Array { .. } | Node::Object { .. })
    }
}

/// A finished value.
pub(crate) struct Tape {
    pub(crate) nodes: Vec<Node>,
    text: String,
    pub(crate) keys: Keys,
    pub(crate) shapes: Shapes,
    /// About the size of the value as compact JSON: what output limits are measured against.
    pub(crate) weight: usize,
}

impl Tape {
    pub(crate) fn text(&self, start: u32, len: u32) -> &str {
        &self.text[start as usize..start as usize + len as usize]
    }

    pub(crate) fn children(&self, first: u32, len: u32) -> &[Node] {
        &self.nodes[first as usize..first as usize + len as usize]
    }

    /// The values of an object, in the order of its shape's keys.
    pub(crate) fn members(&self, first: u32, shape: u32) -> &[Node] {
        self.children(first, self.shapes.len(shape))
    }
}

/// Interned keys.
pub(crate) struct Keys {
    text: String,
    spans: Vec<(u32, u32)>,
    table: HashTable<u32>,
    hasher: foldhash::fast::RandomState,
}

impl Keys {
    fn new() -> Self {
        Self {
            text: String::new(),
            spans: Vec::new(),
            table: HashTable::new(),
            hasher: foldhash::fast::RandomState::default(),
        }
    }

    pub(crate) fn get(&self, key: u32) -> &str {
        let (start, len) = self.spans[key as usize];
        &self.text[start as usize..start as usize + len as usize]
    }

    pub(crate) fn count(&self) -> usize {
        self.spans.len()
    }

    fn intern(&mut self, key: &str) -> Result<u32> {
        let hash = self.hasher.hash_one(key);
        if let Some(found) = self.table.find(hash, |candidate| self.get(*candidate) == key) {
            return Ok(*found);
        }
        let (Ok(start), Ok(len)) = (u32::try_from(self.text.len()), u32::try_from(key.len())) else {
            return Err(too_large());
        };
        let id = self.spans.len() as u32;
        self.text.push_str(key);
        self.spans.push((start, len));
        let Self {
            text,
            spans,
            table,
            hasher,
        } = self;
        table.insert_unique(hash, id, |other| {
            let (start, len) = spans[*other as usize];
            hasher.hash_one(&text[start as usize..start as usize + len as usize])
        });
        Ok(id)
    }
}

/// One step of a key list: the list so far, and the key added to it.
struct Shape {
    parent: u32,
    key: u32,
    len: u32,
    /// The most common next step; others are in [`Shapes::branches`].
    first_child: u32,
    /// Where the key list begins in [`Shapes::lists`], once an object ended here.
    list: u32,
}

/// A step that a field of a type took before. A `'static` key is known by its address, so a hit costs no look at the key.
#[derive(Clone, Copy)]
struct Taken {
    parent: u32,
    next: u32,
    address: usize,
    len: usize,
}

const TAKEN_SLOTS: usize = 256;
const NOT_TAKEN: Taken = Taken {
    parent: NONE,
    next: NONE,
    address: 0,
    len: 0,
};

/// All key lists seen, as a tree of steps.
pub(crate) struct Shapes {
    steps: Vec<Shape>,
    branches: HashTable<u32>,
    lists: Vec<u32>,
    /// Per key, the last list it was seen in: finds duplicates in one pass.
    stamps: Vec<u32>,
    hasher: foldhash::fast::RandomState,
}

impl Shapes {
    const EMPTY: u32 = 0;

    fn new() -> Self {
        let empty = Shape {
            parent: NONE,
            key: NONE,
            len: 0,
            first_child: NONE,
            list: 0,
        };
        Self {
            steps: vec![empty],
            branches: HashTable::new(),
            lists: Vec::new(),
            stamps: Vec::new(),
            hasher: foldhash::fast::RandomState::default(),
        }
    }

    pub(crate) fn count(&self) -> usize {
        self.steps.len()
    }

    pub(crate) fn len(&self, shape: u32) -> u32 {
        self.steps[shape as usize].len
    }

    /// The keys of a finished object's shape, in order.
    pub(crate) fn keys(&self, shape: u32) -> &[u32] {
        let step = &self.steps[shape as usize];
        &self.lists[step.list as usize..step.list as usize + step.len as usize]
    }

    fn step(&mut self, parent: u32, key: u32) -> Result<u32> {
        let first = self.steps[parent as usize].first_child;
        if first != NONE && self.steps[first as usize].key == key {
            return Ok(first);
        }
        let hash = self.hasher.hash_one((parent, key));
        if first != NONE
            && let Some(found) = self.branches.find(hash, |candidate| {
                let step = &self.steps[*candidate as usize];
                step.parent == parent && step.key == key
            })
        {
            return Ok(*found);
        }
        let id = u32::try_from(self.steps.len())
            .ok()
            .filter(|id| *id != NONE)
            .ok_or_else(too_large)?;
        let len = self.steps[parent as usize].len + 1;
        self.steps.push(Shape {
            parent,
            key,
            len,
            first_child: NONE,
            list: NONE,
        });
        if first == NONE {
            // A chain of keys seen once costs no table entry.
            self.steps[parent as usize].first_child = id;
        } else {
            let Self {
                steps,
                branches,
                hasher,
                ..
            } = self;
            branches.insert_unique(hash, id, |other| {
                let step = &steps[*other as usize];
                hasher.hash_one((step.parent, step.key))
            });
        }
        Ok(id)
    }

    /// Lists a shape's keys the first time an object ends there; that is also when duplicates show.
    fn finish(&mut self, shape: u32, keys: &Keys) -> Result<()> {
        if self.steps[shape as usize].list != NONE {
            return Ok(());
        }
        let len = self.steps[shape as usize].len as usize;
        let start = self.lists.len();
        self.lists.resize(start + len, 0);
        self.stamps.resize(keys.count(), 0);
        let mut step = shape;
        for slot in (start..start + len).rev() {
            let key = self.steps[step as usize].key;
            if self.stamps[key as usize] == shape {
                let found = format!("the key {:?} twice in one object", keys.get(key));
                return Err(Error::new(Category::DuplicateKey, found, "each key once"));
            }
            self.stamps[key as usize] = shape;
            self.lists[slot] = key;
            step = self.steps[step as usize].parent;
        }
        self.steps[shape as usize].list = u32::try_from(start).map_err(|_| too_large())?;
        Ok(())
    }
}

/// Builds a [`Tape`] from the inside out: values wait on a stack until their container ends.
pub(crate) struct Builder {
    tape: Tape,
    stack: Vec<Node>,
    taken: Box<[Taken; TAKEN_SLOTS]>,
    depth: usize,
    max_depth: usize,
}

/// Nodes, stack and text, empty but with memory.
type Warm = (Vec<Node>, Vec<Node>, String);

thread_local! {
    /// Memory of the last value encoded on this thread, so that the next one finds its pages warm.
    static WARM: RefCell<Option<Warm>> = const { RefCell::new(None) };
}

/// How much memory a thread keeps for its next value.
const MAX_WARM_BYTES: usize = 8 << 20;

impl Tape {
    /// Hands the memory to the next value.
    pub(crate) fn recycle(mut self, mut stack: Vec<Node>) {
        if (self.nodes.capacity() + stack.capacity()) * size_of::<Node>() + self.text.capacity() <= MAX_WARM_BYTES {
            self.nodes.clear();
            self.text.clear();
            stack.clear();
            WARM.with_borrow_mut(|warm| *warm = Some((self.nodes, stack, self.text)));
        }
    }
}

/// An object or array being built.
pub(crate) struct Open {
    base: usize,
    shape: u32,
}

impl Builder {
    pub(crate) fn new(limits: &Limits) -> Self {
        let (nodes, stack, text) = WARM.with_borrow_mut(Option::take).unwrap_or_default();
        Self {
            tape: Tape {
                nodes,
                text,
                keys: Keys::new(),
                shapes: Shapes::new(),
                weight: 0,
            },
            stack,
            taken: Box::new([NOT_TAKEN; TAKEN_SLOTS]),
            depth: 0,
            max_depth: limits.effective_depth(),
        }
    }

    /// The finished tape, its root, and the empty stack for [`Tape::recycle`].
    pub(crate) fn finish(mut self) -> Result<(Tape, Node, Vec<Node>)> {
        match (self.stack.pop(), self.stack.is_empty()) {
            (Some(root), true) => Ok((self.tape, root, self.stack)),
            _ => Err(Error::new(
                Category::InvalidValue,
                "a value that serialized to nothing or to several values",
                "one value",
            )),
        }
    }

    /// Forgets the last value but keeps keys, shapes and memory, for the next one.
    pub(crate) fn clear(&mut self) {
        self.tape.nodes.clear();
        self.tape.text.clear();
        self.tape.weight = 0;
        self.stack.clear();
        self.depth = 0;
    }

    pub(crate) fn peek(&self) -> (&Tape, Option<Node>) {
        (&self.tape, self.stack.last().copied())
    }

    #[inline]
    pub(crate) fn scalar(&mut self, node: Node) {
        self.tape.weight += 4;
        self.stack.push(node);
    }

    #[inline]
    pub(crate) fn text(&mut self, text: &str) -> Result<()> {
        let start = self.tape.text.len();
        if start + text.len() > u32::MAX as usize {
            return Err(too_large());
        }
        self.tape.text.push_str(text);
        self.tape.weight += text.len() + 3;
        self.stack.push(Node::Text {
            start: start as u32,
            len: text.len() as u32,
        });
        Ok(())
    }

    #[inline]
    pub(crate) fn open(&mut self) -> Result<Open> {
        self.depth += 1;
        if self.depth > self.max_depth {
            return Err(Error::new(
                Category::TooDeep,
                format!("a value nested more than {} levels", self.max_depth),
                "a shallower value",
            ));
        }
        Ok(Open {
            base: self.stack.len(),
            shape: Shapes::EMPTY,
        })
    }

    /// Adds a key to an open object; its value must follow.
    #[inline]
    pub(crate) fn key(&mut self, open: &mut Open, key: &str) -> Result<()> {
        self.tape.weight += key.len() + 4;
        let next = self.tape.shapes.steps[open.shape as usize].first_child;
        if next != NONE && self.tape.keys.get(self.tape.shapes.steps[next as usize].key) == key {
            open.shape = next;
            return Ok(());
        }
        let id = self.tape.keys.intern(key)?;
        open.shape = self.tape.shapes.step(open.shape, id)?;
        Ok(())
    }

    /// As [`Builder::key`], for the field names of types: in the usual case one pointer comparison.
    #[inline]
    pub(crate) fn static_key(&mut self, open: &mut Open, key: &'static str) -> Result<()> {
        self.tape.weight += key.len() + 4;
        let address = key.as_ptr().addr();
        let slot = (address ^ (address >> 8) ^ (open.shape as usize).wrapping_mul(31)) % TAKEN_SLOTS;
        let taken = self.taken[slot];
        if taken.parent == open.shape && taken.address == address && taken.len == key.len() {
            open.shape = taken.next;
            return Ok(());
        }
        let id = self.tape.keys.intern(key)?;
        let next = self.tape.shapes.step(open.shape, id)?;
        self.taken[slot] = Taken {
            parent: open.shape,
            next,
            address,
            len: key.len(),
        };
        open.shape = next;
        Ok(())
    }

    #[inline]
    pub(crate) fn close_object(&mut self, open: &Open) -> Result<()> {
        self.tape.shapes.finish(open.shape, &self.tape.keys)?;
        let first = self.settle(open)?;
        self.stack.push(Node::Object {
            first,
            shape: open.shape,
        });
        Ok(())
    }

    /// Undoes [`Builder::open`] for a wrapper that is not itself a value; what was added since stays.
    pub(crate) fn abandon(&mut self, _open: &Open) {
        self.depth -= 1;
    }

    #[inline]
    pub(crate) fn close_array(&mut self, open: &Open) -> Result<()> {
        let len = (self.stack.len() - open.base) as u32;
        let first = self.settle(open)?;
        self.stack.push(Node::Array { first, len });
        Ok(())
    }

    /// Moves a container's values from the stack to their place.
    #[inline]
    fn settle(&mut self, open: &Open) -> Result<u32> {
        self.depth -= 1;
        self.tape.weight += 2;
        let first = self.tape.nodes.len();
        if first + self.stack.len() > NONE as usize {
            return Err(too_large());
        }
        self.tape.nodes.extend_from_slice(&self.stack[open.base..]);
        self.stack.truncate(open.base);
        Ok(first as u32)
    }
}

#[cold]
fn too_large() -> Error {
    Error::new(Category::TooLarge, "a value of more than 4 GiB", "a smaller value")
}
