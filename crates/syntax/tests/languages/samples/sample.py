"""Module doc. More."""
import os.path, sys as system
from ..lib import greet as hi, other
from x import *
from typing import TYPE_CHECKING, Optional
if TYPE_CHECKING:
    from models import User

__all__ = ["Foo", "bar"]
LIMIT = 10
handlers = {"a": hi, "b": lambda x: x + 1}

@decorate(1)
class Foo(Base, metaclass=Meta):
    """A foo. Yes."""
    count: int = 0

    def __init__(self, user: "Optional[User]", *args, key: str = "x", **kwargs) -> None:
        self.user = user
        self._cb = args[0]
        self.user = None

    @property
    def name(self) -> str | None:
        return self.user.name

    @staticmethod
    def make(a, b=LIMIT):
        return Foo(a)

    async def run(self):
        async with self.open() as (f, g):
            await f.read()
        for i, (j, *k) in enumerate(self.items):
            k.append(i)
        super().run()
        return [c.x() for c in self.cs if c]

def bar(x):
    global counter
    counter = x
    def inner():
        nonlocal x
        x = 3
        yield x
        yield from other()
    try:
        import json
        y = json.loads(x)
    except (ValueError, os.error) as e:
        y = e.args
    match y:
        case Point(x=px, y=0): px()
        case [a, *rest] as whole: a(rest, whole)
        case other.CONST: pass
        case str() | None: pass
    if (n := y()) or x: n()
    handlers["a"](1)(2)
    return inner if x else hi

def test_it(): bar(1)
def bar(y): pass

if __name__ == "__main__":
    bar(sys.argv)
