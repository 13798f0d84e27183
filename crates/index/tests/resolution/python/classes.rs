//! Python: members, inheritance, constructors, instances as values.

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
    super_of_another_class_goes_on_after_it: r#"
//- main.py
class A:
    def f(self): ...
class B(A):
    def f(self): ...
class C(B):
    def f(self):
        super(B, self).f()
#                      ^ =calls main.py:A.f
        super(C, self).f()
#                      ^ =calls main.py:B.f
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
    one_heir_of_another_file_is_told_and_several_are_left_to_overrides: r#"
//- base.py
class Job:
    def run(self):
        self.first()
#            ^^^^^ calls base.py:Job.first, mail.py:Mail.first
        self.second()
#            ^^^^^^ calls base.py:Job.second
    def first(self): ...
    def second(self): ...
//- mail.py
from base import Job
class Mail(Job):
    def first(self): ...
    def second(self): ...
Mail().run()
#      ^^^ calls base.py:Job.run
//- page.py
from base import Job
class Page(Job):
    def second(self): ...
Page().run()
#      ^^^ calls base.py:Job.run
"#;
    doubles_of_tests_do_not_run_for_others: r#"
//- base.py
from abc import abstractmethod
class Store:
    @abstractmethod
    def load(self): ...
def use(store: Store):
    store.load()
#         ^^^^ calls base.py:Store.load, disk.py:Disk.load
//- disk.py
from base import Store
class Disk(Store):
    def load(self): ...
//- tests/fake.py
from base import Store, use
class Fake(Store):
    def load(self): ...
use(Fake())
# <- calls base.py:use
"#;
    a_followed_method_runs_without_what_decorators_elsewhere_put_before_it: r#"
//- wrap.py
def safe(function):
    def inner(*args):
        return function(*args)
#              ^^^^^^^^ calls db.py:Connection.close
    return inner
//- db.py
from wrap import safe
class Connection:
    @safe
    def close(self): ...
//- main.py
from db import Connection
def end(connection):
    connection.close()
#              ^^^^^ calls db.py:Connection.close
end(Connection())
# <- calls main.py:end
"#;
}
