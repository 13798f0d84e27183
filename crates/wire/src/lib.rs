//! How is a value said in few tokens, and read back?

pub mod gcf;
