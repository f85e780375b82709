"""Locks that a forked child finds open, and properties that are computed without any.

A forked child has one thread. A lock that another thread of its parent had taken at the fork stays
taken in it, and every request for it waits without end. So each lock of this library is made here,
and renewed in a child before anything else runs. What a lock guards was left by the other thread
between two steps of Python, with every value whole: at worst something is computed again.

``functools.cached_property`` of Python 3.11 has one lock of a property for all objects, which later
versions do not have; ``cached_property`` here is without it everywhere.

Tests: tests/robustness/test_forked_locks.py
"""

import functools
import os
import sys
import threading
from contextlib import nullcontext
from typing import TYPE_CHECKING, TypeAlias
from weakref import WeakSet

__all__ = ["cached_property", "new_lock", "new_rlock"]

if TYPE_CHECKING or sys.version_info >= (3, 12):
    from functools import cached_property
else:

    class cached_property(functools.cached_property):  # noqa: N801 - as that is named
        """A property whose value is kept in the object; threads may compute it at the same time."""

        def __init__(self, function):
            super().__init__(function)
            self.lock = nullcontext()


Lock: TypeAlias = "threading.Lock | threading.RLock"

_locks: WeakSet[Lock] = WeakSet()


def new_lock() -> "threading.Lock":
    """Return a lock."""
    lock = threading.Lock()
    _locks.add(lock)
    return lock


def new_rlock() -> "threading.RLock":
    """Return a lock that the thread which has taken it may take again."""
    lock = threading.RLock()
    _locks.add(lock)
    return lock


def _renew() -> None:
    """Open all locks: in a child there is no thread that could."""
    for lock in list(_locks):
        # As the standard library does with its own; there is no public name for it.
        lock._at_fork_reinit()  # type: ignore[union-attr]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_renew)
