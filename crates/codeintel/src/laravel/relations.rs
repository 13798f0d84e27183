//! Eloquent's relations, read from the calls that make them: `return $this->belongsToMany(Role::class, 'role_user')->withPivot('active')`.
//!
//! Keys that the code leaves out follow from Laravel's conventions; such members are listed in `inferred`.

use syntax::facts::{DefinitionId, Expression, ExpressionId};

use super::inflect::{plural, snake};
use super::values::{Argument, Called, Chain, argument, chain, followed, returned, text, text_or_class, texts};
use crate::descriptors::RelationDescriptor;
use crate::descriptors::php::basename;
use crate::descriptors::reading::Reading;

/// Whose relation it is.
pub(super) struct Owner<'a> {
    /// Full name of the model.
    pub(super) full_name: &'a str,
    /// Its primary key.
    pub(super) primary_key: &'a str,
}

/// What is known of another model without describing it: its primary key, and the kind and target of one of its relations.
pub(super) trait Models {
    /// The primary key of a model; `id` where it is not known.
    fn primary_key(&mut self, model: &str) -> String;
    /// Kind and related model of the relation `method` of `model`.
    fn relation(&mut self, model: &str, method: &str) -> Option<(String, String)>;
}

/// The calls that make relations.
const KINDS: &[&str] = &[
    "hasOne",
    "hasMany",
    "belongsTo",
    "belongsToMany",
    "hasOneThrough",
    "hasManyThrough",
    "morphOne",
    "morphMany",
    "morphTo",
    "morphToMany",
    "morphedByMany",
];

/// The relation that the method `function`, named `name`, gives; `None` if it gives none.
pub(super) fn relation(
    reading: &Reading,
    function: DefinitionId,
    name: &str,
    owner: &Owner<'_>,
    models: &mut dyn Models,
) -> Option<RelationDescriptor> {
    returned(reading, function).into_iter().find_map(|value| {
        let mut chain = chain(reading, value)?;
        if !is_this(reading, chain.base) {
            // `$relation = $this->hasMany(…); return $relation->latest();`
            let start = followed(reading, chain.base).into_iter().find_map(|value| {
                let start = self::chain(reading, value)?;
                is_this(reading, start.base).then_some(start)
            })?;
            let later = std::mem::replace(&mut chain, start);
            chain.calls.extend(later.calls);
        }
        let first = chain.calls.first()?;
        match KINDS.iter().find(|kind| **kind == first.name) {
            Some(kind) => Some(declared(reading, kind, first, &chain, name, owner, models)),
            None => through(reading, &chain, name, owner, models),
        }
    })
}

/// The class that Eloquent uses for a kind of relation.
pub(super) fn class_of(kind: &str) -> String {
    let kind = if kind == "morphedByMany" { "morphToMany" } else { kind };
    let mut letters = kind.chars();
    letters
        .next()
        .map(|first| first.to_ascii_uppercase())
        .into_iter()
        .chain(letters)
        .collect()
}

/// The kind of relation that a class of Eloquent's stands for.
pub(super) fn kind_of(class: &str) -> Option<&'static str> {
    let class = basename(class.split('<').next().unwrap_or(class));
    KINDS
        .iter()
        .copied()
        .find(|kind| *kind != "morphedByMany" && class_of(kind) == class)
}

fn is_this(reading: &Reading, id: ExpressionId) -> bool {
    matches!(reading.facts.expression(id), Expression::This(_) | Expression::Super(_))
        || matches!(*reading.facts.expression(id), Expression::Bound { binding, .. }
            if reading.facts.bindings.get(binding.index()).is_some_and(|binding| matches!(binding.to, syntax::facts::Bound::Receiver(_))))
}

fn declared(
    reading: &Reading,
    kind: &str,
    call: &Called,
    chain: &Chain,
    name: &str,
    owner: &Owner<'_>,
    models: &mut dyn Models,
) -> RelationDescriptor {
    let given = &call.arguments;
    let said = |name: &str, place: usize| argument(given, name, place).and_then(|id| text(reading, id));
    let class = |name: &str, place: usize| {
        let found = argument(given, name, place).and_then(|id| text_or_class(reading, id));
        found.unwrap_or_default()
    };
    let mut found = RelationDescriptor {
        name: name.to_string(),
        relation_kind: kind.to_string(),
        ..RelationDescriptor::default()
    };
    if kind != "morphTo" {
        found.related_symbol = class("related", 0);
    }
    let related = found.related_symbol.clone();
    let own_key = format!("{}_{}", snake(basename(owner.full_name)), owner.primary_key);
    let mut related_primary_key = || match related.is_empty() {
        true => "id".to_string(),
        false => models.primary_key(&related),
    };
    let mut inferred: Vec<&str> = Vec::new();
    let mut or =
        |said: Option<String>, member: &'static str, convention: String| match said.filter(|said| !said.is_empty()) {
            Some(said) => said,
            None => {
                inferred.push(member);
                convention
            }
        };
    match kind {
        "hasOne" | "hasMany" => {
            found.foreign_key = or(said("foreignKey", 1), "foreign_key", own_key);
            found.local_key = or(said("localKey", 2), "local_key", owner.primary_key.to_string());
        }
        "belongsTo" => {
            let key = related_primary_key();
            found.foreign_key = or(said("foreignKey", 1), "foreign_key", format!("{}_{key}", snake(name)));
            found.local_key = or(said("ownerKey", 2), "local_key", key);
        }
        "hasOneThrough" | "hasManyThrough" => {
            found.through = class("through", 1);
            let through_key = models.primary_key(&found.through);
            found.foreign_key = or(said("firstKey", 2), "foreign_key", own_key);
            found.second_key = or(
                said("secondKey", 3),
                "second_key",
                format!("{}_{through_key}", snake(basename(&found.through))),
            );
            found.local_key = or(said("localKey", 4), "local_key", owner.primary_key.to_string());
        }
        "morphOne" | "morphMany" => {
            found.morph_name = said("name", 1).unwrap_or_default();
            found.foreign_key = or(said("id", 3), "foreign_key", format!("{}_id", found.morph_name));
            found.local_key = or(said("localKey", 4), "local_key", owner.primary_key.to_string());
        }
        "morphTo" => {
            found.morph_name = or(said("name", 0), "morph_name", snake(name));
            found.foreign_key = or(said("id", 2), "foreign_key", format!("{}_id", found.morph_name));
            found.local_key = said("ownerKey", 3).unwrap_or_default();
        }
        "belongsToMany" => {
            // The second argument may be the class of the table between.
            let related_key = format!("{}_{}", snake(basename(&related)), related_primary_key());
            let mut tables = [snake(basename(&related)), snake(basename(owner.full_name))];
            tables.sort();
            let table = argument(given, "table", 1).and_then(|id| text_or_class(reading, id));
            found.pivot_table = or(table, "pivot_table", tables.join("_"));
            found.foreign_key = or(said("foreignPivotKey", 2), "foreign_key", own_key);
            found.related_pivot_key = or(said("relatedPivotKey", 3), "related_pivot_key", related_key);
            found.local_key = or(said("parentKey", 4), "local_key", owner.primary_key.to_string());
        }
        "morphToMany" | "morphedByMany" => {
            found.morph_name = said("name", 1).unwrap_or_default();
            let morph_key = format!("{}_id", found.morph_name);
            let related_key = format!("{}_{}", snake(basename(&related)), related_primary_key());
            // The pivot keys change places when the morph is seen from the other side.
            let (own, other) = match kind {
                "morphToMany" => (morph_key, related_key),
                _ => (own_key, morph_key),
            };
            found.pivot_table = or(said("table", 2), "pivot_table", last_word_plural(&found.morph_name));
            found.foreign_key = or(said("foreignPivotKey", 3), "foreign_key", own);
            found.related_pivot_key = or(said("relatedPivotKey", 4), "related_pivot_key", other);
            found.local_key = or(said("parentKey", 5), "local_key", owner.primary_key.to_string());
        }
        _ => {}
    }
    found.inferred = inferred.into_iter().map(str::to_string).collect();
    pivot(reading, &chain.calls[1..], &mut found);
    found.type_ = shown(&found);
    found
}

/// `through('cars')->has('owner')` and `throughCars()->hasOwner()`.
fn through(
    reading: &Reading,
    chain: &Chain,
    name: &str,
    owner: &Owner<'_>,
    models: &mut dyn Models,
) -> Option<RelationDescriptor> {
    let [first, second, ..] = chain.calls.as_slice() else {
        return None;
    };
    let step = |call: &Called, word: &str| -> Option<String> {
        let rest = call.name.strip_prefix(word)?;
        match rest.is_empty() {
            true => argument(&call.arguments, "relation", 0).and_then(|id| text(reading, id)),
            false => {
                let mut letters = rest.chars();
                Some(letters.next()?.to_lowercase().chain(letters).collect())
            }
        }
    };
    let between = step(first, "through")?;
    let last = step(second, "has")?;
    let (first_kind, middle) = models.relation(owner.full_name, &between)?;
    let (second_kind, related) = models.relation(&middle, &last)?;
    let kind = match first_kind == "hasOne" && second_kind == "hasOne" {
        true => "hasOneThrough",
        false => "hasManyThrough",
    };
    let mut found = RelationDescriptor {
        name: name.to_string(),
        relation_kind: kind.to_string(),
        related_symbol: related,
        through: middle,
        ..RelationDescriptor::default()
    };
    found.type_ = shown(&found);
    Some(found)
}

/// What the calls after the relation say of the table between.
fn pivot(reading: &Reading, calls: &[Called], found: &mut RelationDescriptor) {
    let all = |arguments: &[Argument]| -> Vec<String> {
        arguments
            .iter()
            .flat_map(|argument| texts(reading, argument.value))
            .collect()
    };
    for call in calls {
        match call.name.as_str() {
            "withPivot" => found.pivot_columns.extend(all(&call.arguments)),
            "withTimestamps" => {
                let mut columns = all(&call.arguments);
                if columns.is_empty() {
                    columns = vec!["created_at".to_string(), "updated_at".to_string()];
                }
                found.pivot_columns.extend(columns);
            }
            "using" => found.pivot_model = all(&call.arguments).into_iter().next().unwrap_or_default(),
            "as" => found.pivot_accessor = all(&call.arguments).into_iter().next().unwrap_or_default(),
            _ => {}
        }
    }
}

/// `BelongsToMany<App\Role>`.
pub(super) fn shown(relation: &RelationDescriptor) -> String {
    let class = class_of(&relation.relation_kind);
    match relation.related_symbol.is_empty() {
        true => class,
        false => format!("{class}<{}>", relation.related_symbol),
    }
}

/// The last word of a snake name in the plural: the table of a morph.
fn last_word_plural(name: &str) -> String {
    match name.rsplit_once('_') {
        Some((before, last)) => format!("{before}_{}", plural(last)),
        None => plural(name),
    }
}
