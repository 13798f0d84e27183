//! What is said around a route: blocks that enclose it, routers it is said to, the type that holds it.

use syntax::facts::{DefinitionId, Expression, ExpressionId};

use super::methods::chain_end;
use super::reader::{MAX_CHAIN, Path, Reader};
use super::route::{Route, join};
use super::rules::Side;
use super::sites::Site;

impl<'a> Reader<'a, '_> {
    /// What is said around a site, from the outside in; with the host, where a client's base names one.
    pub(super) fn prefix(&self, site: &Site<'a>) -> (String, Option<String>) {
        let mut scopes: Vec<&Site<'a>> = Vec::new();
        if let Some(id) = site.decorates {
            // The types around a decorated method, the outermost first.
            let around: Vec<DefinitionId> = self.source.around(id).skip(1).map(|(id, _)| id).collect();
            for id in around.into_iter().rev() {
                scopes.extend(
                    self.sites
                        .iter()
                        .filter(|other| other.decorates == Some(id) && self.scope_path(other).is_some()),
                );
            }
        }
        for other in self.sites.iter().filter(|other| other.start < site.start) {
            if self.extent(other) > site.start && self.scope_path(other).is_some() && other.decorates.is_none() {
                self.receiver_scopes(other, &mut scopes, 0);
                scopes.push(other);
            }
        }
        self.receiver_scopes(site, &mut scopes, 0);
        let mut seen: Vec<usize> = Vec::new();
        let (mut path, mut host) = (String::new(), None);
        for scope in scopes {
            if seen.contains(&scope.start) {
                continue;
            }
            seen.push(scope.start);
            if let Some(route) = self.scope_path(scope) {
                host = route.host.or(host);
                path = join(&path, &route.path);
            }
        }
        (if path == "/" { String::new() } else { path }, host)
    }

    /// The scopes that made the receiver of a site.
    fn receiver_scopes<'s>(&'s self, site: &Site<'a>, found: &mut Vec<&'s Site<'a>>, depth: usize) {
        if let Some(object) = self.source.receiver(site.callee) {
            self.scopes_of(object, found, depth);
        }
    }

    fn scopes_of<'s>(&'s self, expression: ExpressionId, found: &mut Vec<&'s Site<'a>>, depth: usize) {
        if depth > MAX_CHAIN {
            return;
        }
        match *self.source.facts.expression(expression) {
            Expression::Call { callee: of, .. } | Expression::New { type_: of, .. } => {
                if let Some(object) = self.source.receiver(of) {
                    self.scopes_of(object, found, depth + 1);
                }
                found.extend(
                    self.sites
                        .iter()
                        .filter(|site| site.callee == of && self.scope_path(site).is_some()),
                );
            }
            Expression::Unwrap(inner) | Expression::Wrapped(inner) => self.scopes_of(inner, found, depth + 1),
            _ => {
                if let Some(value) = self.source.value_of(expression) {
                    self.scopes_of(value, found, depth + 1);
                }
            }
        }
    }

    /// The prefix that a site is, if it is one.
    fn scope_path(&self, site: &Site<'a>) -> Option<Route> {
        self.active.iter().find_map(|rule| {
            rule.method_of(site.name)?;
            let nests = rule.side == Side::Provider && rule.resources == "rails" && rule.symbols;
            if (rule.side != Side::Scope && !nests) || !self.fits(site, rule) {
                return None;
            }
            match self.path(site, rule) {
                Some(Path::Known(text, _)) => {
                    let mut route = Route::of(&text)?;
                    if nests {
                        let name = route
                            .path
                            .rsplit('/')
                            .next()
                            .unwrap_or("")
                            .trim_end_matches('s')
                            .to_string();
                        route.path = format!("{}/{{{name}_id}}", route.path);
                    }
                    Some(route)
                }
                // A group without a prefix of its own still passes on what its receiver says.
                _ => Some(Route::default()),
            }
        })
    }

    /// One past what a scope encloses.
    fn extent(&self, site: &Site<'a>) -> usize {
        let chained = self
            .active
            .iter()
            .any(|rule| rule.chain_extent && rule.method_of(site.name).is_some());
        if chained {
            return chain_end(self.source.text, site.arguments.end);
        }
        let block = self.source.block_behind(site.start, site.arguments.end);
        block.unwrap_or(0).max(site.arguments.end)
    }
}
