//! The frameworks as data: one table per language in `frameworks/`, read once. A rule says which calls or decorators are routes
//! or requests and where in their arguments the path and the method stand.

use std::sync::OnceLock;

use serde::Deserialize;

/// All rules of one language.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Table {
    /// In order: the first that fits a call holds.
    #[serde(default)]
    pub(super) rule: Vec<Rule>,
    /// Files that a framework serves under a prefix.
    #[serde(default)]
    pub(super) file: Vec<FilePrefix>,
}

/// A file that a framework serves under a prefix.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FilePrefix {
    /// How its path ends.
    pub(super) ends: String,
    /// What goes before its routes.
    pub(super) prefix: String,
}

/// One way to say a route, a request, a topic.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Rule {
    /// Whose way it is, for readers of the table.
    #[expect(dead_code, reason = "the tables name their frameworks for those who read them")]
    framework: String,
    #[serde(default)]
    pub(super) kind: Kind,
    pub(super) side: Side,
    #[serde(default)]
    pub(super) on: On,
    /// Names of the callee; `name=METHOD` where the name does not say the method itself.
    pub(super) names: Vec<String>,
    /// The method, where neither the name nor an argument says it; `receiver` where the receiver's name does.
    #[serde(default)]
    pub(super) method: String,
    /// Where an argument says the method.
    #[serde(default)]
    pub(super) method_at: Vec<String>,
    /// Where the path may stand: a position, a name, a member of either (`0.url`); the first that is there.
    #[serde(default = "first_argument")]
    pub(super) path: Vec<String>,
    /// How the receiver's name, or that of what made it, may end; empty is a call without a receiver.
    #[serde(default)]
    pub(super) receivers: Vec<String>,
    /// How it must not end.
    #[serde(default)]
    pub(super) not: Vec<String>,
    /// The receiver must be the result of a call of this name.
    #[serde(default)]
    pub(super) after: String,
    /// A file without any of these words is not looked at.
    pub(super) needs: Vec<String>,
    /// Arguments at least.
    #[serde(default)]
    pub(super) arguments: usize,
    /// The path must start with a slash: the name alone says too little.
    #[serde(default)]
    pub(super) slash: bool,
    /// The argument must look like an address or a path.
    #[serde(default)]
    pub(super) url: bool,
    /// The argument must be an absolute address.
    #[serde(default)]
    pub(super) absolute: bool,
    /// It may have no path of its own.
    #[serde(default)]
    pub(super) pathless: bool,
    /// A block must follow: a bare `get` without one is a call of something else.
    #[serde(default)]
    pub(super) block: bool,
    /// The last argument must be something that can handle a request.
    #[serde(default)]
    pub(super) handler: bool,
    /// The path may be a symbol: `get :preview`.
    #[serde(default)]
    pub(super) symbols: bool,
    /// The path may begin with the method: `GET /users`.
    #[serde(default)]
    pub(super) verb_in_path: bool,
    /// A call of this name behind it gives the methods.
    #[serde(default)]
    pub(super) chained_method: String,
    /// A call named like a method behind it gives the method: `.uri(…).POST(…)`.
    #[serde(default)]
    pub(super) chained_verbs: bool,
    /// The call before it gives the method: `.get().uri(…)`.
    #[serde(default)]
    pub(super) chain_method: bool,
    /// Calls named like methods inside this argument (or behind it: `chain`) give the methods.
    #[serde(default)]
    pub(super) method_calls: String,
    /// One of several routes: `rails`, `rails_one`, `api` or `collection`.
    #[serde(default)]
    pub(super) resources: String,
    /// Another decorator of the same definition gives the path.
    #[serde(default)]
    pub(super) path_decorator: String,
    /// Inside a type with one of these decorators it is a request, not a route.
    #[serde(default)]
    pub(super) client_class: Vec<String>,
    /// The name is the last part of a queue's address.
    #[serde(default)]
    pub(super) queue_url: bool,
    /// For mounts: the argument that is mounted (`0`, `last`), the call that names it (`include`), or a macro that lists handlers
    /// (`handlers`).
    #[serde(default)]
    pub(super) target: String,
    /// For scopes: it covers what the calls before it in the chain say: `prefix('x')->group(…)`.
    #[serde(default)]
    #[expect(dead_code, reason = "documents the rule: chains are always followed")]
    chained: bool,
    /// For scopes: it covers the calls behind it in the chain.
    #[serde(default)]
    pub(super) chain_extent: bool,
}

/// What sort of contract.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Kind {
    #[default]
    Http,
    Grpc,
    Graphql,
    Topic,
    Env,
}

impl Kind {
    /// Its word in ids.
    pub(super) fn as_str(self) -> &'static str {
        match self {
            Kind::Http => "http",
            Kind::Grpc => "grpc",
            Kind::Graphql => "graphql",
            Kind::Topic => "topic",
            Kind::Env => "env",
        }
    }

    /// The kind that a word means.
    pub(super) fn of(word: &str) -> Option<Kind> {
        [Kind::Http, Kind::Grpc, Kind::Graphql, Kind::Topic, Kind::Env]
            .into_iter()
            .find(|kind| kind.as_str() == word)
    }
}

/// What a rule finds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Side {
    /// Something offered.
    Provider,
    /// Something used.
    Consumer,
    /// A prefix of what is said inside it, or of what is said to what it makes.
    Scope,
    /// A prefix of what another file says.
    Mount,
}

/// Where a rule looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum On {
    /// At calls.
    #[default]
    Call,
    /// At constructed values and literals of a type.
    New,
    /// At decorators of functions and methods.
    Decorator,
    /// At decorators of types.
    Class,
}

fn first_argument() -> Vec<String> {
    vec!["0".to_string()]
}

/// The names of the HTTP methods.
pub(super) const VERBS: [&str; 8] = ["GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS", "TRACE"];

impl Rule {
    /// The method that a callee of this name stands for (empty where it says none); `None` when the rule is not about it.
    pub(super) fn method_of(&self, name: &str) -> Option<&str> {
        self.names.iter().find_map(|entry| match entry.split_once('=') {
            Some((known, method)) => (known == name).then_some(method),
            None if entry == name => {
                let verb = VERBS.iter().find(|verb| verb.eq_ignore_ascii_case(name)).copied();
                Some(verb.unwrap_or(""))
            }
            None => None,
        })
    }
}

/// The rules of a language; `None` where none are known.
pub(super) fn table(language: &str) -> Option<&'static Table> {
    macro_rules! tables {
        ($($file:literal: $($language:literal)|+;)*) => {
            match language {
                $($($language)|+ => {
                    static TABLE: OnceLock<Table> = OnceLock::new();
                    Some(TABLE.get_or_init(|| parse(include_str!(concat!("frameworks/", $file, ".toml")))))
                })*
                _ => None,
            }
        };
    }
    tables! {
        "python": "python";
        "javascript": "javascript" | "typescript" | "tsx" | "vue" | "svelte";
        "go": "go";
        "java": "java" | "kotlin";
        "ruby": "ruby";
        "php": "php";
        "csharp": "csharp";
        "rust": "rust";
    }
}

/// A table that cannot be read is a mistake of the build that a test finds; here it says nothing.
fn parse(text: &str) -> Table {
    toml::from_str(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn every_table_reads() {
        for file in ["python", "javascript", "go", "java", "ruby", "php", "csharp", "rust"] {
            let path = format!("{}/src/contracts/frameworks/{file}.toml", env!("CARGO_MANIFEST_DIR"));
            let text = std::fs::read_to_string(path).unwrap();
            let table: Table = toml::from_str(&text).unwrap_or_else(|error| panic!("{file}: {error}"));
            assert!(table.rule.len() > 5, "{file}");
            for rule in &table.rule {
                assert!(!rule.needs.is_empty() && !rule.names.is_empty(), "{file}: {rule:?}");
            }
            assert!(
                super::table(file).is_some_and(|known| known.rule.len() == table.rule.len()),
                "{file}"
            );
        }
    }
}
