//! What does it all mean together? Resolves the facts of single files into one graph, and keeps that graph as an immutable,
//! memory-mapped snapshot.

pub mod model;
