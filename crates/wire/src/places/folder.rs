//! Names of files that leave out what was said before: a folder is named once, and so is the long beginning that files outside of
//! the tree share (`~/=/usr/lib/python3/` makes `~/enum.py` a file there).

use std::borrow::Cow;

/// The folder that names without one lie in.
pub(super) struct Folder<'h> {
    name: String,
    /// The file asked about.
    asked: &'h str,
    /// What `~/` stands for.
    far: String,
    /// The beginnings to say, each with the path before which it is said.
    fars: Vec<(&'h str, &'h str)>,
}

/// Marks the line that says what `~/` stands for.
const FAR: &str = "~/=";
/// Folders that a beginning must have at least to be worth a line of its own.
const DEEP: usize = 3;

impl<'h> Folder<'h> {
    pub(super) fn at(asked: &'h str) -> Folder<'h> {
        let name = folder_of(asked).to_string();
        Folder {
            name,
            asked,
            far: String::new(),
            fars: Vec::new(),
        }
    }

    /// The same for the writer, who knows all paths that will be named, in their order.
    pub(super) fn of(asked: &'h str, paths: &[&'h str]) -> Folder<'h> {
        Folder {
            fars: fars(paths),
            ..Folder::at(asked)
        }
    }

    /// How a file is named here; the folder is said first if the next file lies in it too, or if it would be taken for another.
    pub(super) fn enter<'a>(
        &mut self,
        path: &'a str,
        next: Option<&'a str>,
        lines: &mut Vec<String>,
    ) -> Option<Cow<'a, str>> {
        if path.starts_with('~') {
            return None;
        }
        if let Some((_, far)) = self.fars.iter().find(|(first, far)| *first == path && *far != self.far) {
            self.far = (*far).to_string();
            lines.push(format!("{FAR}{far}"));
            // It may have lain in what `~/` stood for before.
            self.name = "~/".to_string();
        }
        let path = self.shortened(path);
        let next = next.map(|next| self.shortened(next));
        let folder = folder_of(&path);
        let name = &path[folder.len()..];
        if name.is_empty() || folder == "./" {
            return None;
        }
        if path == self.asked {
            return Some(Cow::Borrowed(""));
        }
        let stays = next.is_some_and(|next| folder_of(&next) == folder && next.len() > folder.len());
        if folder != self.name {
            if !folder.is_empty() && !stays {
                return Some(path);
            }
            lines.push(if folder.is_empty() {
                "./".to_string()
            } else {
                folder.to_string()
            });
            self.name = folder.to_string();
        }
        Some(Cow::Owned(name.to_string()))
    }

    fn shortened<'a>(&self, path: &'a str) -> Cow<'a, str> {
        match path.strip_prefix(self.far.as_str()) {
            Some(rest) if !self.far.is_empty() => Cow::Owned(format!("~/{rest}")),
            _ => Cow::Borrowed(path),
        }
    }

    /// The path that a name means; nothing where it names a folder.
    pub(super) fn read(&mut self, name: &str) -> Option<String> {
        if name.is_empty() {
            return Some(self.asked.to_string());
        }
        if let Some(far) = name.strip_prefix(FAR) {
            self.far = far.to_string();
            self.name = "~/".to_string();
            return None;
        }
        if name.ends_with('/') {
            self.name = if name == "./" { String::new() } else { name.to_string() };
            return None;
        }
        let path = match name.contains('/') {
            true => name.to_string(),
            false => format!("{}{name}", self.name),
        };
        Some(match path.strip_prefix("~/") {
            Some(rest) => format!("{}{rest}", self.far),
            None => path,
        })
    }
}

/// The folder of a path with its slash; empty where there is none.
fn folder_of(path: &str) -> &str {
    path.rfind('/').map_or("", |at| &path[..=at])
}

/// The beginnings that several absolute paths in a row share.
fn fars<'h>(paths: &[&'h str]) -> Vec<(&'h str, &'h str)> {
    let is_deep = |folder: &str| folder.matches('/').count() > DEEP;
    let mut found = Vec::new();
    let mut rest = paths;
    while let Some((first, after)) = rest.split_first() {
        let mut shared = folder_of(first);
        let mut files = 1;
        for path in after {
            let next = common(shared, path);
            if !first.starts_with('/') || !is_deep(next) {
                break;
            }
            shared = next;
            files += 1;
        }
        if files > 1 {
            found.push((*first, shared));
        }
        rest = &rest[files..];
    }
    found
}

/// The folders that begin both paths.
fn common<'h>(one: &'h str, other: &str) -> &'h str {
    let same = one.bytes().zip(other.bytes()).take_while(|(a, b)| a == b).count();
    let slash = one.as_bytes()[..same].iter().rposition(|byte| *byte == b'/');
    &one[..slash.map_or(0, |at| at + 1)]
}

#[cfg(test)]
mod tests {
    use super::Folder;

    /// Writes names and reads them back.
    fn said(asked: &str, paths: &[&str]) -> Vec<String> {
        let mut folder = Folder::of(asked, paths);
        let mut lines = Vec::new();
        for (at, path) in paths.iter().enumerate() {
            let name = folder.enter(path, paths.get(at + 1).copied(), &mut lines).unwrap();
            lines.push(name.into_owned());
        }
        let mut folder = Folder::at(asked);
        let read: Vec<String> = lines.iter().filter_map(|line| folder.read(line)).collect();
        assert_eq!(read, paths);
        lines
    }

    #[test]
    fn what_far_files_share_is_said_once() {
        let paths = [
            "/home/me/.cargo/registry/one/a.rs",
            "/home/me/.cargo/registry/two/src/b.rs",
            "/home/me/.cargo/registry/two/src/c.rs",
            "/usr/lib/rust/library/core/d.rs",
            "/usr/lib/rust/library/std/e.rs",
            "lib.rs",
            "src/lib.rs",
            "src/tests.rs",
        ];
        let lines = said("src/lib.rs", &paths);
        assert_eq!(
            lines,
            [
                "~/=/home/me/.cargo/registry/",
                "~/one/a.rs",
                "~/two/src/",
                "b.rs",
                "c.rs",
                "~/=/usr/lib/rust/library/",
                "~/core/d.rs",
                "~/std/e.rs",
                "./",
                "lib.rs",
                "",
                "src/tests.rs"
            ]
        );
    }

    #[test]
    fn files_in_the_shared_folder_itself_and_lone_ones_read_back() {
        said(
            "a.rs",
            &["/a/b/c/d/x.rs", "/a/b/c/d/y.rs", "/z/y/x/w/v.rs", "a.rs", "b.rs"],
        );
        said(
            "q/a.rs",
            &["/a/b/c/x.rs", "/a/b/c/é/y.rs", "/a/b/c/è/y.rs", "q/b.rs", "q/c.rs"],
        );
        said("q/a.rs", &[]);
        let mut folder = Folder::of("a.rs", &["~/x.rs"]);
        assert!(folder.enter("~/x.rs", None, &mut Vec::new()).is_none());
    }
}
