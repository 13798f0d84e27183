//! gRPC: what `.proto` files declare, which types implement it, and who calls it through a generated stub.
//!
//! Generators derive the names of servers and stubs from the service's, so both are found by name, in whatever repository.

use index::snapshot::{FileView, Snapshot, SymbolId};
use syntax::FileFacts;
use syntax::facts::{Kind, Role};

use super::sites::Source;

/// A service of a `.proto` file.
#[derive(Debug, Clone)]
pub(super) struct Service {
    /// With its package.
    pub(super) full_name: String,
    pub(super) name: String,
    /// Its methods and where they are declared.
    pub(super) methods: Vec<(String, SymbolId)>,
}

/// A type that may implement a service.
#[derive(Debug, Clone)]
pub(super) struct Implementer {
    pub(super) bases: Vec<String>,
    pub(super) methods: Vec<(String, SymbolId)>,
}

/// A file that may call services.
#[derive(Debug, Clone)]
pub(super) struct Caller {
    /// Names of what makes stubs.
    pub(super) makers: Vec<String>,
    /// What is called on something.
    pub(super) calls: Vec<Call>,
}

/// A call of a method.
#[derive(Debug, Clone)]
pub(super) struct Call {
    /// Its name, folded.
    pub(super) method: String,
    /// Names that tell what it is called on: its own, and those of what made it.
    pub(super) on: Vec<String>,
    /// Who calls.
    pub(super) from: SymbolId,
}

/// Words without which a file has nothing to do with gRPC.
pub(super) const NEEDS: &[&str] = &["grpc", "Grpc", "Unimplemented", "tonic", "ImplBase", "_pb"];

/// The services that a `.proto` file declares.
pub(super) fn services(facts: &FileFacts, file: FileView<'_>) -> Vec<Service> {
    let package = facts.package.map_or("", |package| facts.text(package));
    let symbols: Vec<_> = file.symbols().collect();
    symbols
        .iter()
        .filter(|symbol| !symbol.is_file() && symbol.kind() == Kind::Interface)
        .map(|service| Service {
            full_name: match package {
                "" => service.name().to_string(),
                package => format!("{package}.{}", service.name()),
            },
            name: service.name().to_string(),
            methods: symbols
                .iter()
                .filter(|symbol| {
                    matches!(symbol.kind(), Kind::Method | Kind::Function)
                        && symbol.parent().is_some_and(|parent| parent.id() == service.id())
                })
                .map(|method| (method.name().to_string(), method.id()))
                .collect(),
        })
        .collect()
}

/// The types of a file that have bases, with their methods.
pub(super) fn implementers(source: &Source<'_>, snapshot: &Snapshot, file: FileView<'_>) -> Vec<Implementer> {
    let facts = source.facts;
    let mut found = Vec::new();
    for definition in facts
        .definitions
        .iter()
        .filter(|definition| !definition.bases.is_empty())
    {
        let bases: Vec<String> = definition
            .bases
            .iter()
            .map(|base| source.name_of(base.type_).to_string())
            .filter(|name| !name.is_empty())
            .collect();
        let name = facts.text(definition.name);
        let methods = facts
            .definitions
            .iter()
            .filter(|member| matches!(member.kind, Kind::Method | Kind::Function))
            .filter(|member| {
                let parent = member.parent.and_then(|parent| facts.definitions.get(parent.index()));
                let owner = member.owner.map_or("", |owner| source.name_of(owner));
                parent.is_some_and(|parent| std::ptr::eq(parent, definition)) || (!name.is_empty() && owner == name)
            })
            .filter_map(|member| {
                let symbol = snapshot.symbol_at(file.id(), member.name_at.line)?;
                Some((folded(facts.text(member.name)), symbol.id()))
            })
            .collect();
        found.push(Implementer { bases, methods });
    }
    found
}

/// What a file calls, if it makes stubs.
pub(super) fn caller(source: &Source<'_>, snapshot: &Snapshot, file: FileView<'_>) -> Option<Caller> {
    let mut makers = Vec::new();
    let mut calls = Vec::new();
    for reference in &source.facts.references {
        if !matches!(reference.role, Role::Call | Role::Instantiate) {
            continue;
        }
        let name = source.name_of(reference.expression);
        let object = source.receiver(reference.expression);
        let receiver = object.map_or("", |object| source.name_of(object));
        for word in [name, receiver] {
            if ["Stub", "Client", "Grpc"].iter().any(|end| word.ends_with(end)) {
                makers.push(word.to_string());
            }
        }
        if let Some(object) = object
            && let Some(symbol) = snapshot.symbol_at(file.id(), reference.at.line)
        {
            calls.push(Call {
                method: folded(name),
                on: source.known_as(object).into_iter().map(str::to_string).collect(),
                from: symbol.id(),
            });
        }
    }
    makers.sort();
    makers.dedup();
    (!makers.is_empty()).then_some(Caller { makers, calls })
}

impl Service {
    /// Whether a base is one that a generator makes for the service.
    pub(super) fn is_base(&self, base: &str) -> bool {
        let name = self.name.as_str();
        base == name
            || base == format!("Unimplemented{name}Server")
            || ["Servicer", "ImplBase", "Base", "Server", "CoroutineImplBase"]
                .iter()
                .any(|end| base.strip_suffix(end) == Some(name))
    }

    /// Whether a call is one of this service, in a file that makes a stub for it: on what made the stub, or on something called
    /// client or stub. A method of the same name on anything else is another.
    pub(super) fn is_called(&self, call: &Call) -> bool {
        let is_named = |name: &str| {
            let name = name.to_ascii_lowercase();
            name.ends_with("client") || name.ends_with("stub")
        };
        call.on.iter().any(|name| self.is_stub(name)) || call.on.first().is_some_and(|name| is_named(name))
    }

    /// Whether a name is that of something that makes a stub for the service.
    pub(super) fn is_stub(&self, maker: &str) -> bool {
        let name = self.name.as_str();
        let maker = maker.strip_prefix("New").unwrap_or(maker);
        ["Stub", "Client", "Grpc", "CoroutineStub", "BlockingStub"]
            .iter()
            .any(|end| maker.strip_suffix(end) == Some(name))
    }
}

/// `SayHello`, `sayHello` and `say_hello` are one method; `SayHelloAsync` is C#'s for it.
pub(super) fn folded(name: &str) -> String {
    let folded: String = name
        .chars()
        .filter(|letter| *letter != '_')
        .flat_map(char::to_lowercase)
        .collect();
    match folded.strip_suffix("async") {
        Some(stem) if !stem.is_empty() => stem.to_string(),
        _ => folded,
    }
}
