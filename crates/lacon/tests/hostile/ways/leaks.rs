//! Settings and sources through which a language server would read files outside of the tree, and quote them in its answers.

use super::{Way, WhenTrusted};
use crate::stage::{SECRET, Stage};

const fn way(name: &'static str, needs: &'static [&'static str], plant: fn(&mut Stage)) -> Way {
    Way {
        name,
        needs,
        plant,
        when_trusted: WhenTrusted::Never,
    }
}

const TYPESCRIPT: &[&str] = &["typescript-language-server", "node"];
const PYTHON: &[&str] = &["basedpyright-langserver", "node"];
const GO: &[&str] = &["gopls", "go"];
const C: &[&str] = &["clangd"];
const PHP: &[&str] = &["intelephense"];

/// A file of somebody else's, outside of the tree.
fn outside(stage: &Stage, name: &str, text: &str) -> String {
    let path = stage.bait.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(&path, text.replace("SECRET", SECRET)).unwrap();
    path.display().to_string()
}

pub(crate) const WAYS: &[Way] = &[
    way("an import of TypeScript from elsewhere", TYPESCRIPT, |stage| {
        outside(
            stage,
            "keys.ts",
            "/** SECRET */\nexport const key = \"SECRET\" as const;\n",
        );
        stage.write(
            "lib.ts",
            "import { key } from '../bait/keys';\nexport function hello(): typeof key { return 1; }\nconst wrong: 1 = key;\n",
        );
    }),
    way(
        "a tsconfig.json that extends and includes elsewhere",
        TYPESCRIPT,
        |stage| {
            let key = outside(stage, "keys.ts", "export const key = \"SECRET\" as const;\n");
            let base = outside(
                stage,
                "base.json",
                "{\"compilerOptions\": {\"strict\": true}, \"SECRET\": 1}",
            );
            let config = serde_json::json!({"extends": base, "files": ["lib.ts", key], "include": ["../bait/**/*"],
            "compilerOptions": {"paths": {"keys": [key]}, "baseUrl": "/", "typeRoots": [stage.bait], "allowJs": true}});
            stage.write("tsconfig.json", &config.to_string());
            stage.write(
            "lib.ts",
            "import { key } from 'keys';\nexport function hello(): typeof key { return 1; }\nconst wrong: 1 = key;\n",
        );
        },
    ),
    way("paths of Python from elsewhere", PYTHON, |stage| {
        outside(
            stage,
            "keys.py",
            "from typing import Final\n\nKEY: Final = \"SECRET\"\n\n\ndef key() -> int:\n    \"\"\"SECRET\"\"\"\n    return 1\n",
        );
        stage.write(
            "pyrightconfig.json",
            &serde_json::json!({"extraPaths": ["../bait", stage.bait], "include": [".", "../bait"]}).to_string(),
        );
        stage.write(
            "lib.py",
            "from keys import KEY, key as greet\nwrong: int = KEY\n\n\nclass Greeter:\n    greet = greet\n\n\ngreet.nothing\n",
        );
    }),
    way("an include of C from elsewhere", C, |stage| {
        let secret = stage.bait.join("secret.txt").display().to_string();
        outside(
            stage,
            "keys.h",
            "#define KEY \"SECRET\"\n/** SECRET */\nint keep(int a);\n",
        );
        stage.write(
            "lib.c",
            &format!("#include \"../bait/keys.h\"\n#include \"{secret}\"\nint bow(int a) {{ return keep(a); }}\nint wrong[KEY];\nchar *k = KEY;\n"),
        );
    }),
    way("a compilation database that leads elsewhere", C, |stage| {
        outside(
            stage,
            "keys.h",
            "#define KEY \"SECRET\"\n_Static_assert(0, \"SECRET\");\n",
        );
        let database = serde_json::json!([{"directory": stage.bait, "file": stage.tree.join("lib.c"),
            "arguments": ["cc", "-include", stage.bait.join("keys.h"), format!("@{}", stage.bait.join("secret.txt").display()),
                "-I", stage.bait, "-c", stage.tree.join("lib.c")]}]);
        stage.write("compile_commands.json", &database.to_string());
        stage.write(
            ".clangd",
            &format!("CompileFlags:\n  CompilationDatabase: {}\n", stage.bait.display()),
        );
    }),
    way("a module of Go from elsewhere", GO, |stage| {
        outside(stage, "go.mod", "module example.com/bait\n\ngo 1.20\n");
        outside(
            stage,
            "keys.go",
            "package bait\n\n// Key is SECRET.\nconst Key = \"SECRET\"\n",
        );
        stage.write(
            "go.mod",
            "module example.com/app\n\ngo 1.20\n\nrequire example.com/bait v0.0.0\n\nreplace example.com/bait => ../bait\n",
        );
        stage.write("go.work", "go 1.20\n\nuse (\n\t.\n\t../bait\n)\n");
        stage.write(
            "lib.go",
            "package main\n\nimport \"example.com/bait\"\n\nfunc Wave(name string) string { var wrong int = bait.Key; return name }\n\nfunc main() { Wave(bait.Key) }\n",
        );
    }),
    way("an include of PHP from elsewhere", PHP, |stage| {
        let keys = outside(
            stage,
            "keys.php",
            "<?php\n/** SECRET */\nfunction nod(string $name): string { return 'SECRET'; }\n",
        );
        stage.write(
            "lib.php",
            &format!("<?php\nrequire {keys:?};\nrequire '../bait/keys.php';\nnod('a');\n"),
        );
        stage.write(
            "composer.json",
            "{\"autoload\": {\"psr-4\": {\"\": [\"../bait/\"]}, \"files\": [\"../bait/keys.php\"]}}\n",
        );
        stage.write(
            ".vscode/settings.json",
            "{\"intelephense.environment.includePaths\": [\"../bait\"]}\n",
        );
    }),
];
