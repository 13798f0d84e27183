//! `go.mod`: the import path that a directory's packages go by, and local replacements of others.

use crate::resolve::modules::join;

/// An import path and the directory where it begins.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct GoModule {
    /// `github.com/acme/app`.
    pub path: String,
    /// Relative to the root; empty is the root.
    pub directory: String,
}

/// The modules that the `go.mod` in `directory` makes known: itself, and what it replaces by directories of the tree.
pub(super) fn read(directory: &str, text: &str) -> Vec<GoModule> {
    let mut modules = Vec::new();
    let mut block = "";
    for line in text.lines() {
        let line = line.split("//").next().unwrap_or("").trim();
        if line == ")" {
            block = "";
            continue;
        }
        let (verb, rest) = match block {
            "" => line.split_once(char::is_whitespace).unwrap_or((line, "")),
            block => (block, line),
        };
        let rest = rest.trim();
        if rest == "(" {
            block = verb;
            continue;
        }
        match verb {
            "module" => modules.push(GoModule {
                path: unquoted(rest),
                directory: directory.to_string(),
            }),
            "replace" => modules.extend(replacement(directory, rest)),
            _ => {}
        }
    }
    modules
}

/// `old [version] => ./local`.
fn replacement(directory: &str, text: &str) -> Option<GoModule> {
    let (old, new) = text.split_once("=>")?;
    let path = unquoted(old.split_whitespace().next()?);
    let new = unquoted(new.split_whitespace().next()?);
    if !new.starts_with('.') {
        return None;
    }
    Some(GoModule {
        path,
        directory: join(directory, &new)?,
    })
}

fn unquoted(text: &str) -> String {
    text.trim_matches(['"', '`']).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_module_and_its_local_replacements() {
        let text = "module example.com/app // the app\n\ngo 1.22\n\nreplace example.com/lib v1.0.0 => ../lib\nreplace (\n\
                    \texample.com/api => ./api\n\texample.com/far => example.com/near v2.0.0\n\texample.com/out => ../../out\n)\n";
        let found = read("services/app", text);
        let module = |path: &str, directory: &str| GoModule {
            path: path.into(),
            directory: directory.into(),
        };
        assert_eq!(
            found,
            [
                module("example.com/app", "services/app"),
                module("example.com/lib", "services/lib"),
                module("example.com/api", "services/app/api"),
                module("example.com/out", "out"),
            ]
        );
    }
}
