//! The coding agents that Lacon knows how to set up: how each is recognised, which file holds its MCP servers, how an entry
//! of that file is spelled, and where it reads rules.

use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::change::{Change, Comments};

/// Where a configuration applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// One repository.
    Project,
    /// Everything the user works on.
    User,
}

/// A coding agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Client {
    ClaudeCode,
    Cursor,
    #[value(name = "vscode")]
    VsCode,
    Codex,
    Gemini,
    Zed,
    Windsurf,
    Opencode,
    Continue,
    Cline,
    Roo,
    Kilo,
    CopilotCli,
    ClaudeDesktop,
    Kiro,
    Antigravity,
    Amp,
    Goose,
    Warp,
    Junie,
}

/// The directories that paths are made from.
#[derive(Debug, Clone)]
pub(crate) struct Places {
    pub(crate) project: PathBuf,
    pub(crate) home: PathBuf,
    /// `~/.config`, or what the system has instead.
    pub(crate) config: PathBuf,
}

/// How Lacon is started.
#[derive(Debug, Clone)]
pub(crate) struct Start {
    pub(crate) command: String,
    /// The arguments before `mcp`: what a package runner needs.
    pub(crate) before: Vec<String>,
    /// The arguments after `mcp` and the directory.
    pub(crate) more: Vec<String>,
}

/// Where an agent reads rules.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Rules {
    /// Among the rules of others.
    Part(PathBuf),
    /// In a file of Lacon's own.
    Whole(PathBuf),
}

impl Places {
    /// Those of this user; `None` where there is no home directory.
    pub(crate) fn of(project: PathBuf) -> Option<Places> {
        let home = std::env::home_dir()?;
        let config = match std::env::var_os("XDG_CONFIG_HOME") {
            Some(directory) if !directory.is_empty() => PathBuf::from(directory),
            _ if cfg!(target_os = "macos") => home.join("Library/Application Support"),
            _ => match std::env::var_os("APPDATA").filter(|_| cfg!(windows)) {
                Some(directory) => PathBuf::from(directory),
                None => home.join(".config"),
            },
        };
        Some(Places { project, home, config })
    }

    /// What an extension of VS Code keeps for itself.
    fn extension(&self, name: &str) -> PathBuf {
        self.config.join("Code/User/globalStorage").join(name)
    }
}

impl Client {
    pub(crate) const ALL: [Client; 20] = [
        Client::ClaudeCode,
        Client::Cursor,
        Client::VsCode,
        Client::Codex,
        Client::Gemini,
        Client::Zed,
        Client::Windsurf,
        Client::Opencode,
        Client::Continue,
        Client::Cline,
        Client::Roo,
        Client::Kilo,
        Client::CopilotCli,
        Client::ClaudeDesktop,
        Client::Kiro,
        Client::Antigravity,
        Client::Amp,
        Client::Goose,
        Client::Warp,
        Client::Junie,
    ];

    /// As its makers write it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Client::ClaudeCode => "Claude Code",
            Client::Cursor => "Cursor",
            Client::VsCode => "VS Code",
            Client::Codex => "Codex",
            Client::Gemini => "Gemini CLI",
            Client::Zed => "Zed",
            Client::Windsurf => "Windsurf",
            Client::Opencode => "opencode",
            Client::Continue => "Continue",
            Client::Cline => "Cline",
            Client::Roo => "Roo Code",
            Client::Kilo => "Kilo Code",
            Client::CopilotCli => "Copilot CLI",
            Client::ClaudeDesktop => "Claude Desktop",
            Client::Kiro => "Kiro",
            Client::Antigravity => "Antigravity",
            Client::Amp => "Amp",
            Client::Goose => "goose",
            Client::Warp => "Warp",
            Client::Junie => "Junie",
        }
    }

    /// What betrays it: a directory of its own, in the project or at home, or its command.
    pub(crate) fn is_found(self, places: &Places) -> bool {
        let Places { project, home, config } = places;
        let (marks, commands): (Vec<PathBuf>, &[&str]) = match self {
            Client::ClaudeCode => (
                vec![project.join(".claude"), home.join(".claude"), home.join(".claude.json")],
                &["claude"],
            ),
            Client::Cursor => (vec![project.join(".cursor"), home.join(".cursor")], &["cursor"]),
            Client::VsCode => (vec![project.join(".vscode"), config.join("Code")], &["code"]),
            Client::Codex => (vec![project.join(".codex"), home.join(".codex")], &["codex"]),
            Client::Gemini => (
                vec![project.join(".gemini"), home.join(".gemini/settings.json")],
                &["gemini"],
            ),
            Client::Zed => (
                vec![project.join(".zed"), home.join(".config/zed"), config.join("zed")],
                &["zed", "zeditor"],
            ),
            Client::Windsurf => (vec![home.join(".codeium/windsurf")], &["windsurf"]),
            Client::Opencode => (
                vec![
                    project.join("opencode.json"),
                    project.join("opencode.jsonc"),
                    project.join(".opencode"),
                    home.join(".config/opencode"),
                ],
                &["opencode"],
            ),
            Client::Continue => (vec![project.join(".continue"), home.join(".continue")], &["cn"]),
            Client::Cline => (
                vec![
                    project.join(".clinerules"),
                    places.extension("saoudrizwan.claude-dev"),
                    home.join(".cline"),
                ],
                &["cline"],
            ),
            Client::Roo => (
                vec![project.join(".roo"), places.extension("rooveterinaryinc.roo-cline")],
                &[],
            ),
            Client::Kilo => (
                vec![
                    project.join(".kilo"),
                    project.join(".kilocode"),
                    project.join("kilo.jsonc"),
                    home.join(".config/kilo"),
                    places.extension("kilocode.kilo-code"),
                ],
                &["kilo"],
            ),
            Client::CopilotCli => (vec![home.join(".copilot")], &["copilot"]),
            Client::ClaudeDesktop => (vec![config.join("Claude")], &[]),
            Client::Kiro => (vec![project.join(".kiro"), home.join(".kiro")], &["kiro", "kiro-cli"]),
            Client::Antigravity => (
                vec![home.join(".gemini/antigravity"), home.join(".gemini/config")],
                &["antigravity", "agy"],
            ),
            Client::Amp => (vec![project.join(".amp"), home.join(".config/amp")], &["amp"]),
            Client::Goose => (vec![home.join(".config/goose")], &["goose"]),
            Client::Warp => (vec![project.join(".warp"), home.join(".warp")], &["warp-terminal"]),
            Client::Junie => (vec![project.join(".junie"), home.join(".junie")], &["junie"]),
        };
        marks.iter().any(|mark| mark.exists()) || commands.iter().any(|command| on_path(command).is_some())
    }

    /// The file that holds its MCP servers; `None` where it has none of this reach.
    pub(crate) fn file(self, reach: Reach, places: &Places) -> Option<PathBuf> {
        let Places { project, home, config } = places;
        // Of the names that a file may have, the one that it has.
        let first_there = |directory: &Path, names: &[&str]| {
            let there = names.iter().map(|name| directory.join(name)).find(|path| path.exists());
            there.unwrap_or_else(|| directory.join(names.last().unwrap_or(&"mcp.json")))
        };
        Some(match (self, reach) {
            (Client::ClaudeCode, Reach::Project) => project.join(".mcp.json"),
            (Client::ClaudeCode, Reach::User) => home.join(".claude.json"),
            (Client::Cursor, Reach::Project) => project.join(".cursor/mcp.json"),
            (Client::Cursor, Reach::User) => home.join(".cursor/mcp.json"),
            (Client::VsCode, Reach::Project) => project.join(".vscode/mcp.json"),
            (Client::VsCode, Reach::User) => config.join("Code/User/mcp.json"),
            (Client::Codex, Reach::Project) => project.join(".codex/config.toml"),
            (Client::Codex, Reach::User) => home.join(".codex/config.toml"),
            (Client::Gemini, Reach::Project) => project.join(".gemini/settings.json"),
            (Client::Gemini, Reach::User) => home.join(".gemini/settings.json"),
            (Client::Zed, Reach::Project) => project.join(".zed/settings.json"),
            (Client::Zed, Reach::User) => home.join(".config/zed/settings.json"),
            (Client::Windsurf, Reach::User) => home.join(".codeium/windsurf/mcp_config.json"),
            (Client::Opencode, Reach::Project) => first_there(project, &["opencode.jsonc", "opencode.json"]),
            (Client::Opencode, Reach::User) => {
                first_there(&home.join(".config/opencode"), &["opencode.jsonc", "opencode.json"])
            }
            (Client::Continue, Reach::Project) => project.join(".continue/mcpServers/lacon.yaml"),
            (Client::Continue, Reach::User) => home.join(".continue/mcpServers/lacon.yaml"),
            // The extension's where it is installed, else that of its command.
            (Client::Cline, Reach::User) => match places.extension("saoudrizwan.claude-dev") {
                extension if extension.exists() => extension.join("settings/cline_mcp_settings.json"),
                _ => home.join(".cline/data/settings/cline_mcp_settings.json"),
            },
            (Client::Roo, Reach::Project) => project.join(".roo/mcp.json"),
            (Client::Roo, Reach::User) => places
                .extension("rooveterinaryinc.roo-cline")
                .join("settings/mcp_settings.json"),
            (Client::Kilo, Reach::Project) => {
                let names = ["kilo.json", "kilo.jsonc", ".kilo/kilo.json", ".kilo/kilo.jsonc"];
                first_there(project, &names)
            }
            (Client::Kilo, Reach::User) => first_there(&home.join(".config/kilo"), &["kilo.json", "kilo.jsonc"]),
            (Client::CopilotCli, Reach::Project) => project.join(".github/mcp.json"),
            (Client::CopilotCli, Reach::User) => home.join(".copilot/mcp-config.json"),
            (Client::ClaudeDesktop, Reach::User) => config.join("Claude/claude_desktop_config.json"),
            (Client::Kiro, Reach::Project) => project.join(".kiro/settings/mcp.json"),
            (Client::Kiro, Reach::User) => home.join(".kiro/settings/mcp.json"),
            // Shared by its editor and its command since version 2.
            (Client::Antigravity, Reach::User) => first_there(
                &home.join(".gemini"),
                &[
                    "config/mcp_config.json",
                    "antigravity/mcp_config.json",
                    "config/mcp_config.json",
                ],
            ),
            (Client::Amp, Reach::Project) => first_there(&project.join(".amp"), &["settings.jsonc", "settings.json"]),
            (Client::Amp, Reach::User) => first_there(&home.join(".config/amp"), &["settings.jsonc", "settings.json"]),
            (Client::Goose, Reach::User) => home.join(".config/goose/config.yaml"),
            (Client::Warp, Reach::Project) => project.join(".warp/.mcp.json"),
            (Client::Warp, Reach::User) => home.join(".warp/.mcp.json"),
            (Client::Junie, Reach::Project) => project.join(".junie/mcp/mcp.json"),
            (Client::Junie, Reach::User) => home.join(".junie/mcp/mcp.json"),
            (
                Client::Windsurf | Client::Cline | Client::ClaudeDesktop | Client::Antigravity | Client::Goose,
                Reach::Project,
            ) => return None,
        })
    }

    /// The entry for Lacon in that file.
    pub(crate) fn entry(self, start: &Start) -> Change {
        let command = start.command.as_str();
        // Where a client may start a server outside of the project, and has a word for it, it is told which project it is.
        let directory = match self {
            Client::Cursor | Client::VsCode => vec!["${workspaceFolder}".to_string()],
            _ => Vec::new(),
        };
        let arguments: Vec<String> = start
            .before
            .iter()
            .cloned()
            .chain(["mcp".to_string()])
            .chain(directory)
            .chain(start.more.iter().cloned())
            .collect();
        let member = |path: &[&'static str], value: Value, comments: Comments| Change::Member {
            path: path.to_vec(),
            value,
            comments,
        };
        let plain = json!({"command": command, "args": arguments});
        let servers = ["mcpServers", "lacon"];
        match self {
            // Its tools are at hand from the start, instead of being searched for.
            Client::ClaudeCode => {
                let value = json!({"type": "stdio", "command": command, "args": arguments, "alwaysLoad": true});
                member(&servers, value, Comments::Refused)
            }
            Client::Windsurf
            | Client::Cline
            | Client::ClaudeDesktop
            | Client::Kiro
            | Client::Antigravity
            | Client::Warp
            | Client::Junie
            | Client::Roo => member(&servers, plain, Comments::Refused),
            Client::Cursor | Client::Gemini => member(&servers, plain, Comments::Allowed),
            Client::CopilotCli => {
                let value = json!({"type": "local", "command": command, "args": arguments, "tools": ["*"]});
                member(&servers, value, Comments::Refused)
            }
            Client::VsCode => {
                let value = json!({"type": "stdio", "command": command, "args": arguments});
                member(&["servers", "lacon"], value, Comments::Allowed)
            }
            Client::Zed => {
                let value = json!({"source": "custom", "command": command, "args": arguments, "env": {}});
                member(&["context_servers", "lacon"], value, Comments::Allowed)
            }
            // One name with a dot in it.
            Client::Amp => member(&["amp.mcpServers", "lacon"], plain, Comments::Allowed),
            Client::Opencode | Client::Kilo => {
                let words: Vec<String> = std::iter::once(command.to_string()).chain(arguments).collect();
                let value = json!({"type": "local", "command": words, "enabled": true});
                member(&["mcp", "lacon"], value, Comments::Allowed)
            }
            Client::Codex => Change::Table {
                path: vec!["mcp_servers", "lacon"],
                value: plain,
            },
            Client::Goose => Change::YamlMember {
                parent: "extensions",
                name: "lacon",
                lines: vec![
                    "enabled: true".to_string(),
                    "type: stdio".to_string(),
                    "name: lacon".to_string(),
                    format!("cmd: {}", quoted(command)),
                    format!("args: {}", Value::from(arguments)),
                    "envs: {}".to_string(),
                    "timeout: 300".to_string(),
                ],
            },
            Client::Continue => {
                let arguments: String = arguments
                    .iter()
                    .map(|argument| format!("      - {}\n", quoted(argument)))
                    .collect();
                let text = format!(
                    "name: Lacon\nversion: 0.0.1\nschema: v1\nmcpServers:\n  - name: lacon\n    command: {}\n    args:\n{arguments}",
                    quoted(command)
                );
                Change::Whole { text }
            }
        }
    }

    /// The file in which it reads rules; `None` where it reads none of this reach.
    pub(crate) fn rules(self, reach: Reach, places: &Places) -> Option<Rules> {
        let Places { project, home, .. } = places;
        Some(match (self, reach) {
            (Client::ClaudeDesktop, _) => return None,
            // It does not read AGENTS.md.
            (Client::ClaudeCode, Reach::Project) => Rules::Part(project.join("CLAUDE.md")),
            (Client::ClaudeCode, Reach::User) => Rules::Part(home.join(".claude/CLAUDE.md")),
            (Client::Gemini, Reach::Project) => Rules::Part(project.join("GEMINI.md")),
            (Client::Gemini | Client::Antigravity, Reach::User) => Rules::Part(home.join(".gemini/GEMINI.md")),
            (Client::Junie, Reach::Project) => Rules::Part(project.join(".junie/guidelines.md")),
            (Client::Continue, Reach::Project) => Rules::Whole(project.join(".continue/rules/lacon.md")),
            (Client::Continue, Reach::User) => Rules::Whole(home.join(".continue/rules/lacon.md")),
            (Client::Cline, Reach::Project) => Rules::Whole(project.join(".clinerules/lacon.md")),
            (_, Reach::Project) => Rules::Part(project.join("AGENTS.md")),
            (Client::Codex, Reach::User) => Rules::Part(home.join(".codex/AGENTS.md")),
            (Client::Opencode, Reach::User) => Rules::Part(home.join(".config/opencode/AGENTS.md")),
            (Client::Amp, Reach::User) => Rules::Part(home.join(".config/amp/AGENTS.md")),
            (_, Reach::User) => return None,
        })
    }
}

/// A text as YAML: a JSON string is one.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

/// Where a command is found.
pub(crate) fn on_path(command: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find_map(|directory| guardian::programs::at(&directory.join(command)))
}
