//! The account of an answer about users: does its list close against a plain word search?
//!
//! Every place where the name stands as a whole word, exactly what `rg -w NAME` finds over the indexed files, falls into one class: a use
//! that the answer lists, the definition itself, something of another definition, a comment or string, or code that nobody could
//! resolve. The classes sum to the search, so a reader who trusts the arithmetic need not search again.

mod mentions;
mod sites;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use mentions::{Class, Mention};
pub use sites::Site;
pub(crate) use sites::{of as sites_of, rank};

use crate::workspace::{SymbolKey, Workspace};

/// How the mentions of a name add up.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Account {
    /// The name that was searched for as a whole word.
    pub name: String,
    /// Places where it stands, comments and strings included: `listed + definitions + others + comments + strings + unresolved`.
    pub mentions: u64,
    /// Lines that hold them.
    pub lines: u64,
    /// Files that hold them.
    pub files: u64,
    /// Of the mentions, uses of the symbol.
    pub listed: u64,
    /// Uses beyond those, where it is used without being named: under an alias, or by what a construct runs.
    pub unnamed: u64,
    /// Of the mentions, the definition itself.
    pub definitions: u64,
    /// Of the mentions, those of other definitions, local names, other packages and other languages.
    pub others: u64,
    /// The largest of those.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub other_names: Vec<OtherName>,
    /// Of the mentions, those in comments and documents.
    pub comments: u64,
    /// Of the mentions, those in strings and data: what is called by its name at run time is among them.
    pub strings: u64,
    /// Of the mentions, code of which nobody knows what it means.
    pub unresolved: u64,
    /// Where: all of a few, the first three of many; nothing where the answer lists them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unresolved_at: Vec<String>,
    /// Languages with unresolved mentions whose names are not linked across files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub not_linked: Vec<String>,
    /// What was not searched or not indexed, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_searched: Option<String>,
    /// Whether nothing is left open.
    pub complete: bool,
}

/// Another definition that has mentions of the name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct OtherName {
    /// What it is.
    pub name: String,
    /// How many mentions.
    pub mentions: u64,
}

/// A symbol's uses, every mention of its name with its class, and the sum.
pub struct Accounted {
    /// Every place where it is used, in order of path and place.
    pub sites: Vec<Site>,
    /// Every mention of its name.
    pub mentions: Vec<Mention>,
    /// The sum; `None` for what has no name to search for.
    pub account: Option<Account>,
}

/// Other definitions that are named.
const MOST_NAMED: usize = 3;
/// Up to so many unresolved mentions are listed each: whoever has to look at them anyway need not ask again.
pub(crate) const A_FEW_IN_DOUBT: u64 = 10;
/// Of more of them, so many are named.
const MOST_PLACES: usize = 3;

/// The uses of a symbol and how they add up.
pub fn account(workspace: &Workspace, key: SymbolKey) -> Accounted {
    let sites = sites::of(workspace, key);
    let name = workspace.symbol(key).map_or("", |symbol| symbol.name());
    let is_file = workspace.symbol(key).is_none_or(|symbol| symbol.is_file());
    if is_file || name.is_empty() || name.starts_with('<') {
        return Accounted {
            sites,
            mentions: Vec::new(),
            account: None,
        };
    }
    let found = mentions::of(workspace, key, name, &sites);
    let account = sum(workspace, name, &sites, &found);
    Accounted {
        sites,
        mentions: found.mentions,
        account: Some(account),
    }
}

/// The account alone, in one line.
pub fn line(workspace: &Workspace, key: SymbolKey) -> Option<String> {
    account(workspace, key).account.map(|account| account.to_line())
}

fn sum(workspace: &Workspace, name: &str, sites: &[Site], found: &mentions::Found) -> Account {
    let mut account = Account {
        name: name.to_owned(),
        mentions: found.mentions.len() as u64,
        ..Account::default()
    };
    let mut others: BTreeMap<&str, u64> = BTreeMap::new();
    let mut files = BTreeSet::new();
    let mut lines = BTreeSet::new();
    let mut not_linked = BTreeSet::new();
    for mention in &found.mentions {
        files.insert((mention.repository, mention.file));
        lines.insert((mention.repository, mention.file, mention.line));
        match &mention.class {
            Class::Use => account.listed += 1,
            Class::Definition => account.definitions += 1,
            Class::Other(name) => {
                account.others += 1;
                *others.entry(name).or_default() += 1;
            }
            Class::Comment => account.comments += 1,
            Class::String => account.strings += 1,
            Class::Unresolved { .. } => {
                account.unresolved += 1;
                let file = workspace
                    .repository(mention.repository)
                    .and_then(|repository| repository.snapshot.file(mention.file));
                let Some(file) = file else { continue };
                if account.unresolved <= A_FEW_IN_DOUBT {
                    let path = workspace.path(mention.repository, file.path());
                    account.unresolved_at.push(format!("{path}:{}", mention.line));
                }
                if !mentions::is_linked(file.language()) {
                    not_linked.insert(file.language().to_owned());
                }
            }
        }
    }
    if account.unresolved > A_FEW_IN_DOUBT {
        account.unresolved_at.truncate(MOST_PLACES);
    }
    account.files = files.len() as u64;
    account.lines = lines.len() as u64;
    account.unnamed = (sites.len() as u64).saturating_sub(account.listed);
    let mut others: Vec<(&str, u64)> = others.into_iter().collect();
    others.sort_by(|(left, many), (right, more)| more.cmp(many).then_with(|| left.cmp(right)));
    account.other_names = others
        .into_iter()
        .take(MOST_NAMED)
        .map(|(name, mentions)| OtherName {
            name: name.to_owned(),
            mentions,
        })
        .collect();
    account.not_linked = not_linked.into_iter().collect();
    account.not_searched = found.not_searched.clone();
    account.complete = account.unresolved == 0 && account.not_searched.is_none();
    account
}

impl Account {
    /// The account as answers end with it.
    pub fn to_line(&self) -> String {
        let mut line = format!("`{}` stands {}", self.name, times(self.mentions));
        let mut parts: Vec<String> = Vec::new();
        let mut part = |count: u64, what: &str| {
            if count > 0 {
                parts.push(format!("{count} {what}"));
            }
        };
        part(self.listed, "listed");
        part(
            self.definitions,
            if self.definitions == 1 {
                "definition"
            } else {
                "definitions"
            },
        );
        let names: Vec<String> = self
            .other_names
            .iter()
            .map(|other| format!("{} {}", other.mentions, other.name))
            .collect();
        let named: u64 = self.other_names.iter().map(|other| other.mentions).sum();
        let more = match self.others - named.min(self.others) {
            0 => String::new(),
            more => format!(", {more} more"),
        };
        part(self.others, &format!("of others ({}{more})", names.join(", ")));
        part(self.comments, "in comments, docs");
        part(self.strings, "in strings, data");
        let places = self.unresolved_at.join(", ");
        let rest = if self.unresolved > self.unresolved_at.len() as u64 {
            ", …"
        } else {
            ""
        };
        match places.is_empty() {
            true => part(self.unresolved, "unresolved"),
            false => part(self.unresolved, &format!("unresolved ({places}{rest})")),
        }
        // Writing to a string cannot fail.
        let _ = write!(
            line,
            " in {} {}",
            self.files,
            if self.files == 1 { "file" } else { "files" }
        );
        if !parts.is_empty() {
            let _ = write!(line, " = {}", parts.join(" + "));
        }
        if self.unnamed > 0 {
            let _ = write!(line, "; {} listed without the name (alias or implicit)", self.unnamed);
        }
        if !self.not_linked.is_empty() {
            let _ = write!(line, "; not linked: {}", self.not_linked.join(", "));
        }
        if let Some(what) = &self.not_searched {
            let _ = write!(line, "; {what}");
        }
        if self.complete {
            line.push_str("; complete");
        }
        line
    }
}

fn times(count: u64) -> String {
    match count {
        1 => "once".to_owned(),
        count => format!("{count}×"),
    }
}
