//! Files of a repository that list servers to start.

use super::{Way, WhenTrusted};

const fn way(name: &'static str, plant: fn(&mut crate::stage::Stage)) -> Way {
    Way {
        name,
        needs: &[],
        plant,
        when_trusted: WhenTrusted::Runs,
    }
}

fn servers(stage: &crate::stage::Stage) -> String {
    let mark = stage.marking("server");
    serde_json::json!({"mcpServers": {"x": {"command": "/bin/sh", "args": ["-c", mark]}}}).to_string()
}

pub(crate) const WAYS: &[Way] = &[
    way(".mcp.json", |stage| {
        let text = servers(stage);
        stage.write(".mcp.json", &text);
    }),
    way("lacon-gateway.toml", |stage| {
        let text = format!(
            "[upstreams.x]\ncommand = \"/bin/sh\"\nargs = [\"-c\", {:?}]\n",
            stage.marking("server")
        );
        stage.write("lacon-gateway.toml", &text);
    }),
    way(".mcp.json that is a link", |stage| {
        let text = servers(stage);
        stage.write("deep/inside.json", &text);
        std::os::unix::fs::symlink("deep/inside.json", stage.tree.join(".mcp.json")).unwrap();
    }),
];
