//! What the gateway's verbs share: which file, which directories, which environment.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::{Context, anyhow};
use gateway::Mount;
use gateway::config::{GatewayConfig, Mode};
use gateway::outside::Outside;
use gateway::reload::{Environment, ReadError, read_config};
use gateway::runtime::Options;
use gateway::shutdown::Shutdown;
use server::embedding::ToolEmbedder;
use server::mcp::QuestionServer;
use server::project;
use server::tools::Toolset;
use server::tools::permissions::{Permissions, ToolChoice, Writes};
use server::tools::trees::Trees;
use terminal::failure::{Explain, Failure};

/// Files looked for in the working directory when none is named, in this order.
const USUAL_NAMES: [&str; 2] = ["lacon-gateway.toml", ".mcp.json"];

/// Which configuration to use.
#[derive(clap::Args)]
pub(crate) struct ConfigArgs {
    /// The configuration: TOML, or JSON with `mcpServers` [default: lacon-gateway.toml, .mcp.json, or the user's
    /// lacon/gateway.toml]
    #[arg(short, long, value_name = "FILE", env = "LACON_GATEWAY_CONFIG")]
    config: Option<PathBuf>,

    /// How upstream tools are shown, instead of what the configuration says
    #[arg(long, value_enum)]
    mode: Option<ModeArg>,
}

#[derive(Clone, Copy, clap::ValueEnum)]
enum ModeArg {
    /// Three meta-tools: browse, execute, view
    Gateway,
    /// Every tool listed without its schema
    Proxy,
    /// Every tool as it is, with shorter results
    Passthrough,
}

impl ConfigArgs {
    /// Reads the configuration and says where it was found.
    pub(crate) fn load(&self) -> Result<(PathBuf, GatewayConfig), Failure> {
        let path = match &self.config {
            Some(path) => path.clone(),
            None => usual_file()?,
        };
        let loaded = match read_config(&path, &environment()) {
            Ok(loaded) => loaded,
            Err(error @ ReadError::File(..)) => return Err(error.into()),
            Err(error) => return Err(anyhow!(error)).bad_input(),
        };
        for warning in &loaded.warnings {
            tracing::warn!("{}: {warning}", path.display());
        }
        let mut config = loaded.config;
        if let Some(mode) = self.mode {
            config.mode = match mode {
                ModeArg::Gateway => Mode::Gateway,
                ModeArg::Proxy => Mode::Proxy,
                ModeArg::Passthrough => Mode::Passthrough,
            };
        }
        Ok((path, config))
    }

    /// Whether the command line overrules the file, which then cannot be followed as it is.
    pub(crate) fn overrides_file(&self) -> bool {
        self.mode.is_some()
    }
}

/// Answers `${env:NAME}` from this process's environment.
pub(crate) fn environment() -> Environment {
    Arc::new(|name: &str| std::env::var(name).ok())
}

/// Directories and defaults that come from the user's environment, for the upstreams of a configuration.
pub(crate) fn options(config: &Path) -> Result<Options, Failure> {
    let format = match std::env::var("LACON_OUTPUT_FORMAT") {
        Ok(name) => name
            .parse()
            .map_err(|error: String| anyhow!("LACON_OUTPUT_FORMAT: {error}"))
            .bad_input()?,
        Err(_) => wire::Format::Auto,
    };
    Ok(Options {
        state_directory: state_directory(),
        output_format: format,
        embedder: Some(Arc::new(ToolEmbedder)),
        outside: outside(config),
        ..Options::default()
    })
}

/// What the user's own upstreams are kept out of: the repository that this process stands in, unless somebody trusts it. Whoever names a
/// file of that repository has named what it starts.
fn outside(config: &Path) -> Option<Outside> {
    let here = std::env::current_dir().ok()?.canonicalize().ok()?;
    let home = std::env::var_os("HOME").map(PathBuf::from);
    // A home is no repository that somebody has cloned, and programs of the user's lie in it.
    let is_home = home.is_some_and(|home| home.starts_with(&here));
    let kept_out = guardian::programs::kept_out_for(&here);
    if is_home || server::trust::trust().covers(&here) || guardian::programs::is_within(config, &kept_out) {
        return None;
    }
    let directory = state_directory()
        .map(|state| state.join("outside"))
        .filter(|directory| std::fs::create_dir_all(directory).is_ok())
        .unwrap_or_else(|| PathBuf::from("/"));
    tracing::info!(
        "untrusted: upstreams start in `{}` and not here; a `cwd` or `lacon trust` allows it",
        directory.display()
    );
    Some(Outside {
        kept_out,
        directory,
        path: std::env::var_os("PATH").unwrap_or_default(),
    })
}

/// Puts Lacon's own questions about the code of the current directory behind the gateway, as one more upstream, where the
/// configuration asks for it.
pub(crate) fn mount_code_tools(
    config: &GatewayConfig,
    options: &mut Options,
    choice: &ToolChoice,
    writes: Writes,
) -> Result<(), Failure> {
    // Checked also where nothing is mounted: a misspelt name is a mistake anyway.
    let toolsets: &[Toolset] = match choice.allow_tool.is_empty() {
        true => &[Toolset::All],
        false => &[],
    };
    let permissions = Permissions::new(toolsets, choice, writes)?;
    if !config.mount_code_tools {
        return Ok(());
    }
    let trees = match project::around(Path::new(".")) {
        Ok(project) => Trees::open(&[project], None)?,
        Err(why) => Trees::none(&why),
    };
    let trees = Arc::new(trees);
    trees.keep_up_to_date();
    let server = QuestionServer {
        trees,
        reach: Arc::default(),
        services: Arc::default(),
        permissions: Arc::new(permissions),
        format: options.output_format,
        references: false,
        // Its callers are answered by the gateway.
        shutdown: Shutdown::default(),
    };
    let mount = Mount::new(move || server.clone()).spelling(|tool, arguments| {
        if let Some(tool) = server::tools::find(tool) {
            tool.spell_as_listed(arguments);
        }
    });
    options.mounts.insert("lacon".to_owned(), mount);
    Ok(())
}

/// A runtime for a verb that waits for the network.
pub(crate) fn runtime() -> Result<tokio::runtime::Runtime, Failure> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    Ok(runtime.context("cannot start the asynchronous runtime")?)
}

/// The file of the current folder, if its repository is trusted: what it lists is started. Else the user's own. A pipe of that name is none:
/// a repository may bring one along, and whoever reads it waits for ever.
fn usual_file() -> Result<PathBuf, Failure> {
    let here = USUAL_NAMES.map(PathBuf::from).into_iter().find(|path| path.is_file());
    let own = user_directory("XDG_CONFIG_HOME", ".config")
        .map(|directory| directory.join("gateway.toml"))
        .filter(|path| path.exists());
    match (here, own) {
        (Some(here), own) => {
            let what = format!("`{}` may start programs, and was not read", here.display());
            match (server::trust::demand(Path::new("."), &what), own) {
                (Ok(()), _) => Ok(here),
                (Err(_), Some(own)) => {
                    tracing::warn!(
                        "untrusted: {what}; `{}` is used; `lacon trust` allows it",
                        own.display()
                    );
                    Ok(own)
                }
                (Err(untrusted), None) => Err(Failure {
                    hints: vec![format!(
                        "`lacon trust` allows it for this repository, `--config {}` for one run",
                        here.display()
                    )],
                    ..untrusted
                }),
            }
        }
        (None, Some(own)) => Ok(own),
        (None, None) => Err(anyhow!("there is no gateway configuration here"))
            .hint(format!("write {} or name a file with --config", USUAL_NAMES[0])),
    }
}

fn state_directory() -> Option<PathBuf> {
    user_directory("XDG_STATE_HOME", ".local/state").map(|directory| directory.join("gateway"))
}

fn user_directory(variable: &str, below_home: &str) -> Option<PathBuf> {
    let base = match std::env::var_os(variable).filter(|value| Path::new(value).is_absolute()) {
        Some(directory) => PathBuf::from(directory),
        None => PathBuf::from(std::env::var_os("HOME")?).join(below_home),
    };
    Some(base.join("lacon"))
}
