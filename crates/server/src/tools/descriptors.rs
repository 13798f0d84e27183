//! The questions whose answer is a descriptor: types, functions, packages, lines of code; and Laravel's routes.
//!
//! They take `output_format` (`markdown` by default, or `json`), as the descriptor schema has it, beside the `format` of all
//! tools, and have a Markdown of their own that says everything the JSON says.

use codeintel::code_context::{CodeContext, Lines, code_context};
use codeintel::descriptors::markdown;
use codeintel::function_details::{FunctionDetails, FunctionFound, function_details};
use codeintel::laravel::{LaravelRoutes, RoutesFound, laravel_routes};
use codeintel::package_exports::{Exports, PackageExports, package_exports};
use codeintel::type_definition::{OutputFormat, TypeDefinition, TypeFound, type_definition};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use wire::Format;
use wire::layout::Layout;
use wire::protocol::{Refusal, Scope};
use wire::tokens::Tokenizer;

use super::{Cut, Desk, Finished, Reply, Tool, Toolset, masks, put, read, refused, schema, value};

/// What is answered with a descriptor.
pub(super) const TOOLS: &[Tool] = &[
    Tool {
        name: "find_type_definition",
        about: "A type as a descriptor: fields, methods wherever defined, what it extends; models with table, casts, relations.",
        parameters: schema::of::<TypeDefinition>,
        ask: |desk, arguments| {
            put(
                desk,
                arguments,
                type_definition,
                Layout::generic("find_type_definition"),
            )
        },
        ..DESCRIPTOR
    },
    Tool {
        name: "get_function_details",
        about: "A function as a descriptor: parameters with types, defaults and documentation, returns, modifiers, code.",
        cut: Cut::Lines,
        parameters: schema::of::<FunctionDetails>,
        ask: |desk, arguments| {
            put(
                desk,
                arguments,
                function_details,
                Layout::generic("get_function_details"),
            )
        },
        ..DESCRIPTOR
    },
    Tool {
        name: "list_package_exports",
        about: "What a package, namespace, module or folder offers, by its language's rule of visibility.",
        parameters: schema::of::<PackageExports>,
        ask: exports,
        ..DESCRIPTOR
    },
    Tool {
        name: "get_code_context",
        about: "Lines of a file with some around them, and the symbol they stand in.",
        cut: Cut::Lines,
        parameters: schema::of::<CodeContext>,
        ask: |desk, arguments| put(desk, arguments, code_context, Layout::generic("get_code_context")),
        ..DESCRIPTOR
    },
    Tool {
        name: "laravel_routes",
        about: "Routes of a Laravel application: verbs, path, name, handler, middleware; groups applied, resources spelled out.",
        toolset: Toolset::All,
        parameters: schema::of::<LaravelRoutes>,
        ask: |desk, arguments| put(desk, arguments, laravel_routes, Layout::generic("laravel_routes")),
        ..DESCRIPTOR
    },
];

const DESCRIPTOR: Tool = Tool {
    name: "",
    about: "",
    toolset: Toolset::Search,
    scope: Scope::Workspace,
    max_tokens: 8_000,
    cut: Cut::Rows,
    writes: false,
    parameters: schema::of::<LaravelRoutes>,
    ask: |desk, arguments| put(desk, arguments, laravel_routes, Layout::generic("")),
};

/// The format of an answer that neither the call nor the session asks for in a format: Markdown, as the schema has it.
pub(super) fn default_format(tool: &str) -> Option<Format> {
    let is_descriptor = TOOLS.iter().any(|other| other.name == tool) && tool != "laravel_routes";
    is_descriptor.then_some(Format::Markdown)
}

/// The answer of `tool` for reading; `None` for one that has no Markdown of its own.
pub fn markdown(tool: &str, found: &Value) -> Option<String> {
    fn typed<A: DeserializeOwned>(found: &Value, write: fn(&A) -> String) -> Option<String> {
        serde_json::from_value(found.clone()).ok().map(|found| write(&found))
    }
    match tool {
        "find_type_definition" => typed::<TypeFound>(found, markdown::type_found),
        "get_function_details" => typed::<FunctionFound>(found, markdown::function_found),
        "list_package_exports" => typed::<Exports>(found, markdown::exports),
        "get_code_context" => typed::<Lines>(found, markdown::lines),
        "laravel_routes" => typed::<RoutesFound>(found, markdown::routes),
        _ => None,
    }
}

/// `output_format: json` is the schema's bare list; every other form has totals and a cursor around it.
fn exports(desk: &Desk, arguments: Map<String, Value>) -> Result<Reply, Refusal> {
    let mut ask: PackageExports = read(arguments)?;
    let mut found = package_exports(desk.workspace, &ask).map_err(refused)?;
    if ask.output_format == Some(OutputFormat::Json) && desk.wish.format == Format::Json {
        loop {
            let mut symbols = value(&found.symbols)?;
            let mut text = symbols.to_string();
            if masks::mask_value(desk, &mut symbols, &text) {
                text = symbols.to_string();
            }
            let note = found.truncated.then(|| {
                let cursor = found.next_cursor.as_deref().unwrap_or_default();
                format!("{} of {}: go on with cursor {cursor}", found.symbols.len(), found.total)
            });
            let tokens = Tokenizer::O200k.count(&text);
            if tokens <= desk.wish.max_tokens || found.symbols.len() <= 1 {
                desk.finish(Finished {
                    texts: std::iter::once(text).chain(note).collect(),
                    format: Format::Json,
                });
                break;
            }
            let fewer = found.symbols.len() * desk.wish.max_tokens * 9 / (tokens * 10);
            ask.limit = Some(fewer.clamp(1, found.symbols.len() - 1) as u32);
            found = package_exports(desk.workspace, &ask).map_err(refused)?;
        }
    }
    Ok(Reply {
        value: value(&found)?,
        layout: Layout::generic("list_package_exports"),
    })
}
