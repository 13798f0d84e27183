//! Edges between the repositories of a workspace: through packages and through contracts.

use codeintel::Workspace;
use codeintel::neighbours::{self, Neighbours};
use codeintel::usages::{Usages, usages};

use crate::contracts_fixture::indexed as workspace;

fn callers(workspace: &Workspace, id: &str) -> Vec<String> {
    let ask = Neighbours {
        id: id.to_string(),
        ..Neighbours::default()
    };
    let answer = neighbours::callers(workspace, &ask).unwrap();
    answer.nodes.into_iter().skip(1).map(|node| node.id).collect()
}

#[test]
fn callers_in_other_repositories_by_package() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = workspace(
        folder.path(),
        &[
            ("lib/pyproject.toml", "[project]\nname = \"shoplib\"\n"),
            ("lib/shoplib/__init__.py", ""),
            ("lib/shoplib/price.py", "def price(n):\n    return n\n"),
            (
                "app/main.py",
                "from shoplib.price import price\n\ndef pay():\n    return price(1)\n",
            ),
            ("golib/go.mod", "module example.com/golib\n"),
            ("golib/client/client.go", "package client\n\nfunc Fetch() {}\n"),
            (
                "goapp/go.mod",
                "module example.com/goapp\n\nrequire example.com/golib v1.0.0\n",
            ),
            (
                "goapp/main.go",
                "package main\n\nimport \"example.com/golib/client\"\n\nfunc run() { client.Fetch() }\n",
            ),
            ("jslib/package.json", "{\"name\": \"@acme/jslib\"}"),
            ("jslib/src/index.ts", "export function greet() {}\n"),
            ("jsapp/package.json", "{\"name\": \"jsapp\"}"),
            (
                "jsapp/main.ts",
                "import { greet } from '@acme/jslib';\nexport function start() { greet(); }\n",
            ),
        ],
    );
    assert_eq!(callers(&workspace, "lib/shoplib/price.py::price"), ["app/main.py::pay"]);
    assert_eq!(
        callers(&workspace, "golib/client/client.go::Fetch"),
        ["goapp/main.go::run"]
    );
    assert_eq!(
        callers(&workspace, "jslib/src/index.ts::greet"),
        ["jsapp/main.ts::start"]
    );
    // And the other way round.
    let ask = Neighbours {
        id: "app/main.py::pay".to_string(),
        ..Neighbours::default()
    };
    let chain = neighbours::call_chain(&workspace, &ask).unwrap();
    assert_eq!(chain.nodes[1].id, "lib/shoplib/price.py::price");
    // One repository alone sees nothing of the other.
    assert!(callers(&workspace.only(&["lib"]), "price").is_empty());
}

#[test]
fn dependents_and_usages_by_contract() {
    let folder = tempfile::tempdir().unwrap();
    let workspace = workspace(
        folder.path(),
        &[
            (
                "api/app.py",
                "from flask import Flask\napp = Flask(__name__)\n\n@app.get(\"/users/<int:uid>\")\ndef user(uid):\n    return uid\n",
            ),
            (
                "web/client.ts",
                "export async function load(id: string) {\n  return fetch(`/users/${id}`);\n}\n",
            ),
        ],
    );
    let ask = Usages {
        id: "api/app.py::user".to_string(),
        ..Usages::default()
    };
    let found = usages(&workspace, &ask).unwrap();
    assert_eq!(
        found
            .usages
            .iter()
            .map(|usage| (usage.from.as_str(), usage.edge_kind.as_str()))
            .collect::<Vec<_>>(),
        [("web/client.ts::load", "consumes")]
    );
    let ask = Neighbours {
        id: "api/app.py::user".to_string(),
        ..Neighbours::default()
    };
    let dependents = neighbours::dependents(&workspace, &ask).unwrap();
    assert!(dependents.nodes.iter().any(|node| node.id == "web/client.ts::load"));
}
