//! Facts as text for people and tests: one line each, ids replaced by what they mean.

use crate::facts::{
    Bound, Definition, Expression, ExpressionId, FileFacts, Flags, Flow, List, Name, Passing, Visibility,
};
use std::fmt::Write;

impl FileFacts {
    /// All facts as readable text, in the order they are stored.
    pub fn dump(&self) -> String {
        let mut out = String::new();
        // Writing to a string cannot fail.
        let _ = self.write(&mut out);
        out
    }

    /// An expression as readable text.
    pub fn show(&self, id: ExpressionId) -> String {
        self.show_limited(id, 40)
    }

    fn write(&self, out: &mut String) -> std::fmt::Result {
        if let Some(package) = self.package {
            writeln!(out, "package {}", self.text(package))?;
        }
        if let Some(doc) = self.doc {
            writeln!(out, "doc {:?}", self.text(doc))?;
        }
        for import in &self.imports {
            write!(
                out,
                "import {:?} {}{}",
                import.form,
                ".".repeat(import.level as usize),
                self.text(import.module)
            )?;
            if let Some(member) = import.member {
                write!(out, " member {}", self.text(member))?;
            }
            if let Some(alias) = import.alias {
                write!(out, " as {}", self.text(alias))?;
            }
            if import.reexported {
                write!(out, " reexported")?;
            }
            if import.type_only {
                write!(out, " type-only")?;
            }
            if let Some(within) = import.within {
                write!(out, " in {}", self.path(within.index()))?;
            }
            writeln!(out, " @{}:{}", import.at.line, import.at.column)?;
        }
        for (id, definition) in self.definitions.iter().enumerate() {
            self.write_definition(out, id, definition)?;
        }
        for export in &self.exports {
            write!(out, "export {}", self.text(export.name))?;
            if let Some(value) = export.value {
                write!(out, " = {}", self.show(value))?;
            }
            if let Some(from) = export.from {
                write!(out, " from {}", self.text(self.imports[from.index()].module))?;
            }
            writeln!(out)?;
        }
        for flow in &self.flows {
            match *flow {
                Flow::Assign {
                    target,
                    value,
                    conditional,
                    ..
                } => {
                    let maybe = if conditional { " maybe" } else { "" };
                    writeln!(out, "flow{maybe} {} <- {}", self.show(target), self.show(value))?;
                }
                Flow::Typed { target, type_ } => writeln!(out, "type {} : {}", self.show(target), self.show(type_))?,
                Flow::Return { function, value } => {
                    writeln!(out, "return {} <- {}", self.path(function.index()), self.show(value))?;
                }
                Flow::Yield { function, value } => {
                    writeln!(out, "yield {} <- {}", self.path(function.index()), self.show(value))?;
                }
            }
        }
        for reference in &self.references {
            let role = format!("{:?}", reference.role).to_lowercase();
            write!(out, "{role} {}", self.show(reference.expression))?;
            if reference.arguments > 0 {
                write!(out, " /{}", reference.arguments)?;
            }
            if let Some(within) = reference.within {
                write!(out, " in {}", self.path(within.index()))?;
            }
            writeln!(out, " @{}:{}", reference.at.line, reference.at.column)?;
        }
        for problem in &self.problems {
            writeln!(out, "problem {}: {}", problem.line, problem.message)?;
        }
        Ok(())
    }

    fn write_definition(&self, out: &mut String, id: usize, definition: &Definition) -> std::fmt::Result {
        let kind = format!("{:?}", definition.kind).to_lowercase();
        write!(out, "{kind} {}", self.path(id))?;
        if let Some(owner) = definition.owner {
            write!(out, " of {}", self.show(owner))?;
        }
        if definition.visibility != Visibility::Public {
            write!(out, " {:?}", definition.visibility)?;
        }
        for (flag, name) in FLAGS {
            if definition.flags.contains(*flag) {
                write!(out, " {name}")?;
            }
        }
        write!(
            out,
            " @{}-{} {:?}",
            definition.span.start_line,
            definition.span.end_line,
            self.text(definition.signature)
        )?;
        if !definition.parameters.is_empty() {
            write!(out, " (")?;
            for (position, parameter) in definition.parameters.iter().enumerate() {
                write!(out, "{}", if position > 0 { ", " } else { "" })?;
                write!(out, "{}", passing_mark(parameter.passing))?;
                write!(out, "{}", self.text(parameter.name))?;
                if let Some(type_) = parameter.type_ {
                    write!(out, ": {}", self.show(type_))?;
                }
                if let Some(default) = parameter.default {
                    write!(out, " = {}", self.text(default))?;
                }
            }
            write!(out, ")")?;
        }
        if let Some(result) = definition.result {
            write!(out, " -> {}", self.show(result))?;
        }
        for base in &definition.bases {
            write!(
                out,
                " {} {}",
                format!("{:?}", base.kind).to_lowercase(),
                self.show(base.type_)
            )?;
        }
        for &decorator in &definition.decorators {
            write!(out, " @{}", self.show(decorator))?;
        }
        if let Some(doc) = definition.doc {
            write!(out, " doc {:?}", self.text(doc))?;
        }
        writeln!(out)
    }

    /// Names of the definition and those around it.
    fn path(&self, id: usize) -> String {
        let definition = &self.definitions[id];
        let name = match self.text(definition.name) {
            "" => format!("<{}>", format!("{:?}", definition.kind).to_lowercase()),
            name => name.to_owned(),
        };
        match definition.parent {
            Some(parent) if parent.index() < id => format!("{}.{name}", self.path(parent.index())),
            _ => name,
        }
    }

    fn show_limited(&self, id: ExpressionId, depth: u32) -> String {
        if depth == 0 {
            return "…".to_owned();
        }
        let show = |id: ExpressionId| self.show_limited(id, depth - 1);
        let name = |name: Name| self.text(name).to_owned();
        let all = |list: List| {
            self.list(list)
                .iter()
                .map(|&id| show(ExpressionId(id)))
                .collect::<Vec<_>>()
                .join(", ")
        };
        match *self.expression(id) {
            Expression::Unknown => "?".to_owned(),
            Expression::Bound { binding, .. } => {
                let binding = &self.bindings[binding.index()];
                let mark = match binding.to {
                    Bound::Local => "local ",
                    Bound::Parameter(_) => "parameter ",
                    Bound::Receiver(_) => "receiver ",
                    Bound::Definition(_) => "",
                    Bound::Import(_) => "import ",
                    Bound::TypeParameter => "typeparameter ",
                };
                format!("{mark}{}", name(binding.name))
            }
            Expression::Free { name: free, .. } => format!("free {}", name(free)),
            Expression::Member { object, name: member } => format!("{}.{}", show(object), name(member)),
            Expression::Call { callee, arguments } => format!("{}({})", show(callee), all(arguments)),
            Expression::New { type_, arguments } => format!("new {}({})", show(type_), all(arguments)),
            Expression::Argument { name: argument, value } => format!("{}={}", name(argument), show(value)),
            Expression::Index { object, key } => format!("{}[{}]", show(object), key.map(name).unwrap_or_default()),
            Expression::Sequence { elements } => format!("[{}]", all(elements)),
            Expression::Mapping { entries } => {
                let entries: Vec<String> = self
                    .list(entries)
                    .chunks(2)
                    .map(|pair| {
                        let pair: Vec<String> = pair.iter().map(|&id| show(ExpressionId(id))).collect();
                        pair.join(": ")
                    })
                    .collect();
                format!("{{{}}}", entries.join(", "))
            }
            Expression::Text(text) => format!("{:?}", name(text)),
            Expression::Literal(kind) => format!("{kind:?}").to_lowercase(),
            Expression::Definition(id) => format!("def {}", self.path(id.index())),
            Expression::This(_) => "this".to_owned(),
            Expression::Super(_) => "super".to_owned(),
            Expression::Choice(list) => format!("any({})", all(list)),
            Expression::Unwrap(value) => format!("unwrap({})", show(value)),
            Expression::Element(value) => format!("element({})", show(value)),
            Expression::Item(value, position) => format!("item({}, {position})", show(value)),
            Expression::Entered(value) => format!("entered({})", show(value)),
            Expression::Module(module) => format!("module {:?}", name(module)),
            Expression::Typed(type_) => format!("a {}", show(type_)),
            Expression::Generic { base, arguments } => format!("{}<{}>", show(base), all(arguments)),
            Expression::Wrapped(inner) => format!("&{}", show(inner)),
            Expression::FunctionType(list) => format!("fn({})", all(list)),
        }
    }
}

fn passing_mark(passing: Passing) -> &'static str {
    match passing {
        Passing::Normal => "",
        Passing::Keyword => "key ",
        Passing::Rest => "*",
        Passing::KeywordRest => "**",
        Passing::Receiver => "receiver ",
        Passing::Block => "&",
    }
}

const FLAGS: &[(Flags, &str)] = &[
    (Flags::STATIC, "static"),
    (Flags::ABSTRACT, "abstract"),
    (Flags::ASYNC, "async"),
    (Flags::GENERATOR, "generator"),
    (Flags::TEST, "test"),
    (Flags::DECLARATION, "declaration"),
    (Flags::GETTER, "getter"),
    (Flags::SETTER, "setter"),
    (Flags::CLASS_METHOD, "classmethod"),
    (Flags::FINAL, "final"),
    (Flags::OVERRIDE, "override"),
    (Flags::EXPORTED, "exported"),
    (Flags::DEPRECATED, "deprecated"),
    (Flags::ENTRY_POINT, "entry"),
    (Flags::EXTENSION, "extension"),
    (Flags::DEFAULT, "default"),
    (Flags::ALTERNATIVE, "alternative"),
    (Flags::FOR_INTERFACE, "for-interface"),
];
