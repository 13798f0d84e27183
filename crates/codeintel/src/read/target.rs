//! What `read` is asked for, opened: a path with or without ranges of lines, a place, a symbol.

use index::scan::{is_never_shown, read_regular, read_source};
use index::snapshot::SymbolView;
use syntax::facts::{Definition, Expression, ExpressionId, FileFacts, Kind};

use super::excerpt::{Member, Opened};
use crate::error::QuestionError;
use crate::naming::{self, Meant};
use crate::workspace::{SymbolKey, Workspace};

/// Largest file that is read, in bytes.
const LARGEST: u64 = 16 << 20;
/// Pointers, options and arguments that a type's name may be wrapped in.
const MAX_WRAPPED: usize = 16;
/// Lines around a line that no definition holds.
const AROUND: u32 = 20;

/// The stretches that are meant.
pub(super) fn open(workspace: &Workspace, asked: &str) -> Result<Vec<Opened>, QuestionError> {
    let asked = asked.trim().trim_matches('`');
    if let Some((path, ranges)) = ranges(asked) {
        let (repository, path) = match naming::find_file(workspace, path) {
            Ok((repository, file)) => (repository, file.path().to_owned()),
            Err(error) => on_disk(workspace, path).ok_or(error)?,
        };
        let file = File::read(workspace, repository, &path)?;
        return ranges.into_iter().map(|range| file.stretch(range)).collect();
    }
    let is_path = asked.contains('/') || asked.contains('.') && !asked.contains("::");
    if let Some((repository, file)) = workspace.find_file(asked.trim_start_matches("./")) {
        return Ok(vec![File::read(workspace, repository, file.path())?.whole()]);
    }
    let error = match naming::best(workspace, asked) {
        Ok(meant) => return Ok(vec![symbol(workspace, &meant)?]),
        Err(error) => error,
    };
    if is_path {
        if let Ok((repository, file)) = naming::find_file(workspace, asked) {
            return Ok(vec![File::read(workspace, repository, file.path())?.whole()]);
        }
        if let Some((repository, path)) = on_disk(workspace, asked) {
            return Ok(vec![File::read(workspace, repository, &path)?.whole()]);
        }
    }
    let is_outside = std::path::Path::new(asked).is_absolute() || asked.split('/').any(|part| part == "..");
    match is_outside {
        true => Err(naming::find_file(workspace, asked).err().unwrap_or(error)),
        false => Err(error),
    }
}

/// A file of the tree that is not in the index.
fn on_disk(workspace: &Workspace, asked: &str) -> Option<(usize, String)> {
    let relative = |root: &std::path::Path| {
        let inside = std::path::Path::new(asked).strip_prefix(root).ok()?;
        inside.to_str().map(str::to_owned)
    };
    for (number, repository) in workspace.repositories().iter().enumerate() {
        let rest = workspace
            .split(asked)
            .find(|(of, _)| *of == number)
            .map(|(_, rest)| rest);
        let candidates = [
            relative(&repository.root),
            rest.map(|rest| rest.trim_start_matches("./").to_owned()),
        ];
        for path in candidates.into_iter().flatten() {
            if Workspace::is_inside(&path) && read_regular(&repository.root, &path, LARGEST).is_ok() {
                return Some((number, path));
            }
        }
    }
    None
}

/// `path:10-50` and `path:10-30,80-95`: the path and its ranges, both ends included; the second of one that is open is 0.
fn ranges(asked: &str) -> Option<(&str, Vec<(u32, u32)>)> {
    let (path, tail) = asked.rsplit_once(':')?;
    // `path:12:5` is a place in a line.
    let (path, tail) = match path.rsplit_once(':') {
        Some((before, line)) if is_number(line) && is_number(tail) => (before, line),
        _ => (path, tail),
    };
    let mut ranges = Vec::new();
    for part in tail.split(',') {
        let part = part.trim().trim_start_matches('L');
        let range = match part.split_once('-') {
            Some((first, "")) => (first.parse().ok()?, u32::MAX),
            Some((first, last)) => (first.parse().ok()?, last.trim_start_matches('L').parse().ok()?),
            None => (part.parse().ok()?, 0),
        };
        ranges.push(range);
    }
    (!path.is_empty() && !path.ends_with(':')).then_some((path, ranges))
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

/// A file as it is now.
struct File {
    path: String,
    lines: Vec<String>,
    facts: FileFacts,
}

impl File {
    fn read(workspace: &Workspace, repository: usize, path: &str) -> Result<File, QuestionError> {
        let shown = workspace.path(repository, path);
        let refuse = |why: &str| QuestionError::NoSuchFile {
            path: shown.clone(),
            why: Some(why.to_owned()),
            nearest: Vec::new(),
        };
        let of = workspace
            .repository(repository)
            .ok_or_else(|| refuse("no such repository"))?;
        // Also where it is hidden or ignored, so that the snapshot knows nothing of it.
        if is_never_shown(path) {
            return Err(refuse("it holds credentials, by its name, or belongs to git or Lacon"));
        }
        read_regular(&of.root, path, LARGEST).map_err(|reason| refuse(reason.as_str()))?;
        let (text, _) = read_source(&of.root, path).map_err(|_| refuse("not a text file"))?;
        let facts = match syntax::languages::detect(path, text.as_bytes()) {
            Some(language) => syntax::extract(language, &text),
            None => FileFacts::default(),
        };
        Ok(File {
            path: shown,
            lines: text.lines().map(str::to_owned).collect(),
            facts,
        })
    }

    fn last(&self) -> u32 {
        self.lines.len().max(1) as u32
    }

    fn whole(self) -> Opened {
        let last = self.last();
        let members = self.members(None);
        Opened::new(self.path, self.lines, (1, last), String::new(), members)
    }

    /// The lines of a range; for a single one the definition around it, or some lines of both sides.
    fn stretch(&self, (first, last): (u32, u32)) -> Result<Opened, QuestionError> {
        if first == 0 || first > self.last() || last != 0 && last < first {
            return Err(QuestionError::Argument {
                name: "what",
                problem: format!("`{}` has lines 1 to {}, not {first}", self.path, self.last()),
            });
        }
        let opened = |first: u32, last: u32, name: String| {
            Opened::new(
                self.path.clone(),
                self.lines.clone(),
                (first, last.min(self.last())),
                name,
                Vec::new(),
            )
        };
        if last != 0 {
            return Ok(opened(first, last, String::new()));
        }
        let mut around = self.facts.definitions.iter().enumerate().filter(|(_, definition)| {
            let span = definition.span;
            is_shown(definition.kind) && span.start_line <= first && first <= span.end_line
        });
        // Definitions come in source order: the last that holds the line is the innermost.
        Ok(match around.next_back() {
            Some((id, definition)) => {
                let span = (definition.span.start_line, definition.span.end_line);
                let members = self.members(Some(id));
                Opened::new(self.path.clone(), self.lines.clone(), span, self.qualified(id), members).around(first)
            }
            None => opened(first.saturating_sub(AROUND).max(1), first + AROUND, String::new()),
        })
    }

    /// What is defined directly in a definition, or at the top of the file.
    fn members(&self, of: Option<usize>) -> Vec<Member> {
        let definitions = &self.facts.definitions;
        let parent = |definition: &Definition| {
            let mut parent = definition.parent.map(|parent| parent.index());
            // An `impl` is a place and no definition: what it holds belongs to what is around it.
            while let Some(id) = parent.filter(|&id| definitions[id].kind == Kind::Extension) {
                parent = definitions[id].parent.map(|parent| parent.index());
            }
            parent
        };
        let is_member = |definition: &&Definition| is_shown(definition.kind) && parent(definition) == of;
        definitions
            .iter()
            .filter(is_member)
            .map(|definition| Member {
                first: definition.span.start_line,
                last: definition.span.end_line,
                name: self.facts.text(definition.name).to_owned(),
                signature: self.facts.text(definition.signature).to_owned(),
            })
            .collect()
    }

    fn qualified(&self, id: usize) -> String {
        let mut parts = Vec::new();
        let mut current = Some(id);
        while let Some(definition) = current.and_then(|id| self.facts.definitions.get(id)) {
            if !matches!(definition.kind, Kind::Lambda | Kind::Extension) {
                parts.push(self.facts.text(definition.name));
            }
            // Go receivers and `impl` blocks name the owner themselves.
            if let Some(owner) = definition.owner {
                parts.push(type_name(&self.facts, owner));
            }
            current = definition.parent.map(|parent| parent.index());
        }
        parts.retain(|part| !part.is_empty());
        parts.reverse();
        parts.join(".")
    }

    /// The definition that a symbol of the index is in the text as it is now: the same place, else the same name and owners.
    fn find(&self, symbol: SymbolView<'_>) -> Option<usize> {
        let definitions = &self.facts.definitions;
        let has_name = |definition: &Definition| self.facts.text(definition.name) == symbol.name();
        let same = definitions
            .iter()
            .position(|definition| has_name(definition) && definition.name_at == symbol.name_at());
        same.or_else(|| {
            let mut named = (0..definitions.len()).filter(|&id| {
                let qualified = self.qualified(id);
                has_name(&definitions[id])
                    && (qualified == symbol.qualified_name()
                        || symbol.qualified_name().ends_with(&format!(".{qualified}")))
            });
            named.nth(symbol.repeat() as usize - 1)
        })
    }
}

/// The name of a type without what wraps it.
fn type_name(facts: &FileFacts, type_: ExpressionId) -> &str {
    let mut current = type_;
    for _ in 0..MAX_WRAPPED {
        current = match *facts.expression(current) {
            Expression::Wrapped(inner) | Expression::Typed(inner) | Expression::Generic { base: inner, .. } => inner,
            Expression::Free { name, .. } | Expression::Member { name, .. } => return facts.text(name),
            Expression::Bound { binding, .. } => {
                let binding = facts.bindings.get(binding.index());
                return binding.map_or("", |binding| facts.text(binding.name));
            }
            _ => return "",
        };
    }
    ""
}

/// Whether a definition has a line of its own in a skeleton.
fn is_shown(kind: Kind) -> bool {
    !matches!(kind, Kind::Lambda | Kind::Extension)
}

fn symbol(workspace: &Workspace, meant: &Meant) -> Result<Opened, QuestionError> {
    let SymbolKey { repository, .. } = meant.key;
    let symbol = workspace.symbol(meant.key).ok_or_else(|| QuestionError::NoSuchSymbol {
        asked: String::new(),
        nearest: Vec::new(),
    })?;
    let file = File::read(workspace, repository, symbol.path())?;
    if symbol.is_file() {
        return Ok(file.whole());
    }
    let id = file.find(symbol).ok_or_else(|| QuestionError::NoSuchSymbol {
        asked: format!("{} (it is no longer in {})", symbol.qualified_name(), symbol.path()),
        nearest: Vec::new(),
    })?;
    let span = file.facts.definitions[id].span;
    let members = file.members(Some(id));
    let opened = Opened::new(
        file.path,
        file.lines,
        (span.start_line, span.end_line),
        symbol.qualified_name(),
        members,
    );
    Ok(opened.also(&meant.others))
}

#[cfg(test)]
mod tests {
    use super::ranges;

    #[test]
    fn ranges_are_read_as_people_write_them() {
        let read = |asked| ranges(asked).map(|(path, ranges)| (path.to_owned(), ranges));
        assert_eq!(read("a/b.py:10-50"), Some(("a/b.py".to_owned(), vec![(10, 50)])));
        assert_eq!(
            read("a.py:10-30,80-95"),
            Some(("a.py".to_owned(), vec![(10, 30), (80, 95)]))
        );
        assert_eq!(read("a.py:L10-L12"), Some(("a.py".to_owned(), vec![(10, 12)])));
        assert_eq!(read("a.py:10-"), Some(("a.py".to_owned(), vec![(10, u32::MAX)])));
        assert_eq!(read("a.py:10"), Some(("a.py".to_owned(), vec![(10, 0)])));
        assert_eq!(read("a.py:10:4"), Some(("a.py".to_owned(), vec![(10, 0)])));
        for none in ["a.py", "a.py::f", "A::b", "a.py:f", ":10"] {
            assert_eq!(read(none), None, "{none}");
        }
    }
}
