//! What an expression is worth as far as names, imports and members tell, before any value is followed.

use super::linker::Found;
use super::links::ModuleTarget;
use super::value::Value;
use super::view::View;
use super::words::Word;
use smallvec::SmallVec;
use syntax::facts::{Bound, Expression, ExpressionId, FileFacts};

impl View<'_> {
    /// The values of an expression as far as names, imports and members tell without following values.
    pub fn static_values(
        &self,
        file: u32,
        facts: &FileFacts,
        expression: ExpressionId,
        depth: u8,
    ) -> SmallVec<[Value; 2]> {
        let mut values = SmallVec::new();
        let Some(depth) = depth.checked_sub(1) else {
            return values;
        };
        match *facts.expression(expression) {
            Expression::Bound { binding, .. } => {
                let Some(binding) = facts.bindings.get(binding.index()) else {
                    return values;
                };
                let text = facts.text(binding.name);
                match binding.to {
                    Bound::Definition(id) => match self.as_value(self.place(file, id.0)) {
                        Some(value) => values.push(value),
                        None => self.static_found(&[Found::Variable(file, Word::of(text))], depth, &mut values),
                    },
                    Bound::Import(import) => self.static_found(&self.imported(file, import.0), depth, &mut values),
                    _ => self.static_found(&[Found::Variable(file, Word::of(text))], depth, &mut values),
                }
            }
            Expression::Free { name, scope } => {
                let text = facts.text(name);
                let word = Word::of(text);
                if self.policy(file).policy.links_by_name {
                    for namespace in self.namespaces_around(file, facts, scope) {
                        values.extend(
                            self.own_members(namespace, word)
                                .into_iter()
                                .filter_map(|member| self.as_value(member)),
                        );
                        if !values.is_empty() {
                            return values;
                        }
                    }
                }
                self.static_found(&self.ambient(file, word, text), depth, &mut values);
                if values.is_empty()
                    && let Some(&builtin) = self.policy(file).builtin_names.get(&word)
                {
                    values.push(Value::External(builtin));
                }
            }
            Expression::Member { object, name } => {
                let text = facts.text(name);
                for value in self.distinct(self.static_values(file, facts, object, depth)) {
                    self.static_member(value, Word::of(text), text, depth, &mut values);
                }
            }
            Expression::Generic { base, .. } => return self.static_values(file, facts, base, depth),
            Expression::Wrapped(inner) | Expression::Typed(inner) => {
                return self.static_values(file, facts, inner, depth);
            }
            Expression::Definition(id) => values.extend(self.as_value(self.place(file, id.0))),
            _ => {}
        }
        values
    }

    /// The words of the names that `static_values` would start from, read as a path at the top of `file`.
    pub(super) fn static_path(&self, file: u32, path: &[Word], depth: u8, values: &mut SmallVec<[Value; 2]>) {
        let Some(depth) = depth.checked_sub(1) else {
            return;
        };
        let Some((&first, rest)) = path.split_first() else {
            return;
        };
        let mut current: SmallVec<[Value; 2]> = SmallVec::new();
        let mut names = self.export(file, first);
        if names.is_empty() {
            names = self.ambient(file, first, "");
        }
        self.static_found(&names, depth, &mut current);
        for &word in rest {
            let mut next = SmallVec::new();
            for value in self.distinct(current) {
                self.static_member(value, word, "", depth, &mut next);
            }
            current = next;
        }
        values.extend(current);
    }

    pub(super) fn static_member(
        &self,
        value: Value,
        name: Word,
        text: &str,
        depth: u8,
        values: &mut SmallVec<[Value; 2]>,
    ) {
        match value {
            Value::Module(file) => {
                self.static_found(&self.module_member(ModuleTarget::File(file), name, text), depth, values);
            }
            Value::Package(package) => {
                self.static_found(
                    &self.module_member(ModuleTarget::Package(package), name, text),
                    depth,
                    values,
                );
            }
            Value::Class(class) | Value::Function(class) => {
                for member in self.own_members(class, name) {
                    values.extend(self.as_value(member));
                }
            }
            Value::External(word) if !text.is_empty() => {
                values.push(Value::External(self.externals.member(word, name, text)));
            }
            _ => {}
        }
    }

    pub(super) fn static_found(&self, found: &[Found], depth: u8, values: &mut SmallVec<[Value; 2]>) {
        for found in found {
            match *found {
                Found::Value(value) => values.push(value),
                Found::Variable(file, name) => {
                    for (_, path) in self.aliases(file, name) {
                        if path.first() != Some(&name) {
                            self.static_path(file, path, depth, values);
                        }
                    }
                }
                Found::Export(..) | Found::ExportMember(..) => {}
            }
        }
    }
}
