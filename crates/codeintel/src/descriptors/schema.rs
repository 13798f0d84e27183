//! The descriptor schema: types, functions and symbols said the same way in every language.
//!
//! Field names and their order are the schema's; what is empty is left out, so a descriptor costs what it says. Lacon adds a
//! few members that say what the schema has no word for (`default`, `guarded`, `pivot_table`): readers skip what they do not know.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// Where a symbol stands.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct SymbolLocation {
    /// Path as answers give it. Left out of members that stand in the file of their type.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub file_path: String,
    /// `file://` address, on a descriptor that is an answer by itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub uri: String,
    /// First line, 1-based.
    #[serde(skip_serializing_if = "is_zero")]
    pub start_line: u32,
    /// Last line, included.
    #[serde(skip_serializing_if = "is_zero")]
    pub end_line: u32,
}

/// A type: class, interface, trait, struct, enum, alias, or a data model.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ClassDescriptor {
    /// Key of the language.
    pub language: String,
    /// `class`, `interface`, `trait`, `struct`, `enum`, `union`, `type` or `model`.
    pub kind: String,
    /// Short name.
    pub name: String,
    /// Namespace, with the language's own separator.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Package or module.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub package: String,
    /// Name with its namespace.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub full_name: String,
    /// As declared, without the body.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub signature: String,
    /// What its documentation says, tags excluded.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Where it stands.
    #[serde(skip_serializing_if = "is_default")]
    pub location: SymbolLocation,
    /// Its variables, constants and members of an enumeration.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fields: Vec<FieldDescriptor>,
    /// Its functions, wherever they are defined.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub methods: Vec<FunctionDescriptor>,
    /// What it extends, implements, mixes in and, for a model, is related to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub relations: Vec<RelationDescriptor>,
    /// Model: its table, declared or as the framework infers it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub table: String,
    /// Model: what may be mass assigned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub fillable: Vec<String>,
    /// Model: what may not be mass assigned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub guarded: Vec<String>,
    /// Model: what serialisation leaves out.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hidden: Vec<String>,
    /// Model: what alone serialisation keeps.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub visible: Vec<String>,
    /// Model: accessors that serialisation adds.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub appends: Vec<String>,
    /// Model: what columns are cast to.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub casts: BTreeMap<String, String>,
    /// Model: names of query scopes, as they are called.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub scopes: Vec<String>,
    /// Model: attributes with an accessor or a mutator.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub attributes: Vec<String>,
    /// Words that sort it: `abstract`, `final`, `deprecated`, `framework:laravel`, …
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What else is known.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// A variable of a type, a constant, or a member of an enumeration.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FieldDescriptor {
    /// Its name.
    pub name: String,
    /// Its type as written or documented.
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub type_: String,
    /// By the language's own rule.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub visibility: String,
    /// A tag of the field itself: Go's struct tag.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub tag: String,
    /// What its documentation says.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Its first value as written.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub default: String,
    /// Belongs to the type.
    #[serde(skip_serializing_if = "is_default")]
    pub is_static: bool,
    /// Line of its declaration.
    #[serde(skip_serializing_if = "is_zero")]
    pub line: u32,
}

/// A function or method.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct FunctionDescriptor {
    /// Key of the language; left out of the methods of a type.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub language: String,
    /// `function`, `method`, `scope`, `accessor`, `mutator` or `constructor`.
    pub kind: String,
    /// Short name.
    pub name: String,
    /// Namespace, with the language's own separator.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// The type it is a method of, as declared (`*Cart` in Go).
    #[serde(skip_serializing_if = "String::is_empty")]
    pub receiver: String,
    /// As declared, without the body.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub signature: String,
    /// What its documentation says, tags excluded.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Where it stands.
    #[serde(skip_serializing_if = "is_default")]
    pub location: SymbolLocation,
    /// What it takes, the receiver excluded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parameters: Vec<ParamDescriptor>,
    /// What it gives.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub returns: Vec<ReturnDescriptor>,
    /// By the language's own rule: `public`, `protected`, `private`, `internal`, `exported`, `unexported`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub visibility: String,
    /// Belongs to the type, not to its instances.
    #[serde(skip_serializing_if = "is_default")]
    pub is_static: bool,
    /// Has no body and must be given one.
    #[serde(skip_serializing_if = "is_default")]
    pub is_abstract: bool,
    /// Cannot be overridden.
    #[serde(skip_serializing_if = "is_default")]
    pub is_final: bool,
    /// Its text, on a descriptor that is an answer by itself.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub code: String,
    /// Words that sort it: `async`, `generator`, `override`, `test`, `deprecated`, …
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What else is known: `throws`, `examples`, `routes`, …
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

/// What a function takes.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ParamDescriptor {
    /// Its name, or its pattern as written.
    pub name: String,
    /// Its type as written, else as documented.
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub type_: String,
    /// What the documentation says of it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Its default as written.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub default: String,
    /// How arguments reach it, where not simply in order: `rest`, `keyword`, `keyword_rest`, `block`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub passing: String,
}

/// What a function gives.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReturnDescriptor {
    /// Its type.
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub type_: String,
    /// What the documentation says of it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Its name, where results have one (Go).
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// How the type is known: `type_hint`, `doc` (`phpdoc` in PHP) or `inferred_relation`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub source_hint: String,
}

/// How a type is related to another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct RelationDescriptor {
    /// The method that gives it, for a model's relations.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// `extends`, `implements`, `uses`, `embeds`, or the framework's own: `hasMany`, `belongsToMany`, …
    pub relation_kind: String,
    /// The other type, by its full name where that is known.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub related_symbol: String,
    /// The relation as a type: `BelongsToMany<App\Role>`.
    #[serde(rename = "type", skip_serializing_if = "String::is_empty")]
    pub type_: String,
    /// Key column that points to the other side.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub foreign_key: String,
    /// Key column that it is compared with.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub local_key: String,
    /// Many to many: the table between.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pivot_table: String,
    /// Many to many: the column of the table between that points to the related model.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub related_pivot_key: String,
    /// Many to many: further columns of the table between that are loaded.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pivot_columns: Vec<String>,
    /// Many to many: the model of the table between.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pivot_model: String,
    /// Many to many: the name under which a row of the table between is reached, if not `pivot`.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub pivot_accessor: String,
    /// Through: the key of the related model that points to the model between.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub second_key: String,
    /// Through: the model between.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub through: String,
    /// Polymorphic: the name of the pair of columns.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub morph_name: String,
    /// Keys that follow from the framework's conventions, not from the code: names of the members above.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub inferred: Vec<String>,
    /// What the documentation says of it.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
}

/// A symbol in a listing or a search result.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct SymbolDescriptor {
    /// Key of the language.
    pub language: String,
    /// `class`, `interface`, `trait`, `struct`, `enum`, `type`, `function`, `method`, `constant`, `variable`, `file`, …
    pub kind: String,
    /// Short name.
    pub name: String,
    /// Namespace, with the language's own separator.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub namespace: String,
    /// Package or module.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub package: String,
    /// As declared, without the body.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub signature: String,
    /// First sentence of its documentation.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub description: String,
    /// Where it stands.
    #[serde(skip_serializing_if = "is_default")]
    pub location: SymbolLocation,
    /// Words that sort it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// What else is known: `owner` of a member; scores and snippets of a search result.
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub metadata: Map<String, Value>,
}

fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}
