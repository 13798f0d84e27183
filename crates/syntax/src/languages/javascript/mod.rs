//! JavaScript and TypeScript.

use crate::engine::Hooks;

pub(super) struct JavaScript;

impl Hooks for JavaScript {}
