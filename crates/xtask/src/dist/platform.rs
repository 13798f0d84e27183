//! What Lacon is released for, in the words of each kind of package.

use anyhow::{Context, Result};

/// One target.
#[derive(Debug)]
pub(crate) struct Platform {
    pub(crate) triple: &'static str,
    /// As npm and Node name it.
    pub(crate) npm_os: &'static str,
    pub(crate) npm_cpu: &'static str,
    /// For Linux alone.
    pub(crate) npm_libc: Option<&'static str>,
    /// The end of a wheel's name; with glibc, without the version that the binary needs.
    pub(crate) wheel: &'static str,
    /// As Debian names it, where there is a Debian package.
    pub(crate) debian: Option<&'static str>,
    /// The oldest glibc that it is linked for.
    pub(crate) oldest_glibc: Option<&'static str>,
}

pub(crate) const PLATFORMS: &[Platform] = &[
    Platform {
        triple: "x86_64-unknown-linux-gnu",
        npm_os: "linux",
        npm_cpu: "x64",
        npm_libc: Some("glibc"),
        wheel: "x86_64",
        debian: Some("amd64"),
        oldest_glibc: Some("2.28"),
    },
    Platform {
        triple: "aarch64-unknown-linux-gnu",
        npm_os: "linux",
        npm_cpu: "arm64",
        npm_libc: Some("glibc"),
        wheel: "aarch64",
        debian: Some("arm64"),
        oldest_glibc: Some("2.28"),
    },
    Platform {
        triple: "x86_64-unknown-linux-musl",
        npm_os: "linux",
        npm_cpu: "x64",
        npm_libc: Some("musl"),
        wheel: "musllinux_1_1_x86_64",
        debian: None,
        oldest_glibc: None,
    },
    Platform {
        triple: "aarch64-unknown-linux-musl",
        npm_os: "linux",
        npm_cpu: "arm64",
        npm_libc: Some("musl"),
        wheel: "musllinux_1_1_aarch64",
        debian: None,
        oldest_glibc: None,
    },
    Platform {
        triple: "x86_64-apple-darwin",
        npm_os: "darwin",
        npm_cpu: "x64",
        npm_libc: None,
        wheel: "macosx_11_0_x86_64",
        debian: None,
        oldest_glibc: None,
    },
    Platform {
        triple: "aarch64-apple-darwin",
        npm_os: "darwin",
        npm_cpu: "arm64",
        npm_libc: None,
        wheel: "macosx_11_0_arm64",
        debian: None,
        oldest_glibc: None,
    },
    Platform {
        triple: "x86_64-pc-windows-msvc",
        npm_os: "win32",
        npm_cpu: "x64",
        npm_libc: None,
        wheel: "win_amd64",
        debian: None,
        oldest_glibc: None,
    },
    // For trying it under wine; releases are built with Microsoft's linker.
    Platform {
        triple: "x86_64-pc-windows-gnu",
        npm_os: "win32",
        npm_cpu: "x64",
        npm_libc: None,
        wheel: "win_amd64",
        debian: None,
        oldest_glibc: None,
    },
];

impl Platform {
    pub(crate) fn of(triple: &str) -> Result<&'static Platform> {
        PLATFORMS
            .iter()
            .find(|platform| platform.triple == triple)
            .with_context(|| {
                let known: Vec<&str> = PLATFORMS.iter().map(|platform| platform.triple).collect();
                format!("Lacon is not released for `{triple}`: there are {}", known.join(", "))
            })
    }

    /// The one that this runs on.
    pub(crate) fn host() -> Result<&'static Platform> {
        let asked = std::process::Command::new("rustc")
            .arg("-vV")
            .output()
            .context("cannot run rustc")?;
        let said = String::from_utf8_lossy(&asked.stdout).into_owned();
        let triple = said.lines().find_map(|line| line.strip_prefix("host: "));
        Platform::of(triple.context("rustc does not say what it runs on")?)
    }

    pub(crate) fn is_windows(&self) -> bool {
        self.npm_os == "win32"
    }

    /// The name of the binary.
    pub(crate) fn program(&self) -> &'static str {
        if self.is_windows() { "lacon.exe" } else { "lacon" }
    }

    /// The npm package that holds the binary. The launcher looks for the same name.
    pub(crate) fn npm_package(&self) -> String {
        let musl = if self.npm_libc == Some("musl") { "-musl" } else { "" };
        format!("lacon-{}-{}{musl}", self.npm_os, self.npm_cpu)
    }

    /// The archive's name without its version's directory.
    pub(crate) fn archive(&self, version: &str) -> String {
        let ending = if self.is_windows() { "zip" } else { "tar.gz" };
        format!("{}.{ending}", self.stem(version))
    }

    pub(crate) fn stem(&self, version: &str) -> String {
        format!("lacon-{version}-{}", self.triple)
    }

    pub(crate) fn bundle(&self, version: &str) -> String {
        format!("{}.mcpb", self.stem(version))
    }
}
