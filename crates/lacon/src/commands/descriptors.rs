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
    /// Path of the file, or the end of it
    #[arg(value_name = "PATH")]
    file_path: String,

    /// First line
    #[arg(value_name = "FIRST")]
    start_line: u32,

    /// Last line
    #[arg(value_name = "LAST")]
    end_line: u32,

    /// Lines before and after
    #[arg(long, value_name = "N")]
    context_lines: Option<u32>,
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
    type_: Type => "find_type_definition",
    /// A function: parameters, results, documentation, code
    function: Function => "get_function_details",
    /// What a package, namespace, module or folder offers
    exports: Package => "list_package_exports",
    /// Lines of a file with some around them
    lines: Range => "get_code_context",
    /// The routes of a Laravel application
    laravel_routes: Routes => "laravel_routes",
}
