//! A type as a descriptor: its fields and methods wherever they are defined, and what it builds on.
//!
//! Members of other files (Go's methods, Rust's `impl`s, partial and reopened classes) are looked for in the files that
//! mention the type: a member cannot be declared without naming its owner.

use std::collections::{BTreeMap, BTreeSet};

use index::model::{EdgeKind, FileId};
use index::snapshot::{EdgeEnd, EdgeKinds, Snapshot, SymbolView};
use syntax::facts::{BaseKind, Definition, Expression, ExpressionId, FileFacts, Flags, Kind, Visibility};

use super::docs::{self, Documentation};
use super::function::{Detail, function, remarks, uri};
use super::head;
use super::home::{Homes, folder, separator};
use super::php;
use super::reading::Reading;
use super::schema::{ClassDescriptor, FieldDescriptor, FunctionDescriptor, RelationDescriptor};
use super::symbol::location;
use super::words;
use crate::error::QuestionError;
use crate::workspace::{SymbolKey, Workspace};

/// Files read for one descriptor.
pub type Readings = BTreeMap<FileId, Reading>;

/// Describes the type `key`. `readings` keeps the files that were read.
pub fn class(
    workspace: &Workspace,
    key: SymbolKey,
    homes: &mut Homes<'_>,
    readings: &mut Readings,
) -> Result<ClassDescriptor, QuestionError> {
    let missing = || QuestionError::NoSuchSymbol {
        asked: String::new(),
        nearest: Vec::new(),
    };
    let symbol = workspace.symbol(key).ok_or_else(missing)?;
    let snapshot = &workspace.repository(key.repository).ok_or_else(missing)?.snapshot;
    let parts = parts_of(snapshot, symbol, key.repository, homes);
    let members = members(snapshot, symbol, &parts);
    let mut files: BTreeSet<FileId> = members.iter().map(|member| member.file_id()).collect();
    files.extend(parts.iter().map(|part| part.file_id()));
    for file in files {
        if let (false, Some(view)) = (readings.contains_key(&file), snapshot.file(file)) {
            readings.insert(file, Reading::of(workspace, key.repository, view)?);
        }
    }
    let reading = readings.get(&symbol.file_id()).ok_or_else(missing)?;
    let language = reading.language.clone();
    let documentation = reading
        .definition(symbol)
        .map(|definition| docs::parse(&language, reading.comment(definition)))
        .unwrap_or_default();
    let home = homes.namespace(key.repository, symbol);
    let mut found = ClassDescriptor {
        kind: kind(symbol, reading).to_string(),
        name: symbol.name().to_string(),
        package: if home.package == home.namespace {
            String::new()
        } else {
            home.package
        },
        namespace: home.namespace,
        full_name: homes.full_name(key.repository, symbol),
        signature: words::signature(symbol).to_string(),
        description: documentation.description.clone(),
        location: location(workspace, key.repository, symbol),
        tags: tags(symbol, &language),
        metadata: remarks(&documentation),
        language,
        ..ClassDescriptor::default()
    };
    found.location.uri = uri(workspace, key.repository, symbol.path());
    for member in &members {
        let Some(reading) = readings.get(&member.file_id()) else {
            continue;
        };
        if is_method(*member) {
            let mut method = function(workspace, key.repository, *member, reading, homes, Detail::Member);
            if member.file_id() != symbol.file_id() {
                method.location.file_path = workspace.path(key.repository, member.path());
            }
            found.methods.push(method);
        } else if let Some(field) = field(*member, reading, &documentation) {
            found.fields.push(field);
        }
    }
    pair_accessors(&mut found.methods);
    found.relations = relations(workspace, key.repository, &parts, readings, homes);
    if parts.len() > 1 {
        let others: Vec<String> = parts
            .iter()
            .skip(1)
            .map(|part| workspace.id(key.repository, *part))
            .collect();
        found.metadata.insert("also_defined_in".into(), others.into());
    }
    documented_fields(&mut found.fields, &documentation);
    Ok(found)
}

/// The definitions that are one type: all parts of a partial or reopened class.
fn parts_of<'a>(
    snapshot: &'a Snapshot,
    symbol: SymbolView<'a>,
    repository: usize,
    homes: &mut Homes<'_>,
) -> Vec<SymbolView<'a>> {
    let language = symbol.file().map_or("", |file| file.language());
    let mut parts = vec![symbol];
    let is_open = match language {
        "csharp" => symbol.flags().contains(Flags::EXTENSION),
        "ruby" => true,
        _ => false,
    };
    if is_open {
        let full_name = homes.full_name(repository, symbol);
        for other in snapshot.named(symbol.name()) {
            let is_same = other.id() != symbol.id()
                && other.file().is_some_and(|file| file.language() == language)
                && (words::is_type(other.kind()) || language == "ruby" && other.kind() == Kind::Module)
                && (language != "csharp" || other.flags().contains(Flags::EXTENSION))
                && homes.full_name(repository, other) == full_name;
            if is_same {
                parts.push(other);
            }
        }
    }
    parts
}

/// The members of a type: those inside its parts, then those of other files, in path and source order.
fn members<'a>(snapshot: &'a Snapshot, symbol: SymbolView<'a>, parts: &[SymbolView<'a>]) -> Vec<SymbolView<'a>> {
    let mut found: Vec<SymbolView<'a>> = Vec::new();
    for part in parts {
        let Some(file) = part.file() else { continue };
        found.extend(
            file.symbols()
                .filter(|member| member.parent().is_some_and(|parent| parent.id() == part.id())),
        );
    }
    let Some(home) = symbol.file() else { return found };
    let language = home.language();
    let mut files: BTreeSet<FileId> = snapshot
        .incoming(symbol.id(), EdgeKinds::ALL.without(EdgeKind::Contains))
        .filter_map(|edge| Some(snapshot.symbol(edge.from)?.file_id()))
        .collect();
    // Files of one package need no import to add a method.
    if matches!(language, "go" | "cpp" | "c") {
        let beside = folder(home.path());
        let prefix = if beside.is_empty() {
            String::new()
        } else {
            format!("{beside}/")
        };
        files.extend(
            snapshot
                .files_under(&prefix)
                .filter(|file| folder(file.path()) == beside)
                .map(|file| file.id()),
        );
    }
    files.insert(home.id());
    for file in files.into_iter().filter_map(|file| snapshot.file(file)) {
        if file.language() != language && !matches!((file.language(), language), ("cpp", "c") | ("c", "cpp")) {
            continue;
        }
        let named = file.symbols().filter(|member| {
            let owner = member.named_owner().rsplit(['.', ':']).next().unwrap_or("");
            owner == symbol.name()
                && !owner.is_empty()
                && (is_method(*member) || matches!(member.kind(), Kind::Field | Kind::Constant | Kind::TypeAlias))
                // Kotlin's and others' extension functions are called like members and are none.
                && !member.flags().contains(Flags::EXTENSION)
        });
        found.extend(named);
    }
    // A prototype and its body are one member: the one with documentation and visibility is inside the type.
    let declared: BTreeSet<(&str, String)> = found
        .iter()
        .filter(|member| member.flags().contains(Flags::DECLARATION))
        .map(|member| (member.name(), parameters_of(member.signature())))
        .collect();
    found.retain(|member| {
        member.named_owner().is_empty()
            || member.flags().contains(Flags::DECLARATION)
            || !declared.contains(&(member.name(), parameters_of(member.signature())))
    });
    let mut seen = BTreeSet::new();
    found.retain(|member| seen.insert(member.id()));
    found
}

/// The types of a signature's parameters, roughly: how many there are.
fn parameters_of(signature: &str) -> String {
    let inside = signature.split_once('(').map_or("", |(_, rest)| rest);
    let inside = inside.split_once(')').map_or(inside, |(inside, _)| inside);
    match inside.trim() {
        "" | "void" => "0".to_string(),
        some => (some.matches(',').count() + 1).to_string(),
    }
}

fn is_method(symbol: SymbolView<'_>) -> bool {
    match symbol.kind() {
        Kind::Method | Kind::Constructor | Kind::Function => true,
        // A property with a body is called; one that is only declared is a field.
        Kind::Property => {
            let has_code = symbol.signature().starts_with("def ")
                || symbol.signature().starts_with("get ")
                || symbol.signature().starts_with("set ")
                || symbol.signature().contains("static get ")
                || symbol.signature().contains("static set ");
            has_code && !symbol.signature().starts_with("attr_")
        }
        _ => false,
    }
}

fn kind(symbol: SymbolView<'_>, reading: &Reading) -> &'static str {
    match (reading.language.as_str(), symbol.kind()) {
        // `type Kind int` is a named type, not a class.
        ("go", Kind::Class) => "type",
        ("csharp" | "java" | "kotlin", Kind::Struct) if !symbol.signature().contains("struct ") => "class",
        ("python", Kind::Struct) => "class",
        (_, kind) => words::kind_name(kind),
    }
}

fn tags(symbol: SymbolView<'_>, language: &str) -> Vec<String> {
    let mut tags = words::tags(symbol.flags());
    let mut add = |is: bool, tag: &str| {
        if is {
            tags.push(tag.to_string());
        }
    };
    add(
        symbol.flags().contains(Flags::ABSTRACT) && symbol.kind() == Kind::Class,
        "abstract",
    );
    add(
        symbol.flags().contains(Flags::FINAL) || symbol.signature().contains(" final "),
        "final",
    );
    add(symbol.flags().contains(Flags::STATIC), "static");
    add(
        language == "csharp" && symbol.flags().contains(Flags::EXTENSION),
        "partial",
    );
    add(
        symbol.kind() == Kind::Struct && symbol.signature().contains("record "),
        "record",
    );
    add(symbol.kind() == Kind::Struct && language == "python", "dataclass");
    if symbol.visibility() != Visibility::Public {
        tags.push(words::visibility(language, symbol.visibility(), symbol.name()).to_string());
    }
    tags
}

fn field(symbol: SymbolView<'_>, reading: &Reading, of: &Documentation) -> Option<FieldDescriptor> {
    if !matches!(
        symbol.kind(),
        Kind::Field | Kind::Property | Kind::EnumMember | Kind::Constant | Kind::Variable | Kind::TypeAlias
    ) {
        return None;
    }
    let definition = reading.definition(symbol)?;
    let facts = &reading.facts;
    let language = reading.language.as_str();
    let documentation = docs::parse(language, reading.comment(definition));
    // The whole declaration, so that a default is not cut where a signature is.
    let text = reading.bytes(definition.span.start, definition.span.end);
    let text = match symbol.kind() {
        Kind::Property if language == "ruby" => "",
        _ => text,
    };
    let (written, mut default) = head::variable(language, text, symbol.name());
    let declared = definition
        .result_text
        .map(|text| facts.text(text).to_string())
        .unwrap_or_default();
    // What the author wrote next to the name is more than what the grammar calls the type (`char name[10]`).
    let mut type_ = match language {
        "c" | "cpp" | "go" | "php" | "java" | "csharp" if !written.is_empty() => written,
        _ if declared.is_empty() => written,
        _ => declared,
    };
    if type_.is_empty()
        || language == "php" && !documentation.type_.is_empty() && matches!(type_.as_str(), "array" | "")
    {
        type_.clone_from(&documentation.type_);
    }
    if default.len() > MAX_DEFAULT {
        default = format!("{}…", docs::cut(&default, MAX_DEFAULT));
    }
    if symbol.kind() == Kind::EnumMember {
        type_ = String::new();
    }
    let tag = match language {
        "go" => symbol.signature().split('`').nth(1).unwrap_or("").to_string(),
        _ => String::new(),
    };
    let own = &documentation.description;
    let description = match own.is_empty() {
        false => docs::first_paragraph(own).to_string(),
        true => of
            .properties
            .iter()
            .chain(&of.parameters)
            .find(|said| said.name == symbol.name())
            .map(|said| said.description.clone())
            .unwrap_or_default(),
    };
    let name = match language {
        "php" => symbol.name().trim_start_matches('$'),
        _ => symbol.name(),
    };
    Some(FieldDescriptor {
        name: name.to_string(),
        type_,
        visibility: words::visibility(language, symbol.visibility(), symbol.name()).to_string(),
        tag,
        description,
        default: default.split_whitespace().collect::<Vec<_>>().join(" "),
        is_static: symbol.flags().contains(Flags::STATIC) && symbol.kind() != Kind::EnumMember,
        line: symbol.name_at().line,
    })
}

/// Longest default that is given whole.
const MAX_DEFAULT: usize = 400;

/// Properties that only the documentation of the type names (PHP's `@property`, YARD's `@attr`, `Attributes:`).
fn documented_fields(fields: &mut Vec<FieldDescriptor>, documentation: &Documentation) {
    for said in &documentation.properties {
        match fields.iter_mut().find(|field| field.name == said.name) {
            Some(field) => {
                if field.type_.is_empty() {
                    field.type_.clone_from(&said.type_);
                }
                if field.description.is_empty() {
                    field.description.clone_from(&said.description);
                }
            }
            None if !said.name.is_empty() => fields.push(FieldDescriptor {
                name: said.name.clone(),
                type_: said.type_.clone(),
                visibility: "public".to_string(),
                description: said.description.clone(),
                ..FieldDescriptor::default()
            }),
            None => {}
        }
    }
}

/// A property's setter is the second of two accessors of one name where the language does not say so itself.
fn pair_accessors(methods: &mut [FunctionDescriptor]) {
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for method in methods.iter_mut().filter(|method| method.kind == "accessor") {
        if !seen.insert(method.name.clone()) && !method.parameters.is_empty() {
            method.kind = "mutator".to_string();
        }
    }
}

/// What the parts of a type extend, implement, mix in and embed, as resolved where it is.
fn relations(
    workspace: &Workspace,
    repository: usize,
    parts: &[SymbolView<'_>],
    readings: &Readings,
    homes: &mut Homes<'_>,
) -> Vec<RelationDescriptor> {
    let mut found: Vec<RelationDescriptor> = Vec::new();
    let mut add = |relation_kind: &str, related_symbol: String| {
        let is_known = found.iter().any(|known: &RelationDescriptor| {
            known.related_symbol == related_symbol
                || last_part(&known.related_symbol) == last_part(&related_symbol)
                    && known.relation_kind == relation_kind
        });
        if !related_symbol.is_empty() && !is_known {
            found.push(RelationDescriptor {
                relation_kind: relation_kind.to_string(),
                related_symbol,
                ..RelationDescriptor::default()
            });
        }
    };
    let Some(snapshot) = workspace.repository(repository).map(|of| &of.snapshot) else {
        return found;
    };
    let language = parts
        .first()
        .and_then(|part| part.file())
        .map_or("", |file| file.language());
    for part in parts {
        // Where the graph knows the target its full name is given, else the name as written.
        let resolved: Vec<(EdgeKind, String)> = snapshot
            .outgoing(part.id(), EdgeKind::Extends | EdgeKind::Implements)
            .filter(|edge| edge.confidence >= MIN_CONFIDENCE)
            .map(|edge| {
                let name = match edge.to {
                    EdgeEnd::Symbol(target) => snapshot
                        .symbol(target)
                        .map(|target| homes.full_name(repository, target))
                        .unwrap_or_default(),
                    EdgeEnd::External(target) => external_name(snapshot.external(target), separator(language)),
                };
                (edge.kind, name)
            })
            .collect();
        let reading = readings.get(&part.file_id());
        if let Some((reading, definition)) = reading.and_then(|reading| Some((reading, reading.definition(*part)?))) {
            for (kind, written) in bases(reading, definition, part.kind()) {
                let full = resolved.iter().find(|(_, name)| last_part(name) == last_part(&written));
                let qualified = match reading.language.as_str() {
                    "php" => written,
                    _ => full.map_or(written, |(_, name)| name.clone()),
                };
                add(kind, qualified);
            }
        }
        // Rust's `impl`s and Go's satisfied interfaces are not written where the type is.
        for (kind, name) in resolved {
            let word = if kind == EdgeKind::Extends {
                "extends"
            } else {
                "implements"
            };
            add(word, name);
        }
    }
    found
}

/// Relations below this are one of many, or agree in name only.
const MIN_CONFIDENCE: u8 = 60;

/// The inheritance clauses as written.
fn bases(reading: &Reading, definition: &Definition, kind: Kind) -> Vec<(&'static str, String)> {
    let (facts, language) = (&reading.facts, reading.language.as_str());
    let named = definition.bases.iter().map(|base| {
        let name = match language {
            "php" => php::class_name(reading, base.type_),
            _ => spelled(facts, base.type_),
        };
        let word = match base.kind {
            BaseKind::Extends if language == "csharp" && is_interface_name(&name) && kind != Kind::Interface => {
                "implements"
            }
            BaseKind::Extends => "extends",
            BaseKind::Implements => "implements",
            BaseKind::Mixes if language == "ruby" => "includes",
            BaseKind::Mixes => "uses",
            BaseKind::Embeds => "embeds",
        };
        (word, name)
    });
    named.collect()
}

/// C#'s clause does not tell a base class from an interface; its naming rule does.
fn is_interface_name(name: &str) -> bool {
    let mut letters = last_part(name).chars();
    letters.next() == Some('I') && letters.next().is_some_and(char::is_uppercase)
}

/// A type expression as it would be written.
pub fn spelled(facts: &FileFacts, id: ExpressionId) -> String {
    match *facts.expression(id) {
        Expression::Bound { binding, .. } => facts
            .bindings
            .get(binding.index())
            .map(|binding| facts.text(binding.name).to_string())
            .unwrap_or_default(),
        Expression::Free { name, .. } => facts.text(name).to_string(),
        Expression::Member { object, name } => match spelled(facts, object).as_str() {
            "" => facts.text(name).to_string(),
            object => format!("{object}.{}", facts.text(name)),
        },
        Expression::Definition(id) => facts.text(facts.definition(id).name).to_string(),
        Expression::Generic { base, arguments } => {
            let arguments: Vec<String> = facts
                .list(arguments)
                .iter()
                .map(|&id| spelled(facts, ExpressionId(id)))
                .filter(|name| !name.is_empty())
                .collect();
            match arguments.is_empty() {
                true => spelled(facts, base),
                false => format!("{}<{}>", spelled(facts, base), arguments.join(", ")),
            }
        }
        Expression::Wrapped(inner) | Expression::Typed(inner) => spelled(facts, inner),
        Expression::Module(name) => facts.text(name).to_string(),
        _ => String::new(),
    }
}

/// `npm:react::Component` as `react.Component`.
fn external_name(external: &str, separator: &str) -> String {
    let name = external.split_once(':').map_or(external, |(kind, rest)| {
        match kind.len() <= 8 && !rest.starts_with(':') {
            true => rest,
            false => external,
        }
    });
    name.replace("::", ".").replace('.', separator)
}

fn last_part(name: &str) -> &str {
    let name = name.split('<').next().unwrap_or(name);
    name.rsplit(['.', ':', '\\', '/']).next().unwrap_or(name)
}
