//! Eloquent models: what a class that inherits from `Model`, however far up, says of its table.
//!
//! Properties and methods of parents and traits count as the class's own, the nearest first, as PHP has it.

use std::collections::BTreeMap;

use serde_json::{Value, json};
use syntax::facts::{Definition, DefinitionId, Expression, ExpressionId, Flags, Kind};

use super::inflect::{plural_studly, singular, snake};
use super::lineage::{Lineage, class_named, lineage, read};
use super::relations::{self, Models, Owner, kind_of, relation};
use super::values::{
    arguments, attributes, chain, entries, named_classes, property, property_text, returned, text, text_or_class,
    texts, written_class,
};
use crate::descriptors::class::Readings;
use crate::descriptors::docs;
use crate::descriptors::home::Homes;
use crate::descriptors::php::{self, basename};
use crate::descriptors::reading::Reading;
use crate::descriptors::{ClassDescriptor, FunctionDescriptor, RelationDescriptor, ReturnDescriptor};
use crate::error::QuestionError;
use crate::workspace::{SymbolKey, Workspace};

/// What the methods of a model are to Eloquent.
#[derive(Clone, PartialEq, Debug)]
pub(super) enum Role {
    /// A query scope, by the name it is called with.
    Scope(String),
    /// An accessor, a mutator or both, of this attribute.
    Attribute { name: String, get: bool, set: bool },
    /// A relation.
    Relation(Box<RelationDescriptor>),
}

/// A model, ready to be asked.
pub(super) struct Model {
    pub(super) lineage: Lineage,
    pub(super) full_name: String,
}

/// Classes of the framework, and of packages that are used like it, from which models inherit.
fn is_model_base(name: &str) -> bool {
    name.ends_with("\\Eloquent\\Model")
        || matches!(
            name,
            "Eloquent"
                | "Illuminate\\Foundation\\Auth\\User"
                | "Illuminate\\Database\\Eloquent\\Relations\\Pivot"
                | "Illuminate\\Database\\Eloquent\\Relations\\MorphPivot"
                | "Illuminate\\Notifications\\DatabaseNotification"
                | "Jenssegers\\Mongodb\\Auth\\User"
                | "MongoDB\\Laravel\\Auth\\User"
                | "Laravel\\Sanctum\\PersonalAccessToken"
                | "Laravel\\Passport\\Client"
                | "Laravel\\Passport\\Token"
                | "Spatie\\Permission\\Models\\Role"
                | "Spatie\\Permission\\Models\\Permission"
                | "Spatie\\MediaLibrary\\MediaCollections\\Models\\Media"
        )
}

/// Where a lineage ends: what the framework itself declares is no part of a model.
fn is_framework(name: &str) -> bool {
    is_model_base(name) && name != "Illuminate\\Notifications\\DatabaseNotification"
        || name.starts_with("Illuminate\\Database\\Eloquent\\")
}

impl Model {
    /// The class as a model; `None` if it inherits from none.
    pub(super) fn of(
        workspace: &Workspace,
        key: SymbolKey,
        homes: &mut Homes<'_>,
        readings: &mut Readings,
    ) -> Result<Option<Model>, QuestionError> {
        let Some(symbol) = workspace.symbol(key).filter(|symbol| symbol.kind() == Kind::Class) else {
            return Ok(None);
        };
        if symbol.file().is_none_or(|file| file.language() != "php") {
            return Ok(None);
        }
        let full_name = homes.full_name(key.repository, symbol);
        if is_framework(&full_name) && full_name != "Illuminate\\Foundation\\Auth\\User" {
            return Ok(None);
        }
        let lineage = lineage(workspace, key, homes, readings, is_framework)?;
        let is_model = lineage.names.iter().any(|name| is_model_base(name));
        Ok(is_model.then_some(Model { lineage, full_name }))
    }

    /// The value of the nearest property of this name, with the file it stands in.
    fn property<'r>(
        &self,
        workspace: &Workspace,
        readings: &'r Readings,
        name: &str,
    ) -> Option<(&'r Reading, DefinitionId, ExpressionId)> {
        self.classes(workspace, readings)
            .find_map(|(reading, class)| Some((reading, class, property(reading, class, name)?)))
    }

    fn texts(&self, workspace: &Workspace, readings: &Readings, name: &str) -> Vec<String> {
        let found = self.property(workspace, readings, name);
        found
            .map(|(reading, _, value)| texts(reading, value))
            .unwrap_or_default()
    }

    fn text(&self, workspace: &Workspace, readings: &Readings, name: &str) -> Option<String> {
        let (reading, _, value) = self.property(workspace, readings, name)?;
        text(reading, value)
    }

    /// A property as written: numbers and truth values.
    fn written(&self, workspace: &Workspace, readings: &Readings, name: &str) -> Option<String> {
        self.classes(workspace, readings)
            .find_map(|(reading, class)| property_text(reading, class, name))
    }

    /// The classes of the lineage with their files, nearest first.
    fn classes<'r>(
        &self,
        workspace: &Workspace,
        readings: &'r Readings,
    ) -> impl Iterator<Item = (&'r Reading, DefinitionId)> + use<'r> {
        let found: Vec<(&'r Reading, DefinitionId)> = self
            .lineage
            .inside
            .iter()
            .filter_map(|key| {
                let symbol = workspace.symbol(*key)?;
                let reading = readings.get(&symbol.file_id())?;
                let definition = reading.definition(symbol)?;
                let id = reading
                    .facts
                    .definitions
                    .iter()
                    .position(|other| std::ptr::eq(other, definition))?;
                Some((reading, DefinitionId(id as u32)))
            })
            .collect();
        found.into_iter()
    }

    /// The methods of the lineage, nearest first, each name once.
    fn methods<'r>(
        &self,
        workspace: &Workspace,
        readings: &'r Readings,
    ) -> Vec<(&'r Reading, DefinitionId, &'r Definition)> {
        let mut found: Vec<(&'r Reading, DefinitionId, &'r Definition)> = Vec::new();
        let mut seen: std::collections::BTreeSet<String> = std::collections::BTreeSet::new();
        for (reading, class) in self.classes(workspace, readings) {
            for (number, definition) in reading.facts.definitions.iter().enumerate() {
                let is_own =
                    definition.parent == Some(class) && matches!(definition.kind, Kind::Method | Kind::Constructor);
                if is_own && seen.insert(reading.facts.text(definition.name).to_lowercase()) {
                    found.push((reading, DefinitionId(number as u32), definition));
                }
            }
        }
        found
    }

    fn primary_key(&self, workspace: &Workspace, readings: &Readings) -> String {
        self.text(workspace, readings, "primaryKey")
            .unwrap_or_else(|| "id".to_string())
    }

    fn table(&self, workspace: &Workspace, readings: &Readings) -> (String, bool) {
        if let Some(table) = self.text(workspace, readings, "table") {
            return (table, false);
        }
        let from_method = self
            .methods(workspace, readings)
            .into_iter()
            .find_map(|(reading, id, definition)| {
                let is_table = reading.facts.text(definition.name) == "getTable";
                is_table
                    .then(|| returned(reading, id).into_iter().find_map(|value| text(reading, value)))
                    .flatten()
            });
        if let Some(table) = from_method {
            return (table, false);
        }
        let name = basename(&self.full_name);
        let is_pivot = self
            .lineage
            .names
            .iter()
            .any(|name| name.ends_with("\\Relations\\Pivot") || name.ends_with("\\Relations\\MorphPivot"));
        match is_pivot {
            true => (snake(&singular(name)), true),
            false => (snake(&plural_studly(name)), true),
        }
    }

    /// `$casts`, then what `casts()` adds; parents first, so that the nearest wins.
    fn casts(&self, workspace: &Workspace, readings: &Readings) -> BTreeMap<String, String> {
        let mut casts = BTreeMap::new();
        let mut classes: Vec<(&Reading, DefinitionId)> = self.classes(workspace, readings).collect();
        classes.reverse();
        for (reading, class) in classes {
            if let Some(value) = property(reading, class, "casts") {
                let written = property_text(reading, class, "casts").unwrap_or_default();
                casts.extend(cast_entries(reading, value, &written));
            }
            for date in property(reading, class, "dates")
                .map(|value| texts(reading, value))
                .unwrap_or_default()
            {
                casts.entry(date).or_insert_with(|| "datetime".to_string());
            }
            for (number, definition) in reading.facts.definitions.iter().enumerate() {
                if definition.parent == Some(class)
                    && definition.kind == Kind::Method
                    && reading.facts.text(definition.name) == "casts"
                {
                    let written = reading.bytes(definition.span.start, definition.span.end);
                    for value in returned(reading, DefinitionId(number as u32)) {
                        casts.extend(cast_entries(reading, value, written));
                    }
                }
            }
        }
        casts
    }

    /// What a method of the model is to Eloquent.
    pub(super) fn role(
        &self,
        workspace: &Workspace,
        readings: &Readings,
        (reading, id, definition): (&Reading, DefinitionId, &Definition),
        models: &mut dyn Models,
    ) -> Option<Role> {
        let name = reading.facts.text(definition.name);
        if definition.flags.contains(Flags::STATIC) {
            return None;
        }
        if attributes(reading, definition)
            .iter()
            .any(|(attribute, _)| attribute == "Scope")
        {
            return Some(Role::Scope(name.to_string()));
        }
        if let Some(rest) = name
            .strip_prefix("scope")
            .filter(|rest| rest.starts_with(|letter: char| letter.is_uppercase()))
        {
            let mut letters = rest.chars();
            let called: String = letters
                .next()
                .into_iter()
                .flat_map(char::to_lowercase)
                .chain(letters)
                .collect();
            return Some(Role::Scope(called));
        }
        for (prefix, get) in [("get", true), ("set", false)] {
            let attribute = name
                .strip_prefix(prefix)
                .and_then(|rest| rest.strip_suffix("Attribute"))
                .filter(|rest| !rest.is_empty());
            if let Some(attribute) = attribute {
                return Some(Role::Attribute {
                    name: snake(attribute),
                    get,
                    set: !get,
                });
            }
        }
        if let Some((get, set)) = attribute_object(reading, id, definition) {
            return Some(Role::Attribute {
                name: snake(name),
                get,
                set,
            });
        }
        let primary_key = self.primary_key(workspace, readings);
        let owner = Owner {
            full_name: &self.full_name,
            primary_key: &primary_key,
        };
        let mut found =
            relation(reading, id, name, &owner, models).or_else(|| typed_relation(reading, definition, name))?;
        let comment = docs::parse("php", reading.comment(definition));
        found.description = docs::first_paragraph(&comment.description).to_string();
        Some(Role::Relation(Box::new(found)))
    }
}

/// `Attribute::make(get: …, set: …)`, `Attribute::get(…)`, `new Attribute(…)`: whether it reads, whether it writes.
fn attribute_object(reading: &Reading, id: DefinitionId, definition: &Definition) -> Option<(bool, bool)> {
    let facts = &reading.facts;
    let is_attribute = |id: ExpressionId| basename(&php::class_name(reading, id)) == "Attribute";
    let given = |arguments: &[super::values::Argument]| {
        let has = |name: &str, place: usize| super::values::argument(arguments, name, place).is_some();
        (has("get", 0), has("set", 1))
    };
    for value in returned(reading, id) {
        if let Expression::New { type_, arguments: list } = *facts.expression(value)
            && is_attribute(type_)
        {
            return Some(given(&arguments(reading, list)));
        }
        let Some(chain) = chain(reading, value) else { continue };
        if let Some(first) = chain.calls.first().filter(|_| is_attribute(chain.base)) {
            return match first.name.as_str() {
                "make" => Some(given(&first.arguments)),
                "get" => Some((true, false)),
                "set" => Some((false, true)),
                _ => None,
            };
        }
    }
    // Declared to give one, in a way that the text does not show.
    let declared = definition
        .result
        .map(|type_| php::class_name(reading, type_))
        .unwrap_or_default();
    (declared == "Illuminate\\Database\\Eloquent\\Casts\\Attribute").then_some((true, false))
}

/// A method that is declared to give a relation, made in a way that the text does not show.
fn typed_relation(reading: &Reading, definition: &Definition, name: &str) -> Option<RelationDescriptor> {
    let declared = definition.result.map(|type_| php::class_name(reading, type_))?;
    if !declared.starts_with("Illuminate\\Database\\Eloquent\\Relations\\") {
        return None;
    }
    let kind = kind_of(&declared)?;
    let comment = docs::parse("php", reading.comment(definition));
    let documented = comment.returns.first().map_or("", |said| said.type_.as_str());
    let related = documented
        .split_once('<')
        .map_or("", |(_, rest)| rest.split([',', '>']).next().unwrap_or(""))
        .trim();
    let mut found = RelationDescriptor {
        name: name.to_string(),
        relation_kind: kind.to_string(),
        related_symbol: if related.is_empty() {
            String::new()
        } else {
            written_class(reading, related)
        },
        ..RelationDescriptor::default()
    };
    found.type_ = relations::shown(&found);
    Some(found)
}

fn cast_entries(reading: &Reading, value: ExpressionId, written: &str) -> Vec<(String, String)> {
    let facts = &reading.facts;
    let shown = |key: &str, id: ExpressionId| -> String {
        if let Some(text) = text_or_class(reading, id) {
            return text;
        }
        // `AsEnumCollection::of(Status::class)` is the text `AsEnumCollection:Status` when it runs.
        if let Expression::Call {
            callee,
            arguments: list,
        } = *facts.expression(id)
            && let Expression::Member { object, .. } = *facts.expression(callee)
        {
            let given: Vec<String> = arguments(reading, list)
                .iter()
                .flat_map(|argument| texts(reading, argument.value))
                .collect();
            return format!("{}:{}", php::class_name(reading, object), given.join(","));
        }
        written_value(written, key)
    };
    entries(reading, value)
        .into_iter()
        .map(|(key, id)| (key.clone(), shown(&key, id)))
        .collect()
}

/// The value of a key in the text of an array, as written.
fn written_value(text: &str, key: &str) -> String {
    let at = [format!("'{key}'"), format!("\"{key}\"")]
        .iter()
        .find_map(|quoted| Some(text.find(quoted)? + quoted.len()));
    let value = at
        .and_then(|at| text[at..].trim_start().strip_prefix("=>"))
        .unwrap_or("");
    let end = value.find([',', ']', '\n']).unwrap_or(value.len());
    value[..end].trim().to_string()
}

/// Adds to the descriptor of a class what it is as a model.
pub(super) fn enrich(
    workspace: &Workspace,
    key: SymbolKey,
    model: &Model,
    homes: &mut Homes<'_>,
    readings: &mut Readings,
    found: &mut ClassDescriptor,
) -> Result<(), QuestionError> {
    found.kind = "model".to_string();
    found
        .tags
        .extend(["framework:laravel".to_string(), "laravel:model".to_string()]);
    let (table, is_inferred) = model.table(workspace, readings);
    found.table = table;
    if is_inferred {
        found.metadata.insert("table_inferred".into(), true.into());
    }
    found.fillable = model.texts(workspace, readings, "fillable");
    found.guarded = model.texts(workspace, readings, "guarded");
    if found.guarded.is_empty() && model.property(workspace, readings, "guarded").is_some() {
        found.metadata.insert("unguarded".into(), true.into());
    }
    found.hidden = model.texts(workspace, readings, "hidden");
    found.visible = model.texts(workspace, readings, "visible");
    found.appends = model.texts(workspace, readings, "appends");
    found.casts = model.casts(workspace, readings);
    let mut note = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            found.metadata.insert(name.into(), value);
        }
    };
    let truth = |name: &str| {
        model
            .written(workspace, readings, name)
            .map(|text| json!(text.eq_ignore_ascii_case("true")))
    };
    note(
        "primary_key",
        model.text(workspace, readings, "primaryKey").map(Value::from),
    );
    note("key_type", model.text(workspace, readings, "keyType").map(Value::from));
    note("incrementing", truth("incrementing"));
    note("timestamps", truth("timestamps"));
    note(
        "connection",
        model.text(workspace, readings, "connection").map(Value::from),
    );
    note(
        "date_format",
        model.text(workspace, readings, "dateFormat").map(Value::from),
    );
    note(
        "per_page",
        model
            .written(workspace, readings, "perPage")
            .and_then(|text| text.parse::<u64>().ok())
            .map(Value::from),
    );
    for name in ["with", "touches"] {
        let listed = model.texts(workspace, readings, name);
        note(name, (!listed.is_empty()).then(|| json!(listed)));
    }
    let mixes = |name: &str| model.lineage.names.iter().any(|one| basename(one) == name);
    note("soft_deletes", mixes("SoftDeletes").then_some(json!(true)));
    note("factory", mixes("HasFactory").then_some(json!(true)));
    note("uuids", (mixes("HasUuids") || mixes("HasUlids")).then_some(json!(true)));
    if let Some((reading, class)) = model.classes(workspace, readings).next() {
        let definition = reading.facts.definition(class);
        for (attribute, given) in attributes(reading, definition) {
            let name = match attribute.as_str() {
                "ObservedBy" => "observers",
                "ScopedBy" => "global_scopes",
                _ => continue,
            };
            note(name, Some(json!(named_classes(reading, &given))));
        }
    }
    members(workspace, key, model, homes, readings, found)
}

/// Scopes, attributes and relations, and what the methods themselves say of them.
fn members(
    workspace: &Workspace,
    key: SymbolKey,
    model: &Model,
    homes: &mut Homes<'_>,
    readings: &Readings,
    found: &mut ClassDescriptor,
) -> Result<(), QuestionError> {
    let mut models = Others {
        workspace,
        repository: key.repository,
        homes,
        readings: Readings::new(),
        depth: 0,
    };
    for method in model.methods(workspace, readings) {
        let Some(role) = model.role(workspace, readings, method, &mut models) else {
            continue;
        };
        let name = method.0.facts.text(method.2.name);
        if let Some(described) = found.methods.iter_mut().find(|described| described.name == name) {
            describe_role(described, &role);
        }
        match role {
            Role::Scope(called) => found.scopes.push(called),
            Role::Attribute { name, .. } => {
                if !found.attributes.contains(&name) {
                    found.attributes.push(name);
                }
            }
            Role::Relation(relation) => found.relations.push(*relation),
        }
    }
    Ok(())
}

/// Says in a method's descriptor what it is to Eloquent.
pub(super) fn describe_role(found: &mut FunctionDescriptor, role: &Role) {
    match role {
        Role::Scope(called) => {
            found.kind = "scope".to_string();
            found.metadata.insert("scope".into(), called.clone().into());
        }
        Role::Attribute { name, get, set } => {
            found.kind = if *get { "accessor" } else { "mutator" }.to_string();
            if *get && *set {
                found.tags.push("mutator".to_string());
            }
            found.metadata.insert("attribute".into(), name.clone().into());
        }
        Role::Relation(relation) => {
            let returned = ReturnDescriptor {
                type_: relation.type_.clone(),
                source_hint: "inferred_relation".to_string(),
                ..ReturnDescriptor::default()
            };
            match found.returns.first_mut() {
                Some(first) => {
                    let description = std::mem::take(&mut first.description);
                    *first = ReturnDescriptor {
                        description,
                        ..returned
                    };
                }
                None => found.returns.push(returned),
            }
            found.tags.push("laravel:relation".to_string());
        }
    }
}

/// Other models of the repository, read when they are asked for.
pub(super) struct Others<'a, 'h> {
    pub(super) workspace: &'a Workspace,
    pub(super) repository: usize,
    pub(super) homes: &'a mut Homes<'h>,
    pub(super) readings: Readings,
    /// How many models were gone through to reach the one asked.
    pub(super) depth: usize,
}

impl Others<'_, '_> {
    fn model(&mut self, name: &str) -> Option<Model> {
        let key = class_named(self.workspace, self.repository, name, self.homes)?;
        Model::of(self.workspace, key, self.homes, &mut self.readings)
            .ok()
            .flatten()
    }
}

impl Models for Others<'_, '_> {
    fn primary_key(&mut self, model: &str) -> String {
        let found = self.model(model);
        found.map_or_else(
            || "id".to_string(),
            |model| model.primary_key(self.workspace, &self.readings),
        )
    }

    fn relation(&mut self, model: &str, method: &str) -> Option<(String, String)> {
        if self.depth > 3 {
            return None;
        }
        let found = self.model(model)?;
        let mut inner = Others {
            workspace: self.workspace,
            repository: self.repository,
            homes: self.homes,
            readings: Readings::new(),
            depth: self.depth + 1,
        };
        let methods = found.methods(self.workspace, &self.readings);
        let named = methods
            .into_iter()
            .find(|(reading, _, definition)| reading.facts.text(definition.name) == method)?;
        match found.role(self.workspace, &self.readings, named, &mut inner)? {
            Role::Relation(relation) => Some((relation.relation_kind, relation.related_symbol)),
            _ => None,
        }
    }
}

/// What the method `key` is to Eloquent, if its class is a model.
pub(super) fn role_of(
    workspace: &Workspace,
    key: SymbolKey,
    homes: &mut Homes<'_>,
    readings: &mut Readings,
) -> Result<Option<Role>, QuestionError> {
    let Some(symbol) = workspace.symbol(key) else {
        return Ok(None);
    };
    let Some(class) = symbol.parent().filter(|parent| parent.kind() == Kind::Class) else {
        return Ok(None);
    };
    let class_key = SymbolKey {
        repository: key.repository,
        symbol: class.id(),
    };
    let Some(model) = Model::of(workspace, class_key, homes, readings)? else {
        return Ok(None);
    };
    read(workspace, key.repository, symbol, readings)?;
    let mut models = Others {
        workspace,
        repository: key.repository,
        homes,
        readings: Readings::new(),
        depth: 0,
    };
    let methods = model.methods(workspace, readings);
    let own = methods
        .into_iter()
        .find(|(reading, _, definition)| reading.facts.text(definition.name) == symbol.name());
    Ok(own.and_then(|method| model.role(workspace, readings, method, &mut models)))
}
