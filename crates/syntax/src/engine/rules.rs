//! A language's table: `rules.toml` compiled into an array indexed by node kind.
//!
//! ```toml
//! members = "direct"        # who sees the members of a type bare: no one (default), its body alone ("direct"), all code inside
//!                           # ("nested"); "types": all code inside sees nested types, the rest is left to resolution; "bare": and
//!                           # functions among the members hide those of the file
//! visibility = "underscore" # from the name: "underscore", "capital"; or what holds without a modifier: "public", "private", …
//! shadowing = true          # a second declaration in one scope is a new variable, seen from there on (Rust, Go, C)
//! constructors = ["__init__"]
//! constants = true          # ALL_CAPS variables are constants
//! name_functions = true     # `x = function…` defines a function called x
//! name_members = true       # `x.y = function…` defines one that is y of x
//! clauses = true            # functions of one name next to each other are one (Haskell, Elixir)
//! functions_apart = true    # a called name is a function's: variables of that name do not hide it
//! calls_parameters = true   # except a parameter that is not declared with the name of a type: that holds a function
//! defaults_outside = true   # defaults of parameters belong to the code around the function
//! iterates = ["__iter__", "__next__"]   # members that a loop runs, each on the result of the one before
//! enters = ["__enter__", "__exit__"]    # members that entering and leaving a context runs
//! tags_apart = true         # `struct x`, `union x` and `enum x` are other names than `x`
//! [modifiers]               # tokens (or nodes) that set flags or visibility: any name of `Flags` in lowercase, or a visibility
//! async = "async"
//! private = "private"
//! struct = "kind struct"    # one that says what kind of definition it is in
//! [nodes]
//! …
//! ```
//!
//! | `do` | keys | meaning |
//! |---|---|---|
//! | `walk` | | lower the named children, value unknown (the default) |
//! | `skip` | | nothing of interest inside |
//! | `comment` | | a comment; the one before a definition documents it |
//! | `pass` | `value` | as its child (the last named one by default) |
//! | `name` | | an identifier |
//! | `member` | `object`, `name` | `object.name` |
//! | `call` | `callee`, or `object` and `name`; `arguments` | |
//! | `new` | `type`, `arguments` | |
//! | `macro` | `callee` | a macro call; its body is walked |
//! | `arguments` | | the list that holds the arguments |
//! | `argument` | `name`, `value` | a named (or wrapped) argument |
//! | `spread` | `mapping = true` for `**` | a spread argument or element, a rest pattern |
//! | `index` | `object`, `key` | `object[key]`; as a type, `Generic` |
//! | `sequence` | | list, tuple, set; as a target, positions |
//! | `mapping` | | dictionary, object; as a target, members |
//! | `pair` | `key`, `value` | an entry of a mapping |
//! | `default` | `target`, `value` | a pattern with a default |
//! | `text` | `content` | a string literal; anything named inside other than `content` is interpolation |
//! | `literal` | `literal` = number, boolean, null, text, other | |
//! | `choice` | `values` | one of the selected children (all named ones by default) |
//! | `unwrap` | `value` | `await x`, `x?` |
//! | `element` | `value` | what iterating gives |
//! | `cast` | `value`, `type` | a value of the type |
//! | `generic` | `base`, `arguments` | `Base<A, B>` |
//! | `wrapped` | `type` | pointer, reference, optional, array of |
//! | `function_type` | `parameters`, `result` | |
//! | `this`, `super` | | |
//! | `define` | `kind`, `name`, `owner`, `parameters`, `result`, `body`, `bases`, `value`, `hoist`, `levels` | a definition (below `levels` others, nothing); one with an `owner` is a member written outside of its type; children whose rule is `decorator`, `modifiers`, `base` or `type_parameters` are found by themselves |
//! | `lambda` | as `define` | an anonymous function |
//! | `assign` | `target`, `value`, `type`, `declare` = none, function, block; `when` = tokens | walked instead if none of the tokens is there |
//! | `update` | `target`, `value`; `when` = tokens | `target += value`; with one of the tokens the target may get the value (`\|\|=`) |
//! | `loop` | `target`, `value`, `declare` | the target gets the elements of the value |
//! | `enter` | `target`, `value`, `declare` | the target gets what entering the value gives |
//! | `catch` | `target`, `type`, `declare` | the target gets an instance of the type |
//! | `parameter` | `name`, `type`, `value`, `passing` | |
//! | `keyword_separator` | | parameters after it go by name alone |
//! | `type_parameters`, `type_parameter` | `name`, `type` | |
//! | `decorator` | `value` | applies to the definition it stands in or before |
//! | `modifiers` | | holds tokens named in `[modifiers]` |
//! | `base` | `base` = extends, implements, mixes, embeds | an inheritance clause: its named children are the bases |
//! | `return`, `yield` | `value`; for `yield`, `delegate = true` | |
//! | `block` | `when` = kinds | a scope, if one of its children is of these kinds (always, without `when`) |
//! | `import` | `module`, `name`, `alias`, `form` | |
//! | `package` | `name` | the file's own package |
//!
//! Any rule may also say `branch = true` (runs once, never or often), `role` (what happens to a name lowered by it), `keeps_doc =
//! true` (a comment before it documents what follows) and `hook = true`.

use crate::facts::{BaseKind, Flags, ImportForm, Kind, LiteralKind, Passing, Role, Visibility};
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use serde::Deserialize;
use serde::de::IntoDeserializer;
use std::collections::BTreeMap;

/// A compiled table.
pub(crate) struct Rules {
    by_kind: Vec<Rule>,
    named: Vec<bool>,
    names: Vec<Box<str>>,
    modifiers: Vec<Option<Modifier>>,
    /// Numbers of the grammar's fields: the grammar itself compares a name with all of them.
    fields: HashMap<Box<str>, u16, FixedState>,
    pub(crate) members: Members,
    pub(crate) visibility: VisibilityRule,
    pub(crate) shadowing: bool,
    pub(crate) constants: bool,
    pub(crate) name_functions: bool,
    pub(crate) name_members: bool,
    pub(crate) clauses: bool,
    /// Whether a modifier tells the kind of a definition.
    pub(crate) has_kind_modifiers: bool,
    pub(crate) functions_apart: bool,
    pub(crate) calls_parameters: bool,
    pub(crate) tags_apart: bool,
    pub(crate) defaults_outside: bool,
    pub(crate) iterates: Vec<String>,
    pub(crate) enters: Vec<String>,
    pub(crate) constructors: Vec<String>,
    /// What is wrong with the table; a test keeps it empty.
    pub(crate) mistakes: Vec<String>,
}

/// What a token among the children of a definition says of it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Modifier {
    Flag(Flags),
    Visibility(Visibility),
    Kind(Kind),
}

/// Who sees the members of a type without naming it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Members {
    /// No one.
    #[default]
    Hidden,
    /// Its body, not the functions inside.
    Direct,
    /// Everything inside sees nested types. What else a bare name means depends on bases and overloads, which only resolution
    /// knows.
    Types,
    /// The same, and a function among the members hides what the file has around the type.
    Bare,
    /// Everything inside.
    Nested,
}

/// What decides visibility where no modifier does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum VisibilityRule {
    Always(Visibility),
    Underscore,
    Capital,
}

/// What a node means.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rule {
    pub(crate) action: Action,
    pub(crate) hook: bool,
    /// Whether a child is selected by field, here or in a hook.
    pub(crate) by_field: bool,
    pub(crate) branch: bool,
    pub(crate) keeps_doc: bool,
    /// `**` for a spread, `yield from` for a yield.
    pub(crate) flag: bool,
    pub(crate) role: Option<Role>,
    pub(crate) kind: Option<Kind>,
    pub(crate) literal: Option<LiteralKind>,
    pub(crate) passing: Passing,
    pub(crate) base: Option<BaseKind>,
    pub(crate) form: Option<ImportForm>,
    pub(crate) declare: Declared,
    pub(crate) hoist: bool,
    /// Deepest level of definitions at which this one counts; 0 is any.
    pub(crate) levels: u8,
    pub(crate) name: Selector,
    pub(crate) value: Selector,
    pub(crate) target: Selector,
    pub(crate) type_: Selector,
    pub(crate) parameters: Selector,
    pub(crate) result: Selector,
    pub(crate) body: Selector,
    pub(crate) bases: Selector,
    pub(crate) owner: Selector,
    /// Also the callee, the base of a generic, the module of an import.
    pub(crate) object: Selector,
    pub(crate) arguments: Selector,
    pub(crate) values: Vec<Selector>,
    pub(crate) kinds: Vec<u16>,
}

impl Rule {
    /// The role of a name lowered by this rule. What happens to a thing as a whole (it is inherited from, called, constructed)
    /// weighs more than where it stands; that its value is read does not.
    pub(crate) fn role_in(&self, role: Role) -> Role {
        match self.role {
            Some(own) if role == Role::Read || own == Role::Read => own,
            _ => role,
        }
    }

    fn selectors(&self) -> impl Iterator<Item = &Selector> {
        let single = [
            &self.name,
            &self.value,
            &self.target,
            &self.type_,
            &self.parameters,
            &self.result,
            &self.body,
            &self.bases,
            &self.owner,
            &self.object,
            &self.arguments,
        ];
        single.into_iter().chain(&self.values)
    }
}

/// Where an assignment declares its target.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Declared {
    /// Nowhere: the name exists already.
    #[default]
    None,
    /// In the function around it.
    Function,
    /// In the block around it.
    Block,
}

/// How a child is found.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Selector {
    #[default]
    None,
    Field(u16),
    Kind(u16),
    /// Among the named children; negative counts from the end.
    Nth(i8),
    First(Box<[Selector]>),
    /// The node itself: a body without a node of its own.
    Itself,
    /// Each inside the one before.
    Path(Box<[Selector]>),
}

impl Selector {
    fn is_by_field(&self) -> bool {
        match self {
            Selector::Field(_) => true,
            Selector::First(parts) | Selector::Path(parts) => parts.iter().any(Selector::is_by_field),
            Selector::None | Selector::Kind(_) | Selector::Nth(_) | Selector::Itself => false,
        }
    }
}

macro_rules! actions {
    ($($action:ident = $text:literal,)*) => {
        /// What to do with a node; the module documentation has the table.
        #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
        pub(crate) enum Action { #[default] $($action,)* }

        fn action(text: &str) -> Option<Action> {
            match text { $($text => Some(Action::$action),)* _ => None }
        }
    };
}

actions! {
    Walk = "walk", Skip = "skip", Comment = "comment", Pass = "pass", Name = "name", Member = "member", Call = "call", New = "new",
    Macro = "macro", Arguments = "arguments", Argument = "argument", Spread = "spread", Index = "index", Sequence = "sequence",
    Mapping = "mapping", Pair = "pair", Default = "default", Text = "text", Literal = "literal", Choice = "choice",
    Unwrap = "unwrap", Element = "element", Cast = "cast", Generic = "generic", Wrapped = "wrapped", FunctionType = "function_type", This = "this",
    Super = "super", Define = "define", Lambda = "lambda", Assign = "assign", Update = "update", Loop = "loop", Enter = "enter",
    Catch = "catch", Parameter = "parameter", KeywordSeparator = "keyword_separator", TypeParameters = "type_parameters",
    TypeParameter = "type_parameter", Decorator = "decorator", Modifiers = "modifiers", Base = "base", Return = "return",
    Yield = "yield", Block = "block", Import = "import", Package = "package",
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Table {
    #[serde(default)]
    members: Members,
    #[serde(default)]
    visibility: Option<String>,
    #[serde(default)]
    shadowing: bool,
    #[serde(default)]
    constants: bool,
    #[serde(default)]
    name_functions: bool,
    #[serde(default)]
    name_members: bool,
    #[serde(default)]
    clauses: bool,
    #[serde(default)]
    functions_apart: bool,
    #[serde(default)]
    calls_parameters: bool,
    #[serde(default)]
    tags_apart: bool,
    #[serde(default)]
    defaults_outside: bool,
    #[serde(default)]
    iterates: Vec<String>,
    #[serde(default)]
    enters: Vec<String>,
    #[serde(default)]
    constructors: Vec<String>,
    #[serde(default)]
    modifiers: BTreeMap<String, String>,
    #[serde(default)]
    nodes: BTreeMap<String, Entry>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    #[serde(rename = "do")]
    action: String,
    #[serde(default)]
    hook: bool,
    #[serde(default)]
    branch: bool,
    #[serde(default)]
    keeps_doc: bool,
    #[serde(default)]
    mapping: bool,
    #[serde(default)]
    delegate: bool,
    #[serde(default)]
    hoist: bool,
    #[serde(default)]
    levels: u8,
    #[serde(default)]
    declare: Declared,
    #[serde(default)]
    passing: Passing,
    role: Option<Role>,
    kind: Option<Kind>,
    literal: Option<LiteralKind>,
    base: Option<String>,
    form: Option<ImportForm>,
    name: Option<String>,
    value: Option<String>,
    target: Option<String>,
    #[serde(rename = "type")]
    type_: Option<String>,
    parameters: Option<String>,
    result: Option<String>,
    body: Option<String>,
    bases: Option<String>,
    owner: Option<String>,
    object: Option<String>,
    callee: Option<String>,
    module: Option<String>,
    key: Option<String>,
    alias: Option<String>,
    content: Option<String>,
    arguments: Option<String>,
    #[serde(default)]
    values: Vec<String>,
    #[serde(default)]
    when: Vec<String>,
}

const WALK: &Rule = &Rule {
    action: Action::Walk,
    hook: false,
    by_field: false,
    branch: false,
    keeps_doc: false,
    flag: false,
    role: None,
    kind: None,
    literal: None,
    passing: Passing::Normal,
    base: None,
    form: None,
    declare: Declared::None,
    hoist: false,
    levels: 0,
    name: Selector::None,
    value: Selector::None,
    target: Selector::None,
    type_: Selector::None,
    parameters: Selector::None,
    result: Selector::None,
    body: Selector::None,
    bases: Selector::None,
    owner: Selector::None,
    object: Selector::None,
    arguments: Selector::None,
    values: Vec::new(),
    kinds: Vec::new(),
};

impl Rules {
    /// What node kind `kind` means.
    pub(crate) fn rule(&self, kind: u16) -> &Rule {
        self.by_kind.get(kind as usize).unwrap_or(WALK)
    }

    /// Whether node kind `kind` is a named one; errors are.
    pub(crate) fn is_named(&self, kind: u16) -> bool {
        self.named.get(kind as usize).copied().unwrap_or(true)
    }

    /// [`Rules::is_named`] by kind.
    pub(crate) fn named(&self) -> &[bool] {
        &self.named
    }

    /// The name of node kind `kind`.
    pub(crate) fn name(&self, kind: u16) -> &str {
        self.names.get(kind as usize).map_or("ERROR", |name| name)
    }

    /// The number of a field.
    pub(crate) fn field(&self, name: &str) -> Option<u16> {
        self.fields.get(name).copied()
    }

    pub(crate) fn modifier(&self, kind: u16) -> Option<Modifier> {
        self.modifiers.get(kind as usize).copied().flatten()
    }

    /// Compiles `text` for `grammar`. A table with mistakes still works without the lines that hold them.
    pub(crate) fn compile(language: &str, text: &str, grammar: &tree_sitter::Language) -> Rules {
        let count = grammar.node_kind_count();
        let mut rules = Rules {
            by_kind: vec![Rule::default(); count],
            fields: (1..=grammar.field_count() as u16)
                .filter_map(|id| Some((grammar.field_name_for_id(id)?.into(), id)))
                .collect(),
            named: (0..count).map(|kind| grammar.node_kind_is_named(kind as u16)).collect(),
            names: (0..count)
                .map(|kind| grammar.node_kind_for_id(kind as u16).unwrap_or_default().into())
                .collect(),
            modifiers: vec![None; count],
            members: Members::Hidden,
            visibility: VisibilityRule::Always(Visibility::Public),
            shadowing: false,
            constants: false,
            name_functions: false,
            name_members: false,
            clauses: false,
            has_kind_modifiers: false,
            functions_apart: false,
            calls_parameters: false,
            tags_apart: false,
            defaults_outside: false,
            iterates: Vec::new(),
            enters: Vec::new(),
            constructors: Vec::new(),
            mistakes: Vec::new(),
        };
        let table: Table = match toml::from_str(text) {
            Ok(table) => table,
            Err(error) => {
                rules.mistakes.push(format!("{language}: {error}"));
                return rules;
            }
        };
        rules.members = table.members;
        rules.shadowing = table.shadowing;
        rules.constants = table.constants;
        rules.name_functions = table.name_functions;
        rules.name_members = table.name_members;
        rules.clauses = table.clauses;
        rules.functions_apart = table.functions_apart;
        rules.calls_parameters = table.calls_parameters;
        rules.tags_apart = table.tags_apart;
        rules.defaults_outside = table.defaults_outside;
        rules.iterates = table.iterates;
        rules.enters = table.enters;
        rules.constructors = table.constructors;
        rules.visibility = match table.visibility.as_deref() {
            None => VisibilityRule::Always(Visibility::Public),
            Some("underscore") => VisibilityRule::Underscore,
            Some("capital") => VisibilityRule::Capital,
            Some(other) => match visibility(other) {
                Some(visibility) => VisibilityRule::Always(visibility),
                None => {
                    rules.mistakes.push(format!("{language}: unknown visibility `{other}`"));
                    VisibilityRule::Always(Visibility::Public)
                }
            },
        };
        for (token, meaning) in &table.modifiers {
            let Some(modifier) = visibility(meaning)
                .map(Modifier::Visibility)
                .or_else(|| flag(meaning).map(Modifier::Flag))
                .or_else(|| kind(meaning.strip_prefix("kind ")?).map(Modifier::Kind))
            else {
                rules.mistakes.push(format!("{language}: unknown modifier `{meaning}`"));
                continue;
            };
            rules.has_kind_modifiers |= matches!(modifier, Modifier::Kind(_));
            for kind in kinds_named(grammar, token) {
                rules.modifiers[kind as usize] = Some(modifier);
            }
        }
        for (node, entry) in &table.nodes {
            // Dialects share one table, so a kind that this grammar lacks is fine; a test checks that some dialect has it.
            let kinds = kinds_named(grammar, node);
            match compile_entry(entry, grammar) {
                Ok(rule) => {
                    for kind in kinds {
                        rules.by_kind[kind as usize] = rule.clone();
                    }
                }
                Err(mistake) => rules.mistakes.push(format!("{language}: {node}: {mistake}")),
            }
        }
        rules
    }
}

/// The node kinds in `[nodes]` of `text` that none of `grammars` has.
#[cfg(test)]
pub(crate) fn unknown_kinds(text: &str, grammars: &[tree_sitter::Language]) -> Vec<String> {
    let table: Table = toml::from_str(text).expect("rules");
    let unknown = |node: &String| grammars.iter().all(|grammar| kinds_named(grammar, node).is_empty());
    table.nodes.into_keys().filter(unknown).collect()
}

/// All ids of the visible node kind `name`: grammars may have several, by aliases.
fn kinds_named(grammar: &tree_sitter::Language, name: &str) -> Vec<u16> {
    (0..grammar.node_kind_count() as u16)
        .filter(|&kind| grammar.node_kind_is_visible(kind) && grammar.node_kind_for_id(kind) == Some(name))
        .collect()
}

fn compile_entry(entry: &Entry, grammar: &tree_sitter::Language) -> Result<Rule, String> {
    let select = |text: &Option<String>| match text {
        Some(text) => selector(text, grammar),
        None => Ok(Selector::None),
    };
    let either = |one: &Option<String>, other: &Option<String>| select(if one.is_some() { one } else { other });
    let generic = entry.action == "generic";
    let mut rule = Rule {
        action: action(&entry.action).ok_or_else(|| format!("unknown action `{}`", entry.action))?,
        hook: entry.hook,
        by_field: false,
        branch: entry.branch,
        keeps_doc: entry.keeps_doc,
        flag: entry.mapping || entry.delegate,
        role: entry.role,
        kind: entry.kind,
        literal: entry.literal,
        passing: entry.passing,
        base: match entry.base.as_deref() {
            Some(_) if generic => None,
            None => None,
            Some("extends") => Some(BaseKind::Extends),
            Some("implements") => Some(BaseKind::Implements),
            Some("mixes") => Some(BaseKind::Mixes),
            Some("embeds") => Some(BaseKind::Embeds),
            Some(other) => return Err(format!("unknown base `{other}`")),
        },
        form: entry.form,
        declare: entry.declare,
        hoist: entry.hoist,
        levels: entry.levels,
        name: select(&entry.name)?,
        value: either(&entry.value, &entry.content)?,
        target: either(&entry.target, &entry.alias)?,
        type_: select(&entry.type_)?,
        parameters: select(&entry.parameters)?,
        result: select(&entry.result)?,
        body: select(&entry.body)?,
        bases: select(&entry.bases)?,
        owner: select(&entry.owner)?,
        object: match (&entry.object, &entry.callee, &entry.module) {
            (Some(text), _, _) | (None, Some(text), _) | (None, None, Some(text)) => selector(text, grammar)?,
            (None, None, None) if generic => select(&entry.base)?,
            (None, None, None) => Selector::None,
        },
        arguments: either(&entry.arguments, &entry.key)?,
        values: entry
            .values
            .iter()
            .map(|text| selector(text, grammar))
            .collect::<Result<_, _>>()?,
        kinds: entry.when.iter().flat_map(|name| kinds_named(grammar, name)).collect(),
    };
    rule.by_field = rule.hook || rule.selectors().any(Selector::is_by_field);
    Ok(rule)
}

/// Fields and kinds that this dialect lacks select nothing.
fn selector(text: &str, grammar: &tree_sitter::Language) -> Result<Selector, String> {
    let mut alternatives = Vec::new();
    for one in text.split('|').map(str::trim) {
        if one == "." {
            alternatives.push(Selector::Itself);
        } else if one.contains(" > ") {
            let steps = one
                .split(" > ")
                .map(|step| selector(step.trim(), grammar))
                .collect::<Result<Vec<_>, _>>()?;
            alternatives.push(Selector::Path(steps.into()));
        } else if let Some(kind) = one.strip_prefix('<').and_then(|one| one.strip_suffix('>')) {
            alternatives.extend(kinds_named(grammar, kind).into_iter().map(Selector::Kind));
        } else if let Some(position) = one.strip_prefix('#') {
            alternatives.push(Selector::Nth(
                position.parse().map_err(|_| format!("bad position `{one}`"))?,
            ));
        } else if one.is_empty() {
            return Err("empty selector".to_owned());
        } else if let Some(field) = grammar.field_id_for_name(one) {
            alternatives.push(Selector::Field(field.get()));
        }
    }
    Ok(match alternatives.len() {
        0 => Selector::None,
        1 => alternatives.remove(0),
        _ => Selector::First(alternatives.into()),
    })
}

fn visibility(text: &str) -> Option<Visibility> {
    let deserializer: serde::de::value::StrDeserializer<'_, serde::de::value::Error> = text.into_deserializer();
    Visibility::deserialize(deserializer).ok()
}

fn kind(text: &str) -> Option<Kind> {
    let deserializer: serde::de::value::StrDeserializer<'_, serde::de::value::Error> = text.into_deserializer();
    Kind::deserialize(deserializer).ok()
}

fn flag(text: &str) -> Option<Flags> {
    Some(match text {
        "static" => Flags::STATIC,
        "abstract" => Flags::ABSTRACT,
        "async" => Flags::ASYNC,
        "generator" => Flags::GENERATOR,
        "test" => Flags::TEST,
        "declaration" => Flags::DECLARATION,
        "getter" => Flags::GETTER,
        "setter" => Flags::SETTER,
        "final" => Flags::FINAL,
        "override" => Flags::OVERRIDE,
        "exported" => Flags::EXPORTED,
        "extension" => Flags::EXTENSION,
        "default" => Flags::DEFAULT,
        _ => return None,
    })
}
