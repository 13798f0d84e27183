//! Files through which a real language server runs code of the project.

use super::{Way, WhenTrusted};

const fn way(
    name: &'static str,
    needs: &'static [&'static str],
    when_trusted: WhenTrusted,
    plant: fn(&mut crate::stage::Stage),
) -> Way {
    Way {
        name,
        needs,
        plant,
        when_trusted,
    }
}

const RUST: &[&str] = &["rust-analyzer", "cargo"];
const TYPESCRIPT: &[&str] = &["typescript-language-server", "node"];
const PYTHON: &[&str] = &["basedpyright-langserver", "node"];
const GO: &[&str] = &["gopls", "go"];
const C: &[&str] = &["clangd"];
const PHP: &[&str] = &["intelephense"];
const JAVA: &[&str] = &["jdtls"];

pub(crate) const WAYS: &[Way] = &[
    way("build.rs", RUST, WhenTrusted::Maybe, |stage| {
        let marker = stage.marker("build");
        stage.write(
            "build.rs",
            &format!("fn main() {{ let _ = std::fs::write({marker:?}, \"ran\"); }}\n"),
        );
    }),
    way("a procedural macro", RUST, WhenTrusted::Maybe, |stage| {
        let marker = stage.marker("macro");
        stage.write(
            "Cargo.toml",
            "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nevil = { path = \"evil\" }\n",
        );
        stage.write(
            "evil/Cargo.toml",
            "[package]\nname = \"evil\"\nversion = \"0.1.0\"\n[lib]\nproc-macro = true\n",
        );
        stage.write(
            "evil/src/lib.rs",
            &format!(
                "extern crate proc_macro;\n#[proc_macro]\npub fn evil(input: proc_macro::TokenStream) -> proc_macro::TokenStream {{\n    \
                 let _ = std::fs::write({marker:?}, \"ran\");\n    input\n}}\n"
            ),
        );
        stage.write(
            "src/lib.rs",
            "evil::evil! { pub fn salute(name: &str) -> usize { name.len() } }\n",
        );
    }),
    way(
        "rustc-wrapper in .cargo/config.toml",
        RUST,
        WhenTrusted::Maybe,
        |stage| {
            stage.program("wrapper");
            let wrapper = stage.tree.join("wrapper");
            stage.write(
                ".cargo/config.toml",
                &format!("[build]\nrustc-wrapper = {wrapper:?}\nrustc = {wrapper:?}\n"),
            );
        },
    ),
    way("a toolchain of the tree", RUST, WhenTrusted::Maybe, |stage| {
        for name in ["cargo", "rustc", "rust-analyzer"] {
            stage.program(&format!("toolchain/bin/{name}"));
        }
        stage.write("rust-toolchain.toml", "[toolchain]\npath = \"toolchain\"\n");
    }),
    way("a TypeScript of the tree", TYPESCRIPT, WhenTrusted::Maybe, |stage| {
        let evil = format!("require('child_process').execSync({:?})\n", stage.marking("tsserver"));
        for folder in [
            "node_modules/typescript",
            ".yarn/sdks/typescript",
            ".vscode/pnpify/typescript",
        ] {
            stage.write(
                &format!("{folder}/package.json"),
                "{\"name\": \"typescript\", \"version\": \"5.9.9\"}",
            );
            stage.write(&format!("{folder}/lib/tsserver.js"), &evil);
            stage.write(&format!("{folder}/lib/typescript.js"), &evil);
        }
    }),
    way("plugins of tsconfig.json", TYPESCRIPT, WhenTrusted::Maybe, |stage| {
        let evil = format!(
            "require('child_process').execSync({:?}); module.exports = () => ({{ create: i => i.languageService }})\n",
            stage.marking("plugin")
        );
        stage.write("node_modules/evil/index.js", &evil);
        stage.write(
            "node_modules/evil/package.json",
            "{\"name\": \"evil\", \"main\": \"index.js\"}",
        );
        stage.write("evil.js", &evil);
        let plugins = serde_json::json!({"compilerOptions": {"plugins": [{"name": "evil"}, {"name": "./evil.js"},
            {"name": "../../../tree/evil"}], "types": ["evil"]}});
        stage.write("tsconfig.json", &plugins.to_string());
    }),
    way("the interpreter of .venv", PYTHON, WhenTrusted::Maybe, |stage| {
        for name in ["python", "python3"] {
            stage.program(&format!(".venv/bin/{name}"));
            stage.program(&format!("venv/bin/{name}"));
        }
        stage.write(".venv/pyvenv.cfg", "home = /usr/bin\n");
    }),
    way(
        "an interpreter that pyproject.toml names",
        PYTHON,
        WhenTrusted::Maybe,
        |stage| {
            stage.program("envs/evil/bin/python");
            stage.write("envs/evil/pyvenv.cfg", "home = /usr/bin\n");
            let interpreter = stage.tree.join("envs/evil/bin/python");
            stage.write(
                "pyrightconfig.json",
                &serde_json::json!({"venvPath": "envs", "venv": "evil", "pythonPath": interpreter}).to_string(),
            );
            stage.write(
                "pyproject.toml",
                &format!("[tool.basedpyright]\nvenvPath = \"envs\"\nvenv = \"evil\"\npythonPath = {interpreter:?}\n"),
            );
        },
    ),
    way(
        "modules that shadow the interpreter's own",
        PYTHON,
        WhenTrusted::Never,
        |stage| {
            let evil = format!(
                "import subprocess\nsubprocess.call({:?}, shell=True)\n",
                stage.marking("module")
            );
            for name in [
                "os",
                "sys",
                "json",
                "site",
                "sitecustomize",
                "usercustomize",
                "encodings",
            ] {
                stage.write(&format!("{name}.py"), &evil);
            }
        },
    ),
    way(
        "a compiler of the compilation database",
        C,
        WhenTrusted::Never,
        |stage| {
            stage.program("evil-cc");
            let database = serde_json::json!([{"directory": stage.tree, "file": "lib.c",
            "arguments": [stage.tree.join("evil-cc"), "-fplugin=./evil.so", "-Xclang", "-load", "-Xclang", "./evil.so", "-c", "lib.c"]}]);
            stage.write("compile_commands.json", &database.to_string());
            stage.write("evil.so", "not a library");
        },
    ),
    way("a compiler of .clangd", C, WhenTrusted::Never, |stage| {
        stage.program("evil-cc");
        let evil = stage.tree.join("evil-cc");
        stage.write(
            ".clangd",
            &format!(
                "CompileFlags:\n  Compiler: {0}\n  Add: [--query-driver={0}, -fplugin=./evil.so]\n  BuiltinHeaders: QueryDriver\n\
                 Index:\n  External:\n    File: ./index\n    MountPoint: /\n",
                evil.display()
            ),
        );
        stage.write(".clang-tidy", "Checks: '*'\n");
    }),
    way("another toolchain in go.mod", GO, WhenTrusted::Never, |stage| {
        stage.program("go1.99.0");
        stage.write("go.mod", "module example.com/app\n\ngo 1.20\n\ntoolchain go1.99.0\n");
        stage.write("go.env", "GOFLAGS=-toolexec=./evil\n");
        let folder = stage.tree.clone();
        stage.path_begins_with(&[&folder]);
    }),
    way("cgo with flags and generators", GO, WhenTrusted::Never, |stage| {
        stage.program("evil");
        stage.write(
            "lib.go",
            "package main\n\n//go:generate ./evil\n\n// #cgo CFLAGS: -fplugin=./evil.so -B.\n// #cgo pkg-config: ./evil\n// int a;\n\
             import \"C\"\n\nfunc Wave(name string) string { return name }\n\nfunc main() { Wave(\"a\") }\n",
        );
        stage.program("cc1");
        stage.program("as");
    }),
    way(
        "a packages driver and tools of go.mod",
        GO,
        WhenTrusted::Never,
        |stage| {
            stage.program("gopackagesdriver");
            stage.write(
                "go.mod",
                "module example.com/app\n\ngo 1.24\n\ntool example.com/app/evil\n",
            );
            stage.write("evil/main.go", "package main\n\nfunc main() {}\n");
            stage.write("go.work", "go 1.24\n\nuse .\n\nuse ../bait\n");
        },
    ),
    way("builds of Java", JAVA, WhenTrusted::Never, |stage| {
        stage.program("gradlew");
        stage.program("mvnw");
        let mark = stage.marking("gradle");
        stage.write("build.gradle", &format!("['sh', '-c', {mark:?}].execute()\n"));
        stage.write("settings.gradle", &format!("['sh', '-c', {mark:?}].execute()\n"));
        stage.write(".mvn/jvm.config", "-javaagent:evil.jar\n");
        stage.write(".mvn/extensions.xml", "<extensions/>\n");
        stage.write(
            ".factorypath",
            "<factorypath><factorypathentry kind=\"WKSPJAR\" id=\"/app/evil.jar\" enabled=\"true\"/></factorypath>\n",
        );
    }),
    way("PHP that runs when it is included", PHP, WhenTrusted::Never, |stage| {
        stage.write("bootstrap.php", &format!("<?php system({:?});\n", stage.marking("php")));
        stage.write("composer.json", "{\"autoload\": {\"files\": [\"bootstrap.php\"]}}\n");
        stage.write(
            ".phpstorm.meta.php",
            &format!("<?php system({:?});\n", stage.marking("meta")),
        );
    }),
];
