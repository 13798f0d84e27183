//! Python: functions that are passed, returned and closed over.

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
