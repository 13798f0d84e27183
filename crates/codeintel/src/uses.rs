//! `uses`: who calls, reads, writes, implements, extends, overrides, imports, tests or mentions a symbol, every place of it, ended by its
//! account.
//!
//! A row is a place, never a function: what the list sums to is what the account says. Calls through a base or an interface stand apart
//! from those of the symbol itself and name which one.

mod hierarchy;
mod text;

use std::collections::{BTreeMap, HashMap};

use index::model::EdgeKind;
use index::scan::read_source;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use text::LAYOUT;

use crate::account::{self, A_FEW_IN_DOUBT, Account, Accounted, Class, Mention, Site};
use crate::error::QuestionError;
use crate::naming;
use crate::page::{self, Page};
use crate::workspace::{SymbolKey, Workspace};

/// What is asked.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Uses {
    /// Name, Owner.name, id or path:line.
    pub symbol: String,
    /// Only calls, reads, writes, references, imports, implements, extends, overrides, decorates, configures, tests, strings, text (those
    /// and comments) or unresolved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// List the uses in tests too.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub tests: bool,
    /// Of subtypes, only those that define this member.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub defines: Option<String>,
    /// Only paths that start with this.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Places per page (default 80).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<u32>,
    /// next_cursor of the page before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cursor: Option<String>,
}

/// Every use of a symbol.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UsesFound {
    /// The symbol's id.
    pub symbol: String,
    /// Its kind.
    pub kind: String,
    /// Its file.
    pub path: String,
    /// Its first line.
    pub first: u32,
    /// Its last line.
    pub last: u32,
    /// Its name, as `Owner.name`.
    pub name: String,
    /// Other symbols that the name may mean.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_named: Vec<String>,
    /// What the reader must know first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// How many places there are of each kind that was asked for, tests that are folded left out.
    pub counts: Vec<Count>,
    /// The places, by kind, path and line.
    pub uses: Vec<Use>,
    /// Places in all, on this page or not.
    pub total: u64,
    /// Places in tests that are not listed.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub folded_tests: u64,
    /// Where those are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub test_files: Vec<Count>,
    /// Where the places beyond this page are, by kind and folder.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<Count>,
    /// Whether places were left out.
    pub truncated: bool,
    /// For the next page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
    /// How the mentions of the name add up.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub account: Option<Account>,
    /// What to do now.
    pub next: String,
}

/// How many of something.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Count {
    /// Of what.
    pub of: String,
    /// How many.
    pub count: u64,
}

/// One place.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Use {
    /// What is done there, and through what: `calls`, `calls through Base.run`, `imports`.
    pub kind: String,
    /// The file.
    pub path: String,
    /// The line.
    pub line: u32,
    /// The definition around it, as `Owner.name`; empty at the top of a file.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub within: String,
    /// First line of that definition.
    #[serde(default, skip_serializing_if = "is_none")]
    pub first: u32,
    /// Its last line.
    #[serde(default, skip_serializing_if = "is_none")]
    pub last: u32,
    /// The line's text; empty where the file changed since it was indexed.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub text: String,
    /// Uses in this line, where there are several.
    #[serde(default, skip_serializing_if = "is_none")]
    pub times: u32,
    /// Whether it is inferred and may be wrong.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub likely: bool,
    /// Why nobody knows what it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

fn is_zero(count: &u64) -> bool {
    *count == 0
}

fn is_none(number: &u32) -> bool {
    *number == 0
}

/// Places per page.
const PAGE: usize = 80;
/// Files or folders that are named of what is left out.
const MOST_COUNTS: usize = 6;
/// Below this an inferred use is marked, in hundredths.
const SURE: u8 = 85;
/// Longest text of a line, in characters.
const LONGEST: usize = 120;

/// The kind of mentions that nobody could resolve, where they are few enough to be listed with the uses.
const IN_DOUBT: &str = "in doubt";

/// With fewer uses than this outside of tests, the likeliest of many mentions in doubt are listed beside them.
const FEW_USES: usize = 4;
/// How many those are.
const LIKELIEST: usize = 8;

/// Every use of a symbol.
pub fn uses(workspace: &Workspace, ask: &Uses) -> Result<UsesFound, QuestionError> {
    let wanted = Wanted::of(ask)?;
    let page = Page::of(workspace, ask.limit, ask.cursor.as_deref(), PAGE)?;
    let meant = match naming::best(workspace, &ask.symbol) {
        Ok(meant) => meant,
        Err(error) => return hierarchy::of_missing_member(workspace, ask, &page).ok_or(error),
    };
    if ask.defines.is_some() || matches!(wanted, Wanted::Kinds(kinds) if kinds == hierarchy::KINDS) {
        return hierarchy::subtypes(workspace, &meant, ask, &page);
    }
    let accounted = account::account(workspace, meant.key);
    let mut rows = match wanted {
        Wanted::Text => mentions(workspace, &accounted, "in text", |class| {
            matches!(class, Class::Comment | Class::String)
        }),
        Wanted::Strings => mentions(workspace, &accounted, "in strings", |class| {
            matches!(class, Class::String)
        }),
        Wanted::Unresolved => mentions(workspace, &accounted, "unresolved", |class| {
            matches!(class, Class::Unresolved { .. })
        }),
        Wanted::All | Wanted::Kinds(_) | Wanted::Tests => sites(workspace, &accounted, wanted),
    };
    if matches!(wanted, Wanted::All | Wanted::Kinds(_)) {
        rows.extend(in_doubt(workspace, meant.key, &accounted, &rows));
    }
    let rows = rows
        .into_iter()
        .filter(|row| {
            ask.path
                .as_deref()
                .is_none_or(|path| row.path.starts_with(path.trim_start_matches("./")))
        })
        .collect();
    let mut found = heading(workspace, &meant);
    let folds = !ask.tests && matches!(wanted, Wanted::All | Wanted::Kinds(_));
    fill(workspace, &mut found, rows, folds, &page);
    found.account = accounted.account;
    if let Some(account) = found
        .account
        .as_mut()
        .filter(|_| found.uses.iter().any(|row| row.kind == IN_DOUBT))
    {
        account.unresolved_at.clear();
    }
    found.next = next(&found, ask);
    Ok(found)
}

/// Which uses are wanted.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Wanted {
    All,
    Kinds(&'static [EdgeKind]),
    Tests,
    Text,
    Strings,
    Unresolved,
}

impl Wanted {
    fn of(ask: &Uses) -> Result<Wanted, QuestionError> {
        let Some(kind) = ask.kind.as_deref() else {
            return Ok(Wanted::All);
        };
        Ok(match kind.trim().to_ascii_lowercase().as_str() {
            "" | "all" | "any" => Wanted::All,
            "calls" | "call" | "callers" => Wanted::Kinds(&[EdgeKind::Calls, EdgeKind::Instantiates]),
            "instantiates" | "constructs" => Wanted::Kinds(&[EdgeKind::Instantiates]),
            "reads" | "read" => Wanted::Kinds(&[EdgeKind::Reads]),
            "writes" | "write" => Wanted::Kinds(&[EdgeKind::Writes]),
            "references" | "types" | "values" => Wanted::Kinds(&[EdgeKind::References]),
            "imports" | "import" => Wanted::Kinds(&[EdgeKind::Imports]),
            "implements" | "extends" | "subtypes" | "implementations" | "overrides" => Wanted::Kinds(hierarchy::KINDS),
            "decorates" | "decorated" => Wanted::Kinds(&[EdgeKind::Decorated]),
            "configures" | "contracts" => Wanted::Kinds(&[EdgeKind::Consumes, EdgeKind::Provides]),
            "tests" | "test" => Wanted::Tests,
            "text" | "mentions" | "comments" => Wanted::Text,
            "strings" => Wanted::Strings,
            "unresolved" => Wanted::Unresolved,
            other => {
                return Err(QuestionError::Argument {
                    name: "kind",
                    problem: format!(
                        "no kind `{other}`: expected calls, reads, writes, references, imports, implements, extends, overrides, \
                         decorates, configures, tests, strings, text or unresolved"
                    ),
                });
            }
        })
    }

    fn takes(self, site: &Site) -> bool {
        match self {
            Wanted::All => true,
            Wanted::Kinds(kinds) => kinds.contains(&site.kind),
            Wanted::Tests => site.is_test,
            Wanted::Text | Wanted::Strings | Wanted::Unresolved => false,
        }
    }
}

/// The word for what is done at a place.
fn word(kind: EdgeKind) -> &'static str {
    match kind {
        EdgeKind::Calls => "calls",
        EdgeKind::Instantiates => "instantiates",
        EdgeKind::Overrides => "overridden by",
        EdgeKind::Implements => "implemented by",
        EdgeKind::Extends => "extended by",
        EdgeKind::Decorated => "decorates",
        EdgeKind::Imports => "imports",
        EdgeKind::Writes => "writes",
        EdgeKind::Reads => "reads",
        EdgeKind::References | EdgeKind::Contains | EdgeKind::Tests => "references",
        EdgeKind::Consumes => "requests",
        EdgeKind::Provides => "provides",
    }
}

/// A row with what it is ordered by.
struct Row {
    order: (u8, String),
    repository: usize,
    file: index::model::FileId,
    path: String,
    is_test: bool,
    row: Use,
}

impl std::ops::Deref for Row {
    type Target = Use;
    fn deref(&self) -> &Use {
        &self.row
    }
}

/// The sites that are wanted, those of one line and kind as one row.
fn sites(workspace: &Workspace, accounted: &Accounted, wanted: Wanted) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    for site in accounted.sites.iter().filter(|site| wanted.takes(site)) {
        let key = SymbolKey {
            repository: site.repository,
            symbol: site.from,
        };
        let (Some(from), Some(repository)) = (workspace.symbol(key), workspace.repository(site.repository)) else {
            continue;
        };
        let path = repository.snapshot.file(site.file).map_or("", |file| file.path());
        let through = site.through.and_then(|base| workspace.symbol(base));
        let kind = match through {
            Some(base) => format!("{} through {}", word(site.kind), base.qualified_name()),
            None => word(site.kind).to_owned(),
        };
        let span = from.span();
        let is_file = from.is_file();
        rows.push(Row {
            order: (account::rank(site.kind) * 2 + u8::from(through.is_some()), kind.clone()),
            repository: site.repository,
            file: site.file,
            path: workspace.path(site.repository, path),
            is_test: site.is_test,
            row: Use {
                kind,
                path: workspace.path(site.repository, path),
                line: site.line,
                within: if is_file { String::new() } else { from.qualified_name() },
                first: if is_file { 0 } else { span.start_line },
                last: if is_file { 0 } else { span.end_line },
                likely: site.confidence < SURE,
                ..Use::default()
            },
        });
    }
    rows
}

/// Mentions of the name as rows.
fn mentions(workspace: &Workspace, accounted: &Accounted, kind: &str, is_wanted: fn(&Class) -> bool) -> Vec<Row> {
    let row = |mention: &Mention| {
        let repository = workspace.repository(mention.repository)?;
        let file = repository.snapshot.file(mention.file)?;
        let around = repository.snapshot.symbol_at(mention.file, mention.line);
        let around = around.filter(|symbol| !symbol.is_file());
        let path = workspace.path(mention.repository, file.path());
        Some(Row {
            order: (0, String::new()),
            repository: mention.repository,
            file: mention.file,
            path: path.clone(),
            is_test: crate::traverse::is_test_path(file.path()),
            row: Use {
                kind: kind.to_owned(),
                path,
                line: mention.line,
                within: around.map_or_else(String::new, |symbol| symbol.qualified_name()),
                first: around.map_or(0, |symbol| symbol.span().start_line),
                last: around.map_or(0, |symbol| symbol.span().end_line),
                text: cut(&mention.text),
                why: match mention.class {
                    Class::Unresolved { why } => Some(why.to_owned()),
                    _ => None,
                },
                ..Use::default()
            },
        })
    };
    let wanted = accounted.mentions.iter().filter(|mention| is_wanted(&mention.class));
    wanted.filter_map(row).collect()
}

/// The mentions in doubt that are listed with the uses: all of a few; of many the likeliest, where hardly a use is known.
fn in_doubt(workspace: &Workspace, of: SymbolKey, accounted: &Accounted, uses: &[Row]) -> Vec<Row> {
    let unresolved = accounted.account.as_ref().map_or(0, |account| account.unresolved);
    let is_open = |class: &Class| matches!(class, Class::Unresolved { .. });
    let of_kind = |kind: &str| {
        let rows = mentions(workspace, accounted, kind, is_open).into_iter();
        rows.map(|row| Row {
            order: (u8::MAX, String::new()),
            ..row
        })
    };
    if unresolved <= A_FEW_IN_DOUBT {
        return of_kind(IN_DOUBT).collect();
    }
    let Some(symbol) = workspace
        .symbol(of)
        .filter(|_| uses.iter().filter(|row| !row.is_test).count() < FEW_USES)
    else {
        return Vec::new();
    };
    let likelihood = Likelihood::of(symbol);
    let kind = format!("{IN_DOUBT}, the likeliest of {unresolved}");
    let mut rows: Vec<Row> = of_kind(&kind).filter(|row| !row.is_test).collect();
    rows.sort_by_cached_key(|row| std::cmp::Reverse(likelihood.of_row(row)));
    rows.truncate(LIKELIEST);
    for (place, row) in rows.iter_mut().enumerate() {
        row.order.1 = format!("{place:02}");
    }
    rows
}

/// How likely a mention of a name is one of a symbol, by what its line says.
struct Likelihood<'s> {
    calls: Vec<String>,
    /// What names the symbol's parameters in a call.
    arguments: Vec<String>,
    path: &'s str,
}

impl<'s> Likelihood<'s> {
    fn of(symbol: index::snapshot::SymbolView<'s>) -> Likelihood<'s> {
        let name = symbol.name();
        let signature = symbol.signature();
        let parameters = signature.split_once('(').map_or("", |(_, parameters)| parameters);
        let words = parameters.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
        Likelihood {
            calls: [".", "->", "::"].map(|access| format!("{access}{name}(")).to_vec(),
            arguments: words
                .filter(|word| word.len() > 2)
                .flat_map(|word| [format!("{word}: "), format!("{word}=")])
                .collect(),
            path: symbol.path(),
        }
    }

    fn of_row(&self, row: &Row) -> usize {
        let says = |any: &[String]| any.iter().any(|part| row.text.contains(part.as_str()));
        let shared = row
            .path
            .split('/')
            .zip(self.path.split('/'))
            .take_while(|(one, other)| one == other);
        usize::from(says(&self.arguments)) * 8 + usize::from(says(&self.calls)) * 4 + shared.count().min(4)
    }
}

/// What the answer is about.
fn heading(workspace: &Workspace, meant: &naming::Meant) -> UsesFound {
    let Some(symbol) = workspace.symbol(meant.key) else {
        return UsesFound::default();
    };
    UsesFound {
        symbol: workspace.id(meant.key.repository, symbol),
        kind: crate::kinds::kind(symbol).to_owned(),
        path: workspace.path(meant.key.repository, symbol.path()),
        first: symbol.span().start_line,
        last: symbol.span().end_line,
        name: match symbol.is_file() {
            true => String::new(),
            false => symbol.qualified_name(),
        },
        also_named: meant.others.clone(),
        ..UsesFound::default()
    }
}

/// Puts rows into an answer: tests folded, one page of the rest with its lines, what is left out counted.
fn fill(workspace: &Workspace, found: &mut UsesFound, mut rows: Vec<Row>, folds: bool, page: &Page) {
    rows.sort_by(|left, right| {
        (&left.order, left.repository, left.file, left.line).cmp(&(
            &right.order,
            right.repository,
            right.file,
            right.line,
        ))
    });
    found.total = rows.iter().filter(|row| !row.kind.starts_with(IN_DOUBT)).count() as u64;
    if folds {
        let (tests, others): (Vec<Row>, Vec<Row>) = rows.into_iter().partition(|row| row.is_test);
        rows = others;
        // Where nothing else uses it, its tests are the answer.
        match rows.is_empty() {
            true => rows = tests,
            false => {
                found.folded_tests = tests.len() as u64;
                found.test_files = counted(tests.iter().map(|row| row.path.as_str()));
            }
        }
    }
    let mut counts: Vec<Count> = Vec::new();
    for row in &rows {
        match counts.last_mut().filter(|last| last.of == row.kind) {
            Some(last) => last.count += 1,
            None => counts.push(Count {
                of: row.kind.clone(),
                count: 1,
            }),
        }
    }
    found.counts = counts;
    let end = page.offset.saturating_add(page.limit).min(rows.len());
    let left: Vec<String> = rows[end..].iter().map(|row| folder(&row.kind, &row.path)).collect();
    found.left_out = counted(left.iter().map(String::as_str));
    found.truncated = end < rows.len();
    found.next_cursor = found.truncated.then(|| page::cursor(workspace, end));
    let mut shown: Vec<Row> = rows.into_iter().skip(page.offset).take(page.limit).collect();
    texts(workspace, &mut shown);
    let mut merged: Vec<Use> = Vec::with_capacity(shown.len());
    for row in shown {
        match merged.last_mut() {
            Some(last) if (&last.kind, &last.path, last.line) == (&row.row.kind, &row.row.path, row.row.line) => {
                last.times = last.times.max(1) + 1;
            }
            _ => merged.push(row.row),
        }
    }
    found.uses = merged;
}

fn folder(kind: &str, path: &str) -> String {
    let folder = path.rsplit_once('/').map_or(".", |(folder, _)| folder);
    format!("{kind} in {folder}/")
}

/// How often each comes, most first; those beyond a few as one.
pub(crate) fn counted<'a>(items: impl Iterator<Item = &'a str>) -> Vec<Count> {
    let mut counts: BTreeMap<&str, u64> = BTreeMap::new();
    for item in items {
        *counts.entry(item).or_default() += 1;
    }
    let mut counts: Vec<Count> = counts
        .into_iter()
        .map(|(of, count)| Count {
            of: of.to_owned(),
            count,
        })
        .collect();
    counts.sort_by(|left, right| right.count.cmp(&left.count).then_with(|| left.of.cmp(&right.of)));
    if counts.len() > MOST_COUNTS {
        let rest = counts.split_off(MOST_COUNTS - 1);
        counts.push(Count {
            of: format!("{} more", rest.len()),
            count: rest.iter().map(|count| count.count).sum(),
        });
    }
    counts
}

/// Reads the lines of the rows that have none yet, as far as the files are those that were indexed.
fn texts(workspace: &Workspace, rows: &mut [Row]) {
    let mut files: HashMap<(usize, index::model::FileId), Option<Vec<String>>> = HashMap::new();
    for row in rows.iter_mut().filter(|row| row.row.text.is_empty()) {
        let lines = files.entry((row.repository, row.file)).or_insert_with(|| {
            let repository = workspace.repository(row.repository)?;
            let file = repository.snapshot.file(row.file)?;
            let (text, hash) = read_source(&repository.root, file.path()).ok()?;
            (&hash == file.hash()).then(|| text.lines().map(str::to_owned).collect())
        });
        let line = lines
            .as_ref()
            .and_then(|lines| lines.get(row.row.line.saturating_sub(1) as usize));
        row.row.text = line.map_or_else(String::new, |line| cut(line.trim()));
    }
}

fn cut(line: &str) -> String {
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line.to_owned(),
    }
}

/// The one call that adds most, or none.
fn next(found: &UsesFound, ask: &Uses) -> String {
    if let Some(cursor) = &found.next_cursor {
        return format!("the same with cursor {cursor} lists more");
    }
    let Some(account) = &found.account else {
        return "answer now".to_owned();
    };
    let is_asked = |kind: &str| ask.kind.as_deref() == Some(kind);
    if account.unresolved > 0 && !is_asked("unresolved") {
        let doubtful = account.unresolved;
        return match doubtful <= A_FEW_IN_DOUBT {
            true => format!("judge the {doubtful} in doubt by their lines, then answer"),
            false => format!("judge those in doubt before you answer: kind=unresolved lists the {doubtful}"),
        };
    }
    // What nobody calls may be called by its name.
    if found.total == 0 && account.strings > 0 && !is_asked("strings") {
        return format!(
            "kind=strings lists the {} by which it may be called by name",
            account.strings
        );
    }
    match account.complete {
        true => "answer now, no second search is needed".to_owned(),
        false => "answer now".to_owned(),
    }
}
