//! Which writes of a name can reach a use of it, inside one file.
//!
//! The one trick: a use sees the last unconditional write before it and every conditional write since, but of several loops over
//! one name the last alone; a use in an inner function, which runs later, sees all writes; a write takes effect after the last
//! name its own value mentions, so that `f = wrap(f)` wraps the old `f`.

use syntax::facts::{Bound, DefinitionId, Expression, ExpressionId, FileFacts, Flow, ScopeId, ScopeKind};

use super::links::{is_variable, runs};

/// What a write puts into a name.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) enum Source {
    /// The value of an expression.
    Value(ExpressionId),
    /// An instance of a type.
    Type(ExpressionId),
    /// A definition.
    Definition(DefinitionId),
    /// An import.
    Import(u32),
    /// Parameter `1` of function `0`.
    Parameter(DefinitionId, u32),
    /// The receiver of a method, and its number among the parameters if it is one.
    Receiver(DefinitionId, Option<u32>),
}

#[derive(Clone, Copy, Debug)]
struct Write {
    binding: u32,
    /// Byte after which it counts.
    from: u32,
    /// It may not have happened, so earlier writes stay possible.
    conditional: bool,
    /// It happens in another function than the one that owns the name.
    elsewhere: bool,
    /// A loop puts its elements there.
    by_loop: bool,
    source: Source,
}

impl Write {
    /// A declared type holds for every use; a write in another function can come at any time.
    fn always(&self) -> bool {
        self.elsewhere || matches!(self.source, Source::Type(_))
    }
}

/// Most writes of a name that one use sees: far more than the values that are told apart.
const MAX_WRITES: usize = 256;

/// The writes of all names of one file.
pub(super) struct Bindings {
    /// Sorted by (binding, from).
    writes: Vec<Write>,
    /// Start of each binding's run in `writes`.
    starts: Vec<u32>,
    /// In order of start.
    functions: Vec<Function>,
    /// For each binding, the function that owns its scope.
    homes: Vec<u32>,
    /// For each binding, whether some write of it counts wherever the use is.
    has_always: Vec<bool>,
}

struct Function {
    start: u32,
    end: u32,
    definition: u32,
    /// Position of the function around it.
    around: Option<usize>,
}

const TOP: u32 = u32::MAX;

impl Bindings {
    /// Gathers the writes. `hoists`: function definitions count from the start of their scope.
    pub(super) fn new(facts: &FileFacts, hoists: bool) -> Bindings {
        let functions = functions_of(facts);
        let mut bindings = Bindings {
            writes: Vec::with_capacity(facts.bindings.len() + facts.flows.len()),
            starts: Vec::new(),
            has_always: vec![false; facts.bindings.len()],
            functions,
            homes: facts
                .bindings
                .iter()
                .map(|binding| home(facts, binding.scope))
                .collect(),
        };
        bindings.add_declared(facts, hoists);
        bindings.add_flows(facts, hoists);
        bindings.writes.sort_by_key(|write| (write.binding, write.from));
        for write in bindings.writes.iter().filter(|write| write.always()) {
            if let Some(known) = bindings.has_always.get_mut(write.binding as usize) {
                *known = true;
            }
        }
        let mut next = 0;
        for binding in 0..=facts.bindings.len() as u32 {
            while bindings.writes.get(next).is_some_and(|write| write.binding < binding) {
                next += 1;
            }
            bindings.starts.push(next as u32);
        }
        bindings
    }

    /// About how much memory it takes.
    pub(super) fn size(&self) -> usize {
        size_of_val(&self.writes[..])
            + size_of_val(&self.starts[..])
            + size_of_val(&self.functions[..])
            + size_of_val(&self.homes[..])
            + self.has_always.len()
    }

    /// Calls `each` with every write of `binding` that can reach byte `at`.
    pub(super) fn reaching(&self, binding: u32, at: u32, mut each: impl FnMut(Source)) {
        let writes = self.of(binding);
        let direct = writes.len() > 1 && self.function_at(at) == self.homes[binding as usize];
        let before = match direct {
            true => writes.partition_point(|write| write.from < at),
            false => 0,
        };
        if before == 0 {
            let all = writes.iter().take(MAX_WRITES);
            return all.for_each(|write| each(write.source));
        }
        let kill = writes[..before]
            .iter()
            .rposition(|write| !write.conditional && !write.elsewhere);
        let first = kill.unwrap_or(0).max(before.saturating_sub(MAX_WRITES));
        let is_looped = |write: &Write| write.by_loop && !write.elsewhere;
        let last_loop = writes[first..before].iter().rposition(is_looped);
        let last_loop = last_loop.map_or(before, |found| first + found);
        let reaches = |position: usize| position >= last_loop || !is_looped(&writes[position]);
        if !self.has_always[binding as usize] {
            let reaching = (first..before).filter(|&position| reaches(position));
            return reaching.for_each(|position| each(writes[position].source));
        }
        // Only here are all writes looked at.
        for (position, write) in writes.iter().enumerate() {
            if ((first..before).contains(&position) && reaches(position)) || write.always() {
                each(write.source);
            }
        }
    }

    /// Every write of `binding`, whenever it happens.
    pub(super) fn all(&self, binding: u32) -> impl Iterator<Item = Source> + '_ {
        self.of(binding).iter().map(|write| write.source)
    }

    /// Calls `each` with every write of `binding` that can be there once its scope has run.
    pub(super) fn lasting(&self, binding: u32, each: impl FnMut(Source)) {
        let mut each = each;
        let writes = self.of(binding);
        let kill = writes.iter().rposition(|write| !write.conditional && !write.elsewhere);
        let first = kill.unwrap_or(0);
        for (position, write) in writes.iter().enumerate() {
            if position >= first || write.always() {
                each(write.source);
            }
        }
    }

    fn of(&self, binding: u32) -> &[Write] {
        let (Some(&start), Some(&end)) = (self.starts.get(binding as usize), self.starts.get(binding as usize + 1))
        else {
            return &[];
        };
        &self.writes[start as usize..end as usize]
    }

    /// The innermost function around byte `at`: the last one that starts before it, or one around that.
    fn function_at(&self, at: u32) -> u32 {
        self.innermost(self.functions.partition_point(|function| function.start <= at), at)
    }

    /// As [`Bindings::function_at`], without one that starts there.
    fn function_around(&self, at: u32) -> u32 {
        self.innermost(self.functions.partition_point(|function| function.start < at), at)
    }

    /// Of the first `started` functions, the innermost around byte `at`.
    fn innermost(&self, started: usize, at: u32) -> u32 {
        let mut candidate = started.checked_sub(1);
        while let Some(index) = candidate {
            let function = &self.functions[index];
            if at < function.end {
                return function.definition;
            }
            candidate = function.around;
        }
        TOP
    }

    fn add_declared(&mut self, facts: &FileFacts, hoists: bool) {
        for (number, binding) in facts.bindings.iter().enumerate() {
            let (source, from) = match binding.to {
                Bound::Definition(id) => {
                    let definition = facts.definition(id);
                    if is_variable(definition.kind) && !runs(definition) {
                        match definition.result {
                            Some(type_) => (Source::Type(type_), 0),
                            None => continue,
                        }
                    } else if hoists {
                        (Source::Definition(id), 0)
                    } else {
                        (Source::Definition(id), definition.span.start)
                    }
                }
                Bound::Import(id) => (Source::Import(id.0), 0),
                Bound::Parameter(id) => match parameter(facts, id, number) {
                    Some(index) => (Source::Parameter(id, index), 0),
                    None => continue,
                },
                Bound::Receiver(id) => (Source::Receiver(id, parameter(facts, id, number)), 0),
                Bound::Local | Bound::TypeParameter => continue,
            };
            self.writes.push(Write {
                binding: number as u32,
                from,
                conditional: false,
                elsewhere: false,
                by_loop: false,
                source,
            });
        }
    }

    fn add_flows(&mut self, facts: &FileFacts, hoists: bool) {
        let last = last_mentions(facts);
        for flow in &facts.flows {
            match *flow {
                Flow::Assign {
                    target,
                    value,
                    at,
                    conditional,
                } => {
                    if let Expression::Bound { binding, .. } = *facts.expression(target)
                        && let Some(&home) = self.homes.get(binding.index())
                    {
                        let source = match *facts.expression(value) {
                            Expression::Definition(id) => Source::Definition(id),
                            _ => Source::Value(value),
                        };
                        // Where definitions run in order, one of a name that is there already replaces it.
                        let writer = match source {
                            Source::Definition(_) if !hoists => self.function_around(at),
                            _ => self.function_at(at),
                        };
                        self.writes.push(Write {
                            binding: binding.0,
                            from: at.max(last[value.index()]),
                            conditional,
                            elsewhere: writer != home,
                            by_loop: is_element(facts, value),
                            source,
                        });
                    }
                }
                Flow::Typed { target, type_ } => {
                    if let Expression::Bound { binding, .. } = *facts.expression(target) {
                        self.writes.push(Write {
                            binding: binding.0,
                            from: 0,
                            conditional: true,
                            elsewhere: false,
                            by_loop: false,
                            source: Source::Type(type_),
                        });
                    }
                }
                Flow::Return { .. } | Flow::Yield { .. } => {}
            }
        }
    }
}

/// Whether a value is an element of what a loop goes through, or a part of one.
fn is_element(facts: &FileFacts, value: ExpressionId) -> bool {
    match *facts.expression(value) {
        Expression::Element(_) => true,
        Expression::Item(inner, _) => matches!(facts.expression(inner), Expression::Element(_)),
        _ => false,
    }
}

fn functions_of(facts: &FileFacts) -> Vec<Function> {
    let mut functions: Vec<Function> = Vec::new();
    for (id, definition) in facts.definitions.iter().enumerate() {
        if runs(definition) {
            functions.push(Function {
                start: definition.span.start,
                end: definition.span.end,
                definition: id as u32,
                around: None,
            });
        }
    }
    functions.sort_by_key(|function| (function.start, u32::MAX - function.end));
    let mut open: Vec<usize> = Vec::new();
    for index in 0..functions.len() {
        while open
            .last()
            .is_some_and(|&outer| functions[outer].end <= functions[index].start)
        {
            open.pop();
        }
        functions[index].around = open.last().copied();
        open.push(index);
    }
    functions
}

fn parameter(facts: &FileFacts, function: DefinitionId, binding: usize) -> Option<u32> {
    let parameters = &facts.definitions.get(function.index())?.parameters;
    let found = parameters
        .iter()
        .position(|parameter| parameter.binding.is_some_and(|known| known.index() == binding));
    found.map(|index| index as u32)
}

/// The function that runs the code of `scope`.
fn home(facts: &FileFacts, scope: ScopeId) -> u32 {
    let mut at = Some(scope);
    while let Some(id) = at {
        let Some(scope) = facts.scopes.get(id.index()) else {
            return TOP;
        };
        if scope.kind == ScopeKind::Function
            && let Some(definition) = scope.definition
        {
            return definition.0;
        }
        at = scope.parent;
    }
    TOP
}

/// For each expression, the last byte at which it mentions a bound name.
fn last_mentions(facts: &FileFacts) -> Vec<u32> {
    let mut last: Vec<u32> = Vec::with_capacity(facts.expressions.len());
    for expression in &facts.expressions {
        let of = |id: ExpressionId| last.get(id.index()).copied().unwrap_or(0);
        let all = |list| {
            facts
                .list(list)
                .iter()
                .map(|&id| of(ExpressionId(id)))
                .max()
                .unwrap_or(0)
        };
        let at = match *expression {
            Expression::Bound { at, .. } => at,
            Expression::Member { object, .. } | Expression::Index { object, .. } => of(object),
            Expression::Call { callee, arguments } => of(callee).max(all(arguments)),
            Expression::New { type_, arguments } => of(type_).max(all(arguments)),
            Expression::Argument { value, .. } => of(value),
            Expression::Sequence { elements: list }
            | Expression::Mapping { entries: list }
            | Expression::Choice(list)
            | Expression::FunctionType(list) => all(list),
            Expression::Unwrap(inner)
            | Expression::Element(inner)
            | Expression::Item(inner, _)
            | Expression::Entered(inner)
            | Expression::Typed(inner)
            | Expression::Wrapped(inner) => of(inner),
            Expression::Generic { base, arguments } => of(base).max(all(arguments)),
            _ => 0,
        };
        last.push(at);
    }
    last
}
