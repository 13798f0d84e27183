//! What the client says it can do, and what a server said it can.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::position::Encoding;

/// What a server can do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Capabilities {
    value: Value,
    registered: BTreeSet<String>,
    pub(crate) encoding: Encoding,
}

/// Methods and the member of the capabilities that promises each.
const PROMISES: &[(&str, &str)] = &[
    ("textDocument/references", "referencesProvider"),
    ("textDocument/definition", "definitionProvider"),
    ("textDocument/declaration", "declarationProvider"),
    ("textDocument/typeDefinition", "typeDefinitionProvider"),
    ("textDocument/implementation", "implementationProvider"),
    ("textDocument/hover", "hoverProvider"),
    ("textDocument/documentSymbol", "documentSymbolProvider"),
    ("workspace/symbol", "workspaceSymbolProvider"),
    ("textDocument/prepareCallHierarchy", "callHierarchyProvider"),
    ("callHierarchy/incomingCalls", "callHierarchyProvider"),
    ("callHierarchy/outgoingCalls", "callHierarchyProvider"),
    ("textDocument/prepareTypeHierarchy", "typeHierarchyProvider"),
    ("typeHierarchy/supertypes", "typeHierarchyProvider"),
    ("typeHierarchy/subtypes", "typeHierarchyProvider"),
    ("textDocument/signatureHelp", "signatureHelpProvider"),
    ("textDocument/completion", "completionProvider"),
    ("textDocument/semanticTokens/full", "semanticTokensProvider"),
    ("textDocument/codeAction", "codeActionProvider"),
    ("textDocument/rename", "renameProvider"),
    ("textDocument/formatting", "documentFormattingProvider"),
    ("textDocument/rangeFormatting", "documentRangeFormattingProvider"),
    ("textDocument/diagnostic", "diagnosticProvider"),
];

impl Capabilities {
    /// From the result of `initialize`.
    pub(crate) fn of(result: &Value) -> Capabilities {
        let value = result["capabilities"].clone();
        Capabilities {
            encoding: Encoding::named(value["positionEncoding"].as_str().unwrap_or("utf-16")),
            registered: BTreeSet::new(),
            value,
        }
    }

    /// Whether a method may be asked; those that nothing promises may.
    pub(crate) fn supports(&self, method: &str) -> bool {
        let Some((_, member)) = PROMISES.iter().find(|(promised, _)| *promised == method) else {
            return true;
        };
        let promised = !matches!(self.value.get(member), None | Some(Value::Null | Value::Bool(false)));
        promised || self.registered.contains(method)
    }

    /// A member of what the server said.
    pub(crate) fn get(&self, member: &str) -> &Value {
        &self.value[member]
    }

    /// The server promises more after all.
    pub(crate) fn register(&mut self, parameters: &Value) {
        for registration in parameters["registrations"].as_array().into_iter().flatten() {
            let Some(method) = registration["method"].as_str() else {
                continue;
            };
            self.registered.insert(method.to_string());
            if method == "textDocument/semanticTokens"
                && let Some(value) = self.value.as_object_mut()
            {
                value.insert("semanticTokensProvider".into(), registration["registerOptions"].clone());
            }
        }
    }
}

/// What Lacon says of itself. Only what it handles is promised.
pub(crate) fn client() -> Value {
    let kinds: Vec<u32> = (1..=26).collect();
    json!({
        "general": {"positionEncodings": Encoding::OFFERED},
        "textDocument": {
            "synchronization": {"didSave": true},
            "publishDiagnostics": {"versionSupport": true, "relatedInformation": true, "codeDescriptionSupport": false},
            "diagnostic": {"dynamicRegistration": true, "relatedDocumentSupport": false},
            "references": {},
            "definition": {"linkSupport": true},
            "declaration": {"linkSupport": true},
            "typeDefinition": {"linkSupport": true},
            "implementation": {"linkSupport": true},
            "hover": {"contentFormat": ["markdown", "plaintext"]},
            "documentSymbol": {
                "hierarchicalDocumentSymbolSupport": true,
                "symbolKind": {"valueSet": kinds},
            },
            "callHierarchy": {},
            "typeHierarchy": {},
            "signatureHelp": {"signatureInformation": {
                "documentationFormat": ["plaintext"],
                "parameterInformation": {"labelOffsetSupport": true},
                "activeParameterSupport": true,
            }},
            "completion": {"completionItem": {"snippetSupport": false, "documentationFormat": ["plaintext"]}},
            "semanticTokens": {
                "dynamicRegistration": true,
                "requests": {"full": true},
                "tokenTypes": [
                    "namespace", "type", "class", "enum", "interface", "struct", "typeParameter", "parameter", "variable",
                    "property", "enumMember", "event", "function", "method", "macro", "keyword", "modifier", "comment",
                    "string", "number", "regexp", "operator", "decorator",
                ],
                "tokenModifiers": [
                    "declaration", "definition", "readonly", "static", "deprecated", "abstract", "async", "modification",
                    "documentation", "defaultLibrary",
                ],
                "formats": ["relative"],
            },
            "codeAction": {
                "isPreferredSupport": true,
                "dataSupport": true,
                "resolveSupport": {"properties": ["edit"]},
                "codeActionLiteralSupport": {"codeActionKind": {"valueSet": [
                    "", "quickfix", "refactor", "refactor.extract", "refactor.inline", "refactor.rewrite", "source",
                    "source.organizeImports",
                ]}},
            },
            "rename": {"prepareSupport": true},
            "formatting": {},
            "rangeFormatting": {},
        },
        "workspace": {
            "configuration": true,
            "workspaceFolders": true,
            "didChangeConfiguration": {"dynamicRegistration": true},
            "didChangeWatchedFiles": {"dynamicRegistration": true},
            "symbol": {"symbolKind": {"valueSet": kinds}},
            "workspaceEdit": {"documentChanges": true, "resourceOperations": ["create", "rename", "delete"]},
            "applyEdit": true,
        },
        "window": {"workDoneProgress": true},
        "experimental": {"serverStatusNotification": true},
    })
}
