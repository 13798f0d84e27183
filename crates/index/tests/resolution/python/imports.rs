//! Python: direct calls and what imports bring.

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
