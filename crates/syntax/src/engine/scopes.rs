//! Scopes, the names bound in them, and the definitions around a place.

use super::lowering::{Lowering, is_function};
use crate::facts::{Binding, BindingId, Bound, DefinitionId, Expression, Kind, Name, Scope, ScopeId, ScopeKind};
use tree_sitter::Node;

impl<'t> Lowering<'t> {
    pub(crate) fn push_scope(&mut self, kind: ScopeKind, definition: Option<DefinitionId>) -> ScopeId {
        let id = ScopeId(self.scopes.len() as u32);
        self.scopes.push(Scope {
            parent: Some(self.scope),
            definition,
            kind,
        });
        id
    }

    /// Runs `inside` in a new scope.
    pub(crate) fn in_scope<T>(&mut self, kind: ScopeKind, inside: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.scope;
        self.scope = self.push_scope(kind, None);
        let result = inside(self);
        self.scope = outer;
        result
    }

    /// The nearest scope around the current one that is not a block.
    pub(crate) fn function_scope(&self) -> ScopeId {
        let mut scope = self.scope;
        while self.scopes[scope.index()].kind == ScopeKind::Block {
            let Some(parent) = self.scopes[scope.index()].parent else {
                break;
            };
            scope = parent;
        }
        scope
    }

    /// The binding of `name` in `scope` itself.
    pub(crate) fn binding_in(&self, scope: ScopeId, name: Name) -> Option<BindingId> {
        self.by_name.get(&(scope, name)).copied()
    }

    /// The binding of `name` in the current scope or around it, as far as it is known yet.
    pub(crate) fn lookup(&self, name: Name) -> Option<BindingId> {
        let mut current = Some(self.scope);
        while let Some(scope) = current {
            if let Some(binding) = self.binding_in(scope, name) {
                return Some(binding);
            }
            current = self.scopes[scope.index()].parent;
        }
        None
    }

    /// Binds `name` in `scope`, seen from byte `from` on (0: everywhere).
    pub(crate) fn bind(&mut self, scope: ScopeId, name: Name, to: Bound, from: u32) -> BindingId {
        let id = BindingId(self.bindings.len() as u32);
        self.bindings.push(Binding { scope, name, to });
        let before = self.by_name.insert((scope, name), id);
        self.seen_from.push((from, before));
        id
    }

    /// Binds an imported name. One that the scope binds already keeps its binding, and the import is a value that flows into it:
    /// `try: import a as x; except: import b as x`.
    pub(crate) fn bind_import(&mut self, scope: ScopeId, name: Name, to: Bound, at: Node<'t>) {
        if self.binding_in(scope, name).is_none() {
            self.bind(scope, name, to, 0);
            return;
        }
        // The import gets a nameless binding of its own, so that its value can be given.
        let own = BindingId(self.bindings.len() as u32);
        let nameless = self.names.intern("");
        self.bindings.push(Binding {
            scope,
            name: nameless,
            to,
        });
        self.seen_from.push((0, None));
        let start = at.start_byte();
        let target = self.push_expression(
            Expression::Free {
                name,
                scope: self.scope,
            },
            start,
        );
        let value = self.push_expression(
            Expression::Bound {
                binding: own,
                at: start as u32,
            },
            start,
        );
        self.flow(target, value, at);
    }

    /// Whether `name` is asked for the first time as a member of `owner`: fields that assignments declare.
    pub(crate) fn first_member(&mut self, owner: DefinitionId, name: Name) -> bool {
        self.members.insert((owner, name), ()).is_none()
    }

    /// The nearest definition around the current place that `accepts`.
    pub(crate) fn enclosing(&self, accepts: impl Fn(Kind) -> bool) -> Option<DefinitionId> {
        let mut current = self.definition;
        while let Some(id) = current {
            let definition = &self.definitions[id.index()];
            if accepts(definition.kind) {
                return Some(id);
            }
            current = definition.parent;
        }
        None
    }

    /// The function, method or lambda around the current place.
    pub(crate) fn enclosing_function(&self) -> Option<DefinitionId> {
        self.enclosing(is_function)
    }
}
