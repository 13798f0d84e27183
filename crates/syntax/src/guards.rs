//! What must hold for a place of a function to be reached: the conditions, cases and handlers around it, the early exits before it, and
//! whose closure it stands in.
//!
//! The one trick: only the function is parsed, not its file, and the walk goes from the place up. Grammars agree enough in how they name
//! nodes (`if_statement`, `switch_case`, `consequence`) for one set of tables to serve all; what no table knows guards nothing.

use tree_sitter::{Node, Tree};

use crate::arena::{self, Memory};
use crate::languages::{Language, by_name};
use crate::parse;

/// What is around a place, as far as its own function says.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Surroundings {
    /// The nearest conditions, outermost first: `if !ok`, `case Update`, `else of if x`, `unless !leader` (an early exit).
    pub conditions: Vec<String>,
    /// `go`, `defer`, or empty: when the place runs.
    pub deferred: &'static str,
    /// What is called with the closure that the place stands in: `time.AfterFunc`, `items.forEach`.
    pub given_to: String,
    /// What is called with the place itself as an argument: `router.get`.
    pub argument_of: String,
}

/// Conditions that are told of one place.
const MOST_CONDITIONS: usize = 2;
/// Longest condition, in characters.
const LONGEST: usize = 72;
/// Most nodes that are gone up from a place.
const MOST_UP: usize = 400;
/// Statements before a place that are looked at for early exits.
const MOST_BEFORE: usize = 24;

/// Nodes that choose by a condition: one branch if it holds, another one else.
const CHOICES: &[&str] = &[
    "if_statement",
    "if_expression",
    "if",
    "elsif",
    "elif_clause",
    "else_if_clause",
    "unless",
    "if_modifier",
    "unless_modifier",
    "ternary_expression",
    "conditional_expression",
    "conditional",
];

/// Nodes that are the branch of a choice among several.
const CASES: &[&str] = &[
    "expression_case",
    "type_case",
    "communication_case",
    "default_case",
    "match_arm",
    "case_clause",
    "switch_case",
    "switch_default",
    "switch_rule",
    "switch_block_statement_group",
    "switch_section",
    "switch_expression_arm",
    "case_statement",
    "default_statement",
    "when_entry",
    "when",
    "in_clause",
    "match_conditional_expression",
    "match_default_expression",
    "switch_entry",
];

/// Nodes that run when something failed.
const HANDLERS: &[&str] = &["catch_clause", "catch_block", "except_clause", "rescue"];

/// Nodes whose right side runs only if the left one lets it.
const LOGIC: &[&str] = &[
    "binary_expression",
    "boolean_operator",
    "binary",
    "logical_expression",
    "conjunction_expression",
    "disjunction_expression",
];

/// Functions without a name.
const CLOSURES: &[&str] = &[
    "func_literal",
    "closure_expression",
    "arrow_function",
    "function_expression",
    "lambda",
    "lambda_expression",
    "lambda_literal",
    "anonymous_function",
    "anonymous_function_creation_expression",
    "anonymous_method_expression",
    "block",
    "do_block",
];

/// Nodes that call.
const CALLS: &[&str] = &[
    "call_expression",
    "call",
    "new_expression",
    "method_invocation",
    "invocation_expression",
    "object_creation_expression",
    "function_call_expression",
    "member_call_expression",
    "scoped_call_expression",
    "macro_invocation",
    "method_call",
];

/// Statements that leave what is around them.
const EXITS: &[&str] = &[
    "return_statement",
    "return_expression",
    "return",
    "throw_statement",
    "throw_expression",
    "raise_statement",
    "break_statement",
    "break_expression",
    "break",
    "continue_statement",
    "continue_expression",
    "next",
    "jump_expression",
];

/// What stands around a function so that a grammar reads it alone, by language and whether it is a member.
fn around(language: &str, is_member: bool) -> (&'static str, &'static str) {
    match (language, is_member) {
        ("java" | "csharp" | "javascript" | "typescript" | "tsx", true) => ("class A {", "}"),
        ("php", true) => ("<?php class A {", "}"),
        ("php", false) => ("<?php ", ""),
        _ => ("", ""),
    }
}

/// What is around each of `places` (bytes of `text`), where `text` is one function or another definition as its file has it.
pub fn surroundings(language: &'static Language, text: &str, is_member: bool, places: &[usize]) -> Vec<Surroundings> {
    let nothing = || vec![Surroundings::default(); places.len()];
    // A component's script is read by the language that it is written in.
    let language = match language.name() {
        "vue" | "svelte" | "html" => by_name("typescript").unwrap_or(language),
        _ => language,
    };
    if text.len() > parse::MAX_SOURCE || places.is_empty() {
        return nothing();
    }
    let (before, after) = around(language.name(), is_member);
    let whole = format!("{before}{text}{after}");
    let read = |tree: &Tree| {
        let root = tree.root_node();
        let at = |&place: &usize| surrounding(root, &whole, before.len(), place + before.len());
        places.iter().map(at).collect()
    };
    match Memory::Arena.settle() {
        Memory::System => parse::whole(language, &whole).map_or_else(nothing, |tree| read(&tree)),
        Memory::Arena => arena::within(|| match parse::whole_once(language, &whole) {
            Some(tree) => {
                let found = read(&tree);
                // The memory goes with the arena, all at once.
                std::mem::forget(tree);
                found
            }
            None => nothing(),
        }),
    }
}

fn surrounding(root: Node<'_>, text: &str, start: usize, place: usize) -> Surroundings {
    let mut found = Surroundings::default();
    if place >= text.len() {
        return found;
    }
    let Some(leaf) = root.descendant_for_byte_range(place, place + 1) else {
        return found;
    };
    let mut inner: Vec<String> = Vec::new();
    let mut child = leaf;
    let mut is_elif = false;
    for _ in 0..MOST_UP {
        let Some(parent) = child.parent().filter(|parent| parent.start_byte() >= start) else {
            break;
        };
        let kind = parent.kind();
        if CLOSURES.contains(&kind) && found.given_to.is_empty() && found.argument_of.is_empty() {
            found.given_to = receiver_of(parent, text).unwrap_or_default();
        }
        match kind {
            "go_statement" => found.deferred = "go",
            "defer_statement" => found.deferred = "defer",
            _ => {}
        }
        if found.argument_of.is_empty() && found.given_to.is_empty() && is_arguments(parent) {
            found.argument_of = parent.parent().and_then(|call| callee(call, text)).unwrap_or_default();
        }
        if inner.len() < MOST_CONDITIONS {
            let told = told_by(parent, child, text, is_elif);
            is_elif = match &told {
                Some(told) => told.starts_with("if ") && is_alternative(parent),
                None => is_elif && parent.kind().starts_with("else"),
            };
            match told {
                Some(told) => inner.push(told),
                None if inner.is_empty() => inner.extend(exit_before(parent, child, text)),
                None => {}
            }
        }
        child = parent;
    }
    inner.reverse();
    found.conditions = inner;
    found
}

/// Whether a node is itself the `else` of another choice.
fn is_alternative(node: Node<'_>) -> bool {
    let Some(parent) = node.parent() else { return false };
    matches!(node.kind(), "elsif" | "elif_clause" | "else_if_clause")
        || parent.kind() == "else_clause"
        || parent.child_by_field_name("alternative") == Some(node)
}

/// What `parent` says of when `child` runs.
fn told_by(parent: Node<'_>, child: Node<'_>, text: &str, is_elif: bool) -> Option<String> {
    let kind = parent.kind();
    if CHOICES.contains(&kind) && parent.is_named() {
        return choice(parent, child, text, is_elif);
    }
    if CASES.contains(&kind) && parent.is_named() {
        return case(parent, child, text);
    }
    if HANDLERS.contains(&kind) && parent.is_named() {
        let end = body_of(parent).map_or(parent.end_byte(), |body| body.start_byte());
        let is_body = child.start_byte() >= end;
        return is_body.then(|| shortened(header(text, parent.start_byte(), end)));
    }
    if LOGIC.contains(&kind) {
        let left = parent.child_by_field_name("left").or_else(|| parent.named_child(0))?;
        let operator = text.get(left.end_byte()..child.start_byte()).unwrap_or("").trim();
        if left == child || operator.len() > 3 {
            return None;
        }
        let left = text.get(left.byte_range()).unwrap_or("");
        return match operator {
            "&&" | "and" => Some(shortened(format!("if {left}"))),
            "||" | "or" => Some(shortened(format!("unless {left}"))),
            _ => None,
        };
    }
    None
}

/// The condition of a choice; Python writes it in the middle.
fn condition(node: Node<'_>) -> Option<Node<'_>> {
    node.child_by_field_name("condition").or_else(|| match node.kind() {
        "conditional_expression" => node.named_child(1),
        _ => node.named_child(0),
    })
}

fn choice(parent: Node<'_>, child: Node<'_>, text: &str, is_elif: bool) -> Option<String> {
    let condition = condition(parent)?;
    let field = |name: &str| parent.child_by_field_name(name);
    let in_condition = child.start_byte() >= condition.start_byte() && child.end_byte() <= condition.end_byte();
    // `if err := f(); err != nil`: what comes before the condition runs anyway.
    let is_before = child.end_byte() <= condition.start_byte() && !is_postfix(parent.kind());
    if in_condition || is_before || Some(child) == field("initializer") {
        return None;
    }
    let mut is_else = field("alternative").is_some_and(|alternative| child.start_byte() >= alternative.start_byte())
        || child.kind().starts_with("else") && child.is_named()
        || matches!(child.kind(), "elsif" | "elif_clause" | "else_if_clause");
    if field("alternative").is_none() && !is_else {
        // Kotlin and Swift: what comes after the word `else`.
        let mut cursor = parent.walk();
        is_else = parent
            .children(&mut cursor)
            .any(|other| other.kind() == "else" && other.end_byte() <= child.start_byte());
        if parent.kind() == "conditional_expression" && field("condition").is_none() {
            is_else = parent.named_child(2) == Some(child);
        }
    }
    if is_else && is_elif {
        // The condition of the branch itself says enough.
        return None;
    }
    let words = plain_condition(text.get(condition.byte_range()).unwrap_or(""));
    let inverts = parent.kind().starts_with("unless");
    Some(shortened(match (is_else, inverts) {
        (false, false) | (true, true) => format!("if {words}"),
        (false, true) => format!("unless {words}"),
        (true, false) => format!("else of if {words}"),
    }))
}

/// Whether the branch is written before the condition.
fn is_postfix(kind: &str) -> bool {
    matches!(kind, "if_modifier" | "unless_modifier" | "conditional_expression")
}

/// A condition without the parentheses around all of it.
fn plain_condition(condition: &str) -> &str {
    let condition = condition.trim();
    let inner = condition.strip_prefix('(').and_then(|rest| rest.strip_suffix(')'));
    let Some(inner) = inner else { return condition };
    // `(a) && (b)` keeps them.
    let mut depth = 0_i32;
    for byte in inner.bytes() {
        depth += i32::from(byte == b'(') - i32::from(byte == b')');
        if depth < 0 {
            return condition;
        }
    }
    inner.trim()
}

fn case(parent: Node<'_>, child: Node<'_>, text: &str) -> Option<String> {
    let mut cursor = parent.walk();
    let is_end = |node: &Node<'_>| matches!(node.kind(), ":" | "=>" | "->" | "then");
    let mut end = parent.children(&mut cursor).find(is_end).map(|node| node.start_byte());
    if end.is_none() {
        // Java's label holds its colon; Ruby's branch begins on the next line.
        let mut cursor = parent.walk();
        let label = parent.named_children(&mut cursor).next();
        end = body_of(parent)
            .map(|body| body.start_byte())
            .or(label.map(|label| label.end_byte()));
    }
    let end = end?;
    if child.start_byte() < end {
        return None;
    }
    let header = header(text, parent.start_byte(), end);
    let header = match parent.kind() {
        "match_arm" | "when_entry" | "switch_expression_arm" | "match_conditional_expression" => {
            format!("case {header}")
        }
        _ => header,
    };
    Some(shortened(header))
}

fn body_of(node: Node<'_>) -> Option<Node<'_>> {
    let field = |name: &str| node.child_by_field_name(name);
    field("body").or_else(|| field("consequence")).or_else(|| {
        let mut cursor = node.walk();
        node.named_children(&mut cursor).find(|child| {
            matches!(
                child.kind(),
                "block" | "compound_statement" | "statement_block" | "then"
            )
        })
    })
}

/// The text of a header, without what opens its body.
fn header(text: &str, start: usize, end: usize) -> String {
    let header = text.get(start..end).unwrap_or("").trim();
    header.trim_end_matches(['{', ':', '=', '>', '-']).trim_end().to_owned()
}

/// The nearest choice before `child` that leaves what is around it.
fn exit_before(parent: Node<'_>, child: Node<'_>, text: &str) -> Option<String> {
    let mut before = child.prev_named_sibling();
    for _ in 0..MOST_BEFORE {
        let mut node = before?;
        before = node.prev_named_sibling();
        if node.kind() == "expression_statement" {
            node = node.named_child(0)?;
        }
        if !CHOICES.contains(&node.kind()) || node.child_by_field_name("alternative").is_some() {
            continue;
        }
        let condition = condition(node)?;
        let left = node
            .child_by_field_name("consequence")
            .or_else(|| node.child_by_field_name("body"))
            .or_else(|| node.named_child(node.named_child_count().checked_sub(1)? as u32));
        if !left.is_some_and(leaves) {
            continue;
        }
        let words = plain_condition(text.get(condition.byte_range()).unwrap_or(""));
        // That nothing failed so far goes without saying.
        if is_failure(words) {
            continue;
        }
        let word = if node.kind().starts_with("unless") {
            "if"
        } else {
            "unless"
        };
        return Some(shortened(format!("{word} {words}")));
    }
    let _ = parent;
    None
}

/// Whether a branch ends by leaving what is around it.
fn leaves(branch: Node<'_>) -> bool {
    let mut node = branch;
    for _ in 0..6 {
        if EXITS.contains(&node.kind()) {
            return true;
        }
        let Some(last) = node
            .named_child_count()
            .checked_sub(1)
            .and_then(|last| node.named_child(last as u32))
        else {
            return false;
        };
        node = last;
    }
    false
}

fn is_failure(condition: &str) -> bool {
    let lower = condition.to_ascii_lowercase();
    lower
        .split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
        .any(|word| matches!(word, "err" | "error" | "is_err" | "ok" | "e"))
}

/// What is called with a closure: directly, or as the block after a call.
fn receiver_of(closure: Node<'_>, text: &str) -> Option<String> {
    let parent = closure.parent()?;
    if matches!(closure.kind(), "block" | "do_block") {
        // Ruby alone writes a block as part of a call.
        return (parent.kind() == "call").then(|| callee(parent, text)).flatten();
    }
    if CALLS.contains(&parent.kind()) {
        return callee(parent, text);
    }
    // Arguments, an argument among them, an annotated lambda.
    let mut node = parent;
    for _ in 0..3 {
        if is_arguments(node) {
            return callee(node.parent()?, text);
        }
        if CALLS.contains(&node.kind()) {
            return callee(node, text);
        }
        node = node.parent()?;
    }
    None
}

fn is_arguments(node: Node<'_>) -> bool {
    matches!(
        node.kind(),
        "arguments" | "argument_list" | "value_arguments" | "call_suffix"
    )
}

/// The name of what a call calls, as it is written.
fn callee(call: Node<'_>, text: &str) -> Option<String> {
    if !CALLS.contains(&call.kind()) {
        return None;
    }
    let field = |name: &str| call.child_by_field_name(name);
    let end = field("arguments").map(|arguments| arguments.start_byte());
    let function = field("function")
        .or_else(|| field("constructor"))
        .or_else(|| call.named_child(0))?;
    let end = end.unwrap_or(function.end_byte()).max(call.start_byte());
    let written: String = text.get(call.start_byte()..end)?.split_whitespace().collect();
    let written = written.trim_end_matches(['(', '{', '|']);
    // Of a long chain, its last member.
    let start = match written.len() > 40 {
        true => written.rfind(['.', ':', '>']).map_or(0, |at| at + 1),
        false => 0,
    };
    let written = written.get(start..)?;
    (!written.is_empty() && written.len() <= 40).then(|| written.to_owned())
}

/// On one line, cut.
fn shortened(text: impl AsRef<str>) -> String {
    let mut line = String::new();
    for word in text.as_ref().split_whitespace() {
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::{Surroundings, surroundings};
    use crate::languages::by_name;

    /// What is around each `mark` of a text.
    fn all(language: &str, text: &str, is_member: bool) -> Vec<Surroundings> {
        let places: Vec<usize> = text.match_indices("mark").map(|(at, _)| at).collect();
        surroundings(by_name(language).unwrap(), text, is_member, &places)
    }

    fn conditions(language: &str, text: &str, is_member: bool) -> Vec<String> {
        let found = all(language, text, is_member).into_iter();
        found.map(|place| place.conditions.join(" & ")).collect()
    }

    #[test]
    fn go() {
        let text = "func (s *S) f(x int) error {
	if !s.leader {
		return nil
	}
	mark()
	if err := mark(); err != nil {
		return mark()
	} else if x > 1 {
		mark()
	} else {
		mark()
	}
	switch x {
	case Update, Delete:
		mark()
	default:
		mark()
	}
	select {
	case <-s.done:
		mark()
	}
	return s.ok && mark()
}";
        assert_eq!(
            conditions("go", text, true),
            [
                "unless !s.leader",
                "unless !s.leader",
                "if err != nil",
                "if x > 1",
                "else of if err != nil & else of if x > 1",
                "case Update, Delete",
                "default",
                "case <-s.done",
                "if s.ok",
            ]
        );
        let text = "func f() {
	go mark()
	defer mark()
	time.AfterFunc(ttl, func() { mark() })
	http.HandleFunc(\"/\", mark)
}";
        let found = all("go", text, false);
        assert_eq!((found[0].deferred, found[1].deferred), ("go", "defer"));
        assert_eq!(found[2].given_to, "time.AfterFunc");
        assert_eq!(found[3].argument_of, "http.HandleFunc");
    }

    #[test]
    fn python() {
        let text = "def f(self, x):
        if not x:
            return None
        mark()
        if x == 1 and mark():
            mark()
        elif x == 2:
            mark()
        else:
            mark()
        try:
            mark()
        except ValueError as problem:
            mark()
        return mark() if x else mark()
";
        assert_eq!(
            conditions("python", text, true),
            [
                "unless not x",
                "if x == 1",
                "if x == 1 and mark()",
                "if x == 2",
                "else of if x == 1 and mark()",
                "unless not x",
                "except ValueError as problem",
                "if x",
                "else of if x",
            ]
        );
    }

    #[test]
    fn script() {
        let text = "async run(job: Job) {
    if (!job) return;
    mark();
    if (job.queued) { mark(); } else if (job.done) mark(); else { mark(); }
    switch (job.kind) { case 'a': mark(); break; default: mark(); }
    try { await mark(); } catch (error) { mark(); }
    const x = job.ok ? mark() : mark();
    job.ready && mark();
    items.forEach((item) => { mark(item); });
}";
        let expected = [
            "unless !job",
            "if job.queued",
            "if job.done",
            "else of if job.queued & else of if job.done",
            "case 'a'",
            "default",
            "unless !job",
            "catch (error)",
            "if job.ok",
            "else of if job.ok",
            "if job.ready",
            "unless !job",
        ];
        assert_eq!(conditions("typescript", text, true), expected);
        assert_eq!(all("typescript", text, true)[11].given_to, "items.forEach");
        let plain = text.replace(": Job", "");
        assert_eq!(conditions("javascript", &plain, true), expected);
    }

    #[test]
    fn rust() {
        let text = "fn f(&self, x: Option<u8>) -> bool {
    if self.closed {
        return false;
    }
    mark();
    if let Some(y) = x {
        mark(y);
    } else {
        mark();
    }
    match self.kind {
        Kind::A => mark(),
        Kind::B { n } if n > 1 => { mark(); }
        _ => false,
    }
}";
        assert_eq!(
            conditions("rust", text, true),
            [
                "unless self.closed",
                "if let Some(y) = x",
                "else of if let Some(y) = x",
                "case Kind::A",
                "case Kind::B { n } if n > 1",
            ]
        );
    }

    #[test]
    fn others_that_write_blocks() {
        let c = "int f(client *c) {
    if (c->flags & CLOSED) return 1;
    mark();
    if (c->len > 0) mark();
    else mark();
    switch (c->type) {
    case TYPE_A: mark(); break;
    default: mark();
    }
    return c->ok ? mark() : 0;
}";
        let expected = [
            "unless c->flags & CLOSED",
            "if c->len > 0",
            "else of if c->len > 0",
            "case TYPE_A",
            "default",
            "if c->ok",
        ];
        assert_eq!(conditions("c", c, false), expected);
        assert_eq!(conditions("cpp", c, false), expected);
        let java = "void f(Job job) {
    if (job == null) return;
    mark();
    if (job.done) { mark(); } else { mark(); }
    switch (job.kind) { case A: mark(); break; default: mark(); }
    try { mark(); } catch (IOException problem) { mark(); }
}";
        let expected = [
            "unless job == null",
            "if job.done",
            "else of if job.done",
            "case A",
            "default",
            "unless job == null",
            "catch (IOException problem)",
        ];
        assert_eq!(conditions("java", java, true), expected);
        assert_eq!(conditions("csharp", java, true), expected);
        let php = "function f($job) {
    if (!$job) { return; }
    mark();
    if ($job->done) { mark(); } elseif ($job->late) { mark(); } else { mark(); }
    switch ($job->kind) { case A: mark(); break; }
}";
        assert_eq!(
            conditions("php", php, true),
            [
                "unless !$job",
                "if $job->done",
                "if $job->late",
                "else of if $job->done",
                "case A"
            ]
        );
    }

    #[test]
    fn kotlin_and_ruby() {
        let kotlin = "fun f(job: Job?) {
    if (job == null) return
    mark()
    if (job.done) { mark() } else { mark() }
    when (job.kind) {
        Kind.A -> mark()
        else -> mark()
    }
}";
        assert_eq!(
            conditions("kotlin", kotlin, true),
            [
                "unless job == null",
                "if job.done",
                "else of if job.done",
                "case Kind.A",
                "case else",
            ]
        );
        let ruby = "def f(job)
  return unless job
  mark()
  if job.done
    mark()
  elsif job.late
    mark()
  else
    mark()
  end
  mark() if job.ok
  case job.kind
  when :a then mark()
  end
  begin
    mark()
  rescue IOError => problem
    mark()
  end
end";
        assert_eq!(
            conditions("ruby", ruby, true),
            [
                "if job",
                "if job.done",
                "if job.late",
                "else of if job.done & else of if job.late",
                "if job.ok",
                "when :a",
                "if job",
                "rescue IOError => problem",
            ]
        );
    }

    #[test]
    fn hostile_text_guards_nothing_and_takes_no_time() {
        let deep = format!("func f() {{ {} mark() }}", "if x { ".repeat(5_000));
        assert!(all("go", &deep, false)[0].conditions.len() <= 2);
        assert_eq!(all("go", "mark", false), [Surroundings::default()]);
        assert_eq!(
            surroundings(by_name("go").unwrap(), "func f() {}", false, &[9_999]),
            [Surroundings::default()]
        );
        assert_eq!(surroundings(by_name("python").unwrap(), "é", false, &[1]).len(), 1);
    }
}
