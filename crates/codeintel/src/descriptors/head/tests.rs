//! Heads of every deep language, and hostile ones.

use super::{parse, variable};

fn shown(language: &str, text: &str, name: &str) -> String {
    let at = text.find(name).unwrap();
    let Some(head) = parse(language, text, at, at + name.len()) else {
        return "none".to_string();
    };
    let parameters: Vec<String> = head
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
                format!("!{}", one.passing)
            };
            format!("{}:{}{default}{passing}", one.name, one.type_)
        })
        .collect();
    let returns: Vec<String> = head
        .returns
        .iter()
        .map(|one| format!("{}{}", one.name, one.type_))
        .collect();
    format!("{} -> {}", parameters.join("; "), returns.join("; "))
}

#[test]
fn names_before_types() {
    let cases = [
        (
            "rust",
            "pub fn new<'a, T: Into<X>>(&'a mut self, size: usize, names: &[&str], (a, b): (u8, u8)) -> Result<Self, E> where T: Copy {",
            "new",
            "size:usize; names:&[&str]; (a, b):(u8, u8) -> Result<Self, E>",
        ),
        ("rust", "fn f(self: Box<Self>, c: char) {}", "f(", "none"),
        (
            "python",
            "def add(self, item: \"Item\", /, n=1, *args: int, key: dict[str, int] = {}, **kw) -> bool:\n  x",
            "add",
            "self:; item:\"Item\"; n:=1; args:int!rest; key:dict[str, int]={}!keyword; kw:!keyword_rest -> bool",
        ),
        (
            "typescript",
            "public async add(@Inject() item: T, count?: number, cb: (x: number) => void = () => {}, ...rest: string[]): Promise<Map<string, number>> {",
            "add",
            "item:T; count:number; cb:(x: number) => void=() => {}; rest:string[]!rest -> Promise<Map<string, number>>",
        ),
        (
            "typescript",
            "make = (a: number, { b, c = 2 }: Opts = {}): void => {",
            "make",
            "a:number; { b, c = 2 }:Opts={} -> void",
        ),
        ("javascript", "make = async x => x", "make", "x: -> "),
        (
            "javascript",
            "make = function (a, b = \"),\") {",
            "make",
            "a:; b:=\"),\" -> ",
        ),
        (
            "kotlin",
            "final override suspend fun add(item: T, @X(1) n: Int = 1, vararg more: String): Boolean = true",
            "add",
            "item:T; n:Int=1; more:String!rest -> Boolean",
        ),
        (
            "ruby",
            "def add(item, count = 1, *rest, key:, other: 2, **opts, &block)\nend",
            "add",
            "item:; count:=1; rest:!rest; key:!keyword; other:=2!keyword; opts:!keyword_rest; block:!block -> ",
        ),
        ("ruby", "def add item, count\nend", "add", "item:; count: -> "),
        ("ruby", "def add\nend", "add", "none"),
        (
            "go",
            "func (c *Cart[T]) Add(item Item, n, m int, f func(a, b int) error, more ...string) (out map[string]int, err error) {",
            "Add",
            "item:Item; n:int; m:int; f:func(a, b int) error; more:string!rest -> outmap[string]int; errerror",
        ),
        (
            "go",
            "func F(int, string) *T { return nil }",
            "F",
            ":int; :string -> *T",
        ),
        ("go", "func F[T any](x T)", "F", "x:T -> "),
    ];
    for (language, text, name, expected) in cases {
        if name == "f(" {
            let at = text.find(name).unwrap();
            let head = parse(language, text, at, at + 1).unwrap();
            assert_eq!(head.parameters.len(), 1, "{text}");
            continue;
        }
        assert_eq!(shown(language, text, name), expected, "{text}");
    }
}

#[test]
fn types_before_names() {
    let cases = [
        (
            "java",
            "@Override public final synchronized <R> Map<K, V> add(final T item, @Nullable String... more) throws E {",
            "add",
            "item:T; more:String!rest -> Map<K, V>",
        ),
        ("java", "public Cart(int[] size)", "Cart", "size:int[] -> "),
        (
            "csharp",
            "[Obsolete] public virtual async Task<bool> AddAsync(this T item, ref int n, string s = \"a,b\", params string[] rest) {",
            "AddAsync",
            "item:T; n:ref int; s:string=\"a,b\"; rest:string[]!rest -> Task<bool>",
        ),
        (
            "php",
            "public static function x(array $options = [], ?int &$n = null, string|int ...$more): static|null {",
            "x",
            "options:array=[]; n:?int=null; more:string|int!rest -> static|null",
        ),
        (
            "c",
            "static inline const char *name(struct cart *c, int argv[10], int (*cb)(int, void *), unsigned, void *, ...) {",
            "name",
            "c:struct cart *; argv:int[10]; cb:int (*)(int, void *); :unsigned; :void *; ...:!rest -> const char *",
        ),
        ("c", "int none(void);", "none", " -> int"),
        (
            "cpp",
            "template <class T> virtual std::vector<T> add(const std::string& item = std::string(\"a\"), int n = 1) const noexcept = 0",
            "add",
            "item:const std::string&=std::string(\"a\"); n:int=1 -> std::vector<T>",
        ),
        ("cpp", "auto add(int n) -> bool {", "add", "n:int -> bool"),
        ("cpp", "void Cart<int>::go() {}", "go", " -> void"),
    ];
    for (language, text, name, expected) in cases {
        assert_eq!(shown(language, text, name), expected, "{text}");
    }
}

#[test]
fn variables() {
    let cases = [
        (
            "java",
            "private final List<T> items = new ArrayList<>()",
            "items",
            "List<T>",
            "new ArrayList<>()",
        ),
        ("java", "protected int a, b = 2", "b", "int", "2"),
        ("csharp", "public int Size { get; private set; } = 3", "Size", "int", ""),
        ("c", "char name[10]", "name", "char[10]", ""),
        ("c", "unsigned int flag : 1", "flag", "unsigned int", ""),
        ("cpp", "std::vector<T> items_", "items_", "std::vector<T>", ""),
        (
            "php",
            "protected ?array $casts = ['a' => 'b']",
            "casts",
            "?array",
            "['a' => 'b']",
        ),
        ("php", "public static $x", "x", "", ""),
        ("go", "Items []Item `json:\"items\"`", "Items", "[]Item", ""),
        ("go", "A, B string", "A", "string", ""),
        ("typescript", "readonly name: string = 'x'", "name", "string", "'x'"),
        ("typescript", "#secret = 1", "#secret", "", "1"),
        ("rust", "pub(crate) total: u32", "total", "u32", ""),
        ("rust", "pub const MAX: usize = 3", "MAX", "usize", "3"),
        ("python", "size: int = 3", "size", "int", "3"),
        ("kotlin", "val name: String = \"x\"", "name", "String", "\"x\""),
        ("ruby", "MAX = 3", "MAX", "", "3"),
    ];
    for (language, text, name, type_, default) in cases {
        let found = variable(language, text, name);
        assert_eq!((found.0.as_str(), found.1.as_str()), (type_, default), "{text}");
    }
}

#[test]
fn hostile_heads_end() {
    for language in [
        "rust",
        "python",
        "typescript",
        "kotlin",
        "ruby",
        "go",
        "java",
        "csharp",
        "php",
        "c",
        "cpp",
    ] {
        for text in [
            "",
            "f",
            "f(",
            "f((((",
            "f<",
            "f(\"",
            "f('",
            "f = ",
            "f: ",
            "é(é: é = é)",
            "f(=)",
            "f(,,,)",
            "f(@)",
            "f(#[)",
            "f([)",
        ] {
            parse(language, text, 0, text.chars().next().map_or(0, char::len_utf8));
            variable(language, text, "f");
        }
        parse(language, &format!("f{}", "(".repeat(30_000)), 0, 1);
        parse(language, &format!("f({})", "a, ".repeat(30_000)), 0, 1);
    }
}
