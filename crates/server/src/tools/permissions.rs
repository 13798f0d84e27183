//! Which tools a server lists and answers. What is not permitted reads as unknown, so that nobody can probe for it.
//!
//! Listing fewer saves tokens and hides nothing: a tool that only reads is answered though it is not listed. A tool that writes is
//! answered only where it was asked for, by its toolset or by name.

use anyhow::anyhow;
use terminal::failure::{Explain, Failure};

use super::{Tool, Toolset, all, find};

/// Flags of every verb that serves tools.
#[derive(clap::Args, Debug, Default)]
pub struct ToolChoice {
    /// Offer no tool that writes
    #[arg(long, env = "LACON_READ_ONLY", value_parser = clap::builder::FalseyValueParser::new(), action = clap::ArgAction::SetTrue)]
    pub read_only: bool,

    /// Offer these tools besides the toolsets that are named, and no others (repeatable, or separated by commas)
    #[arg(long, value_name = "TOOL", value_delimiter = ',', env = "LACON_ALLOW_TOOLS")]
    pub allow_tool: Vec<String>,

    /// Never offer these tools (repeatable, or separated by commas)
    #[arg(long, value_name = "TOOL", value_delimiter = ',', env = "LACON_DENY_TOOLS")]
    pub deny_tool: Vec<String>,
}

/// Whether tools that write are offered at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Writes {
    Offered,
    Refused,
}

/// What a server lists and answers.
#[derive(Clone, Debug)]
pub struct Permissions {
    toolsets: Vec<Toolset>,
    allowed: Vec<String>,
    denied: Vec<String>,
    writes: Writes,
}

impl Permissions {
    /// What the flags say. `toolsets` is empty where none is named: then `core` is listed, or only what is allowed by name.
    pub fn new(toolsets: &[Toolset], choice: &ToolChoice, writes: Writes) -> Result<Permissions, Failure> {
        // A name that is misspelt would allow less, or deny nothing, without a word.
        let named = |names: &[String]| -> Vec<String> {
            // An empty variable names nothing.
            names.iter().filter(|name| !name.is_empty()).cloned().collect()
        };
        let (allowed, denied) = (named(&choice.allow_tool), named(&choice.deny_tool));
        for name in allowed.iter().chain(&denied) {
            if find(name).is_none() {
                return Err(anyhow!("no tool `{name}`"))
                    .bad_input()
                    .hint("docs/reference/tools.md lists the tools");
            }
        }
        let toolsets = match toolsets {
            [] if allowed.is_empty() => vec![Toolset::Core],
            named => named.to_vec(),
        };
        Ok(Permissions {
            toolsets,
            allowed,
            denied,
            writes: match choice.read_only {
                true => Writes::Refused,
                false => writes,
            },
        })
    }

    /// The tools that are listed, in their order.
    pub(crate) fn listed(&self) -> impl Iterator<Item = &'static Tool> {
        all().filter(|tool| self.lists(tool))
    }

    /// The tool with this name, where it may be asked.
    pub(crate) fn find(&self, name: &str) -> Option<&'static Tool> {
        find(name).filter(|tool| self.answers(tool))
    }

    /// The tools that may be asked, listed or not.
    pub(crate) fn answered(&self) -> impl Iterator<Item = &'static Tool> {
        all().filter(|tool| self.answers(tool))
    }

    /// Whether any tool that writes may be asked.
    pub fn offers_writes(&self) -> bool {
        self.answered().any(|tool| tool.writes)
    }

    fn lists(&self, tool: &Tool) -> bool {
        let named = self.allowed.iter().any(|name| name == tool.name);
        (named || self.toolsets.iter().any(|set| set.lists(tool))) && !self.refuses(tool)
    }

    fn answers(&self, tool: &Tool) -> bool {
        let may_be_read = !tool.writes && self.allowed.is_empty();
        self.lists(tool) || (may_be_read && !self.refuses(tool))
    }

    fn refuses(&self, tool: &Tool) -> bool {
        (tool.writes && self.writes == Writes::Refused) || self.denied.iter().any(|name| name == tool.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn permissions(toolsets: &[Toolset], read_only: bool, allow: &[&str], deny: &[&str]) -> Permissions {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_string()).collect();
        let choice = ToolChoice {
            read_only,
            allow_tool: names(allow),
            deny_tool: names(deny),
        };
        Permissions::new(toolsets, &choice, Writes::Offered).unwrap()
    }

    #[test]
    fn what_only_reads_is_answered_though_it_is_not_listed() {
        let core = permissions(&[], false, &[], &[]);
        assert!(core.listed().all(|tool| !tool.writes));
        assert!(core.find("find_references").is_some() && core.find("preview_edit").is_some());
        assert!(core.find("apply_edit").is_none() && core.find("commit_session").is_none());
        assert!(!core.offers_writes());
    }

    #[test]
    fn what_writes_is_answered_where_it_was_asked_for() {
        for asked in [
            permissions(&[Toolset::Edit], false, &[], &[]),
            permissions(&[Toolset::Core, Toolset::Edit], false, &[], &[]),
            permissions(&[Toolset::All], false, &[], &[]),
            permissions(&[], false, &["apply_edit"], &[]),
        ] {
            assert!(asked.find("apply_edit").is_some(), "{asked:?}");
        }
    }

    #[test]
    fn read_only_has_nothing_that_writes() {
        let all = permissions(&[Toolset::All], true, &["apply_edit"], &[]);
        assert!(all.answered().chain(all.listed()).all(|tool| !tool.writes));
        assert!(all.find("create_session").is_some());
    }

    #[test]
    fn what_is_denied_is_unknown_and_what_is_allowed_is_all_there_is() {
        let denied = permissions(&[Toolset::All], false, &[], &["search_text", "apply_edit"]);
        assert!(denied.find("search_text").is_none() && denied.find("apply_edit").is_none());
        assert!(denied.find("get_callers").is_some());
        let allowed = permissions(&[], false, &["search_text", "get_callers"], &["get_callers"]);
        let names =
            |tools: &mut dyn Iterator<Item = &'static Tool>| -> Vec<&str> { tools.map(|tool| tool.name).collect() };
        assert_eq!(names(&mut allowed.answered()), ["search_text"]);
        assert_eq!(names(&mut allowed.listed()), ["search_text"]);
        let with_a_set = permissions(&[Toolset::Search], false, &["apply_edit"], &[]);
        assert!(with_a_set.find("search_docs").is_some() && with_a_set.find("apply_edit").is_some());
        assert!(with_a_set.find("find_references").is_none());
    }

    #[test]
    fn a_misspelt_name_is_refused() {
        let choice = ToolChoice {
            deny_tool: vec!["aply_edit".to_string()],
            ..ToolChoice::default()
        };
        assert!(Permissions::new(&[], &choice, Writes::Offered).is_err());
    }
}
