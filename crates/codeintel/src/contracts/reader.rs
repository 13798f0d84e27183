//! What one source file offers and uses, by the rules of its language.
//!
//! A route's path is put together from what the file says around it: scopes that enclose it, routers it is said to, the type
//! that holds it. What other files put before it is a [`Mount`], applied when all files are read.

use index::snapshot::{EdgeEnd, FileView, Snapshot, SymbolId};
use syntax::facts::{Expression, ExpressionId, Kind as DefinitionKind, Position};

use super::arguments::{self, Part, Template, strings, template};
use super::methods::expanded;
use super::route::{Route, canonical, join};
use super::rules::{Kind, On, Rule, Side, Table, VERBS};
use super::sites::{Site, Source};
use super::{Endpoint, Mount, Reading, Role};

/// Deepest chain of routers made from routers.
pub(super) const MAX_CHAIN: usize = 12;

/// Reads one file.
pub(super) fn read(table: &Table, source: &Source<'_>, snapshot: &Snapshot, file: FileView<'_>) -> Reading {
    let active = active(table, source.text);
    if active.is_empty() {
        return Reading::default();
    }
    let wanted = |name: &str| {
        active.iter().any(|rule| {
            rule.method_of(name).is_some()
                || rule.after == name
                || rule.path_decorator == name
                || rule.client_class.iter().any(|class| class == name)
        })
    };
    let reader = Reader {
        sites: source.sites(&wanted),
        source,
        snapshot,
        file,
        active,
    };
    let mut reading = reader.read();
    if let Some(under) = table.file.iter().find(|under| file.path().ends_with(&under.ends)) {
        for endpoint in reading
            .endpoints
            .iter_mut()
            .filter(|endpoint| endpoint.role == Role::Provider)
        {
            endpoint.path = join(&under.prefix, &endpoint.path);
        }
    }
    reading
}

/// The rules that can be about a text.
pub(super) fn active<'r>(table: &'r Table, text: &str) -> Vec<&'r Rule> {
    let needed = |rule: &&Rule| rule.needs.iter().any(|word| contains(text, word));
    table.rule.iter().filter(needed).collect()
}

fn contains(text: &str, word: &str) -> bool {
    memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some()
}

/// One file while it is read.
pub(super) struct Reader<'a, 'r> {
    pub(super) sites: Vec<Site<'a>>,
    pub(super) source: &'r Source<'a>,
    pub(super) snapshot: &'r Snapshot,
    pub(super) file: FileView<'r>,
    pub(super) active: Vec<&'r Rule>,
}

impl<'a> Reader<'a, '_> {
    fn read(&self) -> Reading {
        let mut reading = Reading::default();
        for site in &self.sites {
            let mut rules = self.active.iter().copied().filter(|rule| rule.side != Side::Scope);
            let found = rules.find_map(|rule| self.apply(site, rule));
            match found {
                Some(Found::Endpoints(endpoints)) => reading.endpoints.extend(endpoints),
                Some(Found::Mount(mount)) => reading.mounts.push(mount),
                Some(Found::Computed) => reading.computed += 1,
                None => {}
            }
        }
        reading
    }

    /// What a rule makes of a site; `None` when it is not about it.
    fn apply(&self, site: &Site<'a>, rule: &Rule) -> Option<Found> {
        let named = rule.method_of(site.name)?;
        if !self.fits(site, rule) {
            return None;
        }
        if rule.side == Side::Mount {
            return self.mount(site, rule).map(Found::Mount);
        }
        if rule.resources.is_empty() && rule.kind == Kind::Topic {
            return Some(self.topics(site, rule));
        }
        let (text, mut methods) = match self.path(site, rule)? {
            Path::Known(template, methods) => (template, methods),
            Path::Computed => return Some(Found::Computed),
        };
        let Some(mut route) = Route::of(&text) else {
            return Some(Found::Computed);
        };
        if rule.side == Side::Consumer
            && !text
                .parts
                .iter()
                .any(|part| matches!(part, Part::Text(text) if text.contains('/')))
        {
            return Some(Found::Computed);
        }
        if methods.is_empty() {
            methods = self.methods(site, rule, named);
        }
        let role = match rule.side {
            Side::Consumer => Role::Consumer,
            _ if self.is_client(site, rule) => Role::Consumer,
            _ => Role::Provider,
        };
        let (prefix, prefix_host) = self.prefix(site);
        let absolute = route.path.starts_with("/~") || (site.decorates.is_some() && self.is_absolute(site, &text));
        if route.host.is_none() && !absolute {
            route.path = join(&prefix, &route.path);
            route.host = prefix_host;
        }
        route.path = self.filled_in(site, &route.path);
        // A relative address of a client is joined to a base that is not seen here.
        let relative = role == Role::Consumer && route.host.is_none() && !starts_with_slash(&text) && prefix.is_empty();
        let mut endpoints = Vec::new();
        for (method, path) in expanded(rule, site, &route.path, &methods) {
            endpoints.push(Endpoint {
                kind: Kind::Http,
                role,
                path,
                service: route.host.clone().unwrap_or_default(),
                open: route.open || relative,
                symbol: self.symbol(
                    site,
                    role,
                    Some(method.as_str()).filter(|_| !rule.method_calls.is_empty()),
                ),
                line: self.line(site),
                spoken_to: self.spoken_to(site),
                within: self.within(site),
                file: self.file.id(),
                method,
            });
        }
        Some(Found::Endpoints(endpoints))
    }

    /// Whether a site is what a rule is about, its path apart.
    pub(super) fn fits(&self, site: &Site<'a>, rule: &Rule) -> bool {
        let kind = site
            .decorates
            .and_then(|id| self.source.facts.definitions.get(id.index()))
            .map(|found| found.kind);
        let placed = match rule.on {
            On::Call => kind.is_none(),
            On::New => site.is_new || kind.is_none(),
            On::Decorator => kind.is_some_and(|kind| !is_type(kind)),
            On::Class => kind.is_some_and(is_type),
        };
        if !placed || site.arguments.items.len() < rule.arguments {
            return false;
        }
        let receiver = self.source.receiver(site.callee);
        if !rule.after.is_empty() && !receiver.is_some_and(|object| self.chain_has(object, &rule.after)) {
            return false;
        }
        let names = receiver.map(|object| self.source.known_as(object)).unwrap_or_default();
        let ends = |words: &[String]| {
            names.iter().any(|name| {
                let name = name.to_ascii_lowercase();
                words
                    .iter()
                    .filter(|word| !word.is_empty())
                    .any(|word| name.ends_with(&word.to_ascii_lowercase()))
            })
        };
        if ends(&rule.not) {
            return false;
        }
        if !rule.receivers.is_empty() {
            let bare = rule.receivers.iter().any(String::is_empty) && receiver.is_none();
            if !bare && !ends(&rule.receivers) {
                return false;
            }
        }
        if rule.block && self.source.text.as_bytes().get(site.arguments.end.saturating_sub(1)) != Some(&b'}') {
            return false;
        }
        if rule.handler {
            let last = site.arguments.items.last().map_or("", |argument| argument.value);
            if site.arguments.items.len() < 2 || last.starts_with(['{', '"', '\'', '`']) {
                return false;
            }
        }
        true
    }

    /// Whether one of the calls that made a receiver has this name.
    fn chain_has(&self, mut expression: ExpressionId, name: &str) -> bool {
        for _ in 0..MAX_CHAIN {
            let (Expression::Call { callee: of, .. } | Expression::New { type_: of, .. }) =
                *self.source.facts.expression(expression)
            else {
                return false;
            };
            if self.source.name_of(of) == name {
                return true;
            }
            match self.source.receiver(of) {
                Some(object) => expression = object,
                None => return false,
            }
        }
        false
    }

    /// The path as written, and the methods where they are written into it.
    pub(super) fn path(&self, site: &Site<'a>, rule: &Rule) -> Option<Path> {
        let mut value = rule.path.iter().find_map(|place| site.arguments.get(place));
        let other;
        if !rule.path_decorator.is_empty()
            && value.is_none_or(|value| strings(value).is_empty())
            && let Some(id) = site.decorates
        {
            other = self
                .sites
                .iter()
                .find(|other| other.decorates == Some(id) && other.name == rule.path_decorator);
            value = other.and_then(|other| other.arguments.get("0").or_else(|| other.arguments.get("value")));
        }
        let nothing = || Template {
            parts: vec![Part::Text(String::new())],
        };
        let Some(value) = value else {
            return rule.pathless.then(|| Path::Known(nothing(), Vec::new()));
        };
        if rule.symbols
            && let Some(name) = value.strip_prefix(':')
        {
            let parts = vec![Part::Text(format!("/{name}"))];
            return Some(Path::Known(Template { parts }, Vec::new()));
        }
        // An annotation may list several paths; the first stands for them.
        let first = arguments::object(value).and_then(|list| list.first().map(|first| first.value));
        let value = match (rule.on, first) {
            (On::Decorator | On::Class, Some(first)) => first,
            _ => value,
        };
        let known = |name: &str| self.source.constant(name);
        let Some(mut text) = template(value, &known) else {
            let is_empty = strings(value).iter().any(String::is_empty);
            return match (rule.pathless, rule.side) {
                (true, _) if is_empty || rule.on == On::Call => Some(Path::Known(nothing(), Vec::new())),
                _ if is_empty => Some(Path::Known(nothing(), Vec::new())),
                (_, Side::Consumer) if !rule.url => Some(Path::Computed),
                (_, Side::Provider) if !rule.slash => Some(Path::Computed),
                _ => None,
            };
        };
        let mut methods = Vec::new();
        if rule.verb_in_path
            && let Some(Part::Text(first)) = text.parts.first_mut()
            && let Some((verb, rest)) = first.split_once(' ')
            && VERBS.contains(&verb)
        {
            methods.push(verb.to_string());
            *first = rest.trim_start().to_string();
        }
        let starts = match text.parts.first() {
            Some(Part::Text(first)) => first.as_str(),
            _ => "",
        };
        let opens_with_hole = starts.is_empty() && text.parts.len() > 1;
        let looks_like_address = starts.starts_with('/') || starts.contains("://") || opens_with_hole;
        if (rule.slash && !starts.starts_with('/'))
            || (rule.url && !looks_like_address && !starts.contains('/'))
            || (rule.absolute && !starts.contains("://"))
        {
            return None;
        }
        Some(Path::Known(text, methods))
    }

    fn is_client(&self, site: &Site<'a>, rule: &Rule) -> bool {
        let Some(id) = site.decorates.filter(|_| !rule.client_class.is_empty()) else {
            return false;
        };
        self.source.around(id).skip(1).any(|(id, _)| {
            let mut decorators = self.sites.iter().filter(|other| other.decorates == Some(id));
            decorators.any(|other| rule.client_class.iter().any(|class| class == other.name))
        })
    }

    /// ASP.NET: a template that starts with a slash replaces that of its type.
    fn is_absolute(&self, site: &Site<'a>, text: &Template) -> bool {
        self.file.language() == "csharp" && site.decorates.is_some() && starts_with_slash(text)
    }

    /// ASP.NET's tokens: `[controller]` is the type without its ending, `[action]` the method.
    fn filled_in(&self, site: &Site<'a>, path: &str) -> String {
        let path = path.trim_start_matches("/~");
        if self.file.language() != "csharp" || !path.contains('{') {
            return canonical(path);
        }
        let names: Vec<(&str, bool)> = site
            .decorates
            .into_iter()
            .flat_map(|id| self.source.around(id))
            .map(|(_, definition)| (self.source.facts.text(definition.name), is_type(definition.kind)))
            .collect();
        let class = names.iter().find(|(_, is_type)| *is_type).map_or("", |(name, _)| name);
        let method = names.first().map_or("", |(name, _)| name);
        let class = class.strip_suffix("Controller").unwrap_or(class);
        canonical(&path.replace("{controller}", class).replace("{action}", method))
    }

    /// The variable or function that a route is said to, by which another file may mount it.
    pub(super) fn spoken_to(&self, site: &Site<'a>) -> String {
        let mut expression = self.source.receiver(site.callee);
        for _ in 0..MAX_CHAIN {
            match expression.map(|id| (id, *self.source.facts.expression(id))) {
                Some((_, Expression::Call { callee, .. })) => expression = self.source.receiver(callee),
                Some((id, Expression::Bound { .. } | Expression::Member { .. })) => {
                    return self.source.name_of(id).to_string();
                }
                _ => break,
            }
        }
        String::new()
    }

    /// The function that a site stands in, by which another may mount what it returns.
    pub(super) fn within(&self, site: &Site<'a>) -> String {
        let around = self.snapshot.symbol_at(self.file.id(), site.line);
        around
            .filter(|symbol| !symbol.is_file())
            .map_or(String::new(), |symbol| symbol.name().to_string())
    }

    fn topics(&self, site: &Site<'a>, rule: &Rule) -> Found {
        let value = rule.path.iter().find_map(|place| site.arguments.get(place));
        let known = |name: &str| self.source.constant(name);
        let single = value.and_then(|value| template(value, &known));
        let mut names: Vec<String> = match (value, single) {
            (Some(value), _)
                if value.starts_with(['[', '{']) || value.contains("Of(") || value.starts_with("List.") =>
            {
                strings(value)
            }
            (_, Some(text)) => vec![said(&text)],
            (Some(value), None) => strings(value),
            (None, None) => Vec::new(),
        };
        if rule.queue_url {
            names = names
                .iter()
                .map(|name| name.rsplit('/').next().unwrap_or(name).to_string())
                .collect();
        }
        names.retain(|name| !name.trim_matches(['{', '}']).is_empty() && !name.contains(char::is_whitespace));
        if names.is_empty() {
            return Found::Computed;
        }
        let role = match rule.side {
            Side::Provider => Role::Provider,
            _ => Role::Consumer,
        };
        let endpoint = |name: String| Endpoint {
            kind: Kind::Topic,
            role,
            method: String::new(),
            path: name,
            service: String::new(),
            open: false,
            symbol: self.symbol(site, Role::Consumer, None),
            line: self.line(site),
            spoken_to: String::new(),
            within: String::new(),
            file: self.file.id(),
        };
        Found::Endpoints(names.into_iter().map(endpoint).collect())
    }

    /// The symbol that stands for a site: what it decorates, what handles it, what it stands in.
    pub(super) fn symbol(&self, site: &Site<'a>, role: Role, verb: Option<&str>) -> Option<SymbolId> {
        let around = self.snapshot.symbol_at(self.file.id(), self.line(site))?;
        if site.decorates.is_some() || role == Role::Consumer {
            return Some(around.id());
        }
        let mut found = self.handlers(site);
        // A view that is made of a class is that class, not the method of its base that makes it.
        let is_made = |id: SymbolId| {
            self.snapshot
                .symbol(id)
                .is_some_and(|symbol| symbol.name() == "as_view")
        };
        if found.iter().any(|(_, id)| !is_made(*id)) {
            found.retain(|(_, id)| !is_made(*id));
        }
        // Where each method names its handler, the one behind the method's name is meant.
        let named = verb.and_then(|verb| {
            let text = &self.source.text[site.start..site.arguments.end];
            let at = site.start + text.to_ascii_uppercase().find(&format!("{verb}("))?;
            found.iter().find(|(place, _)| {
                self.source
                    .offset(*place)
                    .is_some_and(|offset| offset > at + verb.len())
            })
        });
        Some(named.or(found.last()).map_or(around.id(), |(_, id)| *id))
    }

    /// The functions, methods and classes of the tree that the arguments of a call name, in source order.
    pub(super) fn handlers(&self, site: &Site<'a>) -> Vec<(Position, SymbolId)> {
        let last = self.source.line(site.arguments.end);
        let kinds = index::model::EdgeKind::Calls | index::model::EdgeKind::References | index::model::EdgeKind::Reads;
        let handlers = self.snapshot.edges_of_file(self.file.id(), kinds).filter(|edge| {
            let at = self.source.offset(edge.at).unwrap_or(0);
            edge.at.line >= site.line
                && edge.at.line <= last
                && at > site.start + site.name.len()
                && at < site.arguments.end
        });
        let function = |edge: index::snapshot::EdgeView| match edge.to {
            EdgeEnd::Symbol(to) => self.snapshot.symbol(to).filter(|to| {
                matches!(
                    to.kind(),
                    DefinitionKind::Function | DefinitionKind::Method | DefinitionKind::Class
                )
            }),
            EdgeEnd::External(_) => None,
        };
        let mut found: Vec<_> = handlers
            .filter_map(|edge| Some((edge.at, function(edge)?.id())))
            .collect();
        found.sort();
        found
    }

    fn line(&self, site: &Site<'a>) -> u32 {
        match site
            .decorates
            .and_then(|id| self.source.facts.definitions.get(id.index()))
        {
            Some(definition) => definition.name_at.line,
            None => site.line,
        }
    }
}

enum Found {
    Endpoints(Vec<Endpoint>),
    Mount(Mount),
    Computed,
}

/// What is known of a path.
pub(super) enum Path {
    Known(Template, Vec<String>),
    Computed,
}

fn is_type(kind: DefinitionKind) -> bool {
    matches!(
        kind,
        DefinitionKind::Class
            | DefinitionKind::Struct
            | DefinitionKind::Interface
            | DefinitionKind::Trait
            | DefinitionKind::Enum
    )
}

fn starts_with_slash(text: &Template) -> bool {
    matches!(text.parts.first(), Some(Part::Text(first)) if first.starts_with(['/', '~']))
}

/// A template as a name, with its holes.
fn said(text: &Template) -> String {
    let parts = text.parts.iter().map(|part| match part {
        Part::Text(text) => text.clone(),
        Part::Hole(name) => format!("{{{name}}}"),
    });
    parts.collect()
}
