//! How do other people's tools become safe and cheap to use?
