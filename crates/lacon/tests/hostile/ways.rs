//! The ways in which a repository may attack who opens it, by family. A new one is an entry of a family's table.

pub(crate) mod gateway;
pub(crate) mod git;
pub(crate) mod leaks;
pub(crate) mod links;
pub(crate) mod programs;
pub(crate) mod search_path;
pub(crate) mod servers;
pub(crate) mod settings;
pub(crate) mod shapes;

use crate::stage::Stage;

/// One way.
pub(crate) struct Way {
    /// In words; markers are named after it.
    pub(crate) name: &'static str,
    /// Programs without which it cannot be tried.
    pub(crate) needs: &'static [&'static str],
    /// Puts it into the tree.
    pub(crate) plant: fn(&mut Stage),
    pub(crate) when_trusted: WhenTrusted,
}

/// What trust allows.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum WhenTrusted {
    /// It is what trust names: the repository's own tools and code.
    Runs,
    /// Nobody would want it, whoever trusts what.
    Never,
    /// It runs where the machine has what it takes.
    Maybe,
}

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static Way> {
    [
        programs::WAYS,
        search_path::WAYS,
        servers::WAYS,
        settings::WAYS,
        gateway::WAYS,
        git::WAYS,
        links::WAYS,
        leaks::WAYS,
        shapes::WAYS,
    ]
    .into_iter()
    .flatten()
}
