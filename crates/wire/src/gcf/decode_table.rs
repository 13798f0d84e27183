//! Tables read back: headers into [`Table`]s, rows into cells, attachments into the cells that wait for them.

use std::sync::Arc;

use super::decode::{Parser, TableKind};
use super::decode_scalar::{Bracket, Place};
use super::document::{Node, Table, TableBuilder};
use super::error::{Category, Result, shown};
use super::lines::Line;
use super::options::ConstantColumns;

/// Schemas that earlier rows of one table have set for later ones, by column.
#[derive(Default)]
pub(crate) struct Schemas {
    /// From `^{…}` cells.
    inline: Vec<Option<u32>>,
    /// From `.f [N]{…}` attachments.
    shared: Vec<Option<u32>>,
}

fn set(schemas: &mut Vec<Option<u32>>, column: usize, table: u32) {
    if schemas.len() <= column {
        schemas.resize(column + 1, None);
    }
    schemas[column] = Some(table);
}

impl Parser<'_, '_> {
    /// The table that `{…}` at `start..end` declares.
    pub(crate) fn table_header(&mut self, start: usize, end: usize, kind: TableKind) -> Result<u32> {
        let declaration = &self.text[start..end];
        if let Some(table) = self.known_tables.get(&(declaration, kind)) {
            return Ok(*table);
        }
        let names = declaration.strip_prefix('{').and_then(|rest| rest.strip_suffix('}'));
        if names.is_none_or(str::is_empty) {
            return Err(self.error(start, Category::UnexpectedContent, shown(declaration), "`{column,…}`"));
        }
        let mut builder = TableBuilder::new(kind != TableKind::Inline);
        let close = end - 1;
        let mut position = start + 1;
        let mut fields = 0;
        loop {
            let mark = position;
            let is_identity =
                kind != TableKind::Inline && self.identity.is_some() && self.text[position..close].starts_with('@');
            if is_identity {
                position += 1;
            }
            let (name, mut after) = self.key(position, close)?;
            let mut constant = None;
            if self.options.constant_columns == ConstantColumns::Accept
                && kind != TableKind::Inline
                && self.text.as_bytes()[after] == b'='
            {
                let (value, next) = self.element(after + 1, close, b',', Place::Value)?;
                constant = Some(value);
                after = next.map_or(close, |next| next - 1);
            }
            fields += 1;
            if fields > self.options.limits.fields {
                let found = format!("more than {} columns", self.options.limits.fields);
                return Err(self.error(mark, Category::TooManyFields, found, "fewer columns"));
            }
            let name = self.document.string(name).unwrap_or_default().to_owned();
            if is_identity && self.identity != Some(name.as_str()) {
                let found = format!("`@{name}`");
                return Err(self.error(
                    mark,
                    Category::InvalidKey,
                    found,
                    "`@` only on the column that `key=` names",
                ));
            }
            let segments = name.bytes().filter(|byte| *byte == b'>').count();
            if segments > self.max_depth || segments > self.groups_left {
                return Err(self.error(mark, Category::TooDeep, shown(&name), "a shorter path"));
            }
            self.groups_left -= segments;
            // The key column's name is only a label.
            let is_label = kind == TableKind::Keyed && fields == 1;
            if !is_label && !builder.add(&name, constant) {
                let found = format!("the column {} again or inside another", shown(&name));
                return Err(self.error(mark, Category::DuplicateFieldName, found, "each column once"));
            }
            match self.text.as_bytes()[after] {
                b',' if after < close => position = after + 1,
                _ if after == close => break,
                _ => {
                    let found = shown(&self.text[after..end]);
                    return Err(self.error(after, Category::InvalidKey, found, "`,` or `}` after a column name"));
                }
            }
        }
        let table = builder.finish();
        if kind == TableKind::Keyed && fields < 2 {
            return Err(self.error(
                start,
                Category::UnexpectedContent,
                shown(declaration),
                "at least two fields",
            ));
        }
        if table.width == 0 {
            return Err(self.error(
                start,
                Category::UnexpectedContent,
                "only constant columns",
                "a column that rows have",
            ));
        }
        let id = self.document.tables.len() as u32;
        self.document.tables.push(table);
        self.known_tables.insert((declaration, kind), id);
        Ok(id)
    }

    /// All rows of a table: an array, or for keyed maps an object.
    pub(crate) fn rows(&mut self, table: u32, bracket: &Bracket, body: usize, header: Line) -> Result<Node> {
        let base = self.stack.len();
        let shape = Arc::clone(&self.document.tables[table as usize]);
        self.enter(header.start)?;
        self.check_depth(shape.height, header.start)?;
        let mut schemas = Schemas::default();
        let mut index = 0;
        // Rows without attachments lie side by side, so they need no node each until one has some.
        let start = self.document.nodes.len();
        let mut is_grid = !bracket.keyed;
        while bracket.count.is_none_or(|count| index < count) {
            let Some(line) = self.next_row(body)? else { break };
            let node = self.row(line, table, &shape, index, bracket.keyed, &mut schemas)?;
            let place = start + index as usize * shape.width;
            if is_grid
                && node
                    != (Node::Row {
                        first: place as u32,
                        table,
                    })
            {
                is_grid = false;
                let earlier = (0..index as usize).map(|row| (start + row * shape.width) as u32);
                self.stack.extend(earlier.map(|first| Node::Row { first, table }));
            }
            if !is_grid {
                self.stack.push(node);
            }
            index += 1;
        }
        self.leave();
        self.check_count(bracket, index, header)?;
        if is_grid && index > 0 {
            self.document.grids.push((table, index as u32));
            return Ok(Node::Grid {
                first: start as u32,
                grid: self.document.grids.len() as u32 - 1,
            });
        }
        if bracket.keyed {
            self.document
                .check_unique(&self.stack[base..], "member key", header.start)?;
            return Ok(Node::Map {
                first: self.settle(base),
                len: index as u32,
            });
        }
        Ok(Node::Array {
            first: self.settle(base),
            len: index as u32,
        })
    }

    /// The next line if it is a row at this level.
    pub(crate) fn next_row(&mut self, body: usize) -> Result<Option<Line>> {
        let Some(line) = self.lines.peek()? else {
            return Ok(None);
        };
        if line.level < body || self.text[line.start..].starts_with("##") {
            return Ok(None);
        }
        if line.level > body {
            return Err(self.error(
                line.start,
                Category::InvalidIndent,
                "a row indented too far",
                "the level of its table",
            ));
        }
        Ok(Some(line))
    }

    /// Reads one row and its attachments; in keyed tables its key is pushed.
    pub(crate) fn row(
        &mut self,
        line: Line,
        table: u32,
        shape: &Arc<Table>,
        index: u64,
        keyed: bool,
        schemas: &mut Schemas,
    ) -> Result<Node> {
        self.lines.advance();
        let mut position = line.start;
        let numbered = self.text.as_bytes()[position] == b'@';
        if numbered {
            position = self.item_id(line, index)?;
        }
        if self.values_left < shape.cost {
            return Err(self.error(
                line.start,
                Category::TooLarge,
                "rows that stand for too many values",
                "a smaller expansion",
            ));
        }
        self.values_left -= shape.cost;
        let mut more = Some(position);
        if keyed {
            let (key, next) = self.element(position, line.end, b'|', Place::Cell)?;
            if !matches!(key, Node::Text { .. } | Node::Owned { .. }) {
                return Err(self.error(
                    position,
                    Category::InvalidKey,
                    shown(self.lines.content(line)),
                    "a string as member key",
                ));
            }
            self.stack.push(key);
            more = next;
        }
        let cells = self.stack.len();
        let mut pending = 0;
        let mut width = 0;
        while let Some(start) = more {
            if width == shape.width {
                return Err(self.width_mismatch(line, shape.width, keyed, "more"));
            }
            let (start, _) = self.trim(start, line.end);
            let (node, next) = if self.text[start..line.end].starts_with("^{") {
                self.inline_marker(start, line.end, width, schemas)?
            } else {
                self.element(start, line.end, b'|', Place::Cell)?
            };
            pending += usize::from(node == Node::Attached);
            self.stack.push(node);
            more = next;
            width += 1;
        }
        if width < shape.width {
            return Err(self.width_mismatch(line, shape.width, keyed, &width.to_string()));
        }
        self.last_row_was_inline = false;
        let mut loose = 0;
        if pending > 0 && !numbered {
            let found = shown(self.lines.content(line));
            return Err(self.error(
                line.start,
                Category::InvalidItemId,
                found,
                &format!("`@{index} ` before a row with `^`"),
            ));
        }
        if numbered || self.at_attachment(line.level)? {
            loose = self.attachments(line, shape, cells, pending, numbered, schemas)?;
        }
        let first = self.settle(cells);
        Ok(if loose > 0 {
            Node::LooseRow { first, table }
        } else {
            Node::Row { first, table }
        })
    }

    fn width_mismatch(&self, line: Line, width: usize, keyed: bool, actual: &str) -> super::error::Error {
        let found = format!("{actual} cells in {}", shown(self.lines.content(line)));
        let expected = format!("{} cells", width + usize::from(keyed));
        self.error(line.start, Category::RowWidthMismatch, found, &expected)
    }

    /// A `^{…}` cell: declares the inline schema of its column.
    fn inline_marker(
        &mut self,
        start: usize,
        end: usize,
        column: usize,
        schemas: &mut Schemas,
    ) -> Result<(Node, Option<usize>)> {
        let bytes = &self.text.as_bytes()[..end];
        let mut quoted = false;
        let mut position = start + 2;
        // The matching brace: not one inside a quoted name, and not one of a later cell.
        while position < end && (quoted || !matches!(bytes[position], b'}' | b'|')) {
            match bytes[position] {
                b'\\' if quoted => position += 1,
                b'"' => quoted = !quoted,
                _ => {}
            }
            position += 1;
        }
        let mut after = (position + 1).min(end);
        while after < end && matches!(bytes[after], b' ' | b'\t') {
            after += 1;
        }
        let next = bytes.get(after).copied();
        if bytes.get(position) == Some(&b'}') && (next.is_none() || next == Some(b'|')) {
            let table = self
                .table_header(start + 1, position + 1, TableKind::Inline)
                .map_err(|error| {
                    self.error(
                        start,
                        Category::InvalidAttachmentMarker,
                        error.found(),
                        error.expected(),
                    )
                })?;
            set(&mut schemas.inline, column, table);
            return Ok((Node::Attached, next.map(|_| after + 1)));
        }
        // Not a declaration after all: a string may begin with `^{`, as long as it does not end with `}`.
        self.element(start, end, b'|', Place::Cell)
    }

    fn at_attachment(&mut self, level: usize) -> Result<bool> {
        let line = self.lines.peek()?;
        Ok(line.is_some_and(|line| line.level >= level && self.text.as_bytes()[line.start] == b'.'))
    }

    /// Reads the bodies of a row's `^` cells, and its loose members onto the stack. Returns how many those are.
    fn attachments(
        &mut self,
        row: Line,
        shape: &Arc<Table>,
        cells: usize,
        mut pending: usize,
        numbered: bool,
        schemas: &mut Schemas,
    ) -> Result<usize> {
        // Columns with `^`, to tell a second attachment from one nobody asked for.
        let marked: Vec<usize> = (0..shape.width)
            .filter(|column| self.stack[cells + column] == Node::Attached)
            .collect();
        let mut next_marked = 0;
        let mut loose: Vec<Node> = Vec::new();
        let loose_start = self.stack.len();
        while let Some(line) = self.lines.peek()? {
            if line.level < row.level || line.level > row.level + 1 {
                break;
            }
            let content = self.lines.content(line);
            if content.starts_with('.') {
                let (key, after) = self.key(line.start + 1, line.end)?;
                let name = self.document.string(key).unwrap_or_default().to_owned();
                let column = shape.column(&name);
                let is_marked = column.is_some_and(|column| marked.binary_search(&column).is_ok());
                let is_loose = numbered && column.is_none() && name.contains('>');
                if !is_marked && !is_loose {
                    let found = shown(content);
                    return Err(self.error(
                        line.start,
                        Category::OrphanAttachment,
                        found,
                        "a `^` cell in the column it names",
                    ));
                }
                if is_marked && self.stack[cells + column.unwrap_or(0)] != Node::Attached {
                    return Err(self.error(
                        line.start,
                        Category::DuplicateAttachment,
                        shown(content),
                        "one per `^` cell",
                    ));
                }
                if self.text.as_bytes().get(after) != Some(&b' ') || after >= line.end {
                    return Err(self.unexpected(line, "`.name {}`, `.name [count]` or `.name =value`"));
                }
                self.lines.advance();
                let node = self.attachment(after + 1, line, row.level + 2, column, schemas)?;
                match column.filter(|_| is_marked) {
                    Some(column) => {
                        self.stack[cells + column] = node;
                        pending -= 1;
                    }
                    None => loose.extend([key, node]),
                }
                continue;
            }
            // A positional body belongs to the next `^` cell that has a schema.
            while marked.get(next_marked).is_some_and(|column| {
                self.stack[cells + column] != Node::Attached || schemas.inline.get(*column).copied().flatten().is_none()
            }) {
                next_marked += 1;
            }
            let Some(column) = marked.get(next_marked).copied() else {
                break;
            };
            if content.starts_with(['@', '#']) {
                break;
            }
            let Some(schema) = schemas.inline[column] else { break };
            self.lines.advance();
            self.stack[cells + column] = self.positional(line, schema)?;
            self.last_row_was_inline = true;
            pending -= 1;
        }
        if pending > 0 {
            let found = format!(
                "{pending} `^` cells without a body after {}",
                shown(self.lines.content(row))
            );
            return Err(self.error(
                row.start,
                Category::MissingAttachment,
                found,
                "one attachment per `^` cell",
            ));
        }
        debug_assert_eq!(loose_start, self.stack.len());
        let count = loose.len() / 2;
        if count > 0 {
            self.document
                .check_unique(&loose, "attachment", row.start)
                .map_err(|error| {
                    self.error(
                        row.start,
                        Category::DuplicateAttachment,
                        error.found(),
                        "one attachment per member",
                    )
                })?;
            self.stack.push(Node::Integer(count as i64));
            self.stack.extend_from_slice(&loose);
        }
        Ok(count)
    }

    /// The value after `.name `, whose body is indented by `body`.
    fn attachment(
        &mut self,
        start: usize,
        line: Line,
        body: usize,
        column: Option<usize>,
        schemas: &mut Schemas,
    ) -> Result<Node> {
        let rest = &self.text[start..line.end];
        if rest == "{}" {
            let node = self.members(body)?;
            return Ok(node);
        }
        if rest.starts_with('[') {
            let shared = column.and_then(|column| schemas.shared.get(column).copied().flatten());
            // The body is deeper than the row even when the header itself is one level in.
            let header = Line {
                level: body - 2,
                ..line
            };
            self.enter(line.start)?;
            let (node, table) = self.array(start, header, body, shared)?;
            self.leave();
            if let (Some(column), Some(table), None, Node::Array { .. } | Node::Grid { .. }) =
                (column, table, shared, node)
            {
                set(&mut schemas.shared, column, table);
            }
            return Ok(node);
        }
        if rest.starts_with('=') && column.is_none() {
            return self.value(start + 1, line.end);
        }
        Err(self.unexpected(line, "`.name {}` or `.name [count]`"))
    }

    /// A positional body: one value per field of the schema.
    fn positional(&mut self, line: Line, schema: u32) -> Result<Node> {
        let width = self.document.tables[schema as usize].width;
        let base = self.document.nodes.len();
        let mut more = Some(line.start);
        while let Some(start) = more {
            let (node, next) = self.element(start, line.end, b'|', Place::Value)?;
            self.document.nodes.push(node);
            more = next;
            if self.document.nodes.len() - base > width {
                break;
            }
        }
        if self.document.nodes.len() - base != width {
            let found = shown(self.lines.content(line));
            return Err(self.error(
                line.start,
                Category::InlineWidthMismatch,
                found,
                &format!("{width} values"),
            ));
        }
        Ok(Node::Row {
            first: base as u32,
            table: schema,
        })
    }
}
