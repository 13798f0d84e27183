//! What to show of each symbol for a number of tokens. Each symbol is a ladder: its name, its signature, its skeleton, its body;
//! steps are taken by value for cost. What the client holds comes first and as it holds it: only what must go makes room.

use std::collections::{BTreeMap, HashMap};

use index::model::FileId;
use wire::answers::ContextPack;
use wire::tokens::Tokenizer;

use super::fill::Material;
use super::forms::{Form, Texts};
use super::rank::Ranked;
use crate::workspace::{SymbolKey, Workspace};

/// Tokens of a pack per symbol that is admitted at first.
const TOKENS_PER_SYMBOL: usize = 90;
/// Symbols past the admitted ones that may fill a gap.
const NEXT: usize = 40;
/// Times as many symbols as are admitted at first can be part of a pack. Names alone would take more than the budget, so no pack
/// ends here.
const REACH: usize = 6;
/// Of the symbols that are admitted at first, one in so many can be a target.
const TARGETS: usize = 3;
/// And one in so many is part of every pack, even if it is new to the client.
const CERTAIN: usize = 9;

/// Symbols that a budget admits at first.
fn at_once(budget: usize) -> usize {
    (budget / TOKENS_PER_SYMBOL).max(4)
}

/// How many of the best symbols can be part of a pack.
pub(super) fn reach(budget: usize) -> usize {
    at_once(budget) * REACH + NEXT
}

/// How many targets a pack can have.
pub(super) fn most_targets(budget: usize) -> usize {
    (at_once(budget) / TARGETS).max(1)
}

/// How many of the best symbols are part of every pack.
fn certain(budget: usize) -> usize {
    (at_once(budget) / CERTAIN).max(1)
}

/// Tokens of a letter of an id, about.
const TOKENS_PER_LETTER: f64 = 0.28;
/// What every pack takes, in estimated tokens.
const HEAD: f64 = 60.0;

/// How much more the text of a target is worth: it is what the task is about, however long it is.
const TARGET: f64 = 3.0;
/// How much more a text is worth that the client holds.
const HELD: f64 = 3.0;
/// What the name, signature, skeleton and body of a symbol are worth.
const WORTH: [f64; 4] = [0.3, 0.5, 0.65, 1.0];

/// Per chosen symbol, by place, the form it is shown in.
pub(super) type Plan = BTreeMap<usize, Option<Form>>;

/// A symbol with what each of its forms would cost.
pub(super) struct Ladder {
    pub(super) key: SymbolKey,
    pub(super) id: String,
    pub(super) score: f64,
    /// Its place among the ranked.
    pub(super) rank: usize,
    name_cost: f64,
    /// Per form: cost in estimated tokens and the text; filled when the symbol is admitted.
    pub(super) forms: Option<[Option<(f64, String)>; 3]>,
    held: Option<Holding>,
    is_target: bool,
    /// Whether it is part of every pack.
    is_certain: bool,
    /// Of its source; empty until the symbol is first put into a pack.
    pub(super) hash: String,
    /// Where it stands: repository, file, first and last byte.
    place: (usize, FileId, u32, u32),
}

/// What the client holds of a symbol.
#[derive(Clone, Copy)]
struct Holding {
    form: Option<Form>,
}

/// Plans for one question.
pub(super) struct Planner<'a> {
    pub(super) texts: Texts<'a>,
    pub(super) ladders: Vec<Ladder>,
    with_sources: bool,
    budget: usize,
    /// What is certain, and what the client holds.
    start: Plan,
}

impl<'a> Planner<'a> {
    pub(super) fn new(
        workspace: &'a Workspace,
        material: &Material<'_>,
        budget: usize,
        base: Option<&ContextPack>,
    ) -> Planner<'a> {
        let mut holdings: HashMap<&str, Holding> = HashMap::new();
        if let Some(base) = base {
            holdings.extend(
                base.symbols
                    .iter()
                    .map(|symbol| (symbol.id.as_str(), Holding { form: None })),
            );
            for source in &base.sources {
                let form = Form::ALL.into_iter().find(|form| form.name() == source.form);
                holdings.insert(&source.id, Holding { form });
            }
        }
        let certain = certain(budget);
        let ladder = |(rank, ranked): (usize, &Ranked)| {
            let symbol = workspace.symbol(ranked.key)?;
            let id = workspace.id(ranked.key.repository, symbol);
            Some(Ladder {
                key: ranked.key,
                score: ranked.score,
                rank,
                name_cost: id.len() as f64 * TOKENS_PER_LETTER + 24.0,
                held: holdings.get(id.as_str()).copied(),
                id,
                forms: None,
                is_target: material.distances.is_target(ranked.key),
                is_certain: rank < certain || material.pinned.contains(&ranked.key),
                hash: String::new(),
                place: (
                    ranked.key.repository,
                    symbol.file_id(),
                    symbol.span().start,
                    symbol.span().end,
                ),
            })
        };
        let mut planner = Planner {
            texts: Texts::new(workspace),
            ladders: material.ranked.iter().enumerate().filter_map(ladder).collect(),
            with_sources: material.with_sources,
            budget,
            start: Plan::new(),
        };
        if material.with_sources {
            let keys = planner.ladders.iter().take(at_once(budget)).map(|ladder| ladder.key);
            planner.texts.read_ahead(keys);
        }
        planner.start = planner.first(base.is_some());
        planner
    }

    /// What every plan starts from: what is certain, with its signature where the client does not know it yet, and what the client
    /// holds, as it holds it. What else is in a pack does not
    /// matter here, so the pack that comes of this plan starts from itself when it is asked for again.
    fn first(&mut self, is_again: bool) -> Plan {
        let mut plan = Plan::new();
        for place in 0..self.ladders.len() {
            let ladder = &self.ladders[place];
            match ladder.held {
                Some(Holding { form }) => {
                    let form = form
                        .filter(|_| self.with_sources)
                        .filter(|form| self.cost(place, *form).is_some());
                    plan.insert(place, form);
                }
                None if ladder.is_certain => {
                    let shown = Some(Form::Signature).filter(|_| is_again);
                    let shown = shown.filter(|form| self.with_sources && self.cost(place, *form).is_some());
                    plan.insert(place, shown);
                }
                None => {}
            }
        }
        plan
    }

    /// What every plan starts from, and about what it takes.
    pub(super) fn start(&mut self) -> (Plan, f64) {
        let plan = self.start.clone();
        let tokens = self.tokens(&plan);
        (plan, tokens)
    }

    fn tokens(&mut self, plan: &Plan) -> f64 {
        let of = |(place, form): (&usize, &Option<Form>)| {
            let text = form.and_then(|form| self.cost(*place, form)).unwrap_or(0.0);
            self.ladders[*place].name_cost + text
        };
        HEAD + plan.iter().map(of).sum::<f64>()
    }

    /// The start, less what does not fit: texts first, then names, the least score first and what is certain last.
    pub(super) fn start_within(&mut self, target: f64) -> (Plan, f64) {
        let (mut plan, mut used) = self.start();
        let mut weakest: Vec<usize> = plan.keys().rev().copied().collect();
        weakest.sort_by_key(|place| self.ladders[*place].is_certain);
        for &place in &weakest {
            if used <= target {
                break;
            }
            if let Some(Some(form)) = plan.insert(place, None) {
                used -= self.cost(place, form).unwrap_or(0.0);
            }
        }
        for place in weakest {
            if used <= target {
                break;
            }
            plan.remove(&place);
            used -= self.ladders[place].name_cost;
        }
        (plan, used)
    }

    /// The steps worth taking for `target` estimated tokens; also whether nothing is left to take.
    pub(super) fn plan(&mut self, target: f64) -> (Plan, bool) {
        let (mut plan, mut used) = self.start_within(target);
        let at_once = at_once(self.budget);
        let mut admitted = 0;
        loop {
            // Names first, in the order of their score; then what they are worth showing of.
            let until = match self.with_sources {
                true => (admitted + at_once).min(self.ladders.len()),
                false => self.ladders.len(),
            };
            let mut full = false;
            for place in admitted..until {
                if plan.contains_key(&place) {
                    continue;
                }
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
                    if !plan.contains_key(&place) && used + self.ladders[place].name_cost <= target {
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
            for (number, form) in Form::ALL.into_iter().enumerate() {
                let Some(cost) = self.cost(place, form) else { continue };
                let ladder = &self.ladders[place];
                // What the client holds already is kept: sending it costs nothing.
                let kept = ladder.held.is_some_and(|held| held.form == Some(form));
                let about = if ladder.is_target { TARGET } else { 1.0 };
                let value = (WORTH[number + 1] - WORTH[0]) * ladder.score * about * if kept { HELD } else { 1.0 };
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
            let before = current.and_then(|form| self.cost(place, form)).unwrap_or(0.0);
            let more = self.cost(place, form).unwrap_or(0.0) - before;
            if *used + more > target {
                full = true;
                continue;
            }
            *used += more;
            plan.insert(place, Some(form));
        }
        full
    }

    /// What a form costs, in estimated tokens; `None` where there is none.
    fn cost(&mut self, place: usize, form: Form) -> Option<f64> {
        let ladder = &mut self.ladders[place];
        let texts = &mut self.texts;
        let forms = ladder.forms.get_or_insert_with(|| {
            Form::ALL.map(|form| {
                let text = texts.text(ladder.key, form)?;
                Some((Tokenizer::O200k.estimate(&text) as f64 + 8.0, text))
            })
        });
        forms[form as usize].as_ref().map(|(cost, _)| *cost)
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
}
