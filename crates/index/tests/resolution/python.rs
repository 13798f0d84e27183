//! Python: names, imports, values, classes.

use crate::common::{check, check_calls};
use index::model::EdgeKind;

macro_rules! calls {
    ($($(#[$meta:meta])* $name:ident: $fixture:expr;)*) => {$(
        $(#[$meta])*
        #[test]
        fn $name() {
            check_calls($fixture);
        }
    )*};
}

// Direct calls and imports.
calls! {
    call_through_an_import_alias: r#"
//- app.py
from lib import greet as hi

def main():
    hi()
#   ^^ =calls lib.py:greet
//- lib.py
def greet(): ...
#   ^^^^^ def
"#;
    call_through_a_module: r#"
//- app.py
import pkg.tools
import pkg.tools as short
from pkg import tools
import pkg

pkg.tools.run()
#         ^^^ =calls pkg/tools.py:run
short.run()
#     ^^^ =calls pkg/tools.py:run
tools.run()
#     ^^^ =calls pkg/tools.py:run
pkg.again()
#   ^^^^^ =calls pkg/tools.py:run
//- pkg/__init__.py
from .tools import run as again
//- pkg/tools.py
def run(): ...
"#;
    relative_imports_and_wildcards: r#"
//- a/b/c.py
from ..x import f
from . import sibling
from .sibling import *
from .. import x

f()
# <- =calls a/x.py:f
sibling.g()
#       ^ =calls a/b/sibling.py:g
g()
# <- calls a/b/sibling.py:g
x.f()
# ^ calls a/x.py:f
//- a/b/__init__.py
//- a/__init__.py
//- a/x.py
def f(): ...
//- a/b/sibling.py
def g(): ...
"#;
    an_import_is_no_call: r#"
//- app.py
from lib import f
from lib import g as h
import lib
//- lib.py
def f(): ...
def g(): ...
"#;
    external_names_stay_external: r#"
//- app.py
import os
from json import dumps
import requests.sessions as s

def join(): ...
def get(): ...

os.path.join("a")
#       ^^^^ calls py:os::path.join
dumps({})
# <- calls py:json::dumps
s.Session().get("x")
# ^^^^^^^ calls py:requests.sessions::Session
len([])
# <- calls py:builtins::len
undefined_name()
unknown.get()
"#;
    import_inside_a_function_and_a_try: r#"
//- app.py
try:
    from fast import work
except ImportError:
    from slow import work

def main():
    from slow import only
    only()
#   ^^^^ calls slow.py:only
    work()
#   ^^^^ calls slow.py:work, fast.py:work
//- fast.py
def work(): ...
//- slow.py
def work(): ...
def only(): ...
"#;
    reexport_chain_and_all: r#"
//- app.py
from top import deep, listed
deep()
# <- calls top/mid/low.py:deep
listed()
# <- calls top/mid/low.py:listed
//- top/__init__.py
from .mid import *
__all__ = ["deep", "listed"]
//- top/mid/__init__.py
from .low import deep
from .low import *
//- top/mid/low.py
def deep(): ...
def listed(): ...
"#;
    a_listed_name_means_all_its_definitions: r#"
//- app.py
from pkg import signals, lock
signals.send()
#       ^^^^ calls pkg/signals.py:send
lock()
# <- calls pkg/__init__.py:lock
//- pkg/__init__.py
from pkg import signals
__all__ = ["signals", "lock"]
if signals:
    def lock(): ...
else:
    def lock(): ...
//- pkg/signals.py
def send(): ...
"#;
    a_circular_import_ends: r#"
//- a.py
from b import g
def f():
    g()
#   ^ calls b.py:g
//- b.py
from a import f
def g():
    f()
#   ^ calls a.py:f
"#;
}

// Assignments.
calls! {
    assigned_function: r#"
//- main.py
def func(): ...
a = func
a()
# <- ~calls main.py:func
b = a
b()
# <- ~calls main.py:func
c = d = func
c()
# <- calls main.py:func
d()
# <- calls main.py:func
"#;
    rebinding_kills: r#"
//- main.py
def f(): ...
def g(): ...
a = f
a()
# <- calls main.py:f
a = g
a()
# <- calls main.py:g
"#;
    a_branch_keeps_both: r#"
//- main.py
import sys
def f(): ...
def g(): ...
a = f
if sys.argv:
    a = g
a()
# <- calls main.py:f, main.py:g
"#;
    tuples_and_starred: r#"
//- main.py
def f(): ...
def g(): ...
def h(): ...
a, b = f, g
a()
# <- calls main.py:f
b()
# <- calls main.py:g
(c, (d, e)) = (f, (g, h))
c()
# <- calls main.py:f
d()
# <- calls main.py:g
e()
# <- calls main.py:h
x = [f, g, h]
p, q, r = x
p()
# <- calls main.py:f
r()
# <- calls main.py:h
"#;
    wrapped_old_value: r#"
//- main.py
def f(): ...
def other(): ...
def keep(x):
    return x
f = keep(f)
# ^^^^^^ none
#   ^^^^ calls main.py:keep
f()
# <- calls main.py:f
"#;
    conditional_expression_and_or: r#"
//- main.py
def f(): ...
def g(): ...
a = f if x else g
a()
# <- calls main.py:f, main.py:g
b = None or g
b()
# <- calls main.py:g
"#;
    walrus_and_global: r#"
//- main.py
def f(): ...
def g(): ...
handler = None
def setup():
    global handler
    handler = f
def run():
    handler()
#   ^^^^^^^ calls main.py:f
if (n := g):
    n()
#   ^ calls main.py:g
"#;
    redefinition: r#"
//- main.py
def f(): ...
def first(): ...
def f():
    first()
#   ^^^^^ calls main.py:first
f()
# <- calls main.py:f
"#;
}

// Arguments, keyword arguments, returns.
calls! {
    a_function_passed_and_called: r#"
//- main.py
def f(): ...
def call(g):
    g()
#   ^ ~calls main.py:f
call(f)
# <- calls main.py:call
"#;
    passed_through_two_functions_and_files: r#"
//- main.py
from lib import outer
def f(): ...
outer(f)
# <- calls lib.py:outer
//- lib.py
def inner(g):
    g()
#   ^ calls main.py:f
def outer(h):
    inner(h)
#   ^^^^^ calls lib.py:inner
"#;
    keyword_arguments: r#"
//- main.py
def f(): ...
def g(): ...
def call(a, b=g, *, c=None):
    a()
#   ^ calls main.py:f
    b()
#   ^ calls main.py:g, main.py:f
    c()
#   ^ calls main.py:g
call(a=f, c=g)
# <- calls main.py:call
call(f, f)
# <- calls main.py:call
"#;
    spread_arguments: r#"
//- main.py
def f(): ...
def g(): ...
def call(a, b):
    a()
#   ^ calls main.py:f
    b()
#   ^ calls main.py:g
args = [f, g]
call(*args)
# <- calls main.py:call
call(**{"a": f, "b": g})
# <- calls main.py:call
"#;
    rest_parameters: r#"
//- main.py
def f(): ...
def g(): ...
def call(*args, **kwargs):
    args[0]()
#   ^^^^ calls main.py:f
    for each in args:
        each()
#       ^^^^ calls main.py:f
    kwargs["k"]()
#   ^^^^^^ calls main.py:g
call(f, k=g)
# <- calls main.py:call
"#;
    returned_functions: r#"
//- main.py
def f(): ...
def give():
    return f
give()()
# <- calls main.py:give, main.py:f
x = give()
#   ^^^^ calls main.py:give
x()
# <- ~calls main.py:f
def pair():
    return f, give
a, b = pair()
#      ^^^^ calls main.py:pair
a()
# <- calls main.py:f
b()
# <- calls main.py:give
"#;
    identity_is_not_mixed_up: r#"
//- main.py
def f(): ...
def g(): ...
def same(x):
    return x
a = same(f)
#   ^^^^ calls main.py:same
b = same(g)
#   ^^^^ calls main.py:same
a()
# <- calls main.py:f
b()
# <- calls main.py:g
"#;
    closures: r#"
//- main.py
def outer():
    def inner():
        helper()
#       ^^^^^^ calls main.py:helper
    return inner
def helper(): ...
outer()()
# <- calls main.py:outer, main.py:outer.inner
fn = outer()
#    ^^^^^ calls main.py:outer
fn()
# <- calls main.py:outer.inner
def counter(step):
    def advance():
        step()
#       ^^^^ calls main.py:helper
    return advance
counter(helper)
# <- calls main.py:counter
"#;
    lambdas: r#"
//- main.py
def f(): ...
x = lambda: f()
#           ^ calls main.py:f
x()
y = lambda g: g()
#             ^ calls main.py:f
y(f)
"#;
}

// Containers.
calls! {
    lists: r#"
//- main.py
def f(): ...
def g(): ...
a = [f, g]
a[0]()
# <- calls main.py:f
for each in a:
    each()
#   ^^^^ calls main.py:f, main.py:g
b = []
b.append(g)
b[0]()
# <- calls main.py:g
c = [x for x in a]
for y in c:
    y()
#   ^ calls main.py:f, main.py:g
"#;
    dictionaries: r#"
//- main.py
def f(): ...
def g(): ...
def h(): ...
d = {"f": f, "g": g}
one = d["f"]
one()
# <- calls main.py:f, main.py:g
d["h"] = h
two = d["h"]
two()
# <- calls main.py:h
three = d.get("g")
three()
# <- calls main.py:g
for key, value in d.items():
    value()
#   ^^^^^ calls main.py:f, main.py:g, main.py:h
# FIXME: contents are not killed, so the later `g` is seen by the earlier use as well.
d["f"] = g
nested = {"a": {"b": f}}
deep = nested["a"]["b"]
deep()
# <- calls main.py:f
"#;
    registry_in_another_file: r#"
//- registry.py
HANDLERS = {}
def register(name, handler):
    HANDLERS[name] = handler
def run(name):
    handler = HANDLERS[name]
    handler()
#   ^^^^^^^ calls app.py:on_start
//- app.py
from registry import register
def on_start(): ...
register("start", on_start)
# <- calls registry.py:register
"#;
}

// Classes.
calls! {
    construct_and_call: r#"
//- main.py
class A:
    def __init__(self):
        self.setup()
#            ^^^^^ =calls main.py:A.setup
    def setup(self): ...
a = A()
#   ^ =calls main.py:A.__init__
a.setup()
# ^^^^^ =calls main.py:A.setup
A().setup()
# <- calls main.py:A.__init__
#   ^^^^^ calls main.py:A.setup
"#;
    inherited_members_and_super: r#"
//- main.py
class A:
    def __init__(self): ...
    def f(self): ...
    def g(self): ...
class B(A):
    def __init__(self):
        super().__init__()
#               ^^^^^^^^ =calls main.py:A.__init__
    def g(self):
        super().g()
#               ^ calls main.py:A.g
        self.f()
#            ^ =calls main.py:A.f
b = B()
#   ^ calls main.py:B.__init__
b.f()
# ^ calls main.py:A.f
b.g()
# ^ calls main.py:B.g
"#;
    method_resolution_order: r#"
//- main.py
class Base:
    def who(self): ...
class Left(Base):
    pass
class Right(Base):
    def who(self): ...
class Bottom(Left, Right):
    pass
Bottom().who()
#        ^^^ calls main.py:Right.who
"#;
    the_base_calls_the_child: r#"
//- main.py
class A:
    def __init__(self):
        self.child()
#            ^^^^^ calls main.py:B.child
class B(A):
    def child(self): ...
B()
# <- calls main.py:A.__init__
"#;
    attributes_hold_values: r#"
//- main.py
def f(): ...
class Engine:
    def start(self): ...
class Car:
    default = f
    def __init__(self, engine):
        self.engine = Engine()
#                     ^^^^^^ none
        self.given = engine
        self.callback = f
    def go(self):
        self.engine.start()
#                   ^^^^^ calls main.py:Engine.start
        self.given.start()
#                  ^^^^^ calls main.py:Engine.start
        self.callback()
#            ^^^^^^^^ calls main.py:f
car = Car(Engine())
#     ^^^ calls main.py:Car.__init__
car.callback()
#   ^^^^^^^^ calls main.py:f
car.engine.start()
#          ^^^^^ calls main.py:Engine.start
"#;
    static_and_class_methods: r#"
//- main.py
class A:
    @staticmethod
    def s(): ...
    @classmethod
    def c(cls):
        cls.s()
#           ^ calls main.py:A.s
        return cls()
    @classmethod
    def build(cls):
        made = cls.c()
#                  ^ calls main.py:A.c
        made.m()
#            ^ calls main.py:A.m
    def m(self): ...
A.s()
# ^ calls main.py:A.s
A.c().m()
# ^ calls main.py:A.c
#     ^ calls main.py:A.m
A().s()
#   ^ calls main.py:A.s
"#;
    properties: r#"
//- main.py
class Engine:
    def start(self): ...
class Car:
    @property
    def engine(self):
        return Engine()
    @property
    def typed(self) -> Engine: ...
Car().engine.start()
#     ^^^^^^ calls main.py:Car.engine
#            ^^^^^ calls main.py:Engine.start
Car().typed.start()
#     ^^^^^ calls main.py:Car.typed
#           ^^^^^ =calls main.py:Engine.start
"#;
    annotations: r#"
//- main.py
from typing import Optional, List, Dict, Type, Union
from other import Thing
def f(a: Thing, b: "Thing", c: Optional[Thing], d: List[Thing], e: Dict[str, Thing], g: Type[Thing], h: Thing | None):
    a.run()
#     ^^^ =calls other.py:Thing.run
    b.run()
#     ^^^ =calls other.py:Thing.run
    c.run()
#     ^^^ =calls other.py:Thing.run
    for x in d:
        x.run()
#         ^^^ =calls other.py:Thing.run
    e["k"].run()
#          ^^^ calls other.py:Thing.run
    g().run()
#       ^^^ calls other.py:Thing.run
    h.run()
#     ^^^ calls other.py:Thing.run
    i: Thing = unknown()
    i.run()
#     ^^^ calls other.py:Thing.run
    make().run()
#   ^^^^ calls main.py:make
#          ^^^ =calls other.py:Thing.run
def make() -> Thing: ...
//- other.py
class Thing:
    def run(self): ...
"#;
    fluent_calls_keep_the_class: r#"
//- main.py
class Query:
    def filter(self):
        return self
    def all(self):
        return self.filter()
#                   ^^^^^^ calls main.py:Query.filter
class Special(Query):
    def extra(self): ...
Special().filter().extra()
#         ^^^^^^ calls main.py:Query.filter
#                  ^^^^^ calls main.py:Special.extra
"#;
    callable_instances_and_context_managers: r#"
//- main.py
class Task:
    def __call__(self): ...
    def __enter__(self):
        return self
    def __exit__(self, *args): ...
    def step(self): ...
task = Task()
task()
# <- calls main.py:Task.__call__
with Task() as t:
#    ^^^^ calls main.py:Task.__enter__, main.py:Task.__exit__
    t.step()
#     ^^^^ calls main.py:Task.step
"#;
    bound_methods_travel: r#"
//- main.py
class A:
    def m(self):
        self.n()
#            ^ calls main.py:A.n
    def n(self): ...
a = A()
f = a.m
f()
# <- calls main.py:A.m
def call(g):
    g()
#   ^ calls main.py:A.n
call(a.n)
# <- calls main.py:call
"#;
    a_foreign_base_answers_for_what_is_missing: r#"
//- main.py
from outside import Base
def save(): ...
class Other:
    def save(self): ...
class A(Base):
    def m(self):
        self.save()
        super().save()
"#;
    nested_classes: r#"
//- main.py
class Outer:
    class Inner:
        def f(self): ...
    def g(self):
        return Outer.Inner()
Outer.Inner().f()
#             ^ calls main.py:Outer.Inner.f
Outer().g().f()
#       ^ calls main.py:Outer.g
#           ^ calls main.py:Outer.Inner.f
"#;
}

// Decorators, generators, exceptions, built-ins.
calls! {
    decorators: r#"
//- main.py
def deco(f):
    def inner():
        f()
#       ^ calls main.py:func
    return inner
@deco
#^^^^ calls main.py:deco
def func(): ...
func()
# <- calls main.py:func, main.py:deco.inner
"#;
    decorator_with_arguments: r#"
//- main.py
def outer(name):
    def deco(f):
        def inner():
            return f()
#                  ^ calls main.py:func
        return inner
    return deco
@outer("x")
#^^^^^ calls main.py:outer, main.py:outer.deco
def func(): ...
func()
# <- calls main.py:func, main.py:outer.deco.inner
"#;
    decorator_that_returns_its_argument: r#"
//- main.py
def register(cls):
    return cls
@register
#^^^^^^^^ calls main.py:register
class A:
    def m(self): ...
@register
#^^^^^^^^ calls main.py:register
class B:
    def m(self): ...
A().m()
#   ^ calls main.py:A.m
B().m()
#   ^ calls main.py:B.m
"#;
    generators: r#"
//- main.py
def f(): ...
def g(): ...
def gen():
    yield f
    yield g
for x in gen():
#        ^^^ calls main.py:gen
    x()
#   ^ calls main.py:f, main.py:g
class It:
    def __iter__(self):
        return self
    def __next__(self):
        return f
for y in It():
#        ^^^^ calls main.py:It.__iter__, main.py:It.__next__
    y()
#   ^ calls main.py:f
"#;
    exceptions: r#"
//- main.py
class Broken(Exception):
    def explain(self): ...
def f():
    raise Broken()
try:
    f()
#   ^ calls main.py:f
except Broken as error:
    error.explain()
#         ^^^^^^^ calls main.py:Broken.explain
"#;
    higher_order_built_ins: r#"
//- main.py
import functools
def f(x): ...
def g(): ...
map(f, [1])
# <- calls main.py:f
sorted([], key=f)
# <- calls main.py:f
p = functools.partial(f, 1)
p()
# <- calls main.py:f
for i, h in enumerate([g]):
    h()
#   ^ calls main.py:g
for a, b in zip([f], [g]):
    b()
#   ^ calls main.py:g
getattr(main, "x")
"#;
}

#[test]
fn structure_edges() {
    check(
        r#"
//- base.py
class Base:
    def run(self): ...
limit = 3
//- main.py
import base
from base import Base, limit
# ^^^^ none
#                ^^^^ none
class Child(Base):
#     ^^^^^ extends base.py:Base; instantiates_not
    def run(self):
#       ^^^ overrides base.py:Base.run
        return limit + base.limit
#              ^^^^^ reads base.py:limit
#                           ^^^^^ reads base.py:limit
made = Child()
#      ^^^^^ instantiates main.py:Child
"#
        .replace("; instantiates_not", "")
        .as_str(),
        &[
            EdgeKind::Extends,
            EdgeKind::Overrides,
            EdgeKind::Reads,
            EdgeKind::Instantiates,
        ],
    );
}

#[test]
fn decorated_edges_start_at_what_is_decorated() {
    check(
        r#"
//- main.py
def deco(f): ...
def named(x): ...
@deco
#^^^^ decorated main.py:deco
@named("x")
#^^^^^ decorated main.py:named
def func(): ...
"#,
        &[EdgeKind::Decorated],
    );
}

#[test]
fn import_and_test_edges() {
    check(
        r#"
//- lib.py
def work(): ...
//- test_lib.py
import os
# <- none
#      ^^ imports py:os
from lib import work
#               ^^^^ imports lib.py; imports lib.py:work
def test_work():
    work()
#   ^^^^ tests lib.py:work
"#,
        &[EdgeKind::Imports, EdgeKind::Tests],
    );
}
