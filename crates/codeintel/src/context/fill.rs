//! Fills a budget of tokens with what matters most for its cost.
//!
//! Each symbol is a ladder: its name, its signature, its skeleton, its body. Steps are taken by value for cost until the
//! budget is used; the whole is then counted exactly as it will be sent, and the plan is made larger or smaller until it just
//! fits. Costs of single steps are estimates, so only the count of the whole decides.

use std::collections::{BTreeMap, HashMap, HashSet};

use index::model::FileId;
use index::snapshot::EdgeKinds;
use wire::answers::{ContextPack, PackEdge, PackReason, PackSource, PackSymbol};
use wire::tokens::Tokenizer;

use super::distance::Distances;
use super::forms::{Form, Texts};
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

/// Tokens of a pack per symbol that is admitted at first.
const TOKENS_PER_SYMBOL: usize = 90;
/// Most symbols that are considered.
const MOST_CANDIDATES: usize = 1_500;
/// Symbols past the admitted ones that may fill a gap.
const NEXT: usize = 40;
/// Most edges per symbol.
const EDGES_PER_SYMBOL: usize = 3;
/// Used at least this part, in hundredths, the budget counts as filled.
const FILLED: usize = 95;
/// Exact counts at most.
const MOST_TRIES: usize = 12;
/// A score that moved by less is still the one that the client was sent.
const STEADY: f64 = 0.05;

/// How much more the text of a target is worth: it is what the task is about, however long it is.
const TARGET: f64 = 3.0;

/// What the name, signature, skeleton and body of a symbol are worth.
const WORTH: [f64; 4] = [0.3, 0.5, 0.65, 1.0];

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
    let mut filler = Filler::new(workspace, &material, room);
    let total = material.total.unwrap_or(found) as u64;
    // Estimated tokens to plan for; corrected by what the plan turns out to take.
    let mut target = room.budget as f64;
    let (mut low, mut high) = (0.0f64, f64::INFINITY);
    let mut best: Option<ContextPack> = None;
    for _ in 0..MOST_TRIES {
        let (plan, exhausted) = filler.plan(target);
        let mut pack = filler.pack(&plan, &material, total);
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

/// A symbol with what each of its forms would cost.
struct Ladder {
    key: SymbolKey,
    id: String,
    score: f64,
    name_cost: f64,
    /// Per form: cost in estimated tokens and the text; filled when the symbol is admitted.
    forms: Option<[Option<(f64, String)>; 3]>,
    held: Option<Holding>,
    is_target: bool,
    /// Of its source; empty until the symbol is first put into a pack.
    hash: String,
    /// Where it stands: repository, file, first and last byte.
    place: (usize, FileId, u32, u32),
}

/// What the client holds of a symbol.
#[derive(Clone, Copy)]
struct Holding {
    form: Option<Form>,
}

/// Per chosen symbol, by place, the form it is shown in.
type Plan = BTreeMap<usize, Option<Form>>;

struct Filler<'a> {
    workspace: &'a Workspace,
    texts: Texts<'a>,
    ladders: Vec<Ladder>,
    with_sources: bool,
    base_scores: HashMap<&'a str, f64>,
    budget: usize,
}

impl<'a> Filler<'a> {
    fn new(workspace: &'a Workspace, material: &Material<'_>, room: &Room<'a>) -> Filler<'a> {
        let mut base_scores: HashMap<&str, f64> = HashMap::new();
        let mut base_forms: HashMap<&str, Form> = HashMap::new();
        if let Some(base) = room.base {
            base_scores.extend(base.symbols.iter().map(|symbol| (symbol.id.as_str(), symbol.score)));
            for source in &base.sources {
                if let Some(form) = Form::ALL.into_iter().find(|form| form.name() == source.form) {
                    base_forms.insert(&source.id, form);
                }
            }
        }
        let ladder = |ranked: &Ranked| {
            let symbol = workspace.symbol(ranked.key)?;
            let id = workspace.id(ranked.key.repository, symbol);
            let held = base_scores.contains_key(id.as_str()).then(|| Holding {
                form: base_forms.get(id.as_str()).copied(),
            });
            Some(Ladder {
                key: ranked.key,
                score: ranked.score,
                name_cost: Tokenizer::O200k.estimate(&id) as f64 + 24.0,
                id,
                forms: None,
                held,
                is_target: material.distances.is_target(ranked.key),
                hash: String::new(),
                place: (
                    ranked.key.repository,
                    symbol.file_id(),
                    symbol.span().start,
                    symbol.span().end,
                ),
            })
        };
        Filler {
            workspace,
            texts: Texts::new(workspace),
            ladders: material.ranked.iter().filter_map(ladder).collect(),
            with_sources: material.with_sources,
            base_scores,
            budget: room.budget,
        }
    }

    /// The steps worth taking for `target` estimated tokens; also whether nothing is left to take.
    fn plan(&mut self, target: f64) -> (Plan, bool) {
        let mut plan = Plan::new();
        let mut used = 60.0;
        let at_once = (self.budget / TOKENS_PER_SYMBOL).max(4);
        let mut admitted = 0;
        loop {
            // Names first, in the order of their score; then what they are worth showing of.
            let until = match self.with_sources {
                true => (admitted + at_once).min(self.ladders.len()),
                false => self.ladders.len(),
            };
            let mut full = false;
            for place in admitted..until {
                if used + self.ladders[place].name_cost > target {
                    full = true;
                    continue;
                }
                used += self.ladders[place].name_cost;
                plan.insert(place, None);
            }
            admitted = until;
            if self.with_sources {
                full |= self.upgrade(&mut plan, &mut used, target);
            }
            if full {
                // What is left is too little for any of them, but perhaps not for the name of another.
                for place in admitted..(admitted + NEXT).min(self.ladders.len()) {
                    if used + self.ladders[place].name_cost <= target {
                        used += self.ladders[place].name_cost;
                        plan.insert(place, None);
                    }
                }
                return (plan, false);
            }
            if admitted == self.ladders.len() {
                return (plan, true);
            }
        }
    }

    /// Shows more of what is admitted, best value for cost first. Gives whether something did not fit.
    fn upgrade(&mut self, plan: &mut Plan, used: &mut f64, target: f64) -> bool {
        let mut steps: Vec<(f64, usize, Form)> = Vec::new();
        let places: Vec<usize> = plan.keys().copied().collect();
        for &place in &places {
            self.measure_forms(place);
            let ladder = &self.ladders[place];
            let Some(forms) = &ladder.forms else { continue };
            for (number, form) in Form::ALL.into_iter().enumerate() {
                let Some((cost, _)) = &forms[number] else { continue };
                // What the client holds already is kept: sending it costs nothing.
                let kept = ladder.held.is_some_and(|held| held.form == Some(form));
                let about = if ladder.is_target { TARGET } else { 1.0 };
                let value = (WORTH[number + 1] - WORTH[0]) * ladder.score * about * if kept { 3.0 } else { 1.0 };
                steps.push((value / cost.max(1.0), place, form));
            }
        }
        steps.sort_by(|a, b| b.0.total_cmp(&a.0).then((a.1, a.2).cmp(&(b.1, b.2))));
        let mut full = false;
        for (_, place, form) in steps {
            let current = plan.get(&place).copied().flatten();
            if current.is_some_and(|current| current >= form) || self.is_shown_around(place, plan) {
                continue;
            }
            if form == Form::Body && self.shows_inside(place, plan) {
                continue;
            }
            let cost = |form: Option<Form>| match (form, &self.ladders[place].forms) {
                (Some(form), Some(forms)) => forms[form as usize].as_ref().map_or(0.0, |(cost, _)| *cost),
                _ => 0.0,
            };
            let more = cost(Some(form)) - cost(current);
            if *used + more > target {
                full = true;
                continue;
            }
            *used += more;
            plan.insert(place, Some(form));
        }
        full
    }

    fn measure_forms(&mut self, place: usize) {
        if self.ladders[place].forms.is_some() {
            return;
        }
        let key = self.ladders[place].key;
        let forms = Form::ALL.map(|form| {
            let text = self.texts.text(key, form)?;
            Some((Tokenizer::O200k.estimate(&text) as f64 + 8.0, text))
        });
        self.ladders[place].forms = Some(forms);
    }

    /// Whether the body of something around the symbol is shown already.
    fn is_shown_around(&self, place: usize, plan: &Plan) -> bool {
        self.any_with_body(plan, |other| self.contains(other, place))
    }

    /// Whether the body of something inside the symbol is shown already.
    fn shows_inside(&self, place: usize, plan: &Plan) -> bool {
        self.any_with_body(plan, |other| self.contains(place, other))
    }

    fn any_with_body(&self, plan: &Plan, fits: impl Fn(usize) -> bool) -> bool {
        plan.iter()
            .any(|(other, form)| *form == Some(Form::Body) && fits(*other))
    }

    fn contains(&self, outer: usize, inner: usize) -> bool {
        let (around, within) = (self.ladders[outer].place, self.ladders[inner].place);
        outer != inner && (around.0, around.1) == (within.0, within.1) && around.2 <= within.2 && within.3 <= around.3
    }

    /// The plan as it is sent.
    fn pack(&mut self, plan: &Plan, material: &Material<'_>, total: u64) -> ContextPack {
        let chosen: Vec<usize> = plan.keys().copied().collect();
        let keys: Vec<SymbolKey> = chosen.iter().map(|&place| self.ladders[place].key).collect();
        let mut symbols: Vec<(PackSymbol, usize)> = chosen
            .iter()
            .map(|&place| {
                let key = self.ladders[place].key;
                let evidence = &material.ranked[place].evidence;
                if self.ladders[place].hash.is_empty() {
                    self.ladders[place].hash = self.texts.hash(key);
                }
                let ladder = &self.ladders[place];
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
            total,
            truncated: (symbols.len() as u64) < total,
            note: material.note.clone(),
            incomplete: self.workspace.incomplete(),
            edges: match &material.edges {
                Some(edges) => self.given_edges(edges, &keys),
                None => self.edges_between(&keys),
            },
            ..ContextPack::default()
        };
        for (symbol, place) in symbols {
            let ladder = &self.ladders[place];
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
                    reason: material.ranked[place].evidence.reason(self.workspace),
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
        match self.base_scores.get(id) {
            Some(held) if (held - score).abs() <= STEADY => *held,
            _ => score,
        }
    }

    fn given_edges(&self, edges: &[(SymbolKey, SymbolKey, &str)], keys: &[SymbolKey]) -> Vec<PackEdge> {
        let kept: HashSet<SymbolKey> = keys.iter().copied().collect();
        let id = |key: SymbolKey| {
            self.workspace
                .symbol(key)
                .map(|symbol| self.workspace.id(key.repository, symbol))
        };
        let edges = edges
            .iter()
            .filter(|(from, to, _)| kept.contains(from) && kept.contains(to));
        edges
            .filter_map(|(from, to, kind)| {
                Some(PackEdge {
                    from: id(*from)?,
                    to: id(*to)?,
                    kind: (*kind).to_string(),
                })
            })
            .collect()
    }

    /// The edges among the symbols, a few for each, the kinds that say most first.
    fn edges_between(&self, keys: &[SymbolKey]) -> Vec<PackEdge> {
        let places: HashMap<SymbolKey, usize> = keys.iter().enumerate().map(|(place, key)| (*key, place)).collect();
        let mut edges: Vec<PackEdge> = Vec::new();
        for key in keys {
            let Some(repository) = self.workspace.repository(key.repository) else {
                continue;
            };
            let mut found: BTreeMap<(i32, usize), &'static str> = BTreeMap::new();
            for edge in repository.snapshot.outgoing(key.symbol, EdgeKinds::ALL).take(512) {
                let to = edge.to.symbol().map(|symbol| SymbolKey {
                    repository: key.repository,
                    symbol,
                });
                let Some(&place) = to.as_ref().and_then(|to| places.get(to)) else {
                    continue;
                };
                if to == Some(*key) {
                    continue;
                }
                let weight = (super::spread::outgoing_weight(edge.kind) * 100.0) as i32;
                found.entry((-weight, place)).or_insert(kinds::edge_name(edge.kind));
            }
            let mut ends: HashSet<usize> = HashSet::new();
            for ((_, place), kind) in found {
                if ends.len() >= EDGES_PER_SYMBOL {
                    break;
                }
                if !ends.insert(place) {
                    continue;
                }
                let id = |key: SymbolKey| {
                    let symbol = self.workspace.symbol(key);
                    symbol
                        .map(|symbol| self.workspace.id(key.repository, symbol))
                        .unwrap_or_default()
                };
                edges.push(PackEdge {
                    from: id(*key),
                    to: id(keys[place]),
                    kind: kind.to_string(),
                });
            }
        }
        edges
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

/// The symbols that a task is about, as far as the ranking can tell: the best, while they are nearly as good.
pub(crate) fn targets(ranked: &[Ranked]) -> Vec<SymbolKey> {
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
