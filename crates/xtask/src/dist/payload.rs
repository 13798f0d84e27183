//! What every package of a platform holds: the binary, what it says of itself, and the terms it comes under.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::platform::Platform;
use crate::root;

/// One file of a package.
#[derive(Clone)]
pub(crate) struct Entry {
    /// With `/` between its parts.
    pub(crate) path: String,
    pub(crate) bytes: Vec<u8>,
    pub(crate) is_program: bool,
}

impl Entry {
    pub(crate) fn text(path: impl Into<String>, text: impl Into<Vec<u8>>) -> Entry {
        Entry {
            path: path.into(),
            bytes: text.into(),
            is_program: false,
        }
    }

    pub(crate) fn program(path: impl Into<String>, bytes: impl Into<Vec<u8>>) -> Entry {
        Entry {
            is_program: true,
            ..Entry::text(path, bytes)
        }
    }
}

pub(crate) struct Payload {
    pub(crate) platform: &'static Platform,
    pub(crate) binary: Vec<u8>,
    /// Licences and notices, by file name.
    pub(crate) terms: Vec<Entry>,
    pub(crate) readme: Vec<u8>,
    pub(crate) changelog: Vec<u8>,
    pub(crate) bill_of_materials: Vec<u8>,
    /// `lacon.1` and one page per verb.
    pub(crate) manual: Vec<Entry>,
    pub(crate) completions: Vec<Completion>,
}

pub(crate) struct Completion {
    pub(crate) shell: &'static str,
    /// The name under which the shell looks for it.
    pub(crate) file: &'static str,
    pub(crate) script: Vec<u8>,
}

const SHELLS: [(&str, &str); 5] = [
    ("bash", "lacon.bash"),
    ("elvish", "lacon.elv"),
    ("fish", "lacon.fish"),
    ("powershell", "_lacon.ps1"),
    ("zsh", "_lacon"),
];

const TERMS: [&str; 3] = ["LICENSE-APACHE", "LICENSE-MIT", "THIRD-PARTY.md"];

impl Payload {
    pub(crate) fn collect(platform: &'static Platform, binary: &Path, runner: Option<&str>) -> Result<Payload> {
        let bytes = std::fs::read(binary).with_context(|| format!("there is no binary `{}`", binary.display()))?;
        let lacon = || match runner {
            Some(runner) => {
                let mut command = Command::new(runner);
                command.arg(binary);
                command
            }
            None => Command::new(binary),
        };
        let said = output(lacon().arg("--version"))?;
        let said = String::from_utf8_lossy(&said).into_owned();
        let version = env!("CARGO_PKG_VERSION");
        if said.split_whitespace().nth(1) != Some(version) {
            bail!("`{}` is {}, and this tree is {version}", binary.display(), said.trim());
        }
        let completions = SHELLS.map(|(shell, file)| {
            let script = output(lacon().args(["completions", shell]))?;
            Ok(Completion { shell, file, script })
        });
        let file = |name: &str| std::fs::read(root().join(name)).with_context(|| format!("there is no `{name}`"));
        let terms = TERMS.map(|name| Ok(Entry::text(name, file(name)?)));
        Ok(Payload {
            platform,
            binary: bytes,
            terms: terms.into_iter().collect::<Result<_>>()?,
            readme: file("README.md")?,
            changelog: file("CHANGELOG.md")?,
            bill_of_materials: file("sbom.cdx.json")?,
            manual: manual(&lacon)?,
            completions: completions.into_iter().collect::<Result<_>>()?,
        })
    }

    /// The binary under the name of its platform.
    pub(crate) fn program(&self, folder: &str) -> Entry {
        Entry::program(format!("{folder}{}", self.platform.program()), self.binary.clone())
    }

    /// Where the systems' shells look for completions, below a prefix such as `/usr`.
    pub(crate) fn shared(&self, prefix: &str) -> Vec<Entry> {
        let folder = |shell: &str| match shell {
            "bash" => Some(("bash-completion/completions", "lacon")),
            "zsh" => Some(("zsh/site-functions", "_lacon")),
            "fish" => Some(("fish/vendor_completions.d", "lacon.fish")),
            _ => None,
        };
        let completions = self.completions.iter().filter_map(|completion| {
            let (folder, name) = folder(completion.shell)?;
            Some(Entry::text(
                format!("{prefix}share/{folder}/{name}"),
                completion.script.clone(),
            ))
        });
        let pages = self
            .manual
            .iter()
            .map(|page| Entry::text(format!("{prefix}share/man/man1/{}", page.path), page.bytes.clone()));
        completions.chain(pages).collect()
    }
}

fn manual(lacon: &dyn Fn() -> Command) -> Result<Vec<Entry>> {
    let folder = super::target_directory().join("dist-manual");
    // Pages of verbs that are gone must not be packed.
    drop(std::fs::remove_dir_all(&folder));
    output(lacon().args(["man", "--directory"]).arg(&folder))?;
    let mut paths: Vec<PathBuf> = std::fs::read_dir(&folder)?
        .flatten()
        .map(|entry| entry.path())
        .collect();
    paths.sort();
    paths
        .iter()
        .map(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            Ok(Entry::text(name, std::fs::read(path)?))
        })
        .collect()
}

fn output(command: &mut Command) -> Result<Vec<u8>> {
    let ran = command
        .output()
        .with_context(|| format!("cannot start {command:?}: give --runner for a binary of another platform"))?;
    if !ran.status.success() {
        bail!("{command:?} failed: {}", String::from_utf8_lossy(&ran.stderr).trim());
    }
    Ok(ran.stdout)
}
