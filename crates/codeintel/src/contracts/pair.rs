//! Brings the two sides of contracts together, over all repositories of a workspace.
//!
//! A request finds its route by method and path, parameters being equal whatever their names. Where the front of its path is
//! computed, a route that ends with it is taken if there is only one; a literal fits a parameter where nothing fits better.

use std::collections::BTreeMap;

use wire::answers::{Contract, Orphan};

use super::grpc::folded;
use super::route::key;
use super::rules::Kind;
use super::{Endpoint, Role};
use crate::workspace::{SymbolKey, Workspace};

/// A contract with both sides.
#[derive(Debug, Clone)]
pub(super) struct Pair {
    pub(super) kind: Kind,
    method: String,
    pub(super) path: String,
    service: String,
    providers: Vec<End>,
    consumers: Vec<End>,
}

/// Someone on one side.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct End {
    repository: usize,
    /// Where it is, in its repository.
    place: String,
    symbol: Option<SymbolKey>,
}

/// Every pair of symbols that a contract joins: who uses it, who provides it.
pub(crate) fn links(workspace: &Workspace) -> Vec<(SymbolKey, SymbolKey)> {
    let mut found = Vec::new();
    for pair in pairs(workspace).iter().filter(|pair| pair.kind != Kind::Env) {
        for consumer in pair.consumers.iter().filter_map(|end| end.symbol) {
            for provider in pair.providers.iter().filter_map(|end| end.symbol) {
                if consumer != provider {
                    found.push((consumer, provider));
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

impl Pair {
    /// `http::GET::/users/{id}`, `topic::orders`.
    fn id(&self) -> String {
        match self.method.as_str() {
            "" => format!("{}::{}", self.kind.as_str(), self.path),
            method if self.kind == Kind::Grpc => format!("grpc::{}::{method}", self.path),
            method => format!("{}::{method}::{}", self.kind.as_str(), self.path),
        }
    }

    pub(super) fn row(&self, workspace: &Workspace) -> Contract {
        let say = |ends: &[End]| {
            ends.iter()
                .map(|end| workspace.path(end.repository, &end.place))
                .collect()
        };
        let of_provider = self
            .providers
            .first()
            .and_then(|end| workspace.repository(end.repository))
            .map(|repository| repository.name.clone());
        Contract {
            id: self.id(),
            contract_type: self.kind.as_str().to_string(),
            method: (!self.method.is_empty()).then(|| self.method.clone()),
            path: self.path.clone(),
            service: match self.service.as_str() {
                "" => of_provider.unwrap_or_default(),
                service => service.to_string(),
            },
            providers: say(&self.providers),
            consumers: say(&self.consumers),
        }
    }

    /// Its ends, where they are all on one side.
    pub(super) fn orphans(&self, workspace: &Workspace) -> Vec<Orphan> {
        let (side, ends) = match (self.providers.as_slice(), self.consumers.as_slice()) {
            (providers, []) => ("provider", providers),
            ([], consumers) => ("consumer", consumers),
            _ => return Vec::new(),
        };
        ends.iter()
            .map(|end| Orphan {
                contract_id: self.id(),
                side: side.to_string(),
                repo: workspace
                    .repository(end.repository)
                    .map_or(String::new(), |repository| repository.name.clone()),
                symbol: workspace.path(end.repository, &end.place),
            })
            .collect()
    }
}

/// All contracts, by kind, path and method.
pub(super) fn pairs(workspace: &Workspace) -> Vec<Pair> {
    let mut table: BTreeMap<(Kind, String, String), Pair> = BTreeMap::new();
    let all: Vec<(usize, &Endpoint)> = workspace
        .repositories()
        .iter()
        .enumerate()
        .flat_map(|(number, repository)| {
            repository
                .offers()
                .endpoints
                .iter()
                .map(move |endpoint| (number, endpoint))
        })
        .collect();
    for (number, endpoint) in all.iter().filter(|(_, endpoint)| endpoint.role == Role::Provider) {
        let end = end(workspace, *number, endpoint);
        add(
            &mut table,
            endpoint,
            &endpoint.method.clone(),
            &compared(endpoint),
            true,
            end,
        );
    }
    for (number, repository) in workspace.repositories().iter().enumerate() {
        for (name, path, line) in &repository.offers().set {
            let pair = table
                .entry((Kind::Env, name.clone(), String::new()))
                .or_insert_with(|| empty(Kind::Env, "", name, ""));
            pair.providers.push(End {
                repository: number,
                place: format!("{path}:{line}"),
                symbol: None,
            });
        }
    }
    let routes = Routes::of(&table);
    for (number, endpoint) in all.iter().filter(|(_, endpoint)| endpoint.role == Role::Consumer) {
        let end = end(workspace, *number, endpoint);
        let (path, method) = match endpoint.kind {
            Kind::Http => routes
                .find(endpoint)
                .unwrap_or_else(|| (compared(endpoint), endpoint.method.clone())),
            _ => (compared(endpoint), endpoint.method.clone()),
        };
        add(&mut table, endpoint, &method, &path, false, end);
    }
    remote_procedures(workspace, &mut table);
    let mut pairs: Vec<Pair> = table.into_values().collect();
    for pair in &mut pairs {
        for ends in [&mut pair.providers, &mut pair.consumers] {
            ends.sort();
            ends.dedup();
        }
    }
    pairs.sort_by(|a, b| (a.kind, &a.path, &a.method).cmp(&(b.kind, &b.path, &b.method)));
    pairs
}

fn empty(kind: Kind, method: &str, path: &str, service: &str) -> Pair {
    Pair {
        kind,
        method: method.to_string(),
        path: path.to_string(),
        service: service.to_string(),
        providers: Vec::new(),
        consumers: Vec::new(),
    }
}

fn add(
    table: &mut BTreeMap<(Kind, String, String), Pair>,
    endpoint: &Endpoint,
    method: &str,
    path: &str,
    is_provider: bool,
    end: End,
) {
    let pair = table
        .entry((endpoint.kind, path.to_string(), method.to_string()))
        .or_insert_with(|| empty(endpoint.kind, method, &endpoint.path, &endpoint.service));
    match is_provider {
        true => pair.providers.push(end),
        false => pair.consumers.push(end),
    }
}

/// What is compared: a route without the names of its parameters, a name as it is.
fn compared(endpoint: &Endpoint) -> String {
    match endpoint.kind {
        Kind::Http => key(&endpoint.path),
        _ => endpoint.path.clone(),
    }
}

fn end(workspace: &Workspace, repository: usize, endpoint: &Endpoint) -> End {
    let symbol = endpoint.symbol.map(|symbol| SymbolKey { repository, symbol });
    let view = symbol.and_then(|symbol| workspace.symbol(symbol));
    let place = match view {
        Some(view) if !view.is_file() => view.id_string(),
        // A file says little: the line is given with it.
        Some(view) => format!("{}:{}", view.path(), endpoint.line),
        None => String::new(),
    };
    End {
        repository,
        place,
        symbol,
    }
}

/// The routes that are provided, by path.
struct Routes {
    by_path: BTreeMap<String, Vec<String>>,
}

impl Routes {
    fn of(table: &BTreeMap<(Kind, String, String), Pair>) -> Routes {
        let mut by_path: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for (kind, path, method) in table.keys() {
            if *kind == Kind::Http {
                by_path.entry(path.clone()).or_default().push(method.clone());
            }
        }
        Routes { by_path }
    }

    /// The path and method of the route that a request means.
    fn find(&self, request: &Endpoint) -> Option<(String, String)> {
        let wanted = key(&request.path);
        let of = |path: &str| {
            let methods = self.by_path.get(path)?;
            let exact = methods.iter().find(|method| **method == request.method);
            let any = methods
                .iter()
                .find(|method| *method == "ANY" || request.method == "ANY");
            Some((path.to_string(), exact.or(any)?.clone()))
        };
        // A page of some host is no route of ours.
        if wanted == "/" && request.service.contains('.') {
            return None;
        }
        if let Some(found) = of(&wanted) {
            return Some(found);
        }
        let segments: Vec<&str> = wanted.split('/').skip(1).collect();
        let mut fits: Vec<(usize, (String, String))> = self
            .by_path
            .keys()
            .filter_map(|path| Some((literal_parts(path, &segments)?, of(path)?)))
            .collect();
        fits.sort_by(|a, b| b.0.cmp(&a.0).then_with(|| a.1.cmp(&b.1)));
        if let Some((_, found)) = fits.into_iter().next() {
            return Some(found);
        }
        if !request.open || wanted == "/" {
            return None;
        }
        let mut longer = self
            .by_path
            .keys()
            .filter(|path| path.ends_with(&wanted))
            .filter_map(|path| of(path));
        let found = longer.next()?;
        longer.next().is_none().then_some(found)
    }
}

/// How many parts of a route a request names literally, where it fits it with literals in the place of parameters.
fn literal_parts(route: &str, request: &[&str]) -> Option<usize> {
    let route: Vec<&str> = route.split('/').skip(1).collect();
    if route.len() != request.len() {
        return None;
    }
    let mut literal = 0;
    for (have, want) in route.iter().zip(request) {
        match (*have == *want, *have) {
            (true, "{}") => {}
            (true, _) => literal += 1,
            (false, "{}") => {}
            (false, _) => return None,
        }
    }
    (literal > 0).then_some(literal)
}

/// gRPC is paired by the names that generators derive from services.
fn remote_procedures(workspace: &Workspace, table: &mut BTreeMap<(Kind, String, String), Pair>) {
    let place = |repository: usize, symbol| {
        let key = SymbolKey { repository, symbol };
        Some(End {
            repository,
            place: workspace.symbol(key)?.id_string(),
            symbol: Some(key),
        })
    };
    for (declaring, of) in workspace.repositories().iter().enumerate() {
        for service in &of.offers().services {
            for (method, declared) in &service.methods {
                let wanted = folded(method);
                let (mut providers, mut consumers) = (Vec::new(), Vec::new());
                for (number, repository) in workspace.repositories().iter().enumerate() {
                    let offers = repository.offers();
                    for implementer in offers
                        .implementers
                        .iter()
                        .filter(|of| of.bases.iter().any(|base| service.is_base(base)))
                    {
                        let fitting = implementer.methods.iter().filter(|(name, _)| *name == wanted);
                        providers.extend(fitting.filter_map(|(_, symbol)| place(number, *symbol)));
                    }
                    for caller in offers
                        .callers
                        .iter()
                        .filter(|of| of.makers.iter().any(|maker| service.is_stub(maker)))
                    {
                        let fitting = caller.calls.iter().filter(|call| call.method == wanted);
                        let fitting = fitting.filter(|call| service.is_called(call));
                        consumers.extend(fitting.filter_map(|call| place(number, call.from)));
                    }
                }
                // What nobody here implements is offered by whoever declares it.
                if providers.is_empty() {
                    providers.extend(place(declaring, *declared));
                }
                consumers.retain(|consumer| !providers.contains(consumer));
                let pair = table
                    .entry((Kind::Grpc, service.full_name.clone(), method.clone()))
                    .or_insert_with(|| empty(Kind::Grpc, method, &service.full_name, &service.full_name));
                pair.providers.extend(providers);
                pair.consumers.extend(consumers);
            }
        }
    }
}
