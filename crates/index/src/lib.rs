//! What does it all mean together?
