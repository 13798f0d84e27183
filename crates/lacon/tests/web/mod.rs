//! The page of `lacon web`: who may ask, and every view in a real browser (`walk.mjs`), compared with what the command line answers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::lacon;

/// `lacon web` on a tree.
struct Page {
    process: Child,
    /// `127.0.0.1:port`.
    address: String,
    code: String,
    token: String,
}

impl Drop for Page {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
    }
}

impl Page {
    fn open(tree: &Path) -> Page {
        Page::start(lacon(&["web", "--listen", "127.0.0.1:0"]).arg(tree), &[]).0
    }

    /// The page of a process, and what follows each of `marks` in what it says after that.
    fn start(command: &mut Command, marks: &[&str]) -> (Page, Vec<String>) {
        let mut process = command
            .env_remove("LACON_HTTP_TOKEN")
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(process.stderr.take().unwrap()).lines();
        let mut after = |mark: &str| loop {
            let line = lines.next().unwrap().unwrap();
            if let Some((_, rest)) = line.split_once(mark) {
                return rest.trim().to_owned();
            }
        };
        let (address, code) = after("http://")
            .split_once("/#enter=")
            .map(|(a, c)| (a.to_owned(), c.to_owned()))
            .unwrap();
        let token = after("token");
        let said = marks.iter().map(|mark| after(mark)).collect();
        std::thread::spawn(move || lines.for_each(drop));
        let page = Page {
            process,
            address,
            code,
            token,
        };
        (page, said)
    }

    /// The status, the headers and the body of one request.
    fn send(&self, method: &str, path: &str, headers: &[(&str, &str)], body: &str) -> (u16, String, String) {
        let mut stream = TcpStream::connect(&self.address).unwrap();
        let mut request = format!(
            "{method} {path} HTTP/1.1\r\nConnection: close\r\nContent-Length: {}\r\n",
            body.len()
        );
        if !headers.iter().any(|(name, _)| *name == "Host") {
            request.push_str(&format!("Host: {}\r\n", self.address));
        }
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{request}\r\n{body}").as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        (status, head.to_lowercase(), body.to_owned())
    }

    fn ask(&self, tool: &str, arguments: &Value) -> (u16, Value) {
        let bearer = format!("Bearer {}", self.token);
        let path = format!("/api/ask/{tool}");
        let (status, _, body) = self.send("POST", &path, &[("Authorization", &bearer)], &arguments.to_string());
        (status, serde_json::from_str(&body).unwrap())
    }
}

fn write(root: &Path, path: &str, text: &str) {
    let file = root.join(path);
    std::fs::create_dir_all(file.parent().unwrap()).unwrap();
    std::fs::write(file, text).unwrap();
}

/// A folder of that name.
struct Shop(tempfile::TempDir);

impl Shop {
    fn path(&self) -> PathBuf {
        self.0.path().join("shop")
    }
}

/// A shop, its tests, and files that try to be more than text.
fn shop() -> Shop {
    let tree = Shop(tempfile::tempdir().unwrap());
    let root = tree.path();
    let root = root.as_path();
    write(
        root,
        "shop/cart.py",
        "\"\"\"What a customer buys.\"\"\"\n\n\nclass Cart:\n    \"\"\"Holds lines until they are paid.\"\"\"\n\n    def __init__(self):\n        \
         self.lines = []\n\n    def add(self, name, price, count=1):\n        self.lines.append((name, price, count))\n\n    def total(self):\n        \
         \"\"\"The sum of all lines.\"\"\"\n        return sum(line_price(line) for line in self.lines)\n\n\ndef line_price(line):\n    \
         \"\"\"The price of one line: price times count.\"\"\"\n    _, price, count = line\n    return price * count\n",
    );
    write(
        root,
        "shop/checkout.py",
        "from shop.cart import Cart, line_price\n\n\nclass Payment:\n    def pay(self, amount):\n        raise NotImplementedError\n\n\nclass \
         CardPayment(Payment):\n    def pay(self, amount):\n        return charge(amount)\n\n\ndef charge(amount):\n    return amount > 0\n\n\n\
         def checkout(cart: Cart, payment: Payment):\n    \"\"\"Pays for a cart.\"\"\"\n    return payment.pay(cart.total())\n\n\n\
         def receipt(cart: Cart):\n    return [line_price(line) for line in cart.lines]\n",
    );
    write(
        root,
        "tests/test_checkout.py",
        "from shop.cart import Cart\nfrom shop.checkout import CardPayment, checkout\n\n\ndef test_checkout_pays_the_total():\n    cart = Cart()\n    \
         cart.add('tea', 3)\n    assert checkout(cart, CardPayment())\n",
    );
    write(
        root,
        "web/cart.ts",
        "export function showTotal(total: number): string {\n  return format(total);\n}\n\nfunction format(value: number) {\n  return `${value} €`;\n}\n",
    );
    write(
        root,
        "README.md",
        "# The shop\n\n## Checkout\n\nA cart is paid at the checkout.\n",
    );
    // Nothing of these may run, turn the text around them, or widen the page.
    write(
        root,
        "evil/<img src=x onerror=hacked()>.py",
        "# <script>window.hacked = 1</script> \u{1b}[31mred\u{1b}[0m \u{202e}desrever\u{202c}\n\n\ndef evil_markup():\n    \"\"\"<script>window.hacked = 1</script>\
         <img src=x onerror='window.hacked=1'> \u{202e}\u{1b}]0;title\u{7}\"\"\"\n    return evil_long()\n\n\ndef evil_long():\n    return '</code><script>window.hacked=1</script>'\n",
    );
    write(
        root,
        "evil/long.py",
        &format!("evil_line = '{}'\n{}", "x<b>".repeat(60_000), "short = 1\n".repeat(700)),
    );
    write(
        root,
        "evil/direction.py",
        "def evil_\u{5d0}\u{5d1}(שלום):\n    return 'Z\u{335}\u{321}\u{327}\u{322}'\n",
    );
    for arguments in [
        &["init", "--quiet"] as &[&str],
        &["add", "."],
        &[
            "-c",
            "user.name=Ada",
            "-c",
            "user.email=ada@example.com",
            "commit",
            "--quiet",
            "-m",
            "The <b>shop</b> opens",
        ],
    ] {
        let run = Command::new("git").args(arguments).current_dir(root).output().unwrap();
        assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    }
    let indexed = lacon(&["index"]).arg(root).output().unwrap();
    assert!(indexed.status.success(), "{}", String::from_utf8_lossy(&indexed.stderr));
    tree
}

#[test]
fn a_page_is_for_everyone_and_answers_for_whoever_was_let_in() {
    let tree = shop();
    let page = Page::open(&tree.path());
    let (status, head, body) = page.send("GET", "/symbol/anything", &[], "");
    assert_eq!(status, 200);
    assert!(body.starts_with("<!doctype html>") && !body.contains(&page.token));
    assert!(
        head.contains("content-security-policy: default-src 'none'; script-src 'self'"),
        "{head}"
    );
    assert!(head.contains("x-content-type-options: nosniff") && head.contains("referrer-policy: no-referrer"));
    assert_eq!(page.send("GET", "/assets/../Cargo.toml", &[], "").0, 404);

    // Without a token, with a wrong one, from another page, by another name.
    let question = ("POST", "/api/ask/search_symbols", "{\"query\": \"Cart\"}");
    let asked = |headers: &[(&str, &str)]| page.send(question.0, question.1, headers, question.2).0;
    let bearer = format!("Bearer {}", page.token);
    assert_eq!(asked(&[]), 401);
    assert_eq!(asked(&[("Authorization", "Bearer guess")]), 401);
    assert_eq!(asked(&[("Authorization", &bearer)]), 200);
    assert_eq!(
        asked(&[("Authorization", &bearer), ("Origin", "https://evil.example")]),
        403
    );
    assert_eq!(asked(&[("Authorization", &bearer), ("Host", "evil.example")]), 403);
    for path in [
        "/api/status",
        "/api/events",
        "/api/lines?path=shop/cart.py",
        "/api/tools",
    ] {
        assert_eq!(page.send("GET", path, &[], "").0, 401, "{path}");
    }

    // The code of the address is exchanged for a token, once.
    assert_eq!(page.send("POST", "/api/enter", &[], "guess").0, 401);
    let (status, _, body) = page.send("POST", "/api/enter", &[], &page.code);
    assert_eq!(status, 200);
    let own: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        asked(&[("Authorization", &format!("Bearer {}", own["token"].as_str().unwrap()))]),
        200
    );
    assert_eq!(page.send("POST", "/api/enter", &[], &page.code).0, 401);
}

#[test]
fn what_the_page_is_answered_is_what_the_command_line_is_answered() {
    let tree = shop();
    let page = Page::open(&tree.path());
    let said = |arguments: &[&str]| -> Value {
        let output = lacon(arguments).current_dir(tree.path()).output().unwrap();
        assert!(
            output.status.success(),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let (status, found) = page.ask("search_symbols", &json!({"query": "checkout"}));
    assert_eq!(
        (status, &found),
        (200, &said(&["symbols", "checkout", "--format", "json"]))
    );
    let (_, callers) = page.ask("get_callers", &json!({"id": "line_price"}));
    assert_eq!(callers, said(&["callers", "line_price", "--format", "json"]));

    // A refusal says why, with a status that `curl -f` sees.
    let (status, refused) = page.ask("get_callers", &json!({"id": "nobody"}));
    assert_eq!(
        (status, refused["error"]["code"].as_str()),
        (404, Some("no_such_symbol"))
    );
    for tool in ["apply_edit", "rename_symbol", "hover", "nothing"] {
        assert_eq!(page.ask(tool, &json!({})).0, 404, "{tool}");
    }

    // Lines lead where the graph leads.
    let bearer = format!("Bearer {}", page.token);
    let get = |path: &str| -> Value {
        let (status, _, body) = page.send("GET", path, &[("Authorization", &bearer)], "");
        assert_eq!(status, 200, "{path}: {body}");
        serde_json::from_str(&body).unwrap()
    };
    let lines = get("/api/lines?path=shop/cart.py&first=13&last=15");
    let link = lines["links"]
        .as_array()
        .unwrap()
        .iter()
        .find(|link| link["to"] == "shop/cart.py::line_price")
        .unwrap();
    let line = lines["lines"][2].as_str().unwrap();
    let at = link["column"].as_u64().unwrap() as usize;
    assert_eq!(
        (link["line"].as_u64(), &line[at..at + 10]),
        (Some(15), "line_price"),
        "{lines}"
    );
    let map = get("/api/folder?path=shop");
    let names: Vec<&str> = map["parts"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["checkout.py", "cart.py"]);
    let uses = map["uses"][0].clone();
    assert_eq!(
        (uses["from"].as_u64(), uses["to"].as_u64()),
        (Some(0), Some(1)),
        "{map}"
    );
    assert_eq!(get("/api/files?query=cart")["files"][0]["path"], "web/cart.ts");
    let state = get("/api/status");
    assert_eq!(
        state["repositories"][0]["status"]["contents"],
        said(&["status", "--json"])["contents"]
    );
}

/// Needs chromium, Node, playwright-core and axe-core, which `cargo xtask prepare` installs.
#[test]
fn a_browser_walks_every_view() {
    let tree = shop();
    let page = Page::open(&tree.path());
    let said = |arguments: &[&str]| -> Value {
        let output = lacon(arguments).current_dir(tree.path()).output().unwrap();
        serde_json::from_slice(&output.stdout).unwrap()
    };
    let expected = json!({
        "open": format!("http://{}/#enter={}", page.address, page.code),
        "root": tree.path(),
        "server": page.process.id(),
        "screenshots": std::env::var("LACON_SCREENSHOTS").ok(),
        "symbols": said(&["symbols", "checkout", "--format", "json"]),
        "usages": said(&["usages", "shop/cart.py::line_price", "--format", "json"]),
        "callers": said(&["callers", "shop/cart.py::line_price", "--depth", "1", "--format", "json"]),
        "needs": said(&["dependencies", "shop/cart.py::line_price", "--depth", "1", "--format", "json"]),
        "pack": said(&["context", "pay for a cart", "--budget", "5000", "--format", "json"]),
        "status": said(&["status", "--json"]),
    });
    walk("walk.mjs", &expected);
}

/// The repository is Lacon's own.
#[test]
fn a_browser_walks_a_real_repository() {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
    let kept = tempfile::tempdir().unwrap();
    let of_crates = |arguments: &[&str]| {
        let mut command = lacon(arguments);
        command.env("LACON_DIR", kept.path()).current_dir(crates);
        command
    };
    let indexed = of_crates(&["index", "."]).output().unwrap();
    assert!(indexed.status.success(), "{}", String::from_utf8_lossy(&indexed.stderr));
    let said = |arguments: &[&str]| -> Value {
        // Without a root it would be the repository around these.
        let output = of_crates(arguments).args(["--root", "."]).output().unwrap();
        let problem = String::from_utf8_lossy(&output.stderr).into_owned();
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{arguments:?}: {error}: {problem}"))
    };
    let (query, task) = ("sound_answer", "mask credentials in answers");
    let symbols = said(&["symbols", query, "--format", "json"]);
    let first = symbols["results"][0]["id"].as_str().unwrap().to_owned();
    let status = of_crates(&["status", ".", "--json"]).output().unwrap();
    let status: Value = serde_json::from_slice(&status.stdout).unwrap();
    let page = Page::start(&mut of_crates(&["web", ".", "--listen", "127.0.0.1:0"]), &[]).0;
    let expected = json!({
        "open": format!("http://{}/#enter={}", page.address, page.code),
        "screenshots": std::env::var("LACON_SCREENSHOTS").ok(),
        "root": crates,
        "query": query,
        "task": task,
        "usages": said(&["usages", &first, "--limit", "300", "--format", "json"]),
        "callers": said(&["callers", &first, "--depth", "1", "--format", "json"]),
        "needs": said(&["dependencies", &first, "--depth", "1", "--format", "json"]),
        "pack": said(&["context", task, "--budget", "5000", "--format", "json"]),
        "status": status,
        "symbols": symbols,
    });
    walk("repository.mjs", &expected);
}

/// Needs the same.
#[test]
fn a_browser_watches_a_gateway() {
    let (tree, home) = (shop(), tempfile::tempdir().unwrap());
    let config = home.path().join("gateway.toml");
    let upstream = json!({"command": env!("CARGO_BIN_EXE_lacon"), "args": ["mcp", tree.path(), "--read-only"]});
    let arguments: Vec<String> = upstream["args"]
        .as_array()
        .unwrap()
        .iter()
        .map(Value::to_string)
        .collect();
    let text = format!(
        "[upstreams.shop]\ncommand = {}\nargs = [{}]\n",
        upstream["command"],
        arguments.join(", ")
    );
    std::fs::write(&config, text).unwrap();
    let gateway = |arguments: &[&str]| {
        let mut command = lacon(&["gateway"]);
        command.args(arguments).arg("--config").arg(&config);
        command.current_dir(home.path()).env("XDG_STATE_HOME", home.path());
        command
    };
    let checked = gateway(&["check", "--json"]).output().unwrap();
    assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    let check: Value = serde_json::from_slice(&checked.stdout).unwrap();
    let (page, said) = Page::start(
        &mut gateway(&["serve", "--http=127.0.0.1:0", "--page=127.0.0.1:0"]),
        &["listening on", "token:"],
    );
    let expected = json!({
        "open": format!("http://{}/#enter={}", page.address, page.code),
        "mcp": said[0],
        "token": said[1].split(' ').next(),
        "server": page.process.id(),
        "screenshots": std::env::var("LACON_SCREENSHOTS").ok(),
        "check": check,
    });
    walk("gateway.mjs", &expected);
}

/// How long a walk may take: a browser that hangs must not hang the tests.
const LONGEST_WALK: Duration = Duration::from_secs(240);

/// Walks a page in Chromium by a script beside this file.
fn walk(script: &str, expected: &Value) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut walking = Command::new("node")
        .arg(here.join("tests/web").join(script))
        .arg(expected.to_string())
        .env("LACON_TOOLS", here.join("../../.tools/node_modules"))
        .env("PATH", testkit::tools::path_with_tools())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let began = Instant::now();
    while walking.try_wait().unwrap().is_none() && began.elapsed() < LONGEST_WALK {
        std::thread::sleep(Duration::from_millis(50));
    }
    drop(walking.kill());
    let walked = walking.wait_with_output().unwrap();
    assert!(
        walked.status.success(),
        "{} seconds\n{}\n{}",
        began.elapsed().as_secs(),
        String::from_utf8_lossy(&walked.stdout),
        String::from_utf8_lossy(&walked.stderr)
    );
}
