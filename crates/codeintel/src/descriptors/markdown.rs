//! Descriptors for reading: the same facts as the JSON, in the order a person asks for them.

use std::collections::BTreeMap;
use std::fmt::Write;

use serde_json::{Map, Value};

use super::schema::{
    ClassDescriptor, FieldDescriptor, FunctionDescriptor, ParamDescriptor, RelationDescriptor, SymbolDescriptor,
    SymbolLocation,
};
use crate::code_context::Lines;
use crate::function_details::FunctionFound;
use crate::laravel::RoutesFound;
use crate::package_exports::Exports;
use crate::type_definition::TypeFound;

/// A type.
pub fn type_found(found: &TypeFound) -> String {
    let mut out = class(&found.class);
    if let Some(totals) = found.totals {
        let _ = writeln!(
            out,
            "\n**Members in all:** {} fields, {} methods, {} relations",
            totals.fields, totals.methods, totals.relations
        );
    }
    ending(&mut out, found.next_cursor.as_deref(), found.incomplete.as_deref());
    out
}

/// A function.
pub fn function_found(found: &FunctionFound) -> String {
    let function = &found.function;
    let mut out = String::new();
    let _ = writeln!(out, "# {}\n", function.name);
    fact(&mut out, "Kind", &said(&[&function.kind, &function.language]));
    fact(&mut out, "Namespace", &code(&function.namespace));
    fact(&mut out, "Receiver", &code(&function.receiver));
    fact(&mut out, "Signature", &code(&function.signature));
    fact(&mut out, "Visibility", &modifiers(function));
    fact(&mut out, "Location", &place(&function.location));
    fact(&mut out, "URI", &function.location.uri);
    fact(&mut out, "Tags", &function.tags.join(", "));
    paragraph(&mut out, &function.description);
    if !function.parameters.is_empty() {
        out.push_str("\n**Parameters:**\n");
        for parameter in &function.parameters {
            let _ = writeln!(out, "- {}", parameter_line(parameter));
        }
    }
    if !function.returns.is_empty() {
        out.push_str("\n**Returns:**\n");
        for returned in &function.returns {
            let _ = writeln!(
                out,
                "- {}",
                dashed(&[
                    &said(&[&returned.name, &code(&returned.type_)]),
                    &returned.description,
                    &hinted(&returned.source_hint)
                ])
            );
        }
    }
    metadata(&mut out, &function.metadata);
    if !function.code.is_empty() {
        let fence = fence(&function.code);
        let _ = writeln!(out, "\n{fence}{}\n{}\n{fence}", function.language, function.code);
    }
    if let Some(total) = found.total_lines {
        let _ = writeln!(out, "\n{} of {total} lines", function.code.lines().count());
    }
    ending(&mut out, None, found.incomplete.as_deref());
    out
}

/// What a package offers, by kind.
pub fn exports(found: &Exports) -> String {
    let mut out = format!(
        "# Package: {}\n\n**Total exported symbols:** {}\n",
        found.package, found.total
    );
    let mut groups: Vec<(&str, Vec<&SymbolDescriptor>)> = Vec::new();
    for symbol in &found.symbols {
        match groups.iter_mut().find(|(kind, _)| *kind == symbol.kind) {
            Some((_, group)) => group.push(symbol),
            None => groups.push((&symbol.kind, vec![symbol])),
        }
    }
    for (kind, group) in groups {
        let _ = writeln!(out, "\n## {} ({})\n", capitalised(kind), group.len());
        for symbol in group {
            let signature = if symbol.signature.is_empty() {
                &symbol.name
            } else {
                &symbol.signature
            };
            let owner = symbol.metadata.get("owner").and_then(Value::as_str).unwrap_or("");
            let name = if owner.is_empty() {
                symbol.name.clone()
            } else {
                format!("{owner}.{}", symbol.name)
            };
            let home = if symbol.namespace == found.package {
                ""
            } else {
                &symbol.namespace
            };
            let package = if symbol.namespace.starts_with(&symbol.package) || symbol.package == found.package {
                ""
            } else {
                &symbol.package
            };
            let _ = writeln!(
                out,
                "- **{name}** {}",
                dashed(&[
                    &code(signature),
                    &symbol.description,
                    &said(&[home, package, &symbol.tags.join(", ")]),
                    &place(&symbol.location)
                ])
            );
        }
    }
    ending(&mut out, found.next_cursor.as_deref(), found.incomplete.as_deref());
    out
}

/// Lines of a file, those asked for marked.
pub fn lines(found: &Lines) -> String {
    let mut out = format!(
        "**{}:{}-{}** of {} lines, in `{}` ({})\n\n",
        found.path, found.start_line, found.end_line, found.total_lines, found.id, found.kind
    );
    let fence = fence(&found.source);
    let _ = writeln!(out, "{fence}{}", found.language);
    let width = found.to_line.to_string().len();
    for (number, line) in (found.from_line..).zip(found.source.split('\n')) {
        let mark = if (found.start_line..=found.end_line).contains(&number) {
            '┃'
        } else {
            '│'
        };
        let _ = writeln!(out, "{number:>width$} {mark} {}", line.trim_end_matches('\r'));
    }
    let _ = writeln!(out, "{fence}");
    if found.truncated {
        let _ = writeln!(out, "\ncut after line {}", found.to_line);
    }
    out
}

/// Routes of a Laravel application, below the files that declare them.
pub fn routes(found: &RoutesFound) -> String {
    let mut out = String::new();
    let mut file = "";
    for route in &found.routes {
        if route.path != file {
            let _ = writeln!(out, "{}**{}**", if file.is_empty() { "" } else { "\n" }, route.path);
            file = &route.path;
        }
        let _ = write!(out, "- {} `{}`", route.method, route.uri);
        if !route.name.is_empty() {
            let _ = write!(out, " ({})", route.name);
        }
        let _ = write!(out, " → `{}`", route.action);
        let patterns: Vec<String> = route
            .patterns
            .iter()
            .map(|(name, pattern)| format!("{name}={pattern}"))
            .collect();
        for (what, said) in [
            ("middleware", route.middleware.join(", ")),
            ("domain", route.domain.clone()),
            ("where", patterns.join(", ")),
            ("resource", route.resource.clone()),
        ] {
            if !said.is_empty() {
                let _ = write!(out, " — {what} {said}");
            }
        }
        let _ = writeln!(out, " — line {}", route.line);
    }
    let _ = match found.total {
        0 => writeln!(out, "No routes: no PHP file of the index declares any that fit."),
        total => writeln!(out, "\n{} of {total} routes", found.routes.len()),
    };
    ending(&mut out, found.next_cursor.as_deref(), found.incomplete.as_deref());
    out
}

fn class(class: &ClassDescriptor) -> String {
    let mut out = format!("# {}\n\n", class.name);
    fact(&mut out, "Kind", &said(&[&class.kind, &class.language]));
    fact(&mut out, "Full name", &code(&class.full_name));
    fact(&mut out, "Namespace", &code(&class.namespace));
    fact(&mut out, "Package", &code(&class.package));
    fact(&mut out, "Signature", &code(&class.signature));
    fact(&mut out, "Location", &place(&class.location));
    fact(&mut out, "URI", &class.location.uri);
    fact(&mut out, "Tags", &class.tags.join(", "));
    paragraph(&mut out, &class.description);
    model(&mut out, class);
    if !class.relations.is_empty() {
        out.push_str("\n**Relations:**\n");
        for relation in &class.relations {
            let _ = writeln!(out, "- {}", relation_line(relation));
        }
    }
    if !class.fields.is_empty() {
        out.push_str("\n**Fields:**\n");
        for field in &class.fields {
            let _ = writeln!(out, "- {}", field_line(field));
        }
    }
    if !class.methods.is_empty() {
        out.push_str("\n**Methods:**\n");
        for method in &class.methods {
            method_lines(&mut out, method);
        }
    }
    metadata(&mut out, &class.metadata);
    out
}

fn model(out: &mut String, class: &ClassDescriptor) {
    let list = |names: &[String]| names.join(", ");
    if class.table.is_empty() && class.casts.is_empty() {
        return;
    }
    out.push('\n');
    fact(out, "Table", &code(&class.table));
    fact(out, "Fillable", &list(&class.fillable));
    fact(out, "Guarded", &list(&class.guarded));
    fact(out, "Hidden", &list(&class.hidden));
    fact(out, "Visible", &list(&class.visible));
    fact(out, "Appends", &list(&class.appends));
    fact(out, "Casts", &pairs(&class.casts));
    fact(out, "Scopes", &list(&class.scopes));
    fact(out, "Attributes", &list(&class.attributes));
}

fn method_lines(out: &mut String, method: &FunctionDescriptor) {
    let kind = match method.kind.as_str() {
        "method" | "function" => String::new(),
        kind => kind.to_string(),
    };
    let signature = if method.signature.is_empty() {
        &method.name
    } else {
        &method.signature
    };
    let at = place(&method.location);
    let flags = said(&[&kind, &modifiers(method), &method.tags.join(", ")]);
    let _ = writeln!(
        out,
        "- {}",
        dashed(&[&code(signature), &method.description, &flags, &at])
    );
    // What the signature does not show already.
    for parameter in &method.parameters {
        if !parameter.description.is_empty() || !method.signature.contains(&parameter.type_) {
            let _ = writeln!(out, "  - {}", parameter_line(parameter));
        }
    }
    for returned in &method.returns {
        if !returned.description.is_empty() || !method.signature.contains(&returned.type_) {
            let returns = format!("returns {}", said(&[&returned.name, &code(&returned.type_)]));
            let _ = writeln!(out, "  - {}", dashed(&[&returns, &returned.description]));
        }
    }
    for (name, value) in &method.metadata {
        let _ = writeln!(out, "  - {name}: {}", shown(value));
    }
}

fn parameter_line(parameter: &ParamDescriptor) -> String {
    let mut head = code(&parameter.name);
    if !parameter.type_.is_empty() {
        head.push_str(&format!(": {}", code(&parameter.type_)));
    }
    if !parameter.default.is_empty() {
        head.push_str(&format!(" = {}", code(&parameter.default)));
    }
    if !parameter.passing.is_empty() {
        head.push_str(&format!(" ({})", parameter.passing));
    }
    dashed(&[&head, &parameter.description])
}

fn field_line(field: &FieldDescriptor) -> String {
    let mut head = field.name.clone();
    if !field.type_.is_empty() {
        head = format!("{head}: {}", field.type_);
    }
    if !field.default.is_empty() {
        head = format!("{head} = {}", field.default);
    }
    let line = if field.line == 0 {
        String::new()
    } else {
        format!("line {}", field.line)
    };
    let is_static = if field.is_static { "static" } else { "" };
    dashed(&[
        &code(&head),
        &field.description,
        &said(&[&field.visibility, is_static, &code(&field.tag)]),
        &line,
    ])
}

fn relation_line(relation: &RelationDescriptor) -> String {
    if relation.name.is_empty() {
        return format!("{} {}", relation.relation_kind, code(&relation.related_symbol));
    }
    let mut keys: Vec<String> = Vec::new();
    for (name, value) in [
        ("foreign_key", &relation.foreign_key),
        ("local_key", &relation.local_key),
        ("pivot_table", &relation.pivot_table),
        ("related_pivot_key", &relation.related_pivot_key),
        ("pivot_columns", &relation.pivot_columns.join(" ")),
        ("pivot_model", &relation.pivot_model),
        ("pivot_accessor", &relation.pivot_accessor),
        ("through", &relation.through),
        ("second_key", &relation.second_key),
        ("morph_name", &relation.morph_name),
    ] {
        if !value.is_empty() {
            let mark = if relation.inferred.iter().any(|inferred| inferred == name) {
                "~"
            } else {
                ""
            };
            keys.push(format!("{name}={value}{mark}"));
        }
    }
    let keys = if keys.is_empty() {
        String::new()
    } else {
        format!("({})", keys.join(", "))
    };
    dashed(&[
        &format!(
            "{}: {} {} {keys}",
            code(&relation.name),
            relation.relation_kind,
            code(&relation.type_)
        ),
        &relation.description,
    ])
}

fn modifiers(function: &FunctionDescriptor) -> String {
    let mut words = vec![function.visibility.as_str()];
    words.extend(function.is_static.then_some("static"));
    words.extend(function.is_abstract.then_some("abstract"));
    words.extend(function.is_final.then_some("final"));
    said(&words)
}

fn metadata(out: &mut String, metadata: &Map<String, Value>) {
    if metadata.is_empty() {
        return;
    }
    out.push('\n');
    for (name, value) in metadata {
        let _ = writeln!(out, "**{}:** {}", capitalised(&name.replace('_', " ")), shown(value));
    }
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(items) if items.iter().all(Value::is_string) => {
            let items: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
            items.join("; ")
        }
        Value::Array(items) if items.iter().all(Value::is_object) => {
            let items: Vec<String> = items.iter().map(shown).collect();
            items.join("; ")
        }
        Value::Object(members) => {
            let members: Vec<String> = members.values().map(shown).collect();
            members.join(" — ")
        }
        other => other.to_string(),
    }
}

fn pairs(of: &BTreeMap<String, String>) -> String {
    let pairs: Vec<String> = of.iter().map(|(name, value)| format!("{name} => {value}")).collect();
    pairs.join(", ")
}

fn place(location: &SymbolLocation) -> String {
    match (location.file_path.is_empty(), location.start_line) {
        (_, 0) => location.file_path.clone(),
        (true, line) => format!("lines {line}-{}", location.end_line),
        (false, line) => format!("{}:{line}-{}", location.file_path, location.end_line),
    }
}

fn hinted(hint: &str) -> String {
    if hint.is_empty() {
        String::new()
    } else {
        format!("({hint})")
    }
}

fn fact(out: &mut String, name: &str, value: &str) {
    if !value.trim().is_empty() {
        let _ = writeln!(out, "**{name}:** {value}  ");
    }
}

fn paragraph(out: &mut String, text: &str) {
    if !text.is_empty() {
        let _ = writeln!(out, "\n{text}");
    }
}

fn ending(out: &mut String, cursor: Option<&str>, incomplete: Option<&str>) {
    if let Some(cursor) = cursor {
        let _ = writeln!(out, "\nMore with cursor `{cursor}`");
    }
    if let Some(incomplete) = incomplete {
        let _ = writeln!(out, "\nIncomplete: {incomplete}");
    }
}

fn said(parts: &[&str]) -> String {
    let parts: Vec<&str> = parts.iter().copied().filter(|part| !part.is_empty()).collect();
    parts.join(" · ")
}

fn dashed(parts: &[&str]) -> String {
    let parts: Vec<String> = parts
        .iter()
        .map(|part| part.split_whitespace().collect::<Vec<_>>().join(" "))
        .filter(|part| !part.is_empty())
        .collect();
    parts.join(" — ")
}

/// Code within a line, fenced with more backticks than it holds.
fn code(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let fence = "`".repeat(longest_run(text) + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{fence}{pad}{text}{pad}{fence}")
}

fn fence(text: &str) -> String {
    "`".repeat((longest_run(text) + 1).max(3))
}

fn longest_run(text: &str) -> usize {
    text.split(|letter| letter != '`')
        .map(str::len)
        .max()
        .unwrap_or_default()
}

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters
        .next()
        .map(char::to_uppercase)
        .into_iter()
        .flatten()
        .chain(letters)
        .collect()
}
