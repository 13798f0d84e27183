//! Routes and requests that a project says through functions of its own, which no table of frameworks can know.
//!
//! The one trick: what is passed together tells. A function that is given a path, HTTP methods and a handler again and again
//! registers routes (`registerEndpoint("/v1/acl/login", []string{"POST"}, (*HTTPHandlers).ACLLogin)`), and one that is given a
//! method and a path makes requests (`client.newRequest("PUT", "/v1/acl/login")`). A single such call proves nothing; the answer
//! names the functions that were taken for this.

use std::collections::{BTreeMap, BTreeSet};

use index::snapshot::{FileView, Snapshot, SymbolId};

use super::arguments::{Part, Template, strings, template};
use super::reader::Reader;
use super::route::Route;
use super::rules::{Kind, Rule, VERBS};
use super::sites::{Site, Source};
use super::{Endpoint, Role};

/// Different paths, and different handlers where it is given any, that one function must be given in a file.
const FEWEST: usize = 3;

/// What was inferred, with how often each function was given a path.
#[derive(Debug, Default)]
pub(super) struct Inferred {
    pub(super) endpoints: Vec<Endpoint>,
    pub(super) by: BTreeMap<String, u32>,
}

/// Whether a text can hold such calls at all: a method and a path, in quotes.
pub(super) fn may_hold(text: &str) -> bool {
    let has = |word: &str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
    (has("\"/") || has("'/") || has("`/"))
        && ["GET", "POST", "PUT", "DELETE", "PATCH"]
            .iter()
            .any(|verb| has(&format!("\"{verb}\"")) || has(&format!("'{verb}'")) || has(&constant_of(verb)))
}

/// What is inferred from the calls of one file that no rule is about.
pub(super) fn read(source: &Source<'_>, snapshot: &Snapshot, file: FileView<'_>, active: &[&Rule]) -> Inferred {
    let is_known = |name: &str| active.iter().any(|rule| rule.method_of(name).is_some());
    let reader = Reader {
        sites: source.sites(&|name| !is_known(name)),
        source,
        snapshot,
        file,
        active: Vec::new(),
    };
    let mut groups: BTreeMap<(&str, Role), Vec<Said<'_, '_>>> = BTreeMap::new();
    for site in &reader.sites {
        if let Some(said) = Said::of(&reader, site) {
            groups.entry((site.name, said.role)).or_default().push(said);
        }
    }
    let mut inferred = Inferred::default();
    for ((name, role), group) in groups {
        let paths: BTreeSet<&str> = group.iter().map(|said| said.route.path.as_str()).collect();
        // One function behind every path is what runs the calls, not what answers them.
        let handlers: BTreeSet<&Handler> = group.iter().filter_map(|said| said.handler.as_ref()).collect();
        if paths.len() < FEWEST || (role == Role::Provider && handlers.len() < FEWEST) {
            continue;
        }
        inferred.by.insert(name.to_string(), group.len() as u32);
        for said in group {
            for method in &said.methods {
                inferred.endpoints.push(Endpoint {
                    kind: Kind::Http,
                    role,
                    method: method.clone(),
                    path: said.route.path.clone(),
                    service: String::new(),
                    open: said.route.open,
                    symbol: reader.symbol(said.site, role, None),
                    line: said.site.line,
                    spoken_to: String::new(),
                    within: reader.within(said.site),
                    file: file.id(),
                });
            }
        }
    }
    inferred
}

/// A call that is given a path and methods.
struct Said<'s, 'a> {
    site: &'s Site<'a>,
    route: Route,
    methods: Vec<String>,
    role: Role,
    handler: Option<Handler>,
}

/// What answers at a path.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
enum Handler {
    Named(SymbolId),
    /// Written out in the call that begins at this byte.
    Written(usize),
}

impl<'s, 'a> Said<'s, 'a> {
    fn of(reader: &Reader<'a, '_>, site: &'s Site<'a>) -> Option<Said<'s, 'a>> {
        if site.decorates.is_some() || site.is_new || site.arguments.items.len() < 2 {
            return None;
        }
        let known = |name: &str| reader.source.constant(name);
        let mut path: Option<Template> = None;
        let (mut methods, mut handles) = (Vec::new(), false);
        for argument in &site.arguments.items {
            let value = argument.value;
            let verbs = verbs(value);
            if !verbs.is_empty() {
                methods.extend(verbs);
            } else if let Some(found) = template(value, &known).filter(is_path) {
                // Two paths are a rename, a copy, a comparison.
                if path.replace(found).is_some() {
                    return None;
                }
            } else {
                handles |= is_function(value);
            }
        }
        if methods.is_empty() {
            return None;
        }
        let path = path?;
        let named = reader.handlers(site).last().map(|(_, id)| Handler::Named(*id));
        let handler = named.or(handles.then_some(Handler::Written(site.start)));
        let role = match &handler {
            Some(_) => Role::Provider,
            None if makes_requests(site.name) => Role::Consumer,
            None => return None,
        };
        let mut route = Route::of(&path)?;
        // Of a path that ends with a slash, Go serves everything below.
        if reader.file.language() == "go" && ends_with_slash(&path) && route.path != "/" {
            route.path.push_str("/{rest}");
        }
        methods.sort_unstable();
        methods.dedup();
        Some(Said {
            site,
            route,
            methods,
            role,
            handler,
        })
    }
}

/// The methods that an argument lists, and nothing where it says anything else.
fn verbs(value: &str) -> Vec<String> {
    let listed = strings(value);
    if !listed.is_empty() {
        let are_verbs = listed.iter().all(|text| VERBS.contains(&text.as_str()));
        return if are_verbs { listed } else { Vec::new() };
    }
    let names = value.split(|letter: char| !(letter.is_alphanumeric() || letter == '_'));
    let constants = names.filter_map(|name| VERBS.iter().find(|verb| constant_of(verb) == name));
    constants.map(|verb| (*verb).to_string()).collect()
}

/// How Go calls the constant of a method.
fn constant_of(verb: &str) -> String {
    format!("Method{}{}", &verb[..1], verb[1..].to_ascii_lowercase())
}

/// A path of a server: absolute, without spaces, and no file's.
fn is_path(template: &Template) -> bool {
    let first =
        matches!(template.parts.first(), Some(Part::Text(text)) if text.starts_with('/') && !text.starts_with("//"));
    first
        && template.parts.iter().all(|part| match part {
            Part::Text(text) => !text.contains(|letter: char| letter.is_whitespace() || letter.is_control()),
            Part::Hole(_) => true,
        })
}

fn ends_with_slash(template: &Template) -> bool {
    matches!(template.parts.last(), Some(Part::Text(text)) if text.ends_with('/'))
}

/// Whether a value is a function that is written out.
fn is_function(value: &str) -> bool {
    let value = value.trim_start_matches("async ").trim_start();
    value.starts_with("func(")
        || value.starts_with("func (")
        || value.starts_with("function")
        || value.starts_with("lambda")
        || value.starts_with('|')
        || value.starts_with("move |")
        || value
            .split_once("=>")
            .is_some_and(|(head, _)| !head.contains(['"', '\'', ';']))
}

/// Whether a function is called as those are that ask another server.
fn makes_requests(name: &str) -> bool {
    let name = name.to_ascii_lowercase();
    ["request", "fetch", "call", "send", "invoke"]
        .iter()
        .any(|word| name.contains(word))
}

#[cfg(test)]
mod tests {
    use super::{is_function, makes_requests, may_hold, verbs};

    #[test]
    fn methods_are_told_from_other_texts() {
        for (value, expected) in [
            ("\"PUT\"", "PUT"),
            ("[]string{\"GET\", \"DELETE\"}", "GET DELETE"),
            ("['POST']", "POST"),
            ("http.MethodPatch", "PATCH"),
            ("[]string{http.MethodGet, http.MethodPut}", "GET PUT"),
            ("\"GET\" + suffix(\"x\")", ""),
            ("\"get the door\"", ""),
            ("handler", ""),
        ] {
            assert_eq!(verbs(value).join(" "), expected, "{value}");
        }
        assert!(may_hold("route(\"/x\", http.MethodGet, h)") && may_hold("r('GET', '/x')"));
        assert!(!may_hold("open(\"/etc/passwd\")") && !may_hold("x = \"GET\""));
        assert!(is_function("(req, res) => res.end()") && is_function("func(w W) {}") && !is_function("h"));
        assert!(makes_requests("newRequest") && !makes_requests("registerEndpoint"));
    }
}
