//! Names to edges, language by language: caret fixtures, call graphs, and that an update ends where a cold run does.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail the way tests do")]

/// One test for each named fixture: its calls are compared with what its carets say.
macro_rules! calls {
    ($($(#[$meta:meta])* $name:ident: $fixture:expr;)*) => {$(
        $(#[$meta])*
        #[test]
        fn $name() {
            crate::common::check_calls($fixture);
        }
    )*};
}

mod c;
mod call_graphs;
mod common;
mod cpp;
mod csharp;
mod go;
mod java;
mod javascript;
mod kotlin;
mod lua;
mod php;
mod python;
mod ruby;
mod rust;
mod scala;
mod update;
