//! A stretch of a file as it is shown: all of its lines, its skeleton, the lines that serve a goal, or as many as fit.

use wire::tokens::Tokenizer;

use super::{Read, Shown, goal};

/// Lines up to which everything is shown: beyond, what has members comes as a skeleton.
const LARGE: usize = 160;
/// Lines of the head of a skeleton, before its first member.
const HEAD: u32 = 12;
/// Longest line of a member, in characters.
const LONGEST: usize = 140;
/// Longest line that is shown whole, in characters: one longer is data.
const LONGEST_LINE: usize = 2_000;

/// A definition directly inside of what is opened.
#[derive(Debug, Clone)]
pub(super) struct Member {
    pub(super) first: u32,
    pub(super) last: u32,
    pub(super) name: String,
    pub(super) signature: String,
}

/// A stretch of a file.
#[derive(Debug, Clone)]
pub(super) struct Opened {
    pub(super) path: String,
    pub(super) first: u32,
    pub(super) last: u32,
    name: String,
    lines: Vec<String>,
    members: Vec<Member>,
    /// Members that are shown whole.
    open: Vec<(u32, u32)>,
    /// The line that was pointed at.
    around: Option<u32>,
    others: Vec<String>,
}

impl Opened {
    pub(super) fn new(
        path: String,
        lines: Vec<String>,
        (first, last): (u32, u32),
        name: String,
        members: Vec<Member>,
    ) -> Opened {
        Opened {
            path,
            first,
            last: last.min(lines.len().max(1) as u32).max(first),
            name,
            lines,
            members,
            open: Vec::new(),
            around: None,
            others: Vec::new(),
        }
    }

    pub(super) fn around(self, line: u32) -> Opened {
        Opened {
            around: Some(line),
            ..self
        }
    }

    pub(super) fn also(self, others: &[String]) -> Opened {
        Opened {
            others: others.to_vec(),
            ..self
        }
    }

    /// The stretch from a line on, as it is asked for.
    pub(super) fn place(&self, first: u32) -> String {
        format!("{}:{first}-{}", self.path, self.last)
    }

    /// What is shown within so many tokens, and what is then left out; `None` where nothing fits.
    pub(super) fn show(&self, ask: &Read, room: usize) -> Option<(Shown, Option<String>)> {
        let mut notes = Vec::new();
        if !self.others.is_empty() {
            notes.push(format!("also named so: {}", self.others.join(", ")));
        }
        let count = (self.last - self.first + 1) as usize;
        let goal = ask.goal.as_deref().map(str::trim).filter(|goal| !goal.is_empty());
        let items: Vec<Item> = match goal {
            Some(goal) => {
                let kept = goal::lines(&self.lines, self.first, self.last, &self.heads(), goal);
                if kept.len() < count {
                    notes.push(format!("{} of {count} lines, those for the goal", kept.len()));
                }
                kept.into_iter().map(Item::Line).collect()
            }
            None if !ask.whole && count > LARGE && self.members.len() > 1 => {
                notes.push("skeleton: read a member by Owner.name or path:first-last".to_owned());
                self.skeleton()
            }
            None => (self.first..=self.last).map(Item::Line).collect(),
        };
        self.write(&items, notes, room)
    }

    /// First lines of members: they stay where lines are chosen.
    fn heads(&self) -> Vec<u32> {
        self.members.iter().map(|member| member.first).collect()
    }

    /// The head, then each member as one line, those that were asked for and the one pointed at open.
    fn skeleton(&self) -> Vec<Item> {
        let start = self
            .members
            .iter()
            .map(|member| member.first)
            .min()
            .unwrap_or(self.first);
        let head = (self.first..start.min(self.first + HEAD)).map(Item::Line);
        let mut items: Vec<Item> = head
            .filter(|item| !matches!(item, Item::Line(line) if self.text(*line).trim().is_empty()))
            .collect();
        for (at, member) in self.members.iter().enumerate() {
            let holds = |line: u32| member.first <= line && line <= member.last;
            let is_open = self.around.is_some_and(holds) || self.open.iter().any(|&(first, _)| holds(first));
            match is_open {
                true => items.extend((member.first..=member.last).map(Item::Line)),
                false => items.push(Item::Member(at)),
            }
        }
        items
    }

    fn text(&self, line: u32) -> &str {
        self.lines
            .get(line.saturating_sub(1) as usize)
            .map_or("", String::as_str)
    }

    fn write(&self, items: &[Item], notes: Vec<String>, room: usize) -> Option<(Shown, Option<String>)> {
        let mut source = String::new();
        let mut spent = Tokenizer::O200k.count(&self.path) + 20;
        let mut expected = None;
        let mut stopped_at = None;
        for item in items {
            let (line, next) = match item {
                Item::Line(line) => {
                    let mark = if expected.is_some_and(|expected| expected != *line) {
                        "…\n"
                    } else {
                        ""
                    };
                    (
                        format!("{mark}{line}\t{}\n", clipped(self.text(*line), LONGEST_LINE)),
                        Some(line + 1),
                    )
                }
                Item::Member(at) => {
                    let member = &self.members[*at];
                    let text = match member.signature.is_empty() {
                        true => &member.name,
                        false => &member.signature,
                    };
                    let range = match member.first == member.last {
                        true => member.first.to_string(),
                        false => format!("{}-{}", member.first, member.last),
                    };
                    (format!("{range}  {}\n", clipped(text, LONGEST)), None)
                }
            };
            let tokens = Tokenizer::O200k.count(&line);
            if spent + tokens > room {
                stopped_at = Some(match item {
                    Item::Line(line) => *line,
                    Item::Member(at) => self.members[*at].first,
                });
                break;
            }
            spent += tokens;
            source.push_str(&line);
            expected = next;
        }
        if source.is_empty() && !items.is_empty() {
            return None;
        }
        let rest = stopped_at.map(|line| self.place(line));
        let shown = Shown {
            path: self.path.clone(),
            first: self.first,
            last: self.last,
            name: self.name.clone(),
            source,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
        };
        Some((shown, rest))
    }
}

/// A line of what is shown.
enum Item {
    /// The line with this number.
    Line(u32),
    /// The member at this place.
    Member(usize),
}

fn clipped(text: &str, longest: usize) -> String {
    let text = text.trim_end();
    match text.char_indices().nth(longest) {
        Some((end, _)) => format!("{}… ({} more bytes)", &text[..end], text.len() - end),
        None => text.to_owned(),
    }
}

/// Joins what lies in one another: a member that was asked for beside its class opens in the class's skeleton, and what is asked for
/// twice comes once.
pub(super) fn join(opened: &mut Vec<Opened>) {
    let mut kept: Vec<Opened> = Vec::new();
    for one in opened.drain(..) {
        let holder = kept.iter_mut().find(|other| {
            other.path == one.path && other.first <= one.first && one.last <= other.last && other.others.is_empty()
        });
        match holder {
            Some(holder) => holder.open.push((one.first, one.last)),
            None => kept.push(one),
        }
    }
    *opened = kept;
}
