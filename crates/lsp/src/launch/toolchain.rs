//! What a server may read of a machine when nobody trusts the tree: the tree, the system's programs, and the toolchains on `PATH`.
//!
//! A tree says where other files are: `extends` and `paths` of a `tsconfig.json`, `extraPaths` of a `pyproject.toml`, a
//! `compile_commands.json`, `use` in a `go.work`, an `#include`. A server follows all of them, and its hovers and diagnostics quote
//! what it finds. So it can open nothing of the user's but what a toolchain is made of.
//!
//! The one trick: a folder of programs tells where their toolchain lies. It is the folder around `bin`, unless that is a whole home,
//! or something that the tree is in.

use std::path::{Path, PathBuf};

use guardian::{programs, sandbox};

use crate::adapters::Adapter;

/// What servers start or look into, which may be links to a toolchain that lies elsewhere.
const INTERPRETERS: [&str; 9] = ["node", "python3", "python", "go", "java", "cc", "c++", "gcc", "clang"];
/// Variables that name toolchains, or what they have installed.
const VARIABLES: [&str; 10] = [
    "CONDA_PREFIX",
    "GOMODCACHE",
    "GOPATH",
    "GOROOT",
    "JAVA_HOME",
    "NVM_DIR",
    "NODE_PATH",
    "PYENV_ROOT",
    "VIRTUAL_ENV",
    "VOLTA_HOME",
];

/// Every folder that may be read.
pub(super) fn readable(
    adapter: &Adapter,
    program: &Path,
    folders: &[PathBuf],
    tree: &[PathBuf],
    writes: &[PathBuf],
) -> Vec<PathBuf> {
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let user = User {
        home: home.as_deref(),
        tree,
    };
    let mut readable: Vec<PathBuf> = sandbox::SYSTEM.map(PathBuf::from).into();
    readable.extend(tree.iter().chain(writes).cloned());
    let values = VARIABLES.into_iter().filter_map(std::env::var_os);
    let named = values.flat_map(|value| std::env::split_paths(&value).collect::<Vec<PathBuf>>());
    let of_adapter = adapter.reads.iter().filter_map(|path| match path.strip_prefix("~/") {
        Some(below) => Some(home.as_ref()?.join(below)),
        None => Some(PathBuf::from(path)),
    });
    // Packages that were installed for the user alone.
    let of_user = home.iter().map(|home| home.join(".local/lib"));
    readable.extend(
        named
            .chain(of_adapter)
            .chain(of_user)
            .filter(|path| user.is_narrow(path)),
    );
    let interpreters = INTERPRETERS
        .iter()
        .filter_map(|name| programs::find(name, folders, tree));
    for program in std::iter::once(program.to_path_buf()).chain(interpreters) {
        readable.push(program.clone());
        for path in [Some(program.clone()), program.canonicalize().ok()]
            .into_iter()
            .flatten()
        {
            readable.extend(user.packages_around(&path));
            readable.extend(
                path.parent()
                    .into_iter()
                    .flat_map(|folder| user.toolchain_around(folder)),
            );
        }
    }
    readable.extend(folders.iter().flat_map(|folder| user.toolchain_around(folder)));
    readable.sort();
    readable.dedup();
    readable
}

/// Whose files are not a toolchain's.
struct User<'a> {
    home: Option<&'a Path>,
    tree: &'a [PathBuf],
}

impl User<'_> {
    /// Whether a folder is less than a home, and less than something that a tree is in.
    fn is_narrow(&self, folder: &Path) -> bool {
        let holds = |inner: &Path| inner.starts_with(folder);
        folder.is_absolute() && !self.home.is_some_and(holds) && !self.tree.iter().any(|tree| holds(tree))
    }

    /// The toolchain whose programs are in a folder; the folder alone where what lies around it is not only that.
    fn toolchain_around(&self, folder: &Path) -> Vec<PathBuf> {
        let is_of_programs = ["bin", ".bin", "sbin", "shims"]
            .iter()
            .any(|name| folder.ends_with(name));
        let around = folder
            .parent()
            .filter(|around| is_of_programs && self.is_narrow(around));
        match around {
            // Users keep much more in it.
            Some(local) if local.ends_with(".local") => ["bin", "lib"].map(|name| local.join(name)).into(),
            Some(around) => vec![around.to_path_buf()],
            None if self.is_narrow(folder) => vec![folder.to_path_buf()],
            None => Vec::new(),
        }
    }

    /// The outermost folder of packages that a program of Node's lies in.
    fn packages_around(&self, program: &Path) -> Option<PathBuf> {
        let packages = program
            .ancestors()
            .filter(|folder| folder.ends_with("node_modules"))
            .last()?;
        self.is_narrow(packages).then(|| packages.to_path_buf())
    }
}

#[cfg(test)]
mod tests {
    use std::path::{Path, PathBuf};

    use super::User;

    #[test]
    fn a_toolchain_lies_around_its_programs_and_is_never_a_home() {
        let tree = [PathBuf::from("/home/ada/src/shop")];
        let user = User {
            home: Some(Path::new("/home/ada")),
            tree: &tree,
        };
        let around = |folder: &str| -> Vec<String> {
            let found = user.toolchain_around(Path::new(folder)).into_iter();
            found.map(|path| path.to_string_lossy().into_owned()).collect()
        };
        assert_eq!(
            around("/home/ada/.nvm/versions/node/v22/bin"),
            ["/home/ada/.nvm/versions/node/v22"]
        );
        assert_eq!(around("/home/ada/.asdf/shims"), ["/home/ada/.asdf"]);
        assert_eq!(
            around("/home/ada/.local/bin"),
            ["/home/ada/.local/bin", "/home/ada/.local/lib"]
        );
        assert_eq!(around("/home/ada/bin"), ["/home/ada/bin"]);
        assert_eq!(around("/home/ada/src/bin"), ["/home/ada/src/bin"]);
        assert_eq!(around("/home/ada/scripts"), ["/home/ada/scripts"]);
        // A PATH that names a home, or what the tree is in, opens neither.
        for folder in ["/home/ada", "/home", "/", "/home/ada/src"] {
            assert_eq!(around(folder), Vec::<String>::new(), "{folder}");
        }
        let packages = user.packages_around(Path::new("/opt/x/node_modules/a/node_modules/b/cli.mjs"));
        assert_eq!(packages, Some(PathBuf::from("/opt/x/node_modules")));
    }
}
