//! The command line. Every verb is one line of [`Command`] and one file of `commands/` with an `Args` and a `run`.

use std::ffi::OsString;

use clap::{CommandFactory, FromArgMatches, Parser};
use terminal::verbs;

use crate::commands;

/// Much meaning, few words: code knowledge and tools for coding agents, in as few tokens as the facts allow.
#[derive(Parser)]
#[command(
    name = "lacon",
    version = env!("PROGRAM_VERSION"),
    propagate_version = true,
    max_term_width = 110,
    arg_required_else_help = true,
    after_help = "\
Exit codes:
  0  success
  1  the world did not cooperate: a missing file, a full disk, no index, a check that failed
  2  the command line does not parse
  3  the input is not what it was said to be: no such symbol, text that does not decode"
)]
pub(crate) struct Cli {
    /// Say more on stderr; give twice for everything
    #[arg(short, long, action = clap::ArgAction::Count, global = true)]
    pub(crate) verbose: u8,

    /// Colour what is meant for people: auto (on a terminal, unless NO_COLOR is set), always or never
    #[arg(
        long,
        value_name = "WHEN",
        default_value = "auto",
        global = true,
        hide_possible_values = true
    )]
    pub(crate) color: clap::ColorChoice,

    /// Trust the repositories of this run: their own tools and code may be started (LACON_TRUST=1 says the same)
    #[arg(long, global = true)]
    pub(crate) trust: bool,

    #[command(subcommand)]
    pub(crate) command: Command,
}

use commands::code::{change, read, trace, uses};
use commands::compilers::{changes, definition, diagnostics, enrich, explore, fixes, hover, references};
use commands::descriptors::{exports, function, laravel_routes, lines, type_};
use commands::questions::{
    analyze, blast_radius, callers, calls, communities, context, context_files, context_pr, contracts, covering,
    dependencies, dependents, editing_context, explain, implementations, outline, plan, source, start, stats, summary,
    symbols, usages,
};
use commands::search::{code, docs};
use commands::{
    apply, completions, convert, decode, doctor, encode, export, find, gateway, grep, hook, index, init, licenses, man,
    mcp, savings, status, tokens, trust, undo, watch, web,
};

verbs! {
    /// The verbs, in the order `--help` lists them.
    Command {
        Find => find,
        Read => read,
        Uses => uses,
        Trace => trace,
        Change => change,
        Index => index,
        Watch => watch,
        Status => status,
        Export => export,
        Callers => callers,
        Calls => calls,
        Usages => usages,
        Dependencies => dependencies,
        Dependents => dependents,
        Implementations => implementations,
        References => references,
        Definition => definition,
        Hover => hover,
        Diagnostics => diagnostics,
        Explore => explore,
        Fixes => fixes,
        Changes => changes,
        Enrich => enrich,
        Source => source,
        Symbols => symbols,
        Search => code,
        Docs => docs,
        Grep => grep,
        Summary => summary,
        Type => type_,
        Function => function,
        Exports => exports,
        Lines => lines,
        LaravelRoutes => laravel_routes,
        EditingContext => editing_context,
        Outline => outline,
        Stats => stats,
        Analyze => analyze,
        Start => start,
        Tests => covering,
        Contracts => contracts,
        Context => context,
        ContextFiles => context_files,
        ContextPr => context_pr,
        BlastRadius => blast_radius,
        Explain => explain,
        Communities => communities,
        Plan => plan,
        Savings => savings,
        Undo => undo,
        Mcp => mcp,
        Web => web,
        Init => init,
        Hook => hook,
        Trust => trust,
        Doctor => doctor,
        Gateway => gateway,
        Encode => encode,
        Decode => decode,
        Convert => convert,
        Apply => apply,
        Tokens => tokens,
        Bench => bench,
        Completions => completions,
        Man => man,
        Licenses => licenses,
    }
}

/// The verbs as `--help` shows them: those of every day first.
const GROUPS: &[(&str, &[&str])] = &[
    ("Every day", &["find", "read", "uses", "trace", "change", "grep"]),
    ("The index", &["index", "watch", "status", "doctor", "export", "stats"]),
    (
        "Agents and servers",
        &["mcp", "web", "init", "hook", "gateway", "trust", "savings", "undo"],
    ),
    (
        "Symbols",
        &[
            "symbols", "source", "type", "function", "exports", "summary", "lines", "explain", "explore",
        ],
    ),
    (
        "Relations",
        &[
            "callers",
            "calls",
            "usages",
            "references",
            "implementations",
            "dependencies",
            "dependents",
            "blast-radius",
            "tests",
            "communities",
        ],
    ),
    ("Search", &["search", "docs"]),
    (
        "Context for a task",
        &[
            "start",
            "plan",
            "context",
            "context-files",
            "context-pr",
            "editing-context",
        ],
    ),
    (
        "The whole code base",
        &["outline", "analyze", "contracts", "laravel-routes"],
    ),
    (
        "Language servers",
        &["definition", "hover", "diagnostics", "fixes", "changes", "enrich"],
    ),
    (
        "Formats and the rest",
        &[
            "encode",
            "decode",
            "convert",
            "apply",
            "tokens",
            "bench",
            "completions",
            "man",
            "licenses",
        ],
    ),
];

/// How to read the dense forms, in the words of the server's instructions.
const LEGEND: &str = "In rows `8,9 Main.run` is lines 8 and 9 in Main.run, and `21.load` is line 21 with the owner of the row above; both are in the path \
                      above. `complete` says that every use is listed.";

impl Cli {
    /// Reads a command line; ends the process where it does not parse.
    pub(crate) fn read(words: impl IntoIterator<Item = OsString>) -> Cli {
        let matches = command().get_matches_from(words);
        Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }
}

/// The command line, with its verbs in groups.
pub(crate) fn command() -> clap::Command {
    let command = Cli::command();
    let verbs = grouped(&command);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n\n{verbs}{LEGEND}\n\nOptions:\n{{options}}{{after-help}}"
    ))
}

fn grouped(command: &clap::Command) -> String {
    let mut text = String::new();
    for (title, verbs) in GROUPS {
        let known = verbs.iter().filter_map(|verb| command.find_subcommand(verb));
        let lines: String = known
            .map(|verb| {
                let about = verb.get_about().map(ToString::to_string).unwrap_or_default();
                format!("  {:<16} {about}\n", verb.get_name())
            })
            .collect();
        text.push_str(&format!("{title}:\n{lines}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::Command;
    use expect_test::expect_file;

    #[test]
    fn the_command_line_is_well_formed() {
        super::command().debug_assert();
    }

    #[test]
    fn every_verb_is_in_one_group() {
        let command = super::command();
        let mut grouped: Vec<&str> = super::GROUPS
            .iter()
            .flat_map(|(_, verbs)| verbs.iter().copied())
            .collect();
        for verb in command.get_subcommands() {
            let name = verb.get_name();
            let is_there = grouped.iter().filter(|grouped| **grouped == name).count();
            assert_eq!(is_there, 1, "{name}");
        }
        grouped.sort_unstable();
        assert!(
            grouped.is_sorted_by(|one, other| one < other),
            "a verb is in two groups"
        );
    }

    #[test]
    fn every_verb_about_code_has_an_example() {
        for verb in super::command().get_subcommands() {
            let help = verb.get_after_help().map(ToString::to_string).unwrap_or_default();
            let wants_none = ["bench", "licenses", "completions", "man"].contains(&verb.get_name());
            assert!(wants_none || help.contains("lacon"), "{}", verb.get_name());
        }
    }

    /// Run with `UPDATE_EXPECT=1` after changing the command line.
    #[test]
    fn the_reference_page_is_up_to_date() {
        let mut page = String::from(
            "# The command line\n\nGenerated from the definitions in `crates/lacon/src/`. Exit codes: 0 success, 1 the world did \
             not cooperate, 2 the command line does not parse, 3 the input is not what it was said to be.\n",
        );
        describe(&mut super::command().term_width(100), "lacon", &mut page);
        expect_file!["../../../docs/reference/cli.md"].assert_eq(&page);
    }

    fn describe(command: &mut Command, name: &str, page: &mut String) {
        let help = command
            .clone()
            .bin_name(name)
            .disable_version_flag(true)
            .render_long_help()
            .to_string();
        let help: Vec<&str> = help.lines().map(str::trim_end).collect();
        page.push_str(&format!(
            "\n## {name}\n\n```text\n{}\n```\n",
            help.join("\n").trim_end()
        ));
        for subcommand in command
            .get_subcommands_mut()
            .filter(|subcommand| subcommand.get_name() != "help")
        {
            let name = format!("{name} {}", subcommand.get_name());
            let mut subcommand = subcommand.clone().term_width(100);
            describe(&mut subcommand, &name, page);
        }
    }
}
