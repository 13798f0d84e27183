//! What Python code says, construct by construct.

use crate::common::check;
use expect_test::{Expect, expect};

fn python(text: &str, expect: Expect) {
    check("python", text, expect);
}

#[test]
fn functions_parameters_and_docstrings() {
    python(
        r#"
def f(a, /, b: int = 1, *args: str, key: "list[Late]" = None, **rest) -> dict[str, X]:
    """First sentence. Second.

    More.
    """
    def inner(): return a
    return inner

async def g(): yield await f(1)
pick = lambda x, y=2: x(y)
"#,
        expect![[r#"
            function f @2-8 "def f(a, /, b: int = 1, *args: str, key: \"list[Late]\" = None, **rest) -> dict[str, X]" (a, b: free int = 1, *args: free str, key key: free list<free Late> = None, **rest) -> free dict<free str, free X> doc "First sentence."
            function f.inner @7-7 "def inner()"
            function g async generator @10-10 "async def g()"
            variable pick @11-11 "pick = lambda x, y=2: x(y)"
            lambda <lambda1> @11-11 "lambda x, y=2" (x, y = 2)
            type parameter b : free int
            flow maybe parameter b <- number
            type parameter args : free str
            type parameter key : free list<free Late>
            flow maybe parameter key <- null
            return f.inner <- parameter a
            return f <- inner
            yield g <- unwrap(f(number))
            flow maybe parameter y <- number
            return <lambda1> <- parameter x(parameter y)
            flow pick <- def <lambda1>
            type free int in f @2:15
            type free str in f @2:31
            type free list in f @2:42
            type free Late in f @2:47
            type free dict in f @2:73
            type free str in f @2:78
            type free X in f @2:83
            read inner in f @8:11
            call f /1 in g @10:27
            call parameter x /1 in <lambda1> @11:22
        "#]],
    );
}

#[test]
fn classes_members_and_visibility() {
    python(
        r#"
class Base: ...
class Thing(Base, mod.Mixin[T], metaclass=Meta):
    limit: ClassVar[int] = 3
    __slots__ = ()

    def __init__(self, owner):
        self.owner: Owner = owner
        self._hidden, self.pair = owner.split()
        self.owner = None

    @property
    def size(self): return self._size()
    @size.setter
    def size(self, value): ...
    @classmethod
    def make(cls, *a): return cls(*a)
    @staticmethod
    def plain(x): return x
    @abc.abstractmethod
    def must(this): super().must(); super(Thing, this).other()
    @typing.overload
    def over(self, x: int): ...
    def over(self, x): limit; return Thing.limit
"#,
        expect![[r#"
            class Base @2-2 "class Base"
            class Thing @3-24 "class Thing(Base, mod.Mixin[T], metaclass=Meta)" extends Base extends free mod.Mixin<free T>
            field Thing.limit @4-4 "limit: ClassVar[int] = 3" -> free int
            field Thing.__slots__ @5-5 "__slots__ = ()"
            constructor Thing.__init__ @7-10 "def __init__(self, owner)" (receiver self, owner)
            field Thing.owner @8-8 "self.owner: Owner = owner" -> free Owner
            field Thing._hidden Private @9-9 "self._hidden, self.pair = owner.split()"
            field Thing.pair @9-9 "self._hidden, self.pair = owner.split()"
            property Thing.size getter @12-13 "def size(self)" (receiver self) @free property
            property Thing.size setter @14-15 "def size(self, value)" (receiver self, value) @size.setter
            method Thing.make classmethod @16-17 "def make(cls, *a)" (receiver cls, *a) @free classmethod
            method Thing.plain static @18-19 "def plain(x)" (x) @free staticmethod
            method Thing.must abstract @20-21 "def must(this)" (receiver this) @free abc.abstractmethod
            method Thing.over declaration @22-23 "def over(self, x: int)" (receiver self, x: free int) @free typing.overload
            method Thing.over @24-24 "def over(self, x)" (receiver self, x)
            type limit : free int
            flow limit <- number
            flow __slots__ <- []
            type receiver self.owner : free Owner
            flow receiver self.owner <- parameter owner
            flow receiver self._hidden <- item(parameter owner.split(), 0)
            flow receiver self.pair <- item(parameter owner.split(), 1)
            flow receiver self.owner <- null
            return Thing.size <- receiver self._size()
            return Thing.make <- receiver cls(*=parameter a)
            return Thing.plain <- parameter x
            type parameter x : free int
            return Thing.over <- Thing.limit
            inherit Base in Thing @3:12
            type free mod in Thing @3:18
            inherit free mod.Mixin in Thing @3:22
            type free T in Thing @3:28
            read free Meta @3:42
            type free ClassVar in Thing @4:11
            type free int in Thing @4:20
            write receiver self.owner in Thing.__init__ @8:13
            type free Owner in Thing.__init__ @8:20
            write receiver self._hidden in Thing.__init__ @9:13
            write receiver self.pair in Thing.__init__ @9:27
            call parameter owner.split in Thing.__init__ @9:40
            write receiver self.owner in Thing.__init__ @10:13
            decorate free property in Thing @12:5
            call receiver self._size in Thing.size @13:32
            read size in Thing @14:5
            decorate size.setter in Thing @14:10
            decorate free classmethod in Thing @16:5
            call receiver cls /255 in Thing.make @17:30
            decorate free staticmethod in Thing @18:5
            read free abc in Thing @20:5
            decorate free abc.abstractmethod in Thing @20:9
            call free super in Thing.must @21:20
            call super.must in Thing.must @21:28
            call free super /2 in Thing.must @21:36
            read Thing in Thing.must @21:42
            call super.other in Thing.must @21:55
            read free typing in Thing @22:5
            decorate free typing.overload in Thing @22:12
            type free int in Thing.over @23:22
            read free limit in Thing.over @24:23
            read Thing in Thing.over @24:37
            read Thing.limit in Thing.over @24:43
        "#]],
    );
}

#[test]
fn kinds_of_classes() {
    python(
        r#"
@dataclass(frozen=True)
class Point:
    x: int
    y: int = 0
class Color(enum.Enum):
    RED = 1
class Shape(Protocol):
    def area(self) -> float: ...
class TestThing(unittest.TestCase):
    def testOld(self): ...
    def test_new(self): ...
    def helper(self): ...
def test_free(): ...
type Alias[T] = list[T] | None
class Box[T: Base]:
    def get(self) -> T: ...
"#,
        expect![[r#"
            struct Point @2-5 "class Point" @free dataclass(frozen=boolean)
            field Point.x @4-4 "x: int" -> free int
            field Point.y @5-5 "y: int = 0" -> free int
            enum Color @6-7 "class Color(enum.Enum)" extends free enum.Enum
            enummember Color.RED @7-7 "RED = 1"
            interface Shape @8-9 "class Shape(Protocol)" extends free Protocol
            method Shape.area @9-9 "def area(self) -> float" (receiver self) -> free float
            class TestThing @10-13 "class TestThing(unittest.TestCase)" extends free unittest.TestCase
            method TestThing.testOld test @11-11 "def testOld(self)" (receiver self)
            method TestThing.test_new test @12-12 "def test_new(self)" (receiver self)
            method TestThing.helper @13-13 "def helper(self)" (receiver self)
            function test_free test @14-14 "def test_free()"
            typealias Alias @15-15 "type Alias[T] = list[T] | None" -> any(free list<free T>, null)
            class Box @16-17 "class Box[T: Base]"
            method Box.get @17-17 "def get(self) -> T" (receiver self) -> typeparameter T
            type x : free int
            type y : free int
            flow y <- number
            flow RED <- number
            type typeparameter T : free Base
            decorate free dataclass /1 @2:1
            type free int in Point @4:7
            type free int in Point @5:7
            type free enum in Color @6:12
            inherit free enum.Enum in Color @6:17
            inherit free Protocol in Shape @8:12
            type free float in Shape.area @9:22
            type free unittest in TestThing @10:16
            inherit free unittest.TestCase in TestThing @10:25
            type free list @15:16
            type free T @15:21
            type free Base in Box @16:13
        "#]],
    );
}

#[test]
fn imports_of_every_form() {
    python(
        r#"
import a
import a.b.c, d.e as de
from . import sibling
from ..pkg.mod import x as y, z
from lib import *
try:
    import fast as impl
except ImportError:
    import slow as impl
if TYPE_CHECKING:
    from types import T
else:
    T = None
def f():
    import late
    late.go()
    m = importlib.import_module("plugins.one")
    m.run()
a.b.c.go(); de.go(); y(); impl.go()
__all__ = ["f", "y"]
__all__ += ("impl",)
"#,
        expect![[r#"
            import Module a as a reexported @2:7
            import Module a.b.c as a reexported @3:7
            import Module d.e as de reexported @3:14
            import Member . member sibling as sibling reexported @4:14
            import Member ..pkg.mod member x as y reexported @5:22
            import Member ..pkg.mod member z as z reexported @5:30
            import Wildcard lib reexported @6:16
            import Module fast as impl reexported @8:11
            import Module slow as impl reexported @10:11
            import Member types member T as T reexported type-only @12:22
            import Module late as late in f @16:11
            function f exported @15-19 "def f()"
            variable __all__ @21-21 "__all__ = [\"f\", \"y\"]"
            export f = f
            export y = import y
            export impl = import impl
            flow import a <- import 
            flow maybe import impl <- import 
            flow maybe import T <- null
            flow local m <- module "plugins.one"
            flow __all__ <- ["f", "y"]
            flow __all__ <- [*=__all__, *=["impl"]]
            type free ImportError @9:7
            read free TYPE_CHECKING @11:3
            write import T @14:4
            read import late in f @17:4
            call import late.go in f @17:9
            read free importlib in f @18:8
            call free importlib.import_module /1 in f @18:18
            call local m.run in f @19:6
            read import a @20:0
            read import a.b @20:2
            read import a.b.c @20:4
            call import a.b.c.go @20:6
            read import de @20:12
            call import de.go @20:15
            call import y @20:21
            read import impl @20:26
            call import impl.go @20:31
            read __all__ @22:0
            write __all__ @22:0
        "#]],
    );
}

#[test]
fn names_bind_where_python_says() {
    python(
        r#"
total = 0
def outer():
    count = 0
    def inner():
        global total
        nonlocal count
        total = total + later()
        count = use(count)
    return inner
class C:
    helper = 1
    def method(self):
        helper()
        return [helper for helper in self.items if check(helper)]
    direct = helper
def later(): return 1
"#,
        expect![[r#"
            variable total @2-2 "total = 0"
            function outer @3-10 "def outer()"
            function outer.inner @5-9 "def inner()"
            class C @11-16 "class C"
            field C.helper @12-12 "helper = 1"
            method C.method @13-15 "def method(self)" (receiver self)
            field C.direct @16-16 "direct = helper"
            function later @17-17 "def later()"
            flow total <- number
            flow local count <- number
            flow local count <- free use(local count)
            return outer <- inner
            flow helper <- number
            flow local helper <- element(receiver self.items)
            return C.method <- [local helper]
            flow direct <- helper
            return later <- number
            write total in outer.inner @8:8
            read total in outer.inner @8:16
            call later in outer.inner @8:24
            call free use /1 in outer.inner @9:16
            read inner in outer @10:11
            call free helper in C.method @14:8
            implicit receiver self.items.__iter__ in C.method @15:37
            implicit any(receiver self.items.__iter__(), receiver self.items).__next__ in C.method @15:37
            read receiver self.items in C.method @15:42
            call free check /1 in C.method @15:51
            read helper in C @16:13
        "#]],
    );
}

#[test]
fn values_move() {
    python(
        r#"
def f(items, cb=print):
    a, (b, *rest) = items
    first = second = cb
    for i, (k, v) in enumerate(items): v(k)
    with open("x") as fh, lock: fh.read()
    with (yield) as (p, q): p(q)
    try: g()
    except (KeyError, errors.Bad) as e: e.report()
    if (n := g()) is not None: n()
    table = {"a": f, **items, "b": [g, lambda: 1]}
    table["a"](1)
    table["b"][0]()
    table["c"] = g
    x = g if cb else f
    y = x or cb
    z: Optional["Later"] = cast("Target", y)
    getattr(z, "run")()
    del a
    return table, y
    yield from rest
"#,
        expect![[r#"
            function f generator @2-21 "def f(items, cb=print)" (items, cb = print)
            lambda f.<lambda1> @11-11 "lambda"
            flow maybe parameter cb <- free print
            flow local a <- item(parameter items, 0)
            flow local b <- item(item(parameter items, 1), 0)
            flow local rest <- [*=item(parameter items, 1)]
            flow local second <- parameter cb
            flow local first <- parameter cb
            flow maybe local i <- item(element(free enumerate(parameter items)), 0)
            flow maybe local k <- item(item(element(free enumerate(parameter items)), 1), 0)
            flow maybe local v <- item(item(element(free enumerate(parameter items)), 1), 1)
            flow local fh <- entered(free open("x"))
            yield f <- ?
            flow maybe local e <- a any(free KeyError, free errors.Bad)
            flow maybe local n <- free g()
            return f.<lambda1> <- number
            flow local table <- {"a": f, **=parameter items: **=parameter items, "b": [free g, def f.<lambda1>]}
            flow local table[c] <- free g
            flow local x <- any(free g, f)
            flow local y <- any(local x, parameter cb)
            type local z : &free Later
            flow local z <- a free Target
            return f <- [local table, local y]
            yield f <- element(local rest)
            read free print @2:16
            call free enumerate /1 in f @5:21
            implicit free enumerate(parameter items).__iter__ in f @5:21
            implicit any(free enumerate(parameter items).__iter__(), free enumerate(parameter items)).__next__ in f @5:21
            call local v /1 in f @5:39
            call free open /1 in f @6:9
            implicit free open("x").__enter__ in f @6:9
            implicit free open("x").__exit__ in f @6:9
            read free lock in f @6:26
            implicit free lock.__enter__ in f @6:26
            implicit free lock.__exit__ in f @6:26
            call local fh.read in f @6:35
            call local p /1 in f @7:28
            call free g in f @8:9
            type free KeyError in f @9:12
            type free errors in f @9:22
            type free errors.Bad in f @9:29
            call local e.report in f @9:42
            call free g in f @10:13
            call local n in f @10:31
            read f in f @11:18
            read free g in f @11:36
            call local table[a] /1 in f @12:4
            call local table[b][0] in f @13:4
            read free g in f @14:17
            read free g in f @15:8
            read f in f @15:21
            type free Optional in f @17:7
            type free Later in f @17:17
            call free cast /2 in f @17:27
            type free Target in f @17:33
            call free getattr /2 in f @18:4
            call local z.run in f @18:4
        "#]],
    );
}

#[test]
fn comprehensions_and_calls() {
    python(
        r#"
squares = [f(x) for x in xs if ok(x)]
pairs = {k: v() for k, v in table.items()}
total = sum(g(y) for y in squares)
run(*args, key=value, **options)
run(*a)(b)(c)
"text {}".format(run)
f"{run(1)} {name!r}"
a < run() and not run(2)
"#,
        expect![[r#"
            variable squares @2-2 "squares = [f(x) for x in xs if ok(x)]"
            variable pairs @3-3 "pairs = {k: v() for k, v in table.items()}"
            variable total @4-4 "total = sum(g(y) for y in squares)"
            flow local x <- element(free xs)
            flow squares <- [free f(local x)]
            flow local k <- item(element(free table.items()), 0)
            flow local v <- item(element(free table.items()), 1)
            flow pairs <- {local k: local v()}
            flow local y <- element(squares)
            flow total <- free sum([free g(local y)])
            call free f /1 @2:11
            read free xs @2:25
            implicit free xs.__iter__ @2:25
            implicit any(free xs.__iter__(), free xs).__next__ @2:25
            call free ok /1 @2:31
            call local v @3:12
            read free table @3:28
            implicit free table.items().__iter__ @3:28
            implicit any(free table.items().__iter__(), free table.items()).__next__ @3:28
            call free table.items @3:34
            call free sum /1 @4:8
            call free g /1 @4:12
            read squares @4:26
            implicit squares.__iter__ @4:26
            implicit any(squares.__iter__(), squares).__next__ @4:26
            call free run /255 @5:0
            read free args @5:5
            read free value @5:15
            read free options @5:24
            call free run /255 @6:0
            call free run(*=free a) /1 @6:0
            call free run(*=free a)(free b) /1 @6:0
            read free a @6:5
            read free b @6:8
            read free c @6:11
            call "text {}".format /1 @7:10
            read free run @7:17
            call free run /1 @8:3
            read free name @8:12
            read free a @9:0
            call free run @9:4
            call free run /1 @9:18
        "#]],
    );
}

#[test]
fn matching() {
    python(
        r#"
def f(command):
    match command:
        case Point(x=px, y=Point() as inner): px(inner)
        case [first, *others] if ok(first): others()
        case {"key": value, **rest}: value(rest)
        case mod.CONST | None: pass
        case str(text) | other_name: text()
        case _: pass
"#,
        expect![[r#"
            function f @2-9 "def f(command)" (command)
            flow maybe local px <- a free Point.x
            flow maybe local first <- item(parameter command, 0)
            flow maybe local others <- item(parameter command, 1)
            flow maybe local other_name <- parameter command
            type free Point in f @4:13
            type free Point in f @4:27
            call local px /1 in f @4:46
            call free ok /1 in f @5:33
            call local others in f @5:44
            call local value /1 in f @6:37
            read free rest in f @6:43
            read free mod in f @7:13
            read free mod.CONST in f @7:17
            type free str in f @8:13
            call local text in f @8:37
        "#]],
    );
}

#[test]
fn decorators_and_entry_point() {
    python(
        r#"
@app.route("/x", methods=["GET"])
@cached
def view(request): return render(request)
# Doubles.
def double(f): return f
@double
class Marked: ...
if __name__ == "__main__":
    view(None)
"#,
        expect![[r#"
            function view entry @2-4 "def view(request)" (request) @free app.route("/x", methods=["GET"]) @free cached
            function double @6-6 "def double(f)" (f) doc "Doubles."
            class Marked @7-8 "class Marked" @double
            return view <- free render(parameter request)
            return double <- parameter f
            read free app @2:1
            decorate free app.route /2 @2:5
            decorate free cached @3:1
            call free render /1 in view @4:26
            decorate double @7:1
            read free __name__ @9:3
            call view /1 @10:4
        "#]],
    );
}

#[test]
fn annotations() {
    python(
        r#"
def f(a: Optional[A], b: Union[B, "C"], c: D | None, d: "dict[str, E.F]", e: Callable[[G], H], g: Annotated[I, "x"], h: type[J]) -> "K | L": ...
x: M
y: "N" = None
"#,
        expect![[r#"
            function f @2-2 "def f(a: Optional[A], b: Union[B, \"C\"], c: D | None, d: \"dict[str, E.F]\", e: Callable[[G], H], g: Annotated[I, \"x\"], h: type[J]) -> \"K | L\"" (a: &free A, b: any(free B, free C), c: any(free D, null), d: free dict<free str, free E.F>, e: free Callable<[free G], free H>, g: free I, h: free type<free J>) -> any(free K, free L)
            variable x @3-3 "x: M" -> free M
            variable y @4-4 "y: \"N\" = None" -> free N
            type parameter a : &free A
            type parameter b : any(free B, free C)
            type parameter c : any(free D, null)
            type parameter d : free dict<free str, free E.F>
            type parameter e : free Callable<[free G], free H>
            type parameter g : free I
            type parameter h : free type<free J>
            type x : free M
            type y : free N
            flow y <- null
            type free Optional in f @2:9
            type free A in f @2:18
            type free Union in f @2:25
            type free B in f @2:31
            type free C in f @2:35
            type free D in f @2:43
            type free dict in f @2:57
            type free str in f @2:62
            type free E in f @2:67
            type free E.F in f @2:69
            type free Callable in f @2:77
            type free G in f @2:87
            type free H in f @2:91
            type free Annotated in f @2:98
            type free I in f @2:108
            type free type in f @2:120
            type free J in f @2:125
            type free K in f @2:133
            type free L in f @2:137
            type free M @3:3
            type free N @4:4
        "#]],
    );
}

#[test]
fn module_documentation_and_generated_files() {
    python(
        "# @generated by a program\n'''What it is. And more.'''\nx = 1\n",
        expect![[r#"
        doc "What it is."
        variable x @3-3 "x = 1"
        flow x <- number
    "#]],
    );
    let language = syntax::languages::by_name("python").expect("python");
    assert!(syntax::extract(language, "# @generated by a program\n").generated);
    assert!(syntax::extract(language, "# Code generated by x. DO NOT EDIT.\n").generated);
    assert!(!syntax::extract(language, "generated = 1\n").generated);
}
