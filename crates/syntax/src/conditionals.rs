//! Conditionals of a preprocessor that cut through statements: `#if A … if (x) { #else … if (y) { #endif`.
//!
//! A grammar reads a conditional as a block of whole statements; one that opens a brace, or stands in the middle of an
//! expression, takes everything after it along. The text of such a conditional is settled before parsing: its directives
//! become blanks, and so do all branches but the one that is taken, so that what is left keeps its place. Conditionals
//! that hold whole statements stay as they are, and all their branches count.

use std::borrow::Cow;

/// Deeper brackets or conditionals than this are no code that someone wrote; the text stays as it is.
const MAX_DEPTH: usize = 500;

/// `text` with every conditional that does not hold whole statements settled; the names in `undefined` are not defined.
pub(crate) fn settled<'a>(text: &'a str, undefined: &[&str]) -> Cow<'a, str> {
    let bytes = text.as_bytes();
    if memchr::memmem::find(bytes, b"#").is_none() || memchr::memmem::find(bytes, b"endif").is_none() {
        return Cow::Borrowed(text);
    }
    let mut scanner = Scanner {
        bytes,
        open: Vec::new(),
        last: 0,
        groups: Vec::new(),
        known: undefined.iter().map(|name| (name.as_bytes(), false)).collect(),
        blanks: Vec::new(),
    };
    if scanner.run().is_none() || scanner.blanks.is_empty() {
        return Cow::Borrowed(text);
    }
    let mut settled = bytes.to_vec();
    for (start, end) in scanner.blanks {
        for byte in &mut settled[start..end] {
            if !matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
    }
    // Whole lines are blanked, so what is left is whole characters.
    String::from_utf8(settled).map_or(Cow::Borrowed(text), Cow::Owned)
}

/// A conditional whose end is still to come.
struct Group<'a> {
    /// The brackets that are open around it.
    around: Vec<u8>,
    /// The last byte of code before it.
    before: u8,
    /// Where its directives stand.
    directives: Vec<(usize, usize)>,
    branches: Vec<Branch<'a>>,
    /// The fewest brackets that were open in the branch that is being read; −1 when it closes one that never was.
    lowest: isize,
}

/// What stands between two directives.
struct Branch<'a> {
    condition: Condition<'a>,
    start: usize,
    end: usize,
    /// The brackets that are open after it.
    open: Vec<u8>,
    lowest: isize,
    /// Its last byte of code, or that before it.
    last: u8,
    is_empty: bool,
}

/// When a branch is taken.
#[derive(Clone, Copy)]
enum Condition<'a> {
    /// A constant says so, or it is the last resort.
    Always,
    Never,
    /// When a name is defined, or when it is not.
    Defined(&'a [u8], bool),
    Unknown,
}

/// What is done with a conditional.
#[derive(PartialEq, Eq)]
enum Action {
    /// The grammar reads it.
    Leave,
    /// Its branches hold elements of a list: all of them count, the directives go.
    Join,
    /// One branch counts.
    Choose,
}

struct Scanner<'a> {
    bytes: &'a [u8],
    open: Vec<u8>,
    /// The last byte of code.
    last: u8,
    groups: Vec<Group<'a>>,
    /// Names that were taken to be defined, or not to be.
    known: Vec<(&'a [u8], bool)>,
    blanks: Vec<(usize, usize)>,
}

impl<'a> Scanner<'a> {
    /// Reads the text; `None` when it is no code.
    fn run(&mut self) -> Option<()> {
        let mut at = 0;
        let mut at_line_start = true;
        while let Some(&byte) = self.bytes.get(at) {
            match byte {
                b'\n' => at_line_start = true,
                byte if byte.is_ascii_whitespace() => {}
                b'#' if at_line_start => {
                    at = self.directive(at);
                    if self.groups.len() > MAX_DEPTH {
                        return None;
                    }
                    continue;
                }
                b'/' if self.bytes.get(at + 1) == Some(&b'/') => {
                    at = self.end_of_line(at);
                    continue;
                }
                b'/' if self.bytes.get(at + 1) == Some(&b'*') => {
                    let end = memchr::memmem::find(&self.bytes[at + 2..], b"*/");
                    at = end.map_or(self.bytes.len(), |end| at + end + 4);
                    continue;
                }
                byte => {
                    at_line_start = false;
                    self.last = byte;
                    match byte {
                        b'"' | b'\'' => {
                            at = self.literal(at);
                            continue;
                        }
                        b'(' | b'[' | b'{' => {
                            self.open.push(byte);
                            if self.open.len() > MAX_DEPTH {
                                return None;
                            }
                        }
                        b')' | b']' | b'}' => self.close(byte),
                        _ => {}
                    }
                }
            }
            at += 1;
        }
        Some(())
    }

    fn close(&mut self, byte: u8) {
        let opening = match byte {
            b')' => b'(',
            b']' => b'[',
            _ => b'{',
        };
        // A brace ends whatever was left open inside of it.
        if let Some(found) = self.open.iter().rposition(|&open| open == opening || open == b'{')
            && self.open[found] == opening
        {
            self.open.truncate(found);
            if let Some(group) = self.groups.last_mut() {
                group.lowest = group.lowest.min(found as isize);
            }
        } else if let Some(group) = self.groups.last_mut() {
            group.lowest = -1;
        }
    }

    /// Reads the directive at `at`; returns where the next line begins.
    fn directive(&mut self, at: usize) -> usize {
        let end = self.end_of_line(at);
        let line = self.bytes[at + 1..end].trim_ascii_start();
        let word = line.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let (word, rest) = line.split_at(word);
        match word {
            b"if" | b"ifdef" | b"ifndef" => {
                self.groups.push(Group {
                    around: self.open.clone(),
                    before: self.last,
                    directives: vec![(at, end)],
                    branches: Vec::new(),
                    lowest: self.open.len() as isize,
                });
                self.begin_branch(condition(word, rest), end);
            }
            b"elif" | b"else" | b"elifdef" | b"elifndef" => {
                self.end_branch(at);
                if let Some(group) = self.groups.last_mut() {
                    group.directives.push((at, end));
                    self.open.clone_from(&group.around);
                    group.lowest = group.around.len() as isize;
                    self.begin_branch(condition(word, rest), end);
                }
            }
            b"endif" => {
                self.end_branch(at);
                if let Some(mut group) = self.groups.pop() {
                    group.directives.push((at, end));
                    self.settle(group);
                }
            }
            _ => {}
        }
        end
    }

    fn begin_branch(&mut self, condition: Condition<'a>, start: usize) {
        if let Some(group) = self.groups.last_mut() {
            group.branches.push(Branch {
                condition,
                start,
                end: start,
                open: Vec::new(),
                lowest: 0,
                last: 0,
                is_empty: true,
            });
            // Distinguished from what precedes it by being none.
            self.last = 0;
        }
    }

    fn end_branch(&mut self, end: usize) {
        let Some(group) = self.groups.last_mut() else { return };
        let Some(branch) = group.branches.last_mut() else {
            return;
        };
        branch.end = end;
        branch.open.clone_from(&self.open);
        branch.lowest = group.lowest;
        branch.is_empty = self.last == 0;
        branch.last = if branch.is_empty { group.before } else { self.last };
    }

    /// Decides on a conditional, and goes on with what is open after it.
    fn settle(&mut self, group: Group<'a>) {
        let action = group.action();
        let chosen = match action {
            Action::Leave | Action::Join => group.branches.iter().position(|branch| !branch.is_empty),
            Action::Choose => self.choose(&group.branches),
        };
        if action != Action::Leave {
            self.blanks.extend_from_slice(&group.directives);
        }
        if action == Action::Choose {
            for (number, branch) in group.branches.iter().enumerate() {
                if Some(number) != chosen {
                    self.blanks.push((branch.start, branch.end));
                }
            }
        }
        let around = group.around.len() as isize;
        let (open, lowest, last) = match chosen.and_then(|chosen| group.branches.into_iter().nth(chosen)) {
            Some(branch) => (branch.open, branch.lowest, branch.last),
            None => (group.around, around, group.before),
        };
        self.open = open;
        self.last = last;
        if let Some(outer) = self.groups.last_mut() {
            outer.lowest = outer.lowest.min(lowest);
        }
    }

    /// The branch that is taken. A condition that was met once is met again.
    fn choose(&mut self, branches: &[Branch<'a>]) -> Option<usize> {
        branches.iter().position(|branch| match branch.condition {
            Condition::Always | Condition::Unknown => true,
            Condition::Never => false,
            Condition::Defined(name, wanted) => match self.known.iter().find(|(known, _)| *known == name) {
                Some(&(_, defined)) => defined == wanted,
                None => {
                    self.known.push((name, wanted));
                    true
                }
            },
        })
    }

    /// Where the line of `at` ends; a backslash joins the next one to it.
    fn end_of_line(&self, at: usize) -> usize {
        let mut from = at;
        while let Some(end) = memchr::memchr(b'\n', &self.bytes[from..]) {
            let end = from + end;
            let line = self.bytes[at..end].trim_ascii_end();
            if !line.ends_with(b"\\") {
                return end;
            }
            from = end + 1;
        }
        self.bytes.len()
    }

    /// Where the text or character that begins at `start` ends. Only raw and verbatim texts go over lines.
    fn literal(&self, start: usize) -> usize {
        let (bytes, quote) = (self.bytes, self.bytes[start]);
        let before = |count: usize| start.checked_sub(count).map(|at| bytes[at]);
        let ends = |mark: &[u8], from: usize| {
            let end = memchr::memmem::find(bytes.get(from..).unwrap_or_default(), mark);
            end.map_or(bytes.len(), |end| from + end + mark.len())
        };
        if quote == b'\'' && before(1).is_some_and(|byte| byte.is_ascii_digit()) {
            return start + 1;
        }
        if quote == b'"' && bytes[start..].starts_with(b"\"\"\"") {
            return ends(b"\"\"\"", start + 3);
        }
        if quote == b'"' && before(1) == Some(b'R') {
            let rest = &bytes[start + 1..];
            if let Some(length) = rest.iter().take(17).position(|&byte| byte == b'(') {
                let mut mark = vec![b')'];
                mark.extend_from_slice(&rest[..length]);
                mark.push(b'"');
                return ends(&mark, start + length + 2);
            }
        }
        let is_verbatim =
            quote == b'"' && (before(1) == Some(b'@') || (before(1) == Some(b'$') && before(2) == Some(b'@')));
        let mut at = start + 1;
        while let Some(&byte) = bytes.get(at) {
            match byte {
                b'"' if is_verbatim && bytes.get(at + 1) == Some(&b'"') => at += 2,
                byte if byte == quote => return at + 1,
                b'\n' if !is_verbatim => return at,
                b'\\' if !is_verbatim => at += 2,
                _ => at += 1,
            }
        }
        bytes.len()
    }
}

impl Group<'_> {
    fn action(&self) -> Action {
        let whole = |branch: &Branch<'_>| branch.open == self.around && branch.lowest >= self.around.len() as isize;
        if !self.branches.iter().all(whole) {
            return Action::Choose;
        }
        let ends_statement = |byte: u8| matches!(byte, 0 | b';' | b'{' | b'}' | b')' | b':');
        let mut ends = self
            .branches
            .iter()
            .filter(|branch| !branch.is_empty)
            .map(|branch| branch.last);
        match self.around.last() {
            Some(b'(' | b'[') => Action::Choose,
            _ if ends_statement(self.before) && ends.clone().all(ends_statement) => Action::Leave,
            _ if matches!(self.before, b',' | b'{') && ends.all(|byte| byte == b',') => Action::Join,
            _ => Action::Choose,
        }
    }
}

fn condition<'a>(word: &[u8], rest: &'a [u8]) -> Condition<'a> {
    let rest = rest.trim_ascii();
    let name = |text: &'a [u8]| -> Option<&'a [u8]> {
        let text = text.trim_ascii();
        let text = match text.strip_prefix(b"(") {
            Some(inner) => inner.trim_ascii_start(),
            None => text,
        };
        let length = text
            .iter()
            .take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_')
            .count();
        let after = text[length..].trim_ascii();
        let ends = after.is_empty() || after == b")" || after.starts_with(b"/*") || after.starts_with(b"//");
        (length > 0 && ends).then(|| &text[..length])
    };
    match word {
        b"else" => Condition::Always,
        b"ifdef" | b"elifdef" => name(rest).map_or(Condition::Unknown, |name| Condition::Defined(name, true)),
        b"ifndef" | b"elifndef" => name(rest).map_or(Condition::Unknown, |name| Condition::Defined(name, false)),
        _ => {
            let (rest, wanted) = match rest.strip_prefix(b"!") {
                Some(rest) => (rest.trim_ascii_start(), false),
                None => (rest, true),
            };
            match rest.strip_prefix(b"defined") {
                Some(rest) => name(rest).map_or(Condition::Unknown, |name| Condition::Defined(name, wanted)),
                None => match name(rest) {
                    Some(b"0" | b"false") => Condition::Never,
                    Some(b"1" | b"true") => Condition::Always,
                    Some(name) => Condition::Defined(name, wanted),
                    None => Condition::Unknown,
                },
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is left, without blank lines.
    fn lines(text: &str) -> Vec<String> {
        let settled = settled(text, &["__cplusplus"]);
        assert_eq!(settled.len(), text.len());
        let lines = settled.lines().map(str::trim).filter(|line| !line.is_empty());
        lines.map(str::to_owned).collect()
    }

    #[test]
    fn a_branch_that_opens_a_brace_is_chosen() {
        let text = "void f() {\n#ifdef A\n  if (a) {\n#else\n  if (b) {\n#endif\n    run();\n  }\n}\n";
        assert_eq!(lines(text), ["void f() {", "if (a) {", "run();", "}", "}"]);
    }

    #[test]
    fn what_is_opened_in_one_conditional_is_closed_in_another() {
        let text = "void f() {\n#if (!A && B)\n  if (a) {\n#endif\n  run();\n#if (!A && B)\n  }\n#endif\n}\n";
        assert_eq!(lines(text), ["void f() {", "if (a) {", "run();", "}", "}"]);
        let text = "#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f();\n#ifdef __cplusplus\n}\n#endif\n";
        assert_eq!(lines(text), ["int f();"]);
    }

    #[test]
    fn conditions_that_exclude_each_other_are_not_both_met() {
        let text = "#ifdef A\nint f() {\n#endif\n#ifndef A\nint g() {\n#endif\n  run();\n}\n";
        assert_eq!(lines(text), ["int f() {", "run();", "}"]);
    }

    #[test]
    fn parts_of_expressions_and_lists_are_no_statements() {
        let text = "x = a\n#ifdef A\n + b\n#endif\n;\n";
        assert_eq!(lines(text), ["x = a", "+ b", ";"]);
        let text = "f(a,\n#if 0\n b,\n#else\n c,\n#endif\n d);\n";
        assert_eq!(lines(text), ["f(a,", "c,", "d);"]);
        let text = "int a[] = {\n#ifdef A\n 1,\n#else\n 2,\n#endif\n};\n";
        assert_eq!(lines(text), ["int a[] = {", "1,", "2,", "};"]);
    }

    #[test]
    fn whole_statements_stay() {
        for text in [
            "#ifndef H\n#define H\nint f();\n#endif\n",
            "#ifdef A\nint f() { return 1; }\n#else\nint f() { return 2; }\n#endif\n",
            "void f() {\n#if A\n  a('{', \"{\", 1'000); // {\n#elif B\n  /* { */ b(R\"x({)x\");\n#endif\n}\n",
            "#define OPEN do { \\\n  if (x) {\nint f();\n#if A\n#endif\n",
            "string s = @\"\n#if A\n{\";\n",
        ] {
            assert_eq!(settled(text, &[]), text);
        }
    }

    #[test]
    fn conditionals_inside_of_one_are_settled_with_it() {
        let text = "#if A\nvoid f() {\n#if B\n  if (b) {\n#endif\n  run();\n#if B\n  }\n#endif\n}\n#endif\n";
        assert_eq!(
            lines(text),
            ["#if A", "void f() {", "if (b) {", "run();", "}", "}", "#endif"]
        );
        // An end too many, and one too few.
        assert_eq!(settled("#endif\n#if A\n{\n", &[]), "#endif\n#if A\n{\n");
    }
}
