//! What one file puts before the routes of another: `app.use('/api', users)`, `include("shop.urls")`.

use syntax::facts::{Bound, Expression, ExpressionId, ImportId};

use super::arguments::{Template, strings, template};
use super::reader::{MAX_CHAIN, Reader};
use super::route::{Route, join};
use super::rules::Rule;
use super::sites::Site;
use super::{Mount, Target};

impl<'a> Reader<'a, '_> {
    /// The mount that a site is.
    pub(super) fn mount(&self, site: &Site<'a>, rule: &Rule) -> Option<Mount> {
        let known = |name: &str| self.source.constant(name);
        let value = rule.path.iter().find_map(|place| site.arguments.get(place));
        let own = match value {
            Some(value) => {
                Route::of(&template(value, &known).or_else(|| strings(value).first().map(|_| Template::default()))?)?
                    .path
            }
            None => "/".to_string(),
        };
        if rule.slash && !value.is_some_and(|value| value.trim_start_matches(['"', '\'', '`']).starts_with('/')) {
            return None;
        }
        let (prefix, _) = self.prefix(site);
        let arguments = self.source.arguments_of(site.callee);
        let mut handlers = Vec::new();
        let target = match rule.target.as_str() {
            "handlers" => {
                handlers = listed(site.arguments.items.get(1)?.value)?;
                Target::default()
            }
            "include" => {
                let included = arguments
                    .iter()
                    .find_map(|&id| match *self.source.facts.expression(id) {
                        Expression::Call { callee, .. } if self.source.name_of(callee) == "include" => {
                            self.source.arguments_of(callee).first().copied()
                        }
                        _ => None,
                    })?;
                self.target(included, 0)?
            }
            "last" => self.target(*arguments.last()?, 0)?,
            place => {
                let positions = arguments
                    .iter()
                    .filter(|&&id| !matches!(self.source.facts.expression(id), Expression::Argument { .. }));
                self.target(*positions.clone().nth(place.parse().ok()?)?, 0)?
            }
        };
        Some(Mount {
            prefix: join(&prefix, &own),
            from: self.file.id(),
            spoken_to: self.spoken_to(site),
            within: self.within(site),
            target,
            handlers,
        })
    }

    /// What is mounted.
    fn target(&self, expression: ExpressionId, depth: usize) -> Option<Target> {
        if depth > MAX_CHAIN {
            return None;
        }
        let facts = self.source.facts;
        match *facts.expression(expression) {
            Expression::Bound { binding, .. } => match facts.bindings.get(binding.index())?.to {
                Bound::Import(import) => self.imported(import),
                _ => match self.source.value_of(expression).map(|value| *facts.expression(value)) {
                    Some(Expression::Module(_)) => self.target(self.source.value_of(expression)?, depth + 1),
                    _ => Some(Target {
                        file: Some(self.file.id()),
                        module: String::new(),
                        name: self.source.name_of(expression).to_string(),
                    }),
                },
            },
            Expression::Free { name, .. } => Some(Target {
                file: Some(self.file.id()),
                module: String::new(),
                name: facts.text(name).to_string(),
            }),
            Expression::Member { object, name } => {
                let mut target = self.target(object, depth + 1)?;
                target.name = facts.text(name).to_string();
                Some(target)
            }
            Expression::Call { callee, .. } => self.target(callee, depth + 1),
            Expression::Unwrap(inner) | Expression::Argument { value: inner, .. } => self.target(inner, depth + 1),
            Expression::Text(text) | Expression::Module(text) => Some(Target {
                file: None,
                module: facts.text(text).to_string(),
                name: String::new(),
            }),
            _ => None,
        }
    }

    /// The file (and the name in it) that an import means, as the index resolved it.
    fn imported(&self, import: ImportId) -> Option<Target> {
        let import = self.source.facts.imports.get(import.index())?;
        let edges = self
            .snapshot
            .edges_of_file(self.file.id(), index::model::EdgeKind::Imports);
        let symbol = edges
            .filter(|edge| edge.at.line == import.at.line)
            .filter_map(|edge| edge.to.symbol())
            .filter_map(|to| self.snapshot.symbol(to))
            .find(|to| {
                import
                    .member
                    .is_none_or(|member| to.is_file() || to.name() == self.source.facts.text(member))
            });
        match symbol {
            Some(symbol) => Some(Target {
                file: Some(symbol.file_id()),
                module: String::new(),
                name: if symbol.is_file() {
                    String::new()
                } else {
                    symbol.name().to_string()
                },
            }),
            None => Some(Target {
                file: None,
                module: self.source.facts.text(import.module).to_string(),
                name: import
                    .member
                    .map_or(String::new(), |member| self.source.facts.text(member).to_string()),
            }),
        }
    }
}

/// The names in a macro that lists handlers: `routes![world, posts::index]`.
fn listed(value: &str) -> Option<Vec<String>> {
    let (_, list) = value.split_once("![")?;
    let names = list.trim_end().strip_suffix(']')?.split(',').map(str::trim);
    Some(names.filter(|name| !name.is_empty()).map(str::to_string).collect())
}
