//! Words of a shell command: quoted when they must be, and never read as an option.

/// A word of a POSIX shell that stands for exactly this text.
pub(super) fn word(text: &str) -> String {
    let plain = |letter: char| letter.is_ascii_alphanumeric() || "_./:=@%+,-".contains(letter);
    match !text.is_empty() && text.chars().all(plain) {
        true => text.to_string(),
        false => format!("'{}'", text.replace('\'', "'\\''")),
    }
}

/// A path as a word; one that begins with a dash would be read as an option.
pub(super) fn path(text: &str) -> String {
    match text.starts_with('-') {
        true => word(&format!("./{text}")),
        false => word(text),
    }
}

/// `command` in another directory.
pub(super) fn inside(directory: &str, command: &str) -> String {
    match directory {
        "" => command.to_string(),
        directory => format!("cd {} && {command}", path(directory)),
    }
}

#[cfg(test)]
mod tests {
    use super::{inside, path, word};

    /// What a shell makes of the word is the text itself.
    #[test]
    fn a_shell_reads_the_text_back() {
        for text in [
            "plain/path.py",
            "a b",
            "it's",
            "$(touch x)",
            "`x`",
            "a;b|c",
            "é*?",
            "\"",
            "a\nb",
            "^(TestA|TestB)$",
        ] {
            let output = std::process::Command::new("sh")
                .args(["-c", &format!("printf %s {}", word(text))])
                .output()
                .unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), text);
        }
        assert_eq!(path("-rf"), "./-rf");
        assert_eq!(inside("a b", "go test"), "cd 'a b' && go test");
    }
}
