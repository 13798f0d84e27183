//! Every mention of a name that may mean the definition although the graph has no edge for it: calls on values of unknown type,
//! names in strings, names put together from strings, and names in templates and settings.
//!
//! Files are read as they are. A mention that the graph leads to something else is that thing's and does not count.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use index::model::{EdgeKind, Origin};
use index::scan::read_source;
use index::snapshot::{EdgeEnd, EdgeKinds};
use syntax::facts::{Bound, Expression, FileFacts, Kind, Role};

use super::super::find::Target;
use super::names;

/// Files of a tree without an index entry that are looked at, and bytes of each.
const MAX_OTHER_FILES: usize = 20_000;
const MAX_OTHER_BYTES: u64 = 1 << 20;
/// The shortest beginning or end of a name that counts as a part it is put together from: where the line itself looks something up,
/// and elsewhere.
const SHORTEST_PART: (usize, usize) = (2, 3);

/// What was found.
pub(super) struct Mentions {
    pub(super) uses: Vec<String>,
    /// Files that were looked at.
    pub(super) files: usize,
}

/// Mentions of a symbol's name, outside of itself.
pub(super) fn of(target: &Target<'_>) -> Mentions {
    let snapshot = &target.repository.snapshot;
    let root = &target.repository.root;
    let mut found = Mentions {
        uses: Vec::new(),
        files: 0,
    };
    let name = target.name.as_str();
    let own = snapshot.symbol(target.key.symbol).map(|symbol| symbol.span());
    let property = names::property(name);
    let mut indexed = BTreeSet::new();
    for file in snapshot.files() {
        indexed.insert(file.path());
        let Ok((text, hash)) = read_source(root, file.path()) else {
            continue;
        };
        found.files += 1;
        let is_prose = is_prose(file.path());
        if is_prose {
            continue;
        }
        let own = own.filter(|_| file.path() == target.path);
        let outside = |at: usize| own.is_none_or(|own| !(own.start as usize..own.end as usize).contains(&at));
        if memchr::memmem::find(text.as_bytes(), name.as_bytes()).is_some() {
            // Where the graph leads each mention, as far as the index is of this text.
            let mut leads: HashMap<(u32, u32), bool> = HashMap::new();
            let edges = snapshot.edges_of_file_with_lambdas(file.id(), EdgeKinds::ALL.without(EdgeKind::Contains));
            for edge in edges.filter(|_| hash == *file.hash()) {
                let is_own = edge.to == EdgeEnd::Symbol(target.key.symbol);
                let is_sure = !is_own && edge.origin <= Origin::AstInferred;
                *leads.entry((edge.at.line, edge.at.column)).or_default() |= is_sure;
            }
            if let Some(language) = syntax::languages::detect(file.path(), text.as_bytes()) {
                let facts = syntax::extract(language, &text);
                let starts = line_starts(&text);
                for reference in &facts.references {
                    let at = starts
                        .get(reference.at.line.saturating_sub(1) as usize)
                        .copied()
                        .unwrap_or_default();
                    let at = at + reference.at.column as usize;
                    let is_it = text.get(at..).is_some_and(|rest| rest.starts_with(name)) && is_word(&text, at, name);
                    let place = (reference.at.line, reference.at.column);
                    if is_it
                        && outside(at)
                        && !leads.get(&place).copied().unwrap_or_default()
                        && may_mean(
                            &facts,
                            *facts.expression(reference.expression),
                            reference.role,
                            target.kind,
                        )
                    {
                        found.uses.push(format!(
                            "perhaps {}:{} (`{name}` of something unknown)",
                            file.path(),
                            place.0
                        ));
                    }
                }
            }
            if is_setting(file.path())
                && let Some(at) = named_in(&text, name)
            {
                found
                    .uses
                    .push(format!("{}:{} (names it)", file.path(), line_of(&text, at)));
            }
            found.uses.extend(
                in_strings(&text, name, &outside, target.is_ruby())
                    .map(|line| format!("{}:{line} (in a string)", file.path())),
            );
        }
        if is_setting(file.path())
            && let Some(at) = property.as_deref().and_then(|property| read_in(&text, property))
        {
            found.uses.push(format!(
                "perhaps {}:{} (reads it as a property)",
                file.path(),
                line_of(&text, at)
            ));
        }
        found.uses.extend(
            put_together(&text, name, &outside)
                .map(|line| format!("perhaps {}:{line} (a name put together from a string)", file.path())),
        );
    }
    others(root, &indexed, name, property.as_deref(), &mut found);
    found.uses.sort();
    found.uses.dedup();
    found
}

impl Target<'_> {
    fn is_ruby(&self) -> bool {
        self.path.ends_with(".rb") || self.path.ends_with(".rake")
    }
}

/// Whether a mention that nobody resolved could be of a symbol of this kind.
fn may_mean(facts: &FileFacts, expression: Expression, role: Role, kind: Kind) -> bool {
    let is_data = matches!(kind, Kind::Field | Kind::Property | Kind::Variable | Kind::Constant);
    if role == Role::Write && !is_data {
        return false;
    }
    match expression {
        Expression::Member { .. } | Expression::Free { .. } => true,
        // A local name is its own definition, whatever else has that name; an import is what the graph follows, where it can.
        Expression::Bound { binding, .. } => facts
            .bindings
            .get(binding.index())
            .is_some_and(|binding| matches!(binding.to, Bound::Import(_))),
        _ => false,
    }
}

fn line_starts(text: &str) -> Vec<usize> {
    std::iter::once(0)
        .chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|end| end + 1))
        .collect()
}

fn is_part_of_word(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$')
}

fn is_word(text: &str, at: usize, name: &str) -> bool {
    let before = text[..at].chars().next_back();
    let after = text[at + name.len()..].chars().next();
    !before.is_some_and(is_part_of_word) && !after.is_some_and(is_part_of_word)
}

/// Lines where the name stands in a string that could name something: one without spaces, as `"app.views.index"` is. In Ruby also
/// where it is a symbol.
fn in_strings<'t>(
    text: &'t str,
    name: &'t str,
    outside: &'t dyn Fn(usize) -> bool,
    is_ruby: bool,
) -> impl Iterator<Item = usize> + 't {
    let hits = memchr::memmem::find_iter(text.as_bytes(), name.as_bytes());
    hits.filter(move |&at| {
        if !text.is_char_boundary(at) || !outside(at) || !is_word(text, at, name) || is_in_comment(text, at) {
            return false;
        }
        let is_quote = |character: char| matches!(character, '"' | '\'' | '`');
        let stops = |character: char| character.is_whitespace() || is_quote(character);
        let before = text[..at]
            .rfind(stops)
            .map(|start| text[start..].chars().next().unwrap_or(' '));
        let after = text[at..]
            .find(stops)
            .map(|end| text[at + end..].chars().next().unwrap_or(' '));
        let is_quoted = before.is_some_and(is_quote) && after.is_some_and(is_quote) && before == after;
        let is_symbol = is_ruby && text[..at].ends_with(':') && !text[..at].ends_with("::");
        // Between two strings of one line there is code: `"a".name("b")`. What encloses a name has nothing but a name in it.
        let inner = text[..at].rfind(stops).map_or("", |start| &text[start + 1..at]);
        let is_name = inner.chars().all(|character| {
            is_part_of_word(character) || matches!(character, '.' | ':' | '\\' | '/' | '#' | '@' | '-')
        });
        // `{{ .Name }}`, wherever the template stands.
        let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
        let line_end = text[at..].find('\n').map_or(text.len(), |end| at + end);
        let is_in_template = text[line..at]
            .rfind("{{")
            .is_some_and(|open| !text[line + open..at].contains("}}"))
            && text[at..line_end].contains("}}");
        is_symbol || is_in_template || is_quoted && is_name
    })
    .map(|at| line_of(text, at))
}

fn line_of(text: &str, at: usize) -> usize {
    memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() + 1
}

fn is_in_comment(text: &str, at: usize) -> bool {
    let line = text[..at].rfind('\n').map_or(0, |end| end + 1);
    let line = text[line..].trim_start();
    ["#", "//", "*", "/*", "--", "<!--", ";;"]
        .iter()
        .any(|mark| line.starts_with(mark))
        && !line.starts_with("#[")
}

/// Lines that look something up by a name of which only the beginning or the end is written: `getattr(self, "visit_" + kind)`.
fn put_together<'t>(
    text: &'t str,
    name: &'t str,
    outside: &'t dyn Fn(usize) -> bool,
) -> impl Iterator<Item = usize> + 't {
    const LOOKS_UP: &[&str] = &[
        "getattr",
        "globals()",
        "locals()",
        "vars(",
        "__dict__",
        "methodcaller",
        "send(",
        "send :",
        "public_send",
        "method(",
        "const_get",
        "respond_to?",
        "instance_method",
        "MethodByName",
        "FieldByName",
        "GetMethod",
        "getMethod",
        "getDeclaredMethod",
        "InvokeMember",
        "call_user_func",
        "method_exists",
        "is_callable",
        "->{",
        "->$",
        "::$",
        "[`",
        "[\"",
        "['",
        "dlsym",
        "Reflect.",
        // A member called by what a variable says.
        "](",
    ];
    // Beginnings that are short, and hardly ever anything else.
    const USUAL: &[&str] = &["on", "do"];
    let mut offset = 0;
    text.split_inclusive('\n')
        .enumerate()
        .filter_map(move |(number, line)| {
            let start = offset;
            offset += line.len();
            // `do_##name`: the preprocessor puts names together without a string.
            if line.contains("##") && is_pasted(&text[..offset], line, name) {
                return outside(start).then_some(number + 1);
            }
            let looks_up = || LOOKS_UP.iter().any(|word| line.contains(word));
            // Often the name is made a line or two before it is used.
            let makes = || line.contains(['"', '\'', '`']);
            if !makes() || !outside(start) || is_in_comment(text, start) {
                return None;
            }
            let near = || {
                let end = text[start..]
                    .char_indices()
                    .nth(400)
                    .map_or(text.len(), |(end, _)| start + end);
                LOOKS_UP.iter().any(|word| text[start..end].contains(word))
            };
            let is_part = |chunk: &str| {
                let joins = |beside: Option<char>, edge: Option<char>| {
                    edge == Some('_') || beside.is_some_and(char::is_uppercase) || beside == Some('_')
                };
                let first = name
                    .strip_prefix(chunk)
                    .is_some_and(|rest| !rest.is_empty() && joins(rest.chars().next(), chunk.chars().next_back()));
                let last = name.strip_suffix(chunk).is_some_and(|rest| {
                    !rest.is_empty() && (chunk.starts_with('_') || chunk.starts_with(char::is_uppercase))
                });
                let shortest = if looks_up() { SHORTEST_PART.0 } else { SHORTEST_PART.1 };
                (chunk.len() >= shortest || USUAL.contains(&chunk)) && (first || last)
            };
            let has_part = line
                .split(|character: char| !is_part_of_word(character) || character == '$')
                .filter(|chunk| is_part(chunk))
                .any(|chunk| is_at_edge_of_string(line, chunk));
            (has_part && (looks_up() || near())).then_some(number + 1)
        })
}

/// Whether a macro of C makes names that begin or end like this one. What its parameters are called does not count; `text` ends with
/// the line.
fn is_pasted(text: &str, line: &str, name: &str) -> bool {
    let is_end = |letter: char| !is_part_of_word(letter);
    let head = text.rfind("#define").map_or("", |at| &text[at..]);
    let parameters = head.split_once('(').and_then(|(_, rest)| rest.split_once(')'));
    let is_parameter =
        |part: &str| parameters.is_some_and(|(named, _)| named.split(',').any(|parameter| parameter.trim() == part));
    line.match_indices("##").any(|(at, _)| {
        let (before, after) = (line[..at].trim_end(), line[at + 2..].trim_start());
        let first = before.rsplit(is_end).next().unwrap_or_default();
        let last = after.split(is_end).next().unwrap_or_default();
        let makes =
            |part: &str, is_it: bool| is_it && !part.is_empty() && part.len() < name.len() && !is_parameter(part);
        makes(first, name.starts_with(first)) || makes(last, name.ends_with(last))
    })
}

/// Whether a chunk begins or ends a string, or stands beside what is put into one.
fn is_at_edge_of_string(line: &str, chunk: &str) -> bool {
    line.match_indices(chunk).any(|(at, _)| {
        let before = line[..at].chars().next_back();
        let after = line[at + chunk.len()..].chars().next();
        let edge = |character: Option<char>| matches!(character, Some('"' | '\'' | '`' | '{' | '}' | '#' | '$' | '%'));
        edge(before) && edge(after)
    })
}

/// Texts for people: a name in them calls nothing.
fn is_prose(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    [".md", ".markdown", ".rst", ".txt", ".adoc", ".mdx"]
        .iter()
        .any(|end| name.to_ascii_lowercase().ends_with(end))
}

/// Templates and settings: they name what programs call.
fn is_setting(path: &str) -> bool {
    const SETTINGS: &[&str] = &[
        "html",
        "htm",
        "xml",
        "yml",
        "yaml",
        "toml",
        "json",
        "cfg",
        "ini",
        "properties",
        "jinja",
        "jinja2",
        "j2",
        "erb",
        "haml",
        "slim",
        "twig",
        "blade",
        "tmpl",
        "tpl",
        "gohtml",
        "hbs",
        "ejs",
        "mustache",
        "cshtml",
        "razor",
        "jsp",
        "ftl",
        "vue",
        "svelte",
        "gradle",
        "def",
        "map",
        "xaml",
        "axaml",
        "storyboard",
        "xib",
        "qml",
        "ui",
        "jspx",
        "jspf",
        "tag",
        "vm",
        "xhtml",
        "liquid",
        "pug",
        "njk",
        "eex",
        "heex",
        "leex",
        "phtml",
        "latte",
        "aspx",
        "ascx",
        "plist",
        "service",
        "desktop",
        "conf",
    ];
    const NAMES: &[&str] = &["Procfile", "Jenkinsfile", "crontab"];
    let name = path.rsplit('/').next().unwrap_or(path);
    // Files there are called after what they are about.
    let is_of_java = path.starts_with("META-INF/") || path.contains("/META-INF/");
    is_of_java || NAMES.contains(&name) || SETTINGS.contains(&name.rsplit('.').next().unwrap_or_default())
}

/// Where a text names it.
fn named_in(text: &str, name: &str) -> Option<usize> {
    let mut hits = memchr::memmem::find_iter(text.as_bytes(), name.as_bytes());
    hits.find(|&at| text.is_char_boundary(at) && is_word(text, at, name))
}

/// Where a template reads a property: `${price.gross}`, `value="gross"`.
fn read_in(text: &str, property: &str) -> Option<usize> {
    let mut hits = memchr::memmem::find_iter(text.as_bytes(), property.as_bytes());
    hits.find(|&at| {
        text.is_char_boundary(at)
            && is_word(text, at, property)
            && (text[..at].ends_with(['.', '{', '*']) || text[..at].ends_with("=\""))
    })
}

/// Whether anything asks a base for what derives from it: `Plugin.__subclasses__()`, `Plugin.descendants`.
pub(super) fn lists_subtypes(target: &Target<'_>, base: &str) -> bool {
    const ASKS: &[&str] = &[".__subclasses__", ".subclasses", ".descendants"];
    let asked: Vec<String> = ASKS.iter().map(|asks| format!("{base}{asks}")).collect();
    target.repository.snapshot.files().any(|file| {
        read_source(&target.repository.root, file.path()).is_ok_and(|(text, _)| {
            // Inside of the base itself it is `cls`, or `self`.
            let own = || ASKS.iter().any(|asks| text.contains(&format!("cls{asks}")));
            asked.iter().any(|asked| text.contains(asked.as_str())) || own() && text.contains(&format!("class {base}"))
        })
    })
}

/// Templates and settings that are not in the index.
fn others(root: &Path, indexed: &BTreeSet<&str>, name: &str, property: Option<&str>, found: &mut Mentions) {
    const LEFT_OUT: &[&str] = &["node_modules", "target", "vendor", "dist", "build", "__pycache__"];
    let mut folders = vec![root.to_path_buf()];
    let mut seen = 0;
    while let Some(folder) = folders.pop() {
        let Ok(entries) = std::fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let (place, file_name) = (entry.path(), entry.file_name());
            let file_name = file_name.to_string_lossy();
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_dir() && !file_name.starts_with('.') && !LEFT_OUT.contains(&&*file_name) {
                folders.push(place);
            } else if kind.is_file() && seen < MAX_OTHER_FILES {
                let Some(inside) = place.strip_prefix(root).ok().and_then(Path::to_str) else {
                    continue;
                };
                let is_small = || entry.metadata().is_ok_and(|metadata| metadata.len() <= MAX_OTHER_BYTES);
                if !is_setting(inside) || indexed.contains(inside) || file_name.ends_with("-lock.json") || !is_small() {
                    continue;
                }
                seen += 1;
                let Ok((text, _)) = read_source(root, inside) else {
                    continue;
                };
                found.files += 1;
                if let Some(at) = named_in(&text, name) {
                    found.uses.push(format!("{inside}:{} (names it)", line_of(&text, at)));
                } else if let Some(at) = property.and_then(|property| read_in(&text, property)) {
                    found.uses.push(format!(
                        "perhaps {inside}:{} (reads it as a property)",
                        line_of(&text, at)
                    ));
                }
            }
        }
    }
}
