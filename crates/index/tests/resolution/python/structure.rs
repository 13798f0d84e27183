//! Python: edges that are not calls: containment, inheritance, decoration, imports, tests.

use crate::common::check;
use index::model::EdgeKind;

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
#           ^^^^ extends base.py:Base
    def run(self):
#       ^^^ overrides base.py:Base.run
        return limit + base.limit
#              ^^^^^ reads base.py:limit
#                           ^^^^^ reads base.py:limit
made = Child()
#      ^^^^^ instantiates main.py:Child
"#,
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
