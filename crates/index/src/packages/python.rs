//! Python projects: which directories their tools put on the path.

use crate::resolve::modules::join;

/// Source roots that the manifest `name` in `directory` names; `src` is tried by convention.
pub(super) fn roots(directory: &str, name: &str, text: &str) -> Vec<String> {
    let mut found = vec!["src".to_string()];
    match name {
        "pyproject.toml" => {
            if let Ok(manifest) = text.parse::<toml::Table>() {
                declared(&manifest, &mut found);
            }
        }
        "setup.cfg" => found.extend(
            text.lines()
                .filter_map(|line| line.split_once('='))
                .filter(|(key, _)| matches!(key.trim(), "where" | "package_dir" | ""))
                .map(|(_, value)| value.trim().to_string()),
        ),
        // `package_dir={"": "lib"}` and `find_packages("lib")`; anything cleverer is code, which is not run.
        _ => {
            for marker in [
                "package_dir={\"\": \"",
                "package_dir={'': '",
                "find_packages(\"",
                "find_packages('",
                "where=\"",
                "where='",
            ] {
                for (at, _) in text.match_indices(marker) {
                    let rest = &text[at + marker.len()..];
                    let end = rest.find(['"', '\'']).unwrap_or(0);
                    found.push(rest[..end].to_string());
                }
            }
        }
    }
    found.retain(|root| !root.is_empty());
    let mut roots: Vec<String> = found.iter().filter_map(|root| join(directory, root)).collect();
    roots.push(directory.to_string());
    roots
}

fn declared(manifest: &toml::Table, found: &mut Vec<String>) {
    let tool = manifest.get("tool");
    let setuptools = tool.and_then(|tool| tool.get("setuptools"));
    let find = setuptools
        .and_then(|setuptools| setuptools.get("packages"))
        .and_then(|packages| packages.get("find"));
    let places = find.and_then(|find| find.get("where")).and_then(toml::Value::as_array);
    found.extend(
        places
            .into_iter()
            .flatten()
            .filter_map(toml::Value::as_str)
            .map(str::to_string),
    );
    let directories = setuptools
        .and_then(|setuptools| setuptools.get("package-dir"))
        .and_then(toml::Value::as_table);
    found.extend(
        directories
            .into_iter()
            .flat_map(|table| table.values())
            .filter_map(toml::Value::as_str)
            .map(str::to_string),
    );
    let poetry = tool
        .and_then(|tool| tool.get("poetry"))
        .and_then(|poetry| poetry.get("packages"));
    for package in poetry.and_then(toml::Value::as_array).into_iter().flatten() {
        found.extend(package.get("from").and_then(toml::Value::as_str).map(str::to_string));
    }
    let pytest = tool
        .and_then(|tool| tool.get("pytest"))
        .and_then(|pytest| pytest.get("ini_options"));
    let paths = pytest
        .and_then(|options| options.get("pythonpath"))
        .and_then(toml::Value::as_array);
    found.extend(
        paths
            .into_iter()
            .flatten()
            .filter_map(toml::Value::as_str)
            .map(str::to_string),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn roots_come_from_every_kind_of_manifest() {
        let project = "[tool.setuptools.packages.find]\nwhere = [\"lib\"]\n[[tool.poetry.packages]]\ninclude = \"x\"\nfrom = \"python\"\n";
        assert_eq!(
            roots("app", "pyproject.toml", project),
            ["app/src", "app/lib", "app/python", "app"]
        );
        assert_eq!(
            roots("", "setup.py", "setup(package_dir={\"\": \"code\"})"),
            ["src", "code", ""]
        );
        assert_eq!(
            roots("", "setup.cfg", "[options.packages.find]\nwhere = source\n"),
            ["src", "source", ""]
        );
        assert_eq!(roots("", "pyproject.toml", "not toml at all ["), ["src", ""]);
    }
}
