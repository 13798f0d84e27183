//! Upstreams of the user's own, started while standing in a repository that nobody trusts.
//!
//! The one trick: what runs is decided by more than its name. `npx`, `uvx` and `python -m` look into the folder that they are started
//! in before anything else, so that `npx mcp-server-x` runs the package of that name that a repository ships. So upstreams start in
//! an empty folder, and programs are looked for outside of the repository. A `cwd` in the configuration is the user's word.

use std::ffi::OsString;
use std::path::PathBuf;

use guardian::programs;

use crate::config::{Transport, UpstreamConfig};

/// What upstreams are kept out of, and where they are started instead.
#[derive(Clone, Debug)]
pub struct Outside {
    /// The repository, and the folder in it where this process stands.
    pub kept_out: Vec<PathBuf>,
    /// Where they start.
    pub directory: PathBuf,
    /// The `PATH` of this process.
    pub path: OsString,
}

impl Outside {
    /// The same upstream, kept out.
    pub(crate) fn applied(&self, upstream: &UpstreamConfig) -> UpstreamConfig {
        let mut upstream = upstream.clone();
        let Some(Transport::Stdio { command }) = upstream.transport() else {
            return upstream;
        };
        let path = upstream
            .env
            .get("PATH")
            .map_or_else(|| self.path.clone(), OsString::from);
        let folders = programs::folders(&path, &self.kept_out);
        if !command.contains('/') {
            let found = programs::find(command, &folders, &self.kept_out);
            let found = found.and_then(|found| found.into_os_string().into_string().ok());
            // Where there is none outside, none is started: one that leads into the repository may have the name.
            upstream.command = Some(found.unwrap_or_else(|| format!("/nowhere/{command}")));
        }
        let path = programs::search_path(&path, &self.kept_out);
        upstream
            .env
            .insert("PATH".to_owned(), path.to_string_lossy().into_owned());
        if upstream.cwd.is_none() {
            upstream.cwd = Some(self.directory.to_string_lossy().into_owned());
        }
        upstream
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    use super::Outside;
    use crate::config::UpstreamConfig;

    fn program(path: &Path) {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "#!/bin/sh\n").unwrap();
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn upstream(command: &str, cwd: Option<&str>) -> UpstreamConfig {
        UpstreamConfig {
            command: Some(command.to_owned()),
            cwd: cwd.map(str::to_owned),
            ..UpstreamConfig::default()
        }
    }

    #[test]
    fn programs_and_folders_of_the_repository_are_left_out() {
        let folder = tempfile::tempdir().unwrap();
        let base = folder.path().canonicalize().unwrap();
        let (tree, good) = (base.join("tree"), base.join("good"));
        for name in ["both", "planted"] {
            program(&tree.join("bin").join(name));
        }
        program(&good.join("both"));
        symlink(tree.join("bin/planted"), good.join("linked")).unwrap();
        let outside = Outside {
            kept_out: vec![tree.clone()],
            directory: base.join("empty"),
            path: std::env::join_paths([Path::new("."), &tree.join("bin"), &good]).unwrap(),
        };
        let applied = |command: &str| outside.applied(&upstream(command, None));
        assert_eq!(applied("both").command.as_deref(), good.join("both").to_str());
        for command in ["planted", "linked"] {
            assert_eq!(applied(command).command, Some(format!("/nowhere/{command}")));
        }
        let kept = applied("both");
        assert_eq!(kept.env.get("PATH").map(String::as_str), good.to_str());
        assert_eq!(kept.cwd.as_deref(), base.join("empty").to_str());
        // What the user names is the user's word.
        let named = outside.applied(&upstream("/opt/server", Some("/srv")));
        assert_eq!(
            (named.command.as_deref(), named.cwd.as_deref()),
            (Some("/opt/server"), Some("/srv"))
        );
        let remote = UpstreamConfig {
            url: Some("http://127.0.0.1:1/mcp".to_owned()),
            ..UpstreamConfig::default()
        };
        assert_eq!(outside.applied(&remote), remote);
    }
}
