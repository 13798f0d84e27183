//! What does the compiler say?
