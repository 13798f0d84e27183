//! The hops of a function: what it calls, makes and hands over, and what may run in the place of what it calls.
//!
//! A call of a parameter is no hop: it leads to whatever anybody ever passed. The hop is at the call that passes it, where the function that
//! is handed over is named, so a chain leads to what was passed where the chain comes through.

use std::cell::RefCell;
use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use index::model::{EdgeKind, Origin};
use index::snapshot::{EdgeEnd, EdgeKinds, SymbolView};
use syntax::facts::{Kind, Position};

use super::fold;
use super::links::{Family, Link};
use crate::descriptors::words;
use crate::traverse::{self, Direction};
use crate::workspace::{SymbolKey, Workspace};

/// How one function leads to another.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(super) enum Way {
    /// Calls it.
    Call,
    /// Makes an instance of it.
    Make,
    /// Names it as a value: it is handed over.
    Hand,
    /// The target overrides or implements what is called.
    Override,
    /// Requests what the target provides, in another repository.
    Request,
    /// Something that no call shows: a name in a string, an event, a queue, a command log, a container.
    Link(Family, u32),
    /// Gives back to its caller what it took from a queue.
    Return,
    /// Writes a value, or only mentions it; never part of a chain.
    Write,
    Mention,
}

/// One hop.
#[derive(Clone, Copy, Debug)]
pub(super) struct Hop {
    pub(super) from: SymbolKey,
    pub(super) to: SymbolKey,
    pub(super) way: Way,
    /// In hundredths.
    pub(super) confidence: u8,
    /// Where it is said, in the file of `from`; line 0 where it is nowhere.
    pub(super) at: Position,
}

/// A mention of an external symbol.
#[derive(Clone, Debug)]
pub(super) struct Outside {
    pub(super) name: String,
    pub(super) at: Position,
}

/// Hops of one question, with what was looked up for them.
pub(super) struct Hops<'w> {
    workspace: &'w Workspace,
    tests: bool,
    callers: RefCell<HashMap<SymbolKey, Rc<HashSet<SymbolKey>>>>,
    penalties: RefCell<HashMap<SymbolKey, u32>>,
    mentions: RefCell<HashMap<SymbolKey, Rc<HashSet<SymbolKey>>>>,
    /// Names of functions that turned out not to be handed over where they stand.
    ruled_out: RefCell<HashSet<(SymbolKey, Position)>>,
}

/// What is followed.
fn kinds() -> EdgeKinds {
    EdgeKind::Calls | EdgeKind::Instantiates | EdgeKind::References
}

/// Overrides of one method that a hop leads to, and up to how many of them are a few.
const MOST_OVERRIDES: usize = 400;
const A_FEW: usize = 12;
/// Callers that are looked at for what they pass.
const MOST_CALLERS: usize = 400;

impl<'w> Hops<'w> {
    pub(super) fn new(workspace: &'w Workspace, tests: bool) -> Hops<'w> {
        Hops {
            workspace,
            tests,
            callers: RefCell::default(),
            penalties: RefCell::default(),
            mentions: RefCell::default(),
            ruled_out: RefCell::default(),
        }
    }

    /// A function is not handed over at this place: no chain goes there any more.
    pub(super) fn rule_out(&self, hop: &Hop) {
        self.ruled_out.borrow_mut().insert((hop.from, hop.at));
    }

    pub(super) fn workspace(&self) -> &'w Workspace {
        self.workspace
    }

    /// Where `from` leads, in no particular order; one target may come several times.
    pub(super) fn outgoing(&self, from: SymbolKey) -> Vec<Hop> {
        self.outgoing_with(from, &mut |_| {})
    }

    /// The same, and what lies outside.
    pub(super) fn outgoing_with(&self, from: SymbolKey, outside: &mut dyn FnMut(Outside)) -> Vec<Hop> {
        let mut hops = Vec::new();
        let Some(repository) = self.workspace.repository(from.repository) else {
            return hops;
        };
        let cross = self.workspace.cross_links();
        for edge in repository.edges(from.symbol, Direction::Outgoing, kinds()) {
            if edge.origin > Origin::AstInferred {
                continue;
            }
            let to = match edge.to {
                EdgeEnd::Symbol(symbol) => Some(SymbolKey {
                    repository: from.repository,
                    symbol,
                }),
                EdgeEnd::External(external) => cross.and_then(|cross| cross.symbol(from.repository, external)),
            };
            match to {
                Some(to) => hops.extend(self.hop(from, to, edge.kind, edge.confidence, edge.at)),
                None => {
                    if let (EdgeEnd::External(external), EdgeKind::Calls | EdgeKind::Instantiates) =
                        (edge.to, edge.kind)
                    {
                        outside(Outside {
                            name: repository.snapshot.external(external).to_owned(),
                            at: edge.at,
                        });
                    }
                }
            }
        }
        // A class and its constructor are one.
        let calls: HashSet<Position> = hops
            .iter()
            .filter(|hop| hop.way == Way::Call)
            .map(|hop| hop.at)
            .collect();
        hops.retain(|hop| hop.way != Way::Make || !calls.contains(&hop.at));
        let made: HashSet<Position> = hops
            .iter()
            .filter(|hop| matches!(hop.way, Way::Make | Way::Call))
            .map(|hop| hop.at)
            .collect();
        hops.retain(|hop| hop.way != Way::Hand || !made.contains(&hop.at));
        hops.extend(self.overrides(from));
        for (number, link) in repository.trace_links().outgoing(from.symbol) {
            let is_known = hops
                .iter()
                .any(|hop| hop.to.symbol == link.to && hop.at.line == link.at.line);
            hops.extend(self.link(from.repository, number, link).filter(|_| !is_known));
        }
        if let Some(links) = self.workspace.contract_links() {
            hops.extend(links.providers(from).iter().map(|&to| request(from, to)));
        }
        hops
    }

    /// Where else a caller calls what it calls at a hop.
    pub(super) fn other_calls(&self, hop: &Hop) -> Vec<Position> {
        if hop.way != Way::Call {
            return Vec::new();
        }
        let alike = self.outgoing(hop.from).into_iter();
        let mut found: Vec<Position> = alike
            .filter(|other| other.to == hop.to && other.way == Way::Call && other.at != hop.at)
            .map(|other| other.at)
            .collect();
        found.sort_unstable();
        found
    }

    /// Who leads to `to`.
    pub(super) fn incoming(&self, to: SymbolKey) -> Vec<Hop> {
        let mut hops = Vec::new();
        let Some(repository) = self.workspace.repository(to.repository) else {
            return hops;
        };
        for edge in repository.edges(to.symbol, Direction::Incoming, kinds()) {
            if edge.origin <= Origin::AstInferred {
                let from = SymbolKey {
                    repository: to.repository,
                    symbol: edge.from,
                };
                hops.extend(self.hop(from, to, edge.kind, edge.confidence, edge.at));
            }
        }
        if let Some(cross) = self.workspace.cross_links() {
            for &(number, external) in cross.externals(to) {
                let Some(other) = self.workspace.repository(number) else {
                    continue;
                };
                for edge in other.snapshot.incoming(external, kinds()) {
                    let from = SymbolKey {
                        repository: number,
                        symbol: edge.from,
                    };
                    hops.extend(self.hop(from, to, edge.kind, edge.confidence, edge.at));
                }
            }
        }
        for edge in repository.edges(to.symbol, Direction::Outgoing, EdgeKind::Overrides) {
            if let Some(symbol) = edge.to.symbol() {
                let from = SymbolKey {
                    repository: to.repository,
                    symbol,
                };
                hops.extend(self.overrides(from).into_iter().filter(|hop| hop.to == to));
            }
        }
        for (number, link) in repository.trace_links().incoming(to.symbol) {
            let is_known = hops
                .iter()
                .any(|hop| hop.from.symbol == link.from && hop.at.line == link.at.line);
            hops.extend(self.link(to.repository, number, link).filter(|_| !is_known));
        }
        if let Some(links) = self.workspace.contract_links() {
            hops.extend(links.consumers(to).iter().map(|&from| request(from, to)));
        }
        hops
    }

    fn hop(&self, from: SymbolKey, to: SymbolKey, kind: EdgeKind, confidence: u8, at: Position) -> Option<Hop> {
        let target = self.workspace.symbol(to)?;
        let way = match kind {
            EdgeKind::Calls => Way::Call,
            EdgeKind::Instantiates => Way::Make,
            // A mention of a function is its value; one of anything else is none that runs.
            _ if words::is_function(target.kind()) && !target.is_file() => Way::Hand,
            _ => return None,
        };
        let is_ruled_out = way == Way::Hand && self.ruled_out.borrow().contains(&(from, at));
        if is_ruled_out || from == to && way != Way::Call {
            return None;
        }
        if !self.tests && (traverse::is_test(target) || self.workspace.symbol(from).is_some_and(traverse::is_test)) {
            return None;
        }
        if way == Way::Call && confidence < super::SURE + 1 && self.is_passed(from, to) {
            return None;
        }
        Some(Hop {
            from,
            to,
            way,
            confidence,
            at,
        })
    }

    fn link(&self, repository: usize, number: u32, link: &Link) -> Option<Hop> {
        let of = |symbol| SymbolKey { repository, symbol };
        let is_test = |symbol| self.workspace.symbol(of(symbol)).is_none_or(traverse::is_test);
        if !self.tests && (is_test(link.from) || is_test(link.to)) {
            return None;
        }
        Some(Hop {
            from: of(link.from),
            to: of(link.to),
            way: Way::Link(link.family, number),
            confidence: link.confidence,
            at: link.at,
        })
    }

    /// What may run instead of a method that others override.
    fn overrides(&self, base: SymbolKey) -> Vec<Hop> {
        let Some(repository) = self.workspace.repository(base.repository) else {
            return Vec::new();
        };
        let edges = repository.edges(base.symbol, Direction::Incoming, EdgeKind::Overrides);
        let mut found: Vec<SymbolKey> = edges
            .map(|edge| SymbolKey {
                repository: base.repository,
                symbol: edge.from,
            })
            .filter(|key| {
                self.tests
                    || self
                        .workspace
                        .symbol(*key)
                        .is_some_and(|symbol| !traverse::is_test(symbol))
            })
            .take(MOST_OVERRIDES + 1)
            .collect();
        found.sort_unstable();
        found.dedup();
        if found.len() > MOST_OVERRIDES {
            return Vec::new();
        }
        let confidence = match found.len() {
            1 => 80,
            ..=A_FEW => 60,
            _ => 40,
        };
        found
            .into_iter()
            .map(|to| Hop {
                from: base,
                to,
                way: Way::Override,
                confidence,
                at: Position { line: 0, column: 0 },
            })
            .collect()
    }

    /// Whether `from` gets `to` from a caller, which names it: a call of a parameter.
    fn is_passed(&self, from: SymbolKey, to: SymbolKey) -> bool {
        let mentions = self.mentions(to);
        let mut others = mentions.iter().filter(|mention| **mention != from).peekable();
        if others.peek().is_none() {
            return false;
        }
        let callers = self.callers(from);
        others.any(|mention| callers.contains(mention))
    }

    /// The functions that name another one as a value.
    fn mentions(&self, of: SymbolKey) -> Rc<HashSet<SymbolKey>> {
        if let Some(known) = self.mentions.borrow().get(&of) {
            return known.clone();
        }
        let mentions = Rc::new(self.users(of, EdgeKind::References.into()));
        self.mentions.borrow_mut().insert(of, mentions.clone());
        mentions
    }

    fn users(&self, of: SymbolKey, kinds: EdgeKinds) -> HashSet<SymbolKey> {
        let repository = self.workspace.repository(of.repository);
        let edges = repository
            .into_iter()
            .flat_map(|repository| repository.edges(of.symbol, Direction::Incoming, kinds));
        edges
            .take(MOST_CALLERS)
            .map(|edge| SymbolKey {
                repository: of.repository,
                symbol: edge.from,
            })
            .collect()
    }

    fn callers(&self, of: SymbolKey) -> Rc<HashSet<SymbolKey>> {
        if let Some(known) = self.callers.borrow().get(&of) {
            return known.clone();
        }
        let callers = self.users(of, EdgeKind::Calls | EdgeKind::Instantiates);
        let callers = Rc::new(callers);
        self.callers.borrow_mut().insert(of, callers.clone());
        callers
    }

    /// What a hop costs: less for what is sure, more for what everybody calls or nobody means.
    pub(super) fn cost(&self, hop: &Hop) -> u32 {
        let known = match hop.confidence {
            95.. => 10,
            85.. => 12,
            80.. => 13,
            60.. => 17,
            _ => 32,
        };
        let way = match hop.way {
            Way::Call | Way::Make => 0,
            Way::Hand => 1,
            Way::Override => 2,
            Way::Request => 4,
            Way::Link(Family::Queue, _) => 8,
            Way::Link(..) => 1,
            // It may be dropped on the way: as doubtful as a guess.
            Way::Return => 20,
            Way::Write | Way::Mention => 0,
        };
        known + way + self.penalty(hop.to)
    }

    fn penalty(&self, of: SymbolKey) -> u32 {
        if let Some(&known) = self.penalties.borrow().get(&of) {
            return known;
        }
        let penalty = self.workspace.symbol(of).map_or(0, |symbol| {
            let used = self
                .workspace
                .repository(of.repository)
                .map_or(0, |repository| repository.snapshot.incoming_count(of.symbol));
            // Twice as many users, a little less to say about this flow.
            let shared = (used / 40).checked_ilog2().map_or(0, |log| 2 + log * 2);
            let aside = if fold::is_aside(symbol) { 9 } else { 0 };
            shared + aside
        });
        self.penalties.borrow_mut().insert(of, penalty);
        penalty
    }
}

/// A request in one repository that another one answers.
fn request(from: SymbolKey, to: SymbolKey) -> Hop {
    Hop {
        from,
        to,
        way: Way::Request,
        confidence: 70,
        at: Position { line: 0, column: 0 },
    }
}

/// Whether a symbol is something that runs.
pub(super) fn runs(symbol: SymbolView<'_>) -> bool {
    symbol.is_file() || words::is_function(symbol.kind()) || matches!(symbol.kind(), Kind::Macro | Kind::Lambda)
}
