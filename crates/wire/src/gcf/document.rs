//! A decoded payload: flat nodes that borrow the text, and tables whose rows stay rows.
//!
//! Path columns are not unfolded here. A row is its cells and a table; the nested objects appear only while a visitor walks
//! them (`de.rs`). So the memory needed follows the input, whatever its header claims.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;

use super::error::{Category, Error, Result, shown};

/// One value. Containers point into [`Document::nodes`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Node {
    Null,
    /// `~`: this row lacks the column.
    Absent,
    /// `^`: an attachment will take this place. Never in a finished document.
    Attached,
    Bool(bool),
    Integer(i64),
    Float(f64),
    /// A piece of the input.
    Text {
        start: u32,
        len: u32,
    },
    /// A string that had escapes, in [`Document::unescaped`].
    Owned {
        start: u32,
        len: u32,
    },
    Array {
        first: u32,
        len: u32,
    },
    /// Rows side by side, none of them with attachments: an index into [`Document::grids`].
    Grid {
        first: u32,
        grid: u32,
    },
    /// `len` pairs of key and value.
    Map {
        first: u32,
        len: u32,
    },
    /// The cells of a table row.
    Row {
        first: u32,
        table: u32,
    },
    /// As `Row`; after the cells a number of pairs, then the pairs: members whose names cannot be columns.
    LooseRow {
        first: u32,
        table: u32,
    },
}

/// What a column header stands for.
#[derive(Debug)]
pub(crate) struct Field {
    pub(crate) name: Box<str>,
    pub(crate) content: FieldContent,
}

#[derive(Debug)]
pub(crate) enum FieldContent {
    /// The cell with this number.
    Cell(u32),
    /// A value the header gives for all rows.
    Constant(Node),
    /// Columns `name>…`: an index into [`Table::groups`].
    Group(u32),
}

/// A header's columns.
#[derive(Debug)]
pub(crate) struct Table {
    /// Cells per row, without the key of a keyed map.
    pub(crate) width: usize,
    /// Level 0 first; path columns refer to the others.
    pub(crate) groups: Vec<Vec<Field>>,
    /// Levels of nested objects that path columns add.
    pub(crate) height: usize,
    /// Values one row stands for.
    pub(crate) cost: usize,
    /// Fields of level 0 in the order of their names, for tables wide enough to need it.
    sorted: Box<[u32]>,
}

/// Tables up to this wide are searched through, wider ones by bisection.
const NARROW: usize = 8;

impl Table {
    /// The cell of a plain column.
    pub(crate) fn column(&self, name: &str) -> Option<usize> {
        let top = &self.groups[0];
        let field = if self.sorted.is_empty() {
            top.iter().find(|field| *field.name == *name)
        } else {
            let place = self
                .sorted
                .binary_search_by(|field| (*top[*field as usize].name).cmp(name))
                .ok()?;
            Some(&top[self.sorted[place] as usize])
        };
        match field?.content {
            FieldContent::Cell(cell) => Some(cell as usize),
            _ => None,
        }
    }
}

/// Collects columns into a [`Table`].
pub(crate) struct TableBuilder {
    table: Table,
    /// Every name at every level, to refuse a column given twice or inside another.
    names: HashMap<(u32, Box<str>), Option<u32>, foldhash::fast::RandomState>,
    /// Whether `a>b` means a path.
    paths: bool,
}

impl TableBuilder {
    pub(crate) fn new(paths: bool) -> Self {
        let table = Table {
            width: 0,
            groups: vec![Vec::new()],
            height: 0,
            cost: 1,
            sorted: Box::default(),
        };
        Self {
            table,
            names: HashMap::default(),
            paths,
        }
    }

    /// Adds a column: `None` for the next cell, else the constant all rows have. False if the name clashes.
    pub(crate) fn add(&mut self, name: &str, constant: Option<Node>) -> bool {
        let content = match constant {
            Some(value) => FieldContent::Constant(value),
            None => {
                self.table.width += 1;
                FieldContent::Cell(self.table.width as u32 - 1)
            }
        };
        let is_path = self.paths && name.contains('>') && !name.split('>').any(str::is_empty);
        let mut level = 0;
        let mut leaf = name;
        if is_path {
            let mut segments: Vec<&str> = name.split('>').collect();
            leaf = segments.pop().unwrap_or(name);
            self.table.height = self.table.height.max(segments.len());
            for segment in segments {
                let next = self.table.groups.len() as u32;
                match self.names.entry((level, segment.into())).or_insert(Some(next)) {
                    // The name is a column already, so it cannot also hold columns.
                    None => return false,
                    Some(group) if *group == next => {
                        self.table.groups[level as usize].push(Field {
                            name: segment.into(),
                            content: FieldContent::Group(next),
                        });
                        self.table.groups.push(Vec::new());
                        self.table.cost += 1;
                        level = next;
                    }
                    Some(group) => level = *group,
                }
            }
        }
        if self.names.insert((level, leaf.into()), None).is_some() {
            return false;
        }
        self.table.cost += 1;
        self.table.groups[level as usize].push(Field {
            name: leaf.into(),
            content,
        });
        true
    }

    pub(crate) fn finish(mut self) -> Arc<Table> {
        let top = &self.table.groups[0];
        if top.len() > NARROW {
            let mut sorted: Vec<u32> = (0..top.len() as u32).collect();
            sorted.sort_unstable_by_key(|field| &top[*field as usize].name);
            self.table.sorted = sorted.into();
        }
        for group in &mut self.table.groups {
            group.shrink_to_fit();
        }
        self.table.groups.shrink_to_fit();
        Arc::new(self.table)
    }
}

/// A decoded generic payload. Strings borrow the text it came from.
pub struct Document<'a> {
    pub(crate) text: &'a str,
    pub(crate) nodes: Vec<Node>,
    pub(crate) unescaped: String,
    pub(crate) tables: Vec<Arc<Table>>,
    /// Table and number of rows of every [`Node::Grid`].
    pub(crate) grids: Vec<(u32, u32)>,
    pub(crate) root: Node,
    pub(crate) missing_trailer: bool,
}

thread_local! {
    /// Memory of the last payload decoded on this thread, so that the next one finds its pages warm.
    static WARM: RefCell<Vec<Node>> = const { RefCell::new(Vec::new()) };
}

/// How much memory a thread keeps for its next payload.
const MAX_WARM_BYTES: usize = 8 << 20;

impl<'a> Document<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            nodes: WARM.take(),
            unescaped: String::new(),
            tables: Vec::new(),
            grids: Vec::new(),
            root: Node::Null,
            missing_trailer: false,
        }
    }

    /// Hands the memory to the next payload.
    pub(crate) fn recycle(mut self) {
        if self.nodes.capacity() * size_of::<Node>() <= MAX_WARM_BYTES {
            self.nodes.clear();
            WARM.set(self.nodes);
        }
    }

    /// Whether counts were promised for the end of the payload and the end never came: the rows are used as they are.
    pub fn missing_trailer(&self) -> bool {
        self.missing_trailer
    }

    pub(crate) fn children(&self, first: u32, len: usize) -> &[Node] {
        &self.nodes[first as usize..first as usize + len]
    }

    /// How many items an array has, whichever form.
    pub(crate) fn count(&self, node: Node) -> usize {
        match node {
            Node::Array { len, .. } | Node::Map { len, .. } => len as usize,
            Node::Grid { grid, .. } => self.grids[grid as usize].1 as usize,
            _ => 0,
        }
    }

    /// An array's item.
    pub(crate) fn item(&self, array: Node, index: usize) -> Option<Node> {
        match array {
            Node::Array { first, len } if index < len as usize => Some(self.nodes[first as usize + index]),
            Node::Grid { first, grid } => {
                let (table, rows) = self.grids[grid as usize];
                let width = self.tables[table as usize].width;
                (index < rows as usize).then(|| Node::Row {
                    first: first + (index * width) as u32,
                    table,
                })
            }
            _ => None,
        }
    }

    /// The string a node holds, if it holds one.
    pub(crate) fn string(&self, node: Node) -> Option<&str> {
        match node {
            Node::Text { start, len } => Some(&self.text[start as usize..start as usize + len as usize]),
            Node::Owned { start, len } => Some(&self.unescaped[start as usize..start as usize + len as usize]),
            _ => None,
        }
    }

    /// Checks that the keys among `pairs` (key, value, key, value, …) are unique. `what` names them in the error.
    pub(crate) fn check_unique(&self, pairs: &[Node], what: &str, offset: usize) -> Result<()> {
        const SMALL: usize = 8;
        let keys = || {
            pairs
                .iter()
                .step_by(2)
                .map(|key| (*key, self.string(*key).unwrap_or("")))
        };
        if pairs.len() <= SMALL * 2 {
            for (index, (node, key)) in keys().enumerate() {
                if keys().take(index).any(|(_, other)| other == key) {
                    return Err(self.duplicate(node, key, what, offset));
                }
            }
            return Ok(());
        }
        let mut seen = std::collections::HashSet::with_capacity_and_hasher(
            pairs.len() / 2,
            foldhash::fast::RandomState::default(),
        );
        for (node, key) in keys() {
            if !seen.insert(key) {
                return Err(self.duplicate(node, key, what, offset));
            }
        }
        Ok(())
    }

    #[cold]
    fn duplicate(&self, node: Node, key: &str, what: &str, offset: usize) -> Error {
        // Keys with escapes have no place in the text; the line where the object ends is the next best.
        let offset = if let Node::Text { start, .. } = node {
            start as usize
        } else {
            offset
        };
        let found = format!("duplicate {what} {}", shown(key));
        Error::at(
            self.text.as_bytes(),
            offset,
            Category::DuplicateKey,
            found,
            "each key once",
        )
    }
}
