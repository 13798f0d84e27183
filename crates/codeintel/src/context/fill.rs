//! Fills a budget of tokens with what matters most for its cost.
//!
//! A plan is made for a number of estimated tokens; the whole is then counted exactly as it will be sent, and the plan is made
//! larger or smaller until it just fits. Costs of single steps are estimates, so only the count of the whole decides.

use std::collections::{HashMap, HashSet};

use wire::answers::{ContextPack, PackReason, PackSource, PackSymbol};

use super::distance::Distances;
use super::edges::{self, HeldEdges};
use super::plan::{self, Plan, Planner};
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
    /// The pack that the client holds, under the names of today ([`renames`](super::renames)). What it holds is kept while there is room, and its
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
    /// Always part of the pack: the next question finds its targets in it.
    pub(crate) pinned: Vec<SymbolKey>,
    /// Edges that the question found itself; else those between the symbols.
    pub(crate) edges: Option<Vec<(SymbolKey, SymbolKey, &'a str)>>,
}

/// Most symbols that are considered.
const MOST_CANDIDATES: usize = 1_500;
/// Used at least this part, in hundredths, the budget counts as filled.
const FILLED: usize = 95;
/// While at least this part of the budget is used by what the client holds, nothing is added but what is certain: what an edit took
/// out of a pack was sent and read all the same, so there is no room to be filled again.
const STILL_FILLED: usize = 50;
/// The same where the client holds a pack for another budget, and this one is to be used.
const FILLED_ANEW: usize = 90;
/// Exact counts at most.
const MOST_TRIES: usize = 12;
/// A score that moved by less is still the one that the client was sent.
const STEADY: f64 = 0.1;

/// Makes the pack.
///
/// Asked for again, with the pack that came of it as the base and nothing changed, the same pack comes: every plan starts from
/// what is certain, which depends on the question alone, and from what the client holds, and a start that is what the client
/// holds is the answer.
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
    let total = material.total.unwrap_or(material.ranked.len()) as u64;
    cut(workspace, &mut material, room);
    let mut filler = Filler::new(workspace, &material, room, total);
    let mut aim = Aim {
        allowed: room.budget,
        target: room.budget as f64,
    };
    if let Some(base) = room.base {
        match filler.again(base, room) {
            Again::Pack(pack) => return Ok(settled(*pack, room)),
            Again::Short(other) => aim = other,
        }
    }
    let best = filler.best(aim, room).ok_or_else(|| QuestionError::Argument {
        name: "budget",
        problem: format!("{} tokens do not hold even one symbol: give more", room.budget),
    })?;
    Ok(settled(best, room))
}

/// What plans are made for.
struct Aim {
    /// Tokens at most.
    allowed: usize,
    /// Estimated tokens to plan for; corrected by what the plan turns out to take.
    target: f64,
}

/// What a client gets that holds a pack.
enum Again {
    /// This one.
    Pack(Box<ContextPack>),
    /// Too little is left of what it holds: as good a pack as for anyone, what it holds first.
    Short(Aim),
}

/// Leaves what can be part of a pack. What is pinned can, wherever it stands, and what the client holds.
fn cut(workspace: &Workspace, material: &mut Material<'_>, room: &Room<'_>) {
    let most = match material.with_sources {
        true => plan::reach(room.budget).min(MOST_CANDIDATES),
        false => MOST_CANDIDATES,
    };
    let rest = material.ranked.split_off(most.min(material.ranked.len()));
    let held = room.base.into_iter().flat_map(|base| &base.symbols);
    let held: HashSet<SymbolKey> = held.filter_map(|symbol| workspace.find(&symbol.id)).collect();
    let pinned = &material.pinned;
    let stays = |item: &Ranked| pinned.contains(&item.key) || held.contains(&item.key);
    material.ranked.extend(rest.into_iter().filter(stays));
}

/// Whether two packs say the same, in whatever order.
fn says_the_same(one: &ContextPack, other: &ContextPack) -> bool {
    let sources = |pack: &ContextPack| {
        let mut sources: Vec<PackSource> = pack.sources.clone();
        sources.sort_by(|a, b| a.id.cmp(&b.id));
        sources
    };
    one.pack_root == other.pack_root && sources(one) == sources(other)
}

/// The pack with what it takes with that very number in it.
fn settled(mut pack: ContextPack, room: &Room<'_>) -> ContextPack {
    for _ in 0..3 {
        let counted = (room.measure)(&pack) as u64;
        if counted == pack.tokens {
            break;
        }
        pack.tokens = counted;
    }
    pack
}

struct Filler<'a> {
    workspace: &'a Workspace,
    material: &'a Material<'a>,
    planner: Planner<'a>,
    base_symbols: HashMap<&'a str, &'a PackSymbol>,
    /// What a score is multiplied by, so that it compares with those that the client was sent.
    scale: f64,
    base_edges: HeldEdges<'a>,
    budget: usize,
    total: u64,
}

impl<'a> Filler<'a> {
    fn new(workspace: &'a Workspace, material: &'a Material<'a>, room: &Room<'a>, total: u64) -> Filler<'a> {
        let symbols = room.base.map_or(&[][..], |base| base.symbols.as_slice());
        let planner = Planner::new(workspace, material, room.budget, room.base);
        let base_symbols: HashMap<&str, &PackSymbol> =
            symbols.iter().map(|symbol| (symbol.id.as_str(), symbol)).collect();
        let scores = planner.ladders.iter().filter_map(|ladder| {
            let held = base_symbols.get(ladder.id.as_str())?;
            Some((held.score, ladder.score))
        });
        Filler {
            workspace,
            material,
            scale: scale(&scores.collect::<Vec<_>>()),
            planner,
            base_symbols,
            base_edges: HeldEdges::of(room.base),
            budget: room.budget,
            total,
        }
    }

    /// What the client holds, what is certain, and nothing else: the least of it goes where that is too much.
    fn again(&mut self, base: &ContextPack, room: &Room<'_>) -> Again {
        let is_asked_again = base.budget == room.budget as u64;
        let enough = room.budget * if is_asked_again { STILL_FILLED } else { FILLED_ANEW } / 100;
        let (plan, mut estimate) = self.planner.start();
        let (mut pack, mut tokens) = self.counted(&plan, room);
        let mut allowed = room.budget;
        if is_asked_again && tokens > allowed {
            // What it was sent as may have been shorter: what was allowed once is allowed again.
            allowed = allowed.max((room.measure)(base) + 1);
        }
        if is_asked_again && tokens <= allowed && says_the_same(&pack, base) {
            return Again::Pack(Box::new(pack));
        }
        let mut target = estimate;
        for _ in 0..MOST_TRIES {
            if tokens <= allowed {
                break;
            }
            target = target.min(estimate) * (allowed as f64 / tokens as f64).min(0.995);
            let (plan, within) = self.planner.start_within(target);
            (pack, tokens) = self.counted(&plan, room);
            estimate = within;
        }
        match (enough..=allowed).contains(&tokens) {
            true => Again::Pack(Box::new(pack)),
            false => Again::Short(Aim {
                allowed,
                target: estimate * allowed as f64 / tokens.max(1) as f64 * 0.985,
            }),
        }
    }

    /// The pack that uses most of what is allowed.
    fn best(&mut self, aim: Aim, room: &Room<'_>) -> Option<ContextPack> {
        let Aim { allowed, mut target } = aim;
        let mut best: Option<ContextPack> = None;
        let (mut low, mut high) = (0.0f64, f64::INFINITY);
        for _ in 0..MOST_TRIES {
            let (plan, exhausted) = self.planner.plan(target);
            let (pack, tokens) = self.counted(&plan, room);
            if tokens <= allowed {
                let is_better = best.as_ref().is_none_or(|best| best.tokens < pack.tokens);
                if is_better {
                    best = Some(pack);
                }
                if exhausted || tokens * 100 >= allowed * FILLED {
                    break;
                }
                low = low.max(target);
            } else {
                high = high.min(target);
            }
            let guess = target * allowed as f64 / tokens.max(1) as f64 * 0.985;
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
        best
    }

    /// The plan as it is sent, and its tokens.
    fn counted(&mut self, plan: &Plan, room: &Room<'_>) -> (ContextPack, usize) {
        let mut pack = self.pack(plan);
        // As long a number as the right one will be; what it may be off by is left free.
        pack.tokens = room.budget as u64;
        let tokens = (room.measure)(&pack) + 1;
        pack.tokens = tokens as u64;
        (pack, tokens)
    }

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
                    score: match evidence {
                        // No share of the best one.
                        Evidence::Asked => scaled(ladder.score, 1.0),
                        _ => self.steady(&ladder.id, ladder.score),
                    },
                    provenance: format!("{}~{hash}", self.found_by(&ladder.id, evidence)),
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
                    reason: material.ranked[ladder.rank].reason(self.workspace),
                });
            }
            pack.symbols.push(symbol);
        }
        // Names of the tree are words once they are escaped, so this cannot fail for what was made here.
        pack.pack_root = pack.root().unwrap_or_default();
        pack
    }

    /// How the symbol was found, in one word: the one that the client was told, if it was.
    fn found_by(&self, id: &str, evidence: &Evidence) -> &'a str {
        let held = self
            .base_symbols
            .get(id)
            .and_then(|held| held.provenance.split('~').next());
        held.unwrap_or(evidence.word())
    }

    fn steady(&self, id: &str, score: f64) -> f64 {
        let score = scaled(score, self.scale);
        match self.base_symbols.get(id) {
            Some(held) if (held.score - score).abs() <= STEADY => held.score,
            _ => score,
        }
    }
}

/// By how much scores are multiplied at most, in steps of a tenth, either way.
const MOST_STEPS: i32 = 12;

/// A score as it is sent.
fn scaled(score: f64, scale: f64) -> f64 {
    ((score * scale).min(1.0) * 100.0).round() / 100.0
}

/// Scores are shares of the best one. Where that one is gone all others grow, though nothing about them changed: of several scales,
/// the one is taken that leaves the most scores as they were sent (pairs of what was sent and what is found), and of those the
/// nearest to 1. Whatever it is, the scores that it leads to are all left by it when the pack is asked for again.
fn scale(scores: &[(f64, f64)]) -> f64 {
    let steady = |scale: f64| {
        let is_left = |(sent, found): &&(f64, f64)| (sent - scaled(*found, scale)).abs() <= STEADY;
        scores.iter().filter(is_left).count()
    };
    let mut best = (steady(1.0), 1.0);
    for step in (1..=MOST_STEPS).flat_map(|step| [-step, step]) {
        let scale = 1.1f64.powi(step);
        let count = steady(scale);
        if count > best.0 {
            best = (count, scale);
        }
    }
    best.1
}

/// The kind in the words of the graph profile.
pub(super) fn graph_kind(symbol: index::snapshot::SymbolView<'_>) -> &'static str {
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
