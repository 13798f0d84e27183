//! Finds the one type or function that a caller means by its name and, where that is not enough, its package, class or file.
//!
//! As everywhere: what is asked is answered exactly or not at all. Overloads of one name in one place are one answer.

use index::snapshot::SymbolView;
use syntax::facts::{Flags, Kind};

use super::home::{Homes, folder};
use super::symbol::owner_name;
use super::words;
use crate::error::{Candidate, MAX_CANDIDATES, QuestionError};
use crate::workspace::{SymbolKey, Workspace};
use crate::{kinds, naming};

/// What narrows a name down.
#[derive(Clone, Copy, Default, Debug)]
pub struct Narrowing<'a> {
    /// Package, namespace or folder.
    pub package: Option<&'a str>,
    /// The type that it is a member of.
    pub class_name: Option<&'a str>,
    /// Path of the file, or the end of it.
    pub file_path: Option<&'a str>,
}

/// What is looked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Wanted {
    /// A class, interface, struct, …
    Type,
    /// A function, method, constructor, accessor or macro.
    Function,
}

/// What was found: the symbol, and its overloads.
pub struct Fit {
    /// The symbol.
    pub key: SymbolKey,
    /// Others of the same full name.
    pub overloads: Vec<SymbolKey>,
}

/// The symbol that is asked for.
pub fn find(
    workspace: &Workspace,
    wanted: Wanted,
    argument: &'static str,
    asked: &str,
    narrowing: Narrowing<'_>,
    homes: &mut Homes<'_>,
) -> Result<Fit, QuestionError> {
    let asked = asked.trim().trim_matches('`').trim_end_matches("()");
    if asked.is_empty() || asked.len() > MAX_ASKED {
        return Err(QuestionError::Argument {
            name: argument,
            problem: match asked {
                "" => "is empty: give a name, as `Cart` or `shop.Cart`, or an id".to_string(),
                _ => format!("{} bytes are too many for a name: at most {MAX_ASKED}", asked.len()),
            },
        });
    }
    let is_place = asked.contains('/') || asked.rsplit(':').next().is_some_and(|line| line.parse::<u32>().is_ok());
    if is_place {
        let key = naming::find(workspace, asked)?;
        let symbol = workspace.symbol(key).filter(|symbol| wanted.fits(*symbol));
        return match symbol {
            Some(_) => Ok(Fit {
                key,
                overloads: Vec::new(),
            }),
            None => Err(wrong_kind(workspace, wanted, argument, asked, key)),
        };
    }
    // `List<T>` asks for the type with one parameter.
    let (asked, generics) = match asked
        .split_once('<')
        .filter(|_| wanted == Wanted::Type && asked.ends_with('>'))
    {
        Some((name, generics)) => (name.trim_end(), Some(generics)),
        None => (asked, None),
    };
    let parts: Vec<&str> = asked
        .split(['\\', '.', '#', ':', '>'])
        .filter(|part| !part.is_empty() && *part != "-")
        .collect();
    let Some((name, qualifiers)) = parts.split_last() else {
        return Err(naming::find(workspace, asked).err().unwrap_or(QuestionError::Argument {
            name: argument,
            problem: format!("`{asked}` is not a name"),
        }));
    };
    let name = name.trim_start_matches(['$', '*', '&']);
    let mut fits: Vec<SymbolKey> = Vec::new();
    for (repository, of) in workspace.repositories().iter().enumerate() {
        let named = of.snapshot.named(name).filter(|symbol| wanted.fits(*symbol));
        fits.extend(named.map(|symbol| SymbolKey {
            repository,
            symbol: symbol.id(),
        }));
    }
    if fits.is_empty() {
        return Err(match naming::find(workspace, asked) {
            Ok(key) => wrong_kind(workspace, wanted, argument, asked, key),
            Err(error) => error,
        });
    }
    let all = fits.clone();
    let view = |key: &SymbolKey| workspace.symbol(*key);
    if !qualifiers.is_empty() {
        fits.retain(|key| {
            view(key).is_some_and(|symbol| is_qualified(&homes.full_name(key.repository, symbol), qualifiers))
        });
    }
    if let Some(path) = narrowing.file_path.map(|path| path.trim_start_matches("./")) {
        fits.retain(|key| {
            view(key).is_some_and(|symbol| ends_path(&workspace.path(key.repository, symbol.path()), path))
        });
    }
    if let Some(class) = narrowing.class_name {
        let wanted: Vec<&str> = class.split(['\\', '.', ':']).filter(|part| !part.is_empty()).collect();
        let own: Vec<SymbolKey> = fits
            .iter()
            .copied()
            .filter(|key| {
                view(key).is_some_and(|symbol| {
                    let full = homes.full_name(key.repository, symbol);
                    !owner_name(symbol).is_empty() && is_qualified(&full, &wanted)
                })
            })
            .collect();
        fits = match own.is_empty() {
            true => inherited(workspace, &fits, class, homes),
            false => own,
        };
    }
    if let Some(package) = narrowing.package {
        let exact = in_package(workspace, &fits, package, homes);
        fits = exact;
    }
    // A prototype and its body are one thing to whoever asks: the body is meant.
    if fits.iter().any(|key| !is_declaration(workspace, *key)) {
        fits.retain(|key| !is_declaration(workspace, *key));
    }
    if wanted == Wanted::Type {
        keep_arity(workspace, &mut fits, generics.map(arity));
    }
    let Some(first) = fits.first().copied() else {
        return Err(QuestionError::NoSuchSymbol {
            asked: match said(narrowing) {
                narrowed if narrowed.is_empty() => asked.to_string(),
                narrowed => format!("{asked} ({narrowed})"),
            },
            nearest: all
                .iter()
                .take(MAX_CANDIDATES)
                .filter_map(|key| candidate(workspace, *key))
                .map(|one| one.id)
                .collect(),
        });
    };
    let full_name = |key: &SymbolKey, homes: &mut Homes<'_>| {
        workspace
            .symbol(*key)
            .map(|symbol| (key.repository, homes.full_name(key.repository, symbol)))
    };
    let name_of_first = full_name(&first, homes);
    let is_one = fits.iter().all(|key| full_name(key, homes) == name_of_first);
    if !is_one {
        return Err(QuestionError::Ambiguous {
            asked: asked.to_string(),
            candidates: fits
                .iter()
                .take(MAX_CANDIDATES)
                .filter_map(|key| candidate(workspace, *key))
                .collect(),
            total: fits.len(),
        });
    }
    if wanted == Wanted::Type {
        // Of a type in several parts, the one that is documented and holds most is its home.
        fits.sort_by_key(|key| {
            let span = view(key).map_or(0, |symbol| symbol.span().end - symbol.span().start);
            let is_documented = view(key).is_some_and(|symbol| !symbol.doc().is_empty());
            (std::cmp::Reverse((is_documented, span)), *key)
        });
    }
    let key = fits.remove(0);
    Ok(Fit { key, overloads: fits })
}

/// Longest text that is looked up.
const MAX_ASKED: usize = 1024;

impl Wanted {
    fn fits(self, symbol: SymbolView<'_>) -> bool {
        let language = symbol.file().map_or("", |file| file.language());
        match self {
            Wanted::Type => {
                words::is_type(symbol.kind())
                    || (language == "ruby" && symbol.kind() == Kind::Module && !symbol.is_file())
            }
            Wanted::Function => {
                words::is_function(symbol.kind())
                    || symbol.kind() == Kind::Property
                        && (symbol.flags().contains(Flags::GETTER) || symbol.flags().contains(Flags::SETTER))
            }
        }
    }

    fn word(self) -> &'static str {
        match self {
            Wanted::Type => "type",
            Wanted::Function => "function",
        }
    }
}

/// Whether the last parts of a full name, its own name excluded, are `qualifiers`.
fn is_qualified(full_name: &str, qualifiers: &[&str]) -> bool {
    let parts: Vec<&str> = full_name
        .split(['\\', '.', ':', '/'])
        .filter(|part| !part.is_empty())
        .collect();
    let Some((_, before)) = parts.split_last() else {
        return false;
    };
    before.len() >= qualifiers.len() && before[before.len() - qualifiers.len()..] == *qualifiers
}

/// Those of the nearest type that the class `class` inherits from.
fn inherited(workspace: &Workspace, fits: &[SymbolKey], class: &str, homes: &mut Homes<'_>) -> Vec<SymbolKey> {
    let parts: Vec<&str> = class.split(['\\', '.', ':']).filter(|part| !part.is_empty()).collect();
    let Some((name, qualifiers)) = parts.split_last() else {
        return Vec::new();
    };
    for (repository, of) in workspace.repositories().iter().enumerate() {
        let types = of.snapshot.named(name);
        let types = types
            .filter(|symbol| is_qualified(&homes.full_name(repository, *symbol), qualifiers))
            .map(|symbol| symbol.id())
            .collect();
        let found = naming::nearest_above(workspace, fits, repository, types);
        if !found.is_empty() {
            return found;
        }
    }
    Vec::new()
}

/// Those in the package, namespace or folder; where none is exactly, those whose package ends so.
fn in_package(workspace: &Workspace, fits: &[SymbolKey], package: &str, homes: &mut Homes<'_>) -> Vec<SymbolKey> {
    let package = package.trim().trim_matches(['/', '\\']).trim_end_matches(['.', ':']);
    let mut exact = Vec::new();
    let mut ending = Vec::new();
    for key in fits {
        let Some(symbol) = workspace.symbol(*key) else { continue };
        let home = homes.namespace(key.repository, symbol);
        let path = workspace.path(key.repository, symbol.path());
        let names = [
            home.package.as_str(),
            home.namespace.as_str(),
            folder(&path),
            path.as_str(),
        ];
        if names.contains(&package) {
            exact.push(*key);
        } else if names.iter().any(|name| {
            name.strip_suffix(package)
                .is_some_and(|rest| rest.ends_with(['/', '\\', '.', ':']))
        }) {
            ending.push(*key);
        }
    }
    if exact.is_empty() { ending } else { exact }
}

/// In C# `Task` and `Task<T>` are two types: keeps those with as many parameters as asked for, or else with the fewest.
fn keep_arity(workspace: &Workspace, fits: &mut Vec<SymbolKey>, asked: Option<usize>) {
    let of = |key: &SymbolKey| {
        let symbol = workspace.symbol(*key).filter(|symbol| {
            let language = symbol.file().map_or("", |file| file.language());
            language == "csharp"
        })?;
        let (_, after) = symbol.signature().split_once(&format!(" {}", symbol.name()))?;
        Some(after.strip_prefix('<').map_or(0, arity))
    };
    let wanted = asked.or_else(|| fits.iter().filter_map(of).min());
    if wanted.is_some_and(|wanted| fits.iter().any(|key| of(key) == Some(wanted))) {
        fits.retain(|key| of(key).is_none_or(|arity| Some(arity) == wanted));
    }
}

/// How many type parameters there are before the bracket that closes them.
fn arity(generics: &str) -> usize {
    let (mut depth, mut count) = (0, 1);
    for letter in generics.chars() {
        match letter {
            '<' | '(' | '[' => depth += 1,
            '>' if depth == 0 => break,
            '>' | ')' | ']' => depth -= 1,
            ',' if depth == 0 => count += 1,
            _ => {}
        }
    }
    count
}

fn ends_path(path: &str, end: &str) -> bool {
    path.strip_suffix(end)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('/'))
}

fn is_declaration(workspace: &Workspace, key: SymbolKey) -> bool {
    workspace
        .symbol(key)
        .is_some_and(|symbol| symbol.flags().contains(Flags::DECLARATION))
}

fn candidate(workspace: &Workspace, key: SymbolKey) -> Option<Candidate> {
    let symbol = workspace.symbol(key)?;
    Some(Candidate {
        id: workspace.id(key.repository, symbol),
        kind: kinds::kind(symbol),
        line: symbol.span().start_line,
    })
}

fn wrong_kind(
    workspace: &Workspace,
    wanted: Wanted,
    argument: &'static str,
    asked: &str,
    key: SymbolKey,
) -> QuestionError {
    let kind = workspace.symbol(key).map_or("symbol", words::kind);
    QuestionError::Argument {
        name: argument,
        problem: format!("`{asked}` is a {kind}, not a {}", wanted.word()),
    }
}

fn said(narrowing: Narrowing<'_>) -> String {
    let mut parts = Vec::new();
    for (word, value) in [
        ("package", narrowing.package),
        ("class_name", narrowing.class_name),
        ("file_path", narrowing.file_path),
    ] {
        parts.extend(value.map(|value| format!("{word} {value}")));
    }
    parts.join(", ")
}
