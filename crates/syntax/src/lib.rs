//! What does this one file declare and mention?
