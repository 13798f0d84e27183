//! Which tests need a program that may not be there. They are left out by name then; run by themselves, they fail and say how to
//! get it.

use crate::prepare;

/// Tests of one program whose names contain a text, and the command without which they cannot run.
struct Need {
    of: &'static str,
    program: &'static str,
    /// Part of the names; the empty text stands for all tests of the program.
    tests: &'static str,
    command: &'static str,
}

const fn need(of: &'static str, program: &'static str, tests: &'static str, command: &'static str) -> Need {
    Need {
        of,
        program,
        tests,
        command,
    }
}

const NEEDS: &[Need] = &[
    // The upstream that misbehaves on request is a Python script.
    need("gateway", "e2e", "", "python3"),
    need("gateway", "e2e", "servers::", "mcp-server-everything"),
    need("gateway", "e2e", "servers::", "mcp-server-git"),
    need("gateway", "e2e", "the_python_client", "mcp"),
    need("lacon", "gateway", "", "python3"),
    need("lacon", "gateway", "the_python_client", "mcp"),
    need("lacon", "mcp_conformance", "scenario", "conformance"),
    need("lacon", "mcp_conformance", "inspector", "mcp-inspector"),
    need("lacon", "doors", "a_browser", "chromium"),
    need("lacon", "doors", "a_browser", "playwright-core"),
    need("lacon", "accuracy", "", "basedpyright-langserver"),
    need("lacon", "compilers", "", "basedpyright-langserver"),
    need("lacon", "edits", "", "basedpyright-langserver"),
    need("lsp", "real_servers", "basedpyright", "basedpyright-langserver"),
    need("lsp", "real_servers", "typescript", "typescript-language-server"),
    need("lsp", "real_servers", "intelephense", "intelephense"),
    need("lsp", "real_servers", "clangd", "clangd"),
    need("lsp", "real_servers", "jdtls", "jdtls"),
    need("lsp", "real_servers", "gopls", "gopls"),
    need("lsp", "real_servers", "gopls", "go"),
    need("lsp", "real_servers", "rust_analyzer", "rust-analyzer"),
];

/// What cannot run of one test program.
pub(crate) struct Missing {
    /// Part of the names of the tests, as in [`Need`].
    pub(crate) tests: &'static str,
    pub(crate) command: &'static str,
}

/// What cannot run here of a test program.
pub(crate) fn missing(of: &str, program: &str) -> Vec<Missing> {
    NEEDS
        .iter()
        .filter(|need| need.of == of && need.program == program && !prepare::is_there(need.command))
        .map(|need| Missing {
            tests: need.tests,
            command: need.command,
        })
        .collect()
}
