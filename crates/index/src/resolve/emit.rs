//! From evaluated expressions to edges.
//!
//! A call becomes edges to what its callee can be worth ([`calls`], [`dispatch`], [`uses`], [`callbacks`]); every other mention becomes an
//! edge to the definition that the name itself stands for ([`mentions`]). Structure (containment, inheritance, overrides,
//! imports, decorators) is added from the links ([`structure`]).

mod callbacks;
mod calls;
mod dispatch;
mod mentions;
mod structure;
mod uses;

use smallvec::SmallVec;
use syntax::facts::{DefinitionId, Expression, ExpressionId, FileFacts, Flags, Kind, Position, Reference, Role};

use self::uses::Uses;
use super::evaluate::Evaluation;
use super::links::NONE;
use super::value::Place;
use super::words::Word;
use crate::model::{Edge, EdgeKind, Evidence, FileId, ResolvedFile, SymbolRef, Target};

/// Most implementations that one call is dispatched to.
const MAX_DISPATCH: usize = 24;

/// A possible end of an edge.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum End {
    Definition(Place),
    File(u32),
    External(Word),
}

type Ends = SmallVec<[(End, Evidence, EdgeKind); 4]>;

/// The edges of the evaluated file.
pub(super) fn edges(evaluation: &mut Evaluation<'_>) -> ResolvedFile {
    let mut emission = Emission {
        bases: bases(evaluation.facts),
        calls: vec![u32::MAX; evaluation.facts.expressions.len()],
        decorated: decorated(evaluation.facts),
        uses: None,
        evaluation,
        resolved: ResolvedFile::default(),
    };
    emission.index_calls();
    emission.structure();
    emission.imports();
    for index in 0..emission.evaluation.facts.references.len() {
        emission.reference(emission.evaluation.facts.references[index]);
    }
    let mut resolved = emission.resolved;
    sort(&mut resolved.edges);
    resolved.edges.dedup_by(|later, first| {
        (later.from, later.kind, &later.to, later.at) == (first.from, first.kind, &first.to, first.at)
    });
    resolved
}

/// Puts edges in order: by most of it as one number first, which is worth it because that moves and compares little, then the
/// few that are alike by all of it.
fn sort(edges: &mut [Edge]) {
    let number = |edge: &Edge| {
        let defined = |id: Option<DefinitionId>| id.map_or(0, |id| u128::from(id.0) + 1);
        let (outside, file, definition) = match &edge.to {
            Target::Symbol(symbol) => (0, u128::from(symbol.file.0), defined(symbol.definition)),
            Target::External(_) => (1, 0, 0),
        };
        defined(edge.from) << 88 | (edge.kind as u128) << 72 | outside << 65 | file << 33 | definition
    };
    edges.sort_by_cached_key(number);
    for alike in edges.chunk_by_mut(|left, right| number(left) == number(right)) {
        alike.sort_unstable_by(|left, right| {
            let by_place = (&left.to, left.at).cmp(&(&right.to, right.at));
            by_place
                .then_with(|| left.origin.cmp(&right.origin))
                .then_with(|| right.confidence.cmp(&left.confidence))
        });
    }
}

struct Emission<'e, 'a> {
    evaluation: &'e mut Evaluation<'a>,
    /// Where the names of bases stand, by their expression.
    bases: Vec<(ExpressionId, Position)>,
    /// By callee: the call.
    calls: Vec<u32>,
    /// By the expression of a decorator: the definition that it decorates. Empty when there is none.
    decorated: Vec<u32>,
    /// What is asked of receivers, once a call needs it.
    uses: Option<Uses>,
    resolved: ResolvedFile,
}

fn bases(facts: &FileFacts) -> Vec<(ExpressionId, Position)> {
    if facts.definitions.iter().all(|definition| definition.bases.is_empty()) {
        return Vec::new();
    }
    let named = facts
        .references
        .iter()
        .filter(|reference| reference.role == Role::Inherit);
    let mut bases: Vec<_> = named.map(|reference| (reference.expression, reference.at)).collect();
    bases.sort_unstable();
    bases
}

fn decorated(facts: &FileFacts) -> Vec<u32> {
    if facts
        .definitions
        .iter()
        .all(|definition| definition.decorators.is_empty())
    {
        return Vec::new();
    }
    let mut decorated = vec![NONE; facts.expressions.len()];
    for (id, definition) in facts.definitions.iter().enumerate() {
        for &decorator in &definition.decorators {
            let mut at = decorator;
            decorated[at.index()] = id as u32;
            if let Expression::Call { callee, .. } = *facts.expression(at) {
                at = callee;
                decorated[at.index()] = id as u32;
            }
        }
    }
    decorated
}

impl Emission<'_, '_> {
    fn index_calls(&mut self) {
        for (index, expression) in self.evaluation.facts.expressions.iter().enumerate() {
            if let Expression::Call { callee, .. } | Expression::New { type_: callee, .. } = *expression
                && let Some(slot) = self.calls.get_mut(callee.index())
            {
                *slot = index as u32;
            }
        }
    }

    fn reference(&mut self, reference: Reference) {
        match reference.role {
            Role::Call | Role::Instantiate | Role::Macro => self.call(reference),
            // Applying a decorator is a relation of its own, and where decorators run, a call that the code around makes.
            Role::Decorate => {
                let within = self
                    .decorated
                    .get(reference.expression.index())
                    .copied()
                    .unwrap_or(NONE);
                let within = if within == NONE {
                    reference.within
                } else {
                    Some(DefinitionId(within))
                };
                self.mention(Reference { within, ..reference }, EdgeKind::Decorated);
                if let Some(id) = within.filter(|_| self.evaluation.policy.policy.runs_decorators) {
                    let around = self.evaluation.facts.definition(id).parent;
                    self.decoration(Reference {
                        within: around,
                        ..reference
                    });
                }
            }
            Role::Implicit => self.implicit(reference),
            Role::Read => self.mention(reference, EdgeKind::Reads),
            Role::Write => self.mention(reference, EdgeKind::Writes),
            Role::Type => self.mention(reference, EdgeKind::References),
            Role::Inherit => {}
        }
    }

    /// Adds edges for the ends of one mention, sharing confidence among those known equally well.
    fn push(&mut self, within: Option<DefinitionId>, at: Position, ends: &[(End, Evidence, EdgeKind)]) {
        let from = self.named(within);
        let direct = |evidence: Evidence| evidence <= Evidence::Inherited;
        let count = |wanted: bool| {
            let mut seen: SmallVec<[End; 8]> = SmallVec::new();
            for &(end, evidence, kind) in ends {
                // A class and its constructor are one candidate; something of outside is another one.
                let companion = kind == EdgeKind::Calls
                    && !matches!(end, End::External(_))
                    && ends.iter().any(|(_, _, kind)| *kind == EdgeKind::Instantiates);
                if direct(evidence) == wanted && !companion && !seen.contains(&end) {
                    seen.push(end);
                }
            }
            seen.len()
        };
        let (certain, inferred) = (count(true), count(false));
        for &(end, evidence, kind) in ends {
            // Several constructors of one class are several candidates all the same.
            let alike = ends
                .iter()
                .filter(|(_, other, known)| *known == kind && direct(*other) == direct(evidence))
                .count();
            let candidates = if direct(evidence) { certain } else { inferred }.max(alike);
            let (origin, confidence) = evidence.weigh(candidates);
            let to = match end {
                End::Definition(place) => {
                    let Some(place) = self.symbol(place) else {
                        continue;
                    };
                    Target::Symbol(place)
                }
                End::File(file) => Target::Symbol(SymbolRef {
                    file: FileId(file),
                    definition: None,
                }),
                End::External(word) => Target::External(self.evaluation.linker.externals.text(word)),
            };
            if matches!(kind, EdgeKind::Calls | EdgeKind::Instantiates)
                && let End::Definition(place) = end
                && self.tests(from, place)
            {
                self.resolved.edges.push(Edge {
                    from,
                    to: to.clone(),
                    kind: EdgeKind::Tests,
                    at,
                    origin,
                    confidence,
                });
            }
            self.resolved.edges.push(Edge {
                from,
                to,
                kind,
                at,
                origin,
                confidence,
            });
        }
    }

    /// The symbol of a definition; an extension is none.
    fn symbol(&self, place: Place) -> Option<SymbolRef> {
        let link = self.evaluation.linker.definition(place)?;
        if link.kind == Kind::Extension {
            return None;
        }
        Some(SymbolRef {
            file: FileId(place.file),
            definition: self.evaluation.linker.position(place).map(DefinitionId),
        })
    }

    /// The nearest definition around that is a symbol.
    fn named(&self, within: Option<DefinitionId>) -> Option<DefinitionId> {
        let mut at = within;
        while let Some(id) = at {
            let definition = self.evaluation.facts.definition(id);
            if definition.kind != Kind::Extension {
                return Some(id);
            }
            at = definition.parent;
        }
        None
    }

    /// Whether a call from `from` to `target` says that a test exercises it.
    fn tests(&self, from: Option<DefinitionId>, target: Place) -> bool {
        let mut at = from;
        let mut test = false;
        while let Some(id) = at {
            let definition = self.evaluation.facts.definition(id);
            test |= definition.flags.contains(Flags::TEST);
            at = definition.parent;
        }
        test && !self.evaluation.linker.has_tests(target.file)
    }
}

/// How many arguments a mention passes, when that can be told.
fn arguments_of(reference: Reference) -> Option<usize> {
    (reference.arguments < u8::MAX).then_some(usize::from(reference.arguments))
}
