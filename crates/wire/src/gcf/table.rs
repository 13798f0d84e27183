//! Tables: the union of keys, path columns for nested objects, attachments for what stays nested.
//!
//! Everything is decided before the first row is written, in passes that are linear in the rows; rows of one shape need no
//! lookup at all.

use super::encode::{Encoder, Lead};
use super::error::{Category, Error, Result};
use super::options::Nesting;
use super::scalar::{write_integer, write_key, write_quoted, write_text};
use super::tape::{Node, Tape};

const ABSENT: u32 = u32::MAX;

/// Where a table's rows come from.
#[derive(Clone, Copy)]
pub(crate) enum Rows<'a> {
    Array(&'a [Node]),
    Map { keys: &'a [u32], values: &'a [Node] },
}

impl<'a> Rows<'a> {
    fn nodes(self) -> &'a [Node] {
        match self {
            Rows::Array(nodes) => nodes,
            Rows::Map { values, .. } => values,
        }
    }
}

/// Working memory for unions, sized once per payload. A stamp says whether an entry belongs to the union being computed.
pub(crate) struct Scratch {
    stamp: u32,
    key_stamps: Vec<u32>,
    key_columns: Vec<u32>,
    shape_stamps: Vec<u32>,
    shape_slots: Vec<u32>,
}

impl Scratch {
    pub(crate) fn new(tape: &Tape) -> Self {
        Self {
            stamp: 0,
            key_stamps: vec![0; tape.keys.count()],
            key_columns: vec![0; tape.keys.count()],
            shape_stamps: vec![0; tape.shapes.count()],
            shape_slots: vec![0; tape.shapes.count()],
        }
    }
}

/// The columns of some rows, and where each row keeps each of them.
struct Union {
    keys: Vec<u32>,
    /// Values that are really there, over all rows.
    present: usize,
    /// Per row, which line of `positions` is its own; empty when all rows have one shape.
    slots: Vec<u32>,
    /// Per distinct shape and column, the position of the value in the object.
    positions: Vec<u32>,
}

impl Union {
    fn get(&self, tape: &Tape, rows: &[Node], row: usize, column: usize) -> Option<Node> {
        let Node::Object { first, .. } = rows[row] else {
            return None;
        };
        let position = match self.slots.get(row) {
            None => column as u32,
            Some(slot) => self.positions[*slot as usize * self.keys.len() + column],
        };
        (position != ABSENT).then(|| tape.nodes[first as usize + position as usize])
    }
}

/// How one key of the union is written.
struct Column {
    /// Its place in the union.
    place: usize,
    form: Form,
}

enum Form {
    /// Only scalars.
    Scalar,
    /// The same scalar in every row, said in the header.
    Constant(Node),
    /// Nested objects as path columns; holds the header names.
    Path(Vec<String>),
    /// Some rows hold containers.
    Nested { inline: bool, shared: bool },
}

impl Encoder<'_> {
    /// Writes rows as a table, or returns false when they have no column to show.
    pub(crate) fn table(&mut self, lead: Lead, level: usize, body: usize, rows: Rows<'_>) -> Result<bool> {
        let tape = self.tape;
        let nodes = rows.nodes();
        let Some(union) = self.union(nodes, self.options.limits.sparsity)? else {
            return Ok(false);
        };
        let named_by_path = |key: u32| tape.keys.get(key).contains('>');
        let loose: Vec<usize> = (0..union.keys.len())
            .filter(|place| named_by_path(union.keys[*place]))
            .collect();
        if loose.len() == union.keys.len() {
            return Ok(false);
        }
        let mut columns = Vec::with_capacity(union.keys.len());
        let (mut width, mut present) = (0, 0);
        for place in 0..union.keys.len() {
            if named_by_path(union.keys[place]) {
                continue;
            }
            let form = self.form(nodes, &union, place);
            width += 1;
            if let Form::Path(names) = &form {
                width += names.len() - 1;
                let objects = (0..nodes.len())
                    .filter(|row| matches!(union.get(tape, nodes, *row, place), Some(Node::Object { .. })))
                    .count();
                present += objects * (names.len() - 1);
            }
            columns.push(Column { place, form });
        }
        if self.options.constant_columns && matches!((lead, rows), (Lead::Root | Lead::Named(_), Rows::Array(_))) {
            self.find_constants(nodes, &union, &mut columns);
        }
        self.check_table(nodes.len(), width, present + union.present)?;
        self.table_header(lead, level, rows, &union, &columns)?;
        let flat = loose.is_empty() && columns.iter().all(|column| matches!(column.form, Form::Scalar));
        if flat && union.slots.is_empty() && matches!(rows, Rows::Array(_)) {
            self.uniform_rows(nodes, body)?;
        } else {
            for row in 0..nodes.len() {
                self.row(rows, row, &union, &columns, &loose, body)?;
            }
        }
        Ok(true)
    }

    /// Marks the columns that hold one scalar throughout. At least one column stays in the rows.
    fn find_constants(&self, rows: &[Node], union: &Union, columns: &mut [Column]) {
        let tape = self.tape;
        let is_same = |one: Node, other: Node| match (one, other) {
            (Node::Null, Node::Null) => true,
            (Node::Bool(one), Node::Bool(other)) => one == other,
            (Node::Integer(one), Node::Integer(other)) => one == other,
            (Node::Float(one), Node::Float(other)) => one.to_bits() == other.to_bits(),
            (Node::Text { start, len }, Node::Text { start: at, len: length }) => {
                tape.text(start, len) == tape.text(at, length)
            }
            _ => false,
        };
        if rows.len() < 2 {
            return;
        }
        for column in columns.iter_mut().filter(|column| matches!(column.form, Form::Scalar)) {
            let value = |row: usize| union.get(tape, rows, row, column.place);
            let Some(first) = value(0) else { continue };
            if (1..rows.len()).all(|row| value(row).is_some_and(|other| is_same(first, other))) {
                column.form = Form::Constant(first);
            }
        }
        let is_constant = |column: &Column| matches!(column.form, Form::Constant(_));
        if columns.iter().all(is_constant)
            && let Some(last) = columns.last_mut()
        {
            last.form = Form::Scalar;
        }
    }

    /// The table everyone hopes for: every row the same keys, every value a scalar.
    fn uniform_rows(&mut self, rows: &[Node], body: usize) -> Result<()> {
        let tape = self.tape;
        for row in rows {
            let Node::Object { first, shape } = *row else { continue };
            self.indent(body);
            for (position, value) in tape.members(first, shape).iter().enumerate() {
                if position > 0 {
                    self.out.push('|');
                }
                self.scalar(*value);
            }
            self.end_line()?;
        }
        Ok(())
    }

    fn table_header(
        &mut self,
        lead: Lead,
        level: usize,
        rows: Rows<'_>,
        union: &Union,
        columns: &[Column],
    ) -> Result<()> {
        self.lead(lead, level);
        self.out.push('[');
        write_integer(&mut self.out, rows.nodes().len());
        let mut separator = "";
        if let Rows::Map { .. } = rows {
            self.out.push_str(":]{");
            let mut label = String::from("key");
            while union.keys.iter().any(|key| self.tape.keys.get(*key) == label) {
                label.insert(0, '_');
            }
            self.out.push_str(&label);
            separator = ",";
        } else {
            self.out.push_str("]{");
        }
        for column in columns {
            match &column.form {
                Form::Path(names) => {
                    for name in names {
                        self.out.push_str(separator);
                        separator = ",";
                        write_key(&mut self.out, name);
                    }
                }
                form => {
                    self.out.push_str(separator);
                    separator = ",";
                    self.key(union.keys[column.place]);
                    if let Form::Constant(value) = form {
                        self.out.push('=');
                        match *value {
                            // A brace would end the header for a reader that looks for the first.
                            Node::Text { start, len } if self.tape.text(start, len).contains('}') => {
                                write_quoted(&mut self.out, self.tape.text(start, len));
                            }
                            value => self.scalar(value),
                        }
                    }
                }
            }
        }
        self.out.push('}');
        self.end_line()
    }

    fn row(
        &mut self,
        rows: Rows<'_>,
        row: usize,
        union: &Union,
        columns: &[Column],
        loose: &[usize],
        body: usize,
    ) -> Result<()> {
        let tape = self.tape;
        let nodes = rows.nodes();
        let attached = columns.iter().any(|column| {
            matches!(column.form, Form::Nested { .. })
                && union
                    .get(tape, nodes, row, column.place)
                    .is_some_and(Node::is_container)
        }) || loose.iter().any(|place| union.get(tape, nodes, row, *place).is_some());
        self.indent(body);
        if attached {
            self.out.push('@');
            write_integer(&mut self.out, row);
            self.out.push(' ');
        }
        let mut separator = "";
        if let Rows::Map { keys, .. } = rows {
            write_text(&mut self.out, tape.keys.get(keys[row]));
            separator = "|";
        }
        for column in columns {
            let value = union.get(tape, nodes, row, column.place);
            if let Form::Constant(_) = column.form {
                continue;
            }
            if let Form::Path(names) = &column.form {
                match value {
                    Some(Node::Object { first, shape }) => self.leaves(first, shape, &mut separator),
                    other => {
                        for _ in names {
                            self.out.push_str(separator);
                            separator = "|";
                            self.out.push(if other.is_none() { '~' } else { '-' });
                        }
                    }
                }
                continue;
            }
            self.out.push_str(separator);
            separator = "|";
            match value {
                None => self.out.push('~'),
                Some(value) if value.is_container() => {
                    self.out.push('^');
                    if let (0, Form::Nested { inline: true, .. }, Node::Object { shape, .. }) =
                        (row, &column.form, value)
                    {
                        self.field_list(shape);
                    }
                }
                Some(scalar) => self.scalar(scalar),
            }
        }
        self.end_line()?;
        if !attached {
            return Ok(());
        }
        for column in columns {
            let Form::Nested { inline, shared } = column.form else {
                continue;
            };
            match union.get(tape, nodes, row, column.place) {
                Some(Node::Object { first, shape }) if inline => {
                    self.indent(body);
                    self.leaves(first, shape, &mut "");
                    self.end_line()?;
                }
                Some(Node::Array { first, len }) if shared && row > 0 => {
                    self.lead(Lead::Attached(union.keys[column.place]), body);
                    self.count(len as usize);
                    self.end_line()?;
                    self.shared_rows(tape.children(first, len), body + 2)?;
                }
                Some(value) if value.is_container() => self.attachment(union.keys[column.place], value, body)?,
                _ => {}
            }
        }
        for place in loose {
            if let Some(value) = union.get(tape, nodes, row, *place) {
                self.attachment(union.keys[*place], value, body)?;
            }
        }
        Ok(())
    }

    /// The scalars of an object, nested ones in their place, as cells.
    fn leaves(&mut self, first: u32, shape: u32, separator: &mut &str) {
        let tape = self.tape;
        for value in tape.members(first, shape) {
            if let Node::Object { first, shape } = *value {
                self.leaves(first, shape, separator);
                continue;
            }
            self.out.push_str(separator);
            *separator = "|";
            self.scalar(*value);
        }
    }

    fn field_list(&mut self, shape: u32) {
        self.out.push('{');
        for (position, key) in self.tape.shapes.keys(shape).iter().enumerate() {
            if position > 0 {
                self.out.push(',');
            }
            self.key(*key);
        }
        self.out.push('}');
    }

    /// Rows under a header that an earlier row has already given. Their union is known to be that header.
    fn shared_rows(&mut self, items: &[Node], body: usize) -> Result<()> {
        let tape = self.tape;
        let Some(union) = self.union(items, self.options.limits.sparsity)? else {
            return Ok(());
        };
        for row in 0..items.len() {
            self.indent(body);
            for column in 0..union.keys.len() {
                if column > 0 {
                    self.out.push('|');
                }
                match union.get(tape, items, row, column) {
                    None => self.out.push('~'),
                    Some(value) => self.scalar(value),
                }
            }
            self.end_line()?;
        }
        Ok(())
    }

    /// A value under its row.
    fn attachment(&mut self, key: u32, value: Node, level: usize) -> Result<()> {
        let lead = Lead::Attached(key);
        match value {
            Node::Array { first, len } => self.array(lead, level, first, len),
            Node::Object { first, shape } => {
                if self.keyed_map(lead, level, first, shape)? {
                    return Ok(());
                }
                self.lead(lead, level);
                self.out.push_str("{}");
                self.end_line()?;
                self.members(first, shape, level + 2)
            }
            scalar => {
                self.lead(lead, level);
                self.out.push('=');
                self.scalar(scalar);
                self.end_line()
            }
        }
    }

    /// The ordered union of the rows' keys; `None` when there is none.
    fn union(&mut self, rows: &[Node], sparsity: usize) -> Result<Option<Union>> {
        let tape = self.tape;
        let scratch = &mut self.scratch;
        scratch.stamp += 1;
        let stamp = scratch.stamp;
        let mut keys: Vec<u32> = Vec::new();
        let mut shapes: Vec<u32> = Vec::new();
        let mut slots: Vec<u32> = Vec::new();
        let mut present = 0;
        let mut last = None;
        for (row, node) in rows.iter().enumerate() {
            let Node::Object { shape, .. } = *node else { continue };
            present += tape.shapes.len(shape) as usize;
            if last == Some(shape) {
                if shapes.len() > 1 {
                    slots.push(scratch.shape_slots[shape as usize]);
                }
                continue;
            }
            last = Some(shape);
            if scratch.shape_stamps[shape as usize] != stamp {
                scratch.shape_stamps[shape as usize] = stamp;
                scratch.shape_slots[shape as usize] = shapes.len() as u32;
                shapes.push(shape);
                if shapes.len() == 2 {
                    slots.resize(row, 0);
                }
                for key in tape.shapes.keys(shape) {
                    if scratch.key_stamps[*key as usize] != stamp {
                        scratch.key_stamps[*key as usize] = stamp;
                        scratch.key_columns[*key as usize] = keys.len() as u32;
                        keys.push(*key);
                    }
                }
            }
            if shapes.len() > 1 {
                slots.push(scratch.shape_slots[shape as usize]);
            }
        }
        if keys.is_empty() {
            return Ok(None);
        }
        let cells = rows.len().saturating_mul(keys.len());
        if cells > present.saturating_mul(sparsity).max(4096) {
            return Err(too_sparse(rows.len(), keys.len(), present));
        }
        let mut positions = Vec::new();
        if !slots.is_empty() {
            positions.resize(shapes.len() * keys.len(), ABSENT);
            for (slot, shape) in shapes.iter().enumerate() {
                for (position, key) in tape.shapes.keys(*shape).iter().enumerate() {
                    let column = self.scratch.key_columns[*key as usize] as usize;
                    positions[slot * keys.len() + column] = position as u32;
                }
            }
        }
        Ok(Some(Union {
            keys,
            present,
            slots,
            positions,
        }))
    }

    fn check_table(&self, rows: usize, width: usize, present: usize) -> Result<()> {
        let limits = &self.options.limits;
        if width > limits.fields {
            let found = format!("a table of {width} columns");
            return Err(Error::new(
                Category::TooManyFields,
                found,
                format!("at most {}", limits.fields),
            ));
        }
        if rows.saturating_mul(width) > present.saturating_mul(limits.sparsity).max(4096) {
            return Err(too_sparse(rows, width, present));
        }
        Ok(())
    }

    /// How a column is written: flattened if it can be, then the schemas that save repeating field names.
    fn form(&mut self, rows: &[Node], union: &Union, place: usize) -> Form {
        let tape = self.tape;
        let mut first = None;
        for row in 0..rows.len() {
            if let Some(value) = union.get(tape, rows, row, place)
                && value.is_container()
            {
                first = Some(value);
                break;
            }
        }
        let Some(first) = first else { return Form::Scalar };
        if self.options.nesting == Nesting::Flatten
            && let Some(names) = self.flatten(rows, union, place, first)
        {
            return Form::Path(names);
        }
        Form::Nested {
            inline: self.inline_schema(rows, union, place),
            shared: self.shared_schema(rows, union, place),
        }
    }

    /// The path columns of a nested object that has one shape, all the way down, in every row.
    fn flatten(&self, rows: &[Node], union: &Union, place: usize, sample: Node) -> Option<Vec<String>> {
        let tape = self.tape;
        let name = tape.keys.get(union.keys[place]);
        if name.is_empty() {
            return None;
        }
        let Node::Object { .. } = sample else { return None };
        for row in 0..rows.len() {
            match union.get(tape, rows, row, place) {
                None | Some(Node::Null) => {}
                // An object of nothing but nulls would read back as null.
                Some(value @ Node::Object { .. }) if same_structure(tape, sample, value) && !all_null(tape, value) => {}
                Some(_) => return None,
            }
        }
        let mut names = Vec::new();
        path_names(tape, sample, &mut name.to_owned(), &mut names).then_some(names)
    }

    /// Whether a column's objects are flat, have at least three keys, and the same ones in every row, the first included.
    fn inline_schema(&self, rows: &[Node], union: &Union, place: usize) -> bool {
        let tape = self.tape;
        let Some(Node::Object { shape: expected, .. }) = union.get(tape, rows, 0, place) else {
            return false;
        };
        tape.shapes.len(expected) >= 3
            && (0..rows.len()).all(|row| match union.get(tape, rows, row, place) {
                None => true,
                Some(Node::Object { first, shape }) => {
                    shape == expected && !tape.members(first, shape).iter().any(|value| value.is_container())
                }
                Some(_) => false,
            })
    }

    /// Whether a column's arrays are all tables of scalars with the same columns, so that one header serves them all.
    fn shared_schema(&mut self, rows: &[Node], union: &Union, place: usize) -> bool {
        let tape = self.tape;
        if !matches!(union.get(tape, rows, 0, place), Some(Node::Array { .. })) {
            return false;
        }
        let mut header: Option<(Vec<u32>, u32)> = None;
        for row in 0..rows.len() {
            let (first, len) = match union.get(tape, rows, row, place) {
                None | Some(Node::Null) => continue,
                Some(Node::Array { first, len }) => (first, len),
                Some(_) => return false,
            };
            let items = tape.children(first, len);
            let mut one_shape = None;
            for (index, item) in items.iter().enumerate() {
                let Node::Object { first, shape } = *item else {
                    return false;
                };
                if tape.members(first, shape).iter().any(|value| value.is_container()) {
                    return false;
                }
                if index == 0 {
                    one_shape = Some(shape);
                } else if one_shape != Some(shape) {
                    one_shape = None;
                }
            }
            if let (Some(shape), Some((_, known))) = (one_shape, &header)
                && shape == *known
            {
                continue;
            }
            // Too sparse is reported when the array is written.
            let Ok(Some(sub)) = self.union(items, usize::MAX) else {
                return false;
            };
            match &header {
                Some((keys, _)) if *keys != sub.keys => return false,
                Some(_) => {}
                None => {
                    // Names with `>` are never columns, so they cannot be in a shared header.
                    if sub.keys.iter().any(|key| tape.keys.get(*key).contains('>')) {
                        return false;
                    }
                    header = Some((sub.keys, one_shape.unwrap_or(ABSENT)));
                }
            }
        }
        header.is_some()
    }
}

/// Whether two objects have the same keys at every level and scalars in the same places. No arrays.
fn same_structure(tape: &Tape, left: Node, right: Node) -> bool {
    let (Node::Object { first: a, shape }, Node::Object { first: b, shape: other }) = (left, right) else {
        return !left.is_container() && !right.is_container();
    };
    shape == other
        && tape
            .members(a, shape)
            .iter()
            .zip(tape.members(b, shape))
            .all(|(left, right)| same_structure(tape, *left, *right))
}

fn all_null(tape: &Tape, value: Node) -> bool {
    match value {
        Node::Null => true,
        Node::Object { first, shape } => tape.members(first, shape).iter().all(|value| all_null(tape, *value)),
        _ => false,
    }
}

/// Collects the names of an object's leaves. False if a name cannot be part of a path.
fn path_names(tape: &Tape, object: Node, path: &mut String, names: &mut Vec<String>) -> bool {
    let Node::Object { first, shape } = object else {
        return false;
    };
    let keys = tape.shapes.keys(shape);
    for (key, value) in keys.iter().zip(tape.members(first, shape)) {
        let key = tape.keys.get(*key);
        if key.is_empty() || key.contains('>') {
            return false;
        }
        let parent = path.len();
        path.push('>');
        path.push_str(key);
        let fits = match value {
            Node::Object { .. } => path_names(tape, *value, path, names),
            Node::Array { .. } => false,
            _ => {
                names.push(path.clone());
                true
            }
        };
        path.truncate(parent);
        if !fits {
            return false;
        }
    }
    !keys.is_empty()
}

#[cold]
fn too_sparse(rows: usize, columns: usize, present: usize) -> Error {
    Error::new(
        Category::TooSparse,
        format!("{rows} rows that share too few of {columns} columns: {present} values"),
        "objects with mostly the same keys",
    )
}
