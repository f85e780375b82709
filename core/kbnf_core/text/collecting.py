"""Holding the collector of cyclic garbage back while a grammar is made.

Making one allocates containers by the ten thousand, nearly all of which live to the end or die by
their count. The collector looks through them again and again, a tenth of the time of large schemas,
and finds nothing. What a grammar can allocate is bounded by its limits of work.

After a pause, the collector makes up for it at the program's own turn: with one pass over the new
objects, as for any others, and over older ones where those are due. To look through the new ones at
once took 5 to 14 % of a first request and found nothing.

What grammars and their masks are made of contains nothing that contains it, so that all of it goes
with its last user: a circle would wait for a pass through the whole heap, and that comes rarely.

Tests: tests/unit/text/test_collecting.py
"""

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from types import MethodType
from typing import Any, ParamSpec, TypeVar, cast
from weakref import ref

P = ParamSpec("P")
T = TypeVar("T")


@contextmanager
def without_collecting() -> Iterator[None]:
    """Turn the collector off, and on again where it was on; other threads do without it, too."""
    was_enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_enabled:
            gc.enable()


def weakly(method: Callable[P, T]) -> Callable[P, T]:
    """Return a function that calls a method of an object that owns it, and must be alive then."""
    bound = cast(MethodType, method)
    return partial(_call, ref(bound.__self__), bound.__func__)


def _call(weak: "ref[Any]", function: Callable[..., T], *args: Any, **kwargs: Any) -> T:
    alive = weak()
    if alive is None:
        raise ReferenceError("the object whose method this calls is gone")
    return function(alive, *args, **kwargs)
