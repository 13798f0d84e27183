//! Environment variables: where code reads them and where files set them. Only names are taken, never values.

/// One variable and the line that names it.
pub(super) type Named = (String, u32);

/// Where a language reads variables: what stands before the name. A needle that ends in a bracket is followed by a quoted name,
/// one that ends in a dot by a bare one.
const READS: &[(&[&str], &[&str])] = &[
    (
        &["python"],
        &["environ[", "environ.get(", "environ.setdefault(", "getenv("],
    ),
    (
        &["javascript", "typescript", "tsx", "vue", "svelte"],
        &[
            "process.env.",
            "process.env[",
            "import.meta.env.",
            "Deno.env.get(",
            "Bun.env.",
        ],
    ),
    (&["go"], &["os.Getenv(", "os.LookupEnv(", "syscall.Getenv("]),
    (&["rust"], &["env::var(", "env::var_os(", "env!(", "option_env!("]),
    (&["java", "kotlin", "scala"], &["System.getenv("]),
    (&["csharp"], &["Environment.GetEnvironmentVariable("]),
    (&["ruby"], &["ENV[", "ENV.fetch("]),
    (&["php"], &["getenv(", "env(", "$_ENV["]),
    (&["c", "cpp"], &["getenv("]),
];

/// Longest name.
const MAX_NAME: usize = 128;

/// The variables that code reads, in order, and how many reads name theirs by a computed value.
pub(super) fn reads(language: &str, text: &str) -> (Vec<Named>, u32) {
    let needles = READS
        .iter()
        .filter(|(languages, _)| languages.contains(&language))
        .flat_map(|(_, needles)| needles.iter());
    let (mut found, mut computed) = (Vec::new(), 0);
    for needle in needles {
        for at in memchr::memmem::find_iter(text.as_bytes(), needle.as_bytes()) {
            let start = text[..at].rfind('\n').map_or(0, |end| end + 1);
            let before = &text[start..at];
            let goes_on = before.ends_with(|letter: char| letter.is_alphanumeric() || matches!(letter, '_' | '>'))
                && needle.starts_with(|letter: char| letter.is_lowercase());
            if goes_on || is_comment(before) {
                continue;
            }
            let rest = &text[at + needle.len()..];
            let name = if needle.ends_with('.') {
                name(rest)
            } else {
                rest.trim_start().strip_prefix(['"', '\'', '`']).and_then(|rest| {
                    let name = name(rest)?;
                    rest[name.len()..].starts_with(['"', '\'', '`']).then_some(name)
                })
            };
            match name {
                Some(name) => found.push((name.to_string(), line_of(text, at))),
                None => computed += 1,
            }
        }
    }
    found.sort_by(|a, b| (a.1, &a.0).cmp(&(b.1, &b.0)));
    found.dedup();
    (found, computed)
}

/// What sort of file sets variables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Setter {
    /// `NAME=value` lines.
    Dotenv,
    /// `ENV NAME=value`. What `ARG` names is gone when the program runs.
    Dockerfile,
    /// `environment:` and `env:` blocks.
    Yaml,
}

/// Whether the file at `path` sets variables, and how.
pub(super) fn setter(path: &str) -> Option<Setter> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let lower = name.to_ascii_lowercase();
    if lower == ".env" || lower.starts_with(".env.") || lower.ends_with(".env") {
        Some(Setter::Dotenv)
    } else if lower.starts_with("dockerfile") || lower.ends_with(".dockerfile") {
        Some(Setter::Dockerfile)
    } else if lower.ends_with(".yml") || lower.ends_with(".yaml") {
        Some(Setter::Yaml)
    } else {
        None
    }
}

/// The variables that a file sets, in order.
pub(super) fn sets(how: Setter, text: &str) -> Vec<Named> {
    let mut found = Vec::new();
    // For YAML: how far the block that is being read is indented.
    let mut block: Option<usize> = None;
    for (number, line) in text.lines().enumerate() {
        let number = number as u32 + 1;
        let trimmed = line.trim();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        match how {
            Setter::Dotenv => {
                let line = trimmed.strip_prefix("export ").unwrap_or(trimmed);
                if let Some((key, _)) = line.split_once('=')
                    && let Some(key) = whole_name(key.trim())
                {
                    found.push((key.to_string(), number));
                }
            }
            Setter::Dockerfile => {
                let mut words = trimmed.split_whitespace();
                if words.next().is_some_and(|word| word.eq_ignore_ascii_case("ENV")) {
                    let words: Vec<&str> = words.collect();
                    let pairs = words.iter().any(|word| word.contains('='));
                    let keys = words.iter().filter(|word| !pairs || word.contains('=')).take(if pairs {
                        usize::MAX
                    } else {
                        1
                    });
                    for key in keys {
                        if let Some(key) = whole_name(key.split('=').next().unwrap_or("")) {
                            found.push((key.to_string(), number));
                        }
                    }
                }
            }
            Setter::Yaml => {
                let indent = line.len() - line.trim_start().len();
                if let Some(outer) = block {
                    let is_item = trimmed.starts_with("- ") && indent >= outer;
                    if indent > outer || is_item {
                        let entry = trimmed.strip_prefix("- ").unwrap_or(trimmed).trim_matches(['"', '\'']);
                        let key = match entry.strip_prefix("name:") {
                            Some(name) => name.trim().trim_matches(['"', '\'']),
                            None => entry.split(['=', ':']).next().unwrap_or(""),
                        };
                        let upper = |key: &&str| key.chars().any(|letter| letter.is_ascii_uppercase());
                        if let Some(key) = whole_name(key).filter(upper) {
                            found.push((key.to_string(), number));
                        }
                        continue;
                    }
                    block = None;
                }
                let key = trimmed.strip_prefix("- ").unwrap_or(trimmed);
                if matches!(key, "environment:" | "env:") {
                    block = Some(indent);
                }
            }
        }
    }
    found
}

fn is_comment(before: &str) -> bool {
    let before = before.trim_start();
    before.starts_with("//") || before.starts_with('#') || before.starts_with("* ") || before.contains(" // ")
}

fn name(text: &str) -> Option<&str> {
    let length = text
        .find(|letter: char| !(letter.is_ascii_alphanumeric() || letter == '_'))
        .unwrap_or(text.len());
    whole_name(&text[..length])
}

fn whole_name(text: &str) -> Option<&str> {
    let fits = !text.is_empty()
        && text.len() <= MAX_NAME
        && !text.starts_with(|letter: char| letter.is_ascii_digit())
        && text
            .chars()
            .all(|letter| letter.is_ascii_alphanumeric() || letter == '_');
    fits.then_some(text)
}

fn line_of(text: &str, at: usize) -> u32 {
    memchr::memchr_iter(b'\n', &text.as_bytes()[..at]).count() as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::{Setter, reads, sets};

    fn names(found: Vec<(String, u32)>) -> Vec<String> {
        found.into_iter().map(|(name, line)| format!("{name}:{line}")).collect()
    }

    #[test]
    fn reads_of_many_languages() {
        for (language, text) in [
            (
                "python",
                "x = os.environ['A']\ny = os.getenv(\"B\", 1)\nz = os.getenv(name)\n# os.getenv('C')",
            ),
            ("typescript", "process.env.A;\nimport.meta.env.B; process.env[name]"),
            ("go", "os.Getenv(\"A\")\nos.LookupEnv(\"B\"); os.Getenv(name)"),
            ("rust", "std::env::var(\"A\")\nenv!(\"B\"); env::var(name)"),
            ("ruby", "ENV['A']\nENV.fetch('B') { 1 }; ENV[name]"),
            ("php", "env('A');\n$_ENV['B']; getenv($name); $this->env('C');"),
        ] {
            let (found, computed) = reads(language, text);
            assert_eq!(names(found), ["A:1", "B:2"], "{language}");
            assert_eq!(computed, 1, "{language}");
        }
    }

    #[test]
    fn files_that_set() {
        assert_eq!(
            names(sets(Setter::Dotenv, "# X=1\nA=secret\nexport B=2\n")),
            ["A:2", "B:3"]
        );
        assert_eq!(
            names(sets(
                Setter::Dockerfile,
                "ENV A=1 B=2\nENV C some value\nARG D=4\nRUN x"
            )),
            ["A:1", "B:1", "C:2"]
        );
        let compose = "services:\n  web:\n    environment:\n      - A=1\n      - B\n    ports:\n      - X=1\n  db:\n    environment:\n      C: 1\n";
        assert_eq!(names(sets(Setter::Yaml, compose)), ["A:4", "B:5", "C:10"]);
        let pod = "containers:\n- name: web\n  env:\n  - name: A\n    value: x\n  image: y\n";
        assert_eq!(names(sets(Setter::Yaml, pod)), ["A:4"]);
    }
}
