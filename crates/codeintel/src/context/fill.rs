//! Fills a budget of tokens with what matters most for its cost.
//!
//! A plan is made for a number of estimated tokens; the whole is then counted exactly as it will be sent, and the plan is made
//! larger or smaller until it just fits. Costs of single steps are estimates, so only the count of the whole decides.

use std::collections::{HashMap, HashSet};

use wire::answers::{ContextPack, PackReason, PackSource, PackSymbol};

use super::distance::Distances;
use super::edges::{self, HeldEdges};
use super::plan::{Plan, Planner};
use super::rank::{Evidence, Ranked};
use crate::error::QuestionError;
use crate::kinds;
use crate::workspace::{SymbolKey, Workspace};

/// What a pack may take.
pub struct Room<'a> {
    /// Tokens at most.
    pub budget: usize,
    /// Tokens of a pack as it will be sent.
    pub measure: &'a dyn Fn(&ContextPack) -> usize,
    /// The pack that the client holds. What it holds is kept where it is worth nearly as much as something else, and its
    /// scores where they moved by little, so that little need be sent.
    pub base: Option<&'a ContextPack>,
}

/// Fewest tokens that a pack can be asked to fit in.
pub const FEWEST_TOKENS: usize = 200;

/// What is put into a pack.
pub(crate) struct Material<'a> {
    pub(crate) ranked: Vec<Ranked>,
    pub(crate) distances: Distances<'a>,
    /// Whether texts are wanted at all.
    pub(crate) with_sources: bool,
    pub(crate) with_reasons: bool,
    pub(crate) note: Option<String>,
    pub(crate) total: Option<usize>,
    /// Edges that the question found itself; else those between the symbols.
    pub(crate) edges: Option<Vec<(SymbolKey, SymbolKey, &'a str)>>,
}

/// Most symbols that are considered.
const MOST_CANDIDATES: usize = 1_500;
/// Used at least this part, in hundredths, the budget counts as filled.
const FILLED: usize = 95;
/// Exact counts at most.
const MOST_TRIES: usize = 12;
/// A score that moved by less is still the one that the client was sent.
const STEADY: f64 = 0.1;

/// Makes the pack.
pub(crate) fn fill(
    workspace: &Workspace,
    mut material: Material<'_>,
    room: &Room<'_>,
) -> Result<ContextPack, QuestionError> {
    if room.budget < FEWEST_TOKENS {
        return Err(QuestionError::Argument {
            name: "budget",
            problem: format!("expected {FEWEST_TOKENS} or more, not {}", room.budget),
        });
    }
    let found = material.ranked.len();
    material.ranked.truncate(MOST_CANDIDATES);
    let total = material.total.unwrap_or(found) as u64;
    let mut filler = Filler::new(workspace, &material, room, total);
    // Estimated tokens to plan for; corrected by what the plan turns out to take. What the client holds took what was allowed
    // then, so leaving everything as it is will often do.
    let mut target = filler.planner.tokens_held().unwrap_or(room.budget as f64);
    let (mut low, mut high) = (0.0f64, f64::INFINITY);
    let mut best: Option<ContextPack> = None;
    for _ in 0..MOST_TRIES {
        let (plan, exhausted) = filler.planner.plan(target);
        let mut pack = filler.pack(&plan);
        // As long a number as the right one will be; what it may be off by is left free.
        pack.tokens = room.budget as u64;
        let tokens = (room.measure)(&pack) + 1;
        pack.tokens = tokens as u64;
        if tokens <= room.budget {
            let is_better = best.as_ref().is_none_or(|best| best.tokens < pack.tokens);
            if is_better {
                best = Some(pack);
            }
            if exhausted || tokens * 100 >= room.budget * FILLED {
                break;
            }
            low = low.max(target);
        } else {
            high = high.min(target);
        }
        let guess = target * room.budget as f64 / tokens.max(1) as f64 * 0.985;
        target = match (low > 0.0, high.is_finite()) {
            (true, true) if guess <= low || guess >= high => (low + high) / 2.0,
            (false, true) => guess.min(high * 0.9),
            (true, false) => guess.max(low * 1.05),
            _ => guess,
        };
        if high - low < 2.0 {
            break;
        }
    }
    let mut best = best.ok_or_else(|| QuestionError::Argument {
        name: "budget",
        problem: format!("{} tokens do not hold even one symbol: give more", room.budget),
    })?;
    best.tokens = settle(&mut best, room) as u64;
    Ok(best)
}

/// What the pack takes with that very number in it.
fn settle(pack: &mut ContextPack, room: &Room<'_>) -> usize {
    let mut tokens = pack.tokens as usize;
    for _ in 0..3 {
        let counted = (room.measure)(pack);
        if counted == tokens {
            break;
        }
        tokens = counted;
        pack.tokens = tokens as u64;
    }
    tokens
}

struct Filler<'a> {
    workspace: &'a Workspace,
    material: &'a Material<'a>,
    planner: Planner<'a>,
    base_symbols: HashMap<&'a str, &'a PackSymbol>,
    base_edges: HeldEdges<'a>,
    budget: usize,
    total: u64,
}

impl<'a> Filler<'a> {
    fn new(workspace: &'a Workspace, material: &'a Material<'a>, room: &Room<'a>, total: u64) -> Filler<'a> {
        let symbols = room.base.map_or(&[][..], |base| base.symbols.as_slice());
        Filler {
            workspace,
            material,
            planner: Planner::new(
                workspace,
                &material.ranked,
                &material.distances,
                material.with_sources,
                room.budget,
                room.base,
            ),
            base_symbols: symbols.iter().map(|symbol| (symbol.id.as_str(), symbol)).collect(),
            base_edges: HeldEdges::of(room.base),
            budget: room.budget,
            total,
        }
    }

    /// The plan as it is sent.
    fn pack(&mut self, plan: &Plan) -> ContextPack {
        let material = self.material;
        let Planner { ladders, texts, .. } = &mut self.planner;
        for &place in plan.keys() {
            if ladders[place].hash.is_empty() {
                ladders[place].hash = texts.hash(ladders[place].key);
            }
        }
        let ladders = &self.planner.ladders;
        let keys: Vec<SymbolKey> = plan.keys().map(|&place| ladders[place].key).collect();
        let ids: Vec<&str> = plan.keys().map(|&place| ladders[place].id.as_str()).collect();
        let mut symbols: Vec<(PackSymbol, usize)> = plan
            .keys()
            .map(|&place| {
                let ladder = &ladders[place];
                let key = ladder.key;
                let evidence = &material.ranked[ladder.rank].evidence;
                let hash = &ladder.hash;
                let symbol = PackSymbol {
                    id: ladder.id.clone(),
                    kind: self.workspace.symbol(key).map_or("", graph_kind).to_string(),
                    score: self.steady(&ladder.id, ladder.score),
                    provenance: format!("{}~{hash}", evidence.word()),
                    distance: u64::from(material.distances.of(key)),
                };
                (symbol, place)
            })
            .collect();
        symbols.sort_by(|(a, x), (b, y)| {
            a.distance
                .cmp(&b.distance)
                .then(b.score.total_cmp(&a.score))
                .then(x.cmp(y))
        });
        let mut pack = ContextPack {
            budget: self.budget as u64,
            total: self.total,
            truncated: (symbols.len() as u64) < self.total,
            note: material.note.clone(),
            incomplete: self.workspace.incomplete(),
            edges: match &material.edges {
                Some(edges) => edges::given(self.workspace, edges, &keys),
                None => edges::between(self.workspace, &keys, &ids, &self.base_edges),
            },
            ..ContextPack::default()
        };
        for (symbol, place) in symbols {
            let ladder = &ladders[place];
            let text = plan.get(&place).copied().flatten().and_then(|form| {
                let (_, text) = ladder.forms.as_ref()?[form as usize].as_ref()?;
                Some((form, text))
            });
            if let Some((form, text)) = text {
                let line = self
                    .workspace
                    .symbol(ladder.key)
                    .map_or(0, |symbol| symbol.span().start_line);
                pack.sources.push(PackSource {
                    id: symbol.id.clone(),
                    form: form.name().to_string(),
                    line: u64::from(line),
                    text: text.clone(),
                });
            }
            if material.with_reasons {
                pack.reasons.push(PackReason {
                    id: symbol.id.clone(),
                    reason: material.ranked[ladder.rank].evidence.reason(self.workspace),
                });
            }
            pack.symbols.push(symbol);
        }
        // Names of the tree are words once they are escaped, so this cannot fail for what was made here.
        pack.pack_root = pack.root().unwrap_or_default();
        pack
    }

    fn steady(&self, id: &str, score: f64) -> f64 {
        let score = (score * 100.0).round() / 100.0;
        match self.base_symbols.get(id) {
            Some(held) if (held.score - score).abs() <= STEADY => held.score,
            _ => score,
        }
    }
}

/// The kind in the words of the graph profile.
fn graph_kind(symbol: index::snapshot::SymbolView<'_>) -> &'static str {
    use syntax::facts::Kind;
    if symbol.is_file() {
        return "file";
    }
    match symbol.kind() {
        Kind::Class => "class",
        Kind::Variable => "var",
        Kind::Constant => "const",
        Kind::Module | Kind::Extension => "package",
        other => kinds::kind_name(other),
    }
}

/// The symbols that a task is about, as far as the ranking can tell: those that the client was told while any is left of them,
/// else the best, while they are nearly as good.
pub(crate) fn targets(workspace: &Workspace, ranked: &[Ranked], base: Option<&ContextPack>) -> Vec<SymbolKey> {
    let told = base.map_or(&[][..], |base| base.symbols.as_slice());
    let told: HashSet<&str> = told
        .iter()
        .filter(|symbol| symbol.distance == 0)
        .map(|symbol| symbol.id.as_str())
        .collect();
    let is_told = |item: &&Ranked| {
        let symbol = workspace.symbol(item.key);
        symbol.is_some_and(|symbol| told.contains(workspace.id(item.key.repository, symbol).as_str()))
    };
    if !told.is_empty() {
        let left: Vec<SymbolKey> = ranked.iter().filter(is_told).map(|item| item.key).collect();
        if !left.is_empty() {
            return left;
        }
    }
    // What the task writes out is what it is about; words and meaning only where it writes nothing out.
    let written = |item: &&Ranked| matches!(item.evidence, Evidence::Named(_) | Evidence::Path(_));
    let has_written = ranked.iter().any(|item| written(&item));
    let seeds: Vec<&Ranked> = ranked
        .iter()
        .filter(|item| match has_written {
            true => written(item),
            false => !matches!(item.evidence, Evidence::Edge(..)),
        })
        .collect();
    let best = seeds.first().map_or(0.0, |item| item.score);
    let near = seeds.iter().take_while(|item| item.score >= best * 0.5);
    near.take(10).map(|item| item.key).collect()
}
