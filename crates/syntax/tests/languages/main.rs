//! The facts of one file, language by language, and what a hostile file does.

#[cfg(feature = "broad")]
mod broad;
mod c;
mod common;
mod cpp;
mod csharp;
mod go;
mod hostile;
mod java;
mod javascript;
mod php;
mod python;
mod ruby;
mod rust;
mod signatures;
mod typescript;
