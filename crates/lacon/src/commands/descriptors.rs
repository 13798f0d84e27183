//! The questions about types, functions and packages as verbs: `lacon type User` asks `find_type_definition`.

use serde::Serialize;

use super::questions::{Asking, Page, ask};

/// A type.
#[derive(clap::Args, Serialize)]
pub(crate) struct Type {
    /// Name, full name or path:line of the type
    #[arg(value_name = "TYPE")]
    type_name: String,

    #[command(flatten)]
    #[serde(flatten)]
    place: Place,

    #[command(flatten)]
    #[serde(flatten)]
    page: Page,
}

/// A function.
#[derive(clap::Args, Serialize)]
pub(crate) struct Function {
    /// Name, Owner.name, full name or path:line of the function
    #[arg(value_name = "FUNCTION")]
    function_name: String,

    /// The class it is a method of
    #[arg(long = "class", value_name = "CLASS")]
    class_name: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    place: Place,

    /// Lines of code at most
    #[arg(long, value_name = "N")]
    max_lines: Option<u32>,
}

/// Where something is looked for.
#[derive(clap::Args, Serialize)]
pub(crate) struct Place {
    /// Package, namespace or folder it is in
    #[arg(long, value_name = "PACKAGE")]
    package: Option<String>,

    /// Path of its file, or the end of it
    #[arg(long = "file", value_name = "PATH")]
    file_path: Option<String>,
}

/// A package.
#[derive(clap::Args, Serialize)]
pub(crate) struct Package {
    /// Package, namespace, module, folder or file
    package: String,

    /// Only this kind: function, type, class, interface, constant, method, …
    #[arg(long = "kind", value_name = "KIND")]
    symbol_type: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    page: Page,
}

/// Lines of a file.
#[derive(clap::Args, Serialize)]
pub(crate) struct Range {
    /// The file and its lines, as path:10-50 or path:10
    #[arg(value_name = "PATH:LINES", value_parser = stretch)]
    #[serde(flatten)]
    stretch: Stretch,

    /// First line, where the path has none
    #[arg(value_name = "FIRST", hide = true)]
    #[serde(rename = "start_line", skip_serializing_if = "Option::is_none")]
    first: Option<u32>,

    /// Last line
    #[arg(value_name = "LAST", hide = true)]
    #[serde(rename = "end_line", skip_serializing_if = "Option::is_none")]
    last: Option<u32>,

    /// Lines before and after
    #[arg(long, value_name = "N")]
    context_lines: Option<u32>,
}

/// A file and some of its lines.
#[derive(Clone, Serialize)]
struct Stretch {
    file_path: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    start_line: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    end_line: Option<u32>,
}

/// `path:10-50`, `path:10` or `path`. What follows the last colon may be part of a name.
fn stretch(text: &str) -> Result<Stretch, std::convert::Infallible> {
    let lines = |lines: &str| -> Option<(u32, u32)> {
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        Some((first.parse().ok()?, last.parse().ok()?))
    };
    let placed = text
        .rsplit_once(':')
        .and_then(|(path, rest)| Some((path, lines(rest)?)));
    Ok(match placed {
        Some((path, (first, last))) => Stretch {
            file_path: path.to_owned(),
            start_line: Some(first),
            end_line: Some(last),
        },
        None => Stretch {
            file_path: text.to_owned(),
            start_line: None,
            end_line: None,
        },
    })
}

/// Routes.
#[derive(clap::Args, Serialize)]
pub(crate) struct Routes {
    /// Only routes whose path, name or handler holds this
    filter: Option<String>,

    /// Only this verb: GET, POST, …
    #[arg(long, value_name = "VERB")]
    method: Option<String>,

    #[command(flatten)]
    #[serde(flatten)]
    page: Page,
}

super::questions::questions! {
    /// A type: fields, methods wherever they are defined, what it extends
    #[command(after_help = "Examples:\n  lacon type Client\n  lacon type models.Cart --file src/models.py")]
    type_: Type => "find_type_definition",
    /// A function: parameters, results, documentation, code
    #[command(after_help = "Examples:\n  lacon function Client.send")]
    function: Function => "get_function_details",
    /// What a package, namespace, module or folder offers
    #[command(after_help = "Examples:\n  lacon exports httpx\n  lacon exports src/cart --kind class")]
    exports: Package => "list_package_exports",
    /// Lines of a file with some around them
    #[command(after_help = "Examples:\n  lacon lines src/api.py:120-160\n  lacon lines api.py:120 --context-lines 10")]
    lines: Range => "get_code_context",
    /// The routes of a Laravel application
    #[command(after_help = "Examples:\n  lacon laravel-routes cart --method POST")]
    laravel_routes: Routes => "laravel_routes",
}
