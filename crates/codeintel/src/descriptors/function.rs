//! A function as a descriptor: what its text declares, completed by what its documentation says.

use index::snapshot::SymbolView;
use serde_json::{Map, Value, json};
use syntax::facts::{Definition, Flags, Kind, Passing, Visibility};

use super::docs::{self, Documentation, Documented};
use super::head;
use super::home::Homes;
use super::reading::Reading;
use super::schema::{FunctionDescriptor, ParamDescriptor, ReturnDescriptor};
use super::symbol::{location, owner_name};
use super::words;
use crate::workspace::Workspace;

/// How much a descriptor says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Detail {
    /// An answer by itself: with code, address and all of the documentation.
    Whole,
    /// A member of a type: what follows from the type is left out.
    Member,
}

/// Describes the function `symbol`, defined in the file of `reading`.
pub fn function(
    workspace: &Workspace,
    repository: usize,
    symbol: SymbolView<'_>,
    reading: &Reading,
    homes: &mut Homes<'_>,
    detail: Detail,
) -> FunctionDescriptor {
    let language = reading.language.as_str();
    let definition = reading.definition(symbol);
    let documentation = definition
        .map(|definition| docs::parse(language, reading.comment(definition)))
        .unwrap_or_default();
    let mut place = location(workspace, repository, symbol);
    let mut found = FunctionDescriptor {
        kind: kind(symbol, definition).to_string(),
        name: symbol.name().to_string(),
        receiver: owner_name(symbol),
        signature: words::signature(symbol).to_string(),
        visibility: visibility(language, symbol).to_string(),
        is_static: symbol.flags().contains(Flags::STATIC),
        is_abstract: symbol.flags().contains(Flags::ABSTRACT),
        is_final: symbol.flags().contains(Flags::FINAL),
        tags: words::tags(symbol.flags()),
        ..FunctionDescriptor::default()
    };
    match detail {
        Detail::Whole => {
            found.language = language.to_string();
            found.namespace = homes.namespace(repository, symbol).namespace;
            found.description.clone_from(&documentation.description);
            found.code = reading.whole_lines(symbol.span().start, symbol.span().end).to_string();
            place.uri = uri(workspace, repository, symbol.path());
            found.metadata = remarks(&documentation);
        }
        Detail::Member => {
            found.description = docs::first_paragraph(&documentation.description).to_string();
            found.receiver.clear();
            place.file_path.clear();
        }
    }
    found.location = place;
    if let Some(definition) = definition {
        declare(&mut found, definition, reading);
    }
    if documentation.deprecated.is_some() && !found.tags.iter().any(|tag| tag == "deprecated") {
        found.tags.push("deprecated".to_string());
    }
    complete(&mut found, &documentation, language);
    found
}

/// The `file://` address of a path.
pub fn uri(workspace: &Workspace, repository: usize, path: &str) -> String {
    let Some(repository) = workspace.repository(repository) else {
        return String::new();
    };
    let mut address = String::from("file://");
    for byte in repository.root.join(path).to_string_lossy().bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'.' | b'-' | b'_' | b'~' => {
                address.push(char::from(byte))
            }
            _ => address.push_str(&format!("%{byte:02X}")),
        }
    }
    address
}

/// Getters and setters that the language itself has are accessors and mutators too.
fn kind(symbol: SymbolView<'_>, definition: Option<&Definition>) -> &'static str {
    let flags = definition.map_or(symbol.flags(), |definition| definition.flags);
    match symbol.kind() {
        Kind::Property | Kind::Method if flags.contains(Flags::SETTER) => "mutator",
        Kind::Property | Kind::Method if flags.contains(Flags::GETTER) => "accessor",
        Kind::Property => "accessor",
        Kind::Macro => "macro",
        other => words::kind_name(other),
    }
}

fn visibility(language: &str, symbol: SymbolView<'_>) -> &'static str {
    // The index sees members of an ECMAScript class as reachable through their class; `_name` is a habit, not a rule.
    match symbol.visibility() {
        Visibility::Private
            if matches!(language, "javascript" | "typescript" | "tsx") && symbol.kind() == Kind::Function =>
        {
            "unexported"
        }
        other => words::visibility(language, other, symbol.name()),
    }
}

/// Parameters and results as declared.
fn declare(found: &mut FunctionDescriptor, definition: &Definition, reading: &Reading) {
    let facts = &reading.facts;
    let text = reading.bytes(definition.span.start, definition.span.end);
    let name = facts.text(definition.name);
    let head = reading
        .name_offset(definition)
        .and_then(|at| head::parse(&reading.language, text, at, at + name.len()));
    let receivers = definition
        .parameters
        .iter()
        .filter(|parameter| parameter.passing == Passing::Receiver)
        .count();
    match head {
        Some(mut head) => {
            // Python's receiver is a parameter like any other to whoever reads the text.
            if reading.language == "python" && receivers > 0 && !head.parameters.is_empty() {
                head.parameters.remove(0);
            }
            found.parameters = head.parameters;
            found.returns = head.returns;
            if !head.receiver.is_empty() {
                found.receiver = head.receiver;
            }
        }
        None => {
            let taken = definition
                .parameters
                .iter()
                .filter(|parameter| parameter.passing != Passing::Receiver);
            found.parameters = taken
                .map(|parameter| ParamDescriptor {
                    name: facts.text(parameter.name).trim_start_matches('$').to_string(),
                    type_: parameter
                        .type_text
                        .map(|text| facts.text(text).to_string())
                        .unwrap_or_default(),
                    default: parameter
                        .default
                        .map(|text| facts.text(text).to_string())
                        .unwrap_or_default(),
                    passing: passing(parameter.passing).to_string(),
                    ..ParamDescriptor::default()
                })
                .collect();
        }
    }
    if found.kind == "constructor" {
        found.returns.clear();
    } else if found.returns.is_empty()
        // PHP's facts take types from comments too, and those are told apart.
        && reading.language != "php"
        && let Some(text) = definition
            .result_text
            .map(|text| facts.text(text))
            .filter(|text| !text.is_empty())
    {
        found.returns.push(ReturnDescriptor {
            type_: text.to_string(),
            source_hint: "type_hint".to_string(),
            ..ReturnDescriptor::default()
        });
    }
}

fn passing(passing: Passing) -> &'static str {
    match passing {
        Passing::Normal | Passing::Receiver => "",
        Passing::Keyword => "keyword",
        Passing::Rest => "rest",
        Passing::KeywordRest => "keyword_rest",
        Passing::Block => "block",
    }
}

/// Adds what the documentation says of parameters and results.
fn complete(found: &mut FunctionDescriptor, documentation: &Documentation, language: &str) {
    let source = if language == "php" { "phpdoc" } else { "doc" };
    for parameter in &mut found.parameters {
        let bare = parameter.name.trim_start_matches(['$', '&', '*', '_']);
        let Some(said) = documentation
            .parameters
            .iter()
            .find(|said| said.name == parameter.name || said.name == bare)
        else {
            continue;
        };
        parameter.description.clone_from(&said.description);
        // PHP and JavaScript write in comments what their types cannot say: `array<string, int>` for `array`.
        if parameter.type_.is_empty() || (language == "php" && is_vague(&parameter.type_) && !said.type_.is_empty()) {
            parameter.type_.clone_from(&said.type_);
        }
        if parameter.default.is_empty() {
            parameter.default.clone_from(&said.default);
        }
    }
    // Keys of a hash of options are documented and never declared.
    let declared: Vec<String> = found
        .parameters
        .iter()
        .map(|parameter| parameter.name.clone())
        .collect();
    for said in &documentation.parameters {
        let of = said.name.split(['.', '[']).next().unwrap_or("");
        if said.name != of && declared.iter().any(|name| name == of) {
            found.parameters.push(ParamDescriptor {
                name: said.name.clone(),
                type_: said.type_.clone(),
                description: said.description.clone(),
                default: said.default.clone(),
                passing: "keyword".to_string(),
            });
        }
    }
    let returns: Vec<&Documented> = documentation.returns.iter().collect();
    for (number, said) in returns.iter().enumerate() {
        match found.returns.get_mut(number) {
            Some(declared) => {
                declared.description.clone_from(&said.description);
                if is_more_exact(language, &declared.type_, &said.type_) {
                    declared.type_.clone_from(&said.type_);
                    declared.source_hint = source.to_string();
                }
            }
            None => found.returns.push(ReturnDescriptor {
                type_: said.type_.clone(),
                description: said.description.clone(),
                name: said.name.clone(),
                source_hint: source.to_string(),
            }),
        }
    }
}

fn is_vague(type_: &str) -> bool {
    matches!(
        type_.trim_start_matches('?'),
        "array" | "iterable" | "callable" | "object" | "mixed" | "string" | "self"
    )
}

/// `Collection<int, User>` says more than `Collection`, `array<string>` more than `array`.
fn is_more_exact(language: &str, declared: &str, documented: &str) -> bool {
    if documented.is_empty() || language != "php" {
        return declared.is_empty() && !documented.is_empty();
    }
    let base = documented
        .trim_start_matches('\\')
        .split(['<', '[', '{'])
        .next()
        .unwrap_or("");
    is_vague(declared) || (documented.contains('<') && base.rsplit('\\').next() == declared.rsplit('\\').next())
}

/// What documentation says beyond the schema's fields.
pub(super) fn remarks(documentation: &Documentation) -> Map<String, Value> {
    let mut metadata = Map::new();
    if !documentation.throws.is_empty() {
        let throws = documentation.throws.iter().map(|one| {
            let mut said = Map::new();
            if !one.type_.is_empty() {
                said.insert("type".into(), one.type_.clone().into());
            }
            if !one.description.is_empty() {
                said.insert("description".into(), one.description.clone().into());
            }
            Value::Object(said)
        });
        metadata.insert("throws".into(), throws.collect());
    }
    if let Some(why) = documentation.deprecated.as_deref().filter(|why| !why.is_empty()) {
        metadata.insert("deprecated".into(), why.into());
    }
    if !documentation.examples.is_empty() {
        metadata.insert("examples".into(), json!(documentation.examples));
    }
    if !documentation.see.is_empty() {
        metadata.insert("see".into(), json!(documentation.see));
    }
    if !documentation.since.is_empty() {
        metadata.insert("since".into(), documentation.since.clone().into());
    }
    metadata
}
