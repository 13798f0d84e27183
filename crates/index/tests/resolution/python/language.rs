//! Python: what runs without being called by name: decorators, generators, exceptions, built-in functions.

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
