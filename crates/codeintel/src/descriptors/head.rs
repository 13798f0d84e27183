//! The head of a declaration, read from its text: parameters with type and default, results, modifiers.
//!
//! The facts know what resolution needs; a descriptor gives what the author wrote. The one trick: brackets and quotes are
//! skipped by one scanner ([`scan`]), after which a parameter is split by where its language puts the name: before the
//! type (`name: Type`), after it (`Type name`), or alone.

mod scan;

use super::schema::{ParamDescriptor, ReturnDescriptor};
use scan::{find_top, matching, split_top};

/// What a head says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// In order, receivers excluded.
    pub(super) parameters: Vec<ParamDescriptor>,
    /// Types of the result as written.
    pub(super) returns: Vec<ReturnDescriptor>,
    /// The receiver of Go, as written.
    pub(super) receiver: String,
}

/// Longest text that is read as a head.
const MAX_HEAD: usize = 16 * 1024;

/// Reads the head of the function whose definition is `text` and whose name ends at `name_end` in it. `None` where there is no
/// list of parameters.
pub(super) fn parse(language: &str, text: &str, name_start: usize, name_end: usize) -> Option<Head> {
    let text = super::docs::cut(text, MAX_HEAD);
    let before = text.get(..name_start)?;
    let after = text.get(name_end..)?;
    let (inside, rest) = list_after(language, after)?;
    let mut head = Head {
        parameters: parameters(language, inside),
        ..Head::default()
    };
    match language {
        "go" => {
            head.receiver = before
                .find('(')
                .and_then(|open| Some(&before[open + 1..matching(language, before, open)?]))
                .map(|inside| inside.split_whitespace().next_back().unwrap_or("").to_string())
                .unwrap_or_default();
            head.returns = go_results(rest);
        }
        "java" | "c" | "cpp" | "csharp" => {
            let type_ = type_before(language, before);
            let trailing = rest
                .trim_start()
                .strip_prefix("->")
                .map(|rest| until_body(language, rest));
            head.returns.extend(trailing.or(type_).as_deref().map(returned));
        }
        _ => {
            let mark = if matches!(language, "rust" | "python") {
                "->"
            } else {
                ":"
            };
            let type_ = rest
                .trim_start()
                .strip_prefix(mark)
                .map(|rest| until_body(language, rest));
            head.returns
                .extend(type_.as_deref().filter(|type_| !type_.is_empty()).map(returned));
        }
    }
    Some(head)
}

/// Type and default of the variable `name` declared by `text`.
pub(super) fn variable(language: &str, text: &str, name: &str) -> (String, String) {
    let text = super::docs::cut(text, MAX_HEAD).trim().trim_end_matches(';');
    match language {
        "java" | "c" | "cpp" | "csharp" => {
            let text = accessors_cut(text);
            let declarators = split_top(language, text, ',');
            let first = declarators.first().copied().unwrap_or(text);
            let own = declarators
                .iter()
                .copied()
                .find(|part| typed_first(language, part).name == name)
                .unwrap_or(first);
            let mut found = typed_first(language, own);
            // `int a, *b`: what is shared stands before the first name.
            if own != first {
                let shared = typed_first(language, first).type_;
                let shared = shared.trim_end_matches(['*', '&']).trim_end();
                found.type_ = format!(
                    "{shared}{}",
                    if found.type_.is_empty() {
                        String::new()
                    } else {
                        format!(" {}", found.type_)
                    }
                );
            }
            (modifiers_cut(language, &found.type_).to_string(), found.default)
        }
        "php" => {
            let found = typed_first(language, text);
            let type_ = found
                .type_
                .split_whitespace()
                .filter(|word| !PHP_MODIFIERS.contains(word));
            (type_.collect::<Vec<_>>().join(" "), found.default)
        }
        "go" => {
            let text = text.split('`').next().unwrap_or(text).trim();
            let (left, default) = assigned(language, text);
            let left = left.trim_start_matches("var ").trim_start_matches("const ");
            // `A, B string`
            let type_ = split_top(language, left, ',')
                .last()
                .and_then(|last| last.trim().split_once(char::is_whitespace));
            (
                type_.map(|(_, type_)| type_.trim().to_string()).unwrap_or_default(),
                default.to_string(),
            )
        }
        "ruby" => (String::new(), assigned(language, text).1.to_string()),
        _ => {
            let (left, default) = assigned(language, text);
            let type_ = find_top(language, left, ':').map(|at| left[at + 1..].trim().to_string());
            let default = if text.starts_with("self.") { "" } else { default };
            (type_.unwrap_or_default(), default.to_string())
        }
    }
}

const PHP_MODIFIERS: &[&str] = &[
    "public",
    "protected",
    "private",
    "static",
    "readonly",
    "var",
    "final",
    "abstract",
    "const",
    "public(set)",
    "protected(set)",
    "private(set)",
];

/// The list of parameters after a name: what is inside, and what follows.
fn list_after<'a>(language: &str, after: &'a str) -> Option<(&'a str, &'a str)> {
    let mut rest = after.trim_start();
    loop {
        let first = rest.chars().next()?;
        match first {
            '(' => {
                let close = matching(language, rest, 0)?;
                return Some((&rest[1..close], &rest[close + 1..]));
            }
            '<' | '[' => {
                let close = matching(language, rest, 0)?;
                rest = rest[close + 1..].trim_start();
            }
            // `name = async (…) =>`, `name: Type = function name(…)`
            '=' | ':' | '?' | '!' if matches!(language, "javascript" | "typescript" | "tsx" | "vue" | "svelte") => {
                let equals = match first {
                    '=' => 0,
                    _ => find_top(language, rest, '=').or_else(|| find_top(language, rest, '('))?,
                };
                rest = rest[equals..].trim_start_matches('=').trim_start();
                rest = rest.strip_prefix("async ").unwrap_or(rest).trim_start();
                if let Some(function) = rest.strip_prefix("function") {
                    rest = &function[function.find(['(', '<'])?..];
                }
                if !rest.starts_with(['(', '<']) {
                    // One parameter without parentheses: `x => …`.
                    let (name, after) = rest.split_once("=>")?;
                    let name = name.trim();
                    let is_name = name
                        .chars()
                        .all(|letter| letter.is_alphanumeric() || matches!(letter, '_' | '$'));
                    return (is_name && !name.is_empty()).then_some((name, after));
                }
            }
            _ if language == "ruby" => {
                let line = rest.lines().next().unwrap_or("");
                let line = line.split(';').next().unwrap_or(line);
                let same_line = after.starts_with(' ') || after.starts_with('\t');
                return same_line.then_some((line.trim(), ""));
            }
            _ => return None,
        }
    }
}

fn parameters(language: &str, inside: &str) -> Vec<ParamDescriptor> {
    let parts = split_top(language, inside, ',');
    let parts = parts.into_iter().map(str::trim).filter(|part| !part.is_empty());
    match language {
        "go" => go_parameters(&parts.collect::<Vec<_>>()),
        "java" | "c" | "cpp" | "csharp" | "php" => parts
            .filter(|part| *part != "void")
            .map(|part| typed_first(language, part))
            .collect(),
        _ => {
            let mut keyword = false;
            parts
                .filter_map(|part| named_first(language, part, &mut keyword))
                .collect()
        }
    }
}

/// `name`, `name: Type`, `name = default`, `name: Type = default`, with the marks of each language.
fn named_first(language: &str, part: &str, keyword: &mut bool) -> Option<ParamDescriptor> {
    let mut part = unannotated(language, part);
    let mut found = ParamDescriptor::default();
    let modifiers: &[&str] = match language {
        "kotlin" => &[
            "vararg",
            "noinline",
            "crossinline",
            "val",
            "var",
            "private",
            "protected",
            "public",
            "internal",
            "override",
            "open",
        ],
        "rust" => &["mut"],
        "typescript" | "tsx" => &["public", "private", "protected", "readonly", "override"],
        _ => &[],
    };
    while let Some((word, rest)) = part.split_once(char::is_whitespace)
        && modifiers.contains(&word)
    {
        if word == "vararg" {
            found.passing = "rest".to_string();
        }
        part = rest.trim_start();
    }
    match language {
        "python" if part == "*" => {
            *keyword = true;
            return None;
        }
        "python" if part == "/" => return None,
        "ruby" if part.ends_with(':') || (part.contains(": ") && !part.contains('=')) => {
            let (name, default) = part.split_once(':').unwrap_or((part, ""));
            found.name = name.trim().to_string();
            found.default = default.trim().to_string();
            found.passing = "keyword".to_string();
            return Some(found);
        }
        _ => {}
    }
    let marks: &[(&str, &str)] = match language {
        "python" => &[("**", "keyword_rest"), ("*", "rest")],
        "ruby" => &[("**", "keyword_rest"), ("*", "rest"), ("&", "block")],
        "javascript" | "typescript" | "tsx" | "vue" | "svelte" => &[("...", "rest")],
        _ => &[],
    };
    let marked = marks
        .iter()
        .find_map(|(mark, passing)| Some((part.strip_prefix(mark)?, *passing)));
    if let Some((rest, passing)) = marked {
        part = rest;
        found.passing = passing.to_string();
    } else if *keyword {
        found.passing = "keyword".to_string();
    }
    if language == "python" && found.passing == "rest" {
        *keyword = true;
    }
    let (left, default) = assigned(language, part);
    found.default = default.to_string();
    match find_top(language, left, ':') {
        Some(at) => {
            found.name = left[..at].trim().trim_end_matches('?').to_string();
            found.type_ = left[at + 1..].trim().to_string();
        }
        None => found.name = left.trim().trim_end_matches('?').to_string(),
    }
    let bare = found.name.trim_start_matches(['&', '\'']).trim();
    let is_receiver = match language {
        "rust" => bare == "self" || bare == "mut self" || bare.ends_with(" self") || bare.ends_with(" mut self"),
        "typescript" | "tsx" => bare == "this",
        _ => false,
    };
    (!is_receiver).then_some(found)
}

/// `Type name`, `Type name = default`, `Type... name`, `Type $name`, `Type name[10]`, `Type (*name)(…)`, `Type`.
fn typed_first(language: &str, part: &str) -> ParamDescriptor {
    let part = unannotated(language, part.trim());
    let mut found = ParamDescriptor::default();
    let (left, default) = assigned(language, part);
    found.default = default.to_string();
    let mut left = left.trim();
    if left == "..." {
        found.name = left.to_string();
        found.passing = "rest".to_string();
        return found;
    }
    for modifier in ["final ", "params ", "this ", "scoped "] {
        if let Some(rest) = left
            .strip_prefix(modifier)
            .filter(|_| matches!(language, "java" | "csharp"))
        {
            left = rest.trim_start();
            if modifier == "params " {
                found.passing = "rest".to_string();
            }
        }
    }
    if language == "php" {
        let Some(at) = left.find('$') else {
            found.name = left.to_string();
            return found;
        };
        let (type_, name) = left.split_at(at);
        let type_ = type_.trim_end();
        if type_.ends_with("...") {
            found.passing = "rest".to_string();
        }
        let type_ = type_.trim_end_matches("...").trim_end().trim_end_matches('&').trim();
        let type_ = type_.split_whitespace().filter(|word| !PHP_MODIFIERS.contains(word));
        found.type_ = type_.collect::<Vec<_>>().join(" ");
        found.name = name.trim_start_matches('$').trim().to_string();
        return found;
    }
    // A pointer to a function or an array has its name inside.
    if let Some(at) = left.find("(*").filter(|_| matches!(language, "c" | "cpp")) {
        let name_at = at + 2;
        let length = left[name_at..]
            .find(|letter: char| !is_word(letter))
            .unwrap_or(left.len() - name_at);
        found.name = left[name_at..name_at + length].to_string();
        found.type_ = format!("{}{}", &left[..name_at], &left[name_at + length..]);
        return found;
    }
    let suffix_at = left
        .find('[')
        .filter(|_| matches!(language, "c" | "cpp" | "java"))
        .filter(|at| left[..*at].trim_end().contains(' '));
    let (declared, suffix) = match suffix_at {
        // `int[] x` has its brackets before the name, `int x[3]` after.
        Some(at) if left.ends_with(']') => left.split_at(at),
        _ => (left, ""),
    };
    // A bit field's width is no part of the name.
    let declared = match find_top(language, declared, ':').filter(|at| {
        matches!(language, "c" | "cpp") && !declared[*at..].starts_with("::") && !declared[..*at].ends_with(':')
    }) {
        Some(at) => declared[..at].trim_end(),
        None => declared.trim_end(),
    };
    let start = declared
        .char_indices()
        .rev()
        .find(|(_, letter)| !is_word(*letter))
        .map_or(0, |(at, letter)| at + letter.len_utf8());
    let (type_, name) = declared.split_at(start);
    let type_ = type_.trim();
    // A prototype may leave the name out: then the last word is part of the type.
    let is_alone = type_.is_empty()
        || matches!(
            name,
            "int" | "char" | "long" | "short" | "double" | "float" | "unsigned" | "bool" | "const"
        );
    let after_tag = matches!(
        type_,
        "struct" | "union" | "enum" | "const" | "unsigned" | "signed" | "const struct"
    );
    if matches!(language, "c" | "cpp") && (is_alone || after_tag || name.is_empty()) {
        found.type_ = format!("{declared}{suffix}");
        return found;
    }
    found.name = name.to_string();
    found.type_ = format!("{type_}{suffix}");
    if let Some(element) = found.type_.strip_suffix("...").map(str::trim_end) {
        found.type_ = element.to_string();
        found.passing = "rest".to_string();
    }
    found
}

/// Go gives a type to all names before it; without names every part is a type.
fn go_parameters(parts: &[&str]) -> Vec<ParamDescriptor> {
    let split = |part: &&str| -> Option<(String, String)> {
        let (name, type_) = part.split_once(char::is_whitespace)?;
        let is_name = name.chars().all(is_word) && !matches!(name, "chan" | "func" | "map" | "struct" | "interface");
        is_name.then(|| (name.to_string(), type_.trim().to_string()))
    };
    let is_named = parts.iter().any(|part| split(part).is_some());
    let mut type_after = String::new();
    let mut found: Vec<ParamDescriptor> = parts
        .iter()
        .rev()
        .map(|part| {
            let (name, type_) = match split(part) {
                Some(both) => both,
                None if is_named => ((*part).to_string(), type_after.clone()),
                None => (String::new(), (*part).to_string()),
            };
            type_after.clone_from(&type_);
            let rest = type_.strip_prefix("...").map(str::to_string);
            ParamDescriptor {
                name,
                passing: if rest.is_some() {
                    "rest".to_string()
                } else {
                    String::new()
                },
                type_: rest.unwrap_or(type_),
                ..ParamDescriptor::default()
            }
        })
        .collect();
    found.reverse();
    found
}

fn go_results(rest: &str) -> Vec<ReturnDescriptor> {
    let rest = rest.trim_start();
    if !rest.starts_with('(') {
        let type_ = until_body("go", rest);
        return if type_.is_empty() {
            Vec::new()
        } else {
            vec![returned(&type_)]
        };
    }
    let Some(close) = matching("go", rest, 0) else {
        return Vec::new();
    };
    let parts: Vec<&str> = split_top("go", &rest[1..close], ',');
    let parts: Vec<&str> = parts
        .into_iter()
        .map(str::trim)
        .filter(|part| !part.is_empty())
        .collect();
    let results = go_parameters(&parts).into_iter();
    results
        .map(|result| ReturnDescriptor {
            name: result.name,
            ..returned(&result.type_)
        })
        .collect()
}

/// The type that stands before a name, without modifiers, annotations and type parameters. `None` for a constructor.
fn type_before(language: &str, before: &str) -> Option<String> {
    let text = modifiers_cut(language, unannotated(language, before.trim()));
    // `void Cart::go`: the owner is no part of the type.
    let text = match text.strip_suffix("::") {
        Some(owner) => owner.rfind(char::is_whitespace).map_or("", |at| owner[..at].trim_end()),
        None => text,
    };
    (!text.is_empty() && !text.ends_with(['~', '.'])).then(|| text.split_whitespace().collect::<Vec<_>>().join(" "))
}

/// `text` without the modifiers that it starts with.
fn modifiers_cut<'a>(language: &str, text: &'a str) -> &'a str {
    const MODIFIERS: &[&str] = &[
        "public",
        "protected",
        "private",
        "internal",
        "static",
        "final",
        "abstract",
        "virtual",
        "override",
        "sealed",
        "async",
        "synchronized",
        "native",
        "default",
        "strictfp",
        "transient",
        "volatile",
        "readonly",
        "extern",
        "inline",
        "constexpr",
        "consteval",
        "explicit",
        "friend",
        "new",
        "partial",
        "unsafe",
        "required",
        "event",
        "const",
        "mutable",
        "file",
        "__inline",
        "__inline__",
        "typedef",
    ];
    let mut text = text.trim();
    loop {
        text = unannotated(language, text);
        if let Some(rest) = text
            .strip_prefix("template")
            .map(str::trim_start)
            .filter(|rest| rest.starts_with('<'))
        {
            let Some(close) = matching(language, rest, 0) else {
                return text;
            };
            text = rest[close + 1..].trim_start();
            continue;
        }
        if text.starts_with('<') && language == "java" {
            let Some(close) = matching(language, text, 0) else {
                return text;
            };
            text = text[close + 1..].trim_start();
            continue;
        }
        let end = text.find(|letter: char| !is_word(letter)).unwrap_or(text.len());
        let word = &text[..end];
        // In C and C++ `const` belongs to the type.
        let is_modifier = MODIFIERS.contains(&word) && !(word == "const" && matches!(language, "c" | "cpp"));
        if !is_modifier || (word == "public" && text[end..].starts_with(':')) {
            return text;
        }
        text = text[end..].trim_start();
    }
}

/// `text` without the annotations, attributes and decorators that it starts with.
fn unannotated<'a>(language: &str, text: &'a str) -> &'a str {
    let mut text = text.trim_start();
    loop {
        let rest = match language {
            "java" | "kotlin" | "typescript" | "tsx" | "scala" if text.starts_with('@') => {
                let end = text[1..]
                    .find(|letter: char| !is_word(letter) && letter != '.' && letter != ':')
                    .map_or(text.len(), |at| at + 1);
                let rest = &text[end..];
                match rest.starts_with('(').then(|| matching(language, rest, 0)).flatten() {
                    Some(close) => &rest[close + 1..],
                    None => rest,
                }
            }
            "rust" | "php" if text.starts_with("#[") => match matching(language, text, 1) {
                Some(close) => &text[close + 1..],
                None => return text,
            },
            "csharp" | "cpp" | "c" if text.starts_with('[') => match matching(language, text, 0) {
                Some(close) => &text[close + 1..],
                None => return text,
            },
            _ => return text,
        };
        if rest.len() == text.len() {
            return text;
        }
        text = rest.trim_start();
    }
}

/// `int Size { get; set; } = 3` without its accessors.
fn accessors_cut(text: &str) -> &str {
    text.find('{').map_or(text, |at| text[..at].trim_end())
}

/// Both sides of the first assignment outside of brackets.
fn assigned<'a>(language: &str, text: &'a str) -> (&'a str, &'a str) {
    match scan::find_assignment(language, text) {
        Some(at) => (text[..at].trim_end_matches(':').trim_end(), text[at + 1..].trim()),
        None => (text, ""),
    }
}

/// What stands before the body: a block, an arrow, an assignment, a clause.
fn until_body(language: &str, rest: &str) -> String {
    let end = scan::body_start(language, rest);
    rest[..end].split_whitespace().collect::<Vec<_>>().join(" ")
}

fn returned(type_: &str) -> ReturnDescriptor {
    ReturnDescriptor {
        type_: type_.to_string(),
        source_hint: "type_hint".to_string(),
        ..ReturnDescriptor::default()
    }
}

fn is_word(letter: char) -> bool {
    letter.is_alphanumeric() || letter == '_' || letter == '$' || letter == '@'
}

#[cfg(test)]
mod tests {
    use super::{parse, variable};

    fn shown(language: &str, text: &str, name: &str) -> String {
        let at = text.find(name).unwrap();
        let Some(head) = parse(language, text, at, at + name.len()) else {
            return "none".to_string();
        };
        let parameters: Vec<String> = head
            .parameters
            .iter()
            .map(|one| {
                let default = if one.default.is_empty() {
                    String::new()
                } else {
                    format!("={}", one.default)
                };
                let passing = if one.passing.is_empty() {
                    String::new()
                } else {
                    format!("!{}", one.passing)
                };
                format!("{}:{}{default}{passing}", one.name, one.type_)
            })
            .collect();
        let returns: Vec<String> = head
            .returns
            .iter()
            .map(|one| format!("{}{}", one.name, one.type_))
            .collect();
        format!("{} -> {}", parameters.join("; "), returns.join("; "))
    }

    #[test]
    fn names_before_types() {
        let cases = [
            (
                "rust",
                "pub fn new<'a, T: Into<X>>(&'a mut self, size: usize, names: &[&str], (a, b): (u8, u8)) -> Result<Self, E> where T: Copy {",
                "new",
                "size:usize; names:&[&str]; (a, b):(u8, u8) -> Result<Self, E>",
            ),
            ("rust", "fn f(self: Box<Self>, c: char) {}", "f(", "none"),
            (
                "python",
                "def add(self, item: \"Item\", /, n=1, *args: int, key: dict[str, int] = {}, **kw) -> bool:\n  x",
                "add",
                "self:; item:\"Item\"; n:=1; args:int!rest; key:dict[str, int]={}!keyword; kw:!keyword_rest -> bool",
            ),
            (
                "typescript",
                "public async add(@Inject() item: T, count?: number, cb: (x: number) => void = () => {}, ...rest: string[]): Promise<Map<string, number>> {",
                "add",
                "item:T; count:number; cb:(x: number) => void=() => {}; rest:string[]!rest -> Promise<Map<string, number>>",
            ),
            (
                "typescript",
                "make = (a: number, { b, c = 2 }: Opts = {}): void => {",
                "make",
                "a:number; { b, c = 2 }:Opts={} -> void",
            ),
            ("javascript", "make = async x => x", "make", "x: -> "),
            (
                "javascript",
                "make = function (a, b = \"),\") {",
                "make",
                "a:; b:=\"),\" -> ",
            ),
            (
                "kotlin",
                "final override suspend fun add(item: T, @X(1) n: Int = 1, vararg more: String): Boolean = true",
                "add",
                "item:T; n:Int=1; more:String!rest -> Boolean",
            ),
            (
                "ruby",
                "def add(item, count = 1, *rest, key:, other: 2, **opts, &block)\nend",
                "add",
                "item:; count:=1; rest:!rest; key:!keyword; other:=2!keyword; opts:!keyword_rest; block:!block -> ",
            ),
            ("ruby", "def add item, count\nend", "add", "item:; count: -> "),
            ("ruby", "def add\nend", "add", "none"),
            (
                "go",
                "func (c *Cart[T]) Add(item Item, n, m int, f func(a, b int) error, more ...string) (out map[string]int, err error) {",
                "Add",
                "item:Item; n:int; m:int; f:func(a, b int) error; more:string!rest -> outmap[string]int; errerror",
            ),
            (
                "go",
                "func F(int, string) *T { return nil }",
                "F",
                ":int; :string -> *T",
            ),
            ("go", "func F[T any](x T)", "F", "x:T -> "),
        ];
        for (language, text, name, expected) in cases {
            if name == "f(" {
                let at = text.find(name).unwrap();
                let head = parse(language, text, at, at + 1).unwrap();
                assert_eq!(head.parameters.len(), 1, "{text}");
                continue;
            }
            assert_eq!(shown(language, text, name), expected, "{text}");
        }
    }

    #[test]
    fn types_before_names() {
        let cases = [
            (
                "java",
                "@Override public final synchronized <R> Map<K, V> add(final T item, @Nullable String... more) throws E {",
                "add",
                "item:T; more:String!rest -> Map<K, V>",
            ),
            ("java", "public Cart(int[] size)", "Cart", "size:int[] -> "),
            (
                "csharp",
                "[Obsolete] public virtual async Task<bool> AddAsync(this T item, ref int n, string s = \"a,b\", params string[] rest) {",
                "AddAsync",
                "item:T; n:ref int; s:string=\"a,b\"; rest:string[]!rest -> Task<bool>",
            ),
            (
                "php",
                "public static function x(array $options = [], ?int &$n = null, string|int ...$more): static|null {",
                "x",
                "options:array=[]; n:?int=null; more:string|int!rest -> static|null",
            ),
            (
                "c",
                "static inline const char *name(struct cart *c, int argv[10], int (*cb)(int, void *), unsigned, void *, ...) {",
                "name",
                "c:struct cart *; argv:int[10]; cb:int (*)(int, void *); :unsigned; :void *; ...:!rest -> const char *",
            ),
            ("c", "int none(void);", "none", " -> int"),
            (
                "cpp",
                "template <class T> virtual std::vector<T> add(const std::string& item = std::string(\"a\"), int n = 1) const noexcept = 0",
                "add",
                "item:const std::string&=std::string(\"a\"); n:int=1 -> std::vector<T>",
            ),
            ("cpp", "auto add(int n) -> bool {", "add", "n:int -> bool"),
            ("cpp", "void Cart<int>::go() {}", "go", " -> void"),
        ];
        for (language, text, name, expected) in cases {
            assert_eq!(shown(language, text, name), expected, "{text}");
        }
    }

    #[test]
    fn variables() {
        let cases = [
            (
                "java",
                "private final List<T> items = new ArrayList<>()",
                "items",
                "List<T>",
                "new ArrayList<>()",
            ),
            ("java", "protected int a, b = 2", "b", "int", "2"),
            ("csharp", "public int Size { get; private set; } = 3", "Size", "int", ""),
            ("c", "char name[10]", "name", "char[10]", ""),
            ("c", "unsigned int flag : 1", "flag", "unsigned int", ""),
            ("cpp", "std::vector<T> items_", "items_", "std::vector<T>", ""),
            (
                "php",
                "protected ?array $casts = ['a' => 'b']",
                "casts",
                "?array",
                "['a' => 'b']",
            ),
            ("php", "public static $x", "x", "", ""),
            ("go", "Items []Item `json:\"items\"`", "Items", "[]Item", ""),
            ("go", "A, B string", "A", "string", ""),
            ("typescript", "readonly name: string = 'x'", "name", "string", "'x'"),
            ("typescript", "#secret = 1", "#secret", "", "1"),
            ("rust", "pub(crate) total: u32", "total", "u32", ""),
            ("rust", "pub const MAX: usize = 3", "MAX", "usize", "3"),
            ("python", "size: int = 3", "size", "int", "3"),
            ("kotlin", "val name: String = \"x\"", "name", "String", "\"x\""),
            ("ruby", "MAX = 3", "MAX", "", "3"),
        ];
        for (language, text, name, type_, default) in cases {
            let found = variable(language, text, name);
            assert_eq!((found.0.as_str(), found.1.as_str()), (type_, default), "{text}");
        }
    }

    #[test]
    fn hostile_heads_end() {
        for language in [
            "rust",
            "python",
            "typescript",
            "kotlin",
            "ruby",
            "go",
            "java",
            "csharp",
            "php",
            "c",
            "cpp",
        ] {
            for text in [
                "",
                "f",
                "f(",
                "f((((",
                "f<",
                "f(\"",
                "f('",
                "f = ",
                "f: ",
                "é(é: é = é)",
                "f(=)",
                "f(,,,)",
                "f(@)",
                "f(#[)",
                "f([)",
            ] {
                parse(language, text, 0, text.chars().next().map_or(0, char::len_utf8));
                variable(language, text, "f");
            }
            parse(language, &format!("f{}", "(".repeat(30_000)), 0, 1);
            parse(language, &format!("f({})", "a, ".repeat(30_000)), 0, 1);
        }
    }
}
