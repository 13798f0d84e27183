//! Python: what names and containers hold.

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
    what_callers_pass_counts_beside_what_a_library_gives: r#"
//- a.py
import library
class Local:
    def send(self): pass
class Other:
    def send(self): pass
def use(session):
    if not session:
        session = library.Session()
    session.send()
    #       ^^^^ calls a.py:Local.send
def alone():
    session = library.Session()
    session.send()
    #       ^^^^ none
use(Local())
# <- calls a.py:use
"#;
    what_is_put_behind_a_list_is_not_before: r#"
//- main.py
def f(): ...
def g(): ...
def h(): ...
some = [f, g]
some.append(h)
some[0]()
# <- calls main.py:f
some[1]()
# <- calls main.py:g
some[2]()
# <- calls main.py:h
shifted = [f]
shifted.insert(0, g)
shifted[0]()
# <- calls main.py:f, main.py:g
first, second = some[:2]
for each in some:
    each()
#   ^^^^ calls main.py:f, main.py:g, main.py:h
"#;
    each_loop_has_its_own_elements: r#"
//- main.py
def f(): ...
def g(): ...
each = None
for each in [f]:
    each()
#   ^^^^ calls main.py:f
for each in [g]:
    each()
#   ^^^^ calls main.py:g
other = f
for other in [g]:
    pass
other()
# <- calls main.py:f, main.py:g
"#;
}
