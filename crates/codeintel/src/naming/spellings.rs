//! Names as people write them, beyond `Owner.name`: `module::function`, `package.module.Class.method`, a dotted import path,
//! `Class#method()`, `(*Type).Method`, with or without the crate's name, in the wrong case.
//!
//! The one trick: a symbol has one long chain of names (the folders and the stem of its file, its package, its owners, its own name), and
//! what is asked must lie along that chain in order, ending at its end. Import paths leave out folders and files that re-export, so
//! parts of the chain may be passed over; fewer is better.

use index::snapshot::SymbolView;

use super::is_local;
use crate::workspace::{SymbolKey, Workspace};

/// Most symbols of one name that are compared.
const MOST: usize = 5_000;

/// What was asked without what stands around a name in code: a call's parentheses, type arguments, a receiver's, a keyword.
pub(super) fn plain(asked: &str) -> String {
    let mut text = asked.trim().trim_matches('`').trim();
    for keyword in [
        "def ",
        "fn ",
        "func ",
        "function ",
        "class ",
        "struct ",
        "interface ",
        "trait ",
        "enum ",
        "type ",
        "async ",
    ] {
        text = text.strip_prefix(keyword).unwrap_or(text).trim_start();
    }
    let text = text.replace("->", ".").replace("?.", ".");
    // `(*Type).Method`, `(Type).Method`
    let text = match text.strip_prefix('(') {
        Some(rest) => rest.replacen(')', "", 1).trim_start_matches('*').to_owned(),
        None => text.trim_start_matches('*').to_owned(),
    };
    let mut plain = String::with_capacity(text.len());
    let mut depth = 0_usize;
    for character in text.chars() {
        match character {
            '<' | '[' | '(' => depth += 1,
            '>' | ']' | ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => plain.push(character),
            _ => {}
        }
    }
    plain.trim_matches([' ', '.', ':', '#']).replace("::.", "::").to_owned()
}

/// What stands between the parts of a name.
const SEPARATORS: [char; 8] = ['.', '#', '\\', '/', ':', '$', '@', ' '];

/// The ways to read a text as owners and a name, the shortest name first: names of tests may hold anything.
fn readings(asked: &str) -> impl Iterator<Item = (Vec<&str>, &str)> {
    let cuts = asked.rmatch_indices(SEPARATORS).map(|(at, mark)| (at, at + mark.len()));
    cuts.chain([(0, 0)]).map(|(end, start)| {
        let owners = asked[..end].split(SEPARATORS).filter(|part| !part.is_empty());
        (owners.collect(), &asked[start..])
    })
}

/// Longest text that is read in more than one way.
const LONGEST: usize = 300;

/// The symbols along whose chain of names `asked` lies, those that leave out least first.
pub(super) fn along(workspace: &Workspace, asked: &str) -> Vec<SymbolKey> {
    let most = if asked.len() > LONGEST { 1 } else { usize::MAX };
    let each = readings(asked).filter(|(_, name)| !name.is_empty()).take(most);
    let mut found = each.map(|(owners, name)| read_as(workspace, &owners, name));
    found.find(|found| !found.is_empty()).unwrap_or_default()
}

fn read_as(workspace: &Workspace, owners: &[&str], name: &str) -> Vec<SymbolKey> {
    let mut found: Vec<(usize, SymbolKey)> = Vec::new();
    for (repository, of) in workspace.repositories().iter().enumerate() {
        let exact = of.snapshot.named(name).take(MOST);
        let folded = of.snapshot.named_ignoring_case(name).take(MOST);
        for symbol in exact.chain(folded) {
            let key = SymbolKey {
                repository,
                symbol: symbol.id(),
            };
            if let Some(passed) = passed_over(symbol, &of.name, owners) {
                let other_case = usize::from(symbol.name() != name) * 1_000;
                let local = usize::from(is_local(workspace, key)) * 100;
                found.push((passed + other_case + local, key));
            }
        }
    }
    found.sort_unstable();
    found.dedup_by_key(|(_, key)| *key);
    let best = found.first().map_or(0, |(passed, _)| *passed);
    found.retain(|(passed, _)| *passed == best);
    found.into_iter().map(|(_, key)| key).collect()
}

/// How many names of its chain are passed over to find all owners asked for; `None` where one is not there.
fn passed_over(symbol: SymbolView<'_>, repository: &str, owners: &[&str]) -> Option<usize> {
    let chain = chain(symbol);
    let mut passed = 0;
    let mut at = chain.len();
    for (left, owner) in owners.iter().enumerate().rev() {
        let found = chain[..at].iter().rposition(|part| is_same(part, owner));
        match found {
            Some(found) => {
                // Names of folders that everything lies in say nothing.
                passed += chain[found + 1..at]
                    .iter()
                    .filter(|part| !SILENT.contains(&part.as_str()))
                    .count();
                at = found;
            }
            // The package's or crate's own name need not be a folder.
            None if left == 0 && (owners.len() > 1 || is_same(repository, owner) || is_root(owner)) => passed += 2,
            None => return None,
        }
    }
    Some(passed)
}

/// Words for the place where a project begins.
fn is_root(owner: &str) -> bool {
    matches!(owner, "crate" | "self" | "super" | "this" | "root" | "main" | "global")
}

/// Folders and stems that import paths leave out.
const SILENT: &[&str] = &[
    "src", "lib", "mod", "index", "__init__", "main", "java", "kotlin", "crates", "packages", "pkg", "app",
];

/// The folders and the stem of the file, the names of its owners.
fn chain(symbol: SymbolView<'_>) -> Vec<String> {
    let path = symbol.path();
    let mut chain: Vec<String> = Vec::new();
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    chain.extend(folders.split('/').filter(|part| !part.is_empty()).map(str::to_owned));
    // `mail.component.ts` is a component of that name to whoever imports it.
    let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
    chain.extend(stem.split('.').filter(|part| !part.is_empty()).map(str::to_owned));
    if symbol.is_file() {
        return chain;
    }
    let qualified = symbol.qualified_name();
    let owners = qualified.strip_suffix(symbol.name()).unwrap_or("");
    chain.extend(
        owners
            .split(SEPARATORS)
            .filter(|part| !part.is_empty() && !part.starts_with('<'))
            .map(str::to_owned),
    );
    chain
}

/// Whether two parts of a path or name are the same: letters of either case are, and so are `-` and `_`.
fn is_same(part: &str, asked: &str) -> bool {
    part.len() == asked.len()
        && part.bytes().zip(asked.bytes()).all(|(one, other)| {
            let plain = |byte: u8| if byte == b'-' { b'_' } else { byte.to_ascii_lowercase() };
            plain(one) == plain(other)
        })
}

#[cfg(test)]
mod tests {
    use super::{plain, readings};

    #[test]
    fn what_stands_around_a_name_is_left_out() {
        for (asked, meant) in [
            ("Client.send()", "Client.send"),
            ("(*Server).Serve", "Server.Serve"),
            ("Vec<T>::push", "Vec::push"),
            ("def total(self, items)", "total"),
            ("client->send", "client.send"),
            ("`a::b::c`", "a::b::c"),
            ("List[int].append", "List.append"),
        ] {
            assert_eq!(plain(asked), meant);
        }
        let read = |asked| readings(asked).next().unwrap();
        assert_eq!(read("App\\Models\\User::save"), (vec!["App", "Models", "User"], "save"));
        assert_eq!(read("lib/util.parse"), (vec!["lib", "util"], "parse"));
        let whole: Vec<&str> = readings("Page.should open").map(|(_, name)| name).collect();
        assert_eq!(whole, ["open", "should open", "Page.should open"]);
    }
}
