//! The methods of a route or a request: from an argument, from the chain of calls around it, from the name that is called.

use super::arguments::{self, last_name, strings};
use super::reader::Reader;
use super::route::canonical;
use super::rules::{Rule, VERBS};
use super::sites::Site;
use syntax::facts::Expression;

impl<'a> Reader<'a, '_> {
    /// The methods that a site is about; `named` is the one that its name says.
    pub(super) fn methods(&self, site: &Site<'a>, rule: &Rule, named: &str) -> Vec<String> {
        let said = rule
            .method_at
            .iter()
            .find_map(|place| site.arguments.get(place))
            .map(verbs);
        let text = self.source.text;
        let chain = || &text[site.arguments.end..chain_end(text, site.arguments.end)];
        let behind = if !rule.chained_method.is_empty() {
            let call = format!(".{}", rule.chained_method);
            chain().find(&call).and_then(|at| {
                let arguments = arguments::read(chain(), at + call.len())?;
                Some(
                    arguments
                        .items
                        .iter()
                        .flat_map(|argument| verbs(argument.value))
                        .collect(),
                )
            })
        } else if rule.chained_verbs {
            Some(called_verbs(chain()))
        } else if rule.chain_method {
            let before =
                self.source
                    .receiver(site.callee)
                    .and_then(|object| match *self.source.facts.expression(object) {
                        Expression::Call { callee, .. } => Some(self.source.name_of(callee)),
                        _ => None,
                    });
            before.map(verbs)
        } else if rule.method == "receiver" {
            let names = self
                .source
                .receiver(site.callee)
                .map(|object| self.source.name_of(object));
            names.map(verbs)
        } else {
            match rule.method_calls.as_str() {
                "" => None,
                "chain" => Some(called_verbs(chain())),
                place => site.arguments.get(place).map(called_verbs),
            }
        };
        for found in [said, behind].into_iter().flatten() {
            if !found.is_empty() {
                return found;
            }
        }
        let default = if rule.method.is_empty() || rule.method == "receiver" {
            "ANY"
        } else {
            &rule.method
        };
        vec![if named.is_empty() { default } else { named }.to_string()]
    }
}

/// The methods that a value names: `["GET"]`, `RequestMethod.POST`, `http.MethodPut`, `:get`.
fn verbs(value: &str) -> Vec<String> {
    let words = strings(value);
    let bare: Vec<&str> = value.split(',').map(last_name).collect();
    let words: Vec<&str> = if words.is_empty() {
        bare
    } else {
        words.iter().map(String::as_str).collect()
    };
    let verb = |word: &&str| {
        let word = word.to_ascii_uppercase();
        let word = word.strip_prefix("METHOD").unwrap_or(&word);
        VERBS.iter().find(|verb| **verb == word).map(|verb| verb.to_string())
    };
    words.iter().filter_map(verb).collect()
}

/// The methods that are called by name in a piece of code: `get(list).post(create)`.
fn called_verbs(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for (at, _) in code.match_indices('(') {
        for verb in verbs(last_name(&code[..at])) {
            if !found.contains(&verb) {
                found.push(verb);
            }
        }
    }
    found
}

/// One past the calls that follow in a chain: `.a(…).b(…)`.
pub(super) fn chain_end(text: &str, from: usize) -> usize {
    let mut end = from;
    loop {
        let rest = text.get(end..).unwrap_or("");
        let trimmed = rest.trim_start();
        let Some(after) = trimmed.strip_prefix('.').or_else(|| trimmed.strip_prefix("->")) else {
            return end;
        };
        let name = after
            .find(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
            .unwrap_or(after.len());
        let at = text.len() - after.len() + name;
        match arguments::read(text, at) {
            Some(arguments) if arguments.end > at => end = arguments.end,
            _ => return end,
        }
    }
}

/// The routes that one statement makes.
pub(super) fn expanded(rule: &Rule, site: &Site<'_>, path: &str, methods: &[String]) -> Vec<(String, String)> {
    const RAILS: &[(&str, &str, &str)] = &[
        ("index", "GET", ""),
        ("create", "POST", ""),
        ("new", "GET", "/new"),
        ("edit", "GET", "/{id}/edit"),
        ("show", "GET", "/{id}"),
        ("update", "PATCH", "/{id}"),
        ("update", "PUT", "/{id}"),
        ("destroy", "DELETE", "/{id}"),
    ];
    let one = |end: &str| end.replace("/{id}", "");
    match rule.resources.as_str() {
        "" => methods
            .iter()
            .map(|method| (method.clone(), path.to_string()))
            .collect(),
        "collection" => ["", "/{pk}"]
            .iter()
            .map(|end| ("ANY".to_string(), canonical(&format!("{path}{end}"))))
            .collect(),
        sort => {
            let listed = |name: &str| {
                let value = site.arguments.get(name)?;
                Some(
                    value
                        .split(|letter: char| !(letter.is_alphanumeric() || letter == '_'))
                        .map(str::to_string)
                        .collect::<Vec<_>>(),
                )
            };
            let (only, except) = (listed("only"), listed("except"));
            RAILS
                .iter()
                .filter(|(action, ..)| sort != "api" || !matches!(*action, "new" | "edit"))
                .filter(|(action, ..)| sort != "rails_one" || *action != "index")
                .filter(|(action, ..)| only.as_ref().is_none_or(|only| only.iter().any(|kept| kept == action)))
                .filter(|(action, ..)| {
                    except
                        .as_ref()
                        .is_none_or(|except| except.iter().all(|left| left != action))
                })
                .map(|(_, method, end)| {
                    let end = if sort == "rails_one" {
                        one(end)
                    } else {
                        (*end).to_string()
                    };
                    (method.to_string(), canonical(&format!("{path}{end}")))
                })
                .collect()
        }
    }
}
