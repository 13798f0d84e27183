//! Fixtures shared by the tests of the other crates.
