//! Names that mean something without being mentioned: where programs start, what test runners collect, what languages and their
//! libraries call, and decorators that do not register what they stand on.

/// Whether a program begins here, by its name.
pub(super) fn starts(name: &str, language: &str, path: &str) -> bool {
    match language {
        "go" => matches!(name, "main" | "init"),
        "python" => name == "main" && path.ends_with("__main__.py"),
        "c" | "cpp" => matches!(
            name,
            "main" | "wmain" | "WinMain" | "wWinMain" | "DllMain" | "LLVMFuzzerTestOneInput"
        ),
        _ => matches!(name, "main" | "Main"),
    }
}

/// Whether a test runner collects it, by its name and place.
pub(super) fn is_test(name: &str, language: &str, path: &str, is_member: bool) -> bool {
    let begins = |starts: &[&str]| starts.iter().any(|start| name.starts_with(start));
    match language {
        "go" => path.ends_with("_test.go") && begins(&["Test", "Benchmark", "Fuzz", "Example"]),
        "python" => {
            begins(&["test", "pytest_"])
                || matches!(
                    name,
                    "setUp"
                        | "tearDown"
                        | "setUpClass"
                        | "tearDownClass"
                        | "setUpModule"
                        | "tearDownModule"
                        | "setup_method"
                        | "teardown_method"
                )
        }
        "ruby" => is_member && (begins(&["test_"]) || matches!(name, "setup" | "teardown")),
        "php" | "java" | "kotlin" | "csharp" => {
            is_member && (begins(&["test"]) || matches!(name, "setUp" | "tearDown"))
        }
        _ => false,
    }
}

/// Whether a framework or a runner calls a function of this name by itself, wherever it is exported.
pub(super) fn is_called_by_framework(name: &str, language: &str) -> bool {
    const JAVASCRIPT: &[&str] = &[
        "DELETE",
        "ErrorBoundary",
        "GET",
        "HEAD",
        "OPTIONS",
        "PATCH",
        "POST",
        "PUT",
        "action",
        "clientAction",
        "clientLoader",
        "generateMetadata",
        "generateStaticParams",
        "generateViewport",
        "getInitialProps",
        "getServerSideProps",
        "getStaticPaths",
        "getStaticProps",
        "handler",
        "load",
        "loader",
        "middleware",
    ];
    const PYTHON: &[&str] = &[
        "application",
        "downgrade",
        "handler",
        "lambda_handler",
        "load_tests",
        "setup",
        "teardown",
        "upgrade",
        "urlpatterns",
    ];
    match language {
        "javascript" | "typescript" | "tsx" | "jsx" => JAVASCRIPT.contains(&name),
        "python" => PYTHON.contains(&name),
        _ => false,
    }
}

/// Whether a language reads a constant of this name by itself.
pub(super) fn is_read_by_language(name: &str, language: &str) -> bool {
    matches!(language, "java" | "kotlin" | "scala") && matches!(name, "serialVersionUID" | "serialPersistentFields")
}

/// Whether a base of this name calls private members of what derives from it, by their names.
pub(super) fn calls_private(base: &str) -> bool {
    matches!(
        base,
        "Editor" | "EditorWindow" | "MonoBehaviour" | "NetworkBehaviour" | "ScriptableObject" | "StateMachineBehaviour"
    )
}

/// Members of a base by which it learns of each type that derives from it.
pub(super) fn registers_subtypes(member: &str) -> bool {
    matches!(member, "__init_subclass__" | "inherited")
}

/// What a getter or setter is called where it is read as a property: `gross` of `getGross`.
pub(super) fn property(name: &str) -> Option<String> {
    let rest = ["get", "set", "is"].iter().find_map(|start| name.strip_prefix(start))?;
    let first = rest.chars().next().filter(|first| first.is_uppercase())?;
    Some(first.to_lowercase().chain(rest.chars().skip(1)).collect())
}

/// Whether a decorator, attribute or annotation only says something of what it stands on.
pub(super) fn registers_nothing(decorator: &str) -> bool {
    const NOTHING: &[&str] = &[
        "abstractmethod",
        "allow",
        "async",
        "asynccontextmanager",
        "cache",
        "cached",
        "cached_property",
        "cfg",
        "classmethod",
        "cold",
        "contextmanager",
        "dataclass",
        "debug",
        "deny",
        "deprecated",
        "deprecationwarning",
        "derive",
        "doc",
        "excludefromcodecoverage",
        "expect",
        "final",
        "functionalinterface",
        "inline",
        "jvmstatic",
        "lru_cache",
        "methodimpl",
        "must_use",
        "nonnull",
        "notnull",
        "nullable",
        "obsolete",
        "overload",
        "property",
        "pure",
        "readonly",
        "runtime_checkable",
        "safevarargs",
        "singledispatch",
        "staticmethod",
        "suppress",
        "suppresswarnings",
        "throws",
        "total_ordering",
        "track_caller",
        "typing.final",
        "typing.overload",
        "warn",
        "wraps",
        "visiblefortesting",
    ];
    let last = last_part(decorator).trim_start_matches('@').to_lowercase();
    NOTHING.contains(&last.as_str())
}

/// The decorators written at the beginning of a definition or on the lines before it: `@app.route("/")`, `#[Route('/')]`, and
/// `[HttpGet]` in C#.
pub(super) fn decorators(text: &str, start: usize, language: &str) -> Vec<String> {
    let name = |line: &str| -> Option<String> {
        let rest = line.trim_start();
        let bare = || rest.strip_prefix('[').filter(|_| language == "csharp");
        let rest = rest
            .strip_prefix("#[")
            .or_else(|| rest.strip_prefix('@'))
            .or_else(bare)?;
        let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '.' | ':' | '\\');
        let name: String = rest.chars().take_while(|character| is_part(*character)).collect();
        (!name.is_empty()).then_some(name)
    };
    let (before, own) = (
        text.get(..start).unwrap_or_default(),
        text.get(start..).unwrap_or_default(),
    );
    let above = before
        .lines()
        .rev()
        .skip(usize::from(!before.ends_with('\n')))
        .map_while(name);
    own.lines().map_while(name).chain(above).collect()
}

/// An attribute of C by which a loader, a linker or the hardware finds a definition: `__attribute__((constructor))`.
pub(super) fn attribute(head: &str) -> Option<&'static str> {
    const FINDS: &[&str] = &[
        "alias",
        "constructor",
        "destructor",
        "dllexport",
        "externally_visible",
        "ifunc",
        "init_priority",
        "interrupt",
        "section",
        "signal",
        "used",
        "weak",
    ];
    let from = ["__attribute__", "__declspec", "[[gnu::"]
        .iter()
        .filter_map(|start| head.find(start))
        .min()?;
    let words = head[from..].split(|letter: char| !letter.is_alphanumeric() && letter != '_');
    let mut words = words.map(|word| word.trim_matches('_'));
    words.find_map(|word| FINDS.iter().find(|attribute| **attribute == word).copied())
}

/// A comment that makes what follows visible outside: `//export Name`, `//go:linkname`.
pub(super) fn directive(comment: &str) -> Option<&str> {
    let mut lines = comment.lines().map(str::trim);
    lines.find(|line| {
        line.starts_with("//export ") || line.starts_with("//go:linkname") || line.starts_with("//go:wasmexport")
    })
}

/// Whether a member of this name is called without being mentioned: by operators, by the standard library, by reflection that is a
/// habit of the language.
pub(super) fn is_called_by_language(name: &str, language: &str) -> bool {
    const GO: &[&str] = &[
        "As",
        "Close",
        "Deadline",
        "Done",
        "Err",
        "Error",
        "Format",
        "GoString",
        "GobDecode",
        "GobEncode",
        "Is",
        "Len",
        "Less",
        "Lock",
        "MarshalBinary",
        "MarshalJSON",
        "MarshalText",
        "MarshalXML",
        "MarshalYAML",
        "Open",
        "Pop",
        "Push",
        "Read",
        "ReadAt",
        "ReadByte",
        "ReadFrom",
        "RoundTrip",
        "Scan",
        "Seek",
        "ServeHTTP",
        "Set",
        "String",
        "Swap",
        "Timeout",
        "Unlock",
        "UnmarshalBinary",
        "UnmarshalJSON",
        "UnmarshalText",
        "UnmarshalXML",
        "UnmarshalYAML",
        "Unwrap",
        "Value",
        "Write",
        "WriteAt",
        "WriteString",
        "WriteTo",
    ];
    const JAVA: &[&str] = &[
        "accept",
        "apply",
        "call",
        "clone",
        "close",
        "compare",
        "compareTo",
        "equals",
        "finalize",
        "get",
        "hasNext",
        "hashCode",
        "iterator",
        "next",
        "readObject",
        "readResolve",
        "run",
        "test",
        "toString",
        "writeObject",
        "writeReplace",
        "invoke",
        "component1",
        "component2",
        "getValue",
        "setValue",
        "provideDelegate",
        "contains",
        "plus",
        "minus",
        "rangeTo",
        "inc",
        "dec",
    ];
    const CSHARP: &[&str] = &[
        "CompareTo",
        "Configure",
        "ConfigureServices",
        "Deconstruct",
        "Dispose",
        "DisposeAsync",
        "Equals",
        "Finalize",
        "GetAwaiter",
        "GetEnumerator",
        "GetHashCode",
        "Invoke",
        "InvokeAsync",
        "MoveNext",
        "OnConfiguring",
        "OnModelCreating",
        "ToString",
    ];
    const JAVASCRIPT: &[&str] = &[
        "constructor",
        "toJSON",
        "toString",
        "valueOf",
        "then",
        "next",
        "render",
        "componentDidMount",
        "componentDidUpdate",
        "componentWillUnmount",
        "componentDidCatch",
        "shouldComponentUpdate",
        "getSnapshotBeforeUpdate",
        "connectedCallback",
        "disconnectedCallback",
        "attributeChangedCallback",
        "adoptedCallback",
        "handleEvent",
        "ngOnInit",
        "ngOnDestroy",
        "ngOnChanges",
        "ngAfterViewInit",
        "ngDoCheck",
    ];
    const RUBY: &[&str] = &[
        "initialize",
        "initialize_copy",
        "method_missing",
        "respond_to_missing?",
        "to_s",
        "to_str",
        "to_h",
        "to_hash",
        "to_a",
        "to_ary",
        "to_proc",
        "to_json",
        "as_json",
        "inspect",
        "hash",
        "eql?",
        "each",
        "call",
        "coerce",
        "included",
        "extended",
        "inherited",
        "prepended",
        "method_added",
        "const_missing",
        "perform",
        "up",
        "down",
        "change",
        "===",
    ];
    match language {
        "go" => GO.contains(&name),
        "python" => name.starts_with("__") && name.ends_with("__"),
        "java" | "kotlin" | "scala" => JAVA.contains(&name),
        "csharp" => CSHARP.contains(&name),
        "javascript" | "typescript" | "tsx" | "jsx" => JAVASCRIPT.contains(&name),
        "php" => name.starts_with("__"),
        "ruby" => {
            RUBY.contains(&name) || !name.starts_with(|character: char| character.is_alphanumeric() || character == '_')
        }
        "cpp" => name.starts_with("operator") || name.starts_with('~') || matches!(name, "begin" | "end"),
        _ => false,
    }
}

/// Whether a base of the language's library calls nothing of what derives from it but what the language calls anyway.
pub(super) fn calls_nothing(base: &str) -> bool {
    const QUIET: &[&str] = &[
        "ABC",
        "Any",
        "AnyRef",
        "Cloneable",
        "Comparable",
        "Enum",
        "Error",
        "Exception",
        "Flag",
        "Generic",
        "IntEnum",
        "IntFlag",
        "NamedTuple",
        "Object",
        "Protocol",
        "Serializable",
        "StrEnum",
        "Throwable",
        "TypedDict",
        "dict",
        "int",
        "list",
        "object",
        "str",
        "tuple",
        "type",
        "Record",
        "Struct",
        "Stringable",
        "JsonSerializable",
    ];
    QUIET.contains(&base) || base.ends_with("Error") || base.ends_with("Exception")
}

/// `Flask` of `flask.app.Flask`, `npm:x::Y`, `App\Models\User` or `Base<T>`.
pub(super) fn last_part(name: &str) -> &str {
    let name = name.split(['<', '(', '[']).next().unwrap_or(name).trim();
    name.rsplit(['.', ':', '\\', '/']).next().unwrap_or(name)
}
