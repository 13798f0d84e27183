//! Whether anything uses a definition that is to be deleted. The graph alone does not know: what a library calls through an
//! interface, what a decorator registers, what a string names, what is called on a value of unknown type.
//!
//! So everything that can know is asked, and the first that says yes keeps the definition: the graph, the definition's own head, the
//! types around it, every mention of the name that the graph does not lead elsewhere, and the compiler, where there is one, about
//! the code without it. The answer says what was looked at.

mod mentions;
mod names;

use std::collections::BTreeSet;
use std::time::Duration;

use codeintel::usages::{Usages, usages};
use codeintel::{SymbolKey, Workspace};
use index::model::EdgeKind;
use index::scan::read_source;
use index::snapshot::{EdgeEnd, SymbolView};
use lsp::Servers;
use lsp::edits::Draft;
use syntax::facts::{BaseKind, Definition, DefinitionId, Expression, ExpressionId, FileFacts, Flags, Kind, Visibility};
use wire::protocol::Refusal;

use super::evaluate;
use super::find::Target;
use crate::tools::{refusal, refused};

/// Uses that a refusal names.
const NAMED_USES: usize = 20;

/// What may use a definition, and what was asked.
#[derive(Default)]
struct Inquiry {
    uses: Vec<String>,
    looked: Vec<String>,
}

/// Refuses, with names and places, if anything but the symbol itself may use it. Says what was looked at. `draft` is the code without
/// it.
pub(super) fn refuse_if_used(
    workspace: &Workspace,
    servers: &Servers,
    target: &Target<'_>,
    draft: &Draft,
    patience: Duration,
) -> Result<String, Refusal> {
    let asked = &target.asked;
    if let Some(missing) = workspace.incomplete() {
        return Err(refusal(
            "index_incomplete",
            format!("who uses `{asked}` is not known yet ({missing}): wait, or give `force`"),
        ));
    }
    let mut inquiry = Inquiry::default();
    inquiry.ask_graph(workspace, target.key)?;
    inquiry.ask_head(target);
    if inquiry.uses.is_empty() {
        let found = mentions::of(target);
        inquiry.uses.extend(found.uses);
        inquiry.looked.push(format!("the name in {} files", found.files));
    }
    if inquiry.uses.is_empty() {
        inquiry.ask_compiler(workspace, servers, draft, patience);
    }
    let uses = &inquiry.uses;
    if uses.is_empty() {
        return Ok(format!("nothing uses it; looked at {}", inquiry.looked.join(", ")));
    }
    let named = uses
        .iter()
        .take(NAMED_USES)
        .map(String::as_str)
        .collect::<Vec<_>>()
        .join(", ");
    let more = match uses.len().saturating_sub(NAMED_USES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    Err(Refusal {
        code: "symbol_in_use".to_owned(),
        message: format!("`{asked}` is used by {named}{more}: change those first, or give `force`"),
        detail: uses.len().to_string(),
    })
}

impl Inquiry {
    fn ask_graph(&mut self, workspace: &Workspace, own: SymbolKey) -> Result<(), Refusal> {
        let own_id = workspace
            .symbol(own)
            .map(|symbol| workspace.id(own.repository, symbol))
            .unwrap_or_default();
        let ask = Usages {
            id: own_id.clone(),
            min_tier: Some("text_matched".to_owned()),
            limit: Some(500),
            ..Usages::default()
        };
        let found = usages(workspace, &ask).map_err(refused)?;
        let inside = format!("{own_id}.");
        let others = found
            .usages
            .iter()
            .filter(|usage| usage.from != own_id && !usage.from.starts_with(&inside));
        self.uses
            .extend(others.map(|usage| format!("{} ({}:{})", usage.from, usage.from_path, usage.from_line)));
        self.looked.push("the graph".to_owned());
        Ok(())
    }

    /// What the definition says of itself, and the types that it is a member of.
    fn ask_head(&mut self, target: &Target<'_>) {
        let Ok((text, _)) = read_source(&target.repository.root, &target.path) else {
            return;
        };
        let Some(language) = syntax::languages::detect(&target.path, text.as_bytes()) else {
            return;
        };
        let facts = syntax::extract(language, &text);
        let Some(definition) = target.definition(&facts) else {
            return;
        };
        let name = facts.text(definition.name);
        let is_member = matches!(
            definition.kind,
            Kind::Method | Kind::Constructor | Kind::Property | Kind::Field
        );
        if definition.flags.contains(Flags::ENTRY_POINT) || names::starts(name, language.name(), &target.path) {
            self.uses.push(format!("whoever starts the program (`{name}`)"));
        }
        if definition.flags.contains(Flags::DEFAULT) {
            self.uses.push("whoever imports the default of its module".to_owned());
        }
        if definition.flags.contains(Flags::TEST) || names::is_test(name, language.name(), &target.path, is_member) {
            self.uses.push("the test runner".to_owned());
        }
        let kept = definition
            .decorators
            .iter()
            .map(|decorator| name_of(&facts, *decorator));
        // Not every grammar has them with what they stand on.
        let written = names::decorators(&text, definition.span.start as usize, language.name());
        for decorator in kept.chain(written).collect::<BTreeSet<String>>() {
            if !names::registers_nothing(&decorator) {
                self.uses.push(format!("what `{decorator}` registers it with"));
            }
        }
        let head = definition.span.start as usize;
        let comment = definition.doc_span.map_or(head, |(start, _)| start as usize).min(head);
        if let Some(directive) = names::directive(text.get(comment..head).unwrap_or_default()) {
            self.uses.push(format!("what `{directive}` makes it visible to"));
        }
        if matches!(language.name(), "c" | "cpp")
            && let Some(attribute) = names::attribute(head_of(&text, definition))
        {
            self.uses
                .push(format!("what its attribute `{attribute}` makes it visible to"));
        }
        let is_exported = definition.visibility != Visibility::Private;
        if !is_member && is_exported && names::is_called_by_framework(name, language.name()) {
            self.uses.push(format!(
                "perhaps a framework, which calls an exported `{name}` by itself"
            ));
        }
        if names::is_read_by_language(name, language.name()) {
            self.uses.push(format!("the language, which reads `{name}` by itself"));
        }
        if is_a_type(definition.kind) {
            self.ask_registries(target);
        }
        self.looked.push("decorators".to_owned());
        if is_member {
            if definition.flags.contains(Flags::OVERRIDE) {
                self.uses.push("callers of what it overrides".to_owned());
            }
            if names::is_called_by_language(name, language.name()) {
                self.uses.push(format!(
                    "the language or its library, which call `{name}` by themselves"
                ));
            }
            self.ask_bases(target, &facts, definition);
            self.looked.push("the types around it".to_owned());
        }
    }

    /// A member may be called through any base of its type; of bases that are not of this tree nobody here knows what they call.
    fn ask_bases(&mut self, target: &Target<'_>, facts: &FileFacts, definition: &Definition) {
        let snapshot = &target.repository.snapshot;
        for edge in snapshot.outgoing(target.key.symbol, EdgeKind::Overrides) {
            let overridden = match edge.to {
                EdgeEnd::Symbol(symbol) => snapshot.symbol(symbol).map(|symbol| symbol.qualified_name()),
                EdgeEnd::External(external) => Some(snapshot.external(external).to_owned()),
            };
            self.uses.push(format!(
                "callers of `{}`, which it overrides",
                overridden.unwrap_or_default()
            ));
        }
        let around = definition.parent.map(|parent| facts.definition(parent));
        // A member of a trait's implementation cannot go alone, be it called or not.
        let is_block = around.is_some_and(|around| around.kind == Kind::Extension);
        if let (Some(around), true) = (around, is_block)
            && let Some(base) = around.bases.iter().find(|base| base.kind == BaseKind::Implements)
        {
            self.uses
                .push(format!("`{}`, which its block implements", name_of(facts, base.type_)));
        }
        let is_private = definition.visibility == Visibility::Private || facts.text(definition.name).starts_with('_');
        if definition.flags.contains(Flags::STATIC) || is_block {
            return;
        }
        let mut external = BTreeSet::new();
        for base in around.into_iter().flat_map(|around| &around.bases) {
            let name = name_of(facts, base.type_);
            let last = names::last_part(&name);
            if !snapshot
                .symbols()
                .any(|symbol| is_type(&symbol) && symbol.name() == last)
            {
                external.insert(last.to_owned());
            }
        }
        let owner = snapshot.symbol(target.key.symbol).and_then(|symbol| symbol.parent());
        let mut known: BTreeSet<_> = owner.iter().map(SymbolView::id).collect();
        let mut next: Vec<_> = known.iter().copied().collect();
        while let Some(type_) = next.pop() {
            for edge in snapshot.outgoing(type_, EdgeKind::Extends | EdgeKind::Implements) {
                match edge.to {
                    EdgeEnd::Symbol(symbol) if known.insert(symbol) => next.push(symbol),
                    EdgeEnd::Symbol(_) => {}
                    // What Go's own library calls is known by name; its interfaces are no bases that a type declares.
                    EdgeEnd::External(base) if is_of_go_itself(snapshot.external(base)) => {}
                    EdgeEnd::External(base) => {
                        external.insert(names::last_part(snapshot.external(base)).to_owned());
                    }
                }
            }
        }
        external.retain(|base| match is_private {
            true => names::calls_private(base),
            false => !names::calls_nothing(base),
        });
        for base in external {
            self.uses.push(format!(
                "perhaps `{base}`, an external base of its type, whose members are not known here"
            ));
        }
    }

    /// Bases that keep a list of what derives from them, and create or call each of it without its name.
    fn ask_registries(&mut self, target: &Target<'_>) {
        let snapshot = &target.repository.snapshot;
        let mut known = BTreeSet::from([target.key.symbol]);
        let mut next = vec![target.key.symbol];
        while let Some(type_) = next.pop() {
            for edge in snapshot.outgoing(type_, EdgeKind::Extends | EdgeKind::Implements) {
                let EdgeEnd::Symbol(base) = edge.to else { continue };
                let Some(base) = snapshot.symbol(base).filter(|base| known.insert(base.id())) else {
                    continue;
                };
                next.push(base.id());
                let is_told = |member: SymbolView<'_>| {
                    names::registers_subtypes(member.name())
                        && member.parent().is_some_and(|around| around.id() == base.id())
                };
                let learns = base.file().is_some_and(|file| file.symbols().any(is_told));
                if learns || mentions::lists_subtypes(target, base.name()) {
                    self.uses.push(format!(
                        "perhaps `{}`, its base, which knows what derives from it",
                        base.qualified_name()
                    ));
                }
            }
        }
    }

    /// Errors that the code without it has and the code with it has not.
    fn ask_compiler(&mut self, workspace: &Workspace, servers: &Servers, draft: &Draft, patience: Duration) {
        match evaluate(workspace, servers, draft, patience) {
            Ok(judged) if judged.files_checked > 0 => {
                let errors = judged.introduced.iter().filter(|finding| finding.severity == "error");
                self.uses.extend(errors.map(|finding| {
                    format!(
                        "{}:{} (the compiler: {})",
                        finding.path,
                        finding.line,
                        first_line(&finding.message)
                    )
                }));
                let partly = judged.incomplete.map(|why| format!(" ({why})")).unwrap_or_default();
                self.looked.push(format!(
                    "what the compiler says of {} files without it{partly}",
                    judged.files_checked
                ));
            }
            Ok(judged) => {
                let why = judged.incomplete.unwrap_or_else(|| "there is none".to_owned());
                self.looked.push(format!("no compiler ({why})"));
            }
            Err(refusal) => self.looked.push(format!("no compiler ({})", refusal.message)),
        }
    }
}

fn first_line(message: &str) -> &str {
    message.lines().next().unwrap_or_default()
}

/// `go:net/http::Handler`: no domain in the path.
fn is_of_go_itself(external: &str) -> bool {
    external
        .strip_prefix("go:")
        .is_some_and(|path| !path.split(['/', ':']).next().unwrap_or_default().contains('.'))
}

/// A definition up to its body: what stands before the first brace, with the line that it begins on.
fn head_of<'t>(text: &'t str, definition: &Definition) -> &'t str {
    let (start, end) = (definition.span.start as usize, definition.span.end as usize);
    let line = text
        .get(..start)
        .and_then(|before| before.rfind('\n'))
        .map_or(0, |at| at + 1);
    let whole = text.get(line..end).unwrap_or_default();
    whole.split('{').next().unwrap_or(whole)
}

fn is_type(symbol: &SymbolView<'_>) -> bool {
    is_a_type(symbol.kind())
}

fn is_a_type(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::Class | Kind::Struct | Kind::Union | Kind::Interface | Kind::Trait | Kind::Enum | Kind::TypeAlias
    )
}

/// A name as it is written, as far as facts keep it: `app.route` of `@app.route("/")`.
fn name_of(facts: &FileFacts, expression: ExpressionId) -> String {
    let mut parts = Vec::new();
    let mut at = expression;
    // Facts of a broken file could lead in a circle.
    for _ in 0..16 {
        match *facts.expression(at) {
            Expression::Member { object, name } => {
                parts.push(facts.text(name).to_owned());
                at = object;
            }
            Expression::Call { callee, .. } => at = callee,
            Expression::New { type_, .. } => at = type_,
            Expression::Generic { base, .. } => at = base,
            Expression::Wrapped(inner) | Expression::Unwrap(inner) | Expression::Typed(inner) => at = inner,
            Expression::Free { name, .. } => {
                parts.push(facts.text(name).to_owned());
                break;
            }
            Expression::Bound { binding, .. } => {
                let binding = facts.bindings.get(binding.index());
                parts.extend(binding.map(|binding| facts.text(binding.name).to_owned()));
                break;
            }
            _ => break,
        }
    }
    parts.reverse();
    parts.join(".")
}

impl Target<'_> {
    /// The symbol among the definitions of its file as it is now.
    fn definition<'f>(&self, facts: &'f FileFacts) -> Option<&'f Definition> {
        let mut same: Vec<&Definition> = (0..facts.definitions.len())
            .map(|number| facts.definition(DefinitionId(number as u32)))
            .filter(|definition| definition.kind == self.kind && facts.text(definition.name) == self.name)
            .collect();
        same.sort_unstable_by_key(|definition| definition.span.start);
        match same.len() == self.of {
            true => same.get(self.number).copied(),
            false => None,
        }
    }
}
