//! The one place that writes to stdout and stderr. A verb hands over its whole answer, so a verb that fails has
//! written nothing.

mod visible;

use std::borrow::Cow;
use std::io::{self, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

use anyhow::Context;
use clap::ColorChoice;
use serde::Serialize;

use crate::failure::Failure;
pub use visible::make_visible;
use visible::{visible, visible_json, visible_painted};

/// Where a verb puts its answer. Text is kept until [`Output::finish`], which runs only when the verb succeeded.
pub struct Output {
    pending: Vec<u8>,
    paint: Paint,
    reader: Reader,
    exit: ExitCode,
}

/// Who reads stdout.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// A terminal obeys some of what it is sent, so text of a repository is made visible first.
    Terminal,
    /// A program gets text as it is.
    Program,
}

/// Colours for people, or none. Text that a program may read never has any.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Paint {
    is_on: bool,
}

impl Paint {
    /// Whether to colour what goes to a stream: as was asked, else on a terminal unless `NO_COLOR` is set.
    fn of(choice: ColorChoice, stream: &impl IsTerminal) -> Paint {
        let is_on = match choice {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                let is_set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
                stream.is_terminal()
                    && !is_set("NO_COLOR")
                    && std::env::var_os("TERM").is_none_or(|terminal| terminal != "dumb")
            }
        };
        Paint { is_on }
    }

    pub fn good(self, text: &str) -> String {
        self.with("32", text)
    }

    pub fn warn(self, text: &str) -> String {
        self.with("33", text)
    }

    pub fn bad(self, text: &str) -> String {
        self.with("31;1", text)
    }

    /// What can be derived, or read over.
    pub fn dim(self, text: &str) -> String {
        self.with("2", text)
    }

    /// A file.
    pub fn file(self, text: &str) -> String {
        self.with("35", text)
    }

    /// The name of a symbol.
    pub fn name(self, text: &str) -> String {
        self.with("1", text)
    }

    /// The number of a line.
    pub fn line(self, text: &str) -> String {
        self.with("32", text)
    }

    fn with(self, code: &str, text: &str) -> String {
        match self.is_on && !text.is_empty() {
            true => format!("\x1b[{code}m{text}\x1b[0m"),
            false => text.to_string(),
        }
    }
}

impl Output {
    pub fn stdout(choice: ColorChoice) -> Self {
        Self {
            pending: Vec::new(),
            exit: ExitCode::SUCCESS,
            paint: Paint::of(choice, &io::stdout()),
            reader: match io::stdout().is_terminal() {
                true => Reader::Terminal,
                false => Reader::Program,
            },
        }
    }

    /// Ends the process with another code than that of success, for a verb whose answer is in its exit code too.
    pub fn exit_with(&mut self, code: u8) {
        self.exit = ExitCode::from(code);
    }

    /// The code of a verb that succeeded.
    pub fn exit_code(&self) -> ExitCode {
        self.exit
    }

    pub fn reader(&self) -> Reader {
        self.reader
    }

    /// The colours of what is meant for people.
    pub fn paint(&self) -> Paint {
        self.paint
    }

    /// Adds `text` as it is.
    pub fn text(&mut self, text: impl AsRef<[u8]>) {
        self.pending.extend_from_slice(text.as_ref());
    }

    /// Adds `text` and makes sure that it ends in a newline.
    pub fn line(&mut self, text: impl AsRef<[u8]>) {
        self.text(text);
        if self.pending.last() != Some(&b'\n') {
            self.pending.push(b'\n');
        }
    }

    /// Adds `value` as indented JSON.
    pub fn json(&mut self, value: &impl Serialize) -> Result<(), Failure> {
        let json = serde_json::to_string_pretty(value)?;
        self.line(visible_json(&json).as_bytes());
        Ok(())
    }

    /// Lets `write` put an answer of any size straight on stdout, after what was added before. Such an answer is not held
    /// back, so a verb that fails halfway has written a part of it. A reader that went away is not an error.
    pub fn stream(&mut self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Failure> {
        self.finish()?;
        match write(&mut io::stdout().lock()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("cannot write to stdout")?,
            _ => Ok(()),
        }
    }

    /// Writes everything out. A reader that went away (`lacon … | head`) is not an error.
    pub fn finish(&mut self) -> Result<(), Failure> {
        let mut pending = std::mem::take(&mut self.pending);
        if self.reader == Reader::Terminal
            && let Cow::Owned(shown) = visible_painted(&String::from_utf8_lossy(&pending))
        {
            pending = shown.into_bytes();
        }
        let mut stdout = io::stdout().lock();
        match stdout.write_all(&pending).and_then(|()| stdout.flush()) {
            Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error).context("cannot write to stdout")?,
            _ => Ok(()),
        }
    }
}

/// Replaces `path` with `contents` in one step: a reader sees the old file or the new one, never a part.
pub fn write_file(path: &Path, contents: &[u8]) -> Result<(), Failure> {
    let mut name = path
        .file_name()
        .with_context(|| format!("`{}` is not a file name", path.display()))?
        .to_owned();
    name.push(format!(".{}.partial", std::process::id()));
    let partial = path.with_file_name(name);
    std::fs::write(&partial, contents)
        .and_then(|()| std::fs::rename(&partial, path))
        .map_err(|error| {
            // Best effort: the error that matters is the one being reported.
            drop(std::fs::remove_file(&partial));
            anyhow::Error::new(error).context(format!("cannot write `{}`", path.display()))
        })?;
    Ok(())
}

/// Says something on stderr that must be read: no log level hides it.
pub fn notice(text: &str) {
    // Nothing is left to say it to when stderr itself is gone.
    drop(io::stderr().lock().write_all(text.as_bytes()));
}

/// Prints `failure` as `error: …` and `hint: …` lines on stderr.
pub fn report(failure: &Failure, choice: ColorChoice) -> ExitCode {
    let mut stderr = io::stderr().lock();
    let paint = Paint::of(choice, &io::stderr());
    let error = format!("{:#}", failure.error);
    let mut text = format!("{} {}\n", paint.bad("error:"), visible(&error));
    for hint in &failure.hints {
        text.push_str(&format!("{} {}\n", paint.warn("hint:"), visible(hint)));
    }
    // Nothing is left to report to when stderr itself is gone.
    drop(stderr.write_all(text.as_bytes()));
    ExitCode::from(failure.exit as u8)
}

/// Sends log lines to stderr: stdout belongs to answers and protocols. `LACON_LOG` overrides the level.
pub fn log_to_stderr(verbose: u8) {
    let level = ["warn", "info", "debug"][usize::from(verbose.min(2))];
    let filter = tracing_subscriber::EnvFilter::try_from_env("LACON_LOG").unwrap_or_else(|_| level.into());
    tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(io::stderr)
        .with_ansi(Paint::of(ColorChoice::Auto, &io::stderr()).is_on)
        .without_time()
        .init();
}
