//! JavaScript and TypeScript projects: packages of the workspace by name, and the path aliases of `tsconfig.json`.

use serde_json::Value;

use crate::resolve::modules::join;

/// A package of the tree that other files import by name.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct NpmPackage {
    /// Its name.
    pub name: String,
    /// Where its `package.json` lies.
    pub directory: String,
    /// What importing the package itself gives, from its directory, the best first.
    pub entries: Vec<String>,
    /// `exports` with a path: what is imported, and where it lies; a `*` stands for the same text in both.
    pub exports: Vec<(String, String)>,
}

/// Path aliases that hold below a directory.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct PathAliases {
    /// Where the configuration lies.
    pub directory: String,
    /// Names that are not relative are tried from here first.
    pub base: Option<String>,
    /// Pattern and places, already joined to the root of the tree.
    pub paths: Vec<(String, Vec<String>)>,
}

/// Reads a `package.json`.
pub(super) fn package(directory: &str, text: &str) -> Option<NpmPackage> {
    let manifest: Value = serde_json::from_str(text).ok()?;
    let name = manifest.get("name")?.as_str()?.to_string();
    let mut entries = Vec::new();
    for field in ["source", "types", "typings", "module", "main", "browser"] {
        entries.extend(manifest.get(field).and_then(Value::as_str).map(str::to_string));
    }
    let mut exports = Vec::new();
    match manifest.get("exports") {
        Some(Value::Object(paths)) if paths.keys().all(|path| path.starts_with('.')) => {
            for (path, target) in paths {
                let mut places = Vec::new();
                leaves(target, &mut places, 0);
                match path.as_str() {
                    "." => entries.extend(places),
                    path => exports.extend(places.into_iter().map(|place| (path.to_string(), place))),
                }
            }
        }
        Some(other) => leaves(other, &mut entries, 0),
        None => {}
    }
    entries.extend(["src/index".to_string(), "index".to_string(), "lib/index".to_string()]);
    Some(NpmPackage {
        name,
        directory: directory.to_string(),
        entries,
        exports,
    })
}

fn leaves(value: &Value, found: &mut Vec<String>, depth: u8) {
    match value {
        Value::String(place) => found.push(place.clone()),
        Value::Object(conditions) if depth < 8 => conditions.values().for_each(|inner| leaves(inner, found, depth + 1)),
        Value::Array(choices) if depth < 8 => choices.iter().for_each(|inner| leaves(inner, found, depth + 1)),
        _ => {}
    }
}

/// The `imports` of a `package.json`: names with a `#` that hold for the package's own files.
pub(super) fn own_imports(directory: &str, text: &str) -> Option<PathAliases> {
    let manifest: Value = serde_json::from_str(text).ok()?;
    let mut paths = Vec::new();
    for (pattern, target) in manifest.get("imports")?.as_object()? {
        let mut places = Vec::new();
        leaves(target, &mut places, 0);
        // What does not begin with a dot is another package.
        let own = places.iter().filter(|place| place.starts_with('.'));
        paths.push((
            pattern.clone(),
            own.filter_map(|place| join(directory, place)).collect(),
        ));
    }
    Some(PathAliases::new(directory, None, paths))
}

/// Reads a `tsconfig.json` or `jsconfig.json`, which may hold comments and trailing commas.
pub(super) fn aliases(directory: &str, text: &str) -> Option<PathAliases> {
    let manifest: Value = serde_json::from_str(&plain_json(text)).ok()?;
    let options = manifest.get("compilerOptions")?;
    let base = options
        .get("baseUrl")
        .and_then(Value::as_str)
        .and_then(|base| join(directory, base));
    let from = base.clone().unwrap_or_else(|| directory.to_string());
    let mut paths = Vec::new();
    for (pattern, places) in options.get("paths").and_then(Value::as_object).into_iter().flatten() {
        let places = places.as_array().into_iter().flatten().filter_map(Value::as_str);
        paths.push((pattern.clone(), places.filter_map(|place| join(&from, place)).collect()));
    }
    if base.is_none() && paths.is_empty() {
        return None;
    }
    Some(PathAliases::new(directory, base, paths))
}

/// The configurations that one extends, as paths from the root of the tree; of several the last one counts most.
pub(super) fn extended(directory: &str, text: &str) -> Vec<String> {
    let Ok(manifest) = serde_json::from_str::<Value>(&plain_json(text)) else {
        return Vec::new();
    };
    let named = match manifest.get("extends") {
        Some(Value::String(name)) => vec![name.as_str()],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    // A name that is not relative is a package's, which lies outside of the tree.
    let relative = named.into_iter().filter(|name| name.starts_with('.'));
    let paths = relative.filter_map(|name| join(directory, name));
    paths
        .map(|path| match path.ends_with(".json") {
            true => path,
            false => format!("{path}.json"),
        })
        .collect()
}

impl PathAliases {
    fn new(directory: &str, base: Option<String>, mut paths: Vec<(String, Vec<String>)>) -> PathAliases {
        // The longest pattern that fits wins.
        paths.sort_by(|left, right| right.0.len().cmp(&left.0.len()).then(left.0.cmp(&right.0)));
        PathAliases {
            directory: directory.to_string(),
            base,
            paths,
        }
    }

    /// The places that `name` may stand for, the best first.
    pub fn places(&self, name: &str) -> Vec<String> {
        let mut found = Vec::new();
        for (pattern, places) in &self.paths {
            let Some(middle) = fits(pattern, name) else { continue };
            found.extend(places.iter().map(|place| place.replacen('*', middle, 1)));
        }
        found.extend(self.base.as_deref().and_then(|base| join(base, name)));
        found
    }
}

impl NpmPackage {
    /// The places that the package itself may stand for, the best first.
    pub fn entries(&self) -> impl Iterator<Item = String> {
        self.entries.iter().filter_map(|entry| join(&self.directory, entry))
    }

    /// The places that `name`, this package or a path in it, may stand for; `None` when it is another package.
    pub fn places(&self, name: &str) -> Option<Vec<String>> {
        let rest = name.strip_prefix(&self.name)?;
        if rest.is_empty() {
            return Some(self.entries().collect());
        }
        let path = rest.strip_prefix('/')?;
        let mut found = Vec::new();
        for (pattern, place) in &self.exports {
            if let Some(middle) = fits(pattern, &format!("./{path}")) {
                found.extend(join(&self.directory, &place.replacen('*', middle, 1)));
            }
        }
        found.extend(join(&self.directory, path));
        found.extend(join(&self.directory, &format!("src/{path}")));
        Some(found)
    }
}

/// What the `*` of `pattern` stands for in `name`.
fn fits<'a>(pattern: &str, name: &'a str) -> Option<&'a str> {
    match pattern.split_once('*') {
        Some((start, end)) => name.strip_prefix(start)?.strip_suffix(end),
        None => (pattern == name).then_some(""),
    }
}

/// JSON without comments and trailing commas.
fn plain_json(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut quoted = false;
    while let Some(character) = characters.next() {
        match character {
            '\\' if quoted => {
                plain.push(character);
                plain.extend(characters.next());
            }
            '"' => {
                quoted = !quoted;
                plain.push(character);
            }
            '/' if !quoted && characters.peek() == Some(&'/') => {
                while characters.next_if(|&next| next != '\n').is_some() {}
            }
            '/' if !quoted && characters.peek() == Some(&'*') => {
                let mut last = ' ';
                for next in characters.by_ref() {
                    if last == '*' && next == '/' {
                        break;
                    }
                    last = next;
                }
            }
            '}' | ']' if !quoted => {
                let kept = plain.trim_end().trim_end_matches(',').len();
                plain.truncate(kept);
                plain.push(character);
            }
            _ => plain.push(character),
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_found_by_name_and_path() {
        let text = r#"{"name": "@a/b", "main": "./lib/main.js", "exports": {".": {"import": "./esm.js"}, "./x/*": "./src/x/*.ts"}}"#;
        let package = package("packages/b", text).unwrap();
        assert_eq!(
            package.places("@a/b").unwrap()[..2],
            ["packages/b/lib/main.js", "packages/b/esm.js"]
        );
        assert_eq!(package.places("@a/b/x/y").unwrap()[0], "packages/b/src/x/y.ts");
        assert_eq!(package.places("@a/bc"), None);
    }

    #[test]
    fn aliases_survive_comments() {
        let text = "{ // here\n \"compilerOptions\": { \"baseUrl\": \".\", /* and */ \"paths\": {\"@/*\": [\"./src/*\",],} } }";
        let aliases = aliases("web", text).unwrap();
        assert_eq!(aliases.places("@/lib/a"), ["web/src/lib/a", "web/@/lib/a"]);
        assert_eq!(super::aliases("web", "{}"), None);
    }
}
