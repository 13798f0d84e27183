//! Packages that files declare by name and that nest by its parts: Java's, C#'s namespaces, PHP's. Every part is a package of
//! the tree below the one before, whichever files declare it.

use crate::resolve::links::ModuleTarget;
use crate::resolve::modules::{ImportSite, Modules, Registry, Site};
use crate::resolve::words::Word;

/// How a language writes its packages.
#[derive(Clone, Copy)]
pub(super) struct Notation {
    /// Tells the packages of one language from those of others.
    pub(super) prefix: &'static str,
    /// What stands between the parts of a name.
    pub(super) separator: char,
}

impl Notation {
    /// The word that all packages of the language are below.
    pub(super) fn root(self) -> Word {
        Word::of(self.prefix).then(Word::of(""))
    }

    fn parts(self, name: &str) -> impl Iterator<Item = &str> {
        name.split(self.separator).filter(|part| !part.is_empty())
    }

    /// Puts a file into the package that it declares, and that package below those around it.
    pub(super) fn register(self, registry: &mut Registry<'_>, site: &Site<'_>) {
        let mut container = self.root();
        for part in self.parts(site.package.unwrap_or("")) {
            let name = Word::of(part);
            let inner = container.then(name);
            registry.submodule(container, name, ModuleTarget::Package(inner));
            container = inner;
        }
        registry.package(site.file, container);
    }

    /// The package, or the type below one, that an import names. `may_be_type` says of a part that is no package, and of
    /// how many came before, whether a type of the tree may be meant; anything else is outside.
    pub(super) fn module(
        self,
        modules: &Modules<'_>,
        site: &ImportSite<'_>,
        may_be_type: fn(&str, usize) -> bool,
    ) -> ModuleTarget {
        let mut container = self.root();
        for (depth, part) in self.parts(site.module).enumerate() {
            let name = Word::of(part);
            let is_package = matches!(modules.child(container, name), Some(ModuleTarget::Package(_)));
            if !is_package && !may_be_type(part, depth) {
                return ModuleTarget::External(modules.external(site, site.module));
            }
            container = container.then(name);
        }
        ModuleTarget::Package(container)
    }
}
