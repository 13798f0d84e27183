//! The coding agents that Lacon knows how to set up: how each is recognised, which file holds its MCP servers, and how an entry
//! of that file is spelled.

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
}

impl Client {
    pub(crate) const ALL: [Client; 9] = [
        Client::ClaudeCode,
        Client::Cursor,
        Client::VsCode,
        Client::Codex,
        Client::Gemini,
        Client::Zed,
        Client::Windsurf,
        Client::Opencode,
        Client::Continue,
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
            Client::Gemini => (vec![project.join(".gemini"), home.join(".gemini")], &["gemini"]),
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
        };
        marks.iter().any(|mark| mark.exists()) || commands.iter().any(|command| on_path(command).is_some())
    }

    /// The file that holds its MCP servers; `None` where it has none of this reach.
    pub(crate) fn file(self, reach: Reach, places: &Places) -> Option<PathBuf> {
        let Places { project, home, config } = places;
        let first_there = |directory: &Path| {
            let with_comments = directory.join("opencode.jsonc");
            match with_comments.exists() {
                true => with_comments,
                false => directory.join("opencode.json"),
            }
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
            (Client::Windsurf, Reach::Project) => return None,
            (Client::Windsurf, Reach::User) => home.join(".codeium/windsurf/mcp_config.json"),
            (Client::Opencode, Reach::Project) => first_there(project),
            (Client::Opencode, Reach::User) => first_there(&home.join(".config/opencode")),
            (Client::Continue, Reach::Project) => project.join(".continue/mcpServers/lacon.yaml"),
            (Client::Continue, Reach::User) => home.join(".continue/mcpServers/lacon.yaml"),
        })
    }

    /// The entry for Lacon in that file.
    pub(crate) fn entry(self, start: &Start) -> Change {
        let command = start.command.as_str();
        // Where a client may start a server outside of the project, it is told which project it is.
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
        match self {
            Client::ClaudeCode | Client::Windsurf => member(&["mcpServers", "lacon"], plain, Comments::Refused),
            Client::Cursor | Client::Gemini => member(&["mcpServers", "lacon"], plain, Comments::Allowed),
            Client::VsCode => {
                let value = json!({"type": "stdio", "command": command, "args": arguments});
                member(&["servers", "lacon"], value, Comments::Allowed)
            }
            Client::Zed => {
                let value = json!({"source": "custom", "command": command, "args": arguments, "env": {}});
                member(&["context_servers", "lacon"], value, Comments::Allowed)
            }
            Client::Opencode => {
                let words: Vec<String> = std::iter::once(command.to_string()).chain(arguments).collect();
                let value = json!({"type": "local", "command": words, "enabled": true});
                member(&["mcp", "lacon"], value, Comments::Allowed)
            }
            Client::Codex => Change::Table {
                path: vec!["mcp_servers", "lacon"],
                value: plain,
            },
            Client::Continue => {
                // A JSON string is a YAML string too.
                let quoted = |text: &str| Value::from(text).to_string();
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
}

/// Where a command is found.
pub(crate) fn on_path(command: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).find_map(|directory| guardian::programs::at(&directory.join(command)))
}
