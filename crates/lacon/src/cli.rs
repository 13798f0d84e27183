//! The command line. Every verb is one line of [`Command`] and one file of `commands/` with an `Args` and a `run`.

use clap::Parser;
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
    completions, convert, decode, doctor, encode, export, find, gateway, grep, index, init, licenses, man, mcp,
    savings, status, tokens, trust, undo, watch,
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
        Init => init,
        Trust => trust,
        Doctor => doctor,
        Gateway => gateway,
        Encode => encode,
        Decode => decode,
        Convert => convert,
        Tokens => tokens,
        Bench => bench,
        Completions => completions,
        Man => man,
        Licenses => licenses,
    }
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};
    use expect_test::expect_file;

    #[test]
    fn the_command_line_is_well_formed() {
        super::Cli::command().debug_assert();
    }

    /// Run with `UPDATE_EXPECT=1` after changing the command line.
    #[test]
    fn the_reference_page_is_up_to_date() {
        let mut page = String::from(
            "# The command line\n\nGenerated from the definitions in `crates/lacon/src/`. Exit codes: 0 success, 1 the world did \
             not cooperate, 2 the command line does not parse, 3 the input is not what it was said to be.\n",
        );
        describe(&mut super::Cli::command().term_width(100), "lacon", &mut page);
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
