//! Python, by theme.

mod classes;
mod functions;
mod imports;
mod language;
mod structure;
mod values;
