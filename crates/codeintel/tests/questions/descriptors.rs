//! Descriptors of every deep language, from small packages indexed from disk: one table of which fields are filled, then the
//! facts themselves.

use codeintel::code_context::{CodeContext, code_context};
use codeintel::descriptors::{ClassDescriptor, FieldDescriptor, FunctionDescriptor, markdown};
use codeintel::function_details::{FunctionDetails, function_details};
use codeintel::package_exports::{Exports, PackageExports, package_exports};
use codeintel::type_definition::{TypeDefinition, type_definition};
use codeintel::{QuestionError, Workspace};
use expect_test::expect;

fn market() -> (tempfile::TempDir, Workspace) {
    crate::common::indexed_copy("descriptors")
}

fn class(workspace: &Workspace, folder: &str, name: &str) -> ClassDescriptor {
    let ask = TypeDefinition {
        type_name: name.to_string(),
        package: Some(folder.to_string()),
        ..TypeDefinition::default()
    };
    type_definition(workspace, &ask)
        .unwrap_or_else(|error| panic!("{folder} {name}: {error}"))
        .class
}

fn function(workspace: &Workspace, file: &str, name: &str) -> FunctionDescriptor {
    let ask = FunctionDetails {
        function_name: name.to_string(),
        file_path: Some(file.to_string()),
        ..FunctionDetails::default()
    };
    function_details(workspace, &ask)
        .unwrap_or_else(|error| panic!("{file} {name}: {error}"))
        .function
}

fn exports(workspace: &Workspace, package: &str) -> Exports {
    let ask = PackageExports {
        package: Some(package.to_string()),
        ..PackageExports::default()
    };
    package_exports(workspace, &ask).unwrap_or_else(|error| panic!("{package}: {error}"))
}

fn names(exports: &Exports) -> Vec<String> {
    exports
        .symbols
        .iter()
        .map(|symbol| format!("{} {}", symbol.kind, symbol.name))
        .collect()
}

fn field<'a>(class: &'a ClassDescriptor, name: &str) -> &'a FieldDescriptor {
    class
        .fields
        .iter()
        .find(|field| field.name == name)
        .unwrap_or_else(|| panic!("{} in {:#?}", name, class.fields))
}

fn method<'a>(class: &'a ClassDescriptor, name: &str) -> &'a FunctionDescriptor {
    class
        .methods
        .iter()
        .find(|method| method.name == name)
        .unwrap_or_else(|| panic!("{} in {:#?}", name, class.methods))
}

/// Language, folder of the type, the type, file of its main method, the method.
const CASES: &[(&str, &str, &str, &str, &str)] = &[
    ("c", "c", "cart", "c/cart.h", "cart_add"),
    ("cpp", "cpp", "Cart", "cpp/cart.hpp", "add"),
    ("csharp", "csharp", "Cart", "csharp/Cart.cs", "AddAsync"),
    ("go", "go/shop", "Cart", "go/shop/cart_methods.go", "Add"),
    ("java", "java/com/shop", "Cart", "java/com/shop/Cart.java", "add"),
    ("javascript", "javascript", "Cart", "javascript/cart.js", "make"),
    (
        "kotlin",
        "kotlin/com/shop",
        "Cart",
        "kotlin/com/shop/Cart.kt",
        "Cart.add",
    ),
    ("php", "php/src", "Cart", "php/src/Cart.php", "add"),
    ("python", "python/shop", "Cart", "python/shop/cart.py", "add"),
    ("ruby", "ruby/lib", "Cart", "ruby/lib/cart.rb", "add"),
    ("rust", "rust/src", "Cart", "rust/src/cart.rs", "with_size"),
    ("typescript", "typescript/src", "Cart", "typescript/src/cart.ts", "add"),
];

/// What is said of each language's cart: a field of the schema and, in every column, a value or how many.
#[test]
fn which_fields_are_filled() {
    let (_folder, workspace) = market();
    let mut table = String::new();
    for (language, folder, name, file, function_name) in CASES {
        let class = class(&workspace, folder, name);
        let function = function(&workspace, file, function_name);
        assert_eq!(class.language, *language);
        assert_eq!(function.language, *language);
        for (what, text) in [
            ("signature", &class.signature),
            ("description", &class.description),
            ("uri", &class.location.uri),
            ("full_name", &class.full_name),
        ] {
            assert!(!text.is_empty(), "{language}: no {what}");
        }
        for (what, text) in [
            ("signature", &function.signature),
            ("description", &function.description),
            ("code", &function.code),
            ("visibility", &function.visibility),
        ] {
            assert!(!text.is_empty(), "{language}: no {what} of the function");
        }
        let some = |is: bool, mark: &str| if is { mark.to_string() } else { "-".to_string() };
        let fields = &class.fields;
        let kinds = |kind: &str| class.methods.iter().filter(|method| method.kind == kind).count();
        let flags = [
            some(
                class.methods.iter().any(|method| method.is_static) || fields.iter().any(|field| field.is_static),
                "static",
            ),
            some(class.methods.iter().any(|method| method.is_abstract), "abstract"),
            some(class.methods.iter().any(|method| method.is_final), "final"),
        ];
        let relations: Vec<String> = class
            .relations
            .iter()
            .map(|relation| format!("{} {}", relation.relation_kind, relation.related_symbol))
            .collect();
        let parameters: Vec<String> = function
            .parameters
            .iter()
            .map(|one| {
                let default = if one.default.is_empty() {
                    String::new()
                } else {
                    format!("={}", one.default)
                };
                let passing = if one.passing.is_empty() {
                    String::new()
                } else {
                    format!(" {}", one.passing)
                };
                let described = if one.description.is_empty() { "" } else { " *" };
                format!("{}:{}{default}{passing}{described}", one.name, one.type_)
            })
            .collect();
        let returns: Vec<String> = function
            .returns
            .iter()
            .map(|one| format!("{}{}", one.type_, if one.description.is_empty() { "" } else { " *" }))
            .collect();
        table.push_str(&format!(
            "{language}: {} {} in {}\n  fields {} (typed {}, default {}, described {}, tagged {}); methods {}, constructors {}, accessors {}, mutators {}; {}\n  {}\n  {} {}({}) -> {}; throws {}\n",
            class.kind,
            class.full_name,
            if class.package.is_empty() { &class.namespace } else { &class.package },
            fields.len(),
            fields.iter().filter(|field| !field.type_.is_empty()).count(),
            fields.iter().filter(|field| !field.default.is_empty()).count(),
            fields.iter().filter(|field| !field.description.is_empty()).count(),
            fields.iter().filter(|field| !field.tag.is_empty()).count(),
            kinds("method"),
            kinds("constructor"),
            kinds("accessor"),
            kinds("mutator"),
            flags.join(" "),
            if relations.is_empty() { "no relations".to_string() } else { relations.join(", ") },
            function.visibility,
            function.name,
            parameters.join(", "),
            returns.join(", "),
            function.metadata.get("throws").map_or("-".to_string(), |throws| throws.to_string()),
        ));
    }
    expect![[r#"
        c: struct cart in c
          fields 3 (typed 3, default 0, described 1, tagged 0); methods 0, constructors 0, accessors 0, mutators 0; - - -
          no relations
          public cart_add(c:struct cart * *, name:const char * *, ...: rest) -> int *; throws -
        cpp: class shop::Cart in cpp
          fields 2 (typed 2, default 1, described 1, tagged 0); methods 4, constructors 1, accessors 0, mutators 0; static abstract final
          extends shop::Base
          public add(item:const std::string& *, n:int=1 *) -> bool *; throws -
        csharp: class Shop.Core.Cart in Shop.Core
          fields 3 (typed 3, default 2, described 1, tagged 0); methods 5, constructors 1, accessors 0, mutators 0; static abstract final
          extends Shop.Core.Base, implements Shop.Core.IStore
          public AddAsync(item:T *, n:int=1 *, rest:string[] rest) -> Task<bool> *; throws [{"type":"InvalidOperationException","description":"when full"}]
        go: struct shop.Cart in shop
          fields 3 (typed 3, default 0, described 2, tagged 1); methods 2, constructors 0, accessors 0, mutators 0; - - -
          embeds io.Reader
          exported Add(item:Item, n:int, m:int) -> error; throws -
        java: class com.shop.Cart in com.shop
          fields 4 (typed 4, default 3, described 1, tagged 0); methods 4, constructors 1, accessors 0, mutators 0; static abstract final
          extends com.shop.Base, implements com.shop.Store
          public add(item:T *, more:String rest *) -> boolean *; throws [{"type":"IllegalStateException","description":"when full"}]
        javascript: class javascript/cart.Cart in javascript
          fields 1 (typed 0, default 1, described 0, tagged 0); methods 1, constructors 1, accessors 1, mutators 0; static - -
          extends Base
          public make(name:string *, options:Object={} *, options.deep:boolean keyword *) -> Cart *; throws -
        kotlin: class com.shop.Cart in com.shop
          fields 3 (typed 3, default 2, described 2, tagged 0); methods 5, constructors 1, accessors 0, mutators 0; - abstract final
          extends com.shop.Base, implements com.shop.Store
          public add(item:T *, n:Int=1, more:String rest) -> Boolean *; throws [{"type":"Full","description":"when full"}]
        php: class Shop\Cart in Shop
          fields 5 (typed 4, default 4, described 1, tagged 0); methods 4, constructors 1, accessors 0, mutators 0; static abstract final
          extends Shop\Base, implements Shop\Contracts\Store, implements Countable, uses Shop\Logs
          public add(item:Item *, options:array<string, int>=[] *, more:string rest) -> bool *; throws [{"type":"\\OverflowException","description":"when full"}]
        python: class shop.cart.Cart in shop
          fields 4 (typed 3, default 1, described 2, tagged 0); methods 5, constructors 1, accessors 1, mutators 1; static abstract final
          extends abc.ABC, extends typing.Generic
          public add(item:T *, n:int=1 *) -> bool *; throws [{"type":"ValueError","description":"when full"}]
        ruby: class Shop::Cart in ruby/lib
          fields 3 (typed 0, default 1, described 0, tagged 0); methods 5, constructors 1, accessors 0, mutators 0; static - -
          extends Base, includes Comparable
          public add(item:Item *, count:Integer, nil=1 *, rest: rest, key: keyword, other:=2 keyword, opts: keyword_rest, block: block) -> Boolean *; throws [{"type":"Full","description":"when full"}]
        rust: struct my_shop::cart::Cart in my-shop
          fields 4 (typed 4, default 1, described 2, tagged 0); methods 5, constructors 0, accessors 0, mutators 0; static - -
          implements my_shop::cart::Store, implements std::fmt::Display
          public with_size(size:usize *) -> Result<Self, Error> *; throws [{"description":"When too large."}]
        typescript: class src/cart.Cart in @shop/cart
          fields 5 (typed 3, default 4, described 1, tagged 0); methods 3, constructors 1, accessors 1, mutators 1; static abstract -
          extends src/base.Base, implements src/cart.Store
          public add(item:T *, count:number=1 *, rest:string[] rest) -> Promise<boolean> *; throws [{"type":"Error","description":"when full"}]
    "#]].assert_eq(&table);
}

#[test]
fn members_defined_elsewhere_are_the_types_own() {
    let (_folder, workspace) = market();
    let go = class(&workspace, "go/shop", "Cart");
    let add = method(&go, "Add");
    assert_eq!(
        (add.receiver.as_str(), add.location.file_path.as_str()),
        ("*Cart", "go/shop/cart_methods.go")
    );
    assert_eq!(
        (add.visibility.as_str(), method(&go, "reset").visibility.as_str()),
        ("exported", "unexported")
    );
    assert!(add.tags.contains(&"deprecated".to_string()));
    let rust = class(&workspace, "rust/src", "Cart");
    assert_eq!(method(&rust, "add").location.file_path, "rust/src/adding.rs");
    assert!(method(&rust, "add").tags.contains(&"async".to_string()));
    assert_eq!(method(&rust, "private").visibility, "private");
    let csharp = class(&workspace, "csharp", "Cart");
    assert_eq!(method(&csharp, "Make").location.file_path, "csharp/Cart.Static.cs");
    assert!(csharp.tags.contains(&"partial".to_string()));
    let ruby = class(&workspace, "ruby/lib", "Cart");
    assert_eq!(method(&ruby, "clear").description, "Empties it.");
    let cpp = class(&workspace, "cpp", "Cart");
    assert_eq!(cpp.methods.iter().filter(|method| method.name == "clear").count(), 1);
}

#[test]
fn visibility_is_each_languages_own() {
    let (_folder, workspace) = market();
    let of = |folder: &str, name: &str| method(&class(&workspace, folder, "Cart"), name).visibility.clone();
    assert_eq!(of("java/com/shop", "packaged"), "package");
    assert_eq!(of("java/com/shop", "go"), "protected");
    assert_eq!(of("python/shop", "_internal"), "protected");
    assert_eq!(of("python/shop", "__mangled"), "private");
    assert_eq!(of("php/src", "hidden"), "private");
    assert_eq!(of("ruby/lib", "guarded"), "protected");
    assert_eq!(of("ruby/lib", "hidden"), "private");
    assert_eq!(of("kotlin/com/shop", "near"), "internal");
    assert_eq!(of("csharp", "Hidden"), "private");
    assert_eq!(of("typescript/src", "add"), "public");
    let rust = class(&workspace, "rust/src", "Cart");
    assert_eq!(
        (
            field(&rust, "total").visibility.as_str(),
            field(&rust, "hidden").visibility.as_str()
        ),
        ("pub(crate)", "private")
    );
    assert_eq!(function(&workspace, "c/cart.c", "helper").visibility, "static");
}

#[test]
fn fields_say_what_was_written() {
    let (_folder, workspace) = market();
    let go = class(&workspace, "go/shop", "Cart");
    let items = field(&go, "Items");
    assert_eq!(
        (items.type_.as_str(), items.tag.as_str(), items.description.as_str()),
        ("[]Item", "json:\"items,omitempty\"", "Items in order.")
    );
    assert_eq!(field(&go, "total").description, "in cents");
    let java = class(&workspace, "java/com/shop", "Cart");
    assert_eq!(
        (field(&java, "b").type_.as_str(), field(&java, "b").default.as_str()),
        ("int", "2")
    );
    assert!(field(&java, "MAX").is_static);
    let c = class(&workspace, "c", "cart");
    assert_eq!(
        (field(&c, "items").type_.as_str(), field(&c, "name").type_.as_str()),
        ("int *", "char[10]")
    );
    let php = class(&workspace, "php/src", "Cart");
    assert_eq!(
        (
            field(&php, "items").type_.as_str(),
            field(&php, "items").description.as_str()
        ),
        ("string[]", "the items")
    );
    let python = class(&workspace, "python/shop", "Cart");
    assert_eq!(field(&python, "items").description, "what is in it");
    let cpp = class(&workspace, "cpp", "Cart");
    assert_eq!(field(&cpp, "items_").description, "the items");
}

#[test]
fn packages_offer_what_their_language_says() {
    let (_folder, workspace) = market();
    let go = [
        "struct Cart",
        "interface Store",
        "struct Item",
        "class Kind",
        "function NewCart",
        "constant First",
    ];
    for package in ["go/shop", "example.com/market/shop"] {
        let mut found = names(&exports(&workspace, package));
        let mut expected: Vec<String> = go.iter().map(|name| name.to_string()).collect();
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{package}");
    }
    assert_eq!(names(&exports(&workspace, "my_shop")), ["struct Cart"]);
    assert_eq!(
        names(&exports(&workspace, "my_shop::cart")),
        ["struct Cart", "trait Store"]
    );
    assert_eq!(
        names(&exports(&workspace, "python/shop")),
        ["class Cart", "function make"]
    );
    assert_eq!(
        names(&exports(&workspace, "com.shop"))
            .iter()
            .filter(|name| name.as_str() == "class Base")
            .count(),
        1
    );
    assert_eq!(
        names(&exports(&workspace, "java/com/shop")),
        ["class Cart", "interface Store"]
    );
    assert_eq!(
        names(&exports(&workspace, "Shop.Core")),
        ["class Cart", "class Cart", "interface IStore"]
    );
    assert_eq!(names(&exports(&workspace, "Shop\\Contracts")), ["interface Store"]);
    assert_eq!(
        names(&exports(&workspace, "typescript/src/cart.ts")),
        ["class Cart", "interface Store", "function build"]
    );
    assert_eq!(
        names(&exports(&workspace, "ruby/lib"))[..3],
        ["module Shop", "module Shop", "class Cart"]
    );
    assert_eq!(
        names(&exports(&workspace, "cpp")),
        ["module shop", "module shop", "class Base", "class Cart"]
    );
    assert_eq!(
        names(&exports(&workspace, "c")),
        ["struct cart", "function cart_add", "function cart_add"]
    );
    let ask = PackageExports {
        package: Some("go/shop".to_string()),
        symbol_type: Some("function".to_string()),
        ..PackageExports::default()
    };
    assert_eq!(names(&package_exports(&workspace, &ask).unwrap()), ["function NewCart"]);
}

#[test]
fn pages_of_a_package_add_up() {
    let (_folder, workspace) = market();
    let whole = exports(&workspace, "go/shop");
    let mut seen = Vec::new();
    let mut cursor = None;
    loop {
        let ask = PackageExports {
            package: Some("go/shop".to_string()),
            limit: Some(2),
            cursor,
            ..PackageExports::default()
        };
        let page = package_exports(&workspace, &ask).unwrap();
        assert_eq!((page.total, page.truncated), (whole.total, page.next_cursor.is_some()));
        seen.extend(page.symbols);
        cursor = page.next_cursor;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(seen, whole.symbols);
}

#[test]
fn what_is_not_there_is_said_with_what_is() {
    let (_folder, workspace) = market();
    let ask = |name: &str| TypeDefinition {
        type_name: name.to_string(),
        ..TypeDefinition::default()
    };
    let error = type_definition(&workspace, &ask("Carrt")).unwrap_err();
    assert_eq!(error.code(), "no_such_symbol");
    assert!(error.to_string().contains("Cart"), "{error}");
    assert_eq!(
        type_definition(&workspace, &ask("Cart")).unwrap_err().code(),
        "ambiguous_symbol"
    );
    assert_eq!(
        type_definition(&workspace, &ask("")).unwrap_err().code(),
        "invalid_argument"
    );
    assert_eq!(
        type_definition(&workspace, &ask(&"x".repeat(1 << 20)))
            .unwrap_err()
            .code(),
        "invalid_argument"
    );
    let error = type_definition(&workspace, &ask("NewCart")).unwrap_err();
    assert!(error.to_string().contains("is a function, not a type"), "{error}");
    let nowhere = TypeDefinition {
        package: Some("nowhere".to_string()),
        ..ask("Cart")
    };
    let error = type_definition(&workspace, &nowhere).unwrap_err();
    assert!(
        error.to_string().contains("package nowhere") && error.to_string().contains("::Cart"),
        "{error}"
    );
    let nothing = PackageExports {
        package: Some("com.nowhere".to_string()),
        ..PackageExports::default()
    };
    assert!(matches!(
        package_exports(&workspace, &nothing),
        Err(QuestionError::Argument { name: "package", .. })
    ));
    let unknown = PackageExports {
        package: Some("go/shop".to_string()),
        symbol_type: Some("gadget".to_string()),
        ..PackageExports::default()
    };
    assert!(package_exports(&workspace, &unknown).is_err());
}

#[test]
fn every_format_says_the_same() {
    let (_folder, workspace) = market();
    let mut answers: Vec<serde_json::Value> = Vec::new();
    for (_, folder, name, file, function_name) in CASES {
        answers.push(serde_json::to_value(class(&workspace, folder, name)).unwrap());
        answers.push(serde_json::to_value(function(&workspace, file, function_name)).unwrap());
        answers.push(serde_json::to_value(exports(&workspace, folder)).unwrap());
    }
    for answer in answers {
        for format in [
            wire::Format::Json,
            wire::Format::Gcx,
            wire::Format::Gcf,
            wire::Format::Auto,
        ] {
            let layout = wire::layout::Layout::generic("descriptor");
            let encoded = wire::encode(&answer, &layout, format, wire::tokens::Tokenizer::O200k).unwrap();
            assert_eq!(
                wire::decode_from(&encoded.text, encoded.format).unwrap(),
                answer,
                "{}",
                encoded.text
            );
        }
    }
}

#[test]
fn a_changed_file_is_not_described() {
    let (folder, workspace) = market();
    std::fs::write(folder.path().join("go/shop/cart.go"), "package shop\n").unwrap();
    let ask = TypeDefinition {
        type_name: "Cart".to_string(),
        package: Some("go/shop".to_string()),
        ..TypeDefinition::default()
    };
    assert_eq!(type_definition(&workspace, &ask).unwrap_err().code(), "stale_file");
}

#[test]
fn lines_come_with_their_symbol() {
    let (_folder, workspace) = market();
    let ask = CodeContext {
        file_path: "shop/cart.go".to_string(),
        start_line: 29,
        end_line: 29,
        context_lines: Some(1),
        ..CodeContext::default()
    };
    let found = code_context(&workspace, &ask).unwrap();
    assert_eq!(
        (found.id.as_str(), found.from_line, found.to_line),
        ("go/shop/cart.go::NewCart", 28, 29)
    );
    expect![[r#"
        **go/shop/cart.go:29-29** of 37 lines, in `go/shop/cart.go::NewCart` (function)

        ```go
        28 │ // NewCart makes a cart.
        29 ┃ func NewCart(size int, names ...string) (*Cart, error) { return nil, nil }
        ```
    "#]]
    .assert_eq(&markdown::lines(&found));
    for (start, end) in [(0, 1), (5, 4), (1000, 1001)] {
        let wrong = CodeContext {
            start_line: start,
            end_line: end,
            ..ask.clone()
        };
        assert_eq!(code_context(&workspace, &wrong).unwrap_err().code(), "invalid_argument");
    }
}

#[test]
fn markdown_for_a_terminal() {
    let (_folder, workspace) = market();
    let ask = FunctionDetails {
        function_name: "add".to_string(),
        file_path: Some("python/shop/cart.py".to_string()),
        ..FunctionDetails::default()
    };
    let mut found = function_details(&workspace, &ask).unwrap();
    found.function.location.uri.clear();
    expect![[r##"
        # add

        **Kind:** method · python  
        **Namespace:** `shop.cart`  
        **Receiver:** `Cart`  
        **Signature:** `def add(self, item: T, n: int = 1) -> bool`  
        **Visibility:** public · abstract  
        **Location:** python/shop/cart.py:29-42  

        Adds an item.

        **Parameters:**
        - `item`: `T` — what to add.
        - `n`: `int` = `1` — how many

        **Returns:**
        - `bool` — whether it worked — (type_hint)

        **Throws:** ValueError — when full

        ```python
            @abstractmethod
            def add(self, item: T, n: int = 1) -> bool:
                """Adds an item.

                Args:
                    item: what to add.
                    n (int): how many

                Returns:
                    bool: whether it worked

                Raises:
                    ValueError: when full
                """
        ```
    "##]]
    .assert_eq(&markdown::function_found(&found));
    let ask = TypeDefinition {
        type_name: "Cart".to_string(),
        package: Some("go/shop".to_string()),
        ..TypeDefinition::default()
    };
    let mut found = type_definition(&workspace, &ask).unwrap();
    found.class.location.uri.clear();
    expect![[r##"
        # Cart

        **Kind:** struct · go  
        **Full name:** `shop.Cart`  
        **Namespace:** `example.com/market/shop`  
        **Package:** `shop`  
        **Signature:** `type Cart struct`  
        **Location:** go/shop/cart.go:9-14  

        Cart holds items.

        It is not safe for concurrent use.

        **Relations:**
        - embeds `io.Reader`

        **Fields:**
        - `Reader: io.Reader` — exported — line 10
        - `Items: []Item` — Items in order. — exported · `json:"items,omitempty"` — line 12
        - `total: int` — in cents — unexported — line 13

        **Methods:**
        - `func (c *Cart) Add(item Item, n, m int) (err error)` — Add puts an item in. — exported · deprecated — go/shop/cart_methods.go:6-6
        - `func (c *Cart) reset()` — unexported — go/shop/cart_methods.go:8-8
    "##]].assert_eq(&markdown::type_found(&found));
    let found = exports(&workspace, "my_shop::cart");
    expect![[r#"
        # Package: my_shop::cart

        **Total exported symbols:** 2

        ## Struct (1)

        - **Cart** `pub struct Cart<T>` — A cart. — my-shop — rust/src/cart.rs:8-14

        ## Trait (1)

        - **Store** `pub trait Store: Send` — Keeps things. — my-shop · abstract — rust/src/cart.rs:17-20
    "#]]
    .assert_eq(&markdown::exports(&found));
}

/// What real libraries write and small examples do not.
#[test]
fn attributes_comments_and_type_parameters_beside_the_name() {
    let folder = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| std::fs::write(folder.path().join(path), text).unwrap();
    write(
        "Task.cs",
        "namespace Jobs\n{\n    [Serializable]\n    public partial struct Task { [Hidden(1)] public int Id() { return 1; } }\n\n    \
         /// <summary>With a result.</summary>\n    public struct Task<T> { public T Result; public void A() {} public void B() {} }\n}\n",
    );
    write(
        "Task.Delay.cs",
        "namespace Jobs\n{\n    public partial struct Task { public static Task Delay(int time) { return default; } }\n}\n",
    );
    write(
        "connection.rb",
        "class Connection\n  # Allowed verbs.\n  VERBS = %w[get put]\n\n  def run(path = '/')\n  end\nend\n",
    );
    write(
        "pages.py",
        "class Pages:\n    # Shown between pages.\n    GAP = '…'\n\n    def first(self):\n        return 1\n",
    );
    let workspace = crate::common::indexed(folder.path());
    let of = |name: &str| {
        let ask = TypeDefinition {
            type_name: name.to_string(),
            ..TypeDefinition::default()
        };
        type_definition(&workspace, &ask).unwrap().class
    };
    assert_eq!(of("Pages").signature, "class Pages");
    let bare = of("Task");
    assert_eq!(bare.signature, "public partial struct Task");
    assert_eq!(method(&bare, "Delay").location.file_path, "Task.Delay.cs");
    assert_eq!(method(&bare, "Id").signature, "public int Id()");
    let generic = of("Task<int>");
    assert_eq!(generic.signature, "public struct Task<T>");
    assert_eq!(generic.methods.len(), 2);
    assert_eq!(of("Connection").signature, "class Connection");
}

/// What a package takes from others by `*`, and under other names, is found where it is defined.
#[test]
fn exports_follow_stars_lists_and_other_names() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        (
            "client/__init__.py",
            "from .__version__ import __version__\nfrom ._api import *\nfrom ._models import Request, Response as Reply\nfrom ._all import *\n\
             from . import _private\nimport os\n\n__all__ = [\"__version__\", \"get\", \"Request\", \"Reply\", \"one\", \"Timeout\"]\n",
        ),
        ("client/__version__.py", "__version__ = \"1\"\n"),
        (
            "client/_api.py",
            "from ._models import Timeout\n__all__ = [\"get\", \"Timeout\"]\ndef get(): ...\ndef hidden(): ...\n",
        ),
        (
            "client/_models.py",
            "class Request: ...\nclass Response: ...\nclass Timeout: ...\n",
        ),
        (
            "client/_all.py",
            "from client import *\ndef one(): ...\ndef _two(): ...\n",
        ),
        ("client/_private.py", "def helper(): ...\n"),
        (
            "open/__init__.py",
            "from .parts import *\nfrom .parts import Left as Right\n",
        ),
        ("open/parts.py", "class Left: ...\ndef make(): ...\ndef _own(): ...\n"),
        ("package.json", "{\"name\": \"shop\"}"),
        (
            "src/index.ts",
            "export * from './cart';\nexport { build as make, type Part } from './parts';\nimport { hidden } from './parts';\n\
             function own() {}\nexport { own as open, hidden as shown };\nexport const limit = 3;\n",
        ),
        (
            "src/cart.ts",
            "export class Cart {}\nexport default function main() {}\nexport * from './deep';\nfunction inner() {}\n",
        ),
        ("src/deep.ts", "export function deep() {}\nexport * from './cart';\n"),
        (
            "src/parts.ts",
            "export function build() {}\nexport interface Part {}\nexport function hidden() {}\n",
        ),
    ];
    for (path, text) in files {
        let path = folder.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let workspace = crate::common::indexed(folder.path());
    let sorted = |package: &str| {
        let mut names: Vec<String> = exports(&workspace, package)
            .symbols
            .into_iter()
            .map(|symbol| symbol.name)
            .collect();
        names.sort();
        names
    };
    assert_eq!(
        sorted("client"),
        ["Reply", "Request", "Timeout", "__version__", "get", "one"]
    );
    assert_eq!(sorted("open"), ["Left", "Right", "make"]);
    assert_eq!(
        sorted("src"),
        ["Cart", "Part", "deep", "limit", "make", "open", "shown"]
    );
    let renamed = exports(&workspace, "src")
        .symbols
        .into_iter()
        .find(|symbol| symbol.name == "make");
    assert_eq!(renamed.unwrap().metadata["defined_as"], "build");
}
