//! Which files are not edited like others: what belongs to git or to Lacon never is, and what other programs run by themselves
//! only if whoever started Lacon allowed it by name.
//!
//! A workflow, an editor's task or a shell's start-up file turns an edit into a program that runs later, elsewhere, with other
//! rights, and nobody who approves "edit a file" has approved that. Files that run when a person builds or tests (`Makefile`,
//! `package.json`, `build.rs`) are code like any other and are not listed: what they do is looked at before it is run.

/// Paths that may be edited although other programs run them: files, or folders with all below them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Allowed {
    paths: Vec<Vec<String>>,
}

impl Allowed {
    /// These paths, relative to the root of any tree.
    pub fn new<P: AsRef<str>>(paths: impl IntoIterator<Item = P>) -> Allowed {
        let parts = |path: P| folded(path.as_ref().trim().trim_start_matches("./").trim_end_matches('/'));
        let mut paths: Vec<Vec<String>> = paths.into_iter().map(parts).collect();
        paths.retain(|parts| parts.iter().any(|part| !part.is_empty()));
        Allowed { paths }
    }

    fn has(&self, path: &[String]) -> bool {
        self.paths.iter().any(|allowed| path.starts_with(allowed))
    }
}

/// Whether a path has a part that git or Lacon keeps for itself, however a file system may spell it.
pub(crate) fn belongs_to_a_tool(path: &str) -> bool {
    folded(path).iter().any(|part| {
        matches!(part.as_str(), ".git" | ".lacon") || is_short_name(part, "git~") || is_short_name(part, "lacon~")
    })
}

/// Who runs the file at a path by itself, if somebody does and it is not allowed.
pub(crate) fn run_by(path: &str, allowed: &Allowed) -> Option<&'static str> {
    let parts = folded(path);
    let (_, who) = RUN.iter().find(|(pattern, _)| matches(pattern, &parts))?;
    (!allowed.has(&parts)).then_some(who)
}

/// The parts of a path as a file system sees them that knows no case, ignores dots and spaces at the end of a name, has streams
/// behind a colon, and leaves out characters that are not seen: HFS+ and NTFS together, as git checks them.
fn folded(path: &str) -> Vec<String> {
    let seen = |character: &char| !matches!(character, '\u{200c}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{206a}'..='\u{206f}' | '\u{feff}');
    let fold = |part: &str| {
        let part: String = part.chars().filter(seen).flat_map(char::to_lowercase).collect();
        let name = part.split(':').next().unwrap_or_default();
        name.trim_end_matches(['.', ' ']).to_string()
    };
    // Windows takes both for the end of a part.
    path.split(['/', '\\'])
        .filter(|part| !matches!(*part, "" | "."))
        .map(fold)
        .collect()
}

/// `GIT~1`: what NTFS calls `.git` for programs of another age.
fn is_short_name(part: &str, start: &str) -> bool {
    part.strip_prefix(start)
        .is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// A pattern matches at any depth, as a repository may hold others. `*` ends a name; a `/` at the end means all below.
fn matches(pattern: &str, parts: &[String]) -> bool {
    let is_folder = pattern.ends_with('/');
    let wanted: Vec<&str> = pattern.trim_end_matches('/').split('/').collect();
    let is_part = |(wanted, part): (&&str, &String)| match (wanted.strip_prefix('*'), wanted.strip_suffix('*')) {
        (Some(end), _) => part.ends_with(end),
        (_, Some(start)) => part.starts_with(start),
        _ => part == wanted,
    };
    let fits = |window: &[String]| wanted.iter().zip(window).all(is_part);
    match is_folder {
        true => parts.windows(wanted.len() + 1).any(fits),
        false => parts.len() >= wanted.len() && fits(&parts[parts.len() - wanted.len()..]),
    }
}

/// What is run without being asked for, by whom.
const RUN: &[(&str, &str)] = &[
    (".vscode/", "editors run what it says when the folder is opened"),
    ("*.code-workspace", "editors run what it says when it is opened"),
    (".idea/", "editors run what it says when the folder is opened"),
    (".fleet/", "editors run what it says when the folder is opened"),
    (".zed/", "editors run what it says when the folder is opened"),
    (".exrc", "editors run it when the folder is opened"),
    (".vimrc", "editors run it when they start"),
    (".lvimrc", "editors run it when the folder is opened"),
    (".nvimrc", "editors run it when the folder is opened"),
    (".nvim.lua", "editors run it when the folder is opened"),
    (".emacs", "editors run it when they start"),
    (".dir-locals.el", "editors run it when a file of the folder is opened"),
    (".devcontainer/", "editors run what it says when the folder is opened"),
    (
        ".devcontainer.json",
        "editors run what it says when the folder is opened",
    ),
    (".github/workflows/", "GitHub runs it, with the repository's secrets"),
    (".github/actions/", "GitHub runs it, with the repository's secrets"),
    (".gitea/workflows/", "the forge runs it, with the repository's secrets"),
    (
        ".forgejo/workflows/",
        "the forge runs it, with the repository's secrets",
    ),
    (".gitlab-ci.yml", "GitLab runs it, with the repository's secrets"),
    (".gitlab/ci/", "GitLab runs it, with the repository's secrets"),
    (".circleci/", "the build service runs it, with the repository's secrets"),
    (
        ".buildkite/",
        "the build service runs it, with the repository's secrets",
    ),
    (
        ".woodpecker/",
        "the build service runs it, with the repository's secrets",
    ),
    (
        ".woodpecker.y*",
        "the build service runs it, with the repository's secrets",
    ),
    (".drone.yml", "the build service runs it, with the repository's secrets"),
    (
        ".travis.yml",
        "the build service runs it, with the repository's secrets",
    ),
    (
        "appveyor.yml",
        "the build service runs it, with the repository's secrets",
    ),
    (
        "azure-pipelines.yml",
        "the build service runs it, with the repository's secrets",
    ),
    (
        "bitbucket-pipelines.yml",
        "the build service runs it, with the repository's secrets",
    ),
    (
        "cloudbuild.yaml",
        "the build service runs it, with the repository's secrets",
    ),
    (
        "jenkinsfile",
        "the build service runs it, with the repository's secrets",
    ),
    (".envrc", "direnv runs it when a shell enters the folder"),
    (".mise.toml", "mise runs what it says when a shell enters the folder"),
    (".mise/", "mise runs what it says when a shell enters the folder"),
    (".mcp.json", "agents start the programs that it names"),
    ("mcp.json", "agents start the programs that it names"),
    (".claude/settings*", "agents run the hooks that it names"),
    (".claude/hooks/", "agents run it"),
    (".cursor/hooks*", "agents run it"),
    (".codex/", "agents start the programs that it names"),
    (".gemini/settings.json", "agents start the programs that it names"),
    (".kiro/settings/", "agents start the programs that it names"),
    ("opencode.json*", "agents start the programs that it names"),
    (".husky/", "git runs it as a hook"),
    (".githooks/", "git runs it as a hook"),
    (".pre-commit-config.yaml", "git runs what it says as a hook"),
    ("lefthook.y*", "git runs what it says as a hook"),
    (".lefthook.y*", "git runs what it says as a hook"),
    (".gitconfig", "git runs what it says"),
    (".config/git/", "git runs what it says"),
    (".cargo/config", "cargo starts the programs that it names"),
    (".cargo/config.toml", "cargo starts the programs that it names"),
    (".npmrc", "package managers start the programs that it names"),
    (".yarnrc", "package managers start the programs that it names"),
    (".yarnrc.yml", "package managers start the programs that it names"),
    (".bashrc", "shells run it when they start"),
    (".bash_profile", "shells run it when they start"),
    (".bash_login", "shells run it when they start"),
    (".bash_logout", "shells run it when they end"),
    (".bash_aliases", "shells run it when they start"),
    (".profile", "shells run it when they start"),
    (".zshrc", "shells run it when they start"),
    (".zshenv", "shells run it when they start"),
    (".zprofile", "shells run it when they start"),
    (".zlogin", "shells run it when they start"),
    (".zlogout", "shells run it when they end"),
    (".kshrc", "shells run it when they start"),
    (".cshrc", "shells run it when they start"),
    (".tcshrc", "shells run it when they start"),
    (".login", "shells run it when they start"),
    (".config/fish/", "shells run it when they start"),
    (".xprofile", "it is run at login"),
    (".xinitrc", "it is run at login"),
    (".config/autostart/", "it is run at login"),
    (".config/systemd/", "it is run at login"),
    (".ssh/", "it says who may log in"),
    ("lacon.toml", "it is Lacon's own configuration"),
    ("lacon-gateway.toml", "Lacon starts the programs that it names"),
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn git_and_lacon_are_known_however_they_are_spelled() {
        for path in [
            ".git/config",
            ".GIT/hooks/pre-commit",
            ".Git",
            "sub/.gIt/x",
            ".git./x",
            ".git  /x",
            ".git. ./x",
            "GIT~1/config",
            "git~2",
            ".g\u{200c}it/config",
            "\u{feff}.git/config",
            ".git::$INDEX_ALLOCATION/config",
            "a\\.git\\config",
            ".LACON/undo/x",
            "LACON~1/x",
            "./.git/x",
        ] {
            assert!(belongs_to_a_tool(path), "{path:?}");
        }
        for path in [
            ".gitignore",
            ".github/x",
            "git/x",
            "a.git",
            "git~x",
            ".lacon.md",
            "..git",
        ] {
            assert!(!belongs_to_a_tool(path), "{path:?}");
        }
    }

    #[test]
    fn what_others_run_is_known_at_any_depth() {
        let nothing = Allowed::default();
        for path in [
            ".vscode/tasks.json",
            ".VSCode/Settings.json",
            "app/.vscode/launch.json",
            ".idea/runConfigurations/x.xml",
            ".github/workflows/ci.yml",
            ".gitlab-ci.yml",
            ".envrc",
            ".mcp.json",
            ".cursor/mcp.json",
            ".husky/pre-commit",
            ".bashrc",
            "home/.zshrc",
            "lacon.toml",
            "lacon-gateway.toml",
            ".envrc.",
        ] {
            assert!(run_by(path, &nothing).is_some(), "{path}");
        }
        for path in [
            "src/main.rs",
            "Makefile",
            "package.json",
            ".github/README.md",
            "vscode/tasks.json",
            ".vscode",
            "docs/workflows/ci.yml",
            ".claude/commands/x.md",
        ] {
            assert_eq!(run_by(path, &nothing), None, "{path}");
        }
    }

    #[test]
    fn only_what_is_named_is_allowed() {
        let allowed = Allowed::new([".github/workflows/ci.yml", "./.vscode/", " ", ""]);
        assert_eq!(run_by(".github/workflows/ci.yml", &allowed), None);
        assert_eq!(run_by(".vscode/tasks.json", &allowed), None);
        assert!(run_by(".github/workflows/other.yml", &allowed).is_some());
        assert!(run_by("app/.vscode/tasks.json", &allowed).is_some());
    }
}
